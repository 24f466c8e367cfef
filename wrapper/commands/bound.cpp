// `ptxasw bound`: the bounds of analysis/bound as text and as JSON, evaluated at a launch, or of
// two files side by side.

#include "analysis/bound.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/launch_words.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"
#include "wrapper/os/files.h"

#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace ptxasw::inline wrapper {
namespace {

using facts::Amount;
using facts::AmountPool;
using facts::Rational;
using Json = nlohmann::ordered_json;

/// What `ptxasw bound` was asked.
struct BoundRequest {
  std::string input;
  std::string compare;              ///< a second file
  std::vector<std::string> kernels; ///< only these; empty is all
  std::vector<std::string> launch;
  std::string weights; ///< a file
  Shard shard;
  bool json = false, verbose = false;
};

constexpr int no_bound = 3;

/// `--weights FILE`: {"instructions": 1, "sectors": 5, ...}; what is not named counts nothing.
std::optional<std::string> read_weights(const std::string &path, BoundMetric &metric) {
  const auto text = read_input(path);
  if (!text)
    return text.error();
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object())
    return fmt::format("{}: expected an object of weights", path);
  metric.name = "weighted";
  for (const auto &[name, weight] : json.items()) {
    std::size_t event = 0;
    while (event < counted_events && to_string(static_cast<CountedEvent>(event)) != name)
      ++event;
    if (event == counted_events)
      return fmt::format("{}: `{}` is none of instructions, sectors, conflicts, divwarps", path,
                         name);
    if (!weight.is_number_unsigned())
      return fmt::format("{}: the weight of {} is no whole number from 0 on", path, name);
    metric.weights[event] = Rational(weight.get<std::uint64_t>());
  }
  return std::nullopt;
}

/// One kernel with everything said about it.
struct ToldBounds {
  KernelBounds bounds;
  ParameterNames names;
};

AmountsAt amounts_at(const ToldBounds &told, const LaunchPoint &point) {
  return {*told.bounds.amounts, told.names, point};
}

std::string text_of(const ToldBounds &told, const Amount &amount) {
  return told.bounds.amounts->to_string(amount,
                                        [&](const std::string &name) { return told.names(name); });
}

std::string reason_text(const Obstacle &obstacle) {
  return obstacle.line == 0 ? obstacle.reason
                            : fmt::format("line {}: {}", obstacle.line, obstacle.reason);
}

/// Returns true if a condition says that a sum stays below a power of two from 2^31 on.
bool is_against_overflow(const Amount &condition) {
  const auto &terms = condition.terms();
  return std::any_of(terms.begin(), terms.end(), [](const auto &term) {
    return term.first.empty() && term.second >= Rational(1 << 30);
  });
}

/// What the bounds rest on, a line each; of those that no index overflows only the number, unless
/// all are asked for.
void print_conditions(const ToldBounds &told, bool all) {
  const KernelBounds &bounds = told.bounds;
  const auto against = static_cast<std::size_t>(
      std::count_if(bounds.conditions.begin(), bounds.conditions.end(), is_against_overflow));
  const bool together = !all && against > 1;
  for (const Amount &condition : bounds.conditions)
    if (!together || !is_against_overflow(condition))
      fmt::print("  if: {}\n",
                 condition_text(*bounds.amounts, condition,
                                [&](const std::string &name) { return told.names(name); }));
  if (together)
    fmt::print("  if: no index overflows ({} conditions, -v)\n", against);
}

/// A formula, its end left out where it is long and not all is asked for.
std::string shortened(std::string formula, bool all) {
  constexpr std::size_t longest = 120;
  if (all || formula.size() <= longest)
    return formula;
  formula.resize(longest - 9);
  return formula + "... (-v)";
}

constexpr const char *rows_condition = "ntid.y*ntid.z = 1, or 32 divides ntid.x";

Json scope_json(const ToldBounds &told, const Bound &bound, const LaunchPoint *point) {
  if (!bound.most)
    return nullptr;
  if (!point)
    return text_of(told, *bound.most);
  const auto number = amounts_at(told, *point)(*bound.most);
  return number ? Json(number->str()) : Json(nullptr);
}

Json share_json(const ExactShare &share) { return {{"exact", share.exact}, {"all", share.all}}; }

Json to_json(const ToldBounds &told, const LaunchPoint *point) {
  const KernelBounds &bounds = told.bounds;
  Json json;
  json["name"] = bounds.name;
  json["bounds"] = Json::object();
  for (const MetricBound &metric : bounds.metrics) {
    Json &to = json["bounds"][metric.name];
    to["warp"] = scope_json(told, metric.warp, point);
    to["block"] = scope_json(told, metric.block, point);
    to["launch"] = scope_json(told, metric.launch, point);
    to["verdict"] = !metric.launch.most ? "none" : metric.launch.exact ? "exact" : "bound";
    const auto &obstacle = metric.launch.obstacle;
    to["reason"] = obstacle ? Json(obstacle->reason) : Json(nullptr);
    to["line"] = obstacle && obstacle->line ? Json(obstacle->line) : Json(nullptr);
    to["known"] = {{"branches", share_json(metric.branches)}, {"loops", share_json(metric.loops)}};
  }
  json["conditions"] = Json::array();
  for (const Amount &condition : bounds.conditions)
    json["conditions"].push_back(condition_text(
        *bounds.amounts, condition, [&](const std::string &name) { return told.names(name); }));
  json["whole_rows"] = bounds.whole_rows;
  json["loops"] = Json::array();
  for (const LoopBound &loop : bounds.loops)
    json["loops"].push_back({{"line", loop.line},
                             {"depth", loop.depth},
                             {"rounds", loop.rounds ? Json(text_of(told, *loop.rounds)) : Json()},
                             {"verdict", !loop.rounds ? "none"
                                         : loop.exact ? "exact"
                                                      : "bound"},
                             {"reason", loop.rounds ? Json() : Json(loop.reason)}});
  json["known"] = {{"branches", share_json(bounds.branches)},
                   {"loops", share_json(bounds.counted_loops)}};
  return json;
}

/// The bounds of one metric, one line each; where they are numbers for a launch, as numbers.
void print_bounds(const ToldBounds &told, const LaunchPoint *point, bool all) {
  const KernelBounds &bounds = told.bounds;
  fmt::print("{}:\n", bounds.name);
  for (const MetricBound &metric : bounds.metrics) {
    if (metric.launch.obstacle) {
      fmt::print("  {:<10} no bound: {}\n", metric.name, reason_text(*metric.launch.obstacle));
      continue;
    }
    const char *verdict = metric.launch.exact ? "exact" : "at most";
    const std::pair<const char *, const Bound *> scopes[] = {
        {"warp", &metric.warp}, {"block", &metric.block}, {"launch", &metric.launch}};
    for (const auto &[scope, bound] : scopes)
      fmt::print("  {:<10} {:<7} {:<8} {}\n", scope[0] == 'w' ? metric.name : "", scope, verdict,
                 point ? scope_json(told, *bound, point).get<std::string>()
                       : shortened(text_of(told, *bound->most), all));
  }
  for (const LoopBound &loop : bounds.loops)
    fmt::print("  loop, line {}: {}\n", loop.line,
               loop.rounds ? fmt::format("{}{} rounds", loop.exact ? "" : "at most ",
                                         text_of(told, *loop.rounds))
                           : "not counted: " + loop.reason);
  print_conditions(told, all);
  if (bounds.whole_rows)
    fmt::print("  if: {}\n", rows_condition);
}

/// Why numbers cannot be given at a point; empty if they can.
std::string not_at(const ToldBounds &told, const LaunchPoint &point) {
  if (told.bounds.whole_rows)
    return "--launch needs block=X, XxY or XxYxZ";
  AmountsAt value = amounts_at(told, point);
  for (const MetricBound &metric : told.bounds.metrics)
    for (const Bound *bound : {&metric.warp, &metric.block, &metric.launch})
      if (bound->most && !value(*bound->most))
        return value.fault();
  if (const Amount *const broken = value.violated(told.bounds.conditions))
    return fmt::format("the bounds hold only if {}",
                       condition_text(*told.bounds.amounts, *broken,
                                      [&](const std::string &name) { return told.names(name); }));
  return value.fault();
}

bool wanted(const Function &function, const std::vector<std::string> &kernels) {
  return function.is_entry && function.has_body &&
         (kernels.empty() ||
          std::find(kernels.begin(), kernels.end(), function.name) != kernels.end());
}

std::vector<ToldBounds> tell(const Module &module, const std::vector<std::string> &kernels,
                             BoundOptions options, const LaunchPoint &point, Sources &sources) {
  std::vector<ToldBounds> result;
  for (const Function &function : module.functions)
    if (wanted(function, kernels)) {
      ParameterNames names = source_names(function, module, sources);
      // What a formula cannot say: strides by which lanes are apart. The rest it has names for.
      options.grid = names.values_at(point);
      std::erase_if(options.grid,
                    [](const auto &number) { return !number.first.starts_with("nctaid."); });
      result.push_back({bound_kernel(module, function, options), std::move(names)});
    }
  return result;
}

// Which of two amounts is larger for large launches: -1 the first is smaller. Of equal degree, at a
// launch where every number is 2^20.
int order(const ToldBounds &a, const Amount &x, const ToldBounds &b, const Amount &y,
          const LaunchPoint *point) {
  const auto at_large = [](const ToldBounds &told, const Amount &amount) {
    return told.bounds.amounts->evaluate(
        amount, [](const std::string &) { return std::optional(Rational(1 << 20)); });
  };
  std::optional<Rational> left, right;
  if (point) {
    left = amounts_at(a, *point)(x);
    right = amounts_at(b, *point)(y);
  } else {
    const unsigned p = degree(*a.bounds.amounts, x), q = degree(*b.bounds.amounts, y);
    if (p != q)
      return p < q ? -1 : 1;
    left = at_large(a, x);
    right = at_large(b, y);
  }
  if (!left || !right)
    return 0;
  return *left < *right ? -1 : *left > *right ? 1 : 0;
}

/// What --compare says about one metric: which file's bound is lower, "equal", or "unknown".
std::string ranking(const ToldBounds &a, const ToldBounds &b, std::size_t metric,
                    const LaunchPoint *point) {
  const Bound &x = a.bounds.metrics[metric].launch, &y = b.bounds.metrics[metric].launch;
  if (!x.most && !y.most)
    return "unknown";
  if (!x.most || !y.most)
    return x.most ? "first" : "second";
  const int which = order(a, *x.most, b, *y.most, point);
  return which < 0 ? "first" : which > 0 ? "second" : "equal";
}

int compare(const std::vector<ToldBounds> &first, const std::vector<ToldBounds> &second,
            const BoundRequest &request, const LaunchPoint *point) {
  Json all = {{"first", request.input}, {"second", request.compare}, {"kernels", Json::array()}};
  bool lacking = false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    // By name; where each file has one kernel, those two.
    const auto found = std::find_if(second.begin(), second.end(), [&](const ToldBounds &told) {
      return told.bounds.name == first[i].bounds.name;
    });
    const ToldBounds *other = found != second.end()                     ? &*found
                              : first.size() == 1 && second.size() == 1 ? &second[0]
                                                                        : nullptr;
    if (!other)
      continue;
    Json kernel = {{"first", first[i].bounds.name}, {"second", other->bounds.name}};
    if (!request.json)
      fmt::print("{} and {}:\n", first[i].bounds.name, other->bounds.name);
    for (std::size_t m = 0; m < first[i].bounds.metrics.size(); ++m) {
      const std::string lower = ranking(first[i], *other, m, point);
      lacking = lacking || lower == "unknown";
      kernel["lower"][first[i].bounds.metrics[m].name] = lower;
      const auto text = [&](const ToldBounds &told) {
        const Bound &bound = told.bounds.metrics[m].launch;
        return bound.most ? (point ? scope_json(told, bound, point).get<std::string>()
                                   : text_of(told, *bound.most))
                          : "no bound";
      };
      if (!request.json)
        fmt::print("  {:<10} {:<8} {}  |  {}\n", first[i].bounds.metrics[m].name, lower,
                   text(first[i]), text(*other));
    }
    all["kernels"].push_back(std::move(kernel));
  }
  if (all["kernels"].empty())
    return complain("the two files have no kernel of one name");
  if (request.json)
    fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
  return lacking ? no_bound : 0;
}

int run(const BoundRequest &request, const Invocation &) {
  if (request.shard.count > 1 && !request.compare.empty())
    return complain(
        "--shard and --compare do not go together: kernels are found by name in both files",
        usage_error);
  const auto module = load_module(request.input);
  if (!module)
    return usage_error;
  const auto other = request.compare.empty() ? nullptr : load_module(request.compare);
  if (!request.compare.empty() && !other)
    return usage_error;
  std::vector<const Module *> modules{module.get()};
  if (other)
    modules.push_back(other.get());
  Sources sources;
  sources.add_folder_of(request.input);
  const auto launch = read_launch(request.launch, modules, sources);
  if (!launch)
    return complain(launch.error());
  const LaunchPoint &point = launch->point;
  // A shape alone leaves formulas; numbers are asked for with others.
  const bool at = !launch->shape_only;
  BoundOptions options;
  options.block = point.block;
  options.base_alignment = launch->base_alignment.value_or(1);
  if (!request.weights.empty()) {
    BoundMetric weighted;
    if (const auto wrong = read_weights(request.weights, weighted))
      return complain(*wrong);
    options.metrics.push_back(std::move(weighted));
  }
  const auto kernels = choose_kernels(*module, request.kernels, request.shard, request.input);
  if (!kernels)
    return usage_error;
  const std::vector<ToldBounds> told = tell(*module, *kernels, options, point, sources);
  if (at && request.compare.empty())
    for (const ToldBounds &one : told)
      if (const std::string why = not_at(one, point); !why.empty())
        return complain(fmt::format("{}: {}", one.bounds.name, why),
                        why.starts_with("the bounds hold") ? no_bound : usage_error);
  if (other) {
    const std::vector<ToldBounds> second = tell(*other, request.kernels, options, point, sources);
    for (const auto *side : {&told, &second})
      for (const ToldBounds &one : *side)
        if (const std::string why = at ? not_at(one, point) : ""; !why.empty())
          return complain(fmt::format("{}: {}", one.bounds.name, why));
    return compare(told, second, request, at ? &point : nullptr);
  }
  Json all = {{"file", request.input}, {"kernels", Json::array()}};
  bool complete = true;
  for (const ToldBounds &one : told) {
    for (const MetricBound &metric : one.bounds.metrics)
      complete = complete && !metric.launch.obstacle;
    if (request.json)
      all["kernels"].push_back(to_json(one, at ? &point : nullptr));
    else
      print_bounds(one, at ? &point : nullptr, request.verbose);
  }
  if (request.json)
    fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
  return complete ? 0 : no_bound;
}

void declare(Words &words, BoundRequest &request) {
  words.required("input", request.input, "PTX or a CUDA source, - for standard input");
  words.list("--kernel", request.kernels, "only this kernel; may be repeated");
  words.launch(request.launch);
  words.text("--weights FILE", request.weights,
             "bound a weighted sum, too: a JSON object with weights of instructions, sectors, "
             "conflicts and divwarps");
  words.text("--compare FILE", request.compare, "which of two versions has the lower bounds");
  words.shard(request.shard);
  words.flag("--json", request.json, "as JSON");
  words.flag("-v,--verbose", request.verbose, "whole formulas, and every condition");
  words.footer("Exit codes: 0 all kernels have all bounds, 2 it could not be tried, 3 one has no "
               "bound.");
  words.examples({"ptxasw bound heat.cu --kernel step",
                  "ptxasw bound heat.ptx --launch block=32x8,grid=64x64,n=2048"});
}

} // namespace

const Command bound_command = {"bound", "bound what a kernel costs, in its parameters and shape",
                               bind<BoundRequest, declare, run>};

} // namespace ptxasw::wrapper
