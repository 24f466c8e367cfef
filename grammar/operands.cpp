// Instructions and their operands (PTX ISA 4.3 and 6): what an expression has become is looked up
// and stored when the whole is known. A shape that is not known makes its instruction not
// well-formed, and is kept with the registers in it.

#include "grammar/builder.h"

#include <fmt/core.h>

namespace ptxasw::ptx {
namespace {

char selector_code(std::string_view text) {
  if (text.size() == 1)
    switch (text[0]) {
    case 'x':
    case 'r':
      return 'x';
    case 'y':
    case 'g':
      return 'y';
    case 'z':
    case 'b':
      return 'z';
    case 'w':
    case 'a':
      return 'w';
    default:
      return '?';
    }
  if (text.size() == 2 && text[0] == 'b' && text[1] >= '0' && text[1] <= '3')
    return text[1];
  if (text == "h0" || text == "h1")
    return text == "h0" ? 'h' : 'H';
  return '?';
}

} // namespace

void Builder::guard() {
  if (!in_body_)
    throw SyntaxError{first_token().span.begin, "an instruction outside of a function"};
  instruction_.guard = find_register(last_text());
  if (instruction_.guard == no_register)
    throw SyntaxError{tokens_.last().span.begin,
                      fmt::format("unknown predicate '{}'", last_text())};
}

void Builder::negate_guard() { instruction_.guard_negated = true; }

void Builder::opcode() {
  if (!in_body_)
    throw SyntaxError{first_token().span.begin, "an instruction outside of a function"};
  in_instruction_ = true;
  instruction_.opcode_span = tokens_.last().span;
  instruction_.opcode = intern_opcode(last_text());
  is_call_ = module_.opcode(instruction_).op == Op::call;
}

// Modifiers set apart from their opcode: legal, but never written. The bytes stay as they are; the
// instruction is opaque. What it may do to memory and to other lanes all of its words say.
void Builder::modifier_apart() {
  std::string joined(module_.opcode(instruction_).text);
  joined += last_text();
  const auto known = opcode_ids_.find(joined);
  instruction_.opcode = known != opcode_ids_.end()
                            ? known->second
                            : intern_opcode(module_.joined_opcodes.emplace_back(std::move(joined)));
  instruction_.well_formed = false;
}

void Builder::missing_before() {
  throw SyntaxError{tokens_.last().span.begin, "an operand is missing"};
}

void Builder::missing_after() {
  throw SyntaxError{tokens_.ahead().span.begin, "an operand is missing"};
}

void Builder::unknown_in_operand() {
  values_.back().form = Form::opaque;
  values_.back().last = last_index();
}

void Builder::unknown_list() {
  values_.resize(lists_.back().values);
  lists_.pop_back();
  unknown_in_operand();
}

// Names are looked up in the order in which they stand, so that registers are numbered by their
// first use.
void Builder::end_operand() {
  if (in_instruction_ && lists_.empty()) {
    values_.back().operand = complete(values_.back());
    values_.back().form = Form::complete;
  }
  if (in_initializer_ && tokens_.tokens[lists_.back().bracket].is('{') &&
      values_.back().form != Form::elements)
    add_initial(values_.back());
}

void Builder::end_instruction() {
  if (values_.size() > UINT16_MAX)
    throw SyntaxError{tokens_.tokens[values_.front().first].span.begin, "too many operands"};
  instruction_.span = statement_span();
  instruction_.line = first_token().line;
  instruction_.scope = scope_;
  instruction_.location = location_;
  Operand operands;
  store_complete(operands, values_);
  instruction_.first_operand = operands.first_child;
  instruction_.operand_count = static_cast<std::uint16_t>(operands.child_count);
  function().instructions.push_back(instruction_);
}

std::uint32_t Builder::intern_opcode(std::string_view text) {
  const auto [entry, is_new] =
      opcode_ids_.try_emplace(text, static_cast<std::uint32_t>(module_.opcodes.size()));
  if (is_new)
    module_.opcodes.push_back(Opcode::of(entry->first));
  return entry->second;
}

void Builder::store_children(Operand &operand, std::span<const Operand> children) {
  operand.first_child = static_cast<std::uint32_t>(module_.all_operands.size());
  operand.child_count = static_cast<std::uint32_t>(children.size());
  module_.all_operands.insert(module_.all_operands.end(), children.begin(), children.end());
}

// Completing one may store children of its own, so they are stored after all are complete.
void Builder::store_complete(Operand &operand, std::span<const Value> values) {
  const std::size_t begin = scratch_.size();
  for (const Value &value : values)
    scratch_.push_back(complete(value));
  store_children(operand, std::span(scratch_).subspan(begin));
  scratch_.resize(begin);
}

Operand Builder::name_operand(const Token &token) {
  Operand operand;
  operand.span = token.span;
  const std::string_view name = text(token);
  if (name == "_") {
    operand.kind = Operand::Kind::sink;
    return operand;
  }
  const std::size_t dot = name.find('.');
  operand.reg = find_register(name.substr(0, dot));
  if (operand.reg != no_register) {
    operand.kind = Operand::Kind::reg;
    if (dot != std::string_view::npos)
      operand.selector = selector_code(name.substr(dot + 1));
    if (operand.selector == '?') // `.b3210` of the video instructions
      instruction_.well_formed = false;
  } else if (std::uint32_t index;
             (name[0] == '%' && !find_declaration(name, index)) || name == "WARP_SZ") {
    operand.kind = Operand::Kind::special;
  } else {
    operand.kind = Operand::Kind::symbol;
    operand.symbol = find_symbol(name);
    if (ambiguous_.contains(name))
      instruction_.well_formed = false;
  }
  return operand;
}

Operand Builder::complete(const Value &value) {
  using Kind = Operand::Kind;
  Operand operand;
  switch (value.form) {
  case Form::constant:
    operand.kind = Kind::integer;
    operand.value = value.constant.as_signed();
    operand.span = span_of(value);
    if (value.in_parentheses && is_call_) {
      operand.span = {tokens_.tokens[value.first + 1].span.begin,
                      tokens_.tokens[value.last - 1].span.end};
      Operand group;
      group.kind = Kind::group;
      group.span = span_of(value);
      store_children(group, {&operand, 1});
      return group;
    }
    return operand;
  case Form::real:
    operand.kind = Kind::real;
    operand.real_type = value.real_type;
    operand.value = value.constant.as_signed();
    operand.span = span_of(value);
    return operand;
  case Form::name:
  case Form::sum:
  case Form::negated:
    if (value.is_generic)
      break;
    operand = name_operand(tokens_.tokens[value.name]);
    if (value.form == Form::name)
      return operand;
    if (value.form == Form::sum) {
      if (operand.kind != Kind::symbol)
        break;
      operand.value = value.constant.as_signed();
    }
    operand.negated = value.form == Form::negated;
    operand.span = span_of(value);
    return operand;
  case Form::complete:
    operand = value.operand;
    operand.span = span_of(value);
    return operand;
  case Form::elements:
  case Form::opaque:
    break;
  }
  // Opaque, but the registers in it are known.
  Operand opaque;
  opaque.span = span_of(value);
  store_registers(opaque, value);
  instruction_.well_formed = false;
  return opaque;
}

void Builder::store_registers(Operand &operand, const Value &value) {
  const std::size_t begin = scratch_.size();
  for (std::uint32_t i = value.first; i <= value.last; ++i)
    if (tokens_.tokens[i].kind == TokenKind::word)
      if (const Operand name = name_operand(tokens_.tokens[i]); name.kind == Operand::Kind::reg)
        scratch_.push_back(name);
  store_children(operand, std::span(scratch_).subspan(begin));
  scratch_.resize(begin);
}

} // namespace ptxasw::ptx
