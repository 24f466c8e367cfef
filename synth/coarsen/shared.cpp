// What the copies have in common. In lockstep all copies have taken the same path; so a register
// that is only ever written by pure functions of registers of that kind holds the same in all of
// them, whatever the path. The largest set of such registers is found by removing those that do not
// qualify.
//
// Where copies go different ways for a while and meet again (emulator/facts/convergence_points.h),
// what they write there is not the same in all of them.

#include "emulator/facts/convergence_points.h"
#include "emulator/semantics/effects.h"
#include "emulator/semantics/one_value.h"
#include "grammar/next.h"
#include "grammar/roles.h"
#include "synth/coarsen/coarsen.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace ptxasw::synth {
namespace {

/// Returns true if an operand is a variable in shared or local memory: each copy has one of its
/// own.
bool mentions_allocation(const Module &module, std::span<const Operand> operands) {
  return any_operand(module, operands, [&](const Operand &operand) {
    const Variable *const variable =
        operand.kind == Operand::Kind::symbol ? module.variable(module.symbol(operand)) : nullptr;
    return variable &&
           (variable->space == StateSpace::shared || variable->space == StateSpace::local);
  });
}

/// Which registers hold the same in all copies, as long as these go the same way: everything that
/// is ever written to one is computed from such registers alone, without the special registers that
/// tell the copies apart, or loaded from where nothing writes. By RegisterId. `never`: none of
/// these, by RegisterId, and so nothing that is computed from them; empty: all may.
std::vector<bool> shared_registers(const Module &module, const Function &kernel,
                                   const std::vector<std::string> &indices,
                                   std::vector<bool> never = {}) {
  never.resize(kernel.registers.size(), false);
  std::vector<bool> shared = std::move(never);
  shared.flip();
  for (bool changed = true; changed;) {
    changed = false;
    for (const Instruction &instruction : kernel.instructions) {
      bool common = computes_alike(module, instruction, emulator::Scope::thread) &&
                    !mentions_allocation(module, module.operands(instruction)) &&
                    std::none_of(indices.begin(), indices.end(), [&](const std::string &index) {
                      return mentions_special(module, module.operands(instruction), index);
                    });
      for_each_register(module, instruction, [&](RegisterId reg, RegisterUse) {
        common &= shared[reg]; // what is written with it, too: it is done once, or for each
      });
      if (common)
        continue;
      for (const RegisterId reg : written_registers(module, instruction)) {
        changed = changed || shared[reg];
        shared[reg] = false;
      }
    }
  }
  return shared;
}

/// Returns true if an instruction makes a group of a thread's asynchronous copies, or waits for
/// groups or for other grids: what one thread does for all copies.
bool is_of_thread(const Module &module, const Instruction &instruction) {
  const Opcode &opcode = module.opcode(instruction);
  return instruction.guard == no_register &&
         (opcode.op == Op::griddepcontrol ||
          (opcode.op == Op::cp &&
           (opcode.has(Modifier::commit_group) || opcode.has(Modifier::wait_group) ||
            opcode.has(Modifier::wait_all))));
}

} // namespace

Sharing::Sharing(const KernelContext &context, const CoarsenForm &form)
    : OfKernel(context), form_(form), meetings_(meetings_of(context)),
      by_all_(shared_registers(module_, kernel_, form.indices())) {
  find_done_first();
  if (form.kind == CoarsenForm::Kind::apart && form.along_x == 1)
    find_regions();
  by_row_ = by_column_ = by_all_;
  if (form.copies > 1 && form.along_x > 1) {
    by_row_ = shared_registers(module_, kernel_, {form.indices().back()});
    by_column_ = shared_registers(module_, kernel_, {form.indices().front()});
  }
  by_some_ = by_row_;
  for (std::size_t reg = 0; reg < by_some_.size(); ++reg)
    by_some_[reg] = by_row_[reg] || by_column_[reg];
}

const Sharing &sharing_of(const KernelContext &context, CoarsenForm form) {
  form.shift = 0; // where a thread's points begin does not matter
  return context.once(form.key(), [&] { return Sharing(context, form); });
}

// What is the same in all is so in rows and in columns.
unsigned Sharing::keeper(bool row, bool column, unsigned k) const {
  return (row ? 0 : form_.column_of(k)) + (column ? 0 : form_.row_of(k) * form_.along_x);
}

unsigned Sharing::keeper(RegisterId reg, unsigned k) const {
  return keeper(by_row_[reg], by_column_[reg], k);
}

void Sharing::find_regions() {
  if (!meetings_.any())
    return;
  std::vector<bool> apart(count(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t i = 0; i < count(); ++i) {
      const RegisterId guard = instruction(i).guard;
      if (guard == no_register || by_all_[guard] || divergent_region(i))
        continue;
      std::optional<DivergentRegion> found = meetings_.divergent_region(i);
      if (!found)
        continue;
      for (std::size_t at = 0; at < apart.size(); ++at)
        apart[at] = apart[at] || found->inside[at];
      regions_.push_back(std::move(*found));
      changed = true;
    }
    // What is done before all else does not stand where copies may be apart.
    by_all_ = shared_registers(module_, kernel_, form_.indices(),
                               written_in(module_, kernel_, apart, done_first_));
  }
  find_done_first();
  std::sort(regions_.begin(), regions_.end(),
            [](const DivergentRegion &a, const DivergentRegion &b) { return a.branch < b.branch; });
}

void Sharing::find_done_first() {
  done_first_.assign(count(), false);
  if (count() == 0)
    return;
  std::vector<std::uint32_t> writer = context_.only_writers();
  // One that may be read before it is written keeps what it held.
  for (const RegisterId reg : live_before(module_, kernel_, cfg(), context_.liveness(), 0))
    writer[reg] = no_index;
  std::vector<bool> ready(kernel_.registers.size(), false);
  for (std::uint32_t i = 0; i < count(); ++i) {
    const Instruction &one = instruction(i);
    if (!computes_alike(module_, one, emulator::Scope::thread) ||
        (!is_pure(opcode(i)) && opcode(i).space != StateSpace::param) || one.guard != no_register ||
        !synth::is_shared(module_, one, by_all_))
      continue;
    bool good = true;
    for_each_register(module_, one, [&](RegisterId reg, RegisterUse use) {
      good &= use == RegisterUse::read ? ready[reg] && opcode(i).op != Op::ld : writer[reg] == i;
    });
    if (!good)
      continue;
    done_first_[i] = true;
    for (const RegisterId reg : written_registers(module_, one))
      ready[reg] = true;
  }
}

const DivergentRegion *Sharing::divergent_region(std::uint32_t branch) const {
  const auto found = std::find_if(regions_.begin(), regions_.end(),
                                  [&](const DivergentRegion &one) { return one.branch == branch; });
  return found == regions_.end() ? nullptr : &*found;
}

std::vector<bool> Sharing::targets() const {
  std::vector<bool> result = branch_targets(module_, kernel_);
  for (const DivergentRegion &region : regions_)
    result[region.end] = true;
  if (form_.once)
    for (const GridIteration &round : rounds_over_grid(context_))
      result[round.instead] = result[round.instead] || round.instead != round.branch + 1;
  return result;
}

unsigned Sharing::keeper(const Instruction &one, unsigned k) const {
  const Op op = module_.opcode(one).op;
  const auto at = static_cast<std::uint32_t>(&one - kernel_.instructions.data());
  if (facts::is_barrier_of_all(module_, one) || is_of_thread(module_, one) ||
      ((op == Op::bar || op == Op::barrier) && meetings_.in_warp(at)))
    return 0;
  return keeper(synth::is_shared(module_, one, by_row_), synth::is_shared(module_, one, by_column_),
                k);
}

bool Sharing::is_shared(const Instruction &one) const {
  return synth::is_shared(module_, one, by_some_);
}

bool lets_others_launch(const Opcode &opcode) {
  return opcode.text == "griddepcontrol.launch_dependents";
}

bool is_shared(const Module &module, const Instruction &instruction,
               const std::vector<bool> &shared) {
  const auto written = written_registers(module, instruction);
  return !written.empty() &&
         std::all_of(written.begin(), written.end(), [&](RegisterId reg) { return shared[reg]; });
}

CoarsenNames::CoarsenNames(const Function &kernel) {
  std::set<std::string> taken;
  for (const Register &reg : kernel.registers) {
    std::string suffix(reg.name);
    std::erase(suffix, '%');
    while (!taken.insert(suffix).second) // scopes may declare one name twice
      suffix += '_';
    suffixes_.push_back(std::move(suffix));
  }
}

} // namespace ptxasw::synth
