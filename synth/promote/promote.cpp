// Loops are promoted one after the other, the innermost first: what an inner loop's registers need
// is read anew in each activation, and stays in the first iteration of the outer one.

#include "grammar/edits.h"
#include "synth/promote/sites.h"
#include "synth/same_launch.h"

#include <algorithm>

namespace ptxasw::synth {
namespace {

using promote::Promotion, promote::Wanted;

constexpr unsigned promoted_loops_budget = 16; ///< of a kernel

template <Wanted wanted> const Sites<Promotion> &sites_for(const KernelContext &context) {
  return context.once(promote::prefix_of(wanted),
                      [&] { return promote::promotion_sites(context, wanted); });
}

/// With each loop promoted in which something can be; of `54` the one that begins in that line.
template <Wanted wanted>
std::optional<std::string> promoted_text(const KernelContext &context, std::string_view variant) {
  const unsigned line = number_in(variant);
  const auto step = [&](const KernelContext &now) -> std::optional<std::string> {
    const std::vector<Promotion> &sites = sites_for<wanted>(now).sites;
    const auto last = std::find_if(sites.rbegin(), sites.rend(), [&](const Promotion &one) {
      return line == 0 || one.line == line;
    });
    return last == sites.rend() ? std::nullopt : promote::write_promoted(now, *last);
  };
  return after_steps(context, line ? 1 : promoted_loops_budget, step);
}

template <Wanted wanted> FamilyAnswer propose_loops(const KernelContext &context) {
  const Sites<Promotion> &sites = sites_for<wanted>(context);
  FamilyAnswer answer{{}, sites.refusals};
  if (!sites.sites.empty())
    answer.proposals.push_back(
        same_launch_proposal(context.kernel, promote::prefix_of(wanted), "all"));
  return answer;
}

template <Wanted wanted> std::vector<std::string> loops_of(const KernelContext &context) {
  std::vector<std::string> parts;
  for (const Promotion &site : sites_for<wanted>(context).sites)
    parts.push_back(std::to_string(site.line));
  return parts;
}

/// The module's text as it would be if every test of a promotion came out well: what it costs where
/// arrays do not overlap. It computes something else where they do.
std::string where_apart(const Module &module) {
  Edits edits;
  for (const Function &function : module.functions)
    for (const Instruction &instruction : function.instructions) {
      if (module.opcode(instruction).op != Op::bra || instruction.guard == no_register)
        continue;
      const std::string_view name = function.registers[instruction.guard].name;
      const auto has = [&](Wanted wanted) {
        return name.find(promote::prefix_of(wanted)) != std::string_view::npos;
      };
      if ((has(Wanted::repeated) || has(Wanted::carried)) &&
          name.ends_with(promote::predicate_suffix))
        edits.replace({instruction.span.begin, instruction.opcode_span.begin}, "");
    }
  return edits.apply(module.text()).value_or(std::string(module.text()));
}

constexpr std::string_view whole_variants[] = {"all"};

template <Wanted wanted> constexpr Family family_of(std::string_view name, std::string_view help) {
  return {
      .name = name,
      .option = name,
      .help = help,
      .if_measured = true,
      .same_launch = true,
      .variants = listed<whole_variants>,
      .propose = propose_loops<wanted>,
      .write = write_same_launch<promoted_text<wanted>>,
      .prove = prove_same_launch<promote::prove_promoted>,
      .in_place = promoted_text<wanted>,
      .prove_in_place = promote::prove_promoted,
      .parts = loops_of<wanted>,
      .without_tests = where_apart,
  };
}

} // namespace

const Family promote_family = family_of<Wanted::repeated>(
    "promote", "add versions in which loads that loops repeat are registers, under a test that the "
               "loops' stores stay away from them");
const Family carry_family = family_of<Wanted::carried>(
    "carry",
    "add versions in which what the next iteration of a loop loads again stays in registers, "
    "under the same test");

} // namespace ptxasw::synth
