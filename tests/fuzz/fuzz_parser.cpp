// Any bytes at all: the parser accepts or refuses them, and what it accepts it prints back, with
// spans inside the text and graphs that can be built.

#include "grammar/cfg.h"
#include "grammar/edits.h"
#include "grammar/liveness.h"
#include "grammar/roles.h"

#include <cstdlib>

namespace {

using namespace ptxasw::test;

void require(bool condition) {
  if (!condition)
    std::abort();
}

void check(const Module &module, const Function &function, const Operand &operand) {
  require(operand.span.begin <= operand.span.end && operand.span.end <= module.text().size());
  if (operand.kind == Operand::Kind::reg)
    require(operand.reg < function.registers.size());
  for (const Operand &child : module.children(operand))
    check(module, function, child);
}

void check(const Module &module) {
  Edits edits;
  std::uint32_t end = 0;
  for (const Function &function : module.functions) {
    for (const Instruction &instruction : function.instructions) {
      require(instruction.span.begin >= end && instruction.span.begin < instruction.span.end);
      end = instruction.span.end;
      edits.replace(instruction.span, std::string(module.text(instruction.span)));
      require(instruction.scope < function.scopes.size());
      for (const Operand &operand : module.operands(instruction))
        check(module, function, operand);
      for_each_register(module, instruction, [&](RegisterId reg, RegisterUse) {
        require(reg < function.registers.size());
      });
    }
    for (const Label &label : function.labels)
      require(label.position <= function.instructions.size());
    if (function.has_body) {
      const ControlFlowGraph cfg(module, function);
      const Liveness liveness(module, function, cfg);
    }
  }
  require(end <= module.text().size());
  require(edits.apply(module.text()) == module.text());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  const auto module = parse(std::string(reinterpret_cast<const char *>(data), size), "fuzz.ptx");
  if (module)
    check(**module);
  else
    require(!format(module.error()).empty());
  return 0;
}
