#pragma once

// Where parameters lie in .param memory (PTX ISA 5.1.6). Who prepares a launch or knows a byte of a
// parameter asks for its place: `kernel_parameter_offset(kernel, 1)`.

#include "grammar/module.h"

#include <cstdint>
#include <unordered_map>

namespace ptxasw::emulator {

/// Bytes that a variable's address divides by: what it asks for, at least its natural alignment.
std::uint64_t alignment_of(const Variable &variable);
/// The next multiple of `alignment`.
std::uint64_t align(std::uint64_t offset, std::uint64_t alignment);

/// Bytes of .param space, by variable.
using ParameterLayout = std::unordered_map<const Variable *, std::uint32_t>;

/// Where a function's own parameters lie in its .param bytes: its parameters, as the driver lays
/// them out for kernels, then results, then what its body declares.
ParameterLayout parameter_layout(const Function &function);
/// Bytes of all of them.
std::uint32_t parameter_bytes(const Function &function);

/// Bytes that a kernel's parameters occupy.
std::uint32_t kernel_parameter_bytes(const Function &kernel);
/// Where one of them lies, by its position.
std::uint32_t kernel_parameter_offset(const Function &kernel, std::size_t index);

} // namespace ptxasw::emulator
