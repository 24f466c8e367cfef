// Where a machine has a driver and no toolkit, the driver compiles: it has the same compiler. That
// is done here, in a process that does nothing else, on a context of its own, so that the program
// never waits for it; what comes back is machine code in either case.

#include "wrapper/faster/assemble.h"

#include "wrapper/drop_in/find_real.h"
#include "wrapper/os/files.h"
#include "wrapper/os/process.h"
#include "wrapper/settings/load_settings.h"

#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ptxasw::wrapper::faster {
namespace {

/// A file by its size and time, which are others when it is.
std::string identity_of(const std::string &path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return path;
  return fmt::format("{} {} {}.{}", path, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

tl::unexpected<Kept> refused(std::string words) {
  return left_alone(not_assembled, std::move(words));
}

std::string first_line(const std::string &text) { return text.substr(0, text.find('\n')); }

tl::expected<std::string, Kept> by_ptxas(const std::string &ptxas, const std::string &ptx,
                                         const std::string &arch,
                                         const std::vector<std::string> &words,
                                         const std::string &directory) {
  const std::string in = fmt::format("{}/versions.ptx", directory), out = directory + "/cubin";
  if (const auto written = write_file_atomically(in, ptx); !written)
    return refused(written.error());
  ChildPlan plan{ptxas, "ptxas", {"-arch=" + arch, "-o", out, in}};
  plan.arguments.insert(plan.arguments.end(), words.begin(), words.end());
  plan.capture = STDERR_FILENO;
  // Not --split-compile, several versions at once: ptxas 13.0 crashes on some modules with that.
  const ChildResult done = run_child(plan);
  auto image = done.succeeded() ? read_regular_file(out) : std::nullopt;
  ::unlink(in.c_str());
  ::unlink(out.c_str());
  if (!image && done.started && WIFSIGNALED(done.status) && WTERMSIG(done.status) == SIGXCPU)
    return left_alone("limit", "assembling versions takes too long");
  if (!image)
    return refused(done.captured.empty() ? "it ended without a result" : first_line(done.captured));
  return std::move(*image);
}

/// The driver's linker, which compiles PTX (CUDA Driver API, "Module Management").
tl::expected<std::string, Kept> by_driver(const std::string &ptx, const std::string &arch) {
  using Handle = void *;
  void *const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (!library)
    return refused("there is neither a ptxas nor a driver");
  bool missing = false;
  const auto find = [&](const char *name, auto &function) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    missing = missing || !function;
  };
  int (*init)(unsigned) = nullptr, (*count)(int *) = nullptr,
      (*attribute)(int *, int, int) = nullptr, (*retain)(Handle *, int) = nullptr,
      (*enter)(Handle) = nullptr, (*create)(unsigned, int *, void **, Handle *) = nullptr,
      (*add)(Handle, int, void *, std::size_t, const char *, unsigned, int *, void **) = nullptr,
      (*complete)(Handle, void **, std::size_t *) = nullptr;
  find("cuInit", init);
  find("cuDeviceGetCount", count);
  find("cuDeviceGetAttribute", attribute);
  find("cuDevicePrimaryCtxRetain", retain);
  find("cuCtxSetCurrent", enter);
  find("cuLinkCreate_v2", create);
  find("cuLinkAddData_v2", add);
  find("cuLinkComplete", complete);
  int devices = 0;
  if (missing || init(0) != 0 || count(&devices) != 0)
    return refused("the driver cannot compile");
  for (int device = 0; device < devices; ++device) {
    constexpr int major = 75, minor = 76, ptx_input = 1; // CUdevice_attribute, CUjitInputType
    int high = 0, low = 0;
    Handle context = nullptr, link = nullptr;
    void *image = nullptr;
    std::size_t bytes = 0;
    if (attribute(&high, major, device) != 0 || attribute(&low, minor, device) != 0 ||
        fmt::format("sm_{}{}", high, low) != arch)
      continue;
    if (retain(&context, device) != 0 || enter(context) != 0 ||
        create(0, nullptr, nullptr, &link) != 0)
      return refused("the driver gave no context to compile in");
    if (add(link, ptx_input, const_cast<char *>(ptx.c_str()), ptx.size() + 1, "versions", 0,
            nullptr, nullptr) != 0 ||
        complete(link, &image, &bytes) != 0)
      return refused("the driver's compiler did not take it");
    return std::string(static_cast<const char *>(image), bytes);
  }
  return refused(fmt::format("there is no ptxas, and the driver has no GPU of {}", arch));
}

} // namespace

Assembler find_assembler() {
  Assembler result;
  if (const auto real = find_real(load_what_is_right().real, invoked_path()))
    result.ptxas = real->path;
  result.identity = fmt::format("{} {}", identity_of(own_path()),
                                result.ptxas.empty() ? "driver" : identity_of(result.ptxas));
  return result;
}

tl::expected<std::string, Kept> assemble(const Assembler &assembler, const std::string &ptx,
                                         const std::string &arch,
                                         const std::vector<std::string> &words,
                                         const std::string &directory) {
  if (!assembler.ptxas.empty())
    return by_ptxas(assembler.ptxas, ptx, arch, words, directory);
  if (!words.empty())
    return refused("there is no ptxas to be told how it was compiled");
  return by_driver(ptx, arch);
}

} // namespace ptxasw::wrapper::faster
