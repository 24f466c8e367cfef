#pragma once

// What `ptxasw explain` and the pages of `ptxasw report` say of each load: its address, and who has
// its value, or why it is loaded.
//   for (const KernelExplanation &kernel : explain(module, options)) kernel.loads[0].reason

#include "grammar/module.h"
#include "synth/rewrite.h"

#include <optional>
#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// What is known about one load.
struct LoadExplanation {
  std::uint32_t line = 0; ///< 1-based line in the PTX
  std::string text;       ///< the instruction
  std::string address;    ///< in parameters, block, lane and trip counts; empty: not understood
  /// Bytes from one lane to the next in a row of the warp, 0 for the same address in all lanes;
  /// nothing if lanes may lie otherwise, or it is not understood.
  std::optional<std::int64_t> lane_stride;
  std::optional<int> delta;          ///< lanes up to the source, if the load would be replaced
  std::uint32_t source_line = 0;     ///< of the source, then
  std::vector<std::string> tests;    ///< what the covering lane tests at run time, then
  Reason reason = Reason::no_source; ///< why it stays, otherwise
  std::string detail = {};           ///< what the proof misses, if it is unproved
  std::string_view obligation = {};  ///< and the name of the obligation that it belongs to
};

/// What is known about the global loads of one kernel, in text order of the trace.
struct KernelExplanation {
  std::string name;
  std::vector<LoadExplanation> loads;
};

/// Explains every kernel with a body, as if shuffles were always asked for, so that the answer is
/// about the code and not about the target. What the proof withdraws is reported as kept.
std::vector<KernelExplanation> explain(const Module &module, RewriteOptions options);

} // namespace ptxasw::wrapper
