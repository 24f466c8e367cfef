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
//
// Here is the walk over both texts. What stands below it, each knowing only those before:
//
//   original.h     the function as it was, and one emulation of it
//   in_step.h      if lanes that are active together are in the same iteration
//   values.h       what symbols mean, and what registers that were added hold
//   laws.h         if a load may have what others have read: soundness.md, rule by rule
//   replacement.h  the values in place of replaced loads, case by case
//   execute.h      one added instruction

#include "synth/proof/prove.h"

#include "emulator/symbolic/generic.h"
#include "grammar/roles.h"
#include "synth/proof/execute.h"
#include "synth/proof/match.h"

#include <algorithm>
#include <chrono>

namespace ptxasw::synth {
namespace {

FunctionProof all_unproved(const std::vector<std::uint32_t> &replaced, const Missing &why) {
  FunctionProof result;
  for (const std::uint32_t load : replaced)
    result.unproved.push_back({load, why});
  return result;
}

/// The walk over the text of one function and its rewritten form.
class BothTexts {
public:
  BothTexts(const Module &rewritten, const Function &after, const FunctionMatch &match,
            Original &original, const std::vector<std::uint32_t> &replaced,
            const ProbeIndex &probes)
      : replaced_(replaced), module_(rewritten), function_(after), match_(match),
        original_(original), values_(original, after.registers.size()), laws_(original, values_),
        replacements_(original, values_, laws_, replaced, read_by_added(probes)),
        added_(original, values_, replacements_, rewritten, after, match, probes) {}

  FunctionProof run() {
    FunctionProof result;
    try {
      walk();
      result.unproved = replacements_.unproved();
    } catch (const Missing &why) { // of what is there beside the loads
      result = all_unproved(replaced_, why);
    }
    result.solver_contexts = laws_.solver_contexts();
    result.solver_questions = laws_.solver_questions();
    return result;
  }

private:
  std::vector<bool> read_by_added(const ProbeIndex &probes) const {
    std::vector<bool> result(original_.function.registers.size(), false);
    for (const auto &[place, probe] : probes)
      result[place.second] = true;
    return result;
  }
  void walk();
  void walk_block(BlockId block, const std::vector<std::uint32_t> &code);
  void move_up(std::uint32_t j, std::uint32_t load);
  bool stayed(std::uint32_t j) const { return match_.original[j] != no_index && !match_.moved[j]; }

  const std::vector<std::uint32_t> &replaced_;
  const Module &module_;
  const Function &function_;
  const FunctionMatch &match_;
  Original &original_;
  AddedValues values_;
  Laws laws_;
  Replacements replacements_;
  AddedCode added_;
};

// Blocks after those that dominate them.
void BothTexts::walk() {
  const ControlFlowGraph &cfg = original_.cfg();
  std::vector<std::vector<std::uint32_t>> code(cfg.blocks().size());
  std::vector<std::uint32_t> prologue;
  for (std::uint32_t j = 0; j < function_.instructions.size(); ++j) {
    const InsertedPlace &place = match_.places[j];
    const bool entry = !stayed(j) && place.entry;
    const BlockId block = entry       ? AddedValues::entry_block
                          : stayed(j) ? cfg.block_of(match_.original[j])
                                      : cfg.block_of(place.instruction);
    (entry ? prologue : code[block]).push_back(j);
    if (match_.original[j] != no_index)
      continue;
    for_each_register(module_, function_.instructions[j], [&](RegisterId reg, RegisterUse use) {
      if (use != RegisterUse::read && match_.registers[reg] == no_register)
        values_.note_writer(reg, block);
    });
  }
  walk_block(AddedValues::entry_block, prologue);
  for (const BlockId block : cfg.reverse_postorder())
    walk_block(block, code[block]);
}

void BothTexts::walk_block(BlockId block, const std::vector<std::uint32_t> &code) {
  replacements_.enter(block);
  added_.begin_region();
  for (const std::uint32_t j : code) {
    const std::uint32_t original = match_.original[j];
    if (stayed(j)) {
      replacements_.advance(original);
      replacements_.run(original);
      if (effect_of(original_.opcode(original)) == Effect::sync)
        added_.begin_region();
    } else if (original != no_index) {
      move_up(j, original);
    } else {
      added_.execute(j);
    }
  }
  replacements_.advance(block == AddedValues::entry_block ? 0
                                                          : original_.cfg().blocks()[block].end);
}

// A load that runs earlier than it did: nothing it reads or gives may be touched on the way, and no
// store or synchronisation may lie there.
void BothTexts::move_up(std::uint32_t j, std::uint32_t load) {
  const std::uint32_t from = replacements_.next();
  if (match_.places[j].entry || original_.cfg().block_of(load) != replacements_.block() ||
      load < from)
    throw Missing{Obligation::lined_up, "a load was moved out of its block"};
  if (touched_between(original_.module, original_.function, from, load))
    throw Missing{Obligation::lined_up, "a load was moved past an instruction that depends on it"};
  if (const Missing why = laws_.may_move_up(load, from); !why.empty())
    throw why;
  original_.moved_to[load] = from;
  replacements_.hold(load);
}

/// Every original register that added code reads is asked for where it does.
ProbeIndex registers_read(const Module &rewritten, const Function &after,
                          const FunctionMatch &match, std::vector<Probe> &probes) {
  ProbeIndex result;
  for (std::uint32_t j = 0; j < after.instructions.size(); ++j) {
    const InsertedPlace &place = match.places[j];
    if (match.original[j] != no_index || place.entry)
      continue;
    for_each_register(rewritten, after.instructions[j], [&](RegisterId reg, RegisterUse) {
      const RegisterId own = match.registers[reg];
      if (own != no_register &&
          result.try_emplace({j, own}, static_cast<std::uint32_t>(probes.size())).second)
        probes.push_back({place.instruction, own, place.after});
    });
  }
  return result;
}

FunctionProof prove_function(const Module &original, const Function &before,
                             const Module &rewritten, const Function &after,
                             const std::vector<std::uint32_t> &replaced,
                             const RewriteOptions &options, const GenericAddresses &generic) {
  const FunctionMatch match = synth::match(original, before, rewritten, after, replaced);
  if (!match.failure.empty())
    return all_unproved(replaced, {Obligation::lined_up, match.failure});
  std::vector<Probe> probes;
  const ProbeIndex index = registers_read(rewritten, after, match, probes);
  Original emulated(original, before, options, generic, probes);
  if (!emulated.emulation.complete())
    return all_unproved(replaced,
                        {Obligation::understood, "the original is too much for the emulator"});
  return BothTexts(rewritten, after, match, emulated, replaced, index).run();
}

} // namespace

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
    const auto start = std::chrono::steady_clock::now();
    result[f] = comparable ? prove_function(original, original.functions[f], **parsed,
                                            (*parsed)->functions[f], replaced[f], options, generic)
                           : all_unproved(replaced[f],
                                          {Obligation::lined_up,
                                           "more changed than the functions with replaced loads"});
    const std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - start;
    result[f].milliseconds = passed.count();
  }
  return result;
}

} // namespace ptxasw::synth
