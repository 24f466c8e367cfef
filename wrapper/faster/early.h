#pragma once

// Questions about a program's kernels before it launches them.

#include "grammar/namespaces.h"

#include <string>
#include <string_view>

namespace ptxasw::wrapper::faster {

/// The file of a run with what is asked early: a line for each question, its id, a blank and what
/// launch::remembered_name() says.
inline constexpr char early_file[] = "early";

/// Asks about the kernels in a program's file as the helper would when they are launched, in the
/// directory of a run, and adds them to its early_file. Of a program with many kernels only those
/// are asked about that are named in `remembered` (as Store::remembered()). A file without PTX for
/// the GPU is none to ask about; nor is one that cannot be read.
void ask_early(const std::string &program, unsigned sm, std::string_view remembered, int directory);

} // namespace ptxasw::wrapper::faster
