#pragma once

// The table that a module with siblings carries: what versions of a kernel there are, how a launch
// of one differs from a launch of the kernel, and what must hold for it. Pure data: whoever emits
// siblings writes it, whoever launches them (the launch helper, and the warp machine for verify)
// reads it, and neither needs to know the other. The text is described by
// docs/siblings.schema.json.
//   if (const auto table = decode(bytes); table) table->siblings[0].grid // divided by

#include "grammar/module.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::ptx {

/// The table of kernel K is the `.global` array K followed by this.
inline constexpr std::string_view sibling_table_suffix = "__ptxasw_siblings";
/// Begins every table, followed by a NUL; then the version and the length of the text (both 32
/// bits, little-endian), then the text.
inline constexpr std::string_view sibling_table_magic{"PTXASWS\0", 8};
inline constexpr std::uint32_t sibling_table_version = 2;
inline constexpr std::size_t sibling_table_head = 16; ///< bytes before the text

/// Where a kernel's parameter lies in what a launch hands over; bytes (PTX ISA 7.1).
struct SiblingParameter {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  bool operator==(const SiblingParameter &) const = default;
};

/// An address among the arguments must be a multiple of `alignment`: the 8 bytes at `offset` of
/// parameter `parameter`.
struct ArgumentAlignment {
  std::uint32_t parameter = 0;
  std::uint32_t offset = 0;
  std::uint32_t alignment = 1; ///< a power of two
  bool operator==(const ArgumentAlignment &) const = default;
};

/// An unsigned number among the arguments must be a multiple of `divisor`: the `bytes` (1, 2, 4 or
/// 8) at `offset` of parameter `parameter`.
struct ArgumentDivisor {
  std::uint32_t parameter = 0;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 4;
  std::uint32_t divisor = 1;
  bool operator==(const ArgumentDivisor &) const = default;
};

/// The threads of a launch along an axis must cover a number among the arguments: the unsigned one
/// in the `bytes` (4 or 8) at `offset` of parameter `parameter` must be at least `least`, and at
/// most `more` larger than there are threads.
struct ArgumentCover {
  std::uint32_t parameter = 0;
  std::uint32_t offset = 0;
  std::uint32_t axis = 0; ///< 0 is x
  std::uint32_t least = 0;
  std::uint32_t more = 0;
  std::uint32_t bytes = 4;
  bool operator==(const ArgumentCover &) const = default;
};

/// A number that a launch has: the 32 bits at `offset` of parameter `which`, or the largest global
/// index of its threads along axis `which`.
struct LaunchNumber {
  bool is_index = false;
  std::uint32_t which = 0, offset = 0;
  auto operator<=>(const LaunchNumber &) const = default; // NOLINT(modernize-use-nullptr)
};

/// What an index may be at most: a sum of products, which must be less than 2^31.
struct IndexTerm {
  std::uint32_t coefficient = 1;
  std::vector<LaunchNumber> factors;                   ///< none: the coefficient alone
  auto operator<=>(const IndexTerm &) const = default; // NOLINT(modernize-use-nullptr)
};
struct IndexBound {
  std::vector<IndexTerm> terms;
  bool operator==(const IndexBound &) const = default;
};

/// Where copies of a kernel divide dynamic shared memory, what each has is a multiple of this,
/// bytes: the size of the kernel's launch, rounded up. So an address that is a multiple of a power
/// of two in the first copy's is one in all, up to this one.
inline constexpr std::uint32_t dynamic_part = 128;

/// What must hold for a launch of the kernel so that a sibling may take its place. Cooperative
/// launches and clusters never may.
struct SiblingNeeds {
  std::vector<std::array<std::uint32_t, 3>> blocks; ///< one of these shapes; empty: any
  std::optional<std::uint32_t> max_block;           ///< threads at most
  /// Dynamic shared memory: as much as the kernel has (1), this many times as much, rounded up to a
  /// multiple of `dynamic_part` each time, or there must be none (0).
  std::uint32_t dynamic_shared = 1;
  std::vector<ArgumentAlignment> aligned;
  std::vector<ArgumentDivisor> divisible;
  std::vector<ArgumentCover> covered;
  std::vector<IndexBound> bounded;
  std::array<std::uint32_t, 3> min_grid = {1, 1, 1}; ///< of the kernel's launch, blocks
  /// Threads of the kernel's launch along each axis at most: of a block times blocks; ~0u: no
  /// limit.
  std::array<std::uint32_t, 3> max_extent = {~0u, ~0u, ~0u};
  /// And multiples of these.
  std::array<std::uint32_t, 3> extent_multiple = {1, 1, 1};
  bool operator==(const SiblingNeeds &) const = default;
};

/// One version of a kernel. Whoever launches it must respect what the driver says about it, as for
/// any kernel: registers bound the threads of a block.
struct Sibling {
  std::string name;                              ///< of the entry
  std::string family, kind;                      ///< "retile", "apart"
  std::array<std::uint32_t, 3> grid = {1, 1, 1}; ///< the grid is divided by these, rounded up
  /// The block's extents are divided by these, and must be multiples of them.
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  /// Where this is not 0, the block has this extent, whatever the kernel's has, and the grid as
  /// many blocks along the axis as it takes for all threads, the last one with threads to spare;
  /// `grid` and `block` are 1 there.
  std::array<std::uint32_t, 3> extent = {0, 0, 0};
  /// Its blocks may have any number of rows of threads (`extent` along y) where the kernel's have
  /// one, and the grid as many blocks along y as that takes; rows to spare do nothing.
  bool tall = false;
  std::uint32_t rows = 1; ///< of its blocks, where the kernel's have one
  /// What is launched is the kernel itself, in blocks of `extent`, and none of its threads to
  /// spare; `name` is no entry then.
  bool own_code = false;
  /// What is launched is the sibling of this name, for the kernel in blocks of `extent`, and none
  /// of its threads to spare: the rest here is said of that launch. Empty: the sibling is its own.
  std::string code_of;
  /// Parameters behind the kernel's own, 32 bits each, aligned to 4: `x`, `y`, `z` for the extents
  /// of the grid that the kernel would have been launched with.
  std::vector<char> appended;
  /// Behind those: the same for the extents of its blocks.
  std::vector<char> appended_blocks;
  SiblingNeeds needs;
  bool operator==(const Sibling &) const = default;
};

/// The bytes of dynamic shared memory of a sibling's launch for one of the kernel with so many.
inline std::uint64_t dynamic_shared_of(const SiblingNeeds &needs, std::uint32_t bytes) {
  const std::uint64_t part =
      (std::uint64_t{bytes} + dynamic_part - 1) / dynamic_part * dynamic_part;
  return needs.dynamic_shared == 1 ? bytes : needs.dynamic_shared * part;
}

/// A launch's grid in blocks, and its blocks in threads, along each axis.
struct LaunchShape {
  std::array<std::uint64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::uint64_t threads(std::size_t axis) const { return grid[axis] * block[axis]; }
};

/// Of a launch of the kernel, the one that all that is said of a sibling is said of: itself, or the
/// one in blocks of the sibling's extents, where they are for another sibling's code.
LaunchShape said_of(const Sibling &sibling, LaunchShape launch);

/// A sibling's launch for the one that it is said of.
LaunchShape launch_of(const Sibling &sibling, const LaunchShape &kernel);

struct SiblingTable {
  std::string kernel;
  std::string hash; ///< 16 hexadecimal digits of the kernel's text: a profile's key
  std::vector<SiblingParameter> parameters; ///< of the kernel
  /// What it computes may be another thing in another order of its threads: two launches that
  /// differ say nothing.
  bool any_order = false;
  std::vector<Sibling> siblings;
  bool operator==(const SiblingTable &) const = default;
};

/// Returns true if a bound is less than 2^31. `index`: the largest global index along an axis;
/// `argument`: the 32 bits at an offset of a parameter.
template <class Index, class Argument>
bool is_met(const IndexBound &bound, Index index, Argument argument) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 31;
  std::uint64_t sum = 0; // neither it nor a product is ever far above the limit
  for (const IndexTerm &term : bound.terms) {
    std::uint64_t product = term.coefficient;
    bool is_zero = product == 0;
    for (const LaunchNumber &factor : term.factors) {
      const std::uint64_t value =
          factor.is_index ? std::uint64_t{index(factor.which)} : std::uint64_t{argument(factor)};
      is_zero |= value == 0;
      product = std::min(product, limit) * std::min(value, limit);
    }
    sum += is_zero ? 0 : std::min(product, limit);
    if (sum >= limit)
      return false;
  }
  return true;
}

/// Returns true if a launch of the kernel meets all that a sibling needs of one kind.
/// `argument(parameter, offset, bytes)`: an unsigned number among its arguments; `launch`: the
/// kernel's.
template <class Need, class Argument>
bool are_met(const std::vector<Need> &needs, const LaunchShape &launch, Argument argument) {
  return std::all_of(needs.begin(), needs.end(),
                     [&](const Need &need) { return is_met(need, launch, argument); });
}
template <class Argument>
bool is_met(const ArgumentAlignment &need, const LaunchShape &, Argument argument) {
  return argument(need.parameter, need.offset, 8) % need.alignment == 0;
}
template <class Argument>
bool is_met(const ArgumentDivisor &need, const LaunchShape &, Argument argument) {
  return argument(need.parameter, need.offset, need.bytes) % need.divisor == 0;
}
template <class Argument>
bool is_met(const ArgumentCover &need, const LaunchShape &launch, Argument argument) {
  const std::uint64_t value = argument(need.parameter, need.offset, need.bytes);
  return value >= need.least && value <= launch.threads(need.axis) + need.more;
}
template <class Argument>
bool is_met(const IndexBound &bound, const LaunchShape &launch, Argument argument) {
  return is_met(
      bound,
      [&](std::uint32_t axis) { return std::max<std::uint64_t>(launch.threads(axis), 1) - 1; },
      [&](const LaunchNumber &one) { return argument(one.which, one.offset, 4U); });
}

/// The entry that is launched for a sibling of a kernel.
inline const std::string &entry_of(const Sibling &sibling, const std::string &kernel) {
  return sibling.own_code ? kernel : sibling.code_of.empty() ? sibling.name : sibling.code_of;
}

/// True for versions whose threads have several points along x each, of which nothing but their
/// number matters: of x they know their own global index and how many threads there are.
inline bool has_points(const Sibling &sibling) {
  return sibling.block[0] > 1 && sibling.kind.starts_with("wide");
}

/// True for the code of the kernel or of another sibling in blocks of another shape.
inline bool only_reshapes(const Sibling &sibling) {
  return sibling.own_code || !sibling.code_of.empty();
}

/// What must hold for a launch, as the member `needs` of the table says it.
nlohmann::ordered_json needs_json(const SiblingNeeds &needs);

/// The table's bytes, head and text.
std::string encode(const SiblingTable &table);

/// Reads what encode() wrote. Members it does not know make it leave a sibling out, unless the
/// table lists them as optional; values out of range do, too. Error: no table, or of another
/// version; says why.
tl::expected<SiblingTable, std::string> decode(std::string_view bytes);

/// The size in bytes of the table that begins with these (at least `sibling_table_head`); nothing
/// if none does.
std::optional<std::size_t> sibling_table_size(std::string_view head);

/// The table as a variable of the module (PTX ISA 5.4.4), with a newline at its end. `is_weak`: the
/// kernel is, and the linker may see it, its siblings and the table several times.
std::string declaration(const SiblingTable &table, bool is_weak = false);

/// The tables among a module's variables.
std::vector<SiblingTable> sibling_tables(const Module &module);

} // namespace ptxasw::ptx
