// Colours are for terminals.

#include "wrapper/os/terminal.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/core.h>
#include <unistd.h>

namespace ptxasw::wrapper {

bool wants_colour(std::string_view choice, int descriptor) {
  if (choice != "auto")
    return choice == "always";
  const char *no = std::getenv("NO_COLOR");
  const char *terminal = std::getenv("TERM");
  return (!no || !*no) && terminal && *terminal && std::string_view(terminal) != "dumb" &&
         ::isatty(descriptor) == 1;
}

std::string Painter::operator()(std::string_view text, const char *colour) const {
  return on_ ? fmt::format("\033[{}m{}\033[0m", colour, text) : std::string(text);
}

std::string Painter::heading(std::string_view text) const {
  const std::size_t end = std::min(text.find('\n'), text.size());
  return (*this)(text.substr(0, end)) + std::string(text.substr(end));
}

} // namespace ptxasw::wrapper
