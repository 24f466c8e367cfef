// A loop gets another one in front of it, entered in its place. For two iterations, registers
// shortened:
//
//	$loop:
//		add.s32 %a0, %r1, %r2;         what the ends of the iterations depend on
//		setp.lt.s32 %q0, %a0, %r3;
//		add.s32 %a1, %a0, %r2;
//		setp.lt.s32 %q1, %a1, %r3;
//		@!%q0 bra $rest;               is there a second one?
//		mul.wide.s32 %d0, %r1, 4;      the loads, with what they need, in order
//		add.s64 %d1, %rd1, %d0;
//		ld.global.f32 %b0, [%d1];
//		mul.wide.s32 %d2, %a0, 4;
//		add.s64 %d3, %rd1, %d2;
//		ld.global.f32 %b1, [%d3];
//		mov.b32 %f2, %b0;              the first, by the kernel's registers
//		add.f32 %f1, %f1, %f2;
//		mov.b32 %r1, %a0;
//		mov.b32 %f2, %b1;              the second
//		add.f32 %f1, %f1, %f2;
//		mov.b32 %r1, %a1;
//		mov.pred %p1, %q1;
//		@!%p1 bra $out;
//		bra.uni $loop;
//	$rest:
//		...                            the loop as it was
//		@%p1 bra $rest;
//
// Where fewer than K iterations are left, the loop as it was does them. An iteration is known to
// run if none of the branches is taken by which those before it can be left; where a load stands
// behind such a branch, that of the last iteration is tested, too. All of these are computed by the
// kernel's own instructions, so however the loop counts, and whatever wraps around, they are what
// the kernel will decide.

#include "synth/ahead/sites.h"

#include "grammar/code_writer.h"
#include "grammar/edits.h"
#include "grammar/pragmas.h"
#include "grammar/roles.h"

#include <fmt/core.h>
#include <map>

namespace ptxasw::synth::ahead {
namespace {

class Writer : OfKernel {
public:
  Writer(const KernelContext &context, unsigned iterations)
      : OfKernel(context), iterations_(iterations), name_(unused_prefix(module_.text(), "ahead")),
        fresh_(name_) {
    for (const Register &reg : kernel_.registers)
      own_.emplace_back(reg.name);
  }

  std::optional<std::string> run(const std::vector<AheadLoop> &loops) {
    for (std::size_t i = 0; i < loops.size(); ++i)
      write(loops[i], fmt::format("${}rest{}", name_, i));
    edits_.insert(kernel_.body.begin + 1, fresh_.declarations());
    return edits_.apply(module_.text());
  }

private:
  using Names = std::vector<std::string>; ///< by register of the kernel's

  const Instruction &done_in(const AheadLoop &loop, std::size_t step) const {
    return instruction(loop.steps[step].instruction);
  }

  void write(const AheadLoop &loop, const std::string &rest) {
    out_ = {};
    results_.assign(iterations_, std::vector<Names>(loop.steps.size()));
    bases_.assign(iterations_, Names(loop.steps.size()));
    early(loop, Early::test);
    for (unsigned k = 0; k < iterations_; ++k)
      for (const Exit &exit : loop.exits)
        if (is_tested(loop, exit, k))
          leave(loop, exit, results_[k][exit.step][0], rest);
    early(loop, Early::address);
    for (unsigned k = 0; k < iterations_; ++k)
      for (const Meeting &meeting : loop.meetings)
        for (unsigned j = 0; j < k + (meeting.store < meeting.load ? 1 : 0); ++j)
          leave_where_they_meet(loop, meeting, k, j, rest);
    early(loop, Early::load);
    for (unsigned k = 0; k < iterations_; ++k)
      iteration(loop, k);
    const Operand &back = operands(loop.back)[0];
    out_.write("bra.uni {}", module_.text(back.span));
    out_.place(rest);
    edits_.insert(end_of_labels(kernel_, loop.header), "\n\t" + out_.piece());
    edits_.replace(back.span, rest);
  }

  /// Returns true if it is known before the loads that the loop is not left by this branch.
  bool is_tested(const AheadLoop &loop, const Exit &exit, unsigned iteration) const {
    return iteration + 1 < iterations_ || exit.step < loop.last_load;
  }

  void leave(const AheadLoop &loop, const Exit &exit, std::string_view predicate,
             std::string_view target) {
    out_.write("@{}{} bra {}", exit.when_taken != done_in(loop, exit.step).guard_negated ? "" : "!",
               predicate, target);
  }

  /// To the loop as it was if a load of one iteration reads what a store of another one writes
  /// before it: if load - store is from 1 - the load's bytes to the store's bytes - 1.
  void leave_where_they_meet(const AheadLoop &loop, const Meeting &meeting, unsigned load,
                             unsigned store, std::string_view rest) {
    const Instruction &from = done_in(loop, meeting.load), &to = done_in(loop, meeting.store);
    const std::int64_t loaded = module_.opcode(from).bytes(), stored = module_.opcode(to).bytes();
    const std::int64_t further =
        address_in(module_, from)->value - address_in(module_, to)->value + loaded - 1;
    const std::string distance = fresh_("b64"), moved = fresh_("b64"), predicate = fresh_("pred");
    out_.write("sub.s64 {}, {}, {}", distance, bases_[load][meeting.load],
               bases_[store][meeting.store]);
    out_.write("add.s64 {}, {}, {}", moved, distance, further);
    out_.write("setp.lt.u64 {}, {}, {}", predicate, moved, loaded + stored - 1);
    out_.write("@{} bra {}", predicate, rest);
  }

  /// What all iterations do of that kind, on registers of its own.
  void early(const AheadLoop &loop, Early kind) {
    Renaming names{own_, {}, {}, own_};
    for (unsigned k = 0; k < iterations_; ++k)
      for (std::size_t i = 0; i < loop.steps.size(); ++i) {
        const Instruction &one = done_in(loop, i);
        Names &results = results_[k][i];
        for (const Meeting &meeting : loop.meetings)
          if (kind == Early::address && (meeting.load == i || meeting.store == i))
            bases_[k][i] = names.registers[meeting.load == i ? meeting.from : meeting.to];
        if (one.guard != no_register && module_.opcode(one).op == Op::bra && kind == Early::test)
          results = {names.registers[one.guard]};
        if (loop.steps[i].early == Early::no || loop.steps[i].early > kind)
          continue;
        const std::vector<RegisterId> written = written_registers(module_, one);
        if (loop.steps[i].early == kind) {
          for (const RegisterId reg : written)
            results.push_back(names.written[reg] =
                                  fresh_(std::string(to_string(kernel_.registers[reg].type))));
          out_.clone(module_, one, names);
        }
        for (std::size_t j = 0; j < written.size(); ++j)
          names.registers[written[j]] = results[j];
      }
  }

  /// One iteration by the kernel's registers: what was early is copied.
  void iteration(const AheadLoop &loop, unsigned k) {
    auto exit = loop.exits.begin();
    for (std::size_t i = 0; i < loop.steps.size(); ++i) {
      const Instruction &one = done_in(loop, i);
      if (exit != loop.exits.end() && exit->step == i) {
        if (!is_tested(loop, *exit, k))
          leave(loop, *exit, own_[one.guard], outside(*exit, one));
        ++exit;
      } else if (module_.opcode(one).op == Op::bra) {
        continue; // to what follows
      } else if (loop.steps[i].early == Early::no) {
        out_.add(module_.text(one.span));
      } else {
        const std::vector<RegisterId> written = written_registers(module_, one);
        for (std::size_t j = 0; j < written.size(); ++j)
          out_.write("mov.{} {}, {}", copied_as(kernel_.registers[written[j]].type),
                     own_[written[j]], results_[k][i][j]);
      }
    }
  }

  /// The name of where a loop is left to.
  std::string outside(const Exit &exit, const Instruction &branch) {
    if (exit.when_taken)
      return std::string(module_.text(module_.operands(branch)[0].span));
    const std::uint32_t first = block(exit.out).first;
    for (const Label &label : kernel_.labels)
      if (label.position == first && label.scope == 0)
        return std::string(label.name);
    const auto [found, added] = outside_.try_emplace(exit.out);
    if (!added)
      return found->second;
    found->second = fmt::format("${}out{}", name_, outside_.size() - 1);
    edits_.insert(begin_with_pragmas(kernel_, first), found->second + ":\n\t");
    return found->second;
  }

  const unsigned iterations_;
  const std::string name_;
  NewRegisters fresh_;
  CodeWriter out_; ///< what comes before one loop
  Names own_;
  Edits edits_;
  /// By iteration and step: what holds its results, in the order in which it writes them; of a
  /// branch its predicate.
  std::vector<std::vector<Names>> results_;
  std::vector<Names> bases_; ///< by iteration and step, the register of an address
  std::map<BlockId, std::string> outside_;
};

} // namespace

std::optional<std::string> write_ahead_loops(const KernelContext &context,
                                             const std::vector<AheadLoop> &loops,
                                             unsigned iterations) {
  return Writer(context, iterations).run(loops);
}

} // namespace ptxasw::synth::ahead
