// The shapes that an axis may have are tried one after the other on the cost model, which is asked
// for each as for any launch; so advice and prediction cannot disagree. Only axes that are unused
// or shown to be independent are varied.

#include "analysis/cost/advice.h"

#include "analysis/cost/warp_runs.h"
#include "analysis/mwp_cwp.h"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <initializer_list>

namespace ptxasw::analysis::cost {
namespace {

/// Two shapes of one kernel: four of five measured ratios lie within this factor of the predicted
/// ones (docs/internals/cost-model.md).
constexpr double ratio_spread = 1.15;

std::uint64_t blocks_along(std::uint64_t threads, std::uint64_t extent) {
  return threads / extent + (threads % extent != 0);
}

/// Extents of an axis that are worth considering.
std::vector<std::uint32_t> extents_of(const Advice &advice, const Question &question, int axis,
                                      bool alone) {
  if (!advice.fixed[axis].empty())
    return {(*question.current)[axis]};
  if (question.threads[axis] == 1)
    return {1};
  if (alone)
    return {32, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 1024};
  if (axis == 0)
    return {8, 16, 32, 64, 128, 256, 512, 1024};
  return axis == 1 ? std::vector<std::uint32_t>{1, 2, 4, 8, 16, 32}
                   : std::vector<std::uint32_t>{1, 2, 4};
}

std::vector<BlockShape> candidates(const Advice &advice, const Question &question) {
  if (question.required)
    return {*question.required};
  if (!question.shapes.empty())
    return question.shapes;
  int axes = 0;
  for (int axis = 0; axis < 3; ++axis)
    axes += question.threads[axis] > 1 && advice.fixed[axis].empty();
  std::vector<BlockShape> list;
  for (const std::uint32_t z : extents_of(advice, question, 2, false))
    for (const std::uint32_t y : extents_of(advice, question, 1, axes == 1))
      for (const std::uint32_t x : extents_of(advice, question, 0, axes == 1))
        list.push_back({x, y, z});
  if (question.current && std::find(list.begin(), list.end(), *question.current) == list.end())
    list.push_back(*question.current);
  // Incomplete warps are never worth it, unless the launch itself has them.
  std::erase_if(list, [&](const BlockShape &shape) {
    return shape.count() % warp_lanes != 0 && !(question.current && shape == *question.current);
  });
  return list;
}

bool is_legal(const Advice &advice, const Question &question, const BlockShape &shape) {
  for (int axis = 0; axis < 3; ++axis)
    if (!advice.fixed[axis].empty() && shape[axis] != (*question.current)[axis])
      return false;
  return true;
}

/// What KLARAPTOR counts, of the same launch. It has no caches: every sector is a transaction.
std::optional<double> published(const Gpu &gpu, const ShapeAdvice &shape) {
  const LaunchTraffic &t = shape.prediction.traffic;
  MwpCwpDevice device;
  device.multiprocessors = gpu.multiprocessors;
  device.clock_mhz = static_cast<std::uint64_t>(gpu.clock.value * 1000);
  device.bandwidth = static_cast<std::uint64_t>(gpu.dram_read.value);
  device.memory_latency = static_cast<std::uint64_t>(gpu.latency_dram.value);
  device.departure_uncoalesced = device.departure_coalesced = 2;
  MwpCwpLaunch launch;
  launch.threads = shape.block.count();
  launch.blocks = shape.grid.count();
  launch.resident_blocks = shape.prediction.occupancy.blocks;
  const std::uint64_t of_block = (launch.threads + warp_lanes - 1) / warp_lanes;
  const double warps = static_cast<double>(of_block) * static_cast<double>(launch.blocks);
  const auto of_warp = [&](double sum) {
    return static_cast<std::uint64_t>(std::llround(sum / warps));
  };
  launch.uncoalesced = std::max<std::uint64_t>(1, of_warp(t.requests));
  launch.transactions = std::max<std::uint64_t>(
      1, of_warp(t.l1_sectors + t.l2_write_sectors + t.partial_write_sectors));
  launch.computations =
      of_warp(t.instructions) - std::min(of_warp(t.instructions), launch.uncoalesced);
  const auto found = mwp_cwp(device, launch);
  if (!found)
    return std::nullopt;
  return found->cycles / gpu.clock.value * 1e-3;
}

class Adviser {
public:
  Adviser(const Module &module, const Function &function, const Gpu &gpu, const Question &question)
      : module_(module), function_(function), gpu_(gpu), question_(question) {}

  Advice run() {
    if (find_freedom())
      predict_all();
    return std::move(advice_);
  }

private:
  // False if there is nothing to choose from.
  bool find_freedom() {
    const KernelIndependence found = independence({module_, function_});
    advice_.conditions = found.conditions;
    for (int axis = 0; axis < 3; ++axis) {
      const AxisIndependence &a = found.axes[axis];
      if (a.verdict == AxisVerdict::independent || a.verdict == AxisVerdict::unused)
        continue;
      advice_.fixed[axis] = fmt::format("{}, line {}: {}", to_string(a.verdict), a.line, a.reason);
      if (!question_.current && !question_.required) {
        advice_.refusal = fmt::format(
            "another shape along {} may compute something else ({}); --launch block= says "
            "which one stands",
            "xyz"[axis], advice_.fixed[axis]);
        return false;
      }
    }
    return true;
  }

  void predict_all() {
    Arguments arguments = question_.arguments;
    const std::vector<std::string_view> assumed = assume_pointers(function_, arguments);
    Kernel kernel(module_, function_, arguments, assumed);
    if (kernel.error()) {
      advice_.refusal = kernel.error();
      return;
    }
    const RunInputs inputs{arguments, assumed,
                           static_cast<std::uint32_t>(question_.needs.dynamic_shared)};
    const bool may_run = question_.may_run && kernel.missing().empty();
    for (const BlockShape &block : candidates(advice_, question_))
      if (is_legal(advice_, question_, block))
        add(kernel, block, may_run ? &inputs : nullptr);
    if (advice_.shapes.empty()) {
      advice_.refusal = "none of the shapes can be launched";
      return;
    }
    std::stable_sort(advice_.shapes.begin(), advice_.shapes.end(),
                     [](const ShapeAdvice &a, const ShapeAdvice &b) {
                       return a.prediction.microseconds < b.prediction.microseconds;
                     });
    advice_.doubts = kernel.doubts();
    advice_.missing = kernel.missing();
    if (gpu_.date.empty())
      advice_.doubts.emplace_back(
          "the GPU was not measured, only what is documented of it is known");
    const LaunchTraffic &first = advice_.shapes.front().prediction.traffic;
    if (first.guessed_iterations)
      advice_.doubts.emplace_back("how often a loop goes round is not known");
    if (first.guessed_branches)
      advice_.doubts.emplace_back("branches depend on data");
    if (first.guessed_addresses)
      advice_.doubts.emplace_back("addresses depend on data");
    compare_with_current();
  }

  void add(Kernel &kernel, const BlockShape &block, const RunInputs *inputs) {
    ShapeAdvice made;
    made.block = block;
    for (int axis = 0; axis < 3; ++axis) {
      const std::uint64_t blocks = blocks_along(question_.threads[axis], block[axis]);
      made.grid[axis] = static_cast<std::uint32_t>(blocks);
      made.rounded |= question_.threads[axis] % block[axis] != 0;
    }
    if (!check_launch_shape(made.grid, made.block))
      return;
    CostLaunch launch;
    launch.grid = made.grid;
    launch.block = block;
    launch.needs = question_.needs;
    launch.spill_stores = question_.spill_stores;
    launch.spill_loads = question_.spill_loads;
    launch.inputs = inputs;
    auto prediction = predict(kernel, gpu_, launch);
    if (!prediction)
      return;
    made.prediction = *prediction;
    made.mwp_cwp = published(gpu_, made);
    advice_.shapes.push_back(made);
  }

  void compare_with_current() {
    if (!question_.current)
      return;
    const auto current =
        std::find_if(advice_.shapes.begin(), advice_.shapes.end(),
                     [&](const ShapeAdvice &shape) { return shape.block == *question_.current; });
    if (current != advice_.shapes.end())
      advice_.is_better = current->prediction.microseconds >
                          advice_.shapes.front().prediction.microseconds * ratio_spread;
  }

  const Module &module_;
  const Function &function_;
  const Gpu &gpu_;
  const Question &question_;
  Advice advice_;
};

} // namespace

Advice advise(const Module &module, const Function &function, const Gpu &gpu,
              const Question &question) {
  return Adviser(module, function, gpu, question).run();
}

} // namespace ptxasw::analysis::cost
