// Decides if every generic address of a module is global. Only the module's own `cvta` and called
// external functions can create another one; hosts pass none.

#include "emulator/symbolic/generic.h"

#include "emulator/symbolic/calls.h"
#include "grammar/roles.h"

#include <algorithm>

namespace ptxasw::inline emulator {
namespace {

/// True if an instruction may make a generic address that is not global.
bool may_make_another(const Module &module, const Instruction &instruction) {
  const Opcode &opcode = module.opcode(instruction);
  if (opcode.op == Op::cvta)
    return !opcode.has(Modifier::to) && opcode.space != StateSpace::global &&
           opcode.space != StateSpace::constant;
  // The shared memory of another block of the cluster; an unknown space or opcode.
  return opcode.op == Op::mapa || first_operand(opcode) == FirstOperand::unknown;
}

} // namespace

bool generic_is_global(const Module &module) {
  const CallTargets targets(module);
  return std::all_of(
      module.functions.begin(), module.functions.end(), [&](const Function &function) {
        return std::none_of(function.instructions.begin(), function.instructions.end(),
                            [&](const Instruction &instruction) {
                              return may_make_another(module, instruction) ||
                                     (module.opcode(instruction).op == Op::call &&
                                      !targets.of(instruction));
                            });
      });
}

} // namespace ptxasw::emulator
