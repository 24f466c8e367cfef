#include "record.h"

#include <charconv>
#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <lzma.h>

namespace ptxasw::conformance {
namespace {

constexpr std::uint64_t memory_limit = std::uint64_t{1} << 30;

/// The next word of a line that ends at `end`; moves `at` behind it.
std::string_view take_word(std::string_view text, std::size_t &at, std::size_t end) {
  const std::size_t blank = std::min(text.find(' ', at), end);
  const std::string_view word = text.substr(at, blank - at);
  at = std::min(blank + 1, end);
  return word;
}

template <class Number> bool read_number(std::string_view word, Number &number, int base) {
  return std::from_chars(word.data(), word.data() + word.size(), number, base).ptr ==
         word.data() + word.size();
}

} // namespace

std::string write_record(const std::string &path, const Record &record) {
  std::string text = fmt::format("device {}\n", record.device);
  for (const Record::Entry &entry : record.entries)
    text += entry.refused ? fmt::format("none {:x} {}\n", entry.fingerprint, entry.name)
                          : fmt::format("have {:x} {} {}\n", entry.fingerprint, entry.bytes.size(),
                                        entry.name);
  text += '\n';
  for (const Record::Entry &entry : record.entries)
    text += entry.bytes;
  std::string packed(lzma_stream_buffer_bound(text.size()), 0);
  std::size_t size = 0;
  const auto bytes = [](std::string &s) { return reinterpret_cast<std::uint8_t *>(s.data()); };
  if (lzma_easy_buffer_encode(9 | LZMA_PRESET_EXTREME, LZMA_CHECK_CRC64, nullptr, bytes(text),
                              text.size(), bytes(packed), &size, packed.size()) != LZMA_OK)
    return "cannot compress";
  packed.resize(size);
  std::ofstream file(path, std::ios::binary);
  file.write(packed.data(), static_cast<std::streamsize>(packed.size()));
  return file.flush() ? "" : "cannot write " + path;
}

std::string read_record(const std::string &path, Record &record) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return "cannot read " + path;
  const std::string packed{std::istreambuf_iterator<char>(file), {}};
  std::string text(16 << 20, 0);
  std::uint64_t limit = memory_limit;
  std::size_t in = 0, out = 0;
  lzma_ret status;
  while ((status = lzma_stream_buffer_decode(
              &limit, 0, nullptr, reinterpret_cast<const std::uint8_t *>(packed.data()), &in,
              packed.size(), reinterpret_cast<std::uint8_t *>(text.data()), &out, text.size())) ==
             LZMA_BUF_ERROR &&
         text.size() < memory_limit) {
    text.assign(2 * text.size(), 0);
    in = out = 0;
  }
  if (status != LZMA_OK)
    return path + " is no record";
  text.resize(out);
  std::vector<std::size_t> sizes;
  std::size_t at = 0;
  while (at < text.size() && text[at] != '\n') {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos)
      return path + " is no record";
    const std::string_view kind = take_word(text, at, end);
    if (kind == "device") {
      record.device = text.substr(at, end - at);
    } else {
      Record::Entry entry;
      std::size_t size = 0;
      entry.refused = kind == "none";
      if (!read_number(take_word(text, at, end), entry.fingerprint, 16) ||
          (!entry.refused && !read_number(take_word(text, at, end), size, 10)))
        return path + " is no record";
      entry.name = text.substr(at, end - at);
      sizes.push_back(size);
      record.entries.push_back(std::move(entry));
    }
    at = end + 1;
  }
  ++at;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (at + sizes[i] > text.size())
      return path + " is too short";
    record.entries[i].bytes = text.substr(at, sizes[i]);
    at += sizes[i];
  }
  return {};
}

} // namespace ptxasw::conformance
