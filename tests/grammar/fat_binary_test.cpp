// Fat binaries that are written here, byte by byte, and bytes that only look like some. What nvcc
// makes is read by fat_binaries_of_nvcc.py.

#include "grammar/fat_binary.h"

#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <lz4.h>
#include <zstd.h>

using namespace ptxasw::test;

namespace {

constexpr std::string_view module_text = ".version 9.0\n.target sm_90\n.address_size 64\n";

template <class Number> void put(std::string &bytes, std::size_t at, Number number) {
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

std::string lz4(std::string_view text) {
  std::string packed(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(text.size()))), 0);
  packed.resize(static_cast<std::size_t>(LZ4_compress_default(
      text.data(), packed.data(), static_cast<int>(text.size()), static_cast<int>(packed.size()))));
  return packed;
}

std::string zstandard(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), 0);
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

struct Entry {
  std::uint16_t kind = 1;
  std::uint32_t sm = 90;
  std::uint64_t flags = 0x11;
  std::string stored;
  std::uint64_t size = 0; ///< unpacked
  std::string options = {};
};

std::string entry(const Entry &from) {
  std::string bytes(72 + from.options.size(), 0);
  bytes.resize((bytes.size() + 7) / 8 * 8);
  put<std::uint16_t>(bytes, 0, from.kind);
  put<std::uint16_t>(bytes, 2, 0x101);
  put<std::uint32_t>(bytes, 4, static_cast<std::uint32_t>(bytes.size()));
  const std::uint64_t padded = (from.stored.size() + 1 + 7) / 8 * 8;
  put<std::uint64_t>(bytes, 8, padded);
  put<std::uint32_t>(bytes, 16, static_cast<std::uint32_t>(from.stored.size()));
  put<std::uint32_t>(bytes, 20, 64);
  put<std::uint32_t>(bytes, 28, from.sm);
  put<std::uint64_t>(bytes, 40, from.flags);
  put<std::uint64_t>(bytes, 56, from.size);
  put<std::uint32_t>(bytes, 64, 72);
  put<std::uint32_t>(bytes, 68, static_cast<std::uint32_t>(from.options.size()));
  std::copy(from.options.begin(), from.options.end(), bytes.begin() + 72);
  bytes += from.stored;
  bytes.append(padded - from.stored.size(), 0);
  return bytes;
}

std::string fat(std::initializer_list<Entry> entries) {
  std::string bytes(16, 0);
  for (const Entry &one : entries)
    bytes += entry(one);
  put<std::uint32_t>(bytes, 0, 0xba55ed50);
  put<std::uint16_t>(bytes, 4, 1);
  put<std::uint16_t>(bytes, 6, 16);
  put<std::uint64_t>(bytes, 8, bytes.size() - 16);
  return bytes;
}

/// An ELF file of one section of that name.
std::string elf(std::string_view name, std::string_view section) {
  std::string names("\0.names\0", 8);
  const auto name_at = static_cast<std::uint32_t>(names.size());
  names += name;
  names += '\0';
  std::string bytes(64, 0);
  std::memcpy(bytes.data(),
              "\x7f"
              "ELF\2\1\1",
              7);
  const std::uint64_t names_at = bytes.size(), section_at = names_at + names.size();
  bytes += names;
  bytes += section;
  const std::uint64_t table = bytes.size();
  bytes.append(3 * 64, 0);
  const auto header = [&](std::size_t index, std::uint32_t called, std::uint64_t at,
                          std::uint64_t size) {
    put<std::uint32_t>(bytes, table + index * 64, called);
    put<std::uint32_t>(bytes, table + index * 64 + 4, 1);
    put<std::uint64_t>(bytes, table + index * 64 + 24, at);
    put<std::uint64_t>(bytes, table + index * 64 + 32, size);
  };
  header(1, 1, names_at, names.size());
  header(2, name_at, section_at, section.size());
  put<std::uint64_t>(bytes, 40, table);
  put<std::uint16_t>(bytes, 58, 64);
  put<std::uint16_t>(bytes, 60, 3);
  put<std::uint16_t>(bytes, 62, 1);
  return bytes;
}

std::string member(std::string_view name, const std::string &bytes) {
  return fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", name, 0, 0, 0, 644, bytes.size()) +
         bytes + (bytes.size() % 2 ? "\n" : "");
}

const Entry plain{.stored = std::string(module_text)};

} // namespace

TEST_CASE("PTX comes out of a fat binary as it went in, however it is packed") {
  const std::string bytes = fat(
      {plain,
       {.sm = 80, .flags = 0x2011, .stored = lz4(module_text), .size = module_text.size()},
       {.sm = 75, .flags = 0x8011, .stored = zstandard(module_text), .size = module_text.size()}});
  const auto images = read_fat_binaries(bytes);
  REQUIRE(images);
  REQUIRE(images->size() == 3);
  for (const FatImage &image : *images) {
    CHECK(image.kind == FatImage::Kind::ptx);
    CHECK(image.unpack().value() == module_text);
    CHECK(image.binary == 0);
    CHECK_FALSE(image.is_relocatable());
  }
  CHECK((*images)[1].compression == FatImage::Compression::lz4);
  CHECK((*images)[2].compression == FatImage::Compression::zstandard);
  CHECK((*images)[2].sm == 75);
}

TEST_CASE("What else is noted of an image") {
  const std::string bytes = fat({{.flags = 0x100011, .stored = "x", .options = "--compile-only  "},
                                 {.kind = 2, .flags = 0x200011, .stored = "y"},
                                 {.kind = 8, .flags = 0x8011, .stored = "z", .size = 5}});
  const auto images = read_fat_binaries(bytes).value();
  CHECK(images[0].is_relocatable());
  CHECK(images[0].options == "--compile-only");
  CHECK(images[0].suffix == 'a');
  CHECK(images[1].kind == FatImage::Kind::machine_code);
  CHECK(images[1].suffix == 'f');
  CHECK(images[2].kind == FatImage::Kind::other);
  CHECK_FALSE(images[2].unpack());
}

TEST_CASE("Of each fat binary one PTX is chosen") {
  const std::string bytes = fat({{.kind = 2, .stored = "code"},
                                 {.sm = 75, .stored = "75"},
                                 {.sm = 90, .stored = "90"},
                                 {.sm = 90, .flags = 0x100011, .stored = "90a"},
                                 {.sm = 100, .stored = "100"}}) +
                            std::string(8, 0) + fat({{.sm = 60, .stored = "60"}}) +
                            fat({{.kind = 2, .stored = "code"}});
  const auto images = read_fat_binaries(bytes).value();
  const auto texts = [&](unsigned sm) {
    std::string result;
    for (const FatImage *image : choose_ptx(images, sm))
      result += image->unpack().value() + " ";
    return result;
  };
  CHECK(texts(0) == "100 60 ");
  CHECK(texts(90) == "90 60 ");
  CHECK(texts(89) == "75 60 ");
  CHECK(texts(60) == "60 ");
  CHECK(texts(50).empty());
}

TEST_CASE("Fat binaries are found in ELF files and archives") {
  const std::string object = elf(".nv_fatbin", fat({plain}) + fat({plain}));
  const auto images = read_fat_file(object);
  REQUIRE(images);
  REQUIRE(images->size() == 2);
  CHECK((*images)[1].binary == 1);
  CHECK((*images)[1].where == ".nv_fatbin");
  CHECK((*images)[1].unpack().value() == module_text);
  CHECK(read_fat_file(elf("__nv_relfatbin", fat({plain})))->size() == 1);
  CHECK(read_fat_file(elf(".text", fat({plain})))->empty());

  const std::string archive = "!<arch>\n" + member("/", "an index") +
                              member("//", "a_name_longer_than_16.o/\n") + member("/0", object) +
                              member("read.me/", "text") + member("short.o/", object);
  const auto members = read_fat_file(archive);
  REQUIRE(members);
  REQUIRE(members->size() == 4);
  CHECK((*members)[0].where == "a_name_longer_than_16.o: .nv_fatbin");
  CHECK((*members)[3].where == "short.o: .nv_fatbin");
  for (const std::string &file : {object, archive, fat({plain})})
    CHECK(is_fat_file(file));
  CHECK_FALSE(is_fat_file(module_text));
  CHECK_FALSE(read_fat_file(module_text));
}

TEST_CASE("What a program registers is found behind its wrapper") {
  struct {
    std::uint32_t magic = 0x466243b1, version = 1;
    const void *data = nullptr;
    const void *const *prelinked = nullptr;
  } wrapper;
  const std::string linked = fat({{.kind = 2, .stored = "code"}}), first = fat({plain}),
                    second = fat({plain});
  const void *const list[] = {first.data(), second.data(), nullptr};
  wrapper.data = first.data();
  CHECK(read_fat_wrapper(&wrapper)->size() == 1);
  CHECK(read_fat_memory(first.data())->size() == 1);
  wrapper.version = 2;
  wrapper.data = linked.data();
  wrapper.prelinked = list;
  const auto images = read_fat_wrapper(&wrapper);
  REQUIRE(images);
  CHECK(images->size() == 3);
  CHECK(choose_ptx(*images, 90).size() == 2);
  wrapper.version = 3;
  CHECK_FALSE(read_fat_wrapper(&wrapper));
  CHECK_FALSE(read_fat_wrapper(nullptr));
}

TEST_CASE("What is cut off or not true is refused") {
  const std::string whole = "!<arch>\n" + member("k.o/", elf(".nv_fatbin", fat({plain, plain})));
  for (std::size_t size = 9; size + 1 < whole.size(); ++size) // what is last may be padding
    CHECK_FALSE(read_fat_file(whole.substr(0, size)));
  const std::string two = fat({plain, plain});
  for (std::size_t size = 1; size < two.size(); ++size)
    CHECK_FALSE(read_fat_binaries(std::string_view(two).substr(0, size)));
  // A size that the bytes cannot have, one that they have not, and bytes that are no such thing.
  for (const std::uint64_t size :
       {~std::uint64_t{0}, module_text.size() - 1, module_text.size() + 1})
    for (const std::uint64_t flags : {0x2011, 0x8011}) {
      const std::string packed = flags == 0x2011 ? lz4(module_text) : zstandard(module_text);
      CHECK_FALSE(read_fat_binaries(fat({{.flags = flags, .stored = packed, .size = size}}))
                      .value()[0]
                      .unpack());
      CHECK_FALSE(read_fat_binaries(fat({{.flags = flags, .stored = "no such thing", .size = 40}}))
                      .value()[0]
                      .unpack());
    }
}
