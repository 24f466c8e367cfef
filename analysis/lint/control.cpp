// Rules about loops: where lanes leave them, and what is slow in them.

#include "analysis/lint/lint.h"
#include "analysis/lint/private_data.h"
#include "analysis/lint/times.h"

#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace ptxasw::analysis::lint {

void find_divergent_loops(Context &context) {
  using facts::Parting;
  const facts::KernelFacts &facts = context.facts;
  std::optional<Times> times; // when it is needed
  for (const facts::Branch &branch : facts.branches()) {
    if (branch.leaves == no_index || branch.parting == Parting::never ||
        branch.parting == Parting::at_edge)
      continue;
    std::string message = "lanes of a warp leave this loop at different iterations", note;
    if (branch.parting == Parting::by_lane) {
      note = fmt::format("lanes {} and {} of warp {} part here", branch.lanes[0], branch.lanes[1],
                         branch.warp);
    } else if (branch.parting == Parting::by_launch) {
      if (!times)
        times.emplace(facts);
      if (times->left_together(branch.leaves, branch.block))
        continue;
      note = "what decides depends on the lane and on the launch";
    } else {
      // Not known to diverge: each lane decides for itself.
      if (!branch.condition || !PrivateData(facts)(branch.condition))
        continue;
      message = "each lane leaves this loop by its own data: the warp runs as long as its slowest";
      note = "what decides was loaded, or chosen by a branch, lane by lane";
    }
    note +=
        "; pieces of work sorted by length let lanes leave together, a warp for each piece (one "
        "lane per element) pays where pieces are long: measure";
    context.warnings.push_back(
        {Code::divergent_loop, branch.instruction, std::move(message), std::move(note)});
  }
}

namespace {

/// Outside of loops a division is done once, but a thread that does little else feels it: of the
/// indices of accesses, each division at the first that has it.
void find_divided_indices(Context &context) {
  std::set<Expr> seen;
  for (const facts::Access &access : context.facts.accesses()) {
    if (access.loop != no_index || !access.address ||
        (access.space != StateSpace::global && access.space != StateSpace::shared))
      continue;
    unsigned count = 0, width = 0;
    for_each_node(access.address, [&](Expr node) {
      const bool divides = node->kind == ExprKind::udiv || node->kind == ExprKind::urem ||
                           node->kind == ExprKind::sdiv || node->kind == ExprKind::srem;
      if (!divides || node->children[1]->kind == ExprKind::constant || !seen.insert(node).second)
        return;
      ++count;
      width = std::max<unsigned>(width, node->width);
    });
    if (count == 0)
      continue;
    const std::string what = count == 1 ? "a division, by a number that is no constant"
                                        : fmt::format("{} divisions, by numbers that are no "
                                                      "constants",
                                                      count);
    context.warnings.push_back(
        {Code::division, access.site.instruction,
         fmt::format("the index of this {} takes {}: some {} instructions{}",
                     facts::to_string(access.site.kind), what, width > 32 ? "hundred" : "twenty",
                     count == 1 ? "" : " each"),
         "launch a grid with an axis for each index, make the divisor a template parameter, or let "
         "the host work out a multiplier and a shift"});
  }
}

} // namespace

void find_divisions(Context &context) {
  const Function &function = context.facts.function();
  const ControlFlowGraph &cfg = context.facts.cfg();
  if (!cfg.well_formed())
    return;
  find_divided_indices(context);
  for (std::uint32_t i = 0; i < function.instructions.size(); ++i) {
    const Opcode &opcode = context.facts.module().opcode(function.instructions[i]);
    if ((opcode.op != Op::div && opcode.op != Op::rem) || is_float(opcode.type) ||
        cfg.loop_of(cfg.block_of(i)) == no_index)
      continue;
    const auto operands = context.facts.module().operands(function.instructions[i]);
    // By a constant it is a multiplication and a shift, by a power of two only this.
    if (operands.size() == 3 && operands[2].kind == Operand::Kind::integer)
      continue;
    const unsigned width = bit_width(opcode.type);
    const std::string what = fmt::format("a {}-bit {} in a loop", width,
                                         opcode.op == Op::div ? "division" : "remainder");
    if (width == 64)
      context.warnings.push_back(
          {Code::wide_index, i, what + ": some hundred instructions each",
           "use 32-bit indices where the range allows, step quotient and remainder along with the "
           "loop, or divide once before it"});
    else
      context.warnings.push_back(
          {Code::division, i,
           what + ", by a number that is no constant: some twenty instructions each",
           "step quotient and remainder along with the loop, divide once before it, make the "
           "divisor a template parameter, or let the host work out a multiplier and a shift"});
  }
}

} // namespace ptxasw::analysis::lint
