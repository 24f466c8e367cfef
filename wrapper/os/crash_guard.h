#pragma once

// A net under a run as ptxas: if ptxasw crashes, the real ptxas runs, and the build goes on.
//   const CrashGuard guard(real.path, "ptxas", arguments, log, line); // until the rewrite is done

#include "grammar/namespaces.h"

#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// While it lives, a crash of this process (bad memory access, stack overflow, abort, ...) turns
/// it into the program given instead: the caller never learns that we failed. Costs a few system
/// calls, where doing the work in a child would cost the copy of an address space.
class CrashGuard {
public:
  /// `log_file` (may be empty) gets `log_line` when that happens.
  CrashGuard(const std::string &path, const std::string &name,
             const std::vector<std::string> &arguments, const std::string &log_file,
             const std::string &log_line);
  ~CrashGuard();
  CrashGuard(const CrashGuard &) = delete;
  CrashGuard &operator=(const CrashGuard &) = delete;
};

} // namespace ptxasw::wrapper
