#pragma once

#include "emulator/warp_draw.h"

#include <map>
#include <string>
#include <vector>

namespace ptxasw {

/// How hard to try.
struct VerifyOptions {
  std::string kernel;     ///< only this one; empty: all that both modules have
  unsigned runs = 20;     ///< launches a kernel
  unsigned schedules = 3; ///< random schedules a launch, besides the two regular ones
  std::uint64_t seed = 1;
  std::uint64_t step_limit = 2'000'000; ///< thread-instructions a run
};

/// What came of comparing one kernel of two modules.
struct KernelVerdict {
  enum class Kind : std::uint8_t { agree, differ, unchecked };
  std::string kernel;
  Kind kind = Kind::unchecked;
  unsigned agreed = 0;                      ///< launches on which both computed the same
  std::map<std::string, unsigned> unusable; ///< launches that were drawn again, by reason
  std::string counter_example;              ///< launch, schedule, place and both values
  std::vector<std::uint32_t> not_executed;  ///< lines of the original that no agreed launch reached
  std::uint64_t steps = 0;
};

/// Compares each kernel of two modules by running both on equal launches: memory must be equal bit
/// for bit under every schedule, and the rewritten kernel may load only what the original accesses.
/// A launch counts only if the original agrees with itself under two schedules and has no race.
std::vector<KernelVerdict> verify(const Module &original, const Module &rewritten,
                                  const VerifyOptions &options);

} // namespace ptxasw
