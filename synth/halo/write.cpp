// A kernel becomes three parts:
//
//	...                              blocks of another shape? then as it was
//	...                              what decides whether and with which addresses this thread
//	                                 comes to its loads, from parameters and special registers
//	$halo0_at:                       it does
//	ld.global.f32 %v, [%rd6];        what one load reads, and if it is one of the first threads
//	@%first ld.global.f32 %u, [%rd6+-4];     or the last ones, what another one does
//	st.shared.f32 [%at+4], %v;
//	@%first st.shared.f32 [%at], %u;
//	$halo0_met:                      here all threads of the block meet
//	...                              the first thread tells the others its address
//	barrier.red.and.pred %all, 0, %same;
//	@!%all bra $halo0_original;      not all come, or not with addresses in a row: as it was
//	...                              the kernel up to the last load that is staged, in which
//	ld.shared.f32 %f1, [%at+8];      takes the place of ld.global.f32 %f1, [%rd6+4];
//	bra $halo0_behind;
//	$halo0_original:
//	...                              the kernel, in which
//	$halo0_behind:                   is added where the part before it ends, and a label for
//	...                              each block to which a way leads from there

#include "synth/halo/write.h"

#include "grammar/edits.h"
#include "synth/stage/write.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace ptxasw::inline synth::halo {
namespace {

class HaloWriter {
public:
  HaloWriter(const Module &module, const Function &kernel, const ControlFlowGraph &cfg,
             const Halo &halo)
      : module_(module), kernel_(kernel), cfg_(cfg), halo_(halo) {
    unsigned serial = 0;
    do
      name_ = fmt::format("{}{}_", prefix, serial++);
    while (module.text().find(name_) != std::string_view::npos);
    tile_ = name_ + "tile";
  }

  std::optional<std::string> run() {
    const std::uint32_t begin = stage::begin_of_code(kernel_);
    const std::string_view code = module_.text({begin, kernel_.body.end});
    const bool declares =
        code.find(".reg") != std::string_view::npos ||
        std::any_of(kernel_.variables.begin(), kernel_.variables.end(),
                    [&](const Variable &variable) { return variable.span.begin >= begin; });
    if (declares)
      return std::nullopt;
    ask_for_shape();
    find_out();
    bring();
    meet();
    go();
    label("original");
    Edits edits;
    edits.insert(begin, declarations() + text_ + "\t");
    for (const auto &[instruction, name] : places_)
      edits.insert(kernel_.instructions[instruction].span.begin,
                   fmt::format("{}:\n\t", place(name)));
    return edits.apply(module_.text());
  }

private:
  std::string place(std::string_view what) const { return fmt::format("${}{}", name_, what); }
  std::string taken(std::string_view type, std::string_view what) {
    std::string reg = fmt::format("%{}{}", name_, what);
    registers_[reg] = type;
    return reg;
  }
  /// A register of 32 or 64 bits, or a predicate, by name.
  std::string word(std::string_view what) { return taken("b32", what); }
  std::string wide(std::string_view what) { return taken("b64", what); }
  std::string truth(std::string_view what) { return taken("pred", what); }
  std::string base(std::size_t group) { return wide(fmt::format("base{}", group)); }
  std::string own(std::size_t group) { return word(fmt::format("own{}", group)); }
  std::string step(std::size_t group, int axis) {
    return wide(fmt::format("step{}_{}", group, axis));
  }
  void say(const std::string &line) { text_ += fmt::format("\t{};\n", line); }
  void label(std::string_view name) { text_ += place(name) + ":\n"; }
  bool extends(int axis) const { return halo_.block[static_cast<std::size_t>(axis)] > 1; }

  std::string declarations() const {
    std::string text;
    for (const auto &[reg, type] : registers_)
      text += fmt::format(".reg .{} {};\n\t", type, reg);
    return text + fmt::format(".shared .align 16 .b8 {}[{}];\n", tile_, halo_.size);
  }

  void ask_for_shape() {
    for (int axis = 0; axis < 3; ++axis) {
      const char *const letter = letters[axis];
      say(fmt::format("mov.u32 {}, %ntid.{}", word("extent"), letter));
      say(fmt::format("setp.ne.u32 {}, {}, {}", truth("test"), word("extent"),
                      halo_.block[static_cast<std::size_t>(axis)]));
      say(fmt::format("@{} bra {}", truth("test"), place("original")));
    }
    for (int axis = 0; axis < 3; ++axis)
      if (axis == 0 || extends(axis))
        say(fmt::format("mov.u32 {}, %tid.{}", word(letters[axis]), letters[axis]));
  }

  void find_out() {
    say(fmt::format("mov.u32 {}, 0", word("comes")));
    for (std::size_t g = 0; g < halo_.groups.size(); ++g)
      say(fmt::format("mov.b64 {}, 0", base(g)));
    const auto &repeated = halo_.before.instructions;
    for (const BlockId block : halo_.before.blocks) {
      label(fmt::format("b{}", block));
      const BasicBlock &one = cfg_.blocks()[block];
      for (std::uint32_t i = one.first; i < end_of(block); ++i)
        if (std::binary_search(repeated.begin(), repeated.end(), i))
          repeat(block, i);
      if (block == last())
        say("bra " + place("at"));
      else if (falls_through(one))
        say("bra " + place(way_to(block, one.end, "b").value_or("met")));
    }
  }

  BlockId last() const { return cfg_.block_of(halo_.end - 1); }
  std::uint32_t end_of(BlockId block) const {
    return block == last() ? halo_.end : cfg_.blocks()[block].end;
  }
  bool falls_through(const BasicBlock &block) const {
    const Instruction &one = kernel_.instructions[block.end - 1];
    return one.guard != no_register || !stage::is_way(module_.opcode(one));
  }

  /// The place where a thread comes to that goes from a block to an instruction; nothing if that is
  /// none of the ways.
  std::optional<std::string> way_to(BlockId from, std::uint32_t instruction,
                                    std::string_view kind) const {
    if (instruction >= kernel_.instructions.size())
      return std::nullopt;
    const BlockId to = cfg_.block_of(instruction);
    const auto &blocks = halo_.before.blocks;
    if (!std::binary_search(blocks.begin(), blocks.end(), to) ||
        !stage::goes_forward(cfg_, from, to))
      return std::nullopt;
    return fmt::format("{}{}", kind, to);
  }

  std::uint32_t target_of(const Instruction &branch) const {
    const Label *label = kernel_.find_label(module_.symbol(module_.operands(branch)[0]).name, 0);
    return label ? label->position : 0;
  }

  void repeat(BlockId block, std::uint32_t i) {
    const Instruction &one = kernel_.instructions[i];
    if (!stage::is_way(module_.opcode(one))) {
      say_again(one);
      return;
    }
    const bool goes_on = module_.opcode(one).op == Op::bra;
    const std::string guard = one.guard == no_register
                                  ? ""
                                  : fmt::format("@{}{} ", one.guard_negated ? "!" : "",
                                                kernel_.registers[one.guard].name);
    const auto to = goes_on ? way_to(block, target_of(one), "b") : std::nullopt;
    say(guard + "bra " + place(to.value_or("met")));
  }

  void say_again(const Instruction &one) { text_ += fmt::format("\t{}\n", module_.text(one.span)); }

  /// What this thread keeps for the others.
  void bring() {
    label("at");
    std::vector<std::string> stores;
    for (std::size_t g = 0; g < halo_.groups.size(); ++g) {
      const Group &group = halo_.groups[g];
      say(fmt::format("mov.b64 {}, {}", base(g), kernel_.registers[group.base].name));
      say(fmt::format("mov.u32 {}, {}", own(g), tile_));
      say(fmt::format("mad.lo.u32 {0}, {1}, {2}, {0}", own(g), word("x"), group.bytes));
      if (extends(1))
        say(fmt::format("mad.lo.u32 {0}, {1}, {2}, {0}", own(g), word("y"), group.row));
      if (extends(2))
        say(fmt::format("mad.lo.u32 {0}, {1}, {2}, {0}", own(g), word("z"), group.plane));
      for (std::size_t b = 0; b < group.brings.size(); ++b)
        stores.push_back(bring(g, b));
    }
    for (const std::string &store : stores)
      say(store);
    say(fmt::format("mov.u32 {}, 1", word("comes")));
  }

  /// Loads what one load reads, and returns the store that keeps it.
  std::string bring(std::size_t g, std::size_t b) {
    const Group &group = halo_.groups[g];
    const HaloLoad &load = group.loads[group.brings[b].load];
    const Instruction &one = kernel_.instructions[load.instruction];
    const stage::StagingOpcodes opcodes = stage::staging_opcodes(module_.opcode(one));
    const std::string guard = when(group.brings[b], fmt::format("when{}_{}", g, b));
    std::string list;
    for (unsigned i = 0; i < opcodes.elements; ++i)
      list +=
          fmt::format("{}{}", i == 0 ? "" : ", ",
                      taken(fmt::format("b{}", opcodes.bits), fmt::format("v{}_{}_{}", g, b, i)));
    if (opcodes.elements > 1)
      list = "{" + list + "}";
    const Operand &address = module_.operands(one)[1];
    say(fmt::format("{}{} {}, [{}+{}]", guard, opcodes.load, list,
                    module_.text(module_.children(address)[0].span), address.value));
    return fmt::format("{}{} [{}+{}], {}", guard, opcodes.store, own(g), group.first + load.place,
                       list);
  }

  /// The guard of what threads bring.
  std::string when(const Bring &bring, const std::string &name) {
    if (bring.when.empty())
      return "";
    bool is_first = true;
    for (const auto &any : bring.when) {
      const std::string one = is_first ? truth(name) : truth("any");
      for (std::size_t i = 0; i < any.size(); ++i) {
        const std::string to = i == 0 ? one : truth("test");
        say(fmt::format("setp.{}.u32 {}, {}, {}", any[i].below ? "lt" : "ge", to,
                        word(letters[any[i].axis]), any[i].limit));
        if (i > 0)
          say(fmt::format("or.pred {0}, {0}, {1}", one, to));
      }
      if (!is_first)
        say(fmt::format("and.pred {0}, {0}, {1}", truth(name), one));
      is_first = false;
    }
    return fmt::format("@{} ", truth(name));
  }

  void meet() {
    label("met");
    const std::string test = truth("test"), same = truth("same"), number = word("number");
    say(fmt::format("mov.u32 {}, {}", number, word("x")));
    int threads = 1;
    for (int axis = 1; axis < 3; ++axis) {
      threads *= halo_.block[static_cast<std::size_t>(axis - 1)];
      if (extends(axis))
        say(fmt::format("mad.lo.u32 {0}, {1}, {2}, {0}", number, word(letters[axis]), threads));
    }
    threads = 1;
    for (int axis = 0; axis < 3; ++axis) {
      if (axis > 0)
        threads *= halo_.block[static_cast<std::size_t>(axis - 1)];
      if (axis > 0 && !extends(axis))
        continue;
      say(fmt::format("setp.eq.u32 {}, {}, {}", test, number, axis == 0 ? 0 : threads));
      for (std::size_t g = 0; g < halo_.groups.size(); ++g)
        say(fmt::format("@{} st.shared.b64 [{}+{}], {}", test, tile_, place_of_base(g, axis),
                        base(g)));
    }
    say("barrier.sync 0");
    say(fmt::format("setp.ne.u32 {}, {}, 0", same, word("comes")));
    say(fmt::format("@!{} bra {}", same, place("asked")));
    for (std::size_t g = 0; g < halo_.groups.size(); ++g)
      compare(g);
    label("asked");
    say(fmt::format("barrier.red.and.pred {}, 0, {}", truth("all"), same));
    say(fmt::format("@!{} bra {}", truth("all"), place("original")));
  }

  /// Has this thread the addresses that it must have?
  void compare(std::size_t g) {
    const Group &group = halo_.groups[g];
    const std::string said = wide("said"), must = wide("must");
    say(fmt::format("ld.shared.b64 {}, [{}+{}]", said, tile_, place_of_base(g, 0)));
    say(fmt::format("mul.wide.u32 {}, {}, {}", must, word("x"), group.bytes));
    say(fmt::format("add.s64 {0}, {0}, {1}", must, said));
    for (int axis = 1; axis < 3; ++axis)
      if (extends(axis)) {
        say(fmt::format("ld.shared.b64 {}, [{}+{}]", step(g, axis), tile_, place_of_base(g, axis)));
        say(fmt::format("sub.s64 {0}, {0}, {1}", step(g, axis), said));
        say(fmt::format("cvt.u64.u32 {}, {}", wide("wide"), word(letters[axis])));
        say(fmt::format("mad.lo.s64 {0}, {1}, {2}, {0}", must, step(g, axis), wide("wide")));
      }
    is_same(must, base(g));
    for (const Related &one : group.related) {
      say(fmt::format("add.s64 {}, {}, {}", must, base(g), one.distance));
      if (one.y != 0)
        say(fmt::format("mad.lo.s64 {0}, {1}, {2}, {0}", must, step(g, 1), one.y));
      if (one.z != 0)
        say(fmt::format("mad.lo.s64 {0}, {1}, {2}, {0}", must, step(g, 2), one.z));
      is_same(must, std::string(kernel_.registers[one.reg].name));
    }
  }

  void is_same(const std::string &a, const std::string &b) {
    say(fmt::format("setp.eq.s64 {}, {}, {}", truth("test"), a, b));
    say(fmt::format("and.pred {0}, {0}, {1}", truth("same"), truth("test")));
  }

  /// The kernel up to the last load.
  void go() {
    for (const BlockId block : halo_.before.blocks) {
      label(fmt::format("s{}", block));
      const BasicBlock &one = cfg_.blocks()[block];
      for (std::uint32_t i = one.first; i < end_of(block); ++i)
        copy(block, i);
      if (block == last()) {
        say("bra " + place("behind"));
        places_.emplace(halo_.end, "behind");
      } else if (falls_through(one)) {
        say("bra " + place(goes_to(block, one.end)));
      }
    }
    if (runs_out_) {
      label("end");
      say("ret");
    }
  }

  std::string goes_to(BlockId from, std::uint32_t instruction) {
    if (instruction >= kernel_.instructions.size()) {
      runs_out_ = true;
      return "end";
    }
    if (const auto way = way_to(from, instruction, "s"))
      return *way;
    std::string name = fmt::format("k{}", cfg_.block_of(instruction));
    places_.emplace(instruction, name);
    return name;
  }

  void copy(BlockId block, std::uint32_t i) {
    const Instruction &one = kernel_.instructions[i];
    for (std::size_t g = 0; g < halo_.groups.size(); ++g)
      for (const HaloLoad &load : halo_.groups[g].loads)
        if (load.instruction == i) {
          say(fmt::format("{} {}, [{}+{}]", stage::staging_opcodes(module_.opcode(one)).use,
                          module_.text(module_.operands(one)[0].span), own(g),
                          halo_.groups[g].first + load.place));
          return;
        }
    if (module_.opcode(one).op != Op::bra) {
      say_again(one);
      return;
    }
    const Operand &to = module_.operands(one)[0];
    std::string text(module_.text(one.span));
    text.replace(to.span.begin - one.span.begin, to.span.size(),
                 place(goes_to(block, target_of(one))));
    text_ += fmt::format("\t{}\n", text);
  }

  static constexpr const char *letters[] = {"x", "y", "z"};

  const Module &module_;
  const Function &kernel_;
  const ControlFlowGraph &cfg_;
  const Halo &halo_;
  std::string name_, tile_, text_;
  std::map<std::string, std::string> registers_;           ///< by name, their types
  std::set<std::pair<std::uint32_t, std::string>> places_; ///< labels for the kernel's own
  bool runs_out_ = false; ///< a way leads behind the last instruction
};

} // namespace

std::optional<std::string> write_halo(const Module &module, const Function &kernel,
                                      const ControlFlowGraph &cfg, const Halo &halo) {
  return HaloWriter(module, kernel, cfg, halo).run();
}

} // namespace ptxasw::synth::halo
