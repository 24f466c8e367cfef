#pragma once

// The oracle of the bounds: launches of kernels on the warp emulator, counted.

#include "analysis/bound.h"
#include "grammar/module.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptxasw::test {

/// The result of checking one kernel's bounds against launches of it.
struct CheckResult {
  unsigned launches = 0;                    ///< that ran to their end and were compared
  std::map<std::string, unsigned> unusable; ///< launches that were not compared, by reason
  unsigned numbers = 0;                     ///< counts that were checked against a bound
  unsigned exact = 0;                       ///< of these, against one that should be exactly that
  std::vector<std::string> violations;
  /// Bounds that are lower by one in one of their terms, and how many of them some launch refutes.
  unsigned mutants = 0, killed = 0;
};

struct CheckOptions {
  unsigned launches = 3;
  std::uint64_t seed = 1;
  std::uint64_t step_limit = 300'000; ///< thread-instructions
  bool mutate = false;                ///< try mutants of the bounds that are exact, too
};

CheckResult check_kernel(const Module &module, const Function &kernel, const CheckOptions &options);

} // namespace ptxasw::test
