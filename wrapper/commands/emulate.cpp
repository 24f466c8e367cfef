// `ptxasw emulate`: a launch from words (buffers, scalars, shape), run on the warp emulator.
// Buffers get addresses far apart, so that what leaves one is a fault and not another buffer.

#include "emulator/warp_launch.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/words.h"
#include "wrapper/os/files.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/core.h>

namespace ptxasw {
namespace {

/// `ptxasw emulate FILE`.
struct EmulateRequest {
  std::string file, kernel;
  std::vector<std::uint32_t> grid{1, 1, 1}, block{32, 1, 1};
  std::uint32_t shared = 0;
  std::uint64_t step_limit = 10'000'000'000, memory_limit = 4096; ///< thread-instructions, MiB
  std::vector<std::string> arguments; ///< in the order of the kernel's parameters
  std::vector<std::string> dumps;
  std::string schedule = "reconverge";
  std::vector<std::string> checks;
  bool profile = false, count = false;
};

constexpr int ran = 0, failed = 1, not_tried = 2;

/// Of one argument, in bytes: what the emulated device has addresses for.
constexpr std::uint64_t largest_buffer = std::uint64_t{1} << 44;

int not_possible(const std::string &message) { return complain(message, not_tried); }

std::vector<std::string> split_at(const std::string &text, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

template <class Number> bool to_number(const std::string &text, Number &number) {
  const char *end = text.data() + text.size();
  if constexpr (std::is_integral_v<Number>)
    if (text.starts_with("0x"))
      return std::from_chars(text.data() + 2, end, number, 16).ptr == end;
  return !text.empty() && std::from_chars(text.data(), end, number).ptr == end;
}

/// A buffer argument and where it went.
struct PlacedBuffer {
  std::uint64_t address = 0, size = 0;
};

/// The launch being put together from the request.
struct Preparation {
  const Function &kernel;
  GlobalMemory &memory;
  WarpLaunch launch;
  std::vector<PlacedBuffer> buffers; ///< by argument; size 0 for scalars

  /// Makes a buffer; empty string, or what is wrong.
  std::string buffer(const std::vector<std::string> &parts, PlacedBuffer &to);
  std::string argument(std::size_t index, const std::string &text);
};

std::string Preparation::buffer(const std::vector<std::string> &parts, PlacedBuffer &to) {
  using Fill = GlobalMemory::Fill;
  std::uint64_t count = 0, seed = 0;
  Fill fill = Fill::zeros;
  std::string contents;
  if (parts[0] == "file") {
    const auto bytes = read_input(parts.size() == 2 ? parts[1] : "");
    if (!bytes)
      return bytes.error();
    contents = *bytes;
    to.size = contents.size();
  } else if (parts[0] == "zeros") {
    if (parts.size() != 2 || !to_number(parts[1], to.size))
      return "expected zeros:BYTES";
  } else {
    const ScalarType type = parts.size() > 1 ? scalar_type(parts[1]) : ScalarType::none;
    if (parts.size() < 3 || parts.size() > 4 || bit_width(type) < 8 ||
        !to_number(parts[2], count) || (parts.size() == 4 && !to_number(parts[3], seed)))
      return "expected random:TYPE:COUNT[:SEED]";
    fill = type == ScalarType::f32 ? Fill::f32 : type == ScalarType::f64 ? Fill::f64 : Fill::random;
    if (count > largest_buffer / 16)
      return "no buffer can be so large";
    to.size = count * bit_width(type) / 8;
  }
  if (to.size > largest_buffer)
    return "no buffer can be so large";
  const std::size_t index =
      memory.allocate(fmt::format("argument {}", buffers.size()),
                      std::max<std::uint64_t>(to.size, 1), fill, scramble(seed));
  to.address = memory.allocations()[index].base;
  memory.write(to.address,
               {reinterpret_cast<const std::uint8_t *>(contents.data()), contents.size()});
  return {};
}

std::string Preparation::argument(std::size_t index, const std::string &text) {
  const Variable &parameter = kernel.parameters[index];
  std::uint8_t *to = launch.parameters.data() + kernel_parameter_offset(kernel, index);
  PlacedBuffer placed;
  std::uint64_t bits = 0;
  const auto parts = split_at(text, ':');
  if (parts.size() > 1) {
    if (bit_width(parameter.type) != 64)
      return "a buffer needs a 64-bit parameter";
    if (std::string why = buffer(parts, placed); !why.empty())
      return why;
    bits = placed.address;
  } else if (is_float(parameter.type)) {
    double number = 0;
    if (!to_number(text, number))
      return "not a number";
    bits = floating::from_double(parameter.type, number, FloatRounding::nearest_even);
  } else {
    std::int64_t number = 0;
    if (!to_number(text, bits)) {
      if (!to_number(text, number))
        return "not an integer";
      bits = static_cast<std::uint64_t>(number);
    }
  }
  std::memcpy(to, &bits, std::min<std::uint64_t>(parameter.size(), 8));
  buffers.push_back(placed);
  return {};
}

/// ARG[:TYPE[:COUNT]] prints a buffer, ARG:file:PATH writes it.
std::string dump(const std::string &wish, const std::vector<PlacedBuffer> &buffers,
                 GlobalMemory &memory) {
  const auto parts = split_at(wish, ':');
  std::size_t index = 0;
  if (!to_number(parts[0], index) || index >= buffers.size() || buffers[index].size == 0)
    return "no such buffer";
  std::vector<std::uint8_t> bytes(buffers[index].size);
  memory.read(buffers[index].address, bytes);
  if (parts.size() == 3 && parts[1] == "file") {
    const auto written = write_file_atomically(
        parts[2], {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
    return written ? std::string() : written.error();
  }
  const ScalarType type = parts.size() > 1 ? scalar_type(parts[1]) : ScalarType::b32;
  const unsigned size = bit_width(type) / 8;
  if (size == 0 || size > 8)
    return "no such type";
  std::uint64_t count = bytes.size() / size;
  if (parts.size() > 2 && !to_number(parts[2], count))
    return "not a count";
  count = std::min<std::uint64_t>(count, bytes.size() / size);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * size, size);
    if (is_float(type))
      fmt::print("{}[{}] = {}\n", index, i, floating::to_double(type, bits));
    else if (is_signed(type))
      fmt::print("{}[{}] = {}\n", index, i, as_signed(bits, 8 * size));
    else
      fmt::print("{}[{}] = {:#x}\n", index, i, bits);
  }
  return {};
}

void print_profile(const WarpProgram &program, const WarpOutcome &outcome) {
  fmt::print("{:>6} {:>12} {:>7} {:>12} {:>10}  instruction\n", "line", "executions", "lanes",
             "sectors", "conflicts");
  for (std::uint32_t f = 0; f < outcome.profile.size(); ++f)
    for (std::size_t i = 0; i < outcome.profile[f].size(); ++i) {
      const InstructionProfile &p = outcome.profile[f][i];
      const WarpInstruction &instruction = program.function(f).code[i];
      if (p.warps == 0 || !instruction.opcode)
        continue;
      fmt::print("{:>6} {:>12} {:>7.2f} {:>12} {:>10}  {}\n", instruction.line, p.warps,
                 static_cast<double>(p.lanes) / static_cast<double>(p.warps), p.sectors,
                 p.bank_conflicts, instruction.opcode->text);
    }
}

/// The four counts and their sum, of the dearest warp, the dearest block and all of them.
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

std::string choose_schedule(const std::string &text, WarpOptions &options) {
  const auto parts = split_at(text, ':');
  if (parts[0] == "reconverge" && parts.size() == 1)
    options.schedule = WarpSchedule::reconverge;
  else if (parts[0] == "apart" && parts.size() == 1)
    options.schedule = WarpSchedule::apart;
  else if (parts[0] == "random" &&
           (parts.size() == 1 || (parts.size() == 2 && to_number(parts[1], options.seed))))
    options.schedule = WarpSchedule::random;
  else
    return "expected reconverge, apart or random[:SEED]";
  return {};
}

int run(const EmulateRequest &request, const Invocation &) {
  const auto text = read_input(request.file);
  if (!text)
    return not_possible(text.error());
  const auto module = parse(*text, request.file);
  if (!module) {
    fmt::print(stderr, "{}", format(module.error()));
    return not_tried;
  }
  const WarpProgram program(**module);
  const auto kernel = program.find_kernel(request.kernel);
  if (!kernel)
    return not_possible(
        fmt::format("there is no kernel `{}` in `{}`", request.kernel, request.file));
  const Function &function = *program.function(*kernel).function;
  if (request.arguments.size() != function.parameters.size())
    return not_possible(fmt::format("{} has {} parameters, {} --arg are given", function.name,
                                    function.parameters.size(), request.arguments.size()));
  GlobalMemory memory;
  if (const std::string why = program.place_variables(memory); !why.empty())
    return not_possible(why);
  Preparation preparation{function, memory, {}, {}};
  WarpLaunch &launch = preparation.launch;
  for (std::size_t axis = 0; axis < request.grid.size(); ++axis)
    launch.grid[static_cast<int>(axis)] = request.grid[axis];
  for (std::size_t axis = 0; axis < request.block.size(); ++axis)
    launch.block[static_cast<int>(axis)] = request.block[axis];
  if (const std::string why = launch_shape_error(launch.grid, launch.block); !why.empty())
    return not_possible(why);
  launch.dynamic_shared = request.shared;
  launch.parameters.resize(kernel_parameter_bytes(function));
  for (std::size_t i = 0; i < request.arguments.size(); ++i)
    if (const std::string why = preparation.argument(i, request.arguments[i]); !why.empty())
      return not_possible(fmt::format("--arg {}: {}", request.arguments[i], why));
  WarpOptions options;
  if (const std::string why = choose_schedule(request.schedule, options); !why.empty())
    return not_possible(fmt::format("--schedule {}: {}", request.schedule, why));
  const auto checks = [&](const char *what) {
    return std::find(request.checks.begin(), request.checks.end(), what) != request.checks.end();
  };
  options.step_limit = request.step_limit;
  options.memory_limit = std::min(request.memory_limit, ~std::uint64_t{0} >> 20) << 20;
  options.check_races = checks("races");
  options.check_uninitialized = checks("uninit");
  options.profile = options.profile_memory = request.profile;
  options.count = request.count;
  const WarpOutcome outcome = run_kernel(program, *kernel, launch, memory, options);
  if (outcome.race)
    fmt::print(stderr, "{}\n", format(*outcome.race));
  if (outcome.fault) {
    fmt::print(stderr, "{}\n", format(*outcome.fault));
    const bool untried = outcome.fault->kind == FaultKind::unsupported ||
                         outcome.fault->kind == FaultKind::bad_launch;
    return untried ? not_tried : failed;
  }
  for (const std::string &wish : request.dumps)
    if (const std::string why = dump(wish, preparation.buffers, memory); !why.empty())
      return not_possible(fmt::format("--dump {}: {}", wish, why));
  if (request.profile)
    print_profile(program, outcome);
  if (request.count)
    print_counts(outcome);
  fmt::print("{}: {} thread-instructions\n", function.name, outcome.steps);
  return outcome.race ? failed : ran;
}

void declare(Words &words, EmulateRequest &request) {
  words.required("file", request.file, "PTX");
  words.text("--kernel", request.kernel, "which kernel; otherwise the first");
  words.extents("--grid", request.grid, "X,Y,Z");
  words.extents("--block", request.block, "X,Y,Z");
  words.number("--shared", request.shared, "bytes of dynamic shared memory");
  words.list("--arg", request.arguments,
             "one per parameter, in order: a number, zeros:BYTES, random:TYPE:COUNT[:SEED] or "
             "file:PATH");
  words.list("--dump", request.dumps,
             "a buffer after the run: ARG[:TYPE[:COUNT]] prints, ARG:file:PATH writes");
  words.text("--schedule", request.schedule, "of diverged lanes: reconverge, apart, random[:SEED]");
  words.choices("--check", request.checks, {"races", "bounds", "uninit"},
                "races,bounds,uninit (bounds are always checked)");
  words.number("--steps", request.step_limit,
               "thread-instructions at most; beyond them the run ends with exit code 1", 1);
  words.number("--memory", request.memory_limit,
               "MiB that the emulation of what the kernel touches may take", 1);
  words.flag("--profile", request.profile,
             "executions, active lanes, sectors and bank conflicts by instruction");
  words.flag(
      "--count", request.count,
      "sectors, conflicts, divergence and steps of the dearest warp and block and of all, as "
      "bound bounds them");
  words.footer("Exit codes: 0 the run ended, 1 a fault or a race, 2 it could not be tried.");
}

} // namespace

const Command emulate_command = {"emulate", "run a kernel of a PTX file on the CPU",
                                 bind<EmulateRequest, declare, run>};

} // namespace ptxasw
