#pragma once

// A faster way to run a kernel: its blocks at the same time, where that changes nothing.

#include "emulator/machine/warp_launch.h"

namespace ptxasw::emulator {

/// True if the blocks of a run may be tried at once: they run one after the other by the schedule,
/// and only memory ties them together.
bool can_run_parallel(const WarpProgram &program, std::uint32_t kernel, const WarpLaunch &launch,
                      const WarpOptions &options);

/// Runs the blocks on several threads with the result of running them one after the other, bit for
/// bit. Each block works on a copy of the pages it touches, which remembers the bytes it read and
/// wrote. In the order of blocks the copies are then written back, unless the block read what an
/// earlier one has written since: then it is run again.
WarpOutcome run_parallel(const WarpProgram &program, std::uint32_t kernel, const WarpLaunch &launch,
                         GlobalMemory &memory, const WarpOptions &options);

} // namespace ptxasw::emulator
