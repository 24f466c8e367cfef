// `ptxasw tune`: a program under the launch helper, which tries the versions of its kernels as it
// runs; then what was found, as a table, as a profile, and in the format of the kernel tuners.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/launch_findings.h"
#include "wrapper/commands/preload.h"
#include "wrapper/commands/words.h"
#include "wrapper/launch/profile.h"
#include "wrapper/os/files.h"
#include "wrapper/os/process.h"
#include "wrapper/os/progress.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fmt/core.h>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// What `ptxasw tune` was asked.
struct TuneRequest {
  std::string profile; ///< read if it is there, and written
  std::string json;
  Shard shard;
  bool again = false;
};

/// Times of all launches that the choice saves, in milliseconds; negative where it costs.
double saved(const Json &choice) {
  const Json *const original = version_of(choice, std::string(launch::original_word));
  const Json *const chosen = version_of(choice, choice.at("chosen").get<std::string>());
  return original && chosen ? (original->at("us").get<double>() - chosen->at("us").get<double>()) *
                                  choice.at("launches").get<double>() / 1000
                            : 0;
}

void print_tuning(const Json &choice) {
  const Json &block = choice.at("block");
  fmt::print("{} in blocks of {}x{}x{}, 2^{} threads, {} launches on {}\n",
             choice.at("kernel").get<std::string>(), block.at(0).get<unsigned>(),
             block.at(1).get<unsigned>(), block.at(2).get<unsigned>(),
             choice.at("threads").get<unsigned>(), choice.at("launches").get<std::uint64_t>(),
             choice.at("gpu").get<std::string>());
  const auto chosen = choice.at("chosen").get<std::string>();
  if (choice.at("from_profile").get<bool>()) {
    fmt::print("  {:<44} as the profile says\n", chosen);
    return;
  }
  const bool decided = choice.at("decided").get<bool>();
  for (const Json &version : choice.at("versions")) {
    const auto name = version.at("name").get<std::string>();
    const std::size_t samples = version.at("samples_us").size();
    if (samples == 0) {
      fmt::print("  {:<44} not measured\n", name);
      continue;
    }
    fmt::print("  {:<44} {:>10.2f} us", name, version.at("us").get<double>());
    if (name != launch::original_word && version.at("low").get<double>() > 0)
      fmt::print("  {:.3f} ({:.3f} to {:.3f})", version.at("ratio").get<double>(),
                 version.at("low").get<double>(), version.at("high").get<double>());
    if (decided && name == chosen)
      fmt::print("  chosen");
    fmt::print("\n");
  }
  if (!decided)
    fmt::print("  launched too seldom to say; the original stays\n");
}

void print_tuning(const LaunchFindings &findings) {
  double milliseconds = 0;
  for (const auto &[key, choice] : findings.choices) {
    print_tuning(choice);
    milliseconds += choice.at("decided").get<bool>() ? saved(choice) : 0;
  }
  std::uint64_t launches = 0;
  std::string kept;
  for (const auto &[name, count] : findings.outcomes) {
    launches += count;
    if (count && name != "sibling")
      kept += fmt::format("{}{} {}", kept.empty() ? "" : ", ", count, name);
  }
  const auto siblings = findings.outcomes.find("sibling");
  fmt::print("{} launches, {} of them siblings{}{}\n", launches,
             siblings == findings.outcomes.end() ? 0 : siblings->second,
             kept.empty() ? "" : "; originals: ", kept);
  if (milliseconds > 0)
    fmt::print("What was chosen saves {:.3f} ms of such a run.\n", milliseconds);
  for (const std::string &why : findings.off)
    fmt::print("In one process redirecting was switched off: {} (docs/launch.md)\n", why);
}

/// "T4", the format of results that the kernel-tuning community shares (version 1.0.0).
Json to_t4(const LaunchFindings &findings) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char stamp[32] = {};
  std::tm parts = {};
  std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", ::gmtime_r(&now, &parts));
  Json results = Json::array();
  for (const auto &[key, choice] : findings.choices)
    for (const Json &version : choice.at("versions")) {
      if (version.at("samples_us").empty())
        continue;
      Json runtimes = Json::array();
      for (const Json &sample : version.at("samples_us"))
        runtimes.push_back(sample.get<double>() / 1000);
      Json configuration;
      for (const char *part : {"kernel", "hash", "gpu", "block", "threads"})
        configuration[part] = choice.at(part);
      configuration["version"] = version.at("name");
      results.push_back({{"timestamp", stamp},
                         {"configuration", std::move(configuration)},
                         {"objectives", {"time"}},
                         {"times", {{"runtimes", std::move(runtimes)}}},
                         {"invalidity", "correct"},
                         {"correctness", 1},
                         {"measurements",
                          {{{"name", "time"},
                            {"value", version.at("us").get<double>() / 1000},
                            {"unit", "ms"}}}}});
    }
  return {{"schema_version", "1.0.0"}, {"results", std::move(results)}};
}

tl::expected<launch::Profile, std::string> earlier_profile(const std::string &path) {
  if (path.empty() || !fs::exists(path))
    return launch::Profile{};
  const auto text = read_input(path);
  if (!text)
    return tl::unexpected(text.error());
  return launch::parse_profile(*text, path);
}

void set(const char *name, const std::string &value) {
  ::setenv((std::string(launch_prefix) + name).c_str(), value.c_str(), 1);
}

/// Shows until asked to stop what the helper has written so far: it does so whenever a choice is
/// made.
void watch(const std::stop_token &stop, const fs::path &directory) {
  using namespace std::chrono_literals;
  const auto start = std::chrono::steady_clock::now();
  std::mutex mutex;
  std::condition_variable_any stopped;
  Progress progress;
  for (std::unique_lock lock(mutex); !stop.stop_requested();
       stopped.wait_for(lock, stop, 500ms, [] { return false; })) {
    const LaunchFindings findings = collect_findings(directory);
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
    const auto decided =
        std::count_if(findings.choices.begin(), findings.choices.end(), [](const auto &entry) {
          return entry.second.at("decided").template get<bool>();
        });
    progress.show(
        fmt::format("tune: {} s, {} kernels and shapes decided", seconds.count(), decided));
  }
}

/// Runs the program; its exit code as a shell reports it. The terminal is the program's: progress
/// is shown only where its output goes elsewhere.
int run_program(const std::vector<std::string> &command, const fs::path &results) {
  std::jthread watcher;
  if (::isatty(STDOUT_FILENO) == 0)
    watcher = std::jthread([&results](const std::stop_token &stop) { watch(stop, results); });
  ChildPlan plan{"/bin/sh", "sh", {"-c", "exec \"$@\"", "ptxasw tune"}};
  plan.arguments.insert(plan.arguments.end(), command.begin(), command.end());
  const int status = run_child(plan).status;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int run(const TuneRequest &request, const Invocation &invocation) {
  if (invocation.foreign.empty())
    return complain("nothing to run; write the program after `--`: ptxasw tune -- ./app");
  auto profile = earlier_profile(request.profile);
  if (!profile)
    return complain(profile.error());
  const Scratch scratch("ptxasw-tune");
  if (scratch.path.empty())
    return complain("no directory for temporary files");
  set("MODE", "tune");
  set("RESULTS", scratch.path.string());
  set("SHARD", fmt::format("{}/{}", request.shard.number, request.shard.count));
  if (!request.again && !profile->entries.empty())
    set("PROFILE", fs::absolute(request.profile).string());
  if (const auto loaded = preload("libptxasw_launch.so"); !loaded)
    return complain(loaded.error());
  const int code = run_program(invocation.foreign, scratch.path);
  const LaunchFindings findings = collect_findings(scratch.path);
  if (code != 0)
    complain(fmt::format("the program ended with {}", code));
  if (findings.outcomes.empty())
    return complain("no kernel was launched, or not in a way that can be seen (docs/launch.md)",
                    code ? code : exit_code::failed);
  print_tuning(findings);
  if (!request.profile.empty()) {
    profile->merge(profile_of(findings));
    if (const auto written = write_file_atomically(request.profile, to_toml(*profile)); !written)
      return complain(written.error());
  }
  if (!request.json.empty())
    if (const auto written = write_file_atomically(
            request.json,
            to_t4(findings).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
        !written)
      return complain(written.error());
  return code;
}

void declare(Words &words, TuneRequest &request) {
  words.text("--profile FILE", request.profile,
             "the profile to extend; what it knows is not measured again");
  words.flag("--again", request.again, "measure what the profile knows, too");
  words.shard(request.shard,
              "measure only the I-th of N parts of the kernels, by their code; `ptxasw "
              "merge` joins the profiles");
  words.text("--tuner-json FILE", request.json,
             "every measurement, in the T4 format of kernel tuners");
  words.footer("The exit code is the program's, or 2 if nothing was launched.");
  words.examples({"ptxasw tune --profile app.toml -- ./app",
                  "ptxasw tune --profile app.toml --again -- ./app"});
}

} // namespace

const Command tune_command = {"tune",
                              "measure which versions of its kernels a program should launch",
                              bind<TuneRequest, declare, run>};

} // namespace ptxasw::wrapper
