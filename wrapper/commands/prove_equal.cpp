// Words and files of --launch are read by what `emulate` and `verify` read them by, so a witness
// that is written shows there what is refuted here.

#include "wrapper/commands/prove_equal.h"

#include "wrapper/commands/commands.h"
#include "wrapper/commands/describe_launch.h"
#include "wrapper/commands/describe_run.h"
#include "wrapper/commands/launch_file.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/os/files.h"

#include <filesystem>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace ptxasw::wrapper {
namespace {

using Json = nlohmann::ordered_json;

/// Both launches: of a launch file, or of words, which then hold for both. Errors: what is wrong.
tl::expected<LaunchFile, std::string>
launches_of(const EqualRequest &request, const WarpProgram &first, const WarpProgram &second) {
  LaunchFile file;
  if (request.launch.size() == 1 && request.launch[0].find('=') == std::string::npos) {
    auto read = read_launch_file(request.launch[0]);
    if (!read)
      return tl::unexpected(read.error());
    file = std::move(*read);
  } else {
    Sources sources;
    sources.add_folder_of(request.first);
    if (const auto described = describe_launch(request.launch, request.kernel, first, request.first,
                                               sources, file.first);
        !described)
      return tl::unexpected(described.error());
    file.second = file.first;
  }
  const WarpProgram *const programs[] = {&first, &second};
  const std::string *const names[] = {&request.first, &request.second};
  LaunchDescription *const launches[] = {&file.first, &file.second};
  for (unsigned side = 0; side < 2; ++side) {
    if (!request.kernel.empty() && launches[side]->kernel.empty())
      launches[side]->kernel = request.kernel;
    GlobalMemory memory;
    if (const auto prepared = prepare_launch(*programs[side], *launches[side], memory); !prepared)
      return tl::unexpected(fmt::format("{}: {}", *names[side], prepared.error()));
  }
  return file;
}

/// The answer for the launch, or the launches, that are asked about. Errors: what is wrong.
tl::expected<EqualityAnswer, std::string>
answer_equal(const EqualRequest &request, const WarpProgram &first, const WarpProgram &second) {
  if (!request.assumed) {
    const auto launches = launches_of(request, first, second);
    if (!launches)
      return tl::unexpected(launches.error());
    return prove_equal(first, launches->first, second, launches->second, request.options);
  }
  const auto one = first.find_kernel(request.kernel);
  const bool is_named = !request.second_kernel.empty();
  auto two = second.find_kernel(is_named ? request.second_kernel : request.kernel);
  if (!two && !is_named)
    two = second.find_kernel("");
  if (!one || !two)
    return tl::unexpected(fmt::format("{}: there is no kernel {}",
                                      one ? request.second : request.first,
                                      one ? request.second_kernel : request.kernel));
  EqualityAnswer answer =
      prove_equal_always(first, *one, second, *two, *request.assumed, request.options);
  if (answer.contradiction)
    return tl::unexpected(
        fmt::format("no launch keeps all that is assumed: {}", fmt::join(answer.used, ", ")));
  return answer;
}

const char *verdict_of(const EqualityAnswer &answer) {
  return answer.witness ? "refuted" : answer.verdict == ProofVerdict::proved ? "proved" : "unknown";
}

} // namespace

int prove_two(const EqualRequest &request) {
  const auto first = load_module(request.first),
             second = first ? load_module(request.second) : nullptr;
  if (!first || !second)
    return exit_code::failed;
  if (!has_kernel(*first) || !has_kernel(*second))
    return complain(no_kernel(has_kernel(*first) ? request.second : request.first));
  const WarpProgram programs[] = {WarpProgram(*first), WarpProgram(*second)};
  const auto answered = answer_equal(request, programs[0], programs[1]);
  if (!answered)
    return complain(answered.error());
  const EqualityAnswer &answer = *answered;
  std::string file;
  if (answer.witness && !request.witness.empty()) {
    std::error_code none; // writing says what is wrong
    std::filesystem::create_directories(request.witness, none);
    file = request.witness + "/differ.toml";
    const std::string text = launch_file_text(answer.witness->first, &answer.witness->second);
    if (const auto written = write_file_atomically(file, text); !written)
      return complain(written.error());
  }
  const Module *const of_line = answer.line == 0 ? nullptr : answer.side == 1 ? &*first : &*second;
  if (request.json) {
    Json json, equal;
    json["schema_version"] = 1;
    json["file"] = request.first;
    json["second"] = request.second;
    equal["verdict"] = verdict_of(answer);
    equal["over_reals"] = request.options.over_reals;
    equal["reason"] = answer.reason.empty() ? Json() : Json(answer.reason);
    equal["side"] = answer.side == 0 ? Json() : Json(answer.side);
    equal["line"] = answer.line == 0 ? Json() : Json(answer.line);
    equal["launch"] = file.empty() ? Json() : Json(file);
    equal["assumptions"] = answer.used;
    equal["elements"] = answer.elements;
    equal["by_form"] = answer.by_form;
    equal["by_solver"] = answer.by_solver;
    equal["questions"] = answer.asked.questions();
    equal["unanswered"] = answer.asked.open;
    json["equal"] = std::move(equal);
    fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    fmt::print("equal{}: {}", request.options.over_reals ? " over the reals" : "",
               verdict_of(answer));
    if (answer.side != 0)
      fmt::print(", {}", answer.side == 1 ? request.first : request.second);
    if (of_line)
      fmt::print(", {}", line_text(*of_line, Places(*of_line), answer.line));
    fmt::print("{}{}\n", answer.reason.empty() ? "" : ": ", answer.reason);
    if (!file.empty())
      fmt::print("  launch: {}\n", file);
    for (const std::string &text : answer.used)
      fmt::print("  if: {}\n", text);
    if (request.verbose)
      fmt::print("  elements: {}, equal by normal form: {}, by Z3: {}\n  {}\n", answer.elements,
                 answer.by_form, answer.by_solver, to_string(answer.asked));
  }
  return answer.witness                           ? exit_code::found
         : answer.verdict == ProofVerdict::proved ? exit_code::fine
                                                  : exit_code::incomplete;
}

} // namespace ptxasw::wrapper
