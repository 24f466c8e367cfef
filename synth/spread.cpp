// Blocks may run in any order, so K of them may run in one, step by step, if they do not see each
// other and if each step of a copy means what it meant in the kernel:
//
//   - nothing ties threads or blocks together (analysis/independence.h, `blocks_independent`): no
//     atomics whose result is used, nothing ordered or volatile, no fences, no barriers, no
//     collectives;
//   - no instruction asks the machine where it runs (lane, warp, multiprocessor, clock), or relies
//     on which threads are a warp (`ldu`);
//   - the copies need no room of their own: no shared or local memory, no parameters of calls;
//   - all state is in registers that can be renamed: no carry flag, no vector registers;
//   - no thread waits in a loop for another one, which might be the same one then
//     (waiting_obstacle()).
//
// Where blocks stay whole, copy k being a block with all its threads, these may wait for each other
// and the lanes of its warps may exchange what they have, where all of them come alike
// (emulator/facts/meeting.cpp). That shared memory may be in other places is for the family to
// show.
//
// What is not known is in the way.

#include "synth/spread.h"

#include "analysis/independence.h"
#include "emulator/semantics/effects.h"
#include "emulator/semantics/one_value.h"
#include "grammar/next.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace ptxasw::inline synth {
namespace {

constexpr std::size_t most_instructions = 20'000;
/// Bytes of parameters that a kernel may have for every target (PTX ISA 7.1).
constexpr std::uint64_t parameter_bytes = 4352;

namespace refusal {
constexpr Refusal version{"version", "PTX before 3.0, in which functions may share registers"};
constexpr Refusal control_flow{"control-flow", "the target of a branch is unknown"};
constexpr Refusal cluster{"cluster", "the kernel is made for clusters of blocks"};
constexpr Refusal shared_memory{"shared-memory", "each block needs shared memory of its own"};
constexpr Refusal local_memory{"local-memory", "each thread needs local memory of its own"};
constexpr Refusal variable{"variable", "the kernel has variables of its own"};
constexpr Refusal barrier{"barrier", "threads of a block wait for each other"};
constexpr Refusal uneven{
    "barrier", "threads of a block may come to a barrier by different ways, or some not at all"};
constexpr Refusal warp{"warp-collective", "lanes of a warp work together"};
constexpr Refusal uneven_warp{
    "warp-collective",
    "lanes of a warp may come to what they do together by different ways, or some not at all"};
constexpr Refusal agreement{"uniform-load",
                            "a load for which lanes of a warp must have one address"};
constexpr Refusal special{"special-register",
                          "what it reads depends on where and when a block runs"};
constexpr Refusal atomic{"atomic", "the result of an atomic operation is used, or might be"};
constexpr Refusal ordered{
    "ordered-access", "a volatile or ordered access, or a fence: blocks may wait for each other"};
constexpr Refusal pragma{"pragma", "a pragma that is not known"};
constexpr Refusal depend{"blocks-depend", "blocks may depend on each other"};
constexpr Refusal parameters{"parameters", "there is no room for another parameter"};
} // namespace refusal

bool is_index(std::string_view name) {
  for (const std::string_view known : {"%tid.", "%ntid.", "%ctaid.", "%nctaid."})
    if (name.size() == known.size() + 1 && name.starts_with(known) && name.back() >= 'x' &&
        name.back() <= 'z')
      return true;
  return name == "WARP_SZ";
}

std::optional<Refusal> operand_obstacle(const Module &module, std::span<const Operand> operands,
                                        Blocks blocks) {
  for (const Operand &operand : operands) {
    if (operand.kind == Operand::Kind::other || operand.kind == Operand::Kind::group)
      return refusals::unknown_instruction;
    if (operand.kind == Operand::Kind::special && !is_index(module.text(operand.span)))
      return refusal::special;
    if (operand.kind == Operand::Kind::symbol) {
      const Symbol &symbol = module.symbol(operand);
      const Variable *variable = module.variable(symbol);
      if (blocks == Blocks::whole && variable && variable->space == StateSpace::shared)
        continue; // rooms.cpp
      if (symbol.kind == Symbol::Kind::function_variable)
        return refusal::variable;
      if (!variable)
        return refusals::unknown_instruction;
      if (variable->space == StateSpace::shared)
        return refusal::shared_memory;
      if (variable->space == StateSpace::local)
        return refusal::local_memory;
    }
    if (const auto inner = operand_obstacle(module, module.children(operand), blocks))
      return inner;
  }
  return std::nullopt;
}

std::optional<Refusal> instruction_obstacle(const Module &module, const Function &kernel,
                                            const Instruction &instruction, Blocks blocks) {
  const Opcode &opcode = module.opcode(instruction);
  const Op op = opcode.op;
  if (blocks == Blocks::whole && facts::is_barrier_of_all(module, instruction))
    return std::nullopt;
  if (blocks == Blocks::whole && facts::is_meeting_of_warp(module, instruction))
    return operand_obstacle(module, module.operands(instruction), blocks);
  if (op == Op::bar || op == Op::barrier)
    return opcode.has(Modifier::warp) ? refusal::warp : refusal::barrier;
  if (op == Op::shfl || op == Op::vote || op == Op::match || op == Op::redux || op == Op::elect ||
      op == Op::activemask)
    return refusal::warp;
  if (op == Op::atom)
    return refusal::atomic;
  if (op == Op::fence || op == Op::membar)
    return refusal::ordered;
  if (op == Op::call)
    return refusals::call;
  if (op == Op::brx)
    return refusals::branch_table;
  if (op == Op::bra)
    return branch_target(module, kernel, instruction) ? std::nullopt
                                                      : std::optional(refusal::control_flow);
  if (returns(opcode))
    return std::nullopt;
  const bool in_shared = opcode.space == StateSpace::shared;
  if (opcode.space == StateSpace::local)
    return refusal::local_memory;
  if (uses_carry(opcode))
    return refusals::carry_flag;
  if (op == Op::ldu)
    return refusal::agreement;
  const bool access = op == Op::ld || op == Op::st;
  if (access && effect_of(opcode) == Effect::sync)
    return refusal::ordered;
  if (access && op == Op::st && opcode.space == StateSpace::param)
    return refusals::unknown_instruction;
  if (in_shared && op == Op::red && !leaves_global_alone(opcode))
    return refusal::ordered;
  const bool known = is_pure(opcode) || access || op == Op::red || op == Op::prefetch ||
                     op == Op::prefetchu || op == Op::isspacep;
  if (!instruction.well_formed || !known)
    return refusals::unknown_instruction;
  if (in_shared && blocks != Blocks::whole)
    return refusal::shared_memory;
  return operand_obstacle(module, module.operands(instruction), blocks);
}

/// What a `.param` variable of a body is there for: a function that is called gets its arguments
/// so.
Refusal call_obstacle(const Module &module, const Function &kernel) {
  for (const Instruction &instruction : kernel.instructions)
    if (module.opcode(instruction).op == Op::call)
      return refusals::call.at(instruction.line);
  return refusal::variable;
}

std::optional<Refusal> header_obstacle(const Module &module, const Function &kernel,
                                       Blocks blocks) {
  if (const auto obstacle = module_obstacle(module, kernel))
    return obstacle;
  if (module.address_size != 64)
    return refusals::address_size;
  if (module.version_major < 3)
    return refusal::version;
  for (const PerformanceDirective &directive : kernel.directives)
    if (directive.name.find("cluster") != std::string_view::npos)
      return refusal::cluster;
  std::uint64_t bytes = 64; // what alignment may take, and the new one
  for (const Variable &parameter : kernel.parameters)
    bytes += parameter.size() + 8;
  if (bytes > parameter_bytes)
    return refusal::parameters;
  for (const Variable &variable : kernel.variables)
    if (variable.space != StateSpace::shared || blocks != Blocks::whole)
      return variable.space == StateSpace::shared  ? refusal::shared_memory
             : variable.space == StateSpace::local ? refusal::local_memory
             : variable.space == StateSpace::param ? call_obstacle(module, kernel)
                                                   : refusal::variable;
  for (const Register &reg : kernel.registers) {
    const unsigned width = bit_width(reg.type);
    if (reg.vector != 1 || (width != 1 && width != 16 && width != 32 && width != 64))
      return refusals::register_type;
  }
  for (const Pragma &pragma : kernel.pragmas)
    if (pragma.text != "nounroll" && !pragma.text.starts_with("used_bytes_mask"))
      return refusal::pragma;
  if (kernel.instructions.size() > most_instructions)
    return refusals::too_large;
  return std::nullopt;
}

std::optional<Refusal> find_obstacle(const KernelContext &context, Blocks blocks) {
  const auto &[module, kernel] = std::tie(context.module, context.kernel);
  if (const auto obstacle = header_obstacle(module, kernel, blocks))
    return obstacle;
  for (const Instruction &instruction : kernel.instructions)
    if (const auto obstacle = instruction_obstacle(module, kernel, instruction, blocks))
      return obstacle->at(instruction.line);
  if (!context.cfg().well_formed())
    return refusal::control_flow;
  if (blocks == Blocks::whole)
    if (const auto barrier = meetings_of(context).uneven()) {
      const Instruction &met = kernel.instructions[*barrier];
      return (facts::is_meeting_of_warp(module, met) ? refusal::uneven_warp : refusal::uneven)
          .at(met.line);
    }
  if (!blocks_independent(module, kernel))
    return refusal::depend;
  return waiting_obstacle(module, kernel);
}

} // namespace

std::optional<Refusal> spread_obstacle(const KernelContext &context, Blocks blocks) {
  return context.once(blocks == Blocks::whole ? "whole blocks" : "spread blocks",
                      [&] { return find_obstacle(context, blocks); });
}

bool may_be_spread(const KernelContext &context) {
  return !context.kernel.directive("reqntid") &&
         context.once("spread", [&] { return independence(context.module, context.kernel); })
             .threads_independent;
}

const facts::Meetings &meetings_of(const KernelContext &context) {
  return context.once("", [&] { return facts::Meetings(context.module, context.kernel); });
}

} // namespace ptxasw::synth
