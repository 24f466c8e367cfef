// What the log says about all runs together.

#include "wrapper/commands/command.h"
#include "wrapper/commands/status_parts.h"
#include "wrapper/drop_in/findings.h"
#include "wrapper/drop_in/outcome.h"
#include "wrapper/os/files.h"

#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>

namespace ptxasw::wrapper {
namespace {

/// The log, added up.
struct Totals {
  std::uint64_t runs = 0, warnings = 0, unread = 0; ///< lines
  std::string since, until;                         ///< times of the first and the last line
  std::map<std::string, std::uint64_t> outcomes;
  std::set<std::string, std::less<>> inputs;
  Findings findings;
};

bool is_time(std::string_view text) {
  return text.size() == 20 && text.find_first_not_of("0123456789-:TZ") == std::string_view::npos;
}

bool is_outcome(std::string_view text) {
  for (const Outcome outcome : all_outcomes)
    if (to_string(outcome) == text)
      return true;
  return false;
}

Totals add_up(std::string_view text) {
  Totals totals;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::vector<std::string_view> fields;
    for (std::size_t tab = 0; tab != std::string_view::npos;) {
      tab = line.find('\t');
      fields.push_back(line.substr(0, tab));
      line.remove_prefix(std::min(fields.back().size() + 1, line.size()));
    }
    // Half a line, from a disk that was full, or no line of ours.
    if (fields.size() < 5 || !is_time(fields[0]) || !is_outcome(fields[2])) {
      ++totals.unread;
      continue;
    }
    if (totals.since.empty())
      totals.since = fields[0];
    totals.until = fields[0];
    if (fields[2] == "settings-ignored") {
      ++totals.warnings;
      continue;
    }
    ++totals.runs;
    ++totals.outcomes[std::string(fields[2])];
    if (!fields[3].empty())
      totals.inputs.emplace(fields[3]);
    if (fields.size() > 5)
      totals.findings.add_field(fields[5]);
  }
  return totals;
}

void print_json(const std::string &file, const Totals &totals) {
  nlohmann::ordered_json json;
  json["schema_version"] = 1;
  json["file"] = file;
  json["since"] = totals.since;
  json["until"] = totals.until;
  json["runs"] = totals.runs;
  json["outcomes"] = totals.outcomes;
  json["inputs"] = totals.inputs.size();
  json["numbers"] = totals.findings.numbers;
  json["settings_ignored"] = totals.warnings;
  json["unreadable_lines"] = totals.unread;
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void row(std::string_view name, std::uint64_t number, unsigned depth = 0) {
  fmt::print("{:{}}{:<{}} {:>10}\n", "", 2 * depth, name, 28 - 2 * depth, number);
}

} // namespace

int print_log(const Settings &settings, bool json) {
  if (settings.log.empty())
    return complain("no log is kept, so there is nothing to count; set `log` in your ptxasw.toml\n"
                    "  (~/.config/ptxasw/ptxasw.toml) or PTXASW_LOG to a file");
  const auto text = read_input(settings.log);
  if (!text)
    return complain(text.error());
  const Totals totals = add_up(*text);
  if (json) {
    print_json(settings.log, totals);
    return 0;
  }
  const Findings &found = totals.findings;
  fmt::print("{}: {} to {}\n", settings.log, totals.since, totals.until);
  row("runs", totals.runs);
  for (const auto &[outcome, number] : totals.outcomes)
    row(outcome, number, 1);
  row("inputs", totals.inputs.size());
  row("modules analysed", found["modules"]);
  row("kernels", found["kernels"]);
  row("loads", found["loads"]);
  row("replaced", found["replaced"], 1);
  row("possible, not applied", found["possible"], 1);
  for (const auto &[name, number] : found.numbers)
    if (name.starts_with("kept:"))
      row(name.substr(5), number, 1);
  fmt::print("{:<28} {:>10.3f} s\n", "time in ptxasw",
             static_cast<double>(found["microseconds"]) / 1e6);
  if (totals.warnings > 0)
    row("settings ignored", totals.warnings);
  if (totals.unread > 0)
    row("lines that are no entries", totals.unread);
  return 0;
}

} // namespace ptxasw::wrapper
