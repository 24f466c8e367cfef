// Code generation (paper, section 5.2), with the guards of soundness.md.
//
// For a load D whose value the lane N up holds (N < 0: shfl.sync.up), with S its source:
//
//     once a kernel     mov.u32 below, %laneid;          how many lanes of D's row lie below and
//                       ...                              above this one in the warp (rule 8)
//     after S           mov.b32 copy, S's register;      (rule 10)
//     after the index   setp.lt.s32 wrap, index, ...;    where index + N might wrap (rule 3)
//     in D's place      activemask.b32 mask;
//                       setp.ne.s32 corner, mask, -1;    all 32 lanes, or none use it (rule 9)
//                       setp.lt.or.u32 corner, below, -N, corner;
//                       (setp.ne.or.s64 corner, D's address - S's address, expected, corner;)
//                       shfl.sync.up.b32 D's register, copy, -N, 0, mask;
//                       @corner ld ...                   D's own address, nothing else (rule 11)
//
// In a block of one dimension a lane's row is its warp, and `below` is the lane itself.

#include "synth/emit.h"

#include <fmt/core.h>

#include <cstdlib>
#include <map>
#include <set>

namespace ptxasw {
namespace {

class Emitter {
public:
  Emitter(const Module &module, const Function &function, const Detection &detection,
          const LaunchFacts &facts, Variant variant, const std::string &prefix, Edits &edits)
      : module_(module), function_(function), detection_(detection), facts_(facts),
        variant_(variant), prefix_(prefix), edits_(edits) {}

  void run() {
    for (const Reuse &reuse : detection_.reuses)
      emit_copy(reuse);
    for (const Reuse &reuse : detection_.reuses)
      if (reuse.delta != 0 && variant_ == Variant::full)
        for (const WrapTest &test : reuse.wrap_tests)
          emit_wrap_test(test);
    for (const Reuse &reuse : detection_.reuses)
      emit_load(reuse);
    emit_prologue();
  }

private:
  std::string new_register() { return fmt::format("{}r{}", prefix_, registers_++); }
  std::string new_predicate() { return fmt::format("{}p{}", prefix_, predicates_++); }

  const Instruction &instruction(std::uint32_t index) const {
    return function_.instructions[index];
  }
  std::string_view destination(std::uint32_t index) const {
    return module_.text(module_.operands(instruction(index))[0].span);
  }

  void insert_after(std::uint32_t index, const std::string &text) {
    edits_.insert(instruction(index).span.end, "\n\t" + text);
  }

  void emit_copy(const Reuse &reuse) {
    std::string &copy = copies_[reuse.source];
    if (!copy.empty())
      return;
    copy = new_register();
    insert_after(reuse.source, fmt::format("mov.b32 {}, {};", copy, destination(reuse.source)));
  }

  // The source's base register, for the address tests of the loads it serves.
  const std::string &address_copy(std::uint32_t source) {
    std::string &copy = address_copies_[source];
    if (copy.empty()) {
      copy = fmt::format("{}a{}", prefix_, addresses_++);
      insert_after(source, fmt::format("mov.b64 {}, {};", copy, base_register(source)));
    }
    return copy;
  }
  const Operand &address(std::uint32_t index) const {
    return module_.operands(instruction(index))[1];
  }
  std::string_view base_register(std::uint32_t index) const {
    return module_.text(module_.children(address(index))[0].span);
  }

  using TestKey = std::tuple<std::uint32_t, RegisterId, bool, std::int64_t>;
  static TestKey key(const WrapTest &test) {
    return {test.where.instruction, test.where.reg, test.is_signed, test.offset};
  }

  // value + offset leaves the range: above its end for a positive offset, below for a negative one.
  void emit_wrap_test(const WrapTest &test) {
    std::string &predicate = wrap_predicates_[key(test)];
    if (!predicate.empty())
      return;
    predicate = new_predicate();
    const std::string_view name = function_.registers[test.where.reg].name;
    const bool up = test.offset > 0;
    const std::int64_t bound = test.is_signed
                                   ? (up ? INT32_MAX - test.offset : INT32_MIN - test.offset)
                                   : (up ? UINT32_MAX - test.offset : -test.offset);
    insert_after(test.where.instruction,
                 fmt::format("setp.{}.{} {}, {}, {};", up ? "gt" : "lt",
                             test.is_signed ? "s32" : "u32", predicate, name, bound));
  }

  void emit_load(const Reuse &reuse) {
    const Instruction &load = instruction(reuse.load);
    // A guard that is written and still lets the load be shuffled is known to hold: without it.
    const std::string_view text = module_.text({load.opcode_span.begin, load.span.end});
    const std::string_view to = destination(reuse.load);
    const std::string &copy = copies_.at(reuse.source);
    if (reuse.delta == 0 || variant_ == Variant::no_load) {
      // The guard, if there is one, stays.
      const std::string_view guard = module_.text({load.span.begin, load.opcode_span.begin});
      edits_.replace(load.span, fmt::format("{}mov.b32 {}, {};", guard, to, copy));
      return;
    }
    const bool up = reuse.delta < 0;
    const int distance = std::abs(reuse.delta);
    const std::string mask = new_register();
    std::string code = fmt::format("activemask.b32 {};", mask);
    if (variant_ == Variant::no_corner) {
      code += shuffle(to, copy, up, distance, mask);
      edits_.replace(load.span, code);
      return;
    }
    const std::string corner = new_predicate();
    code += fmt::format("\n\tsetp.ne.s32 {}, {}, -1;", corner, mask);
    (up ? uses_below_ : uses_above_) = true;
    code += fmt::format("\n\tsetp.lt.or.u32 {0}, {1}, {2}, {0};", corner,
                        prefix_ + (up ? "below" : "above"), distance);
    std::set<std::string> tests;
    for (const WrapTest &test : reuse.wrap_tests)
      tests.insert(wrap_predicates_.at(key(test)));
    for (const std::string &test : tests)
      code += fmt::format("\n\tor.pred {0}, {0}, {1};", corner, test);
    if (reuse.address_distance) {
      const std::string difference = fmt::format("{}a{}", prefix_, addresses_++);
      const std::int64_t expected =
          *reuse.address_distance + address(reuse.source).value - address(reuse.load).value;
      code += fmt::format("\n\tsub.s64 {0}, {1}, {2};\n\tsetp.ne.or.s64 {3}, {0}, {4}, {3};",
                          difference, base_register(reuse.load), address_copy(reuse.source), corner,
                          expected);
    }
    const Operand &base = module_.children(address(reuse.load))[0];
    if (base.kind == Operand::Kind::reg && base.reg == module_.operands(load)[0].reg) {
      // The load overwrites its own address: the shuffle must not do so before it.
      const std::string value = new_register();
      code += shuffle(value, copy, up, distance, mask);
      code += fmt::format("\n\t@{} {}", corner, text);
      code += fmt::format("\n\t@!{} mov.b32 {}, {};", corner, to, value);
    } else {
      code += shuffle(to, copy, up, distance, mask);
      code += fmt::format("\n\t@{} {}", corner, text);
    }
    edits_.replace(load.span, code);
  }

  static std::string shuffle(std::string_view to, std::string_view from, bool up, int distance,
                             std::string_view mask) {
    return fmt::format("\n\tshfl.sync.{}.b32 {}, {}, {}, {}, {};", up ? "up" : "down", to, from,
                       distance, up ? 0 : 31, mask);
  }

  // Declarations, and what is computed once: lanes of this row below and above this lane.
  void emit_prologue() {
    std::string code;
    if (uses_below_ || uses_above_) {
      const std::string lane = new_register();
      const bool rows = !facts_.whole_warps();
      std::string tid, ntid;
      code += fmt::format("\n\tmov.u32 {}, %laneid;", lane);
      if (rows) {
        tid = new_register();
        code += fmt::format("\n\tmov.u32 {}, %tid.x;", tid);
      }
      if (uses_below_) {
        named_registers_ += fmt::format("\n\t.reg .b32 {}below;", prefix_);
        code += rows ? fmt::format("\n\tmin.u32 {}below, {}, {};", prefix_, lane, tid)
                     : fmt::format("\n\tmov.u32 {}below, {};", prefix_, lane);
      }
      if (uses_above_) {
        named_registers_ += fmt::format("\n\t.reg .b32 {}above;", prefix_);
        code += fmt::format("\n\tsub.s32 {}above, 31, {};", prefix_, lane);
        if (rows) {
          ntid = new_register();
          code += fmt::format(
              "\n\tmov.u32 {0}, %ntid.x;\n\tsub.s32 {0}, {0}, {1};\n\tadd.s32 {0}, {0}, -1;"
              "\n\tmin.u32 {2}above, {2}above, {0};",
              ntid, tid, prefix_);
        }
      }
    }
    std::string declarations = std::move(named_registers_);
    if (registers_ > 0)
      declarations += fmt::format("\n\t.reg .b32 {}r<{}>;", prefix_, registers_);
    if (addresses_ > 0)
      declarations += fmt::format("\n\t.reg .b64 {}a<{}>;", prefix_, addresses_);
    if (predicates_ > 0)
      declarations += fmt::format("\n\t.reg .pred {}p<{}>;", prefix_, predicates_);
    edits_.insert(function_.body.begin + 1, declarations + code);
  }

  const Module &module_;
  const Function &function_;
  const Detection &detection_;
  const LaunchFacts &facts_;
  const Variant variant_;
  const std::string &prefix_;
  Edits &edits_;
  std::map<std::uint32_t, std::string> copies_;
  std::map<std::uint32_t, std::string> address_copies_;
  std::map<TestKey, std::string> wrap_predicates_;
  std::string named_registers_;
  unsigned registers_ = 0;
  unsigned addresses_ = 0;
  unsigned predicates_ = 0;
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

void emit(const Module &module, const Function &function, const Detection &detection,
          const LaunchFacts &facts, Variant variant, const std::string &prefix, Edits &edits) {
  Emitter(module, function, detection, facts, variant, prefix, edits).run();
}

} // namespace ptxasw
