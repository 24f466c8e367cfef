// `ptxasw report`: one page of HTML per module, with what its kernels cost and pictures of their
// accesses.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"
#include "wrapper/lint/html.h"
#include "wrapper/os/files.h"

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>

namespace ptxasw {
namespace {

/// What `ptxasw report` was asked.
struct ReportRequest {
  std::string input, directory = ".";
  std::vector<std::string> kernels, assume;
  std::optional<BlockShape> block;
};

int run(const ReportRequest &request, const Invocation &) {
  LintQuery query;
  for (const std::string &word : request.assume)
    if (!query.choices.assume(word))
      return complain(
          fmt::format("--assume: `{}` is not base-align=BYTES with a power of two up to "
                      "4096",
                      word),
          usage_error);
  const auto module = load_module(request.input);
  if (!module || !has_kernels(*module, request.kernels, request.input))
    return 1;
  query.block = request.block;
  query.kernels = request.kernels;
  const std::string file = request.input == "-" ? "stdin" : request.input;
  const Places places(*module);
  RewriteOptions options;
  options.assume_block = request.block;
  options.kernels = request.kernels;
  const std::string page =
      report_page(lint_module(*module, places, query), places, explain(*module, options), file);
  std::error_code error;
  std::filesystem::create_directories(request.directory, error);
  if (error)
    return complain(fmt::format("cannot make `{}`: {}", request.directory, error.message()));
  const std::string name = std::filesystem::path(file).stem().string() + ".html";
  const std::string path = (std::filesystem::path(request.directory) / name).string();
  if (const auto written = write_file_atomically(path, page); !written)
    return complain(written.error());
  fmt::print("{}\n", path);
  return 0;
}

void declare(Words &words, ReportRequest &request) {
  words.required("input", request.input, "PTX to read, - for standard input");
  words.text("-o,--output DIR", request.directory, "where to put INPUT.html; otherwise here");
  words.list("--kernel", request.kernels, "only this kernel; may be repeated");
  words.block_shape("--block", request.block, "the shape of every block, where no .reqntid says");
  words.list("--assume base-align=BYTES", request.assume,
             "the alignment of pointer parameters in bytes; cudaMalloc gives 256");
  words.footer("Exit codes: 0, 1 if a file cannot be read or written.");
}

} // namespace

const Command report_command = {"report", "write a page that shows what kernels cost",
                                bind<ReportRequest, declare, run>};

} // namespace ptxasw
