// Indices, addresses, loads and stores of global memory.

#include "generator.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace ptxasw::test {

void Generator::choose_index(Piece &body) {
  Piece &piece = add(body);
  piece.fixed = true;
  switch (below(7)) {
  case 0:
  case 1:
    piece.before = {"mad.lo.s32 %i, %bx, %nx, %tx;"};
    break;
  case 2:
    piece.before = {"mov.u32 %s, %ctaid.y;", "mad.lo.s32 %row, %s, %ny, %ty;",
                    "mad.lo.s32 %i, %bx, %nx, %tx;",
                    tame_ ? "mad.lo.s32 %i, %row, 100, %i;" : "mad.lo.s32 %i, %row, %w, %i;"};
    break;
  case 3:
    piece.before = {"mov.u32 %i, %tx;"};
    break;
  case 4:
    piece.before = {"mov.u32 %i, %flat;"};
    break;
  case 5:
    piece.before = {"mov.u32 %i, %lane;", "add.s32 %i, %i, %ty;"};
    break;
  default:
    piece.before = {fmt::format("mad.lo.s32 %i, %bx, %nx, %tx;"),
                    fmt::format("mul.lo.s32 %i, %i, {};", 1 + below(3))};
  }
  if (!tame_ && one_in(6)) {
    static constexpr std::uint32_t far[] = {0x7fffffe0, 0x7ffffff8, 0xffffffe0, 0xfffffff0,
                                            0x3ffffff0, 0x80000000, 0x40000000};
    piece.before.push_back(fmt::format("add.s32 %i, %i, {};", far[below(std::size(far))]));
  }
  if (tame_)
    piece.before.push_back("add.s32 %i, %i, 200;");
  indices_ = {"%i"};
  if (one_in(2)) {
    piece.before.push_back("mul.wide.s32 %e, %i, 4;");
    piece.before.push_back("add.s64 %pa, %a, %e;");
    piece.before.push_back("add.s64 %pb, %b, %e;");
    pointers_ = {"%pa", "%pb"};
  }
}

void Generator::guard(Piece &body) {
  Piece &piece = add(body);
  const std::string p = predicate();
  static constexpr const char *tests[] = {"setp.ge.s32 {}, %i, %n;", "setp.ge.u32 {}, %i, %n;",
                                          "setp.gt.s32 {}, %tx, %n;", "setp.ge.s32 {}, %flat, %n;"};
  piece.before = {fmt::format(fmt::runtime(tests[tame_ ? 2 + below(2) : below(4)]), p),
                  fmt::format("@{} bra DONE;", p)};
  exits_ = true;
}

std::string Generator::index(Piece &piece) {
  const std::string from = any(indices_);
  if (one_in(2))
    return from;
  const std::string to = reg();
  const auto line = [&](std::string text) { piece.before.push_back(std::move(text)); };
  // What stays far from the ends of 32 bits, with sign and without.
  static constexpr unsigned tame[] = {3, 10, 19, 20, 27, 27, 27};
  switch (tame_ ? tame[below(std::size(tame))] : below(27)) {
  case 0:
  case 1:
    line(fmt::format("add.s32 {}, {}, %w;", to, from));
    break;
  case 2:
    line(fmt::format("mad.lo.s32 {}, %n, {}, {};", to, below(3), from));
    break;
  case 3:
    line(fmt::format("xor.b32 {}, {}, {};", to, from, below(4)));
    break;
  case 4:
    line(fmt::format("bfe.u32 {}, {}, 0, {};", to, from, 3 + below(29)));
    break;
  case 5:
    line(fmt::format("bfe.s32 {}, {}, 0, {};", to, from, 3 + below(29)));
    break;
  case 6:
    line(fmt::format("and.b32 {}, {}, {};", to, from, (1u << (3 + below(20))) - 1));
    break;
  case 7:
    line(fmt::format("shr.{} {}, {}, {};", one_in(2) ? "s32" : "u32", to, from, below(3)));
    break;
  case 8:
    line(fmt::format("prmt.b32 {}, {}, %lane, {};", to, from, one_in(2) ? "0x3210" : "0x7210"));
    break;
  case 9:
    line(fmt::format("bfi.b32 {}, %lane, {}, {}, 5;", to, from, below(8)));
    break;
  case 10:
    line(fmt::format("selp.b32 {}, {}, {}, {};", to, from, any(indices_), condition(piece)));
    break;
  case 11:
    line(fmt::format("{} {}, {}, %n;", one_in(2) ? "min.s32" : "max.s32", to, from));
    break;
  case 12:
    line(fmt::format("min.u32 {}, {}, {};", to, from, 10 + below(90)));
    break;
  case 13: // an index from memory
    line(fmt::format("and.b32 {}, {}, 31;", to, from));
    line(fmt::format("mul.wide.u32 %e, {}, 4;", to));
    line("add.s64 %e, %e, %b;");
    line(fmt::format("ld.global.u32 {}, [%e];", to));
    line(fmt::format("and.b32 {0}, {0}, 63;", to));
    break;
  case 14:
    line(fmt::format("sub.s32 {}, {}, {};", to, 31 + below(3), from));
    break;
  case 15:
    line(fmt::format("{}.u32 {}, {}, {};", one_in(2) ? "div" : "rem", to, from, 2 + below(40)));
    break;
  case 16:
    line(fmt::format("shl.b32 {}, {}, {};", to, from, below(3)));
    break;
  case 17:
    line(fmt::format("mul.hi.u32 {}, {}, {};", to, from, 0x40000000u));
    break;
  case 18:
    line(fmt::format("lop3.b32 {}, {}, {}, %lane, {};", to, from, 1 + below(3), below(256)));
    break;
  case 19: {
    const std::string p = condition(piece);
    line(fmt::format("mov.u32 {}, {};", to, from));
    line(fmt::format("@{} add.s32 {}, {}, 1;", p, to, to));
    break;
  }
  case 20:
  case 21:
  case 22:
    line(fmt::format("add.s32 {}, {}, {};", to, from, number_of_warp(piece)));
    break;
  case 23: // neighbours within a warp
    line(fmt::format("add.s32 {0}, {1}, {2}; and.b32 {0}, {0}, 31; and.b32 %u, {1}, -32; "
                     "or.b32 {0}, {0}, %u;",
                     to, from, 1 + below(31)));
    break;
  default:
    line(fmt::format("add.s32 {}, {}, {};", to, from, static_cast<int>(below(7)) - 3));
  }
  if (depth_ == 0)
    indices_.push_back(to);
  return to;
}

std::string Generator::number_of_warp(Piece &piece) {
  const std::string r = reg(), bytes = wide();
  const auto line = [&](std::string text) { piece.before.push_back(std::move(text)); };
  const auto load = [&](const char *array, const std::string &word) {
    line(fmt::format("and.b32 {}, {}, 31;", r, word));
    line(fmt::format("mul.wide.u32 {0}, {1}, 4; add.s64 {0}, {0}, {2};", bytes, r, array));
    line(fmt::format("{} {}, [{}];", one_in(8) ? "ld.volatile.global.u32" : "ld.global.u32", r,
                     bytes));
  };
  // Lanes that have left cannot be read from; and not all may come where lanes have parted.
  switch (below(depth_ > 0 ? 4 : exits_ ? 6 : 8)) {
  case 0:
    load("%b", "%w");
    break;
  case 1:
    load(one_in(2) ? "%a" : "%b", "%bx");
    break;
  case 2: // what one word says is the place of the other one
    load("%b", "%bx");
    load("%a", r);
    break;
  case 3: // of a warp, in blocks of some shapes
    line(fmt::format("shr.u32 {}, %flat, {};", r, 4 + below(3)));
    break;
  case 4:
    line(fmt::format("and.b32 {}, %acc, 1; setp.eq.u32 %p{}, {}, 0;", r, predicates_, r));
    line(fmt::format("vote.sync.ballot.b32 {0}, %p{1}, -1; popc.b32 {0}, {0};", r, predicates_++));
    break;
  case 5:
    line(fmt::format("redux.sync.{}.s32 {}, %acc, -1;", one_in(2) ? "add" : "min", r));
    break;
  case 6: // the first lane always is there
    line(fmt::format("shfl.sync.idx.b32 {}, %acc, 0, {}, -1;", r, one_in(4) ? "0x1c1f" : "31"));
    break;
  default:
    line(fmt::format("shr.u32 {0}, %lane, 4; sub.s32 {0}, 0, {0}; xor.b32 {0}, {0}, {1};", r,
                     one_in(2) ? "-1" : "0"));
    line(fmt::format("setp.eq.u32 %p{0}, %acc, 17; vote.sync.any.pred %p{0}, %p{0}, -1; "
                     "selp.b32 {1}, 3, {2}, %p{0};",
                     predicates_++, r, one_in(2) ? "5" : r));
  }
  line(fmt::format("and.b32 {0}, {0}, 63;", r));
  return r;
}

std::string Generator::address(Piece &piece, unsigned scale) {
  const int offset = static_cast<int>(below(7)) - 3;
  if (scale == 4 && !generic_ && !pointers_.empty() && one_in(2))
    return fmt::format("{}+{}", any(pointers_), 4 * offset);
  const std::string i = index(piece), bytes = wide(), to = wide();
  const char *array = generic_ ? (one_in(3) ? "%gb" : "%ga") : one_in(3) ? "%b" : "%a";
  switch (below(5)) {
  case 0:
    piece.before.push_back(fmt::format("mul.wide.u32 {}, {}, {};", bytes, i, scale));
    break;
  case 1:
    piece.before.push_back(fmt::format("cvt.s64.s32 {}, {};", bytes, i));
    piece.before.push_back(fmt::format("mul.lo.s64 {0}, {0}, {1};", bytes, scale));
    break;
  case 2:
    piece.before.push_back(fmt::format("cvt.u64.u32 {}, {};", bytes, i));
    piece.before.push_back(fmt::format("shl.b64 {0}, {0}, {1};", bytes, std::countr_zero(scale)));
    break;
  default:
    piece.before.push_back(fmt::format("mul.wide.s32 {}, {}, {};", bytes, i, scale));
  }
  if (one_in(8)) { // which array, lanes may decide differently
    piece.before.push_back(fmt::format("selp.b64 {}, %a, %b, {};", to, condition(piece)));
    piece.before.push_back(fmt::format("add.s64 {0}, {0}, {1};", to, bytes));
  } else {
    piece.before.push_back(fmt::format("add.s64 {}, {}, {};", to, array, bytes));
  }
  if (depth_ == 0 && scale == 4 && !generic_)
    pointers_.push_back(to);
  return fmt::format("{}+{}", to, static_cast<int>(scale) * offset);
}

void Generator::use(Piece &piece, const std::string &value) {
  piece.before.push_back(fmt::format("mad.lo.u32 %acc, %acc, {}, {};", 3 + 2 * below(50), value));
}

std::string Generator::condition(Piece &piece) {
  const std::string p = predicate(), t = reg();
  switch (below(7)) {
  case 0:
    piece.before.push_back(fmt::format("setp.lt.u32 {}, %lane, {};", p, 1 + below(31)));
    break;
  case 1:
    piece.before.push_back(fmt::format("and.b32 {}, %lane, {};", t, 1 + below(7)));
    piece.before.push_back(fmt::format("setp.eq.s32 {}, {}, 0;", p, t));
    break;
  case 2:
    piece.before.push_back(fmt::format("setp.lt.s32 {}, %i, %n;", p));
    break;
  case 3: // the same in all lanes
    piece.before.push_back(fmt::format("setp.gt.s32 {}, %w, {};", p, below(60)));
    break;
  case 4:
    piece.before.push_back(fmt::format("and.b32 {}, %acc, {};", t, 1 + below(3)));
    piece.before.push_back(fmt::format("setp.ne.s32 {}, {}, 0;", p, t));
    break;
  case 5:
    piece.before.push_back(fmt::format("setp.lt.u32 {}, %tx, {};", p, below(40)));
    break;
  default:
    piece.before.push_back(fmt::format("setp.eq.s32 {}, %ty, 0;", p));
  }
  return p;
}

void Generator::load(Piece &to) {
  Piece &piece = add(to);
  const std::string guard_text =
      one_in(6) ? fmt::format("@{}{} ", one_in(3) ? "!" : "", condition(piece)) : std::string();
  const char *nc = one_in(8) && stores_ != Stores::in_place ? ".nc" : "";
  switch (below(17)) {
  case 14: {
    const std::string r = reg(), where = address(piece, 2);
    piece.before.push_back(fmt::format("{}ld.global{}.{} {}, [{}];", guard_text, nc,
                                       one_in(2) ? "u16" : "s16", r, where));
    return use(piece, r);
  }
  case 15: {
    const std::string x = reg(), y = reg(), z = reg(), w = reg(), where = address(piece, 16);
    piece.before.push_back(fmt::format("{}ld.global{}.v4.b32 {{{}, {}, {}, {}}}, [{}];", guard_text,
                                       nc, x, y, z, w, where));
    use(piece, x);
    use(piece, y);
    use(piece, z);
    return use(piece, w);
  }
  case 16: { // generic, or ordered
    static constexpr const char *kinds[] = {
        "ld.u32",           "ld.relaxed.gpu.global.u32", "ld.acquire.cta.global.u32",
        "ld.global.cv.u32", "ld.volatile.u32",           "ld.global.L1::evict_last.u32"};
    const std::string r = reg(), where = address(piece, 4);
    piece.before.push_back(
        fmt::format("{}{} {}, [{}];", guard_text, kinds[below(std::size(kinds))], r, where));
    return use(piece, r);
  }
  case 0: {
    const std::string d = wide(), r = reg();
    piece.before.push_back(
        fmt::format("{}ld.global{}.u64 {}, [{}];", guard_text, nc, d, address(piece, 8)));
    std::swap(piece.before.back(), piece.before.back());
    piece.before.push_back(fmt::format("cvt.u32.u64 {}, {};", r, d));
    return use(piece, r);
  }
  case 1: {
    const std::string r = reg();
    const std::string where = address(piece, 1);
    piece.before.push_back(fmt::format("{}ld.global{}.u8 {}, [{}];", guard_text, nc, r, where));
    return use(piece, r);
  }
  case 2: {
    const std::string x = reg(), y = reg(), where = address(piece, 8);
    piece.before.push_back(
        fmt::format("{}ld.global.v2.u32 {{{}, {}}}, [{}];", guard_text, x, y, where));
    use(piece, x);
    return use(piece, y);
  }
  case 3: {
    // The register that is loaded is its own address before.
    const std::string where = address(piece, 4), d = wide(), r = reg();
    piece.before.push_back(fmt::format("mov.u64 {}, {};", d, where.substr(0, where.find('+'))));
    piece.before.push_back(fmt::format("ld.global.u32 {}, [{}+4];", r, d));
    piece.before.push_back(fmt::format("add.s64 {0}, {0}, 4;", d));
    use(piece, r);
    piece.before.push_back(fmt::format("ld.global.u32 {}, [{}+4];", r, d));
    return use(piece, r);
  }
  default: {
    static constexpr const char *types[] = {"u32", "s32", "b32", "b32"};
    static constexpr const char *cache[] = {"", "", "", "", ".ca", ".cg", ".volatile"};
    const std::string where = address(piece, 4);
    // Sometimes into a register that other loads used.
    std::string r = registers_ > 2 && one_in(4) ? fmt::format("%r{}", below(registers_)) : reg();
    // But not into one that counts a loop: it might never end.
    if (std::find(counters_.begin(), counters_.end(), r) != counters_.end())
      r = reg();
    bool index_register = false;
    for (const std::string &i : indices_)
      index_register |= i == r;
    const char *modifier = *nc ? "" : cache[below(std::size(cache))];
    const bool is_volatile = std::string_view(modifier) == ".volatile";
    piece.before.push_back(fmt::format("{}ld{}.global{}{}.{} {}, [{}];", guard_text,
                                       is_volatile ? ".volatile" : "", nc,
                                       is_volatile ? "" : modifier, types[below(4)],
                                       index_register && !one_in(4) ? "%t" : r, where));
    return use(piece, index_register ? "%t" : r);
  }
  }
}

void Generator::load_element(Piece &piece, const std::string &guard_text, const std::string &opcode,
                             unsigned bytes, const std::string &where) {
  const auto line = [&](std::string text) { piece.before.push_back(std::move(text)); };
  static constexpr const char *narrow[] = {"u8", "s8", "b8"}, *half[] = {"u16", "s16", "b16"},
                              *word[] = {"u32", "s32", "b32", "f32"},
                              *wide_types[] = {"u64", "s64", "b64", "f64", "v2.u32", "v2.f32"};
  if (bytes == 16) {
    const bool pairs = one_in(3);
    const std::string w = wide(), x = wide();
    if (pairs) {
      line(fmt::format("{}{}.v2.u64 {{{}, {}}}, [{}];", guard_text, opcode, w, x, where));
      line(fmt::format("add.s64 {0}, {0}, {1};", w, x));
      line(fmt::format("cvt.u32.u64 %u, {};", w));
      return use(piece, "%u");
    }
    std::string list;
    std::vector<std::string> parts;
    for (int i = 0; i < 4; ++i) {
      parts.push_back(one_in(6) ? "_" : reg());
      list += (i ? ", " : "") + parts.back();
    }
    if (list == "_, _, _, _")
      list = (parts[0] = reg()) + ", _, _, _";
    line(fmt::format("{}{}.v4.{} {{{}}}, [{}];", guard_text, opcode, one_in(2) ? "f32" : "u32",
                     list, where));
    for (const std::string &part : parts)
      if (part != "_")
        use(piece, part);
    return;
  }
  if (bytes == 8) {
    const std::string type = wide_types[below(std::size(wide_types))];
    if (type[0] == 'v') {
      const std::string x = reg(), y = reg();
      line(fmt::format("{}{}.{} {{{}, {}}}, [{}];", guard_text, opcode, type, x, y, where));
      use(piece, x);
      return use(piece, y);
    }
    const std::string d = wide(), x = reg(), y = reg();
    line(fmt::format("{}{}.{} {}, [{}];", guard_text, opcode, type, d, where));
    line(fmt::format("mov.b64 {{{}, {}}}, {};", x, y, d));
    use(piece, x);
    return use(piece, y);
  }
  const std::string type = bytes == 1   ? narrow[below(3)]
                           : bytes == 2 ? half[below(3)]
                                        : word[below(4)];
  const std::string r = reg();
  line(fmt::format("{}{}.{} {}, [{}];", guard_text, opcode, type, r, where));
  use(piece, r);
}

void Generator::stencil(Piece &to) {
  Piece &piece = add(to);
  static constexpr unsigned widths[] = {4, 4, 4, 4, 1, 2, 8, 8, 16};
  const unsigned bytes = widths[below(std::size(widths))];
  const bool generic = one_in(5);
  generic_ = generic && one_in(2);
  const std::string where = address(piece, bytes), base = where.substr(0, where.find('+'));
  generic_ = false;
  const std::string opcode = generic                                    ? "ld"
                             : one_in(3) && stores_ != Stores::in_place ? "ld.global.nc"
                                                                        : "ld.global";
  const auto count = 2 + below(4);
  const bool hole = one_in(3);
  std::string guard_text;
  if (one_in(4)) // all under one predicate, as the compiler does with short branches
    guard_text = fmt::format("@{}{} ", one_in(3) ? "!" : "", condition(piece));
  const bool all_guarded = one_in(2);
  for (std::uint64_t i = 0; i < count; ++i) {
    // A read-only pointer that is not %a or %b itself is still one of theirs.
    load_element(
        piece, all_guarded || one_in(2) ? guard_text : "", opcode, bytes,
        fmt::format("{}+{}", base, static_cast<int>(bytes) * (static_cast<int>(below(7)) - 3)));
    if (hole && one_in(3)) {
      if (one_in(2) && stores_ != Stores::none)
        own_store(piece);
      else
        piece.before.push_back("mul.wide.s32 %e, %i, 4;");
    }
  }
}

void Generator::own_store(Piece &piece) {
  switch (below(8)) {
  case 0:
    piece.before.push_back(fmt::format("st.global.u8 [%out+{}], %acc;", 4 + below(50)));
    break;
  case 1:
    piece.before.push_back(fmt::format("st.global.b16 [%out+{}], %acc;", 2 * (2 + below(25))));
    break;
  case 2:
    piece.before.push_back("mov.b64 %e, {%acc, %acc};");
    piece.before.push_back(fmt::format("st.global.u64 [%out+{}], %e;", 8 * (1 + below(6))));
    break;
  case 3:
    piece.before.push_back(
        fmt::format("st.global.v2.b32 [%out+{}], {{%acc, %flat}};", 8 * (1 + below(6))));
    break;
  case 4:
    piece.before.push_back(fmt::format("st.u32 [%out+{}], %acc;", 4 * (1 + below(14))));
    break;
  default:
    piece.before.push_back(fmt::format("st.global.u32 [%out+{}], %acc;", 4 * (1 + below(14))));
  }
}

void Generator::store(Piece &to) {
  if (stores_ == Stores::none)
    return load(to);
  Piece &piece = add(to);
  // Without barriers around it a store in place is a race, except with a thread alone.
  switch (stores_ == Stores::in_place && one_in(24) ? below(6) : 2 + below(4)) {
  case 0: // in place: what others read, unless they have done so before a barrier
    if (!pointers_.empty() && one_in(4)) {
      piece.before = {fmt::format("st.global.u32 [{}], %acc;", any(pointers_))};
      break;
    }
    [[fallthrough]];
  case 1: // only this thread writes there
    piece.before = {"shr.u64 %e, %own, 4;", "add.s64 %e, %b, %e;", "st.global.u32 [%e], %acc;"};
    break;
  case 2:
    piece.before = {"red.global.add.u32 [%out+60], %acc;"};
    break;
  default:
    own_store(piece);
  }
}

void Generator::change_index(Piece &to) {
  Piece &piece = add(to);
  const std::string guard_text = one_in(2) ? fmt::format("@{} ", condition(piece)) : std::string();
  const std::string which = any(indices_);
  piece.before.push_back(
      fmt::format("{}add.s32 {}, {}, {};", guard_text, which, which, 1 + below(3)));
}

} // namespace ptxasw::test
