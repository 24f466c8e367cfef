// From a description to memory and parameters: what each kind of field writes, what numbers of a
// range are, and what is wrong with descriptions that are refused.

#include "support.h"

#include "emulator/machine/launch_description.h"

#include <cmath>
#include <doctest/doctest.h>
#include <functional>

using namespace ptxasw::test;

namespace {

const char *const text = ".version 8.0\n.target sm_90\n.address_size 64\n"
                         ".global .align 4 .b32 table[2];\n"
                         ".func other() { ret; }\n.func called() { ret; }\n"
                         ".visible .entry k(.param .u64 p, .param .u32 n, .param .b8 s[6]) {\n"
                         "call called, ();\nret;\n}\n";

BufferDescription buffer(const char *name, ScalarType type, std::uint64_t size) {
  BufferDescription made;
  made.name = name;
  made.type = type;
  made.size = size;
  return made;
}

LaunchDescription description() {
  LaunchDescription made;
  made.kernel = "k";
  made.buffers = {buffer("a", ScalarType::u32, 16), buffer("b", ScalarType::f32, 64)};
  made.arguments.resize(3);
  made.arguments[0].fields.push_back({FieldDescription::Kind::buffer, 0, 8, 8, "b"});
  made.arguments[1].bytes = {1, 2, 3, 4};
  return made;
}

using Change = std::function<void(LaunchDescription &)>;

/// What is wrong with a description that is changed so; empty: nothing.
std::string error(const Change &change) {
  const auto module = parse_module(text);
  const WarpProgram program(*module);
  LaunchDescription changed = description();
  change(changed);
  GlobalMemory memory;
  const auto prepared = prepare_launch(program, changed, memory);
  return prepared ? "" : prepared.error();
}

/// The bytes of a buffer of a type whose numbers are of a range.
std::vector<std::uint8_t> drawn(ScalarType type, double lowest, double highest,
                                std::uint64_t seed) {
  const auto module = parse_module(text);
  const WarpProgram program(*module);
  LaunchDescription all = description();
  BufferDescription &one = all.buffers[1];
  one = buffer("b", type, 64);
  one.has_range = true;
  one.lowest = lowest;
  one.highest = highest;
  one.seed = seed;
  GlobalMemory memory;
  const auto prepared = prepare_launch(program, all, memory);
  REQUIRE(prepared);
  std::vector<std::uint8_t> bytes(one.size);
  memory.read(prepared->addresses[1], bytes);
  return bytes;
}

} // namespace

TEST_CASE("fields of parameters are written where they are said to be") {
  const auto module = parse_module(text);
  const WarpProgram program(*module);
  LaunchDescription all = description();
  all.arguments[0].fields.push_back({FieldDescription::Kind::bits, 7, 1, 0xab, ""});
  all.arguments[2].bytes = {9, 9};
  all.arguments[2].fields.push_back({FieldDescription::Kind::bits, 4, 8, 0x070605, ""}); // cut off
  all.variables = {buffer("table", ScalarType::u32, 8)};
  all.variables[0].bytes = {1, 0, 0, 0, 2};
  GlobalMemory memory;
  const auto prepared = prepare_launch(program, all, memory);
  REQUIRE(prepared);
  const auto &bytes = prepared->launch.parameters;
  std::uint64_t pointer = 0;
  std::memcpy(&pointer, bytes.data(), 8);
  const std::uint64_t plain = (prepared->addresses[1] + 8) & ~(0xffull << 56);
  CHECK(pointer == (plain | 0xabull << 56));
  CHECK(std::vector(bytes.begin() + 8, bytes.begin() + 18) ==
        std::vector<std::uint8_t>{1, 2, 3, 4, 9, 9, 0, 0, 5, 6});
  CHECK(prepared->variables == 1);
  std::uint8_t table[8];
  memory.read(memory.allocations()[0].base, table);
  CHECK(table[0] == 1);
  CHECK(table[4] == 2);
  // Functions have addresses of their own.
  all.arguments[0].fields = {{FieldDescription::Kind::function, 0, 8, 0, "called"}};
  GlobalMemory another;
  const auto of_function = prepare_launch(program, all, another);
  REQUIRE(of_function);
  std::uint64_t function = 0;
  std::memcpy(&function, of_function->launch.parameters.data(), 8);
  CHECK(function != 0);
  CHECK(function % 16 == 0);
}

TEST_CASE("numbers of a range lie in it, and are drawn again by their seed") {
  const auto whole = drawn(ScalarType::s32, -3, 4, 1);
  CHECK(whole == drawn(ScalarType::s32, -3, 4, 1));
  CHECK(whole != drawn(ScalarType::s32, -3, 4, 2));
  for (std::size_t i = 0; i < whole.size(); i += 4) {
    std::int32_t number = 0;
    std::memcpy(&number, whole.data() + i, 4);
    CHECK(number >= -3);
    CHECK(number <= 4);
  }
  const auto real = drawn(ScalarType::f32, 1, 1.5, 1);
  bool all_are_one = true;
  for (std::size_t i = 0; i < real.size(); i += 4) {
    float number = 0;
    std::memcpy(&number, real.data() + i, 4);
    CHECK(number >= 1);
    CHECK(number <= 1.5F);
    all_are_one &= number == 1;
  }
  CHECK_FALSE(all_are_one);
  CHECK(drawn(ScalarType::u8, 7, 7, 1) == std::vector<std::uint8_t>(64, 7));
}

TEST_CASE("what cannot be launched is said") {
  const auto of_buffer = [](const std::function<void(BufferDescription &)> &change) {
    return error([&](LaunchDescription &all) { change(all.buffers[0]); });
  };
  const auto of_range = [&](ScalarType type, double lowest, double highest) {
    return of_buffer([&](BufferDescription &one) {
      one.type = type;
      one.has_range = true;
      one.lowest = lowest;
      one.highest = highest;
    });
  };
  CHECK(error([](LaunchDescription &) {}).empty());
  CHECK(error([](LaunchDescription &all) { all.kernel = "q"; }) == "there is no kernel `q`");
  CHECK(error([](LaunchDescription &all) { all.kernel = ""; }).empty()); // the first
  CHECK(error([](LaunchDescription &all) { all.arguments.pop_back(); }) ==
        "k has 3 parameters, 2 arguments are given");
  CHECK_FALSE(error([](LaunchDescription &all) { all.block = {2000, 1, 1}; }).empty());
  CHECK_FALSE(error([](LaunchDescription &all) { all.grid = {0, 1, 1}; }).empty());
  CHECK(of_buffer([](BufferDescription &one) { one.size = 1ull << 45; }) ==
        "buffer `a`: no buffer can be so large");
  CHECK(of_buffer([](BufferDescription &one) { one.bytes.resize(17); }) ==
        "buffer `a`: more contents than it has bytes");
  CHECK(of_buffer([](BufferDescription &one) { one.alignment = 24; }) ==
        "buffer `a`: an alignment that is no power of two");
  CHECK(of_buffer([](BufferDescription &one) { one.alignment = 1 << 17; }) ==
        "buffer `a`: an alignment beyond 65536");
  CHECK(of_range(ScalarType::f16x2, 0, 1) == "buffer `a`: no range for this type");
  CHECK(of_range(ScalarType::pred, 0, 1) == "buffer `a`: no range for this type");
  CHECK(of_range(ScalarType::u32, 2, 1) == "buffer `a`: a range that is none");
  CHECK(of_range(ScalarType::f32, std::nan(""), 1) == "buffer `a`: a range that is none");
  CHECK(of_range(ScalarType::f64, 0, HUGE_VAL) == "buffer `a`: a range that is none");
  CHECK(of_range(ScalarType::s64, 0, 0x1p62) == "buffer `a`: a range that is none");
  CHECK(of_buffer([](BufferDescription &one) {
          one.has_range = true;
          one.size = (1ull << 30) + 4;
        }) == "buffer `a`: too large for numbers of a range");
  const auto with_variable = [](const char *name, std::uint64_t size, std::size_t bytes) {
    return error([&](LaunchDescription &all) {
      all.variables = {buffer(name, ScalarType::u32, size)};
      all.variables[0].bytes.resize(bytes);
    });
  };
  CHECK(with_variable("table", 8, 8).empty());
  CHECK(with_variable("none", 8, 8) == "there is no variable `none`");
  CHECK(with_variable("table", 12, 8) == "variable `table` has 8 bytes");
  CHECK(with_variable("table", 8, 9) == "variable `table`: more contents than it has bytes");
  const auto with_field = [](std::size_t argument, const FieldDescription &field) {
    return error([&](LaunchDescription &all) { all.arguments[argument].fields.push_back(field); });
  };
  using Kind = FieldDescription::Kind;
  CHECK(with_field(0, {Kind::buffer, 0, 8, 0, "c"}) == "argument 0: there is no buffer `c`");
  CHECK(with_field(0, {Kind::function, 0, 8, 0, "f"}) == "argument 0: there is no function `f`");
  CHECK(with_field(1, {Kind::buffer, 0, 8, 0, "a"}) == "argument 1: an address needs 64 bits");
  CHECK(with_field(1, {Kind::bits, 4, 1, 0, ""}) == "argument 1: byte 4 of a parameter of 4");
  CHECK(error([](LaunchDescription &all) { all.arguments[1].bytes.resize(5); }) ==
        "argument 1: 5 bytes for a parameter of 4");
}

TEST_CASE("schedules by their names") {
  WarpSchedule schedule = WarpSchedule::apart;
  std::uint64_t seed = 3;
  CHECK(read_schedule("reconverge", schedule, seed));
  CHECK(schedule == WarpSchedule::reconverge);
  CHECK(read_schedule("apart", schedule, seed));
  CHECK(schedule == WarpSchedule::apart);
  CHECK(read_schedule("random", schedule, seed));
  CHECK(schedule == WarpSchedule::random);
  CHECK(seed == 3);
  CHECK(read_schedule("random:17", schedule, seed));
  CHECK(seed == 17);
  for (const char *const wrong : {"", "rand", "random:", "random17", "random:1x", "Apart"})
    CHECK_FALSE(read_schedule(wrong, schedule, seed));
}
