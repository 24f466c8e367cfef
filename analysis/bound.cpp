// From the facts of a kernel to bounds: iterations of loops, costs of blocks, a walk for each
// metric and warp, sums over warps and blocks; then the conditions under which no number wrapped
// around, for the thread of the launch for which they say most.

#include "analysis/bound.h"

#include "analysis/bound_walk.h"
#include "analysis/witness_search.h"
#include "emulator/machine/warp_program.h"

#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace ptxasw::analysis {
namespace {

using facts::Amount;
using facts::AmountPool;
using facts::AtomId;
using facts::Rational;

/// Returns true if something in a block may be counted.
bool counts_any(const WalkContext &context, const BoundMetric &metric, BlockId block,
                std::size_t warp) {
  const BlockCost &cost = context.costs.cost(block, warp, context.nothing_known);
  for (std::size_t event = 0; event < counted_events; ++event)
    if (metric.weights[event] != 0 && (cost.events[event].obstacle || cost.events[event].most != 0))
      return true;
  return false;
}

class BoundAnalysis {
public:
  BoundAnalysis(const Module &module, const Function &kernel, const BoundOptions &options)
      : options_(options),
        facts_(module, kernel, {options.block, options.base_alignment, options.grid}),
        amounts_(std::make_shared<AmountPool>()),
        reader_(facts_.emulation(), kernel, facts_.launch(), *amounts_) {
    for (const char *extent : {"nctaid.x", "nctaid.y", "nctaid.z", "ntid.x", "ntid.y", "ntid.z"})
      reader_.extent(extent); // first of all: their order is that of creation
    result_.name = kernel.name;
    result_.amounts = amounts_;
  }

  KernelBounds run() {
    if (!facts_.complete() || !facts_.cfg().well_formed())
      return refused("it is too large, or its control flow is not understood");
    result_.whole_rows = facts_.layout().symbolic && !facts_.launch().one_dimensional;
    trips_ = trip_counts(facts_.emulation(), reader_);
    for (LoopId loop = 0; loop < trips_.size(); ++loop)
      settle(loop);
    count_shares();
    WarpCosts costs(facts_);
    settle_extensions(costs);
    const std::vector<BlockId> postdominators = immediate_postdominators(
        facts_.cfg(), return_edges(facts_.module(), facts_.function(), facts_.cfg()));
    LoopState nothing(facts_.emulation().pool());
    const WalkContext context{facts_, *amounts_,      reader_, trips_,
                              costs,  postdominators, nothing, uncounted_};
    for (const BoundMetric &metric : options_.metrics) {
      result_.metrics.push_back(bound(context, metric));
      count_shares(context, metric, result_.metrics.back());
    }
    return std::move(result_);
  }

private:
  KernelBounds refused(const std::string &reason) {
    for (const BoundMetric &metric : options_.metrics) {
      MetricBound none{metric.name, {}, {}, {}, {}, {}};
      for (Bound *bound : {&none.warp, &none.block, &none.launch})
        bound->obstacle = Obstacle{0, reason};
      result_.metrics.push_back(std::move(none));
    }
    return std::move(result_);
  }

  // --- Conditions ---

  // Adds to `conditions` what has to be at least 0 for an amount to be so for all threads, blocks
  // and iterations of a launch. False if that cannot be determined.
  bool everywhere(Amount amount, std::vector<Amount> &conditions) {
    if (amounts_->never_negative(amount))
      return true;
    // Counters first: their bounds are in terms of the rest.
    for (LoopId loop = static_cast<LoopId>(trips_.size()); loop-- > 0;) {
      const AtomId counter = amounts_->atom_of(reader_.trip(loop));
      if (!amounts_->mentions(amount, counter))
        continue;
      if (!trips_[loop].known)
        return false;
      return at_both_ends(amount, counter, trips_[loop].left_in, conditions);
    }
    for (const AtomId variable : amounts_->variables(amount)) {
      const std::string name = amounts_->name(variable);
      if (name == "laneid")
        return at_both_ends(amount, variable, 31, conditions);
      if (name.starts_with("tid.") || name.starts_with("ctaid."))
        return at_both_ends(amount, variable, reader_.extent("n" + name) - 1, conditions);
    }
    conditions.push_back(std::move(amount));
    return true;
  }

  // The same where a variable goes from 0 to `high`: at the end where the amount is least, or, if
  // that depends, at both.
  bool at_both_ends(const Amount &amount, AtomId variable, const Amount &high,
                    std::vector<Amount> &conditions) {
    const auto least = amounts_->least_end(amount, variable);
    if (!least) {
      auto less = amounts_->without_remainders(amount);
      return less && everywhere(std::move(*less), conditions);
    }
    const bool low = *least != facts::AmountPool::End::high;
    if (low && !everywhere(amounts_->substitute(amount, variable, {}), conditions))
      return false;
    return *least == facts::AmountPool::End::low ||
           everywhere(amounts_->substitute(amount, variable, high), conditions);
  }

  // False if one of them cannot be determined, or no launch is found that keeps them all: then
  // nothing is added.
  bool add_conditions(const std::vector<Amount> &conditions, const facts::BlockKnowledge &known) {
    std::vector<Amount> wanted;
    for (const Amount &condition : conditions)
      if (!everywhere(condition, wanted))
        return false;
    const facts::AmountRanges here = reader_.ranges_in(known);
    std::vector<Amount> all = result_.conditions;
    for (Amount &condition : wanted)
      if (!amounts_->never_negative(condition, &here) &&
          std::find(all.begin(), all.end(), condition) == all.end())
        all.push_back(std::move(condition));
    if (all.size() == result_.conditions.size())
      return true;
    if (!WitnessSearch(*amounts_, all, established(known)).found())
      return false;
    result_.conditions = std::move(all);
    return true;
  }

  // What branches before a block have established, as far as it can be read, with the conditions
  // of the reading.
  std::vector<facts::Reading> established(const facts::BlockKnowledge &known) {
    std::vector<facts::Reading> result;
    for (const PathFact &fact : known.facts())
      if (auto reading = reader_.read(fact, known))
        result.push_back(std::move(*reading));
    return result;
  }

  // True if there is a way out of a loop.
  bool is_left(LoopId loop) const {
    const ControlFlowGraph &cfg = facts_.cfg();
    for (BlockId block = 0; block < cfg.blocks().size(); ++block)
      for (const BlockId to : cfg.blocks()[block].successors)
        if (cfg.contains(loop, block) && !cfg.contains(loop, to))
          return true;
    return false;
  }

  void settle(LoopId loop) {
    facts::TripCount &trip = trips_[loop];
    if (trip.known && !add_conditions(trip.conditions,
                                      facts::BlockKnowledge(facts_.emulation(),
                                                            facts_.cfg().loops()[loop].header))) {
      trip.known = false;
      trip.exact = false;
      trip.reason = "its counter may wrap around, or go away from its bound";
    }
    const Loop &info = facts_.cfg().loops()[loop];
    LoopBound bound;
    const BlockId at = trip.exit != no_index ? trip.exit : info.header;
    const BasicBlock &block = facts_.cfg().blocks()[at];
    const std::uint32_t index = block.branch != no_index ? block.branch : block.first;
    bound.line = facts_.function().instructions[index].line;
    bound.depth = info.depth;
    bound.exact = trip.known && trip.exact;
    bound.reason = trip.reason;
    uncounted_.emplace_back();
    if (trip.known) {
      bound.rounds = trip.rounds;
    } else if (options_.names_rounds && is_left(loop)) {
      const std::uint32_t first = facts_.cfg().blocks()[info.header].first;
      bound.variable = fmt::format("rounds_{}", facts_.function().instructions[first].line);
      uncounted_.back() = amounts_->variable(bound.variable, {Rational(1), std::nullopt});
    }
    result_.loops.push_back(std::move(bound));
  }

  // An address that extends an index: the index must lie within its width in every thread.
  void settle_extensions(WarpCosts &costs) {
    for (const WarpCosts::Extended &extended : costs.extensions()) {
      const facts::BlockKnowledge known(facts_.emulation(), extended.block);
      const bool is_signed = extended.extension->kind == ExprKind::sext;
      const auto reading = reader_.read(extended.extension->children[0], is_signed, known);
      if (!reading || !add_conditions(reading->conditions, known))
        costs.distrust(extended.access);
    }
  }

  // --- What is known about loops and branches ---

  void count_shares() {
    for (LoopId loop = 0; loop < trips_.size(); ++loop) {
      if (!facts_.emulation().feasible(facts_.cfg().loops()[loop].header))
        continue;
      ++result_.counted_loops.all;
      result_.counted_loops.exact += trips_[loop].known && trips_[loop].exact;
    }
    for (const facts::Branch &branch : facts_.branches()) {
      ++result_.branches.all;
      branch_known_.push_back(known_exactly(branch));
      if (branch_known_.back())
        ++result_.branches.exact;
      else
        result_.unknown_branches.push_back(
            {facts_.function().instructions[branch.instruction].line,
             branch.condition ? unknown_ : "its condition is not understood"});
    }
  }

  // The same for what one metric counts. Where a branch that tests data leads, or how often a loop
  // that data ends runs, makes no difference to a sum of which nothing is counted on the way.
  void count_shares(const WalkContext &context, const BoundMetric &metric, MetricBound &result) {
    const ControlFlowGraph &cfg = facts_.cfg();
    std::vector<bool> costs(cfg.blocks().size());
    for (BlockId block = 0; block < costs.size(); ++block)
      for (std::size_t warp = 0; warp < context.costs.warps(); ++warp)
        if (cfg.reachable(block) && facts_.emulation().feasible(block))
          costs[block] = costs[block] || counts_any(context, metric, block, warp);
    const bool parting_counts =
        metric.weights[static_cast<std::size_t>(CountedEvent::divwarps)] != 0;
    for (std::size_t i = 0; i < facts_.branches().size(); ++i) {
      const BlockId block = facts_.branches()[i].block;
      ++result.branches.all;
      result.branches.exact +=
          branch_known_[i] ||
          (!parting_counts && costless(block, context.postdominators[block], costs));
    }
    for (LoopId loop = 0; loop < trips_.size(); ++loop) {
      if (!facts_.emulation().feasible(cfg.loops()[loop].header))
        continue;
      bool free = !parting_counts;
      for (BlockId block = 0; block < costs.size(); ++block)
        free = free && !(cfg.contains(loop, block) && costs[block]);
      ++result.loops.all;
      result.loops.exact += free || (trips_[loop].known && trips_[loop].exact);
    }
  }

  // True if no block costs anything that is on a way from a branch to where its ways meet, or to
  // the end if lanes may end on the way: what comes then they do not execute.
  bool costless(BlockId branch, BlockId meeting, const std::vector<bool> &costs) const {
    std::vector<bool> seen(costs.size());
    std::vector<BlockId> work{branch};
    bool lanes_end = false;
    while (!work.empty()) {
      const BlockId at = work.back();
      work.pop_back();
      lanes_end = lanes_end || ends_lanes(at);
      for (const BlockId to : facts_.cfg().blocks()[at].successors) {
        if (to == meeting || seen[to])
          continue;
        seen[to] = true;
        if (costs[to])
          return false;
        work.push_back(to);
      }
    }
    return !lanes_end || meeting == no_index || costless(branch, no_index, costs);
  }

  // True if lanes may end at the end of a block.
  bool ends_lanes(BlockId block) const {
    const BasicBlock &info = facts_.cfg().blocks()[block];
    if (info.successors.empty())
      return true;
    return info.branch != no_index &&
           ends_thread(facts_.module().opcode(facts_.function().instructions[info.branch]).op);
  }

  // True if it is known which lanes go which way: all of them one way, or those given by a formula
  // over lane and launch.
  bool known_exactly(const facts::Branch &branch) {
    if (branch.parting == facts::Parting::never || branch.parting == facts::Parting::by_lane)
      return true;
    for (LoopId loop = branch.loop; loop != no_index; loop = facts_.cfg().loops()[loop].parent)
      if (trips_[loop].known && trips_[loop].exact && trips_[loop].exit == branch.block)
        return true;
    return branch.condition && is_formula(branch.condition, branch.block);
  }

  // True if what a branch tests is a function of the launch, the lane and the iterations of loops:
  // of what the reader has variables for, of registers that a loop computes from such values, and
  // of values that branches choose if they and all that they choose from are such functions.
  bool is_formula(Expr root, BlockId at) {
    std::vector<Expr> work{root};
    std::set<Expr> seen;
    while (!work.empty()) {
      const Expr node = work.back();
      work.pop_back();
      if (!seen.insert(node).second)
        continue;
      if (node->kind != ExprKind::symbol && !reads_memory(node))
        work.insert(work.end(), node->operands().begin(), node->operands().end());
      else if (!is_formula_leaf(node, at, work)) {
        unknown_ = node->kind == ExprKind::symbol
                       ? fmt::format("the value of `{}` is unknown",
                                     facts_.emulation().pool().symbols()[node->index].name)
                       : "it was loaded";
        return false;
      }
    }
    return true;
  }

  // True of a load that is written as a function of its address; other functions are instructions
  // that are not evaluated, such as those of floating point.
  bool reads_memory(Expr node) const {
    if (node->kind != ExprKind::uf)
      return false;
    const std::string_view name = facts_.emulation().pool().function_name(node);
    return name.starts_with("const") || name.starts_with("readonly");
  }

  // The same of a symbol or a load, with more to be looked at.
  bool is_formula_leaf(Expr node, BlockId at, std::vector<Expr> &work) {
    Emulation &emulation = facts_.emulation();
    for (LoopId loop = 0; loop < trips_.size(); ++loop)
      if (node == emulation.trip_count(loop) && !facts_.cfg().contains(loop, at))
        return trips_[loop].known && trips_[loop].exact; // what it was when the loop was left
    if (reader_.knows(node))
      return true;
    if (const auto join = emulation.join_register(node)) {
      for (const auto &[from, value] : join->values) {
        if (!value)
          return false;
        work.push_back(emulation.expand(value));
      }
      return add_choices(join->block, work);
    }
    const auto loop = emulation.loop_register(node);
    if (!loop || !facts_.cfg().contains(loop->loop, at))
      return false;
    work.push_back(emulation.expand(loop->initial));
    work.push_back(emulation.expand(loop->next));
    return true;
  }

  // What decides by which edge a block is reached from its dominator; false if that is not known.
  bool add_choices(BlockId reached, std::vector<Expr> &work) {
    const ControlFlowGraph &cfg = facts_.cfg();
    std::vector<BlockId> blocks{reached};
    std::set<BlockId> seen{reached};
    while (!blocks.empty()) {
      const BlockId block = blocks.back();
      blocks.pop_back();
      for (const BlockId before : cfg.blocks()[block].predecessors) {
        if (!cfg.reachable(before) || !facts_.emulation().feasible(before) ||
            !seen.insert(before).second)
          continue;
        if (cfg.blocks()[before].branch != no_index) {
          const Expr choice = facts_.emulation().branch_choice(before);
          if (!choice)
            return false;
          work.push_back(facts_.emulation().expand(choice));
        }
        const LoopId loop = cfg.loop_of(before);
        if (loop != no_index && !cfg.contains(loop, reached) &&
            !(trips_[loop].known && trips_[loop].exact))
          return false;
        if (before != cfg.immediate_dominator(reached))
          blocks.push_back(before);
      }
    }
    return true;
  }

  // --- Sums ---

  Amount larger(const Amount &a, const Amount &b) {
    if (amounts_->never_negative(a - b))
      return a;
    return amounts_->never_negative(b - a) ? b : amounts_->maximum(a, b);
  }

  MetricBound bound(const WalkContext &context, const BoundMetric &metric) {
    MetricBound result{metric.name, {}, {}, {}, {}, {}};
    Amount warp, block;
    bool exact = true;
    unsigned both_ways = 0;
    for (std::size_t w = 0; w < context.costs.warps(); ++w) {
      const WalkResult one = walk_warp(context, metric.weights, w);
      if (one.obstacle) {
        for (Bound *bound : {&result.warp, &result.block, &result.launch})
          bound->obstacle = one.obstacle;
        return result;
      }
      warp = w == 0 ? one.most : larger(warp, one.most);
      block += one.most * Amount(Rational(context.costs.copies(w)));
      exact = exact && one.exact;
      both_ways = std::max(both_ways, one.both_ways);
    }
    if (facts_.layout().symbolic) {
      const Amount x = reader_.extent("ntid.x");
      block = warp * amounts_->ceil_div(x, Amount(warp_lanes_)) * reader_.extent("ntid.y") *
              reader_.extent("ntid.z");
    }
    const Amount blocks =
        reader_.extent("nctaid.x") * reader_.extent("nctaid.y") * reader_.extent("nctaid.z");
    result.warp = {warp, exact, {}, both_ways};
    result.block = {block, exact, {}, both_ways};
    result.launch = {block * blocks, exact, {}, both_ways};
    return result;
  }

  static constexpr int warp_lanes_ = static_cast<int>(warp_lanes);
  const BoundOptions &options_;
  const facts::KernelFacts facts_;
  std::shared_ptr<AmountPool> amounts_;
  facts::IntegerReader reader_;
  std::vector<facts::TripCount> trips_;
  std::vector<std::optional<Amount>> uncounted_; ///< by loop: WalkContext::uncounted
  KernelBounds result_;
  std::vector<bool> branch_known_; ///< by place in the facts: known_exactly()
  std::string unknown_;            ///< what is_formula() stumbled over last
};

} // namespace

std::string_view to_string(CountedEvent event) {
  static constexpr std::array<std::string_view, counted_events> names{"instructions", "sectors",
                                                                      "conflicts", "divwarps"};
  return names[static_cast<std::size_t>(event)];
}

std::vector<BoundMetric> usual_metrics() {
  return {{"sectors", {0, 1, 0, 0}},
          {"conflicts", {0, 0, 1, 0}},
          {"divwarps", {0, 0, 0, 1}},
          {"steps", {1, 1, 1, 1}}};
}

BoundMetric weighted_steps() { return {"wsteps", {1, 5, 1, 1}}; }

KernelBounds bound_kernel(const Module &module, const Function &kernel,
                          const BoundOptions &options) {
  return BoundAnalysis(module, kernel, options).run();
}

std::string condition_text(const AmountPool &amounts, const Amount &condition,
                           const AmountPool::Naming &name_of) {
  Amount left, right;
  for (const auto &[monomial, coefficient] : condition.terms()) {
    Amount term(coefficient);
    for (const AtomId part : monomial)
      term = term * Amount::of(part);
    if (coefficient < 0)
      left -= term;
    else
      right += term;
  }
  return fmt::format("{} <= {}", amounts.to_string(left, name_of),
                     amounts.to_string(right, name_of));
}

unsigned degree(const AmountPool &amounts, const Amount &amount) {
  unsigned most = 0;
  for (const auto &[monomial, coefficient] : amount.terms()) {
    unsigned total = 0;
    for (const AtomId part : monomial)
      switch (amounts.kind(part)) {
      case AmountPool::Kind::variable:
        ++total;
        break;
      case AmountPool::Kind::positive_part:
        total += degree(amounts, amounts.first(part));
        break;
      case AmountPool::Kind::ceil_div:
      case AmountPool::Kind::floor_div: {
        const unsigned above = degree(amounts, amounts.first(part));
        total += above - std::min(above, degree(amounts, amounts.second(part)));
        break;
      }
      case AmountPool::Kind::ceil_log2:
        break;
      }
    most = std::max(most, total);
  }
  return most;
}

} // namespace ptxasw::analysis
