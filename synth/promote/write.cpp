// A loop becomes two:
//
//	$loop:                              entered from outside
//		...                             the test: %promote0_apart
//	$promote0_again:
//		...                             the loop as it was
//		ld.global.f32 %f1, [%rd1];
//		mov.b32 %promote0_b32_0, %f1;   what a load has read
//		...
//		@%p1 bra $promote0_back;        where it went back to $loop
//	...
//	$promote0_back:                     behind the function's end
//		@%promote0_apart bra $promote0_b0;
//		bra.uni $promote0_again;
//	$promote0_b0:
//		...                             the loop again
//		mov.b32 %f1, %promote0_b32_0;   in place of the load
//		...
//
// The first round is always that of the loop as it was. So nothing is read that it would not read,
// however many rounds there are, and the register holds what it read when the second one begins.

#include "synth/promote/write.h"

#include "grammar/edits.h"
#include "synth/promote/test_writer.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace ptxasw::promote {
namespace {

class LoopWriter {
public:
  LoopWriter(const Module &module, const Function &function, const ControlFlowGraph &cfg,
             const Promotion &promotion, Atoms &atoms)
      : module_(module), function_(function), cfg_(cfg), promotion_(promotion), atoms_(atoms) {
    unsigned serial = 0;
    do
      name_ = fmt::format("{}{}_", prefix, serial++);
    while (module.text().find(name_) != std::string_view::npos);
    for (BlockId block = 0; block < cfg.blocks().size(); ++block)
      if (cfg.reachable(block) && cfg.contains(promotion.loop, block))
        blocks_.push_back(block);
    header_ = cfg.loops()[promotion.loop].header;
  }

  std::optional<std::string> run() {
    for (const RepeatedLoad &load : promotion_.loads)
      keep(load);
    test();
    turn_back();
    copy();
    close();
    std::string declarations;
    for (const auto &[type, count] : count_)
      declarations += fmt::format("\n\t.reg .{} %{}{}_<{}>;", type, name_, type, count);
    if (tests())
      declarations += fmt::format("\n\t.reg .pred {};", predicate());
    edits_.insert(function_.body.begin + 1, declarations);
    return edits_.apply(module_.text());
  }

private:
  bool tests() const { return !promotion_.conditions.empty(); }
  std::string predicate() const { return fmt::format("%{}{}", name_, predicate_suffix); }
  std::string place(std::string_view what) const { return fmt::format("${}{}", name_, what); }
  std::string copy_of(BlockId block) const { return place(fmt::format("b{}", block)); }
  bool contains(BlockId block) const { return cfg_.contains(promotion_.loop, block); }
  std::string_view own(RegisterId reg) const { return function_.registers[reg].name; }
  std::string type_of(RegisterId reg) const {
    return fmt::format("b{}", bit_width(function_.registers[reg].type));
  }
  std::string guard_of(const Instruction &instruction) const {
    return instruction.guard == no_register
               ? ""
               : fmt::format("@{}{} ", instruction.guard_negated ? "!" : "",
                             own(instruction.guard));
  }

  /// What a load reads is kept where it runs and where the loop writes to its place.
  void keep(const RepeatedLoad &load) {
    const Instruction &instruction = function_.instructions[load.instruction];
    const Operand &to = module_.operands(instruction)[0];
    std::vector<RegisterId> registers;
    if (to.kind == Operand::Kind::reg)
      registers.push_back(to.reg);
    for (const Operand &part : module_.children(to))
      if (part.kind == Operand::Kind::reg)
        registers.push_back(part.reg);
    std::string kept;
    for (const RegisterId reg : registers) {
      const std::string type = type_of(reg);
      const std::string copy = fmt::format("%{}{}_{}", name_, type, count_[type]++);
      kept = copy;
      behind_[load.instruction] += fmt::format("\n\tmov.{} {}, {};", type, copy, own(reg));
      instead_[load.instruction] += fmt::format("\tmov.{} {}, {};\n", type, own(reg), copy);
    }
    for (const std::uint32_t store : load.to_the_place)
      behind_[store] += fmt::format(
          "\n\t{}mov.{} {}, {};", guard_of(function_.instructions[store]), type_of(registers[0]),
          kept, module_.text(forwarded(module_, function_, load.instruction, store)->span));
  }

  void test() {
    const std::uint32_t first = cfg_.blocks()[header_].first;
    std::uint32_t end = 0;
    for (const Label &label : function_.labels)
      if (label.position == first)
        end = std::max(end, label.span.end);
    std::string text = "\n";
    if (tests()) {
      TestWriter writer(function_, atoms_, name_);
      writer.count = count_;
      text += writer.all(promotion_.conditions, predicate());
      count_ = writer.count;
    }
    edits_.insert(end, fmt::format("{}{}:", text, place("again")));
    for (const auto &[instruction, text_behind] : behind_)
      edits_.insert(function_.instructions[instruction].span.end, text_behind);
  }

  void turn_back() {
    for (const BlockId latch : cfg_.loops()[promotion_.loop].latches) {
      const Instruction &last = function_.instructions[cfg_.blocks()[latch].end - 1];
      edits_.replace(module_.operands(last)[0].span, place("back"));
    }
    added_ = place("back") + ":\n";
    added_ += tests() ? fmt::format("\t@{} bra {};\n\tbra.uni {};\n", predicate(), copy_of(header_),
                                    place("again"))
                      : fmt::format("\tbra.uni {};\n", copy_of(header_));
  }

  /// The name of a place outside of the loop.
  std::string outside(BlockId block) {
    const auto [found, added] = outside_.try_emplace(block);
    if (!added)
      return found->second;
    const std::uint32_t first = cfg_.blocks()[block].first;
    std::uint32_t begin = function_.instructions[first].span.begin;
    for (const Pragma &pragma : function_.pragmas)
      if (pragma.position == first)
        begin = std::min(begin, pragma.span.begin);
    found->second = place(fmt::format("out{}", block));
    edits_.insert(begin, found->second + ":\n\t");
    return found->second;
  }

  void copy() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const BasicBlock &block = cfg_.blocks()[blocks_[i]];
      added_ += copy_of(blocks_[i]) + ":\n";
      for (std::uint32_t at = block.first; at < block.end; ++at)
        copy(at);
      if (!falls_through(function_.instructions[block.end - 1]))
        continue;
      const bool ends = block.end == function_.instructions.size();
      const BlockId next = ends ? 0 : cfg_.block_of(block.end);
      if (ends)
        added_ += "\tret;\n";
      else if (!contains(next))
        added_ += fmt::format("\tbra.uni {};\n", outside(next));
      else if (i + 1 == blocks_.size() || blocks_[i + 1] != next)
        added_ += fmt::format("\tbra.uni {};\n", copy_of(next));
    }
  }

  bool falls_through(const Instruction &last) const {
    const Op op = module_.opcode(last).op;
    return last.guard != no_register || (op != Op::bra && op != Op::ret && op != Op::exit);
  }

  void copy(std::uint32_t at) {
    const Instruction &instruction = function_.instructions[at];
    if (const auto found = instead_.find(at); found != instead_.end()) {
      added_ += found->second;
      return;
    }
    std::string text(module_.text(instruction.span));
    if (module_.opcode(instruction).op == Op::bra) {
      const Operand &target = module_.operands(instruction)[0];
      const Label *label = function_.find_label(module_.symbol(target).name, instruction.scope);
      if (label && label->position < function_.instructions.size() &&
          contains(cfg_.block_of(label->position)))
        text.replace(target.span.begin - instruction.span.begin, target.span.size(),
                     copy_of(cfg_.block_of(label->position)));
    }
    const auto behind = behind_.find(at);
    added_ += fmt::format("\t{}{}\n", text, behind == behind_.end() ? "" : behind->second);
  }

  void close() {
    bool falls = function_.instructions.empty() || falls_through(function_.instructions.back());
    for (const Label &label : function_.labels)
      falls = falls || label.position == function_.instructions.size();
    edits_.insert(function_.body.end - 1, (falls ? "\tret;\n" : "") + added_);
  }

  const Module &module_;
  const Function &function_;
  const ControlFlowGraph &cfg_;
  const Promotion &promotion_;
  Atoms &atoms_;
  std::string name_, added_;
  std::vector<BlockId> blocks_;
  BlockId header_ = 0;
  Edits edits_;
  std::map<std::string, unsigned> count_;        ///< new registers by type
  std::map<std::uint32_t, std::string> behind_;  ///< by instruction, what follows it
  std::map<std::uint32_t, std::string> instead_; ///< by load, what stands for it
  std::map<BlockId, std::string> outside_;
};

} // namespace

std::optional<std::string> write_promoted(const Module &module, const Function &function,
                                          const ControlFlowGraph &cfg, const Promotion &promotion,
                                          Atoms &atoms) {
  return LoopWriter(module, function, cfg, promotion, atoms).run();
}

} // namespace ptxasw::promote
