// What a line says of parameters and of a thread's place it says by name, and so does the kernel's
// code, which stands in the version as it is. So nothing else of the version may have such a name.
// What was added has names of its own, and each of them stands for one thing: so what is read of a
// register by its name is read of that register.

#include "synth/script.h"

#include "synth/prove/header.h"
#include "synth/prove/not_proved.h"

namespace ptxasw::synth {
namespace {

using proof::show, proof::show_at;

/// The type of a register that a hole stands for; nothing: it is no hole.
std::optional<ScalarType> type_of(std::string_view hole) {
  static const std::map<std::string_view, ScalarType> types = {{"r_", ScalarType::b32},
                                                               {"w_", ScalarType::b64},
                                                               {"h_", ScalarType::b16},
                                                               {"p_", ScalarType::pred}};
  const auto found = types.find(hole.substr(0, 2));
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

} // namespace

std::string plain_text(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
      result += c;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  while (!result.empty() && (result.back() == ';' || result.back() == ' '))
    result.pop_back();
  return result;
}

void Script::place(const std::string &name) {
  const std::string label = filled("<$" + name + ">");
  places[label] = static_cast<std::uint32_t>(instructions.size());
  text += label + ":\n";
}

void Script::same(std::string_view instruction) {
  instructions.emplace_back(instruction);
  text.append("\t").append(instruction).append("\n");
}

std::string Script::filled(std::string_view pattern) {
  std::string result;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t end = pattern[at] == '<' ? pattern.find('>', at) : pattern.npos;
    const std::string_view hole = end == pattern.npos ? "" : pattern.substr(at + 1, end - at - 1);
    std::string name;
    if (hole.starts_with('$')) {
      name = fmt::format("${}{}", prefix, hole.substr(1));
      places.try_emplace(name, no_index);
    } else if (const auto type = type_of(hole)) {
      name = fmt::format("%{}{}", prefix, hole.substr(2));
      show(registers.try_emplace(name, *type).first->second == *type, "two registers of one name");
    }
    result += name.empty() ? pattern.substr(at, 1) : name;
    at = name.empty() ? at + 1 : end + 1;
  }
  return result;
}

RegisterId register_named(const Function &version, std::string_view name) {
  RegisterId found = no_register;
  for (RegisterId reg = 0; reg < version.registers.size(); ++reg)
    if (version.registers[reg].name == name) {
      show(found == no_register, "two registers have one name");
      found = reg;
    }
  show(found != no_register, "a register is not there");
  return found;
}

void check_told(const Script &told, const Module &module, const Function &version,
                const Function &kernel) {
  proof::check_names(module, kernel, version);
  const std::vector<bool> added = proof::added_registers(kernel, version);
  for (const auto &[name, type] : told.registers) {
    const RegisterId reg = register_named(version, name);
    const Register &one = version.registers[reg];
    show(added[reg] && one.vector == 1 && bit_width(one.type) == bit_width(type),
         "not a register for that");
  }
  for (std::size_t i = 0; i < told.instructions.size(); ++i) {
    show(i < version.instructions.size(), "it ends before its code");
    const Instruction &one = version.instructions[i];
    show_at(one.line, one.well_formed && module.text(one.span) == told.instructions[i],
            "something else than what must be there");
  }
  for (const auto &[name, position] : told.places) {
    std::vector<std::uint32_t> found;
    for (const Label &one : version.labels)
      if (one.name == name)
        found.push_back(one.position);
    show(found == std::vector{position}, "a branch leads elsewhere");
  }
}

} // namespace ptxasw::synth
