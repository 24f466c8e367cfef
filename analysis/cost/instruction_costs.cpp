// PTX is not what runs: ptxas folds moves and address arithmetic into other instructions and
// expands divisions into a dozen. What it removes costs nothing here, what it expands costs what
// the whole was measured to cost.

#include "analysis/cost/instruction_costs.h"

namespace ptxasw::analysis::cost {
namespace {

constexpr double issue_slot = 0.25;

bool is_wide(const Opcode &opcode) { return opcode.type == ScalarType::f64; }

/// rate.divide and the like.
double cycles_of_division(const Opcode &opcode) {
  if (opcode.type == ScalarType::f64)
    return 8.07;
  if (is_float(opcode.type))
    return opcode.has(Modifier::approx) || opcode.has(Modifier::full) ? 2.25 : 3.75;
  return bit_width(opcode.type) == 64 ? 33.5 : 7.54;
}

} // namespace

PipeCycles cycles_of(const Opcode &opcode) {
  PipeCycles cycles;
  const Op op = opcode.op;
  if (is_one_of(op, {Op::mov, Op::cvta, Op::ret, Op::exit, Op::bra}) ||
      (op == Op::ld && opcode.space == StateSpace::param)) {
    cycles.issue = op == Op::bra ? issue_slot : 0;
    return cycles;
  }
  cycles.issue = issue_slot;
  if (op == Op::div || op == Op::rem) {
    cycles.issue = cycles_of_division(opcode);
  } else if (op == Op::sqrt || op == Op::rcp || op == Op::rsqrt) {
    if (opcode.has(Modifier::approx))
      cycles.special = 2.0;
    else
      cycles.issue = is_wide(opcode) ? 8.07 : 3.42;
  } else if (is_one_of(op, {Op::sin, Op::cos, Op::ex2, Op::lg2, Op::tanh})) {
    cycles.special = 2.0;
  } else if (op == Op::cvt) {
    const bool crosses = is_float(opcode.type) != is_float(opcode.second_type);
    cycles.special = crosses ? 1.0 : 0;
    // From one width of integers to another: part of what uses it.
    if (!crosses && !is_float(opcode.type))
      cycles.issue = 0;
  } else if ((op == Op::mul || op == Op::mad) && !is_float(opcode.type)) {
    cycles.integer = bit_width(opcode.type) == 64 ? 1.5 : 0.5;
  } else if (is_wide(opcode) && is_pure(opcode)) {
    cycles.wide = 0.5;
  }
  if (opcode.space == StateSpace::shared || op == Op::shfl)
    cycles.shared = 1.0;
  if (op == Op::bar || op == Op::barrier)
    cycles.issue = 4 * issue_slot;
  return cycles;
}

double latency_of(const Opcode &opcode) {
  const Op op = opcode.op;
  if (cycles_of(opcode).issue == 0)
    return 0;
  if (op == Op::div || op == Op::rem)
    return is_float(opcode.type) && !is_wide(opcode) ? 40 : 100;
  if (is_one_of(op, {Op::sqrt, Op::rcp, Op::rsqrt, Op::sin, Op::cos, Op::ex2, Op::lg2, Op::tanh}))
    return opcode.has(Modifier::approx) ? 17 : 40;
  if (opcode.space == StateSpace::shared)
    return 23.3;
  if (op == Op::shfl)
    return 24;
  if (op == Op::cvt && is_float(opcode.type) != is_float(opcode.second_type))
    return 12;
  return is_wide(opcode) ? 8.1 : 4.1;
}

} // namespace ptxasw::analysis::cost
