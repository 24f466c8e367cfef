// Functions that have no body because the driver provides them: printf's text, the heap,
// assertions, and the workspace by which the blocks of a cooperative grid wait for each other.

#include "emulator/machine/warp_system.h"

#include "emulator/semantics/parameter_layout.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fmt/core.h>

namespace ptxasw::emulator {
namespace {

constexpr std::size_t longest_text = 1 << 16;

/// One conversion of a format: from the '%' to its letter.
struct Conversion {
  std::string text; ///< without length modifiers
  char letter = 0;
  bool is_long = false;
  unsigned stars = 0; ///< widths and precisions that are arguments
};

/// Reads a conversion that begins at `at`, which moves past it.
Conversion read_conversion(const std::string &format, std::size_t &at) {
  Conversion result;
  result.text = format[at++];
  for (; at < format.size(); ++at) {
    const char c = format[at];
    if (std::strchr("hlLqjzt", c)) {
      result.is_long |= c != 'h';
      continue;
    }
    result.stars += c == '*';
    result.text += c;
    if (!std::strchr("-+ #0123456789.*", c)) {
      result.letter = c;
      ++at;
      break;
    }
  }
  return result;
}

template <class... Values> std::string formatted(const std::string &format, Values... values) {
  char text[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
  const int length = std::snprintf(text, sizeof text, format.c_str(), values...);
  if (length < static_cast<int>(sizeof text))
    return length < 0 ? "" : text;
  std::string longer(static_cast<std::size_t>(std::min(length, 1 << 16)) + 1, 0);
  std::snprintf(longer.data(), longer.size(), format.c_str(), values...);
#pragma GCC diagnostic pop
  longer.pop_back();
  return longer;
}

} // namespace

std::string DriverCalls::read_text(const WarpContext &context, unsigned lane,
                                   std::uint64_t address) {
  std::string text;
  while (text.size() < longest_text) {
    const std::string_view piece =
        memory_.text_at(context, lane, address, longest_text - text.size());
    if (!piece.empty()) {
      text += piece;
      address += piece.size();
      continue;
    }
    const auto c =
        static_cast<char>(memory_.read(context, lane, address++, 1, StateSpace::generic));
    if (c == 0)
      break;
    text += c;
  }
  return text;
}

// The arguments lie one behind the other, each at a multiple of its size: 4 bytes for int, 8 for
// all that is longer. What printf of a device has no letter for is printed as it stands.
// Returns how many conversions there were.
unsigned DriverCalls::print_formatted(const WarpContext &context, unsigned lane,
                                      std::uint64_t format_at, std::uint64_t arguments) {
  unsigned conversions = 0;
  const std::string format = read_text(context, lane, format_at);
  std::string &out = run_.outcome.output;
  const auto next = [&](unsigned size) {
    arguments = align(arguments, size);
    const std::uint64_t bits = memory_.read(context, lane, arguments, size, StateSpace::generic);
    arguments += size;
    return bits;
  };
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      out += format[at++];
      continue;
    }
    Conversion conversion = read_conversion(format, at);
    for (; conversion.stars > 0; --conversion.stars) {
      const auto width = static_cast<std::int32_t>(next(4));
      conversion.text.replace(conversion.text.find('*'), 1, std::to_string(width));
    }
    conversions += conversion.letter != '%';
    const std::string head = conversion.text.substr(0, conversion.text.size() - 1);
    switch (conversion.letter) {
    case '%':
      out += '%';
      break;
    case 'd':
    case 'i': {
      const std::uint64_t bits = next(conversion.is_long ? 8 : 4);
      out += formatted(head + "lld",
                       static_cast<long long>(as_signed(bits, conversion.is_long ? 64 : 32)));
      break;
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      out += formatted(head + "ll" + conversion.letter,
                       static_cast<unsigned long long>(next(conversion.is_long ? 8 : 4)));
      break;
    case 'c':
      out += formatted(head + "c", static_cast<int>(next(4)));
      break;
    case 'p':
      out += formatted(head + "s", fmt::format("{:#x}", next(8)).c_str());
      break;
    case 's': {
      const std::uint64_t address = next(8);
      out += formatted(head + "s",
                       address == 0 ? "(null)" : read_text(context, lane, address).c_str());
      break;
    }
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      out += formatted(conversion.text, floating::to_double(ScalarType::f64, next(8)));
      break;
    default:
      out += conversion.text;
    }
  }
  return conversions;
}

void DriverCalls::call(WarpContext &context, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  const CallTarget &target = in.callees[0];
  for_each_lane(mask, [&](unsigned lane) {
    std::uint8_t *const frame =
        context.level->parameters.data() + std::size_t{lane} * run_.max_parameters;
    const auto argument = [&](std::size_t index) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, frame + target.arguments[index].caller, target.arguments[index].size);
      return bits;
    };
    const auto give = [&](std::uint64_t bits) {
      std::memcpy(frame + target.results[0].caller, &bits, target.results[0].size);
    };
    if (in.system_call == SystemCall::print) {
      give(print_formatted(context, lane, argument(0), argument(1)));
    } else if (in.system_call == SystemCall::allocate) {
      const std::uint64_t size = argument(0);
      if (size > run_.options.heap_limit - std::min(heap_.bytes, run_.options.heap_limit))
        return give(0); // as a device does
      const std::size_t index = memory_.global().allocate(
          fmt::format("malloc of line {}", in.line), std::max<std::uint64_t>(size, 1),
          GlobalMemory::Fill::uninitialized, heap_.sizes.size());
      const std::uint64_t address = memory_.global().allocations()[index].base;
      heap_.sizes[address] = size;
      heap_.bytes += size;
      give(address);
    } else if (in.system_call == SystemCall::release) {
      const std::uint64_t address = argument(0);
      const auto found = heap_.sizes.find(address);
      if (address == 0)
        return;
      if (found == heap_.sizes.end())
        context.fail(
            FaultKind::bad_free, lane,
            fmt::format("free of {:#x}, which malloc did not give or which is free", address),
            address);
      heap_.bytes -= found->second;
      heap_.sizes.erase(found);
      memory_.global().release(address);
    } else {
      context.fail(FaultKind::assertion, lane,
                   fmt::format("`{}` does not hold, {}:{} in {}",
                               read_text(context, lane, argument(0)),
                               read_text(context, lane, argument(1)), argument(2),
                               read_text(context, lane, argument(3))));
    }
  });
}

// cooperative_groups' grid barrier is a number in memory that %envreg1 and %envreg2 have the
// address of.
std::uint64_t DriverCalls::make_workspace() {
  const std::size_t index = memory_.global().allocate("workspace of a cooperative grid", 64,
                                                      GlobalMemory::Fill::zeros, 0);
  return memory_.global().allocations()[index].base;
}

} // namespace ptxasw::emulator
