#pragma once

// Timing launches where they run, by events on their own stream.

#include "wrapper/launch/choices.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace ptxasw::wrapper::launch {

/// Two events of the calling thread's context; false if none are available.
bool take_events(Pending &pending);
/// Returns them for the next launch.
void give_events(const Pending &pending);
/// A context is going away, and its events with it; null: those of a device, negative: all. When
/// this returns, no thread is asking about one of them, and none will.
void forget_events(Handle context, int device);
/// Records the end of what is timed. False if that cannot be, or if the events have ended.
bool record_end(const Pending &pending, Handle stream, bool per_thread);

/// A launch of any kernel, or of anything that is not seen: it may come between those of a run.
void note_launch();
/// With the choice's lock held: begins a run with a launch that begins it.
void begin_run(Choice &choice, const Pending &pending, std::size_t launches,
               const LaunchStream &stream);
/// With the choice's lock held: true if the launch that was noted last goes on with the choice's
/// run. If something came between, that run has ended without a time.
bool goes_on(Choice &choice, const LaunchStream &stream);
/// With the choice's lock held: a run has ended.
void end_run(Choice &choice);
/// The same of one of which nothing is known.
void break_run(Choice &choice);

/// With the choice's lock held: reports the launches that have ended to its chooser, and settles
/// the choice if that decides it.
void collect(KernelCode &code, Choice &choice);

/// How long a launch waits for others, ms, of which so many are under way that take `each` ms:
/// twice as long as they take, within bounds. Where it is first known how long launches take, many
/// long ones may be.
inline double longest_wait(double each, std::size_t under_way) {
  return std::clamp(2 * each * static_cast<double>(under_way), 20.0, 200.0);
}

/// With the choice's lock held: the same of launches after the choice.
void collect_checks(KernelCode &code, Choice &choice);

/// With the choice's lock held: waits for the oldest launch that is timed where too many are under
/// way, or have been launched since. False if there is no room for another one because that took
/// too long: the GPU may be waiting for the program.
bool make_room(KernelCode &code, Choice &choice);

/// What launches of a kernel take of which there is no choice: one is timed now and then.
struct TimeTaken {
  std::mutex mutex; ///< of what follows
  std::vector<Pending> pending;
  double milliseconds = 0; ///< of all that were timed
  std::uint64_t launches = 0;
  std::atomic<bool> is_timing{false}; ///< some are pending

  /// Notes a launch whose end has been recorded.
  void add(const Pending &pending);
  /// Takes those that have ended; true if there were any.
  bool collect();
  /// Of one launch, microseconds; 0: not known.
  double each_us();
};

} // namespace ptxasw::wrapper::launch
