// What is written for a kernel's reuses, before any of it is text.
//
// A region is a straight piece of a basic block without calls, barriers or the like: all lanes that
// were active where it read its mask also reach every shuffle in it, and the shuffle waits for
// them. That an index of one load wraps is so rare that it may send the lane to all its loads: the
// region's tests are one predicate for them all. A test whose register is only known behind the
// region's first shuffle cannot be part of it and belongs to its load alone, as do those of loads
// that ask no other lane.

#include "synth/shuffle/plan.h"

#include "grammar/roles.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

namespace ptxasw::synth {
namespace {

/// By instruction: numbers of straight pieces of blocks, cut behind everything that might let lanes
/// go or come.
std::vector<std::uint32_t> straight_pieces(const Module &module, const Function &function,
                                           const ControlFlowGraph &cfg) {
  std::vector<std::uint32_t> result(function.instructions.size());
  std::uint32_t piece = 0;
  for (std::uint32_t i = 0; i < function.instructions.size(); ++i) {
    if (i > 0 && (cfg.block_of(i) != cfg.block_of(i - 1) ||
                  effect_of(module.opcode(function.instructions[i - 1])) == Effect::sync))
      ++piece;
    result[i] = piece;
  }
  return result;
}

/// The reuse alone, with no region yet.
PlannedLoad plan_load(const Reuse &reuse) {
  PlannedLoad load{reuse};
  load.wrap_tests.clear();
  load.has_corner = !reuse.is_copy();
  for (const ElementSource &from : reuse.elements) {
    load.below = std::max(load.below, static_cast<unsigned>(std::max(-from.delta, 0)));
    load.above = std::max(load.above, static_cast<unsigned>(std::max(from.delta, 0)));
  }
  return load;
}

/// The moves of sources that still serve a load.
std::vector<Hoist> used_hoists(const Detection &detection) {
  std::set<std::uint32_t> used;
  for (const Reuse &reuse : detection.reuses)
    used.merge(reuse.sources());
  std::vector<Hoist> result = detection.hoists;
  std::erase_if(result, [&](const Hoist &hoist) { return !used.contains(hoist.source); });
  return result;
}

} // namespace

ShufflePlan plan_shuffles(const Module &module, const Function &function,
                          const ControlFlowGraph &cfg, const Detection &detection) {
  ShufflePlan plan;
  plan.hoists = used_hoists(detection);
  std::vector<const Reuse *> reuses; // in the order of the text
  for (const Reuse &reuse : detection.reuses)
    reuses.push_back(&reuse);
  std::sort(reuses.begin(), reuses.end(),
            [](const Reuse *a, const Reuse *b) { return a->load < b->load; });
  const auto pieces = straight_pieces(module, function, cfg);
  std::map<std::uint32_t, std::uint32_t> regions; // by piece
  std::vector<std::uint32_t> begins;              // by region, its first load that shuffles
  for (const Reuse *reuse : reuses) {
    PlannedLoad load = plan_load(*reuse);
    if (load.has_corner) {
      const auto [entry, is_first] =
          regions.try_emplace(pieces[reuse->load], static_cast<std::uint32_t>(begins.size()));
      if (is_first) {
        begins.push_back(reuse->load);
        plan.regions.emplace_back();
      }
      load.region = entry->second;
    }
    for (const WrapTest &test : reuse->wrap_tests) {
      const std::uint32_t where = test.where.instruction;
      // In another block it dominates this one; in this one it must come before the first shuffle.
      if (load.has_corner &&
          (cfg.block_of(where) != cfg.block_of(reuse->load) || where < begins[load.region])) {
        plan.regions[load.region].push_back(test);
        continue;
      }
      load.wrap_tests.push_back(test);
    }
    plan.loads.push_back(std::move(load));
  }
  const auto position = [&](const WrapTest &test) {
    return std::tuple(cfg.order_of(cfg.block_of(test.where.instruction)), test);
  };
  for (std::vector<WrapTest> &tests : plan.regions) {
    std::sort(tests.begin(), tests.end(),
              [&](const WrapTest &a, const WrapTest &b) { return position(a) < position(b); });
    tests.erase(std::unique(tests.begin(), tests.end()), tests.end());
  }
  return plan;
}

ShufflePlan restrict_to(Variant variant, ShufflePlan plan) {
  if (variant == Variant::full)
    return plan;
  for (std::vector<WrapTest> &tests : plan.regions)
    tests.clear();
  for (PlannedLoad &load : plan.loads) {
    load.has_corner = false;
    load.below = load.above = 0;
    load.wrap_tests.clear();
    load.distance_tests.clear();
    load.store_tests.clear();
    for (ElementSource &value : load.elements)
      value.delta = variant == Variant::no_corner ? value.delta : 0;
  }
  return plan;
}

bool Reuse::is_copy() const {
  return std::all_of(elements.begin(), elements.end(),
                     [](const ElementSource &from) { return from.delta == 0; });
}

int Reuse::delta() const {
  int result = 0;
  for (const ElementSource &from : elements)
    if (std::abs(from.delta) > std::abs(result))
      result = from.delta;
  return result;
}

std::set<std::uint32_t> Reuse::sources() const {
  std::set<std::uint32_t> result;
  for (const ElementSource &from : elements)
    result.insert(from.source.load);
  return result;
}

} // namespace ptxasw::synth
