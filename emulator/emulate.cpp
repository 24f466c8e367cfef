#include "emulator/emulate.h"

#include "emulator/instructions.h"
#include "grammar/roles.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <optional>

namespace ptxasw {
namespace {

// Budgets. What runs out makes the emulation incomplete or a value opaque, never wrong.
constexpr std::size_t frontier_budget = 20'000'000; ///< entries of dominance frontiers
constexpr std::uint16_t depth_budget = 400;         ///< nesting of one expression
constexpr std::uint32_t terms_budget = 64;          ///< terms of one sum
constexpr std::size_t region_budget = 256;          ///< blocks looked at to see a join's branches
constexpr int uniformity_rounds = 16;

/// What kind of unknown a symbol is.
enum class SymbolKind : std::uint8_t {
  uniform,  ///< the same in all lanes of a warp's row: parameters, block ids
  lane,     ///< tid.x and laneid: known to grow by one from lane to lane of a row
  varying,  ///< anything
  loop_phi, ///< a register at a loop header
  join_phi, ///< a register where flows meet
  trip,     ///< a loop's trip count
};

struct SymbolInfo {
  SymbolKind kind = SymbolKind::varying;
  BlockId block = 0;     ///< where it comes to be
  std::uint32_t phi = 0; ///< of the two phi kinds
  bool uniform = false;  ///< the verdict, for the phi kinds
};

/// A register whose value depends on the edge by which a block is entered.
struct Phi {
  BlockId block = 0;
  RegisterId reg = no_register;
  std::vector<std::pair<BlockId, Expr>> operands; ///< by feasible edge; null: not written there
  Expr symbol = nullptr;                          ///< null if all operands agree
};

/// What is known of an opcode, worked out when it is first met.
struct OpcodeInfo {
  bool known = false;
  const Line<ExprPool> *line = nullptr;
  Form form;
  Effect effect = Effect::sync;
};

std::uint64_t edge(BlockId from, BlockId to) { return std::uint64_t{from} << 32 | to; }

} // namespace

LaunchFacts launch_facts(const Function &function) {
  LaunchFacts facts;
  // Extents that are not written are 1.
  if (const PerformanceDirective *directive = function.directive("reqntid")) {
    facts.one_dimensional = directive->values[1] == 1 && directive->values[2] == 1;
    facts.max_block_x = std::min(facts.max_block_x, std::max(directive->values[0], 1u));
  }
  // `.maxntid 256` admits a block of 16 x 16: it bounds the product of the extents, none by itself.
  if (const PerformanceDirective *directive = function.directive("maxntid")) {
    std::uint64_t threads = 1;
    for (const std::uint64_t extent : directive->values)
      threads = std::min<std::uint64_t>(threads * std::max<std::uint64_t>(extent, 1), 1u << 31);
    facts.max_block_x =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(facts.max_block_x, threads));
  }
  return facts;
}

class Emulation::Implementation {
public:
  Implementation(const Module &module, const Function &function, const LaunchFacts &facts)
      : module_(module), function_(function), facts_(facts), cfg_(module, function),
        carry_(static_cast<RegisterId>(function.registers.size())) {}

  void run();
  bool uniform(Expr expr, BlockId block, bool lane_counts) const;
  bool invariant(Expr expr, LoopId loop) const;

  const Module &module_;
  const Function &function_;
  const LaunchFacts facts_;
  ControlFlowGraph cfg_;
  ExprPool pool_;
  std::vector<MemoryAccess> trace_;
  bool complete_ = false;
  unsigned flows_ = 1;
  std::vector<bool> feasible_;
  std::vector<Expr> branch_condition_; ///< by block, under which its branch is taken; null: unknown
  std::vector<std::pair<Expr, RegisterRead>> reads_;
  std::unordered_map<Expr, std::vector<RegisterRead>>
      expanded_reads_; ///< made when first asked for
  std::unique_ptr<Substitution> expansion_;
  std::unordered_map<int, std::unique_ptr<Substitution>> shifts_;
  Expr tid_x_ = nullptr;
  Expr laneid_ = nullptr;

private:
  const OpcodeInfo &opcode_info(const Instruction &instruction);
  void find_slice();
  bool place_phis();
  void walk();
  bool enter(BlockId block);
  void evaluate_phis(BlockId block);
  void execute(BlockId block, std::uint32_t index);
  void leave(BlockId block);
  std::optional<bool> decide(Expr condition);
  void record_access(BlockId block, std::uint32_t index, const Instruction &instruction,
                     const OpcodeInfo &info);
  void compute(BlockId block, std::uint32_t index, const Instruction &instruction);
  bool compute_move(BlockId block, const Instruction &instruction);
  bool compute_load(BlockId block, const Instruction &instruction);
  bool compute_line(BlockId block, std::uint32_t index, const Instruction &instruction,
                    const OpcodeInfo &info);
  bool compute_uninterpreted(BlockId block, const Instruction &instruction);
  void havoc(BlockId block, const Instruction &instruction);

  Expr operand_value(BlockId block, const Operand &operand, unsigned width,
                     ScalarType type = ScalarType::none);
  Expr special_value(BlockId block, std::string_view name);
  Expr address_value(BlockId block, const Operand &operand);
  Expr named(const std::string &name, unsigned width, SymbolKind kind, std::uint64_t maximum);
  Expr fresh(std::string name, unsigned width, SymbolKind kind, BlockId block,
             std::uint32_t phi = 0);
  Expr read(BlockId block, RegisterId reg);
  Expr guard_of(BlockId block, const Instruction &instruction);
  void write(RegisterId reg, Expr value);
  void assign(BlockId block, const Instruction &instruction, const Operand &destination, Expr value,
              bool sign_extend);
  unsigned register_width(RegisterId reg) const {
    return reg == carry_ ? 1 : bit_width(function_.registers[reg].type);
  }
  bool needed(RegisterId reg) const { return needed_[reg]; }

  void resolve_loops();
  void find_uniformity();
  bool uniform_symbol(const SymbolInfo &info, BlockId block, bool lane_counts) const;
  bool control_uniform(BlockId block, BlockId top) const;
  bool exit_uniform(LoopId loop, BlockId block) const;

  const RegisterId carry_; ///< the carry flag as one more register
  std::vector<OpcodeInfo> opcode_infos_;
  std::vector<bool> needed_;
  std::vector<Phi> phis_;
  std::vector<std::vector<std::uint32_t>> phis_at_; ///< by block
  std::vector<Expr> current_;                       ///< by register; null: never written
  Expr guard_ = nullptr;                            ///< of the instruction being computed
  std::vector<std::pair<RegisterId, Expr>> undo_;
  std::unordered_map<std::uint64_t, bool> dead_edges_;
  std::unordered_map<Expr, bool> known_; ///< conditions that branches on the way established
  std::vector<Expr> known_undo_;
  std::unordered_map<std::string, Expr> named_;
  std::vector<SymbolInfo> infos_; ///< by symbol index
  std::vector<Expr> trips_;       ///< by loop
  std::vector<std::vector<BlockId>> exits_;
  std::vector<bool> uniform_exit_; ///< by loop: all lanes leave it in the same iteration
};

const OpcodeInfo &Emulation::Implementation::opcode_info(const Instruction &instruction) {
  OpcodeInfo &info = opcode_infos_[instruction.opcode];
  if (!info.known) {
    const Opcode &opcode = module_.opcode(instruction);
    info.known = true;
    info.line = find_line<ExprPool>(opcode);
    info.form = decode(opcode);
    info.effect = effect_of(opcode);
  }
  return info;
}

void Emulation::Implementation::run() {
  opcode_infos_.resize(module_.opcodes.size());
  if (!cfg_.well_formed())
    return;
  find_slice();
  if (!place_phis())
    return;
  walk();
  resolve_loops();
  find_uniformity();
  complete_ = true;
}

// Registers that addresses, guards of accesses and branches depend on, whatever the flow.
void Emulation::Implementation::find_slice() {
  const auto count = static_cast<std::uint32_t>(function_.instructions.size());
  const std::size_t registers = function_.registers.size() + 1;
  needed_.assign(registers, false);
  // Writers by register, as one array of lists.
  std::vector<std::uint32_t> begin(registers + 1, 0), writers;
  std::vector<RegisterId> work;
  const auto need = [&](RegisterId reg) {
    if (!needed_[reg]) {
      needed_[reg] = true;
      work.push_back(reg);
    }
  };
  const auto each_written = [&](const Instruction &instruction, auto visit) {
    for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
      if (use != RegisterUse::read)
        visit(reg);
    });
    if (module_.opcode(instruction).has("cc"))
      visit(carry_);
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    const Instruction &instruction = function_.instructions[i];
    each_written(instruction, [&](RegisterId reg) { ++begin[reg + 1]; });
    const Opcode &opcode = module_.opcode(instruction);
    const Effect effect = opcode_info(instruction).effect;
    if (effect == Effect::load || effect == Effect::store) {
      if (opcode.space != StateSpace::shared && opcode.space != StateSpace::local)
        for (const Operand &operand : module_.operands(instruction))
          if (operand.kind == Operand::Kind::address)
            for (const Operand &base : module_.children(operand))
              if (base.kind == Operand::Kind::reg)
                need(base.reg);
      if (instruction.guard != no_register)
        need(instruction.guard);
    } else if (opcode.base == "bra" || opcode.base == "exit" || opcode.base == "ret") {
      if (instruction.guard != no_register)
        need(instruction.guard);
    }
  }
  for (std::size_t r = 0; r < registers; ++r)
    begin[r + 1] += begin[r];
  writers.resize(begin.back());
  std::vector<std::uint32_t> fill(begin.begin(), begin.end() - 1);
  for (std::uint32_t i = 0; i < count; ++i)
    each_written(function_.instructions[i], [&](RegisterId reg) { writers[fill[reg]++] = i; });
  while (!work.empty()) {
    const RegisterId reg = work.back();
    work.pop_back();
    for (std::uint32_t w = begin[reg]; w < begin[reg + 1]; ++w) {
      const Instruction &instruction = function_.instructions[writers[w]];
      for_each_register(module_, instruction, [&](RegisterId source, RegisterUse use) {
        if (use == RegisterUse::read)
          need(source);
      });
      const std::string_view base = module_.opcode(instruction).base;
      if (base == "addc" || base == "subc" || base == "madc")
        need(carry_);
    }
  }
}

// Phis go to the iterated dominance frontiers of the blocks that write a needed register (Cytron et
// al., "Efficiently computing static single assignment form"). Registers with one writer need none
// as long as it dominates the readers; PTX from LLVM is mostly so.
bool Emulation::Implementation::place_phis() {
  const auto &blocks = cfg_.blocks();
  phis_at_.resize(blocks.size());
  std::vector<std::vector<BlockId>> frontier(blocks.size());
  std::size_t size = 0;
  for (const BlockId block : cfg_.reverse_postorder()) {
    const auto &predecessors = blocks[block].predecessors;
    if (predecessors.size() < 2)
      continue;
    for (BlockId runner : predecessors) {
      if (!cfg_.reachable(runner))
        continue;
      while (runner != cfg_.immediate_dominator(block)) {
        if (frontier[runner].empty() || frontier[runner].back() != block)
          frontier[runner].push_back(block);
        if (++size > frontier_budget)
          return false;
        runner = cfg_.immediate_dominator(runner);
      }
    }
  }
  // Blocks that write each needed register.
  std::vector<std::vector<BlockId>> writing(function_.registers.size());
  for (const BlockId block : cfg_.reverse_postorder())
    for (std::uint32_t i = blocks[block].first; i < blocks[block].end; ++i)
      for_each_register(module_, function_.instructions[i], [&](RegisterId reg, RegisterUse use) {
        if (use != RegisterUse::read && needed(reg) &&
            (writing[reg].empty() || writing[reg].back() != block))
          writing[reg].push_back(block);
      });
  std::vector<RegisterId> placed(blocks.size(), no_register);
  for (RegisterId reg = 0; reg < writing.size(); ++reg) {
    std::vector<BlockId> work = std::move(writing[reg]);
    while (!work.empty()) {
      const BlockId block = work.back();
      work.pop_back();
      for (const BlockId join : frontier[block])
        if (placed[join] != reg) {
          placed[join] = reg;
          phis_at_[join].push_back(static_cast<std::uint32_t>(phis_.size()));
          phis_.push_back({join, reg, {}, nullptr});
          work.push_back(join);
        }
    }
  }
  return true;
}

// Blocks in reverse postorder over the dominator tree: when a block is reached, all blocks that
// lead to it but by back edges have been.
void Emulation::Implementation::walk() {
  struct Frame {
    BlockId block;
    std::size_t next_child;
    std::size_t undo_size;
    std::size_t known_size;
  };
  feasible_.assign(cfg_.blocks().size(), false);
  branch_condition_.assign(cfg_.blocks().size(), nullptr);
  current_.assign(function_.registers.size() + 1, nullptr);
  for (LoopId loop = 0; loop < cfg_.loops().size(); ++loop)
    trips_.push_back(
        fresh(fmt::format("trip{}", loop), 64, SymbolKind::trip, cfg_.loops()[loop].header));
  std::vector<Frame> stack;
  const auto open = [&](BlockId block) {
    const Frame frame{block, 0, undo_.size(), known_undo_.size()};
    if (!enter(block))
      return;
    for (std::uint32_t i = cfg_.blocks()[block].first; i < cfg_.blocks()[block].end; ++i)
      execute(block, i);
    leave(block);
    stack.push_back(frame);
  };
  if (!cfg_.blocks().empty())
    open(0);
  while (!stack.empty()) {
    Frame &frame = stack.back();
    const auto &children = cfg_.dominated(frame.block);
    if (frame.next_child < children.size()) {
      open(children[frame.next_child++]);
      continue;
    }
    for (; undo_.size() > frame.undo_size; undo_.pop_back())
      current_[undo_.back().first] = undo_.back().second;
    for (; known_undo_.size() > frame.known_size; known_undo_.pop_back())
      known_.erase(known_undo_.back());
    stack.pop_back();
  }
}

bool Emulation::Implementation::enter(BlockId block) {
  const BasicBlock &info = cfg_.blocks()[block];
  bool entered = block == 0;
  for (const BlockId predecessor : info.predecessors) {
    // A way into an irreducible cycle from a block that is yet to be walked.
    const bool later = cfg_.reachable(predecessor) &&
                       cfg_.order_of(predecessor) > cfg_.order_of(block) &&
                       !cfg_.dominates(block, predecessor);
    entered |= later || (cfg_.reachable(predecessor) && feasible_[predecessor] &&
                         !dead_edges_.contains(edge(predecessor, block)));
  }
  if (!entered)
    return false;
  feasible_[block] = true;
  evaluate_phis(block);
  write(carry_, nullptr);
  if (info.predecessors.size() == 1 && block != 0) {
    const BlockId before = info.predecessors[0];
    const Expr condition = branch_condition_[before];
    if (condition && cfg_.blocks()[before].successors.size() == 2 &&
        condition->kind != ExprKind::constant && !known_.contains(condition)) {
      known_[condition] = cfg_.blocks()[before].successors[0] == block;
      known_undo_.push_back(condition);
    }
  }
  return true;
}

void Emulation::Implementation::evaluate_phis(BlockId block) {
  const LoopId loop = cfg_.loop_of(block);
  const bool header = loop != no_index && cfg_.loops()[loop].header == block;
  for (const std::uint32_t index : phis_at_[block]) {
    Phi &phi = phis_[index];
    const unsigned width = register_width(phi.reg);
    if (width == 0 || width > 128) {
      write(phi.reg, nullptr);
      continue;
    }
    bool agree = !phi.operands.empty();
    for (const auto &[from, value] : phi.operands)
      agree &= value != nullptr && value == phi.operands[0].second;
    if (cfg_.irreducible(block) || block == 0) { // the entry is also reached from outside
      phi.symbol = fresh(fmt::format("join({})", function_.registers[phi.reg].name), width,
                         SymbolKind::varying, block);
    } else if (header) {
      phi.symbol = fresh(fmt::format("loop({}, {})", loop, function_.registers[phi.reg].name),
                         width, SymbolKind::loop_phi, block, index);
    } else if (agree) {
      write(phi.reg, phi.operands[0].second);
      continue;
    } else {
      phi.symbol = fresh(fmt::format("join({})", function_.registers[phi.reg].name), width,
                         SymbolKind::join_phi, block, index);
    }
    write(phi.reg, phi.symbol);
  }
}

// Whether a condition is true or false where the walk stands, if that is known.
std::optional<bool> Emulation::Implementation::decide(Expr condition) {
  if (condition->kind == ExprKind::constant)
    return !condition->value.is_zero();
  if (const auto known = known_.find(condition); known != known_.end())
    return known->second;
  if (const auto opposite = known_.find(pool_.bit_not(condition)); opposite != known_.end())
    return !opposite->second;
  return std::nullopt;
}

void Emulation::Implementation::leave(BlockId block) {
  const BasicBlock &info = cfg_.blocks()[block];
  if (info.branch != no_index && info.successors.size() == 2) {
    const Instruction &branch = function_.instructions[info.branch];
    const Opcode &opcode = module_.opcode(branch);
    if (opcode.base == "bra") {
      const Expr condition = guard_of(block, branch);
      branch_condition_[block] = condition;
      const std::optional<bool> decided = decide(condition);
      if (decided)
        dead_edges_[edge(block, info.successors[*decided ? 1 : 0])] = true;
      else
        ++flows_;
    }
  } else if (info.branch != no_index && info.successors.size() == 1) {
    // A guarded exit: the flow goes on where the guard does not hold.
    const Instruction &exit = function_.instructions[info.branch];
    if (exit.guard != no_register && needed(exit.guard))
      branch_condition_[block] = guard_of(block, exit);
  } else if (info.successors.size() > 2) {
    flows_ += static_cast<unsigned>(info.successors.size()) - 1;
  }
  for (const BlockId successor : info.successors)
    if (!dead_edges_.contains(edge(block, successor)))
      for (const std::uint32_t index : phis_at_[successor])
        phis_[index].operands.emplace_back(block, current_[phis_[index].reg]);
}

void Emulation::Implementation::execute(BlockId block, std::uint32_t index) {
  const Instruction &instruction = function_.instructions[index];
  const OpcodeInfo &info = opcode_info(instruction);
  if (info.effect != Effect::none)
    record_access(block, index, instruction, info);
  bool writes = module_.opcode(instruction).has("cc") && needed(carry_);
  for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
    writes |= use != RegisterUse::read && needed(reg);
  });
  if (writes)
    compute(block, index, instruction);
  if (module_.opcode(instruction).base == "call") // which does not preserve it (PTX ISA 9.7.2)
    write(carry_, nullptr);
}

void Emulation::Implementation::record_access(BlockId block, std::uint32_t index,
                                              const Instruction &instruction,
                                              const OpcodeInfo &info) {
  const Opcode &opcode = module_.opcode(instruction);
  MemoryAccess access;
  access.instruction = index;
  access.effect = info.effect;
  access.block = block;
  access.space = opcode.space;
  access.bytes = bit_width(opcode.type) / 8 * opcode.vector;
  if (info.effect == Effect::load || info.effect == Effect::store) {
    if (instruction.guard != no_register) {
      access.guard = guard_of(block, instruction);
      if (const std::optional<bool> decided = decide(access.guard)) {
        if (!*decided)
          return; // never happens
        access.guard = nullptr;
      }
    }
    if (opcode.space != StateSpace::shared && opcode.space != StateSpace::local)
      for (const Operand &operand : module_.operands(instruction))
        if (operand.kind == Operand::Kind::address) {
          access.address = address_value(block, operand);
          break;
        }
  }
  trace_.push_back(access);
}

Expr Emulation::Implementation::fresh(std::string name, unsigned width, SymbolKind kind,
                                      BlockId block, std::uint32_t phi) {
  const Expr symbol = pool_.symbol(std::move(name), width);
  infos_.resize(pool_.symbols().size());
  infos_[symbol->index] = {kind, block, phi, kind == SymbolKind::uniform};
  return symbol;
}

Expr Emulation::Implementation::named(const std::string &name, unsigned width, SymbolKind kind,
                                      std::uint64_t maximum) {
  Expr &symbol = named_[name];
  if (!symbol) {
    symbol = pool_.symbol(name, width, maximum);
    infos_.resize(pool_.symbols().size());
    infos_[symbol->index] = {kind, 0, 0, kind == SymbolKind::uniform};
  }
  return symbol;
}

void Emulation::Implementation::write(RegisterId reg, Expr value) {
  undo_.emplace_back(reg, current_[reg]);
  current_[reg] = value;
}

Expr Emulation::Implementation::read(BlockId block, RegisterId reg) {
  if (!current_[reg]) {
    const std::string_view name = reg == carry_ ? "carry" : function_.registers[reg].name;
    const unsigned width = register_width(reg);
    write(reg, fresh(fmt::format("undefined({})", name), std::max(width, 1u), SymbolKind::varying,
                     block));
  }
  return current_[reg];
}

Expr Emulation::Implementation::guard_of(BlockId block, const Instruction &instruction) {
  if (instruction.guard == no_register)
    return pool_.constant(1, 1);
  const Expr value = read(block, instruction.guard);
  return instruction.guard_negated ? pool_.bit_not(value) : value;
}

Expr Emulation::Implementation::special_value(BlockId block, std::string_view name) {
  const std::string text(name);
  const std::uint64_t max_x = facts_.max_block_x;
  if (name == "WARP_SZ")
    return pool_.constant(32, 32);
  if (name == "%tid.x")
    return tid_x_ = named(text, 32, SymbolKind::lane, max_x - 1);
  if (name == "%laneid")
    return laneid_ = named(text, 32, SymbolKind::lane, 31);
  if (name == "%tid.y" || name == "%tid.z")
    return facts_.one_dimensional
               ? pool_.constant(32, 0)
               : named(text, 32, SymbolKind::uniform, name.back() == 'y' ? 1023 : 63);
  if (name == "%ntid.x")
    return named(text, 32, SymbolKind::uniform, max_x);
  if (name == "%ntid.y" || name == "%ntid.z")
    return facts_.one_dimensional
               ? pool_.constant(32, 1)
               : named(text, 32, SymbolKind::uniform, name.back() == 'y' ? 1024 : 64);
  if (name == "%ctaid.x" || name == "%nctaid.x")
    return named(text, 32, SymbolKind::uniform, 0x7fffffff);
  if (name == "%ctaid.y" || name == "%ctaid.z" || name == "%nctaid.y" || name == "%nctaid.z")
    return named(text, 32, SymbolKind::uniform, 0xffff);
  // Clocks, warp ids, lane masks and what is not known: a new value at every read.
  const bool wide = name.ends_with("64") || name == "%globaltimer" || name == "%gridid";
  return fresh(text, wide ? 64 : 32, SymbolKind::varying, block);
}

Expr Emulation::Implementation::operand_value(BlockId block, const Operand &operand, unsigned width,
                                              ScalarType type) {
  using Kind = Operand::Kind;
  switch (operand.kind) {
  case Kind::reg: {
    if (operand.selector || function_.registers[operand.reg].vector != 1)
      return nullptr;
    const Expr value = read(block, operand.reg);
    if (operand.negated)
      return value->width == 1 ? pool_.bit_not(value) : nullptr;
    if (value->width < width)
      return nullptr;
    return pool_.truncate(value, width);
  }
  case Kind::integer:
    return pool_.constant(width, {static_cast<std::uint64_t>(operand.value),
                                  operand.value < 0 ? ~std::uint64_t{0} : 0});
  case Kind::real: {
    auto bits = static_cast<std::uint64_t>(operand.value);
    if (operand.real_type == ScalarType::f64 && width == 32 && type == ScalarType::f32)
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    return pool_.constant(width, bits);
  }
  case Kind::special: {
    const Expr value = special_value(block, module_.text(operand.span));
    return width <= value->width ? pool_.truncate(value, width) : pool_.zext(value, width);
  }
  case Kind::symbol: {
    std::string_view name = module_.text(operand.span);
    name = name.substr(0, name.find_first_of("+- \t\r\n"));
    const Expr base = named("&" + std::string(name), 64, SymbolKind::uniform, ~std::uint64_t{0});
    const Expr address =
        pool_.add(base, pool_.constant(64, static_cast<std::uint64_t>(operand.value)));
    return width <= 64 ? pool_.truncate(address, width) : nullptr;
  }
  default:
    return nullptr;
  }
}

// 64 bits; the addition happens in the width of the address.
Expr Emulation::Implementation::address_value(BlockId block, const Operand &operand) {
  const auto base = module_.children(operand);
  if (operand.kind != Operand::Kind::address || base.size() != 1)
    return nullptr;
  const unsigned width = base[0].kind == Operand::Kind::reg ? register_width(base[0].reg) : 64;
  if (width != 32 && width != 64)
    return nullptr;
  const Expr value = operand_value(block, base[0], width);
  if (!value)
    return nullptr;
  const Expr offset = pool_.constant(width, static_cast<std::uint64_t>(operand.value));
  return pool_.zext(pool_.add(value, offset), 64);
}

void Emulation::Implementation::assign(BlockId block, const Instruction &instruction,
                                       const Operand &destination, Expr value, bool sign_extend) {
  if (destination.kind != Operand::Kind::reg || !needed(destination.reg))
    return;
  const unsigned width = register_width(destination.reg);
  if (destination.selector || function_.registers[destination.reg].vector != 1 ||
      value->width > width)
    value = nullptr;
  else
    value = sign_extend ? pool_.sext(value, width) : pool_.zext(value, width);
  if (value && (value->depth > depth_budget ||
                (value->kind == ExprKind::sum && value->child_count > terms_budget)))
    value = nullptr;
  if (!value)
    value = fresh(fmt::format("opaque({}, line {})", function_.registers[destination.reg].name,
                              instruction.line),
                  std::max(width, 1u), SymbolKind::varying, block);
  if (guard_->kind != ExprKind::constant)
    value = pool_.ite(guard_, value, read(block, destination.reg));
  else if (guard_->value.is_zero())
    return;
  write(destination.reg, value);
}

void Emulation::Implementation::havoc(BlockId block, const Instruction &instruction) {
  for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
    if (use == RegisterUse::read || !needed(reg))
      return;
    const unsigned width = std::max(register_width(reg), 1u);
    write(reg,
          fresh(fmt::format("opaque({}, line {})", function_.registers[reg].name, instruction.line),
                width, SymbolKind::varying, block));
  });
  if (module_.opcode(instruction).has("cc"))
    write(carry_, nullptr);
}

void Emulation::Implementation::compute(BlockId block, std::uint32_t index,
                                        const Instruction &instruction) {
  const OpcodeInfo &info = opcode_info(instruction);
  const Opcode &opcode = module_.opcode(instruction);
  bool done = false;
  guard_ = guard_of(block, instruction); // before any destination is written
  if (instruction.well_formed && instruction.operand_count > 0) {
    if (opcode.base == "mov")
      done = compute_move(block, instruction);
    else if (opcode.base == "ld" || opcode.base == "ldu")
      done = compute_load(block, instruction);
    if (!done && info.line)
      done = compute_line(block, index, instruction, info);
    if (!done && is_pure(opcode))
      done = compute_uninterpreted(block, instruction);
  }
  if (!done)
    havoc(block, instruction);
}

// mov packs and unpacks vectors (PTX ISA 9.7.9.5): the first element is the lowest.
bool Emulation::Implementation::compute_move(BlockId block, const Instruction &instruction) {
  const auto operands = module_.operands(instruction);
  const Opcode &opcode = module_.opcode(instruction);
  const unsigned width = bit_width(opcode.type);
  if (operands.size() != 2 || width == 0 || opcode.vector != 1)
    return false;
  if (operands[1].kind == Operand::Kind::vector && operands[0].kind == Operand::Kind::reg) {
    const auto parts = module_.children(operands[1]);
    if (parts.empty() || width % parts.size() != 0)
      return false;
    Expr value = nullptr;
    for (const Operand &part : parts) {
      const Expr piece = operand_value(block, part, static_cast<unsigned>(width / parts.size()));
      if (!piece)
        return false;
      value = value ? pool_.concat(piece, value) : piece;
    }
    assign(block, instruction, operands[0], value, false);
    return true;
  }
  if (operands[0].kind == Operand::Kind::vector) {
    const auto parts = module_.children(operands[0]);
    const Expr value = operand_value(block, operands[1], width);
    if (!value || parts.empty() || width % parts.size() != 0)
      return false;
    const auto piece = static_cast<unsigned>(width / parts.size());
    for (unsigned i = 0; i < parts.size(); ++i)
      assign(block, instruction, parts[i], pool_.extract(value, i * piece, piece), false);
    return true;
  }
  return false;
}

// A kernel's parameters are uniform symbols; memory that is only read is a function of the address;
// any other load gives something unknown.
bool Emulation::Implementation::compute_load(BlockId block, const Instruction &instruction) {
  const Opcode &opcode = module_.opcode(instruction);
  const auto operands = module_.operands(instruction);
  const unsigned width = bit_width(opcode.type);
  if (operands.size() < 2 || operands[1].kind != Operand::Kind::address || width == 0)
    return false;
  const auto base = module_.children(operands[1]);
  const bool vector = operands[0].kind == Operand::Kind::vector;
  const auto destinations = vector ? module_.children(operands[0]) : operands.subspan(0, 1);
  const auto element = [&](unsigned i) -> Expr {
    const std::int64_t offset = operands[1].value + std::int64_t{i} * (width / 8);
    if (opcode.space == StateSpace::param) {
      if (!function_.is_entry || base.empty() || base[0].kind != Operand::Kind::symbol)
        return nullptr;
      const std::string_view name = module_.text(base[0].span);
      for (const Variable &parameter : function_.parameters)
        if (parameter.name == name)
          return named(
              offset == 0
                  ? fmt::format("{}{}", name,
                                width == parameter.size() * 8 ? "" : fmt::format(":{}", width))
                  : fmt::format("{}+{}:{}", name, offset, width),
              width, SymbolKind::uniform, ~std::uint64_t{0});
      return nullptr;
    }
    if (!reads_constant_memory(opcode))
      return nullptr;
    const Expr address = address_value(block, operands[1]);
    if (!address)
      return nullptr;
    const Expr arguments[] = {
        pool_.add(address, pool_.constant(64, std::uint64_t{i} * (width / 8)))};
    return pool_.uninterpreted(
        fmt::format("{}{}", opcode.space == StateSpace::constant ? "const" : "readonly", width),
        width, arguments);
  };
  std::vector<Expr> values; // all of them first: an element may overwrite the address
  for (unsigned i = 0; i < destinations.size(); ++i) {
    values.push_back(element(i));
    if (!values.back())
      return false;
  }
  for (unsigned i = 0; i < destinations.size(); ++i)
    assign(block, instruction, destinations[i], values[i], is_signed(opcode.type));
  return true;
}

bool Emulation::Implementation::compute_line(BlockId block, std::uint32_t index,
                                             const Instruction &instruction,
                                             const OpcodeInfo &info) {
  const auto operands = module_.operands(instruction);
  const std::string_view shape = info.line->shape;
  std::vector<Expr> sources;
  std::size_t next = 1;
  for (const char letter : shape.substr(2)) {
    if (letter == 'C') {
      sources.push_back(read(block, carry_));
      continue;
    }
    if (next >= operands.size())
      return false;
    const Operand &operand = operands[next++];
    const Expr value =
        operand_value(block, operand, shape_width(letter, info.form), info.form.type);
    if (!value)
      return false;
    sources.push_back(value);
    // Where a 32-bit value is about to be extended, the register can be tested for wrap-around.
    if (operand.kind == Operand::Kind::reg && value->width == 32 &&
        register_width(operand.reg) == 32 &&
        (shape[0] == 'W' || module_.opcode(instruction).base == "cvt"))
      reads_.emplace_back(value, RegisterRead{index, operand.reg});
  }
  if (next != operands.size())
    return false;
  Expr result = info.line->evaluate(pool_, info.form, sources);
  if (shape[0] == 'K') {
    if (instruction.guard != no_register)
      return false;
    if (needed(carry_))
      write(carry_, pool_.extract(result, info.form.width, 1));
    result = pool_.truncate(result, info.form.width);
  }
  if (operands[0].kind == Operand::Kind::pair) {
    // setp's second predicate: the comparison's complement, combined in the same way; only the
    // form without a third operand has it as plain negation.
    const auto both = module_.children(operands[0]);
    if (shape != "P=TT")
      return false;
    assign(block, instruction, both[0], result, false);
    assign(block, instruction, both[1], pool_.bit_not(result), false);
    return true;
  }
  assign(block, instruction, operands[0], result, info.form.is_signed);
  return true;
}

// Floating point, and integer forms without a line of their own: a function of the operands, named
// by the whole opcode.
bool Emulation::Implementation::compute_uninterpreted(BlockId block,
                                                      const Instruction &instruction) {
  const Opcode &opcode = module_.opcode(instruction);
  const auto operands = module_.operands(instruction);
  if (operands[0].kind != Operand::Kind::reg || operands[0].selector || opcode.has("cc") ||
      opcode.base == "addc" || opcode.base == "subc" || opcode.base == "madc")
    return false;
  std::vector<Expr> sources;
  for (const Operand &operand : operands.subspan(1)) {
    const unsigned width = operand.kind == Operand::Kind::reg ? register_width(operand.reg) : 64;
    const Expr value = width == 0 ? nullptr : operand_value(block, operand, width);
    if (!value)
      return false;
    sources.push_back(value);
  }
  assign(block, instruction, operands[0],
         pool_.uninterpreted(opcode.text, register_width(operands[0].reg), sources), false);
  return true;
}

// A header register whose every way round adds the same invariant amount is
// initial + amount * trip (van Engelen's chains of recurrences, of first order; nested loops nest).
void Emulation::Implementation::resolve_loops() {
  expansion_ = std::make_unique<Substitution>(pool_);
  // What a loop begins with and steps by may come from loops around or before it, which have
  // smaller numbers: these must be written out first.
  std::vector<const Phi *> at_headers;
  for (const Phi &phi : phis_)
    if (phi.symbol && infos_[phi.symbol->index].kind == SymbolKind::loop_phi)
      at_headers.push_back(&phi);
  std::stable_sort(at_headers.begin(), at_headers.end(), [&](const Phi *a, const Phi *b) {
    return cfg_.loop_of(a->block) < cfg_.loop_of(b->block);
  });
  for (const Phi *header_phi : at_headers) {
    const Phi &phi = *header_phi;
    const LoopId loop = cfg_.loop_of(phi.block);
    Expr initial = nullptr, step = nullptr;
    bool even = phi.symbol->width <= 64;
    for (const auto &[from, value] : phi.operands) {
      if (!value) {
        even = false;
        break;
      }
      const bool back = cfg_.contains(loop, from);
      const Expr amount = back ? pool_.sub(value, phi.symbol) : value;
      Expr &known = back ? step : initial;
      even &= !known || known == amount;
      known = amount;
    }
    if (!even || !initial || !step || !invariant(step, loop))
      continue;
    const Expr trips = pool_.truncate(trips_[loop], phi.symbol->width);
    expansion_->map(phi.symbol,
                    pool_.add((*expansion_)(initial), pool_.mul((*expansion_)(step), trips)));
  }
}

bool Emulation::Implementation::invariant(Expr expr, LoopId loop) const {
  bool result = true;
  for_each_node(expr, [&](Expr node) {
    if (node->kind == ExprKind::symbol) {
      const SymbolInfo &info = infos_[node->index];
      const bool local = info.kind == SymbolKind::varying || info.kind == SymbolKind::loop_phi ||
                         info.kind == SymbolKind::join_phi || info.kind == SymbolKind::trip;
      result &= !(local && cfg_.contains(loop, info.block));
    }
  });
  return result;
}

// Optimistic: every phi counts as uniform until something varying reaches it.
void Emulation::Implementation::find_uniformity() {
  const auto &loops = cfg_.loops();
  exits_.resize(loops.size());
  uniform_exit_.assign(loops.size(), true);
  for (const BlockId block : cfg_.reverse_postorder())
    for (LoopId loop = cfg_.loop_of(block); loop != no_index; loop = loops[loop].parent)
      for (const BlockId successor : cfg_.blocks()[block].successors)
        if (feasible_[block] && !cfg_.contains(loop, successor) &&
            (exits_[loop].empty() || exits_[loop].back() != block))
          exits_[loop].push_back(block);
  for (const Phi &phi : phis_)
    if (phi.symbol && infos_[phi.symbol->index].kind != SymbolKind::varying)
      infos_[phi.symbol->index].uniform = true;
  for (const Expr trip : trips_)
    infos_[trip->index].uniform = true;
  for (int round = 0;; ++round) {
    bool changed = false;
    for (const Phi &phi : phis_) {
      if (!phi.symbol || !infos_[phi.symbol->index].uniform)
        continue;
      SymbolInfo &info = infos_[phi.symbol->index];
      bool uniform_now = round < uniformity_rounds;
      Expr first = nullptr, back = nullptr;
      for (const auto &[from, value] : phi.operands) {
        uniform_now = uniform_now && value && uniform(value, phi.block, true);
        if (info.kind != SymbolKind::loop_phi)
          continue;
        // Which way round was taken may differ from lane to lane.
        Expr &same = cfg_.contains(cfg_.loop_of(phi.block), from) ? back : first;
        uniform_now = uniform_now && (!same || same == value);
        same = value;
      }
      if (uniform_now && info.kind == SymbolKind::join_phi)
        uniform_now = control_uniform(phi.block, cfg_.immediate_dominator(phi.block));
      if (!uniform_now) {
        info.uniform = false;
        changed = true;
      }
    }
    for (LoopId loop = 0; loop < loops.size(); ++loop)
      for (const BlockId block : exits_[loop])
        if (uniform_exit_[loop] && (round >= uniformity_rounds || !exit_uniform(loop, block))) {
          uniform_exit_[loop] = false;
          changed = true;
        }
    if (!changed)
      break;
  }
}

// Whether the lanes that are in an iteration of a loop together agree whether this exit is taken in
// it: on the exit's own condition, and on whether they come to it at all.
bool Emulation::Implementation::exit_uniform(LoopId loop, BlockId block) const {
  const Expr condition = branch_condition_[block];
  if (!condition || !uniform(condition, block, true))
    return false;
  const Loop &info = cfg_.loops()[loop];
  const bool in_every_iteration =
      cfg_.loop_of(block) == loop &&
      std::all_of(info.latches.begin(), info.latches.end(),
                  [&](BlockId latch) { return cfg_.dominates(block, latch); });
  return in_every_iteration || control_uniform(block, info.header);
}

// Whether all branches from `top`, which dominates the block, on that decide whether and by which
// edge the block is reached go the same way in all lanes, and in the same iteration of loops that
// are left on the way.
bool Emulation::Implementation::control_uniform(BlockId reached, BlockId top) const {
  std::vector<BlockId> work{reached};
  std::unordered_set<BlockId> seen{reached};
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    for (const BlockId before : cfg_.blocks()[block].predecessors) {
      if (!cfg_.reachable(before) || !feasible_[before] || !seen.insert(before).second)
        continue;
      if (seen.size() > region_budget)
        return false;
      if (cfg_.blocks()[before].successors.size() > 1 || cfg_.blocks()[before].branch != no_index) {
        const Expr condition = branch_condition_[before];
        if (!condition || !uniform(condition, before, true))
          return false;
      }
      for (LoopId loop = cfg_.loop_of(before); loop != no_index && !cfg_.contains(loop, reached);
           loop = cfg_.loops()[loop].parent)
        if (!uniform_exit_[loop])
          return false;
      if (before != top)
        work.push_back(before);
    }
  }
  return true;
}

bool Emulation::Implementation::uniform_symbol(const SymbolInfo &info, BlockId block,
                                               bool lane_counts) const {
  switch (info.kind) {
  case SymbolKind::uniform:
    return true;
  case SymbolKind::lane:
    return !lane_counts;
  case SymbolKind::varying:
    return false;
  default:
    break;
  }
  if (!info.uniform)
    return false;
  // Read after a loop, the value is that of the iteration in which the lane left it.
  for (LoopId loop = cfg_.loop_of(info.block); loop != no_index; loop = cfg_.loops()[loop].parent) {
    if (cfg_.contains(loop, block))
      break;
    if (!uniform_exit_[loop])
      return false;
  }
  return true;
}

bool Emulation::Implementation::uniform(Expr expr, BlockId block, bool lane_counts) const {
  bool result = true;
  for_each_node(expr, [&](Expr node) {
    if (node->kind == ExprKind::symbol)
      result = result && uniform_symbol(infos_[node->index], block, lane_counts);
  });
  return result;
}

Emulation::Emulation(const Module &module, const Function &function, const LaunchFacts &facts)
    : implementation_(std::make_unique<Implementation>(module, function, facts)) {
  implementation_->run();
}
Emulation::~Emulation() = default;

bool Emulation::complete() const { return implementation_->complete_; }
const ControlFlowGraph &Emulation::cfg() const { return implementation_->cfg_; }
ExprPool &Emulation::pool() { return implementation_->pool_; }
const std::vector<MemoryAccess> &Emulation::trace() const { return implementation_->trace_; }
unsigned Emulation::flows() const { return implementation_->flows_; }
Expr Emulation::expand(Expr expr) { return (*implementation_->expansion_)(expr); }
bool Emulation::uniform_but_lane(Expr expr, BlockId block) const {
  return implementation_->uniform(expr, block, false);
}
bool Emulation::uniform(Expr expr, BlockId block) const {
  return implementation_->uniform(expr, block, true);
}
bool Emulation::invariant(Expr expr, LoopId loop) const {
  return implementation_->invariant(expr, loop);
}
bool Emulation::feasible(BlockId block) const { return implementation_->feasible_[block]; }

Expr Emulation::shift_lane(Expr expr, int delta) {
  if (delta == 0)
    return expr;
  auto &shift = implementation_->shifts_[delta];
  if (!shift) {
    shift = std::make_unique<Substitution>(pool());
    const Expr distance = pool().constant(32, static_cast<std::uint64_t>(std::int64_t{delta}));
    for (const Expr symbol : {implementation_->tid_x_, implementation_->laneid_})
      if (symbol)
        shift->map(symbol, pool().add(symbol, distance));
  }
  return (*shift)(expr);
}

bool Emulation::is_lane_symbol(Expr expr) const {
  return expr == implementation_->tid_x_ || expr == implementation_->laneid_;
}

const std::vector<RegisterRead> *Emulation::reads_of(Expr value) {
  auto &reads = implementation_->expanded_reads_;
  if (reads.empty())
    for (const auto &[read_value, read] : implementation_->reads_)
      reads[expand(read_value)].push_back(read);
  const auto found = reads.find(value);
  return found == reads.end() ? nullptr : &found->second;
}

std::vector<PathFact> Emulation::facts_in(BlockId block) const {
  const ControlFlowGraph &graph = cfg();
  std::vector<PathFact> facts;
  for (BlockId at = block; at != 0; at = graph.immediate_dominator(at)) {
    const auto &predecessors = graph.blocks()[at].predecessors;
    if (predecessors.size() != 1)
      continue;
    const BasicBlock &before = graph.blocks()[predecessors[0]];
    const Expr condition = implementation_->branch_condition_[predecessors[0]];
    if (condition && condition->kind != ExprKind::constant && before.successors.size() == 2)
      facts.push_back({condition, before.successors[0] == at});
  }
  return facts;
}

} // namespace ptxasw
