#pragma once

// Caches: loads of global memory say more about themselves, and nothing else changes. `.nc` where
// nothing that the kernel writes can be what is read (PTX ISA 9.7.9.9); `.L1::evict_last` where
// lines are read again, `.L1::no_allocate` where they are not, `.L2::128B` where the rest of a line
// is read next (PTX ISA 9.7.9.8).
//
// Which loads get what: sites.h. Why it is right: prove.cpp.

#include "synth/family.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::inline synth {

/// What a user vouches for who asks for `nc-apart`.
inline constexpr std::string_view arrays_apart =
    "arrays that different parameters lead to do not overlap, nor do they overlap variables";

/// The module's text with the loads of a kernel requalified; nothing if none would be. Nobody has
/// promised anything.
std::optional<std::string> requalify_loads(const Module &module, const Function &kernel,
                                           std::string_view variant);

/// What is not proved of a kernel whose loads were requalified, for the same launch; empty: it is
/// the kernel but for hints and for `.nc` at loads of what is not written. Both may be of one
/// module.
std::string prove_requalified(const Module &before, const Function &kernel, const Module &after,
                              const Function &other);

/// All variants: `nc`, `nc-apart`, `evict-last`, `no-allocate`, `l2-128`, `hints`.
const std::vector<std::string> &cache_variants();

FamilyAnswer propose_cache(const Module &module, const Function &kernel);
std::string write_cache(const Module &module, const Function &kernel, const Proposal &proposal);
std::string prove_cache(const Module &written, const Function &kernel, const Function &sibling,
                        const Proposal &proposal);

} // namespace ptxasw::synth
