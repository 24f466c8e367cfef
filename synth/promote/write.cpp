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
  LoopWriter(const KernelContext &context, const Promotion &promotion, Atoms &atoms)
      : OfKernel(context), promotion_(promotion), atoms_(atoms),
        name_(unused_prefix(module_.text(), prefix_of(promotion.wanted))), fresh_(name_),
        blocks_(blocks_in(cfg(), promotion.loop)), header_(cfg().loops()[promotion.loop].header) {}

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
    edits_.insert(kernel_.body.begin + 1, declarations);
    return edits_.apply(module_.text());
  }

private:
  bool tests() const { return !promotion_.conditions.empty(); }
  std::string predicate() const { return fmt::format("%{}{}", name_, predicate_suffix); }
  std::string place(std::string_view what) const { return fmt::format("${}{}", name_, what); }
  std::string copy_of(BlockId one) const { return place(fmt::format("b{}", one)); }
  bool contains(BlockId one) const { return cfg().contains(promotion_.loop, one); }
  std::string_view own(RegisterId reg) const { return kernel_.registers[reg].name; }
  std::string type_of(RegisterId reg) const { return copied_as(kernel_.registers[reg].type); }

  std::vector<RegisterId> destinations(std::uint32_t load) const {
    return written_registers(module_, instruction(load));
  }

  /// A register gets what a store has written to the place that a load has read.
  std::string forward(std::uint32_t load, std::uint32_t store, const std::string &kept) const {
    return fmt::format("\n\t{}mov.{} {}, {};", guard_text(kernel_, instruction(store)),
                       type_of(destinations(load)[0]), kept,
                       module_.text(forwarded(context_, load, store)->span));
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
      text += TestWriter(kernel_, atoms_, fresh_).all(promotion_.conditions, predicate());
    edits_.insert(end_of_labels(kernel_, block(header_).first),
                  fmt::format("{}{}:", text, place("again")));
    std::map<std::uint32_t, std::string> behind = behind_;
    for (const auto &[source, moves] : own_kept_)
      behind[source] += moves;
    for (const auto &[at, text_behind] : behind)
      edits_.insert(instruction(at).span.end, text_behind);
  }

  void turn_back() {
    for (const BlockId latch : cfg().loops()[promotion_.loop].latches)
      edits_.replace(operands(block(latch).end - 1)[0].span, place("back"));
    added_ = place("back") + ":\n";
    added_ += tests() ? fmt::format("\t@{} bra {};\n\tbra.uni {};\n", predicate(), copy_of(header_),
                                    place("again"))
                      : fmt::format("\tbra.uni {};\n", copy_of(header_));
  }

  /// The name of a place outside of the loop.
  std::string outside(BlockId one) {
    const auto [found, added] = outside_.try_emplace(one, place(fmt::format("out{}", one)));
    if (added)
      edits_.insert(begin_with_pragmas(kernel_, block(one).first), found->second + ":\n\t");
    return found->second;
  }

  void copy() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const BasicBlock &here = block(blocks_[i]);
      added_ += copy_of(blocks_[i]) + ":\n";
      if (blocks_[i] == header_)
        added_ += round_begins_;
      for (std::uint32_t at = here.first; at < here.end; ++at)
        copy(at);
      if (!falls_through(module_, instruction(here.end - 1)))
        continue;
      const bool ends = here.end == count();
      const BlockId next = ends ? 0 : cfg().block_of(here.end);
      if (ends)
        added_ += "\tret;\n";
      else if (!contains(next))
        added_ += fmt::format("\tbra.uni {};\n", outside(next));
      else if (i + 1 == blocks_.size() || blocks_[i + 1] != next)
        added_ += fmt::format("\tbra.uni {};\n", copy_of(next));
    }
  }

  void copy(std::uint32_t at) {
    const auto behind = [&](const std::map<std::uint32_t, std::string> &texts) {
      const auto found = texts.find(at);
      return found == texts.end() ? std::string() : found->second;
    };
    if (const auto found = instead_.find(at); found != instead_.end()) {
      const std::string kept = behind(own_kept_);
      added_ += found->second + (kept.empty() ? "" : kept.substr(1) + "\n");
      return;
    }
    const Span own = instruction(at).span;
    std::string text(module_.text(own));
    const auto target = branch_target(module_, kernel_, instruction(at));
    if (target && *target < count() && contains(cfg().block_of(*target))) {
      const Span span = operands(at)[0].span;
      text.replace(span.begin - own.begin, span.size(), copy_of(cfg().block_of(*target)));
    }
    added_ +=
        fmt::format("\t{}{}{}{}\n", text, behind(behind_), behind(own_kept_), behind(behind_copy_));
  }

  void close() {
    bool falls = count() == 0 || falls_through(module_, kernel_.instructions.back());
    for (const Label &label : kernel_.labels)
      falls = falls || label.position == count();
    edits_.insert(kernel_.body.end - 1, (falls ? "\tret;\n" : "") + added_);
  }

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

std::optional<std::string> write_promoted(const KernelContext &context, const Promotion &promotion,
                                          Atoms &atoms) {
  return LoopWriter(context, promotion, atoms).run();
}

} // namespace ptxasw::synth::promote
