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
//     and neither body has the name of a register with the place, which it could write.
//
// That threads are in other blocks and warps than the sibling's would be is of no matter to a
// kernel whose threads do not see each other's (spread_obstacle(): no barriers, no collectives, no
// shared memory, nothing that asks where it runs), and neither is that some end early.
//
// All of it is, byte for byte, what write_in_kernel() makes of the kernel and its sibling, with
// names that neither has and that hide nothing; anything else is not understood.

#include "synth/in_kernel/in_kernel.h"
#include "synth/prove/header.h"
#include "synth/spread.h"

#include <fmt/core.h>

namespace ptxasw::synth {
namespace {

using proof::show;

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
    show(replaced.module.text(replaced.kernel.body) ==
             write_in_kernel(kernel.module, kernel.kernel, form, *arm),
         "something else than what must be there");
    proof::check_names(replaced.module, kernel.kernel, replaced.kernel);
  });
}

} // namespace ptxasw::synth
