// From each version of the beam come all versions that are one rewrite further. A text that was
// seen is not analysed again, whatever order of rewrites led to it. What is not proved is withdrawn
// before anything is counted. A kernel that may wait in a loop stays as it is.
//
// Versions beside the kernel are tried last, of the kernel as it is and of the best that became of
// it. Some have other launches: at a launch, all warps of theirs count. Some keep the kernel's code
// for lanes, rounds or launches in which they do not gain. A bound counts that, too; then it is no
// measure of them, and they are not chosen by it, only by a count of what runs.

#include "synth/search/search.h"

#include "synth/same_launch.h"
#include "synth/siblings.h"

#include <algorithm>
#include <chrono>
#include <fmt/core.h>
#include <set>
#include <tuple>

namespace ptxasw::synth {
namespace {

using Clock = std::chrono::steady_clock;
using facts::Rational;

/// Returns true of what counts the rounds of a loop (facts::IntegerReader::trip()).
bool is_counter(const std::string &name) {
  return name.size() > 4 && name.starts_with("trip") &&
         name.find_first_not_of("0123456789", 4) == std::string::npos;
}

/// What versions are compared by, the lowest first: a time, or a bound and its degree.
using Rank = std::tuple<double, unsigned, Rational>;

/// Nothing: there is nothing to compare. Bounds without a launch are compared as published (section
/// 4.2): the lower degree first; of equal degree the sums of the coefficients of each degree, from
/// the highest. That is the order of their values where all variables are the same large number.
std::optional<Rank> rank_of(const SearchCost &cost, const SearchOptions &options) {
  if (options.by_time)
    return cost.microseconds ? std::optional(Rank{*cost.microseconds, 0, 0}) : std::nullopt;
  if (options.at && !cost.counted && !cost.not_compared.empty())
    return std::nullopt;
  std::optional<Rational> number = cost.counted     ? cost.counted
                                   : options.beside ? cost.all_warps
                                                    : cost.wsteps_there;
  unsigned its_degree = 0;
  if (!options.at && cost.wsteps.most) {
    // Divisible by whatever bounds divide by.
    static const Rational large = Rational::power_of_two(60) * 3 * 3 * 5 * 7;
    its_degree = degree(*cost.amounts, *cost.wsteps.most);
    number = cost.amounts->evaluate(*cost.wsteps.most,
                                    [](const std::string &) { return std::optional(large); });
  }
  return number ? std::optional(Rank{0, its_degree, *number}) : std::nullopt;
}

/// Returns true if the first is known to be better than the second: ties keep the second, and so
/// does a bound or a prediction that is not there.
bool is_better(const SearchCost &a, const SearchCost &b, const SearchOptions &options) {
  const auto x = rank_of(a, options), y = rank_of(b, options);
  return x && y && *x < *y;
}

/// Takes from a version beside a kernel what cannot be compared with the kernel's cost: a bound
/// that counts more than runs, a time that is more of a guess.
void hold_against(const SearchCost &kernel, SearchCost &version) {
  const unsigned own = kernel.wsteps.both_ways, both = version.wsteps.both_ways;
  if (both > own)
    version.not_compared =
        both == every_lane ? "its bound counts every lane by itself"
                           : fmt::format("its bound counts code that need not run: both ways of "
                                         "branches, {} more than the kernel's",
                                         both - own);
  for (const std::string &guess : version.guesses)
    if (std::find(kernel.guesses.begin(), kernel.guesses.end(), guess) == kernel.guesses.end()) {
      version.microseconds.reset();
      version.no_time = guess;
      return;
    }
}

class Search {
public:
  Search(std::shared_ptr<const Module> module, std::string_view kernel,
         const SearchOptions &options)
      : options_(options), begin_(Clock::now()),
        original_(*module, *kernel_named(*module, kernel)) {
    SearchCandidate original;
    original.module = std::move(module);
    seen_.emplace(original.module->text());
    evaluate(original, original.module);
    result_.candidates.push_back(std::move(original));
  }

  SearchResult run() {
    std::vector<std::size_t> beam{0};
    if (module_obstacle(original_.module, original_.kernel) || waiting_obstacle(original_))
      return std::move(result_);
    for (unsigned round = 0; round < options_.rounds && !beam.empty() && !spent(); ++round) {
      const std::size_t known = result_.candidates.size();
      for (const std::size_t one : beam)
        try_versions(one, Place::in_place, false);
      beam = best_from(known, false);
    }
    try_versions(result_.best, Place::in_place, true);
    if (options_.beside && !siblings_obstacle(original_.module, original_.kernel)) {
      std::vector<std::size_t> better = best_from(1, true);
      better.insert(better.begin(), 0);
      for (const std::size_t one : better)
        try_versions(one, Place::beside, false);
    }
    return std::move(result_);
  }

private:
  const SearchCost &cost_of(std::size_t i) const { return result_.candidates[i].cost; }

  /// A version beside the kernel; the kernel itself.
  const Function &version_in(const Module &module, const Sibling *sibling = nullptr) const {
    return *kernel_named(module, sibling ? sibling->name : original_.kernel.name);
  }

  bool spent() {
    const std::chrono::duration<double> so_far = Clock::now() - begin_;
    result_.budget_spent = result_.budget_spent || so_far.count() >= options_.seconds;
    return result_.budget_spent;
  }

  /// The best of the proved candidates from one on, only those that are better than the kernel if
  /// that is asked for: the best first, those without a known cost last.
  std::vector<std::size_t> best_from(std::size_t first, bool than_kernel) const {
    std::vector<std::size_t> some;
    for (std::size_t i = first; i < result_.candidates.size(); ++i)
      if (!result_.candidates[i].withdrawn &&
          (!than_kernel || is_better(cost_of(i), cost_of(0), options_)))
        some.push_back(i);
    std::stable_sort(some.begin(), some.end(), [&](std::size_t a, std::size_t b) {
      const auto x = rank_of(cost_of(a), options_), y = rank_of(cost_of(b), options_);
      return x && (!y || *x < *y);
    });
    some.resize(std::min<std::size_t>(some.size(), options_.beam));
    return some;
  }

  /// What a version costs, which is a function of this module. The bound of one whose steps rest on
  /// tests is that of launches in which these come out well: the other arm is the version without
  /// them, and what it costs is known.
  void evaluate(SearchCandidate &candidate, std::shared_ptr<const Module> module,
                const Sibling *sibling = nullptr) const {
    for (const Family &family : families())
      if (candidate.apart && family.without_tests)
        if (auto parsed = parse(family.without_tests(*module), "optimize"))
          module = std::shared_ptr<const Module>(std::move(*parsed));
    const Function &function = version_in(*module, sibling);
    if (!sibling)
      add_bounds(*module, function, options_.bound, candidate.cost);
    if (options_.at)
      options_.at(*module, function, sibling, candidate.cost);
  }

  /// Tries all versions of candidate `from` for a place. In place `last` are those that change no
  /// bound; beside are those that cannot be in place.
  void try_versions(std::size_t from, Place place, bool last) {
    const Module &module = *result_.candidates[from].module;
    std::optional<KernelContext> own;
    const KernelContext &context = from == 0 ? original_ : own.emplace(module, version_in(module));
    for (const Family &family : families()) {
      if (place == Place::beside ? family.in_place || (family.changes_no_bound && !options_.by_time)
                                 : family.changes_no_bound != last || is_done(family, from))
        continue;
      for (const Proposal &proposal : propose(family, context, place).proposals) {
        if (spent())
          return;
        if (proposal.promise.empty())
          consider(from, context, family, proposal, place);
      }
    }
  }

  /// Returns true if a family has done all that it can do.
  bool is_done(const Family &family, std::size_t candidate) const {
    const std::vector<std::string> &steps = result_.candidates[candidate].steps;
    return !family.parts && std::any_of(steps.begin(), steps.end(), [&](const std::string &step) {
      return step.starts_with(fmt::format("{}:", family.name));
    });
  }

  /// Candidate `from` with one version more is another one, if that is new.
  void consider(std::size_t from, const KernelContext &context, const Family &family,
                const Proposal &proposal, Place place) {
    const auto begin = Clock::now();
    std::optional<std::string> text = with_version(context, family, proposal, place);
    if (!text || !seen_.insert(*text).second)
      return;
    SearchCandidate candidate;
    candidate.steps = result_.candidates[from].steps;
    candidate.steps.push_back(fmt::format("{}:{}", family.name, proposal.variant));
    candidate.apart = result_.candidates[from].apart;
    candidate.module = result_.candidates[from].module;
    auto made = proved_version(context, family, proposal, std::move(text), place);
    if (!made) {
      candidate.withdrawn = made.error();
    } else if (place == Place::in_place) {
      candidate.apart |= family.without_tests != nullptr;
      candidate.module = std::move(made->module);
      evaluate(candidate, candidate.module);
    } else {
      candidate.sibling = proposal.sibling.name;
      evaluate(candidate, std::move(made->module), &proposal.sibling);
      hold_against(cost_of(from), candidate.cost);
    }
    candidate.milliseconds =
        std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    if (is_better(candidate.cost, cost_of(result_.best), options_))
      result_.best = result_.candidates.size();
    result_.candidates.push_back(std::move(candidate));
  }

  const SearchOptions &options_;
  const Clock::time_point begin_;
  const KernelContext original_;
  std::set<std::string, std::less<>> seen_;
  SearchResult result_;
};

} // namespace

void add_bounds(const Module &module, const Function &function, BoundOptions options,
                SearchCost &cost) {
  options.metrics = {weighted_steps(), {"divwarps", {0, 0, 0, 1}}};
  KernelBounds bounds = bound_kernel(module, function, options);
  cost.amounts = bounds.amounts;
  cost.wsteps = std::move(bounds.metrics[0].warp);
  // Behind its loop a counter is no number of the launch.
  if (cost.wsteps.most)
    for (const facts::AtomId variable : cost.amounts->variables(*cost.wsteps.most))
      if (is_counter(cost.amounts->name(variable)))
        cost.wsteps.obstacle = Obstacle{0, "a loop goes round as often as another one leaves over"};
  if (cost.wsteps.obstacle)
    cost.wsteps.most.reset();
  cost.divwarps = std::move(bounds.metrics[1].warp);
  cost.conditions = std::move(bounds.conditions);
  cost.whole_rows = bounds.whole_rows;
}

SearchResult search(const std::shared_ptr<const Module> &module, const std::string &kernel,
                    const SearchOptions &options) {
  return Search(module, kernel, options).run();
}

} // namespace ptxasw::synth
