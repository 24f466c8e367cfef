// One `[[choice]]` per entry, members in a fixed order, entries sorted: two runs that found the
// same write the same bytes apart from the times, and two profiles can be merged as text.

#include "wrapper/launch/profile.h"

#include "wrapper/launch/toml.h"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

namespace ptxasw::wrapper::launch {
namespace {

constexpr std::int64_t known_version = 1;
constexpr std::size_t most_samples = 1000; ///< of a version

/// What distinguishes entries; the name is only for people, but keeps the file in their order.
auto key(const ProfileEntry &entry) {
  return std::tie(entry.kernel, entry.hash, entry.gpu, entry.shape.block, entry.shape.threads,
                  entry.shape.numbers, entry.shape.among);
}

/// A basic string of TOML.
std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += fmt::format("\\u{:04X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      result += c;
  return result + '"';
}

std::string in_quotes(const std::vector<std::string> &list) {
  std::string result;
  for (const std::string &text : list)
    result += (result.empty() ? "" : ", ") + in_quotes(text);
  return "[" + result + "]";
}

struct Reader {
  std::string_view path;
  std::string error;

  void complain(const toml::node &node, const std::string &what) {
    if (error.empty())
      error = fmt::format("{}:{}:{}: {}", path, node.source().begin.line,
                          node.source().begin.column, what);
  }

  std::string text(const toml::table &table, std::string_view name) {
    if (const auto value = table[name].value_exact<std::string>())
      return *value;
    complain(table, fmt::format("`{}` must be a text", name));
    return "";
  }

  double time(const toml::table &table, std::string_view name) {
    const auto value = table[name].value<double>();
    if (value && std::isfinite(*value) && *value >= 0)
      return *value;
    complain(table, fmt::format("`{}` must be a time in microseconds", name));
    return 0;
  }

  /// `count` lists of times of launches.
  std::vector<std::vector<double>> times(const toml::node &node, std::size_t count) {
    std::vector<std::vector<double>> result;
    const toml::array *const lists = node.as_array();
    if (lists && lists->size() == count)
      for (const toml::node &list : *lists) {
        std::vector<double> &one = result.emplace_back();
        if (list.as_array() && list.as_array()->size() <= most_samples)
          for (const toml::node &time : *list.as_array())
            if (const auto value = time.value<double>();
                value && std::isfinite(*value) && *value > 0)
              one.push_back(*value);
            else
              complain(time, "`samples_us` must hold times in microseconds");
        else
          complain(list, "`samples_us` must hold lists of times");
      }
    else
      complain(node, fmt::format("`samples_us` must be {} lists", count));
    return result;
  }

  std::uint32_t number(const toml::table &table, std::string_view name, std::int64_t most) {
    const auto value = table[name].value_exact<std::int64_t>();
    if (value && *value >= 0 && *value <= most)
      return static_cast<std::uint32_t>(*value);
    complain(table, fmt::format("`{}` must be a number from 0 to {}", name, most));
    return 0;
  }

  void block(const toml::table &table, std::array<std::uint32_t, 3> &block) {
    const toml::array *list = table["block"].as_array();
    for (std::size_t i = 0; i < 3; ++i) {
      const auto value = list && list->size() == 3 ? (*list)[i].value_exact<std::int64_t>()
                                                   : std::optional<std::int64_t>{};
      if (!value || *value < 1 || *value > 1024)
        return complain(table, "`block` must be three numbers from 1 to 1024");
      block[i] = static_cast<std::uint32_t>(*value);
    }
  }

  std::vector<std::array<std::uint32_t, 2>> numbers(const toml::node &node) {
    constexpr std::int64_t most[] = {4095, 64}; // parameters, bits
    std::vector<std::array<std::uint32_t, 2>> result;
    const toml::array *const list = node.as_array();
    for (std::size_t i = 0; list && i < list->size(); ++i) {
      const toml::array *const pair = (*list)[i].as_array();
      result.emplace_back();
      for (std::size_t k = 0; k < 2; ++k) {
        const auto value = pair && pair->size() == 2 ? (*pair)[k].value_exact<std::int64_t>()
                                                     : std::optional<std::int64_t>{};
        if (!value || *value < 0 || *value > most[k]) {
          complain(node, "`numbers` must hold pairs of a parameter and its bits");
          return {};
        }
        result.back()[k] = static_cast<std::uint32_t>(*value);
      }
    }
    if (!list)
      complain(node, "`numbers` must hold pairs of a parameter and its bits");
    std::sort(result.begin(), result.end());
    return result;
  }

  std::array<double, 2> sums(const toml::node &node) {
    std::array<double, 2> result = {0, 0};
    const toml::array *const list = node.as_array();
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto value =
          list && list->size() == 2 ? (*list)[i].value<double>() : std::optional<double>{};
      if (!value || !std::isfinite(*value) || *value < 0) {
        complain(node, "`pairs_us` must be a sum and a sum of squares");
        return {0, 0};
      }
      result[i] = *value;
    }
    return result;
  }

  std::vector<std::string> names(const toml::table &table, std::string_view name) {
    std::vector<std::string> result;
    const toml::array *list = table[name].as_array();
    if (!list)
      complain(table, fmt::format("`{}` must be a list of texts", name));
    else
      for (const toml::node &one : *list)
        if (const auto value = one.value_exact<std::string>())
          result.push_back(*value);
        else
          complain(one, fmt::format("`{}` must be a list of texts", name));
    std::sort(result.begin(), result.end());
    return result;
  }

  ProfileEntry entry(const toml::table &table) {
    ProfileEntry result;
    result.kernel = text(table, "kernel");
    result.hash = text(table, "hash");
    result.gpu = text(table, "gpu");
    block(table, result.shape.block);
    result.shape.threads = number(table, "threads", 95);
    if (const toml::node *pairs = table.get("numbers"))
      result.shape.numbers = numbers(*pairs);
    result.shape.among = names(table, "among");
    result.chosen = text(table, "chosen");
    result.original_us = time(table, "original_us");
    result.chosen_us = time(table, "chosen_us");
    if (table.contains("in_graphs"))
      result.in_graphs = text(table, "in_graphs");
    if (const toml::node *samples = table.get("samples_us")) {
      result.open = times(*samples, result.shape.among.size() + 1);
      const auto budget = table["budget_us"].value<double>();
      if (!budget || !std::isfinite(*budget))
        complain(table, "`budget_us` must be a time in microseconds");
      result.budget_us = budget.value_or(0);
      result.in_runs = table["in_runs"].value_or(false);
    }
    if (const toml::node *pairs = table.get("pairs_us"))
      result.pairs_us = sums(*pairs);
    if (table.contains("reverted_runs"))
      result.reverted_runs = number(table, "reverted_runs", 1'000'000);
    const auto &among = result.shape.among;
    for (const std::string &name : {result.chosen, result.in_graphs})
      if (name != original_word && std::find(among.begin(), among.end(), name) == among.end())
        complain(table, fmt::format("`{}` is chosen and not in `among`", name));
    return result;
  }
};

} // namespace

const ProfileEntry *Profile::find(std::string_view hash, std::string_view gpu,
                                  const ShapeClass &shape,
                                  const std::vector<std::string> &siblings) const {
  const ProfileEntry *found = nullptr;
  for (const ProfileEntry &entry : entries) {
    if (entry.hash != hash || entry.gpu != gpu)
      continue;
    ShapeClass here = entry.shape;
    std::erase_if(here.among, [&](const std::string &name) {
      return !std::binary_search(siblings.begin(), siblings.end(), name);
    });
    if (here != shape || (!entry.open.empty() && entry.shape != shape))
      continue;
    if (found && (found->chosen != entry.chosen || found->in_graphs != entry.in_graphs))
      return nullptr;
    found = &entry;
  }
  return found;
}

std::vector<std::string> Profile::winners(std::string_view hash) const {
  std::set<std::string> names;
  for (const ProfileEntry &entry : entries)
    if (entry.hash == hash && entry.chosen != original_word && entry.open.empty())
      for (const std::string &name : {entry.chosen, entry.in_graphs})
        if (name != original_word)
          names.insert(name);
  return {names.begin(), names.end()};
}

bool Profile::outdated(std::string_view kernel, std::string_view hash) const {
  bool other = false;
  for (const ProfileEntry &entry : entries) {
    if (entry.hash == hash)
      return false;
    other = other || entry.kernel == kernel;
  }
  return other;
}

void Profile::merge(const Profile &other) {
  for (const ProfileEntry &entry : other.entries) {
    const auto same = std::find_if(entries.begin(), entries.end(), [&](const ProfileEntry &mine) {
      return mine.hash == entry.hash && mine.gpu == entry.gpu && mine.shape == entry.shape;
    });
    if (same != entries.end()) {
      if (entry.open.empty() || !same->open.empty() || same->reverted_runs >= longest_reverted)
        *same = entry;
    } else
      entries.push_back(entry);
  }
  std::set<std::pair<std::string, std::string>> with_numbers;
  for (const ProfileEntry &entry : entries)
    if (!entry.shape.numbers.empty())
      with_numbers.emplace(entry.hash, entry.gpu);
  std::erase_if(entries, [&](const ProfileEntry &entry) {
    return !entry.open.empty() && entry.shape.numbers.empty() &&
           with_numbers.contains({entry.hash, entry.gpu});
  });
}

std::string to_toml(const Profile &profile) {
  std::vector<const ProfileEntry *> sorted;
  for (const ProfileEntry &entry : profile.entries)
    sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(),
            [](const ProfileEntry *a, const ProfileEntry *b) { return key(*a) < key(*b); });
  std::string text = fmt::format("# Which version of a kernel to launch, as `ptxasw tune` measured "
                                 "it.\nversion = {}\n",
                                 known_version);
  for (const ProfileEntry *entry : sorted) {
    const auto &block = entry->shape.block;
    std::string numbers;
    for (const auto &[parameter, bits] : entry->shape.numbers)
      numbers += fmt::format("{}[{}, {}]", numbers.empty() ? "" : ", ", parameter, bits);
    if (!numbers.empty())
      numbers = fmt::format("numbers = [{}]\n", numbers);
    text += fmt::format("\n[[choice]]\nkernel = {}\nhash = {}\ngpu = {}\nblock = [{}, {}, {}]\n"
                        "threads = {}\n{}among = {}\nchosen = {}\noriginal_us = {:.3f}\n"
                        "chosen_us = {:.3f}\n",
                        in_quotes(entry->kernel), in_quotes(entry->hash), in_quotes(entry->gpu),
                        block[0], block[1], block[2], entry->shape.threads, numbers,
                        in_quotes(entry->shape.among), in_quotes(entry->chosen), entry->original_us,
                        entry->chosen_us);
    if (entry->chosen != original_word && entry->in_graphs != original_word)
      text += fmt::format("in_graphs = {}\n", in_quotes(entry->in_graphs));
    if (entry->reverted_runs != 0)
      text += fmt::format("reverted_runs = {}\n", entry->reverted_runs);
    if (entry->pairs_us[0] > 0)
      text += fmt::format("pairs_us = [{:.3f}, {:.6f}]\n", entry->pairs_us[0], entry->pairs_us[1]);
    if (entry->open.empty())
      continue;
    std::string lists;
    for (const std::vector<double> &samples : entry->open) {
      std::string list;
      for (const double us : samples)
        list += fmt::format("{}{:.3f}", list.empty() ? "" : ", ", us);
      lists += fmt::format("{}[{}]", lists.empty() ? "" : ", ", list);
    }
    text += fmt::format("samples_us = [{}]\nbudget_us = {:.3f}\n{}", lists, entry->budget_us,
                        entry->in_runs ? "in_runs = true\n" : "");
  }
  return text;
}

tl::expected<Profile, std::string> parse_profile(std::string_view text, std::string_view path) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    const auto &where = parsed.error().source().begin;
    return tl::unexpected(
        fmt::format("{}:{}:{}: {}", path, where.line, where.column, parsed.error().description()));
  }
  const toml::table &table = parsed.table();
  if (table["version"].value_exact<std::int64_t>() != known_version)
    return tl::unexpected(
        fmt::format("{}: no profile of version {}: `version` says otherwise", path, known_version));
  Profile profile;
  Reader reader{path, ""};
  if (const toml::node *choices = table.get("choice")) {
    const toml::array *list = choices->as_array();
    if (!list)
      reader.complain(*choices, "`choice` must be a list of tables");
    else
      for (const toml::node &one : *list)
        if (const toml::table *choice = one.as_table())
          profile.entries.push_back(reader.entry(*choice));
        else
          reader.complain(one, "`choice` must be a list of tables");
  }
  if (!reader.error.empty())
    return tl::unexpected(reader.error);
  return profile;
}

} // namespace ptxasw::wrapper::launch
