#include "wrapper/launch/fit.h"

#include <cstring>
#include <doctest/doctest.h>
#include <limits>

using namespace ptxasw::test;
using namespace ptxasw::wrapper::launch;

namespace {

/// A kernel of a pointer and a structure of 12 bytes, with one sibling.
SiblingTable table() {
  SiblingTable result;
  result.kernel = "k";
  result.parameters = {{0, 8}, {8, 12}};
  Sibling sibling;
  sibling.name = "s";
  sibling.grid = {4, 2, 1};
  sibling.appended = {'y', 'x'};
  result.siblings = {sibling};
  return result;
}

struct Values {
  std::uint64_t pointer = 0x100;
  std::uint32_t fields[3] = {1, 2, 3};
  void *list[2] = {&pointer, fields};
};

Launch launch_of(Values &values) {
  Launch result;
  result.grid = {10, 3, 2};
  result.block = {64, 2, 1};
  result.parameters = values.list;
  return result;
}

} // namespace

TEST_CASE("a sibling's launch, from pointers to the arguments") {
  Values values;
  const SiblingTable t = table();
  const Launch l = launch_of(values);
  Arguments arguments;
  REQUIRE(find_arguments(l, t, arguments));
  SiblingLaunch made;
  REQUIRE(made.prepare(l, arguments, t, t.siblings[0]));
  CHECK(made.grid == Extents{3, 2, 2});
  REQUIRE(made.parameters);
  CHECK(!made.extra);
  CHECK(made.parameters[0] == &values.pointer);
  CHECK(made.parameters[1] == &values.fields);
  CHECK(*static_cast<std::uint32_t *>(made.parameters[2]) == 3);
  CHECK(*static_cast<std::uint32_t *>(made.parameters[3]) == 10);
}

TEST_CASE("a sibling for launches whose threads cover a number") {
  Values values;
  SiblingTable t = table();
  Sibling &s = t.siblings[0];
  s.needs.covered = {{1, 4, 1, 2, 3}};
  const Launch l = launch_of(values); // 6 threads along y
  Arguments arguments;
  REQUIRE(find_arguments(l, t, arguments));
  const AskedArguments asked{{}, s.needs.covered};
  const auto fits = [&](std::uint32_t value) {
    values.fields[1] = value;
    const Outcome outcome = fit(l, arguments, t, s, {});
    CHECK((outcome == Outcome::sibling || outcome == Outcome::grid));
    CHECK(met(l, arguments, t, asked) == (outcome == Outcome::sibling));
    return outcome == Outcome::sibling;
  };
  CHECK(fits(9));
  CHECK(fits(2));
  CHECK_FALSE(fits(1));
  CHECK_FALSE(fits(~0u));
  CHECK_FALSE(fits(10));
  CHECK(explain(Outcome::grid, l, arguments, t, s, {}) ==
        "the grid is 10x3x2 of 64x2x1 threads, and the number 10 in parameter 1 at byte 4 may be 2 "
        "to 9");
  // A number of 64 bits is looked at as a whole.
  s.needs.covered = {{1, 0, 1, 0, 3, 8}};
  values.fields[0] = 9;
  values.fields[1] = 0;
  CHECK(fit(l, arguments, t, s, {}) != Outcome::grid);
  values.fields[1] = 1;
  CHECK(fit(l, arguments, t, s, {}) == Outcome::grid);
  CHECK(explain(Outcome::grid, l, arguments, t, s, {})
            .ends_with("the number 4294967305 in parameter 1 may be 0 to 9"));
  // In blocks of another shape there are as many.
  s.needs.covered = {{1, 4, 1, 2, 3}};
  s.code_of = "other";
  s.extent = {32, 0, 0};
  s.needs.covered[0].axis = 0;
  values.fields[1] = 643;
  CHECK(fit(l, arguments, t, s, {}) != Outcome::grid);
  values.fields[1] = 644;
  CHECK(fit(l, arguments, t, s, {}) == Outcome::grid);
}

TEST_CASE("a sibling for launches in which no index wraps around") {
  Values values;
  SiblingTable t = table();
  Sibling &s = t.siblings[0];
  s.needs.bounded = {{{{2, {{false, 1, 4}, {true, 1, 0}}}, {7, {}}}}}; // 2 * number * y + 7
  const Launch l = launch_of(values);                                  // 6 threads along y
  Arguments arguments;
  REQUIRE(find_arguments(l, t, arguments));
  const AskedArguments asked{{}, {}, s.needs.bounded};
  const auto fits = [&](std::uint32_t value) {
    values.fields[1] = value;
    const Outcome outcome = fit(l, arguments, t, s, {});
    CHECK((outcome == Outcome::sibling || outcome == Outcome::grid));
    CHECK(met(l, arguments, t, asked) == (outcome == Outcome::sibling));
    return outcome == Outcome::sibling;
  };
  CHECK(fits(0));
  CHECK(fits(214748364)); // 2147483647, the largest
  CHECK_FALSE(fits(214748365));
  CHECK_FALSE(fits(~0u));
  CHECK(explain(Outcome::grid, l, arguments, t, s, {}) ==
        "an index of 32 bits may be 2^31 or more in a grid of 10x3x2 of 64x2x1 threads with these "
        "numbers");
  s.needs.bounded.push_back({{{1, {{true, 0, 0}}}}}); // all are asked
  CHECK(fits(1));
  s.needs.bounded.push_back({{{0x7fffffff, {{true, 2, 0}}}, {1, {}}}});
  CHECK(fit(l, arguments, t, s, {}) == Outcome::grid);
}

TEST_CASE("a sibling whose blocks have fewer threads") {
  Values values;
  SiblingTable t = table();
  t.siblings[0].grid = {1, 1, 1};
  t.siblings[0].block = {1, 2, 1};
  t.siblings[0].appended = {};
  Launch l = launch_of(values);
  Arguments arguments;
  REQUIRE(find_arguments(l, t, arguments));
  SiblingLimits limits;
  limits.max_threads = 64; // the kernel's block has twice as many
  CHECK(fit(l, arguments, t, t.siblings[0], limits) == Outcome::sibling);
  SiblingLaunch made;
  REQUIRE(made.prepare(l, arguments, t, t.siblings[0]));
  CHECK(made.grid == l.grid);
  CHECK(made.block == Extents{64, 1, 1});
  l.block = {64, 4, 1};
  CHECK(fit(l, arguments, t, t.siblings[0], limits) == Outcome::block_size);
  l.block = {64, 3, 1};
  CHECK(fit(l, arguments, t, t.siblings[0], limits) == Outcome::block_shape);
  CHECK(explain(Outcome::block_shape, l, arguments, t, t.siblings[0], limits) ==
        "the block is 64x3x1, and must be a multiple of 1x2x1");
}

TEST_CASE("a sibling for blocks of another extent") {
  Values values;
  SiblingTable t = table();
  Sibling &s = t.siblings[0];
  s.grid = {1, 1, 1};
  s.extent = {96, 0, 0};
  s.appended = s.appended_blocks = {'x'};
  s.needs.max_extent[0] = 0x7fffffff;
  Launch l = launch_of(values); // 10 blocks of 64 along x
  Arguments arguments;
  REQUIRE(find_arguments(l, t, arguments));
  SiblingLimits limits;
  const auto outcome = [&] { return fit(l, arguments, t, s, limits); };
  const auto words = [&] { return explain(outcome(), l, arguments, t, s, limits); };
  CHECK(outcome() == Outcome::sibling);
  CHECK(blocks_of(l, s) == 7 * 3 * 2);
  CHECK(threads_of_block(l, s) == 192);
  SiblingLaunch made;
  REQUIRE(made.prepare(l, arguments, t, s));
  CHECK(made.grid == Extents{7, 3, 2});
  CHECK(made.block == Extents{96, 2, 1});
  CHECK(*static_cast<std::uint32_t *>(made.parameters[2]) == 10);
  CHECK(*static_cast<std::uint32_t *>(made.parameters[3]) == 64);
  limits.max_threads = 191;
  CHECK(outcome() == Outcome::block_size);
  CHECK(words() == "the block has 192 threads, and may have 191");
  limits.max_threads = 1024;
  s.needs.extent_multiple[0] = 96;
  CHECK(outcome() == Outcome::grid);
  CHECK(words() == "the grid is 10x3x2 of 64x2x1 threads, which may be "
                   "2147483647x4294967295x4294967295 together, and must be multiples of 96x1x1");
  l.grid.x = 9;
  CHECK(outcome() == Outcome::sibling);
  l.block.x = 96;
  CHECK(outcome() == Outcome::block_shape);
  CHECK(words() == "the block is 96x2x1 already");
  l.block.x = 64;
  l.grid.x = 0x2000000;
  CHECK(outcome() == Outcome::grid);
  // Along an axis whose grid may have fewer blocks.
  s.extent = {0, 1, 0};
  s.needs = {};
  l.grid = {1, 40000, 1};
  CHECK(outcome() == Outcome::grid);
}

TEST_CASE("what is appended to a buffer is aligned behind parameters that end anywhere") {
  unsigned char buffer[13];
  for (unsigned char i = 0; i < 13; ++i)
    buffer[i] = i;
  std::size_t size = sizeof buffer;
  void *extra[] = {extra_buffer, buffer, extra_size, &size, extra_end};
  Values values;
  SiblingTable t = table();
  t.parameters = {{0, 8}, {8, 5}};
  Launch l = launch_of(values);
  l.parameters = nullptr;
  l.extra = extra;
  Arguments arguments;
  REQUIRE(find_arguments(l, t, arguments));
  SiblingLaunch made;
  REQUIRE(made.prepare(l, arguments, t, t.siblings[0]));
  const auto *bytes = static_cast<unsigned char *>(made.extra[1]);
  CHECK(std::memcmp(bytes, buffer, 13) == 0);
  std::uint32_t added[2];
  std::memcpy(added, bytes + 16, 8);
  CHECK(added[0] == 3);
  CHECK(added[1] == 10);
  CHECK(*static_cast<std::size_t *>(made.extra[3]) == 24);
}

TEST_CASE("the same from a buffer") {
  unsigned char buffer[20];
  for (unsigned char i = 0; i < 20; ++i)
    buffer[i] = i;
  std::size_t size = sizeof buffer;
  void *extra[] = {extra_buffer, buffer, extra_size, &size, extra_end};
  Values values;
  const SiblingTable t = table();
  Launch l = launch_of(values);
  l.parameters = nullptr;
  l.extra = extra;
  Arguments arguments;
  REQUIRE(find_arguments(l, t, arguments));
  SiblingLaunch made;
  REQUIRE(made.prepare(l, arguments, t, t.siblings[0]));
  CHECK(!made.parameters);
  REQUIRE(made.extra[0] == extra_buffer);
  const auto *bytes = static_cast<unsigned char *>(made.extra[1]);
  CHECK(std::memcmp(bytes, buffer, 20) == 0);
  std::uint32_t added[2];
  std::memcpy(added, bytes + 20, 8);
  CHECK(added[0] == 3);
  CHECK(added[1] == 10);
  CHECK(made.extra[2] == extra_size);
  CHECK(*static_cast<std::size_t *>(made.extra[3]) == 28);
  CHECK(made.extra[4] == extra_end);
  // An unknown word, both forms at once, no size.
  void *odd[] = {reinterpret_cast<void *>(3), buffer, extra_end};
  void *no_size[] = {extra_buffer, buffer, extra_end};
  for (void **words : {odd, no_size}) {
    l.extra = words;
    CHECK(!find_arguments(l, t, arguments));
  }
  l.extra = extra;
  l.parameters = values.list;
  CHECK(!find_arguments(l, t, arguments));
}

TEST_CASE("too many arguments are left to the original") {
  SiblingTable t = table();
  t.parameters.assign(SiblingLaunch::most_parameters + 1, {0, 4});
  Values values;
  const Launch l = launch_of(values);
  Arguments arguments;
  REQUIRE(find_arguments(l, t, arguments));
  SiblingLaunch made;
  CHECK(!made.prepare(l, arguments, t, t.siblings[0]));
  t = table();
  t.parameters = {{0, SiblingLaunch::most_bytes - 4}};
  arguments = {};
  unsigned char big[SiblingLaunch::most_bytes] = {};
  arguments.buffer = big;
  CHECK(!made.prepare(l, arguments, t, t.siblings[0]));
}

TEST_CASE("every need is looked at") {
  Values values;
  SiblingTable t = table();
  Launch l = launch_of(values);
  Arguments arguments;
  REQUIRE(find_arguments(l, t, arguments));
  SiblingNeeds &needs = t.siblings[0].needs;
  SiblingLimits limits;
  const auto outcome = [&] { return fit(l, arguments, t, t.siblings[0], limits); };
  const auto words = [&] { return explain(outcome(), l, arguments, t, t.siblings[0], limits); };
  CHECK(outcome() == Outcome::sibling);
  needs.divisible = {{1, 8, 4, 3}};
  CHECK(outcome() == Outcome::sibling);
  needs.divisible = {{1, 4, 4, 3}};
  CHECK(outcome() == Outcome::divisibility);
  CHECK(words() == "the number 2 in parameter 1 at byte 4 is no multiple of 3");
  needs.divisible.clear();
  needs.aligned = {{0, 0, 256}};
  CHECK(outcome() == Outcome::sibling);
  needs.aligned = {{0, 0, 512}};
  CHECK(outcome() == Outcome::alignment);
  CHECK(words() == "the address 0x100 in parameter 0 is no multiple of 512");
  needs.aligned.clear();
  needs.min_grid = {1, 4, 1};
  CHECK(outcome() == Outcome::grid);
  needs.min_grid = {1, 1, 1};
  needs.blocks = {{{128, 1, 1}}};
  CHECK(outcome() == Outcome::block_shape);
  needs.blocks.push_back({64, 2, 1});
  CHECK(outcome() == Outcome::sibling);
  limits.max_threads = 127;
  CHECK(outcome() == Outcome::block_size);
  limits = {1024, 49000};
  l.shared_bytes = 152;
  CHECK(outcome() == Outcome::sibling);
  l.shared_bytes = 153;
  CHECK(outcome() == Outcome::dynamic_shared);
  CHECK(words() == "it would need 49153 bytes of shared memory, and 49152 are there");
  // Each of the parts of what is divided begins as the first one does.
  limits = {1024, 1024};
  needs.dynamic_shared = 4;
  l.shared_bytes = 11905;
  CHECK(outcome() == Outcome::sibling);
  l.shared_bytes = 12032; // 48 KB with what the sibling has of its own
  CHECK(outcome() == Outcome::sibling);
  l.shared_bytes = 12033;
  CHECK(outcome() == Outcome::dynamic_shared);
  CHECK(words() == "it would need 49664 bytes of shared memory, and 49152 are there");
  // What the sibling can be allowed.
  limits.most_shared = 232448;
  CHECK(outcome() == Outcome::sibling);
  l.shared_bytes = 57856;
  CHECK(outcome() == Outcome::sibling);
  l.shared_bytes = 57857;
  CHECK(outcome() == Outcome::dynamic_shared);
  // No wrap-around on the way.
  needs.dynamic_shared = 9999;
  l.shared_bytes = std::numeric_limits<unsigned>::max();
  CHECK(outcome() == Outcome::dynamic_shared);
  l.shared_bytes = 0;
  l.block = {65536, 65536, 65536};
  CHECK(outcome() == Outcome::block_size);
  l.block = {0, 1, 1};
  CHECK(outcome() == Outcome::block_size);
  l.block = {64, 2, 1};
  l.grid.z = 0;
  CHECK(outcome() == Outcome::grid);
  // What the program opted into for static memory beyond the default does not matter without
  // dynamic memory.
  l.grid.z = 1;
  limits.static_shared = 60000;
  CHECK(outcome() == Outcome::sibling);
}

TEST_CASE("each copy's part of dynamic shared memory is rounded up") {
  Values values;
  SiblingTable t = table();
  Launch l = launch_of(values);
  Arguments arguments;
  REQUIRE(find_arguments(l, t, arguments));
  const auto shared = [&](std::uint32_t copies, unsigned bytes) {
    t.siblings[0].needs.dynamic_shared = copies;
    l.shared_bytes = bytes;
    SiblingLaunch made;
    REQUIRE(made.prepare(l, arguments, t, t.siblings[0]));
    return made.shared_bytes;
  };
  CHECK(shared(1, 500) == 500); // nothing is divided
  CHECK(shared(4, 0) == 0);
  CHECK(shared(4, 1) == 512);
  CHECK(shared(4, 128) == 512);
  CHECK(shared(4, 129) == 1024);
  CHECK(shared(8, 58001) == 464896);
}

TEST_CASE("a launch that the driver would refuse is left to it") {
  Values values;
  Launch l = launch_of(values);
  SiblingLimits own;
  CHECK(own_fault(l, own) == Outcome::sibling);
  l.grid = {1, 70'000, 1};
  CHECK(own_fault(l, own) == Outcome::grid);
  l.grid = {1u << 31, 1, 1};
  CHECK(own_fault(l, own) == Outcome::grid);
  l.grid = {2, 65'535, 1};
  l.block = {2'048, 1, 1};
  CHECK(own_fault(l, own) == Outcome::block_size);
  l.block = {1, 1u << 31, 2}; // 0 threads modulo 2^32
  CHECK(own_fault(l, own) == Outcome::block_size);
  l.block = {256, 1, 1};
  l.block = {1, 1, 65};
  CHECK(own_fault(l, own) == Outcome::block_size);
  l.block = {256, 1, 1};
  own.max_threads = 255; // `.maxntid`
  CHECK(own_fault(l, own) == Outcome::block_size);
  own.max_threads = 1024;
  own.static_shared = 1000;
  l.shared_bytes = 48152;
  CHECK(own_fault(l, own) == Outcome::sibling);
  l.shared_bytes = 48153;
  CHECK(own_fault(l, own) == Outcome::dynamic_shared);
  own.most_shared = 60000;
  CHECK(own_fault(l, own) == Outcome::sibling);
  l.shared_bytes = std::numeric_limits<unsigned>::max(); // no wrap-around
  CHECK(own_fault(l, own) == Outcome::dynamic_shared);
  l.shared_bytes = 0;
  own.static_shared = 70000; // the driver has taken it
  CHECK(own_fault(l, own) == Outcome::sibling);
  for (const Extents &none : {Extents{0, 1, 1}, Extents{1, 0, 1}, Extents{1, 1, 0}}) {
    l.block = none;
    CHECK(own_fault(l, own) == Outcome::block_size);
    l.block = {256, 1, 1};
    l.grid = none;
    CHECK(own_fault(l, own) == Outcome::grid);
    l.grid = {2, 1, 1};
  }
}

TEST_CASE("the kernel's own code in blocks of another shape") {
  Values values;
  SiblingTable t = table();
  Sibling &own = t.siblings[0];
  own = {};
  own.own_code = true;
  own.extent = {8, 32, 0};
  own.needs.extent_multiple = {8, 32, 1};
  Launch l = launch_of(values);
  l.grid = {5, 6, 2};
  l.block = {32, 16, 1};
  Arguments arguments;
  REQUIRE(find_arguments(l, t, arguments));
  const auto outcome = [&] { return fit(l, arguments, t, own, {}); };
  CHECK(outcome() == Outcome::sibling);
  SiblingLaunch made;
  REQUIRE(made.prepare(l, arguments, t, own));
  CHECK(made.grid == Extents{20, 3, 2});
  CHECK(made.block == Extents{8, 32, 1});
  // As many threads along each axis, and no more: none may be to spare.
  l.grid.y = 5;
  CHECK(outcome() == Outcome::grid);
  l.grid.y = 6;
  l.block.x = 33;
  CHECK(outcome() == Outcome::grid);
  l.block = {8, 32, 1};
  CHECK(outcome() == Outcome::block_shape); // it is that already
  // What stays counts, too.
  l.block = {32, 16, 8};
  CHECK(outcome() == Outcome::block_size);
  SiblingLimits narrow;
  narrow.max_threads = 128;
  l.block = {32, 2, 1};
  l.grid.y = 48;
  CHECK(fit(l, arguments, t, own, narrow) == Outcome::block_size);
  CHECK(outcome() == Outcome::sibling);
  // A block has 64 threads along z at most, a grid 65,535 blocks along y.
  own.extent = {1, 1, 128};
  own.needs.extent_multiple = {1, 1, 128};
  l.grid = {4, 4, 16};
  l.block = {1, 1, 64};
  CHECK(outcome() == Outcome::block_size);
  own.extent = {128, 1, 0};
  own.needs.extent_multiple = {128, 1, 1};
  l.grid = {4, 4096, 1};
  l.block = {32, 32, 1};
  CHECK(outcome() == Outcome::grid);
}

TEST_CASE("a version in blocks of another shape") {
  Values values;
  SiblingTable t = table(); // the grid is divided by 4 and 2, and appended: y, x
  Sibling &one = t.siblings[0];
  one.code_of = "s";
  one.name = "s_in_8x32";
  one.extent = {8, 32, 0};
  one.needs.extent_multiple = {8, 32, 1};
  CHECK(entry_of(one, t.kernel) == "s");
  Launch l = launch_of(values);
  l.grid = {5, 6, 2};
  l.block = {32, 16, 1};
  Arguments arguments;
  REQUIRE(find_arguments(l, t, arguments));
  const auto outcome = [&] { return fit(l, arguments, t, one, {}); };
  CHECK(outcome() == Outcome::sibling);
  CHECK(blocks_of(l, one) == 20);
  CHECK(threads_of_block(l, one) == 256);
  SiblingLaunch made;
  REQUIRE(made.prepare(l, arguments, t, one));
  // The kernel's launch has 20x3x2 blocks of 8x32 threads; that is what the version is one of.
  CHECK(made.grid == Extents{5, 2, 2});
  CHECK(made.block == Extents{8, 32, 1});
  CHECK(*static_cast<std::uint32_t *>(made.parameters[2]) == 3);
  CHECK(*static_cast<std::uint32_t *>(made.parameters[3]) == 20);
  // What it needs is asked of that launch, too.
  one.needs.min_grid = {20, 3, 1};
  CHECK(outcome() == Outcome::sibling);
  one.needs.min_grid = {21, 3, 1};
  CHECK(outcome() == Outcome::grid);
  CHECK(explain(Outcome::grid, l, arguments, t, one, {}) ==
        "the grid is 20x3x2, and must be at least 21x3x1");
  one.needs.min_grid = {1, 1, 1};
  one.needs.blocks = {{8, 32, 1}};
  CHECK(outcome() == Outcome::sibling);
  one.needs.blocks = {{32, 16, 1}};
  CHECK(outcome() == Outcome::block_shape);
  one.needs.blocks.clear();
  // A version whose blocks have fewer threads.
  one.block = {1, 4, 1};
  REQUIRE(made.prepare(l, arguments, t, one));
  CHECK(made.block == Extents{8, 8, 1});
  one.block = {1, 1, 1};
  // None may be to spare.
  l.grid.y = 5;
  CHECK(outcome() == Outcome::grid);
  l.grid.y = 6;
  l.block = {8, 32, 1};
  CHECK(outcome() == Outcome::block_shape); // it is that version already
  // The kernel's launch must be one that the driver would take.
  l.block = {32, 2, 8};
  l.grid.y = 48;
  CHECK(outcome() == Outcome::block_size);
  l.block = {32, 16, 1};
  l.grid = {1, 65536 * 2, 1};
  CHECK(outcome() == Outcome::grid);
}

TEST_CASE("a version in blocks of several rows") {
  Values values;
  SiblingTable t = table();
  Sibling &one = t.siblings[0];
  one.code_of = "s";
  one.name = "s_in_32x4";
  one.kind = "wide-rows-once in 32x4";
  one.grid = {1, 2, 1};
  one.block = {4, 1, 1};
  one.appended = {'y'};
  one.appended_blocks = {'y'};
  one.tall = true;
  one.rows = 4;
  one.extent = {128, 1, 0};
  one.needs.extent_multiple = {128, 1, 1};
  Launch l = launch_of(values);
  l.grid = {2, 30, 3};
  l.block = {512, 1, 1};
  Arguments arguments;
  REQUIRE(find_arguments(l, t, arguments));
  const auto outcome = [&] { return fit(l, arguments, t, one, {}); };
  CHECK(outcome() == Outcome::sibling);
  SiblingLaunch made;
  REQUIRE(made.prepare(l, arguments, t, one));
  // 30 rows are 15 of the version's, which are four blocks of four; one is to spare.
  CHECK(made.grid == Extents{8, 4, 3});
  CHECK(made.block == Extents{32, 4, 1});
  CHECK(threads_of_block(l, one) == 128);
  CHECK(blocks_of(l, one) == 96);
  CHECK(*static_cast<std::uint32_t *>(made.parameters[2]) == 30);
  CHECK(*static_cast<std::uint32_t *>(made.parameters[3]) == 1);
  // Of a kernel in blocks of many rows, all rows are counted.
  l.grid = {16, 3, 3};
  l.block = {64, 10, 1};
  REQUIRE(made.prepare(l, arguments, t, one));
  CHECK(made.grid == Extents{8, 4, 3});
  CHECK(*static_cast<std::uint32_t *>(made.parameters[2]) == 30);
  // The kernel in blocks of one row is a launch that the driver takes, and so is this.
  l.grid.y = 6554;
  CHECK(outcome() == Outcome::grid);
  l.grid.y = 6553;
  CHECK(outcome() == Outcome::sibling);
  one.rows = 64;
  CHECK(outcome() == Outcome::block_size);
  // It is worth a launch even in blocks of as many threads along x.
  one.rows = 4;
  l.grid = {2, 30, 3};
  l.block = {128, 1, 1};
  CHECK(outcome() == Outcome::sibling);
}

TEST_CASE("a version of points in blocks that the kernel could not have") {
  Values values;
  SiblingTable t = table();
  Sibling &one = t.siblings[0];
  one.code_of = "s";
  one.name = "s_in_128x1";
  one.kind = "wide-x16 in 128x1";
  one.grid = {1, 1, 1};
  one.appended.clear();
  one.block = {16, 1, 1};
  one.extent = {2048, 0, 0};
  one.needs.extent_multiple = {2048, 1, 1};
  Launch l = launch_of(values);
  l.grid = {12, 1, 1};
  l.block = {512, 1, 1};
  Arguments arguments;
  REQUIRE(find_arguments(l, t, arguments));
  const auto outcome = [&] { return fit(l, arguments, t, one, {}); };
  CHECK(outcome() == Outcome::sibling);
  SiblingLaunch made;
  REQUIRE(made.prepare(l, arguments, t, one));
  CHECK(made.grid == Extents{3, 1, 1});
  CHECK(made.block == Extents{128, 1, 1});
  // Not all threads have a place in such blocks.
  l.grid.x = 13;
  CHECK(outcome() == Outcome::grid);
  // Its own blocks are ones that the GPU takes.
  l.grid.x = 96;
  one.extent[0] = one.needs.extent_multiple[0] = 16384;
  CHECK(outcome() == Outcome::sibling);
  one.extent[0] = one.needs.extent_multiple[0] = 24576;
  CHECK(outcome() == Outcome::block_size);
  // Copies of another kind know which place they have in the kernel's block.
  one.extent[0] = one.needs.extent_multiple[0] = 2048;
  CHECK(outcome() == Outcome::sibling);
  one.kind = "neighbours in 128x1";
  CHECK(outcome() == Outcome::block_size);
}
