// Faults as people read them: the place first, in the form of a compiler's messages.

#include "emulator/machine/warp_fault.h"

#include <fmt/core.h>

namespace ptxasw::emulator {

bool is_incomplete(FaultKind kind) {
  return kind == FaultKind::unsupported || kind == FaultKind::step_limit ||
         kind == FaultKind::memory_limit;
}

std::string_view to_string(FaultKind kind) {
  switch (kind) {
  case FaultKind::unsupported:
    return "unsupported";
  case FaultKind::out_of_bounds:
    return "out of bounds";
  case FaultKind::misaligned:
    return "misaligned";
  case FaultKind::uninitialized:
    return "uninitialized";
  case FaultKind::race:
    return "race";
  case FaultKind::same_value_race:
    return "same-value race";
  case FaultKind::divergent_barrier:
    return "divergent barrier";
  case FaultKind::barrier_mismatch:
    return "barrier mismatch";
  case FaultKind::lonely_arrival:
    return "lonely arrival";
  case FaultKind::missing_lane:
    return "missing lane";
  case FaultKind::deadlock:
    return "deadlock";
  case FaultKind::trap:
    return "trap";
  case FaultKind::assertion:
    return "assertion";
  case FaultKind::read_only:
    return "read-only";
  case FaultKind::bad_target:
    return "bad target";
  case FaultKind::bad_free:
    return "bad free";
  case FaultKind::step_limit:
    return "step limit";
  case FaultKind::memory_limit:
    return "memory limit";
  case FaultKind::bad_launch:
    return "bad launch";
  }
  return "";
}

std::string format_place(const WarpFault &fault) {
  return fmt::format("{}: line {}: lane {} (block {},{},{} thread {},{},{})", fault.kernel,
                     fault.line, fault.lane, fault.block[0], fault.block[1], fault.block[2],
                     fault.thread[0], fault.thread[1], fault.thread[2]);
}

std::string format(const WarpFault &fault) {
  return fmt::format("{}: {}: {}", fault.line == 0 ? fault.kernel : format_place(fault),
                     to_string(fault.kind), fault.message);
}

} // namespace ptxasw::emulator
