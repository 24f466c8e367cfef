#pragma once

// A first launch of a kernel that nothing is known of but its parameters: for people to change.

#include "grammar/module.h"

#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// How a kernel is called: `scale(float *out, int n)`, with C++ types and the source's names of its
/// parameters where these are known, otherwise PTX types and names.
std::string kernel_signature(const Function &kernel, const Module &module, const std::string &file);

/// For each parameter what --launch would say: buffers of 4096 elements for pointers, at random if
/// the name of the kernel tells that they hold floating-point numbers, and 32 for numbers.
std::vector<std::string> guessed_arguments(const Function &kernel);

} // namespace ptxasw::wrapper
