// Barriers first: if every branch that decides about them goes the same way for all threads of a
// block, the k-th barrier of one thread is the k-th of every other, in the same iteration of every
// loop around it. Then what two threads do at the same time lies in one interval (intervals.h), and
// for each pair of accesses in it, of which one writes, Z3 is asked if both can be reached with a
// byte in common. Barriers that are not shown to be reached by all order nothing.
//
// Threads of different blocks are ordered by no barrier. Threads of one warp are taken to run
// independently (sm_70 and later). bar.warp.sync orders the lanes of a tile (2, 4, 8, 16 or 32 that
// are aligned) in the same way as barriers order a block, if its mask is that tile for each lane
// that comes to it, and no branch parts the tile on the way. A tile's barriers are those of larger
// ones, too. Two lanes wait for each other if both have the same mask and it names both (PTX ISA,
// bar.warp.sync); a mask of another tile names only one of them, so it stands for no such barrier.
//
// That two threads read the same where they are in one iteration of one load may be taken for
// granted: if they do not, somebody writes there between the same barriers, and of all races of a
// run the first one, by the time at which the second of its accesses takes place, is not that of
// accesses behind these reads. Its question is answered by what holds.
//
// Accesses are aligned as a whole (PTX ISA 6.4.1), so two of them have a byte in common if their
// addresses, rounded down to a multiple of the wider one, are equal.

#include "analysis/prove/races.h"

#include "analysis/prove/integers.h"
#include "analysis/prove/intervals.h"
#include "analysis/prove/invariants.h"
#include "analysis/prove/products.h"
#include "analysis/prove/thread_copy.h"
#include "analysis/prove/wrap_watch.h"
#include "emulator/facts/reading.h"
#include "emulator/semantics/parameter_layout.h"
#include "emulator/symbolic/solver.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fmt/core.h>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace ptxasw::analysis {
namespace {

/// What is spent is counted in units of half a microsecond, as a core of 2023 takes it. Z3's own
/// unit takes a fifth more. Of whole numbers it takes so many times as long for what is beyond an
/// easy question; and each question takes some time to be made.
constexpr std::uint64_t easy_units = 50'000, whole_weight = 4, making = 10'000;

constexpr std::uint64_t cost_of_bits(std::uint64_t units) { return units + units / 5; }
/// The cost of a question of whole numbers that took so many of Z3's units.
constexpr std::uint64_t cost_of_whole(std::uint64_t units) {
  const std::uint64_t easy = std::min(units, easy_units);
  return making + cost_of_bits(easy) + whole_weight * (units - easy);
}
/// What a question of whole numbers may take, if no more is left.
constexpr std::uint64_t whole_units(std::uint64_t left) {
  return left <= easy_units ? left : easy_units + (left - easy_units) / whole_weight;
}

/// ConvergencePoints that one question is about: Z3 takes much longer for more of them, and counts
/// little of it.
constexpr std::size_t most_meetings = 128;

/// Cases that one question is parted into at most.
constexpr unsigned most_cases = 200;

/// What it takes to find out that a case of a question of so many nodes is none, as measured.
constexpr std::uint64_t cost_of_case(std::size_t nodes) { return nodes / 5; }

/// Choices of numbers with products in one question that are told apart.
constexpr unsigned most_choices = 4;

/// For what is asked on the way to an answer, in units of whole numbers.
constexpr std::uint64_t most_of_step = 100'000;

/// Gates of all multipliers and dividers in one question: Z3 makes them before it counts what it
/// does, which takes longer than all the rest.
constexpr std::uint64_t most_gates = std::uint64_t{64} * 32 * 32;

std::uint64_t gates(const std::vector<Expr> &formulas, bool with_products) {
  std::unordered_set<Expr> seen;
  std::uint64_t result = 0;
  for (const Expr formula : formulas)
    for_each_node(formula, [&](Expr node) {
      const bool divides = node->kind == ExprKind::udiv || node->kind == ExprKind::urem ||
                           node->kind == ExprKind::sdiv || node->kind == ExprKind::srem;
      if ((divides || (with_products && node->kind == ExprKind::product)) &&
          seen.insert(node).second)
        result += std::uint64_t{node->width} * node->width;
    });
  return result;
}

/// What is counted in 32 bits: by steps of at most so much, and so often.
constexpr std::int64_t most_step = 1024;
constexpr std::uint64_t most_counted = (std::uint64_t{1} << 32) / most_step;
/// No block has more threads (CUDA C++ Programming Guide, compute capabilities).
constexpr std::uint64_t most_threads_of_block = 1024, most_blocks = most_counted;

constexpr unsigned warp_size = 32;

/// Which lanes of a warp two threads of a block are: of one tile of so many lanes, not of one of so
/// many; 0: this is not asked.
struct LanesOfPair {
  unsigned same = 0, different = 0;
};

/// Accesses that differ in their addresses only: one question is about all of them.
struct AccessGroup {
  std::vector<const SharedAccess *> members;
  std::vector<IntervalPlace> places; ///< with the barriers of the block
  /// With those of tiles as well, in the order of SafetyProof::tiles_.
  std::vector<std::vector<IntervalPlace>> tile_places;
  const SharedAccess &first() const { return *members.front(); }
};

/// Two accesses at addresses that are expressions of their threads.
struct AccessMeeting {
  const SharedAccess *one, *other;
  Expr at_one, at_other;
};

/// What may hold together: all formulas, and one of the meetings, if there are any.
struct SafetyQuestion : IntegerFormulas::Asked {
  std::vector<AccessMeeting> meetings;

  /// Of all its expressions.
  std::size_t nodes() const {
    std::unordered_set<Expr> seen;
    const auto add = [&](Expr expr) { for_each_node(expr, [&](Expr node) { seen.insert(node); }); };
    for (const std::vector<Expr> *const list : {&formulas, &computed, &supposed})
      std::for_each(list->begin(), list->end(), add);
    for (const AccessMeeting &meeting : meetings) {
      add(meeting.at_one);
      add(meeting.at_other);
    }
    return seen.size();
  }

  /// The same where `then` holds.
  SafetyQuestion where(Substitution &then) const {
    SafetyQuestion result = *this;
    for (std::vector<Expr> *const list : {&result.formulas, &result.computed, &result.supposed})
      for (Expr &expr : *list)
        expr = then(expr);
    for (AccessMeeting &meeting : result.meetings) {
      meeting.at_one = then(meeting.at_one);
      meeting.at_other = then(meeting.at_other);
    }
    return result;
  }
};

class SafetyProof {
public:
  SafetyProof(const Module &module, const Function &kernel, const ProofAssumptions &assumptions,
              const ProofOptions &options, std::uint32_t cuts_line)
      : cuts_line_(cuts_line), module_(module), kernel_(kernel), assumptions_(assumptions),
        options_(options), paths_(module, kernel, launch_facts(kernel, assumptions.block)),
        pool_(paths_.pool()), launch_{assumptions.grid, assumptions.parameters, assumptions.no_wrap,
                                      assumptions.disjoint},
        solver_(options.resource_limit, true), order_solver_(options.resource_limit, true),
        exact_solver_(options.resource_limit / 4, true),
        integer_solver_(static_cast<unsigned>(whole_units(options.resource_limit))),
        invariants_(paths_, launch_, solver_, [this] { return bits_left(); }) {}

  KernelProof run();
  std::uint64_t effort() const;
  SolverTally tally() const {
    SolverTally all = solver_.tally();
    all += order_solver_.tally();
    all += integer_solver_.tally();
    return all += exact_solver_.tally();
  }

private:
  std::uint64_t effort_left() const {
    return options_.effort - std::min(options_.effort, effort());
  }
  /// In Z3's units of bits.
  std::uint64_t bits_left() const { return effort_left() / 6 * 5; }
  void note_effort();
  bool no_launch();
  void prove_barriers();
  bool all_agree(unsigned lanes, std::uint32_t &line);
  bool agrees(Expr choice, BlockId block, unsigned lanes);
  std::vector<BlockId> deciding(unsigned lanes) const;
  bool orders(const BarrierSite &site, unsigned lanes) const;
  unsigned tile_of(const BarrierSite &site);
  bool is_tile(const BarrierSite &site, unsigned lanes);
  bool prove_tiles(PropertyProof &proof);
  std::optional<BlockId> endless();
  bool reads_decide();
  bool may_break_contract();
  std::uint32_t waiting_line();
  void prove_races();
  bool race_free(const AccessGroup &a, const AccessGroup &b);
  void blame(const AccessGroup &a, const AccessGroup &b);
  bool apart(const AccessGroup &a, const AccessGroup &b, ThreadPair pair, LanesOfPair lanes,
             const IntervalPlace &place_a, const IntervalPlace &place_b, bool distinct);
  bool are_disjoint(Expr base, Expr other) const;
  Expr meet(const AccessMeeting &meeting);
  Expr any_meet(const std::vector<AccessMeeting> &meetings);
  Expr pointer_in(Expr address);
  Expr base_in(const SharedAccess &access, Expr address) {
    return access.base ? access.base : pointer_in(address);
  }
  std::string counter_fault(const SharedAccess &own);
  std::string about_counters(const SharedAccess &one, const SharedAccess &other);
  void add_counters(std::vector<Expr> &formulas, ThreadCopy &one, ThreadCopy &two, bool same_block);
  bool may_race(const SharedAccess &a, const SharedAccess &b, ThreadScope between) const;
  void prove_bounds();
  void add_launch_facts(std::vector<Expr> &formulas, ThreadCopy &thread);
  void add_layout_facts(std::vector<Expr> &formulas, Expr besides);
  Expr same_tile(ThreadCopy &one, ThreadCopy &two, unsigned lanes);
  Expr relation(const LaunchRelation &relation);
  Expr named(const std::string &name);
  SolverAnswer ask(std::vector<Expr> formulas, std::initializer_list<ThreadCopy *> threads,
                   PropertyProof &about, const std::vector<AccessMeeting> &meetings = {});
  SolverAnswer ask_cases(const SafetyQuestion &question, std::span<const CaseSplit> splits,
                         PropertyProof &about, unsigned &left);
  SolverAnswer ask_whole(const SafetyQuestion &question);
  SolverAnswer check_whole(const char *name, const IntegerQuestion &question, std::uint64_t most);
  bool whole_excluded(const IntegerQuestion &question);
  ComputedNodes computed_by(const SafetyQuestion &question) const;
  SolverAnswer ask_choices(const SafetyQuestion &question, unsigned most);
  SolverAnswer ask_bits(const SafetyQuestion &question, PropertyProof &about);
  const Variable *variable(Expr symbol) const;
  std::string place_of(const SharedAccess &access) const;
  std::vector<AccessGroup> groups(const Intervals &of_block,
                                  const std::vector<Intervals> &of_tiles) const;
  bool in_one_block(const AccessGroup &a, const AccessGroup &b);
  bool may_overlap(const AccessGroup &a, const AccessGroup &b) const;

  const std::uint32_t cuts_line_; ///< where no-wrap is given up; 0: nowhere
  const Module &module_;
  const Function &kernel_;
  const ProofAssumptions &assumptions_;
  const ProofOptions &options_;
  KernelPaths paths_;
  ExprPool &pool_;
  const FixedLaunch launch_;
  Solver solver_, order_solver_, exact_solver_, integer_solver_;
  LoopInvariants invariants_;
  const InvariantsOf invariants_of_ = [this](LoopId loop) -> const LoopKnowledge & {
    return invariants_.of(loop);
  };
  bool barriers_order_ = false;
  std::map<std::uint32_t, unsigned> tile_lanes_; ///< of barriers of tiles, by instruction
  std::vector<unsigned> tiles_; ///< lanes of those that barriers order, the largest first
  std::unordered_map<std::string, bool> steps_; ///< what whole_excluded() has said, by question
  bool out_of_effort_ = false;
  std::uint64_t whole_effort_ = 0;          ///< of questions of whole numbers
  unsigned questions_ = 0, unanswered_ = 0; ///< what counts towards the limits
  KernelProof proof_;
};

std::string_view what(const SharedAccess &access) {
  return access.kind == facts::AccessKind::load    ? "load"
         : access.kind == facts::AccessKind::store ? "store"
                                                   : "atomic";
}

const Variable *SafetyProof::variable(Expr symbol) const {
  if (!symbol)
    return nullptr;
  const std::string_view name = pool_.symbols()[symbol->index].name;
  if (!name.starts_with('&'))
    return nullptr;
  for (const auto *list : {&kernel_.variables, &module_.variables})
    for (const Variable &candidate : *list)
      if (candidate.name == name.substr(1))
        return &candidate;
  return nullptr;
}

std::string SafetyProof::place_of(const SharedAccess &access) const {
  return fmt::format("the {} of {} memory in line {}", what(access),
                     access.space == StateSpace::shared ? "shared" : "global", access.line);
}

// --- the launch

// Parameters that nothing depends on have no symbol; neither has what is said of them a meaning.
Expr SafetyProof::named(const std::string &name) {
  if (name.starts_with("ntid.") || name.starts_with("nctaid.")) {
    const Expr extent = paths_.emulation().special("%" + name);
    return extent->kind == ExprKind::symbol ? ThreadCopy::shared_symbol(paths_, launch_, extent)
                                            : extent;
  }
  for (const Variable &own : kernel_.parameters) {
    const ParameterField whole{own.name, 0, static_cast<unsigned>(own.size() * 8)};
    if (own.is_array || (whole.width != 32 && whole.width != 64) ||
        facts::parameter_name(whole, kernel_) != name)
      continue;
    if (const auto given = launch_.parameters.bits(whole))
      return pool_.constant(whole.width, *given);
  }
  Expr found = nullptr;
  for (const Expr symbol : paths_.symbols()) {
    const auto field = paths_.emulation().parameter_field(symbol);
    if (!field || facts::parameter_name(*field, kernel_) != name)
      continue;
    const auto whole =
        std::find_if(kernel_.parameters.begin(), kernel_.parameters.end(),
                     [&](const Variable &own) { return own.name == field->parameter; });
    if (whole == kernel_.parameters.end() ||
        (!whole->is_array && field->width != whole->size() * 8))
      continue; // a part of the number that is meant
    if (found || (field->width != 32 && field->width != 64))
      return nullptr; // read in two ways
    found = symbol;
  }
  return found ? ThreadCopy::shared_symbol(paths_, launch_, found) : nullptr;
}

Expr SafetyProof::relation(const LaunchRelation &relation) {
  const auto of = [&](const std::string &name) { return named(name); };
  const Expr left = value_of(pool_, relation.left, of), right = value_of(pool_, relation.right, of);
  if (!left || !right)
    return nullptr;
  if (relation.modulus != 0)
    return pool_.eq(pool_.srem(left, pool_.constant(64, relation.modulus)), right);
  return relation.kind == LaunchRelation::Kind::less         ? pool_.slt(left, right)
         : relation.kind == LaunchRelation::Kind::less_equal ? pool_.sle(left, right)
         : relation.kind == LaunchRelation::Kind::equal      ? pool_.eq(left, right)
                                                             : pool_.bit_not(pool_.eq(left, right));
}

void SafetyProof::add_launch_facts(std::vector<Expr> &formulas, ThreadCopy &thread) {
  for (int axis = 0; axis < 3; ++axis) {
    const std::string extent = fmt::format("{}", "xyz"[axis]);
    const Expr ntid = named("ntid." + extent), nctaid = named("nctaid." + extent);
    formulas.push_back(pool_.ult(thread.tid(axis), ntid));
    formulas.push_back(pool_.ult(thread.ctaid(axis), nctaid));
  }
}

// Variables lie apart, in shared memory of less than a mebibyte; those without a size there
// (dynamic shared memory) behind the others, all at the same place. Where others without a size lie
// is not known.
void SafetyProof::add_layout_facts(std::vector<Expr> &formulas, Expr besides) {
  constexpr std::uint64_t window = 1 << 20;
  std::set<std::pair<std::uint32_t, Expr>> symbols;
  const auto add = [&](Expr formula) {
    for_each_node(formula, [&](Expr node) {
      if (node->kind == ExprKind::symbol && variable(node))
        symbols.insert({node->id, node});
    });
  };
  std::for_each(formulas.begin(), formulas.end(), add);
  add(besides);
  const auto before = [&](Expr a, std::uint64_t size, Expr b) {
    return pool_.ule(pool_.add(a, pool_.constant(64, size)), b);
  };
  for (const auto &[id, symbol] : symbols) {
    const Variable &one = *variable(symbol);
    const bool shared = one.space == StateSpace::shared;
    formulas.push_back(
        pool_.ult(symbol, pool_.constant(64, shared ? window : std::uint64_t{1} << 56)));
    const std::uint64_t alignment = alignment_of(one);
    if (alignment > 1)
      formulas.push_back(
          pool_.eq(pool_.truncate(symbol, static_cast<unsigned>(std::countr_zero(alignment))),
                   pool_.constant(static_cast<unsigned>(std::countr_zero(alignment)), 0)));
    for (const auto &[other_id, other] : symbols) {
      const Variable &two = *variable(other);
      if (other_id >= id || one.space != two.space ||
          (!shared && (one.size() == 0 || two.size() == 0)))
        continue;
      if (one.size() == 0 && two.size() == 0)
        formulas.push_back(pool_.eq(symbol, other));
      else if (one.size() == 0)
        formulas.push_back(before(other, two.size(), symbol));
      else if (two.size() == 0)
        formulas.push_back(before(symbol, one.size(), other));
      else
        formulas.push_back(
            pool_.bit_or(before(symbol, one.size(), other), before(other, two.size(), symbol)));
    }
  }
}

// --- questions

// If there are meetings, one of them happens; what is known of the threads goes with it. Whole
// numbers first; then in cases, if there are some, in each of which less is unknown; then as bits.
SolverAnswer SafetyProof::ask(std::vector<Expr> formulas,
                              std::initializer_list<ThreadCopy *> threads, PropertyProof &about,
                              const std::vector<AccessMeeting> &meetings) {
  // What is wrong by itself is so whatever is known besides.
  if (std::any_of(formulas.begin(), formulas.end(), [](Expr formula) {
        return formula->kind == ExprKind::constant && formula->value.is_zero();
      }))
    return SolverAnswer::unsat;
  std::vector<CaseSplit> splits;
  SafetyQuestion question{{std::move(formulas), {}, {}}, meetings};
  for (ThreadCopy *thread : threads) {
    const std::vector<Expr> &facts = thread->facts(), computed = thread->computed();
    question.formulas.insert(question.formulas.end(), facts.begin(), facts.end());
    question.computed.insert(question.computed.end(), computed.begin(), computed.end());
    for (const CaseSplit &split : thread->splits())
      if (std::find(splits.begin(), splits.end(), split) == splits.end())
        splits.push_back(split);
  }
  for (const LaunchRelation &known : assumptions_.relations)
    if (const Expr holds = relation(known))
      question.formulas.push_back(holds);
  add_layout_facts(question.formulas, any_meet(meetings));
  if (ask_choices(question, most_choices) == SolverAnswer::unsat)
    return SolverAnswer::unsat;
  unsigned cases = most_cases;
  if (!splits.empty())
    if (const SolverAnswer answer = ask_cases(question, splits, about, cases); cases != 0)
      return answer;
  return ask_bits(question, about);
}

// One after the other, until one of them may be.
SolverAnswer SafetyProof::ask_cases(const SafetyQuestion &question,
                                    std::span<const CaseSplit> splits, PropertyProof &about,
                                    unsigned &left) {
  if (splits.empty()) {
    if (left == 0 || --left == 0)
      return SolverAnswer::unknown;
    return ask_whole(question) == SolverAnswer::unsat ? SolverAnswer::unsat
                                                      : ask_bits(question, about);
  }
  const std::uint64_t cost = cost_of_case(question.nodes());
  for (const auto &one : splits[0]) {
    whole_effort_ += cost;
    note_effort();
    if (out_of_effort_)
      return SolverAnswer::unknown;
    Substitution then(pool_);
    SafetyQuestion of_case = question;
    for (const auto &[expr, value] : one)
      if (expr->kind == ExprKind::symbol)
        then.map(expr, value);
      else
        of_case.formulas.push_back(pool_.eq(expr, value));
    of_case = of_case.where(then);
    if (std::any_of(of_case.formulas.begin(), of_case.formulas.end(), [](Expr formula) {
          return formula->kind == ExprKind::constant && formula->value.is_zero();
        }))
      continue;
    std::vector<CaseSplit> others(splits.begin() + 1, splits.end());
    for (const CaseSplit &split : others)
      for (const auto &other : split)
        whole_effort_ += other.size();
    for (CaseSplit &split : others)
      for (auto &other : split)
        for (auto &[expr, value] : other) {
          expr = then(expr);
          value = then(value);
        }
    for (CaseSplit &split : others)
      std::erase_if(split, [&](const auto &other) {
        return std::any_of(other.begin(), other.end(), [&](const auto &pair) {
          const Expr same = pool_.eq(pair.first, pair.second);
          return same->kind == ExprKind::constant && same->value.is_zero();
        });
      });
    if (const SolverAnswer answer = ask_cases(of_case, others, about, left);
        answer != SolverAnswer::unsat)
      return answer;
  }
  return SolverAnswer::unsat;
}

SolverAnswer SafetyProof::check_whole(const char *name, const IntegerQuestion &question,
                                      std::uint64_t most) {
  ++questions_;
  const std::uint64_t before = integer_solver_.effort();
  // It may be asked twice, without far bounds and with them.
  const SolverAnswer answer =
      integer_solver_.check(name, question, std::min(most, whole_units(effort_left() / 2)));
  whole_effort_ += cost_of_whole(integer_solver_.effort() - before);
  note_effort();
  return answer;
}

// A step towards the answer, which may not cost much.
bool SafetyProof::whole_excluded(const IntegerQuestion &question) {
  if (out_of_effort_)
    return false;
  const auto [known, is_new] = steps_.try_emplace(to_string(question), false);
  if (!is_new)
    return known->second;
  return known->second =
             check_whole("where an index is", question, most_of_step) == SolverAnswer::unsat;
}

SolverAnswer SafetyProof::ask_whole(const SafetyQuestion &asked) {
  if (out_of_effort_ || !assumptions_.no_wrap || gates(asked.formulas, false) > most_gates)
    return SolverAnswer::unknown;
  std::vector<IntegerFormulas::Meeting> places;
  for (const AccessMeeting &meeting : asked.meetings) {
    places.push_back({meet(meeting)});
    if (meeting.one->bytes != meeting.other->bytes ||
        places.back().holds->kind == ExprKind::constant)
      continue;
    const Expr base_one = base_in(*meeting.one, meeting.at_one);
    const Expr base = base_one == base_in(*meeting.other, meeting.at_other) ? base_one : nullptr;
    places.back().one = base ? pool_.sub(meeting.at_one, base) : meeting.at_one;
    places.back().other = base ? pool_.sub(meeting.at_other, base) : meeting.at_other;
  }
  const auto question = IntegerFormulas(pool_).question(
      asked, places, [&](const IntegerQuestion &step) { return whole_excluded(step); });
  if (!question)
    return SolverAnswer::unknown;
  return check_whole("a property of whole numbers", *question, ~std::uint64_t{0});
}

// What a question's formulas compute, and what is known to be computed; not its meetings.
ComputedNodes SafetyProof::computed_by(const SafetyQuestion &question) const {
  ComputedNodes computed(pool_);
  for (const Expr one : question.formulas)
    computed.add_formula(one);
  for (const Expr one : question.computed)
    computed.add_choice(one);
  return computed;
}

// Each way that numbers are chosen that differ by products, as by `min(begin + i * chunk, n)`: what
// is chosen is then one product, or another, and multiples can be compared. Where it is not known
// that something is chosen, as on a way that is not gone, the condition need not be computed.
SolverAnswer SafetyProof::ask_choices(const SafetyQuestion &question, unsigned most) {
  if (!assumptions_.no_wrap)
    return SolverAnswer::unknown;
  std::set<std::uint32_t> ids;
  Expr choice = nullptr; // one with no other in it: what is in another one came before it
  const auto look = [&](Expr formula) {
    for_each_node(formula, [&](Expr node) {
      if (node->kind != ExprKind::ite || node->width < 32)
        return;
      bool has_product = false;
      for_each_node(pool_.sub(node->children[1], node->children[2]),
                    [&](Expr part) { has_product |= part->kind == ExprKind::product; });
      if (has_product && ids.insert(node->id).second && (!choice || node->id < choice->id))
        choice = node;
    });
  };
  std::for_each(question.formulas.begin(), question.formulas.end(), look);
  ComputedNodes computed = computed_by(question);
  for (const AccessMeeting &meeting : question.meetings)
    for (const Expr at : {meeting.at_one, meeting.at_other}) {
      look(at);
      computed.add_number(at);
    }
  if (!choice || ids.size() > most ||
      (!computed.contains(choice) && !ComputedNodes::is_comparison(choice->children[0])))
    return ask_whole(question);
  for (const bool first : {true, false}) {
    Substitution then(pool_);
    then.map(choice, choice->children[first ? 1 : 2]);
    SafetyQuestion chosen = question.where(then);
    std::vector<Expr> &list = computed.contains(choice) ? chosen.formulas : chosen.supposed;
    list.insert(list.begin(), first ? choice->children[0] : pool_.bit_not(choice->children[0]));
    if (const SolverAnswer answer = ask_choices(chosen, most - 1); answer != SolverAnswer::unsat)
      return answer;
  }
  return SolverAnswer::unsat;
}

// As much time for the same number.
std::uint64_t SafetyProof::effort() const {
  std::uint64_t result = whole_effort_;
  for (const Solver *const one : {&solver_, &order_solver_, &exact_solver_})
    result += cost_of_bits(one->effort()) + std::uint64_t{one->questions()} * making;
  return result;
}

void SafetyProof::note_effort() {
  out_of_effort_ |= questions_ >= options_.questions || unanswered_ >= options_.unanswered ||
                    effort() >= options_.effort;
}

// Without products, whose order is enough to tell indices apart.
SolverAnswer SafetyProof::ask_bits(const SafetyQuestion &question, PropertyProof &about) {
  if (out_of_effort_)
    return SolverAnswer::unknown;
  std::vector<Expr> formulas = question.formulas;
  formulas.insert(formulas.begin(), any_meet(question.meetings));
  ComputedNodes computed = computed_by(question);
  for (const AccessMeeting &meeting : question.meetings)
    computed.add_formula(meet(meeting));
  const auto count = [&](SolverAnswer answer) {
    ++questions_;
    if (answer != SolverAnswer::sat && answer != SolverAnswer::unsat)
      ++unanswered_;
    note_effort();
    return answer;
  };
  const auto abstracted = [&](bool numbers, bool &replaced) {
    ProductAbstraction abstract(pool_, assumptions_.no_wrap ? &computed : nullptr, numbers);
    std::vector<Expr> result;
    result.reserve(formulas.size());
    for (const Expr formula : formulas)
      result.push_back(abstract(formula));
    for (const Expr axiom : abstract.axioms())
      result.push_back(axiom);
    replaced = abstract.replaced();
    return result;
  };
  if (gates(formulas, false) > most_gates)
    return count(SolverAnswer::unknown);
  bool replaced = false, numbers_too = false;
  const std::vector<Expr> linear = abstracted(false, replaced);
  if (gates(linear, true) > most_gates)
    return count(SolverAnswer::unknown);
  const std::vector<Expr> orders = abstracted(true, numbers_too);
  if (numbers_too && gates(orders, true) <= most_gates) {
    ++questions_;
    const SolverAnswer answer = order_solver_.check("a property, by order", orders, bits_left());
    note_effort();
    if (answer == SolverAnswer::unsat)
      return SolverAnswer::unsat;
  }
  std::vector<Expr> symbols;
  for (const Expr symbol : paths_.symbols())
    if (symbol->width <= 64 && ThreadCopy::shared_symbol(paths_, launch_, symbol) == symbol)
      symbols.push_back(symbol);
  for (const char axis : {'x', 'y', 'z'})
    for (const char *extent : {"ntid", "nctaid"})
      if (const Expr symbol = named(fmt::format("{}.{}", extent, axis));
          symbol->kind == ExprKind::symbol &&
          std::find(symbols.begin(), symbols.end(), symbol) == symbols.end())
        symbols.push_back(symbol);
  std::vector<std::uint64_t> values;
  SolverAnswer answer =
      count(solver_.find("a property, linear", linear, symbols, values, bits_left()));
  // Where products may wrap around, what they are exactly may still exclude it.
  if (replaced && answer != SolverAnswer::unsat && !assumptions_.no_wrap &&
      gates(formulas, true) <= most_gates) {
    std::vector<std::uint64_t> exact;
    const SolverAnswer again =
        exact_solver_.find("a property", formulas, symbols, exact, bits_left());
    ++questions_;
    if (again == SolverAnswer::sat)
      values = std::move(exact);
    if (again == SolverAnswer::unsat || again == SolverAnswer::sat)
      answer = again;
  }
  about.model.clear();
  for (std::size_t i = 0; answer == SolverAnswer::sat && i < values.size(); ++i) {
    const auto field = paths_.emulation().parameter_field(symbols[i]);
    const std::string &name = pool_.symbols()[symbols[i]->index].name;
    if (field || name.starts_with('%'))
      about.model[field ? facts::parameter_name(*field, kernel_) : name.substr(1)] = values[i];
  }
  return answer;
}

Expr SafetyProof::same_tile(ThreadCopy &one, ThreadCopy &two, unsigned lanes) {
  const Expr bits = pool_.constant(32, static_cast<unsigned>(std::countr_zero(lanes)));
  return pool_.eq(pool_.lshr(one.linear_tid(), bits), pool_.lshr(two.linear_tid(), bits));
}

// --- barriers

// Branches between which and the nearest block through which all ways to the end lead there is a
// barrier; and those that leave loops around such branches and barriers.
std::vector<BlockId> SafetyProof::deciding(unsigned lanes) const {
  const ControlFlowGraph &cfg = paths_.cfg();
  std::vector<bool> has_barrier(cfg.blocks().size(), false);
  for (const BarrierSite &site : paths_.barriers())
    if (orders(site, lanes))
      has_barrier[site.block] = true;
  std::vector<BlockEdge> ends;
  for (const BlockId block : cfg.reverse_postorder()) {
    const BasicBlock &info = cfg.blocks()[block];
    const bool may_exit =
        info.branch != no_index && info.successors.size() == 1 &&
        is_one_of(module_.opcode(kernel_.instructions[info.branch]).op, {Op::exit, Op::ret});
    if (info.successors.empty() || may_exit)
      ends.push_back({block, no_index});
  }
  const std::vector<BlockId> behind = immediate_postdominators(cfg, ends);
  std::vector<bool> decides(cfg.blocks().size(), false);
  std::vector<LoopId> loops;
  const auto add_loops = [&](BlockId block) {
    for (LoopId loop = cfg.loop_of(block); loop != no_index; loop = cfg.loops()[loop].parent)
      if (std::find(loops.begin(), loops.end(), loop) == loops.end())
        loops.push_back(loop);
  };
  for (const BlockId block : cfg.reverse_postorder()) {
    if (has_barrier[block])
      add_loops(block);
    if (cfg.blocks()[block].branch == no_index)
      continue;
    for (const BlockId at :
         reached_from(cfg, block, [&](BlockId, BlockId to) { return to != behind[block]; }))
      decides[block] = decides[block] || has_barrier[at];
    if (decides[block])
      add_loops(block);
  }
  for (std::size_t i = 0; i < loops.size(); ++i)
    for (const BlockId block : cfg.reverse_postorder()) {
      const auto &successors = cfg.blocks()[block].successors;
      if (cfg.blocks()[block].branch == no_index || !cfg.contains(loops[i], block) ||
          (successors.size() > 1 &&
           std::all_of(successors.begin(), successors.end(),
                       [&](BlockId to) { return cfg.contains(loops[i], to); })))
        continue;
      if (!decides[block])
        add_loops(block);
      decides[block] = true;
    }
  std::vector<BlockId> result;
  for (BlockId block = 0; block < decides.size(); ++block)
    if (decides[block] && cfg.reachable(block) && paths_.cfg().reachable(block))
      result.push_back(block);
  return result;
}

// It is a barrier of the block (0), or of tiles of at least so many lanes.
bool SafetyProof::orders(const BarrierSite &site, unsigned lanes) const {
  if (lanes == 0 || !site.of_warp)
    return lanes == 0 && !site.of_warp;
  const auto tile = tile_lanes_.find(site.instruction);
  return tile != tile_lanes_.end() && tile->second >= lanes;
}

// Two threads that are in the same iteration of all loops around the block make the same choice
// there.
bool SafetyProof::agrees(Expr choice, BlockId block, unsigned lanes) {
  if (!choice)
    return false;
  Emulation &emulation = paths_.emulation();
  const ControlFlowGraph &cfg = paths_.cfg();
  Rounds rounds(cfg.loops().size(), Iteration::any);
  for (LoopId loop = cfg.loop_of(block); loop != no_index; loop = cfg.loops()[loop].parent)
    rounds[loop] = Iteration::same;
  const ThreadPair pair{true, true, no_index, lanes == 0 || barriers_order_};
  ThreadCopy one(paths_, launch_, pair, 1, block, rounds, invariants_of_);
  ThreadCopy two(paths_, launch_, pair, 2, block, rounds, invariants_of_);
  const Expr chosen = emulation.expand(choice);
  std::vector<Expr> formulas{pool_.bit_not(pool_.eq(one(chosen), two(chosen)))};
  for (ThreadCopy *thread : {&one, &two}) {
    formulas.push_back((*thread)(paths_.way(block)));
    add_launch_facts(formulas, *thread);
  }
  if (lanes != 0)
    formulas.push_back(same_tile(one, two, lanes));
  return ask(std::move(formulas), {&one, &two}, proof_.barriers) == SolverAnswer::unsat;
}

// A block from which no way leads to the end: of what does not end nothing is said.
std::optional<BlockId> SafetyProof::endless() {
  const ControlFlowGraph &cfg = paths_.cfg();
  std::vector<bool> ends(cfg.blocks().size(), false);
  std::vector<BlockId> work;
  const auto is_live = [&](BlockId block) {
    return cfg.reachable(block) && paths_.emulation().feasible(block);
  };
  for (BlockId block = 0; block < cfg.blocks().size(); ++block) {
    const BasicBlock &info = cfg.blocks()[block];
    const bool may_exit =
        info.branch != no_index &&
        is_one_of(module_.opcode(kernel_.instructions[info.branch]).op, {Op::exit, Op::ret});
    if (is_live(block) && (info.successors.empty() || may_exit)) {
      ends[block] = true;
      work.push_back(block);
    }
  }
  while (!work.empty()) {
    const BlockId at = work.back();
    work.pop_back();
    for (const BlockId before : cfg.blocks()[at].predecessors)
      if (is_live(before) && !ends[before]) {
        ends[before] = true;
        work.push_back(before);
      }
  }
  for (BlockId block = 0; block < ends.size(); ++block)
    if (is_live(block) && !ends[block])
      return block;
  return std::nullopt;
}

// `lanes`: of a tile; 0: of the block.
bool SafetyProof::all_agree(unsigned lanes, std::uint32_t &line) {
  if (const auto block = endless();
      block && std::any_of(paths_.barriers().begin(), paths_.barriers().end(),
                           [&](const BarrierSite &site) { return orders(site, lanes); })) {
    line = kernel_.instructions[paths_.cfg().blocks()[*block].first].line;
    return false;
  }
  for (const BlockId block : deciding(lanes)) {
    if (!paths_.emulation().feasible(block))
      continue;
    line = kernel_.instructions[paths_.cfg().blocks()[block].branch].line;
    if (!agrees(paths_.emulation().branch_choice(block), block, lanes))
      return false;
  }
  for (const BarrierSite &site : paths_.barriers())
    if (orders(site, lanes) && site.guard) {
      line = site.line;
      if (!agrees(site.guard, site.block, lanes))
        return false;
    }
  return true;
}

// True if, of the lanes that there are, the mask of each lane that comes to the barrier names those
// of its tile, and all of the tile have the same one.
bool SafetyProof::is_tile(const BarrierSite &site, unsigned lanes) {
  if (site.mask->kind == ExprKind::constant && lanes == warp_size)
    return site.mask->value.low == mask64(warp_size);
  Rounds rounds(paths_.cfg().loops().size(), Iteration::any);
  for (LoopId loop = paths_.cfg().loop_of(site.block); loop != no_index;
       loop = paths_.cfg().loops()[loop].parent)
    rounds[loop] = Iteration::same;
  const ThreadPair pair{true, true, no_index, barriers_order_};
  ThreadCopy one(paths_, launch_, pair, 1, site.block, rounds, invariants_of_);
  ThreadCopy two(paths_, launch_, pair, 2, site.block, rounds, invariants_of_);
  const Expr mask = one(site.mask), other = two(site.mask);
  const Expr lane = pool_.bit_and(two.linear_tid(), pool_.constant(32, warp_size - 1));
  const Expr is_named = pool_.truncate(pool_.lshr(mask, lane), 1);
  std::vector<Expr> formulas;
  const auto add_thread = [&](ThreadCopy &thread) {
    formulas.push_back(thread(paths_.way(site.block)));
    if (site.guard)
      formulas.push_back(thread(site.guard));
  };
  for (ThreadCopy *thread : {&one, &two})
    add_launch_facts(formulas, *thread);
  formulas.push_back(same_tile(one, two, warp_size));
  add_thread(one);
  std::vector<Expr> other_lanes = formulas;
  other_lanes.push_back(pool_.bit_xor(is_named, same_tile(one, two, lanes)));
  add_thread(two);
  formulas.push_back(same_tile(one, two, lanes));
  formulas.push_back(pool_.bit_not(pool_.eq(mask, other)));
  return ask(std::move(other_lanes), {&one, &two}, proof_.barriers) == SolverAnswer::unsat &&
         ask(std::move(formulas), {&one, &two}, proof_.barriers) == SolverAnswer::unsat;
}

// The lanes of the tile that a barrier's mask always names; 0: it is no tile.
unsigned SafetyProof::tile_of(const BarrierSite &site) {
  if (!site.mask)
    return 0;
  for (unsigned lanes = warp_size; lanes > 1; lanes /= 2)
    if (is_tile(site, lanes))
      return lanes;
  return 0;
}

// Returns false if lanes may part before a barrier, or one is of no tile: `proof` says where.
bool SafetyProof::prove_tiles(PropertyProof &proof) {
  std::set<unsigned, std::greater<>> sizes;
  std::vector<const BarrierSite *> others;
  for (const BarrierSite &site : paths_.barriers()) {
    if (!site.of_warp)
      continue;
    if (const unsigned lanes = tile_of(site); lanes != 0) {
      tile_lanes_[site.instruction] = lanes;
      sizes.insert(lanes);
    } else {
      others.push_back(&site);
    }
  }
  bool all = others.empty();
  if (!all) {
    proof.line = others[0]->line;
    proof.reason = "bar.warp.sync of lanes that are no tile of the warp, as far as is known";
  }
  // Lanes that wait there may be let go at a barrier whose mask is the same number.
  for (const BarrierSite &site : paths_.barriers())
    for (const BarrierSite *other : others)
      if (tile_lanes_.contains(site.instruction) &&
          !(other->mask && other->mask->kind == ExprKind::constant &&
            site.mask->kind == ExprKind::constant && site.mask != other->mask))
        return false;
  for (const unsigned lanes : sizes) {
    std::uint32_t line = 0;
    if (!all_agree(lanes, line)) {
      proof.line = line;
      proof.reason = "lanes of a warp may part here, and some may not come to bar.warp.sync";
      tiles_.clear();
      return false;
    }
    tiles_.push_back(lanes);
  }
  return all;
}

void SafetyProof::prove_barriers() {
  PropertyProof &proof = proof_.barriers;
  std::uint32_t line = 0;
  barriers_order_ = all_agree(0, line);
  if (!barriers_order_) {
    proof.line = line;
    proof.reason = "threads of a block may part here, and some may not come to a barrier";
  } else if (paths_.partial_barrier()) {
    proof.line = paths_.partial_barrier()->line;
    proof.reason = paths_.partial_barrier()->reason;
  } else {
    proof.verdict = ProofVerdict::proved;
  }
  PropertyProof of_tiles;
  if (!prove_tiles(of_tiles) && proof.verdict == ProofVerdict::proved) {
    proof.verdict = ProofVerdict::unknown;
    proof.line = of_tiles.line;
    proof.reason = std::move(of_tiles.reason);
  }
}

// --- races

bool SafetyProof::may_race(const SharedAccess &a, const SharedAccess &b,
                           ThreadScope between) const {
  const auto weak = [&](const SharedAccess &access) {
    return access.weak || (options_.volatile_races && access.is_volatile);
  };
  return a.space == b.space && (a.writes() || b.writes()) &&
         (weak(a) || weak(b) || a.bytes != b.bytes || a.is_packed != b.is_packed ||
          std::min(a.scope, b.scope) < between);
}

// The pointer parameter that an address begins at, if all else in it are indices of the thread,
// iterations and numbers that are no addresses.
Expr SafetyProof::pointer_in(Expr address) {
  const auto is_parameter = [&](Expr atom) {
    return paths_.emulation().parameter_field(atom).has_value();
  };
  // Of at most 32 bits, and no half of one that has more.
  const auto is_number = [&](const ParameterField &field) {
    const auto whole =
        std::find_if(kernel_.parameters.begin(), kernel_.parameters.end(),
                     [&](const Variable &own) { return own.name == field.parameter; });
    return field.width <= 32 && whole != kernel_.parameters.end() &&
           (whole->is_array || whole->size() * 8 <= 32);
  };
  const auto is_index = [&](Expr node) {
    if (const auto field = paths_.emulation().parameter_field(node))
      return is_number(*field);
    const std::string &name = pool_.symbols()[node->index].name;
    const std::string own = name.substr(0, name.find('\''));
    if (name.starts_with("%tid.") || name.starts_with("%ctaid.") || name.starts_with("%ntid.") ||
        name.starts_with("%nctaid."))
      return true;
    for (LoopId loop = 0; loop < paths_.cfg().loops().size(); ++loop)
      if (pool_.symbols()[paths_.emulation().trip_count(loop)->index].name == own)
        return true;
    return false;
  };
  Expr base = nullptr;
  const auto add = [&](Expr atom, bool alone) {
    if (alone && !base && atom->kind == ExprKind::symbol && atom->width == 64 &&
        is_parameter(atom)) {
      base = atom;
      return true;
    }
    bool plain = true;
    for_each_node(atom, [&](Expr node) {
      plain &= node->kind != ExprKind::uf && (node->kind != ExprKind::symbol || is_index(node));
    });
    return plain;
  };
  if (address->kind != ExprKind::sum)
    return add(address, true) ? base : nullptr;
  for (std::uint32_t i = 0; i < address->child_count; ++i)
    if (!add(address->children[i], address->coefficients[i] == 1))
      return nullptr;
  return base;
}

// True if there are none to ask about.
Expr SafetyProof::any_meet(const std::vector<AccessMeeting> &meetings) {
  Expr any = pool_.constant(1, meetings.empty() ? 1 : 0);
  for (const AccessMeeting &meeting : meetings)
    any = pool_.bit_or(any, meet(meeting));
  return any;
}

// True if what lies behind one base is not behind the other. Null: it is not known.
bool SafetyProof::are_disjoint(Expr base, Expr other) const {
  const auto is_dynamic = [&](Expr of) { // these all begin at the same place
    const Variable *own = variable(of);
    return own && own->size() == 0;
  };
  return launch_.disjoint && base && other && base != other &&
         !(is_dynamic(base) && is_dynamic(other));
}

Expr SafetyProof::meet(const AccessMeeting &meeting) {
  const SharedAccess &a = *meeting.one, &b = *meeting.other;
  const Expr at_a = meeting.at_one, at_b = meeting.at_other;
  if (are_disjoint(base_in(a, at_a), base_in(b, at_b)))
    return pool_.constant(1, 0);
  const unsigned wider = std::max(a.bytes, b.bytes);
  if (a.bytes == b.bytes)
    return pool_.eq(at_a, at_b);
  const auto rest = [&](Expr at, unsigned bytes) {
    return pool_.eq(pool_.bit_and(at, pool_.constant(64, bytes - 1)), pool_.constant(64, 0));
  };
  const Expr whole = pool_.constant(64, ~std::uint64_t{wider - 1});
  return pool_.bit_and(pool_.eq(pool_.bit_and(at_a, whole), pool_.bit_and(at_b, whole)),
                       pool_.bit_and(rest(at_a, a.bytes), rest(at_b, b.bytes)));
}

// What keeps the numbers that an atomic gives from being told apart by thread; empty: nothing.
std::string SafetyProof::counter_fault(const SharedAccess &own) {
  const Instruction &source = kernel_.instructions[own.instruction];
  const Opcode &opcode = module_.opcode(source);
  const auto operands = module_.operands(source);
  if (opcode.op != Op::atom || !opcode.has(Modifier::add) || opcode.vector != 1 ||
      operands.size() != 3 || operands[2].kind != Operand::Kind::integer || is_float(opcode.type) ||
      bit_width(opcode.type) != own.bytes * 8 || operands[2].value < 1 ||
      operands[2].value > most_step)
    return "it does not add a small number that is known and positive";
  if (own.guard)
    return "it has a predicate";
  if (own.weak || own.scope == ThreadScope::block)
    return "its scope is a block";
  if (!own.base)
    return "where its counter lies is not known";
  for (const SharedAccess &other : paths_.accesses())
    if (&other != &own && other.writes() && other.space == own.space &&
        !are_disjoint(other.base, own.base))
      return fmt::format("line {} {} its counter", other.line,
                         other.base == own.base ? "also writes" : "may also write");
  if (assumptions_.no_wrap)
    return {};
  // All of them are different modulo 2^bits, wherever they begin, unless there are too many.
  const std::uint64_t threads =
      own.space == StateSpace::shared ? most_threads_of_block
      : assumptions_.grid && paths_.launch().block && assumptions_.grid->count() < most_blocks
          ? assumptions_.grid->count() * paths_.launch().block->count()
          : ~std::uint64_t{0};
  return paths_.cfg().loop_of(own.block) == no_index && threads <= most_counted
             ? std::string()
             : "its counter may overflow without no-wrap";
}

// Of a place that every thread changes by adding the same positive number, and in no other way, two
// threads do not get the same number: the sum would have to come around to where it was. Blocks
// have each their own shared memory.
void SafetyProof::add_counters(std::vector<Expr> &formulas, ThreadCopy &one, ThreadCopy &two,
                               bool same_block) {
  const auto &accesses = paths_.accesses();
  for (const Expr symbol : paths_.symbols()) {
    const auto instruction = paths_.emulation().produced_by(symbol);
    const auto own = std::find_if(accesses.begin(), accesses.end(), [&](const SharedAccess &a) {
      return instruction && a.instruction == *instruction;
    });
    if (own == accesses.end() || symbol->width != own->bytes * 8 ||
        (own->space == StateSpace::shared && !same_block) || !counter_fault(*own).empty())
      continue;
    const Expr first = one(symbol), second = two(symbol);
    if (first == second)
      continue;
    const auto operands = module_.operands(kernel_.instructions[*instruction]);
    const Expr step = pool_.constant(symbol->width, static_cast<std::uint64_t>(operands[2].value));
    const Expr differ = assumptions_.no_wrap
                            ? pool_.bit_or(pool_.sle(pool_.add(first, step), second),
                                           pool_.sle(pool_.add(second, step), first))
                            : pool_.bit_and(pool_.ule(step, pool_.sub(first, second)),
                                            pool_.ule(step, pool_.sub(second, first)));
    formulas.push_back(
        pool_.bit_or(pool_.bit_not(pool_.eq(one(own->address), two(own->address))), differ));
  }
}

// Why numbers that threads get from a counter do not keep two accesses apart, if that is it.
std::string SafetyProof::about_counters(const SharedAccess &one, const SharedAccess &other) {
  std::string result;
  for (const SharedAccess *access : {&one, &other})
    for_each_node(access->address, [&](Expr node) {
      const auto instruction =
          node->kind == ExprKind::symbol ? paths_.emulation().produced_by(node) : std::nullopt;
      for (const SharedAccess &atomic : paths_.accesses())
        if (result.empty() && instruction == atomic.instruction &&
            atomic.kind == facts::AccessKind::atomic)
          if (const std::string fault = counter_fault(atomic); !fault.empty())
            result =
                fmt::format("; {} gives numbers that may be the same: {}", place_of(atomic), fault);
    });
  return result;
}

bool SafetyProof::apart(const AccessGroup &a, const AccessGroup &b, ThreadPair pair,
                        LanesOfPair lanes, const IntervalPlace &place_a,
                        const IntervalPlace &place_b, bool distinct) {
  ThreadCopy one(paths_, launch_, pair, 1, a.first().block, place_a.rounds, invariants_of_);
  ThreadCopy two(paths_, launch_, pair, 2, b.first().block, place_b.rounds, invariants_of_);
  whole_effort_ += std::uint64_t{2} * a.members.size() * b.members.size();
  note_effort();
  if (out_of_effort_)
    return false;
  // Of a tile's accesses many are the same distance apart: each distance is asked about once.
  std::vector<AccessMeeting> meetings;
  std::unordered_set<Expr> seen{pool_.constant(1, 0)};
  for (const SharedAccess *first : a.members)
    for (const SharedAccess *second : b.members)
      if (const AccessMeeting met{first, second, one(first->address), two(second->address)};
          seen.insert(meet(met)).second)
        meetings.push_back(met);
  if (meetings.empty())
    return true;
  std::vector<Expr> formulas;
  const auto add = [&](ThreadCopy &thread, const SharedAccess &access, const IntervalPlace &place) {
    const BlockId start = place.start == no_index ? 0 : paths_.cfg().block_of(place.start);
    formulas.push_back(thread(place.reached ? paths_.way_since(start, *place.reached, access.block)
                                            : paths_.way(access.block)));
    if (access.guard)
      formulas.push_back(thread(access.guard));
    add_launch_facts(formulas, thread);
  };
  add(one, a.first(), place_a);
  add(two, b.first(), place_b);
  if (distinct) {
    Expr equal = pool_.constant(1, 1);
    for (int axis = 0; axis < 3; ++axis)
      equal = pool_.bit_and(equal, pair.same_block ? pool_.eq(one.tid(axis), two.tid(axis))
                                                   : pool_.eq(one.ctaid(axis), two.ctaid(axis)));
    formulas.push_back(pool_.bit_not(equal));
  }
  if (lanes.same != 0)
    formulas.push_back(same_tile(one, two, lanes.same));
  if (lanes.different != 0)
    formulas.push_back(pool_.bit_not(same_tile(one, two, lanes.different)));
  if (distinct)
    add_counters(formulas, one, two, pair.same_block);
  for (auto from = meetings.begin(); from != meetings.end();) {
    const auto to = from + std::min<std::ptrdiff_t>(most_meetings, meetings.end() - from);
    if (ask(formulas, {&one, &two}, proof_.races, {from, to}) != SolverAnswer::unsat)
      return false;
    from = to;
  }
  return true;
}

// True if one thread may do something of both at the same time.
bool SafetyProof::may_overlap(const AccessGroup &a, const AccessGroup &b) const {
  return std::any_of(a.members.begin(), a.members.end(), [&](const SharedAccess *one) {
    return std::any_of(b.members.begin(), b.members.end(),
                       [&](const SharedAccess *other) { return paths_.may_overlap(*one, *other); });
  });
}

// Every interval that both are in.
bool SafetyProof::in_one_block(const AccessGroup &a, const AccessGroup &b) {
  const auto free = [&](const std::vector<IntervalPlace> &of_a,
                        const std::vector<IntervalPlace> &of_b, bool in_step, LanesOfPair lanes) {
    for (const IntervalPlace &place_a : of_a)
      for (const IntervalPlace &place_b : of_b) {
        if (place_a.start != place_b.start)
          continue;
        const BlockId start =
            place_a.start == no_index ? no_index : paths_.cfg().block_of(place_a.start);
        if (!apart(a, b, {true, in_step, start, in_step && barriers_order_}, lanes, place_a,
                   place_b, !may_overlap(a, b)))
          return false;
      }
    return true;
  };
  if (free(a.places, b.places, barriers_order_, {}))
    return true;
  if (tiles_.empty() || !free(a.places, b.places, barriers_order_, {0, tiles_[0]}))
    return false;
  for (std::size_t i = 0; i < tiles_.size(); ++i)
    if (!free(a.tile_places[i], b.tile_places[i], true,
              {tiles_[i], i + 1 < tiles_.size() ? tiles_[i + 1] : 0}))
      return false;
  return true;
}

bool SafetyProof::race_free(const AccessGroup &a, const AccessGroup &b) {
  const SharedAccess &first = a.first(), &second = b.first();
  const std::vector<IntervalPlace> anywhere = Intervals::anywhere(paths_.cfg());
  // What is read as memory that nobody writes is not written in any order.
  const bool contract = first.space == second.space && ((first.read_only && second.writes()) ||
                                                        (second.read_only && first.writes()));
  if (contract && !apart(a, b, {true, false, no_index}, {}, anywhere[0], anywhere[0], false))
    return false;
  const bool one_thread =
      paths_.launch().block && paths_.launch().block->count() == 1 && !may_overlap(a, b);
  if (!contract && may_race(first, second, ThreadScope::block) && !one_thread &&
      !in_one_block(a, b))
    return false;
  const bool many_blocks = !assumptions_.grid || assumptions_.grid->count() > 1;
  return first.space == StateSpace::shared || !many_blocks ||
         !may_race(first, second, ThreadScope::device) ||
         apart(a, b, {false, false, no_index}, {}, anywhere[0], anywhere[0], true);
}

std::vector<AccessGroup> SafetyProof::groups(const Intervals &of_block,
                                             const std::vector<Intervals> &of_tiles) const {
  const auto same_places = [](const std::vector<IntervalPlace> &a,
                              const std::vector<IntervalPlace> &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto &x, const auto &y) {
      return x.start == y.start && x.rounds == y.rounds;
    });
  };
  std::vector<AccessGroup> result;
  for (const SharedAccess &access : paths_.accesses()) {
    AccessGroup group{{&access},
                      barriers_order_ ? of_block.places(access.instruction)
                                      : Intervals::anywhere(paths_.cfg()),
                      {}};
    for (const Intervals &of_tile : of_tiles)
      group.tile_places.push_back(of_tile.places(access.instruction));
    const auto known = std::find_if(result.begin(), result.end(), [&](const AccessGroup &other) {
      const SharedAccess &first = other.first();
      return !first.is_copy && !access.is_copy && first.block == access.block &&
             first.guard == access.guard && first.kind == access.kind &&
             first.space == access.space && first.weak == access.weak &&
             first.is_volatile == access.is_volatile && first.is_packed == access.is_packed &&
             first.scope == access.scope && first.read_only == access.read_only &&
             (first.bytes == access.bytes || (access.weak && !access.is_volatile)) &&
             same_places(other.places, group.places) &&
             std::equal(other.tile_places.begin(), other.tile_places.end(),
                        group.tile_places.begin(), group.tile_places.end(), same_places);
    });
    if (known != result.end())
      known->members.push_back(&access);
    else
      result.push_back(std::move(group));
  }
  return result;
}

// Says which two accesses of the groups are in the way.
void SafetyProof::blame(const AccessGroup &a, const AccessGroup &b) {
  PropertyProof &proof = proof_.races;
  const auto say = [&](const SharedAccess &one, const SharedAccess &other) {
    proof.line = one.line;
    proof.other_line = other.line;
    proof.reason =
        &one == &other
            ? fmt::format("two threads may be at {} with a byte in common", place_of(one))
            : fmt::format("{} and {} may have a byte in common, and nothing orders them",
                          place_of(one), place_of(other));
    proof.reason += about_counters(one, other);
    if (cuts_line_ != 0)
      proof.reason +=
          fmt::format("; line {} takes a number apart, of which no-wrap says nothing", cuts_line_);
    if (out_of_effort_)
      proof.reason += "; the solver gave no answer within its limits";
  };
  say(a.first(), b.first());
  if (a.members.size() * b.members.size() == 1 || !options_.explains || unanswered_ > 0)
    return; // or what is left to ask with goes into which of them it is
  for (const SharedAccess *one : a.members)
    for (const SharedAccess *other : b.members) {
      const auto model = proof.model;
      if (!race_free({{one}, a.places, a.tile_places}, {{other}, b.places, b.tile_places}))
        return say(*one, *other);
      proof.model = model;
    }
}

void SafetyProof::prove_races() {
  // A predicate is the same for all: they wait there, or pass it by.
  const auto waits = [](const BarrierSite &site) {
    return !site.guard || (site.guard->kind == ExprKind::constant && !site.guard->value.is_zero());
  };
  std::vector<std::uint32_t> of_block;
  for (const BarrierSite &site : paths_.barriers())
    if (!site.of_warp && barriers_order_ && waits(site))
      of_block.push_back(site.instruction);
  std::vector<Intervals> of_tiles;
  for (const unsigned lanes : tiles_) {
    std::vector<std::uint32_t> barriers = of_block;
    for (const BarrierSite &site : paths_.barriers())
      if (orders(site, lanes) && waits(site))
        barriers.push_back(site.instruction);
    of_tiles.emplace_back(paths_.cfg(), std::move(barriers));
  }
  if (paths_.texture_line() != 0 && !launch_.disjoint &&
      std::any_of(paths_.accesses().begin(), paths_.accesses().end(), [](const SharedAccess &one) {
        return one.writes() && one.space == StateSpace::global;
      })) {
    proof_.races.line = paths_.texture_line();
    proof_.races.reason = "a texture may be of memory that is written";
    return;
  }
  const std::vector<AccessGroup> all = groups(Intervals(paths_.cfg(), of_block), of_tiles);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j)
      if (!race_free(all[i], all[j]))
        return blame(all[i], all[j]);
  proof_.races.verdict = ProofVerdict::proved;
  proof_.races.reason.clear();
}

// Where a loop reads, by an atomic or strong access, what branches or addresses depend on; 0:
// nowhere. Such a loop may have no end.
std::uint32_t SafetyProof::waiting_line() {
  for (const Expr symbol : paths_.symbols()) {
    const auto instruction = paths_.emulation().produced_by(symbol);
    if (!instruction || paths_.cfg().loop_of(paths_.cfg().block_of(*instruction)) == no_index)
      continue;
    const Instruction &source = kernel_.instructions[*instruction];
    const Opcode &opcode = module_.opcode(source);
    if (opcode.op == Op::atom || opcode.has(Modifier::volatile_) || opcode.has(Modifier::relaxed) ||
        opcode.has(Modifier::acquire))
      return source.line;
  }
  return 0;
}

// True if something that was read from memory, or got from other threads, comes into branches.
bool SafetyProof::reads_decide() {
  if (may_break_contract())
    return true;
  const auto &symbols = paths_.symbols();
  return std::any_of(symbols.begin(), symbols.end(), [&](Expr symbol) {
    return paths_.emulation().produced_by(symbol).has_value();
  });
}

// True if the kernel may write what it reads as memory that nobody writes. What such a load gives
// is then no function of its address, as it is taken for.
bool SafetyProof::may_break_contract() {
  const auto &accesses = paths_.accesses();
  return std::any_of(accesses.begin(), accesses.end(), [&](const SharedAccess &load) {
    return load.read_only &&
           std::any_of(accesses.begin(), accesses.end(), [&](const SharedAccess &other) {
             return other.writes() && other.space == load.space &&
                    !are_disjoint(base_in(load, load.address), base_in(other, other.address));
           });
  });
}

// --- bounds

void SafetyProof::prove_bounds() {
  PropertyProof &proof = proof_.bounds;
  const auto size_of = [&](const SharedAccess &access) -> std::optional<std::uint64_t> {
    if (!access.base)
      return std::nullopt;
    if (const Variable *own = variable(access.base))
      return own->size() != 0 ? own->size() : assumptions_.dynamic_shared;
    const auto field = paths_.emulation().parameter_field(access.base);
    const auto told = field ? assumptions_.sizes.find(facts::parameter_name(*field, kernel_))
                            : assumptions_.sizes.end();
    return told == assumptions_.sizes.end() ? std::nullopt : std::optional(told->second);
  };
  const auto &accesses = paths_.accesses();
  if (assumptions_.sizes.empty() &&
      std::any_of(accesses.begin(), accesses.end(),
                  [&](const SharedAccess &access) { return !size_of(access); })) {
    proof.verdict = ProofVerdict::not_asked;
    return;
  }
  if (const auto &obstacle = paths_.unbounded()) {
    proof.line = obstacle->line;
    proof.reason = obstacle->reason;
    return;
  }
  for (const SharedAccess &access : accesses) {
    proof.line = access.line;
    const auto size = size_of(access);
    if (!size) {
      proof.reason = fmt::format("the size of what {} is to is not known", place_of(access));
      return;
    }
    const Rounds rounds(paths_.cfg().loops().size(), Iteration::any);
    ThreadCopy thread(paths_, launch_, {}, 1, access.block, rounds, invariants_of_);
    const Expr offset = pool_.sub(thread(access.address), thread(access.base));
    const Expr inside = *size < access.bytes
                            ? pool_.constant(1, 0)
                            : pool_.ule(offset, pool_.constant(64, *size - access.bytes));
    std::vector<Expr> formulas{pool_.bit_not(inside), thread(paths_.way(access.block))};
    if (access.guard)
      formulas.push_back(thread(access.guard));
    add_launch_facts(formulas, thread);
    if (ask(std::move(formulas), {&thread}, proof) != SolverAnswer::unsat) {
      proof.reason = fmt::format("{} may leave its {} bytes", place_of(access), *size);
      return;
    }
  }
  if (proof_.races.verdict != ProofVerdict::proved && may_break_contract()) {
    proof.line = proof_.races.line;
    proof.reason = "what is read as memory that nobody writes may be written";
    return;
  }
  proof.line = 0;
  proof.verdict = ProofVerdict::proved;
}

// True if there is no thread of any launch that keeps what is assumed. Of none everything is true.
bool SafetyProof::no_launch() {
  const Rounds rounds(paths_.cfg().loops().size(), Iteration::any);
  ThreadCopy thread(paths_, launch_, {}, 1, 0, rounds, invariants_of_);
  std::vector<Expr> formulas;
  add_launch_facts(formulas, thread);
  PropertyProof nothing;
  return ask(std::move(formulas), {&thread}, nothing) == SolverAnswer::unsat;
}

KernelProof SafetyProof::run() {
  if (!paths_.obstacle() && no_launch()) {
    proof_.contradiction = true;
    for (PropertyProof *proof : {&proof_.races, &proof_.barriers, &proof_.bounds})
      proof->reason = "no launch keeps what is assumed";
    return proof_;
  }
  if (paths_.obstacle()) {
    for (PropertyProof *proof : {&proof_.races, &proof_.barriers, &proof_.bounds}) {
      proof->line = paths_.obstacle()->line;
      proof->reason = paths_.obstacle()->reason;
    }
    return proof_;
  }
  prove_barriers();
  prove_races();
  const bool waits = std::any_of(paths_.barriers().begin(), paths_.barriers().end(),
                                 [](const BarrierSite &site) { return !site.of_warp; });
  if (proof_.barriers.verdict == ProofVerdict::proved &&
      proof_.races.verdict != ProofVerdict::proved && !paths_.barriers().empty() &&
      reads_decide()) {
    proof_.barriers.verdict = ProofVerdict::unknown;
    proof_.barriers.line = proof_.races.line;
    proof_.barriers.reason = "what is read decides, and there may be a race";
  }
  if (proof_.barriers.verdict == ProofVerdict::proved && waits)
    if (const std::uint32_t line = waiting_line()) {
      proof_.barriers.verdict = ProofVerdict::unknown;
      proof_.barriers.line = line;
      proof_.barriers.reason = "a loop may wait here for what another thread writes";
    }
  prove_bounds();
  return proof_;
}

/// Returns true if an instruction may take 32 bits of a whole number of 64 by other means than a
/// conversion, multiplies numbers that may be as large as unsigned ones are, or makes a mask of
/// bits: an expression of what it gives is the sum or product of so many bits, of which no-wrap
/// says nothing. A number of type f64 is not taken for a whole one.
bool cuts_numbers(const Module &module, const Instruction &instruction, const Function &function) {
  constexpr std::uint64_t low_half = 0xffffffff;
  const Opcode &opcode = module.opcode(instruction);
  const auto operands = module.operands(instruction);
  const auto is_narrow = [&](const Operand &operand) {
    return operand.kind == Operand::Kind::integer &&
           static_cast<std::uint64_t>(operand.value) < low_half;
  };
  switch (opcode.op) {
  case Op::bmsk:
    return true;
  case Op::mov:
    return operands.size() == 2 && operands[0].kind == Operand::Kind::vector &&
           bit_width(opcode.type) == 64 &&
           !(operands[1].kind == Operand::Kind::reg &&
             function.registers[operands[1].reg].type == ScalarType::f64);
  case Op::bfe:
    return bit_width(opcode.type) == 64;
  case Op::mul: // of two numbers without a sign, half of which is not below 2^31
    return !is_signed(opcode.type) && !is_float(opcode.type) &&
           (opcode.has(Modifier::hi) ||
            (opcode.has(Modifier::wide) && opcode.type == ScalarType::u16)) &&
           std::none_of(operands.begin(), operands.end(), [](const Operand &operand) {
             return operand.kind == Operand::Kind::integer;
           });
  case Op::and_:
    return bit_width(opcode.type) == 64 &&
           std::none_of(operands.begin(), operands.end(), is_narrow);
  default:
    return false;
  }
}

/// Returns true if an instruction drops high bits because it is meant to: in tables it is written
/// by shifts to the left, of which no-wrap would say that they drop none.
bool drops_bits(const Opcode &opcode) {
  return is_one_of(opcode.op, {Op::bfi, Op::szext, Op::fns}) ||
         (opcode.op == Op::shf && opcode.text.find(".l.") != std::string_view::npos);
}

/// The first line of the kernel that takes a number apart; 0: none. What it calls is not looked
/// into.
std::uint32_t cuts_numbers(const Module &module, const Function &kernel) {
  const std::vector<bool> of_index = index_instructions(module, kernel);
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i)
    if (const Instruction &one = kernel.instructions[i];
        cuts_numbers(module, one, kernel) || (of_index[i] && drops_bits(module.opcode(one))))
      return one.line;
  return 0;
}

} // namespace

KernelProof prove_safety(const Module &module, const Function &kernel,
                         const ProofAssumptions &assumptions, const ProofOptions &options) {
  ProofAssumptions usable = assumptions;
  const std::uint32_t cuts_line = assumptions.no_wrap ? cuts_numbers(module, kernel) : 0;
  usable.no_wrap &= cuts_line == 0;
  SafetyProof proof(module, kernel, usable, options, cuts_line);
  KernelProof result = proof.run();
  result.asked = proof.tally();
  result.effort = proof.effort();
  return result;
}

} // namespace ptxasw::analysis
