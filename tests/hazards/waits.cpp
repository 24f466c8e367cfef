// Kernels in which a thread may wait in a loop, which no family may touch.
//
// Every family refuses the hazard, beside the kernel and in its place; and what a family writes all
// the same is not proved. Of the twin every family has a version, except those that the head names
// as `without`; each is proved and computes the same on the warp emulator.

#include "family.h"

#include "emulator/machine/warp_verify.h"
#include "synth/in_kernel/in_kernel.h"
#include "synth/search/search.h"
#include "synth/siblings.h"

#include <algorithm>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace ptxasw::test {
namespace {

/// The families that have no version of the twin.
std::set<std::string> without(const Trap &trap) {
  std::set<std::string> names;
  std::istringstream words(trap.value("without"));
  for (std::string word; words >> word;)
    names.insert(word);
  return names;
}

/// Variants of a family that are asked for: the first, or what others need less for.
std::vector<std::string> one_of(const FamilyOption &option) {
  static const std::map<std::string_view, std::vector<std::string>> others{
      {"retile", {"x2", "wide-x2"}},
      {"cache", {"nc-apart"}},
      {"shuffle", {"copies"}},
      {"resize", {"b64"}}};
  const auto found = others.find(option.name);
  return found == others.end() ? std::vector{option.variants.front()} : found->second;
}

/// One version of each family, and of both kinds that copy blocks.
SiblingResult with_all(const Module &module) {
  SiblingOptions options;
  options.kernels = {"k"};
  for (const FamilyOption &option : family_options())
    options.wanted[std::string(option.name)] = one_of(option);
  return add_siblings(module, options);
}

std::set<std::string> all_of_them() {
  std::set<std::string> all{"in-kernel"};
  for (const Family &family : families())
    all.emplace(family.name);
  return all;
}

InKernelOutcome inside(const Module &module) {
  return replace_in_kernel(module, {{"k"}, {"x2"}, BlockShape{32, 1, 1}}).kernels.back();
}

/// `result`: the twin with all of its versions.
std::string fault_of_twin(const Trap &trap, const Module &module, const SiblingResult &result,
                          unsigned runs) {
  const KernelSiblings &kernel = result.kernels.back();
  for (const UnprovedSibling &one : kernel.unproved)
    return fmt::format("{} is not proved: {}", one.name, one.why);
  const std::set<std::string> left_out = without(trap);
  std::set<std::string> written, expected;
  for (const Proposal &proposal : kernel.written)
    written.emplace(proposal.family);
  if (!inside(module).variant.empty())
    written.emplace("in-kernel");
  const std::set<std::string> all = all_of_them();
  std::set_difference(all.begin(), all.end(), left_out.begin(), left_out.end(),
                      std::inserter(expected, expected.end()));
  if (written != expected) {
    std::string why;
    for (const Refusal &refusal : kernel.refusals)
      why += fmt::format(", {} (line {})", refusal.reason, refusal.line);
    return fmt::format("versions of {}, not of {}{}", fmt::join(written, " "),
                       fmt::join(expected, " "), why);
  }
  const auto after = parse(result.text, "written.ptx");
  if (!after)
    return format(after.error());
  unsigned agreed = 0;
  for (const Proposal &proposal : kernel.written) {
    VerifyOptions how;
    how.kernel = "k";
    how.stand_in = proposal.sibling;
    how.no_alias = !proposal.promise.empty();
    how.runs = runs;
    how.search = runs * 20; // launches that look for lines not run yet: most of the time
    how.schedules = 1;
    how.small = true;
    how.step_limit = 40'000;
    const KernelVerdict verdict = verify(**after, **after, how).at(0);
    if (verdict.kind == KernelVerdict::Kind::differ)
      return fmt::format("{}: {}", proposal.sibling.name, verdict.counter_example);
    agreed += verdict.agreed;
  }
  return agreed == 0 && !kernel.written.empty() ? "no launch of any version ends" : "";
}

/// What families would write of the twin is written of the hazard: none of it is proved.
std::string fault_of_proofs(const Module &module, const SiblingResult &twin) {
  const Function &kernel = module.functions.back();
  for (const Proposal &proposal : twin.kernels.back().written) {
    const Family *const family = find_family(proposal.family);
    const auto written =
        parse(fmt::format("{}\n{}", module.text(), family->write({module, kernel}, proposal)), "k");
    if (written && (*written)->functions.size() == module.functions.size() + 1 &&
        family
            ->prove({**written, (*written)->functions[module.functions.size() - 1]},
                    (*written)->functions.back(), proposal)
            .has_value())
      return fmt::format("{} is taken for proved", proposal.sibling.name);
  }
  return "";
}

std::string fault_of_waiting(const Trap &trap, const SiblingResult &twin) {
  auto parsed = parse(trap.text, "hazard.ptx");
  if (!parsed)
    return format(parsed.error());
  const std::shared_ptr<const Module> module(std::move(*parsed));
  const SiblingResult result = with_all(*module);
  const KernelSiblings &kernel = result.kernels.back();
  std::string why;
  for (const Refusal &refusal : kernel.refusals)
    why += fmt::format(" {}", refusal.reason);
  if (result.changed)
    return fmt::format("{} was written", kernel.written.front().sibling.name);
  if (!kernel.unproved.empty())
    return fmt::format("{} was proposed", kernel.unproved.front().name);
  if (why.find(" waits") == std::string::npos)
    return "refused for other reasons:" + why;
  if (!inside(*module).variant.empty())
    return "it was written in the kernel";
  SearchOptions options;
  options.rounds = 1;
  if (search(module, "k", options).candidates.size() != 1)
    return "it was rewritten in its place";
  return fault_of_proofs(*module, twin);
}

} // namespace

void check_waits(const Trap &trap, const TrapOptions &options, TrapReport &report) {
  constexpr unsigned usual_runs = 2;
  const auto twin = parse(trap.twin, "twin.ptx");
  if (!twin) {
    report.say(trap.name, "twin", format(twin.error()));
    return;
  }
  const SiblingResult with_versions = with_all(**twin);
  report.say(trap.name, "hazard", fault_of_waiting(trap, with_versions));
  report.say(
      trap.name, "twin",
      fault_of_twin(trap, **twin, with_versions, options.runs != 0 ? options.runs : usual_runs));
}

} // namespace ptxasw::test
