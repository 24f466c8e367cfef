// Lanes that want the same word get it together; different words of one bank take turns.

#include "emulator/banks.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ptxasw {
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

} // namespace

unsigned shared_wavefronts(std::span<const SharedAccess> accesses, unsigned bytes,
                           Pairing pairing) {
  unsigned piece = bytes <= 4 ? 32 : bytes <= 8 ? 16 : bytes <= 16 ? 8 : 4;
  if (piece < 32 && pairing == Pairing::allowed && all_in_pairs(accesses))
    piece *= 2;
  unsigned total = 0;
  for (unsigned first = 0; first < 32; first += piece) {
    std::vector<SharedAccess> of_piece;
    for (const SharedAccess &access : accesses)
      if (access.lane >= first && access.lane < first + piece)
        of_piece.push_back(access);
    const auto counts = words_by_bank(distinct_words(of_piece, bytes));
    total += *std::max_element(counts.begin(), counts.end());
  }
  return total;
}

std::optional<BankClash> bank_clash(std::span<const SharedAccess> accesses, unsigned bytes) {
  const std::vector<Word> words = distinct_words(accesses, bytes);
  const auto counts = words_by_bank(words);
  const auto worst = std::max_element(counts.begin(), counts.end());
  if (*worst < 2)
    return std::nullopt;
  BankClash clash{{}, static_cast<std::uint32_t>(worst - counts.begin())};
  unsigned found = 0;
  for (const Word &word : words)
    if (word.number % shared_banks == clash.bank && found < 2)
      // A lane with a wide access may want both words itself.
      if (found == 0 || word.lane != clash.lanes[0])
        clash.lanes[found++] = word.lane;
  return found == 2 ? std::optional(clash) : std::nullopt;
}

} // namespace ptxasw
