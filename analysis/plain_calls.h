#pragma once

// Tells calls that only compute from those that stand in the way of a proof. independence() and the
// families that let one thread do the work of several (analysis/call_groups.cpp) step over the
// former: whoever makes such a call gets the same result.

#include "grammar/module.h"

#include <map>

namespace ptxasw::analysis {

/// Which calls only compute: of a function whose results, and what it stores, follow from its
/// arguments and from memory, whoever calls it.
class PlainCalls {
public:
  explicit PlainCalls(const Module &module) : module_(module) {}

  /// Returns true if a `call` is one of a function of the module, which asks for no special
  /// register, touches no shared memory, waits for nobody, exchanges nothing with other lanes and
  /// comes back; the functions that it calls, too.
  bool is_plain(const Instruction &call);

private:
  bool only_computes(const Function &function, unsigned depth);

  const Module &module_;
  std::map<const Function *, bool> known_;
};

/// Returns true if a `call` is one of a function of the driver for which blocks need not wait for
/// each other, nor be in any order: `vprintf` and `__assertfail`.
bool calls_driver(const Module &module, const Instruction &call);

} // namespace ptxasw::analysis
