// One thread of each kernel, the same one of the same launch, walk side by side. The claim is that
// both do the same events (stores, atomics, barriers, shuffles, everything but computing and plain
// loads) with the same operands in the same order, and end together, whatever memory holds. Then
// the kernels leave the same in memory, if
//
// - neither of them has a race: two conflicting accesses of different threads that only atomics,
//   shuffles or nothing orders are one;
// - no access of theirs faults, and no lane waits for ever;
// - both are launched alike: the same grid, block, shared memory, arguments and contents of memory.
//
// Why. Take a run of the first kernel. As it has no race, it is equivalent to one in which its
// threads take turns. Let the second kernel's threads do their events in the order of that run,
// each after the loads and computations that come before it. By induction over the events, both
// memories are the same after each of them: a thread's next event is a function of its indices, the
// arguments, the results of its events so far and what its plain loads gave. Such a load reads
// between two events of its thread. Nobody else may write what it reads in between, or that would
// be a race, as only events order threads; so it does not matter when it happens there, nor which
// of the kernels makes it, nor how often: its value is a function of the state that memory has for
// this thread since its last event, and of the address. Results of events (atomics, strong loads,
// shuffles) are the same for both, as they happen on the same memory and with the same operands.
// Events that gather lanes need more: lanes meet at an instruction. So each such instruction of one
// kernel belongs to one of the other, and lanes that meet at the one meet at the other; unless
// every branch on the way went the same way for all threads of the block. As the second run is one
// of the second kernel, and its threads may not race either, all its other runs leave the same.
//
// Numbers are exact: registers are bit-vectors (thread_steps.h), and two operands are equal if they
// have one normal form, or Z3 finds no values for which they differ where control has come to.
// Division by zero may give anything. Floating-point results are functions of their operands' bits,
// or of real numbers (real_forms.h).
//
// Loops. The walk goes over pairs of places. Where both threads come to the header of a loop, the
// pair of loops is cut: what is carried around it, in both kernels, is described by what holds in
// every iteration. A register keeps what it has at first; or it has gone on by a fixed amount for
// every iteration; or it may hold anything, and some of these registers hold the same. The guess is
// the strongest of these that the first iteration allows; the loops are walked once, from the guess
// to where both come back to their headers; and what does not hold there is given up, until nothing
// has to be. Then it holds in all iterations, by induction. What an iteration learns from the tests
// of the one before it (if there is one), and some inequalities about the number of iterations, are
// guessed and checked in the same induction. As both go around together, one ends only if the other
// does. A loop that stands against none is walked iteration by iteration, while its tests are
// decided or others end: it never counts as ended.
//
// Where ways that parted meet again, values are chosen by the condition by which they parted.

#include "analysis/prove/side_by_side.h"

#include "analysis/prove/not_followed.h"
#include "analysis/prove/real_forms.h"
#include "analysis/prove/thread_steps.h"
#include "emulator/semantics/parameter_layout.h"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <functional>
#include <tuple>

namespace ptxasw::analysis {
namespace {

/// Walks of one pair of loops until what holds in every iteration is found.
constexpr unsigned most_walks = 24;
/// Headers that both may come over without cutting a loop there, and tests that may not be decided
/// on that way.
constexpr unsigned most_uncut = 600, most_forks = 16;
/// Iterations of one loop that another may do at once.
constexpr unsigned most_turns = 16;
/// Expressions beyond which Z3 is not asked.
constexpr std::size_t most_asked_nodes = 3000;
/// Iterations that no loop makes: at one in a nanosecond they take more than a century.
constexpr std::uint64_t rounds_bound = std::uint64_t{1} << 62;

/// Both threads at a pair of places.
struct Standing {
  std::array<ThreadPlace, 2> place;
  ThreadStop stop[2] = {ThreadStop::end, ThreadStop::end};
  KnownConditions known;
  MemoryTerms memory;
  /// Headers that they have come over without cutting a loop there, and tests since then.
  unsigned uncut = 0, forks = 0;
  std::set<std::pair<LoopId, LoopId>> given_up; ///< loops that are not cut any more
  unsigned turns[2] = {0, 0};                   ///< in this iteration of the loops around it
  bool second_leads = false;                    ///< it has decided what the first may follow
  /// Tests on the way that threads of a block may decide differently, as they were decided. Null
  /// behind them: lanes have met since, perhaps not all.
  std::vector<Expr> varying;
};

/// Two loops that go around together: while one makes so many turns the other makes so many.
struct LoopsTogether {
  LoopId loop[2];
  unsigned turns[2] = {1, 1};
};

/// What is in the way.
struct WalkFault {
  std::string reason;
  unsigned side = 0; ///< 1 or 2
  std::uint32_t line = 0;
};

class SideBySide {
public:
  SideBySide(const Module &first, const Function &first_kernel, const Module &second,
             const Function &second_kernel, const Function &named,
             const ProofAssumptions &assumptions, const SideBySideLimits &limits)
      : limits_(limits), budget_(limits.instructions), terms_(limits.over_reals), forms_(terms_),
        solver_(limits.resource_limit, true),
        launch_(terms_, named, assumptions), steps_{{first, first_kernel, terms_, launch_},
                                                    {second, second_kernel, terms_, launch_}} {}

  SideBySideProof run();

private:
  struct Ways {
    std::vector<Standing> back, out; ///< at the headers again; behind both loops
    std::vector<WalkFault> faults;
  };
  /// By places; both with the part that is done and whether a header there is passed.
  using Key = std::tuple<std::uint64_t, unsigned, std::uint64_t, unsigned>;
  using Open = std::multimap<Key, Standing>;

  class LoopProof;

  std::string header_fault();
  Ways walk(Standing start, const LoopsTogether *around);
  void arrive(Standing standing, Open &open, Ways &ways);
  void proceed(Standing standing, const LoopsTogether *around, Open &open, Ways &ways);
  void split(Standing standing, unsigned side, Open &open, Ways &ways);
  unsigned accesses_in(unsigned side, LoopId loop) const;
  std::optional<std::vector<Standing>> behind_loops(const Standing &standing,
                                                    std::vector<WalkFault> &faults);
  void at_headers(Standing standing, const LoopsTogether *around, Open &open, Ways &ways);
  void at_events(Standing standing, Open &open, Ways &ways);
  bool meet(const Standing &a, Standing &b);
  void fail(Standing &standing, Ways &ways, WalkFault fault);
  void fail(Standing &standing, Ways &ways, std::string reason);
  bool is_inside(const LoopsTogether &around, const Standing &standing, unsigned side) const;
  bool is_outside(const LoopsTogether &around, const Standing &standing, unsigned side) const;
  bool is_back(const LoopsTogether *around, const Standing &standing, unsigned side) const;
  bool are_partners(const Standing &standing);
  bool is_uniform(Expr expr) const;
  bool equal(KnownConditions &known, Expr a, Expr b);
  Expr normal(KnownConditions &known, Expr expr);
  bool follows(KnownConditions &known, Expr goal);
  bool is_impossible(KnownConditions &known);
  Expr without_products(Expr expr);
  SolverAnswer ask(const KnownConditions &known, Expr besides);

  const SideBySideLimits &limits_;
  std::uint64_t budget_;
  FloatTerms terms_;
  RealForms forms_;
  Solver solver_;
  std::unordered_map<Expr, Expr> without_products_;
  LaunchTerms launch_;
  ThreadSteps steps_[2];
  std::map<std::uint32_t, std::uint32_t> partners_[2]; ///< of what gathers lanes
  SideBySideProof proof_;
};

// --- what surrounds the code

bool have_same_contents(const Module &first, const Variable &a, const Module &second,
                        const Variable &b) {
  const auto same = [&](const InitialValue &x, const InitialValue &y) {
    const auto name = [](const Module &module, const InitialValue &value) {
      return value.symbol == no_index ? std::string_view() : module.symbols[value.symbol].name;
    };
    return x.bits == y.bits && x.real_type == y.real_type && name(first, x) == name(second, y);
  };
  // An address may be generic or not, which the values do not tell.
  const bool has_address =
      std::any_of(a.values.begin(), a.values.end(),
                  [](const InitialValue &value) { return value.symbol != no_index; });
  if (has_address && first.text(a.initializer) != second.text(b.initializer))
    return false;
  return a.space == b.space && a.type == b.type && a.vector == b.vector && a.count == b.count &&
         (a.initializer.size() == 0) == (b.initializer.size() == 0) &&
         (a.initializer.size() == 0 || !a.values.empty()) && a.values.size() == b.values.size() &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(), same);
}

// Both may be launched alike, and name the same things by the same names.
std::string SideBySide::header_fault() {
  const Function &a = steps_[0].function(), &b = steps_[1].function();
  const Module &first = steps_[0].module(), &second = steps_[1].module();
  if (a.parameters.size() != b.parameters.size())
    return "the two do not have the same parameters";
  for (std::size_t i = 0; i < a.parameters.size(); ++i)
    if (a.parameters[i].size() != b.parameters[i].size() ||
        kernel_parameter_offset(a, i) != kernel_parameter_offset(b, i))
      return fmt::format("parameter {} is not the same for both", i);
  for (const auto *const pair : {&a, &b})
    for (const PerformanceDirective &directive : pair->directives) {
      static constexpr std::string_view harmless[] = {"maxntid",      "minnctapersm", "maxnreg",
                                                      "maxnctapersm", "noreturn",     "pragma"};
      if (std::find(std::begin(harmless), std::end(harmless), directive.name) != std::end(harmless))
        continue;
      const PerformanceDirective *const other = (pair == &a ? b : a).directive(directive.name);
      if (!other || !std::equal(std::begin(directive.values), std::end(directive.values),
                                std::begin(other->values)))
        return fmt::format("`.{}` is not the same for both", directive.name);
    }
  for (const StateSpace space : {StateSpace::shared, StateSpace::local}) {
    const auto left = steps_[0].variables(space), right = steps_[1].variables(space);
    if (!std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const Variable *x, const Variable *y) {
                      return x->size() == y->size() && alignment_of(*x) == alignment_of(*y);
                    }))
      return fmt::format("their {} variables are not the same", to_string(space));
  }
  for (const Variable &x : first.variables)
    for (const Variable &y : second.variables)
      if (x.name == y.name && x.space != StateSpace::shared) {
        if (&first != &second && !have_same_contents(first, x, second, y))
          return fmt::format("variable {} is not the same for both", x.name);
        proof_.shares_variables = true;
      }
  for (const ThreadSteps &steps : steps_) {
    if (!steps.cfg().well_formed())
      return "a branch whose target is not known";
    for (const BlockId block : steps.cfg().reverse_postorder())
      if (steps.cfg().irreducible(block))
        return fmt::format("line {}: a loop with several entries",
                           steps.line(steps.cfg().blocks()[block].first));
  }
  return "";
}

// --- questions

Expr SideBySide::normal(KnownConditions &known, Expr expr) {
  expr = known(expr);
  return limits_.over_reals ? forms_.canonical(expr) : expr;
}

// Products of unknowns are too much for a solver of bit-vectors: any functions stand for them.
Expr SideBySide::without_products(Expr root) {
  std::vector<Expr> work{root}, children;
  while (!work.empty()) {
    const Expr node = work.back();
    children.clear();
    const std::size_t before = work.size();
    for (const Expr child : node->operands())
      if (const auto found = without_products_.find(child); found != without_products_.end())
        children.push_back(found->second);
      else
        work.push_back(child);
    if (work.size() != before)
      continue;
    work.pop_back();
    const bool is_product = node->kind == ExprKind::product;
    without_products_.emplace(
        node, is_product ? terms_.uninterpreted("product", node->width, children)
              : std::equal(children.begin(), children.end(), node->operands().begin())
                  ? node
                  : terms_.rebuild(node, children));
  }
  return without_products_.at(root);
}

SolverAnswer SideBySide::ask(const KnownConditions &known, Expr besides) {
  std::vector<Expr> formulas = launch_.facts();
  for (const KnownConditions::Known &one : known.list())
    formulas.push_back(one.condition);
  formulas.push_back(besides);
  std::set<Expr> nodes;
  for (Expr &formula : formulas) {
    formula = without_products(formula);
    for_each_node(formula, [&](Expr node) {
      if (nodes.size() <= most_asked_nodes)
        nodes.insert(node);
    });
  }
  const std::uint64_t effort = solver_.effort();
  if (nodes.size() > most_asked_nodes || effort >= limits_.effort)
    return SolverAnswer::unknown;
  return solver_.check("equal", formulas, limits_.effort - effort);
}

bool SideBySide::follows(KnownConditions &known, Expr goal) {
  goal = known(goal);
  if (goal->kind == ExprKind::constant)
    return !goal->value.is_zero() || known.contradict();
  return ask(known, terms_.bit_not(goal)) == SolverAnswer::unsat;
}

bool SideBySide::is_impossible(KnownConditions &known) {
  return known.contradict() || ask(known, terms_.constant(1, 1)) == SolverAnswer::unsat;
}

bool SideBySide::equal(KnownConditions &known, Expr a, Expr b) {
  if (a->width != b->width)
    return false;
  ++proof_.values;
  a = normal(known, a);
  b = normal(known, b);
  if (a == b) {
    ++proof_.by_form;
    return true;
  }
  if (follows(known, terms_.eq(a, b))) {
    ++proof_.by_solver;
    return true;
  }
  --proof_.values;
  return false;
}

// --- the walk

bool SideBySide::is_inside(const LoopsTogether &around, const Standing &standing,
                           unsigned side) const {
  const ThreadSteps &steps = steps_[side];
  const std::uint32_t at = standing.place[side].at;
  return !steps.is_end(at) && steps.cfg().contains(around.loop[side], steps.cfg().block_of(at));
}

// It stands at the header of a loop around that loop.
bool SideBySide::is_outside(const LoopsTogether &around, const Standing &standing,
                            unsigned side) const {
  const ControlFlowGraph &cfg = steps_[side].cfg();
  const LoopId loop = steps_[side].loop_at(standing.place[side].at);
  return loop != around.loop[side] && cfg.contains(loop, cfg.loops()[around.loop[side]].header);
}

bool SideBySide::is_back(const LoopsTogether *around, const Standing &standing,
                         unsigned side) const {
  return around && standing.stop[side] == ThreadStop::header &&
         steps_[side].loop_at(standing.place[side].at) == around->loop[side];
}

// A way on which no thread is, is none.
void SideBySide::fail(Standing &standing, Ways &ways, WalkFault fault) {
  if (!is_impossible(standing.known))
    ways.faults.push_back(std::move(fault));
}

void SideBySide::fail(Standing &standing, Ways &ways, std::string reason) {
  const unsigned side = standing.stop[1] == ThreadStop::end ? 0 : 1;
  fail(standing, ways,
       WalkFault{std::move(reason), side + 1, steps_[side].line(standing.place[side].at)});
}

// Both go on to where they next stop; a standing that is there already is met.
void SideBySide::arrive(Standing standing, Open &open, Ways &ways) {
  if (standing.known.contradict())
    return;
  for (unsigned side = 0; side < 2; ++side)
    try {
      standing.stop[side] =
          steps_[side].run(standing.place[side], standing.known, standing.memory, budget_);
    } catch (const NotFollowed &stop) {
      return fail(standing, ways, WalkFault{stop.reason, side + 1, stop.line});
    }
  const auto details = [&](unsigned side) {
    const ThreadPlace &place = standing.place[side];
    // An event whose guard is decided and one whose guard is not are two places.
    return standing.turns[side] << 11 | place.part << 3 |
           static_cast<unsigned>(standing.stop[side]) << 1 | place.passes;
  };
  const Key key{steps_[0].order(standing.place[0]), details(0), steps_[1].order(standing.place[1]),
                details(1)};
  const auto [begin, end] = open.equal_range(key);
  for (auto other = begin; other != end; ++other)
    if (meet(standing, other->second))
      return;
  open.emplace(key, std::move(standing));
}

bool SideBySide::meet(const Standing &a, Standing &b) {
  auto met = KnownConditions::either(a.known, b.known);
  if (!met)
    return false;
  const auto choose = [&](Expr &to, Expr first) {
    to = !to || !first ? nullptr : to == first ? to : terms_.ite(met->second, first, to);
  };
  for (unsigned side = 0; side < 2; ++side)
    for (std::size_t reg = 0; reg < b.place[side].registers.size(); ++reg)
      choose(b.place[side].registers[reg], a.place[side].registers[reg]);
  choose(b.memory.global, a.memory.global);
  choose(b.memory.shared, a.memory.shared);
  choose(b.memory.local, a.memory.local);
  std::erase_if(b.memory.contents, [&](const MemoryTerms::Content &content) {
    return std::find(a.memory.contents.begin(), a.memory.contents.end(), content) ==
           a.memory.contents.end();
  });
  b.known = std::move(met->first);
  b.uncut = std::max(a.uncut, b.uncut);
  b.forks = std::max(a.forks, b.forks);
  b.second_leads |= a.second_leads;
  // If all ways from a test meet here, it is one on the way no more.
  auto &ours = b.varying;
  const auto same = static_cast<std::size_t>(
      std::mismatch(a.varying.begin(), a.varying.end(), ours.begin(), ours.end()).first -
      a.varying.begin());
  if (a.varying.size() == same + 1 && ours.size() == same + 1 && a.varying[same] == met->second &&
      ours[same] == terms_.bit_not(met->second))
    ours.pop_back();
  else if (ours != a.varying)
    ours.push_back(met->second);
  b.given_up.insert(a.given_up.begin(), a.given_up.end());
  return true;
}

SideBySide::Ways SideBySide::walk(Standing start, const LoopsTogether *around) {
  Ways ways;
  Open open;
  arrive(std::move(start), open, ways);
  while (!open.empty() && budget_ != 0) {
    auto next = open.extract(open.begin());
    proceed(std::move(next.mapped()), around, open, ways);
  }
  if (budget_ == 0 && ways.faults.empty())
    ways.faults.push_back({"it takes too many steps"});
  return ways;
}

// What one kernel decides the other may have to follow; so the solver is asked about tests of the
// second, and of the first where the second was first to decide something.
void SideBySide::split(Standing standing, unsigned side, Open &open, Ways &ways) {
  const Expr choice = steps_[side].choice(standing.place[side], standing.known);
  const Expr opposite = terms_.bit_not(choice);
  bool may[] = {true, true};
  if (choice->kind == ExprKind::constant)
    may[choice->value.is_zero() ? 0 : 1] = false;
  else if ((side == 1 || standing.second_leads) && follows(standing.known, choice))
    may[1] = false;
  else if ((side == 1 || standing.second_leads) && follows(standing.known, opposite))
    may[0] = false;
  standing.second_leads = side == 1 && may[0] && may[1];
  const bool varies = may[0] && may[1] && !is_uniform(choice);
  if (may[0] && may[1]) {
    if (standing.uncut != 0 && ++standing.forks > most_forks)
      return fail(standing, ways, "its loops do not line up with those of the other");
  }
  for (const unsigned way : {0u, 1u}) {
    if (!may[way])
      continue;
    Standing one = standing;
    const Expr decided = way == 0 ? choice : opposite;
    one.known.assume(decided);
    if (varies)
      one.varying.push_back(decided);
    arrive(std::move(one), open, ways);
  }
}

bool SideBySide::is_uniform(Expr expr) const {
  bool uniform = true;
  for_each_node(expr, [&](Expr node) {
    uniform &= node->kind != ExprKind::symbol || launch_.is_uniform(node);
  });
  return uniform;
}

void SideBySide::proceed(Standing standing, const LoopsTogether *around, Open &open, Ways &ways) {
  // Where one has left its loop the other may stand before another iteration of its own.
  const auto is_out = [&](unsigned side) {
    return !is_inside(*around, standing, side) ||
           (is_back(around, standing, side) && standing.turns[side] + 1 == around->turns[side]);
  };
  if (around && is_out(0) && is_out(1) &&
      !(is_inside(*around, standing, 0) && is_inside(*around, standing, 1))) {
    ways.out.push_back(std::move(standing));
    return;
  }
  using enum ThreadStop;
  for (unsigned side = 0; side < 2; ++side)
    if (standing.stop[side] == choice)
      return split(std::move(standing), side, open, ways);
  if (standing.stop[0] == header || standing.stop[1] == header)
    return at_headers(std::move(standing), around, open, ways);
  if (standing.stop[0] == event && standing.stop[1] == event)
    return at_events(std::move(standing), open, ways);
  if (standing.stop[0] != end || standing.stop[1] != end)
    fail(standing, ways, "it does something where the other kernel ends");
}

/// What holds in every iteration of two loops that go around together.
class SideBySide::LoopProof {
public:
  LoopProof(SideBySide &walk, const Standing &entry, unsigned first_turns, unsigned second_turns);
  /// What stands behind the loops; nothing: `faults` say what is in the way.
  std::optional<std::vector<Standing>> run(std::vector<WalkFault> &faults);

private:
  /// A register that a loop may change and that is read afterwards.
  struct Carried {
    enum class Holds : std::uint8_t { what_it_did, a_sum, anything, nothing };
    unsigned side;
    std::size_t reg;
    Expr begin;
    Holds holds = Holds::what_it_did;
    Expr step = nullptr; ///< of a sum
    std::string group;   ///< of anything: those of one group and beginning are equal
  };
  /// A condition in terms of the number of the iteration, which may hold in every iteration.
  struct Guess {
    Expr condition, from = nullptr, to = nullptr;
  };

  Standing at_round();
  Expr value(const Carried &one, Expr round);
  std::string key(const Carried &one) const {
    return fmt::format("{} {}", one.begin->id, one.group);
  }
  Expr in_round(Expr expr, Expr round);
  bool give_up(std::vector<Standing> &back);
  bool give_up(Carried &one, Standing &back);
  bool part_groups(Standing &back);
  bool keep_guesses(std::vector<Standing> &back);
  bool is_fixed(Expr expr) const;
  std::vector<Expr> tests(const Standing &back) const;
  void guess(std::vector<Standing> &back);
  void guess_inequalities(Expr test);
  void add_guess(Expr condition, Expr from = nullptr, Expr to = nullptr);

  SideBySide &walk_;
  FloatTerms &terms_;
  LoopsTogether loops_;
  Standing base_; ///< at the headers, as both come there first
  const unsigned turns_outside_[2];
  const std::size_t first_symbol_;
  const Expr round_;
  std::vector<Carried> carried_;
  bool changes_[3] = {}; ///< by state of memory
  Expr memory_[3] = {};
  std::map<std::string, Expr> symbols_; ///< of groups
  Rewriting before_;                    ///< what stands for these in the iteration before
  std::vector<Guess> guesses_;
  std::vector<std::vector<Expr>> tests_; ///< those of one of them have held in the iteration before
  bool has_guessed_ = false, has_tests_ = false;
};

SideBySide::LoopProof::LoopProof(SideBySide &walk, const Standing &entry, unsigned first_turns,
                                 unsigned second_turns)
    : walk_(walk), terms_(walk.terms_), loops_{{}, {first_turns, second_turns}},
      base_(entry), turns_outside_{entry.turns[0], entry.turns[1]},
      first_symbol_(terms_.symbols().size()), round_(terms_.symbol("round", 64)), before_(terms_) {
  walk_.launch_.add_round(round_);
  before_.map(round_, terms_.sub(round_, terms_.constant(64, 1)));
  for (unsigned side = 0; side < 2; ++side) {
    ThreadPlace &place = base_.place[side];
    const ThreadSteps &steps = walk_.steps_[side];
    loops_.loop[side] = steps.loop_at(place.at);
    const std::vector<bool> written = steps.written_in(loops_.loop[side]);
    place.passes = true;
    base_.turns[side] = 0;
    for (std::size_t reg = 0; reg < written.size(); ++reg) {
      Expr &value = place.registers[reg];
      if (!steps.is_live(loops_.loop[side], reg))
        value = nullptr;
      if (value && written[reg])
        carried_.push_back({side, reg, base_.known(value)});
    }
  }
}

Expr SideBySide::LoopProof::value(const Carried &one, Expr round) {
  switch (one.holds) {
  case Carried::Holds::what_it_did:
    return one.begin;
  case Carried::Holds::a_sum:
    return terms_.add(one.begin, terms_.mul(one.step, terms_.truncate(round, one.begin->width)));
  case Carried::Holds::anything: {
    Expr &symbol = symbols_[key(one)];
    if (!symbol) {
      symbol = terms_.symbol("carried", one.begin->width);
      before_.map(symbol, terms_.symbol("carried before", one.begin->width));
    }
    return symbol;
  }
  default:
    return nullptr;
  }
}

Expr SideBySide::LoopProof::in_round(Expr expr, Expr round) {
  Rewriting rewriting(terms_);
  rewriting.map(round_, round);
  return rewriting(expr);
}

Standing SideBySide::LoopProof::at_round() {
  Standing head = base_;
  for (const Carried &one : carried_)
    head.place[one.side].registers[one.reg] = value(one, round_);
  Expr *const states[] = {&head.memory.global, &head.memory.shared, &head.memory.local};
  for (unsigned i = 0; i < 3; ++i) {
    if (!changes_[i])
      continue;
    if (!memory_[i])
      memory_[i] = terms_.symbol("memory in a round", 64);
    *states[i] = memory_[i];
    head.memory.contents.clear();
  }
  const Expr is_first = terms_.eq(round_, terms_.constant(64, 0));
  Expr all_before = terms_.constant(1, 1), any_before = terms_.constant(1, 0);
  for (const Guess &one : guesses_) {
    head.known.assume(one.condition, one.from, one.to);
    all_before = terms_.bit_and(all_before, before_(one.condition));
  }
  for (const std::vector<Expr> &list : tests_) {
    Expr all = terms_.constant(1, 1);
    for (const Expr test : list)
      all = terms_.bit_and(all, before_(test));
    any_before = terms_.bit_or(any_before, all);
  }
  if (tests_.empty())
    any_before = terms_.constant(1, 1);
  const Expr before = terms_.bit_or(is_first, terms_.bit_and(all_before, any_before));
  if (before->kind != ExprKind::constant)
    head.known.assume(before);
  return head;
}

// It has a meaning before the loop is entered, and keeps that.
bool SideBySide::LoopProof::is_fixed(Expr expr) const {
  bool fixed = true;
  for_each_node(expr, [&](Expr node) {
    fixed &= node->kind != ExprKind::symbol || node->index < first_symbol_;
  });
  return fixed;
}

bool SideBySide::LoopProof::give_up(Carried &one, Standing &back) {
  using Holds = Carried::Holds;
  const Expr next = back.place[one.side].registers[one.reg];
  if (!next) {
    const bool changed = one.holds != Holds::nothing;
    one.holds = Holds::nothing;
    return changed;
  }
  if (one.holds == Holds::nothing || one.holds == Holds::anything)
    return false;
  const Expr after = terms_.add(round_, terms_.constant(64, 1));
  if (walk_.normal(back.known, next) == walk_.normal(back.known, value(one, after)))
    return false;
  const unsigned width = one.begin->width;
  const bool may_be_sum = one.holds == Holds::what_it_did &&
                          (width == 16 || width == 32 || width == 64) &&
                          !walk_.steps_[one.side].is_float_register(one.reg);
  one.step = may_be_sum ? terms_.sub(back.known(next), one.begin) : nullptr;
  one.holds = one.step && is_fixed(one.step) ? Holds::a_sum : Holds::anything;
  return true;
}

// Of one group, those that are not equal when they come back are parted. The solver is asked where
// that leaves registers of one kernel without any of the other.
bool SideBySide::LoopProof::part_groups(Standing &back) {
  struct Part {
    Expr next;
    bool of_side[2] = {};
    std::vector<Carried *> members;
  };
  std::map<std::string, std::vector<Part>> groups;
  for (Carried &one : carried_) {
    if (one.holds != Carried::Holds::anything)
      continue;
    const Expr next = walk_.normal(back.known, back.place[one.side].registers[one.reg]);
    std::vector<Part> &parts = groups[key(one)];
    auto part =
        std::find_if(parts.begin(), parts.end(), [&](const Part &p) { return p.next == next; });
    if (part == parts.end())
      part = parts.insert(parts.end(), Part{next});
    part->of_side[one.side] = true;
    part->members.push_back(&one);
  }
  bool changed = false;
  for (auto &[name, parts] : groups) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      for (std::size_t k = i + 1; k < parts.size(); ++k) {
        const bool lacks = (parts[i].of_side[0] != parts[i].of_side[1]) &&
                           (parts[k].of_side[0] != parts[k].of_side[1]) &&
                           parts[i].of_side[0] != parts[k].of_side[0];
        if (!lacks || !walk_.follows(back.known, terms_.eq(parts[i].next, parts[k].next)))
          continue;
        parts[i].of_side[0] = parts[i].of_side[1] = true;
        parts[i].members.insert(parts[i].members.end(), parts[k].members.begin(),
                                parts[k].members.end());
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(k--));
      }
    changed |= parts.size() > 1;
    for (std::size_t i = 0; parts.size() > 1 && i < parts.size(); ++i)
      for (Carried *const one : parts[i].members)
        one->group += fmt::format(".{}", i);
  }
  return changed;
}

// Returns true if something was given up.
bool SideBySide::LoopProof::give_up(std::vector<Standing> &back) {
  bool changed = false;
  for (Standing &one : back) {
    for (Carried &carried : carried_)
      changed |= give_up(carried, one);
    const Expr first[] = {base_.memory.global, base_.memory.shared, base_.memory.local};
    const Expr last[] = {one.memory.global, one.memory.shared, one.memory.local};
    for (unsigned i = 0; i < 3; ++i)
      if (!changes_[i] && first[i] != last[i])
        changed = changes_[i] = true;
  }
  if (changed) {
    for (Carried &carried : carried_)
      carried.group.clear();
    return true;
  }
  for (Standing &one : back)
    changed |= part_groups(one);
  return changed;
}

// What was tested in an iteration, as far as it can be said in terms of the iteration.
std::vector<Expr> SideBySide::LoopProof::tests(const Standing &back) const {
  std::set<Expr> told, own{round_};
  for (const auto &[name, symbol] : symbols_)
    own.insert(symbol);
  for (const KnownConditions::Known &one : base_.known.list())
    told.insert(one.condition);
  for (const Guess &guess : guesses_)
    told.insert(guess.condition);
  std::vector<Expr> result;
  for (const KnownConditions::Known &one : back.known.list()) {
    bool is_own = !one.from && told.insert(one.condition).second;
    for_each_node(one.condition, [&](Expr node) {
      is_own &= node->kind != ExprKind::symbol || node->index < first_symbol_ || own.contains(node);
    });
    if (is_own)
      result.push_back(one.condition);
  }
  return result;
}

// It holds in the first iteration, and speaks of the number of the iteration alone: what a register
// of another iteration holds cannot be put into it.
void SideBySide::LoopProof::add_guess(Expr condition, Expr from, Expr to) {
  KnownConditions known = base_.known;
  bool only_round = true;
  for_each_node(condition, [&](Expr node) {
    only_round &= node->kind != ExprKind::symbol || node->index < first_symbol_ || node == round_;
  });
  if (only_round && condition->kind != ExprKind::constant &&
      walk_.follows(known, in_round(condition, terms_.constant(64, 0))))
    guesses_.push_back({condition, from, to});
}

// A test that a number is not 0: it has not been passed over.
void SideBySide::LoopProof::guess_inequalities(Expr test) {
  if (test->kind != ExprKind::sum || test->value.low != 1 || test->child_count != 1 ||
      test->children[0]->kind != ExprKind::eq0)
    return;
  const Expr number = before_(test->children[0]->children[0]);
  const Expr zero = terms_.constant(number->width, 0);
  if (number->width < 16)
    return;
  add_guess(terms_.slt(zero, number));
  add_guess(terms_.slt(number, zero));
}

void SideBySide::LoopProof::guess(std::vector<Standing> &back) {
  has_guessed_ = true;
  add_guess(terms_.ult(round_, terms_.constant(64, rounds_bound)));
  for (const Carried &one : carried_) {
    if (one.holds != Carried::Holds::a_sum || one.begin->width != 32)
      continue;
    const Expr number = value(one, round_);
    for (const bool is_signed : {true, false}) {
      const auto wide = [&](Expr narrow) {
        return is_signed ? terms_.sext(narrow, 64) : terms_.zext(narrow, 64);
      };
      const Expr from = wide(number);
      const Expr to = terms_.add(wide(one.begin), terms_.mul(terms_.sext(one.step, 64), round_));
      const auto same = [&](const Guess &guess) { return guess.from == from; };
      if (from != to && std::none_of(guesses_.begin(), guesses_.end(), same))
        add_guess(terms_.eq(from, to), from, to);
    }
  }
  tests_.clear();
  for (const Standing &one : back) {
    tests_.push_back(tests(one));
    for (const Expr test : tests_.back())
      guess_inequalities(test);
  }
  has_tests_ = true;
}

// Returns true if all that was guessed holds in the next iteration, too. What does not is given up.
bool SideBySide::LoopProof::keep_guesses(std::vector<Standing> &back) {
  bool all = true;
  const Expr after = terms_.add(round_, terms_.constant(64, 1));
  for (Standing &one : back) {
    const auto lost = [&](const Guess &guess) {
      return !walk_.follows(one.known, in_round(guess.condition, after));
    };
    all &= std::erase_if(guesses_, lost) == 0;
    const auto holds = [&](const std::vector<Expr> &list) {
      return std::all_of(list.begin(), list.end(),
                         [&](Expr test) { return walk_.follows(one.known, test); });
    };
    if (has_tests_ && !std::any_of(tests_.begin(), tests_.end(), holds)) {
      tests_.clear();
      has_tests_ = all = false;
    }
  }
  return all;
}

std::optional<std::vector<Standing>> SideBySide::LoopProof::run(std::vector<WalkFault> &faults) {
  const auto partners = std::to_array(walk_.partners_);
  for (unsigned number = 0; number < most_walks && walk_.budget_ != 0; ++number) {
    for (unsigned side = 0; side < 2; ++side)
      walk_.partners_[side] = partners[side];
    Ways ways = walk_.walk(at_round(), &loops_);
    // The first walk is that of the first iteration as it is.
    if (number == 0 && !ways.faults.empty()) {
      faults = std::move(ways.faults);
      return std::nullopt;
    }
    if (give_up(ways.back)) {
      guesses_.clear();
      tests_.clear();
      has_guessed_ = has_tests_ = false;
      continue;
    }
    const auto varies = [&](const Standing &one) { return one.varying != base_.varying; };
    if ((base_.varying.empty() || base_.varying.back()) &&
        (std::any_of(ways.back.begin(), ways.back.end(), varies) ||
         std::any_of(ways.out.begin(), ways.out.end(), varies))) {
      base_.varying.push_back(nullptr); // others may be in another iteration, or behind the loop
      continue;
    }
    if (!keep_guesses(ways.back))
      continue;
    // Ways on which the two part are told to be none by what is guessed, if at all.
    const bool parts = std::any_of(ways.out.begin(), ways.out.end(), [&](const Standing &one) {
      return loops_.turns[0] != loops_.turns[1] || walk_.is_inside(loops_, one, 0) ||
             walk_.is_inside(loops_, one, 1);
    });
    if (ways.faults.empty() && (!parts || has_guessed_)) {
      if (parts)
        std::erase_if(ways.out, [&](Standing &one) { return walk_.is_impossible(one.known); });
      for (Standing &one : ways.out)
        std::copy(std::begin(turns_outside_), std::end(turns_outside_), one.turns);
      return std::move(ways.out);
    }
    if (has_guessed_) {
      faults = std::move(ways.faults);
      return std::nullopt;
    }
    guess(ways.back);
  }
  faults.push_back({"what holds in every round of a loop is not found", 1,
                    walk_.steps_[0].line(base_.place[0].at)});
  return std::nullopt;
}

// Accesses in a loop: one that has several times as many as another may do several of its
// iterations at once.
unsigned SideBySide::accesses_in(unsigned side, LoopId loop) const {
  const ThreadSteps &steps = steps_[side];
  unsigned count = 0;
  for (const BlockId block : blocks_in(steps.cfg(), loop))
    for (std::uint32_t i = steps.cfg().blocks()[block].first; i < steps.cfg().blocks()[block].end;
         ++i) {
      const Opcode &opcode = steps.module().opcode(steps.function().instructions[i]);
      count += is_one_of(opcode.op, {Op::ld, Op::st, Op::atom, Op::red}) * opcode.vector;
    }
  return count;
}

// The turns that both make in an iteration, the likeliest ones first.
std::optional<std::vector<Standing>> SideBySide::behind_loops(const Standing &standing,
                                                              std::vector<WalkFault> &faults) {
  unsigned count[2];
  std::pair<LoopId, LoopId> loops;
  for (unsigned side = 0; side < 2; ++side) {
    const LoopId loop = steps_[side].loop_at(standing.place[side].at);
    (side == 0 ? loops.first : loops.second) = loop;
    count[side] = accesses_in(side, loop);
  }
  if (standing.given_up.contains(loops))
    return std::nullopt;
  const unsigned more = std::max(count[0], count[1]), fewer = std::min(count[0], count[1]);
  if (fewer != 0 && more % fewer == 0 && more / fewer > 1 && more / fewer <= most_turns) {
    const unsigned turns = more / fewer;
    std::vector<WalkFault> other_faults;
    if (auto behind =
            LoopProof(*this, standing, count[0] == more ? 1 : turns, count[0] == more ? turns : 1)
                .run(other_faults))
      return behind;
  }
  return LoopProof(*this, standing, 1, 1).run(faults);
}

void SideBySide::at_headers(Standing standing, const LoopsTogether *around, Open &open,
                            Ways &ways) {
  bool is_at[2], goes_around[2];
  for (unsigned side = 0; side < 2; ++side) {
    is_at[side] = standing.stop[side] == ThreadStop::header;
    goes_around[side] = is_back(around, standing, side);
    if (!goes_around[side] || standing.turns[side] + 1 >= around->turns[side])
      continue;
    ++standing.turns[side];
    standing.place[side].passes = true;
    return arrive(std::move(standing), open, ways);
  }
  if (goes_around[0] && goes_around[1]) {
    ways.back.push_back(std::move(standing));
    return;
  }
  // What is carried around a loop is described for its own iterations. One that has left it and
  // goes around a loop outside of it would come back with other registers changed.
  for (unsigned side = 0; around && side < 2; ++side)
    if (is_at[side] && !goes_around[side] && is_outside(*around, standing, side))
      return fail(standing, ways, "one of them goes around an outer loop, and the other does not");
  bool may_pass = false;
  for (unsigned side = 0; side < 2; ++side) {
    standing.place[side].passes |= is_at[side] && !goes_around[side];
    may_pass |= is_at[side] && !goes_around[side];
  }
  if (!may_pass)
    return fail(standing, ways, "one of them goes around its loop, and the other does not");
  std::vector<WalkFault> faults;
  if (is_at[0] && is_at[1] && !goes_around[0] && !goes_around[1]) {
    const auto partners = std::to_array(partners_);
    if (auto behind = behind_loops(standing, faults)) {
      for (Standing &one : *behind)
        arrive(std::move(one), open, ways);
      return;
    }
    for (unsigned side = 0; side < 2; ++side)
      partners_[side] = partners[side];
  }
  if (++standing.uncut > most_uncut)
    return fail(standing, ways, "a loop that does not line up with one of the other");
  if (faults.empty())
    return arrive(std::move(standing), open, ways);
  // Without cutting these loops, perhaps.
  standing.given_up.insert(
      {steps_[0].loop_at(standing.place[0].at), steps_[1].loop_at(standing.place[1].at)});
  Ways tried = walk(std::move(standing), around);
  if (!tried.faults.empty()) {
    ways.faults.insert(ways.faults.end(), faults.begin(), faults.end());
    return;
  }
  std::move(tried.back.begin(), tried.back.end(), std::back_inserter(ways.back));
  std::move(tried.out.begin(), tried.out.end(), std::back_inserter(ways.out));
}

// Lanes that meet at one instruction of the first kernel meet at one of the second, and no others.
bool SideBySide::are_partners(const Standing &standing) {
  if (standing.varying.empty())
    return true;
  const std::uint32_t at[] = {standing.place[0].at, standing.place[1].at};
  for (unsigned side = 0; side < 2; ++side)
    if (partners_[side].try_emplace(at[side], at[1 - side]).first->second != at[1 - side])
      return false;
  return true;
}

void SideBySide::at_events(Standing standing, Open &open, Ways &ways) {
  ThreadEvent events[2];
  for (unsigned side = 0; side < 2; ++side)
    try {
      events[side] = steps_[side].event(standing.place[side], standing.known);
    } catch (const NotFollowed &stop) {
      return fail(standing, ways,
                  WalkFault{stop.reason, side + 1, steps_[side].line(standing.place[side].at)});
    }
  const auto &[first, second] = events;
  if (first.what != second.what)
    return fail(standing, ways, "not what the other kernel does there");
  for (std::size_t i = 0; i < first.operands.size(); ++i)
    if (!equal(standing.known, first.operands[i], second.operands[i]))
      return fail(standing, ways,
                  !first.stores ? "with other operands than the other kernel"
                  : i == 0      ? "it may store elsewhere than the other kernel"
                                : "it may store something else than the other kernel");
  if (first.gathers && !are_partners(standing))
    return fail(standing, ways, "other lanes meet there than in the other kernel");
  if (auto &varying = standing.varying; first.gathers && !varying.empty() && varying.back())
    varying.push_back(nullptr);
  std::vector<Expr> results;
  for (const RegisterId reg : first.results)
    results.push_back(reg == no_register ? nullptr : terms_.symbol("result", steps_[0].width(reg)));
  if (first.stores)
    standing.memory.store(launch_, *first.stores, first.operands[0], first.operands[1]);
  else if (first.is_memory)
    standing.memory.forget(terms_);
  for (unsigned side = 0; side < 2; ++side)
    steps_[side].finish(standing.place[side], events[side], results);
  arrive(std::move(standing), open, ways);
}

SideBySideProof SideBySide::run() {
  WalkFault fault{header_fault()};
  const auto finish = [&] {
    proof_.is_proved = fault.reason.empty();
    proof_.reason = fault.reason;
    proof_.side = fault.side;
    proof_.line = fault.line;
    proof_.asked = solver_.tally();
    proof_.effort = solver_.effort();
    return proof_;
  };
  if (!fault.reason.empty())
    return finish();
  Standing start{{steps_[0].start(), steps_[1].start()}, {}, KnownConditions(terms_), {}};
  if (ask(start.known, terms_.constant(1, 1)) == SolverAnswer::unsat) {
    proof_.contradiction = true;
    fault.reason = "no launch keeps what is assumed";
    return finish();
  }
  start.memory.global = terms_.symbol("global memory", 64);
  start.memory.shared = terms_.symbol("shared memory", 64);
  start.memory.local = terms_.symbol("local memory", 64);
  start.memory.at_first = start.memory.global;
  try {
    if (const Ways ways = walk(std::move(start), nullptr); !ways.faults.empty())
      fault = ways.faults[0];
  } catch (const NotFollowed &stop) {
    fault.reason = stop.reason;
  }
  return finish();
}

} // namespace

SideBySideProof prove_side_by_side(const Module &first, const Function &first_kernel,
                                   const Module &second, const Function &second_kernel,
                                   const ProofAssumptions &assumptions,
                                   const SideBySideLimits &limits) {
  // The longer one follows, as its loops may do several iterations of the other's at once.
  if (first_kernel.instructions.size() <= second_kernel.instructions.size())
    return SideBySide(first, first_kernel, second, second_kernel, first_kernel, assumptions, limits)
        .run();
  SideBySideProof proof =
      SideBySide(second, second_kernel, first, first_kernel, first_kernel, assumptions, limits)
          .run();
  proof.side = proof.side == 0 ? 0 : 3 - proof.side;
  return proof;
}

} // namespace ptxasw::analysis
