#pragma once

// The names of special registers, for the decoder.

#include "emulator/machine/warp_program.h"

#include <string_view>

namespace ptxasw::emulator {

/// A special register that is emulated (PTX ISA 10), or WARP_SZ.
struct SpecialName {
  std::string_view name;
  SpecialRegister which;
  bool is_machines = false; ///< its value is machine-dependent, and differs the next time
};

/// Null: it is not emulated.
const SpecialName *find_special(std::string_view name);

} // namespace ptxasw::emulator
