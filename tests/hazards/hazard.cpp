#include "hazard.h"

#include <fmt/core.h>
#include <sstream>
#include <stdexcept>

namespace ptxasw::test {
namespace {

[[noreturn]] void bad(const std::string &what) { throw std::runtime_error(what); }

std::vector<std::string> words(const std::string &text) {
  std::istringstream stream(text);
  std::vector<std::string> list;
  for (std::string word; stream >> word;)
    list.push_back(word);
  return list;
}

std::uint64_t number(const std::string &text) {
  std::size_t used = 0;
  const std::uint64_t value = text.starts_with("-")
                                  ? static_cast<std::uint64_t>(std::stoll(text, &used, 0))
                                  : std::stoull(text, &used, 0);
  if (used != text.size())
    bad("not a number: " + text);
  return value;
}

/// Element type by name: what it holds, and bytes of one.
struct Contents {
  GlobalMemory::Fill fill;
  unsigned bytes;
};
const std::map<std::string, Contents> contents{
    {"zeros", {GlobalMemory::Fill::zeros, 4}},     {"f32", {GlobalMemory::Fill::f32, 4}},
    {"f64", {GlobalMemory::Fill::f64, 8}},         {"small", {GlobalMemory::Fill::small, 4}},
    {"wide", {GlobalMemory::Fill::small_wide, 8}}, {"random", {GlobalMemory::Fill::random, 4}},
};

Argument argument(const std::string &name, std::string text) {
  using Kind = Argument::Kind;
  Argument result;
  result.name = name;
  if (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-') {
    result.value = number(text);
    return result;
  }
  result.kind = Kind::buffer;
  for (const auto &[prefix, kind] : {std::pair("exact-", Kind::exact), {"far-", Kind::far}})
    if (text.starts_with(prefix)) {
      result.kind = kind;
      text = text.substr(std::string(prefix).size());
    }
  const auto colon = text.find(':');
  const auto found = contents.find(text.substr(0, colon));
  if (found == contents.end()) {
    const auto shift = text.find_first_of("+-");
    result.kind = Kind::alias;
    result.of = text.substr(0, shift);
    if (shift != std::string::npos)
      result.value = number(text.substr(text[shift] == '+' ? shift + 1 : shift));
    return result;
  }
  result.fill = found->second.fill;
  result.fill_name = found->first;
  if (result.kind != Kind::far)
    result.bytes = number(text.substr(colon + 1)) * found->second.bytes;
  return result;
}

/// `grid=2 block=16x16 a=f32:256 n=3`
HazardLaunch launch(const std::string &text) {
  HazardLaunch result;
  for (const std::string &word : words(text)) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals + 1 == word.size())
      bad("expected name=value: " + word);
    const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
    if (name == "grid" || name == "block") {
      Extents &extents = name == "grid" ? result.grid : result.block;
      std::istringstream parts(value);
      int i = 0;
      for (std::string part; std::getline(parts, part, 'x') && i < 3;)
        extents[i++] = static_cast<std::uint32_t>(number(part));
    } else {
      result.arguments.push_back(argument(name, value));
    }
  }
  return result;
}

NaiveRewrite naive(const std::string &text) {
  NaiveRewrite result;
  for (const std::string &word : words(text)) {
    const std::map<std::string, bool *> switches{
        {"without-rows", &result.with_rows},   {"without-lane", &result.with_lane},
        {"without-mask", &result.with_mask},   {"without-copy", &result.with_copy},
        {"without-guard", &result.with_guard}, {"without-order", &result.with_order}};
    if (word.starts_with("N="))
      result.delta = std::stoi(word.substr(2));
    else if (word.starts_with("X="))
      result.flip = static_cast<unsigned>(std::stoi(word.substr(2)));
    else if (word == "early")
      result.early = true;
    else if (word == "hoist")
      result.hoist = true;
    else if (switches.contains(word))
      *switches.at(word) = false;
    else
      bad("unknown naive rewrite: " + word);
  }
  return result;
}

std::map<std::string, std::string> expectations(const std::string &text) {
  std::map<std::string, std::string> result;
  for (const std::string &word : words(text)) {
    const auto sign = word.find_first_of(">=");
    if (sign == std::string::npos)
      bad("unknown expectation: " + word);
    result[word.substr(0, sign)] = word.substr(sign);
  }
  return result;
}

} // namespace

Hazard hazard_of(const Trap &trap) {
  Hazard result;
  result.name = trap.name;
  result.rule = trap.name.substr(0, trap.name.find('-'));
  result.text = trap.text;
  result.twin = trap.twin;
  for (const std::string &text : trap.values("launch"))
    result.launches.push_back(launch(text));
  for (const std::string &text : trap.values("twin-launch"))
    result.twin_launches.push_back(launch(text));
  result.shapes = trap.value("shapes", "1d");
  const std::string how = trap.value("naive", "none");
  result.has_naive = how != "none";
  if (result.has_naive)
    result.naive = naive(how);
  result.expected = expectations(trap.value("expect"));
  result.twin_expected = expectations(trap.value("twin-expect"));
  if (result.launches.empty())
    bad("a launch is missing");
  return result;
}

} // namespace ptxasw::test
