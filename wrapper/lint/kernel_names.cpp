// PTX has no names of parameters, so the list is read where the kernel is defined: above its first
// line of code, the name and a bracket. A list of another length is somebody else's.

#include "wrapper/lint/kernel_names.h"

#include "wrapper/lint/names.h"

#include <algorithm>
#include <cctype>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

constexpr std::uint32_t lines_above = 60; ///< of a kernel's first statement, for its head

bool is_of_a_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

/// Where a name stands as a whole, from `from` on; npos: nowhere.
std::size_t find_name(std::string_view text, std::string_view name, std::size_t from = 0) {
  for (std::size_t at = text.find(name, from); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_of_a_name(text[at - 1])) &&
        (end == text.size() || !is_of_a_name(text[end])))
      return at;
  }
  return std::string_view::npos;
}

/// A text of C++ without its comments.
std::string without_comments(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (!rest.starts_with("//") && !rest.starts_with("/*")) {
      result += text[i++];
      continue;
    }
    const std::size_t end = rest.starts_with("//") ? rest.find('\n') : rest.find("*/", 2);
    if (end == std::string_view::npos)
      break;
    i += end + (rest.starts_with("//") ? 0 : 2);
  }
  return result;
}

/// The name that a parameter's declaration ends with: `a` of `const float (&a)[4] = 0`, of
/// `float *a`, and none of `float *`.
std::string declared_name(std::string_view declaration) {
  declaration = declaration.substr(0, declaration.find('='));
  std::size_t end = declaration.size();
  while (end > 0 && !is_of_a_name(declaration[end - 1])) {
    if (declaration[end - 1] == ']')
      end = std::min(declaration.rfind('[', end - 1), end - 1);
    else
      --end;
  }
  std::size_t begin = end;
  while (begin > 0 && is_of_a_name(declaration[begin - 1]))
    --begin;
  const std::string_view name = declaration.substr(begin, end - begin);
  const bool alone = std::none_of(
      declaration.begin(), declaration.begin() + static_cast<std::ptrdiff_t>(begin), is_of_a_name);
  const bool number = name.empty() || std::isdigit(static_cast<unsigned char>(name[0]));
  return alone || number ? std::string() : std::string(name);
}

/// The names in the list of parameters behind a kernel's name, if it is as long as that.
std::vector<std::string> names_at(std::string_view text, std::string_view base, std::size_t count) {
  for (std::size_t at = find_name(text, base); at != std::string_view::npos;
       at = find_name(text, base, at + 1)) {
    std::size_t open = text.find_first_not_of(" \t\r\n", at + base.size());
    if (open == std::string_view::npos || text[open] != '(')
      continue;
    int depth = 0;
    std::size_t close = open;
    for (; close < text.size(); ++close) {
      depth += text[close] == '(' ? 1 : text[close] == ')' ? -1 : 0;
      if (depth == 0)
        break;
    }
    std::vector<std::string> names;
    for (const std::string &declaration :
         cut_arguments(text.substr(open + 1, close - std::min(open + 1, close))))
      names.push_back(declared_name(declaration));
    if (names.size() == count)
      return names;
  }
  return {};
}

/// The names of a kernel's parameters by its source; empty if they are not known.
std::vector<std::string> source_names(const Function &kernel, const Places &places,
                                      Sources &sources) {
  for (const Instruction &instruction : kernel.instructions) {
    const auto inlined = places.inlined_at(instruction);
    const auto place = inlined.empty() ? places.of(instruction) : inlined.back();
    if (!place)
      continue;
    const auto *lines = sources.lines(place->file);
    if (!lines)
      return {};
    std::string text;
    const auto last = std::min<std::size_t>(place->line, lines->size());
    // Upwards, so that a head nearer to the code is found before another.
    for (std::size_t line = last; line > 0 && line + lines_above > last; --line) {
      text = (*lines)[line - 1] + "\n" + text;
      if (find_name((*lines)[line - 1], base_name(kernel.name)) == std::string_view::npos)
        continue;
      // The list may go on below the first line of code, which is that of the name.
      std::string below;
      for (std::size_t i = last; i < lines->size() && i < last + 20; ++i)
        below += (*lines)[i] + "\n";
      auto names = names_at(without_comments(text + below), base_name(kernel.name),
                            kernel.parameters.size());
      if (!names.empty())
        return names;
    }
    return {};
  }
  return {};
}

} // namespace

KernelNames::KernelNames(const Function &kernel, const Places &places, Sources &sources)
    : shown_(short_name(kernel.name)) {
  const std::vector<std::string> names = source_names(kernel, places, sources);
  const std::vector<std::string> types = parameter_types(kernel.name);
  for (std::size_t i = kernel.parameters.size(); i-- > 0;) {
    Parameter one{std::string(kernel.parameters[i].name), "", ""};
    if (i < names.size())
      one.source = names[i];
    one.shown = one.source;
    // A name that somebody chose says more than a number.
    const bool numbered = one.ptx == fmt::format("{}_param_{}", kernel.name, i);
    if (one.shown.empty())
      one.shown = !numbered ? one.ptx
                  : types.size() == kernel.parameters.size()
                      ? fmt::format("param {} ({})", i, types[i])
                      : fmt::format("param {}", i);
    parameters_.push_back(std::move(one));
  }
}

std::string KernelNames::in_words(std::string text) const {
  for (const Parameter &one : parameters_)
    for (std::size_t at = find_name(text, one.ptx); at != std::string::npos;
         at = find_name(text, one.ptx, at + one.shown.size()))
      text.replace(at, one.ptx.size(), one.shown);
  for (std::size_t at = text.find("_Z"); at != std::string::npos; at = text.find("_Z", at)) {
    std::size_t end = at;
    while (end < text.size() && is_of_a_name(text[end]))
      ++end;
    const bool whole = at == 0 || !is_of_a_name(text[at - 1]);
    const std::string shown = short_name(text.substr(at, end - at));
    if (whole)
      text.replace(at, end - at, shown);
    at += whole ? shown.size() : end - at;
  }
  return text;
}

std::string KernelNames::of_source(const std::string &ptx_name) const {
  for (const Parameter &one : parameters_)
    if (one.ptx == ptx_name)
      return one.source.empty() && one.shown == ptx_name ? ptx_name : one.source;
  return ptx_name.empty() ? "" : base_name(ptx_name);
}

} // namespace ptxasw::wrapper
