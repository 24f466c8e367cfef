// The proof of a kernel whose blocks have another extent along x, from its text.
//
// Let N be the threads of the kernel's launch along x, grid times block, fewer than 2^31 of them
// (the table demands it), and B the other extent. The kernel's thread with the global index g,
// which is ctaid.x * ntid.x + tid.x, is the one with that index in the version: there is one for
// each g below N, since the grid has N / B blocks, rounded up, and no index wraps around. Both have
// the same place along y and z, whose extents are the same. Along x the kernel computes
// (emulator/facts/global_index.cpp)
//
//   - with the global index, which is g in both;
//   - with gridDim.x * blockDim.x: N in the kernel, and in the version N too, if B divides N; only
//     then is a kernel that asks for it proved. So the version's threads are exactly the N, and its
//     body is the kernel's, to the letter;
//   - with nothing else.
//
// A kernel that does not ask may have threads to spare in the last block, with indices of N and
// more. The version begins by computing g and N = grid * block from the two parameters that the
// table has appended, and those threads end there, before the kernel's own body, which follows to
// the letter in a scope of its own. What was added writes registers that the body does not name.
//
// So for each thread of the kernel one of the version takes the same steps on the same values, and
// no other does anything. Which threads share a block or a warp is another matter now: nothing in
// the kernel can tell (spread_obstacle(), independence(): no shared memory, barriers, votes,
// shuffles, lanes, clocks, no branch on which lanes must agree), and without data races the order
// of threads changes nothing that they leave.

#include "synth/resize/resize.h"

#include "synth/prove/header.h"
#include "synth/same_launch.h"

#include <span>

namespace ptxasw::synth {
namespace {

using proof::show;

constexpr std::uint32_t most_threads = 1024; ///< of a block

} // namespace

proof::Proved prove_resize(const KernelContext &context, const Function &sibling,
                           const Proposal &proposal) {
  const Module &written = context.module;
  const Function &kernel = context.kernel;
  return proof::proved([&] {
    const auto obstacle = resize_obstacle(context);
    show(!obstacle, obstacle ? obstacle->meaning : "");
    const std::uint32_t extent = proposal.sibling.extent[0];
    const bool exact = proposal.sibling.needs.extent_multiple[0] != 1;
    Sibling claim = resized(extent, exact);
    claim.name = proposal.sibling.name;
    show(extent != 0 && extent <= most_threads && proposal.sibling == claim,
         "the table does not say what is proved");
    show(exact || !counts_threads(written, kernel), "the number of threads would be another");
    check_same_header(written, kernel, written, sibling,
                      {.parameters = 2, .instructions = exact ? 0 : resized_instructions});
    proof::check_names(written, kernel, sibling);
    const auto appended = std::span(sibling.parameters).subspan(kernel.parameters.size());
    show(written.text(sibling.body) ==
             (exact ? written.text(kernel.body)
                    : resized_body(written, kernel, appended[0].name, appended[1].name)),
         "its body is another");
  });
}

} // namespace ptxasw::synth
