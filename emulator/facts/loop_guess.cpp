// A compiler gives each place that a loop walks along a register of its own, so that the distance
// between two of them is seen only in what was computed before the loop. That is run on a few
// examples: what is not known, as a parameter, is a number made from its name, and what an
// instruction computes that is not known here is a number made from its operands. Numbers of 32
// bits are small, so that no sum of products of them wraps around.

#include "emulator/facts/loop_guess.h"

#include "grammar/roles.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace ptxasw::facts {
namespace {

constexpr unsigned examples = 3;
constexpr unsigned most_steps = 2'000; ///< of an example
constexpr std::uint64_t small = 1'000;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t bits = a * 0x9e3779b97f4a7c15 + b + 0x7f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

std::uint64_t mixed(std::uint64_t a, std::string_view text) {
  for (const char c : text)
    a = mixed(a, static_cast<unsigned char>(c));
  return a;
}

/// As a register of 32 bits keeps it, sign-extended; or as one of 64.
std::uint64_t kept(std::uint64_t bits, unsigned width) {
  return width == 32 ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(bits)})
                     : bits;
}

} // namespace

struct Guess::Example {
  std::uint64_t seed = 0;
  unsigned steps = most_steps;
  std::map<RegisterId, std::uint64_t> known;

  std::uint64_t unknown(std::uint64_t bits, unsigned width) const {
    const std::uint64_t one = mixed(seed, bits);
    return width == 64 ? one : one % small + 3;
  }
};

Guess::Guess(const Module &module, const Function &function, const ControlFlowGraph &cfg,
             LoopId loop)
    : module_(module), function_(function), cfg_(cfg), loop_(loop),
      before_(function.registers.size()) {
  for (std::uint32_t i = 0; i < function.instructions.size(); ++i) {
    const BlockId block = cfg.block_of(i);
    if (cfg.reachable(block) && !cfg.contains(loop, block))
      for_each_register(module, function.instructions[i], [&](RegisterId reg, RegisterUse use) {
        if (use != RegisterUse::read)
          before_[reg].push_back(i);
      });
  }
}

bool Guess::is_zero(const Polynomial &sum, const Atoms &atoms) const {
  for (unsigned i = 0; i < examples; ++i) {
    Example example;
    example.seed = mixed(i, 1);
    if (value(sum, atoms, example) != 0)
      return false;
  }
  return true;
}

std::uint64_t Guess::value(const Polynomial &sum, const Atoms &atoms, Example &example) const {
  return sum.worth<std::uint64_t>([&](AtomId one) {
    const Atom &atom = atoms[one];
    if (atom.kind != Atom::Kind::rounds)
      return at_entry(atom.leaf, example);
    const auto distance = static_cast<std::int64_t>(value(atom.distance, atoms, example));
    return static_cast<std::uint64_t>(std::max<std::int64_t>(distance, 0) / atom.step);
  });
}

std::uint64_t Guess::at_entry(RegisterId reg, Example &example) const {
  if (reg >= before_.size())
    return example.unknown(reg, 64);
  const auto [found, added] = example.known.try_emplace(reg, 0);
  if (!added)
    return found->second;
  const unsigned width = bit_width(function_.registers[reg].type);
  found->second = example.unknown(mixed(reg, 2), width); // where it depends on itself
  const BlockId header = cfg_.loops()[loop_].header;
  if (before_[reg].size() != 1 || example.steps == 0 ||
      !cfg_.dominates(cfg_.block_of(before_[reg][0]), header))
    return found->second;
  --example.steps;
  const std::uint64_t result = computed(before_[reg][0], example);
  return example.known[reg] = result;
}

std::uint64_t Guess::operand(const Operand &operand, Example &example) const {
  if (operand.kind == Operand::Kind::reg && operand.selector == 0 && !operand.negated)
    return at_entry(operand.reg, example);
  if (operand.kind == Operand::Kind::integer)
    return static_cast<std::uint64_t>(operand.value);
  std::uint64_t result = mixed(3, module_.text(operand.span));
  for (const Operand &child : module_.children(operand))
    result = mixed(result, this->operand(child, example));
  return result;
}

std::uint64_t Guess::computed(std::uint32_t instruction, Example &example) const {
  const Instruction &one = function_.instructions[instruction];
  const Opcode &opcode = module_.opcode(one);
  const auto operands = module_.operands(one);
  const unsigned width = operands.empty() || operands[0].kind != Operand::Kind::reg
                             ? 0
                             : bit_width(function_.registers[operands[0].reg].type);
  std::vector<std::uint64_t> from;
  std::uint64_t all = mixed(4, opcode.text);
  for (std::size_t i = 1; i < operands.size(); ++i) {
    from.push_back(operand(operands[i], example));
    all = mixed(all, from.back());
  }
  const bool plain = one.guard == no_register && (width == 32 || width == 64) &&
                     !is_float(opcode.type) && !opcode.has(Modifier::cc);
  const std::string_view text = opcode.text;
  const bool wide = text.find(".wide") != text.npos, low = text.find(".lo") != text.npos;
  if (plain && from.size() == 1 &&
      ((opcode.op == Op::mov && operands[1].kind != Operand::Kind::special &&
        operands[1].kind != Operand::Kind::symbol) ||
       opcode.op == Op::cvta))
    return kept(from[0], width);
  if (plain && from.size() == 1 && opcode.op == Op::cvt &&
      (text.ends_with("64.s32") || text.ends_with("64.u32") || text == "cvt.u32.u64"))
    return kept(from[0], width);
  if (plain && from.size() == 2) {
    if (opcode.op == Op::add)
      return kept(from[0] + from[1], width);
    if (opcode.op == Op::sub)
      return kept(from[0] - from[1], width);
    if (opcode.op == Op::mul && (wide || low))
      return kept(from[0] * from[1], width);
    if (opcode.op == Op::shl && from[1] < width)
      return kept(from[0] << from[1], width);
  }
  if (plain && from.size() == 3 && opcode.op == Op::mad && (wide || low))
    return kept(from[0] * from[1] + from[2], width);
  return example.unknown(all, width == 64 ? 64 : 32);
}

} // namespace ptxasw::facts
