// Programs keep what NVRTC and nvJitLink made (CuPy in ~/.cupy/kernel_cache) and load that the next
// time without them. So what they made is told to `ptxasw faster`, as a file in the directory of
// the run, and that says at the start of the next one, in the file `compiled`, of which machine
// code it remembers the PTX: its length and a hash. Same bytes do the same, whoever made them; so
// any PTX that gave them will do, and the last one is kept.
//
// Nobody says how long an image is that is loaded from memory, except the image. As the driver has
// to, this believes the headers; but what is as long as no known file is not read.

#include "wrapper/launch/compiled.h"

#include "wrapper/launch/answer.h"
#include "wrapper/launch/jit.h"
#include "wrapper/launch/kernels.h"
#include "wrapper/launch/state.h"
#include "wrapper/launch/whole_files.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <map>
#include <set>
#include <sys/stat.h>

namespace ptxasw::wrapper::launch {
namespace {

constexpr std::size_t most_ptx = std::size_t{32} << 20; ///< bytes of this run's PTX
constexpr std::size_t elf_header = 64;
constexpr std::size_t most_reasons = 4096;

/// With the lock of the handles held.
struct Compiled {
  std::map<std::string, std::string> now;      ///< in this process: PTX by compiled_name()
  std::size_t bytes = 0;                       ///< of that PTX
  bool was_read = false;                       ///< the file `compiled`
  std::string store;                           ///< the directory with what is remembered
  std::set<std::string> earlier;               ///< what is there
  std::map<std::string, CompiledCode> without; ///< why there is no PTX, by compiled_name()
  std::set<std::uint64_t> sizes;               ///< of all machine code of which anything is known

  void read() {
    if (was_read)
      return;
    was_read = true;
    const std::string text = read_whole_own(configuration().faster + "/compiled").value_or("");
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      std::string line = text.substr(at, end - at);
      const auto size = size_in_compiled_name(line);
      if (at == 0) {
        store = std::move(line);
      } else if (size) {
        sizes.insert(*size);
        earlier.insert(std::move(line));
      }
    }
  }
};
Compiled &compiled() {
  static auto *const value = new Compiled;
  return *value;
}

template <typename Number> Number number_at(const char *from) {
  Number result;
  std::memcpy(&result, from, sizeof result);
  return result;
}

/// How long an ELF file says that it is: where its last table or section ends. 0: it is none, or a
/// table or a section does not lie within `most` bytes.
std::uint64_t elf_size(const char *file, std::uint64_t most) {
  constexpr char is_64_bit = 2, little_endian = 1;
  constexpr std::uint32_t no_bits = 8;
  if (most < elf_header ||
      std::memcmp(file,
                  "\x7f"
                  "ELF",
                  4) != 0 ||
      file[4] != is_64_bit || file[5] != little_endian)
    return 0;
  const auto programs = number_at<std::uint64_t>(file + 32),
             sections = number_at<std::uint64_t>(file + 40);
  const std::uint64_t program = number_at<std::uint16_t>(file + 54),
                      program_count = number_at<std::uint16_t>(file + 56),
                      section = number_at<std::uint16_t>(file + 58),
                      section_count = number_at<std::uint16_t>(file + 60);
  if (programs > most || program * program_count > most - programs || sections > most ||
      section < 64 || section * section_count > most - sections)
    return 0;
  std::uint64_t end =
      std::max(programs + program * program_count, sections + section * section_count);
  for (std::uint64_t i = 0; i < section_count; ++i) {
    const char *const header = file + sections + i * section;
    if (number_at<std::uint32_t>(header + 4) == no_bits)
      continue;
    const auto at = number_at<std::uint64_t>(header + 24),
               size = number_at<std::uint64_t>(header + 32);
    if (at > most || size > most - at)
      return 0;
    end = std::max(end, at + size);
  }
  return end;
}

} // namespace

void remember_compiled(std::string_view code, std::string ptx) {
  ptx.resize(::strnlen(ptx.c_str(), ptx.size()));
  // Only if its headers say of all its bytes that they belong to it.
  if (!begins_ptx(ptx.c_str(), ptx.size()) || elf_size(code.data(), code.size()) != code.size())
    return;
  const std::string name = compiled_name(code), kept = encode_compiled(ptx);
  lock_handles();
  Compiled &known = compiled();
  if (known.bytes + ptx.size() > most_ptx) {
    known.now.clear();
    known.bytes = 0;
  }
  known.bytes += ptx.size();
  known.now[name] = std::move(ptx);
  known.sizes.insert(code.size());
  (void)replace_whole(configuration().faster + "/" + name + compiled_suffix, kept);
  unlock_handles();
}

void remember_without_ptx(std::string_view code, const char *why, const char *words) {
  if (elf_size(code.data(), code.size()) != code.size())
    return;
  const std::string name = compiled_name(code);
  lock_handles();
  Compiled &known = compiled();
  if (known.without.size() == most_reasons)
    known.without.clear();
  known.without[name] = {"", why, words};
  known.sizes.insert(code.size());
  unlock_handles();
}

CompiledCode compiled_code(const char *file) {
  lock_handles();
  Compiled &known = compiled();
  known.read();
  const std::uint64_t size =
      known.sizes.empty() ? 0 : elf_size(file, *std::prev(known.sizes.end()));
  const bool is_known_size = known.sizes.contains(size);
  unlock_handles();
  if (!is_known_size)
    return {};
  const std::string name = compiled_name({file, size});
  std::string path;
  CompiledCode code;
  lock_handles();
  if (const auto why = known.without.find(name); why != known.without.end())
    code = why->second;
  if (const auto now = known.now.find(name); now != known.now.end())
    code.ptx = now->second;
  else if (known.earlier.contains(name))
    path = known.store + "/" + name + compiled_suffix;
  unlock_handles();
  if (path.empty())
    return code;
  const std::string bytes = read_whole_own(path).value_or("");
  const auto text = decode_compiled(bytes);
  if (!text || !begins_ptx(text->data(), text->size()))
    return code;
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW); // used now
  code.ptx = *text;
  return code;
}

} // namespace ptxasw::wrapper::launch
