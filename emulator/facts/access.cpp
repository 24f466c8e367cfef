// By opcode; an operand with an unusual shape is not a site, as nothing could be said about it.

#include "emulator/facts/access.h"

#include <algorithm>
#include <array>

namespace ptxasw::facts {
namespace {

/// The memory operands of an instruction, in order.
std::vector<const Operand *> addresses(const Module &module, const Instruction &instruction) {
  std::vector<const Operand *> result;
  for (const Operand &operand : module.operands(instruction))
    if (operand.kind == Operand::Kind::address && operand.child_count == 1)
      result.push_back(&operand);
  return result;
}

// cp.async.ca.shared.global [dst], [src], bytes, ...: two accesses of as many bytes as the third
// operand says.
void add_copy(const Module &module, std::uint32_t index, const Instruction &instruction,
              std::vector<AccessSite> &sites) {
  const auto operands = module.operands(instruction);
  const auto memory = addresses(module, instruction);
  if (memory.size() != 2 || operands.size() < 3 || operands[2].kind != Operand::Kind::integer ||
      operands[2].value < 1 || operands[2].value > 16)
    return;
  const auto bytes = static_cast<unsigned>(operands[2].value);
  sites.push_back({index, AccessKind::load, StateSpace::global, bytes, memory[1]});
  sites.push_back({index, AccessKind::store, StateSpace::shared, bytes, memory[0]});
}

} // namespace

std::string_view to_string(AccessKind kind) {
  static constexpr std::array<std::string_view, 3> names{"load", "store", "atomic"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<AccessSite> access_sites(const Module &module, const Function &function) {
  std::vector<AccessSite> sites;
  for (std::uint32_t i = 0; i < function.instructions.size(); ++i) {
    const Instruction &instruction = function.instructions[i];
    const Opcode &opcode = module.opcode(instruction);
    const Op op = opcode.op;
    if (!instruction.well_formed)
      continue;
    if (op == Op::cp && opcode.has(Modifier::async) && !opcode.has(Modifier::bulk)) {
      add_copy(module, i, instruction, sites);
      continue;
    }
    const bool load = op == Op::ld || op == Op::ldu, store = op == Op::st;
    const bool atomic = op == Op::atom || op == Op::red;
    if (!load && !store && !atomic)
      continue;
    const unsigned bytes = opcode.bytes();
    const auto memory = addresses(module, instruction);
    // red.async also names a barrier; multimem and tensor forms have no single address.
    if (memory.size() != 1 || bytes == 0 || bytes > 32)
      continue;
    sites.push_back({i,
                     load    ? AccessKind::load
                     : store ? AccessKind::store
                             : AccessKind::atomic,
                     opcode.space, bytes, memory[0]});
  }
  return sites;
}

} // namespace ptxasw::facts
