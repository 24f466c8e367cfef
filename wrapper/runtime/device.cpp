// Device memory is mapped page by page from this process's own address space, untouched pages cost
// nothing, and every allocation is an allocation of the emulated global memory, so kernels are held
// to its bounds by the byte.

#include "wrapper/runtime/device.h"
#include "wrapper/runtime/stream.h"
#include "wrapper/runtime/textures.h"

#include "emulator/translate/translator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <set>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

constexpr std::uint64_t page = 4096, gib = std::uint64_t{1} << 30;

std::uint64_t pages_of(std::uint64_t bytes) { return (bytes + page - 1) / page * page; }

void *map(std::uint64_t bytes) {
  void *const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// A number of the environment; nothing if it is none.
std::uint64_t number_of(const char *variable, std::uint64_t otherwise) {
  const char *const text = std::getenv(variable);
  char *end = nullptr;
  const std::uint64_t number = text ? std::strtoull(text, &end, 10) : 0;
  return text && *text && *end == 0 ? number : otherwise;
}

} // namespace

void say(const std::string &text) {
  std::fflush(stdout);
  fmt::print(stderr, "ptxasw: {}\n", text);
}

void *Allocations::add(std::uint64_t size, MemoryKind kind, std::string name, unsigned flags) {
  if (kind != MemoryKind::host && size > device_.memory_size() - device_bytes_)
    return nullptr;
  Block block{size, kind, flags, pages_of(size), nullptr, std::move(name), {}};
  if (kind != MemoryKind::variable)
    block.made = device_.checks().here();
  // With checks, what lies behind an allocation is nobody's.
  if (device_.checks().any())
    block.mapped += 16 * page;
  void *const memory = map(block.mapped);
  if (!memory)
    return nullptr;
  if (device_.checks().initialised && kind == MemoryKind::device)
    block.defined = static_cast<std::uint64_t *>(map(pages_of(size / 8 + 8)));
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  const std::size_t index = device_.memory().allocate_host(block.name, address, size, true);
  device_.memory().allocation(index).defined = block.defined;
  if (kind != MemoryKind::host)
    device_bytes_ += size;
  blocks_.emplace(address, std::move(block));
  return memory;
}

cudaError_t Allocations::add_host(void *address, std::uint64_t size, unsigned flags) {
  if (find(address) || find(static_cast<char *>(address) + size - 1))
    return cudaErrorHostMemoryAlreadyRegistered;
  const auto begin = reinterpret_cast<std::uint64_t>(address);
  device_.memory().allocate_host("registered memory", begin, size, true);
  blocks_.emplace(begin, Block{size, MemoryKind::registered, flags, 0, nullptr, "registered memory",
                               device_.checks().here()});
  return cudaSuccess;
}

void *Allocations::reserve(std::uint64_t size, std::string name) {
  void *const memory = add(size, MemoryKind::device, std::move(name));
  const auto found = blocks_.find(reinterpret_cast<std::uint64_t>(memory));
  if (!memory || found == blocks_.end())
    return nullptr;
  found->second.of_graph = true;
  put_to_sleep(found->first, found->second);
  return memory;
}

void Allocations::put_to_sleep(std::uint64_t address, Block &block) {
  device_.memory().release(address);
  device_bytes_ -= block.size;
  block.asleep = true;
}

cudaError_t Allocations::wake(void *address) {
  const auto found = blocks_.find(reinterpret_cast<std::uint64_t>(address));
  if (found == blocks_.end() || !found->second.asleep)
    return cudaErrorInvalidValue;
  Block &block = found->second;
  if (block.size > device_.memory_size() - device_bytes_)
    return cudaErrorMemoryAllocation;
  const std::size_t index =
      device_.memory().allocate_host(block.name, found->first, block.size, true);
  if (block.defined)
    std::memset(block.defined, 0, block.size / 8 + 8);
  device_.memory().allocation(index).defined = block.defined;
  device_bytes_ += block.size;
  block.asleep = false;
  device_.checks().note_beginning(found->first);
  return cudaSuccess;
}

void Allocations::forget_graphs() {
  std::erase_if(blocks_, [](const auto &block) { return block.second.asleep; });
  for (auto &[address, block] : blocks_)
    block.of_graph = false;
}

cudaError_t Allocations::report_wrong_end(void *address, MemoryKind kind) const {
  Checks &checks = device_.checks();
  if (const auto *ended = checks.find_ended(reinterpret_cast<std::uint64_t>(address)))
    checks.report_call("double free", fmt::format("{} is freed a second time", ended->second.name),
                       checks.here(), ended->second.made);
  else if (checks.any())
    checks.report_call("bad free", fmt::format("{} is no memory that can be freed", address),
                       checks.here(), {});
  return kind == MemoryKind::registered ? cudaErrorHostMemoryNotRegistered : cudaErrorInvalidValue;
}

cudaError_t Allocations::remove(void *address, MemoryKind kind) {
  const auto found = blocks_.find(reinterpret_cast<std::uint64_t>(address));
  const bool right = found != blocks_.end() && !found->second.asleep &&
                     (found->second.kind == kind ||
                      (kind == MemoryKind::device && found->second.kind == MemoryKind::managed));
  if (!right)
    return report_wrong_end(address, kind);
  if (found->second.of_graph) {
    put_to_sleep(found->first, found->second);
    device_.checks().note_end(found->first, found->second.size, found->second.name,
                              found->second.made);
    return cudaSuccess;
  }
  Block &block = found->second;
  device_.memory().release(found->first);
  if (block.mapped != 0) {
    // A checked address stays what it was: nothing else is ever found there.
    if (device_.checks().any())
      static_cast<void>(::mmap(address, block.mapped, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
    else
      ::munmap(address, block.mapped);
  }
  if (block.defined)
    ::munmap(block.defined, pages_of(block.size / 8 + 8));
  if (block.kind != MemoryKind::host && block.kind != MemoryKind::registered)
    device_bytes_ -= block.size;
  device_.checks().note_end(found->first, block.size, block.name, block.made);
  blocks_.erase(found);
  return cudaSuccess;
}

const std::pair<const std::uint64_t, Block> *Allocations::find(const void *address) const {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  auto above = blocks_.upper_bound(at);
  if (above == blocks_.begin())
    return nullptr;
  --above;
  return at - above->first < std::max<std::uint64_t>(above->second.size, 1) ? &*above : nullptr;
}

Device::Device() {
  const char *const target = std::getenv("PTXASW_RUNTIME_GPU");
  architecture_ = find_architecture(target && *target ? target : "sm_90");
  if (!architecture_) {
    say(fmt::format("PTXASW_RUNTIME_GPU={}: no such architecture; sm_90 it is", target));
    architecture_ = find_architecture("sm_90");
  }
  sm_ = static_cast<unsigned>(std::atoi(architecture_->name.substr(3).data()));
  memory_size_ = number_of("PTXASW_RUNTIME_MEMORY", 80) * gib;
  threads_ = static_cast<unsigned>(
      number_of("PTXASW_RUNTIME_THREADS", std::max(1u, std::thread::hardware_concurrency())));
  const char *const name = std::getenv("PTXASW_RUNTIME_ENGINE");
  const auto engine = engine_called(name && *name ? name : "auto");
  if (!engine)
    say(fmt::format("PTXASW_RUNTIME_ENGINE={}: expected auto, interpreter or translated", name));
  if (const auto chosen = choose_engine(engine.value_or(Engine::automatic)); !chosen)
    say(fmt::format("{}: the interpreter runs kernels", chosen.error()));
  if (const std::uint64_t limit = number_of("PTXASW_RUNTIME_STEPS", 0); limit != 0)
    step_limit_ = limit;
}

// It is never destroyed: programs call the API to the very end.
Device &Device::get() {
  static Device *const device = new Device;
  return *device;
}

WarpOptions Device::options() {
  WarpOptions options;
  options.threads = threads_;
  options.step_limit = step_limit_;
  options.heap = &heap;
  options.heap_limit = heap_limit;
  options.check_races = checks_.races;
  options.check_barriers = checks_.barriers;
  options.check_uninitialized = checks_.initialised;
  options.go_on_uninitialized = true;
  return options;
}

cudaError_t &Device::last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

bool &Device::is_used() {
  thread_local bool used = false;
  return used;
}

cudaError_t Device::remember(cudaError_t error) {
  if (error != cudaSuccess)
    last_error() = error;
  return error;
}

cudaError_t Device::refuse(const char *name, const char *why) {
  static std::mutex mutex;
  static std::set<std::string> told;
  {
    const std::scoped_lock lock(mutex);
    if (told.insert(name).second)
      say(fmt::format("{} is not supported: {}", name, why));
  }
  return remember(cudaErrorNotSupported);
}

void Device::reset() {
  const std::unique_lock lock(mutex_);
  allocations_.forget_graphs();
  std::vector<std::pair<std::uint64_t, MemoryKind>> old;
  for (const auto &[address, block] : allocations_.all())
    if (block.kind == MemoryKind::device || block.kind == MemoryKind::managed ||
        block.kind == MemoryKind::host)
      old.emplace_back(address, block.kind);
  for (const auto &[address, kind] : old)
    allocations_.remove(reinterpret_cast<void *>(address),
                        kind == MemoryKind::host ? kind : MemoryKind::device);
  forget_textures();
  forget_streams();
  lost_ = cudaSuccess;
  last_error() = cudaSuccess;
}

} // namespace ptxasw::wrapper
