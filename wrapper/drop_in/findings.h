#pragma once

// The numbers of a run as ptxas, in one form for the line under -v, the log and `ptxasw status`:
// `findings.add("modules", 1)`.

#include "synth/report.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::wrapper {

/// What runs found and did, in numbers: the last field of a line in the log, which `ptxasw status
/// --totals` adds up. By name: `modules`, `kernels`, `loads`, `replaced`, `possible` (loads that
/// could have been replaced if the decision for the target were not against it), `microseconds` (of
/// ptxasw itself), and `kept:REASON`.
struct Findings {
  std::map<std::string, std::uint64_t, std::less<>> numbers;

  std::uint64_t operator[](std::string_view name) const;
  void add(std::string_view name, std::uint64_t number);
  /// One module: what was done with it.
  void add(const ModuleReport &module);
  /// A field of the log; what is not NAME=NUMBER is skipped.
  void add_field(std::string_view text);
  /// That field.
  std::string field() const;
  /// What was found, and why it was not applied, in one line: "6 of 9 loads could be replaced; not
  /// applied: sm_90: ...". `decision`: the reason of the decision not to rewrite, empty if it was
  /// to rewrite.
  std::string sentence(std::string_view decision) const;
};

} // namespace ptxasw::wrapper
