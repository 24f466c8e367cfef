// The proof after emission, from the text alone.
//
// Let the rewritten module run beside the original. Their instructions line up (match.cpp): all
// originals except the replaced loads are there in their order, and what was added writes only
// registers the original does not have, or the destination of a replaced load in whose place it
// stands. So as long as every replaced load's destination gets the value the load would have given,
// all other registers hold what they held in the original, and one emulation of the original says
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

#include "synth/proof/prove_implementation.h"

#include "emulator/symbolic/generic.h"
#include "grammar/roles.h"
#include "synth/ways.h"

#include <algorithm>
#include <chrono>

namespace ptxasw::synth {
namespace {

/// Conditions split on in one replaced load.
constexpr int case_budget = 64;

} // namespace

FunctionProof FunctionProver::run() {
  const auto start = std::chrono::steady_clock::now();
  match_ = match(a_, fa_, b_, fb_, replaced_);
  if (!match_.failure.empty())
    failure_ = {Obligation::lined_up, match_.failure};
  if (failure_.empty()) {
    emulate();
    if (!emulation_->complete())
      fail({Obligation::understood, "the original is too much for the emulator"});
    else
      walk();
  }
  if (!failure_.empty()) {
    result_.unproved.clear();
    for (const std::uint32_t index : replaced_)
      result_.unproved.push_back({index, failure_});
  }
  result_.solver_contexts = solver_.contexts() + (paths_ ? paths_->solver_contexts() : 0);
  result_.solver_questions = solver_.questions() + (paths_ ? paths_->solver_questions() : 0);
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
  paths_.emplace(*emulation_);
  evaluate_.emplace(pool(), b_);
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
    const InsertedPlace &place = match_.places[j];
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
      result_.unproved.push_back({load, {Obligation::understood, "the load is never reached"}});
  return true;
}

bool FunctionProver::walk_block(BlockId block, const std::vector<std::uint32_t> &code) {
  block_ = block;
  ++region_;
  held_.clear();
  pending_.clear();
  const bool entry = block == entry_block;
  next_ = entry ? 0 : cfg().blocks()[block].first;
  const std::uint32_t end = entry ? 0 : cfg().blocks()[block].end;
  // All replaced loads that come before an original instruction are complete when it is reached.
  const auto advance = [&](std::uint32_t to) {
    for (; next_ < to; ++next_)
      if (is_replaced(next_))
        settle(next_);
    pending_.clear();
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
      return fail({Obligation::understood, "an added instruction is not understood"});
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
    return fail({Obligation::lined_up, "a load was moved out of its block"});
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
    return fail({Obligation::lined_up, "a load was moved past an instruction that depends on it"});
  const MemoryAccess *const what = access(load);
  if (!what || what->effect != Effect::load || !what->address || !in_global_memory(*what))
    return fail({Obligation::lined_up, "a load was moved that is not understood"});
  moved_to_[load] = from;
  if (!reads_constant_memory(a_.opcode(fa_.instructions[load])))
    for (const std::size_t event : events_[block_]) {
      const MemoryAccess &other = emulation_->trace()[event];
      if (other.instruction >= from && other.instruction < load &&
          (other.effect == Effect::sync || !apart(other, *what, load, Known(pool()))))
        return fail({Obligation::lined_up, "a load was moved past a store"});
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

Known FunctionProver::known_in(BlockId block) {
  const auto found = known_in_.find(block);
  if (found != known_in_.end())
    return found->second;
  return known_in_.emplace(block, known_on_path(*emulation_, block)).first->second;
}

// What is wrong with the values that stand in the place of a replaced load; nothing if they are the
// load's.
Missing FunctionProver::fault_of(std::uint32_t load) {
  const auto to = destinations(load);
  const MemoryAccess *const own = access(load);
  Missing why;
  if (to.empty() || !own || !own->address || own->effect != Effect::load)
    why = {Obligation::understood, "the load is not understood"};
  for (unsigned e = 0; e < to.size() && why.empty(); ++e) {
    if (to[e] == no_register)
      continue;
    const auto value = pending_.find(to[e]);
    if (value == pending_.end()) {
      why = {Obligation::destination, "the destination is not written"};
      break;
    }
    int budget = case_budget;
    Known runs = known_in(block_);
    if (own->decided)
      runs.assume(emulation_->expand(own->decided), true);
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
        why = {Obligation::destination, "the destination is written where the load did not run"};
      // Every condition on the path must then be known: otherwise the value might be another.
      for (Expr at = value->second; why.empty() && at != old;) {
        const auto chosen = rests.decide(at->children[0]);
        if (!chosen && !rests.contradictory()) {
          why = {Obligation::destination,
                 "the destination may be written where the load did not run"};
          break;
        }
        at = at->children[chosen == true ? 1 : 2];
      }
    }
    if (why.empty())
      why = check(value->second, load, e, loaded(load, e), runs, budget);
  }
  return why;
}

void FunctionProver::settle(std::uint32_t load) {
  if (!settled_.insert(load).second)
    return;
  if (const Missing why = fault_of(load); !why.empty())
    result_.unproved.push_back({load, why});
  for (const RegisterId reg : destinations(load))
    pending_.erase(reg);
  hold(load);
}

std::vector<FunctionProof> prove(const Module &original, std::string_view rewritten,
                                 const std::vector<std::vector<std::uint32_t>> &replaced,
                                 const RewriteOptions &options) {
  std::vector<FunctionProof> result(original.functions.size());
  const auto parsed = parse(std::string(rewritten), "rewritten");
  const GenericAddresses generic(original);
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
                                 replaced[f], options, generic)
                      .run();
    else
      for (const std::uint32_t load : replaced[f])
        result[f].unproved.push_back(
            {load, {Obligation::lined_up, "more changed than the functions with replaced loads"}});
  }
  return result;
}

} // namespace ptxasw::synth
