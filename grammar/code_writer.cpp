// A clone is made from the instruction's text by the spans of its operands, so that none of it
// needs to be understood: what is not a register stays as it is. A register may be spelled in
// several ways (`%r01` is %r1), so it is known by its number, not by its name.

#include "grammar/code_writer.h"

#include "grammar/edits.h"
#include "grammar/roles.h"
#include "grammar/scanner.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::ptx {
namespace {

/// The span of the name within an operand's span, which may begin with a `!` and end with a
/// selector.
Span name_span(const Module &module, Span span) {
  const std::string_view text = module.text(span);
  const std::size_t begin = text.find_first_not_of("! \t\r\n");
  const std::size_t end = std::min(text.find('.', begin), text.size());
  return {span.begin + static_cast<std::uint32_t>(begin),
          span.begin + static_cast<std::uint32_t>(end)};
}

void rename_operands(const Module &module, std::span<const Operand> operands,
                     const Renaming &renaming, const std::vector<std::string> &registers,
                     std::uint32_t origin, Edits &edits) {
  const auto replace = [&](Span span, const std::string &text) {
    edits.replace({span.begin - origin, span.end - origin}, text);
  };
  for (const Operand &operand : operands) {
    if (operand.kind == Operand::Kind::reg)
      replace(name_span(module, operand.span), registers[operand.reg]);
    if (operand.kind == Operand::Kind::special)
      for (const auto &[special, name] : renaming.specials)
        if (module.text(operand.span) == special)
          replace(operand.span, name);
    if (operand.kind == Operand::Kind::symbol)
      for (const auto &[symbol, name] : renaming.symbols)
        if (module.symbol(operand) == symbol) {
          const std::size_t begin = module.text(operand.span).find(symbol.name);
          const auto from = operand.span.begin + static_cast<std::uint32_t>(begin);
          replace({from, from + static_cast<std::uint32_t>(symbol.name.size())}, name);
        }
    rename_operands(module, module.children(operand), renaming, registers, origin, edits);
  }
}

} // namespace

std::string renamed(const Module &module, const Instruction &instruction,
                    const Renaming &renaming) {
  Edits edits;
  const std::uint32_t origin = instruction.span.begin;
  if (instruction.guard != no_register) {
    Scanner scanner(module.text(instruction.span));
    Token token = scanner.next(); // the @
    do
      token = scanner.next();
    while (token.is('!'));
    edits.replace(token.span, renaming.registers[instruction.guard]);
  }
  const auto operands = module.operands(instruction);
  const bool apart = !renaming.written.empty() && !operands.empty() &&
                     first_operand(module.opcode(instruction)) == FirstOperand::destination;
  if (apart)
    rename_operands(module, operands.first(1), renaming, renaming.written, origin, edits);
  rename_operands(module, operands.subspan(apart ? 1 : 0), renaming, renaming.registers, origin,
                  edits);
  return edits.apply(module.text(instruction.span)).value_or("");
}

void CodeWriter::declare(std::string_view name, ScalarType type) {
  declarations_ += fmt::format("\t.reg .{} {};\n", to_string(type), name);
}

void CodeWriter::declare_variable(std::string_view space, std::string_view name,
                                  std::uint64_t bytes, unsigned alignment) {
  declarations_ += fmt::format("\t.{} .align {} .b8 {}[{}];\n", space, alignment, name, bytes);
}

void CodeWriter::declare_like(const Variable &variable, std::string_view name) {
  const std::string alignment =
      variable.alignment == 0 ? "" : fmt::format(" .align {}", variable.alignment);
  declarations_ += fmt::format("\t.{}{} .{} {}", to_string(variable.space), alignment,
                               to_string(variable.type), name);
  declarations_ += variable.is_array ? fmt::format("[{}];\n", variable.count) : ";\n";
}

void CodeWriter::declare_text(std::string_view name, std::string_view text) {
  declarations_ += fmt::format("\t.global .align 1 .b8 {}[{}] = {{", name, text.size() + 1);
  for (const char one : text)
    declarations_ += fmt::format("{}, ", static_cast<unsigned>(static_cast<unsigned char>(one)));
  declarations_ += "0};\n";
}

void CodeWriter::place(std::string_view label) { text_ += fmt::format("{}:\n", label); }

void CodeWriter::add(std::string_view instruction) {
  text_ += fmt::format("\t{}\n", instruction);
  ++instructions_;
}

void CodeWriter::clone(const Module &module, const Instruction &instruction,
                       const Renaming &renaming) {
  add(renamed(module, instruction, renaming));
}

void CodeWriter::append(const CodeWriter &more) {
  text_ += more.text_;
  instructions_ += more.instructions_;
}

void CodeWriter::pragma(std::string_view text) {
  text_ += fmt::format("\t.pragma \"{}\";\n", text);
}

std::string CodeWriter::body() const { return "{\n" + declarations_ + "\n" + text_ + "}\n"; }

std::string CodeWriter::piece() const {
  const std::size_t begin = text_.starts_with('\t') ? 1 : 0;
  return text_.substr(begin, text_.size() - begin - (text_.ends_with('\n') ? 1 : 0));
}

std::string guard_text(const Function &function, const Instruction &instruction) {
  return instruction.guard == no_register
             ? ""
             : guard_text(instruction, function.registers[instruction.guard].name);
}

std::string guard_text(const Instruction &instruction, std::string_view name) {
  return fmt::format("@{}{} ", instruction.guard_negated ? "!" : "", name);
}

std::string copied_as(ScalarType type) {
  return type == ScalarType::pred ? "pred" : fmt::format("b{}", bit_width(type));
}

bool can_be_copied(const Register &reg) {
  const unsigned width = bit_width(reg.type);
  return reg.vector == 1 && (width == 1 || width == 16 || width == 32 || width == 64);
}

std::string NewRegisters::stem(const std::string &type) const {
  if (!short_)
    return fmt::format("%{}{}_", prefix_, type);
  const char letter = type == "pred" ? 'p' : type == "b64" ? 'd' : type == "b32" ? 'r' : 'h';
  return fmt::format("%{}{}", prefix_, letter);
}

std::string NewRegisters::operator()(const std::string &type) {
  return fmt::format("{}{}", stem(type), count_[type]++);
}

std::string NewRegisters::declarations() const {
  std::string text;
  for (const auto &[type, count] : count_)
    text += fmt::format("\n\t.reg .{} {}<{}>;", type, stem(type), count);
  return text;
}

FunctionHeader header_of(const Module &module, const Function &function) {
  const std::uint32_t begin = function.span.begin;
  const std::string_view text = module.text({begin, function.body.begin});
  FunctionHeader header;
  Scanner scanner(text);
  bool named = false;
  std::uint32_t open = 0;
  for (Token token = scanner.next(); token.kind != TokenKind::end_of_file; token = scanner.next()) {
    if (!named && text.substr(token.span.begin, token.span.size()) == function.name) {
      named = true;
      header.before_name = text.substr(0, token.span.begin);
    } else if (named && open == 0 && token.is('(')) {
      open = token.span.end;
    } else if (named && open != 0 && token.is(')')) {
      header.parameters = text.substr(open, token.span.begin - open);
      break;
    }
  }
  return header;
}

} // namespace ptxasw::ptx
