// Every launch runs one of the versions, all of which compute the same, so nothing is run twice.
// Launches come in rounds; in each round every version that is still in the race runs once, in an
// order that changes, so that a program whose launches alternate does not favour one. Where trials
// are rationed, versions join the race one a round, in the order of the table; a version whose next
// trial cannot be paid waits and holds up nobody else, and the launches between trials run the
// leader: the best version that has won once. Half of what it saves pays for more trials. A version
// leaves the race when it is hopeless, or when its confidence interval says that it cannot win; the
// race ends when all that are left have been measured often enough. Only a version whose whole
// interval lies below `win` beats the original. Looking again and again, at several versions, finds
// such an interval by chance sooner or later; so the winner must win a second time, against the
// original alone and with fresh samples: two versions of equal code rate as equal.

#include "wrapper/launch/chooser.h"

#include <algorithm>
#include <cmath>

namespace ptxasw::launch {

Chooser::Chooser(std::size_t versions, const ChoiceRules &rules)
    : rules_(rules), samples_(std::max<std::size_t>(versions, 1)), first_(samples_.size()),
      under_way_(samples_.size()), dropped_(samples_.size()), decided_(versions <= 1) {}

/// A small generator: all it must give is an order that has no period in common with the program's.
std::size_t Chooser::draw(std::size_t below) {
  seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
  return static_cast<std::size_t>((seed_ >> 33) % below);
}

void Chooser::begin_round() {
  std::size_t unknown = 0;
  for (std::size_t version = 0; version < samples_.size(); ++version) {
    if (dropped_[version])
      continue;
    if (rules_.eager || version == 0 || !samples_[version].empty())
      order_.push_back(version);
    else if (unknown == 0)
      unknown = version;
  }
  for (std::size_t i = order_.size(); i > 1; --i)
    std::swap(order_[i - 1], order_[draw(i)]);
  if (unknown != 0)
    order_.insert(order_.begin(), unknown);
}

/// What a launch of a version may cost more than one of the original, ms: half as much again where
/// nothing is known.
double Chooser::extra(std::size_t version) const {
  if (version == 0)
    return 0;
  const double mine = samples_[version].empty() ? first_[version] : time(version);
  return mine > 0 ? std::max(0.0, mine - original_) : original_ / 2;
}

/// True if one more launch of this version may be tried: what measuring has cost, and may cost with
/// what is under way, against a share of all time. Of a version about which nothing is known only
/// one launch is under way.
bool Chooser::affordable(std::size_t version) const {
  if (rules_.eager)
    return true;
  if (original_ <= 0 || (version != 0 && first_[version] == 0 && under_way_[version] > 0) ||
      samples_[version].size() + under_way_[version] >= rules_.most)
    return false;
  double cost = regret_ + extra(version) + rules_.overhead;
  for (std::size_t other = 0; other < under_way_.size(); ++other)
    cost += static_cast<double>(under_way_[other]) * (extra(other) + rules_.overhead);
  return cost <= rules_.share * static_cast<double>(launches_) * original_;
}

Chooser::Turn Chooser::next() {
  ++launches_;
  if (decided_)
    return {best_, false};
  Turn turn;
  if (!rules_.eager && (launches_ <= rules_.patience || original_ <= 0)) {
    // The last of the patient launches show how long the original takes.
    turn.measure = launches_ + rules_.fewest >= rules_.patience;
  } else if (const std::size_t trial = next_trial(); trial < samples_.size()) {
    turn = {trial, true};
  } else {
    // No trial can be paid now. Half of what the leader saves pays for the next.
    turn.version = leader_;
    regret_ -= leader_ == 0 ? 0 : leads_by_ * original_ / 2;
  }
  if (turn.measure)
    ++under_way_[turn.version];
  return turn;
}

/// The version to try next: of this round, or of a new one, the first that can be paid, so that a
/// slow version holds up nobody but itself. The number of versions if there is none.
std::size_t Chooser::next_trial() {
  for (int rounds = 0; rounds < 2; ++rounds) {
    for (std::size_t i = order_.size(); i-- > 0;)
      if (!dropped_[order_[i]] && affordable(order_[i])) {
        const std::size_t found = order_[i];
        order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(i));
        return found;
      }
    order_.clear();
    begin_round();
  }
  return samples_.size();
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
  regret_ += rules_.overhead + (version == 0 ? 0 : milliseconds - original_);
  if (first_[version] == 0) { // loads the code, and counts as a hint alone
    first_[version] = milliseconds;
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
    const bool out_of_reach = !rules_.eager && taken >= 1 &&
                              std::min(first_[version], samples_[version][0]) > 2 * original_;
    if (out_of_reach || (taken >= 3 && found.ratio > rules_.hopeless) ||
        (taken >= rules_.fewest && samples_[0].size() >= rules_.fewest && found.low > rules_.win)) {
      dropped_[version] = true;
      continue;
    }
    const bool enough = taken >= rules_.fewest && samples_[0].size() >= rules_.fewest;
    const bool wins = found.high < rules_.win && time(0) - time(version) >= rules_.resolution;
    if (!enough || (!wins && taken < rules_.most))
      open = true;
    else if (wins && (best == 0 || time(version) < time(best)))
      best = version;
  }
  if (candidate_ == 0) {
    leader_ = best;
    leads_by_ = best == 0 ? 0 : 1 - against_original(best).high;
  }
  if (open || (best != 0 && confirm(best)))
    return;
  decided_ = true;
  best_ = best;
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
  order_.clear();
  return true;
}

Comparison Chooser::against_original(std::size_t version) const {
  return compare(samples_[0], samples_[version]);
}

double Chooser::time(std::size_t version) const { return trimmed_mean(samples_[version]); }

} // namespace ptxasw::launch
