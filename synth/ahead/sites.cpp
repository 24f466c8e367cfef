// An iteration's loads can be done before those in front of it are over if nothing in the loop but
// loads and weak stores can be seen from outside, and if it is known then that the iteration will
// run: the conditions of its branches must not depend on what the loop loads. What a store in front
// of a load writes must not be what is loaded. That is tested, so where both are must not depend on
// what the loop loads either; nothing need be tested of what nobody writes (`.nc`), and of other
// state spaces.

#include "synth/ahead/sites.h"

#include "emulator/semantics/effects.h"
#include "emulator/semantics/one_value.h"
#include "grammar/code_writer.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>
#include <set>

namespace ptxasw::synth::ahead {
namespace {

namespace refusal {
constexpr Refusal shape{"control-flow", "ways part within an iteration of the loop, it is around "
                                        "another one, or where it goes is not understood"};
constexpr Refusal effects{"writes",
                          "something in the loop synchronises, or is not known, or writes what "
                          "cannot be told from what it loads"};
constexpr Refusal nothing{"no-load", "the loop loads nothing from global memory"};
constexpr Refusal guarded{"guarded-load", "a load of the loop, or what it needs, is under a guard"};
constexpr Refusal too_large{"budget", "the loop is too large to be copied"};
} // namespace refusal

constexpr std::size_t largest_loop = 1'000; ///< instructions

class Finder : OfKernel {
public:
  Finder(const KernelContext &context, LoopId loop) : OfKernel(context), loop_(loop) {}

  /// Throws a Refusal.
  AheadLoop run() {
    const BlockId header = cfg().loops()[loop_].header;
    result_.header = at_ = block(header).first;
    find_way(header);
    for (std::size_t i = 0; i < result_.steps.size(); ++i)
      look_at(i);
    require(loads_, refusal::nothing);
    find_early();
    return std::move(result_);
  }

private:
  const Instruction &done_in(std::size_t step) const {
    return instruction(result_.steps[step].instruction);
  }
  void require(bool holds, const Refusal &otherwise) const { demand(holds, otherwise, at_); }

  /// The blocks of an iteration, one behind the other: each leads to one block of the loop.
  void find_way(BlockId header) {
    BlockId next = header;
    do {
      const BasicBlock &here = block(next);
      at_ = here.end - 1;
      require(cfg().loop_of(next) == loop_ && !cfg().irreducible(next), refusal::shape);
      for (std::uint32_t one = here.first; one < here.end; ++one)
        result_.steps.push_back({one});
      require(result_.steps.size() <= largest_loop, refusal::too_large);
      next = behind(here);
    } while (next != header);
    // The last step must be a branch whose target is the header's label.
    result_.back = at_;
    require(branch_target(module_, kernel_, instruction(at_)) == result_.header, refusal::shape);
  }

  /// The block that follows another one in the loop.
  BlockId behind(const BasicBlock &here) {
    const Opcode &last = opcode(here.end - 1);
    const auto stays = [&](std::size_t way) { return cfg().contains(loop_, here.successors[way]); };
    require(!returns(last) && last.op != Op::brx, refusal::shape);
    if (last.op != Op::bra || instruction(here.end - 1).guard == no_register) {
      require(here.successors.size() == 1 && stays(0), refusal::shape);
      return here.successors[0];
    }
    require(here.successors.size() == 2 && !wants_agreement(last) && stays(0) != stays(1),
            refusal::shape);
    const bool taken = stays(0);
    result_.exits.push_back({result_.steps.size() - 1, !taken, here.successors[taken ? 1 : 0]});
    return here.successors[taken ? 0 : 1];
  }

  /// What one instruction does.
  void look_at(std::size_t step) {
    at_ = result_.steps[step].instruction;
    const Instruction &one = instruction(at_);
    const Opcode &opcode = module_.opcode(one);
    const bool is_argument = opcode.op == Op::st && opcode.space == StateSpace::param;
    require(opcode.op != Op::call && !is_argument, refusals::call);
    require(one.well_formed && one.scope == 0, refusal::shape);
    if (opcode.op == Op::bra)
      return;
    const Effect effect = effect_of(opcode);
    require(agree(module_, module_.operands(one), emulator::Scope::thread) && !uses_carry(opcode),
            refusal::effects);
    if (opcode.op == Op::st && effect == Effect::store)
      return stores_.push_back(step);
    require(first_operand(opcode) == FirstOperand::destination, refusal::effects);
    if (opcode.op != Op::ld)
      return require(is_pure(opcode), refusal::effects);
    require(effect == Effect::load || effect == Effect::none, refusal::effects);
    loads_ = loads_ || may_be_global(opcode.space);
    if (effect == Effect::load && !reads_constant_memory(opcode))
      written_loads_.push_back(step);
    result_.last_load = step;
  }

  /// All steps on which what `needed` holds depends become `early`.
  void reach(std::set<RegisterId> needed, Early early) {
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < result_.steps.size(); ++i) {
        const auto written = written_registers(module_, done_in(i));
        if (std::none_of(written.begin(), written.end(),
                         [&](RegisterId reg) { return needed.contains(reg); }))
          continue;
        if (result_.steps[i].early == Early::no)
          result_.steps[i].early = early;
        for (const RegisterId reg : read_registers(module_, done_in(i)))
          more = needed.insert(reg).second || more;
      }
    }
  }

  /// The register that an access has its address from; no_register if it has none of 64 bits.
  RegisterId base_of(std::size_t step) const {
    const Operand *const place = address_in(module_, done_in(step));
    if (!place)
      return no_register;
    const Operand &base = module_.children(*place)[0];
    const bool is_wide = is_whole_register(base) && kernel_.registers[base.reg].vector == 1 &&
                         bit_width(kernel_.registers[base.reg].type) == 64;
    return is_wide ? base.reg : no_register;
  }

  /// Which loads and stores may be of one place, and what tells where they are.
  void find_meetings() {
    for (std::size_t i = 0; !stores_.empty() && i < result_.steps.size(); ++i) {
      at_ = result_.steps[i].instruction;
      // A load that comes ahead of a store must be one that the proof knows the place of.
      require(opcode(at_).op != Op::ld || (effect_of(opcode(at_)) == Effect::load &&
                                           operands(at_).size() == 2 && base_of(i) != no_register),
              refusal::effects);
    }
    std::set<RegisterId> needed;
    for (const std::size_t store : stores_)
      for (const std::size_t load : written_loads_) {
        at_ = result_.steps[store].instruction;
        const Spaces spaces = spaces_of(module_.opcode(done_in(load)), opcode(at_));
        if (spaces == Spaces::apart)
          continue;
        require(spaces == Spaces::comparable && base_of(store) != no_register, refusal::effects);
        result_.meetings.push_back({load, store, base_of(load), base_of(store)});
        needed.insert({base_of(store), base_of(load)});
      }
    reach(needed, Early::address);
    for (const Step &step : result_.steps) {
      at_ = step.instruction;
      require(step.early != Early::address || opcode(at_).op != Op::ld, refusal::effects);
    }
  }

  void find_early() {
    std::set<RegisterId> needed;
    for (const Exit &exit : result_.exits)
      needed.insert(done_in(exit.step).guard);
    reach(needed, Early::test);
    find_meetings();
    needed.clear();
    for (Step &step : result_.steps) {
      at_ = step.instruction;
      if (opcode(at_).op != Op::ld)
        continue;
      require(step.early != Early::test, refusals::decides_the_end);
      step.early = Early::load;
      for (const RegisterId reg : read_registers(module_, instruction(at_)))
        needed.insert(reg);
    }
    reach(needed, Early::load);
    for (const Step &step : result_.steps) {
      if (step.early == Early::no)
        continue;
      at_ = step.instruction;
      bool guarded = instruction(at_).guard != no_register, copied = true;
      for_each_register(module_, instruction(at_), [&](RegisterId reg, RegisterUse use) {
        guarded = guarded || use == RegisterUse::may_be_written;
        copied = copied && (use == RegisterUse::read || can_be_copied(kernel_.registers[reg]));
      });
      require(copied, refusals::register_type);
      require(!guarded, refusal::guarded);
    }
  }

  const LoopId loop_;
  AheadLoop result_;
  std::uint32_t at_ = 0;                            ///< the instruction that is looked at
  bool loads_ = false;                              ///< from global memory
  std::vector<std::size_t> stores_, written_loads_; ///< steps; loads of what may be written
};

Sites<AheadLoop> find_loops(const KernelContext &context) {
  const ControlFlowGraph &cfg = context.cfg();
  Sites<AheadLoop> all;
  auto &[loops, refusals] = all;
  if (!cfg.well_formed() || !context.kernel.target_lists.empty())
    return {{}, {refusal::shape}};
  for (LoopId loop = 0; loop < cfg.loops().size(); ++loop)
    try {
      loops.push_back(Finder(context, loop).run());
    } catch (const Refusal &stop) {
      add_refusal(refusals, stop);
    }
  if (cfg.loops().empty())
    refusals.push_back(refusals::no_loop);
  std::sort(loops.begin(), loops.end(),
            [](const AheadLoop &a, const AheadLoop &b) { return a.header < b.header; });
  return all;
}

} // namespace

const Sites<AheadLoop> &ahead_loops(const KernelContext &context) {
  return context.once("", [&] { return find_loops(context); });
}

} // namespace ptxasw::synth::ahead
