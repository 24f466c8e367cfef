// What was added has names of its own, and each of them stands for one thing: so what is read of a
// register by its name is read of that register.

#include "synth/prove/text_reader.h"

#include "synth/prove/header.h"

namespace ptxasw::proof {
namespace {

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

TextReader::TextReader(const Module &module, const Function &function, const Function &kernel)
    : module_(module), function_(function) {
  for (const Register &reg : kernel.registers)
    own_.insert(reg.name);
}

void TextReader::fail(std::string_view why) const {
  const auto &all = function_.instructions;
  throw NotProved{
      fmt::format("line {}: {}", at_ < all.size() ? all[at_].line : function_.line, why)};
}

const Instruction &TextReader::next() {
  if (at_ >= function_.instructions.size() || !function_.instructions[at_].well_formed)
    fail("it is not understood");
  return function_.instructions[at_++];
}

void TextReader::expect(std::string_view pattern) {
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

void TextReader::check_places() const {
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

RegisterId TextReader::bound(const std::string &name) const {
  const auto found = bound_.find(name);
  return found == bound_.end() ? no_register : found->second;
}

void TextReader::take(const Instruction &one, std::string_view name, const std::string &text) {
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
          found != no_register && !is_own(found) && function_.registers[found].vector == 1 &&
              has_width(function_.registers[found].type, name[0]),
          "not a register for that");
  const auto [known, added] = bound_.try_emplace(std::string(name), found);
  show_at(one.line, known->second == found && (!added || taken_.insert(found).second),
          "another register than the one that must be there");
}

std::string_view added_tile(const Module &before, const Function &kernel, const Module &after,
                            const Function &version, std::uint32_t bytes) {
  std::map<std::string_view, const Register *> registers;
  for (const Register &reg : version.registers)
    show(registers.emplace(reg.name, &reg).second, "two registers have one name");
  for (const Register &reg : kernel.registers) {
    const auto found = registers.find(reg.name);
    show(found != registers.end() && found->second->type == reg.type &&
             found->second->vector == reg.vector,
         "its registers are others");
  }
  std::set<std::string_view> names;
  for (const Label &label : version.labels)
    show(names.insert(label.name).second, "two labels have one name");
  const std::size_t own = kernel.variables.size();
  show(version.variables.size() == own + 1 &&
           same_declarations(before, kernel.variables, after,
                             std::span(version.variables).first(own)),
       "it has other variables");
  const Variable &tile = version.variables.back();
  show(tile.space == StateSpace::shared && tile.type == ScalarType::b8 && tile.vector == 1 &&
           tile.alignment >= 16 && tile.size() >= bytes && tile.values.empty() &&
           tile.initializer.size() == 0 && tile.linkage == Linkage::internal,
       "its tile is not what it must be");
  show(before.text(kernel.body).find(tile.name) == std::string_view::npos,
       "the kernel knows the tile's name");
  return tile.name;
}

} // namespace ptxasw::proof
