// Every architecture against the calculator that comes with the toolkit, on random kernels.

#include "analysis/occupancy.h"

#include <cuda_occupancy.h>
#include <doctest/doctest.h>

#include <climits>
#include <random>
#include <string>

using namespace ptxasw::test;

namespace {

cudaOccDeviceProp properties_of(const Architecture &a) {
  cudaOccDeviceProp properties;
  const int number = std::stoi(std::string(a.name.substr(3)));
  properties.computeMajor = number / 10;
  properties.computeMinor = number % 10;
  properties.maxThreadsPerBlock = static_cast<int>(a.threads_per_block);
  properties.maxThreadsPerMultiprocessor = static_cast<int>(a.warps * 32);
  properties.regsPerBlock = static_cast<int>(a.registers_per_block);
  properties.regsPerMultiprocessor = static_cast<int>(a.registers);
  properties.warpSize = 32;
  properties.sharedMemPerBlock = a.shared_per_block;
  properties.sharedMemPerMultiprocessor = a.shared;
  properties.numSms = static_cast<int>(a.multiprocessors);
  properties.sharedMemPerBlockOptin = a.shared_per_block_opt_in;
  properties.reservedSharedMemPerBlock = a.shared_reserved_per_block;
  return properties;
}

} // namespace

TEST_CASE("the toolkit's calculator says the same") {
  std::mt19937 random(2026);
  const auto below = [&](unsigned n) { return random() % n; };
  unsigned compared = 0, launchable = 0, limited[occupancy_limits] = {};
  for (unsigned round = 0; round < 10'000; ++round) {
    const Architecture &a = architectures()[below(static_cast<unsigned>(architectures().size()))];
    BlockNeeds needs;
    needs.threads = below(4) == 0 ? 32 * (1 + below(33)) : 1 + below(below(3) ? 1100 : 160);
    needs.registers = below(8) == 0 ? 8 * below(34) : below(258);
    needs.static_shared = below(2) ? 0 : below(60'000);
    needs.dynamic_shared = below(2) ? 0 : (below(4) ? below(60'000) : below(240'000));
    needs.barriers = below(2) ? 1 : below(17);
    needs.opted_in = below(2);
    needs.most_threads = below(4) ? 0 : 1 + below(1024);

    const cudaOccDeviceProp properties = properties_of(a);
    cudaOccFuncAttributes attributes;
    attributes.maxThreadsPerBlock =
        needs.most_threads == 0 ? INT_MAX : static_cast<int>(needs.most_threads);
    attributes.numRegs = static_cast<int>(needs.registers);
    attributes.sharedSizeBytes = needs.static_shared;
    attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
    attributes.shmemLimitConfig =
        needs.opted_in ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT;
    attributes.maxDynamicSharedSizeBytes = needs.dynamic_shared;
    attributes.numBlockBarriers = static_cast<int>(needs.barriers);
    const cudaOccDeviceState state;
    cudaOccResult wanted;
    const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
        &wanted, &properties, &attributes, &state, static_cast<int>(needs.threads),
        needs.dynamic_shared);
    REQUIRE(error == CUDA_OCC_SUCCESS);
    const Occupancy found = occupancy(a, needs);
    CAPTURE(a.name);
    CAPTURE(needs.threads);
    CAPTURE(needs.registers);
    CAPTURE(needs.static_shared);
    CAPTURE(needs.dynamic_shared);
    CAPTURE(needs.barriers);
    CAPTURE(needs.opted_in);
    CAPTURE(needs.most_threads);
    // This function of the calculator does not look at the kernel's own bound.
    if (needs.most_threads != 0 && needs.threads > needs.most_threads) {
      CHECK(found.blocks == 0);
    } else {
      CHECK(found.blocks == static_cast<unsigned>(wanted.activeBlocksPerMultiprocessor));
      CHECK(found.by_limit[0] == static_cast<unsigned>(wanted.blockLimitWarps));
    }
    CHECK(found.by_limit[1] == static_cast<unsigned>(wanted.blockLimitBlocks));
    CHECK(found.registers_per_block == static_cast<unsigned>(wanted.allocatedRegistersPerBlock));
    CHECK(found.shared_per_block == wanted.allocatedSharedMemPerBlock);
    ++compared;
    launchable += found.blocks > 0;
    for (const OccupancyLimit limit : found.reached())
      ++limited[static_cast<std::size_t>(limit)];
  }
  // The sample must not be one-sided.
  CHECK(compared == 10'000);
  CHECK(launchable > 3'000);
  for (const unsigned count : limited)
    CHECK(count > 50);
}
