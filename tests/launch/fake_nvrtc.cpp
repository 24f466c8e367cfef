// An NVRTC whose programs are PTX already: its machine code is an ELF file with that text in it,
// which the fake driver takes.

#include <cstdint>
#include <cstring>
#include <string>

namespace {

std::string code_of(const char *text) {
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

} // namespace

extern "C" {

int nvrtcGetCUBINSize(const char *program, std::size_t *size) {
  *size = code_of(program).size();
  return 0;
}
int nvrtcGetCUBIN(const char *program, char *code) {
  const std::string file = code_of(program);
  std::memcpy(code, file.data(), file.size());
  return 0;
}
int nvrtcGetPTXSize(const char *program, std::size_t *size) {
  *size = std::strlen(program) + 1;
  return 0;
}
int nvrtcGetPTX(const char *program, char *text) {
  std::strcpy(text, program);
  return 0;
}
}
