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
  MeldWriter(const KernelContext &context, const Site &site)
      : OfKernel(context), liveness_(context.liveness()), site_(site),
        branch_(instruction(site.branch)), prefix_(unused_prefix(module_.text(), "meld")),
        fresh_(prefix_) {
    for (const Register &reg : kernel_.registers)
      names_[0].registers.emplace_back(reg.name);
    names_[1] = names_[0];
  }

  std::optional<std::string> run() {
    save_predicate();
    for (const Step &step : site_.steps)
      if (!step.melded)
        apart(step);
      else if (const Unit &unit = site_.arms[0][step.units[0][0]]; unit.is_single())
        meld_single((*step.melded)[0]);
      else
        meld_blocks({&unit, &site_.arms[1][step.units[1][0]]}, *step.melded);
    restore();
    return edited();
  }

private:
  using Pairs = std::map<SourcePair, std::string>; ///< and the registers that hold them

  std::string label() { return fmt::format("${}{}", prefix_, labels_++); }

  void save_predicate() {
    predicate_ = kernel_.registers[branch_.guard].name;
    bool saved = false;
    for (const BlockId one : site_.blocks)
      for (std::uint32_t i = block(one).first; i < block(one).end; ++i)
        for (const RegisterId reg : written_registers(module_, instruction(i)))
          saved = saved || reg == branch_.guard;
    if (!saved)
      return;
    const std::string copy = fresh_("pred");
    out_.write("mov.pred {}, {}", copy, predicate_);
    predicate_ = copy;
  }

  /// What stands before an instruction that only the lanes of one arm do.
  std::string lanes_of(std::size_t arm) const {
    return fmt::format("@{}{} ", arm == 0 ? "" : "!", predicate_);
  }

  /// `to` becomes what the lanes of either arm have.
  void choose(const std::string &to, const std::string &type,
              const std::array<std::string, 2> &from) {
    if (from[0] == from[1])
      return out_.write("mov.{} {}, {}", type, to, from[0]);
    if (type != "pred")
      return out_.write("selp.{} {}, {}, {}, {}", type, to, from[0], from[1], predicate_);
    for (const std::size_t arm : {0, 1})
      if (to != from[arm])
        out_.write("{}mov.pred {}, {}", lanes_of(arm), to, from[arm]);
  }

  // --- Units apart ---

  /// `for_both`: the instruction will be that of the other arm, too, and what a load's bytes are
  /// used for is for one arm alone.
  void pragmas_before(std::uint32_t i, bool for_both = false) {
    for (const Pragma &pragma : kernel_.pragmas)
      if (pragma.position == i && (!for_both || pragma.text == "nounroll"))
        out_.pragma(pragma.text);
  }

  /// The blocks of a unit one behind the other: `put` for what each computes, `guard` for what a
  /// branch goes by.
  template <typename Put, typename Guard>
  void blocks(const Unit &unit, const Put &put, const Guard &guard) {
    std::vector<std::string> labels;
    for (std::size_t i = 0; i <= unit.blocks.size(); ++i)
      labels.push_back(label());
    const auto number_of = [&](BlockId one) {
      return static_cast<std::size_t>(std::find(unit.blocks.begin(), unit.blocks.end(), one) -
                                      unit.blocks.begin());
    };
    for (std::size_t i = 0; i < unit.blocks.size(); ++i) {
      const BasicBlock &here = block(unit.blocks[i]);
      out_.place(labels[i]);
      for (const std::uint32_t one : computing(context_, unit, unit.blocks[i]))
        put(one);
      if (here.branch != no_index)
        out_.write("{}bra {}", guard_text(instruction(here.branch), guard(here.branch)),
                   labels[number_of(here.successors[0])]);
      if (const std::size_t next = number_of(here.successors.back()); next != i + 1)
        out_.write("bra.uni {}", labels[next]);
    }
    out_.place(labels.back());
  }

  void put(const Unit &unit, const Renaming &names) {
    const auto put_one = [&](std::uint32_t i) {
      pragmas_before(i);
      out_.clone(module_, instruction(i), names);
    };
    if (unit.is_single())
      put_one(unit.first);
    else
      blocks(unit, put_one,
             [&](std::uint32_t branch) { return names.registers[instruction(branch).guard]; });
  }

  void apart(const Step &step) {
    chosen_.clear(); // what it writes may be among what was chosen from
    bool predicated = step.units[0].size() + step.units[1].size() <= most_predicated;
    for (const std::size_t arm : {0, 1})
      for (const std::size_t i : step.units[arm])
        if (const Unit &unit = site_.arms[arm][i];
            !unit.is_single() || instruction(unit.first).guard != no_register)
          predicated = false;
    const bool both = !step.units[0].empty() && !step.units[1].empty();
    const std::string end = predicated ? "" : label(), other = !predicated && both ? label() : end;
    if (!predicated)
      out_.write("{}bra {}", lanes_of(step.units[0].empty() ? 0 : 1), other);
    for (const std::size_t arm : {0, 1}) {
      if (arm == 1 && both && !predicated) {
        out_.write("bra.uni {}", end);
        out_.place(other);
      }
      for (const std::size_t i : step.units[arm])
        if (const Unit &unit = site_.arms[arm][i]; predicated)
          out_.add(lanes_of(arm) + renamed(module_, instruction(unit.first), names_[arm]));
        else
          put(unit, names_[arm]);
    }
    if (!predicated)
      out_.place(end);
  }

  // --- Units that become one ---

  std::array<std::string, 2> names_of(const SourcePair &pair) const {
    std::array<std::string, 2> names;
    for (const std::size_t arm : {0, 1})
      names[arm] = pair.of[arm].reg == no_register ? pair.of[arm].text
                                                   : names_[arm].registers[pair.of[arm].reg];
    return names;
  }

  /// What holds a pair that nothing in the unit writes: a register that has it anyway, or a new
  /// one.
  std::string constant(const SourcePair &pair) {
    const auto names = names_of(pair);
    if (names[0] == names[1])
      return names[0];
    const auto [known, added] = chosen_.try_emplace({pair.type, names[0], names[1]});
    if (added)
      choose(known->second = fresh_(pair.type), pair.type, names);
    return known->second;
  }

  void meld_single(const InstructionPair &pair) {
    std::vector<std::pair<Span, std::string>> places;
    const std::string guard =
        pair.guard ? guard_text(instruction(pair.when), constant(*pair.guard)) : "";
    for (const Leaf &leaf : pair.leaves)
      if (leaf.offsets)
        places.emplace_back(leaf.span, fmt::format("[{}]", sum(leaf)));
    for (const Leaf &leaf : pair.leaves)
      if (!leaf.is_written && !leaf.offsets)
        places.emplace_back(leaf.span, constant(leaf.pair));
    std::vector<std::pair<const SourcePair *, std::string>> written;
    for (const Leaf &leaf : pair.leaves) {
      if (!leaf.is_written)
        continue;
      const std::string name = fresh_(leaf.pair.type);
      if (pair.guard)
        choose(name, leaf.pair.type, names_of(leaf.pair));
      places.emplace_back(leaf.span, name);
      written.emplace_back(&leaf.pair, name);
    }
    out_.add(guard + filled(module_, instruction(pair.when), places));
    for (const auto &[to, name] : written)
      for (const std::size_t arm : {0, 1})
        names_[arm].registers[to->of[arm].reg] = name;
  }

  std::string sum(const Leaf &leaf) {
    const auto &[when, otherwise] = *leaf.offsets;
    const std::string base = constant(leaf.pair), by = fresh_("b64");
    std::string result = fresh_("b64");
    out_.write("selp.b64 {}, {}, {}, {}", by, when, otherwise, predicate_);
    out_.write("add.s64 {}, {}, {}", result, base, by);
    return result;
  }

  void meld_blocks(const std::array<const Unit *, 2> &units, const UnitPair &pairs) {
    std::array<std::set<RegisterId>, 2> written; // in the unit, by either arm
    std::map<std::uint32_t, const InstructionPair *> by_instruction;
    for (const InstructionPair &pair : pairs) {
      by_instruction.emplace(pair.when, &pair);
      for (const Leaf &leaf : pair.leaves)
        for (const std::size_t arm : {0, 1})
          if (leaf.is_written)
            written[arm].insert(leaf.pair.of[arm].reg);
    }
    const auto is_written = [&](const SourcePair &pair) {
      return written[0].contains(pair.of[0].reg) || written[1].contains(pair.of[1].reg);
    };
    Pairs held;
    std::set<SourcePair> followed; // pairs that must be up to date after every write
    const auto need = [&](const SourcePair &pair) {
      if (is_written(pair))
        followed.insert(pair);
      if (!held.contains(pair))
        held.emplace(pair, is_written(pair) ? fresh_(pair.type) : constant(pair));
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
        if (!held.contains(leaf.pair))
          held.emplace(leaf.pair, fresh_(leaf.pair.type));
    // For each register that an arm writes in the unit and reads after it, a pair stands for it
    // from then on, and is followed for that.
    std::array<std::map<RegisterId, std::string>, 2> last;
    for (const std::size_t arm : {0, 1})
      for (const RegisterId reg : written[arm])
        for (const bool already : {true, false})
          for (const auto &[pair, name] : held)
            if (pair.of[arm].reg == reg && followed.contains(pair) == already &&
                liveness_.live_in(units[arm]->after, reg) && last[arm].emplace(reg, name).second)
              followed.insert(pair);
    enter(units, held,
          [&](const SourcePair &pair) { return followed.contains(pair) && is_written(pair); });
    blocks(
        *units[0], [&](std::uint32_t i) { put_pair(*by_instruction.at(i), held, followed); },
        [&](std::uint32_t branch) { return held.at(*by_instruction.at(branch)->guard); });
    for (const std::size_t arm : {0, 1})
      for (const auto &[reg, name] : last[arm])
        names_[arm].registers[reg] = name;
    chosen_.clear();
  }

  /// Gives pairs that are written somewhere in the unit what they have before it.
  template <typename IsWritten>
  void enter(const std::array<const Unit *, 2> &units, const Pairs &held,
             const IsWritten &is_written) {
    std::array<std::vector<RegisterId>, 2> live;
    for (const std::size_t arm : {0, 1})
      live[arm] = live_before(module_, kernel_, cfg(), liveness_, units[arm]->first);
    for (const auto &[pair, name] : held) {
      if (!is_written(pair))
        continue;
      std::array<std::string, 2> from = names_of(pair);
      std::array<bool, 2> is_live{};
      for (const std::size_t arm : {0, 1})
        is_live[arm] = pair.of[arm].reg == no_register ||
                       std::binary_search(live[arm].begin(), live[arm].end(), pair.of[arm].reg);
      if (is_live[0] != is_live[1])
        from[is_live[0] ? 1 : 0] = from[is_live[0] ? 0 : 1];
      if (is_live[0] || is_live[1])
        choose(name, pair.type, from);
    }
  }

  void put_pair(const InstructionPair &pair, const Pairs &held,
                const std::set<SourcePair> &followed) {
    std::vector<std::pair<Span, std::string>> places;
    for (const Leaf &leaf : pair.leaves)
      places.emplace_back(leaf.span, held.at(leaf.pair));
    pragmas_before(pair.when, true);
    out_.add((pair.guard ? guard_text(instruction(pair.when), held.at(*pair.guard)) : "") +
             filled(module_, instruction(pair.when), places));
    for (const Leaf &leaf : pair.leaves)
      for (const SourcePair &one : followed)
        for (const std::size_t arm : {0, 1})
          if (leaf.is_written && one != leaf.pair && one.of[arm].reg == leaf.pair.of[arm].reg)
            out_.write("{}mov.{} {}, {}", lanes_of(arm), one.type, held.at(one),
                       held.at(leaf.pair));
  }

  // --- The text ---

  void restore() {
    for (RegisterId reg = 0; reg < kernel_.registers.size(); ++reg) {
      const std::string own(kernel_.registers[reg].name);
      const auto &when = names_[0].registers[reg], &otherwise = names_[1].registers[reg];
      if ((when != own || otherwise != own) && liveness_.live_in(site_.join, reg))
        choose(own, copied_as(kernel_.registers[reg].type), {when, otherwise});
    }
  }

  /// Takes both arms out of the text, with their labels and pragmas, and puts what they became in
  /// the place of the branch.
  std::optional<std::string> edited() {
    Edits edits;
    edits.insert(kernel_.body.begin + 1, fresh_.declarations());
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
    std::uint32_t next = site_.branch + 1;
    while (gone[next])
      ++next;
    if (const std::uint32_t join = block(site_.join).first; next != join) {
      const std::string end = label();
      out_.write("bra.uni {}", end);
      edits.insert(kernel_.instructions[join].span.begin, end + ":\n\t");
    }
    edits.replace(branch_.span, out_.piece());
    return edits.apply(module_.text());
  }

  const Liveness &liveness_;
  const Site &site_;
  const Instruction &branch_;
  const std::string prefix_;
  NewRegisters fresh_;
  std::string predicate_;
  CodeWriter out_;
  unsigned labels_ = 0;
  /// What has been chosen already: by type and both names. Units that become one write new
  /// registers only.
  std::map<std::array<std::string, 3>, std::string> chosen_;
  std::array<Renaming, 2> names_; ///< by arm and register, what stands for it in the arm's lanes
};

} // namespace

std::optional<std::string> write_melded(const KernelContext &context, const Site &site) {
  return MeldWriter(context, site).run();
}

} // namespace ptxasw::synth::meld
