// A launch file names a kernel, so its numbers are given for that kernel's parameters alone.

#include "wrapper/commands/launch_words.h"

#include "wrapper/commands/launch_file.h"
#include "wrapper/commands/numbers.h"
#include "wrapper/lint/kernel_names.h"
#include "wrapper/settings/gone.h"
#include "wrapper/settings/lint_choices.h"
#include "wrapper/settings/suggest.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

std::string extents_text(const Extents &extents) {
  return fmt::format("{}x{}x{}", extents.x, extents.y, extents.z);
}

/// The number that an argument is; nothing if it is, or holds, an address.
std::optional<std::uint64_t> number_of(const ArgumentDescription &argument) {
  if (argument.bytes.size() > 8)
    return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = argument.bytes.size(); i-- > 0;)
    number = number << 8 | argument.bytes[i];
  for (const FieldDescription &field : argument.fields) {
    if (field.kind != FieldDescription::Kind::bits || field.at != 0)
      return std::nullopt;
    number = field.bits;
  }
  return number;
}

/// The words that say what a launch file does: block, grid, and the kernel's parameters.
tl::expected<std::vector<std::string>, std::string>
words_of_file(const std::string &path, const LaunchDescription &launch,
              const std::vector<const Module *> &modules) {
  std::vector<std::string> words;
  for (const auto &[name, extents] : {std::pair("block=", &launch.block), {"grid=", &launch.grid}})
    if (const std::string text = extents_text(*extents);
        extents_of(text)) // or the launch is refused
      words.push_back(name + text);
  for (const Module *module : modules)
    for (const Function &function : module->functions) {
      if (!function.is_entry || !function.has_body ||
          (!launch.kernel.empty() && launch.kernel != function.name))
        continue;
      const ParameterNames names(function, {});
      for (std::size_t i = 0; i < std::min(function.parameters.size(), launch.arguments.size());
           ++i)
        if (const auto number = number_of(launch.arguments[i]))
          words.push_back(fmt::format("{}:{}={}", function.name, names.own(i), *number));
      return words;
    }
  return tl::unexpected(fmt::format("{}: there is no kernel `{}`", path, launch.kernel));
}

/// `in` of `in+8:u32=5` and of `scale:in=5`: what of a word names the parameter, and its kernel.
struct WordName {
  std::string kernel, base, member;
};
WordName name_of_word(const std::string &word) {
  std::string name = word.substr(0, word.find('='));
  WordName result;
  const std::size_t plus = std::min(name.find('+'), name.size());
  result.member = name.substr(plus);
  name.resize(plus);
  const std::size_t colon = name.find(':');
  if (colon != std::string::npos)
    result.kernel = name.substr(0, colon);
  result.base = name.substr(colon == std::string::npos ? 0 : colon + 1);
  return result;
}

/// The number of the parameter that PTX calls so, with or without the kernel's name in front.
std::optional<std::size_t> find_parameter(const Function &kernel, const std::string &called) {
  const ParameterNames names(kernel, {});
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    if (names.own(i) == called || kernel.parameters[i].name == called)
      return i;
  return std::nullopt;
}

/// A word, or where only the source has such a name, that of every kernel whose source has it.
std::vector<std::string> in_names_of_ptx(const std::string &word,
                                         const std::vector<const Module *> &modules,
                                         Sources &sources) {
  const WordName name = name_of_word(word);
  const std::string rest = name.member + word.substr(word.find('='));
  std::vector<std::string> found;
  if (name.base.empty())
    return {word};
  for (const Module *module : modules) {
    std::optional<Places> places; // when it is needed
    for (const Function &function : module->functions) {
      if (!function.is_entry || !function.has_body ||
          (!name.kernel.empty() && name.kernel != function.name))
        continue;
      if (find_parameter(function, name.base))
        return {word};
      if (!places)
        places.emplace(*module);
      const KernelNames of_source(function, *places, sources);
      const ParameterNames names(function, {});
      for (std::size_t i = 0; i < function.parameters.size(); ++i)
        if (of_source.of_source(std::string(function.parameters[i].name)) == name.base)
          found.push_back(fmt::format("{}:{}{}", function.name, names.own(i), rest));
    }
  }
  return found.empty() ? std::vector{word} : found; // check_point() says what is wrong with it
}

/// The parameter that a word gives a value, of the first kernel that has it; null: none has.
const Variable *parameter_of(const std::string &word, const std::vector<const Module *> &modules) {
  const WordName name = name_of_word(word);
  for (const Module *module : modules)
    for (const Function &function : module->functions)
      if (const auto at = find_parameter(function, name.base);
          at && function.is_entry && (name.kernel.empty() || name.kernel == function.name))
        return &function.parameters[*at];
  return nullptr;
}

/// `zeros:4096`, `threads.x`, `1.5`, what is a member of a struct: no whole number of a parameter.
bool is_value(const std::string &word) {
  const std::string value = word.substr(word.find('=') + 1), member = name_of_word(word).member;
  double real = 0;
  const bool is_real = value.find_first_of(".eEnN") != std::string::npos && to_number(value, real);
  const std::size_t colon = std::min(member.find(':'), member.size());
  const bool has_type =
      colon < member.size() && member.find_first_not_of("0123456789", colon + 1) != member.npos;
  return is_real || has_type || value.find(':') != std::string::npos ||
         value.starts_with("threads.");
}

std::string fault(const std::string &word, std::string_view expected) {
  return fmt::format("--launch {}: expected {}", word, expected);
}

/// `; did you mean ...` of a name that no parameter has; empty if none is near.
std::string suggestion(const std::string &called, const std::vector<const Module *> &modules,
                       Sources &sources) {
  const WordName name = name_of_word(called);
  std::vector<std::string> names;
  for (const Module *module : modules)
    for (const Function &function : module->functions) {
      if (!function.is_entry || (!name.kernel.empty() && name.kernel != function.name))
        continue;
      const ParameterNames known = source_names(function, *module, sources);
      for (std::size_t i = 0; i < function.parameters.size(); ++i)
        for (std::string one : {known(known.own(i)), known.own(i)})
          names.push_back(std::move(one));
    }
  for (const std::string_view word : {"block", "grid", "base-align", "shared", "shape", "threads"})
    names.emplace_back(word);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view near = nearest(name.base, views);
  return near.empty() ? "" : fmt::format("; did you mean `{}`?", near);
}

/// The words that are no parameters. Nothing: it is none of them. An error, or empty.
std::optional<std::string> read_shape_word(const std::string &word, AskedLaunch &launch,
                                           std::vector<std::string> &at) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
  if (name == "block" || name == "grid") {
    launch.shape_only = launch.shape_only && name == "block";
    at.push_back(word);
    return "";
  }
  if (name == "base-align") {
    LintChoices choices;
    if (!choices.assume(word))
      return fault(word, "bytes, a power of two up to 4096");
    launch.base_alignment = choices.base_alignment;
    return "";
  }
  if (name == "shared") {
    std::uint32_t bytes = 0;
    if (!to_number(value, bytes))
      return fault(word, "bytes of dynamic shared memory");
    launch.shared = bytes;
    return "";
  }
  if (name == "threads") {
    const auto extents = extents_of(value);
    if (!extents)
      return fault(word, "X, XxY or XxYxZ, from 1 on");
    launch.threads.assign(extents->begin(), extents->end());
    launch.shape_only = false;
    return "";
  }
  if (name == "shape") {
    const auto shape = parse_block_shape(value);
    if (!shape)
      return fault(word, "the shape of a block, as 32x8");
    launch.shapes.push_back(*shape);
    return "";
  }
  return std::nullopt;
}

/// What threads and block say of the grid, and block and grid of the threads.
void complete(AskedLaunch &launch) {
  auto &numbers = launch.point.numbers;
  if (!launch.point.block)
    return;
  const std::uint32_t block[] = {launch.point.block->x, launch.point.block->y,
                                 launch.point.block->z};
  const bool has_grid = numbers.contains("nctaid.x");
  std::vector<std::uint32_t> threads(3, 1);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string name = fmt::format("nctaid.{}", static_cast<char>('x' + axis));
    if (!launch.threads.empty() && !has_grid)
      numbers[name] = facts::Rational((launch.threads[axis] + block[axis] - 1) / block[axis]);
    if (const auto grid = numbers.find(name); grid != numbers.end())
      threads[axis] = static_cast<std::uint32_t>(facts::floor_of(grid->second)) * block[axis];
  }
  if (launch.threads.empty() && has_grid)
    launch.threads = threads;
}

} // namespace

tl::expected<AskedLaunch, std::string> read_launch(const std::vector<std::string> &given,
                                                   const std::vector<const Module *> &modules,
                                                   Sources &sources) {
  AskedLaunch result;
  std::vector<std::string> at; // as read_point() takes it
  for (const std::string &text : given) {
    if (text.find('=') == std::string::npos) {
      auto file = read_launch_file(text);
      if (!file)
        return tl::unexpected(fmt::format("--launch {}: expected NAME=NUMBER or a launch file: {}",
                                          text, file.error()));
      auto words = words_of_file(text, file->first, modules);
      if (!words)
        return tl::unexpected(words.error());
      result.file = std::move(file->first);
      result.shared = result.file->shared;
      result.shape_only = false;
      at.insert(at.end(), words->begin(), words->end());
      continue;
    }
    if (const std::string former = former_extents(text); !former.empty())
      return tl::unexpected("--launch: " + former);
    for (const std::string &word : cut_at_commas({text})) {
      if (word.find('=') == std::string::npos)
        return tl::unexpected(fault(word, "NAME=NUMBER"));
      if (const auto wrong = read_shape_word(word, result, at)) {
        if (!wrong->empty())
          return tl::unexpected(*wrong);
        continue;
      }
      result.shape_only = false;
      for (std::string &own : in_names_of_ptx(word, modules, sources)) {
        const Variable *const parameter = parameter_of(own, modules);
        if (is_value(own) && !parameter)
          return tl::unexpected(fmt::format("--launch: no kernel has a parameter `{}`{}",
                                            name_of_word(own).base,
                                            suggestion(own, modules, sources)));
        // 1 is 1.0 where the parameter is a floating-point number, and not its bits.
        if (!is_value(own) && !(parameter && is_float(parameter->type)))
          at.push_back(own);
        result.values.push_back(std::move(own));
      }
    }
  }
  if (auto wrong = read_point(at, result.point))
    return tl::unexpected(std::move(*wrong));
  if (result.point.block)
    if (const auto legal = check_launch_shape({}, *result.point.block); !legal)
      return tl::unexpected("--launch: " + legal.error());
  complete(result);
  const auto suggest = [&](const std::string &name) { return suggestion(name, modules, sources); };
  if (const auto fits = check_point(modules, result.point, suggest); !fits)
    return tl::unexpected(fits.error());
  return result;
}

std::vector<ParameterValue> values_for(const Function &kernel, const AskedLaunch &launch) {
  std::vector<ParameterValue> all, own;
  for (const std::string &word : launch.values) {
    const WordName name = name_of_word(word);
    const auto at = find_parameter(kernel, name.base);
    if (at && (name.kernel.empty() || name.kernel == kernel.name))
      (name.kernel.empty() ? all : own)
          .push_back({*at, name.member, word.substr(word.find('=') + 1)});
  }
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

ParameterNames source_names(const Function &kernel, const Module &module, Sources &sources) {
  const Places places(module);
  const KernelNames of_source(kernel, places, sources);
  std::vector<std::string> names;
  for (const Variable &parameter : kernel.parameters) {
    std::string name = of_source.of_source(std::string(parameter.name));
    names.push_back(name == parameter.name ? "" : std::move(name));
  }
  return {kernel, names};
}

} // namespace ptxasw::wrapper
