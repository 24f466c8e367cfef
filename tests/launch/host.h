#pragma once

// What the scenarios share: ways to the fake driver, a kernel with siblings, and what to expect.

#include "wrapper/launch/driver_types.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>

namespace host {

using ptxasw::wrapper::launch::Extents;
using ptxasw::wrapper::launch::Handle;
using ptxasw::wrapper::launch::LaunchAttribute;
using ptxasw::wrapper::launch::LaunchConfig;

#define CHECK(condition)                                                                           \
  ((condition) ? void() : host::fail(__FILE__, __LINE__, #condition, host::history_if_loaded()))

[[noreturn]] void fail(const char *file, int line, const char *what, const std::string &history);
std::string history_if_loaded();

/// The fake driver, as a program opens it.
void *driver();

/// A function of the fake driver by dlsym(), as the program would get it.
template <typename Function> Function *symbol(const char *name) {
  return reinterpret_cast<Function *>(::dlsym(driver(), name));
}

/// Calls a function of the fake driver past any helper; its result must be 0.
template <typename... Arguments> void call(const char *name, Arguments... arguments) {
  const int result = symbol<int(Arguments...)>(name)(arguments...);
  if (result != 0) {
    std::fprintf(stderr, "%s returned %d\n", name, result);
    std::exit(1);
  }
}

/// What the driver was asked for since the last call; one line each.
std::string history();

using LaunchFunction = int(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           unsigned, Handle, void **, void **);
using LaunchExFunction = int(const LaunchConfig *, Handle, void **, void **);

/// Members of the "needs" of the sibling of `image()`.
struct Needs {
  std::string text;
};

/// An image with kernel `add` (to, from, n) of 100 us and one sibling for four blocks each, of
/// `sibling_us`, that writes `writes`. `needs` is JSON, before `"cooperative"`.
std::string image(const std::string &needs = "", double sibling_us = 60, int writes = 1,
                  const std::string &sibling = "add__ptxasw_retile_apart_x4");

/// One with a sibling for blocks of 64 along x instead. `needs` as above.
std::string resized_image(const std::string &needs = "", double sibling_us = 60);

/// Loads an image; the module.
Handle load(const std::string &text);
Handle function(Handle module, const char *name);
/// The same as a library and its kernel.
Handle load_library(const std::string &text);
Handle kernel(Handle library, const char *name);

/// The arguments of `add`.
struct Arguments {
  std::uint64_t to = 0x1000, from = 0x2000;
  unsigned n = 0;
  void *list[3] = {&to, &from, &n};
};

/// Launches `add` with a grid and a block of 256, by the function that dlsym() finds.
int launch(Handle function, unsigned grid = 64, Handle stream = nullptr, unsigned shared = 0,
           Extents block = {256, 1, 1});

/// Returns true if a text contains a part.
bool has(const std::string &text, const std::string &part);

/// All scenarios by name.
std::map<std::string, std::function<void()>> &scenarios();
struct Scenario {
  Scenario(const char *name, std::function<void()> run) { scenarios()[name] = std::move(run); }
};

} // namespace host
