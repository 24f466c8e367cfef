// Two runs on equal memory, compared by the bytes that either has written. Both are the emulator's,
// so what one may not depend on, the schedule, is the same for both.

#include "emulator/machine/compare_launches.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/core.h>

namespace ptxasw::emulator {
namespace {

bool is_number_type(ScalarType type) {
  return type == ScalarType::f16 || type == ScalarType::bf16 || type == ScalarType::f32 ||
         type == ScalarType::f64;
}

/// Patterns in the order of the numbers.
std::int64_t rank(ScalarType type, std::uint64_t bits) {
  const unsigned width = bit_width(type);
  const auto magnitude = static_cast<std::int64_t>(bits & mask64(width - 1));
  return bits >> (width - 1) & 1 ? -magnitude : magnitude;
}

std::uint64_t ulps_between(ScalarType type, std::uint64_t a, std::uint64_t b) {
  if (!is_number_type(type) || !std::isfinite(floating::to_double(type, a)) ||
      !std::isfinite(floating::to_double(type, b)))
    return ~std::uint64_t{0};
  const std::int64_t x = rank(type, a), y = rank(type, b);
  return x > y ? static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y)
               : static_cast<std::uint64_t>(y) - static_cast<std::uint64_t>(x);
}

bool passes(ScalarType type, std::uint64_t a, std::uint64_t b, const Tolerance &tolerance) {
  if (!tolerance.any() || !is_number_type(type))
    return false;
  const double x = floating::to_double(type, a), y = floating::to_double(type, b);
  if (std::isnan(x) && std::isnan(y))
    return true;
  if (!std::isfinite(x) || !std::isfinite(y))
    return false;
  return std::abs(x - y) <= tolerance.absolute + tolerance.relative * std::abs(x) ||
         (tolerance.ulp > 0 && ulps_between(type, a, b) <= tolerance.ulp);
}

/// The real number behind a pattern; unknown if none are followed.
ExactReal real_at(const ExactMemory *reals, std::uint64_t address, ScalarType type,
                  std::uint64_t bits) {
  if (!reals || !is_number_type(type))
    return {};
  const ExactReal real = reals->load(0, address, bit_width(type) / 8);
  return real.known() && real.type() == type ? real : ExactReal::of(type, bits);
}

bool is_same_real(ScalarType type, ExactReal x, std::uint64_t a, ExactReal y, std::uint64_t b) {
  return x.equals(y) && std::isfinite(floating::to_double(type, a)) &&
         std::isfinite(floating::to_double(type, b));
}

/// As what to compare an element of `bytes`: what real numbers were stored there as, if that is
/// known, as it is of halves, which compilers load and store as whole numbers; otherwise `type`.
ScalarType stored_type(ComparedMemory first, std::uint64_t in_first, ComparedMemory second,
                       std::uint64_t in_second, unsigned bytes, ScalarType type) {
  for (const auto &[reals, address] :
       {std::pair{first.reals, in_first}, std::pair{second.reals, in_second}})
    if (const ExactReal real = reals ? reals->load(0, address, bytes) : ExactReal(); real.known())
      return real.type();
  return type;
}

/// Elements of a buffer that lie on pages that one of the two has written.
std::vector<std::uint64_t> candidates(const ComparedBuffer &buffer, const GlobalMemory &first,
                                      const GlobalMemory &second, unsigned step) {
  std::vector<std::uint64_t> starts;
  constexpr std::uint64_t size = GlobalMemory::page_size;
  const auto add = [&](const GlobalMemory &memory, std::uint64_t base) {
    for (const auto &[number, page] : memory.pages()) {
      const std::uint64_t start = number * size;
      if (page->written && start + size > base && start < base + buffer.size)
        starts.push_back((start < base ? 0 : start - base) / step);
    }
  };
  add(first, buffer.first);
  add(second, buffer.second);
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  return starts;
}

/// What one run left.
struct DescribedRun {
  GlobalMemory memory;
  ExactMemory reals;
  PreparedLaunch launch;
  WarpOutcome outcome;
  std::string wrong; ///< it could not even be prepared
};

DescribedRun run_described(const WarpProgram &program, const LaunchDescription &launch,
                           const CompareOptions &options, const SeededSchedule &schedule,
                           WarpOptions how) {
  DescribedRun run;
  auto prepared = prepare_launch(program, launch, run.memory);
  if (!prepared) {
    run.wrong = prepared.error();
    return run;
  }
  run.launch = std::move(*prepared);
  how.schedule = schedule.policy;
  how.seed = schedule.seed;
  how.step_limit = launch.step_limit != 0 ? launch.step_limit : options.step_limit;
  how.memory_limit = options.memory_limit;
  how.volatile_races = options.volatile_races;
  how.matrices_order = options.matrices_order;
  if (options.reassociate)
    how.reals = &run.reals;
  run.outcome = run_kernel(program, run.launch.kernel, run.launch.launch, run.memory, how);
  return run;
}

/// What keeps a run from counting; empty if nothing does.
std::string complaint(const DescribedRun &run) {
  if (!run.wrong.empty())
    return run.wrong;
  if (const auto &fault = run.outcome.fault ? run.outcome.fault : run.outcome.race)
    return format(*fault);
  if (run.outcome.machine_line != 0)
    return fmt::format("line {}: what it reads is the machine's choice", run.outcome.machine_line);
  return {};
}

/// Of a run that does not count: the launch is to blame, or the kernel, and not the emulator.
bool is_impossible(const DescribedRun &run) {
  const auto &fault = run.outcome.fault;
  return fault ? !is_incomplete(fault->kind) : run.outcome.machine_line == 0;
}

ComparedMemory compared(DescribedRun &run, bool reassociate) {
  return {run.memory, reassociate ? &run.reals : nullptr};
}

std::vector<ComparedBuffer> common_buffers(const WarpProgram &program,
                                           const LaunchDescription &first, const DescribedRun &a,
                                           const LaunchDescription &second, const DescribedRun &b) {
  std::vector<ComparedBuffer> list;
  for (std::size_t i = 0; i < first.buffers.size(); ++i)
    for (std::size_t j = 0; j < second.buffers.size(); ++j)
      if (first.buffers[i].name == second.buffers[j].name && first.buffers[i].is_compared)
        list.push_back({first.buffers[i].name, first.buffers[i].type, a.launch.addresses[i],
                        b.launch.addresses[j],
                        std::min(first.buffers[i].size, second.buffers[j].size)});
  const auto is_compared = [&](std::string_view name) {
    return std::none_of(first.variables.begin(), first.variables.end(),
                        [&](const auto &v) { return v.name == name && !v.is_compared; });
  };
  // Variables come before the buffers.
  const auto variables = [](const DescribedRun &run) {
    return std::span(run.memory.allocations()).first(run.launch.variables);
  };
  for (const auto &x : variables(a))
    for (const auto &y : variables(b)) {
      if (x.name != y.name || x.read_only || y.read_only || !is_compared(x.name))
        continue;
      ScalarType type = ScalarType::b32;
      for (const Variable &variable : program.module().variables)
        if (variable.name == x.name)
          type = variable.type;
      list.push_back({x.name, type, x.base, y.base, std::min(x.size, y.size)});
    }
  return list;
}

} // namespace

std::string to_string(const WorstDifference &d) {
  if (!is_number_type(d.type))
    return fmt::format("{}[{}]: {:#x} and {:#x} ({})", d.buffer, d.index, d.first, d.second,
                       to_string(d.type));
  const double x = floating::to_double(d.type, d.first), y = floating::to_double(d.type, d.second);
  return fmt::format(
      "{}[{}]: {} and {} ({}, {}{} absolute)", d.buffer, d.index, x, y, to_string(d.type),
      d.ulp == ~std::uint64_t{0} ? "" : fmt::format("{} ulp, ", d.ulp), std::abs(x - y));
}

WorstDifference compare_memories(const std::vector<ComparedBuffer> &buffers, ComparedMemory first,
                                 ComparedMemory second, const Tolerance &tolerance) {
  WorstDifference worst;
  for (const ComparedBuffer &buffer : buffers) {
    const unsigned width = bit_width(buffer.type);
    const ScalarType type = width >= 8 && width <= 64 ? buffer.type : ScalarType::b8;
    const unsigned step = bit_width(type) / 8;
    const std::uint64_t count = buffer.size / step;
    std::uint64_t done = 0;
    for (const std::uint64_t start : candidates(buffer, first.memory, second.memory, step)) {
      const std::uint64_t end = std::min(count, start + GlobalMemory::page_size / step + 1);
      for (std::uint64_t i = std::max(start, done); i < end; ++i) {
        std::uint64_t a = 0, b = 0;
        first.memory.read(buffer.first + i * step, {reinterpret_cast<std::uint8_t *>(&a), step});
        second.memory.read(buffer.second + i * step, {reinterpret_cast<std::uint8_t *>(&b), step});
        if (a == b)
          continue;
        const ScalarType as = stored_type(first, buffer.first + i * step, second,
                                          buffer.second + i * step, step, type);
        const bool beyond =
            !passes(as, a, b, tolerance) &&
            !is_same_real(as, real_at(first.reals, buffer.first + i * step, as, a), a,
                          real_at(second.reals, buffer.second + i * step, as, b), b);
        const std::uint64_t ulp = ulps_between(as, a, b);
        if (!worst.found || beyond > worst.beyond || (beyond == worst.beyond && ulp > worst.ulp))
          worst = {true, buffer.name, as, i, buffer.second + i * step, a, b, ulp, beyond};
      }
      done = std::max(done, end);
    }
  }
  return worst;
}

CompareVerdict compare_launches(const WarpProgram &first, const LaunchDescription &first_launch,
                                const WarpProgram &second, const LaunchDescription &second_launch,
                                const CompareOptions &options) {
  CompareVerdict verdict;
  std::vector<SeededSchedule> schedules{{WarpSchedule::reconverge, 0}, {WarpSchedule::apart, 0}};
  WarpRandom random(options.seed);
  for (unsigned i = 0; i < options.schedules; ++i)
    schedules.push_back({WarpSchedule::random, random.next() % 1'000'000});
  WarpOptions how;
  how.check_races = how.allow_same_value = true;
  how.note_touched = !options.extra_reads;
  DescribedRun reference = run_described(first, first_launch, options, {}, how);
  verdict.steps = reference.outcome.steps;
  if (verdict.why = complaint(reference); !verdict.why.empty()) {
    verdict.why = "the first: " + verdict.why;
    verdict.impossible = is_impossible(reference);
    return verdict;
  }
  how.note_touched = false;
  for (const SeededSchedule &schedule : schedules) {
    if (schedule.policy == WarpSchedule::reconverge)
      continue;
    DescribedRun again = run_described(first, first_launch, options, schedule, how);
    if (verdict.why = complaint(again); verdict.why.empty())
      if (const auto difference =
              compare_memories(common_buffers(first, first_launch, reference, first_launch, again),
                               compared(reference, options.reassociate),
                               compared(again, options.reassociate), options.tolerance);
          difference.beyond)
        verdict.why = "it depends on the schedule: " + to_string(difference);
    if (!verdict.why.empty()) {
      verdict.why = fmt::format("the first, schedule {}: {}", schedule.text(), verdict.why);
      verdict.impossible = is_impossible(again);
      return verdict;
    }
  }
  if (!options.extra_reads)
    how.allowed = &reference.memory;
  for (const SeededSchedule &schedule : schedules) {
    DescribedRun run = run_described(second, second_launch, options, schedule, how);
    ++verdict.runs;
    verdict.schedule = schedule.text();
    if (verdict.why = complaint(run); !verdict.why.empty()) {
      verdict.why = "the second: " + verdict.why;
      const bool untried =
          !run.wrong.empty() || (!run.outcome.fault && !run.outcome.race) ||
          (run.outcome.fault && (run.outcome.fault->kind == FaultKind::unsupported ||
                                 run.outcome.fault->kind == FaultKind::bad_launch));
      verdict.kind = untried ? CompareVerdict::Kind::unchecked : CompareVerdict::Kind::differ;
      verdict.impossible = untried && is_impossible(run);
      return verdict;
    }
    const auto buffers = common_buffers(first, first_launch, reference, second_launch, run);
    if (buffers.empty()) {
      verdict.why = "the two have no buffer and no variable of the same name";
      verdict.impossible = true;
      return verdict;
    }
    const WorstDifference difference =
        compare_memories(buffers, compared(reference, options.reassociate),
                         compared(run, options.reassociate), options.tolerance);
    if (difference.found && (!verdict.worst.found || difference.beyond > verdict.worst.beyond ||
                             difference.ulp > verdict.worst.ulp))
      verdict.worst = difference;
    if (!difference.beyond)
      continue;
    if (options.any_order) {
      verdict.why = other_order;
      return verdict;
    }
    verdict.kind = CompareVerdict::Kind::differ;
    verdict.why = to_string(difference);
    how.watch = difference.address;
    if (const DescribedRun watched = run_described(second, second_launch, options, schedule, how);
        watched.outcome.watched)
      verdict.why += ", stored at " + format_place(*watched.outcome.watched);
    return verdict;
  }
  verdict.kind = CompareVerdict::Kind::agree;
  verdict.schedule.clear();
  return verdict;
}

} // namespace ptxasw::emulator
