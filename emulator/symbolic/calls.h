#pragma once

// Calls whose function is known. The emulator writes out what such a function returns (calls.cpp),
// and analyses and proofs look at what it does: `CallTargets(module).of(call)`.

#include "grammar/module.h"

#include <string_view>
#include <unordered_map>

namespace ptxasw::emulator {

/// Which function of the module a call runs.
class CallTargets {
public:
  explicit CallTargets(const Module &module) : module_(&module) {}

  /// The function that a `call` names; null for calls by pointer and for functions that are only
  /// declared or that the linker may replace (`.weak`).
  const Function *of(const Instruction &call) const;

private:
  const Module *module_;
};

} // namespace ptxasw::emulator
