#pragma once

// The streams that a program has, and whether anything runs on them.

#include "wrapper/launch/driver_types.h"

#include <cstdint>

namespace ptxasw::wrapper::launch {

/// The calling thread's number. The system gives the names of threads that ended to others.
std::uint64_t this_thread();

/// A launch or a capture goes to a stream. One that the program did not make before our eyes is not
/// watched; from then on nothing_runs() is never true.
void note_stream(Handle stream, bool per_thread);

/// Returns true if all that the program has sent to the calling thread's context has ended.
/// Disturbs no capture; while one is under way, it is false.
bool nothing_runs();

/// The streams of a context have ended with it; null: some of a device, and negative: some. Which,
/// is not known then, and those that are left are not watched any more.
void forget_streams(Handle context, int device);

/// Waits until `done()`, no longer than `longest` ms. All such waits of a process together take at
/// most Configuration::wait and one per cent of the time since the first of them, one of them half
/// of what is left of that; two minutes where versions are tried as fast as possible. Returns what
/// `done()` said last, and false if nothing is left. A thread does not wait for another one's wait,
/// unless versions are tried as fast as possible.
bool wait_a_little(bool (*done)(const void *), const void *argument, double longest = 1e9);
/// Counts among these waits, ms, what a launch has lost in another way.
void add_to_waits(double milliseconds);
/// Half of what versions have saved, ms, may be lost by waits, at most 100 ms ahead of them.
void pay_for_waits(double saved);
/// Returns true if nothing is left for them; never where versions are tried as fast as possible.
bool are_waits_spent();

/// A launch, from before its stream is noted until the driver has it. Begins when no other thread
/// holds back launches.
class LaunchUnderWay {
public:
  LaunchUnderWay();
  ~LaunchUnderWay();
  LaunchUnderWay(const LaunchUnderWay &) = delete;
  LaunchUnderWay &operator=(const LaunchUnderWay &) = delete;

private:
  bool counted_ = false;
};
/// How many launches have begun in this process.
std::uint64_t launches_begun();
/// Returns false if something may run of which nothing_runs() cannot know.
bool knows_all_streams();
/// For who is in the middle of a launch: false if another thread is, too.
bool nobody_else_launches();

/// While one lives, other threads' launches wait. It is held, during a launch, for what takes a few
/// milliseconds, and waits for no other thread.
class LaunchesWait {
public:
  LaunchesWait();
  ~LaunchesWait();
  LaunchesWait(const LaunchesWait &) = delete;
  LaunchesWait &operator=(const LaunchesWait &) = delete;
};

/// For fork(): no thread may be in the middle of a change.
void lock_streams();
void unlock_streams();

} // namespace ptxasw::wrapper::launch
