// Lists the accesses to global memory in a PTX file that move more sectors than they need:
//   list_accesses FILE.ptx [THREADS]     for blocks of that many threads in a row, 256 if not given
#include "emulator/facts/kernel_facts.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace ptxasw;
using namespace ptxasw::emulator;

int main(int argc, char **argv) {
  std::ifstream file(argc > 1 ? argv[1] : "");
  if (!file) {
    std::cerr << "usage: list_accesses FILE.ptx [THREADS]\n";
    return 2;
  }
  std::ostringstream text;
  text << file.rdbuf();
  const auto parsed = parse(text.str(), argv[1]); // errors are values: a line and a caret
  if (!parsed) {
    std::cerr << format(parsed.error());
    return 1;
  }
  const Module &module = **parsed;
  facts::Assumptions assumptions;
  assumptions.block = BlockShape{argc > 2 ? static_cast<std::uint32_t>(std::atoi(argv[2])) : 256};
  assumptions.base_alignment = 256; // as cudaMalloc aligns
  for (const Function &function : module.functions) {
    if (!function.is_entry || !function.has_body)
      continue;
    const facts::KernelFacts facts(module, function, assumptions);
    for (const facts::Access &access : facts.accesses()) {
      const facts::Traffic &traffic = facts.traffic(access);
      if (access.space != StateSpace::global || traffic.sectors.most <= traffic.ideal_sectors)
        continue;
      const Instruction &instruction = function.instructions[access.site.instruction];
      std::cout << function.name << ", line " << instruction.line << ": "
                << module.opcode(instruction).text << " moves "
                << to_string(traffic.sectors.verdict) << " " << traffic.sectors.most
                << " sectors per warp, needs " << traffic.ideal_sectors << "\n";
    }
  }
}
