#pragma once

// Checks a version of a kernel on the GPU, in the program and at the launch where it would run:
// what `ptxasw launch --verify` asks for.

#include "wrapper/launch/fit.h"

namespace ptxasw::wrapper::launch {

/// Launches the original and the sibling on the same memory, one after the other, and compares what
/// they leave in every allocation that an argument points into. Where they differ the process is
/// ended with a message; if the original differs from itself, or there is no memory for copies, or
/// the stream is being captured, the sibling is launched unchecked and the log says so. Waits for
/// the stream. Returns what `start`, which launches, says.
Result verify(const Launch &original, const Launch &sibling, const Arguments &arguments,
              const SiblingTable &table, const Sibling &what, Result (*start)(const Launch &));

} // namespace ptxasw::wrapper::launch
