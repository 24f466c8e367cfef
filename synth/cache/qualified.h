#pragma once

// A load of global memory, taken apart into what may change and what may not.

#include "grammar/module.h"

#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::inline synth::cache {

/// `ld.global{.nc}{.level1::eviction_priority}{.level::prefetch_size}{.vec}.type`, in that order
/// (PTX ISA 9.7.9.8 and 9.7.9.9), of at most 16 bytes; anything else in the opcode makes it another
/// instruction.
struct QualifiedLoad {
  bool generic = false; ///< without `.global`, and then without `.nc`
  bool nc = false;
  std::string_view l1; ///< `evict_last`, `no_allocate`; empty: neither
  std::string_view l2; ///< `128B`; empty: nothing
  std::string_view vec, type;

  bool is_plain() const { return l1.empty() && l2.empty(); }
  std::string opcode() const;
};

/// Nothing if an opcode is none of these.
std::optional<QualifiedLoad> qualified_load(const Opcode &opcode);

/// The same of a load from a generic address: `ld{...}.type`.
std::optional<QualifiedLoad> generic_load(const Opcode &opcode);

/// Why a module must not have such a load, although it has one without these qualifiers; empty: it
/// may. Says which versions have them.
std::string_view too_old_for(const Module &module, const QualifiedLoad &load);

} // namespace ptxasw::synth::cache
