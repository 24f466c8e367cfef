// Plausible launches for a kernel that nobody described.
//
// A pointer gets a buffer that reaches as far as a 32-bit index of 8-byte elements does, in sparse
// memory, so that no index goes out of bounds and even an index that wraps around is just another
// place. Integers are drawn so that guards like `i < n` let most threads through, and some not.

#include "emulator/warp_draw.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>

namespace ptxasw {
namespace {

constexpr std::uint64_t reach = std::uint64_t{1} << 36; ///< bytes on either side of a pointer

/// By register: the slot whose address it carries, or none.
using Carried = std::vector<std::uint32_t>;

bool carries_addresses(std::string_view base) {
  return base == "mov" || base == "cvta" || base == "add" || base == "sub" || base == "mad" ||
         base == "selp" || base == "cvt";
}

struct Shape {
  std::uint32_t x, y, z;
};
constexpr Shape shapes[] = {{32, 1, 1}, {64, 1, 1},  {33, 1, 1},  {16, 16, 1}, {48, 2, 1},
                            {8, 4, 4},  {128, 1, 1}, {32, 4, 1},  {96, 1, 1},  {16, 2, 1},
                            {7, 5, 1},  {40, 3, 1},  {256, 1, 1}, {64, 2, 1},  {8, 8, 1},
                            {1, 40, 1}, {31, 1, 1},  {32, 2, 2},  {17, 3, 2},  {512, 1, 1}};

bool allowed(const Function &kernel, const Shape &shape) {
  if (const auto *most = kernel.directive("maxntid"))
    return shape.x * shape.y * shape.z <= most->values[0] * most->values[1] * most->values[2];
  return true;
}

GlobalMemory::Fill draw_fill(ScalarType element, WarpRandom &random) {
  using Fill = GlobalMemory::Fill;
  if (random.one_in(12))
    return Fill::random;
  switch (element) {
  case ScalarType::f32:
    return Fill::f32;
  case ScalarType::f64:
    return Fill::f64;
  case ScalarType::b32:
    return random.one_in(2) ? Fill::f32 : Fill::small;
  case ScalarType::u32:
  case ScalarType::s32:
    return random.one_in(4) ? Fill::random : Fill::small;
  case ScalarType::u64:
  case ScalarType::s64:
  case ScalarType::b64:
    return Fill::small_wide;
  default:
    return Fill::random;
  }
}

} // namespace

std::vector<ParameterSlot> parameter_slots(const Module &module, const Function &kernel) {
  std::vector<ParameterSlot> slots;
  Carried carried(kernel.registers.size(), no_index);
  const auto slot_of = [&](const Operand &address, ScalarType type) -> std::uint32_t {
    const auto base = module.children(address);
    if (base.empty() || base[0].kind != Operand::Kind::symbol)
      return no_index;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const Variable &parameter = kernel.parameters[i];
      if (module.text(base[0].span) != parameter.name)
        continue;
      const std::uint32_t offset =
          kernel_parameter_offset(kernel, i) + static_cast<std::uint32_t>(address.value);
      for (std::uint32_t s = 0; s < slots.size(); ++s)
        if (slots[s].offset == offset)
          return s;
      std::string name(parameter.name);
      if (address.value != 0)
        name += fmt::format("+{}", address.value);
      slots.push_back({std::move(name), offset, type});
      return static_cast<std::uint32_t>(slots.size() - 1);
    }
    return no_index;
  };
  for (int round = 0; round < 3; ++round) // loops carry pointers backwards
    for (const Instruction &instruction : kernel.instructions) {
      const Opcode &opcode = module.opcode(instruction);
      const auto operands = module.operands(instruction);
      if (operands.size() < 2)
        continue;
      const bool reads_memory =
          opcode.base == "ld" || opcode.base == "ldu" || opcode.base == "atom";
      if (opcode.base == "ld" && opcode.space == StateSpace::param) {
        const std::uint32_t slot = slot_of(operands[1], opcode.type);
        if (operands[0].kind == Operand::Kind::reg && bit_width(opcode.type) == 64)
          carried[operands[0].reg] = slot;
      } else if (reads_memory || opcode.base == "st" || opcode.base == "red") {
        const Operand &address = operands[reads_memory ? 1 : 0];
        const auto base = module.children(address);
        if (address.kind != Operand::Kind::address || base.empty() ||
            base[0].kind != Operand::Kind::reg || carried[base[0].reg] == no_index)
          continue;
        ParameterSlot &slot = slots[carried[base[0].reg]];
        slot.is_pointer = true;
        if (slot.element == ScalarType::none)
          slot.element = opcode.type;
      } else if (carries_addresses(opcode.base) && operands[0].kind == Operand::Kind::reg) {
        for (const Operand &source : operands.subspan(1))
          if (source.kind == Operand::Kind::reg && carried[source.reg] != no_index &&
              (opcode.base != "sub" || &source == &operands[1]))
            carried[operands[0].reg] = carried[source.reg];
      }
    }
  return slots;
}

DrawnLaunch draw_launch(const Function &kernel, const std::vector<ParameterSlot> &slots,
                        const DrawHints &hints, WarpRandom &random) {
  DrawnLaunch drawn;
  drawn.seed = random.next();
  Shape shape{32, 1, 1};
  if (const auto *required = kernel.directive("reqntid")) {
    shape = {required->values[0], required->values[1], required->values[2]};
  } else {
    for (int i = 0; i < 50; ++i) {
      shape = shapes[random.below(std::size(shapes))];
      if (allowed(kernel, shape) && !(hints.flat && (shape.y > 1 || shape.z > 1)))
        break;
    }
    if (!allowed(kernel, shape))
      shape = {1, 1, 1};
  }
  WarpLaunch &launch = drawn.launch;
  launch.block[0] = shape.x;
  launch.block[1] = shape.y;
  launch.block[2] = shape.z;
  launch.grid[0] = static_cast<std::uint32_t>(1 + random.below(3));
  launch.grid[1] =
      static_cast<std::uint32_t>(shape.y > 1 || random.one_in(4) ? 1 + random.below(2) : 1);
  launch.grid[2] = static_cast<std::uint32_t>(shape.z > 1 ? 1 + random.below(2) : 1);
  if (hints.one_block)
    launch.grid[0] = launch.grid[1] = launch.grid[2] = 1;
  launch.dynamic_shared = random.one_in(8) ? 16384 : 49152 - 16384;
  launch.parameters.resize(kernel_parameter_bytes(kernel));

  std::uint64_t threads[3];
  for (int i = 0; i < 3; ++i)
    threads[i] = std::uint64_t{launch.grid[i]} * launch.block[i];
  const std::uint64_t widest = std::max({threads[0], threads[1], threads[2]});
  const bool roomy = random.below(5) < 3;
  const bool extreme = random.one_in(8);
  const auto dimension = [&]() -> std::uint64_t {
    if (hints.small)
      return 1 + random.below(12);
    if (extreme && random.one_in(2)) {
      static constexpr std::uint64_t numbers[] = {0,          1,          0xffffffff, 0x7fffffff,
                                                  0x80000000, 0x40000000, 0x7ffffff0, 0xfffffff0};
      return numbers[random.below(std::size(numbers))];
    }
    if (roomy)
      return widest + 2 + random.below(8);
    switch (random.below(5)) {
    case 0:
      return threads[random.below(3)] + random.below(3);
    case 1:
      return threads[0] * (random.one_in(2) ? threads[1] : 1) - random.below(2);
    case 2:
      return 1 + random.below(8);
    case 3:
      return 3 + random.below(60);
    default:
      return 32 * (1 + random.below(3));
    }
  };
  for (const ParameterSlot &slot : slots) {
    std::uint64_t bits = 0;
    const unsigned width = bit_width(slot.type);
    if (slot.is_pointer) {
      DrawnLaunch::Buffer buffer;
      buffer.fill = draw_fill(slot.element, random);
      buffer.slot_offset = slot.offset;
      if (!drawn.buffers.empty() && !hints.apart && random.one_in(6)) {
        buffer.alias_of = static_cast<std::int64_t>(random.below(drawn.buffers.size()));
        while (drawn.buffers[static_cast<std::size_t>(buffer.alias_of)].alias_of >= 0)
          buffer.alias_of = drawn.buffers[static_cast<std::size_t>(buffer.alias_of)].alias_of;
        buffer.shift = 16 *
                       (static_cast<std::int64_t>(random.below(2 * widest)) -
                        static_cast<std::int64_t>(widest)) /
                       4;
        buffer.shift -= buffer.shift % 16;
        if (random.one_in(3))
          buffer.shift = 0;
      }
      drawn.text.push_back(
          buffer.alias_of < 0
              ? fmt::format("{}: buffer {}", slot.name, drawn.buffers.size())
              : fmt::format("{}: buffer {} {:+}", slot.name, buffer.alias_of, buffer.shift));
      drawn.buffers.push_back(buffer);
      continue;
    }
    if (slot.type == ScalarType::f32)
      bits = floating::from_double(ScalarType::f32,
                                   static_cast<double>(random.below(4096)) / 1024.0 - 2.0,
                                   FloatRounding::nearest_even);
    else if (slot.type == ScalarType::f64)
      bits = floating::convert(
          ScalarType::f64, ScalarType::f32, {},
          floating::from_double(ScalarType::f32,
                                static_cast<double>(random.below(4096)) / 1024.0 - 2.0,
                                FloatRounding::nearest_even));
    else
      bits = dimension() & mask64(std::max(width, 8u));
    if (width / 8 + slot.offset <= launch.parameters.size())
      std::memcpy(launch.parameters.data() + slot.offset, &bits, std::max(1u, width / 8));
    drawn.text.push_back(fmt::format("{}: {:#x} ({})", slot.name, bits, to_string(slot.type)));
  }
  return drawn;
}

void place_buffers(const DrawnLaunch &drawn, GlobalMemory &memory, WarpLaunch &launch) {
  launch = drawn.launch;
  std::vector<std::uint64_t> addresses;
  for (std::size_t i = 0; i < drawn.buffers.size(); ++i) {
    const DrawnLaunch::Buffer &buffer = drawn.buffers[i];
    std::uint64_t address;
    if (buffer.alias_of >= 0) {
      address = addresses[static_cast<std::size_t>(buffer.alias_of)] +
                static_cast<std::uint64_t>(buffer.shift);
    } else {
      const std::size_t index = memory.allocate(fmt::format("buffer {}", i), 2 * reach, buffer.fill,
                                                scramble(drawn.seed + i));
      address = memory.allocations()[index].base + reach;
    }
    addresses.push_back(address);
    std::memcpy(launch.parameters.data() + buffer.slot_offset, &address, 8);
  }
}

std::string describe(const DrawnLaunch &drawn) {
  const WarpLaunch &l = drawn.launch;
  std::string text = fmt::format("grid {},{},{} block {},{},{} shared {}\n", l.grid[0], l.grid[1],
                                 l.grid[2], l.block[0], l.block[1], l.block[2], l.dynamic_shared);
  for (const std::string &line : drawn.text)
    text += "  " + line + "\n";
  return text;
}

} // namespace ptxasw
