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
// The first iteration is always that of the loop as it was. So nothing is read that it would not
// read, however many iterations there are; the register holds what it read when the second begins.
//
// What another load has read is kept where that one runs, in both loops. Where it is wanted in the
// iteration that follows, the iteration begins with a copy of it, as the other load may run again
// before its value is used:
//
//	$carry0_b0:
//		mov.b32 %carry0_b32_1, %carry0_b32_0;   of the round before
//		...
//		mov.b32 %f1, %carry0_b32_1;             in place of ld.global.f32 %f1, [%rd1];
//		ld.global.f32 %f2, [%rd1+4];
//		mov.b32 %carry0_b32_0, %f2;
//		...

#include "synth/promote/sites.h"

#include "grammar/code_writer.h"
#include "grammar/edits.h"
#include "grammar/next.h"
#include "grammar/pragmas.h"
#include "grammar/roles.h"
#include "synth/test_writer.h"

#include <fmt/core.h>
#include <map>
#include <set>

namespace ptxasw::synth::promote {
namespace {

class LoopWriter : OfKernel {
public:
  LoopWriter(const KernelContext &context, const Promotion &promotion)
      : OfKernel(context), promotion_(promotion), loop_(cfg().loops()[promotion.loop]),
        name_(unused_prefix(module_.text(), prefix_of(promotion.wanted))), fresh_(name_) {}

  std::optional<std::string> run() {
    for (const RepeatedLoad &load : promotion_.loads)
      keep(load);
    test();
    turn_back();
    copy();
    bool falls = count() == 0 || falls_through(module_, kernel_.instructions.back());
    for (const Label &label : kernel_.labels)
      falls = falls || label.position == count();
    edits_.insert(kernel_.body.end - 1, (falls ? "\tret;\n" : "") + added_.lines());
    std::string declarations = fresh_.declarations();
    if (tests())
      declarations += fmt::format("\n\t.reg .pred {};", predicate());
    edits_.insert(kernel_.body.begin + 1, declarations);
    return edits_.apply(module_.text());
  }

private:
  /// Lines by the instruction that they follow, or stand for.
  using Lines = std::map<std::uint32_t, CodeWriter>;

  bool tests() const { return !promotion_.conditions.empty(); }
  std::string predicate() const { return fmt::format("%{}{}", name_, predicate_suffix); }
  std::string place(std::string_view what) const { return fmt::format("${}{}", name_, what); }
  std::string copy_of(BlockId one) const { return place(fmt::format("b{}", one)); }
  bool contains(BlockId one) const { return cfg().contains(promotion_.loop, one); }

  std::vector<RegisterId> destinations(std::uint32_t load) const {
    return written_registers(module_, instruction(load));
  }

  /// A register gets what is, or was, in another one of a type.
  void move(CodeWriter &out, RegisterId of_type, std::string_view to, std::string_view from,
            std::string_view guard = "") const {
    out.write("{}mov.{} {}, {}", guard, copied_as(kernel_.registers[of_type].type), to, from);
  }

  /// What a source has read, in this iteration and in the one before: registers, and the stores to
  /// its place that they get the values of.
  struct Kept {
    std::vector<std::string> names;
    std::set<std::uint32_t> stores;
  };

  /// What a load reads is kept where it runs, in both loops if it is there for another one, and
  /// where the loop writes to its place.
  void keep(const RepeatedLoad &load) {
    const std::vector<RegisterId> from = destinations(load.source),
                                  to = destinations(load.instruction);
    auto &kept = kept_[load.source];
    for (unsigned ago = 0; ago <= load.ago; ++ago) {
      std::vector<std::string> &names = kept[ago].names;
      for (std::size_t i = names.size(); i < from.size(); ++i) {
        names.push_back(fresh_(copied_as(kernel_.registers[from[i]].type)));
        if (ago == 0)
          move((load.is_carried() ? own_kept_ : behind_)[load.source], from[i], names[i],
               kernel_.registers[from[i]].name);
        else
          move(round_begins_, from[i], names[i], kept[0].names[i]);
      }
      for (const std::uint32_t store : load.stored[ago])
        if (kept[ago].stores.insert(store).second)
          move((ago == 0 ? behind_ : behind_copy_)[store], from[0], names[0],
               module_.text(forwarded(context_, load.source, store)->span),
               guard_text(kernel_, instruction(store)));
    }
    for (std::size_t i = 0; i < to.size(); ++i)
      move(instead_[load.instruction], to[i], kernel_.registers[to[i]].name,
           kept[load.ago].names[i]);
  }

  void test() {
    TestWriter writer(kernel_, promotion_.atoms, fresh_);
    if (tests())
      writer.all(promotion_.conditions, predicate());
    edits_.insert(end_of_labels(kernel_, block(loop_.header).first),
                  fmt::format("\n{}{}:", writer.out.lines(), place("again")));
    for (const Lines *lines : {&behind_, &own_kept_})
      for (const auto &[at, more] : *lines)
        edits_.insert(instruction(at).span.end, "\n\t" + more.piece());
  }

  void turn_back() {
    for (const BlockId latch : loop_.latches)
      edits_.replace(operands(block(latch).end - 1)[0].span, place("back"));
    added_.place(place("back"));
    if (tests())
      added_.write("@{} bra {}", predicate(), copy_of(loop_.header));
    added_.write("bra.uni {}", tests() ? place("again") : copy_of(loop_.header));
  }

  /// The name of a place outside of the loop.
  std::string outside(BlockId one) {
    const auto [found, added] = outside_.try_emplace(one, place(fmt::format("out{}", one)));
    if (added)
      edits_.insert(begin_with_pragmas(kernel_, block(one).first), found->second + ":\n\t");
    return found->second;
  }

  void copy() {
    for (const BlockId one : blocks_in(cfg(), promotion_.loop)) {
      const BasicBlock &here = block(one);
      added_.place(copy_of(one));
      if (one == loop_.header)
        added_.append(round_begins_);
      for (std::uint32_t at = here.first; at < here.end; ++at)
        copy(at);
      if (!falls_through(module_, instruction(here.end - 1)))
        continue;
      if (here.end == count())
        added_.write("ret");
      else if (const BlockId next = cfg().block_of(here.end); !contains(next))
        added_.write("bra.uni {}", outside(next));
    }
  }

  void copy(std::uint32_t at) {
    if (const auto found = instead_.find(at); found != instead_.end()) {
      added_.append(found->second);
      return added_.append(own_kept_[at]);
    }
    const Span own = instruction(at).span;
    std::string text(module_.text(own));
    const auto target = branch_target(module_, kernel_, instruction(at));
    if (target && *target < count() && contains(cfg().block_of(*target))) {
      const Span span = operands(at)[0].span;
      text.replace(span.begin - own.begin, span.size(), copy_of(cfg().block_of(*target)));
    }
    added_.add(text);
    for (Lines *lines : {&behind_, &own_kept_, &behind_copy_})
      added_.append((*lines)[at]);
  }

  const Promotion &promotion_;
  const ptxasw::ptx::Loop &loop_;
  const std::string name_;
  NewRegisters fresh_;
  CodeWriter added_;
  Edits edits_;
  Lines behind_;                                      ///< what follows an instruction
  Lines behind_copy_;                                 ///< the same, in the loop without loads alone
  Lines instead_;                                     ///< what stands for a load
  Lines own_kept_;                                    ///< what keeps what a source has read
  std::map<std::uint32_t, std::array<Kept, 2>> kept_; ///< by source
  CodeWriter round_begins_; ///< what the loop without loads begins each iteration with
  std::map<BlockId, std::string> outside_;
};

} // namespace

std::optional<std::string> write_promoted(const KernelContext &context,
                                          const Promotion &promotion) {
  return LoopWriter(context, promotion).run();
}

} // namespace ptxasw::synth::promote
