// An nvJitLink whose machine code is its first input, and all others behind it. What is looked up
// has other names than what programs are linked with, as in the real one.

#include "tests/launch/fake_code.h"

#include <fstream>
#include <iterator>

namespace {

struct Inputs {
  std::string text;
};

int create(Inputs **link) {
  static Inputs *last = nullptr; // the next one is where the last one was
  *link = last ? last : new Inputs;
  (*link)->text.clear();
  last = *link;
  return 0;
}
int add(Inputs *link, const char *data, std::size_t size) {
  link->text.append(data, ::strnlen(data, size));
  return 0;
}

} // namespace

#define FAKE_LINKER(prefix, suffix)                                                                \
  int prefix##nvJitLinkCreate##suffix(Inputs **link, unsigned, const char **) {                    \
    return create(link);                                                                           \
  }                                                                                                \
  int prefix##nvJitLinkAddData##suffix(Inputs *link, int, const char *data, std::size_t size,      \
                                       const char *) {                                             \
    return add(link, data, size);                                                                  \
  }                                                                                                \
  int prefix##nvJitLinkAddFile##suffix(Inputs *link, int, const char *path) {                      \
    std::ifstream file(path);                                                                      \
    const std::string text{std::istreambuf_iterator<char>(file), {}};                              \
    return add(link, text.data(), text.size());                                                    \
  }                                                                                                \
  int prefix##nvJitLinkComplete##suffix(Inputs *) { return 0; }                                    \
  int prefix##nvJitLinkGetLinkedCubinSize##suffix(Inputs *link, std::size_t *size) {               \
    *size = code_of(link->text.c_str()).size();                                                    \
    return 0;                                                                                      \
  }                                                                                                \
  int prefix##nvJitLinkGetLinkedCubin##suffix(Inputs *link, char *code) {                          \
    const std::string file = code_of(link->text.c_str());                                          \
    std::memcpy(code, file.data(), file.size());                                                   \
    return 0;                                                                                      \
  }                                                                                                \
  int prefix##nvJitLinkDestroy##suffix(Inputs **link) {                                            \
    *link = nullptr;                                                                               \
    return 0;                                                                                      \
  }

extern "C" {
FAKE_LINKER(, )
FAKE_LINKER(__, _12_4)
FAKE_LINKER(__, _13_0)
}
