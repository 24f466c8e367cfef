// NVRTC compiles CUDA C++ to machine code, which the program then loads as any other: CuPy does,
// and PyTorch's jiterator. The PTX that it made on the way can be asked for, as long as the
// program's compilation is there; so it is asked for when the machine code is. This is in the
// library that is preloaded and not in the archive, which may stand beside a static NVRTC.

#include "wrapper/launch/nvrtc.h"

#include "wrapper/launch/compiled.h"
#include "wrapper/launch/hooks.h"
#include "wrapper/launch/state.h"

#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <string>

namespace ptxasw::wrapper::launch {
namespace {

using GetSize = int(void *, std::size_t *);
using GetText = int(void *, char *);

constexpr int internal_error = 11; // NVRTC_ERROR_INTERNAL_ERROR
constexpr std::size_t largest = std::size_t{16} << 20;

std::atomic<void *> function{nullptr}; ///< of the NVRTC that was seen first

/// Asks for a text by two functions; empty if there is none.
std::string text_of(void *library, void *program, const char *size_name, const char *text_name) {
  auto *const get_size = reinterpret_cast<GetSize *>(real_dlsym(library, size_name));
  auto *const get_text = reinterpret_cast<GetText *>(real_dlsym(library, text_name));
  std::size_t size = 0;
  if (!get_size || !get_text || get_size(program, &size) != 0 || size == 0 || size > largest)
    return "";
  std::string text(size, '\0');
  return get_text(program, text.data()) == 0 ? text : "";
}

void note_compiled(void *real, void *program, const char *code) {
  const LookupGuard guard;
  void *const library = library_of(real);
  if (!library)
    return;
  auto *const get_size = reinterpret_cast<GetSize *>(real_dlsym(library, "nvrtcGetCUBINSize"));
  std::size_t size = 0;
  if (get_size && get_size(program, &size) == 0 && size <= largest)
    remember_compiled({code, size}, text_of(library, program, "nvrtcGetPTXSize", "nvrtcGetPTX"));
  ::dlclose(library);
}

} // namespace

void *our_compiler(const char *name) {
  return std::strcmp(name, "nvrtcGetCUBIN") == 0 ? reinterpret_cast<void *>(&nvrtcGetCUBIN)
                                                 : our_linker(name);
}

void *replace_compiler(const char *name, void *found) {
  void *const ours = our_compiler(name);
  if (ours != reinterpret_cast<void *>(&nvrtcGetCUBIN))
    return replace_linker(name, found);
  void *known = nullptr;
  if (found && (function.compare_exchange_strong(known, found) || known == found))
    return ours;
  return found; // another NVRTC: its code is seen as machine code alone
}

} // namespace ptxasw::wrapper::launch

using namespace ptxasw::wrapper::launch;

extern "C" int nvrtcGetCUBIN(void *program, char *code) {
  void *real = function.load();
  if (!real) // the caller is linked with it
    real = behind_ours("nvrtcGetCUBIN", reinterpret_cast<void *>(&nvrtcGetCUBIN),
                       __builtin_return_address(0));
  if (!real)
    return internal_error;
  const int result = reinterpret_cast<GetText *>(real)(program, code);
  if (result == 0 && code && !configuration().faster.empty() && at_work())
    note_compiled(real, program, code);
  return result;
}
