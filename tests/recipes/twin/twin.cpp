// The recipe "Add a family" of CONTRIBUTING.md, followed for a toy. A kernel's body under another
// name does what the kernel does; the proof compares the two texts.

#include "synth/family.h"

#include "grammar/code_writer.h"

#include <fmt/core.h>

namespace ptxasw::synth {
namespace {

const std::vector<std::string> &twin_variants() {
  static const std::vector<std::string> variants{"same", "again"};
  return variants;
}

FamilyAnswer propose_twin(const KernelContext &context) {
  const Function &kernel = context.kernel;
  static constexpr Refusal directives{"directives", "the toy copies no directives"};
  FamilyAnswer answer;
  if (!kernel.directives.empty())
    answer.refusals.push_back(directives);
  for (const std::string &variant : twin_variants()) {
    if (!answer.refusals.empty())
      break;
    Proposal proposal;
    proposal.family = "twin";
    proposal.sibling.family = proposal.family;
    proposal.variant = proposal.sibling.kind = variant;
    proposal.sibling.name = fmt::format("{}__ptxasw_twin_{}", kernel.name, variant);
    answer.proposals.push_back(std::move(proposal));
  }
  return answer;
}

std::string write_twin(const KernelContext &context, const Proposal &proposal) {
  const Module &module = context.module;
  const Function &kernel = context.kernel;
  const FunctionHeader own = header_of(module, kernel);
  return fmt::format("{}{}({})\n{}\n", own.before_name, proposal.sibling.name, own.parameters,
                     module.text(kernel.body));
}

proof::Proved prove_twin(const KernelContext &context, const Function &sibling, const Proposal &) {
  const Module &written = context.module;
  const Function &kernel = context.kernel;
  return proof::proved([&] {
    proof::show(sibling.directives.empty() &&
                    written.text(kernel.body) == written.text(sibling.body) &&
                    header_of(written, kernel).parameters == header_of(written, sibling).parameters,
                "it is not the kernel's text");
  });
}

} // namespace

extern const Family twin_family;
const Family twin_family = {.name = "twin",
                            .option = "twin",
                            .help = "add the kernel once more",
                            .variants = twin_variants,
                            .propose = propose_twin,
                            .write = write_twin,
                            .prove = prove_twin};

} // namespace ptxasw::synth
