#pragma once

// Keeps caches of objects from handing out what other settings made. `ptxasw run` and the overlay's
// nvcc put the key where caches see it, and `ptxasw status` prints it: `cache_key({})`.

#include "grammar/namespaces.h"

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper {

/// What must be part of the key of every cache of objects: a word that changes whenever what nvcc
/// makes with us might change although nvcc's own words do not. It depends on the settings, our
/// version and bytes, the Z3 library and the real ptxas that are found, on the variables that add
/// words to nvcc's, and on every file that an option of ptxas names, options files within options
/// files included. `words`: those of nvcc. Errors: the settings are wrong.
tl::expected<std::string, std::string> cache_key(const std::vector<std::string> &words);

} // namespace ptxasw::wrapper
