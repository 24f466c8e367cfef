// By trial: first every parameter has the same number, small ones first, in a launch of one block
// and for its first thread; then all are drawn. Bounds of kernels hold from small sizes on, or up
// to the width of a register, so that few trials do. Not to find a witness only loses a bound.

#include "analysis/witness_search.h"

#include <algorithm>
#include <array>

namespace ptxasw::analysis {
namespace {

using facts::Amount;
using facts::Rational;

constexpr unsigned drawn_attempts = 600;

/// For parameters. The negative ones stand for large numbers without a sign, too.
constexpr std::array<std::int64_t, 38> usual_numbers{
    1,  2,   3,   4,    5,    7,    8,     9,       16,         17, 31,  32,   33,
    64, 100, 127, 128,  255,  256,  257,   1000,    1024,       0,  -1,  -2,   -3,
    -4, -5,  -32, -100, 4096, 4097, 65535, 1000000, 2147483647, 6,  -33, -1000};

} // namespace

WitnessSearch::WitnessSearch(const facts::AmountPool &amounts,
                             const std::vector<Amount> &conditions,
                             const std::vector<facts::Reading> &established)
    : amounts_(amounts), conditions_(conditions), established_(established) {
  for (const Amount &condition : conditions)
    take_variables(condition);
  for (const facts::Reading &reading : established) {
    take_variables(reading.value);
    for (const Amount &condition : reading.conditions)
      take_variables(condition);
  }
  std::sort(variables_.begin(), variables_.end());
  variables_.erase(std::unique(variables_.begin(), variables_.end()), variables_.end());
}

void WitnessSearch::take_variables(const Amount &amount) {
  for (const facts::AtomId variable : amounts_.variables(amount))
    variables_.push_back(variable);
}

bool WitnessSearch::found() {
  for (unsigned attempt = 0; attempt < usual_numbers.size() + drawn_attempts; ++attempt)
    if (draw(attempt) && holds())
      return true;
  return false;
}

// False if what was drawn is no launch.
bool WitnessSearch::draw(unsigned attempt) {
  for (const facts::AtomId variable : variables_) {
    const std::string &name = amounts_.name(variable);
    const facts::AmountRange range = amounts_.range(Amount::of(variable));
    const Rational number = pick(name, attempt);
    if ((range.low && number < *range.low) || (range.high && number > *range.high))
      return false;
    const auto extent = numbers_.find("n" + name); // of tid.x, ntid.x
    if (extent != numbers_.end() && number >= extent->second)
      return false;
    numbers_[name] = number;
  }
  return true;
}

Rational WitnessSearch::pick(const std::string &name, unsigned attempt) {
  static constexpr std::array<int, 4> lanes{0, 1, 5, 31}, rows{32, 64, 256, 1024},
      blocks{1, 2, 64, 1000};
  const bool drawn = attempt >= usual_numbers.size();
  if (name.starts_with("ntid."))
    return name == "ntid.x" ? rows[drawn ? next(rows.size()) : 2] : 1;
  if (name.starts_with("nctaid."))
    return drawn ? blocks[next(blocks.size())] : 1;
  if (name.starts_with("tid.") || name.starts_with("ctaid.") || name == "laneid" ||
      name.starts_with("trip"))
    return drawn ? lanes[next(lanes.size())] : 0;
  return usual_numbers[drawn ? next(usual_numbers.size()) : attempt];
}

// A linear congruential generator: any will do that is the same everywhere.
unsigned WitnessSearch::next(unsigned below) {
  state_ = state_ * 6364136223846793005u + 1442695040888963407u;
  return static_cast<unsigned>(state_ >> 33) % below;
}

bool WitnessSearch::at_least_zero(const Amount &amount) const {
  const auto value = amounts_.evaluate(
      amount, [&](const std::string &name) { return std::optional<Rational>(numbers_.at(name)); });
  return value && *value >= 0;
}

bool WitnessSearch::holds() const {
  const auto keeps = [&](const Amount &amount) { return at_least_zero(amount); };
  return std::all_of(conditions_.begin(), conditions_.end(), keeps) &&
         std::all_of(established_.begin(), established_.end(), [&](const facts::Reading &reading) {
           return at_least_zero(reading.value) ||
                  !std::all_of(reading.conditions.begin(), reading.conditions.end(), keeps);
         });
}

} // namespace ptxasw::analysis
