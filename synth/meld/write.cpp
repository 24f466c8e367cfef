// In place of a branch and its two arms:
//
//	mov.pred %meld0_pred_0, %p1;             the predicate, if the arms overwrite it
//	@%p1 ld.global.u32 %r7, [%rd4];          few instructions that one side alone has: under the
//	@!%p1 shl.b32 %r9, %r2, 1;               predicate, either way
//	selp.b32 %meld0_b32_0, %r7, %r9, %p1;    where operands differ
//	add.s32 %meld0_b32_1, %meld0_b32_0, 3;   what both sides do, once, into a new register
//	@%p1 bra $meld0_1;                       more than few: apart, as they were
//	...
//	selp.b32 %r5, %meld0_b32_1, %r5, %p1;    registers that are read later
//
// A register of the kernel is kept up to date in the lanes that run its arm, by itself or by a new
// one that stands for it there: a new register belongs to one register of each arm. A unit with
// branches keeps such pairs for all places in which its registers meet, and where it writes one of
// several that belong to a register, the others follow under the predicate.

#include "synth/meld/sites.h"

#include "grammar/code_writer.h"
#include "grammar/edits.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <map>
#include <set>

namespace ptxasw::synth::meld {
namespace {

/// Instructions that are put under the predicate instead of behind a branch.
constexpr std::size_t most_predicated = 6;

/// An instruction with its places filled anew; guards are written by the caller.
std::string filled(const Module &module, const Instruction &instruction,
                   const std::vector<std::pair<Span, std::string>> &places) {
  Edits edits;
  const std::uint32_t origin = instruction.opcode_span.begin;
  for (const auto &[span, name] : places)
    edits.replace({span.begin - origin, span.end - origin}, name);
  return edits.apply(module.text({origin, instruction.span.end})).value_or("");
}

std::string guarded_by(const Instruction &instruction, const std::string &name) {
  return fmt::format("@{}{} ", instruction.guard_negated ? "!" : "", name);
}

/// The line that a span is on if it is alone there; otherwise the span.
Span whole_line(std::string_view text, Span span) {
  std::uint32_t begin = span.begin, end = span.end;
  while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t'))
    --begin;
  while (end < text.size() && (text[end] == ' ' || text[end] == '\t'))
    ++end;
  const bool alone = begin > 0 && text[begin - 1] == '\n' && end < text.size() && text[end] == '\n';
  return alone ? Span{begin, end + 1} : span;
}

class MeldWriter : OfKernel {
public:
  MeldWriter(const KernelContext &context, const Site &site, const Alignment &alignment)
      : OfKernel(context), liveness_(context.liveness()), site_(site), alignment_(alignment),
        branch_(instruction(site.branch)), prefix_(unused_prefix(module_.text(), "meld")),
        fresh_(prefix_) {
    for (const Register &reg : kernel_.registers)
      for (auto *arm : {&when_, &otherwise_})
        arm->registers.emplace_back(reg.name);
  }

  std::optional<std::string> run() {
    save_predicate();
    for (const Step &step : alignment_.steps) {
      if (step.melded)
        meld(step);
      else
        apart(step);
    }
    restore();
    return edited();
  }

private:
  using Names = Renaming;

  std::string label() { return fmt::format("${}{}", prefix_, labels_++); }
  void line(std::string_view text) { text_ += fmt::format("\t{}\n", text); }
  void place(const std::string &name) { text_ += name + ":\n"; }

  void save_predicate() {
    predicate_ = kernel_.registers[branch_.guard].name;
    bool saved = false;
    for (const BlockId block : site_.blocks)
      for (std::uint32_t i = cfg().blocks()[block].first; i < cfg().blocks()[block].end; ++i)
        for (const RegisterId reg : written_registers(module_, instruction(i)))
          saved = saved || reg == branch_.guard;
    if (!saved)
      return;
    const std::string copy = fresh_("pred");
    line(fmt::format("mov.pred {}, {};", copy, predicate_));
    predicate_ = copy;
  }

  /// `to` becomes what the lanes of either arm have.
  void choose(const std::string &to, const std::string &type, const std::string &when,
              const std::string &otherwise) {
    if (when == otherwise) {
      line(fmt::format("mov.{} {}, {};", type, to, when));
    } else if (type == "pred") {
      if (to != when)
        line(fmt::format("@{} mov.pred {}, {};", predicate_, to, when));
      if (to != otherwise)
        line(fmt::format("@!{} mov.pred {}, {};", predicate_, to, otherwise));
    } else {
      line(fmt::format("selp.{} {}, {}, {}, {};", type, to, when, otherwise, predicate_));
    }
  }

  // --- Units apart ---

  void put(std::uint32_t i, const Names &names) {
    pragmas_before(i);
    line(renamed(module_, instruction(i), names));
  }

  /// `for_both`: the instruction will be that of the other arm, too, and what a load's bytes are
  /// used for is for one arm alone.
  void pragmas_before(std::uint32_t i, bool for_both = false) {
    for (const Pragma &pragma : kernel_.pragmas)
      if (pragma.position == i && (!for_both || pragma.text == "nounroll"))
        line(fmt::format(".pragma \"{}\";", pragma.text));
  }

  /// The parts of a unit one behind the other, `body` for what each does.
  template <typename Body, typename Guard>
  void parts(const Unit &unit, const Body &body, const Guard &guard) {
    std::vector<std::string> labels;
    for (std::size_t i = 0; i <= unit.parts.size(); ++i)
      labels.push_back(label());
    const auto to = [&](std::uint32_t part) {
      return labels[part == leaves_unit ? unit.parts.size() : part];
    };
    for (std::size_t i = 0; i < unit.parts.size(); ++i) {
      const Part &part = unit.parts[i];
      place(labels[i]);
      body(part);
      if (part.branch != no_index)
        line(guard(part.branch) + fmt::format("bra {};", to(part.taken)));
      const std::size_t next = part.next == leaves_unit ? unit.parts.size() : part.next;
      if (next != i + 1)
        line(fmt::format("bra.uni {};", labels[next]));
    }
    place(labels.back());
  }

  void put(const Unit &unit, const Names &names) {
    if (unit.is_single()) {
      put(unit.single(), names);
      return;
    }
    parts(
        unit,
        [&](const Part &part) {
          for (const std::uint32_t i : part.instructions)
            put(i, names);
        },
        [&](std::uint32_t branch) {
          return guarded_by(instruction(branch), names.registers[instruction(branch).guard]);
        });
  }

  void apart(const Step &step) {
    chosen_.clear(); // what it writes may be among what was chosen from
    const auto for_each_unit = [&](const auto &visit) {
      for (const std::size_t i : step.when)
        visit(site_.when[i], when_, "");
      for (const std::size_t i : step.otherwise)
        visit(site_.otherwise[i], otherwise_, "!");
    };
    bool predicated = step.when.size() + step.otherwise.size() <= most_predicated;
    for_each_unit([&](const Unit &unit, const Names &, const char *) {
      predicated =
          predicated && unit.is_single() && instruction(unit.single()).guard == no_register;
    });
    if (predicated)
      return for_each_unit([&](const Unit &unit, const Names &names, const char *negated) {
        line(fmt::format("@{}{} {}", negated, predicate_,
                         renamed(module_, instruction(unit.single()), names)));
      });
    const bool first = !step.when.empty(), second = !step.otherwise.empty();
    const std::string end = label(), other = first && second ? label() : end;
    line(fmt::format("@{}{} bra {};", first ? "!" : "", predicate_, other));
    for (const std::size_t i : step.when)
      put(site_.when[i], when_);
    if (first && second) {
      line(fmt::format("bra.uni {};", end));
      place(other);
    }
    for (const std::size_t i : step.otherwise)
      put(site_.otherwise[i], otherwise_);
    place(end);
  }

  // --- Units that become one ---

  std::string name_of(const Source &source, const Names &names) const {
    return source.reg == no_register ? source.text : names.registers[source.reg];
  }

  /// What holds a pair that nothing in the unit writes: a register that has it anyway, or a new
  /// one.
  std::string constant(const SourcePair &pair) {
    std::string when = name_of(pair.when, when_);
    const std::string otherwise = name_of(pair.otherwise, otherwise_);
    if (when == otherwise)
      return when;
    const auto [known, added] = chosen_.try_emplace({pair.type, when, otherwise});
    if (added) {
      known->second = fresh_(pair.type);
      choose(known->second, pair.type, when, otherwise);
    }
    return known->second;
  }

  void meld(const Step &step) {
    const Unit &unit = site_.when[step.when[0]], &other = site_.otherwise[step.otherwise[0]];
    if (unit.is_single())
      return meld_single((*step.melded)[0]);
    meld_parts(unit, other, *step.melded);
    chosen_.clear();
  }

  void meld_single(const InstructionPair &pair) {
    std::vector<std::pair<Span, std::string>> places;
    std::string guard;
    if (pair.guard)
      guard = guarded_by(instruction(pair.when), constant(*pair.guard));
    for (const OffsetPair &offset : pair.offsets)
      places.emplace_back(offset.span, fmt::format("[{}]", sum(offset)));
    for (const Leaf &leaf : pair.leaves)
      if (!leaf.is_written)
        places.emplace_back(leaf.span, constant(leaf.pair));
    std::vector<std::pair<const SourcePair *, std::string>> written;
    for (const Leaf &leaf : pair.leaves) {
      if (!leaf.is_written)
        continue;
      const std::string name = fresh_(leaf.pair.type);
      if (pair.guard)
        choose(name, leaf.pair.type, when_.registers[leaf.pair.when.reg],
               otherwise_.registers[leaf.pair.otherwise.reg]);
      places.emplace_back(leaf.span, name);
      written.emplace_back(&leaf.pair, name);
    }
    line(guard + filled(module_, instruction(pair.when), places));
    for (const auto &[to, name] : written) {
      when_.registers[to->when.reg] = name;
      otherwise_.registers[to->otherwise.reg] = name;
    }
  }

  std::string sum(const OffsetPair &offset) {
    const std::string base = constant(offset.base), by = fresh_("b64");
    std::string result = fresh_("b64");
    line(fmt::format("selp.b64 {}, {}, {}, {};", by, offset.when, offset.otherwise, predicate_));
    line(fmt::format("add.s64 {}, {}, {};", result, base, by));
    return result;
  }

  /// The pairs of a unit with branches and the registers that hold them.
  struct Held {
    std::map<SourcePair, std::string> names;
    std::set<SourcePair> followed;        ///< pairs that must be up to date after every write
    std::set<RegisterId> when, otherwise; ///< that the unit writes, in either arm

    bool is_written(const SourcePair &pair) const {
      return when.contains(pair.when.reg) || otherwise.contains(pair.otherwise.reg);
    }
  };

  void meld_parts(const Unit &unit, const Unit &other, const UnitPair &pairs) {
    Held held;
    std::map<std::uint32_t, const InstructionPair *> by_instruction;
    for (const InstructionPair &pair : pairs) {
      by_instruction.emplace(pair.when, &pair);
      for (const Leaf &leaf : pair.leaves)
        if (leaf.is_written) {
          held.when.insert(leaf.pair.when.reg);
          held.otherwise.insert(leaf.pair.otherwise.reg);
        }
    }
    const auto need = [&](const SourcePair &pair) {
      const bool written = held.is_written(pair);
      if (written)
        held.followed.insert(pair);
      if (!held.names.contains(pair))
        held.names.emplace(pair, written ? fresh_(pair.type) : constant(pair));
    };
    for (const InstructionPair &pair : pairs) {
      if (pair.guard)
        need(*pair.guard);
      for (const Leaf &leaf : pair.leaves)
        if (!leaf.is_written || pair.guard)
          need(leaf.pair);
    }
    for (const InstructionPair &pair : pairs)
      for (const Leaf &leaf : pair.leaves)
        if (leaf.is_written && !held.names.contains(leaf.pair))
          held.names.emplace(leaf.pair, fresh_(leaf.pair.type));
    const auto last_when = standing_for(unit, held.when, held, &SourcePair::when);
    const auto last_otherwise = standing_for(other, held.otherwise, held, &SourcePair::otherwise);
    enter(unit, other, held);
    parts(
        unit,
        [&](const Part &part) {
          for (const std::uint32_t i : part.instructions)
            put_pair(*by_instruction.at(i), held);
        },
        [&](std::uint32_t branch) {
          return guarded_by(instruction(branch), held.names.at(*by_instruction.at(branch)->guard));
        });
    for (const auto &[reg, name] : last_when)
      when_.registers[reg] = name;
    for (const auto &[reg, name] : last_otherwise)
      otherwise_.registers[reg] = name;
  }

  /// For each register that an arm writes in the unit and reads after it, a pair that stands for it
  /// from then on, and is followed for that.
  std::map<RegisterId, std::string> standing_for(const Unit &unit,
                                                 const std::set<RegisterId> &written, Held &held,
                                                 Source SourcePair::*side) const {
    std::map<RegisterId, std::string> result;
    for (const RegisterId reg : written) {
      if (!liveness_.live_in(unit.after, reg))
        continue;
      for (const bool followed : {true, false})
        for (const auto &[pair, name] : held.names)
          if ((pair.*side).reg == reg && held.followed.contains(pair) == followed &&
              !result.contains(reg)) {
            result.emplace(reg, name);
            held.followed.insert(pair);
          }
    }
    return result;
  }

  /// Gives pairs that are written somewhere in the unit what they have before it.
  void enter(const Unit &unit, const Unit &other, const Held &held) {
    const auto has = [&](const Unit &of) {
      return [live = live_before(module_, kernel_, cfg(), liveness_, of.first())](
                 const Source &source) {
        return source.reg == no_register ||
               std::binary_search(live.begin(), live.end(), source.reg);
      };
    };
    const auto is_live = has(unit), is_live_otherwise = has(other);
    for (const auto &[pair, name] : held.names) {
      if (!held.followed.contains(pair) || !held.is_written(pair))
        continue;
      const bool first = is_live(pair.when), second = is_live_otherwise(pair.otherwise);
      const std::string when = name_of(pair.when, when_);
      const std::string otherwise = name_of(pair.otherwise, otherwise_);
      if (first && second)
        choose(name, pair.type, when, otherwise);
      else if (first || second)
        choose(name, pair.type, first ? when : otherwise, first ? when : otherwise);
    }
  }

  void put_pair(const InstructionPair &pair, const Held &held) {
    std::vector<std::pair<Span, std::string>> places;
    for (const Leaf &leaf : pair.leaves)
      places.emplace_back(leaf.span, held.names.at(leaf.pair));
    pragmas_before(pair.when, true);
    line((pair.guard ? guarded_by(instruction(pair.when), held.names.at(*pair.guard)) : "") +
         filled(module_, instruction(pair.when), places));
    for (const Leaf &leaf : pair.leaves) {
      if (!leaf.is_written)
        continue;
      const std::string &from = held.names.at(leaf.pair);
      for (const SourcePair &one : held.followed) {
        if (one == leaf.pair)
          continue;
        const std::string &to = held.names.at(one);
        if (one.when.reg == leaf.pair.when.reg && one.when.reg != no_register)
          line(fmt::format("@{} mov.{} {}, {};", predicate_, one.type, to, from));
        if (one.otherwise.reg == leaf.pair.otherwise.reg && one.otherwise.reg != no_register)
          line(fmt::format("@!{} mov.{} {}, {};", predicate_, one.type, to, from));
      }
    }
  }

  // --- The text ---

  void restore() {
    for (RegisterId reg = 0; reg < kernel_.registers.size(); ++reg) {
      const std::string own(kernel_.registers[reg].name);
      if ((when_.registers[reg] == own && otherwise_.registers[reg] == own) ||
          !liveness_.live_in(site_.join, reg))
        continue;
      choose(own, copied_as(kernel_.registers[reg].type), when_.registers[reg],
             otherwise_.registers[reg]);
    }
  }

  /// Takes both arms out of the text, with their labels and pragmas; by instruction, and one past
  /// the last, which are gone.
  std::vector<bool> take_out(Edits &edits) const {
    std::vector<bool> gone(count() + 1, false);
    const auto take = [&](Span span) { edits.replace(whole_line(module_.text(), span), ""); };
    for (const BlockId one : site_.blocks)
      for (std::uint32_t i = block(one).first; i < block(one).end; ++i) {
        gone[i] = true;
        take(instruction(i).span);
      }
    for (const Label &label : kernel_.labels)
      if (gone[label.position])
        take(label.span);
    for (const Pragma &pragma : kernel_.pragmas)
      if (gone[pragma.position])
        take(pragma.span);
    return gone;
  }

  std::optional<std::string> edited() {
    Edits edits;
    edits.insert(kernel_.body.begin + 1, fresh_.declarations());
    const std::vector<bool> gone = take_out(edits);
    std::uint32_t next = site_.branch + 1;
    while (gone[next])
      ++next;
    const std::uint32_t join = cfg().blocks()[site_.join].first;
    if (next != join) {
      const std::string end = label();
      line(fmt::format("bra.uni {};", end));
      edits.insert(kernel_.instructions[join].span.begin, end + ":\n\t");
    }
    if (text_.starts_with('\t'))
      text_.erase(0, 1);
    if (text_.ends_with('\n'))
      text_.pop_back();
    edits.replace(branch_.span, text_);
    return edits.apply(module_.text());
  }

  const Liveness &liveness_;
  const Site &site_;
  const Alignment &alignment_;
  const Instruction &branch_;
  const std::string prefix_;
  NewRegisters fresh_;
  std::string predicate_, text_;
  unsigned labels_ = 0;
  /// What has been chosen already: by type and both names. Units that become one write new
  /// registers only.
  std::map<std::array<std::string, 3>, std::string> chosen_;
  Names when_, otherwise_; ///< by register, what stands for it in the lanes of either arm
};

} // namespace

std::optional<std::string> write_melded(const KernelContext &context, const Site &site,
                                        const Alignment &alignment) {
  return MeldWriter(context, site, alignment).run();
}

} // namespace ptxasw::synth::meld
