// Where blocks are one thread thick along the axis, neighbouring blocks are neighbouring rows, and
// the row below for one copy is the row of the next. A load's address is written for each copy
// (copies.cpp); equal expressions are equal addresses.
//
// The value is also the same if no copy has stored in between (blocks do not see
// each other's stores, a copy its own), both loads run always - they stand in one basic block and
// have no guard - and read the same type; and it is still there if nothing has written the register
// since. Ordered and volatile loads do not come here: synth/spread.cpp refuses the kernel.

#include "synth/coarsen/copies.h"

#include "grammar/pragmas.h"
#include "grammar/roles.h"

#include <fmt/core.h>
#include <map>

namespace ptxasw::synth {
namespace {

class Merger : OfKernel {
public:
  Merger(const KernelContext &context, const CoarsenForm &form)
      : OfKernel(context), copies_(form.total()), views_(module_, kernel_, form) {}

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
    const Instruction &one = instruction(load);
    const bool is_simple = !leaves_bytes_undefined(kernel_, load) && one.well_formed &&
                           one.guard == no_register && operands(load).size() == 2 &&
                           is_whole_register(operands(load)[0]);
    return is_simple ? operands(load)[0].reg : no_register;
  }

  /// Returns true if a register keeps its value from after one instruction to before another.
  bool keeps(RegisterId reg, std::uint32_t from, std::uint32_t to) const {
    bool kept = true;
    for (std::uint32_t i = from + 1; i < to; ++i)
      for (const RegisterId other : written_registers(module_, instruction(i)))
        kept &= other != reg;
    return kept;
  }

  void look_at(const MemoryAccess &access) {
    const RegisterId reg = destination(access.instruction);
    const Expr address = reg == no_register ? nullptr : views_.common_address(access);
    if (!address)
      return;
    for (unsigned k = 0; k < copies_; ++k) {
      const auto key = std::pair(views_.of(address, k)->id, opcode(access.instruction).text);
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

  const unsigned copies_;
  CopyViews views_;
  BlockId block_ = no_index;
  std::map<std::pair<std::uint32_t, std::string_view>, Holder> seen_;
  std::vector<MergedLoad> result_;
};

} // namespace

const std::vector<MergedLoad> &merged_loads(const KernelContext &context, const CoarsenForm &form) {
  return context.once(form.key(), [&] {
    return form.merges() ? Merger(context, form).run() : std::vector<MergedLoad>();
  });
}

} // namespace ptxasw::synth
