#pragma once

// From a command line to the texts of its modules, and from rewritten texts to the real ptxas.
// Commands ask ptxas about a module through here, too:
//   assemble_for_messages(real->path, "sm_90", "saxpy.ptx", module.text()) // what -v prints

#include "wrapper/drop_in/command_line.h"
#include "wrapper/drop_in/outcome.h"

#include "synth/report.h"

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper {

/// One module on its way through us.
struct InputModule {
  Input input;
  std::string name;                 ///< as the caller knows it
  std::string original;             ///< its text
  std::string rewritten;            ///< what the real ptxas is to get
  bool changed = false;             ///< true if the two differ
  std::vector<std::uint32_t> lines; ///< of `rewritten`, as in RewriteResult
  ModuleReport report;
  unsigned siblings = 0;                    ///< versions of kernels in the rewritten text
  std::vector<std::string> left_out;        ///< those beyond the budget
  std::size_t own_work = 0, added_work = 0; ///< as in SiblingResult
};

/// What people call an input: its path, "-" or "command line".
std::string describe_input(const CommandLine &line, const Input &input);

/// Reads every input. Standard input is put back in place, so that the real ptxas can still read
/// all of it.
/// Errors: the first input that is not a regular file or cannot be read.
tl::expected<std::vector<InputModule>, std::string> read_modules(const CommandLine &line);

/// The result.
struct Handover {
  Outcome outcome = Outcome::rewritten;
  std::string detail;
  int exit_code = 0; ///< for the caller, if `outcome` is `rewritten`
};

/// Has the real ptxas assemble the rewritten modules and passes its messages on, in the caller's
/// terms. Any other outcome than `rewritten` means: nothing was shown, run it on the original.
Handover hand_over(const std::string &real, const std::string &name, const CommandLine &line,
                   const std::vector<InputModule> &modules);

/// A ptxas to ask about modules, and the line that it is called with for them.
struct AskedTool {
  std::string path, name;
  CommandLine line;
  std::string before{}; ///< the assembler of GCC's that has them first; empty: none has
};

/// Has the real ptxas assemble the modules, rewritten or not, with `-v` and without an output.
/// Returns its messages. Errors: what it says if it refuses, in the caller's terms, or that it
/// could not be run.
tl::expected<std::string, std::string>
assemble_for_messages(const AskedTool &asked, const std::vector<InputModule> &modules,
                      bool rewritten);

/// The same for the text of one module, called `file` in messages, for a target.
tl::expected<std::string, std::string> assemble_for_messages(const std::string &real,
                                                             const std::string &target,
                                                             const std::string &file,
                                                             std::string_view text);

/// The exit code for a child's status; a child that was killed takes us along the same way.
int exit_like(int status);

} // namespace ptxasw::wrapper
