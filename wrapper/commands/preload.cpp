// Someone else's commands, run with a library of ours in front of the others.

#include "wrapper/commands/preload.h"

#include "wrapper/commands/command.h"
#include "wrapper/drop_in/find_real.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <unistd.h>

namespace ptxasw::wrapper {

tl::expected<std::string, std::string> find_library(const std::string &name) {
  const std::string self = own_path();
  const std::string directory = self.substr(0, self.rfind('/'));
  for (const char *place : {"/", "/../libexec/ptxasw/"})
    if (std::string path = directory + place + name; ::access(path.c_str(), R_OK) == 0)
      return path;
  return tl::unexpected(fmt::format("{} is not beside ptxasw", name));
}

tl::expected<std::string, std::string> find_runtime() {
  const auto archive = find_library("no-gpu/libptxasw_cudart.a");
  if (!archive)
    return tl::unexpected(archive.error() +
                          "; it is in the package libptxasw-emulate, and is built where the "
                          "toolkit's cuda_runtime_api.h is found");
  return std::filesystem::canonical(*archive).parent_path().string();
}

void put_runtime_first(const std::string &directory) {
  const char *const others = std::getenv("LD_LIBRARY_PATH");
  ::setenv("LD_LIBRARY_PATH", (others && *others ? directory + ":" + others : directory).c_str(),
           1);
}

tl::expected<void, std::string> preload(const std::string &name) {
  const auto library = find_library(name);
  if (!library)
    return tl::unexpected(library.error());
  if (library->find_first_of(" :") != std::string::npos)
    return tl::unexpected(
        fmt::format("LD_PRELOAD cannot hold `{}`: a blank or a colon ends a path", *library));
  const char *others = std::getenv("LD_PRELOAD");
  ::setenv("LD_PRELOAD", (others && *others ? *library + ":" + others : *library).c_str(), 1);
  return {};
}

int become_command(const std::vector<std::string> &command, const std::string &name) {
  std::vector<char *> argv;
  for (const char *word : {"sh", "-c", "exec \"$@\"", name.c_str()})
    argv.push_back(const_cast<char *>(word));
  for (const std::string &word : command)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  ::execv("/bin/sh", argv.data());
  return complain(fmt::format("cannot run /bin/sh: {}", std::strerror(errno)), 126); // as shells do
}

} // namespace ptxasw::wrapper
