// The formulas are in the order in which the paper introduces them. Fractions are exact, so that
// the comparisons that choose between the three regimes do not depend on rounding.

#include "analysis/mwp_cwp.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>

namespace ptxasw::analysis {
namespace {

using Integer = boost::multiprecision::cpp_int;
using Number = boost::multiprecision::cpp_rational;

Number number(std::uint64_t n) { return Number(Integer(n)); }

Integer ceiling(const Number &n) {
  const Integer top = numerator(n), bottom = denominator(n);
  return (top + bottom - 1) / bottom; // nothing here is negative
}

} // namespace

std::optional<MwpCwp> mwp_cwp(const MwpCwpDevice &device, const MwpCwpLaunch &launch) {
  const std::uint64_t accesses = launch.uncoalesced + launch.coalesced;
  const std::uint64_t warps_per_block = launch.threads / 32 + (launch.threads % 32 != 0);
  const std::uint64_t departures = launch.uncoalesced > 0
                                       ? launch.transactions * device.departure_uncoalesced
                                       : device.departure_coalesced;
  if (accesses == 0 || warps_per_block == 0 || launch.resident_blocks == 0 || launch.blocks == 0 ||
      launch.transactions + launch.coalesced == 0 || departures == 0 ||
      device.multiprocessors == 0 || device.clock_mhz == 0 || device.load_bytes_per_warp == 0 ||
      device.issue_cycles == 0)
    return std::nullopt;
  const Number warps = number(warps_per_block) * number(launch.resident_blocks);
  const Number share_uncoalesced = number(launch.uncoalesced) / number(accesses);
  const Number share_coalesced = number(launch.coalesced) / number(accesses);
  const Number latency = number(device.memory_latency);

  // A memory access: how long one takes, and after how long the next one may leave.
  const Number latency_uncoalesced =
      latency + (number(launch.transactions) - 1) * number(device.departure_uncoalesced);
  const Number mean_latency = share_coalesced * latency + share_uncoalesced * latency_uncoalesced;
  const Number departure =
      share_uncoalesced * number(launch.transactions) * number(device.departure_uncoalesced) +
      share_coalesced * number(device.departure_coalesced);
  if (mean_latency <= 0 || departure <= 0)
    return std::nullopt;

  // How many warps overlap: by departures, by bandwidth, and by how many there are.
  const Number by_departure = Number(ceiling(mean_latency / departure));
  const Number bandwidth_of_warp =
      number(device.clock_mhz) / 1000 * number(device.load_bytes_per_warp) / mean_latency;
  const Number by_bandwidth =
      number(device.bandwidth) / (number(device.multiprocessors) * bandwidth_of_warp);
  const Number mwp = std::min({by_departure, by_bandwidth, warps});

  const Number memory_cycles =
      number(launch.coalesced) * latency + number(launch.uncoalesced) * latency_uncoalesced;
  const Number computing_cycles =
      number(device.issue_cycles) * (number(launch.computations) + number(accesses));
  const Number cwp =
      std::min(Number(ceiling((memory_cycles + computing_cycles) / computing_cycles)), warps);
  const Number repetitions = Number(ceiling(
      number(launch.blocks) / (number(launch.resident_blocks) * number(device.multiprocessors))));

  MwpCwp result;
  const Number between_accesses = computing_cycles / number(accesses) * (mwp - 1);
  Number cycles;
  if (mwp == warps && cwp == warps) {
    result.regime = 1;
    cycles = memory_cycles + computing_cycles + between_accesses;
  } else if (cwp >= mwp || computing_cycles > memory_cycles) {
    result.regime = 2;
    cycles = memory_cycles * warps / mwp + between_accesses;
  } else {
    result.regime = 3;
    cycles = mean_latency + warps * computing_cycles;
  }
  cycles *= repetitions;
  const Number waiting = std::min(mwp, number(warps_per_block)) - 1;
  cycles +=
      departure * waiting * number(launch.barriers) * number(launch.resident_blocks) * repetitions;
  result.mwp = mwp.convert_to<double>();
  result.cwp = static_cast<std::uint64_t>(numerator(cwp));
  result.repetitions = static_cast<std::uint64_t>(numerator(repetitions));
  result.cycles = cycles.convert_to<double>();
  return result;
}

} // namespace ptxasw::analysis
