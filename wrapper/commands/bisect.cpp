// Finds the rewrite that makes a command fail.
//
// The command compiles and checks: it must exit with 0 if the result is right. It runs with
// settings in its environment, so everything between it and ptxas has to pass the environment on.
// Every module that is compiled leaves a line in a journal; so the first run, with all rewrites,
// lists the modules and their rewrites. All rewrites of all modules form one sequence, modules in
// the order in which they were first compiled, and the shortest beginning of the sequence with
// which the command fails ends with the culprit: found by halving, the number of the module and the
// last rewrite of it being settings.
//
// A module is identified by the number of its text, so it must be the same text in every run.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/words.h"
#include "wrapper/os/files.h"
#include "wrapper/os/process.h"
#include "wrapper/os/progress.h"
#include "wrapper/settings/settings.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

namespace ptxasw {
namespace {

/// What `ptxasw bisect` was asked.
struct BisectRequest {
  unsigned repeats = 1;     ///< runs of the command for one answer; it fails if one of them does
  bool show_output = false; ///< let the command write to our own streams
};

using SortedJson = nlohmann::json;

constexpr int cannot_run = 127;  // a shell's exit code for a command that is not there
constexpr int cannot_tell = 125; // as for `git bisect run`

/// One module of the first run.
struct BisectModule {
  std::string number;
  SortedJson report;
  std::vector<std::pair<SortedJson, SortedJson>> rewrites; ///< kernel and rewrite, in order
};

/// Why there is no answer.
struct NoAnswer {
  std::string message;
};

/// What one or more runs with the same rewrites say.
struct Answer {
  bool fails = false;
  bool mixed = false; ///< some runs failed and some did not
  std::vector<SortedJson> journal;
};

/// What is left to do when we are terminated: the command runs in a process group of its own, with
/// everything it has started, and the journal lies in a directory for temporary files.
volatile pid_t running_group = 0;
char journal_to_remove[4096];

extern "C" void end_all(int signal) {
  if (running_group > 0) // what shells start in the background does not hear SIGINT
    ::kill(-running_group, SIGTERM);
  if (journal_to_remove[0] != '\0')
    ::unlink(journal_to_remove);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

class Bisection {
public:
  Bisection(const BisectRequest &request, const std::vector<std::string> &command)
      : request_(request), command_(command) {}
  Bisection(const Bisection &) = delete;
  Bisection &operator=(const Bisection &) = delete;
  ~Bisection() {
    if (!journal_.empty())
      ::unlink(journal_.c_str());
  }

  /// Throws NoAnswer.
  void run();

private:
  Answer ask(const std::string &what, const std::vector<std::string> &choice, unsigned runs);
  int run_once();
  std::vector<SortedJson> read_journal();
  void find_modules(const Answer &all);
  std::vector<std::string> beginning(std::size_t length) const;
  void check_modules(const std::vector<SortedJson> &journal) const;
  void tell(std::size_t culprit, const std::vector<std::string> &before);

  const BisectRequest &request_;
  const std::vector<std::string> &command_;
  std::string journal_;
  std::vector<BisectModule> modules_;
  Progress progress_;
  std::size_t total_ = 0; ///< rewrites of all modules
  unsigned runs_ = 0;
};

std::string joined(const std::vector<std::string> &parts) {
  std::string list;
  for (const std::string &part : parts)
    list += (list.empty() ? "" : ",") + part;
  return list;
}

void set_variable(const char *name, const std::string &value) { ::setenv(name, value.c_str(), 1); }

// The exit code of the command; a signal counts as a failure.
int Bisection::run_once() {
  ++runs_;
  ::unlink(journal_.c_str());
  // A second run would find nothing on standard input.
  const std::string script =
      request_.show_output ? "exec \"$@\" </dev/null" : "exec \"$@\" </dev/null >/dev/null 2>&1";
  ChildPlan plan{"/bin/sh", "sh", {"-c", script, "sh"}, -1, -1, &running_group};
  plan.arguments.insert(plan.arguments.end(), command_.begin(), command_.end());
  const ChildResult child = run_child(plan);
  if (WIFSIGNALED(child.status)) {
    const int signal = WTERMSIG(child.status);
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
      throw NoAnswer{"interrupted"};
    return 128 + signal;
  }
  return WEXITSTATUS(child.status);
}

std::vector<SortedJson> Bisection::read_journal() {
  std::vector<SortedJson> lines;
  const std::string text = read_regular_file(journal_).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    SortedJson line =
        SortedJson::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                          text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!line.is_discarded())
      lines.push_back(std::move(line));
    at = end + 1;
  }
  return lines;
}

// Runs the command with some of the rewrites. `choice`: entries of the setting `modules`; empty:
// none.
Answer Bisection::ask(const std::string &what, const std::vector<std::string> &choice,
                      unsigned runs) {
  set_variable("PTXASW_MODULES", joined(choice));
  Answer answer;
  for (unsigned i = 0; i < runs; ++i) {
    if (!request_.show_output)
      progress_.show(fmt::format("run {} of the command, {}", runs_ + 1, what));
    const int code = run_once();
    progress_.clear();
    if (code == cannot_run)
      throw NoAnswer{fmt::format("`{}` cannot be run", command_.front())};
    if (code == cannot_tell)
      throw NoAnswer{fmt::format("the command exits with {}, so it cannot tell", cannot_tell)};
    answer.mixed |= i > 0 && answer.fails != (code != 0);
    answer.fails |= code != 0;
    answer.journal = read_journal();
  }
  fmt::print(stderr, "ptxasw: {}: the command {}\n", what, answer.fails ? "fails" : "succeeds");
  return answer;
}

void Bisection::find_modules(const Answer &all) {
  for (const SortedJson &line : all.journal) {
    BisectModule module{line.value("module", ""), line, {}};
    const auto same = [&](const BisectModule &known) { return known.number == module.number; };
    if (std::any_of(modules_.begin(), modules_.end(), same))
      continue; // compiled several times
    for (const SortedJson &kernel : line["kernels"])
      for (const SortedJson &rewrite : kernel["rewrites"])
        module.rewrites.emplace_back(kernel, rewrite);
    total_ += module.rewrites.size();
    if (!module.rewrites.empty())
      modules_.push_back(std::move(module));
  }
}

// The setting `modules` for the first rewrites of the sequence.
std::vector<std::string> Bisection::beginning(std::size_t length) const {
  std::vector<std::string> choice;
  for (const BisectModule &module : modules_) {
    if (length == 0)
      break;
    const std::size_t here = std::min(length, module.rewrites.size());
    choice.push_back(module.number);
    if (here < module.rewrites.size())
      choice.back() +=
          fmt::format(":{}", module.rewrites[here - 1].second["number"].get<unsigned>());
    length -= here;
  }
  // No module has this number: none is to be rewritten.
  return choice.empty() ? std::vector<std::string>{"0000000000000000"} : choice;
}

void Bisection::check_modules(const std::vector<SortedJson> &journal) const {
  if (journal.empty())
    throw NoAnswer{"no module went through ptxasw in this run: the command must compile anew every "
                   "time (make -B, no ccache)"};
  for (const BisectModule &module : modules_)
    if (std::none_of(journal.begin(), journal.end(), [&](const SortedJson &line) {
          return line.value("module", "") == module.number;
        }))
      throw NoAnswer{fmt::format("module {} ({}) was not compiled again, or its text is another in "
                                 "every run; the command must do the same every time",
                                 module.number, module.report.value("file", ""))};
}

void Bisection::run() {
  const char *directory = std::getenv("TMPDIR");
  std::string file =
      fmt::format("{}/ptxasw-bisect-XXXXXX", directory && *directory ? directory : "/tmp");
  const int descriptor = ::mkstemp(file.data());
  if (descriptor < 0)
    throw NoAnswer{"cannot make a temporary file"};
  ::close(descriptor);
  journal_ = file;
  if (file.size() < sizeof journal_to_remove)
    std::strcpy(journal_to_remove, file.c_str());
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    if (::signal(signal, end_all) == SIG_IGN) // as a shell starts what is in the background
      ::signal(signal, SIG_IGN);
  // Compiler caches have to recompile every time.
  set_variable("CCACHE_RECACHE", "1");
  set_variable("SCCACHE_RECACHE", "1");
  set_variable("PTXASW_JOURNAL", journal_);
  const unsigned first_runs = std::max(request_.repeats, 2u);

  const Answer all = ask("with all rewrites", {}, first_runs);
  if (!all.fails)
    throw NoAnswer{
        "the command succeeds with all rewrites: there is nothing to find. It has to exit "
        "with another code than 0 if the result is wrong"};
  if (all.journal.empty())
    throw NoAnswer{"the command started no ptxas that is ptxasw; put it in front of the compiler "
                   "(ptxasw overlay), or bisect `ptxasw run -- COMMAND`"};
  find_modules(all);
  if (total_ == 0) {
    std::string why;
    for (const SortedJson &line : all.journal)
      why = line.value("decision", "");
    throw NoAnswer{fmt::format("the command fails, but nothing was rewritten{}{}{}",
                               why.empty() ? "" : " (", why, why.empty() ? "" : ")")};
  }
  const Answer none = ask("without rewrites", beginning(0), first_runs);
  if (none.mixed)
    throw NoAnswer{"without rewrites the command fails only sometimes: no answer can be trusted"};
  if (none.fails)
    throw NoAnswer{"the command fails without any rewrite, too: the reason is elsewhere"};
  check_modules(none.journal);
  if (all.mixed && request_.repeats < 2)
    throw NoAnswer{
        "with all rewrites the command fails only sometimes; --repeat N takes N runs for "
        "each answer, and one failure for a failure"};

  std::size_t good = 0, bad = total_;
  while (bad - good > 1) {
    const std::size_t middle = good + (bad - good) / 2;
    const Answer answer = ask(fmt::format("with {} of {} rewrites", middle, total_),
                              beginning(middle), request_.repeats);
    check_modules(answer.journal);
    (answer.fails ? bad : good) = middle;
  }
  tell(bad - 1, beginning(good));
}

// The culprit, and whether it needs those before it.
void Bisection::tell(std::size_t culprit, const std::vector<std::string> &before) {
  std::size_t index = culprit;
  std::size_t at = 0;
  for (; index >= modules_[at].rewrites.size(); ++at)
    index -= modules_[at].rewrites.size();
  const BisectModule &module = modules_[at];
  const auto &[kernel, rewrite] = module.rewrites[index];
  const auto number = rewrite["number"].get<unsigned>();
  const Answer alone =
      ask("with this one only", {fmt::format("{}:{}-{}", module.number, number, number)},
          request_.repeats);
  std::string source;
  const SortedJson &load = rewrite["loads"][0];
  if (load["source_line"].is_object())
    source = fmt::format(", source line {}:{}", load["source_line"].value("file", ""),
                         load["source_line"].value("line", 0));
  const int delta = rewrite["details"].value("delta", 0);
  fmt::print("rewrite {} of module {} ({}) makes the command fail\n"
             "  kernel {}, PTX line {}{}\n"
             "  {}{}, from the load on line {}\n",
             number, module.number, module.report.value("file", ""), kernel.value("name", ""),
             load.value("line", 0), source, rewrite.value("kind", ""),
             delta == 0 ? std::string()
                        : fmt::format(" over {} lane{} (delta {})", std::abs(delta),
                                      std::abs(delta) == 1 ? "" : "s", delta),
             rewrite["sources"][0].value("line", 0));
  if (alone.fails)
    fmt::print("  alone: PTXASW_MODULES={}:{}-{}\n", module.number, number, number);
  else
    fmt::print("  only together with rewrites before it: they succeed with PTXASW_MODULES={}\n",
               joined(before));
  fmt::print("  {} runs of the command\n", runs_);
}

int run(const BisectRequest &request, const Invocation &invocation) {
  if (const auto code = export_settings(invocation, "bisect"))
    return *code;
  try {
    Bisection(request, invocation.foreign).run();
    return 0;
  } catch (const NoAnswer &none) {
    std::fflush(stdout);
    fmt::print(stderr, "ptxasw: {}\n", none.message);
    return 1;
  }
}

void declare(Words &words, BisectRequest &request) {
  words.footer("The command compiles and checks, and exits with 0 if the result is right. It is "
               "run many times with\nparts of the rewrites, as settings in its environment.");
  words.number("--repeat", request.repeats,
               "runs of the command for each answer, if it fails only sometimes", 1, 1000);
  words.flag("--show-output", request.show_output, "let the command write");
  words.settings(true);
}

} // namespace

const Command bisect_command = {
    "bisect", "find the rewrite that makes a command fail: ptxasw bisect -- make -B check",
    bind<BisectRequest, declare, run>};

} // namespace ptxasw
