#pragma once

#include "emulator/warp_launch.h"

#include <string>
#include <vector>

namespace ptxasw {

/// A value that a kernel reads from its parameters: a parameter, or a field of a structure.
struct ParameterSlot {
  std::string name;         ///< of the parameter, with "+offset" for a field
  std::uint32_t offset = 0; ///< in the kernel's parameter bytes
  ScalarType type = ScalarType::none;
  bool is_pointer = false;               ///< accesses go through it
  ScalarType element = ScalarType::none; ///< what the first access through it reads or writes
};

/// The slots of a kernel, by what its instructions do with them.
std::vector<ParameterSlot> parameter_slots(const Module &module, const Function &kernel);

/// One drawn launch: all that a run depends on, in the form that people can read.
struct DrawnLaunch {
  WarpLaunch launch;
  std::uint64_t seed = 0;        ///< of the buffers' contents
  std::vector<std::string> text; ///< one line a slot
  struct Buffer {
    GlobalMemory::Fill fill = GlobalMemory::Fill::zeros;
    std::uint32_t slot_offset = 0;
    std::int64_t alias_of = -1; ///< index of the buffer that this pointer points into
    std::int64_t shift = 0;     ///< bytes, from the middle of the buffer
  };
  std::vector<Buffer> buffers;
};

/// What the launch should be like.
struct DrawHints {
  bool one_block = false;
  bool flat = false;  ///< a one-dimensional block
  bool apart = false; ///< no pointer into another's buffer
  bool small = false; ///< small integers
};

/// Draws a launch: a block shape (1-D, 2-D, 3-D, partial warps; what .reqntid and .maxntid allow),
/// a grid, integers that look like dimensions, and contents for buffers. Pointers sometimes point
/// into one buffer.
DrawnLaunch draw_launch(const Function &kernel, const std::vector<ParameterSlot> &slots,
                        const DrawHints &hints, WarpRandom &random);

/// Allocates the launch's buffers and fills its pointers in. The same launch gives the same memory.
void place_buffers(const DrawnLaunch &drawn, GlobalMemory &memory, WarpLaunch &launch);

/// The launch in lines, for a counter-example.
std::string describe(const DrawnLaunch &drawn);

} // namespace ptxasw
