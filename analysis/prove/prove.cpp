// Proofs are looked for with as few assumptions as will do: without those on pointers and wrapping
// first, then with what was given. What is not proved is run: launches that keep to what was given,
// beginning with the solver's model, until the emulator sees a race or a barrier that not all
// threads reach. So a refutation is always an execution. If it keeps to what was given is read off
// the bytes of its parameters, whatever they were drawn for.

#include "analysis/prove/prove.h"

#include "analysis/prove/wrap_watch.h"

#include "emulator/facts/reading.h"
#include "emulator/machine/warp_draw.h"
#include "emulator/semantics/parameter_layout.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>

namespace ptxasw::analysis {
namespace {

/// Threads of a launch that is tried.
constexpr std::uint64_t most_threads = 16384;

bool is_open(const PropertyProof &proof) { return proof.verdict == ProofVerdict::unknown; }

bool all_proved(const KernelProof &proof) {
  return !is_open(proof.races) && !is_open(proof.barriers) && !is_open(proof.bounds);
}

} // namespace

std::vector<std::string> texts_of(const ProofAssumptions &given) {
  std::vector<std::string> texts;
  const auto shape = [](const char *name, const Extents &extents) {
    return fmt::format("{} = {}x{}x{}", name, extents.x, extents.y, extents.z);
  };
  if (given.block)
    texts.push_back(shape("block", *given.block));
  if (given.grid)
    texts.push_back(shape("grid", *given.grid));
  texts.insert(texts.end(), given.parameters.texts().begin(), given.parameters.texts().end());
  for (const LaunchRelation &relation : given.relations)
    texts.push_back(relation.text);
  for (const auto &[name, bytes] : given.sizes)
    texts.push_back(fmt::format("size of {} = {}", name, bytes));
  if (given.dynamic_shared)
    texts.push_back(fmt::format("size of dynamic shared memory = {}", *given.dynamic_shared));
  if (given.disjoint)
    texts.push_back("disjoint");
  if (given.no_wrap)
    texts.push_back("no-wrap");
  return texts;
}

namespace {

/// The search for a launch that shows it.
class WitnessSearchByRuns {
public:
  WitnessSearchByRuns(const WarpProgram &program, std::uint32_t number,
                      const ProofAssumptions &assumptions, const SafetyOptions &options)
      : program_(program), number_(number), kernel_(*program.function(number).function),
        assumptions_(assumptions), options_(options),
        slots_(parameter_slots(program.module(), kernel_)), random_(options.seed) {
    const KernelModel marks_pointers(program.module(), kernel_, slots_);
    for (const Instruction &instruction : kernel_.instructions) {
      const Opcode &opcode = program.module().opcode(instruction);
      communicates_ |= is_one_of(opcode.op, {Op::atom, Op::red, Op::membar, Op::fence}) ||
                       opcode.has(Modifier::volatile_) || opcode.has(Modifier::acquire) ||
                       opcode.has(Modifier::relaxed);
    }
  }

  void run(SafetyAnswer &answer);

private:
  void try_description(LaunchDescription launch, SafetyAnswer &answer);
  LaunchCandidate candidate(unsigned attempt, const std::map<std::string, std::uint64_t> &model);
  void set_given(LaunchDescription &launch) const;
  bool is_allowed(const WarpLaunch &launch) const;
  std::string name_of(const ParameterSlot &slot) const;

  const WarpProgram &program_;
  const std::uint32_t number_;
  const Function &kernel_;
  const ProofAssumptions &assumptions_;
  const SafetyOptions &options_;
  std::vector<ParameterSlot> slots_;
  bool communicates_ = false; ///< by memory: what it finds there at first matters
  std::uint64_t work_ = 0;    ///< thread-instructions so far
  WarpRandom random_;
};

// As facts::parameter_name() has it.
std::string WitnessSearchByRuns::name_of(const ParameterSlot &slot) const {
  const auto field = field_at(kernel_, slot.offset, slot.width);
  return field ? facts::parameter_name(*field, kernel_) : "";
}

LaunchCandidate WitnessSearchByRuns::candidate(unsigned attempt,
                                               const std::map<std::string, std::uint64_t> &model) {
  DrawHints hints;
  hints.apart = true;
  hints.no_wrap = true;
  hints.small = attempt % 3 == 1;
  hints.one_block = attempt % 4 == 3;
  if (attempt % 2 == 1 && !hints.small)
    hints.block = usual_blocks()[(attempt / 2) % usual_blocks().size()];
  if (assumptions_.block)
    hints.block = assumptions_.block;
  LaunchCandidate result = draw_candidate(kernel_, slots_, hints, random_);
  const bool from_model = attempt < 4 && !model.empty();
  const auto in_model = [&](const std::string &name) -> const std::uint64_t * {
    const auto found = model.find(name);
    return from_model && found != model.end() ? &found->second : nullptr;
  };
  for (int axis = 0; axis < 3; ++axis) {
    const std::string name(1, "xyz"[axis]);
    if (const auto *extent = in_model("nctaid." + name); extent && attempt % 2 == 0)
      result.grid[axis] = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(*extent, 1, 64));
    if (const auto *extent = in_model("ntid." + name); extent && !kernel_.directive("reqntid"))
      result.block[axis] = static_cast<std::uint32_t>(std::max<std::uint64_t>(*extent, 1));
  }
  if (assumptions_.block)
    result.block = *assumptions_.block;
  if (assumptions_.grid)
    result.grid = *assumptions_.grid;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].is_pointer)
      continue;
    if (const auto *value = in_model(name_of(slots_[i])))
      result.values[i] = *value;
  }
  return result;
}

// What is given of parameters, and buffers of no more bytes than that.
void WitnessSearchByRuns::set_given(LaunchDescription &launch) const {
  for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
    const Variable &parameter = kernel_.parameters[i];
    ArgumentDescription &argument = launch.arguments[i];
    if (const GivenParameters::Bytes *given = assumptions_.parameters.bytes(parameter)) {
      std::erase_if(argument.fields, [&](const FieldDescription &field) {
        return std::any_of(given->begin() + field.at, given->begin() + field.at + 8,
                           [](const auto &byte) { return byte.has_value(); });
      });
      for (std::size_t at = 0; at < given->size(); ++at)
        argument.bytes[at] = (*given)[at].value_or(argument.bytes[at]);
    }
    for (FieldDescription &field : argument.fields) {
      const auto size =
          assumptions_.sizes.find(facts::parameter_name({parameter.name, field.at, 64}, kernel_));
      if (size == assumptions_.sizes.end())
        continue;
      field.bits = 0;
      for (BufferDescription &buffer : launch.buffers)
        if (buffer.name == field.name)
          buffer.size = size->second;
    }
  }
}

bool WitnessSearchByRuns::is_allowed(const WarpLaunch &launch) const {
  std::map<std::string, std::int64_t> numbers;
  for (int axis = 0; axis < 3; ++axis) {
    numbers[fmt::format("ntid.{}", "xyz"[axis])] = launch.block[axis];
    numbers[fmt::format("nctaid.{}", "xyz"[axis])] = launch.grid[axis];
  }
  const auto add = [&](const std::string &name, std::uint64_t offset, unsigned width) {
    std::uint64_t bits = 0;
    if (width > 64 || offset + width / 8 > launch.parameters.size())
      return;
    std::memcpy(&bits, launch.parameters.data() + offset, width / 8);
    numbers[name] = as_signed(bits, width);
  };
  for (const ParameterSlot &slot : slots_)
    add(name_of(slot), slot.offset, slot.width);
  for (std::size_t i = 0; i < kernel_.parameters.size(); ++i)
    if (const Variable &parameter = kernel_.parameters[i]; !parameter.is_array)
      add(facts::parameter_name({parameter.name, 0, 0}, kernel_),
          kernel_parameter_offset(kernel_, i), static_cast<unsigned>(parameter.size() * 8));
  return std::all_of(assumptions_.relations.begin(), assumptions_.relations.end(),
                     [&](const LaunchRelation &relation) { return holds(relation, numbers); });
}

void WitnessSearchByRuns::try_description(LaunchDescription launch, SafetyAnswer &answer) {
  launch.step_limit = options_.step_limit;
  for (const char *schedule : {"reconverge", "apart", "random:1"}) {
    launch.schedule = schedule;
    GlobalMemory memory;
    const auto prepared = prepare_launch(program_, launch, memory);
    if (!prepared || !is_allowed(prepared->launch))
      return;
    WarpOptions how;
    read_schedule(launch.schedule, how.schedule, how.seed);
    how.check_races = how.check_barriers = true;
    how.volatile_races = options_.proof.volatile_races;
    how.step_limit = launch.step_limit;
    WrapWatch watch(program_, number_);
    if (assumptions_.no_wrap)
      how.observer = &watch;
    const WarpOutcome outcome =
        run_kernel(program_, prepared->kernel, prepared->launch, memory, how);
    work_ += outcome.steps;
    if (watch.wrapped())
      return; // this launch does not keep what is assumed
    const auto &race = outcome.race ? outcome.race : outcome.same_value_race;
    if (race && !answer.race && answer.proof.races.verdict != ProofVerdict::proved)
      answer.race = SafetyWitness{launch, *race};
    if (outcome.barrier && !answer.barrier && answer.proof.barriers.verdict != ProofVerdict::proved)
      answer.barrier = SafetyWitness{launch, *outcome.barrier};
    if (outcome.fault || work_ >= options_.work)
      return;
  }
}

void WitnessSearchByRuns::run(SafetyAnswer &answer) {
  if (options_.launch)
    return try_description(*options_.launch, answer);
  const auto &model =
      is_open(answer.proof.races) ? answer.proof.races.model : answer.proof.barriers.model;
  for (unsigned attempt = 0; attempt < options_.launches; ++attempt) {
    if (work_ >= options_.work)
      return;
    if ((answer.race || !is_open(answer.proof.races)) &&
        (answer.barrier || !is_open(answer.proof.barriers)))
      return;
    const LaunchCandidate drawn = candidate(attempt, model);
    if (drawn.block.count() > most_threads)
      continue;
    const DrawnLaunch launch =
        finish_launch(kernel_, slots_, drawn, program_.has_dynamic_shared(), true, random_);
    LaunchDescription description = to_description(launch, kernel_);
    set_given(description);
    description.variables_seed.reset(); // as before the first launch
    if (communicates_)
      for (BufferDescription &buffer : description.buffers)
        buffer.fill = GlobalMemory::Fill::zeros;
    if (assumptions_.dynamic_shared)
      description.shared = static_cast<std::uint32_t>(*assumptions_.dynamic_shared);
    try_description(std::move(description), answer);
  }
}

/// What could be assumed besides, the weakest first: of memory and arithmetic, then of the launch's
/// dimensions, then of its block.
std::vector<std::pair<std::vector<std::string>, ProofAssumptions>>
proposals(const ProofAssumptions &given) {
  std::vector<std::pair<std::vector<std::string>, ProofAssumptions>> result;
  const auto add = [&](bool disjoint, bool no_wrap, const std::vector<std::string> &words,
                       std::optional<BlockShape> block = std::nullopt) {
    std::vector<std::string> texts;
    ProofAssumptions more = given;
    if (disjoint && !given.disjoint)
      texts.emplace_back("disjoint");
    if (no_wrap && !given.no_wrap)
      texts.emplace_back("no-wrap");
    more.disjoint |= disjoint;
    more.no_wrap |= no_wrap;
    for (const std::string &word : words) {
      assume(word, more);
      texts.push_back(word);
    }
    if (block) {
      more.block = block;
      texts.push_back(fmt::format("block={}x{}x{}", block->x, block->y, block->z));
    }
    if (!texts.empty())
      result.emplace_back(std::move(texts), std::move(more));
  };
  for (const bool no_wrap : {false, true})
    for (const bool disjoint : {false, true})
      if ((!no_wrap || !given.no_wrap) && (!disjoint || !given.disjoint))
        add(disjoint, no_wrap, {});
  add(true, true, {"2d"});
  add(true, true, {"1d"});
  if (given.block)
    return result;
  for (const char *most : {"ntid.x <= 512", "ntid.x <= 256", "ntid.x <= 64", "ntid.x <= 32"})
    add(true, true, {"1d", most});
  for (const Extents shape : {Extents{256, 1, 1}, Extents{16, 16, 1}, Extents{32, 8, 1},
                              Extents{32, 32, 1}, Extents{128, 1, 1}})
    add(true, true, {shape.y == 1 ? "1d" : "2d"}, shape);
  return result;
}

} // namespace

SafetyAnswer answer_safety(const WarpProgram &program, std::uint32_t number,
                           const ProofAssumptions &assumptions, const SafetyOptions &options) {
  const Function &kernel = *program.function(number).function;
  SafetyAnswer answer;
  answer.kernel = kernel.name;
  bool proves_without = false; ///< something that was assumed
  answer.proof = prove_safety(program.module(), kernel, assumptions, options.proof);
  answer.used = texts_of(assumptions);
  if (answer.proof.contradiction)
    return answer;
  // What rests on less says so.
  ProofOptions only_verdict = options.proof;
  only_verdict.explains = false;
  only_verdict.unanswered = 1;
  const auto prove_more = [&](const ProofAssumptions &others, std::uint64_t effort) {
    only_verdict.effort =
        std::min(effort, options.effort - std::min(options.effort, answer.proof.effort));
    KernelProof proof = prove_safety(program.module(), kernel, others, only_verdict);
    answer.proof.asked += proof.asked;
    answer.proof.effort += proof.effort;
    return proof;
  };
  for (const bool no_wrap : {false, true})
    for (const bool disjoint : {false, true}) {
      const bool less = (assumptions.no_wrap && !no_wrap) || (assumptions.disjoint && !disjoint);
      if (!all_proved(answer.proof) || !less || (no_wrap && !assumptions.no_wrap) ||
          (disjoint && !assumptions.disjoint) || proves_without)
        continue;
      ProofAssumptions some = assumptions;
      some.no_wrap = no_wrap;
      some.disjoint = disjoint;
      const KernelProof proof = prove_more(some, options.effort_on_less);
      if (all_proved(proof)) {
        answer.used = texts_of(some);
        proves_without = true;
      }
    }
  if (all_proved(answer.proof))
    return answer;
  WitnessSearchByRuns(program, number, assumptions, options).run(answer);
  if (!options.propose)
    return answer;
  for (auto &[texts, more] : proposals(assumptions)) {
    if (answer.proof.asked.open >= options.unanswered || answer.proof.effort >= options.effort)
      break;
    const KernelProof proof = prove_more(more, options.proof.effort);
    if (!all_proved(proof))
      continue;
    answer.would_do = std::move(texts);
    break;
  }
  return answer;
}

} // namespace ptxasw::analysis
