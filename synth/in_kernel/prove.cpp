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
// The first code is what tell_in_kernel() tells; anything else is not understood.

#include "grammar/roles.h"
#include "synth/in_kernel/in_kernel.h"
#include "synth/prove/header.h"
#include "synth/script.h"
#include "synth/spread.h"

#include <fmt/core.h>
#include <set>

namespace ptxasw::synth {
namespace {

using proof::show;

class InKernelProof {
public:
  InKernelProof(const KernelContext &kernel, const KernelContext &replaced)
      : module_(replaced.module), kernel_(kernel.kernel), f_(replaced.kernel),
        original_(kernel.module.text(kernel_.body)) {}

  void run(const InKernelForm &form, std::string_view arm) {
    // Braces: the body's, the sibling's, the kernel's, and what that has within.
    std::vector<Span> arms;
    for (std::uint32_t i = 1; i < f_.scopes.size(); ++i)
      if (f_.scopes[i].parent == 0)
        arms.push_back(f_.scopes[i].span);
    show(arms.size() == 2, "it does not have two bodies");
    show(module_.text(arms[0]) == arm, "not the sibling's body");
    show(module_.text(arms[1]) == original_, "not the kernel's body");
    const auto end = first_behind(arms[0].begin), behind = first_behind(arms[0].end);
    const auto own = first_behind(arms[1].begin);
    show(behind + 1 == own && is_return(behind), "the sibling's body goes on");
    show(first_behind(arms[1].end) == f_.instructions.size(),
         "something comes after the kernel's body");
    Script told("ptxasw_");
    tell_in_kernel(kernel_, form, told);
    told.places["$ptxasw_original"] = own;
    show(told.instructions.size() == end, "more is done before the bodies");
    check_told(told, module_, f_, kernel_);
    std::set<std::string_view> places;
    for (const auto &[special, name] : in_kernel_places(form)) {
      show(told.registers.contains(name), "not the place in the sibling's launch");
      places.insert(name);
    }
    for (auto i = end; i < f_.instructions.size(); ++i)
      for (const RegisterId reg : written_registers(module_, f_.instructions[i]))
        show(!places.contains(f_.registers[reg].name), "the place is written again");
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

  const Module &module_;
  const Function &kernel_, &f_;
  const std::string_view original_;
};

/// What stands before the body: as it was, except for a limit of the registers, or that blocks have
/// no more threads than they can have.
void check_header(const KernelContext &kernel, const KernelContext &replaced) {
  const Function &own = kernel.kernel, &now = replaced.kernel;
  show(replaced.module.text({now.span.begin, now.body.begin})
           .starts_with(kernel.module.text({own.span.begin, own.body.begin})),
       "what stands before its body is not the kernel's");
  Function bare = now;
  std::erase_if(bare.directives, [&](const PerformanceDirective &one) {
    return !own.directive(one.name) &&
           (one.name == "maxnreg" ||
            (one.name == "maxntid" && one.values[0] == threads_of_any_block));
  });
  show(proof::same_directives(own, bare), "its directives are others");
  show(now.name == own.name && now.parameters.size() == own.parameters.size(),
       "it is another kernel");
}

} // namespace

proof::Proved prove_in_kernel(const KernelContext &kernel, const KernelContext &beside,
                              const KernelContext &sibling, const KernelContext &replaced,
                              const InKernelForm &form) {
  return proof::proved([&] {
    if (const auto obstacle = spread_obstacle(beside))
      throw proof::NotProved{fmt::format("threads may see each other: {}", obstacle->meaning)};
    if (const auto obstacle = in_kernel_obstacle(beside, form))
      throw proof::NotProved{std::string(obstacle->meaning)};
    const std::string_view body = kernel.module.text(kernel.kernel.body);
    show(beside.module.text(beside.kernel.body) == body, "the sibling is that of another kernel");
    const PerformanceDirective *const required = kernel.kernel.directive("reqntid");
    for (unsigned i = 0; required && i < 3; ++i)
      show(required->values[i] == form.block[static_cast<int>(i)], "blocks have another shape");
    check_header(kernel, replaced);
    show(sibling.kernel.scopes.size() == 1 &&
             sibling.module.text(sibling.kernel.body).find("%ptxasw_") == std::string_view::npos,
         "the sibling has names of this code");
    const auto arm = in_kernel_arm(sibling.module, sibling.kernel, form);
    show(arm.has_value(), arm ? "" : arm.error().why);
    InKernelProof(kernel, replaced).run(form, *arm);
  });
}

} // namespace ptxasw::synth
