#pragma once

// Where a function touches memory, according to its text.
//   for (const AccessSite &site : access_sites(module, function)) site.kind

#include "grammar/module.h"

#include <cstdint>
#include <vector>

namespace ptxasw::facts {

/// What an access does.
enum class AccessKind : std::uint8_t {
  load,   ///< ld, ldu, the source of cp.async
  store,  ///< st, the destination of cp.async
  atomic, ///< atom, red
};

std::string_view to_string(AccessKind kind);

/// One memory operand of one instruction: ld, ldu, st, atom, red, cp.async (PTX
/// ISA 9.7.9, 9.7.13.5). Bulk copies, matrices, textures and surfaces are not among them.
struct AccessSite {
  std::uint32_t instruction = 0; ///< index in Function::instructions
  AccessKind kind = AccessKind::load;
  StateSpace space = StateSpace::generic; ///< as written
  unsigned bytes = 0;                     ///< per lane
  const Operand *address = nullptr;       ///< of kind address
};

/// All of them in source order.
std::vector<AccessSite> access_sites(const Module &module, const Function &function);

} // namespace ptxasw::facts
