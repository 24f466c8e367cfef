// The proof of loads ahead: kernel and version run beside each other (synth/prove/walk.h), and
// must do the same loads, with all else that can be seen, in the same order. What the version may
// have besides is branches of its own, by predicates that it alone has: they decide nothing but
// what it computes ahead. Such a predicate is computed from the same registers by the same
// instructions as the one by which the kernel will go on or leave the loop, so it is the same term,
// and once the version has branched by it, it is decided for the kernel, too. Where it is not, the
// kernel's own branch is walked both ways while the version goes on to its next load, which is not
// the kernel's on one of them, and the proof ends.
//
// So whatever a thread of the version loads, the kernel's thread loads, too, from the same place,
// and in the same order; only what is computed from it, which nobody sees, comes later.

#include "synth/ahead/ahead.h"

#include "emulator/semantics/effects.h"
#include "synth/prove/walk.h"
#include "synth/same_launch.h"

#include <set>
#include <string_view>

namespace ptxasw::inline synth {
namespace {

/// Lets the other function branch by registers of its own, and leaves out nothing.
class OwnBranches : public proof::Omissions {
public:
  OwnBranches(const proof::Side &kernel, const proof::Side &other) {
    std::set<std::string_view> own;
    for (const Register &reg : kernel.function.registers)
      own.insert(reg.name);
    for (RegisterId reg = 0; reg < other.function.registers.size(); ++reg)
      if (!own.contains(other.function.registers[reg].name))
        added_.insert(reg);
  }

  std::size_t values() const override { return 0; }
  void went(std::uint32_t, std::uint32_t, proof::Knowledge &) override {}
  void done(std::uint32_t, const proof::Knowledge &, proof::Knowledge &) override {}
  bool tests(RegisterId reg) const override { return added_.contains(reg); }
  bool leave_out(std::uint32_t, proof::Knowledge &) override { return false; }
  bool lags() const override { return true; }

private:
  std::set<RegisterId> added_;
};

} // namespace

std::string prove_loads_ahead(const Module &before, const Function &kernel, const Module &after,
                              const Function &changed) {
  return proof::prove_same(before, kernel, after, changed,
                           [](const proof::Side &own, const proof::Side &other, std::size_t) {
                             return std::make_unique<OwnBranches>(own, other);
                           });
}

} // namespace ptxasw::synth
