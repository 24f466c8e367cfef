// Apart from the TOML reader: most runs find no file and should not pay for more than the search.

#include "wrapper/config_file.h"

#include <cstdlib>
#include <unistd.h>

namespace ptxasw {

std::string find_config_file() {
  constexpr char name[] = "/ptxasw.toml";
  char buffer[4096];
  std::string directory = ::getcwd(buffer, sizeof buffer) ? buffer : "";
  // A directory outside of the current root has a name that does not start with a slash.
  while (directory.starts_with('/')) {
    if (::access((directory + name).c_str(), R_OK) == 0)
      return directory + name;
    directory.resize(directory.rfind('/'));
  }
  if (::access(name, R_OK) == 0)
    return name;
  const char *config = std::getenv("XDG_CONFIG_HOME");
  const char *home = std::getenv("HOME");
  std::string base = config && *config ? config
                     : home && *home   ? std::string(home) + "/.config"
                                       : "";
  const std::string path = base + "/ptxasw" + name;
  return !base.empty() && ::access(path.c_str(), R_OK) == 0 ? path : "";
}

} // namespace ptxasw
