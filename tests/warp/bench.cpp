// bench-warp FILE KERNEL: thread-instructions per second of a stencil over 512 x 512 points.

#include "support.h"

#include <chrono>
#include <fmt/core.h>

using namespace ptxasw;
using namespace ptxasw::test;

int main(int argc, char **argv) {
  const std::string file = argc > 1 ? argv[1] : SOURCE_DIR "/tests/data/jacobi.ptx";
  const auto module = parse(read_text(file), file);
  if (!module) {
    fmt::print(stderr, "{}", format(module.error()));
    return 1;
  }
  const WarpProgram program(**module);
  const auto kernel = program.find_kernel(argc > 2 ? argv[2] : "");
  const Function &function = *program.function(*kernel).function;
  DrawnLaunch drawn;
  drawn.launch.grid[0] = 16;
  drawn.launch.grid[1] = 64;
  drawn.launch.block[0] = 32;
  drawn.launch.block[1] = 8;
  drawn.launch.parameters.resize(kernel_parameter_bytes(function));
  for (const ParameterSlot &slot : parameter_slots(**module, function)) {
    const std::uint32_t size = 512;
    if (slot.is_pointer)
      drawn.buffers.push_back({GlobalMemory::Fill::f32, slot.offset});
    else
      std::memcpy(drawn.launch.parameters.data() + slot.offset, &size, 4);
  }
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    GlobalMemory memory;
    WarpLaunch launch;
    program.place_variables(memory);
    place_buffers(drawn, memory, launch);
    const auto start = std::chrono::steady_clock::now();
    const WarpOutcome outcome = run_kernel(program, *kernel, launch, memory, {});
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (outcome.fault) {
      fmt::print(stderr, "{}\n", format(*outcome.fault));
      return 1;
    }
    best = std::max(best, static_cast<double>(outcome.steps) / time.count());
    fmt::print("{} thread-instructions in {:.3f} s\n", outcome.steps, time.count());
  }
  fmt::print("{:.1f} million thread-instructions a second\n", best / 1e6);
}
