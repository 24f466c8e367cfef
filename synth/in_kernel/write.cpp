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
#include "synth/in_kernel/script.h"

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
  if (!needs.covered.empty() || needs.dynamic_shared != 1 ||
      needs.min_grid != SiblingNeeds{}.min_grid)
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
  for (const char *all : {"%tid", "%ntid", "%ctaid", "%nctaid"})
    if (mentions_special(written, sibling, all))
      return tl::unexpected(std::string("it reads all of a place at once"));
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (form.sibling.grid[axis] > 1 &&
        mentions_special(written, sibling, fmt::format("%nctaid.{}", "xyz"[axis])))
      return tl::unexpected(std::string("it reads the extent of its own grid"));
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
  ScriptPrinter printer("ptxasw_");
  InKernelScript script(kernel, form, printer);
  script.tell();
  std::string declarations;
  for (const auto &[type, name, count] :
       {std::tuple("b32", "word", script.words), std::tuple("b64", "long", script.longs),
        std::tuple("pred", "test", script.tests)})
    if (count > 0)
      declarations += fmt::format("\t.reg .{} %ptxasw_{}<{}>;\n", type, name, count);
  for (const auto &[special, reg] : in_kernel_places(form))
    declarations += fmt::format("\t.reg .b32 {};\n", reg);
  return fmt::format("{{\n{}{}{}\n\tret;\n{}:\n{}\n}}", declarations, printer.text, arm, original,
                     module.text(kernel.body));
}

} // namespace ptxasw::synth
