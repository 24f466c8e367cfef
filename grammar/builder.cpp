#include "grammar/builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace ptxasw {
namespace {

/// Index of the bracket that closes the one at `open`, or the size if there is none.
std::size_t closing(std::span<const Token> tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const Token &token = tokens[i];
    if (token.is('(') || token.is('[') || token.is('{'))
      ++depth;
    else if (token.is(')') || token.is(']') || token.is('}'))
      if (--depth == 0)
        return i;
  }
  return tokens.size();
}

/// Splits at the commas outside every bracket. No tokens give no parts.
std::vector<std::span<const Token>> split(std::span<const Token> tokens) {
  std::vector<std::span<const Token>> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token &token = tokens[i];
    if (token.is('(') || token.is('[') || token.is('{'))
      ++depth;
    else if (token.is(')') || token.is(']') || token.is('}'))
      --depth;
    else if (token.is(',') && depth == 0) {
      parts.push_back(tokens.subspan(begin, i - begin));
      begin = i + 1;
    }
  }
  if (!tokens.empty())
    parts.push_back(tokens.subspan(begin));
  return parts;
}

Span span_of(std::span<const Token> tokens) {
  return {tokens.front().span.begin, tokens.back().span.end};
}

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

/// The scope of what is declared outside of functions.
constexpr std::uint32_t module_scope = no_index;

/// Names are looked up from scope to scope; this bounds the work a name takes.
constexpr std::size_t deepest_scope = 1000;

/// What a run of dot-words in a declaration says.
struct DeclarationSpecifier {
  StateSpace space = StateSpace::generic;
  ScalarType type = ScalarType::none;
  unsigned vector = 1;
  unsigned alignment = 0;
  bool is_extern = false;
};

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
    for (const auto *list : {&function().parameters, &function().return_parameters})
      for (const Variable &parameter : *list) {
        if (visible_.contains(parameter.name))
          ambiguous_.insert(parameter.name);
        declare(parameter.name, {.type = parameter.type,
                                 .vector = parameter.vector,
                                 .is_register = parameter.space == StateSpace::reg});
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
// `.param` variables of calls are everywhere and named alike, and nobody takes their address.
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
  // every mention is a register of its own, of which nothing is known.
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

namespace {

/// Reads the dot-words of a declaration from `position` on; stops at the first name.
DeclarationSpecifier read_specifier(const Module &module, std::span<const Token> tokens,
                                    std::size_t &position) {
  DeclarationSpecifier result;
  bool pointer = false;
  while (position < tokens.size()) {
    const Token &token = tokens[position];
    if (token.is('(')) { // .attribute(.managed)
      position = closing(tokens, position) + 1;
      continue;
    }
    if (token.kind != TokenKind::dot_word)
      break;
    const std::string_view word = module.text(token.span);
    ++position;
    if (word == ".align") {
      if (position < tokens.size()) {
        const auto value = number_value(module.text(tokens[position++].span));
        if (value && !pointer)
          result.alignment = static_cast<unsigned>(value->bits);
      }
    } else if (word == ".ptr") {
      pointer = true; // the space and alignment that follow are the pointee's
    } else if (word == ".extern") {
      result.is_extern = true;
    } else if (word == ".v2" || word == ".v4" || word == ".v8") {
      result.vector = static_cast<unsigned>(word[2] - '0');
    } else if (const ScalarType type = scalar_type(word); type != ScalarType::none) {
      result.type = type;
    } else if (const StateSpace space = state_space(word);
               space != StateSpace::generic && !pointer) {
      result.space = space;
    }
  }
  return result;
}

/// Reads `name[2][3]`'s brackets.
void read_extents(const Module &module, std::span<const Token> tokens, std::size_t &position,
                  Variable &variable) {
  while (position < tokens.size() && tokens[position].is('[')) {
    const std::size_t close = closing(tokens, position);
    const auto extent =
        constant_expression(module.text(), tokens.subspan(position + 1, close - position - 1));
    variable.count *= extent ? static_cast<std::uint64_t>(*extent) : 0;
    variable.is_array = true;
    position = close + 1;
  }
}

} // namespace

void Builder::declaration(std::span<const Token> tokens) {
  std::size_t position = 0;
  const DeclarationSpecifier specifier = read_specifier(module_, tokens, position);
  const bool is_register = specifier.space == StateSpace::reg;
  if (specifier.space == StateSpace::generic)
    return; // .alias, .callprototype and whatever comes: nothing that code refers to by register
  while (position < tokens.size() && !tokens[position].is(';')) {
    const Token &name_token = tokens[position];
    if (name_token.kind != TokenKind::word)
      throw SyntaxError{name_token.span.begin, "expected a name in this declaration"};
    const std::string_view name = text(name_token);
    ++position;
    std::uint64_t range = 0;
    if (position < tokens.size() && tokens[position].is('<')) {
      const auto value =
          position + 2 < tokens.size() ? number_value(text(tokens[position + 1])) : std::nullopt;
      if (!value || !tokens[position + 2].is('>'))
        throw SyntaxError{tokens[position].span.begin,
                          "expected <count> after the register prefix"};
      range = static_cast<std::uint64_t>(value->bits);
      position += 3;
    }
    Variable variable{.name = name,
                      .space = specifier.space,
                      .type = specifier.type,
                      .vector = specifier.vector,
                      .alignment = specifier.alignment,
                      .is_extern = specifier.is_extern,
                      .span = span_of(tokens)};
    read_extents(module_, tokens, position, variable);
    if (position < tokens.size() && tokens[position].is('=')) {
      const std::size_t begin = ++position;
      int depth = 0;
      for (; position < tokens.size(); ++position) {
        const Token &token = tokens[position];
        if (depth == 0 && (token.is(',') || token.is(';')))
          break;
        if (token.is('{') || token.is('(') || token.is('['))
          ++depth;
        else if (token.is('}') || token.is(')') || token.is(']'))
          --depth;
      }
      if (position > begin)
        variable.initializer = span_of(tokens.subspan(begin, position - begin));
    }
    if (in_body_ && !is_register)
      note_body_variable(name, specifier.space);
    declare(name, {.type = specifier.type,
                   .vector = specifier.vector,
                   .count = range,
                   .is_register = is_register});
    if (!is_register)
      (in_body_ ? function().variables : module_.variables).push_back(variable);
    if (position < tokens.size() && tokens[position].is(','))
      ++position;
    else if (position < tokens.size() && !tokens[position].is(';'))
      throw SyntaxError{tokens[position].span.begin, "expected ',' or ';' in this declaration"};
  }
}

std::vector<Variable> Builder::parameter_list(std::span<const Token> tokens,
                                              std::size_t &position) {
  std::vector<Variable> parameters;
  if (position >= tokens.size() || !tokens[position].is('('))
    return parameters;
  const std::size_t close = closing(tokens, position);
  for (const auto part : split(tokens.subspan(position + 1, close - position - 1))) {
    std::size_t at = 0;
    const DeclarationSpecifier specifier = read_specifier(module_, part, at);
    if (at >= part.size())
      continue; // "..." of vprintf-like prototypes never reaches here; unnamed ones do
    Variable parameter{.name = text(part[at]),
                       .space = specifier.space,
                       .type = specifier.type,
                       .vector = specifier.vector,
                       .alignment = specifier.alignment,
                       .span = span_of(part)};
    ++at;
    read_extents(module_, part, at, parameter);
    parameters.push_back(parameter);
  }
  position = close + 1;
  return parameters;
}

void Builder::function_header(std::span<const Token> tokens, std::size_t keyword) {
  if (in_body_)
    throw SyntaxError{tokens.front().span.begin, "a function inside a function"};
  Function result;
  result.is_entry = text(tokens[keyword]) == ".entry";
  result.span = span_of(tokens);
  result.line = tokens.front().line;
  std::size_t position = keyword + 1;
  while (position < tokens.size() && tokens[position].kind == TokenKind::dot_word) {
    ++position; // .attribute(...), .noreturn
    if (position < tokens.size() && tokens[position].is('('))
      position = closing(tokens, position) + 1;
  }
  if (!result.is_entry)
    result.return_parameters = parameter_list(tokens, position);
  if (position >= tokens.size() || tokens[position].kind != TokenKind::word)
    throw SyntaxError{tokens[std::min(position, tokens.size() - 1)].span.begin,
                      "expected a function name"};
  result.name = text(tokens[position++]);
  result.parameters = parameter_list(tokens, position);
  module_.functions.push_back(std::move(result));
  performance_directives(tokens, position);
  // A header may end in the ';' of a .pragma and still have a body.
  body_expected_ = true;
}

void Builder::performance_directives(std::span<const Token> tokens, std::size_t position) {
  while (position < tokens.size()) {
    if (tokens[position].kind != TokenKind::dot_word) {
      ++position;
      continue;
    }
    PerformanceDirective result;
    result.name = text(tokens[position++]).substr(1);
    while (position < tokens.size() && tokens[position].kind != TokenKind::dot_word) {
      if (tokens[position].kind == TokenKind::number && result.count < 3)
        if (const auto value = number_value(text(tokens[position])))
          result.values[result.count++] = static_cast<std::uint32_t>(value->bits);
      ++position;
    }
    function().directives.push_back(result);
  }
}

std::uint32_t Builder::intern_opcode(std::span<const Token> tokens) {
  const auto [entry, is_new] =
      opcode_ids_.try_emplace(text(tokens[0]), static_cast<std::uint32_t>(module_.opcodes.size()));
  if (!is_new)
    return entry->second;
  Opcode opcode;
  opcode.text = text(tokens[0]);
  std::string_view rest = opcode.text;
  opcode.base = rest.substr(0, rest.find('.'));
  rest.remove_prefix(opcode.base.size());
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view modifier = rest.substr(0, rest.find('.'));
    rest.remove_prefix(modifier.size());
    opcode.modifiers.push_back(modifier);
    if (const ScalarType type = scalar_type(modifier); type != ScalarType::none) {
      if (opcode.type == ScalarType::none)
        opcode.type = type;
      else if (opcode.second_type == ScalarType::none)
        opcode.second_type = type;
    } else if (modifier == "v2" || modifier == "v4" || modifier == "v8") {
      opcode.vector = static_cast<unsigned>(modifier[1] - '0');
    } else if (const StateSpace space = state_space(modifier);
               space != StateSpace::generic && opcode.space == StateSpace::generic) {
      opcode.space = space;
    }
  }
  module_.opcodes.push_back(std::move(opcode));
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
  result.opcode = intern_opcode(tokens.subspan(position, 1));
  ++position;
  // Modifiers set apart from their opcode: legal, and nobody writes them. The bytes stay as they
  // are; the instruction is opaque.
  while (position < tokens.size() && tokens[position].kind == TokenKind::dot_word) {
    result.well_formed = false;
    ++position;
  }
  std::vector<Operand> operands;
  parse_operands(tokens.subspan(position, tokens.size() - 1 - position), operands, result);
  if (operands.size() > UINT16_MAX)
    throw SyntaxError{tokens[position].span.begin, "too many operands"};
  result.first_operand = static_cast<std::uint32_t>(module_.all_operands.size());
  result.operand_count = static_cast<std::uint16_t>(operands.size());
  module_.all_operands.insert(module_.all_operands.end(), operands.begin(), operands.end());
  function().instructions.push_back(result);
}

void Builder::store_children(Operand &operand, const std::vector<Operand> &children) {
  operand.first_child = static_cast<std::uint32_t>(module_.all_operands.size());
  operand.child_count = static_cast<std::uint32_t>(children.size());
  module_.all_operands.insert(module_.all_operands.end(), children.begin(), children.end());
}

void Builder::parse_operands(std::span<const Token> tokens, std::vector<Operand> &out,
                             Instruction &user) {
  for (const auto part : split(tokens)) {
    if (part.empty())
      // An instruction's tokens go on with a ',' or ';' or bracket where the operand should be.
      throw SyntaxError{part.data()->span.begin, "an operand is missing"};
    out.push_back(parse_operand(part, user));
  }
}

Operand Builder::name_operand(const Token &token, Instruction &user) {
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
      user.well_formed = false;
  } else if (std::uint32_t index;
             (name[0] == '%' && !find_declaration(name, index)) || name == "WARP_SZ") {
    operand.kind = Operand::Kind::special;
  } else {
    operand.kind = Operand::Kind::symbol;
    if (ambiguous_.contains(name))
      user.well_formed = false;
  }
  return operand;
}

Operand Builder::parse_address(std::span<const Token> inside, Instruction &user) {
  Operand operand;
  operand.kind = Operand::Kind::address;
  operand.span = span_of(inside);
  const Token &first = inside.front();
  if (first.kind == TokenKind::word) {
    operand.value = 0;
    if (inside.size() > 1) {
      const auto offset = inside[1].is('+') || inside[1].is('-')
                              ? constant_expression(module_.text(), inside.subspan(1))
                              : std::nullopt;
      if (!offset)
        return Operand{};
      operand.value = *offset;
    }
    store_children(operand, {name_operand(first, user)});
    return operand;
  }
  if (const auto value = constant_expression(module_.text(), inside)) {
    Operand base;
    base.kind = Operand::Kind::integer;
    base.span = operand.span;
    base.value = *value;
    store_children(operand, {base});
    return operand;
  }
  return Operand{};
}

Operand Builder::parse_operand(std::span<const Token> tokens, Instruction &user) {
  using Kind = Operand::Kind;
  Operand operand;
  operand.span = span_of(tokens);
  const Token &first = tokens.front();
  if (tokens.size() == 1) {
    if (first.kind == TokenKind::word)
      return name_operand(first, user);
    if (first.kind == TokenKind::number) {
      const auto number = number_value(text(first));
      if (!number)
        throw SyntaxError{first.span.begin, fmt::format("malformed number '{}'", text(first))};
      operand.kind = number->type == ScalarType::none ? Kind::integer : Kind::real;
      operand.real_type = number->type;
      operand.value = number->bits;
      return operand;
    }
  }
  const bool bracketed =
      (first.is('[') || first.is('{') || first.is('(')) && closing(tokens, 0) == tokens.size() - 1;
  if (bracketed && first.is('[') && tokens.size() > 2) {
    Operand address = parse_address(tokens.subspan(1, tokens.size() - 2), user);
    if (address.kind == Kind::address) {
      address.span = operand.span;
      return address;
    }
    // `[tensor, {x, y}]`: it only reads registers, but it is no address of the simple form.
    if (tokens[2].is(',')) {
      store_registers(operand, tokens, user);
      return operand;
    }
  } else if (bracketed && first.is('{')) {
    operand.kind = Kind::vector;
    std::vector<Operand> children;
    parse_operands(tokens.subspan(1, tokens.size() - 2), children, user);
    store_children(operand, children);
    return operand;
  }
  if (bracketed && first.is('(') && module_.opcode(user).base == "call") {
    operand.kind = Kind::group;
    std::vector<Operand> children;
    parse_operands(tokens.subspan(1, tokens.size() - 2), children, user);
    store_children(operand, children);
    return operand;
  }
  if (const auto value = constant_expression(module_.text(), tokens)) {
    operand.kind = Kind::integer;
    operand.value = *value;
    return operand;
  }
  if (first.is('!') && tokens.size() == 2 && tokens[1].kind == TokenKind::word) {
    operand = name_operand(tokens[1], user);
    operand.negated = true;
    operand.span.begin = first.span.begin;
    return operand;
  }
  if (first.is('-') && tokens.size() == 2 && tokens[1].kind == TokenKind::number) {
    const auto number = number_value(text(tokens[1]));
    if (number) {
      operand.kind = Kind::real;
      operand.real_type = number->type;
      const int sign_bit = number->type == ScalarType::f32 ? 31 : 63;
      operand.value = static_cast<std::int64_t>(static_cast<std::uint64_t>(number->bits) ^
                                                (std::uint64_t{1} << sign_bit));
      return operand;
    }
  }
  // `d|p` and `{a, b}|p`.
  if (tokens.size() >= 3 && tokens[tokens.size() - 2].is('|') &&
      (tokens.size() == 3 || (first.is('{') && closing(tokens, 0) == tokens.size() - 3))) {
    operand.kind = Kind::pair;
    const Operand left = parse_operand(tokens.first(tokens.size() - 2), user);
    store_children(operand, {left, parse_operand(tokens.last(1), user)});
    return operand;
  }
  if (first.kind == TokenKind::word && tokens.size() > 2 &&
      (tokens[1].is('+') || tokens[1].is('-')))
    if (const auto offset = constant_expression(module_.text(), tokens.subspan(1))) {
      Operand name = name_operand(first, user);
      if (name.kind == Kind::symbol) {
        name.value = *offset;
        name.span = operand.span;
        return name;
      }
    }
  // Anything else is opaque, but the registers in it are known.
  store_registers(operand, tokens, user);
  user.well_formed = false;
  return operand;
}

void Builder::store_registers(Operand &operand, std::span<const Token> tokens, Instruction &user) {
  std::vector<Operand> children;
  for (const Token &token : tokens)
    if (token.kind == TokenKind::word)
      if (Operand name = name_operand(token, user); name.kind == Operand::Kind::reg)
        children.push_back(name);
  operand.kind = Operand::Kind::other;
  store_children(operand, children);
}

} // namespace ptxasw
