// What forms have, and how a form and its entry in a table tell of each other.

#include "synth/coarsen/allocations.h"
#include "synth/coarsen/coarsen.h"

#include <algorithm>
#include <fmt/core.h>
#include <tuple>
#include <utility>

namespace ptxasw::synth {

using FormKind = CoarsenForm::Kind;

std::string_view name_of(FormKind kind) {
  return kind == FormKind::apart ? "apart" : kind == FormKind::rows ? "rows" : "neighbours";
}

std::string CoarsenForm::key() const {
  return fmt::format("{} {} {} {} {} {} {} {}", name_of(kind), axis, copies, along_x, shift, wide,
                     once, skewed);
}

std::string CoarsenForm::index() const {
  return fmt::format("{}.{}", within_block() ? "%tid" : "%ctaid", "xyz"[axis]);
}

std::string CoarsenForm::extent() const {
  return fmt::format("{}.{}", within_block() ? "%ntid" : "%nctaid", "xyz"[axis]);
}

std::vector<std::string> CoarsenForm::indices() const {
  std::vector<std::string> result;
  if (copies > 1)
    result.push_back(index());
  if (along_x > 1)
    result.emplace_back("%ctaid.x");
  return result;
}

std::vector<char> CoarsenForm::appended_grids() const {
  std::vector<char> result;
  if (divides_grid())
    result.push_back("xyz"[axis]);
  if (counts_rows())
    result.push_back('y');
  return result;
}

std::vector<char> CoarsenForm::appended_blocks() const {
  return counts_rows() ? std::vector<char>{'y'} : std::vector<char>{};
}

Sibling coarsened(const KernelContext &context, const CoarsenForm &form) {
  const auto &[module, kernel] = std::tie(context.module, context.kernel);
  const auto along = static_cast<std::size_t>(form.axis);
  Sibling sibling;
  SiblingNeeds &needs = sibling.needs;
  sibling.kind = form.wide ? "wide" : name_of(form.kind);
  if (form.wide && form.copies > 1)
    sibling.kind += fmt::format("-{}", name_of(form.kind));
  if (form.skewed)
    sibling.kind += "-skewed";
  if (form.once)
    sibling.kind += "-once";
  sibling.tall = form.tall;
  sibling.appended = form.appended_grids();
  sibling.appended_blocks = form.appended_blocks();
  sibling.block[0] = form.along_x;
  if (form.along_x > 1)
    needs.max_extent[0] = max_points;
  if (form.copies > 1)
    (form.within_block() ? sibling.block : sibling.grid)[along] = form.copies;
  if (form.once) {
    needs.covered = needs_of_rounds(rounds_over_grid(context));
    for (const ArgumentCover &one : needs.covered)
      needs.max_extent[one.axis] = max_round_threads;
  }
  if (form.divides_grid() && form.kind == FormKind::rows)
    needs.blocks = row_blocks(form.axis);
  else if (asks_for_whole_rows(context))
    needs.blocks = whole_row_blocks();
  if (!dynamic_allocations_of(module, kernel).empty())
    needs.dynamic_shared = form.total(); // each copy its own
  else if (has_allocations(allocations_of(module, kernel), StateSpace::shared))
    needs.dynamic_shared = 0; // it has more of its own
  return sibling;
}

CoarsenForm coarsen_form(const Sibling &sibling) {
  const auto says = [&](std::string_view word) {
    return sibling.kind.find(word) != std::string::npos;
  };
  CoarsenForm form;
  form.wide = says("wide");
  form.once = says("-once");
  form.skewed = says("-skewed");
  form.tall = sibling.tall;
  form.along_x = form.wide ? sibling.block[0] : 1;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const auto &[kind, by] :
         {std::pair(FormKind::neighbours, axis == 0 && form.wide ? 1 : sibling.block[axis]),
          {says("rows") ? FormKind::rows : FormKind::apart, sibling.grid[axis]}})
      if (by > 1) {
        form.kind = kind;
        form.axis = static_cast<int>(axis);
        form.copies = by;
      }
  return form;
}

const std::vector<std::array<std::uint32_t, 3>> &row_blocks(int axis) {
  static const auto shapes = [] {
    std::array<std::vector<std::array<std::uint32_t, 3>>, 3> by_axis;
    constexpr std::uint32_t most = 1024, warp = 32;
    for (std::uint32_t x = warp; x <= most; x += warp)
      by_axis[1].push_back({x, 1, 1});
    for (std::uint32_t x = 1; x <= most; x *= 2)
      for (std::uint32_t y = 1; x * y <= most; y *= 2)
        if (x * y >= warp)
          by_axis[2].push_back({x, y, 1});
    return by_axis;
  }();
  return shapes[static_cast<std::size_t>(axis)];
}

bool asks_for_whole_rows(const KernelContext &context) {
  return meetings_of(context).of_whole_rows() && !context.kernel.directive("reqntid");
}

const std::vector<std::array<std::uint32_t, 3>> &whole_row_blocks() {
  static const auto shapes = [] {
    std::vector<std::array<std::uint32_t, 3>> list = row_blocks(1);
    constexpr std::uint32_t most = 1024, warp = 32;
    for (std::uint32_t x = warp; x <= most; x *= 2)
      for (std::uint32_t y = 2; x * y <= most; y *= 2)
        list.push_back({x, y, 1});
    return list;
  }();
  return shapes;
}

} // namespace ptxasw::synth
