#pragma once

// What the runner asks of a family of traps: a check of each, which tells a report what it found.

#include "grammar/namespaces.h"
#include "trap.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::test {

/// How hard to try, and what to say.
struct TrapOptions {
  unsigned runs = 0;      ///< launches for each module; 0: the family's own number
  unsigned share = 1;     ///< of which one in so many is made first, and all if they say too little
  bool verbose = false;   ///< what is fine is said, too
  bool in_kernel = false; ///< versions inside their kernels, in place of those beside them
};

/// What was found, over all traps.
class TrapReport {
public:
  explicit TrapReport(bool verbose) : verbose_(verbose) {}

  /// Counts and prints what is wrong with a part of a trap; empty: nothing is.
  void say(std::string_view trap, std::string_view part, const std::string &wrong);
  /// Prints what is wanted only of a verbose run.
  void note(std::string_view trap, std::string_view part, const std::string &what) const;
  /// Adds to a number of the summary.
  void count(const std::string &what, unsigned long by = 1) { counts_[what] += by; }
  unsigned wrong() const { return wrong_; }
  /// `3 hazards, 1 wrong`.
  std::string summary() const;

private:
  const bool verbose_;
  unsigned wrong_ = 0;
  std::map<std::string, unsigned long> counts_;
};

/// Loads that get what another lane has read.
void check_shuffles(const Trap &trap, const TrapOptions &options, TrapReport &report);
/// What must be true of all of them: each rule has its hazards.
void check_rules(const std::vector<Trap> &traps, TrapReport &report);
/// Modules, rewritten modules and a list of launches for device/run.
void write_shuffles(const std::vector<Trap> &traps, const std::string &folder);

/// Versions beside a kernel that are launched as their kernel is, of a family by its name.
void check_versions(std::string_view family, const Trap &trap, const TrapOptions &options,
                    TrapReport &report);

/// Kernels in which a thread may wait in a loop, for all families at once.
void check_waits(const Trap &trap, const TrapOptions &options, TrapReport &report);

/// Kernels several of whose blocks are run by one, and with a version inside.
void check_retiled(const Trap &trap, const TrapOptions &options, TrapReport &report);

} // namespace ptxasw::test
