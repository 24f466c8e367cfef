// Of ncu, the raw page has a row a launch and a second row of units; the details page a row a
// metric, with the unit in it. Kernels are called as C++ writes them, with blanks of its own.

#include "wrapper/lint/measured.h"

#include "wrapper/lint/names.h"
#include "wrapper/lint/sources.h"

#include <algorithm>
#include <charconv>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <vector>

namespace ptxasw::wrapper {
namespace {

using Row = std::vector<std::string>;

/// The rows of a CSV; quotes are doubled within quotes.
std::vector<Row> rows_of(std::string_view text) {
  std::vector<Row> rows;
  Row row{""};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      row.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (quoted || (c != ',' && c != '\n' && c != '\r')) {
      row.back() += c;
    } else if (c == ',') {
      row.emplace_back();
    } else if (c == '\n') {
      rows.push_back(std::move(row));
      row = {""};
    }
  }
  if (row.size() > 1)
    rows.push_back(std::move(row));
  return rows;
}

std::optional<std::size_t> column(const Row &head, std::string_view name) {
  const auto found = std::find(head.begin(), head.end(), name);
  return found == head.end() ? std::nullopt : std::optional(found - head.begin());
}

/// Microseconds; thousands may be set off by commas. Nothing: no number, or no unit of time.
std::optional<double> microseconds_of(std::string number, const std::string &unit) {
  std::erase(number, ',');
  double value = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  const double scale = unit.starts_with('n')   ? 1e-3
                       : unit.starts_with('u') ? 1
                       : unit.starts_with('m') ? 1e3
                       : unit.starts_with('s') ? 1e6
                                               : 0;
  if (number.empty() || read.ec != std::errc{} || read.ptr != number.data() + number.size() ||
      scale == 0)
    return std::nullopt;
  return value * scale;
}

/// `transpose<float>` of `void transpose<float>(float *, int)`, without blanks.
std::string key_of(std::string_view name) {
  if (name.starts_with("void "))
    name.remove_prefix(5);
  int depth = 0;
  std::string key;
  for (const char c : name) {
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (c == '(' && depth == 0)
      break;
    if (c != ' ')
      key += c;
  }
  return key;
}

/// A member that is text; empty: there is none.
std::string text_in(const nlohmann::json &object, const char *member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

} // namespace

// A choice is logged when it has been made: once for each shape, GPU and process.
tl::expected<MeasuredTimes, std::string> MeasuredTimes::parse_log(std::string_view text) {
  std::map<std::string, std::pair<std::string, double>> newest; // kernel and time, by what it is of
  for (const std::string &line : cut_lines(text)) {
    const auto event = nlohmann::json::parse(line, nullptr, false);
    if (!event.is_object() || text_in(event, "event") != "choice" ||
        !event.contains("original_us") || !event["original_us"].is_number())
      continue;
    nlohmann::json of;
    for (const char *member : {"kernel", "hash", "gpu", "block", "threads"})
      of.push_back(event.value(member, nlohmann::json()));
    newest[of.dump()] = {text_in(event, "kernel"), event["original_us"].get<double>()};
  }
  if (newest.empty())
    return tl::unexpected(std::string("it is a log of the launch helper without times: no choice "
                                      "was made"));
  MeasuredTimes times;
  times.of_one_launch_ = true;
  for (const auto &[of, measured] : newest)
    times.by_name_[measured.first] += measured.second;
  return times;
}

tl::expected<MeasuredTimes, std::string> MeasuredTimes::parse(std::string_view text) {
  if (text.starts_with("{\"event\":"))
    return parse_log(text);
  MeasuredTimes times;
  const std::vector<Row> rows = rows_of(text);
  const auto head = std::find_if(rows.begin(), rows.end(), [](const Row &row) {
    return column(row, "Kernel Name").has_value();
  });
  if (head == rows.end())
    return tl::unexpected(std::string("there is no column `Kernel Name`; `ncu --csv` has one"));
  const std::size_t kernel = *column(*head, "Kernel Name");
  const auto raw = column(*head, "gpu__time_duration.sum");
  const auto metric = column(*head, "Metric Name"), unit = column(*head, "Metric Unit"),
             value = column(*head, "Metric Value");
  if (!raw && !(metric && unit && value))
    return tl::unexpected(std::string("it has no durations: neither gpu__time_duration.sum nor "
                                      "metrics with their values"));
  const auto units = head + 1; // of the raw page
  for (auto row = raw ? units + (units != rows.end()) : units; row != rows.end(); ++row) {
    if (row->size() < head->size() ||
        (!raw && (*row)[*metric] != "Duration" && (*row)[*metric] != "gpu__time_duration.sum"))
      continue;
    const auto microseconds = raw ? microseconds_of((*row)[*raw], (*units)[*raw])
                                  : microseconds_of((*row)[*value], (*row)[*unit]);
    if (!microseconds)
      return tl::unexpected(
          fmt::format("row {}: the duration is not understood", row - rows.begin() + 1));
    times.by_name_[key_of((*row)[kernel])] += *microseconds;
  }
  return times;
}

double MeasuredTimes::of(std::string_view ptx_name) const {
  for (const std::string &name :
       {std::string(ptx_name), key_of(short_name(ptx_name)), base_name(ptx_name)})
    if (const auto found = by_name_.find(name); found != by_name_.end())
      return found->second;
  return 0;
}

double MeasuredTimes::all() const {
  return std::accumulate(by_name_.begin(), by_name_.end(), 0.0,
                         [](double sum, const auto &one) { return sum + one.second; });
}

} // namespace ptxasw::wrapper
