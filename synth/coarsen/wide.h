#pragma once

// Accesses of neighbouring elements that a coarsened kernel does as one: the plan, and who finds
// it. Writer and proof both follow the plan; wide.cpp says when elements are neighbours for
// certain.

#include "emulator/facts/low_bits.h"
#include "synth/coarsen/skew.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ptxasw::synth {

/// One load in place of several, into registers of its own, just before an instance of one of them.
struct WideLoad {
  Instance at;
  unsigned addressed_by = 0;     ///< the copy whose address of the same instruction is used
  std::int64_t displacement = 0; ///< bytes from that
  unsigned elements = 1;         ///< of the type that `at` loads: 1, 2 or 4
  /// Loads that are a mov from one of these registers, and the element that it has.
  std::vector<std::pair<Instance, unsigned>> parts;
  auto operator<=>(const WideLoad &) const = default; // NOLINT(modernize-use-nullptr)
};

/// Stores of this copy and of those after it, by one.
struct WideStore {
  Instance first;
  unsigned addressed_by = 0;     ///< the copy whose address of the same instruction is used
  std::int64_t displacement = 0; ///< bytes from that
  unsigned elements = 2;         ///< 1, too, where it is addressed by another copy
  auto operator<=>(const WideStore &) const = default; // NOLINT(modernize-use-nullptr)
};

/// What is wide where the copies of a form go in lockstep. All in the order of the code.
struct WidePlan {
  std::vector<WideLoad> loads;
  std::vector<WideStore> stores;
  std::vector<WideTest> tests;
  bool operator==(const WidePlan &) const = default;

  /// Returns true if an access is done for several.
  bool is_wide() const;
  /// What a load is a mov from: index of the wide one, and element; nothing if it is none.
  std::optional<std::pair<std::size_t, unsigned>> part(const Instance &load) const;
  const WideStore *store(const Instance &first) const;
};

/// Finds plans for a kernel and a form, under different needs.
class WidePlanner : OfKernel {
public:
  WidePlanner(const KernelContext &context, const CoarsenForm &form);
  /// The plan that is right for every launch that meets what `needs` says about arguments.
  WidePlan plan(const SiblingNeeds &needs);
  /// What indices would have to be less than for a plan that has fewer tests; of the last plan.
  const std::vector<IndexBound> &bounds() const { return bounds_; }
  /// The arguments of 4 and 8 bytes that addresses depend on, each as a multiple of 1.
  const std::vector<ArgumentDivisor> &arguments() const { return arguments_; }

private:
  /// A number in an address that is extended and has a constant; null: none has.
  struct ExtendedNumber {
    Expr number = nullptr;    ///< without the constant
    std::uint64_t factor = 1; ///< by which it is multiplied
    bool is_signed = false;   ///< the extension
    bool operator==(const ExtendedNumber &) const = default;
  };
  /// An address of 64 bits taken apart.
  struct Parts {
    Expr base = nullptr;
    std::int64_t offset = 0; ///< from the base, if what is extended does not wrap around
    ExtendedNumber extended;
    std::int64_t inner = 0; ///< the constant in what is extended
  };
  std::optional<Parts> take_apart(Expr address);
  /// Where an instance's address lies: Parts::offset and Parts::inner.
  struct Place {
    Instance at;
    std::int64_t offset = 0, inner = 0;
  };
  /// Instances whose addresses differ by constants; loads in a basic block without stores in
  /// between, or one store's.
  struct Group {
    bool is_load = true;
    unsigned bytes = 0;      ///< of an element
    Expr base = nullptr;     ///< the address without constants
    ExtendedNumber extended; ///< in which constants are
    std::vector<Place> places;
  };
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::string_view, ScalarType>;

  void find_groups();
  void add(const MemoryAccess &access, std::uint32_t segment);
  bool is_candidate(const MemoryAccess &access) const;
  void plan(Group group, facts::LowBitsOf &known);
  bool admit(Group &group, facts::LowBitsOf &known, std::optional<WideTest> &test);
  bool is_bounded(Expr number, std::int64_t least, std::int64_t most, bool is_signed);
  std::vector<std::vector<Place>> near_ones(const Group &group) const;
  bool plan_loads(const Group &group, const std::vector<Place> &places, facts::LowBitsOf &known);
  const Place &base_of(const std::vector<Place> &places, const Place &place) const;
  bool is_bounded_in_all_rows(const RowStep &rows);
  bool is_in_range(std::uint32_t access, std::int64_t displacement) const;
  bool plan_stores(const Group &group, facts::LowBitsOf &known);

  const CoarsenForm form_;
  const Sharing &sharing_;
  CopyViews views_;
  const Skew &skew_;
  std::map<Key, std::size_t> keys_;
  std::vector<Group> groups_;
  std::vector<ArgumentDivisor> arguments_;
  std::vector<IndexBound> bounds_;
  std::vector<IndexBound> bounded_; ///< what the launch keeps
  WidePlan plan_;
};

/// How large an index of 32 bits may become in a launch: where that is below 2^31, it does not wrap
/// around, and neither do those beside it (needs.cpp). What `number + least` to `number + most`,
/// of 32 bits and as a copy has it in lockstep, are at most. If that is below 2^31 in a launch,
/// they are sums in whole numbers, and not negative unless they have a sign. Nothing if that is not
/// found.
std::optional<IndexBound> bound_of(CopyViews &views, const KernelContext &context,
                                   const CoarsenForm &form, Expr number, std::int64_t least,
                                   std::int64_t most, bool is_signed);

/// Adds one from which what it says follows: a new one, or one that is as large as this and as that
/// which is there, if they are sums of the same products.
void add_bound(std::vector<IndexBound> &all, const IndexBound &bound);

/// The best plan for a form and what it needs of the arguments (needs.cpp), found once.
struct BestPlan {
  SiblingNeeds needs;
  WidePlan plan;
};
const BestPlan &best_plan(const KernelContext &context, const CoarsenForm &form);

/// The text of a load's or store's opcode for several elements: `ld.global.v4.f32`; for one, its
/// own.
std::string wide_opcode(const Opcode &opcode, unsigned elements);

/// The kernel's register that a load of a plan writes or a store of it reads.
RegisterId wide_value(const Module &module, const Function &kernel, std::uint32_t instruction);

/// The register and the bytes behind it that a load or store of a plan addresses.
struct BaseAndBytes {
  RegisterId base = no_register;
  std::int64_t bytes = 0;
};
BaseAndBytes wide_address(const Module &module, const Function &kernel, std::uint32_t instruction);

} // namespace ptxasw::synth
