// How a sibling stands in its kernel. `4` is what the table divides an extent by, `512` what is
// promised of the block:
//
//     {
//       if %ntid.x, %ntid.y or %ntid.z is not what was promised, or an argument or the grid not
//         what the table needs: to $ptxasw_original
//       the place that the thread has in the sibling's launch, in %ptxasw_ctaid_x and the like; or
//         it has none, and ends here:
//         grid.x / 4:  only blocks with %ctaid.x % 4 == 0, as block %ctaid.x / 4
//         block.x / 4: only these, too; their 512 threads as the 128 each of blocks %ctaid.x to
//                      %ctaid.x + 3, as far as these lie inside the grid
//       { the sibling's body, with this place }
//       ret
//     $ptxasw_original:
//       { the kernel's body }
//     }
//
// The registers that the bodies declare are those of their own braces.

#include "grammar/edits.h"
#include "synth/in_kernel/in_kernel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fmt/core.h>
#include <functional>

namespace ptxasw::inline synth {
namespace {

constexpr const char *original = "$ptxasw_original";
// Names of ranges, which must not end in a digit.
constexpr const char *word_name = "%ptxasw_word", *long_name = "%ptxasw_long",
                     *test_name = "%ptxasw_test";

namespace in_kernel_refusal {
constexpr Refusal shape{"block-shape", "not for blocks of the promised shape"};
constexpr Refusal needs{"launch-needs", "what it needs of a launch cannot be tested in the kernel"};
constexpr Refusal names{"name-taken", "the kernel has names that the versions in it would get"};
} // namespace in_kernel_refusal

std::string place(std::string_view what, std::size_t axis) {
  return fmt::format("%ptxasw_{}_{}", what, "xyz"[axis]);
}

/// Prints the code before the two bodies.
class Preparation {
public:
  Preparation(const Function &kernel, const InKernelForm &form) : kernel_(kernel), form_(form) {}

  std::string run() {
    for (std::size_t axis = 0; axis < 3; ++axis)
      original_if(fmt::format("setp.ne.u32 {{}}, {}, {};", special("ntid", axis),
                              form_.block[static_cast<int>(axis)]));
    const SiblingNeeds &needs = form_.sibling.needs;
    for (const ArgumentAlignment &one : needs.aligned)
      original_unless_multiple(one.parameter, one.offset, 8, one.alignment);
    for (const ArgumentDivisor &one : needs.divisible)
      original_unless_multiple(one.parameter, one.offset, one.bytes, one.divisor);
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (needs.max_extent[axis] != ~0u)
        original_if(fmt::format("setp.gt.u32 {{}}, {}, {};", special("nctaid", axis),
                                needs.max_extent[axis] / form_.block[static_cast<int>(axis)]));
    for (std::size_t axis = 0; axis < 3; ++axis)
      find_place(axis);
    std::string declarations;
    const auto declare = [&](const char *type, const char *name, unsigned count) {
      if (count > 0)
        declarations += fmt::format("\t.reg .{} {}<{}>;\n", type, name, count);
    };
    declare("b32", word_name, words_);
    declare("b64", long_name, longs_);
    declare("pred", test_name, tests_);
    for (const auto &[special, reg] : in_kernel_places(form_))
      declarations += fmt::format("\t.reg .b32 {};\n", reg);
    return declarations + text_;
  }

private:
  std::string word() { return fmt::format("{}{}", word_name, words_++); }
  std::string long_word() { return fmt::format("{}{}", long_name, longs_++); }
  void line(std::string_view text) { text_ += fmt::format("\t{}\n", text); }

  /// A special register's value.
  std::string special(std::string_view what, std::size_t axis) {
    std::string result = word();
    line(fmt::format("mov.u32 {}, %{}.{};", result, what, "xyz"[axis]));
    return result;
  }
  void jump_if(const std::string &test, std::string_view jump) {
    const std::string predicate = fmt::format("{}{}", test_name, tests_++);
    line(fmt::format(fmt::runtime(test), predicate));
    line(fmt::format("@{} {};", predicate, jump));
  }
  void original_if(const std::string &test) { jump_if(test, fmt::format("bra {}", original)); }

  void original_unless_multiple(std::uint32_t parameter, std::uint32_t offset, std::uint32_t bytes,
                                std::uint32_t divisor) {
    const bool wide = bytes == 8;
    const std::string value = wide ? long_word() : word(), rest = wide ? long_word() : word();
    line(fmt::format("ld.param.u{} {}, [{}{}];", bytes * 8, value,
                     kernel_.parameters[parameter].name,
                     offset == 0 ? "" : fmt::format("+{}", offset)));
    line(fmt::format("and.b{} {}, {}, {};", bytes * 8, rest, value, divisor - 1));
    original_if(fmt::format("setp.ne.u{} {{}}, {}, 0;", bytes * 8, rest));
  }

  void find_place(std::size_t axis) {
    const std::uint32_t by_grid = form_.sibling.grid[axis], by_block = form_.sibling.block[axis];
    const std::uint32_t blocks = by_grid * by_block;
    if (blocks == 1)
      return;
    const std::string own = special("ctaid", axis), rest = word();
    line(fmt::format("and.b32 {}, {}, {};", rest, own, blocks - 1));
    jump_if(fmt::format("setp.ne.u32 {{}}, {}, 0;", rest), "ret");
    if (by_grid > 1) {
      line(fmt::format("shr.u32 {}, {}, {};", place("ctaid", axis), own, std::countr_zero(blocks)));
      return;
    }
    const std::uint32_t threads = form_.block[static_cast<int>(axis)] / by_block;
    const std::string thread = special("tid", axis), further = word();
    line(fmt::format("div.u32 {}, {}, {};", further, thread, threads));
    line(fmt::format("add.u32 {}, {}, {};", place("ctaid", axis), own, further));
    line(fmt::format("rem.u32 {}, {}, {};", place("tid", axis), thread, threads));
    line(fmt::format("mov.u32 {}, {};", place("ntid", axis), threads));
    const std::string all = special("nctaid", axis);
    jump_if(fmt::format("setp.ge.u32 {{}}, {}, {};", place("ctaid", axis), all), "ret");
  }

  const Function &kernel_;
  const InKernelForm &form_;
  std::string text_;
  unsigned words_ = 0, longs_ = 0, tests_ = 0;
};

} // namespace

bool has_sibling_inside(const Function &kernel) {
  return std::any_of(kernel.labels.begin(), kernel.labels.end(),
                     [](const Label &label) { return label.name == original; });
}

std::vector<std::pair<std::string, std::string>> in_kernel_places(const InKernelForm &form) {
  std::vector<std::pair<std::string, std::string>> result;
  const auto add = [&](std::string_view what, std::size_t axis) {
    result.emplace_back(fmt::format("%{}.{}", what, "xyz"[axis]), place(what, axis));
  };
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (form.sibling.grid[axis] > 1 || form.sibling.block[axis] > 1)
      add("ctaid", axis);
    if (form.sibling.block[axis] > 1) {
      add("tid", axis);
      add("ntid", axis);
    }
  }
  return result;
}

std::optional<Refusal> in_kernel_obstacle(const Module &module, const Function &kernel,
                                          const InKernelForm &form) {
  const Sibling &sibling = form.sibling;
  const SiblingNeeds &needs = sibling.needs;
  std::array<std::uint32_t, 3> block{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    block[axis] = form.block[static_cast<int>(axis)];
    const std::uint32_t grid = sibling.grid[axis], threads = sibling.block[axis];
    if (!std::has_single_bit(grid) || !std::has_single_bit(threads) || (grid > 1 && threads > 1))
      return in_kernel_refusal::needs;
    if (block[axis] == 0 || block[axis] % threads != 0)
      return in_kernel_refusal::shape;
  }
  if (!needs.blocks.empty() &&
      std::find(needs.blocks.begin(), needs.blocks.end(), block) == needs.blocks.end())
    return in_kernel_refusal::shape;
  if (needs.max_block && form.block.count() > *needs.max_block)
    return in_kernel_refusal::shape;
  const auto testable = [&](std::uint32_t parameter, std::uint32_t bytes, std::uint32_t divisor) {
    return parameter < kernel.parameters.size() && (bytes == 4 || bytes == 8) &&
           std::has_single_bit(divisor);
  };
  for (const ArgumentAlignment &one : needs.aligned)
    if (!testable(one.parameter, 8, one.alignment))
      return in_kernel_refusal::needs;
  for (const ArgumentDivisor &one : needs.divisible)
    if (!testable(one.parameter, one.bytes, one.divisor))
      return in_kernel_refusal::needs;
  if (needs.dynamic_shared != 1 || needs.min_grid != SiblingNeeds{}.min_grid)
    return in_kernel_refusal::needs;
  if (module.text(kernel.span).find("ptxasw_") != std::string_view::npos)
    return in_kernel_refusal::names;
  return std::nullopt;
}

tl::expected<std::string, std::string> in_kernel_arm(const Module &written, const Function &sibling,
                                                     const InKernelForm &form) {
  const auto places = in_kernel_places(form);
  const auto own =
      static_cast<std::uint32_t>(sibling.parameters.size() - form.sibling.appended.size());
  Edits edits;
  std::string fault;
  const std::function<void(const Operand &)> replace = [&](const Operand &operand) {
    for (const Operand &child : written.children(operand))
      replace(child);
    if (operand.kind != Operand::Kind::special)
      return;
    const std::string_view name = written.text(operand.span);
    for (const char *vector : {"%tid", "%ntid", "%ctaid", "%nctaid"})
      if (name == vector)
        fault = "it reads all of a place at once";
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (form.sibling.grid[axis] > 1 && name == fmt::format("%nctaid.{}", "xyz"[axis]))
        fault = "it reads the extent of its own grid";
    for (const auto &[special, reg] : places)
      if (name == special)
        edits.replace(operand.span, reg);
  };
  for (const Instruction &instruction : sibling.instructions) {
    const auto operands = written.operands(instruction);
    // The appended parameter is loaded as a whole.
    if (written.opcode(instruction).text == "ld.param.u32" && operands.size() == 2 &&
        instruction.guard == no_register && operands[1].kind == Operand::Kind::address &&
        operands[1].value == 0) {
      const Operand &base = written.children(operands[1])[0];
      if (base.kind == Operand::Kind::symbol && base.value == 0 &&
          written.symbol(base).kind == Symbol::Kind::parameter &&
          written.symbol(base).index >= own) {
        edits.replace(instruction.span,
                      fmt::format("mov.u32 {}, %nctaid.{};", written.text(operands[0].span),
                                  form.sibling.appended[written.symbol(base).index - own]));
        continue;
      }
    }
    for (const Operand &operand : operands)
      replace(operand);
  }
  if (!fault.empty())
    return tl::unexpected(fault);
  const auto text = edits.apply(written.text());
  if (!text)
    return tl::unexpected(std::string("places in its text overlap"));
  const std::size_t before = sibling.body.begin, after = written.text().size() - sibling.body.end;
  std::string arm = text->substr(before, text->size() - before - after);
  for (std::size_t i = own; i < sibling.parameters.size(); ++i)
    if (arm.find(sibling.parameters[i].name) != std::string::npos)
      return tl::unexpected(std::string("it uses an appended parameter otherwise"));
  return arm;
}

std::string write_in_kernel(const Module &module, const Function &kernel, const InKernelForm &form,
                            std::string_view arm) {
  return fmt::format("{{\n{}{}\n\tret;\n{}:\n{}\n}}", Preparation(kernel, form).run(), arm,
                     original, module.text(kernel.body));
}

} // namespace ptxasw::synth
