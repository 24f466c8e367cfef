#pragma once

// What stands in place of the replaced loads.

#include "synth/proof/laws.h"
#include "synth/proof/obligation.h"
#include "synth/proof/original.h"
#include "synth/proof/prove.h"
#include "synth/proof/values.h"

#include <map>
#include <unordered_set>
#include <vector>

namespace ptxasw::synth {

/// The replaced loads of one function, as the walk over both texts comes to them: the values that
/// added code gives their destinations, and if they are the loads'.
class Replacements {
public:
  /// `replaced` are instruction indices, sorted; `read` says by original register if added code
  /// reads it. All must outlive it.
  Replacements(Original &original, AddedValues &values, Laws &laws,
               const std::vector<std::uint32_t> &replaced, std::vector<bool> read)
      : original_(original), values_(values), laws_(laws), replaced_(replaced),
        read_(std::move(read)) {}

  // The walk, block by block.
  void enter(BlockId block);
  /// An original instruction is reached, or the end of the block: all that comes before is
  /// complete.
  void advance(std::uint32_t to);
  /// The original instruction that was reached runs.
  void run(std::uint32_t instruction);
  /// A load's registers hold what it has read, until the next write.
  void hold(std::uint32_t load);
  BlockId block() const { return block_; }
  /// The first original instruction that has not run.
  std::uint32_t next() const { return next_; }

  // What added code does here.
  /// The replaced loads that may be under construction.
  std::vector<std::uint32_t> claims() const;
  /// An original register is read. Returns false if what it holds is nobody's.
  bool complete(RegisterId reg);
  /// The load whose value an original register holds, if one ran in this block; otherwise null.
  const LoadedElement *held(RegisterId reg) const;
  /// An original register is written, by every lane or where `guard` (if not null) holds. Returns
  /// false if it is no replaced load's.
  bool put(RegisterId reg, Expr value, Expr guard);

  /// The replaced loads for which something is missing.
  std::vector<Unproved> unproved() const;

private:
  bool is_replaced(std::uint32_t i) const {
    return std::binary_search(replaced_.begin(), replaced_.end(), i);
  }
  std::uint32_t claim_writing(RegisterId reg) const;
  void settle(std::uint32_t load);
  void check_load(std::uint32_t load);
  void check_kept(Expr value, const Known &rests) const;
  void check(Expr value, LoadedElement load, const Known &known, int &budget);
  void check_reuse(Expr value, LoadedElement load, const Known &known);

  Original &original_;
  AddedValues &values_;
  Laws &laws_;
  const std::vector<std::uint32_t> &replaced_;
  const std::vector<bool> read_;
  BlockId block_ = 0;
  std::uint32_t next_ = 0;
  std::map<RegisterId, LoadedElement> held_;
  std::map<RegisterId, Expr> pending_; ///< destinations of replaced loads, under construction
  std::unordered_set<std::uint32_t> settled_;
  std::vector<Unproved> unproved_; ///< of those that are settled
};

} // namespace ptxasw::synth
