#include "approximation.h"

#include "emulator/semantics/floating.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace ptxasw::conformance {
namespace {

double distance_of_scalars(ScalarType type, const std::string &measure, std::uint64_t a,
                           std::uint64_t b) {
  if (a == b)
    return 0;
  const double x = floating::to_double(type, a), y = floating::to_double(type, b);
  if (!std::isfinite(x) || !std::isfinite(y))
    return std::numeric_limits<double>::infinity();
  if (measure == "absolute")
    return std::abs(x - y);
  if (measure == "mixed")
    return std::abs(x - y) / std::max(1.0, std::abs(y));
  const unsigned width = bit_width(type);
  const auto ordered = [&](std::uint64_t bits) {
    const std::uint64_t magnitude = bits & mask64(width - 1);
    return bits >> (width - 1) ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
  };
  // Patterns of 64 bits are compared without their lowest bits' help only if far apart.
  if (width == 64 && (a >> 63) == (b >> 63))
    return static_cast<double>(a > b ? a - b : b - a);
  return std::abs(ordered(a) - ordered(b));
}

} // namespace

std::map<std::string, Approximation> read_approximations(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error("cannot read " + path);
  std::map<std::string, Approximation> list;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#')
      continue;
    std::istringstream words(line);
    std::string name;
    Approximation entry;
    if (!(words >> name >> entry.type >> entry.measure >> entry.bound) ||
        scalar_type(entry.type) == ScalarType::none)
      throw std::runtime_error(path + ": not understood: " + line);
    list[name] = entry;
  }
  return list;
}

double distance(const Approximation &how, std::uint64_t a, std::uint64_t b) {
  const ScalarType type = scalar_type(how.type);
  if (type != ScalarType::f16x2 && type != ScalarType::bf16x2)
    return distance_of_scalars(type, how.measure, a, b);
  const ScalarType half = type == ScalarType::f16x2 ? ScalarType::f16 : ScalarType::bf16;
  return std::max(distance_of_scalars(half, how.measure, a & 0xffff, b & 0xffff),
                  distance_of_scalars(half, how.measure, a >> 16, b >> 16));
}

} // namespace ptxasw::conformance
