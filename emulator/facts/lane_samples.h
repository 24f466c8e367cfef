#pragma once

// Which lanes detection should try where linear forms do not tell (detect.cpp).
//   LaneSamples(emulation).sources(source, load) // {1, -1}: neighbours seem to have it

#include "emulator/symbolic/emulate.h"
#include "emulator/symbolic/evaluation.h"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ptxasw::facts {

/// The distances 0, -1, 1, -2, 2, ... one by one.
constexpr int by_nearness(int i) { return i % 2 == 0 ? i / 2 : -(i + 1) / 2; }

/// Addresses as numbers: in each lane of one warp, under a few made-up launches and contents.
/// Agreement of two of them proves nothing; it says which equalities are worth a proof.
class LaneSamples {
public:
  explicit LaneSamples(Emulation &emulation);

  /// How many lanes up a value may come from: where every sample of `source` is the sample of
  /// `load`, nearest first. Both are expanded and 64 bits wide.
  std::vector<int> sources(Expr source, Expr load);

private:
  /// Made-up launches; two would do, a third costs little.
  static constexpr unsigned launches = 3;
  using Values = std::array<std::array<std::uint64_t, warp_lanes>, launches>;

  const Values &values(Expr address);
  std::uint64_t symbol(Expr symbol, unsigned launch, unsigned lane) const;

  Expr tid_, laneid_;
  std::unordered_map<Expr, std::uint64_t> small_; ///< the launches' values, by special register
  std::vector<Evaluator> evaluators_; ///< by launch, then by lane; each remembers what it computed
  std::unordered_map<Expr, Values> values_;
};

} // namespace ptxasw::facts
