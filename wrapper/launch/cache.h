#pragma once

// From a function's handle to what is known about it, for every launch of a program: readers take
// no lock.

#include "wrapper/launch/driver_types.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ptxasw::wrapper::launch {

struct Kernel;

/// A hash table of fixed size with open addressing. Writers hold a lock of their caller's. A slot's
/// value is written before its key, so a reader that sees the key sees the value; a removal makes
/// `changes_` odd meanwhile, and a reader that saw it odd, or different after than before, knows
/// nothing. When the table is full it is emptied: it is a cache.
class KernelCache {
public:
  /// What is known about a handle; false if nothing is. Null: a kernel without siblings.
  bool find(Handle function, const Kernel *&kernel) const {
    const std::uint64_t before = changes_.load(std::memory_order_acquire);
    if (before & 1)
      return false;
    for (std::size_t i = first(function), n = 0; n < longest; i = (i + 1) % size, ++n) {
      const Handle key = slots_[i].key.load(std::memory_order_acquire);
      if (!key)
        return false;
      if (key != function)
        continue;
      kernel = slots_[i].value.load(std::memory_order_acquire);
      return changes_.load(std::memory_order_acquire) == before;
    }
    return false;
  }

  /// With the writers' lock held. `owner`: the module or library that ends with the handle.
  void insert(Handle function, Handle owner, const Kernel *kernel) {
    for (std::size_t i = first(function), n = 0; n < longest; i = (i + 1) % size, ++n) {
      const Handle key = slots_[i].key.load(std::memory_order_relaxed);
      if (key && key != function)
        continue;
      owners_[i] = owner;
      slots_[i].value.store(kernel, std::memory_order_release);
      slots_[i].key.store(function, std::memory_order_release);
      return;
    }
    forget_all(); // too crowded here
    insert(function, owner, kernel);
  }

  /// With the writers' lock held: forgets what belongs to a module or library. A chain of slots
  /// cannot lose one of them, so all the others go, too, and are looked up again.
  void forget(Handle owner) {
    for (std::size_t i = 0; i < size; ++i)
      if (slots_[i].key.load(std::memory_order_relaxed) && owners_[i] == owner)
        return forget_all();
  }

  /// With the writers' lock held.
  void forget_all() {
    changes_.fetch_add(1, std::memory_order_acq_rel);
    for (std::size_t i = 0; i < size; ++i) {
      slots_[i].key.store(nullptr, std::memory_order_release);
      slots_[i].value.store(nullptr, std::memory_order_release);
    }
    changes_.fetch_add(1, std::memory_order_release);
  }

private:
  static constexpr std::size_t size = 1 << 14;
  static constexpr std::size_t longest = 64;

  static std::size_t first(Handle function) {
    return static_cast<std::size_t>(
        (reinterpret_cast<std::uintptr_t>(function) >> 3) * 0x9e3779b97f4a7c15u >> 50);
  }

  struct Slot {
    std::atomic<Handle> key{nullptr};
    std::atomic<const Kernel *> value{nullptr};
  };
  std::array<Slot, size> slots_;
  std::array<Handle, size> owners_{};
  std::atomic<std::uint64_t> changes_{0};
};

} // namespace ptxasw::wrapper::launch
