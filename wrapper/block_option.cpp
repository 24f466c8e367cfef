#include "wrapper/block_option.h"

#include "wrapper/settings.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace ptxasw {

void add_block_option(CLI::App &command, std::optional<BlockShape> &shape) {
  command
      .add_option_function<std::string>(
          "--assume-block",
          [&shape](const std::string &text) {
            shape = parse_block_shape(text);
            if (!shape)
              throw CLI::ValidationError("--assume-block",
                                         fmt::format("`{}` is no shape of a block", text));
          },
          "what holds if every block has this shape")
      ->option_text("X[,Y[,Z]]");
}

} // namespace ptxasw
