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
// Here is the walk over both texts, and what it does at an added instruction. What stands below it,
// each knowing only those before:
//
//   original.h     the function as it was, and one emulation of it
//   in_step.h      if lanes that are active together are in the same iteration
//   values.h       what symbols mean, and what registers that were added hold
//   laws.h         if a load may have what others have read: soundness.md, rule by rule
//   replacement.h  the values in place of replaced loads, case by case

#include "synth/proof/prove.h"

#include "emulator/semantics/evaluator.h"
#include "emulator/symbolic/generic.h"
#include "emulator/symbolic/line_evaluator.h"
#include "grammar/roles.h"
#include "synth/proof/match.h"
#include "synth/proof/replacement.h"
#include "synth/shuffle/candidate.h"

#include <algorithm>
#include <chrono>

namespace ptxasw::synth {
namespace {

void understand(bool holds) {
  demand(holds, Obligation::understood, "an added instruction is not understood");
}

/// The modifiers of a load but for its number of elements.
std::vector<std::string_view> kind_of_load(const Opcode &opcode) {
  std::vector<std::string_view> result = opcode.modifiers;
  std::erase_if(result, [](std::string_view m) { return m == "v2" || m == "v4" || m == "v8"; });
  return result;
}

/// Where original registers that added code reads were probed, by rewritten instruction and
/// original register: indices of the probes.
using ProbeIndex = std::map<std::pair<std::uint32_t, RegisterId>, std::uint32_t>;

FunctionProof all_unproved(const std::vector<std::uint32_t> &replaced,
                           const proof::NotProved &why) {
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
        original_(original), values_(original, after.registers.size()), laws_(original),
        replacements_(original, values_, laws_, replaced, read_by_added(probes)), probes_(probes),
        evaluate_(original.pool(), rewritten) {}

  FunctionProof run() {
    const auto rest = proof::proved([&] { walk(); }); // all that is there beside the loads
    FunctionProof result =
        rest ? FunctionProof{replacements_.unproved()} : all_unproved(replaced_, rest.error());
    return result;
  }

private:
  std::vector<bool> read_by_added(const ProbeIndex &probes) const {
    std::vector<bool> result(original_.function.registers.size(), false);
    for (const auto &[place, probe] : probes)
      result[place.second] = true;
    return result;
  }
  bool stayed(std::uint32_t j) const { return match_.original[j] != no_index && !match_.moved[j]; }

  /// Blocks after those that dominate them.
  void walk() {
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

  void walk_block(BlockId block, const std::vector<std::uint32_t> &code) {
    replacements_.enter(block);
    ++region_;
    for (const std::uint32_t j : code) {
      const std::uint32_t original = match_.original[j];
      if (stayed(j)) {
        replacements_.advance(original);
        replacements_.run(original);
        if (effect_of(original_.opcode(original)) == Effect::sync)
          ++region_;
      } else if (original != no_index) {
        move_up(j, original);
      } else {
        execute(j);
      }
    }
    replacements_.advance(block == AddedValues::entry_block ? 0
                                                            : original_.cfg().blocks()[block].end);
  }

  /// A load that runs earlier than it did: nothing it reads or gives may be touched on the way, and
  /// no store or synchronisation may lie there.
  void move_up(std::uint32_t j, std::uint32_t load) {
    const std::uint32_t from = replacements_.next();
    demand(!match_.places[j].entry && original_.cfg().block_of(load) == replacements_.block() &&
               load >= from,
           Obligation::lined_up, "a load was moved out of its block");
    demand(!touched_between(original_.module, original_.function, from, load), Obligation::lined_up,
           "a load was moved past an instruction that depends on it");
    laws_.check_move_up(load, from);
    original_.moved_to[load] = from;
    replacements_.hold(load);
  }

  // --- Added code, run on expressions where the walk stands, instruction by instruction. An
  // original register has the value that the emulation probed at this place, or is what a load has
  // given; an added one what the added code gave it. A shuffle is a symbol for an expression in
  // another lane, a load one for memory. It throws what is missing where it is not understood, or
  // does what it must not ---

  void execute(std::uint32_t at) {
    at_ = at;
    const Instruction &instruction = function_.instructions[at];
    const Opcode &opcode = module_.opcode(instruction);
    understand(instruction.well_formed && instruction.operand_count != 0);
    const Expr guard = guard_of(instruction);
    if (opcode.op == Op::activemask) {
      demand(!guard, Obligation::full_warp, "activemask under a guard");
      understand(opcode.type == ScalarType::b32);
      write(module_.operands(instruction)[0], values_.mask(region_), false, guard);
    } else if (opcode.op == Op::shfl) {
      demand(!guard, Obligation::full_warp, "a shuffle is guarded by what lanes may not agree on");
      shuffle(instruction);
    } else if (opcode.op == Op::ld) {
      load(instruction, guard);
    } else if (const auto vectors = vector_move(module_, instruction)) {
      move(*vectors, guard);
    } else {
      compute(instruction, guard);
    }
  }

  Expr read_original(RegisterId reg, unsigned width) {
    understand(replacements_.complete(reg));
    const auto probe = probes_.find({at_, reg});
    Expr value = probe == probes_.end() ? nullptr : original_.emulation.probed(probe->second);
    value = value ? original_.emulation.expand(value) : values_.opaque("unreached", width);
    const LoadedElement *const held = replacements_.held(reg);
    if (!held)
      return value;
    const Expr symbol = values_.loaded(*held);
    values_.is_emulated(symbol, value);
    return symbol;
  }

  /// Null where a register is of no plain type.
  Expr read(RegisterId reg) {
    const unsigned width = width_of(reg);
    if (width == 0 || width > 64 || function_.registers[reg].vector != 1)
      return nullptr;
    const RegisterId own = match_.registers[reg];
    return own == no_register ? values_.read(reg, replacements_.block(), width)
                              : read_original(own, width);
  }

  Expr value_of(const Operand &operand, unsigned width) {
    ExprPool &pool = original_.pool();
    switch (operand.kind) {
    case Operand::Kind::reg: {
      const Expr value = operand.selector ? nullptr : read(operand.reg);
      if (!value || value->width < width)
        return nullptr;
      if (operand.negated)
        return value->width == 1 ? pool.bit_not(value) : nullptr;
      return pool.truncate(value, width);
    }
    case Operand::Kind::integer:
      return pool.constant(width, static_cast<std::uint64_t>(operand.value));
    case Operand::Kind::special: {
      const Expr value = original_.emulation.special(module_.text(operand.span));
      return width <= value->width ? pool.truncate(value, width) : pool.zext(value, width);
    }
    default:
      return nullptr;
    }
  }

  Expr known_value(const Operand &operand, unsigned width) {
    const Expr value = value_of(operand, width);
    understand(value != nullptr);
    return value;
  }

  void write(const Operand &destination, Expr value, bool is_signed, Expr guard) {
    if (destination.kind == Operand::Kind::sink)
      return;
    understand(destination.kind == Operand::Kind::reg && !destination.selector && value);
    const RegisterId reg = destination.reg, own = match_.registers[reg];
    const unsigned width = width_of(reg);
    understand(value->width <= width && width <= 64 && function_.registers[reg].vector == 1);
    ExprPool &pool = original_.pool();
    value = is_signed ? pool.sext(value, width) : pool.zext(value, width);
    if (own == no_register)
      values_.write(reg, replacements_.block(), guard ? pool.ite(guard, value, read(reg)) : value);
    else
      demand(replacements_.put(own, value, guard), Obligation::no_other_effect,
             "an original register is written that is no replaced load's");
  }

  Expr guard_of(const Instruction &instruction) {
    if (instruction.guard == no_register)
      return nullptr;
    const Expr guard = read(instruction.guard);
    understand(guard && guard->width == 1);
    return instruction.guard_negated ? original_.pool().bit_not(guard) : guard;
  }

  /// shfl.sync.up and .down by a constant over the whole warp (PTX ISA 9.7.9.6), of the lanes that
  /// are active: all of them reach it together.
  void shuffle(const Instruction &instruction) {
    const Opcode &opcode = module_.opcode(instruction);
    const auto operands = module_.operands(instruction);
    const bool up = opcode.has(Modifier::up);
    understand(opcode.modifiers.size() == 3 && opcode.modifiers[0] == "sync" &&
               opcode.modifiers[2] == "b32" && (up || opcode.has(Modifier::down)) &&
               operands.size() == 5);
    const Operand &distance = operands[2], &clamp = operands[3];
    understand(distance.kind == Operand::Kind::integer && distance.value >= 1 &&
               distance.value <= 31 && clamp.kind == Operand::Kind::integer &&
               clamp.value == (up ? 0 : 31));
    const Expr mask = known_value(operands[4], 32);
    demand(values_.is_mask(mask, region_), Obligation::full_warp,
           "a shuffle's member mask is not that of the active lanes");
    const int delta = static_cast<int>(up ? -distance.value : distance.value);
    write(operands[0],
          values_.shuffled({known_value(operands[1], 32), delta, mask, replacements_.block()}),
          false, nullptr);
  }

  /// The address that a load reads.
  Expr address_of(const Operand &operand) {
    const auto base = module_.children(operand);
    understand(base.size() == 1 && base[0].kind == Operand::Kind::reg);
    const unsigned width = width_of(base[0].reg);
    understand(width == 32 || width == 64);
    ExprPool &pool = original_.pool();
    const Expr value = values_.as_emulated(known_value(base[0], width));
    const Expr offset = pool.constant(width, static_cast<std::uint64_t>(operand.value));
    return pool.zext(pool.add(value, offset), 64);
  }

  /// True if an added load is of the same kind as a replaced one, and runs only where that would.
  bool reads_what(std::uint32_t load, const Instruction &instruction, Expr guard) const {
    const Opcode &opcode = module_.opcode(instruction), &own_opcode = original_.opcode(load);
    const MemoryAccess *const own = original_.access(load);
    if (!own || !own->address || opcode.type != own_opcode.type ||
        kind_of_load(opcode) != kind_of_load(own_opcode))
      return false;
    if (!own->guard)
      return true;
    if (!guard)
      return false;
    Known known = original_.known_in(replacements_.block());
    known.assume(guard, true);
    return known.decide(original_.emulation.expand(own->guard)) == true || known.contradictory();
  }

  /// How many elements behind the beginning of a replaced load another one reads; more than it has
  /// if that is not known.
  std::uint64_t distance(Expr address, std::uint32_t load) const {
    const std::uint64_t size = bit_width(original_.opcode(load).type) / 8;
    const Expr distance =
        original_.pool().sub(address, original_.emulation.expand(original_.access(load)->address));
    return size != 0 && distance->kind == ExprKind::constant && distance->value.low % size == 0
               ? distance->value.low / size
               : ~std::uint64_t{0};
  }

  /// A load that was added must read what a replaced load in whose place it stands reads, and run
  /// only where that would (rule 11).
  void load(const Instruction &instruction, Expr guard) {
    const auto operands = module_.operands(instruction);
    understand(effect_of(module_.opcode(instruction)) == Effect::load && operands.size() >= 2 &&
               operands[1].kind == Operand::Kind::address &&
               replacements_.block() != AddedValues::entry_block);
    const Expr address = address_of(operands[1]);
    const auto to = elements_of(module_, instruction);
    for (const std::uint32_t i : replacements_.claims()) {
      if (!reads_what(i, instruction, guard))
        continue;
      const auto elements = original_.destinations(i);
      // An access is aligned to its size (PTX ISA 6.4.1).
      const std::uint64_t first = distance(address, i);
      if (first > elements.size() || first + to.size() > elements.size() || first % to.size() != 0)
        continue;
      // All are looked at before the first is written: that may complete a load.
      std::vector<Expr> values(to.size(), nullptr);
      for (std::size_t e = 0; e < to.size(); ++e) {
        const LoadedElement element{i, static_cast<unsigned>(first + e)};
        if (to[e].kind == Operand::Kind::sink)
          continue;
        understand(elements[element.element] != no_register && to[e].kind == Operand::Kind::reg &&
                   width_of(to[e].reg) == original_.width(element));
        values[e] = values_.loaded(element);
      }
      for (std::size_t e = 0; e < to.size(); ++e)
        write(to[e], values[e], false, guard);
      return;
    }
    demand(false, Obligation::no_other_effect,
           "a load was added that no replaced load accounts for");
  }

  /// A mov that packs or unpacks vectors.
  void move(const MoveOperands &operands, Expr guard) {
    understand(operands.fits() && operands.width <= 64);
    ExprPool &pool = original_.pool();
    std::vector<Expr> parts;
    for (const Operand &source : operands.sources)
      parts.push_back(known_value(source, operands.source_width()));
    const Expr whole = semantics::pack(pool, Args<ExprPool>(parts));
    for (std::size_t i = 0; i < operands.destinations.size(); ++i)
      write(operands.destinations[i],
            semantics::unpack(pool, whole, i, operands.destination_width()), false, guard);
  }

  /// Everything else computes its result from its operands alone, as the table says.
  void compute(const Instruction &instruction, Expr guard) {
    const Opcode &opcode = module_.opcode(instruction);
    const bool moves = opcode.op == Op::mov || opcode.op == Op::cvt;
    const Expr result = evaluate_(instruction, [&](const Operand &operand, unsigned width) {
      const Expr value = value_of(operand, width);
      return moves ? value : values_.as_emulated(value);
    });
    understand(result != nullptr);
    write(module_.operands(instruction)[0], result, is_signed(opcode.type), guard);
  }

  unsigned width_of(RegisterId reg) const { return bit_width(function_.registers[reg].type); }

  const std::vector<std::uint32_t> &replaced_;
  const Module &module_;
  const Function &function_;
  const FunctionMatch &match_;
  Original &original_;
  AddedValues values_;
  Laws laws_;
  Replacements replacements_;
  const ProbeIndex &probes_;
  const LineEvaluator evaluate_;
  unsigned region_ = 0;  ///< shuffles of another one have another mask: lanes may have come or gone
  std::uint32_t at_ = 0; ///< the added instruction
};

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
  FunctionProof result;
  const auto begun = proof::proved([&] {
    const FunctionMatch match = synth::match(original, before, rewritten, after, replaced);
    std::vector<Probe> probes;
    const ProbeIndex index = registers_read(rewritten, after, match, probes);
    Original emulated(original, before, options, generic, probes);
    demand(emulated.emulation.complete(), Obligation::understood,
           "the original is too much for the emulator");
    result = BothTexts(rewritten, after, match, emulated, replaced, index).run();
  });
  return begun ? std::move(result) : all_unproved(replaced, begun.error());
}

} // namespace

std::string_view to_string(Obligation obligation) {
  static constexpr std::string_view names[] = {
#define PTXASW_OBLIGATION(enumerator, name, meaning) name,
#include "synth/proof/obligations.def"
#undef PTXASW_OBLIGATION
  };
  return names[static_cast<std::size_t>(obligation)];
}

FunctionProof prove_replaced(const Module &original, const Function &before,
                             const Module &rewritten, const Function &after,
                             const std::vector<std::uint32_t> &replaced,
                             const RewriteOptions &options) {
  return prove_function(original, before, rewritten, after, replaced, options,
                        GenericAddresses(original));
}

std::vector<FunctionProof> prove(const Module &original, std::string_view rewritten,
                                 const std::vector<std::vector<std::uint32_t>> &replaced,
                                 const RewriteOptions &options) {
  std::vector<FunctionProof> result(original.functions.size());
  const auto parsed = parse(std::string(rewritten), "rewritten");
  const GenericAddresses generic(original);
  const bool comparable = parsed && same_beside(original, **parsed, replaced);
  for (std::size_t f = 0; f < result.size(); ++f) {
    if (replaced[f].empty())
      continue;
    const auto start = std::chrono::steady_clock::now();
    result[f] = comparable ? prove_function(original, original.functions[f], **parsed,
                                            (*parsed)->functions[f], replaced[f], options, generic)
                           : all_unproved(replaced[f],
                                          unmet(Obligation::lined_up,
                                                "more changed than the functions with replaced "
                                                "loads"));
    const std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - start;
    result[f].milliseconds = passed.count();
  }
  return result;
}

} // namespace ptxasw::synth
