// What the manual says (PTX ISA 9.0, chapter 9.7), one function per instruction, on words of 64
// bits and with loops over bits where the manual has them. Slow, and nothing shared with the table.

#include "table.h"

#include <algorithm>
#include <unordered_map>

namespace ptxasw::emulator_test {
namespace {

using Word = std::uint64_t;
using Signed = std::int64_t;

struct Type {
  bool is_signed = false;
  unsigned width = 0;
  bool halves = false; ///< two of 16 bits
};

Type type_of(const std::string &name) {
  if (name == "pred")
    return {false, 1};
  if (name.ends_with("x2"))
    return {name[0] == 's', 32, true};
  return {name[0] == 's', static_cast<unsigned>(std::stoul(name.substr(1)))};
}

Word cut(Word value, unsigned width) {
  return width >= 64 ? value : value & ((Word{1} << width) - 1);
}
bool bit(Word value, unsigned n) { return n < 64 && (value >> n & 1) != 0; }
Signed to_signed(Word value, unsigned width) {
  return bit(value, width - 1) && width < 64
             ? static_cast<Signed>(value) - (Signed{1} << (width - 1)) * 2
             : static_cast<Signed>(value);
}

/// The call: types, modifiers, operands.
struct Call {
  const Spelling &s;
  Type type, second;
  std::vector<Word> a;
  bool carry = false; ///< the flag as it comes in

  unsigned width() const { return type.width; }
  Signed signed_operand(std::size_t i) const { return to_signed(a[i], width()); }
  bool has(std::string_view m) const { return s.has(m); }
};

using Result = std::optional<Expected>;
Result give(Word value, unsigned width) { return Expected{cut(value, width), width, {}}; }

/// a + b + carry with what leaves on the left.
Result give_sum(const Call &c, Word a, Word b, bool carry_in) {
  Word sum = 0;
  bool carry = carry_in;
  for (unsigned i = 0; i < c.width(); ++i) {
    const unsigned digits = bit(a, i) + bit(b, i) + carry;
    sum |= Word{digits & 1} << i;
    carry = digits >> 1;
  }
  Expected result{sum, c.width(), {}};
  if (c.has("cc"))
    result.carry = carry;
  return result;
}
/// The flag is set where nothing is borrowed.
Result give_difference(const Call &c, Word a, Word b, bool carry_in) {
  Word difference = 0;
  bool borrow = !carry_in;
  for (unsigned i = 0; i < c.width(); ++i) {
    const int digits = bit(a, i) - bit(b, i) - borrow;
    difference |= Word(digits & 1) << i;
    borrow = digits < 0;
  }
  Expected result{difference, c.width(), {}};
  if (c.has("cc"))
    result.carry = !borrow;
  return result;
}

Word clamp_to_s32(Signed value) {
  return value > 0x7fffffff      ? 0x7fffffff
         : value < -0x80000000LL ? 0x80000000
                                 : static_cast<Word>(value);
}

Result each_half(const Call &c, Signed (*function)(Signed, Signed)) {
  Word result = 0;
  for (const unsigned low : {0u, 16u}) {
    const auto half = [&](std::size_t i) {
      const Word value = cut(c.a[i] >> low, 16);
      return c.type.is_signed ? to_signed(value, 16) : static_cast<Signed>(value);
    };
    result |= cut(static_cast<Word>(function(half(0), half(1))), 16) << low;
  }
  return give(result, 32);
}

Result add(const Call &c) {
  if (c.type.halves)
    return each_half(c, [](Signed a, Signed b) { return a + b; });
  if (c.has("sat"))
    return give(clamp_to_s32(c.signed_operand(0) + c.signed_operand(1)), 32);
  return give_sum(c, c.a[0], c.a[1], false);
}
Result addc(const Call &c) { return give_sum(c, c.a[0], c.a[1], c.carry); }
Result sub(const Call &c) {
  if (c.has("sat"))
    return give(clamp_to_s32(c.signed_operand(0) - c.signed_operand(1)), 32);
  return give_difference(c, c.a[0], c.a[1], true);
}
Result subc(const Call &c) { return give_difference(c, c.a[0], c.a[1], c.carry); }

/// The product of two numbers of n bits, 2n bits long, by adding shifted copies.
struct Product {
  Word low = 0, high = 0; ///< n bits each
};
Product product(const Call &c) {
  const unsigned n = c.width();
  Word a = c.a[0], b = c.a[1];
  const bool negative = c.type.is_signed && bit(a, n - 1) != bit(b, n - 1);
  if (c.type.is_signed && bit(a, n - 1))
    a = cut(~a + 1, n);
  if (c.type.is_signed && bit(b, n - 1))
    b = cut(~b + 1, n);
  Word low = 0, high = 0; // 128 bits
  for (unsigned i = 0; i < n; ++i)
    if (bit(b, i)) {
      const Word part_low = a << i, part_high = i == 0 ? 0 : a >> (64 - i);
      low += part_low;
      high += part_high + (low < part_low);
    }
  if (negative) {
    low = ~low + 1;
    high = ~high + (low == 0);
  }
  if (n == 64)
    return {low, high};
  return {cut(low, n), cut(low >> n, n)};
}
Result mul(const Call &c) {
  const Product p = product(c);
  if (c.has("wide"))
    return give(p.low | p.high << c.width(), 2 * c.width());
  return give(c.has("hi") ? p.high : p.low, c.width());
}
Result mad(const Call &c) {
  const Product p = product(c);
  if (c.has("wide"))
    return give((p.low | p.high << c.width()) + c.a[2], 2 * c.width());
  if (c.has("sat"))
    return give(clamp_to_s32(to_signed(p.high, 32) + c.signed_operand(2)), 32);
  return give_sum(c, c.has("hi") ? p.high : p.low, c.a[2], c.s.base == "madc" && c.carry);
}

Word product24(const Call &c) {
  const auto low24 = [&](std::size_t i) {
    const Word value = cut(c.a[i], 24);
    return c.type.is_signed ? to_signed(value, 24) : static_cast<Signed>(value);
  };
  return cut(static_cast<Word>(low24(0) * low24(1)), 48);
}
Result mul24(const Call &c) { return give(c.has("hi") ? product24(c) >> 16 : product24(c), 32); }
Result mad24(const Call &c) {
  const Word part = cut(c.has("hi") ? product24(c) >> 16 : product24(c), 32);
  if (c.has("sat"))
    return give(clamp_to_s32(to_signed(part, 32) + c.signed_operand(2)), 32);
  return give(part + c.a[2], 32);
}

bool smaller(const Call &c, Word a, Word b) {
  return c.type.is_signed ? to_signed(a, c.width()) < to_signed(b, c.width()) : a < b;
}
Result sad(const Call &c) {
  const Word difference = smaller(c, c.a[0], c.a[1]) ? c.a[1] - c.a[0] : c.a[0] - c.a[1];
  return give(c.a[2] + difference, c.width());
}
Result div(const Call &c) {
  if (c.a[1] == 0)
    return {};
  if (!c.type.is_signed)
    return give(c.a[0] / c.a[1], c.width());
  if (c.signed_operand(1) == -1)
    return give(0 - c.a[0], c.width());
  return give(static_cast<Word>(c.signed_operand(0) / c.signed_operand(1)), c.width());
}
Result rem(const Call &c) {
  if (c.a[1] == 0)
    return {};
  if (!c.type.is_signed)
    return give(c.a[0] % c.a[1], c.width());
  if (c.signed_operand(1) == -1)
    return give(0, c.width());
  return give(static_cast<Word>(c.signed_operand(0) % c.signed_operand(1)), c.width());
}
Result abs(const Call &c) {
  return give(bit(c.a[0], c.width() - 1) ? ~c.a[0] + 1 : c.a[0], c.width());
}
Result neg(const Call &c) { return give(~c.a[0] + 1, c.width()); }
Result min(const Call &c) {
  if (c.type.halves)
    return c.has("relu")
               ? each_half(c,
                           [](Signed a, Signed b) { return std::max<Signed>(0, std::min(a, b)); })
               : each_half(c, [](Signed a, Signed b) { return a < b ? a : b; });
  const Word result = smaller(c, c.a[0], c.a[1]) ? c.a[0] : c.a[1];
  return give(c.has("relu") && bit(result, 31) ? 0 : result, c.width());
}
Result max(const Call &c) {
  if (c.type.halves)
    return c.has("relu")
               ? each_half(c,
                           [](Signed a, Signed b) { return std::max<Signed>(0, std::max(a, b)); })
               : each_half(c, [](Signed a, Signed b) { return a > b ? a : b; });
  const Word result = smaller(c, c.a[0], c.a[1]) ? c.a[1] : c.a[0];
  return give(c.has("relu") && bit(result, 31) ? 0 : result, c.width());
}

Result popc(const Call &c) {
  Word count = 0;
  for (Word a = c.a[0]; a != 0; a >>= 1)
    count += a & 1;
  return give(count, 32);
}
Result clz(const Call &c) {
  Word count = 0;
  for (unsigned i = c.width(); i-- > 0 && !bit(c.a[0], i);)
    ++count;
  return give(count, 32);
}
Result bfind(const Call &c) {
  const Word a = c.type.is_signed && bit(c.a[0], c.width() - 1) ? ~c.a[0] : c.a[0];
  Word found = ~Word{0};
  for (unsigned i = c.width(); i-- > 0 && found == ~Word{0};)
    if (bit(a, i))
      found = i;
  if (c.has("shiftamt") && found != ~Word{0})
    found = c.width() - 1 - found;
  return give(found, 32);
}
Result fns(const Call &c) {
  const Word none = 0xffffffff;
  const Signed offset = to_signed(c.a[2], 32);
  if (c.a[1] >= 32)
    return give(none, 32);
  const int base = static_cast<int>(c.a[1]);
  if (offset == 0)
    return give(bit(c.a[0], static_cast<unsigned>(base)) ? c.a[1] : none, 32);
  std::vector<int> set; // from base on, in the order of the search
  for (int i = base; i >= 0 && i<32; i += offset> 0 ? 1 : -1)
    if (bit(c.a[0], static_cast<unsigned>(i)))
      set.push_back(i);
  const Word place = static_cast<Word>(offset > 0 ? offset : -offset);
  return give(
      place <= set.size() ? static_cast<Word>(set[static_cast<std::size_t>(place - 1)]) : none, 32);
}
Result brev(const Call &c) {
  Word result = 0;
  for (unsigned i = 0; i < c.width(); ++i)
    result |= Word{bit(c.a[0], i)} << (c.width() - 1 - i);
  return give(result, c.width());
}
Result bfe(const Call &c) {
  const unsigned last = c.width() - 1, position = c.a[1] & 0xff, length = c.a[2] & 0xff;
  const bool sign =
      c.type.is_signed && length != 0 && bit(c.a[0], std::min(position + length - 1, last));
  Word result = 0;
  for (unsigned i = 0; i <= last; ++i)
    result |= Word{i < length && position + i <= last ? bit(c.a[0], position + i) : sign} << i;
  return give(result, c.width());
}
Result bfi(const Call &c) {
  const unsigned last = c.width() - 1, position = c.a[2] & 0xff, length = c.a[3] & 0xff;
  Word result = c.a[1];
  for (unsigned i = 0; i < length && position + i <= last; ++i) {
    const Word here = Word{1} << (position + i);
    result = bit(c.a[0], i) ? result | here : result & ~here;
  }
  return give(result, c.width());
}
Result bmsk(const Call &c) {
  const bool wraps = c.has("wrap");
  const Word start = wraps ? c.a[0] & 31 : c.a[0], length = wraps ? c.a[1] & 31 : c.a[1];
  Word result = 0;
  for (unsigned i = 0; i < 32; ++i)
    if (i >= start && i - start < length)
      result |= Word{1} << i;
  return give(result, 32);
}
Result szext(const Call &c) {
  if (c.has("clamp") && c.a[1] >= 32)
    return give(c.a[0], 32);
  const unsigned n = c.a[1] & 31;
  if (n == 0)
    return give(0, 32);
  const Word low = cut(c.a[0], n);
  return give(c.type.is_signed ? static_cast<Word>(to_signed(low, n)) : low, 32);
}
Signed piece(Word value, unsigned low, unsigned width, bool is_signed) {
  const Word part = cut(value >> low, width);
  return is_signed ? to_signed(part, width) : static_cast<Signed>(part);
}
Result dp4a(const Call &c) {
  Word total = c.a[2];
  for (unsigned i = 0; i < 4; ++i)
    total += static_cast<Word>(piece(c.a[0], 8 * i, 8, c.type.is_signed) *
                               piece(c.a[1], 8 * i, 8, c.second.is_signed));
  return give(total, 32);
}
Result dp2a(const Call &c) {
  Word total = c.a[2];
  for (unsigned i = 0; i < 2; ++i)
    total +=
        static_cast<Word>(piece(c.a[0], 16 * i, 16, c.type.is_signed) *
                          piece(c.a[1], 8 * i + (c.has("hi") ? 16 : 0), 8, c.second.is_signed));
  return give(total, 32);
}

Result and_(const Call &c) { return give(c.a[0] & c.a[1], c.width()); }
Result or_(const Call &c) { return give(c.a[0] | c.a[1], c.width()); }
Result xor_(const Call &c) { return give(c.a[0] ^ c.a[1], c.width()); }
Result not_(const Call &c) { return give(~c.a[0], c.width()); }
Result cnot(const Call &c) { return give(c.a[0] == 0, c.width()); }
Result lop3(const Call &c) {
  Word result = 0;
  for (unsigned i = 0; i < 32; ++i) {
    // The table's index is what the function makes of 0xF0, 0xCC and 0xAA.
    const unsigned index = 4 * bit(c.a[0], i) + 2 * bit(c.a[1], i) + bit(c.a[2], i);
    result |= Word{bit(c.a[3], index)} << i;
  }
  return give(result, 32);
}
Result shl(const Call &c) { return give(c.a[1] >= c.width() ? 0 : c.a[0] << c.a[1], c.width()); }
Result shr(const Call &c) {
  const Word amount = std::min<Word>(c.a[1], c.width());
  const bool fill = c.type.is_signed && bit(c.a[0], c.width() - 1);
  Word result = 0;
  for (unsigned i = 0; i < c.width(); ++i)
    result |= Word{i + amount < c.width() ? bit(c.a[0], static_cast<unsigned>(i + amount)) : fill}
              << i;
  return give(result, c.width());
}
Result shf(const Call &c) {
  const Word n = c.has("wrap") ? c.a[2] & 31 : std::min<Word>(c.a[2], 32);
  const Word a = c.a[0], b = c.a[1];
  if (c.has("l"))
    return give(n == 0 ? b : b << n | a >> (32 - n), 32);
  return give(n == 0 ? a : b << (32 - n) | a >> n, 32);
}

bool compare(const Call &c, Type type) {
  const Word a = c.a[0], b = c.a[1];
  const Signed x = to_signed(a, type.width), y = to_signed(b, type.width);
  const bool s = type.is_signed;
  if (c.has("eq") || c.has("ne"))
    return (a == b) == c.has("eq");
  if (c.has("lt") || c.has("lo"))
    return s ? x < y : a < b;
  if (c.has("le") || c.has("ls"))
    return s ? x <= y : a <= b;
  if (c.has("gt") || c.has("hi"))
    return s ? x > y : a > b;
  return s ? x >= y : a >= b;
}
Result setp(const Call &c) {
  const bool t = compare(c, c.type);
  if (c.has("and"))
    return give(t && c.a[2], 1);
  if (c.has("or"))
    return give(t || c.a[2], 1);
  if (c.has("xor"))
    return give(t != (c.a[2] != 0), 1);
  return give(t, 1);
}
Result set(const Call &c) {
  bool t = compare(c, c.second);
  if (c.has("and"))
    t = t && c.a[2];
  else if (c.has("or"))
    t = t || c.a[2];
  else if (c.has("xor"))
    t = t != (c.a[2] != 0);
  return give(!t ? 0 : c.s.type == "f32" ? 0x3f800000 : 0xffffffff, 32);
}
Result selp(const Call &c) { return give(c.a[2] ? c.a[0] : c.a[1], c.width()); }
Result slct(const Call &c) { return give(bit(c.a[2], 31) ? c.a[1] : c.a[0], c.width()); }

/// cvt.pack: the type is the modifier for what has fewer than 8 bits.
Result cvt_pack(const Call &c) {
  Type to = c.type;
  for (const char *name : {"u4", "s4", "u2", "s2"})
    if (c.has(name))
      to = type_of(name);
  const Signed top = (Signed{1} << (to.is_signed ? to.width - 1 : to.width)) - 1;
  const Signed bottom = to.is_signed ? -top - 1 : 0;
  const auto clamped = [&](std::size_t i) {
    return cut(static_cast<Word>(std::clamp(to_signed(c.a[i], 32), bottom, top)), to.width);
  };
  const Word pair = clamped(0) << to.width | clamped(1);
  return give(to.width == 16 ? pair : pair | c.a[2] << 2 * to.width, 32);
}
Result cvt(const Call &c) {
  if (c.has("pack"))
    return cvt_pack(c);
  const Word a = c.a[0];
  const Signed value = c.second.is_signed ? to_signed(a, c.second.width) : static_cast<Signed>(a);
  if (!c.has("sat"))
    return give(static_cast<Word>(value), c.width());
  // A source without sign of 64 bits has numbers that `value` cannot hold.
  const bool negative = c.second.is_signed && value < 0;
  const Word top = c.type.is_signed ? (Word{1} << (c.width() - 1)) - 1 : cut(~Word{0}, c.width());
  if (!negative)
    return give(std::min(a, top), c.width());
  if (!c.type.is_signed)
    return give(0, c.width());
  const Signed bottom = -static_cast<Signed>(top) - 1;
  return give(static_cast<Word>(std::max(value, bottom)), c.width());
}
/// The video instructions: pieces of 16 or 8 bits; the last type, here the second, is that of b.
Result video(const Call &c) {
  const unsigned width = c.s.base.back() == '2' ? 16 : 8;
  const std::string what = c.s.base.substr(0, c.s.base.size() - 1);
  const bool sets = what == "vset";
  Word result = 0, total = c.a[2];
  for (unsigned low = 0; low < 32; low += width) {
    const bool a_signed = sets ? c.type.is_signed : c.second.is_signed;
    const Signed a = piece(c.a[0], low, width, a_signed);
    const Signed b = piece(c.a[1], low, width, c.second.is_signed);
    Signed r = 0;
    if (sets)
      r = c.has("eq")   ? a == b
          : c.has("ne") ? a != b
          : c.has("lt") ? a < b
          : c.has("le") ? a <= b
          : c.has("gt") ? a > b
                        : a >= b;
    else
      r = what == "vadd"       ? a + b
          : what == "vsub"     ? a - b
          : what == "vavrg"    ? (a + b >= 0 ? (a + b + 1) / 2 : (a + b - 1) / 2)
          : what == "vabsdiff" ? std::max(a - b, b - a)
          : what == "vmin"     ? std::min(a, b)
                               : std::max(a, b);
    total += static_cast<Word>(r);
    if (c.has("sat")) {
      const Signed top = (Signed{1} << (c.type.is_signed ? width - 1 : width)) - 1;
      r = std::clamp(r, c.type.is_signed ? -top - 1 : 0, top);
    }
    result |= cut(static_cast<Word>(r), width) << low;
  }
  return give(c.has("add") ? total : result, 32);
}
Result mov(const Call &c) { return give(c.a[0], c.width()); }
Result cvta(const Call &c) {
  for (const std::string &modifier : c.s.modifiers)
    if (modifier.ends_with("global"))
      return give(c.a[0], c.width());
  return {};
}

Result prmt(const Call &c) {
  const Word pair = c.a[0] | c.a[1] << 32;
  const auto byte = [&](unsigned n) { return cut(pair >> (8 * n), 8); };
  // By mode and selector: the bytes of the result, the highest first, as the manual's table has it.
  static const std::unordered_map<std::string, std::vector<std::string>> modes{
      {"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
      {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
      {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}}};
  Word result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    Word chosen = 0;
    if (c.s.modifiers.empty()) {
      const Word nibble = c.a[2] >> (4 * i) & 15;
      chosen = byte(nibble & 7);
      if (nibble & 8)
        chosen = bit(chosen, 7) ? 0xff : 0;
    } else {
      const char digit = modes.at(c.s.modifiers[0])[c.a[2] & 3][3 - i];
      chosen = byte(static_cast<unsigned>(digit - '0'));
    }
    result |= chosen << (8 * i);
  }
  return give(result, 32);
}

const std::unordered_map<std::string, Result (*)(const Call &)> functions{
    {"add", add},     {"addc", addc},    {"sub", sub},         {"subc", subc},
    {"mul", mul},     {"mad", mad},      {"madc", mad},        {"mul24", mul24},
    {"mad24", mad24}, {"sad", sad},      {"div", div},         {"rem", rem},
    {"abs", abs},     {"neg", neg},      {"min", min},         {"max", max},
    {"popc", popc},   {"clz", clz},      {"bfind", bfind},     {"brev", brev},
    {"fns", fns},     {"bfe", bfe},      {"bfi", bfi},         {"bmsk", bmsk},
    {"szext", szext}, {"dp4a", dp4a},    {"dp2a", dp2a},       {"and", and_},
    {"or", or_},      {"xor", xor_},     {"not", not_},        {"cnot", cnot},
    {"lop3", lop3},   {"shl", shl},      {"shr", shr},         {"shf", shf},
    {"setp", setp},   {"set", set},      {"selp", selp},       {"slct", slct},
    {"cvt", cvt},     {"mov", mov},      {"cvta", cvta},       {"prmt", prmt},
    {"vadd2", video}, {"vsub2", video},  {"vavrg2", video},    {"vabsdiff2", video},
    {"vmin2", video}, {"vmax2", video},  {"vset2", video},     {"vadd4", video},
    {"vsub4", video}, {"vavrg4", video}, {"vabsdiff4", video}, {"vmin4", video},
    {"vmax4", video}, {"vset4", video},
};

} // namespace

std::optional<Expected> oracle(const Spelling &spelling,
                               const std::vector<ConcreteDomain::Value> &operands) {
  const auto found = functions.find(spelling.base);
  if (found == functions.end())
    return {};
  Call call{spelling,
            type_of(spelling.type),
            spelling.second.empty() ? Type{} : type_of(spelling.second),
            {}};
  for (const auto &operand : operands) {
    if (operand.width > 64)
      return {};
    call.a.push_back(operand.bits.low);
  }
  // The flag that comes in is the last of the operands.
  if (spelling.base == "addc" || spelling.base == "subc" || spelling.base == "madc")
    call.carry = call.a.back() != 0;
  return found->second(call);
}

} // namespace ptxasw::emulator_test
