// Independence of the block's shape, one axis at a time.
//
// Let g = ctaid * ntid + tid be the global index along the axis and N = nctaid * ntid the number of
// threads; both stay the same when the axis is cut differently. tid is written as g - ctaid * ntid,
// nctaid * ntid as N, and every register as a polynomial over g, N, ctaid, ntid, nctaid and things
// that are not followed further (shape_values.h). Where ctaid, ntid and nctaid cancel, the value is
// "clean": a function of g, N and memory. If all that is written, where it is written, and every
// decision on the path are clean, then by induction over the steps of the thread with index g it
// does the same in every shape: the first step that differed would have read something unclean, or
// memory that differs, which some other thread's earlier write had made differ; and without races
// no order of threads matters.
//
// Numbers are unbounded integers here: that nothing wraps around is a reported condition.

#include "analysis/independence.h"

#include "analysis/exchange_loops.h"
#include "analysis/shape_values.h"
#include "emulator/facts/unread.h"
#include "emulator/facts/writers.h"
#include "emulator/semantics/effects.h"
#include "grammar/roles.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <optional>

namespace ptxasw::analysis {
namespace {

using facts::KernelContext;
using Polynomial = ShapeValues::Polynomial;

/// What the threads of a kernel have to do with each other, along whatever axis: its calls, atomics
/// and barriers.
class Ties {
public:
  explicit Ties(const KernelContext &context)
      : module(context.module), kernel(context.kernel), calls(module), context_(context) {
    if (std::any_of(
            kernel.instructions.begin(), kernel.instructions.end(),
            [&](const Instruction &one) { return module.opcode(one).has(Modifier::cas); }) &&
        context.cfg().well_formed())
      loops_ = exchange_loops(module, kernel, context.cfg());
    commute_ = commute(loops_, rests_on_arrays_);
  }

  /// Loops of compare-and-swap that are one operation.
  const std::vector<ExchangeLoop> &loops() const { return loops_; }
  /// Returns true if the order of the kernel's atomics on global memory does not matter: each is an
  /// operation that commutes, as these loops are, and different operations go to different arrays.
  bool atomics_commute() const { return commute_; }
  /// There are different ones, which one array behind two parameters would bring together.
  bool rests_on_arrays() const { return commute_ && rests_on_arrays_; }

  /// Returns true if a barrier is for the whole block, on every way through the kernel once, and
  /// what lies before it and what lies behind it could not conflict: what is loaded on one side is
  /// stored on no other, and only one side stores.
  bool orders_nothing(std::uint32_t barrier) {
    const auto [known, is_new] = idle_barriers_.try_emplace(barrier, false);
    if (is_new)
      known->second = is_idle(barrier);
    return known->second;
  }

  /// Sets if blocks, and threads, are independent; `ordered` as for blocks_independent().
  void judge(KernelIndependence &result, bool ordered = false);

  const Module &module;
  const Function &kernel;
  PlainCalls calls;

private:
  bool are_apart(std::uint32_t a, std::uint32_t b) const;
  bool commute(const std::vector<ExchangeLoop> &loops, bool &rests_on_arrays) const;
  const std::vector<bool> &loads_apart();
  bool is_idle(std::uint32_t barrier);

  const KernelContext &context_;
  std::vector<ExchangeLoop> loops_;
  bool commute_ = false, rests_on_arrays_ = false;
  std::optional<std::vector<bool>> loads_apart_; ///< when first asked for
  std::map<std::uint32_t, bool> idle_barriers_;  ///< orders_nothing()
};

/// Returns true if two accesses go to different arrays: their addresses are made from different
/// parameters or variables.
bool Ties::are_apart(std::uint32_t a, std::uint32_t b) const {
  const Operand *const one = address_in(module, kernel.instructions[a]),
                       *const other = address_in(module, kernel.instructions[b]);
  if (!one || !other)
    return false;
  const facts::Origins &origins = context_.origins();
  return facts::Origins::are_apart(origins.of_address(*one), origins.of_address(*other));
}

bool Ties::commute(const std::vector<ExchangeLoop> &loops, bool &rests_on_arrays) const {
  static constexpr std::string_view operations[] = {"add", "min", "max", "and", "or", "xor"};
  std::vector<std::pair<std::uint32_t, std::string>> found;
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const Opcode &opcode = module.opcode(kernel.instructions[i]);
    if ((opcode.op != Op::red && opcode.op != Op::atom) || opcode.space == StateSpace::shared)
      continue;
    if (reads_by_atomic(module, kernel.instructions[i]))
      continue;
    std::string operation;
    for (const ExchangeLoop &loop : loops)
      if (loop.exchange == i)
        operation = loop.operation;
    for (const std::string_view name : operations)
      if (operation.empty() && opcode.has(name))
        operation = fmt::format("{}.{}", name, to_string(opcode.type));
    if (operation.empty() || std::any_of(found.begin(), found.end(), [&](const auto &other) {
          return other.second != operation && !are_apart(other.first, i);
        }))
      return false;
    rests_on_arrays |= !found.empty() && found[0].second != operation;
    found.emplace_back(i, operation);
  }
  return true;
}

/// By instruction: a load of what no store of the kernel writes, by its own promise, as of arrays
/// that are `const` and `__restrict__`; no store says otherwise.
const std::vector<bool> &Ties::loads_apart() {
  if (loads_apart_)
    return *loads_apart_;
  std::vector<bool> result(kernel.instructions.size(), false);
  facts::Writers writers(module, kernel);
  for (std::uint32_t i = 0; !writers.unknown() && i < kernel.instructions.size(); ++i) {
    const Opcode &opcode = module.opcode(kernel.instructions[i]);
    result[i] =
        effect_of(opcode) == Effect::load && reads_constant_memory(opcode) && !writers.conflict(i);
  }
  return loads_apart_.emplace(std::move(result));
}

bool Ties::is_idle(std::uint32_t barrier) {
  const Instruction &instruction = kernel.instructions[barrier];
  const Opcode &opcode = module.opcode(instruction);
  if (instruction.guard != no_register || instruction.operand_count != 1 ||
      !opcode.has(Modifier::sync) || opcode.has(Modifier::warp) || opcode.has(Modifier::cluster))
    return false;
  const ControlFlowGraph &cfg = context_.cfg();
  if (!cfg.well_formed())
    return false;
  const BlockId here = cfg.block_of(barrier);
  const auto any = [](BlockId, BlockId) { return true; };
  const std::set<BlockId> before = leading_to(cfg, here, any),
                          behind = reached_from(cfg, here, any);
  std::set<BlockId> around = reached_from(cfg, 0, [&](BlockId, BlockId to) { return to != here; });
  if (here != 0)
    around.insert(0);
  if (before.contains(here))
    return false;
  for (const BlockId block : around)
    if (cfg.blocks()[block].successors.empty())
      return false; // a way past it
  bool loads[2] = {}, stores[2] = {};
  const std::vector<bool> &apart = loads_apart();
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const BlockId block = cfg.block_of(i);
    const Opcode &at = module.opcode(kernel.instructions[i]);
    const bool is_end = at.op == Op::ret || at.op == Op::exit;
    if (is_end && (block == here ? i < barrier : around.contains(block)))
      return false; // another one, under a guard
    if (i == barrier || at.op == Op::bar || at.op == Op::barrier || apart[i])
      continue;
    const Effect effect = effect_of(at);
    for (const bool is_behind : {false, true}) {
      const bool on_this_side = block == here ? (i > barrier) == is_behind
                                              : (is_behind ? behind : before).contains(block);
      loads[is_behind] |= on_this_side && effect == Effect::load;
      stores[is_behind] |= on_this_side && effect != Effect::load && effect != Effect::none;
    }
  }
  return !(stores[0] && (loads[1] || stores[1])) && !(loads[0] && stores[1]);
}

void Ties::judge(KernelIndependence &result, bool ordered) {
  bool blocks = true, threads = true;
  const std::vector<bool> unread = facts::unread_atomics(module, kernel);
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction &instruction = kernel.instructions[i];
    const Opcode &opcode = module.opcode(instruction);
    const Op op = opcode.op;
    for_each_special(module, module.operands(instruction), [&](std::string_view name) {
      const bool index =
          index_register(name) || name == "WARP_SZ" || name.starts_with("%reserved_smem_offset_");
      const bool of_warp = name == "%laneid" || name == "%warpid" || name == "%nwarpid" ||
                           name.starts_with("%lanemask_");
      threads &= index;
      blocks &= index || of_warp;
    });
    const bool flow = op == Op::bra || op == Op::brx || op == Op::ret || op == Op::exit ||
                      op == Op::trap || op == Op::prefetch || op == Op::prefetchu ||
                      op == Op::nanosleep || op == Op::pmevent || op == Op::isspacep;
    const bool samples = op == Op::tex || op == Op::tld4 || op == Op::txq;
    const bool access =
        (op == Op::ld || op == Op::st || op == Op::ldu) && effect_of(opcode) != Effect::sync;
    const bool reduction = (op == Op::red || unread[i]) && opcode.space != StateSpace::shared;
    const bool alone =
        instruction.well_formed && (is_pure(opcode) || flow || samples || access || reduction ||
                                    (op == Op::call && calls.is_plain(instruction)));
    const bool within_block =
        op == Op::shfl || op == Op::vote || op == Op::match || op == Op::redux ||
        op == Op::activemask || op == Op::elect || op == Op::bar ||
        (op == Op::barrier && !opcode.has(Modifier::cluster)) ||
        is_one_of(op, {Op::wmma, Op::mma, Op::ldmatrix, Op::stmatrix, Op::movmatrix, Op::suld,
                       Op::sust, Op::suq, Op::griddepcontrol}) ||
        (op == Op::cp && leaves_global_alone(opcode)) || is_relaxed_in_block(opcode) ||
        ((op == Op::atom || op == Op::red) && opcode.space == StateSpace::shared) ||
        (ordered && facts::is_relaxed_atomic(opcode)) ||
        (op == Op::call && calls_driver(module, instruction));
    blocks &= alone || within_block;
    // A reduction that is one step only for the threads of its block counts on which those are.
    const auto &words = opcode.modifiers;
    const bool narrow_scope =
        reduction && (opcode.has(Modifier::cluster) ||
                      std::find(words.begin(), words.end(), "cta") != words.end());
    threads &= alone && !narrow_scope && opcode.space != StateSpace::shared;
  }
  bool on_arrays = false;
  blocks &= ordered || commute({}, on_arrays);
  result.blocks_independent = blocks;
  result.threads_independent = blocks && threads;
}

/// Along one axis: does what the kernel writes, and where, depend on how it is cut?
class AxisAnalysis {
public:
  AxisAnalysis(Ties &ties, int axis)
      : ties_(ties), module_(ties.module), kernel_(ties.kernel), axis_("xyz"[axis]),
        values_(module_, kernel_, ties.calls, axis_) {}

  AxisIndependence run() {
    if (!values_.find())
      return {AxisVerdict::unknown, 0, "too many registers depend on each other"};
    for (std::uint32_t index = 0; index < kernel_.instructions.size(); ++index)
      look_at(index);
    find_plain_accesses();
    const auto certain = std::find_if(findings_.begin(), findings_.end(),
                                      [](const Finding &f) { return f.certain; });
    if (certain != findings_.end())
      return {AxisVerdict::dependent, certain->line, certain->reason};
    if (!findings_.empty())
      return {AxisVerdict::unknown, findings_[0].line, findings_[0].reason};
    return {mentions_axis() ? AxisVerdict::independent : AxisVerdict::unused, 0, ""};
  }

private:
  struct Finding {
    std::uint32_t line = 0;
    std::string reason;
    bool certain = false;
  };

  void unknown(const Instruction &instruction, std::string_view why) {
    findings_.push_back(
        {instruction.line, fmt::format("`{}`: {}", module_.opcode(instruction).text, why), false});
  }

  void look_at(const Polynomial &p, const Instruction &instruction, std::string_view what) {
    if (values_.is_clean(p))
      return;
    const auto &taint = values_.stain_of(p);
    findings_.push_back({instruction.line,
                         taint.line == 0 || taint.line == instruction.line
                             ? fmt::format("{}: {}", what, taint.reason)
                             : fmt::format("{}: {} (line {})", what, taint.reason, taint.line),
                         taint.certain});
  }

  void look_at(const Operand &operand, const Instruction &instruction, std::string_view what) {
    look_at(values_.value(operand, instruction.line), instruction, what);
  }

  void look_at_guard(const Instruction &instruction, std::string_view what) {
    if (instruction.guard != no_register)
      look_at(values_.value(instruction.guard), instruction, what);
  }

  /// The loop of compare-and-swap that an instruction is the exchange of, or a branch; or null.
  const ExchangeLoop *loop_of(std::uint32_t instruction) const {
    for (const ExchangeLoop &loop : ties_.loops())
      if (loop.exchange == instruction || loop.branch == instruction || loop.entry == instruction)
        return &loop;
    return nullptr;
  }

  Polynomial value_of(const Instruction &instruction, std::size_t operand) {
    return values_.value(module_.operands(instruction)[operand], instruction.line);
  }

  // Plain accesses of places that atomics of other threads change: races, whatever they read. Where
  // the place goes along with the thread, nobody else need be there.
  void find_plain_accesses() {
    std::vector<Polynomial> changed;
    for (const Instruction &instruction : kernel_.instructions) {
      const Opcode &opcode = module_.opcode(instruction);
      const std::size_t operand = opcode.op == Op::atom ? 1 : 0;
      if (is_one_of(opcode.op, {Op::atom, Op::red}) && opcode.space != StateSpace::shared &&
          module_.operands(instruction).size() > operand && !reads_by_atomic(module_, instruction))
        if (Polynomial place = value_of(instruction, operand); !values_.goes_along(place))
          changed.push_back(std::move(place));
    }
    for (const Instruction &instruction : kernel_.instructions) {
      const Opcode &opcode = module_.opcode(instruction);
      const Effect effect = effect_of(opcode);
      const bool is_access = effect == Effect::load || effect == Effect::store;
      if (changed.empty() || !is_access || module_.operands(instruction).size() < 2 ||
          (opcode.space != StateSpace::global && opcode.space != StateSpace::generic))
        continue;
      const Polynomial place = value_of(instruction, effect == Effect::load ? 1 : 0);
      if (std::find(changed.begin(), changed.end(), place) != changed.end())
        unknown(instruction, "a race with the atomics of other threads there");
    }
  }

  void look_at_write(const Instruction &instruction, const ExchangeLoop *loop) {
    const Opcode &opcode = module_.opcode(instruction);
    const auto operands = module_.operands(instruction);
    if (opcode.op == Op::st && effect_of(opcode) == Effect::sync)
      unknown(instruction, "ordered with what others do");
    if (opcode.space == StateSpace::shared)
      return unknown(instruction, "shared memory");
    if (opcode.op != Op::st && !ties_.atomics_commute())
      unknown(instruction, "the order of threads decides");
    look_at_guard(instruction, "whether it is written");
    if (loop) {
      look_at(operands[1], instruction, "where it is written");
      look_at(loop->value, instruction, "what is written");
      return;
    }
    const std::size_t first = opcode.op == Op::atom ? 1 : 0;
    for (std::size_t i = first; i < operands.size(); ++i)
      look_at(operands[i], instruction, i == first ? "where it is written" : "what is written");
  }

  void look_at(std::uint32_t index) {
    const Instruction &instruction = kernel_.instructions[index];
    const Opcode &opcode = module_.opcode(instruction);
    const auto operands = module_.operands(instruction);
    const Op op = opcode.op;
    const ExchangeLoop *const loop = loop_of(index);
    if (op == Op::bra || op == Op::brx || op == Op::ret || op == Op::exit || op == Op::trap) {
      if (loop)
        return; // how often it goes round, if at all, is of no consequence
      look_at_guard(instruction, "what decides");
      if (op == Op::brx && !operands.empty())
        look_at(operands[0], instruction, "what decides");
      return;
    }
    if (!instruction.well_formed)
      return unknown(instruction, "not understood");
    if (op == Op::st || op == Op::red || op == Op::atom)
      return look_at_write(instruction, loop);
    // Computations and loads count where their results go.
    if (is_pure(opcode) ||
        is_one_of(op, {Op::ld, Op::ldu, Op::isspacep, Op::activemask, Op::prefetch, Op::prefetchu,
                       Op::nanosleep, Op::fence, Op::membar, Op::pmevent, Op::shfl, Op::vote,
                       Op::match, Op::redux, Op::elect}))
      return;
    const bool is_barrier = op == Op::bar || op == Op::barrier;
    if (is_barrier && ties_.orders_nothing(index))
      return;
    if (op == Op::call && ties_.calls.is_plain(instruction)) {
      look_at_guard(instruction, "whether it is called");
      for (const Operand &operand : operands.subspan(1)) // behind results, or the function's name
        look_at(operand, instruction, "what it is called with");
      return;
    }
    unknown(instruction, is_barrier       ? "threads of a block wait for each other"
                         : op == Op::call ? "a call"
                                          : "not followed");
  }

  bool mentions_axis() const {
    bool found = false;
    for (const Instruction &instruction : kernel_.instructions)
      for_each_special(module_, module_.operands(instruction), [&](std::string_view name) {
        const auto index = index_register(name);
        found |= index && index->axis == axis_;
      });
    return found;
  }

  Ties &ties_;
  const Module &module_;
  const Function &kernel_;
  const char axis_;
  ShapeValues values_;
  std::vector<Finding> findings_;
};

} // namespace

bool blocks_independent(const KernelContext &context, bool ordered) {
  KernelIndependence result;
  Ties(context).judge(result, ordered);
  return result.blocks_independent;
}

std::string_view to_string(AxisVerdict verdict) {
  switch (verdict) {
  case AxisVerdict::unused:
    return "unused";
  case AxisVerdict::independent:
    return "independent";
  case AxisVerdict::dependent:
    return "dependent";
  case AxisVerdict::unknown:
    break;
  }
  return "unknown";
}

KernelIndependence independence(const KernelContext &context) {
  const Module &module = context.module;
  const Function &kernel = context.kernel;
  KernelIndependence result;
  result.name = kernel.name;
  Ties ties(context);
  bool relies = false;
  for (int axis = 0; axis < 3; ++axis) {
    result.axes[axis] = AxisAnalysis(ties, axis).run();
    relies |= result.axes[axis].verdict == AxisVerdict::independent;
  }
  ties.judge(result);
  if (relies) {
    result.conditions = {"no race", "indices do not wrap around",
                         "the block's extent divides the number of threads along the axis"};
    if (std::any_of(kernel.instructions.begin(), kernel.instructions.end(),
                    [&](const Instruction &one) {
                      const Opcode &opcode = module.opcode(one);
                      return is_one_of(opcode.op, {Op::red, Op::atom}) && is_float(opcode.type);
                    }) ||
        std::any_of(ties.loops().begin(), ties.loops().end(), [](const ExchangeLoop &loop) {
          return loop.operation.starts_with("add") && is_float(loop.type);
        }))
      result.conditions.emplace_back("sums of floating-point numbers may be taken in any order");
    if (ties.rests_on_arrays())
      result.conditions.emplace_back(
          "pointers of different atomic operations lead to different arrays");
  }
  return result;
}

} // namespace ptxasw::analysis
