#include "synth/script.h"

#include "synth/prove/not_proved.h"

namespace ptxasw::synth {
namespace {

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

void Script::same(std::string_view instruction) {
  text.append("\t").append(instruction).append("\n");
  ++instructions;
}

std::string Script::filled(std::string_view pattern) {
  std::string result;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t end = pattern[at] == '<' ? pattern.find('>', at) : pattern.npos;
    const std::string_view hole = end == pattern.npos ? "" : pattern.substr(at + 1, end - at - 1);
    std::string name;
    if (hole.starts_with('$')) {
      name = fmt::format("${}{}", prefix, hole.substr(1));
    } else if (const auto type = type_of(hole)) {
      name = fmt::format("%{}{}", prefix, hole.substr(2));
      proof::show(registers.try_emplace(name, *type).first->second == *type,
                  "two registers of one name");
    }
    result += name.empty() ? pattern.substr(at, 1) : name;
    at = name.empty() ? at + 1 : end + 1;
  }
  return result;
}

} // namespace ptxasw::synth
