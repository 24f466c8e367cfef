// engines files LAUNCHES FILE...     every kernel of some files
// engines random COUNT [SEED]       random kernels
//
// engines broken COUNT              code that forgets a lane is found out: exit code 0
// engines kept FILE EXPECTED        which warps ran whole, and what code takes for granted of
//                                   registers, are what a file says
//
// With the words `vectors avx2` or `vectors sse2` before these, code uses no others, whatever the
// processor has.
//
// Launches are drawn; each runs by the interpreter and by translated code, under the schedules that
// both know, on one thread of the host and on two, without limits, with one that ends the run
// somewhere, and with turns of few instructions, which end everywhere. Memory, faults, steps, what
// was printed and the order of turns, with the step at which each ends, are equal. Exit code 77:
// nothing translates here.

#include "emulator/machine/launch_model.h"
#include "emulator/machine/warp_context.h"
#include "emulator/machine/warp_draw.h"
#include "emulator/translate/translator.h"
#include "tests/random/random_kernel.h"

#include <fmt/core.h>
#include <fstream>
#include <iterator>

using namespace ptxasw::test;

namespace {

struct Run {
  GlobalMemory memory;
  std::vector<WarpTurn> turns;
  WarpOutcome outcome;
};

Run run_drawn(const WarpProgram &program, std::uint32_t kernel, const DrawnLaunch &drawn,
              WarpOptions options) {
  Run run;
  options.turns = &run.turns;
  WarpLaunch launch;
  program.place_variables(run.memory, drawn.seed);
  place_buffers(drawn, run.memory, launch);
  run.outcome = run_kernel(program, kernel, launch, run.memory, options);
  return run;
}

std::string text_of(const WarpTurn &turn) {
  return fmt::format("warp {} of block {} at step {}{}", turn.warp, turn.block, turn.steps,
                     turn.ended ? ", its last" : "");
}

/// How the order of turns differs. Of turns in which warps end code need not tell.
std::string difference(const std::vector<WarpTurn> &interpreted,
                       const std::vector<WarpTurn> &translated) {
  auto told = translated.begin();
  for (const WarpTurn &turn : interpreted)
    if (told != translated.end() && *told == turn)
      ++told;
    else if (!turn.ended)
      return fmt::format("a turn ends: {}; in code: {}", text_of(turn),
                         told == translated.end() ? "none" : text_of(*told));
  return told == translated.end() ? std::string()
                                  : fmt::format("a turn ends in code only: {}", text_of(*told));
}

/// How two runs differ; empty: they do not. The second one is by code.
std::string difference(Run &a, Run &b) {
  const auto fault = [](const Run &run) {
    return run.outcome.fault ? format(*run.outcome.fault) : std::string("no fault");
  };
  if (fault(a) != fault(b))
    return fmt::format("{} and {}", fault(a), fault(b));
  if (a.outcome.steps != b.outcome.steps)
    return fmt::format("{} steps and {}", a.outcome.steps, b.outcome.steps);
  if (a.outcome.output != b.outcome.output ||
      a.outcome.findings.size() != b.outcome.findings.size())
    return "what was said";
  if (std::string turns = difference(a.turns, b.turns); !turns.empty())
    return turns;
  const MemoryDifference memory = compare(a.memory, b.memory);
  return memory.differs
             ? fmt::format("{:#x}: {:#x} and {:#x}", memory.address, memory.first, memory.second)
             : std::string();
}

/// Code with a fault: it leaves lane 3 of the registers as it was before.
struct BrokenTranslation final : Translation {
  std::unique_ptr<Translation> right;
};

class BrokenTranslator final : public Translator {
public:
  std::uint64_t worth(const WarpFunction &) const override { return 0; }
  std::unique_ptr<Translation> translate(const WarpProgram &program, std::uint32_t function,
                                         LaneLayout layout) override {
    auto result = std::make_unique<BrokenTranslation>();
    result->right = right->translate(program, function, layout);
    if (!result->right)
      return nullptr;
    static_cast<Translation &>(*result) = *result->right;
    result->code = [](TranslatedFrame *frame) {
      const std::uint32_t lanes = frame->lanes;
      if (lanes & ~8u)
        frame->lanes &= ~8u;
      static_cast<const BrokenTranslation *>(frame->code)->right->code(frame);
      frame->lanes = lanes;
    };
    return result;
  }
  Translator *right = nullptr;
};

/// Code that counts how often it is entered.
struct CountedTranslation final : Translation {
  std::unique_ptr<Translation> right;
  mutable std::size_t whole = 0, others = 0; ///< entries, of warps without fragments and with
};

class CountingTranslator final : public Translator {
public:
  explicit CountingTranslator(Translator *translator) : right_(translator) {}
  std::uint64_t worth(const WarpFunction &) const override { return 0; }
  std::unique_ptr<Translation> translate(const WarpProgram &program, std::uint32_t function,
                                         LaneLayout layout) override {
    auto result = std::make_unique<CountedTranslation>();
    result->right = right_->translate(program, function, layout);
    if (!result->right)
      return nullptr;
    static_cast<Translation &>(*result) = *result->right;
    result->code = [](TranslatedFrame *frame) {
      const auto &counted = static_cast<const CountedTranslation &>(*frame->code);
      const bool is_whole = static_cast<const WarpContext *>(frame->context)->warp->is_whole;
      ++(is_whole ? counted.whole : counted.others);
      counted.right->code(frame);
    };
    last = result.get();
    return result;
  }
  const CountedTranslation *last = nullptr;

private:
  Translator *const right_;
};

/// A line for each kernel: which warps ran code, and registers that are the same in all lanes or go
/// up by a constant.
std::string kept(const Module &module) {
  CountingTranslator counting(ptxasw::emulator::translator());
  set_translator(&counting);
  const WarpProgram program(module);
  std::string text;
  for (const Function &function : module.functions) {
    const auto kernel = program.find_kernel(function.name);
    std::vector<ParameterSlot> slots = parameter_slots(module, function);
    const KernelModel model(module, function, slots); // which of them are pointers
    WarpRandom random(1);
    const LaunchCandidate candidate = draw_candidate(function, slots, {}, random);
    const DrawnLaunch drawn = finish_launch(function, slots, candidate, false, false, random);
    counting.last = nullptr;
    WarpOptions options;
    options.step_limit = 2'000'000;
    static_cast<void>(run_drawn(program, *kernel, drawn, options));
    const CountedTranslation *const code = counting.last;
    text += fmt::format("{}:{}{}", function.name, code && code->whole ? " whole" : "",
                        code && code->others ? " fragments" : "");
    for (RegisterId reg = 0; code && reg < function.registers.size(); ++reg)
      if (const RegisterSlot &slot = code->slots[reg]; slot.shape == RegisterSlot::Shape::steps) {
        text += fmt::format(" {}", function.registers[reg].name);
        if (slot.steps != LaneSteps{})
          text += fmt::format(":{}", slot.steps.lane);
        if (slot.steps.row != 0)
          text += fmt::format(",{}", slot.steps.row);
      }
    text += "\n";
  }
  return text;
}

std::string contents(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Engines {
public:
  /// Draws some launches of each kernel of a module.
  void try_module(const Module &module, const std::string &name, unsigned launches,
                  std::uint64_t seed) {
    const WarpProgram interpreted(module), translated(module);
    WarpRandom random(seed);
    for (const Function &function : module.functions) {
      const auto kernel = interpreted.find_kernel(function.name);
      if (!function.is_entry || !function.has_body || !kernel)
        continue;
      std::vector<ParameterSlot> slots = parameter_slots(module, function);
      const KernelModel model(module, function, slots); // which of them are pointers
      for (unsigned i = 0; i < launches; ++i) {
        const LaunchCandidate candidate =
            draw_candidate(function, slots, {.small = i % 2 == 0}, random);
        const DrawnLaunch drawn = finish_launch(function, slots, candidate,
                                                interpreted.has_dynamic_shared(), false, random);
        for (unsigned how = 0; how < 7; ++how) {
          WarpOptions options;
          if (how >= 4)
            options.time_slice = 1 + random.below(how == 4 ? 12 : how == 5 ? 100 : 40);
          options.step_limit = how == 2 || how == 6 ? 1 + random.below(5'000) : 2'000'000;
          options.memory_limit = std::uint64_t{1} << 30;
          options.schedule = how == 1 ? WarpSchedule::apart : WarpSchedule::reconverge;
          options.threads = how == 3 ? 2 : 1;
          options.go_on = how == 0 && i % 3 == 2;
          static_cast<void>(choose_engine(Engine::interpreter));
          Run first = run_drawn(interpreted, *kernel, drawn, options);
          static_cast<void>(choose_engine(Engine::translated, vectors));
          if (broken) {
            translator_.right = ptxasw::emulator::translator();
            set_translator(&translator_);
          }
          Run second = run_drawn(translated, *kernel, drawn, options);
          ++runs;
          ended += !first.outcome.fault;
          steps += first.outcome.steps;
          const std::string why = difference(first, second);
          if (why.empty())
            continue;
          ++differing;
          if (!broken)
            fmt::print("{}, {}, launch {} of seed {}, way {}: {}\n", name, function.name, i, seed,
                       how, why);
        }
      }
      // What no launch here asks for takes as long to translate as what they do: one kernel in
      // four.
      if (kernels++ % 4 == 0)
        has_code(translated, *kernel, name);
    }
    for (const Function &function : module.functions)
      if (const auto called = translated.find_function(function.name))
        has_code(translated, *called, name);
  }

  /// Every function has code, or it would be interpreted twice.
  void has_code(const WarpProgram &program, std::uint32_t number, const std::string &name) {
    const WarpFunction &function = program.function(number);
    if (broken || function.code.size() > 300)
      return;
    static_cast<void>(choose_engine(Engine::translated, vectors));
    for (const LaneLayout layout :
         {LaneLayout::consecutive, LaneLayout::rows_of_16, LaneLayout::any, LaneLayout::unshaped})
      if (!program.translations().of(program, number, layout, 0)) {
        ++differing;
        fmt::print("{}, {}: there is no code\n", name, function.function->name);
      }
  }

  HostVectors vectors = HostVectors::all;
  bool broken = false; ///< the code has a fault on purpose
  std::size_t runs = 0, ended = 0, differing = 0,
              kernels = 0; ///< kernels: those that are not large
  std::uint64_t steps = 0;

private:
  BrokenTranslator translator_;
};

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  HostVectors vectors = HostVectors::all;
  if (words.size() > 2 && words[0] == "vectors") {
    vectors = words[1] == "avx2"   ? HostVectors::avx2
              : words[1] == "sse2" ? HostVectors::sse2
                                   : HostVectors::all;
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.size() < 2 || (words[0] != "files" && words[0] != "random" && words[0] != "broken" &&
                           (words[0] != "kept" || words.size() != 3))) {
    fmt::print(stderr, "usage: engines [vectors avx2|sse2] files LAUNCHES FILE... | engines random "
                       "COUNT [SEED] | engines broken "
                       "COUNT | engines kept FILE EXPECTED\n");
    return 2;
  }
  if (const auto chosen = choose_engine(Engine::translated); !chosen) {
    fmt::print("{}\n", chosen.error());
    return 77;
  }
  if (words[0] == "kept") {
    const auto module = parse(contents(words[1]), words[1]);
    if (!module) {
      fmt::print("{}", format(module.error()));
      return 1;
    }
    const std::string found = kept(**module);
    if (found != contents(words[2]))
      fmt::print("not what {} says:\n{}", words[2], found);
    return found == contents(words[2]) ? 0 : 1;
  }
  Engines engines;
  engines.vectors = vectors;
  const auto number = static_cast<unsigned>(std::stoul(words[1]));
  engines.broken = words[0] == "broken";
  if (words[0] != "files") {
    const std::uint64_t first = words.size() > 2 ? std::stoull(words[2]) : 1;
    for (std::uint64_t seed = first; seed < first + number; ++seed) {
      const test::RandomKernel random = test::random_kernel(seed, seed % 3 == 0);
      const auto module = parse(test::module_text(*random.body), fmt::format("random {}", seed));
      if (!module) {
        fmt::print("{}", format(module.error()));
        return 1;
      }
      engines.try_module(**module, fmt::format("random {}", seed), 1, seed);
    }
  }
  for (std::size_t i = 2; words[0] == "files" && i < words.size(); ++i) {
    std::ifstream file(words[i]);
    const auto module = parse(std::string(std::istreambuf_iterator<char>(file), {}), words[i]);
    if (module)
      engines.try_module(**module, words[i], number, i);
  }
  fmt::print("{} runs of {} thread-instructions, {} to the end; {} differ\n", engines.runs,
             engines.steps, engines.ended, engines.differing);
  // Two of three runs end, about, and four of five that the fault is in differ.
  const bool enough = engines.runs != 0 && 2 * engines.ended >= engines.runs;
  const bool right =
      engines.broken ? 2 * engines.differing >= engines.runs : engines.differing == 0;
  if (!enough || !right)
    fmt::print("at least half of the runs should end, and {}\n",
               engines.broken ? "half differ" : "none differ");
  return enough && right ? 0 : 1;
}
