#pragma once

// Addresses of neighbouring rows that are a step apart, if an index does not wrap around.

#include "synth/coarsen/copies.h"

#include <compare>
#include <optional>
#include <vector>

namespace ptxasw::synth {

/// How far apart a load's addresses are in rows of copies: the row below has `coefficient` times
/// the extension of another number that is larger by `step`.
struct RowStep {
  std::uint64_t coefficient = 1;
  bool is_signed = false;                            ///< the extension
  std::uint32_t step = 0;                            ///< ExprNode::id, 32 bits
  std::vector<std::uint32_t> numbers;                ///< in the first row, by column: ExprNode::id
  auto operator<=>(const RowStep &) const = default; // NOLINT(modernize-use-nullptr)
};

/// What row_steps.cpp takes an address for, by copy, and what makes that right.
struct SteppedAddress {
  RowStep by;
  std::vector<Expr> numbers; ///< what is extended in the first row, by column
  Expr step = nullptr;       ///< from a row to the next one, 32 bits
  Expr bytes = nullptr;      ///< from a row to the next one, 64 bits
  std::vector<Expr> of;      ///< by copy
};

/// Nothing if rows of copies do not differ in that way alone; `address` as CopyViews has it.
std::optional<SteppedAddress> stepped_address(CopyViews &views, const CoarsenForm &form,
                                              Expr address);

} // namespace ptxasw::synth
