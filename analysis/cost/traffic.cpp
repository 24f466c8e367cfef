// The hardware deals blocks out round robin, so that a multiprocessor holds every 132nd or so of
// the grid. Their warps go through the kernel in step: the first step of all of them, then the
// second, and so on. The steps are those of a walk (warp_walk.h), or of a run (warp_runs.h). The L1
// is a cache that this sequence of sectors passes through; what it does not have, the L2 is asked
// for. In reality blocks drift apart, and share less: the mean of one L1 for all and of a part for
// each is what counts. How much less or more other blocks have to do is estimated from some that
// are spread over the grid.
//
// DRAM: every sector that is touched at all is read once. That is how far the addresses of each
// buffer reach, if they reach everything in between, and at most all that the L2 is asked for. It
// is read again only if the lines that all the GPU's resident blocks touch in one step do not fit
// the L2: then each use comes too late.

#include "analysis/cost/traffic.h"

#include "analysis/cost/request.h"
#include "analysis/cost/sector_cache.h"
#include "analysis/cost/warp_runs.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace ptxasw::analysis::cost {
namespace {

/// Warps that are walked through the kernel for one launch.
constexpr std::uint64_t warps_budget = 32;
/// Blocks that are examined for how much they have to do.
constexpr std::uint64_t spread = 6;
/// How many iterations of a loop ptxas merges into one, where it may.
constexpr double unrolled = 4;
/// Cycles from one instruction of a warp to the next, where nothing is waited for but results of
/// arithmetic: 2 to 4 in 201 of 224 launches on the H200 by counters (`wait`, and one to issue).
constexpr double cycles_per_instruction = 2;
/// Registers that hold no loaded values.
constexpr double registers_taken = 16;

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

struct WarpRecord {
  std::vector<RecordedStep> steps;
  double chain_cycles = 0, from_l1 = 0, from_l2 = 0;
  std::map<std::uint64_t, std::uint32_t> written; ///< sectors: the bytes stored so far, a bit each
};

class Sampling {
public:
  Sampling(Kernel &kernel, WarpWalk &walk, const Surroundings &around)
      : kernel_(kernel), walk_(walk), around_(around), blocks_(around.grid.count()),
        threads_(around.block.count()), warps_((threads_ + warp_lanes - 1) / warp_lanes) {
    sampled_ = std::clamp<std::uint64_t>(warps_budget / warps_, 1, around.resident_blocks);
    sampled_ = std::min(sampled_, blocks_);
  }

  /// Runs the warps that it looks at, instead of a walk; false: they cannot be run.
  bool execute(const RunInputs &inputs) {
    std::vector<std::uint64_t> all{0, blocks_ - 1};
    for (std::uint64_t i = 0; i < sampled_; ++i)
      all.push_back(sample(i));
    for (std::uint64_t i = 0; i < spread_; ++i)
      all.push_back(elsewhere(i));
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    auto runs = run_warps(kernel_, inputs, around_.grid, around_.block, all);
    if (runs)
      runs_ = std::move(*runs);
    return runs.has_value();
  }

  LaunchTraffic run() {
    for (std::uint64_t i = 0; i < sampled_; ++i)
      record(sample(i));
    look_around();
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

  /// Numbers of the blocks that are recorded, and of those that are examined for what they do.
  std::uint64_t sample(std::uint64_t i) const {
    return ((blocks_ - 1) / 2 + i * around_.multiprocessors) % blocks_;
  }
  std::uint64_t elsewhere(std::uint64_t i) const {
    const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(spread_);
    return static_cast<std::uint64_t>(place * static_cast<double>(blocks_));
  }

  /// Calls visit(step) for all that a warp does.
  void visit(std::uint64_t block, std::uint64_t warp,
             const std::function<void(const RecordedStep &)> &visit) {
    if (runs_) {
      for (const RecordedStep &step : runs_->steps[{block, warp}])
        visit(step);
      return;
    }
    walk_.run(moment_of(block, warp), [&](const Step &step) {
      RecordedStep recorded{step.weight, step.block, step.guessed, {}, 0};
      for (const Access &access : step.block->accesses)
        recorded.requests.push_back(request_of(kernel_, access, step.active));
      visit(recorded);
    });
  }

  void include(const Request &request) {
    if (request.sectors.empty() || !request.known)
      return;
    Reach &reach = reach_to(request.traffic, request.sectors.front());
    reach.include(request.sectors.front());
    reach.include(request.sectors.back());
  }
  Reach &reach_to(Traffic traffic, std::uint64_t sector) {
    return reaches_[{traffic != Traffic::load, sector * sector_bytes >> buffer_bits}];
  }

  void record(std::uint64_t block) {
    for (std::uint64_t warp = 0; warp < warps_; ++warp) {
      WarpRecord &made = records_.emplace_back();
      visit(block, warp, [&](const RecordedStep &step) {
        for (const Request &request : step.requests)
          include(request);
        if (step.weight > 0)
          made.steps.push_back(step);
      });
    }
  }

  /// What a block's first and last warp have to do, in instructions; `reaching`: their addresses
  /// count, too.
  double work_of(std::uint64_t block, bool reaching) {
    double work = 0;
    for (const std::uint64_t warp : {std::uint64_t{0}, warps_ - 1})
      visit(block, warp, [&](const RecordedStep &step) {
        work += step.block->instructions * step.weight;
        for (const Request &request : step.requests)
          if (reaching)
            include(request);
      });
    return work;
  }

  /// How far addresses reach, and how much there is to do elsewhere than in the sampled blocks.
  void look_around() {
    double most = std::max(work_of(0, true), work_of(blocks_ - 1, true)), sum = 0, sampled = 0;
    for (std::uint64_t i = 0; i < spread_; ++i) {
      const double work = work_of(elsewhere(i), false);
      most = std::max(most, work);
      sum += work / static_cast<double>(spread_);
    }
    for (std::uint64_t block = 0; block < sampled_; ++block)
      for (const std::uint64_t warp : {std::uint64_t{0}, warps_ - 1})
        for (const RecordedStep &step : records_[block * warps_ + warp].steps)
          sampled += step.block->instructions * step.weight / static_cast<double>(sampled_);
    scale_ = sampled > 0 ? sum / sampled : 1;
    result_.longest_block = sampled > 0 ? most / sampled : 1;
  }

  void replay() {
    const std::uint64_t each = around_.l1_bytes / std::max(1u, around_.resident_blocks);
    SectorCache together(each * sampled_);
    std::vector<SectorCache> apart(sampled_, SectorCache(each));
    double lines_sum = 0, steps_sum = 0;

    for (std::size_t step = 0;; ++step) {
      bool any = false;
      double times = 0;
      counting_ = step % 4 == 3 || step < 3;
      lines_.clear();
      for (std::size_t i = 0; i < records_.size(); ++i)
        if (step < records_[i].steps.size()) {
          any = true;
          times = std::max(times, records_[i].steps[step].weight);
          replay(records_[i], records_[i].steps[step], together, apart[i / warps_]);
        }
      if (!any)
        break;
      if (!counting_)
        continue;
      std::sort(lines_.begin(), lines_.end());
      const auto end = std::unique(lines_.begin(), lines_.end());
      lines_sum += times * static_cast<double>(end - lines_.begin());
      steps_sum += times;
    }
    lines_of_step_ = steps_sum > 0 ? lines_sum / steps_sum : 0;
  }

  void replay(WarpRecord &warp, const RecordedStep &step, SectorCache &together,
              SectorCache &apart) {
    const double times = step.weight;
    result_.cycles += step.block->cycles * times;
    result_.cycles.shared += step.shared * times;
    result_.instructions += step.block->instructions * times;
    result_.guessed_branches |= step.guessed;
    double loads = 0, unit_cycles = 0;
    bool missed = false;
    for (const Request &request : step.requests) {
      result_.guessed_addresses |= !request.known;
      const auto sectors = static_cast<double>(request.sectors.size());
      unit_cycles += request.cycles;
      result_.requests += times;
      if (counting_)
        for (const std::uint64_t sector : request.sectors)
          lines_.push_back(sector * sector_bytes / line_bytes);
      if (request.traffic != Traffic::load) {
        for (const std::uint64_t sector : request.sectors) {
          together.write(sector);
          apart.write(sector);
        }
        result_.store_cycles += request.cycles * times;
        const double partial = partly_written(warp, request);
        result_.partial_write_sectors += partial * times;
        result_.l2_write_sectors += (sectors - partial) * times;
        if (!request.sectors.empty())
          reach_to(request.traffic, request.sectors.front()).sectors += sectors * times;
        continue;
      }
      loads += !request.sectors.empty();
      double misses = 0;
      for (const std::uint64_t sector : request.sectors)
        misses += 0.5 * !together.read(sector) + 0.5 * !apart.read(sector);
      missed |= misses > 0;
      result_.load_cycles += request.cycles * times;
      result_.l1_sectors += sectors * times;
      result_.l2_read_sectors += misses * times;
      if (!request.sectors.empty())
        reach_to(request.traffic, request.sectors.front()).sectors += misses * times;
    }
    // A warp's instructions wait for each other, and its own requests follow each other.
    warp.chain_cycles +=
        (std::max(step.block->chain_cycles, cycles_per_instruction * step.block->instructions) +
         unit_cycles) *
        times;
    if (loads == 0)
      return;
    // What is loaded must find a place: at most this many loads are under way.
    const double room = std::max(8.0, around_.registers - registers_taken);
    double waits = std::max(step.block->chain_loads, step.block->load_words / room);
    if (step.block->loop != no_index && kernel_.loops()[step.block->loop].may_unroll)
      waits = std::max(waits / unrolled, step.block->load_words / room);
    (missed ? warp.from_l2 : warp.from_l1) += waits * times;
  }

  /// By how many more sectors are written in part after a request of this warp: what its earlier
  /// ones have stored is still in the L2, so the sectors that it fills need no more than that.
  static double partly_written(WarpRecord &warp, const Request &request) {
    if (request.traffic != Traffic::store || request.partial == 0)
      return request.partial;
    constexpr std::uint32_t all = ~std::uint32_t{0};
    double more = 0;
    for (std::size_t i = 0; i < request.sectors.size(); ++i) {
      std::uint32_t &bytes = warp.written[request.sectors[i]];
      const std::uint32_t before = bytes;
      bytes |= request.written[i];
      more += (bytes != all) - (before != 0 && before != all);
    }
    return more;
  }

  void finish() {
    const double factor = static_cast<double>(blocks_) / static_cast<double>(sampled_) * scale_;
    for (double *sum : {&result_.instructions, &result_.requests, &result_.load_cycles,
                        &result_.store_cycles, &result_.l1_sectors, &result_.l2_read_sectors,
                        &result_.l2_write_sectors, &result_.partial_write_sectors})
      *sum *= factor;
    result_.cycles = result_.cycles * factor;
    chains();
    for (const auto &[where, reach] : reaches_) {
      const double asked = reach.sectors * factor;
      const double apart =
          reach.first > reach.last ? asked : static_cast<double>(reach.last - reach.first + 1);
      (where.first ? result_.dram_write_bytes : result_.dram_read_bytes) +=
          std::min(asked, apart) * sector_bytes;
    }
    const double at_work = std::min(static_cast<double>(blocks_),
                                    double(around_.resident_blocks) * around_.multiprocessors);
    const double live = lines_of_step_ * line_bytes * at_work / static_cast<double>(sampled_);
    const double touched = result_.dram_read_bytes + result_.dram_write_bytes;
    const double l2_read = result_.l2_read_sectors * sector_bytes;
    result_.thrashes_l2 = std::min(live, touched) > static_cast<double>(around_.l2_bytes) &&
                          l2_read > 2 * result_.dram_read_bytes;
    result_.dram_share =
        l2_read > 0 && !result_.thrashes_l2 ? std::min(1.0, result_.dram_read_bytes / l2_read) : 1;
    result_.guessed_iterations = !runs_ && walk_.guessed_iterations();
  }

  /// Of each block its slowest warp counts, and of these the mean.
  void chains() {
    for (std::uint64_t block = 0; block < sampled_; ++block) {
      const WarpRecord *slowest = &records_[block * warps_];
      for (std::uint64_t warp = 0; warp < warps_; ++warp)
        if (length(records_[block * warps_ + warp]) > length(*slowest))
          slowest = &records_[block * warps_ + warp];
      result_.chain_cycles += slowest->chain_cycles / static_cast<double>(sampled_);
      result_.loads_from_l1 += slowest->from_l1 / static_cast<double>(sampled_);
      result_.loads_from_l2 += slowest->from_l2 / static_cast<double>(sampled_);
    }
  }
  static double length(const WarpRecord &warp) {
    return warp.chain_cycles + 32 * warp.from_l1 + 400 * warp.from_l2;
  }

  Kernel &kernel_;
  WarpWalk &walk_;
  const Surroundings around_;
  const std::uint64_t blocks_, threads_, warps_;
  const std::uint64_t spread_ = std::min(spread, blocks_);
  std::uint64_t sampled_ = 1;    ///< blocks
  std::optional<WarpRuns> runs_; ///< instead of the walk
  std::vector<WarpRecord> records_;
  std::map<std::pair<bool, std::uint64_t>, Reach> reaches_; ///< by (is written, buffer)
  std::vector<std::uint64_t> lines_; ///< of the step at hand, if it is one of those counted
  bool counting_ = false;
  double lines_of_step_ = 0, scale_ = 1;
  LaunchTraffic result_;
};

} // namespace

LaunchTraffic traffic_of(Kernel &kernel, WarpWalk &walk, const Surroundings &around) {
  return Sampling(kernel, walk, around).run();
}

std::optional<LaunchTraffic> traffic_of(Kernel &kernel, const RunInputs &inputs,
                                        const Surroundings &around) {
  WarpWalk none(kernel);
  Sampling sampling(kernel, none, around);
  return sampling.execute(inputs) ? std::optional(sampling.run()) : std::nullopt;
}

} // namespace ptxasw::analysis::cost
