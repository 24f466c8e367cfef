// The plan of a kernel's shuffles, as data: regions, what each load tests, and what is left of it
// in the variants that compute something else on purpose. No text is written or read here but the
// kernels'.

#include "synth/shuffle/plan.h"

#include "emulator/symbolic/emulate.h"
#include "emulator/symbolic/generic.h"
#include "synth/shuffle/detect.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>

namespace plan_test {

using namespace ptxasw::test;

namespace {

/// A kernel `k(p, q, n)` whose body begins with %rd3 = p + 4 * tid.x and %r1 = tid.x.
std::string kernel(const std::string &directives, const std::string &body) {
  return fmt::format(".version 7.0\n.target sm_70\n.address_size 64\n"
                     ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{}\n{{\n"
                     ".reg .b64 %rd<16>;\n.reg .b32 %r<16>;\n.reg .f32 %f<8>;\n.reg .pred %p<4>;\n"
                     "ld.param.u64 %rd1, [p];\nld.param.u64 %rd5, [q];\nld.param.u32 %r9, [n];\n"
                     "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
                     "{}\nret;\n}}\n",
                     directives, body);
}

constexpr const char *row = ".reqntid 128, 1, 1";

struct Planned {
  std::unique_ptr<Module> module;
  ShufflePlan plan;

  /// The text of a load that is replaced.
  std::string text(std::size_t load) const {
    return std::string(module->text(module->functions[0].instructions[plan.loads[load].load].span));
  }
};

Planned plan(const std::string &text) {
  auto parsed = parse(text, "module");
  REQUIRE(parsed);
  const Module &module = **parsed;
  const Function &function = module.functions[0];
  const LaunchFacts facts = launch_facts(function, {});
  Emulation emulation(module, function, facts);
  REQUIRE(emulation.complete());
  const Detection detection =
      detect(module, function, emulation, RewriteOptions(), GenericAddresses(module));
  ShufflePlan result = plan_shuffles(module, function, emulation.cfg(), detection);
  return {std::move(*parsed), std::move(result)};
}

/// True if nothing of a plan is tested at run time.
bool tests_nothing(const ShufflePlan &plan) {
  bool result = true;
  for (const std::vector<WrapTest> &tests : plan.regions)
    result &= tests.empty();
  for (const PlannedLoad &load : plan.loads)
    result &= !load.has_corner && load.below == 0 && load.above == 0 && load.wrap_tests.empty() &&
              load.distance_tests.empty() && load.store_tests.empty();
  return result;
}

} // namespace

TEST_CASE("loads of one straight piece share a region, each with its own distance") {
  const Planned three =
      plan(kernel(row, "ld.global.f32 %f1, [%rd3];\nld.global.f32 %f2, [%rd3+4];\n"
                       "ld.global.f32 %f3, [%rd3+8];"));
  REQUIRE(three.plan.loads.size() == 2);
  CHECK(three.plan.regions.size() == 1);
  CHECK(three.plan.hoists.size() == 1); // the one in the middle is the nearest to both
  CHECK(three.text(0) == "ld.global.f32 %f1, [%rd3];");
  CHECK(three.plan.loads[0].elements[0].delta == -1);
  CHECK(three.plan.loads[0].below == 1);
  CHECK(three.plan.loads[0].above == 0);
  CHECK(three.plan.loads[1].elements[0].delta == 1);
  CHECK(three.plan.loads[1].above == 1);
  CHECK(three.plan.loads[1].below == 0);
  CHECK(three.plan.loads[1].has_corner);
}

TEST_CASE("a barrier begins another region") {
  const Planned two =
      plan(kernel(row, "ld.global.nc.f32 %f1, [%rd3];\nld.global.nc.f32 %f2, [%rd3+4];\n"
                       "bar.sync 0;\nld.global.nc.f32 %f3, [%rd3+8];"));
  REQUIRE(two.plan.loads.size() == 2);
  CHECK(two.plan.regions.size() == 2);
  CHECK(two.plan.loads[0].region == 0);
  CHECK(two.plan.loads[1].region == 1);
}

TEST_CASE("a copy asks nobody") {
  const Planned copy = plan(kernel(row, "ld.global.f32 %f1, [%rd3];\nld.global.f32 %f2, [%rd3];"));
  REQUIRE(copy.plan.loads.size() == 1);
  CHECK(copy.plan.regions.empty());
  CHECK(copy.plan.loads[0].is_copy());
  CHECK(copy.plan.loads[0].elements[0].delta == 0);
  CHECK(tests_nothing(copy.plan));
}

TEST_CASE("what wraps is one test of its region for all its loads") {
  const Planned wraps =
      plan(kernel(row, "add.s32 %r2, %r1, %r9;\nmul.wide.s32 %rd6, %r2, 4;\n"
                       "add.s64 %rd7, %rd1, %rd6;\nld.global.f32 %f1, [%rd7];\n"
                       "ld.global.f32 %f2, [%rd7+4];\nld.global.f32 %f3, [%rd7+12];"));
  REQUIRE(wraps.plan.loads.size() == 2);
  REQUIRE(wraps.plan.regions.size() == 1);
  const std::vector<WrapTest> &tests = wraps.plan.regions[0]; // one an offset
  REQUIRE(tests.size() == 2);
  CHECK(tests[0].is_signed);
  CHECK(tests[0].where.instruction == tests[1].where.instruction);
  CHECK(tests[0].offset != tests[1].offset);
  for (const PlannedLoad &load : wraps.plan.loads)
    CHECK(load.wrap_tests.empty());
}

TEST_CASE("the other variants are the same plan with less in it") {
  const Planned full = plan(kernel(row, "ld.global.f32 %f1, [%rd3];\nld.global.f32 %f2, [%rd3+4];\n"
                                        "ld.global.f32 %f3, [%rd3+8];"));
  REQUIRE(full.plan.loads.size() == 2);
  REQUIRE_FALSE(tests_nothing(full.plan));

  const ShufflePlan no_corner = restrict_to(Variant::no_corner, full.plan);
  CHECK(tests_nothing(no_corner));
  REQUIRE(no_corner.loads.size() == 2);
  CHECK(no_corner.regions.size() == 1);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK_FALSE(no_corner.loads[i].is_copy());
    CHECK(no_corner.loads[i].elements[0].delta == full.plan.loads[i].elements[0].delta);
  }

  const ShufflePlan no_load = restrict_to(Variant::no_load, full.plan);
  CHECK(tests_nothing(no_load));
  for (const PlannedLoad &load : no_load.loads) {
    CHECK(load.is_copy());
    CHECK(load.elements[0].delta == 0);
  }

  const ShufflePlan same = restrict_to(Variant::full, full.plan);
  CHECK(same.loads[0].below == full.plan.loads[0].below);
  CHECK(same.loads[0].has_corner);
}

} // namespace plan_test
