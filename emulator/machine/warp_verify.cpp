// Launches that tell two kernels apart: drawn ones, boundaries of what differs, and such as the
// solver finds for a test that went one way only. Every answer is an execution of both; `differ`
// comes with a launch that shows it, and agreement says on how many.

#include "emulator/machine/warp_verify.h"

#include "emulator/machine/changes.h"
#include "emulator/symbolic/solver.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>

namespace ptxasw {
namespace {

/// Launches that are searched for one thing that changed, and for one boundary; fewer if the search
/// as a whole is to be short.
constexpr unsigned tries_budget = 60, boundary_tries = 15;
/// Launches in which an index should wrap around.
constexpr unsigned wrapping_launches = 3;
/// Searches for one launch, from different places.
constexpr unsigned searches = 6;
/// A launch that was searched for may take this part of the steps that any launch may.
constexpr std::uint64_t searched_share = 5;
/// Effort for one question to the solver, in its units.
constexpr unsigned solver_resource_limit = 3'000'000;
/// After this many outcomes of tests in vain the solver is not asked anymore: the others are much
/// like them.
constexpr unsigned unanswered_budget = 8;
/// Questions to the solver for one launch.
constexpr unsigned questions = 8;
/// Bytes for the emulation of one run; three of them are held at once.
constexpr std::uint64_t memory_limit = std::uint64_t{512} << 20;
/// Other schedules of the original before a difference counts.
constexpr unsigned doubts = 6;

/// A finished run with the memory it left.
struct FinishedRun {
  GlobalMemory memory;
  ExactMemory reals;
  WarpOutcome outcome;
};

/// Something that changed, and that launches should do.
struct Target {
  bool in_rewritten = true;
  std::uint32_t function = 0; ///< index in its program
  std::uint32_t instruction = 0;
  std::optional<bool> outcome; ///< of a test that was added; nothing: to be executed at all
  bool reached = false;
  bool impossible = false; ///< no launch at all does it
  unsigned tries = 0;
  bool is_open() const { return !reached && !impossible; }
};

/// A place at which little matters much, and that launches should come to.
struct Boundary {
  KernelModel *model = nullptr;
  const KernelModel::Wish *wish = nullptr;
  unsigned wanted = 1; ///< launches
  unsigned tries = 0;
};

/// Functions that may be called from one, directly or not; without that one.
std::vector<bool> called_from(const WarpProgram &program, std::uint32_t caller) {
  std::vector<bool> called(program.function_count(), false);
  std::vector<std::uint32_t> open{caller};
  while (!open.empty()) {
    const WarpFunction &function = program.function(open.back());
    open.pop_back();
    for (const WarpInstruction &instruction : function.code)
      for (const CallTarget &target : instruction.callees)
        if (target.function != caller && !called[target.function]) {
          called[target.function] = true;
          open.push_back(target.function);
        }
  }
  return called;
}

class Verifier {
public:
  Verifier(const WarpProgram &original, const WarpProgram &rewritten, std::uint32_t first,
           std::uint32_t second, const VerifyOptions &options)
      : original_(original), rewritten_(rewritten), first_(first), second_(second),
        options_(options), kernel_(*original.function(first).function),
        other_(*rewritten.function(second).function),
        slots_(parameter_slots(original.module(), kernel_)),
        model_(original.module(), kernel_, slots_),
        other_model_(rewritten.module(), other_, slots_),
        executed_(original.function(first).code.size()), random_(options.seed ^ 0x5eed) {}

  KernelVerdict run();

private:
  struct Difference {
    std::string what;
    bool unsupported = false; ///< the rewritten kernel cannot be run: not comparable
    std::uint64_t race = 0;   ///< it races at this address; 0: that is not it
  };

  void suit_block(LaunchCandidate &candidate, bool searched_there = false) const;
  void suit_stand_in(LaunchCandidate &candidate, bool searched_there);
  void stand_in(const Extents &grid, WarpLaunch &launch) const;
  void complete_groups(WarpLaunch &launch) const;
  void suit_arguments(LaunchCandidate &candidate) const;
  bool meets_needs(const DrawnLaunch &drawn) const;
  bool fits_stand_in() const;
  FinishedRun execute(const WarpProgram &program, std::uint32_t kernel, const DrawnLaunch &drawn,
                      const SeededSchedule &schedule, WarpOptions how) const;
  bool usable(const DrawnLaunch &drawn, FinishedRun &reference, std::string &why);
  std::optional<Difference> differs(const DrawnLaunch &drawn, FinishedRun &reference,
                                    const SeededSchedule &schedule, bool check_races);
  bool original_wavers(const DrawnLaunch &drawn, FinishedRun &reference,
                       const SeededSchedule &schedule, const Difference &difference) const;
  MemoryDifference difference(const DrawnLaunch &drawn, FinishedRun &first, FinishedRun &second,
                              WorstDifference *worst = nullptr) const;
  std::vector<SeededSchedule> schedules();
  bool try_launch(const DrawnLaunch &drawn);
  void minimize(DrawnLaunch drawn, SeededSchedule schedule, std::string what);
  void find_targets();
  void discover_pointers();
  DrawHints hints();
  DrawnLaunch draw(unsigned attempt);
  DrawnLaunch finish(LaunchCandidate candidate);
  Target *open_target();
  Boundary *open_boundary();
  unsigned most_tries(unsigned usual) const { return std::min(usual, options_.search / 8 + 1); }
  std::optional<KernelModel::Wish> wish_of(const Target &target);
  bool is_in_kernel(const Target &target) const {
    return target.function == (target.in_rewritten ? second_ : first_);
  }
  void find_targets_in(std::uint32_t before, std::uint32_t after);
  KernelModel &model_of(const Target &target) {
    return target.in_rewritten ? other_model_ : model_;
  }
  void note_profile(const std::vector<std::vector<InstructionProfile>> &profile, bool rewritten);
  void ask_solver(Target &target);
  KernelVerdict finish();

  const WarpProgram &original_, &rewritten_;
  const std::uint32_t first_, second_;
  const VerifyOptions &options_;
  const Function &kernel_, &other_;
  const bool dynamic_shared_ = original_.has_dynamic_shared() || rewritten_.has_dynamic_shared();
  std::vector<ParameterSlot> slots_;
  KernelModel model_, other_model_;
  std::vector<Target> targets_;
  std::size_t next_target_ = 0;
  std::vector<bool> executed_;
  WarpRandom random_;
  unsigned races_ = 0, limits_ = 0;
  std::vector<Boundary> boundaries_;
  std::size_t next_boundary_ = 0;
  Boundary *boundary_ = nullptr; ///< that the current launch was searched for
  bool at_boundary_ = false;     ///< and found
  KernelVerdict verdict_;
};

/// The coordinates of a block by its number, and back.
Extents coordinates(std::uint64_t number, const Extents &grid) {
  return {static_cast<std::uint32_t>(number % grid.x),
          static_cast<std::uint32_t>(number / grid.x % grid.y),
          static_cast<std::uint32_t>(number / grid.x / grid.y)};
}
std::uint64_t number_of(const Extents &at, const Extents &grid) {
  return (std::uint64_t{at.z} * grid.y + at.y) * grid.x + at.x;
}

Extents divided(const Extents &by, Extents extents, bool up) {
  for (int axis = 0; axis < 3; ++axis)
    extents[axis] = extents[axis] / by[axis] + (up && extents[axis] % by[axis] != 0);
  return extents;
}

// Of a part of a grid, the blocks that one block of the stand-in does, all of them or none.
void Verifier::complete_groups(WarpLaunch &launch) const {
  const Extents grid = launch.grid;
  Extents by = options_.stand_in->divisor;
  if (options_.stand_in->whole_x)
    by.x = grid.x;
  std::vector<std::uint64_t> all;
  for (const std::uint64_t block : launch.blocks) {
    const Extents group = divided(by, coordinates(block, grid), false);
    for (std::uint32_t z = group.z * by.z; z < std::min(grid.z, (group.z + 1) * by.z); ++z)
      for (std::uint32_t y = group.y * by.y; y < std::min(grid.y, (group.y + 1) * by.y); ++y)
        for (std::uint32_t x = group.x * by.x; x < std::min(grid.x, (group.x + 1) * by.x); ++x)
          all.push_back(number_of({x, y, z}, grid));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  launch.blocks = std::move(all);
}

// The launch of the stand-in for a launch of the kernel.
void Verifier::stand_in(const Extents &grid, WarpLaunch &launch) const {
  const StandIn &how = *options_.stand_in;
  launch.grid = divided(how.divisor, grid, true);
  launch.block = divided(how.block_divisor, launch.block, false);
  for (std::uint64_t &block : launch.blocks)
    block = number_of(divided(how.divisor, coordinates(block, grid), false), launch.grid);
  std::sort(launch.blocks.begin(), launch.blocks.end());
  launch.blocks.erase(std::unique(launch.blocks.begin(), launch.blocks.end()), launch.blocks.end());
  launch.parameters.resize(kernel_parameter_bytes(other_));
  for (std::size_t i = 0; i < how.appended_grids.size(); ++i) {
    const std::uint32_t extent = grid[how.appended_grids[i]];
    std::memcpy(launch.parameters.data() +
                    kernel_parameter_offset(other_, kernel_.parameters.size() + i),
                &extent, sizeof extent);
  }
}

// Blocks that the stand-in may be launched for. What was searched for in the stand-in speaks of its
// threads, each of which does several of the kernel's.
void Verifier::suit_block(LaunchCandidate &candidate, bool searched_there) const {
  if (!options_.stand_in)
    return;
  const StandIn &how = *options_.stand_in;
  if (how.thin_axis) {
    candidate.block[*how.thin_axis] = 1;
    candidate.thread[*how.thin_axis] = 0;
  }
  constexpr std::uint64_t most = 1024;
  constexpr std::uint32_t whole = 16; // blocks along x that are run at all
  if (how.whole_x && candidate.grid.x > whole) {
    candidate.grid.x = 1 + candidate.grid.x % whole;
    candidate.block_index.x = std::min(candidate.block_index.x, candidate.grid.x - 1);
  }
  if (how.block_divisor.count() == 1)
    return;
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint32_t by = how.block_divisor[axis];
    std::uint32_t &extent = candidate.block[axis];
    if (searched_there)
      candidate.thread[axis] *= by;
    extent = std::max(1u, searched_there ? extent : extent / by) * by;
  }
  for (int axis = 0; candidate.block.count() > most; axis = (axis + 1) % 3) {
    const std::uint32_t by = how.block_divisor[axis];
    candidate.block[axis] = std::max(1u, candidate.block[axis] / by / 2) * by;
  }
  for (int axis = 0; axis < 3; ++axis)
    candidate.thread[axis] = std::min(candidate.thread[axis], candidate.block[axis] - 1);
}

// Arguments that the stand-in may be launched with.
void Verifier::suit_arguments(LaunchCandidate &candidate) const {
  if (!options_.stand_in)
    return;
  for (const StandIn::Multiple &need : options_.stand_in->multiples)
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].width == 8 * need.bytes &&
          slots_[i].offset == kernel_parameter_offset(kernel_, need.parameter) + need.offset)
        candidate.values[i] -= candidate.values[i] % need.divisor;
}

bool Verifier::meets_needs(const DrawnLaunch &drawn) const {
  if (!options_.stand_in)
    return true;
  const StandIn &how = *options_.stand_in;
  if (how.thin_axis && drawn.launch.block[*how.thin_axis] != 1)
    return false;
  for (int axis = 0; axis < 3; ++axis)
    if (drawn.launch.block[axis] % how.block_divisor[axis] != 0)
      return false;
  if (how.multiples.empty())
    return true;
  GlobalMemory memory;
  WarpLaunch launch;
  place_buffers(drawn, memory, launch);
  return std::all_of(
      how.multiples.begin(), how.multiples.end(), [&](const StandIn::Multiple &need) {
        std::uint64_t value = 0; // little-endian
        std::memcpy(&value,
                    launch.parameters.data() + kernel_parameter_offset(kernel_, need.parameter) +
                        need.offset,
                    need.bytes);
        return value % need.divisor == 0;
      });
}

// Grids of a few groups of blocks, whole or not. What was searched for in the stand-in speaks of
// its blocks, which are groups of the kernel's.
void Verifier::suit_stand_in(LaunchCandidate &candidate, bool searched_there) {
  if (!options_.stand_in)
    return;
  suit_block(candidate, searched_there);
  constexpr std::uint32_t large = 1024;
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint32_t by = options_.stand_in->divisor[axis];
    std::uint32_t &grid = candidate.grid[axis];
    if (by == 1 || grid > large)
      continue;
    const auto part = static_cast<std::uint32_t>(random_.below(by));
    if (searched_there) {
      grid = grid * by - (random_.one_in(2) ? part : 0);
      candidate.block_index[axis] = std::min(candidate.block_index[axis] * by, grid - 1);
    } else if (!random_.one_in(4)) {
      grid = std::max(grid, by * (1 + static_cast<std::uint32_t>(random_.below(2))) + part);
    }
  }
}

bool Verifier::fits_stand_in() const {
  const std::size_t own = kernel_.parameters.size(),
                    more = options_.stand_in->appended_grids.size();
  for (std::size_t i = own; i < other_.parameters.size(); ++i)
    if (other_.parameters[i].size() != sizeof(std::uint32_t))
      return false;
  return other_.parameters.size() == own + more;
}

FinishedRun Verifier::execute(const WarpProgram &program, std::uint32_t kernel,
                              const DrawnLaunch &drawn, const SeededSchedule &schedule,
                              WarpOptions how) const {
  FinishedRun run;
  WarpLaunch launch;
  how.schedule = schedule.policy;
  how.seed = schedule.seed;
  how.memory_limit = memory_limit;
  how.volatile_races = options_.volatile_races;
  if (options_.reassociate)
    how.reals = &run.reals;
  if (how.step_limit == ~std::uint64_t{0})
    how.step_limit = options_.step_limit / (drawn.searched ? searched_share : 1);
  if (std::string why = program.place_variables(run.memory, drawn.seed); !why.empty()) {
    run.outcome.fault = WarpFault{FaultKind::unsupported, why, std::string(kernel_.name)};
    return run;
  }
  place_buffers(drawn, run.memory, launch);
  if (options_.stand_in) {
    const Extents grid = launch.grid;
    complete_groups(launch);
    if (&program == &rewritten_ && kernel == second_) // one module may have both
      stand_in(grid, launch);
  }
  run.outcome = run_kernel(program, kernel, launch, run.memory, how);
  return run;
}

// The original on its own: it must end, without a race, and with the same result under another
// schedule.
bool Verifier::usable(const DrawnLaunch &drawn, FinishedRun &reference, std::string &why) {
  WarpOptions how;
  if (!meets_needs(drawn)) {
    why = "block or arguments are not what it needs";
    return false;
  }
  how.check_races = how.only_barriers_order = how.allow_same_value = how.note_touched =
      how.profile = true;
  reference = execute(original_, first_, drawn, {}, how);
  verdict_.steps += reference.outcome.steps;
  const auto faulted = [&](const WarpOutcome &outcome) {
    const auto &fault = outcome.fault ? outcome.fault : outcome.race;
    if (fault)
      why = fault->kind == FaultKind::unsupported
                ? fmt::format("line {}: {}", fault->line, fault->message)
                : fmt::format("{} in the original, line {}", to_string(fault->kind), fault->line);
    else if (outcome.machine_line != 0)
      why = fmt::format("line {}: what it reads is the machine's choice", outcome.machine_line);
    return !why.empty();
  };
  if (faulted(reference.outcome))
    return false;
  // Barriers of some lanes may order accesses under one schedule and not under another.
  how.note_touched = how.profile = false;
  for (const SeededSchedule &schedule :
       {SeededSchedule{WarpSchedule::random, drawn.seed}, SeededSchedule{WarpSchedule::apart, 0}}) {
    FinishedRun again = execute(original_, first_, drawn, schedule, how);
    if (faulted(again.outcome))
      return false;
    if (difference(drawn, reference, again).differs) {
      why = "the original depends on the schedule";
      return false;
    }
  }
  return true;
}

// True if the original's result differs from before under the current schedule, or under others
// that have not been tried: then nothing can be said.
bool Verifier::original_wavers(const DrawnLaunch &drawn, FinishedRun &reference,
                               const SeededSchedule &schedule, const Difference &difference) const {
  WarpOptions how;
  // The original may have the same race, hidden from the detector by other readers.
  how.check_races = how.only_barriers_order = how.allow_same_value = difference.race != 0;
  how.race_focus = difference.race;
  for (unsigned doubt = 0; doubt <= doubts; ++doubt) {
    const SeededSchedule with =
        doubt == 0 ? schedule
                   : SeededSchedule{WarpSchedule::random, scramble(drawn.seed + doubt) % 1'000'000};
    FinishedRun again = execute(original_, first_, drawn, with, how);
    if (again.outcome.fault || again.outcome.race ||
        this->difference(drawn, reference, again).differs)
      return true;
  }
  return false;
}

std::optional<Verifier::Difference> Verifier::differs(const DrawnLaunch &drawn,
                                                      FinishedRun &reference,
                                                      const SeededSchedule &schedule,
                                                      bool check_races) {
  WarpOptions how;
  how.allowed = &reference.memory;
  how.step_limit = 2 * reference.outcome.steps * 10 + 1'000'000;
  how.check_races = how.only_barriers_order = how.allow_same_value = check_races;
  how.profile = true;
  FinishedRun run = execute(rewritten_, second_, drawn, schedule, how);
  if (run.outcome.fault && (run.outcome.fault->kind == FaultKind::unsupported ||
                            run.outcome.fault->kind == FaultKind::memory_limit))
    return Difference{fmt::format("line {} of the second: {}", run.outcome.fault->line,
                                  run.outcome.fault->message),
                      true};
  if (run.outcome.machine_line != 0)
    return Difference{fmt::format("line {} of the second: what it reads is the machine's choice",
                                  run.outcome.machine_line),
                      true};
  const auto &fault = run.outcome.fault ? run.outcome.fault : run.outcome.race;
  if (fault)
    return Difference{"the rewritten kernel fails: " + format(*fault) + "\n", false,
                      fault->kind == FaultKind::race ? fault->address : 0};
  WorstDifference worst;
  const MemoryDifference difference = this->difference(drawn, reference, run, &worst);
  if (!difference.differs) {
    if (worst.found && worst.ulp >= verdict_.worst.ulp)
      verdict_.worst = worst;
    note_profile(run.outcome.profile, true);
    return std::nullopt;
  }
  how.watch = difference.address;
  const FinishedRun watched = execute(rewritten_, second_, drawn, schedule, how);
  const auto *allocation = reference.memory.find(difference.address, 1);
  Difference result{
      fmt::format("{} + {:#x}: {:#010x} in the original, {:#010x} rewritten\n",
                  allocation ? allocation->name : "?",
                  allocation ? difference.address - allocation->base - allocation->size / 2 : 0,
                  difference.first, difference.second)};
  if (worst.found)
    result.what = to_string(worst) + "\n";
  if (watched.outcome.watched)
    result.what += "stored at " + format_place(*watched.outcome.watched) + "\n";
  return result;
}

// The first difference that counts; with a tolerance the worst one.
MemoryDifference Verifier::difference(const DrawnLaunch &drawn, FinishedRun &first,
                                      FinishedRun &second, WorstDifference *worst) const {
  if (!options_.tolerance.any() && !options_.reassociate)
    return compare(first.memory, second.memory);
  std::vector<ComparedBuffer> buffers;
  const auto &all = first.memory.allocations();
  const std::size_t variables = all.size() - drawn.buffers.size();
  std::vector<ScalarType> types(variables, ScalarType::b32);
  for (const ParameterSlot &slot : slots_)
    if (slot.is_pointer)
      types.push_back(slot.element);
  for (std::size_t i = 0; i < all.size(); ++i)
    buffers.push_back({all[i].name, i < types.size() ? types[i] : ScalarType::b32, all[i].base,
                       all[i].base, all[i].size});
  const auto compared = [&](FinishedRun &run) {
    return ComparedMemory{run.memory, options_.reassociate ? &run.reals : nullptr};
  };
  const WorstDifference found =
      compare_memories(buffers, compared(first), compared(second), options_.tolerance);
  if (worst)
    *worst = found;
  return {found.beyond, found.address, static_cast<std::uint32_t>(found.first),
          static_cast<std::uint32_t>(found.second)};
}

std::vector<SeededSchedule> Verifier::schedules() {
  std::vector<SeededSchedule> list{{WarpSchedule::reconverge, 0}, {WarpSchedule::apart, 0}};
  for (unsigned i = 0; i < options_.schedules; ++i)
    list.push_back({WarpSchedule::random, random_.next() % 1'000'000});
  return list;
}

// Runs both on one launch. False: they differ, and the verdict says so.
bool Verifier::try_launch(const DrawnLaunch &drawn) {
  const std::vector<SeededSchedule> with = schedules();
  FinishedRun reference;
  std::string why;

  if (!usable(drawn, reference, why)) {
    ++verdict_.unusable[why];
    if (boundary_)
      return true;
    races_ += reference.outcome.race.has_value();
    limits_ += reference.outcome.fault.has_value();
    return true;
  }
  const std::vector<Target> before = targets_;
  for (std::size_t i = 0; i < with.size(); ++i) {
    // Races are looked for under one schedule of each kind.
    const auto difference = differs(drawn, reference, with[i], i == 0 || i == 2);
    if (!difference)
      continue;
    if (difference->unsupported) {
      ++verdict_.unusable[difference->what];
      targets_ = before;
      return true;
    }
    if (original_wavers(drawn, reference, with[i], *difference)) {
      ++verdict_.unusable["the original depends on the schedule"];
      targets_ = before;
      return true;
    }
    verdict_.kind = KernelVerdict::Kind::differ;
    minimize(drawn, with[i], difference->what);
    return false;
  }
  ++verdict_.agreed;
  if (boundary_ && at_boundary_ && boundary_->wanted > 0)
    --boundary_->wanted;
  note_profile(reference.outcome.profile, false);
  for (std::size_t i = 0; i < executed_.size(); ++i)
    if (reference.outcome.profile[first_][i].lanes > 0)
      executed_[i] = true;
  return true;
}

// Fewer blocks, and the simplest schedule, as long as the difference stays.
void Verifier::minimize(DrawnLaunch drawn, SeededSchedule schedule, std::string what) {
  const auto still = [&](const DrawnLaunch &candidate, const SeededSchedule &with) {
    FinishedRun reference;
    std::string why;
    if (!usable(candidate, reference, why))
      return false;
    const auto difference = differs(candidate, reference, with, with.policy != WarpSchedule::apart);
    if (!difference || difference->unsupported ||
        original_wavers(candidate, reference, with, *difference))
      return false;
    what = difference->what;
    return true;
  };
  if (still(drawn, {}))
    schedule = {};
  while (drawn.launch.blocks.size() > 1) {
    DrawnLaunch smaller = drawn;
    smaller.launch.blocks.pop_back();
    if (!still(smaller, schedule))
      break;
    drawn = std::move(smaller);
  }
  for (int i = 2; i >= 0 && drawn.launch.blocks.empty(); --i)
    while (drawn.launch.grid[i] > 1) {
      DrawnLaunch smaller = drawn;
      smaller.launch.grid[i] -= std::max(1u, smaller.launch.grid[i] / 4);
      if (!still(smaller, schedule))
        break;
      drawn = std::move(smaller);
    }
  if (!kernel_.directive("reqntid"))
    for (int i = 2; i >= 0; --i)
      for (const std::uint32_t size : {1u, 8u, 16u, 32u, 64u})
        if (size < drawn.launch.block[i]) {
          DrawnLaunch smaller = drawn;
          smaller.launch.block[i] = size;
          if (still(smaller, schedule)) {
            drawn = std::move(smaller);
            break;
          }
        }
  verdict_.launch = to_description(drawn, kernel_);
  verdict_.launch->schedule = schedule.text();
  verdict_.counter_example =
      ptxasw::describe(drawn) +
      fmt::format("schedule {}, contents {:#x}\n", schedule.text(), drawn.seed) + what;
}

// What changed must run; an added test must have both outcomes.
void Verifier::find_targets() {
  find_targets_in(first_, second_);
  // Functions that the kernels may call count, too.
  const std::vector<bool> called = called_from(rewritten_, second_);
  for (std::uint32_t after = 0; after < rewritten_.function_count(); ++after)
    for (std::uint32_t before = 0; called[after] && before < original_.function_count(); ++before)
      if (original_.function(before).function->name == rewritten_.function(after).function->name)
        find_targets_in(before, after);
}

void Verifier::find_targets_in(std::uint32_t before, std::uint32_t after) {
  const Changes changes =
      compare_instructions(original_.module(), *original_.function(before).function,
                           rewritten_.module(), *rewritten_.function(after).function);
  const auto add = [&](bool in_rewritten, const std::vector<bool> &changed) {
    const std::uint32_t index = in_rewritten ? after : before;
    const WarpFunction &function =
        in_rewritten ? rewritten_.function(index) : original_.function(index);
    for (std::uint32_t i = 0; i < changed.size(); ++i) {
      if (!changed[i])
        continue;
      ++verdict_.changed;
      if (!function.cfg->reachable(function.cfg->block_of(i)))
        continue;
      targets_.push_back({in_rewritten, index, i, std::nullopt});
      const auto &tests = other_model_.tests();
      if (in_rewritten && index == second_ && !options_.stand_in &&
          std::binary_search(tests.begin(), tests.end(), i))
        for (const bool outcome : {true, false})
          targets_.push_back({true, index, i, outcome});
    }
  };
  add(true, changes.added);
  add(false, changes.gone);
}

void Verifier::note_profile(const std::vector<std::vector<InstructionProfile>> &profile,
                            bool rewritten) {
  for (Target &target : targets_) {
    if (target.in_rewritten != rewritten)
      continue;
    const InstructionProfile &p = profile[target.function][target.instruction];
    target.reached |=
        target.outcome ? (*target.outcome ? p.holds > 0 : p.holds < p.lanes) : p.lanes > 0;
  }
}

// A pointer may hide from the symbolic emulation, in a function that is called, say. Then an access
// near a value that nothing else is near shows it.
void Verifier::discover_pointers() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    ParameterSlot &slot = slots_[i];
    if (slot.is_pointer || slot.width != 64 || is_float(slot.type))
      continue;
    constexpr std::uint64_t far = std::uint64_t{1} << 62, reach = std::uint64_t{1} << 40;
    for (int attempt = 0; attempt < 2 && !slot.is_pointer; ++attempt) {
      LaunchCandidate candidate = draw_candidate(kernel_, slots_, {.one_block = true}, random_);
      candidate.values[i] = far;
      DrawnLaunch drawn = finish(candidate);
      WarpOptions how;
      how.step_limit = 200'000;
      const FinishedRun run = execute(original_, first_, drawn, {}, how);
      if (!run.outcome.fault || run.outcome.fault->kind != FaultKind::out_of_bounds ||
          run.outcome.fault->address - (far - reach) > 2 * reach)
        continue;
      slot.is_pointer = true;
      for (std::uint32_t f = 0; f < original_.function_count(); ++f)
        for (const WarpInstruction &instruction : original_.function(f).code)
          if (instruction.line == run.outcome.fault->line && instruction.opcode)
            slot.element = instruction.opcode->type;
    }
  }
}

// What made launches unusable is drawn more rarely: a kernel that does not ask for its block races
// with itself in a grid.
DrawHints Verifier::hints() {
  DrawHints hints;
  hints.one_block = random_.below(races_ + verdict_.agreed + 1) < races_;
  hints.flat = hints.one_block && random_.below(races_ + 2 * verdict_.agreed + 1) < races_;
  hints.apart = hints.flat && random_.one_in(2);
  hints.apart |= options_.no_alias;
  hints.no_wrap = options_.no_wrap;
  hints.small = random_.below(limits_ + verdict_.agreed + 1) < limits_;
  return hints;
}

Target *Verifier::open_target() {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    Target &target = targets_[next_target_++ % targets_.size()];
    if (target.is_open() && target.tries < most_tries(tries_budget))
      return &target;
  }
  return nullptr;
}

Boundary *Verifier::open_boundary() {
  for (std::size_t i = 0; i < boundaries_.size(); ++i) {
    Boundary &boundary = boundaries_[next_boundary_++ % boundaries_.size()];
    if (boundary.wanted > 0 && boundary.tries < most_tries(boundary_tries))
      return &boundary;
  }
  return nullptr;
}

std::optional<KernelModel::Wish> Verifier::wish_of(const Target &target) {
  if (!is_in_kernel(target)) // what arguments a function gets is not known
    return std::nullopt;
  KernelModel &model = model_of(target);
  return target.outcome ? model.to_decide(target.instruction, *target.outcome)
                        : model.to_run(target.instruction);
}

// A launch of the candidate; if all blocks run, of a grid that is not too large for that.
DrawnLaunch Verifier::finish(LaunchCandidate candidate) {
  constexpr std::uint32_t most[] = {12, 6,
                                    3}; // more than the blocks that one does, along each axis
  constexpr std::uint64_t most_blocks = 32;
  const bool row = options_.whole_grid && random_.one_in(2); // blocks that only x tells apart race
  for (int axis = 0; options_.whole_grid && axis < 3; ++axis) {
    std::uint32_t &extent = candidate.grid[axis];
    extent = row && axis > 0 ? 1 : 1 + (extent - 1) % most[axis];
    for (; candidate.grid.count() > most_blocks && extent > 1; extent /= 2) {
    }
    candidate.block_index[axis] = std::min(candidate.block_index[axis], extent - 1);
  }
  DrawnLaunch drawn =
      finish_launch(kernel_, slots_, candidate, dynamic_shared_, options_.reassociate, random_);
  if (options_.whole_grid)
    drawn.launch.blocks.clear();
  return drawn;
}

// In turns: anything plausible, what has not run yet, what lies at a boundary, and a large block.
DrawnLaunch Verifier::draw(unsigned attempt) {
  DrawHints how = hints();
  how.large = attempt % 4 == 3 && !options_.small;
  boundary_ = nullptr;
  Target *const target = attempt % 2 == 1 ? open_target() : nullptr;
  how.small |=
      (target || attempt % 4 == 2) && random_.one_in(2); // the search makes it large enough
  how.small |= options_.small && !random_.one_in(8);
  how.alone = target && target->tries > 4 && random_.one_in(3);
  LaunchCandidate plain = draw_candidate(kernel_, slots_, how, random_);
  suit_block(plain);
  LaunchCandidate candidate = plain;
  const SearchLimits limits = search_limits(kernel_, how);
  if (Boundary *const boundary = attempt % 4 == 2 ? open_boundary() : nullptr) {
    boundary_ = boundary;
    ++boundary->tries;
    for (unsigned search = 0; search < searches; ++search) {
      at_boundary_ = satisfy(*boundary->model, slots_, *boundary->wish, limits, random_, candidate);
      if (at_boundary_)
        break;
      candidate = draw_candidate(kernel_, slots_, how, random_);
    }
  } else if (target) {
    ++target->tries;
    if (const auto wish = wish_of(*target))
      for (unsigned search = 0; search < searches; ++search) {
        if (satisfy(model_of(*target), slots_, *wish, limits, random_, candidate))
          break;
        candidate = draw_candidate(kernel_, slots_, how, random_);
      }
  }
  if ((target || boundary_) && !how.one_block && !how.no_wrap && !(options_.small && how.small))
    widen_grid(slots_, random_, candidate);
  suit_stand_in(candidate, target && target->in_rewritten);
  suit_arguments(candidate);
  suit_arguments(plain);
  const bool possible = launch_shape_error(candidate.grid, candidate.block).empty();
  DrawnLaunch drawn = finish(possible ? candidate : plain);
  drawn.searched = target || boundary_;
  return drawn;
}

// The last resort for what no launch has done: one that Z3 finds, or that there is none.
void Verifier::ask_solver(Target &target) {
  KernelModel &model = model_of(target);
  const auto wish = wish_of(target);
  if (!wish) {
    target.impossible = is_in_kernel(target) && model.complete();
    return;
  }
  ExprPool &pool = model.emulation().pool();
  std::vector<Expr> formulas, symbols;
  const auto number = [&](std::uint64_t value) { return pool.constant(32, value); };
  for (const PathFact &fact : wish->conditions) {
    formulas.push_back(fact.holds ? fact.condition : pool.bit_not(fact.condition));
    for_each_node(fact.condition, [&](Expr node) {
      if (node->kind == ExprKind::symbol && node->width <= 64 &&
          std::find(symbols.begin(), symbols.end(), node) == symbols.end())
        symbols.push_back(node);
    });
  }
  // Whatever a thread is, it lies in its block, and the block in its grid.
  static constexpr Extents largest_block{1024, 1024, 64}, largest_grid{0x7fffffff, 0xffff, 0xffff};
  std::vector<Expr> loose = formulas;
  Extents extents[2]; // block, grid
  for (int axis = 0; axis < 3; ++axis)
    for (const bool grid : {false, true}) {
      const std::string name = fmt::format("{}.{}", grid ? "ctaid" : "tid", "xyz"[axis]);
      const Expr place = model.emulation().special("%" + name);
      const Expr extent = model.emulation().special("%n" + name);
      const std::uint32_t most = grid ? largest_grid[axis] : largest_block[axis];
      loose.push_back(pool.ult(place, extent));
      formulas.push_back(pool.ult(place, extent));
      formulas.push_back(pool.ule(extent, number(most)));
      for (const Expr e : {place, extent})
        if (e->kind == ExprKind::symbol &&
            std::find(symbols.begin(), symbols.end(), e) == symbols.end())
          symbols.push_back(e);
    }
  for (const Expr fact : model.mask_facts(formulas))
    loose.push_back(fact);
  Solver solver(solver_resource_limit);
  std::vector<std::uint64_t> values;
  if (solver.check("no launch does this", loose) == SolverAnswer::unsat) {
    target.impossible = true;
    return;
  }
  const Expr threads =
      pool.mul(pool.mul(model.emulation().special("%ntid.x"), model.emulation().special("%ntid.y")),
               model.emulation().special("%ntid.z"));
  formulas.push_back(pool.ule(threads, number(1024)));
  using Kind = KernelModel::Meaning::Kind;
  for (unsigned question = 0; question < questions && target.is_open(); ++question) {
    // What takes few steps is more likely to run to its end: some of the numbers small.
    std::vector<Expr> asked = formulas;
    for (const Expr symbol : symbols)
      if (model.meaning(symbol).kind == Kind::slot && symbol->width >= 32 && question % 2 == 1 &&
          !slots_[model.meaning(symbol).index].is_pointer && random_.one_in(2))
        asked.push_back(pool.ult(symbol, pool.constant(symbol->width, 8 << random_.below(8))));
    values.clear();
    if (solver.find("a launch that does this", asked, symbols, values) != SolverAnswer::sat)
      continue;
    LaunchCandidate candidate = draw_candidate(kernel_, slots_, {}, random_);
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      const KernelModel::Meaning &what = model.meaning(symbols[i]);
      const int axis = static_cast<int>(what.index);
      const auto small = static_cast<std::uint32_t>(values[i]);
      switch (what.kind) {
      case Kind::slot: {
        if (slots_[what.index].is_pointer)
          break; // which are machine-dependent
        std::uint64_t &slot = candidate.values[what.index];
        const std::uint64_t mask = mask64(symbols[i]->width) << what.shift;
        slot = (slot & ~mask) | (values[i] << what.shift & mask);
        break;
      }
      case Kind::tid:
        candidate.thread[axis] = small;
        break;
      case Kind::ctaid:
        candidate.block_index[axis] = small;
        break;
      case Kind::ntid:
        extents[0][axis] = small;
        break;
      case Kind::nctaid:
        extents[1][axis] = small;
        break;
      default:
        break;
      }
    }
    if (!kernel_.directive("reqntid"))
      candidate.block = extents[0];
    candidate.grid = extents[1];
    const SearchLimits limits = search_limits(kernel_, hints());
    bool keeps = true;
    for (std::size_t i = 0; i < slots_.size(); ++i)
      keeps &= slots_[i].is_pointer || candidate.values[i] <= limits.largest_number;
    for (int axis = 0; axis < 3; ++axis)
      keeps &= !options_.no_wrap || candidate.grid[axis] <= limits.largest_grid[axis];
    if (!keeps)
      continue;
    suit_block(candidate);
    suit_arguments(candidate);
    if (!launch_shape_error(candidate.grid, candidate.block).empty())
      continue;
    DrawnLaunch drawn = finish(candidate);
    drawn.searched = true;
    if (!try_launch(drawn))
      return;
  }
}

KernelVerdict Verifier::run() {
  verdict_.kernel = kernel_.name;
  const auto layout = [&](const Function &f) {
    std::vector<std::pair<std::uint64_t, bool>> sizes;
    for (const Variable &parameter : f.parameters)
      sizes.emplace_back(parameter.size(), parameter.is_array);
    if (options_.stand_in)
      sizes.resize(std::min(sizes.size(), kernel_.parameters.size()));
    return sizes;
  };
  if (layout(kernel_) != layout(other_) || (options_.stand_in && !fits_stand_in())) {
    verdict_.unusable["the kernels have unlike parameters"] = 1;
    return std::move(verdict_);
  }
  if (!original_.has_same_variables(rewritten_)) {
    verdict_.unusable["the modules have unlike variables"] = 1;
    return std::move(verdict_);
  }
  find_targets();
  discover_pointers();
  for (KernelModel *model : {&model_, &other_model_})
    for (const KernelModel::Wish &wish : model->boundaries())
      if (verdict_.changed > 0 && !(wish.near && options_.no_wrap))
        boundaries_.push_back({model, &wish, wish.near ? wrapping_launches : 1});
  const unsigned regular = 4 * options_.runs + 8;
  for (unsigned attempt = 0; attempt < regular + options_.search; ++attempt) {
    if (options_.progress)
      options_.progress(verdict_.kernel, verdict_.agreed);
    const bool enough = verdict_.agreed >= options_.runs || attempt >= regular;
    // Enough of anything: what is left is what has not run, and boundaries.
    if (enough && (verdict_.agreed == 0 || (!open_target() && !open_boundary())))
      break;
    const unsigned kind = !enough                               ? attempt
                          : attempt % 2 == 0 && open_boundary() ? 2
                                                                : 2 * attempt + 1;
    if (!try_launch(draw(kind)))
      return finish();
  }
  boundary_ = nullptr;
  // What has not run at all comes first, and is always asked for.
  unsigned unanswered = 0;
  if (verdict_.agreed > 0 && !options_.small && options_.search > 0 && !options_.stand_in)
    for (const bool outcomes : {false, true})
      for (Target &target : targets_)
        if (target.outcome.has_value() == outcomes && target.is_open() &&
            (!outcomes || unanswered < unanswered_budget)) {
          ask_solver(target);
          if (verdict_.kind == KernelVerdict::Kind::differ)
            return finish();
          unanswered += outcomes && target.is_open();
        }
  return finish();
}

KernelVerdict Verifier::finish() {
  if (verdict_.kind == KernelVerdict::Kind::differ)
    return std::move(verdict_);
  const unsigned least = std::min(options_.runs, std::max(3u, options_.runs / 4));
  for (const Target &target : targets_)
    if (target.is_open()) {
      const WarpProgram &program = target.in_rewritten ? rewritten_ : original_;
      const Function &function = *program.function(target.function).function;
      auto &list = target.outcome        ? verdict_.one_sided
                   : target.in_rewritten ? verdict_.not_exercised
                                         : verdict_.gone_not_exercised;
      list.push_back(function.instructions[target.instruction].line);
    }
  if (verdict_.agreed >= least)
    verdict_.kind = verdict_.not_exercised.empty() && verdict_.one_sided.empty() &&
                            verdict_.gone_not_exercised.empty()
                        ? KernelVerdict::Kind::agree
                        : KernelVerdict::Kind::not_exercised;
  const auto &code = original_.function(first_).code;
  for (std::size_t i = 0; i + 1 < code.size(); ++i)
    if (!executed_[i])
      verdict_.not_executed.push_back(code[i].line);
  return std::move(verdict_);
}

} // namespace

std::vector<KernelVerdict> verify(const Module &original, const Module &rewritten,
                                  const VerifyOptions &options) {
  return verify(WarpProgram(original), WarpProgram(rewritten), options);
}

std::vector<KernelVerdict> verify(const WarpProgram &first, const WarpProgram &second,
                                  const VerifyOptions &options) {
  std::vector<KernelVerdict> verdicts;
  for (std::uint32_t i = 0; i < first.function_count(); ++i) {
    const Function &kernel = *first.function(i).function;
    if (!kernel.is_entry || !kernel.has_body ||
        (!options.kernel.empty() && kernel.name != options.kernel))
      continue;
    const auto other = second.find_kernel(options.stand_in ? options.stand_in->name : kernel.name);
    if (!other) {
      KernelVerdict missing;
      missing.kernel = kernel.name;
      missing.unusable["the second module does not have it"] = 1;
      verdicts.push_back(std::move(missing));
      continue;
    }
    verdicts.push_back(Verifier(first, second, i, *other, options).run());
  }
  return verdicts;
}

} // namespace ptxasw
