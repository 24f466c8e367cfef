#pragma once

// How long kernels took on a GPU, as Nsight Compute exports it (`ncu --csv`), or as the launch
// helper has it in its log.

#include "grammar/namespaces.h"

#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace ptxasw::wrapper {

/// Microseconds by kernel: of all launches, or of one of each shape.
class MeasuredTimes {
public:
  /// Reads the CSV of either page, `details` (its Duration) or `raw` (gpu__time_duration.sum), with
  /// whatever ncu prints before it; or the log's lines of JSON. Errors: there is no such table, or
  /// a duration is no number; the log has no times.
  static tl::expected<MeasuredTimes, std::string> parse(std::string_view text);

  /// Those of a kernel by its PTX name; 0: it was not measured.
  double of(std::string_view ptx_name) const;
  double all() const;
  /// Returns true if it is not known how often kernels were launched: times are of one launch of
  /// each shape.
  bool of_one_launch() const { return of_one_launch_; }

private:
  static tl::expected<MeasuredTimes, std::string> parse_log(std::string_view text);

  bool of_one_launch_ = false;
  std::map<std::string, double> by_name_; ///< without result, parameters and blanks
};

} // namespace ptxasw::wrapper
