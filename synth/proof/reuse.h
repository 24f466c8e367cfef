#pragma once

// The plan of a kernel's reuses, as data: which loads take whose values, under which tests. It is
// what detection finds, what the user's choice and the proof take away from, and all that emission
// is told (synth/shuffle/plan.h).

#include "emulator/symbolic/emulate.h"
#include "synth/report.h"

#include <compare>
#include <cstdint>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

namespace ptxasw::synth {

/// A wrap test that the covering lane makes at run time: `where.reg` holds the value at
/// `where.instruction`, and adding `offset` to it must not leave the range of its 32 bits.
struct WrapTest {
  RegisterRead where;
  bool is_signed = false;
  std::int64_t offset = 0;

  /// By where the register is read, then by what is tested.
  friend auto operator<=>(const WrapTest &a, const WrapTest &b) { return a.key() <=> b.key(); }
  friend bool operator==(const WrapTest &a, const WrapTest &b) { return a.key() == b.key(); }

private:
  std::tuple<std::uint32_t, RegisterId, bool, std::int64_t> key() const {
    return {where.instruction, where.reg, is_signed, offset};
  }
};

/// An address test that the covering lane makes at run time: the base register of the load must be
/// `distance` bytes above the base register that `source` (an instruction) read in the same lane.
struct DistanceTest {
  std::uint32_t source = 0;
  std::int64_t distance = 0;
  bool operator==(const DistanceTest &) const = default;
};

/// A register value that a load brings.
struct LoadedElement {
  std::uint32_t load = 0;                                  ///< instruction index
  unsigned element = 0;                                    ///< 0 for a scalar
  auto operator<=>(const LoadedElement &) const = default; // NOLINT(modernize-use-nullptr)
};

/// Where one element of a load comes from.
struct ElementSource {
  LoadedElement source; ///< what brings it
  int delta = 0;        ///< lanes from the load's lane up to the source's; 0: the lane itself
};

/// A load whose value, all elements of it, other lanes or the lane itself already hold.
struct Reuse {
  std::uint32_t load = 0;              ///< instruction index
  std::vector<ElementSource> elements; ///< one for each register that the load writes
  // What the covering lane tests; where a test fails it runs the load itself.
  std::vector<WrapTest> wrap_tests;
  std::vector<DistanceTest> distance_tests;
  std::vector<std::uint32_t> store_tests; ///< stores (instructions) that must have hit elsewhere

  /// Returns true if no other lane is asked.
  bool is_copy() const;
  /// The largest distance to a source, with its sign.
  int delta() const;
  /// The loads that bring some value, instruction indices.
  std::set<std::uint32_t> sources() const;
};

/// A source that is moved up in its block, to just before the instruction `before`.
struct Hoist {
  std::uint32_t source = 0; ///< instruction index
  std::uint32_t before = 0;
};

/// A load that stays, and why.
struct KeptLoad {
  std::uint32_t load = 0;
  Reason reason = Reason::no_source;
  std::string detail = {};          ///< of an unproved one: what the proof misses
  std::string_view obligation = {}; ///< and the name of the obligation that it belongs to
};

/// What detection found in one kernel.
struct Detection {
  unsigned loads = 0; ///< weak loads of global memory, of the widths asked for
  std::vector<Reuse> reuses;
  std::vector<Hoist> hoists;
  std::vector<KeptLoad> kept;
  bool assumed_no_wrap = false;  ///< a test was dropped because the user vouched for it
  bool assumed_no_alias = false; ///< a store in between was ignored because the user vouched for it
};

/// The result for one function of a module: what was found and proved.
struct FunctionDetection {
  std::size_t function = 0;
  Detection detection;
};

} // namespace ptxasw::synth
