#pragma once

// A function of the warp emulator as text of LLVM IR. How: translate.cpp.

#include "emulator/machine/warp_engine.h"
#include "emulator/translate/ir_domain.h"

namespace ptxasw::emulator {

struct TranslatedText {
  std::string ir; ///< a module with the function `translated`: void (TranslatedFrame *)
  // As Translation has them:
  std::vector<std::uint32_t> entries, spans;
  std::vector<SpecialRegister> specials;
  std::vector<RegisterSlot> slots;
  std::uint32_t slot_bytes = 0;
  std::vector<std::uint32_t> live_begin, live, changed_begin, changed;
  std::vector<std::uint8_t> partings;
};

/// `opaque`: pointers have no types, as LLVM has it from 15 on.
TranslatedText translated_text(const WarpProgram &program, std::uint32_t function,
                               LaneLayout layout, const HostFeatures &host, bool opaque);

} // namespace ptxasw::emulator
