// Decoding of what accesses memory: loads, stores, atomics, asynchronous copies, mbarriers.

#include "emulator/machine/warp_decode.h"

#include "emulator/semantics/effects.h"

#include <array>
#include <fmt/core.h>
#include <utility>

namespace ptxasw::emulator {
namespace {

constexpr std::array atomic_operations{
    std::pair{Modifier::add, AtomicOperation::add},
    std::pair{Modifier::and_, AtomicOperation::bit_and},
    std::pair{Modifier::or_, AtomicOperation::bit_or},
    std::pair{Modifier::xor_, AtomicOperation::bit_xor},
    std::pair{Modifier::min, AtomicOperation::min},
    std::pair{Modifier::max, AtomicOperation::max},
    std::pair{Modifier::inc, AtomicOperation::increment},
    std::pair{Modifier::dec, AtomicOperation::decrement},
    std::pair{Modifier::exch, AtomicOperation::exchange},
    std::pair{Modifier::cas, AtomicOperation::compare_and_swap},
};

} // namespace

AtomicOperation atomic_operation(const Opcode &opcode) {
  AtomicOperation result = AtomicOperation::none;
  for (const auto &[modifier, operation] : atomic_operations)
    if (opcode.has(modifier))
      result = operation;
  return result;
}

void WarpDecoder::decode_memory() {
  const Opcode &opcode = *out_.opcode;
  if (opcode.has(Modifier::async))
    return decode_async_access();
  if (opcode.has(Modifier::bulk))
    return decode_store_zeros();
  const bool is_load = opcode.op == Op::ld || opcode.op == Op::ldu;
  const bool is_store = opcode.op == Op::st, is_atom = opcode.op == Op::atom;
  out_.action = is_load ? WarpAction::load : is_store ? WarpAction::store : WarpAction::atomic;
  out_.space = opcode.space;
  const bool is_wide = opcode.type == ScalarType::b128 && !is_atom && opcode.op != Op::red;
  const unsigned width = is_wide ? 64 : bit_width(opcode.type);
  if (width < 8 || width > 64)
    return refuse("this type");
  if (!is_known(opcode))
    return refuse(fmt::format("`{}`, of which a word is not known,", opcode.text));
  if (opcode.has(Modifier::mmio))
    return refuse("memory of devices");
  out_.element = static_cast<std::uint8_t>(width / 8);
  out_.width = static_cast<std::uint8_t>(width);
  out_.sign_extends = is_signed(opcode.type);
  out_.weak = (is_load || is_store) && !opcode.has(Modifier::volatile_) &&
              !opcode.has(Modifier::relaxed) && !opcode.has(Modifier::acquire) &&
              !opcode.has(Modifier::release);
  out_.is_volatile = opcode.has(Modifier::volatile_);
  out_.read_only = is_load && (opcode.has(Modifier::nc) || opcode.op == Op::ldu);
  out_.form.form = decode(opcode);
  const auto elements = [&](const Operand &operand) {
    return operand.kind == Operand::Kind::vector ? module_.children(operand)
                                                 : std::span<const Operand>(&operand, 1);
  };
  const std::size_t address_at = is_load || is_atom ? 1 : 0;
  if (operands_.size() < 2)
    return refuse("this form");
  out_.address = address(operands_[address_at], out_.space);
  if (address_at == 1)
    for (const Operand &operand : elements(operands_[0]))
      add_pieces(operand, true, opcode.type, out_.outputs);
  if (is_load)
    return check_call_parameter(out_.outputs.size());
  for (std::size_t i = address_at + 1; i < operands_.size(); ++i)
    for (const Operand &operand : elements(operands_[i]))
      add_pieces(operand, false, opcode.type, out_.inputs);
  if (is_store)
    check_call_parameter(out_.inputs.size());
  else
    decode_atomic();
}

// A frame's parameters are read and written without another look at the address.
void WarpDecoder::check_call_parameter(std::size_t elements) {
  const auto bytes = static_cast<std::int64_t>(elements * out_.element);
  if (out_.address.call_parameter && (out_.address.offset < std::int64_t{parameter_.begin} ||
                                      out_.address.offset > parameter_.end - bytes))
    refuse("an address outside of the parameter that it names");
}

void WarpDecoder::decode_atomic() {
  const Opcode &opcode = *out_.opcode;
  out_.atomic = atomic_operation(opcode);
  if (out_.atomic == AtomicOperation::none)
    refuse("this operation");
  const bool floating = is_float(opcode.type);
  if (floating && out_.atomic != AtomicOperation::add && out_.atomic != AtomicOperation::exchange &&
      out_.atomic != AtomicOperation::min && out_.atomic != AtomicOperation::max)
    refuse("this operation on this type");
  if (out_.inputs.size() < (out_.atomic == AtomicOperation::compare_and_swap ? 2u : 1u) ||
      out_.inputs.size() < opcode.vector)
    refuse("too few operands");
  if (opcode.vector != 1 && !out_.outputs.empty() && out_.outputs.size() != opcode.vector)
    refuse("this form");
  out_.form.opcode = &opcode;
  out_.form.mode = {};
}

// cp.async and cp.async.bulk (PTX ISA 9.7.9.25).
void WarpDecoder::decode_copy() {
  const Opcode &opcode = *out_.opcode;
  if (opcode.has(Modifier::bulk))
    return decode_bulk_copy();
  if (opcode.has(Modifier::mbarrier)) {
    out_.action = WarpAction::copy_wait;
    if (operands_.size() != 1)
      return refuse("this form");
    out_.address = address(operands_[0], StateSpace::shared);
    out_.weak = false;
    return;
  }
  if (opcode.has(Modifier::commit_group) || opcode.has(Modifier::wait_group) ||
      opcode.has(Modifier::wait_all)) {
    out_.action = WarpAction::copy_wait;
    if (opcode.has(Modifier::wait_group)) {
      if (operands_.size() != 1)
        return refuse("this form");
      out_.inputs = {input(operands_[0], ScalarType::u32)};
    }
    return;
  }
  out_.action = WarpAction::copy_async;
  if (operands_.size() < 3 || operands_[2].kind != Operand::Kind::integer)
    return refuse("this form");
  out_.address = address(operands_[0], StateSpace::shared);
  out_.second_address = address(operands_[1], StateSpace::global);
  out_.inputs = {input(operands_[2], ScalarType::u32)};
  if (operands_.size() > 3 && !(opcode.has(Modifier::L2_cache_hint) && operands_.size() == 4)) {
    const bool is_predicate = operands_[3].kind == Operand::Kind::reg &&
                              operands_[3].reg != no_register &&
                              function_.registers[operands_[3].reg].type == ScalarType::pred;
    if (is_predicate) // the source is ignored, zeros are written
      out_.second_output = input(operands_[3], ScalarType::pred);
    else
      out_.inputs.push_back(input(operands_[3], ScalarType::u32));
  }
}

// mbarrier (PTX ISA 9.7.13.15).
void WarpDecoder::decode_mbarrier() {
  const Opcode &opcode = *out_.opcode;
  out_.action = WarpAction::mbarrier;
  out_.weak = false;
  std::span<const Operand> rest = operands_;
  const bool has_result = opcode.has(Modifier::arrive) || opcode.has(Modifier::arrive_drop) ||
                          opcode.has(Modifier::test_wait) || opcode.has(Modifier::try_wait) ||
                          opcode.has(Modifier::pending_count);
  if (has_result && !rest.empty() && rest[0].kind != Operand::Kind::address) {
    out_.outputs = {output(rest[0])};
    rest = rest.subspan(1);
  }
  if (opcode.has(Modifier::pending_count)) {
    if (rest.size() != 1)
      return refuse("this form");
    out_.inputs = {input(rest[0], ScalarType::b64)};
    return;
  }
  if (rest.empty())
    return refuse("this form");
  out_.address = address(rest[0], StateSpace::shared);
  for (const Operand &operand : rest.subspan(1))
    out_.inputs.push_back(input(operand, ScalarType::u64));
  const bool waits = opcode.has(Modifier::test_wait) || opcode.has(Modifier::try_wait);
  if ((opcode.has(Modifier::init) || waits || opcode.has(Modifier::expect_tx) ||
       opcode.has(Modifier::complete_tx)) &&
      out_.inputs.empty())
    refuse("this form");
  if (waits && out_.outputs.empty())
    refuse("this form");
}

} // namespace ptxasw::emulator
