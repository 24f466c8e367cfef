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
//
// Where rows are whole warps, tid.x is 32 * w + lane itself, and a sum of it and of products each
// of which has a factor ntid.x, or one that is a multiple of 32, and no tid.x is 32 * u + lane, u
// being one for all lanes of the warp. It may be any number of 32 bits. Modulo 2^32 it is the same,
// and so is what is said above but for the division of a number with a sign.

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

constexpr std::array<std::string_view, 12> components{
    "%tid.x",   "%tid.y",   "%tid.z",   "%ntid.x",   "%ntid.y",   "%ntid.z",
    "%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z"};
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
  WarpNumbers(const Module &module, const Function &function, bool whole_rows)
      : module_(module), function_(function), whole_rows_(whole_rows), number_(thread_number()),
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
        !is_whole_register(operands[0]))
      return false;
    // What is compared may stand on either side.
    const bool is_swapped = !is_number(operands[1], at);
    const auto number = constant(operands[is_swapped ? 1 : 2], at);
    if (!number || (is_swapped && !is_number(operands[2], at)))
      return false;
    const auto is = [&](std::string_view plain, std::string_view mirrored,
                        std::initializer_list<std::string_view> types) {
      return std::any_of(types.begin(), types.end(), [&](std::string_view type) {
        return text.starts_with("setp.") && text.substr(5, 2) == (is_swapped ? mirrored : plain) &&
               text.substr(7) == type;
      });
    };
    if (*number > 0 && *number % lanes == 0 &&
        (is("lt", "gt", {".u32", ".s32"}) || is("ge", "le", {".u32", ".s32"}) ||
         is("lo", "hi", {".u32"}) || is("hs", "ls", {".u32"})))
      return true;
    if (*number > 0 && (*number + 1) % lanes == 0 &&
        (is("gt", "lt", {".u32", ".s32"}) || is("le", "ge", {".u32", ".s32"}) ||
         is("hi", "lo", {".u32"}) || is("ls", "hs", {".u32"})))
      return true;
    if (text == "and.b32")
      return *number % lanes == 0;
    return !is_swapped && ((is_any(text, {"shr.u32", "shr.s32", "shr.b32"}) && *number >= 5) ||
                           (text == "div.u32" && *number > 0 && *number % lanes == 0));
  }

private:
  /// Returns true if an operand holds a number whose low five bits are the lane, and whose others
  /// are the same for all lanes of a warp.
  bool is_number(const Operand &operand, std::uint32_t at) {
    const auto held = value(operand, at, 0);
    if (!held || !whole_rows_)
      return held && *held == number_;
    const Polynomial rest = low_bits_of(*held - Polynomial::of(tid_x), word_bits);
    return std::all_of(rest.terms().begin(), rest.terms().end(), [&](const auto &term) {
      const auto has = [&](AtomId atom) {
        return std::find(term.first.begin(), term.first.end(), atom) != term.first.end();
      };
      return !has(tid_x) && (has(ntid_x) || term.second % lanes == 0);
    });
  }

  /// A number that the text says, as 32 bits without a sign unless the operand has one itself.
  std::optional<std::int64_t> constant(const Operand &operand, std::uint32_t at) {
    if (operand.kind == Operand::Kind::integer)
      return operand.value;
    const auto held = value(operand, at, 0);
    return held ? held->number() : std::nullopt;
  }

  /// What an operand holds before an instruction, modulo 2^32; nothing: that is not known.
  std::optional<Polynomial> value(const Operand &operand, std::uint32_t at, unsigned depth) {
    if (operand.kind == Operand::Kind::integer)
      return low_bits_of(Polynomial(operand.value), word_bits);
    if (operand.kind == Operand::Kind::special) {
      if (module_.text(operand.span) == "WARP_SZ")
        return Polynomial(lanes);
      const auto *const found =
          std::find(components.begin(), components.end(), module_.text(operand.span));
      return found == components.end()
                 ? std::nullopt
                 : std::optional(Polynomial::of(static_cast<AtomId>(found - components.begin())));
    }
    if (!is_whole_register(operand) || depth == definition_depth || writes_[operand.reg] != 1 ||
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
        !is_whole_register(operands[0]))
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
  const bool whole_rows_;
  const Polynomial number_;
  std::vector<unsigned> writes_;                  ///< by register
  std::vector<std::uint32_t> written_at_;         ///< by register: the last of them
  std::map<RegisterId, std::vector<bool>> unset_; ///< comes_unwritten()
};

} // namespace

std::vector<bool> made_of_warp_number(const Module &module, const Function &function,
                                      bool whole_rows) {
  std::vector<bool> result(function.instructions.size(), false);
  WarpNumbers numbers(module, function, whole_rows);
  for (std::uint32_t i = 0; i < result.size(); ++i)
    result[i] = numbers.is_of_warp(i);
  return result;
}

} // namespace ptxasw::facts
