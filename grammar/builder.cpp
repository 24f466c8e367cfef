// What the actions of the grammar call: statements become instructions with resolved registers. A
// name is looked up from the innermost scope outwards, when its statement is read; declarations
// stand before uses, so one pass is enough.

#include "grammar/builder.h"
#include "grammar/token_ranges.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace ptxasw {
namespace {

/// The scope of what is declared outside of functions.
constexpr std::uint32_t module_scope = no_index;

/// Names are looked up from scope to scope; this bounds the work a name takes.
constexpr std::size_t deepest_scope = 1000;

} // namespace

Function &Builder::function() { return module_.functions.back(); }

void Builder::statement(std::span<const Token> tokens) {
  const Token &first = tokens.front();
  if (body_expected_ && !first.is('{') && first.kind != TokenKind::dot_word)
    body_expected_ = false; // it was a declaration
  switch (first.kind) {
  case TokenKind::version: {
    const std::string_view number = text(tokens[1]);
    const std::size_t dot = std::min(number.find('.'), number.size());
    std::from_chars(number.data(), number.data() + dot, module_.version_major);
    if (dot < number.size())
      std::from_chars(number.data() + dot + 1, number.data() + number.size(),
                      module_.version_minor);
    break;
  }
  case TokenKind::target:
    module_.target = text(tokens[1]);
    if (const std::size_t digits = module_.target.find_first_of("0123456789");
        digits != std::string_view::npos)
      std::from_chars(module_.target.data() + digits, module_.target.data() + module_.target.size(),
                      module_.sm);
    for (const Token &token : tokens)
      module_.debug |= text(token) == "debug";
    break;
  case TokenKind::address_size:
    std::from_chars(text(tokens[1]).data(), text(tokens[1]).data() + text(tokens[1]).size(),
                    module_.address_size);
    break;
  case TokenKind::file: {
    std::uint32_t index = 0;
    std::from_chars(text(tokens[1]).data(), text(tokens[1]).data() + text(tokens[1]).size(), index);
    std::string_view name = text(tokens[2]);
    module_.files[index] = name.substr(1, name.size() - 2);
    break;
  }
  case TokenKind::loc:
    location(tokens);
    break;
  case TokenKind::section:
  case TokenKind::dwarf_line:
    break;
  case TokenKind::dot_word:
    directive(tokens);
    break;
  case TokenKind::word:
    if (tokens.size() == 2 && tokens[1].is(':'))
      label(tokens);
    else
      instruction(tokens);
    break;
  default:
    if (first.is('{'))
      open_brace(first);
    else if (first.is('}'))
      close_brace(first);
    else if (first.is('@'))
      instruction(tokens);
  }
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

void Builder::open_brace(const Token &token) {
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

void Builder::close_brace(const Token &token) {
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

void Builder::location(std::span<const Token> tokens) {
  std::uint32_t numbers[3] = {};
  for (int i = 0; i < 3; ++i)
    std::from_chars(text(tokens[i + 1]).data(),
                    text(tokens[i + 1]).data() + text(tokens[i + 1]).size(), numbers[i]);
  location_ = static_cast<std::uint32_t>(module_.locations.size());
  module_.locations.push_back({numbers[0], numbers[1], numbers[2]});
}

void Builder::label(std::span<const Token> tokens) {
  last_label_ = text(tokens[0]);
  if (!in_body_)
    return; // a prototype or target list at module scope
  function().labels.push_back({last_label_,
                               static_cast<std::uint32_t>(function().instructions.size()), scope_,
                               span_of(tokens)});
}

void Builder::directive(std::span<const Token> tokens) {
  const bool terminated = tokens.back().is(';');
  std::size_t keyword = 0;
  while (keyword < tokens.size() && tokens[keyword].kind == TokenKind::dot_word &&
         text(tokens[keyword]) != ".entry" && text(tokens[keyword]) != ".func")
    ++keyword;
  if (keyword < tokens.size() && tokens[keyword].kind == TokenKind::dot_word) {
    function_header(tokens, keyword);
    return;
  }
  const std::string_view name = text(tokens[0]);
  if (body_expected_ && (!terminated || name == ".pragma")) {
    performance_directives(tokens, 0); // a header goes on after the ';' of its first .pragma
    return;
  }
  body_expected_ = false;
  if (!terminated)
    throw SyntaxError{tokens.back().span.end, fmt::format("expected ';' after {}", name)};
  if (name == ".pragma") {
    if (in_body_)
      for (const Token &token : tokens)
        if (token.kind == TokenKind::string)
          function().pragmas.push_back({text(token).substr(1, token.span.size() - 2),
                                        static_cast<std::uint32_t>(function().instructions.size()),
                                        span_of(tokens)});
  } else if (name == ".branchtargets" || name == ".calltargets") {
    target_list(tokens);
  } else {
    declaration(tokens);
  }
}

void Builder::target_list(std::span<const Token> tokens) {
  if (!in_body_)
    return;
  TargetList list{last_label_, scope_, {}};
  for (const Token &token : tokens)
    if (token.kind == TokenKind::word)
      list.targets.push_back(text(token));
  function().target_lists.push_back(std::move(list));
}

std::uint32_t Builder::intern_opcode(std::span<const Token> tokens) {
  std::string_view whole = text(tokens[0]);
  if (tokens.size() > 1) {
    std::string joined;
    for (const Token &token : tokens)
      joined += text(token);
    const auto known = opcode_ids_.find(joined);
    whole = known != opcode_ids_.end() ? known->first
                                       : module_.joined_opcodes.emplace_back(std::move(joined));
  }
  const auto [entry, is_new] =
      opcode_ids_.try_emplace(whole, static_cast<std::uint32_t>(module_.opcodes.size()));
  if (!is_new)
    return entry->second;
  module_.opcodes.push_back(Opcode::of(entry->first));
  return entry->second;
}

void Builder::instruction(std::span<const Token> tokens) {
  if (!in_body_)
    throw SyntaxError{tokens.front().span.begin, "an instruction outside of a function"};
  Instruction result;
  result.span = span_of(tokens);
  result.line = tokens.front().line;
  result.scope = scope_;
  result.location = location_;
  std::size_t position = 0;
  if (tokens[0].is('@')) {
    ++position;
    if (tokens[position].is('!')) {
      result.guard_negated = true;
      ++position;
    }
    result.guard = find_register(text(tokens[position]));
    if (result.guard == no_register)
      throw SyntaxError{tokens[position].span.begin,
                        fmt::format("unknown predicate '{}'", text(tokens[position]))};
    ++position;
  }
  result.opcode_span = tokens[position].span;
  const std::size_t first = position++;
  // Modifiers set apart from their opcode: legal, but never written. The bytes stay as they are;
  // the instruction is opaque. What it may do to memory and to other lanes all of its words say.
  while (position < tokens.size() && tokens[position].kind == TokenKind::dot_word) {
    result.well_formed = false;
    ++position;
  }
  result.opcode = intern_opcode(tokens.subspan(first, position - first));
  std::vector<Operand> operands;
  parse_operands(tokens.subspan(position, tokens.size() - 1 - position), operands, result);
  if (operands.size() > UINT16_MAX)
    throw SyntaxError{tokens[position].span.begin, "too many operands"};
  result.first_operand = static_cast<std::uint32_t>(module_.all_operands.size());
  result.operand_count = static_cast<std::uint16_t>(operands.size());
  module_.all_operands.insert(module_.all_operands.end(), operands.begin(), operands.end());
  function().instructions.push_back(result);
}

} // namespace ptxasw
