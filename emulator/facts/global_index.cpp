// Compilers take sums of an index apart: (tid + i) + ctaid * ntid. So for each register is known,
// if it can be, how often it holds tid and how often ctaid * ntid:
//
//     value = b * (ctaid * ntid) + t * tid + r   (modulo 2^32 or 2^64, by the register's width)
//
// where r is the same in both launches, whenever the thread with that global index comes to that
// instruction. With b = t the value is b * g + r, the same in both, whatever wrapped around on the
// way. Otherwise only sums, differences and constant multiples are followed, whose result is again
// of that form; anything else that reads such a value ends the proof, and so does a second
// definition. From 32 to 64 bits goes, of these, what is tid or ctaid * ntid itself, which are both
// below 2^31: a sum may have wrapped around. ctaid, ntid and nctaid by themselves may only be
// copied, widened and multiplied with each other: nctaid * ntid is the number of threads, and the
// same.
//
// That each register's form holds is an induction over the steps of a thread. A register that
// differs between the launches has one definition, so its form is that of the instruction which
// wrote it last; reading it before is undefined in PTX. All else that registers hold is the same.

#include "emulator/facts/global_index.h"

#include "grammar/roles.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace ptxasw::facts {
namespace {

constexpr unsigned settling_passes = 5;

/// What is known of a value.
struct Held {
  enum class Kind : std::uint8_t { sum, ctaid, ntid, nctaid };
  Kind kind = Kind::sum;
  std::uint64_t blocks = 0, threads = 0; ///< b and t of a sum; both 0: the same in both launches
  bool itself = false;                   ///< exactly tid or ctaid * ntid, below 2^31
  bool operator==(const Held &) const = default;

  bool is_same(unsigned width) const {
    const std::uint64_t mask = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    return kind == Kind::sum && ((blocks - threads) & mask) == 0;
  }
};

class Places {
public:
  Places(const Module &module, const Function &kernel, char axis)
      : module_(module), kernel_(kernel), axis_(axis), held_(kernel.registers.size()),
        writes_(kernel.registers.size(), 0) {
    for (const Instruction &instruction : kernel.instructions)
      for_each_register(module, instruction, [&](RegisterId reg, RegisterUse use) {
        writes_[reg] += use != RegisterUse::read;
      });
  }

  std::optional<std::uint32_t> run();

private:
  bool shows(std::span<const Operand> operands) const;
  Held of(const Operand &operand) const;
  std::optional<Held> computed(const Instruction &instruction) const;
  std::optional<Held> product(const Operand &a, const Operand &b, bool wide, bool is_signed) const;
  bool keeps(const Instruction &instruction, const Held &result) const;
  unsigned width_of(const Operand &operand) const {
    return bit_width(kernel_.registers[operand.reg].type);
  }

  const Module &module_;
  const Function &kernel_;
  char axis_;
  std::vector<Held> held_;
  std::vector<unsigned> writes_;
};

Held Places::of(const Operand &operand) const {
  if (operand.kind == Operand::Kind::reg)
    return held_[operand.reg];
  if (operand.kind != Operand::Kind::special)
    return {};
  const std::string_view name = module_.text(operand.span);
  if (name.size() < 2 || name[name.size() - 2] != '.' || name.back() != axis_)
    return {};
  const std::string_view what = name.substr(0, name.size() - 2);
  if (what == "%tid")
    return {Held::Kind::sum, 0, 1, true};
  if (what == "%ctaid")
    return {Held::Kind::ctaid};
  if (what == "%ntid")
    return {Held::Kind::ntid};
  if (what == "%nctaid")
    return {Held::Kind::nctaid};
  return {};
}

/// Returns true if something of these is not the same in both launches.
bool Places::shows(std::span<const Operand> operands) const {
  return std::any_of(operands.begin(), operands.end(), [&](const Operand &operand) {
    const Held held = of(operand);
    const unsigned width = operand.kind == Operand::Kind::reg ? width_of(operand) : 32;
    return !held.is_same(width) || shows(module_.children(operand));
  });
}

// `wide`: of 32 bits each, the product of 64.
std::optional<Held> Places::product(const Operand &a, const Operand &b, bool wide,
                                    bool is_signed) const {
  using Kind = Held::Kind;
  const Held x = of(a), y = of(b);
  const auto are = [&](Kind first, Kind second) {
    return (x.kind == first && y.kind == second) || (x.kind == second && y.kind == first);
  };
  if (are(Kind::ctaid, Kind::ntid))
    return Held{Kind::sum, 1, 0, true};
  if (are(Kind::nctaid, Kind::ntid))
    return Held{};
  const Operand &number = a.kind == Operand::Kind::integer ? a : b;
  const Operand &other = &number == &a ? b : a;
  const Held held = of(other);
  if (number.kind != Operand::Kind::integer || held.kind != Kind::sum || (wide && !held.itself))
    return std::nullopt;
  auto factor = static_cast<std::uint64_t>(number.value);
  if (wide)
    factor = is_signed
                 ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(number.value)})
                 : std::uint64_t{static_cast<std::uint32_t>(number.value)};
  return Held{Kind::sum, held.blocks * factor, held.threads * factor, false};
}

/// What an instruction that reads something that is not the same computes; nothing: that is not
/// known.
std::optional<Held> Places::computed(const Instruction &instruction) const {
  using Kind = Held::Kind;
  const Opcode &opcode = module_.opcode(instruction);
  const auto operands = module_.operands(instruction);
  const bool widens = opcode.has(Modifier::wide);
  if (!instruction.well_formed || operands.size() < 2 || !is_whole_register(operands[0]) ||
      width_of(operands[0]) != bit_width(opcode.type) * (widens ? 2 : 1))
    return std::nullopt;
  for (const Operand &operand : operands.subspan(1))
    if (operand.kind != Operand::Kind::special && operand.kind != Operand::Kind::integer &&
        !is_whole_register(operand))
      return std::nullopt;
  const std::string_view text = opcode.text;
  const auto is = [&](std::string_view name) { // of integers of 32 or 64 bits, and nothing more
    return text.starts_with(name) && text.size() == name.size() + 3 &&
           (text.substr(name.size() + 1) == "32" || text.substr(name.size() + 1) == "64") &&
           std::string_view("sub").find(text[name.size()]) != std::string_view::npos;
  };
  const auto sum = [](const Held &a, const Held &b, bool minus) -> std::optional<Held> {
    if (a.kind != Kind::sum || b.kind != Kind::sum)
      return std::nullopt;
    return Held{Kind::sum, minus ? a.blocks - b.blocks : a.blocks + b.blocks,
                minus ? a.threads - b.threads : a.threads + b.threads, false};
  };
  const std::size_t count = operands.size() - 1;
  if (is("mov.") && count == 1)
    return of(operands[1]);
  if ((is("add.") || is("sub.")) && count == 2)
    return sum(of(operands[1]), of(operands[2]), opcode.op == Op::sub);
  if (opcode.op == Op::cvt && count == 1) {
    const Held held = of(operands[1]);
    if (text == "cvt.u64.u32" || text == "cvt.s64.s32" || text == "cvt.s64.u32" ||
        text == "cvt.u64.s32") // these are all below 2^31
      return held.kind != Kind::sum || held.itself ? std::optional(held) : std::nullopt;
    if (text == "cvt.u32.u64" || text == "cvt.s32.s64" || text == "cvt.u32.s64" ||
        text == "cvt.s32.u64") // modulo 2^32
      return held;
    return std::nullopt;
  }
  if (text == "shl.b32" || text == "shl.b64") {
    const Held held = of(operands[1]);
    if (count != 2 || operands[2].kind != Operand::Kind::integer || held.kind != Kind::sum ||
        operands[2].value < 0 || operands[2].value >= (text == "shl.b32" ? 32 : 64))
      return std::nullopt;
    return Held{Kind::sum, held.blocks << operands[2].value, held.threads << operands[2].value,
                false};
  }
  const bool is_product = is("mul.lo.") || text == "mul.wide.u32" || text == "mul.wide.s32";
  const bool is_both = is("mad.lo.") || text == "mad.wide.u32" || text == "mad.wide.s32";
  if ((is_product && count == 2) || (is_both && count == 3)) {
    auto result = shows(operands.subspan(1, 2))
                      ? product(operands[1], operands[2], widens, is_signed(opcode.type))
                      : std::optional(Held{});
    return is_both && result ? sum(*result, of(operands[3]), false) : result;
  }
  return std::nullopt;
}

/// Returns true if a register may hold that: if it is not the same in both launches, nothing else
/// is ever written to it.
bool Places::keeps(const Instruction &instruction, const Held &result) const {
  const Operand &to = module_.operands(instruction)[0];
  return result.is_same(width_of(to)) || (instruction.guard == no_register && writes_[to.reg] == 1);
}

std::optional<std::uint32_t> Places::run() {
  for (unsigned pass = 0; pass < settling_passes; ++pass) {
    bool changed = false;
    std::optional<std::uint32_t> wrong;
    for (const Instruction &instruction : kernel_.instructions) {
      const auto operands = module_.operands(instruction);
      const bool has_result =
          first_operand(module_.opcode(instruction)) == FirstOperand::destination &&
          !operands.empty() && is_whole_register(operands[0]);
      Held next;
      if (shows(has_result ? operands.subspan(1) : operands)) {
        const auto result = has_result ? computed(instruction) : std::nullopt;
        if (!result || !keeps(instruction, *result)) {
          wrong = wrong ? wrong : std::optional(instruction.line);
          continue;
        }
        if (!result->is_same(width_of(operands[0])))
          next = *result;
      }
      if (!has_result || held_[operands[0].reg] == next)
        continue;
      held_[operands[0].reg] = next;
      changed = true;
    }
    if (!changed)
      return wrong;
  }
  return kernel_.instructions.empty() ? 0 : kernel_.instructions[0].line; // it does not settle
}

} // namespace

std::optional<std::uint32_t> block_shape_shows(const Module &module, const Function &kernel,
                                               char axis) {
  return Places(module, kernel, axis).run();
}

} // namespace ptxasw::facts
