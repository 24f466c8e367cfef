#include "wrapper/drop_in/command_line.h"
#include "wrapper/drop_in/options_file.h"
#include "wrapper/os/files.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>

using namespace ptxasw::test;

namespace {

using Words = std::vector<std::string>;

/// The values of all inputs.
Words inputs(const CommandLine &line) {
  Words values;
  for (const Input &input : line.inputs)
    values.push_back(line.arguments[input.argument].substr(input.prefix));
  return values;
}

} // namespace

TEST_CASE("a plain line as nvcc writes it") {
  const Words words = {"-arch=sm_90", "-m64", "in.ptx", "-o", "out.cubin"};
  const CommandLine line = parse_command_line(words);
  CHECK(line.arguments == words);
  CHECK(inputs(line) == Words{"in.ptx"});
  CHECK(line.output == "out.cubin");
  CHECK(line.target == "sm_90");
  CHECK_FALSE(line.doubt);
  CHECK_FALSE(line.changed);
}

TEST_CASE("spellings of the same option") {
  for (const Words &words : {Words{"-arch=sm_80"}, Words{"-arch", "sm_80"},
                             Words{"--gpu-name=sm_80"}, Words{"--gpu-name", "sm_80"}}) {
    CAPTURE(words.front());
    const CommandLine line = parse_command_line(words);
    CHECK(line.target == "sm_80");
    CHECK(line.inputs.empty());
  }
  CHECK(parse_command_line({"-O0"}).opt_level == "0");
  CHECK(parse_command_line({"-O=0"}).opt_level == "0");
  CHECK(parse_command_line({"--opt-level", "0"}).opt_level == "0");
  CHECK(parse_command_line({"-O", "0"}).doubt);
}

TEST_CASE("what ptxas does not take is not taken for something else") {
  CHECK(parse_command_line({"-oout", "in.ptx"}).output == std::nullopt);
  CHECK(parse_command_line({"--arch", "sm_90"}).target == "sm_75");
  CHECK(inputs(parse_command_line({"@file"})) == Words{"@file"});
}

TEST_CASE("the last repeat wins") {
  const CommandLine line =
      parse_command_line({"-o", "a", "-arch=sm_75", "x", "-o", "b", "-arch=sm_90"});
  CHECK(line.output == "b");
  CHECK(line.target == "sm_90");
}

TEST_CASE("values are not inputs") {
  CHECK(inputs(parse_command_line({"-maxrregcount", "32", "--entry", "k", "x.ptx"})) ==
        Words{"x.ptx"});
}

TEST_CASE("inputs of every kind") {
  const CommandLine line = parse_command_line({"a", "-", "-ias=TEXT", "-ias", "MORE"});
  CHECK(inputs(line) == Words{"a", "-", "TEXT", "MORE"});
  CHECK(line.inputs[1].kind == InputKind::standard_input);
  CHECK(line.inputs[2].kind == InputKind::text);
}

TEST_CASE("after an unknown option a word is an input only if there is no other") {
  CHECK(inputs(parse_command_line({"--secret", "in.ptx"})) == Words{"in.ptx"});
  CHECK(inputs(parse_command_line({"--secret", "7", "in.ptx"})) == Words{"in.ptx"});
  CHECK(inputs(parse_command_line({"--secret=7", "in.ptx"})) == Words{"in.ptx"});
  CHECK(inputs(parse_command_line({"--one", "x", "--two", "y"})).empty());
}

TEST_CASE("own options are taken out") {
  const CommandLine line =
      parse_command_line({"--ptxasw-shuffle=always", "in.ptx", "--ptxasw-verbose"});
  CHECK(line.arguments == Words{"in.ptx"});
  REQUIRE(line.own.size() == 2);
  CHECK(line.own[0].name == "shuffle");
  CHECK(line.own[0].value == "always");
  CHECK(line.own[1].name == "verbose");
  CHECK_FALSE(line.own[1].value);
  CHECK(line.changed);
}

TEST_CASE("a line that ends in the middle is left alone") {
  CHECK(parse_command_line({"x.ptx", "-o"}).doubt);
  CHECK(parse_command_line({"x.ptx", "-c=true"}).doubt);
  CHECK(parse_command_line({"x.ptx", "-optf", "/nowhere/at/all"}).doubt);
}

TEST_CASE("options files nest and may hold own options") {
  const std::string base = std::filesystem::temp_directory_path() / "ptxasw-options-XXXXXX";
  std::string directory = base;
  REQUIRE(::mkdtemp(directory.data()));
  REQUIRE(write_file_atomically(directory + "/inner", "\"in put.ptx\"\n--ptxasw-shuffle=never"));
  REQUIRE(write_file_atomically(directory + "/outer", "-v -optf=" + directory + "/inner\n"));
  const CommandLine line = parse_command_line({"-optf", directory + "/outer", "-c"});
  CHECK(line.arguments == Words{"-v", "in put.ptx", "-c"});
  CHECK(line.own.size() == 1);
  CHECK_FALSE(line.doubt);
  REQUIRE(write_file_atomically(directory + "/loop", "-optf " + directory + "/loop"));
  CHECK(parse_command_line({"-optf", directory + "/loop"}).doubt);
  std::filesystem::remove_all(directory);
}

TEST_CASE("splitting the text of an options file") {
  CHECK(split_options(" a\tb\r\nc ") == Words{"a", "b", "c"});
  CHECK(split_options("a\"b c\"d \"\"") == Words{"ab cd", ""});
  CHECK(split_options("") == Words{});
  CHECK_FALSE(split_options("\"open"));
  CHECK_FALSE(split_options("back\\slash"));
}

TEST_CASE("targets") {
  CHECK(target_number("sm_90") == 90);
  CHECK(target_number("sm_90a") == 90);
  CHECK(target_number("sm_120f") == 120);
  CHECK(target_number("compute_90") == 0);
  CHECK(target_number("lto_90") == 0);
  CHECK(target_number("sm_") == 0);
  CHECK(target_number("sm_90x") == 0);
}
