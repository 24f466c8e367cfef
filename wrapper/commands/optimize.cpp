// `ptxasw optimize`: the search of synth/search as a table and as JSON, and the best version as
// PTX, in the kernel's place or beside it.

#include "analysis/cost/advice.h"
#include "analysis/cost/warp_runs.h"
#include "emulator/semantics/parameter_layout.h"
#include "synth/search/search.h"
#include "synth/siblings.h"
#include "wrapper/commands/analyse.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/gpu_choice.h"
#include "wrapper/commands/kernel_needs.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"
#include "wrapper/launch/fit.h"
#include "wrapper/os/files.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <unistd.h>
#include <utility>

namespace ptxasw::wrapper {
namespace {

using Json = nlohmann::ordered_json;
using facts::Amount;
using facts::Rational;

/// What `ptxasw optimize` was asked.
struct OptimizeRequest {
  AnalysisRequest asked;
  std::string output; ///< empty: only say what was found
  std::string metric = "wsteps", gpu, budget = "60s";
  unsigned beam = 8;
};

/// One kernel's search, and what its parameters are called.
struct ToldSearch {
  std::string kernel;
  ParameterNames names;
  SearchResult result;

  const SearchCandidate &best() const { return result.candidates[result.best]; }
};

/// `60s`, `1.5s`, `60`: seconds; nothing if it is no positive number.
std::optional<double> seconds_of(std::string text) {
  if (text.ends_with('s'))
    text.pop_back();
  double seconds = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size() ||
      !(seconds > 0) || seconds > 1e6)
    return std::nullopt;
  return seconds;
}

/// What a bound of a version is at a point, or why there is no number.
struct BoundAt {
  std::optional<Rational> number;
  std::string why;
  bool holds = true; ///< false: there is no number because a condition of the bounds does not hold
};

BoundAt value_at(const SearchCost &cost, const Amount &amount, const ParameterNames &names,
                 const LaunchPoint &point) {
  if (cost.whole_rows)
    return {std::nullopt, "--launch needs block=X, XxY or XxYxZ"};
  AmountsAt value(*cost.amounts, names, point);
  const auto number = value(amount);
  const Amount *const broken = value.violated(cost.conditions);
  if (!value.fault().empty())
    return {std::nullopt, value.fault()};
  if (broken)
    return {std::nullopt,
            "it holds only if " +
                condition_text(*cost.amounts, *broken,
                               [&](const std::string &name) { return names(name); }),
            false};
  return {number, ""};
}

/// The numbers that the bounds of a version are at its launch.
void put_numbers(const ParameterNames &names, const LaunchPoint &point, SearchCost &cost) {
  const auto put = [&](const Bound &bound, std::optional<Rational> &there) {
    if (!bound.most)
      return;
    BoundAt at = value_at(cost, *bound.most, names, point);
    there = std::move(at.number);
    if (!there)
      cost.no_number = std::move(at.why);
  };
  put(cost.wsteps, cost.wsteps_there);
  put(cost.divwarps, cost.divwarps_there);
}

std::string bound_text(const ToldSearch &told, const SearchCost &cost, const Bound &bound,
                       const std::optional<Rational> &there, bool at_launch) {
  if (!bound.most)
    return "no bound";
  if (at_launch)
    return there ? there->str() : "no bound there: " + cost.no_number;
  return cost.amounts->to_string(*bound.most,
                                 [&](const std::string &name) { return told.names(name); });
}

/// Why a version has no bound that could be compared; empty if it has one.
const std::string &reason_of(const SearchCost &cost) {
  return !cost.no_launch.empty() ? cost.no_launch
         : cost.wsteps.obstacle  ? cost.wsteps.obstacle->reason
         : !cost.wsteps_there    ? cost.no_number
                                 : cost.not_compared;
}

/// Whether the search could not compare all that it was to compare.
bool is_incomplete(const ToldSearch &told, bool by_time) {
  const SearchCost &own = told.result.candidates[0].cost;
  return told.result.budget_spent || (by_time ? !own.microseconds : !reason_of(own).empty());
}

std::string steps_text(const SearchCandidate &candidate) {
  std::string text;
  for (const std::string &step : candidate.steps)
    text += (text.empty() ? "" : " + ") + step;
  return text.empty() ? "as it is" : text;
}

std::string cost_text(const ToldSearch &told, const SearchCandidate &one, bool at_launch) {
  const SearchCost &cost = one.cost;
  if (one.withdrawn)
    return "withdrawn: " + one.withdrawn->why;
  if (!cost.no_launch.empty())
    return "not launched: " + cost.no_launch;
  std::string text = fmt::format(
      "wsteps {}, divwarps {}", bound_text(told, cost, cost.wsteps, cost.wsteps_there, at_launch),
      bound_text(told, cost, cost.divwarps, cost.divwarps_there, at_launch));
  if (cost.all_warps)
    text += fmt::format(", {} in all warps", cost.all_warps->str());
  if (cost.counted)
    text += fmt::format(", {} counted{}", cost.counted->str(), cost.how_counted);
  if (cost.microseconds)
    text += fmt::format(", {:.2f} us", *cost.microseconds);
  else if (!cost.no_time.empty())
    text += ", no time: " + cost.no_time;
  else if (!one.sibling.empty() && !cost.counted && !reason_of(cost).empty())
    text += ", not compared: " + reason_of(cost);
  return text + (one.apart ? ", where stores stay away from what it repeats" : "");
}

/// Why a version cannot be compared, in few words; empty: it is.
std::string obstacle_of(const SearchCandidate &one, bool by_time) {
  const SearchCost &cost = one.cost;
  if (one.withdrawn)
    return "not proved";
  if (!cost.no_launch.empty())
    return "not launched";
  if (by_time)
    return cost.microseconds ? "" : "no time, " + cost.no_time;
  if (cost.counted || reason_of(cost).empty())
    return "";
  const char *const bound = !cost.wsteps.most           ? "no bound"
                            : cost.not_compared.empty() ? "no bound there"
                                                        : "a bound of more than runs";
  return fmt::format("{}, no count{}{}", bound, cost.how_counted.empty() ? "" : ", ",
                     cost.how_counted);
}

/// How many versions are not compared, and why; empty: all are.
std::string uncompared_text(const ToldSearch &told, bool by_time) {
  std::map<std::string, std::size_t> obstacles;
  std::size_t all = 0;
  for (const SearchCandidate &one : told.result.candidates)
    if (const std::string obstacle = obstacle_of(one, by_time); !obstacle.empty()) {
      ++obstacles[obstacle];
      ++all;
    }
  std::string text;
  for (const auto &[obstacle, count] : obstacles)
    text += fmt::format("{} {} {}", text.empty() ? ":" : ";", count, obstacle);
  return all == 0 ? ""
                  : fmt::format("  {} of {} are not compared{}\n", all,
                                told.result.candidates.size(), text);
}

std::string to_text(const ToldSearch &told, bool at_launch, bool by_time) {
  std::string text;
  for (const SearchCandidate &one : told.result.candidates)
    text += fmt::format("{} {:<32} {} ({:.0f} ms)\n", &one == &told.best() ? '*' : ' ',
                        steps_text(one), cost_text(told, one, at_launch), one.milliseconds);
  if (const Bound &own = told.result.candidates[0].cost.wsteps; own.obstacle)
    text += fmt::format("  no bound: line {}: {}\n", own.obstacle->line, own.obstacle->reason);
  if (at_launch)
    text += uncompared_text(told, by_time);
  if (told.result.budget_spent)
    text += "  the budget was spent before everything was tried\n";
  return text;
}

Json to_json(const ToldSearch &told, bool at_launch) {
  Json json = {{"improved", told.result.best != 0},
               {"budget_spent", told.result.budget_spent},
               {"candidates", Json::array()}};
  for (const SearchCandidate &one : told.result.candidates) {
    const SearchCost &cost = one.cost;
    const bool proved = !one.withdrawn;
    const auto bound = [&](const Bound &amount, const std::optional<Rational> &there) {
      return amount.most && (there || !at_launch)
                 ? Json(bound_text(told, cost, amount, there, at_launch))
                 : Json();
    };
    const std::string &reason = proved ? reason_of(cost) : one.withdrawn->why;
    json["candidates"].push_back(
        {{"steps", one.steps},
         {"verdict", one.steps.empty() ? "original"
                     : proved          ? "proved"
                                       : "withdrawn"},
         {"reason", reason.empty() ? Json() : Json(reason)},
         {"wsteps", bound(cost.wsteps, cost.wsteps_there)},
         {"divwarps", bound(cost.divwarps, cost.divwarps_there)},
         {"all_warps", cost.all_warps ? Json(cost.all_warps->str()) : Json()},
         {"counted", cost.counted ? Json(cost.counted->str()) : Json()},
         {"microseconds", cost.microseconds ? Json(*cost.microseconds) : Json()},
         {"apart", one.apart},
         {"sibling", one.sibling.empty() ? Json() : Json(one.sibling)},
         {"milliseconds", one.milliseconds},
         {"chosen", &one == &told.best()}});
  }
  return json;
}

/// A file for ptxas that is gone afterwards.
class CandidateFile {
public:
  CandidateFile()
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("ptxasw-optimize-{}.ptx", ::getpid())) {}
  ~CandidateFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  CandidateFile(const CandidateFile &) = delete;
  CandidateFile &operator=(const CandidateFile &) = delete;
  std::string path() const { return path_.string(); }

private:
  std::filesystem::path path_;
};

/// A launch of a version: its grid, its block, and what the parameters behind the kernel's own get.
struct VersionLaunch {
  launch::Extents grid, block;
  std::vector<std::uint32_t> appended;
};

std::uint32_t along(const launch::Extents &extents, char axis) {
  return axis == 'x' ? extents.x : axis == 'y' ? extents.y : extents.z;
}

/// What is asked about the versions of one kernel.
struct AskedCosts {
  const LaunchPoint &point;
  const ParameterNames &names; ///< of the kernel's parameters
  const BoundOptions &bound;
  unsigned shared;      ///< bytes of a block's dynamic shared memory
  bool numbers;         ///< the point has those that bounds are in
  const cost::Gpu *gpu; ///< null: times are not asked for
  std::string no_count =
      {}; ///< why the steps of the kernel, which is asked about first, have no count
};

/// How a version is launched where the kernel is as the point says; why it is not. `values` are the
/// kernel's arguments, by the names of parameters; those that have none are 0.
tl::expected<VersionLaunch, std::string>
launch_of(const AskedCosts &asked, const std::map<std::string, std::int64_t> &values,
          const Function &function, const Sibling *sibling) {
  const LaunchPoint &point = asked.point;
  std::array<std::uint32_t, 3> blocks{1, 1, 1};
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (const auto grid = point.numbers.find(fmt::format("nctaid.{}", "xyz"[axis]));
        grid != point.numbers.end())
      blocks[axis] = static_cast<std::uint32_t>(facts::floor_of(grid->second));
  VersionLaunch result{
      {blocks[0], blocks[1], blocks[2]}, {point.block->x, point.block->y, point.block->z}, {}};
  if (!sibling)
    return result;
  for (const char axis : sibling->appended)
    result.appended.push_back(along(result.grid, axis));
  for (const char axis : sibling->appended_blocks)
    result.appended.push_back(along(result.block, axis));
  SiblingTable table;
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i + result.appended.size() < function.parameters.size(); ++i) {
    table.parameters.push_back({kernel_parameter_offset(function, i),
                                static_cast<std::uint32_t>(function.parameters[i].size())});
    bytes.resize(table.parameters[i].offset + table.parameters[i].bytes);
    if (const auto value = values.find(asked.names.own(i)); value != values.end())
      std::memcpy(bytes.data() + table.parameters[i].offset, &value->second,
                  std::min<std::size_t>(sizeof value->second, table.parameters[i].bytes));
  }
  launch::Launch own;
  own.grid = result.grid;
  own.block = result.block;
  own.shared_bytes = asked.shared;
  const launch::Arguments arguments{nullptr, bytes.data()};
  const launch::Outcome outcome = fit(own, arguments, table, *sibling, {});
  launch::SiblingLaunch made;
  if (outcome != launch::Outcome::sibling)
    return tl::unexpected(explain(outcome, own, arguments, table, *sibling, {}));
  if (!made.prepare(own, arguments, table, *sibling))
    return tl::unexpected(std::string("it has too many parameters"));
  result.grid = made.grid;
  result.block = made.block;
  return result;
}

/// The bounds of a version beside the kernel in its launch.
void bound_beside(const AskedCosts &asked, const Module &module, const Function &function,
                  const VersionLaunch &launch, SearchCost &cost) {
  BoundOptions options = asked.bound;
  options.block = BlockShape{launch.block.x, launch.block.y, launch.block.z};
  add_bounds(module, function, options, cost);
  LaunchPoint there;
  for (const auto &[own, value] : asked.names.values_at(asked.point))
    if (const Rational *number = asked.names.number(asked.point, asked.names(own)))
      there.numbers[asked.names(own)] = *number;
  for (const char axis : {'x', 'y', 'z'}) {
    there.numbers[fmt::format("nctaid.{}", axis)] = Rational(along(launch.grid, axis));
    there.numbers[fmt::format("ntid.{}", axis)] = Rational(along(launch.block, axis));
  }
  std::vector<std::string> called;
  const std::size_t own = function.parameters.size() - launch.appended.size();
  for (std::size_t i = 0; i < own; ++i)
    called.push_back(asked.names(asked.names.own(i)));
  const ParameterNames names(function, called);
  for (std::size_t i = own; i < function.parameters.size(); ++i)
    there.numbers[names.own(i)] = Rational(launch.appended[i - own]);
  if (asked.numbers)
    put_numbers(names, there, cost);
}

/// What a version is called with in its launch. `values` are the kernel's arguments.
cost::Arguments arguments_in(const AskedCosts &asked,
                             const std::map<std::string, std::int64_t> &values,
                             const Function &function, const VersionLaunch &launch) {
  cost::Arguments arguments;
  const std::size_t own = function.parameters.size() - launch.appended.size();
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const Variable &parameter = function.parameters[i];
    const auto value = i < own ? values.find(asked.names.own(i)) : values.end();
    if (i >= own || value != values.end())
      arguments[{std::string(parameter.name), 0}].bits =
          i >= own ? launch.appended[i - own]
                   : static_cast<std::uint64_t>(value->second) &
                         mask64(std::min(64u, bit_width(parameter.type)));
  }
  return arguments;
}

/// The weighted steps of all warps of a version in its launch, if they can be run.
void count_steps(const AskedCosts &asked, cost::Arguments arguments, const Module &module,
                 const Function &function, const VersionLaunch &launch, SearchCost &cost) {
  const auto count = cost::count_launch(
      module, function, std::move(arguments), {launch.grid.x, launch.grid.y, launch.grid.z},
      {launch.block.x, launch.block.y, launch.block.z}, asked.shared);
  if (!count) {
    cost.how_counted = count.error();
    return;
  }
  if (count->run < count->all)
    cost.how_counted = fmt::format(" in {} of {} blocks", count->run, count->all);
  const EventWeights weights = weighted_steps().weights;
  const double events[] = {count->instructions, count->sectors, count->conflicts, count->divwarps};
  cost.counted.emplace(0);
  for (std::size_t event = 0; event < counted_events; ++event)
    *cost.counted +=
        weights[event] * Rational(static_cast<std::uint64_t>(std::llround(events[event])));
}

/// The predicted time of a version in its launch. `values` are the kernel's arguments.
void predict_time(const Settings &settings, const AskedCosts &asked,
                  const std::map<std::string, std::int64_t> &values, const Module &module,
                  const Function &function, const VersionLaunch &launch, SearchCost &cost) {
  const CandidateFile file;
  if (const auto written = write_file_atomically(file.path(), module.text()); !written) {
    cost.no_time = written.error();
    return;
  }
  const auto needs = needs_of_kernels(settings, module, file.path(), {std::string(function.name)},
                                      asked.gpu->target, std::nullopt, 0);
  if (!needs || needs->size() != 1) {
    cost.no_time = needs ? "ptxas does not know the kernel" : needs.error();
    return;
  }
  cost::Question question;
  question.current = {launch.block.x, launch.block.y, launch.block.z};
  question.shapes = {*question.current};
  for (int axis = 0; axis < 3; ++axis)
    question.threads[axis] = along(launch.grid, "xyz"[axis]) * (*question.current)[axis];
  question.needs = needs->front().needs;
  question.spill_stores = needs->front().spill_stores;
  question.spill_loads = needs->front().spill_loads;
  question.required = needs->front().required;
  question.may_run = true;
  question.arguments = arguments_in(asked, values, function, launch);
  const cost::Advice advice = cost::advise(module, function, *asked.gpu, question);
  cost.guesses = advice.doubts;
  if (advice.refusal || advice.shapes.empty())
    cost.no_time = advice.refusal.value_or("the launch is not possible");
  else
    cost.microseconds = advice.shapes.front().prediction.microseconds;
}

/// What a version costs where the kernel is launched as the point says.
void add_costs(const Settings &settings, const AskedCosts &asked, const Module &module,
               const Function &function, const Sibling *sibling, SearchCost &cost) {
  if (!sibling && asked.numbers)
    put_numbers(asked.names, asked.point, cost);
  if (!asked.point.block)
    return;
  const auto values = asked.names.values_at(asked.point);
  const auto launch = launch_of(asked, values, function, sibling);
  if (!launch) {
    cost.no_launch = launch.error();
    return;
  }
  if (sibling)
    bound_beside(asked, module, function, *launch, cost);
  const bool whole = asked.point.numbers.contains("nctaid.x");
  if (whole && cost.wsteps_there)
    cost.all_warps =
        *cost.wsteps_there * Rational(std::uint64_t{launch->grid.x} * launch->grid.y) *
        Rational(launch->grid.z) *
        Rational((std::uint64_t{launch->block.x} * launch->block.y * launch->block.z + 31) / 32);
  if (!asked.no_count.empty())
    cost.how_counted = asked.no_count;
  else if (!asked.gpu && whole && asked.numbers)
    count_steps(asked, arguments_in(asked, values, function, *launch), module, function, *launch,
                cost);
  if (asked.gpu)
    predict_time(settings, asked, values, module, function, *launch, cost);
}

/// What is wrong with a request; empty: nothing.
std::string fault_of(const OptimizeRequest &request, const LaunchPoint &point) {
  if (request.metric == "time" && !point.block)
    return "--metric time needs --launch with block=, grid= and the numbers that the kernel gets";
  if (!seconds_of(request.budget))
    return fmt::format("--budget `{}`: expected seconds, as in 60s", request.budget);
  return "";
}

int run(const OptimizeRequest &request, const Invocation &invocation) {
  const auto settings = invocation.settings();
  if (!settings)
    return complain(settings.error());
  auto inputs = read_analysis(request.asked, "optimize");
  if (!inputs)
    return exit_code::failed;
  if (inputs->files.size() > 1 && !request.output.empty())
    return complain("-o takes the versions of one input");
  const LaunchPoint &point = inputs->launch.point;
  if (const std::string fault = fault_of(request, point); !fault.empty())
    return complain(fault);
  const LaunchPoint *const at = inputs->launch.shape_only ? nullptr : &point;
  SearchOptions options;
  options.bound.block = point.block;
  options.bound.base_alignment = inputs->launch.base_alignment.value_or(1);
  options.beam = request.beam;
  options.by_time = request.metric == "time";
  options.beside = options.by_time || (at && point.block && point.numbers.contains("nctaid.x"));
  const Module *own = nullptr;          // that `module` was made of
  std::shared_ptr<const Module> module; // with the best versions so far in their kernels' places
  SiblingOptions beside;                // the best versions that are beside their kernels
  beside.names.emplace();
  const auto each = [&](const AnalysedKernel &one) -> tl::expected<KernelAnswer, Unanswered> {
    if (own != &one.module()) {
      own = &one.module();
      module = std::shared_ptr<const Module>(std::shared_ptr<void>(), own);
    }
    const std::string name(one.function.name);
    const ParameterNames parameters = source_names(one.function, *own, inputs->sources);
    const auto gpu = choose_gpu(request.gpu, std::string(own->target));
    if (options.by_time && !gpu)
      return tl::unexpected(Unanswered{gpu.error()});
    AskedCosts costs{point,         parameters,
                     options.bound, inputs->launch.shared.value_or(0),
                     at != nullptr, options.by_time ? &*gpu : nullptr};
    if (at || options.by_time)
      options.at = [&, first = true](const Module &version, const Function &function,
                                     const Sibling *sibling, SearchCost &cost) mutable {
        add_costs(*settings, costs, version, function, sibling, cost);
        if (std::exchange(first, false) && !cost.counted)
          costs.no_count = cost.how_counted;
      };
    options.seconds = *seconds_of(request.budget) / static_cast<double>(one.names->size());
    const ToldSearch told{name, parameters, search(module, name, options)};
    if (const SearchCost &cost = told.result.candidates[0].cost;
        at && !options.by_time && cost.wsteps.most)
      if (const BoundAt there = value_at(cost, *cost.wsteps.most, parameters, point);
          !there.number && there.holds)
        return tl::unexpected(Unanswered{fmt::format("{}: {}", name, there.why)});
    const SearchCandidate &best = told.result.candidates[told.result.best];
    module = best.module;
    if (!best.sibling.empty()) {
      beside.kernels.push_back(name);
      beside.names->push_back(best.sibling);
    }
    return KernelAnswer{name + ":", to_text(told, at, options.by_time), to_json(told, at),
                        is_incomplete(told, options.by_time) ? exit_code::incomplete
                                                             : exit_code::fine};
  };
  if (const Module &first = *inputs->files.front().module;
      !request.output.empty() && !has_kernel(first)) {
    const auto written = write_file_atomically(request.output, first.text()); // as it is
    return written ? 0 : complain(written.error());
  }
  AnalysisRequest asked = request.asked;
  asked.to = request.output == "-" ? stderr : stdout;
  const int code = analyse(asked, *inputs, each, false, {{"metric", request.metric}});
  if (!options.beside && !asked.json && !asked.quiet)
    fmt::print(stderr, "Versions beside a kernel are compared at a launch: --launch with block, "
                       "grid and the kernel's numbers.\n");
  if (request.output.empty() || (code != exit_code::fine && code != exit_code::incomplete))
    return code;
  const auto written = write_file_atomically(
      request.output, beside.kernels.empty() ? module->text() : add_siblings(*module, beside).text);
  return written ? code : complain(written.error());
}

void declare(Words &words, OptimizeRequest &request) {
  declare_analysis(words, request.asked, "versions are compared there; otherwise formulas are",
                   false);
  words.text("-o,--output FILE", request.output,
             "PTX to write, the input byte for byte where nothing is better; otherwise only say "
             "what was found");
  words.one_of("--metric", request.metric, {"wsteps", "time"},
               "what to lower: wsteps, a bound, otherwise; time, a prediction");
  words.text("--gpu GPU", request.gpu, std::string("of --metric time: ") + gpu_meaning);
  words.text("--budget SECONDS", request.budget, "after that the best so far counts: 60s");
  words.number("--beam", request.beam, "versions that are carried on from each iteration", 1, 64);
  words.footer(
      "Exit codes: 0, also if nothing is better; 3 the budget was spent, or a kernel has no "
      "bound. What is best so far is written all the same.");
  words.examples({"ptxasw optimize heat.ptx -o fast.ptx",
                  "ptxasw optimize heat.ptx --metric time --launch block=256,grid=64,n=1024"});
}

} // namespace

const Command optimize_command = {
    "optimize", "search for rewrites of kernels, and their combinations, with a lower bound",
    bind<OptimizeRequest, declare, run>};

} // namespace ptxasw::wrapper
