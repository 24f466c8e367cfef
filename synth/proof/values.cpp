// An added register has what the added code gave it, if that certainly ran, and otherwise a symbol
// that equals nothing.

#include "synth/proof/values.h"

#include <algorithm>

namespace ptxasw::synth {

Expr AddedValues::loaded(LoadedElement element) {
  Expr &symbol = symbols_[element];
  if (!symbol) {
    symbol = opaque("loaded", original_.width(element));
    loaded_[symbol] = element;
  }
  return symbol;
}

Expr AddedValues::shuffled(const Shuffled &shuffle) {
  const Expr symbol = opaque("shuffled", 32);
  shuffles_[symbol] = shuffle;
  return symbol;
}

Expr AddedValues::mask(unsigned region) {
  return masks_[region].emplace_back(opaque("activemask", 32));
}

const LoadedElement *AddedValues::load_of(Expr symbol) const {
  const auto found = loaded_.find(symbol);
  return found == loaded_.end() ? nullptr : &found->second;
}

const Shuffled *AddedValues::shuffle_of(Expr symbol) const {
  const auto found = shuffles_.find(symbol);
  return found == shuffles_.end() ? nullptr : &found->second;
}

bool AddedValues::is_mask(Expr symbol, unsigned region) const {
  const auto masks = masks_.find(region);
  return masks != masks_.end() &&
         std::find(masks->second.begin(), masks->second.end(), symbol) != masks->second.end();
}

bool AddedValues::is_full(const Shuffled &shuffle, const Known &known) const {
  ExprPool &pool = original_.pool();
  return known.decide(pool.eq(shuffle.mask, pool.constant(32, 0xffffffff))) == true;
}

void AddedValues::note_writer(RegisterId reg, BlockId block) {
  BlockId &in = registers_[reg].written_in;
  in = in == not_written || in == block ? block : several_blocks;
}

Expr AddedValues::read(RegisterId reg, BlockId block, unsigned width) {
  const AddedRegister &added = registers_[reg];
  const BlockId in = added.written_in;
  if (added.valued_in == block)
    return added.value;
  if (added.value && in != several_blocks && in != block) {
    const ControlFlowGraph &cfg = original_.cfg();
    const LoopId loop = in == entry_block ? no_index : cfg.loop_of(in);
    const bool before = in == entry_block || (block != entry_block && cfg.dominates(in, block));
    if (before && (loop == no_index || cfg.contains(loop, block)))
      return added.value;
  }
  return opaque("stale", width); // written by another round, or only if a block was passed
}

void AddedValues::write(RegisterId reg, BlockId block, Expr value) {
  registers_[reg].value = value;
  registers_[reg].valued_in = block;
}

} // namespace ptxasw::synth
