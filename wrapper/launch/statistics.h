#pragma once

#include <vector>

namespace ptxasw::inline wrapper::launch {

/// What measuring says about two sets of times.
struct Comparison {
  double ratio = 1;    ///< the second's typical time by the first's
  double low = 0;      ///< the ratio lies between these
  double high = 1e300; ///< with a confidence of 95 %
};

/// The mean of what is left when a fifth is cut off at each end; 0 for no samples.
double trimmed_mean(std::vector<double> samples);

/// Compares two sets of positive times by trimmed means of their logarithms (Yuen's test: K. K.
/// Yuen, "The two-sample trimmed t for unequal population variances", Biometrika 61, 1974), which
/// a few launches that waited for something else do not disturb. Fewer than four samples on one
/// side bound nothing.
Comparison compare(const std::vector<double> &first, const std::vector<double> &second);

/// The 97.5 % point of Student's t distribution, for at least one degree of freedom.
double student_t(double degrees);

} // namespace ptxasw::wrapper::launch
