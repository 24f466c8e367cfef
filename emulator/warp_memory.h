#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptxasw {

/// Where the warp emulator puts the windows of the generic address space (PTX ISA 5.1). Addresses
/// within a state space are the generic ones, so `cvta` changes nothing; all but global memory
/// lies below 4 GiB, so that 32-bit addresses reach it.
namespace window {
inline constexpr std::uint64_t size = 0x0100'0000;
inline constexpr std::uint64_t shared = 0x0100'0000;
inline constexpr std::uint64_t local = 0x0200'0000;
inline constexpr std::uint64_t param = 0x0300'0000;
inline constexpr std::uint64_t function = 0x0500'0000;  ///< addresses of functions, 16 bytes apart
inline constexpr std::uint64_t global = 0x10'0000'0000; ///< and above; .const variables, too
} // namespace window

/// Global memory of the emulated device: allocations in a sparse address space. Pages come into
/// being when they are touched, so an allocation may be as large as a pointer can reach.
///
/// Bytes that nobody wrote have contents that depend on the allocation's seed and the address
/// alone: two runs with equal seeds start from equal memory.
class GlobalMemory {
public:
  /// What fresh memory holds.
  enum class Fill : std::uint8_t {
    zeros,
    f32,        ///< numbers of either sign around 1
    f64,        ///< the same in double precision
    small,      ///< 32-bit integers from 0 to 63
    small_wide, ///< 64-bit integers from 0 to 63
    random,     ///< any bits
    same,       ///< every byte alike, one in eight a zero
  };

  struct Allocation {
    std::string name;
    std::uint64_t base = 0;
    std::uint64_t size = 0; ///< bytes
    Fill fill = Fill::zeros;
    std::uint64_t seed = 0;
    bool read_only = false;
  };

  static constexpr std::uint64_t page_size = 4096;
  struct Page {
    std::array<std::uint8_t, page_size> bytes;
    std::array<std::uint8_t, page_size / 8> touched{}; ///< one bit a byte, if tracking
    bool written = false;
  };

  /// Adds an allocation at the next free place, with a gap to its neighbours. Returns its index.
  std::size_t allocate(std::string name, std::uint64_t size, Fill fill, std::uint64_t seed);
  const std::vector<Allocation> &allocations() const { return allocations_; }
  Allocation &allocation(std::size_t index) { return allocations_[index]; }
  /// The allocation that holds the whole range, or null.
  const Allocation *find(std::uint64_t address, std::uint64_t size) const;

  /// The bytes at an address within an allocation; `size` must not cross a page.
  std::uint8_t *bytes(std::uint64_t address, bool will_write) {
    const std::uint64_t number = address / page_size;
    if (number != last_number_)
      select_page(number);
    last_page_->written |= will_write;
    return last_page_->bytes.data() + address % page_size;
  }
  void read(std::uint64_t address, std::span<std::uint8_t> to);
  void write(std::uint64_t address, std::span<const std::uint8_t> from);

  /// Bytes that the touched pages take.
  std::uint64_t bytes_in_use() const { return pages_.size() * sizeof(Page); }

  /// From now on accesses are noted in the pages' `touched`.
  void note_touched(std::uint64_t address, unsigned size);
  bool is_touched(std::uint64_t address) const;
  const std::unordered_map<std::uint64_t, std::unique_ptr<Page>> &pages() const { return pages_; }

private:
  void select_page(std::uint64_t number);
  void fill_page(std::uint64_t number, Page &page) const;

  std::vector<Allocation> allocations_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t next_ = window::global;
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

/// A hash of a number: what all pseudo-random contents and decisions here are drawn from.
constexpr std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

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

} // namespace ptxasw
