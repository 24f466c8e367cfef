// Blocks that lie far apart in the grid are at work on one multiprocessor at a time (the hardware
// deals blocks out round robin). Their warps go through the kernel in step: the first step of all
// of them, then the second, and so on. The L1 is a cache that this sequence of sectors passes
// through; what it does not have, the L2 is asked for.
//
// DRAM: every sector that is touched at all is read once. That is how far the addresses of each
// buffer reach, if they reach everything in between, and at most all that the L2 is asked for. It
// is read again only if what the GPU's resident blocks touch at a time does not fit the L2.

#include "analysis/cost/traffic.h"

#include "analysis/cost/request.h"
#include "analysis/cost/sector_cache.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace ptxasw::cost {
namespace {

/// Warps that are walked through the kernel for one launch.
constexpr std::uint64_t warps_budget = 48;
/// DRAM is read in pairs of sectors (`dram.sparse*` of the probe: a 32-byte sector of every 64
/// bytes costs as much as both).
constexpr std::uint64_t dram_sectors = 2;

/// Addresses that belong together: those within 2^40 bytes, which is how far apart buffers are
/// laid.
constexpr unsigned buffer_bits = 40;

struct Reach {
  std::uint64_t first = ~std::uint64_t{0}, last = 0; ///< sectors
  double sectors = 0;                                ///< asked of the L2, all blocks
  void include(std::uint64_t sector) {
    first = std::min(first, sector);
    last = std::max(last, sector);
  }
};

struct RecordedStep {
  double weight = 0;
  const CodeBlock *block = nullptr;
  std::vector<Request> requests;
};

struct WarpRecord {
  std::vector<RecordedStep> steps;
  double chain_cycles = 0, from_l1 = 0, from_l2 = 0;
};

class Sampling {
public:
  Sampling(Kernel &kernel, WarpWalk &walk, const Surroundings &around)
      : kernel_(kernel), walk_(walk), around_(around), blocks_(around.grid.count()),
        threads_(around.block.count()), warps_((threads_ + warp_lanes - 1) / warp_lanes) {
    sampled_ = std::clamp<std::uint64_t>(warps_budget / warps_, 1, around.resident_blocks);
    sampled_ = std::min(sampled_, blocks_);
  }

  LaunchTraffic run() {
    for (std::uint64_t i = 0; i < sampled_; ++i)
      record(static_cast<std::uint64_t>((static_cast<double>(i) + 0.5) /
                                        static_cast<double>(sampled_) *
                                        static_cast<double>(blocks_)));
    reach_of(0);
    reach_of(blocks_ - 1);
    replay();
    finish();
    return result_;
  }

private:
  Moment moment_of(std::uint64_t block, std::uint64_t warp) const {
    Moment moment;
    moment.grid = around_.grid;
    moment.block = around_.block;
    const std::uint64_t x = around_.grid.x, y = around_.grid.y;
    moment.at = {static_cast<std::uint32_t>(block % x), static_cast<std::uint32_t>(block / x % y),
                 static_cast<std::uint32_t>(block / x / y)};
    moment.first = warp * warp_lanes;
    return moment;
  }

  void include(Traffic traffic, const Request &request) {
    if (request.sectors.empty())
      return;
    Reach &reach = reach_to(traffic, request.sectors.front());
    reach.include(request.sectors.front());
    reach.include(request.sectors.back());
  }
  Reach &reach_to(Traffic traffic, std::uint64_t sector) {
    return reaches_[{traffic != Traffic::load, sector * sector_bytes >> buffer_bits}];
  }

  void record(std::uint64_t block) {
    for (std::uint64_t warp = 0; warp < warps_; ++warp) {
      WarpRecord &made = records_.emplace_back();
      walk_.run(moment_of(block, warp), [&](const Step &step) {
        RecordedStep recorded{step.weight, step.block, {}};
        for (const Access &access : step.block->accesses) {
          recorded.requests.push_back(request_of(kernel_, access, step.active));
          if (access.known)
            include(access.traffic, recorded.requests.back());
        }
        if (step.weight > 0)
          made.steps.push_back(std::move(recorded));
      });
    }
  }

  /// Only how far the addresses of a block's first and last warp reach.
  void reach_of(std::uint64_t block) {
    for (const std::uint64_t warp : {std::uint64_t{0}, warps_ - 1})
      walk_.run(moment_of(block, warp), [&](const Step &step) {
        for (const Access &access : step.block->accesses)
          if (access.known)
            include(access.traffic, request_of(kernel_, access, step.active));
      });
  }

  void replay() {
    SectorCache cache(around_.l1_bytes * sampled_ / std::max(1u, around_.resident_blocks));
    for (std::size_t step = 0;; ++step) {
      bool any = false;
      for (WarpRecord &warp : records_)
        if (step < warp.steps.size()) {
          any = true;
          replay(warp, warp.steps[step], cache);
        }
      if (!any)
        break;
    }
  }

  void replay(WarpRecord &warp, const RecordedStep &step, SectorCache &cache) {
    const double times = step.weight;
    result_.cycles += step.block->cycles * times;
    result_.instructions += step.block->instructions * times;
    bool any_load = false, missed = false;
    for (const Request &request : step.requests) {
      const auto sectors = static_cast<double>(request.sectors.size());
      if (request.traffic != Traffic::load) {
        for (const std::uint64_t sector : request.sectors)
          cache.write(sector);
        result_.store_cycles += request.cycles * times;
        (request.partial ? result_.partial_write_sectors : result_.l2_write_sectors) +=
            sectors * times;
        if (!request.sectors.empty())
          reach_to(request.traffic, request.sectors.front()).sectors += sectors * times;
        continue;
      }
      any_load |= !request.sectors.empty();
      double misses = 0;
      for (const std::uint64_t sector : request.sectors)
        misses += !cache.read(sector);
      missed |= misses > 0;
      result_.load_requests += times;
      result_.load_cycles += request.cycles * times;
      result_.l1_sectors += sectors * times;
      result_.l2_read_sectors += misses * times;
      if (!request.sectors.empty())
        reach_to(request.traffic, request.sectors.front()).sectors += misses * times;
    }
    warp.chain_cycles += step.block->chain_cycles * times;
    if (any_load)
      (missed ? warp.from_l2 : warp.from_l1) += step.block->chain_loads * times;
  }

  void finish() {
    const double factor = static_cast<double>(blocks_) / static_cast<double>(sampled_);
    for (double *sum : {&result_.instructions, &result_.load_requests, &result_.load_cycles,
                        &result_.store_cycles, &result_.l1_sectors, &result_.l2_read_sectors,
                        &result_.l2_write_sectors, &result_.partial_write_sectors})
      *sum *= factor;
    result_.cycles = result_.cycles * factor;
    chains();
    const double from_all =
        static_cast<double>(blocks_) /
        std::min<double>(static_cast<double>(blocks_),
                         double(around_.resident_blocks) * around_.multiprocessors);
    double at_a_time = 0, compulsory = 0;
    for (auto &[where, reach] : reaches_) {
      const double asked = reach.sectors * factor;
      const double apart = reach.first > reach.last
                               ? asked
                               : static_cast<double>(reach.last - reach.first + dram_sectors);
      const double once = std::min(asked, apart) * sector_bytes;
      (where.first ? result_.dram_write_bytes : result_.dram_read_bytes) += once;
      compulsory += once;
      at_a_time += std::min(once, asked * sector_bytes / from_all);
    }
    if (at_a_time > static_cast<double>(around_.l2_bytes))
      result_.dram_read_bytes = result_.l2_read_sectors * sector_bytes;
    (void)compulsory;
    const double l2_bytes = result_.l2_read_sectors * sector_bytes;
    result_.dram_share = l2_bytes > 0 ? std::min(1.0, result_.dram_read_bytes / l2_bytes) : 0;
    result_.guessed_iterations = walk_.guessed_iterations();
  }

  /// Of each block its slowest warp counts, and of these the mean.
  void chains() {
    double longest = 0, sum = 0;
    for (std::uint64_t block = 0; block < sampled_; ++block) {
      const WarpRecord *slowest = &records_[block * warps_];
      for (std::uint64_t warp = 0; warp < warps_; ++warp)
        if (length(records_[block * warps_ + warp]) > length(*slowest))
          slowest = &records_[block * warps_ + warp];
      result_.chain_cycles += slowest->chain_cycles / static_cast<double>(sampled_);
      result_.loads_from_l1 += slowest->from_l1 / static_cast<double>(sampled_);
      result_.loads_from_l2 += slowest->from_l2 / static_cast<double>(sampled_);
      longest = std::max(longest, length(*slowest));
      sum += length(*slowest) / static_cast<double>(sampled_);
    }
    result_.longest_block = sum > 0 ? longest / sum : 1;
  }
  static double length(const WarpRecord &warp) {
    return warp.chain_cycles + 32 * warp.from_l1 + 400 * warp.from_l2;
  }

  Kernel &kernel_;
  WarpWalk &walk_;
  const Surroundings around_;
  const std::uint64_t blocks_, threads_, warps_;
  std::uint64_t sampled_ = 1; ///< blocks
  std::vector<WarpRecord> records_;
  std::map<std::pair<bool, std::uint64_t>, Reach> reaches_; ///< by (is written, buffer)
  LaunchTraffic result_;
};

} // namespace

LaunchTraffic traffic_of(Kernel &kernel, WarpWalk &walk, const Surroundings &around) {
  return Sampling(kernel, walk, around).run();
}

} // namespace ptxasw::cost
