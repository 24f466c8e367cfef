// Words are taken in the one order that PTX has them in; what is left over is not understood.

#include "emulator/semantics/global_load.h"

namespace ptxasw::emulator {
namespace {

constexpr unsigned widest_load = 16; ///< bytes that one load reads on every target

/// What the words from `next` on say, that of the space being known.
std::optional<QualifiedLoad> qualified(const Opcode &opcode, std::size_t next, bool may_be_nc) {
  const auto take = [&](std::string_view name) {
    const bool is_next = next < opcode.modifiers.size() && opcode.modifiers[next] == name;
    next += is_next;
    return is_next;
  };
  QualifiedLoad load;
  load.nc = may_be_nc && take("nc");
  load.hinted = take("L1::evict_last") || take("L1::no_allocate");
  load.hinted |= take("L2::128B");
  if (!take("v2"))
    take("v4");
  if (next + 1 != opcode.modifiers.size() || opcode.type == ScalarType::none ||
      opcode.type == ScalarType::b128 || opcode.vector * bit_width(opcode.type) > 8 * widest_load)
    return std::nullopt;
  return load;
}

} // namespace

std::optional<QualifiedLoad> qualified_load(const Opcode &opcode) {
  if (opcode.op != Op::ld || opcode.modifiers.empty() || opcode.modifiers[0] != "global")
    return std::nullopt;
  return qualified(opcode, 1, true);
}

std::optional<QualifiedLoad> generic_load(const Opcode &opcode) {
  if (opcode.op != Op::ld || opcode.space != StateSpace::generic)
    return std::nullopt;
  return qualified(opcode, 0, false);
}

} // namespace ptxasw::emulator
