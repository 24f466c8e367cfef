#pragma once

// Loops in which a thread may wait for what somebody else writes (busy waiting, spin loops).
//   if (const auto load = waits_at(context)) // a thread may wait for what this load reads

#include "emulator/facts/kernel_context.h"

#include <optional>
#include <span>
#include <vector>

namespace ptxasw::facts {

/// Returns true if the end of a loop, or of one in it that has the load, may depend on what the
/// load reads, whoever writes that: the loop must have nothing in it that synchronises.
bool decides_end(const Module &module, const Function &function, const ControlFlowGraph &cfg,
                 LoopId loop, std::uint32_t load);

/// The first instruction, in the order of loops, at which a thread of a kernel may wait: the end of
/// a loop around it may depend on what it reads there, and that may be written meanwhile, by the
/// kernel or by whom nobody knows; or it calls a function of which the same is true, or nothing is
/// known. Nothing if there is none: then a thread ends, whatever others do, if the memory that it
/// reads lets it, but for barriers of its block or cluster.
std::optional<std::uint32_t> waits_at(const KernelContext &context);

/// Those of some loads at which a thread may wait by what each of them reads alone.
std::vector<std::uint32_t> awaited(const KernelContext &context,
                                   std::span<const std::uint32_t> loads);

} // namespace ptxasw::facts
