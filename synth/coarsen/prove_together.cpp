// A step of all copies: each instruction for each of them, or once for all, a mov in place of a
// load that another copy has done, one wide access for several; and branches, which lead on
// together, or part the copies. Before that the entry, where the first step begins.

#include "synth/coarsen/prove_together.h"

#include "grammar/roles.h"
#include "synth/coarsen/coarsen.h"

#include <algorithm>
#include <bit>
#include <fmt/core.h>

namespace ptxasw::synth {

void CoarsenProof::enter() {
  // What the straight line at the entry leaves in registers that are written nowhere else.
  Position first_jump = 0;
  while (first_jump < sibling_.instructions.size() && !is_jump(sibling_.instructions[first_jump]))
    ++first_jump;
  std::vector<std::vector<Position>> definitions(sibling_.registers.size());
  for (Position i = 0; i < sibling_.instructions.size(); ++i)
    for_each_register(module_, sibling_.instructions[i], [&](RegisterId reg, RegisterUse use) {
      if (use != RegisterUse::read)
        definitions[reg].push_back(i);
    });
  ReplayState state;
  const ReplayEnd start = replay(0, state, nothing_);
  require(!start.exit, start.position, "the thread ends at once");
  for (const auto &[reg, value] : state)
    if (definitions[reg].size() == 1 && definitions[reg][0] < first_jump &&
        roles_[reg].kind != ReplayRole::Kind::own) // what it is filled from may change
      known_.emplace(reg, value);
  check_places();
  Position mine = start.position;
  for (Position theirs = 0; theirs < kernel_end(); ++theirs)
    if (first_[theirs])
      require_clone(theirs, mine++, together_[0]);
  // The sibling's grid being the kernel's divided and rounded up, its first block is inside.
  for (unsigned inside = 1; form_.divides_grid() && inside < form_.copies; ++inside) {
    ReplayState from = known_;
    const Known known = known_inside(inside);
    const ReplayEnd end = replay(mine, from, known);
    copies_alone_.one_by_one(end, from, 0, inside * form_.along_x, known, known_);
  }
  Known all = known_inside(form_.copies);
  if (form_.shift > 0) { // the first thread's points are not beside each other
    ReplayState from = known_;
    Known first = all;
    first.assume(is_first(), true);
    const ReplayEnd end = replay(mine, from, first);
    copies_alone_.one_by_one(end, from, 0, copies_, nothing_, known_);
    all.assume(is_first(), false);
  }
  ReplayState from = known_;
  arrive_together(replay(mine, from, all), 0);
}

// That so many of the sibling's blocks lie within the grid, the first ones.
Known CoarsenProof::known_inside(unsigned count) {
  Known known(pool_);
  for (unsigned row = 0; form_.divides_grid() && row < form_.copies; ++row)
    known.assume(
        pool_.ult(instead_of(form_.index(), row * form_.along_x), instead_of(form_.extent(), 0)),
        row < count);
  return known;
}

Expr CoarsenProof::flat() {
  const Expr before = pool_.mul(replay_.special("%ctaid.x"), replay_.special("%ntid.x"));
  return pool_.add(before, replay_.special("%tid.x"));
}

Expr CoarsenProof::instead_of(std::string_view special, unsigned copy) {
  const auto times = [&](Expr value, unsigned factor) { return pool_.mul(value, number(factor)); };
  if (form_.copies > 1 && special == form_.index())
    return pool_.add(times(replay_.special(special), form_.copies), number(form_.row_of(copy)));
  if (form_.copies > 1 && special == form_.extent())
    return form_.within_block() ? times(replay_.special(special), form_.copies)
                                : replay_.parameter(sibling_.parameters.size() - 1);
  // A point is a block of one thread.
  if (special == "%ntid.x" || special == "%tid.x")
    return number(special == "%ntid.x");
  const Expr all = pool_.mul(replay_.special("%nctaid.x"), replay_.special("%ntid.x"));
  const Expr points = times(all, form_.along_x);
  if (special == "%nctaid.x")
    return points;
  const unsigned column = form_.column_of(copy);
  const Expr place = number(column - form_.shift);
  const Expr own = pool_.add(times(flat(), form_.along_x), place);
  // What would be negative in the first thread, from the end.
  return column < form_.shift ? pool_.ite(is_first(), pool_.add(points, place), own) : own;
}

// What has the names that stand in place of special registers and of dynamic shared memory.
void CoarsenProof::check_places() {
  const auto holds = [&](const std::string &name, Expr value) {
    const auto known = known_.find(named(name));
    require(known != known_.end() && known->second == value, 0, "not the place of a copy");
  };
  require(dynamic_.empty() || std::has_single_bit(copies_), 0, "not the parts of the memory");
  const Expr part = pool_.lshr(replay_.special("%dynamic_smem_size"),
                               number(static_cast<unsigned>(std::countr_zero(copies_))));
  const Expr size = pool_.bit_and(part, number(~15u));
  for (unsigned k = 0; k < copies_; ++k) {
    for (const auto &[special, name] : together_[k].specials)
      holds(name, instead_of(special, k));
    for (std::size_t room = 0; k > 0 && room < dynamic_.size(); ++room)
      holds(CoarsenNames::begin(room, k),
            pool_.add(pool_.mul(size, number(k)), replay_.begin(dynamic_[room].index)));
  }
}

void CoarsenProof::go_on_together(Position mine, Position theirs) {
  ReplayState state = known_;
  arrive_together(replay(mine, state, nothing_), theirs);
}

void CoarsenProof::arrive_together(const ReplayEnd &end, Position theirs) {
  theirs = skip_kernel(theirs);
  require(end.exit == ends(theirs), end.position, "the thread ends elsewhere");
  if (!end.exit && seen_together_.insert({end.position, theirs}).second)
    pending_.emplace_back(end.position, theirs);
}

void CoarsenProof::step_together(Position mine, Position theirs) {
  const Instruction &instruction = kernel_.instructions[theirs];
  if (is_jump(instruction)) {
    if (shared_[instruction.guard] || copies_ == 1)
      branch_at_once(mine, theirs);
    else
      branch_by_all(mine, theirs);
    return;
  }
  if (const CallGroup *group = calls_.of(theirs)) {
    require(theirs == group->first, mine, "the midst of a call");
    for (unsigned k = 0; k < copies_; ++k)
      mine = require_call(mine, *group, k, together_[k]);
    go_on_together(mine, group->end);
    return;
  }
  go_on_together(by_each(mine, theirs), theirs + 1);
}

CoarsenProof::Position CoarsenProof::by_each(Position mine, Position theirs) {
  const Instruction &own = kernel_.instructions[theirs];
  require(own.well_formed, mine, "an instruction of the kernel is not understood");
  for (const WideTest &test : plan_.tests)
    if (test.instruction == theirs)
      mine = require_test(mine, test);
  for (unsigned k = 0; k < copies_;) {
    if (sharing_.keeper(own, k) != k) {
      ++k;
      continue;
    }
    const Lines lines = lines_of(theirs, k);
    for (const std::string &line : lines.text)
      require_text(mine++, line, "not what the kernel does there");
    k += lines.copies;
  }
  return mine;
}

bool CoarsenProof::is_control(RegisterId reg, ScalarType type) const {
  return reg != no_register && roles_[reg].kind == ReplayRole::Kind::control &&
         sibling_.registers[reg].type == type && !known_.contains(reg);
}

// Lockstep is left unless two copies' addresses are as far apart as the plan says.
CoarsenProof::Position CoarsenProof::require_test(Position mine, const WideTest &test) {
  require(mine + 2 < sibling_.instructions.size(), mine, "an instruction is missing");
  const Instruction &branch = sibling_.instructions[mine + 2];
  const auto target = branch_target(module_, sibling_, branch);
  require(target && !branch.guard_negated && is_control(branch.guard, ScalarType::pred) &&
              is_control(named(CoarsenNames::distance), ScalarType::b64),
          mine + 2, "the test does not decide");
  require_text(mine, difference(test), "not the distance of two copies' addresses");
  require_text(mine + 1,
               fmt::format("setp.ne.s64 {}, {}, {}", sibling_.registers[branch.guard].name,
                           CoarsenNames::distance, test.distance),
               "not the test of a distance");
  ReplayState state = known_;
  const ReplayEnd end = replay(*target, state, nothing_);
  leave(end, state, test.instruction);
  return mine + 3;
}

void CoarsenProof::branch_at_once(Position mine, Position theirs) {
  const Instruction &a = kernel_.instructions[theirs], &b = sibling_.instructions[mine];
  require(is_jump(b) && b.guard != no_register && b.guard == fast_[0][a.guard] &&
              a.guard_negated == b.guard_negated,
          mine, "not the branch that the kernel has there");
  if (returns(module_.opcode(b))) {
    arrive_together({mine, true}, target_of(a));
  } else {
    const auto target = branch_target(module_, sibling_, b);
    require(target.has_value(), mine, "a branch is not understood");
    go_on_together(*target, target_of(a));
  }
  go_on_together(mine + 1, theirs + 1);
}

void CoarsenProof::branch_by_all(Position mine, Position theirs) {
  const Instruction &instruction = kernel_.instructions[theirs];
  ReplayState before = known_;
  Expr all = pool_.constant(1, 1), any = pool_.constant(1, 0);
  for (unsigned k = 0; k < copies_; ++k) {
    const RegisterId guard = fast_[k][instruction.guard];
    require(guard != no_register, mine, "a copy's predicate is not asked");
    const auto [held, added] = before.try_emplace(guard, replay_.held(guard));
    all = added ? pool_.bit_and(all, held->second) : all;
    any = added ? pool_.bit_or(any, held->second) : any;
  }
  for (const auto &[in_all, in_any] :
       {std::pair(false, false), std::pair(false, true), std::pair(true, true)}) {
    ReplayState state = before;
    Known known(pool_);
    known.assume(all, in_all);
    known.assume(any, in_any);
    const ReplayEnd end = replay(mine, state, known);
    const bool part = in_any && !in_all;
    if (const Detour *detour = sharing_.detour(theirs); detour && part)
      meet_again(end, *detour);
    else if (part)
      leave(end, state, theirs);
    else if (in_all != instruction.guard_negated)
      arrive_together(end, target_of(instruction));
    else
      arrive_together(end, theirs + 1);
  }
}

// The copies part, and each goes alone to where they meet.
void CoarsenProof::meet_again(const ReplayEnd &end, const Detour &detour) {
  require(!end.exit, end.position, "a copy is not finished");
  const std::vector<bool> written = written_in(module_, kernel_, detour.inside, first_);
  for (RegisterId reg = 0; reg < written.size(); ++reg)
    require(!written[reg] || !sharing_.by_some()[reg], end.position,
            "a register that the copies share is written by one");
  Position mine = end.position;
  for (unsigned k = 0; k < copies_; ++k)
    mine = copies_alone_.detour(mine, detour, k, together_[k]);
  go_on_together(mine, detour.end);
}

// The copies part. What was added may test things again that only held there.
void CoarsenProof::leave(const ReplayEnd &end, ReplayState &state, Position theirs) {
  std::erase_if(state, [&](const auto &entry) {
    return entry.second->width == 1 && roles_[entry.first].kind != ReplayRole::Kind::own &&
           !known_.contains(entry.first);
  });
  copies_alone_.one_by_one(end, state, theirs, copies_, nothing_, known_);
}

} // namespace ptxasw::synth
