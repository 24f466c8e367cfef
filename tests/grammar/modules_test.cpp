// The modules under modules/, one file per construct. Comments in them say what is expected:
//
//   // EXPECT: functions=2 instructions=7 opaque=1     counts, see below
//       ld.global.f32 %f1, [%rd1+4]; //= %f1:f32 [%rd1:u64+4]     this line's instruction
//
// That ptxas accepts them is checked by another test.

#include "grammar/cfg.h"
#include "grammar/liveness.h"
#include "grammar/roles.h"
#include "support.h"

#include <doctest/doctest.h>

#include <map>
#include <sstream>

using namespace ptxasw::test;

namespace {

std::map<std::string, std::size_t> counts(const Module &module) {
  std::map<std::string, std::size_t> n;
  n["version"] = module.version_major * 10 + module.version_minor;
  n["sm"] = module.sm;
  n["variables"] = module.variables.size();
  n["functions"] = module.functions.size();
  n["files"] = module.files.size();
  n["locations"] = module.locations.size();
  for (const Function &function : module.functions) {
    n["entries"] += function.is_entry;
    n["bodies"] += function.has_body;
    n["parameters"] += function.parameters.size();
    n["results"] += function.return_parameters.size();
    n["directives"] += function.directives.size();
    n["instructions"] += function.instructions.size();
    n["registers"] += function.registers.size();
    n["locals"] += function.variables.size();
    n["scopes"] += function.scopes.size();
    n["labels"] += function.labels.size();
    n["pragmas"] += function.pragmas.size();
    n["targetlists"] += function.target_lists.size();
    if (!function.has_body)
      continue;
    const ControlFlowGraph cfg(module, function);
    n["broken"] += !cfg.well_formed();
    n["loops"] += cfg.loops().size();
    const Liveness liveness(module, function, cfg);
    for (const Register &reg : function.registers)
      n["untyped"] += reg.type == ScalarType::none;
    for (const Instruction &instruction : function.instructions) {
      n["opaque"] += !instruction.well_formed;
      n["unknown"] += first_operand(module.opcode(instruction)) == FirstOperand::unknown;
      n["located"] += instruction.location != no_index;
    }
  }
  return n;
}

} // namespace

TEST_CASE("modules of one construct each") {
  const auto files = ptx_files("tests/grammar/modules");
  CHECK(files.size() >= 30);
  for (const auto &path : files) {
    CAPTURE(path);
    const auto parsed = parse(read_file(path), path.string());
    if (!parsed) {
      FAIL_CHECK(format(parsed.error()));
      continue;
    }
    const Module &module = **parsed;
    auto found = counts(module);
    CHECK(found["untyped"] == 0);
    CHECK(found["broken"] == 0);
    std::map<std::uint32_t, std::string> instructions;
    for (const Function &function : module.functions)
      for (const Instruction &instruction : function.instructions)
        instructions[instruction.line] = describe(module, function, instruction);
    std::istringstream lines{std::string(module.text())};
    std::string line;
    std::size_t expectations = 0;
    for (std::uint32_t number = 1; std::getline(lines, line); ++number) {
      if (line.ends_with('\r'))
        line.pop_back();
      if (const std::size_t at = line.find("// EXPECT: "); at != std::string::npos) {
        std::istringstream words(line.substr(at + 11));
        for (std::string word; words >> word; ++expectations) {
          const std::string name = word.substr(0, word.find('='));
          CAPTURE(name);
          CHECK(found[name] == std::stoul(word.substr(name.size() + 1)));
        }
      }
      if (const std::size_t at = line.find("//= "); at != std::string::npos) {
        CHECK(instructions[number] == line.substr(at + 4));
        ++expectations;
      }
    }
    CHECK(expectations > 0);
  }
}
