// Grouping goes by place. Without `.loc` a place is a line of the PTX, of which unrolling makes
// many: there equal sentences about one kernel are one finding.

#include "wrapper/lint/findings.h"

#include "wrapper/lint/kernel_names.h"
#include "wrapper/lint/names.h"

#include <algorithm>

namespace ptxasw::wrapper {
namespace {

bool is_one_finding(const Finding &a, const Finding &b) {
  if (a.told.code != b.told.code || a.has_source != b.has_source)
    return false;
  if (a.has_source && a.told.code == lint::Code::local_memory && a.ptx_kernel == b.ptx_kernel &&
      a.place.file == b.place.file)
    return true; // what is wrong is the array, not each of its uses
  return a.has_source ? a.place == b.place
                      : a.place.file == b.place.file && a.ptx_kernel == b.ptx_kernel &&
                            a.told.message == b.told.message && a.told.note == b.told.note;
}

/// Takes another copy, or instance, into a finding.
void add_to(Finding &finding, Finding other) {
  const bool same_kernel = finding.ptx_kernel == other.ptx_kernel;
  if (!finding.has_source)
    finding.other_lines.push_back(other.told.line);
  if (same_kernel) {
    const double weight = finding.told.weight + other.told.weight;
    const double share = finding.module == other.module
                             ? finding.told.share + other.told.share
                             : std::max(finding.told.share, other.told.share);
    const std::uint32_t copies = finding.told.copies + other.told.copies;
    if (finding.has_source && finding.place.line != other.place.line) {
      if (other.told.weight > finding.told.weight) {
        other.other_lines = std::move(finding.other_lines);
        std::swap(finding, other);
      }
      finding.other_lines.push_back(other.place.line);
    }
    finding.told.weight = weight;
    finding.told.share = share;
    finding.told.copies = copies;
    return;
  }
  const double both = finding.microseconds + other.microseconds;
  if (other.told.weight > finding.told.weight)
    std::swap(finding, other);
  finding.microseconds = both;
  finding.kernels.insert(finding.kernels.end(), other.kernels.begin(), other.kernels.end());
}

} // namespace

std::vector<Finding> findings_of(std::span<const LintedModule> modules, Sources &sources,
                                 const MeasuredTimes &times) {
  std::vector<Finding> findings;
  for (const LintedModule &module : modules)
    for (const KernelLint &kernel : *module.kernels) {
      if (kernel.warnings.empty())
        continue;
      const KernelNames names(kernel.facts->function(), *module.places, sources);
      for (Told told : kernel.warnings) {
        told.message = names.in_words(std::move(told.message));
        told.note = names.in_words(std::move(told.note));
        Finding finding;
        finding.module = module.module;
        finding.is_near = !told.source;
        const auto source =
            told.source ? told.source : module.places->near(kernel.facts->function(), told.line);
        finding.has_source = source.has_value();
        finding.place =
            source.value_or(Place{module.is_temporary ? "" : module.file, told.line, 0});
        finding.kernels = {names.shown()};
        finding.ptx_kernel = kernel.name;
        finding.microseconds = times.of(kernel.name);
        finding.array = names.of_source(told.array);
        finding.told = std::move(told);
        const auto found =
            std::find_if(findings.begin(), findings.end(),
                         [&](const Finding &other) { return is_one_finding(finding, other); });
        if (found == findings.end())
          findings.push_back(std::move(finding));
        else
          add_to(*found, std::move(finding));
      }
    }
  // Where lanes are far apart each walks lines of its own: one cause, and one remedy.
  std::erase_if(findings, [&](const Finding &walk) {
    const auto cause = std::find_if(findings.begin(), findings.end(), [&](const Finding &other) {
      return other.told.code == lint::Code::uncoalesced && other.has_source &&
             other.place == walk.place && other.told.error == walk.told.error;
    });
    if (walk.told.code != lint::Code::reuse_thrashing || cause == findings.end())
      return false;
    cause->more = walk.told.message;
    return true;
  });
  std::stable_sort(findings.begin(), findings.end(), [](const Finding &a, const Finding &b) {
    if (a.microseconds != b.microseconds)
      return a.microseconds > b.microseconds;
    if (a.told.weight != b.told.weight)
      return a.told.weight > b.told.weight;
    return a.place.file != b.place.file ? a.place.file < b.place.file : a.place.line < b.place.line;
  });
  return findings;
}

} // namespace ptxasw::wrapper
