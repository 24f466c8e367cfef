// Kernels that work in a tile of shared memory.

#include "generator.h"

#include <iterator>

namespace ptxasw::test {

void Generator::fill_tile(Piece &body) {
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

std::string Generator::tile_place(Piece &piece) {
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

void Generator::shared_interlude(Piece &piece) {
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

void Generator::shared_stencil(Piece &to) {
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

} // namespace ptxasw::test
