#pragma once

// Runs of a command for those that look for what makes it fail: with settings in its environment, a
// file that it leaves lines in, and an answer.

#include "wrapper/os/progress.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// What `ptxasw bisect` was asked.
struct BisectRequest {
  unsigned repeats = 1;     ///< runs of the command for one answer; it fails if one of them does
  bool show_output = false; ///< let the command write to our own streams
  bool siblings = false;    ///< look among the siblings that are launched
  bool json = false, quiet = false;
  std::string colour = "auto"; ///< wants_colour()
};

/// Why there is no answer.
struct NoAnswer {
  std::string message;
};

/// What one or more runs with the same settings say.
struct CommandAnswer {
  bool fails = false;
  bool mixed = false;                ///< some runs failed and some did not
  std::vector<nlohmann::json> lines; ///< in the file, after the last run
};

class CommandRuns {
public:
  /// Makes the file, and sees to it that a signal ends all. Throws NoAnswer.
  CommandRuns(const BisectRequest &request, const std::vector<std::string> &command);
  ~CommandRuns();
  CommandRuns(const CommandRuns &) = delete;
  CommandRuns &operator=(const CommandRuns &) = delete;

  /// The file of lines; it is gone when a run begins.
  const std::string &file() const { return file_; }
  /// Runs the command so many times, says what came out, after the words that say what was asked.
  /// Throws NoAnswer if it cannot be run, says itself that it cannot tell, or we are interrupted.
  CommandAnswer ask(const std::string &what, unsigned runs);
  /// Runs until now.
  unsigned count() const { return count_; }
  /// Runs for each of the first answers, which all others rest on.
  unsigned first_runs() const { return request_.repeats > 2 ? request_.repeats : 2; }

private:
  int run_once();

  const BisectRequest &request_;
  const std::vector<std::string> &command_;
  std::string file_;
  Progress progress_;
  unsigned count_ = 0;
};

/// Prints what was found: for people a line and those below it, or the object for programs.
void tell_found(const BisectRequest &request, const std::string &heading, const std::string &lines,
                const nlohmann::ordered_json &found);

/// Sets a variable of our own environment, and so of the command's.
void set_variable(const char *name, const std::string &value);

/// The version of a kernel that makes a command fail, which runs a program under the launch helper:
/// found, and said. Throws NoAnswer.
void bisect_siblings(const BisectRequest &request, const std::vector<std::string> &command);

} // namespace ptxasw::wrapper
