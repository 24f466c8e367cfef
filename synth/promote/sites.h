#pragma once

// Which loads of a loop repeat, and what its stores may do to them.

#include "synth/family.h"
#include "synth/promote/loop_values.h"

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::promote {

/// A load that becomes a register.
struct RepeatedLoad {
  std::uint32_t instruction = 0;
  /// Stores of the loop to the very place: what they write is what it would read next.
  std::vector<std::uint32_t> to_the_place;
};

/// What is promoted in a loop.
struct Promotion {
  LoopId loop = 0;
  std::vector<RepeatedLoad> loads;
  std::vector<Condition> conditions; ///< each once
};

/// How a store of the same thread may be related to a load by the spaces they name.
enum class Spaces : std::uint8_t {
  apart,      ///< never the same bytes
  comparable, ///< the same bytes where their addresses say so
  unknown,    ///< their addresses say nothing
};

/// `all_global`: generic addresses of the module are global (emulator/symbolic/generic.h).
Spaces spaces_of(const Opcode &load, const Opcode &store, bool all_global);

/// Returns true if a load may be promoted as far as its opcode says: weak, from memory that is
/// global or generic.
bool is_repeatable(const Opcode &opcode);

/// The register of which a store to a scalar place of 32 or 64 bits writes all bits, or a number;
/// null if it is another store, or does not write what `load` would read back.
const Operand *forwarded(const Module &module, const Function &function, std::uint32_t load,
                         std::uint32_t store);

/// Why nothing in a loop is promoted; or what is.
tl::expected<Promotion, Refusal> promotion_of(const Module &module, const Function &function,
                                              const ControlFlowGraph &cfg, LoopId loop,
                                              Atoms &atoms);

/// Returns true if a loop is one that the law speaks of: entered in one place only, with nothing in
/// it that synchronises.
bool is_plain(const Module &module, const Function &function, const ControlFlowGraph &cfg,
              LoopId loop);

} // namespace ptxasw::promote
