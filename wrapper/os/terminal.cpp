// Colours are for terminals.

#include "wrapper/os/terminal.h"

#include <cstdlib>
#include <unistd.h>

namespace ptxasw::inline wrapper {

bool wants_colour(std::string_view choice, int descriptor) {
  if (choice != "auto")
    return choice == "always";
  const char *no = std::getenv("NO_COLOR");
  const char *terminal = std::getenv("TERM");
  return (!no || !*no) && terminal && *terminal && std::string_view(terminal) != "dumb" &&
         ::isatty(descriptor) == 1;
}

} // namespace ptxasw::wrapper
