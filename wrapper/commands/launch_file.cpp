// Launch files: TOML in, a description out, and back. What is not understood is an error with its
// line; nothing is ignored.

#include "wrapper/commands/launch_file.h"

#include "emulator/machine/tensor_map.h"
#include "wrapper/commands/numbers.h"
#include "wrapper/launch/toml.h"
#include "wrapper/os/files.h"
#include "wrapper/settings/suggest.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <stdexcept>

namespace ptxasw::wrapper {
namespace {

/// Caught in read_launch_file; never leaves this file.
struct Wrong : std::runtime_error {
  Wrong(const toml::node &node, const std::string &what)
      : std::runtime_error(what), line(node.source().begin.line) {}
  std::uint32_t line;
};

struct FillName {
  std::string_view name;
  GlobalMemory::Fill fill;
};
constexpr FillName fill_names[] = {{"zeros", GlobalMemory::Fill::zeros},
                                   {"f32", GlobalMemory::Fill::f32},
                                   {"f64", GlobalMemory::Fill::f64},
                                   {"whole32", GlobalMemory::Fill::whole_f32},
                                   {"whole64", GlobalMemory::Fill::whole_f64},
                                   {"small", GlobalMemory::Fill::small},
                                   {"small64", GlobalMemory::Fill::small_wide},
                                   {"random", GlobalMemory::Fill::random},
                                   {"same", GlobalMemory::Fill::same},
                                   {"edges32", GlobalMemory::Fill::edges},
                                   {"edges64", GlobalMemory::Fill::edges_wide},
                                   {"uninitialized", GlobalMemory::Fill::uninitialized}};

void only(const toml::table &table, std::initializer_list<std::string_view> keys) {
  const std::vector<std::string_view> known(keys);
  for (const auto &[key, node] : table)
    if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
      const std::string_view near = nearest(key.str(), known);
      throw Wrong(node, fmt::format("there is no key `{}` here{}", key.str(),
                                    near.empty() ? "" : fmt::format("; did you mean `{}`?", near)));
    }
}

std::uint64_t whole(const toml::node &node, std::string_view what,
                    std::uint64_t most = std::uint64_t{1} << 62) {
  const auto *number = node.as_integer();
  if (!number || number->get() < 0 || static_cast<std::uint64_t>(number->get()) > most)
    throw Wrong(node, fmt::format("{} must be a whole number from 0 to {}", what, most));
  return static_cast<std::uint64_t>(number->get());
}

/// 64 bits do not fit in TOML's integers: `"0x..."` does.
std::uint64_t bits_of(const toml::node &node, std::string_view what) {
  if (const auto *number = node.as_integer())
    return static_cast<std::uint64_t>(number->get());
  std::uint64_t bits = 0;
  if (const auto *text = node.as_string(); text && to_number(text->get(), bits))
    return bits;
  throw Wrong(node, fmt::format("{} must be a whole number, or one in text", what));
}

std::string text_of(const toml::node &node, std::string_view what) {
  const auto *text = node.as_string();
  if (!text)
    throw Wrong(node, fmt::format("{} must be text", what));
  return text->get();
}

const toml::array &list_of(const toml::node &node, std::string_view what) {
  const auto *list = node.as_array();
  if (!list)
    throw Wrong(node, fmt::format("{} must be a list", what));
  return *list;
}

const toml::table &table_of(const toml::node &node, std::string_view what) {
  const auto *table = node.as_table();
  if (!table)
    throw Wrong(node, fmt::format("{} must be a table", what));
  return *table;
}

void read_extents(const toml::node *node, std::string_view what, Extents &to) {
  if (!node)
    return;
  const toml::array &list = list_of(*node, what);
  if (list.empty() || list.size() > 3)
    throw Wrong(*node, fmt::format("{} must have one to three extents", what));
  to = {1, 1, 1};
  for (std::size_t i = 0; i < list.size(); ++i)
    to[static_cast<int>(i)] =
        static_cast<std::uint32_t>(whole(list[i], what, std::uint64_t{0xffffffff}));
}

/// Bits of a number of a type.
std::uint64_t number_bits(const toml::node &node, ScalarType type) {
  if (const auto *real = node.as_floating_point()) {
    if (!is_float(type))
      throw Wrong(node, fmt::format("a number of type {} must be whole", to_string(type)));
    return floating::from_double(type, real->get(), FloatRounding::nearest_even);
  }
  if (const auto *number = node.as_integer(); number && is_float(type))
    return floating::from_double(type, static_cast<double>(number->get()),
                                 FloatRounding::nearest_even);
  if (const auto *yes = node.as_boolean())
    return yes->get();
  const std::uint64_t bits = bits_of(node, "a number");
  const unsigned width = bit_width(type);
  const bool is_negative = node.is_integer() && static_cast<std::int64_t>(bits) < 0;
  const auto above = static_cast<std::int64_t>(bits) >> (width - 1); // the sign and what is beyond
  if (width < 64 && (is_negative ? above != -1 : bits >> width != 0))
    throw Wrong(node, fmt::format("the number does not fit into {}", to_string(type)));
  return bits;
}

ScalarType type_of(const toml::table &table, ScalarType otherwise) {
  const auto *node = table.get("type");
  if (!node)
    return otherwise;
  const ScalarType type = scalar_type(text_of(*node, "`type`"));
  if (bit_width(type) < 8 || bit_width(type) > 64)
    throw Wrong(*node, "there is no such type of 8 to 64 bits");
  return type;
}

bool truth(const toml::node &node, std::string_view what) {
  const auto *yes = node.as_boolean();
  if (!yes)
    throw Wrong(node, fmt::format("{} must be true or false", what));
  return yes->get();
}

void append(std::vector<std::uint8_t> &bytes, std::uint64_t bits, unsigned size) {
  for (unsigned i = 0; i < size; ++i)
    bytes.push_back(static_cast<std::uint8_t>(bits >> 8 * i));
}

/// "00ff10": two digits per byte, white space between bytes.
std::vector<std::uint8_t> hexadecimal(const toml::node &node) {
  std::vector<std::uint8_t> bytes;
  const std::string text = text_of(node, "`bytes`");
  int high = -1;
  for (const char c : text) {
    if (c == ' ' && high < 0)
      continue;
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0)
      throw Wrong(node, "`bytes` must be hexadecimal digits, two a byte");
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<std::uint8_t>(high * 16 + digit));
      high = -1;
    }
  }
  if (high >= 0)
    throw Wrong(node, "`bytes` must be hexadecimal digits, two a byte");
  return bytes;
}

BufferDescription read_contents(const toml::table &table, const std::filesystem::path &folder) {
  only(table, {"name", "type", "count", "size", "fill", "seed", "range", "values", "bytes", "file",
               "alignment", "compare"});
  BufferDescription buffer;
  const auto *name = table.get("name");
  if (!name)
    throw Wrong(table, "it has no `name`");
  buffer.name = text_of(*name, "`name`");
  buffer.type = type_of(table, ScalarType::b32);
  const unsigned step = bit_width(buffer.type) / 8;
  unsigned sources = 0;
  if (const auto *values = table.get("values")) {
    ++sources;
    for (const toml::node &value : list_of(*values, "`values`"))
      append(buffer.bytes, number_bits(value, buffer.type), step);
  }
  if (const auto *bytes = table.get("bytes")) {
    ++sources;
    buffer.bytes = hexadecimal(*bytes);
  }
  if (const auto *file = table.get("file")) {
    ++sources;
    const auto contents = read_input((folder / text_of(*file, "`file`")).string());
    if (!contents)
      throw Wrong(*file, contents.error());
    buffer.bytes.assign(contents->begin(), contents->end());
  }
  if (const auto *compare = table.get("compare"))
    buffer.is_compared = truth(*compare, "`compare`");
  buffer.size = buffer.bytes.size();
  if (const auto *size = table.get("size"))
    buffer.size = whole(*size, "`size`");
  if (const auto *count = table.get("count")) {
    if (table.contains("size"))
      throw Wrong(*count, "`count` and `size` are two answers to one question");
    buffer.size = whole(*count, "`count`", std::uint64_t{1} << 48) * step;
  }
  if (const auto *fill = table.get("fill")) {
    const std::string word = text_of(*fill, "`fill`");
    const auto found = std::find_if(std::begin(fill_names), std::end(fill_names),
                                    [&](const FillName &f) { return f.name == word; });
    if (found == std::end(fill_names))
      throw Wrong(*fill, "`fill` must be zeros, f32, f64, whole32, whole64, small, small64, "
                         "random, same, edges32, edges64 or uninitialized");
    buffer.fill = found->fill;
  }
  if (const auto *seed = table.get("seed"))
    buffer.seed = bits_of(*seed, "`seed`");
  if (const auto *range = table.get("range")) {
    const toml::array &list = list_of(*range, "`range`");
    const auto lowest = list.size() == 2 ? list[0].value<double>() : std::nullopt;
    const auto highest = list.size() == 2 ? list[1].value<double>() : std::nullopt;
    if (!lowest || !highest)
      throw Wrong(*range, "`range` must be two numbers");
    buffer.has_range = true;
    buffer.lowest = *lowest;
    buffer.highest = *highest;
    ++sources;
  }
  if (sources > 1)
    throw Wrong(table, "only one of `values`, `bytes`, `file` and `range` says what is in it");
  if (const auto *alignment = table.get("alignment"))
    buffer.alignment = whole(*alignment, "`alignment`");
  return buffer;
}

FieldDescription read_value(const toml::table &table, std::uint32_t at) {
  FieldDescription field;
  field.at = at;
  unsigned kinds = 0;
  if (const auto *value = table.get("value")) {
    ++kinds;
    // Without a type: as many bytes as the parameter has; a real one is an f32.
    const ScalarType type =
        type_of(table, value->is_floating_point() ? ScalarType::f32 : ScalarType::b64);
    field.bits = number_bits(*value, type);
    field.size = bit_width(type) / 8;
  }
  if (const auto *buffer = table.get("buffer")) {
    ++kinds;
    field.kind = FieldDescription::Kind::buffer;
    field.name = text_of(*buffer, "`buffer`");
    if (const auto *offset = table.get("offset"))
      field.bits = bits_of(*offset, "`offset`");
  }
  if (const auto *function = table.get("function")) {
    ++kinds;
    field.kind = FieldDescription::Kind::function;
    field.name = text_of(*function, "`function`");
  }
  if (kinds != 1)
    throw Wrong(table, "it needs one of `value`, `buffer` and `function`");
  return field;
}

struct ElementName {
  std::string_view name;
  TensorMap::Element element;
};
constexpr ElementName element_names[] = {
    {"u8", TensorMap::Element::u8},   {"u16", TensorMap::Element::u16},
    {"u32", TensorMap::Element::u32}, {"s32", TensorMap::Element::s32},
    {"u64", TensorMap::Element::u64}, {"s64", TensorMap::Element::s64},
    {"f16", TensorMap::Element::f16}, {"f32", TensorMap::Element::f32},
    {"f64", TensorMap::Element::f64}, {"bf16", TensorMap::Element::bf16}};

/// A tensor map: its bytes, and the address of its buffer in them.
ArgumentDescription read_tensor(const toml::table &table) {
  only(table,
       {"buffer", "offset", "type", "extents", "strides", "box", "steps", "swizzle", "fill"});
  TensorMap map;
  const auto *type = table.get("type");
  const std::string name = type ? text_of(*type, "`type`") : "";
  const auto *const found = std::find_if(std::begin(element_names), std::end(element_names),
                                         [&](const ElementName &e) { return e.name == name; });
  if (found == std::end(element_names))
    throw Wrong(type ? *type : table,
                "`type` of a tensor must be u8, u16, u32, s32, u64, s64, f16, "
                "f32, f64 or bf16");
  map.element = found->element;
  const auto numbers = [&](const char *key, std::uint64_t most) {
    std::vector<std::uint64_t> list;
    if (const auto *node = table.get(key))
      for (const toml::node &number : list_of(*node, fmt::format("`{}`", key)))
        list.push_back(whole(number, fmt::format("`{}`", key), most));
    return list;
  };
  const auto extents = numbers("extents", std::uint64_t{1} << 32);
  auto strides = numbers("strides", std::uint64_t{1} << 40), box = numbers("box", 256);
  auto steps = numbers("steps", 8);
  if (extents.empty() || extents.size() > TensorMap::most_axes || box.size() != extents.size())
    throw Wrong(table, "a tensor has `extents` and a `box` along one to five axes");
  for (std::size_t axis = strides.size() + 1; axis < extents.size(); ++axis)
    strides.push_back((axis == 1 ? map.element_bytes() : strides.back()) * extents[axis - 1]);
  steps.resize(std::max(steps.size(), extents.size()), 1);
  if (strides.size() != extents.size() - 1 || steps.size() != extents.size())
    throw Wrong(table,
                "`strides` has bytes for each axis but the first, `steps` elements for each");
  map.rank = static_cast<std::uint8_t>(extents.size());
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    map.extents[axis] = extents[axis];
    map.box[axis] = static_cast<std::uint32_t>(box[axis]);
    map.steps[axis] = static_cast<std::uint8_t>(steps[axis]);
    if (axis != 0)
      map.strides[axis] = strides[axis - 1];
  }
  if (const auto *swizzle = table.get("swizzle")) {
    const std::uint64_t bytes = whole(*swizzle, "`swizzle`", 128);
    if (bytes != 0 && bytes != 32 && bytes != 64 && bytes != 128)
      throw Wrong(*swizzle, "`swizzle` must be 0, 32, 64 or 128 bytes");
    map.swizzle = bytes == 0    ? TensorMap::Swizzle::none
                  : bytes == 32 ? TensorMap::Swizzle::by_32
                  : bytes == 64 ? TensorMap::Swizzle::by_64
                                : TensorMap::Swizzle::by_128;
  }
  if (const auto *fill = table.get("fill")) {
    const std::string word = text_of(*fill, "`fill`");
    if (word != "zeros" && word != "nan")
      throw Wrong(*fill, "`fill` of a tensor must be zeros or nan");
    map.fills_with_nan = word == "nan";
  }
  if (const auto valid = map.check(); !valid)
    throw Wrong(table, "there is no tensor map with " + valid.error());
  const auto *buffer = table.get("buffer");
  if (!buffer)
    throw Wrong(table, "a tensor needs the `buffer` that it is in");
  ArgumentDescription argument;
  const auto bytes = encode(map);
  argument.bytes.assign(bytes.begin(), bytes.end());
  FieldDescription &address = argument.fields.emplace_back();
  address.kind = FieldDescription::Kind::buffer;
  address.at = TensorMap::address_at;
  address.name = text_of(*buffer, "`buffer`");
  if (const auto *offset = table.get("offset"))
    address.bits = bits_of(*offset, "`offset`");
  return argument;
}

ArgumentDescription read_argument(const toml::table &table) {
  ArgumentDescription argument;
  if (const auto *tensor = table.get("tensor")) {
    only(table, {"tensor"});
    return read_tensor(table_of(*tensor, "`tensor`"));
  }
  if (!table.contains("bytes") && !table.contains("fields")) {
    only(table, {"value", "type", "buffer", "offset", "function"});
    argument.fields.push_back(read_value(table, 0));
    return argument;
  }
  only(table, {"bytes", "fields"});
  if (const auto *bytes = table.get("bytes"))
    argument.bytes = hexadecimal(*bytes);
  if (const auto *fields = table.get("fields"))
    for (const toml::node &node : list_of(*fields, "`fields`")) {
      const toml::table &field = table_of(node, "a field");
      only(field, {"at", "value", "type", "buffer", "offset", "function"});
      const auto *at = field.get("at");
      if (!at)
        throw Wrong(field, "a field needs `at`, its byte in the parameter");
      argument.fields.push_back(
          read_value(field, static_cast<std::uint32_t>(whole(*at, "`at`", 65535))));
    }
  return argument;
}

/// What both kernels of a file may have of their own.
void read_shape_of(const toml::table &table, LaunchDescription &launch) {
  if (const auto *kernel = table.get("kernel"))
    launch.kernel = text_of(*kernel, "`kernel`");
  read_extents(table.get("grid"), "`grid`", launch.grid);
  read_extents(table.get("block"), "`block`", launch.block);
  if (const auto *cluster = table.get("cluster"))
    read_extents(cluster, "`cluster`", launch.cluster.emplace());
  if (const auto *shared = table.get("shared"))
    launch.shared = static_cast<std::uint32_t>(whole(*shared, "`shared`", 1 << 24));
  if (const auto *blocks = table.get("blocks")) {
    launch.blocks.clear();
    for (const toml::node &block : list_of(*blocks, "`blocks`"))
      launch.blocks.push_back(whole(block, "a block's number"));
  }
  if (const auto *arguments = table.get("argument")) {
    launch.arguments.clear();
    for (const toml::node &node : list_of(*arguments, "`argument`"))
      launch.arguments.push_back(read_argument(table_of(node, "an argument")));
  }
}

LaunchFile read_tables(const toml::table &table, const std::filesystem::path &folder) {
  only(table, {"kernel", "grid", "block", "cluster", "shared", "blocks", "argument", "buffer",
               "variable", "steps", "schedule", "variables-seed", "second", "extra-reads"});
  LaunchFile file;
  LaunchDescription &launch = file.first;
  read_shape_of(table, launch);
  if (const auto *steps = table.get("steps"))
    launch.step_limit = whole(*steps, "`steps`");
  if (const auto *schedule = table.get("schedule")) {
    launch.schedule = text_of(*schedule, "`schedule`");
    WarpSchedule policy{};
    std::uint64_t seed = 0;
    if (!read_schedule(launch.schedule, policy, seed))
      throw Wrong(*schedule, "`schedule` must be reconverge, apart or random[:SEED]");
  }
  if (const auto *seed = table.get("variables-seed"))
    launch.variables_seed = bits_of(*seed, "`variables-seed`");
  for (const auto &[key, to] :
       {std::pair{"buffer", &launch.buffers}, std::pair{"variable", &launch.variables}})
    if (const auto *list = table.get(key))
      for (const toml::node &node : list_of(*list, key)) {
        BufferDescription buffer = read_contents(table_of(node, key), folder);
        if (std::any_of(to->begin(), to->end(),
                        [&](const auto &other) { return other.name == buffer.name; }))
          throw Wrong(node, fmt::format("`{}` is there twice", buffer.name));
        to->push_back(std::move(buffer));
      }
  file.second = launch;
  if (const auto *extra = table.get("extra-reads"))
    file.extra_reads = truth(*extra, "`extra-reads`");
  if (const auto *second = table.get("second")) {
    const toml::table &other = table_of(*second, "`second`");
    only(other, {"kernel", "grid", "block", "cluster", "shared", "blocks", "argument"});
    read_shape_of(other, file.second);
    file.names_second = other.contains("kernel");
  }
  return file;
}

std::string quoted_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (static_cast<unsigned char>(c) < 32)
      result += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result + "\"";
}

std::string hexadecimal_text(const std::vector<std::uint8_t> &bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes)
    text += fmt::format("{:02x}", byte);
  return quoted_text(text);
}

std::string contents_text(std::string_view kind, const BufferDescription &buffer) {
  std::string text = fmt::format("\n[[{}]]\nname = {}\ntype = \"{}\"\nsize = {}\n", kind,
                                 quoted_text(buffer.name), to_string(buffer.type), buffer.size);
  for (const FillName &fill : fill_names)
    if (fill.fill == buffer.fill)
      text += fmt::format("fill = \"{}\"\n", fill.name);
  if (buffer.seed != 0)
    text += fmt::format("seed = \"{:#x}\"\n", buffer.seed);
  if (buffer.has_range)
    text += fmt::format("range = [{}, {}]\n", buffer.lowest, buffer.highest);
  if (!buffer.bytes.empty())
    text += fmt::format("bytes = {}\n", hexadecimal_text(buffer.bytes));
  if (buffer.alignment != 0)
    text += fmt::format("alignment = {}\n", buffer.alignment);
  if (!buffer.is_compared)
    text += "compare = false\n";
  return text;
}

std::string field_text(const FieldDescription &field) {
  using Kind = FieldDescription::Kind;
  const std::string at = fmt::format("at = {}, ", field.at);
  if (field.kind == Kind::buffer)
    return fmt::format("{{ {}buffer = {}, offset = {} }}", at, quoted_text(field.name),
                       static_cast<std::int64_t>(field.bits));
  if (field.kind == Kind::function)
    return fmt::format("{{ {}function = {} }}", at, quoted_text(field.name));
  return fmt::format("{{ {}value = \"{:#x}\", type = \"b{}\" }}", at, field.bits, 8 * field.size);
}

/// What both kernels of a file have of their own; see read_shape_of().
std::string shape_text(const LaunchDescription &launch) {
  const auto extents = [](const Extents &e) { return fmt::format("[{}, {}, {}]", e.x, e.y, e.z); };
  std::string text =
      fmt::format("kernel = {}\ngrid = {}\nblock = {}\nshared = {}\n", quoted_text(launch.kernel),
                  extents(launch.grid), extents(launch.block), launch.shared);
  if (launch.cluster)
    text += fmt::format("cluster = {}\n", extents(*launch.cluster));
  if (launch.blocks.empty())
    return text;
  std::string list;
  for (const std::uint64_t block : launch.blocks)
    list += fmt::format("{}{}", list.empty() ? "" : ", ", block);
  return text + fmt::format("blocks = [{}]\n", list);
}

std::string arguments_text(std::string_view kind, const LaunchDescription &launch) {
  std::string text;
  for (const ArgumentDescription &argument : launch.arguments) {
    text += fmt::format("\n[[{}]]\nbytes = {}\n", kind, hexadecimal_text(argument.bytes));
    if (argument.fields.empty())
      continue;
    text += "fields = [";
    for (const FieldDescription &field : argument.fields)
      text += (&field == argument.fields.data() ? "" : ", ") + field_text(field);
    text += "]\n";
  }
  return text;
}

} // namespace

tl::expected<LaunchFile, std::string> read_launch_file(const std::string &path) {
  const auto text = read_input(path);
  if (!text)
    return tl::unexpected(text.error());
  const toml::parse_result parsed = toml::parse(std::string_view(*text), path);
  if (!parsed)
    return tl::unexpected(fmt::format("{}:{}: {}", path, parsed.error().source().begin.line,
                                      parsed.error().description()));
  try {
    return read_tables(parsed.table(), std::filesystem::path(path).parent_path());
  } catch (const Wrong &wrong) {
    return tl::unexpected(fmt::format("{}:{}: {}", path, wrong.line, wrong.what()));
  }
}

std::string launch_file_text(const LaunchDescription &launch, const LaunchDescription *second) {
  std::string text = shape_text(launch);
  if (launch.step_limit != 0)
    text += fmt::format("steps = {}\n", launch.step_limit);
  if (!launch.schedule.empty())
    text += fmt::format("schedule = {}\n", quoted_text(launch.schedule));
  if (launch.variables_seed)
    text += fmt::format("variables-seed = \"{:#x}\"\n", *launch.variables_seed);
  for (const BufferDescription &buffer : launch.buffers)
    text += contents_text("buffer", buffer);
  for (const BufferDescription &variable : launch.variables)
    text += contents_text("variable", variable);
  text += arguments_text("argument", launch);
  if (second)
    text += fmt::format("\n[second]\n{}{}", shape_text(*second),
                        arguments_text("second.argument", *second));
  return text;
}

tl::expected<void, std::string> add_argument(const std::string &text, const std::string &called,
                                             const Variable &parameter, LaunchDescription &launch) {
  const auto wrong = [](std::string why) { return tl::unexpected(std::move(why)); };
  const auto parts = split_at(text, ':');
  FieldDescription field;
  BufferDescription buffer;
  buffer.name = called;
  const std::string &kind = parts[0];
  std::uint64_t count = 0, seed = launch.arguments.size();
  if (parts.size() == 1) {
    double real = 0;
    std::int64_t number = 0;
    if (is_float(parameter.type)) {
      if (!to_number(text, real))
        return wrong("not a number");
      field.bits = floating::from_double(parameter.type, real, FloatRounding::nearest_even);
    } else if (!to_number(text, field.bits)) {
      if (!to_number(text, number))
        return wrong("not an integer");
      field.bits = static_cast<std::uint64_t>(number);
    }
    launch.arguments.push_back({{}, {field}});
    return {};
  }
  field.kind = FieldDescription::Kind::buffer;
  field.name = buffer.name;
  if (bit_width(parameter.type) != 64)
    return wrong("a buffer needs a 64-bit parameter");
  if (kind == "file") {
    const auto bytes = read_input(text.substr(5));
    if (!bytes)
      return wrong(bytes.error());
    buffer.bytes.assign(bytes->begin(), bytes->end());
    buffer.size = bytes->size();
  } else if (kind == "zeros") {
    if (parts.size() != 2 || !to_number(parts[1], buffer.size))
      return wrong("expected zeros:BYTES");
  } else if (kind == "buffer") {
    if (parts.size() > 3 || !launch.buffer(parts[1]) ||
        (parts.size() == 3 && !to_number(parts[2], field.bits)))
      return wrong("expected buffer:NAME[:OFFSET], the name of an earlier argument");
    field.name = parts[1];
    launch.arguments.push_back({{}, {field}});
    return {};
  } else if (kind == "function") {
    field.kind = FieldDescription::Kind::function;
    field.name = parts[1];
    launch.arguments.push_back({{}, {field}});
    return {};
  } else {
    buffer.type = parts.size() > 1 ? scalar_type(parts[1]) : ScalarType::none;
    if (kind != "random" || parts.size() < 3 || parts.size() > 4 || bit_width(buffer.type) < 8 ||
        !to_number(parts[2], count) || (parts.size() == 4 && !to_number(parts[3], seed)))
      return wrong("expected random:TYPE:COUNT[:SEED]");
    using Fill = GlobalMemory::Fill;
    buffer.fill = buffer.type == ScalarType::f32   ? Fill::f32
                  : buffer.type == ScalarType::f64 ? Fill::f64
                                                   : Fill::random;
    if (count > std::uint64_t{1} << 44)
      return wrong("no buffer can be so large");
    buffer.size = count * bit_width(buffer.type) / 8;
    buffer.seed = scramble(seed);
  }
  if (buffer.size > std::uint64_t{1} << 44)
    return wrong("no buffer can be so large");
  launch.buffers.push_back(std::move(buffer));
  launch.arguments.push_back({{}, {field}});
  return {};
}

} // namespace ptxasw::wrapper
