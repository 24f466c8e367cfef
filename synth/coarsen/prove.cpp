// The proof of a re-tiled kernel, from its text.
//
// Let the sibling's block b run beside the kernel's blocks b*K .. b*K+K-1, thread by thread with
// the same tid; of kind "neighbours", thread t of a block beside threads t*K .. t*K+K-1 of the same
// block, which is K times as long. What follows speaks of blocks, and holds for threads with %tid
// in place of %ctaid and %ntid in place of %nctaid. The claim is a relation between the two that
// holds at every step:
//
//   together at instruction i: all K copies stand before instruction i of the kernel, and each of
//     the sibling's registers for copy k holds what the kernel's register holds there;
//   alone at instruction i: the same for one copy k, except that registers that shared.cpp shows to
//     be the same in all copies may have a stand-in; copies below k have ended, those above stand
//     where lockstep was left, with the registers that are of use to them untouched.
//
// It holds at the start, and what is shown is that every step keeps it. The sibling is walked
// beside the kernel, from its entry, over pairs of positions. In a step together each instruction
// of the kernel must be there once for each copy, in order, spelled the same under the copy's
// renaming with %ctaid as b*K+k and %nctaid as the kernel's grid; or once for all, where it writes
// only shared registers, or for each row or column of copies that share them. (As the copies'
// registers are different ones, the order of instructions of different copies matters to memory
// alone, and there it is free, since the blocks are independent, which is checked again here.) At a
// branch by a predicate that may differ, the added code is run for three outcomes: taken by all,
// and by none, must lead on together, by some to copy 0 alone at that branch, and from the end of
// copy k to copy k+1, to the end after the last. Lockstep may be left anywhere in that way. The
// entry is such a place, too: for each number of blocks that lie inside the grid, exactly these
// must run.
//
// In versions `once` of loops over the grid, the branches back to another round are never taken in
// a launch that the table allows (rounds.cpp): the kernel is the one without them, whose threads do
// the same in such launches.
//
// Instructions that shared.cpp shows to compute, whenever they run, the only value that a shared
// register ever gets (done_first()) stand once at the entry and nowhere else: the register then
// always holds what the kernel's does or will.
//
// A copy that is alone runs on its own registers, which no other copy writes, and on the shared
// ones. One of these that is still of use where lockstep was left, to this copy or to one that
// waits, is either written nowhere from there on, or has a stand-in that is filled from it when
// each copy's turn comes. The copy may also run instructions again that give its registers what
// they hold (recompute.cpp). Of many copies, one code may be there for all that are alone
// (alone_at_once()): they run on stand-ins of all registers that copies do not share, one copy
// after the other, with an index of their own in place of %ctaid. What is of use where lockstep was
// left is moved there when a copy's turn comes, and nothing writes the registers of those that
// wait.
//
// Barriers and shared memory, of blocks that stay whole. A step together at a barrier is one
// barrier of the sibling's, and stands for one of each copy; alone, each copy has its own. The
// threads of a block come to the sibling's barriers alike (emulator/facts/meeting.cpp), so whenever
// one of them is passed, all threads of the copies concerned are at the same one of the kernel's.
// The lanes of a warp come alike to what they exchange, too, once for each copy: lane for lane they
// are there what the kernel's are, so each gets what the kernel's lane gets. Between two of them,
// what several threads of a copy do to its shared memory is ordered by nothing but each thread's
// own order, which is kept, so any interleaving with other copies is one that the block could have
// had by itself: a copy's instructions touch only its own variables (rooms.cpp), those in local
// memory among them, checked here to be
// other ones for each copy, of the same size, or parts of the dynamic memory, of which the table
// has launches ask for K times as much, each as large as the kernel's. Where copies part while
// barriers follow and other threads may be in lockstep, they do not go on to their ends: from this
// branch each goes alone, one after the other, to where all ways meet, with no barrier before it;
// no register that copies share is written there, so all are together again.
//
// What belongs to a call (synth/calls.h) stands for a copy as a whole, so no other copy's arguments
// come between, and what it gives goes to registers that the copy has for itself. With the same
// arguments it gives what it gives in the kernel, does nothing that other blocks wait for, and ends
// the launch where the kernel's would, with other words for the name of the function.
//
// So every copy does what its block did, once, up to its end, and nothing else is done: what is
// neither a copy's instruction nor added code that replay.cpp understands stops the proof. Copies'
// instructions are compared as texts: the kernel's, with other names for what the copy has of its
// own (coarsening.cpp). Registers of different names are different ones; what stands in place of a
// special register is shown to hold what the copy's thread has there; and no name that stays may be
// one that the sibling gives to something else.

#include "synth/coarsen/prove_together.h"

#include "emulator/facts/global_index.h"
#include "synth/prove/not_proved.h"

#include <fmt/core.h>

namespace ptxasw::synth {

std::string prove_coarsen(const KernelContext &kernel, const Function &sibling,
                          const Proposal &proposal) {
  using proof::show;
  return proof::fault_of([&] {
    // What the table says is what is proved.
    const Sibling &claim = proposal.sibling;
    auto form = coarsen_form(claim);
    show(form.has_value(), form ? "" : form.error());
    if (form->once) {
      const auto &rounds = rounds_over_grid(kernel);
      show(!rounds.empty() && claim.needs.covered == needs_of_rounds(rounds),
           "a loop over the grid may have another round");
      for (const GridRound &round : rounds)
        show(claim.needs.max_extent[round.need.axis] <= max_round_threads,
             "a loop's index may wrap around");
    }
    const bool whole = form->kind == CoarsenForm::Kind::apart && form->along_x == 1 && !form->wide;
    const auto obstacles = coarsen_obstacles(kernel, whole ? Blocks::whole : Blocks::spread);
    if (!obstacles.empty())
      throw proof::NotProved{
          fmt::format("the kernel must not be re-tiled: {}", obstacles.front().meaning)};
    const bool dynamic = !dynamic_rooms_of(kernel.module, kernel.kernel).empty();
    const std::uint32_t most =
        has_rooms(rooms_of(kernel.module, kernel.kernel), StateSpace::shared) ? 0 : 1;
    show(dynamic ? claim.needs.dynamic_shared == form->total() : claim.needs.dynamic_shared <= most,
         "a launch with dynamic shared memory may find too little");
    show(!asks_for_whole_rows(kernel) || claim.needs.blocks == whole_row_blocks(),
         "in other blocks lanes of a warp may come to what they do together by different ways");
    show((!form->within_block() && form->along_x == 1) || may_be_spread(kernel),
         "the threads of a block must not be spread differently");
    show(form->along_x == 1 || !facts::block_shape_shows(kernel.module, kernel.kernel),
         "more than the global index along x matters");
    form->shift = wide_shift(kernel, form->along_x);
    WidePlan plan;
    if (form->wide)
      plan = WidePlanner(kernel, *form).plan(claim.needs);
    CoarsenProof(kernel, sibling, *form, std::move(plan)).run();
  });
}

} // namespace ptxasw::synth
