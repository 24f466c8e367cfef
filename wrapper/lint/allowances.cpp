// What allows nothing is told only where code was made from the line of a comment, or from a file
// that an entry names: elsewhere another module may need it.

#include "wrapper/lint/allowances.h"

#include "wrapper/lint/names.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

constexpr std::string_view opening = "ptxasw: allow(";

/// The codes that a line allows.
std::vector<std::string> allowed_in(std::string_view line) {
  std::vector<std::string> codes;
  for (std::size_t at = line.find(opening); at != std::string_view::npos;
       at = line.find(opening, at + 1)) {
    const std::string_view rest = line.substr(at + opening.size());
    for (std::string &code : cut_arguments(rest.substr(0, rest.find(')'))))
      codes.push_back(std::move(code));
  }
  return codes;
}

/// Returns true if there is nothing but a comment.
bool is_comment(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return false;
  const std::string_view text = line.substr(first);
  return text.starts_with("//") || text.starts_with("/*") || text.starts_with("#") ||
         text.starts_with("!");
}

bool covers(const AllowedFile &allowed, const std::string &file) {
  return is_like(file, allowed.pattern) || is_like(file, "*/" + allowed.pattern);
}

/// The line, from 1 on, that a comment speaks of.
std::uint32_t line_meant(const std::vector<std::string> &lines, std::uint32_t line) {
  while (line < lines.size() && is_comment(lines[line - 1]))
    ++line;
  return line;
}

} // namespace

void Allowances::look_at(const Module &module, const std::string &ptx) {
  for (const Location &location : module.locations)
    if (const auto file = module.files.find(location.file); file != module.files.end())
      seen_[std::string(file->second)].insert(location.line);
  if (module.locations.empty() && module.text().find(opening) != std::string_view::npos)
    ptx_.push_back({&module, ptx, cut_lines(module.text())});
}

bool Allowances::by_comment(lint::Code code, const std::string &file, std::uint32_t line,
                            const std::vector<std::string> &lines) {
  const std::string_view name = lint::info(code).name;
  for (std::uint32_t at = line; at >= 1 && at <= lines.size(); --at) {
    if (at != line && !is_comment(lines[at - 1]))
      break;
    for (const std::string &allowed : allowed_in(lines[at - 1]))
      if (allowed == name) {
        used_.insert({file, at, allowed});
        return true;
      }
  }
  return false;
}

bool Allowances::allow(lint::Code code, const std::optional<Place> &source,
                       const std::vector<Place> &inlined_at, const Module &module,
                       std::uint32_t line) {
  std::vector<Place> places = inlined_at;
  if (source)
    places.push_back(*source);
  bool allowed = false;
  for (const Place &place : places) {
    for (const AllowedFile &one : choices_.allowed_files)
      if (one.code == lint::info(code).name && covers(one, place.file)) {
        allowed = true;
        used_files_.insert(&one);
      }
    if (const auto *lines = sources_.lines(place.file))
      allowed = by_comment(code, place.file, place.line, *lines) || allowed;
  }
  for (const Ptx &ptx : ptx_)
    if (places.empty() && ptx.module == &module)
      allowed = by_comment(code, ptx.name, line, ptx.lines) || allowed;
  return allowed;
}

std::vector<Allowances::Unused> Allowances::unused() {
  std::vector<Unused> result;
  const auto look = [&](const std::string &file, const std::vector<std::string> &lines,
                        const std::set<std::uint32_t> *seen) {
    for (std::uint32_t line = 1; line <= lines.size(); ++line)
      for (const std::string &name : allowed_in(lines[line - 1])) {
        if (used_.contains({file, line, name}) ||
            (seen && !seen->contains(line_meant(lines, line))))
          continue;
        const auto code = lint::code_of(name);
        if (code && !choices_.on[static_cast<std::size_t>(*code)])
          continue;
        result.push_back({fmt::format("{}:{}", shown_path(file), line),
                          code ? fmt::format("allow({}) allows nothing: there is no such warning "
                                             "here",
                                             name)
                               : no_such_warning(name)});
      }
  };
  for (const auto &[file, seen] : seen_)
    if (const auto *lines = sources_.lines(file))
      look(file, *lines, &seen);
  for (const Ptx &ptx : ptx_)
    look(ptx.name, ptx.lines, nullptr);
  for (const AllowedFile &one : choices_.allowed_files) {
    const bool seen = std::any_of(seen_.begin(), seen_.end(),
                                  [&](const auto &file) { return covers(one, file.first); });
    const auto code = lint::code_of(one.code);
    if (seen && code && choices_.on[static_cast<std::size_t>(*code)] && !used_files_.contains(&one))
      result.push_back(
          {"lint-allow", fmt::format("`{}:{}` allows nothing: there is no such warning "
                                     "here",
                                     one.code, one.pattern)});
  }
  return result;
}

} // namespace ptxasw::wrapper
