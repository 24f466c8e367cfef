// A kernel becomes three parts:
//
//	...                              what decides whether and with what this thread comes to
//	                                 the loop, from parameters and special registers
//	$stage0_at:                      it does: where the ranges begin, how many rounds there are
//	$stage0_met:                     here all threads of the block meet
//	...                              the first thread tells the others what it has found
//	barrier.red.and.pred %all, 0, %same;
//	@!%all bra $stage0_original;     not all come, or not with the same: as it was
//	...
//		$stage0_c3:              the kernel, its labels renamed; where a round begins:
//		@%left bra $stage0_go;   the tile has this round
//		barrier.sync 0;          all have done with the tile
//		...                      each thread loads some rounds of the next one
//		barrier.sync 0;
//	$stage0_go:
//		...
//		cvt.u32.u64 %r, %rd1;    in place of ld.global.f32 %f1, [%rd1+4];
//		add.u32 %r, %r, %shift0;
//		ld.shared.f32 %f1, [%r+36];
//	$stage0_original:
//	...                              the kernel, byte for byte
//
// An address of the kernel becomes one of the tile by adding what lies between the two, modulo
// 2^32.
//
// If the loop is in another one, what is asked at first is how many rounds that one has. Ranges and
// rounds are compared where the loop is entered, each time:
//
//	$stage0_enter:
//		...                      where the ranges begin, how many rounds there are
//		barrier.red.and.pred %all, 0, %same;
//	$stage0_c2:                      a round brings and reads a tile where that holds:
//		@%all ld.shared.f32 %f1, [%r+36];
//		@!%all ld.global.f32 %f1, [%rd1+4];

#include "synth/stage/write.h"

#include "grammar/edits.h"
#include "grammar/next.h"
#include "synth/test_writer.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace ptxasw::inline synth::stage {
namespace {

class StageWriter {
public:
  StageWriter(const Module &module, const Function &kernel, const ControlFlowGraph &cfg,
              const Staging &staging, const facts::Atoms &atoms)
      : module_(module), kernel_(kernel), cfg_(cfg), staging_(staging), atoms_(atoms) {
    unsigned serial = 0;
    do
      name_ = fmt::format("{}{}_", prefix, serial++);
    while (module.text().find(name_) != std::string_view::npos);
    tile_ = name_ + "tile";
  }

  std::optional<std::string> run() {
    const std::uint32_t begin = begin_of_code(kernel_);
    const std::string_view code = module_.text({begin, kernel_.body.end});
    const bool declares =
        code.find(".reg") != std::string_view::npos ||
        std::any_of(kernel_.variables.begin(), kernel_.variables.end(),
                    [&](const Variable &variable) { return variable.span.begin >= begin; });
    if (declares)
      return std::nullopt;
    find_out();
    meet();
    copy();
    text_ += place("original") + ":\n";
    Edits edits;
    edits.insert(begin, declarations() + text_);
    return edits.apply(module_.text());
  }

private:
  std::string place(std::string_view what) const { return fmt::format("${}{}", name_, what); }
  /// A register of 32 or 64 bits, or a predicate, by name.
  std::string word(std::string_view what) { return taken("b32", what); }
  std::string wide(std::string_view what) { return taken("b64", what); }
  std::string truth(std::string_view what) { return taken("pred", what); }
  std::string taken(std::string_view type, std::string_view what) {
    std::string reg = fmt::format("%{}{}", name_, what);
    registers_[reg] = type;
    return reg;
  }
  std::string first(std::size_t range) { return wide(fmt::format("first{}", range)); }
  std::string shift(std::size_t range) { return word(fmt::format("shift{}", range)); }
  void say(const std::string &line) { text_ += fmt::format("\t{};\n", line); }
  void label(const std::string &name) { text_ += name + ":\n"; }

  std::string declarations() const {
    std::string text;
    for (const auto &[name, counted] : counted_)
      for (const auto &[type, count] : counted)
        text += fmt::format(".reg .{} %{}{}_<{}>;\n\t", type, name, type, count);
    for (const auto &[reg, type] : registers_)
      text += fmt::format(".reg .{} {};\n\t", type, reg);
    return text + fmt::format(".shared .align 16 .b8 {}[{}];\n", tile_, staging_.size);
  }

  void find_out() {
    say(fmt::format("mov.u32 {}, 0", word("comes")));
    for (std::size_t i = 0; i < staging_.ranges.size(); ++i)
      say(fmt::format("mov.b64 {}, 0", first(i)));
    say(fmt::format("mov.b64 {}, 0", wide("rounds")));
    const auto &repeated = staging_.before.instructions;
    for (const BlockId block : staging_.before.blocks) {
      label(place(fmt::format("b{}", block)));
      const BasicBlock &one = cfg_.blocks()[block];
      for (std::uint32_t i = one.first; i < one.end; ++i)
        if (std::binary_search(repeated.begin(), repeated.end(), i))
          repeat(i);
      if (falls_through(one))
        say("bra " + way_to(one.end));
    }
    label(place("at"));
    if (staging_.around)
      know(name_, 0, staging_.around->conditions, staging_.around->last);
    else
      know(name_, staging_.ranges.size(), staging_.conditions, staging_.count);
  }

  /// What is compared: where so many ranges begin, and a number of rounds.
  void know(const std::string &name, std::size_t ranges,
            const std::vector<facts::Condition> &conditions, const facts::Polynomial &count) {
    TestWriter writer(kernel_, atoms_, name);
    if (!conditions.empty())
      writer.all(conditions, truth("counted"));
    for (std::size_t i = 0; i < ranges; ++i) {
      const std::string value = writer.value(staging_.ranges[i].first);
      writer.text += fmt::format("\tmov.b64 {}, {};\n", first(i), value);
    }
    const std::string rounds = writer.value(count);
    writer.text += fmt::format("\tmov.b64 {}, {};\n", wide("rounds"), rounds);
    text_ += writer.text;
    counted_[name] = writer.count;
    say(conditions.empty() ? fmt::format("mov.u32 {}, 1", word("comes"))
                           : fmt::format("selp.u32 {}, 1, 0, {}", word("comes"), truth("counted")));
  }

  bool falls_through(const BasicBlock &block) const {
    const Instruction &last = kernel_.instructions[block.end - 1];
    return last.guard != no_register || !is_way(module_.opcode(last));
  }

  /// Where a thread goes that goes to an instruction of the kernel, which may be none.
  std::string way_to(std::uint32_t instruction) const {
    if (instruction >= kernel_.instructions.size())
      return place("met");
    const BlockId block = cfg_.block_of(instruction);
    const auto &blocks = staging_.before.blocks;
    if (instruction == staging_.header)
      return place("at");
    return std::binary_search(blocks.begin(), blocks.end(), block)
               ? place(fmt::format("b{}", block))
               : place("met");
  }

  std::uint32_t target_of(const Instruction &branch) const {
    const Label *label = kernel_.find_label(module_.symbol(module_.operands(branch)[0]).name, 0);
    return label ? label->position : 0;
  }

  void repeat(std::uint32_t i) {
    const Instruction &one = kernel_.instructions[i];
    if (!is_way(module_.opcode(one))) {
      say_again(one);
      return;
    }
    const std::string to =
        module_.opcode(one).op == Op::bra ? way_to(target_of(one)) : place("met");
    say(guard_of(one) + "bra " + to);
  }

  void say_again(const Instruction &one) { text_ += fmt::format("\t{}\n", module_.text(one.span)); }

  std::string guard_of(const Instruction &one) const {
    return one.guard == no_register ? ""
                                    : fmt::format("@{}{} ", one.guard_negated ? "!" : "",
                                                  kernel_.registers[one.guard].name);
  }

  void meet() {
    const std::string thread = word("thread"), threads = word("threads"), a = word("a"),
                      b = word("b");
    label(place("met"));
    say(fmt::format("mov.u32 {}, %tid.z", thread));
    say(fmt::format("mov.u32 {}, %ntid.y", a));
    say(fmt::format("mov.u32 {}, %tid.y", b));
    say(fmt::format("mad.lo.u32 {0}, {0}, {1}, {2}", thread, a, b));
    say(fmt::format("mov.u32 {}, %ntid.x", b));
    say(fmt::format("mul.lo.u32 {}, {}, {}", threads, a, b));
    say(fmt::format("mov.u32 {}, %tid.x", a));
    say(fmt::format("mad.lo.u32 {0}, {0}, {1}, {2}", thread, b, a));
    say(fmt::format("mov.u32 {}, %ntid.z", a));
    say(fmt::format("mul.lo.u32 {0}, {0}, {1}", threads, a));
    compare(staging_.around ? 0 : staging_.ranges.size());
    say(fmt::format("@!{} bra {}", truth("all"), place("original")));
    if (!staging_.around)
      begin();
  }

  /// Have all threads of the block the same?
  void compare(std::size_t ranges) {
    const std::string test = truth("test"), same = truth("same");
    say(fmt::format("setp.ne.u32 {}, {}, 0", test, word("thread")));
    const auto told = [&](std::size_t i) { return i == ranges ? wide("rounds") : first(i); };
    for (std::size_t i = 0; i <= ranges; ++i)
      say(fmt::format("@!{} st.shared.b64 [{}+{}], {}", test, tile_, 8 * i, told(i)));
    say("barrier.sync 0");
    say(fmt::format("setp.gt.u32 {}, {}, 1", same, word("threads")));
    say(fmt::format("setp.ne.u32 {}, {}, 0", test, word("comes")));
    say(fmt::format("and.pred {0}, {0}, {1}", same, test));
    for (std::size_t i = 0; i <= ranges; ++i) {
      say(fmt::format("ld.shared.b64 {}, [{}+{}]", wide("said"), tile_, 8 * i));
      say(fmt::format("setp.eq.s64 {}, {}, {}", test, wide("said"), told(i)));
      say(fmt::format("and.pred {0}, {0}, {1}", same, test));
    }
    say(fmt::format("barrier.red.and.pred {}, 0, {}", truth("all"), same));
  }

  /// No round is in the tile yet.
  void begin() {
    say(fmt::format("cvt.u32.u64 {}, {}", word("rest"), wide("rounds")));
    say(fmt::format("mov.u32 {}, {}", word("base"), tile_));
    say(fmt::format("mov.u32 {}, 0", word("left")));
  }

  /// The way into a loop that is in another one.
  void enter() {
    label(place("enter"));
    know(name_ + "in_", staging_.ranges.size(), staging_.conditions, staging_.count);
    compare(staging_.ranges.size());
    begin();
  }

  /// The next tile, where this one has no round left.
  void bring() {
    const std::string left = word("left"), rest = word("rest"), test = truth("test"),
                      base = word("base"), low = word("low"), k = word("k"), from = wide("from");
    if (staging_.around)
      say(fmt::format("@!{} bra {}", truth("all"), place("go")));
    say(fmt::format("setp.ne.u32 {}, {}, 0", test, left));
    say(fmt::format("@{} bra {}", test, place("go")));
    say("barrier.sync 0");
    say(fmt::format("min.u32 {}, {}, {}", left, rest, staging_.rounds));
    say(fmt::format("sub.u32 {0}, {0}, {1}", rest, left));
    say(fmt::format("mov.u32 {}, {}", k, word("thread")));
    say(fmt::format("setp.ge.u32 {}, {}, {}", test, k, left));
    say(fmt::format("@{} bra {}", test, place("brought")));
    label(place("next"));
    std::vector<std::string> stores;
    for (std::size_t i = 0; i < staging_.ranges.size(); ++i) {
      const StagedRange &range = staging_.ranges[i];
      const std::string to = word(fmt::format("to{}", i));
      say(fmt::format("mul.wide.u32 {}, {}, {}", from, k, range.step));
      say(fmt::format("add.s64 {0}, {0}, {1}", from, first(i)));
      say(fmt::format("mad.lo.u32 {}, {}, {}, {}", to, k, range.step, base));
      for (const StagedLoad &load : range.loads)
        if (is_first(range, load))
          stores.push_back(bring(range, load, from, to));
    }
    for (const std::string &store : stores)
      say(store);
    say(fmt::format("add.u32 {0}, {0}, {1}", k, word("threads")));
    say(fmt::format("setp.lt.u32 {}, {}, {}", test, k, left));
    say(fmt::format("@{} bra {}", test, place("next")));
    label(place("brought"));
    for (std::size_t i = 0; i < staging_.ranges.size(); ++i) {
      say(fmt::format("cvt.u32.u64 {}, {}", low, first(i)));
      say(fmt::format("sub.u32 {}, {}, {}", shift(i), base, low));
      say(fmt::format("mul.wide.u32 {}, {}, {}", from, left, staging_.ranges[i].step));
      say(fmt::format("add.s64 {0}, {0}, {1}", first(i), from));
    }
    say("barrier.sync 0");
    label(place("go"));
    say(fmt::format("sub.u32 {0}, {0}, 1", left));
  }

  /// Loads what a load reads, and returns the store that keeps it.
  std::string bring(const StagedRange &range, const StagedLoad &load, const std::string &from,
                    const std::string &to) {
    const StagingOpcodes opcodes =
        staging_opcodes(module_.opcode(kernel_.instructions[load.instruction]));
    std::string list;
    for (unsigned i = 0; i < opcodes.elements; ++i)
      list += fmt::format(
          "{}{}", i == 0 ? "" : ", ",
          taken(fmt::format("b{}", opcodes.bits), fmt::format("v{}_{}", load.instruction, i)));
    if (opcodes.elements > 1)
      list = "{" + list + "}";
    say(fmt::format("{} {}, [{}+{}]", opcodes.load, list, from, load.offset));
    return fmt::format("{} [{}+{}], {}", opcodes.store, to, range.place + load.offset, list);
  }

  void copy() {
    for (BlockId block = 0; block < cfg_.blocks().size(); ++block) {
      const BasicBlock &one = cfg_.blocks()[block];
      if (staging_.around && one.first == staging_.entry)
        enter();
      label(place(fmt::format("c{}", block)));
      if (one.first == staging_.round)
        bring();
      for (std::uint32_t i = one.first; i < one.end; ++i)
        copy(i);
    }
    if (may_run_out(module_, kernel_)) {
      label(place("end"));
      say("ret");
    }
  }

  void copy(std::uint32_t i) {
    const Instruction &one = kernel_.instructions[i];
    for (std::size_t r = 0; r < staging_.ranges.size(); ++r)
      for (const StagedLoad &load : staging_.ranges[r].loads)
        if (load.instruction == i) {
          use(one, r);
          return;
        }
    if (module_.opcode(one).op != Op::bra) {
      say_again(one);
      return;
    }
    const Operand &to = module_.operands(one)[0];
    std::string text(module_.text(one.span));
    text.replace(to.span.begin - one.span.begin, to.span.size(), copy_of(target_of(one), i));
    text_ += fmt::format("\t{}\n", text);
  }

  /// Where a branch of the kernel leads in its copy.
  std::string copy_of(std::uint32_t target, std::uint32_t branch) const {
    if (target >= kernel_.instructions.size())
      return place("end");
    if (staging_.around && target == staging_.entry &&
        !cfg_.contains(staging_.loop, cfg_.block_of(branch)))
      return place("enter");
    return place(fmt::format("c{}", cfg_.block_of(target)));
  }

  /// A load of the tile.
  void use(const Instruction &load, std::size_t range) {
    const auto operands = module_.operands(load);
    const std::string low = word("low");
    const Operand &base = module_.children(operands[1])[0];
    say(fmt::format("cvt.u32.u64 {}, {}", low, module_.text(base.span)));
    say(fmt::format("add.u32 {0}, {0}, {1}", low, shift(range)));
    const std::string when = staging_.around ? fmt::format("@{} ", truth("all")) : "";
    say(fmt::format("{}{} {}, [{}+{}]", when, staging_opcodes(module_.opcode(load)).use,
                    module_.text(operands[0].span), low,
                    operands[1].value + std::int64_t{staging_.ranges[range].place}));
    if (staging_.around)
      text_ += fmt::format("\t@!{} {}\n", truth("all"), module_.text(load.span));
  }

  const Module &module_;
  const Function &kernel_;
  const ControlFlowGraph &cfg_;
  const Staging &staging_;
  const facts::Atoms &atoms_;
  std::string name_, tile_, text_;
  std::map<std::string, std::string> registers_; ///< by name, their types
  /// Those of what is tested, by what their names begin with and by type.
  std::map<std::string, std::map<std::string, unsigned>> counted_;
};

} // namespace

bool may_run_out(const Module &module, const Function &kernel) {
  const Instruction &last = kernel.instructions.back();
  return last.guard != no_register || !is_way(module.opcode(last)) ||
         std::any_of(kernel.labels.begin(), kernel.labels.end(), [&](const Label &label) {
           return label.position == kernel.instructions.size();
         });
}

std::uint32_t begin_of_code(const Function &kernel) {
  std::uint32_t begin = kernel.instructions[0].span.begin;
  for (const Label &label : kernel.labels)
    if (label.position == 0)
      begin = std::min(begin, label.span.begin);
  for (const Pragma &pragma : kernel.pragmas)
    if (pragma.position == 0)
      begin = std::min(begin, pragma.span.begin);
  return begin;
}

StagingOpcodes staging_opcodes(const Opcode &load) {
  StagingOpcodes result;
  const unsigned bits = bit_width(load.type);
  const std::string vector = load.vector == 1 ? "" : fmt::format(".v{}", load.vector);
  result.elements = load.vector;
  result.bits = std::max(bits, 16u);
  const std::string space = load.space == StateSpace::global ? ".global" : "";
  result.load =
      fmt::format("ld{}{}{}.b{}", space, load.has(Modifier::nc) ? ".nc" : "", vector, bits);
  result.store = fmt::format("st.shared{}.b{}", vector, bits);
  result.use = fmt::format("ld.shared{}.{}", vector, to_string(load.type));
  return result;
}

std::optional<std::string> write_staged(const Module &module, const Function &kernel,
                                        const ControlFlowGraph &cfg, const Staging &staging,
                                        const facts::Atoms &atoms) {
  return StageWriter(module, kernel, cfg, staging, atoms).run();
}

} // namespace ptxasw::synth::stage
