#pragma once

// The read-only data cache (CUDA's `__ldg`): loads of global memory become `.nc` where nothing that
// the kernel writes can be what is read (PTX ISA 9.7.9.9), and nothing else changes.
//
// Why it is right: prove.cpp.

#include "synth/family.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::synth {

/// What a user vouches for who asks for `nc-apart`.
inline constexpr std::string_view arrays_apart =
    "arrays that different parameters lead to do not overlap, nor do they overlap variables";

/// Returns true if a module's PTX version and target have such loads (PTX ISA 9.7.9.9).
bool has_nc(const Module &module);
inline constexpr Refusal nc_too_new{"target-too-old", ".nc needs PTX 3.1 and sm_32"};

/// A module's text with `.nc` at some `ld.global` of a kernel.
std::optional<std::string> with_nc(const Module &module, const Function &kernel,
                                   const std::vector<std::uint32_t> &loads);

/// Proves that a kernel whose loads were requalified is the kernel, for the same launch, but for
/// `.nc` at loads of what is not written. Both may be of one module.
proof::Proved prove_requalified(const Module &before, const Function &kernel, const Module &after,
                                const Function &other);

proof::Proved prove_cache(const KernelContext &context, const Function &sibling,
                          const Proposal &proposal);

} // namespace ptxasw::synth
