// The proof after emission, from the text alone.
//
// Let the rewritten module run beside the original. Their instructions line up (match.cpp): all
// originals except the replaced loads are there in their order, and what was added writes only
// registers the original does not have, or the destination of a replaced load in whose place it
// stands. So as long as every replaced load's destination gets the value the load would have given,
// all other registers hold what they held in the original. The loads are therefore brought back,
// each beside the values that stand in its place (restore.cpp), and one emulation of that text says
// what the original and what the added code computes.
//
// In place of a replaced load D there then stands an expression of ite's. Each leaf must be what a
// load S has given, maybe D's own address read again under a condition; or, with what shuffles give
// taken for what other lanes put in, S's value there. And that under conditions that imply what
// soundness.md asks: a full warp (rule 9), the lane in the row (8), S's address N lanes up equal to
// D's (2, 3), S executed there (1), nothing in between (5). Conditions are compared literal by
// literal (known.cpp). What is not understood is not proved.
//
//   restore.h    the text that is read
//   one_text.h   one emulation of it
//   in_step.cpp  if lanes that are active together are in the same iteration
//   lemmas.cpp   if a load may have what others have read: soundness.md, rule by rule

#include "synth/proof/prove.h"

#include "emulator/symbolic/generic.h"
#include "grammar/liveness.h"
#include "grammar/roles.h"
#include "synth/proof/candidate.h"
#include "synth/proof/lemmas.h"
#include "synth/proof/one_text.h"
#include "synth/proof/restore.h"
#include "synth/prove/header.h"

#include <algorithm>
#include <chrono>

namespace ptxasw::synth {
namespace {

/// Conditions split on in one replaced load.
constexpr int case_budget = 64;

/// The modifiers of a load but for its number of elements.
std::vector<std::string_view> kind_of_load(const Opcode &opcode) {
  std::vector<std::string_view> result = opcode.modifiers;
  std::erase_if(result, [](std::string_view m) { return m == "v2" || m == "v4" || m == "v8"; });
  return result;
}

/// The proof of one function from its one text.
class Proof {
public:
  Proof(OneText &text, const std::vector<std::uint32_t> &replaced)
      : text_(text), emulation_(text.emulation), replaced_(replaced), lemmas_(text) {}

  /// Throws NotProved if it is not what surrounds the loads that is right.
  FunctionProof run() {
    check_registers();
    check_moves();
    for (const AddedInstruction &load : text_.parts.added_loads)
      check_added(load);
    find_sources();
    find_shuffles();
    FunctionProof result;
    for (const std::uint32_t load : replaced_) {
      const auto &loads = text_.parts.loads;
      const auto there = std::find_if(loads.begin(), loads.end(),
                                      [&](const RestoredLoad &one) { return one.load == load; });
      const auto shown = proof::proved([&] {
        demand(there != loads.end(), Obligation::destination, "the destination is not written");
        check_load(*there);
      });
      if (!shown)
        result.unproved.push_back({load, shown.error()});
    }
    return result;
  }

private:
  /// What a shuffle gives: an expression in another lane.
  struct Shuffled {
    Expr source = nullptr;
    Expr members = nullptr; ///< its mask
    int delta = 0;          ///< lanes up
    BlockId block = 0;
  };

  // Added registers are written before they are read.
  void check_registers() {
    const Liveness liveness(text_.module, text_.function, text_.cfg());
    for (const RegisterId reg : text_.parts.added)
      demand(!liveness.live_in(0, reg), Obligation::runs_before,
             "an added register may be read before it is written");
  }

  void check_moves() {
    const auto &own = text_.parts.original;
    for (std::uint32_t i = 0; i < own.size(); ++i) {
      if (!text_.parts.moved[i])
        continue;
      std::uint32_t place = i + 1; // before what stood behind it
      while (place < own.size() &&
             (own[place] == no_index || text_.parts.moved[place] || own[place] < own[i]))
        ++place;
      lemmas_.check_move_up(i, place);
    }
  }

  // A load that was added must read what a replaced load beside which it stands reads, and run only
  // where that would (rule 11).
  void check_added(const AddedInstruction &load) {
    const auto &loads = text_.parts.loads;
    demand(!text_.access(load.at) || std::any_of(loads.begin(), loads.end(),
                                                 [&](const RestoredLoad &one) {
                                                   return one.slot == load.slot &&
                                                          reads_what(load.at, one.at);
                                                 }),
           Obligation::no_other_effect, "a load was added that no replaced load accounts for");
  }

  bool reads_what(std::uint32_t load, std::uint32_t replaced) {
    const MemoryAccess *const mine = text_.load(load), *const own = text_.load(replaced);
    const Opcode &opcode = text_.opcode(load), &own_opcode = text_.opcode(replaced);
    if (!mine || !own || mine->block != own->block || opcode.type != own_opcode.type ||
        kind_of_load(opcode) != kind_of_load(own_opcode))
      return false;
    // An access is aligned to its size (PTX ISA 6.4.1).
    const Expr distance =
        text_.pool().sub(emulation_.expand(mine->address), emulation_.expand(own->address));
    if (distance->kind != ExprKind::constant || distance->value.low % mine->bytes != 0 ||
        distance->value.low >= own->bytes || distance->value.low + mine->bytes > own->bytes)
      return false;
    if (!own->guard)
      return true;
    Known known = text_.known_in(own->block);
    if (mine->guard)
      known.assume(emulation_.expand(mine->guard), true);
    return known.decide(emulation_.expand(own->guard)) == true || known.contradictory();
  }

  // What may stand in a load's place: what others have given.
  void find_sources() {
    std::vector<bool> replaced(text_.function.instructions.size());
    for (const RestoredLoad &one : text_.parts.loads)
      replaced[one.at] = true;
    for (const MemoryAccess &access : text_.emulation.trace()) {
      if (access.effect != Effect::load || !access.address || replaced[access.instruction])
        continue;
      const auto elements =
          elements_of(text_.module, text_.function.instructions[access.instruction]);
      for (unsigned e = 0; e < elements.size(); ++e) {
        const auto has_it = [&](const auto &one) { return one.reg == elements[e].reg; };
        const bool keeps = std::none_of(elements.begin() + e + 1, elements.end(), has_it);
        const Expr value = text_.value_of(access.instruction, elements[e].reg, true);
        if (!value || !keeps) // a register has the last element that goes there
          continue;
        const LoadedElement element{access.instruction, e};
        sources_.emplace(value, element);
        if (access.guard && value->kind == ExprKind::ite) { // where it ran
          const bool as_is = value->children[0] == emulation_.expand(access.guard);
          sources_.emplace(value->children[as_is ? 1 : 2], element);
        }
      }
    }
  }

  // All lanes that are active take part in a shuffle if its member mask was read before, on a
  // straight way: lanes may come and go at branches, labels, calls and where lanes meet.
  void find_shuffles() {
    const auto place = [&](const AddedInstruction &one) {
      return std::pair(text_.cfg().block_of(one.at), one.region);
    };
    std::unordered_map<Expr, AddedInstruction> masks;
    for (const AddedInstruction &mask : text_.parts.masks)
      masks[text_.value_of(mask.at, text_.operand(mask.at, 0).reg, true)] = mask;
    for (const AddedInstruction &shuffle : text_.parts.shuffles) {
      const std::uint32_t at = shuffle.at;
      const Expr result = text_.value_of(at, text_.operand(at, 0).reg, true);
      if (!result)
        continue; // never reached
      const Expr members = text_.value_of(at, text_.operand(at, 4).reg);
      const auto mask = masks.find(members);
      demand(mask != masks.end() && mask->second.at < at && place(mask->second) == place(shuffle),
             Obligation::full_warp, "a shuffle's member mask is not that of the active lanes");
      const int distance = static_cast<int>(text_.operand(at, 2).value);
      const bool up = text_.operand(at, 3).value == 0;
      shuffled_[result] = {text_.value_of(at, text_.operand(at, 1).reg), members,
                           up ? -distance : distance, text_.cfg().block_of(at)};
    }
  }

  // The values that stand in the place of a replaced load are the load's.
  void check_load(const RestoredLoad &load) {
    const MemoryAccess *const own = text_.load(load.at);
    demand(own, Obligation::understood, "the load is not understood, or never reached");
    Known runs = text_.known_in(own->block);
    if (own->decided)
      runs.assume(emulation_.expand(own->decided), true);
    Known rests = runs;
    if (own->guard) {
      runs.assume(emulation_.expand(own->guard), true);
      rests.assume(emulation_.expand(own->guard), false);
    }
    for (unsigned e = 0; e < load.registers.size(); ++e) {
      const Expr value = text_.value_of(load.place, load.registers[e]);
      if (own->guard)
        check_kept(value, text_.value_of(load.first, load.registers[e]), rests);
      int budget = case_budget;
      check(value, load, e, runs, budget);
    }
  }

  // Where the load did not run, the destination keeps its value (rule 12).
  void check_kept(Expr value, Expr old, const Known &rests) const {
    // Every condition on the path must be known: otherwise the value might be another.
    bool sure = true;
    while (value != old && value->kind == ExprKind::ite) {
      const auto chosen = rests.decide(value->children[0]);
      sure = sure && (chosen || rests.contradictory());
      value = value->children[chosen == true ? 1 : 2];
    }
    demand(value == old, Obligation::destination,
           "the destination is written where the load did not run");
    demand(sure, Obligation::destination,
           "the destination may be written where the load did not run");
  }

  // Case by case: what a source has given, here or in another lane.
  void check(Expr value, const RestoredLoad &load, unsigned element, const Known &known,
             int &budget) {
    if (known.contradictory())
      return;
    demand(--budget >= 0, Obligation::equal_value, "too many cases");
    if (value->kind != ExprKind::ite)
      return check_reuse(value, load, element, known);
    const Expr condition = value->children[0];
    for (const bool holds : {true, false}) {
      if (known.decide(condition) == !holds)
        continue;
      Known narrower = known;
      narrower.assume(condition, holds);
      check(value->children[holds ? 1 : 2], load, element, narrower, budget);
    }
  }

  void check_reuse(Expr value, const RestoredLoad &load, unsigned element, const Known &known) {
    std::optional<int> delta;
    Substitution without_shuffles(text_.pool());
    bool read_here = false;
    for_each_node(value, [&](Expr node) {
      if (node->kind != ExprKind::symbol)
        return;
      const auto found = shuffled_.find(node);
      if (found == shuffled_.end()) {
        read_here = true;
        return;
      }
      const Shuffled &shuffle = found->second;
      demand(!delta || *delta == shuffle.delta, Obligation::equal_value,
             "shuffles over different distances make up one value");
      delta = shuffle.delta;
      const Expr all = text_.pool().constant(32, 0xffffffff);
      demand(known.decide(text_.pool().eq(shuffle.members, all)) == true, Obligation::full_warp,
             "the shuffled value is used without a full warp");
      demand(shuffle.block == text_.cfg().block_of(load.place), Obligation::full_warp,
             "the shuffle stands in another block");
      without_shuffles.map(node, shuffle.source);
    });
    demand(!delta || !read_here, Obligation::equal_value,
           "shuffled and own values make up one value");
    // One of those that have given it; in most cases there is no other.
    const auto [first, last] = sources_.equal_range(without_shuffles(value));
    demand(first != last, Obligation::equal_value, "the value is not that of a source");
    proof::Proved served;
    for (auto source = first; source != last; ++source)
      if (served = proof::proved([&] {
            lemmas_.serve(source->second, {load.at, element}, load.place, delta.value_or(0), known);
          });
          served)
        return;
    throw served.error();
  }

  OneText &text_;
  Emulation &emulation_;
  const std::vector<std::uint32_t> &replaced_;
  Lemmas lemmas_;
  std::unordered_multimap<Expr, LoadedElement> sources_; ///< by what they have given
  std::unordered_map<Expr, Shuffled> shuffled_;          ///< by what shuffles give
};

/// A function with replaced loads, before and after.
struct Pair {
  const Function *before;
  Function *after;
  const std::vector<std::uint32_t> *replaced;
};

FunctionProof all_unproved(const std::vector<std::uint32_t> &replaced,
                           const proof::NotProved &why) {
  FunctionProof result;
  for (const std::uint32_t load : replaced)
    result.unproved.push_back({load, why});
  return result;
}

/// The functions of `rewritten` become those that the proof reads.
std::vector<FunctionProof> prove_all(const Module &original, Module &rewritten,
                                     const std::vector<Pair> &pairs,
                                     const RewriteOptions &options) {
  std::vector<FunctionProof> result(pairs.size());
  std::vector<std::optional<Restored>> restored(pairs.size());
  const auto timed = [&](std::size_t f, auto part) {
    const auto start = std::chrono::steady_clock::now();
    if (const auto shown = proof::proved(part); !shown)
      result[f].unproved = all_unproved(*pairs[f].replaced, shown.error()).unproved;
    const std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - start;
    result[f].milliseconds += passed.count();
  };
  for (std::size_t f = 0; f < pairs.size(); ++f)
    timed(f, [&] {
      const auto &[before, after, replaced] = pairs[f];
      restored[f] = restore(original, *before, rewritten, *after,
                            match(original, *before, rewritten, *after, *replaced));
    });
  // What one function does another one may rest on, who calls it or shares its addresses.
  const bool all = std::all_of(restored.begin(), restored.end(), [](const auto &r) { return !!r; });
  const GenericAddresses generic(rewritten);
  for (std::size_t f = 0; f < pairs.size(); ++f) {
    if (!restored[f])
      continue;
    timed(f, [&] {
      demand(all, Obligation::lined_up, "another function of the module is not lined up");
      const Function &function = *pairs[f].after;
      OneText text(rewritten, function, *restored[f], options, generic);
      demand(text.emulation.complete(), Obligation::understood,
             "the original is too much for the emulator");
      result[f].unproved = Proof(text, *pairs[f].replaced).run().unproved;
    });
  }
  return result;
}

} // namespace

std::string_view to_string(Obligation obligation) {
  static constexpr std::string_view names[] = {
#define PTXASW_OBLIGATION(enumerator, name, meaning) name,
#include "synth/proof/obligations.def"
#undef PTXASW_OBLIGATION
  };
  return names[static_cast<std::size_t>(obligation)];
}

FunctionProof prove_replaced(const Module &original, const Function &before,
                             const Module &rewritten, const Function &after,
                             const std::vector<std::uint32_t> &replaced,
                             const RewriteOptions &options) {
  const auto again = parse(std::string(rewritten.text()), "rewritten");
  const auto index = static_cast<std::size_t>(&after - rewritten.functions.data());
  return prove_all(original, **again, {{&before, &(*again)->functions[index], &replaced}},
                   options)[0];
}

std::vector<FunctionProof> prove(const Module &original, std::string_view rewritten,
                                 const std::vector<std::vector<std::uint32_t>> &replaced,
                                 const RewriteOptions &options) {
  std::vector<FunctionProof> result(original.functions.size());
  const auto parsed = parse(std::string(rewritten), "rewritten");
  const bool comparable = parsed && same_beside(original, **parsed, replaced);
  std::vector<Pair> pairs;
  for (std::size_t f = 0; f < result.size(); ++f)
    if (comparable && !replaced[f].empty())
      pairs.push_back({&original.functions[f], &(*parsed)->functions[f], &replaced[f]});
    else
      result[f] = all_unproved(replaced[f], unmet(Obligation::lined_up,
                                                  "more changed than the functions with replaced "
                                                  "loads"));
  if (comparable) {
    const auto proofs = prove_all(original, **parsed, pairs, options);
    for (std::size_t i = 0; i < pairs.size(); ++i)
      result[static_cast<std::size_t>(pairs[i].before - original.functions.data())] = proofs[i];
  }
  return result;
}

} // namespace ptxasw::synth
