// Decoding: from the module's instructions to what the warp emulator dispatches on. All names are
// resolved here, once; whatever is not understood becomes a refusal with its reason.

#include "emulator/machine/warp_decode.h"

#include "emulator/machine/warp_fast.h"
#include "emulator/semantics/effects.h"

#include <algorithm>
#include <fmt/core.h>
#include <utility>

namespace ptxasw {
namespace {

using OperandKind = Operand::Kind;

struct SpecialName {
  std::string_view name;
  SpecialRegister which;
  bool is_machines = false; ///< its value is machine-dependent, and differs the next time
};

// clang-format off
constexpr SpecialName special_names[] = {
    {"%tid.x", SpecialRegister::tid_x}, {"%tid.y", SpecialRegister::tid_y}, {"%tid.z", SpecialRegister::tid_z},
    {"%ntid.x", SpecialRegister::ntid_x}, {"%ntid.y", SpecialRegister::ntid_y}, {"%ntid.z", SpecialRegister::ntid_z},
    {"%ctaid.x", SpecialRegister::ctaid_x}, {"%ctaid.y", SpecialRegister::ctaid_y}, {"%ctaid.z", SpecialRegister::ctaid_z},
    {"%nctaid.x", SpecialRegister::nctaid_x}, {"%nctaid.y", SpecialRegister::nctaid_y}, {"%nctaid.z", SpecialRegister::nctaid_z},
    {"%laneid", SpecialRegister::laneid}, {"%warpid", SpecialRegister::warpid, true}, {"%nwarpid", SpecialRegister::nwarpid, true},
    {"%lanemask_eq", SpecialRegister::lanemask_eq}, {"%lanemask_le", SpecialRegister::lanemask_le},
    {"%lanemask_lt", SpecialRegister::lanemask_lt}, {"%lanemask_ge", SpecialRegister::lanemask_ge},
    {"%lanemask_gt", SpecialRegister::lanemask_gt}, {"%clock", SpecialRegister::clock, true}, {"%clock_hi", SpecialRegister::zero, true},
    {"%clock64", SpecialRegister::clock, true}, {"%globaltimer", SpecialRegister::clock, true}, {"%globaltimer_lo", SpecialRegister::clock, true},
    {"%globaltimer_hi", SpecialRegister::zero, true}, {"%smid", SpecialRegister::smid, true}, {"%nsmid", SpecialRegister::nsmid, true},
    {"%envreg1", SpecialRegister::workspace_high}, {"%envreg2", SpecialRegister::workspace_low},
    {"%gridid", SpecialRegister::gridid, true}, {"%dynamic_smem_size", SpecialRegister::dynamic_smem_size},
    {"%cluster_ctaid.x", SpecialRegister::cluster_ctaid_x}, {"%cluster_ctaid.y", SpecialRegister::cluster_ctaid_y},
    {"%cluster_ctaid.z", SpecialRegister::cluster_ctaid_z}, {"%cluster_nctaid.x", SpecialRegister::cluster_nctaid_x},
    {"%cluster_nctaid.y", SpecialRegister::cluster_nctaid_y}, {"%cluster_nctaid.z", SpecialRegister::cluster_nctaid_z},
    {"%clusterid.x", SpecialRegister::clusterid_x}, {"%clusterid.y", SpecialRegister::clusterid_y},
    {"%clusterid.z", SpecialRegister::clusterid_z}, {"%nclusterid.x", SpecialRegister::nclusterid_x},
    {"%nclusterid.y", SpecialRegister::nclusterid_y}, {"%nclusterid.z", SpecialRegister::nclusterid_z},
    {"%cluster_ctarank", SpecialRegister::cluster_ctarank}, {"%cluster_nctarank", SpecialRegister::cluster_nctarank},
    {"%is_explicit_cluster", SpecialRegister::is_explicit_cluster},
    {"%total_smem_size", SpecialRegister::total_smem_size}, {"WARP_SZ", SpecialRegister::warp_size},
};
// clang-format on

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
  const unsigned width = bit_width(type);
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
    result.kind = WarpOperand::Kind::immediate;
    result.value = static_cast<std::uint64_t>(operand.value);
    return result;
  case OperandKind::real:
    result.kind = WarpOperand::Kind::immediate;
    result.value = static_cast<std::uint64_t>(operand.value);
    if (operand.real_type == ScalarType::f64 && width == 32)
      result.value =
          floating::from_double(ScalarType::f32, floating::to_double(ScalarType::f64, result.value),
                                FloatRounding::nearest_even);
    else if (operand.real_type == ScalarType::f32 && width == 64)
      result.value = floating::convert(ScalarType::f64, ScalarType::f32, {}, result.value);
    return result;
  case OperandKind::special: {
    const std::string_view name = module_.text(operand.span);
    for (const SpecialName &special : special_names)
      if (special.name == name) {
        result.kind = WarpOperand::Kind::special;
        result.special = special.which;
        out_.reads_machine |= special.is_machines;
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
  result.offset = operand.value;
  if (children.empty()) {
    result.base.kind = WarpOperand::Kind::immediate;
    return result;
  }
  const Operand &base = children[0];
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

void WarpDecoder::decode_action() {
  const Opcode &opcode = *out_.opcode;
  const Op op = opcode.op;
  if (op == Op::bra || op == Op::brx) {
    decode_branch();
  } else if (op == Op::call) {
    decode_call();
  } else if (op == Op::ret) {
    out_.action = function_.is_entry ? WarpAction::exit : WarpAction::ret;
  } else if (op == Op::exit) {
    out_.action = WarpAction::exit;
  } else if (op == Op::trap) {
    out_.action = WarpAction::trap;
  } else if (op == Op::ld || op == Op::ldu || op == Op::st || op == Op::atom || op == Op::red) {
    decode_memory();
  } else if (op == Op::cp) {
    decode_copy();
  } else if (op == Op::mbarrier) {
    decode_mbarrier();
  } else if (op == Op::wgmma) {
    refuse("products of warp groups");
  } else if (is_one_of(op, {Op::shfl, Op::vote, Op::match, Op::redux, Op::activemask, Op::bar,
                            Op::barrier, Op::elect})) {
    decode_collective();
  } else if (is_one_of(op, {Op::mma, Op::wmma, Op::ldmatrix, Op::stmatrix, Op::movmatrix})) {
    decode_matrix_operation();
  } else if (is_one_of(op, {Op::membar, Op::fence})) {
    out_.action = WarpAction::fence;
  } else if (is_one_of(op, {Op::prefetch, Op::prefetchu, Op::nanosleep, Op::pmevent,
                            Op::applypriority, Op::discard, Op::griddepcontrol, Op::setmaxnreg})) {
    out_.action = op == Op::discard ? WarpAction::refused : WarpAction::nothing;
    if (op == Op::discard)
      refuse("it leaves memory undefined");
  } else if (op == Op::isspacep) {
    out_.action = WarpAction::is_space;
    out_.space = opcode.space;
    if (operands_.size() != 2 || opcode.has(Modifier::shared_cluster))
      return refuse("this form");
    out_.outputs = {output(operands_[0])};
    out_.inputs = {input(operands_[1], ScalarType::u64)};
  } else if (op == Op::createpolicy) { // what caches do is not emulated: any value will do
    if (operands_.empty())
      return refuse("this form");
    out_.action = WarpAction::move;
    out_.width = 64;
    out_.outputs = {output(operands_[0])};
    out_.inputs.resize(1);
    out_.inputs[0].kind = WarpOperand::Kind::immediate;
  } else if (op == Op::mov && decode_move()) {
    return;
  } else {
    decode_compute();
  }
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

void WarpDecoder::decode_memory() {
  const Opcode &opcode = *out_.opcode;
  const bool is_load = opcode.op == Op::ld || opcode.op == Op::ldu;
  const bool is_store = opcode.op == Op::st, is_atom = opcode.op == Op::atom;
  out_.action = is_load ? WarpAction::load : is_store ? WarpAction::store : WarpAction::atomic;
  out_.space = opcode.space;
  const bool is_wide = opcode.type == ScalarType::b128 && !is_atom && opcode.op != Op::red;
  const unsigned width = is_wide ? 64 : bit_width(opcode.type);
  if (width < 8 || width > 64)
    return refuse("this type");
  if (opcode.has(Modifier::shared_cluster) || opcode.has(Modifier::async) ||
      opcode.has(Modifier::mmio))
    return refuse("this form");
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
    return operand.kind == OperandKind::vector ? module_.children(operand)
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
    return;
  for (std::size_t i = address_at + 1; i < operands_.size(); ++i)
    for (const Operand &operand : elements(operands_[i]))
      add_pieces(operand, false, opcode.type, out_.inputs);
  if (is_store)
    return;
  decode_atomic();
}

void WarpDecoder::decode_atomic() {
  const Opcode &opcode = *out_.opcode;
  for (const auto &[modifier, operation] : atomic_operations)
    if (opcode.has(modifier))
      out_.atomic = operation;
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
  if (opcode.has(Modifier::reduce) || opcode.has(Modifier::tensor))
    return refuse("copies that reduce, and tensors");
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
  if (operands_.size() < 3 || operands_[2].kind != OperandKind::integer)
    return refuse("this form");
  out_.address = address(operands_[0], StateSpace::shared);
  out_.second_address = address(operands_[1], StateSpace::global);
  out_.inputs = {input(operands_[2], ScalarType::u32)};
  if (operands_.size() > 3 && !(opcode.has(Modifier::L2_cache_hint) && operands_.size() == 4)) {
    const bool is_predicate = operands_[3].kind == OperandKind::reg &&
                              operands_[3].reg != no_register &&
                              function_.registers[operands_[3].reg].type == ScalarType::pred;
    if (is_predicate) // the source is ignored, zeros are written
      out_.second_output = input(operands_[3], ScalarType::pred);
    else
      out_.inputs.push_back(input(operands_[3], ScalarType::u32));
  }
}

void WarpDecoder::decode_bulk_copy() {
  const Opcode &opcode = *out_.opcode;
  if (opcode.has(Modifier::commit_group) || opcode.has(Modifier::wait_group) ||
      opcode.has(Modifier::prefetch)) {
    out_.action = WarpAction::nothing; // the copies have happened
    return;
  }
  out_.action = WarpAction::copy_bulk;
  const bool to_global = opcode.has(Modifier::bulk_group);
  if (opcode.has(Modifier::multicast_cluster) || opcode.has(Modifier::cp_mask) ||
      (!to_global && !opcode.has(Modifier::mbarrier_complete_tx_bytes)) ||
      (!to_global && !opcode.has(Modifier::global)) || operands_.size() < (to_global ? 3u : 4u))
    return refuse("this form");
  out_.address = address(operands_[0], to_global ? StateSpace::global : StateSpace::shared);
  out_.second_address = address(operands_[1], to_global ? StateSpace::shared : StateSpace::global);
  out_.space = to_global ? StateSpace::global : StateSpace::shared;
  out_.inputs = {input(operands_[2], ScalarType::u32)};
  if (!to_global)
    out_.third_address = address(operands_[3], StateSpace::shared);
}

// mbarrier (PTX ISA 9.7.13.15), of the block's own shared memory.
void WarpDecoder::decode_mbarrier() {
  const Opcode &opcode = *out_.opcode;
  out_.action = WarpAction::mbarrier;
  out_.weak = false;
  if (opcode.has(Modifier::shared_cluster) && opcode.has(Modifier::cluster))
    return refuse("barriers of other blocks");
  std::span<const Operand> rest = operands_;
  const bool has_result = opcode.has(Modifier::arrive) || opcode.has(Modifier::arrive_drop) ||
                          opcode.has(Modifier::test_wait) || opcode.has(Modifier::try_wait) ||
                          opcode.has(Modifier::pending_count);
  if (has_result && !rest.empty() && rest[0].kind != OperandKind::address) {
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

void WarpDecoder::decode_collective() {
  const Opcode &opcode = *out_.opcode;
  const Op op = opcode.op;
  std::span<const Operand> rest = operands_;
  const auto take_output = [&] {
    if (rest.empty())
      return refuse("this form");
    if (rest[0].kind == OperandKind::pair) {
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
  const bool stores = what == What::store || what == What::wmma_store;
  const bool loads = what == What::load || what == What::wmma_load;
  const ScalarType type =
      operation.arithmetic.a == MatrixType::f64 ? ScalarType::b64 : ScalarType::b32;
  const auto add = [&](std::size_t at, bool is_output, unsigned count) {
    const std::span<const Operand> all = operands_[at].kind == OperandKind::vector
                                             ? module_.children(operands_[at])
                                             : operands_.subspan(at, 1);
    if (all.size() != count)
      refuse("another number of registers");
    for (const Operand &operand : all)
      add_pieces(operand, is_output, type, is_output ? out_.outputs : out_.inputs);
  };
  const std::size_t usual = loads || stores || what == What::transpose ? 2 : 4;
  const bool has_stride =
      operands_.size() == 3 && (what == What::wmma_load || what == What::wmma_store);
  if (operands_.size() != usual + (has_stride ? 1 : 0))
    return refuse("this form");
  if (loads || stores)
    out_.address = address(operands_[loads ? 1 : 0], out_.space);
  const unsigned moved = what == What::load || what == What::store ? operation.count
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
  out_.matrix = std::make_shared<const MatrixOperation>(operation);
}

bool WarpDecoder::decode_move() {
  const unsigned width = bit_width(out_.opcode->type);
  if (operands_.size() != 2 || (operands_[0].kind != OperandKind::vector &&
                                operands_[1].kind != OperandKind::vector && width != 128))
    return false;
  out_.action = WarpAction::move;
  out_.width = static_cast<std::uint8_t>(width);
  const auto parts = [&](const Operand &operand) {
    return operand.kind == OperandKind::vector ? module_.children(operand)
                                               : std::span<const Operand>(&operand, 1);
  };
  for (const Operand &operand : parts(operands_[0]))
    add_pieces(operand, true, out_.opcode->type, out_.outputs);
  for (const Operand &operand : parts(operands_[1]))
    add_pieces(operand, false, out_.opcode->type, out_.inputs);
  // 128 bits are moved in halves.
  if (width == 128 && (out_.outputs.size() != 2 || out_.inputs.size() != 2))
    refuse("this form");
  if (out_.outputs.empty() || out_.inputs.empty() || width % out_.outputs.size() != 0 ||
      width % out_.inputs.size() != 0)
    refuse("this form");
  return true;
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
  out_.width = static_cast<std::uint8_t>(shape_width(shape[0], form));
  if (shape[0] == 'K') {
    out_.sets_carry = true;
    --out_.width;
  }
  out_.sign_extends = form.is_signed;
  if (operands_.empty())
    return refuse("no operands");
  if (operands_[0].kind == OperandKind::pair) {
    const auto pair = module_.children(operands_[0]);
    if (opcode.op != Op::setp && opcode.op != Op::lop3)
      return refuse("this form");
    out_.outputs = {output(pair[0])};
    out_.second_output = output(pair[1]);
  } else {
    out_.outputs = {output(operands_[0])};
  }
  std::size_t next = 1;
  for (const char letter : shape.substr(2)) {
    const unsigned width = shape_width(letter, form);
    if (letter == 'C') {
      out_.carries = true;
      continue;
    }
    if (next >= operands_.size())
      return refuse("too few operands");
    // A floating constant is as wide as its operand.
    out_.inputs.push_back(input(operands_[next++], width == 32   ? ScalarType::b32
                                                   : width == 64 ? ScalarType::b64
                                                                 : ScalarType::b16));
    out_.input_widths.push_back(static_cast<std::uint8_t>(width));
  }
  if (next != operands_.size())
    refuse("too many operands");
}

} // namespace ptxasw
