// Where values are written for a replaced load D, the text becomes
//
//     mov.b32 own, D's register;             what it held before
//     ld own, [D's address];                 D itself
//     ...                                    what was added, as it is
//     mov.b32 value, D's register;           what is to be shown to be the same
//     mov.b32 D's register, own;
//
// so that all behind it reads what D has read, and added code writes nothing else that the original
// reads. One emulation then knows both what the original computes and what was added. Three things
// it is not left to know by itself:
//
//     activemask.b32 mask;                   mov.u32 mask, %clock;
//     shfl.sync.up.b32 to, from, N, 0, mask; mov.b32 taken, from; mov.b32 members, mask;
//                                            mov.u32 to, %clock;
//     @corner ld to, [address];              mov.b32 read, to; @corner ld read, [address];
//                                            @corner mov.b32 to, read;
//
// What activemask and shuffles give is some number, and they bring no lanes together that were not:
// the proof asks for a mask of those that are active, read on the same straight way. And what a
// load that was added gives has a name of its own.

#include "synth/proof/restore.h"

#include "emulator/semantics/effects.h"
#include "grammar/code_writer.h"
#include "grammar/roles.h"
#include "synth/proof/obligation.h"
#include "synth/shuffle/candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ptxasw::synth {
namespace {

void understand(bool holds) {
  demand(holds, Obligation::understood, "an added instruction is not understood");
}

class Restorer {
public:
  Restorer(const Module &original, const Function &before, const Module &rewritten,
           const Function &after, const FunctionMatch &match, const std::string &prefix)
      : a_(original), fa_(before), b_(rewritten), fb_(after), match_(match), fresh_(prefix) {}

  Restored run(Edits &edits) {
    auto value = match_.values.begin();
    for (std::uint32_t j = 0; j < fb_.instructions.size(); ++j) {
      const Instruction &instruction = fb_.instructions[j];
      const bool begins = value != match_.values.end() && value->first == j;
      if (begins)
        begin_load(value->load, instruction.span.begin);
      if (match_.original[j] == no_index) {
        add(instruction);
      } else {
        count(match_.original[j], match_.moved[j]);
        slot_ += !match_.moved[j];
      }
      if (value != match_.values.end() && value->last == j) {
        end_load(instruction.span.end);
        ++value;
      }
    }
    edits.insert(fb_.body.begin + 1, fresh_.declarations());
    for (const auto &[span, text] : changes_)
      edits.replace(span, text);
    return std::move(result_);
  }

private:
  std::uint32_t at() const { return static_cast<std::uint32_t>(result_.original.size()); }

  /// One more instruction.
  void count(std::uint32_t original = no_index, bool moved = false) {
    result_.original.push_back(original);
    result_.moved.push_back(moved);
  }

  /// Appends a copy from one register to another.
  void copy(std::string &text, std::string_view guard, unsigned width, std::string_view to,
            std::string_view from) {
    text += fmt::format("{}mov.b{} {}, {};\n", guard, width, to, from);
    count();
  }

  /// The registers of elements, and their widths in bits; they are whole registers.
  struct Destination {
    std::string_view name;
    unsigned width;
  };
  static std::vector<Destination> destinations(const Module &module, const Function &function,
                                               const Instruction &load) {
    std::vector<Destination> result;
    for (const Operand &element : elements_of(module, load)) {
      const bool whole = is_whole_register(element);
      const Register *const reg = whole ? &function.registers[element.reg] : nullptr;
      understand(reg && can_be_copied(*reg));
      result.push_back({module.text(element.span), bit_width(reg->type)});
    }
    return result;
  }

  /// The load with others as its destinations.
  std::string load_into(const Module &module, const Instruction &load,
                        const std::vector<std::string> &to) {
    count();
    const Operand &first = module.operands(load)[0];
    const bool vector = first.kind == Operand::Kind::vector;
    return fmt::format("{}{}{}{}{}\n", module.text({load.span.begin, first.span.begin}),
                       vector ? "{" : "", fmt::join(to, ", "), vector ? "}" : "",
                       module.text({first.span.end, load.span.end}));
  }

  std::vector<std::string> fresh(const std::vector<Destination> &like) {
    std::vector<std::string> result;
    for (const Destination &one : like)
      result.push_back(fresh_(fmt::format("b{}", one.width)));
    return result;
  }

  void begin_load(std::uint32_t load, std::uint32_t offset) {
    to_ = destinations(a_, fa_, fa_.instructions[load]);
    own_ = fresh(to_);
    result_.loads.push_back({load, static_cast<std::uint32_t>(to_.size()), at(), 0, slot_});
    std::string text;
    for (std::size_t i = 0; i < to_.size(); ++i)
      copy(text, "", to_[i].width, own_[i], to_[i].name);
    changes_.emplace_back(Span{offset, offset}, text + load_into(a_, fa_.instructions[load], own_));
  }

  void end_load(std::uint32_t offset) {
    result_.loads.back().place = at();
    const std::vector<std::string> values = fresh(to_);
    std::string text = "\n";
    for (std::size_t i = 0; i < to_.size(); ++i)
      copy(text, "", to_[i].width, values[i], to_[i].name);
    for (std::size_t i = 0; i < to_.size(); ++i)
      copy(text, "", to_[i].width, to_[i].name, own_[i]);
    changes_.emplace_back(Span{offset, offset}, text);
  }

  void add(const Instruction &instruction) {
    const Opcode &opcode = b_.opcode(instruction);
    understand(instruction.well_formed && instruction.operand_count != 0);
    if (opcode.op == Op::activemask) {
      demand(instruction.guard == no_register, Obligation::full_warp, "activemask under a guard");
      understand(opcode.type == ScalarType::b32);
      result_.masks.push_back(at());
      changes_.emplace_back(instruction.span, some_number(instruction));
    } else if (opcode.op == Op::shfl) {
      demand(instruction.guard == no_register, Obligation::full_warp,
             "a shuffle is guarded by what lanes may not agree on");
      changes_.emplace_back(instruction.span, shuffle(instruction));
    } else if (opcode.op == Op::ld) {
      changes_.emplace_back(instruction.span, load(instruction));
    } else { // computes its result from its operands alone
      understand(is_pure(opcode) && !opcode.has(Modifier::cc));
      count();
    }
  }

  std::string some_number(const Instruction &instruction) {
    const Operand &to = b_.operands(instruction)[0];
    understand(is_whole_register(to));
    count();
    return fmt::format("mov.u32 {}, %clock;", b_.text(to.span));
  }

  /// shfl.sync.up and .down by a constant over the whole warp (PTX ISA 9.7.9.6).
  std::string shuffle(const Instruction &instruction) {
    const Opcode &opcode = b_.opcode(instruction);
    const auto operands = b_.operands(instruction);
    const bool up = opcode.has(Modifier::up);
    understand(opcode.modifiers.size() == 3 && opcode.modifiers[0] == "sync" &&
               opcode.modifiers[2] == "b32" && (up || opcode.has(Modifier::down)) &&
               operands.size() == 5);
    const Operand &distance = operands[2], &clamp = operands[3];
    understand(distance.kind == Operand::Kind::integer && distance.value >= 1 &&
               distance.value <= 31 && clamp.kind == Operand::Kind::integer &&
               clamp.value == (up ? 0 : 31));
    result_.shuffles.push_back({at(), static_cast<int>(up ? -distance.value : distance.value)});
    std::string text;
    for (const Operand *operand : {&operands[1], &operands[4]})
      copy(text, "", 32, fresh_("b32"), b_.text(operand->span));
    return text + some_number(instruction);
  }

  std::string load(const Instruction &instruction) {
    understand(effect_of(b_.opcode(instruction)) == Effect::load);
    const std::vector<Destination> to = destinations(b_, fb_, instruction);
    const std::vector<std::string> read = fresh(to);
    std::string text;
    for (std::size_t i = 0; i < to.size(); ++i)
      copy(text, "", to[i].width, read[i], to[i].name);
    result_.added_loads.push_back({at(), slot_});
    text += load_into(b_, instruction, read);
    for (std::size_t i = 0; i < to.size(); ++i)
      copy(text, guard_text(fb_, instruction), to[i].width, to[i].name, read[i]);
    return text;
  }

  const Module &a_;
  const Function &fa_;
  const Module &b_;
  const Function &fb_;
  const FunctionMatch &match_;
  std::vector<std::pair<Span, std::string>> changes_;
  NewRegisters fresh_;
  std::uint32_t slot_ = 0;
  std::vector<Destination> to_; ///< of the replaced load whose values are being written
  std::vector<std::string> own_;
  Restored result_;
};

} // namespace

Restored restore(const Module &original, const Function &before, const Module &rewritten,
                 const Function &after, const FunctionMatch &match, const std::string &prefix,
                 Edits &edits) {
  return Restorer(original, before, rewritten, after, match, prefix).run(edits);
}

} // namespace ptxasw::synth
