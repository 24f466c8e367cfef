// What an instruction starts and another one waits for (PTX ISA 9.7.9.25, 9.7.13.15).
//
// A cp.async happens when it is waited for, or, if the random schedule decides so, at once: a
// program that does not wait sees either. An mbarrier is a word of shared memory, as on a GPU,
// though of fields of our own: 20 bits of arrivals that are pending, 20 of those that a phase
// expects, 23 of bytes that are still to come, with a sign, and the phase.

#include "emulator/machine/warp_async.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::emulator {

struct AsyncUnit::Mbarrier {
  std::uint32_t pending = 0, expected = 0;
  std::int32_t transactions = 0;
  bool phase = false;
};

namespace {

constexpr std::uint32_t most_arrivals = (1 << 20) - 1;

/// What `arrive` gives: the phase, and how many arrivals it still lacked.
constexpr std::uint64_t state_of(bool phase, std::uint32_t pending) {
  return std::uint64_t{phase} << 63 | pending;
}

} // namespace

AsyncUnit::Mbarrier AsyncUnit::read_mbarrier(const WarpContext &context, unsigned lane,
                                             std::uint64_t address) {
  const std::uint64_t bits = memory_.read(context, lane, address, 8, StateSpace::shared);
  return {static_cast<std::uint32_t>(bits & most_arrivals),
          static_cast<std::uint32_t>(bits >> 20 & most_arrivals),
          static_cast<std::int32_t>(as_signed(bits >> 40 & mask64(23), 23)), bits >> 63 != 0};
}

// A phase ends when no arrival and no byte is missing anymore.
void AsyncUnit::write_mbarrier(const WarpContext &context, unsigned lane, std::uint64_t address,
                               Mbarrier barrier) {
  if (barrier.pending == 0 && barrier.transactions == 0) {
    if (run_.races)
      run_.races->order().end_phase(place_of(context, address));
    barrier.phase = !barrier.phase;
    barrier.pending = barrier.expected;
  }
  memory_.write(context, lane, address, 8, StateSpace::shared,
                barrier.pending | std::uint64_t{barrier.expected} << 20 |
                    (static_cast<std::uint64_t>(barrier.transactions) & mask64(23)) << 40 |
                    std::uint64_t{barrier.phase} << 63);
}

RunOrder::Place AsyncUnit::place_of(const WarpContext &context, std::uint64_t address) const {
  const auto [block, offset] = run_.shared_place(*context.warp->block, address);
  return {(block ? block : context.warp->block)->index + 1, window::shared + offset};
}

void AsyncUnit::order_by_mbarrier(const WarpContext &context, unsigned lane, std::uint64_t address,
                                  bool releases, bool relaxed) {
  if (!run_.races)
    return;
  if (releases)
    run_.races->order().arrive_at_mbarrier(context.moment(lane), place_of(context, address),
                                           relaxed);
  else if (!relaxed)
    run_.races->order().leave_mbarrier(context.moment(lane), place_of(context, address));
}

std::uint64_t AsyncUnit::arrive_at_mbarrier(const WarpContext &context, unsigned lane,
                                            std::uint64_t address, std::uint32_t count,
                                            std::int32_t transactions, bool drops, bool completes) {
  Mbarrier barrier = read_mbarrier(context, lane, address);
  const std::uint64_t state = state_of(barrier.phase, barrier.pending);
  if (count == 0 || count > barrier.pending || (!completes && count == barrier.pending))
    context.fail(FaultKind::deadlock, lane,
                 fmt::format("{} arrivals at an mbarrier that lacks {}", count, barrier.pending),
                 address);
  barrier.pending -= count;
  if (drops)
    barrier.expected -= std::min(count, barrier.expected);
  barrier.transactions += transactions;
  order_by_mbarrier(context, lane, address, true,
                    context.instruction->opcode->has(Modifier::relaxed));
  write_mbarrier(context, lane, address, barrier);
  return state;
}

void AsyncUnit::mbarrier(WarpContext &context, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  const Opcode &opcode = *in.opcode;
  const auto operand = [&](std::size_t index, unsigned lane) {
    return static_cast<std::uint32_t>(context.value(in.inputs[index], lane));
  };
  for_each_lane(mask, [&](unsigned lane) {
    if (opcode.has(Modifier::pending_count))
      return context.assign(in.outputs[0], lane, context.value(in.inputs[0], lane) & mask64(32), 32,
                            false);
    const std::uint64_t address = context.address(in.address, lane);
    if (opcode.has(Modifier::init)) {
      const std::uint32_t count = operand(0, lane);
      if (count == 0 || count > most_arrivals)
        context.fail(FaultKind::deadlock, lane, fmt::format("an mbarrier for {} arrivals", count),
                     address);
      if (run_.races)
        run_.races->order().start_mbarrier(place_of(context, address));
      return write_mbarrier(context, lane, address, {count, count, 0, false});
    }
    if (opcode.has(Modifier::inval))
      return memory_.write(context, lane, address, 8, StateSpace::shared, 0);
    if (opcode.has(Modifier::test_wait) || opcode.has(Modifier::try_wait)) {
      const bool phase = opcode.has(Modifier::parity) ? context.value(in.inputs[0], lane) & 1
                                                      : context.value(in.inputs[0], lane) >> 63;
      const bool done = read_mbarrier(context, lane, address).phase != phase;
      if (done)
        order_by_mbarrier(context, lane, address, false, opcode.has(Modifier::relaxed));
      else
        scheduler_.yield();
      return context.assign(in.outputs[0], lane, done, 1, false);
    }
    const bool arrives = opcode.has(Modifier::arrive) || opcode.has(Modifier::arrive_drop);
    if (!arrives) {
      Mbarrier barrier = read_mbarrier(context, lane, address);
      const auto bytes = static_cast<std::int32_t>(operand(0, lane));
      barrier.transactions += opcode.has(Modifier::expect_tx) ? bytes : -bytes;
      return write_mbarrier(context, lane, address, barrier);
    }
    const bool expects = opcode.has(Modifier::expect_tx);
    const std::uint32_t given = in.inputs.empty() ? 1 : operand(0, lane);
    const std::uint64_t state = arrive_at_mbarrier(
        context, lane, address, expects ? 1 : given, expects ? static_cast<std::int32_t>(given) : 0,
        opcode.has(Modifier::arrive_drop), !opcode.has(Modifier::noComplete));
    if (!in.outputs.empty())
      context.assign(in.outputs[0], lane, state, 64, false);
  });
}

// cp.async dst, src, bytes{, how many of them to read}{, ignore}: the rest is zeros.
void AsyncUnit::copy_async(WarpContext &context, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  if (mask != 0) { // all lanes copy as many bytes: the size is a constant of the instruction
    const auto bytes = static_cast<unsigned>(
        context.value(in.inputs[0], static_cast<unsigned>(std::countr_zero(mask))));
    memory_.note_access(context, mask, bytes, Pairing::never, in.second_address,
                        StateSpace::global);
    memory_.note_access(context, mask, bytes, Pairing::never, in.address, StateSpace::shared);
  }
  for_each_lane(mask, [&](unsigned lane) {
    PendingCopy copy;
    copy.lane = lane;
    copy.group = context.warp->copy_group[lane];
    copy.instruction = &in;
    copy.to = context.address(in.address, lane);
    copy.from = context.address(in.second_address, lane);
    copy.size = static_cast<std::uint32_t>(context.value(in.inputs[0], lane));
    copy.given = in.inputs.size() > 1
                     ? static_cast<std::uint32_t>(context.value(in.inputs[1], lane))
                     : copy.size;
    if (in.second_output.kind != WarpOperand::Kind::none &&
        (context.value(in.second_output, lane) & 1))
      copy.given = 0;
    if (copy.size != 4 && copy.size != 8 && copy.size != 16)
      context.fail(FaultKind::unsupported, lane, fmt::format("cp.async of {} bytes", copy.size));
    if (copy.given > copy.size)
      context.fail(FaultKind::out_of_bounds, lane,
                   fmt::format("cp.async reads {} bytes where it writes {}", copy.given, copy.size),
                   copy.from);
    if (!memory_.is_aligned(context, lane, copy.from, copy.size, "cp.async from memory") ||
        !memory_.is_aligned(context, lane, copy.to, copy.size, "cp.async to memory"))
      return;
    if (run_.options.schedule == WarpSchedule::random && run_.random.one_in(2))
      perform_copy(context, lane, copy);
    else
      context.warp->copies.push_back(copy);
  });
}

void AsyncUnit::perform_copy(const WarpContext &here, unsigned lane, const PendingCopy &copy) {
  WarpContext context = here; // what is wrong with a copy is so where it was issued
  context.instruction = copy.instruction;
  for (std::uint32_t i = 0; i < copy.size; ++i) {
    const std::uint64_t byte =
        i < copy.given ? memory_.read(context, lane, copy.from + i, 1, StateSpace::global) : 0;
    memory_.write(context, lane, copy.to + i, 1, StateSpace::shared, byte);
  }
  if (run_.options.reals)
    run_.options.reals->copy(context.real_space(lane, copy.from), copy.from,
                             context.real_space(lane, copy.to), copy.to, copy.given);
}

/// Those of a lane that belong to groups before one.
void AsyncUnit::complete_copies(const WarpContext &context, unsigned lane,
                                std::uint32_t before_group) {
  std::vector<PendingCopy> done;
  std::erase_if(context.warp->copies, [&](const PendingCopy &copy) {
    if (copy.lane != lane || copy.group >= before_group)
      return false;
    done.push_back(copy);
    return true;
  });
  for (const PendingCopy &copy : done)
    perform_copy(context, lane, copy);
}

void AsyncUnit::wait_for_copies(WarpContext &context, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  for_each_lane(mask, [&](unsigned lane) {
    std::uint32_t &group = context.warp->copy_group[lane];
    if (in.opcode->has(Modifier::commit_group)) {
      ++group;
    } else if (in.opcode->has(Modifier::wait_group)) {
      const auto left = static_cast<std::uint32_t>(context.value(in.inputs[0], lane));
      complete_copies(context, lane, group > left ? group - left : 0);
    } else {
      complete_copies(context, lane, ~0u);
      if (!in.opcode->has(Modifier::mbarrier))
        return;
      // Without .noinc the barrier is told to expect this one more, which changes nothing in the
      // end.
      const std::uint64_t address = context.address(in.address, lane);
      if (!in.opcode->has(Modifier::noinc)) {
        Mbarrier barrier = read_mbarrier(context, lane, address);
        ++barrier.pending;
        write_mbarrier(context, lane, address, barrier);
      }
      arrive_at_mbarrier(context, lane, address, 1, 0, false, true);
    }
  });
}

void AsyncUnit::complete_transactions(const WarpContext &context, unsigned lane,
                                      std::uint64_t address, std::uint64_t bytes) {
  Mbarrier barrier = read_mbarrier(context, lane, address);
  barrier.transactions -= static_cast<std::int32_t>(bytes);
  order_by_mbarrier(context, lane, address, true, false);
  write_mbarrier(context, lane, address, barrier);
}

} // namespace ptxasw::emulator
