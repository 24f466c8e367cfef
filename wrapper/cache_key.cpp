#include "wrapper/cache_key.h"

#include "emulator/solver.h"
#include "wrapper/files.h"
#include "wrapper/find_real.h"

#include <cstdint>
#include <fmt/core.h>

namespace ptxasw {

std::string cache_key(const Settings &settings) {
  // FNV-1a.
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::string_view bytes) {
    for (const char c : bytes)
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  add(PTXASW_VERSION);
  add(describe_configuration(settings));
  add(solver_version());
  add(read_regular_file(own_path()).value_or(""));
  return fmt::format("ptxasw-{:016x}", hash);
}

} // namespace ptxasw
