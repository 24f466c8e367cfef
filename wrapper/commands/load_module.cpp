// What every command that reads PTX does first.

#include "wrapper/commands/load_module.h"

#include "emulator/semantics/effects.h"
#include "wrapper/commands/command.h"
#include "wrapper/commands/inputs.h"
#include "wrapper/lint/names.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fmt/core.h>
#include <tuple>

namespace ptxasw::wrapper {
namespace {

constexpr unsigned shown_warnings = 5;
constexpr std::size_t shown_kernels = 20;

/// Of an operand that is understood as nothing, the byte behind which a `;` is missing: there the
/// name of an opcode stands apart from what precedes it. Comments do not count.
std::optional<std::size_t> missing_semicolon(std::string_view text) {
  std::size_t end = 0; // of what precedes
  bool apart = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("//") || rest.starts_with("/*")) {
      const bool line = rest[1] == '/';
      i += std::min(rest.find(line ? "\n" : "*/"), rest.size() - 1) + (line ? 1 : 2);
      apart = true;
    } else if (std::isspace(static_cast<unsigned char>(rest[0]))) {
      ++i;
      apart = true;
    } else {
      const auto word_end = std::find_if_not(
          rest.begin(), rest.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
      const std::string_view word =
          rest.substr(0, static_cast<std::size_t>(word_end - rest.begin()));
      if (apart && end > 0 && base_opcode(word) != Op::unknown)
        return end;
      end = i += std::max<std::size_t>(word.size(), 1);
      apart = false;
    }
  }
  return std::nullopt;
}

/// The byte of the text behind which an instruction lacks its `;`.
std::optional<std::size_t> missing_semicolon(const Module &module,
                                             std::span<const Operand> operands) {
  for (const Operand &operand : operands) {
    if (operand.kind != Operand::Kind::other)
      continue;
    const Span span = operand.span;
    if (const auto at = missing_semicolon(module.text().substr(span.begin, span.end - span.begin)))
      return span.begin + *at;
  }
  return std::nullopt;
}

} // namespace

unsigned warn_of_missing_semicolons(const Module &module, const std::string &path) {
  unsigned count = 0;
  for (const Function &function : module.functions)
    for (const Instruction &instruction : function.instructions) {
      const auto at = instruction.well_formed
                          ? std::nullopt
                          : missing_semicolon(module, module.operands(instruction));
      if (!at || ++count > shown_warnings)
        continue;
      Diagnostic diagnostic{path, 0, 0, "a `;` is missing here", ""};
      std::tie(diagnostic.line, diagnostic.column) =
          module.position(static_cast<std::uint32_t>(*at));
      const std::string_view line = module.text().substr(*at + 1 - diagnostic.column);
      diagnostic.source_line = line.substr(0, line.find_first_of("\r\n"));
      // The same form as an error's, by another name.
      const std::string place = fmt::format("{}:{}:{}: ", path, diagnostic.line, diagnostic.column);
      const std::string text = format(diagnostic);
      fmt::print(stderr, "{}warning{}", place, text.substr(place.size() + std::strlen("error")));
    }
  if (count > shown_warnings)
    fmt::print(stderr, "{}: {} more are missing\n", path, count - shown_warnings);
  return count;
}

bool are_known(const Module &module, const std::string &path) {
  for (const Function &function : module.functions)
    for (const Instruction &instruction : function.instructions) {
      const Opcode &opcode = module.opcode(instruction);
      if (is_known(opcode) || opcode.op == Op::unknown)
        continue;
      Diagnostic diagnostic{path, instruction.line, 0,
                            fmt::format("`{}` is no instruction that is known", opcode.text), ""};
      const std::string_view text = module.text();
      std::size_t at = text.find(opcode.text, instruction.span.begin);
      at = at == std::string_view::npos ? instruction.span.begin : at;
      std::tie(diagnostic.line, diagnostic.column) =
          module.position(static_cast<std::uint32_t>(at));
      const std::string_view line = text.substr(at + 1 - diagnostic.column);
      diagnostic.source_line = line.substr(0, line.find_first_of("\r\n"));
      fmt::print(stderr, "{}", format(diagnostic));
      return false;
    }
  return true;
}

std::unique_ptr<Module> load_module(const std::string &path) {
  InputRequest request;
  request.paths = {path};
  request.folders = false;
  auto inputs = load_inputs(request);
  if (!inputs)
    return nullptr;
  if (inputs->size() == 1)
    return std::move(inputs->front().module);
  complain(fmt::format("`{}` has {} modules, of which this command takes one; `ptxasw lint` takes "
                       "all, `cuobjdump -xptx all` writes each",
                       path, inputs->size()));
  return nullptr;
}

bool has_kernel(const Module &module) {
  return std::any_of(module.functions.begin(), module.functions.end(),
                     [](const Function &f) { return f.is_entry && f.has_body; });
}

std::string no_kernel(const std::string &path) {
  return fmt::format("there is no kernel in `{}`", path);
}

std::string no_target(const std::string &path) {
  return fmt::format("`{}` has no `.target`; --arch says for which one", path);
}

std::optional<std::vector<std::string>> kernels_called(const std::vector<const Module *> &modules,
                                                       const std::vector<std::string> &wanted,
                                                       const std::string &path) {
  std::vector<std::string> names, all;
  for (const std::string &one : wanted) {
    const std::size_t before = names.size();
    for (const Module *module : modules)
      for (const Function &function : module->functions)
        if (is_called(function.name, one) &&
            std::find(names.begin(), names.end(), function.name) == names.end())
          names.emplace_back(function.name);
    if (names.size() > before ||
        std::any_of(names.begin(), names.end(),
                    [&](const std::string &name) { return is_called(name, one); }))
      continue;
    for (const Module *module : modules)
      for (const Function &function : module->functions)
        if (function.is_entry && function.has_body)
          all.push_back(demangled(function.name));
    std::string list;
    for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), shown_kernels); ++i)
      list += "\n  " + all[i];
    if (all.size() > shown_kernels)
      list += fmt::format("\n  and {} more", all.size() - shown_kernels);
    complain(fmt::format("there is no kernel `{}` in `{}`{}{}", one, path,
                         all.empty() ? "" : "; it has:", list));
    return std::nullopt;
  }
  return names;
}

std::optional<std::string> kernel_called(const Module &module, const std::string &wanted,
                                         const std::string &path) {
  if (wanted.empty())
    return "";
  for (const Function &function : module.functions)
    if (function.name == wanted)
      return wanted;
  const auto names = kernels_called({&module}, {wanted}, path);
  if (!names)
    return std::nullopt;
  if (names->size() == 1)
    return names->front();
  std::string list;
  for (const std::string &name : *names)
    list += "\n  " + demangled(name);
  complain(fmt::format("several kernels of `{}` are called `{}`:{}", path, wanted, list));
  return std::nullopt;
}

std::optional<std::vector<std::string>> choose_kernels(const Module &module,
                                                       const std::vector<std::string> &wanted,
                                                       const Shard &shard,
                                                       const std::string &path) {
  auto names = kernels_called({&module}, wanted, path);
  if (!names || shard.count == 1)
    return names;
  std::vector<std::string> all;
  for (const Function &function : module.functions)
    if (function.has_body &&
        (names->empty() || std::find(names->begin(), names->end(), function.name) != names->end()))
      all.emplace_back(function.name);
  const auto [begin, end] = shard.range(all.size());
  if (begin == end)
    return std::vector<std::string>{""};
  return std::vector<std::string>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                  all.begin() + static_cast<std::ptrdiff_t>(end));
}

} // namespace ptxasw::wrapper
