// Barriers, and what all lanes of a warp do together. The sibling's thread waits once for all its
// copies where they are in lockstep, and once for each where these go on alone; lanes exchange for
// each copy what they have for it. That is right if
//
//   in the kernel all threads of a block come to the same barriers, and all lanes of a warp to the
//   same exchanges, in the same order, whatever the launch; then so do the sibling's, if they also
//   leave lockstep alike.
//
// The first is shown by control flow, for blocks and for warps. What threads may differ in is
// followed from instruction to instruction: a register *varies* behind one that writes it unless
// that is a pure function of registers that do not vary there, does not ask for %tid, and stands
// where threads are not apart. Among the lanes of a warp what all of them get alike where they meet
// (one_value.h), as from one lane or by a vote, does not vary either, nor what is made of the
// warp's number in the block (warp_number.h), as `tid / 32 < rows` is; nor, where a version is for
// blocks alone whose rows are whole warps, tid.y and tid.z. Threads part at a branch by
// a register that varies, and are apart up to the nearest instruction through which all ways from
// there lead: no meeting may lie in between. If there is no such instruction, as behind an early
// return, that is all that follows. Where threads are not apart, they go through the same branches
// with the same outcomes, and so to the same meetings. (None of this asks when the hardware has
// lanes run together: what all lanes do together waits for all.)
//
// Copies part where a register that differs between them decides. Then
//
//   - if no meeting can follow, each goes on alone to its end, and no thread waits for them;
//   - if the register does not vary and threads are not apart there, each copy's predicate is the
//     same in all threads that meet: all of them leave lockstep at this branch, do what is left of
//     the first copy with its meetings, then of the second, and so on. They come to the same
//     meetings in the same order;
//   - otherwise threads may leave lockstep or not, and must all be back before the next meeting.
//     There is a place at which all ways meet, with no meeting before it (the second case is not
//     this one; so threads are apart here, or only those of other warps). Up to there each copy
//     goes alone: a divergent region. Where only those of other warps are, a warp is on it as a
//     whole, and its lanes may meet on the way of each copy; elsewhere none may (torn()).
//
// Sums of the time before `__syncwarp` count on it that lanes of a warp run in step: one stores,
// and another one loads or stores there by a volatile access. A copy that parts, and the next one
// that begins with lanes that the one before has parted, would lose that; so kernels with such
// accesses are refused (synth/spread.cpp).

#include "emulator/facts/convergence_points.h"

#include "emulator/facts/warp_number.h"
#include "emulator/semantics/one_value.h"
#include "grammar/dominators.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>
#include <array>

namespace ptxasw::facts {
namespace {

constexpr std::uint32_t full_warp = 0xffffffff;

bool is_warp_convergence_point(const Module &module, const Function &kernel, std::uint32_t at,
                               const Numbers &numbers) {
  const Instruction &instruction = kernel.instructions[at];
  const auto operands = module.operands(instruction);
  const Opcode &opcode = module.opcode(instruction);
  if (is_one_of(opcode.op, {Op::wmma, Op::mma, Op::ldmatrix, Op::stmatrix, Op::movmatrix}))
    return instruction.well_formed && instruction.guard == no_register &&
           opcode.has(Modifier::sync) && opcode.has(Modifier::aligned);
  const bool is_barrier = opcode.text == "bar.warp.sync" || opcode.text == "barrier.warp.sync";
  const bool exchanges =
      opcode.has(Modifier::sync) && (opcode.op == Op::shfl || opcode.op == Op::vote ||
                                     opcode.op == Op::redux || opcode.op == Op::match);
  return (is_barrier ? operands.size() == 1 : exchanges && !operands.empty()) &&
         instruction.well_formed && instruction.guard == no_register &&
         numbers.of(operands.back(), at) == full_warp;
}

} // namespace

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

std::vector<bool> warp_convergence_points(const Module &module, const Function &kernel) {
  std::vector<bool> meets(kernel.instructions.size(), false);
  const Numbers numbers(module, kernel);
  for (std::uint32_t i = 0; i < meets.size(); ++i)
    meets[i] = is_warp_convergence_point(module, kernel, i, numbers);
  return meets;
}

ConvergencePoints::ConvergencePoints(const Module &module, const Function &kernel, bool whole_rows)
    : module_(module), kernel_(kernel), whole_rows_(whole_rows), numbers_(module, kernel) {
  warp_.is_warp = true;
  warp_.meets = warp_convergence_points(module, kernel);
  block_.meets.assign(kernel.instructions.size(), false);
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const Op op = module.opcode(kernel.instructions[i]).op;
    if (warp_.meets[i])
      warp_.any = true;
    else if (op == Op::bar || op == Op::barrier)
      block_.any = block_.meets[i] = true;
  }
  if (!any())
    return;
  find_next();
  if (warp_.any)
    of_warp_ = made_of_warp_number(module, kernel, whole_rows);
  for (Crowd *crowd : {&block_, &warp_})
    if (crowd->any)
      find_varying(*crowd);
}

void ConvergencePoints::find_next() {
  const auto count = static_cast<std::uint32_t>(kernel_.instructions.size());
  next_.resize(count + 1);
  std::vector<std::vector<std::uint32_t>> before(count + 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    next_[i] = next_after(module_, kernel_, i);
    if (returns(module_.opcode(kernel_.instructions[i])))
      next_[i].push_back(count);
    for (const std::uint32_t to : next_[i])
      before[to].push_back(i);
  }
  meet_ = immediate_dominators(
      count + 1, count, [&](std::uint32_t i) -> const auto & { return before[i]; },
      [&](std::uint32_t i) -> const auto & { return next_[i]; });
}

bool ConvergencePoints::decides(std::uint32_t instruction) const {
  const Instruction &one = kernel_.instructions[instruction];
  const Opcode &opcode = module_.opcode(one);
  return one.guard != no_register && (opcode.op == Op::bra || returns(opcode));
}

std::vector<bool> ConvergencePoints::inside_of(std::uint32_t branch) const {
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

bool ConvergencePoints::is_one_for_all(std::uint32_t at, const std::vector<bool> &varying) const {
  if (!warp_.meets[at])
    return false;
  const Instruction &instruction = kernel_.instructions[at];
  const auto one = emulator::one_value(
      module_, instruction, [&](const Operand &operand) { return numbers_.of(operand, at); });
  if (!one)
    return false;
  // Nothing but its results is written, and what the lanes must agree on is one for them, too.
  std::size_t written = 0;
  for_each_register(module_, instruction,
                    [&](RegisterId, RegisterUse use) { written += use != RegisterUse::read; });
  return written == one->results.size() &&
         std::all_of(one->agreed.begin(), one->agreed.end(), [&](const Operand *operand) {
           return operand->kind == Operand::Kind::integer ||
                  (operand->kind == Operand::Kind::reg && !varying[operand->reg]);
         });
}

bool ConvergencePoints::asks_for_row(std::uint32_t at) const {
  const Instruction &instruction = kernel_.instructions[at];
  const auto operands = module_.operands(instruction);
  return whole_rows_ && instruction.well_formed && instruction.guard == no_register &&
         module_.opcode(instruction).text == "mov.u32" && operands.size() == 2 &&
         operands[1].kind == Operand::Kind::special &&
         (module_.text(operands[1].span) == "%tid.y" || module_.text(operands[1].span) == "%tid.z");
}

void ConvergencePoints::pass(const Crowd &crowd, std::uint32_t at,
                             std::vector<bool> &varying) const {
  const Instruction &instruction = kernel_.instructions[at];
  bool differs = crowd.apart[at];
  if (!crowd.is_warp || (!of_warp_[at] && !asks_for_row(at) && !is_one_for_all(at, varying))) {
    differs = differs || !computes_alike(module_, instruction, emulator::Scope::block);
    for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
      // What a guard may leave as it was counts, too.
      if (use != RegisterUse::written || instruction.guard != no_register)
        differs = differs || varying[reg];
    });
  }
  for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
    if (use != RegisterUse::read)
      varying[reg] = differs;
  });
}

std::vector<std::vector<bool>> ConvergencePoints::varying(const Crowd &crowd) const {
  // Nothing is known of what a register holds that has not been written.
  const auto count = static_cast<std::uint32_t>(kernel_.instructions.size());
  std::vector<std::vector<bool>> before(count);
  if (count == 0)
    return before;
  before[0].assign(kernel_.registers.size(), true);
  std::vector<std::uint32_t> open{0};
  while (!open.empty()) {
    const std::uint32_t i = open.back();
    open.pop_back();
    std::vector<bool> after = before[i];
    pass(crowd, i, after);
    for (const std::uint32_t to : next_[i]) {
      if (to == count)
        continue;
      const bool is_new = before[to].empty();
      if (is_new)
        before[to].assign(kernel_.registers.size(), false);
      bool changed = is_new;
      for (std::size_t reg = 0; reg < after.size(); ++reg)
        if (after[reg] && !before[to][reg])
          before[to][reg] = changed = true;
      if (changed)
        open.push_back(to);
    }
  }
  return before;
}

void ConvergencePoints::find_varying(Crowd &crowd) const {
  const std::size_t count = kernel_.instructions.size();
  crowd.apart.assign(count, false);
  crowd.decided.assign(count, true);
  for (bool changed = true; changed;) {
    changed = false;
    const auto before = varying(crowd);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!crowd.decided[i] || !decides(i) || before[i].empty() ||
          !before[i][kernel_.instructions[i].guard])
        continue;
      crowd.decided[i] = false;
      changed = true;
      const std::vector<bool> inside = inside_of(i);
      for (std::size_t at = 0; at < inside.size(); ++at)
        crowd.apart[at] = crowd.apart[at] || inside[at];
    }
  }
}

std::optional<std::uint32_t> ConvergencePoints::first_in(const std::vector<bool> &some,
                                                         const std::vector<bool> &instructions) {
  for (std::uint32_t i = 0; i < some.size(); ++i)
    if (some[i] && instructions[i])
      return i;
  return std::nullopt;
}

bool ConvergencePoints::parts_alike(const Crowd &crowd, std::uint32_t branch) {
  return crowd.decided[branch] && !crowd.apart[branch];
}

bool ConvergencePoints::goes_alike(const Crowd &crowd, std::uint32_t branch) const {
  return !crowd.any || !first_in(crowd.meets, reachable_from(module_, kernel_, next_[branch])) ||
         parts_alike(crowd, branch);
}

std::optional<std::uint32_t> ConvergencePoints::uneven() const {
  for (const Crowd *crowd : {&block_, &warp_})
    if (crowd->any)
      if (const auto found = first_in(crowd->meets, crowd->apart))
        return found;
  return std::nullopt;
}

std::optional<std::uint32_t>
ConvergencePoints::torn(const std::vector<DivergentRegion> &regions) const {
  for (const DivergentRegion &region : regions) {
    // Lanes that part alike do what lanes do together as the kernel's lanes do it.
    if (warp_.any && !parts_alike(warp_, region.branch))
      if (const auto found = first_in(warp_.meets, region.inside))
        return found;
  }
  return std::nullopt;
}

std::optional<DivergentRegion> ConvergencePoints::divergent_region(std::uint32_t branch) const {
  if (!any() || !decides(branch) || (goes_alike(block_, branch) && goes_alike(warp_, branch)))
    return std::nullopt;
  DivergentRegion region{branch, meet_[branch], inside_of(branch)};
  region.inside[branch] = true;
  return region;
}

const ConvergencePoints &meetings_of(const KernelContext &context) {
  return context.once("", [&] {
    ConvergencePoints any(context.module, context.kernel);
    const PerformanceDirective *const block = context.kernel.directive("reqntid");
    constexpr unsigned warp = 32;
    if (!any.uneven() || (block && (block->count == 0 || block->values[0] % warp != 0)))
      return any;
    ConvergencePoints of_rows(context.module, context.kernel, true);
    return of_rows.uneven() ? any : of_rows;
  });
}

} // namespace ptxasw::facts
