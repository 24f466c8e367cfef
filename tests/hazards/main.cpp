// hazards [FAMILY...] [--runs N] [--share N] [--only TEXT] [--in-kernel] [--from FOLDER] [-v]
// hazards --print NAME [--from FOLDER]
// hazards --write FOLDER [--only TEXT]
//
// Checks the traps of some families, or of all: whatever falls into one is told with the trap's
// name, and the exit code is 1. It is 1, too, if there are no traps to check.
//
//   --runs N      so many launches of each module (a shuffle's: of launches and schedules) in place
//                 of the family's own number; 200 is thorough
//   --share N     one in N of the launches of versions at first; all of them where these are too
//                 few, or leave a line out that has to run
//   --only TEXT   the traps with this in their name
//   --in-kernel   versions inside their kernels in place of those beside them, where a family can
//   --from FOLDER a folder with traps as expand.py writes them
//   --print NAME  a trap written out, as the tools read it
//   --write FOLDER modules and launches of shuffles for device/run
//   -v            what is fine is said, too

#include "family.h"
#include "synth/family.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <sstream>
#include <stdexcept>

using namespace ptxasw::test;
namespace fs = std::filesystem;

namespace {

struct Request {
  std::vector<std::string> families;
  std::string only, print, write, from = TRAPS_DIR;
  TrapOptions options;
};

constexpr const char *usage = "usage: hazards [FAMILY...] [--runs N] [--share N] [--only TEXT] "
                              "[--in-kernel] [--from FOLDER]\n"
                              "               [-v]\n"
                              "       hazards --print NAME\n"
                              "       hazards --write FOLDER\n";

/// The families that have a folder; those of versions in the program's order.
std::vector<std::string> all_families(const std::string &from) {
  std::vector<std::string> list{"kernels", "retile", "waits"};
  for (const ptxasw::synth::Family &family : ptxasw::synth::families())
    if (family.name != "retile" && fs::is_directory(fs::path(from) / family.name))
      list.emplace_back(family.name);
  return list;
}

bool read_number(std::string_view word, unsigned &number) {
  return std::from_chars(word.begin(), word.end(), number).ptr == word.end() && number != 0;
}

/// Returns false if the words are not understood.
bool understand(int argc, char **argv, Request &request) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    std::string *const value = word == "--only"    ? &request.only
                               : word == "--print" ? &request.print
                               : word == "--write" ? &request.write
                               : word == "--from"  ? &request.from
                                                   : nullptr;
    if (value && i + 1 < argc)
      *value = argv[++i];
    else if (word == "-v")
      request.options.verbose = true;
    else if (word == "--in-kernel")
      request.options.in_kernel = true;
    else if (word == "--runs" && i + 1 < argc && read_number(argv[i + 1], request.options.runs))
      ++i;
    else if (word == "--share" && i + 1 < argc && read_number(argv[i + 1], request.options.share))
      ++i;
    else if (!word.starts_with('-'))
      request.families.push_back(word);
    else
      return false;
  }
  const std::vector<std::string> known = all_families(request.from);
  if (request.families.empty())
    request.families = known;
  return std::all_of(request.families.begin(), request.families.end(), [&](const auto &word) {
    return std::find(known.begin(), known.end(), word) != known.end();
  });
}

/// The traps of a family, sorted by name; what cannot be read is told.
std::vector<Trap> traps_of(const Request &request, const std::string &family, TrapReport &report) {
  std::vector<fs::path> paths;
  std::error_code none;
  for (const auto &entry : fs::directory_iterator(fs::path(request.from) / family, none))
    if (entry.path().stem().string().find(request.only) != std::string::npos)
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Trap> traps;
  for (const fs::path &path : paths)
    try {
      traps.push_back(read_trap(path));
    } catch (const std::exception &error) {
      report.say(path.stem().string(), "form", error.what());
    }
  return traps;
}

void check(const std::string &family, const Trap &trap, const Request &request,
           TrapReport &report) {
  report.count("hazards");
  report.count("twins", !trap.twin.empty());
  try {
    if (family == "kernels")
      check_shuffles(trap, request.options, report);
    else if (family == "retile")
      check_retiled(trap, request.options, report);
    else if (family == "waits")
      check_waits(trap, request.options, report);
    else
      check_versions(family, trap, request.options, report);
  } catch (const std::exception &error) {
    report.say(trap.name, "form", error.what());
  }
}

int check_all(const Request &request) {
  TrapReport report(request.options.verbose);
  bool any = false;
  for (const std::string &family : request.families) {
    const std::vector<Trap> traps = traps_of(request, family, report);
    any |= !traps.empty();
    if (traps.empty() && request.only.empty())
      report.say(family, "folder", "there are no traps in " + request.from);
    for (const Trap &trap : traps)
      check(family, trap, request, report);
    if (family == "kernels" && request.only.empty())
      check_rules(traps, report);
  }
  if (!any && !request.only.empty())
    fmt::print(stderr, "hazards: no trap is named {}\n", request.only);
  fmt::print("{}\n", report.summary());
  return any && report.wrong() == 0 ? 0 : 1;
}

int print(const Request &request) {
  bool found = false;
  for (const std::string &family : request.families) {
    std::ifstream file(fs::path(request.from) / family / (request.print + ".ptx"));
    if (file)
      fmt::print("{}", (std::ostringstream() << file.rdbuf()).str());
    found |= file.is_open();
  }
  if (!found)
    fmt::print(stderr, "hazards: no trap is named {}\n", request.print);
  return found ? 0 : 1;
}

} // namespace

void TrapReport::say(std::string_view trap, std::string_view part, const std::string &wrong) {
  wrong_ += !wrong.empty();
  if (!wrong.empty())
    fmt::print("{}, {}: {}\n", trap, part, wrong);
  else
    note(trap, part, "ok");
}

void TrapReport::note(std::string_view trap, std::string_view part, const std::string &what) const {
  if (verbose_)
    fmt::print("{}, {}: {}\n", trap, part, what);
}

std::string TrapReport::summary() const {
  std::string text;
  for (const auto &[what, number] : counts_)
    text += fmt::format("{} {}, ", number, what);
  return text + fmt::format("{} wrong", wrong_);
}

int main(int argc, char **argv) {
  Request request;
  if (!understand(argc, argv, request)) {
    fmt::print(stderr, "{}", usage);
    return 2;
  }
  if (!request.print.empty())
    return print(request);
  if (request.write.empty())
    return check_all(request);
  TrapReport report(true);
  write_shuffles(traps_of(request, "kernels", report), request.write);
  return report.wrong() == 0 ? 0 : 1;
}
