#pragma once

// Runs what a re-tiled kernel has beyond the kernel's own instructions - which copy goes where - on
// the few kinds of values that such code may have.

#include "synth/coarsen/coarsen.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ptxasw::inline synth {

/// What a register of the added code holds.
struct ReplayValue {
  enum class Kind : std::uint8_t {
    number,  ///< `number`
    truth,   ///< `number` 0 or 1
    each_of, ///< the branch's predicate, the same in all copies of the mask `number`
    all_of,  ///< does it hold in all copies of the mask `number`?
    any_of,  ///< in any of them?
    first,   ///< is this the first thread along x?
    index,   ///< scale * the special register that tells the copies apart + number
    extent,  ///< scale * what bounds it: the appended parameter, or %ntid
    copied,  ///< what the shared register `reg` holds, of the copy `number` that keeps it
    place,   ///< %ctaid.x, %ntid.x, %tid.x or %nctaid.x, by `number`
    flat,    ///< scale * the sibling's thread along x + number
    points,  ///< scale * its threads along x + number
    dynamic, ///< bytes of dynamic shared memory
    part,    ///< the same, divided by the number of copies
    size,    ///< the same, as a multiple of 16
    begin,   ///< `number` of these behind Module::variables[`reg`], in shared memory
    around,  ///< the same as `flat`; but what would be negative in the first thread, from the end
  };
  Kind kind = Kind::number;
  std::uint32_t number = 0;
  std::uint32_t scale = 0;
  RegisterId reg = no_register;
  bool operator==(const ReplayValue &) const = default;
};

using ReplayState = std::map<RegisterId, ReplayValue>;

/// What a register of the sibling is for.
struct ReplayRole {
  enum class Kind : std::uint8_t { control, copy, shared, own, wide };
  Kind kind = Kind::control;
  unsigned copy = 0;            ///< of a copy's
  RegisterId reg = no_register; ///< of the kernel's; of all but control and wide
};

/// Where the added code ends: at an instruction that is not part of it or depends on what is not
/// known, or where the thread ends.
struct ReplayEnd {
  std::uint32_t position = 0;
  bool exit = false;
};

/// In how many copies the predicate of a branch holds.
enum class ReplayOutcome : std::uint8_t { none, some, all };

/// What a run takes for granted.
struct ReplayAssumption {
  std::optional<unsigned> inside;       ///< so many of the sibling's blocks lie within the grid
  std::optional<bool> first;            ///< this is the first thread along x
  std::optional<ReplayOutcome> outcome; ///< of the branch at hand
};

class Replay {
public:
  Replay(const Module &module, const Function &sibling, const std::vector<ReplayRole> &roles,
         const CoarsenForm &form)
      : module_(module), sibling_(sibling), roles_(roles), form_(form), index_(form.index()),
        extent_(form.extent()) {}

  /// Runs added code from a position on. `state` has what is known before and after. Nothing if it
  /// never ends.
  std::optional<ReplayEnd> run(std::uint32_t position, ReplayState &state,
                               const ReplayAssumption &assumption) const;
  /// Follows branches that are always taken.
  std::optional<std::uint32_t> skip(std::uint32_t position) const;

private:
  bool execute(const Instruction &instruction, ReplayState &state,
               const ReplayAssumption &assumption) const;
  std::optional<bool> decide(const ReplayValue &guard, const ReplayAssumption &assumption) const;
  std::optional<ReplayValue> value(const Operand &operand, const ReplayState &state) const;
  std::optional<ReplayValue> compute(const Instruction &instruction,
                                     const std::vector<ReplayValue> &in,
                                     const ReplayAssumption &assumption) const;
  std::optional<ReplayValue> compare(const Opcode &opcode, const ReplayValue &a,
                                     const ReplayValue &b,
                                     const ReplayAssumption &assumption) const;

  const Module &module_;
  const Function &sibling_;
  const std::vector<ReplayRole> &roles_;
  const CoarsenForm form_;
  const std::string index_, extent_;
};

} // namespace ptxasw::synth
