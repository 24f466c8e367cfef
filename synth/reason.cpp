// Names and meanings of the reasons, in the order of the enum.

#include "synth/report.h"

#include <array>
#include <utility>

namespace ptxasw {
namespace {

struct Text {
  std::string_view name;
  std::string_view meaning;
};

// In the order of the enum.
constexpr std::array<Text, 28> texts{{
    {"no-source", "no other load reads this address at a constant lane distance"},
    {"is-source", "other lanes or later loads take the value that this load reads"},
    {"opaque-address", "the address depends on an instruction that is not modelled"},
    {"varying-address", "the address depends on a value that may differ between the two lanes"},
    {"not-dominated", "the source does not run on every path to the load"},
    {"other-iteration", "source and load are not in the same innermost loop iteration"},
    {"out-of-step", "lanes that are active together may be in different iterations of a loop"},
    {"source-predicated", "the source may be switched off where the load runs"},
    {"store-between", "a store in between may write the loaded bytes"},
    {"sync-between", "an atomic, barrier, fence, call or opaque instruction lies in between"},
    {"not-weak", "a volatile, ordered or fresh-read access"},
    {"width-not-supported", "wider than 64 bits, or a width that is switched off"},
    {"type-mismatch", "the source loads another width or extends its value otherwise"},
    {"not-global", "a generic address that may be in local or shared memory"},
    {"other-block", "shared memory that may be another block's of the cluster"},
    {"loop-carried", "only the previous iteration of the loop read this address"},
    {"delta-too-large", "the lane distance is above the limit"},
    {"wrap-not-testable", "an index may wrap and no register is at hand to test it"},
    {"predicate-form", "a pragma belongs to the load, or lets the source leave bytes out"},
    {"irreducible-flow", "the load lies in an irreducible region"},
    {"target-decision", "the decision for this target is not to shuffle"},
    {"not-selected", "switched off by an option"},
    {"target-too-old", "the target or PTX version has no shfl.sync and activemask"},
    {"debug-module", "the module is compiled for debugging"},
    {"unproved", "the proof of the emitted text failed, the rewrite was withdrawn"},
    {"rejected", "the real ptxas refused the rewritten module, the original was assembled"},
    {"not-handed-over", "the rewritten module could not be handed to the real ptxas"},
    {"budget", "a budget ran out"},
}};
static_assert(texts.size() == static_cast<std::size_t>(Reason::budget) + 1);

} // namespace

std::string_view to_string(Reason reason) { return texts[static_cast<std::size_t>(reason)].name; }
std::string_view describe(Reason reason) { return texts[static_cast<std::size_t>(reason)].meaning; }

} // namespace ptxasw
