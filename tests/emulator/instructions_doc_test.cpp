// docs/internals/instructions.md is what the table says. `cmake --build build --target
// docs-instructions` rewrites it.

#include "emulator/semantics/float_instructions.h"
#include "support.h"
#include "table.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <fstream>
#include <iterator>

using namespace ptxasw::test;
using namespace ptxasw::emulator_test;

namespace {

constexpr std::string_view head = R"(# Instructions that are modelled

Generated from the table in `emulator/semantics/instructions.h`; one line here is one line there. Both emulators
run it: the symbolic one on expressions, the warp emulator on numbers.

- *Types*: the first type of the opcode, one of these.
- *Modifiers*: those with a `+` must be there, the others may be. Of several types or comparisons one is
  chosen. An opcode with any other modifier is no case of this line.
- *Result and operands*: widths in bits; `type` is the width of the first type, `second` of the second
  one, `carry` the carry flag, which is read or written though no operand names it.

Whatever stands in no line is opaque: if the instruction is pure (floating point, video instructions)
its result is an unknown function of the opcode and its operands, otherwise it is a new unknown. An
opcode that is not known at all is taken to write any register and any memory it names.

## Integers, bits, movement

<!-- not measured: made of the instruction tables, and compared with them by tests/emulator -->
| instruction | types | modifiers | result = operands |
|---|---|---|---|
)";

constexpr std::string_view floating_head = R"(
## Floating point

From `emulator/semantics/float_instructions.h`. The warp emulator computes these; to the symbolic emulator each is
an unknown function of its operands, named by the whole opcode.

<!-- not measured: made of the instruction tables, and compared with them by tests/emulator -->
| instruction | types | modifiers | result = operands |
|---|---|---|---|
)";

std::string words_of(std::string_view list) {
  std::string result;
  for (const char c : list)
    result += c == ' ' ? std::string(", ") : std::string(1, c);
  return result;
}

std::string letter_text(char letter) {
  switch (letter) {
  case 'T':
    return "type";
  case 'S':
    return "second";
  case 'W':
    return "twice type";
  case 'U':
    return "32";
  case 'P':
    return "predicate";
  case 'C':
    return "carry";
  case 'K':
    return "type and carry";
  default:
    return std::string(1, letter);
  }
}

std::string shape_text(std::string_view shape) {
  std::string result = letter_text(shape[0]) + " = ";
  for (std::size_t i = 2; i < shape.size(); ++i)
    result += (i > 2 ? ", " : "") + letter_text(shape[i]);
  return result;
}

template <class AnyLine> std::string row(const AnyLine &line) {
  return fmt::format("| `{}` | {} | {} | {} |\n", line.base, words_of(line.types),
                     words_of(line.modifiers), shape_text(line.shape));
}

std::string page() {
  std::string text(head);
  for (const auto &line : instruction_table<ConcreteDomain>())
    text += row(line);
  text += floating_head;
  for (const auto &line : float_instruction_table<ConcreteDomain>())
    text += row(line);
  return text;
}

} // namespace

TEST_CASE("docs/internals/instructions.md is up to date") {
  const std::string path = SOURCE_DIR "/docs/internals/instructions.md";
  if (from_environment("PTXASW_WRITE_DOCS", 0) != 0)
    std::ofstream(path, std::ios::binary) << page();
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK_MESSAGE(text == page(), "build the target docs-instructions and commit the page");
}
