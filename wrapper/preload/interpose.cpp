// Preloaded into a build by `ptxasw run`: whatever process starts a program called ptxas, or GCC's
// compiler for NVIDIA GPUs or its assembler, through any member of the exec family, starts ptxasw
// instead, which is told the path of the real one. With `--no-gpu` a linker is given our runtime
// before the toolkit's. Everything else goes through untouched. Statically linked programs do not
// load us.
//
// Runs inside foreign processes, also between fork and exec: no allocation except on the stack, no
// C++ runtime.

#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr std::size_t longest_path = 4096;
constexpr char real_flag[] = "--ptxasw-real=";
constexpr char guard[] = "PTXASW_GUARD=";                 // ptxasw is starting the real one
constexpr char offload_guard[] = "PTXASW_OFFLOAD_GUARD="; // the same of GCC's compiler

char ptxasw_path[longest_path];

/// ptxasw lies beside this library, or in ../../bin where it was installed.
__attribute__((constructor)) void find_ptxasw() {
  Dl_info info;
  if (!::dladdr(reinterpret_cast<void *>(&find_ptxasw), &info) || !info.dli_fname)
    return;
  for (const char *place : {"ptxasw", "../../bin/ptxasw"}) {
    const char *slash = std::strrchr(info.dli_fname, '/');
    const std::size_t length = slash ? static_cast<std::size_t>(slash + 1 - info.dli_fname) : 0;
    if (length + std::strlen(place) >= longest_path)
      return;
    std::memcpy(ptxasw_path, info.dli_fname, length);
    std::strcpy(ptxasw_path + length, place);
    if (::access(ptxasw_path, X_OK) == 0)
      return;
  }
  ptxasw_path[0] = '\0';
}

enum class Kind { other, ptxas, assembler, offload };

/// What a path names: ptxas; GCC's nvptx compiler, whose name ends with `accel-nvptx-none-gcc` and
/// maybe a version; or its assembler, which is called `nvptx-none-as`, `.../nvptx-none/as` or
/// `.../nvptx-none/bin/as`.
Kind kind_of(const char *path) {
  const char *slash = std::strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  if (std::strcmp(name, "ptxas") == 0)
    return Kind::ptxas;
  if (std::strcmp(name, "nvptx-none-as") == 0)
    return Kind::assembler;
  if (std::strstr(name, "accel-nvptx-none-gcc"))
    return Kind::offload;
  const auto ends_with = [&](const char *end) {
    const std::size_t length = std::strlen(path), wanted = std::strlen(end);
    return length >= wanted && std::strcmp(path + length - wanted, end) == 0;
  };
  return ends_with("/nvptx-none/as") || ends_with("/nvptx-none/bin/as") ? Kind::assembler
                                                                        : Kind::other;
}

constexpr char no_gpu_variable[] = "PTXASW_RUNTIME_DIRECTORY"; ///< the directory of our runtime
constexpr char toolkit_archive[] = "/libcudart_static.a";

/// What links programs: a compiler driver or the linker itself, under the usual names.
bool is_linker(const char *path) {
  const char *slash = std::strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  for (const char *word : {"gcc", "g++", "c++", "clang", "clang++", "cc", "ld"}) {
    const std::size_t length = std::strlen(word);
    // Behind a target's name, or before a version: x86_64-linux-gnu-g++-12.
    for (const char *at = std::strstr(name, word); at; at = std::strstr(at + 1, word))
      if ((at == name || at[-1] == '-') &&
          (at[length] == 0 || at[length] == '-' || at[length] == '.'))
        return true;
  }
  return false;
}

/// The words of a linker with our runtime's directory before all others, and our archive for the
/// toolkit's. `changed` has room for one more word, `directory` for the option.
char *const *with_runtime(char *const *argv, const char *runtime, char **changed, char *directory,
                          char *archive) {
  std::strcat(std::strcpy(directory, "-L"), runtime);
  std::strcat(std::strcpy(archive, runtime), toolkit_archive);
  std::size_t n = 0;
  for (; *argv; ++argv) {
    const std::size_t length = std::strlen(*argv), wanted = sizeof toolkit_archive - 1;
    const bool is_archive =
        length >= wanted && std::strcmp(*argv + length - wanted, toolkit_archive) == 0;
    changed[n++] = is_archive ? archive : *argv;
    if (n == 1)
      changed[n++] = directory;
  }
  changed[n] = nullptr;
  return changed;
}

/// Room for what a linker is told in place of `argv`, on the stack of whoever starts it.
#define GIVE_RUNTIME(file, argv)                                                                   \
  const char *const runtime = std::getenv(no_gpu_variable);                                        \
  if (runtime && file && argv && *argv && is_linker(file) &&                                       \
      std::strlen(runtime) + sizeof toolkit_archive < longest_path) {                              \
    auto *const words =                                                                            \
        static_cast<char **>(__builtin_alloca((count(argv) + 2) * sizeof(char *)));                \
    auto *const texts = static_cast<char *>(__builtin_alloca(2 * longest_path));                   \
    argv = with_runtime(argv, runtime, words, texts, texts + longest_path);                        \
  }

bool same_file(const char *a, const char *b) {
  struct stat one, other;
  return ::stat(a, &one) == 0 && ::stat(b, &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

/// Finds a program as execvp would. False: leave it to the real function.
bool search(const char *file, char *result) {
  if (std::strchr(file, '/')) {
    if (std::strlen(file) >= longest_path)
      return false;
    std::strcpy(result, file);
    return true;
  }
  const char *rest = std::getenv("PATH");
  while (rest && *rest) {
    const char *colon = std::strchr(rest, ':');
    const std::size_t length = colon ? static_cast<std::size_t>(colon - rest) : std::strlen(rest);
    if (length + std::strlen(file) + 2 < longest_path) {
      std::memcpy(result, rest, length);
      std::strcpy(result + length, length ? "/" : "./");
      std::strcat(result, file);
      if (::access(result, X_OK) == 0)
        return true;
    }
    rest = colon ? colon + 1 : nullptr;
  }
  return false;
}

std::size_t count(char *const *list) {
  std::size_t n = 0;
  while (list && list[n])
    ++n;
  return n;
}

bool guarded(char *const *environment, Kind kind) {
  const char *const mark = kind == Kind::offload ? offload_guard : guard;
  for (; environment && *environment; ++environment)
    if (std::strncmp(*environment, mark, std::strlen(mark)) == 0)
      return true;
  return false;
}

/// Calls `go(path, argv)` with what to start in place of `path`, or returns `otherwise()`.
template <typename Go, typename Otherwise>
int redirect(const char *file, char *const *argv, char *const *environment, bool use_path, Go go,
             Otherwise otherwise) {
  char path[longest_path];
  const Kind kind = file && ptxasw_path[0] && argv ? kind_of(file) : Kind::other;
  if (kind == Kind::other || guarded(environment, kind))
    return otherwise();
  if (use_path ? !search(file, path) : std::strlen(file) >= longest_path)
    return otherwise();
  if (!use_path)
    std::strcpy(path, file);
  // `ptxas` may already be one of our links, in an overlay; then the overlay knows what to do.
  if (::access(path, X_OK) != 0 || same_file(path, ptxasw_path))
    return otherwise();
  const std::size_t words = count(argv);
  const auto bytes = (words + 8) * sizeof(char *);
  auto *const changed = static_cast<char **>(__builtin_alloca(bytes));
  char flag[sizeof real_flag + longest_path];
  std::size_t n = 0;
  if (kind == Kind::ptxas) {
    std::strcat(std::strcpy(flag, real_flag), path);
    changed[n++] = const_cast<char *>("ptxas"); // the name tells ptxasw what to be
    changed[n++] = flag;
  } else {
    const bool compiles = kind == Kind::offload;
    for (const char *word :
         {"ptxasw", compiles ? "offload" : "assemble", compiles ? "--compiler" : "--assembler",
          static_cast<const char *>(path), "--"})
      changed[n++] = const_cast<char *>(word);
  }
  for (std::size_t i = 1; i < words; ++i)
    changed[n++] = argv[i];
  changed[n] = nullptr;
  return go(ptxasw_path, changed);
}

template <typename Function> Function next(const char *name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

using Exec = int (*)(const char *, char *const *, char *const *);
using Spawn = int (*)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                      const posix_spawnattr_t *, char *const *, char *const *);

int exec_like(const char *name, const char *file, char *const *argv, char *const *environment,
              bool use_path) {
  GIVE_RUNTIME(file, argv)
  return redirect(
      file, argv, environment, use_path,
      [&](const char *path, char *const *words) {
        return next<Exec>("execve")(path, words, environment);
      },
      [&] { return next<Exec>(name)(file, argv, environment); });
}

int spawn_like(const char *name, pid_t *pid, const char *file,
               const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
               char *const *argv, char *const *environment, bool use_path) {
  GIVE_RUNTIME(file, argv)
  return redirect(
      file, argv, environment, use_path,
      [&](const char *path, char *const *words) {
        return next<Spawn>("posix_spawn")(pid, path, actions, attributes, words, environment);
      },
      [&] { return next<Spawn>(name)(pid, file, actions, attributes, argv, environment); });
}

/// Gathers the words of execl and its kin. `arguments` then stands behind the null pointer.
#define GATHER(first, list)                                                                        \
  va_list list;                                                                                    \
  va_start(list, first);                                                                           \
  std::size_t n = 1;                                                                               \
  while (va_arg(list, char *))                                                                     \
    ++n;                                                                                           \
  va_end(list);                                                                                    \
  auto *const argv = static_cast<char **>(__builtin_alloca((n + 1) * sizeof(char *)));             \
  va_start(list, first);                                                                           \
  argv[0] = const_cast<char *>(first);                                                             \
  for (std::size_t i = 1; i <= n; ++i)                                                             \
    argv[i] = va_arg(list, char *);

} // namespace

EXPORT int execve(const char *path, char *const *argv, char *const *environment) {
  return exec_like("execve", path, argv, environment, false);
}

EXPORT int execv(const char *path, char *const *argv) {
  return exec_like("execve", path, argv, environ, false);
}

EXPORT int execvpe(const char *file, char *const *argv, char *const *environment) {
  return exec_like("execvpe", file, argv, environment, true);
}

EXPORT int execvp(const char *file, char *const *argv) {
  return exec_like("execvpe", file, argv, environ, true);
}

EXPORT int execl(const char *path, const char *first, ...) {
  GATHER(first, list)
  va_end(list);
  return exec_like("execve", path, argv, environ, false);
}

EXPORT int execlp(const char *file, const char *first, ...) {
  GATHER(first, list)
  va_end(list);
  return exec_like("execvpe", file, argv, environ, true);
}

EXPORT int execle(const char *path, const char *first, ...) {
  GATHER(first, list)
  char *const *const environment = va_arg(list, char *const *);
  va_end(list);
  return exec_like("execve", path, argv, environment, false);
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const *argv,
                       char *const *environment) {
  return spawn_like("posix_spawn", pid, path, actions, attributes, argv, environment, false);
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const *argv,
                        char *const *environment) {
  return spawn_like("posix_spawnp", pid, file, actions, attributes, argv, environment, true);
}
