#pragma once

// Which loads become `.nc`, and why others do not.

#include "emulator/facts/kernel_facts.h"
#include "synth/family.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace ptxasw::synth::cache {

/// What an opcode has before its `.nc`.
inline constexpr std::string_view before_nc = "ld.global";

/// Why a module must not have such loads: its PTX version or target has none (PTX ISA 9.7.9.9);
/// empty: it may.
std::string_view too_old_for_nc(const Module &module);

/// Instructions of the function that the facts are of. `apart`: arrays that different parameters
/// lead to do not overlap (arrays_apart).
Sites<std::uint32_t> read_only_loads(const facts::KernelFacts &facts, bool apart);

} // namespace ptxasw::synth::cache
