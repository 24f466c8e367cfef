// Failures on purpose, for the tests of what happens then.

#include "wrapper/drop_in/fault.h"

#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>

namespace ptxasw::wrapper {
namespace {

// Deeper than any stack, in a way that compilers neither warn of nor turn into a loop.
[[gnu::noinline]] int dig(volatile char *above, long depth) {
  volatile char here[4096];
  here[0] = static_cast<char>(depth);
  return depth == 0 ? above[0] : dig(here, depth - 1) + above[0];
}

} // namespace

void inject_fault(std::string_view fault) {
  if (fault == "throw")
    throw std::runtime_error("injected fault");
  if (fault == "memory")
    (void)std::string(std::numeric_limits<std::ptrdiff_t>::max() / 2, ' ').data();
  if (fault == "abort")
    std::abort();
  if (fault == "crash") {
    volatile int *volatile nowhere = nullptr;
    *nowhere = 1;
  }
  if (fault == "overflow") {
    volatile char top = 0;
    dig(&top, std::numeric_limits<long>::max());
  }
}

} // namespace ptxasw::wrapper
