// The names of all re-tilings, which settings and options offer: an axis, a number of blocks, how
// they are laid, and how many registers a thread may have. Along x there are no rows, and
// neighbours share nothing.

#include "synth/retile/retile.h"

#include <array>

namespace ptxasw::inline synth {

std::span<const RetileSize> retile_sizes() {
  static constexpr std::array<RetileSize, 8> all{
      {{4, 64}, {2, 64}, {4, 0}, {2, 0}, {8, 64}, {8, 0}, {4, 128}, {16, 0}}};
  return all;
}

bool is_offered(const RetileSize &size, RetileForm::Kind kind, int axis) {
  const bool limited = size.registers != 0;
  if (size.copies > 8) // streams of bytes; of rows and planes so many take all registers
    return kind == RetileForm::Kind::apart && axis == 0;
  if (kind != RetileForm::Kind::apart)
    return axis > 0; // along x there are no rows
  return !limited || (axis > 0 && size.copies <= 4 && size.registers == 64);
}

std::string_view name_of(RetileForm::Kind kind) {
  return kind == RetileForm::Kind::apart  ? "apart"
         : kind == RetileForm::Kind::rows ? "rows"
                                          : "neighbours";
}

std::string retile_variant(const RetileSize &size, RetileForm::Kind kind, int axis) {
  std::string word = "xyz"[axis] + std::to_string(size.copies);
  if (kind != RetileForm::Kind::apart)
    word += "-" + std::string(name_of(kind));
  if (size.registers != 0)
    word += "-r" + std::to_string(size.registers);
  return word;
}

const std::vector<std::string> &retile_variants() {
  static const std::vector<std::string> all = [] {
    using Kind = RetileForm::Kind;
    std::vector<std::string> words;
    for (int axis = 0; axis < 3; ++axis)
      for (const Kind kind : {Kind::apart, Kind::rows, Kind::neighbours})
        for (const RetileSize &size : retile_sizes())
          if (is_offered(size, kind, axis))
            words.push_back(retile_variant(size, kind, axis));
    return words;
  }();
  return all;
}

} // namespace ptxasw::synth
