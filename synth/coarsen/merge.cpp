// Where blocks are one thread thick along the axis, neighbouring blocks are neighbouring rows, and
// the row below for one copy is the row of the next. A load's address is written for each copy
// (copies.cpp); equal expressions are equal addresses.
//
// The value is also the same if no copy has stored in between (blocks do not see
// each other's stores, a copy its own), both loads run always - they stand in one basic block and
// have no guard - and read the same type; and it is still there if nothing has written the register
// since. Ordered and volatile loads do not come here: synth/spread.cpp refuses the kernel.

#include "synth/coarsen/merge.h"

#include "grammar/pragmas.h"
#include "grammar/roles.h"
#include "synth/coarsen/copies.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace ptxasw::synth {
namespace {

class Merger {
public:
  Merger(const Module &module, const Function &kernel, const CoarsenForm &form)
      : module_(module), kernel_(kernel), copies_(form.total()), views_(module, kernel, form) {}

  std::vector<MergedLoad> run() {
    if (!views_.complete())
      return {};
    for (const MemoryAccess &access : views_.emulation().trace()) {
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

  /// The register that a load without a guard writes, alone and all of it; no_register for others.
  RegisterId destination(std::uint32_t load) const {
    const Instruction &instruction = kernel_.instructions[load];
    const auto operands = module_.operands(instruction);
    if (leaves_bytes_undefined(kernel_, load) || !instruction.well_formed ||
        instruction.guard != no_register || operands.size() != 2 ||
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
    const RegisterId reg = destination(access.instruction);
    const Expr address = reg == no_register ? nullptr : views_.common_address(access);
    if (!address)
      return;
    for (unsigned k = 0; k < copies_; ++k) {
      const auto key = std::pair(views_.of(address, k)->id, module_.opcode(instruction).text);
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
  CopyViews views_;
  BlockId block_ = no_index;
  std::map<std::pair<std::uint32_t, std::string_view>, Holder> seen_;
  std::vector<MergedLoad> result_;
};

} // namespace

const std::vector<MergedLoad> &merged_loads(const KernelContext &context, const CoarsenForm &form) {
  return context.once(fmt::format("{} {}", coarsen_variant({form}), form.shift), [&] {
    return form.merges() ? Merger(context.module, context.kernel, form).run()
                         : std::vector<MergedLoad>();
  });
}

} // namespace ptxasw::synth
