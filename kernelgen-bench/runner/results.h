#pragma once

#include "runner/bench.h"

namespace kernelgen {

/// What is written besides the cases.
struct RunFacts {
  std::string date; ///< ISO 8601, UTC
  double copy_gigabytes_per_second = 0;
  bool complete = false;
};

/// Writes results as JSON, through a temporary file so that an interrupted write harms nothing.
/// Throws std::runtime_error if the file cannot be written.
void write_results(const std::filesystem::path &path, const Suite &suite, const Plan &plan,
                   const DeviceFacts &device, const RunFacts &facts,
                   const std::vector<CaseResult> &cases);

/// The value below which the fraction `q` of the samples lies, interpolated; 0 without samples.
double quantile(std::vector<double> samples, double q);

} // namespace kernelgen
