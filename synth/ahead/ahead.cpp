// Which kernels get versions with loads ahead. All loops of a kernel of which it is possible are
// written at once: each is innermost, so none has part of another one.

#include "synth/ahead/ahead.h"

#include "emulator/semantics/effects.h"
#include "synth/ahead/write.h"
#include "synth/same_launch.h"

#include <charconv>

namespace ptxasw::inline synth {
namespace {

constexpr Refusal no_entry{"no-kernel", "no kernel with a body"};
constexpr Refusal debugged{"debug-module", "the module is compiled for debugging"};
constexpr Refusal unknown{"budget", "the kernel is too large"};
constexpr Refusal lanes{"warp-collective", "it asks which lanes are together"};

constexpr std::size_t instructions_budget = 20'000;

std::optional<Refusal> obstacle_of(const Module &module, const Function &kernel) {
  if (!kernel.is_entry || !kernel.has_body)
    return no_entry;
  if (module.debug)
    return debugged;
  if (kernel.instructions.size() > instructions_budget)
    return unknown;
  for (const Instruction &instruction : kernel.instructions)
    if (asks_which_lanes(module.opcode(instruction))) {
      Refusal refusal = lanes;
      refusal.line = instruction.line;
      return refusal;
    }
  return same_launch_obstacle(module, kernel);
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

std::optional<std::string> loads_ahead(const Module &module, const Function &kernel,
                                       unsigned iterations) {
  std::vector<Refusal> refusals;
  const std::vector<ahead::AheadLoop> loops = ahead::ahead_loops(module, kernel, refusals);
  return loops.empty() ? std::nullopt : ahead::write_ahead_loops(module, kernel, loops, iterations);
}

FamilyAnswer propose_ahead(const Module &module, const Function &kernel) {
  FamilyAnswer answer;
  if (const auto obstacle = obstacle_of(module, kernel)) {
    answer.refusals.push_back(*obstacle);
    return answer;
  }
  if (!ahead::ahead_loops(module, kernel, answer.refusals).empty())
    for (const std::string &variant : ahead_variants())
      answer.proposals.push_back(same_launch_proposal(kernel, "ahead", variant));
  return answer;
}

std::string write_ahead(const Module &module, const Function &kernel, const Proposal &proposal) {
  const auto text = loads_ahead(module, kernel, iterations_of(proposal.variant));
  const auto changed = text ? parse(*text, "ahead") : nullptr;
  return same_launch_version(module, kernel, proposal, changed ? changed->get() : nullptr);
}

extern const Family ahead_family;
const Family ahead_family = {
    .name = "ahead",
    .option = "ahead",
    .help =
        "add versions in which loops do the loads of this number of iterations before what they "
        "read is used",
    .variants = ahead_variants,
    .propose = propose_ahead,
    .write = write_ahead,
    .prove = prove_ahead,
};

} // namespace ptxasw::synth
