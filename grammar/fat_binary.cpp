// Fat binaries, ELF sections and archives, byte by byte. Nothing is read at an offset that was not
// held against the size of what it lies in, and no more is unpacked than the packed bytes can be.
//
// A fat binary is a header (magic 0xba55ed50, 16-bit version, 16-bit size of the header, 64-bit
// size of what follows) and entries. An entry begins with its kind (16 bits), a version, the size
// of its header (32 bits) and of what is stored (64 bits); of the words behind these count, from
// offset 16:
//
//   16  bytes of the packed image, without the padding behind it
//   20  offset, from the entry, of an offset and a length: the options it was compiled with
//   28  architecture
//   32  offset and length of the source file's name
//   40  flags: 0x2000 LZ4, 0x8000 Zstandard; 0x100000 and 0x200000 the architecture's suffix
//   56  bytes when unpacked (64 bits)
//
// The format was read off what nvcc 13.0 makes.

#include "grammar/fat_binary.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <limits>
#include <lz4.h>
#include <optional>
#include <zstd.h>

namespace ptxasw::ptx {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243b1, fat_magic = 0xba55ed50;
constexpr std::string_view elf_magic = "\x7f"
                                       "ELF",
                           archive_magic = "!<arch>\n", thin_magic = "!<thin>\n";
/// No image of a compiler is larger.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
/// What one packed byte can become: of Zstandard a block of 4 bytes may be 128 KiB.
constexpr std::uint64_t most_growth = 1 << 15;

/// A number of the bytes, little-endian; nothing if they end before it does.
template <class Number> std::optional<Number> number_at(std::string_view bytes, std::uint64_t at) {
  if (bytes.size() < sizeof(Number) || at > bytes.size() - sizeof(Number))
    return std::nullopt;
  Number result;
  std::memcpy(&result, bytes.data() + at, sizeof result);
  return result;
}

/// A part of the bytes; nothing if it is not within them.
std::optional<std::string_view> part(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || size > bytes.size() - at)
    return std::nullopt;
  return bytes.substr(at, size);
}

using Images = std::vector<FatImage>;
using Problem = tl::unexpected<std::string>;

/// A text of an entry, by the words that say where it is.
std::string text_at(std::string_view entry, std::optional<std::uint32_t> at,
                    std::optional<std::uint32_t> size) {
  std::string_view text;
  if (at && size && *at != 0)
    text = part(entry, *at, *size).value_or("");
  text = text.substr(0, text.find('\0'));
  const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == text.npos ? std::string() : std::string(text.substr(first, last - first + 1));
}

/// The entry of which header and image are these.
FatImage image_of(std::string_view header, std::string_view stored) {
  constexpr std::uint64_t lz4 = 0x2000, zstandard = 0x8000, own = 0x100000, family = 0x200000;
  FatImage image;
  const auto word = [&](std::uint64_t at) { return number_at<std::uint32_t>(header, at); };
  const auto kind = number_at<std::uint16_t>(header, 0);
  image.kind = kind == 1   ? FatImage::Kind::ptx
               : kind == 2 ? FatImage::Kind::machine_code
                           : FatImage::Kind::other;
  image.sm = word(28).value_or(0);
  const std::uint64_t flags = number_at<std::uint64_t>(header, 40).value_or(0);
  image.suffix = flags & own ? 'a' : flags & family ? 'f' : '\0';
  image.source = text_at(header, word(32), word(36));
  if (const std::uint32_t options = word(20).value_or(0); options != 0)
    image.options = text_at(header, word(options), word(std::uint64_t{options} + 4));
  image.stored = stored;
  image.size = stored.size();
  if (flags & (lz4 | zstandard)) {
    image.compression = flags & lz4 ? FatImage::Compression::lz4 : FatImage::Compression::zstandard;
    image.stored = stored.substr(0, word(16).value_or(0));
    image.size = number_at<std::uint64_t>(header, 56).value_or(0);
  }
  // The code of other kinds is packed in ways of its own.
  if (image.kind == FatImage::Kind::other)
    image.compression = FatImage::Compression::unknown;
  return image;
}

/// Adds the images of the fat binary with which the bytes begin. Returns how many bytes it is, or
/// what is wrong.
tl::expected<std::uint64_t, std::string> add_fat_binary(std::string_view bytes, Images &images) {
  constexpr std::uint64_t shortest_header = 16, shortest_entry = 64;
  const auto magic = number_at<std::uint32_t>(bytes, 0);
  const auto header = number_at<std::uint16_t>(bytes, 6);
  const auto size = number_at<std::uint64_t>(bytes, 8);
  if (magic != fat_magic || !header || !size)
    return Problem("a fat binary does not begin with its header");
  const auto entries = part(bytes, *header, *size);
  if (*header < shortest_header || !entries)
    return Problem(fmt::format("a fat binary of {} bytes ends after {}", *size, bytes.size()));
  const std::uint32_t binary = images.empty() ? 0 : images.back().binary + 1;
  for (std::uint64_t at = 0; at < entries->size();) {
    const std::string_view rest = entries->substr(at);
    const auto entry_header = number_at<std::uint32_t>(rest, 4);
    const auto stored_size = number_at<std::uint64_t>(rest, 8);
    if (!entry_header || !stored_size || *entry_header < shortest_entry ||
        !part(rest, 0, *entry_header) || !part(rest, *entry_header, *stored_size))
      return Problem(fmt::format("the entry at byte {} of a fat binary is cut off", at + *header));
    images.push_back(
        image_of(rest.substr(0, *entry_header), rest.substr(*entry_header, *stored_size)));
    images.back().binary = binary;
    images.back().whole = bytes.substr(0, *header + *size);
    at += *entry_header + *stored_size;
  }
  return *header + *size;
}

/// Adds the images of a section. Errors: what is wrong with it.
tl::expected<void, std::string> add_fat_binaries(std::string_view bytes, const std::string &where,
                                                 Images &images) {
  while (!bytes.empty()) {
    const std::size_t begin = bytes.find_first_not_of('\0');
    if (begin == bytes.npos)
      break;
    bytes.remove_prefix(begin);
    const std::size_t before = images.size();
    const auto size = add_fat_binary(bytes, images);
    if (!size)
      return Problem(where.empty() ? size.error() : where + ": " + size.error());
    for (std::size_t i = before; i < images.size(); ++i)
      images[i].where = where;
    bytes.remove_prefix(*size);
  }
  return {};
}

// Sections by name (System V ABI, "Sections"). A file without a table of sections has none.
tl::expected<void, std::string> add_elf(std::string_view file, const std::string &where,
                                        Images &images) {
  constexpr char is_64_bit = 2, is_little_endian = 1;
  constexpr std::uint32_t no_bits = 8;
  constexpr std::uint64_t shortest_header = 64;
  if (file.size() < shortest_header || file[4] != is_64_bit || file[5] != is_little_endian)
    return Problem(where + "an ELF file that is not of 64 bits, little-endian");
  const std::uint64_t table = *number_at<std::uint64_t>(file, 40);
  const std::uint64_t entry = *number_at<std::uint16_t>(file, 58);
  if (table == 0)
    return {};
  const auto header = [&](std::uint64_t index) -> std::optional<std::string_view> {
    if (entry < shortest_header || index > file.size() / entry || table > file.size())
      return std::nullopt;
    return part(file, table + index * entry, shortest_header);
  };
  const auto contents = [&](std::string_view section) {
    return part(file, *number_at<std::uint64_t>(section, 24),
                *number_at<std::uint64_t>(section, 32));
  };
  const auto first = header(0);
  if (!first)
    return Problem(where + "the table of sections is cut off");
  // Numbers that need more than 16 bits stand in the first section.
  std::uint64_t count = *number_at<std::uint16_t>(file, 60);
  std::uint64_t names_index = *number_at<std::uint16_t>(file, 62);
  if (count == 0)
    count = *number_at<std::uint64_t>(*first, 32);
  if (names_index == 0xffff)
    names_index = *number_at<std::uint32_t>(*first, 40);
  const auto names_header = header(names_index);
  const auto names = names_header ? contents(*names_header) : std::nullopt;
  if (!names)
    return Problem(where + "the names of the sections are cut off");
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto section = header(i);
    if (!section)
      return Problem(where + "the table of sections is cut off");
    const std::uint32_t name_at = *number_at<std::uint32_t>(*section, 0);
    if (name_at >= names->size() || number_at<std::uint32_t>(*section, 4) == no_bits)
      continue;
    std::string_view name = names->substr(name_at);
    name = name.substr(0, name.find('\0'));
    if (name != ".nv_fatbin" && name != "__nv_relfatbin")
      continue;
    const auto bytes = contents(*section);
    if (!bytes)
      return Problem(fmt::format("{}{} is cut off", where, name));
    if (auto added = add_fat_binaries(*bytes, where + std::string(name), images); !added)
      return added;
  }
  return {};
}

// The common format of ar: members of a 60-byte header each, at even offsets.
tl::expected<void, std::string> add_archive(std::string_view file, Images &images) {
  constexpr std::uint64_t header_size = 60, name_size = 16;
  std::string_view long_names;
  for (std::uint64_t at = archive_magic.size(); at < file.size();) {
    const auto header = part(file, at, header_size);
    std::uint64_t size = 0;
    bool right = header && header->substr(58) == "`\n";
    for (const char digit : right ? header->substr(48, 10) : std::string_view())
      if (digit >= '0' && digit <= '9')
        size = size * 10 + static_cast<unsigned>(digit - '0');
      else
        right &= digit == ' ';
    const auto member = right ? part(file, at + header_size, size) : std::nullopt;
    if (!member)
      return Problem(fmt::format("the member at byte {} of the archive is cut off", at));
    std::string_view name = header->substr(0, name_size);
    name = name.substr(0, name.find_last_not_of(' ') + 1);
    if (name == "//") {
      long_names = *member;
    } else if (member->starts_with(elf_magic)) {
      if (name.size() > 1 && name[0] == '/' && name[1] >= '0' && name[1] <= '9') {
        std::uint64_t offset = 0;
        for (const char digit : name.substr(1))
          offset = offset * 10 + static_cast<unsigned>(digit - '0') % 10;
        name = offset < long_names.size() ? long_names.substr(offset) : "";
        name = name.substr(0, name.find('\n'));
      }
      name = name.substr(0, name.find('/'));
      if (auto added = add_elf(*member, fmt::format("{}: ", name), images); !added)
        return added;
    }
    at += header_size + size + size % 2;
  }
  return {};
}

/// A fat binary of this process, as long as it says it is.
std::string_view fat_bytes(const void *fat_binary) {
  std::uint32_t magic = 0;
  std::uint16_t header = 0;
  std::uint64_t size = 0;
  const char *const bytes = static_cast<const char *>(fat_binary);
  if (bytes)
    std::memcpy(&magic, bytes, sizeof magic);
  if (magic != fat_magic)
    return {};
  std::memcpy(&header, bytes + 6, sizeof header);
  std::memcpy(&size, bytes + 8, sizeof size);
  return {bytes, header + size};
}

} // namespace

tl::expected<std::string, std::string> FatImage::unpack() const {
  std::string result;
  if (compression == Compression::none) {
    result = stored;
  } else {
    if (compression == Compression::unknown)
      return Problem("it is packed in an unknown way");
    if (size > most_bytes || size / most_growth > stored.size())
      return Problem(fmt::format("{} packed bytes cannot be {}", stored.size(), size));
    result.resize(size);
    bool is_whole = false;
    if (compression == Compression::lz4) {
      constexpr std::uint64_t most = std::numeric_limits<int>::max();
      is_whole = stored.size() <= most &&
                 LZ4_decompress_safe(stored.data(), result.data(), static_cast<int>(stored.size()),
                                     static_cast<int>(size)) == static_cast<int>(size);
    } else {
      is_whole = ZSTD_decompress(result.data(), size, stored.data(), stored.size()) == size;
    }
    if (!is_whole)
      return Problem(fmt::format("what is packed as {} cannot be unpacked",
                                 compression == Compression::lz4 ? "LZ4" : "Zstandard"));
  }
  if (kind == Kind::ptx)
    result.resize(result.find_last_not_of('\0') + 1);
  return result;
}

tl::expected<Images, std::string> read_fat_binaries(std::string_view bytes) {
  Images images;
  return add_fat_binaries(bytes, "", images).map([&] { return std::move(images); });
}

bool is_fat_file(std::string_view bytes) {
  return bytes.starts_with(elf_magic) || bytes.starts_with(archive_magic) ||
         bytes.starts_with(thin_magic) || number_at<std::uint32_t>(bytes, 0) == fat_magic;
}

tl::expected<Images, std::string> read_fat_file(std::string_view bytes) {
  Images images;
  if (bytes.starts_with(thin_magic))
    return Problem("a thin archive, which holds the names of its members alone");
  const auto added = bytes.starts_with(elf_magic)       ? add_elf(bytes, "", images)
                     : bytes.starts_with(archive_magic) ? add_archive(bytes, images)
                                                        : add_fat_binaries(bytes, "", images);
  return added.map([&] { return std::move(images); });
}

tl::expected<Images, std::string> read_fat_memory(const void *fat_binary) {
  return read_fat_binaries(fat_bytes(fat_binary));
}

tl::expected<Images, std::string> read_fat_wrapper(const void *wrapper) {
  struct Wrapper {
    std::uint32_t magic, version;
    const void *data;
    const void *const *prelinked; ///< of version 2: fat binaries, a null behind them
  };
  Wrapper outer{};
  if (wrapper)
    std::memcpy(&outer, wrapper, sizeof outer);
  if (outer.magic != wrapper_magic || outer.version < 1 || outer.version > 2)
    return Problem("no wrapper of a fat binary, or one of an unknown version");
  Images images;
  auto added = add_fat_binaries(fat_bytes(outer.data), "", images);
  for (const void *const *next = outer.prelinked; added && outer.version == 2 && next && *next;
       ++next)
    added = add_fat_binaries(fat_bytes(*next), "", images);
  return added.map([&] { return std::move(images); });
}

std::vector<const FatImage *> choose_ptx(std::span<const FatImage> images, unsigned sm) {
  std::vector<const FatImage *> result;
  // Later architectures before earlier ones, those without a suffix before those with one.
  const auto is_better = [](const FatImage &a, const FatImage &b) {
    return (a.suffix == 0) != (b.suffix == 0) ? a.suffix == 0 : a.sm > b.sm;
  };
  for (const FatImage &image : images) {
    if (image.kind != FatImage::Kind::ptx || (sm != 0 && image.sm > sm))
      continue;
    if (result.empty() || result.back()->binary != image.binary)
      result.push_back(&image);
    else if (is_better(image, *result.back()))
      result.back() = &image;
  }
  return result;
}

} // namespace ptxasw::ptx
