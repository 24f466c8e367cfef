#pragma once

// Links PTX modules that were compiled with `-rdc=true`, as nvlink would link their machine code.

#include "grammar/namespaces.h"

#include <span>
#include <string>
#include <tl/expected.hpp>

namespace ptxasw::wrapper {

/// One module of several that were compiled with relocatable device code: names that are visible
/// stand for the same thing in all of them, internal ones stay apart (PTX ISA 11.6). Or why there
/// is none.
tl::expected<std::string, std::string> link_ptx(std::span<const std::string> texts);

} // namespace ptxasw::wrapper
