// The proof after emission, from the text alone.
//
// Let the rewritten module run beside the original. Their instructions line up (match.cpp): all
// originals but the replaced loads are there in their order, and what was added writes only
// registers the original does not have, or the destination of a replaced load in whose place it
// stands. So as long as every replaced load's destination gets the value the load would have given,
// all other registers hold what they held in the original, and one emulation of the original tells
// what the added code reads. What remains is to run the added code on expressions:
//
//   - a load gives a symbol, the value of its destination; copying it, cutting it into words and
//     putting it together again is algebra;
//   - activemask gives a symbol that belongs to its region: the straight line up to the next
//     branch, label, call or synchronisation;
//   - shfl.sync gives a symbol that stands for an expression in the lane N up;
//   - everything else is a line of the instruction table.
//
// In place of a replaced load D there then stands an expression of ite's over these symbols. Each
// leaf must be D's value: as D's own load, under a condition under which D would have run; or, with
// the shuffles taken away, as the value of a source S under conditions that imply what soundness.md
// asks: a full warp (rule 9), the lane in the row (8), S's address N lanes up equal to D's (2, 3),
// S executed there (1), nothing in between (5). Conditions are compared literal by literal
// (known.cpp). What is not understood is not proved.

#include "synth/prove.h"

#include "emulator/address.h"
#include "emulator/emulate.h"
#include "emulator/generic.h"
#include "emulator/instructions.h"
#include "emulator/solver.h"
#include "grammar/roles.h"
#include "synth/known.h"
#include "synth/match.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <unordered_set>

namespace ptxasw {
namespace {

/// Conditions split on in one replaced load.
constexpr int case_budget = 64;

/// Blocks looked at in one function to see what lies between loads.
constexpr std::size_t visit_budget = 4'000'000;

/// Questions to the solver in one function, and the effort for each in Z3's resource units.
constexpr unsigned solver_questions = 16;
constexpr unsigned solver_resource_limit = 200'000;

/// The block of added code before the whole body: it runs once.
constexpr BlockId entry_block = no_index;
/// Blocks that write a register: several.
constexpr BlockId several_blocks = no_index - 1;
constexpr BlockId not_written = no_index - 2;

using Key = std::pair<std::uint32_t, std::uint32_t>;

class FunctionProver {
public:
  FunctionProver(const Module &original, const Function &before, const Module &rewritten,
                 const Function &after, const std::vector<std::uint32_t> &replaced,
                 const RewriteOptions &options, bool all_generic_global)
      : a_(original), fa_(before), b_(rewritten), fb_(after), replaced_(replaced),
        options_(options), all_generic_global_(all_generic_global),
        facts_(launch_facts(before, options.assume_block)) {}

  FunctionProof run();

private:
  /// The value of one element of a load's destination.
  struct Loaded {
    std::uint32_t load = 0; ///< of the original
    unsigned element = 0;
  };
  struct Shuffle {
    Expr source = nullptr;
    int delta = 0;
    unsigned region = 0;
    BlockId block = 0;
  };
  struct Added {
    std::uint32_t claim = 0;
    Expr guard = nullptr;
  };

  bool fail(std::string_view why) {
    if (failure_.empty())
      failure_ = why;
    return false;
  }
  ExprPool &pool() { return emulation_->pool(); }
  const ControlFlowGraph &cfg() const { return emulation_->cfg(); }
  bool is_replaced(std::uint32_t i) const {
    return std::binary_search(replaced_.begin(), replaced_.end(), i);
  }
  bool fresh(RegisterId reg) const { return match_.registers[reg] == no_register; }
  Expr opaque(std::string_view name, unsigned width) {
    return pool().symbol(std::string(name), std::max(width, 1u));
  }
  static unsigned width_of(const Function &function, RegisterId reg) {
    return bit_width(function.registers[reg].type);
  }
  const MemoryAccess *access(std::uint32_t instruction) const {
    const std::size_t index = trace_index_[instruction];
    return index == no_index ? nullptr : &emulation_->trace()[index];
  }
  /// Where a load runs now: as if just before the original instruction of this index.
  std::uint32_t position(std::uint32_t load) const {
    const auto found = moved_to_.find(load);
    return found == moved_to_.end() ? load : found->second;
  }

  void emulate();
  bool walk();
  bool walk_block(BlockId block, const std::vector<std::uint32_t> &code);
  bool move_up(std::uint32_t j, std::uint32_t load);
  void settle(std::uint32_t load);
  void hold(std::uint32_t load);
  bool execute(const Instruction &instruction);
  bool shuffle(const Instruction &instruction, Expr guard);
  bool load(const Instruction &instruction, Expr guard);
  bool move_vector(const Instruction &instruction, Expr guard, bool &done);
  bool compute(const Instruction &instruction, Expr guard);

  Expr value_of(const Operand &operand, unsigned width);
  /// A loaded value as the emulation of the original knows it, to compute with.
  Expr as_emulated(Expr value) const {
    const auto known = emulated_.find(value);
    return known == emulated_.end() ? value : known->second;
  }
  Expr read(RegisterId reg);
  bool write(const Operand &destination, Expr value, bool is_signed, Expr guard);
  Expr loaded(std::uint32_t load, unsigned element);
  std::vector<RegisterId> destinations(std::uint32_t load) const;
  std::uint32_t claim_writing(RegisterId reg) const;

  Known known_in(BlockId block);
  std::string_view check(Expr value, std::uint32_t load, unsigned element, Expr wanted,
                         const Known &known, int &budget);
  std::string_view check_reuse(Expr value, std::uint32_t load, unsigned element,
                               const Known &known);
  std::string_view serves(Loaded source, Loaded load, int delta, const Known &known);
  bool in_row(int delta, const Known &known);
  bool same_address(Expr source, Expr load, int delta, const Known &known);
  bool nothing_between(std::uint32_t source, std::uint32_t load, const Known &known);
  bool apart(const MemoryAccess &store, const MemoryAccess &load, std::uint32_t source,
             const Known &known);
  bool in_global_memory(const MemoryAccess &access) const;
  bool solved(Expr a, Expr b, const Known &known);

  const Module &a_;
  const Function &fa_;
  const Module &b_;
  const Function &fb_;
  const std::vector<std::uint32_t> &replaced_;
  const RewriteOptions &options_;
  const bool all_generic_global_;
  const LaunchFacts facts_;
  FunctionMatch match_;
  std::string_view failure_;
  std::optional<Emulation> emulation_;
  Solver solver_{solver_resource_limit};
  unsigned questions_ = 0;
  std::size_t visited_ = 0;
  FunctionProof result_;

  std::vector<bool> read_by_added_; ///< by original register
  std::vector<Probe> probes_;
  std::map<Key, std::uint32_t> probe_of_; ///< by rewritten instruction and original register
  std::vector<std::uint32_t> trace_index_;
  std::vector<std::vector<std::uint32_t>> events_; ///< by block: what is no load, trace indices
  std::map<std::uint32_t, std::uint32_t> moved_to_;
  std::map<BlockId, Known> known_in_;
  std::unordered_map<std::uint32_t, bool> uniform_; ///< by source: its address but for the lane

  // The added registers, by rewritten register.
  std::vector<BlockId> written_in_;
  std::vector<Expr> value_;
  std::vector<BlockId> valued_in_;                   ///< the block in which value_ was written last
  std::unordered_map<Expr, RegisterId> if_executed_; ///< values of registers that may be stale

  // What symbols mean.
  std::map<Key, Expr> loaded_symbols_;
  std::unordered_map<Expr, Loaded> loaded_;
  std::unordered_map<Expr, Shuffle> shuffles_;
  std::unordered_map<Expr, unsigned> masks_; ///< activemask symbols and their regions
  std::unordered_map<Expr, Expr> emulated_;  ///< loaded symbols to what the emulation calls them

  // Where the walk stands.
  BlockId block_ = 0;
  std::uint32_t j_ = 0;    ///< the rewritten instruction
  std::uint32_t next_ = 0; ///< the first original instruction that has not run
  unsigned region_ = 0;
  std::map<RegisterId, Loaded> held_;  ///< original registers that hold a load's value, this block
  std::map<RegisterId, Expr> pending_; ///< destinations of replaced loads, under construction
  std::vector<Added> own_loads_;
  std::unordered_set<std::uint32_t> settled_;
};

FunctionProof FunctionProver::run() {
  const auto start = std::chrono::steady_clock::now();
  match_ = match(a_, fa_, b_, fb_, replaced_);
  if (!match_.failure.empty())
    failure_ = match_.failure;
  if (failure_.empty()) {
    emulate();
    if (!emulation_->complete())
      fail("the original is too much for the emulator");
    else
      walk();
  }
  if (!failure_.empty()) {
    result_.unproved.clear();
    for (const std::uint32_t index : replaced_)
      result_.unproved.push_back({index, failure_});
  }
  result_.solver_contexts = solver_.contexts();
  const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
  result_.milliseconds = passed.count();
  return std::move(result_);
}

// One emulation of the original, asked for every original register that added code reads.
void FunctionProver::emulate() {
  read_by_added_.assign(fa_.registers.size(), false);
  for (std::uint32_t j = 0; j < fb_.instructions.size(); ++j) {
    if (match_.original[j] != no_index || match_.places[j].entry)
      continue;
    for_each_register(b_, fb_.instructions[j], [&](RegisterId reg, RegisterUse) {
      if (fresh(reg))
        return;
      const RegisterId own = match_.registers[reg];
      read_by_added_[own] = true;
      if (probe_of_.try_emplace({j, own}, static_cast<std::uint32_t>(probes_.size())).second)
        probes_.push_back({match_.places[j].instruction, own, match_.places[j].after});
    });
  }
  emulation_.emplace(a_, fa_, facts_, probes_);
  if (!emulation_->complete())
    return;
  // Shifting by lanes replaces these two; it must know them before it is first asked.
  emulation_->special("%tid.x");
  emulation_->special("%laneid");
  trace_index_.assign(fa_.instructions.size(), no_index);
  events_.resize(cfg().blocks().size());
  const auto &trace = emulation_->trace();
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    trace_index_[trace[i].instruction] = i;
    if (trace[i].effect != Effect::load)
      events_[trace[i].block].push_back(i);
  }
}

// Blocks after those that dominate them.
bool FunctionProver::walk() {
  std::vector<std::vector<std::uint32_t>> code(cfg().blocks().size());
  std::vector<std::uint32_t> prologue;
  written_in_.assign(fb_.registers.size(), not_written);
  value_.assign(fb_.registers.size(), nullptr);
  valued_in_.assign(fb_.registers.size(), not_written);
  for (std::uint32_t j = 0; j < fb_.instructions.size(); ++j) {
    const bool stayed = match_.original[j] != no_index && !match_.moved[j];
    const Place &place = match_.places[j];
    const bool entry = !stayed && place.entry;
    const BlockId block = entry    ? entry_block
                          : stayed ? cfg().block_of(match_.original[j])
                                   : cfg().block_of(place.instruction);
    (entry ? prologue : code[block]).push_back(j);
    if (match_.original[j] != no_index)
      continue;
    for_each_register(b_, fb_.instructions[j], [&](RegisterId reg, RegisterUse use) {
      if (use == RegisterUse::read || !fresh(reg))
        return;
      BlockId &in = written_in_[reg];
      in = in == not_written || in == block ? block : several_blocks;
    });
  }
  if (!walk_block(entry_block, prologue))
    return false;
  for (const BlockId block : cfg().reverse_postorder())
    if (!walk_block(block, code[block]))
      return false;
  for (const std::uint32_t load : replaced_)
    if (!settled_.contains(load))
      result_.unproved.push_back({load, "the load is never reached"});
  return true;
}

bool FunctionProver::walk_block(BlockId block, const std::vector<std::uint32_t> &code) {
  block_ = block;
  ++region_;
  held_.clear();
  pending_.clear();
  own_loads_.clear();
  const bool entry = block == entry_block;
  next_ = entry ? 0 : cfg().blocks()[block].first;
  const std::uint32_t end = entry ? 0 : cfg().blocks()[block].end;
  // All replaced loads that come before an original instruction are complete when it is reached.
  const auto advance = [&](std::uint32_t to) {
    for (; next_ < to; ++next_)
      if (is_replaced(next_))
        settle(next_);
    pending_.clear();
    own_loads_.clear();
  };
  for (const std::uint32_t j : code) {
    j_ = j;
    const std::uint32_t original = match_.original[j];
    const Instruction &instruction = fb_.instructions[j];
    if (original != no_index && !match_.moved[j]) {
      advance(original);
      const Instruction &own = fa_.instructions[original];
      if (!held_.empty())
        for_each_register(a_, own, [&](RegisterId reg, RegisterUse use) {
          if (use != RegisterUse::read)
            held_.erase(reg);
        });
      const Effect effect = effect_of(a_.opcode(own));
      if (effect == Effect::load)
        hold(original);
      region_ += effect == Effect::sync;
      next_ = original + 1;
    } else if (original != no_index) {
      if (!move_up(j, original))
        return false;
    } else if (!execute(instruction)) {
      return fail("an added instruction is not understood");
    }
  }
  advance(end);
  return true;
}

// A load that runs earlier than it did: nothing it reads or gives may be touched on the way, and no
// store or synchronisation may lie there.
bool FunctionProver::move_up(std::uint32_t j, std::uint32_t load) {
  const std::uint32_t from = next_;
  if (match_.places[j].entry || cfg().block_of(load) != block_ || load < from)
    return fail("a load was moved out of its block");
  std::unordered_set<RegisterId> reads, writes;
  for_each_register(a_, fa_.instructions[load], [&](RegisterId reg, RegisterUse use) {
    (use == RegisterUse::read ? reads : writes).insert(reg);
  });
  bool disturbed = false;
  for (std::uint32_t i = from; i < load; ++i)
    for_each_register(a_, fa_.instructions[i], [&](RegisterId reg, RegisterUse use) {
      disturbed |= writes.contains(reg) || (use != RegisterUse::read && reads.contains(reg));
    });
  if (disturbed)
    return fail("a load was moved past an instruction that depends on it");
  const MemoryAccess *const what = access(load);
  if (!what || what->effect != Effect::load || !what->address || !in_global_memory(*what))
    return fail("a load was moved that is not understood");
  moved_to_[load] = from;
  if (!reads_constant_memory(a_.opcode(fa_.instructions[load])))
    for (const std::size_t event : events_[block_]) {
      const MemoryAccess &other = emulation_->trace()[event];
      if (other.instruction >= from && other.instruction < load &&
          (other.effect == Effect::sync || !apart(other, *what, load, Known(pool()))))
        return fail("a load was moved past a store");
    }
  hold(load);
  return true;
}

// The load's registers hold what it read, until the next write; of interest where added code looks.
void FunctionProver::hold(std::uint32_t load) {
  const auto to = destinations(load);
  for (unsigned e = 0; e < to.size(); ++e)
    if (to[e] != no_register && read_by_added_[to[e]])
      held_[to[e]] = {load, e};
}

// The original registers that a load writes, by element; no_register for those it leaves out. Empty
// if it has no plain destination.
std::vector<RegisterId> FunctionProver::destinations(std::uint32_t load) const {
  const Instruction &instruction = fa_.instructions[load];
  const auto operands = a_.operands(instruction);
  std::vector<RegisterId> result;
  if (!instruction.well_formed || operands.empty())
    return result;
  const auto parts =
      operands[0].kind == Operand::Kind::vector ? a_.children(operands[0]) : operands.subspan(0, 1);
  for (const Operand &part : parts) {
    if (part.kind == Operand::Kind::sink)
      result.push_back(no_register);
    else if (part.kind == Operand::Kind::reg && !part.selector &&
             fa_.registers[part.reg].vector == 1)
      result.push_back(part.reg);
    else
      return {};
  }
  return result;
}

Expr FunctionProver::loaded(std::uint32_t load, unsigned element) {
  Expr &symbol = loaded_symbols_[{load, element}];
  if (!symbol) {
    symbol = opaque("loaded", width_of(fa_, destinations(load)[element]));
    loaded_[symbol] = {load, element};
  }
  return symbol;
}

// ---- The added code ---------------------------------------------------------------------------

// The first replaced load that may be under construction here and writes an original register.
std::uint32_t FunctionProver::claim_writing(RegisterId reg) const {
  if (block_ == entry_block)
    return no_index;
  for (std::uint32_t i = next_; i < cfg().blocks()[block_].end; ++i) {
    if (!is_replaced(i)) {
      if (moved_to_.contains(i))
        continue;
      break;
    }
    if (settled_.contains(i))
      continue;
    const auto to = destinations(i);
    if (std::find(to.begin(), to.end(), reg) != to.end())
      return i;
  }
  return no_index;
}

Expr FunctionProver::read(RegisterId reg) {
  const unsigned width = width_of(fb_, reg);
  if (width == 0 || width > 64 || fb_.registers[reg].vector != 1)
    return nullptr;
  if (!fresh(reg)) {
    const RegisterId own = match_.registers[reg];
    if (pending_.contains(own)) {
      // The destination of a replaced load, read again: it must be complete.
      const std::uint32_t claim = claim_writing(own);
      if (claim == no_index)
        return nullptr;
      settle(claim);
    }
    const auto probe = probe_of_.find({j_, own});
    Expr value = probe == probe_of_.end() ? nullptr : emulation_->probed(probe->second);
    value = value ? emulation_->expand(value) : opaque("unreached", width);
    const auto held = held_.find(own);
    if (held == held_.end())
      return value;
    const Expr symbol = loaded(held->second.load, held->second.element);
    emulated_.try_emplace(symbol, value);
    return symbol;
  }
  const BlockId in = written_in_[reg];
  if (valued_in_[reg] == block_)
    return value_[reg];
  if (in == not_written || in == several_blocks || in == block_ || !value_[reg])
    return opaque("stale", width);
  const LoopId loop = in == entry_block ? no_index : cfg().loop_of(in);
  const bool before = in == entry_block || (block_ != entry_block && cfg().dominates(in, block_));
  if (before && (loop == no_index || cfg().contains(loop, block_)))
    return value_[reg];
  // Written only if that block was passed.
  const Expr symbol = opaque("if-executed", width);
  if_executed_[symbol] = reg;
  return symbol;
}

Expr FunctionProver::value_of(const Operand &operand, unsigned width) {
  switch (operand.kind) {
  case Operand::Kind::reg: {
    const Expr value = operand.selector ? nullptr : read(operand.reg);
    if (!value || value->width < width)
      return nullptr;
    if (operand.negated)
      return value->width == 1 ? pool().bit_not(value) : nullptr;
    return pool().truncate(value, width);
  }
  case Operand::Kind::integer:
    return pool().constant(width, static_cast<std::uint64_t>(operand.value));
  case Operand::Kind::special: {
    const Expr value = emulation_->special(b_.text(operand.span));
    return width <= value->width ? pool().truncate(value, width) : pool().zext(value, width);
  }
  default:
    return nullptr;
  }
}

bool FunctionProver::write(const Operand &destination, Expr value, bool is_signed, Expr guard) {
  if (destination.kind == Operand::Kind::sink)
    return true;
  if (destination.kind != Operand::Kind::reg || destination.selector || !value)
    return false;
  const RegisterId reg = destination.reg;
  const unsigned width = width_of(fb_, reg);
  if (value->width > width || width > 64 || fb_.registers[reg].vector != 1)
    return false;
  value = is_signed ? pool().sext(value, width) : pool().zext(value, width);
  if (fresh(reg)) {
    if (guard)
      value = pool().ite(guard, value, read(reg));
    value_[reg] = value;
    valued_in_[reg] = block_;
    return true;
  }
  const RegisterId own = match_.registers[reg];
  if (claim_writing(own) == no_index)
    return fail("an original register is written that is no replaced load's");
  Expr &pending = pending_[own];
  if (!pending)
    pending = opaque("old", width);
  pending = guard ? pool().ite(guard, value, pending) : value;
  return true;
}

bool FunctionProver::execute(const Instruction &instruction) {
  const Opcode &opcode = b_.opcode(instruction);
  if (!instruction.well_formed || instruction.operand_count == 0)
    return false;
  Expr guard = nullptr;
  if (instruction.guard != no_register) {
    guard = read(instruction.guard);
    if (!guard || guard->width != 1)
      return false;
    if (instruction.guard_negated)
      guard = pool().bit_not(guard);
  }
  if (opcode.base == "activemask") {
    if (guard)
      return fail("activemask under a guard");
    const Expr mask = opaque("activemask", 32);
    masks_[mask] = region_;
    return opcode.type == ScalarType::b32 && write(b_.operands(instruction)[0], mask, false, guard);
  }
  if (opcode.base == "shfl")
    return shuffle(instruction, guard);
  if (opcode.base == "ld")
    return load(instruction, guard);
  bool done = false;
  if (opcode.base == "mov" && !move_vector(instruction, guard, done))
    return false;
  return done || compute(instruction, guard);
}

// shfl.sync.up and .down by a constant over the whole warp (PTX ISA 9.7.9.6). All lanes of the
// member mask must come to it together, so it may depend on nothing in which they differ.
bool FunctionProver::shuffle(const Instruction &instruction, Expr guard) {
  const Opcode &opcode = b_.opcode(instruction);
  const auto operands = b_.operands(instruction);
  const bool up = opcode.has("up");
  if (opcode.modifiers.size() != 3 || opcode.modifiers[0] != "sync" ||
      opcode.modifiers[2] != "b32" || (!up && !opcode.has("down")) || operands.size() != 5)
    return false;
  const Operand &distance = operands[2], &clamp = operands[3];
  if (distance.kind != Operand::Kind::integer || distance.value < 1 || distance.value > 31 ||
      clamp.kind != Operand::Kind::integer || clamp.value != (up ? 0 : 31))
    return false;
  const auto in_region = [&](Expr symbol) {
    const auto mask = masks_.find(symbol);
    return mask != masks_.end() && mask->second == region_;
  };
  const Expr members = value_of(operands[4], 32);
  if (!members)
    return false;
  bool together = in_region(members);
  if (guard) {
    bool agreed = true;
    for_each_node(guard, [&](Expr node) {
      agreed = agreed && (node->kind != ExprKind::symbol || in_region(node));
    });
    if (!agreed)
      return fail("a shuffle is guarded by what lanes may not agree on");
    Known known(pool());
    known.assume(guard, true);
    const Expr all = pool().constant(32, 0xffffffff);
    for (const auto &[mask, region] : masks_)
      together |= members == all && region == region_ && known.decide(pool().eq(mask, all)) == true;
  }
  if (!together)
    return fail("a shuffle's member mask is not that of the active lanes");
  const int delta = static_cast<int>(up ? -distance.value : distance.value);
  const Expr source = value_of(operands[1], 32);
  if (!source)
    return false;
  const Expr symbol = opaque("shuffled", 32);
  shuffles_[symbol] = {source, delta, region_, block_};
  if (operands[0].kind != Operand::Kind::pair)
    return write(operands[0], symbol, false, guard);
  const auto both = b_.children(operands[0]);
  const Expr lane = emulation_->special("%laneid");
  const auto bound = [&](std::uint64_t value) { return pool().constant(32, value); };
  const auto lanes = static_cast<std::uint64_t>(distance.value);
  const Expr in_range = up ? pool().bit_not(pool().ult(lane, bound(lanes)))
                           : pool().bit_not(pool().ult(bound(31 - lanes), lane));
  return write(both[0], symbol, false, guard) && write(both[1], in_range, false, guard);
}

// A load that was added must read what a replaced load in whose place it stands reads, and run only
// where that would (rule 11).
bool FunctionProver::load(const Instruction &instruction, Expr guard) {
  const Opcode &opcode = b_.opcode(instruction);
  const auto operands = b_.operands(instruction);
  if (effect_of(opcode) != Effect::load || operands.size() < 2 ||
      operands[1].kind != Operand::Kind::address || block_ == entry_block)
    return false;
  const auto base = b_.children(operands[1]);
  if (base.size() != 1)
    return false;
  const unsigned size = bit_width(opcode.type) / 8;
  Expr address = nullptr;
  if (base[0].kind == Operand::Kind::reg) {
    const unsigned width = width_of(fb_, base[0].reg);
    if (width != 32 && width != 64)
      return false;
    Expr value = value_of(base[0], width);
    if (!value)
      return false;
    value = as_emulated(value);
    address = pool().zext(
        pool().add(value, pool().constant(width, static_cast<std::uint64_t>(operands[1].value))),
        64);
  }
  const auto to =
      operands[0].kind == Operand::Kind::vector ? b_.children(operands[0]) : operands.subspan(0, 1);
  for (std::uint32_t i = next_; i < cfg().blocks()[block_].end; ++i) {
    if (!is_replaced(i)) {
      if (moved_to_.contains(i))
        continue;
      break;
    }
    const MemoryAccess *const own = access(i);
    const Instruction &replaced = fa_.instructions[i];
    const Opcode &own_opcode = a_.opcode(replaced);
    if (settled_.contains(i) || !own || !own->address || opcode.type != own_opcode.type)
      continue;
    // The same modifiers but for the number of elements.
    std::vector<std::string_view> mine = opcode.modifiers, theirs = own_opcode.modifiers;
    for (auto *list : {&mine, &theirs})
      std::erase_if(*list, [](std::string_view m) { return m == "v2" || m == "v4" || m == "v8"; });
    if (mine != theirs)
      continue;
    const auto elements = destinations(i);
    std::uint64_t first = 0;
    if (address) {
      const Expr distance = pool().sub(address, emulation_->expand(own->address));
      if (distance->kind != ExprKind::constant || distance->value.low % size != 0)
        continue;
      first = distance->value.low / size;
    } else if (a_.text(a_.operands(replaced)[1].span) != b_.text(operands[1].span)) {
      continue;
    }
    if (first > elements.size() || first + to.size() > elements.size())
      continue;
    if (guard && own->guard) {
      Known known = known_in(block_);
      known.assume(guard, true);
      if (known.decide(emulation_->expand(own->guard)) != true && !known.contradictory())
        continue;
    } else if (own->guard) {
      continue;
    }
    bool written = true;
    std::vector<Expr> values;
    for (std::size_t e = 0; e < to.size(); ++e) {
      const RegisterId element = elements[first + e];
      const bool fits = to[e].kind == Operand::Kind::sink ||
                        (element != no_register && to[e].kind == Operand::Kind::reg &&
                         width_of(fb_, to[e].reg) == width_of(fa_, element));
      written = written && fits;
      values.push_back(fits && to[e].kind == Operand::Kind::reg
                           ? loaded(i, static_cast<unsigned>(first + e))
                           : nullptr);
    }
    for (std::size_t e = 0; e < to.size() && written; ++e)
      written = write(to[e], values[e], false, guard);
    return written;
  }
  return fail("a load was added that no replaced load accounts for");
}

// mov packs and unpacks vectors: the first element is the lowest.
bool FunctionProver::move_vector(const Instruction &instruction, Expr guard, bool &done) {
  const auto operands = b_.operands(instruction);
  const unsigned width = bit_width(b_.opcode(instruction).type);
  if (operands.size() != 2 || width == 0 || width > 64)
    return false;
  const bool packs = operands[1].kind == Operand::Kind::vector;
  const bool unpacks = operands[0].kind == Operand::Kind::vector;
  if (!packs && !unpacks)
    return true;
  const auto parts = b_.children(operands[packs ? 1 : 0]);
  if (packs == unpacks || parts.empty() || width % parts.size() != 0)
    return false;
  const auto piece = static_cast<unsigned>(width / parts.size());
  done = true;
  if (packs) {
    Expr value = nullptr;
    for (const Operand &part : parts) {
      const Expr next = value_of(part, piece);
      if (!next)
        return false;
      value = value ? pool().concat(next, value) : next;
    }
    return write(operands[0], value, false, guard);
  }
  const Expr value = value_of(operands[1], width);
  if (!value)
    return false;
  for (unsigned i = 0; i < parts.size(); ++i)
    if (!write(parts[i], pool().extract(value, i * piece, piece), false, guard))
      return false;
  return true;
}

// Everything else computes its result from its operands alone, as the table says.
bool FunctionProver::compute(const Instruction &instruction, Expr guard) {
  const Opcode &opcode = b_.opcode(instruction);
  const Line<ExprPool> *const line = is_pure(opcode) ? find_line<ExprPool>(opcode) : nullptr;
  if (!line || line->shape[0] == 'K' || line->shape.find('C') != std::string_view::npos)
    return false;
  const Form form = decode(opcode);
  const auto operands = b_.operands(instruction);
  const std::string_view letters = line->shape.substr(2);
  if (operands.size() != letters.size() + 1)
    return false;
  const bool moves = opcode.base == "mov" || opcode.base == "cvt";
  std::vector<Expr> sources;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const Expr value = value_of(operands[i + 1], shape_width(letters[i], form));
    if (!value)
      return false;
    sources.push_back(moves ? value : as_emulated(value));
  }
  return write(operands[0], line->evaluate(pool(), form, sources), form.is_signed, guard);
}

// ---- What stands in place of a replaced load ---------------------------------------------------

Known FunctionProver::known_in(BlockId block) {
  const auto found = known_in_.find(block);
  if (found != known_in_.end())
    return found->second;
  Known known(pool());
  for (const PathFact &fact : emulation_->facts_in(block))
    known.assume(emulation_->expand(fact.condition), fact.holds);
  known_in_.emplace(block, known);
  return known;
}

void FunctionProver::settle(std::uint32_t load) {
  if (!settled_.insert(load).second)
    return;
  const auto to = destinations(load);
  const MemoryAccess *const own = access(load);
  std::string_view why;
  if (to.empty() || !own || !own->address || own->effect != Effect::load)
    why = "the load is not understood";
  for (unsigned e = 0; e < to.size() && why.empty(); ++e) {
    if (to[e] == no_register)
      continue;
    const auto value = pending_.find(to[e]);
    if (value == pending_.end()) {
      why = "the destination is not written";
      break;
    }
    int budget = case_budget;
    Known runs = known_in(block_);
    if (own->guard) {
      // Where the load did not run, the destination keeps its value (rule 12).
      const Expr guard = emulation_->expand(own->guard);
      Known rests = runs;
      rests.assume(guard, false);
      runs.assume(guard, true);
      Expr old = value->second;
      while (old->kind == ExprKind::ite)
        old = old->children[rests.decide(old->children[0]) == true ? 1 : 2];
      const bool is_old = old->kind == ExprKind::symbol && !loaded_.contains(old) &&
                          !shuffles_.contains(old) && pool().symbols()[old->index].name == "old";
      if (!is_old)
        why = "the destination is written where the load did not run";
      // Every condition on the way must be known then: else the value might be another.
      for (Expr at = value->second; why.empty() && at != old;) {
        const auto chosen = rests.decide(at->children[0]);
        if (!chosen && !rests.contradictory()) {
          why = "the destination may be written where the load did not run";
          break;
        }
        at = at->children[chosen == true ? 1 : 2];
      }
    }
    if (why.empty())
      why = check(value->second, load, e, loaded(load, e), runs, budget);
  }
  if (!why.empty())
    result_.unproved.push_back({load, why});
  for (const RegisterId reg : to)
    pending_.erase(reg);
  hold(load);
}

// Case by case: the load's own value, or a source's.
std::string_view FunctionProver::check(Expr value, std::uint32_t load, unsigned element,
                                       Expr wanted, const Known &known, int &budget) {
  if (known.contradictory() || value == wanted)
    return {};
  if (--budget < 0)
    return "too many cases";
  if (value->kind == ExprKind::ite) {
    const Expr condition = value->children[0];
    for (const bool holds : {true, false}) {
      if (known.decide(condition) == !holds)
        continue;
      Known narrower = known;
      narrower.assume(condition, holds);
      const auto why =
          check(value->children[holds ? 1 : 2], load, element, wanted, narrower, budget);
      if (!why.empty())
        return why;
    }
    return {};
  }
  return check_reuse(value, load, element, known);
}

std::string_view FunctionProver::check_reuse(Expr value, std::uint32_t load, unsigned element,
                                             const Known &known) {
  std::optional<int> delta;
  Substitution without_shuffles(pool());
  std::string_view why;
  bool read_here = false;
  for_each_node(value, [&](Expr node) {
    if (node->kind != ExprKind::symbol)
      return;
    const auto found = shuffles_.find(node);
    if (found == shuffles_.end()) {
      read_here = true;
      return;
    }
    const Shuffle &shuffle = found->second;
    if (delta && *delta != shuffle.delta)
      why = "shuffles over different distances make up one value";
    delta = shuffle.delta;
    const Expr all = pool().constant(32, 0xffffffff);
    bool full = false;
    for (const auto &[mask, region] : masks_)
      full |= region == shuffle.region && known.decide(pool().eq(mask, all)) == true;
    if (!full)
      why = "the shuffled value is used without a full warp";
    if (shuffle.block != block_)
      why = "the shuffle stands in another block";
    without_shuffles.map(node, shuffle.source);
  });
  if (delta && read_here)
    why = "shuffled and own values make up one value";
  if (!why.empty())
    return why;
  const auto alone = shuffles_.find(value);
  const Expr plain = alone == shuffles_.end() ? without_shuffles(value) : alone->second.source;
  const auto source = loaded_.find(plain);
  if (source == loaded_.end())
    return "the value is not that of a source";
  return serves(source->second, {load, element}, delta.value_or(0), known);
}

// soundness.md, rule by rule.
std::string_view FunctionProver::serves(Loaded source, Loaded load, int delta, const Known &known) {
  const MemoryAccess *const from = access(source.load), *const to = access(load.load);
  if (!from || !to || !from->address || !to->address || from->effect != Effect::load)
    return "the source is not understood";
  const Opcode &from_opcode = a_.opcode(fa_.instructions[source.load]);
  const Opcode &to_opcode = a_.opcode(fa_.instructions[load.load]);
  const unsigned bits = bit_width(to_opcode.type);
  const unsigned width = width_of(fa_, destinations(load.load)[load.element]);
  if (!in_global_memory(*from) || !in_global_memory(*to))
    return "the memory may not be global";
  // Rule 6.
  if (bits == 0 || bit_width(from_opcode.type) != bits ||
      width_of(fa_, destinations(source.load)[source.element]) != width ||
      (bits < width && is_signed(from_opcode.type) != is_signed(to_opcode.type)))
    return "the source loads another type";
  for (const Pragma &pragma : fa_.pragmas)
    if (pragma.position == source.load && pragma.text.starts_with("used_bytes_mask"))
      return "the source loads only some of its bytes";
  // Rule 1.
  const bool first = from->block == to->block ? position(source.load) < load.load ||
                                                    (position(source.load) == load.load &&
                                                     moved_to_.contains(source.load))
                                              : cfg().dominates(from->block, to->block);
  const LoopId loop = cfg().loop_of(from->block);
  if (!first || cfg().irreducible(to->block) || cfg().irreducible(from->block))
    return "the source does not dominate the load";
  if (loop != no_index && !cfg().contains(loop, to->block))
    return "the source is in another iteration";
  if (delta != 0 && loop != cfg().loop_of(to->block))
    return "the source is in another iteration";
  if (from->guard) {
    const Expr guard = emulation_->expand(from->guard);
    if (known.decide(guard) != true || (delta != 0 && !emulation_->uniform(guard, to->block)))
      return "the source may be switched off";
  }
  // Rule 8.
  if (delta != 0 && !in_row(delta, known))
    return "the source lane may lie outside the row";
  // Rules 2 to 4.
  const auto element = [&](const MemoryAccess &access, unsigned index) {
    return pool().add(emulation_->expand(access.address),
                      pool().constant(64, std::uint64_t{index} * (bits / 8)));
  };
  const Expr from_address = element(*from, source.element), to_address = element(*to, load.element);
  if (delta != 0) {
    const auto [known_uniform, is_new] = uniform_.try_emplace(source.load, false);
    if (is_new)
      known_uniform->second = emulation_->uniform_but_lane(from_address, from->block);
    if (!known_uniform->second)
      return "the source's address may vary";
  }
  if (!same_address(from_address, to_address, delta, known))
    return "the addresses are not shown to be equal";
  // Rule 5.
  if (!reads_constant_memory(to_opcode) && !nothing_between(source.load, load.load, known))
    return "something in between may change the value";
  return {};
}

bool FunctionProver::in_global_memory(const MemoryAccess &access) const {
  return access.space == StateSpace::global ||
         (access.space == StateSpace::generic && all_generic_global_ && fa_.is_entry);
}

bool FunctionProver::in_row(int delta, const Known &known) {
  const Expr lane = emulation_->special("%laneid"), tid = emulation_->special("%tid.x");
  const auto distance = static_cast<std::uint64_t>(std::abs(delta));
  if (delta < 0)
    return known.at_least(lane, distance) &&
           (facts_.whole_warps() || known.at_least(tid, distance));
  const auto number = [&](std::uint64_t value) { return pool().constant(32, value); };
  if (!known.at_least(pool().sub(number(31), lane), distance))
    return false;
  if (facts_.whole_warps())
    return true;
  // tid.x + distance < ntid.x
  const Expr extent = emulation_->special("%ntid.x");
  return known.at_least(pool().sub(pool().sub(extent, tid), number(1)), distance) ||
         known.decide(pool().ult(pool().add(tid, number(distance)), extent)) == true;
}

bool FunctionProver::same_address(Expr source, Expr load, int delta, const Known &known) {
  const Expr shifted = emulation_->shift_lane(source, delta);
  auto conditions = equal_unless_wrapped(pool(), shifted, load);
  if (!conditions) {
    // Built differently: the lane may have tested that its own two addresses are a step apart.
    const LinearForm form =
        linear_form(source, [&](Expr symbol) { return emulation_->is_lane_symbol(symbol); });
    const Expr stepped = pool().add(
        source, pool().constant(64, static_cast<std::uint64_t>(form.lane_stride * delta)));
    if (known.decide(pool().eq(load, stepped)) == true)
      conditions = equal_unless_wrapped(pool(), shifted, stepped);
  }
  if (!conditions)
    return solved(shifted, load, known);
  for (const WrapCondition &condition : *conditions) {
    // That tid.x + delta stays in the row is known here.
    const bool in_row = emulation_->is_lane_symbol(condition.value) && condition.offset == delta;
    if (!always_holds(condition) && !in_row && !options_.assume_no_wrap &&
        !known.no_wrap(condition.value, condition.is_signed, condition.offset))
      return false;
  }
  return true;
}

// The last resort: that they differ contradicts what is known.
bool FunctionProver::solved(Expr a, Expr b, const Known &known) {
  const Expr difference = pool().sub(a, b);
  bool hidden = false; // parts that the normal form does not see through
  for_each_node(difference, [&](Expr node) {
    hidden |= node->kind > ExprKind::sext && node->kind != ExprKind::uf &&
              !(node->kind == ExprKind::extract && node->index == 0);
  });
  if (!hidden || ++questions_ > solver_questions)
    return false;
  std::vector<Expr> formulas{pool().bit_not(pool().eq(difference, pool().constant(64, 0)))};
  for (const auto &[literal, holds] : known.literals())
    formulas.push_back(holds ? literal : pool().bit_not(literal));
  return solver_.check("equal addresses, again", formulas) == SolverAnswer::unsat;
}

// Rule 5, backwards from the load to the source. The source dominates the load, so every way ends
// there; the load's own block counts in full if a loop leads back to it.
bool FunctionProver::nothing_between(std::uint32_t source, std::uint32_t load, const Known &known) {
  const MemoryAccess &from = *access(source), &to = *access(load);
  const auto &trace = emulation_->trace();
  const auto harmless = [&](BlockId block, std::uint32_t first, std::uint32_t end) {
    for (const std::size_t event : events_[block]) {
      const MemoryAccess &other = trace[event];
      if (other.instruction < first || other.instruction >= end)
        continue;
      if (other.effect == Effect::sync || !apart(other, to, source, known))
        return false;
    }
    return true;
  };
  const std::uint32_t begin = moved_to_.contains(source) ? moved_to_.at(source) : source + 1;
  if (from.block == to.block)
    return harmless(to.block, begin, load);
  if (!harmless(to.block, cfg().blocks()[to.block].first, load) ||
      !harmless(from.block, begin, cfg().blocks()[from.block].end))
    return false;
  std::unordered_set<BlockId> seen{from.block};
  std::vector<BlockId> work{to.block};
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    for (const BlockId before : cfg().blocks()[block].predecessors) {
      if (!cfg().reachable(before) || !seen.insert(before).second)
        continue;
      if (++visited_ > visit_budget ||
          !harmless(before, cfg().blocks()[before].first, cfg().blocks()[before].end))
        return false;
      work.push_back(before);
    }
  }
  return true;
}

// Whether a store between source and load leaves the load's bytes alone.
bool FunctionProver::apart(const MemoryAccess &store, const MemoryAccess &load,
                           std::uint32_t source, const Known &known) {
  if (store.space == StateSpace::shared || store.space == StateSpace::local)
    return true; // the load is from global memory
  if (!store.address || !load.address || store.bytes == 0 || load.bytes == 0)
    return options_.assume_no_alias && store.bytes != 0;
  const Expr written = emulation_->expand(store.address);
  const Expr loaded = emulation_->expand(load.address);
  const BlockId source_block = cfg().block_of(source);
  // In a loop around the store but not the source it may have run several times.
  bool once = true, invariant = true;
  for (LoopId loop = cfg().loop_of(store.block); loop != no_index;
       loop = cfg().loops()[loop].parent) {
    if (cfg().contains(loop, source_block))
      break;
    once = false;
    invariant = invariant && emulation_->invariant(store.address, loop) &&
                emulation_->invariant(load.address, loop);
  }
  const Expr difference = pool().sub(written, loaded);
  const bool fixed = difference->kind == ExprKind::constant && invariant;
  if (fixed) {
    const std::int64_t distance = as_signed(difference->value.low, 64);
    return distance >= static_cast<std::int64_t>(load.bytes) ||
           distance <= -static_cast<std::int64_t>(store.bytes);
  }
  if (options_.assume_no_alias)
    return true;
  if (!once)
    return false;
  // Accesses are aligned to their size (PTX ISA 6.4.1): of one size they are apart unless they are
  // the same, of two sizes unless they lie in the same piece of the larger size.
  Expr a = written, b = loaded;
  if (store.bytes != load.bytes) {
    const std::uint64_t size = std::max(store.bytes, load.bytes);
    const Expr piece = pool().constant(64, ~(size - 1));
    a = pool().bit_and(a, piece);
    b = pool().bit_and(b, piece);
  }
  const Expr same = pool().eq(a, b);
  // Or the load's start lies nowhere from just too far below the store's to its end.
  const Expr meets =
      pool().ult(pool().add(pool().sub(loaded, written), pool().constant(64, load.bytes - 1)),
                 pool().constant(64, load.bytes + store.bytes - 1));
  if (known.decide(same) == false || known.decide(meets) == false)
    return true;
  // The test may rest on registers that were written if the store's block was passed; it matters
  // only if it was.
  Substitution passed(pool());
  bool any = false;
  for (const auto &[symbol, reg] : if_executed_)
    if (written_in_[reg] == store.block && value_[reg]) {
      passed.map(symbol, as_emulated(value_[reg]));
      any = true;
    }
  if (any)
    for (const auto &[literal, holds] : known.literals())
      if (const Expr now = holds ? nullptr : passed(literal); now && (now == same || now == meets))
        return true;
  return false;
}

} // namespace

std::vector<FunctionProof> prove(const Module &original, std::string_view rewritten,
                                 const std::vector<std::vector<std::uint32_t>> &replaced,
                                 const RewriteOptions &options) {
  std::vector<FunctionProof> result(original.functions.size());
  const auto parsed = parse(std::string(rewritten), "rewritten");
  const bool all_generic_global = generic_is_global(original);
  bool comparable = parsed && same_outside_bodies(original, **parsed);
  for (std::size_t f = 0; comparable && f < result.size(); ++f)
    comparable =
        !original.functions[f].has_body || !replaced[f].empty() ||
        original.text(original.functions[f].span) == (*parsed)->text((*parsed)->functions[f].span);
  for (std::size_t f = 0; f < result.size(); ++f) {
    if (replaced[f].empty())
      continue;
    if (comparable)
      result[f] = FunctionProver(original, original.functions[f], **parsed, (*parsed)->functions[f],
                                 replaced[f], options, all_generic_global)
                      .run();
    else
      for (const std::uint32_t load : replaced[f])
        result[f].unproved.push_back({load, "more changed than the functions with replaced loads"});
  }
  return result;
}

} // namespace ptxasw
