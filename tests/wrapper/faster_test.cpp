// What `ptxasw faster` decides without running anything: which PTX of a fat binary is that of what
// the driver runs, what a program's file says, and how choices are told.

#include "wrapper/commands/faster_program.h"
#include "wrapper/commands/faster_tree.h"
#include "wrapper/faster/make.h"
#include "wrapper/launch/kept_image.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <elf.h>
#include <fstream>
#include <lz4.h>
#include <string>
#include <unistd.h>
#include <vector>
#include <zstd.h>

using namespace ptxasw::wrapper;

namespace {

enum class Packing { none, lz4, zstandard };

/// An entry of a fat binary: `sm` as in 90, `a` of sm_90a. The only kernel of PTX is `k_` and the
/// architecture.
struct ImageEntry {
  bool is_ptx = true;
  unsigned sm = 90;
  char suffix = 0;
  Packing packing = Packing::none;
  std::string options = {};
};

template <typename Number> void write_at(std::string &bytes, std::size_t at, Number number) {
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

std::string name_of(const ImageEntry &entry) {
  return "k_" + std::to_string(entry.sm) + (entry.suffix ? std::string(1, entry.suffix) : "");
}

std::string packed(const std::string &text, Packing packing) {
  if (packing == Packing::none)
    return text;
  const auto size = static_cast<int>(text.size());
  std::string bytes(packing == Packing::lz4 ? static_cast<std::size_t>(LZ4_compressBound(size))
                                            : ZSTD_compressBound(text.size()),
                    '\0');
  bytes.resize(packing == Packing::lz4
                   ? static_cast<std::size_t>(LZ4_compress_default(text.data(), bytes.data(), size,
                                                                   static_cast<int>(bytes.size())))
                   : ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), 3));
  return bytes;
}

std::string fat_binary(const std::vector<ImageEntry> &entries) {
  std::string all(16, '\0');
  for (const ImageEntry &entry : entries) {
    const std::string inside =
        entry.is_ptx ? ".version 8.0\n.target sm_" + std::to_string(entry.sm) +
                           "\n.address_size 64\n.visible .entry " + name_of(entry) + "() { ret; }\n"
                     : "machine code";
    const std::string stored = packed(inside, entry.packing);
    std::string header(72 + (entry.options.size() + 7) / 8 * 8, '\0');
    write_at<std::uint16_t>(header, 0, entry.is_ptx ? 1 : 2);
    write_at<std::uint16_t>(header, 2, 0x101);
    write_at(header, 4, static_cast<std::uint32_t>(header.size()));
    write_at<std::uint64_t>(header, 8, (stored.size() + 8) / 8 * 8);
    write_at(header, 16, static_cast<std::uint32_t>(stored.size()));
    write_at<std::uint32_t>(header, 20, 64);
    write_at<std::uint32_t>(header, 28, entry.sm);
    write_at<std::uint64_t>(header, 40,
                            (entry.packing == Packing::lz4         ? 0x2000
                             : entry.packing == Packing::zstandard ? 0x8000
                                                                   : 0) |
                                (entry.suffix == 'a'   ? 0x100000
                                 : entry.suffix == 'f' ? 0x200000
                                                       : 0));
    write_at<std::uint64_t>(header, 56, entry.packing == Packing::none ? 0 : inside.size());
    write_at<std::uint32_t>(header, 64, 72);
    write_at(header, 68, static_cast<std::uint32_t>(entry.options.size()));
    std::memcpy(header.data() + 72, entry.options.data(), entry.options.size());
    all += header + stored;
    all.append((stored.size() + 8) / 8 * 8 - stored.size(), '\0');
  }
  write_at<std::uint32_t>(all, 0, 0xba55ed50);
  write_at<std::uint16_t>(all, 4, 1);
  write_at<std::uint16_t>(all, 6, 16);
  write_at<std::uint64_t>(all, 8, all.size() - 16);
  return all;
}

/// The kernel of the PTX that is taken on a GPU, or why there is none. Versions are not assembled:
/// where PTX is taken the kernel is too simple for any.
std::string taken(const std::vector<ImageEntry> &entries, unsigned sm) {
  const launch::KeptImage kept = launch::keep_fat(fat_binary(entries).data());
  if (kept.bytes.empty())
    return kept.why;
  const auto names = faster::kernels_of(kept.bytes, sm);
  if (names.size() == 1)
    return names[0];
  return faster::make_answer({"id", "", sm, "k"}, kept.bytes, {}, "").reason;
}

constexpr bool code = false, text = true;

/// Of the environment, for as long as this lives.
class SetVariable {
public:
  SetVariable(const char *name, const char *value) : name_(name) { ::setenv(name, value, 1); }
  ~SetVariable() { ::unsetenv(name_); }
  SetVariable(const SetVariable &) = delete;
  SetVariable &operator=(const SetVariable &) = delete;

private:
  const char *name_;
};

} // namespace

TEST_CASE("PTX is taken of the image that the driver chooses") {
  CHECK(taken({{text, 80}}, 90) == "k_80");
  CHECK(taken({{text, 80}, {text, 90}, {text, 100}}, 90) == "k_90");
  CHECK(taken({{text, 100}}, 90) == "no-ptx");
  CHECK(taken({{code, 90}}, 90) == "no-ptx");
  // Machine code that the GPU can run comes before PTX, and must be of the same source.
  CHECK(taken({{code, 90}, {text, 90}}, 90) == "k_90");
  CHECK(taken({{code, 80}, {text, 80}, {text, 89}}, 89) == "k_80");
  CHECK(taken({{code, 80}, {code, 86}, {text, 80}, {text, 86}}, 89) == "k_86");
  CHECK(taken({{code, 80}, {text, 86}}, 89) == "other-source");
  CHECK(taken({{code, 90}, {text, 80}}, 90) == "other-source");
  // Code for another generation, or a later chip, does not run.
  CHECK(taken({{code, 80}, {code, 100}, {text, 80}}, 90) == "k_80");
  CHECK(taken({{code, 89}, {text, 80}}, 86) == "k_80");
  // What is for one chip alone, or for one family.
  CHECK(taken({{code, 90, 'a'}, {text, 90, 'a'}}, 90) == "k_90a");
  CHECK(taken({{text, 90, 'a'}, {text, 80}}, 100) == "k_80");
  CHECK(taken({{text, 90, 'a'}, {text, 90}}, 90) == "other-source");
  CHECK(taken({{code, 90, 'a'}, {code, 90}, {text, 90}}, 90) == "other-source");
  CHECK(taken({{code, 100, 'f'}, {text, 100, 'f'}}, 103) == "k_100f");
}

TEST_CASE("PTX is unpacked however it is packed") {
  for (const Packing packing : {Packing::none, Packing::lz4, Packing::zstandard})
    CHECK(taken({{code, 90}, {text, 90, 0, packing}}, 90) == "k_90");
}

TEST_CASE("where the driver ignores machine code its PTX is another one") {
  const std::vector<ImageEntry> entries = {{code, 80}, {text, 80}, {text, 89}};
  for (const char *name : {"CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT"}) {
    for (const char *value : {"", "0"}) {
      const SetVariable variable(name, value);
      CHECK(taken(entries, 89) == "k_80");
    }
    const SetVariable variable(name, "1");
    CHECK(taken(entries, 89) == "k_89");
    CHECK(taken({{code, 90}, {text, 80}}, 90) == "k_80");
  }
  const SetVariable doubt("CUDA_FORCE_PTX_JIT", "yes");
  CHECK(taken(entries, 89) == "options");
}

TEST_CASE("what an image was compiled with decides if its PTX is taken") {
  CHECK(taken({{text, 90, 0, Packing::none, "-arch sm_90 -lineinfo --fmad=false"}}, 90) == "k_90");
  CHECK(taken({{text, 90, 0, Packing::none, "--compile-only"}}, 90) == "relocatable");
  CHECK(taken({{text, 90, 0, Packing::none, "-G"}}, 90) == "options");
}

TEST_CASE("choices that only the versions or the code tell apart") {
  ChosenLaunches one;
  one.code = "00000000000000aa";
  one.gpu = "A GPU";
  one.block = {256, 1, 1};
  one.threads = 14;
  one.versions = {"wide x4", "retile apart x4"};
  one.chosen = "wide x4";
  ChosenLaunches other = one;
  other.chosen = "original";
  other.versions = {"wide x2", "retile apart x4"};
  CHECK(choice_tree({one, other}, "k", "") == "k\n"
                                              "|- 2 versions may take it (wide x2, retile apart "
                                              "x4): original\n"
                                              "`- 2 versions may take it (wide x4, retile apart "
                                              "x4): wide x4\n");
  other.versions = {"retile apart x4"};
  CHECK(choice_tree({one, other}, "k", "") == "k\n"
                                              "|- 1 version may take it: original\n"
                                              "`- 2 versions may take it: wide x4\n");
  other.versions = one.versions;
  other.code = "00000000000000bb";
  CHECK(choice_tree({one, other}, "k", "") ==
        "k\n"
        "|- of the kernel with code 00000000000000aa: wide x4\n"
        "`- of the kernel with code 00000000000000bb: original\n");
}

TEST_CASE("a program's file") {
  CHECK(!read_linked("/no/such/file"));
  CHECK(!read_linked("/"));
  CHECK(!read_linked("/dev/null"));
  const auto self = read_linked("/proc/self/exe");
  REQUIRE(self);
  CHECK(self->dynamically);
  CHECK(std::any_of(self->libraries.begin(), self->libraries.end(),
                    [](const std::string &name) { return name.starts_with("libc.so"); }));
  // One that is cut off, and one whose numbers say too much.
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::string bytes(4096, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  std::string path = "/tmp/ptxasw-linked-XXXXXX";
  const int made = ::mkstemp(path.data());
  REQUIRE(made >= 0);
  ::close(made);
  for (const std::size_t size : {0, 3, 63, 64, 65, 200, 1000, 4096}) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(size));
    (void)read_linked(path);
  }
  for (const std::size_t at : {offsetof(Elf64_Ehdr, e_phoff), offsetof(Elf64_Ehdr, e_phnum),
                               sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz),
                               sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_offset)}) {
    std::string other = bytes;
    other.replace(at, 2, "\xff\xff");
    std::ofstream(path, std::ios::binary) << other;
    (void)read_linked(path);
  }
  ::unlink(path.c_str());
}
