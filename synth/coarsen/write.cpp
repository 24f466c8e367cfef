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
// again from what all copies share, it does, so that lockstep need not keep it (recompute.h).
//
// Where barriers follow and threads may part, copies that part do not go alone to their ends: they
// go on a detour to where their ways meet (emulator/facts/meeting.h), each by itself, and are
// together again. A barrier stands once for all copies, and a variable in shared memory is another
// one for each.
//
// Points along x are indices G*W - shift .. G*W - shift + W-1, G being the thread along x; where
// the first thread's are not beside each other, it leaves lockstep at once. Copy k is that of row
// k/W and point k%W.
//
// Of kinds "rows" and "neighbours", a load whose value is in a register already is a mov from
// there. What is wide (wide.h) is one load into registers of its own, %w0_0 and on, of
// which each load is a mov, or one store.
//
// Of memory whose size the launch says there is K times as much (%dynamic_smem_size); copy k has
// what begins k parts of it behind the beginning, at %begin0_k in place of the variable's name.
//
// What belongs to a call stands together for each copy (synth/calls.h), and all use the same
// variables for arguments. What an assertion of a copy says names the function, and how the
// kernel's block is found (said()).
//
// A copy's own instructions keep their order, all of them; only those of different copies, of
// different blocks that is, move past each other.

#include "synth/coarsen/coarsening.h"

#include <algorithm>
#include <bit>
#include <fmt/core.h>
#include <map>
#include <set>

namespace ptxasw::synth {
namespace {

using Reg = WrittenRegister;

/// Writes which thread, block and memory each copy has in place of the kernel's.
class PlacesWriter {
public:
  PlacesWriter(const CoarsenForm &form, CodeWriter &out) : form_(form), out_(out) {}

  void declare() {
    for (unsigned row = 0; form_.copies > 1 && row < form_.copies; ++row)
      indices.push_back(word(CoarsenNames::index(form_, row)));
    if (form_.copies > 1)
      extent = word(CoarsenNames::extent(form_));
    if (form_.along_x > 1) {
      for (unsigned column = 0; column < form_.along_x; ++column)
        columns_.push_back(word(CoarsenNames::point(column)));
      points_ = word(CoarsenNames::points);
      zero_ = word(CoarsenNames::zero);
      one_ = word(CoarsenNames::one);
    }
  }

  /// Of so many names of memory whose size the launch says.
  void declare_begins(std::size_t names) {
    for (std::size_t room = 0; room < names; ++room)
      for (unsigned k = 1; k < form_.total(); ++k)
        begins_.push_back(word(CoarsenNames::begin(room, k)));
  }

  void write(std::string_view grid_parameter, const std::vector<Symbol> &dynamic) {
    if (form_.copies > 1)
      find_rows(grid_parameter);
    if (form_.along_x > 1)
      find_columns();
    if (!dynamic.empty() && form_.total() > 1)
      find_begins(dynamic);
  }

  Reg predicate() { return out_.declare(fmt::format("%q{}", predicates_++), ScalarType::pred); }

  std::vector<Reg> indices; ///< of the copies' blocks, or of their threads
  Reg extent;               ///< of the kernel's grid, or of its block
  Reg first_along_x;        ///< whether this is the first thread, where `shift` is not 0

private:
  Reg word(std::string name) { return out_.declare(std::move(name), ScalarType::b32); }

  void find_rows(std::string_view grid_parameter) {
    const std::string index = form_.index();
    const Reg own = word("%own");
    out_.write("mov.u32", {&own, std::string_view(index)});
    out_.write("mul.lo.u32", {&indices[0], &own, number(form_.copies)});
    for (unsigned row = 1; row < form_.copies; ++row)
      out_.write("add.u32", {&indices[row], &indices[0], number(row)});
    if (form_.within_block()) {
      const std::string own_extent = form_.extent();
      const Reg threads = word("%own_threads");
      out_.write("mov.u32", {&threads, std::string_view(own_extent)});
      out_.write("mul.lo.u32", {&extent, &threads, number(form_.copies)});
    } else {
      const std::string parameter = fmt::format("[{}]", grid_parameter);
      out_.write("ld.param.u32", {&extent, std::string_view(parameter)});
    }
  }

  void find_columns() {
    std::vector<Reg> own;
    for (const char *what : {"ctaid", "ntid", "tid", "nctaid"}) {
      own.push_back(word(fmt::format("%own_{}", what)));
      const std::string special = fmt::format("%{}.x", what);
      out_.write("mov.u32", {&own.back(), std::string_view(special)});
    }
    const Reg flat = word("%flat"), scaled = word("%scaled");
    out_.write("mad.lo.u32", {&flat, &own[0], &own[1], &own[2]});
    out_.write("mul.lo.u32", {&scaled, &flat, number(form_.along_x)});
    const Reg all = word("%all");
    out_.write("mul.lo.u32", {&all, &own[3], &own[1]});
    out_.write("mul.lo.u32", {&points_, &all, number(form_.along_x)});
    out_.write("mov.u32", {&zero_, number(0)});
    out_.write("mov.u32", {&one_, number(1)});
    if (form_.shift > 0) {
      first_along_x = predicate();
      out_.write("setp.eq.u32", {&first_along_x, &flat, number(0)});
    }
    for (unsigned column = 0; column < form_.along_x; ++column) {
      const std::uint64_t place = (column - form_.shift) & 0xffffffff;
      if (column >= form_.shift) {
        out_.write("add.u32", {&columns_[column], &scaled, place});
        continue;
      }
      const Reg before = word(fmt::format("%before{}", column));
      const Reg end = word(fmt::format("%end{}", column));
      out_.write("add.u32", {&before, &scaled, place});
      out_.write("add.u32", {&end, &points_, place});
      out_.write("selp.b32", {&columns_[column], &end, &before, &first_along_x});
    }
  }

  /// Where each copy's part of the memory begins that the launch has K times as much of.
  void find_begins(const std::vector<Symbol> &dynamic) {
    const unsigned copies = form_.total();
    const Reg all = word("%dynamic"), part = word("%part"), size = word("%size");
    out_.write("mov.u32", {&all, std::string_view("%dynamic_smem_size")});
    out_.write("shr.u32", {&part, &all, number(static_cast<unsigned>(std::countr_zero(copies)))});
    out_.write("and.b32", {&size, &part, number(0xfffffff0)});
    for (std::size_t room = 0; room < dynamic.size(); ++room) {
      const Reg begin = word(fmt::format("%begin{}", room));
      const std::string name(dynamic[room].name);
      out_.write("mov.u32", {&begin, std::string_view(name)});
      for (unsigned k = 1; k < copies; ++k)
        out_.write("mad.lo.u32", {&begins_[room * (copies - 1) + k - 1], &size, number(k), &begin});
    }
  }

  static std::uint64_t number(unsigned n) { return n; }

  const CoarsenForm &form_;
  CodeWriter &out_;
  std::vector<Reg> begins_;  ///< of the parts of dynamic memory, by name and copy but the first
  std::vector<Reg> columns_; ///< the copies' indices along x
  Reg points_, zero_, one_;
  unsigned predicates_ = 0;
};

class CoarsenWriter : Coarsening {
public:
  CoarsenWriter(const KernelContext &context, const CoarsenForm &form, const Proposal &proposal)
      : Coarsening(context, form, form.wide ? best_plan(context, form).plan : WidePlan()),
        proposal_(proposal) {}

  std::string run() {
    declare();
    prologue();
    lockstep();
    detours();
    find_own();
    for (unsigned k = 0; k < copies_; ++k)
      after_.push_back(out_.label(fmt::format("$retile_after_{}", k)));
    for (std::size_t point = 0; point < points_.size(); ++point)
      for (unsigned k = 0; k < copies_at(point); ++k)
        leave_lockstep(point, k);
    for (unsigned k = 0; k < copies_; ++k)
      alone(k);
    go_on();
    return header() + out_.body();
  }

private:
  std::uint32_t count() const { return static_cast<std::uint32_t>(kernel_.instructions.size()); }
  const Instruction &instruction(std::uint32_t i) const { return kernel_.instructions[i]; }

  std::string header() const {
    const FunctionHeader own = header_of(module_, kernel_);
    std::string parameters(kernel_.parameters.empty() ? "" : own.parameters);
    if (form_.divides_grid())
      parameters += fmt::format("{}\n\t.param .u32 {}\n", kernel_.parameters.empty() ? "" : ",",
                                grid_parameter());
    std::string text =
        fmt::format("{}{}({})\n", own.before_name, proposal_.sibling.name, parameters);
    for (const char *name : {"maxntid", "reqntid"})
      if (const PerformanceDirective *directive = kernel_.directive(name)) {
        text += fmt::format(".{}", name);
        for (unsigned i = 0; i < directive->count; ++i)
          text += fmt::format("{} {}", i == 0 ? "" : ",", directive->values[i]);
        text += '\n';
      }
    if (proposal_.registers != 0)
      text += fmt::format(".maxnreg {}\n", proposal_.registers);
    return text;
  }

  std::string grid_parameter() const { return proposal_.sibling.name + "_grid"; }

  void declare() {
    for (RegisterId reg = 0; reg < kernel_.registers.size(); ++reg)
      for (unsigned k = 0; k < copies_; ++k)
        if (sharing_.keeper(reg, k) == k)
          out_.declare(name_of(reg, k), kernel_.registers[reg].type);
    places_.declare();
    for (std::size_t load = 0; load < plan_.loads.size(); ++load) {
      const WideLoad &wide = plan_.loads[load];
      const RegisterId value = wide_value(module_, kernel_, wide.at.instruction);
      for (unsigned e = 0; e < wide.elements; ++e)
        out_.declare(CoarsenNames::wide(load, e), kernel_.registers[value].type);
    }
    if (!plan_.tests.empty())
      distance_ = out_.declare(CoarsenNames::distance, ScalarType::b64);
    next_ = out_.declare(CoarsenNames::next, ScalarType::b32);
    places_.declare_begins(dynamic_.size());
    for (std::size_t room = 0; room < rooms_.size(); ++room)
      for (unsigned k = 0; k < copies_; ++k)
        out_.declare_variable(rooms_[room].space == StateSpace::shared ? "shared" : "local",
                              room_name(room, k), rooms_[room].bytes, rooms_[room].alignment);
    for (std::size_t i = 0; i < passing_.size(); ++i)
      out_.declare_like(*module_.variable(passing_[i]), CoarsenNames::passing(i));
    bool says = false;
    for_each_said([&](const CallGroup &group, unsigned k) {
      out_.declare_text(said_name(group, k), said(group, k));
      says = true;
    });
    if (says)
      out_.declare(CoarsenNames::said, ScalarType::b64);
  }

  /// Shared registers that one copy, alone, may write while another one waits for what they held.
  void find_own() {
    std::set<RegisterId> own;
    for (const Point &point : points_) {
      const auto written =
          written_in(module_, kernel_, reachable_from(module_, kernel_, {point.position}), first_);
      for (const RegisterId reg : live_at(point))
        if (sharing_.by_some()[reg] && written[reg])
          own.insert(reg);
    }
    for (const RegisterId reg : own) {
      out_.declare(names_.own(reg), kernel_.registers[reg].type);
      has_own_[reg] = true;
    }
  }

  Reg predicate() { return places_.predicate(); }

  void prologue() {
    places_.write(grid_parameter(), dynamic_);
    for (std::uint32_t i = 0; i < count(); ++i)
      if (first_[i])
        out_.clone(module_, instruction(i), together_[0]);
    if (form_.divides_grid()) { // otherwise all of them are inside
      const Reg outside = predicate();
      out_.write("setp.ge.u32", {&outside, &places_.indices[form_.copies - 1], &places_.extent});
      out_.write_if(outside, false, "bra", {leaving_point(0, true)});
    }
    if (form_.shift > 0)
      out_.write_if(places_.first_along_x, false, "bra", {leaving_point(0, false)});
  }

  /// The label at which copy 0 goes on alone from a position: since some blocks are outside the
  /// grid, or since the branch there parts the copies.
  WrittenLabel leaving_point(std::uint32_t position, bool outside) {
    const auto known = std::find_if(points_.begin(), points_.end(), [&](const Point &point) {
      return point.position == position && point.outside == outside;
    });
    if (known != points_.end())
      return known->labels[0];
    points_.push_back({position, outside, {}});
    for (unsigned k = 0; k < copies_; ++k)
      points_.back().labels.push_back(
          out_.label(outside ? fmt::format("$retile_first_{}", k)
                             : fmt::format("$retile_apart_{}_{}", position, k)));
    return points_.back().labels[0];
  }

  WrittenLabel label_at(std::map<std::uint32_t, WrittenLabel> &labels, const std::string &what,
                        std::uint32_t position) {
    const auto [found, is_new] = labels.try_emplace(position);
    if (is_new)
      found->second = out_.label(fmt::format("$retile_{}_{}", what, position));
    return found->second;
  }

  /// Positions that a branch leads to.
  std::vector<bool> targets() const {
    std::vector<bool> result(count() + 1, false);
    for (const Instruction &one : kernel_.instructions)
      if (const auto target = branch_target(module_, kernel_, one))
        result[*target] = true;
    for (const Detour &detour : sharing_.detours())
      result[detour.end] = true;
    return result;
  }

  void pragmas(std::uint32_t i) {
    for (const Pragma &pragma : kernel_.pragmas)
      if (pragma.position == i && pragma.text == "nounroll")
        out_.pragma(pragma.text);
  }

  void lockstep() {
    const std::vector<bool> is_target = targets();
    for (std::uint32_t i = 0; i < count(); ++i) {
      if (is_target[i])
        out_.place(label_at(fast_labels_, "at", i));
      pragmas(i);
      if (first_[i])
        continue;
      if (calls_.of(i)) {
        for (unsigned k = 0; k < copies_; ++k)
          call(i, k, together_[k]);
        continue;
      }
      const Instruction &one = instruction(i);
      const Opcode &opcode = module_.opcode(one);
      if (is_way(opcode)) {
        branch_together(i);
        continue;
      }
      for (const WideTest &test : plan_.tests)
        if (test.instruction == i)
          leave_unless_apart(test);
      for (unsigned k = 0; k < copies_;)
        k += sharing_.keeper(one, k) == k ? by_copy(i, k) : 1;
    }
    if (is_target[count()])
      out_.place(label_at(fast_labels_, "at", count()));
    if (is_target[count()] || !ends_always(count()))
      out_.write("ret", {});
  }

  /// Returns true if control never falls through to a position.
  bool ends_always(std::uint32_t position) const {
    return position > 0 && instruction(position - 1).guard == no_register &&
           returns(module_.opcode(instruction(position - 1)));
  }

  /// An instruction for a copy, and those after it if it is done for them as well: how many.
  unsigned by_copy(std::uint32_t i, unsigned k) {
    const Lines lines = lines_of(i, k);
    for (const std::string &line : lines.text)
      out_.write(line, {});
    return lines.copies;
  }

  /// All that belongs to a call, for a copy, where its first instruction stands.
  void call(std::uint32_t i, unsigned k, const Renaming &names) {
    const CallGroup &group = *calls_.of(i);
    if (i == group.first)
      for (const std::string &line : lines_of(group, k, names))
        out_.write(line, {});
  }

  void leave_unless_apart(const WideTest &test) {
    out_.write(difference(test), {});
    const Reg differs = predicate();
    out_.write("setp.ne.s64", {&differs, &distance_, test.distance});
    out_.write_if(differs, false, "bra", {leaving_point(test.instruction, false)});
  }

  void branch_together(std::uint32_t i) {
    const Instruction &one = instruction(i);
    const auto target = branch_target(module_, kernel_, one);
    const auto go = [&](const Reg *guard, bool negated) {
      if (!guard && target)
        out_.write("bra", {label_at(fast_labels_, "at", *target)});
      else if (!guard)
        out_.write("ret", {});
      else if (target)
        out_.write_if(*guard, negated, "bra", {label_at(fast_labels_, "at", *target)});
      else
        out_.write_if(*guard, negated, "ret", {});
    };
    if (one.guard == no_register)
      return go(nullptr, false);
    const auto guard_of = [&](unsigned k) { return Reg{name_of(one.guard, k), ScalarType::pred}; };
    const Reg first = guard_of(0);
    if (shared_[one.guard] || copies_ == 1)
      return go(&first, one.guard_negated);
    const auto over_copies = [&](const char *opcode) {
      Reg result = predicate();
      const Reg *left = &first;
      for (unsigned k = 1; k < copies_; ++k) {
        if (sharing_.keeper(one.guard, k) != k)
          continue;
        const Reg right = guard_of(k);
        out_.write(opcode, {&result, left, &right});
        left = &result;
      }
      return result;
    };
    // `@p`: taken if all hold, apart if any does. `@!p`: taken if none does, apart unless all do.
    const Reg decides = over_copies(one.guard_negated ? "or.pred" : "and.pred");
    go(&decides, one.guard_negated);
    const Reg differs = over_copies(one.guard_negated ? "and.pred" : "or.pred");
    out_.write_if(
        differs, one.guard_negated, "bra",
        {sharing_.detour(i) ? label_at(detour_labels_, "round", i) : leaving_point(i, false)});
  }

  void detours() {
    for (const Detour &detour : sharing_.detours()) {
      out_.place(label_at(detour_labels_, "round", detour.branch));
      for (unsigned k = 0; k < copies_; ++k)
        go_around(detour, k);
      out_.write("bra", {label_at(fast_labels_, "at", detour.end)});
    }
  }

  /// The part of the kernel between a branch and where its ways meet for one copy, in the order of
  /// the text. All that follows one of its instructions is in it, or is the end.
  void go_around(const Detour &detour, unsigned k) {
    const std::string what = fmt::format("round_{}_{}", detour.branch, k);
    const WrittenLabel end = out_.label("$retile_" + what);
    std::map<std::uint32_t, WrittenLabel> labels;
    const auto label_of = [&](std::optional<std::uint32_t> i) {
      return !i || *i == detour.end ? end : label_at(labels, what, *i);
    };
    for (std::uint32_t i = 0; i < count(); ++i)
      if (detour.inside[i])
        label_of(branch_target(module_, kernel_, instruction(i)));
    if (std::find(detour.inside.begin(), detour.inside.end(), true) !=
        detour.inside.begin() + detour.branch)
      out_.write("bra", {label_of(detour.branch)});
    for (std::uint32_t i = 0; i < count(); ++i) {
      if (!detour.inside[i])
        continue;
      if (labels.contains(i))
        out_.place(labels[i]);
      by_itself(i, k, together_[k], label_of);
      const bool goes_on =
          instruction(i).guard != no_register || !is_way(module_.opcode(instruction(i)));
      if (goes_on && i + 1 == detour.end &&
          std::find(detour.inside.begin() + i + 1, detour.inside.end(), true) !=
              detour.inside.end())
        out_.write("bra", {end});
    }
    out_.place(end);
  }

  /// An instruction for one copy alone; `label_of` says where a branch leads, or what ends it.
  template <typename LabelOf>
  void by_itself(std::uint32_t i, unsigned k, const Renaming &names, const LabelOf &label_of) {
    const Instruction &one = instruction(i);
    if (first_[i] || lets_others_launch(module_.opcode(one)))
      return;
    if (calls_.of(i)) {
      call(i, k, names);
      return;
    }
    if (!is_way(module_.opcode(one))) {
      out_.clone(module_, one, names);
      return;
    }
    const WrittenLabel to = label_of(branch_target(module_, kernel_, one));
    if (one.guard == no_register)
      out_.write("bra", {to});
    else
      out_.write_if({names.registers[one.guard], ScalarType::pred}, one.guard_negated, "bra", {to});
  }

  struct Point {
    std::uint32_t position = 0;       ///< of the kernel's instruction that comes next
    bool outside = false;             ///< maybe not all blocks are inside the grid
    std::vector<WrittenLabel> labels; ///< by copy
  };

  std::vector<RegisterId> live_at(const Point &point) const {
    return recomputation_.needed(point.position);
  }

  /// How many copies may go on alone from a point: not those of the last block where that is
  /// outside the grid.
  unsigned copies_at(std::size_t point) const {
    return copies_ - (points_[point].outside ? form_.along_x : 0);
  }

  /// What %next holds for copy k of a point; 0 is the end.
  std::uint64_t number_of(std::size_t point, unsigned k) const {
    return k == copies_at(point) ? 0 : point * copies_ + k;
  }

  WrittenLabel alone_at(unsigned k, std::uint32_t position) {
    return label_at(alone_labels_[k], fmt::format("alone_{}", k), position);
  }

  void leave_lockstep(std::size_t index, unsigned k) {
    const Point &from = points_[index];
    out_.place(from.labels[k]);
    if (from.outside && form_.row_of(k) > 0) { // the first block is always inside
      const Reg outside = predicate();
      out_.write("setp.ge.u32", {&outside, &places_.indices[form_.row_of(k)], &places_.extent});
      out_.write_if(outside, false, "ret", {});
    }
    for (const RegisterId reg : live_at(from))
      if (has_own_[reg])
        out_.write(move(names_.own(reg), name_of(reg, k), kernel_.registers[reg].type), {});
    const Renaming names = renaming(k, true);
    for (const std::uint32_t i : recomputation_.at(from.position))
      out_.clone(module_, instruction(i), names);
    out_.write("mov.u32", {&next_, number_of(index, k + 1)});
    out_.write("bra", {alone_at(k, from.position)});
  }

  /// What copy k may have to do by itself.
  void alone(unsigned k) {
    const std::vector<bool> is_target = targets();
    std::vector<std::uint32_t> from;
    for (std::size_t point = 0; point < points_.size(); ++point)
      if (k < copies_at(point))
        from.push_back(points_[point].position);
    const std::vector<bool> reached = reachable_from(module_, kernel_, from);
    const Renaming names = renaming(k, true);
    for (std::uint32_t i = 0; i < count(); ++i) {
      if (!reached[i])
        continue;
      if (is_target[i] || alone_labels_[k].contains(i))
        out_.place(alone_at(k, i));
      pragmas(i);
      by_itself(i, k, names, [&](std::optional<std::uint32_t> target) {
        return target ? alone_at(k, *target) : after_[k];
      });
    }
    if (reached[count()]) {
      if (is_target[count()])
        out_.place(alone_at(k, count()));
      out_.write("bra", {after_[k]});
    }
  }

  /// Behind each copy's end: the next copy of the point that was left, or the thread's end.
  void go_on() {
    for (unsigned k = 0; k < copies_; ++k) {
      out_.place(after_[k]);
      std::vector<std::size_t> more;
      bool is_last = k + 1 == copies_;
      for (std::size_t point = 0; point < points_.size(); ++point)
        if (k + 1 < copies_at(point))
          more.push_back(point);
        else
          is_last = is_last || k + 1 == copies_at(point);
      for (const std::size_t point : more) {
        if (!is_last && point == more.back()) { // nothing else is left
          out_.write("bra", {points_[point].labels[k + 1]});
          break;
        }
        const Reg is_next = predicate();
        out_.write("setp.eq.u32", {&is_next, &next_, number_of(point, k + 1)});
        out_.write_if(is_next, false, "bra", {points_[point].labels[k + 1]});
      }
      if (is_last)
        out_.write("ret", {});
    }
  }

  const Proposal &proposal_;
  CodeWriter out_;
  PlacesWriter places_{form_, out_};
  Reg next_, distance_;
  std::vector<Point> points_;
  std::map<std::uint32_t, WrittenLabel> detour_labels_; ///< by branch
  std::map<std::uint32_t, WrittenLabel> fast_labels_;   ///< by instruction
  std::array<std::map<std::uint32_t, WrittenLabel>, max_copies> alone_labels_;
  std::vector<WrittenLabel> after_; ///< by copy
};

} // namespace

std::string write_coarsen(const KernelContext &context, const Proposal &proposal) {
  CoarsenForm form = coarsen_form(proposal.sibling).value_or(CoarsenForm{});
  form.shift = wide_shift(context, form.along_x);
  return CoarsenWriter(context, form, proposal).run();
}

} // namespace ptxasw::synth
