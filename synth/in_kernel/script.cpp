// First the launch is looked at, then who of it has a place in the sibling's (write.cpp shows the
// code, prove.cpp says why it is right).

#include "synth/in_kernel/script.h"

#include <bit>
#include <fmt/core.h>

namespace ptxasw::synth {
namespace {

std::string hole(std::string_view what, std::size_t axis) {
  return fmt::format("<r_{}_{}>", what, "xyz"[axis]);
}

} // namespace

void InKernelScript::tell() {
  const auto block = [&](std::size_t axis) { return form_.block[static_cast<int>(axis)]; };
  for (std::size_t axis = 0; axis < 3; ++axis)
    original_if("ne.u32", fmt::format("{}, {}", special("ntid", axis), block(axis)));
  const SiblingNeeds &needs = form_.sibling.needs;
  for (const ArgumentAlignment &one : needs.aligned)
    original_unless_multiple(one.parameter, one.offset, 8, one.alignment);
  for (const ArgumentDivisor &one : needs.divisible)
    original_unless_multiple(one.parameter, one.offset, one.bytes, one.divisor);
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (needs.max_extent[axis] != ~0u)
      original_if("gt.u32", fmt::format("{}, {}", special("nctaid", axis),
                                        needs.max_extent[axis] / block(axis)));
  for (std::size_t axis = 0; axis < 3; ++axis)
    find_place(axis);
}

/// A special register's value.
std::string InKernelScript::special(std::string_view what, std::size_t axis) {
  std::string result = word();
  to_.line(fmt::format("mov.u32 {}, %{}.{}", result, what, "xyz"[axis]));
  return result;
}

void InKernelScript::jump_if(std::string_view comparison, const std::string &operands,
                             std::string_view jump) {
  const std::string test = fmt::format("<p_test{}>", tests++);
  to_.line(fmt::format("setp.{} {}, {}", comparison, test, operands));
  to_.line(fmt::format("@{} {}", test, jump));
}

void InKernelScript::original_unless_multiple(std::uint32_t parameter, std::uint32_t offset,
                                              std::uint32_t bytes, std::uint32_t divisor) {
  const auto take = [&] { return bytes == 8 ? fmt::format("<w_long{}>", longs++) : word(); };
  const std::string value = take(), rest = take();
  to_.line(fmt::format("ld.param.u{} {}, [{}{}]", bytes * 8, value,
                       kernel_.parameters[parameter].name,
                       offset == 0 ? "" : fmt::format("+{}", offset)));
  to_.line(fmt::format("and.b{} {}, {}, {}", bytes * 8, rest, value, divisor - 1));
  original_if(fmt::format("ne.u{}", bytes * 8), rest + ", 0");
}

void InKernelScript::find_place(std::size_t axis) {
  const std::uint32_t by_grid = form_.sibling.grid[axis], by_block = form_.sibling.block[axis];
  const std::uint32_t blocks = by_grid * by_block;
  if (blocks == 1)
    return;
  const std::string own = special("ctaid", axis), rest = word();
  to_.line(fmt::format("and.b32 {}, {}, {}", rest, own, blocks - 1));
  jump_if("ne.u32", rest + ", 0", "ret");
  if (by_grid > 1) {
    to_.line(fmt::format("shr.u32 {}, {}, {}", hole("ctaid", axis), own, std::countr_zero(blocks)));
    return;
  }
  const std::uint32_t threads = form_.block[static_cast<int>(axis)] / by_block;
  const std::string thread = special("tid", axis), further = word();
  to_.line(fmt::format("div.u32 {}, {}, {}", further, thread, threads));
  to_.line(fmt::format("add.u32 {}, {}, {}", hole("ctaid", axis), own, further));
  to_.line(fmt::format("rem.u32 {}, {}, {}", hole("tid", axis), thread, threads));
  to_.line(fmt::format("mov.u32 {}, {}", hole("ntid", axis), threads));
  const std::string all = special("nctaid", axis);
  jump_if("ge.u32", fmt::format("{}, {}", hole("ctaid", axis), all), "ret");
}

} // namespace ptxasw::synth
