// A module as an interpreter loads it: nobody else sees what it is linked with.

#include <cstddef>
#include <string>

#define LINKER(version)                                                                            \
  extern "C" {                                                                                     \
  int __nvJitLinkCreate_##version(void **link, unsigned count, const char **options);              \
  int __nvJitLinkAddData_##version(void *link, int kind, const void *data, std::size_t size,       \
                                   const char *name);                                              \
  int __nvJitLinkComplete_##version(void *link);                                                   \
  int __nvJitLinkGetLinkedCubinSize_##version(void *link, std::size_t *size);                      \
  int __nvJitLinkGetLinkedCubin_##version(void *link, void *code);                                 \
  int __nvJitLinkDestroy_##version(void **link);                                                   \
  }                                                                                                \
  std::string link_by_##version(const std::string &ptx) {                                          \
    void *link = nullptr;                                                                          \
    std::size_t size = 0;                                                                          \
    if (__nvJitLinkCreate_##version(&link, 0, nullptr) != 0 ||                                     \
        __nvJitLinkAddData_##version(link, 2, ptx.c_str(), ptx.size() + 1, "") != 0 ||             \
        __nvJitLinkComplete_##version(link) != 0 ||                                                \
        __nvJitLinkGetLinkedCubinSize_##version(link, &size) != 0)                                 \
      return "";                                                                                   \
    std::string code(size, '\0');                                                                  \
    return __nvJitLinkGetLinkedCubin_##version(link, code.data()) == 0 &&                          \
                   __nvJitLinkDestroy_##version(&link) == 0                                        \
               ? code                                                                              \
               : "";                                                                               \
  }

LINKER(12_4)
LINKER(13_0)

extern "C" void link_in_module(bool by_12, const std::string &ptx, std::string &code) {
  code = by_12 ? link_by_12_4(ptx) : link_by_13_0(ptx);
}
// NVRTC as such a module has it.
extern "C" int nvrtcGetCUBIN(void *program, char *code);
extern "C" int compile_in_module(void *program, char *code) { return nvrtcGetCUBIN(program, code); }
