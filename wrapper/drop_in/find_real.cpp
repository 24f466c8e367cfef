// The real ptxas: what the user named, what lies beside us, the toolkit of CUDA_HOME, PATH, where
// NVIDIA's installers put it, in this order. Copies of ptxasw are recognised by their contents and
// skipped, or we would call ourselves forever.

#include "wrapper/drop_in/find_real.h"

#include "wrapper/drop_in/marker.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/core.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

/// Where NVIDIA's packages and installers leave a link to the newest toolkit.
constexpr const char *usual_toolkit = "/usr/local/cuda";

struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const Identity &) const = default;
};

/// All zero for what does not exist; no file is that.
Identity identity(const std::string &path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? Identity{info.st_dev, info.st_ino} : Identity{};
}

bool is_program(const std::string &path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string canonical(const std::string &path) {
  char *resolved = ::realpath(path.c_str(), nullptr);
  std::string result = resolved ? resolved : "";
  std::free(resolved);
  return result;
}

std::string directory_of(const std::string &path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

class Search {
public:
  /// A candidate serves if it is a program and no ptxasw: neither this very file, be it by a link
  /// or a second name, nor another copy.
  bool serves(const std::string &path) const {
    return is_program(path) && identity(path) != self_ && !is_ptxasw(path);
  }

private:
  Identity self_ = identity("/proc/self/exe");
};

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

} // namespace

std::string invoked_path() {
  const auto *path = reinterpret_cast<const char *>(::getauxval(AT_EXECFN));
  return path ? path : own_path();
}

std::string own_path() { return canonical("/proc/self/exe"); }

tl::expected<RealTool, std::string> find_real(const std::string &explicit_path,
                                              const std::string &invoked) {
  const Search search;
  if (!explicit_path.empty()) {
    if (!is_program(explicit_path))
      return tl::unexpected(
          fmt::format("the setting `real` names `{}`, which is not a program", explicit_path));
    if (!search.serves(explicit_path))
      return tl::unexpected(
          fmt::format("the setting `real` names `{}`, which is ptxasw again", explicit_path));
    return RealTool{explicit_path, "the setting `real`"};
  }
  const std::string here = directory_of(invoked);
  if (const std::string path = here + "/ptxas.real"; search.serves(path))
    return RealTool{path, "`ptxas.real` beside ptxasw"};
  for (const char *neighbour : {"nvcc", "fatbinary", "nvlink"}) {
    const std::string link = here + "/" + neighbour;
    const std::string path = directory_of(canonical(link)) + "/ptxas";
    if (is_program(link) && search.serves(path))
      return RealTool{path, fmt::format("beside `{}`, which `{}` leads to", neighbour, link)};
  }
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string home = environment(variable); !home.empty())
      if (const std::string path = home + "/bin/ptxas"; search.serves(path))
        return RealTool{path, fmt::format("in {}", variable)};
  std::string_view rest = std::getenv("PATH") ? std::getenv("PATH") : "";
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string directory(rest.substr(0, colon));
    if (const std::string path = (directory.empty() ? "." : directory) + "/ptxas";
        search.serves(path))
      return RealTool{path, "in PATH"};
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  if (const std::string path = fmt::format("{}/bin/ptxas", usual_toolkit); search.serves(path))
    return RealTool{path, fmt::format("in {}", usual_toolkit)};
  return tl::unexpected(fmt::format(
      "cannot find the real ptxas: not as ptxas.real beside ptxasw, not in CUDA_HOME or "
      "CUDA_PATH, not in PATH, not in {}. Set PTXASW_REAL to its path",
      usual_toolkit));
}

} // namespace ptxasw::wrapper
