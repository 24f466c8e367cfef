// Read by offsets that are held against the file's size by pread(); a file that is no program of 64
// bits says nothing.

#include "wrapper/commands/faster_program.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

/// A program's file, found as a shell finds it.
std::string file_of(const std::string &program) {
  if (program.find('/') == std::string::npos) {
    const char *list = std::getenv("PATH");
    for (std::string_view rest = list ? list : ""; !rest.empty();) {
      const std::string_view part = rest.substr(0, rest.find(':'));
      std::string path = (part.empty() ? "." : std::string(part)) + "/" + program;
      struct stat found {};
      if (::access(path.c_str(), X_OK) == 0 && ::stat(path.c_str(), &found) == 0 &&
          S_ISREG(found.st_mode))
        return path;
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    }
  }
  return program;
}

/// The run-time library of a sanitizer (GCC's, LLVM's shared ones) among names or paths of
/// libraries; empty: none. Some insist on being the first library, some cannot bear that a library
/// is started before them.
std::string sanitizer_among(const std::vector<std::string> &libraries) {
  for (const std::string &path : libraries) {
    std::string name = path.substr(path.rfind('/') + 1);
    for (const char *start : {"libasan.", "libhwasan.", "libtsan.", "liblsan.", "libubsan.",
                              "libclang_rt.asan", "libclang_rt.hwasan", "libclang_rt.tsan",
                              "libclang_rt.msan", "libclang_rt.lsan", "libclang_rt.ubsan"})
      if (name.starts_with(start))
        return name;
  }
  return "";
}

} // namespace

std::optional<Linked> read_linked(const std::string &path) {
  constexpr std::uint64_t most_bytes = 1 << 24;
  constexpr std::size_t most_libraries = 1024, longest_name = 4096;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const auto read = [&](std::uint64_t at, std::uint64_t size) -> std::optional<std::string> {
    std::string bytes(size > most_bytes ? 0 : size, '\0');
    const ssize_t got = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(at));
    return got == static_cast<ssize_t>(size) ? std::optional(std::move(bytes)) : std::nullopt;
  };
  auto linked = [&]() -> std::optional<Linked> {
    Elf64_Ehdr header;
    const auto head = read(0, sizeof header);
    if (!head)
      return std::nullopt;
    std::memcpy(&header, head->data(), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr))
      return std::nullopt;
    std::vector<Elf64_Phdr> parts(header.e_phnum);
    const auto table = read(header.e_phoff, parts.size() * sizeof(Elf64_Phdr));
    if (!table)
      return std::nullopt;
    std::memcpy(parts.data(), table->data(), table->size());
    Linked result;
    std::vector<Elf64_Dyn> entries;
    for (const Elf64_Phdr &part : parts) {
      result.dynamically = result.dynamically || part.p_type == PT_INTERP;
      if (const auto bytes =
              part.p_type == PT_DYNAMIC ? read(part.p_offset, part.p_filesz) : std::nullopt) {
        entries.resize(bytes->size() / sizeof(Elf64_Dyn));
        std::memcpy(entries.data(), bytes->data(), entries.size() * sizeof(Elf64_Dyn));
      }
    }
    std::uint64_t address = 0, size = 0;
    for (const Elf64_Dyn &entry : entries)
      if (entry.d_tag == DT_STRTAB)
        address = entry.d_un.d_ptr;
      else if (entry.d_tag == DT_STRSZ)
        size = entry.d_un.d_val;
    for (const Elf64_Phdr &part : parts) {
      if (part.p_type != PT_LOAD || address < part.p_vaddr ||
          address - part.p_vaddr >= part.p_filesz)
        continue;
      const auto names = read(part.p_offset + (address - part.p_vaddr), size);
      for (const Elf64_Dyn &entry : entries)
        if (names && entry.d_tag == DT_NEEDED && entry.d_un.d_val < names->size() &&
            result.libraries.size() < most_libraries) {
          const char *const name = names->c_str() + entry.d_un.d_val;
          result.libraries.emplace_back(name, ::strnlen(name, longest_name));
        }
      break;
    }
    return result;
  }();
  if (file >= 0)
    ::close(file);
  return linked;
}

tl::expected<void, std::string> check_in_front(const std::string &program) {
  std::vector<std::string> libraries;
  const char *const others = std::getenv("LD_PRELOAD");
  std::string words = others ? others : "";
  std::replace(words.begin(), words.end(), ' ', ':');
  for (std::string_view rest = words; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(':'));
    libraries.emplace_back(part);
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  }
  if (const auto linked = read_linked(file_of(program)))
    libraries.insert(libraries.end(), linked->libraries.begin(), linked->libraries.end());
  const std::string found = sanitizer_among(libraries);
  if (!found.empty())
    return tl::unexpected(fmt::format(
        "the program runs under a sanitizer ({}), which bears no library in front of it", found));
  return {};
}

tl::expected<void, std::string> check_preloaded(const std::string &program) {
  const auto linked = read_linked(file_of(program));
  if (linked && !linked->dynamically)
    return tl::unexpected(std::string(
        "the program is linked statically, so nothing can be put between it and the driver"));
  return {};
}

} // namespace ptxasw::wrapper
