#pragma once

// What people call a kernel: C++ names in place of mangled ones.

#include "grammar/module.h"

#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::wrapper {

/// A mangled name as C++ writes it, without a return type: `transpose<float>(float*, int)`. Any
/// other name as it is.
std::string demangled(std::string_view name);

/// The same without the parameters: `transpose<float>`; of a variable of a function, `s`.
std::string short_name(std::string_view name);

/// The bare name that the source has: `transpose`.
std::string base_name(std::string_view name);

/// The types of the parameters, as far as the name has them; empty if it has none.
std::vector<std::string> parameter_types(std::string_view name);

/// Pieces of a list of parameters or arguments, cut at commas outside of brackets, without blanks
/// around them.
std::vector<std::string> cut_arguments(std::string_view text);

/// Returns true if a pattern is like the whole text: in it `*` is any text, `?` any character.
bool is_like(std::string_view text, std::string_view pattern);

/// Returns true if a kernel is asked for by `wanted`: its PTX name, demangled name, short or base
/// name, or a pattern of one of these (is_like()).
bool is_called(std::string_view name, std::string_view wanted);

/// The names of a module's functions that are asked for so; where nothing is asked for none, which
/// means all, and where none is called so the name that no function has, the empty one.
std::vector<std::string> names_called(const Module &module, const std::vector<std::string> &wanted);

} // namespace ptxasw::wrapper
