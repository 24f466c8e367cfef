#pragma once

// What the registers of a kernel hold, as polynomials over a thread's place along one axis
// (shape_algebra.h), whatever the order in which its instructions run.
//
//   ShapeValues values(module, kernel, calls, 'x');
//   if (values.find() && values.is_clean(values.value(reg))) ...

#include "analysis/plain_calls.h"
#include "analysis/shape_algebra.h"
#include "grammar/module.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxasw::analysis {

/// One of the registers that say where a thread is, `%ctaid.y`, in one of PTX's two spellings of
/// components.
struct IndexRegister {
  std::string_view what; ///< tid, ntid, ctaid or nctaid
  char axis = 0;         ///< x, y, z or w
};

std::optional<IndexRegister> index_register(std::string_view name);

/// Calls `visit(name)` for every special register among the operands and what they hold.
template <class Visit>
void for_each_special(const Module &module, std::span<const Operand> operands, Visit visit) {
  for (const Operand &operand : operands) {
    if (operand.kind == Operand::Kind::special)
      visit(module.text(operand.span));
    for_each_special(module, module.children(operand), visit);
  }
}

class ShapeValues : shape_algebra::Algebra {
public:
  using Polynomial = shape_algebra::Polynomial;

  /// All must outlive it. The axis: x, y or z.
  ShapeValues(const Module &module, const Function &kernel, PlainCalls &calls, char axis);

  /// Finds which registers are clean. False: too many of them depend on each other.
  bool find();

  // Then:
  Polynomial value(RegisterId reg);
  /// Of an operand of an instruction in a line.
  Polynomial value(const Operand &operand, std::uint32_t line);
  using Algebra::is_clean;
  using Algebra::stain_of;
  /// Returns true if an address has a part for each thread, along this axis or another one.
  bool goes_along(const Polynomial &place) const;

private:
  using AtomId = shape_algebra::AtomId;
  using Taint = shape_algebra::Taint;
  enum class State : std::uint8_t { fresh, at_work, done };

  Polynomial special(std::string_view name, std::uint32_t line);
  AtomId symbol_atom(const std::string &name);
  Polynomial opaque(const std::vector<Polynomial> &inputs, std::uint32_t line, bool pure);
  Polynomial phi(RegisterId reg);
  Polynomial defined_by(const Instruction &instruction, RegisterId reg);
  Polynomial computed_by(const Instruction &instruction, RegisterId reg);
  static bool is_not_negative(const Polynomial &p);
  bool keeps_number(const Opcode &opcode, const std::vector<Polynomial> &inputs) const;
  Polynomial loaded(const Opcode &opcode, const std::vector<Polynomial> &inputs,
                    std::span<const Operand> operands, std::uint32_t line);
  std::optional<Polynomial> arithmetic(const Opcode &opcode, const std::vector<Polynomial> &in,
                                       std::span<const Operand> operands, RegisterId reg) const;
  bool settle();

  const Module &module_;
  const Function &kernel_;
  PlainCalls &calls_;
  const char axis_;
  unsigned depth_ = 0;
  std::size_t kept_stains_ = 0; ///< of registers, behind the first
  std::vector<Polynomial> values_;
  std::vector<State> states_;
  std::vector<std::vector<std::uint32_t>> definitions_; ///< instructions, by register
  std::vector<bool> read_;
  /// Of registers with several definitions, or that are defined by themselves.
  std::map<RegisterId, AtomId> phis_;
  std::map<RegisterId, std::int32_t> tainted_phis_; ///< and the taint
  std::vector<std::pair<RegisterId, Taint>> new_taints_;
  std::map<std::string, AtomId> symbols_;
};

} // namespace ptxasw::analysis
