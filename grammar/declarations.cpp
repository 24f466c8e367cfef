// Directives, declarations and function headers (PTX ISA 5 and 11). Which words there are before a
// name only says what is declared; a word that is not known is passed over, so that a directive of
// a later PTX does no harm.

#include "grammar/builder.h"

#include <fmt/core.h>

namespace ptxasw::ptx {
namespace {

/// Bytes of an array at most: of one that a thread or a block has for itself far more than any
/// device gives it, of others more than any memory.
std::uint64_t most_bytes(StateSpace space) {
  const bool is_own =
      space == StateSpace::param || space == StateSpace::shared || space == StateSpace::local;
  return std::uint64_t{1} << (is_own ? 24 : 44);
}

Linkage linkage_of(std::string_view word) {
  return word == ".extern"    ? Linkage::external
         : word == ".visible" ? Linkage::visible
         : word == ".weak"    ? Linkage::weak
         : word == ".common"  ? Linkage::common
                              : Linkage::internal;
}

} // namespace

std::vector<Variable> &Builder::variables() {
  return in_body_ ? function().variables : module_.variables;
}

void Builder::specifier() {
  if (specifier_words_.empty())
    specifier_first_ = last_index();
  const std::string_view word = last_text();
  specifier_words_.push_back(word);
  if (word == ".ptr") {
    specifier_.is_pointer = true;
  } else if (const Linkage linkage = linkage_of(word); linkage != Linkage::internal) {
    specifier_.linkage = linkage;
  } else if (word == ".v2" || word == ".v4" || word == ".v8") {
    specifier_.vector = static_cast<unsigned>(word[2] - '0');
  } else if (const ScalarType type = scalar_type(word); type != ScalarType::none) {
    specifier_.type = type;
  } else if (const StateSpace space = state_space(word);
             space != StateSpace::generic && !specifier_.is_pointer) {
    specifier_.space = space;
  }
}

void Builder::alignment() {
  if (specifier_words_.empty())
    specifier_first_ = last_index() - 1;
  specifier_words_.push_back(".align");
  if (const auto value = number_value(last_text()); value && !specifier_.is_pointer)
    specifier_.alignment = static_cast<unsigned>(value->bits);
}

Variable Builder::make_variable() const {
  return {.name = last_text(),
          .space = specifier_.space,
          .type = specifier_.type,
          .vector = specifier_.vector,
          .alignment = specifier_.alignment,
          .linkage = specifier_.linkage};
}

// Variables.

void Builder::begin_variable() {
  variable_ = make_variable();
  range_ = 0;
  has_name_ = true;
}

void Builder::register_range() {
  const auto count = number_value(text(tokens_.tokens[last_index() - 1]));
  if (!count)
    throw SyntaxError{tokens_.tokens[last_index() - 1].span.begin,
                      "expected <count> after the register prefix"};
  range_ = static_cast<std::uint64_t>(count->bits);
}

void Builder::extent() {
  Value extent = values_.back();
  values_.pop_back();
  const std::uint64_t count = is_constant(extent) ? extent.constant.bits : 0;
  const std::uint64_t most = most_bytes(variable_.space);
  if (count > most || (count != 0 && variable_.size() > most / count))
    throw SyntaxError{tokens_.last().span.begin, "an array that is larger than any can be"};
  variable_.count *= count;
  variable_.is_array = true;
}

void Builder::no_extent() {
  variable_.count = 0;
  variable_.is_array = true;
}

void Builder::begin_initializer() {
  in_initializer_ = true;
  initial_known_ = true;
  braces_ = 0;
  initializer_first_ = static_cast<std::uint32_t>(tokens_.consumed);
}

void Builder::end_initializer() {
  const Value value = values_.back();
  values_.pop_back();
  if (value.form != Form::elements)
    add_initial(value);
  in_initializer_ = false;
  variable_.initializer = {tokens_.tokens[initializer_first_].span.begin, tokens_.last().span.end};
  variable_.has_rows = braces_ > 1;
  if (!initial_known_)
    variable_.values.clear();
}

// An element of an initializer, whatever braces are around it: a number, a constant expression,
// `name`, `name+8`, `generic(name)+8` (PTX ISA 5.4.4).
void Builder::add_initial(const Value &value) {
  InitialValue initial;
  initial.bits = value.constant.bits;
  Value number = value;
  if (value.form == Form::real)
    initial.real_type = value.real_type;
  else if (is_constant(number))
    initial.bits = number.constant.bits;
  else if (value.form == Form::name || value.form == Form::sum)
    initial.symbol = find_symbol(text(tokens_.tokens[value.name]));
  else
    initial_known_ = false;
  variable_.values.push_back(initial);
}

void Builder::unknown_in_declaration() {
  if (specifier_.space != StateSpace::generic)
    throw SyntaxError{tokens_.last().span.begin, "expected ',' or ';' in this declaration"};
}

void Builder::end_variable() {
  if (specifier_.space == StateSpace::generic)
    return; // .alias and whatever comes: nothing that code refers to by register
  const bool is_register = specifier_.space == StateSpace::reg;
  if (in_body_ && !is_register)
    note_body_variable(variable_.name, variable_.space);
  const Symbol symbol{
      in_body_ ? Symbol::Kind::function_variable : Symbol::Kind::module_variable, variable_.name,
      in_body_ ? static_cast<std::uint32_t>(module_.functions.size() - 1) : no_index,
      static_cast<std::uint32_t>(variables().size())};
  declare(variable_.name, {.type = variable_.type,
                           .vector = variable_.vector,
                           .count = range_,
                           .is_register = is_register,
                           .symbol = symbol});
  if (!is_register)
    variables().push_back(std::move(variable_));
}

// Function headers.

void Builder::begin_function(bool is_entry) {
  if (in_body_)
    throw SyntaxError{first_token().span.begin, "a function inside a function"};
  directive_ = Directive::function;
  Function result;
  result.is_entry = is_entry;
  result.linkage = specifier_.linkage;
  result.line = first_token().line;
  module_.functions.push_back(std::move(result));
  specifier_ = {};
  specifier_words_.clear();
}

void Builder::function_name() { function().name = last_text(); }

void Builder::begin_parameter() { variable_ = make_variable(); }

void Builder::end_parameter() {
  variable_.span = {tokens_.tokens[specifier_first_].span.begin, tokens_.last().span.end};
  parameters_.push_back(std::move(variable_));
  specifier_ = {};
  specifier_words_.clear();
}

void Builder::return_parameters() { function().return_parameters = std::exchange(parameters_, {}); }

void Builder::parameters() { function().parameters = std::exchange(parameters_, {}); }

// Performance directives belong to the last header; one that a `.pragma` cut in two goes on with
// them.
void Builder::add_performance(std::string_view name) {
  if (directive_ == Directive::function || body_expected_)
    function().directives.push_back({.name = name.substr(1)});
}

void Builder::performance() { add_performance(last_text()); }

void Builder::performance_value() {
  if (directive_ == Directive::plain && specifier_.space != StateSpace::generic)
    throw SyntaxError{tokens_.last().span.begin, "expected a name in this declaration"};
  for (const std::string_view name : std::exchange(specifier_words_, {})) {
    directive_ = Directive::performance;
    add_performance(name);
  }
  if (directive_ != Directive::function && !body_expected_)
    return;
  PerformanceDirective &directive = function().directives.back();
  if (directive.count < std::size(directive.values))
    if (const auto value = number_value(last_text()))
      directive.values[directive.count++] = static_cast<std::uint32_t>(value->bits);
}

void Builder::begin_pragma() {
  if (directive_ != Directive::function)
    directive_ = Directive::pragma;
  add_performance(last_text());
}

void Builder::pragma() {
  if (directive_ == Directive::pragma && in_body_)
    function().pragmas.push_back({last_text().substr(1, last_text().size() - 2),
                                  static_cast<std::uint32_t>(function().instructions.size()),
                                  {}});
}

void Builder::begin_target_list() {
  directive_ = Directive::targets;
  if (in_body_)
    function().target_lists.push_back({last_label_, scope_, {}});
}

void Builder::target_label() {
  if (in_body_)
    function().target_lists.back().targets.push_back(last_text());
}

void Builder::end_directive() {
  if (directive_ == Directive::function) {
    function().span = statement_span();
    // A header may end in the ';' of a .pragma and still have a body.
    body_expected_ = true;
    return;
  }
  const Token &last = tokens_.last();
  const bool terminated = last.is(';');
  if (body_expected_ && (!terminated || directive_ == Directive::pragma)) {
    for (const std::string_view name : specifier_words_)
      add_performance(name);
    return; // a header goes on after the ';' of its first .pragma
  }
  body_expected_ = false;
  if (!terminated)
    throw SyntaxError{last.span.end, fmt::format("expected ';' after {}", text(first_token()))};
  if (directive_ == Directive::plain && specifier_.space != StateSpace::generic && !has_name_)
    throw SyntaxError{last.span.begin, "expected a name in this declaration"};
  for (std::size_t i = first_declared_; i < variables().size(); ++i)
    variables()[i].span = statement_span();
  if (in_body_)
    for (std::size_t i = first_pragma_; i < function().pragmas.size(); ++i)
      function().pragmas[i].span = statement_span();
}

} // namespace ptxasw::ptx
