// The passes over a module in their order: emulate and detect each kernel, choose, emit, prove,
// withdraw what is not proved and begin again with the rest, decide by what is left if it pays.

#include "synth/rewrite.h"

#include "emulator/symbolic/emulate.h"
#include "emulator/symbolic/generic.h"
#include "grammar/module.h"
#include "synth/in_kernel/in_kernel.h"
#include "synth/proof/candidate.h"
#include "synth/proof/prove.h"
#include "synth/shuffle/decide.h"
#include "synth/shuffle/detect.h"
#include "synth/shuffle/plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace ptxasw::synth {
namespace {

/// Times that a module is emitted and proved; what is still unproved then takes its whole kernel
/// back.
constexpr int proof_rounds = 3;

/// What reasons are called and mean.
struct ReasonText {
  std::string_view name, meaning;
};
constexpr ReasonText reason_texts[] = {
#define PTXASW_REASON(enumerator, name, meaning) {name, meaning},
#include "synth/reasons.def"
#undef PTXASW_REASON
};

/// Milliseconds since it was made or last read.
class Stopwatch {
public:
  double lap() {
    const auto now = Clock::now();
    const std::chrono::duration<double, std::milli> passed = now - start_;
    start_ = now;
    return passed.count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

std::optional<SourceLine> source_line(const Module &module, const Instruction &instruction) {
  if (instruction.location == no_index)
    return std::nullopt;
  const Location &location = module.locations[instruction.location];
  const auto file = module.files.find(location.file);
  return SourceLine{file == module.files.end() ? std::string() : std::string(file->second),
                    location.line};
}

/// Why no kernel of the module is rewritten; nothing if they may be.
std::optional<Reason> reason_for_all(const Module &module, const Decision &decision,
                                     const RewriteOptions &options) {
  if (options.shuffle == ShuffleMode::never)
    return Reason::not_selected;
  if (module.debug)
    return Reason::debug_module;
  // activemask came with PTX 6.2, shfl.sync before it, both for sm_30 and up (PTX ISA 9.7.9.6).
  if (module.sm < 30 || module.version_major * 10 + module.version_minor < 62)
    return Reason::target_too_old;
  if (!decision.shuffle && !options.count_declined)
    return Reason::target_decision;
  return std::nullopt;
}

void keep_all(const Module &module, const Function &function, const Widths &widths, Reason reason,
              KernelReport &report) {
  report.kept.clear();
  report.loads = 0;
  for (const Instruction &instruction : function.instructions) {
    const Candidate kind = candidate(module, function, instruction, widths);
    if (!kind.is_global_load)
      continue;
    report.loads += kind.eligible;
    report.kept.push_back(
        {instruction.line, source_line(module, instruction), kind.eligible ? reason : kind.reason});
  }
}

/// Returns true if there are two loads of which one might reuse the other's value: otherwise
/// nothing needs to be emulated.
bool has_candidates(const Module &module, const Function &function, const Widths &widths) {
  unsigned count = 0;
  for (const Instruction &instruction : function.instructions)
    count += candidate(module, function, instruction, widths).eligible;
  return count >= 2;
}

/// A kernel that is rewritten: what was found, and what emission needs of its emulation.
struct Plan {
  std::size_t function = 0;
  std::size_t report = 0; ///< index in ModuleReport::kernels
  LaunchFacts facts;
  ControlFlowGraph cfg;
  Detection detection;
  std::map<std::uint32_t, unsigned> numbers; ///< of the rewrites, by load
};

/// The rewrites of a module that are wanted; nothing if the module is not.
std::optional<std::vector<RewriteRange>> wanted_rewrites(const RewriteOptions &options,
                                                         const std::string &module) {
  std::vector<RewriteRange> ranges{options.range};
  if (options.modules.empty())
    return ranges;
  for (const ModuleChoice &choice : options.modules)
    if (choice.module == module) {
      ranges.push_back(choice.range);
      return ranges;
    }
  return std::nullopt;
}

/// Numbers the rewrites of the kernels and keeps those that are not wanted.
void choose(const std::vector<RewriteRange> &wanted, std::vector<Plan> &plans) {
  unsigned number = 0;
  for (Plan &plan : plans) {
    auto &reuses = plan.detection.reuses;
    std::sort(reuses.begin(), reuses.end(),
              [](const Reuse &a, const Reuse &b) { return a.load < b.load; });
    for (const Reuse &reuse : reuses)
      plan.numbers[reuse.load] = ++number;
    std::erase_if(reuses, [&](const Reuse &reuse) {
      const bool chosen = std::all_of(wanted.begin(), wanted.end(), [&](const RewriteRange &range) {
        return range.contains(plan.numbers.at(reuse.load));
      });
      if (!chosen)
        plan.detection.kept.push_back({reuse.load, Reason::not_selected});
      return !chosen;
    });
  }
}

// `options.widths` is set.
std::optional<Plan> plan_kernel(const Module &module, const Function &function,
                                const RewriteOptions &options, const GenericAddresses &generic,
                                KernelReport &report) {
  Stopwatch watch;
  const LaunchFacts facts = launch_facts(function, options.assume_block);
  Emulation emulation(module, function, facts);
  report.milliseconds.push_back({"emulate", watch.lap()});
  report.undecided_branches = emulation.undecided_branches();
  if (!emulation.complete()) {
    keep_all(module, function, *options.widths, Reason::budget, report);
    return std::nullopt;
  }
  Detection detection = detect(module, function, emulation, options, generic);
  report.milliseconds.push_back({"detect", watch.lap()});
  report.loads = detection.loads;
  report.expressions = emulation.effort().expressions;
  return Plan{0, 0, facts, emulation.cfg(), std::move(detection), {}};
}

unsigned target_of(const Module &module, const RewriteOptions &options) {
  return options.target_sm ? static_cast<unsigned>(options.target_sm) : module.sm;
}

/// What could be replaced in each kernel, before anything of it is written; what is not even looked
/// at gets its report. Fills in what `options` leaves to the target.
std::vector<Plan> plan_module(const Module &module, std::string_view file_name,
                              const Decision &decision, RewriteOptions &options,
                              ModuleReport &report) {
  report.file = file_name;
  report.target = fmt::format("sm_{}", target_of(module, options));
  report.decision = decision.reason;
  report.module = module_number(module.text());
  const auto wanted = wanted_rewrites(options, report.module);
  const std::optional<Reason> obstacle =
      wanted ? reason_for_all(module, decision, options) : Reason::not_selected;
  options.widths = options.widths.value_or(decision.widths);
  std::optional<GenericAddresses> generic;
  if (!obstacle)
    generic.emplace(module);
  std::vector<Plan> plans;
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    const Function &function = module.functions[f];
    if (!function.has_body)
      continue;
    KernelReport kernel;
    kernel.name = function.name;
    if (obstacle || !is_selected(function, options.kernels))
      keep_all(module, function, *options.widths, obstacle ? *obstacle : Reason::not_selected,
               kernel);
    else if (!has_candidates(module, function, *options.widths))
      keep_all(module, function, *options.widths, Reason::no_source, kernel);
    else if (auto plan = plan_kernel(module, function, options, *generic, kernel)) {
      plan->function = f;
      plan->report = report.kernels.size();
      plans.push_back(std::move(*plan));
    }
    report.kernels.push_back(std::move(kernel));
  }
  if (wanted)
    choose(*wanted, plans);
  return plans;
}

ReuseCounts counts_of(const Detection &detection) {
  ReuseCounts counts;
  int total = 0;
  for (const Reuse &reuse : detection.reuses) {
    (reuse.is_copy() ? counts.copies : counts.shuffles) += 1;
    total += std::abs(reuse.delta());
  }
  if (!detection.reuses.empty())
    counts.mean_delta = static_cast<double>(total) / static_cast<double>(detection.reuses.size());
  return counts;
}

/// Returns true if a load for which there is no source may be one.
bool stays_by_itself(Reason reason) {
  return reason == Reason::no_source || reason == Reason::joined_address ||
         reason == Reason::loop_carried;
}

/// Returns true if a load's value stands in for that of another one.
bool serves(const std::vector<Reuse> &reuses, std::uint32_t load) {
  return std::any_of(reuses.begin(), reuses.end(),
                     [&](const Reuse &reuse) { return reuse.sources().contains(load); });
}

void fill_report(const Module &module, const Plan &plan, KernelReport &report) {
  const Function &function = module.functions[plan.function];
  const Detection &detection = plan.detection;
  for (const KeptLoad &kept : detection.kept) {
    const Instruction &instruction = function.instructions[kept.load];
    const bool is_source = stays_by_itself(kept.reason) && serves(detection.reuses, kept.load);
    report.kept.push_back({instruction.line, source_line(module, instruction),
                           is_source ? Reason::is_source : kept.reason, kept.detail,
                           kept.obligation});
  }
  const ReuseCounts counts = counts_of(detection);
  report.shuffles = counts.shuffles;
  report.copies = counts.copies;
  report.mean_delta = counts.mean_delta;
  for (const Reuse &reuse : detection.reuses) {
    const Instruction &load = function.instructions[reuse.load];
    RewriteRecord record{plan.numbers.at(reuse.load),
                         load.line,
                         source_line(module, load),
                         reuse.delta(),
                         reuse.is_copy() ? "copy" : "shuffle",
                         function.instructions[reuse.elements[0].source.load].line};
    for (const std::uint32_t source : reuse.sources())
      record.sources.push_back(
          {function.instructions[source].line, source_line(module, function.instructions[source])});
    report.rewrites.push_back(std::move(record));
  }
  if (detection.reuses.empty())
    return;
  if (detection.assumed_no_wrap)
    report.assumptions.push_back("no-wrap");
  if (detection.assumed_no_alias)
    report.assumptions.push_back("no-alias");
  if (plan.facts.block_assumed)
    report.assumptions.push_back("block-shape");
}

/// Keeps the loads whose replacement was not proved; if `whole_kernels`, all of their kernels.
/// Returns true if there were none.
bool take_back_unproved(const std::vector<FunctionProof> &proofs, bool whole_kernels,
                        std::vector<Plan> &plans) {
  bool all_proved = true;
  for (Plan &plan : plans) {
    const std::vector<Unproved> &unproved = proofs[plan.function].unproved;
    if (unproved.empty())
      continue;
    all_proved = false;
    std::erase_if(plan.detection.reuses, [&](const Reuse &reuse) {
      const auto why = std::find_if(unproved.begin(), unproved.end(),
                                    [&](const Unproved &one) { return one.load == reuse.load; });
      if (why == unproved.end() && !whole_kernels)
        return false;
      const proof::NotProved missing =
          why == unproved.end() ? unmet(Obligation::lined_up, "others in the kernel are not proved")
                                : why->missing;
      plan.detection.kept.push_back({reuse.load, Reason::unproved, missing.why, missing.part});
      return true;
    });
  }
  return all_proved;
}

/// Writes the plans out, proves the result and takes back what cannot be proved, until all that is
/// left is proved. The text and its lines are empty if nothing is left.
void emit_and_prove(const Module &module, const RewriteOptions &options, const Prover &prover,
                    std::vector<Plan> &plans, RewriteResult &result) {
  const std::string prefix = fresh_prefix(module);
  std::vector<double> emission(plans.size(), 0), proof(plans.size(), 0); // milliseconds
  ModuleReport &report = result.report;
  std::string &text = result.text;
  // What is taken back may have been another load's source or moved one: everything is emitted and
  // proved again.
  for (int round = 0; round <= proof_rounds; ++round) {
    Edits edits;
    std::vector<std::vector<std::uint32_t>> replaced(module.functions.size());
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const Plan &plan = plans[i];
      if (plan.detection.reuses.empty())
        continue;
      Stopwatch watch;
      const Function &function = module.functions[plan.function];
      emit(module, function,
           restrict_to(options.variant, plan_shuffles(module, function, plan.cfg, plan.detection)),
           plan.facts, prefix, edits);
      emission[i] += watch.lap();
      for (const Reuse &reuse : plan.detection.reuses)
        replaced[plan.function].push_back(reuse.load);
      std::sort(replaced[plan.function].begin(), replaced[plan.function].end());
    }
    if (edits.empty()) {
      text.clear();
    } else if (auto edited = edits.apply(module.text())) {
      text = std::move(*edited);
      result.lines = edits.lines(module.text());
    } else { // what was written cannot stand side by side: nothing of it does
      std::vector<FunctionProof> none(module.functions.size());
      for (std::size_t f = 0; f < none.size(); ++f)
        for (const std::uint32_t load : replaced[f])
          none[f].unproved.push_back({load, unmet(Obligation::lined_up, "edits overlap")});
      take_back_unproved(none, true, plans);
      text.clear();
    }
    // The other variants are wrong on purpose; and after the last iteration there is nothing left
    // that was not proved.
    if (text.empty() || options.variant != Variant::full || round == proof_rounds)
      break;
    const std::vector<FunctionProof> proofs = prover(module, text, replaced, options);
    for (std::size_t i = 0; i < plans.size(); ++i)
      proof[i] += proofs[plans[i].function].milliseconds;
    if (take_back_unproved(proofs, round == proof_rounds - 1, plans))
      break;
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    auto &passes = report.kernels[plans[i].report].milliseconds;
    if (emission[i] > 0)
      passes.push_back({"emit", emission[i]});
    if (proof[i] > 0)
      passes.push_back({"prove", proof[i]});
  }
}

/// Keeps the kernels to which the decision does not apply. Returns true if there were any.
bool decline(const Decision &decision, std::vector<Plan> &plans) {
  bool any = false;
  for (Plan &plan : plans) {
    if (plan.detection.reuses.empty() || decision.applies(counts_of(plan.detection)))
      continue;
    any = true;
    for (KeptLoad &kept : plan.detection.kept)
      if (stays_by_itself(kept.reason) && serves(plan.detection.reuses, kept.load))
        kept.reason = Reason::is_source;
    for (const Reuse &reuse : plan.detection.reuses)
      plan.detection.kept.push_back({reuse.load, Reason::target_decision});
    plan.detection.reuses.clear();
  }
  return any;
}

/// Puts siblings into the kernels of what has become of the module. A kernel that shuffles is none
/// that can have one.
void put_in_kernels(const Module &module, const RewriteOptions &options, RewriteResult &result) {
  if (options.in_kernel.empty() || options.variant != Variant::full)
    return;
  std::unique_ptr<Module> rewritten;
  if (result.changed) {
    auto parsed = parse(result.text, result.report.file);
    if (!parsed)
      return;
    rewritten = std::move(*parsed);
  }
  Stopwatch watch;
  InKernelResult made = replace_in_kernel(
      rewritten ? *rewritten : module,
      {.kernels = options.kernels, .variants = options.in_kernel, .block = options.assume_block});
  const double milliseconds = watch.lap();
  for (const InKernelOutcome &outcome : made.kernels)
    for (KernelReport &kernel : result.report.kernels) {
      if (kernel.name != outcome.kernel)
        continue;
      kernel.in_kernel.emplace(outcome);
      if (!outcome.variant.empty() && outcome.block_assumed)
        kernel.assumptions.emplace_back("block-shape");
      kernel.milliseconds.push_back({"in-kernel", milliseconds});
    }
  if (!made.changed)
    return;
  if (rewritten) // both steps' lines in one
    for (std::uint32_t &line : made.lines)
      line = line < result.lines.size() ? result.lines[line] : line;
  result.text = std::move(made.text);
  result.lines = std::move(made.lines);
  result.changed = true;
}

} // namespace

std::string_view to_string(Reason reason) {
  return reason_texts[static_cast<std::size_t>(reason)].name;
}
std::string_view describe(Reason reason) {
  return reason_texts[static_cast<std::size_t>(reason)].meaning;
}

// FNV-1a of 64 bits. It tells texts apart by accident, not against an adversary.
std::string module_number(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text)
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

tl::expected<RewriteResult, Diagnostic> rewrite_module(std::string_view text,
                                                       std::string_view file_name,
                                                       const RewriteOptions &options,
                                                       const Prover &prover) {
  Stopwatch watch;
  auto parsed = parse(std::string(text), file_name);
  if (!parsed)
    return tl::unexpected(std::move(parsed.error()));
  const double parsing = watch.lap();
  RewriteResult result = rewrite_module(**parsed, file_name, options, prover ? prover : prove);
  result.report.parse_milliseconds = parsing;
  return result;
}

RewriteResult rewrite_module(const Module &module, std::string_view file_name,
                             const RewriteOptions &options, const Prover &prover,
                             std::vector<FunctionDetection> *detections) {
  RewriteResult result;
  RewriteOptions resolved = options;
  const Decision decision = decide(options.shuffle, target_of(module, options));
  std::vector<Plan> plans = plan_module(module, file_name, decision, resolved, result.report);
  emit_and_prove(module, resolved, prover, plans, result);
  if (decline(decision, plans))
    emit_and_prove(module, resolved, prover, plans, result);
  for (Plan &plan : plans) {
    fill_report(module, plan, result.report.kernels[plan.report]);
    if (detections)
      detections->push_back({plan.function, std::move(plan.detection)});
  }
  result.changed = !result.text.empty();
  if (!result.changed) {
    result.text = module.text();
    result.lines.clear();
  }
  put_in_kernels(module, resolved, result);
  return result;
}

std::vector<FunctionDetection> find_reuses(const Module &module, RewriteOptions options) {
  options.shuffle = ShuffleMode::always;
  options.move_sources = false; // only what has been loaded before
  ModuleReport report;
  std::vector<FunctionDetection> result;
  const Decision decision = decide(options.shuffle, target_of(module, options));
  for (Plan &plan : plan_module(module, "", decision, options, report))
    result.push_back({plan.function, std::move(plan.detection)});
  return result;
}

} // namespace ptxasw::synth
