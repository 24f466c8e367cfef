#include "wrapper/drop_in/message_map.h"

#include <doctest/doctest.h>

using namespace ptxasw;

namespace {

using Lines = std::vector<std::uint32_t>;

} // namespace

TEST_CASE("equal texts map one to one") {
  CHECK(map_lines("a\nb\nc\n", "a\nb\nc\n") == Lines{1, 1, 2, 3});
}

TEST_CASE("inserted lines count as the line they stand before") {
  CHECK(map_lines("a\nb\n", "a\nX\nY\nb\n") == Lines{1, 1, 2, 2, 2});
}

TEST_CASE("changed and removed lines") {
  CHECK(map_lines("a\nb\nc\n", "a\nB\nc\n") == Lines{1, 1, 2, 3});
  CHECK(map_lines("a\nb\nc\nd\n", "a\nd\n") == Lines{1, 1, 4});
}

TEST_CASE("lines appended at the end belong to the last one") {
  CHECK(map_lines("a\n", "a\nX\n") == Lines{1, 1, 1});
}

TEST_CASE("messages are told in the caller's terms") {
  const ReplacedModule module{"/proc/self/fd/3", "dir/in.ptx", "a\nb\n", "a\nX\nb\n"};
  CHECK(translate_messages("ptxas /proc/self/fd/3, line 3; warning : what\n"
                           "ptxas info : Used 3 registers, line 3\n",
                           {module}) == "ptxas dir/in.ptx, line 2; warning : what\n"
                                        "ptxas info : Used 3 registers, line 3\n");
}
