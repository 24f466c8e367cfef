// The costs of a region are found backwards: for a block, its own and those of the paths from it up
// to `stop`, where the caller goes on counting. A branch at which all lanes go the same way costs
// the costlier of its ways; one that parts lanes costs both, up to where they meet, and what
// follows once. A loop is one step: the cost of an iteration times their number, and what its lanes
// do where they leave it.
//
// Within a loop a way ends where it reaches the header again, or leaves the loop. Lanes that leave
// it in different iterations wait after it at the post-dominator of the branches that they leave by
// (all of them have the same, being on one cycle); what they do before that, each may do
// separately.
//
// Counting lanes one by one needs none of that: whatever the schedule, a warp's lanes together do
// no more than 32 times what the busiest of them does.

#include "analysis/bound_walk.h"

#include "emulator/semantics/effects.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::analysis {
namespace {

using facts::Amount;
using facts::Rational;
using facts::TripCount;

constexpr unsigned rounds_budget = 64; ///< of a loop whose iterations are examined one by one
constexpr std::size_t visits_budget = 20'000;
constexpr unsigned nesting_budget = 1'000; ///< branches behind each other, 3 KB of the stack each
constexpr unsigned depth_budget = 40;      ///< of what a register is after some iterations

/// Lanes cannot be relied on to meet: they have to be counted one by one.
struct LanesApart {};

/// A way out of a loop.
struct WayOut {
  BlockId from = 0, to = 0;
  bool varies = false; ///< lanes may leave here while others stay
};

WalkResult plus(WalkResult a, const WalkResult &b) {
  if (!a.obstacle)
    a.obstacle = b.obstacle;
  a.most += b.most;
  a.exact = a.exact && b.exact;
  a.both_ways += b.both_ways;
  return a;
}

bool is_zero(const WalkResult &a) { return !a.obstacle && a.most.is_zero(); }

/// Where lanes go, part, wait for each other and meet, as far as control flow shows.
class LaneWays {
public:
  explicit LaneWays(const WalkContext &context)
      : context_(context), cfg_(context.facts.cfg()), emulation_(context.facts.emulation()),
        gathers_(cfg_.blocks().size(), false) {
    for (BlockId block = 0; block < cfg_.blocks().size(); ++block)
      for (std::uint32_t i = cfg_.blocks()[block].first; i < cfg_.blocks()[block].end; ++i)
        gathers_[block] = gathers_[block] || gathers_lanes(opcode(i));
  }

  /// A block makes lanes wait for each other.
  bool gathers(BlockId block) const { return gathers_[block]; }

  /// Returns true if all lanes that get here wait for each other where the block makes lanes wait.
  bool gathers_evenly(BlockId block) const {
    for (std::uint32_t i = cfg_.blocks()[block].first; i < cfg_.blocks()[block].end; ++i)
      if (gathers_lanes(opcode(i)) && !emulation_.meets_evenly(i))
        return false;
    return true;
  }

  bool ends_lanes(std::uint32_t instruction) const {
    const Op op = opcode(instruction).op;
    return op == Op::exit || op == Op::ret;
  }

  /// The line of a block's branch, or of its first instruction.
  std::uint32_t line_of(BlockId block) const {
    const BasicBlock &info = cfg_.blocks()[block];
    const auto &instructions = context_.facts.function().instructions;
    const std::uint32_t index = info.branch != no_index ? info.branch : info.first;
    return index < instructions.size() ? instructions[index].line : 0;
  }

  bool leaves(BlockId block, LoopId loop) const {
    const auto &successors = cfg_.blocks()[block].successors;
    return std::any_of(successors.begin(), successors.end(),
                       [&](BlockId to) { return !cfg_.contains(loop, to); });
  }

  bool within(BlockId block, LoopId loop) const {
    return block < cfg_.blocks().size() && (loop == no_index || cfg_.contains(loop, block));
  }

  /// Distinct successors that are possible.
  std::vector<BlockId> ways_on(BlockId block) const {
    std::vector<BlockId> result;
    for (const BlockId to : cfg_.blocks()[block].successors)
      if (emulation_.feasible(to) && std::find(result.begin(), result.end(), to) == result.end())
        result.push_back(to);
    return result;
  }

  /// Returns true if something between a block and where its ways meet lets lanes wait for each
  /// other.
  bool gathers_before(BlockId block, BlockId meeting) const {
    const auto between =
        reached_from(cfg_, block, [&](BlockId, BlockId to) { return to != meeting; });
    return std::any_of(between.begin(), between.end(), [&](BlockId at) { return gathers_[at]; });
  }

  /// Returns true if lanes that part in a loop of unknown iterations may come to its header before
  /// they meet, as by `continue`: others then wait while they make iterations, and the iterations
  /// of all are more than those of any. (Where iterations are counted each passes the branch that
  /// is counted.)
  bool goes_around(BlockId block, BlockId meeting, LoopId loop) const {
    if (loop == no_index || !context_.uncounted[loop] || cfg_.loops()[loop].header == meeting)
      return false;
    return reached_from(
               cfg_, block,
               [&](BlockId, BlockId to) { return to != meeting && cfg_.contains(loop, to); })
        .contains(cfg_.loops()[loop].header);
  }

  /// Registers of a loop that are not first-order progressions, as far as anything in it needs
  /// them.
  std::vector<Expr> registers_of(LoopId loop) const {
    std::vector<Expr> result;
    const auto look = [&](Expr expr) {
      if (!expr)
        return;
      for_each_node(expr, [&](Expr node) {
        const auto at = emulation_.loop_register(node);
        if (at && at->loop == loop && std::find(result.begin(), result.end(), node) == result.end())
          result.push_back(node);
      });
    };
    for (const BlockId block : cfg_.reverse_postorder())
      if (cfg_.contains(loop, block) && emulation_.branch_choice(block))
        look(emulation_.expand(emulation_.branch_choice(block)));
    for (const facts::Access &access : context_.facts.accesses())
      if (cfg_.contains(loop, access.block)) {
        look(access.address);
        look(access.guard);
      }
    for (std::size_t i = 0; i < result.size(); ++i)
      look(emulation_.expand(emulation_.loop_register(result[i])->next));
    return result;
  }

private:
  const Opcode &opcode(std::uint32_t instruction) const {
    return context_.facts.module().opcode(context_.facts.function().instructions[instruction]);
  }

  const WalkContext &context_;
  const ControlFlowGraph &cfg_;
  Emulation &emulation_;
  std::vector<bool> gathers_; ///< by block
};

/// Which costs are larger, of the ways of a branch or of the lanes of a warp.
class CostOrder {
public:
  CostOrder(const WalkContext &context, std::size_t warp)
      : context_(context), amounts_(context.amounts), cfg_(context.facts.cfg()),
        emulation_(context.facts.emulation()), warp_(warp) {}

  /// Where a branch has said what a parameter is at least, max(0, x) may be x.
  Amount simplified_in(const Amount &amount, BlockId from_block, BlockId to) {
    if (amount.number() || cfg_.blocks()[to].predecessors.size() != 1 || from_block == to)
      return amount;
    return amounts_.simplify(amount,
                             context_.reader.ranges_in(facts::BlockKnowledge(emulation_, to)));
  }

  /// The larger of two ways of a branch; no_index: of none.
  WalkResult dearer(const WalkResult &a, const WalkResult &b, BlockId block) {
    if (a.obstacle || b.obstacle)
      return a.obstacle ? a : b;
    WalkResult result;
    result.exact = a.exact && b.exact;
    result.both_ways = std::max(a.both_ways, b.both_ways);
    const Amount difference = a.most - b.most;
    if (difference.is_zero()) {
      result.most = a.most;
      return result;
    }
    const Amount opposite = b.most - a.most;
    // Only lanes that come by the branch pay: what is known there may be used.
    facts::AmountRanges here;
    if (block != no_index)
      here = context_.reader.ranges_in(facts::BlockKnowledge(emulation_, block));
    result.most = amounts_.never_negative(difference, &here) ? a.most
                  : amounts_.never_negative(opposite, &here) ? b.most
                                                             : amounts_.maximum(a.most, b.most);
    // The first way is the one that the branch takes where its condition holds.
    result.exact = result.exact && block != no_index &&
                   (vanishes_where_shut(difference, block, true) ||
                    vanishes_where_shut(opposite, block, false));
    return result;
  }

  /// The largest value for the lanes of the warp, in any block.
  std::optional<Amount> for_all_lanes(const Amount &amount, bool &exact) {
    Amount result = amount;
    const facts::Layout &layout = context_.facts.layout();
    for (const facts::AtomId variable : amounts_.variables(amount)) {
      const std::string &name = amounts_.name(variable);
      Amount low, high;
      if (name == "laneid") {
        high = 31;
      } else if (name.starts_with("tid.")) {
        const int axis = name.back() - 'x';
        if (layout.symbolic || (axis > 0 && layout.whole_rows)) {
          high = context_.reader.extent("n" + name) - 1;
        } else {
          const facts::WarpThreads &lanes = layout.warps[warp_];
          std::uint32_t least = ~0u, most = 0;
          for (std::uint32_t t = lanes.first; t < lanes.first + lanes.count; ++t) {
            const facts::ThreadId &id = layout.threads[t];
            const std::uint32_t place = axis == 0 ? id.x : axis == 1 ? id.y : id.z;
            least = std::min(least, place);
            most = std::max(most, place);
          }
          low = Amount(Rational(least));
          high = Amount(Rational(most));
        }
      } else if (name.starts_with("ctaid.")) {
        high = context_.reader.extent("n" + name) - 1;
      } else {
        continue;
      }
      exact = false;
      const auto at_most = amounts_.largest(result, variable, low, high);
      if (!at_most)
        return std::nullopt;
      result = *at_most;
    }
    return result;
  }

private:
  // True if a way that is taken where the branch's condition `holds` costs more than the other one
  // exactly there: it tests whether something is at least 1, and `more` is never negative where it
  // is and not positive where it is not. Then the larger of both is what happens.
  bool vanishes_where_shut(const Amount &more, BlockId block, bool holds) {
    const Expr choice = emulation_.branch_choice(block);
    if (!choice || cfg_.blocks()[block].successors.size() != 2)
      return false;
    const facts::BlockKnowledge known(emulation_, block);
    const auto open = context_.reader.read({emulation_.expand(choice), holds}, known);
    if (!open)
      return false;
    const Amount passes = open->value + 1; // at least 1 where the way is open
    if (passes.number())
      return false;
    const auto &[leading, factor] = *passes.terms().rbegin();
    if (const auto found = more.terms().find(leading); found != more.terms().end())
      if (const Rational ratio = found->second / factor;
          ratio > 0 && more == passes * Amount(ratio))
        return true;
    const Amount part = amounts_.positive_part(passes);
    if (part.terms().size() != 1 || part.terms().begin()->first.size() != 1 ||
        !amounts_.never_negative(more))
      return false;
    const facts::AtomId atom = part.terms().begin()->first[0];
    return amounts_.kind(atom) == facts::AmountPool::Kind::positive_part &&
           std::all_of(more.terms().begin(), more.terms().end(), [&](const auto &term) {
             return std::binary_search(term.first.begin(), term.first.end(), atom);
           });
  }

  const WalkContext &context_;
  facts::AmountPool &amounts_;
  const ControlFlowGraph &cfg_;
  Emulation &emulation_;
  const std::size_t warp_;
};

/// One walk over a kernel, with all lanes of a warp or lane by lane.
class Walker {
public:
  Walker(const WalkContext &context, const EventWeights &weights, std::size_t warp, bool apart)
      : context_(context), amounts_(context.amounts), cfg_(context.facts.cfg()),
        emulation_(context.facts.emulation()), ways_(context), order_(context, warp),
        weights_(weights), warp_(warp), apart_(apart),
        end_(static_cast<BlockId>(cfg_.blocks().size())) {}

  WalkResult run() {
    for (const BlockId block : cfg_.reverse_postorder())
      if (cfg_.irreducible(block))
        return none(block, "a cycle with several entries");
    WalkResult result = walk(0, end_, no_index, context_.nothing_known);
    if (apart_) {
      result.most = result.most * Amount(static_cast<int>(context_.costs.lanes(warp_)));
      result.exact = false;
      result.both_ways = every_lane;
    }
    return result;
  }

private:
  WalkResult none(BlockId block, std::string reason) const {
    WalkResult result;
    result.exact = false;
    result.obstacle = Obstacle{ways_.line_of(block), std::move(reason)};
    return result;
  }

  WalkResult of_block(BlockId block, LoopState &state) {
    if (!apart_ && ways_.gathers(block) && !ways_.gathers_evenly(block))
      throw LanesApart();
    const BlockCost &cost = context_.costs.cost(block, warp_, state);
    WalkResult result;
    for (std::size_t e = 0; e < counted_events; ++e) {
      if (weights_[e] == 0)
        continue;
      const EventCount &event = cost.events[e];
      if (event.obstacle && !result.obstacle)
        result.obstacle = event.obstacle;
      result.most += Amount(Rational(weights_[e] * Rational(apart_ ? cost.alone[e] : event.most)));
      result.exact = result.exact && event.exact;
    }
    return result;
  }

  WalkResult divergence(bool certain) const {
    WalkResult result;
    result.most = Amount(weights_[static_cast<std::size_t>(CountedEvent::divwarps)]);
    result.exact = certain || result.most.is_zero();
    return result;
  }

  // What it costs from the beginning of a block to `stop`, to the next iteration of `loop` or out
  // of it.
  WalkResult walk(BlockId block, BlockId stop, LoopId loop, LoopState &state) {
    if (block == stop || !ways_.within(block, loop) || !emulation_.feasible(block) ||
        (loop != no_index && cfg_.loops()[loop].header == block))
      return {};
    return from(block, stop, loop, state);
  }

  WalkResult from(BlockId block, BlockId stop, LoopId loop, LoopState &state) {
    const auto key = std::tuple(block, stop, loop, state.id, last_round_);
    if (const auto found = memo_.find(key); found != memo_.end())
      return found->second;
    if (++visits_ > visits_budget || nesting_ == nesting_budget)
      return none(block, "too many ways");
    ++nesting_;
    const LoopId own = cfg_.loop_of(block);
    WalkResult result = own != loop && own != no_index && cfg_.loops()[own].header == block
                            ? plus(of_loop(own, state), behind_loop(own, stop, loop, state))
                            : plus(of_block(block, state), behind_block(block, stop, loop, state));
    --nesting_;
    memo_[key] = result;
    return result;
  }

  WalkResult behind_block(BlockId block, BlockId stop, LoopId loop, LoopState &state) {
    if (block == last_round_) // the iteration in which it is left ends here
      return {};
    const BasicBlock &info = cfg_.blocks()[block];
    const std::vector<BlockId> ways = ways_.ways_on(block);
    if (info.branch == no_index)
      return ways.empty() ? WalkResult{} : walk(ways[0], stop, loop, state);
    const BranchDecision decision = context_.costs.decide(block, warp_, state);
    const bool parts =
        decision.kind == LaneDecision::parts || decision.kind == LaneDecision::may_part;
    if (info.successors.size() == 1) { // an exit with a guard, or a branch to the next block
      WalkResult on = walk(info.successors[0], stop, loop, state);
      if (parts)
        on = plus(divergence(decision.kind == LaneDecision::parts && !apart_), on);
      else if (decision.kind == LaneDecision::together && ways_.ends_lanes(info.branch))
        on.exact = is_zero(on); // all may end here
      return on;
    }
    if (decision.kind == LaneDecision::one_way)
      return walk(info.successors[decision.successor], stop, loop, state);
    // What leaves the loop is counted with the loop, divergence there, too.
    if (loop != no_index && ways_.leaves(block, loop)) {
      WalkResult result;
      unsigned stay = 0;
      for (const BlockId to : ways)
        if (cfg_.contains(loop, to)) {
          ++stay;
          result = plus(result, walk(to, stop, loop, state));
        }
      if (stay > 1 && parts && !apart_)
        throw LanesApart();
      return result;
    }
    if (!parts || apart_) {
      WalkResult result = dearest(block, ways, stop, loop, state);
      return parts ? plus(divergence(false), result) : result;
    }
    const BlockId meeting = context_.postdominators[block];
    if ((meeting < end_ && !ways_.within(meeting, loop)) || (meeting >= end_ && loop != no_index) ||
        ways_.gathers_before(block, meeting) || ways_.goes_around(block, meeting, loop))
      throw LanesApart();
    const BlockId until = meeting < end_ ? meeting : end_;
    WalkResult result = divergence(decision.kind == LaneDecision::parts);
    unsigned costly = 0;
    for (const BlockId to : ways) {
      const WalkResult way = walk(to, until, loop, state);
      costly += !is_zero(way);
      result = plus(result, way);
    }
    result.both_ways += costly > 1 && decision.kind == LaneDecision::may_part;
    return until == end_ ? result : plus(result, walk(until, stop, loop, state));
  }

  WalkResult dearest(BlockId block, const std::vector<BlockId> &ways, BlockId stop, LoopId loop,
                     LoopState &state) {
    std::optional<WalkResult> result;
    for (const BlockId to : ways) {
      WalkResult way = walk(to, stop, loop, state);
      way.most = order_.simplified_in(way.most, block, to);
      if (!result)
        result = way;
      else
        result = order_.dearer(*result, way, block);
    }
    return result.value_or(WalkResult{});
  }

  std::vector<WayOut> ways_out(LoopId loop, LoopState &state) {
    std::vector<WayOut> result;
    for (const BlockId block : cfg_.reverse_postorder())
      if (cfg_.contains(loop, block) && emulation_.feasible(block))
        for (const BlockId to : ways_.ways_on(block))
          if (!cfg_.contains(loop, to)) {
            const LaneDecision kind = context_.costs.decide(block, warp_, state).kind;
            result.push_back(
                {block, to, kind == LaneDecision::parts || kind == LaneDecision::may_part});
          }
    return result;
  }

  WalkResult behind_loop(LoopId inner, BlockId stop, LoopId loop, LoopState &state) {
    const std::vector<WayOut> ways = ways_out(inner, state);
    const bool varies =
        std::any_of(ways.begin(), ways.end(), [](const WayOut &way) { return way.varies; });
    if (!varies || apart_) {
      std::vector<BlockId> targets;
      for (const WayOut &way : ways)
        if (std::find(targets.begin(), targets.end(), way.to) == targets.end())
          targets.push_back(way.to);
      WalkResult result;
      for (std::size_t i = 0; i < targets.size(); ++i) {
        const WalkResult way = walk(targets[i], stop, loop, state);
        result = i == 0 ? way : order_.dearer(result, way, no_index);
      }
      return result;
    }
    for (const BlockId block : cfg_.reverse_postorder())
      if (cfg_.contains(inner, block) && ways_.gathers(block))
        throw LanesApart();
    const BlockId meeting = context_.postdominators[ways[0].from];
    if (cfg_.contains(inner, std::min(meeting, end_ - 1)) && meeting < end_)
      throw LanesApart();
    if (meeting >= end_ ? loop != no_index : !ways_.within(meeting, loop))
      throw LanesApart();
    const BlockId until = meeting < end_ ? meeting : end_;
    WalkResult result;
    for (const WayOut &way : ways) {
      if (ways_.goes_around(way.from, until, loop))
        throw LanesApart();
      if (way.to == until)
        continue;
      if (ways_.gathers_before(way.from, until))
        throw LanesApart();
      WalkResult side = walk(way.to, until, loop, state);
      if (is_zero(side))
        continue;
      // Each lane may get there alone.
      side.most = side.most * Amount(static_cast<int>(context_.costs.lanes(warp_)));
      side.exact = false;
      ++side.both_ways;
      result = plus(result, side);
    }
    return until == end_ ? result : plus(result, walk(until, stop, loop, state));
  }

  WalkResult of_loop(LoopId loop, LoopState &state) {
    const BlockId header = cfg_.loops()[loop].header;
    const TripCount &trip = context_.trips[loop];
    const std::vector<WayOut> ways = ways_out(loop, state);
    const bool varies =
        std::any_of(ways.begin(), ways.end(), [](const WayOut &way) { return way.varies; });
    WalkResult partings = partings_at_exits(loop, ways, varies);
    if (trip.known && trip.geometric && !apart_)
      if (auto one_by_one = round_by_round(loop, state))
        return plus(*one_by_one, partings);
    WalkResult round = round_of(loop, header, no_index, state);
    if (is_zero(round))
      return partings;
    if (!trip.known && !context_.uncounted[loop]) {
      WalkResult result = none(header, fmt::format("a loop: {}", trip.reason));
      if (trip.exit != no_index)
        result.obstacle->line = ways_.line_of(trip.exit);
      return result;
    }
    if (round.obstacle)
      return round;
    const facts::AtomId counter = amounts_.atom_of(context_.reader.trip(loop));
    if (!trip.known) {
      // An iteration that is left in the middle costs no more than one that is not.
      const Amount &rounds = *context_.uncounted[loop];
      bool exact = false;
      const auto total = amounts_.sum(round.most, counter, rounds, rounds - 1, exact);
      if (!total)
        return none(header, "a loop: the costs of its rounds cannot be added up");
      WalkResult result;
      result.most = *total;
      result.exact = false;
      result.both_ways = round.both_ways;
      return plus(result, partings);
    }
    const bool at_the_end = std::all_of(
        cfg_.blocks()[trip.exit].successors.begin(), cfg_.blocks()[trip.exit].successors.end(),
        [&](BlockId to) { return to == header || !cfg_.contains(loop, to); });
    bool exact = trip.exact && round.exact && !varies && !apart_;
    const auto rounds = order_.for_all_lanes(trip.rounds, exact);
    const auto full = order_.for_all_lanes(trip.left_in, exact);
    const auto plain = order_.for_all_lanes(trip.left_in_plain, exact);
    if (!rounds || !full || !plain)
      return none(header, "a loop: where in the warp its count is largest is not seen");
    WalkResult result;
    std::optional<Amount> total;
    if (at_the_end) {
      total = amounts_.sum(round.most, counter, *rounds, *plain, exact);
    } else {
      const WalkResult last = round_of(loop, header, trip.exit, state);
      total = amounts_.sum(round.most, counter, *full, *plain - 1, exact);
      // In the last iteration the counter is left_in.
      if (total)
        *total += amounts_.substitute(last.most, counter, *full);
      exact = exact && last.exact;
    }
    if (!total)
      return none(header, "a loop: the costs of its rounds cannot be added up");
    result.most = *total;
    result.exact = exact;
    result.both_ways = round.both_ways;
    return plus(result, partings);
  }

  WalkResult round_of(LoopId loop, BlockId header, BlockId last, LoopState &state) {
    const BlockId outside = last_round_;
    last_round_ = last;
    WalkResult result = from_header(loop, header, state);
    last_round_ = outside;
    return result;
  }

  WalkResult from_header(LoopId loop, BlockId header, LoopState &state) {
    return plus(of_block(header, state), behind_block(header, end_, loop, state));
  }

  // Lanes that leave a loop do so once: all partings there leave at least one behind.
  WalkResult partings_at_exits(LoopId loop, const std::vector<WayOut> &ways, bool varies) {
    if (!varies)
      return {};
    WalkResult result = divergence(false);
    std::uint32_t most = context_.costs.lanes(warp_) - 1;
    const TripCount &trip = context_.trips[loop];
    const bool one_exit = std::all_of(ways.begin(), ways.end(), [&](const WayOut &way) {
      return !way.varies || way.from == trip.exit;
    });
    if (trip.known && one_exit && !apart_) {
      bool exact = true;
      if (const auto rounds = order_.for_all_lanes(trip.rounds, exact))
        if (const auto number = amounts_.range(*rounds).high; number && *number < most)
          most = static_cast<std::uint32_t>(facts::floor_of(*number));
    }
    if (apart_)
      most = 1; // a lane leaves once
    result.most = result.most * Amount(static_cast<int>(most));
    result.exact = result.most.is_zero();
    return result;
  }

  // A loop of few iterations, in each of which its registers are their first values, doubled that
  // many times.
  std::optional<WalkResult> round_by_round(LoopId loop, LoopState &state) {
    const TripCount &trip = context_.trips[loop];
    bool exact = trip.exact;
    const auto most = order_.for_all_lanes(trip.left_in, exact);
    const auto number = most ? most->number() : std::nullopt;
    if (!number || *number > rounds_budget)
      return std::nullopt;
    const auto rounds = static_cast<unsigned>(facts::floor_of(*number)) + 1;
    // Iterations are begun only where branches before the loop let lanes in.
    const Amount begun = trip.rounds;
    if (begun.number() && *begun.number() == 0)
      return WalkResult{};
    ExprPool &pool = emulation_.pool();
    LoopState::Values values; ///< of registers in this iteration
    for (const Expr symbol : ways_.registers_of(loop)) {
      values.emplace_back(symbol,
                          state(emulation_.expand(emulation_.loop_register(symbol)->initial)));
    }
    const BlockId header = cfg_.loops()[loop].header;
    const facts::AtomId counter = amounts_.atom_of(context_.reader.trip(loop));
    WalkResult result;
    for (unsigned round = 0; round < rounds; ++round) {
      LoopState::Values known = state.values();
      known.insert(known.end(), values.begin(), values.end());
      known.emplace_back(emulation_.trip_count(loop), pool.constant(64, round));
      const unsigned id = context_.costs.number_of(known);
      LoopState inside(pool, std::move(known), id);
      WalkResult one = round_of(loop, header, round + 1 == rounds ? trip.exit : no_index, inside);
      one.most = amounts_.substitute(one.most, counter, Amount(static_cast<int>(round)));
      result = plus(result, one);
      LoopState::Values next;
      for (const auto &[symbol, value] : values) {
        Substitution step(pool);
        for (const auto &[other, now] : values)
          step.map(other, now);
        const Expr then = step(emulation_.expand(emulation_.loop_register(symbol)->next));
        if (then->depth > depth_budget)
          return std::nullopt;
        next.emplace_back(symbol, then);
      }
      values = std::move(next);
    }
    result.exact = result.exact && exact;
    return result;
  }

  const WalkContext &context_;
  facts::AmountPool &amounts_;
  const ControlFlowGraph &cfg_;
  Emulation &emulation_;
  const LaneWays ways_;
  CostOrder order_;
  const EventWeights &weights_;
  const std::size_t warp_;
  const bool apart_;
  const BlockId end_; ///< behind the last block
  std::map<std::tuple<BlockId, BlockId, LoopId, unsigned, BlockId>, WalkResult> memo_;
  std::size_t visits_ = 0;
  unsigned nesting_ = 0; ///< of from()
  BlockId last_round_ =
      no_index; ///< where the iteration ends that is being walked; none: at the header
};

} // namespace

WalkResult walk_warp(const WalkContext &context, const EventWeights &weights, std::size_t warp) {
  try {
    return Walker(context, weights, warp, false).run();
  } catch (const LanesApart &) {
    return Walker(context, weights, warp, true).run();
  }
}

} // namespace ptxasw::analysis
