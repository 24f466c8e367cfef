// A kernel becomes three parts:
//
//	...                              what decides whether and with what this thread comes to
//	                                 the loop, from parameters and special registers
//	$stage0_at:                      it does: where the ranges begin, how many rounds there are
//	$stage0_met:                     here all threads of the block meet
//	...                              the first thread tells the others what it has found
//	barrier.red.and.pred %all, 0, %same;
//	@!%all bra $stage0_original;     not all come, or not with the same: as it was
//	...
//		$stage0_c3:              the kernel, its labels renamed; where a round begins:
//		@%left bra $stage0_go;   the tile has this round
//		barrier.sync 0;          all have done with the tile
//		...                      each thread loads some rounds of the next one
//		barrier.sync 0;
//	$stage0_go:
//		...
//		cvt.u32.u64 %r, %rd1;    in place of ld.global.f32 %f1, [%rd1+4];
//		add.u32 %r, %r, %shift0;
//		ld.shared.f32 %f1, [%r+36];
//	$stage0_original:
//	...                              the kernel, byte for byte
//
// An address of the kernel becomes one of the tile by adding what lies between the two, modulo
// 2^32.
//
// If the loop is in another one, what is asked at first is how many rounds that one has. Ranges and
// rounds are compared where the loop is entered, each time:
//
//	$stage0_enter:
//		...                      where the ranges begin, how many rounds there are
//		barrier.red.and.pred %all, 0, %same;
//	$stage0_c2:                      a round brings and reads a tile where that holds:
//		@%all ld.shared.f32 %f1, [%r+36];
//		@!%all ld.global.f32 %f1, [%rd1+4];

#include "synth/stage/script.h"

#include "grammar/code_writer.h"
#include "grammar/next.h"
#include "synth/stage/write.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::synth::stage {
namespace {

std::string first_of(std::size_t range) { return fmt::format("<w_first{}>", range); }

/// Where a branch of the kernel leads.
std::uint32_t target_of(const StageScript &script, const Instruction &branch) {
  const auto target = branch_target(script.module, script.kernel, branch);
  if (!target)
    throw proof::NotProved{"a branch of the kernel is not understood"};
  return *target;
}

} // namespace

void StageScript::tell() const {
  find_out();
  meet();
  copy();
  to.place("original");
}

void StageScript::find_out() const {
  to.line("mov.u32 <r_comes>, 0");
  for (std::size_t i = 0; i < staging.ranges.size(); ++i)
    to.line(fmt::format("mov.b64 {}, 0", first_of(i)));
  to.line("mov.b64 <w_rounds>, 0");
  const auto &repeated = staging.before.instructions;
  for (const BlockId block : staging.before.blocks) {
    to.place(fmt::format("b{}", block));
    const BasicBlock &one = cfg.blocks()[block];
    for (std::uint32_t i = one.first; i < one.end; ++i)
      if (std::binary_search(repeated.begin(), repeated.end(), i))
        repeat(kernel.instructions[i]);
    const Instruction &last = kernel.instructions[one.end - 1];
    if (last.guard != no_register || !is_way(module.opcode(last)))
      to.line(fmt::format("bra <${}>", way_to(one.end)));
  }
  to.place("at");
  if (staging.around)
    know("", 0, staging.around->conditions, staging.around->last);
  else
    know("", staging.ranges.size(), staging.conditions, staging.count);
}

/// Where a thread goes that goes to an instruction of the kernel before the loop, maybe past the
/// last one.
std::string StageScript::way_to(std::uint32_t instruction) const {
  if (instruction == staging.header)
    return "at";
  const auto &blocks = staging.before.blocks;
  const bool goes_on = instruction < kernel.instructions.size() &&
                       std::binary_search(blocks.begin(), blocks.end(), cfg.block_of(instruction));
  return goes_on ? fmt::format("b{}", cfg.block_of(instruction)) : "met";
}

void StageScript::repeat(const Instruction &one) const {
  if (!is_way(module.opcode(one))) {
    to.same(module.text(one.span));
    return;
  }
  const std::string place =
      module.opcode(one).op == Op::bra ? way_to(target_of(*this, one)) : "met";
  to.line(fmt::format("{}bra <${}>", guard_text(kernel, one), place));
}

void StageScript::meet() const {
  to.place("met");
  to.line("mov.u32 <r_thread>, %tid.z");
  to.line("mov.u32 <r_a>, %ntid.y");
  to.line("mov.u32 <r_b>, %tid.y");
  to.line("mad.lo.u32 <r_thread>, <r_thread>, <r_a>, <r_b>");
  to.line("mov.u32 <r_b>, %ntid.x");
  to.line("mul.lo.u32 <r_threads>, <r_a>, <r_b>");
  to.line("mov.u32 <r_a>, %tid.x");
  to.line("mad.lo.u32 <r_thread>, <r_thread>, <r_b>, <r_a>");
  to.line("mov.u32 <r_a>, %ntid.z");
  to.line("mul.lo.u32 <r_threads>, <r_threads>, <r_a>");
  compare(staging.around ? 0 : staging.ranges.size());
  to.line("@!<p_all> bra <$original>");
  if (!staging.around)
    begin();
}

/// Have all threads of the block the same?
void StageScript::compare(std::size_t ranges) const {
  to.line("setp.ne.u32 <p_test>, <r_thread>, 0");
  const auto told = [&](std::size_t i) { return i == ranges ? "<w_rounds>" : first_of(i); };
  for (std::size_t i = 0; i <= ranges; ++i)
    to.line(fmt::format("@!<p_test> st.shared.b64 [{}+{}], {}", tile, 8 * i, told(i)));
  to.line("barrier.sync 0");
  to.line("setp.gt.u32 <p_same>, <r_threads>, 1");
  to.line("setp.ne.u32 <p_test>, <r_comes>, 0");
  to.line("and.pred <p_same>, <p_same>, <p_test>");
  for (std::size_t i = 0; i <= ranges; ++i) {
    to.line(fmt::format("ld.shared.b64 <w_said>, [{}+{}]", tile, 8 * i));
    to.line(fmt::format("setp.eq.s64 <p_test>, <w_said>, {}", told(i)));
    to.line("and.pred <p_same>, <p_same>, <p_test>");
  }
  to.line("barrier.red.and.pred <p_all>, 0, <p_same>");
}

/// No round is in the tile yet.
void StageScript::begin() const {
  to.line("cvt.u32.u64 <r_rest>, <w_rounds>"); // at most facts::most_rounds + 1
  to.line(fmt::format("mov.u32 <r_base>, {}", tile));
  to.line("mov.u32 <r_left>, 0");
}

/// The way into a loop that is in another one.
void StageScript::enter() const {
  to.place("enter");
  know("in_", staging.ranges.size(), staging.conditions, staging.count);
  compare(staging.ranges.size());
  begin();
}

/// The next tile, where this one has no round left.
void StageScript::bring() const {
  if (staging.around)
    to.line("@!<p_all> bra <$go>");
  to.line("setp.ne.u32 <p_test>, <r_left>, 0");
  to.line("@<p_test> bra <$go>");
  to.line("barrier.sync 0");
  to.line(fmt::format("min.u32 <r_left>, <r_rest>, {}", staging.rounds));
  to.line("sub.u32 <r_rest>, <r_rest>, <r_left>");
  to.line("mov.u32 <r_k>, <r_thread>");
  to.line("setp.ge.u32 <p_test>, <r_k>, <r_left>");
  to.line("@<p_test> bra <$brought>");
  to.place("next");
  std::vector<std::string> stores;
  for (std::size_t i = 0; i < staging.ranges.size(); ++i) {
    const StagedRange &range = staging.ranges[i];
    to.line(fmt::format("mul.wide.u32 <w_from>, <r_k>, {}", range.step));
    to.line(fmt::format("add.s64 <w_from>, <w_from>, {}", first_of(i)));
    to.line(fmt::format("mad.lo.u32 <r_to{}>, <r_k>, {}, <r_base>", i, range.step));
    for (const StagedLoad &load : range.loads)
      if (is_first(range, load))
        stores.push_back(bring(i, load));
  }
  for (const std::string &store : stores)
    to.line(store);
  to.line("add.u32 <r_k>, <r_k>, <r_threads>");
  to.line("setp.lt.u32 <p_test>, <r_k>, <r_left>");
  to.line("@<p_test> bra <$next>");
  to.place("brought");
  for (std::size_t i = 0; i < staging.ranges.size(); ++i) {
    to.line(fmt::format("cvt.u32.u64 <r_low>, {}", first_of(i)));
    to.line(fmt::format("sub.u32 <r_shift{}>, <r_base>, <r_low>", i));
    to.line(fmt::format("mul.wide.u32 <w_from>, <r_left>, {}", staging.ranges[i].step));
    to.line(fmt::format("add.s64 {0}, {0}, <w_from>", first_of(i)));
  }
  to.line("barrier.sync 0");
  to.place("go");
  to.line("sub.u32 <r_left>, <r_left>, 1");
}

/// Loads what a load reads, and returns the store that keeps it.
std::string StageScript::bring(std::size_t range, const StagedLoad &load) const {
  const StagingOpcodes opcodes =
      staging_opcodes(module.opcode(kernel.instructions[load.instruction]));
  const char kind = opcodes.bits == 64 ? 'w' : opcodes.bits == 32 ? 'r' : 'h';
  std::string list;
  for (unsigned i = 0; i < opcodes.elements; ++i)
    list += fmt::format("{}<{}_v{}_{}>", i == 0 ? "" : ", ", kind, load.instruction, i);
  if (opcodes.elements > 1)
    list = "{" + list + "}";
  to.line(fmt::format("{} {}, [<w_from>+{}]", opcodes.load, list, load.offset));
  return fmt::format("{} [<r_to{}>+{}], {}", opcodes.store, range,
                     staging.ranges[range].place + load.offset, list);
}

void StageScript::copy() const {
  for (BlockId block = 0; block < cfg.blocks().size(); ++block) {
    const BasicBlock &one = cfg.blocks()[block];
    if (staging.around && one.first == staging.entry)
      enter();
    to.place(fmt::format("c{}", block));
    if (one.first == staging.round)
      bring();
    for (std::uint32_t i = one.first; i < one.end; ++i)
      copy(i);
  }
  // Control may come behind the last instruction.
  const Instruction &last = kernel.instructions.back();
  if (last.guard != no_register || !is_way(module.opcode(last)) ||
      std::any_of(kernel.labels.begin(), kernel.labels.end(), [&](const Label &label) {
        return label.position == kernel.instructions.size();
      })) {
    to.place("end");
    to.line("ret");
  }
}

void StageScript::copy(std::uint32_t i) const {
  const Instruction &one = kernel.instructions[i];
  for (std::size_t r = 0; r < staging.ranges.size(); ++r)
    for (const StagedLoad &load : staging.ranges[r].loads)
      if (load.instruction == i) {
        use(one, r);
        return;
      }
  if (module.opcode(one).op != Op::bra) {
    to.same(module.text(one.span));
    return;
  }
  const std::uint32_t target = target_of(*this, one);
  const std::string_view before = module.text({one.span.begin, module.operands(one)[0].span.begin});
  to.line(fmt::format("{}<${}>", before, copy_of(target, i)));
}

/// Where a branch of the kernel leads in its copy.
std::string StageScript::copy_of(std::uint32_t target, std::uint32_t branch) const {
  if (target >= kernel.instructions.size())
    return "end";
  if (staging.around && target == staging.entry &&
      !cfg.contains(staging.loop, cfg.block_of(branch)))
    return "enter";
  return fmt::format("c{}", cfg.block_of(target));
}

/// A load of the tile.
void StageScript::use(const Instruction &load, std::size_t range) const {
  const auto operands = module.operands(load);
  const Operand &base = module.children(operands[1])[0];
  if (base.kind != Operand::Kind::reg || base.selector != 0 || base.negated)
    throw proof::NotProved{"the kernel's address is not understood"};
  to.line(fmt::format("cvt.u32.u64 <r_low>, {}", kernel.registers[base.reg].name));
  to.line(fmt::format("add.u32 <r_low>, <r_low>, <r_shift{}>", range));
  to.line(fmt::format("{}{} {}, [<r_low>+{}]", staging.around ? "@<p_all> " : "",
                      staging_opcodes(module.opcode(load)).use, module.text(operands[0].span),
                      operands[1].value + std::int64_t{staging.ranges[range].place}));
  if (staging.around) {
    std::string_view own = module.text(load.span);
    own.remove_suffix(1); // its semicolon
    to.line(fmt::format("@!<p_all> {}", own));
  }
}

} // namespace ptxasw::synth::stage
