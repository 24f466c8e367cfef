// Which symbols two threads share decides what can be proved of them.
//
//   parameters, extents, addresses of variables    always
//   ctaid                                          in one block
//   a loop's iteration                             if both are in the barrier's, at which they
//                                                  waited, or in the next one
//   a register at a loop's header, a join          if it is the same in a whole block in one
//                                                  iteration, and both are in that iteration
//   what was loaded                                by the address, where nothing writes; by one
//                                                  instruction in one iteration, if nothing races
//   everything else                                never
//
// Of each loop whose registers or iterations occur it is known that this is the first iteration, or
// that the branches at the end of the one before led back: `i < n` of a loop that tests it at its
// end. The iteration before is a copy of its own, in which what the loop writes are other symbols.
//
// Of registers of loops and joins that a thread may have gone around nothing is said if it has:
// what contradicts itself there must not exclude the thread. If it might have come there, as far as
// its branches are understood, it may be taken to have, by any edge and in the first iteration.

#include "analysis/prove/thread_copy.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::analysis {
namespace {

/// More iterations than any thread lives for; and more than a loop has whose indices do not wrap.
constexpr std::uint64_t most_rounds = std::uint64_t{1} << 48;
constexpr std::uint64_t most_rounds_without_wrap = std::uint64_t{1} << 31;

bool is_special(const std::string &name, std::string_view what) {
  return name.starts_with(what) && name.size() == what.size() + 1;
}

} // namespace

// Symbols of one of two threads have its number behind an apostrophe.
unsigned ThreadsIn::operator()(Expr expr) {
  const auto known = known_.find(expr);
  if (known != known_.end())
    return known->second;
  unsigned threads = 0;
  for_each_node(expr, [&](Expr node) {
    if (node->kind != ExprKind::symbol)
      return;
    const std::string &name = pool_.symbols()[node->index].name;
    if (const std::size_t at = name.find('\''); at != std::string::npos)
      threads |= name.substr(at) == "'1" ? 1u : name.substr(at) == "'2" ? 2u : 3u;
  });
  return known_[expr] = threads;
}

ThreadCopy::ThreadCopy(KernelPaths &paths, const FixedLaunch &launch, ThreadPair pair,
                       unsigned number, BlockId at, const Rounds &rounds,
                       const InvariantsOf &invariants)
    : paths_(paths), pool_(paths.pool()), launch_(launch), pair_(pair), number_(number), at_(at),
      rounds_(rounds), invariants_(invariants), substitution_(pool_) {
  for (LoopId loop = paths.cfg().loop_of(at); loop != no_index;
       loop = paths.cfg().loops()[loop].parent)
    touch(loop);
}

ThreadCopy::ThreadCopy(ThreadCopy &later, LoopId loop)
    : paths_(later.paths_), pool_(later.pool_), launch_(later.launch_), pair_(later.pair_),
      number_(later.number_), at_(later.at_), rounds_(later.rounds_),
      invariants_(later.invariants_), later_(&later), loop_(loop), substitution_(pool_) {}

ThreadCopy::~ThreadCopy() = default;

Expr ThreadCopy::fresh(Expr like) {
  return pool_.symbol(fmt::format("{}'{}", pool_.symbols()[like->index].name, number_), like->width,
                      like->maximum);
}

void ThreadCopy::add_fact(Expr fact) {
  if (later_) // it may be that there is no iteration before
    fact = pool_.bit_or(
        fact, pool_.eq((*later_)(paths_.emulation().trip_count(loop_)), pool_.constant(64, 0)));
  facts_.push_back(fact);
}

// That the thread does not get to a block, for what only holds if it does.
Expr ThreadCopy::absent(BlockId block) {
  return !later_ && paths_.cfg().dominates(block, at_) ? pool_.constant(1, 0)
                                                       : pool_.bit_not((*this)(paths_.way(block)));
}

Expr ThreadCopy::operator()(Expr expr) {
  for_each_node(expr, [&](Expr node) {
    if (node->kind == ExprKind::symbol && !mapped_.contains(node)) {
      const Expr to = map(node);
      mapped_.emplace(node, to);
      substitution_.map(node, to);
    }
  });
  return substitution_(expr);
}

// A block in a loop that all ways to a place behind the loop lead through is in its last iteration,
// too: a way through that iteration alone is a way.
std::vector<Expr> ThreadCopy::computed() {
  Emulation &emulation = paths_.emulation();
  std::vector<Expr> result;
  for (BlockId block = at_; block != 0;) {
    block = paths_.cfg().immediate_dominator(block);
    if (block == no_index)
      break;
    if (paths_.cfg().blocks()[block].branch == no_index)
      continue;
    const Expr made = emulation.branch_choice(block);
    if (!made)
      continue;
    const Expr choice = emulation.expand(made);
    bool is_known = true;
    for_each_node(choice, [&](Expr node) {
      is_known &= node->kind != ExprKind::symbol || mapped_.contains(node);
    });
    if (is_known)
      result.push_back(substitution_(choice));
  }
  return result;
}

Expr ThreadCopy::shared_symbol(KernelPaths &paths, const FixedLaunch &launch, Expr symbol) {
  ExprPool &pool = paths.pool();
  const std::string &name = pool.symbols()[symbol->index].name;
  if (const auto field = paths.emulation().parameter_field(symbol)) {
    const auto given = launch.parameters.bits(*field);
    return given ? pool.constant(symbol->width, *given) : symbol;
  }
  if (is_special(name, "%nctaid.") && launch.grid)
    return pool.constant(32, (*launch.grid)[name.back() - 'x']);
  return name.starts_with('&') || is_special(name, "%ntid.") || is_special(name, "%nctaid.")
             ? symbol
             : nullptr;
}

Expr ThreadCopy::tid(int axis) {
  return (*this)(paths_.emulation().special(fmt::format("%tid.{}", "xyz"[axis])));
}

Expr ThreadCopy::ctaid(int axis) {
  return (*this)(paths_.emulation().special(fmt::format("%ctaid.{}", "xyz"[axis])));
}

Expr ThreadCopy::linear_tid() {
  const auto extent = [&](const char *name) { return (*this)(paths_.emulation().special(name)); };
  const Expr row = pool_.add(tid(1), pool_.mul(extent("%ntid.y"), tid(2)));
  return pool_.add(tid(0), pool_.mul(extent("%ntid.x"), row));
}

// Of a symbol that belongs to no loop around the place. Its own loop was entered and left in the
// same iterations of the loops around it by both threads; unless they wait at a barrier inside:
// then one may have left it while the other has not.
bool ThreadCopy::shared_outside(Expr symbol, LoopId loop) {
  const ControlFlowGraph &cfg = paths_.cfg();
  for (LoopId around = loop; around != no_index; around = cfg.loops()[around].parent)
    if (rounds_[around] != Iteration::same &&
        (cfg.contains(around, at_) ||
         (pair_.start != no_index && cfg.contains(around, pair_.start))))
      return false;
  return paths_.emulation().uniform(symbol, at_);
}

// True if what the thread has of the loop's symbols is of an iteration that is known by its
// relation to the barrier's.
bool ThreadCopy::has_round(LoopId loop) const {
  return paths_.cfg().contains(loop, at_) || rounds_[loop] == Iteration::same;
}

// `home`: where the symbol gets its value.
bool ThreadCopy::is_shared(Expr symbol, BlockId home) {
  if (!pair_.same_block || later_)
    return false;
  const LoopId loop = paths_.cfg().loop_of(home);
  if (loop == no_index || !has_round(loop))
    return shared_outside(symbol, loop);
  for (LoopId around = loop; around != no_index; around = paths_.cfg().loops()[around].parent)
    if (rounds_[around] != Iteration::same)
      return false;
  return pair_.in_step && paths_.emulation().uniform(symbol, home);
}

// True if what both threads have of a block is of the same iteration of every loop around it.
bool ThreadCopy::same_round(BlockId home) {
  for (LoopId loop = paths_.cfg().loop_of(home); loop != no_index;
       loop = paths_.cfg().loops()[loop].parent)
    if (rounds_[loop] != Iteration::same)
      return false;
  return pair_.same_block && pair_.in_step && !later_;
}

Expr ThreadCopy::map(Expr symbol) {
  Emulation &emulation = paths_.emulation();
  if (const Expr shared = shared_symbol(paths_, launch_, symbol))
    return shared;
  if (later_ && emulation.invariant(symbol, loop_))
    return (*later_)(symbol);
  const std::string &name = pool_.symbols()[symbol->index].name;
  if (is_special(name, "%ctaid."))
    return pair_.same_block ? symbol : fresh(symbol);
  if (is_special(name, "%tid."))
    return fresh(symbol);
  if (name == "%laneid")
    return pool_.bit_and(linear_tid(), pool_.constant(32, 31));
  for (LoopId loop = 0; loop < paths_.cfg().loops().size(); ++loop)
    if (symbol == emulation.trip_count(loop))
      return map_trip(symbol, loop);
  if (const auto at_header = emulation.loop_register(symbol))
    return map_loop_register(symbol, *at_header);
  if (const auto join = emulation.join_register(symbol))
    return map_join(symbol, *join);
  if (const auto instruction = emulation.produced_by(symbol))
    return map_result(symbol, *instruction);
  return fresh(symbol);
}

Expr ThreadCopy::map_trip(Expr symbol, LoopId loop) {
  touch(loop);
  if (later_ && loop == loop_)
    return pool_.sub((*later_)(symbol), pool_.constant(64, 1));
  Expr result = nullptr;
  if (!later_ && has_round(loop)) {
    if (rounds_[loop] == Iteration::first)
      return pool_.constant(64, 0);
    if (rounds_[loop] == Iteration::same)
      result = symbol;
    if (rounds_[loop] == Iteration::next)
      result = pool_.add(symbol, pool_.constant(64, 1));
  } else if (!later_ && is_shared(symbol, paths_.cfg().loops()[loop].header)) {
    result = symbol;
  }
  if (!result)
    result = fresh(symbol);
  add_fact(pool_.ult(result,
                     pool_.constant(64, launch_.no_wrap ? most_rounds_without_wrap : most_rounds)));
  return result;
}

Expr ThreadCopy::map_loop_register(Expr symbol, const LoopRegister &at_header) {
  Emulation &emulation = paths_.emulation();
  const LoopId loop = at_header.loop;
  const BlockId header = paths_.cfg().loops()[loop].header;
  touch(loop);
  const bool around = paths_.cfg().contains(loop, at_);
  if (!later_ && around && rounds_[loop] == Iteration::first)
    return (*this)(emulation.expand(at_header.initial));
  const auto outer_same = [&] {
    for (LoopId outer = paths_.cfg().loops()[loop].parent; outer != no_index;
         outer = paths_.cfg().loops()[outer].parent)
      if (rounds_[outer] != Iteration::same)
        return false;
    return true;
  };
  // In the iteration behind that of the barrier it is what the barrier's iteration makes of it.
  const bool is_even = pair_.same_block && pair_.in_step && around &&
                       rounds_[loop] == Iteration::next && outer_same() &&
                       emulation.uniform(symbol, header);
  if (later_ && loop == loop_ && is_even && !later_->later_)
    return symbol;
  Expr result = nullptr;
  if (!later_ && is_even)
    return before(loop)(emulation.expand(at_header.next));
  if (!later_ && is_shared(symbol, header))
    result = symbol;
  if (!result)
    result = fresh(symbol);
  if (!later_) {
    mapped_.emplace(symbol, result); // what follows speaks of it
    substitution_.map(symbol, result);
    const Expr first = pool_.eq((*this)(emulation.trip_count(loop)), pool_.constant(64, 0));
    const Expr begun = pool_.eq(result, (*this)(emulation.expand(at_header.initial)));
    const Expr gone_on = pool_.eq(result, before(loop)(emulation.expand(at_header.next)));
    add_fact(pool_.bit_or(absent(header), pool_.ite(first, begun, gone_on)));
  }
  return result;
}

// True if of any two conditions one has a part whose opposite is a part of the other.
bool ThreadCopy::exclude_each_other(const std::vector<std::pair<Expr, Expr>> &edges) {
  std::vector<std::set<Expr>> parts(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    std::vector<Expr> work{edges[i].first};
    while (!work.empty()) {
      const Expr part = work.back();
      work.pop_back();
      if (part->kind == ExprKind::bit_and)
        work.insert(work.end(), part->operands().begin(), part->operands().end());
      else
        parts[i].insert(part);
    }
  }
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (std::none_of(parts[i].begin(), parts[i].end(),
                       [&](Expr part) { return parts[j].contains(pool_.bit_not(part)); }))
        return false;
  return true;
}

// One of the values, by the edge that was taken; the conditions of edges may hold together.
Expr ThreadCopy::map_join(Expr symbol, const JoinRegister &join) {
  Emulation &emulation = paths_.emulation();
  const BlockId from = paths_.cfg().immediate_dominator(join.block);
  std::vector<std::pair<Expr, Expr>> edges; // condition, value
  for (const auto &[before, value] : join.values) {
    if (!value)
      return fresh(symbol);
    const Expr taken = pool_.bit_and(paths_.way(before, from), paths_.edge(before, join.block));
    edges.emplace_back((*this)(taken), (*this)(emulation.expand(value)));
  }
  if (edges.size() == 2 && edges[0].first == pool_.bit_not(edges[1].first))
    return pool_.ite(edges[0].first, edges[0].second, edges[1].second);
  if (!is_shared(symbol, join.block) && exclude_each_other(edges)) {
    Expr value = edges.back().second;
    for (std::size_t i = edges.size() - 1; i-- > 0;)
      value = pool_.ite(edges[i].first, edges[i].second, value);
    return value;
  }
  const Expr result = is_shared(symbol, join.block) ? symbol : fresh(symbol);
  Expr any = pool_.constant(1, 0);
  for (const auto &[taken, value] : edges)
    any = pool_.bit_or(any, pool_.bit_and(taken, pool_.eq(result, value)));
  add_fact(pool_.bit_or(absent(join.block), any));
  return result;
}

// What is loaded from where no thread writes is a function of the address; what a barrier tells of
// all that wait there is the same for them, if barriers bring all together.
Expr ThreadCopy::map_result(Expr symbol, std::uint32_t instruction) {
  const Instruction &source = paths_.kernel().instructions[instruction];
  const Opcode &opcode = paths_.module().opcode(source);
  if (pair_.same_reads && is_one_of(opcode.op, {Op::bar, Op::barrier}) &&
      std::any_of(paths_.barriers().begin(), paths_.barriers().end(),
                  [&](const BarrierSite &site) {
                    return site.instruction == instruction && !site.of_warp && !site.guard;
                  }) &&
      same_round(paths_.cfg().block_of(instruction)))
    return symbol;
  const auto by_address = [&](const SharedAccess &load, const std::string &name) {
    const Expr arguments[] = {(*this)(load.address)};
    return pool_.uninterpreted(name, symbol->width, arguments);
  };
  const auto is_this = [&](const SharedAccess &a) { return a.instruction == instruction; };
  const std::string everywhere = fmt::format("{}.{}", opcode.text, symbol->width);
  const auto &accesses = paths_.accesses(), &constants = paths_.constant_loads();
  const auto load = std::find_if(accesses.begin(), accesses.end(), is_this);
  if (const auto constant = std::find_if(constants.begin(), constants.end(), is_this);
      constant != constants.end() && opcode.vector == 1 && !constant->guard)
    return by_address(*constant, everywhere);
  if (load == accesses.end() || load->kind != facts::AccessKind::load || opcode.vector != 1 ||
      load->guard || !load->weak)
    return fresh(symbol);
  const bool is_written =
      load->space != StateSpace::global || !load->base ||
      std::any_of(accesses.begin(), accesses.end(), [&](const SharedAccess &other) {
        return other.writes() && other.space == StateSpace::global &&
               (!launch_.disjoint || !other.base || other.base == load->base);
      });
  if (is_written)
    return pair_.same_reads && same_round(load->block)
               ? by_address(*load, fmt::format("{} of {}", everywhere, instruction))
               : fresh(symbol);
  launch_.needed_disjoint |=
      std::any_of(accesses.begin(), accesses.end(), [](const SharedAccess &other) {
        return other.writes() && other.space == StateSpace::global;
      });
  return by_address(*load, everywhere);
}

ThreadCopy &ThreadCopy::before(LoopId loop) {
  std::unique_ptr<ThreadCopy> &copy = before_[loop];
  if (!copy)
    copy.reset(new ThreadCopy(*this, loop));
  return *copy;
}

void ThreadCopy::touch(LoopId loop) {
  if (!later_)
    touched_.insert(loop);
}

// This is the first iteration, or the one before led to another one; and what always holds.
void ThreadCopy::add_loop_facts(LoopId loop) {
  Emulation &emulation = paths_.emulation();
  const LoopKnowledge &known = invariants_(loop);
  const Expr trip = (*this)(emulation.trip_count(loop));
  const Expr outside = absent(paths_.cfg().loops()[loop].header);
  const auto add = [&](Expr fact) { add_fact(pool_.bit_or(outside, fact)); };
  for (const Expr invariant : known.always)
    add((*this)(invariant));
  const bool is_inside = outside->kind == ExprKind::constant;
  if (is_inside)
    add_split(known, *this);
  if (trip->kind == ExprKind::constant)
    return;
  const Expr first = pool_.eq(trip, pool_.constant(64, 0));
  ThreadCopy &earlier = before(loop);
  add(pool_.bit_or(first, earlier(paths_.another_round(loop))));
  for (const Expr invariant : known.always)
    add(pool_.bit_or(first, earlier(invariant)));
  if (is_inside && paths_.cfg().contains(loop, at_) && rounds_[loop] == Iteration::next)
    add_split(known, earlier); // of the barrier's iteration
}

// In an iteration of this thread, cases that differ in numbers alone and contradict are left out.
void ThreadCopy::add_split(const LoopKnowledge &known, ThreadCopy &round) {
  CaseSplit split;
  for (const std::vector<Expr> &state : known.states) {
    std::vector<std::pair<Expr, Expr>> one;
    bool possible = true;
    for (std::size_t i = 0; i < state.size(); ++i) {
      const Expr left = round(known.symbols[i]), right = round(state[i]);
      const Expr same = pool_.eq(left, right);
      possible &= same->kind != ExprKind::constant || !same->value.is_zero();
      if (left != right)
        one.emplace_back(left, right);
    }
    if (possible)
      split.push_back(std::move(one));
  }
  if (split.size() > 1 || (split.size() == 1 && !split[0].empty()))
    splits_.push_back(std::move(split));
}

const std::vector<Expr> &ThreadCopy::facts() {
  if (later_)
    return facts_;
  while (done_.size() < touched_.size())
    for (const LoopId loop : std::set<LoopId>(touched_))
      if (done_.insert(loop).second)
        add_loop_facts(loop);
  for (auto &[loop, copy] : before_) {
    facts_.insert(facts_.end(), copy->facts_.begin(), copy->facts_.end());
    copy->facts_.clear();
  }
  return facts_;
}

} // namespace ptxasw::analysis
