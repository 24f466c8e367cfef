#pragma once

// `ptxasw prove A.ptx --equal B.ptx`: the answer of analysis/prove/equal.h as text and as JSON.

#include "analysis/prove/equal.h"

#include <optional>
#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// What was asked of two modules.
struct EqualRequest {
  std::string first, second;
  /// Of both, or of the first; empty: as the launch says, or the first one. Of the second; empty:
  /// the one of that name, or, for all launches, the first one if there is none.
  std::string kernel, second_kernel;
  std::vector<std::string> launch; ///< words of --launch
  /// For all launches that keep this; nothing: in the one that `launch` describes.
  std::optional<ProofAssumptions> assumed;
  std::string witness; ///< folder for a launch that refutes; empty: none
  EqualityOptions options;
  bool json = false, verbose = false;
};

/// The exit code.
int prove_two(const EqualRequest &request);

} // namespace ptxasw::wrapper
