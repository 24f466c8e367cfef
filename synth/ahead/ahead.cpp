// Which kernels get versions with loads ahead. All loops of a kernel of which it is possible are
// written at once: each is innermost, so none has part of another one.

#include "synth/ahead/ahead.h"

#include "synth/ahead/write.h"
#include "synth/same_launch.h"

#include <charconv>

namespace ptxasw::inline synth {
namespace {

constexpr Refusal unknown{"budget", "the kernel is too large"};

std::optional<Refusal> obstacle_of(const Module &module, const Function &kernel) {
  if (kernel.instructions.size() > changed_instructions_budget)
    return unknown;
  return lanes_obstacle(module, kernel);
}

unsigned iterations_of(std::string_view variant) {
  unsigned iterations = 0;
  std::from_chars(variant.data() + 1, variant.data() + variant.size(), iterations);
  return iterations;
}

/// How many iterations.
const std::vector<std::string> &ahead_variants() {
  static const std::vector<std::string> variants{"k4", "k8", "k2"};
  return variants;
}

} // namespace

std::optional<std::string> loads_ahead(const KernelContext &context, unsigned iterations) {
  const Module &module = context.module;
  const Function &kernel = context.kernel;
  std::vector<Refusal> refusals;
  const std::vector<ahead::AheadLoop> loops = ahead::ahead_loops(context, refusals);
  return loops.empty() ? std::nullopt : ahead::write_ahead_loops(module, kernel, loops, iterations);
}

FamilyAnswer propose_ahead(const KernelContext &context) {
  FamilyAnswer answer;
  if (const auto obstacle = obstacle_of(context.module, context.kernel)) {
    answer.refusals.push_back(*obstacle);
    return answer;
  }
  if (!ahead::ahead_loops(context, answer.refusals).empty())
    for (const std::string &variant : ahead_variants())
      answer.proposals.push_back(same_launch_proposal(context.kernel, "ahead", variant));
  return answer;
}

std::string write_ahead(const KernelContext &context, const Proposal &proposal) {
  const auto text = loads_ahead(context, iterations_of(proposal.variant));
  const auto changed = text ? parse(*text, "ahead") : nullptr;
  return same_launch_version(context, proposal, changed ? changed->get() : nullptr);
}

extern const Family ahead_family;
const Family ahead_family = {
    .name = "ahead",
    .option = "ahead",
    .help =
        "add versions in which loops do the loads of this number of iterations before what they "
        "read is used",
    .same_launch = true,
    .variants = ahead_variants,
    .propose = propose_ahead,
    .write = write_ahead,
    .prove = prove_same_launch<prove_loads_ahead>,
};

} // namespace ptxasw::synth
