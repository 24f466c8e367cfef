// The proof is that of side_by_side.h. It rests on neither kernel having a race, which is asked of
// the prover of races. What is not proved is tried: small launches are drawn, as people make them,
// and both kernels run on them; a launch in which one of them races or faults says nothing.

#include "analysis/prove/equal.h"
#include "analysis/prove/no_race.h"
#include "analysis/prove/side_by_side.h"

#include "emulator/facts/reading.h"
#include "emulator/machine/compare_launches.h"
#include "emulator/machine/warp_draw.h"
#include "emulator/semantics/parameter_layout.h"

#include <algorithm>
#include <fmt/core.h>
#include <fmt/ranges.h>

namespace ptxasw::analysis {
namespace {

/// Thread-instructions of one kernel in one launch that is drawn.
constexpr std::uint64_t drawn_steps = 300'000;
/// For the walk, in the solver's units, and for that and whether either kernel races.
constexpr std::uint64_t walk_effort = 14'000'000, all_effort = 16'000'000;

/// Draws launches of a kernel that keep what is assumed.
class DrawnLaunches {
public:
  DrawnLaunches(const WarpProgram &program, std::uint32_t number,
                const ProofAssumptions &assumptions)
      : program_(program), kernel_(*program.function(number).function), assumptions_(assumptions),
        slots_(parameter_slots(program.module(), kernel_)), random_(1) {
    const KernelModel marks_pointers(program.module(), kernel_, slots_);
  }

  std::optional<LaunchDescription> next(unsigned attempt);

private:
  const WarpProgram &program_;
  const Function &kernel_;
  const ProofAssumptions &assumptions_;
  std::vector<ParameterSlot> slots_;
  WarpRandom random_;
};

// Nothing: what was drawn is no launch that is meant.
std::optional<LaunchDescription> DrawnLaunches::next(unsigned attempt) {
  DrawHints hints;
  hints.apart = hints.no_wrap = true;
  hints.small = attempt % 3 != 0;
  hints.one_block = attempt % 4 == 3;
  hints.block = assumptions_.block;
  LaunchCandidate drawn = draw_candidate(kernel_, slots_, hints, random_);
  drawn.block = assumptions_.block.value_or(drawn.block);
  drawn.grid = assumptions_.grid.value_or(drawn.grid);
  std::map<std::string, std::int64_t> numbers;
  for (const LaunchRelation &relation : assumptions_.relations)
    for (int axis = 0; axis < 3; ++axis)
      for (const bool of_grid : {false, true})
        if (relation.text == fmt::format("n{}.{} == 1", of_grid ? "ctaid" : "tid", "xyz"[axis]))
          (of_grid ? drawn.grid : drawn.block)[axis] = 1;
  for (int axis = 0; axis < 3; ++axis) {
    numbers[fmt::format("ntid.{}", "xyz"[axis])] = drawn.block[axis];
    numbers[fmt::format("nctaid.{}", "xyz"[axis])] = drawn.grid[axis];
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].is_pointer)
      continue;
    const auto field = field_at(kernel_, slots_[i].offset, slots_[i].width);
    if (!field)
      continue;
    if (const auto given = assumptions_.parameters.bits(*field))
      drawn.values[i] = *given;
    if (slots_[i].width <= 64 && slots_[i].width >= 8)
      numbers[facts::parameter_name(*field, kernel_)] = as_signed(drawn.values[i], slots_[i].width);
  }
  if (!check_launch_shape(drawn.grid, drawn.block) ||
      !std::all_of(assumptions_.relations.begin(), assumptions_.relations.end(),
                   [&](const LaunchRelation &relation) { return holds(relation, numbers); }))
    return std::nullopt;
  LaunchDescription launch = to_description(
      finish_launch(kernel_, slots_, drawn, program_.has_dynamic_shared(), true, random_), kernel_);
  launch.variables_seed.reset(); // as before the first launch
  launch.step_limit = drawn_steps;
  if (assumptions_.dynamic_shared)
    launch.shared = static_cast<std::uint32_t>(*assumptions_.dynamic_shared);
  return launch;
}

/// Returns true if a run ends without a fault or a race.
bool runs_well(const WarpProgram &program, const LaunchDescription &launch) {
  GlobalMemory memory;
  const auto prepared = prepare_launch(program, launch, memory);
  if (!prepared)
    return false;
  WarpOptions how;
  how.check_races = how.check_barriers = how.only_barriers_order = true;
  how.step_limit = launch.step_limit;
  const WarpOutcome outcome = run_kernel(program, prepared->kernel, prepared->launch, memory, how);
  return !outcome.fault && !outcome.race && !outcome.same_value_race && !outcome.barrier &&
         outcome.machine_line == 0;
}

/// Elements are counted from where a buffer begins; `; the pointer leads to y[16]` where that is
/// elsewhere.
std::string where_pointer_leads(const LaunchDescription &launch, const WorstDifference &worst) {
  const unsigned bytes = std::max(bit_width(worst.type) / 8, 1u);
  for (const ArgumentDescription &argument : launch.arguments)
    for (const FieldDescription &field : argument.fields)
      if (field.kind == FieldDescription::Kind::buffer && field.name == worst.buffer &&
          field.bits != 0 && field.bits % bytes == 0)
        return fmt::format("; the pointer leads to {}[{}]", worst.buffer, field.bits / bytes);
  return {};
}

/// Looks for a launch after which memory differs.
void refute_by_drawing(const WarpProgram &first, std::uint32_t first_kernel,
                       const WarpProgram &second, std::uint32_t second_kernel,
                       const ProofAssumptions &assumptions, const EqualityOptions &options,
                       EqualityAnswer &answer) {
  if (options.launches == 0)
    return;
  DrawnLaunches launches(first, first_kernel, assumptions);
  CompareOptions how;
  how.schedules = 0;
  how.step_limit = drawn_steps;
  how.reassociate = options.over_reals;
  if (options.over_reals)
    how.tolerance = {.relative = 1e-2, .absolute = 1e-3};
  for (unsigned attempt = 0; attempt < options.launches; ++attempt) {
    auto one = launches.next(attempt);
    if (!one)
      continue;
    LaunchDescription other = *one;
    one->kernel = first.function(first_kernel).function->name;
    other.kernel = second.function(second_kernel).function->name;
    if (!runs_well(first, *one) || !runs_well(second, other))
      continue;
    const CompareVerdict verdict = compare_launches(first, *one, second, other, how);
    if (verdict.kind != CompareVerdict::Kind::differ || !verdict.worst.beyond)
      continue;
    answer.reason = verdict.why + where_pointer_leads(*one, verdict.worst);
    answer.witness = EqualityWitness{std::move(*one), std::move(other)};
    answer.side = answer.line = 0;
    return;
  }
}

/// `effort` gets less by what it takes.
std::string of_races(const WarpProgram &program, std::uint32_t kernel, std::uint64_t &effort) {
  const NoRace race = no_race(program.module(), *program.function(kernel).function, effort);
  effort -= std::min(effort, race.effort);
  std::string text(race.text());
  if (!race.conditions.empty())
    text.insert(text.size() - 1, fmt::format("; {}", fmt::join(race.conditions, "; ")));
  return text;
}

} // namespace

EqualityAnswer prove_equal_always(const WarpProgram &first, std::uint32_t first_kernel,
                                  const WarpProgram &second, std::uint32_t second_kernel,
                                  const ProofAssumptions &assumptions,
                                  const EqualityOptions &options) {
  SideBySideLimits limits;
  limits.over_reals = options.over_reals;
  limits.effort = walk_effort;
  const SideBySideProof proof =
      prove_side_by_side(first.module(), *first.function(first_kernel).function, second.module(),
                         *second.function(second_kernel).function, assumptions, limits);
  EqualityAnswer answer;
  answer.contradiction = proof.contradiction;
  answer.reason = proof.reason;
  answer.side = proof.side;
  answer.line = proof.line;
  answer.elements = proof.values;
  answer.by_form = proof.by_form;
  answer.by_solver = proof.by_solver;
  answer.asked = proof.asked;
  answer.used = texts_of(assumptions);
  if (options.over_reals)
    answer.used.emplace_back("real numbers: nothing is rounded, overflows or is undefined");
  if (proof.contradiction)
    return answer;
  if (!proof.is_proved) {
    refute_by_drawing(first, first_kernel, second, second_kernel, assumptions, options, answer);
    return answer;
  }
  answer.verdict = ProofVerdict::proved;
  answer.used.emplace_back("both are launched alike, and memory holds the same before");
  if (proof.shares_variables)
    answer.used.emplace_back("variables of one name are one variable");
  answer.used.emplace_back("no access faults, and no thread waits for ever");
  // The first one leaves half of it to the second.
  std::uint64_t left = all_effort - std::min(all_effort, proof.effort), half = left / 2;
  left -= half;
  std::string races[] = {of_races(first, first_kernel, half), ""};
  left += half;
  races[1] = of_races(second, second_kernel, left);
  if (races[0] == races[1])
    answer.used.push_back(races[0]);
  else
    for (unsigned side = 0; side < 2; ++side)
      answer.used.push_back(fmt::format("kernel {}: {}", side + 1, races[side]));
  return answer;
}

} // namespace ptxasw::analysis
