// Which launches tell two kernels apart: drawn ones, such as do what changed or has not run yet,
// boundaries of what differs, and such as the solver finds for a test that went one way only.

#include "emulator/machine/verifier.h"

#include "emulator/machine/changes.h"
#include "emulator/machine/unbounded.h"
#include "emulator/symbolic/solver.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace ptxasw::emulator::verification {
namespace {

/// Launches that are searched for one thing that changed, and for one boundary; fewer if the search
/// as a whole is to be short.
constexpr unsigned tries_budget = 60, boundary_tries = 15;
/// Searches for one launch, from different places.
constexpr unsigned searches = 6;
/// Effort for one question to the solver, in its units.
constexpr unsigned solver_resource_limit = 3'000'000, quick_limit = 1'000'000;
/// Questions to the solver for one launch; so many first, before it is asked whether an index wraps
/// around in all of them: then the others find nothing either.
constexpr unsigned questions = 8, first_questions = 2;
/// Different conditions that the solver is asked about.
constexpr std::size_t questions_budget = 60;
/// After this many outcomes of tests in vain no launch is looked for anymore: the others are much
/// like them.
constexpr unsigned unanswered_budget = 8;

/// Cases that a condition is split into.
constexpr std::size_t cases_budget = 32;

/// Of which conditions one holds if this one does.
void add_cases(const PathFact &fact, std::vector<PathFact> &cases) {
  const Expr e = fact.condition;
  const auto add = [&](Expr part, bool holds) { add_cases({part, holds}, cases); };
  if (e->width == 1 && e->kind == ExprKind::sum && e->value.low == 1 && e->child_count == 1)
    return add(e->children[0], !fact.holds); // a negation
  if (e->width != 1 || e->kind != (fact.holds ? ExprKind::bit_or : ExprKind::bit_and)) {
    cases.push_back(fact);
    return;
  }
  for (const Expr part : e->operands())
    add(part, fact.holds);
}

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

} // namespace

// What changed must run; an added test must have both outcomes, and so must one that was taken out
// without another in its place: what it told apart is no longer told.
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
  const auto &own_tests = model_.tests(), &other_tests = other_model_.tests();
  const auto is_test = [&](bool in_rewritten, std::uint32_t index, std::uint32_t i) {
    const auto &tests = in_rewritten ? other_tests : own_tests;
    return index == (in_rewritten ? second_ : first_) &&
           (in_rewritten || other_tests.size() < own_tests.size()) && !options_.stand_in &&
           std::binary_search(tests.begin(), tests.end(), i);
  };
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
      if (is_test(in_rewritten, index, i))
        for (const bool outcome : {true, false})
          targets_.push_back({in_rewritten, index, i, outcome});
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
      const FinishedRun run = execute(false, drawn, {}, how);
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
  // Kernels that are written for blocks of one shape do not survive others.
  const unsigned failed = races_ + limits_;
  if (failed > 0 && random_.below(failed + verdict_.agreed + 1) < failed)
    hints.block = !usable_blocks_.empty() && !random_.one_in(4)
                      ? usable_blocks_[random_.below(usable_blocks_.size())]
                      : usual_blocks()[next_usual_++ % usual_blocks().size()];
  if (options_.stand_in)
    hints.groups = extents(options_.stand_in->grid);
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
  const bool row = whole_grid_ && random_.one_in(2); // blocks that only x tells apart race
  for (int axis = 0; whole_grid_ && axis < 3; ++axis) {
    std::uint32_t &extent = candidate.grid[axis];
    extent = row && axis > 0 ? 1 : 1 + (extent - 1) % most[axis];
    for (; candidate.grid.count() > most_blocks && extent > 1; extent /= 2) {
    }
    candidate.block_index[axis] = std::min(candidate.block_index[axis], extent - 1);
  }
  suit_arguments(candidate);
  uncut(candidate);
  DrawnLaunch drawn =
      finish_launch(kernel_, slots_, candidate, dynamic_shared_, options_.reassociate, random_);
  if (dynamic_shared_ && options_.dynamic_shared)
    drawn.launch.dynamic_shared = *options_.dynamic_shared;
  if (whole_grid_)
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
  if ((target || boundary_) && !how.no_wrap && !(options_.small && how.small)) {
    if (!how.one_block)
      widen_grid(slots_, random_, candidate);
    lengthen_steps(slots_, random_, candidate);
  }
  suit_stand_in(candidate, target && target->in_rewritten);
  const bool possible = check_launch_shape(candidate.grid, candidate.block).has_value();
  DrawnLaunch drawn = finish(possible ? candidate : plain);
  drawn.searched = target || boundary_;
  return drawn;
}

// What a launch would have to fulfil in which a wish comes true, for some thread of it.
Verifier::Question Verifier::question_of(KernelModel &model, const KernelModel::Wish &wish) {
  ExprPool &pool = model.emulation().pool();
  Question question;
  const auto add_symbol = [&](Expr symbol) {
    if (symbol->kind == ExprKind::symbol && symbol->width <= 64 &&
        std::find(question.symbols.begin(), question.symbols.end(), symbol) ==
            question.symbols.end())
      question.symbols.push_back(symbol);
  };
  for (const PathFact &fact : wish.conditions) {
    question.wish.push_back(fact.holds ? fact.condition : pool.bit_not(fact.condition));
    for_each_node(fact.condition, add_symbol);
  }
  // Whatever a thread is, it lies in its block, and the block in its grid.
  static constexpr Extents largest_block{1024, 1024, 64}, largest_grid{0x7fffffff, 0xffff, 0xffff};
  for (int axis = 0; axis < 3; ++axis)
    for (const bool grid : {false, true}) {
      const std::string name = fmt::format("{}.{}", grid ? "ctaid" : "tid", "xyz"[axis]);
      const Expr place = model.emulation().special("%" + name);
      const Expr extent = model.emulation().special("%n" + name);
      const std::uint32_t most = grid ? largest_grid[axis] : largest_block[axis];
      question.places.push_back(pool.ult(place, extent));
      question.extents.push_back(pool.ule(extent, pool.constant(32, most)));
      for (const Expr e : {place, extent})
        add_symbol(e);
    }
  return question;
}

// What no launch has done: Z3 says that none does it, or finds one, or says that an index wraps
// around in all that do. What has not run at all comes first, and is always asked for.
void Verifier::ask_solver() {
  std::map<std::vector<std::pair<Expr, bool>>, Target> said; // by the conditions, and what they say
  unsigned unanswered = 0;
  for (const bool outcomes : {false, true})
    for (Target &target : targets_) {
      if (target.outcome.has_value() != outcomes || !target.is_open())
        continue;
      KernelModel &model = model_of(target);
      const auto wish = wish_of(target);
      if (!wish) {
        target.impossible = is_in_kernel(target) && model.complete();
        continue;
      }
      std::vector<std::pair<Expr, bool>> key;
      for (const PathFact &fact : wish->conditions)
        key.emplace_back(fact.condition, fact.holds);
      const auto [known, is_new] = said.try_emplace(std::move(key));
      Target &answer = known->second;
      if (is_new && said.size() <= questions_budget) {
        const Question question = question_of(model, *wish);
        answer.impossible = is_impossible(model, question);
        const bool finds = !answer.impossible && !options_.stand_in && has_work_left() &&
                           (!outcomes || unanswered < unanswered_budget);
        if (finds)
          find_launch(target, question, 0, first_questions);
        if (verdict_.kind == KernelVerdict::Kind::differ)
          return;
        answer.wraps = !answer.impossible && target.is_open() && only_wraps(model, *wish, question);
        if (finds && !answer.wraps)
          find_launch(target, question, first_questions, questions);
        if (verdict_.kind == KernelVerdict::Kind::differ)
          return;
        unanswered += outcomes && target.is_open() && !answer.impossible && !answer.wraps;
      }
      target.impossible |= answer.impossible;
      target.wraps |= answer.wraps && target.is_open();
    }
}

bool Verifier::is_impossible(KernelModel &model, const Question &question) {
  std::vector<Expr> formulas = question.wish;
  formulas.insert(formulas.end(), question.places.begin(), question.places.end());
  for (const Expr fact : model.mask_facts(formulas))
    formulas.push_back(fact);
  return Solver(solver_resource_limit).check("no launch does this", formulas) ==
         SolverAnswer::unsat;
}

// Without a launch in which no index wraps around.
bool Verifier::contradict(KernelModel &model, const std::vector<PathFact> &conditions,
                          const Question &question, unsigned limit) {
  std::vector<Expr> formulas = as_unbounded(model.emulation().pool(), conditions);
  formulas.insert(formulas.end(), question.places.begin(), question.places.end());
  formulas.insert(formulas.end(), question.extents.begin(), question.extents.end());
  return Solver(limit).check("no index wraps around", formulas) == SolverAnswer::unsat;
}

// One case after the other: that one of eight copies is outside is much harder to refute than that
// the first is. Mostly the cases of one condition contradict the last one, and that is quickly
// seen.
bool Verifier::only_wraps(KernelModel &model, const KernelModel::Wish &wish,
                          const Question &question, bool quickly) {
  std::vector<PathFact> single, several;
  std::vector<std::vector<PathFact>> cases;
  for (const PathFact &fact : wish.conditions) {
    std::vector<PathFact> found;
    add_cases(fact, found);
    const bool is_one = found.size() < 2 || found.size() > cases_budget;
    (is_one ? single : several).push_back(fact);
    if (!is_one)
      cases.push_back(std::move(found));
  }
  const auto all_contradict = [&](const std::vector<PathFact> &split,
                                  const std::vector<PathFact> &others, unsigned limit) {
    return std::all_of(split.begin(), split.end(), [&](const PathFact &one) {
      std::vector<PathFact> with = others;
      with.push_back(one);
      return contradict(model, with, question, limit);
    });
  };
  if (quickly) {
    const std::vector<PathFact> last(wish.conditions.end() - !wish.conditions.empty(),
                                     wish.conditions.end());
    return std::any_of(
               cases.begin(), cases.end(),
               [&](const auto &split) { return all_contradict(split, last, quick_limit); }) ||
           contradict(model, single, question, quick_limit);
  }
  const auto most = std::max_element(
      cases.begin(), cases.end(), [](const auto &a, const auto &b) { return a.size() < b.size(); });
  if (most == cases.end())
    return contradict(model, single, question, solver_resource_limit);
  several.erase(several.begin() + (most - cases.begin()));
  single.insert(single.end(), several.begin(), several.end());
  return all_contradict(*most, single, solver_resource_limit);
}

void Verifier::find_launch(Target &target, const Question &question, unsigned first,
                           unsigned behind) {
  KernelModel &model = model_of(target);
  ExprPool &pool = model.emulation().pool();
  std::vector<Expr> formulas = question.wish;
  formulas.insert(formulas.end(), question.places.begin(), question.places.end());
  formulas.insert(formulas.end(), question.extents.begin(), question.extents.end());
  const std::vector<Expr> &symbols = question.symbols;
  Solver solver(solver_resource_limit);
  std::vector<std::uint64_t> values;
  Extents extents[2]; // block, grid
  // Of extents that are no larger than that the low bits are all there is: few are soon multiplied.
  const auto extent = [&](const char *name) {
    return pool.zext(pool.extract(model.emulation().special(name), 0, 11), 32);
  };
  const Expr threads = pool.mul(pool.mul(extent("%ntid.x"), extent("%ntid.y")), extent("%ntid.z"));
  formulas.push_back(pool.ule(threads, pool.constant(32, 1024)));
  using Kind = KernelModel::Meaning::Kind;
  for (unsigned attempt = first; attempt < behind && target.is_open(); ++attempt) {
    // What takes few steps is more likely to run to its end: some of the numbers small.
    std::vector<Expr> asked = formulas;
    for (const Expr symbol : symbols)
      if (model.meaning(symbol).kind == Kind::slot && symbol->width >= 32 && attempt % 2 == 1 &&
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
    if (!check_launch_shape(candidate.grid, candidate.block))
      continue;
    DrawnLaunch drawn = finish(candidate);
    drawn.searched = true;
    if (!try_launch(drawn))
      return;
  }
}

} // namespace ptxasw::emulator::verification
