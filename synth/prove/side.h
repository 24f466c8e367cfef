#pragma once

// One of two functions that run beside each other for one thread (walk.h): what its instructions
// compute, as terms.

#include "synth/prove/terms.h"

#include "grammar/module.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::proof {

/// Thrown where a proof stops.
struct NotSame {
  std::string why;
};

/// What an instruction takes of the budget of a proof, in registers that are looked at.
inline constexpr std::size_t instruction_effort = 16;

class Side {
public:
  Side(const Module &of, const Function &one, std::size_t offset, Terms &all)
      : module(of), function(one), first(offset), terms(all) {
    for (const Instruction &instruction : one.instructions)
      computes_.push_back(only_computes(instruction));
  }
  std::uint32_t end() const { return static_cast<std::uint32_t>(function.instructions.size()); }
  /// Over what only computes, and branches that are decided, to what does not: its index, or end()
  /// where the thread ends. Throws NotSame if the budget is spent.
  std::uint32_t run(std::uint32_t position, Knowledge &known, std::size_t &budget) const;
  /// Whether an instruction runs, as far as that is decided.
  std::optional<bool> decided(const Instruction &instruction, const Knowledge &known) const;
  static bool ends(const Opcode &opcode) { return opcode.op == Op::ret || opcode.op == Op::exit; }
  bool is_branch(std::uint32_t position) const;
  Term guard(const Instruction &instruction, const Knowledge &known) const;
  /// Appends what an operand reads to a key. A term that is no number is of one width only.
  void read(const Operand &operand, const Knowledge &known, std::vector<std::uint64_t> &key) const;
  /// The registers in an operand that is written, in order.
  void written(const Operand &operand, std::vector<RegisterId> &registers) const;
  /// Registers get values; `maybe` says that they keep what they have where a guard does not hold.
  void write(const std::vector<RegisterId> &registers, const std::vector<Term> &values,
             const Instruction &instruction, Knowledge &known, bool maybe) const;
  static unsigned width(const Register &reg) { return bit_width(reg.type) * reg.vector; }
  /// What a register, an integer or a real reads.
  Term value(const Operand &operand, const Knowledge &known) const;
  /// A number as a register of that width keeps it.
  Term kept(Term term, unsigned bits) const;

  const Module &module;
  const Function &function;
  const std::size_t first; ///< of its registers in Knowledge::values
  Terms &terms;
  /// If it is set: called where control goes from one instruction to another.
  std::function<void(std::uint32_t from, std::uint32_t to, Knowledge &known)> went;

private:
  bool only_computes(const Instruction &instruction) const;
  std::optional<bool> truth(Term term, const Knowledge &known) const;
  std::uint32_t target(const Instruction &instruction) const;
  bool is_wide_register(const Operand &base) const;
  /// What a source moves into a register of some width unchanged; nothing if it does not.
  std::optional<Term> moved(const Operand &source, unsigned bits, const Opcode &opcode,
                            const Knowledge &known) const;
  /// What a move, a choice that is decided, or the sum of an address and a number gives.
  std::optional<Term> simple(const Instruction &instruction, const Knowledge &known) const;
  void compute(const Instruction &instruction, Knowledge &known, bool maybe) const;
  void shape(const Operand &operand, const Knowledge &known, std::vector<std::uint64_t> &key) const;
  std::vector<bool> computes_;
};

} // namespace ptxasw::proof
