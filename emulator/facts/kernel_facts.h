#pragma once

// What is true of a kernel, for every layer above: worked out once per function, from one symbolic
// emulation, and constant from then on.
//
//   const facts::KernelFacts facts(module, function, {.block = BlockShape{256}});
//   for (const facts::Access &access : facts.accesses())
//     if (facts.traffic(access).sectors.verdict == facts::Verdict::exact) ...

#include "emulator/facts/access.h"
#include "emulator/facts/branch.h"
#include "emulator/facts/traffic.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace ptxasw::facts {

/// What the user vouches for.
struct Assumptions {
  std::optional<BlockShape> block; ///< every block's, without a `.reqntid`
  /// Bytes that pointers among a kernel's parameters are multiples of, a power of two: cudaMalloc
  /// gives 256. 1: all that is known is that accesses are naturally aligned.
  unsigned base_alignment = 1;
  /// Values of parameters at the launch that is looked at, by name (parameter_name()), and extents
  /// of its grid (`nctaid.x`); what is said of accesses then holds for such launches.
  std::map<std::string, std::int64_t> parameters;
  /// Grids with a known block have less than 2^31 threads along x: no global index is negative.
  bool index_is_positive = false;
};

/// One access.
struct Access {
  AccessSite site;
  std::uint32_t number = 0; ///< its index in KernelFacts::accesses()
  BlockId block = 0;
  /// The space it touches: a generic one is resolved where the module creates no addresses of other
  /// spaces, or the address shows where it comes from.
  StateSpace space = StateSpace::generic;
  Expr address = nullptr; ///< 64 bits, loops written out; null: not understood
  Expr guard = nullptr;   ///< expanded; null: not predicated
  AddressForm form;       ///< of the address; one varying term if it is not understood
  /// Where `form` is not linear only because of what a single lane of a warp does, in global
  /// memory: the form for all lanes except at most `exceptions` of a warp.
  std::optional<AddressForm> usual;
  unsigned exceptions = 0;
  bool in_step = false;   ///< lanes here together are in the same iteration (soundness.md, E1)
  LoopId loop = no_index; ///< the innermost loop around it
  unsigned loop_depth = 0;
  /// Bytes, a power of two up to 4096: what the address is a multiple of apart from the lane's own
  /// part (AddressForm::tid, laneid, of_lane and constant).
  unsigned shared_alignment = 1;
  /// Bytes, a power of two up to 4096, that divide the address in every lane that can take part.
  unsigned alignment = 1;
};

/// The facts of one function with a body.
///
/// Everything is logically const; what is expensive is worked out when it is first asked for. Not
/// thread-safe.
class KernelFacts {
public:
  KernelFacts(const Module &module, const Function &function, const Assumptions &assumptions = {});
  ~KernelFacts();
  KernelFacts(KernelFacts &&) noexcept;
  KernelFacts &operator=(KernelFacts &&) noexcept;

  /// False if the function exceeded a budget or its control flow is not understood; there are then
  /// no accesses or branches.
  bool complete() const;
  const Module &module() const;
  const Function &function() const;
  const LaunchFacts &launch() const;
  const Layout &layout() const;
  const ControlFlowGraph &cfg() const;
  /// The emulation behind the facts: for expressions that are not among them. What it interns and
  /// remembers changes no answer.
  Emulation &emulation() const;
  /// Values by lane, for expressions that only depend on it.
  LaneValues &lane_values() const;

  /// All accesses that control can reach, in source order.
  const std::vector<Access> &accesses() const;
  /// All branches with a condition that control can reach, in source order.
  const std::vector<Branch> &branches() const;

  /// By thread of the layout: true if it can execute the block, as far as branches that depend on
  /// the lane alone show. Such a thread may still not do so.
  const std::vector<bool> &active(BlockId block) const;
  /// The same for an access, with its guard.
  const std::vector<bool> &active(const Access &access) const;

  /// What the access costs a warp.
  const Traffic &traffic(const Access &access) const;
  /// Sectors that some warp touches in every launch that fills its grid: whatever the parameters,
  /// however well arrays are aligned, as far as that is not assumed. At least what `traffic` has as
  /// typical. Global memory only.
  std::uint32_t certain_sectors(const Access &access) const;
  /// Bytes from one lane to the next along x, the same for all lanes of all warps; nothing if it is
  /// not, or not a number.
  std::optional<std::int64_t> lane_stride(const Access &access) const;

private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace ptxasw::facts
