#pragma once

#include "grammar/namespaces.h"

#include <string>
#include <vector>

namespace ptxasw::test {

/// The text of a module to look at.
struct Source {
  std::string name; ///< of the file
  std::string text;
};

/// The files, the .ptx files below the folders, and that many random kernels.
std::vector<Source> sources(const std::vector<std::string> &paths, unsigned random_kernels);

} // namespace ptxasw::test
