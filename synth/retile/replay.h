#pragma once

// Runs what a re-tiled kernel has beyond the kernel's own instructions - which copy goes where - on
// the few kinds of values that such code may have.

#include "synth/retile/retile.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ptxasw {

/// What a register of the added code holds.
struct ReplayValue {
  enum class Kind : std::uint8_t {
    number, ///< `number`
    truth,  ///< `number` 0 or 1
    index,  ///< scale * the special register that tells the copies apart + number
    extent, ///< scale * what bounds it: the appended parameter, or %ntid
    copied, ///< what the shared register `reg` holds
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
  enum class Kind : std::uint8_t { control, copy, shared, own };
  Kind kind = Kind::control;
  unsigned copy = 0;            ///< of a copy's
  RegisterId reg = no_register; ///< of the kernel's; of all but control
};

/// Where the added code ends: at an instruction that is not part of it or depends on what is not
/// known, or where the thread ends.
struct ReplayEnd {
  std::uint32_t position = 0;
  bool exit = false;
};

class Replay {
public:
  Replay(const Module &module, const Function &sibling, const std::vector<ReplayRole> &roles,
         const RetileForm &form)
      : module_(module), sibling_(sibling), roles_(roles), form_(form), index_(form.index()),
        extent_(form.extent()) {}

  /// Runs added code from a position on. `state` has what is known before and after; the first
  /// `inside` blocks of the sibling lie within the grid. Nothing if it never ends.
  std::optional<ReplayEnd> run(std::uint32_t position, ReplayState &state,
                               std::optional<unsigned> inside = std::nullopt) const;
  /// Follows branches that are always taken.
  std::optional<std::uint32_t> skip(std::uint32_t position) const;

private:
  bool execute(const Instruction &instruction, ReplayState &state,
               std::optional<unsigned> inside) const;
  std::optional<ReplayValue> value(const Operand &operand, const ReplayState &state) const;
  std::optional<ReplayValue> compute(const Instruction &instruction,
                                     const std::vector<ReplayValue> &in,
                                     std::optional<unsigned> inside) const;
  std::optional<ReplayValue> compare(const Opcode &opcode, const ReplayValue &a,
                                     const ReplayValue &b, std::optional<unsigned> inside) const;

  const Module &module_;
  const Function &sibling_;
  const std::vector<ReplayRole> &roles_;
  const RetileForm form_;
  const std::string index_, extent_;
};

} // namespace ptxasw
