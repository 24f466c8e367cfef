#pragma once

// Timing launches where they run, by events on their own stream.

#include "wrapper/launch/choices.h"

namespace ptxasw::launch {

/// Two events of the calling thread's context; false if there are none to be had.
bool take_events(Pending &pending);
/// For the next launch.
void give_events(const Pending &pending);
/// The contexts are going: no event is any more.
void forget_events();

/// With the choice's lock held: tells its chooser of the launches that have ended, and settles the
/// choice if that decides it.
void collect(KernelCode &code, Choice &choice);

/// With the choice's lock held: makes room for one more launch to be timed where too many are under
/// way, by waiting for the oldest. False if that took too long: the program may be what the GPU
/// waits for.
bool make_room(KernelCode &code, Choice &choice);

} // namespace ptxasw::launch
