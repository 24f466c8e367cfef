// Who calls? Started under the name of ptxas this is the drop-in, which has to be quick about it;
// otherwise it is the tool with its subcommands.

#include "wrapper/commands/cli.h"
#include "wrapper/drop_in/drop_in.h"
#include "wrapper/drop_in/find_real.h"
#include "wrapper/os/files.h"

#include <string>
#include <string_view>
#include <vector>

namespace {

/// `ptxas`, `ptxas-blackwell`, `ptxas.exe`: callers have several names for it.
bool is_ptxas(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "ptxas" || name.starts_with("ptxas-") || name.starts_with("ptxas.");
}

} // namespace

int main(int argc, char **argv) {
  ptxasw::wrapper::occupy_standard_descriptors();
  const std::string name = argc > 0 ? argv[0] : "ptxas";
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  // Some callers give a program another argv[0] than its path; either will do.
  if (is_ptxas(name) || is_ptxas(ptxasw::wrapper::invoked_path()))
    return ptxasw::wrapper::drop_in(name, words);
  return ptxasw::wrapper::command_line_interface(words);
}
