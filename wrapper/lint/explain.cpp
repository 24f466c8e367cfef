// What the detector found, reported for every load; nothing here decides anything.

#include "wrapper/lint/explain.h"

#include "emulator/facts/kernel_facts.h"
#include "emulator/symbolic/emulate.h"
#include "synth/kernel_context.h"
#include "synth/proof/candidate.h"
#include "synth/proof/prove.h"
#include "synth/shuffle/detect.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace ptxasw::wrapper {
namespace {

LoadExplanation explain_load(const Module &module, const Function &function, Emulation &emulation,
                             const MemoryAccess &access) {
  const Instruction &instruction = function.instructions[access.instruction];
  LoadExplanation result;
  result.line = instruction.line;
  result.text = module.text(instruction.span);
  std::replace_if(
      result.text.begin(), result.text.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
  if (access.address) {
    const Expr address = emulation.expand(access.address);
    result.address = to_string(emulation.pool(), address);
  }
  return result;
}

void add_reuse(const Function &function, const Reuse &reuse, LoadExplanation &load) {
  load.delta = reuse.delta();
  load.source_line = function.instructions[reuse.elements[0].source.load].line;
  if (!reuse.is_copy())
    load.tests = {"all 32 lanes active", "the source's lane in the same row of the same warp"};
  for (const WrapTest &test : reuse.wrap_tests)
    load.tests.push_back(fmt::format("{} {:+} does not wrap ({})",
                                     function.registers[test.where.reg].name, test.offset,
                                     test.is_signed ? "signed" : "unsigned"));
  for (const DistanceTest &test : reuse.distance_tests)
    load.tests.push_back(fmt::format("its base register is {} bytes above that of line {}",
                                     test.distance, function.instructions[test.source].line));
  for (const std::uint32_t store : reuse.store_tests)
    load.tests.push_back(fmt::format("the store of line {} did not write what is loaded",
                                     function.instructions[store].line));
}

KernelExplanation explain_kernel(const Module &module, const Function &function,
                                 const RewriteOptions &options, const Detection *detection,
                                 const KernelReport &report) {
  KernelExplanation result;
  result.name = function.name;
  Emulation emulation(module, function, launch_facts(function, options.assume_block));
  const facts::KernelFacts facts(module, function,
                                 {.block = options.assume_block, .index_is_positive = true});
  std::map<std::uint32_t, const facts::Access *> accesses; // the first of an instruction
  for (const facts::Access &access : facts.accesses())
    accesses.emplace(access.site.instruction, &access);
  std::multimap<std::uint32_t, const Reuse *> reuses;
  if (detection)
    for (const Reuse &reuse : detection->reuses)
      reuses.emplace(reuse.load, &reuse);
  std::map<std::uint32_t, const KeptRecord *> kept; // the last of a line
  for (const KeptRecord &record : report.kept)
    kept[record.line] = &record;
  for (const MemoryAccess &access : emulation.trace()) {
    const Candidate kind =
        candidate(module, function, function.instructions[access.instruction], Widths());
    if (!kind.is_load())
      continue;
    LoadExplanation load = explain_load(module, function, emulation, access);
    if (const auto found = accesses.find(access.instruction); found != accesses.end())
      load.lane_stride = found->second->form.is_uniform() ? 0 : facts.lane_stride(*found->second);
    const auto [first, last] = reuses.equal_range(access.instruction);
    for (auto reuse = first; reuse != last; ++reuse)
      add_reuse(function, *reuse->second, load);
    if (const auto found = kept.find(load.line); found != kept.end()) {
      load.reason = found->second->reason;
      load.detail = found->second->detail;
      load.obligation = found->second->obligation;
    }
    result.loads.push_back(std::move(load));
  }
  return result;
}

} // namespace

std::vector<KernelExplanation> explain(const Module &module, RewriteOptions options) {
  options.shuffle = ShuffleMode::always;
  std::vector<FunctionDetection> detections;
  const RewriteResult rewritten = rewrite_module(module, "", options, prove, &detections);
  std::vector<KernelExplanation> result;
  std::size_t next = 0; // of the report: the functions with bodies
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    const Function &function = module.functions[f];
    if (!function.has_body)
      continue;
    const KernelReport &report = rewritten.report.kernels[next++];
    if (!is_selected(function, options.kernels))
      continue;
    const auto found = std::find_if(detections.begin(), detections.end(),
                                    [&](const FunctionDetection &d) { return d.function == f; });
    result.push_back(explain_kernel(module, function, options,
                                    found == detections.end() ? nullptr : &found->detection,
                                    report));
  }
  return result;
}

} // namespace ptxasw::wrapper
