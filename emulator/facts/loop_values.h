#pragma once

// What a loop does to addresses: which registers go on by the same amount in every iteration, how
// many iterations there are at most, where one access goes where another went in this iteration or
// the one before, and what has to be tested before the loop so that its stores are known to stay
// away from what a load has read. All is told in what registers hold where the loop is entered.
//
// Promoted, carried and staged loads stand by it: who writes them writes such tests, and the proof
// asks for them again, of the kernel that it reads.
//   LoopValues(module, function, cfg, loop, atoms).address(load, conditions) // first + k * step

#include "emulator/facts/loop_guess.h"

#include "grammar/cfg.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace ptxasw::facts {

/// What a register holds in iteration k of a loop (the first one is 0): first + k * step. Leaves of
/// the polynomials are registers, as they are where the loop is entered.
struct Progress {
  Polynomial first, step;
};

/// Something that is tested before a loop.
struct Condition {
  enum class Kind : std::uint8_t {
    not_negative, ///< value >= 0
    multiple,     ///< value is a multiple of `of`, a power of two
    zero,         ///< value is 0 modulo 2^64
    apart,        ///< see `value`
  };
  Kind kind = Kind::not_negative;
  /// What is tested, an integer less than 9e18 in magnitude, or for `zero` any. For `apart`: the
  /// address that a load has read less a store's in the first iteration, modulo 2^64.
  Polynomial value;
  std::int64_t of = 1;
  /// Of `apart`: by how much more the store's address grows until the last iteration.
  Polynomial way;
  unsigned loaded = 0, stored = 0; ///< of `apart`: bytes
  bool operator==(const Condition &) const = default;
};

/// One loop of a function. Its control flow must be understood.
class LoopValues {
public:
  /// `atoms` must outlive it.
  LoopValues(const Module &module, const Function &function, const ControlFlowGraph &cfg,
             LoopId loop, Atoms &atoms);

  /// Returns true if an instruction runs in each iteration that is followed by another.
  bool runs_in_each_round(std::uint32_t instruction) const;
  /// Returns true if one instruction of the loop runs in each iteration before another one does.
  bool precedes(std::uint32_t earlier, std::uint32_t later) const;
  /// The address of a load or a store in each iteration, under `conditions` that are added to;
  /// nothing if it is not understood, as where it has not 64 bits.
  std::optional<Progress> address(std::uint32_t instruction, std::vector<Condition> &conditions);
  /// What to test so that an access goes in every iteration where a load went `ago` iterations
  /// before; nothing if that is not known. Empty: that needs no test.
  std::optional<std::vector<Condition>> meets(std::uint32_t load, std::uint32_t access,
                                              unsigned ago);
  /// What to test so that what `store` does in no iteration touches the bytes that a load has read
  /// `ago` iterations before; nothing if there is no such test. Empty: that needs no test.
  std::optional<std::vector<Condition>> apart(std::uint32_t load, std::uint32_t store,
                                              unsigned ago = 0);

  /// The last iteration in which an instruction runs, which runs in each, under `conditions` that
  /// are added to; nothing if that is not understood. Where the loop can be left by other branches
  /// than the one that counts, or before it comes to that one, it may be an earlier one.
  std::optional<Polynomial> last_round(std::uint32_t instruction,
                                       std::vector<Condition> &conditions);

private:
  /// An address with its conditions, worked out once: pairs of accesses are many.
  struct Place {
    std::optional<Progress> address;
    std::vector<Condition> conditions;
  };
  const Place &place_of(std::uint32_t instruction);
  std::optional<Progress> value(RegisterId reg, std::uint32_t at, unsigned bits);
  std::optional<Progress> operand(const Operand &operand, std::uint32_t at, unsigned bits);
  std::optional<Progress> computed(std::uint32_t instruction);
  std::optional<Progress> progression(RegisterId reg, std::uint32_t definition, std::uint32_t at);
  std::optional<Progress> widened(const std::optional<Progress> &narrow, bool is_signed);
  bool require(Polynomial not_negative);
  bool require_narrow(const Polynomial &value, bool is_signed);
  bool require_zero(Polynomial value, std::vector<Condition> &conditions) const;

  struct Guard;
  std::optional<Guard> guard_of(BlockId block);
  std::optional<Polynomial> rounds_of(const Guard &guard, bool passed);
  std::optional<Polynomial> rounds();
  std::optional<std::uint32_t> definition(RegisterId reg) const;
  bool reaches(BlockId from, BlockId to) const;

  const Module &module_;
  const Function &function_;
  const ControlFlowGraph &cfg_;
  const LoopId loop_;
  Atoms &atoms_;
  const Guess guess_;
  std::vector<std::vector<std::uint32_t>> definitions_; ///< by register, in the loop
  std::set<RegisterId> in_progress_;
  std::map<std::uint32_t, Place> places_; ///< by instruction
  std::uint32_t access_ = 0;              ///< whose address is looked at
  std::vector<Condition> conditions_;
  unsigned budget_ = 0;
};

} // namespace ptxasw::facts
