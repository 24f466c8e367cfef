#include "wrapper/drop_in/resources.h"

#include <doctest/doctest.h>

using namespace ptxasw::test;

TEST_CASE("what ptxas -v says") {
  const auto functions =
      parse_resources("ptxas info    : 0 bytes gmem\n"
                      "ptxas info    : Function properties for f\n"
                      "    200 bytes stack frame, 52 bytes spill stores, 56 bytes spill loads\n"
                      "ptxas info    : Compile time = 25.985 ms\n"
                      "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
                      "ptxas info    : Function properties for k\n"
                      "    400 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                      "ptxas info    : Used 6 registers, used 1 barriers, 400 bytes cumulative "
                      "stack size, 256 bytes "
                      "smem, 360 bytes cmem[0]\n"
                      "ptxas info    : Compile time = 1.162 ms\n"
                      "ptxas info    : Function properties for last\n"
                      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                      "ptxas info    : Used 255 registers, used 0 barriers");
  REQUIRE(functions.size() == 3);
  const Resources &f = functions.at("f"), &k = functions.at("k"), &last = functions.at("last");
  CHECK_FALSE(f.registers);
  CHECK((f.stack == 200 && f.spill_stores == 52 && f.spill_loads == 56));
  CHECK(k.registers == 6);
  CHECK((k.stack == 400 && k.spill_stores == 0 && k.shared == 256));
  CHECK(last.registers == 255);
  CHECK(last.shared == 0);
}

TEST_CASE("other messages say nothing") {
  CHECK(parse_resources("").empty());
  CHECK(parse_resources("ptxas warning : Used 3 registers\n    bytes stack frame\n").empty());
}
