// Straight code of all copies. In a skewed stretch (skew.h) the claim is another one:
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
// Elsewhere a stretch is one instruction, which copies do in their order: so a load may be a mov
// from another copy's register, too, and what all or some of them hold alike may be written once
// for each.
//
// What an access of one copy addresses may be said by another copy's register and how many bytes
// lie between (wide.cpp): by what that copy has before the same instruction of its own. So between
// where it stands and there nothing may write the register.

#include "synth/coarsen/prove_texts.h"

#include "grammar/roles.h"

#include <algorithm>
#include <set>

namespace ptxasw::synth {

class CoarsenTexts::Stretch {
public:
  Stretch(const CoarsenTexts &texts, Position begin, Position end, bool skewed)
      : of_(texts), end_(end), skewed_(skewed), copies_(texts.copies_) {
    for (unsigned k = 0; k < copies_.size(); ++k)
      arrive(k, begin);
  }

  Position run(Position mine) {
    while (const auto turn = whose_turn(mine)) {
      const auto &[k, behind] = *turn;
      const std::vector<unsigned> all = sharers(k);
      check(mine, k, all);
      const Position next = copies_[k].next + 1;
      for (const unsigned other : all)
        arrive(other, next);
      mine = behind;
    }
    for (const Copy &copy : copies_)
      of_.require(copy.next == end_, mine, "not what any copy does there");
    return mine;
  }

private:
  struct Copy {
    Position next = 0;          ///< its next instruction of the kernel
    std::optional<Lines> lines; ///< what stands for that; nothing: another copy does it
    bool has_stored = false;
  };

  /// Copy k stands at an instruction, or behind what was done at the entry.
  void arrive(unsigned k, Position at) {
    while (at < end_ && of_.first_[at])
      ++at;
    copies_[k].next = at;
    copies_[k].lines.reset();
    if (at < end_ && of_.sharing_.keeper(of_.instruction(at), k) == k)
      copies_[k].lines = of_.lines_of(at, k);
  }

  /// The copies for which the next lines of copy k are done.
  std::vector<unsigned> sharers(unsigned k) const {
    const Instruction &own = of_.instruction(copies_[k].next);
    std::vector<unsigned> all;
    for (unsigned other = 0; other < copies_.size(); ++other)
      if (of_.sharing_.keeper(own, other) == k ||
          (other > k && other < k + copies_[k].lines->copies))
        all.push_back(other);
    return all;
  }

  /// A copy whose next lines stand there, where all are for whom they are done, and what comes
  /// behind them.
  std::optional<std::pair<unsigned, Position>> whose_turn(Position mine) const {
    for (unsigned k = 0; k < copies_.size(); ++k) {
      const auto &[next, lines, has_stored] = copies_[k];
      const auto behind = lines ? of_.behind(mine, lines->text) : std::nullopt;
      if (behind && are_at(next, sharers(k)))
        return std::pair(k, *behind);
      if (!skewed_ && next != end_)
        break;
    }
    return std::nullopt;
  }

  bool are_at(Position next, const std::vector<unsigned> &copies) const {
    return std::all_of(copies.begin(), copies.end(),
                       [&](unsigned k) { return copies_[k].next == next; });
  }

  /// What copy k does next is right for all whom it is done for.
  void check(Position mine, unsigned k, const std::vector<unsigned> &all) {
    const auto &[at, lines, has_stored] = copies_[k];
    of_.require(of_.instruction(at).well_formed, mine,
                "an instruction of the kernel is not understood");
    for (const unsigned by : lines->addressed_by)
      check_address(mine, by, at);
    if (!skewed_)
      return;
    filled_.insert(lines->filled.begin(), lines->filled.end());
    of_.require(!lines->part || filled_.contains(*lines->part), mine,
                "a wide load is not done yet");
    for (const unsigned other : all) {
      of_.require(!lines->part || !copies_[other].has_stored, mine,
                  "a load is not done behind a store");
      copies_[other].has_stored |= of_.opcode(at).op == Op::st;
    }
    for (const RegisterId reg : written_registers(of_.module_, of_.instruction(at)))
      for (unsigned other = 0; other < copies_.size(); ++other)
        of_.require(of_.sharing_.keeper(reg, other) != of_.sharing_.keeper(reg, k) ||
                        std::find(all.begin(), all.end(), other) != all.end(),
                    mine, "a register of another copy is written");
  }

  /// A copy's register for the address of an access holds what it does where the copy stands before
  /// that.
  void check_address(Position mine, unsigned k, Position at) const {
    const RegisterId base = wide_address(of_.module_, of_.kernel_, at).base;
    const auto [first, end] = std::minmax(copies_[k].next, at);
    for (Position i = first; i < end; ++i)
      for (const RegisterId reg : written_registers(of_.module_, of_.instruction(i)))
        of_.require(reg != base, mine, "an address is not that of another copy");
  }

  const CoarsenTexts &of_;
  const Position end_;
  const bool skewed_;
  std::vector<Copy> copies_;
  std::set<std::size_t> filled_; ///< wide loads that were done
};

CoarsenTexts::Position CoarsenTexts::by_copies(Position mine, Position theirs, Position end,
                                               bool skewed) const {
  return Stretch(*this, theirs, end, skewed).run(mine);
}

} // namespace ptxasw::synth
