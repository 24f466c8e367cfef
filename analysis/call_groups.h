#pragma once

// Calls that a thread may do for several copies of itself, one after the other, and all that
// belongs to each.
//   if (const CallGroup *group = calls_of(context).of(i)) // i belongs to this call

#include "emulator/facts/kernel_context.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw::analysis {

/// A call with what passes its arguments and takes its results: consecutive instructions through
/// which there is one way.
struct CallGroup {
  enum class Kind : std::uint8_t {
    plain,     ///< of a function of the module that only computes
    print,     ///< `vprintf`
    assertion, ///< `__assertfail`, which does not come back
  };
  Kind kind = Kind::plain;
  std::uint32_t first = 0, call = 0, end = 0; ///< in Function::instructions
  std::uint32_t printed = no_index; ///< of `vprintf`: what passes the place of what it prints
};

/// The calls of a kernel, in the order of its text.
struct Calls {
  std::vector<CallGroup> groups;
  /// The first call, or the first use of a variable for arguments, that is not understood; nothing:
  /// all are.
  std::optional<std::uint32_t> unknown;

  /// The group that an instruction belongs to; null: none.
  const CallGroup *of(std::uint32_t instruction) const;
};

/// Found once.
const Calls &calls_of(const facts::KernelContext &context);

/// The variables of a kernel for arguments and results of calls, as its instructions have them.
std::vector<Symbol> passing_variables(const Module &module, const Function &kernel);

} // namespace ptxasw::analysis
