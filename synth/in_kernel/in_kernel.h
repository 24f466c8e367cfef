#pragma once

// Multiversioning by a test at run time: where the shape of a block is known, the kernel itself can
// do what a sibling does, without anybody who launches it differently. Of each K blocks one does
// the work of K, and the others leave at once. A launch that is not the one that was assumed, or
// whose arguments are not what the sibling needs, runs the kernel's own code, which is still there.
//
// How it is written: write.cpp. Why it is right: prove.cpp.

#include "synth/family.h"
#include "synth/report.h"

#include "emulator/semantics/launch.h"

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace ptxasw::synth {

/// Threads that a block may have (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
inline constexpr unsigned threads_of_any_block = 1024;

/// Among the variants: what is sure to pay. That is what lets no block leave early, for the price
/// of that depends on the launch: wide accesses within one thread.
inline constexpr std::string_view in_kernel_auto = "auto";

/// What a caller may ask for.
struct InKernelOptions {
  std::vector<std::string> kernels; ///< only these; empty: all
  /// The variants that may be written (Proposal::variant), the most wanted first. A kernel gets the
  /// first that it can have; empty: nothing is done.
  std::vector<std::string> variants;
  /// Every block of every launch has this shape, except where a `.reqntid` says another. A launch
  /// with another one is computed as before; if the variant limits registers (`-r128`), a block
  /// with more threads than promised may be refused.
  std::optional<BlockShape> block;
};

/// What was done with one kernel.
struct InKernelOutcome : InKernelRecord {
  std::string kernel;
  bool block_assumed = false; ///< the shape of blocks is the caller's word
};

struct InKernelResult {
  std::string text; ///< of the module; its own if not `changed`
  bool changed = false;
  /// For every line of `text` the line of the module's own (Edits::lines); empty if not `changed`.
  std::vector<std::uint32_t> lines;
  std::vector<InKernelOutcome> kernels; ///< all that are wanted and have a body
};

/// What could stand in a kernel for the block that is known of it.
struct InKernelVariants {
  std::optional<BlockShape> block;   ///< empty: none is known
  std::vector<std::string> variants; ///< that may be written; each is still to be proved
  std::vector<std::string> why;      ///< there are no more, as InKernelOutcome::why
};

InKernelVariants in_kernel_variants(const KernelContext &context,
                                    const std::optional<BlockShape> &block);

/// Puts siblings into their kernels.
InKernelResult replace_in_kernel(const Module &module, const InKernelOptions &options);

/// Returns true if a kernel has a sibling in it: its blocks may then do the work of others.
bool has_sibling_inside(const Function &kernel);

/// A sibling for blocks of one shape.
struct InKernelForm {
  Sibling sibling;
  BlockShape block;
};

/// Why a sibling cannot stand in its kernel for blocks of a shape; nothing if it can.
std::optional<Refusal> in_kernel_obstacle(const KernelContext &context, const InKernelForm &form);

/// A function's place in a launch of the sibling, as a register of the kernel's: for each special
/// register of the sibling that becomes one, the register. `%ctaid.x` and `%ptxasw_ctaid_x`.
std::vector<std::pair<std::string, std::string>> in_kernel_places(const InKernelForm &form);

/// The sibling's body, in braces, with these registers in place of the special ones, and with the
/// kernel's grid in place of the appended parameters. Error: it asks for something else of its
/// launch; says why.
tl::expected<std::string, proof::NotProved>
in_kernel_arm(const Module &written, const Function &sibling, const InKernelForm &form);

/// The kernel's body with an arm: the whole of it, in braces. First it leads to the kernel's own,
/// or on to the arm with the thread's place there. Whoever writes it prints this, and the proof
/// asks for the same.
std::string in_kernel_body(const KernelContext &kernel, const InKernelForm &form,
                           std::string_view arm);

/// Proves that every launch of a kernel with a sibling in it computes what it did. `beside` is the
/// same kernel, except for a `.reqntid`, in the module of the sibling, where its family has proved
/// that.
proof::Proved prove_in_kernel(const KernelContext &kernel, const KernelContext &beside,
                              const KernelContext &sibling, const KernelContext &replaced,
                              const InKernelForm &form);

} // namespace ptxasw::synth
