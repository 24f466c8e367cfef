#pragma once

// Finds generic addresses that must be global ones, so that generic loads count as loads of global
// memory (soundness.md, rule 6). Detection, proofs and facts about accesses ask:
//   GenericAddresses(module).is_global(kernel, access)

#include "grammar/module.h"

#include <vector>

namespace ptxasw::emulator {

/// Which generic addresses of a module's kernels are of memory that all lanes share and that only
/// global or generic stores write.
class GenericAddresses {
public:
  explicit GenericAddresses(const Module &module);

  /// True if every one that a kernel can obtain is: the module itself creates none of another space
  /// (`cvta`, PTX ISA 5.1 and 9.7.9.20), and nothing external that it calls can create one. A host
  /// has no other addresses to pass, and those in memory were created by someone.
  bool all_global() const { return others_.empty(); }

  /// True if the one that an instruction of a kernel takes is: none of another space has gone into
  /// it, be it through registers or through memory. Of functions, whose callers may be elsewhere,
  /// nothing is said.
  bool is_global(const Function &kernel, const Instruction &access) const;

private:
  const Module &module_;
  /// By function and register: what another address may have gone into. Empty: none has.
  std::vector<std::vector<bool>> others_;
};

/// What all_global() says of a module.
bool generic_is_global(const Module &module);

} // namespace ptxasw::emulator
