// Where blocks are one thread thick along the axis, neighbouring blocks are neighbouring rows, and
// the row below for one copy is the row of the next. A load's address is written for each copy: the
// kernel's expression with the block's index as B + k, the extent as 1, the thread's index as 0.
// Where copies are threads of one block, with the thread's index as T * K + k instead.
// Equal expressions are equal addresses if every symbol in them means the same for all copies:
// parameters, indices, and how often a loop has iterated, since lockstep iterates with all of them.
//
// The value is also the same if no copy has stored in between (soundness.md, T3: blocks do not see
// each other's stores, a copy its own), both loads run always - they stand in one basic block and
// have no guard - and read the same type; and it is still there if nothing has written the register
// since. Ordered and volatile loads do not come here: obstacle.cpp refuses the kernel.

#include "synth/retile/merge.h"

#include "emulator/emulate.h"
#include "grammar/roles.h"
#include "synth/retile/retile.h"

#include <fmt/core.h>
#include <map>
#include <unordered_set>

namespace ptxasw {
namespace {

class Merger {
public:
  Merger(const Module &module, const Function &kernel, const RetileForm &form)
      : module_(module), kernel_(kernel), copies_(form.copies),
        emulation_(module, kernel, launch_facts(kernel)) {
    if (!emulation_.complete())
      return;
    const char name = "xyz"[form.axis];
    const Expr index = special("ctaid", name), extent = special("ntid", name),
               thread = special("tid", name);
    ExprPool &pool = emulation_.pool();
    const auto number = [&](std::uint64_t value) { return pool.constant(32, value); };
    // All copies lie in the grid, or in the block: the last of them has an index below the largest
    // extent.
    const std::uint64_t most = form.within_block() ? 1024 / copies_ - 1
                               : form.axis == 0    ? 0x7fffffff - copies_
                                                   : 0xffff - copies_;
    const Expr first = pool.symbol("first", 32, most);
    for (unsigned k = 0; k < copies_; ++k) {
      copies_views_.emplace_back(pool);
      std::vector<std::pair<Expr, Expr>> view;
      if (form.within_block())
        view = {{thread, pool.add(pool.mul(first, number(copies_)), number(k))}};
      else
        view = {{index, pool.add(first, number(k))}, {extent, number(1)}, {thread, number(0)}};
      for (const auto &[symbol, value] : view)
        if (symbol->kind == ExprKind::symbol)
          copies_views_.back().map(symbol, value);
    }
    for (const char *what : {"tid", "ntid", "ctaid", "nctaid"})
      for (const char a : {'x', 'y', 'z'})
        common_.insert(special(what, a));
  }

  std::vector<MergedLoad> run() {
    if (!emulation_.complete())
      return {};
    for (const MemoryAccess &access : emulation_.trace()) {
      if (access.block != block_ || access.effect != Effect::load) {
        block_ = access.block;
        seen_.clear();
      }
      if (access.effect == Effect::load)
        look_at(access);
    }
    return std::move(result_);
  }

private:
  /// Where a value is.
  struct Holder {
    std::uint32_t load = 0;
    unsigned copy = 0;
    RegisterId reg = no_register;
  };

  Expr special(std::string_view what, char axis) {
    return emulation_.special(fmt::format("%{}.{}", what, axis));
  }

  bool same_for_all_copies(Expr address, BlockId block) {
    bool same = true;
    for_each_node(address, [&](Expr node) {
      if (node->kind != ExprKind::symbol || common_.contains(node) ||
          emulation_.parameter_field(node))
        return;
      for (LoopId loop = emulation_.cfg().loop_of(block); loop != no_index;
           loop = emulation_.cfg().loops()[loop].parent)
        if (emulation_.trip_count(loop) == node)
          return;
      same = false;
    });
    return same;
  }

  /// The register that a load without a guard writes, alone; no_register for others.
  RegisterId destination(const Instruction &instruction) const {
    const auto operands = module_.operands(instruction);
    if (!instruction.well_formed || instruction.guard != no_register || operands.size() != 2 ||
        operands[0].kind != Operand::Kind::reg || operands[0].selector != 0)
      return no_register;
    return operands[0].reg;
  }

  /// Returns true if a register keeps its value from after one instruction to before another.
  bool keeps(RegisterId reg, std::uint32_t from, std::uint32_t to) const {
    bool kept = true;
    for (std::uint32_t i = from + 1; i < to; ++i)
      for_each_register(module_, kernel_.instructions[i], [&](RegisterId other, RegisterUse use) {
        kept &= use == RegisterUse::read || other != reg;
      });
    return kept;
  }

  void look_at(const MemoryAccess &access) {
    const Instruction &instruction = kernel_.instructions[access.instruction];
    const RegisterId reg = destination(instruction);
    if (!access.address || access.guard || access.decided || reg == no_register)
      return;
    const Expr address = emulation_.expand(access.address);
    if (!same_for_all_copies(address, access.block))
      return;
    for (unsigned k = 0; k < copies_; ++k) {
      const auto key = std::pair(copies_views_[k](address)->id, module_.opcode(instruction).text);
      const auto [found, is_new] = seen_.try_emplace(key, Holder{access.instruction, k, reg});
      Holder &holder = found->second;
      if (is_new)
        continue;
      // What an earlier load of this register left is gone when its copy loads here.
      const bool gone = holder.load != access.instruction &&
                        (!keeps(holder.reg, holder.load, access.instruction) ||
                         (holder.reg == reg && holder.copy <= k));
      if (gone || kernel_.registers[holder.reg].type != kernel_.registers[reg].type)
        holder = {access.instruction, k, reg};
      else
        result_.push_back({access.instruction, k, holder.load, holder.copy});
    }
  }

  const Module &module_;
  const Function &kernel_;
  const unsigned copies_;
  Emulation emulation_;
  std::vector<Substitution> copies_views_;
  std::unordered_set<Expr> common_;
  BlockId block_ = no_index;
  std::map<std::pair<std::uint32_t, std::string_view>, Holder> seen_;
  std::vector<MergedLoad> result_;
};

} // namespace

std::vector<MergedLoad> merged_loads(const Module &module, const Function &kernel,
                                     const RetileForm &form) {
  return Merger(module, kernel, form).run();
}

} // namespace ptxasw
