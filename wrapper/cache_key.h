#pragma once

#include "wrapper/settings.h"

#include <string>

namespace ptxasw {

/// What must be part of the key of every cache of objects: a word that is another one whenever the
/// code that we make might be: by the settings, our version, the bytes of this program, or the Z3
/// library that it finds.
std::string cache_key(const Settings &settings);

} // namespace ptxasw
