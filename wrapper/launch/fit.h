#pragma once

// Decides if a sibling may take the place of a launch, and what its launch looks like. No driver: a
// launch in, a launch out.

#include "grammar/sibling_table.h"
#include "wrapper/launch/driver_types.h"
#include "wrapper/launch/state.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptxasw::wrapper::launch {

/// A launch as the program asked for it.
struct Launch {
  Handle function = nullptr;
  Extents grid, block;
  unsigned shared_bytes = 0;
  Handle stream = nullptr;
  void **parameters = nullptr;          ///< a pointer to each argument, or
  void **extra = nullptr;               ///< pairs of a word and a value, ended by a null
  const LaunchConfig *config = nullptr; ///< of cuLaunchKernelEx: attributes
  bool per_thread = false;              ///< a null stream is the thread's own
};

/// Bytes of shared memory, static and dynamic together, that a block may have on every device
/// unless its function is allowed more.
inline constexpr unsigned default_shared = 49152;

/// What the driver says about the code of a kernel or sibling.
struct SiblingLimits {
  unsigned max_threads = 1024; ///< of a block
  unsigned static_shared = 0;  ///< bytes
  /// Bytes of shared memory that a block may have, static and dynamic together: of a kernel what
  /// the program has allowed it, of a sibling what it can be allowed.
  unsigned most_shared = default_shared;
  unsigned registers = 0; ///< of a thread
  unsigned local = 0;     ///< of a thread, bytes: arrays, and what was spilled
};

/// Where a launch's arguments are.
struct Arguments {
  void *const *list = nullptr;           ///< a pointer to each, or
  const unsigned char *buffer = nullptr; ///< all of them, as the table says where
};

/// Finds the arguments. False: neither form that the driver documents, or a buffer that is shorter
/// than the table says.
bool find_arguments(const Launch &launch, const SiblingTable &table, Arguments &arguments);

/// The same for a kernel whose table has more parameters than the kernel: behind the launch's
/// arguments come addresses. Large, and meant for the stack.
class ExtendedArguments {
public:
  /// As find_arguments(); the arguments refer to this object and to `addresses`.
  bool find(const Launch &launch, const SiblingTable &table,
            const std::vector<DevicePointer> &addresses, Arguments &arguments);

private:
  std::array<void *, 253> list_;
};

/// What the driver would not take of the kernel's own launch; Outcome::sibling: nothing. `limits`
/// are the kernel's. A sibling must not make it one that succeeds.
Outcome own_fault(const Launch &launch, const SiblingLimits &limits);

/// Outcome::sibling if the sibling may be launched instead, otherwise what is in the way. The
/// attributes of the launch are not considered here.
Outcome fit(const Launch &launch, const Arguments &arguments, const SiblingTable &table,
            const Sibling &sibling, const SiblingLimits &limits);

/// What siblings ask of arguments, the alignment of addresses among it; 64 at most.
struct AskedArguments {
  std::vector<ArgumentDivisor> divisible;
  std::vector<ArgumentCover> covered; ///< by the threads of a launch
  std::vector<IndexBound> bounded;
  std::size_t size() const { return divisible.size() + covered.size() + bounded.size(); }
};

/// Which of these a launch meets, one bit each.
std::uint64_t met(const Launch &launch, const Arguments &arguments, const SiblingTable &table,
                  const AskedArguments &asked);

/// How many bits each of these parameters, 8 at most, has as an unsigned number: a byte each, the
/// first one the lowest.
std::uint64_t bits_of(const Arguments &arguments, const SiblingTable &table,
                      const std::vector<std::uint32_t> &parameters);

/// The blocks of a sibling's launch, and the threads of one.
std::uint64_t blocks_of(const Launch &launch, const Sibling &sibling);
std::uint64_t threads_of_block(const Launch &launch, const Sibling &sibling);

/// How many times as many warps a sibling's launch has for the same work, if each of its threads
/// takes as long as those of the kernel together whose work it does: more than once where lanes are
/// idle.
double warps_of(const Launch &launch, const Sibling &sibling);

/// In words for people, with the numbers of this launch; after fit() said no.
std::string explain(Outcome outcome, const Launch &launch, const Arguments &arguments,
                    const SiblingTable &table, const Sibling &sibling, const SiblingLimits &limits);

/// Returns true if the attributes of cuLaunchKernelEx let a kernel's threads be distributed
/// differently: no cooperative launch, no cluster, nothing that is not known.
bool harmless_attributes(const LaunchConfig &config);

/// The launch of a sibling. Large, and meant for the stack: what is not needed is not initialized.
class SiblingLaunch {
public:
  static constexpr std::size_t most_parameters = 253;
  static constexpr std::size_t most_bytes = 4096;

  /// False if there are too many arguments.
  bool prepare(const Launch &launch, const Arguments &arguments, const SiblingTable &table,
               const Sibling &sibling);

  Extents grid, block;
  unsigned shared_bytes = 0;
  void **parameters = nullptr; ///< one of the two, as in the original
  void **extra = nullptr;

private:
  std::array<std::uint32_t, 6> extents_{};
  std::array<void *, most_parameters + 6> list_;
  std::array<void *, 5> words_;
  std::size_t bytes_ = 0;
  alignas(16) std::array<unsigned char, most_bytes> buffer_;
};

} // namespace ptxasw::wrapper::launch
