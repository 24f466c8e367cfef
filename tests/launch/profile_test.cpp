#include "wrapper/launch/profile.h"

#include <doctest/doctest.h>

using namespace ptxasw::wrapper::launch;

namespace {

ProfileEntry entry(const std::string &kernel, std::uint32_t threads, const std::string &chosen) {
  ProfileEntry result;
  result.kernel = kernel;
  result.hash = "00000000000000aa";
  result.gpu = "GPU \"one\"\\two";
  result.shape = {{32, 8, 1}, threads, {"a", "b"}};
  result.chosen = chosen;
  result.original_us = 12.5;
  result.chosen_us = 6.25;
  return result;
}

} // namespace

TEST_CASE("what is written is read back, in an order of its own") {
  const Profile one{{entry("z", 20, "a"), entry("k", 21, "original"), entry("k", 20, "b")}};
  const Profile other{{one.entries[2], one.entries[0], one.entries[1]}};
  CHECK(to_toml(one) == to_toml(other));
  const auto read = parse_profile(to_toml(one), "p");
  REQUIRE(read);
  CHECK(to_toml(*read) == to_toml(one));
  const std::vector<std::string> both{"a", "b"};
  const ProfileEntry *found =
      read->find("00000000000000aa", one.entries[0].gpu, {{32, 8, 1}, 21, {"a", "b"}}, both);
  REQUIRE(found);
  CHECK(found->chosen == "original");
  CHECK(found->original_us == 12.5);
  CHECK(!read->find("00000000000000ab", one.entries[0].gpu, one.entries[0].shape, both));
  CHECK(!read->find("00000000000000aa", "another", one.entries[0].shape, both));
  CHECK(!read->find("00000000000000aa", one.entries[0].gpu, {{32, 8, 1}, 21, {"a"}}, both));
  CHECK(parse_profile(to_toml({}), "p")->entries.empty());
}

TEST_CASE("numbers among the arguments keep entries apart") {
  Profile profile{{entry("k", 20, "a"), entry("k", 20, "b")}};
  profile.entries[1].shape.numbers = {{2, 11}, {3, 0}};
  const auto read = parse_profile(to_toml(profile), "p");
  REQUIRE(read);
  CHECK(to_toml(*read) == to_toml(profile));
  for (const ProfileEntry &one : profile.entries) {
    const ProfileEntry *const found = read->find(one.hash, one.gpu, one.shape, one.shape.among);
    REQUIRE(found);
    CHECK(found->chosen == one.chosen);
  }
}

TEST_CASE("graphs may run another version") {
  ProfileEntry one = entry("k", 20, "b");
  one.in_graphs = "a";
  auto read = parse_profile(to_toml({{one}}), "p");
  REQUIRE(read);
  CHECK(read->entries[0].in_graphs == "a");
  CHECK(parse_profile(to_toml({{entry("k", 20, "b")}}), "p")->entries[0].in_graphs == "original");
  CHECK(read->winners(one.hash) == std::vector<std::string>{"a", "b"});
  one.chosen = "original"; // they are all that way then
  CHECK(parse_profile(to_toml({{one}}), "p")->entries[0].in_graphs == "original");
  one.chosen = "b";
  one.in_graphs = "c";
  read = parse_profile(to_toml({{one}}), "p");
  REQUIRE_FALSE(read);
  CHECK(read.error().find("`c` is chosen and not in `among`") != std::string::npos);
}

TEST_CASE("a module that lacks what lost is found all the same") {
  const auto find = [](const Profile &profile, std::vector<std::string> among,
                       const std::vector<std::string> &siblings) {
    const ProfileEntry *found = profile.find("00000000000000aa", entry("k", 20, "a").gpu,
                                             {{32, 8, 1}, 20, std::move(among)}, siblings);
    return found ? found->chosen : std::string("none");
  };
  const Profile one{{entry("k", 20, "a")}}; // among a and b
  CHECK(find(one, {"a", "b"}, {"a", "b"}) == "a");
  CHECK(find(one, {"a"}, {"a"}) == "a");         // built without b
  CHECK(find(one, {"a"}, {"a", "b"}) == "none"); // b is there and may not be launched: not measured
  Profile two = one;
  two.entries.push_back(entry("k", 20, "original"));
  two.entries[1].shape.among = {"a"};
  CHECK(find(two, {"a"}, {"a", "b"}) == "original");
  CHECK(find(two, {"a"}, {"a"}) == "none"); // two entries become one and disagree
}

TEST_CASE("profiles merge, and the later one counts") {
  Profile first{{entry("k", 20, "a"), entry("k", 21, "a")}};
  first.merge({{entry("k", 21, "original"), entry("k", 22, "b")}});
  REQUIRE(first.entries.size() == 3);
  CHECK(first.entries[0].chosen == "a");
  CHECK(first.entries[1].chosen == "original");
  CHECK(first.entries[2].chosen == "b");
  // Nobody goes on with what was measured before a number was seen to matter, on that GPU.
  first.entries[0].open = first.entries[1].open = {{1}, {1}};
  first.entries[1].gpu = "another";
  ProfileEntry with_number = entry("k", 25, "a");
  with_number.shape.numbers = {{2, 10}};
  first.merge({{with_number}});
  REQUIRE(first.entries.size() == 3);
  CHECK(first.entries[0].gpu == "another");
  CHECK(first.entries[1].chosen == "b");
  CHECK(first.entries[2].shape.numbers == with_number.shape.numbers);
}

TEST_CASE("what speaks against a choice is kept, and what was given up long ago gives way") {
  ProfileEntry suspect = entry("k", 20, "a"), reverted = entry("k", 21, "original");
  suspect.pairs_us = {4.5, 12.25};
  reverted.reverted_runs = longest_reverted - 1;
  auto read = parse_profile(to_toml(Profile{{suspect, reverted}}), "p");
  REQUIRE(read);
  CHECK(read->entries[0].pairs_us == suspect.pairs_us);
  CHECK(read->entries[0].reverted_runs == 0);
  CHECK(read->entries[1].pairs_us[0] == 0);
  CHECK(read->entries[1].reverted_runs == reverted.reverted_runs);
  ProfileEntry open = entry("k", 21, "original");
  open.open = {{12.5}, {}, {}};
  read->merge({{open}});
  CHECK(read->entries[1].open.empty());
  read->entries[1].reverted_runs = longest_reverted;
  read->merge({{open}});
  CHECK(read->entries[1].open == open.open);
  CHECK(read->entries[1].reverted_runs == 0);
}

TEST_CASE("a build asks which siblings won anywhere") {
  const Profile profile{
      {entry("k", 20, "b"), entry("k", 21, "original"), entry("k", 22, "a"), entry("k", 23, "b")}};
  CHECK(profile.winners("00000000000000aa") == std::vector<std::string>{"a", "b"});
  CHECK(profile.winners("00000000000000bb").empty());
  CHECK(profile.outdated("k", "00000000000000bb"));
  CHECK(!profile.outdated("k", "00000000000000aa"));
  CHECK(!profile.outdated("other", "00000000000000bb"));
}

TEST_CASE("what is no profile is named with its place") {
  const std::string good = to_toml({{entry("k", 20, "a")}});
  const auto error = [](const std::string &text) {
    const auto read = parse_profile(text, "file");
    REQUIRE(!read);
    return read.error();
  };
  const auto with = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return error(text.replace(at, from.size(), to));
  };
  CHECK(error("") == "file: no profile of version 1: `version` says otherwise");
  CHECK(error("version = 2") == "file: no profile of version 1: `version` says otherwise");
  CHECK(error("version = ").substr(0, 7) == "file:1:");
  CHECK(error("version = 1\nchoice = 3") == "file:2:10: `choice` must be a list of tables");
  CHECK(error("version = 1\nchoice = [3]") == "file:2:11: `choice` must be a list of tables");
  for (const auto &[from, to, words] :
       {std::tuple{"kernel = \"k\"", "", "`kernel` must be a text"},
        {"[32, 8, 1]", "[32, 8]", "`block` must be three numbers from 1 to 1024"},
        {"[32, 8, 1]", "[32, 8, 1025]", "`block` must be three numbers from 1 to 1024"},
        {"[32, 8, 1]", "[0, 8, 1]", "`block` must be three numbers from 1 to 1024"},
        {"threads = 20", "threads = -1", "`threads` must be a number from 0 to 95"},
        {"threads = 20", "threads = 1e99", "`threads` must be a number from 0 to 95"},
        {"threads = 20", "threads = 20\npairs_us = 3", "`pairs_us` must be a sum"},
        {"threads = 20", "threads = 20\npairs_us = [3.0]", "`pairs_us` must be a sum"},
        {"threads = 20", "threads = 20\npairs_us = [3.0, -1.0]", "`pairs_us` must be a sum"},
        {"threads = 20", "threads = 20\npairs_us = [3.0, nan]", "`pairs_us` must be a sum"},
        {"threads = 20", "threads = 20\nreverted_runs = -1", "`reverted_runs` must be a number"},
        {"threads = 20", "threads = 20\nnumbers = 3", "`numbers` must hold pairs"},
        {"threads = 20", "threads = 20\nnumbers = [3]", "`numbers` must hold pairs"},
        {"threads = 20", "threads = 20\nnumbers = [[3, 65]]", "`numbers` must hold pairs"},
        {"threads = 20", "threads = 20\nnumbers = [[-1, 6]]", "`numbers` must hold pairs"},
        {"[\"a\", \"b\"]", "[3]", "`among` must be a list of texts"},
        {"[\"a\", \"b\"]", "3", "`among` must be a list of texts"},
        {"chosen = \"a\"", "chosen = \"c\"", "`c` is chosen and not in `among`"},
        {"12.500", "nan", "`original_us` must be a time in microseconds"},
        {"12.500", "-3", "`original_us` must be a time in microseconds"}}) {
    const std::string said = with(from, to);
    CHECK_MESSAGE(said.find(words) != std::string::npos, said);
    CHECK(said.substr(0, 5) == "file:");
  }
}

TEST_CASE("a race that is open is read back, and decides nothing") {
  ProfileEntry open = entry("k", 20, "b");
  open.open = {{12.5, 12.25}, {}, {7.5}};
  open.budget_us = -3.5;
  open.in_runs = true;
  const auto read = parse_profile(to_toml(Profile{{open}}), "p");
  REQUIRE(read);
  CHECK(read->entries[0].open == open.open);
  CHECK(read->entries[0].budget_us == -3.5);
  CHECK(read->entries[0].in_runs);
  CHECK(read->winners(open.hash).empty());
  const std::vector<std::string> both{"a", "b"};
  CHECK(read->find(open.hash, open.gpu, open.shape, both));
  CHECK(!read->find(open.hash, open.gpu, {{32, 8, 1}, 20, {"b"}}, {"b"})); // measured among others
  Profile all{{entry("k", 20, "a")}};
  all.merge(*read);
  CHECK(all.entries[0].open.empty());
  Profile later = *read;
  later.merge(Profile{{entry("k", 20, "a")}});
  CHECK(later.entries[0].open.empty());
  std::string text = to_toml(*read);
  text.replace(text.find("[7.500]"), 7, "[-7.50]");
  CHECK(!parse_profile(text, "p"));
}
