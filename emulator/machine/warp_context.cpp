// The registers of the lanes that execute an instruction, and where in the launch they are.

#include "emulator/machine/warp_context.h"

#include <algorithm>

namespace ptxasw::emulator {

MachineRun::MachineRun(const WarpProgram &the_program, std::uint32_t the_kernel,
                       const WarpLaunch &the_launch, const WarpOptions &the_options)
    : program(the_program), kernel(the_kernel), launch(the_launch), options(the_options),
      random(the_options.seed) {
  block_threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(launch.block.count(), 1024));
  block_warps = (block_threads + warp_lanes - 1) / warp_lanes;
  if (const auto *required = kernel_function().directive("reqnctapercluster")) {
    explicit_cluster = true;
    cluster = {std::max(required->values[0], 1u), std::max(required->values[1], 1u),
               std::max(required->values[2], 1u)};
  } else if (launch.cluster) {
    explicit_cluster = true;
    cluster = *launch.cluster;
  }
  std::vector<VariableBytes> shared = program.shared_variables(kernel);
  if (launch.dynamic_shared != 0) {
    const std::uint32_t begin = program.dynamic_shared_offset();
    const std::uint64_t end = std::uint64_t{begin} + launch.dynamic_shared;
    shared.push_back({begin, static_cast<std::uint32_t>(std::min(end, window::size))});
  }
  for (const VariableBytes &variable : shared) {
    shared_bytes = std::max({shared_bytes, variable.begin, variable.end});
    shared_in_use += variable.end - variable.begin;
  }
  if (program.has_reserved_shared()) {
    shared.push_back({0, reserved_shared_bytes});
    shared_bytes = std::max(shared_bytes, reserved_shared_bytes);
  }
  if (shared_bytes <= window::size) { // no other launch runs
    shared_variables.resize(shared_bytes);
    for (const VariableBytes &variable : shared)
      std::fill(shared_variables.begin() + variable.begin, shared_variables.begin() + variable.end,
                char{1});
  }
  for (std::uint32_t i = 0; i < program.function_count(); ++i) {
    max_parameters = std::max(max_parameters, program.function(i).parameter_bytes);
    max_local = std::max(max_local, program.function(i).local_bytes);
  }
}

std::uint32_t MachineRun::cluster_of(const BlockState &block) const {
  if (cluster.count() == 1)
    return block.index;
  const auto along = [&](int axis) { return block.ctaid[axis] / cluster[axis]; };
  return (along(2) * (launch.grid.y / cluster.y) + along(1)) * (launch.grid.x / cluster.x) +
         along(0);
}

void MachineRun::find_block(std::uint32_t index, std::uint32_t (&ctaid)[3]) const {
  const std::uint64_t number = launch.blocks.empty() ? index : launch.blocks[index];
  const std::uint64_t of_cluster = cluster.count();
  if (of_cluster == 1 && number <= 0xffff'ffff) { // most, and divisions of 32 bits take less
    auto place = static_cast<std::uint32_t>(number);
    for (int axis = 0; axis < 3; ++axis) {
      ctaid[axis] = axis == 2 ? place : place % launch.grid[axis];
      place /= launch.grid[axis];
    }
    return;
  }
  std::uint64_t place = number / of_cluster, rank = number % of_cluster;
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint32_t clusters = launch.grid[axis] / cluster[axis];
    ctaid[axis] =
        static_cast<std::uint32_t>(place % clusters * cluster[axis] + rank % cluster[axis]);
    place /= clusters;
    rank /= cluster[axis];
  }
}

std::uint32_t MachineRun::rank_of(const BlockState &block) const {
  const auto place = [&](int axis) { return block.ctaid[axis] % cluster[axis]; };
  return (place(2) * cluster.y + place(1)) * cluster.x + place(0);
}

BlockState *MachineRun::block_of_rank(const BlockState &of, std::uint64_t rank) const {
  const std::uint32_t number = cluster_of(of);
  for (const auto &block : active)
    if (cluster_of(*block) == number && rank_of(*block) == rank)
      return block.get();
  return nullptr;
}

std::pair<BlockState *, std::uint64_t> MachineRun::shared_place(BlockState &own,
                                                                std::uint64_t address) const {
  const std::uint64_t offset = address - window::shared;
  if (offset < window::block_slot || cluster.count() == 1)
    return {&own, offset};
  return {block_of_rank(own, offset / window::block_slot - 1), offset % window::block_slot};
}

std::uint64_t MachineRun::shared_of_rank(std::uint64_t rank, std::uint64_t address) const {
  if (cluster.count() == 1)
    return address;
  return window::shared + (rank + 1) * window::block_slot +
         (address - window::shared) % window::block_slot;
}

void start_level(const MachineRun &run, CallLevel &level) {
  level.registers.assign(std::size_t{run.program.max_registers()} * warp_lanes, 0);
  level.parameters.assign(std::size_t{run.max_parameters} * warp_lanes, 0);
  level.local.assign(std::size_t{run.max_local} * warp_lanes, 0);
  if (run.options.reals)
    level.reals.assign(level.registers.size(), {});
  if (run.options.check_uninitialized)
    level.local_written.assign(level.local.size(), 0);
}

CallLevel &call_level(const MachineRun &run, WarpState &warp, std::size_t depth) {
  while (warp.levels.size() <= depth)
    start_level(run, warp.levels.emplace_back());
  return warp.levels[depth];
}

std::uint64_t WarpContext::special(SpecialRegister which, unsigned lane) const {
  using enum SpecialRegister;
  const std::uint32_t bit = 1u << lane;
  switch (which) {
  case tid_x:
  case tid_y:
  case tid_z:
    return warp->tid[static_cast<int>(which) - static_cast<int>(tid_x)][lane];
  case ntid_x:
  case ntid_y:
  case ntid_z:
    return run.launch.block[static_cast<int>(which) - static_cast<int>(ntid_x)];
  case ctaid_x:
  case ctaid_y:
  case ctaid_z:
    return warp->block->ctaid[static_cast<int>(which) - static_cast<int>(ctaid_x)];
  case nctaid_x:
  case nctaid_y:
  case nctaid_z:
    return run.launch.grid[static_cast<int>(which) - static_cast<int>(nctaid_x)];
  case cluster_ctaid_x:
  case cluster_ctaid_y:
  case cluster_ctaid_z: {
    const int axis = static_cast<int>(which) - static_cast<int>(cluster_ctaid_x);
    return warp->block->ctaid[axis] % run.cluster[axis];
  }
  case cluster_nctaid_x:
  case cluster_nctaid_y:
  case cluster_nctaid_z:
    return run.cluster[static_cast<int>(which) - static_cast<int>(cluster_nctaid_x)];
  case clusterid_x:
  case clusterid_y:
  case clusterid_z: {
    const int axis = static_cast<int>(which) - static_cast<int>(clusterid_x);
    return warp->block->ctaid[axis] / run.cluster[axis];
  }
  case nclusterid_x:
  case nclusterid_y:
  case nclusterid_z: {
    const int axis = static_cast<int>(which) - static_cast<int>(nclusterid_x);
    return run.launch.grid[axis] / run.cluster[axis];
  }
  case cluster_ctarank:
    return run.rank_of(*warp->block);
  case cluster_nctarank:
    return run.cluster.count();
  case workspace_high:
    return run.workspace >> 32;
  case workspace_low:
    return run.workspace & mask64(32);
  case is_explicit_cluster:
    return run.explicit_cluster;
  case laneid:
    return lane;
  case warpid:
    return warp->index;
  case nwarpid:
    return run.block_warps;
  case lanemask_eq:
    return bit;
  case lanemask_le:
    return bit | (bit - 1);
  case lanemask_lt:
    return bit - 1;
  case lanemask_ge:
    return ~(bit - 1);
  case lanemask_gt:
    return ~(bit - 1) & ~bit;
  case clock:
    return run.outcome.steps;
  case nsmid:
    return 1;
  case dynamic_smem_size:
    return run.launch.dynamic_shared;
  case total_smem_size:
    return run.shared_in_use;
  case reserved_smem_begin:
  case reserved_smem_0:
    return window::shared;
  case reserved_smem_1:
    return window::shared + reserved_shared_second;
  case reserved_smem_end:
    return window::shared + reserved_shared_bytes;
  case reserved_smem_cap:
    return reserved_shared_bytes;
  case warp_size:
    return warp_lanes;
  default:
    return 0;
  }
}

std::uint32_t WarpContext::function_at(unsigned lane, std::size_t at_depth) const {
  if (at_depth >= depth)
    return function;
  const auto of_lane = std::find_if(warp->fragments.begin(), warp->fragments.end(),
                                    [&](const Fragment &f) { return (f.mask >> lane & 1) != 0; });
  return of_lane == warp->fragments.end() ? function : of_lane->stack[at_depth].function;
}

std::uint32_t WarpContext::thread_of(unsigned lane) const {
  return warp->block->index * run.block_threads + warp->index * warp_lanes + lane;
}

ThreadMoment WarpContext::moment(unsigned lane) const {
  const BlockState &block = *warp->block;
  return {thread_of(lane) + 1,
          block.index,
          block.index * run.block_warps + warp->index,
          lane,
          block.epoch,
          run.cluster_of(block),
          run.outcome.steps};
}

WarpFault WarpContext::place(FaultKind kind, unsigned lane, std::string message,
                             std::uint64_t address) const {
  WarpFault fault;
  fault.kind = kind;
  fault.message = std::move(message);
  fault.kernel = run.program.function(function).function->name;
  fault.line = instruction->line;
  fault.lane = lane;
  fault.address = address;
  for (int i = 0; i < 3; ++i) {
    fault.block[i] = warp->block->ctaid[i];
    fault.thread[i] = warp->tid[i][lane];
  }
  return fault;
}

void WarpContext::fail(FaultKind kind, unsigned lane, std::string message,
                       std::uint64_t address) const {
  throw MachineFault{place(kind, lane, std::move(message), address)};
}

InstructionProfile &WarpContext::profile() const {
  return run.outcome.profile[function][static_cast<std::size_t>(
      instruction - run.program.function(function).code.data())];
}

} // namespace ptxasw::emulator
