// Work is dealt out by number, so that the parts are disjoint and together are everything, whoever
// runs them.

#include "wrapper/commands/shard.h"

#include <charconv>

namespace ptxasw::wrapper {
namespace {

bool read(std::string_view text, std::uint32_t &number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

} // namespace

std::pair<std::size_t, std::size_t> Shard::range(std::size_t total) const {
  // total * number / count without overflow: every part gets the quotient, the first ones one more.
  const std::size_t each = total / count, more = total % count;
  const auto begin = [&](std::size_t part) { return part * each + (part < more ? part : more); };
  return {begin(number - 1), begin(number)};
}

std::optional<Shard> parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  Shard shard;
  if (slash == std::string_view::npos || !read(text.substr(0, slash), shard.number) ||
      !read(text.substr(slash + 1), shard.count) || shard.number == 0 || shard.number > shard.count)
    return std::nullopt;
  return shard;
}

} // namespace ptxasw::wrapper
