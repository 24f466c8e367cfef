#pragma once

#include "grammar/module.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw {

/// Whether what a kernel writes depends on how an axis of the grid is cut into blocks, its number
/// of threads being the same (Singhania 2019, part 2).
enum class AxisVerdict : std::uint8_t {
  unused,      ///< nothing reads the axis
  independent, ///< only the global index and the number of threads matter
  dependent,   ///< something else of the axis goes into what is written, or into whether it is
  unknown,     ///< it cannot be told; see the reason
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
  /// No block needs another one at work at the same time: they may run one after the other, in any
  /// order, or many of them by one. Relies on the kernel having no race.
  bool blocks_independent = false;
  /// No thread needs another one, or its own place in its block except through its indices: threads
  /// may be renumbered. Relies on the kernel having no race.
  bool threads_independent = false;
};

/// The analysis of one kernel with a body. `.maxntid`, `.reqntid` and the like are no matter of it:
/// they bound the shapes that are legal at all.
KernelIndependence independence(const Module &module, const Function &kernel);

/// Only that of it: whether blocks may run one after the other, in any order, or many of them by
/// one, if the kernel has no race.
bool blocks_independent(const Module &module, const Function &kernel);

} // namespace ptxasw
