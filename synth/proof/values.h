#pragma once

// What added code computes with: symbols that stand for what loads and shuffles give, and the
// registers that were added.

#include "synth/proof/original.h"

#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptxasw::synth {

/// What a shuffle gives: an expression in another lane.
struct Shuffled {
  Expr source = nullptr;
  int delta = 0;       ///< lanes up
  Expr mask = nullptr; ///< its member mask
  BlockId block = 0;
};

/// The values of one function's added code. What it knows nothing of is a symbol that equals
/// nothing.
class AddedValues {
public:
  /// The block of added code before the whole body: it runs once.
  static constexpr BlockId entry_block = no_index;

  AddedValues(Original &original, std::size_t registers)
      : original_(original), registers_(registers) {}

  /// A symbol that equals nothing else.
  Expr opaque(std::string_view name, unsigned width) {
    return original_.pool().symbol(std::string(name), std::max(width, 1u));
  }
  /// The value that a load gives; one symbol for each element.
  Expr loaded(LoadedElement element);
  Expr shuffled(const Shuffled &shuffle);
  /// What activemask gives in a region.
  Expr mask(unsigned region);

  /// What a symbol stands for; null if it is no such symbol.
  const LoadedElement *load_of(Expr symbol) const;
  const Shuffled *shuffle_of(Expr symbol) const;
  bool is_mask(Expr symbol, unsigned region) const;
  /// Returns true if all lanes of the warp are known to take part in a shuffle.
  bool is_full(const Shuffled &shuffle, const Known &known) const;

  /// From now on a loaded symbol is `value` to the emulation.
  void is_emulated(Expr symbol, Expr value) { emulated_.try_emplace(symbol, value); }
  /// A loaded value as the emulation of the original knows it, to compute with.
  Expr as_emulated(Expr value) const {
    const auto known = emulated_.find(value);
    return known == emulated_.end() ? value : known->second;
  }

  /// An added register, by its index in the rewritten function, is written somewhere in a block;
  /// to be said of all before the first is read.
  void note_writer(RegisterId reg, BlockId block);
  /// What it holds for code in a block, `width` bits.
  Expr read(RegisterId reg, BlockId block, unsigned width);
  void write(RegisterId reg, BlockId block, Expr value);

private:
  /// Blocks that write a register: several.
  static constexpr BlockId several_blocks = no_index - 1;
  static constexpr BlockId not_written = no_index - 2;

  struct AddedRegister {
    BlockId written_in = not_written;
    BlockId valued_in = not_written; ///< the block in which `value` was written last
    Expr value = nullptr;
  };

  Original &original_;
  std::map<LoadedElement, Expr> symbols_;
  std::unordered_map<Expr, LoadedElement> loaded_;
  std::unordered_map<Expr, Shuffled> shuffles_;
  std::unordered_map<unsigned, std::vector<Expr>> masks_; ///< by region
  std::unordered_map<Expr, Expr> emulated_; ///< loaded symbols to their names in the emulation
  std::vector<AddedRegister> registers_;
};

} // namespace ptxasw::synth
