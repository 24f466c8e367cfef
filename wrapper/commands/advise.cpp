// Registers come from the real ptxas, the launch from the command line, the rest is
// analysis/cost/advice.

#include "analysis/cost/advice.h"
#include "wrapper/commands/analyse.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/gpu_choice.h"
#include "wrapper/commands/kernel_needs.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

using Json = nlohmann::ordered_json;

/// What `ptxasw advise` was asked.
struct AdviseRequest {
  AnalysisRequest asked;
  std::string gpu; ///< empty: the first of the architecture
  std::optional<std::uint32_t> registers;
  std::uint64_t static_shared = 0; ///< bytes of a block
  std::uint64_t spills = 0;        ///< bytes per thread, stored and loaded once each
  bool opted_in = false;
  std::string model = "measured";
  unsigned most = 10; ///< shapes to print, 0: all

  bool published() const { return model == "mwp-cwp"; }
};

/// The bits of a number as a parameter of that type has them.
std::optional<std::uint64_t> bits_of(const std::string &text, ScalarType type) {
  const char *begin = text.data(), *const end = begin + text.size();
  if (is_float(type)) {
    double number = 0;
    if (text.empty() || std::from_chars(begin, end, number).ptr != end)
      return std::nullopt;
    if (bit_width(type) == 64)
      return std::bit_cast<std::uint64_t>(number);
    return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  }
  const bool negative = text.starts_with('-');
  begin += negative;
  const int base = std::string_view(begin, end).starts_with("0x") ? 16 : 10;
  begin += base == 16 ? 2 : 0;
  std::uint64_t number = 0;
  const auto read = std::from_chars(begin, end, number, base);
  if (begin == end || read.ptr != end || read.ec != std::errc{})
    return std::nullopt;
  const unsigned width = bit_width(type);
  const std::uint64_t largest = negative ? (mask64(width) >> 1) + 1 : mask64(width);
  if (number > largest)
    return std::nullopt;
  return (negative ? 0 - number : number) & mask64(width);
}

/// What a value says for a parameter, or a member, of that type; nothing if it does not fit.
std::optional<cost::Argument> argument_from(const std::string &value, ScalarType type) {
  cost::Argument argument;
  if (value.size() == 9 && value.starts_with("threads.") && !is_float(type)) {
    const std::size_t axis = std::string_view("xyz").find(value.back());
    if (axis == std::string_view::npos)
      return std::nullopt;
    argument.threads_along = static_cast<unsigned>(axis);
    return argument;
  }
  const auto bits = bits_of(value, type);
  if (!bits)
    return std::nullopt;
  argument.bits = *bits;
  return argument;
}

/// What a launch gives the parameters of a kernel. Errors: a value that fits no parameter.
tl::expected<cost::Arguments, std::string> arguments_of(const AskedLaunch &launch,
                                                        const Function &function) {
  cost::Arguments values;
  // Numbers of a launch file are bit patterns.
  const ParameterNames names(function, {});
  if (launch.file)
    for (const auto &[name, bits] : names.values_at(launch.point))
      for (std::size_t i = 0; i < function.parameters.size(); ++i)
        if (names.own(i) == name)
          values[{std::string(function.parameters[i].name), 0}].bits =
              static_cast<std::uint64_t>(bits) &
              mask64(std::min(64u, bit_width(function.parameters[i].type)));
  for (const ParameterValue &word : values_for(function, launch)) {
    const Variable &found = function.parameters[word.parameter];
    const auto fault = [&](const std::string &what) {
      return tl::unexpected(fmt::format("--launch {}{}={}: {}", names.own(word.parameter),
                                        word.member, word.value, what));
    };
    if (word.value.find(':') != std::string::npos) // what a buffer holds says nothing of a time
      continue;
    const bool is_member = !word.member.empty();
    if (!is_member && (found.count != 1 || found.vector != 1 || found.is_array))
      return fault("the parameter is no single number; NAME+OFFSET:TYPE=VALUE gives a member");
    ScalarType type = found.type;
    std::uint32_t offset = 0;
    if (is_member) {
      const char *const begin = word.member.data() + 1, *const end =
                                                            word.member.data() + word.member.size();
      const auto [colon, error] = std::from_chars(begin, end, offset);
      if (error != std::errc{} || colon == end || *colon != ':')
        return fault("a member is NAME+OFFSET:TYPE, its offset in bytes");
      type = scalar_type({colon + 1, end});
      if (bit_width(type) < 8 || bit_width(type) > 64)
        return fault("a member's type is one such as u32");
      if (offset + std::uint64_t{bit_width(type)} / 8 > found.size())
        return fault(fmt::format("the parameter has {} bytes", found.size()));
    }
    auto argument = argument_from(word.value, type);
    if (!argument)
      return fault(fmt::format("`{}` is no number that fits the {} type, {}", word.value,
                               is_member ? "member's" : "parameter's", to_string(type)));
    if (is_member)
      argument->bytes = bit_width(type) / 8;
    values[{std::string(found.name), offset}] = *argument;
  }
  return values;
}

std::string text_of(const Extents &extents) {
  std::string text = fmt::format("{}", extents.x);
  if (extents.y > 1 || extents.z > 1)
    text += fmt::format("x{}", extents.y);
  if (extents.z > 1)
    text += fmt::format("x{}", extents.z);
  return text;
}

std::string time_text(double microseconds) {
  return microseconds < 9999.5 ? fmt::format("{:.1f} us", microseconds)
                               : fmt::format("{:.1f} ms", microseconds / 1000);
}

/// How --launch names a parameter, or a member of one that is no single number.
std::string word_for(const ParameterField &field, const Function &function,
                     const ParameterNames &names) {
  const auto found =
      std::find_if(function.parameters.begin(), function.parameters.end(),
                   [&](const Variable &variable) { return variable.name == field.parameter; });
  const std::string name =
      names(names.own(static_cast<std::size_t>(found - function.parameters.begin())));
  return found->size() == bit_width(found->type) / 8
             ? name
             : fmt::format("{}+{}:u{}", name, field.offset, field.width);
}

/// As many threads as a large problem has, along the axes that the kernel asks for.
Extents guessed_threads(const Module &module, const Function &function) {
  const auto asks_for = [&](char axis) {
    return std::any_of(function.instructions.begin(), function.instructions.end(),
                       [&](const Instruction &instruction) {
                         const std::string_view text = module.text(instruction.span);
                         return text.find(fmt::format("tid.{}", axis)) != std::string_view::npos ||
                                text.find(fmt::format("ctaid.{}", axis)) != std::string_view::npos;
                       });
  };
  if (asks_for('z'))
    return {256, 256, 256};
  return asks_for('y') ? Extents{2048, 2048, 1} : Extents{1 << 22, 1, 1};
}

/// The order of shapes where a size is not known: no times, and what gives them.
std::string order_text(const KernelNeeds &subject, const cost::Advice &advice,
                       const AdviseRequest &request, const cost::Question &question, bool is_sized,
                       const ParameterNames &names) {
  std::string text;
  text += fmt::format("  {:>10} {:>9}  {:<20} {}\n", "block", "occupancy", "limit",
                      "more blocks limited by");
  const std::size_t most = request.most == 0 ? advice.shapes.size() : request.most;
  for (std::size_t i = 0; i < std::min(most, advice.shapes.size()); ++i) {
    const cost::ShapeAdvice &shape = advice.shapes[i];
    text += fmt::format("  {:>10} {:>7.1f} %  {:<20} {}\n", text_of(shape.block),
                        100 * shape.prediction.occupancy.share, to_string(shape.prediction.limit),
                        reached_text(shape.prediction.occupancy));
  }
  for (const std::string &condition : advice.conditions)
    text += fmt::format("  if: {}\n", condition);
  std::string words;
  for (const ParameterField &field : advice.missing) {
    const std::string name = word_for(field, *subject.function, names);
    words += fmt::format(",{}=NUMBER", name);
    if (is_sized)
      text += fmt::format("  no times: the value of {0} is not given: --launch {0}=NUMBER\n", name);
  }
  if (is_sized)
    return text;
  return text + fmt::format("  the order is that of {0} threads, since no sizes are given; for "
                            "times: --launch threads={0}{1}\n",
                            text_of(question.threads), words);
}

std::string to_text(const cost::Advice &advice, const AdviseRequest &request,
                    const cost::Question &question) {
  std::string text;
  text += fmt::format("  {:>10} {:>14} {:>9} {:>7} {:>5} {:>11}  {:<23} {:<20} {}\n", "block",
                      "grid", "occupancy", "waves", "tail", "time", "four times of five", "limit",
                      "more blocks limited by");
  std::size_t left = request.most == 0 ? advice.shapes.size() : request.most;
  bool rounded = false;
  for (const cost::ShapeAdvice &shape : advice.shapes) {
    const cost::Prediction &p = shape.prediction;
    const bool current = question.current && shape.block == *question.current;
    if (left == 0 && !current)
      continue;
    left -= left > 0;
    rounded |= shape.rounded;
    const double time = request.published() ? shape.mwp_cwp.value_or(0) : p.microseconds;
    text += fmt::format(
        "  {:>10} {:>14} {:>7.1f} % {:>7.2f} {:>3.0f} % {:>11}  {:<23} {:<20} {}{}\n",
        text_of(shape.block) + (shape.rounded ? "*" : ""), text_of(shape.grid),
        100 * p.occupancy.share, p.waves, 100 * p.tail, time_text(time),
        request.published() ? "" : fmt::format("{} - {}", time_text(p.least), time_text(p.most)),
        request.published() ? "" : to_string(p.limit), reached_text(p.occupancy),
        current ? " (as it is)" : "");
  }
  if (rounded)
    text += fmt::format("  *: more threads than asked for; they must find nothing to do\n");
  for (int axis = 0; axis < 3; ++axis)
    if (!advice.fixed[axis].empty())
      text += fmt::format("  {} stays as it is: {}\n", "xyz"[axis], advice.fixed[axis]);
  for (const std::string &condition : advice.conditions)
    text += fmt::format("  if: {}\n", condition);
  for (const std::string &doubt : advice.doubts)
    text += fmt::format("  vague: {}\n", doubt);
  if (advice.is_better && !request.published())
    text += fmt::format("  the first is {} than {}\n",
                        *advice.is_better ? "faster" : "not known to be faster",
                        text_of(*question.current));
  return text;
}

Json extents_json(const Extents &extents) { return {extents.x, extents.y, extents.z}; }

Json to_json(const cost::ShapeAdvice &shape) {
  const cost::Prediction &p = shape.prediction;
  Json json;
  json["block"] = extents_json(shape.block);
  json["grid"] = extents_json(shape.grid);
  json["rounded"] = shape.rounded;
  json["blocks"] = p.occupancy.blocks;
  json["occupancy"] = p.occupancy.share;
  json["limited_by"] = Json::array();
  for (const OccupancyLimit limit : p.occupancy.reached())
    json["limited_by"].push_back(to_string(limit));
  json["waves"] = p.waves;
  json["tail"] = p.tail;
  json["microseconds"] = p.microseconds;
  json["least"] = p.least;
  json["most"] = p.most;
  json["limit"] = to_string(p.limit);
  for (std::size_t i = 0; i < cost::terms; ++i)
    json["terms"][std::string(to_string(static_cast<cost::Term>(i)))] = p.term[i];
  json["mwp_cwp"] = shape.mwp_cwp ? Json(*shape.mwp_cwp) : Json(nullptr);
  return json;
}

Json to_json(const KernelNeeds &subject, const cost::Advice &advice, const cost::Gpu &gpu) {
  Json json;
  json["gpu"] = gpu.name;
  json["registers"] = subject.needs.registers;
  json["spill_stores"] = subject.spill_stores;
  json["spill_loads"] = subject.spill_loads;
  json["refusal"] = advice.refusal ? Json(*advice.refusal) : Json(nullptr);
  for (int axis = 0; axis < 3; ++axis) {
    const std::string &why = advice.fixed[axis];
    json["fixed"][std::string(1, "xyz"[axis])] = why.empty() ? Json(nullptr) : Json(why);
  }
  json["conditions"] = advice.conditions;
  json["doubts"] = advice.doubts;
  json["is_better"] = advice.is_better ? Json(*advice.is_better) : Json(nullptr);
  json["shapes"] = Json::array();
  for (const cost::ShapeAdvice &shape : advice.shapes)
    json["shapes"].push_back(to_json(shape));
  return json;
}

/// The launch that is asked about, without the kernel.
cost::Question question_of(const AskedLaunch &launch) {
  cost::Question question;
  for (std::size_t axis = 0; axis < launch.threads.size(); ++axis)
    question.threads[static_cast<int>(axis)] = launch.threads[axis];
  question.current = launch.point.block;
  question.shapes = launch.shapes;
  question.needs.dynamic_shared = launch.shared.value_or(0);
  return question;
}

/// The kernels of one module at a time, as the real ptxas sees them.
struct AssembledModule {
  const Module *module = nullptr;
  cost::Gpu gpu;
  std::vector<KernelNeeds> kernels;
};

/// What keeps a module from being assembled, or empty.
std::string assemble(const AdviseRequest &request, const Settings &settings,
                     const AnalysedKernel &one, AssembledModule &assembled) {
  const std::string &arch = request.asked.inputs.arch;
  const Module &module = one.module();
  if (assembled.module == &module)
    return "";
  if (module.target.empty() && arch.empty() && request.gpu.empty())
    return no_target(one.input.name);
  auto gpu = choose_gpu(request.gpu, arch.empty() ? std::string(module.target) : arch);
  if (!gpu)
    return gpu.error();
  auto needs = needs_of_kernels(settings, module, one.input.name, {}, gpu->target,
                                request.registers, request.static_shared);
  if (!needs)
    return needs.error();
  assembled = {&module, *std::move(gpu), std::move(*needs)};
  return "";
}

int run(const AdviseRequest &request, const Invocation &invocation) {
  const auto settings = invocation.settings();
  if (!settings)
    return complain(settings.error());
  auto inputs = read_analysis(request.asked, "advise");
  if (!inputs)
    return exit_code::failed;
  const AskedLaunch &launch = inputs->launch;
  const bool is_sized = !launch.threads.empty();
  if (!is_sized && (request.asked.json || request.published()))
    return complain("how many threads there are along each axis is not known: --launch "
                    "threads=2048x2048, or block=32x8,grid=64x256");
  const cost::Question question = question_of(launch);
  AssembledModule assembled;
  const auto each = [&](const AnalysedKernel &one) -> tl::expected<KernelAnswer, Unanswered> {
    if (std::string why = assemble(request, *settings, one, assembled); !why.empty())
      return tl::unexpected(Unanswered{std::move(why)});
    const KernelNeeds &subject =
        *std::find_if(assembled.kernels.begin(), assembled.kernels.end(),
                      [&](const KernelNeeds &needs) { return needs.function == &one.function; });
    auto arguments = arguments_of(launch, one.function);
    if (!arguments)
      return tl::unexpected(Unanswered{arguments.error()});
    cost::Question asked = question;
    if (!is_sized)
      asked.threads = guessed_threads(one.module(), one.function);
    asked.needs = subject.needs;
    asked.needs.dynamic_shared = question.needs.dynamic_shared;
    asked.needs.opted_in = request.opted_in;
    asked.spill_stores = request.registers ? request.spills : subject.spill_stores;
    asked.spill_loads = request.registers ? request.spills : subject.spill_loads;
    asked.required = subject.required;
    asked.arguments = std::move(*arguments);
    cost::Advice advice = cost::advise(one.module(), one.function, assembled.gpu, asked);
    if (request.published())
      std::stable_sort(advice.shapes.begin(), advice.shapes.end(),
                       [](const cost::ShapeAdvice &a, const cost::ShapeAdvice &b) {
                         return a.mwp_cwp.value_or(0) < b.mwp_cwp.value_or(0);
                       });
    KernelAnswer answer{
        fmt::format("{} on {}{}: {} registers per thread", one.called(), assembled.gpu.name,
                    is_sized ? fmt::format(", {} threads", text_of(asked.threads)) : "",
                    subject.needs.registers),
        fmt::format("  no advice: {}\n", advice.refusal.value_or("")),
        to_json(subject, advice, assembled.gpu)};
    if (!advice.refusal)
      answer.text = is_sized && advice.missing.empty()
                        ? to_text(advice, request, asked)
                        : order_text(subject, advice, request, asked, is_sized,
                                     source_names(one.function, one.module(), inputs->sources));
    if (advice.refusal || (is_sized && !advice.missing.empty()))
      answer.code = exit_code::incomplete;
    return answer;
  };
  return analyse(request.asked, *inputs, each);
}

void declare(Words &words, AdviseRequest &request) {
  declare_analysis(
      words, request.asked,
      "threads=2048x2048 says how many are needed, or block= and grid= how it is launched "
      "now, otherwise there is an order of shapes without times; shape=64x4, once or "
      "more, compares only these shapes; a parameter may be "
      "threads.x, as many as there are along x, and NAME+OFFSET:TYPE is a member of a "
      "struct");
  words.text("--gpu GPU", request.gpu, gpu_meaning);
  words.number("--registers-per-thread", request.registers, "of a thread, instead of asking ptxas",
               1, 255);
  words.number("--static-shared", request.static_shared,
               "bytes of a block, with --registers-per-thread");
  words.number("--spills", request.spills,
               "bytes that a thread stores and loads again, with --registers-per-thread");
  words.flag("--opt-in", request.opted_in,
             "the program raised the limit of dynamic shared memory for the kernel");
  words.one_of("--model", request.model, {"measured", "mwp-cwp"},
               "otherwise measured; mwp-cwp: the published model, for comparison");
  words.number("--most", request.most, "shapes to print; 0 is all");
  words.footer("Exit codes: 3 there is no advice, or there are no times where sizes are given.");
  words.examples({"ptxasw advise heat.ptx", "ptxasw advise heat.ptx --launch threads=2048x2048",
                  "ptxasw advise heat.ptx --launch block=256,grid=4096,n=1048576 --gpu H200"});
}

} // namespace

const Command advise_command = {"advise", "which block shapes a kernel runs fastest with, and why",
                                bind<AdviseRequest, declare, run>};

} // namespace ptxasw::wrapper
