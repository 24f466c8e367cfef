// An estimate, and it decides nothing but when a version is tried (wrapper/launch/risk.cpp). The
// prices are those of the cost model. How often loops go round is not known; it is the same number
// for a kernel and for its versions, so that texts are compared only if they have as many loops: a
// version that does several iterations in one has more, of which one does what is left over.
//
// Of ways that part those count on which all results are stored and loops are run, and of these the
// cheapest: a version that runs copies of the kernel together has ways on which they run one by
// one, and both do the same work. What all lanes of a warp load from one address is moved once.

#include "wrapper/faster/work.h"

#include "analysis/cost/instruction_costs.h"
#include "grammar/cfg.h"
#include "grammar/roles.h"
#include "synth/same_launch.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ptxasw::wrapper::faster {
namespace {

constexpr double rounds = 8, lanes = 32;

/// The registers that may hold another number in each lane of a warp, by how they are computed.
std::vector<bool> differing_registers(const Module &module, const Function &function) {
  std::vector<bool> differs(function.registers.size(), false);
  const auto is_own = [&](const Operand &operand) {
    const std::string_view text = module.text(operand.span);
    return operand.kind == Operand::Kind::special &&
           (text.starts_with("%tid") || text.starts_with("%laneid"));
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Instruction &instruction : function.instructions) {
      const std::vector<RegisterId> read = read_registers(module, instruction);
      const Op op = module.opcode(instruction).op;
      if (op != Op::atom && !any_operand(module, module.operands(instruction), is_own) &&
          std::none_of(read.begin(), read.end(), [&](RegisterId one) { return differs[one]; }))
        continue;
      for (const RegisterId one : written_registers(module, instruction)) {
        changed = changed || !differs[one];
        differs[one] = true;
      }
    }
  }
  return differs;
}

/// What a warp moves to or from global memory.
double moved_by(const Module &module, const Instruction &instruction,
                const std::vector<bool> &differs) {
  const Opcode &opcode = module.opcode(instruction);
  const auto operands = module.operands(instruction);
  if (opcode.text.starts_with("cp.async"))
    return 16 * lanes; // at most
  const bool loads = opcode.op == Op::ld || opcode.op == Op::ldu;
  if ((!loads && opcode.op != Op::st && opcode.op != Op::atom && opcode.op != Op::red) ||
      (opcode.space != StateSpace::global && opcode.space != StateSpace::generic) ||
      operands.size() < 2)
    return 0;
  const Operand &value = loads ? operands[0] : operands[1];
  const double words = value.kind == Operand::Kind::vector ? value.child_count : 1;
  const bool is_one_place =
      loads && !any_operand(module, operands.subspan(1, 1), [&](const Operand &operand) {
        return operand.kind == Operand::Kind::reg && differs[operand.reg];
      });
  return words * bit_width(opcode.type) / 8 * (is_one_place ? 1 : lanes);
}

/// Returns true if one way stores more than another, or as much and passes no loop by, or as much
/// as that for less.
bool is_better(const TextWork &one, const TextWork &other) {
  return one.stored != other.stored       ? one.stored > other.stored
         : one.in_loops != other.in_loops ? one.in_loops > other.in_loops
                                          : one.cycles < other.cycles;
}

} // namespace

std::optional<TextWork> work_of(const Module &module, const Function &function) {
  const ControlFlowGraph graph(module, function);
  if (!graph.well_formed() || function.instructions.empty())
    return std::nullopt;
  const std::vector<bool> differs = differing_registers(module, function);
  std::vector<TextWork> until(graph.blocks().size());
  TextWork most;
  for (const BlockId id : graph.reverse_postorder()) {
    const BasicBlock &block = graph.blocks()[id];
    TextWork &work = until[id];
    bool is_first = true;
    for (const BlockId before : block.predecessors)
      if (graph.reachable(before) && graph.order_of(before) < graph.order_of(id) &&
          (std::exchange(is_first, false) || is_better(until[before], work)))
        work = until[before];
    double times = 1;
    for (LoopId loop = graph.loop_of(id); loop != no_index; loop = graph.loops()[loop].parent)
      times *= rounds;
    analysis::cost::PipeCycles cycles;
    for (std::uint32_t i = block.first; i < block.end; ++i) {
      const Instruction &instruction = function.instructions[i];
      const Opcode &opcode = module.opcode(instruction);
      if (opcode.op == Op::call || !instruction.well_formed)
        return std::nullopt;
      const double moved = times * moved_by(module, instruction, differs);
      cycles += analysis::cost::cycles_of(opcode);
      work.bytes += moved;
      work.stored += is_one_of(opcode.op, {Op::st, Op::atom, Op::red}) ? moved : 0;
    }
    const double busy = times * std::max({cycles.issue, cycles.integer, cycles.wide, cycles.special,
                                          cycles.shared});
    work.cycles += busy;
    work.in_loops += graph.loop_of(id) == no_index ? 0 : busy;
    if (block.successors.empty() && (most.cycles == 0 || is_better(work, most)))
      most = work;
  }
  most.loops = graph.loops().size();
  return most;
}

launch::AnswerWork compare_work(const std::optional<TextWork> &kernel, const Module &versions,
                                const SiblingTable &table) {
  launch::AnswerWork result;
  if (!kernel || kernel->cycles <= 0)
    return result;
  result.cycles_per_byte = kernel->cycles / std::max(kernel->bytes, 1.0);
  for (const Sibling &sibling : table.siblings) {
    const Function *const function = kernel_named(versions, sibling.name);
    if (!function)
      continue;
    double threads = 1; // of the kernel's, whose work one thread does
    for (std::size_t axis = 0; axis < 3; ++axis)
      threads *= static_cast<double>(sibling.grid[axis]) * sibling.block[axis];
    const auto work = work_of(versions, *function);
    if (work && work->loops == kernel->loops)
      result.times.emplace_back(sibling.name, work->cycles / (threads * kernel->cycles));
  }
  return result;
}

} // namespace ptxasw::wrapper::faster
