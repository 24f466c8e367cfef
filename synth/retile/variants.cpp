// The names of all re-tilings, which settings and options offer: an axis, a number of blocks, how
// they are laid, and how many registers a thread may have. Along x there are no rows, and
// neighbours share nothing.

#include "synth/retile/retile.h"
#include "synth/siblings.h"

#include <array>

namespace ptxasw {

std::span<const std::pair<unsigned, unsigned>> retile_sizes() {
  static constexpr std::array<std::pair<unsigned, unsigned>, 7> all{
      {{4, 64}, {2, 64}, {4, 0}, {2, 0}, {8, 64}, {8, 0}, {4, 128}}};
  return all;
}

const std::vector<std::string> &retile_variants() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> words;
    for (const char axis : {'x', 'y', 'z'})
      for (const auto &[factor, registers] : retile_sizes())
        for (const char *kind : {"", "-rows", "-neighbours"})
          if (axis != 'x' || *kind == '\0')
            words.push_back(axis + std::to_string(factor) + kind +
                            (registers == 0 ? "" : "-r" + std::to_string(registers)));
    return words;
  }();
  return all;
}

} // namespace ptxasw
