// The shuffle as a family: the kernel with loads replaced by values that another lane or the thread
// itself has, beside the kernel, for a launch to choose. Where it stands in the kernel's place
// instead, rewrite_module() decides by the target (synth/rewrite.h).
//
// The version has the body that the kernel gets where it is rewritten in its place, so the proof of
// that is the same one (synth/proof). Which loads are said to be replaced is found again from the
// kernel; if that is not what the text did, the two do not line up, and nothing is proved.

#include "synth/proof/prove.h"
#include "synth/proof/reuse.h"
#include "synth/prove/header.h"
#include "synth/rewrite.h"
#include "synth/same_launch.h"
#include "synth/shuffle/plan.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::synth {
namespace {

constexpr Refusal nothing_reused{"no-source", "no load reads what a lane has already"};
constexpr Refusal in_place{"shuffled", "the kernel shuffles in its place already"};

RewriteOptions rewriting(const Function &kernel, std::string_view variant) {
  RewriteOptions options;
  options.kernels = {std::string(kernel.name)};
  options.shuffle = ShuffleMode::always;
  if (variant == "copies")
    options.max_delta = 0;
  return options;
}

/// The module with the kernel rewritten, and the loads that are gone from it.
struct Shuffled {
  RewriteResult result;
  std::vector<std::uint32_t> replaced; ///< instruction indices, sorted
  unsigned shuffles = 0;               ///< of them, those of which another lane has the value
};

Shuffled shuffle(const Module &module, const Function &kernel, std::string_view variant) {
  Shuffled made;
  std::vector<FunctionDetection> found;
  made.result = rewrite_module(module, "sibling", rewriting(kernel, variant), prove, &found);
  for (const FunctionDetection &one : found)
    if (&module.functions[one.function] == &kernel)
      for (const Reuse &reuse : one.detection.reuses) {
        made.replaced.push_back(reuse.load);
        made.shuffles += !reuse.is_copy();
      }
  std::sort(made.replaced.begin(), made.replaced.end());
  return made;
}

const Shuffled &shuffled(const KernelContext &context, std::string_view variant) {
  return context.once(variant, [&] { return shuffle(context.module, context.kernel, variant); });
}

/// As rewrite_module() proves it, in the kernel's place.
std::optional<std::string> shuffled_text(const KernelContext &context, std::string_view variant) {
  return shuffled(context, variant).result.text;
}

/// Why a kernel has no such version.
Refusal refusal_of(const RewriteResult &result, const Function &kernel) {
  for (const KernelReport &report : result.report.kernels) {
    if (report.name != kernel.name)
      continue;
    // Of the whole module, or of the first load that one might have expected to go.
    for (const KeptRecord &kept : report.kept)
      if (kept.reason != Reason::no_source)
        return {to_string(kept.reason), describe(kept.reason), kept.line};
  }
  return nothing_reused;
}

/// Shuffles and copies, or what the thread itself has alone.
constexpr std::string_view shuffle_variants[] = {"all", "copies"};

FamilyAnswer propose_shuffle(const KernelContext &context) {
  const Function &kernel = context.kernel;
  FamilyAnswer answer;
  // What is left to load there is what no lane has; a shuffle in its place would never be needed.
  if (is_shuffled(context.module, kernel)) {
    answer.refusals.push_back(in_place);
    return answer;
  }
  const Shuffled &all = shuffled(context, "all");
  if (all.replaced.empty())
    return {{}, {refusal_of(all.result, kernel)}};
  if (all.shuffles > 0)
    answer.proposals.push_back(same_launch_proposal(kernel, "shuffle", "all"));
  if (all.shuffles == 0 || !shuffled(context, "copies").replaced.empty())
    answer.proposals.push_back(same_launch_proposal(kernel, "shuffle", "copies"));
  return answer;
}

proof::Proved prove_shuffle(const KernelContext &context, const Function &sibling,
                            const Proposal &proposal) {
  const Module &written = context.module;
  const Function &kernel = context.kernel;
  return proof::proved([&] {
    check_same_launch(context, proposal);
    proof::check_entry(written, kernel, written, sibling);
    proof::show(proof::same_directives(kernel, sibling), "its directives are others");
    const std::vector<std::uint32_t> &replaced = shuffled(context, proposal.variant).replaced;
    proof::show(!replaced.empty(), "nothing is replaced");
    const FunctionProof shown = prove_replaced(written, kernel, written, sibling, replaced,
                                               rewriting(kernel, proposal.variant));
    for (const Unproved &one : shown.unproved)
      proof::show_at(kernel.instructions[one.load].line, false,
                     fmt::format("{}: {}", one.missing.part, one.missing.why));
  });
}

} // namespace

const Family shuffle_family = {
    .name = "shuffle",
    .option = "shuffle",
    .setting = "shuffle-siblings",
    .help = "add versions in which loads whose value another lane or the thread itself has are "
            "shuffles and copies, or copies alone",
    .same_launch = true,
    .variants = listed<shuffle_variants>,
    .propose = propose_shuffle,
    .write = write_same_launch<shuffled_text>,
    .prove = prove_shuffle,
    .in_place = shuffled_text,
};

} // namespace ptxasw::synth
