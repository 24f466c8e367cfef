// From a description to memory and parameters: addresses follow from the sizes alone, so that one
// description gives the same bytes on every machine. What a type cannot hold is refused.

#include "emulator/machine/launch_description.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/core.h>

namespace ptxasw::emulator {
namespace {

/// Of one buffer, in bytes: what the emulated device has addresses for.
constexpr std::uint64_t largest_buffer = std::uint64_t{1} << 44;
/// Of a buffer with a range, which is written at once.
constexpr std::uint64_t largest_written = std::uint64_t{1} << 30;
/// Buffers lie above all variables.
constexpr std::uint64_t buffers_begin = std::uint64_t{1} << 45;

/// A number of the type between two others.
std::uint64_t between(const BufferDescription &buffer, std::uint64_t index) {
  const std::uint64_t noise = scramble(scramble(buffer.seed) + index);
  if (!is_float(buffer.type)) {
    const auto low = static_cast<std::int64_t>(buffer.lowest);
    const auto span =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(buffer.highest) - low) + 1;
    return static_cast<std::uint64_t>(low) + (span == 0 ? noise : noise % span);
  }
  const double part = static_cast<double>(noise >> 11) * 0x1p-53;
  const double number =
      std::clamp(buffer.lowest * (1 - part) + buffer.highest * part, buffer.lowest, buffer.highest);
  return floating::from_double(buffer.type, number, FloatRounding::zero);
}

void write_range(const BufferDescription &buffer, std::uint64_t address, GlobalMemory &memory) {
  const unsigned step = bit_width(buffer.type) / 8;
  for (std::uint64_t i = 0; i < buffer.size / step; ++i) {
    const std::uint64_t bits = between(buffer, i);
    std::uint8_t bytes[8];
    std::memcpy(bytes, &bits, 8);
    memory.write(address + i * step, {bytes, step});
  }
}

std::string buffer_error(const BufferDescription &buffer) {
  const unsigned bits = bit_width(buffer.type);
  if (buffer.size > largest_buffer)
    return "no buffer can be so large";
  if (buffer.bytes.size() > buffer.size)
    return "more contents than it has bytes";
  if (buffer.alignment != 0 && (buffer.alignment & (buffer.alignment - 1)) != 0)
    return "an alignment that is no power of two";
  if (buffer.alignment > 65536)
    return "an alignment beyond 65536";
  if (!buffer.has_range)
    return {};
  if (bits < 8 || bits > 64 ||
      (is_float(buffer.type) && bits == 32 &&
       (buffer.type == ScalarType::f16x2 || buffer.type == ScalarType::bf16x2)))
    return "no range for this type";
  if (buffer.size > largest_written)
    return "too large for numbers of a range";
  const double limit = is_float(buffer.type) ? HUGE_VAL : 0x1p62;
  if (!(buffer.lowest <= buffer.highest) || !(std::abs(buffer.lowest) < limit) ||
      !(std::abs(buffer.highest) < limit))
    return "a range that is none";
  return {};
}

void fill_buffer(const BufferDescription &buffer, std::uint64_t address, GlobalMemory &memory) {
  if (buffer.has_range)
    write_range(buffer, address, memory);
  memory.write(address, buffer.bytes);
}

/// Writes one parameter; empty, or what is wrong.
std::string write_argument(const ArgumentDescription &argument, const Variable &parameter,
                           const WarpProgram &program, const LaunchDescription &description,
                           const std::vector<std::uint64_t> &addresses, std::uint8_t *to) {
  if (argument.bytes.size() > parameter.size())
    return fmt::format("{} bytes for a parameter of {}", argument.bytes.size(), parameter.size());
  std::copy(argument.bytes.begin(), argument.bytes.end(), to);
  for (const FieldDescription &field : argument.fields) {
    std::uint64_t bits = field.bits;
    std::uint64_t size = field.size;
    if (field.kind == FieldDescription::Kind::buffer) {
      const BufferDescription *buffer = description.buffer(field.name);
      if (!buffer)
        return fmt::format("there is no buffer `{}`", field.name);
      bits += addresses[static_cast<std::size_t>(buffer - description.buffers.data())];
      size = 8;
    } else if (field.kind == FieldDescription::Kind::function) {
      const auto function = program.find_function(field.name);
      if (!function)
        return fmt::format("there is no function `{}`", field.name);
      bits = window::function + std::uint64_t{16} * *function;
      size = 8;
    }
    if (field.at + size > parameter.size()) {
      if (field.kind != FieldDescription::Kind::bits)
        return "an address needs 64 bits";
      if (field.at >= parameter.size())
        return fmt::format("byte {} of a parameter of {}", field.at, parameter.size());
      size = parameter.size() - field.at;
    }
    std::memcpy(to + field.at, &bits, std::min<std::uint64_t>(size, 8));
  }
  return {};
}

} // namespace

const BufferDescription *LaunchDescription::buffer(std::string_view name) const {
  const auto found = std::find_if(buffers.begin(), buffers.end(),
                                  [&](const BufferDescription &b) { return b.name == name; });
  return found == buffers.end() ? nullptr : &*found;
}

bool read_schedule(std::string_view text, WarpSchedule &schedule, std::uint64_t &seed) {
  if (text == "reconverge") {
    schedule = WarpSchedule::reconverge;
    return true;
  }
  if (text == "apart") {
    schedule = WarpSchedule::apart;
    return true;
  }
  if (!text.starts_with("random"))
    return false;
  schedule = WarpSchedule::random;
  text.remove_prefix(6);
  if (text.empty())
    return true;
  const auto read = std::from_chars(text.data() + 1, text.data() + text.size(), seed);
  return text[0] == ':' && text.size() > 1 && read.ec == std::errc() &&
         read.ptr == text.data() + text.size();
}

tl::expected<PreparedLaunch, std::string> prepare_launch(const WarpProgram &program,
                                                         const LaunchDescription &description,
                                                         GlobalMemory &memory) {
  const auto wrong = [](std::string why) { return tl::unexpected(std::move(why)); };
  const auto kernel = program.find_kernel(description.kernel);
  if (!kernel)
    return wrong(description.kernel.empty()
                     ? std::string("there is no kernel")
                     : fmt::format("there is no kernel `{}`", description.kernel));
  const Function &function = *program.function(*kernel).function;
  if (description.arguments.size() != function.parameters.size())
    return wrong(fmt::format("{} has {} parameters, {} arguments are given", function.name,
                             function.parameters.size(), description.arguments.size()));
  if (const auto legal = check_launch_shape(description.grid, description.block); !legal)
    return wrong(legal.error());
  if (const auto placed = program.place_variables(memory, description.variables_seed); !placed)
    return wrong(placed.error());
  for (const BufferDescription &variable : description.variables) {
    const auto &all = memory.allocations();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto &a) { return a.name == variable.name; });
    if (found == all.end())
      return wrong(fmt::format("there is no variable `{}`", variable.name));
    if (variable.size > found->size)
      return wrong(fmt::format("variable `{}` has {} bytes", variable.name, found->size));
    if (std::string why = buffer_error(variable); !why.empty())
      return wrong(fmt::format("variable `{}`: {}", variable.name, why));
    fill_buffer(variable, found->base, memory);
  }
  PreparedLaunch prepared;
  prepared.kernel = *kernel;
  prepared.launch.grid = description.grid;
  prepared.launch.block = description.block;
  prepared.launch.blocks = description.blocks;
  prepared.launch.dynamic_shared = description.shared;
  prepared.launch.cluster = description.cluster;
  prepared.variables = memory.allocations().size();
  memory.continue_at(buffers_begin);
  for (const BufferDescription &buffer : description.buffers) {
    if (std::string why = buffer_error(buffer); !why.empty())
      return wrong(fmt::format("buffer `{}`: {}", buffer.name, why));
    const std::size_t index = memory.allocate(buffer.name, std::max<std::uint64_t>(buffer.size, 1),
                                              buffer.fill, buffer.seed, buffer.alignment);
    prepared.addresses.push_back(memory.allocations()[index].base);
    fill_buffer(buffer, prepared.addresses.back(), memory);
  }
  prepared.launch.parameters.resize(kernel_parameter_bytes(function));
  for (std::size_t i = 0; i < description.arguments.size(); ++i)
    if (std::string why = write_argument(description.arguments[i], function.parameters[i], program,
                                         description, prepared.addresses,
                                         prepared.launch.parameters.data() +
                                             kernel_parameter_offset(function, i));
        !why.empty())
      return wrong(fmt::format("argument {}: {}", i, why));
  return prepared;
}

} // namespace ptxasw::emulator
