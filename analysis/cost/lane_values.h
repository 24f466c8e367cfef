#pragma once

// The numeric values of expressions, in the 32 lanes of one warp at one moment of a launch.

#include "emulator/semantics/launch.h"
#include "emulator/symbolic/emulate.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptxasw::analysis::cost {

/// What is known of a parameter of a kernel, or of a member of one that is a struct.
struct Argument {
  std::uint64_t bits = 0;
  unsigned bytes = 8; ///< that are known; 8 also for a narrower parameter
  /// Instead of `bits`: as many as the launch has threads along this axis, blocks times their
  /// extent. That is what loops over a grid step by.
  std::optional<unsigned> threads_along;
};

/// By the parameter's name and the offset in it, in bytes.
using Arguments = std::map<std::pair<std::string, std::int64_t>, Argument>;

/// One number per lane.
using Lanes = std::array<std::uint64_t, warp_lanes>;

/// Where a warp is: in which block of which grid, and in which iteration of each loop.
struct Moment {
  Extents grid, block;          ///< of the launch
  Extents at{0, 0, 0};          ///< the block's index in the grid
  std::uint64_t first = 0;      ///< number of lane 0 in the block
  std::vector<Lanes> iteration; ///< by loop: iterations that each lane has completed
};

/// Expressions, put into the order in which they can be computed, and their values. What is not
/// known (loaded values, joins whose ways are not understood) is a number drawn by lane, moment and
/// symbol, always the same for the same ones; whatever depends on it says so.
class LaneValues {
public:
  LaneValues(Emulation &emulation, const Arguments &arguments);

  /// Enters an expression (loops expanded); returns the slot of its values.
  std::uint32_t add(Expr expr);
  /// Everything these values are made of, in the order in which it can be computed.
  std::vector<std::uint32_t> needed_for(const std::vector<std::uint32_t> &slots) const;
  /// Computes what needed_for() gave. Lanes beyond the block's threads have values, too.
  void compute(const Moment &moment, const std::vector<std::uint32_t> &slots);
  const std::uint64_t *operator[](std::uint32_t slot) const {
    return &values_[std::size_t{slot} * warp_lanes];
  }
  unsigned width(std::uint32_t slot) const { return nodes_[slot].expr->width; }
  /// Returns true if it depends on anything that is not known.
  bool guessed(std::uint32_t slot) const { return nodes_[slot].guessed; }
  /// Returns true if it depends on how often a loop has iterated.
  bool depends_on_loop(std::uint32_t slot, LoopId loop) const {
    return (nodes_[slot].loops >> std::min(loop, 63u) & 1) != 0;
  }
  /// Parameters, or parts of them, without a value that something depends on: they count as not
  /// known.
  const std::vector<ParameterField> &missing() const { return missing_; }
  /// The parameters, or parts of them, that an entered expression depends on.
  std::vector<ParameterField> parameters_of(std::uint32_t slot) const;
  /// Comparisons with zero that an entered expression depends on: (the comparison, what is
  /// compared).
  std::vector<std::pair<std::uint32_t, std::uint32_t>> comparisons_in(std::uint32_t slot) const;

private:
  enum class Source : std::uint8_t {
    expression,
    number,
    tid,
    block_index,
    loop,
    lane,
    join, ///< what its operand is
    unknown
  };
  struct Node {
    Expr expr = nullptr;
    std::vector<std::uint32_t> operands;
    Source source = Source::expression;
    unsigned which = 0; ///< axis or loop
    std::uint64_t number = 0;
    bool extent_of_grid = false, extent_of_block = false;
    bool guessed = false;
    std::uint64_t loops = 0; ///< a bit per loop
  };

  void classify(Node &node);
  void resolve_join(Node &node);
  bool is_known_how_often(LoopId loop);
  std::optional<Argument> argument_of(const ParameterField &field) const;
  void compute_node(const Node &node, std::uint64_t *out, const Moment &moment) const;

  Emulation &emulation_;
  const Arguments &arguments_;
  std::unordered_map<Expr, std::uint32_t> slots_;
  std::unordered_map<Expr, std::pair<Source, unsigned>> special_;
  std::unordered_map<Expr, std::pair<bool, unsigned>> extents_; ///< (of the grid, axis)
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> values_;
  std::vector<ParameterField> missing_;
  unsigned joins_within_ = 0; ///< a join's value that is made of others' is being entered
};

} // namespace ptxasw::analysis::cost
