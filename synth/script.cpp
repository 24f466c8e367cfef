// What a line says of parameters and of a thread's place it says by name. So nothing else of the
// version may have such a name.

#include "synth/script.h"

#include <algorithm>
#include <set>

namespace ptxasw::inline synth {
namespace {

/// The type of a register that a hole of a kind is printed as; null: it is no hole.
const char *type_of(char kind) {
  return kind == 'r'   ? "b32"
         : kind == 'w' ? "b64"
         : kind == 'h' ? "b16"
         : kind == 'p' ? "pred"
                       : nullptr;
}

} // namespace

std::string ScriptPrinter::filled(std::string_view pattern) {
  std::string result;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t end = pattern[at] == '<' ? pattern.find('>', at) : pattern.npos;
    const std::string_view name = end == pattern.npos ? "" : pattern.substr(at + 1, end - at - 1);
    if (name.starts_with('$')) {
      result += "$" + prefix_ + std::string(name.substr(1));
    } else if (name.size() > 2 && name[1] == '_' && type_of(name[0])) {
      const std::string reg = "%" + prefix_ + std::string(name.substr(2));
      registers[reg] = type_of(name[0]);
      result += reg;
    } else {
      result += pattern[at++];
      continue;
    }
    at = end + 1;
  }
  return result;
}

ScriptReader::ScriptReader(const Module &module, const Function &version, const Function &kernel)
    : reader(module, version, kernel), module_(module) {
  std::set<std::string_view> names{"%tid", "%ntid", "%ctaid", "%nctaid"};
  for (const Variable &parameter : version.parameters)
    names.insert(parameter.name);
  const auto hides = [&](const auto &one) { return names.contains(one.name); };
  if (std::any_of(version.registers.begin(), version.registers.end(), hides) ||
      std::any_of(version.variables.begin(), version.variables.end(), hides))
    throw proof::NotProved{"a name stands for something else"};
}

} // namespace ptxasw::synth
