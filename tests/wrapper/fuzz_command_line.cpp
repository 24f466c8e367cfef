// libFuzzer: a command line is made of the input's lines; then the invariants of the parser are
// checked. The first byte says whether the lines are words or the text of an options file.

#include "wrapper/command_line.h"
#include "wrapper/load_settings.h"
#include "wrapper/options_file.h"

#include <cstdint>
#include <cstdlib>

using namespace ptxasw;

namespace {

void require(bool truth) {
  if (!truth)
    std::abort();
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size == 0)
    return 0;
  const std::string_view text(reinterpret_cast<const char *>(data) + 1, size - 1);
  const auto split = data[0] & 1 ? std::optional(lines_of(text)) : split_options(text);
  if (!split)
    return 0;
  const CommandLine line = parse_command_line(*split);
  for (const Input &input : line.inputs) {
    require(input.argument < line.arguments.size());
    require(input.prefix <= line.arguments[input.argument].size());
  }
  if (!line.changed)
    require(line.arguments == *split);
  Settings settings;
  for (const OwnOption &option : line.own)
    (void)apply_setting(settings, option.name, option.value.value_or(""), Origin::flag,
                        option.name);
  (void)describe_configuration(settings);
  (void)target_number(line.target);
  return 0;
}
