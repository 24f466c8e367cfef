#include "emulator/warp_verify.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw {
namespace {

struct Schedule {
  WarpSchedule policy = WarpSchedule::reconverge;
  std::uint64_t seed = 0;
};

std::string describe(const Schedule &schedule) {
  if (schedule.policy == WarpSchedule::reconverge)
    return "reconverge";
  if (schedule.policy == WarpSchedule::apart)
    return "apart";
  return fmt::format("random:{}", schedule.seed);
}

/// A finished run with the memory it left.
struct Run {
  GlobalMemory memory;
  WarpOutcome outcome;
};

class Verifier {
public:
  Verifier(const WarpProgram &original, const WarpProgram &rewritten, std::uint32_t first,
           std::uint32_t second, const VerifyOptions &options)
      : original_(original), rewritten_(rewritten), first_(first), second_(second),
        options_(options), kernel_(*original.function(first).function),
        slots_(parameter_slots(original.module(), kernel_)),
        executed_(original.function(first).code.size()) {}

  KernelVerdict run();

private:
  Run execute(const WarpProgram &program, std::uint32_t kernel, const DrawnLaunch &drawn,
              const Schedule &schedule, WarpOptions how) const;
  bool usable(const DrawnLaunch &drawn, Run &reference, std::string &why);
  bool differs(const DrawnLaunch &drawn, Run &reference, const Schedule &schedule,
               std::string &what) const;
  std::vector<Schedule> schedules(WarpRandom &random) const;
  void minimize(DrawnLaunch drawn, Schedule schedule, std::string what);

  const WarpProgram &original_, &rewritten_;
  const std::uint32_t first_, second_;
  const VerifyOptions &options_;
  const Function &kernel_;
  const std::vector<ParameterSlot> slots_;
  std::vector<bool> executed_;
  KernelVerdict verdict_;
};

Run Verifier::execute(const WarpProgram &program, std::uint32_t kernel, const DrawnLaunch &drawn,
                      const Schedule &schedule, WarpOptions how) const {
  Run run;
  WarpLaunch launch;
  how.schedule = schedule.policy;
  how.seed = schedule.seed;
  if (how.step_limit == ~std::uint64_t{0})
    how.step_limit = options_.step_limit;
  if (std::string why = program.place_variables(run.memory); !why.empty()) {
    run.outcome.fault = WarpFault{FaultKind::unsupported, why, std::string(kernel_.name)};
    return run;
  }
  place_buffers(drawn, run.memory, launch);
  run.outcome = run_kernel(program, kernel, launch, run.memory, how);
  return run;
}

// The original on its own: it must end, without a race, and alike under another schedule.
bool Verifier::usable(const DrawnLaunch &drawn, Run &reference, std::string &why) {
  WarpOptions how;
  how.check_races = how.only_barriers_order = how.note_touched = how.profile = true;
  reference = execute(original_, first_, drawn, {}, how);
  verdict_.steps += reference.outcome.steps;
  const auto faulted = [&](const WarpOutcome &outcome) {
    const auto &fault = outcome.fault ? outcome.fault : outcome.race;
    if (fault)
      why = fault->kind == FaultKind::unsupported
                ? fmt::format("line {}: {}", fault->line, fault->message)
                : fmt::format("{} in the original", to_string(fault->kind));
    return fault.has_value();
  };
  if (faulted(reference.outcome))
    return false;
  // Barriers of some lanes may order accesses under one schedule and not under another.
  how.note_touched = how.profile = false;
  for (const Schedule &schedule :
       {Schedule{WarpSchedule::random, drawn.seed}, Schedule{WarpSchedule::apart, 0}}) {
    Run again = execute(original_, first_, drawn, schedule, how);
    if (faulted(again.outcome))
      return false;
    if (compare(reference.memory, again.memory).differs) {
      why = "the original depends on the schedule";
      return false;
    }
  }
  return true;
}

bool Verifier::differs(const DrawnLaunch &drawn, Run &reference, const Schedule &schedule,
                       std::string &what) const {
  WarpOptions how;
  how.allowed = &reference.memory;
  how.step_limit = 2 * reference.outcome.steps * 10 + 1'000'000;
  Run run = execute(rewritten_, second_, drawn, schedule, how);
  if (run.outcome.fault) {
    what = "the rewritten kernel fails: " + format(*run.outcome.fault) + "\n";
    return true;
  }
  const MemoryDifference difference = compare(reference.memory, run.memory);
  if (!difference.differs)
    return false;
  how.watch = difference.address;
  const Run watched = execute(rewritten_, second_, drawn, schedule, how);
  const auto *allocation = reference.memory.find(difference.address, 1);
  what = fmt::format("{} + {:#x}: {:#010x} in the original, {:#010x} rewritten\n",
                     allocation ? allocation->name : "?",
                     allocation ? difference.address - allocation->base - allocation->size / 2 : 0,
                     difference.first, difference.second);
  if (watched.outcome.watched)
    what += "stored at " + format_place(*watched.outcome.watched) + "\n";
  return true;
}

std::vector<Schedule> Verifier::schedules(WarpRandom &random) const {
  std::vector<Schedule> list{{WarpSchedule::reconverge, 0}, {WarpSchedule::apart, 0}};
  for (unsigned i = 0; i < options_.schedules; ++i)
    list.push_back({WarpSchedule::random, random.next() % 1'000'000});
  return list;
}

// Fewer blocks, and the simplest schedule, as long as the difference stays.
void Verifier::minimize(DrawnLaunch drawn, Schedule schedule, std::string what) {
  const auto still = [&](const DrawnLaunch &candidate, const Schedule &with) {
    Run reference;
    std::string why, new_what;
    if (!usable(candidate, reference, why) || !differs(candidate, reference, with, new_what))
      return false;
    what = std::move(new_what);
    return true;
  };
  if (still(drawn, {}))
    schedule = {};
  for (int i = 2; i >= 0; --i)
    while (drawn.launch.grid[i] > 1) {
      DrawnLaunch smaller = drawn;
      smaller.launch.grid[i] -= 1;
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
  verdict_.counter_example =
      ptxasw::describe(drawn) +
      fmt::format("schedule {}, contents {:#x}\n", describe(schedule), drawn.seed) + what;
}

KernelVerdict Verifier::run() {
  verdict_.kernel = kernel_.name;
  WarpRandom random(options_.seed ^ 0x5eed);
  unsigned attempts = 0, races = 0, limits = 0;
  while (verdict_.agreed < options_.runs && attempts++ < 4 * options_.runs + 8) {
    // What made launches unusable is drawn more rarely: a kernel that does not ask for its block
    // races with itself in a grid.
    DrawHints hints;
    hints.one_block = random.below(races + verdict_.agreed + 1) < races;
    hints.flat = hints.one_block && random.below(races + 2 * verdict_.agreed + 1) < races;
    hints.apart = hints.flat && random.one_in(2);
    hints.small = random.below(limits + verdict_.agreed + 1) < limits;
    const DrawnLaunch drawn = draw_launch(kernel_, slots_, hints, random);
    const std::vector<Schedule> with = schedules(random);
    Run reference;
    std::string why;
    if (!usable(drawn, reference, why)) {
      ++verdict_.unusable[why];
      races += reference.outcome.race.has_value();
      limits += reference.outcome.fault.has_value();
      continue;
    }
    for (const Schedule &schedule : with) {
      std::string what;
      if (differs(drawn, reference, schedule, what)) {
        verdict_.kind = KernelVerdict::Kind::differ;
        minimize(drawn, schedule, std::move(what));
        return std::move(verdict_);
      }
    }
    ++verdict_.agreed;
    for (std::size_t i = 0; i < executed_.size(); ++i)
      if (reference.outcome.profile[first_][i].lanes > 0)
        executed_[i] = true;
  }
  if (verdict_.agreed > 0)
    verdict_.kind = KernelVerdict::Kind::agree;
  const auto &code = original_.function(first_).code;
  for (std::size_t i = 0; i + 1 < code.size(); ++i)
    if (!executed_[i])
      verdict_.not_executed.push_back(code[i].line);
  return std::move(verdict_);
}

} // namespace

std::vector<KernelVerdict> verify(const Module &original, const Module &rewritten,
                                  const VerifyOptions &options) {
  const WarpProgram first(original), second(rewritten);
  std::vector<KernelVerdict> verdicts;
  for (std::uint32_t i = 0; i < first.function_count(); ++i) {
    const Function &kernel = *first.function(i).function;
    if (!kernel.is_entry || !kernel.has_body ||
        (!options.kernel.empty() && kernel.name != options.kernel))
      continue;
    const auto other = second.find_kernel(kernel.name);
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
