// An access of rows `pitch` numbers apart, one number off the beginning of a row: if 8 divides the
// pitch, every row begins 4 bytes behind a sector; if not, some rows do. Whatever the pitch, there
// are warps that touch a sector too many. To see that, the part of an address that all lanes share
// is read as a polynomial modulo 128 over the symbols in it: extensions and wrap-arounds do not
// change low bits. Of each symbol only its low bits matter, so that all cases can be tried: for all
// values of what is fixed for a launch the worst of some values of what counts up within one. A
// value of a fixed number that would make an access fault costs nothing here, so that it is never
// the reason for a claim.

#include "emulator/facts/beginnings.h"

#include "emulator/facts/polynomial.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

namespace ptxasw::facts {
namespace {

constexpr unsigned low_bits = 7; ///< of an address that matter
constexpr std::uint64_t modulus = std::uint64_t{1} << low_bits;
constexpr std::size_t terms_budget = 64; ///< of a polynomial
constexpr std::size_t evaluations_budget = 10'000;

/// Modulo 128: only low bits count.
Polynomial low(const Polynomial &polynomial) { return low_bits_of(polynomial, low_bits); }
Polynomial low(std::uint64_t number) { return low(Polynomial(static_cast<std::int64_t>(number))); }

/// Reads expressions as polynomials.
class Reader {
public:
  Reader(const UnknownNumbers &numbers) : numbers_(numbers) {}

  // Nothing if low bits of the expression depend on more than low bits of symbols.
  std::optional<Polynomial> operator()(Expr e) {
    switch (e->kind) {
    case ExprKind::constant:
      return low(e->value.low);
    case ExprKind::zext:
    case ExprKind::sext:
      return narrow(e->children[0]) ? std::nullopt : (*this)(e->children[0]);
    case ExprKind::extract:
      return e->index != 0 || narrow(e) ? std::nullopt : (*this)(e->children[0]);
    case ExprKind::sum: {
      if (narrow(e))
        return std::nullopt;
      Polynomial result = low(e->value.low);
      for (std::uint32_t i = 0; i < e->child_count; ++i) {
        const auto part = (*this)(e->children[i]);
        if (!part)
          return std::nullopt;
        result = low(result + *part * low(e->coefficients[i]));
      }
      return result;
    }
    case ExprKind::product:
      return narrow(e) ? std::nullopt : product(e);
    case ExprKind::symbol:
      return numbers_.fixed(e) || numbers_.counts_up(e) ? std::optional(variable(e)) : std::nullopt;
    default:
      return std::nullopt;
    }
  }

  const std::vector<Expr> &symbols() const { return symbols_; }

private:
  static bool narrow(Expr e) { return e->width < low_bits; }

  Polynomial variable(Expr symbol) {
    auto found = std::find(symbols_.begin(), symbols_.end(), symbol);
    if (found == symbols_.end())
      found = symbols_.insert(found, symbol);
    return Polynomial::of(static_cast<AtomId>(found - symbols_.begin()));
  }

  std::optional<Polynomial> product(Expr e) {
    Polynomial result(1);
    for (const Expr child : e->operands()) {
      const auto part = (*this)(child);
      if (!part || part->terms().size() * result.terms().size() > terms_budget)
        return std::nullopt;
      result = low(result * *part);
    }
    return result;
  }

  const UnknownNumbers &numbers_;
  std::vector<Expr> symbols_; ///< by number
};

/// Lanes with known distances, as traffic_of() groups them.
struct Rows {
  std::vector<std::uint64_t> strides; ///< the lane's factor of each stride
  std::vector<std::int64_t> offsets;  ///< bytes
};

class Search {
public:
  Search(LaneValues &lanes, const TrafficQuery &query, std::int64_t unit,
         const UnknownNumbers &numbers)
      : query_(query), unit_(unit), numbers_(numbers), reader_(numbers) {
    read_polynomials();
    if (readable_)
      find_rows(lanes);
  }

  std::uint32_t run(std::uint32_t enough) {
    if (!readable_ || warps_.empty())
      return enough;
    sort_symbols();
    std::uint32_t least = ~0u;
    std::size_t evaluations = 0;
    do {
      std::uint32_t worst = 0;
      for (const std::vector<std::uint64_t> &sample : samples_) {
        for (std::size_t i = 0; i < counting_.size(); ++i)
          values_[counting_[i]] = sample[i];
        for (const std::vector<Rows> &warp : warps_)
          worst = std::max(worst, cost(warp));
        evaluations += warps_.size();
      }
      least = std::min(least, worst);
      if (least <= enough || evaluations > evaluations_budget)
        return enough;
    } while (next_fixed());
    return least;
  }

private:
  void read_polynomials() {
    const AddressForm &form = *query_.form;
    for (const auto *terms : {&form.uniform, &form.loops})
      for (const Term &term : *terms)
        if (const auto part = reader_(term.atom))
          shared_ = low(shared_ + *part * Polynomial(term.factor));
        else
          readable_ = false;
    for (const StrideTerm &stride : form.strides)
      if (const auto by = reader_(stride.by)) {
        strides_.push_back(low(*by * Polynomial(stride.factor)));
      } else {
        readable_ = false;
      }
    readable_ = readable_ && form.is_linear();
  }

  void find_rows(LaneValues &lanes) {
    const AddressForm &form = *query_.form;
    const std::vector<std::int64_t> offsets = lane_offsets(lanes, form);
    std::vector<const std::vector<std::uint64_t> *> factors;
    for (const StrideTerm &stride : form.strides)
      factors.push_back(lanes(stride.lane));
    for (const WarpThreads &warp : lanes.layout().warps) {
      std::map<std::vector<std::uint64_t>, std::vector<std::int64_t>> rows;
      for (std::uint32_t t = warp.first; t < warp.first + warp.count; ++t) {
        if (query_.active && !(*query_.active)[t])
          continue;
        std::vector<std::uint64_t> key(factors.size());
        std::transform(factors.begin(), factors.end(), key.begin(),
                       [&](const auto *values) { return (*values)[t]; });
        rows[std::move(key)].push_back(offsets[t]);
      }
      std::vector<Rows> all;
      all.reserve(rows.size());
      for (auto &[key, members] : rows)
        all.push_back({key, std::move(members)});
      if (!all.empty())
        warps_.push_back(std::move(all));
    }
  }

  // Which low bits of each symbol matter; values of those that count up that are tried.
  void sort_symbols() {
    const auto &symbols = reader_.symbols();
    std::vector<unsigned> needed(symbols.size(), 0);
    std::vector<bool> alone(symbols.size(), false);
    const auto look = [&](const Polynomial &polynomial) {
      for (const auto &[product, coefficient] : polynomial.terms())
        for (const unsigned symbol : product) {
          needed[symbol] = std::max(
              needed[symbol], low_bits - static_cast<unsigned>(std::countr_zero(coefficient)));
          alone[symbol] = alone[symbol] || (product.size() == 1 && &polynomial == &shared_);
        }
    };
    look(shared_);
    for (const Polynomial &stride : strides_)
      look(stride);
    values_.assign(symbols.size(), 0);
    for (unsigned i = 0; i < symbols.size(); ++i)
      if (needed[i] == 0)
        continue;
      else if (numbers_.counts_up(symbols[i]))
        counting_.push_back(i);
      else
        fixed_.push_back({i, std::uint64_t{1} << std::min(numbers_.zeros(symbols[i]), needed[i]),
                          std::uint64_t{1} << needed[i]});
    // What is only added comes first: with it most cases can be excluded at once.
    std::stable_sort(fixed_.begin(), fixed_.end(), [&](const Fixed &a, const Fixed &b) {
      return alone[a.symbol] > alone[b.symbol];
    });
    find_samples();
  }

  void find_samples() {
    const std::size_t n = counting_.size();
    std::vector<std::vector<std::uint64_t>> wanted{std::vector<std::uint64_t>(n, 0)};
    for (const std::uint64_t value : {1, 2, 3}) {
      for (std::size_t i = 0; i < n && n > 1; ++i) {
        wanted.emplace_back(n, 0);
        wanted.back()[i] = value;
      }
      wanted.emplace_back(n, value);
    }
    for (std::vector<std::uint64_t> &sample : wanted) {
      std::vector<std::pair<Expr, std::uint64_t>> told;
      for (std::size_t i = 0; i < n; ++i) {
        const Expr symbol = reader_.symbols()[counting_[i]];
        sample[i] = std::min(sample[i], numbers_.most(symbol));
        told.emplace_back(symbol, sample[i]);
      }
      if (std::find(samples_.begin(), samples_.end(), sample) == samples_.end() &&
          numbers_.possible(told))
        samples_.push_back(sample);
    }
  }

  // The next case of the fixed numbers; false if there is none.
  bool next_fixed() {
    for (const Fixed &fixed : fixed_) {
      values_[fixed.symbol] += fixed.step;
      if (values_[fixed.symbol] < fixed.end)
        return true;
      values_[fixed.symbol] = 0;
    }
    return false;
  }

  std::uint64_t value(const Polynomial &polynomial) const {
    return polynomial.worth<std::uint64_t>([&](AtomId symbol) { return values_[symbol]; }) %
           modulus;
  }

  // 0 if a lane would not be naturally aligned.
  std::uint32_t cost(const std::vector<Rows> &warp) {
    std::vector<std::uint64_t> strides;
    for (const Polynomial &stride : strides_)
      strides.push_back(value(stride));
    const std::uint64_t shared = value(shared_);
    std::uint32_t total = 0;
    for (const Rows &rows : warp) {
      std::uint64_t start = shared;
      for (std::size_t i = 0; i < strides.size(); ++i)
        start += strides[i] * rows.strides[i];
      const std::uint32_t here = units_at(rows, start % modulus);
      if (here == 0)
        return 0;
      total += here;
    }
    return total;
  }

  std::uint32_t units_at(const Rows &rows, std::uint64_t start) {
    auto &known = units_[&rows];
    if (known.empty())
      known.assign(modulus, ~0u);
    if (known[start] != ~0u)
      return known[start];
    const std::int64_t natural = std::bit_floor(query_.bytes);
    std::vector<std::int64_t> touched;
    for (const std::int64_t offset : rows.offsets) {
      const std::int64_t first = offset + static_cast<std::int64_t>(start);
      if (first % natural != 0)
        return known[start] = 0;
      for (std::int64_t at = first & -unit_; at < first + query_.bytes; at += unit_)
        touched.push_back(at);
    }
    std::sort(touched.begin(), touched.end());
    const auto end = std::unique(touched.begin(), touched.end());
    return known[start] = static_cast<std::uint32_t>(end - touched.begin());
  }

  /// A symbol that is one number for a launch, and which residues of it are tried.
  struct Fixed {
    unsigned symbol = 0;
    std::uint64_t step = 1, end = 1;
  };

  const TrafficQuery &query_;
  const std::int64_t unit_;
  const UnknownNumbers &numbers_;
  Reader reader_;
  bool readable_ = true;
  Polynomial shared_;
  std::vector<Polynomial> strides_;
  std::vector<std::vector<Rows>> warps_;
  std::vector<Fixed> fixed_;
  std::vector<unsigned> counting_;
  std::vector<std::vector<std::uint64_t>> samples_;          ///< of those in `counting_`
  std::vector<std::uint64_t> values_;                        ///< by symbol
  std::map<const Rows *, std::vector<std::uint32_t>> units_; ///< by beginning
};

} // namespace

std::uint32_t certain_units(LaneValues &lanes, const TrafficQuery &query, std::int64_t unit,
                            const UnknownNumbers &numbers, std::uint32_t enough) {
  return Search(lanes, query, unit, numbers).run(enough);
}

} // namespace ptxasw::facts
