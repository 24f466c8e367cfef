// How a re-tiled kernel is written. Copy k of register %r5 is %c1_r5 for k = 1, and %u_r5 where all
// copies hold the same; of several copies that hold the same, the register is that of the first.
//
//     block indices b*K .. b*K+K-1 (of kind "neighbours": thread indices t*K .. t*K+K-1, which all
//       exist, so that there is no `first` below)
//     what is computed from parameters and the like alone
//     if the last block is outside the grid: to `first`
//     the kernel in lockstep: each instruction for copy 0, 1, .., K-1 before the next one, so all
//       copies' loads are under way before the first use; what is shared, once. A branch that may
//       go several ways is taken if all copies take it; if only some do: to `apart_i`
//     first_k:   if block b*K+k is inside the grid, %next = what comes after copy k; to the start
//     apart_i_k: %next = what comes after copy k; to branch i
//     for each copy, the part of the kernel that it may still have to run, on its own registers;
//       where it ends: to `after_k`
//     after_k:   to the place that %next says, or the end
//
// A copy that goes on alone stays in the registers it has: others would take registers from all
// threads for what only few of them do. Only a shared register that it would write while another
// copy waits for the old value is taken over into one of its own, %s_r5. And what it can compute
// again from what all copies share, it does, so that lockstep need not keep it (recompute.cpp).
//
// Of many copies each has the same part (alone_at_once()): `apart_i_k` moves all that copy k has to
// %s_r5 and so on, and its index to %lone_index, and goes to `again_i`, where registers are
// computed again for whoever comes. There is one such place, too: of several, the assembler moves
// what they have in common to before the loop that they leave, and keeps it for each copy.
//
// Where ends are predicated, copies that part at the end of a row stay together, and the straight
// code behind the branch stands there a second time, under predicates (predicated.cpp). In a
// version `once` a branch to another iteration of a loop over the grid is left out, or leads out of
// the loop (emulator/facts/grid_iterations.h).
//
// Where barriers follow and threads may part, copies that part do not go alone to their ends: they
// go on a divergent region to where their ways meet (emulator/facts/convergence_points.h), each by
// itself, and are together again. A barrier stands once for all copies, and a variable in shared
// memory is another one for each.
//
// Where the first thread's points along x are not beside each other, it leaves lockstep at once. In
// a version `tall` the row of a thread, %ctaid.y * %ntid.y + %tid.y, is its block's index along y,
// as its own blocks may have several rows; where it lies outside the grid, the thread ends.
//
// Of kinds "rows" and "neighbours", a load whose value is in a register already is a mov from
// there. What is wide (wide.h) is one load into registers of its own, %w0_0 and on, of
// which each load is a mov, or one store.
//
// Of memory whose size the launch says there is K times as much, rounded up (%dynamic_smem_size);
// copy k has what begins k parts of it behind the beginning, at %begin0_k in place of the
// variable's name.
//
// What belongs to a call stands together for each copy (analysis/call_groups.h), and all use the
// same variables for arguments. Before an assertion fails, `vprintf` says which block of the
// kernel's it is.
//
// A copy's own instructions keep their order, all of them; only those of different copies, of
// different blocks that is, move past each other.

#include "synth/coarsen/coarsening.h"
#include "synth/coarsen/replay.h"

#include "grammar/roles.h"
#include "synth/same_launch.h"

#include <algorithm>
#include <bit>
#include <fmt/core.h>
#include <set>

namespace ptxasw::synth {
namespace {

/// May stand in a module several times.
constexpr const char *declared_print =
    ".extern .func (.param .b32 result) vprintf (.param .b64 text, .param .b64 numbers);\n";

/// What a version has before any of the kernel's instructions: its header, its declarations, and
/// the place that each copy has.
class CoarsenPrologue : protected Coarsening {
public:
  CoarsenPrologue(const KernelContext &context, const CoarsenForm &form, const Proposal &proposal)
      : Coarsening(context, form, form.wide ? best_plan(context, form).plan : WidePlan()),
        proposal_(proposal) {}

protected:
  std::string header() const {
    std::vector<std::string> appended;
    if (form_.divides_grid())
      appended = {grid_parameter() + "\n"};
    if (form_.counts_rows())
      appended.insert(appended.end(),
                      {rows_parameter("grid") + "\n", rows_parameter("block") + "\n"});
    return (asserts() ? declared_print : "") + same_launch_header(module_, kernel_,
                                                                  proposal_.sibling.name, appended,
                                                                  proposal_.registers, true);
  }

  std::string grid_parameter() const { return proposal_.sibling.name + "_grid"; }
  std::string rows_parameter(std::string_view of) const {
    return fmt::format("{}_rows_of_{}", proposal_.sibling.name, of);
  }

  void declare() {
    for (RegisterId reg = 0; reg < kernel_.registers.size(); ++reg)
      for (unsigned k = 0; k < copies_; ++k)
        if (sharing_.keeper(reg, k) == k)
          out_.declare(name_of(reg, k), kernel_.registers[reg].type);
    declare_places();
    for (std::size_t load = 0; load < plan_.loads.size(); ++load) {
      const WideLoad &wide = plan_.loads[load];
      const RegisterId value = wide_value(module_, kernel_, wide.at.instruction);
      for (unsigned e = 0; e < wide.elements; ++e)
        out_.declare(CoarsenNames::wide(load, e), kernel_.registers[value].type);
    }
    if (!plan_.tests.empty())
      out_.declare(CoarsenNames::distance, ScalarType::b64);
    word(CoarsenNames::next);
    if (alone_at_once() && form_.copies > 1)
      word(CoarsenNames::lone_index);
    if (alone_at_once() && form_.along_x > 1)
      word(CoarsenNames::lone_point);
    for (std::size_t allocation = 0; allocation < dynamic_.size(); ++allocation)
      for (unsigned k = 1; k < copies_; ++k)
        word(CoarsenNames::begin(allocation, k));
    for (std::size_t allocation = 0; allocation < allocations_.size(); ++allocation)
      for (unsigned k = 0; k < copies_; ++k)
        out_.declare_variable(to_string(allocations_[allocation].space),
                              allocation_name(allocation, k), allocations_[allocation].bytes,
                              allocations_[allocation].alignment);
    declare_passing(out_);
    if (!asserts())
      return;
    out_.declare(CoarsenNames::said, ScalarType::b64);
    word(CoarsenNames::told);
  }

  /// The name of a new predicate.
  std::string predicate() {
    std::string name = fmt::format("%q{}", predicates_++);
    out_.declare(name, ScalarType::pred);
    return name;
  }

  /// Goes a way if a comparison holds.
  template <typename Number>
  void go_if(std::string_view comparison, std::string_view a, const Number &b,
             const std::string &way) {
    const std::string holds = predicate();
    out_.write("{} {}, {}, {}", comparison, holds, a, b);
    out_.write("@{} {}", holds, way);
  }

  /// A register of 32 bits, unless there is one.
  void word(std::string_view name) {
    if (words_.emplace(name).second)
      out_.declare(name, ScalarType::b32);
  }

  /// Gives it what an opcode makes of others.
  template <typename... Parts>
  void set(const std::string &name, std::string_view opcode, const Parts &...from) {
    word(name);
    std::string line = fmt::format("{} {}", opcode, name);
    ((line += fmt::format(", {}", from)), ...);
    out_.write("{}", line);
  }

  void load(const std::string &name, const std::string &parameter) {
    set(name, "ld.param.u32", "[" + parameter + "]");
  }

  /// Which thread and block each copy has in place of the kernel's.
  void declare_places() {
    for (unsigned row = 0; form_.copies > 1 && row < form_.copies; ++row)
      word(CoarsenNames::index(form_, row));
    if (form_.copies > 1)
      word(CoarsenNames::extent(form_));
    for (unsigned column = 0; form_.along_x > 1 && column < form_.along_x; ++column)
      word(CoarsenNames::point(column));
    if (form_.along_x > 1)
      word(CoarsenNames::points);
    if (form_.along_x > 1 || form_.tall)
      for (const char *name : {CoarsenNames::zero, CoarsenNames::one})
        word(name);
  }

  /// The row of a thread in blocks of several, and how many rows there are.
  void find_row() {
    for (const std::string what : {"ctaid", "ntid", "tid"})
      set("%row_" + what, "mov.u32", "%" + what + ".y");
    set(CoarsenNames::row, "mad.lo.u32", "%row_ctaid", "%row_ntid", "%row_tid");
    if (form_.along_x == 1)
      find_numbers();
    if (!form_.counts_rows())
      return;
    load("%rows_grid", rows_parameter("grid"));
    load("%rows_block", rows_parameter("block"));
    set(CoarsenNames::rows, "mul.lo.u32", "%rows_grid", "%rows_block");
  }

  void find_numbers() {
    set(CoarsenNames::zero, "mov.u32", 0);
    set(CoarsenNames::one, "mov.u32", 1);
  }

  /// Rows beyond the kernel's end at once.
  void end_beyond() {
    if (form_.divides_rows())
      return if_outside(0, "ret");
    go_if("setp.ge.u32", CoarsenNames::row, CoarsenNames::rows, "ret");
  }

  void find_rows() {
    const std::string first = CoarsenNames::index(form_, 0), extent = CoarsenNames::extent(form_);
    set("%own", "mov.u32", form_.tall && form_.axis == 1 ? CoarsenNames::row : form_.index());
    set(first, "mul.lo.u32", "%own", form_.copies);
    for (unsigned row = 1; row < form_.copies; ++row)
      set(CoarsenNames::index(form_, row), "add.u32", first, row);
    if (!form_.within_block())
      return load(extent, grid_parameter());
    set("%own_threads", "mov.u32", form_.extent());
    set(extent, "mul.lo.u32", "%own_threads", form_.copies);
  }

  void find_columns() {
    for (const std::string what : {"ctaid", "ntid", "tid", "nctaid"})
      set("%own_" + what, "mov.u32", "%" + what + ".x");
    set("%flat", "mad.lo.u32", "%own_ctaid", "%own_ntid", "%own_tid");
    set("%scaled", "mul.lo.u32", "%flat", form_.along_x);
    set("%all", "mul.lo.u32", "%own_nctaid", "%own_ntid");
    set(CoarsenNames::points, "mul.lo.u32", "%all", form_.along_x);
    find_numbers();
    if (form_.shift > 0) {
      first_along_x_ = predicate();
      out_.write("setp.eq.u32 {}, %flat, 0", first_along_x_);
    }
    for (unsigned column = 0; column < form_.along_x; ++column) {
      const std::string point = CoarsenNames::point(column);
      const std::uint32_t place = column - form_.shift;
      if (column >= form_.shift) {
        set(point, "add.u32", "%scaled", place);
        continue;
      }
      const std::string before = fmt::format("%before{}", column),
                        end = fmt::format("%end{}", column);
      set(before, "add.u32", "%scaled", place);
      set(end, "add.u32", CoarsenNames::points, place);
      set(point, "selp.b32", end, before, first_along_x_);
    }
  }

  /// Where each copy's part of the memory begins that the launch has K times as much of.
  void find_begins() {
    set("%dynamic", "mov.u32", "%dynamic_smem_size");
    set("%part", "shr.u32", "%dynamic", std::countr_zero(copies_));
    set("%size", "and.b32", "%part", ~(dynamic_part - 1));
    for (std::size_t allocation = 0; allocation < dynamic_.size(); ++allocation) {
      const std::string begin = fmt::format("%begin{}", allocation);
      set(begin, "mov.u32", dynamic_[allocation].name);
      for (unsigned k = 1; k < copies_; ++k)
        set(CoarsenNames::begin(allocation, k), "mad.lo.u32", "%size", k, begin);
    }
  }

  /// Where a row's block is outside the grid.
  void if_outside(unsigned row, const std::string &way) {
    go_if("setp.ge.u32", CoarsenNames::index(form_, row), CoarsenNames::extent(form_), way);
  }

  CodeWriter out_;
  std::string first_along_x_; ///< whether this is the first thread, where `shift` is not 0

private:
  const Proposal &proposal_;
  std::set<std::string, std::less<>> words_; ///< declared so far
  unsigned predicates_ = 0;
};

class CoarsenWriter : CoarsenPrologue {
public:
  using CoarsenPrologue::CoarsenPrologue;

  std::string run() {
    declare();
    prologue();
    lockstep();
    regions();
    predicated();
    find_own();
    for (std::size_t point = 0; point < points_.size(); ++point)
      for (unsigned k = 0; k < copies_at(point); ++k)
        leave_lockstep(point, k);
    for (unsigned code = 0; code < lone_codes(); ++code)
      alone(code);
    for (unsigned code = 0; code < lone_codes(); ++code)
      go_on(code);
    return header() + out_.body();
  }

private:
  /// Shared registers that one copy, alone, may write while another one waits for what they held;
  /// where one code is there for all copies, all that it uses and they do not share.
  void find_own() {
    std::set<RegisterId> own;
    for (const Point &point : points_) {
      const auto reached = reachable_from(module_, kernel_, {point.position});
      const auto written = written_in(module_, kernel_, reached, first_);
      const auto add = [&](RegisterId reg) {
        if (alone_at_once() && !shared_[reg])
          own.insert(reg);
      };
      for (std::uint32_t i = 0; i < count(); ++i)
        if (reached[i])
          for_each_register(module_, instruction(i),
                            [&](RegisterId reg, RegisterUse) { add(reg); });
      for (const std::uint32_t i : recomputation_.at(point.position))
        add(recomputation_.result_of(i));
      for (const RegisterId reg : recomputation_.needed(point.position)) {
        add(reg);
        if (sharing_.by_some()[reg] && written[reg])
          own.insert(reg);
      }
    }
    for (const RegisterId reg : own) {
      out_.declare(names_.own(reg), kernel_.registers[reg].type);
      has_own_[reg] = true;
    }
  }

  void prologue() {
    if (form_.tall)
      find_row();
    if (form_.copies > 1)
      find_rows();
    if (form_.along_x > 1)
      find_columns();
    if (!dynamic_.empty() && copies_ > 1)
      find_begins();
    if (form_.tall)
      end_beyond();
    for (std::uint32_t i = 0; i < count(); ++i)
      if (first_[i])
        out_.clone(module_, instruction(i), together_[0]);
    if (form_.divides_grid()) // otherwise all of them are inside
      if_outside(form_.copies - 1, "bra " + leaving_point(0, true));
    if (form_.shift > 0 && !first_stays_)
      out_.write("@{} bra {}", first_along_x_, leaving_point(0, false));
  }

  /// The label at which copy 0 goes on alone from a position: since some blocks are outside the
  /// grid, or since the branch there parts the copies.
  std::string leaving_point(std::uint32_t position, bool outside) {
    const Point point{position, outside};
    if (std::find(points_.begin(), points_.end(), point) == points_.end())
      points_.push_back(point);
    return label_of(point, 0);
  }

  void pragmas(std::uint32_t i) {
    for (const Pragma &pragma : kernel_.pragmas)
      if (pragma.position == i && pragma.text == "nounroll")
        out_.pragma(pragma.text);
  }

  void lockstep() {
    const std::vector<bool> is_target = sharing_.targets();
    for (std::uint32_t i = 0; i < count(); ++i) {
      if (is_target[i])
        out_.place(at(i));
      pragmas(i);
      if (first_[i])
        continue;
      if (calls_.of(i)) {
        for (unsigned k = 0; k < copies_; ++k)
          call(i, together_[k]);
        continue;
      }
      if (is_way(opcode(i))) {
        branch_together(i);
        continue;
      }
      for (const WideTest &test : plan_.tests)
        if (test.instruction == i)
          leave_unless_apart(test);
      if (const SkewedStretch *const stretch = skew_.around(i)) {
        for (const SkewedStep &step : skew_.steps(*stretch))
          by_copies(step.instruction, step.first, step.end);
        i = stretch->end - 1;
        continue;
      }
      by_copies(i, 0, copies_);
    }
    if (is_target[count()])
      out_.place(at(count()));
    const bool returns_always = count() > 0 && returns(opcode(count() - 1)) &&
                                instruction(count() - 1).guard == no_register;
    if (is_target[count()] || !returns_always)
      out_.write("ret");
  }

  /// An instruction for copies `begin` to `end` - 1.
  void by_copies(std::uint32_t i, unsigned begin, unsigned end) {
    for (unsigned k = begin; k < end;) {
      const bool is_done = sharing_.keeper(instruction(i), k) == k;
      const Lines lines = is_done ? lines_of(i, k) : Lines();
      write_all(lines.text);
      k += lines.copies;
    }
  }

  void write_all(const std::vector<std::string> &lines) {
    for (const std::string &line : lines)
      out_.write("{}", line);
  }

  /// All that belongs to a call, for a copy, where its first instruction stands.
  void call(std::uint32_t i, const Renaming &names) {
    const CallGroup &group = *calls_.of(i);
    if (i == group.first)
      write_all(lines_of(group, names));
  }

  void leave_unless_apart(const WideTest &test) {
    out_.write("{}", difference(test));
    go_if("setp.ne.s64", CoarsenNames::distance, test.distance,
          "bra " + leaving_point(test.instruction, false));
  }

  /// Where a branch always leads, of which that is the label.
  void go_to(std::uint32_t target, std::uint32_t branch, const std::string &label) {
    if (target != branch + 1)
      out_.write("bra {}", label);
  }

  void branch_together(std::uint32_t i) {
    if (instead_[i])
      return go_to(*instead_[i], i, at(*instead_[i]));
    const Instruction &one = instruction(i);
    const auto target = branch_target(module_, kernel_, one);
    const std::string way = target ? "bra " + at(*target) : "ret";
    if (one.guard == no_register)
      return out_.write("{}", way);
    const char *const negated = one.guard_negated ? "!" : "";
    if (shared_[one.guard] || copies_ == 1)
      return out_.write("@{}{} {}", negated, name_of(one.guard, 0), way);
    const auto over_copies = [&](const char *opcode) {
      std::string result = predicate();
      std::string left = name_of(one.guard, 0);
      for (unsigned k = 1; k < copies_; ++k) {
        if (sharing_.keeper(one.guard, k) != k)
          continue;
        out_.write("{} {}, {}, {}", opcode, result, left, name_of(one.guard, k));
        left = result;
      }
      return result;
    };
    // `@p`: taken if all hold, apart if any does. `@!p`: taken if none does, apart unless all do.
    out_.write("@{}{} {}", negated, over_copies(one.guard_negated ? "or.pred" : "and.pred"), way);
    const bool predicated = predicated_.contains(i);
    if (predicated && first_stays_)
      out_.write("@{} bra {}", first_along_x_, predicated_at(i));
    out_.write("@{}{} bra {}", negated, over_copies(one.guard_negated ? "and.pred" : "or.pred"),
               predicated                     ? predicated_at(i)
               : sharing_.divergent_region(i) ? round_at(i)
                                              : leaving_point(i, false));
  }

  /// What is done where some copies have ended.
  void predicated() {
    for (const auto &[branch, end] : predicated_) {
      out_.place(predicated_at(branch));
      let_others_load();
      write_all(predicated_lines(branch));
      out_.write("bra {}", at(end));
    }
  }

  /// Few lanes leave lockstep, and what they load is mostly in lines that the others load: these
  /// are to be first, so that memory is waited for once.
  void let_others_load() {
    if (module_.sm >= 70 &&
        std::pair(module_.version_major, module_.version_minor) >= std::pair(6u, 3u))
      out_.write("{}", Replay::pause);
  }

  void regions() {
    for (const DivergentRegion &region : sharing_.regions()) {
      out_.place(round_at(region.branch));
      for (unsigned k = 0; k < copies_; ++k)
        go_around(region, k);
      out_.write("bra {}", at(region.end));
    }
  }

  /// The part of the kernel between a branch and where its ways meet for one copy, in the order of
  /// the text. All that follows one of its instructions is in it, or is the end.
  void go_around(const DivergentRegion &region, unsigned k) {
    const std::string end = fmt::format("{}_{}", round_at(region.branch), k);
    const auto label = [&](std::optional<std::uint32_t> i) {
      return !i || *i == region.end ? end : fmt::format("{}_{}", end, *i);
    };
    const auto first = std::find(region.inside.begin(), region.inside.end(), true);
    const auto last = std::find(region.inside.rbegin(), region.inside.rend(), true).base() - 1;
    std::set<std::uint32_t> entered; // by branches
    if (first - region.inside.begin() != region.branch) {
      out_.write("bra {}", label(region.branch));
      entered.insert(region.branch);
    }
    for (std::uint32_t i = 0; i < count(); ++i)
      if (const auto target = branch_target(module_, kernel_, instruction(i));
          region.inside[i] && target && *target != region.end)
        entered.insert(*target);
    for (std::uint32_t i = 0; i < count(); ++i) {
      if (!region.inside[i])
        continue;
      if (entered.contains(i))
        out_.place(label(i));
      by_itself(i, together_[k], label);
      if (falls_through(module_, instruction(i)) && i + 1 == region.end &&
          i != last - region.inside.begin())
        out_.write("bra {}", end);
    }
    out_.place(end);
  }

  /// An instruction for one copy alone; `label` says where a branch leads, or what ends it.
  template <typename Label>
  void by_itself(std::uint32_t i, const Renaming &names, const Label &label) {
    const Instruction &one = instruction(i);
    if (first_[i] || lets_others_launch(opcode(i)))
      return;
    if (instead_[i])
      return go_to(*instead_[i], i, label(instead_[i]));
    if (calls_.of(i))
      return call(i, names);
    if (!is_way(opcode(i)))
      return out_.clone(module_, one, names);
    const std::string to = label(branch_target(module_, kernel_, one));
    if (one.guard == no_register)
      out_.write("bra {}", to);
    else
      out_.write("@{}{} bra {}", one.guard_negated ? "!" : "", names.registers[one.guard], to);
  }

  struct Point {
    std::uint32_t position = 0; ///< of the kernel's instruction that comes next
    bool outside = false;       ///< maybe not all blocks are inside the grid
    bool operator==(const Point &) const = default;
  };

  // What places are called: where copy k leaves lockstep, where registers are computed again, where
  // it goes on alone, what follows its end; where lockstep is at an instruction, and where a
  // divergent region of its branch begins.
  template <typename... Numbers>
  static std::string label(std::string_view what, const Numbers &...numbers) {
    std::string text = fmt::format("$retile_{}", what);
    ((text += fmt::format("_{}", numbers)), ...);
    return text;
  }
  static std::string label_of(const Point &point, unsigned k) {
    return point.outside ? label("first", k) : label("apart", point.position, k);
  }
  static std::string again_at(const Point &point) {
    return label(point.outside ? "again_first" : "again", point.position);
  }
  static std::string alone_at(unsigned k, std::uint32_t i) { return label("alone", k, i); }
  static std::string after(unsigned k) { return label("after", k); }
  static std::string at(std::uint32_t i) { return label("at", i); }
  static std::string round_at(std::uint32_t branch) { return label("round", branch); }
  static std::string predicated_at(std::uint32_t branch) { return label("predicated", branch); }

  /// How many copies may go on alone from a point: not those of the last block where that is
  /// outside the grid.
  unsigned copies_at(std::size_t point) const {
    return copies_ - (points_[point].outside ? form_.along_x : 0);
  }

  /// What %next holds for copy k of a point; 0 is the end.
  std::uint64_t number_of(std::size_t point, unsigned k) const {
    return k == copies_at(point) ? 0 : point * copies_ + k;
  }

  void leave_lockstep(std::size_t index, unsigned k) {
    const Point &from = points_[index];
    out_.place(label_of(from, k));
    if (k == 0 && form_.once && alone_at_once())
      let_others_load();
    if (from.outside && form_.row_of(k) > 0) // the first block is always inside
      if_outside(form_.row_of(k), "ret");
    const std::vector<std::uint32_t> again = recomputation_.at(from.position);
    for (const RegisterId reg : recomputation_.needed(from.position))
      if (has_own_[reg] && !recomputation_.gives(again, reg))
        out_.write("{}", move(names_.own(reg), name_of(reg, k), kernel_.registers[reg].type));
    if (alone_at_once()) {
      if (form_.copies > 1)
        set(CoarsenNames::lone_index, "mov.u32", CoarsenNames::index(form_, form_.row_of(k)));
      if (form_.along_x > 1)
        set(CoarsenNames::lone_point, "mov.u32", CoarsenNames::point(form_.column_of(k)));
      set(CoarsenNames::next, "mov.u32", number_of(index, k + 1));
      if (k > 0)
        return out_.write("bra {}", again_at(from));
      out_.place(again_at(from));
    }
    const Renaming names = renaming(k, true);
    for (const std::uint32_t i : again)
      out_.clone(module_, instruction(i), names);
    if (!alone_at_once())
      set(CoarsenNames::next, "mov.u32", number_of(index, k + 1));
    out_.write("bra {}", alone_at(lone_code(k), from.position));
  }

  /// What a copy may have to do by itself.
  void alone(unsigned code) {
    const std::vector<bool> is_target = sharing_.targets();
    std::vector<std::uint32_t> from;
    for (std::size_t point = 0; point < points_.size(); ++point)
      if (alone_at_once() || code < copies_at(point))
        from.push_back(points_[point].position);
    const std::vector<bool> reached = reachable_from(module_, kernel_, from);
    const Renaming names = renaming(code, true);
    for (std::uint32_t i = 0; i < count(); ++i) {
      if (!reached[i])
        continue;
      if (is_target[i] || std::find(from.begin(), from.end(), i) != from.end())
        out_.place(alone_at(code, i));
      pragmas(i);
      by_itself(i, names, [&](std::optional<std::uint32_t> target) {
        return target ? alone_at(code, *target) : after(code);
      });
    }
    if (reached[count()]) {
      if (is_target[count()])
        out_.place(alone_at(code, count()));
      out_.write("bra {}", after(code));
    }
  }

  /// Behind a copy's end: the next copy of the point that was left, or the thread's end.
  void go_on(unsigned code) {
    std::vector<std::pair<std::uint64_t, std::string>> ways; // by what %next holds
    for (std::size_t point = 0; point < points_.size(); ++point)
      for (unsigned k = 0; k < copies_at(point); ++k)
        if (lone_code(k) == code) {
          const std::uint64_t number = number_of(point, k + 1);
          ways.emplace_back(number, number == 0 ? "ret" : "bra " + label_of(points_[point], k + 1));
        }
    std::sort(ways.begin(), ways.end());
    ways.erase(std::unique(ways.begin(), ways.end()), ways.end());
    if (ways.empty())
      return;
    out_.place(after(code));
    if (alone_at_once())
      return choose(after(code), ways.begin(), ways.end());
    std::rotate(ways.begin(), ways.begin() + (ways[0].first == 0),
                ways.end()); // the end comes last
    for (std::size_t i = 0; i + 1 < ways.size(); ++i)
      go_if("setp.eq.u32", CoarsenNames::next, ways[i].first, ways[i].second);
    out_.write("{}", ways.back().second);
  }

  /// Goes one of the ways, by halves.
  template <typename Way> void choose(const std::string &label, Way begin, Way end) {
    if (end - begin == 1)
      return out_.write("{}", begin->second);
    const Way middle = begin + (end - begin) / 2;
    const std::string upper = fmt::format("{}_{}", label, middle->first);
    go_if("setp.ge.u32", CoarsenNames::next, middle->first, "bra " + upper);
    choose(label, begin, middle);
    out_.place(upper);
    choose(label, middle, end);
  }

  std::vector<Point> points_;
};

} // namespace

std::string write_coarsen(const KernelContext &context, const Proposal &proposal) {
  CoarsenForm form = coarsen_form(proposal.sibling);
  form.shift = wide_shift(context, form.along_x);
  return CoarsenWriter(context, form, proposal).run();
}

} // namespace ptxasw::synth
