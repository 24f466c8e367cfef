#pragma once

// The part of `ptxasw cost` about bounds: sectors, conflicts, divergence, steps.

#include "analysis/bound.h"
#include "wrapper/commands/analyse.h"

namespace ptxasw::wrapper {

/// Reads a metric from a file: {"instructions": 1, "sectors": 5, ...}; what is not named counts
/// nothing. What is wrong with it, or nothing.
std::optional<std::string> read_weights(const std::string &path, BoundMetric &metric);

/// The bounds of one kernel, and what its parameters are called.
struct ToldBounds {
  KernelBounds bounds;
  ParameterNames names;
};
ToldBounds told_bounds(const Module &module, const Function &function, BoundOptions options,
                       const LaunchPoint &point, Sources &sources);

/// How often loops run that cannot be counted, by the line of their first instruction: what
/// LoopBound::variable says of every launch that is meant.
using GivenRounds = std::map<std::uint32_t, std::uint64_t>;
/// Reads `LINE=NUMBER`, which is at least 1; what is wrong with the first word that is none.
std::optional<std::string> read_rounds(const std::vector<std::string> &words, GivenRounds &rounds);
/// Puts in what is given, and takes it out of `unused`. At a launch, where formulas are no answer,
/// there is no bound of what is in other iterations.
void put_in(const GivenRounds &rounds, bool at_launch, ToldBounds &told, GivenRounds &unused);

/// Why there are no numbers at a launch; nothing if there are, or no point is given.
std::optional<Unanswered> not_at(const ToldBounds &told, const LaunchPoint *point);

/// Numbers at a launch, or formulas; `all`: nothing is cut. Without a heading.
KernelAnswer answer_of(const ToldBounds &told, const LaunchPoint *point, bool all);

/// For each metric which of two kernels has the lower bound; `all`: nothing is cut.
KernelAnswer compare(const ToldBounds &first, const ToldBounds &second, const LaunchPoint *point,
                     bool all);

} // namespace ptxasw::wrapper
