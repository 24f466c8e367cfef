#include "wrapper/launch/statistics.h"

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <random>

using namespace ptxasw::wrapper::launch;

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

TEST_CASE("the interval holds the truth also where the clock is wrong by as much as it may be") {
  const Comparison exact = compare(std::vector<double>(9, 20.0), std::vector<double>(9, 19.4), 0.5);
  CHECK(exact.high == doctest::Approx(0.97));
  CHECK(exact.most == doctest::Approx(0.995));
  CHECK(compare({20, 20, 20, 20}, {19, 19, 19, 19}).most == doctest::Approx(0.95));
  CHECK(compare({20, 20, 20}, {10, 10, 10}, 0.5).most > 1e6);
  // The second looks shorter by the clock's error than it is.
  std::mt19937 random(9);
  std::lognormal_distribution<double> noise(0, 0.02);
  int inside = 0, without = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> first(10), second(10);
    std::generate(first.begin(), first.end(), [&] { return 20 * noise(random); });
    std::generate(second.begin(), second.end(), [&] { return 20 * noise(random) - 0.5; });
    const Comparison found = compare(first, second, 0.5);
    inside += 1 <= found.most;
    without += 1 <= found.high;
  }
  CHECK(inside > 2000 * 0.96); // one side of 95 %
  CHECK(without < 2000 * 0.5);
}

TEST_CASE("what is slower in sum is found, however times vary, and what is faster is not") {
  // Neighbouring launches of which the size is twice, or half, that of others, by chance.
  std::mt19937 random(1);
  std::uniform_int_distribution<int> size(0, 2);
  std::normal_distribution<double> noise(1, 0.01);
  const auto pairs_until = [&](double version, int most) {
    SlowerInSum known;
    for (int pairs = 1; pairs <= most; ++pairs) {
      known.add(version * (1 << size(random)) * noise(random) -
                (1 << size(random)) * noise(random));
      if (known.certainty() > 4)
        return pairs;
    }
    return most + 1;
  };
  constexpr int runs = 60, most = 2000;
  int thrown_out = 0, found = 0;
  for (int run = 0; run < runs; ++run) {
    thrown_out += pairs_until(0.9, most) <= most;
    found += pairs_until(2, 100) <= 100;
  }
  CHECK(thrown_out <= 1);
  CHECK(found == runs);
  // One launch that waited for something else is no reason.
  SlowerInSum one;
  for (int i = 0; i < 100; ++i)
    one.add(i == 50 ? 1000 : -1);
  CHECK(one.certainty() < 1.1);
  // Times that do not vary say it soon, also after a long time in which all was well.
  SlowerInSum same;
  for (int i = 0; i < 1000; ++i)
    same.add(-1);
  for (int i = 0; i < 17; ++i)
    same.add(0.1);
  CHECK(same.certainty() > 4);
}

TEST_CASE("what is by chance follows nothing that the program does in turns") {
  // Of pairs at the distances at which they come, every first, second, third or fourth: as many of
  // the one kind as of the other, within four standard deviations.
  constexpr int pairs = 4096, root = 64;
  for (const std::uint64_t distance : {1, 2, 17, 127, 401, 2003})
    for (const std::uint64_t every : {1, 2, 3, 4}) {
      int sum = 0;
      for (std::uint64_t pair = 0; pair < pairs; ++pair)
        sum += by_chance(distance * every * pair) ? 1 : -1;
      CHECK(std::abs(sum) < 4 * root);
    }
  // Nor does it keep step with launches of which every second one is longer, for long: 24 times in
  // a row is one chance in 4,000 for all pairs.
  for (const std::uint64_t distance : {17, 127, 401, 2003})
    for (const std::uint64_t turns : {1, 2}) {
      int in_step = 0, longest = 0;
      bool before = false;
      for (std::uint64_t pair = 0; pair < pairs; ++pair) {
        const bool now = by_chance(distance * pair) != (pair % turns != 0);
        in_step = now == before ? in_step + 1 : 1;
        longest = std::max(longest, in_step);
        before = now;
      }
      CHECK(longest < 24);
    }
}

TEST_CASE("numbers on which times depend are those whose sizes part the times") {
  TimesByNumbers known;
  const auto bits = [](unsigned first, unsigned second) {
    return std::uint64_t{first} | std::uint64_t{second} << 8;
  };
  for (unsigned i = 0; i < 3; ++i) {
    CHECK(known.depend_on() == 0);
    known.add(bits(10, 5 + i), 1 + 0.01 * i);
    known.add(bits(12, 5 + i), 1.3 + 0.01 * i);
  }
  CHECK(known.depend_on() == 0xff);
  // One that took no longer than those of the other size, and times that overlap say nothing.
  known.add(bits(12, 5), 1.02);
  CHECK(known.depend_on() == 0);
  TimesByNumbers second;
  for (unsigned i = 0; i < 100; ++i)
    second.add(bits(7, 20 + i % 2), i % 2 ? 3 : 1);
  CHECK(second.depend_on() == 0xff00);
}
