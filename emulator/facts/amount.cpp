// Polynomials in normal form. What is not a polynomial (a quotient, a logarithm, a positive part)
// is an atom of its own, found again by what it is made of, so that equal amounts are equal maps.
// Every kind of atom never falls as its first argument rises; the extremes over a variable rest on
// that.

#include "emulator/facts/amount.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::facts {

namespace {

/// Sums over powers beyond this one are not written out.
constexpr std::size_t power_budget = 3;
constexpr unsigned least_depth = 3; ///< parts of an amount that are replaced by their least
/// Parts that are tried one by one in its place; of more, the first ones. So what one question
/// costs does not grow with the number of terms to the power of the depth: the count of bits that
/// are set has 31 quotients.
constexpr unsigned least_breadth = 8;

/// What two ranges multiply to. No bound times 0 is 0: the number itself is finite.
AmountRange times(const AmountRange &a, const AmountRange &b) {
  const auto nonnegative = [](const AmountRange &r) { return r.low && *r.low >= 0; };
  if (a.low && a.high && b.low && b.high) {
    const Rational all[] = {*a.low * *b.low, *a.low * *b.high, *a.high * *b.low, *a.high * *b.high};
    return {*std::min_element(std::begin(all), std::end(all)),
            *std::max_element(std::begin(all), std::end(all))};
  }
  if (nonnegative(a) && nonnegative(b))
    return {*a.low * *b.low,
            a.high && b.high ? std::optional<Rational>(*a.high * *b.high) : std::nullopt};
  return {};
}

AmountRange scaled(const AmountRange &a, const Rational &factor) {
  AmountRange result;
  if (a.low)
    (factor > 0 ? result.low : result.high) = *a.low * factor;
  if (a.high)
    (factor > 0 ? result.high : result.low) = *a.high * factor;
  return result;
}

int log2_of(const Rational &number) {
  int k = 0;
  for (Rational power = 1; power < number; power *= 2)
    ++k;
  return k;
}

} // namespace

Amount AmountPool::variable(const std::string &name, const AmountRange &range) {
  const auto [entry, is_new] = variables_.try_emplace(name, static_cast<AtomId>(atoms_.size()));
  if (is_new)
    atoms_.push_back({Kind::variable, name, {}, {}, range});
  return Amount::of(entry->second);
}

Amount AmountPool::atom(Kind kind, const Amount &a, const Amount &b) {
  const auto [entry, is_new] =
      known_.try_emplace(std::tuple(kind, a, b), static_cast<AtomId>(atoms_.size()));
  if (is_new) {
    AmountRange inner = range(a);
    if (!inner.low || *inner.low < 0)
      inner.low = least(a, nullptr, least_depth);
    AmountRange own;
    if (kind == Kind::positive_part || kind == Kind::ceil_log2)
      own.low = 0;
    if (kind == Kind::positive_part && inner.low && *inner.low > 0)
      own.low = inner.low;
    if (kind == Kind::positive_part && inner.high)
      own.high = *inner.high > 0 ? *inner.high : Rational(0);
    if (kind == Kind::ceil_log2 && inner.high)
      own.high = Rational(log2_of(*inner.high));
    if (kind == Kind::ceil_div || kind == Kind::floor_div) {
      const AmountRange divisor = range(b);
      const bool up = kind == Kind::ceil_div;
      const auto rounded = [&](const Rational &q) {
        return Rational(up ? ceil_of(q) : floor_of(q));
      };
      // Dividing by more brings a number nearer to 0.
      if (inner.low && *inner.low >= 0)
        own.low = divisor.high ? rounded(*inner.low / *divisor.high)
                               : Rational(up && *inner.low > 0 ? 1 : 0);
      else if (inner.low && divisor.low && *divisor.low >= 1)
        own.low = rounded(*inner.low / *divisor.low);
      if (inner.high && *inner.high >= 0 && divisor.low && *divisor.low >= 1)
        own.high = rounded(*inner.high / *divisor.low);
      else if (inner.high && *inner.high < 0)
        own.high = Rational(up ? 0 : -1);
    }
    atoms_.push_back({kind, {}, a, b, own});
  }
  return Amount::of(entry->second);
}

Amount AmountPool::positive_part(const Amount &a) {
  const AmountRange known = range(a);
  if (never_negative(a))
    return a;
  if (known.high && *known.high <= 0)
    return {};
  // What all coefficients share stands outside.
  if (a.terms().size() == 1) {
    const Rational factor = a.terms().begin()->second;
    if (const Rational one(1); factor > 0 && factor != one)
      return Amount(factor) * atom(Kind::positive_part, a * Amount(1 / factor), {});
  }
  return atom(Kind::positive_part, a, {});
}

// A quotient of a quotient: (a / p + c) / b is (a + p * c) / (p * b), rounded alike.
std::optional<Amount> AmountPool::flattened(Kind kind, const Amount &a, const Amount &b) {
  const Amount constant(a.constant());
  const Amount rest = a - constant;
  if (!is_whole(constant) || rest.terms().size() != 1 || rest.terms().begin()->second != 1 ||
      rest.terms().begin()->first.size() != 1)
    return std::nullopt;
  const Atom known = atoms_[rest.terms().begin()->first[0]];
  if (known.kind != kind || !known.b.number())
    return std::nullopt;
  return divide(kind, known.a + known.b * constant, known.b * b);
}

Amount AmountPool::divide(Kind kind, const Amount &a, const Amount &b) {
  if (const auto divisor = b.number(); divisor && *divisor > 0) {
    if (*divisor == 1 && is_whole(a))
      return a;
    if (const auto number = a.number())
      return Rational(kind == Kind::ceil_div ? ceil_of(*number / *divisor)
                                             : floor_of(*number / *divisor));
    // Whole multiples of the divisor stand outside.
    Amount outside, inside;
    for (const auto &[monomial, coefficient] : a.terms()) {
      Amount product(1);
      for (const AtomId part : monomial)
        product = product * Amount::of(part);
      // Towards 0: what stays inside keeps its sign. Of the constant, so that it has none.
      const Rational quotient = coefficient / *divisor;
      const Rational whole = !coefficient.is_whole()             ? Rational(0)
                             : quotient < 0 && !monomial.empty() ? Rational(ceil_of(quotient))
                                                                 : Rational(floor_of(quotient));
      outside += product * Amount(whole);
      inside += product * Amount(Rational(coefficient - whole * *divisor));
    }
    if (inside.is_zero())
      return outside;
    if (inside.number())
      return outside + divide(kind, inside, b);
    if (const auto flat = flattened(kind, inside, b))
      return outside + *flat;
    return outside + atom(kind, inside, b);
  }
  if (a.is_zero())
    return a;
  // A divisor that is a single product and is in every term.
  if (b.terms().size() == 1) {
    const auto &[divisor, factor] = *b.terms().begin();
    Amount quotient;
    bool divides = true;
    for (const auto &[monomial, coefficient] : a.terms()) {
      if (!std::includes(monomial.begin(), monomial.end(), divisor.begin(), divisor.end())) {
        divides = false;
        break;
      }
      Amount::Monomial rest;
      std::set_difference(monomial.begin(), monomial.end(), divisor.begin(), divisor.end(),
                          std::back_inserter(rest));
      Amount product(Rational(coefficient / factor));
      for (const AtomId part : rest)
        product = product * Amount::of(part);
      quotient += product;
    }
    if (divides && is_whole(quotient))
      return quotient;
  }
  return atom(kind, a, b);
}

Amount AmountPool::ceil_log2(const Amount &a) {
  if (const auto number = a.number())
    return Rational(log2_of(*number));
  return atom(Kind::ceil_log2, a, {});
}

AmountRange AmountPool::monomial_range(const Amount::Monomial &monomial,
                                       const AmountRanges *narrowed) const {
  const auto range_of = [&](AtomId atom) {
    const Atom &known = atoms_[atom];
    if (!narrowed)
      return known.range;
    if (const auto found = narrowed->find(atom); found != narrowed->end())
      return found->second;
    AmountRange result = known.range;
    const auto divisor = known.b.number();
    if ((known.kind == Kind::floor_div || known.kind == Kind::ceil_div) && divisor &&
        *divisor > 0) { // rounding towards the integers does not affect a lower bound of 0
      const AmountRange inner = this->range(known.a, narrowed);
      if (inner.low && *inner.low >= 0 && (!result.low || *result.low < 0))
        result.low = 0;
    }
    return result;
  };
  AmountRange result{1, 1};
  for (std::size_t i = 0; i < monomial.size(); ++i) {
    const AmountRange one = range_of(monomial[i]);
    if (i + 1 < monomial.size() && monomial[i + 1] == monomial[i]) { // a square
      AmountRange square = times(one, one);
      if (!square.low || *square.low < 0)
        square.low = 0;
      result = times(result, square);
      ++i;
    } else {
      result = times(result, one);
    }
  }
  return result;
}

AmountRange AmountPool::range(const Amount &a, const AmountRanges *narrowed) const {
  AmountRange total{0, 0};
  for (const auto &[monomial, coefficient] : a.terms()) {
    const AmountRange term = scaled(monomial_range(monomial, narrowed), coefficient);
    total.low =
        total.low && term.low ? std::optional<Rational>(*total.low + *term.low) : std::nullopt;
    total.high =
        total.high && term.high ? std::optional<Rational>(*total.high + *term.high) : std::nullopt;
  }
  return total;
}

bool AmountPool::is_whole_valued(const Amount &a) const {
  return is_whole(a) && std::all_of(a.terms().begin(), a.terms().end(), [&](const auto &term) {
           return std::all_of(term.first.begin(), term.first.end(), [&](AtomId part) {
             return atoms_[part].kind != Kind::positive_part || is_whole_valued(atoms_[part].a);
           });
         });
}

// Of a multiple of a quotient floor(x / d) that stands beside x, or beside floor(x / p) where p
// divides d: what is left of the amount if the remainder that both make is as small as it can be.
std::optional<Amount> AmountPool::without_remainder(const Amount &a, AtomId quotient,
                                                    const Rational &coefficient) const {
  const Atom &known = atoms_[quotient];
  const auto whole_divisor = known.b.number();
  if (known.kind != Kind::floor_div || !whole_divisor || !whole_divisor->is_whole() ||
      !is_whole_valued(known.a) || known.a.terms().empty())
    return std::nullopt;
  const auto leave = [&](const Amount &x, const Rational &divisor) {
    const Rational times = -coefficient / divisor; // of x - divisor * quotient
    const Amount rest = a - (x - Amount::of(quotient) * Amount(divisor)) * Amount(times);
    return times > 0 ? rest : rest + Amount(Rational(times * (divisor - 1)));
  };
  if (a.terms().contains(known.a.terms().rbegin()->first))
    return leave(known.a, *whole_divisor);
  for (const auto &[monomial, factor] : a.terms()) {
    if (monomial.size() != 1 || atoms_[monomial[0]].kind != Kind::floor_div ||
        atoms_[monomial[0]].a != known.a || monomial[0] == quotient)
      continue;
    const auto divisor = atoms_[monomial[0]].b.number();
    if (divisor && divisor->is_whole() && *divisor > 0 && (*whole_divisor / *divisor).is_whole())
      return leave(Amount::of(monomial[0]), *whole_divisor / *divisor);
  }
  return std::nullopt;
}

// What is never more than an amount: remainders at their least, max(0, x) as 0 or as x. Of several
// ways the one that says most.
std::optional<Rational> AmountPool::least(const Amount &a, const AmountRanges *narrowed,
                                          unsigned depth) const {
  std::optional<Rational> result = range(a, narrowed).low;
  const auto try_instead = [&](const Amount &less) {
    if (result && *result >= 0)
      return;
    const auto low = least(less, narrowed, depth - 1);
    if (low && (!result || *low > *result))
      result = low;
  };
  if (depth == 0)
    return result;
  unsigned tried = 0;
  for (const auto &[monomial, coefficient] : a.terms()) {
    if (tried == least_breadth || (result && *result >= 0))
      break;
    if (monomial.size() != 1)
      continue;
    const Atom &known = atoms_[monomial[0]];
    const auto less = without_remainder(a, monomial[0], coefficient);
    if (less)
      try_instead(*less);
    tried += less || known.kind == Kind::positive_part;
    if (known.kind != Kind::positive_part)
      continue;
    const Amount at_zero = a - Amount::of(monomial[0]) * Amount(coefficient);
    const Amount at_inner = at_zero + known.a * Amount(coefficient);
    if (coefficient > 0) {
      try_instead(at_zero);
      try_instead(at_inner);
    } else if (!result || *result < 0) { // the smaller of both
      const auto zero = least(at_zero, narrowed, depth - 1);
      const auto inner = zero ? least(at_inner, narrowed, depth - 1) : std::nullopt;
      if (inner && (!result || std::min(*zero, *inner) > *result))
        result = std::min(*zero, *inner);
    }
  }
  return result;
}

std::optional<Amount> AmountPool::without_remainders(const Amount &a) const {
  for (const auto &[monomial, coefficient] : a.terms())
    if (monomial.size() == 1)
      if (const auto less = without_remainder(a, monomial[0], coefficient))
        return without_remainders(*less).value_or(*less);
  return std::nullopt;
}

bool AmountPool::never_negative(const Amount &a, const AmountRanges *narrowed) const {
  if (narrowed) {
    const auto low = least(a, narrowed, least_depth);
    return low && *low >= 0;
  }
  const auto found = never_negative_.find(a);
  if (found != never_negative_.end())
    return found->second;
  const auto low = least(a, nullptr, least_depth);
  return never_negative_[a] = low && *low >= 0;
}

bool AmountPool::mentions(const Amount &a, AtomId variable) const {
  for (const auto &[monomial, coefficient] : a.terms())
    for (const AtomId part : monomial)
      if (part == variable ||
          (atoms_[part].kind != Kind::variable &&
           (mentions(atoms_[part].a, variable) || mentions(atoms_[part].b, variable))))
        return true;
  return false;
}

std::vector<AtomId> AmountPool::variables(const Amount &a) const {
  std::vector<AtomId> result;
  for (const auto &[monomial, coefficient] : a.terms())
    for (const AtomId part : monomial) {
      if (atoms_[part].kind == Kind::variable) {
        result.push_back(part);
        continue;
      }
      for (const Amount *inner : {&atoms_[part].a, &atoms_[part].b}) {
        const std::vector<AtomId> more = variables(*inner);
        result.insert(result.end(), more.begin(), more.end());
      }
    }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

Amount AmountPool::substitute(const Amount &a, AtomId variable, const Amount &value) {
  if (!mentions(a, variable))
    return a;
  Amount result;
  for (const auto &[monomial, coefficient] : a.terms()) {
    Amount product(coefficient);
    for (const AtomId part : monomial) {
      const Atom known = atoms_[part]; // the pool grows below
      if (part == variable) {
        product = product * value;
      } else if (known.kind == Kind::variable) {
        product = product * Amount::of(part);
      } else {
        const Amount first = substitute(known.a, variable, value);
        const Amount second = substitute(known.b, variable, value);
        product = product * (known.kind == Kind::positive_part ? positive_part(first)
                             : known.kind == Kind::ceil_log2   ? ceil_log2(first)
                                                               : divide(known.kind, first, second));
      }
    }
    result += product;
  }
  return result;
}

Amount AmountPool::simplify(const Amount &a, const AmountRanges &ranges) {
  Amount result;
  for (const auto &[monomial, coefficient] : a.terms()) {
    Amount product(coefficient);
    for (const AtomId part : monomial) {
      const Atom known = atoms_[part];
      Amount factor = Amount::of(part);
      if (known.kind == Kind::positive_part) {
        const Amount inner = simplify(known.a, ranges);
        factor = never_negative(inner, &ranges) ? inner : positive_part(inner);
      }
      product = product * factor;
    }
    result += product;
  }
  return result;
}

std::optional<int> AmountPool::atom_direction(AtomId atom, AtomId variable) const {
  if (atom == variable)
    return 1;
  const Atom &known = atoms_[atom];
  if (known.kind == Kind::variable)
    return 0;
  const auto first = direction(known.a, variable), second = direction(known.b, variable);
  if (!first || !second)
    return std::nullopt;
  if (*second == 0)
    return first;
  if (*first == 0 && never_negative(known.a))
    return -*second;
  return std::nullopt;
}

std::optional<int> AmountPool::direction(const Amount &a, AtomId variable) const {
  int total = 0;
  for (const auto &[monomial, coefficient] : a.terms()) {
    int product = 0;
    for (const AtomId part : monomial) {
      const auto one = atom_direction(part, variable);
      if (!one || (*one != 0 && product != 0 && *one != product))
        return std::nullopt;
      if (*one != 0)
        product = *one;
    }
    if (product == 0)
      continue;
    // No other factor may reverse it.
    if (monomial.size() > 1 && !std::all_of(monomial.begin(), monomial.end(), [&](AtomId part) {
          return never_negative(Amount::of(part));
        }))
      return std::nullopt;
    if (coefficient < 0)
      product = -product;
    if (total != 0 && total != product)
      return std::nullopt;
    total = product;
  }
  return total;
}

namespace {

/// The power of a variable in a monomial.
std::size_t power_of(const Amount::Monomial &monomial, AtomId variable) {
  return static_cast<std::size_t>(std::count(monomial.begin(), monomial.end(), variable));
}

} // namespace

std::optional<AmountPool::End> AmountPool::least_end(const Amount &a, AtomId variable) const {
  if (const auto way = direction(a, variable))
    return *way < 0 ? End::high : End::low;
  // Of the first degree, nowhere inside: a line.
  for (const auto &[monomial, coefficient] : a.terms())
    for (const AtomId part : monomial)
      if (power_of(monomial, variable) > 1 ||
          (part != variable && atom_direction(part, variable) != std::optional(0)))
        return std::nullopt;
  return End::either;
}

std::optional<Amount> AmountPool::largest(const Amount &a, AtomId variable, const Amount &low,
                                          const Amount &high) {
  const auto least = least_end(a, variable);
  if (!least)
    return std::nullopt;
  const Amount at_low = substitute(a, variable, low);
  if (*least == End::high)
    return at_low;
  const Amount at_high = substitute(a, variable, high);
  return *least == End::low ? at_high : maximum(at_low, at_high);
}

std::optional<Amount> AmountPool::smallest(const Amount &a, AtomId variable, const Amount &low,
                                           const Amount &high) {
  const auto result = largest(a * Amount(-1), variable, low, high);
  return result ? std::optional(*result * Amount(-1)) : std::nullopt;
}

std::optional<Amount> AmountPool::sum(const Amount &a, AtomId variable, const Amount &count,
                                      const Amount &last, bool &exact) {
  if (!mentions(a, variable))
    return a * count;
  // max(0, x) is x where x is not negative for any value of the variable.
  Amount plain;
  for (const auto &[monomial, coefficient] : a.terms()) {
    Amount product(coefficient);
    for (const AtomId part : monomial) {
      Amount factor = Amount::of(part);
      const Atom known = atoms_[part];
      if (known.kind == Kind::positive_part && mentions(known.a, variable)) {
        const auto least = smallest(known.a, variable, {}, last);
        if (least && never_negative(*least))
          factor = known.a;
      }
      product = product * factor;
    }
    plain += product;
  }
  // Faulhaber's formulas.
  const Amount &n = count, m = count - 1;
  const Amount powers[] = {n, n * m * Amount(Rational(1, 2)),
                           n * m * (n + m) * Amount(Rational(1, 6)),
                           n * n * m * m * Amount(Rational(1, 4))};
  Amount result;
  for (const auto &[monomial, coefficient] : plain.terms()) {
    const std::size_t power = power_of(monomial, variable);
    Amount rest(coefficient);
    bool inside = power > power_budget;
    for (const AtomId part : monomial)
      if (part != variable) {
        rest = rest * Amount::of(part);
        inside = inside || atom_direction(part, variable) != std::optional(0);
      }
    if (inside) { // as often as there are, the largest
      exact = false;
      const auto most = largest(a, variable, {}, last);
      return most ? std::optional(positive_part(*most) * count) : std::nullopt;
    }
    result += rest * powers[power];
  }
  return result;
}

std::string AmountPool::atom_text(AtomId atom, const Naming &name_of) const {
  const Atom &known = atoms_[atom];
  const auto grouped = [&](const Amount &a) {
    const std::string text = to_string(a, name_of);
    return a.terms().size() > 1 || text.find_first_of("*/ ") != std::string::npos ? "(" + text + ")"
                                                                                  : text;
  };
  switch (known.kind) {
  case Kind::variable:
    return name_of ? name_of(known.name) : known.name;
  case Kind::positive_part:
    return fmt::format("max(0, {})", to_string(known.a, name_of));
  case Kind::ceil_div:
    return fmt::format("ceil({}/{})", grouped(known.a), grouped(known.b));
  case Kind::floor_div:
    return fmt::format("floor({}/{})", grouped(known.a), grouped(known.b));
  case Kind::ceil_log2:
    return fmt::format("ceil(log2({}))", to_string(known.a, name_of));
  }
  return "";
}

// The highest degree first.
std::string AmountPool::to_string(const Amount &a, const Naming &name_of) const {
  if (a.is_zero())
    return "0";
  std::vector<std::pair<Amount::Monomial, Rational>> terms(a.terms().begin(), a.terms().end());
  std::stable_sort(terms.begin(), terms.end(),
                   [](const auto &x, const auto &y) { return x.first.size() > y.first.size(); });
  // A sum that begins with a minus reads badly.
  const auto positive =
      std::find_if(terms.begin(), terms.end(), [](const auto &term) { return term.second > 0; });
  if (positive != terms.end())
    std::rotate(terms.begin(), positive, positive + 1);
  std::string text;
  for (const auto &[monomial, coefficient] : terms) {
    const bool minus = coefficient < 0;
    text += text.empty() ? (minus ? "-" : "") : minus ? " - " : " + ";
    const Rational size = minus ? Rational(-coefficient) : coefficient;
    std::string product = size == 1 && !monomial.empty() ? "" : size.str();
    for (const AtomId part : monomial)
      product += (product.empty() ? "" : "*") + atom_text(part, name_of);
    text += product;
  }
  return text;
}

std::optional<Rational> AmountPool::evaluate(
    const Amount &a,
    const std::function<std::optional<Rational>(const std::string &)> &value) const {
  Rational total = 0;
  for (const auto &[monomial, coefficient] : a.terms()) {
    Rational product = coefficient;
    for (const AtomId part : monomial) {
      const Atom &known = atoms_[part];
      if (known.kind == Kind::variable) {
        const auto number = value(known.name);
        if (!number)
          return std::nullopt;
        product *= *number;
        continue;
      }
      const auto first = evaluate(known.a, value), second = evaluate(known.b, value);
      if (!first || !second)
        return std::nullopt;
      if (known.kind == Kind::positive_part)
        product *= *first > 0 ? *first : Rational(0);
      else if (known.kind == Kind::ceil_log2)
        product *= Rational(log2_of(*first));
      else if (*second <= 0)
        return std::nullopt;
      else
        product *= Rational(known.kind == Kind::ceil_div ? ceil_of(*first / *second)
                                                         : floor_of(*first / *second));
    }
    total += product;
  }
  return total;
}

} // namespace ptxasw::facts
