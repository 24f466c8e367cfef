#pragma once

// Runs two kernels on one described launch each, and compares what they leave in memory. `ptxasw
// verify` asks it about a launch file, and `ptxasw prove` tries by it to refute that two are equal.
//   compare_launches(first, launch, second, launch, {}).kind == CompareVerdict::Kind::agree

#include "emulator/machine/launch_description.h"

#include <string>
#include <vector>

namespace ptxasw::emulator {

/// How much floating-point results may differ; nothing: not at all. A number passes if it is within
/// one of the bounds.
struct Tolerance {
  double relative = 0; ///< of the first's magnitude
  double absolute = 0;
  std::uint64_t ulp = 0; ///< numbers of the type that lie between
  bool any() const { return relative > 0 || absolute > 0 || ulp > 0; }
};

/// Where two results differ most, by the numbers of the type that lie between.
struct WorstDifference {
  bool found = false;
  std::string buffer;
  ScalarType type = ScalarType::b32;
  std::uint64_t index = 0, address = 0; ///< element, and where the second has it
  std::uint64_t first = 0, second = 0;  ///< bits
  std::uint64_t ulp = 0;                ///< between them; all ones if one is no finite number
  bool beyond = false;                  ///< of the tolerance
};

/// `y[3]: 1.5 and 1.25 (f32, 2097152 ulp, 0.25 absolute)`; whole numbers in hexadecimal.
std::string to_string(const WorstDifference &difference);

/// A stretch of memory that both sides have.
struct ComparedBuffer {
  std::string name;
  ScalarType type = ScalarType::b32;
  std::uint64_t first = 0, second = 0, size = 0; ///< addresses, bytes
};

/// What a run left: memory and, if they were followed, the real numbers behind it.
struct ComparedMemory {
  GlobalMemory &memory;
  const ExactMemory *reals = nullptr;
};

/// The worst difference, of those beyond the tolerance if there are any. Bytes that are not
/// compared as numbers of a floating-point type must be equal. Finite numbers pass if they stand
/// for the same real one.
WorstDifference compare_memories(const std::vector<ComparedBuffer> &buffers, ComparedMemory first,
                                 ComparedMemory second, const Tolerance &tolerance);

/// How to compare two launches.
struct CompareOptions {
  Tolerance tolerance;
  unsigned schedules = 3; ///< random ones, besides the two regular ones
  std::uint64_t seed = 1;
  std::uint64_t step_limit = 10'000'000'000; ///< thread-instructions per run
  std::uint64_t memory_limit = std::uint64_t{2} << 30;
  bool extra_reads = true; ///< the second may load what the first does not access
  bool volatile_races = false;
  bool matrices_order = false; ///< instructions on matrices order the lanes of their warp
  bool reassociate = false;    ///< floating-point results may also differ by how they were rounded
  bool any_order = false; ///< results that differ say nothing: another order of threads does so
};

inline constexpr const char *other_order = "what it computes depends on the order of threads";

/// The result.
struct CompareVerdict {
  enum class Kind : std::uint8_t { agree, differ, unchecked };
  Kind kind = Kind::unchecked;
  bool impossible = false; ///< `unchecked`, and not because of what the emulator cannot do
  std::string why;         ///< it differs or cannot be compared
  std::string schedule;    ///< under which it differs
  WorstDifference worst;
  unsigned runs = 0; ///< of the second kernel
  std::uint64_t steps = 0;
};

/// Runs two described launches and compares the buffers that both have, and the variables of the
/// same name. The first must end without a fault or a race and give the same, within the tolerance,
/// under other schedules; the second is run under all of them.
CompareVerdict compare_launches(const WarpProgram &first, const LaunchDescription &first_launch,
                                const WarpProgram &second, const LaunchDescription &second_launch,
                                const CompareOptions &options);

} // namespace ptxasw::emulator
