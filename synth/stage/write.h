#pragma once

// How a staged loop is written.

#include "synth/stage/sites.h"

#include <optional>
#include <string>

namespace ptxasw::synth::stage {

/// Begins the names of what is written, behind `%` or `$`.
inline constexpr std::string_view prefix = "stage";

/// The module's text with a loop of a kernel staged; nothing if the text has no place for it.
std::optional<std::string> write_staged(const Module &module, const Function &kernel,
                                        const ControlFlowGraph &cfg, const Staging &staging,
                                        const facts::Atoms &atoms);

/// Where the first instruction of a body begins with all that stands before it for its sake.
std::uint32_t begin_of_code(const Function &kernel);

/// The opcodes that bring a load's elements to the tile, and from there: the kernel's own load of
/// untyped elements, the store, and the load that takes the kernel's place.
struct StagingOpcodes {
  std::string load, store, use;
  unsigned elements = 1, bits = 32; ///< of a register for one
};
StagingOpcodes staging_opcodes(const Opcode &load);

} // namespace ptxasw::synth::stage
