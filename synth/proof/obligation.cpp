// Names of the obligations, from their one description.

#include "synth/proof/obligation.h"

#include <array>

namespace ptxasw::synth {
namespace {

constexpr auto names = std::to_array<std::string_view>({
#define PTXASW_OBLIGATION(enumerator, name, meaning) name,
#include "synth/proof/obligations.def"
#undef PTXASW_OBLIGATION
});

} // namespace

std::string_view to_string(Obligation obligation) {
  return names[static_cast<std::size_t>(obligation)];
}

} // namespace ptxasw::synth
