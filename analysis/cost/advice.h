#pragma once

// Which block shapes a kernel could be launched with, the fastest first.
//   advise(module, kernel, *find_gpu("H100"), question).shapes[0] // the fastest

#include "analysis/cost/model.h"

#include "analysis/independence.h"

namespace ptxasw::analysis::cost {

/// What is asked about a kernel.
struct Question {
  Extents threads;                    ///< of the whole grid, along each axis
  std::optional<BlockShape> current;  ///< the shape that it is launched with now
  std::vector<BlockShape> shapes;     ///< only these; empty: those worth a look
  BlockNeeds needs;                   ///< as ptxas reports them; `threads` is ignored
  std::uint64_t spill_stores = 0;     ///< bytes per thread, as ptxas -v reports them
  std::uint64_t spill_loads = 0;      ///< the same
  std::optional<BlockShape> required; ///< by `.reqntid`
  /// The parameters that are known. The others are taken to be pointers to buffers far apart if
  /// they have 64 bits.
  Arguments arguments;
  /// Warps are run if they can be (warp_runs.h), which takes longer: for a few shapes.
  bool may_run = false;
};

/// One shape.
struct ShapeAdvice {
  BlockShape block;
  Extents grid;         ///< as many blocks as cover the threads
  bool rounded = false; ///< that is more threads: the extra ones must find nothing to do
  Prediction prediction;
  /// By the published model, microseconds; nothing where it says nothing (mwp_cwp.h).
  std::optional<double> mwp_cwp;
};

struct Advice {
  std::optional<std::string> refusal;  ///< why there is none; nothing: there is
  std::vector<ShapeAdvice> shapes;     ///< the shortest predicted time first
  std::vector<std::string> conditions; ///< what makes another shape legal
  std::vector<std::string> doubts;     ///< what makes the times vague
  std::vector<ParameterField> missing; ///< what should be given, the doubts have it, too
  /// Along these axes the shape must stay as it is, for the reason.
  std::string fixed[3];
  /// The first shape is faster than the current one by more than the usual error of such ratios.
  std::optional<bool> is_better;
};

/// Another shape along an axis is legal only if the axis is unused or independent
/// (analysis/independence.h); otherwise the current extent stands, and without one there is no
/// advice.
Advice advise(const Module &module, const Function &function, const Gpu &gpu,
              const Question &question);

} // namespace ptxasw::analysis::cost
