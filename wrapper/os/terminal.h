#pragma once

// Colours for people at a terminal. Commands write all text that stands out through a Painter:
//   const Painter paint(request.colour, STDOUT_FILENO); fmt::print("{}", paint("done"));

#include "grammar/namespaces.h"

#include <string>
#include <string_view>

namespace ptxasw::wrapper {

/// Whether what goes to a descriptor is coloured. `choice`: `always`, `never`, or `auto`: on a
/// terminal that is not `dumb`, unless NO_COLOR is set (no-color.org).
bool wants_colour(std::string_view choice, int descriptor);

inline constexpr char bold[] = "1", red[] = "1;31", yellow[] = "1;33", blue[] = "1;34",
                      cyan[] = "1;36";

/// Text in a colour, if that is wanted.
class Painter {
public:
  explicit Painter(bool on) : on_(on) {}
  Painter(std::string_view choice, int descriptor) : on_(wants_colour(choice, descriptor)) {}
  std::string operator()(std::string_view text, const char *colour = bold) const;
  /// Its first line is bold.
  std::string heading(std::string_view text) const;

private:
  bool on_;
};

} // namespace ptxasw::wrapper
