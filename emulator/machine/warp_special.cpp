// The special registers that are emulated, by name.

#include "emulator/machine/warp_special.h"

#include <algorithm>

namespace ptxasw::emulator {
namespace {

// clang-format off
constexpr SpecialName names[] = {
    {"%tid.x", SpecialRegister::tid_x}, {"%tid.y", SpecialRegister::tid_y}, {"%tid.z", SpecialRegister::tid_z},
    {"%ntid.x", SpecialRegister::ntid_x}, {"%ntid.y", SpecialRegister::ntid_y}, {"%ntid.z", SpecialRegister::ntid_z},
    {"%ctaid.x", SpecialRegister::ctaid_x}, {"%ctaid.y", SpecialRegister::ctaid_y}, {"%ctaid.z", SpecialRegister::ctaid_z},
    {"%nctaid.x", SpecialRegister::nctaid_x}, {"%nctaid.y", SpecialRegister::nctaid_y}, {"%nctaid.z", SpecialRegister::nctaid_z},
    {"%laneid", SpecialRegister::laneid}, {"%warpid", SpecialRegister::warpid, true}, {"%nwarpid", SpecialRegister::nwarpid, true},
    {"%lanemask_eq", SpecialRegister::lanemask_eq}, {"%lanemask_le", SpecialRegister::lanemask_le},
    {"%lanemask_lt", SpecialRegister::lanemask_lt}, {"%lanemask_ge", SpecialRegister::lanemask_ge},
    {"%lanemask_gt", SpecialRegister::lanemask_gt}, {"%clock", SpecialRegister::clock, true}, {"%clock_hi", SpecialRegister::zero, true},
    {"%clock64", SpecialRegister::clock, true}, {"%globaltimer", SpecialRegister::clock, true}, {"%globaltimer_lo", SpecialRegister::clock, true},
    {"%globaltimer_hi", SpecialRegister::zero, true}, {"%smid", SpecialRegister::smid, true}, {"%nsmid", SpecialRegister::nsmid, true},
    {"%envreg1", SpecialRegister::workspace_high}, {"%envreg2", SpecialRegister::workspace_low},
    {"%gridid", SpecialRegister::gridid, true}, {"%dynamic_smem_size", SpecialRegister::dynamic_smem_size},
    {"%cluster_ctaid.x", SpecialRegister::cluster_ctaid_x}, {"%cluster_ctaid.y", SpecialRegister::cluster_ctaid_y},
    {"%cluster_ctaid.z", SpecialRegister::cluster_ctaid_z}, {"%cluster_nctaid.x", SpecialRegister::cluster_nctaid_x},
    {"%cluster_nctaid.y", SpecialRegister::cluster_nctaid_y}, {"%cluster_nctaid.z", SpecialRegister::cluster_nctaid_z},
    {"%clusterid.x", SpecialRegister::clusterid_x}, {"%clusterid.y", SpecialRegister::clusterid_y},
    {"%clusterid.z", SpecialRegister::clusterid_z}, {"%nclusterid.x", SpecialRegister::nclusterid_x},
    {"%nclusterid.y", SpecialRegister::nclusterid_y}, {"%nclusterid.z", SpecialRegister::nclusterid_z},
    {"%cluster_ctarank", SpecialRegister::cluster_ctarank}, {"%cluster_nctarank", SpecialRegister::cluster_nctarank},
    {"%is_explicit_cluster", SpecialRegister::is_explicit_cluster},
    {"%reserved_smem_offset_begin", SpecialRegister::reserved_smem_begin}, {"%reserved_smem_offset_end", SpecialRegister::reserved_smem_end},
    {"%reserved_smem_offset_cap", SpecialRegister::reserved_smem_cap},
    {"%reserved_smem_offset_0", SpecialRegister::reserved_smem_0}, {"%reserved_smem_offset_1", SpecialRegister::reserved_smem_1},
    {"%total_smem_size", SpecialRegister::total_smem_size}, {"WARP_SZ", SpecialRegister::warp_size},
};
// clang-format on

} // namespace

const SpecialName *find_special(std::string_view name) {
  const auto *const found =
      std::find_if(std::begin(names), std::end(names),
                   [&](const SpecialName &special) { return special.name == name; });
  return found == std::end(names) ? nullptr : found;
}

} // namespace ptxasw::emulator
