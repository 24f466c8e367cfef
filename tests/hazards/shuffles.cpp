// Loads that get what another lane has read.
//
// Each trap of kernels/ is one for a rule of docs/internals/soundness.md, and has a twin in which
// the trap is not set. For both:
//   - the original computes the same under every schedule, and has no race;
//   - the rewritten kernel computes that, too, and reads nothing that the original does not;
//   - the counts and reasons match the head of the file.
// And so that each trap is known to be one: the naive rewrite of naive.cpp computes something else
// in the hazard, and the right thing in the twin.

#include "family.h"
#include "grammar/module.h"
#include "hazard.h"
#include "synth/rewrite.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace ptxasw::test {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t margin = 4096;                  ///< bytes on either side of a buffer
constexpr std::uint64_t reach = std::uint64_t{1} << 36; ///< of a far buffer, on either side
constexpr std::uint32_t dynamic_shared = 4096;          ///< bytes, where it is used
constexpr std::size_t schedules_a_launch = 8;           ///< at least
constexpr std::size_t usual_runs = 40;                  ///< combinations of launch and schedule

struct Schedule {
  WarpSchedule policy = WarpSchedule::reconverge;
  std::uint64_t seed = 0;
};

std::string describe(const HazardLaunch &launch, const Schedule &schedule) {
  const Extents &g = launch.grid, &b = launch.block;
  std::string text = fmt::format(
      "grid {}x{}x{} block {}x{}x{} schedule {}", g[0], g[1], g[2], b[0], b[1], b[2],
      schedule.policy == WarpSchedule::reconverge ? "reconverge"
      : schedule.policy == WarpSchedule::apart    ? "apart"
                                                  : fmt::format("random:{}", schedule.seed));
  for (const Argument &argument : launch.arguments)
    if (argument.kind == Argument::Kind::number)
      text += fmt::format(" {}={}", argument.name, static_cast<std::int64_t>(argument.value));
    else if (argument.kind == Argument::Kind::alias)
      text += fmt::format(" {}={}{:+}", argument.name, argument.of,
                          static_cast<std::int64_t>(argument.value));
  return text;
}

struct Run {
  GlobalMemory memory;
  WarpOutcome outcome;
};

/// A module ready to run.
class Subject {
public:
  explicit Subject(const std::string &text) {
    auto parsed = parse(text, "hazard.ptx");
    if (!parsed)
      throw std::runtime_error(format(parsed.error()) + text);
    module_ = std::move(*parsed);
    program_ = std::make_unique<WarpProgram>(*module_);
    kernel_ = program_->find_kernel("k").value();
  }

  Run run(const HazardLaunch &how, const Schedule &schedule, WarpOptions options) const {
    Run result;
    WarpLaunch launch;
    launch.grid = how.grid;
    launch.block = how.block;
    launch.dynamic_shared = program_->has_dynamic_shared() ? dynamic_shared : 0;
    const Function &function = *program_->function(kernel_).function;
    launch.parameters.resize(kernel_parameter_bytes(function));
    if (how.arguments.size() != function.parameters.size())
      throw std::runtime_error("arguments and parameters differ in number");
    if (const auto placed = program_->place_variables(result.memory); !placed)
      throw std::runtime_error(placed.error());
    std::map<std::string, std::uint64_t> places;
    for (std::size_t i = 0; i < how.arguments.size(); ++i) {
      const Argument &argument = how.arguments[i];
      if (argument.name != function.parameters[i].name)
        throw std::runtime_error("the parameter's name is " +
                                 std::string(function.parameters[i].name));
      const std::uint64_t bits = place(argument, i, places, result.memory);
      places[argument.name] = bits;
      std::memcpy(launch.parameters.data() + kernel_parameter_offset(function, i), &bits,
                  std::min<std::size_t>(8, function.parameters[i].size()));
    }
    options.schedule = schedule.policy;
    options.seed = schedule.seed;
    options.step_limit = std::min<std::uint64_t>(options.step_limit, 3'000'000);
    result.outcome = run_kernel(*program_, kernel_, launch, result.memory, options);
    return result;
  }

private:
  static std::uint64_t place(const Argument &argument, std::size_t index,
                             const std::map<std::string, std::uint64_t> &places,
                             GlobalMemory &memory) {
    using Kind = Argument::Kind;
    if (argument.kind == Kind::number)
      return argument.value;
    if (argument.kind == Kind::alias)
      return places.at(argument.of) + argument.value;
    const std::uint64_t before = argument.kind == Kind::far     ? reach
                                 : argument.kind == Kind::exact ? 0
                                                                : margin;
    const std::uint64_t size = argument.kind == Kind::far ? 2 * reach : argument.bytes + 2 * before;
    const std::size_t allocation =
        memory.allocate(argument.name, size, argument.fill, scramble(index + 1));
    return memory.allocations()[allocation].base + before;
  }

  std::unique_ptr<Module> module_;
  std::unique_ptr<WarpProgram> program_;
  std::uint32_t kernel_ = 0;
};

/// The launches of the head, and others that `shapes` allows.
std::vector<HazardLaunch> launches_of(const Hazard &hazard, bool twin, std::size_t count) {
  struct Shape {
    std::uint32_t x, y, z;
  };
  static constexpr Shape shapes[] = {{32, 1, 1},  {64, 1, 1}, {33, 1, 1},  {96, 1, 1}, {40, 1, 1},
                                     {31, 1, 1},  {1, 1, 1},  {128, 1, 1}, {65, 1, 1}, {16, 1, 1},
                                     {16, 16, 1}, {48, 2, 1}, {8, 4, 4},   {33, 2, 1}, {7, 5, 1},
                                     {32, 4, 1},  {1, 40, 1}, {17, 3, 2},  {64, 2, 1}, {16, 2, 1},
                                     {8, 8, 1},   {40, 3, 1}};
  constexpr std::size_t flat_shapes = 10;
  if (twin && !hazard.twin_launches.empty())
    return hazard.twin_launches;
  std::vector<HazardLaunch> list = hazard.launches;
  if (hazard.shapes == "head")
    return list;
  WarpRandom random(std::hash<std::string>{}(hazard.rule) ^ hazard.text.size());
  while (list.size() < count) {
    HazardLaunch launch = hazard.launches[random.below(hazard.launches.size())];
    const Shape &shape =
        shapes[random.below(hazard.shapes == "any" ? std::size(shapes) : flat_shapes)];
    launch.block[0] = shape.x;
    launch.block[1] = shape.y;
    launch.block[2] = shape.z;
    launch.grid[0] = static_cast<std::uint32_t>(1 + random.below(2));
    launch.grid[1] = launch.grid[2] = 1;
    list.push_back(std::move(launch));
  }
  return list;
}

std::vector<Schedule> schedules_of(std::uint64_t launch, std::size_t count) {
  std::vector<Schedule> list{{WarpSchedule::reconverge, 0}, {WarpSchedule::apart, 0}};
  while (list.size() < count)
    list.push_back({WarpSchedule::random, scramble(launch << 32 | list.size()) % 1'000'000});
  return list;
}

/// Counts of one rewrite, over all functions of the module.
struct Counts {
  int shuffles = 0, copies = 0;
  std::map<std::string, int> kept;
};

Counts count(const ModuleReport &report) {
  Counts result;
  for (const KernelReport &kernel : report.kernels) {
    result.shuffles += static_cast<int>(kernel.shuffles);
    result.copies += static_cast<int>(kernel.copies);
    for (const KeptRecord &kept : kernel.kept)
      ++result.kept[std::string(to_string(kept.reason))];
  }
  return result;
}

std::string describe(const Counts &counts) {
  std::string text = fmt::format("shuffles={} copies={} kept=", counts.shuffles, counts.copies);
  for (const auto &[reason, n] : counts.kept)
    text += fmt::format("{}:{} ", reason, n);
  return text;
}

/// `>=1` or `=1`.
bool holds(const std::string &test, int value) {
  return test.starts_with(">=") ? value >= std::stoi(test.substr(2))
                                : value == std::stoi(test.substr(1));
}

/// The expectations that were not met; empty if all were.
std::string disappointment(const std::map<std::string, std::string> &expected, const Counts &counts,
                           bool changed) {
  for (const auto &[key, value] : expected) {
    bool fine = true;
    if (key == "shuffles")
      fine = holds(value, counts.shuffles);
    else if (key == "copies")
      fine = holds(value, counts.copies);
    else if (key == "reuses")
      fine = holds(value, counts.shuffles + counts.copies);
    else if (key == "kept")
      fine = counts.kept.contains(value.substr(1));
    else if (key == "changed")
      fine = holds(value, changed);
    else
      throw std::runtime_error("unknown expectation: " + key);
    if (!fine)
      return fmt::format("expected {}{}, got {}", key, value, describe(counts));
  }
  return {};
}

/// One module of a trap, the hazard's or the twin's.
class Side {
public:
  Side(const Hazard &hazard, bool twin, std::size_t runs, TrapReport &report)
      : hazard_(hazard), twin_(twin), runs_(runs), report_(report),
        text_(twin ? hazard.twin : hazard.text),
        expected_(twin ? hazard.twin_expected : hazard.expected) {}

  /// What is wrong with it; empty: nothing.
  std::string fault();

private:
  std::string fault_of_runs(const RewriteResult &rewritten);
  std::string naive_text() const;
  /// How the run differs from what the reference left; empty if it does not.
  std::string difference(const Subject &subject, Run &reference, const HazardLaunch &launch,
                         const Schedule &schedule, bool may_read_more);

  const Hazard &hazard_;
  const bool twin_;
  const std::size_t runs_;
  TrapReport &report_;
  const std::string &text_;
  const std::map<std::string, std::string> &expected_;
};

std::string Side::difference(const Subject &subject, Run &reference, const HazardLaunch &launch,
                             const Schedule &schedule, bool may_read_more) {
  WarpOptions options;
  options.check_races = may_read_more; // that is the original
  options.allowed = may_read_more ? nullptr : &reference.memory;
  options.step_limit = 20 * reference.outcome.steps + 100'000;
  Run run = subject.run(launch, schedule, options);
  report_.count("runs");
  if (run.outcome.fault)
    return format(*run.outcome.fault);
  if (run.outcome.race)
    return format(*run.outcome.race);
  const MemoryDifference found = compare(reference.memory, run.memory);
  if (!found.differs)
    return {};
  const auto *allocation = reference.memory.find(found.address, 1);
  return fmt::format("{:#x} and {:#x} in {} + {}", found.first, found.second,
                     allocation ? allocation->name : "?",
                     allocation ? found.address - allocation->base : 0);
}

std::string Side::naive_text() const {
  NaiveRewrite how = hazard_.naive;
  if (twin_)
    how = {.delta = how.delta, .flip = how.flip, .hoist = how.hoist};
  return rewrite_naively(text_, how);
}

std::string Side::fault() {
  RewriteOptions options;
  options.shuffle = ShuffleMode::always;
  const auto rewritten = rewrite_module(text_, hazard_.name, options);
  if (!rewritten)
    return format(rewritten.error());
  const Counts counts = count(rewritten->report);
  report_.count("shuffles", static_cast<unsigned long>(counts.shuffles));
  report_.count("copies", static_cast<unsigned long>(counts.copies));
  report_.note(hazard_.name, twin_ ? "twin" : "hazard", describe(counts));
  const std::string missing = disappointment(expected_, counts, rewritten->changed);
  return missing.empty() ? fault_of_runs(*rewritten) : missing;
}

std::string Side::fault_of_runs(const RewriteResult &rewritten) {
  const Subject original(text_);
  std::optional<Subject> changed, naive;
  if (rewritten.changed)
    changed.emplace(rewritten.text);
  if (hazard_.has_naive)
    naive.emplace(naive_text());
  std::string caught;
  std::uint64_t number = 0;
  const auto launches = launches_of(hazard_, twin_, runs_ / schedules_a_launch);
  const std::size_t schedules = std::max(schedules_a_launch, runs_ / launches.size());
  for (const HazardLaunch &launch : launches) {
    WarpOptions first;
    first.check_races = first.note_touched = true;
    Run reference = original.run(launch, {}, first);
    const auto &fault = reference.outcome.fault ? reference.outcome.fault : reference.outcome.race;
    if (fault)
      return "the original: " + format(*fault) + "\n  " + describe(launch, {});
    for (const Schedule &schedule : schedules_of(number++, schedules)) {
      if (std::string what = difference(original, reference, launch, schedule, true); !what.empty())
        return "the original against itself: " + what + "\n  " + describe(launch, schedule);
      if (changed)
        if (std::string what = difference(*changed, reference, launch, schedule, false);
            !what.empty())
          return "WRONG REWRITE: " + what + "\n  " + describe(launch, schedule) + "\n" +
                 rewritten.text;
      // Once found wrong is enough.
      if (naive && caught.empty())
        caught = difference(*naive, reference, launch, schedule, false);
    }
  }
  if (naive && twin_ && !caught.empty())
    return "even the twin is wrong when rewritten naively: " + caught + "\n" + naive_text();
  if (naive && !twin_ && caught.empty())
    return "no trap: its naive rewrite is right\n" + naive_text();
  report_.count("naive rewrites found wrong", !caught.empty());
  return {};
}

/// Modules and launches for a real device: device/run.
void write(const Hazard &hazard, const fs::path &folder, std::ofstream &list) {
  const auto put = [&](const std::string &kind, const std::string &text) {
    std::ofstream(folder / (hazard.name + "." + kind + ".ptx")) << text;
  };
  RewriteOptions options;
  options.shuffle = ShuffleMode::always;
  const auto pair = [&](const std::string &kind, const std::string &text) {
    put(kind, text);
    put(kind + ".rewritten", rewrite_module(text, hazard.name, options).value().text);
  };
  pair("hazard", hazard.text);
  if (!hazard.twin.empty())
    pair("twin", hazard.twin);
  if (hazard.has_naive)
    put("hazard.naive", rewrite_naively(hazard.text, hazard.naive));
  const auto put_launch = [&](const std::string &kind, const HazardLaunch &launch) {
    list << fmt::format("{} {} {} {} {} {} {}", hazard.name + kind, launch.grid[0], launch.grid[1],
                        launch.grid[2], launch.block[0], launch.block[1], launch.block[2]);
    for (const Argument &argument : launch.arguments) {
      using Kind = Argument::Kind;
      std::size_t of = 0;
      for (std::size_t i = 0; i < launch.arguments.size(); ++i)
        if (launch.arguments[i].name == argument.of)
          of = i;
      switch (argument.kind) {
      case Kind::number:
        list << fmt::format(" number {}", argument.value);
        break;
      case Kind::alias:
        list << fmt::format(" alias {} {}", of, static_cast<std::int64_t>(argument.value));
        break;
      default:
        list << fmt::format(" {} {} {}",
                            argument.kind == Kind::far     ? "far"
                            : argument.kind == Kind::exact ? "exact"
                                                           : "buffer",
                            argument.fill_name, argument.bytes);
      }
    }
    list << "\n";
  };
  for (const HazardLaunch &launch : hazard.launches)
    put_launch(".hazard", launch);
  if (!hazard.twin.empty())
    for (const HazardLaunch &launch :
         hazard.twin_launches.empty() ? hazard.launches : hazard.twin_launches)
      put_launch(".twin", launch);
}

} // namespace

void check_shuffles(const Trap &trap, const TrapOptions &options, TrapReport &report) {
  const Hazard hazard = hazard_of(trap);
  const std::size_t runs = options.runs != 0 ? options.runs : usual_runs;
  report.say(trap.name, "hazard", Side(hazard, false, runs, report).fault());
  if (!hazard.twin.empty())
    report.say(trap.name, "twin", Side(hazard, true, runs, report).fault());
}

void check_rules(const std::vector<Trap> &traps, TrapReport &report) {
  std::map<std::string, unsigned> hazards;
  for (const Trap &trap : traps)
    ++hazards[hazard_of(trap).rule];
  for (int rule = 1; rule <= 14; ++rule)
    if (hazards[std::to_string(rule)] < 4)
      report.say(fmt::format("rule {}", rule), "", "fewer than four hazards");
}

void write_shuffles(const std::vector<Trap> &traps, const std::string &folder) {
  fs::create_directories(folder);
  std::ofstream list(fs::path(folder) / "launches.txt");
  for (const Trap &trap : traps)
    write(hazard_of(trap), folder, list);
}

} // namespace ptxasw::test
