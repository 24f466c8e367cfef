#pragma once

// What an address is made of, as seen by a warp.
//   address_form(emulation, lanes, access.address, access.block).is_uniform()

#include "emulator/facts/access.h"
#include "emulator/facts/lane_values.h"
#include "emulator/symbolic/emulate.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ptxasw::facts {

/// One addend of an address: factor * atom, in bytes.
struct Term {
  Expr atom = nullptr;
  std::int64_t factor = 0;
};

/// One addend that is a function of the lane times what all lanes share: a stride without a known
/// number, such as the pitch of an image.
struct StrideTerm {
  Expr lane = nullptr; ///< what LaneValues can evaluate
  Expr by = nullptr;   ///< the same in all lanes
  std::int64_t factor = 0;
};

/// An address as a sum, over the integers: what an extension holds is taken as if it had not
/// wrapped around where `may_wrap` says so. Everything is in bytes, signed.
struct AddressForm {
  std::int64_t constant = 0;
  std::int64_t tid[3] = {};        ///< bytes from one thread to the next along x, y, z
  std::int64_t laneid = 0;         ///< bytes per %laneid
  std::vector<Term> of_lane;       ///< other functions of the lane alone, exact
  std::vector<StrideTerm> strides; ///< of the lane, by a stride that all lanes share
  std::vector<Term> loops;         ///< loop counters (Emulation::trip_count), the same in all lanes
  std::vector<Term> uniform;       ///< whatever else all lanes share; with loops' products
  std::vector<Term> mixed;         ///< of the lane and of what all lanes share, in no simple way
  std::vector<Term> varying;       ///< may be anything in each lane: loaded, chosen by a branch
  bool may_wrap = false;           ///< holds only if no index wraps around within the warp

  /// Returns true if all lanes have the same address.
  bool is_uniform() const {
    return is_linear() && tid[0] == 0 && tid[1] == 0 && tid[2] == 0 && laneid == 0 &&
           of_lane.empty() && strides.empty();
  }
  /// Returns true if it is known how far apart any two lanes are, up to the strides.
  bool is_linear() const { return mixed.empty() && varying.empty(); }
};

/// Where an access is, 64 bits, loops written out, if `base` is what the register holds that it is
/// addressed by; null: not understood.
Expr address_at(Emulation &emulation, const Module &module, const AccessSite &site, Expr base);

/// What address_form() found out about wrap-arounds, for the next address of the same kernel: an
/// extension, by the block that it is seen from.
using WrapMemo = std::map<std::pair<Expr, BlockId>, bool>;

/// Takes an address or another number (expanded, at most 64 bits) apart as the lanes that are in
/// `block` together see it. `small_window`: it is an address of shared, local, constant or
/// parameter space, less than 2^31 bytes.
AddressForm address_form(Emulation &emulation, LaneValues &lanes, Expr address, BlockId block,
                         bool small_window = false, WrapMemo *memo = nullptr);

/// The number of low bits that are known to be zero, at most the width: the expression's own, and
/// those of ntid.x where rows are whole warps.
unsigned trailing_zeros(const LaneValues &lanes, Expr expr);

} // namespace ptxasw::facts
