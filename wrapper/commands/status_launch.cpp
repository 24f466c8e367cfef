// What `ptxasw status` knows about launches: the log of the helper, added up, and what is inside a
// program. Machine code is stored in programs as it is, so a table is found by the word that it
// begins with.

#include "wrapper/commands/status_parts.h"

#include "grammar/sibling_table.h"
#include "wrapper/commands/command.h"
#include "wrapper/commands/preload.h"
#include "wrapper/os/files.h"

#include <algorithm>
#include <cstdint>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace ptxasw::wrapper {
namespace {

using Json = nlohmann::ordered_json;

void line(std::string_view name, std::string_view value) { fmt::print("{:<15} {}\n", name, value); }

/// Sums over a log.
struct Sums {
  std::size_t processes = 0, unreadable = 0;
  std::uint64_t launches = 0, redirected = 0;
  std::map<std::string, std::uint64_t> kept;
  std::set<std::string> off;                ///< why it was switched off somewhere
  std::map<std::string, std::string> lines; ///< of kernels, choices and needs, by what they are of
};

std::string text_of(const Json &event, const char *member) {
  const auto found = event.find(member);
  return found == event.end() ? "" : found->is_string() ? found->get<std::string>() : found->dump();
}

void add(Sums &sums, const Json &event) {
  const std::string kind = text_of(event, "event"), kernel = text_of(event, "kernel");
  if (kind == "end") {
    ++sums.processes;
    sums.launches += event.value("launches", std::uint64_t{0});
    sums.redirected += event.value("redirected", std::uint64_t{0});
    const Json kept = event.value("kept", Json::object());
    for (const auto &[reason, count] : kept.items())
      sums.kept[reason] += count.is_number_unsigned() ? count.get<std::uint64_t>() : 0;
    if (const std::string why = text_of(event, "off"); !why.empty())
      sums.off.insert(why);
  } else if (kind == "kernel") {
    sums.lines[kernel + " 0"] = fmt::format("{}: has {}", kernel, text_of(event, "siblings"));
  } else if (kind == "kept") {
    const std::string sibling = text_of(event, "sibling");
    sums.lines[kernel + " 1" + sibling + text_of(event, "reason")] =
        fmt::format("{}: {} was not used: {}", kernel, sibling, text_of(event, "text"));
  } else if (kind == "choice") {
    const std::string where = fmt::format("blocks of {}, 2^{} threads, {}", text_of(event, "block"),
                                          text_of(event, "threads"), text_of(event, "gpu"));
    sums.lines[kernel + " 2" + where] = fmt::format(
        "{}: {}: {}, {} us where the original takes {} us", kernel, where, text_of(event, "chosen"),
        text_of(event, "chosen_us"), text_of(event, "original_us"));
  } else if (kind == "mismatch" || kind == "refused") {
    const std::string sibling = text_of(event, "sibling");
    sums.lines["~" + sibling + kind] =
        fmt::format("{}: {} {}", sibling, kind, text_of(event, "text"));
  }
}

} // namespace

int print_launch_log(const std::string &path) {
  const auto helper = find_library("libptxasw_launch.so");
  line("launch helper", helper ? *helper : "NOT FOUND: " + helper.error());
  if (path.empty()) {
    line("its log", "none; set PTXASW_LAUNCH_LOG to a file, or use ptxasw launch --log");
    return helper ? 0 : 1;
  }
  const auto text = read_input(path);
  if (!text)
    return complain(text.error());
  Sums sums;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    const Json event =
        Json::parse(text->begin() + static_cast<std::ptrdiff_t>(at),
                    text->begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    event.is_object() ? add(sums, event) : void(++sums.unreadable);
    at = end + 1;
  }
  line("its log", path);
  line("processes", std::to_string(sums.processes));
  line("launches", fmt::format("{}, {} of them siblings", sums.launches, sums.redirected));
  for (const auto &[reason, count] : sums.kept)
    line("", fmt::format("{} originals: {}", count, reason));
  for (const std::string &why : sums.off)
    line("switched off", fmt::format("in a process: {} (docs/launch.md)", why));
  for (const auto &[key, words] : sums.lines)
    line("", words);
  if (sums.unreadable)
    line("warning", fmt::format("{} lines are no JSON", sums.unreadable));
  return helper ? 0 : 1;
}

int print_program(const std::string &path) {
  const auto bytes = read_input(path);
  if (!bytes)
    return complain(bytes.error());
  const std::string_view all = *bytes;
  line("program", path);
  static constexpr std::string_view marker = "ptxasw launch helper, version ";
  const std::size_t helper = all.find(marker);
  std::string_view version;
  if (helper != std::string_view::npos)
    version = all.substr(helper + marker.size(), 16);
  line("launch helper", version.empty() ? "not linked in"
                                        : fmt::format("linked in, version {}",
                                                      version.substr(0, version.find('\0'))));
  std::set<std::string> found;
  for (std::size_t at = all.find(sibling_table_magic); at != std::string_view::npos;
       at = all.find(sibling_table_magic, at + 1))
    if (const auto table = decode(all.substr(at)))
      for (const Sibling &sibling : table->siblings)
        found.insert(fmt::format("{}: {}", table->kernel, sibling.name));
  line("siblings", found.empty() ? "none that can be seen" : std::to_string(found.size()));
  for (const std::string &words : found)
    line("", words);
  return 0;
}

} // namespace ptxasw::wrapper
