// corpus_forms FILE: every opcode of a module, a line each; behind a tab why it is not emulated, of
// those that are decoded nowhere. One kernel may be decoded and another one not: both lines are
// printed.

#include "emulator/machine/warp_program.h"

#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <set>

int main(int argc, char **argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: corpus_forms FILE\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  const auto module =
      ptxasw::ptx::parse(std::string(std::istreambuf_iterator<char>(file), {}), argv[1]);
  if (!module) {
    fmt::print(stderr, "{}", ptxasw::ptx::format(module.error()));
    return 1;
  }
  const ptxasw::emulator::WarpProgram program(**module);
  std::set<std::pair<std::string, std::string>> lines;
  for (std::uint32_t i = 0; i < program.function_count(); ++i)
    for (const ptxasw::emulator::WarpInstruction &instruction : program.function(i).code)
      if (instruction.opcode)
        lines.emplace(instruction.opcode->text,
                      instruction.action == ptxasw::emulator::WarpAction::refused ? instruction.why
                                                                                  : "");
  for (const auto &[opcode, why] : lines)
    fmt::print("{}{}{}\n", opcode, why.empty() ? "" : "\t", why);
  return 0;
}
