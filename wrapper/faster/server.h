#pragma once

// Runs a program under the launch helper and answers what the helper asks while it runs.

#include "wrapper/launch/profile.h"

#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper::faster {

struct ServerPlan {
  std::vector<std::string> command;
  std::string directory; ///< of this run: questions and answers; exists, and is empty
  /// Variables of the program's environment.
  std::vector<std::pair<std::string, std::string>> environment;
};

/// How a run ended.
struct Served {
  int status = 0;             ///< of the program, as from waitpid
  int not_started = 0;        ///< the error of exec; 0: it was started
  int no_process = 0;         ///< the error if there is no room for a process; 0: there is
  std::size_t unfinished = 0; ///< kernels whose versions are still being assembled
  /// Errors: why nothing is remembered.
  tl::expected<void, std::string> remembered;
  bool in_part = false; ///< that is why not everything is
};

class Server {
public:
  explicit Server(ServerPlan plan) : plan_(std::move(plan)) {}

  /// Runs the program to its end.
  Served run();
  /// Remembers what was chosen. Errors: why not all of it is remembered.
  tl::expected<void, std::string> remember(const launch::Profile &profile);

private:
  ServerPlan plan_;
  std::multimap<std::string, std::string> keys_; ///< of answers, by the hash in their table
};

} // namespace ptxasw::wrapper::faster
