// The runtime of the compiler demangles; what it returns is cut at brackets, which nest.

#include "wrapper/lint/names.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace ptxasw::wrapper {
namespace {

/// How much deeper in brackets one is behind a character. `->` and `operator>` close nothing: what
/// is cut there wrongly is shown, and never decides anything but a name.
int nesting(char c) {
  return c == '(' || c == '<' || c == '[' || c == '{'   ? 1
         : c == ')' || c == '>' || c == ']' || c == '}' ? -1
                                                        : 0;
}

/// Where the parameters begin: the last bracket that opens outside of others and is round. Its
/// size if there is none.
std::size_t parameters_at(std::string_view text) {
  int depth = 0;
  std::size_t at = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool anonymous = text.substr(i).starts_with("(anonymous namespace)");
    if (text[i] == '(' && depth == 0 && !anonymous)
      at = i;
    depth += nesting(text[i]);
  }
  return at;
}

/// Behind the last of some separators outside of brackets.
std::size_t last_part(std::string_view text, std::string_view separators) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += nesting(text[i]);
    if (depth == 0 && separators.find(text[i]) != std::string_view::npos)
      begin = i + 1;
  }
  return begin;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos)
    return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

} // namespace

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z"))
    return std::string(name);
  int status = 0;
  const std::unique_ptr<char, void (*)(void *)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || !text)
    return std::string(name);
  const std::string_view whole(text.get());
  const std::size_t end = parameters_at(whole);
  return std::string(whole.substr(last_part(whole.substr(0, end), " ")));
}

std::string short_name(std::string_view name) {
  const std::string whole = demangled(name);
  const std::string_view text = whole;
  // Of a variable of a function: what follows the function's parameters.
  if (const std::size_t begin = last_part(text, ")"); text.substr(begin).starts_with("::"))
    return std::string(text.substr(begin + 2));
  return std::string(text.substr(0, parameters_at(text)));
}

std::string base_name(std::string_view name) {
  const std::string whole = short_name(name);
  const std::string_view text = std::string_view(whole).substr(last_part(whole, ":"));
  return std::string(text.substr(0, text.find('<')));
}

std::vector<std::string> parameter_types(std::string_view name) {
  const std::string text = demangled(name);
  const std::size_t begin = parameters_at(text);
  const std::size_t end = text.rfind(')');
  if (begin >= text.size() || end == std::string::npos || end < begin)
    return {};
  return cut_arguments(std::string_view(text).substr(begin + 1, end - begin - 1));
}

std::vector<std::string> cut_arguments(std::string_view text) {
  std::vector<std::string> pieces;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size())
      depth += nesting(text[i]);
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      pieces.emplace_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (pieces.size() == 1 && pieces[0].empty())
    pieces.clear();
  return pieces;
}

bool is_like(std::string_view text, std::string_view pattern) {
  // Where the last `*` stands, and how much of the text it has taken so far.
  std::size_t t = 0, p = 0, star = std::string_view::npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool is_called(std::string_view name, std::string_view wanted) {
  const std::string names[] = {std::string(name), demangled(name), short_name(name),
                               base_name(name)};
  return std::any_of(std::begin(names), std::end(names),
                     [&](const std::string &one) { return one == wanted || is_like(one, wanted); });
}

std::vector<std::string> names_called(const Module &module,
                                      const std::vector<std::string> &wanted) {
  std::vector<std::string> names;
  for (const Function &function : module.functions)
    if (std::any_of(wanted.begin(), wanted.end(),
                    [&](const std::string &one) { return is_called(function.name, one); }))
      names.emplace_back(function.name);
  if (names.empty() && !wanted.empty())
    names.emplace_back();
  return names;
}

} // namespace ptxasw::wrapper
