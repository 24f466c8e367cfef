// Occupancy by hand, at the edges, and on recorded values of the toolkit's calculator.

#include "analysis/occupancy.h"
#include "recorded.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ptxasw::test;

namespace {

Occupancy on(std::string_view target, BlockNeeds needs) {
  const Architecture *a = find_architecture(target);
  REQUIRE(a);
  return occupancy(*a, needs);
}

using Limits = std::vector<OccupancyLimit>;

} // namespace

TEST_CASE("each resource bounds the blocks") {
  // 2048 threads in blocks of 256 fill an H100; 64 registers per thread leave half of them.
  CHECK(on("sm_90", {.threads = 256, .registers = 32}).blocks == 8);
  CHECK(on("sm_90", {.threads = 256, .registers = 32}).share == 1.0);
  CHECK(on("sm_90", {.threads = 256, .registers = 64}).reached() ==
        Limits{OccupancyLimit::registers});
  CHECK(on("sm_90", {.threads = 256, .registers = 64}).share == 0.5);
  CHECK(on("sm_90", {.threads = 32, .registers = 16}).reached() == Limits{OccupancyLimit::blocks});
  CHECK(on("sm_90", {.threads = 128, .registers = 32, .static_shared = 40'000}).reached() ==
        Limits{OccupancyLimit::shared});
  CHECK(on("sm_90", {.threads = 128, .registers = 32, .barriers = 16}).reached() ==
        Limits{OccupancyLimit::barriers});
  CHECK(on("sm_80", {.threads = 128, .registers = 32, .barriers = 16}).blocks == 16);
}

TEST_CASE("what cannot be launched has no blocks") {
  CHECK(on("sm_90", {.threads = 1025, .registers = 16}).blocks == 0);
  CHECK(on("sm_90", {.threads = 0, .registers = 16}).blocks == 0);
  CHECK(on("sm_90", {.threads = 512, .registers = 16, .most_threads = 256}).blocks == 0);
  CHECK(on("sm_90", {.threads = 1024, .registers = 128}).blocks == 0);
  CHECK(on("sm_90", {.threads = 64, .registers = 32, .dynamic_shared = 100'000}).blocks == 0);
  CHECK(on("sm_90", {.threads = 64, .registers = 32, .dynamic_shared = 100'000, .opted_in = true})
            .blocks == 2);
  CHECK(on("sm_90", {.threads = ~std::uint64_t{0}, .registers = 32}).blocks == 0);
  CHECK(on("sm_90", {.threads = 32, .dynamic_shared = ~std::uint64_t{0}}).blocks == 0);
}

TEST_CASE("targets") {
  CHECK(find_architecture("sm_90a") == find_architecture("sm_90"));
  CHECK(find_architecture("sm_100f") == find_architecture("sm_100"));
  CHECK(find_architecture("sm_52") == nullptr);
  CHECK(find_architecture("") == nullptr);
}

TEST_CASE("recorded values, where they are") {
  auto rows = test::recorded("occupancy/occupancy_golden.tsv");
  if (rows.empty()) {
    MESSAGE("no recorded values here");
    return;
  }
  CHECK(rows.size() == 4000);
  for (auto &row : rows) {
    const Occupancy found = on(
        row["arch"], {.threads = std::stoull(row["threads_per_block"]),
                      .registers = static_cast<std::uint32_t>(std::stoul(row["regs_per_thread"])),
                      .static_shared = std::stoull(row["static_smem"]),
                      .dynamic_shared = std::stoull(row["dynamic_smem"]),
                      .opted_in = row["shmem_limit"] == "optin"});
    CAPTURE(row["arch"]);
    CAPTURE(row["threads_per_block"]);
    const auto limit = [&](std::size_t i, const char *name) {
      CHECK((found.by_limit[i] ? std::to_string(*found.by_limit[i]) : "inf") == row[name]);
    };
    CHECK(std::to_string(found.blocks) == row["max_active_blocks"]);
    CHECK(std::to_string(found.warps) == row["active_warps"]);
    limit(0, "limit_warps");
    limit(1, "limit_blocks");
    limit(2, "limit_regs");
    limit(3, "limit_smem");
    CHECK(std::to_string(found.registers_per_block) == row["alloc_regs_per_block"]);
    CHECK(std::to_string(found.shared_per_block) == row["alloc_smem_per_block"]);
  }
}
