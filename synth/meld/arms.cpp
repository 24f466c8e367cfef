// An arm is what the branch alone leads into: every block of it is entered from the arm or from the
// branch, every way out of it leads to where the arms meet. Within it stands only what a lane does
// for itself: arithmetic, plain loads and stores, branches to labels. So a lane does not see when
// other lanes run it.

#include "synth/meld/sites.h"

#include "emulator/machine/warp_program.h"
#include "emulator/semantics/effects.h"
#include "emulator/semantics/one_value.h"

#include <algorithm>
#include <set>

namespace ptxasw::synth::meld {
namespace {

namespace refusal {
constexpr Refusal one_arm{"one-arm", "one of the ways has nothing on it"};
constexpr Refusal no_meeting{"no-meeting", "the two ways do not meet again"};
constexpr Refusal shape{"control-flow", "an arm is entered or left in more than one place"};
constexpr Refusal scope{"scope", "an arm declares something in a scope of its own"};
constexpr Refusal synchronises{"synchronises", "lanes wait for each other, or a barrier"};
constexpr Refusal atomic{"atomic", "an atomic operation"};
constexpr Refusal ordered{"ordered-access", "a volatile or ordered access, or a fence"};
constexpr Refusal special{"special-register", "what it reads depends on when it is read"};
constexpr Refusal agreement{"uniform-load", "a load for which lanes must have one address"};
constexpr Refusal large{"budget", "the arms are too large"};
} // namespace refusal

constexpr std::size_t units_budget = 1500;
/// Iterations that a loop counts for when nothing else is known.
constexpr unsigned rounds = 8;
constexpr unsigned most_weight = 1'000'000;

/// Why an instruction must not be in an arm; null: it may.
const Refusal *obstacle_of(const Module &module, const Instruction &instruction) {
  const Opcode &opcode = module.opcode(instruction);
  const Effect effect = effect_of(opcode);
  const bool stores = opcode.op == Op::st, accesses = opcode.op == Op::ld || stores;
  return !instruction.well_formed                        ? &refusals::unknown_instruction
         : opcode.op == Op::bra                          ? nullptr
         : opcode.op == Op::call                         ? &refusals::call
         : opcode.op == Op::atom || opcode.op == Op::red ? &refusal::atomic
         : ends_thread(opcode.op)                        ? &refusal::shape
         : opcode.op == Op::ldu                          ? &refusal::agreement
         : accesses && effect == Effect::sync            ? &refusal::ordered
         : stores && effect == Effect::none              ? &refusals::call // one of its parameters
         : accesses                                      ? nullptr
         : gathers_lanes(opcode)                         ? &refusal::synchronises
         : !is_pure(opcode) && effect == Effect::sync    ? &refusal::ordered
         : !is_pure(opcode)                              ? &refusals::unknown_instruction
         : uses_carry(opcode)                            ? &refusals::carry_flag
         : !agree(module, module.operands(instruction), emulator::Scope::thread) ? &refusal::special
                                                                                 : nullptr;
}

/// Steps that an instruction stands for: an access of device memory is five (COpPER, section 4.1).
unsigned weight_of(const Opcode &opcode) {
  const bool accesses = opcode.op == Op::ld || opcode.op == Op::st;
  return accesses && may_be_global(opcode.space) ? 6 : 1;
}

class ArmWalk : OfKernel {
public:
  ArmWalk(const KernelContext &context, const std::vector<BlockId> &meeting, Site &site)
      : OfKernel(context), meeting_(meeting), site_(site) {}

  /// The units from a block to where the arms meet. Throws a Refusal.
  std::vector<Unit> walk(BlockId from) {
    std::vector<Unit> units;
    for (BlockId at = from; at != site_.join;) {
      at = walk_block(at, units);
      require(units.size() <= units_budget, refusal::large);
    }
    return units;
  }

private:
  /// `at`: the branch, if nothing else.
  void require(bool holds, const Refusal &otherwise, std::uint32_t at = no_index) const {
    demand(holds, otherwise, at == no_index ? site_.branch : at);
  }

  /// The block becomes part of the arms; it must be for the first time.
  void take(BlockId one) {
    require(one < cfg().blocks().size() && one != site_.join && !cfg().irreducible(one) &&
                taken_.insert(one).second,
            refusal::shape);
    site_.blocks.push_back(one);
    const BasicBlock &range = block(one);
    for (std::uint32_t i = range.first; i < range.end; ++i) {
      if (const Refusal *obstacle = obstacle_of(module_, instruction(i)))
        require(false, *obstacle, i);
      require(instruction(i).scope == instruction(site_.branch).scope, refusal::scope, i);
    }
    require(range.first < range.end, refusal::shape);
  }

  LoopId outermost_loop_at(BlockId one) const {
    LoopId found = no_index;
    for (LoopId loop = cfg().loop_of(one); loop != no_index; loop = cfg().loops()[loop].parent)
      if (cfg().loops()[loop].header == one && !cfg().contains(loop, cfg().block_of(site_.branch)))
        found = loop;
    return found;
  }

  /// Adds units of what begins with a block, and returns what follows them.
  BlockId walk_block(BlockId from, std::vector<Unit> &units) {
    const LoopId loop = outermost_loop_at(from);
    const BasicBlock &range = block(from);
    Unit unit{range.first, {from}};
    std::optional<BlockId> after;
    if (loop == no_index) {
      take(from);
      for (std::uint32_t i = range.first; i < range.end; ++i)
        if (opcode(i).op != Op::bra)
          units.push_back({i, {}, 0, weight_of(opcode(i))});
      if (range.successors.size() == 1)
        return range.successors[0];
      after = meeting_[from];
      require(range.successors.size() == 2 && *after < cfg().blocks().size(), refusal::shape,
              range.end - 1);
      unit.first = range.branch;
      for (const BlockId one :
           reached_from(cfg(), from, [&](BlockId, BlockId to) { return to != *after; })) {
        take(one);
        unit.blocks.push_back(one);
      }
    } else {
      for (const BlockId one : blocks_in(cfg(), loop)) {
        take(one);
        if (one != from)
          unit.blocks.push_back(one);
        for (const BlockId successor : block(one).successors)
          if (!cfg().contains(loop, successor)) {
            require(!after || *after == successor, refusal::shape, block(one).end - 1);
            after = successor;
          }
      }
      require(after.has_value(), refusal::shape);
    }
    unit.after = *after;
    for (const BlockId one : unit.blocks)
      weigh(unit, one);
    units.push_back(std::move(unit));
    return *after;
  }

  void weigh(Unit &unit, BlockId one) const {
    const BasicBlock &range = block(one);
    require(!range.successors.empty() && range.successors.size() <= 2 &&
                (range.successors.size() == 2) == (range.branch != no_index),
            refusal::shape, range.end - 1);
    unsigned sum = range.branch != no_index;
    for (const std::uint32_t i : computing(context_, unit, one))
      sum += weight_of(opcode(i));
    const BlockId outside = cfg().block_of(site_.branch);
    for (LoopId loop = cfg().loop_of(one);
         loop != no_index && !cfg().contains(loop, outside) && sum < most_weight;
         loop = cfg().loops()[loop].parent)
      sum *= rounds;
    unit.weight = std::min(unit.weight + sum, most_weight);
  }

  const std::vector<BlockId> &meeting_;
  Site &site_;
  std::set<BlockId> taken_;
};

} // namespace

std::vector<std::uint32_t> computing(const KernelContext &context, const Unit &unit,
                                     BlockId block) {
  const BasicBlock &range = context.cfg().blocks()[block];
  const std::uint32_t first = block == unit.blocks[0] ? unit.first : range.first;
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = first; i < range.end; ++i)
    if (context.module.opcode(context.kernel.instructions[i]).op != Op::bra)
      result.push_back(i);
  return result;
}

Site site_at(const KernelContext &context, BlockId block) {
  const Module &module = context.module;
  const ControlFlowGraph &cfg = context.cfg();
  const std::vector<BlockId> &meeting = context.once("meeting points", [&] {
    return immediate_postdominators(cfg, return_edges(module, context.kernel, cfg));
  });
  const BasicBlock &range = cfg.blocks()[block];
  Site site;
  site.branch = range.branch;
  const Instruction &branch = context.kernel.instructions[range.branch];
  site.line = branch.line;
  const auto require = [&](bool holds, const Refusal &otherwise) {
    if (!holds)
      throw otherwise.at(site.line);
  };
  require(module.opcode(branch).op != Op::brx, refusals::branch_table);
  require(module.opcode(branch).op == Op::bra && range.successors.size() == 2 &&
              !cfg.irreducible(block),
          refusal::shape);
  site.join = meeting[block];
  require(site.join < cfg.blocks().size() &&
              cfg.blocks()[site.join].first < cfg.blocks()[site.join].end,
          refusal::no_meeting);
  require(range.successors[0] != site.join && range.successors[1] != site.join, refusal::one_arm);
  ArmWalk walk(context, meeting, site);
  for (const bool taken : {true, false})
    site.arms[taken == branch.guard_negated] = walk.walk(range.successors[taken ? 0 : 1]);
  std::sort(site.blocks.begin(), site.blocks.end());
  for (const BlockId one : site.blocks)
    for (const BlockId from : cfg.blocks()[one].predecessors)
      require(from == block || std::binary_search(site.blocks.begin(), site.blocks.end(), from),
              refusal::shape);
  return site;
}

} // namespace ptxasw::synth::meld
