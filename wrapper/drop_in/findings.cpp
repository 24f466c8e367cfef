// One table of numbers for three readers: the line under -v, the log, and `ptxasw status --totals`.

#include "wrapper/drop_in/findings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

constexpr std::string_view kept = "kept:";

std::string_view plural(std::uint64_t count) { return count == 1 ? "" : "s"; }

} // namespace

std::uint64_t Findings::operator[](std::string_view name) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? 0 : found->second;
}

void Findings::add(std::string_view name, std::uint64_t number) {
  const auto found = numbers.find(name);
  if (found != numbers.end())
    found->second += number;
  else
    numbers.emplace(name, number);
}

void Findings::add(const ModuleReport &module) {
  double milliseconds = module.parse_milliseconds;
  add("modules", 1);
  for (const KernelReport &kernel : module.kernels) {
    add("kernels", 1);
    add("loads", kernel.loads);
    add("replaced", kernel.shuffles + kernel.copies);
    for (const PassTime &pass : kernel.milliseconds)
      milliseconds += pass.milliseconds;
    for (const KeptRecord &record : kernel.kept)
      if (record.reason == Reason::target_decision)
        add("possible", 1);
      else
        add(fmt::format("{}{}", kept, to_string(record.reason)), 1);
  }
  add("microseconds", static_cast<std::uint64_t>(std::llround(milliseconds * 1000)));
}

void Findings::add_field(std::string_view text) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0)
      continue;
    std::uint64_t number = 0;
    const char *const end = word.data() + word.size();
    if (const auto read = std::from_chars(word.data() + equals + 1, end, number);
        read.ec == std::errc() && read.ptr == end)
      add(word.substr(0, equals), number);
  }
}

std::string Findings::field() const {
  std::string text;
  for (const auto &[name, number] : numbers)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, number);
  return text;
}

std::string Findings::sentence(std::string_view decision) const {
  const std::uint64_t loads = (*this)["loads"], replaced = (*this)["replaced"];
  if (!decision.empty() && (*this)["possible"] > 0)
    return fmt::format("{} of {} load{} could be replaced; not applied: {}", (*this)["possible"],
                       loads, plural(loads), decision);
  std::string text = fmt::format("{} of {} load{} {}", replaced, loads, plural(loads),
                                 decision.empty() ? "replaced" : "could be replaced");
  if (replaced > 0)
    return text;
  // The most common reasons first.
  std::vector<std::pair<std::uint64_t, std::string_view>> reasons;
  for (const auto &[name, number] : numbers)
    if (name.starts_with(kept))
      reasons.emplace_back(number, std::string_view(name).substr(kept.size()));
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto &a, const auto &b) { return a.first > b.first; });
  for (std::size_t i = 0; i < std::min<std::size_t>(reasons.size(), 3); ++i)
    text += fmt::format("{} {} {}", i == 0 ? ":" : ",", reasons[i].first, reasons[i].second);
  return text;
}

} // namespace ptxasw::wrapper
