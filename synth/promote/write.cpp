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

#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace ptxasw::promote {
namespace {

/// Writes what is tested, each sum and product once.
class TestWriter {
public:
  TestWriter(const Function &function, const Atoms &atoms, std::string name)
      : function_(function), atoms_(atoms), name_(std::move(name)) {}

  /// All conditions as one predicate; there is at least one.
  std::string all(const std::vector<Condition> &conditions, const std::string &result) {
    std::vector<std::string> parts;
    for (const Condition &condition : conditions) {
      const std::string part = one(condition);
      if (std::find(parts.begin(), parts.end(), part) == parts.end())
        parts.push_back(part);
    }
    std::string sum = parts[0];
    for (std::size_t i = 1; i + 1 < parts.size(); ++i)
      sum = made("pred", "and.pred", {sum, parts[i]});
    text += parts.size() == 1 ? fmt::format("\tmov.pred {}, {};\n", result, sum)
                              : fmt::format("\tand.pred {}, {}, {};\n", result, sum, parts.back());
    return text;
  }

  std::string text;
  std::map<std::string, unsigned> count; ///< registers that were taken, by type

private:
  std::string made(const std::string &type, const std::string &opcode,
                   const std::vector<std::string> &from) {
    std::string rest;
    for (const std::string &operand : from)
      rest += ", " + operand;
    const auto [found, added] = known_.try_emplace(opcode + rest);
    if (added) {
      found->second = fmt::format("%{}{}_{}", name_, type, count[type]++);
      text += fmt::format("\t{} {}{};\n", opcode, found->second, rest);
    }
    return found->second;
  }

  std::string wide(const std::string &opcode, const std::vector<std::string> &from) {
    return made("b64", opcode, from);
  }

  std::string atom(AtomId id) {
    const Atom &one = atoms_[id];
    if (one.kind == Atom::Kind::word)
      return std::string(function_.registers[one.leaf].name);
    if (one.kind == Atom::Kind::narrow)
      return wide("cvt.s64.s32", {std::string(function_.registers[one.leaf].name)});
    const std::string distance = wide("max.s64", {value(one.distance), "0"});
    return one.step == 1 ? distance : wide("div.s64", {distance, std::to_string(one.step)});
  }

  std::string term(const std::vector<AtomId> &product, std::int64_t factor) {
    std::string result;
    for (const AtomId one : product)
      result = result.empty() ? atom(one) : wide("mul.lo.s64", {result, atom(one)});
    return factor == 1 ? result : wide("mul.lo.s64", {result, std::to_string(factor)});
  }

  /// A register that holds it, or a number.
  std::string value(const Polynomial &polynomial) {
    std::string sum;
    std::int64_t number = 0;
    for (const bool added : {true, false})
      for (const auto &[product, bits] : polynomial.terms()) {
        const auto factor = static_cast<std::int64_t>(bits);
        if (product.empty())
          number = factor;
        else if (added && factor != -1)
          sum = sum.empty() ? term(product, factor) : wide("add.s64", {sum, term(product, factor)});
        else if (!added && factor == -1)
          sum = wide("sub.s64", {sum.empty() ? "0" : sum, term(product, 1)});
      }
    if (sum.empty())
      return std::to_string(number);
    return number == 0 ? sum : wide("add.s64", {sum, std::to_string(number)});
  }

  /// A number in a register.
  std::string held(const std::string &operand) {
    return operand.starts_with('%') ? operand : wide("mov.b64", {operand});
  }

  std::string one(const Condition &condition) {
    switch (condition.kind) {
    case Condition::Kind::multiple: {
      const std::string rest =
          wide("and.b64", {value(condition.value), std::to_string(condition.of - 1)});
      return made("pred", "setp.eq.s64", {rest, "0"});
    }
    case Condition::Kind::apart: {
      const bool stays = condition.way.is_zero();
      const std::string distance = held(value(condition.value));
      const std::string way = stays ? "" : held(value(condition.way));
      const auto limit = [&](const char *opcode, int bytes) {
        return stays ? std::to_string(bytes)
                     : wide("add.s64", {wide(opcode, {way, "0"}), std::to_string(bytes)});
      };
      const std::string behind = made(
          "pred", "setp.ge.s64", {distance, limit("max.s64", static_cast<int>(condition.stored))});
      const std::string before = made(
          "pred", "setp.le.s64", {distance, limit("min.s64", -static_cast<int>(condition.loaded))});
      return made("pred", "or.pred", {behind, before});
    }
    case Condition::Kind::not_negative:
      break;
    }
    const auto found = condition.value.terms().find({});
    const std::int64_t number =
        found == condition.value.terms().end() ? 0 : static_cast<std::int64_t>(found->second);
    return made("pred", "setp.ge.s64",
                {value(condition.value - Polynomial(number)), std::to_string(-number)});
  }

  const Function &function_;
  const Atoms &atoms_;
  const std::string name_;
  std::map<std::string, std::string> known_; ///< by opcode and sources
};

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
