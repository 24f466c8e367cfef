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
// In a butterfly (shfl.sync.bfly) the lane's number XOR N takes the place of N lanes up: `step`,
// computed once per kernel, is how far up that is, and tid.x + step must lie in the row.
//
// A region is a straight piece of a basic block without calls, barriers or the like: all lanes that
// were active where it read its mask also reach every shuffle in it, and the shuffle waits for
// them. That an index of one load wraps is so rare that it may send the lane to all its loads: one
// predicate for them all. In a block of one dimension a lane's row is its warp, and `below` is the
// lane itself.
//
// A copy (N = 0) has no corner except the tests. What is wider or narrower than 32 bits goes
// through 32-bit registers; docs/codegen.md compares the forms.

#include "synth/emit.h"

#include "grammar/roles.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

namespace ptxasw {
namespace {

/// Registers of the kernel of which one, the one written last, carries a value to another load.
using EmittedValue = std::vector<LoadedElement>;

class Emitter {
public:
  Emitter(const Module &module, const Function &function, const ControlFlowGraph &cfg,
          const Detection &detection, const LaunchFacts &facts, Variant variant,
          const std::string &prefix, Edits &edits)
      : module_(module), function_(function), detection_(detection), facts_(facts), cfg_(cfg),
        variant_(variant), prefix_(prefix), edits_(edits) {
    find_regions();
  }

  void run() {
    std::vector<const Reuse *> reuses; // in the order of the text
    for (const Reuse &reuse : detection_.reuses)
      reuses.push_back(&reuse);
    std::sort(reuses.begin(), reuses.end(),
              [](const Reuse *a, const Reuse *b) { return a->load < b->load; });
    emit_hoists(reuses);
    for (const Reuse *reuse : reuses)
      emit_preparation(*reuse);
    if (variant_ == Variant::full)
      emit_wrap_tests(reuses);
    for (const Reuse *reuse : reuses)
      emit_load(*reuse);
    emit_prologue();
  }

private:
  /// What a region has computed already.
  struct Region {
    std::string mask;
    std::string off;             ///< no lane uses a shuffle, or this one does not
    std::uint32_t begin = 0;     ///< the first load with a shuffle, instruction index
    std::vector<WrapTest> tests; ///< those known there, which `off` contains
    std::string wrapped;         ///< the predicate of them all
    std::map<std::string, std::string> predicates; ///< by what they say
  };

  std::string new_register(unsigned width) {
    switch (width) {
    case 1:
      return fmt::format("{}p{}", prefix_, predicates_++);
    case 16:
      return fmt::format("{}h{}", prefix_, halves_++);
    case 64:
      return fmt::format("{}d{}", prefix_, doubles_++);
    default:
      return fmt::format("{}r{}", prefix_, words_++);
    }
  }

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

  // Straight pieces of blocks, cut behind everything that might let lanes go or come.
  void find_regions() {
    region_of_.resize(function_.instructions.size());
    std::uint32_t region = 0;
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
      if (i > 0 && (cfg_.block_of(i) != cfg_.block_of(i - 1) ||
                    effect_of(module_.opcode(instruction(i - 1))) == Effect::sync))
        ++region;
      region_of_[i] = region;
    }
  }

  // Sources that no longer serve a load stay where they are.
  void emit_hoists(const std::vector<const Reuse *> &reuses) {
    std::set<std::uint32_t> used;
    for (const Reuse *reuse : reuses)
      for (const ElementSource &from : reuse->elements)
        for (const LoadedElement &source : from.all())
          used.insert(source.load);
    for (const Hoist &hoist : detection_.hoists) {
      if (!used.contains(hoist.source))
        continue;
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

  // What has to be kept where it is still known: values, addresses, indices.
  void emit_preparation(const Reuse &reuse) {
    for (const ElementSource &from : reuse.elements)
      if (from.lane.is_own() || variant_ == Variant::no_load)
        keep_value(from.all());
      else
        keep_words(from.all());
    if (variant_ != Variant::full)
      return;
    for (const DistanceTest &test : reuse.distance_tests)
      keep_address(test.source);
    for (const std::uint32_t store : reuse.store_tests)
      keep_address(store);
  }

  bool shuffles(const Reuse &reuse) const {
    return !reuse.is_copy() && variant_ != Variant::no_load;
  }

  // The tests of a region's shuffles become a chain of predicates; where a test cannot be part of
  // it, or there is no shuffle, it has a predicate of its own.
  void emit_wrap_tests(const std::vector<const Reuse *> &reuses) {
    const auto position = [&](const WrapTest &test) {
      return std::tuple(cfg_.order_of(cfg_.block_of(test.where.instruction)), key(test));
    };
    for (const Reuse *reuse : reuses) {
      const bool in_region = shuffles(*reuse);
      if (in_region) {
        const auto [entry, is_first] = regions_.try_emplace(region_of_[reuse->load]);
        if (is_first)
          entry->second.begin = reuse->load;
      }
      for (const WrapTest &test : reuse->wrap_tests) {
        const std::uint32_t where = test.where.instruction;
        // In another block it dominates this one; in this one it must come before the first
        // shuffle.
        if (in_region && (cfg_.block_of(where) != cfg_.block_of(reuse->load) ||
                          where < regions_[region_of_[reuse->load]].begin))
          regions_[region_of_[reuse->load]].tests.push_back(test);
        else if (std::string &predicate = wrap_predicates_[key(test)]; predicate.empty())
          predicate = emit_wrap_test(test, "");
      }
    }
    for (auto &[number, region] : regions_) {
      auto &tests = region.tests;
      std::sort(tests.begin(), tests.end(),
                [&](const WrapTest &a, const WrapTest &b) { return position(a) < position(b); });
      tests.erase(
          std::unique(tests.begin(), tests.end(),
                      [](const WrapTest &a, const WrapTest &b) { return key(a) == key(b); }),
          tests.end());
      for (const WrapTest &test : tests)
        region.wrapped = emit_wrap_test(test, region.wrapped);
    }
  }

  void keep_value(const EmittedValue &value) {
    std::string &copy = values_[value];
    if (!copy.empty())
      return;
    const unsigned bits = width(value[0]);
    copy = new_register(bits);
    for (const LoadedElement &each : value)
      insert_after(each.load, fmt::format("mov.b{} {}, {};", bits, copy, name(each)));
  }

  // A value as shuffles take it, in 32-bit registers.
  void keep_words(const EmittedValue &value) {
    std::vector<std::string> &words = kept_words_[value];
    if (!words.empty())
      return;
    const unsigned bits = width(value[0]);
    for (unsigned i = 0; i < (bits + 31) / 32; ++i)
      words.push_back(new_register(32));
    for (const LoadedElement &each : value)
      insert_after(
          each.load,
          bits == 64   ? fmt::format("mov.b64 {{{}, {}}}, {};", words[0], words[1], name(each))
          : bits == 16 ? fmt::format("mov.b32 {}, {{{}, {}}};", words[0], name(each), name(each))
                       : fmt::format("mov.b32 {}, {};", words[0], name(each)));
  }

  // True if a load writes a register that it reads, its address or its cache policy.
  bool overwrites_own_operands(std::uint32_t load) const {
    const auto elements = elements_of(module_, instruction(load));
    bool result = false;
    for_each_register(module_, instruction(load), [&](RegisterId reg, RegisterUse use) {
      if (use == RegisterUse::read)
        for (const Operand &element : elements)
          result |= element.kind == Operand::Kind::reg && element.reg == reg;
    });
    return result;
  }

  // The base register of an access, for the tests of the loads behind it.
  void keep_address(std::uint32_t access) {
    std::string &copy = addresses_[access];
    if (!copy.empty())
      return;
    copy = new_register(64);
    const std::string text = fmt::format("mov.b64 {}, {};", copy, base_name(access));
    const bool is_load = module_.opcode(instruction(access)).op == Op::ld;
    if (is_load && overwrites_own_operands(access)) // never hoisted
      edits_.insert(instruction(access).span.begin, text + "\n\t");
    else
      insert_after(access, text);
  }

  using TestKey = std::tuple<std::uint32_t, RegisterId, bool, std::int64_t>;
  static TestKey key(const WrapTest &test) {
    return {test.where.instruction, test.where.reg, test.is_signed, test.offset};
  }

  // value + offset leaves the range: above its end for a positive offset, below for a negative one.
  // Returns the predicate for that or `before`.
  std::string emit_wrap_test(const WrapTest &test, const std::string &before) {
    std::string predicate = new_register(1);
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

  // The predicate that says `what` in this region; `compute` writes the code if it is the first.
  template <class Compute>
  const std::string &shared(Region &region, const std::string &what, Compute compute) {
    std::string &predicate = region.predicates[what];
    if (predicate.empty()) {
      predicate = new_register(1);
      compute(predicate);
    }
    return predicate;
  }

  void emit_load(const Reuse &reuse) {
    const Instruction &load = instruction(reuse.load);
    const std::string guard(module_.text({load.span.begin, load.opcode_span.begin}));
    Region &region = regions_[region_of_[reuse.load]];
    std::string code;
    const auto line = [&](const std::string &text) { code += (code.empty() ? "" : "\n\t") + text; };
    if (shuffles(reuse) && region.mask.empty()) {
      region.mask = new_register(32);
      line(fmt::format("activemask.b32 {};", region.mask));
    }
    const std::string corner =
        variant_ == Variant::full ? emit_corner(reuse, region, line) : std::string();

    // The values: straight into the load's registers, if all lanes may write them at once and the
    // load no longer needs them for its address.
    const unsigned count = static_cast<unsigned>(reuse.elements.size());
    const bool overwrites = !corner.empty() && overwrites_own_operands(reuse.load);
    const bool direct = guard.empty() && !overwrites;
    std::vector<std::string> values;
    for (unsigned i = 0; i < count; ++i)
      values.push_back(emit_value(reuse, i, direct, region, line));
    const auto take = [&](const std::string &under) {
      for (unsigned i = 0; i < count; ++i)
        if (values[i] != name({reuse.load, i}))
          line(fmt::format("{}mov.b{} {}, {};", under, width({reuse.load, i}),
                           name({reuse.load, i}), values[i]));
    };

    const std::string_view text = module_.text({load.opcode_span.begin, load.span.end});
    if (corner.empty()) {
      take(guard);
    } else if (guard.empty() && !overwrites) {
      take("");
      line(fmt::format("@{} {}", corner, text));
    } else if (guard.empty()) {
      line(fmt::format("@{} {}", corner, text));
      take(fmt::format("@!{} ", corner));
    } else {
      // Only lanes that execute the load write its register (rule 12).
      const std::string asked = new_register(1), runs = new_register(1);
      const std::string_view predicate = function_.registers[load.guard].name;
      line(load.guard_negated ? fmt::format("not.pred {}, {};", asked, predicate)
                              : fmt::format("mov.pred {}, {};", asked, predicate));
      line(fmt::format("and.pred {}, {}, {};", runs, asked, corner));
      line(fmt::format("@{} {}", runs, text));
      const std::string takes = new_register(1);
      line(fmt::format("not.pred {}, {};", takes, corner));
      line(fmt::format("and.pred {0}, {0}, {1};", takes, asked));
      take(fmt::format("@{} ", takes));
    }
    edits_.replace(load.span, code);
  }

  // The predicate under which a lane has to load by itself; empty if it never has to.
  template <class Line> std::string emit_corner(const Reuse &reuse, Region &region, Line line) {
    int up = 0, down = 0;
    std::set<unsigned> flips;
    for (const ElementSource &from : reuse.elements) {
      up = std::max(up, -from.lane.delta);
      down = std::max(down, from.lane.delta);
      if (from.lane.flip != 0)
        flips.insert(from.lane.flip);
    }
    std::string corner;
    std::string what;
    if (shuffles(reuse)) {
      if (region.off.empty()) {
        region.off = new_register(1);
        line(region.wrapped.empty()
                 ? fmt::format("setp.ne.s32 {}, {}, -1;", region.off, region.mask)
                 : fmt::format("setp.ne.or.s32 {}, {}, -1, {};", region.off, region.mask,
                               region.wrapped));
      }
      corner = region.off;
      const auto add = [&](int distance, const std::string &place, bool &uses) {
        if (distance == 0)
          return;
        uses = true;
        what += fmt::format("{} {} ", place, distance);
        corner = shared(region, what, [&, before = corner](const std::string &predicate) {
          line(fmt::format("setp.lt.or.u32 {}, {}, {}, {};", predicate, prefix_ + place, distance,
                           before));
        });
      };
      add(up, "below", uses_below_);
      add(down, "above", uses_above_);
      if (facts_.whole_warps())
        flips.clear(); // the other lane lies in the same row
      for (const unsigned flip : flips) {
        const std::string &out = butterfly(flip).outside;
        what += fmt::format("flip {} ", flip);
        corner = shared(region, what, [&, before = corner](const std::string &predicate) {
          line(fmt::format("or.pred {}, {}, {};", predicate, before, out));
        });
      }
    }
    std::set<std::string> wraps;
    for (const WrapTest &test : reuse.wrap_tests)
      if (corner.empty() ||
          std::none_of(region.tests.begin(), region.tests.end(),
                       [&](const WrapTest &known) { return key(known) == key(test); }))
        wraps.insert(wrap_predicates_.at(key(test)));
    for (const std::string &wrap : wraps) {
      what += wrap + " ";
      corner = corner.empty()
                   ? wrap
                   : shared(region, what, [&, before = corner](const std::string &predicate) {
                       line(fmt::format("or.pred {}, {}, {};", predicate, before, wrap));
                     });
    }
    // Compares two addresses; true where the load has to run.
    const auto test = [&](const std::string &comparison, const std::string &type,
                          const std::string &left, std::int64_t right) {
      const std::string predicate = new_register(1);
      line(corner.empty()
               ? fmt::format("setp.{}.{} {}, {}, {};", comparison, type, predicate, left, right)
               : fmt::format("setp.{}.or.{} {}, {}, {}, {};", comparison, type, predicate, left,
                             right, corner));
      corner = predicate;
    };
    const auto difference = [&](const std::string &address) {
      std::string result = new_register(64);
      line(fmt::format("sub.s64 {}, {}, {};", result, base_name(reuse.load), address));
      return result;
    };
    for (const DistanceTest &distance : reuse.distance_tests) {
      const std::string apart = difference(addresses_.at(distance.source));
      if (distance.flip != 0) {
        const std::string bytes = new_register(64);
        line(fmt::format("mul.wide.s32 {}, {}, {};", bytes, butterfly(distance.flip).step,
                         distance.stride));
        line(fmt::format("sub.s64 {0}, {0}, {1};", apart, bytes));
      }
      test("ne", "s64", apart, distance.distance);
    }
    for (const std::uint32_t store : reuse.store_tests) {
      const std::string bases = difference(addresses_.at(store));
      const std::int64_t offsets = address(reuse.load).value - address(store).value;
      if (bytes(store) == bytes(reuse.load)) {
        // Both are aligned: they meet in all bytes or in none.
        test("eq", "s64", bases, -offsets);
      } else {
        // load - store lies between -(load's bytes) and the store's, both excluded.
        const std::string from_start = new_register(64);
        line(
            fmt::format("add.s64 {}, {}, {};", from_start, bases, offsets + bytes(reuse.load) - 1));
        test("lt", "u64", from_start, bytes(reuse.load) + bytes(store) - 1);
      }
    }
    return corner;
  }

  // The register that holds what element `index` of the load takes from elsewhere: the load's own
  // if `direct`.
  template <class Line>
  std::string emit_value(const Reuse &reuse, unsigned index, bool direct, Region &region,
                         Line line) {
    const ElementSource &from = reuse.elements[index];
    const EmittedValue source = from.all();
    const LoadedElement to{reuse.load, index};
    if (from.lane.is_own() || variant_ == Variant::no_load)
      return values_.at(source);
    std::vector<std::string> words;
    const unsigned bits = width(to);
    std::string result = direct ? std::string(name(to)) : new_register(bits);
    for (const std::string &word : kept_words_.at(source)) {
      words.push_back(bits == 32 ? result : new_register(32));
      const bool up = from.lane.delta < 0;
      line(fmt::format("shfl.sync.{}.b32 {}, {}, {}, {}, {};",
                       from.lane.flip != 0 ? "bfly"
                       : up                ? "up"
                                           : "down",
                       words.back(), word, from.lane.reach(), up ? 0 : 31, region.mask));
    }
    if (bits == 64)
      line(fmt::format("mov.b64 {}, {{{}, {}}};", result, words[0], words[1]));
    else if (bits == 16)
      line(fmt::format("mov.b32 {{{}, {}}}, {};", result, new_register(16), words[0]));
    return result;
  }

  /// What is computed once for a butterfly.
  struct Butterfly {
    std::string step;    ///< lanes up to the other one, signed
    std::string outside; ///< that the other one lies outside the row; empty: it never does
  };
  const Butterfly &butterfly(unsigned flip) {
    Butterfly &result = butterflies_[flip];
    if (result.step.empty()) {
      result.step = new_register(32);
      if (!facts_.whole_warps())
        result.outside = new_register(1);
    }
    return result;
  }

  // Declarations, and what is computed once: lanes of this row below and above this lane, and where
  // butterflies lead.
  void emit_prologue() {
    std::string code, declarations;
    for (const auto &[flip, butterfly] : butterflies_) {
      const std::string lane = new_register(32);
      code += fmt::format("\n\tmov.u32 {0}, %laneid;\n\txor.b32 {1}, {0}, {2};"
                          "\n\tsub.s32 {1}, {1}, {0};",
                          lane, butterfly.step, flip);
      if (butterfly.outside.empty())
        continue;
      const std::string tid = new_register(32), extent = new_register(32);
      code += fmt::format("\n\tmov.u32 {0}, %tid.x;\n\tadd.s32 {0}, {0}, {1};"
                          "\n\tmov.u32 {2}, %ntid.x;\n\tsetp.ge.u32 {3}, {0}, {2};",
                          tid, butterfly.step, extent, butterfly.outside);
    }
    if (uses_below_ || uses_above_) {
      const std::string lane = new_register(32);
      const bool rows = !facts_.whole_warps();
      std::string tid, ntid;
      code += fmt::format("\n\tmov.u32 {}, %laneid;", lane);
      if (rows) {
        tid = new_register(32);
        code += fmt::format("\n\tmov.u32 {}, %tid.x;", tid);
      }
      if (uses_below_) {
        declarations += fmt::format("\n\t.reg .b32 {}below;", prefix_);
        code += rows ? fmt::format("\n\tmin.u32 {}below, {}, {};", prefix_, lane, tid)
                     : fmt::format("\n\tmov.u32 {}below, {};", prefix_, lane);
      }
      if (uses_above_) {
        declarations += fmt::format("\n\t.reg .b32 {}above;", prefix_);
        code += fmt::format("\n\tsub.s32 {}above, 31, {};", prefix_, lane);
        if (rows) {
          ntid = new_register(32);
          code += fmt::format(
              "\n\tmov.u32 {0}, %ntid.x;\n\tsub.s32 {0}, {0}, {1};\n\tadd.s32 {0}, {0}, -1;"
              "\n\tmin.u32 {2}above, {2}above, {0};",
              ntid, tid, prefix_);
        }
      }
    }
    for (const auto &[type, letter, count] :
         {std::tuple("b16", 'h', halves_), std::tuple("b32", 'r', words_),
          std::tuple("b64", 'd', doubles_), std::tuple("pred", 'p', predicates_)})
      if (count > 0)
        declarations += fmt::format("\n\t.reg .{} {}{}<{}>;", type, prefix_, letter, count);
    edits_.insert(function_.body.begin + 1, declarations + code);
  }

  const Module &module_;
  const Function &function_;
  const Detection &detection_;
  const LaunchFacts &facts_;
  const ControlFlowGraph &cfg_;
  const Variant variant_;
  const std::string &prefix_;
  Edits &edits_;
  std::vector<std::uint32_t> region_of_; ///< by instruction
  std::map<std::uint32_t, Region> regions_;
  std::map<std::uint32_t, std::uint32_t> hoisted_; ///< sources, to the byte they moved to
  std::map<EmittedValue, std::string> values_;
  std::map<EmittedValue, std::vector<std::string>> kept_words_;
  std::map<std::uint32_t, std::string> addresses_;
  std::map<TestKey, std::string> wrap_predicates_;
  std::map<unsigned, Butterfly> butterflies_; ///< by the bits that differ
  unsigned halves_ = 0, words_ = 0, doubles_ = 0, predicates_ = 0;
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

void emit(const Module &module, const Function &function, const ControlFlowGraph &cfg,
          const Detection &detection, const LaunchFacts &facts, Variant variant,
          const std::string &prefix, Edits &edits) {
  Emitter(module, function, cfg, detection, facts, variant, prefix, edits).run();
}

} // namespace ptxasw
