#pragma once

// Rows one behind the other (loop skewing; Wolfe 1986): the order of lines in versions `skewed`.
//
// In lockstep, copy r of a stencil has row m of its neighbourhood at the time at which copy r + 1
// has it, too, but these are different rows of the field; what one copy loads, another one wants
// only rows later, and all that lies between takes registers. Where each row of copies is as many
// instructions behind the one before it as lie between two such loads, all want a row of the field
// at the same time: it is loaded, added to what each has, and forgotten.
//
// That is done in stretches of the kernel: straight code without jumps, labels or calls inside, in
// which no load stands behind a store. There are no tests of addresses in such a version: what is
// not known to lie side by side in all launches that the table allows stays single. Each copy's own
// instructions keep their order. An instruction that is done for several rows of copies is done
// when all are there. A row stores when two more have gone on: the assembler, which does not know
// that nobody reads what is stored, leaves loads behind a store there, and rows would wait for
// memory one after the other.
//
// The writer follows this order, and what is wide or merged is planned by it: a load that stands
// for others is the first of them. Of the order the proof believes nothing (prove_stretch.cpp).
// That addresses are a step apart it takes from row_steps.cpp, as it takes all it knows of
// addresses.

#include "analysis/call_groups.h"
#include "synth/coarsen/copies.h"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace ptxasw::synth {

/// Before all copies of an instruction: lockstep is left unless what copy `high` addresses lies
/// `distance` bytes behind what copy `low` addresses.
struct WideTest {
  std::uint32_t instruction = 0;
  unsigned low = 0, high = 0;
  std::uint64_t distance = 0;
  auto operator<=>(const WideTest &) const = default; // NOLINT(modernize-use-nullptr)
};

/// Instructions whose lines are in another order.
struct SkewedStretch {
  std::uint32_t first = 0, end = 0;
  std::int64_t delay = 0; ///< by how many instructions a row of copies is behind the one before it
};

/// What is done at once: an instruction for copies `first` to `end` - 1, a row's or all.
struct SkewedStep {
  std::uint32_t instruction = 0;
  unsigned first = 0, end = 0;
};

class Skew : OfKernel {
public:
  /// Without `form.skewed` there are no stretches.
  Skew(const KernelContext &context, const CoarsenForm &form);

  /// In the order of the text.
  const std::vector<SkewedStretch> &stretches() const { return stretches_; }
  /// The one that an instruction is in; null: none, and all copies do it before the next one.
  const SkewedStretch *around(std::uint32_t instruction) const;
  /// All that is done in a stretch.
  std::vector<SkewedStep> steps(const SkewedStretch &stretch) const;
  /// Returns true if rows of copies share what a load of a stretch loads where its addresses are
  /// stepped_address(), and not otherwise.
  bool is_stepped(std::uint32_t load) const { return stepped_.contains(load); }
  /// When an instance's line comes: of two in one stretch, or outside of them, the one with the
  /// lower number.
  std::uint64_t rank(const Instance &one) const;
  /// When it is meant to come: instructions of the first row of copies.
  std::int64_t time(const Instance &one) const;
  /// Returns true if what one instance has is forgotten when another one of the same stretch comes:
  /// a row of the field, and more, lies between.
  bool is_far(const Instance &from, const Instance &to) const;

private:
  /// What is known of a load's addresses.
  struct Load {
    std::vector<Expr> plain; ///< by copy
    std::optional<SteppedAddress> stepped;
  };
  using Loads = std::map<std::uint32_t, Load>; ///< by instruction
  bool may_be_inside(std::uint32_t i) const;
  void look_at_run(std::uint32_t begin, std::uint32_t end, const Loads &all);
  bool is_for_rows(std::uint32_t i) const;

  const CoarsenForm form_;
  const Sharing &sharing_;
  const std::vector<bool> &first_;
  const Calls &calls_;
  std::vector<SkewedStretch> stretches_;
  std::set<std::uint32_t> stepped_;  ///< loads
  std::vector<std::uint64_t> ranks_; ///< by instruction, then by copy; empty without stretches
};

/// Found once.
const Skew &skew_of(const KernelContext &context, const CoarsenForm &form);

} // namespace ptxasw::synth
