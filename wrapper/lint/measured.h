#pragma once

// How long kernels took on a GPU, as Nsight Compute exports it (`ncu --csv`).

#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace ptxasw::inline wrapper {

/// Microseconds of all launches, by kernel.
class MeasuredTimes {
public:
  /// Reads the CSV of either page, `details` (its Duration) or `raw` (gpu__time_duration.sum), with
  /// whatever ncu prints before it. Errors: there is no such table, or a duration is no number.
  static tl::expected<MeasuredTimes, std::string> parse(std::string_view text);

  /// Those of a kernel by its PTX name; 0: it was not measured.
  double of(std::string_view ptx_name) const;
  double all() const;

private:
  std::map<std::string, double> by_name_; ///< without result, parameters and blanks
};

} // namespace ptxasw::wrapper
