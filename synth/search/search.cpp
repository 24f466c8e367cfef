// From each version of the beam come all versions that are one rewrite further. A text that was
// seen is not analysed again, whatever order of rewrites led to it. What is not proved is withdrawn
// before anything is counted. A kernel that may wait in a loop stays as it is.
//
// Versions beside the kernel are of the kernel as it is. Their bounds cannot be compared with its
// own: some have other launches, and some keep the kernel's code for launches or rounds in which
// they do not gain, which a bound counts in full. So they are looked at where times are.

#include "synth/search/search.h"

#include "synth/same_launch.h"

#include <algorithm>
#include <chrono>
#include <fmt/core.h>
#include <set>

namespace ptxasw::synth {
namespace {

using Clock = std::chrono::steady_clock;
using facts::Amount;
using facts::AmountPool;
using facts::Rational;

/// Returns true if there is something to compare.
bool is_known(const SearchCost &cost, const SearchOptions &options) {
  if (options.time)
    return cost.microseconds.has_value();
  return cost.wsteps.most && (!options.at || options.at(cost, *cost.wsteps.most));
}

/// COpPER's weighted steps (section 4.1): a sector of device memory counts five, a way of shared
/// memory beyond the first, a divergence and an instruction one each.
BoundMetric weighted_steps() { return {"wsteps", {1, 5, 1, 1}}; }

/// Compares two bounds as published (section 4.2): the lower degree first; of equal degree the sums
/// of the coefficients of each degree, from the highest. That is the order of their values where
/// all variables are the same large number. -1: the first is lower; 0: neither is known to be.
int published_order(const AmountPool &amounts, const Amount &a, const AmountPool &others,
                    const Amount &b) {
  const unsigned p = degree(amounts, a), q = degree(others, b);
  if (p != q)
    return p < q ? -1 : 1;
  // Divisible by whatever bounds divide by.
  static const Rational large = Rational::power_of_two(60) * 3 * 3 * 5 * 7;
  const auto value = [](const std::string &) { return std::optional(large); };
  const auto x = amounts.evaluate(a, value), y = others.evaluate(b, value);
  if (!x || !y)
    return 0;
  return *x < *y ? -1 : *x > *y ? 1 : 0;
}

/// Returns true if the first is known to be better than the second: ties keep the second, and so
/// does a bound or a prediction that is not there.
bool is_better(const SearchCost &a, const SearchCost &b, const SearchOptions &options) {
  if (!is_known(a, options) || !is_known(b, options))
    return false;
  if (options.time)
    return *a.microseconds < *b.microseconds;
  if (options.at)
    return *options.at(a, *a.wsteps.most) < *options.at(b, *b.wsteps.most);
  return published_order(*a.amounts, *a.wsteps.most, *b.amounts, *b.wsteps.most) < 0;
}

class Search {
public:
  Search(std::shared_ptr<const Module> module, std::string kernel, const SearchOptions &options)
      : kernel_(std::move(kernel)), options_(options), begin_(Clock::now()) {
    bound_ = options.bound;
    bound_.metrics = {weighted_steps(), {"divwarps", {0, 0, 0, 1}}};
    SearchCandidate original;
    original.module = std::move(module);
    seen_.emplace(original.module->text());
    evaluate(original);
    result_.candidates.push_back(std::move(original));
  }

  SearchResult run() {
    const Module &module = *result_.candidates[0].module;
    std::vector<std::size_t> beam{0};
    const Function &kernel = *function_in(module);
    if (module_obstacle(module, kernel) || waiting_obstacle(module, kernel)) {
      result_.candidates[0].chosen = true;
      return std::move(result_);
    }
    for (unsigned round = 0; round < options_.rounds && !beam.empty() && !spent(); ++round) {
      std::vector<std::size_t> next;
      for (const std::size_t one : beam)
        take_steps(one, false, next);
      std::stable_sort(next.begin(), next.end(), [&](std::size_t a, std::size_t b) {
        const bool known = is_known(cost_of(a), options_);
        return known != is_known(cost_of(b), options_)
                   ? known
                   : is_better(cost_of(a), cost_of(b), options_);
      });
      if (next.size() > options_.beam)
        next.resize(options_.beam);
      beam = std::move(next);
    }
    std::vector<std::size_t> last;
    take_steps(result_.best, true, last);
    look_beside();
    result_.candidates[result_.best].chosen = true;
    return std::move(result_);
  }

private:
  const SearchCost &cost_of(std::size_t i) const { return result_.candidates[i].cost; }

  bool spent() {
    const std::chrono::duration<double> so_far = Clock::now() - begin_;
    result_.budget_spent = result_.budget_spent || so_far.count() >= options_.seconds;
    return result_.budget_spent;
  }

  const Function *function_in(const Module &module) const { return kernel_named(module, kernel_); }

  /// The bound of a version whose steps rest on tests is that of launches in which these come out
  /// well: the other arm is the version without them, and what it costs is known.
  void evaluate(SearchCandidate &candidate) const {
    std::shared_ptr<const Module> module = candidate.module;
    for (const Family &family : families())
      if (candidate.apart && family.without_tests)
        if (auto parsed = parse(family.without_tests(*module), "optimize"))
          module = std::shared_ptr<const Module>(std::move(*parsed));
    const Function &function = *function_in(*module);
    KernelBounds bounds = bound_kernel(*module, function, bound_);
    candidate.cost.amounts = bounds.amounts;
    candidate.cost.wsteps = std::move(bounds.metrics[0].warp);
    candidate.cost.divwarps = std::move(bounds.metrics[1].warp);
    candidate.cost.conditions = std::move(bounds.conditions);
    candidate.cost.whole_rows = bounds.whole_rows;
    if (options_.time)
      options_.time(*module, function, nullptr, candidate.cost);
  }

  /// The versions one rewrite further than candidate `from`; those that are proved join `next`.
  void take_steps(std::size_t from, bool last, std::vector<std::size_t> &next) {
    const std::shared_ptr<const Module> module = result_.candidates[from].module;
    const std::vector<std::string> done = result_.candidates[from].steps;
    const KernelContext context(*module, *function_in(*module));
    for (const Family &family : families())
      if (family.steps && family.steps_last == last)
        for (const FamilyStep &step : family.steps(context))
          if (!step.once || std::find(done.begin(), done.end(), step.name) == done.end())
            consider(from, family, step, next);
  }

  /// Each version of each family that does nothing in the kernel's place.
  void look_beside() {
    if (!options_.time)
      return;
    const std::shared_ptr<const Module> module = result_.candidates[0].module;
    const KernelContext context(*module, *function_in(*module));
    for (const Family &family : families()) {
      if (family.steps)
        continue;
      for (const Proposal &proposal : propose(family, context).proposals) {
        if (spent())
          return;
        if (!proposal.promise.empty())
          continue;
        const auto begin = Clock::now();
        SearchCandidate candidate;
        candidate.steps = {fmt::format("{}:{}", family.name, proposal.variant)};
        candidate.sibling = proposal.sibling.name;
        candidate.module = module;
        if (const auto made = proved_version(context, family, proposal))
          options_.time(*made->module, *made->sibling, &proposal.sibling, candidate.cost);
        else
          candidate.withdrawn = made.error();
        add(std::move(candidate), begin);
      }
    }
  }

  /// Candidate `from` and one step more; what is proved joins `next`.
  void consider(std::size_t from, const Family &family, const FamilyStep &step,
                std::vector<std::size_t> &next) {
    if (spent())
      return;
    const auto begin = Clock::now();
    std::optional<std::string> text = step.text();
    if (!text || !seen_.insert(*text).second)
      return;
    const std::shared_ptr<const Module> before = result_.candidates[from].module;
    SearchCandidate candidate;
    candidate.steps = result_.candidates[from].steps;
    candidate.steps.push_back(step.name);
    candidate.apart = result_.candidates[from].apart || family.without_tests;
    auto parsed = parse(std::move(*text), "optimize");
    if (parsed)
      candidate.module = std::shared_ptr<const Module>(std::move(*parsed));
    const Function *function = parsed ? function_in(*candidate.module) : nullptr;
    if (!function)
      candidate.withdrawn = parsed ? "the kernel is gone" : parsed.error().message;
    else if (family.prove_step)
      candidate.withdrawn =
          family.prove_step(*before, *function_in(*before), *candidate.module, *function);
    if (candidate.withdrawn.empty())
      evaluate(candidate);
    if (const auto index = add(std::move(candidate), begin))
      next.push_back(*index);
  }

  /// Where a candidate is then; nothing if it is withdrawn.
  std::optional<std::size_t> add(SearchCandidate candidate, Clock::time_point begin) {
    const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
    candidate.milliseconds = took.count();
    const std::size_t index = result_.candidates.size();
    const bool proved = candidate.withdrawn.empty();
    result_.candidates.push_back(std::move(candidate));
    if (!proved)
      return std::nullopt;
    if (is_better(cost_of(index), cost_of(result_.best), options_))
      result_.best = index;
    return index;
  }

  const std::string kernel_;
  const SearchOptions &options_;
  BoundOptions bound_;
  const Clock::time_point begin_;
  std::set<std::string, std::less<>> seen_;
  SearchResult result_;
};

} // namespace

SearchResult search(const std::shared_ptr<const Module> &module, const std::string &kernel,
                    const SearchOptions &options) {
  return Search(module, kernel, options).run();
}

} // namespace ptxasw::synth
