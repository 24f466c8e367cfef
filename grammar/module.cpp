// What a parsed module answers about itself. Text is kept and everything points into it, so nothing
// of the input is lost.

#include "grammar/module.h"

#include <algorithm>

namespace ptxasw {

bool Opcode::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

const PerformanceDirective *Function::directive(std::string_view directive_name) const {
  for (const PerformanceDirective &candidate : directives)
    if (candidate.name == directive_name)
      return &candidate;
  return nullptr;
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

} // namespace ptxasw
