// `red` is `atom` without a result: what they do to memory, and how they order it, is the same (PTX
// ISA 9.7.13.6). Whether a result is read is asked of the text, not of ways through it.

#include "emulator/facts/unread.h"

#include "emulator/semantics/effects.h"
#include "grammar/roles.h"

#include <algorithm>
#include <array>

namespace ptxasw::facts {
namespace {

bool could_be_a_reduction(const Opcode &opcode) {
  static constexpr std::array<std::string_view, 8> operations{"add", "inc", "dec", "min",
                                                              "max", "and", "or",  "xor"};
  return is_relaxed_atomic(opcode) &&
         std::any_of(operations.begin(), operations.end(),
                     [&](std::string_view name) { return opcode.has(name); });
}

} // namespace

bool is_relaxed_atomic(const Opcode &opcode) {
  static constexpr std::array orders{Modifier::shared_cluster, Modifier::release, Modifier::acq_rel,
                                     Modifier::acquire,        Modifier::async,   Modifier::mmio,
                                     Modifier::volatile_};
  return opcode.op == Op::atom && is_known(opcode) &&
         std::none_of(orders.begin(), orders.end(), [&](Modifier one) { return opcode.has(one); });
}

std::vector<bool> unread_atomics(const Module &module, const Function &function) {
  std::vector<bool> unread(function.instructions.size(), false);
  bool any = false;
  for (std::size_t i = 0; i < unread.size(); ++i)
    any |= unread[i] = function.instructions[i].well_formed &&
                       could_be_a_reduction(module.opcode(function.instructions[i]));
  if (!any)
    return unread;
  std::vector<bool> read(function.registers.size(), false);
  for (const Instruction &instruction : function.instructions)
    for_each_register(module, instruction, [&](RegisterId reg, RegisterUse use) {
      read[reg] = read[reg] || use == RegisterUse::read;
    });
  for (std::size_t i = 0; i < unread.size(); ++i)
    if (unread[i])
      for_each_register(module, function.instructions[i], [&](RegisterId reg, RegisterUse use) {
        unread[i] = unread[i] && (use == RegisterUse::read || !read[reg]);
      });
  return unread;
}

} // namespace ptxasw::facts
