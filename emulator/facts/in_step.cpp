// Whether two accesses of global memory are to one array is asked of their beginnings (origins.h).
// Shared memory is one array here, and a generic address may be of any.

#include "emulator/facts/in_step.h"

#include "emulator/facts/origins.h"
#include "emulator/semantics/effects.h"

#include <algorithm>
#include <array>
#include <optional>

namespace ptxasw::facts {
namespace {

const Operand *address_in(const Module &module, const Instruction &instruction) {
  for (const Operand &operand : module.operands(instruction))
    if (operand.kind == Operand::Kind::address)
      return &operand;
  return nullptr;
}

/// Returns true if an instruction may write memory that other threads see.
bool may_write(const Opcode &opcode) {
  if (opcode.op == Op::ld || opcode.op == Op::ldu)
    return false;
  if (is_one_of(opcode.op, {Op::st, Op::red, Op::atom}))
    return opcode.space != StateSpace::local && opcode.space != StateSpace::param;
  return traits(opcode.op).memory == MemoryUse::any;
}

bool may_meet(const Module &module, const Origins &origins, const Instruction &load,
              const Instruction &writer) {
  const Opcode &from = module.opcode(load), &to = module.opcode(writer);
  const Operand *const read = address_in(module, load), *const written = address_in(module, writer);
  if (!is_one_of(to.op, {Op::st, Op::red, Op::atom}) || !read || !written)
    return true;
  const auto is = [&](StateSpace space) { return from.space == space || to.space == space; };
  if (is(StateSpace::generic) || from.space == to.space)
    return is(StateSpace::shared) ||
           !Origins::are_apart(origins.of_address(*read), origins.of_address(*written));
  return false;
}

} // namespace

bool is_unordered_access(const Opcode &opcode) {
  static constexpr std::array orders{Modifier::acquire,        Modifier::release, Modifier::acq_rel,
                                     Modifier::shared_cluster, Modifier::async,   Modifier::mmio};
  const auto &words = opcode.modifiers;
  return is_one_of(opcode.op, {Op::ld, Op::st}) && is_known(opcode) &&
         (opcode.has(Modifier::volatile_) || opcode.has(Modifier::relaxed)) &&
         std::find(words.begin(), words.end(), "cv") == words.end() &&
         std::none_of(orders.begin(), orders.end(), [&](Modifier one) { return opcode.has(one); });
}

std::vector<bool> accesses_in_step(const Module &module, const Function &kernel) {
  const auto &all = kernel.instructions;
  std::vector<bool> unordered(all.size(), false);
  bool any = false;
  for (std::size_t i = 0; i < all.size(); ++i)
    any |= unordered[i] = is_unordered_access(module.opcode(all[i]));
  if (!any)
    return unordered;
  const Origins origins(module, kernel);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (unordered[i] && module.opcode(all[i]).op == Op::ld)
      for (const Instruction &writer : all)
        if (may_write(module.opcode(writer)) && may_meet(module, origins, all[i], writer))
          return unordered;
  return std::vector<bool>(all.size(), false);
}

} // namespace ptxasw::facts
