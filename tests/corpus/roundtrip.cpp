// roundtrip FILE...: every module parses, prints back byte for byte, and gives graphs with all
// branches resolved. Prints totals; names each module that fails.

#include "grammar/cfg.h"
#include "grammar/edits.h"
#include "grammar/liveness.h"
#include "grammar/roles.h"

#include <fmt/core.h>

#include <exception>
#include <fstream>
#include <map>
#include <sstream>

namespace {

struct Totals {
  std::size_t modules = 0, functions = 0, instructions = 0, opaque = 0, unknown = 0, untyped = 0;
  std::map<std::string, std::size_t> unknown_opcodes;
};

/// Empty if all is well.
std::string check(const char *path, Totals &totals) {
  using namespace ptxasw::test;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream stream;
  stream << file.rdbuf();
  const std::string text = stream.str();
  const auto parsed = parse(text, path);
  if (!parsed)
    return format(parsed.error());
  const Module &module = **parsed;
  Edits edits;
  for (const Function &function : module.functions) {
    ++totals.functions;
    for (const Instruction &instruction : function.instructions) {
      ++totals.instructions;
      totals.opaque += !instruction.well_formed;
      if (first_operand(module.opcode(instruction)) == FirstOperand::unknown) {
        ++totals.unknown;
        ++totals.unknown_opcodes[std::string(module.opcode(instruction).base)];
      }
      edits.replace(instruction.span, std::string(module.text(instruction.span)));
      // Every name that looks like a register is one, or one that PTX defines.
      for (const Operand &operand : module.operands(instruction))
        if (operand.kind == Operand::Kind::reg)
          totals.untyped += function.registers[operand.reg].type == ScalarType::none;
    }
    if (!function.has_body)
      continue;
    const ControlFlowGraph cfg(module, function);
    if (!cfg.well_formed())
      return fmt::format("{}: a branch of {} leads nowhere\n", path, function.name);
    const Liveness liveness(module, function, cfg);
  }
  ++totals.modules;
  return edits.apply(module.text()) == text ? "" : fmt::format("{}: printed differently\n", path);
}

} // namespace

int main(int argc, char **argv) {
  Totals totals;
  int failures = 0;
  for (int i = 1; i < argc; ++i) {
    std::string failure;
    try {
      failure = check(argv[i], totals);
    } catch (const std::exception &error) {
      failure = fmt::format("{}: exception: {}\n", argv[i], error.what());
    }
    if (!failure.empty()) {
      ++failures;
      fmt::print(stderr, "{}", failure);
    }
  }
  fmt::print(
      "{} modules parsed and printed, {} failed: {} functions, {} instructions, {} opaque, {} "
      "of unknown roles",
      totals.modules, failures, totals.functions, totals.instructions, totals.opaque,
      totals.unknown);
  for (const auto &[opcode, count] : totals.unknown_opcodes)
    fmt::print(", {} {}", count, opcode);
  fmt::print("\n");
  return failures != 0 || totals.untyped != 0;
}
