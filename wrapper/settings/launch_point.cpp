// Words of the form NAME=NUMBER; names that are no extents are those of parameters, which nothing
// here knows.

#include "wrapper/settings/launch_point.h"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <limits>

namespace ptxasw {
namespace {

std::optional<facts::Rational> to_rational(const std::string &text) {
  const bool minus = text.starts_with('-');
  const std::string digits = text.substr(minus ? 1 : 0);
  if (digits.empty() || digits.size() > 30 ||
      !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  const facts::Rational number{boost::multiprecision::cpp_int(digits)};
  return minus ? facts::Rational(-number) : number;
}

/// Three extents after `block=` or `grid=`: 256, or 16x16x1.
std::optional<std::array<std::uint32_t, 3>> to_extents(const std::string &text) {
  std::array<std::uint32_t, 3> result{1, 1, 1};
  std::size_t axis = 0, begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find('x', begin);
    const auto number =
        to_rational(text.substr(begin, end == std::string::npos ? end : end - begin));
    if (!number || *number < 1 || *number > 0x7fffffff || axis == 3)
      return std::nullopt;
    result[axis++] = static_cast<std::uint32_t>(facts::floor_of(*number));
  }
  return result;
}

} // namespace

std::vector<std::string> cut_at_commas(const std::vector<std::string> &texts) {
  std::vector<std::string> result;
  for (const std::string &text : texts) {
    std::size_t begin = 0;
    for (std::size_t comma = 0; comma != std::string::npos; begin = comma + 1) {
      comma = text.find(',', begin);
      result.push_back(text.substr(begin, comma == std::string::npos ? comma : comma - begin));
    }
  }
  return result;
}

std::optional<std::string> read_point(const std::vector<std::string> &texts, LaunchPoint &point) {
  for (const std::string &text : cut_at_commas(texts)) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == std::string::npos || name.empty())
      return fmt::format("--at {}: expected NAME=NUMBER", text);
    const std::string value = text.substr(equals + 1);
    if (name == "block" || name == "grid") {
      const auto extents = to_extents(value);
      if (!extents)
        return fmt::format("--at {}: expected X, XxY or XxYxZ", text);
      for (int axis = 0; axis < 3; ++axis)
        point.numbers[fmt::format("{}.{}", name == "grid" ? "nctaid" : "ntid",
                                  static_cast<char>('x' + axis))] =
            facts::Rational((*extents)[static_cast<std::size_t>(axis)]);
      if (name == "block")
        point.block = BlockShape{(*extents)[0], (*extents)[1], (*extents)[2]};
      continue;
    }
    const auto number = to_rational(value);
    if (!number)
      return fmt::format("--at {}: `{}` is no whole number", text, value);
    point.numbers[name] = *number;
  }
  return std::nullopt;
}

ParameterNames::ParameterNames(const Function &kernel, const std::vector<std::string> &given)
    : kernel_(kernel.name) {
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    std::string_view own = kernel.parameters[i].name;
    if (own.size() > kernel.name.size() + 1 && own.starts_with(kernel.name) &&
        own[kernel.name.size()] == '_')
      own.remove_prefix(kernel.name.size() + 1);
    own_.emplace_back(own);
    if (i < given.size() && !given[i].empty())
      given_[std::string(own)] = given[i];
  }
}

std::string ParameterNames::operator()(const std::string &variable) const {
  const std::size_t plus = variable.find('+');
  const auto found = given_.find(variable.substr(0, plus));
  return found == given_.end()       ? variable
         : plus == std::string::npos ? found->second
                                     : found->second + variable.substr(plus);
}

std::map<std::string, std::int64_t> ParameterNames::values_at(const LaunchPoint &point) const {
  std::map<std::string, std::int64_t> result;
  for (const auto &[whole_name, number] : point.numbers) {
    const std::size_t colon = whole_name.find(':');
    if (colon != std::string::npos && whole_name.substr(0, colon) != kernel_)
      continue;
    const std::string name = whole_name.substr(colon == std::string::npos ? 0 : colon + 1);
    if (number < std::numeric_limits<std::int64_t>::min() ||
        number > std::numeric_limits<std::int64_t>::max())
      continue;
    const std::size_t plus = std::min(name.find('+'), name.size());
    for (const std::string &own : own_)
      if ((*this)(own) == name.substr(0, plus))
        result[own + name.substr(plus)] = static_cast<std::int64_t>(facts::floor_of(number));
  }
  return result;
}

std::string unknown_name(const Module &module, const std::vector<std::string> &names,
                         const LaunchPoint &point) {
  for (const auto &[name, number] : point.numbers) {
    LaunchPoint alone;
    alone.numbers.emplace(name, number);
    const bool known = std::any_of(
        module.functions.begin(), module.functions.end(), [&](const Function &function) {
          return function.is_entry &&
                 !ParameterNames(function, cut_at_commas(names)).values_at(alone).empty();
        });
    if (!known && !name.starts_with("ntid.") && !name.starts_with("nctaid."))
      return name;
  }
  return "";
}

} // namespace ptxasw
