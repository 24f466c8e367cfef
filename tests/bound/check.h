#pragma once

// The oracle of the bounds: launches of kernels on the warp emulator, counted.

#include "analysis/bound.h"
#include "grammar/module.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::test {

/// The result of checking one kernel's bounds against launches of it.
struct CheckResult {
  unsigned launches = 0;                    ///< that ran to their end and were compared
  std::map<std::string, unsigned> unusable; ///< launches that were not compared, by reason
  unsigned numbers = 0;                     ///< counts that were checked against a bound
  unsigned exact = 0;                       ///< of these, against one that should be exactly that
  unsigned with_other_data = 0;             ///< counts that were compared with those of other data
  std::vector<std::string> violations;
};

struct CheckOptions {
  /// Parameters that are no pointers get one of these in every second launch, if there are any:
  /// those with which a kernel's counters and indices come to where they wrap around.
  std::vector<std::int64_t> numbers;
  unsigned launches = 3;
  std::uint64_t seed = 1;
  std::uint64_t step_limit = 300'000; ///< thread-instructions
  bool stop = false;                  ///< at the first violation
};

/// The numbers that a file asks for in the last line `// numbers: 1 -1 0x7fffffff` before a kernel.
std::vector<std::int64_t> numbers_for(std::string_view text, std::string_view kernel);

CheckResult check_kernel(const Module &module, const Function &kernel, const CheckOptions &options);

} // namespace ptxasw::test
