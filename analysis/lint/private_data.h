#pragma once

// What is each lane's own, and what a warp shares although nobody says so.

#include "emulator/facts/kernel_facts.h"

#include <set>

namespace ptxasw::analysis::lint {

/// Tells values that each lane of a warp has read for itself from those that all its lanes have
/// read at one address: `begin[threadIdx.x / 32]` is one number for the whole warp.
class PrivateData {
public:
  explicit PrivateData(const facts::KernelFacts &facts) : facts_(facts) {}

  /// Returns true if an expression (expanded) is seen to depend on what lanes of a warp have read
  /// at different addresses, or have been led to by such data.
  bool operator()(Expr expr);

private:
  bool depends(Expr expr, bool is_address);
  Expr in_some_launch(Expr expr);
  bool of_symbol(Expr symbol, bool is_address);
  bool chosen_by_data(const JoinRegister &join);
  bool differs_in_a_warp(const std::vector<std::uint64_t> &values) const;

  const facts::KernelFacts &facts_;
  std::vector<BlockId> meetings_; ///< of each block: where the ways from it meet; made when needed
  std::set<std::pair<Expr, bool>> seen_; ///< being looked at, or found not to depend on such data
};

} // namespace ptxasw::analysis::lint
