// Kernels for what lanes do together with matrices. A thread loads its operands, 8 bytes apart, the
// body does what is to be tested, and the thread stores its results. In the body `%a0`.. are the
// operands, `%d0`.. the results, `%t` the number of the thread, `%in` the address of its operands,
// `cells` 32 KiB of shared memory and `%warp` this warp's 4 KiB of it, `%x0`.. and `%y0`.. scratch
// registers of 32 and 64 bits.

#include "tensor.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::conformance {
namespace {

constexpr unsigned product_threads = 256, warps = product_threads / 32, slot = 8;

struct Operands {
  Format format = Format::bits;
  unsigned count = 0; ///< registers
  bool sum = false;   ///< of an accumulator
};

struct Kernel {
  std::string name;
  std::vector<Operands> operands;
  unsigned results = 0;
  bool wide_results = false; ///< of 64 bits
  std::string body;
};

struct FormatFields {
  unsigned exponent, mantissa, spare, elements;
};

FormatFields fields_of(Format format) {
  switch (format) {
  case Format::f16:
    return {5, 10, 0, 2};
  case Format::bf16:
    return {8, 7, 0, 2};
  case Format::tf32:
    return {8, 10, 13, 1};
  case Format::f64:
    return {11, 52, 0, 1};
  case Format::e4m3:
    return {4, 3, 0, 4};
  case Format::e5m2:
    return {5, 2, 0, 4};
  default:
    return {8, 23, 0, 1};
  }
}

/// A number with an exponent between two bounds, as far as the format has it.
std::uint64_t real(const FormatFields &f, int low, int high, WarpRandom &random) {
  const int bias = static_cast<int>(mask64(f.exponent - 1));
  const int span = high - low + 1;
  const int wanted = bias + low + static_cast<int>(random.below(static_cast<std::uint64_t>(span)));
  const int most = 2 * bias - (f.exponent == 4 ? 1 : 0);
  const auto exponent = static_cast<std::uint64_t>(std::clamp(wanted, 0, most));
  const std::uint64_t any = random.next();
  return ((any >> 63) << f.exponent | exponent) << f.mantissa | (any & mask64(f.mantissa));
}

std::uint64_t special(const FormatFields &f, WarpRandom &random) {
  const std::uint64_t top = mask64(f.exponent) << f.mantissa;
  const std::uint64_t sign = random.below(2) << (f.exponent + f.mantissa);
  const std::uint64_t list[] = {
      0, top, top, top | 1, top | mask64(f.mantissa), top - 1, 1, mask64(f.mantissa)};
  return sign | list[random.below(std::size(list))];
}

/// A whole number from -4 to 4.
std::uint64_t whole(const FormatFields &f, WarpRandom &random) {
  static constexpr struct {
    int exponent;
    unsigned half;
  } numbers[] = {{0, 0}, {1, 0}, {1, 1}, {2, 0}};
  const std::uint64_t choice = random.below(5);
  if (choice == 4)
    return 0;
  const std::uint64_t bias = mask64(f.exponent - 1);
  return ((random.below(2) << f.exponent) + bias +
          static_cast<std::uint64_t>(numbers[choice].exponent))
             << f.mantissa |
         std::uint64_t{numbers[choice].half} << (f.mantissa - 1);
}

std::uint64_t element(const Operands &operands, unsigned character, WarpRandom &random) {
  const FormatFields f = fields_of(operands.format);
  const bool sum = operands.sum;
  const int tiny = f.exponent == 8 ? -70 : f.exponent == 11 ? -520 : 2 - (1 << (f.exponent - 1));
  switch (character) {
  case 0:
    return real(f, -2, sum ? 4 : 2, random);
  case 1:
    return sum ? real(f, -12, 12, random) : real(f, -6, 6, random);
  case 2:
    return sum ? real(f, -30, 30, random) : real(f, -2000, 2000, random);
  case 3:
    return sum ? real(f, 3, 30, random) : real(f, -1, 1, random);
  case 4:
    return whole(f, random);
  case 5:
    return !sum ? real(f, -1, 1, random) : random.one_in(4) ? 0 : real(f, -40, -3, random);
  case 6:
    return random.one_in(sum ? 8 : 40) ? special(f, random) : real(f, -6, 6, random);
  default:
    if (!random.one_in(3))
      return random.below(2) << (f.exponent + f.mantissa);
    return sum ? real(f, f.exponent == 5 ? -20 : 2 * tiny, f.exponent == 5 ? -12 : 2 * tiny + 30,
                      random)
               : real(f, tiny - 2, tiny + 10, random);
  }
}

std::uint64_t draw(const Operands &operands, unsigned character, WarpRandom &random) {
  if (operands.format == Format::bits)
    return operands.sum && random.one_in(2) ? random.next() & 0xffff : random.next();
  const FormatFields f = fields_of(operands.format);
  std::uint64_t value = 0;
  for (unsigned i = 0; i < f.elements; ++i)
    value |= element(operands, character, random) << i * (32 / f.elements);
  // What lies below the mantissa does not count.
  value <<= f.spare;
  return f.spare != 0 && character == 6 ? value | (random.next() & mask64(f.spare)) : value;
}

std::string list(char letter, unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += fmt::format("{}%{}{}", i ? ", " : "", letter, first + i);
  return text + "}";
}

struct Shape {
  unsigned m, n, k;
};

void add_mma(std::vector<Kernel> &to) {
  const auto add = [&](const std::string &name, Shape s, unsigned bits, Format a, Format b,
                       Format c) {
    const unsigned wide = a == Format::f64 ? 1 : 0;
    const unsigned na = std::max(1u, s.m * s.k * bits / 1024 >> wide);
    const unsigned nb = std::max(1u, s.n * s.k * bits / 1024 >> wide);
    const unsigned nc = s.m * s.n / (c == Format::f16 ? 64 : 32);
    to.push_back({name,
                  {{a, na}, {b, nb}, {c, nc, true}},
                  nc,
                  wide != 0,
                  fmt::format("{} {}, {}, {}, {};\n", name, list('d', 0, nc), list('a', 0, na),
                              list('a', na, nb), list('a', na + nb, nc))});
  };
  const auto name = [](Shape s, std::string_view rest) {
    return fmt::format("mma.sync.aligned.m{}n{}k{}.row.col.{}", s.m, s.n, s.k, rest);
  };
  for (const Shape s : {Shape{16, 8, 8}, Shape{16, 8, 16}}) {
    add(name(s, "f32.f16.f16.f32"), s, 16, Format::f16, Format::f16, Format::f32);
    add(name(s, "f16.f16.f16.f16"), s, 16, Format::f16, Format::f16, Format::f16);
    add(name(s, "f32.bf16.bf16.f32"), s, 16, Format::bf16, Format::bf16, Format::f32);
  }
  // Four products at once, of eight lanes each.
  for (const char *layouts : {"row.col", "row.row", "col.col", "col.row"})
    for (const Format c : {Format::f16, Format::f32})
      for (const Format d : {Format::f16, Format::f32}) {
        const unsigned nc = c == Format::f16 ? 4 : 8, nd = d == Format::f16 ? 4 : 8;
        const auto type = [](Format f) { return f == Format::f16 ? "f16" : "f32"; };
        const std::string text =
            fmt::format("mma.sync.aligned.m8n8k4.{}.{}.f16.f16.{}", layouts, type(d), type(c));
        to.push_back({text,
                      {{Format::f16, 2}, {Format::f16, 2}, {c, nc, true}},
                      nd,
                      false,
                      fmt::format("{} {}, {{%a0, %a1}}, {{%a2, %a3}}, {};\n", text,
                                  list('d', 0, nd), list('a', 4, nc))});
      }
  for (const Shape s : {Shape{16, 8, 4}, Shape{16, 8, 8}})
    add(name(s, "f32.tf32.tf32.f32"), s, 32, Format::tf32, Format::tf32, Format::f32);
  for (const Shape s : {Shape{8, 8, 4}, Shape{16, 8, 4}, Shape{16, 8, 8}, Shape{16, 8, 16}})
    add(name(s, "f64.f64.f64.f64"), s, 64, Format::f64, Format::f64, Format::f64);
  for (const unsigned bits : {8u, 4u})
    for (const Shape s :
         {Shape{8, 8, 128 / bits}, Shape{16, 8, 128 / bits}, Shape{16, 8, 256 / bits}})
      for (const char *saturate : {"", "satfinite."})
        for (const char a : {'s', 'u'})
          for (const char b : {'s', 'u'})
            add(name(s, fmt::format("{}s32.{}{}.{}{}.s32", saturate, a, bits, b, bits)), s, bits,
                Format::bits, Format::bits, Format::bits);
  for (const Shape s : {Shape{8, 8, 128}, Shape{16, 8, 128}, Shape{16, 8, 256}})
    for (const char *operation : {"xor", "and"})
      add(name(s, fmt::format("s32.b1.b1.s32.{}.popc", operation)), s, 1, Format::bits,
          Format::bits, Format::bits);
  for (const Shape s : {Shape{16, 8, 16}, Shape{16, 8, 32}})
    for (const Format a : {Format::e4m3, Format::e5m2})
      for (const Format b : {Format::e4m3, Format::e5m2})
        for (const Format c : {Format::f32, Format::f16}) {
          const auto text = [](Format f) { return f == Format::e4m3 ? "e4m3" : "e5m2"; };
          const char *sum = c == Format::f32 ? "f32" : "f16";
          add(name(s, fmt::format("{}.{}.{}.{}", sum, text(a), text(b), sum)), s, 8, a, b, c);
        }
}

/// Rows of shared memory in another order than lanes.
constexpr const char *fill_rows = "mul.lo.u32 %x0, %lane, 16;\nadd.u32 %x0, %x0, %warp;\n"
                                  "st.shared.v4.b32 [%x0], {%a0, %a1, %a2, %a3};\n"
                                  "bar.warp.sync 0xffffffff;\n"
                                  "mad.lo.u32 %x1, %lane, 5, 3;\nand.b32 %x1, %x1, 31;\n"
                                  "mad.lo.u32 %x1, %x1, 16, %warp;\n";

void add_matrix_moves(std::vector<Kernel> &to) {
  for (const unsigned count : {1u, 2u, 4u})
    for (const char *trans : {"", ".trans"}) {
      std::string text = fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16", count, trans);
      to.push_back({text,
                    {{Format::bits, 4}},
                    count,
                    false,
                    fmt::format("{}{} {}, [%x1];\n", fill_rows, text, list('d', 0, count))});
      text = fmt::format("stmatrix.sync.aligned.m8n8.x{}{}.shared.b16", count, trans);
      to.push_back({text,
                    {{Format::bits, 8}},
                    4,
                    false,
                    fmt::format("{}{} [%x1], {};\nbar.warp.sync 0xffffffff;\n"
                                "ld.shared.v4.b32 {{%d0, %d1, %d2, %d3}}, [%x0];\n",
                                fill_rows, text, list('a', 4, count))});
    }
  const std::string move = "movmatrix.sync.aligned.m8n8.trans.b16";
  to.push_back({move, {{Format::bits, 1}}, 1, false, move + " %d0, %a0;\n"});
}

struct WmmaTypes {
  const char *a, *b, *c, *d;
  unsigned bits;
  Format in, sum;
};

/// Registers of a fragment (PTX ISA 9.7.14.4.1).
unsigned fragment(char which, Shape s, const WmmaTypes &types) {
  const bool of_sum = which == 'c' || which == 'd';
  if (of_sum)
    return s.m * s.n / (std::string_view(which == 'c' ? types.c : types.d) == "f16" ? 64 : 32);
  const unsigned rows = which == 'a' ? s.m : s.n;
  if (types.in == Format::f16)
    return 8;
  return types.in == Format::f64 ? 1 : std::max(1u, rows * s.k * types.bits / 1024);
}

unsigned bits_of(const char *type) { return bit_width(scalar_type(type)); }

void add_wmma(std::vector<Kernel> &to, Shape s, const WmmaTypes &types, const char *a_layout,
              const char *b_layout, const char *c_layout, const std::string &suffix,
              const std::string &operation = "") {
  const std::string shape = fmt::format("m{}n{}k{}", s.m, s.n, s.k);
  const unsigned a_words = s.m * s.k * types.bits / 1024, b_words = s.n * s.k * types.bits / 1024;
  const unsigned c_words = s.m * s.n * bits_of(types.c) / 1024,
                 d_words = s.m * s.n * bits_of(types.d) / 1024;
  Kernel kernel;
  const bool wide = types.in == Format::f64;
  const unsigned step = wide ? 2 : 1, bytes = wide ? 8 : 4;
  kernel.operands = {
      {types.in, a_words / step}, {types.in, b_words / step}, {types.sum, c_words / step, true}};
  kernel.results = d_words;
  // Words one behind the other, thread by thread.
  const unsigned words = (a_words + b_words + c_words) / step;
  for (unsigned i = 0; i < words; ++i)
    kernel.body += fmt::format("mad.lo.u32 %x0, %lane, {}, %warp;\nst.shared.b{} [%x0+{}], %a{};\n",
                               bytes, 8 * bytes, i * 32 * bytes, i);
  kernel.body += "bar.warp.sync 0xffffffff;\n";
  const auto declare = [&](char letter, unsigned count, const char *type) {
    kernel.body += fmt::format(".reg .{} %{}<{}>;\n", type, letter, count);
  };
  const auto type_of = [&](const char *type) {
    return std::string_view(type) == "f32" ? "f32" : wide ? "f64" : "b32";
  };
  const unsigned na = fragment('a', s, types), nb = fragment('b', s, types),
                 nc = fragment('c', s, types), nd = fragment('d', s, types);
  declare('f', na, wide ? "f64" : "b32");
  declare('g', nb, wide ? "f64" : "b32");
  declare('h', nc, type_of(types.c));
  declare('k', nd, type_of(types.d));
  const auto stride = [](const char *layout, unsigned rows, unsigned columns) {
    return layout[0] == 'r' ? columns : rows;
  };
  kernel.body +=
      fmt::format("wmma.load.a.sync.aligned.{0}.{1}.shared.{2} {3}, [%warp], {4};\n"
                  "wmma.load.b.sync.aligned.{5}.{1}.shared.{6} {7}, [%warp+{8}], {9};\n"
                  "wmma.load.c.sync.aligned.{10}.{1}.shared.{11} {12}, [%warp+{13}], {14};\n",
                  a_layout, shape, types.a, list('f', 0, na), stride(a_layout, s.m, s.k), b_layout,
                  types.b, list('g', 0, nb), 128 * a_words, stride(b_layout, s.k, s.n), c_layout,
                  types.c, list('h', 0, nc), 128 * (a_words + b_words), stride(c_layout, s.m, s.n));
  kernel.body += fmt::format("wmma.mma{}.sync.aligned.{}.{}.{}.{} {}, {}, {}, {};\n", operation,
                             a_layout, b_layout, shape, suffix, list('k', 0, nd), list('f', 0, na),
                             list('g', 0, nb), list('h', 0, nc));
  kernel.body +=
      fmt::format("bar.warp.sync 0xffffffff;\n"
                  "wmma.store.d.sync.aligned.{}.{}.shared.{} [%warp], {}, {};\n"
                  "bar.warp.sync 0xffffffff;\n",
                  c_layout, shape, types.d, list('k', 0, nd), stride(c_layout, s.m, s.n));
  for (unsigned i = 0; i < d_words; ++i)
    kernel.body += fmt::format("mad.lo.u32 %x0, %lane, 4, %warp;\nld.shared.b32 %d{}, [%x0+{}];\n",
                               i, 128 * i);
  kernel.name =
      fmt::format("wmma{}.{}.{}.{}.{}.{}", operation, a_layout, b_layout, shape, suffix, c_layout);
  to.push_back(std::move(kernel));
}

void add_all_wmma(std::vector<Kernel> &to) {
  static constexpr Shape shapes[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};
  static constexpr const char *layouts[] = {"row", "col"};
  for (const Shape s : shapes) {
    for (const char *a : layouts)
      for (const char *b : layouts) {
        const bool main = s.m == 16;
        for (const char *d : {"f16", "f32"})
          for (const char *c : {"f16", "f32"})
            if (main || d == c)
              add_wmma(to, s,
                       {"f16", "f16", c, d, 16, Format::f16,
                        std::string_view(c) == "f16" ? Format::f16 : Format::f32},
                       a, b, main && d == c ? a : "row", fmt::format("{}.{}", d, c));
        add_wmma(to, s, {"bf16", "bf16", "f32", "f32", 16, Format::bf16, Format::f32}, a, b, "row",
                 "f32.bf16.bf16.f32");
        add_wmma(to, s, {"s8", "s8", "s32", "s32", 8, Format::bits, Format::bits}, a, b, "col",
                 "s32.s8.s8.s32");
      }
    for (const char *saturate : {"", ".satfinite"})
      add_wmma(to, s, {"u8", "u8", "s32", "s32", 8, Format::bits, Format::bits}, "row", "col",
               "row", fmt::format("s32.u8.u8.s32{}", saturate));
  }
  for (const char *a : layouts)
    for (const char *b : layouts) {
      add_wmma(to, {16, 16, 8}, {"tf32", "tf32", "f32", "f32", 32, Format::tf32, Format::f32}, a, b,
               "row", "f32.tf32.tf32.f32");
      add_wmma(to, {8, 8, 4}, {"f64", "f64", "f64", "f64", 64, Format::f64, Format::f64}, a, b,
               "row", "f64.f64.f64.f64");
    }
  for (const char *type : {"s4", "u4"})
    add_wmma(to, {8, 8, 32}, {type, type, "s32", "s32", 4, Format::bits, Format::bits}, "row",
             "col", "row", fmt::format("s32.{0}.{0}.s32", type));
  for (const char *operation : {".xor.popc", ".and.popc"})
    add_wmma(to, {8, 8, 128}, {"b1", "b1", "s32", "s32", 1, Format::bits, Format::bits}, "row",
             "col", "row", "s32.b1.b1.s32", operation);
}

/// Copies of which a thread or a barrier says when they have happened.
void add_copies(std::vector<Kernel> &to) {
  const std::string cell = "mad.lo.u32 %x0, %lane, 16, %warp;\n"
                           "st.shared.v4.b32 [%x0], {%a4, %a4, %a4, %a4};\n";
  const std::string copied = "cp.async.commit_group;\ncp.async.wait_group 0;\n";
  const std::string read = "ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%x0];\n";
  const auto add = [&](const std::string &name, const std::string &more) {
    to.push_back({name, {{Format::bits, 8}}, 4, false, cell + more + read});
  };
  for (const unsigned size : {4u, 8u, 16u}) {
    const std::string text = fmt::format("cp.async.ca.shared.global [%x0], [%in], {}", size);
    add(text, text + ";\n" + copied);
    add(text + ", size",
        fmt::format("and.b32 %x1, %a5, 31;\nmin.u32 %x1, %x1, {};\n{}, %x1;\ncp.async.wait_all;\n",
                    size, text));
    add(text + ", ignored",
        fmt::format("and.b32 %x1, %a5, 1;\nsetp.ne.u32 %p0, %x1, 0;\n{}, %p0;\n", text) + copied);
  }
  add("cp.async.cg.shared.global",
      "cp.async.cg.shared.global.L2::128B [%x0], [%in+16], 16;\n" + copied);
  const std::string init =
      "mov.u32 %x2, cells;\nsetp.eq.u32 %p0, %t, 0;\n"
      "mov.u32 %x1, {};\n@%p0 mbarrier.init.shared.b64 [%x2], %x1;\nbar.sync 0;\n";
  const std::string spin = "again:\nmbarrier.{}.shared.b64 %p1, [%x2], {};\n@!%p1 bra again;\n";
  const auto with = [](std::string text, const auto &...values) {
    return fmt::format(fmt::runtime(text), values...);
  };
  // Threads of one half write, the others read what they wrote once all have arrived.
  to.push_back({"mbarrier.arrive",
                {{Format::bits, 1}},
                2,
                false,
                with(init, 256) +
                    "mad.lo.u32 %x0, %t, 4, %x2;\nst.shared.b32 [%x0+16], %a0;\n"
                    "mbarrier.arrive.shared.b64 %y0, [%x2];\n" +
                    with(spin, "test_wait", "%y0") +
                    "xor.b32 %x3, %t, 37;\nmad.lo.u32 %x0, %x3, 4, %x2;\n"
                    "ld.shared.b32 %d0, [%x0+16];\nmov.u32 %d1, 0;\n"});
  to.push_back({"mbarrier phases",
                {{Format::bits, 1}},
                4,
                false,
                with(init, 1) +
                    "@!%p0 bra done;\nmbarrier.arrive.shared.b64 %y0, [%x2];\n"
                    "mbarrier.pending_count.b64 %d0, %y0;\n"
                    "mbarrier.test_wait.shared.b64 %p1, [%x2], %y0;\nselp.u32 %d1, 1, 0, %p1;\n"
                    "mbarrier.test_wait.parity.shared.b64 %p1, [%x2], 0;\n"
                    "selp.u32 %d2, 1, 0, %p1;\n"
                    "mbarrier.test_wait.parity.shared.b64 %p1, [%x2], 1;\n"
                    "selp.u32 %d3, 1, 0, %p1;\n"
                    "mbarrier.inval.shared.b64 [%x2];\ndone:\n"});
  to.push_back({"mbarrier counts",
                {{Format::bits, 1}},
                4,
                false,
                with(init, 9) +
                    "@!%p0 bra done;\nmbarrier.arrive.noComplete.shared.b64 %y0, [%x2], 3;\n"
                    "mbarrier.pending_count.b64 %d0, %y0;\n"
                    "mbarrier.arrive_drop.noComplete.shared.b64 %y0, [%x2], 2;\n"
                    "mbarrier.pending_count.b64 %d1, %y0;\n"
                    "mbarrier.arrive.shared.b64 %y1, [%x2], 4;\n"
                    "mbarrier.pending_count.b64 %d2, %y1;\n"
                    "mbarrier.arrive.shared.b64 %y0, [%x2];\n"
                    "mbarrier.pending_count.b64 %d3, %y0;\ndone:\n"});
  to.push_back({"cp.async.mbarrier.arrive.noinc",
                {{Format::bits, 8}},
                4,
                false,
                with(init, 256) +
                    "mad.lo.u32 %x0, %t, 16, %x2;\n"
                    "cp.async.ca.shared.global [%x0+16], [%in], 16;\n"
                    "cp.async.mbarrier.arrive.noinc.shared.b64 [%x2];\n" +
                    with(spin, "test_wait.parity", "0") +
                    "xor.b32 %x3, %t, 21;\nmad.lo.u32 %x0, %x3, 16, %x2;\n"
                    "ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%x0+16];\n"});
  to.push_back(
      {"cp.async.bulk to shared",
       {{Format::bits, 2}},
       4,
       false,
       with(init, 1) +
           "@!%p0 bra wait;\nmbarrier.arrive.expect_tx.shared.b64 %y0, [%x2], 4096;\n"
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells+16], [%in], "
           "4096, [%x2];\nwait:\n" +
           with(spin, "try_wait.parity", "0") +
           "mad.lo.u32 %x0, %t, 16, %x2;\nld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%x0+16];\n"});
  to.push_back({"cp.async.bulk to global",
                {{Format::bits, 2}},
                2,
                false,
                "mov.u32 %x2, cells;\nmad.lo.u32 %x0, %t, 8, %x2;\n"
                "st.shared.v2.b32 [%x0], {%a0, %a1};\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
                "setp.eq.u32 %p0, %t, 0;\n@!%p0 bra done;\n"
                "cp.async.bulk.global.shared::cta.bulk_group [%out], [cells], 2048;\n"
                "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\ndone:\nbar.sync 0;\n"
                "ld.global.b32 %d0, [%out];\nld.global.b32 %d1, [%out+8];\n"});
}

std::string text_of(const Kernel &kernel, std::size_t number) {
  std::string text = fmt::format(
      ".visible .entry t{}(.param .u64 p_in, .param .u64 p_out)\n{{\n"
      ".reg .b64 %in, %out, %y<4>;\n.reg .b32 %t, %all, %lane, %warp, %x<6>;\n.reg .pred %p<4>;\n"
      ".shared .align 128 .b8 cells[32768];\n"
      "ld.param.u64 %in, [p_in];\nld.param.u64 %out, [p_out];\nmov.u32 %t, %tid.x;\n"
      "and.b32 %lane, %t, 31;\nshr.u32 %x0, %t, 5;\nmov.u32 %warp, cells;\n"
      "mad.lo.u32 %warp, %x0, 4096, %warp;\nmov.u32 %all, %ctaid.x;\n"
      "mad.lo.u32 %all, %all, {}, %t;\n",
      number, product_threads);
  unsigned count = 0;
  std::string loads;
  for (const Operands &operands : kernel.operands)
    for (unsigned i = 0; i < operands.count; ++i, ++count) {
      const unsigned width = operands.format == Format::f64 ? 64 : 32;
      loads += fmt::format(".reg .b{0} %a{1};\nld.global.b{0} %a{1}, [%in+{2}];\n", width, count,
                           slot * count);
    }
  text += fmt::format("mad.wide.u32 %in, %all, {}, %in;\nmad.wide.u32 %out, %all, {}, %out;\n",
                      slot * count, slot * kernel.results);
  text += loads;
  for (unsigned i = 0; i < kernel.results; ++i)
    text += fmt::format(".reg .b{} %d{};\nmov.b{} %d{}, 0;\n", kernel.wide_results ? 64 : 32, i,
                        kernel.wide_results ? 64 : 32, i);
  text += kernel.body;
  for (unsigned i = 0; i < kernel.results; ++i)
    text +=
        fmt::format("st.global.b{} [%out+{}], %d{};\n", kernel.wide_results ? 64 : 32, slot * i, i);
  return text + "ret;\n}\n\n";
}

std::shared_ptr<const Bytes> contents_of(const Kernel &kernel, unsigned blocks) {
  Bytes bytes;
  for (unsigned thread = 0; thread < blocks * product_threads; ++thread) {
    WarpRandom random(fingerprint(kernel.name.data(), kernel.name.size(), thread));
    for (const Operands &operands : kernel.operands)
      for (unsigned i = 0; i < operands.count; ++i) {
        const std::uint64_t value = draw(operands, thread / 32 % warps, random);
        for (unsigned byte = 0; byte < slot; ++byte)
          bytes.push_back(static_cast<std::uint8_t>(value >> 8 * byte));
      }
  }
  return std::make_shared<const Bytes>(std::move(bytes));
}

} // namespace

std::uint64_t draw_register(Format format, bool sum, unsigned character, WarpRandom &random) {
  return draw({format, 1, sum}, character, random);
}

Suite tensor_suite(const std::string &target, unsigned blocks) {
  std::vector<Kernel> kernels;
  add_mma(kernels);
  add_matrix_moves(kernels);
  add_all_wmma(kernels);
  add_copies(kernels);
  Suite suite;
  for (std::size_t n = 0; n < kernels.size(); ++n) {
    if (n % 50 == 0)
      suite.modules.push_back({fmt::format("variants-tensor{}", n / 50), module_head(target), {}});
    Suite::Module &module = suite.modules.back();
    module.text += text_of(kernels[n], n);
    Item item;
    item.name = kernels[n].name;
    item.module = module.name;
    item.launch.kernel = fmt::format("t{}", n);
    item.launch.grid.x = blocks;
    item.digest = true;
    item.launch.block.x = product_threads;
    item.launch.arguments = {
        {Argument::Kind::in, contents_of(kernels[n], blocks)},
        {Argument::Kind::out, std::make_shared<const Bytes>(std::size_t{blocks} * product_threads *
                                                            slot * kernels[n].results)}};
    const std::string text = text_of(kernels[n], 0);
    item.fingerprint = fingerprint(text.data(), text.size());
    item.fingerprint = fingerprint(item.launch.arguments[0].contents->data(),
                                   item.launch.arguments[0].contents->size(), item.fingerprint);
    module.items.push_back(std::move(item));
  }
  return suite;
}

} // namespace ptxasw::conformance
