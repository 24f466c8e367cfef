// Numbers of 32 and 64 bits are taken as signed. A sum or product of such a width is what it is in
// whole numbers: it is put together by operations that an execution does, in another order, and
// that they do not overflow, nor lose bits where they are cut, is assumed. Narrower sums come from
// masks and are modulo 2^w, exactly: sum = value + 2^w * k. So are parts of a number: bits low to
// low + w of X are the remainder by 2^w of the quotient of X by 2^low. Comparisons without sign
// and extensions by zeros say what they do with negative numbers. What is not translated (bits
// combined, functions) is an unknown of its own, which may be more than there is: only that
// formulas exclude each other counts.
//
// That nothing overflows is said of what is computed alone: what defines an unknown by a number
// (that the pieces of a number are the number, say) holds where that number is computed. Formulas
// are brought to negation normal form, and a definition is put to each comparison that uses it: of
// conditions of ways, one with all its conditions true is a way that the thread went, so it has
// computed them; of choices, only what is chosen need be computed. What holds of every thread that
// is asked about, as its address does, is said once for all.
//
// Products of unknowns are brought into Horner's form and replaced, as products.h does it, but in
// whole numbers nothing restricts the axioms: of multiples Q1 * w and Q2 * w with w >= 0 the one
// with the larger factor is at least w larger. The parts of a polynomial that belong to one thread,
// to the other, and to both are factored apart, so that the same index in a difference and in a
// condition is the same sum of products.
//
// Before that two places that may be one are parted into rows and columns (same_place()).

#include "analysis/prove/integers.h"

#include "analysis/prove/computed_nodes.h"
#include "analysis/prove/not_followed.h"

#include "emulator/symbolic/path.h"

#include <algorithm>
#include <bit>
#include <fmt/core.h>
#include <iterator>
#include <numeric>

namespace ptxasw::analysis {
namespace {

/// Multiples of one number that are compared with each other, and factors of a product.
constexpr std::size_t most_multiples = 16, most_factors = 8, most_monomials = 200;
/// Formulas and numbers in each other: their translation, and that to Z3's, calls itself so often.
constexpr std::size_t most_depth = 500;
/// Pieces of one number: where all 32 bits are told apart Z3 takes minutes, and counts little of
/// it.
constexpr std::size_t most_pieces = 16;
/// The highest bit at which numbers are cut.
constexpr unsigned largest_cut = 61;
constexpr std::int64_t lowest_bit = 1;

[[noreturn]] void too_large() { throw NotFollowed{"numbers that are too large, or too many"}; }

bool is_full(unsigned width) { return width == 32 || width == 64; }

/// Large coefficients are those of hashes, which are meant to overflow. A constant near -2^31 is it
/// of a comparison with it, or of a sign bit that changes: there n == -2^31 is n + 2^31 == 0.
bool mixes(Expr sum) {
  constexpr std::int64_t largest = 1 << 20, far = 1 << 30;
  if (const std::int64_t c = as_signed(sum->value.low, sum->width);
      sum->kind == ExprKind::sum && sum->width == 32 && (c >= far || c <= -far))
    return true;
  for (std::uint32_t i = 0; sum->kind == ExprKind::sum && i < sum->child_count; ++i)
    if (const std::int64_t c = as_signed(sum->coefficients[i], sum->width);
        sum->width == 32 && (c > largest || c < -largest))
      return true;
  return false;
}

/// A sum or a product that is no whole number, but one modulo 2^w.
bool is_modular(Expr expr) {
  return (expr->kind == ExprKind::sum || expr->kind == ExprKind::product) &&
         (!is_full(expr->width) || mixes(expr)) && expr->width <= 62;
}

/// Bits of a number.
bool is_part(Expr expr) {
  return expr->kind == ExprKind::extract && !is_full(expr->width) && expr->children[0]->width <= 64;
}

/// One bit of a number at a place where numbers are cut, or the sum of such bits modulo 2.
bool has_bits_only(Expr bit) {
  const auto operands = bit->operands();
  return bit->kind == ExprKind::sum ? std::all_of(operands.begin(), operands.end(), has_bits_only)
                                    : is_part(bit) && bit->index < largest_cut;
}

using Kind = IntegerQuestion::Kind;
using FormulaPtr = IntegerQuestion::FormulaPtr;

FormulaPtr comparison(Kind kind, IntegerQuestion::Sum sum) {
  const auto formula = std::make_shared<IntegerQuestion::Formula>();
  formula->kind = kind;
  formula->sum = std::move(sum);
  return formula;
}
FormulaPtr combined(Kind kind, std::vector<FormulaPtr> parts) {
  const auto formula = std::make_shared<IntegerQuestion::Formula>();
  formula->kind = kind;
  formula->parts = std::move(parts);
  return formula;
}
FormulaPtr negated(FormulaPtr formula) { return combined(Kind::negation, {std::move(formula)}); }
FormulaPtr any_of(std::vector<FormulaPtr> parts) { return combined(Kind::any, std::move(parts)); }
FormulaPtr all_of(std::vector<FormulaPtr> parts) { return combined(Kind::all, std::move(parts)); }

/// The same question of those variables alone that are in its formulas, in the order in which they
/// come: of two threads that do the same it is the same question.
IntegerQuestion compact(const IntegerQuestion &question) {
  IntegerQuestion result;
  std::map<std::uint32_t, std::uint32_t> variables, truths;
  std::unordered_map<const IntegerQuestion::Formula *, FormulaPtr> known;
  const auto renamed = [&](const auto &self, const FormulaPtr &formula) -> FormulaPtr {
    if (const auto found = known.find(formula.get()); found != known.end())
      return found->second;
    IntegerQuestion::Formula copy{formula->kind, {formula->sum.constant, {}}, {}, 0};
    for (const auto &[index, coefficient] : formula->sum.terms) {
      const auto [entry, is_new] = variables.try_emplace(index, result.variables.size());
      if (is_new)
        result.variables.push_back(question.variables[index]);
      copy.sum.terms[entry->second] = coefficient;
    }
    for (const FormulaPtr &part : formula->parts)
      copy.parts.push_back(self(self, part));
    if (formula->kind == Kind::truth)
      copy.truth = truths.try_emplace(formula->truth, truths.size()).first->second;
    return known[formula.get()] = std::make_shared<const IntegerQuestion::Formula>(std::move(copy));
  };
  for (const FormulaPtr &formula : question.formulas)
    result.formulas.push_back(renamed(renamed, formula));
  result.truths = static_cast<std::uint32_t>(truths.size());
  return result;
}

} // namespace

// --- polynomials

std::int64_t IntegerFormulas::number(Wide value) {
  constexpr Wide limit = Wide{1} << 62;
  if (value >= limit || value <= -limit)
    too_large();
  return static_cast<std::int64_t>(value);
}

std::uint32_t IntegerFormulas::variable(Interval range, unsigned threads) {
  threads_.push_back(threads);
  ranges_.push_back(range);
  question_.variables.push_back({});
  auto &bounds = question_.variables.back();
  // -2^63 and 2^63 - 1 are what a number of 64 bits may be.
  bounds.low = static_cast<std::int64_t>(range.low);
  bounds.high = static_cast<std::int64_t>(range.high);
  return static_cast<std::uint32_t>(threads_.size() - 1);
}

IntegerFormulas::Interval IntegerFormulas::overlap(Interval a, Interval b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

// What a variable may be where it may be no more than it can hold.
IntegerFormulas::Interval IntegerFormulas::whole_range(Interval range) {
  if (range.low < largest.low || range.high > largest.high)
    too_large();
  return range;
}

IntegerFormulas::Polynomial IntegerFormulas::of(std::uint32_t variable) const {
  return {{Monomial{variable}, 1}};
}

IntegerFormulas::Polynomial IntegerFormulas::plus(const Polynomial &a, const Polynomial &b,
                                                  std::int64_t factor) {
  Polynomial result = a;
  for (const auto &[monomial, coefficient] : b) {
    std::int64_t &sum = result[monomial];
    sum = number(Wide{sum} + Wide{coefficient} * factor);
    if (sum == 0)
      result.erase(monomial);
  }
  if (result.size() > most_monomials)
    too_large();
  return result;
}

IntegerFormulas::Polynomial IntegerFormulas::times(const Polynomial &a, const Polynomial &b) {
  Polynomial result;
  for (const auto &[left, x] : a)
    for (const auto &[right, y] : b) {
      Monomial both = left;
      both.insert(both.end(), right.begin(), right.end());
      std::sort(both.begin(), both.end());
      if (both.size() > most_factors)
        too_large();
      result = plus(result, {{both, number(Wide{x} * y)}});
    }
  return result;
}

// Beyond 2^100 it is only said to be large.
IntegerFormulas::Interval IntegerFormulas::range(const Polynomial &polynomial) const {
  constexpr Wide most = Wide{1} << 100;
  const auto product = [&](Wide a, Wide b) {
    const double size = static_cast<double>(a) * static_cast<double>(b);
    return size > 1e30 ? most : size < -1e30 ? -most : std::clamp(a * b, -most, most);
  };
  Interval result{0, 0};
  for (const auto &[monomial, coefficient] : polynomial) {
    Interval term{coefficient, coefficient};
    for (const std::uint32_t factor : monomial) {
      const Interval by = ranges_[factor];
      const Wide corners[] = {product(term.low, by.low), product(term.low, by.high),
                              product(term.high, by.low), product(term.high, by.high)};
      term = {*std::min_element(std::begin(corners), std::end(corners)),
              *std::max_element(std::begin(corners), std::end(corners))};
    }
    result = {std::clamp(result.low + term.low, -most, most),
              std::clamp(result.high + term.high, -most, most)};
  }
  return result;
}

// --- what defines unknowns

std::size_t IntegerFormulas::define(Formula formula) {
  definitions_.push_back(std::move(formula));
  need(definitions_.size() - 1);
  return definitions_.size() - 1;
}

void IntegerFormulas::need(std::size_t definition) {
  if (contexts_[0].contains(definition))
    return;
  contexts_.back().insert(definition);
  if (contexts_.size() == 1)
    question_.formulas.push_back(definitions_[definition]);
}

// What is needed for what is made, at no place so far.
template <class Make> IntegerFormulas::Definitions IntegerFormulas::apart(Make make) {
  contexts_.emplace_back();
  make();
  Definitions needs = std::move(contexts_.back());
  contexts_.pop_back();
  return needs;
}

IntegerFormulas::Formula IntegerFormulas::together(Formula formula,
                                                   const Definitions &needs) const {
  if (needs.empty())
    return formula;
  std::vector<Formula> parts{std::move(formula)};
  for (const std::size_t definition : needs)
    parts.push_back(definitions_[definition]);
  return all_of(std::move(parts));
}

// --- values

IntegerFormulas::Polynomial IntegerFormulas::value(Expr expr) {
  auto known = values_.find(expr);
  if (known == values_.end()) {
    if (++depth_ > most_depth)
      too_large();
    Number number;
    number.needs = apart([&] { number.polynomial = compute(expr); });
    if (!number.needs.empty())
      number.needs = in_rounds(expr, number.needs);
    --depth_;
    known = values_.emplace(expr, std::move(number)).first;
  }
  for (const std::size_t definition : known->second.needs)
    need(definition);
  return known->second.polynomial;
}

// What a product needs that counts iterations, unless there were none.
IntegerFormulas::Definitions IntegerFormulas::in_rounds(Expr expr, const Definitions &needs) {
  const std::vector<Expr> factors = factors_of_rounds(pool_, expr);
  if (factors.empty())
    return needs;
  std::vector<Formula> none;
  Definitions result = apart([&] {
    for (const Expr factor : factors)
      none.push_back(is_zero(value(factor)));
  });
  for (const std::size_t definition : needs)
    if (!result.contains(definition)) {
      std::vector<Formula> either = none;
      either.push_back(definitions_[definition]);
      definitions_.push_back(any_of(std::move(either)));
      result.insert(definitions_.size() - 1);
    }
  return result;
}

// An unknown within the bounds of its width, and those that its form tells.
IntegerFormulas::Polynomial IntegerFormulas::atom(Expr expr) {
  const PathKnowledge nothing(pool_);
  const Range range = nothing.range(expr);
  Interval signed_range{range.signed_low, range.signed_high};
  if (expr->maximum <= mask64(expr->width - 1))
    signed_range = {std::max<Wide>(signed_range.low, 0),
                    std::min<Wide>(signed_range.high, static_cast<Wide>(expr->maximum))};
  if (const auto told = told_.find(expr); told != told_.end())
    if (const Interval both = overlap(signed_range, told->second); both.low <= both.high)
      signed_range = both;
  return of(variable(signed_range, threads_in_(expr)));
}

IntegerFormulas::Polynomial IntegerFormulas::compute(Expr expr) {
  if (expr->width < 2 || expr->width > 64)
    too_large();
  switch (expr->kind) {
  case ExprKind::constant:
    return plus({}, {{Monomial{}, as_signed(expr->value.low, expr->width)}});
  case ExprKind::sum:
  case ExprKind::product: {
    if (!is_full(expr->width) || mixes(expr))
      return modular(expr);
    if (expr->kind == ExprKind::product) {
      Polynomial result = value(expr->children[0]);
      for (std::uint32_t i = 1; i < expr->child_count; ++i)
        result = times(result, value(expr->children[i]));
      return result;
    }
    Polynomial result = plus({}, {{Monomial{}, as_signed(expr->value.low, expr->width)}});
    for (std::uint32_t i = 0; i < expr->child_count; ++i)
      result = plus(result, value(expr->children[i]),
                    number(as_signed(expr->coefficients[i], expr->width)));
    return result;
  }
  case ExprKind::sext:
    return expr->children[0]->width == 1 ? plus({}, one_bit(expr), -1) : value(expr->children[0]);
  case ExprKind::zext:
    return expr->children[0]->width == 1 ? one_bit(expr) : unsigned_value(expr->children[0]);
  case ExprKind::extract:
    if (is_small(expr->children[0]) && expr->index == 0 && expr->width == 32)
      return value(expr->children[0]);
    if (expr->children[0]->width > 64)
      return atom(expr);
    return modular(expr);
  case ExprKind::ite:
    return chosen(expr);
  case ExprKind::bit_or:
  case ExprKind::bit_xor:
    return is_full(expr->width) ? joined(expr) : atom(expr);
  case ExprKind::udiv:
  case ExprKind::urem:
  case ExprKind::sdiv:
  case ExprKind::srem:
    return divided(expr);
  default:
    return atom(expr);
  }
}

// The same number without a sign.
IntegerFormulas::Polynomial IntegerFormulas::unsigned_value(Expr expr) {
  if (expr->kind == ExprKind::extract && expr->children[0]->width <= 64 &&
      !(expr->width == 32 && is_small(expr->children[0])))
    return bits(expr->children[0], expr->index, expr->width);
  if (is_modular(expr))
    return reduced(residue(expr), expr, 0);
  Polynomial own = value(expr);
  if (range(own).low >= 0)
    return own;
  if (expr->width > 62)
    too_large();
  const std::int64_t modulus = lowest_bit << expr->width;
  Polynomial result = of(variable({0, modulus - 1}, threads_in_(expr)));
  define(
      any_of({all_of({compare({}, own, 0), equal(result, own)}),
              all_of({compare(own, {}, 1), equal(result, plus(own, {{Monomial{}, modulus}}))})}));
  return result;
}

// A number of w bits that is known modulo 2^w, as a signed one.
IntegerFormulas::Polynomial IntegerFormulas::modular(Expr expr) {
  if (!is_modular(expr) && (expr->kind != ExprKind::extract || expr->width > 62))
    return atom(expr);
  if (expr->kind == ExprKind::extract && expr->index == 0) {
    Polynomial whole = value(expr->children[0]);
    const Interval known = range(whole);
    if (const Wide limit = Wide{1} << (expr->width - 1); - limit <= known.low && known.high < limit)
      return whole;
  }
  return reduced(residue(expr), expr, -(lowest_bit << (expr->width - 1)));
}

// A number that is the same modulo 2^w.
IntegerFormulas::Polynomial IntegerFormulas::residue(Expr expr) {
  if (expr->kind == ExprKind::extract && expr->children[0]->width <= 64)
    return bits(expr->children[0], expr->index, expr->width);
  if (!is_modular(expr))
    return value(expr);
  Polynomial result = plus({}, {{Monomial{}, as_signed(expr->value.low, expr->width)}});
  if (expr->kind == ExprKind::product) { // of the numbers whose lowest bits the factors are
    result = {{Monomial{}, 1}};
    for (const Expr factor : expr->operands())
      result = times(result, is_part(factor) && factor->index == 0 ? value(factor->children[0])
                                                                   : residue(factor));
    return result;
  }
  for (std::uint32_t i = 0; i < expr->child_count; ++i)
    result =
        plus(result, residue(expr->children[i]), as_signed(expr->coefficients[i], expr->width));
  return result;
}

// What is the same modulo 2^w as `whole` and at least `low`, and less than 2^w more.
IntegerFormulas::Polynomial IntegerFormulas::reduced(const Polynomial &whole, Expr expr,
                                                     std::int64_t low) {
  const std::int64_t modulus = lowest_bit << expr->width;
  const Interval known = range(whole);
  const Interval rounds{(known.low - low) >> expr->width, (known.high - low) >> expr->width};
  if (rounds.low == rounds.high)
    return plus(whole, {{Monomial{}, number(rounds.low * modulus)}}, -1);
  const unsigned threads = threads_in_(expr);
  Polynomial result = of(variable({low, low + modulus - 1}, threads));
  // Beyond 62 bits there are no bounds.
  const bool is_bounded = rounds.low >= largest.low && rounds.high <= largest.high;
  const std::uint32_t around = variable(is_bounded ? rounds : largest, threads);
  question_.variables[around].is_bounded = is_bounded;
  ranges_[around] = rounds;
  const Polynomial times_around = of(around);
  define(equal(whole, plus(result, times_around, modulus)));
  return result;
}

// A truth value as a number, a bit of one, or the sum of such bits modulo 2.
IntegerFormulas::Polynomial IntegerFormulas::one_bit(Expr expr) {
  const Expr bit = expr->children[0];
  if (is_part(bit) && bit->index > largest_cut) {
    const Interval known = range_of(bit->children[0], value(bit->children[0]));
    return known.low >= 0 && known.high >> bit->index == 0 ? Polynomial() : atom(expr);
  }
  if (has_bits_only(bit))
    return unsigned_value(bit);
  Polynomial result = of(variable({0, 1}, threads_in_(expr)));
  choose(bit, equal(result, {{Monomial{}, 1}}), equal(result, {}));
  return result;
}

// Where it is put together by operations that do not overflow, it is in the range of its width;
// hashes of 64 bits are no such thing.
IntegerFormulas::Interval IntegerFormulas::range_of(Expr expr, const Polynomial &value) const {
  constexpr std::int64_t most = std::int64_t{1} << 32;
  const Interval known = range(value);
  bool is_hash = is_modular(expr);
  for (std::uint32_t i = 0; expr->kind == ExprKind::sum && i < expr->child_count; ++i)
    if (const std::int64_t c = as_signed(expr->coefficients[i], expr->width); c > most || c < -most)
      is_hash = true;
  if (!is_full(expr->width) || is_hash)
    return known;
  const Wide limit = Wide{1} << (expr->width - 1);
  const Interval both = overlap(known, {-limit, limit - 1});
  return both.low <= both.high ? both : known;
}

// x * M >> s is x / d for 0 <= x <= X if M * d = 2^s + e with 0 <= e and X * e < 2^s: so compilers
// divide by a constant. With x = q * d + r the product is (q + r / d + x * e / (d * 2^s)) * 2^s,
// and r / d + x * e / (d * 2^s) is less than 1.
Expr IntegerFormulas::quotient(Expr whole, unsigned low) {
  const bool is_multiple = whole->kind == ExprKind::sum && whole->width == 64 &&
                           whole->child_count == 1 && whole->value.is_zero();
  if (!is_multiple || low < 32 || low > largest_cut)
    return nullptr;
  const Expr factor = whole->children[0];
  const std::uint64_t by = whole->coefficients[0];
  if ((factor->kind != ExprKind::zext && factor->kind != ExprKind::sext) || by == 0 ||
      by >> 32 != 0)
    return nullptr;
  const Expr narrow = factor->children[0];
  const Interval own = range_of(narrow, value(narrow));
  const Wide most = own.low >= 0 ? own.high : range(value(factor)).high;
  const Wide shifted = Wide{1} << low, divisor = (shifted + by - 1) / by;
  if ((own.low < 0 && factor->kind == ExprKind::sext) || divisor < 2 || most >= Wide{1} << 32 ||
      most * (divisor * by - shifted) >= shifted)
    return nullptr;
  const Expr dividend = own.low >= 0 && narrow->width == 32 ? narrow : factor;
  return pool_.udiv(dividend, pool_.constant(dividend->width, static_cast<std::uint64_t>(divisor)));
}

// What is left of a sum without its multiples of 2^low; null: it has none, or nothing is left.
Expr IntegerFormulas::without_multiples(Expr whole, unsigned low) const {
  if (whole->kind != ExprKind::sum || !is_full(whole->width) || mixes(whole) || low == 0 ||
      low > largest_cut)
    return nullptr;
  const std::uint64_t rest = mask64(low);
  Expr left = pool_.constant(whole->width, whole->value.low & rest);
  for (std::uint32_t i = 0; i < whole->child_count; ++i)
    if ((whole->coefficients[i] & rest) != 0)
      left = pool_.add(left, pool_.mul(pool_.constant(whole->width, whole->coefficients[i]),
                                       whole->children[i]));
  return left == whole || left->kind == ExprKind::constant ? nullptr : left;
}

// Bits that do not meet add up: a | b with multiples of 2^k on one side and 0 <= b < 2^k.
IntegerFormulas::Polynomial IntegerFormulas::joined(Expr expr) {
  Polynomial result = atom(expr);
  for (const unsigned i : {0u, 1u}) {
    const Polynomial high = value(expr->children[i]), low = value(expr->children[1 - i]);
    std::uint64_t bits = 0;
    for (const auto &[monomial, coefficient] : high)
      bits |= static_cast<std::uint64_t>(coefficient);
    const unsigned zeros = bits == 0 ? 0 : static_cast<unsigned>(std::countr_zero(bits));
    if (zeros == 0 || zeros > largest_cut)
      continue;
    define(any_of({compare(low, {}, 1), compare({{Monomial{}, lowest_bit << zeros}}, low, 0),
                   equal(result, plus(high, low))}));
  }
  return result;
}

// A number in pieces, from the lowest on: at all places where the formulas cut it, so that each
// piece is one unknown wherever it is meant. The last one has the sign.
const std::vector<IntegerFormulas::Piece> &IntegerFormulas::pieces(Expr whole) {
  const auto entry = pieces_.find(whole);
  if (entry != pieces_.end()) {
    need(entry->second.definition);
    return entry->second.all;
  }
  const Polynomial number_of = value(whole);
  const Interval known = range_of(whole, number_of);
  const unsigned threads = threads_in_(whole);
  std::vector<Piece> result;
  Polynomial sum;
  std::set<unsigned> cuts = cuts_[whole];
  cuts.insert(0);
  if (cuts.size() > most_pieces)
    too_large();
  for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
    const auto next = std::next(cut);
    const Interval rest{known.low >> *cut, known.high >> *cut};
    if (*cut != 0 && rest.low == 0 && rest.high == 0)
      break;
    Interval piece;
    if (next != cuts.end()) { // of a number without a sign the remainder is at most the number
      const Wide most = (Wide{1} << (*next - *cut)) - 1;
      piece = {0, rest.low < 0 ? most : std::min(rest.high, most)};
    } else {
      piece = whole_range(rest);
    }
    result.push_back({*cut, variable(piece, threads)});
    sum = plus(sum, of(result.back().variable), lowest_bit << *cut);
  }
  const std::size_t definition = define(equal(number_of, sum));
  return (pieces_[whole] = {std::move(result), definition}).all;
}

// Bits of a number, without a sign.
IntegerFormulas::Polynomial IntegerFormulas::bits(Expr whole, unsigned low, unsigned width) {
  Polynomial number_of = value(whole);
  const Interval known = range_of(whole, number_of);
  const bool has_no_more =
      known.low >= 0 && (low + width == whole->width || known.high < (Wide{1} << (low + width)));
  if (low == 0 && has_no_more)
    return number_of;
  if (has_no_more && known.high >> low == 0)
    return {};
  if (const Expr divided = has_no_more ? quotient(whole, low) : nullptr)
    return value(divided);
  if (const Expr left = has_no_more ? without_multiples(whole, low) : nullptr;
      left && range(value(left)).low >= 0) {
    Polynomial multiples = plus(number_of, value(left), -1);
    if (std::all_of(multiples.begin(), multiples.end(), [&](const auto &term) {
          return term.second % (std::int64_t{1} << low) == 0;
        })) {
      for (auto &[monomial, coefficient] : multiples)
        coefficient /= std::int64_t{1} << low;
      return plus(multiples, bits(left, low, whole->width - low));
    }
  }
  if (low > largest_cut || width > 62 || (!has_no_more && low + width > largest_cut))
    too_large();
  // A number that was made since cuts were looked for has none there.
  const std::set<unsigned> &cuts = cuts_[whole];
  if ((low != 0 && !cuts.contains(low)) || (!has_no_more && !cuts.contains(low + width)))
    too_large();
  Polynomial result;
  for (const Piece &piece : pieces(whole))
    if (piece.at >= low && (has_no_more || piece.at < low + width))
      result = plus(result, of(piece.variable), lowest_bit << (piece.at - low));
  return result;
}

// One of two formulas, by a condition.
void IntegerFormulas::choose(Expr condition, const Formula &if_true, const Formula &if_false) {
  define(any_of({guarded(condition, false), if_true}));
  define(any_of({guarded(condition, true), if_false}));
}

IntegerFormulas::Polynomial IntegerFormulas::chosen(Expr expr) {
  const Expr condition = expr->children[0];
  Polynomial yes, no;
  const Definitions for_yes = apart([&] { yes = value(expr->children[1]); });
  const Definitions for_no = apart([&] { no = value(expr->children[2]); });
  // Products stay what they are, with a factor of 0 or 1.
  const Polynomial difference = plus(yes, no, -1);
  if (std::any_of(difference.begin(), difference.end(),
                  [](const auto &term) { return term.first.size() > 1; })) {
    const Polynomial is_yes = of(variable({0, 1}, threads_in_(condition)));
    Polynomial result = plus(no, times(is_yes, difference));
    choose(condition, together(all_of({equal(is_yes, {{{}, 1}}), equal(result, yes)}), for_yes),
           together(all_of({equal(is_yes, {}), equal(result, no)}), for_no));
    return result;
  }
  // What both have is in what is chosen, whatever that is: products; and all, if the rest are
  // multiples of one number.
  Polynomial common, same_in_both;
  std::int64_t scale = 0;
  for (const auto &[monomial, coefficient] : yes)
    if (const auto same = no.find(monomial); same != no.end() && same->second == coefficient) {
      same_in_both.emplace(monomial, coefficient);
      if (monomial.size() > 1)
        common.emplace(monomial, coefficient);
    }
  for (const Polynomial *const side : {&yes, &no})
    for (const auto &[monomial, coefficient] : *side)
      if (!same_in_both.contains(monomial))
        scale = std::gcd(scale, coefficient);
  if (scale > 1 && range(same_in_both).low >= 0)
    common = same_in_both;
  else
    scale = 1;
  yes = plus(yes, common, -1);
  no = plus(no, common, -1);
  for (Polynomial *const side : {&yes, &no})
    for (auto &[monomial, coefficient] : *side)
      coefficient /= scale;
  const Interval a = range(yes), b = range(no);
  constexpr Wide least = -(Wide{1} << 63), most = (Wide{1} << 63) - 1;
  Polynomial result = of(variable({std::clamp(std::min(a.low, b.low), least, most),
                                   std::clamp(std::max(a.high, b.high), least, most)},
                                  threads_in_(expr)));
  choose(condition, together(equal(result, yes), for_yes), together(equal(result, no), for_no));
  return plus(common, result, scale);
}

// Where dividend and divisor are not negative all four divisions agree:
// dividend = divisor * quotient + remainder.
IntegerFormulas::Polynomial IntegerFormulas::divided(Expr expr) {
  if (!is_full(expr->width))
    return atom(expr);
  const bool is_quotient = expr->kind == ExprKind::udiv || expr->kind == ExprKind::sdiv;
  const Polynomial dividend = value(expr->children[0]), divisor = value(expr->children[1]);
  const auto key = std::pair(expr->children[0], expr->children[1]);
  auto found = quotients_.find(key);
  if (found == quotients_.end()) {
    const unsigned threads = threads_in_(expr);
    const Wide most = std::clamp<Wide>(range(dividend).high, 0, (Wide{1} << (expr->width - 1)) - 1);
    const std::uint32_t quotient =
        variable({0, most / std::max<Wide>(range(divisor).low, 1)}, threads);
    const std::uint32_t remainder =
        variable({0, std::clamp<Wide>(range(divisor).high - 1, 0, most)}, threads);
    const Formula holds =
        all_of({equal(dividend, plus(times(divisor, of(quotient)), of(remainder))),
                compare(of(remainder), divisor, 1), compare(of(quotient), dividend, 0),
                compare(of(remainder), dividend, 0)});
    const std::size_t definition =
        define(any_of({compare(dividend, {}, 1), compare(divisor, {}, 0), holds}));
    found =
        quotients_.emplace(key, Division{quotient, remainder, definition, dividend, divisor, holds})
            .first;
  }
  need(found->second.definition);
  Polynomial result = of(is_quotient ? found->second.quotient : found->second.remainder);
  if (range(dividend).low >= 0 && range(divisor).low > 0)
    return result;
  // Elsewhere it is whatever its bits allow.
  Polynomial any = atom(expr);
  define(any_of({compare(dividend, {}, 1), compare(divisor, {}, 0), equal(any, result)}));
  return any;
}

// --- formulas

IntegerFormulas::Formula IntegerFormulas::is_zero(const Polynomial &polynomial) {
  return comparison(Kind::equal, linear(polynomial));
}

IntegerFormulas::Formula IntegerFormulas::equal(const Polynomial &a, const Polynomial &b) {
  return is_zero(plus(a, b, -1));
}

/// less + gap <= more
IntegerFormulas::Formula IntegerFormulas::compare(const Polynomial &less, const Polynomial &more,
                                                  std::int64_t gap) {
  return comparison(Kind::at_most, linear(plus(plus(less, more, -1), {{Monomial{}, gap}})));
}

// --- places that are one

// An index as of a matrix, row * by + column. Where 0 <= column < by, two such places are one only
// if both their rows and their columns are: by > 0 then, and a difference of rows is at least `by`,
// that of columns less. That a column is one follows from what is known of its thread alone.

unsigned IntegerFormulas::threads_of(const Formula &formula) {
  const auto [known, is_new] = threads_of_.try_emplace(formula.get(), 0);
  if (!is_new)
    return known->second;
  unsigned threads = 0;
  for (const auto &[index, coefficient] : formula->sum.terms)
    threads |= threads_[index];
  for (const Formula &part : formula->parts)
    threads |= threads_of(part);
  return threads_of_[formula.get()] = threads;
}

// True if 0 <= column < scale * by for a thread.
bool IntegerFormulas::is_column(const Polynomial &column, std::int64_t scale, std::uint32_t by,
                                unsigned thread, const Excludes &excludes) {
  if (!excludes)
    return false;
  const auto [known, is_new] = columns_.try_emplace({column, scale, by, thread}, false);
  if (!is_new)
    return known->second;
  const Formula outside =
      any_of({compare(column, {}, 1), compare({{Monomial{by}, scale}}, column, 0)});
  IntegerQuestion alone;
  const std::vector<Formula> all_axioms = axioms();
  threads_of_.clear(); // of axioms that are no more
  const auto add_own = [&](const std::vector<Formula> &all) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(alone.formulas),
                 [&](const Formula &one) { return (threads_of(one) & ~thread) == 0; });
  };
  add_own(question_.formulas);
  add_own(all_axioms);
  alone.formulas.push_back(outside);
  alone.variables = question_.variables;
  alone.truths = question_.truths;
  return columns_[{column, scale, by, thread}] = excludes(compact(alone));
}

// Null: it is not known that this is a row's length.
IntegerFormulas::Formula IntegerFormulas::same_row(const Polynomial &a, const Polynomial &b,
                                                   std::uint32_t by, const Excludes &excludes) {
  Polynomial rows[2], columns[2];
  std::int64_t scale = 0;
  for (const unsigned i : {0u, 1u})
    for (const auto &[monomial, coefficient] : i == 0 ? a : b) {
      const auto at = std::find(monomial.begin(), monomial.end(), by);
      if (at == monomial.end()) {
        columns[i].emplace(monomial, coefficient);
        continue;
      }
      Monomial others = monomial;
      others.erase(others.begin() + (at - monomial.begin()));
      rows[i].emplace(std::move(others), coefficient);
      scale = std::gcd(scale, coefficient);
    }
  if (!is_column(columns[0], scale, by, 1, excludes) ||
      !is_column(columns[1], scale, by, 2, excludes))
    return nullptr;
  for (Polynomial &row : rows)
    for (auto &[monomial, coefficient] : row)
      coefficient /= scale;
  return all_of(
      {same_place(rows[0], rows[1], excludes), same_place(columns[0], columns[1], excludes)});
}

// That a sum is 0, as its digits are: of high + low with all of `high` a multiple of g and
// |low| < g both are 0. The constant goes to `low` as far as it is no multiple.
IntegerFormulas::Formula IntegerFormulas::is_zero_by_digits(const Polynomial &sum) {
  std::set<std::int64_t, std::greater<>> scales;
  for (const auto &[monomial, coefficient] : sum)
    if (!monomial.empty())
      scales.insert(coefficient < 0 ? -coefficient : coefficient);
  for (const std::int64_t scale : scales) {
    if (scale == 1)
      break;
    Polynomial high, low;
    std::int64_t constant = 0;
    for (const auto &[monomial, coefficient] : sum)
      if (monomial.empty())
        constant = coefficient;
      else
        (coefficient % scale == 0 ? high : low).emplace(monomial, coefficient);
    if (low.empty())
      continue;
    const Interval known = range(low);
    const std::int64_t rest = ((constant % scale) + scale) % scale;
    for (const std::int64_t own : {rest, rest - scale})
      if (known.low + own > -scale && known.high + own < scale)
        return all_of({is_zero(plus(high, {{Monomial{}, constant - own}})),
                       is_zero_by_digits(plus(low, {{Monomial{}, own}}))});
  }
  return is_zero(sum);
}

// a of the first thread is b of the second one.
IntegerFormulas::Formula IntegerFormulas::same_place(const Polynomial &a, const Polynomial &b,
                                                     const Excludes &excludes) {
  constexpr std::size_t most_lengths = 3;
  std::map<std::uint32_t, std::size_t> uses;
  for (const Polynomial *const side : {&a, &b})
    for (const auto &[monomial, coefficient] : *side)
      if (monomial.size() > 1)
        for (const std::uint32_t factor : std::set<std::uint32_t>(monomial.begin(), monomial.end()))
          uses[factor] += threads_[factor] == 0 ? 1 : 0;
  std::vector<std::pair<std::size_t, std::uint32_t>> lengths;
  for (const auto &[factor, count] : uses)
    if (count != 0)
      lengths.emplace_back(count, factor);
  std::sort(lengths.rbegin(), lengths.rend());
  if (lengths.size() > most_lengths)
    lengths.resize(most_lengths);
  // What both have in common and no thread has of its own may begin a row outside of it.
  Polynomial own_a, own_b = plus(b, {});
  for (const auto &[monomial, coefficient] : a) {
    const auto same = own_b.find(monomial);
    const bool is_common = std::all_of(monomial.begin(), monomial.end(),
                                       [&](std::uint32_t part) { return threads_[part] == 0; });
    if (is_common && same != own_b.end() && same->second == coefficient)
      own_b.erase(same);
    else
      own_a.emplace(monomial, coefficient);
  }
  for (const auto &[count, by] : lengths) {
    if (Formula parted = same_row(a, b, by, excludes))
      return parted;
    if (own_a.size() != a.size())
      if (Formula parted = same_row(own_a, own_b, by, excludes))
        return parted;
  }
  return is_zero_by_digits(plus(a, b, -1));
}

// --- formulas of expressions

// That an expression of one bit is 1, or 0, in negation normal form.
IntegerFormulas::Formula IntegerFormulas::formula(Expr expr, bool holds) {
  auto known = formulas_.find({expr, holds});
  if (known == formulas_.end()) {
    if (++depth_ > most_depth)
      too_large();
    Truth truth;
    truth.needs = apart([&] { truth.formula = translate(expr, holds); });
    --depth_;
    known = formulas_.emplace(std::pair(expr, holds), std::move(truth)).first;
  }
  for (const std::size_t definition : known->second.needs)
    need(definition);
  return known->second.formula;
}

// With what it needs, as a part of which it is not known if it is computed.
IntegerFormulas::Formula IntegerFormulas::guarded(Expr expr, bool holds) {
  Formula result;
  const Definitions needs = apart([&] { result = formula(expr, holds); });
  return together(std::move(result), needs);
}

// That an odd number of bits is 1, or an even one.
IntegerFormulas::Formula IntegerFormulas::odd(std::span<const Expr> bits, bool holds) {
  Formula is_odd = any_of({}), is_even = all_of({});
  for (const Expr bit : bits) {
    if (bits.size() == 1)
      return formula(bit, holds);
    const Formula yes = guarded(bit, true), no = guarded(bit, false);
    const Formula odd_before = is_odd;
    is_odd = any_of({all_of({odd_before, no}), all_of({is_even, yes})});
    is_even = any_of({all_of({is_even, no}), all_of({odd_before, yes})});
  }
  return holds ? is_odd : is_even;
}

IntegerFormulas::Formula IntegerFormulas::translate(Expr expr, bool holds) {
  const auto operands = expr->operands();
  switch (expr->kind) {
  case ExprKind::constant:
    return holds == expr->value.is_zero() ? any_of({}) : all_of({});
  case ExprKind::bit_and:
  case ExprKind::bit_or:
  case ExprKind::product: {
    const bool is_all = holds == (expr->kind != ExprKind::bit_or);
    std::vector<Formula> parts;
    for (const Expr part : operands)
      parts.push_back(is_all ? formula(part, holds) : guarded(part, holds));
    return is_all ? all_of(std::move(parts)) : any_of(std::move(parts));
  }
  case ExprKind::bit_xor:
    return odd(operands, holds);
  case ExprKind::sum:
    return odd(operands, holds == expr->value.is_zero());
  case ExprKind::ite:
    return any_of({all_of({guarded(operands[0], true), guarded(operands[1], holds)}),
                   all_of({guarded(operands[0], false), guarded(operands[2], holds)})});
  case ExprKind::eq0:
    if (operands[0]->width == 1)
      return formula(operands[0], !holds);
    break;
  default:
    break;
  }
  Formula result = literal(expr);
  return holds ? result : negated(std::move(result));
}

IntegerFormulas::Formula IntegerFormulas::literal(Expr expr) {
  switch (expr->kind) {
  case ExprKind::eq0:
    return is_modular(expr->children[0]) || is_part(expr->children[0]) // with or without a sign
               ? is_zero(unsigned_value(expr->children[0]))
               : is_zero(value(expr->children[0]));
  case ExprKind::slt:
    if (expr->children[0]->width > 1)
      return compare(value(expr->children[0]), value(expr->children[1]), 1);
    break;
  case ExprKind::ult:
    if (expr->children[0]->width > 1) {
      const Polynomial a = value(expr->children[0]), b = value(expr->children[1]);
      const bool a_plain = range(a).low >= 0, b_plain = range(b).low >= 0;
      Formula less = compare(a, b, 1);
      if (a_plain && b_plain)
        return less;
      const Formula a_negative = a_plain ? any_of({}) : compare(a, {}, 1);
      const Formula b_negative = b_plain ? any_of({}) : compare(b, {}, 1);
      return any_of({all_of({negated(a_negative), b_negative}),
                     all_of({any_of({all_of({a_negative, b_negative}),
                                     all_of({negated(a_negative), negated(b_negative)})}),
                             less})});
    }
    break;
  case ExprKind::extract:
    if (has_bits_only(expr))
      return negated(is_zero(unsigned_value(expr)));
    break;
  default:
    break;
  }
  const auto [known, is_new] = truths_.try_emplace(expr, question_.truths);
  question_.truths += is_new ? 1 : 0;
  const auto unknown = std::make_shared<IntegerQuestion::Formula>();
  unknown->kind = Kind::truth;
  unknown->truth = known->second;
  return unknown;
}

// --- products

void IntegerFormulas::add(IntegerQuestion::Sum &to, const IntegerQuestion::Sum &from,
                          std::int64_t factor) {
  to.constant = number(Wide{to.constant} + Wide{from.constant} * factor);
  for (const auto &[index, coefficient] : from.terms) {
    const std::int64_t sum = number(Wide{to.terms[index]} + Wide{coefficient} * factor);
    if (sum == 0)
      to.terms.erase(index);
    else
      to.terms[index] = sum;
  }
}

// Indices, not bytes: with a factor above 0 four times the number is at least as much.
void IntegerFormulas::note_together(std::uint32_t by, Multiple whole) {
  std::int64_t common = 0;
  for (const auto &[index, coefficient] : whole.value.terms)
    common = std::gcd(common, coefficient);
  if (common == 0)
    return;
  for (IntegerQuestion::Sum *const part : {&whole.factor, &whole.value}) {
    const auto is_whole = [&](std::int64_t number) { return number % common == 0; };
    if (!is_whole(part->constant) ||
        !std::all_of(part->terms.begin(), part->terms.end(),
                     [&](const auto &term) { return is_whole(term.second); }))
      return;
    part->constant /= common;
    for (auto &[index, coefficient] : part->terms)
      coefficient /= common;
  }
  auto &known = together_[by];
  if (known.size() < most_multiples &&
      std::none_of(known.begin(), known.end(), [&](const Multiple &other) {
        return other.value.constant == whole.value.constant &&
               other.value.terms == whole.value.terms;
      }))
    known.push_back(std::move(whole));
}

// The parts of one thread, of the other, of both and of neither are factored apart.
IntegerQuestion::Sum IntegerFormulas::linear(const Polynomial &polynomial) {
  Polynomial parts[4];
  for (const auto &[monomial, coefficient] : polynomial) {
    unsigned threads = 0;
    for (const std::uint32_t factor : monomial)
      threads |= threads_[factor];
    parts[threads].emplace(monomial, coefficient);
  }
  IntegerQuestion::Sum sum;
  std::map<std::uint32_t, std::vector<Multiple>> used;
  for (Polynomial &part : parts)
    add(sum, factored(part, &used), 1);
  for (const auto &[by, all] : used) {
    Multiple whole;
    for (const Multiple &one : all) {
      add(whole.factor, one.factor, 1);
      add(whole.value, one.value, 1);
    }
    if (all.size() > 1)
      note_together(by, whole);
    // And with what is added of the number in a part that has no multiple of it.
    IntegerQuestion::Sum rest;
    rest.terms[by] = sum.terms.contains(by) ? sum.terms.at(by) : 0;
    add(rest, whole.value, -1);
    const auto alone = rest.terms.find(by);
    if (alone == rest.terms.end() || alone->second == 0)
      continue;
    whole.factor.constant = number(Wide{whole.factor.constant} + alone->second);
    add(whole.value, {0, {*alone}}, 1);
    note_together(by, std::move(whole));
  }
  return sum;
}

// `used` gets each multiple, and what is added to it of the number itself.
IntegerQuestion::Sum
IntegerFormulas::factored(const Polynomial &polynomial,
                          std::map<std::uint32_t, std::vector<Multiple>> *used) {
  IntegerQuestion::Sum sum;
  std::map<std::uint32_t, std::size_t> uses;
  for (const auto &[monomial, coefficient] : polynomial)
    if (monomial.size() > 1)
      for (const std::uint32_t factor : std::set<std::uint32_t>(monomial.begin(), monomial.end()))
        ++uses[factor];
  if (uses.empty()) {
    for (const auto &[monomial, coefficient] : polynomial)
      (monomial.empty() ? sum.constant : sum.terms[monomial[0]]) = coefficient;
    return sum;
  }
  const auto best = std::max_element(uses.begin(), uses.end(), [&](const auto &a, const auto &b) {
    const bool own_a = threads_[a.first] != 0, own_b = threads_[b.first] != 0;
    return own_a != own_b ? own_a : a.second < b.second;
  });
  const std::uint32_t by = best->first;
  Polynomial quotient, rest;
  std::int64_t common = 0;
  for (const auto &[monomial, coefficient] : polynomial) {
    const auto at = std::find(monomial.begin(), monomial.end(), by);
    if (at == monomial.end()) {
      rest.emplace(monomial, coefficient);
      continue;
    }
    Monomial others = monomial;
    others.erase(others.begin() + (at - monomial.begin()));
    quotient.emplace(std::move(others), coefficient);
    common = std::gcd(common, coefficient);
  }
  // A constant is as many `by`; the rest with a first coefficient that is positive.
  const auto alone = quotient.find(Monomial{});
  std::int64_t constant = 0;
  if (alone != quotient.end()) {
    sum.terms[by] = constant = alone->second;
    quotient.erase(alone);
    common = 0;
    for (const auto &[monomial, coefficient] : quotient)
      common = std::gcd(common, coefficient);
  }
  if (quotient.begin()->second < 0)
    common = -common;
  for (auto &[monomial, coefficient] : quotient)
    coefficient /= common;
  IntegerQuestion::Sum product;
  const std::uint32_t value = multiple(quotient, by);
  product.terms[value] = 1;
  if (constant != 0 && constant % common == 0)
    note_multiple(by, quotient, constant / common, value);
  if (used) {
    Multiple own;
    add(own.factor, factored(quotient), common);
    own.factor.constant = number(Wide{own.factor.constant} + constant);
    add(own.value, product, common);
    if (constant != 0)
      own.value.terms[by] = constant;
    (*used)[by].push_back(std::move(own));
  }
  add(sum, product, common);
  add(sum, factored(rest, used), 1);
  return sum;
}

// value + constant * by is a multiple of `by`, too.
void IntegerFormulas::note_multiple(std::uint32_t by, const Polynomial &factor,
                                    std::int64_t constant, std::uint32_t value) {
  if (!moved_.insert({value, constant}).second)
    return;
  Multiple moved{factored(factor), {}};
  moved.factor.constant = number(Wide{moved.factor.constant} + constant);
  moved.value.terms[value] = 1;
  moved.value.terms[by] = constant;
  multiples_[by].push_back(std::move(moved));
}

std::uint32_t IntegerFormulas::multiple(const Polynomial &factor, std::uint32_t by) {
  const bool is_pair =
      factor.size() == 1 && factor.begin()->first.size() == 1 && factor.begin()->second == 1;
  const std::uint32_t other = is_pair ? factor.begin()->first[0] : by;
  const auto key = is_pair && other < by ? std::pair(of(by), other) : std::pair(factor, by);
  const auto found = products_.find(key);
  if (found != products_.end())
    return found->second;
  unsigned threads = threads_[by];
  for (const auto &[monomial, coefficient] : factor)
    for (const std::uint32_t part : monomial)
      threads |= threads_[part];
  constexpr Wide least = -(Wide{1} << 63), most = (Wide{1} << 63) - 1;
  Interval known = range(times(factor, of(by)));
  // Beyond 64 bits there are no bounds: a product need not be computed for itself.
  const bool is_bounded = known.low >= least && known.high <= most;
  const std::uint32_t result = variable(is_bounded ? known : Interval{least, most}, threads);
  question_.variables[result].is_bounded = is_bounded;
  if (!is_bounded)
    ranges_[result] = known;
  products_.emplace(key, result);
  IntegerQuestion::Sum value;
  value.terms[result] = 1;
  multiples_[by].push_back({factored(factor), value});
  if (is_pair && other != by)
    multiples_[other].push_back({factored(of(by)), value});
  return result;
}

// The larger of two numbers has no smaller quotient by one divisor above 0: so it is for all whole
// numbers that are such quotients, whether anything computes them or not.
std::vector<IntegerFormulas::Formula> IntegerFormulas::orders_of_quotients() {
  std::vector<Formula> result;
  for (const auto &[key, less] : quotients_)
    for (const auto &[other, more] : quotients_) {
      const bool is_number = std::all_of(less.divisor.begin(), less.divisor.end(),
                                         [](const auto &term) { return term.first.empty(); });
      if (is_number || &less == &more || less.divisor != more.divisor ||
          result.size() >= most_multiples)
        continue;
      result.push_back(any_of({compare(less.divisor, {}, 0), negated(less.holds),
                               negated(more.holds), compare(more.dividend, less.dividend, 1),
                               compare(of(less.quotient), of(more.quotient), 0)}));
    }
  return result;
}

std::vector<IntegerFormulas::Formula> IntegerFormulas::axioms() {
  std::vector<Formula> result = orders_of_quotients();
  using Sum = IntegerQuestion::Sum;
  const auto at_most = [](Sum sum) { return comparison(Kind::at_most, std::move(sum)); };
  const auto sum_of = [](std::uint32_t variable) {
    Sum sum;
    sum.terms[variable] = 1;
    return sum;
  };
  // a + gap <= b
  const auto less = [&](const Sum &a, const Sum &b, std::int64_t gap) {
    Sum sum = a;
    add(sum, b, -1);
    sum.constant = number(Wide{sum.constant} + gap);
    return at_most(std::move(sum));
  };
  for (const auto &[by, all] : together_)
    for (const Multiple &one : all) {
      const Sum width = sum_of(by), zero;
      const Formula negative = ranges_[by].low >= 0 ? any_of({}) : less(width, zero, 1);
      Sum both = one.value;
      add(both, width, 1);
      result.push_back(any_of({negative, less(one.factor, zero, 0), less(width, one.value, 0)}));
      result.push_back(any_of({negative, less(zero, one.factor, 0), less(both, zero, 0)}));
      result.push_back(any_of(
          {negated(comparison(Kind::equal, one.factor)), comparison(Kind::equal, one.value)}));
    }
  for (const auto &[by, all] : multiples_) {
    const Sum width = sum_of(by), zero;
    const bool plain = ranges_[by].low >= 0;
    const Formula negative = plain ? any_of({}) : less(width, zero, 1);
    const auto axiom = [&](const Formula &excluded, const Formula &holds) {
      result.push_back(any_of({negative, excluded, holds}));
    };
    for (std::size_t i = 0; i < all.size() && i < most_multiples; ++i) {
      const Multiple &a = all[i];
      const Sum &value = a.value;
      Sum both = value;
      add(both, width, 1);
      axiom(less(a.factor, zero, 0), less(width, value, 0)); // factor <= 0, or width <= value
      axiom(less(zero, a.factor, 0), less(both, zero, 0));   // factor >= 0, or value <= -width
      Sum no_factor = a.factor;
      result.push_back(
          any_of({negated(comparison(Kind::equal, no_factor)), comparison(Kind::equal, value)}));
      for (std::size_t j = 0; j < i; ++j) {
        const Multiple &b = all[j];
        const auto ordered = [&](const Multiple &less_one, const Multiple &more) {
          Sum next = less_one.value;
          add(next, width, 1);
          axiom(less(more.factor, less_one.factor, 0), less(next, more.value, 0));
        };
        ordered(a, b);
        ordered(b, a);
        Sum difference = a.factor, values = value;
        add(difference, b.factor, -1);
        add(values, b.value, -1);
        result.push_back(any_of(
            {negated(comparison(Kind::equal, difference)), comparison(Kind::equal, values)}));
      }
    }
  }
  return result;
}

// Of formulas that compare a number with a constant: in which range it is. That x + c is in a range
// says it of x, which is read as a whole number.
void IntegerFormulas::tell(Expr expr, Interval known) {
  const Wide limit = Wide{1} << (expr->width - 1);
  known = overlap(known, {-limit, limit - 1});
  if (expr->maximum <= mask64(expr->width - 1))
    known = overlap(known, {0, static_cast<Wide>(expr->maximum)});
  const auto [told, is_new] = told_.try_emplace(expr, known);
  if (!is_new)
    told->second = overlap(told->second, known);
  if (expr->kind == ExprKind::sum && is_full(expr->width) && !mixes(expr) &&
      expr->child_count == 1 && expr->coefficients[0] == 1) {
    const Wide constant = as_signed(expr->value.low, expr->width);
    tell(expr->children[0], {known.low - constant, known.high - constant});
  }
  if (expr->kind == ExprKind::sext && expr->children[0]->width > 1)
    tell(expr->children[0], known);
}

void IntegerFormulas::tell(Expr formula, bool holds) {
  const auto constant = [](Expr expr) { return expr->kind == ExprKind::constant; };
  const auto number_of = [](Expr expr) { return Wide{as_signed(expr->value.low, expr->width)}; };
  constexpr Wide least = -(Wide{1} << 63), most = (Wide{1} << 63) - 1;
  if (formula->kind == ExprKind::bit_and || formula->kind == ExprKind::bit_or) {
    if (holds == (formula->kind == ExprKind::bit_and))
      for (const Expr part : formula->operands())
        tell(part, holds);
  } else if (formula->kind == ExprKind::eq0 && formula->children[0]->width == 1) {
    tell(formula->children[0], !holds);
  } else if (formula->kind == ExprKind::sum && formula->child_count == 1) {
    tell(formula->children[0], holds == formula->value.is_zero());
  } else if ((formula->kind == ExprKind::ult || formula->kind == ExprKind::slt) &&
             formula->children[0]->width > 1 && formula->children[0]->width <= 64) {
    const Expr left = formula->children[0], right = formula->children[1];
    const bool is_signed = formula->kind == ExprKind::slt;
    // What is at most a number that is not negative without a sign is none that has one.
    if (constant(right) && holds && (is_signed || number_of(right) > 0))
      tell(left, {is_signed ? least : 0, number_of(right) - 1});
    else if (constant(left) && !holds && (is_signed || number_of(left) >= 0))
      tell(right, {is_signed ? least : 0, number_of(left)});
    else if (is_signed && constant(left) && holds)
      tell(right, {number_of(left) + 1, most});
    else if (is_signed && constant(right) && !holds)
      tell(left, {number_of(right), most});
  }
}

bool IntegerFormulas::is_small(Expr expr) const {
  const auto told = told_.find(expr);
  return told != told_.end() && told->second.low >= 0 && told->second.high < (Wide{1} << 31);
}

std::string to_string(const IntegerQuestion &question) {
  std::string text;
  for (const auto &variable : question.variables)
    text += fmt::format("{} {} {};", variable.low, variable.high, variable.is_bounded);
  const auto add = [&](const auto &self, const IntegerQuestion::Formula &formula) -> void {
    text += fmt::format("({} {} {}", static_cast<unsigned>(formula.kind), formula.sum.constant,
                        formula.truth);
    for (const auto &[index, coefficient] : formula.sum.terms)
      text += fmt::format(" {}*{}", coefficient, index);
    for (const auto &part : formula.parts)
      self(self, *part);
    text += ')';
  };
  for (const auto &formula : question.formulas)
    add(add, *formula);
  return text;
}

// What the numbers need that it compares. Of what is more than one comparison a part may be of
// another way: where ways join, `flag ? x < n : false` is flag & (x < n).
void IntegerFormulas::note_computed(Expr expr) {
  while (expr->child_count == 1 && expr->children[0]->width == 1)
    expr = expr->children[0];
  for (const Expr part : expr->operands())
    if (part->width > 1 && part->width <= 64 && expr->kind != ExprKind::ite)
      value(part);
}

std::optional<IntegerQuestion> IntegerFormulas::question(const Asked &asked,
                                                         const std::vector<Meeting> &meetings,
                                                         const Excludes &excludes) {
  try {
    for (const Expr one : asked.formulas)
      tell(one, true);
    std::vector<Expr> all = asked.formulas;
    for (const std::vector<Expr> *const more : {&asked.computed, &asked.supposed})
      all.insert(all.end(), more->begin(), more->end());
    for (const Meeting &meeting : meetings)
      for (const Expr part : {meeting.holds, meeting.one, meeting.other})
        if (part)
          all.push_back(part);
    for (const Expr one : all)
      for_each_node(one, [&](Expr node) {
        if (node->kind != ExprKind::extract)
          return;
        for (const unsigned cut : {node->index, node->index + node->width})
          if (cut <= largest_cut)
            cuts_[node->children[0]].insert(cut);
        if (const Expr left = without_multiples(node->children[0], node->index))
          cuts_[left].insert(node->index);
      });
    for (const Expr one : asked.computed)
      note_computed(one);
    for (const Expr one : asked.supposed)
      apart([&] { question_.formulas.push_back(formula(one)); });
    for (const Expr one : asked.formulas)
      question_.formulas.push_back(formula(one));
    std::vector<Formula> places;
    places.reserve(meetings.size());
    for (const Meeting &meeting : meetings)
      places.push_back(meeting.one ? same_place(value(meeting.one), value(meeting.other), excludes)
                                   : formula(meeting.holds));
    if (!meetings.empty())
      question_.formulas.push_back(any_of(std::move(places)));
    const std::vector<Formula> all_axioms = axioms();
    question_.formulas.insert(question_.formulas.end(), all_axioms.begin(), all_axioms.end());
  } catch (const NotFollowed &) {
    return std::nullopt;
  }
  return std::move(question_);
}

} // namespace ptxasw::analysis
