#pragma once

// May memory have changed between an earlier load and this one? Detection asks for each source; the
// proof asks again by itself (synth/proof/prove_reuse.cpp).

#include "emulator/symbolic/emulate.h"
#include "synth/paths.h"
#include "synth/report.h"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace ptxasw::synth {

/// What lies between a load and an earlier one (soundness.md, rule 5).
struct Passage {
  std::optional<Reason> obstacle;    ///< why the value may have changed; empty: it has not, if the
                                     ///< stores below did not write it
  std::vector<std::uint32_t> stores; ///< instructions whose address the lane has to compare with
                                     ///< the load's; each runs before it in the same iteration
  bool assumed = false;              ///< only the user's word allows it
  bool by_solver = false;            ///< Z3 has shown that what stands in some block never ran
  bool exchanges = false; ///< an instruction that orders nothing lies there (leaves_global_alone)
  bool written = false;   ///< a store to the load's memory does
  std::vector<Expr> tested = {}; ///< addresses of `stores`
};

/// Answers what happens to memory between two loads on all paths from one to the other
/// (soundness.md, rule 5).
class Between {
public:
  /// `paths` are of the same kernel.
  Between(const Module &module, const Function &function, Emulation &emulation, Paths &paths,
          bool assume_no_alias);

  /// What lies between `source` and `load`, both indices in the trace, the source dominating the
  /// load and in its innermost loop or in one around it. With `may_test` false a store is an
  /// obstacle unless it is proved to write elsewhere.
  Passage passage(std::size_t source, std::size_t load, bool may_test);
  /// The same for sources in several blocks, none of which dominates the load: `between` are the
  /// blocks behind them on its ways (ways.h).
  Passage passage(std::span<const std::size_t> sources, std::size_t load,
                  std::span<const BlockId> between, bool may_test = false);

private:
  enum class Overlap : std::uint8_t { never, always, unknown };

  bool passes(std::size_t event, const MemoryAccess &source, const MemoryAccess &load,
              bool may_test, Passage &result);
  bool harmless(std::size_t event, const MemoryAccess &source, const MemoryAccess &load,
                bool may_test, Passage &result);
  const std::vector<BlockId> *blocks_between(BlockId source, BlockId load);
  Overlap overlap(const MemoryAccess &store, const MemoryAccess &source, const MemoryAccess &load);
  bool testable(const MemoryAccess &store, const MemoryAccess &source, const MemoryAccess &load);

  const Module &module_;
  const Function &function_;
  Emulation &emulation_;
  Paths &paths_;
  bool assume_no_alias_;
  std::vector<std::vector<std::size_t>> events_; ///< stores and syncs of a block, trace indices
  std::map<std::pair<BlockId, BlockId>, std::vector<BlockId>> memo_;
  std::size_t visited_ = 0;
};

/// Returns true if an access addresses by a 64-bit register, so that a test can compare addresses.
bool has_base_register(const Module &module, const Function &function,
                       const Instruction &instruction);

} // namespace ptxasw::synth
