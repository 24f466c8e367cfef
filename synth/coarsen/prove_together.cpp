// A step of all copies: each instruction for each of them, or once for all, a mov in place of a
// load that another copy has done, one wide access for several; and branches, which lead on
// together, or part the copies.

#include "synth/coarsen/prove_implementation.h"

#include "synth/coarsen/coarsen.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::inline synth {

ReplayEnd CoarsenProof::replay(Position mine, ReplayState &state,
                               const ReplayAssumption &assumption) const {
  const auto end = replay_.run(mine, state, assumption);
  require(end.has_value(), mine, "added code is not understood");
  return *end;
}

void CoarsenProof::go_on_together(Position mine, Position theirs) {
  ReplayState state = known_;
  arrive_together(replay(mine, state), theirs);
}

void CoarsenProof::arrive_together(const ReplayEnd &end, Position theirs) {
  theirs = skip_kernel(theirs);
  require(end.exit == ends(theirs), end.position, "the thread ends elsewhere");
  if (!end.exit && seen_together_.insert({end.position, theirs}).second)
    together_.emplace_back(end.position, theirs);
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
  go_on_together(by_each(mine, theirs), theirs + 1);
}

CoarsenProof::Position CoarsenProof::by_each(Position mine, Position theirs) {
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

bool CoarsenProof::is_reg(const Operand &operand, RegisterId reg) const {
  return operand.kind == Operand::Kind::reg && operand.selector == 0 && !operand.negated &&
         operand.reg == reg && reg != no_register;
}

bool CoarsenProof::is_control(const Operand &operand, ScalarType type) const {
  return operand.kind == Operand::Kind::reg && operand.selector == 0 && !operand.negated &&
         roles_[operand.reg].kind == ReplayRole::Kind::control &&
         sibling_.registers[operand.reg].type == type && !known_.contains(operand.reg);
}

const Instruction &CoarsenProof::at(Position mine) const {
  require(mine < sibling_.instructions.size(), mine, "an instruction is missing");
  return sibling_.instructions[mine];
}

// Lockstep is left unless two copies' addresses are as far apart as the plan says.
CoarsenProof::Position CoarsenProof::require_test(Position mine, const WideTest &test) {
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

CoarsenProof::Position CoarsenProof::require_wide_loads(Position mine,
                                                        const Instance &instance) const {
  for (std::size_t load = 0; load < plan_.loads.size(); ++load) {
    if (plan_.loads[load].at != instance)
      continue;
    require_wide(mine, instance, plan_.loads[load].displacement, wide_[load]);
    ++mine;
  }
  return mine;
}

void CoarsenProof::require_wide_store(Position mine, const WideStore &store) const {
  std::vector<RegisterId> values;
  for (unsigned e = 0; e < store.elements; ++e)
    values.push_back(
        fast_[store.first.copy + e][wide_value(module_, kernel_, store.first.instruction)]);
  require_wide(mine, store.first, 0, values);
}

// One access of several values, like an instance's own.
void CoarsenProof::require_wide(Position mine, const Instance &instance, std::int64_t displacement,
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

bool CoarsenProof::is_mov(Position mine, RegisterId to, RegisterId from) const {
  const Instruction &instruction = at(mine);
  const auto operands = module_.operands(instruction);
  const Opcode &opcode = module_.opcode(instruction);
  return to != no_register && instruction.well_formed && instruction.guard == no_register &&
         opcode.op == Op::mov && opcode.modifiers.size() == 1 && operands.size() == 2 &&
         is_reg(operands[0], to) && is_reg(operands[1], from) &&
         bit_width(opcode.type) == bit_width(sibling_.registers[to].type);
}

bool CoarsenProof::is_merged(Position theirs, Position mine, unsigned k) const {
  const MergedLoad *const other = merged(theirs, k);
  return other && mine < sibling_.instructions.size() &&
         is_mov(mine, fast_[k][loaded(theirs)], fast_[other->from_copy][loaded(other->from)]);
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
    one_copy(mine, detour.branch, {fast_[k], k}, &detour, seen, after);
    require(after.has_value(), mine, "a copy never meets the others");
    mine = *after;
  }
  go_on_together(mine, detour.end);
}

bool CoarsenProof::is_barrier(Position theirs) const {
  const Op op = module_.opcode(kernel_.instructions[theirs]).op;
  return op == Op::bar || op == Op::barrier || sharing_.meetings().in_warp(theirs);
}

// The copies part. What was added may test things again that only held there.
void CoarsenProof::leave(const ReplayEnd &end, ReplayState &state, Position theirs) {
  std::erase_if(state, [](const auto &entry) {
    return entry.second.kind == ReplayValue::Kind::truth ||
           entry.second.kind == ReplayValue::Kind::each_of ||
           entry.second.kind == ReplayValue::Kind::all_of ||
           entry.second.kind == ReplayValue::Kind::any_of;
  });
  one_by_one(end, state, theirs, copies_);
}

} // namespace ptxasw::synth
