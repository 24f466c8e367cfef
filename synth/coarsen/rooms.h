#pragma once

#include "synth/family.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::inline synth {

/// A variable in shared memory that a kernel mentions, of which each copy gets one of its own.
struct Room {
  Symbol symbol; ///< as the kernel's instructions have it
  std::uint64_t bytes = 0;
  unsigned alignment = 1;
};

/// Those whose size the text says, in the order in which they are first mentioned.
std::vector<Room> rooms_of(const Module &module, const Function &kernel);

/// The others: names of the memory whose size the launch says. Copy k has what begins k times that
/// size behind each of them.
std::vector<Symbol> dynamic_rooms_of(const Module &module, const Function &kernel);

/// Bytes that so many copies of each take at most.
std::uint64_t bytes_of(const std::vector<Room> &rooms, unsigned copies);

/// What a kernel may have in variables without asking for it at launch, on every target (48 KB).
inline constexpr std::uint64_t most_shared_bytes = 0xc000;

/// The name of a copy's variable.
std::string room_name(std::size_t room, unsigned copy);

/// Why the shared memory of a kernel cannot be in other places, each kind of obstacle once; if
/// there is none, it is known of each access that it goes to a variable that the kernel names.
std::vector<Refusal> rooms_obstacles(const Module &module, const Function &kernel);

} // namespace ptxasw::synth
