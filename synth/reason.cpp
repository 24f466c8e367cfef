// Names and meanings of the reasons, from their one description.

#include "synth/report.h"

#include <array>

namespace ptxasw::synth {
namespace {

struct Text {
  std::string_view name;
  std::string_view meaning;
};

constexpr auto texts = std::to_array<Text>({
#define PTXASW_REASON(enumerator, name, meaning) {name, meaning},
#include "synth/reasons.def"
#undef PTXASW_REASON
});

} // namespace

std::string_view to_string(Reason reason) { return texts[static_cast<std::size_t>(reason)].name; }
std::string_view describe(Reason reason) { return texts[static_cast<std::size_t>(reason)].meaning; }

} // namespace ptxasw::synth
