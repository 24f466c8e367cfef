// The bounds of analysis/bound as text and as JSON, evaluated at a launch, or of two files side by
// side.

#include "wrapper/commands/cost_bounds.h"

#include "wrapper/os/files.h"

#include <algorithm>
#include <charconv>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

using facts::Amount;
using facts::AmountPool;
using facts::Rational;
using Json = nlohmann::ordered_json;

constexpr std::string_view holds_only = "the bounds hold only if ";
constexpr const char *rows_condition = "ntid.y*ntid.z = 1, or 32 divides ntid.x";

AmountsAt amounts_at(const ToldBounds &told, const LaunchPoint &point) {
  return {*told.bounds.amounts, told.names, point};
}

std::string text_of(const ToldBounds &told, const Amount &amount) {
  return told.bounds.amounts->to_string(amount,
                                        [&](const std::string &name) { return told.names(name); });
}

std::string condition_of(const ToldBounds &told, const Amount &condition) {
  return condition_text(*told.bounds.amounts, condition,
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

/// A formula, its end left out where it is long and not all is asked for.
std::string shortened(std::string formula, bool all) {
  constexpr std::size_t longest = 120;
  if (all || formula.size() <= longest)
    return formula;
  formula.resize(longest - 9);
  return formula + "... (-v)";
}

/// What the bounds rest on, a line each; of those that no index overflows only the number, unless
/// all are asked for.
std::string conditions_text(const ToldBounds &told, bool all) {
  const KernelBounds &bounds = told.bounds;
  const auto against =
      std::count_if(bounds.conditions.begin(), bounds.conditions.end(), is_against_overflow);
  const bool together = !all && against > 1;
  std::string text;
  for (const Amount &condition : bounds.conditions)
    if (!together || !is_against_overflow(condition))
      text += fmt::format("  if: {}\n", shortened(condition_of(told, condition), all));
  if (together)
    text += fmt::format("  if: no index overflows ({} conditions, -v)\n", against);
  if (bounds.whole_rows)
    text += fmt::format("  if: {}\n", rows_condition);
  return text;
}

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
    json["conditions"].push_back(condition_of(told, condition));
  json["whole_rows"] = bounds.whole_rows;
  json["loops"] = Json::array();
  for (const LoopBound &loop : bounds.loops)
    json["loops"].push_back({{"line", loop.line},
                             {"depth", loop.depth},
                             {"rounds", loop.rounds ? Json(text_of(told, *loop.rounds)) : Json()},
                             {"verdict", !loop.rounds ? "none"
                                         : loop.exact ? "exact"
                                                      : "bound"},
                             {"reason", loop.rounds ? Json() : Json(loop.reason)},
                             {"variable", loop.variable.empty() ? Json() : Json(loop.variable)}});
  json["known"] = {{"branches", share_json(bounds.branches)},
                   {"loops", share_json(bounds.counted_loops)}};
  return json;
}

/// The bounds of each metric, one line each; where they are numbers for a launch, as numbers.
std::string to_text(const ToldBounds &told, const LaunchPoint *point, bool all) {
  std::string text;
  for (const MetricBound &metric : told.bounds.metrics) {
    if (metric.launch.obstacle) {
      text +=
          fmt::format("  {:<10} no bound: {}\n", metric.name, reason_text(*metric.launch.obstacle));
      continue;
    }
    const char *verdict = metric.launch.exact ? "exact" : "at most";
    const std::pair<const char *, const Bound *> scopes[] = {
        {"warp", &metric.warp}, {"block", &metric.block}, {"launch", &metric.launch}};
    for (const auto &[scope, bound] : scopes)
      text += fmt::format("  {:<10} {:<7} {:<8} {}\n", scope[0] == 'w' ? metric.name : "", scope,
                          verdict,
                          point ? scope_json(told, *bound, point).get<std::string>()
                                : shortened(text_of(told, *bound->most), all));
  }
  for (const LoopBound &loop : told.bounds.loops)
    text += fmt::format("  loop, line {}: {}\n", loop.line,
                        loop.rounds ? fmt::format("{}{} rounds", loop.exact ? "" : "at most ",
                                                  shortened(text_of(told, *loop.rounds), all))
                        : loop.variable.empty()
                            ? "not counted: " + loop.reason
                            : fmt::format("{} rounds: {}", loop.variable, loop.reason));
  return text + conditions_text(told, all);
}

/// Why numbers cannot be given at a point; empty if they can.
std::string fault_at(const ToldBounds &told, const LaunchPoint &point) {
  if (told.bounds.whole_rows)
    return "--launch needs block=X, XxY or XxYxZ";
  AmountsAt value = amounts_at(told, point);
  for (const MetricBound &metric : told.bounds.metrics)
    for (const Bound *bound : {&metric.warp, &metric.block, &metric.launch})
      if (bound->most && !value(*bound->most))
        return value.fault();
  if (const Amount *const broken = value.violated(told.bounds.conditions))
    return fmt::format("{}{}", holds_only, condition_of(told, *broken));
  return value.fault();
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

} // namespace

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

ToldBounds told_bounds(const Module &module, const Function &function, BoundOptions options,
                       const LaunchPoint &point, Sources &sources) {
  ParameterNames names = source_names(function, module, sources);
  // What a formula cannot say: strides by which lanes are apart. The rest it has names for.
  options.grid = names.values_at(point);
  std::erase_if(options.grid,
                [](const auto &number) { return !number.first.starts_with("nctaid."); });
  return {bound_kernel(module, function, options), std::move(names)};
}

std::optional<std::string> read_rounds(const std::vector<std::string> &words, GivenRounds &rounds) {
  for (const std::string &word : words) {
    std::uint32_t line = 0;
    std::uint64_t number = 0;
    const char *const end = word.data() + word.size();
    const auto [equals, wrong] = std::from_chars(word.data(), end, line);
    if (wrong != std::errc() || equals == end || *equals != '=')
      return fmt::format("--rounds {}: expected LINE=NUMBER", word);
    if (const auto read = std::from_chars(equals + 1, end, number);
        read.ec != std::errc() || read.ptr != end || number == 0)
      return fmt::format("--rounds {}: expected a number from 1 on behind `=`", word);
    rounds[line] = number;
  }
  return std::nullopt;
}

void put_in(const GivenRounds &rounds, bool at_launch, ToldBounds &told, GivenRounds &unused) {
  AmountPool &amounts = *told.bounds.amounts;
  for (LoopBound &loop : told.bounds.loops) {
    if (loop.variable.empty())
      continue;
    const facts::AtomId variable = amounts.atom_of(amounts.variable(loop.variable));
    const auto given = std::find_if(rounds.begin(), rounds.end(), [&](const auto &one) {
      return loop.variable == fmt::format("rounds_{}", one.first);
    });
    if (given != rounds.end()) {
      loop.rounds = Amount(Rational(given->second));
      unused.erase(given->first);
    }
    for (MetricBound &metric : told.bounds.metrics)
      for (Bound *const bound : {&metric.warp, &metric.block, &metric.launch}) {
        if (!bound->most || !amounts.mentions(*bound->most, variable))
          continue;
        if (loop.rounds)
          bound->most = amounts.substitute(*bound->most, variable, *loop.rounds);
        else if (at_launch)
          *bound = {
              {},
              false,
              Obstacle{loop.line,
                       fmt::format("a loop: {}; --rounds {}=N says how often it runs", loop.reason,
                                   loop.variable.substr(loop.variable.find('_') + 1))}};
      }
  }
}

std::optional<Unanswered> not_at(const ToldBounds &told, const LaunchPoint *point) {
  const std::string why = point ? fault_at(told, *point) : "";
  if (why.empty())
    return std::nullopt;
  return Unanswered{fmt::format("{}: {}", demangled(told.bounds.name), why),
                    why.starts_with(holds_only) ? exit_code::incomplete : exit_code::failed};
}

KernelAnswer answer_of(const ToldBounds &told, const LaunchPoint *point, bool all) {
  const bool complete =
      std::none_of(told.bounds.metrics.begin(), told.bounds.metrics.end(),
                   [](const MetricBound &metric) { return metric.launch.obstacle; });
  return {"", to_text(told, point, all), to_json(told, point),
          complete ? exit_code::fine : exit_code::incomplete};
}

KernelAnswer compare(const ToldBounds &first, const ToldBounds &second, const LaunchPoint *point,
                     bool all) {
  KernelAnswer answer{
      fmt::format("{} and {}:", demangled(first.bounds.name), demangled(second.bounds.name)),
      "",
      {}};
  answer.json["second"] = second.bounds.name;
  for (std::size_t m = 0; m < first.bounds.metrics.size(); ++m) {
    const std::string lower = ranking(first, second, m, point);
    const std::string &name = first.bounds.metrics[m].name;
    answer.code = lower == "unknown" ? exit_code::incomplete : answer.code;
    answer.json["lower"][name] = lower;
    const auto text = [&](const ToldBounds &told) {
      const Bound &bound = told.bounds.metrics[m].launch;
      return !bound.most ? "no bound"
             : point     ? scope_json(told, bound, point).get<std::string>()
                         : shortened(text_of(told, *bound.most), all);
    };
    answer.text +=
        fmt::format("  {:<10} {:<8} {}  |  {}\n", name, lower, text(first), text(second));
  }
  return answer;
}

} // namespace ptxasw::wrapper
