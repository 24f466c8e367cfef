// Words of the form NAME=NUMBER; names that are no extents are those of parameters, which the words
// alone do not tell. A parameter is a bit pattern: of w bits, -1 and 2^w - 1 are the same, and what
// is neither a signed nor an unsigned number of w bits is none.

#include "wrapper/settings/launch_point.h"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <limits>

namespace ptxasw::wrapper {
namespace {

std::optional<facts::Rational> to_rational(const std::string &text) {
  const bool minus = text.starts_with('-');
  std::string digits = text.substr(minus ? 1 : 0);
  const bool hexadecimal = digits.starts_with("0x") && digits.size() > 2;
  const char *const known = hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
  if (digits.empty() || digits.size() > 30 ||
      digits.find_first_not_of(known, hexadecimal ? 2 : 0) != std::string::npos)
    return std::nullopt;
  if (!hexadecimal) // a zero in front would make it octal
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  const facts::Rational number(digits);
  return minus ? facts::Rational(-number) : number;
}

/// A whole number from `low` on that has the same `width` bits; nothing if it has more bits.
std::optional<facts::Rational> same_bits(const facts::Rational &number, unsigned width,
                                         const facts::Rational &low) {
  const facts::Rational size = facts::Rational::power_of_two(width);
  if (number < -facts::Rational::power_of_two(width - 1) || number >= size)
    return std::nullopt;
  return number < low           ? facts::Rational(number + size)
         : number >= low + size ? facts::Rational(number - size)
                                : number;
}

constexpr unsigned part_width = 64; ///< at most; what reads a part of a parameter knows better

unsigned width_of(const Variable &parameter) {
  const unsigned width = bit_width(parameter.type);
  const bool is_number = parameter.count == 1 && parameter.vector == 1 && !parameter.is_array;
  return is_number && width >= 8 && width <= 64 ? width : part_width;
}

/// The message about a number that something cannot hold.
std::string does_not_fit(const std::string &name, const facts::Rational &number,
                         const facts::Rational &low, const facts::Rational &high) {
  return fmt::format("--launch {}={}: it is a number from {} to {}", name, number.str(), low.str(),
                     high.str());
}

bool is_extent(const std::string &name) {
  const std::string_view extents[] = {"ntid.x",   "ntid.y",   "ntid.z",
                                      "nctaid.x", "nctaid.y", "nctaid.z"};
  return std::find(std::begin(extents), std::end(extents), name) != std::end(extents);
}

/// `table`, `table+8` or `table+8:64`: a word of a variable (facts::IntegerReader).
bool is_word(const Module &module, const std::string &name) {
  const std::string variable = name.substr(0, name.find_first_of("+:"));
  return std::any_of(module.variables.begin(), module.variables.end(),
                     [&](const Variable &one) { return one.name == variable; });
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

std::optional<std::array<std::uint32_t, 3>> extents_of(const std::string &text) {
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

std::optional<std::string> read_point(const std::vector<std::string> &texts, LaunchPoint &point) {
  for (const std::string &text : cut_at_commas(texts)) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == std::string::npos || name.empty())
      return fmt::format("--launch {}: expected NAME=NUMBER", text);
    const std::string value = text.substr(equals + 1);
    if (name == "block" || name == "grid") {
      const auto extents = extents_of(value);
      if (!extents)
        return fmt::format("--launch {}: expected X, XxY or XxYxZ", text);
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
      return fmt::format("--launch {}: `{}` is no whole number", text, value);
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
    widths_.push_back(width_of(kernel.parameters[i]));
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

const facts::Rational *ParameterNames::number(const LaunchPoint &point,
                                              const std::string &called) const {
  const facts::Rational *result = nullptr;
  for (const auto &[whole_name, number] : point.numbers) {
    const auto given = find(whole_name);
    const bool is_it = whole_name == called || whole_name == kernel_ + ":" + called ||
                       (given && (*this)(given->own) == called);
    // What is said of this kernel counts, whatever is said of all.
    if (is_it && (!result || whole_name.starts_with(kernel_ + ":")))
      result = &number;
  }
  return result;
}

std::map<std::string, std::int64_t> ParameterNames::values_at(const LaunchPoint &point) const {
  std::map<std::string, std::int64_t> result;
  for (const auto &[whole_name, number] : point.numbers)
    if (is_extent(whole_name) && whole_name.starts_with("nctaid."))
      result[whole_name] = static_cast<std::int64_t>(facts::floor_of(number));
    else if (const auto given = find(whole_name))
      if (const auto bits =
              same_bits(number, given->width, -facts::Rational::power_of_two(given->width - 1)))
        result[given->own] = static_cast<std::int64_t>(facts::floor_of(*bits));
  return result;
}

std::optional<unsigned> ParameterNames::width(const std::string &whole_name) const {
  const auto given = find(whole_name);
  return given ? std::optional(given->width) : std::nullopt;
}

std::optional<ParameterNames::Given> ParameterNames::find(const std::string &whole_name) const {
  const std::size_t colon = whole_name.find(':');
  if (colon != std::string::npos && whole_name.substr(0, colon) != kernel_)
    return std::nullopt;
  const std::string name = whole_name.substr(colon == std::string::npos ? 0 : colon + 1);
  const std::size_t plus = std::min(name.find('+'), name.size());
  const std::string base = name.substr(0, plus);
  for (std::size_t i = 0; i < own_.size(); ++i)
    if ((*this)(own_[i]) == base || own_[i] == base || kernel_ + "_" + own_[i] == base)
      return Given{own_[i] + name.substr(plus), plus < name.size() ? part_width : widths_[i]};
  return std::nullopt;
}

std::optional<facts::Rational> AmountsAt::of_variable(const std::string &variable) {
  const std::string name = names_(variable);
  const facts::Rational *const number = names_.number(point_, name);
  if (!number) {
    // Extents of a grid that were not given are 1.
    if (name.starts_with("nctaid.") && name != "nctaid.x")
      return facts::Rational(1);
    if (fault_.empty())
      fault_ = fmt::format("--launch says nothing of {}", name);
    return std::nullopt;
  }
  // A pattern of bits has a range of 2^width numbers; extents begin at 1 and are no patterns.
  const facts::AmountRange range = amounts_.range(amounts_.variable(variable));
  if (!range.low || !range.high || (*number >= *range.low && *number <= *range.high))
    return *number;
  facts::Rational low = *range.low, high = *range.high;
  // What was read with another width than it has is not reduced: which bits those are is not known.
  const auto declared = names_.width(name);
  if (low <= 0 && (!declared || facts::Rational::power_of_two(*declared) == high - low + 1)) {
    const unsigned width = facts::floor_of(high - low + 1).bits() - 1;
    if (auto bits = same_bits(*number, width, low))
      return bits;
    low = -facts::Rational::power_of_two(width - 1);
    high = facts::Rational::power_of_two(width) - 1;
  }
  if (fault_.empty())
    fault_ = does_not_fit(name, *number, low, high);
  return std::nullopt;
}

std::optional<facts::Rational> AmountsAt::operator()(const facts::Amount &amount) {
  auto result =
      amounts_.evaluate(amount, [&](const std::string &variable) { return of_variable(variable); });
  if (!result && fault_.empty())
    fault_ = "a divisor is not positive there";
  return result;
}

const facts::Amount *AmountsAt::violated(const std::vector<facts::Amount> &conditions) {
  for (const facts::Amount &condition : conditions) {
    const auto value = (*this)(condition);
    if (value && *value < 0)
      return &condition;
  }
  return nullptr;
}

tl::expected<void, std::string>
check_point(const std::vector<const Module *> &modules, const LaunchPoint &point,
            const std::function<std::string(const std::string &)> &suggest) {
  for (const auto &[name, number] : point.numbers) {
    bool known = is_extent(name);
    unsigned most = 0; // bits of the widest parameter that is called so
    for (const Module *module : modules) {
      for (const Function &function : module->functions)
        if (function.is_entry)
          most = std::max(most, ParameterNames(function, {}).width(name).value_or(0));
      known = known || most > 0 || is_word(*module, name);
    }
    if (!known)
      return tl::unexpected(
          fmt::format("--launch: no kernel has a parameter `{}`{}", name, suggest(name)));
    if (most > 0 && !same_bits(number, most, 0))
      return tl::unexpected(does_not_fit(name, number, -facts::Rational::power_of_two(most - 1),
                                         facts::Rational::power_of_two(most) - 1));
  }
  return {};
}

} // namespace ptxasw::wrapper
