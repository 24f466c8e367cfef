// One behaviour, one file under golden/. The comment at its head says what it shows and what must
// come out:
//
//   // options: variant=no-load assume=no-alias max-delta=1 shuffle=auto count-declined=yes
//   widths=32 in-kernel=x2
//   // expect: loads=2 shuffles=1 copies=0 delta=-1 kept=no-source:1,store-between:1
//   assumed=no-wrap
//   // has: text that the result contains
//   // lacks: text that it does not contain
//
// rewritten/ has a file of the same name for each that is changed: all lines that the rewrite takes
// out and puts in, so that the whole text is compared. With WRITE_GOLDEN=1 in the environment these
// files are written anew, for review.

#include "golden_file.h"
#include "synth/rewrite.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace golden_test {

using namespace ptxasw::test;

namespace {

std::string kept_of(const KernelReport &kernel) {
  std::map<std::string, int> counts;
  for (const KeptRecord &kept : kernel.kept)
    ++counts[std::string(to_string(kept.reason))];
  std::string result;
  for (const auto &[reason, count] : counts)
    result += (result.empty() ? "" : ",") + reason + ":" + std::to_string(count);
  return result;
}

std::string sorted_list(const std::string &list) {
  std::vector<std::string> words;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');)
    words.push_back(word);
  std::sort(words.begin(), words.end());
  std::string result;
  for (const std::string &word : words)
    result += (result.empty() ? "" : ",") + word;
  return result;
}

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

/// What is taken out of a text and put in, so that it becomes another one: `@ 12`, the line of the
/// first where that is, and lines with `-` and `+` before them.
std::string difference(const std::string &before, const std::string &after) {
  const std::vector<std::string> from = lines_of(before), to = lines_of(after);
  // How many lines are the same from two places on, in order.
  std::vector<std::vector<unsigned>> same(from.size() + 1, std::vector<unsigned>(to.size() + 1));
  for (std::size_t i = from.size(); i-- > 0;)
    for (std::size_t j = to.size(); j-- > 0;)
      same[i][j] =
          from[i] == to[j] ? same[i + 1][j + 1] + 1 : std::max(same[i + 1][j], same[i][j + 1]);
  std::string result;
  bool inside = false;
  for (std::size_t i = 0, j = 0; i < from.size() || j < to.size();) {
    if (i < from.size() && j < to.size() && from[i] == to[j]) {
      inside = false;
      ++i, ++j;
      continue;
    }
    if (!inside)
      result += "@ " + std::to_string(i + 1) + "\n";
    inside = true;
    if (j == to.size() || (i < from.size() && same[i + 1][j] >= same[i][j + 1]))
      result += "-" + from[i++] + "\n";
    else
      result += "+" + to[j++] + "\n";
  }
  return result;
}

/// What a golden file's rewrite changes is what is expected; or that is written anew.
void compare_text(const fs::path &file, const std::string &before, const std::string &after) {
  const fs::path folder = SOURCE_DIR "/tests/synth/rewritten";
  const fs::path expected = folder / (file.stem().string() + ".diff");
  const std::string found = difference(before, after);
  if (std::getenv("WRITE_GOLDEN") == nullptr)
    CHECK(found == read(expected));
  else if (found.empty())
    fs::remove(expected);
  else
    std::ofstream(expected) << found;
}

} // namespace

TEST_CASE("golden rewrites") {
  const auto files = files_below(SOURCE_DIR "/tests/synth/golden");
  REQUIRE(files.size() > 50);
  for (const fs::path &file : files) {
    CAPTURE(file.filename().string());
    const std::string text = read(file);
    // Without its head, which repeats what is looked for.
    const std::string module = text.substr(text.find(".version"));
    const auto result = rewrite_module(module, file.string(), options_of(text));
    REQUIRE(result);
    // The kernel stands last; functions it calls come before it.
    REQUIRE(!result->report.kernels.empty());
    const KernelReport &kernel = result->report.kernels.back();
    auto expected = pairs(head(text, "expect"));
    REQUIRE(!expected.empty());
    CHECK(std::to_string(kernel.loads) == expected["loads"]);
    CHECK(std::to_string(kernel.shuffles) == expected["shuffles"]);
    CHECK(std::to_string(kernel.copies) == expected["copies"]);
    CHECK(kept_of(kernel) == sorted_list(expected["kept"]));
    if (expected.contains("delta")) {
      REQUIRE(!kernel.rewrites.empty());
      CHECK(std::to_string(kernel.rewrites[0].delta) == expected["delta"]);
    }
    CHECK(kernel.assumptions == (expected.contains("assumed")
                                     ? std::vector<std::string>{expected["assumed"]}
                                     : std::vector<std::string>{}));
    const std::string in_kernel = kernel.in_kernel ? kernel.in_kernel->variant : "";
    CHECK(in_kernel == expected["in-kernel"]);
    CHECK(result->changed == (kernel.shuffles + kernel.copies > 0 || !in_kernel.empty()));
    if (!result->changed)
      CHECK(result->text == module);
    compare_text(file, module, result->text);
    const std::string &code = result->text;
    for (const std::string &wanted : head(text, "has"))
      CHECK_MESSAGE(code.find(wanted) != std::string::npos, wanted << " is not in\n" << code);
    for (const std::string &unwanted : head(text, "lacks"))
      CHECK_MESSAGE(code.find(unwanted) == std::string::npos, unwanted << " is in\n" << code);
  }
}

TEST_CASE("no text is expected of a golden file that is gone") {
  for (const auto &entry : fs::directory_iterator(SOURCE_DIR "/tests/synth/rewritten"))
    CHECK_MESSAGE(fs::exists(fs::path(SOURCE_DIR "/tests/synth/golden") /
                             (entry.path().stem().string() + ".ptx")),
                  entry.path().string());
}

TEST_CASE("the same input gives the same output") {
  for (const fs::path &file : files_below(SOURCE_DIR "/tests/synth/golden")) {
    const std::string text = read(file);
    const auto once = rewrite_module(text, "a", options_of(text));
    const auto again = rewrite_module(text, "a", options_of(text));
    REQUIRE(once);
    CHECK(once->text == again->text);
  }
}

TEST_CASE("a module in which nothing is rewritten leaves byte-identical") {
  RewriteOptions options;
  options.shuffle = ShuffleMode::never;
  unsigned seen = 0;
  std::vector<fs::path> files = files_below(SOURCE_DIR);
  for (fs::path &trap : files_below(TRAPS_DIR))
    files.push_back(std::move(trap));
  for (const fs::path &file : files) {
    const std::string text = read(file);
    const auto result = rewrite_module(text, file.string(), options);
    if (!result)
      continue; // the malformed ones
    ++seen;
    CAPTURE(file.string());
    CHECK_FALSE(result->changed);
    CHECK(result->text == text);
  }
  CHECK(seen > 1000);
}

TEST_CASE("only the kernels asked for") {
  const std::string text = read(fs::path(SOURCE_DIR "/tests/synth/golden") / "neighbour-up.ptx");
  RewriteOptions options;
  options.shuffle = ShuffleMode::always;
  options.kernels = {"another"};
  const auto result = rewrite_module(text, "a", options);
  REQUIRE(result);
  CHECK_FALSE(result->changed);
  CHECK(result->report.kernels[0].kept[0].reason == Reason::not_selected);
}

TEST_CASE("what is no PTX is a diagnostic") {
  const auto result = rewrite_module(".version 7.0\n.target sm_70\n.entry k( {", "x.ptx", {});
  REQUIRE_FALSE(result);
  CHECK(result.error().file == "x.ptx");
  CHECK(result.error().line == 3);
}

} // namespace golden_test
