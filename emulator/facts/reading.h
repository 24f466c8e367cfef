#pragma once

// Registers as numbers: what a bit pattern of the emulation is as a polynomial over parameters,
// extents, indices and loop counters, and when.

#include "emulator/emulate.h"
#include "emulator/facts/amount.h"
#include "emulator/path.h"

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

private:
  PathKnowledge path_;
  std::vector<PathFact> facts_;
};

/// Reads expressions of one emulation. Variables are named as in PTX: `%tid.x` is `tid.x`; a
/// parameter has its name without the kernel's in front (`param_3`), a field of it is `param_3+8`.
/// A parameter of 32 bits or more counts as a signed number.
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
  /// Returns true if a symbol is a variable here: a parameter, an index, an extent, a loop's
  /// counter.
  bool knows(Expr symbol_expr) { return symbol(symbol_expr).has_value(); }
  /// Why the last expression could not be read.
  const std::string &reason() const { return reason_; }

  /// What a branch established, as an amount that is at least 0; nothing if it cannot be read.
  std::optional<Reading> read(const PathFact &fact, const BlockKnowledge &known);

  /// What branches established about the parameters and extents that have been read.
  AmountRanges ranges_in(const BlockKnowledge &known) const;

  /// The variable that counts a loop's iterations.
  Amount trip(LoopId loop);
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
  std::optional<Amount> symbol(Expr expr);
  void require(Amount at_least_zero, Reading &into);
  void within(const Amount &value, unsigned width, bool is_signed, Reading &into);
  void fail(std::string why);

  Emulation &emulation_;
  const Function &function_;
  const LaunchFacts launch_;
  AmountPool &amounts_;
  std::map<AtomId, Expr> launch_symbols_; ///< of parameters and extents that were read
  AmountRanges narrowed_;                 ///< of the block that is being read for
  std::string reason_;
  unsigned visited_ = 0;
};

} // namespace ptxasw::facts
