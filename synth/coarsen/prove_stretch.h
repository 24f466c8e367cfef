#pragma once

// A stretch of the kernel whose instructions a version does in any order of copies.

#include "synth/coarsen/prove_texts.h"

#include <optional>
#include <set>
#include <vector>

namespace ptxasw::synth {

/// For the proof of a coarsened version (prove.cpp); prove_stretch.cpp has the argument.
class CoarsenStretches : protected CoarsenTexts {
protected:
  using CoarsenTexts::CoarsenTexts;

  /// All copies stand at `theirs`, inside the stretch, and go on to its end: what comes next in the
  /// version. Throws proof::NotProved where its lines are something else.
  Position in_any_order(Position mine, Position theirs, const SkewedStretch &stretch) const;

private:
  /// Who is where.
  struct Walk {
    std::vector<Position> next;              ///< by copy: its next instruction of the kernel
    std::vector<std::optional<Lines>> lines; ///< by copy: what stands for that
    std::vector<bool> has_stored;            ///< by copy
    std::set<std::size_t> filled;            ///< wide loads that were done
  };

  void arrive(Walk &walk, unsigned k, Position at, Position end) const;
  std::vector<unsigned> sharers(const Walk &walk, unsigned k) const;
  bool is_here(Position mine, const Walk &walk, unsigned k) const;
  void require_address(Position mine, const Walk &walk, unsigned k, Position at) const;
  void pass(Position mine, Walk &walk, unsigned k) const;
};

} // namespace ptxasw::synth
