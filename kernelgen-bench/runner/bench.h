#pragma once

#include "runner/workload.h"

#include <functional>
#include <optional>

namespace kernelgen {

/// What to measure and how.
struct Plan {
  std::vector<std::string> kernels;  ///< names; empty for all
  std::vector<std::string> variants; ///< names; empty for all
  std::string size = "paper";
  std::vector<std::array<unsigned, 2>> blocks; ///< empty for the manifest's
  int launches = 20;                           ///< timed launches per variant; 0: only checks
  bool check = true;
  bool profile = false; ///< one launch each and nothing else, for a profiler around the runner
};

/// The results for one variant of one kernel at one block shape.
struct VariantResult {
  std::string name;
  FunctionFacts function;
  std::vector<double> milliseconds; ///< one per timed launch, in order
  /// Words in which the images assembled without contraction differ from the original's: none, or
  /// the variant is wrong.
  std::optional<std::uint64_t> exact_words_differ;
  /// The same for the images that are timed, in which ptxas may have fused other operations.
  std::optional<std::uint64_t> words_differ;
  std::optional<double> reference_error; ///< of the timed image, see check.h
  std::string error;                     ///< why there is no measurement; empty if there is
};

/// One kernel at one block shape.
struct CaseResult {
  const Kernel *kernel = nullptr;
  Extents extents{};
  Launch launch;
  std::size_t compulsory_bytes = 0;
  int buffer_sets = 1;
  std::vector<VariantResult> variants;
};

/// Called between steps with a line for people; returns false to stop.
using Progress = std::function<bool(const std::string &)>;

/// Runs one kernel at one block shape in all variants of the plan: the original and the valid
/// variants against the host reference; the valid variants against the original, bit for bit, at
/// the small size and at the plan's; then the timed launches, variants interleaved.
CaseResult run_case(Driver &driver, Tools &tools, const Suite &suite, const Kernel &kernel,
                    const Plan &plan, std::array<unsigned, 2> block, const Progress &progress);

/// True if every check of the case passed and nothing failed.
bool passed(const Suite &suite, const CaseResult &result);

} // namespace kernelgen
