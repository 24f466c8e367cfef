// libptxasw_emulate.so: the warp emulator on the memory of the process that loads it. A device
// address is a host address. Only return codes leave it: a harness in another language cannot catch
// what we throw.

#include "wrapper/library/ptxasw_emulate.h"

#include "emulator/machine/warp_launch.h"

#include <cstdio>
#include <cstring>
#include <exception>
#include <fmt/core.h>
#include <fstream>
#include <map>
#include <mutex>

namespace ptxasw::wrapper {
namespace {

constexpr int ran = 0, run_failed = 1, not_tried = 2;

struct Range {
  std::uint64_t size = 0;
  bool writable = false;
};

std::mutex ranges_mutex;
std::map<std::uint64_t, Range> allowed_ranges; ///< by start

thread_local std::string last_error;

int end_with(int code, std::string message) {
  last_error = std::move(message);
  fmt::print(stderr, "ptxasw: error: {}\n", last_error);
  return code;
}

/// What the kernel may touch: the ranges that were named or, if none was, all that is mapped.
void add_host_memory(GlobalMemory &memory) {
  const auto add = [&](const char *name, std::uint64_t start, std::uint64_t end, bool writable) {
    // What lies in the windows of shared and local memory cannot be told from them.
    constexpr std::uint64_t windows = window::first, beyond = window::last;
    if (start < windows)
      memory.allocate_host(name, start, std::min(end, windows) - start, writable);
    if (end > beyond && start < window::global)
      start = std::max(start, beyond);
    if (start >= beyond && start < end)
      memory.allocate_host(name, start, end - start, writable);
  };
  const std::scoped_lock lock(ranges_mutex);
  for (const auto &[start, range] : allowed_ranges)
    add("a named range", start, start + range.size, range.writable);
  if (!allowed_ranges.empty())
    return;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long start = 0, end = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%llx-%llx %4s", &start, &end, rights) == 3 && rights[0] == 'r')
      add("mapped memory", start, end, rights[1] == 'w');
  }
}

/// What `act` returns of a module's program and the kernel's number in it.
template <class Act> int with_kernel(const char *ptx, std::string_view name, Act act) {
  last_error.clear();
  if (!ptx)
    return end_with(not_tried, "no PTX");
  const auto module = parse(ptx, "<memory>");
  if (!module)
    return end_with(not_tried, format(module.error()));
  const WarpProgram program(**module);
  const auto kernel = program.find_kernel(name);
  if (!kernel)
    return end_with(not_tried, name.empty() ? std::string("there is no kernel")
                                            : fmt::format("there is no kernel `{}`", name));
  return act(program, *kernel);
}

/// One run: `put` writes the bytes of parameter `i`.
template <class Put>
int run_on_host(const WarpProgram &program, std::uint32_t kernel, const Extents &grid,
                const Extents &block, std::uint32_t shared, std::optional<std::size_t> arguments,
                Put put) {
  const Function &function = *program.function(kernel).function;
  if (arguments && *arguments != function.parameters.size())
    return end_with(not_tried, fmt::format("{} has {} parameters, {} are given", function.name,
                                           function.parameters.size(), *arguments));
  GlobalMemory memory;
  if (const auto placed = program.place_variables(memory); !placed)
    return end_with(not_tried, placed.error());
  add_host_memory(memory);
  WarpLaunch launch;
  launch.grid = grid;
  launch.block = block;
  launch.dynamic_shared = shared;
  launch.parameters.resize(kernel_parameter_bytes(function));
  for (std::size_t i = 0; i < function.parameters.size(); ++i)
    if (const std::string why =
            put(i, function.parameters[i],
                launch.parameters.data() + kernel_parameter_offset(function, i));
        !why.empty())
      return end_with(not_tried, fmt::format("parameter {} of {}: {}", i, function.name, why));
  const WarpOutcome outcome = run_kernel(program, kernel, launch, memory, {});
  std::fflush(stdout); // printf of kernels
  if (!outcome.fault)
    return ran;
  const FaultKind kind = outcome.fault->kind;
  const bool untried = kind == FaultKind::unsupported || kind == FaultKind::bad_launch;
  return end_with(untried ? not_tried : run_failed, format(*outcome.fault));
}

template <class Function> int guarded(Function function) {
  try {
    return function();
  } catch (const std::exception &error) {
    return end_with(not_tried, error.what());
  } catch (...) {
    return end_with(not_tried, "something unforeseen");
  }
}

} // namespace
} // namespace ptxasw::wrapper

using namespace ptxasw::wrapper;

extern "C" {

int ptx_run(char *ptx, int nargs, void **args, int lx, int ly, int lz, int gx, int gy, int gz,
            int smem) {
  return guarded([&] {
    for (const int number : {lx, ly, lz, gx, gy, gz, smem, nargs})
      if (number < 0)
        return end_with(not_tried, "a negative extent, size or number of arguments");
    const auto extent = [](int n) { return static_cast<std::uint32_t>(n); };
    const auto put = [&](std::size_t i, const Variable &parameter,
                         std::uint8_t *to) -> std::string {
      if (parameter.size() > sizeof args[i])
        return fmt::format("{} bytes; ptxasw_launch() takes them", parameter.size());
      std::memcpy(to, &args[i], parameter.size());
      return {};
    };
    return with_kernel(ptx, "", [&](const WarpProgram &program, std::uint32_t kernel) {
      return run_on_host(program, kernel, {extent(gx), extent(gy), extent(gz)},
                         {extent(lx), extent(ly), extent(lz)}, extent(smem),
                         static_cast<std::size_t>(nargs), put);
    });
  });
}

int ptxasw_launch(const char *ptx, const char *kernel, const unsigned grid[3],
                  const unsigned block[3], unsigned shared_bytes, void **params) {
  return guarded([&] {
    if (!grid || !block)
      return end_with(not_tried, "no extents");
    const auto put = [&](std::size_t i, const Variable &parameter,
                         std::uint8_t *to) -> std::string {
      if (!params || !params[i])
        return "no value";
      std::memcpy(to, params[i], parameter.size());
      return {};
    };
    return with_kernel(
        ptx, kernel ? kernel : "", [&](const WarpProgram &program, std::uint32_t index) {
          return run_on_host(program, index, {grid[0], grid[1], grid[2]},
                             {block[0], block[1], block[2]}, shared_bytes, std::nullopt, put);
        });
  });
}

int ptxasw_parameters(const char *ptx, const char *kernel, ptxasw_parameter *parameters,
                      size_t capacity, size_t *count) {
  return guarded([&] {
    if (!count || (capacity && !parameters))
      return end_with(not_tried, "nowhere to put the parameters");
    return with_kernel(
        ptx, kernel ? kernel : "", [&](const WarpProgram &program, std::uint32_t index) {
          const auto &declared = program.function(index).function->parameters;
          *count = declared.size();
          for (std::size_t i = 0; i < std::min(capacity, declared.size()); ++i) {
            parameters[i] = {{}, declared[i].size()};
            to_string(declared[i].type).copy(parameters[i].type, sizeof parameters[i].type - 1);
          }
          return ran;
        });
  });
}

int ptxasw_allow(const void *start, size_t bytes, int writable) {
  return guarded([&] {
    last_error.clear();
    const auto address = reinterpret_cast<std::uint64_t>(start);
    if (bytes == 0 || address + bytes < address)
      return end_with(not_tried, "a range that is empty or wraps around");
    const std::scoped_lock lock(ranges_mutex);
    allowed_ranges[address] = {bytes, writable != 0};
    return ran;
  });
}

void ptxasw_forget(const void *start) {
  const std::scoped_lock lock(ranges_mutex);
  allowed_ranges.erase(reinterpret_cast<std::uint64_t>(start));
}

const char *ptxasw_error(void) { return last_error.c_str(); }

} // extern "C"
