// The text is JSON, its members always in the same order. Reading it trusts nothing: a table may
// come from a later ptxasw, and a sibling that is launched against its needs computes nonsense. So
// each member must be known, and of the right type and range, or the sibling does not exist.

#include "grammar/sibling_table.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <fmt/core.h>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

namespace ptxasw::ptx {
namespace {

constexpr std::string_view code_of_kernel = "kernel"; ///< the member `code` of own_code

using Json = nlohmann::ordered_json;

/// Thrown where a text is not understood; stops decode().
struct NotUnderstood {
  std::string why;
};
void show(bool holds, std::string_view why) {
  if (!holds)
    throw NotUnderstood{std::string(why)};
}

void append_number(std::string &bytes, std::uint32_t number) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    bytes += static_cast<char>(number >> shift & 0xff);
}

std::uint32_t number_at(std::string_view bytes, std::size_t offset) {
  std::uint32_t number = 0;
  for (unsigned i = 0; i < 4; ++i)
    number |= std::uint32_t{static_cast<unsigned char>(bytes[offset + i])} << 8 * i;
  return number;
}

Json sibling_json(const Sibling &sibling) {
  Json json = {{"name", sibling.name},
               {"family", sibling.family},
               {"kind", sibling.kind},
               {"grid", sibling.grid},
               {"append", Json::array()}};
  if (sibling.block != std::array<std::uint32_t, 3>{1, 1, 1})
    json["block"] = sibling.block;
  if (sibling.extent != std::array<std::uint32_t, 3>{})
    json["extent"] = sibling.extent;
  if (sibling.tall)
    json["tall"] = true;
  if (sibling.rows != 1)
    json["rows"] = sibling.rows;
  if (sibling.own_code)
    json["code"] = code_of_kernel;
  else if (!sibling.code_of.empty())
    json["code"] = sibling.code_of;
  for (const char axis : sibling.appended)
    json["append"].push_back(fmt::format("grid.{}", axis));
  for (const char axis : sibling.appended_blocks)
    json["append"].push_back(fmt::format("block.{}", axis));
  json["needs"] = needs_json(sibling.needs);
  return json;
}

std::uint32_t number(const Json &json, std::uint32_t least = 0) {
  show(json.is_number_integer() && (json.is_number_unsigned() || json.get<std::int64_t>() >= 0),
       "a number is missing");
  const auto value = json.get<std::uint64_t>();
  show(value >= least && value <= std::numeric_limits<std::uint32_t>::max(),
       "a number is out of range");
  return static_cast<std::uint32_t>(value);
}

template <std::size_t N> std::array<std::uint32_t, N> numbers(const Json &json, unsigned least) {
  show(json.is_array() && json.size() == N, "a list has another length");
  std::array<std::uint32_t, N> result{};
  for (std::size_t i = 0; i < N; ++i)
    result[i] = number(json[i], least);
  return result;
}

std::string text(const Json &json) {
  show(json.is_string(), "a text is missing");
  return json.get<std::string>();
}

bool flag(const Json &json) {
  show(json.is_boolean(), "neither true nor false");
  return json.get<bool>();
}

const Json &list(const Json &json) {
  show(json.is_array(), "a list is missing");
  return json;
}

const Json &member(const Json &json, const char *name) {
  const auto found = json.find(name);
  show(found != json.end(), fmt::format("no \"{}\"", name));
  return *found;
}

std::uint32_t dynamic_shared(const std::string &word) {
  if (word == "none")
    return 0;
  static constexpr std::string_view times = "times:";
  std::uint32_t factor = 0;
  const char *const end = word.data() + word.size();
  show(word.starts_with(times) && word.size() <= times.size() + 4 &&
           std::from_chars(word.data() + times.size(), end, factor).ptr == end && factor != 0,
       "dynamic_shared is not understood");
  return factor;
}

/// Reads members by their names; one that is not read must be optional.
void read_members(const Json &json, const std::vector<std::string> &optional,
                  const std::map<std::string_view, std::function<void(const Json &)>> &readers) {
  show(json.is_object(), "an object is missing");
  for (const auto &[name, value] : json.items())
    if (const auto reader = readers.find(name); reader != readers.end())
      reader->second(value);
    else
      show(std::find(optional.begin(), optional.end(), name) != optional.end(),
           fmt::format("\"{}\" is not known", name));
}

/// The parameter a need is about, and whether the bytes lie in it.
std::uint32_t within(const SiblingTable &table, std::uint32_t parameter, std::uint32_t offset,
                     std::uint32_t bytes) {
  show(parameter < table.parameters.size() &&
           std::uint64_t{offset} + bytes <= table.parameters[parameter].bytes,
       "a need lies outside the parameters");
  return parameter;
}

/// A coefficient, and behind it axes and pairs of a parameter and an offset.
IndexTerm read_term(const Json &json, const SiblingTable &table) {
  show(!list(json).empty(), "a product without a number");
  IndexTerm term{number(json[0]), {}};
  for (std::size_t i = 1; i < json.size(); ++i) {
    if (json[i].is_string()) {
      const std::string axis = text(json[i]);
      show(axis == "x" || axis == "y" || axis == "z", "an axis is not known");
      term.factors.push_back({true, static_cast<std::uint32_t>(axis[0] - 'x'), 0});
      continue;
    }
    const auto [parameter, offset] = numbers<2>(json[i], 0);
    term.factors.push_back({false, within(table, parameter, offset, 4), offset});
  }
  return term;
}

SiblingNeeds read_needs(const Json &json, const SiblingTable &table,
                        const std::vector<std::string> &optional) {
  SiblingNeeds needs;
  const auto is_no_launch = [](const Json &value) {
    show(value.is_boolean() && !value.get<bool>(), "only for cooperative launches or clusters");
  };
  read_members(
      json, optional,
      {{"block",
        [&](const Json &value) {
          for (const Json &shape : list(value))
            needs.blocks.push_back(numbers<3>(shape, 1));
          show(!needs.blocks.empty(), "no block shape will do");
        }},
       {"max_block", [&](const Json &value) { needs.max_block = number(value, 1); }},
       {"dynamic_shared",
        [&](const Json &value) { needs.dynamic_shared = dynamic_shared(text(value)); }},
       {"align",
        [&](const Json &value) {
          for (const Json &one : list(value)) {
            const auto [parameter, offset, alignment] = numbers<3>(one, 0);
            show(std::has_single_bit(alignment), "an alignment is no power of two");
            needs.aligned.push_back({within(table, parameter, offset, 8), offset, alignment});
          }
        }},
       {"divisible",
        [&](const Json &value) {
          for (const Json &one : list(value)) {
            const auto [parameter, offset, bytes, divisor] = numbers<4>(one, 0);
            show(std::has_single_bit(bytes) && bytes <= 8 && divisor != 0,
                 "a divisor is not understood");
            needs.divisible.push_back(
                {within(table, parameter, offset, bytes), offset, bytes, divisor});
          }
        }},
       {"covered",
        [&](const Json &value) {
          for (const Json &one : list(value)) {
            constexpr std::uint32_t usual = ArgumentCover{}.bytes;
            Json numbers_of = one;
            if (one.is_array() && one.size() == 5)
              numbers_of.push_back(usual);
            const auto [parameter, offset, axis, least, more, bytes] = numbers<6>(numbers_of, 0);
            show(axis <= 2, "an axis is not known");
            show(bytes == usual || bytes == 2 * usual, "a number's size is not known");
            needs.covered.push_back(
                {within(table, parameter, offset, bytes), offset, axis, least, more, bytes});
          }
        }},
       {"bounded",
        [&](const Json &value) {
          for (const Json &bound : list(value)) {
            IndexBound &all = needs.bounded.emplace_back();
            for (const Json &term : list(bound))
              all.terms.push_back(read_term(term, table));
          }
        }},
       {"min_grid", [&](const Json &value) { needs.min_grid = numbers<3>(value, 1); }},
       {"max_extent", [&](const Json &value) { needs.max_extent = numbers<3>(value, 1); }},
       {"extent_multiple",
        [&](const Json &value) { needs.extent_multiple = numbers<3>(value, 1); }},
       {"cooperative", is_no_launch},
       {"cluster", is_no_launch}});
  return needs;
}

/// Returns true if the kernel in blocks of `extent` has as many threads as before.
bool spares_no_thread(const Sibling &sibling) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (sibling.needs.extent_multiple[axis] % std::max(1u, sibling.extent[axis]) != 0)
      return false;
  return true;
}

/// Returns true if a launch that differs in that way has the kernel's threads and parameters.
bool is_own_code(const Sibling &sibling) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (sibling.grid[axis] != 1 || sibling.block[axis] != 1 ||
        sibling.needs.extent_multiple[axis] != std::max(1u, sibling.extent[axis]))
      return false;
  return sibling.appended.empty() && sibling.appended_blocks.empty() &&
         sibling.needs.dynamic_shared == 1;
}

Sibling read_sibling(const Json &json, const SiblingTable &table,
                     const std::vector<std::string> &optional) {
  Sibling sibling;
  read_members(
      json, optional,
      {{"name", [&](const Json &value) { sibling.name = text(value); }},
       {"family", [&](const Json &value) { sibling.family = text(value); }},
       {"kind", [&](const Json &value) { sibling.kind = text(value); }},
       {"grid", [&](const Json &value) { sibling.grid = numbers<3>(value, 1); }},
       {"block", [&](const Json &value) { sibling.block = numbers<3>(value, 1); }},
       {"extent", [&](const Json &value) { sibling.extent = numbers<3>(value, 0); }},
       {"tall", [&](const Json &value) { sibling.tall = flag(value); }},
       {"rows", [&](const Json &value) { sibling.rows = number(value, 1); }},
       {"code",
        [&](const Json &value) {
          sibling.own_code = text(value) == code_of_kernel;
          if (!sibling.own_code)
            sibling.code_of = text(value);
        }},
       {"append",
        [&](const Json &value) {
          for (const Json &one : list(value)) {
            const std::string word = text(one), what = word.substr(0, word.find('.') + 1);
            show(word.size() == what.size() + 1 && word.back() >= 'x' && word.back() <= 'z' &&
                     (what == "grid." || what == "block."),
                 "a parameter to append is not known");
            show(what != "grid." || sibling.appended_blocks.empty(),
                 "parameters to append are in another order");
            (what == "grid." ? sibling.appended : sibling.appended_blocks).push_back(word.back());
          }
        }},
       {"needs", [&](const Json &value) { sibling.needs = read_needs(value, table, optional); }}});
  for (const char *name : {"name", "family", "kind", "grid", "append", "needs"})
    member(json, name);
  for (std::size_t axis = 0; axis < 3; ++axis)
    show(sibling.extent[axis] == 0 || !sibling.code_of.empty() ||
             (sibling.grid[axis] == 1 && sibling.block[axis] == 1),
         "an extent that is both given and divided");
  show(!sibling.own_code || is_own_code(sibling),
       "the kernel's code would get other threads or parameters than the kernel");
  show(sibling.code_of.empty() || spares_no_thread(sibling),
       "a sibling's code would get other threads than the kernel");
  show(sibling.rows == 1 || (sibling.tall && !sibling.code_of.empty() && sibling.extent[1] == 1),
       "rows for a sibling that has no use for them");
  return sibling;
}

SiblingTable read_table(const Json &json) {
  SiblingTable table;
  table.kernel = text(member(json, "kernel"));
  table.hash = text(member(json, "hash"));
  table.any_order = json.contains("any_order") && flag(json["any_order"]);
  for (const Json &one : list(member(json, "parameters"))) {
    const auto [offset, bytes] = numbers<2>(one, 0);
    table.parameters.push_back({offset, bytes});
  }
  std::vector<std::string> optional;
  if (json.contains("optional"))
    for (const Json &word : list(json["optional"]))
      optional.push_back(text(word));
  for (const Json &one : list(member(json, "siblings")))
    try {
      table.siblings.push_back(read_sibling(one, table, optional));
    } catch (const NotUnderstood &) { // written by a later version: not for us
    }
  // What is launched for one with another's code gets what that has: rows, and parameters.
  const std::vector<Sibling> all = table.siblings;
  std::erase_if(table.siblings, [&](const Sibling &sibling) {
    return !sibling.code_of.empty() &&
           std::none_of(all.begin(), all.end(), [&](const Sibling &code) {
             return code.name == sibling.code_of && !only_reshapes(code) &&
                    code.tall == sibling.tall && code.appended == sibling.appended &&
                    code.appended_blocks == sibling.appended_blocks;
           });
  });
  return table;
}

} // namespace

LaunchShape said_of(const Sibling &sibling, LaunchShape launch) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (const std::uint64_t extent = sibling.extent[axis];
        extent != 0 && !sibling.code_of.empty()) {
      launch.grid[axis] = launch.threads(axis) / extent;
      launch.block[axis] = extent;
    }
  return launch;
}

LaunchShape launch_of(const Sibling &sibling, const LaunchShape &kernel) {
  const auto up = [](std::uint64_t number, std::uint64_t by) { return (number + by - 1) / by; };
  LaunchShape result;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::uint64_t given = sibling.code_of.empty() ? sibling.extent[axis] : 0,
                        rows = axis == 1 ? sibling.rows : 1;
    result.block[axis] = given != 0 ? given : kernel.block[axis] / sibling.block[axis] * rows;
    result.grid[axis] = given != 0 ? up(kernel.threads(axis), given)
                                   : up(up(kernel.grid[axis], sibling.grid[axis]), rows);
  }
  return result;
}

Json needs_json(const SiblingNeeds &needs) {
  Json json = Json::object();
  if (!needs.blocks.empty())
    json["block"] = needs.blocks;
  if (needs.max_block)
    json["max_block"] = *needs.max_block;
  if (needs.dynamic_shared == 0)
    json["dynamic_shared"] = "none";
  else if (needs.dynamic_shared != 1)
    json["dynamic_shared"] = fmt::format("times:{}", needs.dynamic_shared);
  for (const ArgumentAlignment &one : needs.aligned)
    json["align"].push_back({one.parameter, one.offset, one.alignment});
  for (const ArgumentDivisor &one : needs.divisible)
    json["divisible"].push_back({one.parameter, one.offset, one.bytes, one.divisor});
  for (const ArgumentCover &one : needs.covered) {
    json["covered"].push_back({one.parameter, one.offset, one.axis, one.least, one.more});
    if (one.bytes != ArgumentCover{}.bytes)
      json["covered"].back().push_back(one.bytes);
  }
  for (const IndexBound &bound : needs.bounded) {
    Json terms = Json::array();
    for (const IndexTerm &term : bound.terms) {
      Json product = Json::array({term.coefficient});
      for (const LaunchNumber &factor : term.factors)
        if (factor.is_index)
          product.push_back(std::string(1, static_cast<char>('x' + factor.which)));
        else
          product.push_back({factor.which, factor.offset});
      terms.push_back(std::move(product));
    }
    json["bounded"].push_back(std::move(terms));
  }
  if (needs.min_grid != std::array<std::uint32_t, 3>{1, 1, 1})
    json["min_grid"] = needs.min_grid;
  if (needs.max_extent != SiblingNeeds{}.max_extent)
    json["max_extent"] = needs.max_extent;
  if (needs.extent_multiple != std::array<std::uint32_t, 3>{1, 1, 1})
    json["extent_multiple"] = needs.extent_multiple;
  json["cooperative"] = false;
  json["cluster"] = false;
  return json;
}

std::string encode(const SiblingTable &table) {
  Json json = {{"kernel", table.kernel}, {"hash", table.hash}, {"parameters", Json::array()}};
  for (const SiblingParameter &parameter : table.parameters)
    json["parameters"].push_back({parameter.offset, parameter.bytes});
  if (table.any_order)
    json["any_order"] = true;
  json["siblings"] = Json::array();
  for (const Sibling &sibling : table.siblings)
    json["siblings"].push_back(sibling_json(sibling));
  const std::string words = json.dump();
  std::string bytes(sibling_table_magic);
  append_number(bytes, sibling_table_version);
  append_number(bytes, static_cast<std::uint32_t>(words.size()));
  return bytes + words;
}

std::optional<std::size_t> sibling_table_size(std::string_view head) {
  if (head.size() < sibling_table_head || !head.starts_with(sibling_table_magic))
    return std::nullopt;
  return sibling_table_head + number_at(head, 12);
}

tl::expected<SiblingTable, std::string> decode(std::string_view bytes) {
  const auto size = sibling_table_size(bytes);
  if (!size)
    return tl::unexpected(std::string("not a table of siblings"));
  if (const std::uint32_t version = number_at(bytes, 8); version != sibling_table_version)
    return tl::unexpected(fmt::format("version {} is not known", version));
  if (*size > bytes.size())
    return tl::unexpected(std::string("the table is cut off"));
  const std::string_view words = bytes.substr(sibling_table_head, *size - sibling_table_head);
  const Json json = Json::parse(words.begin(), words.end(), nullptr, false);
  if (!json.is_object())
    return tl::unexpected(std::string("the table's text is not JSON"));
  try {
    return read_table(json);
  } catch (const NotUnderstood &problem) {
    return tl::unexpected(problem.why);
  }
}

std::string declaration(const SiblingTable &table, bool is_weak) {
  static constexpr std::size_t per_line = 32;
  const std::string bytes = encode(table);
  std::string result =
      fmt::format("{} .global .align 8 .b8 {}{}[{}] = {{", is_weak ? ".weak" : ".visible",
                  table.kernel, sibling_table_suffix, bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    result += fmt::format("{}{}",
                          i == 0              ? "\n"
                          : i % per_line == 0 ? ",\n"
                                              : ",",
                          static_cast<unsigned>(static_cast<unsigned char>(bytes[i])));
  return result + "};\n";
}

std::vector<SiblingTable> sibling_tables(const Module &module) {
  std::vector<SiblingTable> tables;
  for (const Variable &variable : module.variables) {
    if (!variable.name.ends_with(sibling_table_suffix) || variable.type != ScalarType::b8)
      continue;
    std::string bytes;
    for (const InitialValue &value : variable.values)
      bytes += static_cast<char>(value.bits);
    if (auto table = decode(bytes))
      tables.push_back(std::move(*table));
  }
  return tables;
}

} // namespace ptxasw::ptx
