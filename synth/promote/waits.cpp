// What depends on a load is followed through a loop: registers computed from it; whatever stands
// where the lane comes or not by a branch that depends on it; what is read from memory in which
// something was stored that depends on it, or under such a branch. A round of the loop is looked at
// at a time: it ends at the way back, or where the loop is left, and a block depends on a branch if
// it lies between that and the next block through which every way to such an end leads. The loop's
// end depends on the load if a way out begins in a block that does, or is chosen by a register that
// does.
//
// Loops within that do not have the load are no matter: a register does not change while they run.

#include "synth/promote/waits.h"

#include "grammar/roles.h"

#include <algorithm>
#include <set>

namespace ptxasw::inline synth::promote {
namespace {

/// What depends on a load in the rounds of one loop.
class Dependent {
public:
  Dependent(const Module &module, const Function &function, const ControlFlowGraph &cfg,
            LoopId loop)
      : module_(module), function_(function), cfg_(cfg), loop_(loop), blocks_(cfg.blocks().size()) {
    std::vector<BlockEdge> ends;
    for (BlockId block = 0; block < cfg.blocks().size(); ++block) {
      if (!cfg.reachable(block) || !cfg.contains(loop, block))
        continue;
      body_.push_back(block);
      const std::vector<BlockId> &next = cfg.blocks()[block].successors;
      if (next.empty())
        ends.push_back({block, no_index});
      for (const BlockId to : next)
        if (ends_round(to))
          ends.push_back({block, to});
    }
    meeting_ = immediate_postdominators(cfg, ends);
  }

  bool decides_end(std::uint32_t load) {
    add_written(function_.instructions[load]);
    while (grows())
      ;
    return std::any_of(body_.begin(), body_.end(), [&](BlockId block) { return leaves(block); });
  }

private:
  bool ends_round(BlockId to) const {
    return to == cfg_.loops()[loop_].header || !cfg_.contains(loop_, to);
  }

  bool add_written(const Instruction &instruction) {
    bool more = false;
    for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
      more = (use != RegisterUse::read && registers_.insert(reg).second) || more;
    });
    return more;
  }

  bool reads(const Instruction &instruction) const {
    const Op op = module_.opcode(instruction).op;
    bool result = carry_ && (op == Op::addc || op == Op::subc || op == Op::madc);
    for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
      result = result || (use == RegisterUse::read && registers_.contains(reg));
    });
    return result;
  }

  /// Returns true if memory that may be written is read or written.
  bool touches_memory(const Instruction &instruction) const {
    const Opcode &opcode = module_.opcode(instruction);
    const auto operands = module_.operands(instruction);
    return opcode.space != StateSpace::param && opcode.space != StateSpace::constant &&
           std::any_of(operands.begin(), operands.end(), [](const Operand &operand) {
             return operand.kind == Operand::Kind::address;
           });
  }

  /// Adds what depends on what is known to; returns true if that is more.
  bool grows() {
    bool more = false;
    for (const BlockId block : body_) {
      for (std::uint32_t i = cfg_.blocks()[block].first; i < cfg_.blocks()[block].end; ++i) {
        const Instruction &one = function_.instructions[i];
        const bool own = blocks_[block] || reads(one);
        if (own && !memory_ && touches_memory(one) && module_.opcode(one).op != Op::ld)
          more = memory_ = true;
        if (own || (memory_ && touches_memory(one)))
          more = add_written(one) || more;
        if (own && !carry_ && module_.opcode(one).has(Modifier::cc))
          more = carry_ = true;
      }
      if (const std::uint32_t branch = cfg_.blocks()[block].branch;
          branch != no_index && (blocks_[block] || reads(function_.instructions[branch])))
        more = add_between(block) || more;
    }
    return more;
  }

  /// The blocks between a branch and where its ways meet.
  bool add_between(BlockId branch) {
    bool more = false;
    std::set<BlockId> seen;
    std::vector<BlockId> open = cfg_.blocks()[branch].successors;
    while (!open.empty()) {
      const BlockId block = open.back();
      open.pop_back();
      if (block == meeting_[branch] || ends_round(block) || !seen.insert(block).second)
        continue;
      more = more || !blocks_[block];
      blocks_[block] = true;
      const std::vector<BlockId> &next = cfg_.blocks()[block].successors;
      open.insert(open.end(), next.begin(), next.end());
    }
    return more;
  }

  /// Returns true if the loop may be left from a block, or not, as the load says.
  bool leaves(BlockId block) const {
    const BasicBlock &range = cfg_.blocks()[block];
    const auto goes_out = [&](BlockId to) { return !cfg_.contains(loop_, to); };
    const bool out = std::any_of(range.successors.begin(), range.successors.end(), goes_out);
    for (std::uint32_t i = range.first; i < range.end; ++i) {
      const Instruction &one = function_.instructions[i];
      const Op op = module_.opcode(one).op;
      const bool ends = op == Op::ret || op == Op::exit || op == Op::trap;
      if ((ends || (i == range.branch && out)) && (blocks_[block] || reads(one)))
        return true;
    }
    return blocks_[block] && (out || range.successors.empty());
  }

  const Module &module_;
  const Function &function_;
  const ControlFlowGraph &cfg_;
  const LoopId loop_;
  std::vector<BlockId> body_, meeting_;
  std::set<RegisterId> registers_;
  std::vector<bool> blocks_; ///< those that are run or not as the load says
  bool memory_ = false;      ///< something was stored that depends on the load
  bool carry_ = false;       ///< the carry flag may
};

} // namespace

bool decides_end(const Module &module, const Function &function, const ControlFlowGraph &cfg,
                 LoopId loop, std::uint32_t load) {
  const auto within = [&](LoopId one) {
    return cfg.contains(loop, cfg.loops()[one].header) && cfg.contains(one, cfg.block_of(load));
  };
  for (LoopId one = loop; one < cfg.loops().size(); ++one)
    if (within(one) && Dependent(module, function, cfg, one).decides_end(load))
      return true;
  return false;
}

} // namespace ptxasw::synth::promote
