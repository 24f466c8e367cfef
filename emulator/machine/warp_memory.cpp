// Global memory as pages made when they are first touched, in allocations with gaps between them:
// what lies in no allocation is out of bounds, and what is beyond the end of one, too.

#include "emulator/machine/warp_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

namespace ptxasw::emulator {
namespace {

/// One of the numbers at which results change, as an integer or as a real of that width, by the
/// noise; in one of four cases the ordinary number.
template <class Word> Word edge(Word ordinary, std::uint32_t noise) {
  constexpr unsigned width = 8 * sizeof(Word), mantissa = width == 32 ? 23 : 52;
  constexpr Word sign = Word{1} << (width - 1), least_normal = Word{1} << mantissa,
                 infinity = (sign - 1) / least_normal * least_normal, quiet = least_normal >> 1;
  constexpr Word numbers[] = {0,
                              sign,
                              1,
                              static_cast<Word>(-1),
                              sign - 1,
                              infinity,
                              sign | infinity,
                              infinity | quiet,
                              infinity | 1,
                              least_normal,
                              sign | (least_normal - 1),
                              infinity - 1};
  const std::uint32_t which = (noise >> 8 & 0xffff) % (std::size(numbers) * 4 / 3);
  return which < std::size(numbers) ? numbers[which] : ordinary;
}

} // namespace

std::size_t GlobalMemory::allocate(std::string name, std::uint64_t size, Fill fill,
                                   std::uint64_t seed, std::uint64_t alignment) {
  constexpr std::uint64_t gap = 1 << 20;
  const std::uint64_t base = next_ + alignment % gap;
  next_ = (base + size + 2 * gap - 1) / gap * gap;
  return add({std::move(name), base, size, fill, seed});
}

std::size_t GlobalMemory::allocate_host(std::string name, std::uint64_t address, std::uint64_t size,
                                        bool writable) {
  has_host_ = true;
  return add({std::move(name), address, size, Fill::zeros, 0, !writable, true});
}

std::size_t GlobalMemory::add(Allocation allocation) {
  auto index = static_cast<std::uint32_t>(allocations_.size());
  if (allocation.is_host && !free_.empty()) {
    index = free_.back();
    free_.pop_back();
  } else {
    allocations_.emplace_back();
  }
  const auto above = std::upper_bound(
      by_base_.begin(), by_base_.end(), allocation.base,
      [&](std::uint64_t base, std::uint32_t other) { return base < allocations_[other].base; });
  by_base_.insert(above, index);
  allocations_[index] = std::move(allocation);
  allocations_[index].made = ++changes_;
  last_found_ = nullptr;
  return index;
}

const GlobalMemory::Allocation *GlobalMemory::last_below(std::uint64_t address) const {
  const GlobalMemory &owner = base_ ? *base_ : *this;
  const auto above = std::upper_bound(
      owner.by_base_.begin(), owner.by_base_.end(), address,
      [&](std::uint64_t at, std::uint32_t index) { return at < owner.allocations_[index].base; });
  return above == owner.by_base_.begin() ? nullptr : &owner.allocations_[*(above - 1)];
}

const GlobalMemory::Allocation *GlobalMemory::find(std::uint64_t address,
                                                   std::uint64_t size) const {
  const auto holds = [&](const Allocation &a) {
    return address >= a.base && size <= a.size && address - a.base <= a.size - size;
  };
  if (last_found_ && holds(*last_found_))
    return last_found_;
  const Allocation *below = last_below(address);
  return below && holds(*below) ? last_found_ = below : nullptr;
}

void GlobalMemory::release(std::uint64_t base) {
  const auto found = std::find_if(by_base_.begin(), by_base_.end(), [&](std::uint32_t index) {
    return allocations_[index].base == base;
  });
  if (found == by_base_.end())
    return;
  allocations_[*found].size = 0;
  allocations_[*found].released = ++changes_;
  if (allocations_[*found].is_host)
    free_.push_back(*found);
  by_base_.erase(found);
  last_found_ = nullptr;
}

void GlobalMemory::select_page(std::uint64_t number) {
  std::unique_ptr<Page> &page = pages_[number];
  if (!page) {
    page = std::make_unique_for_overwrite<Page>();
    if (base_) {
      page->tracks = std::make_unique<Tracks>();
      const auto below = base_->pages_.find(number);
      if (below != base_->pages_.end())
        page->bytes = below->second->bytes;
      else
        fill_page(number, *page);
    } else {
      fill_page(number, *page);
    }
  }
  last_number_ = number;
  last_page_ = page.get();
}

// Gaps are wider than a page, so a page belongs to one allocation, which need not begin with it. Of
// host memory any number may be on a page, and what lies beside them may be nobody's: it is not
// read.
void GlobalMemory::fill_page(std::uint64_t number, Page &page) const {
  const std::uint64_t start = number * page_size, end = start + page_size;
  const Allocation *owner = last_below(end - 1);
  if (owner && start >= owner->base && start - owner->base >= owner->size)
    owner = nullptr;
  if (!owner || owner->is_host || owner->fill == Fill::zeros)
    page.bytes.fill(0);
  if (owner && owner->is_host) {
    page.is_host = true;
    for (; owner && owner->base + owner->size > start; owner = last_below(owner->base - 1)) {
      const std::uint64_t first = std::max(start, owner->base);
      std::memcpy(&page.bytes[first - start], reinterpret_cast<const void *>(first),
                  std::min(end, owner->base + owner->size) - first);
    }
    return;
  }
  if (!owner || owner->fill == Fill::zeros)
    return;
  if (owner->fill == Fill::uninitialized)
    page.defined = std::make_unique<Bits>();
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
    else if (owner->fill == Fill::whole_f32)
      value = std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(high & 15) - 8)} << 32 |
              std::bit_cast<std::uint32_t>(static_cast<float>(low & 15) - 8);
    else if (owner->fill == Fill::whole_f64)
      value = std::bit_cast<std::uint64_t>(static_cast<double>(low & 15) - 8);
    else if (owner->fill == Fill::small)
      value = std::uint64_t{high & 63} << 32 | (low & 63);
    else if (owner->fill == Fill::small_wide)
      value = low & 63;
    else if (owner->fill == Fill::edges)
      value = std::uint64_t{edge(real(high), high)} << 32 | edge(real(low), low);
    else if (owner->fill == Fill::edges_wide)
      value = edge((noise & 0x800fffffffffffff) | (1021 + (noise >> 53 & 3)) << 52, low);
    std::memcpy(page.bytes.data() + i, &value, 8);
  }
}

GlobalMemory GlobalMemory::view() const {
  GlobalMemory result;
  result.base_ = this;
  return result;
}

bool GlobalMemory::has_read(const Written &written) const {
  for (const auto &[number, page] : pages_) {
    const auto found = written.find(number);
    if (found == written.end() || !page->tracks)
      continue;
    for (std::size_t i = 0; i < found->second.size(); ++i)
      if (page->tracks->read[i] & found->second[i])
        return true;
  }
  return false;
}

void GlobalMemory::write_back(GlobalMemory &memory, Written &written) const {
  for (const auto &[number, page] : pages_) {
    if (!page->written)
      continue;
    Bits &bits = written[number];
    std::uint8_t *to = page->is_host ? reinterpret_cast<std::uint8_t *>(number * page_size)
                                     : memory.bytes(number * page_size, true);
    for (std::size_t word = 0; word < bits.size(); ++word) {
      bits[word] |= page->tracks->stored[word];
      for (std::uint64_t rest = page->tracks->stored[word]; rest != 0; rest &= rest - 1) {
        const std::size_t at = word * 64 + static_cast<unsigned>(std::countr_zero(rest));
        to[at] = page->bytes[at];
      }
    }
  }
}

void GlobalMemory::read(std::uint64_t address, std::span<std::uint8_t> to) {
  for (std::uint8_t &byte : to)
    byte = *bytes(address++, false);
}

void GlobalMemory::write(std::uint64_t address, std::span<const std::uint8_t> from) {
  for (const std::uint8_t byte : from) {
    define(address, 1);
    *bytes(address++, true) = byte;
  }
}

bool GlobalMemory::is_defined(std::uint64_t address, unsigned size) {
  const std::uint64_t *defined = nullptr;
  std::uint64_t at = 0;
  if (const Allocation *host = has_host_ ? find(address, size) : nullptr; host && host->is_host) {
    defined = host->defined;
    at = address - host->base;
  } else {
    bytes(address, false);
    defined = last_page_->defined ? last_page_->defined->data() : nullptr;
    at = address % page_size;
  }
  for (const std::uint64_t end = at + size; defined && at < end; ++at)
    if (!(defined[at / 64] >> at % 64 & 1))
      return false;
  return true;
}

void GlobalMemory::define(std::uint64_t address, unsigned size) {
  std::uint64_t *defined = nullptr;
  std::uint64_t at = 0;
  if (const Allocation *host = has_host_ ? find(address, size) : nullptr; host && host->is_host) {
    defined = host->defined;
    at = address - host->base;
  } else {
    bytes(address, false);
    defined = last_page_->defined ? last_page_->defined->data() : nullptr;
    at = address % page_size;
  }
  for (const std::uint64_t end = at + size; defined && at < end; ++at)
    defined[at / 64] |= std::uint64_t{1} << at % 64;
}

void GlobalMemory::note_touched(std::uint64_t address, unsigned size) {
  bytes(address, false);
  for_each_word(address % page_size, size,
                [&](std::size_t i, std::uint64_t bits) { last_page_->touched[i] |= bits; });
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

} // namespace ptxasw::emulator
