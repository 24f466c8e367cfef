#pragma once

// What the environment tells the helper, if the helper is at work, and what it counts.

#include "wrapper/launch/profile.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ptxasw::wrapper::launch {

/// Why a launch ran the original, or that it did not.
enum class Outcome : unsigned {
  sibling,         ///< a sibling was launched
  no_siblings,     ///< the kernel has none
  table,           ///< its table is of a version or shape that is not understood
  block_shape,     ///< no sibling is for this block
  block_size,      ///< the block has more threads than the sibling may have
  dynamic_shared,  ///< dynamic shared memory
  grid,            ///< the grid is too small, or empty
  few_blocks,      ///< it would leave multiprocessors without a block: not worth a trial
  alignment,       ///< an address is not aligned
  divisibility,    ///< a number is not divisible
  attributes,      ///< cooperative, a cluster, or an attribute that is not known to be harmless
  arguments,       ///< the arguments are not where the table says, or too many
  not_in_profile,  ///< a profile is used and does not know this launch
  original_chosen, ///< the original won
  measuring,       ///< a trial of the original, or one that must wait
  captured,        ///< captured into a graph before anything was decided
  refused,         ///< the driver refused the sibling
  other_context,   ///< its versions are for another context, or another GPU
  too_many_shapes, ///< too many shapes to keep apart
  off,             ///< redirecting was switched off
  count
};
std::string_view name_of(Outcome outcome);

/// Why redirecting was switched off for the rest of the process.
enum class Off : unsigned {
  none,
  asked,         ///< PTXASW_LAUNCH_MODE=off
  deep_bind,     ///< a library was opened with RTLD_DEEPBIND: it does not call us
  unseen_unload, ///< handles may end without our knowing
  forked,        ///< the child of a process that had used the GPU
  mismatch,      ///< checking found a difference
};
std::string_view name_of(Off reason);

/// How a version is chosen.
enum class Mode : unsigned {
  measure, ///< by measuring while the program runs
  tune,    ///< the same, as fast as possible
  profile, ///< by the profile alone
  first,   ///< the first sibling that may be launched; for tests and measurements
};

struct Configuration {
  Mode mode = Mode::measure;
  std::string profile_path;
  Profile profile;
  std::string log;     ///< a file that gets a line for each thing of note
  std::string results; ///< a directory that gets what was measured, one file per process
  std::string only;    ///< siblings whose names contain this, or behind a `=` these; empty: all
  /// `tune` measures the kernels of one part of so many, the others stay as they are.
  std::uint32_t part = 1, parts = 1;
  bool check = false;  ///< say why siblings were not used
  bool verify = false; ///< run both versions and compare
  bool jit = false;    ///< rewrite PTX on its way to the driver
  /// The directory in which `ptxasw faster` is asked for versions; empty: it is not there.
  std::string faster;
  double wait = 12; ///< for its answers, and then for the GPU, of all launches together, ms
};

/// As the environment said when the library was loaded.
const Configuration &configuration();

/// Returns true if `ptxasw faster` is there.
bool asks_for_versions();

/// Returns true if launches may be redirected. One load of an atomic.
bool at_work();
Off why_off();
/// Ends redirecting. The first reason stays.
void switch_off(Off reason);

/// Counts an outcome.
void count(Outcome outcome);
std::uint64_t counted(Outcome outcome);

/// Writes a line to the log, if there is one: `event` and members, which are JSON.
void log_line(std::string_view event, std::string_view members);
/// A text as JSON.
std::string json_text(std::string_view text);
/// A message on standard error, after "ptxasw: launch: ".
void tell(std::string_view message);

} // namespace ptxasw::wrapper::launch
