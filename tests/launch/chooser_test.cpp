#include "wrapper/launch/chooser.h"
#include "wrapper/launch/measure.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>
#include <tuple>

using namespace ptxasw::wrapper::launch;

namespace {

/// Runs launches whose times are `times[version]` ms with some noise; the time that all took.
double run(Chooser &chooser, const std::vector<double> &times, int launches, unsigned seed = 1,
           double spread = 0.02) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> noise(0, spread);
  double total = 0;
  for (int i = 0; i < launches; ++i) {
    const Chooser::Turn turn = chooser.next();
    const double time = times[turn.version] * noise(random);
    total += time;
    if (turn.measure)
      chooser.record(turn.version, time);
  }
  return total;
}

/// Versions of which nothing but this is known, the original first.
std::vector<Prior> fears(std::initializer_list<double> shares) {
  std::vector<Prior> priors;
  for (const double share : shares)
    priors.push_back({share, 0});
  return priors;
}

ChoiceRules eager() {
  ChoiceRules rules;
  rules.eager = true;
  return rules;
}

} // namespace

TEST_CASE("the fastest version wins") {
  for (const ChoiceRules &rules : {ChoiceRules{}, eager()}) {
    Chooser chooser(4, rules);
    run(chooser, {1, 0.9, 0.7, 1.3}, 1000);
    CHECK(chooser.decided());
    CHECK(chooser.best() == 2);
  }
}

TEST_CASE("a winner is tried in other blocks") {
  // The fourth is the third's code, the fifth the second's.
  const std::vector<Prior> priors = {{}, {}, {}, {0.5, 0, 2}, {0.5, 0, 1}};
  for (const ChoiceRules &rules : {ChoiceRules{}, eager()}) {
    Chooser better(5, rules, priors);
    run(better, {1, 0.9, 0.7, 0.6, 0.1}, 2000);
    CHECK(better.decided());
    CHECK(better.best() == 3);
    CHECK(better.samples(4).empty()); // its version did not come close
    Chooser close(5, rules, priors);
    run(close, {1, 0.8, 0.7, 0.75, 0.6}, 2000);
    CHECK(close.decided());
    CHECK(close.best() == 4);
    Chooser worse(5, rules, priors);
    run(worse, {1, 0.9, 0.7, 0.8, 0.1}, 2000);
    CHECK(worse.decided());
    CHECK(worse.best() == 2);
    Chooser none(5, rules, priors);
    run(none, {1, 1.1, 1.2, 0.5, 0.5}, 2000);
    CHECK(none.decided());
    CHECK(none.best() == 0);
    CHECK(none.samples(3).empty());
  }
  // Not where lanes of a kernel that computes are idle.
  std::vector<Prior> idle = priors;
  idle[3].work = 2;
  Chooser wasteful(5, {}, idle);
  run(wasteful, {1, 0.9, 0.7, 0.6, 0.1}, 2000);
  CHECK(wasteful.best() == 2);
  CHECK(wasteful.samples(3).empty());
  // The next process goes on with them.
  Chooser first(5, {}, priors);
  int launches = 0;
  while (first.samples(3).empty() && ++launches < 5000)
    run(first, {1, 0.9, 0.7, 0.6, 0.1}, 1, static_cast<unsigned>(launches));
  REQUIRE_FALSE(first.decided());
  Chooser second(5, {}, priors);
  second.resume(first.state());
  run(second, {1, 0.9, 0.7, 0.6, 0.1}, 2000);
  CHECK(second.decided());
  CHECK(second.best() == 3);
}

TEST_CASE("two versions of equal code come out equal") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Chooser chooser(3, eager());
    run(chooser, {1, 1, 1}, 400, seed, 0.05);
    CHECK(chooser.decided());
    CHECK(chooser.best() == 0);
  }
}

TEST_CASE("less than two per cent is nothing") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Chooser chooser(2, eager());
    run(chooser, {1, 0.985}, 400, seed, 0.005);
    CHECK(chooser.decided());
    CHECK(chooser.best() == 0);
  }
}

TEST_CASE("what the clock cannot see is nothing") {
  // Of launches that cannot be timed in runs: 0.4 microseconds of 15.
  Chooser chooser(2, eager());
  chooser.resume({{{0.015, 0.015, 0.015}, {}}, 0, 0, false});
  run(chooser, {0.015, 0.0146}, 400, 1, 0.001);
  CHECK(chooser.decided());
  CHECK(chooser.best() == 0);
}

TEST_CASE("the error of the clock is in the interval") {
  const auto found = [](double gain, double spread) {
    int taken = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
      Chooser chooser(2, eager());
      run(chooser, {0.022, 0.022 - gain}, 400, seed, spread);
      REQUIRE(chooser.decided());
      taken += chooser.best() == 1;
    }
    return taken;
  };
  // Of 22 microseconds, in launches that vary by 0.4 per cent: whoever seems to save 0.52 may save
  // 0.02; that is no more than what the samples leave open.
  CHECK(found(0.00052, 0.004) <= 10);
  CHECK(found(0.0015, 0.004) == 100);
}

TEST_CASE("nothing is taken that the difference of the typical times would not allow") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(0, 1);
  int taken = 0, below = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const double original = 0.02 + 0.03 * any(random);
    std::lognormal_distribution<double> noise(0, 0.03 * any(random));
    std::vector<double> first(4 + random() % 20), second(4 + random() % 20);
    const double other = original - 0.003 * any(random);
    for (double &time : first)
      time = original * noise(random);
    for (double &time : second)
      time = other * noise(random);
    Chooser chooser(2, eager());
    chooser.resume({{first, second}, 1, 0, false});
    const Comparison all = compare(first, second);
    below += all.high < ChoiceRules().win;
    if (!chooser.is_faster(1))
      continue;
    ++taken;
    CHECK(trimmed_mean(chooser.samples(0)) - trimmed_mean(chooser.samples(1)) >=
          ChoiceRules().resolution);
    CHECK(chooser.against_original(1).high < ChoiceRules().win);
  }
  CHECK(taken > 1000);
  CHECK(below > taken);
}

TEST_CASE("a slow version holds up nobody") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Chooser chooser(9, {});
    const double slow_ones = run(chooser, {1, 0.8, 3, 3, 3, 3, 3, 3, 3}, 300, seed);
    CHECK(slow_ones < 0.98 * 300);
  }
}

TEST_CASE("the leader runs while others are tried") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Chooser chooser(9, {});
    CHECK(run(chooser, {1, 0.5, 0.7, 0.5, 0.6, 0.7, 1.3, 2, 0.9}, 200, seed) < 0.8 * 200);
  }
}

TEST_CASE("tuning spends few launches on what is far from the best") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Chooser chooser(13, eager());
    run(chooser, {1, 0.5, 0.52, 0.9, 0.9, 0.9, 0.9, 1, 1, 1, 1, 1.1, 2}, 85, seed);
    CHECK(chooser.decided());
    CHECK(chooser.best() == 1);
  }
}

TEST_CASE("equal versions are not led by chance") {
  // A version that won once by chance runs until it has lost the second race, which costs nothing.
  for (unsigned seed = 0; seed < 100; ++seed) {
    Chooser chooser(5, {});
    CHECK(run(chooser, {1, 1, 1, 1, 1}, 1000, seed) < 1.01 * 1000);
    CHECK(chooser.best() == 0);
  }
}

TEST_CASE("slow versions cost a hundredth at most") {
  for (const double slow : {1.2, 2.0, 10.0})
    for (const int launches : {1, 10, 50, 200, 2000}) {
      Chooser chooser(6, {});
      CHECK(run(chooser, {1, slow, slow, slow, slow, slow}, launches) < 1.01 * launches + slow);
    }
  // Of versions that are known to be slow, less.
  for (const int launches : {50, 100, 200, 2000}) {
    Chooser chooser(6, {}, fears({0, 2, 2, 2, 2, 2}));
    CHECK(run(chooser, {1, 3, 3, 3, 3, 3}, launches, 1, 0.001) < 1.01 * launches);
  }
  // Measuring has its price, too: in a short kernel few launches are measured.
  for (unsigned seed = 0; seed < 20; ++seed) {
    Chooser chooser(3, {});
    int measured = 0;
    for (int i = 0; i < 400; ++i) {
      const Chooser::Turn turn = chooser.next();
      measured += turn.measure;
      if (turn.measure)
        chooser.record(turn.version, turn.version == 0 ? 0.1 : 0.104);
    }
    CHECK(measured * ChoiceRules().overhead < 0.01 * 400 * 0.1);
  }
}

TEST_CASE("what is feared least is tried first") {
  Chooser chooser(4, {}, fears({0, 3, 0.1, 0.9}));
  std::vector<std::size_t> tried;
  for (int i = 0; i < 3000; ++i) {
    const Chooser::Turn turn = chooser.next();
    if (turn.version != 0 && (tried.empty() || tried.back() != turn.version))
      tried.push_back(turn.version);
    if (turn.measure)
      chooser.record(turn.version, turn.version == 0 ? 1 : 1.2);
  }
  CHECK(tried == std::vector<std::size_t>{2, 3, 1});
}

TEST_CASE("of what can be paid, what promises most is tried first") {
  Chooser chooser(4, {}, {{}, {0.1, -0.2}, {0.1, 0.3}, {50, 1}});
  std::vector<std::size_t> tried;
  for (int i = 0; i < 1000; ++i) {
    const Chooser::Turn turn = chooser.next();
    CHECK(turn.credit == 0);
    if (turn.version != 0 && std::find(tried.begin(), tried.end(), turn.version) == tried.end())
      tried.push_back(turn.version);
    if (turn.measure)
      chooser.record(turn.version, turn.version == 0 ? 1 : 1.2);
  }
  REQUIRE(tried.size() == 2);
  CHECK(tried[0] == 2);
  CHECK(tried[1] == 1);
}

TEST_CASE("a program of a few long launches affords one trial") {
  const auto tried = [](const std::vector<Prior> &priors, double credit, double slower) {
    Chooser chooser(3, {}, priors);
    std::vector<std::size_t> versions;
    double used = 0;
    for (int i = 0; i < 60; ++i) {
      const Chooser::Turn turn = chooser.next(credit - used);
      used += turn.credit;
      if (turn.version != 0 &&
          std::find(versions.begin(), versions.end(), turn.version) == versions.end())
        versions.push_back(turn.version);
      if (turn.measure)
        chooser.record(turn.version, turn.version == 0 ? 3 : 3 * slower);
    }
    CHECK(used <= credit);
    return versions;
  };
  const std::vector<Prior> promising{{}, {0.8, 0.1}, {0.9, 0.05}};
  using Versions = std::vector<std::size_t>;
  CHECK(tried(promising, 0, 0.5).empty());
  CHECK(tried(promising, 5, 0.5) == Versions{1, 2}); // what the first gained pays for the second
  CHECK(tried(promising, 5, 1.5) == Versions{1});
  CHECK(tried(promising, 60, 1.5) == Versions{1, 2}); // and much is left
  CHECK(tried(promising, 0.5, 0.5).empty());          // it may cost more
  CHECK(tried({{}, {0.8, -0.1}, {0.9, -0.1}}, 5, 0.5).empty());
}

TEST_CASE("short kernels are timed in runs") {
  // A pair of events takes 5 microseconds.
  using Found = std::tuple<bool, std::size_t, std::size_t>;
  const auto decide = [](std::vector<double> times, bool broken, bool eager, int launches) {
    ChoiceRules rules;
    rules.eager = eager;
    Chooser chooser(times.size(), rules);
    std::mt19937 random(7);
    std::lognormal_distribution<double> noise(0, 0.02);
    std::size_t longest = 0;
    for (int i = 0; i < launches;) {
      const Chooser::Turn turn = chooser.next();
      const bool ends = broken && turn.launches > 1;
      for (std::size_t n = 1; n < turn.launches && !ends; ++n)
        chooser.go_on();
      i += ends ? 1 : static_cast<int>(turn.launches);
      longest = std::max(longest, turn.launches);
      const auto count = static_cast<double>(turn.launches);
      if (ends)
        chooser.broken(turn.version);
      else if (turn.measure)
        chooser.record(turn.version, times[turn.version] * noise(random) + 0.005 / count,
                       turn.launches);
    }
    return Found{chooser.decided(), chooser.best(), longest};
  };
  CHECK(decide({0.0036, 0.0023}, false, true, 60000) == Found(true, 1, 32));
  CHECK(decide({0.0036, 0.0036}, false, true, 60000) == Found(true, 0, 32));
  for (const bool eager : {false, true}) {
    CHECK(decide({0.0105, 0.007}, false, eager, 60000) == Found(true, 1, 18));
    CHECK(decide({0.0105, 0.0105}, false, eager, 60000) == Found(true, 0, 18));
    CHECK(decide({0.016, 0.012}, false, eager, 60000) == Found(true, 1, 1)); // 21 by events
  }
  // Trials cost a program of such kernels more than they may bring.
  CHECK(decide({0.0036, 0.0023}, false, false, 60000) == Found(true, 0, 1));
  CHECK(decide({0.008, 0.004}, false, false, 60000) == Found(true, 0, 1));
  // Something always comes between.
  CHECK(std::get<1>(decide({0.0036, 0.0023}, true, false, 60000)) == 0);
  CHECK(std::get<0>(decide({0.0036, 0.0023}, true, false, 1000)));
  CHECK(std::get<1>(decide({0.014, 0.009}, true, false, 60000)) == 1);
}

TEST_CASE("a race in runs goes on although its original is not known") {
  const std::vector<double> some = {0.01, 0.01, 0.01};
  for (const ChoiceRules &rules : {ChoiceRules{}, eager()})
    for (const OpenRace &race : {OpenRace{{some, {}}, 0, 0, true}, OpenRace{{{}, {}}, 0, 0, true},
                                 OpenRace{{{}, {}}, 1, 0, true}}) {
      Chooser chooser(2, rules);
      chooser.resume(race);
      int launches = 0;
      for (; launches < 100'000 && !chooser.decided(); ++launches) {
        const Chooser::Turn turn = chooser.next();
        for (std::size_t i = 1; i < turn.launches; ++i, ++launches)
          chooser.go_on();
        if (turn.measure)
          chooser.record(turn.version, turn.version == 0 ? 0.016 : 0.012, turn.launches);
      }
      CHECK(chooser.decided());
      CHECK(chooser.best() == 1);
    }
}

TEST_CASE("runs and single launches are not compared") {
  Chooser chooser(2, {});
  chooser.resume({{{0.004, 0.004, 0.004}, {0.003, 0.003, 0.003}}, 0, 100, true});
  chooser.record(1, 0.1, 1); // it was under way when that changed
  CHECK(chooser.samples(1).size() == 3);
  CHECK(chooser.next().launches == 1); // the first dozen
  CHECK(chooser.state().in_runs);
  Chooser single(2, {});
  single.resume({{{0.015, 0.015, 0.015}, {0.013, 0.013}}, 0, 100, false});
  for (int i = 0; i < 100; ++i) {
    const Chooser::Turn turn = single.next();
    CHECK(turn.launches == 1);
    if (turn.measure)
      single.record(turn.version, turn.version == 0 ? 0.015 : 0.013);
  }
}

TEST_CASE("what has gained pays for trials, and most of it is kept") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Chooser chooser(9, {}, fears({0, 0.1, 0.2, 0.5, 0.5, 0.9, 0.9, 0.9, 0.9}));
    const double took = run(chooser, {1, 0.6, 1.2, 1.5, 1.5, 2, 2, 2, 2}, 100, seed);
    CHECK(took < 0.85 * 100);
  }
}

TEST_CASE("in debt, what is faster goes on and pays") {
  // The first version costs what a hundred launches may. The second has run once, and gains.
  const std::vector<double> times = {1, 1.9, 0.8};
  Chooser chooser(3, {}, {{}, {0.1, 0.3}, {0.1, 0.2}});
  double took = 0;
  for (int i = 0; i < 60; ++i) {
    const Chooser::Turn turn = chooser.next(i < 14 ? 100 : 0);
    took += times[turn.version];
    if (turn.measure)
      chooser.record(turn.version, times[turn.version]);
  }
  CHECK(chooser.decided());
  CHECK(chooser.best() == 2);
  CHECK(took < 0.95 * 60);
}

TEST_CASE("one launch says enough of what is much slower") {
  const std::vector<double> times = {1, 0.5, 1.2, 0.7, 0.55};
  Chooser chooser(5, {}, {{}, {0.1, 0.5}, {0.1, 0.4}, {0.1, 0.3}, {0.1, 0.2}});
  std::vector<int> launches(5);
  for (int i = 0; i < 200; ++i) {
    const Chooser::Turn turn = chooser.next(100);
    ++launches[turn.version];
    if (turn.measure)
      chooser.record(turn.version, times[turn.version]);
  }
  CHECK(chooser.best() == 1);
  CHECK(launches[2] == 1); // slower than the original
  CHECK(launches[3] == 1); // than the one that leads
  CHECK(launches[4] > 1);  // perhaps its first launch loaded code
}

TEST_CASE("a program that runs ahead of the GPU pays no more") {
  // Sixteen launches are under way before the first time is known.
  for (const double slow : {1.5, 2.0, 3.0}) {
    Chooser chooser(4, {});
    std::vector<std::pair<std::size_t, double>> under_way;
    double total = 0;
    for (int i = 0; i < 300; ++i) {
      const Chooser::Turn turn = chooser.next();
      const double time = turn.version == 0 ? 1 : slow;
      total += time;
      if (turn.measure)
        under_way.emplace_back(turn.version, time);
      if (under_way.size() < 16)
        continue;
      chooser.record(under_way.front().first, under_way.front().second);
      under_way.erase(under_way.begin());
    }
    CHECK(total < 1.03 * 300);
  }
}

TEST_CASE("a wait is long enough for all that is under way") {
  // What a program sent off before it was known that its launches take 3.2 ms.
  CHECK(longest_wait(3.2, 16) > 16 * 3.2);
  CHECK(longest_wait(0.01, 16) == 20);
  CHECK(longest_wait(1000, 16) == 200);
}

TEST_CASE("what was not timed after all can be tried again") {
  Chooser chooser(2, {});
  int tries = 0;
  for (int i = 0; i < 400; ++i) {
    const Chooser::Turn turn = chooser.next();
    tries += turn.version == 1;
    if (turn.version == 1)
      chooser.cancel(1);
    else if (turn.measure)
      chooser.record(0, 1);
  }
  CHECK(tries > 5);
}

TEST_CASE("a kernel that is launched a few times stays as it is") {
  Chooser chooser(2, {});
  for (int i = 0; i < 12; ++i) {
    const Chooser::Turn turn = chooser.next();
    CHECK(turn.version == 0);
    if (turn.measure)
      chooser.record(0, 1);
  }
  CHECK(!chooser.decided());
  CHECK(chooser.best() == 0);
}

TEST_CASE("launches that alternate favour nobody") {
  // Every second launch of the program is ten times as long.
  for (unsigned seed = 0; seed < 50; ++seed) {
    Chooser chooser(2, eager());
    std::mt19937 random(seed);
    std::lognormal_distribution<double> noise(0, 0.02);
    for (int i = 0; i < 400; ++i) {
      const Chooser::Turn turn = chooser.next();
      if (turn.measure)
        chooser.record(turn.version, (i % 2 ? 10 : 1) * noise(random));
    }
    CHECK(chooser.best() == 0);
  }
}

TEST_CASE("nothing is measured any more when it is decided") {
  Chooser chooser(2, eager());
  run(chooser, {1, 0.5}, 100);
  CHECK(chooser.decided());
  const std::size_t samples = chooser.samples(0).size() + chooser.samples(1).size();
  CHECK(samples <= 48);
  const Chooser::Turn turn = chooser.next();
  CHECK(turn.version == 1);
  CHECK(!turn.measure);
  chooser.record(0, 0.001);
  CHECK(chooser.samples(0).size() + chooser.samples(1).size() == samples);
}

TEST_CASE("impossible times are left out") {
  Chooser chooser(2, eager());
  for (const double time : {0.0, -1.0, 1.0 / 0.0, 0.0 / 0.0})
    chooser.record(1, time);
  chooser.record(7, 1);
  CHECK(chooser.samples(1).empty());
}

TEST_CASE("a single version is decided") {
  for (const std::size_t versions : {0, 1}) {
    Chooser chooser(versions, {});
    CHECK(chooser.decided());
    CHECK(chooser.next().version == 0);
  }
}

TEST_CASE("a race goes on in the next process") {
  const std::vector<double> times = {1, 0.9, 0.7, 1.3};
  OpenRace race;
  int processes = 0;
  for (bool decided = false; !decided && processes < 40; ++processes) {
    Chooser chooser(4, ChoiceRules{});
    if (processes > 0)
      chooser.resume(race);
    if (!chooser.decided())
      run(chooser, times, 60, static_cast<unsigned>(processes));
    race = chooser.state();
    decided = chooser.decided();
    CHECK((!decided || chooser.best() == 2));
  }
  CHECK(processes > 1);
  CHECK(processes < 40);
  // Of an original that other runs measured alone nothing counts against what this one measures.
  Chooser ahead(3, ChoiceRules{});
  ahead.resume({{{1, 1, 9, 9, 9, 9, 9, 9}, {1, 1}, {1, 1, 1}}, 1, 100});
  CHECK(ahead.samples(0) == std::vector<double>{1, 1});
  // Not one of its own.
  Chooser other(3, ChoiceRules{});
  other.resume(race);
  CHECK(other.samples(0).empty());
}
