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
// If the loop is in another one, what is asked at first is how many iterations that one has. Ranges
// and iterations are compared where the loop is entered, each time:
//
//	$stage0_enter:
//		...                      where the ranges begin, how many rounds there are
//		barrier.red.and.pred %all, 0, %same;
//	$stage0_c2:                      a round brings and reads a tile where that holds:
//		@%all ld.shared.f32 %f1, [%r+36];
//		@!%all ld.global.f32 %f1, [%rd1+4];

#include "synth/stage/stage.h"

#include "grammar/code_writer.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>
#include <fmt/core.h>
#include <fmt/ranges.h>

namespace ptxasw::synth::stage {
namespace {

std::string first_of(std::size_t range) { return fmt::format("<w_first{}>", range); }

class StageScript : OfKernel {
public:
  StageScript(const KernelContext &context, const Staging &staging, Script &to,
              const KnowLoop &know)
      : OfKernel(context), staging_(staging), tile_(to.prefix + "tile"), to_(to), know_(know) {}

  void tell() const {
    find_out();
    meet();
    copy();
    to_.place("original");
  }

private:
  /// Where a branch of the kernel leads, whose control flow is understood.
  std::uint32_t target_of(const Instruction &branch) const {
    return branch_target(module_, kernel_, branch).value();
  }

  void find_out() const {
    to_.line("mov.u32 <r_comes>, 0");
    for (std::size_t i = 0; i < staging_.ranges.size(); ++i)
      to_.line(fmt::format("mov.b64 {}, 0", first_of(i)));
    to_.line("mov.b64 <w_rounds>, 0");
    for (const auto &[id, repeated] : staging_.before) {
      to_.place(fmt::format("b{}", id));
      for (const std::uint32_t i : repeated)
        repeat(instruction(i));
      if (const std::uint32_t end = block(id).end; falls_through(module_, instruction(end - 1)))
        to_.line(fmt::format("bra <${}>", way_to(end)));
    }
    to_.place("at");
    know_("", staging_.ranges_at_first(), staging_.at_first());
  }

  /// Where a thread goes that goes to an instruction of the kernel before the loop, maybe past the
  /// last one.
  std::string way_to(std::uint32_t i) const {
    if (i == staging_.header)
      return "at";
    return i < count() && staging_.before.contains(cfg().block_of(i))
               ? fmt::format("b{}", cfg().block_of(i))
               : "met";
  }

  void repeat(const Instruction &one) const {
    if (!is_way(module_.opcode(one)))
      return to_.same(module_.text(one.span));
    const std::string place = module_.opcode(one).op == Op::bra ? way_to(target_of(one)) : "met";
    to_.line(fmt::format("{}bra <${}>", guard_text(kernel_, one), place));
  }

  void meet() const {
    to_.place("met");
    to_.line("mov.u32 <r_thread>, %tid.z");
    to_.line("mov.u32 <r_a>, %ntid.y");
    to_.line("mov.u32 <r_b>, %tid.y");
    to_.line("mad.lo.u32 <r_thread>, <r_thread>, <r_a>, <r_b>");
    to_.line("mov.u32 <r_b>, %ntid.x");
    to_.line("mul.lo.u32 <r_threads>, <r_a>, <r_b>");
    to_.line("mov.u32 <r_a>, %tid.x");
    to_.line("mad.lo.u32 <r_thread>, <r_thread>, <r_b>, <r_a>");
    to_.line("mov.u32 <r_a>, %ntid.z");
    to_.line("mul.lo.u32 <r_threads>, <r_threads>, <r_a>");
    compare(staging_.ranges_at_first());
    to_.line("@!<p_all> bra <$original>");
    if (!staging_.around)
      begin();
  }

  /// Have all threads of the block the same?
  void compare(std::size_t ranges) const {
    to_.line("setp.ne.u32 <p_test>, <r_thread>, 0");
    const auto told = [&](std::size_t i) { return i == ranges ? "<w_rounds>" : first_of(i); };
    for (std::size_t i = 0; i <= ranges; ++i)
      to_.line(fmt::format("@!<p_test> st.shared.b64 [{}+{}], {}", tile_, 8 * i, told(i)));
    to_.line("barrier.sync 0");
    to_.line("setp.gt.u32 <p_same>, <r_threads>, 1");
    to_.line("setp.ne.u32 <p_test>, <r_comes>, 0");
    to_.line("and.pred <p_same>, <p_same>, <p_test>");
    for (std::size_t i = 0; i <= ranges; ++i) {
      to_.line(fmt::format("ld.shared.b64 <w_said>, [{}+{}]", tile_, 8 * i));
      to_.line(fmt::format("setp.eq.s64 <p_test>, <w_said>, {}", told(i)));
      to_.line("and.pred <p_same>, <p_same>, <p_test>");
    }
    to_.line("barrier.red.and.pred <p_all>, 0, <p_same>");
  }

  /// No iteration is in the tile_ yet.
  void begin() const {
    to_.line("cvt.u32.u64 <r_rest>, <w_rounds>"); // at most facts::most_rounds + 1
    to_.line(fmt::format("mov.u32 <r_base>, {}", tile_));
    to_.line("mov.u32 <r_left>, 0");
  }

  /// The way into a loop that is in another one.
  void enter() const {
    to_.place("enter");
    know_("in_", staging_.ranges.size(), staging_.own);
    compare(staging_.ranges.size());
    begin();
  }

  /// The next tile_, where this one has no iteration left.
  void bring() const {
    if (staging_.around)
      to_.line("@!<p_all> bra <$go>");
    to_.line("setp.ne.u32 <p_test>, <r_left>, 0");
    to_.line("@<p_test> bra <$go>");
    to_.line("barrier.sync 0");
    to_.line(fmt::format("min.u32 <r_left>, <r_rest>, {}", staging_.rounds));
    to_.line("sub.u32 <r_rest>, <r_rest>, <r_left>");
    to_.line("mov.u32 <r_k>, <r_thread>");
    to_.line("setp.ge.u32 <p_test>, <r_k>, <r_left>");
    to_.line("@<p_test> bra <$brought>");
    to_.place("next");
    std::vector<std::string> stores;
    for (std::size_t i = 0; i < staging_.ranges.size(); ++i) {
      const StagedRange &range = staging_.ranges[i];
      to_.line(fmt::format("mul.wide.u32 <w_from>, <r_k>, {}", range.step));
      to_.line(fmt::format("add.s64 <w_from>, <w_from>, {}", first_of(i)));
      to_.line(fmt::format("mad.lo.u32 <r_to{}>, <r_k>, {}, <r_base>", i, range.step));
      for (const StagedLoad &load : range.loads)
        if (is_first(range, load))
          stores.push_back(bring(i, load));
    }
    for (const std::string &store : stores)
      to_.line(store);
    to_.line("add.u32 <r_k>, <r_k>, <r_threads>");
    to_.line("setp.lt.u32 <p_test>, <r_k>, <r_left>");
    to_.line("@<p_test> bra <$next>");
    to_.place("brought");
    for (std::size_t i = 0; i < staging_.ranges.size(); ++i) {
      to_.line(fmt::format("cvt.u32.u64 <r_low>, {}", first_of(i)));
      to_.line(fmt::format("sub.u32 <r_shift{}>, <r_base>, <r_low>", i));
      to_.line(fmt::format("mul.wide.u32 <w_from>, <r_left>, {}", staging_.ranges[i].step));
      to_.line(fmt::format("add.s64 {0}, {0}, <w_from>", first_of(i)));
    }
    to_.line("barrier.sync 0");
    to_.place("go");
    to_.line("sub.u32 <r_left>, <r_left>, 1");
  }

  /// Loads what a load reads, and returns the store that keeps it.
  std::string bring(std::size_t range, const StagedLoad &load) const {
    const Opcode &own = opcode(load.instruction);
    const unsigned bits = bit_width(own.type);
    std::vector<std::string> elements;
    for (unsigned i = 0; i < own.vector; ++i)
      elements.push_back(fmt::format("<{}_v{}_{}>",
                                     bits == 64   ? 'w'
                                     : bits == 32 ? 'r'
                                                  : 'h',
                                     load.instruction, i));
    const std::string list =
        own.vector == 1 ? elements[0] : fmt::format("{{{}}}", fmt::join(elements, ", "));
    to_.line(fmt::format(
        "ld{}{}{}.b{} {}, [<w_from>+{}]", own.space == StateSpace::global ? ".global" : "",
        own.has(Modifier::nc) ? ".nc" : "", vector_of(own), bits, list, load.offset));
    return fmt::format("st.shared{}.b{} [<r_to{}>+{}], {}", vector_of(own), bits, range,
                       staging_.ranges[range].place + load.offset, list);
  }

  static std::string vector_of(const Opcode &load) {
    return load.vector == 1 ? "" : fmt::format(".v{}", load.vector);
  }

  void copy() const {
    for (BlockId id = 0; id < cfg().blocks().size(); ++id) {
      const BasicBlock &one = block(id);
      if (staging_.around && one.first == staging_.entry)
        enter();
      to_.place(fmt::format("c{}", id));
      if (one.first == staging_.round)
        bring();
      for (std::uint32_t i = one.first; i < one.end; ++i)
        copy(i);
    }
    // Control may come behind the last instruction.
    const Instruction &last = kernel_.instructions.back();
    if (falls_through(module_, last) ||
        std::any_of(kernel_.labels.begin(), kernel_.labels.end(),
                    [&](const Label &label) { return label.position == count(); })) {
      to_.place("end");
      to_.line("ret");
    }
  }

  void copy(std::uint32_t i) const {
    const Instruction &one = instruction(i);
    for (std::size_t r = 0; r < staging_.ranges.size(); ++r)
      for (const StagedLoad &load : staging_.ranges[r].loads)
        if (load.instruction == i)
          return use(one, r);
    if (module_.opcode(one).op != Op::bra)
      return to_.same(module_.text(one.span));
    const std::uint32_t target = target_of(one);
    const std::string_view before =
        module_.text({one.span.begin, module_.operands(one)[0].span.begin});
    to_.line(fmt::format("{}<${}>", before, copy_of(target, i)));
  }

  /// Where a branch of the kernel leads in its copy.
  std::string copy_of(std::uint32_t target, std::uint32_t branch) const {
    if (target >= count())
      return "end";
    if (staging_.around && target == staging_.entry &&
        !cfg().contains(staging_.loop, cfg().block_of(branch)))
      return "enter";
    return fmt::format("c{}", cfg().block_of(target));
  }

  /// A load of the tile_.
  void use(const Instruction &load, std::size_t range) const {
    const auto operands = module_.operands(load);
    const RegisterId base = module_.children(operands[1])[0].reg;
    to_.line(fmt::format("cvt.u32.u64 <r_low>, {}", kernel_.registers[base].name));
    to_.line(fmt::format("add.u32 <r_low>, <r_low>, <r_shift{}>", range));
    const Opcode &own = module_.opcode(load);
    to_.line(fmt::format("{}ld.shared{}.{} {}, [<r_low>+{}]", staging_.around ? "@<p_all> " : "",
                         vector_of(own), to_string(own.type), module_.text(operands[0].span),
                         operands[1].value + std::int64_t{staging_.ranges[range].place}));
    if (staging_.around)
      to_.same(to_.filled("@!<p_all> ").append(module_.text(load.span)));
  }

  const Staging &staging_;
  const std::string tile_; ///< the variable in shared memory
  Script &to_;
  const KnowLoop &know_;
};

} // namespace

void tell_staged(const KernelContext &context, const Staging &staging, Script &to,
                 const KnowLoop &know) {
  StageScript(context, staging, to, know).tell();
}

} // namespace ptxasw::synth::stage
