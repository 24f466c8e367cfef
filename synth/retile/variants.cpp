// The names of all re-tilings, which settings and options offer: an axis, a number of blocks, and
// how they are laid. Along x there are no rows, and neighbours share nothing.

#include "synth/retile/retile.h"
#include "synth/siblings.h"

namespace ptxasw {

const std::vector<std::string> &retile_variants() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> words;
    for (const char axis : {'x', 'y', 'z'})
      for (unsigned factor = 2; factor <= max_retile_factor; factor *= 2)
        for (const char *kind : {"", "-rows", "-neighbours"})
          if (axis != 'x' || *kind == '\0')
            words.push_back(axis + std::to_string(factor) + kind);
    return words;
  }();
  return all;
}

} // namespace ptxasw
