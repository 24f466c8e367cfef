#pragma once

// Finds the ptxas that would run if there were no ptxasw. The drop-in hands over to it, and
// commands ask it about registers:
//   const auto real = find_real(settings.real, invoked_path()); // real->path, or real.error()

#include "grammar/namespaces.h"

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace ptxasw::wrapper {

/// The real ptxas and what made us choose it.
struct RealTool {
  std::string path;
  std::string why; ///< for people
};

/// The path this program was started from, links not followed (from the kernel, not from argv[0],
/// which callers set to anything).
std::string invoked_path();

/// Where the program itself lies, links followed.
std::string own_path();

/// Looks for the real ptxas: `explicit_path` if not empty, `ptxas.real` beside `invoked`, the
/// directory the overlay's links beside `invoked` lead to, CUDA_HOME, CUDA_PATH, PATH,
/// /usr/local/cuda. Never ourselves, under whatever name.
/// Errors: where it looked, or why the explicit path will not do.
tl::expected<RealTool, std::string> find_real(const std::string &explicit_path,
                                              const std::string &invoked);

} // namespace ptxasw::wrapper
