// random_FAMILY: does what the family's file in versions/ has for the name by which it is called.

#include "tests/random/versions.h"

#include <filesystem>
#include <fmt/core.h>
#include <map>

namespace {

std::map<std::string, RandomProgram::Main> &programs() {
  static std::map<std::string, RandomProgram::Main> all;
  return all;
}

} // namespace

RandomProgram::RandomProgram(std::string_view name, Main main) {
  programs().emplace("random_" + std::string(name), main);
}

int main(int argc, char **argv) {
  const auto found = programs().find(std::filesystem::path(argv[0]).filename().string());
  if (found != programs().end())
    return found->second(argc, argv);
  for (const auto &[name, run] : programs())
    fmt::print(stderr, "{}\n", name);
  return 2;
}
