#pragma once

// Chooses among versions of a kernel while a program runs, by the times of its own launches. It is
// arithmetic alone, so that tests can play whole programs through (chooser_test.cpp):
//   const Chooser::Turn turn = chooser.next(); // launch turn.version, and if turn.measure
//   chooser.record(turn.version, milliseconds);

#include "wrapper/launch/statistics.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptxasw::wrapper::launch {

/// How the versions of one kernel in one shape are compared.
struct ChoiceRules {
  /// Try versions as fast as possible, as `ptxasw tune` does. Otherwise slower ones only as often
  /// as a share of the kernel's time allows, and none in a kernel's first dozen launches.
  bool eager = false;
  double win = 0.98;               ///< a version wins below this share of the original's time
  double resolution = 0.0005;      ///< of the clock, ms: by that it must be faster all the same
  std::size_t fewest = 4;          ///< samples of a version before it is judged
  std::size_t most = 24;           ///< and then the best so far is taken
  double near = 1.2;               ///< this much slower than the winner, or less, is close to it
  std::size_t most_others = 6;     ///< versions that join the race then
  double hopeless = 1.15;          ///< after three samples, this much slower than the original, or
                                   ///< if eager than the fastest, ends it
  std::size_t patience = 12;       ///< launches before the first trial, if not eager
  std::size_t first_originals = 4; ///< of these are measured, the last ones
  double share = 0.008;            ///< of the kernel's time that measuring may cost, if not eager,
  double of_gains = 0.8;           ///< and of what it has saved
  double overhead = 0.006;         ///< of measuring a launch, ms
  double slow = 1.05;              ///< if not eager, one sample this much slower ends it
  double cold = 0.1;               ///< how much longer a version's first launch may take, ms
  double shortest = 0.014; ///< a kernel that takes less by the events' clock is left alone, if not
                           ///< eager: trials cost such a program more than they may bring
  // A pair of events costs as much as a short kernel. So what takes less than `short_kernel` is
  // timed in runs of one version, one launch behind the other:
  double short_kernel = 0.02, run = 0.2; ///< ms; how long a run takes, about
  std::size_t shortest_run = 4, longest_run = 32;
  double longest_idle = 2000;  ///< launches between two looks at what could be tried
  std::size_t most_broken = 8; ///< runs that something came between, before one did not
};

/// What is known of a version before it has run.
struct Prior {
  double fear = 0.5;  ///< by what share of the original's time a launch of it may take longer
  double promise = 0; ///< the logarithm of how many times as fast it is expected to be
  /// It joins the race only when a version has won and this one is not much slower: it is the same
  /// code in other blocks. 0: at once.
  std::size_t after = 0;
  double work = 1;           ///< how many times as long it takes by what it computes
  double slow_blocks = 0;    ///< what to take from `promise` beside the same code in other blocks
  bool warps_matter = false; ///< in other blocks warps may have another shape, for better or worse
};

/// A race that has not ended: what a later process needs to go on with it.
struct OpenRace {
  std::vector<std::vector<double>> samples; ///< of each version, the original first, ms
  std::size_t candidate = 0;                ///< won once; 0: none has
  double budget = 0;    ///< what trials may cost, less what they have cost, ms; may be negative
  bool in_runs = false; ///< samples are of runs of launches
};

/// Says which version of a kernel a launch should run, and which one to keep. Version 0 is the
/// original. Knows no driver and no clock: times come in as they are measured.
class Chooser {
public:
  /// `versions`: how many there are, the original among them; at least 1. `priors`: of each, the
  /// original first.
  Chooser(std::size_t versions, const ChoiceRules &rules, std::vector<Prior> priors = {});

  /// Goes on with a race of an earlier process, before the first launch. Its samples count; but the
  /// first launch of a version still loads code, and this process's original is measured anew. Of
  /// the original no more samples count than of the version in it that has most: those that came
  /// after them are of other runs, perhaps with other work, than what they would be compared with.
  void resume(const OpenRace &race);
  OpenRace state() const;

  /// What the next launch should do.
  struct Turn {
    std::size_t version = 0;
    bool measure = false; ///< and tell record() how long it took
    double credit = 0;    ///< what it may cost that has not been earned, ms
    /// So many launches, this one the first, run the version and are timed together.
    std::size_t launches = 1;
  };
  /// `credit`: what may be lost, ms, by the first trial of a version, where the launches so far do
  /// not pay for it; of all kernels together, so that a program of a few long launches affords one.
  Turn next(double credit = 0);
  /// After next() had nothing to measure: so many launches from now on are of this version, and
  /// need not ask. 0: the next one has to.
  std::size_t idle(std::size_t &version);
  /// Notes a launch of a run that is under way, in place of next().
  void go_on() { ++launches_; }
  /// Notes that a launch of a version took this many milliseconds, or each of a run of launches.
  /// Impossible times (not positive, not finite) are ignored.
  void record(std::size_t version, double milliseconds, std::size_t launches = 1);
  /// Notes that a launch for which `next()` wanted to know the time was not timed after all.
  void cancel(std::size_t version);
  /// Notes the same of a run that something came between.
  void broken(std::size_t version);

  /// True when no more trials are needed; `best()` is then the version to keep.
  bool decided() const { return decided_; }
  std::size_t best() const { return best_; }

  const std::vector<double> &samples(std::size_t version) const { return samples_[version]; }
  /// A version's times against the original's, by a clock that ticks.
  Comparison against_original(std::size_t version) const;
  /// Returns true if a version's times so far show that it is faster, and that this is worth it.
  bool is_faster(std::size_t version) const;
  /// A typical time of a version in ms; 0 if it was not measured.
  double time(std::size_t version) const;

private:
  void judge();
  std::size_t launches_of_run() const;
  double clock_error() const;
  void time_in_runs(bool in_runs);
  bool is_too_slow(std::size_t version) const;
  void lead(std::size_t won);
  void leave_all_but(std::size_t version);
  bool admit_others(std::size_t winner);
  bool confirm(std::size_t version);
  double missing(std::size_t version) const;
  double known(std::size_t version) const;
  double extra(std::size_t version) const;
  void begin_round();
  std::size_t next_trial(double credit, Turn &turn);
  bool is_unknown(std::size_t version) const;
  std::size_t contender();
  std::size_t unknown(double credit, Turn &turn);
  std::size_t draw(std::size_t below);

  ChoiceRules rules_;
  std::vector<Prior> priors_;
  std::vector<std::vector<double>> samples_;
  std::vector<double> first_;          ///< how long the first launch took, ms; 0: not known
  std::vector<std::size_t> under_way_; ///< launches whose times are not known yet
  std::vector<bool> dropped_;          ///< out of the race
  std::vector<bool> won_;              ///< in it, and measured often enough for now
  std::vector<std::size_t> order_;     ///< of the round that is under way, from the back
  double saved_up_ = 0;                ///< of the budget of earlier processes, ms
  double regret_ = 0;                  ///< time that measuring has cost, less what it saved, ms
  double original_ = 0;                ///< typical time of the original, ms
  std::size_t launches_ = 0;
  std::size_t best_ = 0;
  std::size_t candidate_ = 0; ///< won once, and must win once more
  std::size_t leader_ = 0;    ///< runs where nothing is tried: the best that has won once
  double leads_by_ = 0;       ///< by at least this share of the original's time
  double lacking_ = 0;        ///< what was missing for the next trial when there was none, ms
  bool decided_ = false;
  bool admitted_ = false;  ///< versions that come after others
  bool on_credit_ = false; ///< a trial was
  bool in_runs_ = false;   ///< samples are of runs
  bool alone_ = false;     ///< samples are of single launches, however short
  std::size_t broken_ = 0; ///< runs, since one was whole
  std::uint64_t seed_ = 0x9e3779b97f4a7c15u;
};

} // namespace ptxasw::wrapper::launch
