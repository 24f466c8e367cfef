#pragma once

// Atomics whose results nobody asks for.

#include "grammar/module.h"

#include <vector>

namespace ptxasw::facts {

/// By instruction: is it an atomic operation of which only what it does to memory counts, as of a
/// `red`? That is a relaxed `atom` (PTX ISA 9.7.13.5) of an operation that `red` has, whose result
/// goes to registers that nothing reads, or nowhere.
std::vector<bool> unread_atomics(const Module &module, const Function &function);

} // namespace ptxasw::facts
