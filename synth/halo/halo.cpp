// A version is for blocks of one shape: then it is known without a computation who reads what at
// the rim, and where it lies in the tile.

#include "synth/halo/halo.h"

#include "synth/halo/write.h"
#include "synth/same_launch.h"

namespace ptxasw::inline synth {
namespace {

constexpr Refusal no_place{"control-flow", "its text declares something between instructions"};

/// The module's text with a kernel's halo staged, and why not.
std::optional<std::string> staged_text(const Module &module, const Function &kernel,
                                       std::string_view variant,
                                       std::optional<facts::KernelFacts> &facts,
                                       std::vector<Refusal> &refusals) {
  const halo::HaloAnswer answer = halo::halo_of(module, kernel, halo::shape_of(variant), facts);
  if (answer.found.empty()) {
    for (const Refusal &refusal : answer.refusals)
      add_refusal(refusals, refusal);
    return std::nullopt;
  }
  const ControlFlowGraph cfg(module, kernel);
  auto text = halo::write_halo(module, kernel, cfg, answer.found[0]);
  if (!text)
    add_refusal(refusals, no_place);
  return text;
}

std::vector<std::array<std::uint32_t, 3>> blocks_of(std::string_view variant) {
  const halo::Extents3 block = halo::shape_of(variant);
  return {{static_cast<std::uint32_t>(block[0]), static_cast<std::uint32_t>(block[1]),
           static_cast<std::uint32_t>(block[2])}};
}

} // namespace

const std::vector<std::string> &halo_variants() {
  static const std::vector<std::string> variants{
      "b64",    "b128",   "b256",   "b512",   "b1024",   "b8x8",    "b16x8",   "b16x16",
      "b32x2",  "b32x4",  "b32x8",  "b32x16", "b32x32",  "b64x2",   "b64x4",   "b64x8",
      "b128x2", "b128x4", "b8x8x4", "b8x8x8", "b16x8x4", "b32x4x2", "b32x4x4", "b32x8x2"};
  return variants;
}

FamilyAnswer propose_halo(const Module &module, const Function &kernel) {
  FamilyAnswer answer;
  if (const auto obstacle = same_launch_obstacle(module, kernel)) {
    answer.refusals.push_back(*obstacle);
    return answer;
  }
  std::optional<facts::KernelFacts> facts;
  for (const std::string &variant : halo_variants()) {
    if (!staged_text(module, kernel, variant, facts, answer.refusals))
      continue;
    Proposal proposal = same_launch_proposal(kernel, "halo", variant);
    proposal.sibling.needs.dynamic_shared = 0; // it lies behind the tile, which the launch does
                                               // not know of
    proposal.sibling.needs.blocks = blocks_of(variant);
    answer.proposals.push_back(std::move(proposal));
  }
  if (!answer.proposals.empty()) // that there is none for other shapes is as it should be
    std::erase_if(answer.refusals, [](const Refusal &one) { return one.reason == "block-shape"; });
  return answer;
}

std::string write_halo(const Module &module, const Function &kernel, const Proposal &proposal) {
  std::vector<Refusal> ignored;
  std::optional<facts::KernelFacts> facts;
  const auto text = staged_text(module, kernel, proposal.variant, facts, ignored);
  const auto changed = parse(text.value_or(""), "staged");
  return same_launch_version(module, kernel, proposal, changed ? changed->get() : nullptr);
}

std::string prove_halo(const Module &written, const Function &kernel, const Function &sibling,
                       const Proposal &proposal) {
  Proposal plain = proposal;
  SiblingNeeds &needs = plain.sibling.needs;
  if (needs.dynamic_shared != 0 || needs.blocks != blocks_of(proposal.variant))
    return "a launch may have other blocks, or shared memory of its own";
  needs.dynamic_shared = SiblingNeeds().dynamic_shared;
  needs.blocks.clear();
  const std::string fault = same_launch_fault(written, kernel, plain);
  return fault.empty() ? prove_halo_of(written, kernel, written, sibling, proposal.variant) : fault;
}

} // namespace ptxasw::synth
