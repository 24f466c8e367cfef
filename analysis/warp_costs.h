#pragma once

// What one execution of a basic block costs a warp, and where its lanes go from there.

#include "emulator/facts/kernel_facts.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::analysis {

/// What is counted (docs/cost.md).
enum class CountedEvent : std::uint8_t { instructions, sectors, conflicts, divwarps };
inline constexpr std::size_t counted_events = 4;

/// Where something stands in the way of a bound, and what.
struct Obstacle {
  std::uint32_t line = 0; ///< of the PTX; 0: of no line
  std::string reason;
};

/// A whole number of events that is never less than what happens.
struct EventCount {
  std::uint64_t most = 0;
  bool exact = true;                ///< it is exactly what happens
  std::optional<Obstacle> obstacle; ///< there is no bound
};

/// What an execution of a block costs.
struct BlockCost {
  EventCount events[counted_events];
  /// The same for a single lane; of conflicts, what a lane adds at most.
  std::uint64_t alone[counted_events] = {};
};

/// How the lanes of a warp that execute a block together leave it.
enum class LaneDecision : std::uint8_t {
  one_way,  ///< all to the same successor, and it is known to which
  together, ///< all to the same one
  parts,    ///< some to one, some to another
  may_part,
};

struct BranchDecision {
  LaneDecision kind = LaneDecision::together;
  std::size_t successor = 0; ///< one_way: index in BasicBlock::successors
};

/// What is taken as known about loops: their counters and registers are numbers.
class LoopState {
public:
  using Values = std::vector<std::pair<Expr, Expr>>; ///< symbols and constants
  explicit LoopState(ExprPool &pool) : substitution_(pool) {}
  LoopState(ExprPool &pool, Values values, unsigned number)
      : id(number), values_(std::move(values)), substitution_(pool) {
    for (const auto &[symbol, value] : values_)
      substitution_.map(symbol, value);
  }
  const unsigned id = 0; ///< the same for the same values (WarpCosts::number_of); 0: none
  const Values &values() const { return values_; }
  Expr operator()(Expr expr) { return id == 0 ? expr : substitution_(expr); }

private:
  const Values values_;
  Substitution substitution_;
};

/// The costs of one kernel's blocks.
///
/// Warps are numbered as in the layout of the facts; where the shape of the block is not known
/// there is only one, number 0, that costs what the costliest of them does.
class WarpCosts {
public:
  explicit WarpCosts(const facts::KernelFacts &facts);

  std::size_t warps() const;
  /// Warps of a block that are like that one.
  std::uint64_t copies(std::size_t warp) const;
  const BlockCost &cost(BlockId block, std::size_t warp, LoopState &state);
  BranchDecision decide(BlockId block, std::size_t warp, LoopState &state);
  /// A number for what is known about loops, equal for equal knowledge; never 0.
  unsigned number_of(const LoopState::Values &values);
  /// Lanes of the warp.
  std::uint32_t lanes(std::size_t warp) const;
  /// Conditions, each to be read as a number, under which no address wraps around where that is
  /// taken for granted: expressions that are extended, with the block they stand in.
  struct Extended {
    Expr extension = nullptr;
    BlockId block = 0;
    std::uint32_t access = 0; ///< index in KernelFacts::accesses()
  };
  const std::vector<Extended> &extensions() const { return extensions_; }
  /// The condition of an extension in an access cannot be told: it may wrap around.
  void distrust(std::uint32_t access) { ++distrusted_[access]; }

private:
  struct Activity {
    std::vector<bool> threads; ///< of the layout
    bool exact = true;         ///< all of them get here whenever one of the warp does
  };
  const Activity &activity(BlockId block, LoopState &state);
  Activity restricted(const Activity &from, Expr condition, bool holds, BlockId block);
  std::vector<BlockId> behind_all_ways() const;
  bool reached_by_facts_alone(BlockId block, std::span<const BlockId> after) const;
  BlockCost compute(BlockId block, std::size_t warp, LoopState &state);
  void add_access(const facts::Access &access, std::size_t warp, LoopState &state, BlockCost &cost);
  std::uint64_t cap_by_range(const facts::Access &access, const facts::AddressForm &form,
                             bool shared) const;
  bool spans_less(const facts::AddressForm &form, std::uint64_t bytes) const;
  std::vector<bool> only(const std::vector<bool> &threads, std::size_t warp) const;
  void note_extensions(const facts::Access &access);

  const facts::KernelFacts &facts_;
  Emulation &emulation_;
  std::vector<std::vector<const facts::Access *>> by_block_;
  std::vector<std::optional<Obstacle>> memory_obstacle_, call_obstacle_;            ///< by block
  std::vector<bool> facts_alone_;                                                   ///< by block
  std::map<std::vector<std::pair<std::uint32_t, std::uint32_t>>, unsigned> states_; ///< by ids
  std::map<std::pair<BlockId, unsigned>, Activity> activities_;
  std::map<std::tuple<BlockId, std::size_t, unsigned>, BlockCost> costs_;
  std::vector<Extended> extensions_;
  std::vector<unsigned> distrusted_; ///< by access: extensions that may wrap around
};

} // namespace ptxasw::analysis
