// Which settings files there are, and if they may be trusted.
//
// A file that was found by walking up from the current directory can have been put there by anyone
// who may write to one of those directories: it counts only if its owner is the user (or root) and
// nobody else may write to it, and a link only if the same is true of the link. Even so it may not
// name programs or files (SettingSpec::in_project). What is checked is the file that is then read,
// by its descriptor.
//
// Apart from the TOML reader: most runs find no file and should not pay for more than the search.

#include "wrapper/settings/find_config.h"

#include "wrapper/os/files.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

/// Why what `info` describes may not be trusted; empty: it may.
std::string distrust(const struct stat &info, const char *what) {
  if (info.st_uid != ::geteuid() && info.st_uid != 0)
    return fmt::format("{} is owned by another user ({})", what, info.st_uid);
  if (S_ISLNK(info.st_mode)) // the mode of a link says nothing
    return "";
  if (info.st_mode & S_IWOTH)
    return fmt::format("everybody may write to {}", what);
  // Where each user has their own group, that group is the user.
  if ((info.st_mode & S_IWGRP) && info.st_gid != 0 && info.st_gid != info.st_uid)
    return fmt::format("a group (of number {}) may write to {}", info.st_gid, what);
  return "";
}

/// Takes a candidate: nothing if there is no such file, or if it is not to be trusted.
std::optional<ConfigFile> open_config(const std::string &path, std::vector<std::string> &ignored) {
  struct stat link {};
  if (::lstat(path.c_str(), &link) != 0)
    return std::nullopt;
  const auto ignore = [&](const std::string &why) {
    ignored.push_back(fmt::format("`{}` is ignored: {}", path, why));
    return std::nullopt;
  };
  if (S_ISLNK(link.st_mode))
    if (const std::string why = distrust(link, "the link"); !why.empty())
      return ignore(why);
  // Non-blocking: a pipe without a writer would stop us right here.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return ignore(std::strerror(errno));
  struct stat info {};
  std::string why;
  std::optional<std::string> text;
  if (::fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
    why = "it is no regular file";
  else if (why = distrust(info, "it"); why.empty())
    if (text = read_descriptor(file); !text)
      why = std::strerror(errno);
  ::close(file);
  if (!why.empty())
    return ignore(why);
  return ConfigFile{path, std::move(*text)};
}

} // namespace

std::optional<ConfigFile> find_user_config(std::vector<std::string> &ignored) {
  const char *config = std::getenv("XDG_CONFIG_HOME");
  const char *home = std::getenv("HOME");
  const std::string base = config && *config ? config
                           : home && *home   ? std::string(home) + "/.config"
                                             : "";
  return base.empty() ? std::nullopt : open_config(base + "/ptxasw/ptxasw.toml", ignored);
}

std::optional<ConfigFile> find_project_config(std::vector<std::string> &ignored) {
  constexpr char name[] = "/ptxasw.toml";
  char buffer[4096];
  std::string directory = ::getcwd(buffer, sizeof buffer) ? buffer : "";
  // A directory outside the current root has a name that does not start with a slash.
  while (directory.starts_with('/')) {
    if (auto found = open_config(directory + name, ignored))
      return found;
    directory.resize(directory.rfind('/'));
  }
  return open_config(name, ignored);
}

} // namespace ptxasw::wrapper
