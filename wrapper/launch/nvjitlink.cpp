// nvJitLink makes machine code of PTX (cuda.core), LTO-IR (Numba), or several such things together,
// and the program loads that as any other. Of one PTX alone it is the assembler as a library: then
// that PTX is what the machine code was made of. Of LTO-IR alone, in one part or several, it makes
// PTX and of that machine code; asked once more, with the same words and `-ptx`, it gives that PTX
// (some milliseconds in the thread that links, once for each code). Of other mixtures nobody has
// the PTX.
//
// A program that looks functions up names them as they are (`nvJitLinkAddData`), or with the
// version of the header. One that is linked has the latter alone: the header's functions are
// inline, and call
// `__nvJitLinkAddData_12_4`. So the function stands here under each of these names. A handle
// belongs to the library that made it: its functions are what is called with it, however many
// libraries of this name a process has.

#include "wrapper/launch/compiled.h"
#include "wrapper/launch/hooks.h"
#include "wrapper/launch/jit.h"
#include "wrapper/launch/kernels.h"
#include "wrapper/launch/nvrtc.h"
#include "wrapper/launch/state.h"
#include "wrapper/launch/whole_files.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <iterator>
#include <map>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace ptxasw::wrapper::launch {
namespace {

using CreateLink = int(void **, std::uint32_t, const char *const *);
using AddData = int(void *, int, const void *, std::size_t, const char *);
using AddFile = int(void *, int, const char *);
using GetSize = int(void *, std::size_t *);
using GetCode = int(void *, void *);
using CompleteLink = int(void *);
using DestroyLink = int(void **);

constexpr int linker_internal_error = 6;                    // NVJITLINK_ERROR_INTERNAL
constexpr int input_ptx = 2, input_lto = 3, input_any = 10; // nvJitLinkInputType
constexpr std::size_t most_linked = std::size_t{16} << 20;  ///< bytes of PTX, and of machine code

/// What has been said of a handle.
struct Link {
  void *library = nullptr; ///< a handle of the library that made it
  std::size_t inputs = 0;
  std::string ptx;                ///< of the only input; empty: it was something else
  bool other_code = false;        ///< an option may have changed what the assembler makes of it
  std::vector<std::string> words; ///< where one of them is `-lto`: all that it was made with
  std::vector<std::string> parts; ///< LTO-IR, where words are kept
};

/// With the lock of the handles held.
std::map<void *, Link> &links() {
  static auto *const value = new std::map<void *, Link>;
  return *value;
}

/// One of our functions.
struct LinkerName {
  const char *name;
  void *ours;
  std::atomic<void *> found{nullptr}; ///< what a program found that looked it up
};
extern LinkerName names[];
extern const std::size_t name_count;

LinkerName *find_name(const char *name) {
  for (std::size_t i = 0; i < name_count; ++i)
    if (std::strcmp(names[i].name, name) == 0)
      return &names[i];
  return nullptr;
}

/// The library's function for a handle that it made, or null as yet; null if there is none.
template <typename Function>
Function *behind_linker(const char *name, void *link, const void *caller) {
  lock_handles();
  const auto known = links().find(link);
  void *const library = known == links().end() ? nullptr : known->second.library;
  unlock_handles();
  const LookupGuard guard;
  const LinkerName *const ours = find_name(name);
  void *found = library ? real_dlsym(library, name) : nullptr;
  if (!found)
    found = ours->found.load();
  return reinterpret_cast<Function *>(found ? found : behind_ours(name, ours->ours, caller));
}

/// Calls `with` on what is known of a handle, if anything is.
template <typename With> void with_link(void *link, With with) {
  lock_handles();
  if (const auto known = links().find(link); known != links().end())
    with(known->second);
  unlock_handles();
}

bool notes_links() { return asks_for_versions() && at_work(); }

/// Returns true if the assembler makes the same of PTX with such a word as without. What is said of
/// numbers is for LTO-IR (nvJitLink 13.0: the same bytes).
bool is_harmless(std::string_view word) {
  constexpr std::string_view words[] = {
      "-arch=",      "-time",     "-verbose",        "-lineinfo",
      "-O3",         "-no-cache", "-ftz=",           "-prec-div=",
      "-prec-sqrt=", "-fma=",     "-split-compile=", "-optimize-unused-variables"};
  return std::any_of(std::begin(words), std::end(words), [&](std::string_view one) {
    return one.back() == '=' ? word.starts_with(one) : word == one;
  });
}

/// The same of a word with which it makes machine code of LTO-IR. Without fused products the
/// assembler may be told so, too.
bool is_harmless_with_lto(std::string_view word) {
  return word == "-lto" || (is_harmless(word) && word != "-fma=0");
}

int create_link(const char *name, const void *caller, void **link, std::uint32_t count,
                const char *const *options) {
  auto *const function = behind_linker<CreateLink>(name, nullptr, caller);
  if (!function)
    return linker_internal_error;
  const int result = function(link, count, options);
  if (result != 0 || !link || !*link)
    return result;
  Link made;
  made.library = library_of(reinterpret_cast<void *>(function));
  if (options && notes_links())
    made.words.assign(options, options + count);
  if (std::find(made.words.begin(), made.words.end(), "-lto") == made.words.end())
    made.words.clear();
  made.other_code =
      options && !std::all_of(options, options + count,
                              made.words.empty() ? is_harmless : is_harmless_with_lto);
  lock_handles();
  std::swap(links()[*link], made);
  unlock_handles();
  if (made.library) // of one that ended unseen
    ::dlclose(made.library);
  return result;
}

/// Notes an input: its PTX, its LTO-IR, or neither.
void note_input(void *link, std::string ptx, std::string_view part = {}) {
  with_link(link, [&](Link &known) {
    known.ptx = ++known.inputs == 1 ? std::move(ptx) : "";
    std::size_t kept = part.size();
    for (const std::string &other : known.parts)
      kept += other.size();
    if (!part.empty() && !known.words.empty() && kept <= most_linked)
      known.parts.emplace_back(part);
  });
}

/// The PTX of an input of that kind; empty if it is something else.
std::string ptx_of_input(int kind, std::string_view bytes) {
  return (kind == input_ptx || kind == input_any) && bytes.size() <= most_linked &&
                 begins_ptx(bytes.data(), bytes.size())
             ? std::string(bytes)
             : "";
}

int add_data(const char *name, const void *caller, void *link, int kind, const void *data,
             std::size_t size, const char *label) {
  auto *const function = behind_linker<AddData>(name, link, caller);
  if (!function)
    return linker_internal_error;
  const int result = function(link, kind, data, size, label);
  if (result == 0 && notes_links()) {
    const std::string_view bytes(static_cast<const char *>(data), data ? size : 0);
    note_input(link, ptx_of_input(kind, bytes), kind == input_lto ? bytes : std::string_view());
  }
  return result;
}

/// The PTX in a file; empty if it is something else, or not to be had.
std::string ptx_of_file(int kind, const char *path) {
  struct stat info {};
  if ((kind != input_ptx && kind != input_any) || !path || ::stat(path, &info) != 0 ||
      !S_ISREG(info.st_mode) || info.st_size > static_cast<off_t>(most_linked))
    return "";
  return ptx_of_input(kind, read_whole(path).value_or(""));
}

int add_file(const char *name, const void *caller, void *link, int kind, const char *path) {
  auto *const function = behind_linker<AddFile>(name, link, caller);
  if (!function)
    return linker_internal_error;
  if (!notes_links())
    return function(link, kind, path);
  std::string ptx = ptx_of_file(kind, path);
  const int result = function(link, kind, path);
  if (result == 0)
    note_input(link, ptx == ptx_of_file(kind, path) ? std::move(ptx) : "");
  return result;
}

/// The library's function that is called so where another one is called `name`.
template <typename Function>
Function *beside(const Link &link, std::string name, std::string_view what) {
  constexpr std::string_view code = "GetLinkedCubin";
  name.replace(name.find(code), code.size(), what);
  return link.library ? reinterpret_cast<Function *>(real_dlsym(link.library, name.c_str()))
                      : nullptr;
}

/// The PTX of which such machine code is made; empty if it is not to be had. With a LookupGuard.
std::string linked_ptx(const Link &link, const char *name) {
  auto *const create = beside<CreateLink>(link, name, "Create");
  auto *const add = beside<AddData>(link, name, "AddData");
  auto *const complete = beside<CompleteLink>(link, name, "Complete");
  auto *const get_size = beside<GetSize>(link, name, "GetLinkedPtxSize");
  auto *const get = beside<GetCode>(link, name, "GetLinkedPtx");
  auto *const destroy = beside<DestroyLink>(link, name, "Destroy");
  std::vector<const char *> words;
  for (const std::string &word : link.words)
    words.push_back(word.c_str());
  words.push_back("-ptx");
  void *again = nullptr;
  if (!create || !add || !complete || !get_size || !get || !destroy ||
      create(&again, static_cast<std::uint32_t>(words.size()), words.data()) != 0)
    return "";
  bool fine = std::all_of(link.parts.begin(), link.parts.end(), [&](const std::string &part) {
    return add(again, input_lto, part.data(), part.size(), "") == 0;
  });
  std::size_t size = 0;
  fine = fine && complete(again) == 0 && get_size(again, &size) == 0 && size <= most_linked;
  std::string ptx(fine ? size : 0, '\0');
  fine = fine && get(again, ptx.data()) == 0 && begins_ptx(ptx.data(), ptx.size());
  destroy(&again);
  ptx.resize(fine ? ::strnlen(ptx.data(), ptx.size()) : 0);
  return ptx;
}

/// Notes what some machine code was made of, which a function of that name gave.
void note_linked(const Link &link, std::string_view code, const char *name) {
  const bool of_parts = link.inputs == link.parts.size();
  if (link.inputs > 1 && !of_parts)
    remember_without_ptx(code, "relocatable", "nvJitLink linked it from several inputs");
  else if (link.ptx.empty() && !of_parts)
    remember_without_ptx(code, "no-ptx", "nvJitLink made it of something else than PTX");
  else if (link.other_code || (!of_parts && !link.words.empty()))
    remember_without_ptx(code, "options", "the program told nvJitLink how to compile it");
  else if (!of_parts)
    remember_compiled(code, link.ptx);
  else if (compiled_code(code.data()).ptx.empty()) { // no earlier run knows it
    std::string ptx = linked_ptx(link, name);
    if (ptx.empty())
      remember_without_ptx(code, "no-ptx", "nvJitLink does not give the PTX that it made");
    else
      remember_compiled(code, std::move(ptx));
  }
}

int get_code(const char *name, const void *caller, void *link, void *code) {
  auto *const function = behind_linker<GetCode>(name, link, caller);
  if (!function)
    return linker_internal_error;
  const int result = function(link, code);
  if (result != 0 || !code || !notes_links())
    return result;
  Link seen;
  with_link(link, [&](const Link &known) { seen = known; });
  const LookupGuard guard;
  std::size_t size = 0;
  auto *const get_size = beside<GetSize>(seen, name, "GetLinkedCubinSize");
  if (get_size && get_size(link, &size) == 0 && size <= most_linked && seen.inputs != 0)
    note_linked(seen, {static_cast<const char *>(code), size}, name);
  return result;
}

int destroy_link(const char *name, const void *caller, void **link) {
  void *const ended = link ? *link : nullptr;
  auto *const function = behind_linker<DestroyLink>(name, ended, caller);
  if (!function)
    return linker_internal_error;
  // Before the library uses the address again.
  Link known;
  lock_handles();
  if (const auto found = links().find(ended); found != links().end()) {
    known = std::move(found->second);
    links().erase(found);
  }
  unlock_handles();
  const int result = function(link);
  if (known.library)
    ::dlclose(known.library);
  return result;
}

} // namespace
} // namespace ptxasw::wrapper::launch

using namespace ptxasw::wrapper::launch;

// The same under every name: as they are, and as the headers of CUDA 12 and 13 call them.
#define PTXASW_LINKER(create, data, file, code, destroy)                                           \
  extern "C" {                                                                                     \
  PTXASW_EXPORT int create(void **link, std::uint32_t count, const char *const *options) {         \
    return create_link(#create, __builtin_return_address(0), link, count, options);                \
  }                                                                                                \
  PTXASW_EXPORT int data(void *link, int kind, const void *bytes, std::size_t size,                \
                         const char *name) {                                                       \
    return add_data(#data, __builtin_return_address(0), link, kind, bytes, size, name);            \
  }                                                                                                \
  PTXASW_EXPORT int file(void *link, int kind, const char *path) {                                 \
    return add_file(#file, __builtin_return_address(0), link, kind, path);                         \
  }                                                                                                \
  PTXASW_EXPORT int code(void *link, void *to) {                                                   \
    return get_code(#code, __builtin_return_address(0), link, to);                                 \
  }                                                                                                \
  PTXASW_EXPORT int destroy(void **link) {                                                         \
    return destroy_link(#destroy, __builtin_return_address(0), link);                              \
  }                                                                                                \
  }
#define PTXASW_LINKER_NAMES(create, data, file, code, destroy)                                     \
  {#create, reinterpret_cast<void *>(&create)}, {#data, reinterpret_cast<void *>(&data)},          \
      {#file, reinterpret_cast<void *>(&file)}, {#code, reinterpret_cast<void *>(&code)},          \
      {#destroy, reinterpret_cast<void *>(&destroy)},
#define PTXASW_VERSION_OF_LINKER(each, version)                                                    \
  each(__nvJitLinkCreate_##version, __nvJitLinkAddData_##version, __nvJitLinkAddFile_##version,    \
       __nvJitLinkGetLinkedCubin_##version, __nvJitLinkDestroy_##version)
#define PTXASW_LINKERS_OF(each, major)                                                             \
  PTXASW_VERSION_OF_LINKER(each, major##_0)                                                        \
  PTXASW_VERSION_OF_LINKER(each, major##_1)                                                        \
  PTXASW_VERSION_OF_LINKER(each, major##_2)                                                        \
  PTXASW_VERSION_OF_LINKER(each, major##_3)                                                        \
  PTXASW_VERSION_OF_LINKER(each, major##_4)                                                        \
  PTXASW_VERSION_OF_LINKER(each, major##_5)                                                        \
  PTXASW_VERSION_OF_LINKER(each, major##_6)                                                        \
  PTXASW_VERSION_OF_LINKER(each, major##_7)                                                        \
  PTXASW_VERSION_OF_LINKER(each, major##_8)                                                        \
  PTXASW_VERSION_OF_LINKER(each, major##_9)
#define PTXASW_LINKERS(each)                                                                       \
  each(nvJitLinkCreate, nvJitLinkAddData, nvJitLinkAddFile, nvJitLinkGetLinkedCubin,               \
       nvJitLinkDestroy) PTXASW_LINKERS_OF(each, 12) PTXASW_LINKERS_OF(each, 13)

PTXASW_LINKERS(PTXASW_LINKER)

namespace ptxasw::wrapper::launch {
namespace {

LinkerName names[] = {PTXASW_LINKERS(PTXASW_LINKER_NAMES)};
const std::size_t name_count = std::size(names);

/// Where the nvJitLink lies in which something was looked up first.
std::atomic<void *> first_linker{nullptr};

} // namespace

void *our_linker(const char *name) {
  const LinkerName *const known = find_name(name);
  return known ? known->ours : nullptr;
}

void *replace_linker(const char *name, void *found) {
  LinkerName *const known = find_name(name);
  Dl_info info;
  if (!known || !found || !::dladdr(found, &info))
    return found;
  void *first = nullptr;
  if (!first_linker.compare_exchange_strong(first, info.dli_fbase) && first != info.dli_fbase)
    return found; // of another nvJitLink nothing is known
  known->found.store(found);
  return known->ours;
}

} // namespace ptxasw::wrapper::launch
