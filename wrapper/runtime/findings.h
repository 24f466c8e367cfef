#pragma once

// What `ptxasw check` is told: the runtime checks, and writes what it finds, one JSON object a
// line, to a file that the command reads.

#include "emulator/machine/warp_fault.h"
#include "emulator/machine/warp_program.h"
#include "grammar/module.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// Where the program called the API: return addresses, innermost first. `ptxasw check` finds out
/// the lines.
struct CallSite {
  std::vector<std::uint64_t> returns;
  bool operator<(const CallSite &other) const { return returns < other.returns; }
};

/// The checks that are wanted (environment variable PTXASW_RUNTIME_CHECK, a list of tools), and
/// where their findings go (PTXASW_RUNTIME_FINDINGS).
class Checks {
public:
  Checks();
  ~Checks();
  bool any() const { return file_ >= 0; }
  bool memory = false, races = false, initialised = false, barriers = false, leaks = false;
  std::uint64_t stop_after = 0; ///< findings; 0: never

  /// The place of the call in progress, if any check is on.
  CallSite here() const;

  /// A finding of a kernel's run. `kind` is the word for it, `shared` are the kernel's variables.
  void report(const Module &module, const std::string &kind, const WarpFault &fault,
              const std::vector<VariableBytes> &shared);
  /// A finding of a call: `made` is where its memory came from.
  void report_call(const std::string &kind, const std::string &message, const CallSite &where,
                   const CallSite &made);
  /// A kernel ran as far as it could be checked; `whole`: nothing in it was not understood. Told
  /// once of each.
  void note_run(bool whole);
  /// Remembers memory that is no more.
  void note_end(std::uint64_t address, std::uint64_t size, const std::string &name,
                const CallSite &made);
  /// Something is there again.
  void note_beginning(std::uint64_t address) { ended_.erase(address); }
  struct Ended {
    std::uint64_t size = 0;
    std::string name;
    CallSite made, ended;
  };
  const std::pair<const std::uint64_t, Ended> *find_ended(std::uint64_t address) const;

private:
  void write(const std::string &line);
  std::string sites(const char *name, const CallSite &site) const;
  std::string memory_at(const WarpFault &fault, const std::vector<VariableBytes> &shared) const;

  int file_ = -1;
  std::uint64_t count_ = 0;
  bool noted_run_ = false, noted_left_ = false;
  std::map<std::uint64_t, Ended> ended_;
  std::set<std::string> told_;
};

} // namespace ptxasw::wrapper
