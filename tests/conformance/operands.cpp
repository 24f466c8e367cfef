#include "operands.h"

#include "emulator/machine/warp_memory.h"
#include "emulator/semantics/bits.h"

#include <algorithm>
#include <cstring>

namespace ptxasw::conformance {
namespace {

/// A floating-point format by its fields' widths.
struct Fields {
  unsigned exponent, mantissa;
  unsigned width() const { return 1 + exponent + mantissa; }
};

Fields fields_of(OperandKind kind) {
  switch (kind) {
  case OperandKind::f16:
  case OperandKind::f16x2:
  case OperandKind::tiny_f16:
    return {5, 10};
  case OperandKind::bf16:
  case OperandKind::bf16x2:
    return {8, 7};
  case OperandKind::f64:
    return {11, 52};
  case OperandKind::e4m3x2:
    return {4, 3};
  case OperandKind::e5m2x2:
    return {5, 2};
  default:
    return {8, 23};
  }
}

bool is_real(OperandKind kind) { return kind >= OperandKind::f16; }
bool is_pair(OperandKind kind) {
  return kind == OperandKind::f16x2 || kind == OperandKind::bf16x2 || kind == OperandKind::e4m3x2 ||
         kind == OperandKind::e5m2x2;
}

std::vector<std::uint64_t> real_corners(Fields f) {
  const std::uint64_t one_exponent = mask64(f.exponent - 1), top = mask64(f.exponent);
  const auto make = [&](std::uint64_t exponent, std::uint64_t mantissa) {
    return exponent << f.mantissa | mantissa;
  };
  const std::uint64_t all = mask64(f.mantissa), half = std::uint64_t{1} << (f.mantissa - 1);
  std::vector<std::uint64_t> list = {
      make(0, 0),            // zero
      make(one_exponent, 0), // one
      make(top, 0),          // infinity
      make(top, half),       // quiet NaN
      make(top, 1),          // signalling NaN
      make(top, all),        // NaN, all ones
      make(0, 1),            // smallest subnormal
      make(0, all),          // largest subnormal
      make(1, 0),            // smallest normal
      make(1, 1),
      make(top - 1, all),    // largest
      make(one_exponent, 1), // next after one
      make(one_exponent - 1, all),
      make(one_exponent - 1, 0), // a half
      make(one_exponent, half),  // one and a half
      make(one_exponent + 1, 0), // two
      make(one_exponent + 1, f.mantissa > 1 ? half / 2 : 0),
      make(top - 1, 0),
      make(0, half),
  };
  // Where integers end, and on both sides of it.
  for (const unsigned power : {7, 8, 11, 15, 16, 24, 31, 32, 53, 63, 64, 126, 127}) {
    const std::uint64_t exponent = one_exponent + power;
    if (exponent + 1 >= top)
      break;
    list.push_back(make(exponent, 0));
    list.push_back(make(exponent, 0) - 1);
    list.push_back(make(exponent, 1));
  }
  const std::uint64_t sign = std::uint64_t{1} << (f.width() - 1);
  const std::size_t count = list.size();
  for (std::size_t i = 0; i < count; ++i)
    list.push_back(list[i] | sign);
  return list;
}

std::vector<std::uint64_t> integer_corners(unsigned width) {
  std::vector<std::uint64_t> list = {0, 1, 2, 3, mask64(width)};
  for (unsigned bit = 7; bit <= width; bit += bit == 7 ? 1 : 8)
    for (const std::uint64_t step : {0, 1}) {
      const std::uint64_t power = bit == 64 ? 0 : std::uint64_t{1} << bit;
      list.push_back((power - step) & mask64(width));
      list.push_back((0 - power + step) & mask64(width));
      list.push_back((power / 2 - step) & mask64(width));
      list.push_back((0 - power / 2 - step) & mask64(width));
    }
  list.push_back(0x5555555555555555 & mask64(width));
  list.push_back(0xaaaaaaaaaaaaaaaa & mask64(width));
  return list;
}

std::vector<std::uint64_t> corners(OperandKind kind) {
  if (kind == OperandKind::flag)
    return {0, 1};
  if (kind == OperandKind::few32)
    return {0, 1, 2, 0x80000000, 0xffffffff};
  if (kind == OperandKind::few64)
    return {0, 1, 0x100000000, 0x8000000000000000};
  if (kind == OperandKind::tiny_f32 || kind == OperandKind::tiny_f16) {
    std::vector<std::uint64_t> list;
    const std::uint64_t root = kind == OperandKind::tiny_f32 ? 0x20000000 : 0x2000;
    for (std::uint64_t step = 0; step < 16; ++step)
      for (const std::uint64_t sign : {root << 2 & 0x80008000, std::uint64_t{0}})
        list.insert(list.end(), {(root + step) | sign, (root - step) | sign});
    return list;
  }
  if (kind == OperandKind::amount) {
    std::vector<std::uint64_t> list;
    for (std::uint64_t n = 0; n <= 68; ++n)
      list.push_back(n);
    for (const std::uint64_t n : {127u, 128u, 255u, 256u, 257u, 0x7fffffffu, 0x80000000u,
                                  0xffffffffu, 0x1f00u, 0x101fu, 0x1803u, 0xff01u})
      list.push_back(n);
    return list;
  }
  return is_real(kind) ? real_corners(fields_of(kind)) : integer_corners(8 * operand_bytes(kind));
}

/// Numbers of one element's format: any bits, or of moderate size, or small multiples of a half.
std::uint64_t random_real(OperandKind kind, WarpRandom &random) {
  const Fields f = fields_of(kind);
  const std::uint64_t any = random.next() & mask64(f.width());
  const std::uint64_t one_exponent = mask64(f.exponent - 1);
  const std::uint64_t choice = random.below(8);
  if (kind != OperandKind::angle && choice < 3)
    return any;
  const std::uint64_t fraction = any & mask64(f.mantissa);
  const std::uint64_t sign = any & std::uint64_t{1} << (f.width() - 1);
  const std::uint64_t range = std::min<std::uint64_t>(one_exponent - 2, choice < 5 ? 2 : 20);
  const std::uint64_t exponent = kind == OperandKind::angle
                                     ? one_exponent - 12 + random.below(20)
                                     : one_exponent - range + random.below(2 * range + 1);
  if (choice == 7 && f.mantissa > 8) // few bits set
    return sign | exponent << f.mantissa | (fraction >> (f.mantissa - 3) << (f.mantissa - 3));
  return sign | exponent << f.mantissa | fraction;
}

std::uint64_t random_value(OperandKind kind, WarpRandom &random) {
  if (kind == OperandKind::tiny_f32 || kind == OperandKind::tiny_f16) {
    const auto list = corners(kind);
    return list[random.below(list.size())];
  }
  if (is_real(kind))
    return random_real(kind, random);
  const std::uint64_t any = random.next();
  switch (kind) {
  case OperandKind::flag:
    return any & 1;
  case OperandKind::amount:
    return any % 4 == 0 ? any >> 32 : any % 80;
  case OperandKind::few32:
  case OperandKind::few64:
    return any % 6;
  default: {
    const unsigned width = 8 * operand_bytes(kind);
    // Short numbers as often as long ones.
    const unsigned bits = 1 + static_cast<unsigned>(random.below(width));
    const std::uint64_t value = random.one_in(2) ? any & mask64(bits) : any;
    return (random.one_in(4) ? 0 - value : value) & mask64(width);
  }
  }
}

/// Something near the first operand: what cancels, compares equal or only just not.
std::uint64_t relative(OperandKind kind, std::uint64_t of, WarpRandom &random) {
  const unsigned width = is_real(kind) ? fields_of(kind).width() : 8 * operand_bytes(kind);
  switch (random.below(4)) {
  case 0:
    return of;
  case 1:
    return (of + 1) & mask64(width);
  case 2:
    return (of - 1) & mask64(width);
  default:
    return is_real(kind) ? of ^ std::uint64_t{1} << (width - 1) : (0 - of) & mask64(width);
  }
}

} // namespace

unsigned operand_bytes(OperandKind kind) {
  switch (kind) {
  case OperandKind::b8:
    return 1;
  case OperandKind::b16:
  case OperandKind::f16:
  case OperandKind::bf16:
  case OperandKind::every16:
  case OperandKind::tiny_f16:
  case OperandKind::e4m3x2:
  case OperandKind::e5m2x2:
    return 2;
  case OperandKind::b64:
  case OperandKind::few64:
  case OperandKind::f64:
    return 8;
  default:
    return 4;
  }
}

std::vector<std::uint8_t> operand_table(const std::vector<OperandKind> &kinds, unsigned sets) {
  std::uint64_t seed = 1;
  for (const OperandKind kind : kinds)
    seed = scramble(seed * 64 + static_cast<std::uint64_t>(kind));
  std::vector<std::uint8_t> table(std::size_t{sets} * set_stride);
  for (unsigned set = 0; set < sets; ++set) {
    WarpRandom random(seed + set);
    std::uint64_t first = 0;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const OperandKind kind = kinds[k];
      const auto list = corners(kind);
      const auto draw = [&](std::uint64_t of) -> std::uint64_t {
        const std::uint64_t choice = random.below(16);
        if (k > 0 && kinds[0] == kind && choice < 4)
          return relative(kind, of, random);
        return choice < 9 && kind != OperandKind::angle ? list[random.below(list.size())]
                                                        : random_value(kind, random);
      };
      std::uint64_t value;
      if (kind == OperandKind::every16)
        value = set;
      else if (k == 0 && set < list.size())
        value = list[set];
      else if (k == 0 && kinds.size() == 1 && !is_pair(kind))
        value = random_value(kind, random); // all corners have been
      else
        value = draw(first);
      if (is_pair(kind)) {
        const unsigned width = fields_of(kind).width();
        value = (value & mask64(width)) | draw(first >> width) << width;
      }
      if (k == 0)
        first = value;
      const unsigned bytes = operand_bytes(kind);
      for (unsigned byte = 0; byte < bytes; ++byte)
        table[set * set_stride + k * operand_stride + byte] =
            static_cast<std::uint8_t>(value >> 8 * byte);
    }
  }
  return table;
}

} // namespace ptxasw::conformance
