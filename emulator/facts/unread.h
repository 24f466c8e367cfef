#pragma once

// Atomics that order nothing but themselves, and of these the ones whose results nobody asks for.
//   unread_atomics(module, kernel)[i] // nobody asks what it gave

#include "grammar/module.h"

#include <vector>

namespace ptxasw::facts {

/// Returns true if an opcode is an `atom` that is relaxed (PTX ISA 9.7.13.5): no access of the
/// thread is ordered by it, and it is one step for whom its scope names.
bool is_relaxed_atomic(const Opcode &opcode);

/// By instruction: is it an atomic operation of which only what it does to memory counts, as of a
/// `red`? That is a relaxed `atom` (PTX ISA 9.7.13.5) of an operation that `red` has, whose result
/// goes to registers that nothing reads, or nowhere.
std::vector<bool> unread_atomics(const Module &module, const Function &function);

} // namespace ptxasw::facts
