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
//
// What another load has read is kept where that one runs, in both loops. Where it is wanted in the
// round that follows, the round begins with a copy of it, as the other load may run again before
// its value is used:
//
//	$carry0_b0:
//		mov.b32 %carry0_b32_1, %carry0_b32_0;   of the round before
//		...
//		mov.b32 %f1, %carry0_b32_1;             in place of ld.global.f32 %f1, [%rd1];
//		ld.global.f32 %f2, [%rd1+4];
//		mov.b32 %carry0_b32_0, %f2;
//		...

#include "synth/promote/write.h"

#include "grammar/edits.h"
#include "grammar/next.h"
#include "grammar/pragmas.h"
#include "grammar/roles.h"
#include "synth/test_writer.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace ptxasw::synth::promote {
namespace {

class LoopWriter {
public:
  LoopWriter(const Module &module, const Function &function, const ControlFlowGraph &cfg,
             const Promotion &promotion, Atoms &atoms)
      : module_(module), function_(function), cfg_(cfg), promotion_(promotion), atoms_(atoms),
        name_(unused_prefix(module.text(), prefix_of(promotion.wanted))), fresh_(name_),
        blocks_(blocks_in(cfg, promotion.loop)), header_(cfg.loops()[promotion.loop].header) {}

  std::optional<std::string> run() {
    for (const RepeatedLoad &load : promotion_.loads)
      keep(load);
    test();
    turn_back();
    copy();
    close();
    std::string declarations = fresh_.declarations();
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

  std::vector<RegisterId> destinations(std::uint32_t load) const {
    return written_registers(module_, function_.instructions[load]);
  }

  /// A register gets what a store has written to the place that a load has read.
  std::string forward(std::uint32_t load, std::uint32_t store, const std::string &kept) const {
    return fmt::format("\n\t{}mov.{} {}, {};", guard_text(function_, function_.instructions[store]),
                       type_of(destinations(load)[0]), kept,
                       module_.text(forwarded(module_, function_, load, store)->span));
  }

  /// What a source has read: in this round, and in the one before.
  struct Kept {
    std::vector<std::string> now, before;
    std::set<std::uint32_t> stores, stores_before; ///< that write to the place, as far as written
  };

  /// What a load reads is kept where it runs, in both loops if it is there for another one, and
  /// where the loop writes to its place.
  void keep(const RepeatedLoad &load) {
    const std::vector<RegisterId> from = destinations(load.source);
    Kept &kept = kept_[load.source];
    if (kept.now.empty())
      for (const RegisterId reg : from) {
        kept.now.push_back(fresh_(type_of(reg)));
        (load.is_carried() ? own_kept_ : behind_)[load.source] +=
            fmt::format("\n\tmov.{} {}, {};", type_of(reg), kept.now.back(), own(reg));
      }
    if (load.ago == 1 && kept.before.empty())
      for (std::size_t i = 0; i < from.size(); ++i) {
        kept.before.push_back(fresh_(type_of(from[i])));
        round_begins_ +=
            fmt::format("\tmov.{} {}, {};\n", type_of(from[i]), kept.before[i], kept.now[i]);
      }
    const std::vector<RegisterId> to = destinations(load.instruction);
    for (std::size_t i = 0; i < to.size(); ++i)
      instead_[load.instruction] += fmt::format("\tmov.{} {}, {};\n", type_of(to[i]), own(to[i]),
                                                (load.ago == 1 ? kept.before : kept.now)[i]);
    for (const std::uint32_t store : load.to_the_place)
      if (kept.stores.insert(store).second)
        behind_[store] += forward(load.source, store, kept.now[0]);
    for (const std::uint32_t store : load.to_the_place_before)
      if (kept.stores_before.insert(store).second)
        behind_copy_[store] += forward(load.source, store, kept.before[0]);
  }

  void test() {
    std::string text = "\n";
    if (tests())
      text += TestWriter(function_, atoms_, fresh_).all(promotion_.conditions, predicate());
    edits_.insert(end_of_labels(function_, cfg_.blocks()[header_].first),
                  fmt::format("{}{}:", text, place("again")));
    std::map<std::uint32_t, std::string> behind = behind_;
    for (const auto &[instruction, moves] : own_kept_)
      behind[instruction] += moves;
    for (const auto &[instruction, text_behind] : behind)
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
    found->second = place(fmt::format("out{}", block));
    edits_.insert(begin_with_pragmas(function_, cfg_.blocks()[block].first),
                  found->second + ":\n\t");
    return found->second;
  }

  void copy() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const BasicBlock &block = cfg_.blocks()[blocks_[i]];
      added_ += copy_of(blocks_[i]) + ":\n";
      if (blocks_[i] == header_)
        added_ += round_begins_;
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
    const auto behind = [&](const std::map<std::uint32_t, std::string> &texts) {
      const auto found = texts.find(at);
      return found == texts.end() ? std::string() : found->second;
    };
    if (const auto found = instead_.find(at); found != instead_.end()) {
      const std::string kept = behind(own_kept_);
      added_ += found->second + (kept.empty() ? "" : kept.substr(1) + "\n");
      return;
    }
    std::string text(module_.text(instruction.span));
    const auto target = branch_target(module_, function_, instruction);
    if (target && *target < function_.instructions.size() && contains(cfg_.block_of(*target))) {
      const Span span = module_.operands(instruction)[0].span;
      text.replace(span.begin - instruction.span.begin, span.size(),
                   copy_of(cfg_.block_of(*target)));
    }
    added_ +=
        fmt::format("\t{}{}{}{}\n", text, behind(behind_), behind(own_kept_), behind(behind_copy_));
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
  const std::string name_;
  NewRegisters fresh_;
  const std::vector<BlockId> blocks_;
  const BlockId header_;
  std::string added_;
  Edits edits_;
  std::map<std::uint32_t, std::string> behind_;      ///< by instruction, what follows it
  std::map<std::uint32_t, std::string> behind_copy_; ///< the same, in the loop without loads alone
  std::map<std::uint32_t, std::string> instead_;     ///< by load, what stands for it
  std::map<std::uint32_t, Kept> kept_;               ///< by source
  std::map<std::uint32_t, std::string> own_kept_;    ///< by source, what keeps what it has read
  std::string round_begins_; ///< what the loop without loads begins each round with
  std::map<BlockId, std::string> outside_;
};

} // namespace

std::optional<std::string> write_promoted(const Module &module, const Function &function,
                                          const ControlFlowGraph &cfg, const Promotion &promotion,
                                          Atoms &atoms) {
  return LoopWriter(module, function, cfg, promotion, atoms).run();
}

} // namespace ptxasw::synth::promote
