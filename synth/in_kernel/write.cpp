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
#include <span>
#include <tuple>

namespace ptxasw::synth {
namespace {

constexpr const char *original = "$ptxasw_original";

namespace in_kernel_refusal {
constexpr Refusal shape{"block-shape", "not for blocks of the promised shape"};
constexpr Refusal needs{"launch-needs", "what it needs of a launch cannot be tested in the kernel"};
constexpr Refusal names{"name-taken", "the kernel has names that the versions in it would get"};
} // namespace in_kernel_refusal

std::string special_name(std::string_view what, std::size_t axis) {
  return fmt::format("%{}.{}", what, "xyz"[axis]);
}

/// A part of the thread's place in the sibling's launch.
std::string place(std::string_view what, std::size_t axis) {
  return fmt::format("%ptxasw_{}_{}", what, "xyz"[axis]);
}

/// What arguments must be multiples of.
std::vector<ArgumentDivisor> divisors(const SiblingNeeds &needs) {
  std::vector<ArgumentDivisor> all;
  for (const ArgumentAlignment &one : needs.aligned)
    all.push_back({one.parameter, one.offset, 8, one.alignment});
  all.insert(all.end(), needs.divisible.begin(), needs.divisible.end());
  return all;
}

/// What a kernel with a sibling in it does before the two bodies: first the launch is looked at,
/// then who of it has a place in the sibling's.
class InKernelBeginning {
public:
  InKernelBeginning(const Function &kernel, const InKernelForm &form)
      : kernel_(kernel), form_(form) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      original_if("ne.u32", special("ntid", axis), block(axis));
    for (const ArgumentDivisor &one : divisors(form.sibling.needs))
      original_unless_multiple(one);
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (const std::uint32_t most = form.sibling.needs.max_extent[axis]; most != ~0u)
        original_if("gt.u32", special("nctaid", axis), most / block(axis));
    for (std::size_t axis = 0; axis < 3; ++axis)
      find_place(axis);
  }

  std::string code() const {
    std::string declarations;
    for (const auto &[type, name, count] :
         {std::tuple("b32", "word", words_), std::tuple("b64", "long", longs_),
          std::tuple("pred", "test", tests_)})
      if (count > 0)
        declarations += fmt::format("\t.reg .{} %ptxasw_{}<{}>;\n", type, name, count);
    for (const auto &[special, reg] : in_kernel_places(form_))
      declarations += fmt::format("\t.reg .b32 {};\n", reg);
    return declarations + out_.lines();
  }

private:
  std::uint32_t block(std::size_t axis) const { return form_.block[static_cast<int>(axis)]; }
  std::string word() { return fmt::format("%ptxasw_word{}", words_++); }

  /// A special register's value.
  std::string special(std::string_view what, std::size_t axis) {
    std::string result = word();
    out_.write("mov.u32 {}, {}", result, special_name(what, axis));
    return result;
  }

  template <typename Operand>
  void jump_if(std::string_view comparison, const std::string &a, const Operand &b,
               std::string_view jump) {
    out_.write("setp.{} %ptxasw_test{}, {}, {}", comparison, tests_, a, b);
    out_.write("@%ptxasw_test{} {}", tests_++, jump);
  }

  void original_if(std::string_view comparison, const std::string &a, std::uint32_t b) {
    jump_if(comparison, a, b, fmt::format("bra {}", original));
  }

  void original_unless_multiple(const ArgumentDivisor &need) {
    const auto take = [&] {
      return need.bytes == 8 ? fmt::format("%ptxasw_long{}", longs_++) : word();
    };
    const std::string value = take(), rest = take();
    out_.write("ld.param.u{} {}, [{}{}]", need.bytes * 8, value,
               kernel_.parameters[need.parameter].name,
               need.offset == 0 ? "" : fmt::format("+{}", need.offset));
    out_.write("and.b{} {}, {}, {}", need.bytes * 8, rest, value, need.divisor - 1);
    original_if(fmt::format("ne.u{}", need.bytes * 8), rest, 0);
  }

  void find_place(std::size_t axis) {
    const std::uint32_t by_grid = form_.sibling.grid[axis], by_block = form_.sibling.block[axis];
    const std::uint32_t blocks = by_grid * by_block;
    if (blocks == 1)
      return;
    const std::string own = special("ctaid", axis), rest = word();
    out_.write("and.b32 {}, {}, {}", rest, own, blocks - 1);
    jump_if("ne.u32", rest, 0, "ret");
    if (by_grid > 1)
      return out_.write("shr.u32 {}, {}, {}", place("ctaid", axis), own, std::countr_zero(blocks));
    const std::uint32_t threads = block(axis) / by_block;
    const std::string thread = special("tid", axis), further = word();
    out_.write("div.u32 {}, {}, {}", further, thread, threads);
    out_.write("add.u32 {}, {}, {}", place("ctaid", axis), own, further);
    out_.write("rem.u32 {}, {}, {}", place("tid", axis), thread, threads);
    out_.write("mov.u32 {}, {}", place("ntid", axis), threads);
    jump_if("ge.u32", place("ctaid", axis), special("nctaid", axis), "ret");
  }

  const Function &kernel_;
  const InKernelForm &form_;
  CodeWriter out_;
  unsigned words_ = 0, longs_ = 0, tests_ = 0; ///< registers of 32 and 64 bits, and predicates
};

} // namespace

bool has_sibling_inside(const Function &kernel) {
  return std::any_of(kernel.labels.begin(), kernel.labels.end(),
                     [](const Label &label) { return label.name == original; });
}

std::vector<std::pair<std::string, std::string>> in_kernel_places(const InKernelForm &form) {
  std::vector<std::pair<std::string, std::string>> result;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const char *what : {"ctaid", "tid", "ntid"})
      if (form.sibling.block[axis] > 1 ||
          (form.sibling.grid[axis] > 1 && what == std::string_view("ctaid")))
        result.emplace_back(special_name(what, axis), place(what, axis));
  return result;
}

std::optional<Refusal> in_kernel_obstacle(const KernelContext &context, const InKernelForm &form) {
  const auto &[module, kernel] = std::tie(context.module, context.kernel);
  const SiblingNeeds &needs = form.sibling.needs;
  const std::array<std::uint32_t, 3> block{form.block.x, form.block.y, form.block.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::uint32_t grid = form.sibling.grid[axis], threads = form.sibling.block[axis];
    if (!std::has_single_bit(grid) || !std::has_single_bit(threads) || (grid > 1 && threads > 1))
      return in_kernel_refusal::needs;
    if (block[axis] == 0 || block[axis] % threads != 0)
      return in_kernel_refusal::shape;
  }
  if ((!needs.blocks.empty() &&
       std::find(needs.blocks.begin(), needs.blocks.end(), block) == needs.blocks.end()) ||
      form.block.count() > needs.max_block.value_or(~0u))
    return in_kernel_refusal::shape;
  for (const ArgumentDivisor &one : divisors(needs))
    if (one.parameter >= kernel.parameters.size() || (one.bytes != 4 && one.bytes != 8) ||
        !std::has_single_bit(one.divisor))
      return in_kernel_refusal::needs;
  for (const Instruction &instruction : kernel.instructions)
    if (module.opcode(instruction).op == Op::call)
      return refusals::call;
  // There must be no others than those, and extents of the grid.
  const SiblingNeeds tested{.blocks = needs.blocks,
                            .max_block = needs.max_block,
                            .aligned = needs.aligned,
                            .divisible = needs.divisible,
                            .max_extent = needs.max_extent};
  if (needs != tested)
    return in_kernel_refusal::needs;
  if (module.text(kernel.span).find("ptxasw_") != std::string_view::npos)
    return in_kernel_refusal::names;
  return std::nullopt;
}

tl::expected<std::string, proof::NotProved>
in_kernel_arm(const Module &written, const Function &sibling, const InKernelForm &form) {
  for (const char *all : {"%tid", "%ntid", "%ctaid", "%nctaid"})
    if (mentions_special(written, sibling, all))
      return proof::not_proved("it reads all of a place at once");
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (form.sibling.grid[axis] > 1 &&
        mentions_special(written, sibling, special_name("nctaid", axis)))
      return proof::not_proved("it reads the extent of its own grid");
  const auto appended =
      std::span(sibling.parameters).last(form.sibling.appended.size()); // extents of the grid
  Renaming renaming{{}, in_kernel_places(form), {}, {}};
  for (const Register &reg : sibling.registers)
    renaming.registers.emplace_back(reg.name);
  Edits edits;
  for (const Instruction &instruction : sibling.instructions) {
    std::string line = renamed(written, instruction, renaming);
    for (std::size_t i = 0; i < appended.size(); ++i)
      if (const auto operands = written.operands(instruction);
          operands.size() == 2 &&
          plain_text(line) == fmt::format("ld.param.u32 {}, [{}]", written.text(operands[0].span),
                                          appended[i].name))
        line = fmt::format("mov.u32 {}, %nctaid.{};", written.text(operands[0].span),
                           form.sibling.appended[i]);
    const std::uint32_t origin = sibling.body.begin;
    edits.replace({instruction.span.begin - origin, instruction.span.end - origin}, line);
  }
  auto arm = edits.apply(written.text(sibling.body));
  if (!arm)
    return proof::not_proved("places in its text overlap");
  for (const Variable &parameter : appended)
    if (arm->find(parameter.name) != std::string::npos)
      return proof::not_proved("it uses an appended parameter otherwise");
  return std::move(*arm);
}

std::string in_kernel_body(const KernelContext &kernel, const InKernelForm &form,
                           std::string_view arm) {
  return fmt::format("{{\n{}{}\n\tret;\n{}:\n{}\n}}", InKernelBeginning(kernel.kernel, form).code(),
                     arm, original, kernel.module.text(kernel.kernel.body));
}

} // namespace ptxasw::synth
