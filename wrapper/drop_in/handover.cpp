// The rewritten text travels in a file without a name (memfd) that the real ptxas opens as
// /proc/self/fd/N: however we end, there is nothing left to clean up, and it works with a full disk
// or without a temporary directory. The name of an input leaves no mark in a cubin.

#include "wrapper/drop_in/handover.h"

#include "wrapper/drop_in/message_map.h"
#include "wrapper/os/files.h"
#include "wrapper/os/process.h"

#include <algorithm>
#include <csignal>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

/// The longest single argument the kernel takes, with its end.
constexpr std::size_t longest_argument = std::size_t{128} * 1024;

std::string value_of(const CommandLine &line, const Input &input) {
  return line.arguments[input.argument].substr(input.prefix);
}

/// Takes standard input and leaves a copy in its place if it was not a file.
std::optional<std::string> take_standard_input() {
  auto text = read_descriptor(STDIN_FILENO);
  if (!text || ::lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0) // a file: its position has not moved
    return text;
  const int copy = make_memory_file("stdin", *text);
  if (copy < 0 || ::dup2(copy, STDIN_FILENO) < 0)
    return std::nullopt;
  ::close(copy);
  return text;
}

/// The rewritten modules put in the place of the original ones in what to run.
class WordSubstitution {
public:
  WordSubstitution(ChildPlan &plan, const CommandLine &line) : plan_(plan), line_(line) {}
  WordSubstitution(const WordSubstitution &) = delete;
  WordSubstitution &operator=(const WordSubstitution &) = delete;
  ~WordSubstitution() {
    for (const int file : files_)
      ::close(file);
  }

  /// False if there is no way to pass it on.
  bool replace(const InputModule &module) {
    std::string &argument = plan_.arguments[module.input.argument];
    if (module.input.kind == InputKind::text) {
      argument.replace(module.input.prefix, std::string::npos, module.rewritten);
      // ptxas names all texts the same. With several of them we cannot tell which is meant.
      const auto texts = std::count_if(line_.inputs.begin(), line_.inputs.end(),
                                       [](auto &input) { return input.kind == InputKind::text; });
      if (texts == 1)
        shown("application ptx input", "application ptx input", module);
      return argument.size() < longest_argument;
    }
    const int file = make_memory_file("ptx", module.rewritten);
    if (file < 0)
      return false;
    files_.push_back(file);
    if (module.input.kind == InputKind::standard_input) {
      plan_.standard_input = file;
      shown("_stdin", "_stdin", module); // ptxas copies it to a file of its own with such a name
      return true;
    }
    argument = fmt::format("/proc/self/fd/{}", file);
    shown(argument, module.name, module);
    return ::access(argument.c_str(), R_OK) == 0;
  }

  const std::vector<ReplacedModule> &replaced() const { return replaced_; }

private:
  void shown(const std::string &as, const std::string &known_as, const InputModule &module) {
    replaced_.push_back({as, known_as, module.lines});
  }

  ChildPlan &plan_;
  const CommandLine &line_;
  std::vector<int> files_;
  std::vector<ReplacedModule> replaced_;
};

/// True if the inputs still are what we read. They are not if the output is one of them and
/// writing it failed half-way; running again would then blame the input.
bool inputs_untouched(const std::vector<InputModule> &modules) {
  return std::all_of(modules.begin(), modules.end(), [](const InputModule &module) {
    return module.input.kind != InputKind::file ||
           read_regular_file(module.name) == module.original;
  });
}

/// What the assembler of GCC's offloading compiler makes of a text: it puts in order what ptxas
/// wants in another one. The text as it is if that fails.
std::string passed_through(const std::string &assembler, const std::string &text) {
  const int in = make_memory_file("ptx", text), out = make_memory_file("ptx", "");
  const auto path = [](int file) { return fmt::format("/proc/self/fd/{}", file); };
  std::optional<std::string> made;
  if (in >= 0 && out >= 0)
    if (run_child(
            {assembler, assembler, {"--no-verify", "-o", path(out), path(in)}, -1, STDERR_FILENO})
            .succeeded())
      made = read_regular_file(path(out));
  for (const int file : {in, out})
    if (file >= 0)
      ::close(file);
  return made.value_or(text);
}

bool killed_by_user(int status) {
  if (!WIFSIGNALED(status))
    return false;
  const int signal = WTERMSIG(status);
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

} // namespace

std::string describe_input(const CommandLine &line, const Input &input) {
  switch (input.kind) {
  case InputKind::standard_input:
    return "-";
  case InputKind::text:
    return "command line";
  case InputKind::file:
    break;
  }
  return value_of(line, input);
}

tl::expected<std::vector<InputModule>, std::string> read_modules(const CommandLine &line) {
  std::vector<InputModule> modules;
  for (const Input &input : line.inputs) {
    InputModule module{.input = input, .name = describe_input(line, input)};
    std::optional<std::string> text;
    if (input.kind == InputKind::text)
      text = value_of(line, input);
    else if (input.kind == InputKind::file)
      text = read_regular_file(module.name);
    else
      text = take_standard_input();
    if (!text)
      return tl::unexpected(module.name);
    module.original = std::move(*text);
    modules.push_back(std::move(module));
  }
  return modules;
}

Handover hand_over(const std::string &real, const std::string &name, const CommandLine &line,
                   const std::vector<InputModule> &modules) {
  ChildPlan plan{real, name, line.arguments, -1, STDERR_FILENO};
  WordSubstitution substitution(plan, line);
  bool changed = false;
  for (const InputModule &module : modules) {
    if (!module.changed)
      continue;
    changed = true;
    if (!substitution.replace(module))
      return {Outcome::no_place, module.name, 0};
  }
  if (!changed)
    return {Outcome::nothing_found, "", 0};
  const ChildResult child = run_child(plan);
  if (!child.started)
    return {Outcome::no_place, "cannot run the real ptxas with the rewritten text", 0};
  if (!child.succeeded() && !killed_by_user(child.status) && inputs_untouched(modules))
    return {Outcome::rejected, child.captured, 0};
  write_all(STDERR_FILENO, translate_messages(child.captured, substitution.replaced()));
  return {Outcome::rewritten, "", exit_like(child.status)};
}

tl::expected<std::string, std::string>
assemble_for_messages(const AskedTool &asked, const std::vector<InputModule> &modules,
                      bool rewritten) {
  ChildPlan plan{asked.path, asked.name, asked.line.arguments, -1, STDERR_FILENO};
  for (const char *word : {"-v", "-o", "/dev/null"}) // of several outputs the last one counts
    plan.arguments.emplace_back(word);
  WordSubstitution substitution(plan, asked.line);
  std::vector<InputModule> versions = modules; // outlive the substitution's views of them
  for (std::size_t i = 0; i < versions.size(); ++i) {
    InputModule &version = versions[i];
    version.input = asked.line.inputs.at(i);
    if (!rewritten) {
      version.rewritten = version.original;
      version.lines.clear();
    }
    if (!asked.before.empty())
      version.rewritten = passed_through(asked.before, version.rewritten);
    if (!substitution.replace(version))
      return tl::unexpected(std::string("the text could not be handed over"));
  }
  const ChildResult child = run_child(plan);
  if (!child.started)
    return tl::unexpected(fmt::format("cannot run {}", asked.path));
  if (!child.succeeded())
    return tl::unexpected(translate_messages(child.captured.substr(0, child.captured.find('\n')),
                                             substitution.replaced()));
  return child.captured;
}

tl::expected<std::string, std::string> assemble_for_messages(const std::string &real,
                                                             const std::string &target,
                                                             const std::string &file,
                                                             std::string_view text) {
  const CommandLine line = parse_command_line({"-arch=" + target, "module.ptx"});
  const InputModule module{.input = line.inputs.at(0), .name = file, .original = std::string(text)};
  return assemble_for_messages({real, "ptxas", line}, {module}, false);
}

int exit_like(int status) {
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  // The same end for us, but one core file is enough.
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(WTERMSIG(status), SIG_DFL);
  ::raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

} // namespace ptxasw::wrapper
