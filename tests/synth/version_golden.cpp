// version_golden [--write]
//
// What families write as versions of a kernel, to the letter. Each family has a folder of its name
// in versions/; each .ptx in it is a module, and the file beside it that ends in .expected says
// what the family writes for its last kernel: whole functions, or why there is none. Of a module
// that begins with `// variant: x2` that variant is looked at alone. All that is written must be
// proved. With
// --write the expectations are written anew, for review.

#include "synth/family.h"

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace ptxasw::test;
namespace fs = std::filesystem;

namespace {

std::string bytes_of(const fs::path &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// What is not proved of a version when it stands behind its module; empty: all is.
std::string fault_of(const Family &family, const Module &module, const Proposal &proposal,
                     const std::string &version) {
  const auto written = parse(std::string(module.text()) + "\n" + version, "written.ptx");
  if (!written)
    return format(written.error());
  const auto &functions = (*written)->functions;
  const auto proof =
      family.prove({**written, functions[module.functions.size() - 1]}, functions.back(), proposal);
  return proof ? "" : proof.error().why;
}

/// What a family says of a module's last kernel; a line that begins with `fault: ` if it is wrong.
std::string answer_of(const Family &family, const fs::path &path) {
  const std::string module_text = bytes_of(path);
  const auto module = parse(module_text, path.filename().string());
  if (!module)
    return "fault: " + format(module.error());
  const Function &kernel = (*module)->functions.back();
  const FamilyAnswer answer = propose(family, {**module, kernel});
  std::string text;
  for (const Refusal &refusal : answer.refusals)
    text += fmt::format("// refused, line {}: {}\n", refusal.line, refusal.reason);
  constexpr std::string_view key = "// variant: ";
  const std::string first(module_text.substr(0, module_text.find('\n')));
  for (const Proposal &proposal : answer.proposals) {
    if (first.starts_with(key) && first.substr(key.size()) != proposal.variant)
      continue;
    const std::string version = family.write({**module, kernel}, proposal);
    if (const std::string fault = fault_of(family, **module, proposal, version); !fault.empty())
      return fmt::format("fault: {} {}: {}", family.name, proposal.variant, fault);
    text += fmt::format("// {}\n{}", proposal.variant, version);
  }
  return text.empty() ? "fault: neither a version nor a refusal" : text;
}

} // namespace

int main(int argc, char **argv) {
  const bool write = argc > 1 && std::string_view(argv[1]) == "--write";
  unsigned files = 0, wrong = 0;
  for (const Family &family : families()) {
    const fs::path folder = fs::path(VERSIONS_DIR) / std::string(family.name);
    if (!fs::is_directory(folder)) {
      ++wrong;
      fmt::print("{}: no such folder\n", folder.string());
      continue;
    }
    std::vector<fs::path> paths;
    for (const auto &entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".ptx")
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const fs::path &path : paths) {
      const std::string answer = answer_of(family, path);
      const fs::path expected = fs::path(path).replace_extension(".expected");
      ++files;
      if (write && !answer.starts_with("fault: ")) {
        std::ofstream(expected) << answer;
      } else if (answer != bytes_of(expected)) {
        ++wrong;
        fmt::print("{}: expected\n{}\nfound\n{}\n", path.string(), bytes_of(expected), answer);
      }
    }
  }
  fmt::print("{} files, {} wrong\n", files, wrong);
  return wrong != 0;
}
