#pragma once

// Translation validation (Pnueli, Siegel, Singerman 1998) of a kernel rewritten in its place, by a
// bisimulation of the two texts (a product program): each thread does what it did, in that order.
//   if (const Proved proved = prove_same(before, kernel, after, other); !proved) proved.error().why

#include "synth/prove/not_proved.h"
#include "synth/prove/side.h"

#include <functional>
#include <memory>
#include <string>

namespace ptxasw::proof {

/// Which loads of the kernel the other function may leave out, as told by whoever knows what they
/// would read. What it keeps is among Knowledge::values and becomes less where ways meet, as what
/// is known of registers does.
class Omissions {
public:
  virtual ~Omissions() = default;
  /// How many values it keeps, behind those of all registers.
  virtual std::size_t values() const { return 0; }
  /// The kernel goes from one instruction to another; `from` is no_index where it begins.
  virtual void went(std::uint32_t, std::uint32_t, Knowledge &) {}
  /// Both have done an instruction of the kernel.
  virtual void done(std::uint32_t, const Knowledge & /*before*/, Knowledge & /*known*/) {}
  /// The kernel alone does an instruction: what it reads is known. False: it is not.
  virtual bool leave_out(std::uint32_t, Knowledge &) { return false; }
};

/// Makes one for the kernel and the other function; `first` is the index of its first value.
using MakeOmissions = std::function<std::unique_ptr<Omissions>(
    const Side &kernel, const Side &other, std::size_t first)>;

/// What the other function may do that the kernel does not. With either, it may branch by registers
/// that it alone has.
struct Liberties {
  /// It may do weak loads before what stands in front of them, if nothing there writes their bytes,
  /// and computes later, by the same instructions, what the kernel has computed: what values were
  /// made from is then kept as it is written, and for longer.
  bool loads_ahead = false;
  /// It may leave out loads; null: none.
  MakeOmissions omissions = {};
};

/// Proves that a kernel that was rewritten in its place does what it did, for the same launch. Both
/// functions may be of one module.
Proved prove_same(const Module &before, const Function &kernel, const Module &after,
                  const Function &other, const Liberties &liberties = {});

} // namespace ptxasw::proof
