#pragma once

// Timing launches where they run, by events on their own stream.

#include "wrapper/launch/choices.h"

namespace ptxasw::inline wrapper::launch {

/// Two events of the calling thread's context; false if none are available.
bool take_events(Pending &pending);
/// Returns them for the next launch.
void give_events(const Pending &pending);
/// The contexts are going away: no event is valid anymore.
void forget_events();

/// With the choice's lock held: reports the launches that have ended to its chooser, and settles
/// the choice if that decides it.
void collect(KernelCode &code, Choice &choice);

/// With the choice's lock held: waits for the oldest launch that is timed where too many are under
/// way, or have been launched since. False if there is no room for another one because that took
/// too long: the GPU may be waiting for the program.
bool make_room(KernelCode &code, Choice &choice);

} // namespace ptxasw::wrapper::launch
