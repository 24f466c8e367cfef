#pragma once

// The statistics by which versions are chosen and choices are watched: robust means, a test of
// whether one is faster, and one that may be looked at as often as one likes.

#include "grammar/namespaces.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace ptxasw::wrapper::launch {

/// What measuring says about two sets of times.
struct Comparison {
  double ratio = 1;    ///< the second's typical time by the first's
  double low = 0;      ///< the ratio lies between these
  double high = 1e300; ///< with a confidence of 95 %
  double most = 1e300; ///< the same as `high` if the clock is as wrong as it may be
};

/// The mean of what is left when a fifth is cut off at each end; 0 for no samples.
double trimmed_mean(std::vector<double> samples);

/// Compares two sets of positive times by trimmed means of their logarithms (Yuen's test: K. K.
/// Yuen, "The two-sample trimmed t for unequal population variances", Biometrika 61, 1974), which
/// a few launches that waited for something else do not disturb. Fewer than four samples on one
/// side bound nothing. `clock`: by how much a clock that ticks may say the difference of the two
/// typical times wrong, in the unit of the times: however many are taken, such an error stays, so
/// it is no part of their variance, and widens the interval as it is.
Comparison compare(const std::vector<double> &first, const std::vector<double> &second,
                   double clock = 0);

/// Whether one thing takes longer than another in sum, by pairs of times that are asked about as
/// long as one likes. Begins anew whenever the sums of the pairs so far are equal, so that how long
/// all was well does not matter.
class SlowerInSum {
public:
  /// By how much longer the one took than the other in a pair, in any unit.
  void add(double longer);
  /// The sum of these by the root of the sum of their squares; 0 if all is well. If both took
  /// equally long, and it is chance which one took longer, more than x is seen with a probability
  /// of exp(-x * x / 2) at most, whatever times there are (Hoeffding's bound for signs). It takes
  /// x * x pairs that agree.
  double certainty() const;

  /// What it has come to, for a later process to go on with: the sum, and the sum of the squares.
  std::array<double, 2> state() const { return {sum_, squares_}; }
  void resume(const std::array<double, 2> &state) { sum_ = state[0], squares_ = state[1]; }

private:
  double sum_ = 0, squares_ = 0;
};

/// True of half of all numbers, and of those at any distance from one another as if by chance
/// (splitmix64: G. L. Steele, D. Lea and C. H. Flood, OOPSLA 2014).
bool by_chance(std::uint64_t number);

/// Times, and how many bits each of eight numbers had with which they were measured, as by
/// bits_of(). Keeps the newest ones.
class TimesByNumbers {
public:
  void add(std::uint64_t bits, double time);
  /// The numbers on which times depend, 0xff in the byte of each: those of which two sizes have
  /// three times or more, and all of the one are a quarter longer than all of the other.
  std::uint64_t depend_on() const;

private:
  std::vector<std::pair<std::uint64_t, double>> all_;
};

/// The 97.5 % point of Student's t distribution, for at least one degree of freedom.
double student_t(double degrees);

} // namespace ptxasw::wrapper::launch
