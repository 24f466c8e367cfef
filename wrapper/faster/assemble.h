#pragma once

// Machine code of a text that was made while the program runs.

#include "wrapper/faster/beside.h"

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper::faster {

/// By what texts are assembled: the real ptxas, or the driver's compiler where there is none.
struct Assembler {
  std::string ptxas;    ///< its path; empty: none
  std::string identity; ///< changes whenever what comes out might
};
Assembler find_assembler();

/// The reason where the assembler failed, for whatever other reason than time.
inline constexpr char not_assembled[] = "not-assembled";

/// Assembles PTX for an architecture: `sm_90`. `words` are ptxas's; the driver's compiler refuses a
/// text that needs some. `directory` is for files of its own. Error: `limit` if it took too long,
/// else `not_assembled` with what was said against it.
tl::expected<std::string, Kept> assemble(const Assembler &assembler, const std::string &ptx,
                                         const std::string &arch,
                                         const std::vector<std::string> &words,
                                         const std::string &directory);

} // namespace ptxasw::wrapper::faster
