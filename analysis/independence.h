#pragma once

// Does a kernel compute the same when its grid is cut into other blocks? Who changes the shape of
// blocks or gives one block the work of several asks this first; independence.cpp has the proof by
// induction.
//   const bool may_cut = independence({module, kernel}).axes[0].verdict ==
//   AxisVerdict::independent;

#include "emulator/facts/kernel_context.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw::analysis {

/// How what a kernel writes depends on the way an axis of the grid is cut into blocks, its number
/// of threads staying the same (Singhania 2019, part 2).
enum class AxisVerdict : std::uint8_t {
  unused,      ///< nothing reads the axis
  independent, ///< only the global index and the number of threads matter
  dependent,   ///< something else about the axis decides what is written, or if it is
  unknown,     ///< it cannot be determined; see the reason
};

std::string_view to_string(AxisVerdict verdict);

struct AxisIndependence {
  AxisVerdict verdict = AxisVerdict::unknown;
  std::uint32_t line = 0; ///< of the first instruction that is in the way; 0: none is
  std::string reason;     ///< empty if none is
};

struct KernelIndependence {
  std::string name;
  AxisIndependence axes[3];            ///< x, y, z
  std::vector<std::string> conditions; ///< what `independent` relies on
  /// No block needs another one to run at the same time: they may run one after the other, in any
  /// order, or many of them by one. Relies on the kernel having no race.
  bool blocks_independent = false;
  /// No thread needs another one, or its own place in its block except through its indices: threads
  /// may be renumbered. Relies on the kernel having no race.
  bool threads_independent = false;
};

/// The analysis of one kernel with a body. It ignores `.maxntid`, `.reqntid` and the like: they
/// bound the shapes that are legal at all.
KernelIndependence independence(const facts::KernelContext &context);

/// Only this part: returns true if blocks may run one after the other, in any order, or many of
/// them by one, if the kernel has no race and no loop of it waits (emulator/facts/waiting.h).
/// `ordered`: what it computes may be another thing in another order of blocks, as where a relaxed
/// atomic tells who was there first; each order that blocks may come in is as good then.
bool blocks_independent(const facts::KernelContext &context, bool ordered = false);

} // namespace ptxasw::analysis
