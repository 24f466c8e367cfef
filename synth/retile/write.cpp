// How a re-tiled kernel is written. Copy k of register %r5 is %c1_r5 for k = 1, and %u_r5 where all
// copies hold the same.
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
//       where it ends: to `after`
//     after:     to the place that %next says, or the end
//
// A copy that goes on alone stays in the registers it has: others would take registers from all
// threads for what only few of them do. Only a shared register that it would write while another
// copy waits for the old value is taken over into one of its own, %s_r5.
//
// Of kinds "rows" and "neighbours", a load whose value is in a register already is a mov from
// there.
//
// A copy's own instructions keep their order, all of them; only those of different copies, of
// different blocks that is, move past each other.

#include "grammar/cfg.h"
#include "grammar/code_writer.h"
#include "grammar/liveness.h"
#include "synth/retile/merge.h"
#include "synth/retile/retile.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace ptxasw {
namespace {

class RetileWriter {
public:
  RetileWriter(const Module &module, const Function &kernel, const Proposal &proposal)
      : module_(module), kernel_(kernel), proposal_(proposal),
        form_(retile_form(proposal.sibling).value_or(RetileForm{})), copies_(form_.copies),
        names_(kernel), shared_(shared_registers(module, kernel, form_)),
        first_(done_first(module, kernel, shared_)), cfg_(module, kernel),
        liveness_(module, kernel, cfg_) {
    if (form_.merges())
      merged_ = merged_loads(module, kernel, form_);
  }

  std::string run() {
    declare();
    prologue();
    lockstep();
    find_own();
    after_ = out_.label("$retile_after");
    for (std::size_t point = 0; point < points_.size(); ++point)
      for (unsigned k = 0; k < copies_at(point); ++k)
        leave_lockstep(point, k);
    for (unsigned k = 0; k < copies_; ++k)
      alone(k);
    go_on();
    return header() + out_.body();
  }

private:
  using Reg = WrittenRegister;

  std::uint32_t count() const { return static_cast<std::uint32_t>(kernel_.instructions.size()); }
  const Instruction &instruction(std::uint32_t i) const { return kernel_.instructions[i]; }

  std::string header() const {
    const FunctionHeader own = header_of(module_, kernel_);
    std::string parameters(kernel_.parameters.empty() ? "" : own.parameters);
    if (!form_.within_block())
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
    fast_.resize(copies_);
    for (RegisterId reg = 0; reg < kernel_.registers.size(); ++reg) {
      const ScalarType type = kernel_.registers[reg].type;
      for (unsigned k = 0; k < copies_; ++k)
        fast_[k].push_back(
            shared_[reg] && k > 0
                ? fast_[0][reg]
                : out_.declare(shared_[reg] ? names_.shared(reg) : names_.copy(k, reg), type));
    }
    for (unsigned k = 0; k < copies_; ++k)
      indices_.push_back(out_.declare(
          fmt::format("%{}{}", form_.within_block() ? "thread" : "block", k), ScalarType::b32));
    extent_ = out_.declare(form_.within_block() ? "%threads" : "%grid", ScalarType::b32);
    next_ = out_.declare(RetileNames::next, ScalarType::b32);
    for (unsigned k = 0; k < copies_; ++k)
      together_.push_back(renaming(fast_[k], k));
  }

  Renaming renaming(const std::vector<Reg> &registers, unsigned k) const {
    Renaming result;
    for (const Reg &reg : registers)
      result.registers.push_back(reg.name);
    result.specials = {{form_.index(), indices_[k].name}, {form_.extent(), extent_.name}};
    return result;
  }

  /// Shared registers that one copy, alone, may write while another one waits for what they held.
  void find_own() {
    std::set<RegisterId> own;
    for (const Point &point : points_) {
      const auto written =
          written_in(module_, kernel_, reachable_from(module_, kernel_, {point.position}), first_);
      for (const RegisterId reg : live_at(point))
        if (shared_[reg] && written[reg])
          own.insert(reg);
    }
    for (const RegisterId reg : own)
      own_.emplace(reg, out_.declare(names_.own(reg), kernel_.registers[reg].type));
    for (unsigned k = 0; k < copies_; ++k) {
      alone_.push_back(fast_[k]);
      for (const auto &[reg, name] : own_)
        alone_[k][reg] = name;
    }
  }

  Reg predicate() { return out_.declare(fmt::format("%q{}", predicates_++), ScalarType::pred); }

  std::uint64_t number(unsigned n) const { return n; }

  void prologue() {
    const std::string index = form_.index();
    const Reg own = out_.declare("%own", ScalarType::b32);
    out_.write("mov.u32", {&own, std::string_view(index)});
    out_.write("mul.lo.u32", {&indices_[0], &own, number(copies_)});
    for (unsigned k = 1; k < copies_; ++k)
      out_.write("add.u32", {&indices_[k], &indices_[0], number(k)});
    if (form_.within_block()) {
      const std::string extent = form_.extent();
      const Reg threads = out_.declare("%own_threads", ScalarType::b32);
      out_.write("mov.u32", {&threads, std::string_view(extent)});
      out_.write("mul.lo.u32", {&extent_, &threads, number(copies_)});
    } else {
      const std::string parameter = fmt::format("[{}]", grid_parameter());
      out_.write("ld.param.u32", {&extent_, std::string_view(parameter)});
    }
    for (std::uint32_t i = 0; i < count(); ++i)
      if (first_[i])
        out_.clone(module_, instruction(i), together_[0]);
    if (form_.within_block())
      return; // all of them are inside
    const Reg outside = predicate();
    out_.write("setp.ge.u32", {&outside, &indices_[copies_ - 1], &extent_});
    out_.write_if(outside, false, "bra", {leaving_point(0, true)});
  }

  /// The label at which copy 0 goes on alone from a position: since some blocks are outside the
  /// grid, or since the branch there parts the copies.
  WrittenLabel leaving_point(std::uint32_t position, bool outside) {
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
      const Instruction &one = instruction(i);
      const Opcode &opcode = module_.opcode(one);
      if (opcode.op == Op::bra || ends_thread(opcode)) {
        branch_together(i);
        continue;
      }
      const bool once = is_shared(module_, one, shared_);
      for (unsigned k = 0; k < (once ? 1 : copies_); ++k)
        if (const MergedLoad *merged = once ? nullptr : merged_at(i, k))
          move(fast_[k][destination(i)], fast_[merged->from_copy][destination(merged->from)]);
        else
          out_.clone(module_, one, together_[k]);
    }
    if (is_target[count()])
      out_.place(label_at(fast_labels_, "at", count()));
    if (is_target[count()] || !ends_always(count()))
      out_.write("ret", {});
  }

  /// Returns true if control never falls through to a position.
  bool ends_always(std::uint32_t position) const {
    return position > 0 && instruction(position - 1).guard == no_register &&
           ends_thread(module_.opcode(instruction(position - 1)));
  }

  const MergedLoad *merged_at(std::uint32_t load, unsigned copy) const {
    const auto found = std::find_if(merged_.begin(), merged_.end(), [&](const MergedLoad &one) {
      return one.load == load && one.copy == copy;
    });
    return found == merged_.end() ? nullptr : &*found;
  }

  RegisterId destination(std::uint32_t load) const {
    return module_.operands(instruction(load))[0].reg;
  }

  void move(const Reg &to, const Reg &from) {
    const unsigned width = bit_width(to.type);
    out_.write(width == 1 ? "mov.pred" : fmt::format("mov.b{}", width), {&to, &from});
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
    if (shared_[one.guard])
      return go(&fast_[0][one.guard], one.guard_negated);
    const auto over_copies = [&](const char *opcode) {
      Reg result = predicate();
      const Reg *left = &fast_[0][one.guard];
      for (unsigned k = 1; k < copies_; ++k, left = &result)
        out_.write(opcode, {&result, left, &fast_[k][one.guard]});
      return result;
    };
    // `@p`: taken if all hold, apart if any does. `@!p`: taken if none does, apart unless all do.
    const Reg decides = over_copies(one.guard_negated ? "or.pred" : "and.pred");
    go(&decides, one.guard_negated);
    const Reg differs = over_copies(one.guard_negated ? "and.pred" : "or.pred");
    out_.write_if(differs, one.guard_negated, "bra", {leaving_point(i, false)});
  }

  struct Point {
    std::uint32_t position = 0;       ///< of the kernel's instruction that comes next
    bool outside = false;             ///< maybe not all blocks are inside the grid
    std::vector<WrittenLabel> labels; ///< by copy
  };

  std::vector<RegisterId> live_at(const Point &point) const {
    return live_before(module_, kernel_, cfg_, liveness_, point.position);
  }

  /// How many copies may go on alone from a point: not the last one where its block is outside the
  /// grid.
  unsigned copies_at(std::size_t point) const { return copies_ - points_[point].outside; }

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
    if (from.outside && k > 0) { // the first block is always inside
      const Reg outside = predicate();
      out_.write("setp.ge.u32", {&outside, &indices_[k], &extent_});
      out_.write_if(outside, false, "ret", {});
    }
    for (const RegisterId reg : live_at(from))
      if (const auto own = own_.find(reg); own != own_.end())
        move(own->second, fast_[0][reg]);
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
    const Renaming names = renaming(alone_[k], k);
    for (std::uint32_t i = 0; i < count(); ++i) {
      if (!reached[i])
        continue;
      if (is_target[i] || alone_labels_[k].contains(i))
        out_.place(alone_at(k, i));
      pragmas(i);
      if (first_[i])
        continue;
      const Instruction &one = instruction(i);
      const Opcode &opcode = module_.opcode(one);
      if (opcode.op != Op::bra && !ends_thread(opcode)) {
        out_.clone(module_, one, names);
        continue;
      }
      const auto target = branch_target(module_, kernel_, one);
      const WrittenLabel to = target ? alone_at(k, *target) : after_;
      if (one.guard == no_register)
        out_.write("bra", {to});
      else
        out_.write_if(alone_[k][one.guard], one.guard_negated, "bra", {to});
    }
    if (reached[count()]) {
      if (is_target[count()])
        out_.place(alone_at(k, count()));
      out_.write("bra", {after_});
    }
  }

  void go_on() {
    out_.place(after_);
    for (std::size_t point = 0; point < points_.size(); ++point)
      for (unsigned k = 1; k < copies_at(point); ++k) {
        const Reg is_next = predicate();
        out_.write("setp.eq.u32", {&is_next, &next_, number_of(point, k)});
        out_.write_if(is_next, false, "bra", {points_[point].labels[k]});
      }
    out_.write("ret", {});
  }

  const Module &module_;
  const Function &kernel_;
  const Proposal &proposal_;
  const RetileForm form_;
  const unsigned copies_;
  const RetileNames names_;
  const std::vector<bool> shared_;
  const std::vector<bool> first_; ///< by instruction
  const ControlFlowGraph cfg_;
  const Liveness liveness_;
  std::vector<MergedLoad> merged_;
  CodeWriter out_;
  std::vector<std::vector<Reg>> fast_;  ///< by copy and register
  std::vector<std::vector<Reg>> alone_; ///< the same for a copy that goes on alone
  std::map<RegisterId, Reg> own_;
  std::vector<Reg> indices_;       ///< of the copies' blocks, or of their threads
  Reg extent_, next_;              ///< of the kernel's grid, or of its block
  std::vector<Renaming> together_; ///< by copy
  unsigned predicates_ = 0;
  std::vector<Point> points_;
  std::map<std::uint32_t, WrittenLabel> fast_labels_; ///< by instruction
  std::array<std::map<std::uint32_t, WrittenLabel>, max_retile_factor> alone_labels_;
  WrittenLabel after_;
};

} // namespace

std::string write_retile(const Module &module, const Function &kernel, const Proposal &proposal) {
  return RetileWriter(module, kernel, proposal).run();
}

} // namespace ptxasw
