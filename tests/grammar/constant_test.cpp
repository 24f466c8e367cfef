// Constant expressions. The values are those that ptxas 13.0 puts into `.global .u64 x = ...`.

#include "grammar/module.h"

#include <doctest/doctest.h>

using namespace ptxasw::test;

namespace {

/// What the expression makes of a variable; empty if it is no constant or no syntax.
std::optional<std::int64_t> value_of(std::string_view text) {
  const auto module =
      parse(".version 8.8\n.target sm_90\n.global .u64 x = " + std::string(text) + ";", "x");
  if (!module || (*module)->variables[0].values.size() != 1)
    return std::nullopt;
  const InitialValue &value = (*module)->variables[0].values[0];
  if (value.symbol != no_index || value.real_type != ScalarType::none)
    return std::nullopt;
  return static_cast<std::int64_t>(value.bits);
}

} // namespace

TEST_CASE("constant expressions have ptxas' values") {
  struct Row {
    const char *text;
    std::int64_t value;
  };
  static constexpr Row rows[] = {
      {"7 / 2", 3},
      {"-7 / 2", -3},
      {"-8 >> 1", -4},
      {"1 + 2 * 3", 7},
      {"7 & 3 == 3", 1},
      {"1 | 2 ^ 3 & 4", 3},
      {"5 > 3 > 1", 0},
      {"3 == 3 != 0", 1},
      {"1 || 0 && 0", 1},
      {"1 ? 2 : 0 ? 3 : 4", 2},
      {"3--2", 5},
      {"- - 2", 2},
      {"!5", 0},
      {"~5", -6},
      {"017", 15},
      {"0b101", 5},
      {"0X1f", 31},
      {"WARP_SZ - 33", -1},
      // Unsigned if the literal says so, does not fit, or was complemented.
      {"0xFFFFFFFFFFFFFFFF >> 60", 15},
      {"0xFFFFFFFFFFFFFFFF / 3", 6148914691236517205},
      {"(8 - 9U) >> 60", 15},
      {"~0 >> 60", 15},
      {"-1 < 0", 1},
      {"-1 < 0U", 0},
      {"-3 / 2U", 9223372036854775806},
      {"(2 - 3) / 2U", INT64_MAX},
      {"(-1 | 0) >> 60", -1},
      {"(-1 | 0U) >> 60", 15},
      {"0xFFFFFFFFFFFFFFFF == -1", 1},
      {"-1 > 0xFFFFFFFFFFFFFFFE", 1},
      {"-0x8000000000000000 >> 60", 8},
      {"(.s64)0xFFFFFFFFFFFFFFFF >> 60", -1},
      {"(.u64)-1 >> 60", 15},
      // Comparisons and logic are signed again.
      {"!0U - 2 >> 60", -1},
      {"(5U > 3) - 2 >> 60", -1},
      // ?: has the type of the side it takes, shifts that of their left side.
      {"(1 ? -1 : 2U) >> 60", -1},
      {"(0 ? -1 : 2U-3) >> 60", 15},
      {"(1U << 63) >> 63", 1},
      {"(1 << 63U) >> 63", -1},
      {"-1 >> 2U", -1},
      // Shift amounts count modulo 64; remainders are unsigned, signs or not.
      {"1 << 65", 2},
      {"1 << -1", INT64_MIN},
      {"0xFFFFFFFFFFFFFFFF >> 70", 288230376151711743},
      {"-7 % 3", 0},
      {"(.s64)-5 % 3", 2},
      {"(-9 % 5 - 100) >> 60", 15},
      // Hexadecimal and octal literals wrap.
      {"0x2000000000000000F", 15},
      {"02000000000000000000000017", 15},
  };
  for (const Row &row : rows) {
    INFO(std::string(row.text));
    CHECK(value_of(row.text) == row.value);
  }
}

TEST_CASE("what is no integer constant has no value") {
  for (const char *text :
       {"", "5 / 0", "5 % 0", "99999999999999999999", "08", "0b2", "0x", "1.5 + 2", "0f3F800000",
        "(1", "1)", "1 2", "(.u32) 5", "a + 1", "1 ? 2", "< 3", "7%3", "1 < = 2", "12abc"}) {
    INFO(std::string(text));
    CHECK(!value_of(text).has_value());
  }
}

TEST_CASE("deep nesting ends in no value, not in a crash") {
  const std::string deep(100000, '(');
  CHECK(!value_of(deep + "1"));
  CHECK(!value_of(std::string(100000, '-') + "1"));
  std::string ternary;
  for (int i = 0; i < 100000; ++i)
    ternary += "1?1:";
  CHECK(!value_of(ternary + "1"));
  std::string casts;
  for (int i = 0; i < 100000; ++i)
    casts += "(.u64)";
  CHECK(!value_of(casts + "1"));
  CHECK(value_of("((((((((((1))))))))))") == 1);
}
