#pragma once

// Shared and local memory of a coarsened kernel. Each copy has its own, so the kernel must not
// depend on where a variable lies; allocations.cpp says what that takes.

#include "analysis/call_groups.h"
#include "synth/family.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw::synth {

/// A variable in shared or local memory that a kernel mentions, of which each copy gets one of its
/// own.
struct Allocation {
  Symbol symbol; ///< as the kernel's instructions have it
  StateSpace space = StateSpace::shared;
  std::uint64_t bytes = 0;
  unsigned alignment = 1;
};

/// Those whose size the text says, in the order in which they are first mentioned.
std::vector<Allocation> allocations_of(const Module &module, const Function &kernel);

/// The others: names of the memory whose size the launch says. Copy k has what begins k times that
/// size behind each of them.
std::vector<Symbol> dynamic_allocations_of(const Module &module, const Function &kernel);

/// Returns true if one of them is in a space.
bool has_allocations(const std::vector<Allocation> &allocations, StateSpace space);

/// Returns true if so many copies of each are no more than a version may have, of both spaces.
bool allocations_fit(const std::vector<Allocation> &allocations, unsigned copies);

/// What a kernel may have in variables without asking for it at launch, on every target (48 KB).
inline constexpr std::uint64_t most_shared_bytes = 0xc000;
/// Of local memory in a thread: what a context keeps for the stack of each thread unless told
/// otherwise (cudaLimitStackSize), so that a version does not make it ask for more.
inline constexpr std::uint64_t most_local_bytes = 1024;

/// The name of a copy's variable.
std::string allocation_name(std::size_t allocation, unsigned copy);

/// Why the shared or local memory of a kernel cannot be in other places, each kind of obstacle
/// once; if there is none, it is known of each access that it goes to a variable that the kernel
/// names. `vprintf` may have the generic address of what it prints.
std::vector<Refusal> allocation_obstacles(const KernelContext &context);

} // namespace ptxasw::synth
