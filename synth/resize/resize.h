#pragma once

// Resizing: the kernel's threads cut into blocks of another extent along x. The body is the
// kernel's own; before it, threads that the last block has to spare leave. Where the kernel asks
// how many threads there are, none may be to spare, and the launch must have a multiple of the
// extent.
//
// Only for kernels in which nothing along x but the global index and the number of threads matters.
// Why it is right: prove.cpp.

#include "synth/family.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::synth {

/// Why a kernel gets no version with other code for blocks of another extent along x; nothing if it
/// may.
std::optional<Refusal> resize_obstacle(const KernelContext &context);

/// Returns true if a kernel asks for the number of blocks along x, and so for that of threads.
bool counts_threads(const Module &module, const Function &kernel);

/// What the table says of the version with blocks of an extent, except its name.
Sibling resized(std::uint32_t extent, bool counts);

/// The body of a version of a kernel that does not count its threads: before the kernel's own,
/// those that the last block has to spare end. The names are of the appended parameters.
std::string resized_body(const Module &module, const Function &kernel, std::string_view grid,
                         std::string_view block);
inline constexpr std::uint32_t resized_instructions = 9; ///< before the kernel's own

/// Family::prove.
proof::Proved prove_resize(const KernelContext &context, const Function &sibling,
                           const Proposal &proposal);

} // namespace ptxasw::synth
