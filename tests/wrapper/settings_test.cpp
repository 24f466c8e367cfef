#include "wrapper/settings/settings.h"
#include "wrapper/settings/suggest.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace ptxasw::test;

namespace {

tl::expected<void, std::string> flag(Settings &settings, std::string_view name,
                                     std::string_view value) {
  return apply_setting(settings, name, value, Origin::flag, name);
}

} // namespace

TEST_CASE("every setting takes what it shows") {
  Settings settings;
  for (const SettingSpec &spec : setting_table()) {
    CAPTURE(spec.name);
    CHECK(flag(settings, spec.name, spec.get(settings)));
  }
}

TEST_CASE("commas in brackets are a kernel's own") {
  Settings settings;
  CHECK(flag(settings, "kernel", "f<int, 4>(float*, int),g+h"));
  CHECK(settings.rewrite.kernels == std::vector<std::string>{"f<int, 4>(float*, int)", "g", "h"});
  CHECK_FALSE(flag(settings, "kernel", "g,,h"));
}

TEST_CASE("impossible values are refused") {
  Settings settings;
  for (const auto &[wrong, words] : {std::pair{"shuffle", "sometimes"},
                                     {"variant", ""},
                                     {"max-delta", "32"},
                                     {"max-delta", "-1"},
                                     {"max-delta", "3x"},
                                     {"widths", "128"},
                                     {"widths", ""},
                                     {"assume", "no-bugs"},
                                     {"assume-block", "0"},
                                     {"assume-block", "64x"},
                                     {"in-kernel", "x3"},
                                     {"assume-block", "64x4x1x1"},
                                     {"assume-block", "xx"},
                                     {"assume-block", "64x 4"},
                                     {"assume-block", "1025"},
                                     {"assume-block", "64x32"},
                                     {"assume-block", "1x1x65"},
                                     {"verbose", "perhaps"},
                                     {"inject-fault", "fire"}}) {
    const std::string name = wrong, value = words; // clang 14 captures no binding
    CAPTURE(name);
    CAPTURE(value);
    CHECK_FALSE(flag(settings, name, value));
  }
}

TEST_CASE("the shape of a block") {
  Settings settings;
  for (const auto &[given, shown] :
       {std::pair{"256", "256x1x1"}, {"16x16", "16x16x1"}, {"8x8x4", "8x8x4"}, {"", ""}}) {
    REQUIRE(flag(settings, "assume-block", given));
    const std::string wanted = std::string(" assume-block=") + (*shown ? shown : "-") + " ";
    CHECK(describe_configuration(settings).find(wanted) != std::string::npos);
  }
}

TEST_CASE("former spellings of a shape are refused with that of today") {
  Settings settings;
  for (const char *former : {"64,4", "64+4"})
    CHECK(flag(settings, "assume-block", former).error() ==
          fmt::format("`assume-block`: `{}` is written `64x4` now", former));
  CHECK(flag(settings, "lint-at", "n=3,block=32,8,1").error() ==
        "`lint-at`: `block=32,8,1` is written `block=32x8x1` now");
}

TEST_CASE("numbers of rewrites and modules") {
  Settings settings;
  REQUIRE(flag(settings, "first", "2"));
  REQUIRE(flag(settings, "last", "0"));
  CHECK_FALSE(flag(settings, "first", "0"));
  CHECK_FALSE(flag(settings, "last", "two"));
  REQUIRE(flag(settings, "modules", "0123456789abcdef:7,00000000000000ff:2-3"));
  REQUIRE(flag(settings, "modules", "ffffffffffffffff"));
  CHECK_FALSE(flag(settings, "modules", "0123456789abcdeg"));
  settings.rewrite.modules.clear();
  REQUIRE(flag(settings, "modules", "0123456789abcdef:7,00000000000000ff:2-3,ffffffffffffffff"));
  REQUIRE(settings.rewrite.modules.size() == 3);
  CHECK(settings.rewrite.modules[0].range.last == 7);
  CHECK(settings.rewrite.modules[1].range.first == 2);
  CHECK(settings.rewrite.modules[2].range.contains(1'000'000));
  // As `config` and the environment spell it.
  for (const SettingSpec &spec : setting_table())
    if (spec.name == "modules")
      CHECK(spec.get(settings) == "0123456789abcdef:7,00000000000000ff:2-3,ffffffffffffffff");
}

TEST_CASE("an unknown name is answered with the nearest one") {
  Settings settings;
  const auto applied = apply_setting(settings, "shufle", "x", Origin::environment, "PTXASW_SHUFLE");
  REQUIRE_FALSE(applied);
  CHECK(applied.error() == "unknown setting `PTXASW_SHUFLE`; did you mean `PTXASW_SHUFFLE`?");
  CHECK(flag(settings, "qqqqqqqq", "x").error() == "unknown setting `qqqqqqqq`");
}

TEST_CASE("what is gone says so by its name") {
  Settings settings;
  CHECK(flag(settings, "halo", "b64").error() ==
        "`halo` is gone: it did not pay (docs/internals/tried.md)");
  CHECK(apply_setting(settings, "halo", "b64", Origin::environment, "PTXASW_HALO").error() ==
        "`PTXASW_HALO` is gone: it did not pay (docs/internals/tried.md)");
  CHECK(flag(settings, "shared", "auto").error() ==
        "`shared` is gone: it did not pay (docs/internals/tried.md)");
  CHECK(flag(settings, "cache", "nc,hints").error() ==
        "`cache`: `hints` is gone: it did not pay (docs/internals/tried.md)");
}

TEST_CASE("lists add up within an origin and are replaced by the next") {
  Settings settings;
  REQUIRE(apply_setting(settings, "kernel", "a,b", Origin::project_file, "kernel"));
  REQUIRE(flag(settings, "kernel", "c"));
  REQUIRE(flag(settings, "kernel", "d"));
  CHECK(settings.rewrite.kernels == std::vector<std::string>{"c", "d"});
  REQUIRE(apply_setting(settings, "lint-warnings", "no-uncoalesced:k", Origin::project_file, ""));
  CHECK(settings.lint_choices.silenced.size() == 1);
  REQUIRE(flag(settings, "lint-warnings", "uncoalesced"));
  CHECK(settings.lint_choices.silenced.empty());
}

TEST_CASE("the environment") {
  char one[] = "PTXASW_MAX_DELTA=3", two[] = "PATH=/bin", three[] = "PTXASW_GUARD=1",
       four[] = "PTXASW_REPORT=";
  char *environment[] = {one, two, three, four, nullptr};
  Settings settings;
  REQUIRE(apply_environment(settings, environment));
  CHECK(settings.rewrite.max_delta == 3);
  char bad[] = "PTXASW_NONSENSE=1";
  char *wrong[] = {bad, nullptr};
  CHECK_FALSE(apply_environment(settings, wrong));
}

TEST_CASE("the configuration in one line has no word that version readers look for") {
  const std::string line = describe_configuration(Settings{});
  CHECK(line ==
        "shuffle=auto variant=full max-delta=31 widths=auto kernel=- assume=- "
        "assume-block=- first=1 last=- modules=- siblings=0 siblings-budget=3 retile=- maxnreg=- "
        "meld=- promote=- carry=- cache=- shuffle-siblings=- resize=- stage=- ahead=- "
        "in-kernel=- profile=-");
}

TEST_CASE("nearest") {
  constexpr std::string_view words[] = {"report", "real", "verbose"};
  CHECK(nearest("reprot", words) == "report");
  CHECK(nearest("rael", words) == "real"); // neighbours exchanged are one mistake
  CHECK(nearest("erla", words) == "");
  CHECK(nearest("rea", words) == "real");
  CHECK(nearest("zzz", words) == "");
}
