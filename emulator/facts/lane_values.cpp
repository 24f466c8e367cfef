// Node by node from the leaves up, each for all threads: an access of a kernel shares nearly all of
// its nodes with the others, and a node costs a microsecond or two.

#include "emulator/facts/lane_values.h"

#include "emulator/symbolic/evaluation.h"

namespace ptxasw::facts {

LaneValues::LaneValues(Emulation &emulation, const Layout &layout) : layout_(layout) {
  tid_[0] = emulation.special("%tid.x");
  laneid_ = emulation.special("%laneid");
  row_extent_ = emulation.special("%ntid.x");
  warp_ = emulation.warp_in_row();
  if (!layout.whole_rows) {
    tid_[1] = emulation.special("%tid.y");
    tid_[2] = emulation.special("%tid.z");
  }
}

bool LaneValues::is_lane_symbol(Expr expr) const {
  return expr->kind == ExprKind::symbol && // tid.y of a flat block is the number 0
         (expr == laneid_ || expr == tid_[0] || expr == tid_[1] || expr == tid_[2]);
}

const std::vector<std::uint64_t> *LaneValues::operator()(Expr root) {
  std::vector<Expr> work{root}, missing;
  while (!work.empty()) {
    const Expr expr = work.back();
    bool known = true;
    missing.clear();
    if (!memo_.contains(expr))
      for (const Expr child : expr->operands()) {
        const auto found = memo_.find(child);
        if (found == memo_.end())
          missing.push_back(child);
        else
          known = known && found->second;
      }
    if (known && !missing.empty()) {
      work.insert(work.end(), missing.begin(), missing.end());
      continue;
    }
    work.pop_back();
    if (!memo_.contains(expr))
      memo_[expr] = known ? node(expr) : std::nullopt;
  }
  const auto &values = memo_.at(root);
  return values ? &*values : nullptr;
}

// All operands have values.
std::optional<std::vector<std::uint64_t>> LaneValues::node(Expr expr) const {
  const bool leaf = expr->kind == ExprKind::symbol;
  if (expr->width > 64 || expr->kind == ExprKind::uf ||
      (leaf && !is_lane_symbol(expr) && expr != warp_))
    return std::nullopt;
  std::vector<const std::vector<std::uint64_t> *> children;
  for (const Expr child : expr->operands())
    children.push_back(&*memo_.at(child));
  std::vector<std::uint64_t> result(layout_.threads.size());
  std::vector<Bits> operands(children.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const ThreadId &thread = layout_.threads[i];
    if (leaf) {
      result[i] = expr == tid_[0]   ? thread.x
                  : expr == tid_[1] ? thread.y
                  : expr == tid_[2] ? thread.z
                  : expr == warp_   ? thread.x / warp_lanes
                                    : i % warp_lanes;
      continue;
    }
    for (std::size_t child = 0; child < children.size(); ++child)
      operands[child] = (*children[child])[i];
    result[i] = evaluate_node(expr, operands).low;
  }
  return result;
}

} // namespace ptxasw::facts
