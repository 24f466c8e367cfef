// The proof of a kernel whose halo is staged, from its text and the kernel's.
//
// What of the kernel can be staged is asked for anew (sites.h), but that says only when loads may
// be done earlier and by others. That each load finds what it would have read is tried, for all
// threads of the one shape of blocks that the version is for. The text is then read from its
// beginning to its end; registers that it adds may have any names, but everything else must be what
// follows.
//
// 1. Blocks of another shape run the kernel as it is: all their threads leave at the beginning.
//
// 2. What comes first has no effect on anything that the kernel knows of: it writes its own
//    registers, its own shared memory, and registers of the kernel's that the kernel, which begins
//    anew behind it, has not written yet. All threads come to `met`: what is before it goes forward
//    only. A thread has comes = 1 there if, and only if, the kernel would lead it to the last of
//    the loads without going around a loop; its registers then hold the addresses that the loads
//    will have, and it has brought to the tile what some of these read, by the kernel's own
//    addresses. So nothing is read that the same thread would not read.
//
// 3. Behind the first barrier each thread that comes compares. Let a(t) be a group's base in thread
//    t = (x, y, z) of the block, and p, q what lies between the bases of the first thread and of
//    the next ones along y and z. `same` holds if
//
//      a(t) = a(0) + x * element + y * p + z * q          modulo 2^64
//
//    and if all other registers from which the group's loads go are as far from a(t) as the law
//    says, in bytes and in multiples of p and q. `all` holds if that is so in all threads of the
//    block, and all come; the barrier gives one answer to the block. Then a load with offset
//    (i, j, k) reads the element at a(0) + c + (x + i) * element + (y + j) * p + (z + k) * q, where
//    c is the same for the group. It is called by its three numbers (x + i, y + j, z + k): which
//    thread reads or brings which element is known without any address. tile_fault() goes through
//    all threads: each place of the tile is written once, by one thread, and at each load of each
//    thread the place from which it takes its value has the element of these numbers.
//
//    The law says that nobody writes these elements in between (sites.cpp), and behind the second
//    barrier all of it is there.
//
// 4. Where `all` holds, the kernel's instructions follow up to the last of the loads, block by
//    block along the ways on which each thread has found to come there, loads of the tile in the
//    place of those that are staged. Wherever a way leaves these blocks, it goes on in the kernel
//    itself, at the instruction to which it leads; behind the last load, too.
//
// 5. The kernel follows instruction by instruction, its labels where they were; others are there
//    only for what comes from the part before it.
//
//    No register that is added is the kernel's, so the kernel's instructions do what they did.

#include "synth/halo/halo.h"

#include "synth/beside/text_reader.h"
#include "synth/halo/tile.h"
#include "synth/halo/write.h"
#include "synth/same_launch.h"
#include "synth/stage/write.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace ptxasw::inline synth::halo {
namespace {

using beside::NotProved;
using beside::plain_text;

void show(bool holds, const char *why) {
  if (!holds)
    throw NotProved{why};
}

class HaloProof {
public:
  HaloProof(const Module &before, const Function &kernel, const Module &after,
            const Function &staged, const Halo &halo)
      : before_(before), kernel_(kernel), after_(after), staged_(staged), halo_(halo),
        cfg_(before, kernel), reader_(after, staged, kernel) {}

  void run() {
    check_plan();
    check_frame();
    ask_for_shape();
    find_out();
    bring();
    meet();
    go();
    reader_.place("original");
    if (reader_.position() != behind_)
      reader_.fail("the kernel does not follow");
    reader_.check_places();
  }

private:
  /// Every load is one that all threads do once on their way to the last, from a register that is
  /// compared, and what is staged of each group lies apart.
  void check_plan() const {
    std::uint32_t end = place_of_base(halo_.groups.size(), 0);
    for (const Group &group : halo_.groups) {
      show(group.first >= end && group.first % 16 == 0 && group.bytes <= 16 &&
               group.row % group.bytes == 0 && group.plane % group.bytes == 0,
           "groups are in each other's way");
      end = group.first + group.size;
      const std::string fault = tile_fault(group, halo_.block);
      show(fault.empty(), fault.c_str());
      for (const HaloLoad &load : group.loads)
        check_load(group, load);
    }
    show(end <= halo_.size, "groups are in each other's way");
  }

  void check_load(const Group &group, const HaloLoad &load) const {
    const BlockId block = cfg_.block_of(load.instruction), last = cfg_.block_of(halo_.end - 1);
    show(cfg_.dominates(block, last) && (block == last ? load.instruction < halo_.end
                                                       : stage::goes_forward(cfg_, block, last)),
         "not all threads come to a load");
    const HaloLoad &first = group.loads[0];
    const auto distance = [&](const HaloLoad &one, Extents3 &steps) {
      const Operand &address = before_.operands(kernel_.instructions[one.instruction])[1];
      const RegisterId reg = before_.children(address)[0].reg;
      steps = {};
      if (reg == group.base)
        return address.value;
      for (const Related &related : group.related)
        if (related.reg == reg) {
          steps = {0, related.y, related.z};
          return related.distance + address.value;
        }
      throw NotProved{"an address is not compared"};
    };
    Extents3 own = {}, from = {};
    const std::int64_t bytes = distance(load, own) - distance(first, from);
    show(bytes == std::int64_t{load.offset[0] - first.offset[0]} * group.bytes &&
             own[1] - from[1] == load.offset[1] - first.offset[1] &&
             own[2] - from[2] == load.offset[2] - first.offset[2],
         "a load has another offset");
    const Opcode &opcode = before_.opcode(kernel_.instructions[load.instruction]);
    show(bit_width(opcode.type) / 8 * opcode.vector == group.bytes, "a load has another width");
  }

  /// Around what was added it is the kernel, and what was added has names of its own.
  void check_frame() {
    show(staged_.instructions.size() > kernel_.instructions.size() && staged_.scopes.size() == 1 &&
             staged_.target_lists.empty(),
         "it has another shape");
    behind_ = static_cast<std::uint32_t>(staged_.instructions.size() - kernel_.instructions.size());
    tile_ = beside::added_tile(before_, kernel_, after_, staged_, halo_.size);
    for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i)
      show(before_.text(kernel_.instructions[i].span) ==
               after_.text(staged_.instructions[behind_ + i].span),
           "the kernel does not follow");
    for (const Label &label : kernel_.labels)
      show(std::any_of(staged_.labels.begin(), staged_.labels.end(),
                       [&](const Label &one) {
                         return one.name == label.name && one.position == label.position + behind_;
                       }),
           "a label of the kernel is elsewhere");
    Function moved = staged_;
    for (Pragma &pragma : moved.pragmas) {
      show(pragma.position >= behind_, "it has other pragmas");
      pragma.position -= behind_;
    }
    const std::string fault = same_launch_header_fault(before_, kernel_, after_, moved);
    show(fault.empty(), fault.c_str());
  }

  void expect(std::string_view pattern) { reader_.expect(pattern); }
  static std::string base(std::size_t group) { return fmt::format("<w_base{}>", group); }
  static std::string own(std::size_t group) { return fmt::format("<r_own{}>", group); }
  static std::string step(std::size_t group, int axis) {
    return fmt::format("<w_step{}_{}>", group, axis);
  }
  static std::string number(int axis) { return fmt::format("<r_{}>", "xyz"[axis]); }
  int extent(int axis) const { return halo_.block[static_cast<std::size_t>(axis)]; }

  void ask_for_shape() {
    for (int axis = 0; axis < 3; ++axis) {
      expect(fmt::format("mov.u32 <r_extent>, %ntid.{}", "xyz"[axis]));
      expect(fmt::format("setp.ne.u32 <p_test>, <r_extent>, {}", extent(axis)));
      expect("@<p_test> bra <$original>");
    }
    for (int axis = 0; axis < 3; ++axis)
      if (axis == 0 || extent(axis) > 1)
        expect(fmt::format("mov.u32 {}, %tid.{}", number(axis), "xyz"[axis]));
  }

  BlockId last() const { return cfg_.block_of(halo_.end - 1); }
  std::uint32_t end_of(BlockId block) const {
    return block == last() ? halo_.end : cfg_.blocks()[block].end;
  }
  bool falls_through(const BasicBlock &block) const {
    const Instruction &one = kernel_.instructions[block.end - 1];
    return one.guard != no_register || !stage::is_way(before_.opcode(one));
  }

  /// The block on the ways to which it goes from another one; nothing if it leaves them.
  std::optional<BlockId> way_to(BlockId from, std::uint32_t instruction) const {
    if (instruction >= kernel_.instructions.size())
      return std::nullopt;
    const BlockId to = cfg_.block_of(instruction);
    const auto &blocks = halo_.before.blocks;
    const bool stays = std::binary_search(blocks.begin(), blocks.end(), to) &&
                       stage::goes_forward(cfg_, from, to) &&
                       cfg_.blocks()[to].first == instruction;
    return stays ? std::optional(to) : std::nullopt;
  }

  std::string found_by(BlockId from, std::uint32_t instruction) const {
    const auto to = way_to(from, instruction);
    return to ? fmt::format("b{}", *to) : "met";
  }

  /// Where the kernel's branch leads.
  std::uint32_t target_of(const Instruction &branch) const {
    const auto operands = before_.operands(branch);
    if (operands.size() == 1 && operands[0].kind == Operand::Kind::symbol && operands[0].value == 0)
      if (const Label *label = kernel_.find_label(before_.symbol(operands[0]).name, 0))
        return label->position;
    reader_.fail("a branch of the kernel is not understood");
  }

  void expect_same(const Instruction &one) {
    if (before_.text(one.span) != after_.text(reader_.next().span))
      reader_.fail("not the kernel's instruction");
  }

  void find_out() {
    expect("mov.u32 <r_comes>, 0");
    for (std::size_t g = 0; g < halo_.groups.size(); ++g)
      expect(fmt::format("mov.b64 {}, 0", base(g)));
    const auto &repeated = halo_.before.instructions;
    for (const BlockId block : halo_.before.blocks) {
      reader_.place(fmt::format("b{}", block));
      const BasicBlock &one = cfg_.blocks()[block];
      for (std::uint32_t i = one.first; i < end_of(block); ++i)
        if (std::binary_search(repeated.begin(), repeated.end(), i))
          repeat(block, kernel_.instructions[i]);
      if (block == last())
        expect("bra <$at>");
      else if (falls_through(one))
        expect("bra <$" + found_by(block, one.end) + ">");
    }
  }

  void repeat(BlockId block, const Instruction &one) {
    const Op op = before_.opcode(one).op;
    if (!stage::is_way(before_.opcode(one))) {
      expect_same(one);
      return;
    }
    const std::string guard = one.guard == no_register
                                  ? ""
                                  : fmt::format("@{}{} ", one.guard_negated ? "!" : "",
                                                kernel_.registers[one.guard].name);
    expect(guard + "bra <$" + (op == Op::bra ? found_by(block, target_of(one)) : "met") + ">");
  }

  void bring() {
    reader_.place("at");
    std::vector<std::string> stores;
    for (std::size_t g = 0; g < halo_.groups.size(); ++g) {
      const Group &group = halo_.groups[g];
      expect(fmt::format("mov.b64 {}, {}", base(g), kernel_.registers[group.base].name));
      expect(fmt::format("mov.u32 {}, {}", own(g), tile_));
      const std::uint32_t steps[] = {group.bytes, group.row, group.plane};
      for (int axis = 0; axis < 3; ++axis)
        if (axis == 0 || extent(axis) > 1)
          expect(fmt::format("mad.lo.u32 {0}, {1}, {2}, {0}", own(g), number(axis), steps[axis]));
      for (std::size_t b = 0; b < group.brings.size(); ++b)
        stores.push_back(bring(g, b));
    }
    for (const std::string &store : stores)
      expect(store);
    expect("mov.u32 <r_comes>, 1");
  }

  std::string bring(std::size_t g, std::size_t b) {
    const Group &group = halo_.groups[g];
    const HaloLoad &load = group.loads[group.brings[b].load];
    const Instruction &one = kernel_.instructions[load.instruction];
    const stage::StagingOpcodes opcodes = stage::staging_opcodes(before_.opcode(one));
    const std::string guard = when(group.brings[b], fmt::format("<p_when{}_{}>", g, b));
    const char kind = opcodes.bits == 64 ? 'w' : opcodes.bits == 32 ? 'r' : 'h';
    std::string list;
    for (unsigned i = 0; i < opcodes.elements; ++i)
      list += fmt::format("{}<{}_v{}_{}_{}>", i == 0 ? "" : ", ", kind, g, b, i);
    if (opcodes.elements > 1)
      list = "{" + list + "}";
    const Operand &address = before_.operands(one)[1];
    expect(fmt::format("{}{} {}, [{}+{}]", guard, opcodes.load, list,
                       kernel_.registers[before_.children(address)[0].reg].name, address.value));
    return fmt::format("{}{} [{}+{}], {}", guard, opcodes.store, own(g), group.first + load.place,
                       list);
  }

  std::string when(const Bring &bring, const std::string &name) {
    std::string to = name;
    for (const auto &any : bring.when) {
      show(!any.empty(), "a condition is empty");
      std::string test = to;
      for (const Comparison &one : any) {
        expect(fmt::format("setp.{}.u32 {}, {}, {}", one.below ? "lt" : "ge", test,
                           number(one.axis), one.limit));
        if (test != to)
          expect(fmt::format("or.pred {0}, {0}, {1}", to, test));
        test = "<p_test>";
      }
      if (to != name)
        expect(fmt::format("and.pred {0}, {0}, {1}", name, to));
      to = "<p_any>";
    }
    return bring.when.empty() ? "" : "@" + name + " ";
  }

  void meet() {
    reader_.place("met");
    expect("mov.u32 <r_number>, <r_x>");
    const int threads[] = {0, extent(0), extent(0) * extent(1)}; // of the next along each axis
    for (int axis = 1; axis < 3; ++axis)
      if (extent(axis) > 1)
        expect(
            fmt::format("mad.lo.u32 <r_number>, {}, {}, <r_number>", number(axis), threads[axis]));
    for (int axis = 0; axis < 3; ++axis) {
      if (axis > 0 && extent(axis) == 1)
        continue;
      expect(fmt::format("setp.eq.u32 <p_test>, <r_number>, {}", threads[axis]));
      for (std::size_t g = 0; g < halo_.groups.size(); ++g)
        expect(fmt::format("@<p_test> st.shared.b64 [{}+{}], {}", tile_, place_of_base(g, axis),
                           base(g)));
    }
    expect("barrier.sync 0");
    expect("setp.ne.u32 <p_same>, <r_comes>, 0");
    expect("@!<p_same> bra <$asked>");
    for (std::size_t g = 0; g < halo_.groups.size(); ++g)
      compare(g);
    reader_.place("asked");
    expect("barrier.red.and.pred <p_all>, 0, <p_same>");
    expect("@!<p_all> bra <$original>");
  }

  void compare(std::size_t g) {
    const Group &group = halo_.groups[g];
    expect(fmt::format("ld.shared.b64 <w_said>, [{}+{}]", tile_, place_of_base(g, 0)));
    expect(fmt::format("mul.wide.u32 <w_must>, <r_x>, {}", group.bytes));
    expect("add.s64 <w_must>, <w_must>, <w_said>");
    for (int axis = 1; axis < 3; ++axis)
      if (extent(axis) > 1) {
        expect(
            fmt::format("ld.shared.b64 {}, [{}+{}]", step(g, axis), tile_, place_of_base(g, axis)));
        expect(fmt::format("sub.s64 {0}, {0}, <w_said>", step(g, axis)));
        expect(fmt::format("cvt.u64.u32 <w_wide>, {}", number(axis)));
        expect(fmt::format("mad.lo.s64 <w_must>, {}, <w_wide>, <w_must>", step(g, axis)));
      }
    expect_equal(base(g));
    for (const Related &one : group.related) {
      show((one.y == 0 || extent(1) > 1) && (one.z == 0 || extent(2) > 1),
           "there are no threads along that axis");
      expect(fmt::format("add.s64 <w_must>, {}, {}", base(g), one.distance));
      for (int axis = 1; axis < 3; ++axis)
        if (const int steps = axis == 1 ? one.y : one.z; steps != 0)
          expect(fmt::format("mad.lo.s64 <w_must>, {}, {}, <w_must>", step(g, axis), steps));
      expect_equal(std::string(kernel_.registers[one.reg].name));
    }
  }

  void expect_equal(const std::string &what) {
    expect("setp.eq.s64 <p_test>, <w_must>, " + what);
    expect("and.pred <p_same>, <p_same>, <p_test>");
  }

  void go() {
    for (const BlockId block : halo_.before.blocks) {
      reader_.place(fmt::format("s{}", block));
      const BasicBlock &one = cfg_.blocks()[block];
      for (std::uint32_t i = one.first; i < end_of(block); ++i)
        copy(block, i);
      if (block == last()) {
        expect("bra <$behind>");
        reader_.place("behind", behind_ + halo_.end);
      } else if (falls_through(one)) {
        expect("bra <$" + goes_to(block, one.end) + ">");
      }
    }
    if (runs_out_) {
      reader_.place("end");
      expect("ret");
    }
  }

  std::string goes_to(BlockId from, std::uint32_t instruction) {
    if (const auto to = way_to(from, instruction))
      return fmt::format("s{}", *to);
    if (instruction >= kernel_.instructions.size()) {
      runs_out_ = true;
      return "end";
    }
    std::string name = fmt::format("k{}", instruction);
    reader_.place(name, behind_ + instruction);
    return name;
  }

  void copy(BlockId block, std::uint32_t i) {
    const Instruction &one = kernel_.instructions[i];
    for (std::size_t g = 0; g < halo_.groups.size(); ++g)
      for (const HaloLoad &load : halo_.groups[g].loads)
        if (load.instruction == i) {
          expect(fmt::format("{} {}, [{}+{}]", stage::staging_opcodes(before_.opcode(one)).use,
                             plain_text(before_.text(before_.operands(one)[0].span)), own(g),
                             halo_.groups[g].first + load.place));
          return;
        }
    if (before_.opcode(one).op != Op::bra) {
      expect_same(one);
      return;
    }
    const Operand &to = before_.operands(one)[0];
    expect(plain_text(before_.text({one.span.begin, to.span.begin})) + " <$" +
           goes_to(block, target_of(one)) + ">");
  }

  const Module &before_;
  const Function &kernel_;
  const Module &after_;
  const Function &staged_;
  const Halo &halo_;
  const ControlFlowGraph cfg_;
  beside::TextReader reader_;
  std::string_view tile_;
  std::uint32_t behind_ = 0; ///< so many instructions come before the kernel
  bool runs_out_ = false;
};

} // namespace
} // namespace ptxasw::synth::halo

namespace ptxasw::inline synth {

std::string prove_halo_of(const Module &before, const Function &kernel, const Module &after,
                          const Function &staged, std::string_view variant) {
  std::optional<facts::KernelFacts> facts;
  const halo::HaloAnswer answer = halo::halo_of(before, kernel, halo::shape_of(variant), facts);
  if (answer.found.empty())
    return answer.refusals.empty() ? "there is nothing to stage"
                                   : std::string(answer.refusals[0].meaning);
  try {
    halo::HaloProof(before, kernel, after, staged, answer.found[0]).run();
  } catch (const beside::NotProved &stop) {
    return stop.why;
  }
  return "";
}

} // namespace ptxasw::synth
