// Times of launches have long tails: a clock that went up, another stream, a page that had to be
// moved. A plain mean follows such outliers, and a median has no simple interval. Trimmed means
// have: the variance of a trimmed mean follows from the winsorised samples, those where what was
// cut off is replaced by the nearest value that stayed.

#include "wrapper/launch/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

namespace ptxasw::wrapper::launch {
namespace {

constexpr double share_cut = 0.2;
constexpr std::size_t least_samples = 4;

struct Trimmed {
  double mean = 0;
  double variance = 0; ///< of the mean
  double degrees = 1;
};

std::size_t cut_of(std::size_t samples) {
  return static_cast<std::size_t>(share_cut * static_cast<double>(samples));
}

/// `samples` in ascending order.
double middle_mean(const std::vector<double> &samples) {
  const std::size_t cut = cut_of(samples.size());
  double sum = 0;
  for (std::size_t i = cut; i < samples.size() - cut; ++i)
    sum += samples[i];
  return sum / static_cast<double>(samples.size() - 2 * cut);
}

Trimmed trim(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t cut = cut_of(samples.size());
  const double kept = static_cast<double>(samples.size() - 2 * cut);
  Trimmed result{middle_mean(samples), 0, kept - 1};
  double mean = 0, squares = 0;
  for (double &sample : samples) {
    sample = std::clamp(sample, samples[cut], samples[samples.size() - 1 - cut]);
    mean += sample / static_cast<double>(samples.size());
  }
  for (const double sample : samples)
    squares += (sample - mean) * (sample - mean);
  result.variance = squares / (kept * (kept - 1));
  return result;
}

std::vector<double> logarithms(const std::vector<double> &times) {
  std::vector<double> result;
  result.reserve(times.size());
  for (const double time : times)
    result.push_back(std::log(std::max(time, 1e-9)));
  return result;
}

} // namespace

double trimmed_mean(std::vector<double> samples) {
  if (samples.empty())
    return 0;
  std::sort(samples.begin(), samples.end());
  return middle_mean(samples);
}

void SlowerInSum::add(double longer) {
  sum_ += longer;
  squares_ += longer * longer;
  if (sum_ <= 0)
    sum_ = squares_ = 0;
}

double SlowerInSum::certainty() const { return squares_ > 0 ? sum_ / std::sqrt(squares_) : 0; }

bool by_chance(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15u;
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9u;
  number = (number ^ number >> 27) * 0x94d049bb133111ebu;
  return (number ^ number >> 31) >> 63 != 0;
}

void TimesByNumbers::add(std::uint64_t bits, double time) {
  constexpr std::size_t most = 64;
  if (all_.size() >= most)
    all_.erase(all_.begin());
  all_.emplace_back(bits, time);
}

std::uint64_t TimesByNumbers::depend_on() const {
  constexpr double apart = 1.25;
  constexpr std::size_t enough = 3;
  struct Times {
    std::size_t count = 0;
    double least = 0, most = 0;
  };
  std::uint64_t result = 0;
  for (unsigned number = 0; number < 8; ++number) {
    std::map<unsigned, Times> by_bits;
    for (const auto &[bits, time] : all_) {
      Times &one = by_bits[bits >> (8 * number) & 0xff];
      one.least = one.count == 0 ? time : std::min(one.least, time);
      one.most = std::max(one.most, time);
      ++one.count;
    }
    for (const auto &[of_one, one] : by_bits)
      for (const auto &[of_other, other] : by_bits)
        if (one.count >= enough && other.count >= enough && one.most * apart < other.least)
          result |= std::uint64_t{0xff} << (8 * number);
  }
  return result;
}

double student_t(double degrees) {
  // Exact for one and two degrees; from three on the expansion of Cornish and Fisher around the
  // normal point is right to 1 %, and never below the true value by more than that.
  if (degrees < 1.5)
    return 12.706;
  if (degrees < 2.5)
    return 4.303;
  const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * degrees) + (5 * z5 + 16 * z3 + 3 * z) / (96 * degrees * degrees) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * degrees * degrees * degrees);
}

Comparison compare(const std::vector<double> &first, const std::vector<double> &second,
                   double clock) {
  if (first.empty() || second.empty())
    return {};
  const Trimmed a = trim(logarithms(first)), b = trim(logarithms(second));
  Comparison result;
  result.ratio = std::exp(b.mean - a.mean);
  if (first.size() < least_samples || second.size() < least_samples)
    return result;
  const double variance = a.variance + b.variance;
  double reach = 0;
  if (variance > 0) {
    // Welch's degrees of freedom.
    const double degrees =
        variance * variance /
        (a.variance * a.variance / a.degrees + b.variance * b.variance / b.degrees);
    reach = student_t(std::max(1.0, degrees)) * std::sqrt(variance);
  }
  result.low = std::exp(b.mean - a.mean - reach);
  result.high = std::exp(b.mean - a.mean + reach);
  result.most = result.high + clock / std::exp(a.mean);
  return result;
}

} // namespace ptxasw::wrapper::launch
