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
// Instructions that shared.cpp shows to compute, whenever they run, the only value that a shared
// register ever gets (done_first()) stand once at the entry and nowhere else: the register then
// always holds what the kernel's does or will.
//
// A copy that is alone runs on its own registers, which no other copy writes, and on the shared
// ones. One of these that is still of use where lockstep was left, to this copy or to one that
// waits, is either written nowhere from there on, or has a stand-in that is filled from it when
// each copy's turn comes. The copy may also run instructions again that give its registers what
// they hold (recompute.cpp).
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

#include "synth/coarsen/prove_implementation.h"

#include "emulator/facts/global_index.h"
#include "emulator/semantics/effects.h"
#include "grammar/roles.h"
#include "synth/prove/header.h"

#include <algorithm>
#include <fmt/core.h>
#include <unordered_map>

namespace ptxasw::synth {

void CoarsenProof::check_header() const {
  if (std::string fault =
          proof::entry_fault(module_, kernel_, module_, sibling_, form_.divides_grid());
      !fault.empty())
    fail(std::move(fault));
  if (form_.divides_grid())
    if (const Variable &grid = sibling_.parameters.back();
        grid.type != ScalarType::u32 || grid.size() != 4 || grid.alignment > 4)
      fail("the appended parameter is not the grid's extent");
  if (sibling_.scopes.size() != 1 || !sibling_.target_lists.empty() ||
      !sibling_.return_parameters.empty())
    fail("it declares more than registers and variables");
  check_rooms();
  for (const Pragma &pragma : sibling_.pragmas)
    if (pragma.text != "nounroll")
      fail("a pragma is not known");
  // Its warps are not the kernel's, so nothing is known of what lanes agree on.
  for (Position i = 0; i < sibling_.instructions.size(); ++i)
    require(sibling_.instructions[i].guard == no_register ||
                !wants_agreement(module_.opcode(sibling_.instructions[i])),
            i, "a branch on which lanes must agree");
  // What bounds the block must be there as it was: more would refuse launches. A limit of the
  // registers changes nothing but the time.
  for (const PerformanceDirective &directive : sibling_.directives) {
    if (directive.name == "maxnreg")
      continue;
    const PerformanceDirective *const own_directive = kernel_.directive(directive.name);
    if (!own_directive || !std::equal(std::begin(directive.values), std::end(directive.values),
                                      std::begin(own_directive->values)))
      fail("a directive is not the kernel's");
  }
}

// A variable for each copy in place of each of the kernel's.
void CoarsenProof::check_rooms() const {
  std::size_t next = rooms_.size() * copies_ + passing_.size();
  for_each_said([&](const CallGroup &, unsigned) { ++next; });
  if (sibling_.variables.size() != next)
    fail("it has not one variable for each copy");
  if (!rooms_fit(rooms_, copies_))
    fail("it has too much shared or local memory");
  for (std::size_t i = 0; i < rooms_.size() * copies_; ++i) {
    const Variable &variable = sibling_.variables[i];
    const Room &room = rooms_[i / copies_];
    if (variable.name != room_name(i / copies_, static_cast<unsigned>(i % copies_)) ||
        variable.space != room.space || variable.linkage != Linkage::internal ||
        variable.size() != room.bytes || variable.initializer.size() != 0 ||
        variable.alignment % room.alignment != 0 || variable.alignment == 0)
      fail("a variable is not like the kernel's");
  }
  check_passing(rooms_.size() * copies_);
}

// A variable for each that the kernel passes to calls, from this one on, and what assertions say.
void CoarsenProof::check_passing(std::size_t next) const {
  for (const Variable &variable : sibling_.variables)
    for (const Function &function : module_.functions)
      if (function.name == variable.name)
        fail("a variable has the name of a function");
  for (std::size_t i = 0; i < passing_.size(); ++i, ++next) {
    const Variable &variable = sibling_.variables[next], &own = *module_.variable(passing_[i]);
    if (variable.name != CoarsenNames::passing(i) || variable.space != StateSpace::param ||
        variable.type != own.type || variable.vector != own.vector || own.vector != 1 ||
        variable.count != own.count || variable.is_array != own.is_array ||
        variable.alignment != own.alignment || variable.linkage != Linkage::internal ||
        variable.initializer.size() != 0)
      fail("a variable for arguments is not like the kernel's");
  }
  for_each_said([&](const CallGroup &group, unsigned k) {
    const Variable &variable = sibling_.variables[next++];
    const std::string text = said(group, k) + '\0';
    const auto is_one = [](const InitialValue &value, char one) {
      return value.symbol == no_index && value.bits == static_cast<unsigned char>(one);
    };
    if (variable.name != said_name(group, k) || variable.space != StateSpace::global ||
        variable.type != ScalarType::b8 || variable.vector != 1 || variable.has_rows ||
        variable.count != text.size() || variable.linkage != Linkage::internal ||
        !std::equal(variable.values.begin(), variable.values.end(), text.begin(), text.end(),
                    is_one))
      fail("not what an assertion says");
  });
}

void CoarsenProof::assign_roles() {
  for (RegisterId reg = 0; reg < sibling_.registers.size(); ++reg)
    if (!by_name_.try_emplace(sibling_.registers[reg].name, reg).second)
      fail("two registers have one name");
  proof::check_names(module_, kernel_, sibling_);
  using Kind = ReplayRole::Kind;
  const auto find = [&](const std::string &name, RegisterId kernel_register, Kind kind) {
    const RegisterId found = named(name);
    if (found == no_register)
      return no_register; // nothing mentions it
    const Register &own = kernel_.registers[kernel_register];
    const Register &here = sibling_.registers[found];
    if (own.type != here.type || own.vector != here.vector)
      fail("a register has another type");
    roles_[found] = {kind, kernel_register};
    return found;
  };
  fast_.resize(copies_);
  for (RegisterId reg = 0; reg < kernel_.registers.size(); ++reg) {
    for (unsigned k = 0; k < copies_; ++k)
      fast_[k].push_back(find(name_of(reg, k), reg, shared_[reg] ? Kind::shared : Kind::copy));
    own_.push_back(sharing_.by_some()[reg] ? find(names_.own(reg), reg, Kind::own) : no_register);
    has_own_[reg] = own_[reg] != no_register;
  }
  for (unsigned k = 0; k < copies_; ++k)
    alone_.push_back(renaming(k, true));
  next_ = named(CoarsenNames::next);
  for (std::size_t load = 0; load < plan_.loads.size(); ++load) {
    const WideLoad &wide = plan_.loads[load];
    for (unsigned e = 0; e < wide.elements; ++e) {
      const RegisterId reg = named(CoarsenNames::wide(load, e));
      const Register &value = kernel_.registers[wide_value(module_, kernel_, wide.at.instruction)];
      if (reg == no_register || sibling_.registers[reg].type != value.type ||
          sibling_.registers[reg].vector != 1)
        fail("a register of a wide load is missing");
      roles_[reg] = {Kind::wide};
    }
  }
}

void CoarsenProof::find_definitions() {
  definitions_.resize(sibling_.registers.size());
  for (Position i = 0; i < sibling_.instructions.size(); ++i)
    for_each_register(module_, sibling_.instructions[i], [&](RegisterId reg, RegisterUse use) {
      if (use != RegisterUse::read)
        definitions_[reg].push_back(i);
    });
}

void CoarsenProof::enter() {
  // What the straight line at the entry leaves in registers that are written nowhere else.
  Position first_jump = 0;
  while (first_jump < sibling_.instructions.size() && !is_jump(sibling_.instructions[first_jump]))
    ++first_jump;
  ReplayState state;
  const ReplayEnd start = replay(0, state, nothing_);
  require(!start.exit, start.position, "the thread ends at once");
  for (const auto &[reg, value] : state)
    if (definitions_[reg].size() == 1 && definitions_[reg][0] < first_jump)
      known_.emplace(reg, value);
  check_places();
  Position mine = start.position;
  for (Position theirs = 0; theirs < kernel_end(); ++theirs)
    if (first_[theirs])
      require_clone(theirs, mine++, together_[0]);
  // The sibling's grid being the kernel's divided and rounded up, its first block is inside.
  for (unsigned inside = 1; form_.divides_grid() && inside < form_.copies; ++inside) {
    ReplayState from = known_;
    const Known known = known_inside(inside);
    const ReplayEnd end = replay(mine, from, known);
    one_by_one(end, from, 0, inside * form_.along_x, known);
  }
  Known all = known_inside(form_.copies);
  if (form_.shift > 0) { // the first thread's points are not beside each other
    ReplayState from = known_;
    Known first = all;
    first.assume(is_first(), true);
    const ReplayEnd end = replay(mine, from, first);
    one_by_one(end, from, 0, copies_, nothing_);
    all.assume(is_first(), false);
  }
  ReplayState from = known_;
  arrive_together(replay(mine, from, all), 0);
}

// That so many of the sibling's blocks lie within the grid, the first ones.
Known CoarsenProof::known_inside(unsigned count) {
  Known known(pool_);
  for (unsigned row = 0; form_.divides_grid() && row < form_.copies; ++row)
    known.assume(
        pool_.ult(instead_of(form_.index(), row * form_.along_x), instead_of(form_.extent(), 0)),
        row < count);
  return known;
}

std::string prove_coarsen(const KernelContext &kernel, const Function &sibling,
                          const Proposal &proposal) {
  using proof::show;
  return proof::fault_of([&] {
    // What the table says is what is proved.
    const Sibling &claim = proposal.sibling;
    auto form = coarsen_form(claim);
    show(form.has_value(), form ? "" : form.error());
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
