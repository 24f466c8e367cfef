// What a parsed module answers about itself. Text is kept and everything points into it, so nothing
// of the input is lost.

#include "grammar/module.h"

#include <algorithm>

namespace ptxasw::ptx {

Opcode Opcode::of(std::string_view text) {
  Opcode opcode;
  opcode.text = text;
  std::string_view rest = opcode.text;
  opcode.base = rest.substr(0, rest.find('.'));
  opcode.op = base_opcode(opcode.base);
  rest.remove_prefix(opcode.base.size());
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find('.'));
    rest.remove_prefix(word.size());
    opcode.modifiers.push_back(word);
    if (const Modifier known = modifier(word); known != Modifier::count)
      opcode.known_modifiers.set(static_cast<std::size_t>(known));
    if (const ScalarType type = scalar_type(word); type != ScalarType::none) {
      if (opcode.type == ScalarType::none)
        opcode.type = type;
      else if (opcode.second_type == ScalarType::none)
        opcode.second_type = type;
    } else if (word == "v2" || word == "v4" || word == "v8") {
      opcode.vector = static_cast<unsigned>(word[1] - '0');
    } else if (const StateSpace space = state_space(word);
               space != StateSpace::generic && opcode.space == StateSpace::generic) {
      opcode.space = space;
    }
  }
  return opcode;
}

bool Opcode::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

const PerformanceDirective *Function::directive(std::string_view directive_name) const {
  for (const PerformanceDirective &candidate : directives)
    if (candidate.name == directive_name)
      return &candidate;
  return nullptr;
}

std::optional<std::uint64_t> Function::most_threads() const {
  for (const std::string_view bound : {"reqntid", "maxntid"})
    if (const PerformanceDirective *const block = directive(bound)) {
      std::uint64_t product = 1;
      for (const std::uint64_t extent : block->values)
        product *= std::min<std::uint64_t>(extent, 1 << 20);
      return product;
    }
  return std::nullopt;
}

const TargetList *Function::find_target_list(std::string_view list, std::uint32_t scope) const {
  for (std::uint32_t s = scope; s != no_index; s = scopes[s].parent)
    for (const TargetList &candidate : target_lists)
      if (candidate.scope == s && candidate.name == list)
        return &candidate;
  return nullptr;
}

const Label *Function::find_label(std::string_view label, std::uint32_t scope) const {
  for (std::uint32_t s = scope; s != no_index; s = scopes[s].parent)
    for (const Label &candidate : labels)
      if (candidate.scope == s && candidate.name == label)
        return &candidate;
  return nullptr;
}

const Variable *Module::variable(const Symbol &symbol) const {
  switch (symbol.kind) {
  case Symbol::Kind::module_variable:
    return &variables[symbol.index];
  case Symbol::Kind::function_variable:
    return &functions[symbol.function].variables[symbol.index];
  case Symbol::Kind::parameter:
    return &functions[symbol.function].parameters[symbol.index];
  case Symbol::Kind::return_parameter:
    return &functions[symbol.function].return_parameters[symbol.index];
  default:
    return nullptr;
  }
}

std::pair<std::uint32_t, std::uint32_t> Module::position(std::uint32_t offset) const {
  const std::string_view before = text().substr(0, offset);
  const auto line = static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::size_t line_begin = before.rfind('\n') + 1; // npos + 1 is 0
  return {line, static_cast<std::uint32_t>(offset - line_begin) + 1};
}

} // namespace ptxasw::ptx
