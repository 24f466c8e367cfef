#include "wrapper/launch/statistics.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>

using namespace ptxasw::launch;

TEST_CASE("the points of Student's t are those of the tables") {
  const std::pair<double, double> points[] = {{1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},
                                              {5, 2.571},  {10, 2.228}, {30, 2.042}, {1000, 1.962}};
  for (const auto &[degrees, point] : points)
    CHECK(student_t(degrees) == doctest::Approx(point).epsilon(0.01));
}

TEST_CASE("a trimmed mean cuts a fifth off each end") {
  CHECK(trimmed_mean({}) == 0);
  CHECK(trimmed_mean({3}) == 3);
  CHECK(trimmed_mean({1000, 1, 2, 3, -50}) == doctest::Approx(2));
}

TEST_CASE("few samples bound nothing") {
  const Comparison found = compare({1, 1, 1}, {0.5, 0.5, 0.5, 0.5});
  CHECK(found.ratio == doctest::Approx(0.5));
  CHECK(found.low == 0);
  CHECK(found.high > 1e6);
  CHECK(compare({}, {1}).high > 1e6);
}

TEST_CASE("one launch that waited does not hide a difference") {
  std::vector<double> first(12, 1.0), second(12, 0.8);
  second[3] = 500;
  for (std::size_t i = 0; i < 12; ++i) {
    first[i] += 0.001 * static_cast<double>(i);
    second[i] += 0.001 * static_cast<double>(i);
  }
  const Comparison found = compare(first, second);
  CHECK(found.high < 0.85);
  CHECK(found.low > 0.75);
}

TEST_CASE("an interval of 95 % holds the truth in 95 of 100 cases") {
  std::mt19937 random(7);
  std::lognormal_distribution<double> time(0, 0.1);
  int inside = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> first(10), second(10);
    std::generate(first.begin(), first.end(), [&] { return time(random); });
    std::generate(second.begin(), second.end(), [&] { return 0.9 * time(random); });
    const Comparison found = compare(first, second);
    inside += found.low <= 0.9 && 0.9 <= found.high;
  }
  CHECK(inside > 2000 * 0.93);
  CHECK(inside < 2000 * 0.98);
}
