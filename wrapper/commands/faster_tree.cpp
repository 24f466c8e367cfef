// At each node the launches are divided by what leaves fewest different choices in the parts, which
// is the first of these in the order of the list below. Neighbouring sizes with one choice are one
// part.

#include "wrapper/commands/faster_tree.h"

#include <algorithm>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace ptxasw::wrapper {
namespace {

using Launches = std::vector<const ChosenLaunches *>;

/// Something by which launches are told apart: its value for a launch, for ordering, and words for
/// launches with values from one to another.
struct TreeFeature {
  virtual ~TreeFeature() = default;
  virtual std::vector<std::uint64_t> value(const ChosenLaunches &launch) const = 0;
  virtual std::string words(const ChosenLaunches &least, const ChosenLaunches &most) const = 0;
  virtual bool is_size() const { return false; }
};

/// The characters of a text, for ordering.
std::vector<std::uint64_t> letters(const std::string &text) { return {text.begin(), text.end()}; }

struct CodeFeature : TreeFeature {
  std::vector<std::uint64_t> value(const ChosenLaunches &launch) const override {
    return letters(launch.code);
  }
  std::string words(const ChosenLaunches &least, const ChosenLaunches &) const override {
    return fmt::format("of the kernel with code {}", least.code);
  }
};

struct GpuFeature : TreeFeature {
  std::vector<std::uint64_t> value(const ChosenLaunches &launch) const override {
    return letters(launch.gpu);
  }
  std::string words(const ChosenLaunches &least, const ChosenLaunches &) const override {
    return "on " + least.gpu;
  }
};

struct BlockFeature : TreeFeature {
  std::vector<std::uint64_t> value(const ChosenLaunches &launch) const override {
    return {launch.block[2], launch.block[1], launch.block[0]};
  }
  std::string words(const ChosenLaunches &least, const ChosenLaunches &) const override {
    return fmt::format("block {}x{}x{}", least.block[0], least.block[1], least.block[2]);
  }
};

struct GridFeature : TreeFeature {
  std::vector<std::uint64_t> value(const ChosenLaunches &launch) const override {
    return {launch.threads};
  }
  std::string words(const ChosenLaunches &least, const ChosenLaunches &most) const override {
    return fmt::format("grid of {} to {} threads", grouped(std::uint64_t{1} << least.threads),
                       grouped((std::uint64_t{2} << most.threads) - 1));
  }
  bool is_size() const override { return true; }
};

struct NumberFeature : TreeFeature {
  explicit NumberFeature(std::uint32_t which) : parameter(which) {}
  std::uint32_t bits(const ChosenLaunches &launch) const {
    for (const auto &[which, size] : launch.numbers)
      if (which == parameter)
        return size;
    return 0;
  }
  std::vector<std::uint64_t> value(const ChosenLaunches &launch) const override {
    const bool is_known = std::any_of(launch.numbers.begin(), launch.numbers.end(),
                                      [&](const auto &number) { return number[0] == parameter; });
    return {is_known ? 1u : 0u, bits(launch)};
  }
  std::string words(const ChosenLaunches &least, const ChosenLaunches &most) const override {
    if (value(least)[0] == 0)
      return fmt::format("before argument {} was seen to matter", parameter + 1);
    const auto power = [](std::uint32_t size) {
      return size >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
    };
    const std::uint32_t low = bits(least), high = bits(most);
    return fmt::format("argument {} from {} to {}", parameter + 1,
                       grouped(low == 0 ? 0 : power(low - 1) + 1), grouped(power(high)));
  }
  bool is_size() const override { return true; }

  std::uint32_t parameter;
};

struct VersionsFeature : TreeFeature {
  explicit VersionsFeature(const Launches &launches) {
    for (const ChosenLaunches *const one : launches)
      sets[one->versions.size()].insert(one->versions);
  }
  std::vector<std::uint64_t> value(const ChosenLaunches &launch) const override {
    std::vector<std::uint64_t> value = {launch.versions.size()};
    for (const std::string &version : launch.versions) {
      value.push_back(version.size());
      value.insert(value.end(), version.begin(), version.end());
    }
    return value;
  }
  std::string words(const ChosenLaunches &least, const ChosenLaunches &) const override {
    const std::size_t count = least.versions.size();
    std::string text = fmt::format("{} version{} may take it", count, count == 1 ? "" : "s");
    if (sets.at(count).size() > 1) // as many others
      text += fmt::format(" ({})", fmt::join(least.versions, ", "));
    return text;
  }

  std::map<std::size_t, std::set<std::vector<std::string>>> sets; ///< by how many there are
};

std::size_t different(const Launches &launches) {
  std::set<std::string> chosen;
  for (const ChosenLaunches *const one : launches)
    chosen.insert(one->chosen);
  return chosen.size();
}

/// The parts into which a feature divides launches, in ascending order.
std::vector<Launches> divide(const Launches &launches, const TreeFeature &feature) {
  std::map<std::vector<std::uint64_t>, Launches> by_value;
  for (const ChosenLaunches *const one : launches)
    by_value[feature.value(*one)].push_back(one);
  std::vector<Launches> parts;
  std::vector<std::uint64_t> before;
  for (auto &[value, part] : by_value) {
    const bool is_next = !parts.empty() && feature.is_size() && value.size() == before.size() &&
                         std::equal(value.begin(), value.end() - 1, before.begin()) &&
                         value.back() == before.back() + 1;
    if (is_next && different(parts.back()) == 1 && different(part) == 1 &&
        parts.back().front()->chosen == part.front()->chosen)
      parts.back().insert(parts.back().end(), part.begin(), part.end());
    else
      parts.push_back(std::move(part));
    before = value;
  }
  return parts;
}

/// What was chosen for launches that have one choice.
std::string leaf(const Launches &launches) {
  const ChosenLaunches &first = *launches.front();
  if (first.chosen.empty())
    return "not measured to the end";
  double least = 0, most = 0;
  for (const ChosenLaunches *const one : launches) {
    const double gain = one->after > 0 ? one->before / one->after : 0;
    least = least == 0 ? gain : std::min(least, gain);
    most = std::max(most, gain);
  }
  const bool gains = first.before != first.after;
  std::string text = first.chosen;
  if (launches.size() == 1 && first.before > 0)
    return text + (gains ? fmt::format(", {:.2f}x ({} -> {} ms)", most, in_ms(first.before),
                                       in_ms(first.after))
                         : fmt::format(" ({} ms)", in_ms(first.before)));
  if (gains && least > 0)
    text += fmt::format(", {:.2f}x to {:.2f}x", least, most);
  return text;
}

void grow(const Launches &launches, const std::vector<const TreeFeature *> &features,
          const std::string &margin, std::string &text) {
  if (different(launches) == 1) {
    text += ": " + leaf(launches) + "\n";
    return;
  }
  const TreeFeature *best = nullptr;
  std::vector<Launches> parts;
  std::size_t fewest = 0;
  for (const TreeFeature *const feature : features) {
    std::vector<Launches> found = divide(launches, *feature);
    std::size_t left = 0;
    for (const Launches &part : found)
      left += different(part);
    if (found.size() > 1 && (!best || left < fewest)) {
      best = feature;
      parts = std::move(found);
      fewest = left;
    }
  }
  text += "\n";
  for (const Launches &part : parts) {
    const bool is_last = &part == &parts.back();
    text += margin + (is_last ? "`- " : "|- ") + best->words(*part.front(), *part.back());
    grow(part, features, margin + (is_last ? "   " : "|  "), text);
  }
}

} // namespace

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;)
    digits.insert(at -= 3, ",");
  return digits;
}

std::string in_ms(double milliseconds) {
  return fmt::format("{:.{}f}", milliseconds, milliseconds < 0.1 ? 4 : milliseconds < 10 ? 3 : 1);
}

std::string choice_tree(const std::vector<ChosenLaunches> &all, const std::string &title,
                        const std::string &margin) {
  Launches launches;
  std::set<std::uint32_t> parameters;
  for (const ChosenLaunches &one : all) {
    launches.push_back(&one);
    for (const auto &number : one.numbers)
      parameters.insert(number[0]);
  }
  const CodeFeature code;
  const GpuFeature gpu;
  const BlockFeature block;
  const GridFeature grid;
  const VersionsFeature versions(launches);
  const std::vector<NumberFeature> numbers(parameters.begin(), parameters.end());
  std::vector<const TreeFeature *> features = {&code, &gpu, &block, &grid};
  for (const NumberFeature &number : numbers)
    features.push_back(&number);
  features.push_back(&versions);
  std::string text = title;
  grow(launches, features, margin, text);
  return text;
}

} // namespace ptxasw::wrapper
