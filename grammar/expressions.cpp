// Operands and constant expressions as the parser finds them (PTX ISA 4.5 and 6). The grammar says
// what an expression is; which operator takes its operands first is decided here: an operator waits
// on the stack until one comes that binds no tighter. Every expression has a frame, which bounds
// what it may take from the stacks. What is no constant and has no known shape is opaque, never
// guessed at.

#include "grammar/builder.h"

#include <fmt/core.h>

namespace ptxasw::ptx {
namespace {

/// Of expressions within expressions and of operators that wait; no one writes code this deep, and
/// the stack is finite.
constexpr std::size_t deepest_expression = 400;

/// The first character of an operator that may have a second one.
bool begins_pair(const Token &token) {
  for (const char c : {'<', '>', '=', '!', '&', '|'})
    if (token.is(c))
      return true;
  return false;
}

} // namespace

Span Builder::span_of(const Value &value) const {
  return {tokens_.tokens[value.first].span.begin, tokens_.tokens[value.last].span.end};
}

void Builder::begin_expression() {
  if (frames_.size() >= deepest_expression)
    throw SyntaxError{tokens_.ahead().span.begin, "expressions nest too deeply"};
  frames_.push_back({static_cast<std::uint32_t>(tokens_.consumed), operators_.size()});
}

void Builder::end_expression() {
  reduce_down_to(0);
  values_.back().first = frames_.back().first;
  values_.back().last = last_index();
  frames_.pop_back();
}

void Builder::shift(ConstantOperator op) {
  if (operators_.size() - frames_.back().operators >= deepest_expression)
    throw SyntaxError{tokens_.last().span.begin, "expressions nest too deeply"};
  operators_.push_back(op);
}

void Builder::prefix() {
  const Token &token = tokens_.last();
  shift(token.is('-')   ? ConstantOperator::negate
        : token.is('+') ? ConstantOperator::plus
        : token.is('~') ? ConstantOperator::complement
                        : ConstantOperator::logical_not);
}

void Builder::cast() {
  const std::string_view type = text(tokens_.tokens[last_index() - 1]);
  shift(type == ".s64"   ? ConstantOperator::to_signed
        : type == ".u64" ? ConstantOperator::to_unsigned
                         : ConstantOperator::other_cast);
}

void Builder::binary() {
  const Token &second = tokens_.last();
  const Token &first = tokens_.tokens[last_index() - 1];
  const auto character = [](const Token &token) { return static_cast<char>(token.kind); };
  // What stands before an operator is the end of an operand, so this is a pair.
  const bool is_pair = begins_pair(first);
  const ConstantOperator op = !is_pair ? binary_operator(character(second), 0)
                              : first.span.end == second.span.begin
                                  ? binary_operator(character(first), character(second))
                                  : ConstantOperator::none;
  reduce_down_to(precedence(op));
  shift(op);
}

void Builder::reduce_down_to(int lowest) {
  while (operators_.size() > frames_.back().operators && precedence(operators_.back()) >= lowest) {
    const ConstantOperator op = operators_.back();
    operators_.pop_back();
    if (is_prefix(op)) {
      values_.back() = combine(op, values_.back());
    } else {
      const Value right = values_.back();
      values_.pop_back();
      values_.back() = combine(op, values_.back(), right);
    }
  }
}

// A complete term: what stands before it applies to it alone.
void Builder::push(Value value) {
  values_.push_back(value);
  reduce_down_to(prefix_precedence);
}

bool Builder::is_constant(Value &value) const {
  if (value.form == Form::name && !value.is_generic &&
      text(tokens_.tokens[value.name]) == "WARP_SZ") {
    value.form = Form::constant;
    value.constant = {32, false};
  }
  return value.form == Form::constant;
}

Builder::Value Builder::combine(ConstantOperator op, Value value) const {
  Value result;
  if (op == ConstantOperator::other_cast)
    return result;
  if (is_constant(value)) {
    result.form = Form::constant;
    result.constant = apply(op, value.constant);
  } else if (op == ConstantOperator::negate && value.form == Form::real) {
    result = value;
    result.constant.bits ^= std::uint64_t{1} << (value.real_type == ScalarType::f32 ? 31 : 63);
  } else if (op == ConstantOperator::logical_not && value.form == Form::name && !value.is_generic) {
    result = value;
    result.form = Form::negated;
  }
  return result;
}

Builder::Value Builder::combine(ConstantOperator op, Value left, Value right) {
  Value result;
  result.first = left.first;
  result.last = right.last;
  const bool constants = is_constant(right);
  if (is_constant(left) && constants) {
    if (const auto constant = apply(op, left.constant, right.constant)) {
      result.form = Form::constant;
      result.constant = *constant;
    }
  } else if ((op == ConstantOperator::add || op == ConstantOperator::subtract) && constants &&
             (left.form == Form::name || left.form == Form::sum)) {
    result = left;
    result.form = Form::sum;
    result.constant = *apply(op, left.constant, right.constant);
  } else if (op == ConstantOperator::bit_or && in_instruction_ && right.form == Form::name &&
             (left.form == Form::name ||
              (left.form == Form::complete && left.operand.kind == Operand::Kind::vector))) {
    // `d|p` and `{a, b}|p`
    result.form = Form::complete;
    result.operand.kind = Operand::Kind::pair;
    const Value sides[] = {left, right};
    store_complete(result.operand, sides);
  }
  return result;
}

void Builder::question() { reduce_down_to(0); }

void Builder::select() {
  Value no = values_.back();
  Value yes = values_[values_.size() - 2];
  Value condition = values_[values_.size() - 3];
  values_.resize(values_.size() - 3);
  Value result;
  if (is_constant(no) && is_constant(yes) && is_constant(condition)) {
    result.form = Form::constant;
    result.constant = condition.constant.bits ? yes.constant : no.constant;
  }
  values_.push_back(result);
}

void Builder::name() {
  Value value;
  value.form = Form::name;
  value.name = value.first = value.last = last_index();
  push(value);
}

void Builder::number() {
  const auto number = number_value(last_text());
  if (!number)
    throw SyntaxError{tokens_.last().span.begin, fmt::format("malformed number '{}'", last_text())};
  Value value;
  value.form = number->type == ScalarType::none ? Form::constant : Form::real;
  value.real_type = number->type;
  value.constant = constant_of(last_text(), number->bits);
  value.first = value.last = last_index();
  push(value);
}

void Builder::string() {
  Value value;
  value.first = value.last = last_index();
  push(value);
}

void Builder::open_list() {
  lists_.push_back({last_index(), values_.size()});
  if (in_initializer_ && tokens_.last().is('{'))
    ++braces_;
}

std::span<const Builder::Value> Builder::elements() const {
  return std::span(values_).subspan(lists_.back().values);
}

// The list's values give way to what it is as a whole.
void Builder::close_list(Value value) {
  value.first = lists_.back().bracket;
  value.last = last_index();
  values_.resize(lists_.back().values);
  lists_.pop_back();
  push(value);
}

// `(a, b)`: arguments or results of a call, or a constant in parentheses.
void Builder::group() {
  Value value;
  if (elements().size() == 1 && elements()[0].form == Form::constant) {
    value.form = Form::constant;
    value.constant = elements()[0].constant;
    value.in_parentheses = true;
  } else if (in_instruction_ && is_call_) {
    value.form = Form::complete;
    value.operand.kind = Operand::Kind::group;
    store_complete(value.operand, elements());
  }
  close_list(value);
}

void Builder::vector() {
  Value value;
  if (in_initializer_) {
    value.form = Form::elements;
  } else if (in_instruction_) {
    value.form = Form::complete;
    value.operand.kind = Operand::Kind::vector;
    store_complete(value.operand, elements());
  }
  close_list(value);
}

void Builder::address() {
  Value value;
  const auto inside = elements();
  if (in_instruction_ && inside.size() == 1) {
    const Value &base = inside[0];
    const bool is_sum = base.form == Form::sum;
    if ((is_sum || base.form == Form::name) && !base.is_generic) {
      value.form = Form::complete;
      value.operand.kind = Operand::Kind::address;
      value.operand.value = is_sum ? base.constant.as_signed() : 0;
      const Operand name = name_operand(tokens_.tokens[base.name]);
      store_children(value.operand, {&name, 1});
    } else if (base.form == Form::constant) {
      value.form = Form::complete;
      value.operand.kind = Operand::Kind::address;
      Operand number;
      number.kind = Operand::Kind::integer;
      number.span = span_of(base);
      number.value = base.constant.as_signed();
      store_children(value.operand, {&number, 1});
    }
  } else if (in_instruction_ && inside.size() > 1 && inside[0].first == inside[0].last) {
    // `[tensor, {x, y}]` only reads registers, but it is no address of the simple form.
    value.form = Form::complete;
    value.operand.kind = Operand::Kind::other;
    store_complete(value.operand, inside);
  }
  close_list(value);
}

// `generic(name)` in an initializer; whatever else is written so is opaque.
void Builder::application() {
  Value callee = values_[lists_.back().values - 1];
  const bool is_generic = callee.form == Form::name && !callee.is_generic &&
                          text(tokens_.tokens[callee.name]) == "generic" &&
                          elements().size() == 1 && elements()[0].form == Form::name;
  Value value;
  if (is_generic) {
    value.form = Form::name;
    value.is_generic = true;
    value.name = elements()[0].name;
  }
  value.first = callee.first;
  value.last = last_index();
  values_.resize(lists_.back().values - 1);
  lists_.pop_back();
  values_.push_back(value);
}

} // namespace ptxasw::ptx
