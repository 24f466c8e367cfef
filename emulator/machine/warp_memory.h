#pragma once

// The address space of the emulated device, and its global memory. Everybody who runs a kernel
// makes one, puts buffers into it and reads them afterwards:
//   const std::size_t x = memory.allocate("x", bytes, GlobalMemory::Fill::zeros, 0);
//   memory.read(memory.allocation(x).base, result);

#include "emulator/semantics/scramble.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptxasw::emulator {

/// Where the warp emulator puts the windows of the generic address space (PTX ISA 5.1). Addresses
/// within a state space are the generic ones, so `cvta` changes nothing; everything except global
/// memory lies below 2 GiB, so that 32-bit addresses reach it, signed or unsigned. A process that
/// has its own memory emulated as global memory (allocate_host) has nothing there, as a rule:
/// programs and heaps begin far below or above.
namespace window {
inline constexpr std::uint64_t size = 0x0100'0000;
inline constexpr std::uint64_t shared = 0x7000'0000;
/// The shared memory of the block of rank r in one's cluster, oneself included, is also at `shared`
/// + (r + 1) * block_slot.
inline constexpr std::uint64_t block_slot = 0x8'0000;
inline constexpr std::uint64_t local = 0x7100'0000;
inline constexpr std::uint64_t param = 0x7200'0000;
inline constexpr std::uint64_t function = 0x7300'0000; ///< addresses of functions, 16 bytes apart
inline constexpr std::uint64_t first = shared, last = function + size;
inline constexpr std::uint64_t global = 0x10'0000'0000; ///< and above; .const variables, too
} // namespace window

/// Global memory of the emulated device: allocations in a sparse address space. Pages are created
/// when they are touched, so an allocation may be as large as a pointer can reach.
///
/// Bytes that were never written have contents that depend on the allocation's seed and the address
/// alone: two runs with equal seeds start from equal memory.
class GlobalMemory {
public:
  /// What fresh memory holds.
  enum class Fill : std::uint8_t {
    zeros,
    f32,        ///< numbers of either sign around 1
    f64,        ///< the same in double precision
    whole_f32,  ///< whole numbers from -8 to 7
    whole_f64,  ///< the same in double precision
    small,      ///< 32-bit integers from 0 to 63
    small_wide, ///< 64-bit integers from 0 to 63
    random,     ///< any bits
    same,       ///< every byte alike, one in eight a zero
    edges,      ///< 32-bit numbers at which results change: zeros of either sign, the least and the
                ///< greatest, infinities, NaNs and what is too small for an exponent; one in four
                ///< is as of f32
    edges_wide, ///< the same with 64 bits, of f64
    uninitialized, ///< any bits, and no byte is defined before it is written
  };

  struct Allocation {
    std::string name;
    std::uint64_t base = 0;
    std::uint64_t size = 0; ///< bytes
    Fill fill = Fill::zeros;
    std::uint64_t seed = 0;
    bool read_only = false;
    bool is_host = false; ///< the address is one of this process
    /// Of host memory: one bit per byte, in words; null: all of it counts as written.
    std::uint64_t *defined = nullptr;
    /// What changes() was from when on it was there, and no longer was.
    std::uint64_t made = 0, released = ~std::uint64_t{0};
  };

  static constexpr std::uint64_t page_size = 4096;
  /// One bit per byte of a page.
  using Bits = std::array<std::uint64_t, page_size / 64>;
  /// What a view has read before it wrote it, and what it wrote.
  struct Tracks {
    Bits read{}, stored{};
  };
  struct Page {
    std::array<std::uint8_t, page_size> bytes;
    Bits touched{};                 ///< if noted
    std::unique_ptr<Tracks> tracks; ///< of a view
    std::unique_ptr<Bits> defined;  ///< one bit per byte, of Fill::uninitialized
    bool written = false;
    bool is_host = false; ///< of a view: a copy of host memory

    /// Returns true if all of these bytes, which the page has, were noted.
    bool is_touched(std::uint64_t offset, unsigned size) const {
      bool all = true;
      for_each_word(offset, size,
                    [&](std::size_t i, std::uint64_t bits) { all &= (touched[i] & bits) == bits; });
      return all;
    }
  };
  /// Calls f(word, bits) for each word of Bits that has some of a page's bytes.
  template <class Function>
  static void for_each_word(std::uint64_t offset, std::uint64_t size, Function f) {
    for (const std::uint64_t end = offset + size; offset < end;) {
      const std::uint64_t next = std::min(end, (offset / 64 + 1) * 64);
      f(offset / 64, (~std::uint64_t{0} >> (64 - (next - offset))) << offset % 64);
      offset = next;
    }
  }
  /// Bytes that were written, by page.
  using Written = std::unordered_map<std::uint64_t, Bits>;

  /// Adds an allocation at the next free place, with a gap to its neighbours. Returns its index.
  /// With an alignment, it does not begin at a multiple of twice that.
  std::size_t allocate(std::string name, std::uint64_t size, Fill fill, std::uint64_t seed,
                       std::uint64_t alignment = 0);
  /// A memory that begins like this one, keeps stores to itself and remembers what is accessed by
  /// track(). This one must not change as long as it is used.
  GlobalMemory view() const;
  /// Of a view: returns true if it read any of these bytes from the memory it is a view of.
  bool has_read(const Written &written) const;
  /// Of a view: applies to a memory what was stored to the view, and adds it to `written`.
  void write_back(GlobalMemory &memory, Written &written) const;
  /// Of a view: an access that does not cross a page. Others do nothing.
  void track(std::uint64_t address, std::uint64_t size, bool is_store) {
    if (!base_)
      return;
    bytes(address, false);
    Tracks &tracks = *last_page_->tracks;
    for_each_word(address % page_size, size, [&](std::size_t i, std::uint64_t bits) {
      if (is_store)
        tracks.stored[i] |= bits;
      else
        tracks.read[i] |= bits & ~tracks.stored[i];
    });
  }
  bool has_host() const { return has_host_; }
  /// Counts allocations that are added or released.
  std::uint64_t changes() const { return base_ ? base_->changes_ : changes_; }
  /// Of the page of the last bytes(): where accesses are to be noted; null: nowhere.
  Tracks *last_tracks() const { return last_page_->tracks.get(); }
  /// The next allocations lie at this address or above.
  void continue_at(std::uint64_t address) { next_ = std::max(next_, address); }
  /// Makes memory of this process global memory, at its own address. It must not overlap another
  /// allocation.
  std::size_t allocate_host(std::string name, std::uint64_t address, std::uint64_t size,
                            bool writable);
  const std::vector<Allocation> &allocations() const {
    return base_ ? base_->allocations_ : allocations_;
  }
  Allocation &allocation(std::size_t index) { return allocations_[index]; }
  /// Ends the allocation that begins here: nothing is there anymore. Another one of this process's
  /// memory may get its index.
  void release(std::uint64_t base);
  /// The allocation that holds the whole range, or null.
  const Allocation *find(std::uint64_t address, std::uint64_t size) const;

  /// The bytes at an address within an allocation; `size` must not cross a page.
  std::uint8_t *bytes(std::uint64_t address, bool will_write) {
    if (has_host_ && is_host(address))
      return reinterpret_cast<std::uint8_t *>(address);
    const std::uint64_t number = address / page_size;
    if (number != last_number_)
      select_page(number);
    last_page_->written |= will_write;
    return last_page_->bytes.data() + address % page_size;
  }
  void read(std::uint64_t address, std::span<std::uint8_t> to);
  void write(std::uint64_t address, std::span<const std::uint8_t> from);

  /// Returns true if all of these bytes, which must not cross a page, have been written, or were
  /// there from the start.
  bool is_defined(std::uint64_t address, unsigned size);
  /// From now on they are.
  void define(std::uint64_t address, unsigned size);

  /// Bytes that the touched pages take.
  std::uint64_t bytes_in_use() const { return pages_.size() * sizeof(Page); }

  /// Notes an access that does not cross a page in the page's `touched`.
  void note_touched(std::uint64_t address, unsigned size);
  const std::unordered_map<std::uint64_t, std::unique_ptr<Page>> &pages() const { return pages_; }

private:
  bool is_host(std::uint64_t address) const {
    const Allocation *allocation = find(address, 1);
    return allocation && allocation->is_host;
  }
  std::size_t add(Allocation allocation);
  /// The last allocation that begins at an address or below; null if none does.
  const Allocation *last_below(std::uint64_t address) const;
  void select_page(std::uint64_t number);
  void fill_page(std::uint64_t number, Page &page) const;

  std::vector<Allocation> allocations_;
  std::vector<std::uint32_t> by_base_; ///< indices of allocations_ that have not ended
  std::vector<std::uint32_t> free_;    ///< indices of host memory that has
  bool has_host_ = false;
  const GlobalMemory *base_ = nullptr; ///< that this is a view of
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t next_ = window::global, changes_ = 0;
  std::uint64_t last_number_ = ~std::uint64_t{0};
  Page *last_page_ = nullptr;
  mutable const Allocation *last_found_ = nullptr;
};

/// The first byte in which two memories differ: both must have equal allocations.
struct MemoryDifference {
  bool differs = false;
  std::uint64_t address = 0; ///< of the aligned 32-bit word around it
  std::uint32_t first = 0, second = 0;
};
MemoryDifference compare(GlobalMemory &a, GlobalMemory &b);

/// A small deterministic generator.
class WarpRandom {
public:
  explicit WarpRandom(std::uint64_t seed) : state_(scramble(seed)) {}
  std::uint64_t next() { return scramble(state_++); }
  /// From 0 to n - 1.
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

private:
  std::uint64_t state_;
};

} // namespace ptxasw::emulator
