// bench-warp [FILE [KERNEL]]: thread-instructions per second of processor time of a stencil over
// 512 x 512 points, without checks and with a search for races.

#include "support.h"

#include <algorithm>
#include <ctime>
#include <fmt/core.h>

using namespace ptxasw::test;

namespace {

/// 16 x 64 blocks of 32 x 8 threads; whole numbers are 512, real ones a quarter, buffers large.
DrawnLaunch stencil(const Module &module, const Function &function) {
  DrawnLaunch drawn;
  drawn.launch.grid = {16, 64, 1};
  drawn.launch.block = {32, 8, 1};
  drawn.launch.parameters.resize(kernel_parameter_bytes(function));
  std::vector<ParameterSlot> slots = parameter_slots(module, function);
  const KernelModel model(module, function, slots); // which of them are pointers
  for (const ParameterSlot &slot : slots) {
    if (slot.is_pointer) {
      drawn.buffers.push_back({GlobalMemory::Fill::f32, slot.offset, drawn.buffers.size()});
      continue;
    }
    const std::uint64_t bits =
        is_float(slot.type) ? floating::from_double(slot.type, 0.25, FloatRounding::nearest_even)
                            : 512;
    std::memcpy(drawn.launch.parameters.data() + slot.offset, &bits, slot.width / 8);
  }
  return drawn;
}

} // namespace

int main(int argc, char **argv) {
  const std::string file = argc > 1 ? argv[1] : SOURCE_DIR "/tests/data/jacobi.ptx";
  const auto module = parse(read_text(file), file);
  if (!module) {
    fmt::print(stderr, "{}", format(module.error()));
    return 1;
  }
  const WarpProgram program(**module);
  const auto kernel = program.find_kernel(argc > 2 ? argv[2] : "");
  if (!kernel) {
    fmt::print(stderr, "no such kernel\n");
    return 1;
  }
  const DrawnLaunch drawn = stencil(**module, *program.function(*kernel).function);
  for (const bool races : {false, true}) {
    WarpOptions options;
    options.check_races = races;
    double best = 0;
    std::uint64_t steps = 0;
    for (int i = 0; i < 5; ++i) {
      GlobalMemory memory;
      WarpLaunch launch;
      program.place_variables(memory);
      place_buffers(drawn, memory, launch);
      const std::clock_t start = std::clock();
      const WarpOutcome outcome = run_kernel(program, *kernel, launch, memory, options);
      const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      if (outcome.fault) {
        fmt::print(stderr, "{}\n", format(*outcome.fault));
        return 1;
      }
      steps = outcome.steps;
      best = std::max(best, static_cast<double>(steps) / seconds);
    }
    fmt::print("{} {} thread-instructions, {:.1f} million a second\n",
               races ? "races:    " : "unchecked:", steps, best / 1e6);
  }
}
