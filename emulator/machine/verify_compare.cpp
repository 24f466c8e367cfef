// One launch of both kernels. The original has to be usable first: it must end, without a race, and
// give the same under another schedule; then a difference is a difference of the kernels.

#include "emulator/machine/verifier.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>

namespace ptxasw::emulator::verification {
namespace {

/// A launch that was searched for may take this part of the steps that any launch may.
constexpr std::uint64_t searched_share = 5;
/// Bytes for the emulation of one run; three of them are held at once.
constexpr std::uint64_t memory_limit = std::uint64_t{512} << 20;
/// Instructions of a thread that is beyond the last one, and then some.
constexpr std::uint64_t spare = 16;
/// Other schedules of the original before a difference counts.
constexpr unsigned doubts = 6;
/// Other contents of shared memory: sums of what is there often are infinities, of either sign.
constexpr unsigned other_contents = 6;

/// An address as people name it: in a drawn buffer from its middle, where the kernel's pointer
/// leads (place_buffers()), in everything else from its beginning. No name in PTX has a blank.
std::string place_of(const GlobalMemory &memory, std::uint64_t address) {
  const auto *allocation = memory.find(address, 1);
  if (!allocation)
    return fmt::format("{:#x}", address);
  const bool is_drawn = allocation->name.starts_with("buffer ");
  const std::uint64_t begin = allocation->base + (is_drawn ? allocation->size / 2 : 0);
  return address < begin ? fmt::format("{} - {:#x}", allocation->name, begin - address)
                         : fmt::format("{} + {:#x}", allocation->name, address - begin);
}

} // namespace

FinishedRun Verifier::execute(bool in_rewritten, const DrawnLaunch &drawn,
                              const SeededSchedule &schedule, WarpOptions how) {
  const WarpProgram &program = in_rewritten ? rewritten_ : original_;
  FinishedRun run;
  WarpLaunch launch;
  how.schedule = schedule.policy;
  how.seed = schedule.seed;
  how.memory_limit = memory_limit;
  how.volatile_races = options_.volatile_races;
  how.matrices_order = options_.matrices_order;
  if (options_.reassociate)
    how.reals = &run.reals;
  if (how.step_limit == ~std::uint64_t{0})
    how.step_limit = options_.step_limit / (drawn.searched ? searched_share : 1);
  // Tables that the second has behind the variables of both lie in the memory of either.
  const auto placed = program.place_variables(run.memory, drawn.seed).and_then([&] {
    return rewritten_.place_variables(run.memory, drawn.seed, program.variable_count());
  });
  if (!placed) {
    run.outcome.fault =
        WarpFault{FaultKind::unsupported, placed.error(), std::string(kernel_.name)};
    return run;
  }
  place_buffers(drawn, run.memory, launch);
  if (options_.stand_in) {
    if (in_rewritten)
      cut(launch);
    const Extents grid = launch.grid;
    complete_groups(launch);
    if (in_rewritten)
      stand_in(grid, launch);
  }
  run.outcome = run_kernel(program, in_rewritten ? second_ : first_, launch, run.memory, how);
  verdict_.work += run.outcome.steps;
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
  reference = execute(false, drawn, {}, how);
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
    if (schedule.policy == WarpSchedule::apart && !reference.outcome.parted) {
      verdict_.work += reference.outcome.steps; // it would be the same run
      continue;
    }
    FinishedRun again = execute(false, drawn, schedule, how);
    if (faulted(again.outcome))
      return false;
    if (difference(drawn, reference, again).differs) {
      why = "the original depends on the schedule";
      return false;
    }
  }
  return true;
}

// Why nothing can be said: the original's result differs from before under the current schedule, or
// under others that have not been tried, or with other contents of shared memory that it has not
// written. Empty: it does not.
std::string_view Verifier::original_wavers(const DrawnLaunch &drawn, FinishedRun &reference,
                                           const SeededSchedule &schedule,
                                           const Difference &difference) {
  WarpOptions how;
  how.check_races = how.only_barriers_order = how.allow_same_value = difference.race != 0;
  // Lanes in step may hide a race: one reads a word and stores there what another then finds.
  for (unsigned doubt = 0; doubt <= doubts + 1; ++doubt) {
    how.lanes_alone = doubt == 1;
    const SeededSchedule with =
        doubt == 0 ? schedule
        : doubt == 1
            ? SeededSchedule{WarpSchedule::apart, 0}
            : SeededSchedule{WarpSchedule::random, scramble(drawn.seed + doubt) % 1'000'000};
    FinishedRun again = execute(false, drawn, with, how);
    if (again.outcome.fault || again.outcome.race ||
        this->difference(drawn, reference, again).differs)
      return "the original depends on the schedule";
  }
  how.lanes_alone = false;
  for (unsigned doubt = 1; doubt <= other_contents; ++doubt) {
    how.shared_seed = scramble(doubt);
    FinishedRun other = execute(false, drawn, schedule, how);
    if (other.outcome.fault || this->difference(drawn, reference, other).differs)
      return "the original depends on shared memory that it has not written";
  }
  return "";
}

std::optional<Verifier::Difference> Verifier::differs(const DrawnLaunch &drawn,
                                                      FinishedRun &reference,
                                                      const SeededSchedule &schedule,
                                                      bool check_races) {
  WarpOptions how;
  how.allowed = &reference.memory;
  how.step_limit = 2 * reference.outcome.steps * 10 + 1'000'000;
  if (const std::uint32_t along_x = given_along_x()) { // threads to spare, that leave at once
    const WarpLaunch &launch = drawn.launch;
    const std::uint64_t rows =
        launch.blocks.empty() ? std::uint64_t{launch.grid.y} * launch.grid.z : launch.blocks.size();
    how.step_limit += rows * along_x * launch.block.y * launch.block.z * spare;
  }
  how.check_races = how.only_barriers_order = how.allow_same_value = check_races;
  how.profile = true;
  FinishedRun run = execute(true, drawn, schedule, how);
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
    parted_ = run.outcome.parted;
    steps_ = run.outcome.steps;
    return std::nullopt;
  }
  how.watch = difference.address;
  const FinishedRun watched = execute(true, drawn, schedule, how);
  Difference result{fmt::format("{}: {:#010x} in the original, {:#010x} rewritten\n",
                                place_of(reference.memory, difference.address), difference.first,
                                difference.second)};
  result.of_memory = true;
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
    if (i > 0 && with[i].policy == WarpSchedule::apart && !parted_) {
      verdict_.work += steps_; // it would be the same run as before
      continue;
    }
    // Races are looked for under one schedule of each kind.
    const auto difference = differs(drawn, reference, with[i], i == 0 || i == 2);
    if (!difference)
      continue;
    if (difference->unsupported) {
      ++verdict_.unusable[difference->what];
      targets_ = before;
      return true;
    }
    if (const auto wavers = original_wavers(drawn, reference, with[i], *difference);
        !wavers.empty()) {
      ++verdict_.unusable[std::string(wavers)];
      targets_ = before;
      return true;
    }
    if (options_.any_order && difference->of_memory) {
      ++verdict_.unusable[other_order];
      targets_ = before;
      return true;
    }
    verdict_.kind = KernelVerdict::Kind::differ;
    minimize(drawn, with[i], difference->what);
    return false;
  }
  ++verdict_.agreed;
  if (std::find(usable_blocks_.begin(), usable_blocks_.end(), drawn.launch.block) ==
      usable_blocks_.end())
    usable_blocks_.push_back(drawn.launch.block);
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
        !original_wavers(candidate, reference, with, *difference).empty())
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
      ptxasw::emulator::describe(drawn) +
      fmt::format("schedule {}, contents {:#x}\n", schedule.text(), drawn.seed) + what;
}

} // namespace ptxasw::emulator::verification
