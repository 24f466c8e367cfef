// By what one copy of ptxasw knows another: an ELF note (gABI, "Note Section"), which the linker
// puts into a segment of its own near the start of the file. A path or an inode would not do: a
// second copy in PATH would take the first for the real ptxas, and that one the second.

#include "wrapper/drop_in/marker.h"

#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace ptxasw::wrapper {
namespace {

constexpr char owner[8] = "ptxasw"; // with its padding to four bytes

struct Note {
  Elf64_Nhdr header;
  char name[8];
  char description[4];
};

__attribute__((used, section(".note.ptxasw"), aligned(4))) constexpr Note note = {
    {sizeof owner, 4, 1}, {'p', 't', 'x', 'a', 's', 'w'}, {'1'}};

/// Returns true if that many bytes could be read there.
bool read_at(int file, Elf64_Off offset, void *to, std::size_t size) {
  return ::pread(file, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

bool has_note(int file) {
  Elf64_Ehdr header;
  if (!read_at(file, 0, &header, sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return false;
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!read_at(file, header.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr)))
    return false;
  for (const Elf64_Phdr &segment : segments) {
    constexpr Elf64_Xword longest = 4096; // notes are short
    if (segment.p_type != PT_NOTE || segment.p_filesz > longest)
      continue;
    std::vector<char> bytes(segment.p_filesz);
    if (!read_at(file, segment.p_offset, bytes.data(), bytes.size()))
      continue;
    const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
    for (std::size_t at = 0; at + sizeof(Elf64_Nhdr) <= bytes.size();) {
      Elf64_Nhdr found;
      std::memcpy(&found, bytes.data() + at, sizeof found);
      at += sizeof found;
      if (found.n_namesz == sizeof owner && at + sizeof owner <= bytes.size() &&
          std::memcmp(bytes.data() + at, owner, sizeof owner) == 0)
        return true;
      at += padded(found.n_namesz) + padded(found.n_descsz);
    }
  }
  return false;
}

} // namespace

bool is_ptxasw(const std::string &path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return false;
  const bool result = has_note(file);
  ::close(file);
  return result;
}

} // namespace ptxasw::wrapper
