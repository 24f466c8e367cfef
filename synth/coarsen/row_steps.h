#pragma once

// Addresses of neighbouring rows that are a step apart, if an index does not wrap around.

#include "synth/coarsen/copies.h"

#include <optional>
#include <vector>

namespace ptxasw::synth {

/// How far apart a load's addresses are in rows of copies: the row below has `coefficient` times
/// the extension of another number that is larger by `step`.
struct RowStep {
  std::uint64_t coefficient = 1;
  bool is_signed = false;    ///< the extension
  Expr step = nullptr;       ///< 32 bits
  std::vector<Expr> numbers; ///< what is extended in the first row, by column
  bool operator==(const RowStep &) const = default;
};

/// What row_steps.cpp takes an address for, by copy, and what makes that right.
struct SteppedAddress {
  RowStep by;
  std::vector<Expr> of;
};

/// Nothing if rows of copies do not differ in that way alone; `address` as CopyViews has it.
std::optional<SteppedAddress> stepped_address(CopyViews &views, const CoarsenForm &form,
                                              Expr address);

} // namespace ptxasw::synth
