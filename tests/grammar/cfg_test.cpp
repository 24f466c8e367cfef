// Blocks, edges, dominators and loops: on small kernels by hand, on random graphs against
// definitions computed the slow way.

#include "grammar/cfg.h"
#include "support.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <map>
#include <random>
#include <set>

using namespace ptxasw::test;

namespace {

/// `0>1,2 1>2 2>` and so on; "broken" if a target is missing.
std::string edges(std::string_view body) {
  const auto module = parse_good(in_kernel(body));
  const ControlFlowGraph cfg(*module, module->functions[0]);
  if (!cfg.well_formed())
    return "broken";
  std::string text;
  for (BlockId b = 0; b < cfg.blocks().size(); ++b) {
    text += fmt::format("{}{}>", b ? " " : "", b);
    for (std::size_t i = 0; i < cfg.blocks()[b].successors.size(); ++i)
      text += fmt::format("{}{}", i ? "," : "", cfg.blocks()[b].successors[i]);
  }
  return text;
}

} // namespace

TEST_CASE("edges") {
  struct Row {
    const char *body;
    const char *edges;
  };
  static constexpr Row rows[] = {
      {"", "0>"},
      {"ret;", "0>"},
      {"mov.u32 u32a, 1;", "0>"},
      {"@p bra L; mov.u32 u32a, 1; L: ret;", "0>2,1 1>2 2>"},
      {"@p bra L; L: ret;", "0>1 1>"},
      {"bra L; mov.u32 u32a, 1; L: ret;", "0>2 1>2 2>"},
      {"bra.uni L; L:", "0>1 1>"},
      {"@p ret; @q exit; @r trap; ret;", "0>1 1>2 2>3 3>"},
      {"L: @p bra L;", "0>0"},
      {"L: @p bra L; ret;", "0>0,1 1>"},
      {"{ L: @p bra L; } { L: @p bra L; } ret;", "0>0,1 1>1,2 2>"},
      {"L: { L: @p bra L; } @q bra L; ret;", "0>0,1 1>0,2 2>"},
      {"bra M; { bra M; M: ret; } M: ret;", "0>3 1>2 2> 3>"},
      {"bra nowhere;", "broken"},
      {"{ L: } bra L;", "broken"},
      {"T: .branchtargets A, B, A; brx.idx u32a, T; A: ret; B: ret;", "0>1,2 1> 2>"},
      {"@p brx.idx.uni u32a, T; A: ret; B: ret; T: .branchtargets B;", "0>2,1 1> 2> 3>"},
      {"T: .branchtargets A, B; { T: .branchtargets B; brx.idx u32a, T; } A: ret; B: ret;",
       "0>2 1> 2>"},
      {"T: .branchtargets L; { brx.idx u32a, T; L: ret; } L: ret;", "0>2 1> 2>"},
      {"brx.idx u32a, T;", "broken"},
      {"call f; ret;", "0>"},
  };
  for (const Row &row : rows) {
    INFO(std::string(row.body));
    CHECK(edges(row.body) == row.edges);
  }
}

TEST_CASE("a nest of loops, one of them entered twice") {
  const auto module = parse_good(in_kernel("mov.u32 u32a, 0;"          // 0
                                           "A: add.u32 u32a, u32a, 1;" // 1: outer header
                                           "B: @p bra B;"              // 2: inner loop
                                           "@q bra A;"                 // 3: latch
                                           "@r bra D;"                 // 4
                                           "C: add.u32 u32a, u32a, 1;" // 5: C and D: two entries
                                           "D: @s bra C; ret;"));      // 6, 7
  const ControlFlowGraph cfg(*module, module->functions[0]);
  REQUIRE(cfg.blocks().size() == 8);
  REQUIRE(cfg.loops().size() == 2);
  CHECK(cfg.loops()[0].header == 1);
  CHECK(cfg.loops()[0].latches == std::vector<BlockId>{3});
  CHECK(cfg.loops()[1].header == 2);
  CHECK(cfg.loops()[1].parent == 0);
  CHECK(cfg.loops()[1].depth == 2);
  CHECK(cfg.loop_of(2) == 1);
  CHECK(cfg.loop_of(3) == 0);
  CHECK(cfg.contains(0, 2));
  CHECK(!cfg.contains(1, 3));
  CHECK(cfg.loop_of(5) == no_index);
  CHECK(cfg.irreducible(5));
  CHECK(cfg.irreducible(6));
  CHECK(!cfg.irreducible(2));
  CHECK(cfg.immediate_dominator(6) == 4);
  CHECK(cfg.blocks()[2].branch == cfg.blocks()[2].first);
}

namespace {

using Set = std::set<BlockId>;

/// What is reachable from `from` without stepping on `without`.
Set reachable(const ControlFlowGraph &cfg, BlockId from, BlockId without = no_index) {
  Set seen;
  std::vector<BlockId> work;
  if (from != without)
    work.push_back(from);
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    if (seen.insert(block).second)
      for (const BlockId next : cfg.blocks()[block].successors)
        if (next != without)
          work.push_back(next);
  }
  return seen;
}

void check_against_definitions(const ControlFlowGraph &cfg) {
  const auto count = static_cast<BlockId>(cfg.blocks().size());
  const Set live = reachable(cfg, 0);
  std::vector<Set> dominated(count); // a dominates what cannot be reached without it
  for (const BlockId a : live) {
    const Set rest = reachable(cfg, 0, a);
    for (const BlockId b : live)
      if (!rest.contains(b))
        dominated[a].insert(b);
  }
  std::map<BlockId, Set> natural; // header to the blocks of its loop
  std::set<std::pair<BlockId, BlockId>> retreating;
  for (const BlockId from : live)
    for (const BlockId to : cfg.blocks()[from].successors) {
      if (dominated[to].contains(from)) {
        Set &body = natural[to];
        body.insert(to);
        for (const BlockId b : live)
          if (dominated[to].contains(b) && (b == from || reachable(cfg, b, to).contains(from)))
            body.insert(b);
      } else if (cfg.order_of(to) <= cfg.order_of(from)) {
        retreating.emplace(from, to);
      }
    }
  REQUIRE(cfg.reverse_postorder().size() == live.size());
  REQUIRE(cfg.loops().size() == natural.size());
  for (const BlockId b : live) {
    REQUIRE(cfg.reachable(b));
    for (const BlockId a : live) {
      REQUIRE(cfg.dominates(a, b) == dominated[a].contains(b));
      // The immediate dominator is the strict dominator that all others dominate.
      if (a != b && dominated[a].contains(b))
        REQUIRE(cfg.dominates(a, cfg.immediate_dominator(b)));
    }
    if (b != 0) {
      REQUIRE(cfg.immediate_dominator(b) != b);
      REQUIRE(cfg.dominates(cfg.immediate_dominator(b), b));
    }
    std::size_t depth = 0;
    for (const auto &[header, body] : natural)
      depth += body.contains(b);
    const LoopId inner = cfg.loop_of(b);
    REQUIRE((inner == no_index ? 0 : cfg.loops()[inner].depth) == depth);
    for (LoopId loop = 0; loop < cfg.loops().size(); ++loop)
      REQUIRE(cfg.contains(loop, b) == natural[cfg.loops()[loop].header].contains(b));
  }
  // A block on a cycle through a retreating edge that is not a back edge is marked.
  for (const auto &[from, to] : retreating)
    for (const BlockId b : live)
      if (reachable(cfg, to).contains(b) && reachable(cfg, b).contains(from))
        REQUIRE(cfg.irreducible(b));
  if (retreating.empty())
    for (const BlockId b : live)
      REQUIRE(!cfg.irreducible(b));
}

} // namespace

TEST_CASE("random graphs agree with the definitions") {
  std::mt19937 random(3);
  for (int round = 0; round < 600; ++round) {
    const unsigned blocks = 2 + random() % 12;
    std::string body;
    for (unsigned b = 0; b < blocks; ++b) {
      body += fmt::format("L{}: add.u32 u32a, u32a, 1;", b);
      switch (random() % 6) {
      case 0:
        body += fmt::format("bra L{};", random() % blocks);
        break;
      case 1:
        body += fmt::format("T{0}: .branchtargets L{1}, L{2}, L{3}; brx.idx u32a, T{0};", b,
                            random() % blocks, random() % blocks, random() % blocks);
        break;
      case 2:
        break;
      default:
        body += fmt::format("@p bra L{};", random() % blocks);
      }
    }
    const auto module = parse_good(in_kernel(body));
    const ControlFlowGraph cfg(*module, module->functions[0]);
    CAPTURE(body);
    REQUIRE(cfg.well_formed());
    check_against_definitions(cfg);
  }
}

TEST_CASE("structured kernels of any size: everything natural, nothing irreducible") {
  // A ladder of nested loops and diamonds, deep enough that recursion would show.
  std::string body;
  constexpr int depth = 3000;
  for (int i = 0; i < depth; ++i)
    body +=
        fmt::format("L{0}: @p bra M{0}; add.u32 u32a, u32a, 1; M{0}: add.u32 u32a, u32a, 1;", i);
  for (int i = depth; i-- > 0;)
    body += fmt::format("@q bra L{};", i);
  const auto module = parse_good(in_kernel(body));
  const ControlFlowGraph cfg(*module, module->functions[0]);
  CHECK(cfg.loops().size() == depth);
  CHECK(cfg.loops().back().depth == depth);
}
