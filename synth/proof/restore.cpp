// Where values are written for a replaced load D, the function becomes
//
//     ld own, [D's address];        (mov own, D's register before that, if D has a guard)
//     ...                           what was added, as it is
//     mov.b32 D's register, own;
//
// so that all behind it reads what D has read, and added code writes nothing else that the original
// reads. One emulation then knows both what the original computes and what was added, and what D's
// register holds before that last move is what stands in D's place. Of what was added
//
//     shfl.sync.up.b32 to, ...;     becomes activemask.b32 to, ...;
//     @corner ld to, [address];     becomes mov read, to; @corner ld read, [address];
//                                           @corner mov to, read; without guards if it has none.
//
// What the former gives is some number, then, and it brings no lanes together that were not: the
// proof asks for a mask of those that are active, read on the same straight way. And what an added
// load gives has a name of its own.

#include "synth/proof/restore.h"

#include "emulator/semantics/effects.h"
#include "grammar/code_writer.h"
#include "grammar/roles.h"
#include "synth/proof/candidate.h"
#include "synth/proof/prove.h"
#include "synth/prove/header.h"

#include <algorithm>
#include <functional>
#include <map>

namespace ptxasw::synth {
namespace {

void understand(bool holds) {
  demand(holds, Obligation::understood, "an added instruction is not understood");
}

class Restorer {
public:
  Restorer(const Module &original, const Function &before, Module &rewritten, Function &after,
           const FunctionMatch &match)
      : a_(original), fa_(before), b_(rewritten), fb_(after), match_(match),
        added_(proof::added_registers(before, after)), forth_(after.registers.size(), no_register),
        back_(before.registers.size(), no_register) {}

  Restored run() {
    pair_registers();
    const std::vector<Instruction> rewritten = std::move(fb_.instructions);
    fb_.instructions.clear();
    std::vector<std::uint32_t> begins; // by rewritten instruction: where its place begins
    auto value = match_.values.begin();
    const auto end = match_.values.end();
    for (std::uint32_t j = 0; j < rewritten.size(); ++j) {
      begins.push_back(at());
      if (value != end && value->first == j)
        begin_load(value->load);
      if (match_.original[j] == no_index)
        add(rewritten[j]);
      else
        put(rewritten[j], match_.original[j], match_.moved[j]);
      slot_ += match_.original[j] != no_index && !match_.moved[j];
      region_ +=
          match_.original[j] != no_index && effect_of(b_.opcode(rewritten[j])) == Effect::sync;
      if (value != end && value->last == j) {
        end_load();
        ++value;
      }
    }
    begins.push_back(at());
    for (Label &label : fb_.labels)
      label.position = begins[label.position];
    for (Pragma &pragma : fb_.pragmas)
      pragma.position = begins[pragma.position];
    for (RegisterId reg = 0; reg < fb_.registers.size(); ++reg)
      if (reg >= added_.size() || added_[reg])
        result_.added.push_back(reg);
    return std::move(result_);
  }

private:
  std::uint32_t at() const { return static_cast<std::uint32_t>(fb_.instructions.size()); }

  void pair(RegisterId own, RegisterId here) {
    RegisterId &there = forth_[here], &first = back_[own];
    if (there == no_register && first == no_register && !added_[here]) {
      there = own;
      first = here;
    }
    demand(there == own && first == here, Obligation::lined_up, "a register has another meaning");
  }

  // Registers that stand at the same place of the same instruction are the same, as are those that
  // a load wrote and what is written in its place.
  void pair_registers() {
    auto value = match_.values.begin();
    for (std::uint32_t j = 0; j < fb_.instructions.size(); ++j) {
      const bool stayed = match_.original[j] != no_index;
      if (!stayed && (value == match_.values.end() || j < value->first))
        continue;
      const Instruction &own = fa_.instructions[stayed ? match_.original[j] : value->load];
      std::vector<RegisterId> mine, here;
      for_each_register(a_, own, [&](RegisterId reg, RegisterUse use) {
        if (stayed || use != RegisterUse::read)
          mine.push_back(reg);
      });
      for_each_register(b_, fb_.instructions[j], [&](RegisterId reg, RegisterUse use) {
        if (stayed || (use != RegisterUse::read && !added_[reg]))
          here.push_back(reg);
      });
      for (std::size_t i = 0; i < here.size(); ++i) {
        const auto same = std::find_if(mine.begin(), mine.end(), [&](RegisterId reg) {
          return fa_.registers[reg].name == fb_.registers[here[i]].name;
        });
        demand(stayed ? mine.size() == here.size() : same != mine.end(), Obligation::lined_up,
               "an instruction is another one");
        pair(stayed ? mine[i] : *same, here[i]);
      }
      if (!stayed && value->last == j)
        ++value;
    }
  }

  RegisterId here(RegisterId own) const {
    demand(back_[own] != no_register, Obligation::destination, "the destination is not written");
    return back_[own];
  }

  RegisterId fresh(RegisterId like) {
    fb_.registers.push_back({"%own", fb_.registers[like].type, 1});
    return static_cast<RegisterId>(fb_.registers.size() - 1);
  }

  std::uint32_t opcode(std::string_view text) {
    const auto [found, is_new] =
        opcodes_.try_emplace(text, static_cast<std::uint32_t>(b_.opcodes.size()));
    if (is_new)
      b_.opcodes.push_back(Opcode::of(text));
    return found->second;
  }

  void put(const Instruction &instruction, std::uint32_t original = no_index, bool moved = false) {
    fb_.instructions.push_back(instruction);
    result_.original.push_back(original);
    result_.moved.push_back(moved);
  }

  /// A copy of operands, other registers in place of theirs; where it begins.
  std::uint32_t copy(const Module &module, std::vector<Operand> operands,
                     const std::function<RegisterId(RegisterId)> &other) {
    for (Operand &operand : operands) {
      if (operand.kind == Operand::Kind::reg)
        operand.reg = other(operand.reg);
      if (operand.kind == Operand::Kind::symbol && &module != &b_) {
        b_.symbols.push_back(module.symbols[operand.symbol]);
        operand.symbol = static_cast<std::uint32_t>(b_.symbols.size() - 1);
      }
      const auto children = module.children(operand);
      if (!children.empty())
        operand.first_child = copy(module, {children.begin(), children.end()}, other);
    }
    const auto first = static_cast<std::uint32_t>(b_.all_operands.size());
    b_.all_operands.insert(b_.all_operands.end(), operands.begin(), operands.end());
    return first;
  }

  /// A move between two registers, under a guard if there is one.
  void move(RegisterId to, RegisterId from, const Instruction *guarded = nullptr) {
    const unsigned width = bit_width(fb_.registers[to].type);
    understand(can_be_copied(fb_.registers[to]) && width > 1);
    Instruction result;
    result.opcode = opcode(width == 16 ? "mov.b16" : width == 32 ? "mov.b32" : "mov.b64");
    if (guarded) {
      result.guard = guarded->guard;
      result.guard_negated = guarded->guard_negated;
    }
    result.operand_count = 2;
    result.first_operand = static_cast<std::uint32_t>(b_.all_operands.size());
    for (const RegisterId reg : {to, from}) {
      Operand operand;
      operand.kind = Operand::Kind::reg;
      operand.reg = reg;
      b_.all_operands.push_back(operand);
    }
    put(result);
  }

  /// A load with other destinations, its other registers being as `other` says.
  void load_into(const Module &module, Instruction load, const std::vector<RegisterId> &to,
                 const std::function<RegisterId(RegisterId)> &other) {
    const auto all = module.operands(load);
    std::vector<Operand> operands(all.begin(), all.end());
    auto next = to.begin();
    std::vector<Operand> first{operands[0]};
    const std::uint32_t destination =
        copy(module, first, [&](RegisterId) { return *next++; }); // in the order of elements
    load.first_operand = copy(module, std::move(operands), other);
    b_.all_operands[load.first_operand] = b_.all_operands[destination];
    if (load.guard != no_register)
      load.guard = other(load.guard);
    load.opcode = opcode(module.opcode(load).text);
    put(load);
  }

  void begin_load(std::uint32_t index) {
    const Instruction &load = fa_.instructions[index];
    RestoredLoad &result = result_.loads.emplace_back();
    result.load = index;
    result.first = at();
    result.slot = slot_;
    own_.clear();
    for (const Operand &element : elements_of(a_, load)) {
      understand(is_whole_register(element));
      result.registers.push_back(here(element.reg));
      own_.push_back(fresh(result.registers.back()));
      if (load.guard != no_register)
        move(own_.back(), result.registers.back());
    }
    result.at = at();
    load_into(a_, load, own_, [&](RegisterId reg) { return here(reg); });
  }

  void end_load() {
    RestoredLoad &load = result_.loads.back();
    load.place = at();
    for (std::size_t i = 0; i < own_.size(); ++i)
      move(load.registers[i], own_[i]);
  }

  void add(Instruction instruction) {
    const Opcode &op = b_.opcode(instruction);
    const auto operands = b_.operands(instruction);
    understand(instruction.well_formed && instruction.operand_count != 0);
    if (op.op == Op::ld)
      return add_load(instruction);
    if (op.op == Op::activemask || op.op == Op::shfl) {
      const bool shuffles = op.op == Op::shfl;
      demand(instruction.guard == no_register, Obligation::full_warp,
             shuffles ? "a shuffle is guarded by what lanes may not agree on"
                      : "activemask under a guard");
      understand(shuffles ? is_understood(op, operands)
                          : op.type == ScalarType::b32 && is_word(operands[0]));
      (shuffles ? result_.shuffles : result_.masks).push_back({at(), slot_, region_});
      instruction.opcode = opcode("activemask.b32");
    } else { // computes its result from its operands alone
      understand(is_pure(op) && !op.has(Modifier::cc));
    }
    put(instruction);
  }

  bool is_word(const Operand &operand) const {
    return is_whole_register(operand) && bit_width(fb_.registers[operand.reg].type) == 32 &&
           fb_.registers[operand.reg].vector == 1;
  }

  /// shfl.sync.up and .down by a constant over the whole warp (PTX ISA 9.7.9.6).
  bool is_understood(const Opcode &opcode, std::span<const Operand> operands) const {
    const bool up = opcode.has(Modifier::up);
    return opcode.modifiers.size() == 3 && opcode.modifiers[0] == "sync" &&
           opcode.modifiers[2] == "b32" && (up || opcode.has(Modifier::down)) &&
           operands.size() == 5 && is_word(operands[0]) && is_word(operands[1]) &&
           operands[2].kind == Operand::Kind::integer && operands[2].value >= 1 &&
           operands[2].value <= 31 && operands[3].kind == Operand::Kind::integer &&
           operands[3].value == (up ? 0 : 31) && is_word(operands[4]);
  }

  void add_load(const Instruction &load) {
    understand(effect_of(b_.opcode(load)) == Effect::load);
    std::vector<RegisterId> to, read;
    for (const Operand &element : elements_of(b_, load)) {
      understand(is_whole_register(element));
      to.push_back(element.reg);
      read.push_back(fresh(element.reg));
    }
    for (std::size_t i = 0; i < to.size() && load.guard != no_register; ++i)
      move(read[i], to[i]);
    result_.added_loads.push_back({at(), slot_, region_});
    load_into(b_, load, read, [](RegisterId reg) { return reg; });
    for (std::size_t i = 0; i < to.size(); ++i)
      move(to[i], read[i], &load);
  }

  const Module &a_;
  const Function &fa_;
  Module &b_;
  Function &fb_;
  const FunctionMatch &match_;
  const std::vector<bool> added_;
  std::vector<RegisterId> forth_, back_; ///< rewritten registers and original ones
  std::map<std::string_view, std::uint32_t> opcodes_;
  std::uint32_t slot_ = 0, region_ = 0;
  std::vector<RegisterId> own_; ///< what the load writes now for which others are written
  Restored result_;
};

} // namespace

Restored restore(const Module &original, const Function &before, Module &rewritten, Function &after,
                 const FunctionMatch &match) {
  return Restorer(original, before, rewritten, after, match).run();
}

} // namespace ptxasw::synth
