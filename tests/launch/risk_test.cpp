// What is feared of versions: the order is that of the measurements.

#include "wrapper/launch/risk.h"

#include <doctest/doctest.h>

using namespace ptxasw::test;
using namespace ptxasw::wrapper::launch;

namespace {

Launch of(const Extents &grid, const Extents &block) {
  Launch launch;
  launch.grid = grid;
  launch.block = block;
  return launch;
}

SiblingLimits takes(unsigned registers, unsigned local = 0) {
  SiblingLimits limits;
  limits.registers = registers;
  limits.local = local;
  return limits;
}

const Launch plane = of({16, 4096, 1}, {512, 1, 1}), row = of({16384, 1, 1}, {256, 1, 1});

double risk(const Sibling &sibling, const SiblingLimits &limits, const Launch &launch = plane) {
  return prior_of(launch, sibling, takes(32), limits, 132).fear;
}

double promise(const Sibling &sibling, const SiblingLimits &limits, const Launch &launch = plane) {
  return prior_of(launch, sibling, takes(32), limits, 132).promise;
}

Sibling joined(unsigned x, unsigned y, unsigned threads = 1) {
  Sibling sibling;
  sibling.grid = {x, y, 1};
  sibling.block = {threads, 1, 1};
  return sibling;
}

} // namespace

TEST_CASE("rows come before blocks along x, and spills last") {
  const double rows = risk(joined(1, 4), takes(40)), along = risk(joined(4, 1), takes(40)),
               spilling = risk(joined(1, 4), takes(40, 280));
  CHECK(rows < along);
  CHECK(along < spilling);
  // What the kernel itself keeps there, in arrays, is no spill.
  CHECK(prior_of(plane, joined(1, 4), takes(32, 4096), takes(40, 4096), 132).fear == rows);
  // A grid of one axis has no rows.
  CHECK(risk(joined(4, 1), takes(40), row) < along);
}

TEST_CASE("the fewer threads at once, the worse") {
  const double all = risk(joined(1, 4), takes(32)), half = risk(joined(1, 4), takes(64)),
               quarter = risk(joined(1, 4), takes(128));
  CHECK(all == half);
  CHECK(half < quarter);
  // By the sibling's own blocks: with 72 registers one of 512 threads fits, seven of 128.
  CHECK(risk(joined(1, 1, 4), takes(72)) < risk(joined(1, 4), takes(72)));
  // What no launch can have.
  Sibling huge = joined(1, 4);
  huge.own_code = true;
  huge.extent = {1u << 31, 1u << 31, 2};
  CHECK(prior_of(plane, huge, takes(32), takes(32), 132).fear >= 0);
  // Nothing is known where the driver says nothing.
  CHECK(prior_of(plane, joined(1, 4), {}, {}, 0).fear == all);
}

TEST_CASE("what computes more is feared where a kernel is bound by computing") {
  const TextsOfBoth computes{0.2, 1}, moves{0.02, 1}, twice{0.2, 2}, twice_moved{0.02, 2};
  const auto of_texts = [](const Sibling &sibling, const Launch &launch, const TextsOfBoth &texts) {
    return prior_of(launch, sibling, takes(32), takes(32), 132, texts);
  };
  const Launch thin = of({16384, 1, 1}, {32, 1, 1}), rows = of({16384, 1, 1}, {32, 4, 1});
  Sibling wide = joined(1, 1, 4); // 8 threads of a block of 32
  wide.name = "k__ptxasw_wide_x4";
  CHECK(of_texts(wide, thin, moves).promise > 0);
  CHECK(of_texts(wide, thin, moves).fear < 0.2);
  CHECK(of_texts(wide, thin, computes).promise < -1);
  CHECK(of_texts(wide, thin, computes).fear >= 3);
  CHECK(of_texts(wide, thin, {}).fear < 0.2); // nothing is known
  // No lane is idle.
  CHECK(of_texts(wide, rows, computes).fear < 0.2);
  CHECK(of_texts(wide, rows, computes).promise > 0);
  // A halo that is computed twice, by the text.
  const Sibling joins = joined(1, 4);
  CHECK(of_texts(joins, plane, computes).fear < 0.2);
  CHECK(of_texts(joins, plane, twice).fear >= 1);
  CHECK(of_texts(joins, plane, twice).promise < -0.6);
  CHECK(of_texts(joins, plane, twice_moved).fear < 0.2);
  // Threads to spare: 33 in blocks of 64.
  Sibling larger;
  larger.extent = {64, 0, 0};
  CHECK(of_texts(larger, of({1, 4096, 1}, {32, 1, 1}), computes).fear >= 1);
  CHECK(of_texts(larger, of({2, 4096, 1}, {32, 1, 1}), computes).fear < 0.2);
  // A little more is nothing.
  CHECK(of_texts(joins, plane, {0.2, 1.4}).fear < 0.2);
  // What is left over of a grid is nobody's work.
  CHECK(of_texts(joined(1, 4), of({16, 5, 1}, {32, 1, 1}), computes).fear < 0.2);
}

TEST_CASE("what won most often promises most") {
  const auto named = [](const char *kind, Sibling sibling) {
    sibling.name = std::string("k__ptxasw_") + kind;
    return sibling;
  };
  const Sibling apart = named("retile_apart_x8", joined(8, 1)),
                rows = named("retile_rows_y4r128", joined(1, 4)),
                unheard = named("of_tomorrow", joined(1, 1));
  CHECK(promise(apart, takes(32), row) > 0);
  CHECK(promise(apart, takes(32), plane) < 0);
  CHECK(promise(rows, takes(64), plane) > promise(apart, takes(64), plane));
  CHECK(promise(rows, takes(64), plane) > promise(rows, takes(128), plane));
  CHECK(promise(rows, takes(128), plane) > promise(rows, takes(128, 400), plane));
  CHECK(promise(unheard, takes(32)) == 0);
  Sibling reshaped = apart; // the same code in other blocks
  reshaped.name += "_in_128x1";
  reshaped.code_of = apart.name;
  CHECK(promise(reshaped, takes(32), row) == promise(apart, takes(32), row));
  // Loads ahead: much where the GPU would be idle, little where other threads wait to run.
  const Sibling ahead = named("ahead_k8", joined(1, 1));
  const Launch once = of({132, 1, 1}, {256, 1, 1}), more = of({13200, 1, 1}, {256, 1, 1});
  CHECK(promise(ahead, takes(32), once) > 0.3);
  CHECK(promise(ahead, takes(32), more) < 0.1);
  CHECK(prior_of(once, ahead, takes(32), takes(32), 0).promise < 0.1); // nobody knows how many
  // A name that says nothing.
  CHECK(promise(joined(1, 4), takes(32)) == 0);
}

TEST_CASE("blocks that give work to idle multiprocessors come first") {
  Sibling small;
  small.own_code = true;
  small.extent = {128, 0, 0};
  const Launch few = of({16, 1, 1}, {1024, 1, 1}), many = of({4096, 1, 1}, {1024, 1, 1});
  CHECK(promise(small, takes(32), few) > 0.3);
  CHECK(promise(small, takes(32), many) < 0.2);
  CHECK(prior_of(few, small, takes(32), takes(32), 0).promise < 0.2); // nobody knows how many
}

TEST_CASE("of one code in several blocks what promises most comes first") {
  // 1 to 3 are one code, 4 and 5 another, 6 a third.
  const std::vector<std::size_t> own = {0, 1, 1, 1, 4, 4, 6};
  const auto after = [&](const std::vector<double> &promises) {
    std::vector<Prior> priors;
    for (const double promise : promises)
      priors.push_back({0.1, promise, 9});
    order_blocks(priors, own);
    std::vector<std::size_t> result;
    for (const Prior &prior : priors)
      result.push_back(prior.after);
    result[0] = 0; // of the original it means nothing
    return result;
  };
  CHECK(after({0, 0.3, 0.2, 0.1, 0.1, 0.1, 0}) == std::vector<std::size_t>{0, 0, 1, 1, 0, 4, 0});
  CHECK(after({0, 0.1, 0.2, 0.3, 0.1, 0.2, 0}) == std::vector<std::size_t>{0, 3, 3, 0, 5, 0, 0});
}

TEST_CASE("of one code the one in blocks of enough threads comes first") {
  const Launch stream = of({65536, 1, 1}, {512, 1, 1});
  Sibling own = joined(1, 1, 16); // 32 threads a block
  own.name = "k__ptxasw_wide_x16";
  own.kind = "wide-x16";
  Sibling reshaped = own;
  reshaped.code_of = own.name;
  reshaped.extent = {2048, 0, 0};
  std::vector<Prior> priors(1);
  for (const Sibling &one : {own, reshaped})
    priors.push_back(prior_of(stream, one, takes(32), takes(32), 132));
  CHECK(priors[1].promise == priors[2].promise);
  order_blocks(priors, {0, 1, 1});
  CHECK(priors[1].after == 2);
  CHECK(priors[2].after == 0);
  // In several axes nobody knows which warps are better, and one of each is tried at once.
  const Launch field = of({64, 1024, 1}, {32, 8, 1});
  reshaped.extent = {512, 8, 0};
  Sibling again = reshaped; // as good as that
  priors.resize(1);
  for (const Sibling &one : {own, reshaped, again})
    priors.push_back(prior_of(field, one, takes(32), takes(32), 132));
  order_blocks(priors, {0, 1, 1, 1});
  CHECK(priors[1].after == 0);
  CHECK(priors[2].after == 0);
  CHECK(priors[3].after == 1);
  // Where the kernel's own blocks are as small, nothing is gained by others.
  priors = {{}, prior_of(of({65536, 1, 1}, {16, 1, 1}), joined(1, 1), takes(32), takes(32), 132)};
  CHECK(priors[1].slow_blocks == 0);
}
