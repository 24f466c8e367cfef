// Every launch runs one of the versions, all of which compute the same, so nothing is run twice.
// Where all may be tried at will, launches come in rounds; in each round every version that is
// still in the race runs once, in an order that changes, so that a program whose launches alternate
// does not favour one. Where trials are rationed, a budget pays for them: a share of what the
// original took so far, and half of what has been gained. What promises to gain comes first: a
// version that was faster is measured until it has won or lost, in random turns with the original;
// then comes the version of which the least harm is to be feared. If the next trial cannot be paid,
// it is waited for, and the launches between run the leader: the best version that has won once, or
// that was never slower than the original was at its fastest. A version leaves the race when it is
// hopeless, or when its confidence interval says that it cannot win; the
// race ends when all that are left have been measured often enough. Only a version whose whole
// interval lies below `win` beats the original. Looking again and again, at several versions, finds
// such an interval by chance sooner or later; so the winner must win a second time, against the
// original alone and with fresh samples: two versions of equal code rate as equal.

#include "wrapper/launch/chooser.h"

#include <algorithm>
#include <cmath>

namespace ptxasw::inline wrapper::launch {

Chooser::Chooser(std::size_t versions, const ChoiceRules &rules, std::vector<double> risks)
    : rules_(rules), risks_(std::move(risks)), samples_(std::max<std::size_t>(versions, 1)),
      first_(samples_.size()), under_way_(samples_.size()), dropped_(samples_.size()),
      won_(samples_.size()), decided_(versions <= 1) {
  risks_.resize(samples_.size(), rules_.risk);
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

/// What a launch of a version may cost more than one of the original, ms.
double Chooser::extra(std::size_t version) const {
  if (version == 0)
    return 0;
  const double mine = samples_[version].empty() ? first_[version] : time(version);
  return mine > 0 ? std::max(0.0, mine - original_) : risks_[version] * original_;
}

/// True if one more launch of this version may be tried: what measuring has cost, and may cost with
/// what is under way, against a share of all time. Of a version about which nothing is known only
/// one launch is under way.
bool Chooser::affordable(std::size_t version) const {
  if (original_ <= 0 || (version != 0 && first_[version] == 0 && under_way_[version] > 0))
    return false;
  double cost = regret_ + extra(version) + rules_.overhead;
  for (std::size_t other = 0; other < under_way_.size(); ++other)
    cost += static_cast<double>(under_way_[other]) * (extra(other) + rules_.overhead);
  return cost <= saved_up_ + rules_.share * static_cast<double>(launches_) * original_;
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
  for (std::size_t version = 1; version < samples_.size(); ++version)
    dropped_[version] = candidate_ != 0 && version != candidate_;
  original_ = samples_[0].empty() ? 0 : time(0);
  saved_up_ = race.budget;
  judge();
}

OpenRace Chooser::state() const {
  return {samples_, candidate_,
          saved_up_ + rules_.share * static_cast<double>(launches_) * original_ - regret_};
}

Chooser::Turn Chooser::next() {
  ++launches_;
  if (decided_)
    return {best_, false};
  Turn turn;
  if (!rules_.eager && (launches_ <= rules_.patience || original_ <= 0)) {
    // The last of the patient launches show how long the original takes.
    turn.measure = launches_ + rules_.first_originals > rules_.patience;
  } else if (const std::size_t trial = next_trial(); trial < samples_.size()) {
    turn = {trial, true};
  } else {
    // No trial can be paid now. A part of what the leader saves pays for the next.
    turn.version = leader_;
    regret_ -= leader_ == 0 ? 0 : leads_by_ * original_ * rules_.of_gains;
  }
  if (turn.measure)
    ++under_way_[turn.version];
  return turn;
}

/// The version to try next; the number of versions if there is none.
std::size_t Chooser::next_trial() {
  if (!rules_.eager) {
    const std::size_t wanted = most_wanted();
    return wanted < samples_.size() && affordable(wanted) ? wanted : samples_.size();
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

/// Of trials that are rationed the one to pay first; the number of versions if there is none.
std::size_t Chooser::most_wanted() {
  const auto taken = [&](std::size_t version) {
    return samples_[version].size() + under_way_[version];
  };
  std::size_t contender = 0, unknown = 0;
  for (std::size_t version = 1; version < samples_.size(); ++version) {
    if (dropped_[version])
      continue;
    const bool is_known =
        !samples_[version].empty() || (first_[version] != 0 && taken(version) > 0);
    if (!is_known && candidate_ == 0) {
      if (unknown == 0 || extra(version) < extra(unknown))
        unknown = version;
    } else if (taken(version) < (won_[version] ? rules_.fewest : rules_.most) &&
               (contender == 0 || time(version) < time(contender))) {
      contender = version;
    }
  }
  if (contender == 0)
    return unknown != 0 ? unknown : taken(0) < rules_.fewest ? 0 : samples_.size();
  // In random turns, so that a program whose launches alternate favours none.
  const std::size_t missing = taken(contender) + 1 > taken(0) ? taken(contender) + 1 - taken(0) : 0;
  return missing > 0 && draw(missing + 1) > 0 ? 0 : contender;
}

void Chooser::cancel(std::size_t version) {
  if (under_way_[version] > 0)
    --under_way_[version];
}

void Chooser::record(std::size_t version, double milliseconds) {
  if (version >= samples_.size())
    return;
  cancel(version);
  if (decided_ || !std::isfinite(milliseconds) || milliseconds <= 0)
    return;
  const double more = version == 0 ? 0 : milliseconds - original_;
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
    if (!rules_.eager && samples_[0].size() >= 2 && original_ < rules_.shortest)
      decided_ = true;
  }
  if (!decided_)
    judge();
}

/// True if no more of a slow version needs to be seen where trials are rationed: its first launch,
/// which loads the code, says it already, or one more, or two that are no better than the original.
bool Chooser::is_too_slow(std::size_t version) const {
  const std::vector<double> &all = samples_[version];
  const double first = first_[version];
  if (first == 0)
    return false;
  if (all.empty())
    return first > 2 * original_ + rules_.cold;
  const double least = std::min(first, *std::min_element(all.begin(), all.end()));
  return least > (all.size() == 1 ? rules_.slow : rules_.win) * original_;
}

void Chooser::judge() {
  if (samples_[0].size() < 3)
    return;
  bool open = false;
  std::size_t best = 0;
  for (std::size_t version = 1; version < samples_.size(); ++version) {
    if (dropped_[version])
      continue;
    const std::size_t taken = samples_[version].size();
    const Comparison found = against_original(version);
    const bool enough = taken >= rules_.fewest && samples_[0].size() >= rules_.fewest;
    if ((!rules_.eager && candidate_ == 0 && is_too_slow(version)) ||
        (taken >= 3 && found.ratio > rules_.hopeless) || (enough && found.low > rules_.win)) {
      dropped_[version] = true;
      continue;
    }
    const bool wins = found.high < rules_.win && time(0) - time(version) >= rules_.resolution;
    won_[version] = wins;
    if (!enough || (!wins && taken < rules_.most))
      open = true;
    else if (wins && (best == 0 || time(version) < time(best)))
      best = version;
  }
  lead(best);
  if (open || (best != 0 && confirm(best)))
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
    if (slowest < rules_.win * fastest && fastest - slowest >= rules_.resolution &&
        (leader_ == 0 || time(version) < time(leader_))) {
      leader_ = version;
      leads_by_ = 1 - slowest / fastest;
    }
  }
}

/// Begins the second race; false if this was it.
bool Chooser::confirm(std::size_t version) {
  if (candidate_ != 0)
    return false;
  candidate_ = version;
  for (std::size_t other = 0; other < samples_.size(); ++other)
    dropped_[other] = other != 0 && other != version;
  samples_[0].clear();
  samples_[version].clear();
  won_[version] = false;
  order_.clear();
  return true;
}

Comparison Chooser::against_original(std::size_t version) const {
  return compare(samples_[0], samples_[version]);
}

double Chooser::time(std::size_t version) const { return trimmed_mean(samples_[version]); }

} // namespace ptxasw::wrapper::launch
