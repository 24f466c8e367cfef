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
/// Rounds that a loop counts for when nothing else is known.
constexpr unsigned rounds = 8;
constexpr unsigned most_weight = 1'000'000;

const Refusal *obstacle_of(const Module &module, const Instruction &instruction) {
  const Opcode &opcode = module.opcode(instruction);
  if (!instruction.well_formed)
    return &refusals::unknown_instruction;
  if (opcode.op == Op::bra)
    return nullptr;
  if (opcode.op == Op::call)
    return &refusals::call;
  if (opcode.op == Op::atom || opcode.op == Op::red)
    return &refusal::atomic;
  if (ends_thread(opcode.op))
    return &refusal::shape;
  if (opcode.op == Op::ldu)
    return &refusal::agreement;
  const bool accesses = opcode.op == Op::ld || opcode.op == Op::st;
  if (accesses && effect_of(opcode) == Effect::sync)
    return &refusal::ordered;
  if (opcode.op == Op::st && effect_of(opcode) == Effect::none)
    return &refusals::call; // a parameter of a call
  if (accesses)
    return nullptr;
  if (gathers_lanes(opcode))
    return &refusal::synchronises;
  if (!is_pure(opcode))
    return effect_of(opcode) == Effect::sync ? &refusal::ordered : &refusals::unknown_instruction;
  if (uses_carry(opcode))
    return &refusals::carry_flag;
  if (!agree(module, module.operands(instruction), emulator::Scope::thread))
    return &refusal::special;
  return nullptr;
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
      const LoopId loop = outermost_loop_at(at);
      at = loop == no_index ? straight(at, units) : whole_loop(loop, units);
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

  /// Appends what a block holds except for the jump at its end.
  std::vector<std::uint32_t> computing(BlockId one) const {
    std::vector<std::uint32_t> result;
    for (std::uint32_t i = block(one).first; i < block(one).end; ++i)
      if (opcode(i).op != Op::bra)
        result.push_back(i);
    return result;
  }

  LoopId outermost_loop_at(BlockId one) const {
    LoopId found = no_index;
    for (LoopId loop = cfg().loop_of(one); loop != no_index; loop = cfg().loops()[loop].parent)
      if (cfg().loops()[loop].header == one && !cfg().contains(loop, cfg().block_of(site_.branch)))
        found = loop;
    return found;
  }

  // Each adds units of what begins there, and returns what follows them.

  BlockId straight(BlockId from, std::vector<Unit> &units) {
    take(from);
    for (const std::uint32_t i : computing(from))
      units.push_back({.parts = {{{i}}}, .weight = weight_of(opcode(i))});
    const BasicBlock &range = block(from);
    if (range.successors.size() == 1)
      return range.successors[0];
    require(range.successors.size() == 2 && meeting_[from] < cfg().blocks().size(), refusal::shape,
            range.end - 1);
    return inner_branch(from, units);
  }

  BlockId inner_branch(BlockId from, std::vector<Unit> &units) {
    const BlockId after = meeting_[from];
    const auto inside = reached_from(cfg(), from, [&](BlockId, BlockId to) { return to != after; });
    for (const BlockId one : inside)
      take(one);
    add(units, {{}, block(from).branch}, from, {inside.begin(), inside.end()}, after);
    return after;
  }

  BlockId whole_loop(LoopId loop, std::vector<Unit> &units) {
    const BlockId header = cfg().loops()[loop].header;
    std::vector<BlockId> blocks;
    std::optional<BlockId> after;
    for (const BlockId one : blocks_in(cfg(), loop)) {
      take(one);
      if (one != header)
        blocks.push_back(one);
      for (const BlockId successor : block(one).successors)
        if (!cfg().contains(loop, successor)) {
          require(!after || *after == successor, refusal::shape, block(one).end - 1);
          after = successor;
        }
    }
    require(after.has_value(), refusal::shape);
    add(units, {computing(header), block(header).branch}, header, blocks, *after);
    return *after;
  }

  /// Adds a unit of what `head` has of a first block, and of other blocks, and connects them.
  void add(std::vector<Unit> &units, Part head, BlockId first, const std::vector<BlockId> &blocks,
           BlockId after) {
    Unit unit{{std::move(head)}, after};
    std::vector<BlockId> all{first};
    for (const BlockId one : blocks) {
      unit.parts.push_back({computing(one), block(one).branch});
      all.push_back(one);
    }
    const auto part_of = [&](BlockId one) {
      const auto found = std::find(all.begin(), all.end(), one);
      return found == all.end() || one == unit.after
                 ? leaves_unit
                 : static_cast<std::uint32_t>(found - all.begin());
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
      const BasicBlock &range = block(all[i]);
      Part &part = unit.parts[i];
      require(!range.successors.empty() && range.successors.size() <= 2 &&
                  (range.successors.size() == 2) == (part.branch != no_index),
              refusal::shape, range.end - 1);
      if (part.branch != no_index)
        part.taken = part_of(range.successors[0]);
      part.next = part_of(range.successors.back());
      weigh(unit, part, all[i]);
    }
    units.push_back(std::move(unit));
  }

  void weigh(Unit &unit, const Part &part, BlockId one) const {
    unsigned sum = part.branch != no_index;
    for (const std::uint32_t i : part.instructions)
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
  const auto require = [&](bool holds, const Refusal &otherwise) {
    if (!holds)
      throw otherwise.at(branch.line);
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
  site.when = walk.walk(range.successors[0]);
  site.otherwise = walk.walk(range.successors[1]);
  if (branch.guard_negated)
    std::swap(site.when, site.otherwise);
  std::sort(site.blocks.begin(), site.blocks.end());
  for (const BlockId one : site.blocks)
    for (const BlockId from : cfg.blocks()[one].predecessors)
      require(from == block || std::binary_search(site.blocks.begin(), site.blocks.end(), from),
              refusal::shape);
  return site;
}

} // namespace ptxasw::synth::meld
