// Findings of all analyses become one list with places, sorted by cost; several copies of one place
// in the source count as one, the costliest.

#include "wrapper/lint/collect.h"

#include "wrapper/lint/names.h"

#include "synth/resize/resize.h"
#include "synth/shuffle/detect.h"

#include "analysis/prove/no_race.h"
#include "analysis/prove/prove.h"
#include "emulator/semantics/effects.h"

#include <algorithm>
#include <fmt/core.h>
#include <limits>
#include <map>
#include <tuple>

namespace ptxasw::wrapper {
namespace {

constexpr unsigned newest_target = 121; ///< of CUDA 13: sm_121
constexpr unsigned newest_major = 9;    ///< of the PTX ISA: CUDA 13 has 9.0 and what follows it

bool wanted(const LintQuery &query, std::string_view name) {
  return query.kernels.empty() ||
         std::find(query.kernels.begin(), query.kernels.end(), name) != query.kernels.end();
}

/// Loads whose value the thread or its warp already has.
void add_redundant(const Module &module, const Places &places, const LintQuery &query,
                   std::vector<KernelLint> &kernels) {
  RewriteOptions how;
  how.assume_block = query.block;
  how.kernels = query.kernels;
  for (const FunctionDetection &found : find_reuses(module, how)) {
    const Function &function = module.functions[found.function];
    const auto kernel = std::find_if(kernels.begin(), kernels.end(), [&](const KernelLint &other) {
      return other.name == function.name;
    });
    if (kernel == kernels.end() ||
        query.choices.is_silenced(lint::Code::redundant_load, kernel->name, is_called))
      continue;
    for (const Reuse &reuse : found.detection.reuses) {
      const std::uint32_t source = function.instructions[reuse.elements[0].source.load].line;
      const bool own = reuse.is_copy();
      const Instruction &load = function.instructions[reuse.load];
      Told told;
      told.code = lint::Code::redundant_load;
      told.line = load.line;
      told.source = places.of(load);
      told.inlined_at = places.inlined_at(load);
      told.message =
          own ? fmt::format("the thread itself has loaded this value, in line {} of the PTX",
                            source)
              : fmt::format("lane {:+} of the warp has loaded this value, in line {} of the PTX",
                            reuse.delta(), source);
      told.note = own ? "keep it in a variable"
                      : "a shuffle could pass it on; on GPUs since Volta that is no faster than "
                        "the load, which hits the cache";
      kernel->warnings.push_back(std::move(told));
    }
  }
}

/// Races that the emulator has seen, in launches as people make them.
void add_races(const Module &module, const Places &places, const LintQuery &query,
               std::vector<KernelLint> &kernels) {
  const WarpProgram program(module);
  for (std::uint32_t number = 0; number < program.function_count(); ++number) {
    const Function &function = *program.function(number).function;
    const auto kernel = std::find_if(kernels.begin(), kernels.end(), [&](const KernelLint &other) {
      return other.name == function.name;
    });
    if (!function.is_entry || kernel == kernels.end() ||
        query.choices.is_silenced(lint::Code::races, kernel->name, is_called))
      continue;
    ProofAssumptions assumptions = usual_launches(module, function);
    assumptions.block = query.block;
    if (query.parameters)
      assumptions.parameters.give(module, function, query.parameters(function));
    SafetyOptions safety;
    safety.propose = false;
    safety.proof.questions /= 5;
    safety.proof.explains = false;
    const auto race = answer_safety(program, number, assumptions, safety).race;
    const auto at =
        std::find_if(function.instructions.begin(), function.instructions.end(),
                     [&](const Instruction &one) { return race && one.line == race->fault.line; });
    if (at == function.instructions.end())
      continue;
    Told told;
    told.code = lint::Code::races;
    told.line = at->line;
    told.source = places.of(*at);
    told.inlined_at = places.inlined_at(*at);
    told.message = "two threads race: " + format(race->fault);
    const LaunchDescription &launch = race->launch;
    told.note = fmt::format("seen with blocks of {}x{}x{} threads in a grid of {}x{}x{}; `ptxasw "
                            "prove --witness DIR` writes such a launch",
                            launch.block.x, launch.block.y, launch.block.z, launch.grid.x,
                            launch.grid.y, launch.grid.z);
    told.weight = wrong_weight;
    kernel->warnings.push_back(std::move(told));
  }
}

/// The same for all warnings of one code about one place.
using PlaceKey = std::tuple<lint::Code, std::string, std::uint32_t, std::uint32_t>;
PlaceKey place_of(const Told &told) {
  if (told.source)
    return {told.code, told.source->file, told.source->line, told.source->column};
  return {told.code, "", told.line, 0};
}

/// Returns true if a block's threads are those along x.
bool has_one_row(const facts::Layout &layout) {
  return layout.symbolic || (layout.shape.y == 1 && layout.shape.z == 1);
}

/// What helps where blocks of another extent along x would, of a kernel that may have them.
std::string resized_note(const KernelContext &context, std::uint32_t block) {
  const FamilyAnswer answer = resize_family.propose(context);
  const std::string variant = fmt::format("b{}", block);
  const bool fits = std::any_of(answer.proposals.begin(), answer.proposals.end(),
                                [&](const Proposal &one) { return one.variant == variant; });
  return fits
             ? fmt::format("; `ptxasw siblings --resize={}` makes a version for such blocks, which "
                           "launches may choose",
                           variant)
             : "";
}

/// Why warnings about all kernels of a module may be missing: something in it is not understood.
std::string why_unchecked(const Module &module) {
  if (module.version_major > newest_major)
    return fmt::format("PTX {}.{} is newer than any that is known here", module.version_major,
                       module.version_minor);
  if (module.sm / 10 > newest_target / 10)
    return fmt::format("the target `{}` is newer than any that is known here", module.target);
  // The assembler refuses a module for what is wrong in any of its functions.
  for (const Function &function : module.functions)
    for (const Instruction &instruction : function.instructions)
      if (const Opcode &opcode = module.opcode(instruction); !is_known(opcode))
        return fmt::format("line {}: `{}` is no instruction that is known", instruction.line,
                           opcode.text);
  return "";
}

/// Unrolled copies and instances of one place: the costliest is reported.
void keep_worst(std::vector<Told> &warnings) {
  std::vector<Told> worst;
  std::map<PlaceKey, std::size_t> places;
  for (Told &told : warnings) {
    const auto [at, is_new] = places.try_emplace(place_of(told), worst.size());
    if (is_new) {
      worst.push_back(std::move(told));
      continue;
    }
    Told *const found = &worst[at->second];
    const std::uint32_t copies = found->copies + 1;
    const double weight = found->weight + told.weight, share = found->share + told.share;
    if (told.cost > found->cost)
      *found = std::move(told);
    found->copies = copies;
    found->weight = weight;
    found->share = share;
  }
  warnings = std::move(worst);
}

/// The access that a warning is about; null: it is about something else.
const facts::Access *accessed(const facts::KernelFacts &facts, const lint::Warning &warning) {
  const bool shared = warning.code == lint::Code::bank_conflict;
  for (const facts::Access &access : facts.accesses())
    if (access.site.instruction == warning.instruction &&
        (access.space == StateSpace::shared) == shared)
      return &access;
  return nullptr;
}

/// The parameter or variable that an address begins at; empty if it is not just one.
std::string array_of(const facts::KernelFacts &facts, const facts::Access &access) {
  Emulation &emulation = facts.emulation();
  std::string array;
  for (const facts::Term &term : access.form.uniform) {
    Expr atom = term.atom;
    while (atom->kind == ExprKind::zext || atom->kind == ExprKind::sext ||
           (atom->kind == ExprKind::extract && atom->index == 0) || // of a shared address
           (atom->kind == ExprKind::uf && atom->child_count == 1))  // cvta
      atom = atom->children[0];
    if (atom->kind != ExprKind::symbol || term.factor != 1)
      continue;
    const auto field = emulation.parameter_field(atom);
    const std::string &symbol = emulation.pool().symbols()[atom->index].name;
    const std::string name = field && field->offset == 0 && field->width == 64
                                 ? std::string(field->parameter)
                             : symbol.starts_with('&') ? symbol.substr(1)
                                                       : std::string();
    if (!name.empty() && !array.empty())
      return "";
    if (!name.empty())
      array = name;
  }
  return array;
}

/// What one execution by a warp costs beyond the ideal, in sectors or passes that move as much.
double excess(const lint::Warning &warning, std::uint64_t ideal) {
  switch (warning.code) {
  case lint::Code::misaligned_vector:
    return wrong_weight; // it faults
  case lint::Code::wide_index:
    return 64; // some hundred instructions
  case lint::Code::division:
    return 8; // some twenty: 7.6 cycles of a multiprocessor of the H100 (`rate.divide_integer`)
  case lint::Code::local_memory:
    return 4; // sectors of four bytes a lane
  case lint::Code::reuse_thrashing:
    return 8; // of the sectors of an iteration, those that were there and are read again
  default:
    return static_cast<double>(warning.cost - std::min(warning.cost, ideal));
  }
}

/// What accesses cost a thread's warp from the beginning of the kernel to its end: sectors of
/// global memory, or wavefronts of shared memory.
class Moved {
public:
  Moved(const facts::KernelFacts &facts, const std::vector<lint::Warning> &warnings,
        lint::Times &times)
      : facts_(facts), warnings_(warnings), times_(times) {}

  /// The part that one access has in what all to its space cost; 0: not known, as an access that
  /// nobody warns of may cost anything.
  double share(const facts::Access &access) {
    const bool shared = access.space == StateSpace::shared;
    if (!facts_.cfg().well_formed() || (!shared && access.space != StateSpace::global))
      return 0;
    std::optional<double> &all = all_[shared];
    if (!all) {
      all = 0;
      for (const facts::Access &other : facts_.accesses())
        if (other.space == access.space) {
          const auto cost = cost_of(other);
          all = cost ? *all + *cost : unknown;
        }
    }
    return *all > 0 && *all < unknown ? *cost_of(access) / *all : 0;
  }

private:
  static constexpr double unknown = std::numeric_limits<double>::infinity();

  std::optional<double> cost_of(const facts::Access &access) {
    const bool shared = access.space == StateSpace::shared;
    const facts::Traffic &traffic = facts_.traffic(access);
    const facts::Count &count = shared ? traffic.wavefronts : traffic.sectors;
    const double rounds = rounds_of(facts_, access.site.instruction, times_);
    for (const lint::Warning &warning : warnings_)
      if (warning.instruction == access.site.instruction &&
          warning.code == (shared ? lint::Code::bank_conflict : lint::Code::uncoalesced))
        return rounds * static_cast<double>(warning.cost);
    if (count.verdict == facts::Verdict::unknown)
      return std::nullopt;
    return rounds * std::max(count.typical, count.least);
  }

  const facts::KernelFacts &facts_;
  const std::vector<lint::Warning> &warnings_;
  lint::Times &times_;
  std::optional<double> all_[2]; ///< of global, of shared memory
};

/// Adds what a warning costs and where it leads.
void add_costs(const facts::KernelFacts &facts, const lint::Warning &warning, lint::Times &times,
               Moved &moved, Told &told) {
  std::uint64_t ideal = 0;
  if (const facts::Access *access = accessed(facts, warning)) {
    const facts::Traffic &traffic = facts.traffic(*access);
    told.array = array_of(facts, *access);
    told.writes = access->site.kind != facts::AccessKind::load;
    told.share = moved.share(*access);
    if (warning.code == lint::Code::bank_conflict)
      ideal = traffic.ideal_wavefronts;
    if (warning.code == lint::Code::uncoalesced && warning.cost > 0) {
      ideal = traffic.ideal_sectors;
      const std::uint64_t bytes = std::min<std::uint64_t>(
          ideal * facts::sector_bytes, std::uint64_t{traffic.lanes} * access->site.bytes);
      told.usage = fmt::format("{} of {} bytes of each sector are used",
                               (bytes + warning.cost - 1) / warning.cost, facts::sector_bytes);
    }
  }
  if (facts.cfg().well_formed())
    told.weight = excess(warning, ideal) * rounds_of(facts, warning.instruction, times);
}

/// All warnings of a kernel that are wanted, except those of the rewriter.
void add_warnings(const Places &places, const LintChoices &choices, KernelLint &kernel) {
  const facts::KernelFacts &facts = *kernel.facts;
  const KernelContext context(facts.module(), facts.function(), facts.cfg());
  std::optional<lint::Times> times; // when it is needed
  std::vector<Told> hidden;
  const std::vector<lint::Warning> warnings = lint::warnings_of(facts, choices.options);
  std::optional<Moved> moved;
  for (const lint::Warning &warning : warnings) {
    const Instruction &instruction = facts.function().instructions[warning.instruction];
    const bool silenced = choices.is_silenced(warning.code, kernel.name, is_called);
    if (silenced && !choices.is_hidden(warning.code))
      continue;
    Told told;
    told.code = warning.code;
    told.line = instruction.line;
    told.source = places.of(instruction);
    told.cost = warning.cost;
    // As compilers have it, of headers that the user does not write nothing is told.
    if (silenced || (!choices.toolkit && told.source && is_toolkits(told.source->file))) {
      hidden.push_back(std::move(told));
      continue;
    }
    told.inlined_at = places.inlined_at(instruction);
    told.message = warning.message;
    told.note = warning.note;
    if (warning.block != 0 && has_one_row(facts.layout()))
      told.note += resized_note(context, warning.block);
    if (!times) {
      times.emplace(facts);
      moved.emplace(facts, warnings, *times);
    }
    add_costs(facts, warning, *times, *moved, told);
    kernel.warnings.push_back(std::move(told));
  }
  keep_worst(hidden);
  kernel.hidden = hidden.size();
}

} // namespace

std::vector<KernelLint> lint_module(const Module &module, const Places &places,
                                    const LintQuery &query) {
  const LintChoices &choices = query.choices;
  std::vector<KernelLint> kernels;
  const std::string unchecked = why_unchecked(module);
  for (const Function &function : module.functions) {
    if (!function.is_entry || !function.has_body || !wanted(query, function.name))
      continue;
    KernelLint kernel;
    kernel.name = function.name;
    kernel.facts = std::make_unique<facts::KernelFacts>(
        module, function,
        facts::Assumptions{.block = query.block,
                           .base_alignment = choices.base_alignment,
                           .parameters = query.parameters ? query.parameters(function)
                                                          : std::map<std::string, std::int64_t>(),
                           .index_is_positive = true});
    kernel.unchecked = unchecked;
    if (unchecked.empty() && !kernel.facts->complete())
      kernel.unchecked = "it is too large, or its control flow is not understood";
    add_warnings(places, choices, kernel);
    kernels.push_back(std::move(kernel));
  }
  if (choices.on[static_cast<std::size_t>(lint::Code::redundant_load)])
    add_redundant(module, places, query, kernels);
  if (choices.on[static_cast<std::size_t>(lint::Code::races)])
    add_races(module, places, query, kernels);
  for (KernelLint &kernel : kernels) {
    if (query.allowances)
      kernel.allowed = std::erase_if(kernel.warnings, [&](const Told &told) {
        return query.allowances->allow(told.code, told.source, told.inlined_at, module, told.line);
      });
    std::stable_sort(kernel.warnings.begin(), kernel.warnings.end(),
                     [](const Told &a, const Told &b) { return a.line < b.line; });
    for (Told &told : kernel.warnings)
      told.error = choices.error[static_cast<std::size_t>(told.code)];
    keep_worst(kernel.warnings);
  }
  return kernels;
}

double rounds_of(const facts::KernelFacts &facts, std::uint32_t instruction, lint::Times &times) {
  constexpr double unknown_loop = 32;
  const ControlFlowGraph &cfg = facts.cfg();
  const BlockId block = cfg.block_of(instruction);
  if (const auto text = times.of(block);
      text && text->size() < 16 && text->find_first_not_of("0123456789") == std::string::npos)
    return std::stod(*text);
  double rounds = 1;
  for (LoopId loop = cfg.loop_of(block); loop != no_index; loop = cfg.loops()[loop].parent)
    rounds *= unknown_loop;
  return rounds;
}

std::vector<std::string> not_checked(const std::vector<KernelLint> &kernels) {
  if (kernels.empty())
    return {"there is no kernel, so nothing was checked"};
  std::vector<std::string> result;
  for (const KernelLint &kernel : kernels)
    if (!kernel.unchecked.empty())
      result.push_back(
          fmt::format("kernel `{}` was not checked: {}", kernel.name, kernel.unchecked));
  return result;
}

bool has_errors(const std::vector<KernelLint> &kernels) {
  return std::any_of(kernels.begin(), kernels.end(), [](const KernelLint &kernel) {
    return std::any_of(kernel.warnings.begin(), kernel.warnings.end(),
                       [](const Told &told) { return told.error; });
  });
}

} // namespace ptxasw::wrapper
