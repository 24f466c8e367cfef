// Every launch runs one of the versions, all of which compute the same, so nothing is run twice.
// Where all may be tried at will, launches come in rounds; in each round every version that is
// still in the race runs once, in an order that changes, so that a program whose launches alternate
// does not favour one. Where trials are rationed, a budget pays for them: a share of what the
// original took so far, and a part of what has been gained. What promises to gain comes first: a
// version that was faster is measured until it has won or lost, in random turns with the original;
// then comes, of those that can be paid, the version that promises most. A process may also try one
// version of a kernel before its launches have paid for that; if it loses, they pay before the next
// one, unless what is left for all kernels together is many times that. If no trial can be paid,
// the launches run the leader: the best version that has won once, or that was never slower than
// the original was at its fastest. A version leaves the race when it is hopeless, or when its
// confidence interval says that it cannot win; the race ends when all that are left have been
// measured often enough. Only a version whose whole interval lies below `win` beats the original,
// and below 1 if it is widened by what the clock may be wrong.
// Looking again and again, at several versions, finds such an interval by chance sooner or later;
// so the winner must win a second time, against the original alone and with fresh samples: two
// versions of equal code rate as equal. Before that, versions join the race that are
// the code of the winner, or of what comes close to it, in blocks of other shapes.

#include "wrapper/launch/chooser.h"

#include <algorithm>
#include <cmath>

namespace ptxasw::wrapper::launch {

Chooser::Chooser(std::size_t versions, const ChoiceRules &rules, std::vector<Prior> priors)
    : rules_(rules), priors_(std::move(priors)), samples_(std::max<std::size_t>(versions, 1)),
      first_(samples_.size()), under_way_(samples_.size()), dropped_(samples_.size()),
      won_(samples_.size()), decided_(versions <= 1) {
  priors_.resize(samples_.size());
  leave_all_but(0);
}

/// What is in the race: one version besides the original, or all that come after no other (0).
void Chooser::leave_all_but(std::size_t version) {
  for (std::size_t one = 1; one < samples_.size(); ++one)
    dropped_[one] = version != 0 ? one != version : priors_[one].after != 0;
}

/// A small generator: all it must give is an order that has no period in common with the program's.
std::size_t Chooser::draw(std::size_t below) {
  seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
  return static_cast<std::size_t>((seed_ >> 33) % below);
}

void Chooser::begin_round() {
  for (std::size_t version = 0; version < samples_.size(); ++version)
    if (!dropped_[version])
      order_.push_back(version);
  for (std::size_t i = order_.size(); i > 1; --i)
    std::swap(order_[i - 1], order_[draw(i)]);
}

/// How long a launch of a version takes, by its first one if there is no other; 0: not known.
double Chooser::known(std::size_t version) const {
  return samples_[version].empty() ? first_[version] : time(version);
}

/// What a launch of a version may cost more than one of the original, ms.
double Chooser::extra(std::size_t version) const {
  if (version == 0)
    return 0;
  const double mine = known(version);
  return mine > 0 ? std::max(0.0, mine - original_) : priors_[version].fear * original_;
}

/// What is missing to pay for one more launch of this version, ms: what measuring has cost, and may
/// cost with what is under way, against a share of all time. Who is in debt goes on with what
/// gains.
double Chooser::missing(std::size_t version) const {
  if (const double mine = known(version);
      version != 0 && mine > 0 && mine + rules_.overhead < original_)
    return 0;
  const auto launches = static_cast<double>(launches_of_run());
  double cost = regret_ + launches * extra(version) + rules_.overhead;
  for (std::size_t other = 0; other < under_way_.size(); ++other)
    if (under_way_[other] > 0)
      cost += static_cast<double>(under_way_[other]) * (launches * extra(other) + rules_.overhead);
  return std::max(0.0,
                  cost - saved_up_ - rules_.share * static_cast<double>(launches_) * original_);
}

/// How many launches are timed together.
std::size_t Chooser::launches_of_run() const {
  if (!in_runs_)
    return 1;
  if (original_ <= 0) // not measured yet in this process
    return rules_.shortest_run;
  return std::clamp(static_cast<std::size_t>(rules_.run / original_), rules_.shortest_run,
                    rules_.longest_run);
}

/// By how much the clock may say the difference of two times of a launch wrong, ms: it is read at
/// the ends of a run.
double Chooser::clock_error() const {
  return rules_.resolution / static_cast<double>(launches_of_run());
}

/// From now on samples are of the one kind or the other, and those of the other kind are no
/// samples.
void Chooser::time_in_runs(bool in_runs) {
  in_runs_ = in_runs;
  alone_ = !in_runs;
  for (std::vector<double> &all : samples_)
    all.clear();
}

void Chooser::resume(const OpenRace &race) {
  if (race.samples.size() != samples_.size() || race.candidate >= samples_.size())
    return;
  samples_ = race.samples;
  std::size_t most = 0;
  for (std::size_t version = 1; version < samples_.size(); ++version)
    if (race.candidate == 0 || version == race.candidate)
      most = std::max(most, samples_[version].size());
  samples_[0].resize(std::min(samples_[0].size(), most));
  candidate_ = race.candidate;
  leave_all_but(candidate_);
  original_ = samples_[0].empty() ? 0 : time(0);
  saved_up_ = race.budget;
  in_runs_ = race.in_runs;
  alone_ = !in_runs_ && !race.samples[0].empty();
  judge();
}

OpenRace Chooser::state() const {
  return {samples_, candidate_,
          saved_up_ + rules_.share * static_cast<double>(launches_) * original_ - regret_,
          in_runs_};
}

Chooser::Turn Chooser::next(double credit) {
  ++launches_;
  if (decided_)
    return {best_, false};
  Turn turn;
  if (!rules_.eager && (launches_ <= rules_.patience || original_ <= 0)) {
    // The last of the patient launches show how long the original takes.
    turn.measure = launches_ + rules_.first_originals > rules_.patience;
    if (turn.measure)
      turn.launches = launches_of_run();
  } else if (const std::size_t trial = next_trial(credit, turn); trial < samples_.size()) {
    turn.version = trial;
    turn.measure = true;
    turn.launches = launches_of_run();
  } else {
    // No trial can be paid now. A part of what the leader saves pays for the next.
    turn.version = leader_;
    regret_ -= leader_ == 0 ? 0 : leads_by_ * original_ * rules_.of_gains;
  }
  if (turn.measure)
    ++under_way_[turn.version];
  return turn;
}

std::size_t Chooser::idle(std::size_t &version) {
  version = leader_;
  if (decided_ || rules_.eager || !in_runs_ || original_ <= 0 || launches_ < rules_.patience)
    return 0;
  const double saved = leader_ == 0 ? 0 : leads_by_ * rules_.of_gains;
  const double launches = lacking_ / ((rules_.share + saved) * original_);
  const auto idle = static_cast<std::size_t>(
      std::clamp(launches, static_cast<double>(rules_.shortest_run), rules_.longest_idle));
  launches_ += idle;
  regret_ -= saved * original_ * static_cast<double>(idle);
  return idle;
}

/// The version to try next; the number of versions if there is none.
std::size_t Chooser::next_trial(double credit, Turn &turn) {
  if (in_runs_ && samples_[0].size() + under_way_[0] < 2) { // it was measured in another way
    lacking_ = missing(0);
    return rules_.eager || lacking_ == 0 ? 0 : samples_.size();
  }
  if (!rules_.eager) {
    const std::size_t wanted = contender();
    if (wanted == samples_.size())
      return unknown(credit, turn);
    const bool is_first = wanted != 0 && first_[wanted] == 0 && under_way_[wanted] > 0;
    lacking_ = missing(wanted);
    return is_first || lacking_ > 0 ? samples_.size() : wanted;
  }
  if (order_.empty())
    begin_round();
  while (!order_.empty()) {
    const std::size_t found = order_.back();
    order_.pop_back();
    if (!dropped_[found])
      return found;
  }
  return samples_.size();
}

/// Returns true if a version that is in the race has not run yet, or is running for the first time.
bool Chooser::is_unknown(std::size_t version) const {
  return !dropped_[version] && samples_[version].empty() &&
         (first_[version] == 0 || under_way_[version] == 0);
}

/// Where trials are rationed: the version that goes on, or the original to compare it with; the
/// number of versions if none does.
std::size_t Chooser::contender() {
  const auto taken = [&](std::size_t version) {
    return samples_[version].size() + under_way_[version];
  };
  std::size_t found = 0;
  for (std::size_t version = 1; version < samples_.size(); ++version)
    if (!dropped_[version] && (!is_unknown(version) || candidate_ != 0) &&
        taken(version) < (won_[version] ? rules_.fewest : rules_.most) &&
        (found == 0 || time(version) < time(found)))
      found = version;
  if (found == 0)
    return samples_.size();
  // In random turns, so that a program whose launches alternate favours none.
  const std::size_t missing = taken(found) + 1 > taken(0) ? taken(found) + 1 - taken(0) : 0;
  return missing > 0 && draw(missing + 1) > 0 ? 0 : found;
}

/// Of versions that have not run the one to try now; the original where there is none and more must
/// be known of it; the number of versions if none can be paid. Only one launch of such a version is
/// under way.
std::size_t Chooser::unknown(double credit, Turn &turn) {
  constexpr double others = 8; // kernels that want to try something, too
  std::size_t found = 0;
  bool any = false;
  const auto promise = [&](std::size_t version) {
    return first_[version] == 0 ? priors_[version].promise : std::log(original_ / first_[version]);
  };
  for (std::size_t version = 1; version < samples_.size(); ++version) {
    if (!is_unknown(version))
      continue;
    const double lacks = missing(version);
    const bool has_credit = promise(version) > 0 && (!on_credit_ || lacks <= credit / others);
    lacking_ = any ? std::min(lacking_, lacks) : lacks;
    any = true;
    if (under_way_[version] == 0 && lacks <= (has_credit ? credit : 0) &&
        (found == 0 || promise(version) > promise(found) ||
         (promise(version) == promise(found) && extra(version) < extra(found))))
      found = version;
  }
  if (found != 0) {
    turn.credit = missing(found);
    on_credit_ = on_credit_ || turn.credit > 0;
    return found;
  }
  if (!any)
    lacking_ = missing(0);
  return !any && samples_[0].size() + under_way_[0] < rules_.fewest && lacking_ == 0
             ? 0
             : samples_.size();
}

void Chooser::cancel(std::size_t version) {
  if (under_way_[version] > 0)
    --under_way_[version];
}

void Chooser::broken(std::size_t version) {
  cancel(version);
  if (!decided_ && in_runs_ && ++broken_ >= rules_.most_broken) {
    // Other kernels come between its launches: single ones show more than none.
    time_in_runs(false);
    decided_ = !rules_.eager && original_ > 0 && original_ < rules_.shortest;
  }
}

void Chooser::record(std::size_t version, double milliseconds, std::size_t launches) {
  if (version >= samples_.size())
    return;
  cancel(version);
  if (decided_ || !std::isfinite(milliseconds) || milliseconds <= 0)
    return;
  if (in_runs_ != (launches > 1)) // it was under way when that changed
    return;
  broken_ = 0;
  const double more = version == 0 ? 0 : static_cast<double>(launches) * (milliseconds - original_);
  regret_ += rules_.overhead + (more < 0 ? more * rules_.of_gains : more);
  if (first_[version] == 0) { // loads the code, and counts as a hint alone
    first_[version] = milliseconds;
    if (!rules_.eager && version != 0 && is_too_slow(version))
      judge();
    return;
  }
  samples_[version].push_back(milliseconds);
  if (version == 0) {
    original_ = time(0);
    if (!in_runs_ && samples_[0].size() >= 2) {
      if (!rules_.eager && original_ < rules_.shortest)
        decided_ = true;
      else if (!alone_ && original_ < rules_.short_kernel)
        time_in_runs(true);
    }
  }
  if (!decided_)
    judge();
}

/// True if no more of a slow version needs to be seen where trials are rationed: its first launch,
/// which loads the code, says it already, or one more, or two that are no better than the original,
/// or than the leader was at its slowest.
bool Chooser::is_too_slow(std::size_t version) const {
  const std::vector<double> &all = samples_[version];
  const double first = first_[version];
  if (first == 0)
    return false;
  const double least = all.empty() ? first - rules_.cold
                                   : std::min(first, *std::min_element(all.begin(), all.end()));
  const bool is_early = all.size() <= 1;
  if (least > (is_early ? rules_.slow : rules_.win) * original_)
    return true;
  const auto &leader = samples_[leader_];
  return leader_ != 0 && leader_ != version && !leader.empty() &&
         least > (is_early ? rules_.slow : 1) * *std::max_element(leader.begin(), leader.end());
}

void Chooser::judge() {
  if (samples_[0].size() < 3)
    return;
  bool open = false;
  std::size_t best = 0;
  double fastest = time(0);
  for (std::size_t version = 1; version < samples_.size(); ++version)
    if (!dropped_[version] && samples_[version].size() >= 3)
      fastest = std::min(fastest, time(version));
  for (std::size_t version = 1; version < samples_.size(); ++version) {
    if (dropped_[version])
      continue;
    const std::size_t taken = samples_[version].size();
    const Comparison found = against_original(version);
    const bool enough = taken >= rules_.fewest && samples_[0].size() >= rules_.fewest;
    if ((!rules_.eager && candidate_ == 0 && is_too_slow(version)) ||
        (taken >= 3 && (found.ratio > rules_.hopeless ||
                        (rules_.eager && time(version) > rules_.hopeless * fastest))) ||
        (enough && found.low > rules_.win)) {
      dropped_[version] = true;
      continue;
    }
    const bool wins = is_faster(version);
    won_[version] = wins;
    if (!enough || (!wins && taken < rules_.most))
      open = true;
    else if (wins && (best == 0 || time(version) < time(best)))
      best = version;
  }
  lead(best);
  if (open || (best != 0 && (admit_others(best) || confirm(best))))
    return;
  decided_ = true;
  best_ = best;
}

/// Says which version runs where nothing is tried: the best of those that have won once, or else
/// one that two samples show to be faster than the original ever was. `won`: that version, or 0.
void Chooser::lead(std::size_t won) {
  if (candidate_ != 0)
    return;
  leader_ = won;
  if (won != 0) {
    leads_by_ = 1 - against_original(won).high;
    return;
  }
  const auto &own = samples_[0];
  const double fastest = *std::min_element(own.begin(), own.end());
  for (std::size_t version = 1; version < samples_.size(); ++version) {
    const auto &all = samples_[version];
    if (dropped_[version] || all.size() < 2)
      continue;
    const double slowest = *std::max_element(all.begin(), all.end());
    if (slowest < rules_.win * fastest && fastest - slowest >= clock_error() &&
        (leader_ == 0 || time(version) < time(leader_))) {
      leader_ = version;
      leads_by_ = 1 - slowest / fastest;
    }
  }
}

/// When a version has won, those that come after it or after one that takes little longer race
/// against it; once, and not many. They are expected to take as long, unless more of their lanes
/// are idle. False if there are none.
bool Chooser::admit_others(std::size_t winner) {
  if (candidate_ != 0 || admitted_)
    return false;
  std::vector<std::pair<double, std::size_t>> others; // expected times
  for (std::size_t version = 1; version < samples_.size(); ++version) {
    const std::size_t other = priors_[version].after;
    const double expected =
        known(other) * std::max(1.0, priors_[version].work / priors_[other].work);
    if (other != 0 && expected > 0 && expected <= rules_.near * time(winner))
      others.emplace_back(expected, version);
  }
  if (others.empty())
    return false;
  std::sort(others.begin(), others.end());
  others.resize(std::min(others.size(), rules_.most_others));
  leave_all_but(winner);
  for (const auto &[expected, version] : others) {
    dropped_[version] = false;
    priors_[version].promise = std::log(original_ / expected);
    priors_[version].fear = 0;
  }
  return admitted_ = true;
}

/// Begins the second race; false if this was it.
bool Chooser::confirm(std::size_t version) {
  if (candidate_ != 0)
    return false;
  candidate_ = version;
  leave_all_but(version);
  samples_[0].clear();
  samples_[version].clear();
  won_[version] = false;
  order_.clear();
  return true;
}

Comparison Chooser::against_original(std::size_t version) const {
  return compare(samples_[0], samples_[version], clock_error());
}

bool Chooser::is_faster(std::size_t version) const {
  const Comparison found = against_original(version);
  return found.high < rules_.win && found.most < 1;
}

double Chooser::time(std::size_t version) const { return trimmed_mean(samples_[version]); }

} // namespace ptxasw::wrapper::launch
