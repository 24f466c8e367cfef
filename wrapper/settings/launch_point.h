#pragma once

// One launch as the command line describes it: `--at n=1024,block=256`, and `--names` for what its
// parameters are called.

#include "emulator/facts/amount.h"
#include "emulator/semantics/launch.h"
#include "grammar/module.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw {

/// What --at gives: numbers by name, extents as `ntid.x` and `nctaid.x`. A name may be that of one
/// kernel's parameter, `KERNEL:NAME`.
struct LaunchPoint {
  std::map<std::string, facts::Rational> numbers;
  std::optional<BlockShape> block;
};

std::vector<std::string> cut_at_commas(const std::vector<std::string> &texts);

/// Adds what words of --at say; what is wrong with the first that is not NAME=NUMBER,
/// KERNEL:NAME=NUMBER, block=XxYxZ or grid=XxYxZ.
std::optional<std::string> read_point(const std::vector<std::string> &texts, LaunchPoint &point);

/// Names given to parameters, in order, stand for those of the PTX (facts::parameter_name()).
class ParameterNames {
public:
  ParameterNames(const Function &kernel, const std::vector<std::string> &given);
  /// What a variable of a bound is called: a parameter, or `param_3+8`, a part of one.
  std::string operator()(const std::string &variable) const;
  /// The numbers that a point has for parameters, by their names in PTX; those that do not fit in
  /// 64 bits are left out.
  std::map<std::string, std::int64_t> values_at(const LaunchPoint &point) const;

private:
  std::string kernel_;
  std::vector<std::string> own_;
  std::map<std::string, std::string> given_;
};

/// The first name that a point gives a number but is neither an extent nor a parameter of any
/// kernel; empty if there is none. `names`: as --names gives them, cut at commas.
std::string unknown_name(const Module &module, const std::vector<std::string> &names,
                         const LaunchPoint &point);

} // namespace ptxasw
