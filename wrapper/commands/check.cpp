// `ptxasw check`: a program that was linked with our runtime, with every kernel checked. The
// runtime writes down what it finds; here the places are looked up, and it is told.

#include "analysis/prove/no_race.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/inputs.h"
#include "wrapper/commands/preload.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/handover.h"
#include "wrapper/lint/names.h"
#include "wrapper/lint/sources.h"
#include "wrapper/os/files.h"
#include "wrapper/os/process.h"
#include "wrapper/os/terminal.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

using Json = nlohmann::ordered_json;

/// What `ptxasw check` was asked.
struct CheckRequest : OutputRequest {
  std::vector<std::string> tools;
  std::string kernel, sarif, suppressions;
  std::uint64_t stop_after = 0, steps = 0;
  unsigned error_code = 1;
  bool prove = false;
};

constexpr const char *default_tools = "memcheck,racecheck,initcheck,synccheck";

/// A place of the source.
struct CallPlace {
  std::string file; ///< empty: not known
  std::uint32_t line = 0;
  std::string function;

  std::string text() const {
    const std::string in = function.empty() ? "" : " (" + function + ")";
    return file.empty() ? function : fmt::format("{}:{}{}", file, line, in);
  }
};

/// Which tool of the usual ones finds such a thing.
std::string tool_of(const std::string &kind) {
  if (kind == "race" || kind == "same-value race")
    return "racecheck";
  if (kind == "uninitialized")
    return "initcheck";
  if (kind == "divergent barrier" || kind == "barrier mismatch" || kind == "lonely arrival" ||
      kind == "missing lane" || kind == "deadlock")
    return "synccheck";
  if (kind == "leak")
    return "leakcheck";
  return "memcheck";
}

/// Looks up return addresses by addr2line, each once.
class Symbols {
public:
  /// The innermost place that is the program's own: behind our runtime, the header whose
  /// functions only pass a call on, and what calls main().
  CallPlace of(const Json &frames) {
    CallPlace best;
    for (const Json &frame : frames)
      for (const CallPlace &place : look_up(frame)) {
        const bool is_ours = place.function.starts_with("ptxasw::") ||
                             place.function.starts_with("__libc_start") ||
                             place.function.starts_with("cuda") ||
                             place.file.find("cuda_runtime") != std::string::npos;
        if (is_ours || place.function.empty())
          continue;
        if (!place.file.empty())
          return place;
        if (best.function.empty())
          best = place;
      }
    return best;
  }

private:
  std::vector<CallPlace> look_up(const Json &frame) {
    const std::string file = frame.at(0);
    // A program that is not position-independent has its own addresses.
    if (!is_fixed_.contains(file)) {
      const std::string head = read_regular_file(file).value_or("").substr(0, 20);
      is_fixed_[file] = head.size() == 20 && head[16] == 2;
    }
    const std::uint64_t address = frame.at(is_fixed_[file] ? 2 : 1).get<std::uint64_t>() - 1;
    auto &known = places_[{file, address}];
    if (!known.empty())
      return known;
    ChildPlan plan{"/bin/sh",
                   "sh",
                   {"-c", "exec addr2line \"$@\" 2>/dev/null", "sh", "-f", "-C", "-i", "-e", file,
                    fmt::format("{:#x}", address)}};
    plan.capture = STDOUT_FILENO;
    std::vector<std::string> lines(1);
    for (const char c : run_child(plan).captured)
      if (c == '\n')
        lines.emplace_back();
      else
        lines.back() += c;
    for (std::size_t i = 0; i + 1 < lines.size(); i += 2) {
      CallPlace place;
      if (lines[i] != "??")
        place.function = lines[i];
      const std::size_t colon = lines[i + 1].rfind(':');
      if (lines[i + 1][0] != '?' && colon != std::string::npos) {
        place.line =
            static_cast<std::uint32_t>(std::strtoul(&lines[i + 1][colon + 1], nullptr, 10));
        if (place.line != 0)
          place.file = shown_path(lines[i + 1].substr(0, colon));
      }
      known.push_back(std::move(place));
    }
    if (known.empty())
      known.push_back({"", 0, frame.at(3)});
    return known;
  }

  std::map<std::string, bool> is_fixed_;
  std::map<std::pair<std::string, std::uint64_t>, std::vector<CallPlace>> places_;
};

std::string thread_text(const Json &of) {
  const auto triple = [](const Json &list) {
    return fmt::format("{},{},{}", list.at(0).get<unsigned>(), list.at(1).get<unsigned>(),
                       list.at(2).get<unsigned>());
  };
  return fmt::format("block {} thread {}", triple(of.at("block")), triple(of.at("thread")));
}

/// Where a kernel's access is: of the source, or of the PTX.
std::string kernel_place(const Json &of) {
  if (of.contains("file"))
    return fmt::format("{}:{}", of.at("file").get<std::string>(), of.at("line").get<unsigned>());
  return fmt::format("PTX line {}", of.at("ptx_line").get<unsigned>());
}

/// What a variable is called in the source, where memory is described by it: `tile`.
std::string with_short_names(const std::string &text) {
  const std::size_t begin = text.find('`'), end = text.rfind('`');
  if (begin == end)
    return text;
  return text.substr(0, begin + 1) + base_name(text.substr(begin + 1, end - begin - 1)) +
         text.substr(end);
}

/// A finding as it is told: names demangled, places looked up, paths as they are called from here.
Json completed(Json finding, Symbols &symbols) {
  Json result;
  result["tool"] = tool_of(finding.at("kind"));
  result["kind"] = finding.at("kind");
  result["message"] = finding.at("message");
  if (finding.contains("kernel")) {
    result["kernel"] = demangled(finding.at("kernel").get<std::string>());
    for (const char *name : {"file", "line", "ptx_line", "block", "thread", "memory"})
      if (finding.contains(name))
        result[name] = finding.at(name);
    if (finding.contains("other"))
      result["other"] = finding.at("other");
    for (Json *place : {&result, finding.contains("other") ? &result["other"] : &result})
      if (place->contains("file"))
        (*place)["file"] = shown_path(place->at("file").get<std::string>());
    if (result.contains("memory"))
      result["memory"] = with_short_names(result["memory"].get<std::string>());
  }
  for (const char *name : {"call", "made", "freed"}) {
    const CallPlace place = finding.contains(name) ? symbols.of(finding.at(name)) : CallPlace();
    if (place.text().empty())
      continue;
    result[name] = place.text();
    if (!result.contains("file") && !place.file.empty() && name != std::string_view("freed")) {
      result["file"] = place.file;
      result["line"] = place.line;
    }
  }
  return result;
}

std::string told(const Json &finding) {
  const std::string where = finding.contains("kernel") ? kernel_place(finding)
                            : finding.contains("file")
                                ? fmt::format("{}:{}", finding.at("file").get<std::string>(),
                                              finding.at("line").get<unsigned>())
                            : finding.contains("call") ? finding.at("call").get<std::string>()
                                                       : "program";
  std::string text =
      fmt::format("{}: error: {}: {} [{}]\n", where, finding.at("kind").get<std::string>(),
                  finding.at("message").get<std::string>(), finding.at("tool").get<std::string>());
  if (finding.contains("kernel"))
    text += fmt::format("    in {}, {}\n", finding.at("kernel").get<std::string>(),
                        thread_text(finding));
  if (finding.contains("other"))
    text += fmt::format("    and {}: {}\n", kernel_place(finding.at("other")),
                        thread_text(finding.at("other")));
  if (finding.contains("memory"))
    text += fmt::format("    {}\n", finding.at("memory").get<std::string>());
  if (finding.contains("made"))
    text += fmt::format("    allocated at {}\n", finding.at("made").get<std::string>());
  if (finding.contains("freed"))
    text += fmt::format("    freed at {}\n", finding.at("freed").get<std::string>());
  return text;
}

/// SARIF 2.1.0, of all findings.
Json sarif_of(const Json &findings) {
  Json results = Json::array();
  for (const Json &finding : findings) {
    Json result;
    result["ruleId"] =
        finding.at("tool").get<std::string>() + "/" + finding.at("kind").get<std::string>();
    result["level"] = "error";
    result["message"]["text"] = told(finding);
    if (finding.contains("file")) {
      Json location;
      location["physicalLocation"]["artifactLocation"]["uri"] = finding.at("file");
      location["physicalLocation"]["region"]["startLine"] = finding.at("line");
      result["locations"] = Json::array({location});
    }
    results.push_back(std::move(result));
  }
  Json run;
  run["tool"]["driver"]["name"] = "ptxasw check";
  run["tool"]["driver"]["version"] = PTXASW_VERSION;
  run["results"] = std::move(results);
  Json sarif;
  sarif["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  sarif["version"] = "2.1.0";
  sarif["runs"] = Json::array({std::move(run)});
  return sarif;
}

/// Lines of a file, without comments; each is a part of a finding that is not told.
tl::expected<std::vector<std::string>, std::string> read_suppressions(const std::string &path) {
  std::vector<std::string> result;
  if (path.empty())
    return result;
  const auto text = read_input(path);
  if (!text)
    return tl::unexpected(text.error());
  std::string line;
  for (const char c : *text + "\n")
    if (c != '\n') {
      line += c;
    } else {
      if (!line.empty() && line[0] != '#')
        result.push_back(line);
      line.clear();
    }
  return result;
}

/// Why a program cannot be started; empty if it can.
std::string why_no_program(const std::string &program) {
  std::error_code error;
  const bool is_path = program.find('/') != std::string::npos;
  const char *const path = std::getenv("PATH");
  std::string folders = is_path ? "" : path ? path : "/bin:/usr/bin";
  for (std::size_t begin = 0; !is_path && begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string file = folders.substr(begin, end - begin) + "/" + program;
    if (::access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file, error))
      return "";
    begin = end + 1;
  }
  if (!is_path && !std::filesystem::exists(program, error))
    return fmt::format("there is no program `{}`", program);
  if (!is_path)
    return fmt::format("there is no program `{0}` on PATH; is `./{0}` meant?", program);
  if (!std::filesystem::exists(program, error))
    return fmt::format("there is no program `{}`", program);
  return ::access(program.c_str(), X_OK) == 0 && !std::filesystem::is_directory(program, error)
             ? ""
             : fmt::format("`{}` is no program that can be run", program);
}

/// The program's kernels that need not be watched for races, each with what that rests on. Says on
/// standard error why there is nothing to prove if its PTX cannot be read.
Json proved_kernels(const std::string &program, const std::string &only) {
  Json proved = Json::array();
  InputRequest request;
  request.paths = {program};
  const auto files = load_inputs(request);
  if (!files)
    return proved;
  for (const InputFile &file : *files)
    for (const Function &kernel : file.module->functions) {
      if (!kernel.is_entry || !kernel.has_body)
        continue;
      const std::string name = demangled(std::string(kernel.name));
      if (name.find(only) == std::string::npos)
        continue;
      if (const NoRace answer = no_race(*file.module, kernel); answer.proved)
        proved.push_back({{"kernel", name}, {"conditions", answer.conditions}});
    }
  return proved;
}

/// How a program ended, if not by itself: "SIGSEGV (Segmentation fault)".
std::string signal_of(int status) {
  if (!WIFSIGNALED(status))
    return "";
  const char *const name = ::sigabbrev_np(WTERMSIG(status));
  return fmt::format("SIG{} ({})", name ? name : std::to_string(WTERMSIG(status)),
                     ::strsignal(WTERMSIG(status)));
}

int run(const CheckRequest &request, const Invocation &invocation) {
  if (invocation.foreign.empty())
    return complain("nothing to run; write the program after `--`: ptxasw check -- ./app");
  if (const std::string why = why_no_program(invocation.foreign.front()); !why.empty())
    return complain(why);
  const auto suppressions = read_suppressions(request.suppressions);
  if (!suppressions)
    return complain(suppressions.error());
  const auto runtime = find_runtime();
  if (!runtime)
    return complain(runtime.error());
  const int file = make_memory_file("findings", "");
  if (file < 0)
    return complain("cannot make a file in memory");
  std::string tools;
  for (const std::string &tool : request.tools)
    tools += tool + ",";
  ::setenv("PTXASW_RUNTIME_CHECK", tools.empty() ? default_tools : tools.c_str(), 1);
  ::setenv("PTXASW_RUNTIME_FINDINGS", fmt::format("/proc/{}/fd/{}", ::getpid(), file).c_str(), 1);
  if (request.stop_after != 0)
    ::setenv("PTXASW_RUNTIME_STOP", std::to_string(request.stop_after).c_str(), 1);
  if (request.steps != 0)
    ::setenv("PTXASW_RUNTIME_STEPS", std::to_string(request.steps).c_str(), 1);
  if (!request.quiet)
    ::setenv("PTXASW_RUNTIME_PROGRESS", "1", 1);
  put_runtime_first(*runtime);
  for (const int signal : {SIGINT, SIGQUIT}) // those of a terminal are the program's
    ::signal(signal, [](int) {});
  ChildPlan plan{"/bin/sh", "sh", {"-c", "exec \"$@\"", "ptxasw check"}, -1, -1};
  plan.arguments.insert(plan.arguments.end(), invocation.foreign.begin(), invocation.foreign.end());
  const ChildResult child = run_child(plan);
  ::lseek(file, 0, SEEK_SET);
  const std::string lines = read_descriptor(file).value_or("");
  if (const std::string signal = signal_of(child.status); !signal.empty())
    complain(fmt::format("the program was ended by {}", signal));
  if (lines.empty()) {
    if (child.status != 0 && !child.started)
      return exit_like(child.status);
    return complain("nothing was checked: the program does not use our runtime; link it by the "
                    "overlay's `nvcc --no-gpu` or under `ptxasw run --no-gpu`");
  }
  Json findings = Json::array();
  Symbols symbols;
  const Painter paint(request.colour, STDERR_FILENO);
  bool ran = false, left = false; // a kernel; one that was not understood
  std::size_t from = 0;
  for (std::size_t end = lines.find('\n'); end != lines.npos; end = lines.find('\n', from)) {
    Json finding = Json::parse(lines.substr(from, end - from), nullptr, false);
    from = end + 1;
    ran |= finding.is_object() && finding.contains("ran");
    left |= finding.is_object() && finding.contains("left");
    if (finding.is_discarded() || !finding.contains("kind"))
      continue;
    const bool other_kernel =
        !request.kernel.empty() && !is_called(finding.value("kernel", ""), request.kernel);
    finding = completed(std::move(finding), symbols);
    const std::string text = told(finding);
    const bool is_other =
        other_kernel || (!request.tools.empty() &&
                         std::find(request.tools.begin(), request.tools.end(),
                                   finding.at("tool").get<std::string>()) == request.tools.end());
    if (is_other || std::any_of(suppressions->begin(), suppressions->end(), [&](const auto &part) {
          return text.find(part) != std::string::npos;
        }))
      continue;
    if (!request.json)
      tell_user(paint.heading(text));
    findings.push_back(std::move(finding));
  }
  Json told{{"schema_version", 1}, {"file", invocation.foreign.front()}, {"findings", findings}};
  if (request.prove)
    told["proved"] = proved_kernels(invocation.foreign.front(), request.kernel);
  for (const Json &one : told.value("proved", Json::array())) {
    std::string conditions;
    for (const Json &condition : one.at("conditions"))
      conditions += (conditions.empty() ? " if " : ", ") + condition.get<std::string>();
    if (!request.json)
      tell_user(fmt::format("ptxasw check: {} need not be watched for races: none in any launch, "
                            "proved{}\n",
                            one.at("kernel").get<std::string>(), conditions));
  }
  if (request.json)
    fmt::print("{}\n", told.dump(2, ' ', false, Json::error_handler_t::replace));
  else if (!request.quiet)
    tell_user(fmt::format("ptxasw check: {} finding{}\n", findings.size(),
                          findings.size() == 1 ? "" : "s"));
  if (::access("/dev/nvidiactl", F_OK) == 0 && !request.json && !request.quiet)
    tell_user("ptxasw check: there is a GPU here: compute-sanitizer checks on it, too\n");
  if (!request.sarif.empty())
    if (const auto written =
            write_file_atomically(request.sarif, sarif_of(findings).dump(2) + "\n");
        !written)
      return complain(written.error());
  if (!findings.empty())
    return static_cast<int>(request.error_code);
  if (left)
    return complain(
        "a kernel was not checked to its end: it has an instruction that is not emulated",
        exit_code::incomplete);
  if (!ran && child.status == 0)
    return complain("nothing was checked: no kernel of the program ran");
  return exit_like(child.status);
}

void declare(Words &words, CheckRequest &request) {
  words.choices(
      "--tool", request.tools, {"memcheck", "racecheck", "initcheck", "synccheck", "leakcheck"},
      "memcheck,racecheck,initcheck,synccheck,leakcheck; otherwise all but leakcheck, which "
      "is for programs that free what they allocate");
  words.text("--kernel", request.kernel, "only findings of this kernel");
  words.text("--suppress FILE", request.suppressions,
             "a part of a finding's text a line: such findings are not told");
  words.number("--stop-after", request.stop_after, "end the program at that many findings");
  words.number("--steps", request.steps,
               "thread-instructions of a kernel at most; one that goes on has failed");
  words.number("--error-exitcode", request.error_code, "exit code if there is a finding", 0, 255);
  words.flag("--prove", request.prove,
             "also name kernels that are proved to have no race in any launch");
  words.output(request, "findings as JSON on standard output");
  words.text("--sarif FILE", request.sarif, "also write the findings as SARIF 2.1.0");
  words.footer("Exit codes: 1 or --error-exitcode if something was found, 2 if nothing could be "
               "checked, 3 if a kernel was not checked to its end, otherwise the program's.");
  words.examples(
      {"ptxasw check -- ./app", "ptxasw check --tool racecheck --sarif races.sarif -- ./app"});
}

} // namespace

const Command check_command = {"check", "run a CUDA program on the CPU with its kernels checked",
                               bind<CheckRequest, declare, run>};

} // namespace ptxasw::wrapper
