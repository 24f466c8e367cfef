#pragma once

// Starts other programs, as a child or in our place; how that ended is a value.
//   const ChildResult done = run_child({real.path, "ptxas", arguments, -1, STDERR_FILENO});

#include "grammar/namespaces.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace ptxasw::wrapper {

/// How a child ended.
struct ChildResult {
  bool started = false;
  int status = 0;       ///< as from waitpid
  std::string captured; ///< what it wrote to the captured descriptor

  bool succeeded() const { return started && status == 0; }
};

/// What to run and with which descriptors.
struct ChildPlan {
  std::string path;
  std::string name;                   ///< argv[0]
  std::vector<std::string> arguments; ///< argv[1] and on
  int standard_input = -1;            ///< becomes descriptor 0; -1: ours
  int capture = -1;                   ///< descriptor to read back: 1, 2 or -1 for none
  /// If set, the child leads a process group of its own, whose number is here while it runs: so
  /// everything it starts can be ended together.
  volatile pid_t *group = nullptr;
};

/// Runs a child to its end. It dies if we die, so that nothing is written after a caller has given
/// up on us.
ChildResult run_child(const ChildPlan &plan);

/// Turns this process into the program; returns only if that fails, with errno set.
void become(const std::string &path, const std::string &name,
            const std::vector<std::string> &arguments);

} // namespace ptxasw::wrapper
