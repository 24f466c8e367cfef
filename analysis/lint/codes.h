#pragma once

// The names of warnings, and what a user can choose about them.
//   code_of("uncoalesced") // Code::uncoalesced

#include "grammar/namespaces.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ptxasw::analysis::lint {

/// The kinds of warnings. docs/lint-codes says what each means.
enum class Code : std::uint8_t {
  uncoalesced,
  bank_conflict,
  divergent_loop,
  local_memory,
  uniform_load,
  redundant_load,
  wide_index,
  division,
  misaligned_vector,
  vector_precondition,
  reuse_thrashing,
  contended_atomic,
  races,
};
inline constexpr std::size_t code_count = 13;

/// A code as users know it.
struct CodeInfo {
  Code code;
  std::string_view name; ///< `bank-conflict`, for -Wbank-conflict
  std::string_view meaning;
  bool on = true; ///< unless the user says otherwise; those that are off are called pedantic
  /// Looked for only if it is named: it takes seconds a kernel.
  bool by_name = false;
};
std::span<const CodeInfo, code_count> codes();
const CodeInfo &info(Code code);
/// The code of that name; nothing if there is none.
std::optional<Code> code_of(std::string_view name);

struct Options {
  /// Percent of the ideal cost from which an access causes a warning: 150 is half as much again.
  unsigned threshold = 150;
};

} // namespace ptxasw::analysis::lint
