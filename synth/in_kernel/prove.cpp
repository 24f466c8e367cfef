// The proof of a kernel with a sibling in it, from its text.
//
// The sibling is proved already: launched with the grid and the block that the table says, it does
// what a launch of the kernel does, if that launch meets the table's needs. What is shown here:
//
//   - the code before the two bodies jumps to the kernel's own body under conditions on the launch
//     and its arguments alone, before any thread ends, so that all threads of a launch do or none;
//     and it does unless the block is the one that was promised and all needs are met. The
//     kernel's own body is there byte for byte, in braces of its own;
//   - all other threads either end at once or have a place in the sibling's launch, and each place
//     there has exactly one thread. Axis by axis, B being the promised block, N the grid:
//       grid / K: thread (b, t) with b % K == 0 has the place (b / K, t). These are the blocks
//         0 .. ceil(N / K) - 1, each once, with the kernel's threads;
//       block / D: thread (b, t) with b % D == 0 has the place (b + t / S, t % S), S = B / D, if
//         b + t / S < N. Blocks b .. b + D - 1 of S threads, each once, as t runs over D * S; and
//         over all such b, 0 .. N - 1. Sums do not wrap around: b < N <= 2^31 - 1, t / S < D <= 8;
//   - what then runs is the sibling's body, except that special registers which differ in the
//     sibling's launch are the registers with the place, and the appended parameters the extents
//     of this grid, as the table says. The sibling's registers and labels are in its own braces,
//     and nothing behind the first code writes the place.
//
// That threads are in other blocks and warps than the sibling's would be is of no matter to a
// kernel whose threads do not see each other's (spread_obstacle(): no barriers, no collectives, no
// shared memory, nothing that asks where it runs), and neither is that some end early.
//
// The first code is evaluated to terms, which are written as text: `ne(and(ctaid.x, 3), 0)`. That
// is all the algebra there is to it; other code than the one that is expected is not understood.

#include "grammar/next.h"
#include "grammar/roles.h"
#include "synth/in_kernel/in_kernel.h"
#include "synth/spread.h"

#include <bit>
#include <fmt/core.h>
#include <map>
#include <set>

namespace ptxasw::inline synth {
namespace {

using Terms = std::set<std::string>;

std::string special_term(std::string_view what, std::size_t axis) {
  return fmt::format("%{}.{}", what, "xyz"[axis]);
}

/// What the first code must do.
struct Expected {
  Terms originals, leaves;                   ///< conditions of jumps
  std::map<std::string, std::string> places; ///< by register
};

Expected expected_of(const InKernelForm &form) {
  Expected result;
  const SiblingNeeds &needs = form.sibling.needs;
  const auto block = [&](std::size_t axis) { return form.block[static_cast<int>(axis)]; };
  const auto multiple = [&](std::uint32_t parameter, std::uint32_t offset, std::uint32_t bytes,
                            std::uint32_t divisor) {
    result.originals.insert(fmt::format("setp.ne.u{0}(and.b{0}(ld.param.u{0}({1}+{2}), {3}), 0)",
                                        bytes * 8, parameter, offset, divisor - 1));
  };
  for (const ArgumentAlignment &one : needs.aligned)
    multiple(one.parameter, one.offset, 8, one.alignment);
  for (const ArgumentDivisor &one : needs.divisible)
    multiple(one.parameter, one.offset, one.bytes, one.divisor);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    result.originals.insert(
        fmt::format("setp.ne.u32({}, {})", special_term("ntid", axis), block(axis)));
    if (needs.max_extent[axis] != ~0u)
      result.originals.insert(fmt::format("setp.gt.u32({}, {})", special_term("nctaid", axis),
                                          needs.max_extent[axis] / block(axis)));
    const std::uint32_t by_grid = form.sibling.grid[axis], by_block = form.sibling.block[axis];
    const std::string b = special_term("ctaid", axis), t = special_term("tid", axis);
    const auto of = [&](std::string_view what) {
      return fmt::format("%ptxasw_{}_{}", what, "xyz"[axis]);
    };
    if (by_grid * by_block == 1)
      continue;
    result.leaves.insert(fmt::format("setp.ne.u32(and.b32({}, {}), 0)", b, by_grid * by_block - 1));
    if (by_grid > 1) {
      result.places[of("ctaid")] = fmt::format("shr.u32({}, {})", b, std::countr_zero(by_grid));
      continue;
    }
    const std::uint32_t threads = block(axis) / by_block;
    result.places[of("ctaid")] = fmt::format("add.u32({}, div.u32({}, {}))", b, t, threads);
    result.places[of("tid")] = fmt::format("rem.u32({}, {})", t, threads);
    result.places[of("ntid")] = std::to_string(threads);
    result.leaves.insert(fmt::format("setp.ge.u32({}, {})", result.places[of("ctaid")],
                                     special_term("nctaid", axis)));
  }
  return result;
}

/// Thrown where the proof stops; caught in prove_in_kernel().
struct NotShown {
  std::string why;
};

void show(bool condition, std::string_view why) {
  if (!condition)
    throw NotShown{std::string(why)};
}

class InKernelProof {
public:
  InKernelProof(const Module &module, const Function &replaced) : module_(module), f_(replaced) {}

  void run(const Expected &expected, std::string_view arm, std::string_view original) {
    // Braces: the body's, the sibling's, the kernel's, and what that has within.
    std::vector<std::uint32_t> arms;
    for (std::uint32_t i = 1; i < f_.scopes.size(); ++i)
      if (f_.scopes[i].parent == 0)
        arms.push_back(i);
    show(arms.size() == 2, "it does not have two bodies");
    show(module_.text(f_.scopes[arms[0]].span) == arm, "not the sibling's body");
    show(module_.text(f_.scopes[arms[1]].span) == original, "not the kernel's body");
    const auto end = first_behind(f_.scopes[arms[0]].span.begin);
    const auto behind = first_behind(f_.scopes[arms[0]].span.end);
    const auto own = first_behind(f_.scopes[arms[1]].span.begin);
    show(behind + 1 == own && is_return(behind), "the sibling's body goes on");
    show(first_behind(f_.scopes[arms[1]].span.end) == f_.instructions.size(),
         "something comes after the kernel's body");
    evaluate(end, own);
    show(originals_ == expected.originals, "other launches than the promised one run the sibling");
    show(leaves_ == expected.leaves, "not the threads that have no place end");
    for (const auto &[reg, term] : expected.places) {
      RegisterId found = no_register;
      for (RegisterId i = 0; i < f_.registers.size(); ++i)
        if (f_.registers[i].name == reg) {
          show(found == no_register, "two registers have one name");
          found = i;
        }
      const auto known = terms_.find(found);
      show(known != terms_.end() && known->second == term, "not the place in the sibling's launch");
    }
    for (auto i = end; i < f_.instructions.size(); ++i)
      for_each_register(module_, f_.instructions[i], [&](RegisterId reg, RegisterUse use) {
        show(use == RegisterUse::read || !terms_.contains(reg), "the place is written again");
      });
  }

private:
  std::uint32_t first_behind(std::uint32_t offset) const {
    std::uint32_t i = 0;
    while (i < f_.instructions.size() && f_.instructions[i].span.begin < offset)
      ++i;
    return i;
  }

  bool is_return(std::uint32_t i) const {
    return i < f_.instructions.size() && f_.instructions[i].guard == no_register &&
           f_.instructions[i].scope == 0 && module_.opcode(f_.instructions[i]).text == "ret";
  }

  /// The straight code up to `end`; jumps lead to `own` or end the thread.
  void evaluate(std::uint32_t end, std::uint32_t own) {
    for (std::uint32_t i = 0; i < end; ++i) {
      const Instruction &one = f_.instructions[i];
      const Opcode &opcode = module_.opcode(one);
      show(one.well_formed && one.scope == 0, "the code before the bodies is not understood");
      if (is_way(opcode)) {
        const auto guard = terms_.find(one.guard);
        show(guard != terms_.end() && !one.guard_negated, "a jump is not understood");
        if (returns(opcode)) {
          leaves_.insert(guard->second);
          continue;
        }
        show(leaves_.empty(), "a thread ends before it is known which body runs");
        show(branch_target(module_, f_, one) == own, "a branch leads elsewhere");
        originals_.insert(guard->second);
        continue;
      }
      show(one.guard == no_register, "the code before the bodies is not understood");
      const RegisterId to = destination(one);
      terms_[to] = term(one, opcode);
    }
  }

  RegisterId destination(const Instruction &one) const {
    const auto operands = module_.operands(one);
    show(!operands.empty() && operands[0].kind == Operand::Kind::reg && operands[0].selector == 0 &&
             !operands[0].negated && f_.registers[operands[0].reg].vector == 1,
         "the code before the bodies is not understood");
    return operands[0].reg;
  }

  std::string term(const Instruction &one, const Opcode &opcode) const {
    static const std::map<std::string_view, unsigned> known{
        {"mov.u32", 32},      {"and.b32", 32},    {"and.b64", 64},    {"shr.u32", 32},
        {"add.u32", 32},      {"div.u32", 32},    {"rem.u32", 32},    {"ld.param.u32", 32},
        {"ld.param.u64", 64}, {"setp.ne.u32", 1}, {"setp.gt.u32", 1}, {"setp.ge.u32", 1},
        {"setp.ne.u64", 1}};
    const auto found = known.find(opcode.text);
    const auto operands = module_.operands(one);
    show(found != known.end() && bit_width(f_.registers[operands[0].reg].type) == found->second &&
             (f_.registers[operands[0].reg].type == ScalarType::pred) == (found->second == 1),
         "the code before the bodies is not understood");
    const bool is_load = opcode.op == Op::ld, is_move = opcode.op == Op::mov;
    show(operands.size() == (is_load || is_move ? 2 : 3),
         "the code before the bodies is not understood");
    std::string list;
    for (const Operand &operand : operands.subspan(1))
      list += (list.empty() ? "" : ", ") + value(operand, is_load);
    return is_move ? list : fmt::format("{}({})", opcode.text, list);
  }

  std::string value(const Operand &operand, bool is_load) const {
    show(!operand.negated && operand.selector == 0, "an operand is not understood");
    if (is_load) {
      show(operand.kind == Operand::Kind::address, "an operand is not understood");
      const Operand &base = module_.children(operand)[0];
      show(base.kind == Operand::Kind::symbol &&
               module_.symbol(base).kind == Symbol::Kind::parameter,
           "an operand is not understood");
      return fmt::format("{}+{}", module_.symbol(base).index, operand.value + base.value);
    }
    if (operand.kind == Operand::Kind::integer && operand.value >= 0)
      return std::to_string(operand.value);
    if (operand.kind == Operand::Kind::special)
      return std::string(module_.text(operand.span));
    const auto known = operand.kind == Operand::Kind::reg ? terms_.find(operand.reg) : terms_.end();
    show(known != terms_.end(), "an operand is not understood");
    return known->second;
  }

  const Module &module_;
  const Function &f_;
  std::map<RegisterId, std::string> terms_;
  Terms originals_, leaves_;
};

/// What stands before the body: as it was, except for a limit of the registers, or that blocks have
/// no more threads than they can have.
void check_header(const FunctionOf &kernel, const FunctionOf &replaced) {
  const Function &own = kernel.function, &now = replaced.function;
  show(replaced.module.text({now.span.begin, now.body.begin})
           .starts_with(kernel.module.text({own.span.begin, own.body.begin})),
       "what stands before its body is not the kernel's");
  std::vector<PerformanceDirective> rest = now.directives;
  std::erase_if(rest, [&](const PerformanceDirective &one) {
    return !own.directive(one.name) &&
           (one.name == "maxnreg" ||
            (one.name == "maxntid" && one.values[0] == threads_of_any_block));
  });
  show(std::equal(own.directives.begin(), own.directives.end(), rest.begin(), rest.end(),
                  [](const PerformanceDirective &a, const PerformanceDirective &b) {
                    return a.name == b.name && a.count == b.count &&
                           std::equal(std::begin(a.values), std::end(a.values),
                                      std::begin(b.values));
                  }),
       "its directives are others");
  show(now.name == own.name && now.parameters.size() == own.parameters.size(),
       "it is another kernel");
}

} // namespace

std::string prove_in_kernel(const FunctionOf &kernel, const FunctionOf &beside,
                            const FunctionOf &sibling, const FunctionOf &replaced,
                            const InKernelForm &form) {
  try {
    if (const auto obstacle = spread_obstacle({beside.module, beside.function}))
      return fmt::format("threads may see each other: {}", obstacle->meaning);
    if (const auto obstacle = in_kernel_obstacle(beside.module, beside.function, form))
      return std::string(obstacle->meaning);
    const std::string_view body = kernel.module.text(kernel.function.body);
    show(beside.module.text(beside.function.body) == body, "the sibling is that of another kernel");
    const PerformanceDirective *const required = kernel.function.directive("reqntid");
    for (unsigned i = 0; required && i < 3; ++i)
      show(required->values[i] == form.block[static_cast<int>(i)], "blocks have another shape");
    check_header(kernel, replaced);
    show(sibling.function.scopes.size() == 1 &&
             sibling.module.text(sibling.function.body).find("%ptxasw_") == std::string_view::npos,
         "the sibling has names of this code");
    const auto arm = in_kernel_arm(sibling.module, sibling.function, form);
    if (!arm)
      return arm.error();
    InKernelProof(replaced.module, replaced.function).run(expected_of(form), *arm, body);
  } catch (const NotShown &stop) {
    return stop.why;
  }
  return "";
}

} // namespace ptxasw::synth
