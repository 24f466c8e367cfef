#pragma once

// A load of global memory, by the words of its opcode.
//   if (const auto load = qualified_load(opcode)) load->nc // `ld.global.nc.f32`

#include "grammar/module.h"

#include <optional>

namespace ptxasw::emulator {

/// `ld.global{.nc}{.level1::eviction_priority}{.level::prefetch_size}{.vec}.type`, in that order
/// (PTX ISA 9.7.9.8 and 9.7.9.9), of at most 16 bytes; anything else in the opcode makes it another
/// instruction. Or the same from a generic address: without `.global`, and then without `.nc`.
struct QualifiedLoad {
  bool nc = false;
  bool hinted = false; ///< it says what caches shall do
};

/// Nothing if an opcode is none of these.
std::optional<QualifiedLoad> qualified_load(const Opcode &opcode);

/// The same of a load from a generic address: `ld{...}.type`.
std::optional<QualifiedLoad> generic_load(const Opcode &opcode);

} // namespace ptxasw::emulator
