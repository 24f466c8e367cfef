// Everything but the name, `.maxnreg` and what it excludes is copied. A kernel whose author has
// limited its registers, directly or by blocks per multiprocessor, is left alone.

#include "synth/registers/registers.h"

#include "synth/same_launch.h"
#include "synth/siblings.h"

#include <algorithm>
#include <fmt/core.h>
#include <optional>

namespace ptxasw {
namespace {

constexpr std::string_view limit_directive = "maxnreg";

constexpr Refusal no_entry{"no-kernel", "no kernel with a body"};
constexpr Refusal limited{"registers-given",
                          "the kernel says itself how many registers it may have"};
constexpr Refusal debugged{"debug-module", "the module is compiled for debugging"};
constexpr Refusal moved{"registers-moved",
                        "warps hand registers to each other, of those that a block begins with"};

bool is_limit(std::string_view directive) {
  return directive == limit_directive || directive == "minnctapersm" || directive == "maxnctapersm";
}

/// Why a limit could change more than the time. With `setmaxnreg` warps wait for registers that
/// others of the block give back (PTX ISA 9.7.19.5): of a smaller number they may wait forever. A
/// function that is called may do so, too.
std::optional<Refusal> obstacle(const Module &module, const Function &kernel) {
  if (std::any_of(module.opcodes.begin(), module.opcodes.end(),
                  [](const Opcode &opcode) { return opcode.op == Op::setmaxnreg; }))
    return moved;
  return same_launch_obstacle(module, kernel);
}

bool same_directive(const PerformanceDirective &a, const PerformanceDirective &b) {
  return a.name == b.name && a.count == b.count &&
         std::equal(std::begin(a.values), std::end(a.values), std::begin(b.values));
}

} // namespace

FamilyAnswer propose_registers(const Module &module, const Function &kernel) {
  FamilyAnswer answer;
  const bool is_limited =
      std::any_of(kernel.directives.begin(), kernel.directives.end(),
                  [](const PerformanceDirective &one) { return is_limit(one.name); });
  if (!kernel.is_entry || !kernel.has_body)
    answer.refusals.push_back(no_entry);
  else if (module.debug)
    answer.refusals.push_back(debugged);
  else if (is_limited)
    answer.refusals.push_back(limited);
  else if (const auto in_the_way = obstacle(module, kernel))
    answer.refusals.push_back(*in_the_way);
  if (!answer.refusals.empty())
    return answer;
  for (const std::string &limit : register_limits())
    answer.proposals.push_back(same_launch_proposal(kernel, "registers", limit));
  return answer;
}

std::string write_registers(const Module &module, const Function &kernel,
                            const Proposal &proposal) {
  return fmt::format("{}.{} {}\n{}\n", same_launch_header(module, kernel, proposal.sibling.name),
                     limit_directive, proposal.variant, module.text(kernel.body));
}

std::string prove_registers(const Module &written, const Function &kernel, const Function &sibling,
                            const Proposal &proposal) {
  Sibling plain;
  plain.name = proposal.sibling.name;
  plain.family = proposal.sibling.family;
  plain.kind = proposal.sibling.kind;
  if (proposal.sibling != plain)
    return "the table does not say what is proved";
  if (!kernel.has_body || !sibling.has_body || !sibling.is_entry || !kernel.is_entry ||
      sibling.linkage != kernel.linkage)
    return "it is no entry like the kernel";
  if (const auto in_the_way = obstacle(written, kernel))
    return std::string(in_the_way->meaning);
  if (written.text(kernel.body) != written.text(sibling.body))
    return "its body is another";
  const auto same_parameter = [&](const Variable &a, const Variable &b) {
    return written.text(a.span) == written.text(b.span); // what it promises of a pointee, too
  };
  if (!std::equal(kernel.parameters.begin(), kernel.parameters.end(), sibling.parameters.begin(),
                  sibling.parameters.end(), same_parameter))
    return "its parameters are others";
  std::vector<PerformanceDirective> rest = sibling.directives;
  std::erase_if(rest, [](const PerformanceDirective &one) { return one.name == limit_directive; });
  if (!std::equal(kernel.directives.begin(), kernel.directives.end(), rest.begin(), rest.end(),
                  same_directive))
    return "its directives are others";
  const auto same_pragma = [](const Pragma &a, const Pragma &b) {
    return a.position == b.position && a.text == b.text;
  };
  if (!std::equal(kernel.pragmas.begin(), kernel.pragmas.end(), sibling.pragmas.begin(),
                  sibling.pragmas.end(), same_pragma))
    return "its pragmas are others";
  return "";
}

} // namespace ptxasw
