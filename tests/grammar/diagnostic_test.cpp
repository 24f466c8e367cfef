// What is malformed: line, column, message, the line itself and a caret.

#include "support.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace ptxasw;
using namespace ptxasw::test;

TEST_CASE("a diagnostic shows the line and a caret, tabs and all") {
  CHECK(parse_bad(".version 8.8\n.target sm_90\n.entry k()\n{\n\tmov.u32\t%r1, ;\n}\n") ==
        "test.ptx:5:15: error: an operand is missing\n  \tmov.u32\t%r1, ;\n  \t       \t     ^\n");
  CHECK(parse_bad("ret;\r\n") ==
        "test.ptx:1:1: error: an instruction outside of a function\n  ret;\n  ^\n");
  CHECK(parse_bad("") == "");
}

// Every file under malformed/ says in its first line `// EXPECT: line:column: message`; the message
// may be shortened to its beginning. `\0` in a name is not needed: odd bytes are in the files.
TEST_CASE("malformed modules") {
  const auto files = ptx_files("tests/grammar/malformed");
  CHECK(files.size() >= 10);
  for (const auto &path : files) {
    CAPTURE(path);
    const std::string text = read_file(path);
    const std::size_t at = text.find("// EXPECT: ");
    REQUIRE(at != std::string::npos);
    const std::string expected = text.substr(at + 11, text.find_first_of("\r\n", at) - at - 11);
    const auto module = parse(text, "test.ptx");
    REQUIRE(!module);
    const Diagnostic &error = module.error();
    const std::string found = fmt::format("{}:{}: {}", error.line, error.column, error.message);
    CHECK(found.substr(0, expected.size()) == expected);
  }
}

TEST_CASE("nesting and size have limits, not consequences") {
  const std::string head = ".version 8.8\n.target sm_90\n";
  CHECK(parse_bad(head + ".global .u32 x = " + std::string(100000, '{')).find("too deeply") !=
        std::string::npos);
  CHECK(
      parse_bad(in_kernel("mov.u32 u32a, " + std::string(100000, '(') + "1")).find("too deeply") !=
      std::string::npos);
  CHECK(parse_bad(in_kernel(std::string(900, '{') + std::string(900, '}'))) == "");
  CHECK(parse_bad(in_kernel(std::string(5000, '{'))).find("too deeply") != std::string::npos);
  std::string sum = "1";
  for (int i = 0; i < 50000; ++i)
    sum += "+1";
  CHECK(describe_in_kernel("mov.u32 u32a, " + sum + ";") == "u32a:u32 50001");
}
