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

#include "emulator/semantics/one_value.h"
#include "grammar/code_writer.h"
#include "grammar/edits.h"
#include "synth/in_kernel/in_kernel.h"
#include "synth/script.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fmt/core.h>
#include <tuple>

namespace ptxasw::synth {
namespace {

constexpr const char *original = "$ptxasw_original";

namespace in_kernel_refusal {
constexpr Refusal shape{"block-shape", "not for blocks of the promised shape"};
constexpr Refusal needs{"launch-needs", "what it needs of a launch cannot be tested in the kernel"};
constexpr Refusal names{"name-taken", "the kernel has names that the versions in it would get"};
} // namespace in_kernel_refusal

std::string place(std::string_view what, std::size_t axis) {
  return fmt::format("%ptxasw_{}_{}", what, "xyz"[axis]);
}

std::string hole(std::string_view what, std::size_t axis) {
  return fmt::format("<r_{}_{}>", what, "xyz"[axis]);
}

/// What a kernel with a sibling in it does before the two bodies: first the launch is looked at,
/// then who of it has a place in the sibling's.
class InKernelScript {
public:
  InKernelScript(const Function &kernel, const InKernelForm &form, Script &to)
      : kernel_(kernel), form_(form), to_(to) {}

  void tell() {
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

private:
  std::string word() { return fmt::format("<r_word{}>", words_++); }

  /// A special register's value.
  std::string special(std::string_view what, std::size_t axis) {
    std::string result = word();
    to_.line(fmt::format("mov.u32 {}, %{}.{}", result, what, "xyz"[axis]));
    return result;
  }

  void jump_if(std::string_view comparison, const std::string &operands, std::string_view jump) {
    const std::string test = fmt::format("<p_test{}>", tests_++);
    to_.line(fmt::format("setp.{} {}, {}", comparison, test, operands));
    to_.line(fmt::format("@{} {}", test, jump));
  }

  void original_if(std::string_view comparison, const std::string &operands) {
    jump_if(comparison, operands, "bra <$original>");
  }

  void original_unless_multiple(std::uint32_t parameter, std::uint32_t offset, std::uint32_t bytes,
                                std::uint32_t divisor) {
    const auto take = [&] { return bytes == 8 ? fmt::format("<w_long{}>", longs_++) : word(); };
    const std::string value = take(), rest = take();
    to_.line(fmt::format("ld.param.u{} {}, [{}{}]", bytes * 8, value,
                         kernel_.parameters[parameter].name,
                         offset == 0 ? "" : fmt::format("+{}", offset)));
    to_.line(fmt::format("and.b{} {}, {}, {}", bytes * 8, rest, value, divisor - 1));
    original_if(fmt::format("ne.u{}", bytes * 8), rest + ", 0");
  }

  void find_place(std::size_t axis) {
    const std::uint32_t by_grid = form_.sibling.grid[axis], by_block = form_.sibling.block[axis];
    const std::uint32_t blocks = by_grid * by_block;
    if (blocks == 1)
      return;
    const std::string own = special("ctaid", axis), rest = word();
    to_.line(fmt::format("and.b32 {}, {}, {}", rest, own, blocks - 1));
    jump_if("ne.u32", rest + ", 0", "ret");
    if (by_grid > 1) {
      to_.line(
          fmt::format("shr.u32 {}, {}, {}", hole("ctaid", axis), own, std::countr_zero(blocks)));
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

  const Function &kernel_;
  const InKernelForm &form_;
  Script &to_;
  unsigned words_ = 0, longs_ = 0, tests_ = 0; ///< registers of 32 and 64 bits, and predicates
};

} // namespace

void tell_in_kernel(const Function &kernel, const InKernelForm &form, Script &to) {
  InKernelScript(kernel, form, to).tell();
}

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

std::optional<Refusal> in_kernel_obstacle(const KernelContext &context, const InKernelForm &form) {
  const auto &[module, kernel] = std::tie(context.module, context.kernel);
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
  const auto testable = [&parameters = kernel.parameters](
                            std::uint32_t parameter, std::uint32_t bytes, std::uint32_t divisor) {
    return parameter < parameters.size() && (bytes == 4 || bytes == 8) &&
           std::has_single_bit(divisor);
  };
  for (const ArgumentAlignment &one : needs.aligned)
    if (!testable(one.parameter, 8, one.alignment))
      return in_kernel_refusal::needs;
  for (const ArgumentDivisor &one : needs.divisible)
    if (!testable(one.parameter, one.bytes, one.divisor))
      return in_kernel_refusal::needs;
  for (const Instruction &instruction : kernel.instructions)
    if (module.opcode(instruction).op == Op::call)
      return refusals::call;
  if (!needs.covered.empty() || !needs.bounded.empty() || needs.dynamic_shared != 1 ||
      needs.min_grid != SiblingNeeds{}.min_grid)
    return in_kernel_refusal::needs;
  if (module.text(kernel.span).find("ptxasw_") != std::string_view::npos)
    return in_kernel_refusal::names;
  return std::nullopt;
}

tl::expected<std::string, proof::NotProved>
in_kernel_arm(const Module &written, const Function &sibling, const InKernelForm &form) {
  const auto places = in_kernel_places(form);
  const auto own =
      static_cast<std::uint32_t>(sibling.parameters.size() - form.sibling.appended.size());
  for (const char *all : {"%tid", "%ntid", "%ctaid", "%nctaid"})
    if (mentions_special(written, sibling, all))
      return proof::not_proved("it reads all of a place at once");
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (form.sibling.grid[axis] > 1 &&
        mentions_special(written, sibling, fmt::format("%nctaid.{}", "xyz"[axis])))
      return proof::not_proved("it reads the extent of its own grid");
  Renaming renaming{{}, places, {}, {}};
  for (const Register &reg : sibling.registers)
    renaming.registers.emplace_back(reg.name);
  Edits edits;
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
    edits.replace(instruction.span, renamed(written, instruction, renaming));
  }
  const auto text = edits.apply(written.text());
  if (!text)
    return proof::not_proved("places in its text overlap");
  const std::size_t before = sibling.body.begin, after = written.text().size() - sibling.body.end;
  std::string arm = text->substr(before, text->size() - before - after);
  for (std::size_t i = own; i < sibling.parameters.size(); ++i)
    if (arm.find(sibling.parameters[i].name) != std::string::npos)
      return proof::not_proved("it uses an appended parameter otherwise");
  return arm;
}

std::string write_in_kernel(const Module &module, const Function &kernel, const InKernelForm &form,
                            std::string_view arm) {
  Script printer("ptxasw_");
  tell_in_kernel(kernel, form, printer);
  std::string declarations;
  for (const auto &[type, name] :
       {std::pair("b32", "%ptxasw_word"), std::pair("b64", "%ptxasw_long"),
        std::pair("pred", "%ptxasw_test")})
    if (const auto count =
            std::count_if(printer.registers.begin(), printer.registers.end(),
                          [own = name](const auto &reg) { return reg.first.starts_with(own); }))
      declarations += fmt::format("\t.reg .{} {}<{}>;\n", type, name, count);
  for (const auto &[special, reg] : in_kernel_places(form))
    declarations += fmt::format("\t.reg .b32 {};\n", reg);
  return fmt::format("{{\n{}{}{}\n\tret;\n{}:\n{}\n}}", declarations, printer.text, arm, original,
                     module.text(kernel.body));
}

} // namespace ptxasw::synth
