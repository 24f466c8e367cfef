#include "suite.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>

namespace ptxasw::conformance {
namespace {

constexpr std::size_t kernels_per_module = 200;
constexpr unsigned block_threads = 256;

std::uint64_t item_fingerprint(const std::string &text, const Launch &launch) {
  std::uint64_t hash = fingerprint(text.data(), text.size());
  hash = fingerprint(&launch.grid, sizeof launch.grid, hash);
  hash = fingerprint(&launch.block, sizeof launch.block, hash);
  for (const Argument &argument : launch.arguments)
    hash = fingerprint(argument.contents->data(), argument.contents->size(), hash);
  return hash;
}

unsigned bytes_per_set(const Result &result) { return result.width / 8; }

std::string read_text(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// One number of a fill.
std::uint64_t filled(const std::string &fill, std::uint64_t index, std::uint64_t seed,
                     unsigned &bytes) {
  const std::uint64_t hash = scramble(scramble(seed) + index);
  const double number = static_cast<double>(static_cast<std::int64_t>(hash) >> 40) / 8388608.0;
  bytes = fill == "f64" ? 8 : 4;
  if (fill == "f64")
    return std::bit_cast<std::uint64_t>(number);
  if (fill == "f32")
    return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  if (fill == "zeros")
    return 0;
  if (fill == "bytes")
    return hash & mask64(32);
  if (fill.starts_with("u32<"))
    return (hash >> 32) % std::stoul(fill.substr(4));
  if (fill.starts_with("f32<"))
    return std::bit_cast<std::uint32_t>(
        static_cast<float>((hash >> 32) % std::stoul(fill.substr(4))));
  throw std::runtime_error("no such fill: " + fill);
}

Argument read_argument(const std::string &word, std::uint64_t seed) {
  Argument argument;
  Bytes bytes;
  const auto put = [&](std::uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  };
  if (const std::size_t equals = word.find('='); equals != std::string::npos) {
    const ScalarType type = scalar_type(word.substr(0, equals));
    const double number = std::stod(word.substr(equals + 1));
    put(is_float(type) ? floating::from_double(type, number, FloatRounding::nearest_even)
                       : static_cast<std::uint64_t>(static_cast<std::int64_t>(number)),
        bit_width(type) / 8);
  } else {
    argument.kind = word.starts_with("in:") ? Argument::Kind::in : Argument::Kind::out;
    const std::size_t first = word.find(':'), last = word.rfind(':');
    const std::string fill = word.substr(first + 1, last - first - 1);
    const std::uint64_t count = std::stoul(word.substr(last + 1));
    for (std::uint64_t i = 0; i < count; ++i) {
      unsigned size = 0;
      const std::uint64_t value = filled(fill, i, seed, size);
      put(value, size);
    }
  }
  argument.contents = std::make_shared<const Bytes>(std::move(bytes));
  return argument;
}

void read_sizes(const std::string &word, Extents &sizes) {
  std::istringstream text(word);
  std::string part;
  for (int axis = 0; axis < 3; ++axis)
    sizes[axis] = std::getline(text, part, ',') ? static_cast<std::uint32_t>(std::stoul(part)) : 1;
}

} // namespace

Suite variant_suite(const std::string &target) {
  Suite suite;
  std::map<std::pair<std::vector<OperandKind>, unsigned>, std::shared_ptr<const Bytes>> tables;
  const auto &list = variants();
  for (std::size_t n = 0; n < list.size(); ++n) {
    const Variant &variant = list[n];
    if (n % kernels_per_module == 0) {
      suite.modules.emplace_back();
      suite.modules.back().name = fmt::format("variants{:03}", n / kernels_per_module);
      suite.modules.back().text = module_head(target);
    }
    Suite::Module &module = suite.modules.back();
    module.text += kernel_text(variant, n);
    auto &table = tables[{variant.operands, variant.sets}];
    if (!table)
      table = std::make_shared<const Bytes>(operand_table(variant.operands, variant.sets));
    Item item;
    item.name = variant.name;
    item.module = module.name;
    item.variant = &variant;
    item.launch.kernel = fmt::format("v{}", n);
    item.launch.grid[0] = variant.sets / block_threads;
    item.launch.block[0] = block_threads;
    item.launch.arguments = {
        {Argument::Kind::in, table},
        {Argument::Kind::out,
         std::make_shared<const Bytes>(std::size_t{variant.sets} * result_stride(variant))}};
    item.fingerprint = item_fingerprint(kernel_text(variant, 0), item.launch);
    module.items.push_back(std::move(item));
  }
  return suite;
}

Suite kernel_suite(const std::string &root) {
  Suite suite;
  std::istringstream lines(read_text(root + "/tests/conformance/kernels/kernels.txt"));
  std::string line;
  while (std::getline(lines, line)) {
    if (line.empty() || line[0] == '#')
      continue;
    std::istringstream words(line);
    std::string module_name, grid, block, word;
    Item item;
    words >> module_name >> item.launch.kernel >> grid >> block;
    const std::string path = root + "/" + module_name + ".ptx";
    std::replace(module_name.begin(), module_name.end(), '/', '-');
    read_sizes(grid, item.launch.grid);
    read_sizes(block, item.launch.block);
    std::uint64_t seed = 1;
    while (words >> word)
      item.launch.arguments.push_back(read_argument(word, seed++));
    Suite::Module *module = nullptr;
    for (Suite::Module &candidate : suite.modules)
      if (candidate.name == module_name)
        module = &candidate;
    if (!module) {
      suite.modules.push_back({module_name, read_text(path), {}});
      module = &suite.modules.back();
    }
    item.module = module_name;
    item.name = fmt::format("{} {} of {} threads", item.launch.kernel, grid, block);
    for (const Item &other : module->items)
      if (other.name == item.name)
        item.name += fmt::format(" ({})", module->items.size());
    item.fingerprint = item_fingerprint(module->text, item.launch);
    module->items.push_back(std::move(item));
  }
  return suite;
}

std::string arrange(const Variant &variant, const Bytes &raw) {
  std::string bytes;
  const unsigned stride = result_stride(variant);
  for (std::size_t r = 0; r < variant.results.size(); ++r) {
    const auto at = [&](unsigned set, unsigned byte) {
      return raw[std::size_t{set} * stride + 8 * r + byte];
    };
    if (variant.results[r].width == 1) {
      for (unsigned set = 0; set < variant.sets; set += 8) {
        unsigned bits = 0;
        for (unsigned i = 0; i < 8; ++i)
          bits |= (at(set + i, 0) & 1u) << i;
        bytes += static_cast<char>(bits);
      }
      continue;
    }
    for (unsigned byte = 0; byte < bytes_per_set(variant.results[r]); ++byte)
      for (unsigned set = 0; set < variant.sets; ++set)
        bytes += static_cast<char>(at(set, byte));
  }
  return bytes;
}

std::string recorded_form(const Item &item, const Bytes &raw) {
  if (item.variant)
    return arrange(*item.variant, raw);
  if (!item.digest)
    return {raw.begin(), raw.end()};
  std::string digests;
  const std::size_t warps = item.launch.grid.count() * item.launch.block.count() / 32;
  const std::size_t size = raw.size() / warps;
  for (std::size_t warp = 0; warp < warps; ++warp)
    for (std::uint64_t hash = fingerprint(raw.data() + warp * size, size), byte = 0; byte < 8;
         ++byte)
      digests += static_cast<char>(hash >> 8 * byte);
  return digests;
}

std::uint64_t recorded_number(const Variant &variant, const std::string &bytes, std::size_t result,
                              unsigned set) {
  std::size_t at = 0;
  const auto size = [&](const Result &r) {
    return r.width == 1 ? variant.sets / 8 : variant.sets * bytes_per_set(r);
  };
  for (std::size_t i = 0; i < result; ++i)
    at += size(variant.results[i]);
  if (variant.results[result].width == 1)
    return static_cast<unsigned char>(bytes[at + set / 8]) >> set % 8 & 1;
  std::uint64_t number = 0;
  for (unsigned byte = 0; byte < bytes_per_set(variant.results[result]); ++byte)
    number |= std::uint64_t{static_cast<unsigned char>(bytes[at + byte * variant.sets + set])}
              << 8 * byte;
  return number;
}

} // namespace ptxasw::conformance
