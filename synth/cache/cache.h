#pragma once

// The read-only path: loads of global memory become `.nc` where nothing that the kernel writes can
// be what is read (PTX ISA 9.7.9.9), and nothing else changes.
//
// Why it is right: prove.cpp.

#include "emulator/facts/kernel_facts.h"
#include "synth/family.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::synth {

/// What a user vouches for who asks for `nc-apart`.
inline constexpr std::string_view arrays_apart =
    "arrays that different parameters lead to do not overlap, nor do they overlap variables";

/// What is not proved of a kernel whose loads were requalified, for the same launch; empty: it is
/// the kernel but for `.nc` at loads of what is not written. Both may be of one module.
std::string prove_requalified(const Module &before, const Function &kernel, const Module &after,
                              const Function &other);

std::string prove_cache(const KernelContext &context, const Function &sibling,
                        const Proposal &proposal);

} // namespace ptxasw::synth

namespace ptxasw::synth::cache { // which loads become `.nc`, and why others do not

/// What an opcode has before its `.nc`.
inline constexpr std::string_view before_nc = "ld.global";

/// Why a module must not have such loads: its PTX version or target has none (PTX ISA 9.7.9.9);
/// empty: it may.
std::string_view too_old_for_nc(const Module &module);

/// Instructions of the function that the facts are of. `apart`: arrays that different parameters
/// lead to do not overlap (arrays_apart).
Sites<std::uint32_t> read_only_loads(const facts::KernelFacts &facts, bool apart);

} // namespace ptxasw::synth::cache
