// One copy alone: its instructions, spelled as the kernel's under its own renaming; its way to
// where copies that part meet again, or to its end, and which copy comes next.

#include "synth/coarsen/prove_implementation.h"

#include "grammar/roles.h"

#include <algorithm>
#include <bit>
#include <fmt/core.h>

namespace ptxasw::synth {

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

void CoarsenProof::require_text(Position mine, std::string_view text, std::string_view why) const {
  require(mine < sibling_.instructions.size(), mine, "an instruction is missing");
  const Instruction &own = sibling_.instructions[mine];
  require(own.well_formed && proof::plain_text(module_.text(own.span)) == proof::plain_text(text),
          mine, why);
}

void CoarsenProof::require_clone(Position theirs, Position mine, const Renaming &names) const {
  const Instruction &own = kernel_.instructions[theirs];
  require(own.well_formed, mine, "an instruction of the kernel is not understood");
  require_text(mine, renamed(module_, own, names), "not what the kernel does there");
}

// All that belongs to a call, which no other copy's comes between; the position behind it. What it
// gives, a copy has for itself.
CoarsenProof::Position CoarsenProof::require_call(Position mine, const CallGroup &group, unsigned k,
                                                  const Renaming &names) const {
  for (Position i = group.first; i < group.end; ++i)
    for_each_register(module_, kernel_.instructions[i], [&](RegisterId reg, RegisterUse use) {
      require(use == RegisterUse::read || !sharing_.by_some()[reg], mine,
              "copies share what a call gives");
    });
  for (const std::string &line : lines_of(group, k, names))
    require_text(mine++, line, "not the call that the kernel has there");
  return mine;
}

// A branch by a copy's own predicate; where it leads.
CoarsenProof::Position CoarsenProof::require_branch(Position theirs, Position mine,
                                                    const Renaming &names) const {
  require(mine < sibling_.instructions.size(), mine, "an instruction is missing");
  const Instruction &a = kernel_.instructions[theirs], &b = sibling_.instructions[mine];
  const auto target = branch_target(module_, sibling_, b);
  require(target && b.guard != no_register && b.guard == named(names.registers[a.guard]) &&
              b.guard_negated == a.guard_negated,
          mine, "not the branch that the kernel has there");
  return *target;
}

// The first `count` copies go on from `theirs` one after the other, beginning at `end`.
void CoarsenProof::one_by_one(ReplayEnd end, ReplayState state, Position theirs, unsigned count,
                              const Known &known) {
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
      require_clone(position, mine++, alone_[k]);
    end = replay(mine, state, known);
    require(!end.exit, end.position, "a copy is not finished");
    const auto next = state.find(next_);
    require(next != state.end(), end.position, "what comes after a copy is not known");
    one_copy(end.position, theirs, k, alone_[k], nullptr, seen_alone_[k], after_[k]);
    require(after_[k].has_value(), end.position, "a copy never ends");
    ReplayState later = known_;
    later[next_] = next->second;
    end = replay(*after_[k], later, known);
    state = std::move(later);
  }
  require(end.exit, end.position, "more is done than the copies do");
}

bool CoarsenProof::is_taken_over(const ReplayState &state, RegisterId reg, unsigned k) const {
  const auto found = state.find(own_[reg]);
  return found != state.end() && fast_[k][reg] != no_register &&
         found->second == replay_.held(fast_[k][reg]);
}

// One copy from a pair of positions to the end of a detour, or without one to its own end.
void CoarsenProof::one_copy(Position mine, Position theirs, unsigned k, const Renaming &names,
                            const Detour *detour, Pairs &seen,
                            std::optional<Position> &after) const {
  std::vector<std::pair<Position, Position>> open;
  const auto add = [&](Position m, Position t) {
    const auto skipped = replay_.skip(m);
    require(skipped.has_value(), m, "a loop without an end");
    t = skip_kernel(t, detour);
    while (t < kernel_end() && lets_others_launch(module_.opcode(kernel_.instructions[t])) &&
           !(detour && t == detour->end))
      t = skip_kernel(t + 1, detour);
    if (detour ? t == detour->end : ends(t)) {
      require(!after || *after == *skipped, m, "a copy ends elsewhere");
      after = *skipped;
      return;
    }
    require(!detour || (t < kernel_end() && detour->inside[t]), m, "the way leads elsewhere");
    if (seen.insert({*skipped, t}).second)
      open.emplace_back(*skipped, t);
  };
  add(mine, theirs);
  while (!open.empty()) {
    const auto [m, t] = open.back();
    open.pop_back();
    const Instruction &instruction = kernel_.instructions[t];
    require(!detour || !is_barrier(t), m, "a barrier on the way of one copy");
    if (const CallGroup *group = calls_.of(t)) {
      require(t == group->first && (!detour || detour->inside[group->end - 1]), m,
              "the midst of a call");
      add(require_call(m, *group, k, names), group->end);
      continue;
    }
    if (is_jump(instruction))
      add(require_branch(t, m, names), target_of(instruction));
    else
      require_clone(t, m, names);
    add(m + 1, t + 1);
  }
}

} // namespace ptxasw::synth
