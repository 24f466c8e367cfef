// Launches in which a given thing happens.
//
// Conditions of kernels compare numbers that are mostly linear in each single parameter and
// coordinate, however they are combined. So one violated comparison is repaired at a time: its two
// sides are some distance apart, one number in them is moved by that distance over its slope (which
// is measured, not derived), and a little beyond. Products, divisions and bit operations also have
// slopes, if not the same everywhere; what fails is tried again from elsewhere.

#include "emulator/machine/launch_search.h"

#include <algorithm>

namespace ptxasw::emulator {
namespace {

constexpr int repairs_budget = 60; ///< of one search
__extension__ typedef __int128 Wide;

/// A number that may be moved.
struct Movable {
  enum class Kind : std::uint8_t { slot, pointer, tid, ctaid, extent, grid_extent, trip };
  Kind kind = Kind::slot;
  std::uint32_t index = 0; ///< of the slot, the axis or the trip symbol
  bool operator==(const Movable &) const = default;
};

bool is_not(Expr condition) {
  return condition->kind == ExprKind::sum && condition->width == 1 && condition->value.low == 1 &&
         condition->child_count == 1;
}

class Search {
public:
  Search(KernelModel &model, const std::vector<ParameterSlot> &slots, const SearchLimits &limits,
         WarpRandom &random, LaunchCandidate &candidate)
      : model_(model), slots_(slots), limits_(limits), random_(random), candidate_(candidate) {}

  bool run(const KernelModel::Wish &wish) {
    wish_ = &wish;
    for (int repair = 0; repair < repairs_budget; ++repair) {
      std::vector<PathFact> violated;
      for (const PathFact &fact : wish.conditions)
        if (holds(fact.condition) != fact.holds)
          violated.push_back(fact);
      const bool far = wish.near && !is_near(wish.near, wish.bound);
      if (violated.empty() && !far)
        return true;
      // What must not be undone comes last: the point of the wish.
      if (far && (violated.empty() || random_.one_in(3)))
        approach(wish.near, wish.bound);
      else
        repair_condition(violated[random_.below(violated.size())]);
    }
    return false;
  }

private:
  std::uint64_t value_of(Expr symbol) const {
    using Kind = KernelModel::Meaning::Kind;
    const KernelModel::Meaning &what = model_.meaning(symbol);
    const int axis = static_cast<int>(what.index);
    switch (what.kind) {
    case Kind::slot:
      return candidate_.values[what.index] >> what.shift;
    case Kind::tid:
      return candidate_.thread[axis];
    case Kind::ctaid:
      return candidate_.block_index[axis];
    case Kind::ntid:
      return candidate_.block[axis];
    case Kind::nctaid:
      return candidate_.grid[axis];
    case Kind::laneid: {
      const Extents &t = candidate_.thread, &b = candidate_.block;
      return ((std::uint64_t{t.z} * b.y + t.y) * b.x + t.x) % 32;
    }
    case Kind::trip: {
      const auto moved = trips_.find(symbol->index);
      return moved == trips_.end() ? first_trip(symbol->index) : moved->second;
    }
    default:
      return scramble(candidate_.salt ^ symbol->index) % 4;
    }
  }

  // The iteration to look at: mostly the first, sometimes one far on.
  std::uint64_t first_trip(std::uint32_t symbol) const {
    const std::uint64_t noise = scramble(candidate_.salt + symbol);
    return noise % 16 > 0 ? 0 : noise / 16 % 200;
  }

  std::uint64_t evaluate(Expr e) const {
    const auto value = [this](Expr symbol) { return truncate({value_of(symbol)}, symbol->width); };
    return model_.program(e)(value).low;
  }
  bool holds(Expr condition) const { return evaluate(condition) & 1; }

  bool is_near(Expr e, std::uint64_t bound) const {
    const std::int64_t apart = as_signed((evaluate(e) - bound) & mask64(e->width), e->width);
    return apart > -64 && apart < 64;
  }

  // How far the left side of a comparison lies above the right one.
  Wide distance(Expr comparison) const {
    const auto side = [&](std::size_t i) { return comparison->children[i]; };
    switch (comparison->kind) {
    case ExprKind::slt:
      return Wide{as_signed(evaluate(side(0)), side(0)->width)} -
             Wide{as_signed(evaluate(side(1)), side(1)->width)};
    case ExprKind::ult:
      return Wide{evaluate(side(0))} - Wide{evaluate(side(1))};
    default: // eq0
      return Wide{as_signed(evaluate(side(0)), side(0)->width)};
    }
  }

  // Down to a comparison that decides.
  void repair_condition(PathFact fact) {
    Expr condition = fact.condition;
    bool wanted = fact.holds;
    for (int depth = 0; depth < 400; ++depth) {
      if (is_not(condition)) {
        condition = condition->children[0];
        wanted = !wanted;
      } else if (condition->kind == ExprKind::bit_and && condition->width == 1) {
        // All parts must hold; or any one must not.
        const Expr first = condition->children[0], second = condition->children[1];
        const bool take_second = wanted ? holds(first) : random_.one_in(2);
        condition = take_second ? second : first;
      } else if (condition->kind == ExprKind::ite) {
        condition = random_.one_in(4) ? condition->children[0]
                                      : condition->children[holds(condition->children[0]) ? 1 : 2];
        if (condition->width != 1)
          return;
      } else if (condition->kind == ExprKind::sum && condition->width == 1) { // exclusive or
        condition = condition->children[random_.below(condition->child_count)];
        wanted = !holds(condition);
      } else {
        break;
      }
    }
    if (condition->child_count == 0 || condition->children[0]->width > 64)
      return;
    if (condition->kind != ExprKind::slt && condition->kind != ExprKind::ult &&
        condition->kind != ExprKind::eq0)
      return shake(condition);
    static constexpr int margins[] = {0, 0, 0, 1, 1, 2, 7, 31, 32, 100};
    const Wide margin = margins[random_.below(std::size(margins))];
    Wide target = 0;
    if (condition->kind == ExprKind::eq0)
      target = wanted ? 0 : 1 + margin;
    else
      target = wanted ? -1 - margin : margin;
    move(condition, target - distance(condition), [&] { return distance(condition); });
  }

  void approach(Expr e, std::uint64_t bound) {
    const auto apart = [&] {
      return Wide{as_signed((evaluate(e) - bound) & mask64(e->width), e->width)};
    };
    // Mostly so near that a row of the block has exactly the numbers on either side of the bound.
    const Wide reach = random_.one_in(4) ? 48 : 8;
    const Wide target =
        static_cast<Wide>(random_.below(static_cast<std::uint64_t>(2 * reach))) - reach;
    move(e, target - apart(), apart);
  }

  // Moves one of the numbers in an expression so that what `measure` gives changes by `by`: mostly
  // the one with which most of the wish is true then.
  template <class Measure> void move(Expr e, Wide by, Measure measure) {
    const LaunchCandidate before = candidate_;
    const auto trips_before = trips_;
    const Wide here = measure();
    std::optional<LaunchCandidate> best;
    auto best_trips = trips_;
    std::size_t fewest = ~std::size_t{0};
    const bool any = random_.one_in(4);
    for (const Movable &variable : variables_in(e)) {
      const bool moved = step(variable, 1);
      const Wide slope = moved ? measure() - here : 0;
      candidate_ = before;
      trips_ = trips_before;
      if (slope == 0)
        continue;
      // To the multiple of the slope that is not short of the distance, or just short of it.
      const bool same_sign = (by < 0) == (slope < 0);
      const Wide size_by = by < 0 ? -by : by, size_slope = slope < 0 ? -slope : slope;
      for (const Wide round : {size_slope - 1, Wide{0}}) {
        const Wide steps = (size_by + round) / size_slope;
        if (steps != 0 && step(variable, same_sign ? steps : -steps)) {
          const std::size_t left =
              any ? random_.below(100) : violations() * 100 + random_.below(50);
          if (left < fewest) {
            fewest = left;
            best = candidate_;
            best_trips = trips_;
          }
        }
        candidate_ = before;
        trips_ = trips_before;
      }
    }
    if (best) {
      candidate_ = *best;
      trips_ = best_trips;
    }
  }

  std::size_t violations() const {
    std::size_t count = wish_->near && !is_near(wish_->near, wish_->bound);
    for (const PathFact &fact : wish_->conditions)
      count += holds(fact.condition) != fact.holds;
    return count;
  }

  // Where no slope leads there: anything else.
  void shake(Expr e) {
    const std::vector<Movable> variables = variables_in(e);
    if (!variables.empty())
      step(variables[random_.below(variables.size())], static_cast<Wide>(random_.below(65)) - 32);
  }

  std::vector<Movable> variables_in(Expr e) {
    using Kind = KernelModel::Meaning::Kind;
    std::vector<Movable> result;
    const auto add = [&](Movable variable) {
      if (std::find(result.begin(), result.end(), variable) == result.end())
        result.push_back(variable);
    };
    for_each_node(e, [&](Expr node) {
      if (node->kind != ExprKind::symbol)
        return;
      const KernelModel::Meaning &what = model_.meaning(node);
      switch (what.kind) {
      case Kind::slot:
        add({slots_[what.index].is_pointer ? Movable::Kind::pointer : Movable::Kind::slot,
             what.index});
        break;
      case Kind::tid:
        add({Movable::Kind::tid, what.index});
        break;
      case Kind::laneid:
        add({Movable::Kind::tid, 0});
        break;
      case Kind::ctaid:
        add({Movable::Kind::ctaid, what.index});
        break;
      case Kind::ntid:
        add({Movable::Kind::extent, what.index});
        break;
      case Kind::nctaid:
        add({Movable::Kind::grid_extent, what.index});
        break;
      case Kind::trip:
        add({Movable::Kind::trip, node->index});
        break;
      default:
        break;
      }
    });
    return result;
  }

  // True if the number can be moved that far; the extents grow as they must.
  bool step(const Movable &variable, Wide by) {
    const int axis = static_cast<int>(variable.index);
    const auto moved = [&](std::uint64_t now,
                           std::uint64_t largest) -> std::optional<std::uint64_t> {
      const Wide next = Wide{now} + by;
      if (next < 0 || next > Wide{largest})
        return std::nullopt;
      return static_cast<std::uint64_t>(next);
    };
    switch (variable.kind) {
    case Movable::Kind::slot: {
      std::uint64_t &value = candidate_.values[variable.index];
      const std::uint64_t next =
          (value + static_cast<std::uint64_t>(by)) & mask64(slots_[variable.index].width);
      if (next > limits_.largest_number)
        return false;
      value = next;
      return true;
    }
    case Movable::Kind::pointer: {
      if (limits_.fixed_pointers)
        return false;
      constexpr Wide reach = Wide{1} << 34;
      std::uint64_t &value = candidate_.values[variable.index];
      const Wide next = Wide{value} + by;
      // Only within the reach of some buffer.
      for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
        const Wide apart = next - Wide{LaunchCandidate::pointer_base(slot)};
        if (slots_[slot].is_pointer && apart > -reach && apart < reach) {
          value = static_cast<std::uint64_t>(next);
          return true;
        }
      }
      return false;
    }
    case Movable::Kind::tid: {
      static constexpr Extents largest{1023, 1023, 63};
      const auto next = moved(candidate_.thread[axis], largest[axis]);
      if (!next || (*next >= candidate_.block[axis] && !grow_block(axis, *next + 1)))
        return false;
      candidate_.thread[axis] = static_cast<std::uint32_t>(*next);
      return true;
    }
    case Movable::Kind::extent: {
      static constexpr Extents largest{1024, 1024, 64};
      const auto next = moved(candidate_.block[axis], largest[axis]);
      return next && *next > candidate_.thread[axis] && grow_block(axis, *next);
    }
    case Movable::Kind::ctaid: {
      const auto next = moved(candidate_.block_index[axis], limits_.largest_grid[axis] - 1);
      if (!next)
        return false;
      candidate_.block_index[axis] = static_cast<std::uint32_t>(*next);
      candidate_.grid[axis] =
          std::max(candidate_.grid[axis], static_cast<std::uint32_t>(*next + 1));
      return true;
    }
    case Movable::Kind::grid_extent: {
      const auto next = moved(candidate_.grid[axis], limits_.largest_grid[axis]);
      if (!next || *next <= candidate_.block_index[axis])
        return false;
      candidate_.grid[axis] = static_cast<std::uint32_t>(*next);
      return true;
    }
    case Movable::Kind::trip: {
      const auto found = trips_.find(variable.index);
      const auto next =
          moved(found == trips_.end() ? first_trip(variable.index) : found->second, 300);
      if (!next)
        return false;
      trips_[variable.index] = *next;
      return true;
    }
    }
    return false;
  }

  // The other axes shrink where the block would have too many threads.
  bool grow_block(int axis, std::uint64_t extent) {
    if (limits_.fixed_block || extent > limits_.most_block_threads)
      return false;
    candidate_.block[axis] = static_cast<std::uint32_t>(extent);
    for (int other = 2; other >= 0; --other)
      while (other != axis && candidate_.block.count() > limits_.most_block_threads &&
             candidate_.block[other] > candidate_.thread[other] + 1)
        candidate_.block[other] =
            std::max(candidate_.thread[other] + 1, candidate_.block[other] / 2);
    return candidate_.block.count() <= limits_.most_block_threads;
  }

  KernelModel &model_;
  const std::vector<ParameterSlot> &slots_;
  const SearchLimits &limits_;
  WarpRandom &random_;
  LaunchCandidate &candidate_;
  const KernelModel::Wish *wish_ = nullptr;
  std::unordered_map<std::uint32_t, std::uint64_t> trips_; ///< by symbol
};

} // namespace

bool satisfy(KernelModel &model, const std::vector<ParameterSlot> &slots,
             const KernelModel::Wish &wish, const SearchLimits &limits, WarpRandom &random,
             LaunchCandidate &candidate) {
  return Search(model, slots, limits, random, candidate).run(wish);
}

} // namespace ptxasw::emulator
