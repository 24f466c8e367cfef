// What pragmas in a body say of the statement that follows.

#include "grammar/pragmas.h"

#include <algorithm>

namespace ptxasw::inline ptx {

bool leaves_bytes_undefined(const Function &function, std::uint32_t load) {
  return std::any_of(function.pragmas.begin(), function.pragmas.end(), [&](const Pragma &pragma) {
    return pragma.position == load && pragma.text.starts_with("used_bytes_mask");
  });
}

} // namespace ptxasw::ptx
