#pragma once

// Registers as numbers: what a bit pattern of the emulation is as a polynomial over parameters,
// extents, indices and loop counters, and when.
//   if (const auto number = reader.read(expr, true, known); number) number->value // n * 4 + tid.x

#include "emulator/facts/amount.h"
#include "emulator/symbolic/emulate.h"
#include "emulator/symbolic/path.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptxasw::facts {

/// A value as a whole number.
struct Reading {
  Amount value;
  bool exact = true; ///< false: `value` is only a bound, of the side that was asked for
  std::vector<Amount> conditions; ///< all must be at least 0: then nothing wrapped around
};

/// Which side a value may be estimated on where it is not known.
enum class Estimate : std::uint8_t { none, below, above };

/// What branches on the path to a block say about values as they stand and as they are expanded.
class BlockKnowledge {
public:
  BlockKnowledge(Emulation &emulation, BlockId block);
  /// Something more that is known there.
  void add(PathFact fact, Emulation &emulation);
  const PathKnowledge &path() const { return path_; }
  PathKnowledge &path() { return path_; }
  const std::vector<PathFact> &facts() const { return facts_; }
  /// The block whose loops are being executed; what is read there of other loops is what they left.
  BlockId block() const { return block_; }
  void move_to(BlockId block) { block_ = block; }

private:
  BlockId block_;
  PathKnowledge path_;
  std::vector<PathFact> facts_;
};

/// What a parameter, or a field of one, is called: without the kernel's name in front.
std::string parameter_name(const ParameterField &field, const Function &function);

/// What a branch says where control goes from one block directly to another; nothing if it is no
/// branch, or both ways lead there.
std::optional<PathFact> fact_on_edge(const Emulation &emulation, BlockId from, BlockId to);

/// Reads expressions of one emulation. Variables are named as in PTX: `%tid.x` is `tid.x`; a
/// parameter has its name without the kernel's in front (`param_3`), a field of it is `param_3+8`.
/// So has a word of a constant variable (`table+8`), which no kernel can change. What has 32 bits
/// or more counts as a signed number.
class IntegerReader {
public:
  IntegerReader(Emulation &emulation, const Function &function, const LaunchFacts &launch,
                AmountPool &amounts);

  /// The number that an expanded expression is, as a signed or unsigned one of its width.
  std::optional<Reading> read(Expr expr, bool is_signed, const BlockKnowledge &known,
                              Estimate side = Estimate::none);
  /// A number that is congruent to the expression modulo 2^width: sums and products need no
  /// condition.
  std::optional<Reading> congruent(Expr expr, const BlockKnowledge &known);
  /// Returns true if a node is a variable here: a parameter, a word of constant memory, an index,
  /// an extent, a loop's counter.
  bool knows(Expr node) { return variable(node).has_value(); }
  /// Why the last expression could not be read.
  const std::string &reason() const { return reason_; }

  /// What a branch established, as an amount that is at least 0; nothing if it cannot be read.
  std::optional<Reading> read(const PathFact &fact, const BlockKnowledge &known);

  /// What branches established about the parameters and extents that have been read.
  AmountRanges ranges_in(const BlockKnowledge &known) const;

  /// The variable that counts a loop's iterations.
  Amount trip(LoopId loop);
  /// From now on what a loop has counted is known behind it: `round`, under the conditions, is the
  /// one in which every thread that has entered it leaves it.
  void set_left(LoopId loop, Amount round, std::vector<Amount> conditions) {
    left_[loop] = {std::move(round), true, std::move(conditions)};
  }
  /// The launch's own: `ntid.x` and its like, numbers where the shape is known.
  Amount extent(const std::string &name);
  AmountPool &amounts() { return amounts_; }

private:
  std::optional<Amount> ring(Expr expr, unsigned width, Reading &into, const BlockKnowledge &known);
  std::optional<Amount> number(Expr expr, bool is_signed, Reading &into,
                               const BlockKnowledge &known);
  std::optional<Amount> number_of_node(Expr expr, bool is_signed, Reading &into,
                                       const BlockKnowledge &known);
  std::optional<Amount> low_bits(Expr expr, Reading &into, const BlockKnowledge &known);
  Amount remainder(const Amount &value, const Rational &size);
  Amount divided(const Amount &value, const Rational &size);
  std::optional<Amount> quotient(Expr expr, Reading &into, const BlockKnowledge &known);
  std::optional<Reading> estimate(Expr expr, bool is_signed, const BlockKnowledge &known,
                                  Estimate side) const;
  std::optional<Amount> variable(Expr expr);
  std::optional<Amount> constant_word(Expr expr);
  std::optional<Amount> known_variable(Expr expr, Reading &into, const BlockKnowledge &known);
  std::optional<Amount> joined(const JoinRegister &join, unsigned width, Reading &into);
  std::optional<Amount> left_behind(Expr expr, Reading &into, const BlockKnowledge &known);
  bool vanishes_on_edge(const Amount &difference, BlockId from, BlockId to, Reading &into);
  void require(Amount at_least_zero, Reading &into);
  void within(const Amount &value, unsigned width, bool is_signed, Reading &into);
  void fail(std::string why);

  Emulation &emulation_;
  const Function &function_;
  const LaunchFacts launch_;
  AmountPool &amounts_;
  std::map<LoopId, Reading> left_;        ///< iterations in which loops are left
  std::map<AtomId, Expr> launch_symbols_; ///< of parameters and extents that were read
  AmountRanges narrowed_;                 ///< of the block that is being read for
  std::string reason_;
  unsigned visited_ = 0;
};

} // namespace ptxasw::facts
