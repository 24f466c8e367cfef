#pragma once

// Where a thread goes from one instruction to the next, and what it may write and read there: by
// instruction, where blocks are too coarse.
//   for (const std::uint32_t next : next_after(module, kernel, i)) // where a thread goes from i

#include "grammar/liveness.h"

#include <optional>
#include <vector>

namespace ptxasw::ptx {

/// Returns true if a thread returns there: `ret` and `exit`.
bool returns(const Opcode &opcode);

/// Returns true if a thread goes elsewhere there, or returns: `bra`, `ret` and `exit`.
bool is_way(const Opcode &opcode);

/// Returns true if a thread may go on to what stands behind an instruction: it is no way, or one
/// under a guard.
bool falls_through(const Module &module, const Instruction &instruction);

/// The instruction that a branch leads to: an index in Function::instructions, maybe one past the
/// last; nothing for anything but a `bra` to a label.
std::optional<std::uint32_t> branch_target(const Module &module, const Function &function,
                                           const Instruction &instruction);

/// By instruction, and one past the last: does a branch lead to it?
std::vector<bool> branch_targets(const Module &module, const Function &function);

/// The instructions that may run next after one, unless it returns; one past the last is the end of
/// the text. All branches must have a target.
std::vector<std::uint32_t> next_after(const Module &module, const Function &function,
                                      std::uint32_t instruction);

/// By instruction, and one past the last: may it run after one of `from`, or is it one of them?
std::vector<bool> reachable_from(const Module &module, const Function &function,
                                 std::vector<std::uint32_t> from);

/// By RegisterId: may it be written by an instruction of a set, as reachable_from() gives it,
/// except some?
std::vector<bool> written_in(const Module &module, const Function &function,
                             const std::vector<bool> &instructions,
                             const std::vector<bool> &except);

/// The registers that may be read before they are written from an instruction on, that one
/// included. Sorted.
std::vector<RegisterId> live_before(const Module &module, const Function &function,
                                    const ControlFlowGraph &cfg, const Liveness &liveness,
                                    std::uint32_t instruction);

} // namespace ptxasw::ptx
