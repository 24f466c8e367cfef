#pragma once

// A kernel's names as its source has them, for messages that speak of it.

#include "wrapper/lint/sources.h"

#include <string>
#include <utility>
#include <vector>

namespace ptxasw::wrapper {

class KernelNames {
public:
  /// Parameters are called as the source calls them where `.loc` leads to a readable one that has
  /// as many; otherwise by number and type, `param 2 (int)`, if the kernel's name tells types.
  KernelNames(const Function &kernel, const Places &places, Sources &sources);

  /// `transpose<float>`
  const std::string &shown() const { return shown_; }
  /// A text with the PTX names of parameters and variables replaced.
  std::string in_words(std::string text) const;
  /// What the source calls a parameter or variable; empty if that is not known.
  std::string of_source(const std::string &ptx_name) const;

private:
  std::string shown_;
  struct Parameter {
    std::string ptx, shown, source;
  };
  std::vector<Parameter> parameters_; ///< from the last to the first: param_12 before param_1
};

} // namespace ptxasw::wrapper
