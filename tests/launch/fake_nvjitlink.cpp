// An nvJitLink whose machine code is its first input, and all others behind it. LTO-IR is PTX
// behind a word; of it there is PTX where the options say so. What is looked up has other names
// than what programs are linked with, as in the real one.

#include "tests/launch/fake_code.h"

#include <fstream>
#include <iterator>

namespace {

struct Inputs {
  std::string text;
  bool lto = false, ptx = false;
};

Inputs *ended = nullptr; ///< the next one is where the last one was
int created = 0;

int create(Inputs **link, unsigned count, const char **options) {
  *link = ended ? ended : new Inputs;
  ended = nullptr;
  ++created;
  **link = {};
  for (unsigned i = 0; i < count; ++i) {
    (*link)->lto |= std::strcmp(options[i], "-lto") == 0;
    (*link)->ptx |= std::strcmp(options[i], "-ptx") == 0;
  }
  return 0;
}
int add(Inputs *link, const char *data, std::size_t size) {
  constexpr char lto[] = "LTO-IR ";
  const bool is_lto = std::strncmp(data, lto, std::strlen(lto)) == 0;
  if (is_lto && !link->lto)
    return 1;
  const std::size_t from = is_lto ? std::strlen(lto) : 0;
  link->text.append(data + from, ::strnlen(data + from, size - from));
  return 0;
}
int destroy(Inputs **link) {
  ended = *link;
  *link = nullptr;
  return 0;
}

} // namespace

#define FAKE_LINKER(prefix, suffix)                                                                \
  int prefix##nvJitLinkCreate##suffix(Inputs **link, unsigned count, const char **options) {       \
    return create(link, count, options);                                                           \
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
  int prefix##nvJitLinkGetLinkedPtxSize##suffix(Inputs *link, std::size_t *size) {                 \
    *size = link->text.size() + 1;                                                                 \
    return link->lto && link->ptx ? 0 : 3;                                                         \
  }                                                                                                \
  int prefix##nvJitLinkGetLinkedPtx##suffix(Inputs *link, char *ptx) {                             \
    std::memcpy(ptx, link->text.c_str(), link->text.size() + 1);                                   \
    return 0;                                                                                      \
  }                                                                                                \
  int prefix##nvJitLinkDestroy##suffix(Inputs **link) { return destroy(link); }

extern "C" {
int fake_links_created() { return created; }
FAKE_LINKER(, )
FAKE_LINKER(__, _12_4)
FAKE_LINKER(__, _13_0)
}
