// Both kernels are followed (symbolic_run.h) on the same unknowns. Each element that either of them
// writes is then an expression on both sides: equal ones are one node, or have one normal form over
// the reals, or Z3 finds no contents for which they differ.
//
// What is followed is tested as it goes. Each kernel runs twice, on different numbers, and has to
// give the same expressions; and these, with the numbers put in, what the machine has written.

#include "analysis/prove/equal.h"

#include "analysis/prove/not_followed.h"
#include "analysis/prove/real_forms.h"
#include "analysis/prove/symbolic_run.h"
#include "emulator/machine/compare_launches.h"
#include "emulator/symbolic/evaluation.h"
#include "emulator/symbolic/solver.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <set>

namespace ptxasw::analysis {
namespace {

/// What is in the way, of one side or of neither.
struct EqualityObstacle {
  std::string reason;
  unsigned side = 0;
  std::uint32_t line = 0;
};

/// `zeros`: what nothing is said of holds zeros.
bool is_given(const BufferDescription &buffer, bool zeros) {
  return !buffer.bytes.empty() ||
         (zeros && buffer.fill == GlobalMemory::Fill::zeros && !buffer.has_range);
}

/// The launch with other numbers in what may hold anything.
LaunchDescription filled(LaunchDescription launch, std::uint64_t seed, bool zeros) {
  for (auto *list : {&launch.buffers, &launch.variables})
    for (BufferDescription &buffer : *list) {
      if (is_given(buffer, zeros))
        continue;
      buffer.has_range = false;
      buffer.fill = buffer.type == ScalarType::f32   ? GlobalMemory::Fill::f32
                    : buffer.type == ScalarType::f64 ? GlobalMemory::Fill::f64
                                                     : GlobalMemory::Fill::random;
      buffer.seed = scramble(seed) + static_cast<std::uint64_t>(&buffer - list->data());
    }
  if (!zeros)
    launch.variables_seed = seed;
  return launch;
}

/// The type of whose elements each is an unknown of its own.
ScalarType element_type(ScalarType type) {
  const unsigned width = bit_width(type);
  return width == 8 || width == 16 || width == 32 || width == 64 ? type : ScalarType::b8;
}

/// One kernel, followed on some numbers.
struct FollowedRun {
  GlobalMemory memory;
  PreparedLaunch launch;
  std::unique_ptr<SymbolicRun> run;
};

class EqualityProof {
public:
  EqualityProof(const WarpProgram &first, const LaunchDescription &first_launch,
                const WarpProgram &second, const LaunchDescription &second_launch,
                const EqualityOptions &options, bool zeros)
      : programs_{&first, &second}, launches_{&first_launch, &second_launch}, options_(options),
        zeros_(zeros), terms_(options.over_reals), inputs_(terms_), forms_(terms_),
        solver_(options.resource_limit) {}

  EqualityAnswer run();

private:
  /// An element that both have a value for.
  struct Compared {
    std::string name;
    std::uint64_t index = 0;
    Expr first = nullptr, second = nullptr;
  };

  std::optional<EqualityObstacle> follow(unsigned side, std::uint64_t seed, FollowedRun &followed);
  std::vector<NamedMemory> named(unsigned side, const FollowedRun &followed) const;
  std::optional<EqualityObstacle> check(unsigned side, FollowedRun &followed, FollowedRun &again);
  std::optional<EqualityObstacle> compare(FollowedRun &first, FollowedRun &second);
  std::optional<EqualityObstacle> ask_solver();
  SolverAnswer ask(const Compared &compared);
  bool refuted_by_runs();
  bool refuted_by_model();
  bool refuted_by(const LaunchDescription &first, const LaunchDescription &second);

  const WarpProgram *programs_[2];
  const LaunchDescription *launches_[2];
  const EqualityOptions &options_;
  const bool zeros_; ///< what the launch says nothing of holds zeros, as launch files have it
  FloatTerms terms_;
  SymbolicInputs inputs_;
  RealForms forms_;
  Solver solver_;
  EqualityAnswer answer_;
  std::vector<Compared> open_; ///< whose expressions are not the same
  /// Contents for which the solver says that the two differ: by name, of elements.
  std::map<std::string, std::map<std::uint64_t, std::uint64_t>> model_;
};

const Variable *variable_called(const Module &module, std::string_view name) {
  for (const Variable &variable : module.variables)
    if (variable.name == name)
      return &variable;
  return nullptr;
}

// Variables come before the buffers.
std::vector<NamedMemory> EqualityProof::named(unsigned side, const FollowedRun &followed) const {
  std::vector<NamedMemory> result;
  const LaunchDescription &launch = *launches_[side];
  const Module &module = programs_[side]->module();
  const auto &allocations = followed.memory.allocations();
  for (std::size_t i = 0; i < followed.launch.variables; ++i) {
    const Variable *const variable = variable_called(module, allocations[i].name);
    const auto described =
        std::find_if(launch.variables.begin(), launch.variables.end(),
                     [&](const auto &v) { return v.name == allocations[i].name; });
    const bool has_contents = described != launch.variables.end()
                                  ? is_given(*described, zeros_)
                                  : zeros_ || !variable || variable->initializer.size() != 0;
    result.push_back({"variable " + allocations[i].name, allocations[i].base, allocations[i].size,
                      element_type(variable ? variable->type : ScalarType::b8), has_contents});
  }
  for (std::size_t i = 0; i < launch.buffers.size(); ++i)
    result.push_back({launch.buffers[i].name, followed.launch.addresses[i], launch.buffers[i].size,
                      element_type(launch.buffers[i].type), is_given(launch.buffers[i], zeros_)});
  std::sort(result.begin(), result.end(),
            [](const auto &a, const auto &b) { return a.address < b.address; });
  return result;
}

// Runs one kernel under the strictest rules: what is no race under them is none under any.
std::optional<EqualityObstacle> EqualityProof::follow(unsigned side, std::uint64_t seed,
                                                      FollowedRun &followed) {
  const LaunchDescription launch = filled(*launches_[side], seed, zeros_);
  auto prepared = prepare_launch(*programs_[side], launch, followed.memory);
  if (!prepared)
    return EqualityObstacle{prepared.error(), side + 1};
  followed.launch = std::move(*prepared);
  followed.run = std::make_unique<SymbolicRun>(terms_, inputs_, side, followed.launch,
                                               followed.memory, named(side, followed));
  WarpOptions how;
  how.check_races = how.volatile_races = how.only_barriers_order = true;
  how.check_barriers = how.check_uninitialized = true;
  how.step_limit = options_.step_limit;
  how.memory_limit = std::uint64_t{4} << 30;
  how.observer = followed.run.get();
  const WarpOutcome outcome = run_kernel(*programs_[side], followed.launch.kernel,
                                         followed.launch.launch, followed.memory, how);
  if (const auto &obstacle = followed.run->obstacle())
    return EqualityObstacle{obstacle->reason, side + 1, obstacle->line};
  for (const auto *fault :
       {&outcome.fault, &outcome.race, &outcome.same_value_race, &outcome.barrier})
    if (*fault)
      return EqualityObstacle{format(**fault), side + 1, (*fault)->line};
  if (outcome.machine_line != 0)
    return EqualityObstacle{"what it reads is the machine's choice", side + 1,
                            outcome.machine_line};
  return std::nullopt;
}

// Expressions do not depend on the numbers, and give what the machine has computed.
std::optional<EqualityObstacle> EqualityProof::check(unsigned side, FollowedRun &followed,
                                                     FollowedRun &again) {
  std::unordered_map<Expr, Bits> known;
  const LaunchDescription launch = filled(*launches_[side], 1, zeros_);
  GlobalMemory before;
  const auto prepared = prepare_launch(*programs_[side], launch, before);
  const std::vector<NamedMemory> memories = named(side, followed);
  std::map<std::string, std::uint64_t> bases;
  for (const NamedMemory &memory : memories)
    bases[memory.name] = memory.address;
  bool is_known = true; // of the expression that is evaluated
  const auto value = [&](Expr root) {
    std::vector<Expr> work{root};
    std::vector<Bits> operands;
    while (!work.empty()) {
      const Expr node = work.back();
      bool ready = true;
      for (const Expr child : node->operands())
        if (!known.contains(child)) {
          work.push_back(child);
          ready = false;
        }
      if (!ready)
        continue;
      work.pop_back();
      operands.clear();
      for (const Expr child : node->operands())
        operands.push_back(known.at(child));
      Bits bits;
      if (const FloatFunction *const function = terms_.function(node)) {
        bits = FloatTerms::compute(*function, node->operands(), operands);
      } else if (node->kind == ExprKind::symbol) {
        const SymbolicInputs::Element *const element = inputs_.of(node);
        is_known &= element != nullptr;
        if (element) {
          std::uint64_t word = 0;
          before.read(bases.at(element->name) + element->index * element->bytes,
                      {reinterpret_cast<std::uint8_t *>(&word), element->bytes});
          bits = {word};
        }
      } else {
        bits = evaluate_node(node, operands);
      }
      known.emplace(node, bits);
    }
    return known.at(root);
  };
  for (const NamedMemory &memory : memories) {
    std::set<std::uint64_t> bytes = followed.run->written(memory, 1);
    bytes.merge(again.run->written(memory, 1));
    for (const std::uint64_t i : bytes) {
      const std::uint64_t address = memory.address + i;
      const Expr byte = followed.run->contents(address, 1);
      if (byte != again.run->contents(address, 1))
        return EqualityObstacle{fmt::format("what it writes to {} is not followed", memory.name),
                                side + 1};
      is_known = true;
      const Bits expected = value(byte);
      std::uint8_t written = 0;
      followed.memory.read(address, {&written, 1});
      if (is_known && expected != Bits(written))
        return EqualityObstacle{
            fmt::format("the machine writes something else to {} than expressions say",
                        memory.name),
            side + 1};
      if (!is_known)
        known.clear(); // what came of it is no value
    }
  }
  return std::nullopt;
}

// Is there any contents for which the two differ? Expressions that are large, or hold many
// floating-point functions, are not asked about: a solver cannot see that two sums are the same.
SolverAnswer EqualityProof::ask(const Compared &compared) {
  constexpr std::size_t most_nodes = 2000;
  std::set<Expr> nodes;
  std::vector<Expr> symbols;
  for (const Expr root : {compared.first, compared.second})
    for_each_node(root, [&](Expr node) {
      if (nodes.size() > most_nodes || !nodes.insert(node).second)
        return;
      if (node->kind == ExprKind::symbol && inputs_.of(node))
        symbols.push_back(node);
    });
  if (nodes.size() > most_nodes)
    return SolverAnswer::unknown;
  const Expr formulas[] = {terms_.bit_not(terms_.eq(compared.first, compared.second))};
  std::vector<std::uint64_t> values;
  const SolverAnswer said = solver_.find("equal", formulas, symbols, values);
  for (std::size_t i = 0; said == SolverAnswer::sat && i < values.size(); ++i)
    model_[inputs_.of(symbols[i])->name][inputs_.of(symbols[i])->index] = values[i];
  return said;
}

// What is left over by the normal forms.
std::optional<EqualityObstacle> EqualityProof::ask_solver() {
  std::map<std::pair<Expr, Expr>, SolverAnswer> asked;
  for (const Compared &compared : open_) {
    const auto [entry, is_new] =
        asked.try_emplace({compared.first, compared.second}, SolverAnswer::unknown);
    if (is_new && solver_.questions() < options_.questions &&
        solver_.tally().open < options_.unanswered)
      entry->second = ask(compared);
    if (entry->second != SolverAnswer::unsat)
      return EqualityObstacle{fmt::format("{}[{}]: {}", compared.name, compared.index,
                                          entry->second == SolverAnswer::sat
                                              ? "the two are different expressions of the data"
                                              : "not seen to be equal within the limits")};
    ++answer_.by_solver;
  }
  return std::nullopt;
}

std::optional<EqualityObstacle> EqualityProof::compare(FollowedRun &first, FollowedRun &second) {
  const std::vector<NamedMemory> in_first = named(0, first), in_second = named(1, second);
  bool any = false;
  for (const NamedMemory &a : in_first) {
    const auto b = std::find_if(in_second.begin(), in_second.end(),
                                [&](const NamedMemory &m) { return m.name == a.name; });
    const BufferDescription *const buffer = launches_[0]->buffer(a.name);
    const auto left_out = [&](const BufferDescription &v) {
      return "variable " + v.name == a.name && !v.is_compared;
    };
    if (b == in_second.end() || (buffer && !buffer->is_compared) ||
        std::any_of(launches_[0]->variables.begin(), launches_[0]->variables.end(), left_out))
      continue;
    any = true;
    if (a.size != b->size || a.type != b->type || a.is_given != b->is_given)
      return EqualityObstacle{fmt::format("{} is not the same for both", a.name)};
    const unsigned step = bit_width(a.type) / 8;
    std::set<std::uint64_t> elements = first.run->written(a, step);
    elements.merge(second.run->written(*b, step));
    for (const std::uint64_t i : elements) {
      const auto bytes = static_cast<unsigned>(std::min<std::uint64_t>(step, a.size - i * step));
      ++answer_.elements;
      Compared compared{a.name, i, first.run->contents(a.address + i * step, bytes),
                        second.run->contents(b->address + i * step, bytes)};
      if (options_.over_reals && compared.first != compared.second) {
        compared.first = forms_.canonical(compared.first);
        compared.second = forms_.canonical(compared.second);
      }
      if (compared.first == compared.second)
        ++answer_.by_form;
      else
        open_.push_back(std::move(compared));
    }
  }
  if (!any)
    return EqualityObstacle{"the two have no buffer and no variable of the same name"};
  return std::nullopt;
}

// Over the reals, what is no more than rounding may add up to is no difference.
bool EqualityProof::refuted_by(const LaunchDescription &first, const LaunchDescription &second) {
  CompareOptions how;
  how.schedules = 0;
  how.reassociate = options_.over_reals;
  if (options_.over_reals)
    how.tolerance = {.relative = 1e-2, .absolute = 1e-3};
  how.step_limit = options_.step_limit;
  const CompareVerdict verdict = compare_launches(*programs_[0], first, *programs_[1], second, how);
  if (verdict.kind != CompareVerdict::Kind::differ || !verdict.worst.beyond)
    return false;
  answer_.witness = EqualityWitness{first, second};
  answer_.reason = verdict.why;
  answer_.side = answer_.line = 0;
  return true;
}

// The launch as it was given, then other numbers.
bool EqualityProof::refuted_by_runs() {
  if (options_.launches != 0 && refuted_by(*launches_[0], *launches_[1]))
    return true;
  for (unsigned i = 1; i < options_.launches; ++i)
    if (refuted_by(filled(*launches_[0], i, zeros_), filled(*launches_[1], i, zeros_)))
      return true;
  return false;
}

// What the solver has found.
bool EqualityProof::refuted_by_model() {
  if (model_.empty() || options_.launches == 0)
    return false;
  LaunchDescription tried[2];
  for (unsigned side = 0; side < 2; ++side) {
    tried[side] = *launches_[side];
    for (BufferDescription &buffer : tried[side].buffers) {
      if (is_given(buffer, zeros_) || buffer.size > 1 << 20)
        continue;
      const unsigned step = bit_width(element_type(buffer.type)) / 8;
      buffer.bytes.assign(buffer.size, 0);
      for (const auto &[index, bits] : model_[buffer.name])
        for (unsigned k = 0; k < step && index * step + k < buffer.size; ++k)
          buffer.bytes[index * step + k] = static_cast<std::uint8_t>(bits >> 8 * k);
    }
  }
  return refuted_by(tried[0], tried[1]);
}

EqualityAnswer EqualityProof::run() {
  std::optional<EqualityObstacle> obstacle;
  try {
    FollowedRun runs[2][2];
    for (unsigned side = 0; side < 2 && !obstacle; ++side) {
      for (std::uint64_t again = 0; again < 2 && !obstacle; ++again)
        obstacle = follow(side, 1 + again, runs[side][again]);
      if (!obstacle)
        obstacle = check(side, runs[side][0], runs[side][1]);
    }
    if (!obstacle)
      obstacle = compare(runs[0][0], runs[1][0]);
  } catch (const NotFollowed &stop) {
    obstacle = EqualityObstacle{stop.reason};
  }
  answer_.used.emplace_back("shape, arguments and addresses as in the launch");
  for (const BufferDescription &buffer : launches_[0]->buffers)
    if (is_given(buffer, zeros_))
      answer_.used.push_back(fmt::format("{} holds what the launch gives", buffer.name));
  for (const WarpProgram *program : programs_)
    for (const Variable &variable : program->module().variables)
      if ((zeros_ || variable.initializer.size() != 0) && variable.space != StateSpace::shared)
        answer_.used.push_back(fmt::format("{} holds what it is initialized to", variable.name));
  if (options_.over_reals)
    answer_.used.emplace_back("real numbers: nothing is rounded, overflows or is undefined");
  // A difference that any numbers show is found by running; then there is nothing to be asked.
  if ((obstacle || !open_.empty()) && refuted_by_runs())
    return std::move(answer_);
  if (!obstacle)
    obstacle = ask_solver();
  answer_.asked = solver_.tally();
  if (!obstacle) {
    answer_.verdict = ProofVerdict::proved;
    return std::move(answer_);
  }
  if (refuted_by_model())
    return std::move(answer_);
  answer_.reason = obstacle->reason;
  answer_.side = obstacle->side;
  answer_.line = obstacle->line;
  return std::move(answer_);
}

} // namespace

EqualityAnswer prove_equal(const WarpProgram &first, const LaunchDescription &first_launch,
                           const WarpProgram &second, const LaunchDescription &second_launch,
                           const EqualityOptions &options) {
  // For any contents of what the launch says nothing of, or else for zeros.
  EqualityOptions only_prove = options;
  only_prove.launches = 0;
  EqualityAnswer answer =
      EqualityProof(first, first_launch, second, second_launch, only_prove, false).run();
  if (answer.verdict == ProofVerdict::proved)
    return answer;
  return EqualityProof(first, first_launch, second, second_launch, options, true).run();
}

} // namespace ptxasw::analysis
