// A program that launches kernels of the fake driver in one of the ways in which programs do.
// `host SCENARIO`; `host --list` names them. tests/launch/test_launch.py runs each under the
// helper.

#include "tests/launch/host.h"

#include <cstring>

namespace host {

[[noreturn]] void fail(const char *file, int line, const char *what, const std::string &history) {
  std::fprintf(stderr, "%s:%d: not so: %s\n%s", file, line, what, history.c_str());
  std::exit(1);
}

void *driver() {
  static void *const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    std::exit(1);
  }
  return library;
}

std::string history() {
  const std::string text = symbol<const char *()>("fake_history")();
  symbol<void()>("fake_clear")();
  return text;
}

std::string history_if_loaded() {
  void *const library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return library ? history() : "";
}

std::string image(const std::string &needs, double sibling_us, int writes,
                  const std::string &sibling) {
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, " %g %d", sibling_us, writes);
  return "fake\nkernel add 100 1 8 8 4\nkernel " + sibling + numbers +
         " 8 8 4 4\n"
         "table add {\"kernel\":\"add\",\"hash\":\"0123456789abcdef\","
         "\"parameters\":[[0,8],[8,8],[16,4]],\"siblings\":[{\"name\":\"" +
         sibling +
         "\",\"family\":\"retile\",\"kind\":\"apart\",\"grid\":[4,1,1],\"append\":[\"grid.x\"],"
         "\"needs\":{" +
         needs + "\"cooperative\":false,\"cluster\":false}}]}\n";
}

std::string resized_image(const std::string &needs, double sibling_us) {
  return "fake\nkernel add 100 1 8 8 4\nkernel add__ptxasw_resize_b64 " +
         std::to_string(sibling_us) +
         " 1 8 8 4 4 4\n"
         "table add {\"kernel\":\"add\",\"hash\":\"0123456789abcdef\","
         "\"parameters\":[[0,8],[8,8],[16,4]],\"siblings\":["
         "{\"name\":\"add__ptxasw_resize_b64\",\"family\":\"resize\",\"kind\":\"b64\","
         "\"grid\":[1,1,1],\"extent\":[64,0,0],\"append\":[\"grid.x\",\"block.x\"],"
         "\"needs\":{" +
         needs +
         "\"max_extent\":[2147483647,4294967295,4294967295],\"cooperative\":false,"
         "\"cluster\":false}}]}\n";
}

Handle load(const std::string &text) {
  Handle module = nullptr;
  call<Handle *, const void *>("cuModuleLoadData", &module, text.c_str());
  return module;
}

Handle function(Handle module, const char *name) {
  Handle result = nullptr;
  call<Handle *, Handle, const char *>("cuModuleGetFunction", &result, module, name);
  return result;
}

Handle load_library(const std::string &text) {
  Handle library = nullptr;
  call<Handle *, const void *, int *, void **, unsigned, int *, void **, unsigned>(
      "cuLibraryLoadData", &library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  return library;
}

Handle kernel(Handle library, const char *name) {
  Handle result = nullptr;
  call<Handle *, Handle, const char *>("cuLibraryGetKernel", &result, library, name);
  return result;
}

int launch(Handle function, unsigned grid, Handle stream, unsigned shared, Extents block) {
  Arguments arguments;
  return symbol<LaunchFunction>("cuLaunchKernel")(function, grid, 1, 1, block.x, block.y, block.z,
                                                  shared, stream, arguments.list, nullptr);
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

std::map<std::string, std::function<void()>> &scenarios() {
  static std::map<std::string, std::function<void()>> all;
  return all;
}

} // namespace host

int main(int count, char **words) {
  if (count == 2 && std::strcmp(words[1], "--list") == 0) {
    for (const auto &[name, run] : host::scenarios())
      std::printf("%s\n", name.c_str());
    return 0;
  }
  const auto found = host::scenarios().find(count == 2 ? words[1] : "");
  if (found == host::scenarios().end()) {
    std::fprintf(stderr, "usage: host SCENARIO | --list\n");
    return 2;
  }
  found->second();
}
