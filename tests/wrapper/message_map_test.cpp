#include "wrapper/drop_in/message_map.h"

#include <doctest/doctest.h>

using namespace ptxasw::test;

TEST_CASE("messages are told in the caller's terms") {
  const std::uint32_t lines[] = {1, 1, 2, 2};
  const ReplacedModule module{"/proc/self/fd/3", "dir/in.ptx", lines};
  CHECK(translate_messages("ptxas /proc/self/fd/3, line 3; warning : what\n"
                           "ptxas info : Used 3 registers, line 3\n",
                           {module}) == "ptxas dir/in.ptx, line 2; warning : what\n"
                                        "ptxas info : Used 3 registers, line 3\n");
}

TEST_CASE("a line that ptxas cannot have seen stays") {
  const std::uint32_t lines[] = {1, 1};
  CHECK(translate_messages("ptxas fd/3, line 7; error", {{"fd/3", "in.ptx", lines}}) ==
        "ptxas in.ptx, line 7; error");
}
