// Any command line and any options file: understood or left to ptxas, never a crash.

#include "wrapper/drop_in/command_line.h"
#include "wrapper/drop_in/options_file.h"
#include "wrapper/settings/load_settings.h"

#include <cstdlib>

namespace {

void require(bool condition) {
  if (!condition)
    std::abort();
}

} // namespace

/// One word per line. No word names a file outside the current directory.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  using namespace ptxasw::test;
  const std::string text(reinterpret_cast<const char *>(data), size);
  std::vector<std::string> words(1);
  for (const char c : text)
    if (c == '\n')
      words.emplace_back();
    else if (c != '/' && c != '\0')
      words.back() += c;
  const CommandLine line = parse_command_line(words);
  for (const Input &input : line.inputs) {
    require(input.argument < line.arguments.size());
    require(input.prefix <= line.arguments[input.argument].size());
  }
  require(line.changed || line.doubt || line.arguments == words);
  for (const OwnOption &own : line.own)
    require(!own.name.empty() || !own.value || line.changed);
  target_number(line.target);
  Settings settings;
  for (const OwnOption &own : line.own)
    (void)apply_setting(settings, own.name, own.value.value_or(""), Origin::flag, own.name);
  (void)describe_configuration(settings);
  if (const auto split = split_options(text))
    for (const std::string &word : *split)
      require(word.size() <= text.size());
  return 0;
}
