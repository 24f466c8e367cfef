// The emulator joins flows where they meet and asks nothing at branches
// (docs/internals/architecture.md). Here the flows that lead to one place are taken apart again,
// for one question:
//
//   if (n & 7) == 6: ...; if n odd: bar.sync      k = 2; if (c) k = 1; ...; if (c) x = a[i + k]
//
// Does a lane that loads have run the barrier? Which k does it have? What a lane has gone through
// to be in a block is a conjunction, gathered up the dominator tree: the condition of each branch
// with one side that leads here; and where flows meet, that one of them was taken, each again with
// the conditions below the place where they parted, and with what it gave to registers there. These
// hold of the values that the lane has in the current iteration of the loops around the question's
// blocks. A deeper loop may have gone round before, with other values under the same names, so what
// its branches say is left out, unless it is the same in each of its rounds. Whatever is left out,
// for that or for want of budget, makes the conjunction weaker: that it cannot hold is then harder
// to show.
//
// If two blocks were passed in one iteration, both conjunctions hold. What contradicts itself did
// not happen. Shown by propagation, by ranges, or by Z3; a handful of numbers that fulfil all of it
// is no proof of anything, but spares a question in vain.

#include "synth/paths.h"

#include "emulator/semantics/scramble.h"
#include "emulator/symbolic/evaluation.h"
#include "emulator/symbolic/path.h"
#include "synth/differ.h"
#include "synth/known.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace ptxasw::synth {
namespace {

/// Blocks and edges that are looked at for one question.
constexpr int path_steps = 96;
/// Things to be shown in one kernel, and those of them that Z3 is asked about.
constexpr unsigned path_places = 64, path_questions = 2;
/// Combinations of what flows bring to one expression, and registers in one.
constexpr std::size_t flows_of_an_expression = 8, joins_in_a_flow = 2;
/// Conditions in one question, and sets of numbers that are tried before it is asked.
constexpr std::size_t path_conditions = 64;
constexpr unsigned path_samples = 128;
/// Nodes of a condition or an address; what is larger is not looked into.
constexpr std::size_t path_nodes = 256;

void add_new(std::vector<Expr> &all, Expr one) {
  if (std::find(all.begin(), all.end(), one) == all.end())
    all.push_back(one);
}

/// The unknowns in an expression; nothing if it is too large.
std::optional<std::vector<Expr>> symbols_in(Expr expr) {
  std::vector<Expr> result, nodes{expr};
  std::unordered_set<Expr> seen{expr};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes.size() > path_nodes)
      return std::nullopt;
    if (nodes[i]->kind == ExprKind::symbol)
      result.push_back(nodes[i]);
    for (const Expr child : nodes[i]->operands())
      if (seen.insert(child).second)
        nodes.push_back(child);
  }
  return result;
}

/// Gathers what holds in a lane that is in one block, or in several in one iteration.
class Gatherer {
public:
  /// Of an iteration of the innermost loop around `around`.
  Gatherer(Emulation &emulation, BlockId around)
      : emulation_(emulation), cfg_(emulation.cfg()), around_(around) {}

  /// Joined registers in it will be told apart by flow. Returns false if it is too large.
  bool is_about(Expr expr) {
    const auto symbols = symbols_in(expr);
    if (symbols)
      for (const Expr symbol : *symbols)
        if (emulation_.join_register(symbol))
          add_new(joined_, symbol);
    return symbols.has_value();
  }
  /// What brought a lane to a block, upwards to `top`, which dominates it.
  std::vector<Expr> conditions_of(BlockId block, BlockId top = 0) {
    std::vector<Expr> result;
    for (BlockId at = block; at != top && at != 0 && steps_ > 0;
         at = cfg_.immediate_dominator(at)) {
      --steps_;
      const auto &before = cfg_.blocks()[at].predecessors;
      const LoopId loop = cfg_.loop_of(at);
      if (before.size() == 1)
        add_branch(before[0], at, result);
      else if (is_current(at) && (loop == no_index || cfg_.loops()[loop].header != at))
        add_meeting(at, result);
    }
    return result;
  }
  /// True if what a block computes is what it computed whenever it was passed in the iteration.
  bool is_steady(Expr computed, BlockId block) const {
    bool result = !cfg_.irreducible(block);
    for (LoopId loop = cfg_.loop_of(block); loop != no_index && !cfg_.contains(loop, around_);
         loop = cfg_.loops()[loop].parent)
      result = result && emulation_.invariant(computed, loop);
    return result;
  }

private:
  /// True if a block is passed at most once in the iteration.
  bool is_current(BlockId block) const {
    const LoopId loop = cfg_.loop_of(block);
    return !cfg_.irreducible(block) && (loop == no_index || cfg_.contains(loop, around_));
  }

  void add_branch(BlockId from, BlockId to, std::vector<Expr> &result) {
    const auto fact = emulation_.fact_on_edge(from, to);
    if (!fact || !is_steady(fact->condition, from))
      return;
    const Expr condition = emulation_.expand(fact->condition);
    if (is_about(condition))
      add_new(result, fact->holds ? condition : emulation_.pool().bit_not(condition));
  }

  void add_meeting(BlockId block, std::vector<Expr> &result) {
    ExprPool &pool = emulation_.pool();
    std::vector<std::pair<Expr, JoinRegister>> here;
    for (const Expr symbol : joined_)
      if (const auto join = emulation_.join_register(symbol); join->block == block)
        here.emplace_back(symbol, *join);
    Expr none = pool.constant(1, 1); // of the flows
    for (const BlockId before : cfg_.blocks()[block].predecessors) {
      if (!cfg_.reachable(before) || !emulation_.feasible(before))
        continue;
      if (--steps_ <= 0 || cfg_.irreducible(before))
        return;
      std::vector<Expr> flow;
      add_branch(before, block, flow);
      for (const auto &[symbol, join] : here)
        for (const auto &[from, value] : join.values)
          if (from == before && value) {
            const Expr brought = emulation_.expand(value);
            if (is_about(brought))
              flow.push_back(pool.eq(symbol, brought));
          }
      for (const Expr condition : conditions_of(before, cfg_.immediate_dominator(block)))
        add_new(flow, condition);
      Expr taken = pool.constant(1, 1);
      for (const Expr condition : flow)
        taken = pool.bit_and(taken, condition);
      none = pool.bit_and(none, pool.bit_not(taken));
    }
    add_new(result, pool.bit_not(none));
  }

  Emulation &emulation_;
  const ControlFlowGraph &cfg_;
  const BlockId around_;
  int steps_ = path_steps;
  std::vector<Expr> joined_; ///< registers that the question depends on
};

/// Those of the conditions that have to do with some unknowns, directly or by way of others, in
/// their order. What is too large has to do with none.
std::vector<Expr> connected(std::span<const Expr> conditions, std::vector<Expr> symbols) {
  std::unordered_set<Expr> reached(symbols.begin(), symbols.end());
  std::vector<bool> taken(conditions.size(), false);
  std::vector<std::optional<std::vector<Expr>>> own;
  for (const Expr condition : conditions)
    own.push_back(symbols_in(condition));
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const auto is_reached = [&](Expr symbol) { return reached.contains(symbol); };
      if (taken[i] || !own[i] ||
          !(own[i]->empty() || std::any_of(own[i]->begin(), own[i]->end(), is_reached)))
        continue;
      reached.insert(own[i]->begin(), own[i]->end());
      taken[i] = more = true;
    }
  }
  std::vector<Expr> result;
  for (std::size_t i = 0; i < own.size() && result.size() < path_conditions; ++i)
    if (taken[i])
      result.push_back(conditions[i]);
  return result;
}

/// Returns true if one of some sets of numbers fulfils all conditions: small ones, such as occur in
/// the conditions, any. Joined registers get what one flow brings.
bool fulfilled_by_numbers(Emulation &emulation, std::span<const Expr> conditions) {
  std::vector<std::uint64_t> constants{0, 1};
  std::unordered_set<Expr> symbols;
  for (const Expr condition : conditions)
    for_each_node(condition, [&](Expr node) {
      const std::uint64_t value = node->value.low;
      if (node->kind == ExprKind::constant || node->kind == ExprKind::sum)
        constants.insert(constants.end(), {value, value + 1, value - 1, 0 - value});
      else if (node->kind == ExprKind::symbol)
        symbols.insert(node);
    });
  for (unsigned sample = 0; sample < path_samples; ++sample) {
    Evaluator *self = nullptr;
    Evaluator evaluate([&](Expr symbol) -> Bits {
      const auto join = symbols.contains(symbol) ? emulation.join_register(symbol) : std::nullopt;
      if (join && !join->values.empty()) {
        const std::uint64_t choice = scramble(join->block * path_samples + sample);
        if (const Expr value = join->values[choice % join->values.size()].second)
          return (*self)(emulation.expand(value));
      }
      const std::uint64_t random = scramble(std::uint64_t{symbol->index} * path_samples + sample);
      std::uint64_t value = random >> 8;
      if (sample % 4 < 2)
        value %= sample % 4 == 0 ? 4 : 64;
      else if (sample % 4 == 2)
        value = constants[value % constants.size()];
      if (value > symbol->maximum)
        value %= symbol->maximum + 1;
      return truncate({value}, symbol->width);
    });
    self = &evaluate;
    if (std::all_of(conditions.begin(), conditions.end(),
                    [&](Expr condition) { return !evaluate(condition).is_zero(); }))
      return true;
  }
  return false;
}

} // namespace

Expr on_flow(ExprPool &pool, const Flow &flow, Expr expr) {
  for (const Brought &one : flow) {
    Substitution put_in(pool);
    put_in.map(one.joined, one.value);
    expr = put_in(expr);
  }
  return expr;
}

std::vector<Flow> flows_of(Emulation &emulation, Expr expr) {
  std::vector<Flow> result;
  std::vector<Expr> seen{expr};
  for (std::size_t i = 0; i <= result.size(); ++i) {
    const Flow so_far = i == 0 ? Flow() : result[i - 1];
    if (so_far.size() == joins_in_a_flow)
      break;
    const auto symbols = symbols_in(seen[i]);
    for (const Expr symbol : symbols.value_or(std::vector<Expr>())) {
      const auto join = emulation.join_register(symbol);
      if (!join)
        continue;
      for (const auto &[from, value] : join->values) {
        if (!value || result.size() == flows_of_an_expression)
          continue;
        Flow flow = so_far;
        flow.push_back({symbol, emulation.expand(value)});
        const Expr there = on_flow(emulation.pool(), flow, expr);
        if (std::find(seen.begin(), seen.end(), there) != seen.end())
          continue;
        seen.push_back(there);
        result.push_back(std::move(flow));
      }
    }
  }
  return result;
}

Shown Paths::never_passed(BlockId obstacle, Expr guard, BlockId from, BlockId to) {
  // What dominates a place every lane has passed that is there.
  if (!guard && emulation_.cfg().dominates(obstacle, to))
    return Shown::no;
  const auto [entry, is_new] = passed_.try_emplace({obstacle, guard, from, to}, Shown::no);
  if (!is_new || ++looked_at_ > path_places)
    return entry->second;
  Gatherer gatherer(emulation_, from);
  std::vector<Expr> own = gatherer.conditions_of(obstacle);
  if (guard && gatherer.is_steady(guard, obstacle)) {
    const Expr runs = emulation_.expand(guard);
    if (gatherer.is_about(runs))
      own.push_back(runs);
  }
  std::vector<Expr> all = gatherer.conditions_of(to);
  std::erase_if(own, [&](Expr one) { return std::find(all.begin(), all.end(), one) != all.end(); });
  if (own.empty())
    return entry->second;
  all.insert(all.begin(), own.begin(), own.end());
  return entry->second = contradict(std::move(all), own);
}

Shown Paths::always_on(const Flow &flow, BlockId block) {
  ExprPool &pool = emulation_.pool();
  std::vector<Expr> parts;
  for (const Brought &one : flow)
    parts.insert(parts.end(), {one.joined, one.value});
  const auto [entry, is_new] = flows_.try_emplace({parts, block}, Shown::no);
  if (!is_new || ++looked_at_ > path_places)
    return entry->second;
  Gatherer gatherer(emulation_, block);
  Expr same = pool.constant(1, 1);
  for (const Brought &one : flow)
    same = pool.bit_and(same, pool.eq(one.joined, one.value));
  gatherer.is_about(same);
  std::vector<Expr> all = gatherer.conditions_of(block);
  all.insert(all.begin(), pool.bit_not(same));
  return entry->second = contradict(std::move(all), parts);
}

// Shows that some conditions, those of them that have to do with `about`, cannot hold together.
Shown Paths::contradict(std::vector<Expr> conditions, std::span<const Expr> about) {
  ExprPool &pool = emulation_.pool();
  std::vector<Expr> symbols;
  for (const Expr expr : about)
    if (const auto own = symbols_in(expr))
      symbols.insert(symbols.end(), own->begin(), own->end());
  conditions = connected(conditions, std::move(symbols));
  std::vector<std::pair<Expr, bool>> all;
  all.reserve(conditions.size());
  for (const Expr condition : conditions)
    all.emplace_back(condition, true);
  Known known(pool);
  known.assume_all(all);
  PathKnowledge ranges(pool);
  bool excluded = known.contradictory();
  for (const auto &[condition, holds] : known.literals()) {
    if (condition->kind == ExprKind::bit_and) // its parts are there, too
      continue;
    excluded = excluded || ranges.decide(condition) == !holds;
    ranges.assume(condition, holds);
  }
  if (excluded)
    return Shown::by_algebra;
  if (questions_ == path_questions || fulfilled_by_numbers(emulation_, conditions))
    return Shown::no;
  ++questions_;
  const bool never =
      solver_.check("a path", without_products(pool, conditions)) == SolverAnswer::unsat;
  return never ? Shown::by_solver : Shown::no;
}

} // namespace ptxasw::synth
