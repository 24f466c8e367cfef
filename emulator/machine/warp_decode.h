#pragma once

// The decoder of the warp emulator: from PTX to WarpInstruction, once for each program. An
// instruction that it does not understand is refused when it is executed, with the reason.

#include "emulator/machine/warp_program.h"
#include "emulator/semantics/parameter_layout.h"

namespace ptxasw::emulator {

/// What the modifiers of an atomic say that it does.
AtomicOperation atomic_operation(const Opcode &opcode);

/// Addresses that do not depend on the thread.
struct StaticLayout {
  std::unordered_map<const Variable *, std::uint64_t> addresses;
};

/// Decodes the instructions of one function.
class WarpDecoder {
public:
  WarpDecoder(const Module &module, const Function &function, const StaticLayout &layout,
              const std::unordered_map<const Variable *, std::uint32_t> &locals)
      : module_(module), function_(function), layout_(layout), locals_(locals),
        parameters_(parameter_layout(function)) {}

  std::vector<WarpInstruction> decode_all();

private:
  WarpInstruction decode_one(std::uint32_t index);
  void refuse(std::string why);
  void decode_action();
  void decode_end();
  void decode_fence();
  void decode_hint();
  void decode_space_test();
  void decode_policy();
  void refuse_opcode();
  void decode_branch();
  void decode_call();
  void decode_system_call(std::span<const Operand> arguments, std::span<const Operand> results);
  bool add_callee(std::uint32_t callee, std::span<const Operand> arguments,
                  std::span<const Operand> results);
  void decode_memory();
  void decode_atomic();
  void decode_copy();
  // warp_decode_bulk.cpp
  void decode_bulk_copy();
  void decode_tensor_copy();
  void decode_async_access();
  void decode_store_zeros();
  void decode_tensor_map();
  void decode_map_address();
  void decode_cancel();
  void decode_multimem();
  void decode_group_product();
  void decode_tensor_memory();
  void decode_texture();
  void decode_mbarrier();
  void decode_collective();
  void decode_matrix_operation();
  void decode_move();
  void decode_compute();

  WarpOperand input(const Operand &operand, ScalarType type);
  WarpOperand output(const Operand &operand);
  /// The operand as destination or source of 64 bits each: a register of 128 bits is two.
  void add_pieces(const Operand &operand, bool is_output, ScalarType type,
                  std::vector<WarpOperand> &to);
  WarpOperand symbol(const Operand &operand);
  WarpAddress address(const Operand &operand, StateSpace space);
  /// What is in the brackets of an address: `name+4`, a register, a number.
  WarpAddress address_of(const Operand &base, std::int64_t offset, StateSpace space);
  bool is_kernel_parameter(const Variable *variable) const;
  /// Refuses an access to so many elements that is not all within the parameter of a call.
  void check_call_parameter(std::size_t elements);

  const Module &module_;
  const Function &function_;
  const StaticLayout &layout_;
  const std::unordered_map<const Variable *, std::uint32_t> &locals_;
  const ParameterLayout parameters_;
  VariableBytes parameter_; ///< of a call, in the frame: what an address was made of last
  const Instruction *source_ = nullptr;
  std::span<const Operand> operands_;
  WarpInstruction out_;
  std::string refusal_;
};

} // namespace ptxasw::emulator
