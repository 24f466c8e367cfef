// The longest common subsequence of the two arms, weighted by steps: what precedes and follows the
// costliest common part is aligned in the same optimum, which for a fixed price of each stretch
// that stays apart dynamic programming finds (Gotoh's affine gaps).

#include "synth/meld/sites.h"

#include "grammar/roles.h"

#include <algorithm>
#include <set>

namespace ptxasw::synth::meld {
namespace {

class Aligner : OfKernel {
public:
  Aligner(const KernelContext &context, const Site &site, unsigned apart)
      : OfKernel(context), site_(site), apart_(static_cast<int>(apart)),
        columns_(site.otherwise.size() + 1), cells_((site.when.size() + 1) * columns_) {
    for (const auto *arm : {&site.when, &site.otherwise})
      for (const Unit &unit : *arm)
        for (const Part &part : unit.parts)
          for (const std::uint32_t i : part.instructions)
            for (const RegisterId reg : written_registers(module_, instruction(i)))
              written_.insert(reg);
  }

  Alignment run() {
    const std::size_t rows = site_.when.size() + 1;
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns_; ++j)
        fill(i, j);
    Alignment result;
    const Cell &end = cells_.back();
    // The branch as it is costs as much as one stretch apart.
    result.gain = std::max(end.gap, end.melded) + apart_;
    trace(end.gap > end.melded, result);
    return result;
  }

private:
  static constexpr int worst = -1'000'000'000;

  /// By units done: the best that ends melded, or apart, and what is before it.
  struct Cell {
    int melded = worst, gap = worst;
    bool from_gap = false, opened = false, up = false;
  };
  std::size_t at(std::size_t i, std::size_t j) const { return i * columns_ + j; }

  void fill(std::size_t i, std::size_t j) {
    Cell &here = cells_[at(i, j)];
    if (i == 0 && j == 0) {
      here.melded = 0;
      return;
    }
    if (i > 0 && j > 0) {
      const int score = score_of(site_.when[i - 1], site_.otherwise[j - 1]);
      const Cell &before = cells_[at(i - 1, j - 1)];
      const int best = std::max(before.melded, before.gap);
      if (score > 0 && best > worst / 2) {
        here.melded = best + score;
        here.from_gap = before.gap > before.melded;
      }
    }
    for (const bool up : {true, false}) {
      if (up ? i == 0 : j == 0)
        continue;
      const Cell &before = cells_[up ? at(i - 1, j) : at(i, j - 1)];
      const int open = before.melded - apart_;
      if (std::max(open, before.gap) > here.gap) {
        here.gap = std::max(open, before.gap);
        here.opened = open > before.gap;
        here.up = up;
      }
    }
  }

  /// What melding two units saves; 0 if they are not alike.
  int score_of(const Unit &a, const Unit &b) const {
    const auto pairs = pairs_of(a, b);
    if (!pairs)
      return 0;
    int score = static_cast<int>(a.weight);
    for (const InstructionPair &one : *pairs) {
      for (const Leaf &leaf : one.leaves)
        score -= !leaf.is_written && must_choose(leaf.pair);
      score -= static_cast<int>(2 * one.offsets.size());
    }
    return std::max(score, 0);
  }

  /// What an arm itself computes is likely to be melded, too.
  bool must_choose(const SourcePair &pair) const {
    if (pair.when == pair.otherwise)
      return false;
    return !(pair.when.reg != no_register && pair.otherwise.reg != no_register &&
             written_.contains(pair.when.reg) && written_.contains(pair.otherwise.reg));
  }

  std::optional<UnitPair> pairs_of(const Unit &a, const Unit &b) const {
    if (a.parts.size() != b.parts.size() || a.is_single() != b.is_single() || a.weight != b.weight)
      return std::nullopt;
    if (a.is_single()) {
      auto pair = pair_of(context_, a.single(), b.single(), true);
      return pair ? std::optional(UnitPair{std::move(*pair)}) : std::nullopt;
    }
    return parts_of(a, b);
  }

  std::optional<UnitPair> parts_of(const Unit &a, const Unit &b) const {
    std::vector<std::uint32_t> other(a.parts.size(), leaves_unit), open{0};
    std::vector<bool> used(a.parts.size(), false);
    other[0] = 0;
    used[0] = true;
    const auto follow = [&](std::uint32_t mine, std::uint32_t theirs) {
      if (mine == leaves_unit || theirs == leaves_unit)
        return mine == theirs;
      if (other[mine] != leaves_unit || used[theirs])
        return other[mine] == theirs;
      other[mine] = theirs;
      used[theirs] = true;
      open.push_back(mine);
      return true;
    };
    while (!open.empty()) {
      const Part &mine = a.parts[open.back()], &theirs = b.parts[other[open.back()]];
      open.pop_back();
      if (mine.instructions.size() != theirs.instructions.size() ||
          (mine.branch == no_index) != (theirs.branch == no_index) ||
          !follow(mine.next, theirs.next) ||
          (mine.branch != no_index && !follow(mine.taken, theirs.taken)))
        return std::nullopt;
    }
    UnitPair result;
    for (std::size_t i = 0; i < a.parts.size(); ++i) {
      if (other[i] == leaves_unit)
        return std::nullopt;
      const Part &mine = a.parts[i], &theirs = b.parts[other[i]];
      const auto add = [&](std::uint32_t left, std::uint32_t right) {
        auto pair = pair_of(context_, left, right, false);
        if (pair)
          result.push_back(std::move(*pair));
        return pair.has_value();
      };
      for (std::size_t k = 0; k < mine.instructions.size(); ++k)
        if (!add(mine.instructions[k], theirs.instructions[k]))
          return std::nullopt;
      if (mine.branch != no_index && !add(mine.branch, theirs.branch))
        return std::nullopt;
    }
    return result;
  }

  void trace(bool in_gap, Alignment &result) const {
    std::size_t i = site_.when.size(), j = columns_ - 1;
    bool open = false; // the last step is a stretch that may grow
    while (i > 0 || j > 0) {
      const Cell &here = cells_[at(i, j)];
      if (in_gap) {
        if (!open)
          result.steps.emplace_back();
        open = true;
        (here.up ? result.steps.back().when : result.steps.back().otherwise)
            .push_back(here.up ? --i : --j);
        in_gap = !here.opened;
      } else {
        open = false;
        in_gap = here.from_gap;
        --i, --j;
        Step step{{i}, {j}, pairs_of(site_.when[i], site_.otherwise[j])};
        result.saved += site_.when[i].weight;
        result.steps.push_back(std::move(step));
      }
    }
    std::reverse(result.steps.begin(), result.steps.end());
    for (Step &step : result.steps) {
      std::reverse(step.when.begin(), step.when.end());
      std::reverse(step.otherwise.begin(), step.otherwise.end());
    }
  }

  const Site &site_;
  const int apart_;
  const std::size_t columns_;
  std::vector<Cell> cells_;
  std::set<RegisterId> written_;
};

} // namespace

Alignment align(const KernelContext &context, const Site &site, unsigned apart) {
  return Aligner(context, site, apart).run();
}

} // namespace ptxasw::synth::meld
