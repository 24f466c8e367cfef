#include "launch.h"

#include <cstring>
#include <fmt/core.h>

namespace ptxasw::conformance {

std::uint64_t fingerprint(const void *data, std::size_t size, std::uint64_t seed) {
  std::uint64_t hash = scramble(seed + size);
  for (std::size_t at = 0; at < size; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, static_cast<const char *>(data) + at, std::min<std::size_t>(8, size - at));
    hash = scramble(hash ^ word);
  }
  return hash;
}

std::size_t result_bytes(const Launch &launch) {
  std::size_t total = 0;
  for (const Argument &argument : launch.arguments)
    if (argument.kind == Argument::Kind::out)
      total += argument.contents->size();
  return total;
}

Emulated emulate(const WarpProgram &program, const Launch &launch) {
  Emulated result;
  const auto kernel = program.find_kernel(launch.kernel);
  if (!kernel) {
    result.fault = "there is no such kernel";
    return result;
  }
  const Function &function = *program.function(*kernel).function;
  GlobalMemory memory;
  if (const auto placed = program.place_variables(memory); !placed) {
    result.fault = placed.error();
    return result;
  }
  WarpLaunch how;
  how.grid = launch.grid;
  how.block = launch.block;
  how.parameters.resize(kernel_parameter_bytes(function));
  std::vector<std::uint64_t> addresses;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument &argument = launch.arguments[i];
    std::uint8_t *to = how.parameters.data() + kernel_parameter_offset(function, i);
    std::uint64_t address = 0;
    if (argument.kind == Argument::Kind::map) {
      // Behind the others, whose addresses it needs.
    } else if (argument.kind == Argument::Kind::value) {
      std::memcpy(to, argument.contents->data(), argument.contents->size());
    } else {
      const std::size_t index = memory.allocate(
          fmt::format("argument {}", i), argument.contents->size(), GlobalMemory::Fill::zeros, 0);
      address = memory.allocations()[index].base;
      memory.write(address, *argument.contents);
      std::memcpy(to, &address, 8);
    }
    addresses.push_back(address);
  }
  for (std::size_t i = 0; i < launch.arguments.size(); ++i)
    if (launch.arguments[i].kind == Argument::Kind::map) {
      TensorMap map = launch.arguments[i].map;
      map.address = addresses.at(map.address);
      const auto bytes = encode(map);
      std::memcpy(how.parameters.data() + kernel_parameter_offset(function, i), bytes.data(),
                  bytes.size());
    }
  const WarpOutcome outcome = run_kernel(program, *kernel, how, memory, {});
  if (outcome.fault) {
    result.fault = outcome.fault->message;
    return result;
  }
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    if (launch.arguments[i].kind != Argument::Kind::out)
      continue;
    const std::size_t at = result.bytes.size(), size = launch.arguments[i].contents->size();
    result.bytes.resize(at + size);
    memory.read(addresses[i], std::span(result.bytes).subspan(at, size));
  }
  return result;
}

std::size_t Contents::place(const std::shared_ptr<const Bytes> &bytes) {
  auto &candidates = by_hash_[fingerprint(bytes->data(), bytes->size())];
  for (const std::size_t n : candidates)
    if (*placed_[n].first == *bytes)
      return placed_[n].second;
  const std::size_t offset = bytes_.size();
  bytes_.insert(bytes_.end(), bytes->begin(), bytes->end());
  candidates.push_back(placed_.size());
  placed_.emplace_back(bytes, offset);
  return offset;
}

std::string manifest(const std::vector<Launch> &launches, Contents &contents) {
  std::string text;
  for (const Launch &launch : launches) {
    text += launch.kernel;
    for (const auto &sizes : {launch.grid, launch.block})
      text += fmt::format(" {} {} {}", sizes[0], sizes[1], sizes[2]);
    for (const Argument &argument : launch.arguments) {
      if (argument.kind == Argument::Kind::map) {
        const TensorMap &map = argument.map;
        // As CUtensorMapDataType numbers them.
        static constexpr unsigned elements[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};
        text += fmt::format(" map:{}:{}:{}:{}:{}", map.address,
                            elements[static_cast<unsigned>(map.element)], map.rank,
                            static_cast<unsigned>(map.swizzle) + map.atomicity,
                            map.fills_with_nan ? 1 : 0);
        for (unsigned axis = 0; axis < map.rank; ++axis)
          text += fmt::format(":{}:{}:{}:{}", map.extents[axis], map.strides[axis], map.box[axis],
                              map.steps[axis]);
      } else if (argument.kind == Argument::Kind::value) {
        text += " value:";
        for (const std::uint8_t byte : *argument.contents)
          text += fmt::format("{:02x}", byte);
      } else {
        text += fmt::format(" {}:{}:{}", argument.kind == Argument::Kind::in ? "in" : "out",
                            contents.place(argument.contents), argument.contents->size());
      }
    }
    text += '\n';
  }
  return text;
}

} // namespace ptxasw::conformance
