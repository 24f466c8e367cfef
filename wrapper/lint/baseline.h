#pragma once

// What a module cost when it was last agreed to, and what is worse now: a gate for builds that
// needs no GPU. A baseline is text, one line per fact, sorted, so that two branches' changes merge.
// It contains no source lines: moving code changes nothing.

#include "synth/report.h"
#include "wrapper/lint/advisories.h"
#include "wrapper/lint/collect.h"

#include <map>
#include <set>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper {

/// What one kernel costs.
struct KernelState {
  std::string name;
  /// By code and file of the source: the cost of each finding, the highest first.
  std::map<std::pair<std::string, std::string>, std::vector<std::uint64_t>> findings;
  std::optional<Resources> resources; ///< nothing: ptxas was not asked, or says nothing
  std::optional<std::uint32_t> warps; ///< resident on a multiprocessor, at the known shape
  std::set<std::string> advisories;   ///< of ptxas: `C7510`
};

/// By target and kernel.
using Baseline = std::map<std::string, std::map<std::string, KernelState>>;

/// Errors: the first line that is not understood.
tl::expected<Baseline, std::string> parse_baseline(std::string_view text);
std::string baseline_text(const Baseline &baseline);

/// What has changed, ready to print. `better` asks to be agreed to.
struct BaselineChanges {
  std::vector<std::string> worse, better;
};
/// Findings, spills, the stack and occupancy count. Registers and bytes of shared memory do if
/// `resources` is set: padding a tile, which helps, takes more, and what it costs is occupancy.
BaselineChanges compare(const Baseline &baseline, const std::string &target,
                        const std::vector<KernelState> &now, bool resources);

/// What the real ptxas says about a module's kernels, by name.
struct AssemblerFacts {
  std::map<std::string, Resources, std::less<>> resources;
  std::map<std::string, std::vector<Advisory>, std::less<>> advisories;
};

/// The states of a module's kernels.
std::vector<KernelState> states_of(const std::vector<KernelLint> &kernels,
                                   const std::string &target, const AssemblerFacts &assembled);

} // namespace ptxasw::wrapper
