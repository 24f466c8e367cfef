// `ptxasw verify`: two modules, run on the CPU and compared: on launches that are drawn
// (emulator/machine/warp_verify.h), or on one that a file describes
// (emulator/machine/compare_launches.h).

#include "analysis/architecture.h"
#include "emulator/machine/compare_launches.h"
#include "emulator/machine/warp_verify.h"
#include "emulator/semantics/parameter_layout.h"
#include "synth/in_kernel/in_kernel.h"
#include "synth/same_launch.h"
#include "synth/siblings.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/describe_launch.h"
#include "wrapper/commands/launch_file.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/numbers.h"
#include "wrapper/commands/words.h"
#include "wrapper/launch/fit.h"
#include "wrapper/os/files.h"
#include "wrapper/os/progress.h"
#include "wrapper/os/terminal.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <span>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

/// `ptxasw verify ORIGINAL REWRITTEN`.
struct VerifyRequest : OutputRequest {
  std::string original, rewritten;
  VerifyOptions options;
  std::vector<std::string> promises; ///< no-wrap, no-alias, matrix-order
  std::vector<std::string> races;    ///< volatile
  std::vector<std::string> launch;   ///< a file, or words as those of `emulate`
  std::string counter_example;
  std::string relative, absolute;
  std::uint64_t ulp = 0;
  Shard shard;
  bool reassociate = false;
};

using Json = nlohmann::ordered_json;

/// From best to worst: of all kernels the worst counts.
enum Ending : std::uint8_t { agree, not_exercised, unchecked, impossible, differ };

constexpr std::string_view verdict_names[] = {"agree", "not-exercised", "not-comparable",
                                              "not-comparable", "differ"};
constexpr int verdict_codes[] = {exit_code::fine, exit_code::incomplete, exit_code::incomplete,
                                 exit_code::failed, exit_code::found};

template <typename Compared> Ending verdict_of(const Compared &compared) {
  using Kind = typename Compared::Kind;
  if constexpr (std::is_same_v<Compared, KernelVerdict>)
    if (compared.kind == Kind::not_exercised)
      return not_exercised;
  return compared.kind == Kind::agree    ? agree
         : compared.kind == Kind::differ ? differ
         : compared.impossible           ? impossible
                                         : unchecked;
}

/// `lines 3, 7 to 9`: numbers in order, neighbours together.
std::string lines_text(std::vector<std::uint32_t> lines) {
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  std::string text = lines.size() == 1 ? "line" : "lines";
  for (std::size_t i = 0; i < lines.size();) {
    std::size_t end = i + 1;
    while (end < lines.size() && lines[end] == lines[end - 1] + 1)
      ++end;
    text += i == 0 ? " " : ", ";
    text +=
        end - i < 3 ? std::to_string(lines[i]) : fmt::format("{} to {}", lines[i], lines[end - 1]);
    i = end - i < 3 ? i + 1 : end;
  }
  return text;
}

/// What the JSON of all answers begins with.
Json head_of(const VerifyRequest &request) {
  return {{"schema_version", 1}, {"file", request.original}, {"rewritten", request.rewritten}};
}

void print_verdict(const KernelVerdict &verdict, const OutputRequest &output) {
  const Painter paint(output.colour, STDOUT_FILENO);
  const auto reasons = [&] {
    for (const auto &[why, count] : verdict.unusable)
      fmt::print("  {} launches not used: {}\n", count, why);
  };
  const auto left_out = [&] {
    unsigned all = 0;
    for (const auto &[why, count] : verdict.unusable)
      all += count;
    return all;
  };
  using Kind = KernelVerdict::Kind;
  switch (verdict.kind) {
  case Kind::agree:
  case Kind::not_exercised:
    fmt::print("{}: {} on {} launches, {} changed instructions{}\n", paint(verdict.kernel),
               verdict.kind == Kind::agree ? "agree" : "NOT EXERCISED: no difference",
               verdict.agreed, verdict.changed,
               verdict.kind != Kind::agree || verdict.changed == 0 ? ""
               : verdict.wrapping.empty() && verdict.gone_wrapping.empty()
                   ? ", all of them executed"
                   : ", executed but for what only an index that wraps around leads to");
    if (!verdict.not_exercised.empty())
      fmt::print("  never executed: {} of the second\n", lines_text(verdict.not_exercised));
    if (!verdict.gone_not_exercised.empty())
      fmt::print("  never executed: {} of the first, which the second does not have\n",
                 lines_text(verdict.gone_not_exercised));
    if (!verdict.one_sided.empty())
      fmt::print("  tests that came out one way only: {} of the second\n",
                 lines_text(verdict.one_sided));
    if (!verdict.gone_one_sided.empty())
      fmt::print(
          "  tests that came out one way only: {} of the first, which the second does not have\n",
          lines_text(verdict.gone_one_sided));
    if (!verdict.wrapping.empty())
      fmt::print("  only where an index wraps around, and not tried: {} of the second\n",
                 lines_text(verdict.wrapping));
    if (!verdict.gone_wrapping.empty())
      fmt::print("  only where an index wraps around, and not tried: {} of the first, which the "
                 "second does not have\n",
                 lines_text(verdict.gone_wrapping));
    if (verdict.out_of_work)
      fmt::print("  the search ended with the work that --work allows\n");
    if (verdict.worst.found)
      fmt::print("  worst difference within the tolerance: {}\n", to_string(verdict.worst));
    if (output.verbose)
      reasons();
    else if (!verdict.unusable.empty() && !output.quiet)
      fmt::print("  {} launches left out, most of which the first does not survive; -v says why\n",
                 left_out());
    if (!verdict.not_executed.empty() && output.verbose)
      fmt::print("  not covered: {} of the first\n", lines_text(verdict.not_executed));
    return;
  case Kind::differ:
    fmt::print("{}: DIFFER\n{}", paint(verdict.kernel), verdict.counter_example);
    return;
  default:
    fmt::print("{}: cannot be compared; {} launches could be used\n", paint(verdict.kernel),
               verdict.agreed);
    reasons();
    if (verdict.out_of_work)
      fmt::print("  the search ended with the work that --work allows\n");
  }
}

Json to_json(const KernelVerdict &verdict) {
  Json result;
  result["name"] = verdict.kernel;
  result["verdict"] = verdict_names[verdict_of(verdict)];
  result["launches"] = verdict.agreed;
  result["changed"] = verdict.changed;
  result["steps"] = verdict.steps;
  result["unusable"] = Json::object();
  for (const auto &[why, count] : verdict.unusable)
    result["unusable"][why] = count;
  result["never_executed"] = verdict.not_exercised;
  result["never_executed_of_first"] = verdict.gone_not_exercised;
  result["one_sided"] = verdict.one_sided;
  result["one_sided_of_first"] = verdict.gone_one_sided;
  result["wrapping"] = verdict.wrapping;
  result["wrapping_of_first"] = verdict.gone_wrapping;
  result["out_of_work"] = verdict.out_of_work;
  result["work"] = verdict.work;
  result["worst"] = verdict.worst.found ? Json(to_string(verdict.worst)) : Json();
  result["counter_example"] =
      verdict.kind == KernelVerdict::Kind::differ ? Json(verdict.counter_example) : Json();
  result["launch"] = verdict.launch ? Json(launch_file_text(*verdict.launch)) : Json();
  return result;
}

/// What was assumed: a part of any answer.
void say_promises(const std::vector<std::string> &promises) {
  if (!promises.empty())
    fmt::print("assumed: {}\n", fmt::join(promises, ", "));
}

/// A kernel to compare, and the sibling that stands in for it in the second module, if it is one.
struct Comparison {
  std::string kernel;
  const Sibling *sibling = nullptr;
  const SiblingTable *table = nullptr; ///< that it is in
};

/// True if all that the second may have beyond the first are siblings: the first's text is its
/// beginning.
bool only_adds_siblings(const Module &original, const Module &rewritten) {
  return rewritten.text().starts_with(original.text());
}

/// The kernels of the first module that `options` asks for, and siblings of these in the second.
/// Where the second is the first with siblings behind it, only they are compared with their
/// kernels.
std::vector<Comparison> comparisons(const Module &original, const Module &rewritten,
                                    const std::vector<SiblingTable> &tables,
                                    const VerifyOptions &options) {
  const auto wanted = [&](std::string_view name) {
    return options.kernel.empty() || options.kernel == name;
  };
  std::vector<Comparison> result;
  if (tables.empty() || !only_adds_siblings(original, rewritten))
    for (const Function &function : original.functions)
      if (function.is_entry && function.has_body && wanted(function.name))
        result.push_back({std::string(function.name)});
  for (const SiblingTable &table : tables)
    for (const Sibling &sibling : table.siblings)
      if (wanted(table.kernel))
        result.push_back({table.kernel, &sibling, &table});
  return result;
}

/// What one launch of the second is: of the kernel under another name, or of a version of it.
struct SecondLaunch {
  LaunchDescription launch;
  std::string version;    ///< its name; empty: none
  std::string why;        ///< the launch does not suit it
  bool any_order = false; ///< as SiblingTable::any_order
};

/// The launch of a version for a launch of its kernel, as its table says.
SecondLaunch launch_of(const SiblingTable &table, const Sibling &sibling,
                       const WarpProgram &program, LaunchDescription of_kernel) {
  of_kernel.kernel = table.kernel;
  SecondLaunch result{of_kernel, sibling.name, {}, table.any_order};
  GlobalMemory memory;
  auto prepared = prepare_launch(program, of_kernel, memory);
  const std::size_t count = table.parameters.size();
  const Function &kernel = *program.function(prepared ? prepared->kernel : 0).function;
  if (!prepared) // whoever runs it says so
    return result;
  if (count != kernel.parameters.size())
    result.why = "its table is of another kernel";
  else if (of_kernel.cluster && of_kernel.cluster->count() > 1)
    result.why = "blocks of a cluster are not divided";
  if (!result.why.empty())
    return result;
  launch::Launch own;
  own.grid = {of_kernel.grid.x, of_kernel.grid.y, of_kernel.grid.z};
  own.block = {of_kernel.block.x, of_kernel.block.y, of_kernel.block.z};
  own.shared_bytes = of_kernel.shared;
  std::vector<void *> list;
  for (std::size_t i = 0; i < count; ++i)
    list.push_back(prepared->launch.parameters.data() + kernel_parameter_offset(kernel, i));
  const launch::Arguments arguments{list.data(), nullptr};
  launch::SiblingLimits limits;
  if (const auto *target = analysis::find_architecture(program.module().target))
    limits.most_shared = target->shared_per_block_opt_in;
  launch::SiblingLaunch to;
  if (const auto outcome = fit(own, arguments, table, sibling, limits);
      outcome != launch::Outcome::sibling)
    result.why = explain(outcome, own, arguments, table, sibling, limits);
  else if (!to.prepare(own, arguments, table, sibling))
    result.why = "it has too many arguments";
  result.launch.grid = {to.grid.x, to.grid.y, to.grid.z};
  result.launch.block = {to.block.x, to.block.y, to.block.z};
  if (result.why.empty() && !of_kernel.blocks.empty() &&
      (result.launch.grid != of_kernel.grid || result.launch.block != of_kernel.block))
    result.why = "only some blocks of the grid are launched";
  if (!result.why.empty())
    return result;
  result.launch.kernel = entry_of(sibling, table.kernel);
  result.launch.shared = to.shared_bytes;
  for (std::size_t i = 0; i < sibling.appended.size() + sibling.appended_blocks.size(); ++i) {
    const auto *const extent = static_cast<const std::uint8_t *>(to.parameters[count + i]);
    result.launch.arguments.push_back({{extent, extent + sizeof(std::uint32_t)}, {}});
  }
  return result;
}

/// What is launched of the second: what the launch names, or as it is without one.
std::vector<SecondLaunch> second_launches(const std::string &kernel, const Module &original,
                                          const Module &rewritten, const WarpProgram &second,
                                          const LaunchFile &file) {
  std::vector<SecondLaunch> result;
  VerifyOptions only;
  only.kernel = kernel;
  const std::vector<SiblingTable> tables = sibling_tables(rewritten);
  if (!file.names_second)
    for (const Comparison &one : comparisons(original, rewritten, tables, only))
      result.push_back(one.sibling ? launch_of(*one.table, *one.sibling, second, file.second)
                                   : SecondLaunch{file.second, {}, {}, false});
  if (result.empty())
    result.push_back({file.second, {}, {}, false});
  return result;
}

Json to_json(const CompareVerdict &verdict, Ending code) {
  Json json;
  json["verdict"] = verdict_names[code];
  json["runs"] = verdict.runs;
  json["steps"] = verdict.steps;
  json["why"] = verdict.why.empty() ? Json() : Json(verdict.why);
  json["schedule"] = verdict.schedule.empty() ? Json() : Json(verdict.schedule);
  json["worst"] = verdict.worst.found ? Json(to_string(verdict.worst)) : Json();
  return json;
}

void print_verdict(const CompareVerdict &verdict, Ending code, const std::string &version) {
  if (!version.empty())
    fmt::print("{}: ", version);
  if (code == agree)
    fmt::print("agree under {} schedules\n", verdict.runs);
  else if (code == differ)
    fmt::print("DIFFER under schedule {}: {}\n", verdict.schedule, verdict.why);
  else
    fmt::print("{}: {}\n", code == not_exercised ? "not compared" : "cannot be compared",
               verdict.why);
  if (code == agree && verdict.worst.found)
    fmt::print("  worst difference within the tolerance: {}\n", to_string(verdict.worst));
}

/// On the launch that is described.
int compare_described(const VerifyRequest &request, const VerifyOptions &options,
                      const Module &original, const Module &rewritten) {
  const WarpProgram first(original), second(rewritten);
  tl::expected<LaunchFile, std::string> file;
  if (request.launch.size() == 1 && request.launch[0].find('=') == std::string::npos) {
    file = read_launch_file(request.launch[0]);
  } else {
    Sources sources;
    sources.add_folder_of(request.original);
    if (const auto described = describe_launch(request.launch, options.kernel, first,
                                               request.original, sources, file->first);
        !described)
      file = tl::unexpected(described.error());
    else
      file->second = file->first;
  }
  if (!file)
    return complain(file.error());
  for (LaunchDescription *launch : {&file->first, &file->second})
    if (!options.kernel.empty() && launch->kernel.empty())
      launch->kernel = options.kernel;
  CompareOptions how;
  how.tolerance = options.tolerance;
  how.schedules = options.schedules;
  how.seed = options.seed;
  how.extra_reads = file->extra_reads;
  how.volatile_races = options.volatile_races;
  how.matrices_order = options.matrices_order;
  how.reassociate = options.reassociate;
  // The worst of all; versions that the launch does not suit count if there are no others.
  const auto rank = [](Ending one) { return one == not_exercised ? -1 : int{one}; };
  const auto entry = std::find_if(original.functions.begin(), original.functions.end(),
                                  [](const Function &one) { return one.is_entry && one.has_body; });
  const std::string kernel = !file->first.kernel.empty()         ? file->first.kernel
                             : entry != original.functions.end() ? std::string(entry->name)
                                                                 : std::string();
  Ending worst = not_exercised;
  bool any_version = false; // was compared
  Json json = head_of(request), versions = Json::array();
  for (const SecondLaunch &one : second_launches(kernel, original, rewritten, second, *file)) {
    CompareVerdict verdict;
    verdict.why = one.why;
    how.any_order = one.any_order;
    if (one.why.empty())
      verdict = compare_launches(first, file->first, second, one.launch, how);
    const Ending code = one.why.empty() ? verdict_of(verdict) : not_exercised;
    if (code == differ && !request.counter_example.empty() && worst != differ) {
      LaunchDescription launch = one.launch;
      launch.schedule = verdict.schedule;
      if (const auto written =
              write_file_atomically(request.counter_example, launch_file_text(launch));
          !written)
        complain(written.error()); // and go on: a difference counts before that
    }
    if (!request.json)
      print_verdict(verdict, code, one.version);
    Json said = to_json(verdict, code);
    if (!json.contains("verdict") || rank(code) > rank(worst)) {
      json.update(said);
      worst = code;
    }
    any_version |= !one.version.empty() && code != not_exercised;
    if (!one.version.empty()) {
      said["name"] = one.version;
      versions.push_back(std::move(said));
    }
  }
  if (worst == agree && !versions.empty() && !any_version)
    json["verdict"] = verdict_names[worst = not_exercised];
  json["assumed"] = request.promises;
  if (!versions.empty())
    json["versions"] = std::move(versions);
  if (request.json)
    fmt::print("{}\n", json.dump(2));
  else
    say_promises(request.promises);
  return verdict_codes[worst];
}

/// Compares them one by one.
std::vector<KernelVerdict> verify_all(const Module &original, const Module &rewritten,
                                      std::span<const Comparison> list, VerifyOptions options,
                                      bool quiet) {
  std::vector<KernelVerdict> verdicts;
  const WarpProgram first(original), second(rewritten);
  const WarpProgram &before = only_adds_siblings(original, rewritten) ? second : first;
  Progress progress;
  std::size_t at = 0;
  options.progress = [&](const std::string &kernel, unsigned agreed) {
    if (!quiet)
      progress.show(
          fmt::format("{} ({} of {}): {} launches agree", kernel, at, list.size(), agreed));
  };
  for (const Comparison &one : list) {
    ++at;
    options.kernel = one.kernel;
    options.stand_in = one.sibling ? std::optional(*one.sibling) : std::nullopt;
    options.any_order = one.table && one.table->any_order;
    const Function *const other = kernel_named(rewritten, one.kernel);
    options.whole_grid = other && has_sibling_inside(*other);
    for (KernelVerdict &verdict : verify(before, second, options)) {
      if (one.sibling)
        verdict.kernel = one.sibling->name;
      verdicts.push_back(std::move(verdict));
    }
  }
  return verdicts;
}

int run(const VerifyRequest &request, const Invocation &) {
  const auto original = load_module(request.original);
  const auto rewritten = load_module(request.rewritten);
  if (!original || !rewritten)
    return exit_code::failed;
  if (!are_known(*original, request.original) || !are_known(*rewritten, request.rewritten))
    return exit_code::failed;
  VerifyOptions options = request.options;
  const auto in_second =
      std::any_of(rewritten->functions.begin(), rewritten->functions.end(),
                  [&](const Function &function) { return function.name == options.kernel; });
  if (!in_second) { // a sibling is only there
    const auto kernel = kernel_called(*original, options.kernel, request.original);
    if (!kernel)
      return exit_code::failed;
    options.kernel = *kernel;
  }
  for (const std::string &promise : request.promises)
    (promise == "no-wrap"    ? options.no_wrap
     : promise == "no-alias" ? options.no_alias
                             : options.matrices_order) = true;
  options.volatile_races = !request.races.empty();
  Tolerance &tolerance = options.tolerance;
  tolerance.ulp = request.ulp;
  for (const auto &[text, to] : {std::pair{&request.relative, &tolerance.relative},
                                 std::pair{&request.absolute, &tolerance.absolute}})
    if (!text->empty() && (!to_number(*text, *to) || !(*to >= 0)))
      return complain(fmt::format("`{}` is no tolerance", *text));
  options.reassociate = request.reassociate;
  if (!request.launch.empty() && request.shard.count > 1)
    return complain("--shard and --launch do not go together: a launch is of one kernel",
                    exit_code::failed);
  if (!request.launch.empty())
    return compare_described(request, options, *original, *rewritten);
  const std::vector<SiblingTable> tables = sibling_tables(*rewritten);
  const auto list = comparisons(*original, *rewritten, tables, options);
  if (list.empty()) {
    fmt::print(stderr, "ptxasw: error: there is no kernel to compare\n");
    return exit_code::failed;
  }
  const auto [begin, end] = request.shard.range(list.size());
  const auto verdicts = verify_all(
      *original, *rewritten, std::span(list).subspan(begin, end - begin), options, request.quiet);
  int unwritten = exit_code::fine;
  if (!request.counter_example.empty())
    for (const KernelVerdict &verdict : verdicts)
      if (verdict.launch) {
        if (const auto written =
                write_file_atomically(request.counter_example, launch_file_text(*verdict.launch));
            !written)
          unwritten = complain(written.error());
        break;
      }
  // The worst of all kernels.
  Ending worst = agree;
  Json json = head_of(request);
  json["assumed"] = request.promises;
  json["kernels"] = Json::array();
  for (const KernelVerdict &verdict : verdicts) {
    if (!request.json)
      print_verdict(verdict, request);
    worst = std::max(worst, verdict_of(verdict));
    json["kernels"].push_back(to_json(verdict));
  }
  json["verdict"] = verdict_names[worst];
  if (request.json)
    fmt::print("{}\n", json.dump(2));
  else
    say_promises(request.promises);
  return exit_code::worse(verdict_codes[worst], unwritten);
}

void declare(Words &words, VerifyRequest &request) {
  words.required("original", request.original, "PTX");
  words.required("rewritten", request.rewritten, "PTX that should compute the same");
  words.text("--kernel", request.options.kernel, "only this kernel");
  words.number("--runs", request.options.runs, "launches per kernel", 1);
  words.number("--search", request.options.search,
               "launches per kernel at most, beyond the runs, to execute what has not run yet;\n"
               "0: only the runs, and no question to Z3");
  words.number("--schedules", request.options.schedules, "random schedules per launch");
  words.number("--seed", request.options.seed, "of launches, contents and schedules");
  words.number("--steps", request.options.step_limit, "thread-instructions per run at most");
  words.number("--work", request.options.work,
               "thread-instructions per kernel at most, over all launches and schedules", 1);
  words.choices("--assume", request.promises, {"no-wrap", "no-alias", "matrix-order"},
                "promises that the rewriting was given: launches keep them;\n"
                "matrix-order: instructions on matrices order the lanes of their warp");
  words.choices("--races", request.races, {"volatile"}, "volatile accesses race, too");
  words.launch(request.launch,
               "compare there, and nowhere else; values as for `ptxasw emulate`, which writes a "
               "file with --init, in which the second may have others");
  words.text("--rtol NUMBER", request.relative,
             "floating-point results may differ by this part of the first's magnitude,");
  words.text("--atol NUMBER", request.absolute, "plus this;");
  words.number("--ulp", request.ulp, "or by this many representable numbers of their type");
  words.flag("--reassociate", request.reassociate,
             "results may differ by how they were rounded: the same real numbers, as sums in "
             "another order are");
  words.text("--counter-example FILE.toml", request.counter_example,
             "where to write a launch on which the two differ, for `emulate`");
  words.shard(request.shard);
  words.output(request, "as JSON", "unused launches and lines not covered");
  words.footer(
      "Where the second has siblings of the first's kernels, these are compared with them, on the "
      "launch of\n--launch unless it names the second's kernel.\n"
      "Exit codes: 0 all kernels agree and all that changed was exercised, 1 one differs, "
      "2 two cannot\nbe compared or a file cannot be read, 3 no difference, but "
      "something that changed never ran, too few launches could be used, something is not "
      "emulated, or the launch suits no sibling.");
  words.examples({"ptxasw verify before.ptx after.ptx",
                  "ptxasw verify before.ptx after.ptx --kernel step --launch step.toml"});
}

} // namespace

const Command verify_command = {
    "verify", "run the kernels of two PTX files on the CPU and compare what they compute",
    bind<VerifyRequest, declare, run>};

} // namespace ptxasw::wrapper
