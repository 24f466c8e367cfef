#pragma once

// The warnings of a module with their places, as all outputs take them.

#include "analysis/lint/lint.h"
#include "analysis/lint/times.h"
#include "wrapper/lint/allowances.h"
#include "wrapper/lint/places.h"
#include "wrapper/settings/lint_choices.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// One warning to be reported.
struct Told {
  lint::Code code = lint::Code::uncoalesced;
  bool error = false;
  std::uint32_t line = 0; ///< in the PTX
  std::optional<Place> source;
  std::vector<Place> inlined_at;
  std::string message, note;
  std::uint64_t cost = 1; ///< that a baseline compares
  /// What is more than it need be, in sectors or wavefronts of a warp, times how often a thread
  /// does it, as far as that is known: what findings are sorted by.
  double weight = 0;
  std::string array;   ///< the parameter or variable of the PTX that is accessed; or empty
  bool writes = false; ///< the access is a store or an atomic
  std::string usage;   ///< what of the moved bytes is used, for people; or empty
  /// An estimate of the part, up to 1, that the access has in its kernel's sectors of global
  /// memory, or of a bank conflict in its wavefronts of shared memory; 0: not known.
  double share = 0;
  std::uint32_t copies = 1; ///< instructions with this warning at this place
};

/// The weight of what is wrong, not only slow.
inline constexpr double wrong_weight = 1e9;

/// One kernel and what was found in it.
struct KernelLint {
  std::string name;
  std::unique_ptr<facts::KernelFacts> facts;
  std::vector<Told> warnings; ///< one per code and place, in source order
  std::size_t hidden = 0;     ///< places with warnings that are off and that nobody spoke of
  std::size_t allowed = 0;    ///< warnings that the source, or a setting, allows
  std::string unchecked;      ///< why not all of it could be looked at; empty: all of it was
};

/// What to look at and how.
struct LintQuery {
  LintChoices choices;
  std::optional<BlockShape> block;
  std::vector<std::string> kernels; ///< only these; empty: all
  /// Values of a kernel's parameters (facts::Assumptions::parameters); empty: none is known.
  std::function<std::map<std::string, std::int64_t>(const Function &)> parameters = {};
  Allowances *allowances = nullptr; ///< where warnings are wanted; null: everywhere
};

/// All kernels of a module in the order of the text. `facts` refer to the module.
std::vector<KernelLint> lint_module(const Module &module, const Places &places,
                                    const LintQuery &query);

/// How often a thread gets to an instruction, where a loop of unknown length counts as 32
/// iterations.
double rounds_of(const facts::KernelFacts &facts, std::uint32_t instruction, lint::Times &times);

/// What no warning can be about, a sentence for each kernel that was not looked at whole, or one if
/// there is no kernel.
std::vector<std::string> not_checked(const std::vector<KernelLint> &kernels);

/// Returns true if one of them counts as an error.
bool has_errors(const std::vector<KernelLint> &kernels);

} // namespace ptxasw::wrapper
