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

#include "wrapper/commands/command_runs.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/words.h"
#include "wrapper/settings/settings.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace ptxasw::wrapper {
namespace {

using SortedJson = nlohmann::json;

/// One module of the first run.
struct BisectModule {
  std::string number;
  SortedJson report;
  std::vector<std::pair<SortedJson, SortedJson>> rewrites; ///< kernel and rewrite, in order
};

using Answer = CommandAnswer;

class Bisection {
public:
  Bisection(const BisectRequest &request, const std::vector<std::string> &command)
      : request_(request), runs_(request, command) {}

  /// Throws NoAnswer.
  void run();

private:
  Answer ask(const std::string &what, const std::vector<std::string> &choice, unsigned runs);
  void find_modules(const Answer &all);
  std::vector<std::string> beginning(std::size_t length) const;
  void check_modules(const std::vector<SortedJson> &journal) const;
  void tell(std::size_t culprit, const std::vector<std::string> &before);

  const BisectRequest &request_;
  CommandRuns runs_;
  std::vector<BisectModule> modules_;
  std::size_t total_ = 0; ///< rewrites of all modules
};

std::string joined(const std::vector<std::string> &parts) {
  std::string list;
  for (const std::string &part : parts)
    list += (list.empty() ? "" : ",") + part;
  return list;
}

// Runs the command with some of the rewrites. `choice`: entries of the setting `modules`; empty:
// none.
Answer Bisection::ask(const std::string &what, const std::vector<std::string> &choice,
                      unsigned runs) {
  set_variable("PTXASW_MODULES", joined(choice));
  return runs_.ask(what, runs);
}

void Bisection::find_modules(const Answer &all) {
  for (const SortedJson &line : all.lines) {
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
  // Compiler caches have to recompile every time.
  set_variable("CCACHE_RECACHE", "1");
  set_variable("SCCACHE_RECACHE", "1");
  set_variable("PTXASW_JOURNAL", runs_.file());
  const unsigned first_runs = runs_.first_runs();

  const Answer all = ask("with all rewrites", {}, first_runs);
  if (!all.fails)
    throw NoAnswer{
        "the command succeeds with all rewrites: there is nothing to find. It has to exit "
        "with another code than 0 if the result is wrong"};
  if (all.lines.empty())
    throw NoAnswer{"the command started no ptxas that is ptxasw; put it in front of the compiler "
                   "(ptxasw overlay), or bisect `ptxasw run -- COMMAND`"};
  find_modules(all);
  if (total_ == 0) {
    std::string why;
    for (const SortedJson &line : all.lines)
      why = line.value("decision", "");
    throw NoAnswer{fmt::format("the command fails, but nothing was rewritten{}{}{}",
                               why.empty() ? "" : " (", why, why.empty() ? "" : ")")};
  }
  const Answer none = ask("without rewrites", beginning(0), first_runs);
  if (none.mixed)
    throw NoAnswer{"without rewrites the command fails only sometimes: no answer can be trusted"};
  if (none.fails)
    throw NoAnswer{"the command fails without any rewrite, too: the reason is elsewhere"};
  check_modules(none.lines);
  if (all.mixed && request_.repeats < 2)
    throw NoAnswer{
        "with all rewrites the command fails only sometimes; --repeat N takes N runs for "
        "each answer, and one failure for a failure"};

  std::size_t good = 0, bad = total_;
  while (bad - good > 1) {
    const std::size_t middle = good + (bad - good) / 2;
    const Answer answer = ask(fmt::format("with {} of {} rewrites", middle, total_),
                              beginning(middle), request_.repeats);
    check_modules(answer.lines);
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
  const std::string file = module.report.value("file", "");
  const std::string setting =
      alone.fails ? fmt::format("{}:{}-{}", module.number, number, number) : joined(before);
  std::string lines = fmt::format(
      "  kernel {}, PTX line {}{}\n  {}{}, from the load on line {}\n", kernel.value("name", ""),
      load.value("line", 0), source, rewrite.value("kind", ""),
      delta == 0 ? std::string()
                 : fmt::format(" over {} lane{} (delta {})", std::abs(delta),
                               std::abs(delta) == 1 ? "" : "s", delta),
      rewrite["sources"][0].value("line", 0));
  lines += alone.fails ? fmt::format("  alone: PTXASW_MODULES={}\n", setting)
                       : fmt::format("  only together with rewrites before it: they succeed with "
                                     "PTXASW_MODULES={}\n",
                                     setting);
  lines += fmt::format("  {} runs of the command\n", runs_.count());
  tell_found(request_,
             fmt::format("rewrite {} of module {} ({}) makes the command fail", number,
                         module.number, file),
             lines,
             {{"found", "rewrite"},
              {"file", file},
              {"module", module.number},
              {"kernel", kernel.value("name", "")},
              {"rewrite", rewrite},
              {"alone", alone.fails},
              {"settings", {{"PTXASW_MODULES", setting}}},
              {"runs", runs_.count()}});
}

int run(const BisectRequest &request, const Invocation &invocation) {
  if (const auto code = export_settings(invocation, "bisect"))
    return *code;
  try {
    if (request.siblings)
      bisect_siblings(request, invocation.foreign);
    else
      Bisection(request, invocation.foreign).run();
    return 0;
  } catch (const NoAnswer &none) {
    std::fflush(stdout);
    return complain(none.message);
  }
}

void declare(Words &words, BisectRequest &request) {
  words.footer("The command compiles and checks, and exits with 0 if the result is right. It is "
               "run many times with\nparts of the rewrites, as settings in its environment.");
  words.number("--repeat", request.repeats,
               "runs of the command for each answer, if it fails only sometimes", 1, 1000);
  words.flag("--versions", request.siblings,
             "look among the siblings that the launch helper launches: the command runs a program "
             "under it, and compiles nothing");
  words.flag("--show-output", request.show_output, "let the command write");
  words.flag("--json", request.json, "what was found as JSON");
  words.flag("-q,--quiet", request.quiet, "no lines and no progress about runs");
  words.colour(request.colour);
  words.settings(true);
  words.examples({"ptxasw bisect --shuffle=always -- make -B check",
                  "ptxasw bisect --versions -- ptxasw launch -- ./app --check"});
}

} // namespace

const Command bisect_command = {
    "bisect",
    "find the rewrite, or the sibling, that makes a command fail: ptxasw bisect -- make -B check",
    bind<BisectRequest, declare, run>};

} // namespace ptxasw::wrapper
