#pragma once

// Which registers hold addresses of variables in shared or local memory, and which instructions
// make nothing else of them than the place of an access: then a variable may as well lie elsewhere.
//   const VariableAddresses shared(module, kernel, StateSpace::shared);
//   shared.is_good(instruction) && shared.all_written_are()

#include "grammar/module.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::facts {

/// The variable in a space that an operand names; null: it names none.
const Variable *variable_in(const Module &module, const Operand &operand, StateSpace space);

/// What registers hold of addresses in one space.
class VariableAddresses {
public:
  VariableAddresses(const Module &module, const Function &kernel, StateSpace space);

  /// Returns true if an instruction makes nothing of an address but an access or an address.
  bool is_good(const Instruction &instruction) const;
  /// Returns true if a store puts a generic address somewhere, and no address is in where that is.
  bool stores_generic(const Instruction &store) const;
  /// Returns true if all that is ever written to a register that is an address is one.
  bool all_written_are() const;

private:
  enum Kind : std::uint8_t { none, address, generic, several };
  /// Who makes what of which operands.
  struct Rule {
    Kind made = none;
    std::vector<Kind> from;
    std::string opcodes; ///< with blanks around each
  };
  static std::vector<Rule> rules_of(StateSpace space);

  /// What is among operands and their parts.
  Kind mentioned(std::span<const Operand> operands) const;
  /// What an operand is as a whole.
  Kind kind_of(const Operand &operand) const;
  /// What an instruction gives its one result.
  Kind made_by(const Instruction &instruction) const;

  const Module &module_;
  const Function &kernel_;
  const StateSpace space_;
  const std::vector<Rule> rules_;
  std::vector<Kind> holds_; ///< by register
};

} // namespace ptxasw::facts
