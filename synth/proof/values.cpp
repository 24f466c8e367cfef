// An added register has what the added code gave it, if that certainly ran, and otherwise a symbol
// that equals nothing. Of such a symbol it is remembered what may have been written.

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

bool AddedValues::is_full(unsigned region, const Known &known) const {
  ExprPool &pool = original_.pool();
  const auto masks = masks_.find(region);
  return masks != masks_.end() &&
         std::any_of(masks->second.begin(), masks->second.end(), [&](Expr mask) {
           return known.decide(pool.eq(mask, pool.constant(32, 0xffffffff))) == true;
         });
}

std::vector<LoadedElement> AddedValues::sources_of(Expr value, BlockId block) const {
  if (const LoadedElement *const source = load_of(value))
    return {*source};
  std::vector<LoadedElement> result;
  const auto unsure = if_executed_.find(value);
  if (unsure == if_executed_.end())
    return result;
  for (const auto &[writer, written] : registers_[unsure->second].written_as) {
    const LoadedElement *const source = load_of(written);
    // In the block where the value is read it would be that of another iteration; and the value
    // must have been read in the block that carries it on.
    if (!source || writer == block || writer == entry_block ||
        original_.cfg().block_of(source->load) != writer)
      return {};
    result.push_back(*source);
  }
  return result;
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
  if (in == not_written || in == block || !added.value)
    return opaque("stale", width);
  const ControlFlowGraph &cfg = original_.cfg();
  if (in != several_blocks) {
    const LoopId loop = in == entry_block ? no_index : cfg.loop_of(in);
    const bool before = in == entry_block || (block != entry_block && cfg.dominates(in, block));
    if (before && (loop == no_index || cfg.contains(loop, block)))
      return added.value;
  }
  // Written only if that block was passed, or one of several.
  const Expr symbol = opaque("if-executed", width);
  if_executed_[symbol] = reg;
  return symbol;
}

void AddedValues::write(RegisterId reg, BlockId block, Expr value) {
  registers_[reg].value = registers_[reg].written_as[block] = value;
  registers_[reg].valued_in = block;
}

std::vector<std::pair<Expr, Expr>> AddedValues::if_passed(BlockId block) const {
  std::vector<std::pair<Expr, Expr>> result;
  for (const auto &[symbol, reg] : if_executed_)
    if (registers_[reg].written_in == block && registers_[reg].value)
      result.emplace_back(symbol, as_emulated(registers_[reg].value));
  return result;
}

} // namespace ptxasw::synth
