// One copy alone: its instructions, spelled as the kernel's under its own renaming; its way to
// where copies that part meet again, or to its end, and which copy comes next.

#include "synth/coarsen/prove_alone.h"

#include <algorithm>

namespace ptxasw::synth {

// The first `count` copies go on from `theirs` one after the other, beginning at `end`.
void CopiesAlone::one_by_one(ReplayEnd end, ReplayState state, Position theirs, unsigned count,
                             const Known &known, const ReplayState &always) {
  const auto live = texts_.recomputation_.needed(theirs);
  const auto again = texts_.recomputation_.at(theirs);
  const auto kept = texts_.recomputation_.kept(theirs);
  const auto written =
      written_in(texts_.module_, texts_.kernel_,
                 reachable_from(texts_.module_, texts_.kernel_, {theirs}), texts_.first_);
  for (unsigned k = 0; k < count; ++k) {
    texts_.require(!end.exit, end.position, "a copy is not finished");
    for (const RegisterId reg : live)
      if (!texts_.sharing_.by_some()[reg]) // of this copy alone, and computed again if not kept
        texts_.require(!texts_.alone_at_once() ||
                           std::find(kept.begin(), kept.end(), reg) == kept.end() ||
                           is_taken_over(state, reg, k),
                       end.position, "a copy's register is not taken over");
      else if (texts_.own_[reg] == no_register) // another copy may still want it
        texts_.require(!written[reg] && (!texts_.alone_at_once() || texts_.sharing_.by_all()[reg]),
                       end.position, "a register that the copies share is not kept");
      else
        texts_.require(is_taken_over(state, reg, k), end.position,
                       "a register that the copies share is not kept");
    texts_.require(texts_.alone_has_place(state, k), end.position, "not the copy's place");
    // What gives registers of this copy the values that they have already.
    Position mine = end.position;
    for (const Position position : again)
      texts_.require_clone(position, mine++, texts_.alone_[k]);
    const ReplayState filled = state;
    end = texts_.replay(mine, state, known);
    texts_.require(!end.exit, end.position, "a copy is not finished");
    // From there on nothing that was added fills what the copy runs on.
    texts_.require(texts_.has_same_stand_ins(filled, state), end.position,
                   "a copy's register is filled too late");
    for (const Position position : again) {
      const RegisterId own = texts_.own_[texts_.recomputation_.result_of(position)];
      texts_.require(own == no_register || !state.contains(own), end.position,
                     "a register that is computed again is filled");
    }
    const auto next = state.find(texts_.next_);
    texts_.require(next != state.end(), end.position, "what comes after a copy is not known");
    const unsigned code = texts_.lone_code(k);
    one_copy(end.position, theirs, k, texts_.alone_[k], nullptr, seen_[code], after_[code]);
    texts_.require(after_[code].has_value(), end.position, "a copy never ends");
    ReplayState later = always;
    later[texts_.next_] = next->second;
    end = texts_.replay(*after_[code], later, known);
    state = std::move(later);
  }
  texts_.require(end.exit, end.position, "more is done than the copies do");
}

CopiesAlone::Position CopiesAlone::detour(Position mine, const Detour &detour, unsigned k,
                                          const Renaming &names) const {
  Pairs seen;
  std::optional<Position> after;
  one_copy(mine, detour.branch, k, names, &detour, seen, after);
  texts_.require(after.has_value(), mine, "a copy never meets the others");
  return *after;
}

bool CopiesAlone::is_taken_over(const ReplayState &state, RegisterId reg, unsigned k) const {
  const auto found = state.find(texts_.own_[reg]);
  return found != state.end() && texts_.fast_[k][reg] != no_register &&
         found->second == texts_.replay_.held(texts_.fast_[k][reg]);
}

// One copy from a pair of positions to the end of a detour, or without one to its own end.
void CopiesAlone::one_copy(Position mine, Position theirs, unsigned k, const Renaming &names,
                           const Detour *detour, Pairs &seen,
                           std::optional<Position> &after) const {
  std::vector<std::pair<Position, Position>> open;
  const auto add = [&](Position m, Position t) {
    const auto skipped = texts_.replay_.skip(m);
    texts_.require(skipped.has_value(), m, "a loop without an end");
    t = texts_.skip_kernel(t, detour);
    while (t < texts_.kernel_end() &&
           lets_others_launch(texts_.module_.opcode(texts_.kernel_.instructions[t])) &&
           !(detour && t == detour->end))
      t = texts_.skip_kernel(t + 1, detour);
    if (detour ? t == detour->end : texts_.ends(t)) {
      texts_.require(!after || *after == *skipped, m, "a copy ends elsewhere");
      after = *skipped;
      return;
    }
    texts_.require(!detour || (t < texts_.kernel_end() && detour->inside[t]), m,
                   "the way leads elsewhere");
    if (seen.insert({*skipped, t}).second)
      open.emplace_back(*skipped, t);
  };
  add(mine, theirs);
  while (!open.empty()) {
    const auto [m, t] = open.back();
    open.pop_back();
    const Instruction &instruction = texts_.kernel_.instructions[t];
    texts_.require(!detour || !texts_.is_barrier(t), m, "a barrier on the way of one copy");
    if (const CallGroup *group = texts_.calls_.of(t)) {
      texts_.require(t == group->first && (!detour || detour->inside[group->end - 1]), m,
                     "the midst of a call");
      add(texts_.require_call(m, *group, k, names), group->end);
      continue;
    }
    if (texts_.is_jump(instruction))
      add(texts_.require_branch(t, m, names), texts_.target_of(instruction));
    else
      texts_.require_clone(t, m, names);
    add(m + 1, t + 1);
  }
}

} // namespace ptxasw::synth
