// Detection (paper, section 5.1), under the rules of soundness.md.
//
// Loads are grouped by their address as a linear form without its constant: a[i-1], a[i], a[i+1]
// fall into one group. Within a group a load D and an earlier load S are N = (D - S) / stride lanes
// apart, so the candidates for D are found by looking up 63 constants, smallest |N| first, however
// many loads there are. The linear form only guesses; that A_S(lane + N) equals A_D(lane) is then
// shown on the exact expressions.
//
// Where an address has parts that a linear form does not see through (`i & 1023`, `i % n`, `i >>
// 1`, a minimum), such loads are guessed by numbers instead (lane_samples.h), among all earlier
// ones, and shown equal in the same way.
//
// Every element of a vector load stands for itself: the load is covered if all of them are.

#include "synth/detect.h"

#include "emulator/symbolic/solver.h"
#include "grammar/roles.h"
#include "synth/between.h"
#include "synth/known.h"
#include "synth/lane_samples.h"
#include "synth/ways.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <unordered_map>

namespace ptxasw {
namespace {

constexpr int widest = 31;

/// Loads of a block that are examined to find the best one among them to be the source.
constexpr std::size_t hoist_window = 16;

/// Sources remembered for one address; older ones are dropped.
constexpr std::size_t sources_per_address = 4;

/// Sources that a load is compared with by numbers, the latest first, and loads of a kernel for
/// which that is done.
constexpr std::size_t sampled_sources = 64, sampled_loads = 256;

/// Questions to the solver in one kernel, and the effort for each in Z3's resource units.
constexpr unsigned solver_questions = 2;
constexpr unsigned solver_resource_limit = 10'000;

/// Returns true if an expression has parts that the normal form does not see through and a solver
/// might.
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

/// A register value that a load brings: element `element` of the access `access` of the trace.
struct Holder {
  std::size_t access = 0;
  unsigned element = 0;
};

/// Loads whose addresses differ by a constant.
struct Group {
  LinearForm form;
  bool hides_lane = false; ///< an atom of the form differs from lane to lane
  std::unordered_map<std::uint64_t, std::vector<Holder>> sources; ///< by constant
  std::vector<std::size_t> members;                               ///< trace indices, ascending
};

/// A load that may be covered or serve as a source.
struct LoadInfo {
  Group *group = nullptr; ///< null: neither
  std::uint64_t constant = 0;
  bool is_source = false;
  bool is_covered = false;
};

class Detector {
public:
  Detector(const Module &module, const Function &function, Emulation &emulation,
           const RewriteOptions &options, bool generic_is_global)
      : module_(module), function_(function), emulation_(emulation), options_(options),
        generic_is_global_(generic_is_global), widths_(options.widths.value_or(Widths())),
        facts_(launch_facts(function, options.assume_block)),
        between_(module, function, emulation, options.assume_no_alias,
                 generic_is_global && function.is_entry) {}

  Detection run();

private:
  /// What covering one element by one source takes.
  struct Verdict {
    std::optional<Reason> reason; ///< empty: it may be done
    ElementSource from;
    std::vector<WrapTest> wrap_tests;
    std::optional<DistanceTest> distance_test;
    std::vector<std::uint32_t> store_tests;
    bool assumed_no_wrap = false;
    bool assumed_no_alias = false;
  };

  void classify();
  Group &group_of(const LinearForm &form);
  std::optional<Reason> cover(std::size_t load);
  Verdict cover_element(Holder load, const Group &group, std::uint64_t constant);
  Verdict cover_by_numbers(Holder load);
  std::size_t position_of(std::size_t source) const;
  Verdict judge(Holder source, std::size_t source_position, Holder load, SourceLane from,
                std::int64_t stride);
  Verdict judge_address(Holder source, Holder load, SourceLane from, std::int64_t stride);
  Verdict judge_together(std::vector<Holder> sources, Holder load, SourceLane from,
                         std::int64_t stride);
  bool runs_with(const MemoryAccess &source, const MemoryAccess &load, SourceLane from);
  void add_source(std::size_t load);
  bool hoist_a_source(std::size_t load);
  bool may_move_up(std::size_t source, std::size_t before);
  std::optional<int> lanes_between(std::size_t source, std::size_t load) const;
  std::optional<WrapTest> find_test(const WrapCondition &condition, const MemoryAccess &load);
  const Known &known_at(BlockId block);
  bool proved_by_solver(Expr a, Expr b, SourceLane from, BlockId block);
  bool loop_carried(std::size_t load) const;

  const Instruction &instruction(std::size_t access) const {
    return function_.instructions[emulation_.trace()[access].instruction];
  }
  std::span<const Operand> elements(std::size_t access) const {
    return elements_of(module_, instruction(access));
  }
  /// Bytes of one element.
  unsigned element_bytes(std::size_t access) const {
    return bit_width(module_.opcode(instruction(access)).type) / 8;
  }
  bool same_kind(Holder a, Holder b) const;
  /// The constant of the base register's operand, bytes.
  std::int64_t offset(std::size_t access) const {
    return module_.operands(instruction(access))[1].value;
  }
  Expr element_address(Holder holder);

  const Module &module_;
  const Function &function_;
  Emulation &emulation_;
  const RewriteOptions &options_;
  const bool generic_is_global_;
  const Widths widths_;
  const LaunchFacts facts_;
  Between between_;
  Solver solver_{solver_resource_limit};
  unsigned questions_ = 0;
  std::optional<LaneSamples> samples_; ///< made when first needed
  std::size_t sampled_ = 0;            ///< loads that were looked for by numbers
  std::unordered_map<BlockId, std::vector<BlockId>> before_; ///< by block, those on the ways to it
  std::unordered_map<BlockId, Known> known_; ///< by block, what its path establishes
  std::vector<Holder> holders_;              ///< every element of every source, in order
  std::unordered_map<std::size_t, std::deque<Group>> groups_; ///< by hash
  std::vector<LoadInfo> loads_;                               ///< by trace index
  std::unordered_map<std::size_t, std::size_t> position_;     ///< of hoisted sources in the trace
  std::unordered_map<std::size_t, unsigned> uses_;            ///< of sources
  Detection result_;
};

Group &Detector::group_of(const LinearForm &form) {
  auto &bucket = groups_[form.hash()];
  for (Group &group : bucket)
    if (group.form.same_but_constant(form))
      return group;
  bucket.push_back({form, false, {}, {}});
  for (const auto &[atom, factor] : form.terms)
    for_each_node(atom,
                  [&](Expr node) { bucket.back().hides_lane |= emulation_.is_lane_symbol(node); });
  return bucket.back();
}

void Detector::classify() {
  const auto &trace = emulation_.trace();
  const auto is_lane = [&](Expr symbol) { return emulation_.is_lane_symbol(symbol); };
  loads_.resize(trace.size());
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const MemoryAccess &access = trace[i];
    const Candidate kind =
        candidate(module_, function_, function_.instructions[access.instruction], widths_);
    if (!kind.is_load())
      continue;
    const auto keep = [&](Reason reason) { result_.kept.push_back({access.instruction, reason}); };
    if (!kind.eligible) {
      keep(kind.reason);
      continue;
    }
    if (kind.is_generic && !(generic_is_global_ && function_.is_entry)) {
      keep(Reason::not_global);
      continue;
    }
    ++result_.loads;
    if (!access.address) {
      keep(Reason::opaque_address);
      continue;
    }
    if (emulation_.cfg().irreducible(access.block)) {
      keep(Reason::irreducible_flow);
      continue;
    }
    const LinearForm form = linear_form(emulation_.expand(access.address), is_lane);
    loads_[i].group = &group_of(form);
    loads_[i].group->members.push_back(i);
    loads_[i].constant = form.constant;
  }
}

Detection Detector::run() {
  classify();
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    LoadInfo &load = loads_[i];
    if (!load.group || load.is_source)
      continue;
    auto reason = cover(i);
    if (reason && options_.move_sources && hoist_a_source(i))
      reason = cover(i);
    load.is_covered = !reason;
    if (!reason)
      continue;
    if (reason == Reason::no_source && loop_carried(i))
      reason = Reason::loop_carried;
    result_.kept.push_back({emulation_.trace()[i].instruction, *reason});
    add_source(i); // Only what stays a load may serve others (never chain).
  }
  result_.solver_contexts = solver_.contexts();
  return std::move(result_);
}

void Detector::add_source(std::size_t load) {
  LoadInfo &info = loads_[load];
  info.is_source = true;
  for (unsigned element = 0; element < elements(load).size(); ++element) {
    auto &sources =
        info.group->sources[info.constant + std::uint64_t{element} * element_bytes(load)];
    if (sources.size() == sources_per_address)
      sources.erase(sources.begin());
    sources.push_back({load, element});
    holders_.push_back({load, element});
  }
}

/// Where a source stands in the trace, or was moved to.
std::size_t Detector::position_of(std::size_t source) const {
  const auto moved = position_.find(source);
  return moved == position_.end() ? source : moved->second;
}

// Covers the load, every element of it by the nearest source that may serve it. Returns why not
// otherwise: what stood in the way of the nearest one.
std::optional<Reason> Detector::cover(std::size_t load) {
  const LoadInfo &info = loads_[load];
  Reuse reuse;
  reuse.load = emulation_.trace()[load].instruction;
  bool assumed_no_wrap = false, assumed_no_alias = false;
  std::vector<std::size_t> used;
  for (unsigned element = 0; element < elements(load).size(); ++element) {
    Verdict verdict = cover_element({load, element}, *info.group,
                                    info.constant + std::uint64_t{element} * element_bytes(load));
    if (verdict.reason)
      return verdict.reason;
    reuse.elements.push_back(verdict.from);
    const auto add_new = [](auto &all, const auto &some) {
      for (const auto &one : some)
        if (std::find(all.begin(), all.end(), one) == all.end())
          all.push_back(one);
    };
    reuse.wrap_tests.insert(reuse.wrap_tests.end(), verdict.wrap_tests.begin(),
                            verdict.wrap_tests.end());
    if (verdict.distance_test)
      add_new(reuse.distance_tests, std::span(&*verdict.distance_test, 1));
    add_new(reuse.store_tests, verdict.store_tests);
    assumed_no_wrap |= verdict.assumed_no_wrap;
    assumed_no_alias |= verdict.assumed_no_alias;
  }
  for (const ElementSource &from : reuse.elements)
    for (const LoadedElement &source : from.all())
      ++uses_[source.load];
  result_.assumed_no_wrap |= assumed_no_wrap;
  result_.assumed_no_alias |= assumed_no_alias;
  result_.reuses.push_back(std::move(reuse));
  return std::nullopt;
}

Detector::Verdict Detector::cover_element(Holder load, const Group &group, std::uint64_t constant) {
  std::optional<Reason> first_obstacle;
  const std::int64_t stride = group.form.lane_stride;
  const int limit = stride == 0 ? 0 : widest;
  for (int distance = 0; distance <= limit; ++distance) {
    std::optional<Verdict> best;
    for (const int delta : {-distance, distance}) {
      if (distance == 0 && best)
        break;
      const auto found =
          group.sources.find(constant - static_cast<std::uint64_t>(stride) *
                                            static_cast<std::uint64_t>(std::int64_t{delta}));
      if (found == group.sources.end())
        continue;
      // The latest source first: less lies in between.
      std::vector<Holder> in_branches;
      const auto take = [&](Verdict verdict) {
        if (verdict.reason) {
          // That a source is on one of the ways only says less than what stands in the way.
          if (!first_obstacle || first_obstacle == Reason::not_dominated)
            first_obstacle = verdict.reason;
          return false;
        }
        // Of two as near, the one that serves more loads already.
        if (!best || uses_[verdict.from.source] > uses_[best->from.source])
          best = std::move(verdict);
        return true;
      };
      bool taken = false;
      for (auto source = found->second.rbegin(); source != found->second.rend() && !taken;
           ++source) {
        Verdict verdict =
            judge(*source, position_of(source->access), load, {.delta = delta}, stride);
        if (verdict.reason == Reason::not_dominated)
          in_branches.push_back(*source);
        taken = take(std::move(verdict));
      }
      if (!taken && !in_branches.empty())
        take(judge_together(std::move(in_branches), load, {.delta = delta}, stride));
    }
    if (best)
      return std::move(*best);
  }
  if (!first_obstacle)
    return cover_by_numbers(load);
  Verdict none;
  none.reason = first_obstacle;
  return none;
}

// By what addresses come to in a made-up warp: what serves most lanes, the latest source first.
Detector::Verdict Detector::cover_by_numbers(Holder load) {
  Verdict none;
  none.reason = Reason::no_source;
  const Expr address = element_address(load);
  const bool hidden = loads_[load.access].group->hides_lane;
  std::optional<Verdict> best;
  std::size_t compared = 0;
  for (auto source = holders_.rbegin(); source != holders_.rend(); ++source) {
    const Group &group = *loads_[source->access].group;
    if (!hidden && !group.hides_lane)
      continue; // the linear forms have said all there is to say
    if (compared++ == 0 && ++sampled_ > sampled_loads)
      return none;
    if (compared > sampled_sources)
      break;
    if (!samples_)
      samples_.emplace(emulation_);
    for (const SourceLane from : samples_->sources(element_address(*source), address)) {
      if (best && from.unserved() >= best->from.lane.unserved())
        break;
      Verdict verdict =
          judge(*source, position_of(source->access), load, from, group.form.lane_stride);
      if (!verdict.reason) {
        best = std::move(verdict);
        break;
      }
    }
  }
  return best ? std::move(*best) : none;
}

// Rule 6, and that a register of the one holds the value as a register of the other would.
bool Detector::same_kind(Holder a, Holder b) const {
  const Opcode &first = module_.opcode(instruction(a.access)),
               &second = module_.opcode(instruction(b.access));
  const auto width = [&](Holder holder) {
    return bit_width(function_.registers[elements(holder.access)[holder.element].reg].type);
  };
  const unsigned bits = bit_width(first.type);
  return bits == bit_width(second.type) && width(a) == width(b) &&
         (width(a) == bits || is_signed(first.type) == is_signed(second.type));
}

Expr Detector::element_address(Holder holder) {
  return within_access(emulation_.pool(),
                       emulation_.expand(emulation_.trace()[holder.access].address),
                       std::uint64_t{holder.element} * element_bytes(holder.access));
}

// Says if `load` may take what `source` read, which is at or was moved to `source_position`.
Detector::Verdict Detector::judge(Holder source_holder, std::size_t source_position,
                                  Holder load_holder, SourceLane from, std::int64_t stride) {
  const auto &trace = emulation_.trace();
  const MemoryAccess &source = trace[source_holder.access], &load = trace[load_holder.access];
  const ControlFlowGraph &cfg = emulation_.cfg();
  Verdict verdict;
  const auto no = [&](Reason reason) {
    verdict.reason = reason;
    return verdict;
  };
  if (from.reach() > options_.max_delta)
    return no(Reason::delta_too_large);
  if ((source.space == StateSpace::shared) != (load.space == StateSpace::shared))
    return no(Reason::type_mismatch);
  if (elements(source_holder.access)[source_holder.element].kind != Operand::Kind::reg ||
      elements(load_holder.access)[load_holder.element].kind != Operand::Kind::reg ||
      !same_kind(source_holder, load_holder))
    return no(Reason::type_mismatch);
  // Rule 1: the source ran, in this iteration, in every lane that asks. A lane's own value it also
  // keeps while it goes round a deeper loop.
  if (!cfg.dominates(source.block, load.block))
    return no(Reason::not_dominated);
  const LoopId source_loop = cfg.loop_of(source.block);
  if (source_loop != cfg.loop_of(load.block) &&
      (!from.is_own() || (source_loop != no_index && !cfg.contains(source_loop, load.block))))
    return no(Reason::other_iteration);
  if (source.guard && !runs_with(source, load, from))
    return no(Reason::source_predicated);
  verdict = judge_address(source_holder, load_holder, from, stride);
  if (verdict.reason)
    return verdict;
  // Rule 5: memory in between. What is only read cannot change.
  if (!reads_constant_memory(module_.opcode(instruction(load_holder.access)))) {
    Passage passage = between_.passage(source_position, load_holder.access, !from.is_own(), true);
    if (passage.obstacle)
      return no(*passage.obstacle);
    verdict.store_tests = std::move(passage.stores);
    verdict.assumed_no_alias = passage.assumed;
  }
  return verdict;
}

// Rule 1: where the load runs, a source with a guard ran, too; in the lane itself if its guard
// follows from the load's, or from the branches before it. In another one if all agree on the
// guard; or if it follows from the branches alone, as the other lane, which is active at the load
// as well, has taken them, too.
bool Detector::runs_with(const MemoryAccess &source, const MemoryAccess &load, SourceLane from) {
  const Expr guard = emulation_.expand(source.guard);
  Known known = known_at(load.block);
  if (known.decide(guard) == true)
    return true;
  for (const Expr own : {load.guard, load.decided})
    if (own)
      known.assume(emulation_.expand(own), true);
  return known.decide(guard) == true &&
         (from.is_own() || emulation_.uniform(source.guard, load.block));
}

// Several sources that each bring the value on some ways to the load, none of which dominates it.
Detector::Verdict Detector::judge_together(std::vector<Holder> sources, Holder load_holder,
                                           SourceLane from, std::int64_t stride) {
  const auto &trace = emulation_.trace();
  const MemoryAccess &load = trace[load_holder.access];
  Verdict verdict;
  const auto no = [&](Reason reason) {
    verdict.reason = reason;
    return verdict;
  };
  auto nearby = before_.find(load.block);
  if (nearby == before_.end())
    nearby =
        before_.emplace(load.block, blocks_before(emulation_, load.block, known_at(load.block)))
            .first;
  std::erase_if(sources, [&](Holder source) {
    const BlockId block = trace[source.access].block;
    return std::find(nearby->second.begin(), nearby->second.end(), block) == nearby->second.end();
  });
  if (sources.empty())
    return no(Reason::not_dominated);
  std::sort(sources.begin(), sources.end(), [](Holder a, Holder b) { return a.access < b.access; });
  std::vector<BlockId> blocks;
  blocks.reserve(sources.size());
  for (const Holder source : sources)
    blocks.push_back(trace[source.access].block);
  const auto ways = ways_since(emulation_, blocks, load.block, known_at(load.block));
  if (!ways)
    return no(Reason::not_dominated);
  // Of several in one block the last.
  std::vector<Holder> last;
  for (const Holder source : sources) {
    const BlockId block = trace[source.access].block;
    if (!std::binary_search(ways->from.begin(), ways->from.end(), block))
      continue;
    if (!last.empty() && trace[last.back().access].block == block)
      last.pop_back();
    last.push_back(source);
  }
  const Expr address = element_address(last[0]);
  std::vector<std::size_t> positions;
  for (const Holder source : last) {
    positions.push_back(source.access);
    if (trace[source.access].guard || position_.contains(source.access) ||
        element_address(source) != address)
      return no(Reason::not_dominated);
    if (elements(source.access)[source.element].kind != Operand::Kind::reg ||
        !same_kind(source, load_holder))
      return no(Reason::type_mismatch);
    verdict = judge_address(source, load_holder, from, stride);
    if (verdict.reason)
      return verdict;
    if (verdict.distance_test) // its base register is another one on each way
      return no(Reason::wrap_not_testable);
  }
  if (!from.is_own() && !emulation_.uniform_but_lane(address, load.block))
    return no(Reason::varying_address);
  verdict.from = {trace[last[0].access].instruction, last[0].element, from};
  for (const Holder source : std::span(last).subspan(1))
    verdict.from.others.push_back({trace[source.access].instruction, source.element});
  if (!reads_constant_memory(module_.opcode(instruction(load_holder.access)))) {
    Passage passage =
        between_.passage(positions, load_holder.access, ways->between, !from.is_own());
    if (passage.obstacle)
      return no(*passage.obstacle);
    verdict.assumed_no_alias = passage.assumed;
  }
  return verdict;
}

// Rules 2 to 4, and what else one source and the load must have in common.
Detector::Verdict Detector::judge_address(Holder source_holder, Holder load_holder, SourceLane from,
                                          std::int64_t stride) {
  const auto &trace = emulation_.trace();
  const MemoryAccess &source = trace[source_holder.access], &load = trace[load_holder.access];
  Verdict verdict;
  const auto no = [&](Reason reason) {
    verdict.reason = reason;
    return verdict;
  };
  // A pragma belongs to the very next statement; nothing may come in between.
  // And of a source that loads only some of its bytes there is not enough (PTX ISA 12.2).
  for (const Pragma &pragma : function_.pragmas)
    if (pragma.position == load.instruction ||
        (pragma.position == source.instruction && pragma.text.starts_with("used_bytes_mask")))
      return no(Reason::predicate_form);
  const bool other_lane = !from.is_own();
  const Expr source_address = element_address(source_holder);
  const Expr load_address = element_address(load_holder);
  if (other_lane && !emulation_.uniform_but_lane(source_address, source.block))
    return no(Reason::varying_address);
  if (other_lane && !emulation_.in_step(load.block))
    return no(Reason::out_of_step);
  ExprPool &pool = emulation_.pool();
  verdict.from = {source.instruction, source_holder.element, from};
  const Expr shifted = emulation_.shift_lane(source_address, from.delta);
  std::optional<std::vector<WrapCondition>> conditions;
  if (from.flip == 0)
    conditions = equal_unless_wrapped(pool, shifted, load_address);
  // Of two that are built differently, one of them stepping evenly, the lane can test the distance
  // below: no question is worth that.
  const Group *const group = loads_[source_holder.access].group;
  const bool steps_evenly = !group->hides_lane;
  const bool test_will_do = group != loads_[load_holder.access].group && steps_evenly;
  if (!conditions && (!test_will_do || from.flip != 0) &&
      equal_in_each_lane(emulation_, facts_, source_address, load_address, from))
    conditions.emplace();
  if (!conditions && !test_will_do && from.flip == 0 &&
      proved_by_solver(shifted, load_address, from, load.block))
    conditions.emplace();
  if (!conditions && (from.flip == 0 || steps_evenly) &&
      has_base_register(module_, function_, instruction(source_holder.access)) &&
      has_base_register(module_, function_, instruction(load_holder.access))) {
    // The two are built differently: whether they are a step apart the lane can see for itself, so
    // all that is left to show is that the source's address steps evenly from lane to lane.
    conditions.emplace();
    for (const int delta : from.flip == 0 ? std::set{from.delta} : from.steps()) {
      const auto stepped =
          pool.add(source_address, pool.constant(64, static_cast<std::uint64_t>(stride * delta)));
      const auto evenly =
          equal_unless_wrapped(pool, emulation_.shift_lane(source_address, delta), stepped);
      if (!evenly)
        return no(Reason::wrap_not_testable);
      conditions->insert(conditions->end(), evenly->begin(), evenly->end());
    }
    const auto begin = [&](Holder holder) {
      return offset(holder.access) +
             std::int64_t{holder.element} * std::int64_t{element_bytes(holder.access)};
    };
    verdict.distance_test = {source.instruction,
                             stride * from.delta + begin(source_holder) - begin(load_holder),
                             from.flip, from.flip == 0 ? 0 : stride};
  }
  if (!conditions)
    return no(Reason::wrap_not_testable);
  for (const WrapCondition &condition : *conditions) {
    if (always_holds(condition) ||
        known_at(load.block).no_wrap(condition.value, condition.is_signed, condition.offset))
      continue;
    // That the row reaches that far is what the corner predicate tests anyway.
    if (other_lane && emulation_.is_lane_symbol(condition.value) &&
        (from.flip != 0 || condition.offset == from.delta))
      continue;
    if (options_.assume_no_wrap && !condition.is_divisor) {
      verdict.assumed_no_wrap = true;
      continue;
    }
    const auto test = find_test(condition, load);
    if (!test)
      return no(Reason::wrap_not_testable);
    verdict.wrap_tests.push_back(*test);
  }
  return verdict;
}

const Known &Detector::known_at(BlockId block) {
  auto known = known_.find(block);
  if (known == known_.end())
    known = known_.emplace(block, known_on_path(emulation_, block)).first;
  return known->second;
}

// How many lanes up the source's lane is, by the linear forms.
std::optional<int> Detector::lanes_between(std::size_t source, std::size_t load) const {
  const std::int64_t stride = loads_[load].group->form.lane_stride;
  const std::int64_t bytes =
      static_cast<std::int64_t>(loads_[load].constant - loads_[source].constant);
  if (stride == 0 || bytes % stride != 0 || std::abs(bytes / stride) > options_.max_delta)
    return std::nullopt;
  return static_cast<int>(bytes / stride);
}

// For a load that no earlier one covers: whether one that comes later in its block would serve the
// block's loads from nearer. If so that one becomes a source and is moved up.
bool Detector::hoist_a_source(std::size_t first) {
  const auto &trace = emulation_.trace();
  const Group &group = *loads_[first].group;
  std::vector<std::size_t> loads;
  for (auto member = std::lower_bound(group.members.begin(), group.members.end(), first);
       member != group.members.end() && trace[*member].block == trace[first].block &&
       loads.size() < hoist_window;
       ++member)
    if (elements(*member).size() == 1 && instruction(*member).guard == no_register &&
        !loads_[*member].is_source)
      loads.push_back(*member);
  if (loads.size() < 2 || loads[0] != first)
    return false;

  using Cost = std::pair<std::size_t, int>; // loads not served, lanes to those that are
  // By the linear forms alone first, and what is found there in earnest.
  const auto cost = [&](std::size_t source, bool in_earnest) {
    Cost result;
    for (const std::size_t load : loads) {
      const auto delta = lanes_between(source, load);
      const bool served =
          load == source ||
          (delta && (!in_earnest || !judge({source, 0}, first, {load, 0}, {.delta = *delta},
                                           group.form.lane_stride)
                                         .reason));
      result.first += !served;
      result.second += served && delta ? std::abs(*delta) : 0;
    }
    return result;
  };
  std::size_t best = first;
  Cost best_cost = cost(first, false);
  for (const std::size_t source : loads)
    if (lanes_between(source, first)) // that of another row does not serve this load
      if (const Cost its = cost(source, false); its < best_cost && may_move_up(source, first)) {
        best = source;
        best_cost = its;
      }
  const std::optional<int> delta = lanes_between(best, first);
  if (best == first || !delta ||
      judge({best, 0}, first, {first, 0}, {.delta = *delta}, group.form.lane_stride).reason ||
      cost(first, true) <= cost(best, true))
    return false;
  result_.hoists.push_back({trace[best].instruction, trace[first].instruction});
  position_[best] = first;
  result_.kept.push_back({trace[best].instruction, Reason::no_source});
  add_source(best);
  return true;
}

// True if the load `source` may run before the load `before` of the same block instead: nothing it
// needs is computed in between, nothing uses its register in between, and memory stays as it is.
bool Detector::may_move_up(std::size_t source, std::size_t before) {
  const std::uint32_t begin = emulation_.trace()[before].instruction,
                      end = emulation_.trace()[source].instruction;
  if (instruction(source).scope != instruction(before).scope)
    return false;
  for (const Pragma &pragma : function_.pragmas)
    if (pragma.position >= begin && pragma.position <= end)
      return false;
  std::vector<RegisterId> reads, writes;
  for_each_register(module_, instruction(source), [&](RegisterId reg, RegisterUse use) {
    (use == RegisterUse::read ? reads : writes).push_back(reg);
  });
  const auto in = [](const std::vector<RegisterId> &list, RegisterId reg) {
    return std::find(list.begin(), list.end(), reg) != list.end();
  };
  bool free =
      std::none_of(writes.begin(), writes.end(), [&](RegisterId reg) { return in(reads, reg); });
  // Its registers must be declared there already.
  for (std::uint32_t i = begin; i < end; ++i)
    free = free && module_.text({function_.instructions[i].span.end,
                                 function_.instructions[i + 1].span.begin})
                           .find(".reg") == std::string_view::npos;
  for (std::uint32_t i = begin; i < end; ++i)
    for_each_register(module_, function_.instructions[i], [&](RegisterId reg, RegisterUse use) {
      free = free && !in(writes, reg) && (use == RegisterUse::read || !in(reads, reg));
    });
  if (!free)
    return false;
  const Passage passage = between_.passage(before, source, true, false);
  return !passage.obstacle && !passage.assumed && !passage.exchanges;
}

// True if a load of the same loop read this address in the previous iteration.
bool Detector::loop_carried(std::size_t load) const {
  const ControlFlowGraph &cfg = emulation_.cfg();
  const auto &trace = emulation_.trace();
  const LoopId loop = cfg.loop_of(trace[load].block);
  if (loop == no_index)
    return false;
  const Group &group = *loads_[load].group;
  const Expr trips = emulation_.trip_count(loop);
  std::uint64_t step = 0;
  for (const auto &[atom, factor] : group.form.terms)
    if (atom == trips || (atom->kind == ExprKind::extract && atom->children[0] == trips))
      step += factor;
  if (step == 0)
    return false;
  return std::any_of(group.members.begin(), group.members.end(), [&](std::size_t other) {
    return cfg.loop_of(trace[other].block) == loop && element_bytes(other) == element_bytes(load) &&
           loads_[other].constant - step == loads_[load].constant;
  });
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

// The last resort: that the addresses differ contradicts what the path to the load established.
bool Detector::proved_by_solver(Expr a, Expr b, SourceLane from, BlockId block) {
  ExprPool &pool = emulation_.pool();
  if (!has_bit_operations(pool.sub(a, b)) || ++questions_ > solver_questions)
    return false;
  std::vector<Expr> formulas{pool.bit_not(pool.eq(a, b))};
  for (const PathFact &fact : emulation_.facts_in(block)) {
    const Expr condition = emulation_.expand(fact.condition);
    formulas.push_back(fact.holds ? condition : pool.bit_not(condition));
  }
  if (!from.is_own()) { // what the covering lane tests anyway: the other lane is in the warp
    const Expr lane = emulation_.special("%laneid");
    const Expr other = pool.add(lane, pool.constant(32, static_cast<std::uint32_t>(from.delta)));
    formulas.push_back(pool.ult(other, pool.constant(32, warp_lanes)));
    if (const Expr whole = lane_of_row(emulation_, facts_))
      formulas.push_back(whole);
  }
  return solver_.check("equal addresses", formulas) == SolverAnswer::unsat;
}

} // namespace

bool Reuse::is_copy() const {
  return std::all_of(elements.begin(), elements.end(),
                     [](const ElementSource &from) { return from.lane.is_own(); });
}

std::string to_string(SourceLane lane) {
  return lane.flip != 0 ? fmt::format("the lane whose number differs by {}", lane.flip)
                        : fmt::format("lane {:+}", lane.delta);
}

SourceLane Reuse::lane() const {
  SourceLane result;
  for (const ElementSource &from : elements)
    if (from.lane.reach() > result.reach())
      result = from.lane;
  return result;
}

std::vector<LoadedElement> ElementSource::all() const {
  std::vector<LoadedElement> result{{source, element}};
  result.insert(result.end(), others.begin(), others.end());
  return result;
}

std::span<const Operand> elements_of(const Module &module, const Instruction &load) {
  const auto operands = module.operands(load);
  if (operands.empty())
    return {};
  return operands[0].kind == Operand::Kind::vector ? module.children(operands[0])
                                                   : operands.subspan(0, 1);
}

Candidate candidate(const Module &module, const Function &function, const Instruction &instruction,
                    const Widths &widths) {
  const Opcode &opcode = module.opcode(instruction);
  Candidate result;
  result.is_global_load = opcode.op == Op::ld && opcode.space == StateSpace::global;
  result.is_generic = opcode.op == Op::ld && opcode.space == StateSpace::generic;
  result.is_shared_load =
      opcode.op == Op::ld && opcode.space == StateSpace::shared && widths.shared;
  if (!result.is_load())
    return result;
  const unsigned bits = bit_width(opcode.type);
  const bool wanted = (bits == 8 && widths.b8) || (bits == 16 && widths.b16) ||
                      (bits == 32 && widths.b32) || (bits == 64 && widths.b64);
  // Whole registers of at most 64 bits, all of one width.
  const auto destination_fits = [&] {
    const auto elements = elements_of(module, instruction);
    if (elements.size() != opcode.vector)
      return false;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Operand &element = elements[i];
      if (element.kind != Operand::Kind::reg || element.selector)
        return false;
      const Register &reg = function.registers[element.reg];
      const unsigned width = bit_width(reg.type);
      if (reg.vector != 1 || width < 16 || width > 64 ||
          (width != bits && (bits > 16 || width > 32)))
        return false;
      for (std::size_t other = 0; other < i; ++other)
        if (elements[other].reg == element.reg)
          return false;
    }
    return true;
  };
  const auto operands = module.operands(instruction);
  if (effect_of(opcode) != Effect::load)
    result.reason = Reason::not_weak;
  else if (opcode.has(Modifier::shared_cluster))
    result.reason = Reason::other_block;
  else if (!wanted || (opcode.vector != 1 && !widths.vector))
    result.reason = Reason::width_not_supported;
  else if (!instruction.well_formed || operands.size() < 2 ||
           operands[1].kind != Operand::Kind::address || !destination_fits())
    result.reason = Reason::opaque_address;
  else
    result.eligible = true;
  return result;
}

Detection detect(const Module &module, const Function &function, Emulation &emulation,
                 const RewriteOptions &options, bool generic_is_global) {
  return Detector(module, function, emulation, options, generic_is_global).run();
}

} // namespace ptxasw
