// PTX is not what runs: ptxas folds moves and address arithmetic into other instructions and
// expands divisions into a dozen. What it removes costs nothing here, what it expands costs what
// the whole was measured to cost.

#include "analysis/cost/instruction_costs.h"

namespace ptxasw::cost {
namespace {

constexpr double issue_slot = 0.25;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  for (const std::string_view other : names)
    if (name == other)
      return true;
  return false;
}

bool is_wide(const Opcode &opcode) { return opcode.type == ScalarType::f64; }

/// rate.divide and the like.
double cycles_of_division(const Opcode &opcode) {
  if (opcode.type == ScalarType::f64)
    return 8.07;
  if (is_float(opcode.type))
    return opcode.has("approx") || opcode.has("full") ? 2.25 : 3.75;
  return bit_width(opcode.type) == 64 ? 33.5 : 7.54;
}

} // namespace

PipeCycles cycles_of(const Opcode &opcode) {
  PipeCycles cycles;
  const std::string_view base = opcode.base;
  if (is_one_of(base, {"mov", "cvta", "ret", "exit", "bra"}) ||
      (base == "ld" && opcode.space == StateSpace::param)) {
    cycles.issue = base == "bra" ? issue_slot : 0;
    return cycles;
  }
  cycles.issue = issue_slot;
  if (base == "div" || base == "rem") {
    cycles.issue = cycles_of_division(opcode);
  } else if (base == "sqrt" || base == "rcp" || base == "rsqrt") {
    if (opcode.has("approx"))
      cycles.special = 2.0;
    else
      cycles.issue = is_wide(opcode) ? 8.07 : 3.42;
  } else if (is_one_of(base, {"sin", "cos", "ex2", "lg2", "tanh"})) {
    cycles.special = 2.0;
  } else if (base == "cvt") {
    const bool crosses = is_float(opcode.type) != is_float(opcode.second_type);
    cycles.special = crosses ? 1.0 : 0;
    // From one width of integers to another: part of what uses it.
    if (!crosses && !is_float(opcode.type))
      cycles.issue = 0;
  } else if ((base == "mul" || base == "mad") && !is_float(opcode.type)) {
    cycles.integer = bit_width(opcode.type) == 64 ? 1.5 : 0.5;
  } else if (is_wide(opcode) && is_pure(opcode)) {
    cycles.wide = 0.5;
  }
  if (opcode.space == StateSpace::shared || base == "shfl")
    cycles.shared = 1.0;
  if (base == "bar" || base == "barrier")
    cycles.issue = 4 * issue_slot;
  return cycles;
}

double latency_of(const Opcode &opcode) {
  const std::string_view base = opcode.base;
  if (cycles_of(opcode).issue == 0)
    return 0;
  if (base == "div" || base == "rem")
    return is_float(opcode.type) && !is_wide(opcode) ? 40 : 100;
  if (is_one_of(base, {"sqrt", "rcp", "rsqrt", "sin", "cos", "ex2", "lg2", "tanh"}))
    return opcode.has("approx") ? 17 : 40;
  if (opcode.space == StateSpace::shared)
    return 23.3;
  if (base == "shfl")
    return 24;
  if (base == "cvt" && is_float(opcode.type) != is_float(opcode.second_type))
    return 12;
  return is_wide(opcode) ? 8.1 : 4.1;
}

} // namespace ptxasw::cost
