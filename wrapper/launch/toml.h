#pragma once

// toml++, without exceptions. Of a name like `[<a]` its parser asserts, or has the compiler assume,
// what need not be so, and says what is wrong only behind that; so it neither asserts nor assumes
// anything here.

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ASSERT(condition) static_assert(true)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
