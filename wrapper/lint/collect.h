#pragma once

// The warnings of a module with their places, as all outputs take them.

#include "analysis/lint/lint.h"
#include "wrapper/lint/places.h"
#include "wrapper/settings/lint_choices.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::inline wrapper {

/// One warning to be reported.
struct Told {
  lint::Code code = lint::Code::uncoalesced;
  bool error = false;
  std::uint32_t line = 0; ///< in the PTX
  std::optional<Place> source;
  std::vector<Place> inlined_at;
  std::string message, note;
  std::uint64_t cost = 1;        ///< that a baseline compares
  std::vector<std::string> also; ///< other kernels with the same warning at the same place
};

/// One kernel and what was found in it.
struct KernelLint {
  std::string name;
  std::unique_ptr<facts::KernelFacts> facts;
  std::vector<Told> warnings; ///< one per code and place, in source order
  std::string unchecked;      ///< why not all of it could be looked at; empty: all of it was
};

/// What to look at and how.
struct LintQuery {
  LintChoices choices;
  std::optional<BlockShape> block;
  std::vector<std::string> kernels; ///< only these; empty: all
  /// Values of a kernel's parameters (facts::Assumptions::parameters); empty: none is known.
  std::function<std::map<std::string, std::int64_t>(const Function &)> parameters = {};
};

/// All kernels of a module in the order of the text. `facts` refer to the module.
std::vector<KernelLint> lint_module(const Module &module, const Places &places,
                                    const LintQuery &query);

/// What no warning can be about, a sentence for each kernel that was not looked at whole, or one if
/// there is no kernel.
std::vector<std::string> not_checked(const std::vector<KernelLint> &kernels);

/// The warnings of all kernels, each place once however many kernels have it: instances of one
/// template. With the name of the (first) kernel.
std::vector<std::pair<std::string, Told>> merged(const std::vector<KernelLint> &kernels);

/// As a compiler would print them. `file`: the name of the PTX, for what has no source.
std::string lint_text(const std::vector<KernelLint> &kernels, const std::string &file);

/// Returns true if one of them counts as an error.
bool has_errors(const std::vector<KernelLint> &kernels);

} // namespace ptxasw::wrapper
