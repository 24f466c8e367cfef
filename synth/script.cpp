// What a line says of parameters and of a thread's place it says by name, and so does the kernel's
// code, which stands in the version as it is. So nothing else of the version may have such a name.

#include "synth/script.h"

#include "synth/prove/header.h"

namespace ptxasw::synth {
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
  proof::check_names(module, kernel, version);
}

} // namespace ptxasw::synth
