#pragma once

// A launch as data: shape, arguments and the contents of memory. Launch files are read into it
// (wrapper/commands/launch_file.h), and proofs give their counterexamples in it.
//   GlobalMemory memory;
//   auto prepared = prepare_launch(program, description, memory); // then run_kernel()

#include "emulator/machine/warp_launch.h"

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::emulator {

/// A buffer in global memory before the launch, or the contents of a variable.
struct BufferDescription {
  std::string name;
  ScalarType type = ScalarType::b32; ///< of its elements, for printing and comparing them
  std::uint64_t size = 0;            ///< bytes
  GlobalMemory::Fill fill = GlobalMemory::Fill::zeros;
  std::uint64_t seed = 0;          ///< of a fill
  std::vector<std::uint8_t> bytes; ///< its initial contents, on top of the fill
  std::uint64_t alignment = 0;     ///< 0, or it begins at a multiple of this and of no higher power
                                   ///< of two
  /// Elements at random between these, instead of a fill: finite for floating-point types.
  bool has_range = false;
  double lowest = 0, highest = 0;
  bool is_compared = true; ///< its contents after the launch matter
};

/// Where in a parameter something lies, and what: an address in a buffer or of a function, or a
/// number.
struct FieldDescription {
  enum class Kind : std::uint8_t { bits, buffer, function };
  Kind kind = Kind::bits;
  std::uint32_t at = 0;   ///< byte of the parameter
  std::uint32_t size = 8; ///< bytes
  std::uint64_t bits = 0; ///< of a number; for a pointer, what is added
  std::string name;       ///< of the buffer or function
};

/// A kernel's parameter: bytes, and what is written over them.
struct ArgumentDescription {
  std::vector<std::uint8_t> bytes;
  std::vector<FieldDescription> fields;
};

/// A launch as described, down to the contents of memory.
struct LaunchDescription {
  std::string kernel; ///< empty: the first of the module
  Extents grid, block{32, 1, 1};
  std::optional<Extents> cluster;              ///< blocks; nothing: as the kernel says
  std::vector<std::uint64_t> blocks;           ///< only these; empty: all
  std::uint32_t shared = 0;                    ///< bytes of dynamic shared memory
  std::uint64_t step_limit = 0;                ///< thread-instructions; 0: not said
  std::string schedule;                        ///< reconverge, apart, random:SEED; empty: not said
  std::optional<std::uint64_t> variables_seed; ///< contents of variables without initializer
  std::vector<BufferDescription> buffers, variables;
  std::vector<ArgumentDescription> arguments;

  const BufferDescription *buffer(std::string_view name) const;
};

/// A launch in memory.
struct PreparedLaunch {
  std::uint32_t kernel = 0; ///< in the program
  WarpLaunch launch;
  std::vector<std::uint64_t> addresses; ///< of the buffers, in their order
  std::size_t variables = 0; ///< the memory's first allocations, this many, are variables
};

/// Fills an empty memory with the module's variables and the described buffers. Equal buffers lie
/// at equal addresses, whatever the module. Errors: a kernel, buffer, function or variable that is
/// not there, arguments that do not fit the kernel's parameters, an impossible shape.
tl::expected<PreparedLaunch, std::string> prepare_launch(const WarpProgram &program,
                                                         const LaunchDescription &description,
                                                         GlobalMemory &memory);

/// Reads `reconverge`, `apart` or `random[:SEED]`; false if it is none of them.
bool read_schedule(std::string_view text, WarpSchedule &schedule, std::uint64_t &seed);

} // namespace ptxasw::emulator
