// The limits that are offered: steps at which another block fits on a multiprocessor with 65,536
// registers, for blocks of 128 to 512 threads.

#include "synth/siblings.h"

namespace ptxasw::inline synth {

const std::vector<std::string> &register_limits() {
  static const std::vector<std::string> all{"32", "40", "48", "56", "64", "80", "96", "128"};
  return all;
}

} // namespace ptxasw::synth
