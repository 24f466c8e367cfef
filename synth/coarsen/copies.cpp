// Which copy it is, is a number in the expressions: where blocks are one thread thick along the
// axis, the block's index is B + k, its extent 1, the thread's index 0; where copies are threads of
// one block, the thread's index is T * K + k; of kind "apart" the block's index is B + k. Points
// along x are blocks of one thread, whose index is G * W + w - shift, G being the sibling's thread.
//
// Where copies that have ended stay with the others (predicated.cpp), what they compute is not what
// the branches on their way say: then nothing is known from branches.
//
// An expression is comparable between copies if every symbol in it means the same for all of them:
// parameters, indices, and how often a loop has iterated, since lockstep iterates with all of them.

#include "synth/coarsen/copies.h"

#include <fmt/core.h>

namespace ptxasw::synth {
namespace {

constexpr std::uint64_t largest_grid_x = 0x7fffffff, largest_grid = 0xffff, largest_block = 1024;

} // namespace

CopyViews::CopyViews(const KernelContext &context, const CoarsenForm &form)
    : kernel_(context.kernel), emulation_(context.module, kernel_, launch_facts(kernel_), {},
                                          LaneGroup::row, !form.predicates_ends()) {
  if (!emulation_.complete())
    return;
  ExprPool &pool = emulation_.pool();
  const auto number = [&](std::uint64_t value) { return pool.constant(32, value); };
  // All copies lie in the grid, or in the block: the last of them has an index below the largest
  // extent.
  const std::uint64_t most = form.within_block() ? largest_block / form.copies - 1
                             : form.axis == 0    ? largest_grid_x - form.copies
                                                 : largest_grid - form.copies;
  const char axis = "xyz"[form.axis];
  const Expr first = pool.symbol("first", 32, most);
  const std::uint64_t threads = max_points / form.along_x;
  const Expr thread = pool.symbol("thread along x", 32, threads - 1);
  const Expr all = pool.symbol("threads along x", 32, threads);
  first_ = first;
  thread_ = thread;
  for (unsigned k = 0; k < form.total(); ++k) {
    views_.emplace_back(pool);
    const auto replace = [&](std::string_view what, char along, Expr value) {
      if (const Expr symbol = special(what, along); symbol->kind == ExprKind::symbol)
        views_.back().map(symbol, value);
    };
    const Expr row = number(form.row_of(k));
    if (form.within_block())
      replace("tid", axis, pool.add(pool.mul(first, number(form.copies)), row));
    else if (form.copies > 1)
      replace("ctaid", axis, pool.add(first, row));
    if (form.copies > 1 && form.kind == CoarsenForm::Kind::rows) {
      replace("ntid", axis, number(1));
      replace("tid", axis, number(0));
    }
    if (form.along_x > 1) {
      const Expr width = number(form.along_x);
      const Expr place = number((form.column_of(k) - form.shift) & 0xffffffff);
      replace("ctaid", 'x', pool.add(pool.mul(thread, width), place));
      replace("ntid", 'x', number(1));
      replace("tid", 'x', number(0));
      replace("nctaid", 'x', pool.mul(all, width));
    }
  }
  for (const char *what : {"tid", "ntid", "ctaid", "nctaid"})
    for (const char along : {'x', 'y', 'z'})
      common_.insert(special(what, along));
}

Expr CopyViews::special(std::string_view what, char axis) {
  return emulation_.special(fmt::format("%{}.{}", what, axis));
}

std::optional<ArgumentDivisor> CopyViews::argument(Expr symbol) const {
  const auto field =
      symbol->kind == ExprKind::symbol ? emulation_.parameter_field(symbol) : std::nullopt;
  for (std::uint32_t i = 0; field && i < kernel_.parameters.size(); ++i)
    if (kernel_.parameters[i].name == field->parameter && field->offset >= 0 &&
        (field->width == 32 || field->width == 64))
      return ArgumentDivisor{i, static_cast<std::uint32_t>(field->offset), field->width / 8};
  return std::nullopt;
}

Expr CopyViews::common_address(const MemoryAccess &access) {
  if (!access.address || access.guard || access.decided)
    return nullptr;
  const Expr address = emulation_.expand(access.address);
  bool same = true;
  for_each_node(address, [&](Expr node) {
    if (node->kind != ExprKind::symbol || common_.contains(node) ||
        emulation_.parameter_field(node))
      return;
    for (LoopId loop = emulation_.cfg().loop_of(access.block); loop != no_index;
         loop = emulation_.cfg().loops()[loop].parent)
      if (emulation_.trip_count(loop) == node)
        return;
    same = false;
  });
  return same ? address : nullptr;
}

} // namespace ptxasw::synth
