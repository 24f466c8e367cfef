#pragma once

#include "grammar/namespaces.h"

#include <cstdint>
#include <map>
#include <string>

namespace ptxasw::conformance {

/// How far an instruction that is not exact may be from what the emulator computes.
struct Approximation {
  std::string type;    ///< of the result: f32, f64, f16, bf16, f16x2, bf16x2
  std::string measure; ///< ulp; absolute; mixed: absolute below 1, relative from there on
  double bound = 0;
};

/// Reads a list of lines `INSTRUCTION TYPE MEASURE BOUND ...`; what follows the bound and lines
/// that start with # are for people. Throws std::runtime_error.
std::map<std::string, Approximation> read_approximations(const std::string &path);

/// The distance of two results in the measure; infinity if one is a NaN, infinite or of another
/// sign and the other is not.
double distance(const Approximation &how, std::uint64_t a, std::uint64_t b);

} // namespace ptxasw::conformance
