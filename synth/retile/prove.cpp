// The proof of a re-tiled kernel, from its text.
//
// Let the sibling's block b run beside the kernel's blocks b*K .. b*K+K-1, thread by thread with
// the same tid; of kind "neighbours", thread t of a block beside threads t*K .. t*K+K-1 of the same
// block, which is K times as long. What follows speaks of blocks, and holds for threads with %tid
// in place of %ctaid and %ntid in place of %nctaid. The claim is a relation between the two that
// holds at every step:
//
//   together at instruction i: all K copies stand before instruction i of the kernel, and each of
//     the sibling's registers for copy k holds what the kernel's register holds there;
//   alone at instruction i: the same for one copy k, except that registers that shared.cpp shows to
//     be the same in all copies may have a stand-in; copies below k have ended, those above stand
//     where lockstep was left, with the registers that are of use to them untouched.
//
// It holds at the start, and what is shown is that every step keeps it. The sibling is walked
// beside the kernel, from its entry, over pairs of positions. In a step together each instruction
// of the kernel must be there once for each copy, in order, spelled the same under the copy's
// renaming with %ctaid as b*K+k and %nctaid as the kernel's grid; or once for all, where it writes
// only shared registers, or for each row or column of copies that share them. (As the copies'
// registers are different ones, the order of instructions of different copies matters to memory
// alone, and there it is free, since the blocks are independent, which is checked again here.) At a
// branch by a predicate that may differ, the added code is run for three outcomes: taken by all,
// and by none, must lead on together, by some to copy 0 alone at that branch, and from the end of
// copy k to copy k+1, to the end after the last. Lockstep may be left anywhere in that way. The
// entry is such a place, too: for each number of blocks that lie inside the grid, exactly these
// must run.
//
// Instructions that shared.cpp shows to compute, whenever they run, the only value that a shared
// register ever gets (done_first()) stand once at the entry and nowhere else: the register then
// always holds what the kernel's does or will.
//
// A copy that is alone runs on its own registers, which no other copy writes, and on the shared
// ones. One of these that is still of use where lockstep was left, to this copy or to one that
// waits, is either written nowhere from there on, or has a stand-in that is filled from it when
// each copy's turn comes. The copy may also run instructions again that give its registers what
// they hold (recompute.cpp).
//
// Barriers and shared memory, of blocks that stay whole. A step together at a barrier is one
// barrier of the sibling's, and stands for one of each copy; alone, each copy has its own. The
// threads of a block come to the sibling's barriers alike (meeting.cpp), so whenever one of them is
// passed, all threads of the copies concerned are at the same one of the kernel's. Between two of
// them, what several threads of a copy do to its shared memory is ordered by nothing but each
// thread's own order, which is kept, so any interleaving with other copies is one that the block
// could have had by itself: a copy's instructions touch only its own variables (rooms.cpp), checked
// here to be other ones for each copy, of the same size. Where copies part while barriers follow
// and other threads may be in lockstep, they do not go on to their ends: from this branch each goes
// alone, one after the other, to where all ways meet, with no barrier before it; no register that
// copies share is written there, so all are together again.
//
// So every copy does what its block did, once, up to its end, and nothing else is done: what is
// neither a copy's instruction nor added code that replay.cpp understands stops the proof. The
// names of the registers are a hint at the renaming; only that registers of different names are
// different is taken from them.

#include "emulator/semantics/effects.h"
#include "grammar/cfg.h"
#include "grammar/liveness.h"
#include "grammar/roles.h"
#include "synth/retile/meeting.h"
#include "synth/retile/merge.h"
#include "synth/retile/obstacle.h"
#include "synth/retile/recompute.h"
#include "synth/retile/replay.h"
#include "synth/retile/retile.h"
#include "synth/retile/rooms.h"
#include "synth/vectorise/vectorise.h"
#include "synth/vectorise/wide.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>
#include <unordered_map>

namespace ptxasw::inline synth {
namespace {

/// Thrown where the proof stops; caught in prove_retile().
struct NotProved {
  std::string why;
};

class RetileProof {
public:
  RetileProof(const Module &module, const Function &kernel, const Function &sibling,
              const RetileForm &form, WidePlan plan)
      : module_(module), kernel_(kernel), sibling_(sibling), form_(form), copies_(form.total()),
        sharing_(module, kernel, form), shared_(sharing_.by_all()),
        first_(done_first(module, kernel, shared_)), cfg_(module, kernel),
        liveness_(module, kernel, cfg_),
        recomputation_(module, kernel, cfg_, liveness_, sharing_.by_some()),
        roles_(sibling.registers.size()), replay_(module, sibling, roles_, form),
        merged_(form.merges() ? merged_loads(module, kernel, form) : std::vector<MergedLoad>()),
        plan_(std::move(plan)), rooms_(rooms_of(module, kernel)) {}

  void run() {
    check_header();
    assign_roles();
    find_definitions();
    enter();
    while (!together_.empty()) {
      const auto [mine, theirs] = together_.back();
      together_.pop_back();
      step_together(mine, theirs);
    }
  }

private:
  using Position = std::uint32_t;

  [[noreturn]] static void fail(std::string why) { throw NotProved{std::move(why)}; }
  [[noreturn]] void fail_at(Position mine, std::string_view why) const {
    const auto &list = sibling_.instructions;
    fail(fmt::format("line {}: {}", mine < list.size() ? list[mine].line : 0, why));
  }
  void require(bool condition, Position mine, std::string_view why) const {
    if (!condition)
      fail_at(mine, why);
  }

  Position kernel_end() const { return static_cast<Position>(kernel_.instructions.size()); }
  bool ends(Position theirs) const {
    return theirs >= kernel_end() || (kernel_.instructions[theirs].guard == no_register &&
                                      ends_thread(module_.opcode(kernel_.instructions[theirs])));
  }
  /// Over branches of the kernel that are always taken, and over what has been done at the entry.
  Position skip_kernel(Position theirs) const {
    for (Position steps = 0; steps <= kernel_end(); ++steps) {
      if (theirs >= kernel_end())
        return theirs;
      const Instruction &instruction = kernel_.instructions[theirs];
      if (first_[theirs])
        ++theirs;
      else if (module_.opcode(instruction).op == Op::bra && instruction.guard == no_register)
        theirs = target_of(instruction);
      else
        return theirs;
    }
    fail("the kernel has a loop without an end");
  }
  Position target_of(const Instruction &instruction) const {
    if (ends_thread(module_.opcode(instruction)))
      return kernel_end();
    const auto target = branch_target(module_, kernel_, instruction);
    if (!target)
      fail("a branch of the kernel is not understood");
    return *target;
  }
  bool is_jump(const Instruction &instruction) const {
    const Opcode &opcode = module_.opcode(instruction);
    return opcode.op == Op::bra || ends_thread(opcode);
  }

  // --- What surrounds the code ---

  void check_header() const {
    if (!sibling_.is_entry || !sibling_.has_body || sibling_.linkage != kernel_.linkage)
      fail("it is no entry like the kernel");
    const std::size_t own = kernel_.parameters.size();
    if (sibling_.parameters.size() != own + form_.divides_grid())
      fail("it has other parameters");
    // To the letter: `.ptr .align` is a promise about what is pointed at, and no other may be made.
    for (std::size_t i = 0; i < own; ++i)
      if (module_.text(kernel_.parameters[i].span) != module_.text(sibling_.parameters[i].span))
        fail("a parameter is another");
    if (form_.divides_grid())
      if (const Variable &grid = sibling_.parameters.back();
          grid.type != ScalarType::u32 || grid.size() != 4 || grid.alignment > 4)
        fail("the appended parameter is not the grid's extent");
    if (sibling_.scopes.size() != 1 || !sibling_.target_lists.empty() ||
        !sibling_.return_parameters.empty())
      fail("it declares more than registers and variables");
    check_rooms();
    for (const Pragma &pragma : sibling_.pragmas)
      if (pragma.text != "nounroll")
        fail("a pragma is not known");
    // Its warps are not the kernel's, so nothing is known of what lanes agree on.
    for (Position i = 0; i < sibling_.instructions.size(); ++i)
      require(sibling_.instructions[i].guard == no_register ||
                  !wants_agreement(module_.opcode(sibling_.instructions[i])),
              i, "a branch on which lanes must agree");
    // What bounds the block must be there as it was: more would refuse launches. A limit of the
    // registers changes nothing but the time.
    for (const PerformanceDirective &directive : sibling_.directives) {
      if (directive.name == "maxnreg")
        continue;
      const PerformanceDirective *const own_directive = kernel_.directive(directive.name);
      if (!own_directive || !std::equal(std::begin(directive.values), std::end(directive.values),
                                        std::begin(own_directive->values)))
        fail("a directive is not the kernel's");
    }
  }

  // A variable for each copy in place of each of the kernel's.
  void check_rooms() const {
    if (sibling_.variables.size() != rooms_.size() * copies_)
      fail("it has not one variable for each copy");
    if (bytes_of(rooms_, copies_) > most_shared_bytes)
      fail("it has too much shared memory");
    for (std::size_t i = 0; i < sibling_.variables.size(); ++i) {
      const Variable &variable = sibling_.variables[i];
      const Room &room = rooms_[i / copies_];
      if (variable.space != StateSpace::shared || variable.linkage != Linkage::internal ||
          variable.size() != room.bytes || variable.initializer.size() != 0 ||
          variable.alignment % room.alignment != 0 || variable.alignment == 0)
        fail("a variable is not like the kernel's");
    }
  }

  void assign_roles() {
    std::unordered_map<std::string_view, RegisterId> by_name;
    for (RegisterId reg = 0; reg < sibling_.registers.size(); ++reg)
      if (!by_name.try_emplace(sibling_.registers[reg].name, reg).second)
        fail("two registers have one name");
    const RetileNames names(kernel_);
    const auto find = [&](const std::string &name, RegisterId kernel_register, ReplayRole role) {
      const auto found = by_name.find(name);
      if (found == by_name.end())
        return no_register; // nothing mentions it
      const Register &own = kernel_.registers[kernel_register];
      const Register &here = sibling_.registers[found->second];
      if (own.type != here.type || own.vector != here.vector)
        fail("a register has another type");
      role.reg = kernel_register;
      roles_[found->second] = role;
      return found->second;
    };
    fast_.resize(copies_);
    for (RegisterId reg = 0; reg < kernel_.registers.size(); ++reg) {
      using Kind = ReplayRole::Kind;
      for (unsigned k = 0; k < copies_; ++k) {
        const unsigned keeper = sharing_.keeper(reg, k);
        fast_[k].push_back(keeper < k     ? fast_[keeper][reg]
                           : shared_[reg] ? find(names.shared(reg), reg, {Kind::shared})
                                          : find(names.copy(k, reg), reg, {Kind::copy, k}));
      }
      own_.push_back(sharing_.by_some()[reg] ? find(names.own(reg), reg, {Kind::own})
                                             : no_register);
    }
    alone_ = fast_;
    for (std::vector<RegisterId> &registers : alone_)
      for (RegisterId reg = 0; reg < registers.size(); ++reg)
        if (own_[reg] != no_register)
          registers[reg] = own_[reg];
    const auto control = [&](const std::string &name) {
      const auto found = by_name.find(name);
      return found == by_name.end() ? no_register : found->second;
    };
    next_ = control(RetileNames::next);
    for (std::size_t load = 0; load < plan_.loads.size(); ++load) {
      wide_.emplace_back();
      const WideLoad &wide = plan_.loads[load];
      for (unsigned e = 0; e < wide.elements; ++e) {
        const RegisterId reg = control(RetileNames::wide(load, e));
        const Register &value =
            kernel_.registers[wide_value(module_, kernel_, wide.at.instruction)];
        if (reg == no_register || sibling_.registers[reg].type != value.type ||
            sibling_.registers[reg].vector != 1)
          fail("a register of a wide load is missing");
        roles_[reg] = {ReplayRole::Kind::wide};
        wide_.back().push_back(reg);
      }
    }
  }

  void find_definitions() {
    definitions_.resize(sibling_.registers.size());
    for (Position i = 0; i < sibling_.instructions.size(); ++i)
      for_each_register(module_, sibling_.instructions[i], [&](RegisterId reg, RegisterUse use) {
        if (use != RegisterUse::read)
          definitions_[reg].push_back(i);
      });
  }

  // --- Clones ---

  struct View {
    const std::vector<RegisterId> &registers; ///< by the kernel's
    std::uint32_t copy = 0;
  };

  bool same_special(const Operand &theirs, const Operand &mine, const View &view) const {
    const std::string_view name = module_.text(theirs.span);
    const auto instead = instead_of(name, view.copy);
    if (!instead)
      return mine.kind == Operand::Kind::special && module_.text(mine.span) == name;
    if (mine.kind != Operand::Kind::reg || mine.selector != 0 || mine.negated)
      return false;
    const auto known = known_.find(mine.reg);
    return known != known_.end() && known->second == *instead;
  }

  /// What a copy has in place of a special register; nothing if it has that itself.
  std::optional<ReplayValue> instead_of(std::string_view special, unsigned copy) const {
    using Kind = ReplayValue::Kind;
    if (form_.copies > 1 && special == form_.index())
      return ReplayValue{Kind::index, form_.row_of(copy), form_.copies};
    if (form_.copies > 1 && special == form_.extent())
      return ReplayValue{Kind::extent, 0, form_.within_block() ? form_.copies : 1};
    if (form_.along_x == 1)
      return std::nullopt;
    // A point is a block of one thread.
    const unsigned column = form_.column_of(copy);
    if (special == "%ctaid.x")
      return ReplayValue{column < form_.shift ? Kind::around : Kind::flat, column - form_.shift,
                         form_.along_x};
    if (special == "%ntid.x" || special == "%tid.x")
      return ReplayValue{Kind::number, special == "%ntid.x"};
    if (special == "%nctaid.x")
      return ReplayValue{Kind::points, 0, form_.along_x};
    return std::nullopt;
  }

  bool same_operand(const Operand &theirs, const Operand &mine, const View &view) const {
    if (theirs.kind == Operand::Kind::special)
      return same_special(theirs, mine, view);
    if (theirs.kind != mine.kind || theirs.negated != mine.negated ||
        theirs.selector != mine.selector || theirs.real_type != mine.real_type ||
        theirs.value != mine.value || theirs.child_count != mine.child_count)
      return false;
    if (theirs.kind == Operand::Kind::other)
      return false;
    if (theirs.kind == Operand::Kind::reg)
      return view.registers[theirs.reg] == mine.reg && mine.reg != no_register;
    if (theirs.kind == Operand::Kind::symbol)
      return same_symbol(module_.symbol(theirs), module_.symbol(mine), view.copy);
    const auto a = module_.children(theirs), b = module_.children(mine);
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!same_operand(a[i], b[i], view))
        return false;
    return true;
  }

  bool same_symbol(const Symbol &theirs, const Symbol &mine, unsigned copy) const {
    for (std::size_t room = 0; room < rooms_.size(); ++room)
      if (rooms_[room].symbol == theirs)
        return mine.kind == Symbol::Kind::function_variable &&
               &module_.functions[mine.function] == &sibling_ &&
               mine.index == room * copies_ + copy;
    if (theirs.kind != mine.kind || theirs.kind == Symbol::Kind::other ||
        theirs.kind == Symbol::Kind::function_variable)
      return false;
    return theirs.index == mine.index; // parameters by position, all else in the module
  }

  void require_clone(Position theirs, Position mine, const View &view) const {
    require(mine < sibling_.instructions.size(), mine, "an instruction is missing");
    const Instruction &a = kernel_.instructions[theirs], &b = sibling_.instructions[mine];
    const auto left = module_.operands(a), right = module_.operands(b);
    const bool same_guard = a.guard == no_register
                                ? b.guard == no_register
                                : b.guard != no_register && view.registers[a.guard] == b.guard &&
                                      a.guard_negated == b.guard_negated;
    bool same = same_guard && a.well_formed && b.well_formed && a.opcode == b.opcode &&
                left.size() == right.size();
    for (std::size_t i = 0; same && i < left.size(); ++i)
      same = same_operand(left[i], right[i], view);
    require(same, mine, "not what the kernel does there");
  }

  // A branch by a copy's own predicate; where it leads.
  Position require_branch(Position theirs, Position mine, const View &view) const {
    require(mine < sibling_.instructions.size(), mine, "an instruction is missing");
    const Instruction &a = kernel_.instructions[theirs], &b = sibling_.instructions[mine];
    const auto target = branch_target(module_, sibling_, b);
    require(target && b.guard != no_register && b.guard == view.registers[a.guard] &&
                b.guard_negated == a.guard_negated,
            mine, "not the branch that the kernel has there");
    return *target;
  }

  // --- Together ---

  ReplayEnd replay(Position mine, ReplayState &state,
                   const ReplayAssumption &assumption = {}) const {
    const auto end = replay_.run(mine, state, assumption);
    require(end.has_value(), mine, "added code is not understood");
    return *end;
  }

  /// The pair is to be examined: all copies go on at `theirs`, the sibling at `mine`.
  void go_on_together(Position mine, Position theirs) {
    ReplayState state = known_;
    arrive_together(replay(mine, state), theirs);
  }

  void arrive_together(const ReplayEnd &end, Position theirs) {
    theirs = skip_kernel(theirs);
    require(end.exit == ends(theirs), end.position, "the thread ends elsewhere");
    if (!end.exit && seen_together_.insert({end.position, theirs}).second)
      together_.emplace_back(end.position, theirs);
  }

  void step_together(Position mine, Position theirs) {
    const Instruction &instruction = kernel_.instructions[theirs];
    if (is_jump(instruction)) {
      if (shared_[instruction.guard] || copies_ == 1)
        branch_at_once(mine, theirs);
      else
        branch_by_all(mine, theirs);
      return;
    }
    go_on_together(by_each(mine, theirs), theirs + 1);
  }

  /// An instruction of the kernel for each copy; what comes next.
  Position by_each(Position mine, Position theirs) {
    const Instruction &own = kernel_.instructions[theirs];
    for (const WideTest &test : plan_.tests)
      if (test.instruction == theirs)
        mine = require_test(mine, test);
    for (unsigned k = 0; k < copies_;) {
      if (sharing_.keeper(own, k) != k) {
        ++k;
        continue;
      }
      mine = require_wide_loads(mine, {theirs, k});
      const WideStore *const store = plan_.store({theirs, k});
      if (const WidePart *const part = plan_.part({theirs, k}))
        require(is_mov(mine, fast_[k][loaded(theirs)], wide_[part->wide][part->element]), mine,
                "not the element of the wide load");
      else if (store)
        require_wide_store(mine, *store);
      else if (sharing_.is_shared(own) || !is_merged(theirs, mine, k))
        require_clone(theirs, mine, {fast_[k], k});
      ++mine;
      k += store ? store->elements : 1;
    }
    return mine;
  }

  // --- What is wide ---

  bool is_reg(const Operand &operand, RegisterId reg) const {
    return operand.kind == Operand::Kind::reg && operand.selector == 0 && !operand.negated &&
           operand.reg == reg && reg != no_register;
  }
  /// What the added code may write and forget.
  bool is_control(const Operand &operand, ScalarType type) const {
    return operand.kind == Operand::Kind::reg && operand.selector == 0 && !operand.negated &&
           roles_[operand.reg].kind == ReplayRole::Kind::control &&
           sibling_.registers[operand.reg].type == type && !known_.contains(operand.reg);
  }
  RegisterId loaded(Position load) const {
    return module_.operands(kernel_.instructions[load])[0].reg;
  }

  const Instruction &at(Position mine) const {
    require(mine < sibling_.instructions.size(), mine, "an instruction is missing");
    return sibling_.instructions[mine];
  }

  // Lockstep is left unless two copies' addresses are as far apart as the plan says.
  Position require_test(Position mine, const WideTest &test) {
    const RegisterId base = wide_address(module_, kernel_, test.instruction).base;
    const Instruction &difference = at(mine), &compare = at(mine + 1), &branch = at(mine + 2);
    const auto d = module_.operands(difference), c = module_.operands(compare);
    require(difference.well_formed && difference.guard == no_register &&
                module_.opcode(difference).text == "sub.s64" && d.size() == 3 &&
                is_control(d[0], ScalarType::b64) && is_reg(d[1], fast_[test.high][base]) &&
                is_reg(d[2], fast_[test.low][base]),
            mine, "not the distance of two copies' addresses");
    require(compare.well_formed && compare.guard == no_register &&
                module_.opcode(compare).text == "setp.ne.s64" && c.size() == 3 &&
                is_control(c[0], ScalarType::pred) && is_reg(c[1], d[0].reg) &&
                c[2].kind == Operand::Kind::integer &&
                static_cast<std::uint64_t>(c[2].value) == test.distance,
            mine + 1, "not the test of a distance");
    const auto target = branch_target(module_, sibling_, branch);
    require(target && branch.guard == c[0].reg && !branch.guard_negated, mine + 2,
            "the test does not decide");
    ReplayState state = known_;
    const ReplayEnd end = replay(*target, state);
    leave(end, state, test.instruction);
    return mine + 3;
  }

  Position require_wide_loads(Position mine, const Instance &instance) const {
    for (std::size_t load = 0; load < plan_.loads.size(); ++load) {
      if (plan_.loads[load].at != instance)
        continue;
      require_wide(mine, instance, plan_.loads[load].displacement, wide_[load]);
      ++mine;
    }
    return mine;
  }

  void require_wide_store(Position mine, const WideStore &store) const {
    std::vector<RegisterId> values;
    for (unsigned e = 0; e < store.elements; ++e)
      values.push_back(
          fast_[store.first.copy + e][wide_value(module_, kernel_, store.first.instruction)]);
    require_wide(mine, store.first, 0, values);
  }

  // One access of several values, like an instance's own.
  void require_wide(Position mine, const Instance &instance, std::int64_t displacement,
                    const std::vector<RegisterId> &values) const {
    const Instruction &instruction = at(mine);
    const Opcode &own = module_.opcode(kernel_.instructions[instance.instruction]);
    const auto operands = module_.operands(instruction);
    const auto count = static_cast<unsigned>(values.size());
    require(instruction.well_formed && instruction.guard == no_register && operands.size() == 2 &&
                module_.opcode(instruction).text == wide_opcode(own, count),
            mine, "not the wide access");
    const bool is_store = own.op == Op::st;
    const Operand &value = operands[is_store ? 1 : 0], &address = operands[is_store ? 0 : 1];
    const auto list = count == 1 ? std::span(&value, 1) : module_.children(value);
    bool same = (count == 1 || value.kind == Operand::Kind::vector) && list.size() == count;
    for (unsigned e = 0; same && e < count; ++e)
      same = is_reg(list[e], values[e]);
    require(same, mine, "not the values of the wide access");
    const BaseAndBytes where = wide_address(module_, kernel_, instance.instruction);
    require(address.kind == Operand::Kind::address &&
                is_reg(module_.children(address)[0], fast_[instance.copy][where.base]) &&
                address.value == where.bytes + displacement,
            mine, "not where the wide access is");
  }

  bool is_mov(Position mine, RegisterId to, RegisterId from) const {
    const Instruction &instruction = at(mine);
    const auto operands = module_.operands(instruction);
    const Opcode &opcode = module_.opcode(instruction);
    return to != no_register && instruction.well_formed && instruction.guard == no_register &&
           opcode.op == Op::mov && opcode.modifiers.size() == 1 && operands.size() == 2 &&
           is_reg(operands[0], to) && is_reg(operands[1], from) &&
           bit_width(opcode.type) == bit_width(sibling_.registers[to].type);
  }

  /// Returns true if in place of copy k's load there is a mov from where merge.cpp shows its value
  /// to be.
  bool is_merged(Position theirs, Position mine, unsigned k) const {
    const auto merged = std::find_if(merged_.begin(), merged_.end(), [&](const MergedLoad &one) {
      return one.load == theirs && one.copy == k;
    });
    if (merged == merged_.end() || mine >= sibling_.instructions.size())
      return false;
    return is_mov(mine, fast_[k][loaded(theirs)], fast_[merged->from_copy][loaded(merged->from)]);
  }

  void branch_at_once(Position mine, Position theirs) {
    const Instruction &a = kernel_.instructions[theirs], &b = sibling_.instructions[mine];
    require(is_jump(b) && b.guard != no_register && b.guard == fast_[0][a.guard] &&
                a.guard_negated == b.guard_negated,
            mine, "not the branch that the kernel has there");
    if (ends_thread(module_.opcode(b))) {
      arrive_together({mine, true}, target_of(a));
    } else {
      const auto target = branch_target(module_, sibling_, b);
      require(target.has_value(), mine, "a branch is not understood");
      go_on_together(*target, target_of(a));
    }
    go_on_together(mine + 1, theirs + 1);
  }

  void branch_by_all(Position mine, Position theirs) {
    const Instruction &instruction = kernel_.instructions[theirs];
    for (const ReplayOutcome outcome :
         {ReplayOutcome::none, ReplayOutcome::some, ReplayOutcome::all}) {
      ReplayState state = known_;
      for (unsigned k = 0; k < copies_; ++k) {
        const RegisterId guard = fast_[k][instruction.guard];
        require(guard != no_register, mine, "a copy's predicate is not asked");
        state[guard].kind = ReplayValue::Kind::each_of;
        state[guard].number |= 1u << k;
      }
      const ReplayEnd end = replay(mine, state, {.outcome = outcome});
      if (const Detour *detour = sharing_.detour(theirs); detour && outcome == ReplayOutcome::some)
        meet_again(end, *detour);
      else if (outcome == ReplayOutcome::some)
        leave(end, state, theirs);
      else if ((outcome == ReplayOutcome::all) != instruction.guard_negated)
        arrive_together(end, target_of(instruction));
      else
        arrive_together(end, theirs + 1);
    }
  }

  // The copies part, and each goes alone to where they meet.
  void meet_again(const ReplayEnd &end, const Detour &detour) {
    require(!end.exit, end.position, "a copy is not finished");
    const std::vector<bool> written = written_in(module_, kernel_, detour.inside, first_);
    for (RegisterId reg = 0; reg < written.size(); ++reg)
      require(!written[reg] || !sharing_.by_some()[reg], end.position,
              "a register that the copies share is written by one");
    Position mine = end.position;
    for (unsigned k = 0; k < copies_; ++k)
      mine = on_detour(mine, detour, k);
    go_on_together(mine, detour.end);
  }

  // One copy from the branch to the end of the detour; where that is.
  Position on_detour(Position mine, const Detour &detour, unsigned k) const {
    std::set<std::pair<Position, Position>> seen;
    std::vector<std::pair<Position, Position>> open;
    std::optional<Position> after;
    const auto add = [&](Position m, Position t) {
      const auto skipped = replay_.skip(m);
      require(skipped.has_value(), m, "a loop without an end");
      for (Position steps = 0; t != detour.end && t < kernel_end() && steps <= kernel_end();
           ++steps) {
        const Instruction &instruction = kernel_.instructions[t];
        if (first_[t])
          ++t;
        else if (module_.opcode(instruction).op == Op::bra && instruction.guard == no_register)
          t = target_of(instruction);
        else
          break;
      }
      if (t == detour.end) {
        require(!after || *after == *skipped, m, "copies meet elsewhere");
        after = *skipped;
        return;
      }
      require(t < kernel_end() && detour.inside[t], m, "the way leads elsewhere");
      if (seen.insert({*skipped, t}).second)
        open.emplace_back(*skipped, t);
    };
    add(mine, detour.branch);
    while (!open.empty()) {
      const auto [m, t] = open.back();
      open.pop_back();
      const Instruction &instruction = kernel_.instructions[t];
      require(!is_barrier(instruction), m, "a barrier on the way of one copy");
      if (!is_jump(instruction)) {
        require_clone(t, m, {fast_[k], k});
        add(m + 1, t + 1);
        continue;
      }
      const auto target = require_branch(t, m, {fast_[k], k});
      add(target, target_of(instruction));
      add(m + 1, t + 1);
    }
    require(after.has_value(), mine, "a copy never meets the others");
    return *after;
  }

  bool is_barrier(const Instruction &instruction) const {
    const Op op = module_.opcode(instruction).op;
    return op == Op::bar || op == Op::barrier;
  }

  // The copies part. What was added may test things again that only held there.
  void leave(const ReplayEnd &end, ReplayState &state, Position theirs) {
    std::erase_if(state, [](const auto &entry) {
      return entry.second.kind == ReplayValue::Kind::truth ||
             entry.second.kind == ReplayValue::Kind::each_of ||
             entry.second.kind == ReplayValue::Kind::all_of ||
             entry.second.kind == ReplayValue::Kind::any_of;
    });
    one_by_one(end, state, theirs, copies_);
  }

  // --- Alone ---

  // The first `count` copies go on from `theirs` one after the other, beginning at `end`.
  void one_by_one(ReplayEnd end, ReplayState state, Position theirs, unsigned count,
                  const ReplayAssumption &assumption = {}) {
    const auto live = recomputation_.needed(theirs);
    const auto again = recomputation_.at(theirs);
    const auto written =
        written_in(module_, kernel_, reachable_from(module_, kernel_, {theirs}), first_);
    for (unsigned k = 0; k < count; ++k) {
      require(!end.exit, end.position, "a copy is not finished");
      for (const RegisterId reg : live)
        require(!sharing_.by_some()[reg] ||
                    (own_[reg] == no_register ? !written[reg] : is_taken_over(state, reg, k)),
                end.position, "a register that the copies share is not kept");
      // What gives registers of this copy the values that they have already.
      Position mine = end.position;
      for (const Position position : again)
        require_clone(position, mine++, {alone_[k], k});
      end = replay(mine, state, assumption);
      require(!end.exit, end.position, "a copy is not finished");
      const auto next = state.find(next_);
      require(next != state.end(), end.position, "what comes after a copy is not known");
      alone(end.position, theirs, k);
      require(after_[k].has_value(), end.position, "a copy never ends");
      ReplayState later = known_;
      later[next_] = next->second;
      end = replay(*after_[k], later, assumption);
      state = std::move(later);
    }
    require(end.exit, end.position, "more is done than the copies do");
  }

  bool is_taken_over(const ReplayState &state, RegisterId reg, unsigned k) const {
    const auto found = state.find(own_[reg]);
    return found != state.end() &&
           found->second == ReplayValue{ReplayValue::Kind::copied, sharing_.keeper(reg, k), 0, reg};
  }

  // One copy from a pair of positions to its end.
  void alone(Position mine, Position theirs, unsigned k) {
    std::vector<std::pair<Position, Position>> open;
    const auto add = [&](Position m, Position t) {
      const auto skipped = replay_.skip(m);
      require(skipped.has_value(), m, "a loop without an end");
      t = skip_kernel(t);
      if (ends(t)) {
        require(!after_[k] || *after_[k] == *skipped, m, "a copy ends elsewhere");
        after_[k] = *skipped;
      } else if (seen_alone_[k].insert({*skipped, t}).second) {
        open.emplace_back(*skipped, t);
      }
    };
    add(mine, theirs);
    while (!open.empty()) {
      const auto [m, t] = open.back();
      open.pop_back();
      const Instruction &instruction = kernel_.instructions[t];
      if (!is_jump(instruction)) {
        require_clone(t, m, {alone_[k], k});
        add(m + 1, t + 1);
        continue;
      }
      const Position target = require_branch(t, m, {alone_[k], k});
      add(target, target_of(instruction));
      add(m + 1, t + 1);
    }
  }

  // --- The entry ---

  void enter() {
    // What the straight line at the entry leaves in registers that are written nowhere else.
    Position first_jump = 0;
    while (first_jump < sibling_.instructions.size() && !is_jump(sibling_.instructions[first_jump]))
      ++first_jump;
    ReplayState state;
    const ReplayEnd start = replay(0, state);
    require(!start.exit, start.position, "the thread ends at once");
    for (const auto &[reg, value] : state)
      if (definitions_[reg].size() == 1 && definitions_[reg][0] < first_jump)
        known_.emplace(reg, value);
    Position mine = start.position;
    for (Position theirs = 0; theirs < kernel_end(); ++theirs)
      if (first_[theirs])
        require_clone(theirs, mine++, {fast_[0], 0});
    // The sibling's grid being the kernel's divided and rounded up, its first block is inside.
    for (unsigned inside = 1; form_.divides_grid() && inside < form_.copies; ++inside) {
      ReplayState from = known_;
      const ReplayAssumption assumption{.inside = inside};
      const ReplayEnd end = replay(mine, from, assumption);
      one_by_one(end, from, 0, inside * form_.along_x, assumption);
    }
    ReplayAssumption all;
    if (form_.divides_grid())
      all.inside = form_.copies;
    if (form_.shift > 0) { // the first thread's points are not beside each other
      ReplayState from = known_;
      all.first = true;
      const ReplayEnd end = replay(mine, from, all);
      one_by_one(end, from, 0, copies_);
      all.first = false;
    }
    ReplayState from = known_;
    arrive_together(replay(mine, from, all), 0);
  }

  const Module &module_;
  const Function &kernel_, &sibling_;
  const RetileForm form_;
  const unsigned copies_;
  const Sharing sharing_;
  const std::vector<bool> &shared_; ///< by all copies
  const std::vector<bool> first_;   ///< by instruction of the kernel
  const ControlFlowGraph cfg_;
  const Liveness liveness_;
  const Recomputation recomputation_;
  std::vector<ReplayRole> roles_;
  const Replay replay_;
  const std::vector<MergedLoad> merged_;
  const WidePlan plan_;
  const std::vector<Room> rooms_;
  std::vector<std::vector<RegisterId>> wide_;  ///< by wide load and element
  std::vector<std::vector<RegisterId>> fast_;  ///< by copy and register of the kernel's
  std::vector<std::vector<RegisterId>> alone_; ///< the same where a copy is alone
  std::vector<RegisterId> own_;                ///< stand-ins of shared registers
  RegisterId next_ = no_register;
  std::vector<std::vector<Position>> definitions_; ///< by register of the sibling
  ReplayState known_;
  std::vector<std::pair<Position, Position>> together_;
  std::set<std::pair<Position, Position>> seen_together_;
  std::array<std::set<std::pair<Position, Position>>, max_copies> seen_alone_; ///< by copy
  std::array<std::optional<Position>, max_copies> after_; ///< by copy: where it goes at its end
};

} // namespace

std::string prove_retile(const Module &written, const Function &kernel, const Function &sibling,
                         const Proposal &proposal) {
  const Sibling &claim = proposal.sibling;
  try {
    // What the table says is what is proved.
    auto form = retile_form(claim);
    if (!form)
      return form.error();
    const bool whole = form->kind == RetileForm::Kind::apart && form->along_x == 1 && !form->wide;
    if (const auto obstacle =
            retile_obstacle(written, kernel, whole ? Blocks::whole : Blocks::spread))
      return fmt::format("the kernel must not be re-tiled: {}", obstacle->meaning);
    if (claim.needs.dynamic_shared != 0 && !rooms_of(written, kernel).empty())
      return "a launch with dynamic shared memory may find too little";
    if ((form->within_block() || form->along_x > 1) && !may_be_spread(written, kernel))
      return "the threads of a block must not be spread differently";
    if (form->along_x > 1 && !only_global_index(written, kernel))
      return "more than the global index along x matters";
    form->shift = wide_shift(written, kernel, form->along_x);
    WidePlan plan;
    if (form->wide)
      plan = WidePlanner(written, kernel, *form).plan(claim.needs);
    RetileProof(written, kernel, sibling, *form, std::move(plan)).run();
  } catch (const NotProved &stop) {
    return stop.why;
  }
  return "";
}

} // namespace ptxasw::synth
