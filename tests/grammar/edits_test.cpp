// Losslessness: what lies between tokens plus the tokens is the text, and edits touch nothing else.

#include "grammar/edits.h"
#include "support.h"

#include <doctest/doctest.h>

#include <random>

using namespace ptxasw::test;

TEST_CASE("no edits, no change") {
  for (const std::string text : {"", "\n", "// x", "\r\n\t", "abc"})
    CHECK(Edits().apply(text) == text);
}

TEST_CASE("insertions keep their order and come before a replacement of the same place") {
  Edits edits;
  edits.replace({2, 4}, "XY!");
  edits.insert(2, "1");
  edits.insert(0, "<");
  edits.insert(2, "2");
  edits.insert(6, ">");
  CHECK(edits.apply("abcdef") == "<ab12XY!ef>");
  CHECK(!edits.empty());
}

TEST_CASE("edits that meet in a byte are refused") {
  const auto of = [](std::vector<Span> spans) {
    Edits edits;
    for (const Span &span : spans)
      edits.replace(span, "x");
    return edits.apply("abcdef");
  };
  CHECK(of({{0, 2}, {2, 4}}) == "xxef");
  CHECK(of({{2, 4}, {2, 2}, {4, 4}}) == "abxxxef");
  CHECK(!of({{0, 3}, {2, 4}}));
  CHECK(!of({{1, 3}, {1, 3}}));
  CHECK(!of({{1, 3}, {2, 2}}));
  CHECK(!of({{1, 5}, {2, 3}}));
  CHECK(!of({{4, 7}}));
  CHECK(!of({{3, 2}}));
}

TEST_CASE("every line of the result knows where it comes from") {
  const std::string text = "a\nb\nc\nd\n";
  using Lines = std::vector<std::uint32_t>;
  const auto of = [&](std::vector<std::pair<Span, std::string>> changes) {
    Edits edits;
    for (auto &[span, with] : changes)
      edits.replace(span, with);
    REQUIRE(edits.apply(text));
    return edits.lines(text);
  };
  CHECK(of({}) == Lines{1, 1, 2, 3, 4, 5}); // the last is empty
  CHECK(of({{{2, 2}, "X\nY\n"}}) == Lines{1, 1, 2, 2, 2, 3, 4, 5});
  CHECK(of({{{2, 3}, "X"}}) == Lines{1, 1, 2, 3, 4, 5});
  CHECK(of({{{2, 3}, "X\nY"}}) == Lines{1, 1, 2, 2, 3, 4, 5});
  CHECK(of({{{2, 6}, ""}}) == Lines{1, 1, 4, 5});
  CHECK(of({{{2, 6}, "X\n"}}) == Lines{1, 1, 2, 4, 5});
  CHECK(of({{{8, 8}, "X\n"}}) == Lines{1, 1, 2, 3, 4, 5, 5});
}

TEST_CASE("random edits leave every other byte alone") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string text(50, ' ');
    for (char &c : text)
      c = random() % 6 ? static_cast<char>('a' + random() % 26) : '\n';
    // Non-overlapping replacements in any order, against a replacement from the back.
    std::vector<std::pair<Span, std::string>> changes;
    for (std::uint32_t at = random() % 5; at < 50; at += random() % 9 + 1) {
      const Span span{at, std::min<std::uint32_t>(50, at + random() % 4)};
      changes.push_back({span, std::string(random() % 3, random() % 2 ? '#' : '\n')});
      at = span.end;
    }
    std::string expected = text;
    for (auto change = changes.rbegin(); change != changes.rend(); ++change)
      expected.replace(change->first.begin, change->first.size(), change->second);
    std::shuffle(changes.begin(), changes.end(), random);
    Edits edits;
    for (auto &[span, with] : changes)
      edits.replace(span, with);
    CHECK(edits.apply(text) == expected);
    // Lines go up, and there is one for each.
    const auto lines = edits.lines(text);
    CHECK(lines.size() == 2 + std::count(expected.begin(), expected.end(), '\n'));
    CHECK(std::is_sorted(lines.begin(), lines.end()));
  }
}

TEST_CASE("instruction spans, replaced by themselves, give every module back") {
  for (const auto &path : ptx_files("")) {
    const std::string text = read_file(path);
    const auto module = parse(text, path.string());
    if (!module)
      continue; // malformed/ is another test's matter
    CAPTURE(path);
    CHECK((*module)->text() == text);
    Edits edits;
    std::uint32_t end = 0;
    bool in_order = true;
    for (const Function &function : (*module)->functions)
      for (const Instruction &instruction : function.instructions) {
        in_order &= instruction.span.begin >= end && instruction.span.begin < instruction.span.end;
        end = instruction.span.end;
        edits.replace(instruction.span, std::string((*module)->text(instruction.span)));
      }
    CHECK(in_order);
    CHECK(edits.apply(text) == text);
  }
}
