// A register that one instruction of the text writes, without a guard, and of nothing but
// constants, components of %tid and %ntid and other such registers, holds the same number whenever
// its thread has executed that instruction. As a polynomial over these components, modulo 2^32, it
// is compared with the thread's number in the block. That the instruction has run before the one
// that reads the register is shown by walking from the beginning along all ways that do not meet
// it.
//
// The thread's number is 32 * w + lane, w being the warp's. It is below 1024, and so the same as a
// number with a sign. Without its low five bits, shifted right over them, divided by a multiple of
// 32, or compared with one, it is a function of w.

#include "emulator/facts/warp_number.h"

#include "emulator/facts/numbers.h"
#include "grammar/roles.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <span>
#include <string_view>

namespace ptxasw::facts {
namespace {

constexpr std::int64_t lanes = 32;
constexpr unsigned word_bits = 32;
/// Of registers that are made of registers; what is deeper is not followed.
constexpr unsigned definition_depth = 16;

constexpr std::array<std::string_view, 6> components{"%tid.x",  "%tid.y",  "%tid.z",
                                                     "%ntid.x", "%ntid.y", "%ntid.z"};
enum Component : AtomId { tid_x, tid_y, tid_z, ntid_x, ntid_y };

/// The thread's number within its block.
Polynomial thread_number() {
  const auto of = [](AtomId atom) { return Polynomial::of(atom); };
  return of(tid_x) + of(ntid_x) * (of(tid_y) + of(ntid_y) * of(tid_z));
}

bool is_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

class WarpNumbers {
public:
  WarpNumbers(const Module &module, const Function &function)
      : module_(module), function_(function), number_(thread_number()),
        writes_(function.registers.size(), 0), written_at_(function.registers.size(), 0) {
    for (std::uint32_t i = 0; i < function.instructions.size(); ++i)
      for_each_register(module, function.instructions[i], [&](RegisterId reg, RegisterUse use) {
        if (use == RegisterUse::read)
          return;
        ++writes_[reg];
        written_at_[reg] = i;
      });
  }

  /// Returns true if what an instruction writes is a function of the warp's number.
  bool is_of_warp(std::uint32_t at) {
    const Instruction &instruction = function_.instructions[at];
    const auto operands = module_.operands(instruction);
    const std::string_view text = module_.opcode(instruction).text;
    if (!instruction.well_formed || instruction.guard != no_register || operands.size() != 3 ||
        !is_plain_register(operands[0]) || !is_plain_register(operands[1]) ||
        operands[2].kind != Operand::Kind::integer)
      return false;
    const std::int64_t number = operands[2].value;
    bool known = false;
    if (is_any(text, {"shr.u32", "shr.s32", "shr.b32"}))
      known = number >= 5;
    else if (text == "and.b32" ||
             is_any(text, {"div.u32", "setp.lt.u32", "setp.lt.s32", "setp.ge.u32", "setp.ge.s32",
                           "setp.lo.u32", "setp.hs.u32"}))
      known = number % lanes == 0 && (number > 0 || text == "and.b32");
    else if (is_any(text, {"setp.gt.u32", "setp.gt.s32", "setp.le.u32", "setp.le.s32",
                           "setp.hi.u32", "setp.ls.u32"}))
      known = number > 0 && (number + 1) % lanes == 0;
    if (!known)
      return false;
    const auto held = value(operands[1], at, 0);
    return held && *held == number_;
  }

private:
  static bool is_plain_register(const Operand &operand) {
    return operand.kind == Operand::Kind::reg && operand.selector == 0 && !operand.negated;
  }

  /// What an operand holds before an instruction, modulo 2^32; nothing: that is not known.
  std::optional<Polynomial> value(const Operand &operand, std::uint32_t at, unsigned depth) {
    if (operand.kind == Operand::Kind::integer)
      return low_bits_of(Polynomial(operand.value), word_bits);
    if (operand.kind == Operand::Kind::special) {
      const auto *const found =
          std::find(components.begin(), components.end(), module_.text(operand.span));
      return found == components.end()
                 ? std::nullopt
                 : std::optional(Polynomial::of(static_cast<AtomId>(found - components.begin())));
    }
    if (!is_plain_register(operand) || depth == definition_depth || writes_[operand.reg] != 1 ||
        function_.registers[operand.reg].vector != 1 ||
        bit_width(function_.registers[operand.reg].type) != word_bits || unset(operand.reg)[at])
      return std::nullopt;
    return computed(written_at_[operand.reg], depth + 1);
  }

  std::optional<Polynomial> computed(std::uint32_t at, unsigned depth) {
    const Instruction &instruction = function_.instructions[at];
    const auto operands = module_.operands(instruction);
    const std::string_view text = module_.opcode(instruction).text;
    if (!instruction.well_formed || instruction.guard != no_register || operands.size() < 2 ||
        !is_plain_register(operands[0]))
      return std::nullopt;
    std::vector<Polynomial> in;
    for (const Operand &operand : operands.subspan(1)) {
      auto one = value(operand, at, depth);
      if (!one)
        return std::nullopt;
      in.push_back(std::move(*one));
    }
    const auto is = [&](std::size_t inputs, std::initializer_list<std::string_view> words) {
      return in.size() == inputs && is_any(text, words);
    };
    if (is(1, {"mov.u32", "mov.s32", "mov.b32"}))
      return in[0];
    if (is(2, {"add.u32", "add.s32"}))
      return low_bits_of(in[0] + in[1], word_bits);
    if (is(2, {"mul.lo.u32", "mul.lo.s32"}))
      return low_bits_of(in[0] * in[1], word_bits);
    if (is(3, {"mad.lo.u32", "mad.lo.s32"}))
      return low_bits_of(in[0] * in[1] + in[2], word_bits);
    return std::nullopt;
  }

  const std::vector<bool> &unset(RegisterId reg) {
    const auto [found, is_new] = unset_.try_emplace(reg);
    if (is_new)
      found->second = comes_unwritten(module_, function_, reg);
    return found->second;
  }

  const Module &module_;
  const Function &function_;
  const Polynomial number_;
  std::vector<unsigned> writes_;                  ///< by register
  std::vector<std::uint32_t> written_at_;         ///< by register: the last of them
  std::map<RegisterId, std::vector<bool>> unset_; ///< comes_unwritten()
};

} // namespace

std::vector<bool> made_of_warp_number(const Module &module, const Function &function) {
  std::vector<bool> result(function.instructions.size(), false);
  WarpNumbers numbers(module, function);
  for (std::uint32_t i = 0; i < result.size(); ++i)
    result[i] = numbers.is_of_warp(i);
  return result;
}

} // namespace ptxasw::facts
