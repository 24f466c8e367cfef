// The proof of a kernel with a staged loop, from its text and the kernel's.
//
// What of the kernel can be staged, and what must be known for that, is asked for anew (sites.cpp).
// The text is then read from its beginning to its end: but for what computes that, which may be
// anything, it must be what follows, to the letter. There are three parts.
//
// 1. What comes first has no effect on anything that the kernel knows of: it writes its own
//    registers, its own shared memory, and registers of the kernel's that the kernel, which begins
//    anew behind it, has not written yet. All threads of a block come to `met`: what is before it
//    goes forward only. A thread has comes = 1 there if, and only if, the kernel would lead it to
//    the loop (before.cpp) under the conditions of the lemma; it then knows what the lemma says of
//    its registers: the first address of each range, and that it runs exactly so many iterations.
//    Between the two barriers each thread compares what it has with what the first one has. So
//    `all` holds if all threads of the block come, with the same addresses and iterations, and are
//    two at least; the barrier gives one answer to the block.
//
// 2. Where it does not hold, the kernel runs as it is, byte for byte.
//
// 3. Where it does, the kernel runs, and what is added to it keeps this:
//
//      left + rest is the number of iterations that this thread has before it, this one among them,
//      where an iteration begins (sites.cpp); the tile has the `left` next ones, `first` is where
//      the iteration behind these begins, and `shift` leads from an address of theirs to the tile.
//
//    At first left is 0 and rest all iterations, which may be none: then no thread comes to where
//    one begins. With left = 0 all threads of the block meet: each has run as many iterations as
//    the others, as each came to the loop once and left it nowhere, and left and rest are the same
//    in all. So each comes to each barrier. Behind the first one nobody reads the tile any more;
//    iteration k of the next ones is brought by the thread k modulo their number, from addresses
//    that it will itself read in that iteration, as it has the same addresses and iterations as all
//    others; behind the second one all of it is there. Nothing is read that the kernel does not
//    read, and what a thread finds is what it would read itself: nobody writes there in between
//    (sites.cpp). Its iteration's bytes lie at shift + the low word of their address: the tile has
//    less than 2^32 bytes, so the sum, modulo 2^32, is the place in it.
//
//    If the loop is in another one, the first question is whether all threads have as many
//    iterations of that one; then all of them enter the inner loop equally often (sites.cpp). Each
//    time they meet there, ask whether all have the same ranges and iterations this time, and get
//    one answer, which stays until they meet there again. Where it is yes, all of the above holds
//    for this time; what they told each other lies before the tile, and they have read it before
//    anybody passes the second barrier. Where it is no, no barrier comes before the next time, and
//    each load is the kernel's.
//
//    No register that is added is the kernel's, so the kernel's instructions do what they did.
//
// What the text says of parameters, of a thread's place and of registers it says by name, and so
// does the kernel's code. So each name stands for one thing, and for the same in both.

#include "grammar/roles.h"
#include "synth/prove/header.h"
#include "synth/prove/side.h"
#include "synth/same_launch.h"
#include "synth/stage/stage.h"
#include "synth/test_reader.h"

#include <fmt/core.h>
#include <map>
#include <set>
#include <span>

namespace ptxasw::synth::stage {
namespace {

using proof::show;

class StageProof : OfKernel {
public:
  StageProof(const KernelContext &kernel, const Module &after, const Function &staged,
             const Staging &staging)
      : OfKernel(kernel), after_(after), staged_(staged), staging_(staging),
        told_(prefix_of(staged)) {}

  void run() {
    check_header();
    check_registers();
    check_tile();
    tell_staged(context_, staging_, told_,
                [&](std::string_view, std::size_t ranges, const Counted &rounds) {
                  check(ranges, rounds);
                });
    for (const auto &[name, type] : told_.registers) {
      const Register &added = staged_.registers[named(name)];
      show(added.vector == 1 && bit_width(added.type) == bit_width(type),
           "not a register for that");
    }
    check_text();
  }

private:
  /// The version is named after its tile.
  static std::string prefix_of(const Function &staged) {
    const std::string name(staged.variables.empty() ? "" : staged.variables.back().name);
    return name.substr(0, name.rfind("tile"));
  }

  void check_header() const {
    const std::size_t behind = staged_.instructions.size() - kernel_.instructions.size();
    check_same_header(module_, kernel_, after_, staged_,
                      {.instructions = static_cast<std::uint32_t>(behind)});
    show(staged_.scopes.size() == 1 && staged_.target_lists.empty() &&
             std::all_of(staged_.instructions.begin(), staged_.instructions.end(),
                         [](const Instruction &one) { return one.well_formed; }),
         "it has another shape");
    show(module_.text(kernel_.body).find(told_.prefix) == std::string_view::npos,
         "the kernel knows names of what was added");
    proof::check_names(after_, kernel_, staged_);
  }

  /// The kernel's are there, and each name stands for one thing.
  void check_registers() {
    for (RegisterId reg = 0; reg < staged_.registers.size(); ++reg)
      show(by_name_.emplace(staged_.registers[reg].name, reg).second,
           "two registers have one name");
    for (const Register &own : kernel_.registers) {
      const Register &here = staged_.registers[named(own.name)];
      show(here.type == own.type && here.vector == own.vector, "its registers are others");
    }
    std::set<std::string_view> labels;
    for (const Label &label : staged_.labels)
      show(labels.insert(label.name).second, "two labels have one name");
  }

  RegisterId named(std::string_view name) const {
    const auto found = by_name_.find(name);
    show(found != by_name_.end(), "a register is not there");
    return found->second;
  }

  /// From its first instruction on the version is what was told, and then the kernel; before it
  /// there are only declarations behind the kernel's.
  void check_text() const {
    const std::string_view own = module_.text(kernel_.body);
    const std::size_t head = begin_of_code(kernel_) - kernel_.body.begin;
    const std::uint32_t code = staged_.instructions[0].span.begin - 1; // with what it is set in by
    show(after_.text({staged_.body.begin, code}).starts_with(own.substr(0, head)),
         "before what was added it is not the kernel");
    show(after_.text({code, staged_.body.end}) == told_.text + std::string(own.substr(head)),
         "something else than what must be there");
  }

  /// There is one variable besides the kernel's own: shared memory for what is staged.
  void check_tile() const {
    const std::size_t own = kernel_.variables.size();
    show(staged_.variables.size() == own + 1 &&
             proof::same_declarations(module_, kernel_.variables, after_,
                                      std::span(staged_.variables).first(own)),
         "it has other variables");
    const Variable &tile = staged_.variables.back();
    show(tile.name == told_.prefix + "tile" && tile.space == StateSpace::shared &&
             tile.type == ScalarType::b8 && tile.vector == 1 && tile.alignment >= 16 &&
             tile.size() >= staging_.size && tile.values.empty() && tile.initializer.size() == 0 &&
             tile.linkage == Linkage::internal,
         "its tile is not what it must be");
  }

  /// What is known where a loop is entered: where so many ranges begin, and a number of iterations.
  /// Up to what says if it is, code may be anything that computes.
  void check(std::size_t ranges, const Counted &rounds) {
    proof::Terms terms;
    const proof::Side side(after_, staged_, 0, terms, kernel_);
    proof::Knowledge known;
    for (RegisterId reg = 0; reg < staged_.registers.size(); ++reg)
      known.values.push_back(terms.fresh());
    const std::vector<proof::Term> at_first = known.values;
    const RegisterId comes = named(told_.filled("<r_comes>"));
    for (std::uint32_t at = told_.instructions;; ++at) {
      show(at < staged_.instructions.size(), "the kernel does not follow");
      const Instruction &one = staged_.instructions[at];
      const auto written = written_registers(after_, one);
      if (written == std::vector{comes})
        break;
      const bool is_own = std::all_of(written.begin(), written.end(), [&](RegisterId reg) {
        const ScalarType type = staged_.registers[reg].type; // the script's own have 32 bits
        return type == ScalarType::pred || bit_width(type) == 64;
      });
      proof::show_at(one.line, one.well_formed && is_own && side.step(at, known),
                     "what is tested is not understood");
      told_.same(after_.text(one.span));
    }
    const auto held = [&](const std::string &hole) {
      return known.values[named(told_.filled(hole))];
    };
    const TermReader::Held own = [&](RegisterId reg) {
      return at_first[named(kernel_.registers[reg].name)];
    };
    TermReader read(terms);
    Tested tested(read);
    if (rounds.conditions.empty()) {
      told_.line("mov.u32 <r_comes>, 1");
    } else {
      told_.line("selp.u32 <r_comes>, 1, 0, <p_counted>");
      tested.add(held("<p_counted>"));
    }
    for (const facts::Condition &condition : rounds.conditions)
      show(tested.holds(read.in_terms(condition, staging_.atoms, own)),
           "not all is tested under which the loop is understood");
    for (std::size_t i = 0; i < ranges; ++i)
      show(read.wide(held(fmt::format("<w_first{}>", i))) ==
               read.in_terms(staging_.ranges[i].first, staging_.atoms, own),
           "a range does not begin there");
    show(read.wide(held("<w_rounds>")) == read.in_terms(rounds.count, staging_.atoms, own),
         "not so many rounds");
  }

  const Module &after_;
  const Function &staged_;
  const Staging &staging_;
  Script told_;
  std::map<std::string_view, RegisterId> by_name_; ///< the version's
};

} // namespace

proof::Proved prove_staged(const KernelContext &context, const Module &after,
                           const Function &staged, std::string_view variant) {
  const Sites<Staging> answer = staging_of(context, variant);
  if (answer.sites.empty())
    return proof::not_proved(answer.refusals.empty() ? "there is no such variant"
                                                     : answer.refusals[0].meaning);
  return proof::proved([&] { StageProof(context, after, staged, answer.sites[0]).run(); });
}

} // namespace ptxasw::synth::stage
