// What is malformed: line, column, message, the line itself and a caret.

#include "support.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace ptxasw::test;

TEST_CASE("a diagnostic shows the line and a caret, tabs and all") {
  CHECK(parse_bad(".version 8.8\n.target sm_90\n.entry k()\n{\n\tmov.u32\t%r1, ;\n}\n") ==
        "test.ptx:5:15: error: an operand is missing\n  \tmov.u32\t%r1, ;\n  \t       \t     ^\n");
  CHECK(parse_bad("ret;\r\n") ==
        "test.ptx:1:1: error: an instruction outside of a function\n  ret;\n  ^\n");
  CHECK(parse_bad("") == "");
}

TEST_CASE("a diagnostic sends nothing to the terminal that is no text") {
  const auto shown = [](std::string line, std::uint32_t column) {
    return format(Diagnostic{"f", 1, column, "m", std::move(line)});
  };
  CHECK(shown("\x7f"
              "ELF\x02\x1b[2J",
              5) == "f:1:5: error: m\n  \\x7fELF\\x02\\x1b[2J\n         ^\n");
  CHECK(shown("\xff\xc3\xa9", 2) == "f:1:2: error: m\n  \\xff\\xc3\\xa9\n      ^\n");
  CHECK(shown("// gr\xc3\xb6\xc3\x9f"
              "e !",
              12) == "f:1:12: error: m\n  // gr\xc3\xb6\xc3\x9f"
                     "e !\n           ^\n");
  const std::string far = shown(std::string(5000, 'a') + "!" + std::string(5000, 'b'), 5001);
  CHECK(far == "f:1:5001: error: m\n  ..." + std::string(90, 'a') + "!" + std::string(59, 'b') +
                   "...\n     " + std::string(90, ' ') + "^\n");
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
