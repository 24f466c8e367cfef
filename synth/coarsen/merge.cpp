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

#include <map>

namespace ptxasw::synth {
namespace {

class Merger : OfKernel {
public:
  explicit Merger(const KernelContext &context) : OfKernel(context) {}

  std::vector<MergedLoad> run(const CoarsenForm &form) const {
    std::vector<MergedLoad> merged;
    CopyViews views(context_, form);
    std::map<std::pair<std::uint32_t, std::string_view>, Instance> holders; // of loaded values
    BlockId around = no_index;
    for (const MemoryAccess &access : views.emulation().trace()) {
      if (access.block != around || access.effect != Effect::load) {
        around = access.block;
        holders.clear();
      }
      const std::uint32_t load = access.instruction;
      const RegisterId reg = access.effect == Effect::load ? destination(load) : no_register;
      const Expr address = reg == no_register ? nullptr : views.common_address(access);
      for (unsigned k = 0; address && k < form.total(); ++k) {
        const auto [found, is_new] =
            holders.try_emplace({views.of(address, k)->id, opcode(load).text}, Instance{load, k});
        Instance &holder = found->second;
        const RegisterId held = destination(holder.instruction);
        // What an earlier load of this register left is gone when its copy loads here.
        const bool gone = holder.instruction != load && (!keeps(held, holder.instruction, load) ||
                                                         (held == reg && holder.copy <= k));
        if (gone || kernel_.registers[held].type != kernel_.registers[reg].type)
          holder = {load, k};
        else if (!is_new)
          merged.push_back({{load, k}, holder});
      }
    }
    return merged;
  }

private:
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
};

} // namespace

const std::vector<MergedLoad> &merged_loads(const KernelContext &context, const CoarsenForm &form) {
  return context.once(form.key(), [&] {
    return form.merges() ? Merger(context).run(form) : std::vector<MergedLoad>();
  });
}

} // namespace ptxasw::synth
