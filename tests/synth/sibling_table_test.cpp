// The table of siblings says what was put in, refuses what it does not know, and is PTX.

#include "grammar/sibling_table.h"

#include "grammar/module.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

namespace sibling_table_test {

using namespace ptxasw::test;

namespace {

SiblingTable example() {
  SiblingTable table;
  table.kernel = "_Z4axpyPfPKffi";
  table.hash = "0123456789abcdef";
  table.parameters = {{0, 8}, {8, 8}, {16, 4}, {20, 4}};
  Sibling apart;
  apart.name = "_Z4axpyPfPKffi__ptxasw_retile_apart_x4";
  apart.family = "retile";
  apart.kind = "apart";
  apart.grid = {4, 1, 1};
  apart.appended = {'x'};
  Sibling wide = apart;
  wide.kind = "wide";
  wide.needs.blocks = {{256, 1, 1}, {512, 1, 1}};
  wide.needs.max_block = 512;
  wide.needs.dynamic_shared = 4;
  wide.needs.aligned = {{0, 0, 16}, {1, 0, 16}};
  wide.needs.divisible = {{3, 0, 4, 4}};
  wide.needs.covered = {{2, 0, 1, 1, 2}, {1, 0, 0, 0, 3, 8}};
  wide.needs.bounded = {{{{1, {{false, 2, 0}, {true, 1, 0}}}, {5, {}}}}, {{{3, {{true, 0, 0}}}}}};
  wide.needs.min_grid = {264, 1, 1};
  wide.needs.max_extent = {0x7fffffff, ~0u, ~0u};
  Sibling neighbours = apart;
  neighbours.kind = "neighbours";
  neighbours.grid = {1, 1, 1};
  neighbours.block = {1, 4, 1};
  neighbours.appended = {};
  Sibling resized = apart;
  resized.family = "resize";
  resized.kind = "b64";
  resized.grid = {1, 1, 1};
  resized.extent = {64, 0, 0};
  resized.appended_blocks = {'x'};
  resized.needs.extent_multiple = {64, 1, 1};
  Sibling reshaped;
  reshaped.name = "_Z4axpyPfPKffi__ptxasw_block_8x32";
  reshaped.family = "block";
  reshaped.kind = "8x32";
  reshaped.own_code = true;
  reshaped.extent = {8, 32, 0};
  reshaped.needs.extent_multiple = {8, 32, 1};
  Sibling both = wide;
  both.name += "_in_128x1";
  both.code_of = wide.name;
  both.extent = {128, 1, 0};
  both.needs.extent_multiple = {128, 1, 1};
  Sibling tall = neighbours;
  tall.name += "_tall";
  tall.tall = true;
  Sibling of_rows = tall;
  of_rows.name += "_in_32x4";
  of_rows.code_of = tall.name;
  of_rows.extent = {128, 1, 0};
  of_rows.rows = 4;
  of_rows.needs.extent_multiple = {128, 1, 1};
  table.any_order = true;
  table.siblings = {apart, wide, neighbours, resized, reshaped, tall, of_rows, both};
  return table;
}

std::string with_text(std::string_view text) {
  std::string bytes(sibling_table_magic);
  bytes += std::string_view("\2\0\0\0", 4);
  for (unsigned i = 0; i < 4; ++i)
    bytes += static_cast<char>(text.size() >> 8 * i & 0xff);
  return bytes + std::string(text);
}

/// The number of siblings that are left of one with these words in place of its needs.
std::size_t left_with(std::string_view needs, std::string_view more = "",
                      std::string_view optional = "") {
  const auto table = decode(with_text(
      fmt::format(R"({{"kernel": "k", "hash": "0123456789abcdef", "parameters": [[0, 8], [8, 4]],
                      "siblings": [{{"name": "a", "family": "f", "kind": "k", "grid": [2, 1, 1],
                                     "append": ["grid.x"], {} "needs": {}}}], "optional": [{}]}})",
                  more, needs, optional)));
  REQUIRE(table.has_value());
  return table->siblings.size();
}

} // namespace

TEST_CASE("what is read is what was written") {
  const SiblingTable table = example();
  const std::string bytes = encode(table);
  CHECK(sibling_table_size(bytes.substr(0, sibling_table_head)) == bytes.size());
  const auto back = decode(bytes);
  REQUIRE(back.has_value());
  CHECK(*back == table);
  // What the linker puts after an array is not part of it.
  CHECK(decode(bytes + std::string(7, '\0')).has_value());
}

TEST_CASE("the declaration is PTX and holds the bytes") {
  const SiblingTable table = example();
  const auto module =
      parse(".version 8.0\n.target sm_80\n.address_size 64\n" + declaration(table), "table.ptx");
  REQUIRE(module.has_value());
  REQUIRE((*module)->variables.size() == 1);
  const Variable &variable = (*module)->variables[0];
  CHECK(variable.name == table.kernel + std::string(sibling_table_suffix));
  CHECK(variable.alignment == 8);
  std::string bytes;
  for (const InitialValue &value : variable.values)
    bytes += static_cast<char>(value.bits);
  CHECK(bytes.size() == variable.count);
  CHECK(bytes == encode(table));
}

TEST_CASE("what is no table is refused") {
  const std::string bytes = encode(example());
  for (std::size_t length = 0; length < bytes.size(); length += 3)
    CHECK_FALSE(decode(bytes.substr(0, length)).has_value());
  std::string other = bytes;
  other[0] = 'p';
  CHECK(decode(other).error() == "not a table of siblings");
  other = bytes;
  other[8] = 3;
  CHECK(decode(other).error() == "version 3 is not known");
  other = bytes;
  other[15] = '\x7f';
  CHECK(decode(other).error() == "the table is cut off");
  CHECK(decode(with_text("[]")).error() == "the table's text is not JSON");
  CHECK(decode(with_text("{")).error() == "the table's text is not JSON");
  CHECK(decode(with_text("{}")).error() == "no \"kernel\"");
  CHECK_FALSE(decode(with_text(R"({"kernel": 1, "hash": "", "parameters": [], "siblings": []})"))
                  .has_value());
}

TEST_CASE("a sibling with needs that are not understood does not exist") {
  CHECK(left_with("{}") == 1);
  CHECK(left_with(R"({"cooperative": false, "cluster": false, "max_block": 1024})") == 1);
  for (const char *needs : {"[]",
                            "1",
                            R"({"cooperative": true})",
                            R"({"cluster": 1})",
                            R"({"max_block": 0})",
                            R"({"max_block": -1})",
                            R"({"max_block": 4294967296})",
                            R"({"max_block": 1.5})",
                            R"({"block": []})",
                            R"({"block": [[1, 2]]})",
                            R"({"block": [[0, 1, 1]]})",
                            R"({"dynamic_shared": "times:0"})",
                            R"({"dynamic_shared": "times:"})",
                            R"({"dynamic_shared": "times:12345"})",
                            R"({"dynamic_shared": 2})",
                            R"({"dynamic_shared": "some"})",
                            R"({"align": [[0, 0, 3]]})",
                            R"({"align": [[0, 1, 16]]})",
                            R"({"align": [[0, 4294967288, 16]]})", // the end is beyond 32 bits
                            R"({"align": [[1, 0, 16]]})",
                            R"({"align": [[2, 0, 16]]})",
                            R"({"align": [16]})",
                            R"({"divisible": [[1, 0, 4, 0]]})",
                            R"({"divisible": [[1, 0, 3, 2]]})",
                            R"({"divisible": [[1, 0, 8, 2]]})",
                            R"({"divisible": {}})",
                            R"({"covered": [[1, 0, 3, 0, 0]]})",
                            R"({"covered": [[1, 1, 0, 0, 0]]})",
                            R"({"covered": [[2, 0, 0, 0, 0]]})",
                            R"({"covered": [[1, 0, 0, 0]]})",
                            R"({"covered": [[1, 0, 0, 0, 0, 2]]})",
                            R"({"covered": [[1, 0, 0, 0, 0, 8]]})", // which has 4 bytes
                            R"({"covered": [[0, 0, 0, 0, 0, 8, 0]]})",
                            R"({"min_grid": [0, 1, 1]})",
                            R"({"extent_multiple": [0, 1, 1]})",
                            R"({"extent_multiple": [2, 1]})",
                            R"({"bounded": 7})",
                            R"({"bounded": [7]})",
                            R"({"bounded": [[7]]})",
                            R"({"bounded": [[[]]]})",
                            R"({"bounded": [[["x"]]]})",
                            R"({"bounded": [[[-1, "x"]]]})",
                            R"({"bounded": [[[1, "w"]]]})",
                            R"({"bounded": [[[1, ""]]]})",
                            R"({"bounded": [[[1, [1]]]]})",
                            R"({"bounded": [[[1, [2, 0]]]]})",
                            R"({"bounded": [[[1, [1, 1]]]]})",
                            R"({"phase_of_the_moon": "full"})"}) {
    CAPTURE(needs);
    CHECK(left_with(needs) == 0);
  }
  CHECK(left_with("{}", R"("grid": [0, 1, 1],)") == 0);
  CHECK(left_with("{}", R"("append": ["grid.w"],)") == 0);
  CHECK(left_with("{}", R"("append": ["blocks.x"],)") == 0);
  CHECK(left_with("{}", R"("append": ["block.x"],)") == 1);
  CHECK(left_with("{}", R"("append": ["block.x", "grid.x"],)") == 0);
  CHECK(left_with("{}", R"("append": ["."],)") == 0);
  CHECK(left_with("{}", R"("extent": [0, 64, 0],)") == 1);
  CHECK(left_with("{}", R"("extent": [64, 0, 0],)") == 0); // it divides the grid there
  CHECK(left_with("{}", R"("extent": [64, 0],)") == 0);
  // The kernel's own code has the kernel's parameters, and no threads to spare.
  const char *const own =
      R"("grid": [1, 1, 1], "append": [], "code": "kernel", "extent": [64, 2, 0],)";
  CHECK(left_with(R"({"extent_multiple": [64, 2, 1]})", own) == 1);
  CHECK(left_with(R"({"extent_multiple": [64, 1, 1]})", own) == 0);
  CHECK(left_with(R"({"extent_multiple": [64, 2, 2]})", own) == 0);
  CHECK(left_with("{}", own) == 0);
  CHECK(left_with(R"({"extent_multiple": [64, 2, 1], "dynamic_shared": "none"})", own) == 0);
  CHECK(left_with(R"({"extent_multiple": [64, 2, 1]})",
                  std::string(own) + R"("append": ["grid.x"],)") == 0);
  CHECK(left_with(R"({"extent_multiple": [64, 2, 1]})", std::string(own) + R"("code": "other",)") ==
        0);
  CHECK(left_with(R"({"extent_multiple": [64, 2, 1]})",
                  R"("code": "kernel", "extent": [0, 2, 0],)") == 0);
  CHECK(left_with(R"({"bounded": [[[1, [1, 0], "x"], [5]], []]})") == 1);
  // Rows are for those that may have them, in place of blocks of one row.
  CHECK(left_with("{}", R"("tall": true,)") == 1);
  CHECK(left_with("{}", R"("tall": 1,)") == 0);
  CHECK(left_with("{}", R"("tall": true, "rows": 2,)") == 0);
  CHECK(left_with("{}", R"("rows": 1,)") == 1);
  CHECK(left_with("{}", R"("rows": 0,)") == 0);
  for (const auto &change :
       {+[](Sibling &s) { s.tall = false; }, +[](Sibling &s) { s.rows = 0; },
        +[](Sibling &s) { s.extent[1] = 0; }, +[](Sibling &s) { s.extent[1] = 2; },
        +[](Sibling &s) { s.code_of.clear(); }}) {
    SiblingTable of_rows = example();
    change(of_rows.siblings[6]);
    CHECK(decode(encode(of_rows))->siblings.size() == of_rows.siblings.size() - 1);
  }
  // They are for the code that is launched, and so are the parameters that it gets.
  for (const auto &change :
       {+[](Sibling &s) { s.tall = false; }, +[](Sibling &s) { s.appended = {'y'}; },
        +[](Sibling &s) { s.appended_blocks = {'y'}; }}) {
    SiblingTable of_rows = example();
    change(of_rows.siblings[5]);
    CHECK(decode(encode(of_rows))->siblings.size() == of_rows.siblings.size() - 1);
  }
  // Another sibling's may divide what is given, but it has no threads to spare either.
  SiblingTable table = example();
  const std::size_t all = table.siblings.size();
  Sibling &both = table.siblings.back();
  both.needs.extent_multiple = {64, 1, 1}; // in blocks of 128
  CHECK(decode(encode(table))->siblings.size() == all - 1);
  both.needs.extent_multiple = {384, 1, 3};
  CHECK(decode(encode(table))->siblings.size() == all);
  for (const Sibling &none : {both, table.siblings[4]}) { // neither has code of its own
    both.code_of = none.name;
    CHECK(decode(encode(table))->siblings.size() == all - 1);
  }
  CHECK(left_with("{}", R"("gain": 1.5,)") == 0);
  CHECK(left_with("{}", R"("gain": 1.5,)", R"("gain")") == 1);
  CHECK(left_with(R"({"gain": 1.5})", "", R"("gain")") == 1);
}

} // namespace sibling_table_test
