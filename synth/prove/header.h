#pragma once

// What two functions have apart from their bodies. Both may be of one module.

#include "grammar/module.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace ptxasw::proof {

/// Returns true if two functions have the same directives in the same order, those of one name of
/// the second aside; empty: none aside.
bool same_directives(const Function &kernel, const Function &other, std::string_view aside = "");

/// Returns true if variables are declared by the same texts, in the same order.
bool same_declarations(const Module &before, std::span<const Variable> own, const Module &after,
                       std::span<const Variable> others);

/// Throws NotProved unless a function is launched as a kernel is, with so many parameters more
/// behind the kernel's own, each an extent (`.u32`): if it is no entry, has another linkage, or a
/// parameter is another one.
void check_entry(const Module &before, const Function &kernel, const Module &after,
                 const Function &other, std::size_t appended = 0);

/// Throws NotProved if anything of two modules differs beside the bodies of two functions.
void check_surroundings(const Module &before, const Function &kernel, const Module &after,
                        const Function &other);

/// By register of another function: a kernel has none of that name.
std::vector<bool> added_registers(const Function &kernel, const Function &other);

/// Throws NotProved if a register, a variable or an added label of a version, or a parameter behind
/// the kernel's own, has the name of something that the kernel's code means by that name: a
/// variable or function of the module, a parameter, a special register.
void check_names(const Module &module, const Function &kernel, const Function &version);

} // namespace ptxasw::proof
