#include "grammar/next.h"
#include "support.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ptxasw::test;

namespace {

using Numbers = std::vector<std::uint32_t>;

/// A kernel with a loop: the instructions are 0 to 5.
const std::string looping = in_kernel("mov.u32 u32a, 0; L: add.u32 u32a, u32a, u32b; @p bra L; "
                                      "@q ret; st.global.u32 [u64a], u32a; ret;");

} // namespace

TEST_CASE("branches and returns go on under a guard only") {
  const auto module = parse_good(looping);
  const Function &function = module->functions[0];
  const Numbers expected[] = {{1}, {2}, {1, 3}, {4}, {5}, {}};
  for (std::uint32_t i = 0; i < std::size(expected); ++i)
    CHECK(next_after(*module, function, i) == expected[i]);
  const auto target = [&](std::uint32_t i) {
    return branch_target(*module, function, function.instructions[i]);
  };
  CHECK(target(2) == 1);
  CHECK_FALSE(target(3));
}

TEST_CASE("what may run after an instruction, and what it may write") {
  const auto module = parse_good(looping);
  const Function &function = module->functions[0];
  CHECK(reachable_from(*module, function, {4}) ==
        std::vector<bool>{false, false, false, false, true, true, false});
  const std::vector<bool> behind = reachable_from(*module, function, {2});
  CHECK(behind == std::vector<bool>{false, true, true, true, true, true, false});
  const std::vector<bool> nothing(function.instructions.size(), false);
  const std::vector<bool> written = written_in(*module, function, behind, nothing);
  CHECK(std::count(written.begin(), written.end(), true) == 1);
  CHECK(function
            .registers[static_cast<std::size_t>(std::find(written.begin(), written.end(), true) -
                                                written.begin())]
            .name == "u32a");
}

TEST_CASE("what is live within a block") {
  const auto module = parse_good(looping);
  const Function &function = module->functions[0];
  const ControlFlowGraph cfg(*module, function);
  const Liveness liveness(*module, function, cfg);
  const auto live = [&](std::uint32_t instruction) {
    std::string names;
    for (const RegisterId reg : live_before(*module, function, cfg, liveness, instruction))
      names += std::string(function.registers[reg].name) + " ";
    return names;
  };
  CHECK(live(0).find("u32a") == std::string::npos);
  CHECK(live(1).find("u32a") != std::string::npos);
  CHECK(live(4).find("u32b") == std::string::npos);
  CHECK(live(5).empty());
}
