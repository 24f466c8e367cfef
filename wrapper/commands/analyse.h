#pragma once

// What analyses of kernels have in common: which inputs, kernels and launch they are asked about,
// and how what they find is put together for people and for programs.

#include "wrapper/commands/command.h"
#include "wrapper/commands/inputs.h"
#include "wrapper/commands/launch_words.h"
#include "wrapper/commands/shard.h"
#include "wrapper/commands/words.h"
#include "wrapper/lint/names.h"

#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

namespace ptxasw::wrapper {

/// What every analysis is asked.
struct AnalysisRequest : OutputRequest {
  InputRequest inputs;
  std::vector<std::string> kernels; ///< only these; empty is all
  std::vector<std::string> launch, source_roots;
  Shard shard;
  std::FILE *to = stdout; ///< where answers go
};

/// The words of all of them. `launch`: what the command does with a launch; empty: it takes none.
/// `shards`: it can do a part of the kernels.
void declare_analysis(Words &words, AnalysisRequest &request,
                      std::string_view launch = "what is said then holds for it",
                      bool shards = true);

/// The inputs, read.
struct AnalysisInputs {
  std::vector<InputFile> files;
  std::vector<std::string> kernels; ///< names in the PTX that are asked for; empty: all
  Sources sources;
  AskedLaunch launch;
  unsigned missing = 0; ///< inputs that cannot be read; all has been said of them

  std::vector<const Module *> modules() const;
  /// True if a function is asked for.
  bool wants(const Function &function) const;
  /// What they are called together.
  std::string name() const;
};

/// Reads what a command is to look at. Says on standard error what is wrong if there is nothing to
/// look at, a kernel is missing or the launch is not understood, and then returns nothing.
/// `beside`: another module whose names a launch may have.
std::optional<AnalysisInputs> read_analysis(const AnalysisRequest &request,
                                            std::string_view command,
                                            const Module *beside = nullptr);

/// One kernel that is looked at.
struct AnalysedKernel {
  const InputFile &input;
  const Function &function;
  /// All kernels of this input that are looked at in this run.
  std::shared_ptr<std::vector<std::string>> names;

  const Module &module() const { return *input.module; }
  /// What people call it: `heat<float>(float*, int)`.
  std::string called() const { return demangled(function.name); }
};

/// What was found about one kernel.
struct KernelAnswer {  // NOLINT(bugprone-exception-escape): the move of a json checks an assertion
  std::string heading; ///< a line for people, its end left out
  std::string text;    ///< the lines below
  nlohmann::ordered_json json; ///< an object; what it is about is added: name and file
  int code = exit_code::fine;
};

/// Why nothing is known about a kernel.
struct Unanswered {
  std::string why;
  int code = exit_code::failed;
};
using AnalyseKernel =
    std::function<tl::expected<KernelAnswer, Unanswered>(const AnalysedKernel &kernel)>;

/// Looks at the kernels of all inputs, or those of the shard, in their order, and prints what is
/// found: text, or one JSON object with `schema_version`, `file` (null: there are several), what
/// `head` has, and `kernels`. `functions`: other functions with a body are looked at, too. Returns
/// the worst exit code.
int analyse(const AnalysisRequest &request, const AnalysisInputs &inputs, const AnalyseKernel &each,
            bool functions = false,
            const nlohmann::ordered_json &head = nlohmann::ordered_json::object());

} // namespace ptxasw::wrapper
