#pragma once

// What families have in common whose siblings are launched as the kernel is, with its own
// parameters, and have a body that declares what the kernel's declares.

#include "synth/family.h"
#include "synth/prove/not_proved.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::synth {

/// The function of a name that has a body; null if there is none.
const Function *kernel_named(const Module &module, std::string_view name);

/// Everything of a kernel before its body, its directives included, under another name. `appended`
/// are names of `.u32` parameters behind its own; `registers` is a limit (`.maxnreg`), 0: none.
/// `bounds_alone`: of the directives only those that bound the block.
std::string same_launch_header(const Module &module, const Function &kernel, std::string_view name,
                               const std::vector<std::string> &appended = {},
                               unsigned registers = 0, bool bounds_alone = false);

/// What a version may have that its kernel lacks.
struct MoreThanKernel {
  std::string_view directive;     ///< one of that name; empty: none
  std::size_t parameters = 0;     ///< extents, behind the kernel's own
  std::uint32_t instructions = 0; ///< before the kernel's first
};

/// Throws proof::NotProved unless everything of a function is the kernel's, bodies and names apart.
/// It may have what `more` says, and nothing else of that is looked at. Both may be of one module.
void check_same_header(const Module &before, const Function &kernel, const Module &after,
                       const Function &sibling, const MoreThanKernel &more = {});

/// A version of a kernel, of which the table says only its name, family and kind.
Proposal same_launch_proposal(const Function &kernel, std::string_view family,
                              std::string_view variant);

/// The version as a whole function, with the body that the kernel has in what became of the
/// module's text, in which all else is as it was; with its own body where there is none.
std::string same_launch_version(const KernelContext &context, const Proposal &proposal,
                                const std::optional<std::string> &changed);

/// Family::write by what the module's text becomes with a variant in the kernel's place.
template <std::optional<std::string> (*text)(const KernelContext &, std::string_view variant)>
std::string write_same_launch(const KernelContext &context, const Proposal &proposal) {
  return same_launch_version(context, proposal, text(context, proposal.variant));
}

/// The text of a module after as many steps as `step` has one for, `most` at most: it gives the
/// text after the next one, or nothing. Nothing: there was none.
template <typename Step>
std::optional<std::string> after_steps(const KernelContext &context, unsigned most, Step step) {
  std::optional<std::string> text = step(context);
  for (unsigned i = 1; text && i < most; ++i) {
    const auto module = parse(*text, "step");
    const Function *kernel = module ? kernel_named(**module, context.kernel.name) : nullptr;
    auto next = kernel ? step({**module, *kernel}) : std::nullopt;
    if (!next)
      break;
    text = std::move(next);
  }
  return text;
}

/// Throws proof::NotProved if something is wrong with a version apart from its body, which is for
/// the family to prove: the table promises more than same_launch_proposal() says, or there is an
/// obstacle. It may be for fewer launches, by their shared memory.
void check_same_launch(const KernelContext &context, const Proposal &proposal);

/// Family::prove of a function that is launched as the kernel is, by a proof of what a kernel
/// became in its place.
template <proof::Proved (*prove)(const Module &before, const Function &kernel, const Module &after,
                                 const Function &changed)>
proof::Proved prove_same_launch(const KernelContext &context, const Function &sibling,
                                const Proposal &proposal) {
  return proof::proved([&] { check_same_launch(context, proposal); }).and_then([&] {
    return prove(context.module, context.kernel, context.module, sibling);
  });
}

} // namespace ptxasw::synth
