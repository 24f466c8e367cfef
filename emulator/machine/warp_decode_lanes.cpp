// Decoding of what lanes do together: shuffles, votes, barriers, products of matrices.

#include "emulator/machine/warp_decode.h"

#include <utility>

namespace ptxasw::emulator {

void WarpDecoder::decode_collective() {
  const Opcode &opcode = *out_.opcode;
  const Op op = opcode.op;
  std::span<const Operand> rest = operands_;
  const auto take_output = [&] {
    if (rest.empty())
      return refuse("this form");
    if (rest[0].kind == Operand::Kind::pair) {
      const auto pair = module_.children(rest[0]);
      out_.outputs = {output(pair[0])};
      out_.second_output = output(pair[1]);
    } else {
      out_.outputs = {output(rest[0])};
    }
    rest = rest.subspan(1);
  };
  out_.form.form = decode(opcode);
  ScalarType type = opcode.type == ScalarType::none ? ScalarType::u32 : opcode.type;
  if (op == Op::activemask) {
    out_.action = WarpAction::active_mask;
    take_output();
    return;
  }
  if (op == Op::bar || op == Op::barrier) {
    if (opcode.has(Modifier::cluster)) {
      out_.action = WarpAction::cluster_barrier;
      return;
    }
    if (opcode.has(Modifier::warp)) {
      out_.action = WarpAction::warp_sync;
    } else {
      out_.action = WarpAction::barrier;
      if (opcode.has(Modifier::red))
        take_output();
    }
    type = ScalarType::u32;
  } else {
    if (!opcode.has(Modifier::sync))
      return refuse("forms without .sync");
    take_output();
    out_.action = op == Op::shfl    ? WarpAction::shuffle
                  : op == Op::vote  ? WarpAction::vote
                  : op == Op::match ? WarpAction::match
                  : op == Op::redux ? WarpAction::reduce
                                    : WarpAction::elect;
    if (op == Op::redux && is_float(type))
      return refuse("floating-point types");
  }
  for (const Operand &operand : rest)
    out_.inputs.push_back(input(operand, type));
  const std::size_t wanted = op == Op::shfl                                    ? 4
                             : is_one_of(op, {Op::vote, Op::match, Op::redux}) ? 2
                                                                               : 1;
  if (out_.inputs.size() < wanted)
    refuse("too few operands");
}

void WarpDecoder::decode_matrix_operation() {
  auto [operation, refusal] = decode_matrix(*out_.opcode);
  if (!refusal.empty())
    return refuse(std::move(refusal));
  using What = MatrixOperation::Kind;
  out_.action = WarpAction::matrix;
  out_.space = out_.opcode->space;
  const What what = operation.kind;
  const bool stores = what == What::store || what == What::wmma_store || what == What::store_bytes;
  const bool loads = what == What::load || what == What::wmma_load || what == What::load_bytes;
  const ScalarType type =
      operation.arithmetic.a == MatrixType::f64 ? ScalarType::b64 : ScalarType::b32;
  const auto add = [&](std::size_t at, bool is_output, unsigned count) {
    const std::span<const Operand> all = operands_[at].kind == Operand::Kind::vector
                                             ? module_.children(operands_[at])
                                             : operands_.subspan(at, 1);
    if (all.size() != count)
      refuse("another number of registers");
    for (const Operand &operand : all)
      add_pieces(operand, is_output, type, is_output ? out_.outputs : out_.inputs);
  };
  const std::size_t usual = loads || stores || what == What::transpose ? 2 : 4;
  const std::size_t scales = operation.scales != 0 ? 4 : 0;
  const bool has_stride =
      operands_.size() == 3 && (what == What::wmma_load || what == What::wmma_store);
  if (operands_.size() != usual + scales + (has_stride ? 1 : 0))
    return refuse("this form");
  if (loads || stores)
    out_.address = address(operands_[loads ? 1 : 0], out_.space);
  const unsigned moved = what == What::load_bytes ? operation.count * (operation.transposed ? 2 : 1)
                         : what == What::load || what == What::store || what == What::store_bytes
                             ? operation.count
                         : loads || stores ? operation.registers(operation.fragment)
                                           : 1;
  if (loads || what == What::transpose)
    add(0, true, moved);
  if (stores || what == What::transpose)
    add(1, false, moved);
  if (has_stride)
    out_.second_output = input(operands_[2], ScalarType::u32);
  if (usual == 4) {
    add(0, true, operation.registers('d'));
    for (const char which : {'a', 'b', 'c'})
      add(static_cast<std::size_t>(which - 'a') + 1, false, operation.registers(which));
  }
  // The scales of a and of b, with {which byte, which lanes}.
  for (std::size_t i = usual; i < usual + scales; i += 2) {
    const auto selectors = module_.children(operands_[i + 1]);
    if (operands_[i + 1].kind != Operand::Kind::vector || selectors.size() != 2)
      return refuse("this form");
    const std::span<const Operand> scale = operands_[i].kind == Operand::Kind::vector
                                               ? module_.children(operands_[i])
                                               : operands_.subspan(i, 1);
    if (scale.size() != 1)
      return refuse("this form");
    for (const Operand &operand : {scale[0], selectors[0], selectors[1]})
      out_.inputs.push_back(input(operand, ScalarType::u32));
  }
  out_.matrix = std::make_shared<const MatrixOperation>(operation);
}

} // namespace ptxasw::emulator
