#pragma once

// The rules of soundness.md, asked of one load and one source: a verdict says which tests the value
// needs, or which rule is not met. Detection tries its sources on it one by one.

#include "emulator/facts/between.h"
#include "emulator/symbolic/address.h"
#include "emulator/symbolic/emulate.h"
#include "emulator/symbolic/known.h"
#include "grammar/module.h"
#include "synth/proof/reuse.h"
#include "synth/rewrite.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace ptxasw::synth {

/// What all loads have in common whose addresses differ by a constant.
struct AddressGroup {
  LinearForm form;         ///< of one of them
  bool hides_lane = false; ///< an atom of the form differs from lane to lane
};

/// A register value that a load brings.
struct Holder {
  std::size_t access = 0;   ///< the load's index in the trace
  unsigned element = 0;     ///< 0 for a scalar
  std::size_t position = 0; ///< where it runs: at `access`, or moved up to before that access
  const AddressGroup *group = nullptr;
};

/// What it takes that an element of a load comes from elsewhere.
struct Verdict {
  std::optional<Reason> reason; ///< why it may not; empty: it may
  ElementSource from;
  std::vector<WrapTest> wrap_tests;
  std::optional<DistanceTest> distance_test;
  std::vector<std::uint32_t> store_tests; ///< as Reuse::store_tests
  bool assumed_no_wrap = false;           ///< only the user's word allows it, as in Detection
  bool assumed_no_alias = false;

  const Verdict &no(Reason why) {
    reason = why;
    return *this;
  }
};

/// Judges if a load may take what others have read, in one kernel.
class Judge {
public:
  Judge(const Module &module, const Function &function, Emulation &emulation,
        const RewriteOptions &options)
      : module_(module), function_(function), emulation_(emulation), options_(options),
        between_(module, function, emulation) {}

  /// Says if `load` may take what `source` has so many lanes up.
  Verdict judge(const Holder &source, const Holder &load, int delta);

  /// The address of an element, expanded.
  Expr element_address(const Holder &holder);
  facts::Between &between() { return between_; }
  /// The instruction of an access.
  const Instruction &instruction(std::size_t access) const {
    return function_.instructions[emulation_.trace()[access].instruction];
  }
  /// The registers that a load writes, one for each element.
  std::span<const Operand> elements(std::size_t access) const;

private:
  Verdict judge_address(const Holder &source, const Holder &load, int delta);
  bool test(const MemoryAccess &store, const MemoryAccess &source, const MemoryAccess &load,
            Verdict &verdict, std::vector<Expr> &tested) const;
  bool runs_with(const MemoryAccess &source, const MemoryAccess &load, int delta);
  bool same_kind(const Holder &a, const Holder &b) const;
  std::optional<WrapTest> find_test(const WrapCondition &condition, const MemoryAccess &load);
  const Known &known_at(BlockId block);

  /// Bytes of one element.
  unsigned element_bytes(std::size_t access) const {
    return bit_width(module_.opcode(instruction(access)).type) / 8;
  }
  /// Where what comes behind a source begins.
  facts::Behind behind(const Holder &source) const {
    const MemoryAccess &position = emulation_.trace()[source.position];
    return {position.block, position.instruction + 1};
  }
  /// The constant of the base register's operand, bytes.
  std::int64_t offset(std::size_t access) const {
    return module_.operands(instruction(access))[1].value;
  }

  const Module &module_;
  const Function &function_;
  Emulation &emulation_;
  const RewriteOptions &options_;
  facts::Between between_;
  std::optional<bool> waits_;                ///< facts::waits_at(), when first asked for
  std::unordered_map<BlockId, Known> known_; ///< by block, what its path establishes
};

} // namespace ptxasw::synth
