#include "support.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace ptxasw::test {
namespace {

std::string describe(const Module &module, const Function &function, const Operand &operand) {
  using Kind = Operand::Kind;
  const auto list = [&](std::string_view open, std::string_view separator, std::string_view close) {
    std::string text(open);
    for (const Operand &child : module.children(operand)) {
      if (&child != module.children(operand).data())
        text += separator;
      text += describe(module, function, child);
    }
    return text + std::string(close);
  };
  const std::string sign = operand.negated ? "!" : "";
  switch (operand.kind) {
  case Kind::reg: {
    const Register &reg = function.registers[operand.reg];
    std::string text = fmt::format("{}{}:{}", sign, reg.name, to_string(reg.type));
    if (reg.vector > 1)
      text += fmt::format("x{}", reg.vector);
    return operand.selector ? fmt::format("{}.{}", text, operand.selector) : text;
  }
  case Kind::special:
    return fmt::format("{}special({})", sign, module.text(operand.span));
  case Kind::symbol: {
    std::string_view name = module.text(operand.span);
    name = name.substr(0, name.find_first_of(" +"));
    return operand.value ? fmt::format("symbol({}{:+})", name, operand.value)
                         : fmt::format("symbol({})", name);
  }
  case Kind::integer:
    return std::to_string(operand.value);
  case Kind::real:
    return fmt::format("{}:{:x}", to_string(operand.real_type),
                       static_cast<std::uint64_t>(operand.value));
  case Kind::address:
    return list("[", "?", operand.value ? fmt::format("{:+}]", operand.value) : "]");
  case Kind::vector:
    return list("{", ",", "}");
  case Kind::pair:
    return list("", "|", "");
  case Kind::group:
    return list("(", ",", ")");
  case Kind::sink:
    return "_";
  case Kind::other:
    return list("other(", ",", ")");
  }
  return "?";
}

} // namespace

std::string in_kernel(std::string_view body) {
  std::string text = ".version 8.8\n.target sm_90a\n.address_size 64\n"
                     ".global .align 16 .b8 table[64];\n"
                     ".visible .entry kernel(.param .u64 in, .param .u64 %out)\n{\n"
                     ".reg .pred p, q, r, s; .reg .v4 .f32 v;\n";
  for (const char *type : {"b16", "b32", "b64", "b128", "u16", "u32", "u64", "s16", "s32", "s64",
                           "f16", "f16x2", "f32", "f64"})
    text += fmt::format(".reg .{0} {0}a, {0}b;\n", type);
  return text + std::string(body) + "\n}\n";
}

std::unique_ptr<Module> parse_good(std::string text) {
  auto module = parse(std::move(text), "test.ptx");
  if (!module)
    FAIL(format(module.error()));
  return std::move(*module);
}

std::string parse_bad(std::string text) {
  const auto module = parse(std::move(text), "test.ptx");
  return module ? std::string() : format(module.error());
}

std::string describe(const Module &module, const Function &function,
                     const Instruction &instruction) {
  std::string text = instruction.well_formed ? "" : "opaque";
  const auto add = [&](const std::string &part) { text += (text.empty() ? "" : " ") + part; };
  if (instruction.guard != no_register)
    add(fmt::format("@{}{}:{}", instruction.guard_negated ? "!" : "",
                    function.registers[instruction.guard].name,
                    to_string(function.registers[instruction.guard].type)));
  for (const Operand &operand : module.operands(instruction))
    add(describe(module, function, operand));
  return text;
}

std::string describe_in_kernel(std::string_view body) {
  const auto module = parse_good(in_kernel(body));
  const Function &function = module->functions.back();
  REQUIRE(function.instructions.size() == 1);
  return describe(*module, function, function.instructions[0]);
}

std::string read_file(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> ptx_files(std::string_view directory) {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path root = std::filesystem::path(SOURCE_DIR) / directory;
  for (auto entry = std::filesystem::recursive_directory_iterator(root);
       entry != std::filesystem::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory() && (name.starts_with("build") || name.starts_with(".")))
      entry.disable_recursion_pending();
    else if (entry->path().extension() == ".ptx")
      files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace ptxasw::test
