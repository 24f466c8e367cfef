#include "emulator/warp_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ptxasw {

std::size_t GlobalMemory::allocate(std::string name, std::uint64_t size, Fill fill,
                                   std::uint64_t seed) {
  constexpr std::uint64_t gap = 1 << 20;
  allocations_.push_back({std::move(name), next_, size, fill, seed, false});
  last_found_ = nullptr;
  next_ = (next_ + size + 2 * gap - 1) / gap * gap;
  return allocations_.size() - 1;
}

const GlobalMemory::Allocation *GlobalMemory::find(std::uint64_t address,
                                                   std::uint64_t size) const {
  const auto holds = [&](const Allocation &a) {
    return address >= a.base && size <= a.size && address - a.base <= a.size - size;
  };
  if (last_found_ && holds(*last_found_))
    return last_found_;
  const auto found = std::find_if(allocations_.begin(), allocations_.end(), holds);
  return last_found_ = found == allocations_.end() ? nullptr : &*found;
}

void GlobalMemory::select_page(std::uint64_t number) {
  std::unique_ptr<Page> &page = pages_[number];
  if (!page) {
    page = std::make_unique<Page>();
    fill_page(number, *page);
  }
  last_number_ = number;
  last_page_ = page.get();
}

// Allocations begin at page boundaries, so a page belongs to one of them.
void GlobalMemory::fill_page(std::uint64_t number, Page &page) const {
  const Allocation *owner = find(number * page_size, 1);
  page.bytes.fill(0);
  if (!owner || owner->fill == Fill::zeros)
    return;
  if (owner->fill == Fill::same) {
    const std::uint64_t byte = scramble(owner->seed);
    page.bytes.fill(byte >> 8 & 7 ? static_cast<std::uint8_t>(byte) : 0);
    return;
  }
  for (std::uint64_t i = 0; i < page_size; i += 8) {
    const std::uint64_t noise = scramble(owner->seed ^ (number * page_size - owner->base + i));
    const auto low = static_cast<std::uint32_t>(noise),
               high = static_cast<std::uint32_t>(noise >> 32);
    // One sign bit, an exponent of -2 to 1, any mantissa.
    const auto real = [](std::uint32_t n) {
      return (n & 0x807fffff) | (125 + (n >> 24 & 3)) << 23;
    };
    std::uint64_t value = noise;
    if (owner->fill == Fill::f32)
      value = std::uint64_t{real(high)} << 32 | real(low);
    else if (owner->fill == Fill::f64)
      value = (noise & 0x800fffffffffffff) | (1021 + (noise >> 53 & 3)) << 52;
    else if (owner->fill == Fill::small)
      value = std::uint64_t{high & 63} << 32 | (low & 63);
    else if (owner->fill == Fill::small_wide)
      value = low & 63;
    std::memcpy(page.bytes.data() + i, &value, 8);
  }
}

void GlobalMemory::read(std::uint64_t address, std::span<std::uint8_t> to) {
  for (std::uint8_t &byte : to)
    byte = *bytes(address++, false);
}

void GlobalMemory::write(std::uint64_t address, std::span<const std::uint8_t> from) {
  for (const std::uint8_t byte : from)
    *bytes(address++, true) = byte;
}

void GlobalMemory::note_touched(std::uint64_t address, unsigned size) {
  bytes(address, false);
  for (unsigned i = 0; i < size; ++i) {
    const std::uint64_t offset = address % page_size + i;
    last_page_->touched[offset / 8] |= static_cast<std::uint8_t>(1u << offset % 8);
  }
}

bool GlobalMemory::is_touched(std::uint64_t address) const {
  const auto page = pages_.find(address / page_size);
  const std::uint64_t offset = address % page_size;
  return page != pages_.end() && (page->second->touched[offset / 8] >> offset % 8 & 1);
}

MemoryDifference compare(GlobalMemory &a, GlobalMemory &b) {
  std::vector<std::uint64_t> numbers;
  for (const auto *memory : {&a, &b})
    for (const auto &[number, page] : memory->pages())
      if (page->written)
        numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  for (const std::uint64_t number : numbers) {
    const std::uint64_t start = number * GlobalMemory::page_size;
    const std::uint8_t *x = a.bytes(start, false), *y = b.bytes(start, false);
    if (std::memcmp(x, y, GlobalMemory::page_size) == 0)
      continue;
    for (std::uint64_t i = 0; i < GlobalMemory::page_size; i += 4) {
      if (std::memcmp(x + i, y + i, 4) == 0)
        continue;
      MemoryDifference result{true, start + i};
      std::memcpy(&result.first, x + i, 4);
      std::memcpy(&result.second, y + i, 4);
      return result;
    }
  }
  return {};
}

} // namespace ptxasw
