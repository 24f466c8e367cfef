// An NVRTC whose programs are PTX already, and are in the machine code that it makes.

#include "tests/launch/fake_code.h"

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
