// Detection (paper, section 5.1), under the rules of soundness.md.
//
// Loads are grouped by their address as a linear form without its constant: a[i-1], a[i], a[i+1]
// fall into one group. Within a group a load D and an earlier load S are N = (D - S) / stride lanes
// apart, so the candidates for D are found by looking 63 constants up, smallest |N| first, however
// many loads there are. The linear form only guesses; that A_S(lane + N) equals A_D(lane) is then
// shown on the exact expressions.

#include "synth/detect.h"

#include "emulator/solver.h"
#include "synth/between.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <unordered_map>

namespace ptxasw {
namespace {

constexpr int widest = 31;

/// Sources remembered for one address; older ones are dropped.
constexpr std::size_t sources_per_address = 4;

/// Questions to the solver in one kernel, and the effort for each in Z3's resource units.
constexpr unsigned solver_questions = 16;
constexpr unsigned solver_resource_limit = 200'000;

/// Whether an expression has parts that the normal form does not see through and a solver might.
bool has_bit_operations(Expr expr) {
  bool result = false;
  for_each_node(expr, [&](Expr node) {
    switch (node->kind) {
    case ExprKind::constant:
    case ExprKind::symbol:
    case ExprKind::sum:
    case ExprKind::product:
    case ExprKind::zext:
    case ExprKind::sext:
    case ExprKind::uf:
      break;
    case ExprKind::extract: // the low bits of a sum are a sum
      result |= node->index != 0;
      break;
    default:
      result = true;
    }
  });
  return result;
}

/// Loads whose addresses differ by a constant.
struct Group {
  LinearForm form;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>>
      sources; ///< constant to trace indices
};

class Detector {
public:
  Detector(const Module &module, const Function &function, Emulation &emulation,
           const RewriteOptions &options)
      : module_(module), function_(function), emulation_(emulation), options_(options),
        between_(emulation, options.assume_no_alias) {}

  Detection run();

private:
  struct Verdict {
    std::optional<Reason> reason; ///< empty: it may be done
    Reuse reuse;
    bool assumed_no_wrap = false;
    bool assumed_no_alias = false;
  };

  Group &group_of(const LinearForm &form);
  std::optional<Reason> cover(std::size_t load, Group &group, std::uint64_t constant);
  Verdict judge(std::size_t source, std::size_t load, int delta, std::int64_t stride);
  std::optional<WrapTest> find_test(const WrapCondition &condition, const MemoryAccess &load);
  bool proved_by_path(const WrapCondition &condition, BlockId block);
  bool proved_by_solver(Expr a, Expr b, BlockId block);
  /// Whether an access addresses by a 64-bit register, which an address test can compare.
  bool has_base_register(const MemoryAccess &access) const {
    const auto operands = module_.operands(function_.instructions[access.instruction]);
    const Operand &base = module_.children(operands[1])[0];
    return base.kind == Operand::Kind::reg && bit_width(function_.registers[base.reg].type) == 64;
  }

  const Module &module_;
  const Function &function_;
  Emulation &emulation_;
  const RewriteOptions &options_;
  Between between_;
  Solver solver_{solver_resource_limit};
  unsigned questions_ = 0;
  std::unordered_map<std::size_t, std::vector<Group>> groups_;
  Detection result_;
};

Group &Detector::group_of(const LinearForm &form) {
  auto &bucket = groups_[form.hash()];
  for (Group &group : bucket)
    if (group.form.same_but_constant(form))
      return group;
  bucket.push_back({form, {}});
  return bucket.back();
}

Detection Detector::run() {
  const auto &trace = emulation_.trace();
  const ControlFlowGraph &cfg = emulation_.cfg();
  const auto is_lane = [&](Expr symbol) { return emulation_.is_lane_symbol(symbol); };
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const MemoryAccess &access = trace[i];
    const Instruction &instruction = function_.instructions[access.instruction];
    const Candidate kind = candidate(module_, function_, instruction);
    if (!kind.is_global_load)
      continue;
    const auto keep = [&](Reason reason) { result_.kept.push_back({access.instruction, reason}); };
    if (!kind.eligible) {
      keep(kind.reason);
      continue;
    }
    ++result_.loads;
    if (!access.address) {
      keep(Reason::opaque_address);
      continue;
    }
    if (cfg.irreducible(access.block)) {
      keep(Reason::irreducible_flow);
      continue;
    }
    const LinearForm form = linear_form(emulation_.expand(access.address), is_lane);
    Group &group = group_of(form);
    if (const auto reason = cover(i, group, form.constant)) {
      keep(*reason);
      // Only what stays a load may serve others (never chain).
      auto &sources = group.sources[form.constant];
      if (sources.size() == sources_per_address)
        sources.erase(sources.begin());
      sources.push_back(i);
    }
  }
  result_.solver_contexts = solver_.contexts();
  return std::move(result_);
}

// Covers the load by the nearest source that may serve it. Returns why not otherwise: what stood in
// the way of the nearest one.
std::optional<Reason> Detector::cover(std::size_t load, Group &group, std::uint64_t constant) {
  std::optional<Reason> first_obstacle;
  const std::int64_t stride = group.form.lane_stride;
  const int limit = stride == 0 ? 0 : widest;
  for (int distance = 0; distance <= limit; ++distance)
    for (const int delta : {-distance, distance}) {
      if (distance == 0 && delta != 0)
        continue;
      const auto found =
          group.sources.find(constant - static_cast<std::uint64_t>(stride) *
                                            static_cast<std::uint64_t>(std::int64_t{delta}));
      if (found == group.sources.end())
        continue;
      // The latest source first: less lies in between.
      for (auto source = found->second.rbegin(); source != found->second.rend(); ++source) {
        Verdict verdict = judge(*source, load, delta, stride);
        if (!verdict.reason) {
          result_.assumed_no_wrap |= verdict.assumed_no_wrap;
          result_.assumed_no_alias |= verdict.assumed_no_alias;
          result_.reuses.push_back(std::move(verdict.reuse));
          return std::nullopt;
        }
        if (!first_obstacle)
          first_obstacle = verdict.reason;
      }
      if (distance == 0)
        break;
    }
  return first_obstacle.value_or(Reason::no_source);
}

Detector::Verdict Detector::judge(std::size_t source_index, std::size_t load_index, int delta,
                                  std::int64_t stride) {
  const auto &trace = emulation_.trace();
  const MemoryAccess &source = trace[source_index], &load = trace[load_index];
  const ControlFlowGraph &cfg = emulation_.cfg();
  Verdict verdict;
  const auto no = [&](Reason reason) {
    verdict.reason = reason;
    return verdict;
  };
  if (std::abs(delta) > options_.max_delta)
    return no(Reason::delta_too_large);
  // Rule 1: the source ran, in this iteration, in every lane that asks.
  if (!cfg.dominates(source.block, load.block))
    return no(Reason::not_dominated);
  if (cfg.loop_of(source.block) != cfg.loop_of(load.block))
    return no(Reason::other_iteration);
  if (source.guard && (delta != 0 || source.guard != load.guard))
    return no(Reason::source_predicated);
  if (delta != 0 && load.guard)
    return no(Reason::predicate_form);
  // A pragma belongs to the very next statement; nothing may come in between.
  // And of a source that loads only some of its bytes there is not enough (PTX ISA 12.2).
  for (const Pragma &pragma : function_.pragmas)
    if (pragma.position == load.instruction ||
        (pragma.position == source.instruction && pragma.text.starts_with("used_bytes_mask")))
      return no(Reason::predicate_form);

  // Rules 2 to 4: the addresses.
  const Expr source_address = emulation_.expand(source.address);
  const Expr load_address = emulation_.expand(load.address);
  if (delta != 0 && !emulation_.uniform_but_lane(source_address, source.block))
    return no(Reason::varying_address);
  ExprPool &pool = emulation_.pool();
  const Expr shifted = emulation_.shift_lane(source_address, delta);
  verdict.reuse = {load.instruction, source.instruction, delta, {}, std::nullopt};
  auto conditions = equal_unless_wrapped(pool, shifted, load_address);
  if (!conditions && proved_by_solver(shifted, load_address, load.block))
    conditions.emplace();
  if (!conditions && delta != 0 && has_base_register(source) && has_base_register(load)) {
    // The two are built differently: whether they are `step` apart the lane can see for itself, so
    // all that is left to show is that the source's address steps evenly from lane to lane.
    const std::int64_t step = stride * delta;
    conditions = equal_unless_wrapped(
        pool, shifted,
        pool.add(source_address, pool.constant(64, static_cast<std::uint64_t>(step))));
    verdict.reuse.address_distance = step;
  }
  if (!conditions)
    return no(Reason::wrap_not_testable);
  for (const WrapCondition &condition : *conditions) {
    if (always_holds(condition) || proved_by_path(condition, load.block))
      continue;
    // That the row reaches that far is what the corner predicate tests anyway.
    if (emulation_.is_lane_symbol(condition.value) && condition.offset == delta)
      continue;
    if (options_.assume_no_wrap) {
      verdict.assumed_no_wrap = true;
      continue;
    }
    const auto test = delta == 0 ? std::nullopt : find_test(condition, load);
    if (!test)
      return no(Reason::wrap_not_testable);
    verdict.reuse.wrap_tests.push_back(*test);
  }

  // Rule 5: memory in between. What is only read cannot change.
  if (!reads_constant_memory(module_.opcode(function_.instructions[load.instruction])))
    if (const auto obstacle = between_.obstacle(source_index, load_index, verdict.assumed_no_alias))
      return no(*obstacle);
  return verdict;
}

// A register that holds the value where the covering lane can test it: read by an instruction that
// runs before the load in the same iteration of every loop around it.
std::optional<WrapTest> Detector::find_test(const WrapCondition &condition,
                                            const MemoryAccess &load) {
  const std::vector<RegisterRead> *reads = emulation_.reads_of(condition.value);
  if (!reads || condition.value->width != 32)
    return std::nullopt;
  const ControlFlowGraph &cfg = emulation_.cfg();
  for (const RegisterRead &read : *reads) {
    const BlockId block = cfg.block_of(read.instruction);
    const LoopId loop = cfg.loop_of(block);
    const bool before = block == load.block ? read.instruction < load.instruction
                                            : cfg.dominates(block, load.block);
    const bool same_iteration = loop == no_index || cfg.contains(loop, load.block);
    // The test is placed behind the reader, which must not change the register itself.
    const auto operands = module_.operands(function_.instructions[read.instruction]);
    const bool kept = operands[0].kind == Operand::Kind::reg && operands[0].reg != read.reg;
    if (before && same_iteration && kept)
      return WrapTest{read, condition.is_signed, condition.offset};
  }
  return std::nullopt;
}

// value + 1 cannot wrap where value is known to be less than something, value - 1 where it is known
// to be more.
bool Detector::proved_by_path(const WrapCondition &condition, BlockId block) {
  if (condition.offset != 1 && condition.offset != -1)
    return false;
  const ExprKind comparison = condition.is_signed ? ExprKind::slt : ExprKind::ult;
  for (const PathFact &fact : emulation_.facts_in(block)) {
    Expr less = fact.condition;
    bool holds = fact.holds;
    if (less->kind == ExprKind::sum && less->width == 1) { // not (a < b)
      less = emulation_.pool().bit_not(less);
      holds = !holds;
    }
    if (less->kind != comparison || !holds)
      continue;
    const Expr smaller = emulation_.expand(less->children[0]);
    const Expr larger = emulation_.expand(less->children[1]);
    if ((condition.offset == 1 ? smaller : larger) == condition.value)
      return true;
  }
  return false;
}

// The last resort: that the addresses differ contradicts what the way to the load established.
bool Detector::proved_by_solver(Expr a, Expr b, BlockId block) {
  ExprPool &pool = emulation_.pool();
  if (!has_bit_operations(pool.sub(a, b)) || ++questions_ > solver_questions)
    return false;
  std::vector<Expr> formulas{pool.bit_not(pool.eq(a, b))};
  for (const PathFact &fact : emulation_.facts_in(block)) {
    const Expr condition = emulation_.expand(fact.condition);
    formulas.push_back(fact.holds ? condition : pool.bit_not(condition));
  }
  return solver_.check("equal addresses", formulas) == SolverAnswer::unsat;
}

} // namespace

Candidate candidate(const Module &module, const Function &function,
                    const Instruction &instruction) {
  const Opcode &opcode = module.opcode(instruction);
  Candidate result;
  if (opcode.base != "ld" || opcode.space != StateSpace::global)
    return result;
  result.is_global_load = true;
  const auto operands = module.operands(instruction);
  const auto destination_fits = [&] {
    return operands.size() >= 2 && operands[0].kind == Operand::Kind::reg &&
           !operands[0].selector && bit_width(function.registers[operands[0].reg].type) == 32 &&
           function.registers[operands[0].reg].vector == 1;
  };
  if (effect_of(opcode) != Effect::load)
    result.reason = Reason::not_weak;
  else if (opcode.vector != 1 || bit_width(opcode.type) != 32)
    result.reason = Reason::width_not_supported;
  else if (!instruction.well_formed || !destination_fits() ||
           operands[1].kind != Operand::Kind::address)
    result.reason = Reason::opaque_address;
  else
    result.eligible = true;
  return result;
}

Detection detect(const Module &module, const Function &function, Emulation &emulation,
                 const RewriteOptions &options) {
  return Detector(module, function, emulation, options).run();
}

} // namespace ptxasw
