// A step of all copies: each instruction for each of them, or once for all, a mov in place of a
// load that another copy has done, one wide access for several; and branches, which lead on
// together, or part the copies.

#include "synth/coarsen/prove_implementation.h"

#include "synth/coarsen/coarsen.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::synth {

ReplayEnd CoarsenProof::replay(Position mine, ReplayState &state, const Known &known) const {
  const auto end = replay_.run(mine, state, known);
  require(end.has_value(), mine, "added code is not understood");
  return *end;
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
  for (unsigned k = 0; k < copies_; ++k) {
    Pairs seen;
    std::optional<Position> after;
    one_copy(mine, detour.branch, k, together_[k], &detour, seen, after);
    require(after.has_value(), mine, "a copy never meets the others");
    mine = *after;
  }
  go_on_together(mine, detour.end);
}

bool CoarsenProof::is_barrier(Position theirs) const {
  const Opcode &opcode = module_.opcode(kernel_.instructions[theirs]);
  return (opcode.op == Op::bar || opcode.op == Op::barrier) && !opcode.has(Modifier::warp);
}

// The copies part. What was added may test things again that only held there.
void CoarsenProof::leave(const ReplayEnd &end, ReplayState &state, Position theirs) {
  std::erase_if(state, [&](const auto &entry) {
    return entry.second->width == 1 && roles_[entry.first].kind != ReplayRole::Kind::own &&
           !known_.contains(entry.first);
  });
  one_by_one(end, state, theirs, copies_, nothing_);
}

} // namespace ptxasw::synth
