// MWP-CWP against upstream's own logs, where they are, and against values worked out by hand.

#include "analysis/mwp_cwp.h"
#include "recorded.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>

using namespace ptxasw::test;

namespace {

constexpr MwpCwpDevice rtx_2070_super{.multiprocessors = 40,
                                      .clock_mhz = 1785,
                                      .bandwidth = 448,
                                      .memory_latency = 501,
                                      .departure_uncoalesced = 2,
                                      .departure_coalesced = 2};
constexpr MwpCwpDevice gtx_1080_ti{
    .multiprocessors = 28, .clock_mhz = 1582, .bandwidth = 484, .memory_latency = 300};

/// Compares every row; returns how many there are of each regime.
std::map<unsigned, unsigned> compare_table(const std::string &name, const MwpCwpDevice &base) {
  std::map<unsigned, unsigned> regimes;
  for (auto &row : test::recorded("klaraptor/" + name)) {
    const auto number = [&](const char *column) { return std::stoull(row[column]); };
    MwpCwpDevice device = base;
    if (row.contains("mem_ld")) {
      device.memory_latency = number("mem_ld");
      device.departure_uncoalesced = device.departure_coalesced = number("departure_delay");
    }
    const auto found = mwp_cwp(device, {.threads = number("threads_per_block"),
                                        .blocks = number("blocks"),
                                        .resident_blocks = number("active_blocks_per_sm"),
                                        .computations = number("comp_insts_per_warp"),
                                        .uncoalesced = number("uncoal_mem_insts_per_warp"),
                                        .coalesced = number("coal_mem_insts_per_warp"),
                                        .transactions = number("uncoal_per_mw"),
                                        .barriers = number("synch_insts_per_warp")});
    CAPTURE(row["program"]);
    CAPTURE(row["N"]);
    REQUIRE(found);
    CHECK(found->regime == number("case"));
    CHECK(found->cwp == number("cwp"));
    CHECK(found->repetitions == number("rep"));
    CHECK(std::llround(found->mwp) == std::stoll(row["mwp_printed"]));
    const double wanted = std::stod(row["cycles_app"]);
    CHECK(std::abs(found->cycles - wanted) <= 1e-4 * wanted);
    ++regimes[found->regime];
  }
  return regimes;
}

} // namespace

TEST_CASE("by hand") {
  // 10 accesses of 44 transactions: 501 + 43 * 2 = 587 cycles each, one warp leaves every 88
  // cycles.
  const auto found = mwp_cwp(rtx_2070_super, {.threads = 32,
                                              .blocks = 512,
                                              .resident_blocks = 13,
                                              .computations = 36,
                                              .uncoalesced = 10,
                                              .transactions = 44});
  REQUIRE(found);
  CHECK(found->regime == 2);
  CHECK(found->mwp == 7); // ceil(587 / 88)
  CHECK(found->cwp == 13);
  CHECK(found->repetitions == 1);
  CHECK(std::abs(found->cycles - (5870.0 * 13 / 7 + 4.6 * 6)) < 1e-9);
}

TEST_CASE("what the model says nothing of") {
  const MwpCwpLaunch launch{.threads = 32,
                            .blocks = 1,
                            .resident_blocks = 1,
                            .computations = 1,
                            .uncoalesced = 1,
                            .transactions = 1};
  CHECK(mwp_cwp(rtx_2070_super, launch));
  for (std::uint64_t MwpCwpLaunch::*field :
       {&MwpCwpLaunch::threads, &MwpCwpLaunch::blocks, &MwpCwpLaunch::resident_blocks,
        &MwpCwpLaunch::uncoalesced, &MwpCwpLaunch::transactions}) {
    MwpCwpLaunch without = launch;
    without.*field = 0;
    CHECK_FALSE(mwp_cwp(rtx_2070_super, without));
  }
  CHECK_FALSE(mwp_cwp({}, launch));
}

TEST_CASE("upstream's rows, where they are") {
  const auto turing = compare_table("mwp_cwp.tsv", rtx_2070_super);
  if (turing.empty()) {
    MESSAGE("no recorded rows here");
    return;
  }
  CHECK(turing == std::map<unsigned, unsigned>{{1, 645}, {2, 5609}});
  const auto pascal = compare_table("mwp_cwp_gtx1080ti.tsv", gtx_1080_ti);
  CHECK(pascal == std::map<unsigned, unsigned>{{1, 414}, {2, 3786}, {3, 64}});
}
