#pragma once

// Rows one behind the other (loop skewing; Wolfe 1986): the order of lines in versions `skewed`.
//
// In lockstep, copy r of a stencil has row m of its neighbourhood at the time at which copy r + 1
// has it, too, but these are different rows of the field; what one copy loads, another one wants
// only rows later, and all that lies between takes registers. Where each row of copies is as many
// instructions behind the one before it as lie between two such loads, all want a row of the field
// at the same time: it is loaded, added to what each has, and forgotten.
//
// That is done in stretches of the kernel: straight code without jumps, labels, calls or tests of
// addresses inside, in which no load stands behind a store. Each copy's own instructions keep their
// order. An instruction that is done for several rows of copies is done when all are there.
//
// The writer follows this order, and what is wide or merged is planned by it: a load that stands
// for others is the first of them. Of the order the proof believes nothing (prove_stretch.cpp).
// That addresses are a step apart it takes from row_steps.cpp, as it takes all it knows of
// addresses.

#include "synth/calls.h"
#include "synth/coarsen/row_steps.h"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ptxasw::synth {

/// An instruction of the kernel as one copy has it.
struct Instance {
  std::uint32_t instruction = 0; ///< index in Function::instructions
  unsigned copy = 0;
  auto operator<=>(const Instance &) const = default; // NOLINT(modernize-use-nullptr)
};

/// Before all copies of an instruction: lockstep is left unless what copy `high` addresses lies
/// `distance` bytes behind what copy `low` addresses; of copies in different rows, `distance` times
/// what a register holds that all copies share.
struct WideTest {
  std::uint32_t instruction = 0;
  unsigned low = 0, high = 0;
  std::uint64_t distance = 0;
  RegisterId step = no_register;
  bool operator==(const WideTest &) const = default;
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
  /// `parted`: instructions at which stretches are parted, too, since lockstep may be left there.
  /// Without `form.skewed` there are no stretches.
  Skew(const KernelContext &context, const CoarsenForm &form,
       const std::vector<std::uint32_t> &parted);

  /// In the order of the text.
  const std::vector<SkewedStretch> &stretches() const { return stretches_; }
  /// The one that an instruction is in; null: none, and all copies do it before the next one.
  const SkewedStretch *around(std::uint32_t instruction) const;
  /// All that is done in a stretch.
  std::vector<SkewedStep> steps(const SkewedStretch &stretch) const;
  /// What must hold for addresses to be a step apart from row to row, for each column; at the
  /// beginning of a stretch, or before it in the same straight code.
  const std::vector<WideTest> &tests() const { return tests_; }
  /// Of a load in a stretch whose addresses are then stepped_address(), the load before which that
  /// is tested; nothing for others.
  std::optional<std::uint32_t> tested_before(std::uint32_t load) const;
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
    std::vector<std::uint32_t> plain, stepped; ///< by copy: ExprNode::id; `stepped` may be empty
    RowStep by;
    RegisterId step = no_register; ///< holds bytes from row to row, for all copies
    std::uint64_t bytes = 0;       ///< or so many they are; 0: neither is known
  };
  using Loads = std::map<std::uint32_t, Load>; ///< by instruction
  static Loads find_loads(const KernelContext &context, const CoarsenForm &form,
                          const std::vector<bool> &first);
  const Loads &loads() const;
  bool may_be_inside(std::uint32_t i) const;
  std::vector<bool> borders(const std::vector<std::uint32_t> &parted) const;
  void look_at_run(std::uint32_t begin, std::uint32_t end);
  void find_steps(std::uint32_t begin, std::uint32_t end);
  bool find_delay(SkewedStretch stretch);
  const std::vector<std::uint32_t> &addresses_of(const Loads::value_type &load) const;
  bool is_for_rows(std::uint32_t i) const;

  const CoarsenForm form_;
  const Sharing sharing_;
  const std::vector<bool> first_;
  const Calls &calls_;
  std::map<RowStep, std::uint32_t> steps_; ///< of one run: those that are tested, before which load
  std::vector<SkewedStretch> stretches_;
  std::vector<WideTest> tests_;
  std::map<std::uint32_t, std::uint32_t> tested_before_; ///< by load
  std::vector<std::uint64_t> ranks_; ///< by instruction, then by copy; empty without stretches
};

} // namespace ptxasw::synth
