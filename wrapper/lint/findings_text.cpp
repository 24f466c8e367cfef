// A finding on a terminal. The marks below a line of the source go under the array that is
// accessed, if its name stands there with an index; otherwise under the statement that `.loc`
// points at.

#include "wrapper/lint/findings.h"
#include "wrapper/os/terminal.h"

#include <algorithm>
#include <cctype>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

constexpr std::size_t text_columns = 100;
constexpr std::size_t most_shown_lines = 6; ///< of the PTX, in a list

/// What may come from somebody else's file goes to a terminal without control characters.
std::string printable(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    if (static_cast<unsigned char>(c) < 32 || c == 127)
      c = c == '\t' ? ' ' : '?';
  return result;
}

/// Bytes of UTF-8 that begin a character: what takes a place on a line.
bool takes_place(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), takes_place));
}

/// A paragraph whose lines end at the width of a page; those after the first begin with `indent`
/// blanks. `used`: what the first has already.
std::string wrapped(std::string_view text, std::size_t used, std::size_t indent) {
  std::string result;
  std::size_t column = used;
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!first && column + 1 + text_width(word) > text_columns) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      result += ' ';
      ++column;
    }
    result += word;
    column += text_width(word);
    first = false;
  }
  return result;
}

bool in_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Bytes of a line.
struct Marks {
  std::size_t begin = 0, end = 0;
};

/// The end of `[i][j].x->y[k]` from `at` on; `at` if there is no index.
std::size_t end_of_access(std::string_view line, std::size_t at) {
  std::size_t end = at;
  while (at < line.size()) {
    if (line[at] == '[') {
      int depth = 0;
      std::size_t close = at;
      for (; close < line.size(); ++close) {
        depth += line[close] == '[' ? 1 : line[close] == ']' ? -1 : 0;
        if (depth == 0)
          break;
      }
      end = at = std::min(close + 1, line.size());
    } else if (end != 0 && (line[at] == '.' || line.substr(at).starts_with("->"))) {
      std::size_t next = at + (line[at] == '.' ? 1 : 2);
      const std::size_t name = next;
      while (next < line.size() && in_identifier(line[next]))
        ++next;
      if (next == name)
        break;
      end = at = next;
    } else {
      break;
    }
  }
  return end;
}

/// Every `name[...]` of a statement.
std::vector<Marks> accesses_in(std::string_view line, std::string_view name, std::size_t from) {
  std::vector<Marks> result;
  for (std::size_t at = line.find(name, from); at != std::string_view::npos && !name.empty();
       at = line.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at > 0 && (in_identifier(line[at - 1]) || line[at - 1] == '.')) ||
        (end < line.size() && in_identifier(line[end])))
      continue;
    const std::size_t bracket = std::min(line.find_first_not_of(' ', end), line.size());
    if (bracket < line.size() && line[bracket] == '[')
      result.push_back({at, end_of_access(line, bracket)});
  }
  return result;
}

/// Returns true if what is marked is assigned to and not read.
bool is_assigned(std::string_view line, const Marks &marks) {
  const std::size_t next = line.find_first_not_of(' ', marks.end);
  return next != std::string_view::npos && line[next] == '=' &&
         !line.substr(next).starts_with("==");
}

/// What of a line a finding is about.
std::vector<Marks> marks_of(std::string_view line, const Finding &finding) {
  const std::size_t column = finding.place.column;
  const std::size_t from = column >= 1 && column <= line.size() ? column - 1 : 0;
  if (finding.is_near)
    return {};
  std::vector<Marks> marks = accesses_in(line, finding.array, from);
  if (marks.size() > 1 && finding.told.writes)
    marks.resize(1);
  else if (marks.size() > 1)
    std::erase_if(marks, [&](const Marks &one) { return is_assigned(line, one); });
  if (!marks.empty())
    return marks;
  const std::size_t begin = line.find_first_not_of(" \t", from);
  if (begin == std::string_view::npos)
    return {};
  std::size_t end = std::min(line.find(';', begin), line.size());
  while (end > begin + 1 && (line[end - 1] == ' ' || line[end - 1] == '{'))
    --end;
  return {{begin, end}};
}

/// The line of the source with marks below, behind a rule; empty if it cannot be shown.
std::string excerpt(const Finding &finding, const std::string &source, std::size_t margin,
                    const Painter &paint) {
  std::string line = printable(source);
  while (line.ends_with(' '))
    line.pop_back();
  const std::vector<Marks> marks = marks_of(line, finding);
  // Of a long line the part around the first mark is shown.
  const std::size_t room = text_columns - margin - 4;
  std::size_t first = 0;
  std::string_view shown = line;
  if (text_width(line) > room) {
    constexpr std::size_t before = 20;
    first = !marks.empty() && marks[0].begin > before + 3 && marks[0].end > room
                ? marks[0].begin - before
                : 0;
    while (first > 0 && first < line.size() && !takes_place(line[first]))
      ++first;
    std::size_t length = std::min(line.size() - first, room - (first > 0 ? 6 : 3));
    while (length > 0 && first + length < line.size() && !takes_place(line[first + length]))
      --length;
    shown = std::string_view(line).substr(first, length);
  }
  const bool cut_before = first > 0, cut_behind = first + shown.size() < line.size();
  std::string below(cut_before ? 3 : 0, ' ');
  for (std::size_t i = 0; i < shown.size(); ++i)
    if (takes_place(shown[i])) {
      const bool marked = std::any_of(marks.begin(), marks.end(), [&](const Marks &one) {
        return first + i >= one.begin && first + i < one.end;
      });
      below += marked ? '^' : ' ';
    }
  while (below.ends_with(' '))
    below.pop_back();
  const std::string rule = paint("|", blue);
  std::string text =
      fmt::format("{} {} {}{}{}\n", paint(fmt::format("{:>{}}", finding.place.line, margin), blue),
                  rule, cut_before ? "..." : "", shown, cut_behind ? "..." : "");
  if (!marks.empty())
    text += fmt::format("{} {} {}\n", std::string(margin, ' '), rule,
                        paint(below, finding.told.error ? red : yellow));
  return text;
}

/// The sentence without the term that the code says already.
std::string_view sentence(std::string_view message) {
  for (const std::string_view term : {"excessive sectors: ", "bank conflicts: "})
    if (message.starts_with(term))
      return message.substr(term.size());
  return message;
}

std::string count_of(std::size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

/// What part of its kernel's traffic an access is.
std::string share_of(const Told &told) {
  return fmt::format(
      "{} % of the kernel's {}",
      told.share < 0.01 ? "less than 1" : fmt::format("about {:.0f}", 100 * told.share),
      told.code == lint::Code::bank_conflict ? "shared wavefronts" : "global sectors");
}

/// Where else the same is found.
std::string where_else(const Finding &finding) {
  // Of instances of templates what comes first says enough.
  constexpr std::size_t widest = 80;
  std::string kernel = finding.kernels[0];
  if (kernel.size() > widest)
    kernel = kernel.substr(0, widest - 3) + "...";
  std::string text = fmt::format("in {}", kernel);
  if (finding.kernels.size() > 1)
    text += fmt::format(" and {} more kernel{}", finding.kernels.size() - 1,
                        finding.kernels.size() > 2 ? "s" : "");
  if (finding.told.copies > 1)
    text += fmt::format(", {} instructions like this", finding.told.copies);
  if (!finding.other_lines.empty()) {
    text += fmt::format(", also in {}line{}", finding.has_source ? "" : "PTX ",
                        finding.other_lines.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < std::min(finding.other_lines.size(), most_shown_lines); ++i)
      text += fmt::format("{} {}", i ? "," : "", finding.other_lines[i]);
    if (finding.other_lines.size() > most_shown_lines)
      text += fmt::format(" and {} more", finding.other_lines.size() - most_shown_lines);
  }
  return text;
}

std::string text_of_finding(const Finding &finding, Sources &sources, const Painter &paint,
                            const MeasuredTimes *times) {
  const Told &told = finding.told;
  Place place = finding.place;
  place.file = printable(shown_path(place.file));
  const std::string code(lint::info(told.code).name);
  const std::string kind = fmt::format("{}[{}]", told.error ? "error" : "warning", code);
  const std::string head =
      place.file.empty()
          ? fmt::format("{}, line {} of its PTX: ", printable(finding.kernels[0]), place.line)
          : fmt::format("{}: ", to_string(place));
  const std::size_t used = text_width(head) + kind.size() + 2;
  std::string text =
      fmt::format("{}{}: {}\n", paint(head, bold), paint(kind, told.error ? red : yellow),
                  paint(wrapped(printable(sentence(told.message)), used, 4), bold));
  const std::size_t margin = std::max<std::size_t>(4, std::to_string(place.line).size() + 1);
  if (finding.has_source)
    if (const std::string line = sources.line(finding.place); !line.empty())
      text += excerpt(finding, line, margin, paint);
  const auto add = [&](std::string_view label, const std::string &what) {
    const std::size_t begin = margin + 3 + label.size() + 2;
    text += fmt::format("{} {} {}: {}\n", std::string(margin, ' '), paint("=", blue),
                        paint(label, cyan), wrapped(printable(what), begin, begin));
  };
  if (!told.note.empty())
    add("help", told.note);
  const std::string where = where_else(finding);
  if (!finding.more.empty())
    add("note", finding.more);
  if (told.share > 0)
    add("note", share_of(told));
  add("note", told.usage.empty() ? where : fmt::format("{}; {}", told.usage, where));
  if (times && finding.microseconds > 0)
    add("note", fmt::format("measured: {:.1f} us{}", finding.microseconds,
                            times->of_one_launch()
                                ? " a launch"
                                : fmt::format(", {:.1f} % of all kernels",
                                              100 * finding.microseconds / times->all())));
  if (finding.has_source && finding.is_near)
    add("note", fmt::format("the compiler gives line {} of the PTX no line of the source: it is "
                            "behind this one",
                            told.line));
  for (const Place &call : told.inlined_at)
    add("note", fmt::format("inlined at {}",
                            to_string(Place{shown_path(call.file), call.line, call.column})));
  return text;
}

/// "4 warnings in 3 of 3 kernels; 2 notes hidden by default (-W pedantic); races: `ptxasw check`"
std::string summary_of(const std::vector<Finding> &findings,
                       std::span<const LintedModule> modules) {
  std::size_t kernels = 0, with = 0, unchecked = 0, hidden = 0, allowed = 0;
  for (const LintedModule &module : modules)
    for (const KernelLint &kernel : *module.kernels) {
      ++kernels;
      with += kernel.warnings.empty() ? 0 : 1;
      unchecked += kernel.unchecked.empty() ? 0 : 1;
      hidden += kernel.hidden;
      allowed += kernel.allowed;
    }
  const auto errors = static_cast<std::size_t>(std::count_if(
      findings.begin(), findings.end(), [](const Finding &one) { return one.told.error; }));
  const std::size_t warnings = findings.size() - errors;
  std::string text;
  if (errors > 0)
    text = count_of(errors, "error");
  if (warnings > 0)
    text += (text.empty() ? "" : " and ") + count_of(warnings, "warning");
  if (text.empty())
    text = "no warnings";
  text += with == 0 ? fmt::format(" in {}", count_of(kernels, "kernel"))
                    : fmt::format(" in {} of {}", with, count_of(kernels, "kernel"));
  if (unchecked > 0)
    text += fmt::format("; {} not checked", unchecked);
  if (hidden > 0)
    text += fmt::format("; {} hidden by default (-W pedantic)", count_of(hidden, "note"));
  if (allowed > 0)
    text += fmt::format("; {} allowed by the source", allowed);
  if (kernels > 0)
    text += "; races: `ptxasw check`";
  return text + '\n';
}

} // namespace

std::string findings_text(const std::vector<Finding> &findings,
                          std::span<const LintedModule> modules, Sources &sources,
                          const FindingStyle &style) {
  const Painter paint(style.colour);
  std::string text;
  for (const Finding &finding : findings)
    text += text_of_finding(finding, sources, paint, style.times) + (style.summary ? "\n" : "");
  return style.summary ? text + lines_note(findings) + summary_of(findings, modules) : text;
}

std::string lines_note(const std::vector<Finding> &findings) {
  const bool without_lines = std::any_of(findings.begin(), findings.end(), [](const Finding &one) {
    return !one.has_source && (one.ptx_kernel.starts_with("_Z") || one.place.file.empty());
  });
  return without_lines
             ? wrapped(
                   "note: the PTX has no line numbers; `nvcc -lineinfo` makes findings point at "
                   "lines of the source, and counts unrolled copies as one",
                   0, 6) +
                   "\n"
             : "";
}

} // namespace ptxasw::wrapper
