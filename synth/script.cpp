// What a line says of parameters and of a thread's place it says by name, and so does the kernel's
// code, which stands in the version as it is. So nothing else of the version may have such a name.
// What was added has names of its own, and each of them stands for one thing: so what is read of a
// register by its name is read of that register.

#include "synth/script.h"

#include "synth/prove/header.h"
#include "synth/prove/not_proved.h"

namespace ptxasw::synth {
namespace {

using proof::show_at;

/// The type of a register that a hole of a kind is printed as; null: it is no hole.
const char *type_of(char kind) {
  return kind == 'r'   ? "b32"
         : kind == 'w' ? "b64"
         : kind == 'h' ? "b16"
         : kind == 'p' ? "pred"
                       : nullptr;
}

bool is_of_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '%' || c == '$';
}

bool has_width(ScalarType type, char kind) {
  if (kind == 'p' || type == ScalarType::pred)
    return kind == 'p' && type == ScalarType::pred;
  return bit_width(type) == (kind == 'w' ? 64u : kind == 'r' ? 32u : 16u);
}

} // namespace

std::string plain_text(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
      result += c;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  while (!result.empty() && (result.back() == ';' || result.back() == ' '))
    result.pop_back();
  return result;
}

std::string ScriptPrinter::filled(std::string_view pattern) {
  std::string result;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t end = pattern[at] == '<' ? pattern.find('>', at) : pattern.npos;
    const std::string_view name = end == pattern.npos ? "" : pattern.substr(at + 1, end - at - 1);
    if (name.starts_with('$')) {
      result += "$" + prefix_ + std::string(name.substr(1));
    } else if (name.size() > 2 && name[1] == '_' && type_of(name[0])) {
      const std::string reg = "%" + prefix_ + std::string(name.substr(2));
      registers[reg] = type_of(name[0]);
      result += reg;
    } else {
      result += pattern[at++];
      continue;
    }
    at = end + 1;
  }
  return result;
}

ScriptReader::ScriptReader(const Module &module, const Function &version, const Function &kernel)
    : module_(module), function_(version), added_(proof::added_registers(kernel, version)) {
  proof::check_names(module, kernel, version);
}

void ScriptReader::fail(std::string_view why) const {
  const auto &all = function_.instructions;
  throw proof::NotProved{
      fmt::format("line {}: {}", at_ < all.size() ? all[at_].line : function_.line, why)};
}

const Instruction &ScriptReader::next() {
  if (at_ >= function_.instructions.size() || !function_.instructions[at_].well_formed)
    fail("it is not understood");
  return function_.instructions[at_++];
}

void ScriptReader::same(std::string_view text) {
  if (module_.text(next().span) != text)
    fail("not the kernel's instruction");
}

void ScriptReader::line(const std::string &told) {
  const std::string plain = plain_text(told);
  std::string_view pattern = plain;
  const Instruction &one = next();
  const std::string text = plain_text(module_.text(one.span));
  std::size_t i = 0;
  while (!pattern.empty()) {
    const std::size_t end = pattern[0] == '<' ? pattern.find('>') : std::string_view::npos;
    if (end == std::string_view::npos) {
      show_at(one.line, i < text.size() && text[i++] == pattern[0],
              "something else than what must be there");
      pattern.remove_prefix(1);
      continue;
    }
    std::size_t behind = i;
    while (behind < text.size() && is_of_name(text[behind]))
      ++behind;
    take(one, pattern.substr(1, end - 1), text.substr(i, behind - i));
    i = behind;
    pattern.remove_prefix(end + 1);
  }
  show_at(one.line, i == text.size(), "something else than what must be there");
}

void ScriptReader::check_places() const {
  for (const auto &[instruction, name, label] : jumps_) {
    const auto found = places_.find(name);
    std::vector<std::uint32_t> positions;
    for (const Label &one : function_.labels)
      if (one.name == label)
        positions.push_back(one.position);
    show_at(function_.instructions[instruction].line,
            found != places_.end() && positions == std::vector<std::uint32_t>{found->second},
            "it leads elsewhere");
  }
}

RegisterId ScriptReader::bound(const std::string &name) const {
  const auto found = bound_.find(name);
  return found == bound_.end() ? no_register : found->second;
}

void ScriptReader::take(const Instruction &one, std::string_view name, const std::string &text) {
  if (name[0] == '$') {
    jumps_.push_back({at_ - 1, std::string(name.substr(1)), text});
    return;
  }
  RegisterId found = no_register;
  for (RegisterId reg = 0; reg < function_.registers.size(); ++reg)
    if (function_.registers[reg].name == text) {
      show_at(one.line, found == no_register, "two registers have one name");
      found = reg;
    }
  show_at(one.line,
          found != no_register && added_[found] && function_.registers[found].vector == 1 &&
              has_width(function_.registers[found].type, name[0]),
          "not a register for that");
  const auto [known, added] = bound_.try_emplace(std::string(name), found);
  show_at(one.line, known->second == found && (!added || taken_.insert(found).second),
          "another register than the one that must be there");
}

} // namespace ptxasw::synth
