// A magic word, then parts, each behind its length (64 bits, little-endian), the last of them a
// checksum. The first part is the version of ptxasw: the table and what it means may change with
// any.

#include "wrapper/launch/answer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>

namespace ptxasw::wrapper::launch {
namespace {

constexpr std::string_view magic{"PTXASWF\0", 8};
constexpr std::size_t part_count = 8, most_variables = 253;
constexpr std::size_t hash_digits = 32; ///< of long_hash()

void add(std::string &bytes, std::string_view part) {
  const std::uint64_t size = part.size();
  bytes.append(reinterpret_cast<const char *>(&size), sizeof size);
  bytes += part;
}

std::optional<std::string_view> take(std::string_view &bytes) {
  std::uint64_t size = 0;
  if (bytes.size() < sizeof size)
    return std::nullopt;
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes.remove_prefix(sizeof size);
  if (size > bytes.size())
    return std::nullopt;
  const std::string_view part = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return part;
}

/// The table's last parameters are the addresses.
bool has_addresses(const Answer &answer) {
  const auto &parameters = answer.table.parameters;
  if (answer.variables.size() > parameters.size())
    return false;
  for (std::size_t i = parameters.size() - answer.variables.size(); i < parameters.size(); ++i)
    if (parameters[i].bytes != 8)
      return false;
  return true;
}

std::string encode(const AnswerWork &work) {
  std::string text = fmt::format("{:.6g}\n", work.cycles_per_byte);
  for (const auto &[name, times] : work.times)
    text += fmt::format("{:.6g} {}\n", times, name);
  return text;
}

/// Reads that. What is no positive number says nothing.
AnswerWork decode_work(std::string_view lines) {
  AnswerWork work;
  for (bool is_first = true; !lines.empty(); is_first = false) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    double number = 0;
    const auto read = std::from_chars(line.data(), line.data() + line.size(), number);
    const auto end = static_cast<std::size_t>(read.ptr - line.data());
    const bool is_number = read.ec == std::errc() && std::isfinite(number) && number > 0;
    if (is_first)
      work.cycles_per_byte = is_number ? number : 0;
    else if (is_number && end + 1 < line.size() && line[end] == ' ')
      work.times.emplace_back(line.substr(end + 1), number);
  }
  return work;
}

} // namespace

std::string long_hash(std::string_view text) {
  std::uint64_t a = 0xcbf29ce484222325u, b = 0x84222325cbf29ce4u;
  for (const char c : text) {
    a = (a ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    b = (b ^ static_cast<unsigned char>(c)) * 0x10000000233u;
  }
  return fmt::format("{:016x}{:016x}", a, b);
}

std::string question_id(std::string_view image, unsigned sm, std::string_view kernel) {
  return long_hash(fmt::format("{}\n{}\n{}", image, sm, kernel));
}

std::string question_text(std::string_view image, unsigned sm, std::string_view kernel) {
  return fmt::format("{}\n{}\n{}\n", image, sm, kernel);
}

std::string often_text(const HowOften &often) {
  return fmt::format("{} {:.3f}\n", often.launches, often.each_us);
}

HowOften parse_often(const std::string &text) {
  HowOften often;
  char *end = nullptr;
  often.launches = std::strtoull(text.c_str(), &end, 10);
  const double each = std::strtod(end, nullptr);
  often.each_us = each > 0 && std::isfinite(each) ? each : 0;
  return often;
}

std::string remembered_name(std::string_view kernel, unsigned sm) {
  return long_hash(fmt::format("{}\n{}", sm, kernel)).substr(0, 16);
}

std::string compiled_name(std::string_view code) {
  return fmt::format("{}-{}", long_hash(code), code.size());
}

std::optional<std::uint64_t> size_in_compiled_name(std::string_view name) {
  std::uint64_t size = 0;
  if (name.size() <= hash_digits || name[hash_digits] != '-' ||
      name.substr(0, hash_digits).find_first_not_of("0123456789abcdef") != name.npos)
    return std::nullopt;
  const char *const end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + hash_digits + 1, end, size);
  return read.ec == std::errc() && read.ptr == end ? std::optional(size) : std::nullopt;
}

std::string encode_compiled(std::string_view ptx) { return long_hash(ptx) + std::string(ptx); }

std::optional<std::string_view> decode_compiled(std::string_view bytes) {
  constexpr std::size_t most = std::size_t{16} << 20;
  if (bytes.size() < hash_digits || bytes.size() > hash_digits + most)
    return std::nullopt;
  const std::string_view ptx = bytes.substr(hash_digits);
  return bytes.starts_with(long_hash(ptx)) ? std::optional(ptx) : std::nullopt;
}

std::string encode(const Answer &answer) {
  std::string variables;
  for (const auto &[name, size] : answer.variables)
    variables += fmt::format("{} {}\n", size, name);
  const std::string table = answer.reason.empty() ? encode(answer.table) : "";
  const std::string work = encode(answer.work);
  std::string bytes(magic);
  for (const std::string_view part :
       {std::string_view(PTXASW_VERSION), std::string_view(answer.reason),
        std::string_view(answer.words), std::string_view(table), std::string_view(variables),
        std::string_view(answer.image), std::string_view(answer.choices), std::string_view(work)})
    add(bytes, part);
  const std::string sum = long_hash(bytes);
  add(bytes, sum);
  return bytes;
}

tl::expected<Answer, std::string> decode_answer(std::string_view bytes) {
  const auto broken = [](std::string what) { return tl::unexpected(std::move(what)); };
  const std::string_view all = bytes;
  if (!bytes.starts_with(magic))
    return broken("it does not begin as an answer does");
  bytes.remove_prefix(magic.size());
  std::array<std::string_view, part_count> parts;
  for (std::string_view &part : parts) {
    const auto next = take(bytes);
    if (!next)
      return broken("it is cut off");
    part = *next;
  }
  const std::string_view summed = all.substr(0, all.size() - bytes.size());
  const auto sum = take(bytes);
  if (!sum || !bytes.empty())
    return broken("it is cut off, or something follows it");
  if (*sum != long_hash(summed))
    return broken("its checksum is another one");
  if (parts[0] != PTXASW_VERSION)
    return broken(fmt::format("it is of version {}", parts[0]));
  Answer answer;
  answer.reason = parts[1];
  answer.words = parts[2];
  answer.choices = parts[6];
  if (!answer.reason.empty())
    return answer;
  auto table = decode(parts[3]);
  if (!table)
    return broken(table.error());
  answer.table = std::move(*table);
  for (std::string_view lines = parts[4]; !lines.empty();) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    AnswerVariable variable;
    const auto size = std::from_chars(line.data(), line.data() + line.size(), variable.bytes);
    const auto name = static_cast<std::size_t>(size.ptr - line.data());
    if (end == lines.npos || size.ec != std::errc() || line.size() < name + 2 ||
        line[name] != ' ' || answer.variables.size() == most_variables)
      return broken("its variables are no sizes and names");
    variable.name = line.substr(name + 1);
    answer.variables.push_back(std::move(variable));
    lines.remove_prefix(end + 1);
  }
  answer.image = parts[5];
  answer.work = decode_work(parts[7]);
  if (!has_addresses(answer))
    return broken("its table has no parameters for its variables");
  return answer;
}

} // namespace ptxasw::wrapper::launch
