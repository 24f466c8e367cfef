#pragma once

// What was chosen for which launches. Keyed by what the code is, not by where the driver keeps it,
// so that a module is recognized when it is loaded again.

#include "grammar/sibling_table.h"
#include "wrapper/launch/chooser.h"
#include "wrapper/launch/driver_types.h"
#include "wrapper/launch/fit.h"
#include "wrapper/launch/profile.h"
#include "wrapper/launch/state.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::wrapper::launch {

/// What distinguishes launches of one kernel.
struct Shape {
  Extents block;
  std::uint32_t threads = 0; ///< logarithm, as in ShapeClass
  std::uint32_t fitting = 0; ///< a bit for each sibling of the table that may be launched
  /// And for each of these that would leave multiprocessors without a block. It could take several
  /// times as long: while measuring it runs only if a profile says so.
  std::uint32_t starving = 0;
  int device = 0;
  std::uint64_t matter = 0;  ///< numbers on which times depend, as in KernelCode
  std::uint64_t numbers = 0; ///< bits_of() these
  bool operator==(const Shape &) const = default;
};

struct Kernel;

/// What decides which siblings fit, and which choice is a launch's.
struct LaunchKey {
  const Kernel *kernel = nullptr;
  Extents grid, block;
  unsigned shared_bytes = 0;
  int device = 0;
  std::uint64_t met = 0; ///< of what siblings ask of arguments (KernelCode::asked), one bit each
  std::uint64_t matter = 0, numbers = 0; ///< as in Shape
  bool operator==(const LaunchKey &) const = default;
};

/// The logarithm to base 2, rounded down, of the threads of a grid that is not empty.
std::uint32_t size_class(const Extents &grid, const Extents &block);

struct ContextEvents;

/// A launch whose time is not known yet.
struct Pending {
  std::size_t version = 0; ///< of the chooser
  Handle start = nullptr, end = nullptr;
  std::shared_ptr<ContextEvents> of; ///< the context of both
  std::uint64_t turn = 0;            ///< of the choice
  std::uint64_t numbers = 0;         ///< bits_of() KernelCode::numbers
  std::size_t launches = 1;          ///< that are timed together
};

/// A stream as a launch names it: a default stream is another one in each context, and may be
/// another one in each thread.
struct LaunchStream {
  Handle stream = nullptr;
  bool per_thread = false;
  Handle context = nullptr; ///< the thread's
  std::uint64_t thread = 0;
  bool operator==(const LaunchStream &) const = default;
};

/// Launches of one version, one behind the other and nothing between, that are timed together.
struct LaunchRun {
  Pending pending;      ///< its start has been recorded
  std::size_t left = 0; ///< launches to come; 0: there is no run
  LaunchStream stream;
  std::uint64_t noted = 0; ///< launches of the process, up to its last one
};

/// What launches after a choice have shown, in pairs of neighbours.
struct Recheck {
  Pending half;       ///< of a pair of which the other launch is not known
  double half_ms = 0; ///< its time
  SlowerInSum version;
  bool is_known = false;      ///< there were pairs, in this process or in an earlier one
  std::uint32_t reverted = 0; ///< as ProfileEntry::reverted_runs, with this process

  /// Goes on with what earlier processes have seen.
  void resume(const ProfileEntry &entry);
  /// The same for later ones, as members of a JSON object, each with a comma behind it.
  std::string text() const;
};

/// What is chosen, or being chosen, for launches of one shape.
struct Choice {
  Shape shape;
  ShapeClass key;
  std::string gpu;
  std::vector<unsigned> siblings; ///< of the table, those that fit; the chooser's versions 1, ...
  /// 0: the original; n: sibling n - 1 of the table; negative: not yet decided.
  std::atomic<int> decided{-1};
  /// The same of launches that are captured, where that is a version in blocks of another shape:
  /// set before it.
  int in_graphs = 0;
  std::atomic<std::uint64_t> launches{0}, redirected{0};
  bool from_profile = false; ///< the profile knew it, and these times:
  double original_us = 0, chosen_us = 0;
  double saves = 0; ///< a launch of what is chosen, ms; set before `decided`
  /// Of a version that was chosen one launch in so many is timed, and the next one of the original,
  /// or the other way round; of the original, if that was chosen, one in about as many. Set before
  /// `decided`. 0: none.
  std::atomic<std::uint64_t> between_checks{0};
  bool elsewhere = false; ///< of another part (`tune --shard`): the original, and not reported
  bool starves = false;   ///< all siblings that fit would starve: the same

  /// While it is not decided: so many launches are of a version of the chooser, and nothing else is
  /// asked. Asking takes longer than a short kernel.
  std::atomic<std::int64_t> idle{0};
  std::atomic<std::size_t> idle_version{0};

  std::mutex mutex; ///< for what follows
  Chooser chooser{1, {}};
  std::vector<Pending> pending; ///< the oldest first
  LaunchRun run;
  std::uint64_t turns = 0;     ///< launches while it was open
  TimesByNumbers times[2];     ///< of the original, and of what was chosen
  std::vector<Pending> checks; ///< after the choice; the versions are 0 and 1
  Recheck recheck;
  double waited = 0; ///< for launches to end, ms; in a row of launches, a part of that
  std::chrono::steady_clock::time_point returned; ///< from the last launch while it was open

  Choice *next = nullptr;
};

/// A launch that was looked at, so that one that is alike needs no second look.
struct SeenLaunch {
  LaunchKey launch;
  Choice *choice = nullptr; ///< null: none, and why:
  Outcome why = Outcome::sibling;
  const SeenLaunch *next = nullptr;
};

/// A kernel with siblings, by its code.
struct KernelCode {
  SiblingTable table;
  Profile known; ///< besides that of the configuration
  std::atomic<Choice *> choices{nullptr};
  std::atomic<std::uint32_t> told{0}; ///< outcomes that were explained, one bit each
  std::size_t shapes = 0;
  AskedArguments asked; ///< by all siblings together
  /// Parameters that may be numbers on which times depend, and 0xff in the byte of each on which
  /// they were seen to: launches of one grid may do more work or less.
  std::vector<std::uint32_t> numbers;
  std::atomic<std::uint64_t> matter{0};
  /// By kernel, grid, block and shared memory.
  std::array<std::atomic<const SeenLaunch *>, 256> seen{};
  std::atomic<std::size_t> seen_launches{0};
};

/// At most this many siblings of a table are considered.
inline constexpr std::size_t most_siblings = 31;

/// The one object for a table; `known` is what was chosen for its launches before. Takes the lock.
KernelCode &code_of(SiblingTable table, const Profile &known = {});

/// The choice for a shape; null if there is none yet.
Choice *find_choice(const KernelCode &code, const Shape &shape);
/// The same, made if need be: by the profile, by the mode, or open. `priors`: of the siblings of
/// the table. Null if the kernel has too many shapes to keep apart.
Choice *make_choice(KernelCode &code, const Shape &shape, const std::vector<Prior> &priors);
/// What was found out about a launch like this one; null if nothing was, or if it is not kept.
const SeenLaunch *find_seen(const KernelCode &code, const LaunchKey &launch);
/// Keeps that. Of a kernel with many different launches the first ones are kept.
void keep_seen(KernelCode &code, const LaunchKey &launch, Choice *choice, Outcome why);
/// Returns true if all launches of this kernel with this grid, block and shared memory were seen to
/// stay the original's, whatever their arguments, and wherever they run.
bool all_stay(const KernelCode &code, const LaunchKey &launch);

/// The name of a version of the chooser of this choice, which is of a kernel with this table.
std::string_view name_of_version(const Choice &choice, const SiblingTable &table,
                                 std::size_t version);

/// With the choice's lock held: the time of a launch of the original (0) or of what was chosen (1).
/// If it says that times depend on numbers among the arguments, launches are kept apart by these
/// from now on.
void learn_numbers(KernelCode &code, Choice &choice, const Pending &launch, double milliseconds);

/// Returns true if launches are kept apart by other numbers by now than when the choice was made:
/// no launch gets it any more.
inline bool is_left(const KernelCode &code, const Choice &choice) {
  return choice.shape.matter != code.matter.load(std::memory_order_relaxed);
}
/// Returns true if the choice is to be decided yet.
inline bool is_open(const KernelCode &code, const Choice &choice) {
  return choice.decided.load(std::memory_order_relaxed) < 0 && !is_left(code, choice);
}

/// With the choice's lock held, after the chooser has decided: from now on that version is
/// launched.
void settle(KernelCode &code, Choice &choice);

/// With the choice's lock held: the time of a launch after the choice, of the original (0) or of
/// what was chosen (1); the two of a pair have one turn. If the original is faster by now, it is
/// launched from now on. If it already is, that says how often its launches are timed.
void check_again(KernelCode &code, Choice &choice, const Pending &launch, double milliseconds);

/// For fork(): no thread may be in the middle of a change.
void lock_choices();
void unlock_choices();

/// Writes what was measured into the directory that the tuner gave; nothing without one. After a
/// choice, so that the tuner can follow, unless that would take more than a two-hundredth of the
/// time; and at the end of the process, where it waits for nothing for long, as other threads may
/// hold a lock and never come back. No choice's lock may be held.
void write_results(bool at_end);

} // namespace ptxasw::wrapper::launch
