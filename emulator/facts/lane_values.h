#pragma once

// The value of an expression in every lane, where it depends on tid and laneid only.

#include "emulator/facts/layout.h"
#include "emulator/symbolic/emulate.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace ptxasw::facts {

/// Evaluates expressions over all threads of a layout at once: exactly, with every wrap-around.
class LaneValues {
public:
  LaneValues(Emulation &emulation, const Layout &layout);

  /// One value per thread of the layout, or null if the expression depends on anything but the lane
  /// (in rows of whole warps tid.y and tid.z are not part of that) or is wider than 64 bits.
  const std::vector<std::uint64_t> *operator()(Expr expr);
  /// The symbols that differ from lane to lane: tid.x and laneid; tid.y and tid.z where a warp may
  /// lie in several rows. Values of nothing else are known here, but of the number of the warp in
  /// its row (Emulation::warp_in_row).
  bool is_lane_symbol(Expr expr) const;
  /// tid.x, tid.y or tid.z; for the latter two null where warps lie in one row.
  Expr tid(int axis) const { return tid_[axis]; }
  /// ntid.x: a number if the block's shape is known.
  Expr row_extent() const { return row_extent_; }
  const Layout &layout() const { return layout_; }

private:
  std::optional<std::vector<std::uint64_t>> node(Expr expr) const;

  const Layout &layout_;
  Expr tid_[3] = {}, laneid_ = nullptr, row_extent_ = nullptr, warp_ = nullptr;
  std::unordered_map<Expr, std::optional<std::vector<std::uint64_t>>> memo_;
};

} // namespace ptxasw::facts
