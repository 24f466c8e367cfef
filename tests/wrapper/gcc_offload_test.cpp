// What GCC's offloading compiler says of itself and of what it wrote, and what it has to be told.

#include "wrapper/drop_in/gcc_offload.h"

#include <doctest/doctest.h>

using namespace ptxasw::test;

namespace {

using Words = std::vector<std::string>;

// As GCC 12 says it; later ones call the first option -march and know other targets.
constexpr char help[] = "The following options are target specific:\n"
                        "  -m64                        \t\t[enabled]\n"
                        "  -march-map=sm_90            \t\t-misa=sm_80\n"
                        "  -misa=                      \t\tsm_30\n"
                        "  -mptx=                      \t\t6.0\n"
                        "\n"
                        "  Known PTX ISA target architectures (for use with the -misa= option):\n"
                        "    sm_30 sm_35 sm_53 sm_70 sm_75 sm_80\n"
                        "\n"
                        "  Known PTX ISA versions (for use with the -mptx= option):\n"
                        "    3.1 6.0 6.3 7.0 _\n"
                        "\n";

std::string ptxas_help(const std::string &targets) {
  return "--gpu-name <gpu name>\n        Allowed values:  " + targets +
         ".\n\n--other\n        Not for sm_30, sm_70.\n\n";
}

Words asked(const std::string &targets, const Words &words) {
  return offload_options(parse_offload_targets(help), targets.empty() ? "" : ptxas_help(targets),
                         words);
}

} // namespace

TEST_CASE("targets and versions are those that the compiler lists") {
  const OffloadTargets found = parse_offload_targets(help);
  CHECK(found.by_default == 30);
  CHECK(found.targets == std::vector<unsigned>{30, 35, 53, 70, 75, 80});
  CHECK(found.versions == Words{"3.1", "6.0", "6.3", "7.0"});
  CHECK(found.version_by_default == "6.0");
  const OffloadTargets none = parse_offload_targets("cannot execute");
  CHECK_FALSE(none.by_default);
  CHECK(offload_options(none, ptxas_help("'sm_75'"), {}).empty());
}

TEST_CASE("the first target that ptxas takes, and a version that has activemask") {
  CHECK(asked("'compute_75','lto_75','sm_75','sm_80','sm_90a'", {}) == Words{"-misa=sm_75"});
  CHECK(asked("'sm_50','sm_53','sm_80'", {}) == Words{"-misa=sm_53", "-mptx=6.3"});
  // One that is taken stays, and so does what the user has said.
  CHECK(asked("'sm_30','sm_75'", {}) == Words{"-mptx=6.3"});
  CHECK(asked("", {}) == Words{"-mptx=6.3"});
  CHECK(asked("'sm_75'", {"-O2", "-misa=sm_80"}).empty());
  CHECK(asked("'sm_75'", {"-march=sm_70"}) == Words{"-mptx=6.3"});
  CHECK(asked("'sm_53'", {"-mptx=3.1"}) == Words{"-misa=sm_53"});
  // A version that is late enough stays.
  OffloadTargets later = parse_offload_targets(help);
  later.version_by_default = "7.3";
  CHECK(offload_options(later, ptxas_help("'sm_30'"), {}).empty());
  later.version_by_default = "_";
  CHECK(offload_options(later, ptxas_help("'sm_30'"), {}) == Words{"-mptx=6.3"});
  // No target is older than the compiler's own.
  CHECK(asked("'sm_20'", {}) == Words{"-mptx=6.3"});
}

TEST_CASE("a kernel that is listed with one gang and one worker, and forks nowhere") {
  const std::string text =
      "// BEGIN PREAMBLE\n\t.version\t6.3\n\t.target\tsm_75, texmode_unified\n"
      "// BEGIN FUNCTION DEF: a\n.entry a () { ret; }\n"
      "// BEGIN FUNCTION DEF: b\n.entry b () {\n\t// fork 4;\n ret; }\n"
      "// BEGIN FUNCTION DEF: c\n.entry c () { ret; }\n"
      "//:VAR_MAP \"x\"\n//:FUNC_MAP \"a\", 0x1, 0x1, 0x20\n//:FUNC_MAP \"b\", 0x1, 0x1, 0x20\n"
      "//:FUNC_MAP \"c\", 0, 0x1, 0x20\n//:FUNC_MAP \"d\", 0x1, 0x1, 0x20\n//:FUNC_MAP \"e\"\n";
  const std::vector<OffloadKernel> kernels = offload_kernels(text);
  REQUIRE(kernels.size() == 5);
  CHECK(kernels[0].lanes == 32);
  CHECK_FALSE(kernels[4].on_one_thread());
  CHECK_FALSE(offload_block(kernels)); // the last one may have any
  CHECK(offload_block({kernels.begin(), kernels.begin() + 4}) == BlockShape{32, 1, 1});
  CHECK_FALSE(offload_block({}));
  CHECK(kernels[0].name == "a");
  CHECK(kernels[0].on_one_thread());
  CHECK_FALSE(kernels[1].on_one_thread());
  CHECK_FALSE(kernels[2].on_one_thread()); // as many gangs as the launch has
  CHECK_FALSE(kernels[3].on_one_thread()); // its body is not here
  CHECK(target_in(text) == "sm_75");
  CHECK(target_in(".version 6.3") == "");
  CHECK(offload_kernels("//:FUNC_MAP \"a").empty());
}

TEST_CASE("the words of the assembler") {
  const CommandLine line =
      parse_assembler_line({"-v", "-m", "sm_35", "-o", "out.o", "--no-verify", "in.s"});
  CHECK(line.verbose);
  CHECK(line.output == "out.o");
  REQUIRE(line.inputs.size() == 1);
  CHECK(line.inputs[0].argument == 6);
  CHECK(parse_assembler_line({"--version"}).inputs.empty());
}
