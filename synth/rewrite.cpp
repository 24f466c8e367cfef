#include "synth/rewrite.h"

#include "emulator/emulate.h"
#include "grammar/module.h"
#include "synth/decide.h"
#include "synth/detect.h"
#include "synth/emit.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace ptxasw {
namespace {

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
std::optional<Reason> module_obstacle(const Module &module, const Decision &decision,
                                      const RewriteOptions &options) {
  if (options.shuffle == ShuffleMode::never)
    return Reason::not_selected;
  if (module.debug)
    return Reason::debug_module;
  // activemask came with PTX 6.2, shfl.sync before it, both for sm_30 and up (PTX ISA 9.7.9.6).
  if (module.sm < 30 || module.version_major * 10 + module.version_minor < 62)
    return Reason::target_too_old;
  if (!decision.shuffle)
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

/// Whether there are two loads of which one might reuse the other's value: otherwise nothing needs
/// to be emulated.
bool has_candidates(const Module &module, const Function &function, const Widths &widths) {
  unsigned count = 0;
  for (const Instruction &instruction : function.instructions)
    count += candidate(module, function, instruction, widths).eligible;
  return count >= 2;
}

// `options.widths` is set.
void rewrite_kernel(const Module &module, const Function &function, const RewriteOptions &options,
                    const std::string &prefix, Edits &edits, KernelReport &report) {
  Stopwatch watch;
  const LaunchFacts facts = launch_facts(function, options.assume_block);
  Emulation emulation(module, function, facts);
  report.milliseconds.push_back({"emulate", watch.lap()});
  report.flows = emulation.flows();
  if (!emulation.complete()) {
    keep_all(module, function, *options.widths, Reason::budget, report);
    return;
  }
  const Detection detection = detect(module, function, emulation, options);
  report.milliseconds.push_back({"detect", watch.lap()});
  report.loads = detection.loads;
  report.z3_contexts = detection.solver_contexts;
  for (const KeptLoad &kept : detection.kept) {
    const Instruction &instruction = function.instructions[kept.load];
    report.kept.push_back({instruction.line, source_line(module, instruction), kept.reason});
  }
  int total = 0;
  for (const Reuse &reuse : detection.reuses) {
    const Instruction &load = function.instructions[reuse.load];
    (reuse.is_copy() ? report.copies : report.shuffles) += 1;
    total += std::abs(reuse.delta());
    report.rewrites.push_back({load.line, source_line(module, load), reuse.delta(),
                               reuse.is_copy() ? "copy" : "shuffle",
                               function.instructions[reuse.elements[0].source].line});
  }
  if (detection.reuses.empty())
    return;
  report.mean_delta = static_cast<double>(total) / static_cast<double>(detection.reuses.size());
  if (detection.assumed_no_wrap)
    report.assumptions.push_back("no-wrap");
  if (detection.assumed_no_alias)
    report.assumptions.push_back("no-alias");
  if (facts.block_assumed)
    report.assumptions.push_back("block-shape");
  emit(module, function, emulation.cfg(), detection, facts, options.variant, prefix, edits);
  report.milliseconds.push_back({"emit", watch.lap()});
}

} // namespace

tl::expected<RewriteResult, Diagnostic>
rewrite_module(std::string_view text, std::string_view file_name, const RewriteOptions &options) {
  Stopwatch watch;
  auto parsed = parse(std::string(text), file_name);
  if (!parsed)
    return tl::unexpected(std::move(parsed.error()));
  const Module &module = **parsed;
  RewriteResult result;
  result.report.file = file_name;
  result.report.parse_milliseconds = watch.lap();
  const unsigned sm = options.target_sm ? static_cast<unsigned>(options.target_sm) : module.sm;
  const Decision decision = decide(options.shuffle, sm);
  result.report.target = fmt::format("sm_{}", sm);
  result.report.decision = decision.reason;
  const std::optional<Reason> obstacle = module_obstacle(module, decision, options);
  const std::string prefix = obstacle ? std::string() : fresh_prefix(module);
  RewriteOptions resolved = options;
  resolved.widths = options.widths.value_or(decision.widths);
  Edits edits;
  for (const Function &function : module.functions) {
    if (!function.has_body)
      continue;
    KernelReport report;
    report.name = function.name;
    const bool selected =
        options.kernels.empty() || std::find(options.kernels.begin(), options.kernels.end(),
                                             function.name) != options.kernels.end();
    if (obstacle || !selected)
      keep_all(module, function, *resolved.widths, obstacle ? *obstacle : Reason::not_selected,
               report);
    else if (!has_candidates(module, function, *resolved.widths))
      keep_all(module, function, *resolved.widths, Reason::no_source, report);
    else
      rewrite_kernel(module, function, resolved, prefix, edits, report);
    result.report.kernels.push_back(std::move(report));
  }
  result.changed = !edits.empty();
  result.text = result.changed ? edits.apply(module.text()) : std::string(module.text());
  return result;
}

} // namespace ptxasw
