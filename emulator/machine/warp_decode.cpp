// Decoding: from the module's instructions to what the warp emulator dispatches on. All names are
// resolved here, once; whatever is not understood becomes a refusal with its reason.

#include "emulator/machine/warp_decode.h"

#include "emulator/machine/warp_fast.h"
#include "emulator/machine/warp_special.h"
#include "emulator/semantics/evaluator.h"

#include <algorithm>
#include <fmt/core.h>
#include <utility>

namespace ptxasw::emulator {
namespace {

using OperandKind = Operand::Kind;

/// From a register to where the upper half of its 128 bits is kept.
std::uint32_t high_half(const Function &function) {
  return static_cast<std::uint32_t>(function.registers.size()) + 1;
}

SystemCall system_call(std::string_view name) {
  if (name == "vprintf")
    return SystemCall::print;
  if (name == "malloc")
    return SystemCall::allocate;
  if (name == "free")
    return SystemCall::release;
  return name == "__assertfail" ? SystemCall::assertion_failed : SystemCall::none;
}

} // namespace

std::vector<WarpInstruction> WarpDecoder::decode_all() {
  std::vector<WarpInstruction> code;
  for (std::uint32_t i = 0; i < function_.instructions.size(); ++i)
    code.push_back(decode_one(i));
  // Running off the end is a return.
  WarpInstruction end;
  end.action = function_.is_entry ? WarpAction::exit : WarpAction::ret;
  end.starts_block = true;
  if (!code.empty())
    end.line = code.back().line;
  code.push_back(std::move(end));
  return code;
}

WarpInstruction WarpDecoder::decode_one(std::uint32_t index) {
  source_ = &function_.instructions[index];
  out_ = {};
  out_.source = index;
  out_.line = source_->line;
  out_.opcode = &module_.opcode(*source_);
  out_.guard = source_->guard;
  out_.guard_negated = source_->guard_negated;
  out_.scope = out_.opcode->has(Modifier::cta)       ? ThreadScope::block
               : out_.opcode->has(Modifier::cluster) ? ThreadScope::cluster
                                                     : ThreadScope::device;
  operands_ = module_.operands(*source_);
  refusal_.clear();
  if (!source_->well_formed)
    refuse("an operand that is not understood");
  else
    decode_action();
  if (!refusal_.empty()) {
    out_.action = WarpAction::refused;
    out_.why = fmt::format("`{}` is not emulated: {}", out_.opcode->text, refusal_);
  }
  out_.fast = find_fast(out_);
  return std::move(out_);
}

void WarpDecoder::refuse(std::string why) {
  if (refusal_.empty())
    refusal_ = std::move(why);
}

WarpOperand WarpDecoder::input(const Operand &operand, ScalarType type) {
  WarpOperand result;
  result.negated = operand.negated;
  switch (operand.kind) {
  case OperandKind::reg: {
    const Register &reg = function_.registers[operand.reg];
    if (reg.vector != 1 || operand.selector)
      refuse("vector registers and selectors");
    result.kind = WarpOperand::Kind::reg;
    result.reg = operand.reg;
    result.width = static_cast<std::uint8_t>(bit_width(reg.type));
    if (result.width > 64 || result.width == 0)
      refuse("registers beyond 64 bits");
    return result;
  }
  case OperandKind::integer:
  case OperandKind::real:
    result.kind = WarpOperand::Kind::immediate;
    result.value = literal(operand, type)->low;
    return result;
  case OperandKind::special: {
    const std::string_view name = module_.text(operand.span);
    if (const SpecialName *const special = find_special(name)) {
      result.kind = WarpOperand::Kind::special;
      result.special = special->which;
      out_.reads_machine |= special->is_machines;
      return result;
    }
    refuse(fmt::format("special register {}", name));
    return result;
  }
  case OperandKind::symbol:
    return symbol(operand);
  default:
    refuse("an operand of this shape");
    return result;
  }
}

WarpOperand WarpDecoder::symbol(const Operand &operand) {
  WarpOperand result;
  result.kind = WarpOperand::Kind::immediate;
  const Symbol &symbol = module_.symbol(operand);
  const std::string_view name = symbol.name;
  const Variable *variable = module_.variable(symbol);
  if (!variable) {
    if (symbol.kind == Symbol::Kind::function && module_.functions[symbol.index].has_body)
      result.value = window::function + std::uint64_t{16} * symbol.index;
    else
      refuse(fmt::format("unknown name {}", name));
    return result;
  }
  const auto placed = layout_.addresses.find(variable);
  const auto offset = static_cast<std::uint64_t>(operand.value);
  if (placed != layout_.addresses.end()) {
    result.value = placed->second + offset;
  } else if (const auto local = locals_.find(variable); local != locals_.end()) {
    result.kind = WarpOperand::Kind::local_address;
    result.value = local->second + offset;
  } else if (const auto param = parameters_.find(variable);
             param != parameters_.end() && function_.is_entry) {
    result.value = window::param + param->second + offset;
  } else {
    refuse(fmt::format("the address of {}", name));
  }
  return result;
}

WarpOperand WarpDecoder::output(const Operand &operand) {
  if (operand.kind == OperandKind::sink)
    return {};
  if (operand.kind != OperandKind::reg) {
    refuse("a destination that is no register");
    return {};
  }
  return input(operand, ScalarType::none);
}

void WarpDecoder::add_pieces(const Operand &operand, bool is_output, ScalarType type,
                             std::vector<WarpOperand> &to) {
  const bool is_wide =
      operand.kind == OperandKind::reg && bit_width(function_.registers[operand.reg].type) == 128;
  if (!is_wide && !(operand.kind == OperandKind::sink && type == ScalarType::b128)) {
    to.push_back(is_output ? output(operand) : input(operand, type));
    return;
  }
  for (const bool high : {false, true}) {
    WarpOperand half;
    if (is_wide) {
      half.kind = WarpOperand::Kind::reg;
      half.reg = operand.reg + (high ? high_half(function_) : 0);
      half.width = 64;
    }
    to.push_back(half);
  }
}

WarpAddress WarpDecoder::address(const Operand &operand, StateSpace space) {
  WarpAddress result;
  if (operand.kind != OperandKind::address) {
    refuse("an address of this shape");
    return result;
  }
  const auto children = module_.children(operand);
  if (children.empty()) {
    result.offset = operand.value;
    result.base.kind = WarpOperand::Kind::immediate;
    return result;
  }
  return address_of(children[0], operand.value, space);
}

WarpAddress WarpDecoder::address_of(const Operand &base, std::int64_t offset, StateSpace space) {
  WarpAddress result;
  result.offset = offset;
  if (base.kind == OperandKind::symbol && space == StateSpace::param) {
    const Variable *variable = module_.variable(module_.symbol(base));
    const auto found = parameters_.find(variable);
    if (variable && found != parameters_.end()) {
      result.offset += found->second + base.value;
      result.base.kind = WarpOperand::Kind::immediate;
      if (function_.is_entry && is_kernel_parameter(variable))
        result.base.value = window::param;
      else
        result.call_parameter = true;
      parameter_ = {found->second, found->second + static_cast<std::uint32_t>(variable->size())};
      return result;
    }
  }
  result.base = input(base, ScalarType::u64);
  return result;
}

bool WarpDecoder::is_kernel_parameter(const Variable *variable) const {
  for (const Variable &parameter : function_.parameters)
    if (&parameter == variable)
      return true;
  return false;
}

// What has no row is a line of the instruction tables, or is not emulated.
void WarpDecoder::decode_action() {
  struct Row {
    Op op;
    void (WarpDecoder::*decode)();
  };
  static constexpr Row rows[] = {
      {Op::bra, &WarpDecoder::decode_branch},
      {Op::brx, &WarpDecoder::decode_branch},
      {Op::call, &WarpDecoder::decode_call},
      {Op::ret, &WarpDecoder::decode_end},
      {Op::exit, &WarpDecoder::decode_end},
      {Op::trap, &WarpDecoder::decode_end},
      {Op::ld, &WarpDecoder::decode_memory},
      {Op::ldu, &WarpDecoder::decode_memory},
      {Op::st, &WarpDecoder::decode_memory},
      {Op::multimem, &WarpDecoder::decode_multimem},
      {Op::tensormap, &WarpDecoder::decode_tensor_map},
      {Op::mapa, &WarpDecoder::decode_map_address},
      {Op::getctarank, &WarpDecoder::decode_map_address},
      {Op::clusterlaunchcontrol, &WarpDecoder::decode_cancel},
      {Op::atom, &WarpDecoder::decode_memory},
      {Op::red, &WarpDecoder::decode_memory},
      {Op::cp, &WarpDecoder::decode_copy},
      {Op::mbarrier, &WarpDecoder::decode_mbarrier},
      {Op::isspacep, &WarpDecoder::decode_space_test},
      {Op::shfl, &WarpDecoder::decode_collective},
      {Op::vote, &WarpDecoder::decode_collective},
      {Op::match, &WarpDecoder::decode_collective},
      {Op::redux, &WarpDecoder::decode_collective},
      {Op::activemask, &WarpDecoder::decode_collective},
      {Op::bar, &WarpDecoder::decode_collective},
      {Op::barrier, &WarpDecoder::decode_collective},
      {Op::elect, &WarpDecoder::decode_collective},
      {Op::mma, &WarpDecoder::decode_matrix_operation},
      {Op::wmma, &WarpDecoder::decode_matrix_operation},
      {Op::ldmatrix, &WarpDecoder::decode_matrix_operation},
      {Op::stmatrix, &WarpDecoder::decode_matrix_operation},
      {Op::movmatrix, &WarpDecoder::decode_matrix_operation},
      {Op::wgmma, &WarpDecoder::decode_group_product},
      {Op::tcgen05, &WarpDecoder::decode_tensor_memory},
      {Op::tex, &WarpDecoder::decode_texture},
      {Op::tld4, &WarpDecoder::decode_texture},
      {Op::txq, &WarpDecoder::decode_texture},
      {Op::suld, &WarpDecoder::decode_texture},
      {Op::sust, &WarpDecoder::decode_texture},
      {Op::suq, &WarpDecoder::decode_texture},
      {Op::discard, &WarpDecoder::refuse_opcode},
      {Op::membar, &WarpDecoder::decode_fence},
      {Op::fence, &WarpDecoder::decode_fence},
      {Op::prefetch, &WarpDecoder::decode_hint},
      {Op::prefetchu, &WarpDecoder::decode_hint},
      {Op::nanosleep, &WarpDecoder::decode_hint},
      {Op::pmevent, &WarpDecoder::decode_hint},
      {Op::applypriority, &WarpDecoder::decode_hint},
      {Op::griddepcontrol, &WarpDecoder::decode_hint},
      {Op::setmaxnreg, &WarpDecoder::decode_hint},
      {Op::createpolicy, &WarpDecoder::decode_policy},
      {Op::mov, &WarpDecoder::decode_move},
  };
  const auto *const row = std::find_if(std::begin(rows), std::end(rows), [&](const Row &candidate) {
    return candidate.op == out_.opcode->op;
  });
  if (row == std::end(rows))
    decode_compute();
  else
    (this->*row->decode)();
}

void WarpDecoder::decode_end() {
  const Op op = out_.opcode->op;
  out_.action = op == Op::trap                         ? WarpAction::trap
                : op == Op::exit || function_.is_entry ? WarpAction::exit
                                                       : WarpAction::ret;
}

// A fence between proxies orders nothing between threads (PTX ISA 9.7.13.4).
void WarpDecoder::decode_fence() {
  out_.action = out_.opcode->has(Modifier::proxy) ? WarpAction::nothing : WarpAction::fence;
}

void WarpDecoder::decode_hint() { out_.action = WarpAction::nothing; }

void WarpDecoder::refuse_opcode() { refuse("it leaves memory undefined"); }

void WarpDecoder::decode_space_test() {
  out_.action = WarpAction::is_space;
  out_.space = out_.opcode->space;
  if (operands_.size() != 2)
    return refuse("this form");
  out_.outputs = {output(operands_[0])};
  out_.inputs = {input(operands_[1], ScalarType::u64)};
}

// What caches do is not emulated: any value will do.
void WarpDecoder::decode_policy() {
  if (operands_.empty())
    return refuse("this form");
  out_.action = WarpAction::move;
  out_.width = 64;
  out_.outputs = {output(operands_[0])};
  out_.inputs.resize(1);
  out_.inputs[0].kind = WarpOperand::Kind::immediate;
}

void WarpDecoder::decode_branch() {
  if (operands_.empty())
    return refuse("no target");
  const auto target = [&](std::string_view name) -> std::uint32_t {
    if (const Label *label = function_.find_label(name, source_->scope))
      return label->position;
    refuse(fmt::format("unknown label {}", name));
    return 0;
  };
  if (out_.opcode->op == Op::bra) {
    out_.action = WarpAction::branch;
    out_.target = target(module_.text(operands_[0].span));
    return;
  }
  out_.action = WarpAction::branch_table;
  if (operands_.size() != 2)
    return refuse("this form");
  out_.inputs = {input(operands_[0], ScalarType::u32)};
  const TargetList *list =
      function_.find_target_list(module_.text(operands_[1].span), source_->scope);
  if (!list)
    return refuse("no target list");
  for (const std::string_view name : list->targets)
    out_.targets.push_back(target(name));
}

void WarpDecoder::decode_call() {
  out_.action = WarpAction::call;
  std::size_t next = 0;
  std::span<const Operand> results, arguments;
  if (next < operands_.size() && operands_[next].kind == OperandKind::group)
    results = module_.children(operands_[next++]);
  if (next >= operands_.size() ||
      (operands_[next].kind != OperandKind::symbol && operands_[next].kind != OperandKind::reg))
    return refuse("this form");
  const Operand &address = operands_[next++];
  if (next < operands_.size() && operands_[next].kind == OperandKind::group)
    arguments = module_.children(operands_[next++]);
  if (address.kind == OperandKind::reg) {
    // Every function that takes and gives as much.
    out_.inputs = {input(address, ScalarType::u64)};
    for (std::uint32_t i = 0; i < module_.functions.size(); ++i)
      if (!module_.functions[i].is_entry && module_.functions[i].has_body) {
        const std::string refusal = std::exchange(refusal_, {});
        if (!add_callee(i, arguments, results) || !refusal_.empty())
          out_.callees.erase(
              std::find_if(out_.callees.begin(), out_.callees.end(),
                           [&](const CallTarget &target) { return target.function == i; }),
              out_.callees.end());
        refusal_ = refusal;
      }
    return;
  }
  const Symbol &callee = module_.symbol(address);
  if (callee.kind == Symbol::Kind::function && !module_.functions[callee.index].has_body) {
    out_.system_call = system_call(callee.name);
    if (out_.system_call != SystemCall::none)
      return decode_system_call(arguments, results);
  }
  if (callee.kind != Symbol::Kind::function || !module_.functions[callee.index].has_body)
    return refuse(fmt::format("{} has no body in this module", callee.name));
  if (!add_callee(callee.index, arguments, results))
    refuse("another number of parameters");
}

/// vprintf, malloc, free and __assertfail (CUDA C++ Programming Guide, "Formatted Output" and what
/// follows it): arguments and results lie in this function's .param bytes.
void WarpDecoder::decode_system_call(std::span<const Operand> arguments,
                                     std::span<const Operand> results) {
  out_.action = WarpAction::system_call;
  const std::size_t wanted = out_.system_call == SystemCall::print              ? 2
                             : out_.system_call == SystemCall::assertion_failed ? 5
                                                                                : 1;
  const std::size_t given =
      out_.system_call == SystemCall::print || out_.system_call == SystemCall::allocate ? 1 : 0;
  if (arguments.size() != wanted || results.size() != given)
    return refuse("another number of parameters");
  CallTarget &target = out_.callees.emplace_back();
  const auto add = [&](std::span<const Operand> list, std::vector<ParameterCopy> &to) {
    for (const Operand &operand : list) {
      const Variable *variable =
          operand.kind == OperandKind::symbol ? module_.variable(module_.symbol(operand)) : nullptr;
      const auto found = parameters_.find(variable);
      if (!variable || found == parameters_.end() || variable->size() > 8)
        return refuse("parameters in registers");
      to.push_back({found->second, 0, static_cast<std::uint32_t>(variable->size()), {}});
    }
  };
  add(arguments, target.arguments);
  add(results, target.results);
}

/// Adds a function that a call may go to; false if its parameters are others.
bool WarpDecoder::add_callee(std::uint32_t callee, std::span<const Operand> arguments,
                             std::span<const Operand> results) {
  const Function &function = module_.functions[callee];
  if (arguments.size() != function.parameters.size() ||
      results.size() != function.return_parameters.size())
    return false;
  CallTarget &target = out_.callees.emplace_back();
  target.function = callee;
  const auto offsets = parameter_layout(function);
  const auto copies = [&](std::span<const Operand> actual, const std::vector<Variable> &formal,
                          std::vector<ParameterCopy> &to) {
    for (std::size_t i = 0; i < actual.size(); ++i) {
      ParameterCopy copy;
      copy.callee = offsets.at(&formal[i]);
      copy.size = static_cast<std::uint32_t>(formal[i].size());
      const Variable *variable = actual[i].kind == OperandKind::symbol
                                     ? module_.variable(module_.symbol(actual[i]))
                                     : nullptr;
      const auto found = parameters_.find(variable);
      if (variable && found != parameters_.end()) {
        copy.caller = found->second;
        if (variable->size() != formal[i].size())
          refuse("parameters of another size");
      } else {
        copy.value = input(actual[i], formal[i].type);
      }
      if (formal[i].space != StateSpace::param)
        refuse("parameters in registers");
      to.push_back(copy);
    }
  };
  copies(arguments, function.parameters, target.arguments);
  copies(results, function.return_parameters, target.results);
  for (const ParameterCopy &copy : target.results)
    if (copy.value.kind != WarpOperand::Kind::none)
      refuse("results in registers");
  return true;
}

void WarpDecoder::decode_move() {
  const ScalarType type = out_.opcode->type;
  const unsigned width = bit_width(type);
  auto move = vector_move(module_, *source_);
  if (!move && width == 128 && operands_.size() == 2)
    move = MoveOperands{operands_.first(1), operands_.subspan(1), width};
  if (!move)
    return decode_compute();
  out_.action = WarpAction::move;
  out_.width = static_cast<std::uint8_t>(width);
  for (const Operand &operand : move->destinations)
    add_pieces(operand, true, type, out_.outputs);
  for (const Operand &operand : move->sources)
    add_pieces(operand, false, type, out_.inputs);
  // Registers have 64 bits: 128 are two parts on both sides.
  if (width == 128 && (out_.outputs.size() != 2 || out_.inputs.size() != 2))
    refuse("this form");
  if (out_.outputs.empty() || out_.inputs.empty() || width % out_.outputs.size() != 0 ||
      width % out_.inputs.size() != 0)
    refuse("this form");
}

void WarpDecoder::decode_compute() {
  const Opcode &opcode = *out_.opcode;
  out_.action = WarpAction::compute;
  out_.form = {decode(opcode), decode_float_mode(opcode), &opcode};
  std::string_view shape;
  if ((out_.integer_line = find_line<ConcreteDomain>(opcode)))
    shape = out_.integer_line->shape;
  else if ((out_.float_line = find_float_line<ConcreteDomain>(opcode)))
    shape = out_.float_line->shape;
  else
    return refuse("no line of the instruction table describes it");
  if (opcode.type == ScalarType::b128)
    return refuse("beyond 64 bits");
  out_.is_float = out_.float_line != nullptr;
  const Form &form = out_.form.form;
  const auto in = line_operands(module_, *source_, shape, form);
  if (!in)
    return refuse(std::string(in.error()));
  out_.width = static_cast<std::uint8_t>(in->width);
  out_.sets_carry = in->gives_carry;
  out_.carries = in->takes_carry;
  out_.sign_extends = form.is_signed;
  out_.outputs = {output(in->destinations[0])};
  if (in->destinations.size() == 2)
    out_.second_output = output(in->destinations[1]);
  for (std::size_t i = 0; i < in->sources.size(); ++i) {
    const unsigned width = shape_width(in->letters[i], form);
    // A floating constant is as wide as its operand.
    out_.inputs.push_back(input(in->sources[i], width == 32   ? ScalarType::b32
                                                : width == 64 ? ScalarType::b64
                                                              : ScalarType::b16));
    out_.input_widths.push_back(static_cast<std::uint8_t>(width));
  }
}

} // namespace ptxasw::emulator
