#pragma once

#include "emulator/launch.h"

#include <optional>

namespace CLI {
class App;
}

namespace ptxasw {

/// Adds `--assume-block` to a subcommand that does not take the settings.
void add_block_option(CLI::App &command, std::optional<BlockShape> &shape);

} // namespace ptxasw
