// A loop goes on while a condition holds at the end or the beginning of each iteration. Its left
// side is a + s*k in iteration k, its right side b, neither of which changes: the first k at which
// a + s*k < b no longer holds is ceil((b - a) / s), or 0 where that is negative. This is so if no
// value up to the first that fails wraps around; the largest of them is below b + s, which gives
// the condition. A test for equality with a step of 1 always ends; with a step of 4 it ends where 4
// divides the distance, as it does after an unrolled loop's remainder has been split off (n - n mod
// 4).
//
// Registers that double reach b from a in ceil(log2(ceil(b / a))) iterations; halved ones fall to c
// and below in ceil(log2(floor(a / (c + 1)) + 1)), since floor(floor(a / 2) / 2) is floor(a / 4).

#include "emulator/facts/loops.h"

#include <algorithm>
#include <bit>
#include <fmt/core.h>

namespace ptxasw::facts {
namespace {

/// A progression that the loop compares: a + s * k, or a * f^k, or floor(a / f^k).
struct Progression {
  enum class Kind : std::uint8_t { linear, growing, shrinking };
  Kind kind = Kind::linear;
  Amount start;
  Amount step;              ///< of a linear one
  std::uint64_t factor = 0; ///< of the others
  unsigned ahead = 0; ///< of the others: the test looks at the value of that many iterations on
  unsigned width = 0;
  std::vector<Amount> conditions;
};

/// How a register at a loop's header follows from what it was: by what factor, growing or
/// shrinking.
struct Scaling {
  Progression::Kind kind = Progression::Kind::linear;
  std::uint64_t factor = 0;
  bool is_signed = false; ///< of a shrinking one: it is taken for a signed number
};

/// The highest or the lowest number of a width.
Rational limit_of(unsigned width, bool is_signed, bool high) {
  const Rational size = Rational::power_of_two(is_signed ? width - 1 : width);
  return high ? Rational(size - 1) : is_signed ? Rational(-size) : Rational(0);
}

/// The register without the sign that a division by a power of two adds: (x + (x < 0)) >> 1.
bool is_half_of(Expr e, Expr x) {
  if (e->kind != ExprKind::sum || e->child_count != 2 || !e->value.is_zero() ||
      e->coefficients[0] != 1 || e->coefficients[1] != 1)
    return false;
  const auto is_sign = [&](Expr s) {
    while (s->kind == ExprKind::zext)
      s = s->children[0];
    return s->kind == ExprKind::extract && s->children[0] == x && s->index + s->width == x->width;
  };
  return (e->children[0] == x && is_sign(e->children[1])) ||
         (e->children[1] == x && is_sign(e->children[0]));
}

std::optional<Scaling> scaling_of(Expr next, Expr x) {
  using Kind = Progression::Kind;
  if (next->kind == ExprKind::sum && next->child_count == 1 && next->children[0] == x &&
      next->value.is_zero() && next->coefficients[0] > 1 &&
      next->coefficients[0] <= mask64(x->width) / 2)
    return Scaling{Kind::growing, next->coefficients[0], false};
  const bool extended = next->kind == ExprKind::zext || next->kind == ExprKind::sext;
  if (extended && next->children[0]->kind == ExprKind::extract) {
    const Expr part = next->children[0];
    const Expr from = part->children[0];
    const bool whole = part->index > 0 && part->index < 63 && part->index + part->width == x->width;
    const bool is_signed = next->kind == ExprKind::sext;
    if (whole && (from == x || (is_signed && part->index == 1 && is_half_of(from, x))))
      return Scaling{Kind::shrinking, std::uint64_t{1} << part->index, is_signed};
  }
  if ((next->kind == ExprKind::udiv || next->kind == ExprKind::sdiv) && next->children[0] == x &&
      next->children[1]->kind == ExprKind::constant && next->children[1]->value.low > 1)
    return Scaling{Kind::shrinking, next->children[1]->value.low, next->kind == ExprKind::sdiv};
  return std::nullopt;
}

class Counter {
public:
  Counter(Emulation &emulation, IntegerReader &reader, LoopId loop)
      : emulation_(emulation), cfg_(emulation.cfg()), reader_(reader), amounts_(reader.amounts()),
        loop_(loop), header_(cfg_.loops()[loop].header), known_(emulation, header_),
        own_trip_(amounts_.atom_of(reader.trip(loop))) {
    know_entry();
  }

  TripCount run() {
    TripCount best;
    best.reason = "no branch that every round passes leaves it";
    std::size_t ways_out = 0;
    for (const BlockId block : cfg_.reverse_postorder()) {
      if (!cfg_.contains(loop_, block) || !emulation_.feasible(block))
        continue;
      const auto leaving = exits_of(block);
      ways_out += leaving ? 1 : 0;
      if (!leaving || best.known || !in_every_round(block))
        continue;
      best = solve(block, *leaving);
    }
    best.exact = best.exact && ways_out == 1;
    return best;
  }

private:
  // Where the loop is entered from one place, by a branch, that branch also says something.
  void know_entry() {
    std::vector<BlockId> before;
    for (const BlockId block : cfg_.blocks()[header_].predecessors)
      if (!cfg_.contains(loop_, block) && cfg_.reachable(block))
        before.push_back(block);
    if (before.size() != 1)
      return;
    if (const auto fact = fact_on_edge(emulation_, before[0], header_))
      known_.add(*fact, emulation_);
  }

  /// How a block's branch leaves the loop.
  struct Leaving {
    Expr condition = nullptr; ///< under which it goes on; null: not understood
    bool holds = true;        ///< or does not hold
  };

  std::optional<Leaving> exits_of(BlockId block) const {
    const BasicBlock &info = cfg_.blocks()[block];
    const bool leaves = std::any_of(info.successors.begin(), info.successors.end(),
                                    [&](BlockId to) { return !cfg_.contains(loop_, to); });
    const bool ends = info.branch != no_index && info.successors.size() == 1;
    if (!leaves && !ends)
      return std::nullopt;
    if (info.successors.size() > 2 || info.branch == no_index)
      return Leaving{};
    const Expr choice = emulation_.branch_choice(block);
    if (info.successors.size() == 1) // a guarded exit, or a branch to the next block
      return Leaving{choice, false};
    return Leaving{choice, cfg_.contains(loop_, info.successors[0])};
  }

  bool in_every_round(BlockId block) const {
    return cfg_.loop_of(block) == loop_ && cfg_.in_each_round(loop_, block);
  }

  TripCount solve(BlockId block, const Leaving &leaving) {
    TripCount result;
    result.exit = block;
    if (!leaving.condition) {
      result.reason = "the branch that leaves it is not understood";
      return result;
    }
    result.varies = !emulation_.uniform(leaving.condition, block);
    // It goes on only while each part holds: any part bounds it.
    std::vector<std::pair<Expr, bool>> parts{{emulation_.expand(leaving.condition), leaving.holds}};
    bool whole = true;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      auto [condition, holds] = parts[i];
      if (condition->kind == ExprKind::sum && condition->value.low == 1) {
        condition = emulation_.pool().bit_not(condition);
        holds = !holds;
      }
      if (condition->kind == ExprKind::bit_and && holds) {
        parts.emplace_back(condition->children[0], true);
        parts.emplace_back(condition->children[1], true);
        whole = false;
        continue;
      }
      if (solve_part(condition, holds, result)) {
        result.exact = result.exact && whole;
        finish(result);
        return result;
      }
    }
    return result;
  }

  bool solve_part(Expr condition, bool holds, TripCount &result) {
    if (condition->kind == ExprKind::ult || condition->kind == ExprKind::slt)
      return solve_order(condition, holds, result);
    if (condition->kind == ExprKind::eq0)
      return holds ? solve_equal(condition->children[0], result)
                   : solve_unequal(condition->children[0], result);
    result.reason = "the condition on which it goes on is no comparison";
    return false;
  }

  bool invariant(Expr expr) const { return emulation_.invariant(expr, loop_); }

  // It goes on while less < more, or while not.
  bool solve_order(Expr condition, bool holds, TripCount &result) {
    const Expr less = condition->children[0], more = condition->children[1];
    const bool is_signed = condition->kind == ExprKind::slt;
    const bool left = !invariant(less), right = !invariant(more);
    if (left == right) {
      result.reason = left ? changing(less, more) : "what it depends on does not change in it";
      return false;
    }
    const Expr moving = left ? less : more, bound = left ? more : less;
    const bool up = left == holds; // it has to grow for the loop to end
    const auto progression = progression_of(moving, is_signed, result.reason);
    if (!progression)
      return false;
    const auto limit =
        reader_.read(bound, is_signed, known_, up ? Estimate::above : Estimate::below);
    if (!limit) {
      result.reason = "its bound is not known: " + reader_.reason();
      return false;
    }
    result.exact = limit->exact;
    result.conditions = limit->conditions;
    add(result.conditions, progression->conditions);
    // moving < target, or moving > target, is what it goes on for.
    const Amount target = holds ? limit->value : up ? limit->value + 1 : limit->value - 1;
    if (!limit->exact) // what is estimated is a plain number
      result.exact = false;
    return up ? count_up(*progression, target, is_signed, result)
              : count_down(*progression, target, is_signed, result);
  }

  std::string changing(Expr less, Expr more) const {
    for (const Expr side : {less, more}) {
      std::string data;
      for_each_node(side, [&](Expr node) {
        if (node->kind == ExprKind::symbol && !reader_.knows(node) &&
            !emulation_.loop_register(node) && !emulation_.invariant(node, loop_))
          data = emulation_.pool().symbols()[node->index].name;
      });
      if (!data.empty())
        return fmt::format("it goes on by `{}`, which is unknown", data);
    }
    return "both sides of its test change";
  }

  static void add(std::vector<Amount> &to, const std::vector<Amount> &more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  void require(const Amount &at_least_zero, TripCount &result) const {
    if (!amounts_.never_negative(at_least_zero))
      result.conditions.push_back(at_least_zero);
  }

  // Goes on while the progression is below the target.
  bool count_up(const Progression &p, const Amount &target, bool is_signed, TripCount &result) {
    const Amount most = limit_of(p.width, is_signed, true);
    if (p.kind == Progression::Kind::linear) {
      require(p.step - 1, result);
      require(most - target - p.step + 1, result);
      result.left_in_plain = amounts_.ceil_div(target - p.start, p.step);
      return true;
    }
    if (p.kind != Progression::Kind::growing) {
      result.reason = "it goes on until a shrinking number is large";
      return false;
    }
    require(p.start - 1, result);
    require(most - (target - 1) * Amount(Rational(p.factor)), result);
    if (p.ahead > 0) // the first value that is tested
      require(most - p.start * Amount(Rational(p.factor)), result);
    return count_powers(p, amounts_.ceil_div(target, p.start), result);
  }

  // Goes on while the progression is above the target.
  bool count_down(const Progression &p, const Amount &target, bool is_signed, TripCount &result) {
    const Amount least = limit_of(p.width, is_signed, false);
    if (p.kind == Progression::Kind::linear) {
      const Amount step = p.step * Amount(-1);
      require(step - 1, result);
      require(target + 1 - step - least, result);
      result.left_in_plain = amounts_.ceil_div(p.start - target, step);
      return true;
    }
    if (p.kind != Progression::Kind::shrinking) {
      result.reason = "it goes on until a growing number is small";
      return false;
    }
    require(target, result);
    return count_powers(p, amounts_.floor_div(p.start, target + 1) + 1, result);
  }

  // The least k with factor^k >= ratio, less what the test is ahead.
  bool count_powers(const Progression &p, const Amount &ratio, TripCount &result) {
    result.geometric = true;
    const auto bits = static_cast<unsigned>(std::bit_width(p.factor) - 1);
    result.exact = result.exact && std::has_single_bit(p.factor);
    result.left_in_plain =
        amounts_.ceil_div(amounts_.ceil_log2(ratio), Amount(static_cast<int>(bits))) -
        Amount(static_cast<int>(p.ahead));
    return true;
  }

  // Goes on while the difference is not 0.
  bool solve_unequal(Expr difference, TripCount &result) {
    result.exact = true;
    const auto progression = progression_of(difference, false, result.reason, true);
    if (!progression)
      return false;
    const Progression &p = *progression;
    result.conditions = p.conditions;
    if (p.kind != Progression::Kind::linear)
      return count_down(p, {}, false, result);
    const auto step = p.step.number();
    if (!step || *step == 0) {
      result.reason = "the step of what it compares for equality is not known";
      return false;
    }
    // distance + |step| * -k == 0
    const Amount distance = *step < 0 ? p.start : p.start * Amount(-1);
    const Rational size = *step < 0 ? Rational(-*step) : *step;
    const Amount rounds = distance * Amount(Rational(1 / size));
    if (!is_whole(rounds)) {
      result.reason = fmt::format(
          "steps of {} may pass by the value that ends it: nothing shows that they meet it",
          size.str());
      return false;
    }
    result.left_in_plain = rounds;
    // A distance that is not negative is one that the counter covers before it wraps around.
    if (!proven(rounds, result.conditions, nullptr))
      require(rounds, result);
    // It is a number of the counter's width, or what ends the loop comes earlier.
    require(limit_of(p.width, false, true) - distance, result);
    return true;
  }

  // Goes on while the difference is 0: a step away from it is enough.
  bool solve_equal(Expr difference, TripCount &result) {
    const auto progression = progression_of(difference, false, result.reason, true);
    if (!progression)
      return false;
    const auto step = progression->step.number();
    if (progression->kind != Progression::Kind::linear || !step || *step == 0) {
      result.reason = "it goes on while two numbers are equal";
      return false;
    }
    result.left_in_plain = 1;
    return true;
  }

  std::optional<Progression> progression_of(Expr moving, bool is_signed, std::string &reason,
                                            bool modular = false) {
    if (const auto value = reader_.congruent(moving, known_)) {
      Progression result;
      result.width = moving->width;
      result.conditions = value->conditions;
      for (const auto &[monomial, coefficient] : value->value.terms()) {
        Amount product(coefficient);
        std::size_t power = 0;
        for (const AtomId part : monomial) {
          if (part == own_trip_) {
            ++power;
            continue;
          }
          product = product * Amount::of(part);
          if (amounts_.mentions(Amount::of(part), own_trip_))
            power = 2;
        }
        if (power > 1) {
          reason = "what it compares is no even progression";
          return std::nullopt;
        }
        (power == 1 ? result.step : result.start) += product;
      }
      // What the counter is at first; the bound says that it stays within its width.
      if (!modular)
        for (const bool high : {false, true}) {
          const Amount limit = limit_of(moving->width, is_signed, high);
          const Amount room = high ? limit - result.start : result.start - limit;
          if (!amounts_.never_negative(room) && !proven(room, result.conditions, nullptr))
            result.conditions.push_back(room);
        }
      return result;
    }
    const std::string why = reader_.reason();
    if (auto result = scaled(moving, is_signed, modular))
      return result;
    reason = "what it compares is not known: " + why;
    return std::nullopt;
  }

  std::optional<Progression> scaled(Expr moving, bool is_signed, bool modular) {
    Expr found = nullptr;
    for_each_node(moving, [&](Expr node) {
      if (const auto at = emulation_.loop_register(node); at && at->loop == loop_)
        found = node;
    });
    if (!found)
      return std::nullopt;
    const auto at = emulation_.loop_register(found);
    const auto scaling = scaling_of(at->next, found);
    if (!scaling || (moving != found && moving != at->next))
      return std::nullopt;
    const bool as_signed = modular ? scaling->is_signed : is_signed;
    const auto start = reader_.read(emulation_.expand(at->initial), as_signed, known_);
    if (!start)
      return std::nullopt;
    Progression result{
        scaling->kind, start->value,     {}, scaling->factor, moving == found ? 0u : 1u,
        moving->width, start->conditions};
    // A shift that keeps the sign, or one that does not, of a number without sign.
    if (scaling->kind == Progression::Kind::shrinking && !amounts_.never_negative(start->value) &&
        !proven(start->value, result.conditions, nullptr))
      result.conditions.push_back(start->value);
    return result;
  }

  // True if what branches before the loop established shows that something is not negative. `same`,
  // if given, becomes true where it says no less than that.
  bool proven(const Amount &value, std::vector<Amount> &conditions, bool *same) {
    if (amounts_.never_negative(value))
      return true;
    for (const PathFact &fact : known_.facts()) {
      const auto is = reader_.read(fact, known_);
      if (!is)
        continue;
      for (const Amount &needed : not_negative_if(value)) {
        const Amount slack = needed - is->value;
        if (!amounts_.never_negative(slack))
          continue;
        add(conditions, is->conditions);
        if (same)
          *same = slack.is_zero();
        return true;
      }
    }
    return false;
  }

  // Amounts any of which being at least 0 is the same as `value` being so: of a quotient, what is
  // divided.
  std::vector<Amount> not_negative_if(const Amount &value) const {
    std::vector<Amount> result{value};
    for (std::size_t i = 0; i < result.size() && i < 4; ++i)
      for (const auto &[monomial, coefficient] : result[i].terms()) {
        if (monomial.size() != 1 || coefficient != 1)
          continue;
        const auto kind = amounts_.kind(monomial[0]);
        const Amount rest = result[i] - Amount::of(monomial[0]);
        if ((kind != AmountPool::Kind::ceil_div && kind != AmountPool::Kind::floor_div) ||
            !is_whole(rest))
          continue;
        const Amount &a = amounts_.first(monomial[0]), &b = amounts_.second(monomial[0]);
        // c + floor(a / b) >= 0 as c * b + a >= 0, c + ceil(a / b) >= 0 as (c + 1) * b + a > 0.
        result.push_back(kind == AmountPool::Kind::floor_div ? rest * b + a
                                                             : (rest + 1) * b + a - 1);
        break;
      }
    return result;
  }

  void finish(TripCount &result) {
    result.known = true;
    result.reason.clear();
    const Amount &plain = result.left_in_plain;
    result.left_in = amounts_.positive_part(plain);
    result.left_in_entered = plain;
    bool same = false;
    if (amounts_.never_negative(plain)) {
      result.rounds = plain + 1;
    } else if (proven(plain, result.conditions, &same)) {
      result.rounds = amounts_.positive_part(plain + 1);
      result.guarded = same;
    } else {
      result.rounds = result.left_in + 1;
      result.left_in_entered = result.left_in;
    }
  }

  Emulation &emulation_;
  const ControlFlowGraph &cfg_;
  IntegerReader &reader_;
  AmountPool &amounts_;
  const LoopId loop_;
  const BlockId header_;
  BlockKnowledge known_;
  const AtomId own_trip_;
};

} // namespace

std::vector<TripCount> trip_counts(Emulation &emulation, IntegerReader &reader) {
  std::vector<TripCount> result;
  for (LoopId loop = 0; loop < emulation.cfg().loops().size(); ++loop) {
    result.push_back(Counter(emulation, reader, loop).run());
    if (const TripCount &trip = result.back(); trip.known && trip.exact)
      reader.set_left(loop, trip.left_in_entered, trip.conditions);
  }
  return result;
}

} // namespace ptxasw::facts
