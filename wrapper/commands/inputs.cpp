// CUDA sources go through the nvcc that lies beside the real ptxas, with -lineinfo, into a file
// that is gone when it has been read.

#include "wrapper/commands/inputs.h"

#include "grammar/fat_binary.h"

#include "wrapper/commands/command.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/find_real.h"
#include "wrapper/lint/names.h"
#include "wrapper/os/files.h"
#include "wrapper/os/process.h"
#include "wrapper/os/progress.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tl/expected.hpp>
#include <unistd.h>
#include <utility>

namespace ptxasw::wrapper {
namespace {

namespace fs = std::filesystem;

/// A folder for temporary files that is gone with it.
class ScratchFolder {
public:
  ScratchFolder() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "ptxasw-XXXXXX").string();
    if (::mkdtemp(name.data()))
      path_ = name;
  }
  ~ScratchFolder() {
    std::error_code error;
    if (!path_.empty())
      fs::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder &) = delete;
  ScratchFolder &operator=(const ScratchFolder &) = delete;
  /// Empty if it could not be made.
  const fs::path &path() const { return path_; }

private:
  fs::path path_;
};

/// The text behind blanks and comments of C++.
std::string_view behind_comments(std::string_view text) {
  while (!text.empty()) {
    const std::size_t first = text.find_first_not_of(" \t\r\n\f\v");
    if (first == std::string_view::npos)
      return "";
    text.remove_prefix(first);
    const bool line = text.starts_with("//"), block = text.starts_with("/*");
    if (!line && !block)
      return text;
    const std::size_t end = text.find(line ? "\n" : "*/", 2);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + (line ? 1 : 2));
  }
  return text;
}

/// Markdown, JSON, HTML: what may speak of PTX and CUDA and is neither.
bool is_document(std::string_view bytes) {
  const std::size_t first = std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size());
  const std::string_view text = bytes.substr(first);
  return text.starts_with('{') || text.starts_with('[') || text.starts_with('<') ||
         text.starts_with("# ") || bytes.find("\n```") != std::string_view::npos;
}

std::vector<std::string> words_of(const std::vector<std::string> &texts) {
  std::vector<std::string> words;
  for (const std::string &text : texts)
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      if (end > at)
        words.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  return words;
}

tl::expected<std::string, std::string> find_nvcc(const Settings &settings) {
  const auto real = find_real(settings.real, invoked_path());
  if (real)
    if (const std::string nvcc = (fs::path(real->path).parent_path() / "nvcc").string();
        ::access(nvcc.c_str(), X_OK) == 0)
      return nvcc;
  return tl::unexpected(
      std::string("there is no nvcc to compile it with; put one on PATH, set CUDA_HOME, or give "
                  "the PTX (`nvcc -ptx -lineinfo`)"));
}

/// How a build compiles one file.
struct CompileCommand {
  std::string file, directory; ///< absolute
  std::string arch;            ///< `sm_90`, the first that is asked for; empty: nvcc's own
  std::vector<std::string> options;
};

/// The words of a shell's command, of which JSON compilation databases say only that quotes and
/// backslashes are as usual.
std::vector<std::string> shell_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      if (open)
        words.push_back(std::exchange(word, ""));
      open = false;
      continue;
    }
    open = true;
    if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (c == '\\' && quote != '\'' && i + 1 < text.size())
      word += text[++i];
    else
      word += c;
  }
  if (open)
    words.push_back(word);
  return words;
}

/// Of a compiler's words those that say what the source means: no inputs, outputs and
/// architectures.
void keep_options(const std::vector<std::string> &words, CompileCommand &command) {
  constexpr std::string_view dropped[] = {"-c",      "-dc",        "-dw",       "-MD",
                                          "-MMD",    "-MP",        "-ptx",      "-cubin",
                                          "-fatbin", "--device-c", "-lineinfo", "-G"};
  constexpr std::string_view with_value[] = {
      "-o", "-MF", "-MT", "-MQ", "-x", "-gencode", "-arch", "-code", "--generate-code"};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string &word = words[i];
    const std::string name = word.substr(0, word.find('='));
    const bool of_arch = name == "-gencode" || name == "--generate-code" || name == "-arch" ||
                         name == "--gpu-architecture";
    if (of_arch) {
      const std::string value =
          name.size() < word.size() || i + 1 == words.size() ? word : words[i + 1];
      for (const std::string_view prefix : {"compute_", "sm_"})
        if (const std::size_t at = value.find(prefix);
            at != std::string::npos && command.arch.empty()) {
          const std::size_t from = at + prefix.size();
          const std::size_t end = std::min(value.find_first_of(",]\"'", from), value.size());
          command.arch = "sm_" + value.substr(from, end - from);
        }
    }
    const bool takes =
        std::find(std::begin(with_value), std::end(with_value), word) != std::end(with_value);
    if (takes)
      ++i;
    const bool is_file = (fs::path(command.directory) / word).lexically_normal() ==
                         fs::path(command.file).lexically_normal();
    if (!takes && !of_arch && !is_file &&
        std::find(std::begin(dropped), std::end(dropped), word) == std::end(dropped))
      command.options.push_back(word);
  }
}

/// What a compile_commands.json says, of a folder. Errors: it cannot be read, or is none.
tl::expected<std::vector<CompileCommand>, std::string>
read_compile_commands(const std::string &folder) {
  const std::string path = (fs::path(folder) / "compile_commands.json").string();
  const auto text = read_input(path);
  if (!text)
    return tl::unexpected(text.error());
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  std::vector<CompileCommand> commands;
  if (!json.is_array())
    return tl::unexpected(fmt::format("`{}` is no list of commands", path));
  for (const auto &entry : json) {
    if (!entry.is_object() || !entry.contains("file") || !entry["file"].is_string())
      return tl::unexpected(fmt::format("`{}` has an entry without `file`", path));
    const auto is_text = [](const auto &value) { return value.is_string(); };
    for (const char *member : {"directory", "command"})
      if (entry.contains(member) && !is_text(entry[member]))
        return tl::unexpected(fmt::format("`{}`: `{}` of an entry is no text", path, member));
    CompileCommand command;
    command.directory = fs::absolute(entry.value("directory", folder)).string();
    command.file = (fs::path(command.directory) / entry["file"].get<std::string>()).string();
    const bool has_words = entry.contains("arguments") && entry["arguments"].is_array();
    if (has_words && !std::all_of(entry["arguments"].begin(), entry["arguments"].end(), is_text))
      return tl::unexpected(fmt::format("`{}`: `arguments` of an entry are no texts", path));
    const auto words = has_words ? entry["arguments"].get<std::vector<std::string>>()
                                 : shell_words(entry.value("command", ""));
    keep_options(words, command);
    commands.push_back(std::move(command));
  }
  return commands;
}

/// How a build compiles a source. Errors: also that it does not.
tl::expected<CompileCommand, std::string> command_for(const std::string &source,
                                                      const std::string &folder) {
  auto commands = read_compile_commands(folder);
  if (!commands)
    return tl::unexpected(commands.error());
  std::error_code error;
  for (CompileCommand &command : *commands)
    if (fs::equivalent(command.file, source, error))
      return std::move(command);
  return tl::unexpected(
      fmt::format("the compile_commands.json of `{}` does not compile `{}`", folder, source));
}

/// The PTX of a CUDA source. Errors: what nvcc says, or why it could not be asked.
tl::expected<std::string, std::string> compile(const std::string &source, const std::string &shown,
                                               const InputRequest &request) {
  const auto settings = load_settings({}, "--");
  if (!settings)
    return tl::unexpected(settings.error());
  const auto nvcc = find_nvcc(*settings);
  if (!nvcc)
    return tl::unexpected(fmt::format("`{}` is a CUDA source, and {}", shown, nvcc.error()));
  const ScratchFolder folder;
  if (folder.path().empty())
    return tl::unexpected(std::string("cannot make a temporary folder"));
  const std::string ptx = (folder.path() / "module.ptx").string();
  ChildPlan plan{*nvcc, "nvcc", {"-ptx", "-lineinfo", "-o", ptx}, -1, STDERR_FILENO};
  std::string arch = request.arch, input = source;
  if (!request.build.empty()) {
    const auto command = command_for(source, request.build);
    if (!command)
      return tl::unexpected(command.error());
    input = fs::absolute(source).string();
    if (arch.empty())
      arch = command->arch;
    // Its words may name folders as they are seen from where it is run.
    plan = {"/bin/sh",
            "sh",
            {"-c", "cd \"$0\" && exec \"$@\"", command->directory, *nvcc, "-ptx", "-lineinfo", "-o",
             ptx},
            -1,
            STDERR_FILENO};
    plan.arguments.insert(plan.arguments.end(), command->options.begin(), command->options.end());
  }
  if (!arch.empty())
    plan.arguments.push_back("-arch=" + arch);
  for (std::string &word : words_of(request.nvcc_options))
    plan.arguments.push_back(std::move(word));
  plan.arguments.insert(plan.arguments.end(), {"-x", "cu", input});
  Progress progress;
  progress.show(fmt::format("nvcc compiles {}", shown));
  const ChildResult child = run_child(plan);
  progress.clear();
  if (!child.succeeded())
    return tl::unexpected(fmt::format("nvcc does not compile `{}`{}{}", shown,
                                      child.captured.empty() ? "" : ":\n", child.captured));
  tell_user(child.captured); // its warnings
  return read_input(ptx);
}

/// Why what the bytes of a file are is nothing to look at; empty: it may be.
std::string no_ptx(Content content, const std::string &shown) {
  switch (content) {
  case Content::empty:
    return fmt::format("`{}` is empty; give PTX or a CUDA source", shown);
  case Content::cubin:
    return fmt::format("`{}` is a cubin: machine code, without the PTX that it was made of; give "
                       "that (`nvcc -ptx -lineinfo`, or `-keep`)",
                       shown);
  case Content::llvm:
    return fmt::format("`{}` is LLVM IR; give the PTX that `llc -march=nvptx64` makes of it",
                       shown);
  case Content::text:
    return fmt::format(
        "`{}` is taken for a text that is neither PTX, which begins with `.version`, "
        "nor a CUDA source; give one of these, a program with PTX in it or a folder",
        shown);
  case Content::unknown:
    return fmt::format("`{}` is neither PTX nor a CUDA source, but some binary file", shown);
  case Content::program:
  case Content::ptx:
  case Content::cuda:
    break;
  }
  return "";
}

/// Says why; nothing.
std::nullopt_t refuse(const std::string &why) {
  complain(why);
  return std::nullopt;
}

/// Adds the module of a text; false, with a message, if it is none.
bool add_module(std::string text, const std::string &shown, std::vector<InputFile> &inputs) {
  auto module = parse(std::move(text), shown);
  if (!module) {
    fmt::print(stderr, "{}", format(module.error()));
    return false;
  }
  const unsigned missing = warn_of_missing_semicolons(**module, shown);
  inputs.push_back({shown, std::move(*module), missing});
  return true;
}

/// 90 of `sm_90a`; 0 of what has no number.
unsigned number_of(const std::string &arch) {
  unsigned sm = 0;
  for (const char c : arch)
    sm = c >= '0' && c <= '9' ? sm * 10 + static_cast<unsigned>(c - '0') : sm;
  return sm;
}

/// Returns true if a file is a program, an object, a library or a fat binary with PTX in it that
/// `arch` could be given.
bool has_ptx(const std::string &path, const std::string &arch) {
  std::string begin(8, '\0'); // what it is shows there
  std::ifstream file(path, std::ios::binary);
  if (!file.read(begin.data(), static_cast<std::streamsize>(begin.size())) || !is_fat_file(begin))
    return false;
  const auto bytes = read_input(path);
  if (!bytes || content_of(*bytes, path) != Content::program)
    return false;
  const auto images = read_fat_file(*bytes);
  return images && !choose_ptx(*images, number_of(arch)).empty();
}

/// The PTX in a program, an object, a library or a fat binary; of several architectures the one
/// that `arch` would be given.
std::optional<std::vector<InputFile>> load_program(std::string_view bytes, const std::string &shown,
                                                   const InputRequest &request) {
  const auto images = read_fat_file(bytes);
  if (!images)
    return refuse(fmt::format("`{}`: {}", shown, images.error()));
  const unsigned sm = number_of(request.arch);
  const auto chosen = choose_ptx(*images, sm);
  if (images->empty())
    return refuse(fmt::format("`{}` is a program, an object or a library without code for GPUs; "
                              "give PTX or a CUDA source",
                              shown));
  if (chosen.empty())
    return refuse(fmt::format("`{}` has machine code for GPUs, but no PTX{}; compile it with "
                              "`-gencode arch=compute_90,code=compute_90`, or give the CUDA source",
                              shown, sm ? " that " + request.arch + " could run" : ""));
  std::vector<InputFile> inputs;
  for (const FatImage *image : chosen) {
    const std::string name = !image->source.empty() ? fmt::format("{}({})", shown, image->source)
                             : chosen.size() > 1 ? fmt::format("{}({})", shown, inputs.size() + 1)
                                                 : shown;
    auto text = image->unpack();
    if (!text)
      return refuse(fmt::format("`{}`: {}", name, text.error()));
    if (!add_module(std::move(*text), name, inputs))
      return std::nullopt;
  }
  return inputs;
}

/// Reads, compiles and parses one file; has said why there is nothing.
std::optional<std::vector<InputFile>> load_file(const std::string &path,
                                                const InputRequest &request) {
  const std::string shown = path == "-" ? "<stdin>" : path;
  auto bytes = read_input(path);
  if (!bytes)
    return refuse(bytes.error());
  const Content content = content_of(*bytes, path);
  if (const std::string why = no_ptx(content, shown); !why.empty())
    return refuse(why);
  if (content == Content::program)
    return load_program(*bytes, shown, request);
  if (content == Content::cuda) {
    const ScratchFolder folder; // for what comes from a pipe
    const bool from_stdin = path == "-";
    const std::string source = from_stdin ? (folder.path() / "stdin.cu").string() : path;
    if (from_stdin && !write_file_atomically(source, *bytes))
      return refuse("cannot write a temporary file");
    bytes = compile(source, shown, request);
    if (!bytes)
      return refuse(bytes.error());
    for (std::size_t at = bytes->find(source); from_stdin && at != std::string::npos;
         at = bytes->find(source, at + 1))
      bytes->replace(at, source.size(), shown);
  }
  std::vector<InputFile> inputs;
  if (!add_module(std::move(*bytes), shown, inputs))
    return std::nullopt;
  return inputs;
}

/// The PTX files and CUDA sources of a folder and of those in it, and whatever else has PTX.
std::vector<std::string> files_in(const std::string &folder, const InputRequest &request) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator
           at(folder, fs::directory_options::skip_permission_denied, error),
       end;
       !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    const bool excluded = std::any_of(
        request.exclude.begin(), request.exclude.end(), [&](const std::string &pattern) {
          return is_like(path, pattern) || is_like(path, "*/" + pattern);
        });
    std::error_code ignored;
    if (excluded) {
      if (at->is_directory(ignored))
        at.disable_recursion_pending();
      continue;
    }
    const std::string ending = at->path().extension().string();
    if (at->is_regular_file(ignored) &&
        (ending == ".ptx" || ending == ".cu" || has_ptx(path, request.arch)))
      files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace

void declare_inputs(Words &words, InputRequest &request) {
  words.inputs("input", request.paths,
               "PTX, CUDA sources, programs with PTX in them, folders; - for standard input");
  words.list("--exclude PATTERN", request.exclude,
             "of folders, without paths like this, in which * is any text; may be repeated");
  words.list("--nvcc-options WORDS", request.nvcc_options,
             "for the nvcc that compiles CUDA sources; may be repeated");
  words.text("-p,--build DIR", request.build,
             "compile CUDA sources as the compile_commands.json in this folder does; without an "
             "input, all that it compiles");
}

// ELF: the machine is a 16-bit number at byte 18; 190 is EM_CUDA.
Content content_of(std::string_view bytes, std::string_view name) {
  if (bytes.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return Content::empty;
  if (bytes.starts_with("\x7f"
                        "ELF") &&
      bytes.size() > 19 && static_cast<unsigned char>(bytes[18]) == 190)
    return Content::cubin;
  if (is_fat_file(bytes))
    return Content::program;
  const std::string_view text = behind_comments(bytes);
  if (text.starts_with(".version") || text.starts_with(".target"))
    return Content::ptx;
  if (bytes.substr(0, 4096).find('\0') != std::string_view::npos)
    return Content::unknown;
  if (name.ends_with(".ptx"))
    return Content::ptx;
  if (name.ends_with(".cu"))
    return Content::cuda;
  if (is_document(bytes))
    return Content::text;
  if (bytes.find("__global__") != std::string_view::npos)
    return Content::cuda;
  if (text.starts_with("; ModuleID") || text.starts_with("source_filename =") ||
      text.starts_with("target triple") || text.starts_with("target datalayout"))
    return Content::llvm;
  // Without a name, PTX that begins wrongly: the parser says what is wrong with it.
  return text.starts_with('.') || bytes.find("\n.version") != std::string_view::npos
             ? Content::ptx
             : Content::text;
}

std::optional<std::vector<InputFile>> load_inputs(const InputRequest &request, unsigned *missing) {
  std::vector<InputFile> result;
  std::vector<std::string> paths = request.paths;
  if (paths.empty() && !request.build.empty()) {
    const auto commands = read_compile_commands(request.build);
    if (!commands)
      return refuse(commands.error());
    for (const CompileCommand &one : *commands)
      if (one.file.ends_with(".cu"))
        paths.push_back(one.file);
    if (paths.empty())
      return refuse(fmt::format("`{}` compiles no `.cu`", request.build));
  }
  for (const std::string &path : paths) {
    std::vector<std::string> files{path};
    std::error_code error;
    if (request.folders && path != "-" && fs::is_directory(path, error)) {
      files = files_in(path, request);
      if (files.empty()) {
        complain(fmt::format(
            "there is no `.ptx`, no `.cu` and no program with PTX in the folder `{}`", path));
        if (!missing)
          return std::nullopt;
        ++*missing;
      }
    }
    for (const std::string &file : files) {
      auto inputs = load_file(file, request);
      if (!inputs && !missing)
        return std::nullopt;
      if (!inputs) {
        ++*missing;
        continue;
      }
      std::move(inputs->begin(), inputs->end(), std::back_inserter(result));
    }
  }
  return result;
}

} // namespace ptxasw::wrapper
