// Lanes that want the same word get it together; different words of one bank take turns.

#include "emulator/semantics/banks.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ptxasw::emulator {
namespace {

struct Word {
  std::uint64_t number = 0; ///< address / 4
  std::uint32_t lane = 0;
};

/// Distinct words, each with the first lane that wants it, by number.
std::vector<Word> distinct_words(std::span<const SharedAccess> accesses, unsigned bytes) {
  std::vector<Word> words;
  for (const SharedAccess &access : accesses)
    for (std::uint64_t word = access.address / bank_bytes;
         word <= (access.address + bytes - 1) / bank_bytes; ++word)
      words.push_back({word, access.lane});
  std::stable_sort(words.begin(), words.end(),
                   [](const Word &a, const Word &b) { return a.number < b.number; });
  words.erase(std::unique(words.begin(), words.end(),
                          [](const Word &a, const Word &b) { return a.number == b.number; }),
              words.end());
  return words;
}

std::array<unsigned, shared_banks> words_by_bank(const std::vector<Word> &words) {
  std::array<unsigned, shared_banks> counts{};
  for (const Word &word : words)
    ++counts[word.number % shared_banks];
  return counts;
}

bool all_in_pairs(std::span<const SharedAccess> accesses) {
  return !accesses.empty() &&
         std::all_of(accesses.begin(), accesses.end(), [&](const SharedAccess &one) {
           return std::any_of(accesses.begin(), accesses.end(), [&](const SharedAccess &other) {
             return other.lane == (one.lane ^ 1) && other.address == one.address;
           });
         });
}

/// Lanes that are served together, in pieces of `size`.
std::vector<std::vector<SharedAccess>> pieces(std::span<const SharedAccess> accesses,
                                              unsigned size) {
  std::vector<std::vector<SharedAccess>> result(32 / size);
  for (const SharedAccess &access : accesses)
    result[access.lane / size].push_back(access);
  return result;
}

unsigned piece_size(unsigned bytes) {
  return bytes <= 4 ? 32 : bytes <= 8 ? 16 : bytes <= 16 ? 8 : 4;
}

} // namespace

unsigned shared_wavefronts(std::span<const SharedAccess> accesses, unsigned bytes,
                           Pairing pairing) {
  unsigned size = piece_size(bytes);
  if (size < 32 && pairing == Pairing::allowed && all_in_pairs(accesses))
    size *= 2;
  unsigned total = 0;
  for (const auto &piece : pieces(accesses, size)) {
    const auto counts = words_by_bank(distinct_words(piece, bytes));
    total += *std::max_element(counts.begin(), counts.end());
  }
  return total;
}

std::optional<BankClash> bank_clash(std::span<const SharedAccess> accesses, unsigned bytes) {
  for (const auto &piece : pieces(accesses, piece_size(bytes))) {
    const std::vector<Word> words = distinct_words(piece, bytes);
    const auto counts = words_by_bank(words);
    const auto worst = std::max_element(counts.begin(), counts.end());
    BankClash clash{{}, static_cast<std::uint32_t>(worst - counts.begin())};
    unsigned found = 0;
    for (const Word &word : words)
      if (word.number % shared_banks == clash.bank && found < 2)
        // A lane with a wide access may want both words itself.
        if (found == 0 || word.lane != clash.lanes[0])
          clash.lanes[found++] = word.lane;
    if (found == 2)
      return clash;
  }
  return std::nullopt;
}

} // namespace ptxasw::emulator
