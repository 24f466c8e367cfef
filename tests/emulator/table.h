#pragma once

#include "emulator/semantics/concrete.h"
#include "emulator/semantics/instructions.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::emulator_test {

/// One way to write an instruction: a line of the table with types and modifiers chosen.
struct Spelling {
  std::string text; ///< `mad.lo.cc.u32`
  std::string base;
  std::vector<std::string> modifiers; ///< without the types
  std::string type, second;           ///< types, `second` may be empty
  std::size_t line = 0;               ///< index in the table
  const Opcode *opcode = nullptr;     ///< lives as long as the program

  bool has(std::string_view modifier) const;
};

/// The words of a list with blanks in between, such as a line's types and modifiers.
std::vector<std::string> words(std::string_view list);

/// Every spelling that the table admits and PTX allows.
const std::vector<Spelling> &spellings();

/// Random operands of a spelling, as its shape wants them; the carry flag last if it reads it.
std::vector<ConcreteDomain::Value> random_operands(const Spelling &spelling, const Form &form,
                                                   class Random &random);

/// What the PTX ISA says an instruction gives.
struct Expected {
  std::uint64_t value = 0;
  unsigned width = 0;
  std::optional<bool> carry; ///< if the instruction writes the carry flag
};

/// The manual's text in plain C++, apart from the table and all that it uses. Nothing where the
/// manual leaves the result open, or beyond integers of 64 bits.
std::optional<Expected> oracle(const Spelling &spelling,
                               const std::vector<ConcreteDomain::Value> &operands);

} // namespace ptxasw::emulator_test
