#pragma once

// The streams that a program has, and whether anything runs on them.

#include "wrapper/launch/driver_types.h"

namespace ptxasw::inline wrapper::launch {

/// A launch goes to a stream. One that the program did not make before our eyes is not watched;
/// from then on nothing_runs() is never true.
void note_stream(Handle stream, bool per_thread);

/// Returns true if all that the program has sent to the calling thread's context has ended.
/// Disturbs no capture; while one is under way, it is false.
bool nothing_runs();

/// The streams of a context have ended with it, or those of a device; null and negative: all.
void forget_streams(Handle context, int device);

/// Waits until `done()`. All such waits of a process together take at most 20 ms and one per cent
/// of the time since the first of them; two minutes where versions are tried as fast as possible.
/// Returns what `done()` said last.
bool wait_a_little(bool (*done)(const void *), const void *argument);

/// While one lives, other threads' launches wait. It is held for what takes a few milliseconds and
/// waits for no other thread.
class LaunchesWait {
public:
  LaunchesWait();
  ~LaunchesWait();
  LaunchesWait(const LaunchesWait &) = delete;
  LaunchesWait &operator=(const LaunchesWait &) = delete;
};
/// Called at each launch: returns when no other thread holds one.
void wait_for_loading();

} // namespace ptxasw::wrapper::launch
