#include "runner/workload.h"

#include <algorithm>

namespace kernelgen {

Workload::Workload(Driver &driver, Tools &tools, const Kernel &kernel, const Extents &extents)
    : driver_(driver), tools_(tools), kernel_(kernel), slots_(kernel.arguments.size()) {
  for (std::size_t n = 0; n < slots_.size(); n++) {
    const Argument &argument = kernel.arguments[n];
    Slot &slot = slots_[n];
    switch (argument.kind) {
    case Argument::Kind::extent:
      slot.integer = extents[static_cast<std::size_t>(argument.axis)];
      arguments_.push_back(&slot.integer);
      break;
    case Argument::Kind::stride: // known at a launch
      arguments_.push_back(&slot.integer);
      break;
    case Argument::Kind::plan:
      arguments_.push_back(&slot.plan);
      break;
    case Argument::Kind::scalar:
      slot.scalar = argument.value;
      arguments_.push_back(&slot.scalar);
      break;
    case Argument::Kind::buffer:
      slot.values = count_values(argument, extents);
      try {
        slot.memory = driver.allocate(slot.values * sizeof(float));
      } catch (...) {
        for (const Slot &allocated : slots_)
          if (allocated.memory)
            driver.release(allocated.memory);
        throw;
      }
      arguments_.push_back(&slot.memory);
      fill(n, false);
    }
  }
}

Workload::~Workload() {
  for (const Slot &slot : slots_) {
    try {
      if (slot.memory)
        driver_.release(slot.memory);
    } catch (const DriverError &) {
      // A failed launch leaves the context unusable; the process gives the memory back.
    }
  }
}

void Workload::fill(std::size_t argument, bool only_written) {
  const Argument &what = kernel_.arguments[argument];
  if (what.kind != Argument::Kind::buffer || (only_written && what.use == Argument::Use::in))
    return;
  const Fill fill = what.use == Argument::Use::out ? Fill::poison : what.fill;
  tools_.fill(slots_[argument].memory, slots_[argument].values, fill, seed_of(argument));
}

void Workload::reset() {
  for (std::size_t n = 0; n < slots_.size(); n++)
    fill(n, true);
}

/// Tells the kernel of its launch, where it wants to know.
void Workload::plan(const Launch &launch) {
  const auto axes = [](const unsigned *n) { return Axes{n[0], n[1], n[2]}; };
  const unsigned threads[3] = {launch.grid[0] * launch.block[0], launch.grid[1] * launch.block[1],
                               launch.grid[2] * launch.block[2]};
  for (std::size_t n = 0; n < slots_.size(); n++) {
    const Argument &argument = kernel_.arguments[n];
    if (argument.kind == Argument::Kind::stride)
      slots_[n].integer = static_cast<int>(threads[argument.axis]);
    if (argument.kind == Argument::Kind::plan)
      slots_[n].plan = {axes(launch.grid), axes(launch.block), axes(threads), 0, nullptr};
  }
}

void Workload::launch(Handle function, const Launch &launch) {
  plan(launch);
  driver_.launch(function, launch, arguments_);
}

std::uint64_t Workload::compare(const Workload &other) {
  std::uint64_t different = 0;
  for (std::size_t n = 0; n < slots_.size(); n++) {
    const Argument &argument = kernel_.arguments[n];
    if (argument.kind == Argument::Kind::buffer && argument.use != Argument::Use::in)
      different += tools_.compare(slots_[n].memory, other.slots_[n].memory, slots_[n].values);
  }
  return different;
}

std::size_t bytes_allocated(const Kernel &kernel, const Extents &extents) {
  std::size_t bytes = 0;
  for (const Argument &argument : kernel.arguments)
    if (argument.kind == Argument::Kind::buffer)
      bytes += count_values(argument, extents) * sizeof(float);
  return bytes;
}

std::size_t bytes_compulsory(const Kernel &kernel, const Extents &extents) {
  std::size_t bytes = bytes_allocated(kernel, extents);
  for (const Argument &argument : kernel.arguments)
    if (argument.kind == Argument::Kind::buffer && argument.use == Argument::Use::inout)
      bytes += count_values(argument, extents) * sizeof(float);
  return bytes;
}

Launch launch_for(const Kernel &kernel, const Extents &extents, std::array<unsigned, 2> block) {
  Launch launch;
  if (kernel.grid_axes.size() == 1)
    block = {block[0] * block[1], 1};
  // gridDim.x belongs to the first of the kernel's axes, whichever extent that is.
  for (std::size_t n = 0; n < kernel.grid_axes.size(); n++) {
    const auto axis = static_cast<std::size_t>(kernel.grid_axes[n]);
    const int points = std::max(1, extents[axis] - kernel.rim[axis]);
    if (n < 2)
      launch.block[n] = block[n];
    const unsigned blocks = (static_cast<unsigned>(points) + launch.block[n] - 1) / launch.block[n];
    launch.grid[n] = n == 0 ? blocks : std::min(blocks, 65535u);
  }
  return launch;
}

} // namespace kernelgen
