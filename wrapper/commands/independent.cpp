// `ptxasw independent`: the verdicts of analysis/independence as text and as JSON.

#include "analysis/independence.h"
#include "analysis/prove/no_race.h"
#include "wrapper/commands/analyse.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/words.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

/// What `ptxasw independent` was asked.
struct IndependentRequest {
  AnalysisRequest asked;
  bool prove = false;
};

using Json = nlohmann::ordered_json;

/// What bounds the shapes that are legal at all, as the directives have it.
constexpr const char *bounds[] = {"maxntid", "reqntid", "reqnctapercluster", "maxclusterrank"};

Json to_json(const KernelIndependence &found, const Function &kernel) {
  Json json;
  for (int axis = 0; axis < 3; ++axis)
    json["axes"][std::string(1, "xyz"[axis])] = to_string(found.axes[axis].verdict);
  // The first obstacle, of the first axis that has one.
  const auto blocked = std::find_if(std::begin(found.axes), std::end(found.axes),
                                    [](const AxisIndependence &a) { return !a.reason.empty(); });
  json["line"] = blocked == std::end(found.axes) ? Json(nullptr) : Json(blocked->line);
  json["reason"] = blocked == std::end(found.axes) ? Json(nullptr) : Json(blocked->reason);
  json["conditions"] = found.conditions;
  json["blocks_independent"] = found.blocks_independent;
  json["threads_independent"] = found.threads_independent;
  json["bounds"] = Json::object();
  for (const char *name : bounds)
    if (const PerformanceDirective *directive = kernel.directive(name))
      json["bounds"][name] =
          std::vector<std::uint32_t>(directive->values, directive->values + directive->count);
  return json;
}

std::string to_text(const KernelIndependence &found, const Function &kernel) {
  std::string text;
  for (int axis = 0; axis < 3; ++axis) {
    const AxisIndependence &a = found.axes[axis];
    text += fmt::format("  {}: {}", "xyz"[axis], to_string(a.verdict));
    if (!a.reason.empty())
      text += fmt::format(", line {}: {}", a.line, a.reason);
    text += '\n';
  }
  for (const std::string &condition : found.conditions)
    text += fmt::format("  if: {}\n", condition);
  text += fmt::format("  blocks {} on each other, threads {}\n",
                      found.blocks_independent ? "do not depend" : "may depend",
                      found.threads_independent ? "do not either" : "may");
  for (const char *name : bounds)
    if (const PerformanceDirective *directive = kernel.directive(name)) {
      text += fmt::format("  shapes are bounded by .{}", name);
      for (unsigned i = 0; i < directive->count; ++i)
        text += fmt::format("{} {}", i == 0 ? "" : ",", directive->values[i]);
      text += '\n';
    }
  return text;
}

/// `dependent` is a finding.
int code_of(const KernelIndependence &found) {
  int code = exit_code::fine;
  for (const AxisIndependence &axis : found.axes)
    code = exit_code::worse(code, axis.verdict == AxisVerdict::dependent ? exit_code::found
                                  : axis.verdict == AxisVerdict::unknown ? exit_code::incomplete
                                                                         : exit_code::fine);
  return code;
}

/// Says of the condition "no race" if it is proved. That indices do not wrap around is another one.
void prove_no_race(const Module &module, const Function &kernel, KernelIndependence &found) {
  const auto condition = std::find(found.conditions.begin(), found.conditions.end(), "no race");
  if (condition == found.conditions.end())
    return;
  const NoRace answer = no_race(module, kernel);
  *condition = answer.text();
  for (const std::string &rests_on : answer.conditions)
    if (rests_on != "index arithmetic does not overflow")
      found.conditions.push_back(rests_on);
}

int run(const IndependentRequest &request, const Invocation &) {
  const auto inputs = read_analysis(request.asked, "independent");
  if (!inputs)
    return exit_code::failed;
  return analyse(request.asked, *inputs, [&](const AnalysedKernel &one) -> KernelAnswer {
    KernelIndependence found = independence({one.module(), one.function});
    if (request.prove)
      prove_no_race(one.module(), one.function, found);
    return {one.called() + ":", to_text(found, one.function), to_json(found, one.function),
            code_of(found)};
  });
}

void declare(Words &words, IndependentRequest &request) {
  declare_analysis(words, request.asked, "");
  words.flag("--prove", request.prove,
             "look for a proof that there is no race, and say if there is");
  words.footer("Exit codes: 1 an axis is dependent, 3 one is unknown.");
  words.examples({"ptxasw independent heat.ptx", "ptxasw independent heat.cu --prove --json"});
}

} // namespace

const Command independent_command = {
    "independent", "prove that a kernel's result does not depend on how its threads form blocks",
    bind<IndependentRequest, declare, run>};

} // namespace ptxasw::wrapper
