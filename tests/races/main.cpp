// races [-v] [FILE...]
//
// Each file of programs/ is the body of a kernel, behind head.ptx, and says in its first lines what
// the race check has to say of it:
//
//     // what: a lane reads what its neighbour wrote, with nothing in between
//     // verdict: race
//     // launch: grid=2 block=64
//
// `verdict` is race or none; `none` also means no finding about barriers. It must come out so under
// every schedule that is tried, whoever comes first. In a racy program the two accesses that race
// are marked `// race`, and no line without that mark may be named.

#include "emulator/machine/warp_launch.h"

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <sstream>
#include <stdexcept>

using namespace ptxasw::test;
namespace fs = std::filesystem;

namespace {

constexpr unsigned random_schedules = 12;
constexpr std::uint64_t step_limit = 2'000'000;

std::string read_text(const fs::path &path) {
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error("cannot be read");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A program with what its head says.
struct Program {
  std::string text;               ///< a module
  bool races = false;             ///< the verdict
  Extents grid, block{64, 1, 1};  ///< of its launch
  std::vector<bool> may_be_named; ///< by line of the module
};

Program read_program(const fs::path &path) {
  Program program;
  const std::string body = read_text(path);
  std::string verdict, what, directives;
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line) && line.starts_with("// ");) {
    std::istringstream words(line.substr(3));
    std::string key, word;
    words >> key;
    if (key == "verdict:")
      words >> verdict;
    else if (key == "what:")
      words >> what;
    else if (key == "launch:")
      while (words >> word) {
        const std::string number = word.substr(word.find('=') + 1);
        if (word.starts_with("cluster"))
          directives = ".reqnctapercluster " + number;
        else
          (word.starts_with("grid") ? program.grid : program.block).x =
              static_cast<std::uint32_t>(std::stoul(number));
      }
    else
      throw std::runtime_error("its head has `" + key + "`");
  }
  if ((verdict != "race" && verdict != "none") || what.empty())
    throw std::runtime_error("it needs a `what` and a `verdict` of race or none");
  program.races = verdict == "race";
  std::string head = read_text(fs::path(RACES_DIR) / "head.ptx");
  head.replace(head.find("BODY"), 4, body);
  program.text = head.replace(head.find("DIRECTIVES"), 10, directives);
  program.may_be_named.push_back(false); // lines count from 1
  std::istringstream all(program.text);
  for (std::string line; std::getline(all, line);)
    program.may_be_named.push_back(line.ends_with("// race"));
  if (program.races !=
      (std::count(program.may_be_named.begin(), program.may_be_named.end(), true) > 0))
    throw std::runtime_error("lines are marked `// race` where, and only where, there is a race");
  return program;
}

/// What is wrong with the answer under one schedule; empty: nothing.
std::string wrong_with(const Program &program, const WarpOutcome &outcome) {
  if (outcome.fault)
    return format(*outcome.fault);
  if (outcome.race.has_value() != program.races)
    return outcome.race ? format(*outcome.race) : "no race is found";
  if (!program.races && outcome.barrier)
    return format(*outcome.barrier);
  if (!program.races)
    return {};
  for (const std::uint32_t line : {outcome.race->line, outcome.race->others.at(0).line})
    if (!program.may_be_named.at(line))
      return "not the race that is meant: " + format(*outcome.race);
  return {};
}

/// The wrong answers, one a line.
std::string judge(const Program &program) {
  const auto module = parse(program.text, "program.ptx");
  if (!module)
    return format(module.error());
  const WarpProgram prepared(**module);
  WarpLaunch launch;
  launch.grid = program.grid;
  launch.block = program.block;
  std::string all;
  for (unsigned i = 0; i < 2 + random_schedules; ++i) {
    WarpOptions options;
    options.schedule = i == 0   ? WarpSchedule::reconverge
                       : i == 1 ? WarpSchedule::apart
                                : WarpSchedule::random;
    options.seed = i;
    options.check_races = options.check_barriers = true;
    options.step_limit = step_limit;
    GlobalMemory memory;
    if (const auto placed = prepared.place_variables(memory); !placed)
      return placed.error();
    const WarpOutcome outcome =
        run_kernel(prepared, *prepared.find_kernel("k"), launch, memory, options);
    if (const std::string why = wrong_with(program, outcome); !why.empty())
      all += fmt::format("  {}: {}\n", SeededSchedule{options.schedule, options.seed}.text(), why);
  }
  return all;
}

} // namespace

int main(int count, char **words) {
  std::vector<fs::path> files(words + 1, words + count);
  const bool verbose = std::erase(files, fs::path("-v")) != 0;
  if (files.empty())
    for (const auto &entry : fs::directory_iterator(fs::path(RACES_DIR) / "programs"))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  unsigned racy = 0, failed = 0;
  for (const fs::path &file : files) {
    std::string wrong;
    try {
      const Program program = read_program(file);
      racy += program.races;
      wrong = judge(program);
    } catch (const std::exception &error) {
      wrong = fmt::format("  {}\n", error.what());
    }
    failed += !wrong.empty();
    if (!wrong.empty() || verbose)
      fmt::print("{}: {}\n{}", file.filename().string(), wrong.empty() ? "right" : "WRONG", wrong);
  }
  fmt::print("{} programs, {} of them racy: {} judged wrongly\n", files.size(), racy, failed);
  return failed == 0 && !files.empty() ? 0 : 1;
}
