// Findings of all analyses become one list with places, sorted by cost; several copies of one place
// in the source count as one, the costliest.

#include "wrapper/lint/collect.h"

#include "synth/resize/resize.h"
#include "synth/shuffle/detect.h"

#include "emulator/semantics/effects.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::inline wrapper {
namespace {

constexpr unsigned newest_major = 9; ///< of the PTX ISA: CUDA 13 has 9.0 and what follows it

bool wanted(const LintQuery &query, std::string_view name) {
  return query.kernels.empty() ||
         std::find(query.kernels.begin(), query.kernels.end(), name) != query.kernels.end();
}

/// Loads whose value the thread or its warp already has.
void add_redundant(const Module &module, const LintQuery &query, std::vector<KernelLint> &kernels) {
  RewriteOptions how;
  how.assume_block = query.block;
  how.kernels = query.kernels;
  for (const FunctionDetection &found : find_reuses(module, how)) {
    const Function &function = module.functions[found.function];
    const auto kernel = std::find_if(kernels.begin(), kernels.end(), [&](const KernelLint &other) {
      return other.name == function.name;
    });
    if (kernel == kernels.end())
      continue;
    for (const Reuse &reuse : found.detection.reuses) {
      const std::uint32_t source = function.instructions[reuse.elements[0].source].line;
      const bool own = reuse.lane().is_own();
      Told told;
      told.code = lint::Code::redundant_load;
      told.line = function.instructions[reuse.load].line;
      told.message =
          own ? fmt::format("the thread itself has loaded this value, in line {} of the PTX",
                            source)
              : fmt::format("{} of the warp has loaded this value, in line {} of the PTX",
                            to_string(reuse.lane()), source);
      told.note = own ? "keep it in a variable"
                      : "a shuffle could pass it on; on GPUs since Volta that is no faster than "
                        "the load, which hits the cache";
      kernel->warnings.push_back(std::move(told));
    }
  }
}

bool same_place(const Told &a, const Told &b) {
  return a.code == b.code && (a.source ? a.source == b.source : !b.source && a.line == b.line);
}

/// Returns true if a block's threads are those along x.
bool has_one_row(const facts::Layout &layout) {
  return layout.symbolic || (layout.shape.y == 1 && layout.shape.z == 1);
}

/// What helps where blocks of another extent along x would, of a kernel that may have them.
std::string resized_note(const Module &module, const Function &function, std::uint32_t block) {
  const FamilyAnswer answer = propose_resize(module, function);
  const std::string variant = fmt::format("b{}", block);
  const bool fits = std::any_of(answer.proposals.begin(), answer.proposals.end(),
                                [&](const Proposal &one) { return one.variant == variant; });
  return fits
             ? fmt::format("; `ptxasw siblings --resize={}` makes a version for such blocks, which "
                           "launches may choose",
                           variant)
             : "";
}

/// Why warnings about a kernel may be missing: it, or something in it, is not understood.
std::string why_unchecked(const facts::KernelFacts &facts) {
  const Module &module = facts.module();
  if (module.version_major > newest_major)
    return fmt::format("PTX {}.{} is newer than any that is known here", module.version_major,
                       module.version_minor);
  for (const Instruction &instruction : facts.function().instructions)
    if (const Opcode &opcode = module.opcode(instruction); !is_known(opcode))
      return fmt::format("line {}: `{}` is no instruction that is known", instruction.line,
                         opcode.text);
  return facts.complete() ? "" : "it is too large, or its control flow is not understood";
}

/// Unrolled copies and instances of one place: the costliest is reported.
void keep_worst(std::vector<Told> &warnings) {
  std::vector<Told> kept;
  for (Told &told : warnings) {
    const auto found = std::find_if(kept.begin(), kept.end(),
                                    [&](const Told &other) { return same_place(told, other); });
    if (found == kept.end())
      kept.push_back(std::move(told));
    else if (told.cost > found->cost)
      *found = std::move(told);
  }
  warnings = std::move(kept);
}

} // namespace

std::vector<KernelLint> lint_module(const Module &module, const Places &places,
                                    const LintQuery &query) {
  const LintChoices &choices = query.choices;
  std::vector<KernelLint> kernels;
  for (const Function &function : module.functions) {
    if (!function.is_entry || !function.has_body || !wanted(query, function.name))
      continue;
    KernelLint kernel{std::string(function.name), nullptr, {}, {}};
    kernel.facts = std::make_unique<facts::KernelFacts>(
        module, function,
        facts::Assumptions{.block = query.block,
                           .base_alignment = choices.base_alignment,
                           .parameters = query.parameters ? query.parameters(function)
                                                          : std::map<std::string, std::int64_t>(),
                           .index_is_positive = true});
    kernel.unchecked = why_unchecked(*kernel.facts);
    for (lint::Warning &warning : lint::warnings_of(*kernel.facts, choices.options)) {
      Told told;
      told.code = warning.code;
      told.line = function.instructions[warning.instruction].line;
      told.message = std::move(warning.message);
      told.note = std::move(warning.note);
      if (warning.block != 0 && has_one_row(kernel.facts->layout()))
        told.note += resized_note(module, function, warning.block);
      told.cost = warning.cost;
      kernel.warnings.push_back(std::move(told));
    }
    kernels.push_back(std::move(kernel));
  }
  if (choices.on[static_cast<std::size_t>(lint::Code::redundant_load)])
    add_redundant(module, query, kernels);
  for (KernelLint &kernel : kernels) {
    std::erase_if(kernel.warnings,
                  [&](const Told &told) { return choices.is_silenced(told.code, kernel.name); });
    std::stable_sort(kernel.warnings.begin(), kernel.warnings.end(),
                     [](const Told &a, const Told &b) { return a.line < b.line; });
    const auto &instructions = kernel.facts->function().instructions;
    for (Told &told : kernel.warnings) {
      told.error = choices.error[static_cast<std::size_t>(told.code)];
      const auto at = std::find_if(instructions.begin(), instructions.end(),
                                   [&](const Instruction &i) { return i.line == told.line; });
      if (at == instructions.end())
        continue;
      told.source = places.of(*at);
      told.inlined_at = places.inlined_at(*at);
    }
    keep_worst(kernel.warnings);
  }
  return kernels;
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

std::vector<std::pair<std::string, Told>> merged(const std::vector<KernelLint> &kernels) {
  std::vector<std::pair<std::string, Told>> result;
  for (const KernelLint &kernel : kernels)
    for (const Told &told : kernel.warnings) {
      const auto found = std::find_if(result.begin(), result.end(), [&](const auto &entry) {
        return told.source && same_place(told, entry.second);
      });
      if (found == result.end())
        result.emplace_back(kernel.name, told);
      else
        found->second.also.push_back(kernel.name);
    }
  return result;
}

std::string lint_text(const std::vector<KernelLint> &kernels, const std::string &file) {
  std::string text;
  for (const auto &[name, told] : merged(kernels)) {
    const std::string place =
        told.source ? to_string(*told.source) : fmt::format("{}:{}", file, told.line);
    text += fmt::format("{}: {}: {} [-W{}]\n", place, told.error ? "error" : "warning",
                        told.message, lint::info(told.code).name);
    if (!told.note.empty())
      text += fmt::format("    note: {}\n", told.note);
    for (const Place &call : told.inlined_at)
      text += fmt::format("    inlined at {}\n", to_string(call));
    text += fmt::format("    in kernel {}", name);
    if (!told.also.empty())
      text += fmt::format(" and {} more", told.also.size());
    text += '\n';
  }
  return text;
}

bool has_errors(const std::vector<KernelLint> &kernels) {
  return std::any_of(kernels.begin(), kernels.end(), [](const KernelLint &kernel) {
    return std::any_of(kernel.warnings.begin(), kernel.warnings.end(),
                       [](const Told &told) { return told.error; });
  });
}

} // namespace ptxasw::wrapper
