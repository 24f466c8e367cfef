// Arithmetic of registers is modulo 2^width, so inside a sum or product any congruent number does:
// conditions are needed only where a pattern is taken as a number at last, by an extension, a
// comparison, a shift to the right or a division. There the number must lie within what the width
// can hold; where the ranges of variables do not show it, that is a condition of the reading.
//
// A parameter is read as a signed number. Where a kernel takes it as an unsigned one, that it is
// not negative is a condition.

#include "emulator/facts/reading.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::facts {
namespace {

constexpr unsigned visits_budget = 2000; ///< nodes of one expression, shared ones counted again

Rational power_of_two(unsigned exponent) { return Rational::power_of_two(exponent); }
Rational lowest(unsigned width, bool is_signed) {
  return is_signed ? Rational(-power_of_two(width - 1)) : Rational(0);
}
Rational highest(unsigned width, bool is_signed) {
  return power_of_two(is_signed ? width - 1 : width) - 1;
}

/// The bounds of a variable of that many bits: from 32 on they count as signed.
AmountRange as_amounts(const Range &range, unsigned width) {
  return width >= 32 ? AmountRange{Rational(range.signed_low), Rational(range.signed_high)}
                     : AmountRange{Rational(range.low), Rational(range.high)};
}

/// The comparison that a choice between two values turns on, if it makes it their minimum or
/// maximum.
enum class Choice : std::uint8_t { other, minimum, maximum };
Choice choice_of(Expr ite) {
  const Expr condition = ite->children[0], yes = ite->children[1], no = ite->children[2];
  if (condition->kind != ExprKind::ult && condition->kind != ExprKind::slt)
    return Choice::other;
  const Expr less = condition->children[0], more = condition->children[1];
  if (yes == less && no == more)
    return Choice::minimum;
  return yes == more && no == less ? Choice::maximum : Choice::other;
}

} // namespace

std::string parameter_name(const ParameterField &field, const Function &function) {
  std::string_view name = field.parameter;
  const std::string_view kernel = function.name;
  if (name.size() > kernel.size() + 1 && name.starts_with(kernel) && name[kernel.size()] == '_')
    name.remove_prefix(kernel.size() + 1);
  return field.offset == 0 ? std::string(name) : fmt::format("{}+{}", name, field.offset);
}

BlockKnowledge::BlockKnowledge(Emulation &emulation, BlockId block)
    : block_(block), path_(emulation.pool()), facts_(emulation.facts_in(block)) {
  std::vector<PathFact> facts;
  facts.swap(facts_);
  for (const PathFact &fact : facts)
    add(fact, emulation);
}

void BlockKnowledge::add(PathFact fact, Emulation &emulation) {
  path_.assume(fact.condition, fact.holds);
  fact.condition = emulation.expand(fact.condition);
  path_.assume(fact.condition, fact.holds);
  facts_.push_back(fact);
}

std::optional<PathFact> fact_on_edge(const Emulation &emulation, BlockId from, BlockId to) {
  const BasicBlock &info = emulation.cfg().blocks()[from];
  const Expr choice = emulation.branch_choice(from);
  if (!choice || choice->width != 1 || info.successors.size() != 2 ||
      info.successors[0] == info.successors[1])
    return std::nullopt;
  return PathFact{choice, info.successors[0] == to};
}

IntegerReader::IntegerReader(Emulation &emulation, const Function &function,
                             const LaunchFacts &launch, AmountPool &amounts)
    : emulation_(emulation), function_(function), launch_(launch), amounts_(amounts) {}

void IntegerReader::fail(std::string why) {
  if (reason_.empty())
    reason_ = std::move(why);
}

Amount IntegerReader::trip(LoopId loop) {
  return amounts_.variable(fmt::format("trip{}", loop), {Rational(0), std::nullopt});
}

Amount IntegerReader::extent(const std::string &name) {
  const int axis = name.back() - 'x';
  if (name[0] == 'n' && name[1] == 't') {
    if (launch_.block)
      return Rational((*launch_.block)[axis]);
    if (axis > 0 && launch_.one_dimensional)
      return 1;
    return amounts_.variable(name, {Rational(1), Rational(axis == 0   ? launch_.max_block_x
                                                          : axis == 1 ? 1024
                                                                      : 64)});
  }
  return amounts_.variable(name, {Rational(1), Rational(axis == 0 ? 0x7fffffff : 0xffff)});
}

// A word of a constant variable, at an address that is a number of bytes from its beginning.
std::optional<Amount> IntegerReader::constant_word(Expr expr) {
  const ExprPool &pool = emulation_.pool();
  const Expr address = expr->child_count == 1 ? expr->children[0] : nullptr;
  if (!address || !pool.function_name(expr).starts_with("const") || expr->width > 64)
    return std::nullopt;
  Expr base = address;
  std::int64_t offset = 0;
  if (address->kind == ExprKind::sum && address->child_count == 1 &&
      address->coefficients[0] == 1) {
    base = address->children[0];
    offset = as_signed(address->value.low, address->width);
  }
  if (base->kind != ExprKind::symbol)
    return std::nullopt;
  const std::string &name = pool.symbols()[base->index].name;
  if (!name.starts_with('&') || offset < 0)
    return std::nullopt;
  // Words of several widths may lie at one place; the usual one has the plain name.
  const std::string width = expr->width == 32 ? "" : fmt::format(":{}", expr->width);
  const bool is_signed = expr->width >= 32;
  return amounts_.variable(offset == 0 ? name.substr(1) + width
                                       : fmt::format("{}+{}{}", name.substr(1), offset, width),
                           {lowest(expr->width, is_signed), highest(expr->width, is_signed)});
}

std::optional<Amount> IntegerReader::variable(Expr expr) {
  if (expr->kind == ExprKind::uf)
    return constant_word(expr);
  if (expr->kind != ExprKind::symbol)
    return std::nullopt;
  for (LoopId loop = 0; loop < emulation_.cfg().loops().size(); ++loop)
    if (expr == emulation_.trip_count(loop))
      return trip(loop);
  const std::string &name = emulation_.pool().symbols()[expr->index].name;
  if (const auto field =
          emulation_.parameter_field(expr)) { // what is narrower than an int becomes one by an
                                              // extension, most often without a sign
    const bool is_signed = expr->width >= 32;
    const std::string own = parameter_name(*field, function_);
    const AmountRange range{lowest(expr->width, is_signed), highest(expr->width, is_signed)};
    const Amount first = amounts_.variable(own, range);
    const AmountRange known = amounts_.range(first);
    if (known.low == range.low && known.high == range.high)
      return first;
    // Read before with another width, it is another number.
    return amounts_.variable(fmt::format("{}:{}", own, expr->width), range);
  }
  if (name.starts_with("%ntid.") || name.starts_with("%nctaid."))
    return extent(name.substr(1));
  const bool tid = name.starts_with("%tid."), ctaid = name.starts_with("%ctaid.");
  if (tid || ctaid || name == "%laneid")
    return amounts_.variable(name.substr(1), {Rational(0), Rational(expr->maximum)});
  return std::nullopt;
}

void IntegerReader::require(Amount at_least_zero, Reading &into) {
  const AmountRange known = amounts_.range(at_least_zero, &narrowed_);
  if (known.low && *known.low >= 0)
    return;
  into.conditions.push_back(std::move(at_least_zero));
}

void IntegerReader::within(const Amount &value, unsigned width, bool is_signed, Reading &into) {
  require(value - Amount(lowest(width, is_signed)), into);
  require(Amount(highest(width, is_signed)) - value, into);
}

// What a loop has counted, where it has been left.
std::optional<Amount> IntegerReader::left_behind(Expr expr, Reading &into,
                                                 const BlockKnowledge &known) {
  for (const auto &[loop, round] : left_)
    if (expr == emulation_.trip_count(loop) && !emulation_.cfg().contains(loop, known.block())) {
      into.conditions.insert(into.conditions.end(), round.conditions.begin(),
                             round.conditions.end());
      return round.value;
    }
  return std::nullopt;
}

// True if control only goes along that edge where the difference is 0.
bool IntegerReader::vanishes_on_edge(const Amount &difference, BlockId from, BlockId to,
                                     Reading &into) {
  BlockKnowledge known(emulation_, from);
  if (const auto fact = fact_on_edge(emulation_, from, to))
    known.add(*fact, emulation_);
  known.move_to(to);
  for (PathFact fact : known.facts()) {
    if (fact.condition->kind == ExprKind::sum && fact.condition->value.low == 1)
      fact = {emulation_.pool().bit_not(fact.condition), !fact.holds};
    if (fact.condition->kind != ExprKind::eq0 || !fact.holds)
      continue;
    Reading reading;
    const auto zero = number(fact.condition->children[0], false, reading, known);
    if (!zero || zero->is_zero())
      continue;
    const auto &[leading, factor] = *zero->terms().rbegin();
    const auto found = difference.terms().find(leading);
    if (found == difference.terms().end() ||
        difference != *zero * Amount(Rational(found->second / factor)))
      continue;
    into.conditions.insert(into.conditions.end(), reading.conditions.begin(),
                           reading.conditions.end());
    return true;
  }
  return false;
}

// Where flows meet, what they bring may be one number: after the first part of an unrolled loop a
// counter is start + step * (n mod 4), and where that part is skipped, since n mod 4 is 0, it is
// still start.
std::optional<Amount> IntegerReader::joined(const JoinRegister &join, unsigned width,
                                            Reading &into) {
  const AmountRanges narrowed = narrowed_;
  std::vector<std::pair<BlockId, Amount>> values; ///< different ones
  for (const auto &[from, value] : join.values) {
    if (!value)
      return std::nullopt;
    BlockKnowledge known(emulation_, from);
    known.move_to(join.block);
    const auto amount = ring(emulation_.expand(value), width, into, known);
    narrowed_ = narrowed;
    if (!amount)
      return std::nullopt;
    if (std::none_of(values.begin(), values.end(),
                     [&](const auto &other) { return other.second == *amount; }))
      values.emplace_back(from, *amount);
    else if (values.size() > 1)
      return std::nullopt; // several edges with each of two values
  }
  if (values.size() == 1)
    return values[0].second;
  if (values.size() != 2 || join.values.size() != 2)
    return std::nullopt;
  for (const std::size_t shut : {0, 1}) {
    const Amount difference = values[1 - shut].second - values[shut].second;
    const bool same = vanishes_on_edge(difference, values[shut].first, join.block, into);
    narrowed_ = narrowed;
    if (same)
      return values[1 - shut].second;
  }
  return std::nullopt;
}

std::optional<Amount> IntegerReader::known_variable(Expr expr, Reading &into,
                                                    const BlockKnowledge &known) {
  if (const auto join = emulation_.join_register(expr))
    if (auto value = joined(*join, expr->width, into))
      return value;
  if (auto value = left_behind(expr, into, known))
    return value;
  const bool is_symbol = expr->kind == ExprKind::symbol;
  auto value = variable(expr);
  if (!value) {
    const auto made = emulation_.produced_by(expr);
    const bool is_read = !is_symbol && expr->kind == ExprKind::uf &&
                         emulation_.pool().function_name(expr).starts_with("readonly");
    fail(made ? fmt::format("line {} of the PTX makes it", function_.instructions[*made].line)
         : is_symbol ? fmt::format("the value of `{}` is unknown",
                                   emulation_.pool().symbols()[expr->index].name)
         : is_read   ? "it was loaded"
                     : "bits that are no number");
    return std::nullopt;
  }
  if (expr->width <= 64 && amounts_.variables(*value).size() == 1) {
    const Range range = known.path().range(expr);
    const AtomId atom = amounts_.atom_of(*value);
    if (!is_symbol || emulation_.parameter_field(expr) ||
        emulation_.pool().symbols()[expr->index].name.starts_with("%n"))
      launch_symbols_[atom] = expr;
    narrowed_[atom] = as_amounts(range, expr->width);
  }
  return value;
}

// A number congruent to the expression modulo 2^width, width at most the expression's.
std::optional<Amount> IntegerReader::ring(Expr expr, unsigned width, Reading &into,
                                          const BlockKnowledge &known) {
  if (++visited_ > visits_budget) {
    fail("an expression that is too large");
    return std::nullopt;
  }
  switch (expr->kind) {
  case ExprKind::constant:
    if (expr->width > 64)
      break;
    return Rational(as_signed(expr->value.low, expr->width));
  case ExprKind::symbol:
  case ExprKind::uf:
    return known_variable(expr, into, known);
  case ExprKind::sum: {
    Amount total = Rational(as_signed(expr->value.low, expr->width));
    for (std::uint32_t i = 0; i < expr->child_count; ++i) {
      const auto term = ring(expr->children[i], width, into, known);
      if (!term)
        return std::nullopt;
      total += *term * Amount(Rational(as_signed(expr->coefficients[i], expr->width)));
    }
    return total;
  }
  case ExprKind::product: {
    Amount total(1);
    for (const Expr child : expr->operands()) {
      const auto factor = ring(child, width, into, known);
      if (!factor)
        return std::nullopt;
      total = total * *factor;
    }
    return total;
  }
  case ExprKind::extract:
    if (expr->index == 0)
      return ring(expr->children[0], width, into, known);
    // Of a shift to the right the lowest bits: what was shifted in from above does not matter.
    if (const auto value = number(expr->children[0], false, into, known))
      return divided(*value, power_of_two(expr->index));
    return std::nullopt;
  default:
    break;
  }
  // Of both readings of a pattern the one that needs no condition.
  const bool is_signed = expr->kind == ExprKind::sext ||
                         (expr->kind == ExprKind::ite && expr->children[0]->kind == ExprKind::slt);
  return number(expr, is_signed, into, known);
}

Amount IntegerReader::remainder(const Amount &value, const Rational &size) {
  return value - divided(value, size) * Amount(size);
}

Amount IntegerReader::divided(const Amount &value, const Rational &size) {
  const AmountRange known = amounts_.range(value, &narrowed_);
  if (known.low && known.high && floor_of(*known.low / size) == floor_of(*known.high / size))
    return Rational(floor_of(*known.low / size));
  return amounts_.floor_div(value, Amount(size));
}

std::optional<Amount> IntegerReader::low_bits(Expr expr, Reading &into,
                                              const BlockKnowledge &known) {
  const Expr whole = expr->children[0];
  const Rational size = power_of_two(expr->width);
  if (expr->index == 0) {
    auto value = ring(whole, expr->width, into, known);
    if (!value)
      return std::nullopt;
    if (expr->width >= 32) { // a conversion rather than a mask
      within(*value, expr->width, false, into);
      return value;
    }
    return remainder(*value, size);
  }
  const auto value = number(whole, false, into, known);
  if (!value)
    return std::nullopt;
  // The sign of something that is required not to have one.
  const Amount shifted = divided(*value, power_of_two(expr->index));
  if (expr->index + expr->width == whole->width)
    return shifted;
  return remainder(shifted, size);
}

std::optional<Amount> IntegerReader::quotient(Expr expr, Reading &into,
                                              const BlockKnowledge &known) {
  // Of numbers that are not negative both divisions are the same.
  const bool is_signed = expr->kind == ExprKind::sdiv || expr->kind == ExprKind::srem;
  const auto a = number(expr->children[0], is_signed, into, known);
  const auto b = a ? number(expr->children[1], is_signed, into, known) : std::nullopt;
  if (!a || !b)
    return std::nullopt;
  require(*a, into);
  require(*b - 1, into);
  const Amount result = amounts_.floor_div(*a, *b);
  const bool remainder = expr->kind == ExprKind::urem || expr->kind == ExprKind::srem;
  return remainder ? *a - result * *b : result;
}

std::optional<Amount> IntegerReader::number_of_node(Expr expr, bool is_signed, Reading &into,
                                                    const BlockKnowledge &known) {
  const unsigned width = expr->width;
  switch (expr->kind) {
  case ExprKind::constant:
    return is_signed ? Rational(as_signed(expr->value.low, width)) : Rational(expr->value.low);
  case ExprKind::zext:
    return number(expr->children[0], false, into, known); // no sign: both readings are the same
  case ExprKind::sext: {
    const Expr inner = expr->children[0];
    std::optional<Amount> value;
    if (inner->kind == ExprKind::extract && inner->index > 0 &&
        inner->index + inner->width == inner->children[0]->width) { // a shift that keeps the sign
      value = number(inner->children[0], true, into, known);
      if (value)
        value = divided(*value, power_of_two(inner->index));
    } else {
      value = number(inner, true, into, known);
    }
    if (value && !is_signed)
      require(*value, into);
    return value;
  }
  case ExprKind::extract: {
    auto value = low_bits(expr, into, known);
    if (value && is_signed)
      require(Amount(highest(width, true)) - *value, into);
    return value;
  }
  case ExprKind::udiv:
  case ExprKind::urem:
  case ExprKind::sdiv:
  case ExprKind::srem:
    return quotient(expr, into, known);
  case ExprKind::ite: {
    const Choice choice = choice_of(expr);
    if (choice == Choice::other) {
      fail("a choice between two values");
      return std::nullopt;
    }
    const bool compares_signed = expr->children[0]->kind == ExprKind::slt;
    const auto a = number(expr->children[1], compares_signed, into, known);
    const auto b = a ? number(expr->children[2], compares_signed, into, known) : std::nullopt;
    if (!b)
      return std::nullopt;
    const bool minimum = choice == Choice::minimum;
    const Amount value = amounts_.never_negative(*a - *b, &narrowed_)   ? (minimum ? *b : *a)
                         : amounts_.never_negative(*b - *a, &narrowed_) ? (minimum ? *a : *b)
                         : minimum                                      ? amounts_.minimum(*a, *b)
                                                                        : amounts_.maximum(*a, *b);
    if (compares_signed != is_signed)
      within(value, width, is_signed, into);
    return value;
  }
  case ExprKind::symbol:
  case ExprKind::uf:
  case ExprKind::sum:
  case ExprKind::product: {
    auto value = ring(expr, width, into, known);
    if (value && width < 32 && !is_signed) // bits of a larger number
      return remainder(*value, power_of_two(width));
    if (value)
      within(*value, width, is_signed, into);
    return value;
  }
  default:
    fail("bits that are no number");
    return std::nullopt;
  }
}

std::optional<Amount> IntegerReader::number(Expr expr, bool is_signed, Reading &into,
                                            const BlockKnowledge &known) {
  if (++visited_ > visits_budget || expr->width > 64) {
    fail("an expression that is too large");
    return std::nullopt;
  }
  return number_of_node(expr, is_signed, into, known);
}

// What cannot be read may still have bounds that are narrower than its width.
std::optional<Reading> IntegerReader::estimate(Expr expr, bool is_signed,
                                               const BlockKnowledge &known, Estimate side) const {
  const unsigned width = expr->width;
  if (side == Estimate::none || width > 64)
    return std::nullopt;
  const Range range = known.path().range(expr);
  const Rational low = is_signed ? Rational(range.signed_low) : Rational(range.low);
  const Rational high = is_signed ? Rational(range.signed_high) : Rational(range.high);
  Reading result;
  result.exact = false;
  result.value = side == Estimate::below ? low : high;
  if (side == Estimate::below ? is_signed && low <= lowest(width, true)
                              : high >= highest(std::min(width, 32u), true))
    return std::nullopt;
  return result;
}

std::optional<Reading> IntegerReader::read(Expr expr, bool is_signed, const BlockKnowledge &known,
                                           Estimate side) {
  Reading result;
  reason_.clear();
  narrowed_.clear();
  visited_ = 0;
  const auto value = number(expr, is_signed, result, known);
  if (!value)
    return estimate(expr, is_signed, known, side);
  result.value = *value;
  reason_.clear();
  return result;
}

std::optional<Reading> IntegerReader::congruent(Expr expr, const BlockKnowledge &known) {
  Reading result;
  reason_.clear();
  narrowed_.clear();
  visited_ = 0;
  const auto value = ring(expr, expr->width, result, known);
  if (!value)
    return std::nullopt;
  result.value = *value;
  reason_.clear();
  return result;
}

std::optional<Reading> IntegerReader::read(const PathFact &fact, const BlockKnowledge &known) {
  Expr condition = fact.condition;
  bool holds = fact.holds;
  if (condition->kind == ExprKind::sum && condition->value.low == 1) {
    condition = emulation_.pool().bit_not(condition);
    holds = !holds;
  }
  if (condition->kind != ExprKind::ult && condition->kind != ExprKind::slt &&
      condition->kind != ExprKind::eq0)
    return std::nullopt;
  if (condition->kind == ExprKind::eq0) {
    // A number that is not 0 and cannot be negative.
    auto value = read(condition->children[0], false, known);
    if (!value || holds)
      return std::nullopt;
    value->value -= 1;
    return value;
  }
  const bool is_signed = condition->kind == ExprKind::slt;
  auto a = read(condition->children[0], is_signed, known);
  auto b = a ? read(condition->children[1], is_signed, known) : std::nullopt;
  if (!b)
    return std::nullopt;
  a->conditions.insert(a->conditions.end(), b->conditions.begin(), b->conditions.end());
  a->value = holds ? b->value - a->value - 1 : a->value - b->value;
  return a;
}

AmountRanges IntegerReader::ranges_in(const BlockKnowledge &known) const {
  AmountRanges narrowed;
  for (const auto &[variable, expr] : launch_symbols_) {
    const Range range = known.path().range(expr);
    narrowed[variable] = as_amounts(range, expr->width);
  }
  return narrowed;
}

} // namespace ptxasw::facts
