#pragma once

// The PTX of machine code that NVRTC made, in this run of `ptxasw faster` or in an earlier one.

#include <cstdint>
#include <string>
#include <string_view>

namespace ptxasw::inline wrapper::launch {

/// Notes what NVRTC compiled just now, here and, by `ptxasw faster`, for later runs. Nothing is
/// noted of what is no ELF file that says itself how long it is, or no PTX.
void remember_compiled(std::string_view code, std::string ptx);

/// The PTX of an ELF file (System V ABI, 64 bits) that a program loads; empty: it is not known.
/// What is read of the file is its header, its table of sections if that ends no later than the
/// longest file of which PTX is known, and all of it only if there is PTX of one that is exactly as
/// long.
std::string compiled_ptx(const char *file);

} // namespace ptxasw::wrapper::launch
