// What is feared of versions: the order is that of the measurements.

#include "wrapper/launch/risk.h"

#include <doctest/doctest.h>

using namespace ptxasw;
using namespace ptxasw::launch;

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
  return risk_of(launch, sibling, takes(32), limits);
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
  CHECK(risk_of(plane, joined(1, 4), takes(32, 4096), takes(40, 4096)) == rows);
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
  // Nothing is known where the driver says nothing.
  CHECK(risk_of(plane, joined(1, 4), {}, {}) == all);
}
