// `ptxasw cost`: what a kernel needs and does: occupancy from what the real ptxas gives it, and
// bounds from its text.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/cost_bounds.h"
#include "wrapper/commands/cost_occupancy.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

/// What `ptxasw cost` was asked.
struct CostRequest {
  AnalysisRequest asked;
  std::vector<std::string> only;          ///< `occupancy` or `bounds`; empty: both
  std::string compare, weights;           ///< files
  std::vector<std::string> rounds;        ///< LINE=NUMBER
  std::optional<std::uint32_t> registers; ///< instead of what ptxas gives
  std::uint64_t static_shared = 0;        ///< bytes, with registers
  bool opted_in = false;
  bool all = false; ///< every shape, in a table

  bool wants(const std::string &what) const {
    return only.empty() || std::find(only.begin(), only.end(), what) != only.end();
  }
};

/// The occupancy of kernels, module by module: the real ptxas is asked once for each.
class Occupancies {
public:
  Occupancies(const CostRequest &request, const Settings &settings, const AskedLaunch &launch)
      : request_(request), settings_(settings), launch_(launch) {}

  /// Errors: the limits of the target are not known, or ptxas does not say what the kernel needs.
  tl::expected<KernelAnswer, std::string> of(const AnalysedKernel &one) {
    std::string target = request_.asked.inputs.arch;
    if (target.empty())
      target = one.module().target;
    if (target.empty())
      return tl::unexpected(no_target(one.input.name));
    if (module_ != &one.module()) {
      module_ = &one.module();
      needs_ = needs_of_kernels(settings_, *module_, one.input.name, {}, target, request_.registers,
                                request_.static_shared);
    }
    if (!needs_)
      return tl::unexpected(needs_.error());
    const auto found = std::find_if(needs_->begin(), needs_->end(), [&](const KernelNeeds &needs) {
      return needs.function == &one.function;
    });
    return of(*found, target);
  }

  tl::expected<KernelAnswer, std::string> of(KernelNeeds needs, const std::string &target) const {
    const auto architecture = architecture_of(target);
    if (!architecture)
      return tl::unexpected(architecture.error());
    needs.needs.dynamic_shared = launch_.shared.value_or(0);
    needs.needs.opted_in = request_.opted_in;
    return occupancy_of(std::move(needs), **architecture, launch_.point.block, request_.all);
  }

private:
  const CostRequest &request_;
  const Settings &settings_;
  const AskedLaunch &launch_;
  const Module *module_ = nullptr; ///< whose kernels `needs_` has
  tl::expected<std::vector<KernelNeeds>, std::string> needs_;
};

/// The kernel that numbers of the command line describe.
int describe_kernel(const CostRequest &request, const Settings &settings) {
  Sources sources;
  const auto launch = read_launch(request.asked.launch, {}, sources);
  if (!launch)
    return complain(launch.error());
  KernelNeeds needs;
  needs.needs.registers = *request.registers;
  needs.needs.static_shared = request.static_shared;
  const auto answer = Occupancies(request, settings, *launch).of(needs, request.asked.inputs.arch);
  if (!answer)
    return complain(answer.error());
  if (request.asked.json)
    fmt::print("{}\n",
               nlohmann::ordered_json{
                   {"schema_version", 1},
                   {"file", nullptr},
                   {"kernels", {{{"name", ""}, {"occupancy", answer->json}}}},
               }
                   .dump(2));
  else
    fmt::print("{}", answer->text);
  return 0;
}

/// The kernel of the other file that one is compared with: of its name, or where none are asked for
/// the only one of each.
const Function *partner(const AnalysedKernel &one, const Module &other, bool by_name) {
  std::vector<const Function *> entries;
  for (const Function &function : other.functions)
    if (function.is_entry && function.has_body) {
      if (function.name == one.function.name)
        return &function;
      entries.push_back(&function);
    }
  return !by_name && entries.size() == 1 && one.names->size() == 1 ? entries.front() : nullptr;
}

int run(const CostRequest &request, const Invocation &invocation) {
  const auto settings = invocation.settings();
  if (!settings)
    return complain(settings.error());
  const AnalysisRequest &asked = request.asked;
  if (asked.inputs.paths.empty() && request.registers && !asked.inputs.arch.empty())
    return describe_kernel(request, *settings);
  if (asked.shard.count > 1 && !request.compare.empty())
    return complain(
        "--shard and --compare do not go together: kernels are found by name in both files");
  const auto other = request.compare.empty() ? nullptr : load_module(request.compare);
  if (!request.compare.empty() && !other)
    return exit_code::failed;
  auto inputs = read_analysis(asked, "cost", other.get());
  if (!inputs)
    return exit_code::failed;
  const LaunchPoint &point = inputs->launch.point;
  // A shape alone leaves formulas; numbers are asked for with others.
  const LaunchPoint *const at = inputs->launch.shape_only ? nullptr : &point;
  BoundOptions options;
  options.block = point.block;
  options.base_alignment = inputs->launch.base_alignment.value_or(1);
  options.names_rounds = true;
  GivenRounds rounds;
  if (const auto wrong = read_rounds(request.rounds, rounds))
    return complain(*wrong);
  GivenRounds unused = rounds;
  const auto told_of = [&](const Module &module, const Function &function) {
    ToldBounds told = told_bounds(module, function, options, point, inputs->sources);
    put_in(rounds, at != nullptr, told, unused);
    return told;
  };
  if (!request.weights.empty()) {
    BoundMetric weighted;
    if (const auto wrong = read_weights(request.weights, weighted))
      return complain(*wrong);
    options.metrics.push_back(std::move(weighted));
  }
  Occupancies occupancies(request, *settings, inputs->launch);
  using Answer = tl::expected<KernelAnswer, Unanswered>;
  const auto compared = [&](const AnalysedKernel &one, const ToldBounds &told) -> Answer {
    const Function *const function = partner(one, *other, !inputs->kernels.empty());
    if (!function)
      return tl::unexpected(
          Unanswered{fmt::format("`{}` has no kernel `{}`", request.compare, one.called())});
    const ToldBounds second = told_of(*other, *function);
    if (auto why = not_at(second, at))
      return tl::unexpected(Unanswered{why->why});
    return compare(told, second, at, asked.verbose);
  };
  const auto each = [&](const AnalysedKernel &one) -> Answer {
    KernelAnswer answer{one.called() + ":", "", {}};
    if (request.wants("bounds") || other) {
      if (!are_known(one.module(), one.input.name) ||
          (other && !are_known(*other, request.compare)))
        return tl::unexpected(Unanswered{"no bound: an instruction is not known"});
      const ToldBounds told = told_of(one.module(), one.function);
      if (auto why = not_at(told, at))
        return tl::unexpected(*why);
      if (other)
        return compared(one, told);
      answer = answer_of(told, at, asked.verbose);
      answer.heading = one.called() + ":";
    }
    if (!request.wants("occupancy"))
      return answer;
    const auto occupancy = occupancies.of(one);
    if (!occupancy && !request.only.empty())
      return tl::unexpected(Unanswered{occupancy.error()});
    // Without a ptxas that knows the target the bounds are known all the same.
    answer.text = (occupancy ? occupancy->text
                             : fmt::format("  occupancy  not known: {}\n", occupancy.error())) +
                  answer.text;
    answer.json["occupancy"] = occupancy ? occupancy->json : nullptr;
    if (!occupancy)
      answer.code = exit_code::incomplete;
    return answer;
  };
  const int code = analyse(asked, *inputs, each, false,
                           other ? nlohmann::ordered_json{{"second", request.compare}}
                                 : nlohmann::ordered_json::object());
  if (!unused.empty())
    return complain(fmt::format("--rounds {}: no loop whose rounds are not known begins there",
                                unused.begin()->first));
  return code;
}

void declare(Words &words, CostRequest &request) {
  declare_analysis(words, request.asked,
                   "with block=32x8 only blocks of this shape, with all numbers what it costs "
                   "there; shared=BYTES of dynamic shared memory");
  words.choices("--only", request.only, {"occupancy", "bounds"},
                "occupancy or bounds; bounds ask no ptxas");
  words.flag("--all", request.all, "occupancy of every number of warps, in a table");
  words.number("--registers-per-thread", request.registers,
               "of a thread, instead of asking ptxas; with --arch and without an input: of any "
               "kernel",
               1, 255);
  words.number("--static-shared", request.static_shared,
               "bytes of a block, with --registers-per-thread");
  words.flag("--opt-in", request.opted_in,
             "the program raised the limit of dynamic shared memory for the kernel");
  words.text("--weights FILE", request.weights,
             "bound a weighted sum, too: a JSON object with weights of instructions, sectors, "
             "conflicts and divwarps");
  words.list("--rounds", request.rounds,
             "LINE=NUMBER: the loop whose first instruction is in that line runs so often at most");
  words.text("--compare FILE", request.compare, "which of two versions has the lower bounds");
  words.footer("Exit codes: 3 a kernel has no bound, or its occupancy is not known.");
  words.examples({"ptxasw cost heat.cu --kernel step",
                  "ptxasw cost heat.ptx --launch block=32x8,grid=64x64,n=2048"});
}

} // namespace

const Command cost_command = {
    "cost", "what a kernel costs: occupancy, and bounds of sectors, conflicts and steps",
    bind<CostRequest, declare, run>};

} // namespace ptxasw::wrapper
