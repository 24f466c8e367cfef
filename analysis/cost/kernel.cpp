// Everything that costs depend on is entered as an expression once: addresses, predicates, what
// decides the path to a piece of code and when a loop is left. A launch then only computes numbers.

#include "analysis/cost/kernel.h"

#include "analysis/cost/instruction_costs.h"
#include "emulator/facts/kernel_facts.h"
#include "grammar/roles.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ptxasw::analysis::cost {
namespace {

constexpr const char *address_unread = "an address is not understood";
constexpr const char *conflicts_unread = "conflicts of shared memory's banks are not known";

Traffic traffic_by(const Opcode &opcode) {
  return opcode.op == Op::st                             ? Traffic::store
         : opcode.op == Op::atom || opcode.op == Op::red ? Traffic::atomic
                                                         : Traffic::load;
}

} // namespace

PipeCycles &PipeCycles::operator+=(const PipeCycles &other) {
  issue += other.issue;
  integer += other.integer;
  wide += other.wide;
  special += other.special;
  shared += other.shared;
  return *this;
}

PipeCycles PipeCycles::operator*(double factor) const {
  return {issue * factor, integer * factor, wide * factor, special * factor, shared * factor};
}

Kernel::Kernel(const Module &module, const Function &function, const Arguments &arguments,
               const std::vector<std::string_view> &assumed)
    : module_(module), function_(function) {
  emulation_ = std::make_unique<Emulation>(module, function, LaunchFacts{});
  if (!emulation_->complete()) {
    error_ = "its control flow is not understood, or it is too large";
    return;
  }
  values_ = std::make_unique<LaneValues>(*emulation_, arguments);
  const ControlFlowGraph &cfg = emulation_->cfg();
  for (const Loop &loop : cfg.loops()) {
    // The pragma stands between the header's label and its first instruction.
    const std::uint32_t first = cfg.blocks()[loop.header].first;
    const bool kept =
        std::any_of(function.pragmas.begin(), function.pragmas.end(), [&](const Pragma &pragma) {
          return pragma.position == first && pragma.text == "nounroll";
        });
    loops_.push_back({loop.parent, !kept, {}});
  }
  wavefronts_ = wavefronts_in(std::nullopt);
  for (const BlockId id : cfg.reverse_postorder())
    if (emulation_->feasible(id))
      enter(id);
  for (LoopId loop = 0; loop < loops_.size(); ++loop)
    find_exits(loop);
  find_rare();
  for (const CodeBlock &block : blocks_)
    for (const Condition &condition : block.conditions)
      doubt_assumed(condition.slot, assumed);
  for (const KernelLoop &loop : loops_)
    for (const LoopExit &exit : loop.exits)
      if (exit.slot != ~0u)
        doubt_assumed(exit.slot, assumed);
  for (const ParameterField &field : values_->missing())
    miss(field);
  const auto place = [&](const ParameterField &field) {
    const auto found = std::find_if(function.parameters.begin(), function.parameters.end(),
                                    [&](const Variable &v) { return v.name == field.parameter; });
    return std::pair(found - function.parameters.begin(), field.offset);
  };
  std::sort(missing_.begin(), missing_.end(),
            [&](const auto &a, const auto &b) { return place(a) < place(b); });
}

// Without a shape as blocks have them whose rows are whole warps.
std::map<std::uint32_t, double>
Kernel::wavefronts_in(const std::optional<BlockShape> &shape) const {
  const auto is_shared = [&](const Instruction &instruction) {
    return module_.opcode(instruction).space == StateSpace::shared;
  };
  std::map<std::uint32_t, double> found;
  if (std::none_of(function_.instructions.begin(), function_.instructions.end(), is_shared))
    return found;
  const facts::KernelFacts facts(module_, function_, {.block = shape});
  for (const facts::Access &access : facts.accesses())
    if (access.space == StateSpace::shared)
      if (const facts::Count &count = facts.traffic(access).wavefronts;
          count.verdict != facts::Verdict::unknown)
        found[access.site.instruction] = std::max({1u, count.least, count.typical});
  return found;
}

void Kernel::take_shape(const BlockShape &shape) {
  const auto wanted = shape.x % warp_lanes == 0 ? std::nullopt : std::optional(shape);
  if (wanted == shape_)
    return;
  shape_ = wanted;
  const auto before = std::exchange(wavefronts_, wavefronts_in(shape_));
  const auto cycles = [](const auto &wavefronts, std::uint32_t instruction) {
    const auto found = wavefronts.find(instruction);
    return found == wavefronts.end() ? 1.0 : found->second;
  };
  for (CodeBlock &block : blocks_) {
    const BasicBlock &range = emulation_->cfg().blocks()[block.id];
    for (std::uint32_t i = range.first; i < range.end; ++i)
      if (before.contains(i) || wavefronts_.contains(i))
        block.cycles.shared += cycles(wavefronts_, i) - cycles(before, i);
  }
}

// Branches on what was taken for a pointer: it may be a number.
void Kernel::doubt_assumed(std::uint32_t slot, const std::vector<std::string_view> &assumed) {
  for (const ParameterField &field : values_->parameters_of(slot))
    if (std::find(assumed.begin(), assumed.end(), field.parameter) != assumed.end())
      miss(field);
}

void Kernel::miss(const ParameterField &field) {
  doubt("the value of " + std::string(field.parameter) + " is not given");
  if (std::none_of(missing_.begin(), missing_.end(), [&](const ParameterField &known) {
        return known.parameter == field.parameter && known.offset == field.offset;
      }))
    missing_.push_back(field);
}

void Kernel::doubt(const std::string &why) {
  if (std::find(doubts_.begin(), doubts_.end(), why) == doubts_.end())
    doubts_.push_back(why);
}

// True if a condition depends only on loops around the block: what was true in the last iteration
// of an earlier loop does not matter here.
bool Kernel::belongs(std::uint32_t slot, BlockId block) const {
  const ControlFlowGraph &cfg = emulation_->cfg();
  for (LoopId loop = 0; loop < loops_.size(); ++loop)
    if (values_->depends_on_loop(slot, loop) && !cfg.contains(loop, block))
      return false;
  return true;
}

// What the branch on the only way into a loop establishes: the way back has it in common.
std::optional<PathFact> Kernel::fact_before_loop(BlockId header) const {
  const ControlFlowGraph &cfg = emulation_->cfg();
  const LoopId loop = cfg.loop_of(header);
  if (loop == no_index || cfg.loops()[loop].header != header)
    return std::nullopt;
  std::optional<BlockId> before;
  for (const BlockId from : cfg.blocks()[header].predecessors) {
    if (cfg.contains(loop, from) || !cfg.reachable(from))
      continue;
    if (before)
      return std::nullopt;
    before = from;
  }
  return before ? emulation_->fact_on_edge(*before, header) : std::nullopt;
}

void Kernel::enter(BlockId id) {
  CodeBlock block;
  block.id = id;
  block.loop = emulation_->cfg().loop_of(id);
  for (const PathFact &fact : emulation_->facts_in(id)) {
    const std::uint32_t slot = values_->add(emulation_->expand(fact.condition));
    if (!belongs(slot, id))
      continue;
    block.conditions.push_back({slot, fact.holds, !values_->guessed(slot), false});
  }
  if (const auto fact = fact_before_loop(id)) {
    const std::uint32_t slot = values_->add(emulation_->expand(fact->condition));
    if (!values_->guessed(slot))
      block.conditions.push_back({slot, fact->holds, true, false});
  }
  for (const MemoryAccess &access : emulation_->trace()) {
    if (access.block != id)
      continue;
    const Opcode &opcode = module_.opcode(function_.instructions[access.instruction]);
    if (opcode.space == StateSpace::shared && access.bytes != 0 &&
        !wavefronts_.contains(access.instruction))
      block.unread.push_back({access.instruction, traffic_by(opcode), access.bytes, true});
    if (access.space != StateSpace::global && access.space != StateSpace::generic)
      continue;
    if (opcode.op != Op::ld && opcode.op != Op::ldu && opcode.op != Op::st &&
        opcode.op != Op::atom && opcode.op != Op::red) {
      if (access.effect == Effect::sync && opcode.op == Op::call)
        doubt("what it calls is not looked into");
      continue;
    }
    if (!access.address) {
      doubt(address_unread);
      block.unread.push_back(
          {access.instruction, traffic_by(opcode), std::max(1u, access.bytes), false});
      continue;
    }
    Access made;
    made.instruction = access.instruction;
    made.traffic = traffic_by(opcode);
    made.bytes = std::max(1u, access.bytes);
    made.address = values_->add(emulation_->expand(access.address));
    made.known = !values_->guessed(made.address);
    if (made.traffic == Traffic::atomic)
      doubt("atomics: who else meets there is not known");
    if (access.guard)
      made.guard = values_->add(emulation_->expand(access.guard));
    if (made.traffic != Traffic::load)
      for (LoopId loop = block.loop; loop != no_index; loop = loops_[loop].parent)
        loops_[loop].may_unroll = false;
    if (made.traffic == Traffic::load)
      block.load_words += std::max(1.0, made.bytes / 4.0);
    block.accesses.push_back(made);
  }
  measure(block);
  blocks_.push_back(std::move(block));
}

void Kernel::settle_unread() {
  std::erase(doubts_, address_unread);
  std::erase(doubts_, conflicts_unread);
}

void Kernel::measure(CodeBlock &block) {
  const BasicBlock &range = emulation_->cfg().blocks()[block.id];
  for (std::uint32_t i = range.first; i < range.end; ++i) {
    const Opcode &opcode = module_.opcode(function_.instructions[i]);
    const PipeCycles cycles = cycles_of(opcode);
    block.cycles += cycles;
    block.instructions += cycles.issue > 0;
    if (const auto found = wavefronts_.find(i); found != wavefronts_.end())
      block.cycles.shared += found->second - cycles.shared;
    else if (opcode.space == StateSpace::shared)
      doubt(conflicts_unread);
    if (opcode.op == Op::bar || opcode.op == Op::barrier)
      ++block.barriers;
    if (opcode.space == StateSpace::local) {
      block.uses_local = true;
      doubt("local memory is not counted");
    }
  }
  find_chain(block, range);
}

// The way through the block's results that takes longest, a load of global memory counting as much
// as it takes from the L2.
void Kernel::find_chain(CodeBlock &block, const BasicBlock &range) {
  constexpr double load_cycles = 300;
  struct Way {
    double cycles = 0, loads = 0;
    double length() const { return cycles + load_cycles * loads; }
  };
  std::map<RegisterId, Way> ready;
  Way longest;
  for (std::uint32_t i = range.first; i < range.end; ++i) {
    const Instruction &instruction = function_.instructions[i];
    const Opcode &opcode = module_.opcode(instruction);
    Way way;
    std::vector<RegisterId> written;
    for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
      if (use != RegisterUse::read)
        written.push_back(reg);
      else if (const auto found = ready.find(reg);
               found != ready.end() && found->second.length() > way.length())
        way = found->second;
    });
    const bool loads = (opcode.op == Op::ld || opcode.op == Op::ldu || opcode.op == Op::atom) &&
                       may_be_global(opcode.space);
    if (loads)
      way.loads += 1;
    else
      way.cycles += latency_of(opcode);
    for (const RegisterId reg : written)
      ready[reg] = way;
    if (way.length() > longest.length())
      longest = way;
  }
  block.chain_cycles = longest.cycles;
  block.chain_loads = longest.loads;
}

// A branch that depends on data and leads to where an array lies in local memory: the slow path of
// a library's function, such as the reduction of large arguments in sinf().
void Kernel::find_rare() {
  std::set<std::pair<std::uint32_t, bool>> rare;
  for (const CodeBlock &block : blocks_)
    for (const Condition &condition : block.conditions)
      if (block.uses_local && !condition.known)
        rare.emplace(condition.slot, condition.holds);
  for (CodeBlock &block : blocks_)
    for (Condition &condition : block.conditions)
      condition.rare = rare.contains({condition.slot, condition.holds});
}

void Kernel::find_exits(LoopId loop) {
  const ControlFlowGraph &cfg = emulation_->cfg();
  for (const BlockId id : cfg.reverse_postorder()) {
    if (!cfg.contains(loop, id) || !emulation_->feasible(id))
      continue;
    const BasicBlock &block = cfg.blocks()[id];
    const auto outside = [&](BlockId to) { return !cfg.contains(loop, to); };
    if (std::none_of(block.successors.begin(), block.successors.end(), outside))
      continue;
    LoopExit exit;
    const Expr choice = emulation_->branch_choice(id);
    if (choice && choice->width == 1 && block.successors.size() == 2) {
      exit.slot = values_->add(emulation_->expand(choice));
      exit.leaves_if = outside(block.successors[0]);
      exit.at_header = id == cfg.loops()[loop].header &&
                       std::find(cfg.loops()[loop].latches.begin(), cfg.loops()[loop].latches.end(),
                                 id) == cfg.loops()[loop].latches.end();
    }
    loops_[loop].exits.push_back(exit);
  }
}

} // namespace ptxasw::analysis::cost
