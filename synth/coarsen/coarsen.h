#pragma once

// Thread coarsening (re-tiling; Magni, Dubach, O'Boyle 2013), kind "apart": a block of the sibling
// does the work of K neighbouring blocks of the kernel along one axis, copy k that of block
// b * K + k with the thread's own tid, K = 2, 4, 8 or 16. A thread has K times as many loads in
// flight, and the GPU starts a K-th of the blocks.
//
// Kind "rows" is the same for blocks that are one thread thick along the axis: there copies are
// neighbouring rows, and what several of them load is loaded once (merge.cpp).
//
// Kind "neighbours": a thread of the sibling does the work of K threads of the same block, copy k
// that of thread t * K + k along the axis. Blocks have a K-th of the threads, the grid is the same.
// Along y or z, copies are neighbouring rows again.
//
// Each of these, or none, goes with points along x: thread G of the sibling along x does the work
// of the kernel's threads G * W - shift .. G * W - shift + W - 1 along x, wherever their blocks
// are; threads before the first one are the last ones. Only for kernels in which nothing but the
// global index along x matters. Blocks have a W-th of the threads along x, the grid is the same.
//
// Tall: such a version may have blocks of several rows. Only for kernels in which nothing but the
// global index along y matters: each thread's row is then a block of the kernel's, of one row.
//
// Which kernels: synth/spread.h, allocations.h. What is proposed: coarsen.cpp. How it is written:
// write.cpp. Why it is right: prove.cpp.

#include "emulator/facts/convergence_points.h"
#include "emulator/facts/grid_iterations.h"
#include "grammar/liveness.h"
#include "grammar/next.h"
#include "synth/spread.h"

#include <array>
#include <fmt/core.h>
#include <string>
#include <vector>

namespace ptxasw::synth {

/// The largest number of blocks that one may do, and of copies along two axes.
inline constexpr unsigned max_coarsen_factor = 16, max_along_x = 16, max_copies = 32;

/// How the sibling's threads are spread over the kernel's.
struct CoarsenForm {
  enum class Kind : std::uint8_t { apart, rows, neighbours };
  Kind kind = Kind::apart;
  int axis = 0;         ///< 0 is x
  unsigned copies = 1;  ///< along the axis
  unsigned along_x = 1; ///< points along x for each of them
  unsigned shift = 0;   ///< by which these begin before a multiple of `along_x`
  bool wide = false;    ///< what a thread accesses side by side is done at once (wide.h)
  bool once = false; ///< loops over the grid have one iteration (emulator/facts/grid_iterations.h)
  bool skewed = false; ///< rows go one behind the other (skew.h)
  bool tall = false;   ///< blocks may have any number of rows; what is outside the grid ends

  /// Copy k is that of row k / along_x and of point k % along_x.
  unsigned total() const { return copies * along_x; }
  unsigned row_of(unsigned k) const { return k / along_x; }
  unsigned column_of(unsigned k) const { return k % along_x; }
  bool divides_grid() const { return copies > 1 && kind != Kind::neighbours; }
  bool within_block() const { return copies > 1 && kind == Kind::neighbours; }
  bool divides_rows() const { return divides_grid() && axis == 1; }
  /// In blocks of any number of rows: the kernel's rows are to be counted for themselves.
  bool counts_rows() const { return tall && !divides_rows(); }
  /// What the launch appends to the kernel's parameters: extents of its grid, and of its blocks.
  std::vector<char> appended_grids() const;
  std::vector<char> appended_blocks() const;
  /// Points beyond the end of a row stay in lockstep (predicated.cpp).
  bool predicates_ends() const { return once && !skewed && along_x > 1; }
  /// Tells apart what is worked out of a kernel for forms, where `tall` does not matter.
  std::string key() const;
  bool merges() const { return along_x > 1 || (copies > 1 && kind != Kind::apart); }
  /// The special registers that tell copies apart.
  std::vector<std::string> indices() const;
  /// The special register that tells the copies apart: `%ctaid.x`, or `%tid.x`.
  std::string index() const;
  /// The special register that bounds it: `%nctaid.x`, or `%ntid.x`.
  std::string extent() const;
};

using facts::DivergentRegion;
using facts::GridIteration;
using facts::max_round_threads;
using facts::rounds_over_grid;

std::string_view name_of(CoarsenForm::Kind kind);

/// What the table says of a form, but for its name and family, and for what a plan of wide accesses
/// needs of arguments.
Sibling coarsened(const KernelContext &context, const CoarsenForm &form);
/// The form that a table's entry may tell of, but for its shift (wide_shift()): if it does, it is
/// coarsened() of that.
CoarsenForm coarsen_form(const Sibling &sibling);

/// By how many points the first thread's begin before the first one, so that most accesses are
/// aligned; 0 to along_x - 1.
unsigned wide_shift(const KernelContext &context, unsigned along_x);

/// Returns true if versions of a kernel may be `tall`.
bool may_be_tall(const KernelContext &context);

/// All that keeps a kernel from being re-tiled, each kind of obstacle once; where blocks stay
/// whole, its shared memory, too.
std::vector<Refusal> coarsen_obstacles(const KernelContext &context,
                                       Blocks blocks = Blocks::spread);

std::string write_coarsen(const KernelContext &context, const Proposal &proposal);
proof::Proved prove_coarsen(const KernelContext &kernel, const Function &sibling,
                            const Proposal &proposal);

/// The shapes of blocks for which copies along an axis are neighbouring rows: one thread thick,
/// whole warps. Others may be, too; these are what the table lists.
const std::vector<std::array<std::uint32_t, 3>> &row_blocks(int axis);

/// The shapes of blocks whose rows along x are whole warps, of one row or of 2, 4, 8, 16 or 32:
/// what the table lists where lanes come alike to what they do together in such blocks alone
/// (meetings_of()).
const std::vector<std::array<std::uint32_t, 3>> &whole_row_blocks();
/// Returns true if it must: the kernel's text says of no block that all of its launches have.
bool asks_for_whole_rows(const KernelContext &context);

/// Returns true if an instruction only says that the next grid may begin to be launched
/// (`griddepcontrol.launch_dependents`; PTX ISA 9.7.13.13): a block that ends says the same. A copy
/// that goes on alone leaves it out, as others may still be at work.
bool lets_others_launch(const Opcode &opcode);

/// What copies have in common: registers that are the same in all of them, and, where they are rows
/// of points, those that are the same in a row or in a column. One copy then keeps the register,
/// and does what is done for it.
class Sharing : OfKernel {
public:
  Sharing(const KernelContext &context, const CoarsenForm &form);
  /// By RegisterId: the same in all copies; in more than one.
  const std::vector<bool> &by_all() const { return by_all_; }
  const std::vector<bool> &by_some() const { return by_some_; }
  /// By instruction: is it done once, before all else? So are those that only compute, from values
  /// of that kind, a register that all copies share, that nothing else writes and that is never
  /// read before.
  const std::vector<bool> &done_first() const { return done_first_; }
  /// The copy that keeps a register of copy k, or does an instruction for it; for a barrier, of a
  /// block or of a warp, and for groups of asynchronous copies, the first.
  unsigned keeper(RegisterId reg, unsigned k) const;
  unsigned keeper(const Instruction &one, unsigned k) const;
  const facts::ConvergencePoints &meetings() const { return meetings_; }
  /// Returns true if an instruction is done for more than one copy.
  bool is_shared(const Instruction &one) const;
  /// Where copies that part go and meet again (emulator/facts/convergence_points.h), in the order
  /// of their branches.
  const std::vector<DivergentRegion> &regions() const { return regions_; }
  /// The one that begins at a branch; null: who parts there goes on alone to the end.
  const DivergentRegion *divergent_region(std::uint32_t branch) const;
  /// By instruction, and one past the last: does a branch of a version lead to it?
  std::vector<bool> targets() const;

private:
  void find_regions();
  void find_done_first();
  unsigned keeper(bool row, bool column, unsigned k) const;

  const CoarsenForm form_;
  const facts::ConvergencePoints &meetings_;
  std::vector<bool> by_all_, by_row_, by_column_, by_some_, done_first_;
  std::vector<DivergentRegion> regions_;
};

/// Found once.
const Sharing &sharing_of(const KernelContext &context, CoarsenForm form);

/// Returns true if an instruction writes registers, all of them shared: it is done once for all
/// copies.
bool is_shared(const Module &module, const Instruction &instruction,
               const std::vector<bool> &shared);

/// Names of the sibling's registers.
class CoarsenNames {
public:
  explicit CoarsenNames(const Function &kernel);
  std::string copy(unsigned k, RegisterId reg) const {
    return fmt::format("%c{}_{}", k, suffixes_[reg]);
  }
  std::string shared(RegisterId reg) const { return "%u_" + suffixes_[reg]; }
  /// What a copy that goes on alone has instead of a shared register.
  std::string own(RegisterId reg) const { return "%s_" + suffixes_[reg]; }
  /// A row's index, and what bounds it.
  static std::string index(const CoarsenForm &form, unsigned row) {
    return fmt::format("%{}{}", form.within_block() ? "thread" : "block", row);
  }
  static const char *extent(const CoarsenForm &form) {
    return form.within_block() ? "%threads" : "%grid";
  }
  /// Its index along x.
  static std::string point(unsigned column) { return fmt::format("%point{}", column); }
  static constexpr const char *points = "%points", *one = "%one", *zero = "%zero";
  /// The row of a version `tall`, and how many the kernel's launch has.
  static constexpr const char *row = "%row", *rows = "%rows";
  /// Where a copy's part begins of memory whose size the launch says.
  static std::string begin(std::size_t allocation, unsigned k) {
    return fmt::format("%begin{}_{}", allocation, k);
  }
  /// A variable for arguments or results of calls.
  static std::string passing(std::size_t variable) {
    return fmt::format("__ptxasw_passed{}", variable);
  }
  /// What prints the kernel's block before an assertion fails, and its variable.
  static constexpr const char *format = "__ptxasw_said_block";
  static constexpr std::string_view format_text =
      "ptxasw: an assertion fails in the kernel's block [%u,%u,%u]\n";
  static constexpr const char *said = "%said"; ///< where what is printed is
  static constexpr const char *told = "%told"; ///< a number of the kernel's block, to be printed
  static constexpr const char *next = "%next";
  /// Which copy goes on alone, where one code is there for all: in place of index() and point().
  static constexpr const char *lone_index = "%lone_index", *lone_point = "%lone_point";
  static constexpr const char *distance = "%distance";
  /// Element of a wide load.
  static std::string wide(std::size_t load, unsigned element) {
    return fmt::format("%w{}_{}", load, element);
  }

private:
  std::vector<std::string> suffixes_;
};

} // namespace ptxasw::synth
