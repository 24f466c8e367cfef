#pragma once

// Liveness of registers, by block. Who writes code asks which registers to save, and who proves
// asks which must agree: `liveness.live_in(cfg.loops()[loop].header, reg)`.

#include "grammar/cfg.h"

#include <vector>

namespace ptxasw::ptx {

/// Which registers may be read after a block's entry before they are written. Registers that never
/// cross a block boundary take no space. In functions so large that blocks times registers would
/// take more than 3 x 64 MB, every register that crosses blocks counts as live.
class Liveness {
public:
  Liveness(const Module &module, const Function &function, const ControlFlowGraph &cfg);

  bool live_in(BlockId block, RegisterId reg) const;
  bool live_out(BlockId block, RegisterId reg) const;

private:
  using Word = std::uint64_t;
  bool bit(const std::vector<Word> &bits, BlockId block, RegisterId reg) const;

  std::vector<std::uint32_t>
      index_of_;          ///< of a register among those that cross blocks, or no_index
  std::size_t words_ = 0; ///< per block
  bool too_large_ = false;
  std::vector<Word> in_, out_;
};

} // namespace ptxasw::ptx
