// The longest common subsequence of the two arms, weighted by steps: what precedes and follows the
// costliest common part is aligned in the same optimum, which for a fixed price of each stretch
// that stays apart dynamic programming finds (Gotoh's affine gaps).

#include "synth/meld/sites.h"

#include "grammar/roles.h"

#include <algorithm>
#include <map>
#include <set>

namespace ptxasw::synth::meld {
namespace {

class Aligner : OfKernel {
public:
  Aligner(const KernelContext &context, Site &site, unsigned apart)
      : OfKernel(context), site_(site), apart_(static_cast<int>(apart)),
        columns_(site.arms[1].size() + 1), cells_((site.arms[0].size() + 1) * columns_) {
    for (const BlockId one : site.blocks)
      for (std::uint32_t i = block(one).first; i < block(one).end; ++i)
        for (const RegisterId reg : written_registers(module_, instruction(i)))
          written_.insert(reg);
  }

  void run() {
    for (std::size_t i = 0; i <= site_.arms[0].size(); ++i)
      for (std::size_t j = 0; j < columns_; ++j)
        fill(i, j);
    const Cell &end = cells_.back();
    // The branch as it is costs as much as one stretch apart.
    site_.gain = std::max(end.gap, end.melded) + apart_;
    trace(end.gap > end.melded);
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
      const int score = score_of(site_.arms[0][i - 1], site_.arms[1][j - 1]);
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
    for (const InstructionPair &one : *pairs)
      for (const Leaf &leaf : one.leaves)
        score -= leaf.offsets ? 2 : !leaf.is_written && must_choose(leaf.pair);
    return std::max(score, 0);
  }

  /// What an arm itself computes is likely to be melded, too.
  bool must_choose(const SourcePair &pair) const {
    return pair.of[0] != pair.of[1] &&
           !(written_.contains(pair.of[0].reg) && written_.contains(pair.of[1].reg));
  }

  std::optional<UnitPair> pairs_of(const Unit &a, const Unit &b) const {
    if (a.blocks.size() != b.blocks.size() || a.weight != b.weight)
      return std::nullopt;
    UnitPair result;
    const auto add = [&](std::uint32_t mine, std::uint32_t theirs) {
      auto pair = pair_of(context_, mine, theirs, a.is_single());
      if (pair)
        result.push_back(std::move(*pair));
      return pair.has_value();
    };
    if (a.is_single())
      return add(a.first, b.first) ? std::optional(std::move(result)) : std::nullopt;
    const auto other = blocks_of(a, b);
    if (!other)
      return std::nullopt;
    for (const BlockId one : a.blocks) {
      const BlockId two = other->at(one);
      const auto mine = computing(context_, a, one), theirs = computing(context_, b, two);
      if (!std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end(), add) ||
          (block(one).branch != no_index && !add(block(one).branch, block(two).branch)))
        return std::nullopt;
    }
    return result;
  }

  /// The blocks of one unit that take the place of another one's; nothing if their ways differ.
  std::optional<std::map<BlockId, BlockId>> blocks_of(const Unit &a, const Unit &b) const {
    std::map<BlockId, BlockId> other, back;
    std::vector<BlockId> open;
    const auto follow = [&](BlockId mine, BlockId theirs) {
      const auto is_in = [](const Unit &unit, BlockId one) {
        return std::find(unit.blocks.begin(), unit.blocks.end(), one) != unit.blocks.end();
      };
      if (!is_in(a, mine) || !is_in(b, theirs))
        return is_in(a, mine) == is_in(b, theirs);
      const auto [found, added] = other.try_emplace(mine, theirs);
      if (added)
        open.push_back(mine);
      return found->second == theirs && back.try_emplace(theirs, mine).first->second == mine;
    };
    bool alike = follow(a.blocks[0], b.blocks[0]);
    while (alike && !open.empty()) {
      const BasicBlock &mine = block(open.back()), &theirs = block(other.at(open.back()));
      open.pop_back();
      alike = std::equal(mine.successors.begin(), mine.successors.end(), theirs.successors.begin(),
                         theirs.successors.end(), follow);
    }
    return alike ? std::optional(std::move(other)) : std::nullopt;
  }

  void trace(bool in_gap) {
    std::array<std::size_t, 2> left{site_.arms[0].size(), site_.arms[1].size()};
    std::vector<Step> &steps = site_.steps;
    bool open = false; // the last step is a stretch that may grow
    while (left[0] > 0 || left[1] > 0) {
      const Cell &here = cells_[at(left[0], left[1])];
      if (in_gap) {
        if (!open)
          steps.emplace_back();
        open = true;
        const std::size_t arm = here.up ? 0 : 1;
        steps.back().units[arm].push_back(--left[arm]);
        in_gap = !here.opened;
      } else {
        open = false;
        in_gap = here.from_gap;
        const std::size_t i = --left[0], j = --left[1];
        steps.push_back({{{{i}, {j}}}, pairs_of(site_.arms[0][i], site_.arms[1][j])});
      }
    }
    std::reverse(steps.begin(), steps.end());
    for (Step &step : steps)
      for (auto &units : step.units)
        std::reverse(units.begin(), units.end());
  }

  Site &site_;
  const int apart_;
  const std::size_t columns_;
  std::vector<Cell> cells_;
  std::set<RegisterId> written_;
};

} // namespace

void align(const KernelContext &context, Site &site, unsigned apart) {
  Aligner(context, site, apart).run();
}

} // namespace ptxasw::synth::meld
