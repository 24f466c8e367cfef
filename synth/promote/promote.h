#pragma once

// Promotion: a load that a loop repeats becomes a register. Where stores of the loop may hit what
// it reads, a test before the loop decides whether they do in any round; if they may, the loop runs
// as it was.
//
// Carry: so does a load that reads what another load of the loop has read, in the same round or the
// one before: a[i] and a[i + 1] are a[i - 1] and a[i] of the next round.
//
// What is tested and why it suffices: emulator/facts/loop_values.h. How it is written: write.cpp.
// Why it is right: prove.cpp.

#include "synth/promote/sites.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::synth {

/// A loop with loads that can be promoted.
struct PromotionSite {
  std::uint32_t header = 0; ///< the first instruction of the loop's header
  std::uint32_t line = 0;   ///< of that
  std::vector<std::uint32_t> loads;
  unsigned conditions = 0; ///< that are tested before the loop
};

/// The loops of a kernel in which something can be promoted, or carried.
Sites<PromotionSite> promotion_sites(const KernelContext &context,
                                     promote::Wanted wanted = promote::Wanted::repeated);

/// The module's text with the loads of one of these loops promoted, or carried.
std::optional<std::string> promote_loop(const KernelContext &context, std::uint32_t header,
                                        promote::Wanted wanted = promote::Wanted::repeated);

/// The module's text as it would be if every test of a promotion came out well: what it costs where
/// arrays do not overlap. It computes something else where they do.
std::string where_apart(const Module &module);

/// Proves that in a kernel in which loads were promoted or carried each thread does what it did but
/// for loads whose values it has, for the same launch. Both may be of one module.
proof::Proved prove_promoted(const Module &before, const Function &kernel, const Module &after,
                             const Function &promoted);

} // namespace ptxasw::synth
