#pragma once

// Which engine runs kernels: the interpreter, or translated code where there is some.
//   if (const auto chosen = choose_engine(Engine::automatic); !chosen) chosen.error()

#include "emulator/machine/warp_engine.h"
#include "emulator/translate/ir_domain.h"

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace ptxasw::emulator {

enum class Engine : std::uint8_t {
  automatic,   ///< translated once a program has run for long
  interpreter, ///< never
  translated,  ///< from the first instruction
};

/// `auto`, `interpreter` or `translated`; nothing else is one.
std::optional<Engine> engine_called(std::string_view name);

/// Who runs kernels in this process from now on. Error: why nothing can be translated; then the
/// interpreter runs them. Not to be called while kernels run. `vectors`: for tests, of code that
/// is translated from the first instruction.
tl::expected<void, std::string> choose_engine(Engine engine,
                                              HostVectors vectors = HostVectors::all);

} // namespace ptxasw::emulator
