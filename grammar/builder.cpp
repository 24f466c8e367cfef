// What the actions of the grammar call: statements become instructions with resolved registers. A
// name is looked up from the innermost scope outwards, when its statement is read; declarations
// stand before uses, so one pass is enough.

#include "grammar/builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace ptxasw::ptx {
namespace {

/// The scope of what is declared outside of functions.
constexpr std::uint32_t module_scope = no_index;

/// Names are looked up from scope to scope; this bounds the work a name takes.
constexpr std::size_t deepest_scope = 1000;

/// The decimal number that `text` begins with; 0 if there is none or it does not fit.
std::uint32_t number_in(std::string_view text) {
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

} // namespace

Function &Builder::function() { return module_.functions.back(); }

void Builder::begin_statement() {
  const TokenKind kind = tokens_.ahead().kind;
  if (body_expected_ && kind != static_cast<TokenKind>('{') && !begins_directive(kind))
    body_expected_ = false; // it was a declaration
  values_.clear();
  if (begins_directive(kind)) {
    directive_ = Directive::plain;
    specifier_ = {};
    specifier_words_.clear();
    parameters_.clear();
    has_name_ = false;
    first_declared_ = variables().size();
    first_pragma_ = in_body_ ? function().pragmas.size() : 0;
  } else {
    instruction_ = {};
  }
  in_instruction_ = false;
}

void Builder::version() {
  const std::string_view number = last_text();
  const std::size_t dot = std::min(number.find('.'), number.size());
  std::from_chars(number.data(), number.data() + dot, module_.version_major);
  if (dot < number.size())
    std::from_chars(number.data() + dot + 1, number.data() + number.size(), module_.version_minor);
}

void Builder::target() {
  module_.target = last_text();
  if (const std::size_t digits = module_.target.find_first_of("0123456789");
      digits != std::string_view::npos)
    module_.sm = number_in(module_.target.substr(digits));
}

void Builder::target_option() { module_.debug |= last_text() == "debug"; }

void Builder::address_size() { module_.address_size = number_in(last_text()); }

void Builder::file() {
  const std::span<const Token> tokens = tokens_.statement();
  const std::string_view name = text(tokens[2]);
  module_.files[number_in(text(tokens[1]))] = name.substr(1, name.size() - 2);
}

void Builder::location() {
  const std::span<const Token> tokens = tokens_.statement();
  location_ = static_cast<std::uint32_t>(module_.locations.size());
  module_.locations.push_back(
      {number_in(text(tokens[1])), number_in(text(tokens[2])), number_in(text(tokens[3]))});
}

void Builder::label() {
  last_label_ = text(first_token());
  if (!in_body_)
    return; // a prototype or target list at module scope
  function().labels.push_back({last_label_,
                               static_cast<std::uint32_t>(function().instructions.size()), scope_,
                               statement_span()});
}

void Builder::finish(std::uint32_t end_offset) {
  if (in_body_)
    throw SyntaxError{end_offset, fmt::format("the body of {} is not closed", function().name)};
  resolve_functions();
}

// What a name means here. Functions may be declared later; they and labels have no declaration yet.
std::uint32_t Builder::find_symbol(std::string_view name) {
  Symbol symbol{.name = name};
  std::uint32_t index = 0;
  if (const Declaration *declaration = find_declaration(name, index);
      declaration && !declaration->is_register)
    symbol = declaration->symbol;
  const auto [entry, is_new] =
      symbol_ids_.try_emplace(name, static_cast<std::uint32_t>(module_.symbols.size()));
  if (is_new || module_.symbols[entry->second] != symbol) {
    entry->second = static_cast<std::uint32_t>(module_.symbols.size());
    module_.symbols.push_back(symbol);
  }
  return entry->second;
}

void Builder::resolve_functions() {
  std::unordered_map<std::string_view, std::uint32_t> functions;
  for (std::uint32_t i = 0; i < module_.functions.size(); ++i)
    functions.try_emplace(module_.functions[i].name, i);
  // Of a function that is declared and defined the definition.
  for (std::uint32_t i = 0; i < module_.functions.size(); ++i)
    if (module_.functions[i].has_body)
      functions[module_.functions[i].name] = i;
  for (Symbol &symbol : module_.symbols)
    if (symbol.kind == Symbol::Kind::other)
      if (const auto found = functions.find(symbol.name); found != functions.end()) {
        symbol.kind = Symbol::Kind::function;
        symbol.index = found->second;
      }
}

void Builder::open_brace() {
  const Token &token = tokens_.last();
  if (!in_body_) {
    if (!body_expected_)
      throw SyntaxError{token.span.begin, "'{' opens no function body"};
    body_expected_ = false;
    in_body_ = true;
    function().has_body = true;
    function().body.begin = token.span.begin;
    location_ = no_index;
  }
  if (declared_.size() >= deepest_scope)
    throw SyntaxError{token.span.begin, "scopes nest too deeply"};
  const std::uint32_t parent = function().scopes.empty() ? no_index : scope_;
  scope_ = static_cast<std::uint32_t>(function().scopes.size());
  function().scopes.push_back({parent, {token.span.begin, token.span.end}});
  declared_.emplace_back();
  if (scope_ == 0) {
    // Parameters hide module names; register parameters (PTX 1.x) are registers of the body.
    const auto own = static_cast<std::uint32_t>(module_.functions.size() - 1);
    for (const auto kind : {Symbol::Kind::parameter, Symbol::Kind::return_parameter}) {
      std::uint32_t index = 0;
      for (const Variable &parameter :
           kind == Symbol::Kind::parameter ? function().parameters : function().return_parameters) {
        if (visible_.contains(parameter.name))
          ambiguous_.insert(parameter.name);
        declare(parameter.name, {.type = parameter.type,
                                 .vector = parameter.vector,
                                 .is_register = parameter.space == StateSpace::reg,
                                 .symbol = {kind, parameter.name, own, index++}});
      }
    }
    for (const Variable &result : function().return_parameters)
      if (result.space == StateSpace::reg)
        function().return_registers.push_back(find_register(result.name));
  }
}

void Builder::close_brace() {
  const Token &token = tokens_.last();
  if (!in_body_)
    throw SyntaxError{token.span.begin, "'}' without '{'"};
  for (const auto &[name, is_range] : declared_.back()) {
    auto &map = is_range ? visible_ranges_ : visible_;
    const auto entry = map.find(name);
    entry->second.pop_back();
    if (entry->second.empty())
      map.erase(entry);
  }
  declared_.pop_back();
  Scope &scope = function().scopes[scope_];
  scope.span.end = token.span.end;
  if (scope_ == 0) {
    in_body_ = false;
    function().body.end = token.span.end;
    function().span.end = token.span.end;
    body_variables_.clear();
    ambiguous_.clear();
  }
  scope_ = scope.parent;
}

void Builder::declare(std::string_view name, Declaration declaration) {
  declaration.scope = in_body_ ? scope_ : module_scope;
  const bool is_range = declaration.count > 0;
  auto &entries = (is_range ? visible_ranges_ : visible_)[name];
  entries.push_back(std::move(declaration));
  if (in_body_)
    declared_.back().emplace_back(name, is_range);
}

// Operands name variables, so two variables of one name must not pass for one address. Only the
// `.param` variables of calls are everywhere and named alike, and their address is never taken.
void Builder::note_body_variable(std::string_view name, StateSpace space) {
  const bool is_param = space == StateSpace::param;
  const auto [entry, is_first] = body_variables_.try_emplace(name, is_param);
  const auto outer = visible_.find(name);
  const bool hides = is_first && outer != visible_.end() &&
                     std::any_of(outer->second.begin(), outer->second.end(),
                                 [](const Declaration &d) { return !d.is_register; });
  entry->second &= is_param;
  if (hides || (!is_first && !entry->second))
    ambiguous_.insert(name);
}

// Ranges as ptxas reads them: all trailing digits of a name are the index, so `%r1<5>` never
// declares %r12, and %r01 is %r1. The innermost declaration that has the index wins.
Builder::Declaration *Builder::find_declaration(std::string_view name, std::uint32_t &index) {
  Declaration *found = nullptr;
  if (const auto entry = visible_.find(name); entry != visible_.end())
    found = &entry->second.back();
  const std::size_t digits = name.find_last_not_of("0123456789") + 1; // npos + 1 is 0
  if (digits == name.size() || digits == 0)
    return found;
  const auto ranges = visible_ranges_.find(name.substr(0, digits));
  if (ranges == visible_ranges_.end())
    return found;
  const auto [end, error] = std::from_chars(name.data() + digits, name.data() + name.size(), index);
  if (error != std::errc{})
    return found;
  for (auto range = ranges->second.rbegin(); range != ranges->second.rend(); ++range)
    if (index < range->count) {
      const bool inner = !found || found->scope == module_scope ||
                         (range->scope != module_scope && range->scope > found->scope);
      return inner ? &*range : found;
    }
  return found;
}

RegisterId Builder::new_register(std::string_view name, const Declaration &declaration) {
  function().registers.push_back({name, declaration.type, declaration.vector});
  return static_cast<RegisterId>(function().registers.size() - 1);
}

RegisterId Builder::find_register(std::string_view name) {
  std::uint32_t index = 0;
  Declaration *declaration = find_declaration(name, index);
  if (!declaration || !declaration->is_register)
    return no_register;
  // A register of module scope (PTX before 3.0) may be changed by any function that is called:
  // every mention is a register of its own, about which nothing is known.
  if (declaration->scope == module_scope)
    return new_register(name, *declaration);
  RegisterId &id = declaration->count > 0
                       ? declaration->members.try_emplace(index, no_register).first->second
                       : declaration->id;
  if (id == no_register)
    id = new_register(name, *declaration);
  return id;
}

} // namespace ptxasw::ptx
