#pragma once

// What a command is to look at. People have PTX, CUDA sources, folders of them, and programs; what
// a file is is recognised by its bytes, not by its name.

#include "grammar/module.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::wrapper {

class Words;

/// What is asked about inputs.
struct InputRequest {
  std::vector<std::string> paths;        ///< files and folders; "-" is standard input
  std::vector<std::string> exclude;      ///< patterns of paths in folders (is_like())
  std::vector<std::string> nvcc_options; ///< of CUDA sources, each one or more words
  std::string build;                     ///< folder of a compile_commands.json; empty: none
  std::string arch;                      ///< to compile CUDA sources for; empty: as nvcc does
  bool folders = true;                   ///< may be among the paths
};

/// The words `input...`, `--exclude`, `--nvcc-options` and `-p`.
void declare_inputs(Words &words, InputRequest &request);

/// One module and the file that it came from, as the user named it: "<stdin>" for "-".
struct InputFile {
  std::string name;
  std::unique_ptr<Module> module;
  unsigned missing_semicolons = 0; ///< instructions that run into the next one
};

/// What the bytes of a file are.
enum class Content : unsigned char {
  empty,
  ptx,
  cuda,
  llvm,
  cubin,
  program, ///< an executable, object or library of the host, or a fat binary alone
  text,    ///< of some other kind
  unknown,
};
Content content_of(std::string_view bytes, std::string_view name);

/// All modules, in the order of the words; files of a folder in the order of their names. Says on
/// standard error what is wrong with the first that cannot be read, and then returns nothing; or,
/// with `missing`, counts those that cannot be read, and goes on.
std::optional<std::vector<InputFile>> load_inputs(const InputRequest &request,
                                                  unsigned *missing = nullptr);

} // namespace ptxasw::wrapper
