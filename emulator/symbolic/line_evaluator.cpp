// The line of the table is looked up once for each opcode. What has no line there, is not pure, has
// two results or uses the carry flag has no value here, and neither has what reads an operand
// without one.

#include "emulator/symbolic/line_evaluator.h"

#include "emulator/semantics/effects.h"

namespace ptxasw::emulator {

Expr LineEvaluator::operator()(const Instruction &instruction, const ValueOf &value) const {
  const Opcode &opcode = module_.opcode(instruction);
  const auto [found, is_new] = lines_.try_emplace(instruction.opcode, nullptr);
  if (is_new && is_pure(opcode))
    found->second = find_line<ExprPool>(opcode);
  const Line<ExprPool> *const line = found->second;
  if (!line)
    return nullptr;
  const Form form = decode(opcode);
  const auto operands = line_operands(module_, instruction, line->shape, form);
  if (!operands || operands->takes_carry || operands->gives_carry ||
      operands->destinations.size() != 1)
    return nullptr;
  std::vector<Expr> sources;
  for (std::size_t i = 0; i < operands->sources.size(); ++i) {
    sources.push_back(value(operands->sources[i], shape_width(operands->letters[i], form)));
    if (!sources.back())
      return nullptr;
  }
  return line->evaluate(pool_, form, sources);
}

} // namespace ptxasw::emulator
