#pragma once

// Tells ptxasw from ptxas by the file's contents, so that nobody takes a copy of ptxasw for the
// real one. The search for ptxas and `ptxasw overlay` ask.

#include "grammar/namespaces.h"

#include <string>

namespace ptxasw::wrapper {

/// Returns true if a program is ptxasw, this copy or any other, under whatever name: every one of
/// them has the ELF note that marker.cpp defines. Costs three short reads.
bool is_ptxasw(const std::string &path);

} // namespace ptxasw::wrapper
