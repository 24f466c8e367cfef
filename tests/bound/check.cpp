// Launches are drawn as `verify` draws them: block shapes, grids, numbers that look like
// dimensions, pointers at any alignment that their elements allow. Each is bounded under its own
// block shape and, where that is a block of whole rows, also as if the shape were not known.

#include "check.h"

#include "emulator/machine/warp_draw.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fmt/core.h>
#include <memory>
#include <optional>
#include <sstream>
#include <tuple>

namespace ptxasw::test {
namespace {

using facts::Amount;
using facts::Rational;

/// Bytes that pointers are moved by: what an element of the largest kind leaves, or less.
constexpr std::int64_t moves[] = {0, 0, 16, 32, 64, 128, 4, 8};

/// How often threads run loops' first instructions, at most, each time they get there.
class RoundsObserver : public WarpObserver {
public:
  RoundsObserver(const WarpProgram &program, std::uint32_t number)
      : number_(number), function_(program.function(number)) {}

  void before(const WarpStep &step) override {
    if (step.function != number_)
      return;
    const ControlFlowGraph &cfg = *function_.cfg;
    const auto at = static_cast<std::uint32_t>(step.instruction - function_.code.data());
    const BlockId block = cfg.block_of(at);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      if ((step.lanes >> lane & 1) == 0)
        continue;
      Thread &thread = threads_[{step.block[0], step.block[1], step.block[2], step.warp, lane}];
      if (cfg.blocks()[block].first == at)
        begin(cfg, block, thread);
      thread.last = block;
    }
  }

  /// By the line of the first instruction; 1 where none ran.
  std::uint64_t most(std::uint32_t line) const {
    const auto found = most_.find(line);
    return found == most_.end() ? 1 : found->second;
  }

private:
  struct Thread {
    BlockId last = no_index;
    std::map<LoopId, std::uint64_t> rounds;
  };

  void begin(const ControlFlowGraph &cfg, BlockId block, Thread &thread) {
    for (LoopId loop = 0; loop < cfg.loops().size(); ++loop)
      if (cfg.loops()[loop].header == block) {
        std::uint64_t &rounds = thread.rounds[loop];
        rounds = thread.last != no_index && cfg.contains(loop, thread.last) ? rounds + 1 : 1;
        std::uint64_t &most = most_[function_.code[cfg.blocks()[block].first].line];
        most = std::max(most, rounds);
      }
  }

  const std::uint32_t number_;
  const WarpFunction &function_;
  std::map<std::array<std::uint32_t, 5>, Thread> threads_;
  std::map<std::uint32_t, std::uint64_t> most_;
};

class Checker {
public:
  Checker(const Module &module, const Function &kernel, const CheckOptions &options)
      : module_(module), kernel_(kernel), options_(options), program_(module),
        slots_(parameter_slots(module, kernel)), random_(options.seed) {
    // This marks pointers.
    const KernelModel model(module, kernel, slots_);
    for (std::uint32_t i = 0; i < program_.function_count(); ++i)
      if (program_.function(i).function == &kernel)
        number_ = i;
  }

  CheckResult run() {
    for (unsigned attempt = 0;
         attempt < 8 * options_.launches && result_.launches < options_.launches; ++attempt)
      if (!options_.stop || result_.violations.empty())
        one_launch();
    return std::move(result_);
  }

private:
  struct Numbers {
    std::uint64_t warp = 0, block = 0, launch = 0;
  };

  void one_launch() {
    DrawHints hints;
    hints.small = random_.one_in(3);
    hints.no_wrap = !random_.one_in(6);
    LaunchCandidate candidate = draw_candidate(kernel_, slots_, hints, random_);
    if (!options_.numbers.empty() && random_.one_in(2))
      for (std::size_t i = 0; i < slots_.size(); ++i)
        if (!slots_[i].is_pointer)
          candidate.values[i] =
              static_cast<std::uint64_t>(options_.numbers[random_.below(options_.numbers.size())]);
    if (random_.one_in(2))
      widen_grid(slots_, random_, candidate);
    if (!check_launch_shape(candidate.grid, candidate.block))
      return;
    DrawnLaunch drawn =
        finish_launch(kernel_, slots_, candidate, program_.has_dynamic_shared(), false, random_);
    const std::int64_t move = moves[random_.below(std::size(moves))];
    for (DrawnLaunch::Buffer &buffer : drawn.buffers)
      buffer.shift += move;
    GlobalMemory memory;
    if (!program_.place_variables(memory, drawn.seed))
      return;
    WarpLaunch launch;
    place_buffers(drawn, memory, launch);
    rounds_.emplace(program_, number_);
    const WarpOutcome outcome = counted(launch, memory, &*rounds_);
    memory_ = &memory;
    if (outcome.fault) {
      ++result_.unusable[std::string(to_string(outcome.fault->kind))];
      return;
    }
    bool used = compare(drawn, launch, outcome, launch.block, 1);
    used |= compare(drawn, launch, outcome, launch.block, alignment(launch));
    const bool rows = (launch.block.y == 1 && launch.block.z == 1) || launch.block.x % 32 == 0;
    if (rows && !kernel_.directive("reqntid"))
      used |= compare(drawn, launch, outcome, std::nullopt, 1);
    if (used)
      ++result_.launches;
    else
      ++result_.unusable["a condition of the bounds does not hold"];
    with_other_data(drawn, outcome);
  }

  WarpOutcome counted(const WarpLaunch &launch, GlobalMemory &memory, WarpObserver *rounds) {
    WarpOptions how;
    how.count = true;
    const auto &loops = bounds(launch.block, 1).loops;
    if (std::any_of(loops.begin(), loops.end(),
                    [](const LoopBound &loop) { return !loop.variable.empty(); }))
      how.observer = rounds;
    how.step_limit = options_.step_limit;
    how.memory_limit = std::uint64_t{256} << 20;
    return run_kernel(program_, number_, launch, memory, how);
  }

  // Where all branches and loops are said to be known as far as a metric is concerned, and no
  // address and no guard is data, a launch counts the same whatever lies in memory.
  void with_other_data(const DrawnLaunch &drawn, const WarpOutcome &outcome) {
    const KernelBounds &known = bounds(drawn.launch.block, 1);
    std::vector<const MetricBound *> claimed;
    for (const MetricBound &metric : known.metrics)
      if (metric.launch.most && metric.branches.exact == metric.branches.all &&
          metric.loops.exact == metric.loops.all &&
          (known.branches.exact < known.branches.all ||
           known.counted_loops.exact < known.counted_loops.all))
        claimed.push_back(&metric);
    if (claimed.empty() || !accesses_without_data(drawn.launch.block))
      return;
    GlobalMemory memory;
    if (!program_.place_variables(memory, drawn.seed))
      return;
    DrawnLaunch other = drawn;
    other.seed += 1 + random_.below(1000);
    WarpLaunch launch;
    place_buffers(other, memory, launch);
    const WarpOutcome again = counted(launch, memory, nullptr);
    if (again.fault)
      return;
    for (const MetricBound *metric : claimed) {
      const Numbers one = count(metric->name, outcome), two = count(metric->name, again);
      ++result_.with_other_data;
      if (one.warp != two.warp || one.block != two.block || one.launch != two.launch)
        violation(drawn, *metric, drawn.launch.block, 1,
                  fmt::format("counted {}, with other data {}", one.launch, two.launch));
    }
  }

  bool accesses_without_data(const BlockShape &block) {
    facts::KernelFacts facts(module_, kernel_, {.block = block});
    return std::all_of(
        facts.accesses().begin(), facts.accesses().end(), [&](const facts::Access &access) {
          return (!access.guard || facts.lane_values()(access.guard)) && access.form.is_linear();
        });
  }

  // What all pointers of a launch are multiples of.
  unsigned alignment(const WarpLaunch &launch) const {
    std::uint64_t bits = 256;
    for (const ParameterSlot &slot : slots_)
      if (slot.width == 64)
        bits |= bits_at(launch, slot);
    return static_cast<unsigned>(bits & (~bits + 1));
  }

  static std::uint64_t bits_at(const WarpLaunch &launch, const ParameterSlot &slot) {
    std::uint64_t bits = 0;
    if (slot.offset + slot.width / 8 <= launch.parameters.size())
      std::memcpy(&bits, launch.parameters.data() + slot.offset,
                  std::min<std::size_t>(slot.width / 8, 8));
    return bits;
  }

  // A variable of a bound in this launch.
  std::optional<Rational> value(const std::string &name, const WarpLaunch &launch) const {
    for (int axis = 0; axis < 3; ++axis) {
      if (name == fmt::format("ntid.{}", static_cast<char>('x' + axis)))
        return Rational(launch.block[axis]);
      if (name == fmt::format("nctaid.{}", static_cast<char>('x' + axis)))
        return Rational(launch.grid[axis]);
    }
    constexpr std::string_view of_rounds = "rounds_";
    if (name.starts_with(of_rounds))
      return Rational(
          rounds_->most(static_cast<std::uint32_t>(std::stoul(name.substr(of_rounds.size())))));
    const std::string prefix = std::string(kernel_.name) + "_";
    for (const ParameterSlot &slot : slots_)
      if (slot.name == name || slot.name == prefix + name) {
        const std::uint64_t bits = bits_at(launch, slot);
        if (slot.width < 32)
          return Rational(bits);
        return Rational(as_signed(bits, slot.width));
      }
    return constant_word(name);
  }

  // `table+8`: 32 bits of a constant variable; `table+8:64`: of another width.
  std::optional<Rational> constant_word(const std::string &name) const {
    const std::size_t colon = std::min(name.find(':'), name.size());
    const std::size_t plus = std::min(name.find('+'), colon);
    const unsigned width =
        colon < name.size() ? static_cast<unsigned>(std::stoul(name.substr(colon + 1))) : 32;
    const std::uint64_t offset = plus < colon ? std::stoull(name.substr(plus + 1)) : 0;
    for (const GlobalMemory::Allocation &allocation : memory_->allocations()) {
      if (allocation.name != name.substr(0, plus) || offset + width / 8 > allocation.size)
        continue;
      std::uint64_t bits = 0;
      memory_->read(allocation.base + offset,
                    {reinterpret_cast<std::uint8_t *>(&bits), std::size_t{width / 8}});
      return width < 32 ? Rational(bits) : Rational(as_signed(bits, width));
    }
    return std::nullopt;
  }

  const KernelBounds &bounds(const std::optional<BlockShape> &block, unsigned alignment) {
    const BlockShape shape = block.value_or(BlockShape{0, 0, 0});
    auto &known = bounds_[{shape.x, shape.y, shape.z, alignment}];
    if (!known) {
      BoundOptions options;
      options.block = block;
      options.base_alignment = alignment;
      options.names_rounds = true;
      known = std::make_unique<KernelBounds>(bound_kernel(module_, kernel_, options));
    }
    return *known;
  }

  bool compare(const DrawnLaunch &drawn, const WarpLaunch &launch, const WarpOutcome &outcome,
               const std::optional<BlockShape> &block, unsigned alignment) {
    const KernelBounds &known = bounds(block, alignment);
    const auto number = [&](const Amount &amount) {
      return known.amounts->evaluate(amount,
                                     [&](const std::string &name) { return value(name, launch); });
    };
    for (const Amount &condition : known.conditions) {
      const auto room = number(condition);
      if (!room || *room < 0)
        return false;
    }
    for (const MetricBound &metric : known.metrics) {
      if (!metric.launch.most)
        continue;
      const auto warp = number(*metric.warp.most), all = number(*metric.block.most),
                 total = number(*metric.launch.most);
      if (!warp || !all || !total) {
        violation(drawn, metric, block, alignment, "it has no number here");
        continue;
      }
      const Numbers counted = count(metric.name, outcome);
      hold(drawn, metric, "warp", metric.warp, counted.warp, *warp, block, alignment);
      hold(drawn, metric, "block", metric.block, counted.block, *all, block, alignment);
      if (launch.blocks.empty())
        hold(drawn, metric, "launch", metric.launch, counted.launch, *total, block, alignment);
    }
    return true;
  }

  static std::uint64_t of(const std::string &metric, const WarpCount &count) {
    return metric == "sectors"     ? count.sectors
           : metric == "conflicts" ? count.conflicts
           : metric == "divwarps"  ? count.divwarps
                                   : steps_of(count);
  }

  static Numbers count(const std::string &metric, const WarpOutcome &outcome) {
    Numbers result;
    for (const auto &block : outcome.counts) {
      std::uint64_t all = 0;
      for (const WarpCount &warp : block) {
        const std::uint64_t one = of(metric, warp);
        result.warp = std::max(result.warp, one);
        all += one;
      }
      result.block = std::max(result.block, all);
      result.launch += all;
    }
    return result;
  }

  void hold(const DrawnLaunch &drawn, const MetricBound &metric, const char *scope,
            const Bound &bound, std::uint64_t counted, const Rational &most,
            const std::optional<BlockShape> &block, unsigned alignment) {
    ++result_.numbers;
    result_.exact += bound.exact;
    if (Rational(counted) > most || (bound.exact && Rational(counted) != most))
      violation(drawn, metric, block, alignment,
                fmt::format("{}: counted {}, {} {}", scope, counted,
                            bound.exact ? "exactly" : "at most", most.str()));
  }

  void violation(const DrawnLaunch &drawn, const MetricBound &metric,
                 const std::optional<BlockShape> &block, unsigned alignment,
                 const std::string &what) {
    if (result_.violations.size() < 3)
      result_.violations.push_back(
          fmt::format("{}: {} ({}, pointers multiples of {})\n{}", metric.name, what,
                      block ? "shape known" : "shape not known", alignment, describe(drawn)));
  }

  const Module &module_;
  const Function &kernel_;
  const CheckOptions options_;
  const WarpProgram program_;
  std::uint32_t number_ = 0;
  GlobalMemory *memory_ = nullptr;       ///< of the launch that is being compared
  std::optional<RoundsObserver> rounds_; ///< of that launch
  std::vector<ParameterSlot> slots_;
  WarpRandom random_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, unsigned>,
           std::unique_ptr<KernelBounds>>
      bounds_;
  CheckResult result_;
};

} // namespace

std::vector<std::int64_t> numbers_for(std::string_view text, std::string_view kernel) {
  constexpr std::string_view head = "\n// numbers:";
  const std::size_t at = text.rfind(head, text.find(fmt::format(".entry {}(", kernel)));
  if (at == std::string_view::npos)
    return {};
  const std::size_t first = at + head.size();
  std::istringstream words(std::string(text.substr(first, text.find('\n', first) - first)));
  std::vector<std::int64_t> result;
  for (std::string word; words >> word;)
    result.push_back(std::stoll(word, nullptr, 0));
  return result;
}

CheckResult check_kernel(const Module &module, const Function &kernel,
                         const CheckOptions &options) {
  return Checker(module, kernel, options).run();
}

} // namespace ptxasw::test
