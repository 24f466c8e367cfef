#pragma once

// PTX on its way to the driver's own compiler.

#include "grammar/namespaces.h"

#include <cstddef>
#include <string>

namespace ptxasw::wrapper::launch {

/// Returns true if PTX begins here: blanks and comments, then `.version` (PTX ISA 11.1.1). Reads no
/// further than the text goes.
bool begins_ptx(const char *text, std::size_t size);

/// The rewritten text of an image that is PTX ended by a NUL; null to load it as it is: rewriting
/// is not asked for, the image is something else, nothing was rewritten, or anything went wrong.
/// Lives until the process ends, since a driver may be told to refer to it.
const char *rewritten_image(const void *image);
/// The same for PTX of a known size, with or without a NUL at its end.
const std::string *rewritten_ptx(const void *data, std::size_t size);

/// Notes that the driver did not take what was rewritten.
void note_rejected();

} // namespace ptxasw::wrapper::launch
