#include "runner/suite.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace kernelgen {
namespace {

// Kernels and variants stay in the order of the table.
using json = nlohmann::ordered_json;

int axis_of(const std::string &name) {
  if (name == "nx" || name == "x")
    return 0;
  if (name == "ny" || name == "y")
    return 1;
  if (name == "nz" || name == "z")
    return 2;
  throw std::runtime_error("manifest: '" + name + "' is no extent");
}

Fill fill_of(const std::string &name) {
  if (name == "uniform")
    return Fill::uniform;
  if (name == "unit")
    return Fill::unit;
  if (name == "binary")
    return Fill::binary;
  throw std::runtime_error("manifest: '" + name + "' is no way to fill a buffer");
}

Argument read_argument(const json &from) {
  Argument argument;
  argument.name = from.at("name");
  const std::string kind = from.at("kind");
  if (kind == "extent") {
    argument.axis = axis_of(argument.name);
  } else if (kind == "plan") {
    argument.kind = Argument::Kind::plan;
  } else if (kind == "stride") {
    argument.kind = Argument::Kind::stride;
    argument.axis = axis_of(from.at("axis"));
  } else if (kind == "scalar") {
    argument.kind = Argument::Kind::scalar;
    argument.value = from.at("value");
  } else {
    argument.kind = Argument::Kind::buffer;
    const std::string use = from.at("use");
    argument.use = use == "in"    ? Argument::Use::in
                   : use == "out" ? Argument::Use::out
                                  : Argument::Use::inout;
    argument.fill = fill_of(from.at("fill"));
    argument.count = from.at("count");
  }
  return argument;
}

Extents read_extents(const json &from) {
  Extents extents{1, 1, 1};
  for (std::size_t n = 0; n < from.size() && n < 3; n++)
    extents[n] = from[n];
  return extents;
}

Kernel read_kernel(const json &from) {
  Kernel kernel;
  kernel.name = from.at("name");
  kernel.entry = from.at("entry");
  kernel.reference = from.at("reference");
  kernel.group = from.at("group");
  kernel.dimensions = from.at("dimensions");
  kernel.tolerance = from.at("tolerance");
  for (const json &argument : from.at("arguments"))
    kernel.arguments.push_back(read_argument(argument));
  for (const json &axis : from.at("grid"))
    kernel.grid_axes.push_back(axis_of(axis));
  for (std::size_t n = 0; n < kernel.grid_axes.size(); n++)
    kernel.rim[static_cast<std::size_t>(kernel.grid_axes[n])] = from.at("rim").at(n);
  for (const auto &[name, extents] : from.at("sizes").items())
    kernel.sizes[name] = read_extents(extents);
  for (const auto &[variant, file] : from.at("images").items())
    kernel.images[variant] = file;
  for (const auto &[variant, file] : from.at("exact_images").items())
    kernel.exact_images[variant] = file;
  return kernel;
}

} // namespace

std::string read_file(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw std::runtime_error("cannot read " + path.string());
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

Suite read_suite(const std::filesystem::path &manifest) {
  Suite suite;
  try {
    const json from = json::parse(read_file(manifest));
    suite.folder = std::filesystem::absolute(manifest).parent_path();
    suite.target = from.at("target");
    suite.tools = from.at("tools");
    suite.static_facts = from.at("static").dump();
    for (const json &variant : from.at("variants"))
      suite.variants.push_back({variant.at("name"), variant.at("valid")});
    for (const json &block : from.at("blocks"))
      suite.blocks.push_back({block.at(0), block.at(1)});
    for (const json &kernel : from.at("kernels"))
      suite.kernels.push_back(read_kernel(kernel));
  } catch (const json::exception &error) {
    throw std::runtime_error(manifest.string() + ": " + error.what());
  }
  return suite;
}

std::size_t count_values(const Argument &argument, const Extents &extents) {
  std::size_t product = 1;
  if (argument.count.empty()) {
    for (const int extent : extents)
      product *= static_cast<std::size_t>(extent);
    return product;
  }
  std::istringstream factors(argument.count);
  for (std::string factor; std::getline(factors, factor, '*');)
    product *= factor[0] == 'n'
                   ? static_cast<std::size_t>(extents[static_cast<std::size_t>(axis_of(factor))])
                   : std::stoul(factor);
  return product;
}

Extents find_size(const Kernel &kernel, const std::string &size) {
  if (const auto named = kernel.sizes.find(size); named != kernel.sizes.end())
    return named->second;
  Extents extents{1, 1, 1};
  std::istringstream numbers(size);
  int n = 0;
  for (std::string number; std::getline(numbers, number, 'x'); n++) {
    if (n == 3 || number.empty() || number.find_first_not_of("0123456789") != std::string::npos)
      throw std::runtime_error("'" + size + "' is no size");
    extents[static_cast<std::size_t>(n)] = std::stoi(number);
  }
  if (n != kernel.dimensions)
    throw std::runtime_error(kernel.name + " needs " + std::to_string(kernel.dimensions) +
                             " extents, not '" + size + "'");
  return extents;
}

} // namespace kernelgen
