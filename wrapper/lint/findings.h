#pragma once

// Warnings as people look at them: one for a place in the source, however many kernels, instances
// of a template and unrolled copies have it, the costliest first.

#include "wrapper/lint/collect.h"
#include "wrapper/lint/measured.h"
#include "wrapper/lint/sources.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// One module that was looked at.
struct LintedModule {
  std::string file; ///< the PTX, as the user knows it
  const Module *module = nullptr;
  const Places *places = nullptr;
  const std::vector<KernelLint> *kernels = nullptr;
  bool is_temporary = false; ///< the file is gone when somebody looks for it
};

struct Finding {
  Told told; ///< of the kernel where it costs most; message and note as the source names things
  const Module *module = nullptr;   ///< that kernel's
  Place place;                      ///< without a file where that would be a temporary one
  bool has_source = false;          ///< `place` is in a source, not in the PTX
  bool is_near = false;             ///< that of the source has no line, and is behind this one
  std::vector<std::string> kernels; ///< as people call them, that one first
  std::string ptx_kernel;           ///< the name of that one in the PTX
  std::string array;                ///< as the source calls it; empty: not known
  double microseconds = 0;          ///< of the kernels, measured; 0: not known
  /// Of the file: equal warnings, where there is no source; uses of the same local memory.
  std::vector<std::uint32_t> other_lines;
  std::string more; ///< what else was found there that has the same remedy
};

/// Sorted by the time of their kernels, if it was measured, by Told::weight, then by place.
std::vector<Finding> findings_of(std::span<const LintedModule> modules, Sources &sources,
                                 const MeasuredTimes &times = {});

/// How findings are printed.
struct FindingStyle {
  bool colour = false;
  bool summary = true;                  ///< end with a line that counts them
  const MeasuredTimes *times = nullptr; ///< those that findings were sorted by; null: none
};

/// As rustc prints its diagnostics, below a first line that editors understand.
std::string findings_text(const std::vector<Finding> &findings,
                          std::span<const LintedModule> modules, Sources &sources,
                          const FindingStyle &style);

/// A line that says how findings get lines of the source; empty if they have them.
std::string lines_note(const std::vector<Finding> &findings);

} // namespace ptxasw::wrapper
