// `ptxasw emulate`: a launch from words or from a file, run on the warp emulator. Buffers get
// addresses far apart, so that what leaves one is a fault and not another buffer.

#include "emulator/translate/translator.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/describe_launch.h"
#include "wrapper/commands/describe_run.h"
#include "wrapper/commands/launch_file.h"
#include "wrapper/commands/launch_guess.h"
#include "wrapper/commands/launch_words.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/numbers.h"
#include "wrapper/commands/words.h"
#include "wrapper/lint/names.h"
#include "wrapper/os/files.h"
#include "wrapper/os/progress.h"
#include "wrapper/os/terminal.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

using Json = nlohmann::ordered_json;

/// `ptxasw emulate FILE`.
struct EmulateRequest : OutputRequest {
  std::string file, kernel;
  std::string init; ///< a launch file to write
  std::vector<std::string> launch;
  std::uint64_t step_limit = 10'000'000'000, memory_limit = 4096; ///< thread-instructions, MiB
  std::vector<std::string> dumps;
  std::string schedule;
  std::vector<std::string> checks, races;
  std::vector<std::string> breaks, prints, traced;
  unsigned threads = 0; ///< of the host; 0: as many as there are cores
  std::string engine = "auto";
  bool profile = false, count = false;
};

/// Writes a launch file to begin with.
int write_first_launch(const EmulateRequest &request, const std::string &kernel,
                       const WarpProgram &program, Sources &sources) {
  const auto found = program.find_kernel(kernel);
  if (!found)
    return complain(fmt::format("there is no kernel in `{}`", request.file));
  const Function &function = *program.function(*found).function;
  LaunchDescription launch;
  launch.kernel = function.name;
  launch.grid = {2, 1, 1};
  const std::vector<std::string> arguments = guessed_arguments(function);
  const ParameterNames names = source_names(function, program.module(), sources);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (const auto added =
            add_argument(arguments[i], names(names.own(i)), function.parameters[i], launch);
        !added)
      return complain(fmt::format("{}: {}", function.parameters[i].name, added.error()));
  const std::string text = fmt::format("# {}\n# Sizes and numbers are guessed: change them.\n{}",
                                       kernel_signature(function, program.module(), request.file),
                                       launch_file_text(launch));
  if (const auto written = write_file_atomically(request.init, text); !written)
    return complain(written.error());
  if (request.init != "-")
    fmt::print("{}: ptxasw emulate {} --launch {}\n", request.init, request.file, request.init);
  return exit_code::fine;
}

/// A buffer's name, or the number of the argument that made it; its bytes after the run.
const BufferDescription *find_buffer(const LaunchDescription &launch, const std::string &word) {
  std::size_t index = 0;
  if (const BufferDescription *buffer = launch.buffer(word))
    return buffer;
  if (!to_number(word, index) || index >= launch.arguments.size())
    return nullptr;
  for (const FieldDescription &field : launch.arguments[index].fields)
    if (field.kind == FieldDescription::Kind::buffer && field.at == 0)
      return launch.buffer(field.name);
  return nullptr;
}

/// BUFFER[:TYPE[:COUNT]] prints a buffer (with --json adds it to the output), BUFFER:file:PATH
/// writes it. Errors: what is wrong.
tl::expected<void, std::string> dump(const std::string &wish, const LaunchDescription &launch,
                                     const PreparedLaunch &prepared, GlobalMemory &memory,
                                     Json *json) {
  const auto parts = split_at(wish, ':');
  const BufferDescription *buffer = find_buffer(launch, parts[0]);
  if (!buffer || buffer->size == 0)
    return tl::unexpected(std::string("no such buffer"));
  const std::uint64_t address =
      prepared.addresses[static_cast<std::size_t>(buffer - launch.buffers.data())];
  if (parts.size() == 3 && parts[1] == "file") {
    std::vector<std::uint8_t> bytes(buffer->size);
    memory.read(address, bytes);
    return write_file_atomically(parts[2],
                                 {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  }
  const ScalarType type = parts.size() > 1 ? scalar_type(parts[1]) : buffer->type;
  const unsigned size = bit_width(type) / 8;
  if (size == 0 || size > 8)
    return tl::unexpected(std::string("no such type"));
  std::uint64_t count = buffer->size / size;
  if (parts.size() > 2 && !to_number(parts[2], count))
    return tl::unexpected(std::string("not a count"));
  count = std::min<std::uint64_t>(count, buffer->size / size);
  Json values = Json::array();
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t bits = 0;
    memory.read(address + i * size, {reinterpret_cast<std::uint8_t *>(&bits), size});
    if (json)
      is_float(type)    ? values.push_back(floating::to_double(type, bits))
      : is_signed(type) ? values.push_back(as_signed(bits, 8 * size))
                        : values.push_back(bits);
    else if (is_float(type))
      fmt::print("{}[{}] = {}\n", parts[0], i, floating::to_double(type, bits));
    else if (is_signed(type))
      fmt::print("{}[{}] = {}\n", parts[0], i, as_signed(bits, 8 * size));
    else
      fmt::print("{}[{}] = {:#x}\n", parts[0], i, bits);
  }
  if (json)
    (*json)["buffers"][parts[0]] = std::move(values);
  return {};
}

/// --break, --print, --trace-lane. Errors: what is wrong.
tl::expected<void, std::string> set_up(const EmulateRequest &request, Debugger &debugger) {
  for (const std::string &word : request.breaks) {
    std::uint32_t line = 0;
    if (!to_number(word, line))
      return tl::unexpected(fmt::format("--break {}: not the number of a line", word));
    debugger.break_at(line);
  }
  for (const std::string &word : request.prints)
    debugger.print(word);
  for (const std::string &word : request.traced) {
    const auto parts = split_at(word, ':');
    std::uint32_t thread = 0;
    Extents block{0, 0, 0};
    bool right = parts.size() <= 2 && to_number(parts[0], thread) && thread < 1024;
    if (parts.size() == 2) {
      const auto axes = split_at(parts[1], ',');
      right &= axes.size() <= 3;
      for (std::size_t axis = 0; right && axis < axes.size(); ++axis)
        right = to_number(axes[axis], block[static_cast<int>(axis)]);
    }
    if (!right)
      return tl::unexpected(
          fmt::format("--trace-lane {}: expected THREAD[:X[,Y[,Z]]], a thread's number in its "
                      "block and the block",
                      word));
    debugger.trace(thread, block);
  }
  return debugger.check();
}

/// The four counts and their sum, of the costliest warp, the costliest block and all of them.
void print_counts(const WarpOutcome &outcome) {
  struct Counted {
    const char *name;
    std::uint64_t (*of)(const WarpCount &);
  };
  static constexpr Counted metrics[] = {
      {"instructions", [](const WarpCount &c) { return c.instructions; }},
      {"sectors", [](const WarpCount &c) { return c.sectors; }},
      {"conflicts", [](const WarpCount &c) { return c.conflicts; }},
      {"divwarps", [](const WarpCount &c) { return c.divwarps; }},
      {"steps", [](const WarpCount &c) { return steps_of(c); }}};
  fmt::print("{:>12} {:>14} {:>14} {:>14}\n", "", "warp", "block", "launch");
  for (const Counted &metric : metrics) {
    std::uint64_t warp_most = 0, block_most = 0, launch = 0;
    for (const auto &block : outcome.counts) {
      std::uint64_t total = 0;
      for (const WarpCount &warp : block) {
        warp_most = std::max(warp_most, metric.of(warp));
        total += metric.of(warp);
      }
      block_most = std::max(block_most, total);
      launch += total;
    }
    fmt::print("{:>12} {:>14} {:>14} {:>14}\n", metric.name, warp_most, block_most, launch);
  }
}

bool has(const std::vector<std::string> &list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// Everything that was found, and how often: first what the run went on after.
std::vector<WarpFinding> all_findings(const WarpOutcome &outcome) {
  std::vector<WarpFinding> all = outcome.findings;
  for (const auto *one : {&outcome.barrier, &outcome.fault})
    if (*one)
      all.push_back({**one});
  return all;
}

/// What went wrong, on standard error; the exit code.
int tell(const WarpOutcome &outcome, const ToldLaunch &told, const OutputRequest &output) {
  const std::vector<WarpFinding> all = all_findings(outcome);
  const std::size_t shown = output.verbose ? all.size() : std::min<std::size_t>(all.size(), 20);
  const Painter paint(output.colour, STDERR_FILENO);
  for (std::size_t i = 0; i < shown && !output.json; ++i)
    fmt::print(stderr, "{}", paint.heading(told_fault(all[i].first, all[i].count, told)));
  if (all.size() > shown && !output.json && !output.quiet)
    fmt::print(stderr, "and {} more places (-v)\n", all.size() - shown);
  int code = exit_code::fine;
  for (const WarpFinding &finding : all)
    code = exit_code::worse(code, is_incomplete(finding.first.kind) ? exit_code::incomplete
                                  : finding.first.kind == FaultKind::bad_launch ? exit_code::failed
                                                                                : exit_code::found);
  return code;
}

int run(const EmulateRequest &request, const Invocation &) {
  if (request.json && request.count)
    return complain("--count has no form in JSON");
  const auto module = load_module(request.file);
  if (!module)
    return exit_code::failed;
  const WarpProgram program(*module);
  const auto kernel = kernel_called(*module, request.kernel, request.file);
  if (!kernel)
    return exit_code::failed;
  Sources sources;
  sources.add_folder_of(request.file);
  if (!are_known(*module, request.file))
    return exit_code::failed;
  if (!request.init.empty())
    return write_first_launch(request, *kernel, program, sources);
  LaunchDescription launch;
  if (const auto described =
          describe_launch(request.launch, *kernel, program, request.file, sources, launch);
      !described)
    return complain(described.error());
  if (!request.schedule.empty())
    launch.schedule = request.schedule;
  WarpOptions options;
  if (!launch.schedule.empty() && !read_schedule(launch.schedule, options.schedule, options.seed))
    return complain(
        fmt::format("--schedule {}: expected reconverge, apart or random[:SEED]", launch.schedule));
  GlobalMemory memory;
  const auto prepared = prepare_launch(program, launch, memory);
  if (!prepared)
    return complain(prepared.error());
  options.step_limit = launch.step_limit != 0 ? launch.step_limit : request.step_limit;
  options.memory_limit = std::min(request.memory_limit, ~std::uint64_t{0} >> 20) << 20;
  // What is checked unless something else is said.
  const auto checked = [&](std::string_view what) {
    return request.checks.empty() || has(request.checks, what);
  };
  options.check_races = checked("races") || !request.races.empty();
  options.volatile_races = !request.races.empty();
  options.check_uninitialized = checked("uninit");
  options.check_barriers = checked("barriers");
  options.go_on = !has(request.checks, "none");
  options.threads =
      request.threads != 0 ? request.threads : std::max(1u, std::thread::hardware_concurrency());
  options.profile = options.profile_memory = request.profile;
  options.count = request.count;
  Debugger debugger(program, request.json ? stderr : stdout);
  if (const auto done = set_up(request, debugger); !done)
    return complain(done.error());
  if (!request.breaks.empty() || !request.traced.empty())
    options.observer = &debugger;
  if (const auto chosen = choose_engine(*engine_called(request.engine)); !chosen)
    fmt::print(stderr, "ptxasw: {}: the interpreter runs the kernel\n", chosen.error());
  const Function &function = *program.function(prepared->kernel).function;
  const WarpOutcome outcome = [&] {
    const Elapsing elapsing(demangled(function.name), !request.quiet && !options.observer);
    return run_kernel(program, prepared->kernel, prepared->launch, memory, options);
  }();
  const Places places(*module);
  const ToldLaunch told{program, launch, *prepared, memory, places, sources};
  int code = tell(outcome, told, request);
  Json json;
  if (request.json) {
    json["schema_version"] = 1;
    json["file"] = request.file;
    json["kernel"] = function.name;
    json["steps"] = outcome.steps;
    json["output"] = outcome.output;
    json["fault"] = fault_json(outcome.fault);
    json["race"] = fault_json(outcome.race);
    json["same_value_race"] = fault_json(outcome.same_value_race);
    json["barrier"] = fault_json(outcome.barrier);
    json["findings"] = Json::array();
    for (const WarpFinding &finding : all_findings(outcome)) {
      json["findings"].push_back(fault_json(finding.first));
      json["findings"].back()["count"] = finding.count;
    }
    json["buffers"] = Json::object();
    if (request.profile)
      json["profile"] = profile_json(program, outcome);
  } else {
    fmt::print("{}", outcome.output);
  }
  for (const std::string &wish : outcome.fault ? std::vector<std::string>() : request.dumps)
    if (const auto dumped = dump(wish, launch, *prepared, memory, request.json ? &json : nullptr);
        !dumped)
      code = exit_code::worse(code, complain(fmt::format("--dump {}: {}", wish, dumped.error())));
  if (request.json) {
    fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
    return code;
  }
  if (outcome.fault)
    return code;
  if (request.profile)
    print_profile(program, outcome);
  if (request.count)
    print_counts(outcome);
  if (!request.quiet)
    fmt::print("{}: {} thread-instructions\n", demangled(function.name), outcome.steps);
  return code;
}

void declare(Words &words, EmulateRequest &request) {
  words.required("file", request.file, "PTX");
  words.text("--kernel", request.kernel, "only this kernel; otherwise the first");
  words.text("--init FILE", request.init,
             "only write a launch file to begin with, its sizes guessed");
  words.launch(request.launch,
               "every parameter has a value, by its name: a number, zeros:BYTES, "
               "random:TYPE:COUNT[:SEED], file:PATH, buffer:NAME[:OFFSET] (into that of an "
               "earlier parameter) or function:NAME; shared=BYTES of dynamic shared memory");
  words.list("--dump", request.dumps,
             "a buffer after the run: NAME[:TYPE[:COUNT]] prints, NAME:file:PATH writes; NAME is "
             "a parameter or a buffer of the launch file");
  words.text("--schedule", request.schedule,
             "order of diverged lanes: reconverge, apart, random[:SEED]");
  words.choices("--check", request.checks, {"races", "bounds", "uninit", "barriers", "none"},
                "only these, otherwise all: races,bounds,uninit,barriers; none: the run ends at "
                "the first access out of bounds, and is faster");
  words.choices("--races", request.races, {"volatile"}, "volatile accesses race, too");
  words.one_of(
      "--engine", request.engine, {"auto", "interpreter", "translated"},
      "what executes it with --check none: code that LLVM makes of the kernel, the "
      "interpreter, or that code once the kernel has run for long; the result is the same");
  words.number("--steps", request.step_limit,
               "thread-instructions at most; beyond them the run ends with exit code 3", 1);
  words.number("--memory", request.memory_limit,
               "MiB that the emulation of what the kernel touches may take", 1);
  words.list("--break", request.breaks,
             "say when lanes reach this line, with the registers of --print");
  words.list("--print", request.prints, "a register's values in them");
  words.list("--trace-lane", request.traced,
             "every step of THREAD[:X[,Y[,Z]]], by its number in its block, and the block");
  words.number(
      "--jobs", request.threads,
      "of the host, for blocks with --check none; the result is the same; otherwise one a core", 0,
      64);
  words.flag("--by-instruction", request.profile,
             "executions, active lanes, sectors and bank conflicts by instruction, pairs of lanes "
             "served together as by a GPU");
  words.flag(
      "--count", request.count,
      "sectors, conflicts, divergence and steps of the dearest warp and block and of all, as "
      "bound bounds them: no pairs of lanes served together");
  words.output(request, "as JSON; without --count", "every place where something was found");
  words.footer("Exit codes: 0 the run ended, 1 something was found, 2 it could not be tried, 3 "
               "something is not emulated, or a limit was reached.");
  words.examples({"ptxasw emulate heat.ptx --launch grid=4,block=256,in=zeros:4096,n=1024",
                  "ptxasw emulate heat.ptx --kernel step --init step.toml",
                  "ptxasw emulate heat.ptx --launch step.toml --check none --by-instruction"});
}

} // namespace

const Command emulate_command = {"emulate", "run a kernel of a PTX file on the CPU",
                                 bind<EmulateRequest, declare, run>};

} // namespace ptxasw::wrapper
