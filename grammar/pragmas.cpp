// What pragmas in a body say of the statement that follows, and where both stand.

#include "grammar/pragmas.h"

#include <algorithm>

namespace ptxasw::ptx {

bool leaves_bytes_undefined(const Function &function, std::uint32_t load) {
  return std::any_of(function.pragmas.begin(), function.pragmas.end(), [&](const Pragma &pragma) {
    return pragma.position == load && pragma.text.starts_with("used_bytes_mask");
  });
}

std::uint32_t begin_with_pragmas(const Function &function, std::uint32_t instruction) {
  std::uint32_t begin = function.instructions[instruction].span.begin;
  for (const Pragma &pragma : function.pragmas)
    if (pragma.position == instruction)
      begin = std::min(begin, pragma.span.begin);
  return begin;
}

std::uint32_t end_of_labels(const Function &function, std::uint32_t instruction) {
  std::uint32_t end = 0;
  for (const Label &label : function.labels)
    if (label.position == instruction)
      end = std::max(end, label.span.end);
  return end;
}

} // namespace ptxasw::ptx
