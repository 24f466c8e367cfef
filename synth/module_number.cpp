// FNV-1a of 64 bits. It tells texts apart by accident, not against an adversary.

#include "synth/rewrite.h"

#include <fmt/core.h>

namespace ptxasw::synth {

std::string module_number(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text)
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

} // namespace ptxasw::synth
