// Branches, loops, and what lies between loads: barriers, fences, atomics and the like.

#include "generator.h"

namespace ptxasw::test {

void Generator::interlude(Piece &to) {
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
    piece.before = {"{ .param .b64 x; .param .b32 y;", fmt::format("st.param.b64 [x], {};", where),
                    "st.param.b32 [y], %acc;", "call.uni poke, (x, y);", "}"};
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

void Generator::leave(Piece &to) {
  Piece &piece = add(to);
  const std::string p = condition(piece);
  if (stores_ != Stores::none)
    piece.before.push_back("st.global.u32 [%out], %acc;");
  piece.before.push_back(fmt::format("@{} {};", p, one_in(2) ? "exit" : "bra DONE"));
  exits_ = true;
}

void Generator::branch(Piece &to) {
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

void Generator::bring_together(Piece &piece) {
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

void Generator::paced_loop(Piece &to) {
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
  if (one_in(3)) // of those that meet, whatever iteration each is in
    line(fmt::format("redux.sync.max.u32 {0}, {1}, -1; add.s32 {2}, {2}, {0};", reg(), k, walking));
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

void Generator::loop(Piece &to) {
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
  step.before.push_back(fmt::format("{}add.s32 {}, {}, {};", pace, walking, walking,
                                    one_in(3) && !tame_ ? "%w" : fmt::format("{}", 1 + below(3))));
  if (!pointer.empty())
    step.before.push_back(fmt::format("add.s64 {}, {}, {};", pointer, pointer, 4 * (1 + below(8))));
  if (one_in(3))
    load(piece);
  indices_ = indices_before;
  pointers_ = pointers_before;
  --depth_;
  piece.after = {fmt::format("add.s32 {0}, {0}, 1;", k),
                 fmt::format("setp.lt.s32 {}, {}, {};", p, k, limit),
                 fmt::format("@{} bra {};", p, top), out + ":"};
}

void Generator::synchronize(Piece &to) {
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
      piece.before.push_back(fmt::format("add.s64 {0}, {1}, {0};", base, one_in(2) ? "%a" : "%b"));
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

} // namespace ptxasw::test
