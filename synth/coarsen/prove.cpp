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
// Where copies part at the end of a row, those that have ended may stay with the others, which go
// through straight code under predicates (predicated.cpp). In versions `skewed` copies take turns
// in stretches of straight code, and are together again behind them (prove_stretch.cpp).
//
// Versions `tall` are launched in blocks of any number of rows. A kernel of which nothing but the
// global index along y matters, and how many rows there are, does the same in blocks of one row
// (resize/reshape.cpp); the claim is about that launch. The version's thread of row r in whichever
// block is beside block r along y, since of its own place along y it reads nothing but r. Those
// rows that its grid has to spare end before they do anything, which is shown.
//
// In versions `once` of loops over the grid, the branches to another iteration lead on to where the
// loop ends (emulator/facts/grid_iterations.h): the kernel is the one with such branches, whose
// threads do the same in a launch that the table allows.
//
// Instructions that shared.cpp shows to compute, whenever they run, the only value that a shared
// register ever gets (Sharing::done_first()) stand once at the entry and nowhere else: the register
// then always holds what the kernel's does or will.
//
// A copy that is alone runs on its own registers, which no other copy writes, and on the shared
// ones. One of these that is still of use where lockstep was left, to this copy or to one that
// waits, is either written nowhere from there on, or has a stand-in, to which it is moved when each
// copy's turn comes. The copy may also run instructions again that give its registers what they
// hold (recompute.cpp). Of many copies, one code may be there for all that are alone
// (alone_at_once()): they run on stand-ins of all registers that copies do not share, one copy
// after the other, with an index of their own in place of %ctaid, and nothing writes the registers
// of those that wait.
//
// Barriers and shared memory, of blocks that stay whole. A step together at a barrier is one
// barrier of the sibling's, and stands for one of each copy; alone, each copy has its own. The
// threads of a block come to the sibling's barriers alike (emulator/facts/convergence_points.cpp),
// so whenever one of them is passed, all threads of the copies concerned are at the same one of the
// kernel's. The lanes of a warp come alike to what they exchange, too, once for each copy: lane for
// lane they are there what the kernel's are, so each gets what the kernel's lane gets. Between two
// of them, what several threads of a copy do to its shared memory is ordered by nothing but each
// thread's own order, which is kept, so any interleaving with other copies is one that the block
// could have had by itself: a copy's instructions touch only its own variables (allocations.cpp),
// those in local memory among them, checked here to be other ones for each copy, of the same size,
// or parts of the dynamic memory, of which the table has launches ask for K times as much, each as
// large as the kernel's at least. Where copies part while barriers follow and other threads may be
// in lockstep, they do not go on to their ends: from this branch each goes alone, one after the
// other, to where all ways meet, with no barrier before it; no register that copies share is
// written there, so all are together again.
//
// What belongs to a call (analysis/call_groups.h) stands for a copy as a whole, so no other copy's
// arguments come between, and what it gives goes to registers that the copy has for itself. With
// the same arguments it gives what it gives in the kernel, does nothing that other blocks wait for,
// and ends the launch where the kernel's would, once it has been printed which block fails.
//
// So every copy does what its block did, once, up to its end, and nothing else is done: what is
// neither a copy's instruction nor added code that replay.cpp understands stops the proof. Copies'
// instructions are compared as texts: the kernel's, with other names for what the copy has of its
// own (coarsening.cpp). Registers of different names are different ones; what stands in place of a
// special register is shown to hold what the copy's thread has there; and no name that stays may be
// one that the sibling gives to something else.

#include "emulator/facts/global_index.h"
#include "synth/coarsen/prove_texts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>

namespace ptxasw::synth {
namespace {

/// The proof of one sibling from its text. Throws proof::NotProved where it stops.
class CoarsenProof : CoarsenTexts {
public:
  using CoarsenTexts::CoarsenTexts;

  void run() {
    proof::show(!sharing_.meetings().torn(sharing_.regions()),
                "lanes of a warp may part before what they do together");
    enter();
    while (!pending_.empty()) {
      const auto [mine, theirs] = pending_.back();
      pending_.pop_back();
      step_together(mine, theirs);
    }
  }

private:
  using Pair = std::pair<Position, Position>; ///< the sibling's and the kernel's
  using Pairs = std::set<Pair>;

  /// Where added code ends, and what registers hold there.
  struct Place : ReplayEnd {
    ReplayState state;
  };
  Place replay(Position mine, ReplayState state, const Known &known) const {
    const auto end = replay_.run(mine, state, known);
    require(end.has_value(), mine, "added code is not understood");
    return {*end, std::move(state)};
  }

  // --- What stands in place of special registers, as expressions over those of the sibling's
  // thread, and which copies lie within the kernel's grid ---

  Expr number(std::uint32_t value) { return pool_.constant(32, value); }
  Expr times(Expr value, unsigned factor) { return pool_.mul(value, number(factor)); }
  /// A thread's number along an axis, in all of the launch.
  Expr global_index(char axis) {
    const auto special = [&](const char *what) {
      return replay_.special(fmt::format("%{}.{}", what, axis));
    };
    return pool_.add(pool_.mul(special("ctaid"), special("ntid")), special("tid"));
  }

  /// Whether the sibling's thread is the first one along x.
  Expr is_first() { return pool_.eq(global_index('x'), number(0)); }
  /// Whether a row of a version `tall`, or the first of them, lies within the grid.
  Expr is_inside() { return pool_.ult(instead_of("%ctaid.y", 0), instead_of("%nctaid.y", 0)); }

  /// That so many of the sibling's blocks lie within the grid, the first ones.
  Known known_inside(unsigned count) {
    Known known(pool_);
    for (unsigned row = 0; form_.divides_grid() && row < form_.copies; ++row)
      known.assume(
          pool_.ult(instead_of(form_.index(), row * form_.along_x), instead_of(form_.extent(), 0)),
          row < count);
    return known;
  }

  /// What a copy has in place of a special register.
  Expr instead_of(std::string_view special, unsigned copy) {
    const std::size_t appended = kernel_.parameters.size();
    const bool is_row = form_.tall && special == "%ctaid.y"; // in blocks of several
    if (form_.copies > 1 && special == form_.index())
      return pool_.add(times(is_row ? global_index('y') : replay_.special(special), form_.copies),
                       number(form_.row_of(copy)));
    if (form_.copies > 1 && special == form_.extent())
      return form_.within_block() ? times(replay_.special(special), form_.copies)
                                  : replay_.parameter(appended);
    // A row is a block of one row, a point is a block of one thread.
    if (special.starts_with("%ntid") || special.starts_with("%tid"))
      return number(special.starts_with("%ntid"));
    if (special == "%ctaid.y")
      return global_index('y');
    if (special == "%nctaid.y")
      return pool_.mul(replay_.parameter(appended + form_.divides_grid()),
                       replay_.parameter(appended + form_.divides_grid() + 1));
    const Expr points =
        times(pool_.mul(replay_.special("%nctaid.x"), replay_.special("%ntid.x")), form_.along_x);
    if (special == "%nctaid.x")
      return points;
    const unsigned column = form_.column_of(copy);
    const Expr place = number(column - form_.shift);
    const Expr own = pool_.add(times(global_index('x'), form_.along_x), place);
    // What would be negative in the first thread, from the end.
    return column < form_.shift ? pool_.ite(is_first(), pool_.add(points, place), own) : own;
  }

  static bool holds(const ReplayState &state, RegisterId reg, Expr value) {
    const auto found = state.find(reg);
    return found != state.end() && found->second == value;
  }

  /// What has the names that stand in place of special registers for a copy.
  void require_place(const ReplayState &state, const Renaming &names, unsigned k, Position mine) {
    for (const auto &[special, name] : names.specials)
      require(holds(state, named(name), instead_of(special, k)), mine, "not the place of a copy");
  }

  /// What has those of dynamic shared memory.
  void check_begins() {
    proof::show(dynamic_.empty() || std::has_single_bit(copies_), "not the parts of the memory");
    const Expr part = pool_.lshr(replay_.special("%dynamic_smem_size"),
                                 number(static_cast<unsigned>(std::countr_zero(copies_))));
    const Expr size = pool_.bit_and(part, number(~(dynamic_part - 1)));
    for (unsigned k = 1; k < copies_; ++k)
      for (std::size_t allocation = 0; allocation < dynamic_.size(); ++allocation)
        proof::show(holds(known_, named(CoarsenNames::begin(allocation, k)),
                          pool_.add(times(size, k), replay_.begin(dynamic_[allocation].index))),
                    "not the part of a copy");
  }

  // --- The entry ---

  void enter() {
    const auto first_jump = static_cast<Position>(
        std::find_if(sibling_.instructions.begin(), sibling_.instructions.end(),
                     [&](const Instruction &one) { return is_way(module_.opcode(one)); }) -
        sibling_.instructions.begin());
    const auto writers = KernelContext(module_, sibling_).only_writers();
    // From the entry on, for a thread whose row is one of the kernel's; others end at once.
    Known inside(pool_), beyond(pool_);
    if (form_.tall) {
      beyond.assume(is_inside(), false);
      inside.assume(is_inside(), true);
      require(replay(0, {}, beyond).exit, 0, "a row beyond the grid does something");
    }
    const Place start = replay(0, {}, inside);
    require(!start.exit, start.position, "the thread ends at once");
    // What the straight line at the entry leaves in registers that are written nowhere else.
    for (const auto &[reg, value] : start.state)
      if (writers[reg] < first_jump)
        known_.emplace(reg, value);
    for (unsigned k = 0; k < copies_; ++k)
      require_place(known_, together_[k], k, start.position);
    check_begins();
    Position mine = start.position;
    for (Position theirs = 0; theirs < count(); ++theirs)
      if (first_[theirs])
        require_clone(theirs, mine++, together_[0]);
    // The sibling's grid being the kernel's divided and rounded up, its first block is inside.
    for (unsigned rows = 1; form_.divides_grid() && rows < form_.copies; ++rows) {
      const Known known = known_inside(rows);
      one_by_one(replay(mine, known_, known), 0, rows * form_.along_x, known);
    }
    Known all = known_inside(form_.copies);
    if (form_.shift > 0 && !first_stays_) { // the first thread's points are not beside each other
      Known first = all;
      first.assume(is_first(), true);
      one_by_one(replay(mine, known_, first), 0, copies_, nothing_);
      all.assume(is_first(), false);
    }
    arrive_together(replay(mine, known_, all), 0);
  }

  // --- Together: each instruction for each copy, or once for all, a mov in place of a load that
  // another copy has done, one wide access for several; branches lead on together, or part them ---

  /// All copies go on at `theirs`, the sibling at `mine`: the pair is to be examined.
  void go_on_together(Position mine, Position theirs) {
    arrive_together(replay(mine, known_, nothing_), theirs);
  }

  void arrive_together(const ReplayEnd &end, Position theirs) {
    theirs = skip_kernel(theirs);
    require(end.exit == (theirs == count()), end.position, "the thread ends elsewhere");
    if (!end.exit && seen_together_.insert({end.position, theirs}).second)
      pending_.emplace_back(end.position, theirs);
  }

  void step_together(Position mine, Position theirs) {
    if (is_way(opcode(theirs))) {
      if (!shared_[instruction(theirs).guard] && copies_ > 1)
        return branch_by_all(mine, theirs);
      go_on_together(require_branch(theirs, mine, together_[0]), target_of(theirs));
      return go_on_together(mine + 1, theirs + 1);
    }
    if (const CallGroup *group = calls_.of(theirs)) {
      require(theirs == group->first, mine, "the midst of a call");
      for (unsigned k = 0; k < copies_; ++k)
        mine = require_call(mine, *group, together_[k]);
      return go_on_together(mine, group->end);
    }
    const SkewedStretch *const stretch = skew_.around(theirs);
    const Position end = stretch ? stretch->end : theirs + 1;
    for (const WideTest &test : plan_.tests)
      if (test.instruction == theirs)
        mine = require_test(mine, test);
      else
        require(test.instruction < theirs || test.instruction >= end, mine,
                "a test inside a stretch");
    go_on_together(by_copies(mine, theirs, end, stretch != nullptr), end);
  }

  /// What the added code may write and forget.
  bool is_control(RegisterId reg, ScalarType type) const {
    return reg != no_register && is_control_[reg] && sibling_.registers[reg].type == type &&
           !known_.contains(reg);
  }

  /// Lockstep is left unless two copies' addresses are as far apart as the plan says.
  Position require_test(Position mine, const WideTest &test) {
    require(mine + 2 < sibling_.instructions.size(), mine, "an instruction is missing");
    const Instruction &branch = sibling_.instructions[mine + 2];
    const auto target = branch_target(module_, sibling_, branch);
    require(target && !branch.guard_negated && is_control(branch.guard, ScalarType::pred) &&
                is_control(named(CoarsenNames::distance), ScalarType::b64),
            mine + 2, "the test does not decide");
    require_lines(mine,
                  {difference(test),
                   fmt::format("setp.ne.s64 {}, {}, {}", sibling_.registers[branch.guard].name,
                               CoarsenNames::distance, test.distance)},
                  "not the test of a distance");
    leave(replay(*target, known_, nothing_), test.instruction);
    return mine + 3;
  }

  void branch_by_all(Position mine, Position theirs) {
    ReplayState before = known_;
    Expr all = pool_.constant(1, 1), any = pool_.constant(1, 0);
    for (unsigned k = 0; k < copies_; ++k) {
      const RegisterId guard = of(together_[k], instruction(theirs).guard);
      require(guard != no_register, mine, "a copy's predicate is not asked");
      const auto [held, added] = before.try_emplace(guard, replay_.held(guard));
      all = added ? pool_.bit_and(all, held->second) : all;
      any = added ? pool_.bit_or(any, held->second) : any;
    }
    // Where copies that have ended stay, the first thread along x goes another way if not all of
    // its copies are led on.
    const bool asks_first = predicated_.contains(theirs) && first_stays_;
    for (const auto &[in_all, in_any] :
         {std::pair(false, false), std::pair(false, true), std::pair(true, true)})
      for (const bool first : {false, true}) {
        if (first && !asks_first)
          continue;
        Known known(pool_);
        known.assume(all, in_all);
        known.assume(any, in_any);
        if (asks_first)
          known.assume(is_first(), first);
        const Place end = replay(mine, before, known);
        const bool part = in_any && !in_all;
        const bool is_led = in_all != instruction(theirs).guard_negated;
        if (predicated_.contains(theirs) && (part || (first && !is_led)))
          under_predicates(end, theirs);
        else if (!part)
          arrive_together(end, is_led ? target_of(theirs) : theirs + 1);
        else if (const DivergentRegion *region = sharing_.divergent_region(theirs))
          meet_again(end, *region);
        else
          leave(end, theirs);
      }
  }

  /// Copies that have ended stay with the others in a stretch.
  void under_predicates(const ReplayEnd &end, Position branch) {
    require(!end.exit, end.position, "a copy is not finished");
    go_on_together(require_lines(end.position, predicated_lines(branch),
                                 "not what the copies do that have not ended"),
                   predicated_.at(branch));
  }

  /// The copies part, and each goes alone to where they meet.
  void meet_again(const ReplayEnd &end, const DivergentRegion &region) {
    require(!end.exit, end.position, "a copy is not finished");
    const std::vector<bool> written = written_in(module_, kernel_, region.inside, first_);
    for (RegisterId reg = 0; reg < written.size(); ++reg)
      require(!written[reg] || !sharing_.by_some()[reg], end.position,
              "a register that the copies share is written by one");
    Position mine = end.position;
    for (unsigned k = 0; k < copies_; ++k) {
      Way way;
      mine = one_copy(mine, region.branch, together_[k], &region, way);
    }
    go_on_together(mine, region.end);
  }

  /// The copies part. What was added may test things again that only held there.
  void leave(Place end, Position theirs) {
    std::erase_if(end.state, [&](const auto &entry) {
      return entry.second->width == 1 && !known_.contains(entry.first);
    });
    one_by_one(std::move(end), theirs, copies_, nothing_);
  }

  // --- Alone: a copy's instructions under its own renaming, its way to where copies that part meet
  // again or to its end, and which copy comes next ---

  /// The first `count` copies go on from `theirs` to their ends, one after the other, beginning at
  /// `end`.
  void one_by_one(Place end, Position theirs, unsigned count, const Known &known) {
    const auto live = recomputation_.needed(theirs);
    const auto again = recomputation_.at(theirs);
    const auto written =
        written_in(module_, kernel_, reachable_from(module_, kernel_, {theirs}), first_);
    for (unsigned k = 0; k < count; ++k) {
      require(!end.exit, end.position, "a copy is not finished");
      std::vector<std::string> moves; // of what this copy runs on and lockstep may not keep
      for (const RegisterId reg : live) {
        const bool is_shared = sharing_.by_some()[reg]; // and another copy may still want it
        const std::string &fast = together_[k].registers[reg], &own = alone_[k].registers[reg];
        if (own == fast)
          require(!is_shared || !written[reg], end.position,
                  "a register that the copies share is not kept");
        else if (!recomputation_.gives(again, reg))
          moves.push_back(move(own, fast, kernel_.registers[reg].type));
      }
      end = replay(require_lines(end.position, moves, "a copy's register is not taken over"),
                   end.state, known);
      require_place(end.state, alone_[k], k, end.position);
      // What gives registers of this copy the values that they have already.
      Position mine = end.position;
      for (const Position position : again)
        require_clone(position, mine++, alone_[k]);
      end = replay(mine, end.state, known);
      require(!end.exit, end.position, "a copy is not finished");
      require_place(end.state, alone_[k], k, end.position);
      const auto next = end.state.find(named(CoarsenNames::next));
      require(next != end.state.end(), end.position, "what comes after a copy is not known");
      const Position after =
          one_copy(end.position, theirs, alone_[k], nullptr, alone_ways_[lone_code(k)]);
      ReplayState later = known_;
      later.insert_or_assign(next->first, next->second);
      end = replay(after, later, known);
    }
    require(end.exit, end.position, "more is done than the copies do");
  }

  /// How one code of a copy that goes on alone was walked through.
  struct Way {
    Pairs seen;
    std::optional<Position> after; ///< where it goes at its end
  };

  /// One copy from a pair of positions to the end of a divergent region, or without one to its own
  /// end: what comes after that.
  Position one_copy(Position mine, Position theirs, const Renaming &names,
                    const DivergentRegion *region, Way &way) const {
    std::vector<Pair> open;
    const auto add = [&](Position m, Position t) {
      const auto skipped = replay_.skip(m);
      require(skipped.has_value(), m, "a loop without an end");
      t = skip_kernel(t, true, region);
      if (t == (region ? region->end : count())) {
        require(way.after.value_or(*skipped) == *skipped, m, "a copy ends elsewhere");
        way.after = *skipped;
        return;
      }
      require(!region || (t < count() && region->inside[t]), m, "the way leads elsewhere");
      if (way.seen.insert({*skipped, t}).second)
        open.emplace_back(*skipped, t);
    };
    add(mine, theirs);
    while (!open.empty()) {
      const auto [m, t] = open.back();
      open.pop_back();
      const bool is_barrier = (opcode(t).op == Op::bar || opcode(t).op == Op::barrier) &&
                              !opcode(t).has(Modifier::warp);
      require(!region || !is_barrier, m, "a barrier on the way of one copy");
      if (const CallGroup *group = calls_.of(t)) {
        require(t == group->first && (!region || region->inside[group->end - 1]), m,
                "the midst of a call");
        add(require_call(m, *group, names), group->end);
        continue;
      }
      if (is_way(opcode(t)))
        add(require_branch(t, m, names), target_of(t));
      else
        require_clone(t, m, names);
      add(m + 1, t + 1);
    }
    require(way.after.has_value(), mine, "a copy never ends");
    return *way.after;
  }

  const Known nothing_{pool_}; ///< is taken for granted
  ReplayState known_;          ///< what registers hold everywhere
  std::vector<Pair> pending_;  ///< pairs of steps together
  Pairs seen_together_;
  std::array<Way, max_copies> alone_ways_; ///< by code
};

} // namespace

proof::Proved prove_coarsen(const KernelContext &kernel, const Function &sibling,
                            const Proposal &proposal) {
  using proof::show;
  return proof::proved([&] {
    // What the table says is what is proved.
    const Sibling &claim = proposal.sibling;
    CoarsenForm form = coarsen_form(claim);
    const unsigned points = form.along_x;
    show(form.copies <= max_coarsen_factor && points <= max_along_x && form.total() <= max_copies &&
             std::has_single_bit(points) &&
             (form.wide ? points == 1 || form.copies == 1 || form.axis != 0 : form.copies > 1) &&
             (form.kind != CoarsenForm::Kind::rows || form.axis != 0) &&
             (!form.skewed || (form.wide && form.copies > 1)),
         "no form that is understood");
    Sibling own = coarsened(kernel, form);
    own.name = claim.name;
    own.family = claim.family;
    if (form.wide) { // what the plan of wide accesses may rely on
      own.needs.aligned = claim.needs.aligned;
      own.needs.divisible = claim.needs.divisible;
      own.needs.bounded = claim.needs.bounded;
    }
    show(own == claim, "the table does not say what is proved");
    show(!form.once || !rounds_over_grid(kernel).empty(), "no loop over the grid has one round");
    const bool whole = form.kind == CoarsenForm::Kind::apart && points == 1 && !form.wide;
    const auto obstacles = coarsen_obstacles(kernel, whole ? Blocks::whole : Blocks::spread);
    show(obstacles.empty(), obstacles.empty() ? "" : obstacles.front().meaning);
    show((!form.within_block() && points == 1) || may_be_spread(kernel),
         "the threads of a block must not be spread differently");
    show(points == 1 || !facts::block_shape_shows(kernel.module, kernel.kernel),
         "more than the global index along x matters");
    show(!form.tall || (may_be_tall(kernel) && !form.within_block() &&
                        (!form.divides_grid() || form.kind == CoarsenForm::Kind::rows)),
         "more than the global index along y matters, or rows of a block are not rows of the grid");
    form.shift = wide_shift(kernel, points);
    WidePlan plan;
    if (form.wide)
      plan = WidePlanner(kernel, form).plan(claim.needs);
    CoarsenProof(kernel, sibling, form, std::move(plan)).run();
  });
}

} // namespace ptxasw::synth
