// Debian has {fmt} as a shared library only. Loading it, and the C++ runtime that it needs, takes
// longer than everything else a pass-through run does. So this one file compiles the few functions
// that all others only call; having them, the linker drops the library (--as-needed). Should one
// be missing some day, the library is linked again and nothing else happens.

#define FMT_HEADER_ONLY
#include <fmt/core.h>

namespace {

using String = std::string (*)(fmt::string_view, fmt::format_args);
using Print = void (*)(fmt::string_view, fmt::format_args);
using PrintTo = void (*)(std::FILE *, fmt::string_view, fmt::format_args);

// An inline function exists where its address is taken.
[[gnu::used]] const String string = &fmt::vformat;
[[gnu::used]] const Print print = &fmt::vprint;
[[gnu::used]] const PrintTo print_to = &fmt::vprint;

} // namespace
