// Code generation (paper, section 5.2), with the guards of soundness.md.
//
// For a load D whose value the lane N up holds (N < 0: shfl.sync.up), with S its source:
//
//     once per kernel mov.u32 below, %laneid;            how many lanes of D's row lie below and
//                     ...                                above this one in the warp (rule 8)
//     after S         mov.b32 copy, S's register;        (rule 10)
//     after an index  setp.lt.or.s32 wrap, index, ..., wrap before;
//                                                        where index + N might wrap (rule 3)
//     after a store   mov.b64 written, its address;      (rule 5)
//     once per region activemask.b32 mask;
//                     setp.ne.or.s32 off, mask, -1, wrap;
//                                                        all 32 lanes, or none use it (rule 9)
//     once per region setp.lt.or.u32 corner, below, -N, off;
//     and distance
//     in D's place    (sub.s64 t, D's address, written; setp.eq.or.s64 own, t, 0, corner;)
//                     shfl.sync.up.b32 D's register, copy, -N, 0, mask;
//                     @corner ld ...                     D's own address, nothing else (rule 11)
//
// Regions are those of the plan (plan.cpp). In a block of one dimension a lane's row is its warp,
// and `below` is the lane itself.
//
// A copy (N = 0) has no corner except the tests. What is wider or narrower than 32 bits goes
// through 32-bit registers; docs/internals/codegen.md compares the forms.

#include "synth/shuffle/plan.h"

#include "synth/proof/candidate.h"

#include "grammar/code_writer.h"
#include "grammar/roles.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace ptxasw::synth {
namespace {

/// What a region has computed already.
struct Region {
  std::string mask;
  std::string wrapped;                           ///< the predicate of its tests
  std::map<std::string, std::string> predicates; ///< by what computes them
};

class Emitter {
public:
  Emitter(const Module &module, const Function &function, const ShufflePlan &plan,
          const LaunchFacts &facts, const std::string &prefix, Edits &edits)
      : module_(module), function_(function), plan_(plan), facts_(facts), prefix_(prefix),
        edits_(edits), fresh_(prefix.substr(1), true), regions_(plan.regions.size()) {}

  void run() {
    emit_hoists();
    for (const PlannedLoad &load : plan_.loads)
      emit_preparation(load);
    emit_wrap_tests();
    for (const PlannedLoad &load : plan_.loads)
      emit_load(load);
    emit_prologue();
  }

private:
  const Instruction &instruction(std::uint32_t index) const {
    return function_.instructions[index];
  }
  const Operand &element(LoadedElement value) const {
    return elements_of(module_, instruction(value.load))[value.element];
  }
  std::string_view name(LoadedElement value) const { return module_.text(element(value).span); }
  unsigned width(LoadedElement value) const {
    return bit_width(function_.registers[element(value).reg].type);
  }
  const Operand &address(std::uint32_t index) const {
    const auto operands = module_.operands(instruction(index));
    return *std::find_if(operands.begin(), operands.end(), [](const Operand &operand) {
      return operand.kind == Operand::Kind::address;
    });
  }
  const Operand &base(std::uint32_t index) const { return module_.children(address(index))[0]; }
  std::string_view base_name(std::uint32_t index) const { return module_.text(base(index).span); }
  std::int64_t bytes(std::uint32_t index) const {
    const Opcode &opcode = module_.opcode(instruction(index));
    return std::int64_t{bit_width(opcode.type)} / 8 * opcode.vector;
  }

  void emit_hoists() {
    for (const Hoist &hoist : plan_.hoists) {
      hoisted_[hoist.source] = instruction(hoist.before).span.begin;
      edits_.insert(instruction(hoist.before).span.begin,
                    fmt::format("{}\n\t", module_.text(instruction(hoist.source).span)));
      edits_.replace(instruction(hoist.source).span, "");
    }
  }

  void insert_after(std::uint32_t index, const std::string &text) {
    if (const auto hoisted = hoisted_.find(index); hoisted != hoisted_.end())
      edits_.insert(hoisted->second, text + "\n\t");
    else
      edits_.insert(instruction(index).span.end, "\n\t" + text);
  }

  // What has to be kept where it is still known: values and addresses.
  void emit_preparation(const PlannedLoad &load) {
    for (const ElementSource &value : load.elements)
      if (value.delta == 0)
        keep_value(value.source);
      else
        keep_words(value.source);
    for (const DistanceTest &test : load.distance_tests)
      keep_address(test.source);
    for (const std::uint32_t store : load.store_tests)
      keep_address(store);
  }

  // The tests of a region's shuffles become a chain of predicates, another one of its own.
  void emit_wrap_tests() {
    for (const PlannedLoad &load : plan_.loads)
      for (const WrapTest &test : load.wrap_tests)
        if (std::string &predicate = wrap_predicates_[test]; predicate.empty())
          predicate = emit_wrap_test(test, "");
    for (std::size_t i = 0; i < regions_.size(); ++i)
      for (const WrapTest &test : plan_.regions[i])
        regions_[i].wrapped = emit_wrap_test(test, regions_[i].wrapped);
  }

  void keep_value(LoadedElement value) {
    std::string &copy = values_[value];
    if (!copy.empty())
      return;
    const unsigned bits = width(value);
    copy = fresh_(fmt::format("b{}", bits));
    insert_after(value.load, fmt::format("mov.b{} {}, {};", bits, copy, name(value)));
  }

  // A value as shuffles take it, in 32-bit registers.
  void keep_words(LoadedElement value) {
    std::vector<std::string> &words = kept_words_[value];
    if (!words.empty())
      return;
    const unsigned bits = width(value);
    for (unsigned i = 0; i < (bits + 31) / 32; ++i)
      words.push_back(fresh_("b32"));
    insert_after(
        value.load,
        bits == 64   ? fmt::format("mov.b64 {{{}, {}}}, {};", words[0], words[1], name(value))
        : bits == 16 ? fmt::format("mov.b32 {}, {{{}, {}}};", words[0], name(value), name(value))
                     : fmt::format("mov.b32 {}, {};", words[0], name(value)));
  }

  // The base register of an access, for the tests of the loads behind it.
  void keep_address(std::uint32_t access) {
    std::string &copy = addresses_[access];
    if (!copy.empty())
      return;
    copy = fresh_("b64");
    const std::string text = fmt::format("mov.b64 {}, {};", copy, base_name(access));
    const bool is_load = module_.opcode(instruction(access)).op == Op::ld;
    if (is_load && overwrites_own_operands(module_, instruction(access))) // never hoisted
      edits_.insert(instruction(access).span.begin, text + "\n\t");
    else
      insert_after(access, text);
  }

  // value + offset leaves the range: above its end for a positive offset, below for a negative one.
  // Returns the predicate for that or `before`.
  std::string emit_wrap_test(const WrapTest &test, const std::string &before) {
    std::string predicate = fresh_("pred");
    const std::string_view name = function_.registers[test.where.reg].name;
    const bool up = test.offset > 0;
    const std::int64_t bound = test.is_signed
                                   ? (up ? INT32_MAX - test.offset : INT32_MIN - test.offset)
                                   : (up ? UINT32_MAX - test.offset : -test.offset);
    insert_after(test.where.instruction,
                 fmt::format("setp.{}.{}{} {}, {}, {}{};", up ? "gt" : "lt",
                             before.empty() ? "" : "or.", test.is_signed ? "s32" : "u32", predicate,
                             name, bound, before.empty() ? "" : ", " + before));
    return predicate;
  }

  // What an instruction of the region makes of these, which stands once in it.
  const std::string &once(Region &region, const std::string &opcode, const std::string &sources,
                          CodeWriter &out) {
    std::string &predicate = region.predicates[opcode + " " + sources];
    if (predicate.empty()) {
      predicate = fresh_("pred");
      out.write("{} {}, {}", opcode, predicate, sources);
    }
    return predicate;
  }

  void emit_load(const PlannedLoad &planned) {
    const Instruction &load = instruction(planned.load);
    const std::string guard(module_.text({load.span.begin, load.opcode_span.begin}));
    CodeWriter out;
    if (!planned.is_copy() && regions_[planned.region].mask.empty()) {
      regions_[planned.region].mask = fresh_("b32");
      out.write("activemask.b32 {}", regions_[planned.region].mask);
    }
    const std::string corner = emit_corner(planned, out);

    // The values: straight into the load's registers, if all lanes may write them at once and the
    // load no longer needs them for its address.
    const unsigned count = static_cast<unsigned>(planned.elements.size());
    const bool overwrites = !corner.empty() && overwrites_own_operands(module_, load);
    const bool direct = guard.empty() && !overwrites;
    std::vector<std::string> values;
    for (unsigned i = 0; i < count; ++i)
      values.push_back(emit_value(planned, i, direct, out));
    const auto take = [&](const std::string &under) {
      for (unsigned i = 0; i < count; ++i)
        if (const LoadedElement to{planned.load, i}; values[i] != name(to))
          out.write("{}mov.b{} {}, {}", under, width(to), name(to), values[i]);
    };

    const std::string_view text = module_.text({load.opcode_span.begin, load.span.end});
    if (corner.empty()) {
      take(guard);
    } else if (guard.empty() && !overwrites) {
      take("");
      out.add(fmt::format("@{} {}", corner, text));
    } else if (guard.empty()) {
      out.add(fmt::format("@{} {}", corner, text));
      take(fmt::format("@!{} ", corner));
    } else {
      // Only lanes that execute the load write its register (rule 12).
      const std::string asked = fresh_("pred"), runs = fresh_("pred");
      const std::string_view predicate = function_.registers[load.guard].name;
      out.write("{}.pred {}, {}", load.guard_negated ? "not" : "mov", asked, predicate);
      out.write("and.pred {}, {}, {}", runs, asked, corner);
      out.add(fmt::format("@{} {}", runs, text));
      const std::string takes = fresh_("pred");
      out.write("not.pred {}, {}", takes, corner);
      out.write("and.pred {0}, {0}, {1}", takes, asked);
      take(fmt::format("@{} ", takes));
    }
    edits_.replace(load.span, out.piece());
  }

  // The predicate under which a lane has to load by itself; empty if it never has to.
  std::string emit_corner(const PlannedLoad &load, CodeWriter &out) {
    Region own; // of a load that asks no other lane
    Region &region = !load.is_copy() ? regions_[load.region] : own;
    std::string corner;
    const auto add = [&](const std::string &opcode, const std::string &sources) {
      corner = once(region, opcode, sources, out);
    };
    if (load.has_corner && region.wrapped.empty()) // no lane, or not this one, uses the shuffles
      add("setp.ne.s32", fmt::format("{}, -1", region.mask));
    else if (load.has_corner)
      add("setp.ne.or.s32", fmt::format("{}, -1, {}", region.mask, region.wrapped));
    const auto add_distance = [&](unsigned distance, std::string_view place, bool &uses) {
      uses = uses || distance != 0;
      if (distance != 0)
        add("setp.lt.or.u32", fmt::format("{}{}, {}, {}", prefix_, place, distance, corner));
    };
    add_distance(load.below, "below", uses_below_);
    add_distance(load.above, "above", uses_above_);
    std::set<std::string> wraps;
    for (const WrapTest &test : load.wrap_tests)
      wraps.insert(wrap_predicates_.at(test));
    for (const std::string &wrap : wraps)
      if (corner.empty())
        corner = wrap;
      else
        add("or.pred", fmt::format("{}, {}", corner, wrap));
    return emit_address_tests(load, std::move(corner), out);
  }

  // The corner, or that a test of two addresses sends the lane to its load.
  std::string emit_address_tests(const PlannedLoad &load, std::string corner, CodeWriter &out) {
    // Compares two addresses; true where the load has to run.
    const auto test = [&](const std::string &comparison, const std::string &type,
                          const std::string &left, std::int64_t right) {
      const std::string predicate = fresh_("pred");
      if (corner.empty())
        out.write("setp.{}.{} {}, {}, {}", comparison, type, predicate, left, right);
      else
        out.write("setp.{}.or.{} {}, {}, {}, {}", comparison, type, predicate, left, right, corner);
      corner = predicate;
    };
    const auto difference = [&](const std::string &address) {
      std::string result = fresh_("b64");
      out.write("sub.s64 {}, {}, {}", result, base_name(load.load), address);
      return result;
    };
    for (const DistanceTest &distance : load.distance_tests) {
      test("ne", "s64", difference(addresses_.at(distance.source)), distance.distance);
    }
    for (const std::uint32_t store : load.store_tests) {
      const std::string bases = difference(addresses_.at(store));
      const std::int64_t offsets = address(load.load).value - address(store).value;
      if (bytes(store) == bytes(load.load)) {
        // Both are aligned: they meet in all bytes or in none.
        test("eq", "s64", bases, -offsets);
      } else {
        // load - store lies between -(load's bytes) and the store's, both excluded.
        const std::string from_start = fresh_("b64");
        out.write("add.s64 {}, {}, {}", from_start, bases, offsets + bytes(load.load) - 1);
        test("lt", "u64", from_start, bytes(load.load) + bytes(store) - 1);
      }
    }
    return corner;
  }

  // The register that holds what element `index` of the load takes from elsewhere: the load's own
  // if `direct`.
  std::string emit_value(const PlannedLoad &load, unsigned index, bool direct, CodeWriter &out) {
    const auto &[source, delta] = load.elements[index];
    if (delta == 0)
      return values_.at(source);
    const LoadedElement to{load.load, index};
    std::vector<std::string> words;
    const unsigned bits = width(to);
    std::string result = direct ? std::string(name(to)) : fresh_(fmt::format("b{}", bits));
    for (const std::string &word : kept_words_.at(source)) {
      words.push_back(bits == 32 ? result : fresh_("b32"));
      const bool up = delta < 0;
      out.write("shfl.sync.{}.b32 {}, {}, {}, {}, {}", up ? "up" : "down", words.back(), word,
                std::abs(delta), up ? 0 : 31, regions_[load.region].mask);
    }
    if (bits == 64)
      out.write("mov.b64 {}, {{{}, {}}}", result, words[0], words[1]);
    else if (bits == 16)
      out.write("mov.b32 {{{}, {}}}, {}", result, fresh_("b16"), words[0]);
    return result;
  }

  // Declarations, and what is computed once: lanes of this row below and above this lane.
  void emit_prologue() {
    CodeWriter out;
    std::string declarations;
    const auto declare = [&](std::string_view place) {
      declarations += fmt::format("\n\t.reg .b32 {}{};", prefix_, place);
    };
    if (uses_below_ || uses_above_) {
      const std::string lane = fresh_("b32");
      const bool rows = !facts_.whole_warps();
      std::string tid;
      out.write("mov.u32 {}, %laneid", lane);
      if (rows)
        out.write("mov.u32 {}, %tid.x", tid = fresh_("b32"));
      if (uses_below_) {
        declare("below");
        if (rows)
          out.write("min.u32 {}below, {}, {}", prefix_, lane, tid);
        else
          out.write("mov.u32 {}below, {}", prefix_, lane);
      }
      if (uses_above_) {
        declare("above");
        out.write("sub.s32 {}above, 31, {}", prefix_, lane);
        if (rows) {
          const std::string ntid = fresh_("b32");
          out.write("mov.u32 {}, %ntid.x", ntid);
          out.write("sub.s32 {0}, {0}, {1}", ntid, tid);
          out.write("add.s32 {0}, {0}, -1", ntid);
          out.write("min.u32 {0}above, {0}above, {1}", prefix_, ntid);
        }
      }
    }
    edits_.insert(function_.body.begin + 1, declarations + fresh_.declarations() +
                                                (out.lines().empty() ? "" : "\n\t" + out.piece()));
  }

  const Module &module_;
  const Function &function_;
  const ShufflePlan &plan_;
  const LaunchFacts &facts_;
  const std::string &prefix_;
  Edits &edits_;
  NewRegisters fresh_;
  std::vector<Region> regions_;                    ///< as those of the plan
  std::map<std::uint32_t, std::uint32_t> hoisted_; ///< sources, to the byte they moved to
  std::map<LoadedElement, std::string> values_;
  std::map<LoadedElement, std::vector<std::string>> kept_words_;
  std::map<std::uint32_t, std::string> addresses_;
  std::map<WrapTest, std::string> wrap_predicates_;
  bool uses_below_ = false;
  bool uses_above_ = false;
};

} // namespace

std::string fresh_prefix(const Module &module) {
  std::string prefix = "%ptxasw_";
  for (unsigned i = 1; module.text().find(prefix) != std::string_view::npos; ++i)
    prefix = fmt::format("%ptxasw{}_", i);
  return prefix;
}

bool is_shuffled(const Module &module, const Function &function) {
  return std::any_of(function.instructions.begin(), function.instructions.end(),
                     [&](const Instruction &one) {
                       const std::string_view text = module.text(one.span);
                       return text.find("shfl.sync") != std::string_view::npos &&
                              text.find("%ptxasw") != std::string_view::npos;
                     });
}

void emit(const Module &module, const Function &function, const ShufflePlan &plan,
          const LaunchFacts &facts, const std::string &prefix, Edits &edits) {
  Emitter(module, function, plan, facts, prefix, edits).run();
}

} // namespace ptxasw::synth
