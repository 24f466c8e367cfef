#pragma once

// What lies between a load and an earlier one (soundness.md, rule 5). Who asks has the say in
// whether a store spares the load:
//   between.passage({block, source + 1}, load, spares).obstacle

#include "emulator/symbolic/emulate.h"

#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace ptxasw::facts {

/// Why a value may have changed: something that orders memory, a store, or more than was looked at.
enum class MetBetween : std::uint8_t { sync, store, budget };

/// What was met between a load and earlier ones.
struct Passage {
  std::optional<MetBetween> obstacle; ///< why the value may have changed; empty: it has not
  bool exchanges = false; ///< an instruction that orders nothing lies there (leaves_global_alone)
  bool written = false;   ///< a store to the load's memory does
};

/// Where what comes behind a load begins: at this instruction of its block.
struct Behind {
  BlockId block = 0;
  std::uint32_t first = 0;
};

/// Answers what happens to memory between two loads on all paths from one to the other. The load
/// asked about is of global memory.
class Between {
public:
  Between(const Module &module, const Function &function, Emulation &emulation);

  /// Says if a store, or what else may write, leaves the load's bytes alone where it runs.
  using Spares = std::function<bool(const MemoryAccess &store)>;

  /// What lies between a source and a load that it dominates, in its innermost loop or in one
  /// around it.
  Passage passage(Behind source, const MemoryAccess &load, const Spares &spares);

private:
  bool passes(const MemoryAccess &event, BlockId source, const MemoryAccess &load,
              const Spares &spares, Passage &result) const;
  const std::set<BlockId> *blocks_between(BlockId source, BlockId load);

  const Module &module_;
  const Function &function_;
  Emulation &emulation_;
  std::vector<std::vector<std::size_t>> events_; ///< stores and syncs of a block, trace indices
  std::map<std::pair<BlockId, BlockId>, std::set<BlockId>> memo_;
  std::size_t visited_ = 0;
};

/// Returns true if an instruction from `first` on writes, before a load further down in the block,
/// what the load reads, or touches what it writes.
bool touched_between(const Module &module, const Function &function, std::uint32_t first,
                     std::uint32_t load);

/// If a store touches the bytes of a load.
enum class Overlap : std::uint8_t { never, always, unknown };

/// Compares a store with a load by their addresses alone, as one thread executes both in one
/// iteration of the loops around the block `source` and the load.
Overlap overlap(Emulation &emulation, const MemoryAccess &store, BlockId source,
                const MemoryAccess &load);

} // namespace ptxasw::facts
