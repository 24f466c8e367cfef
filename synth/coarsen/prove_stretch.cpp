// In a stretch (skew.h) the claim is another one:
//
//   copy k stands before instruction i_k of the kernel, and each of the version's registers for
//     copy k holds what the kernel's register holds there.
//
// At its beginning all stand together, and at its end all must again. A line, or some, must be what
// stands for one instruction of a copy. The copies that it is done for must all stand there, and
// are those that have the registers that it writes; then the claim holds for them behind the
// instruction, and for the others as before, as none of their registers is written. So each copy's
// instructions come in their order, and those of different copies in any: copies are different
// blocks, or threads of one that do not see each other, so every interleaving is one that the
// kernel could have had. Nothing is asked of the order that the writer had in mind.
//
// A load may be a mov from a register of a wide load, of the same address (copies.cpp): for its
// copy it was done at that time. That may be so if the copy has not stored since, and it has not
// stored in this stretch before the load; and if the register was filled in this stretch, of which
// all copies do all. Both is looked at here, line by line. Nothing else writes such a register, and
// each copy does the load that fills it once. Loads that are a mov from another copy's own
// register, which goes on changing, are none in a stretch (coarsening.cpp).
//
// What an access of one copy addresses may be said by another copy's register and how many bytes
// lie between (wide.cpp): by what that copy has before the same instruction of its own. So between
// where it stands and there nothing may write the register.

#include "synth/coarsen/prove_stretch.h"

#include "grammar/roles.h"

#include <algorithm>

namespace ptxasw::synth {

/// Copy k stands at an instruction, or behind what was done at the entry.
void CoarsenStretches::arrive(Walk &walk, unsigned k, Position at, Position end) const {
  while (at < end && first_[at])
    ++at;
  walk.next[k] = at;
  walk.lines[k].reset();
  if (at < end && sharing_.keeper(kernel_.instructions[at], k) == k)
    walk.lines[k] = lines_of(at, k);
}

/// The copies for which the next lines of copy k are done.
std::vector<unsigned> CoarsenStretches::sharers(const Walk &walk, unsigned k) const {
  const Instruction &own = kernel_.instructions[walk.next[k]];
  std::vector<unsigned> all;
  for (unsigned other = 0; other < copies_; ++other)
    if (sharing_.keeper(own, other) == k || (other > k && other < k + walk.lines[k]->copies))
      all.push_back(other);
  return all;
}

/// Do copy k's next lines stand there, and are all there for whom they are done?
bool CoarsenStretches::is_here(Position mine, const Walk &walk, unsigned k) const {
  if (!walk.lines[k])
    return false;
  for (const std::string &line : walk.lines[k]->text)
    if (!has_text(mine++, line))
      return false;
  const std::vector<unsigned> all = sharers(walk, k);
  return std::all_of(all.begin(), all.end(),
                     [&](unsigned other) { return walk.next[other] == walk.next[k]; });
}

/// A copy's register for the address of an access holds what it does where the copy stands before
/// that.
void CoarsenStretches::require_address(Position mine, const Walk &walk, unsigned k,
                                       Position at) const {
  const RegisterId base = wide_address(module_, kernel_, at).base;
  const auto [first, end] = std::minmax(walk.next[k], at);
  for (Position i = first; i < end; ++i)
    for (const RegisterId reg : written_registers(module_, kernel_.instructions[i]))
      require(reg != base, mine, "an address is not that of another copy");
}

/// What they do.
void CoarsenStretches::pass(Position mine, Walk &walk, unsigned k) const {
  const Position at = walk.next[k];
  const Instruction &own = kernel_.instructions[at];
  const Op op = module_.opcode(own).op;
  const Lines &lines = *walk.lines[k];
  const std::vector<unsigned> all = sharers(walk, k);
  require(own.well_formed, mine, "an instruction of the kernel is not understood");
  for (const unsigned by : lines.addressed_by)
    require_address(mine, walk, by, at);
  walk.filled.insert(lines.filled.begin(), lines.filled.end());
  if (lines.part)
    for (const unsigned other : all)
      require(!walk.has_stored[other], mine, "a load is not done behind a store");
  if (lines.part)
    require(walk.filled.contains(*lines.part), mine, "a wide load is not done yet");
  for (const RegisterId reg : written_registers(module_, own)) {
    const unsigned keeper = sharing_.keeper(reg, k);
    for (unsigned other = 0; other < copies_; ++other)
      require(sharing_.keeper(reg, other) != keeper ||
                  std::find(all.begin(), all.end(), other) != all.end(),
              mine, "a register of another copy is written");
  }
  for (const unsigned other : all)
    walk.has_stored[other] = walk.has_stored[other] || op == Op::st;
}

CoarsenStretches::Position CoarsenStretches::in_any_order(Position mine, Position theirs,
                                                          const SkewedStretch &stretch) const {
  for (const WideTest &test : plan_.tests)
    require(test.instruction <= theirs || test.instruction >= stretch.end, mine,
            "a test inside a stretch");
  Walk walk;
  walk.next.resize(copies_);
  walk.lines.resize(copies_);
  walk.has_stored.resize(copies_, false);
  for (unsigned k = 0; k < copies_; ++k)
    arrive(walk, k, theirs, stretch.end);
  while (true) {
    unsigned k = 0;
    while (k < copies_ && !is_here(mine, walk, k))
      ++k;
    if (k == copies_)
      break;
    const auto lines = static_cast<Position>(walk.lines[k]->text.size());
    pass(mine, walk, k);
    mine += lines;
    const Position next = walk.next[k] + 1;
    for (const unsigned other : sharers(walk, k))
      arrive(walk, other, next, stretch.end);
  }
  for (unsigned k = 0; k < copies_; ++k)
    require(walk.next[k] == stretch.end, mine, "not what any copy does there");
  return mine;
}

} // namespace ptxasw::synth
