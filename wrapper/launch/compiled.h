#pragma once

// The PTX of machine code that NVRTC or nvJitLink made, in this run of `ptxasw faster` or in an
// earlier one.

#include "grammar/namespaces.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace ptxasw::wrapper::launch {

/// What is known of machine code.
struct CompiledCode {
  std::string ptx;        ///< empty: it is not known
  const char *why = "";   ///< then the name of the reason, if that is known
  const char *words = ""; ///< and the same for people
};

/// Notes what was compiled just now, here and, by `ptxasw faster`, for later runs. Nothing is
/// noted of what is no ELF file that says itself how long it is, or no PTX.
void remember_compiled(std::string_view code, std::string ptx);

/// Notes why there is no PTX of some machine code, for this process.
void remember_without_ptx(std::string_view code, const char *why, const char *words);

/// What is known of an ELF file (System V ABI, 64 bits) that a program loads. What is read of the
/// file is its header, its table of sections if that ends no later than the longest file of which
/// anything is known, and all of it only if something is known of one that is exactly as long.
CompiledCode compiled_code(const char *file);

} // namespace ptxasw::wrapper::launch
