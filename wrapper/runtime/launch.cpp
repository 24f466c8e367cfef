// Launches run where they are made, to their end.

#include "wrapper/runtime/launch.h"

#include "analysis/occupancy.h"
#include "grammar/liveness.h"
#include "grammar/roles.h"
#include "wrapper/lint/names.h"
#include "wrapper/os/progress.h"
#include "wrapper/runtime/stream.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

/// What the API calls a fault of a kernel.
cudaError_t error_of(FaultKind kind) {
  switch (kind) {
  case FaultKind::misaligned:
    return cudaErrorMisalignedAddress;
  case FaultKind::assertion:
    return cudaErrorAssert;
  case FaultKind::unsupported:
    return cudaErrorNotSupported;
  case FaultKind::bad_launch:
    return cudaErrorInvalidConfiguration;
  case FaultKind::deadlock:
  case FaultKind::step_limit:
    return cudaErrorLaunchTimeout;
  case FaultKind::out_of_bounds:
  case FaultKind::read_only:
    return cudaErrorIllegalAddress;
  default:
    return cudaErrorLaunchFailure;
  }
}

/// What went wrong, told to the checks or, without any, to the user.
void tell(const CUkern_st &kernel, const WarpOutcome &outcome) {
  const LoadedModule &module = *kernel.module;
  Checks &checks = device().checks();
  if (!checks.any()) {
    if (outcome.fault)
      say(format(*outcome.fault));
    return;
  }
  const auto report = [&](const std::optional<WarpFault> &fault, std::string_view kind) {
    if (fault)
      checks.report(module.module(), std::string(kind), *fault,
                    module.program().shared_variables(*find_in_program(kernel)));
  };
  report(outcome.race, "race");
  report(outcome.barrier, outcome.barrier ? to_string(outcome.barrier->kind) : "");
  report(outcome.uninitialized, "uninitialized");
  const bool unknown = outcome.fault && outcome.fault->kind == FaultKind::unsupported;
  if (unknown)
    say(format(*outcome.fault)); // no finding: it is ours
  else if (outcome.fault)
    report(outcome.fault, to_string(outcome.fault->kind));
  if (!outcome.fault || outcome.fault->kind != FaultKind::bad_launch)
    checks.note_run(!unknown);
}

const WarpFunction &function_of(const CUkern_st &kernel) {
  return kernel.module->program().function(*find_in_program(kernel));
}

} // namespace

std::optional<std::uint32_t> find_in_program(const CUkern_st &kernel) {
  return kernel.name.empty() ? std::nullopt : kernel.module->program().find_kernel(kernel.name);
}

cudaError_t prepare(const void *function, dim3 grid, dim3 block, void **arguments,
                    std::size_t shared, KernelCall &call) {
  call.kernel = Registry::get().find_kernel(function);
  call.function = function;
  if (!call.kernel)
    return cudaErrorInvalidDeviceFunction;
  if (const cudaError_t error = call.kernel->module->load(); error != cudaSuccess)
    return error;
  const auto index = find_in_program(*call.kernel);
  if (!index)
    return cudaErrorInvalidDeviceFunction;
  call.grid = {grid.x, grid.y, grid.z};
  call.block = {block.x, block.y, block.z};
  if (!check_launch_shape(call.grid, call.block) ||
      call.block.count() > most_threads_of(*call.kernel))
    return cudaErrorInvalidConfiguration;
  const std::uint64_t most = device().architecture().shared_per_block_opt_in;
  if (shared > static_cast<std::uint64_t>(call.kernel->dynamic_shared_limit) ||
      shared + static_shared_of(*call.kernel) > most)
    return cudaErrorInvalidValue;
  call.shared = static_cast<std::uint32_t>(shared);
  const Function &kernel = *call.kernel->module->program().function(*index).function;
  call.parameters.resize(kernel_parameter_bytes(kernel));
  if (!kernel.parameters.empty() && !arguments)
    return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    std::memcpy(call.parameters.data() + kernel_parameter_offset(kernel, i), arguments[i],
                kernel.parameters[i].size());
  return cudaSuccess;
}

cudaError_t run(const KernelCall &call) {
  const WarpProgram &program = call.kernel->module->program();
  WarpLaunch launch;
  launch.grid = call.grid;
  launch.block = call.block;
  launch.dynamic_shared = call.shared;
  launch.parameters = call.parameters;
  launch.cluster = call.cluster;
  const WarpOutcome outcome = [&] {
    // `ptxasw check` asks for it; a program on its own has the terminal for itself.
    const Elapsing elapsing(demangled(function_of(*call.kernel).function->name),
                            std::getenv("PTXASW_RUNTIME_PROGRESS") != nullptr);
    return run_kernel(program, *find_in_program(*call.kernel), launch, device().memory(),
                      device().options());
  }();
  std::fwrite(outcome.output.data(), 1, outcome.output.size(), stdout);
  tell(*call.kernel, outcome);
  if (!outcome.fault)
    return cudaSuccess;
  const cudaError_t error = error_of(outcome.fault->kind);
  if (outcome.fault->kind == FaultKind::bad_launch)
    return error;
  device().lose(error);
  return cudaSuccess;
}

std::uint64_t static_shared_of(const CUkern_st &kernel) {
  std::uint64_t bytes = 0;
  for (const VariableBytes &variable :
       kernel.module->program().shared_variables(*find_in_program(kernel)))
    bytes += variable.end - variable.begin;
  return bytes;
}

std::uint32_t most_threads_of(const CUkern_st &kernel) {
  const std::uint64_t most = device().architecture().threads_per_block;
  return static_cast<std::uint32_t>(
      std::min(most, function_of(kernel).function->most_threads().value_or(most)));
}

std::uint32_t registers_of(const CUkern_st &kernel) {
  const Module &module = kernel.module->module();
  const WarpFunction &decoded = function_of(kernel);
  const Function &function = *decoded.function;
  const Liveness liveness(module, function, *decoded.cfg);
  const auto words = [&](RegisterId reg) {
    return std::max(1u, bit_width(function.registers[reg].type) / 32) *
           (function.registers[reg].type == ScalarType::pred ? 0 : function.registers[reg].vector);
  };
  std::uint32_t most = 0;
  for (BlockId block = 0; block < decoded.cfg->blocks().size(); ++block) {
    std::vector<char> live(function.registers.size(), 0);
    std::uint32_t count = 0;
    for (RegisterId reg = 0; reg < live.size(); ++reg)
      if (liveness.live_out(block, reg))
        live[reg] = 1, count += words(reg);
    const BasicBlock &info = decoded.cfg->blocks()[block];
    for (std::uint32_t i = info.end; i-- > info.first;) {
      for (const bool writes : {true, false})
        for_each_register(module, function.instructions[i], [&](RegisterId reg, RegisterUse use) {
          const bool is_write = use == RegisterUse::written;
          if (is_write != writes || live[reg] == (writes ? 0 : 1))
            return;
          live[reg] = !writes;
          count += writes ? -words(reg) : words(reg);
        });
      most = std::max(most, count);
    }
  }
  constexpr std::uint32_t reserved = 8, granularity = 8, limit = 255;
  return std::min(limit, (most + reserved + granularity - 1) / granularity * granularity);
}

std::uint32_t blocks_on_multiprocessor(const CUkern_st &kernel, std::uint64_t threads,
                                       std::uint64_t dynamic_shared) {
  BlockNeeds needs;
  needs.threads = threads;
  needs.registers = registers_of(kernel);
  needs.static_shared = static_shared_of(kernel);
  needs.dynamic_shared = dynamic_shared;
  needs.most_threads = most_threads_of(kernel);
  needs.opted_in = kernel.dynamic_shared_limit > 48 * 1024;
  return occupancy(device().architecture(), needs).blocks;
}

} // namespace ptxasw::wrapper

using namespace ptxasw::wrapper;

namespace {

/// The kernel of a function, loaded; or the error.
cudaError_t kernel_of(const void *function, CUkern_st *&kernel) {
  kernel = Registry::get().find_kernel(function);
  if (!kernel)
    return cudaErrorInvalidDeviceFunction;
  if (const cudaError_t error = kernel->module->load(); error != cudaSuccess)
    return error;
  return find_in_program(*kernel) ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t launch(const void *function, dim3 grid, dim3 block, void **arguments,
                   std::size_t shared, cudaStream_t stream, bool cooperative,
                   std::optional<Extents> cluster = {}) {
  return device().call([&] {
    KernelCall call;
    if (const cudaError_t error = prepare(function, grid, block, arguments, shared, call);
        error != cudaSuccess)
      return error;
    call.cooperative = cooperative;
    call.cluster = cluster;
    if (cooperative) {
      const std::uint64_t most =
          std::uint64_t{blocks_on_multiprocessor(*call.kernel, call.block.count(), shared)} *
          device().architecture().multiprocessors;
      if (call.grid.count() > most)
        return cudaErrorCooperativeLaunchTooLarge;
    }
    return enqueue(stream, std::move(call));
  });
}

} // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             std::size_t shared, cudaStream_t stream) {
  return launch(function, grid, block, arguments, shared, stream, false);
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                        void **arguments, std::size_t shared, cudaStream_t stream) {
  return launch(function, grid, block, arguments, shared, stream, true);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                void **arguments) {
  if (!config)
    return Device::remember(cudaErrorInvalidValue);
  bool cooperative = false;
  std::optional<Extents> cluster;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute &attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative)
      cooperative = attribute.val.cooperative != 0;
    if (attribute.id == cudaLaunchAttributeClusterDimension)
      cluster = {attribute.val.clusterDim.x, attribute.val.clusterDim.y,
                 attribute.val.clusterDim.z};
  }
  return launch(function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                config->stream, cooperative, cluster);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *function) {
  return device().call([&] {
    CUkern_st *kernel = nullptr;
    if (!attributes)
      return cudaErrorInvalidValue;
    if (const cudaError_t error = kernel_of(function, kernel); error != cudaSuccess)
      return error;
    const Module &module = kernel->module->module();
    const WarpFunction &decoded = function_of(*kernel);
    *attributes = {};
    attributes->sharedSizeBytes = static_shared_of(*kernel);
    for (const Variable &variable : module.variables)
      if (variable.space == StateSpace::constant)
        attributes->constSizeBytes += variable.size();
    attributes->localSizeBytes = decoded.local_bytes;
    attributes->maxThreadsPerBlock = static_cast<int>(most_threads_of(*kernel));
    attributes->numRegs = static_cast<int>(registers_of(*kernel));
    attributes->ptxVersion = static_cast<int>(module.sm);
    attributes->binaryVersion = static_cast<int>(device().sm());
    attributes->maxDynamicSharedSizeBytes =
        std::min(kernel->dynamic_shared_limit,
                 static_cast<int>(device().architecture().shared_per_block_opt_in -
                                  attributes->sharedSizeBytes));
    attributes->preferredShmemCarveout = kernel->carveout;
    if (const auto *cluster = decoded.function->directive("reqnctapercluster")) {
      attributes->clusterDimMustBeSet = 1;
      attributes->requiredClusterWidth = static_cast<int>(cluster->values[0]);
      attributes->requiredClusterHeight = static_cast<int>(cluster->values[1]);
      attributes->requiredClusterDepth = static_cast<int>(cluster->values[2]);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute attribute, int value) {
  return device().call([&] {
    CUkern_st *kernel = nullptr;
    if (const cudaError_t error = kernel_of(function, kernel); error != cudaSuccess)
      return error;
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
      if (value < 0 || static_cast<std::uint64_t>(value) + static_shared_of(*kernel) >
                           device().architecture().shared_per_block_opt_in)
        return cudaErrorInvalidValue;
      kernel->dynamic_shared_limit = std::max(value, 48 * 1024);
    } else if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
      if (value < -1 || value > 100)
        return cudaErrorInvalidValue;
      kernel->carveout = value;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                            int value, int number) {
  return number == 0 ? cudaFuncSetAttribute(kernel, attribute, value)
                     : Device::remember(cudaErrorInvalidDevice);
}

cudaError_t cudaFuncSetCacheConfig(const void *function, cudaFuncCache) {
  return device().call([&] {
    CUkern_st *kernel = nullptr;
    return kernel_of(function, kernel);
  });
}

cudaError_t cudaFuncSetSharedMemConfig(const void *function, cudaSharedMemConfig) {
  return cudaFuncSetCacheConfig(function, cudaFuncCachePreferNone);
}

cudaError_t cudaFuncGetName(const char **name, const void *function) {
  return device().call([&] {
    CUkern_st *kernel = nullptr;
    const cudaError_t error = name ? kernel_of(function, kernel) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
      *name = kernel->name.c_str();
    return error;
  });
}

cudaError_t cudaFuncGetParamInfo(const void *function, std::size_t index, std::size_t *offset,
                                 std::size_t *size) {
  return device().call([&] {
    CUkern_st *kernel = nullptr;
    if (const cudaError_t error = kernel_of(function, kernel); error != cudaSuccess)
      return error;
    const Function &known = *function_of(*kernel).function;
    if (!offset || index >= known.parameters.size())
      return cudaErrorInvalidValue;
    *offset = kernel_parameter_offset(known, index);
    if (size)
      *size = known.parameters[index].size();
    return cudaSuccess;
  });
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *function) {
  return device().call([&] {
    if (!kernel)
      return cudaErrorInvalidValue;
    *kernel = Registry::get().find_kernel(function);
    return *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol) {
  return cudaGetKernel(reinterpret_cast<cudaKernel_t *>(function), symbol);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                   const void *function,
                                                                   int threads, std::size_t shared,
                                                                   unsigned) {
  return device().call([&] {
    CUkern_st *kernel = nullptr;
    if (!blocks || threads <= 0)
      return cudaErrorInvalidValue;
    if (const cudaError_t error = kernel_of(function, kernel); error != cudaSuccess)
      return error;
    *blocks = static_cast<int>(
        blocks_on_multiprocessor(*kernel, static_cast<std::uint64_t>(threads), shared));
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int threads, std::size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared,
                                                                0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t *bytes, const void *function,
                                                      int blocks, int threads) {
  return device().call([&] {
    CUkern_st *kernel = nullptr;
    if (!bytes || blocks <= 0 || threads <= 0)
      return cudaErrorInvalidValue;
    if (const cudaError_t error = kernel_of(function, kernel); error != cudaSuccess)
      return error;
    const Architecture &architecture = device().architecture();
    const std::uint64_t unit = architecture.shared_granularity;
    const std::uint64_t each = architecture.shared / static_cast<unsigned>(blocks) / unit * unit;
    const std::uint64_t taken = architecture.shared_reserved_per_block + static_shared_of(*kernel);
    *bytes = each < taken
                 ? 0
                 : std::min<std::uint64_t>(each - taken, architecture.shared_per_block_opt_in -
                                                             static_shared_of(*kernel));
    return cudaSuccess;
  });
}

} // extern "C"
