#pragma once

// Addresses as each copy has them (copies.cpp), which of neighbouring rows are a step apart if an
// index does not wrap around (row_steps.cpp), and which loads are not needed since copies have the
// same ones (merge.cpp).

#include "synth/coarsen/coarsen.h"

#include "emulator/symbolic/address.h"
#include "emulator/symbolic/emulate.h"

#include <compare>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ptxasw::synth {

/// The kernel's addresses as each copy has them: what tells the copies apart is put into the
/// expressions of the symbolic emulation.
class CopyViews {
public:
  CopyViews(const KernelContext &context, const CoarsenForm &form);

  Emulation &emulation() { return emulation_; }
  /// What copy `copy` has instead of an expression of the kernel's.
  Expr of(Expr expr, unsigned copy) { return views_[copy](expr); }
  /// The address of an access with loops expanded; null if a symbol in it may mean something else
  /// for another copy, or if the access is not always done.
  Expr common_address(const MemoryAccess &access);
  /// The argument of a launch that a symbol is, in the whole; nothing for others.
  std::optional<ArgumentDivisor> argument(Expr symbol) const;
  /// A part of a thread's place: `tid`, `ntid`, `ctaid` or `nctaid` along an axis.
  Expr special(std::string_view what, char axis);
  /// Which group of copies it is, along the form's axis and of points along x; null: there is none.
  Expr first() const { return first_; }
  Expr thread() const { return thread_; }

private:
  const Function &kernel_;
  Emulation emulation_;
  std::vector<Substitution> views_; ///< by copy
  std::unordered_set<Expr> common_;
  Expr first_ = nullptr, thread_ = nullptr;
};

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

/// An instruction of the kernel as one copy has it.
struct Instance {
  std::uint32_t instruction = 0; ///< index in Function::instructions
  unsigned copy = 0;
  auto operator<=>(const Instance &) const = default; // NOLINT(modernize-use-nullptr)
};

/// A load whose value another copy, or the same one, has in a register already.
struct MergedLoad {
  Instance load;
  Instance from; ///< the load before it, in lockstep
};

/// The loads that are not needed when the copies of a form go in lockstep, none unless it merges;
/// by load, then by copy. Found once.
const std::vector<MergedLoad> &merged_loads(const KernelContext &context, const CoarsenForm &form);

} // namespace ptxasw::synth
