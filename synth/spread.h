#pragma once

// Which kernels may have the work of their threads done by other threads: what families share that
// spread it.

#include "emulator/facts/convergence_points.h"
#include "synth/family.h"

#include <cstdint>
#include <optional>

namespace ptxasw::synth {

/// What becomes of the kernel's blocks.
enum class Blocks : std::uint8_t {
  spread, ///< the work of their threads may be done by others, without any room of their own
  whole,  ///< they stay together, with shared memory of their own and in step at barriers
};

/// All that keeps several blocks of a kernel from being run by one, in lockstep, each kind of
/// obstacle once, at its first line; empty if nothing does. Where blocks stay whole, shared memory
/// may be in the way besides. Found once.
const std::vector<Refusal> &spread_obstacles(const KernelContext &context,
                                             Blocks blocks = Blocks::spread);

/// The first of them.
std::optional<Refusal> spread_obstacle(const KernelContext &context,
                                       Blocks blocks = Blocks::spread);

/// Returns true if threads of a block of such a kernel may be spread differently.
bool may_be_spread(const KernelContext &context);

/// Why a kernel's blocks must not have another extent along an axis (`x`, `y` or `z`), where the
/// threads along it stay as many as they are; nothing if they may. Besides, the launch must have
/// max_points along it at most.
std::optional<Refusal> extent_obstacle(const KernelContext &context, char axis);

/// Threads of a kernel along x that may be spread: each may be a block of its own.
inline constexpr std::uint32_t max_points = 0x7fffffff;

} // namespace ptxasw::synth
