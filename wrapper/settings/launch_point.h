#pragma once

// One launch as the command line describes it: `--launch n=1024,block=256`.

#include "emulator/facts/amount.h"
#include "emulator/semantics/launch.h"
#include "grammar/module.h"

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper {

/// What --launch gives: numbers by name, extents as `ntid.x` and `nctaid.x`. A name may be that of
/// one kernel's parameter, `KERNEL:NAME`.
struct LaunchPoint {
  std::map<std::string, facts::Rational> numbers;
  std::optional<BlockShape> block;
};

std::vector<std::string> cut_at_commas(const std::vector<std::string> &texts);

/// Three extents, from 1 on: 256, or 16x16x1. Nothing if it is none.
std::optional<std::array<std::uint32_t, 3>> extents_of(const std::string &text);

/// Adds what words of --launch say; what is wrong with the first that is not NAME=NUMBER,
/// KERNEL:NAME=NUMBER, block=XxYxZ or grid=XxYxZ.
std::optional<std::string> read_point(const std::vector<std::string> &texts, LaunchPoint &point);

/// What a kernel's parameters are called: as PTX calls them, without the kernel's name in front or
/// with it, or by names that are given, in order (facts::parameter_name()).
class ParameterNames {
public:
  ParameterNames(const Function &kernel, const std::vector<std::string> &given);
  /// What a variable of a bound is called: a parameter, or `param_3+8`, a part of one.
  std::string operator()(const std::string &variable) const;
  /// What the parameter is called in PTX, without the kernel's name in front.
  const std::string &own(std::size_t parameter) const { return own_[parameter]; }
  /// The number that a point gives what is called so in this kernel, under any of its names; null:
  /// none.
  const facts::Rational *number(const LaunchPoint &point, const std::string &called) const;
  /// The numbers that a point has for parameters, by their names in PTX, as bit patterns, and for
  /// extents of the grid; what the parameter cannot hold is left out (check_point()).
  std::map<std::string, std::int64_t> values_at(const LaunchPoint &point) const;
  /// The bits of the parameter that a point means by NAME or KERNEL:NAME; nothing: it means none.
  std::optional<unsigned> width(const std::string &whole_name) const;

private:
  /// A parameter, or a part of one, that a point names.
  struct Given {
    std::string own; ///< in PTX
    unsigned width = 0;
  };
  std::optional<Given> find(const std::string &whole_name) const;

  std::string kernel_;
  std::vector<std::string> own_;
  std::vector<unsigned> widths_; ///< bits
  std::map<std::string, std::string> given_;
};

/// What the amounts of one kernel's bounds are at a launch. A bound reads parameters as signed
/// numbers; a point may give the same bits as an unsigned one.
class AmountsAt {
public:
  AmountsAt(facts::AmountPool &amounts, const ParameterNames &names, const LaunchPoint &point)
      : amounts_(amounts), names_(names), point_(point) {}
  /// Nothing: fault() says why, of the first that has no number.
  std::optional<facts::Rational> operator()(const facts::Amount &amount);
  const std::string &fault() const { return fault_; }
  /// The first that is not at least 0 there; null: none.
  const facts::Amount *violated(const std::vector<facts::Amount> &conditions);

private:
  std::optional<facts::Rational> of_variable(const std::string &variable);

  facts::AmountPool &amounts_;
  const ParameterNames &names_;
  const LaunchPoint &point_;
  std::string fault_;
};

/// Errors: what is wrong with the numbers that a point gives: the first whose name is neither an
/// extent nor a parameter of any kernel, or that no parameter of that name can hold.
/// Words of constant variables may have numbers, too. `suggest`: what is added about a name that no
/// parameter has.
tl::expected<void, std::string>
check_point(const std::vector<const Module *> &modules, const LaunchPoint &point,
            const std::function<std::string(const std::string &)> &suggest);

} // namespace ptxasw::wrapper
