#pragma once

// The device of the CUDA Runtime API over the warp emulator: its memory, its errors, and what runs
// on it. Memory of the device is memory of this process, at the same addresses, so that the host's
// pointers and the kernels' are one. Whatever is asked of a stream is done before the call returns.

#include "analysis/architecture.h"
#include "emulator/machine/warp_launch.h"
#include "wrapper/runtime/findings.h"

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace ptxasw::wrapper {

class Device;

/// What an allocation of the API is.
enum class MemoryKind : std::uint8_t { device, managed, host, registered, variable };

struct Block {
  std::uint64_t size = 0; ///< bytes that were asked for
  MemoryKind kind = MemoryKind::device;
  unsigned flags = 0;               ///< of host memory
  std::uint64_t mapped = 0;         ///< bytes behind it; 0: they are not ours
  std::uint64_t *defined = nullptr; ///< which bytes were written, if that is checked
  std::string name;                 ///< for messages
  CallSite made;                    ///< where, if that is kept
  bool of_graph = false;            ///< it keeps its address when it is freed
  bool asleep = false;              ///< of a graph's: it is not allocated now
};

/// Allocations of the process, by address. Calls are made under Device's lock.
class Allocations {
public:
  explicit Allocations(Device &device) : device_(device) {}
  /// Fresh memory; null if there is none.
  void *add(std::uint64_t size, MemoryKind kind, std::string name, unsigned flags = 0);
  /// Memory of the program's own.
  cudaError_t add_host(void *address, std::uint64_t size, unsigned flags);
  /// An address for memory of a graph, which is not allocated yet; null if there is none.
  void *reserve(std::uint64_t size, std::string name);
  /// Allocates the memory of a graph that begins here; it must not be allocated.
  cudaError_t wake(void *address);
  /// Ends the one that begins here, which must be of that kind (managed memory counts as the
  /// device's) and allocated. A graph's may be allocated again.
  cudaError_t remove(void *address, MemoryKind kind);
  /// Memory of graphs is the program's from now on, or nobody's.
  void forget_graphs();
  /// The one that holds the byte, with its address; null if none does.
  const std::pair<const std::uint64_t, Block> *find(const void *address) const;
  const std::map<std::uint64_t, Block> &all() const { return blocks_; }
  std::uint64_t device_bytes() const { return device_bytes_; }

private:
  cudaError_t report_wrong_end(void *address, MemoryKind kind) const;
  void put_to_sleep(std::uint64_t address, Block &block);

  Device &device_;
  std::map<std::uint64_t, Block> blocks_;
  std::uint64_t device_bytes_ = 0;
};

class Device {
public:
  static Device &get();

  const Architecture &architecture() const { return *architecture_; }
  unsigned sm() const { return sm_; }
  std::uint64_t memory_size() const { return memory_size_; }
  Allocations &allocations() { return allocations_; }
  GlobalMemory &memory() { return memory_; }
  Checks &checks() { return checks_; }
  WarpOptions options();

  /// Takes the lock, runs the body of a call and keeps what it returns as this thread's last error.
  /// After an error that kernels leave behind for good, every call gives that one.
  template <class Body> cudaError_t call(Body body) {
    const std::unique_lock lock(mutex_);
    is_used() = true;
    return remember(guarded(lost_, body));
  }
  /// A call that asks for nothing: its error is no error of the program (cudaStreamQuery).
  template <class Body> cudaError_t ask(Body body) {
    const std::unique_lock lock(mutex_);
    return guarded(lost_, body);
  }
  /// Runs a function of the program's without the lock, which the caller has.
  template <class Body> void unlocked(Body body) {
    mutex_.unlock();
    body();
    mutex_.lock();
  }
  static cudaError_t remember(cudaError_t error);
  static cudaError_t &last_error();
  /// This thread has called the Runtime API, which makes the primary context current.
  static bool &is_used();
  /// From now on every call fails with this error.
  void lose(cudaError_t error) { lost_ = error; }
  bool is_lost() const { return lost_ != cudaSuccess; }
  void reset();
  /// Says once that a function is not there.
  static cudaError_t refuse(const char *name, const char *why);

  DeviceHeap heap;
  std::uint64_t heap_limit = 8 << 20;
  int flags = 0;

private:
  Device();
  template <class Body> static cudaError_t guarded(cudaError_t lost, Body &body) {
    if (lost != cudaSuccess)
      return lost;
    try {
      return body();
    } catch (const std::bad_alloc &) {
      return cudaErrorMemoryAllocation;
    } catch (const std::exception &) {
      return cudaErrorUnknown;
    }
  }

  std::mutex mutex_;
  const Architecture *architecture_ = nullptr;
  unsigned sm_ = 90;
  std::uint64_t memory_size_ = 0;
  unsigned threads_ = 1;
  std::uint64_t step_limit_ = ~std::uint64_t{0};
  GlobalMemory memory_;
  Checks checks_;
  Allocations allocations_{*this};
  cudaError_t lost_ = cudaSuccess;
};

inline Device &device() { return Device::get(); }

/// Says something to whoever runs the program, as one line.
void say(const std::string &text);

} // namespace ptxasw::wrapper
