#include "wrapper/commands/shard.h"

#include <doctest/doctest.h>

using namespace ptxasw::test;

TEST_CASE("shards follow one another without gaps and are of nearly one size") {
  for (const std::size_t total : {0u, 1u, 5u, 63u, 64u, 65u, 1'000'000u})
    for (const std::uint32_t count : {1u, 2u, 3u, 64u, 1000u}) {
      std::size_t next = 0;
      for (std::uint32_t number = 1; number <= count; ++number) {
        const auto [begin, end] = Shard{number, count}.range(total);
        CHECK(begin == next);
        CHECK(end - begin >= total / count);
        CHECK(end - begin <= total / count + 1);
        next = end;
      }
      CHECK(next == total);
    }
  const auto [begin, end] = Shard{4'000'000'000, 4'000'000'000}.range(~std::size_t{0});
  CHECK(end == ~std::size_t{0});
  CHECK(begin < end);
}

TEST_CASE("what is no shard is refused") {
  CHECK(parse_shard("3/64"));
  CHECK(parse_shard("3/64")->number == 3);
  CHECK(parse_shard("3/64")->count == 64);
  for (const char *text : {"", "/", "3", "3/", "/3", "0/3", "4/3", "1/0", "-1/3", "1/3 ", " 1/3",
                           "1/3/3", "+1/3", "a/b", "4294967296/4294967297"})
    CHECK_FALSE(parse_shard(text));
}
