// Blocks may run in any order, so K of them may run in one, step by step, if they do not see each
// other and if each step of a copy means what it meant in the kernel:
//
//   - nothing ties threads or blocks together (analysis/independence.h, `blocks_independent`): no
//     atomics whose result is used, no kinds of them whose order matters, nothing ordered or
//     volatile, no fences, no barriers, no collectives;
//   - no instruction asks the machine where it runs (lane, warp, multiprocessor, clock), or relies
//     on which threads are a warp (`ldu`);
//   - the copies need no room of their own: no shared or local memory, no parameters of calls;
//   - all state is in registers that can be renamed: no carry flag, no vector registers;
//   - no thread waits in a loop for another one, which might be the same one then
//     (waiting_obstacle());
//   - nothing is called. Where blocks stay whole, what calls.h understands may be. The address of a
//     function is one number, which is no place of an access.
//
// What is read through a texture or a surface is not written while the kernel runs (CUDA C++
// Programming Guide, "Texture and Surface Memory": the cache is not kept coherent with stores to
// either by the same grid, and such a read is undefined), so it is a load; what is written through
// a surface is a store. A copy that ends later (`cp.async`) is one of a thread to its block's
// shared memory, which waits for its own. `griddepcontrol` is about other grids.
//
// Where blocks stay whole, copy k being a block with all its threads, these may wait for each other
// and the lanes of its warps may exchange what they have, where all of them come alike
// (emulator/facts/convergence_points.cpp). That shared and local memory may be in other places is
// for the family to show. A copy does all that its block's threads do, in their order. So relaxed
// atomics may tell what was there before: that is what they tell in one of the orders in which
// blocks may come, on which no program may rely. What is relaxed among the threads of a block is so
// among those of one copy. A copy does each such access by itself, since nothing here takes one for
// what computes alike or for a weak access.
//
// What is not known is in the way.

#include "synth/spread.h"

#include "analysis/call_groups.h"
#include "analysis/independence.h"
#include "emulator/facts/global_index.h"
#include "emulator/facts/unread.h"
#include "emulator/semantics/effects.h"
#include "emulator/semantics/one_value.h"
#include "grammar/code_writer.h"
#include "grammar/next.h"
#include "synth/same_launch.h"

#include <algorithm>
#include <fmt/core.h>
#include <span>

namespace ptxasw::synth {
namespace {

constexpr std::size_t most_instructions = 20'000;
/// Bytes of parameters that a kernel may have for every target (PTX ISA 7.1).
constexpr std::uint64_t parameter_bytes = 4352;

namespace refusal {
constexpr Refusal block_fixed{"block-fixed", "the kernel says which shape its blocks have"};
constexpr Refusal lanes_agree{"lanes-agree",
                              "lanes of a warp must agree on a branch, and warps become others"};
constexpr Refusal threads_meet{"blocks-depend", "threads of a block may depend on each other"};
constexpr Refusal not_used{"axis-unused",
                           "the kernel does not ask where its threads are along this axis"};
constexpr Refusal version{"version", "PTX before 3.0, in which functions may share registers"};
constexpr Refusal control_flow{"control-flow", "the target of a branch is unknown"};
constexpr Refusal cluster{"cluster", "the kernel is made for clusters of blocks"};
constexpr Refusal generic_shared{"shared-address",
                                 "a generic address of shared memory may be of any variable"};
constexpr Refusal shared_memory{"shared-memory", "each block needs shared memory of its own"};
constexpr Refusal local_memory{"local-memory", "each thread needs local memory of its own"};
constexpr Refusal variable{"variable", "the kernel has variables of its own"};
constexpr Refusal barrier_in_memory{
    "barrier", "a barrier in memory, which counts threads, or bytes, of one block"};
constexpr Refusal barrier{"barrier", "threads of a block wait for each other"};
constexpr Refusal uneven{
    "barrier", "threads of a block may come to a barrier by different ways, or some not at all"};
constexpr Refusal warp{"warp-collective", "lanes of a warp work together"};
constexpr Refusal uneven_warp{
    "warp-collective",
    "lanes of a warp may come to what they do together by different ways, or some not at all"};
constexpr Refusal warps{"warp-collective",
                        "several warps work together, or in memory of the tensor cores"};
constexpr Refusal moved{"registers-moved", "the kernel moves registers between warps itself"};
constexpr Refusal agreement{"uniform-load",
                            "a load for which lanes of a warp must have one address"};
constexpr Refusal special{"special-register",
                          "what it reads depends on where and when a block runs"};
constexpr Refusal atomic{"atomic", "the result of an atomic operation is used, or might be"};
constexpr Refusal surface_reduction{"atomic", "a reduction in a surface"};
constexpr Refusal grids{"ordered-access",
                        "what grids wait for each other by, in some threads alone, or where blocks "
                        "do not stay whole"};
constexpr Refusal sleeps{"waits", "the thread sleeps, as those do that wait for others"};
constexpr Refusal stack{"local-memory", "the thread's stack grows as it runs"};
constexpr Refusal copy{
    "async-copy", "what ends later is a copy in bulk, or tells a barrier in memory of its end"};
constexpr Refusal stops{"trap", "the launch may end, or stop for a debugger, in its midst"};
constexpr Refusal ordered{
    "ordered-access", "a volatile or ordered access, or a fence: blocks may wait for each other"};
constexpr Refusal pragma{"pragma", "a pragma that is not known"};
constexpr Refusal depend{"blocks-depend", "blocks may depend on each other"};
constexpr Refusal parameters{"parameters", "there is no room for another parameter"};
} // namespace refusal

bool is_index(std::string_view name) {
  const bool of_axis =
      name.size() > 2 && name[name.size() - 2] == '.' && name.back() >= 'x' && name.back() <= 'z';
  return name == "WARP_SZ" || (of_axis && scope_of(name));
}

/// Returns true if a special register says which lane of its warp a thread is. In a block that
/// stays whole it is what it was: warps are made of threads in the order of their indices, and
/// these and the block's extents are the kernel's. Which warp it is, the machine may change (PTX
/// ISA 10.4).
bool is_lane(std::string_view name) { return name == "%laneid" || name.starts_with("%lanemask_"); }

bool is_of_cluster(std::string_view special) {
  return special.find("cluster") != std::string_view::npos;
}

/// Why instructions are in the way by themselves: wherever they stand, or where not all lanes of a
/// warp meet, and whatever they are given.
struct InTheWay {
  Refusal refusal;
  bool everywhere;
  std::initializer_list<Op> ops;
};
constexpr InTheWay in_the_way[] = {
    {refusal::warps, true, {Op::wgmma, Op::tcgen05}},
    {refusal::moved, true, {Op::setmaxnreg}},
    {refusal::cluster, true, {Op::mapa, Op::getctarank}},
    {refusal::depend, true, {Op::clusterlaunchcontrol}}, // in the place of a block not begun
    {refusal::barrier_in_memory, true, {Op::mbarrier}},
    {refusal::surface_reduction, true, {Op::sured}},
    {refusal::sleeps, true, {Op::nanosleep}},
    {refusal::stops, true, {Op::trap, Op::brkpt}},
    {refusal::stack, true, {Op::alloca, Op::stacksave, Op::stackrestore}},
    {refusal::warp,
     false,
     {Op::shfl, Op::vote, Op::match, Op::redux, Op::elect, Op::activemask, Op::mma, Op::wmma,
      Op::ldmatrix, Op::stmatrix, Op::movmatrix}},
    {refusal::ordered, false, {Op::fence, Op::membar}},
    {refusals::call, false, {Op::call}},
    {refusals::branch_table, false, {Op::brx}},
    {refusal::agreement, false, {Op::ldu}},
};

/// Finds what keeps a kernel from being spread.
class ObstacleFinder : OfKernel {
public:
  ObstacleFinder(const KernelContext &context, Blocks blocks)
      : OfKernel(context), whole_(blocks == Blocks::whole) {}

  std::vector<Refusal> find() {
    if (const auto obstacle = module_obstacle(module_, kernel_))
      return {*obstacle};
    if (count() > most_instructions)
      return {refusals::too_large};
    calls_ = whole_ && !calls_of(context_).unknown ? &calls_of(context_) : nullptr;
    meets_in_warp_ = facts::warp_convergence_points(module_, kernel_);
    unread_ = facts::unread_atomics(module_, kernel_);
    header_obstacles();
    for (std::uint32_t i = 0; i < count(); ++i)
      if (const auto obstacle = instruction_obstacle(i))
        add(obstacle->line == 0 ? obstacle->at(instruction(i).line) : *obstacle);
    if (!cfg().well_formed()) {
      add(refusal::control_flow);
      return all_;
    }
    if (whole_)
      if (const auto barrier = meetings_of(context_).uneven())
        add((meetings_of(context_).in_warp(*barrier) ? refusal::uneven_warp : refusal::uneven)
                .at(instruction(*barrier).line));
    // Says nothing of its own about what is refused above.
    if (all_.empty() && !blocks_independent(context_, whole_))
      add(refusal::depend);
    if (const auto waits = waiting_obstacle(context_))
      add(*waits);
    return all_;
  }

private:
  void add(const Refusal &one) { add_kind(all_, one); }

  /// What a `.param` variable of a body is there for: a function that is called gets its arguments
  /// so, and gives its result.
  Refusal call_obstacle() const {
    for (std::uint32_t i = 0; i < count(); ++i)
      if (opcode(i).op == Op::call)
        return refusals::call.at(instruction(i).line);
    return refusal::variable;
  }

  /// What is in the way of a variable that the kernel has for itself.
  Refusal variable_obstacle(const Variable &variable) const {
    return variable.space == StateSpace::shared  ? refusal::shared_memory
           : variable.space == StateSpace::local ? refusal::local_memory
           : variable.space == StateSpace::param ? call_obstacle()
                                                 : refusal::variable;
  }

  std::optional<Refusal> operand_obstacle(std::span<const Operand> operands) const {
    for (const Operand &operand : operands) {
      if (operand.kind == Operand::Kind::other || operand.kind == Operand::Kind::group)
        return refusals::unknown_instruction;
      if (operand.kind == Operand::Kind::special && !is_index(module_.text(operand.span)) &&
          (!whole_ || !is_lane(module_.text(operand.span))))
        return is_of_cluster(module_.text(operand.span)) ? refusal::cluster : refusal::special;
      if (operand.kind == Operand::Kind::symbol) {
        const Symbol &symbol = module_.symbol(operand);
        const Variable *variable = module_.variable(symbol);
        if (!variable)
          return refusals::unknown_instruction;
        const bool is_room =
            variable->space == StateSpace::shared || variable->space == StateSpace::local;
        if (whole_ && is_room)
          continue; // allocations.cpp
        if (is_room || symbol.kind == Symbol::Kind::function_variable)
          return variable_obstacle(*variable);
      }
      if (const auto inner = operand_obstacle(module_.children(operand)))
        return inner;
    }
    return std::nullopt;
  }

  /// `[surface, {x, y}]` is a place, whose parts are operands like others; a texture by its name is
  /// a variable of the module.
  std::optional<Refusal> texture_obstacle(std::uint32_t at) const {
    for (const Operand &operand : operands(at))
      if (const auto obstacle =
              operand_obstacle(operand.kind == Operand::Kind::other ? module_.children(operand)
                                                                    : std::span(&operand, 1)))
        return obstacle;
    return std::nullopt;
  }

  /// Returns true if an instruction takes a function's address. That is one number for all copies;
  /// who calls by it is refused.
  bool takes_function(std::uint32_t at) const {
    return opcode(at).op == Op::mov && operands(at).size() == 2 &&
           operands(at)[0].kind == Operand::Kind::reg &&
           operands(at)[1].kind == Operand::Kind::symbol &&
           module_.symbol(operands(at)[1]).kind == Symbol::Kind::function;
  }

  std::optional<Refusal> instruction_obstacle(std::uint32_t at) const {
    const Instruction &one = instruction(at);
    const Opcode &opcode = module_.opcode(one);
    const Op op = opcode.op;
    if (whole_ && facts::is_barrier_of_all(module_, one))
      return std::nullopt;
    if (calls_ && calls_->of(at))
      return std::nullopt;
    const bool is_barrier = op == Op::bar || op == Op::barrier;
    if (is_barrier && opcode.has(Modifier::cluster))
      return refusal::cluster;
    if (op == Op::cp && !leaves_global_alone(opcode))
      return refusal::copy;
    const bool meets = whole_ && meets_in_warp_[at];
    for (const InTheWay &one : in_the_way)
      if ((one.everywhere || !meets) && is_one_of(op, one.ops))
        return one.refusal;
    if (meets)
      return operand_obstacle(operands(at));
    if (is_barrier)
      return opcode.has(Modifier::warp) ? refusal::warp : refusal::barrier;
    const bool reduces =
        op == Op::red || unread_[at] || (whole_ && facts::is_relaxed_atomic(opcode));
    if ((op == Op::red || op == Op::atom) &&
        (opcode.has(Modifier::volatile_) || opcode.has(Modifier::acquire) ||
         opcode.has(Modifier::release) || opcode.has(Modifier::acq_rel) ||
         opcode.has(Modifier::async)))
      return refusal::ordered;
    if (op == Op::atom && !reduces)
      return refusal::atomic;
    if (op == Op::bra)
      return branch_target(module_, kernel_, one) ? std::nullopt
                                                  : std::optional(refusal::control_flow);
    if (returns(opcode))
      return std::nullopt;
    const bool in_shared = opcode.space == StateSpace::shared;
    if (opcode.space == StateSpace::local && !whole_)
      return refusal::local_memory;
    if (op == Op::cvta && in_shared && !whole_) // allocations.cpp
      return refusal::generic_shared;
    if (uses_carry(opcode))
      return refusals::carry_flag;
    const bool access = op == Op::ld || op == Op::st;
    if (access && effect_of(opcode) == Effect::sync && !(whole_ && is_relaxed_in_block(opcode)))
      return refusal::ordered;
    if (access && op == Op::st && opcode.space == StateSpace::param)
      return call_obstacle();
    if (in_shared && op == Op::red && !leaves_global_alone(opcode))
      return refusal::ordered;
    if (whole_ && one.well_formed &&
        is_one_of(op, {Op::tex, Op::tld4, Op::txq, Op::suld, Op::sust, Op::suq}))
      return texture_obstacle(at);
    if (one.well_formed && takes_function(at))
      return std::nullopt;
    if (op == Op::cp && !whole_)
      return refusal::shared_memory;
    if (op == Op::griddepcontrol && (!whole_ || one.guard != no_register))
      return refusal::grids;
    const bool known = is_pure(opcode) || access || reduces || op == Op::prefetch ||
                       op == Op::prefetchu || op == Op::isspacep || op == Op::griddepcontrol ||
                       op == Op::cp;
    if (!one.well_formed || !known)
      return refusals::unknown_instruction;
    if (in_shared && !whole_)
      return refusal::shared_memory;
    return operand_obstacle(operands(at));
  }

  /// Returns true if each copy may have a kernel's variable for itself.
  bool may_be_own(const Variable &variable) const {
    if (variable.space == StateSpace::param)
      return calls_ && variable.vector == 1;
    return whole_ && (variable.space == StateSpace::shared || variable.space == StateSpace::local);
  }

  void header_obstacles() {
    if (module_.address_size != 64)
      add(refusals::address_size);
    if (module_.version_major < 3)
      add(refusal::version);
    for (const PerformanceDirective &directive : kernel_.directives)
      if (directive.name.find("cluster") != std::string_view::npos)
        add(refusal::cluster);
    std::uint64_t bytes = 64; // what alignment may take, and the new one
    for (const Variable &parameter : kernel_.parameters)
      bytes += parameter.size() + 8;
    if (bytes > parameter_bytes)
      add(refusal::parameters);
    for (const Variable &variable : kernel_.variables)
      if (!may_be_own(variable))
        add(variable_obstacle(variable));
    if (!std::all_of(kernel_.registers.begin(), kernel_.registers.end(), can_be_copied))
      add(refusals::register_type);
    for (const Pragma &pragma : kernel_.pragmas)
      if (pragma.text != "nounroll" && !pragma.text.starts_with("used_bytes_mask"))
        add(refusal::pragma);
  }

  const bool whole_;                ///< blocks stay whole
  const Calls *calls_ = nullptr;    ///< null: none may be
  std::vector<bool> meets_in_warp_; ///< by instruction
  std::vector<bool> unread_;        ///< likewise: an atomic whose result nobody reads
  std::vector<Refusal> all_;
};

} // namespace

const std::vector<Refusal> &spread_obstacles(const KernelContext &context, Blocks blocks) {
  return context.once(blocks == Blocks::whole ? "whole blocks" : "spread blocks",
                      [&] { return ObstacleFinder(context, blocks).find(); });
}

std::optional<Refusal> spread_obstacle(const KernelContext &context, Blocks blocks) {
  const std::vector<Refusal> &all = spread_obstacles(context, blocks);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

bool may_be_spread(const KernelContext &context) {
  return !context.kernel.directive("reqntid") &&
         context.once("spread", [&] { return independence(context); }).threads_independent;
}

std::optional<Refusal> extent_obstacle(const KernelContext &context, char axis) {
  const auto &[module, kernel] = std::tie(context.module, context.kernel);
  if (const auto obstacle = spread_obstacle(context))
    return obstacle;
  if (kernel.directive("reqntid"))
    return refusal::block_fixed;
  if (const auto obstacle = same_launch_obstacle(context))
    return obstacle;
  if (!mentions_special(module, kernel, fmt::format("%tid.{}", axis)))
    return refusal::not_used;
  if (const auto line = facts::block_shape_shows(module, kernel, axis))
    return refusals::local_index.at(*line);
  for (const Instruction &instruction : kernel.instructions)
    if (instruction.guard != no_register && wants_agreement(module.opcode(instruction)))
      return refusal::lanes_agree.at(instruction.line);
  return may_be_spread(context) ? std::nullopt : std::optional(refusal::threads_meet);
}

} // namespace ptxasw::synth
