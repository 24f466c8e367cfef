// The recipes "Add an analysis" and "Add a command" of CONTRIBUTING.md, followed for a toy: one
// file with what is known, one file with the command that tells it.

#include "recipes/barriers.h"

#include <algorithm>

namespace ptxasw::analysis {

std::uint32_t count_barriers(const Module &module, const Function &function) {
  return static_cast<std::uint32_t>(std::count_if(
      function.instructions.begin(), function.instructions.end(), [&](const Instruction &one) {
        const Opcode &opcode = module.opcode(one);
        return is_one_of(opcode.op, {Op::bar, Op::barrier}) && !opcode.has(Modifier::warp) &&
               !opcode.has(Modifier::cluster);
      }));
}

} // namespace ptxasw::analysis
