// Barriers. The sibling's thread waits once for all its copies where they are in lockstep, and once
// for each where these go on alone. For each copy that is right if
//
//   in the kernel all threads of a block come to the same barriers, in the same order, whatever the
//   launch; then so do the sibling's threads, if they also leave lockstep alike.
//
// The first is shown by control flow. A register is *uniform* if all threads of a block that are at
// one place have the same in it: it is only ever written by pure functions of uniform registers
// that do not ask for %tid, and not where threads may be apart. Threads part at a branch by a
// register that is not uniform, and are apart up to the nearest instruction through which all ways
// from there lead: no barrier may lie in between. If there is no such instruction, as behind an
// early return, that is all that follows. Where threads are not apart, they go through the same
// branches with the same outcomes, and so to the same barriers.
//
// Copies part where a register that differs between them decides. Then
//
//   - if no barrier can follow, each goes on alone to its end, and no thread waits for them;
//   - if the register is uniform and threads are not apart there, each copy's predicate is the same
//     in all threads of the block: all of them leave lockstep at this branch, do what is left of
//     the first copy with its barriers, then of the second, and so on. They come to the same
//     barriers in the same order;
//   - otherwise threads may leave lockstep or not, and must all be back before the next barrier.
//     There is a place at which all ways meet, with no barrier before it (the second case is not
//     this one; so threads are apart here). Up to there each copy goes alone: a detour.

#include "synth/retile/meeting.h"

#include "grammar/dominators.h"
#include "grammar/roles.h"

#include <algorithm>
#include <array>

namespace ptxasw::inline synth {

bool is_barrier_of_all(const Module &module, const Instruction &instruction) {
  static constexpr std::array<std::string_view, 6> words{
      "bar.sync",         "bar.cta.sync",
      "barrier.sync",     "barrier.sync.aligned",
      "barrier.cta.sync", "barrier.cta.sync.aligned"};
  const auto operands = module.operands(instruction);
  constexpr std::int64_t barriers = 16;
  return std::find(words.begin(), words.end(), module.opcode(instruction).text) != words.end() &&
         instruction.well_formed && instruction.guard == no_register && operands.size() == 1 &&
         operands[0].kind == Operand::Kind::integer && operands[0].value >= 0 &&
         operands[0].value < barriers;
}

Meetings::Meetings(const Module &module, const Function &kernel)
    : module_(module), kernel_(kernel) {
  for (const Instruction &instruction : kernel.instructions) {
    const Op op = module.opcode(instruction).op;
    any_ |= op == Op::bar || op == Op::barrier;
  }
  if (!any_)
    return;
  find_next();
  find_varying();
}

void Meetings::find_next() {
  const auto count = static_cast<std::uint32_t>(kernel_.instructions.size());
  next_.resize(count + 1);
  std::vector<std::vector<std::uint32_t>> before(count + 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Instruction &instruction = kernel_.instructions[i];
    const Opcode &opcode = module_.opcode(instruction);
    const bool ends = ends_thread(opcode);
    if (const auto target = branch_target(module_, kernel_, instruction))
      next_[i].push_back(*target);
    if (ends)
      next_[i].push_back(count);
    if (instruction.guard != no_register || (opcode.op != Op::bra && !ends))
      next_[i].push_back(i + 1);
    for (const std::uint32_t to : next_[i])
      before[to].push_back(i);
  }
  meet_ = immediate_dominators(
      count + 1, count, [&](std::uint32_t i) -> const auto & { return before[i]; },
      [&](std::uint32_t i) -> const auto & { return next_[i]; });
}

bool Meetings::decides(std::uint32_t instruction) const {
  const Instruction &one = kernel_.instructions[instruction];
  const Opcode &opcode = module_.opcode(one);
  return one.guard != no_register && (opcode.op == Op::bra || ends_thread(opcode));
}

std::vector<bool> Meetings::region(std::uint32_t branch) const {
  const auto count = static_cast<std::uint32_t>(kernel_.instructions.size());
  std::vector<bool> inside(count, false);
  std::vector<std::uint32_t> open = next_[branch];
  while (!open.empty()) {
    const std::uint32_t i = open.back();
    open.pop_back();
    if (i == count || i == meet_[branch] || inside[i])
      continue;
    inside[i] = true;
    open.insert(open.end(), next_[i].begin(), next_[i].end());
  }
  return inside;
}

void Meetings::find_varying() {
  const std::vector<std::string> threads{"%tid.x", "%tid.y", "%tid.z"};
  apart_.assign(kernel_.instructions.size(), false);
  std::vector<bool> known(kernel_.instructions.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<bool> none(kernel_.instructions.size(), false);
    uniform_ =
        shared_registers(module_, kernel_, threads, written_in(module_, kernel_, apart_, none));
    for (std::uint32_t i = 0; i < known.size(); ++i) {
      if (known[i] || !decides(i) || uniform_[kernel_.instructions[i].guard])
        continue;
      known[i] = changed = true;
      const std::vector<bool> inside = region(i);
      for (std::size_t at = 0; at < inside.size(); ++at)
        apart_[at] = apart_[at] || inside[at];
    }
  }
}

std::optional<std::uint32_t> Meetings::barrier_in(const std::vector<bool> &instructions) const {
  for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i)
    if (const Op op = module_.opcode(kernel_.instructions[i]).op;
        instructions[i] && (op == Op::bar || op == Op::barrier))
      return i;
  return std::nullopt;
}

std::optional<std::uint32_t> Meetings::uneven() const {
  return any_ ? barrier_in(apart_) : std::nullopt;
}

std::optional<Detour> Meetings::detour(std::uint32_t branch) const {
  if (!any_ || !decides(branch) || !barrier_in(reachable_from(module_, kernel_, next_[branch])))
    return std::nullopt;
  if (uniform_[kernel_.instructions[branch].guard] && !apart_[branch])
    return std::nullopt;
  Detour detour{branch, meet_[branch], region(branch)};
  detour.inside[branch] = true;
  return detour;
}

} // namespace ptxasw::synth
