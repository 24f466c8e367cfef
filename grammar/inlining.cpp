// A `.loc` names the place of the call it was inlined at; that place's own `.loc`, which stands
// before it, names the next one. Module::locations has the `.loc` lines in the order of the text.

#include "grammar/inlining.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

namespace ptxasw::ptx {
namespace {

constexpr std::size_t most_calls = 64; ///< of a chain

using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

Key key_of(const Location &location) { return {location.file, location.line, location.column}; }

/// Up to three numbers from the beginning of a text.
Location numbers(std::string_view text) {
  std::uint32_t found[3] = {};
  for (std::uint32_t &number : found) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return {found[0], found[1], found[2]};
}

} // namespace

Inlining::Inlining(const Module &module) : module_(module) {
  constexpr std::string_view inlined = "inlined_at";
  std::map<Key, std::uint32_t> latest;
  const std::string_view text = module.text();
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < module.locations.size(); ++i) {
    // The next `.loc` with these numbers: comments may hold others.
    std::string_view line;
    do {
      at = text.find(".loc", at);
      if (at == std::string_view::npos)
        break;
      line = text.substr(at, text.find('\n', at) - at);
      at += 4;
    } while (line.size() < 5 || (line[4] != ' ' && line[4] != '\t') ||
             key_of(numbers(line.substr(4))) != key_of(module.locations[i]));
    if (at == std::string_view::npos)
      break; // written in a way that is not followed: no chains from here on
    std::uint32_t call = no_index;
    if (const std::size_t found = line.find(inlined); found != std::string_view::npos) {
      const Location site = numbers(line.substr(found + inlined.size()));
      const auto known = latest.find(key_of(site));
      if (known != latest.end()) {
        call = known->second;
      } else {
        call = static_cast<std::uint32_t>(module.locations.size() + calls_.size());
        calls_.push_back(site);
      }
    }
    call_.push_back(call);
    latest[key_of(module.locations[i])] = i;
  }
}

std::vector<Location> Inlining::chain(std::uint32_t location) const {
  std::vector<Location> result;
  while (location < call_.size() && call_[location] != no_index && result.size() < most_calls) {
    const std::uint32_t call = call_[location];
    const std::size_t own = module_.locations.size();
    result.push_back(call < own ? module_.locations[call] : calls_[call - own]);
    location = call;
  }
  return result;
}

} // namespace ptxasw::ptx
