#pragma once

// A launch that keeps conditions, if one is found.

#include "emulator/facts/reading.h"

#include <vector>

namespace ptxasw::analysis {

/// Looks for numbers at which all conditions are at least 0 and a thread gets to a place. What is
/// said only of launches that do not exist, or that never get there, says nothing.
class WitnessSearch {
public:
  /// `established`: what is at least 0 wherever a thread gets to that place.
  WitnessSearch(const facts::AmountPool &amounts, const std::vector<facts::Amount> &conditions,
                const std::vector<facts::Reading> &established);

  /// True if there are such numbers among those that are tried: the same ones in every run. False
  /// says only that none was found.
  bool found();

private:
  void take_variables(const facts::Amount &amount);
  bool draw(unsigned attempt);
  bool holds() const;
  facts::Rational pick(const std::string &name, unsigned attempt);
  unsigned next(unsigned below);
  bool at_least_zero(const facts::Amount &amount) const;

  const facts::AmountPool &amounts_;
  const std::vector<facts::Amount> &conditions_;
  const std::vector<facts::Reading> &established_;
  std::vector<facts::AtomId> variables_; ///< in order of creation: extents before what they limit
  std::map<std::string, facts::Rational> numbers_;
  std::uint64_t state_ = 1; ///< of the generator
};

} // namespace ptxasw::analysis
