// A launch's time from what one warp does (warp_walk.h), what its accesses move (traffic.h) and
// what the device was measured to take (the probe). Every constant says what it was measured or
// fitted on.

#include "analysis/cost/model.h"

#include "analysis/cost/sector_cache.h"

#include <algorithm>
#include <cmath>

namespace ptxasw::analysis::cost {
namespace {

/// Terms limit together where they are near each other: their sum in this norm counts. For latency
/// and bandwidth the probe says how near (`flight.*`: 2.6 on the H100, 2.8 on the H200, to 1 and 2
/// per cent). The others were fitted to the kernels that are not held out
/// (docs/internals/cost-model.md).
constexpr double within_multiprocessor = 2.5, of_memory = 2.4, of_both = 4.5, with_start = 12;
/// Fitted with them: what PTX does not show of instructions and of waiting.
constexpr double instructions_factor = 1.4, waiting_factor = 1.4;

/// Four out of five launches of those kernels take from `least` to `most` times what is predicted
/// where the term is the limit.
struct Spread {
  double least, most;
};
// Where no such launch was seen: as wide as the widest.
constexpr Spread spreads[terms] = {{0.87, 1.12}, {0.77, 1.35}, {0.77, 1.35}, {0.77, 1.35},
                                   {0.77, 1.35}, {0.88, 1.05}, {0.77, 1.26}, {0.78, 1.10},
                                   {0.90, 1.35}, {0.85, 1.23}, {0.95, 1.05}};
/// How much wider it gets with each thing that is not known.
constexpr double of_guess = 1.5, of_guessed_iterations = 8;

double norm(double p, std::initializer_list<double> list) {
  const double largest = std::max(list);
  if (largest <= 0)
    return 0;
  double sum = 0;
  for (const double value : list)
    sum += std::pow(value / largest, p);
  return largest * std::pow(sum, 1 / p);
}

class Model {
public:
  Model(Kernel &kernel, const Gpu &gpu, const CostLaunch &launch)
      : kernel_(kernel), gpu_(gpu), launch_(launch) {}

  std::optional<Prediction> run() {
    const Architecture *architecture = find_architecture(gpu_.target);
    BlockNeeds needs = launch_.needs;
    needs.threads = launch_.block.count();
    result_.occupancy = occupancy(*architecture, needs);
    if (result_.occupancy.blocks == 0)
      return std::nullopt;
    blocks_ = static_cast<double>(launch_.grid.count());
    warps_ = std::ceil(static_cast<double>(needs.threads) / warp_lanes);
    // The fullest multiprocessor.
    of_fullest_ = std::ceil(blocks_ / gpu_.multiprocessors);
    resident_ = std::min<double>(result_.occupancy.blocks, of_fullest_);
    kernel_.take_shape(launch_.block);
    result_.waves = blocks_ / gpu_.multiprocessors / result_.occupancy.blocks;
    result_.tail = (std::ceil(result_.waves) - result_.waves) / std::ceil(result_.waves);
    Surroundings around;
    around.grid = launch_.grid;
    around.block = launch_.block;
    around.resident_blocks = static_cast<std::uint32_t>(resident_);
    const double shared =
        static_cast<double>(result_.occupancy.shared_per_block) * result_.occupancy.blocks;
    // Some 48 KiB are not available for lines of global memory, shared memory or not.
    const double l1 = gpu_.l1_kib * 1024 - std::max(shared, 48.0 * 1024);
    around.l1_bytes = static_cast<std::uint64_t>(std::max(l1, 16.0 * 1024));
    around.registers = needs.registers;
    around.l2_bytes = static_cast<std::uint64_t>(gpu_.l2_mib * 1024 * 1024);
    around.multiprocessors = gpu_.multiprocessors;
    auto run = launch_.inputs ? traffic_of(kernel_, *launch_.inputs, around) : std::nullopt;
    if (run) {
      result_.traffic = *run;
      kernel_.settle_unread();
    } else {
      WarpWalk walk(kernel_);
      result_.traffic = traffic_of(kernel_, walk, around);
    }
    fill();
    return result_;
  }

private:
  double &term(Term which) { return result_.term[static_cast<std::size_t>(which)]; }
  double microseconds(double cycles) const { return cycles / gpu_.clock.value * 1e-3; }

  void fill() {
    LaunchTraffic &t = result_.traffic;
    // The fullest multiprocessor's share of what all multiprocessors do.
    const double share = of_fullest_ / blocks_;
    // A spilled register of a warp is a line: four sectors that go through to the L2, and come back
    // from the L1.
    const double spilled = static_cast<double>(launch_.spill_stores) / 4 * warps_ * blocks_;
    const double reloaded = static_cast<double>(launch_.spill_loads) / 4 * warps_ * blocks_;
    constexpr double sectors_of_line = 4;
    term(Term::issue) = microseconds(t.cycles.issue * share * instructions_factor);
    term(Term::integer) = microseconds(t.cycles.integer * share);
    term(Term::wide) = microseconds(t.cycles.wide * share);
    term(Term::special) = microseconds(t.cycles.special * share);
    term(Term::shared) = microseconds(t.cycles.shared * share);
    term(Term::memory_unit) = microseconds(
        (t.load_cycles + t.store_cycles + sectors_of_line * spilled + reloaded) * share);
    const double l2_bytes = (t.l2_read_sectors + t.l2_write_sectors + t.partial_write_sectors +
                             sectors_of_line * spilled) *
                            sector_bytes;
    term(Term::l2) = std::max(microseconds(l2_bytes / gpu_.l2_bytes.value),
                              microseconds(l2_bytes * share / gpu_.l2_bytes_each.value));
    term(Term::partial) = t.partial_write_sectors * gpu_.partial_writes.value * 1e-3;
    term(Term::dram) = dram();
    term(Term::latency) = latency();
    term(Term::start) = blocks_ * gpu_.block_start.value * 1e-3;
    const auto largest = std::max_element(std::begin(result_.term), std::end(result_.term));
    result_.limit = static_cast<Term>(largest - std::begin(result_.term));
    combine();
  }

  void combine() {
    const double multiprocessor =
        norm(within_multiprocessor,
             {term(Term::issue), term(Term::integer), term(Term::wide), term(Term::special),
              term(Term::shared) + term(Term::memory_unit), term(Term::latency)});
    const double memory = norm(of_memory, {term(Term::l2), term(Term::partial), term(Term::dram)});
    result_.microseconds =
        gpu_.launch.value * 1e-3 +
        norm(with_start, {term(Term::start), norm(of_both, {multiprocessor, memory})});
    const LaunchTraffic &t = result_.traffic;
    const Spread &spread = spreads[static_cast<std::size_t>(result_.limit)];
    double wider = t.guessed_iterations ? of_guessed_iterations : 1;
    for (const bool guess :
         {t.guessed_branches, t.guessed_addresses, !kernel_.doubts().empty(), gpu_.date.empty()})
      wider *= guess ? of_guess : 1;
    result_.least = result_.microseconds * spread.least / wider;
    result_.most = result_.microseconds * spread.most * wider;
  }

  // Reads and writes in turns are slower than either alone.
  double dram() const {
    const LaunchTraffic &t = result_.traffic;
    if (t.thrashes_l2)
      return (t.l2_read_sectors * gpu_.late_read.value +
              t.partial_write_sectors * gpu_.late_write.value) *
             1e-3;
    const double read = t.dram_read_bytes, write = t.dram_write_bytes;
    if (read + write == 0)
      return 0;
    const double mixed = 4 * read * write / ((read + write) * (read + write));
    const double rate = gpu_.dram_read.value * (1 - mixed) + gpu_.dram_copy.value * mixed;
    return (read + write) / rate * 1e-3;
  }

  // A place for a block is taken for as long as its slowest warp's chain of results takes, and free
  // until the next block is at work.
  double latency() {
    const LaunchTraffic &t = result_.traffic;
    const double from_l2 =
        gpu_.latency_l2.value + t.dram_share * (gpu_.latency_dram.value - gpu_.latency_l2.value);
    const double chain =
        t.chain_cycles + t.loads_from_l1 * gpu_.latency_l1.value + t.loads_from_l2 * from_l2;
    const double turnover = gpu_.turnover.value + gpu_.turnover_of_warp * warps_;
    const double rounds = of_fullest_ / resident_;
    const double full = std::max(1.0, rounds);
    const double last = rounds <= 1 ? t.longest_block : 1;
    return microseconds((chain * last + turnover) * full * waiting_factor);
  }

  Kernel &kernel_;
  const Gpu &gpu_;
  const CostLaunch &launch_;
  double blocks_ = 0, warps_ = 0, of_fullest_ = 0, resident_ = 0;
  Prediction result_;
};

} // namespace

std::string_view to_string(Term term) {
  constexpr std::string_view names[terms] = {"issue",
                                             "integer multiplication",
                                             "double precision",
                                             "special functions",
                                             "shared memory",
                                             "load-store unit",
                                             "L2",
                                             "partial writes",
                                             "DRAM",
                                             "latency",
                                             "block start"};
  return names[static_cast<std::size_t>(term)];
}

std::optional<Prediction> predict(Kernel &kernel, const Gpu &gpu, const CostLaunch &launch) {
  return Model(kernel, gpu, launch).run();
}

} // namespace ptxasw::analysis::cost
