#include "random_kernel.h"

#include "emulator/machine/warp_memory.h"

#include <algorithm>
#include <bit>
#include <fmt/core.h>

namespace ptxasw::test {
namespace {

class Generator {
public:
  Generator(std::uint64_t seed, bool shared) : random_(seed ^ 0x6b65726e656c), shared_(shared) {
    static constexpr Stores kinds[] = {Stores::none, Stores::own, Stores::own, Stores::own,
                                       Stores::own,  Stores::own, Stores::own, Stores::own,
                                       Stores::own,  Stores::own, Stores::own, Stores::in_place};
    stores_ = kinds[below(std::size(kinds))];
    tame_ = one_in(4);
  }

  RandomKernel kernel() {
    RandomKernel kernel;
    kernel.stores_between = stores_ != Stores::none;
    kernel.wraps = !tame_;
    kernel.body = std::make_unique<Piece>();
    std::unique_ptr<Piece> &body = kernel.body;
    static constexpr const char *directives[] = {"",
                                                 "",
                                                 "",
                                                 ".maxntid 128",
                                                 ".reqntid 64, 1, 1",
                                                 ".reqntid 16, 4, 1",
                                                 ".reqntid 96, 1, 1",
                                                 ".maxntid 16, 16, 1",
                                                 ".reqntid 33, 2, 1"};
    body->after = {directives[below(std::size(directives))]};
    auto &start = add(*body);
    start.fixed = true;
    start.before = prologue();
    body->before = {parameters_};
    choose_index(*body);
    if (shared_)
      fill_tile(*body);
    if (random_.below(3) != 0 && (!shared_ || one_in(2)))
      guard(*body);
    const auto count = 3 + random_.below(8);
    for (std::uint64_t i = 0; i < count; ++i)
      statement(*body, 0);
    auto &end = add(*body);
    end.fixed = true;
    end.before = {"st.global.u32 [%out], %acc;"};
    return kernel;
  }

private:
  std::uint64_t below(std::uint64_t n) { return random_.below(n); }
  bool one_in(std::uint64_t n) { return random_.one_in(n); }
  template <class T> const T &any(const std::vector<T> &list) { return list[below(list.size())]; }

  static Piece &add(Piece &to) {
    to.inside.push_back(std::make_unique<Piece>());
    return *to.inside.back();
  }
  std::string reg() { return fmt::format("%r{}", registers_++); }
  std::string wide() { return fmt::format("%d{}", wides_++); }
  std::string predicate() { return fmt::format("%p{}", predicates_++); }
  std::string label() { return fmt::format("L{}", labels_++); }

  std::vector<std::string> prologue() {
    std::vector<std::string> lines = load_parameters();
    for (const char *line :
         {"mov.u64 %ga, %a;", "mov.u64 %gb, %b;", "cvta.to.global.u64 %a, %a;",
          "cvta.to.global.u64 %b, %b;", "cvta.to.global.u64 %out, %out;", "mov.u32 %tx, %tid.x;",
          "mov.u32 %ty, %tid.y;", "mov.u32 %tz, %tid.z;", "mov.u32 %nx, %ntid.x;",
          "mov.u32 %ny, %ntid.y;", "mov.u32 %nz, %ntid.z;", "mov.u32 %lane, %laneid;",
          "mov.u32 %acc, 17;",
          // This thread's number in the grid, and from it the place of its results.
          "mad.lo.u32 %t, %tz, %ny, %ty;", "mad.lo.u32 %flat, %t, %nx, %tx;",
          "mov.u32 %t, %ctaid.z;", "mov.u32 %u, %nctaid.y;", "mov.u32 %s, %ctaid.y;",
          "mad.lo.u32 %t, %t, %u, %s;", "mov.u32 %u, %nctaid.x;", "mov.u32 %bx, %ctaid.x;",
          "mad.lo.u32 %t, %t, %u, %bx;", "mul.lo.u32 %u, %nx, %ny;", "mul.lo.u32 %u, %u, %nz;",
          "mad.lo.u32 %t, %t, %u, %flat;", "mul.wide.u32 %own, %t, 64;",
          "add.s64 %out, %out, %own;"})
      lines.push_back(line);
    return lines;
  }

  /// Parameters of their own, or fields of one structure, loaded singly or in pairs as nvcc does.
  std::vector<std::string> load_parameters() {
    switch (below(4)) {
    case 0:
      parameters_ = ".param .align 8 .b8 p[32]";
      return {"ld.param.v2.u64 {%a, %b}, [p];", "ld.param.u64 %out, [p+16];",
              "ld.param.v2.u32 {%n, %w}, [p+24];"};
    case 1: // a structure among others, extents first
      parameters_ = ".param .u64 p_out, .param .align 16 .b8 p[32]";
      return {"ld.param.u64 %out, [p_out];", "ld.param.v2.u32 {%w, %n}, [p+8];",
              "ld.param.u64 %a, [p+16];", "ld.param.u64 %b, [p+24];"};
    default:
      parameters_ = ".param .u64 p_a, .param .u64 p_b, .param .u64 p_out, .param .u32 p_n, "
                    ".param .u32 p_w";
      return {"ld.param.u64 %a, [p_a];", "ld.param.u64 %b, [p_b];", "ld.param.u64 %out, [p_out];",
              "ld.param.u32 %n, [p_n];", "ld.param.u32 %w, [p_w];"};
    }
  }

  void choose_index(Piece &body) {
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

  /// Threads beyond n do not take part.
  void guard(Piece &body) {
    Piece &piece = add(body);
    const std::string p = predicate();
    static constexpr const char *tests[] = {"setp.ge.s32 {}, %i, %n;", "setp.ge.u32 {}, %i, %n;",
                                            "setp.gt.s32 {}, %tx, %n;",
                                            "setp.ge.s32 {}, %flat, %n;"};
    piece.before = {fmt::format(fmt::runtime(tests[tame_ ? 2 + below(2) : below(4)]), p),
                    fmt::format("@{} bra DONE;", p)};
    exits_ = true;
  }

  /// An index: one there is, or one made from it.
  std::string index(Piece &piece) {
    const std::string from = any(indices_);
    if (one_in(2))
      return from;
    const std::string to = reg();
    const auto line = [&](std::string text) { piece.before.push_back(std::move(text)); };
    // What stays far from the ends of 32 bits, with sign and without.
    static constexpr unsigned tame[] = {3, 10, 19, 24, 24, 24};
    switch (tame_ ? tame[below(std::size(tame))] : below(24)) {
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
    default:
      line(fmt::format("add.s32 {}, {}, {};", to, from, static_cast<int>(below(7)) - 3));
    }
    if (depth_ == 0)
      indices_.push_back(to);
    return to;
  }

  /// An address with its offset: "%d3+4".
  std::string address(Piece &piece, unsigned scale) {
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

  void use(Piece &piece, const std::string &value) {
    piece.before.push_back(fmt::format("mad.lo.u32 %acc, %acc, {}, {};", 3 + 2 * below(50), value));
  }

  std::string condition(Piece &piece) {
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

  void load(Piece &to) {
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
      piece.before.push_back(fmt::format("{}ld.global{}.v4.b32 {{{}, {}, {}, {}}}, [{}];",
                                         guard_text, nc, x, y, z, w, where));
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

  /// One load of a width, into fresh registers, and its use.
  void load_element(Piece &piece, const std::string &guard_text, const std::string &opcode,
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

  /// Several neighbours at one place: what a stencil does.
  void stencil(Piece &to) {
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

  /// A store of any width to this thread's own places.
  void own_store(Piece &piece) {
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

  /// Things that do not concern the loads, or do.
  void interlude(Piece &to) {
    Piece &piece = add(to);
    switch (below(6)) {
    case 0:
      piece.before = {"{ .param .b32 x; .param .b32 y;", "st.param.b32 [x], %acc;",
                      "call.uni (y), mix, (x);", "ld.param.b32 %acc, [y];", "}"};
      break;
    case 1: {
      if (stores_ == Stores::none) {
        piece.before = {"membar.gl;"};
        break;
      }
      const std::string where =
          !one_in(12) || pointers_.empty() || stores_ == Stores::own ? "%out" : any(pointers_);
      piece.before = {"{ .param .b64 x; .param .b32 y;",
                      fmt::format("st.param.b64 [x], {};", where), "st.param.b32 [y], %acc;",
                      "call.uni poke, (x, y);", "}"};
      break;
    }
    case 2: // names that hide others
      piece.before = {"{ .reg .b32 %i, %r0; .reg .b64 %a;",
                      "mov.u32 %i, 7;",
                      "mov.u64 %a, 9;",
                      "mov.u32 %r0, %i;",
                      "mad.lo.u32 %acc, %acc, 3, %r0;",
                      "}"};
      break;
    case 3: // lanes that have exited do not count
      if (depth_ == 0)
        return bring_together(piece);
      piece.before = {"nanosleep.u32 20;"};
      break;
    case 4: {
      const std::string where = address(piece, 4);
      for (const char *line : {"mov.u32 %s, tile;", "shl.b32 %u, %flat, 2;", "add.s32 %s, %s, %u;"})
        piece.before.push_back(line);
      piece.before.push_back(fmt::format("cp.async.ca.shared.global [%s], [{}], 4;", where));
      piece.before.push_back("cp.async.wait_all;");
      piece.before.push_back("ld.shared.u32 %u, [%s];");
      use(piece, "%u");
      break;
    }
    default:
      if (stores_ == Stores::none)
        break;
      piece.before = {"st.u32 [%out+40], %acc;", "ld.global.u32 %u, [%out+40];"};
      use(piece, "%u");
    }
  }

  /// Lanes that leave the kernel in the middle.
  void leave(Piece &to) {
    Piece &piece = add(to);
    const std::string p = condition(piece);
    if (stores_ != Stores::none)
      piece.before.push_back("st.global.u32 [%out], %acc;");
    piece.before.push_back(fmt::format("@{} {};", p, one_in(2) ? "exit" : "bra DONE"));
    exits_ = true;
  }

  void branch(Piece &to) {
    Piece &piece = add(to);
    const std::string p = condition(piece), other = label(), end = label();
    piece.before.push_back(fmt::format("@!{} bra {};", p, other));
    ++depth_;
    statements(piece, 1 + below(3));
    if (one_in(2)) {
      Piece &middle = add(piece);
      middle.fixed = true;
      middle.before = {fmt::format("bra {};", end), other + ":"};
      statements(piece, 1 + below(2));
      piece.after = {end + ":"};
    } else {
      piece.after = {other + ":"};
    }
    --depth_;
  }

  /// Something that brings the lanes of a warp together and computes nothing.
  void bring_together(Piece &piece) {
    const std::string r = reg();
    switch (below(5)) {
    case 0:
      piece.before.push_back("bar.warp.sync -1;");
      break;
    case 1: // from itself
      piece.before.push_back(fmt::format("shfl.sync.idx.b32 {}, %acc, %lane, 31, -1;", r));
      return use(piece, r);
    case 2: // whoever meets here agrees
      piece.before.push_back(fmt::format("vote.sync.ballot.b32 {}, 1, -1;", r));
      return use(piece, r);
    case 3:
      piece.before.push_back(fmt::format("setp.eq.u32 %p{}, %lane, 77;", predicates_));
      piece.before.push_back(fmt::format("vote.sync.any.pred %p{0}, %p{0}, -1;", predicates_++));
      break;
    default:
      piece.before.push_back(fmt::format("redux.sync.or.b32 {}, 5, -1;", r));
      return use(piece, r);
    }
  }

  /// A loop that all lanes leave after equally many meetings, though some skip iterations: behind
  /// a meeting lanes are active together that are in different ones (soundness.md, E1).
  void paced_loop(Piece &to) {
    Piece &piece = add(to);
    piece.fixed = true; // without a part of it lanes would wait forever
    const std::string late = reg(), k = reg(), limit = reg(), p = predicate(), q = predicate(),
                      top = label(), next = label();
    const auto rounds = 1 + below(4), skipped = below(2);
    const auto line = [&](std::string text) { piece.before.push_back(std::move(text)); };
    counters_.insert(counters_.end(), {late, k, limit});
    // How many iterations a lane skips: none, or by its number.
    line(one_in(3) ? fmt::format("mov.u32 {}, 0;", late)
                   : fmt::format("and.b32 {}, %lane, {};", late, one_in(2) ? 1 : 3));
    line(fmt::format("add.u32 {}, {}, {};", limit, late, rounds + skipped));
    line(fmt::format("mov.u32 {}, 0;", k));
    line(top + ":");
    // The first `late` iterations, or those after the first.
    if (skipped) {
      const std::string back = reg();
      line(fmt::format("add.u32 {}, {}, -1;", back, k));
      line(fmt::format("setp.lt.u32 {}, {}, {};", p, back, late));
    } else {
      line(fmt::format("setp.lt.u32 {}, {}, {};", p, k, late));
    }
    line(fmt::format("@{} bra {};", p, next));
    bring_together(piece);
    ++depth_;
    const auto indices_before = indices_;
    const auto pointers_before = pointers_;
    const std::string walking = reg();
    line(fmt::format("add.s32 {}, {}, {};", walking, any(indices_), k));
    indices_.push_back(walking);
    stencil(piece);
    if (one_in(2))
      load(piece);
    indices_ = indices_before;
    pointers_ = pointers_before;
    --depth_;
    piece.after = {next + ":", fmt::format("add.u32 {0}, {0}, 1;", k),
                   fmt::format("setp.lt.u32 {}, {}, {};", q, k, limit),
                   fmt::format("@{} bra {};", q, top)};
  }

  void loop(Piece &to) {
    if (depth_ == 0 && one_in(4))
      return paced_loop(to);
    Piece &piece = add(to);
    const std::string k = reg(), p = predicate(), top = label(), limit = reg(), out = label();
    counters_.insert(counters_.end(), {k, limit});
    piece.before.push_back(fmt::format("mov.u32 {}, 0;", k));
    switch (below(4)) {
    case 0:
      piece.before.push_back(fmt::format("and.b32 {}, %lane, 3;", limit));
      break;
    case 1:
      piece.before.push_back(fmt::format("and.b32 {}, %n, 3;", limit));
      break;
    default:
      piece.before.push_back(fmt::format("mov.u32 {}, {};", limit, 1 + below(4)));
    }
    const std::string walking = reg();
    piece.before.push_back(fmt::format("mov.u32 {}, {};", walking, any(indices_)));
    std::string pointer;
    if (!pointers_.empty() && one_in(2)) {
      pointer = wide();
      piece.before.push_back(fmt::format("mov.u64 {}, {};", pointer, any(pointers_)));
    }
    piece.before.push_back(top + ":");
    ++depth_;
    const auto indices_before = indices_;
    const auto pointers_before = pointers_;
    indices_.push_back(walking);
    if (!pointer.empty())
      pointers_.push_back(pointer);
    statements(piece, 1 + below(4));
    if (one_in(4)) {
      Piece &leave = add(piece);
      const std::string c = condition(leave);
      leave.before.push_back(fmt::format("@{} bra {};", c, out));
    }
    Piece &step = add(piece);
    // Sometimes each lane at its own pace.
    const std::string pace = one_in(6) ? fmt::format("@{} ", condition(step)) : std::string();
    step.before.push_back(
        fmt::format("{}add.s32 {}, {}, {};", pace, walking, walking,
                    one_in(3) && !tame_ ? "%w" : fmt::format("{}", 1 + below(3))));
    if (!pointer.empty())
      step.before.push_back(
          fmt::format("add.s64 {}, {}, {};", pointer, pointer, 4 * (1 + below(8))));
    if (one_in(3))
      load(piece);
    indices_ = indices_before;
    pointers_ = pointers_before;
    --depth_;
    piece.after = {fmt::format("add.s32 {0}, {0}, 1;", k),
                   fmt::format("setp.lt.s32 {}, {}, {};", p, k, limit),
                   fmt::format("@{} bra {};", p, top), out + ":"};
  }

  void store(Piece &to) {
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

  void synchronize(Piece &to) {
    Piece &piece = add(to);
    switch (below(exits_ || depth_ > 0 ? 2 : stores_ == Stores::none ? 3 : 5)) {
    case 0:
      piece.before = {"membar.cta;"};
      break;
    case 1:
      piece.before = {"shl.b32 %u, %acc, 1;"};
      break;
    case 2:
      piece.before = {"bar.sync 0;"};
      break;
    case 3: { // in place, in two phases
      if (stores_ != Stores::in_place) {
        piece.before = {"bar.sync 0;"};
        break;
      }
      const std::string where = address(piece, 4);
      std::string base = where.substr(0, where.find('+'));
      if (!one_in(4)) { // where only this thread writes
        base = wide();
        piece.before.push_back(fmt::format("shr.u64 {}, %own, 4;", base));
        piece.before.push_back(
            fmt::format("add.s64 {0}, {1}, {0};", base, one_in(2) ? "%a" : "%b"));
      }
      piece.before.push_back("bar.sync 0;");
      piece.before.push_back(fmt::format("st.global.u32 [{}], %acc;", base));
      piece.before.push_back("bar.sync 0;");
      if (scratch_pointers_)
        pointers_.push_back(base);
      break;
    }
    default: // through shared memory
      piece.before = {"mov.u32 %s, tile;",
                      "shl.b32 %u, %flat, 2;",
                      "add.s32 %s, %s, %u;",
                      "st.shared.u32 [%s], %acc;",
                      "bar.sync 0;",
                      "xor.b32 %u, %u, 4;",
                      "mov.u32 %s, tile;",
                      "add.s32 %s, %s, %u;",
                      "ld.shared.u32 %u, [%s];",
                      "bar.sync 0;"};
      use(piece, "%u");
    }
  }

  void change_index(Piece &to) {
    Piece &piece = add(to);
    const std::string guard_text =
        one_in(2) ? fmt::format("@{} ", condition(piece)) : std::string();
    const std::string which = any(indices_);
    piece.before.push_back(
        fmt::format("{}add.s32 {}, {}, {};", guard_text, which, which, 1 + below(3)));
  }

  /// What every thread finds in shared memory: `tile`, a word of each thread and what lies on
  /// either side, written by barriers apart; `mine`, eight bytes for each thread alone.
  void fill_tile(Piece &body) {
    Piece &piece = add(body);
    piece.fixed = true;
    piece.before = {"mov.u32 %tile, tile;",
                    "shl.b32 %u, %flat, 2;",
                    "add.u32 %tile_own, %tile, %u;",
                    "mov.u32 %mine, mine;",
                    "mad.lo.u32 %mine, %flat, 8, %mine;",
                    "mad.lo.u32 %u, %flat, 77, 5;",
                    "st.shared.u32 [%tile_own+16], %u;",
                    "st.shared.v2.u32 [%mine], {%flat, %u};",
                    "bar.sync 0;"};
  }

  /// The bytes from `tile` on to a word of some thread, below 4 KiB; 32 bits.
  std::string tile_place(Piece &piece) {
    const auto line = [&](std::string text) { piece.before.push_back(std::move(text)); };
    const std::string i = reg(), bytes = reg();
    switch (below(8)) {
    case 0:
      line(fmt::format("mad.lo.u32 {}, %ty, 33, %tx;", i)); // rows with a word between them
      break;
    case 1:
      line(fmt::format("mad.lo.u32 {}, %ty, %nx, %tx;", i));
      break;
    case 2:
      line(fmt::format("mov.u32 {}, %lane;", i));
      break;
    case 3:
      line(fmt::format("sub.u32 {}, 1023, %flat;", i));
      break;
    case 4:
      line(fmt::format("mov.u32 {}, {};", i, any(indices_)));
      break;
    case 5:
      line(fmt::format("mov.u32 {}, %tx;", i));
      break;
    default:
      line(fmt::format("mov.u32 {}, %flat;", i));
      line(fmt::format("shl.b32 {}, {}, 2;", bytes, i));
      return bytes;
    }
    if (!one_in(4))
      line(fmt::format("and.b32 {0}, {0}, 1023;", i));
    else
      line(fmt::format("min.u32 {0}, {0}, 1023;", i));
    line(fmt::format("shl.b32 {}, {}, 2;", bytes, i));
    return bytes;
  }

  /// What a kernel may do to shared memory between two loads of it.
  void shared_interlude(Piece &piece) {
    const auto line = [&](std::string text) { piece.before.push_back(std::move(text)); };
    const bool together = !exits_ && depth_ == 0;
    const std::string r = reg();
    switch (below(together ? 13 : 10)) {
    case 0:
      return line("st.shared.u32 [%mine], %acc;");
    case 1:
      return line("st.shared.u32 [%mine+4], %acc;");
    case 2:
      return line("st.shared.u8 [%mine+1], %acc;");
    case 3:
      return line("red.shared.add.u32 [%mine], %acc;");
    case 4:
      line(fmt::format("atom.shared.exch.b32 {}, [%mine], %acc;", r));
      return use(piece, r);
    case 5:
      return line("membar.cta;");
    case 6: // by a function
      for (const char *text : {"{ .param .b32 x; .param .b32 y;", "st.param.b32 [x], %mine;",
                               "st.param.b32 [y], %acc;", "call.uni poke_shared, (x, y);", "}"})
        line(text);
      return;
    case 7: // by a generic address
      line("cvt.u64.u32 %e, %mine;");
      line("cvta.shared.u64 %e, %e;");
      return line("st.u32 [%e], %acc;");
    case 8:
      return line(fmt::format("@{} st.shared.u32 [%mine], %acc;", condition(piece)));
    case 9:
      return line("st.volatile.shared.u32 [%mine], %acc;");
    case 10:
      return line("bar.warp.sync -1;");
    case 11:
      return line("bar.sync 0;");
    default: // all write what others read
      line("bar.sync 0;");
      line("xor.b32 %u, %acc, 6;");
      line("st.shared.u32 [%tile_own+16], %u;");
      return line("bar.sync 0;");
    }
  }

  /// Neighbours in shared memory.
  void shared_stencil(Piece &to) {
    Piece &piece = add(to);
    const auto line = [&](std::string text) { piece.before.push_back(std::move(text)); };
    const bool own = one_in(5); // what the thread itself has written
    std::string base = own ? "%mine" : tile_place(piece);
    if (!own && one_in(5)) { // in 64 bits
      const std::string d = wide();
      line(fmt::format("cvt.u64.u32 {}, {};", d, base));
      line("mov.u64 %e, tile;");
      line(fmt::format("add.s64 {0}, {0}, %e;", d));
      base = d;
    } else if (!own) {
      const std::string r = reg();
      line(fmt::format("add.u32 {}, %tile, {};", r, base));
      base = r;
    }
    static constexpr unsigned widths[] = {4, 4, 4, 4, 4, 1, 2, 8};
    const unsigned bytes = own && one_in(3) ? 8 : widths[below(std::size(widths))];
    // Two words at once only where they lie together.
    const unsigned width = bytes == 8 && !own ? 4 : bytes;
    std::string guard_text;
    if (one_in(4))
      guard_text = fmt::format("@{}{} ", one_in(3) ? "!" : "", condition(piece));
    const bool all_guarded = one_in(2), hole = one_in(2);
    const auto count = 2 + below(4);
    for (std::uint64_t i = 0; i < count; ++i) {
      static constexpr const char *kinds[] = {"ld.shared",      "ld.shared",         "ld.shared",
                                              "ld.shared",      "ld.shared",         "ld.shared",
                                              "ld.shared::cta", "ld.volatile.shared"};
      const int offset =
          static_cast<int>(width) * static_cast<int>(own ? below(8 / width) : below(7)) +
          (own ? 0 : 16 - 3 * static_cast<int>(width));
      load_element(piece, all_guarded || one_in(2) ? guard_text : "", kinds[below(8)], width,
                   fmt::format("{}+{}", base, offset));
      if (hole && one_in(3))
        shared_interlude(piece);
    }
  }

  void statement(Piece &to, unsigned) {
    if (shared_ && one_in(2))
      return shared_stencil(to);
    if (shared_ && one_in(5))
      return shared_interlude(add(to));
    switch (below(depth_ > 2 ? 12 : 18)) {
    case 0:
    case 1:
      return stencil(to);
    case 2:
      return one_in(5) && depth_ < 2 ? leave(to) : stencil(to);
    case 8:
    case 9:
      return store(to);
    case 10:
      return one_in(2) ? change_index(to) : synchronize(to);
    case 11:
      return interlude(to);
    case 12:
      return synchronize(to);
    case 13:
    case 14:
      return branch(to);
    case 15:
    case 16:
    case 17:
      return loop(to);
    default:
      return load(to);
    }
  }
  void statements(Piece &to, std::uint64_t count) {
    const auto indices_before = indices_;
    const auto pointers_before = pointers_;
    for (std::uint64_t i = 0; i < count; ++i)
      statement(to, depth_);
    indices_ = indices_before;
    pointers_ = pointers_before;
  }

  /// Where a kernel stores before it ends.
  enum class Stores : std::uint8_t { none, own, in_place };

  WarpRandom random_;
  bool shared_ = false; ///< most loads are of shared memory
  Stores stores_ = Stores::own;
  bool tame_ = false;    ///< no index comes near the ends of 32 bits
  bool generic_ = false; ///< the address being made is generic
  std::string parameters_;
  std::vector<std::string> counters_; ///< of loops, with what limits them
  unsigned registers_ = 0, wides_ = 0, predicates_ = 0, labels_ = 0, depth_ = 0;
  bool exits_ = false;
  bool scratch_pointers_ = true;
  std::vector<std::string> indices_, pointers_;
};

void print(const Piece &piece, std::string &text) {
  const auto lines = [&](const std::vector<std::string> &list) {
    for (const std::string &line : list)
      text += (line.ends_with(':') ? "" : "\t") + line + "\n";
  };
  lines(piece.before);
  for (const auto &inner : piece.inside)
    if (inner)
      print(*inner, text);
  lines(piece.after);
}

void collect(Piece &piece, std::vector<std::unique_ptr<Piece> *> &to) {
  for (auto &inner : piece.inside)
    if (inner) {
      if (!inner->fixed)
        to.push_back(&inner);
      collect(*inner, to);
    }
}

} // namespace

RandomKernel random_kernel(std::uint64_t seed, bool shared) {
  return Generator(seed, shared).kernel();
}

unsigned registers_named(const std::string &code, char letter) {
  unsigned result = 1;
  for (std::size_t at = code.find('%'); at != std::string::npos; at = code.find('%', at + 1))
    if (code[at + 1] == letter && code[at + 2] >= '0' && code[at + 2] <= '9')
      result = std::max(result, 1 + static_cast<unsigned>(std::stoul(code.substr(at + 2, 6))));
  return result;
}

std::string lines_of(const Piece &body) {
  std::string code;
  for (const auto &piece : body.inside)
    if (piece)
      print(*piece, code);
  return code;
}

std::string module_text(const Piece &body) {
  std::string text = R"(.version 7.8
.target sm_80
.address_size 64
.func (.param .b32 result) mix(.param .b32 value)
{
	.reg .b32 %r<4>;
	ld.param.b32 %r1, [value];
	mad.lo.u32 %r2, %r1, 5, 3;
	st.param.b32 [result], %r2;
	ret;
}
.func poke(.param .b64 place, .param .b32 value)
{
	.reg .b32 %r<2>;
	.reg .b64 %d<2>;
	ld.param.b64 %d1, [place];
	ld.param.b32 %r1, [value];
	st.global.u32 [%d1], %r1;
	ret;
}
)";
  const std::string code = lines_of(body);
  if (code.find("poke_shared") != std::string::npos)
    text += R"(.func poke_shared(.param .b32 place, .param .b32 value)
{
	.reg .b32 %r<3>;
	ld.param.b32 %r1, [place];
	ld.param.b32 %r2, [value];
	st.shared.u32 [%r1], %r2;
	ret;
}
)";
  text += fmt::format(".visible .entry random_kernel({})\n{}\n", body.before.front(),
                      body.after.front());
  text += fmt::format("{{\n\t.reg .b32 %r<{}>;\n\t.reg .b64 %d<{}>;\n\t.reg .pred %p<{}>;\n",
                      registers_named(code, 'r'), registers_named(code, 'd'),
                      registers_named(code, 'p'));
  text +=
      R"(	.reg .b32 %n, %w, %tx, %ty, %tz, %nx, %ny, %nz, %lane, %acc, %t, %u, %s, %flat, %bx, %i, %row;
	.reg .b64 %a, %b, %out, %own, %e, %pa, %pb, %ga, %gb;
	.shared .align 4 .b8 tile[4224];
)";
  if (code.find("%mine") != std::string::npos)
    text += "\t.reg .b32 %tile, %tile_own, %mine;\n\t.shared .align 8 .b8 mine[8192];\n";
  text += code;
  text += "DONE:\n\tret;\n}\n";
  return text;
}

std::vector<std::unique_ptr<Piece> *> removable_pieces(Piece &body) {
  std::vector<std::unique_ptr<Piece> *> list;
  collect(body, list);
  return list;
}

} // namespace ptxasw::test
