#pragma once

// Machine code as the fake driver takes it: an ELF file with PTX in it.

#include <cstdint>
#include <cstring>
#include <string>

inline std::string code_of(const char *text) {
  const std::uint64_t size = std::strlen(text) + 1, sections = 64 + size, from = 64;
  const std::uint16_t section = 64, count = 1;
  const std::uint32_t has_bits = 1;
  std::string file(sections + section, '\0');
  std::memcpy(file.data(),
              "\x7f"
              "ELF\2\1\1",
              7);
  std::memcpy(file.data() + 40, &sections, sizeof sections);
  std::memcpy(file.data() + 58, &section, sizeof section);
  std::memcpy(file.data() + 60, &count, sizeof count);
  std::memcpy(file.data() + 64, text, size);
  std::memcpy(file.data() + sections + 4, &has_bits, sizeof has_bits);
  std::memcpy(file.data() + sections + 24, &from, sizeof from);
  std::memcpy(file.data() + sections + 32, &size, sizeof size);
  return file;
}
