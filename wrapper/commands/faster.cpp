// `ptxasw faster`: a program under the launch helper, with versions of its kernels that are made
// while it runs; then one line that says what that saved, or why nothing.

#include "wrapper/faster/server.h"

#include "wrapper/commands/commands.h"
#include "wrapper/commands/faster_program.h"
#include "wrapper/commands/faster_tree.h"
#include "wrapper/commands/launch_findings.h"
#include "wrapper/commands/preload.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/find_real.h"
#include "wrapper/drop_in/handover.h"
#include "wrapper/launch/answer.h"
#include "wrapper/lint/names.h"
#include "wrapper/os/file_lock.h"
#include "wrapper/os/files.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <filesystem>
#include <fmt/core.h>
#include <optional>
#include <set>
#include <utility>

namespace ptxasw::wrapper {
namespace {

using Json = nlohmann::ordered_json;

/// What `ptxasw faster` was asked.
struct FasterRequest {
  std::string profile; ///< read if it is there, and written; empty: only the cache is
  bool explain = false, verify = false, tune = false;
};

/// One kernel of the program, all its shapes together.
struct KernelLine {
  std::string name;
  std::string version; ///< the kind of the version that saved most
  std::uint64_t launches = 0;
  double original_us = 0, chosen_us = 0; ///< of one launch, of the shape that saved most
  double saved = 0, before = 0;          ///< ms: saved, and what the launches would have taken
  double best = 0;                       ///< ms saved by one shape
};

/// What is said at the end.
struct Summary {
  std::vector<KernelLine> faster;                        ///< those that saved most first
  std::vector<std::pair<std::string, std::string>> kept; ///< the others, and why
  double saved = 0, before = 0;                          ///< ms
  std::set<std::string> reasons;                         ///< of `kept`, by their stable names
  /// What was chosen for launches of one kind, by kernel.
  std::map<std::string, std::vector<ChosenLaunches>> choices;
};

/// The times of a choice, of one launch in microseconds; false if they are not known.
bool times_of(const Json &choice, double &original, double &chosen) {
  if (choice.at("from_profile").get<bool>()) {
    original = choice.at("original_us").get<double>();
    chosen = choice.at("chosen_us").get<double>();
    return original > 0 && chosen > 0;
  }
  const Json *const before = version_of(choice, std::string(launch::original_word));
  const Json *const after = version_of(choice, choice.at("chosen").get<std::string>());
  original = before ? before->at("us").get<double>() : 0;
  chosen = after ? after->at("us").get<double>() : 0;
  return original > 0 && chosen > 0;
}

/// `retile apart x4`, of `heat__ptxasw_retile_apart_x4`.
std::string kind_of(const std::string &version) {
  const std::size_t at = version.rfind("__ptxasw_");
  std::string kind = at == std::string::npos ? version : version.substr(at + 9);
  std::replace(kind.begin(), kind.end(), '_', ' ');
  return kind;
}

/// What was chosen for launches of one kind.
ChosenLaunches chosen_launches(const Json &choice) {
  ChosenLaunches launches;
  launches.code = choice.at("hash").get<std::string>();
  launches.gpu = choice.at("gpu").get<std::string>();
  launches.block = choice.at("block").get<std::array<std::uint32_t, 3>>();
  launches.threads = choice.at("threads").get<std::uint32_t>();
  launches.numbers = numbers_of(choice).get<std::vector<std::array<std::uint32_t, 2>>>();
  for (const Json &version : choice.at("among"))
    launches.versions.push_back(kind_of(version.get<std::string>()));
  if (!choice.at("decided").get<bool>())
    return launches;
  launches.chosen = kind_of(choice.at("chosen").get<std::string>());
  double before = 0, after = 0;
  if (times_of(choice, before, after)) {
    launches.before = before / 1000;
    launches.after = after / 1000;
  }
  return launches;
}

/// Why there are no versions of a kernel, if an answer says so that came too late for the program.
std::string late_reason(const std::filesystem::path &answers, const std::string &id) {
  const auto bytes =
      id.empty() ? std::nullopt : read_regular_file((answers / (id + ".answer")).string());
  const auto answer = bytes ? launch::decode_answer(*bytes) : tl::unexpected(std::string());
  return answer && !answer->reason.empty() ? fmt::format("{}: {}", answer->reason, answer->words)
                                           : "";
}

/// `answers`: the directory of the run.
Summary summarize(const LaunchFindings &findings, const std::filesystem::path &answers) {
  Summary summary;
  std::map<std::string, KernelLine> faster;
  std::map<std::string, std::string> kept;
  for (const auto &[key, choice] : findings.choices) {
    const auto kernel = choice.at("kernel").get<std::string>();
    const auto chosen = choice.at("chosen").get<std::string>();
    double before = 0, after = 0;
    summary.choices[kernel].push_back(chosen_launches(choice));
    summary.reasons.insert("measured");
    if (!choice.at("decided").get<bool>()) {
      kept.try_emplace(kernel, "its versions are not measured to the end; the next run goes on");
      continue;
    }
    if (!times_of(choice, before, after) || chosen == launch::original_word) {
      kept.try_emplace(kernel, "no version of it is faster");
      continue;
    }
    const auto redirected = choice.at("redirected").get<double>();
    const double saved = (before - after) * redirected / 1000;
    KernelLine &line = faster[kernel];
    line.name = kernel;
    line.launches += choice.at("launches").get<std::uint64_t>();
    line.saved += saved;
    line.before += before * choice.at("launches").get<double>() / 1000;
    if (line.version.empty() || saved > line.best) {
      line.best = saved;
      line.version = kind_of(chosen);
      line.original_us = before;
      line.chosen_us = after;
    }
  }
  for (const Json &kernel : findings.kernels) {
    const auto name = kernel.at("kernel").get<std::string>();
    const auto reason = kernel.at("reason").get<std::string>();
    const std::string late = late_reason(answers, kernel.at("asked").get<std::string>());
    const auto words = kernel.at("words").get<std::string>();
    if (const auto known = kept.find(name); known != kept.end() && reason.empty() && !words.empty())
      known->second += fmt::format("; only its blocks were changed, since {}", words);
    if (faster.contains(name) || kept.contains(name))
      continue;
    const auto launches = kernel.at("launches").get<std::uint64_t>();
    if (!reason.empty()) {
      summary.reasons.insert(reason);
      kept.emplace(name, fmt::format("{}: {}", reason, words));
    } else {
      summary.reasons.insert("waiting");
      kept.emplace(name,
                   !late.empty() ? late
                   : launches < 12
                       ? fmt::format("launched {} times: too seldom to make versions", launches)
                       : "its versions did not come before the program ended");
    }
  }
  for (auto &[name, line] : faster) {
    kept.erase(name);
    summary.saved += line.saved;
    summary.before += line.before;
    summary.faster.push_back(line);
  }
  std::sort(summary.faster.begin(), summary.faster.end(),
            [](const KernelLine &a, const KernelLine &b) { return a.saved > b.saved; });
  summary.kept.assign(kept.begin(), kept.end());
  return summary;
}

std::string table_of(const Summary &summary) {
  constexpr std::size_t most_lines = 10, widest = 60;
  const std::size_t lines = std::min(summary.faster.size(), most_lines);
  std::size_t names = 0, kinds = 0;
  for (std::size_t i = 0; i < lines; ++i) {
    names = std::max(names, std::min(demangled(summary.faster[i].name).size(), widest));
    kinds = std::max(kinds, summary.faster[i].version.size());
  }
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    const KernelLine &line = summary.faster[i];
    std::string name = demangled(line.name);
    if (name.size() > widest)
      name = name.substr(0, widest - 3) + "...";
    text += fmt::format("  {:<{}}  {:.2f}x  {:<{}}  {} -> {} ms, {} launches\n", name, names,
                        line.original_us / line.chosen_us, line.version, kinds,
                        in_ms(line.original_us / 1000), in_ms(line.chosen_us / 1000),
                        grouped(line.launches));
  }
  if (summary.faster.size() > lines)
    text += fmt::format("  and {} more\n", summary.faster.size() - lines);
  return text;
}

/// Returns true if the driver's library is on this machine. It is not started.
bool has_driver() {
  void *const library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library)
    ::dlclose(library);
  return library != nullptr;
}

/// Why there is nothing, in one line.
std::string why_nothing(const Summary &summary, const LaunchFindings &findings,
                        const std::string &program, bool explained) {
  if (findings.are_gone)
    return "the program removed what this run had in its directory for temporary files, so it is "
           "not known what was launched";
  if (!findings.off.empty())
    return fmt::format("nothing was changed: {} (docs/launch.md)", findings.off.front());
  if (summary.kept.empty()) {
    if (const auto preloaded = check_preloaded(program); !preloaded)
      return preloaded.error();
    if (!has_driver())
      return "there is no CUDA driver here (libcuda.so.1), so there was nothing to make faster";
    return "no kernel was launched, or not where it can be seen (docs/faster.md)";
  }
  if (summary.reasons == std::set<std::string>{"no-ptx"})
    return "the program has no PTX to make versions of; `nvcc -arch=sm_90` puts it in, "
           "`code=sm_90` alone does not";
  return fmt::format("no faster version of {} kernel{} so far{}", summary.kept.size(),
                     summary.kept.size() == 1 ? "" : "s",
                     explained ? "" : "; `ptxasw faster --why` says why");
}

/// The number that a variable of the environment is; nothing if it is none.
std::optional<unsigned> number_in(const char *variable) {
  const char *const value = std::getenv(variable);
  const char *const end = value ? value + std::strlen(value) : nullptr;
  unsigned number = 0;
  const auto read = value ? std::from_chars(value, end, number) : std::from_chars_result{};
  return value && read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

/// Which of the processes of a parallel program this one is, by what the launchers of MPI programs
/// and Slurm set; nothing if it is none. Slurm also numbers what it starts alone.
std::optional<unsigned> own_rank() {
  for (const char *name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK"})
    if (const auto rank = number_in(name))
      return rank;
  return number_in("SLURM_NTASKS").value_or(1) > 1 ? number_in("SLURM_PROCID") : std::nullopt;
}

/// `rank`: which of several processes says it; all but the first leave out the table, unless the
/// user wants to know why.
void say(const Summary &summary, const LaunchFindings &findings, const faster::Served &served,
         const FasterRequest &request, const std::string &program, std::optional<unsigned> rank) {
  std::string text = rank ? fmt::format("ptxasw: rank {}: ", *rank) : "ptxasw: ";
  const auto compared = findings.outcomes.find("sibling");
  if (request.verify && compared != findings.outcomes.end() && compared->second > 0) {
    text += fmt::format("{} launches of versions were compared with the originals; none differs\n",
                        grouped(compared->second));
  } else if (summary.faster.empty()) {
    text += why_nothing(summary, findings, program, request.explain) + "\n";
  } else {
    const std::size_t all = summary.faster.size() + summary.kept.size();
    text += fmt::format("{} of {} kernels run faster versions: saved {:.{}f} ms of {:.{}f} "
                        "({:.0f} %).{}\n",
                        summary.faster.size(), all, summary.saved, summary.before < 100 ? 1 : 0,
                        summary.before, summary.before < 100 ? 1 : 0,
                        summary.before > 0 ? 100 * summary.saved / summary.before : 0.0,
                        served.remembered ? " Next time from the first launch on." : "");
    const bool has_table = request.explain || rank.value_or(0) == 0;
    if (has_table)
      text += table_of(summary);
    if (has_table && !request.explain && !summary.kept.empty())
      text += fmt::format("  `ptxasw faster --why` says why the other {} stay{}. "
                          "PTXASW_FASTER=off switches it off.\n",
                          summary.kept.size(), summary.kept.size() == 1 ? "s" : "");
  }
  if (request.explain) {
    for (const auto &[name, why] : summary.kept)
      text += fmt::format("  {}: {}\n", demangled(name), why);
    for (const auto &[name, choices] : summary.choices)
      if (choices.size() > 1) // otherwise all is said
        text += choice_tree(choices, fmt::format("  {}, by the launch", demangled(name)), "    ");
  }
  if (served.unfinished > 0)
    text += fmt::format("  versions of {} kernel{} are still being assembled, for the next run\n",
                        served.unfinished, served.unfinished == 1 ? "" : "s");
  if (!served.remembered)
    text += fmt::format("  {} is remembered: {}\n", served.in_part ? "not everything" : "nothing",
                        served.remembered.error());
  tell_user(text);
}

bool is_switched_off() {
  const char *const value = std::getenv(faster_variable);
  return value && (std::strcmp(value, "off") == 0 || std::strcmp(value, "0") == 0);
}

/// Adds to a profile what was found, one process after the other: all ranks of a program may have
/// one.
tl::expected<void, std::string> merge_into(const std::string &path, const launch::Profile &found) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  const FileLock lock(directory.empty() ? "." : directory);
  launch::Profile all;
  if (std::filesystem::exists(path)) {
    const auto text = read_input(path);
    if (!text)
      return tl::unexpected(text.error());
    auto before = launch::parse_profile(*text, path);
    if (!before)
      return tl::unexpected(before.error());
    all = std::move(*before);
  }
  all.merge(found);
  return write_file_atomically(path, to_toml(all));
}

/// The environment of the program.
faster::ServerPlan plan_of(const FasterRequest &request, const std::vector<std::string> &command,
                           const std::string &library, const std::string &directory) {
  faster::ServerPlan plan{command, directory, {}};
  const char *const others = std::getenv("LD_PRELOAD");
  plan.environment = {
      {"LD_PRELOAD", others && *others ? library + ":" + others : library},
      // Comparing takes the time of three launches; so nothing is measured then, all versions run.
      {std::string(launch_prefix) + "MODE", request.verify || request.tune ? "tune" : "measure"},
      {std::string(launch_prefix) + "FASTER", directory},
      {std::string(launch_prefix) + "RESULTS", directory},
  };
  if (request.verify)
    plan.environment.emplace_back(std::string(launch_prefix) + "VERIFY", "1");
  if (!request.profile.empty() && std::filesystem::exists(request.profile))
    plan.environment.emplace_back(std::string(launch_prefix) + "PROFILE",
                                  std::filesystem::absolute(request.profile).string());
  return plan;
}

/// The program has ended: remembers what it found and says it.
void conclude(faster::Server &server, faster::Served served, const FasterRequest &request,
              const std::string &program, const std::filesystem::path &directory) {
  const LaunchFindings findings = collect_findings(directory);
  if (!request.verify) {
    served.in_part = served.remembered.has_value();
    served.remembered = server.remember(profile_of(findings, true));
  }
  const launch::Profile profile = request.verify ? launch::Profile{} : profile_of(findings);
  say(summarize(findings, directory), findings, served, request, program, own_rank());
  if (!request.profile.empty() && !profile.entries.empty())
    if (const auto written = merge_into(request.profile, profile); !written)
      complain(written.error());
}

int run(const FasterRequest &request, const Invocation &invocation) {
  const std::vector<std::string> &command = invocation.foreign;
  if (command.empty())
    return complain("nothing to run; write the program behind it: ptxasw faster ./app");
  if (is_switched_off())
    return become_command(command, "ptxasw faster");
  if (!request.profile.empty() && std::filesystem::exists(request.profile))
    if (const auto known = merge_into(request.profile, {}); !known) // before the program runs
      return complain(known.error());
  const auto library = find_library("libptxasw_launch.so");
  std::optional<Scratch> scratch(std::in_place, "ptxasw-faster");
  std::string why = library ? "" : library.error();
  if (why.empty() && library->find_first_of(" :") != std::string::npos)
    why = fmt::format("LD_PRELOAD cannot hold `{}`: a blank or a colon ends a path", *library);
  if (why.empty() && scratch->path.empty())
    why = "there is no directory for temporary files";
  if (const auto in_front = check_in_front(command.front()); why.empty() && !in_front)
    why = in_front.error();
  faster::Served served;
  if (why.empty()) {
    faster::Server server(plan_of(request, command, *library, scratch->path.string()));
    served = server.run();
    if (served.no_process != 0)
      why = fmt::format("no process can be started: {}", std::strerror(served.no_process));
    else if (served.not_started == 0)
      try {
        conclude(server, served, request, command.front(), scratch->path);
      } catch (const std::exception &error) { // the program's end is its own all the same
        complain(fmt::format("what this run saved is not known: {}", error.what()));
      }
  }
  scratch.reset();
  if (!why.empty()) { // the program runs all the same
    complain(fmt::format("nothing is made faster: {}", why));
    return become_command(command, "ptxasw faster");
  }
  if (served.not_started != 0)
    return complain(
        fmt::format("cannot run {}: {}", command.front(), std::strerror(served.not_started)),
        served.not_started == ENOENT ? 127 : 126); // as shells do
  return exit_like(served.status);
}

void declare(Words &words, FasterRequest &request) {
  words.flag(
      "--why", request.explain,
      "say of each kernel that stays as it is why, and what was chosen for launches of which "
      "size");
  words.text("--profile FILE", request.profile,
             "start with what this file says, and add to it; without it only the cache remembers");
  words.flag("--verify", request.verify,
             "run original and version on the same memory and stop at the first difference");
  words.flag(
      "--tune", request.tune,
      "wait for the versions and try all of them now: this run may be slower, the next is not");
  words.footer("The `--` may be left out. The exit code is the program's.");
  words.examples({"ptxasw faster -- ./app", "ptxasw faster --why -- python3 train.py"});
}

} // namespace

const Command faster_command = {
    "faster", "run a program with faster versions of its kernels, made while it runs",
    bind<FasterRequest, declare, run>};

} // namespace ptxasw::wrapper
