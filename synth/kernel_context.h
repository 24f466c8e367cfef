#pragma once

// What synth/ adds to a kernel and what is worked out about it once (emulator/facts).
//
//   const KernelContext context(module, kernel);
//   for (const Family &family : families())
//     FamilyAnswer answer = propose(family, context);

#include "emulator/facts/kernel_context.h"
#include "grammar/module.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::synth {

/// Why a family does nothing for a kernel, or not what was asked. Thrown where a place is refused
/// that a family looks at; caught where it asks for all of them.
struct Refusal {
  std::string_view reason;      ///< its stable name, "barrier"
  std::string_view meaning;     ///< one line, for people
  std::uint32_t line = 0;       ///< 1-based, of the instruction in the way; 0: none in particular
  std::string_view family = {}; ///< the first that says so, where several were asked

  /// The same of a line.
  Refusal at(std::uint32_t of) const { return {reason, meaning, of, family}; }
  /// The same of a family.
  Refusal by(std::string_view who) const { return {reason, meaning, line, who}; }
};

/// Where something can be done in a kernel, and why not, or nowhere else.
template <typename Site> struct Sites {
  std::vector<Site> sites; ///< in the order of the text
  std::vector<Refusal> refusals;
};

/// Adds one, unless it is said already.
void add_refusal(std::vector<Refusal> &all, const Refusal &more);

/// Adds one, unless another one of its kind is there: each kind at its first line.
void add_kind(std::vector<Refusal> &all, const Refusal &more);

namespace refusals {
inline constexpr Refusal no_kernel{"no-kernel", "no kernel with a body"};
inline constexpr Refusal debug_module{"debug-module", "the module is compiled for debugging"};
inline constexpr Refusal address_size{"address-size", "addresses have 32 bits"};
inline constexpr Refusal control_flow{"control-flow", "the kernel is too large, or not understood"};
inline constexpr Refusal warp_collective{"warp-collective", "it asks which lanes are together"};
inline constexpr Refusal no_loop{"no-loop", "there is no loop in it"};
inline constexpr Refusal branch_table{"branch-table", "a branch by a table"};
inline constexpr Refusal registers_given{"registers-given",
                                         "the kernel says itself how many registers it may have"};
inline constexpr Refusal call{"call", "a function is called"};
inline constexpr Refusal carry_flag{"carry-flag", "a carry goes from one instruction to the next"};
inline constexpr Refusal register_type{"register-type",
                                       "a register of a kind that cannot be copied by a mov"};
inline constexpr Refusal unknown_instruction{"unknown-instruction",
                                             "an instruction that is not known well enough"};
inline constexpr Refusal too_large{"budget", "the kernel is too large"};
inline constexpr Refusal may_be_written{"may-be-written", "the kernel may write what it reads"};
inline constexpr Refusal decides_the_end{"decides-the-end",
                                         "the end of the loop depends on what it loads"};
inline constexpr Refusal local_index{
    "local-index", "along x more matters than the global index and the number of threads"};
} // namespace refusals

/// Instructions of a kernel whose text is changed, at most.
inline constexpr std::size_t changed_instructions_budget = 20'000;

/// Why nothing is done to a kernel by anybody: it is none, it has no body, or it is compiled for
/// debugging.
std::optional<Refusal> module_obstacle(const Module &module, const Function &kernel);

/// Returns true if a kernel says itself how many registers it may have, directly or by blocks per
/// multiprocessor.
bool limits_registers(const Function &kernel);

/// The first instruction that asks which lanes are together, as an obstacle.
std::optional<Refusal> lanes_obstacle(const Module &module, const Function &kernel);

using facts::KernelContext;
using facts::OfKernel;

/// Why a kernel must have no versions: a thread of it may wait in a loop for what another thread,
/// another kernel or the host writes (facts::waits_at()). A version could do what the other one
/// waits for behind the loop, have other threads share a warp, a block or a thread, or need more
/// registers, so that fewer blocks run at a time. Where no thread waits, none needs another one to
/// run at the same time or before it; so neither the order of threads nor how many blocks are
/// resident matters to whether a launch ends.
const std::optional<Refusal> &waiting_obstacle(const KernelContext &context);

/// Why a kernel must not have a second body beside it: module_obstacle(), or
///   - a variable declared in the body that lasts longer than a thread or block: a launch would
///     find what launches of the same version left there, and not what others did;
///   - clusters of blocks: their size may be an attribute that the program gives the kernel, and
///     not its siblings;
///   - a loop that may wait for somebody (waiting_obstacle()).
const std::optional<Refusal> &same_launch_obstacle(const KernelContext &context);

/// Returns true if a kernel is among those of some names, of which none stands for all.
inline bool is_selected(const Function &kernel, std::span<const std::string> names) {
  return names.empty() || std::find(names.begin(), names.end(), kernel.name) != names.end();
}

} // namespace ptxasw::synth
