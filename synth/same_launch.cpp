// `.shared`, `.local` and `.param` variables begin anew with each block, thread and call. Others
// that PTX lets a body declare (ptxas takes `.global` and `.const`) exist once for each function
// that declares them.

#include "synth/same_launch.h"

#include "grammar/code_writer.h"
#include "synth/prove/header.h"

#include <algorithm>
#include <fmt/core.h>
#include <tuple>

namespace ptxasw::synth {
namespace {

/// Returns true if anything in a module can tell how its blocks are clustered.
bool knows_clusters(const Module &module) {
  const auto mentions = [](std::string_view text) { return text.find("cluster") != text.npos; };
  return std::any_of(module.opcodes.begin(), module.opcodes.end(),
                     [&](const Opcode &opcode) {
                       return mentions(opcode.text) || opcode.op == Op::mapa ||
                              opcode.op == Op::getctarank;
                     }) ||
         std::any_of(
             module.all_operands.begin(), module.all_operands.end(), [&](const Operand &operand) {
               return operand.kind == Operand::Kind::special && mentions(module.text(operand.span));
             });
}

} // namespace

const Function *kernel_named(const Module &module, std::string_view name) {
  for (const Function &function : module.functions)
    if (function.name == name && function.has_body)
      return &function;
  return nullptr;
}

std::string same_launch_header(const Module &module, const Function &kernel, std::string_view name,
                               const std::vector<std::string> &appended, unsigned registers,
                               bool bounds_alone) {
  const FunctionHeader own = header_of(module, kernel);
  std::string parameters(own.parameters);
  bool first = kernel.parameters.empty();
  for (const std::string &parameter : appended) {
    parameters += fmt::format("{}\n\t.param .u32 {}", first ? "" : ",", parameter);
    first = false;
  }
  std::string text = fmt::format("{}{}({})\n", own.before_name, name, parameters);
  for (const PerformanceDirective &directive : kernel.directives) {
    if (bounds_alone && directive.name != "maxntid" && directive.name != "reqntid")
      continue;
    text += fmt::format(".{}", directive.name);
    for (unsigned i = 0; i < directive.count; ++i)
      text += fmt::format("{} {}", i == 0 ? "" : ",", directive.values[i]);
    text += '\n';
  }
  return registers == 0 ? text : text + fmt::format(".maxnreg {}\n", registers);
}

void check_same_header(const Module &before, const Function &kernel, const Module &after,
                       const Function &sibling, const MoreThanKernel &more) {
  proof::check_entry(before, kernel, after, sibling, more.parameters);
  proof::show(proof::same_directives(kernel, sibling, more.directive), "its directives are others");
  const auto same_pragma = [&](const Pragma &a, const Pragma &b) {
    return a.position + more.instructions == b.position && a.text == b.text;
  };
  proof::show(std::equal(kernel.pragmas.begin(), kernel.pragmas.end(), sibling.pragmas.begin(),
                         sibling.pragmas.end(), same_pragma),
              "its pragmas are others");
}

const std::optional<Refusal> &same_launch_obstacle(const KernelContext &context) {
  return context.once("same launch", [&]() -> std::optional<Refusal> {
    const auto &[module, kernel] = std::tie(context.module, context.kernel);
    if (const auto obstacle = module_obstacle(module, kernel))
      return obstacle;
    for (const Variable &variable : kernel.variables)
      if (variable.space != StateSpace::shared && variable.space != StateSpace::local &&
          variable.space != StateSpace::param)
        return Refusal{"variable", "the kernel has a variable of its own that lasts"};
    if (knows_clusters(module))
      return Refusal{"cluster", "blocks may be launched in clusters"};
    return waiting_obstacle(context);
  });
}

Proposal same_launch_proposal(const Function &kernel, std::string_view family,
                              std::string_view variant) {
  Proposal proposal;
  proposal.family = family;
  proposal.variant = variant;
  proposal.sibling.family = family;
  proposal.sibling.kind = variant;
  std::string word(variant);
  std::replace(word.begin(), word.end(), '-', '_');
  proposal.sibling.name = fmt::format("{}__ptxasw_{}_{}", kernel.name, family, word);
  return proposal;
}

std::string same_launch_version(const KernelContext &context, const Proposal &proposal,
                                const std::optional<std::string> &changed) {
  const auto &[module, kernel] = std::tie(context.module, context.kernel);
  const std::string_view text = changed ? *changed : module.text();
  const std::size_t behind = module.text().size() - kernel.body.end;
  return same_launch_header(module, kernel, proposal.sibling.name, {}, proposal.registers) +
         fmt::format("{}\n",
                     text.substr(kernel.body.begin, text.size() - behind - kernel.body.begin));
}

void check_same_launch(const KernelContext &context, const Proposal &proposal) {
  Sibling plain;
  plain.name = proposal.sibling.name;
  plain.family = proposal.sibling.family;
  plain.kind = proposal.sibling.kind;
  plain.needs.dynamic_shared = proposal.sibling.needs.dynamic_shared;
  proof::show(proposal.sibling == plain, "the table does not say what is proved");
  const auto &obstacle = same_launch_obstacle(context);
  proof::show(!obstacle, obstacle ? obstacle->meaning : "");
}

} // namespace ptxasw::synth
