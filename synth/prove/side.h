#pragma once

// One of two functions that run beside each other for one thread (walk.h): what its instructions
// compute, as terms.

#include "synth/prove/terms.h"

#include "grammar/next.h"
#include "grammar/roles.h"

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace ptxasw::proof {

/// What an instruction takes of the budget of a proof, in registers that are looked at.
inline constexpr std::size_t instruction_effort = 16;

class Side {
public:
  /// Its registers begin at `offset` in Knowledge::values. `kernel` is the first function.
  Side(const Module &of, const Function &one, std::size_t offset, Terms &all,
       const Function &kernel);
  std::uint32_t end() const { return static_cast<std::uint32_t>(function.instructions.size()); }
  /// Over what only computes, and branches that are decided, to what does not: its index, or end()
  /// where the thread ends. Throws NotProved if the budget is spent.
  std::uint32_t run(std::uint32_t position, Knowledge &known, std::size_t &budget) const;
  /// Does an instruction that only computes, has no guard and writes registers that the kernel
  /// lacks; false: it is another one.
  bool step(std::uint32_t position, Knowledge &known) const;
  /// Whether an instruction runs, as far as that is decided.
  std::optional<bool> decided(const Instruction &instruction, const Knowledge &known) const;
  bool is_branch(std::uint32_t position) const {
    return position != end() && is_way(module.opcode(function.instructions[position]));
  }
  /// Returns true if an instruction is one of another function but for which registers it writes
  /// and what it reads.
  bool is_alike(std::uint32_t position, const Side &other, std::uint32_t there) const {
    const Form &mine = forms_[position], &theirs = other.forms_[there];
    return mine.is_whole && theirs.is_whole && mine.key == theirs.key;
  }
  Term guard(const Instruction &instruction, const Knowledge &known) const;
  /// What there is after an instruction whose guard has a value: `done` where it runs.
  Term under(Term guard, const Instruction &instruction, Term done, Term otherwise) const;
  /// Appends what an operand reads to a key. A term that is no number is of one width only.
  void read(const Operand &operand, const Knowledge &known, std::vector<std::uint64_t> &key) const;
  /// Returns true if an operand is written, whatever else is done to it.
  static bool is_written(FirstOperand role, std::size_t operand) {
    return role == FirstOperand::unknown || (operand == 0 && role == FirstOperand::destination);
  }
  /// The registers that an instruction writes, in order.
  const std::vector<RegisterId> &written(std::uint32_t position) const {
    return forms_[position].written;
  }
  /// Registers get values; `maybe` says that they keep what they have where a guard does not hold.
  void write(const std::vector<RegisterId> &registers, const std::vector<Term> &values,
             const Instruction &instruction, Knowledge &known, bool maybe) const;
  static unsigned width(const Register &reg) { return bit_width(reg.type) * reg.vector; }
  /// The address that an operand names, if its base is a register of 64 bits.
  std::optional<Term> address(const Operand &operand, const Knowledge &known) const;
  /// What a register, an integer or a real reads.
  Term value(const Operand &operand, const Knowledge &known) const;
  /// A number as a register of that width keeps it.
  Term kept(Term term, unsigned bits) const;

  const Module &module;
  const Function &function;
  const std::size_t first; ///< of its registers in Knowledge::values
  Terms &terms;
  const std::vector<bool> is_added; ///< by register: the kernel has none of that name
  /// If it is set: called where control goes from one instruction to another.
  std::function<void(std::uint32_t from, std::uint32_t to, Knowledge &known)> went;

private:
  /// What an instruction is, whatever it reads.
  struct Form {
    TermKey key; ///< its opcode, and the places that it writes
    std::vector<RegisterId> written;
    bool is_whole = false; ///< no place is a part of a register, and all is understood
    bool computes = false; ///< from its operands alone
  };
  bool only_computes(const Instruction &instruction) const;
  std::optional<bool> truth(Term term, const Knowledge &known) const;
  bool is_wide_register(const Operand &base) const;
  /// What a source moves into a register of some width unchanged; nothing if it does not.
  std::optional<Term> moved(const Operand &source, unsigned bits, const Opcode &opcode,
                            const Knowledge &known) const;
  /// What a move, a choice that is decided, or the sum of an address and a number gives.
  std::optional<Term> simple(const Instruction &instruction, const Knowledge &known) const;
  void compute(std::uint32_t position, Knowledge &known, bool maybe) const;
  void add_place(const Operand &operand, Form &form) const;
  std::vector<Form> forms_; ///< by instruction
};

} // namespace ptxasw::proof
