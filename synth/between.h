#pragma once

#include "emulator/emulate.h"
#include "synth/report.h"

#include <map>
#include <optional>
#include <vector>

namespace ptxasw {

/// Answers what happens to memory between two loads on all paths from one to the other
/// (soundness.md, rule 5).
class Between {
public:
  Between(Emulation &emulation, bool assume_no_alias);

  /// Why `load` may not reuse what `source` read, both indices in the trace and the source
  /// dominating the load; nothing if it may. `assumed` is set if only the user's word allows it.
  std::optional<Reason> obstacle(std::size_t source, std::size_t load, bool &assumed);

private:
  const std::vector<BlockId> *blocks_between(BlockId source, BlockId load);
  bool apart(const MemoryAccess &store, const MemoryAccess &load, bool &certainly_same);

  Emulation &emulation_;
  bool assume_no_alias_;
  std::vector<std::vector<std::size_t>> events_; ///< stores and syncs of a block, trace indices
  std::map<std::pair<BlockId, BlockId>, std::vector<BlockId>> memo_;
  std::size_t visited_ = 0;
};

} // namespace ptxasw
