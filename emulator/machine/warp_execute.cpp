// One instruction of one fragment: arithmetic by the tables, and control flow.

#include "emulator/machine/warp_machine.h"

#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace ptxasw {

LaneMask WarpMachine::guard_mask(const WarpInstruction &instruction, LaneMask mask) const {
  if (instruction.guard == no_register)
    return mask;
  LaneMask result = 0;
  const std::uint64_t *guard = &level_->registers[std::size_t{instruction.guard} * warp_lanes];
  for_each_lane(mask, [&](unsigned lane) {
    if ((guard[lane] != 0) != instruction.guard_negated)
      result |= 1u << lane;
  });
  return result;
}

std::uint64_t WarpMachine::special(SpecialRegister which, unsigned lane) const {
  using enum SpecialRegister;
  const std::uint32_t bit = 1u << lane;
  switch (which) {
  case tid_x:
  case tid_y:
  case tid_z:
    return warp_->tid[static_cast<int>(which) - static_cast<int>(tid_x)][lane];
  case ntid_x:
  case ntid_y:
  case ntid_z:
    return launch_.block[static_cast<int>(which) - static_cast<int>(ntid_x)];
  case ctaid_x:
  case ctaid_y:
  case ctaid_z:
    return warp_->block->ctaid[static_cast<int>(which) - static_cast<int>(ctaid_x)];
  case nctaid_x:
  case nctaid_y:
  case nctaid_z:
    return launch_.grid[static_cast<int>(which) - static_cast<int>(nctaid_x)];
  case cluster_ctaid_x:
  case cluster_ctaid_y:
  case cluster_ctaid_z: {
    const int axis = static_cast<int>(which) - static_cast<int>(cluster_ctaid_x);
    return warp_->block->ctaid[axis] % cluster_[axis];
  }
  case cluster_nctaid_x:
  case cluster_nctaid_y:
  case cluster_nctaid_z:
    return cluster_[static_cast<int>(which) - static_cast<int>(cluster_nctaid_x)];
  case clusterid_x:
  case clusterid_y:
  case clusterid_z: {
    const int axis = static_cast<int>(which) - static_cast<int>(clusterid_x);
    return warp_->block->ctaid[axis] / cluster_[axis];
  }
  case nclusterid_x:
  case nclusterid_y:
  case nclusterid_z: {
    const int axis = static_cast<int>(which) - static_cast<int>(nclusterid_x);
    return launch_.grid[axis] / cluster_[axis];
  }
  case cluster_ctarank: {
    const auto place = [&](int axis) { return warp_->block->ctaid[axis] % cluster_[axis]; };
    return (place(2) * cluster_.y + place(1)) * cluster_.x + place(0);
  }
  case cluster_nctarank:
    return cluster_.count();
  case workspace_high:
    return workspace_ >> 32;
  case workspace_low:
    return workspace_ & mask64(32);
  case is_explicit_cluster:
    return explicit_cluster_;
  case laneid:
    return lane;
  case warpid:
    return warp_->index;
  case nwarpid:
    return block_warps_;
  case lanemask_eq:
    return bit;
  case lanemask_le:
    return bit | (bit - 1);
  case lanemask_lt:
    return bit - 1;
  case lanemask_ge:
    return ~(bit - 1);
  case lanemask_gt:
    return ~(bit - 1) & ~bit;
  case clock:
    return outcome_.steps;
  case nsmid:
    return 1;
  case dynamic_smem_size:
    return launch_.dynamic_shared;
  case total_smem_size:
    return shared_bytes_;
  case warp_size:
    return warp_lanes;
  default:
    return 0;
  }
}

std::uint64_t WarpMachine::value(const WarpOperand &operand, unsigned lane) const {
  switch (operand.kind) {
  case WarpOperand::Kind::reg: {
    const std::uint64_t bits = level_->registers[std::size_t{operand.reg} * warp_lanes + lane];
    return operand.negated ? bits ^ 1 : bits;
  }
  case WarpOperand::Kind::immediate:
    return operand.negated ? operand.value ^ 1 : operand.value;
  case WarpOperand::Kind::special:
    return special(operand.special, lane);
  case WarpOperand::Kind::local_address:
    return window::local + depth_ * max_local_ + operand.value;
  default:
    return 0;
  }
}

void WarpMachine::assign(const WarpOperand &operand, unsigned lane, std::uint64_t bits,
                         unsigned width, bool sign_extends) {
  if (operand.kind != WarpOperand::Kind::reg)
    return;
  bits &= mask64(width);
  if (sign_extends && width < operand.width)
    bits = static_cast<std::uint64_t>(as_signed(bits, width));
  level_->registers[std::size_t{operand.reg} * warp_lanes + lane] = bits & mask64(operand.width);
  if (!level_->reals.empty())
    set_real(operand, lane, {});
}

// True if a branch, an exit or a return sends some lanes one way and others another.
bool WarpMachine::parts_lanes(const WarpInstruction &instruction, LaneMask mask,
                              LaneMask all) const {
  const bool table = instruction.action == WarpAction::branch_table;
  if (!table && instruction.action != WarpAction::branch &&
      instruction.action != WarpAction::exit && instruction.action != WarpAction::ret)
    return false;
  if (mask == 0 || mask != all)
    return mask != 0;
  bool parts = false;
  if (table) {
    const WarpOperand &choice = instruction.inputs[0];
    const std::uint64_t first = value(choice, static_cast<unsigned>(std::countr_zero(mask)));
    for_each_lane(mask, [&](unsigned lane) { parts = parts || value(choice, lane) != first; });
  }
  return parts;
}

WarpMachine::Next WarpMachine::execute(std::size_t index) {
  const WarpInstruction &instruction = *instruction_;
  const LaneMask all = warp_->fragments[index].mask;
  const LaneMask mask = guard_mask(instruction, all);
  if (options_.profile) {
    InstructionProfile &profile = profile_of(instruction);
    ++profile.warps;
    profile.lanes += static_cast<unsigned>(std::popcount(mask));
  }
  if (options_.count) {
    WarpCount &count = count_of(*warp_);
    ++count.instructions;
    count.divwarps += parts_lanes(instruction, mask, all);
  }
  if (instruction.action == WarpAction::branch)
    return branch(index, mask);
  if (mask == 0)
    return Next::advance;
  if (instruction.reads_machine && outcome_.machine_line == 0)
    outcome_.machine_line = instruction.line;
  switch (instruction.action) {
  case WarpAction::compute:
    compute(mask);
    return Next::advance;
  case WarpAction::move:
    move(mask);
    return Next::advance;
  case WarpAction::load:
    load(mask);
    return Next::advance;
  case WarpAction::store:
    store(mask);
    return Next::advance;
  case WarpAction::atomic:
    atomic(mask);
    return Next::advance;
  case WarpAction::copy_async:
    copy_async(mask);
    return Next::advance;
  case WarpAction::copy_wait:
    wait_for_copies(mask);
    return Next::advance;
  case WarpAction::copy_bulk:
    copy_bulk(mask);
    return Next::advance;
  case WarpAction::mbarrier:
    mbarrier(mask);
    return Next::advance;
  case WarpAction::is_space:
    is_space(mask);
    return Next::advance;
  case WarpAction::active_mask:
    for_each_lane(mask,
                  [&](unsigned lane) { assign(instruction.outputs[0], lane, mask, 32, false); });
    return Next::advance;
  case WarpAction::fence:
    if (races_)
      for_each_lane(mask, [&](unsigned lane) { races_->fence(moment(lane)); });
    return Next::advance;
  case WarpAction::system_call:
    call_system(mask);
    return Next::advance;
  case WarpAction::nothing:
    return Next::advance;
  case WarpAction::trap:
    fail(FaultKind::trap, static_cast<unsigned>(std::countr_zero(mask)), "trap was executed");
  case WarpAction::refused:
    fail(FaultKind::unsupported, static_cast<unsigned>(std::countr_zero(mask)), instruction.why);
  case WarpAction::exit: {
    if (mask != all) {
      advance(warp_->fragments[index]);
      const std::size_t leaving = split(*warp_, index, mask, no_index);
      exit_lanes(*warp_, leaving, mask);
    } else {
      exit_lanes(*warp_, index, mask);
    }
    return Next::stop;
  }
  default:
    break;
  }
  // What changes where lanes are: those that the guard excludes go on by themselves.
  if (mask != all) {
    const std::size_t others =
        split(*warp_, index, all & ~mask, warp_->fragments[index].stack.back().pc + 1);
    advance(warp_->fragments[others]);
  }
  switch (instruction.action) {
  case WarpAction::branch_table:
    return branch_table(index, mask);
  case WarpAction::call:
    return call(index);
  case WarpAction::ret:
    return return_from(index, mask);
  case WarpAction::cluster_barrier:
    return arrive_at_cluster_barrier(index, mask);
  case WarpAction::barrier:
    return arrive_at_barrier(index, mask);
  default:
    return arrive_at_sync(index, mask);
  }
}

namespace {

/// What `p|q` has on the right.
std::uint64_t second_result(const WarpInstruction &in, std::uint64_t result,
                            Args<ConcreteDomain> arguments) {
  if (in.opcode->op == Op::lop3) { // whether anything is set, with a predicate (PTX ISA 9.7.8.6)
    const std::uint64_t any = (result & mask64(32)) != 0, c = arguments.back().bits.low;
    return in.opcode->has(Modifier::and_) ? any & c : any | c;
  }
  const ScalarType type = in.opcode->type;
  if (type == ScalarType::f16x2 || type == ScalarType::bf16x2)
    return result >> 1; // of the upper halves
  // The same with the comparison negated (9.7.7.2).
  const std::uint64_t p = result, c = arguments.size() > 2 ? arguments[2].bits.low : 0;
  return in.opcode->has(Modifier::and_)  ? c & ~p
         : in.opcode->has(Modifier::or_) ? c | (p ^ 1)
                                         : p ^ 1;
}

} // namespace

void WarpMachine::compute(LaneMask mask) {
  const WarpInstruction &in = *instruction_;
  const std::size_t count = in.inputs.size();
  std::array<ConcreteDomain::Value, 6> arguments;
  const std::uint32_t carry_register =
      static_cast<std::uint32_t>(program_.function(function_).function->registers.size());
  std::uint64_t *carry = &level_->registers[std::size_t{carry_register} * warp_lanes];
  std::uint64_t *const holds =
      options_.profile && in.outputs[0].kind == WarpOperand::Kind::reg && in.outputs[0].width == 1
          ? &profile_of(*instruction_).holds
          : nullptr;
  if (in.fast && !holds && !options_.tables_only && !options_.reals)
    return compute_fast(mask);
  for_each_lane(mask, [&](unsigned lane) {
    for (std::size_t i = 0; i < count; ++i)
      arguments[i] = {{value(in.inputs[i], lane) & mask64(in.input_widths[i])}, in.input_widths[i]};
    std::size_t total = count;
    if (in.carries)
      arguments[total++] = {{carry[lane]}, 1};
    const Args<ConcreteDomain> list{arguments.data(), total};
    const ConcreteDomain::Value result =
        in.is_float ? in.float_line->evaluate(domain_, in.form, list)
                    : in.integer_line->evaluate(domain_, in.form.form, list);
    const ExactReal real = options_.reals ? compute_real(lane, list, result.bits.low) : ExactReal();
    assign(in.outputs[0], lane, result.bits.low, in.width, in.sign_extends);
    if (real.known())
      set_real(in.outputs[0], lane, real);
    if (holds)
      *holds += result.bits.low & 1;
    if (in.sets_carry)
      carry[lane] = in.width == 64 ? result.bits.high & 1 : result.bits.low >> in.width & 1;
    if (in.second_output.kind != WarpOperand::Kind::none)
      assign(in.second_output, lane, second_result(in, result.bits.low, list), 1, false);
  });
}

void WarpMachine::compute_fast(LaneMask mask) {
  const WarpInstruction &in = *instruction_;
  const std::uint64_t *rows[3] = {};
  std::uint64_t made[3][warp_lanes];
  for (std::size_t i = 0; i < in.inputs.size(); ++i) {
    const WarpOperand &operand = in.inputs[i];
    if (operand.kind == WarpOperand::Kind::reg) {
      rows[i] = &level_->registers[std::size_t{operand.reg} * warp_lanes];
      continue;
    }
    const std::uint64_t width = mask64(in.input_widths[i]);
    if (operand.kind == WarpOperand::Kind::immediate)
      std::fill(std::begin(made[i]), std::end(made[i]), operand.value & width);
    else
      for_each_lane(mask, [&](unsigned lane) { made[i][lane] = value(operand, lane) & width; });
    rows[i] = made[i];
  }
  in.fast(&level_->registers[std::size_t{in.outputs[0].reg} * warp_lanes], rows[0], rows[1],
          rows[2], mask);
}

// mov between a register and the registers of a vector, lowest part first (PTX ISA 9.7.9.5).
void WarpMachine::move(LaneMask mask) {
  const WarpInstruction &in = *instruction_;
  if (in.width == 128) { // in halves
    for_each_lane(mask, [&](unsigned lane) {
      const std::uint64_t low = value(in.inputs[0], lane), high = value(in.inputs[1], lane);
      assign(in.outputs[0], lane, low, 64, false);
      assign(in.outputs[1], lane, high, 64, false);
    });
    return;
  }
  const unsigned piece_in = in.width / static_cast<unsigned>(in.inputs.size());
  const unsigned piece_out = in.width / static_cast<unsigned>(in.outputs.size());
  for_each_lane(mask, [&](unsigned lane) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < in.inputs.size(); ++i)
      bits |= (value(in.inputs[i], lane) & mask64(piece_in)) << piece_in * i;
    for (std::size_t i = 0; i < in.outputs.size(); ++i)
      assign(in.outputs[i], lane, bits >> piece_out * i, piece_out, false);
  });
}

WarpMachine::Next WarpMachine::branch(std::size_t index, LaneMask taken) {
  const std::uint32_t target = instruction_->target;
  Fragment &fragment = warp_->fragments[index];
  if (taken == 0)
    return Next::advance;
  if (taken == fragment.mask) {
    move_to(fragment.stack.back(), target);
    return Next::stay;
  }
  const std::size_t other = split(*warp_, index, taken, meeting_place(fragment.stack.back()));
  move_to(warp_->fragments[other].stack.back(), target);
  advance(warp_->fragments[index]);
  return Next::stop;
}

WarpMachine::Next WarpMachine::branch_table(std::size_t index, LaneMask mask) {
  const auto targets = std::span(instruction_->targets);
  const WarpOperand &operand = instruction_->inputs[0];
  while (mask) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint64_t choice = value(operand, first) & mask64(32);
    if (choice >= targets.size())
      fail(FaultKind::bad_target, first,
           fmt::format("brx.idx chooses entry {} of {}", choice, targets.size()));
    LaneMask same = 0;
    for_each_lane(mask, [&](unsigned lane) {
      if ((value(operand, lane) & mask64(32)) == choice)
        same |= 1u << lane;
    });
    mask &= ~same;
    const std::size_t moved =
        mask ? split(*warp_, index, same, meeting_place(warp_->fragments[index].stack.back()))
             : index;
    move_to(warp_->fragments[moved].stack.back(), targets[choice]);
  }
  return Next::stop;
}

// An indirect call takes lanes by where they go.
WarpMachine::Next WarpMachine::call(std::size_t index) {
  const WarpInstruction &in = *instruction_;
  if (in.inputs.empty()) {
    call_function(index, in.callees[0]);
    return Next::stay;
  }
  LaneMask mask = warp_->fragments[index].mask;
  while (mask) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint64_t address = value(in.inputs[0], first);
    const auto callee =
        std::find_if(in.callees.begin(), in.callees.end(), [&](const CallTarget &target) {
          return window::function + std::uint64_t{16} * target.function == address;
        });
    if (callee == in.callees.end())
      fail(FaultKind::bad_target, first,
           fmt::format("a call of {:#x}, where no function with these parameters is", address));
    LaneMask same = 0;
    for_each_lane(mask, [&](unsigned lane) {
      if (value(in.inputs[0], lane) == address)
        same |= 1u << lane;
    });
    mask &= ~same;
    const std::uint32_t behind = warp_->fragments[index].stack.back().pc + 1;
    call_function(mask ? split(*warp_, index, same, behind) : index, *callee);
  }
  return Next::stop;
}

void WarpMachine::call_function(std::size_t index, const CallTarget &target) {
  constexpr std::size_t deepest = 64;
  const LaneMask mask = warp_->fragments[index].mask;
  if (depth_ + 1 >= deepest)
    fail(FaultKind::unsupported, static_cast<unsigned>(std::countr_zero(mask)),
         fmt::format("calls more than {} deep", deepest));
  level(*warp_, depth_ + 1);
  level_ = &warp_->levels[depth_]; // it may have moved
  CallLevel &inner = warp_->levels[depth_ + 1];
  for_each_lane(mask, [&](unsigned lane) {
    for (std::size_t r = 0; r < program_.max_registers(); ++r)
      inner.registers[r * warp_lanes + lane] = 0;
    for (std::size_t at = lane; at < inner.reals.size(); at += warp_lanes)
      inner.reals[at] = {};
    const std::size_t base = std::size_t{lane} * max_parameters_;
    for (const ParameterCopy &copy : target.arguments) {
      const std::uint64_t bits =
          copy.value.kind == WarpOperand::Kind::none ? 0 : value(copy.value, lane);
      if (options_.reals) {
        const ExactMemory::Space from = frame_space(lane, depth_),
                                 to = frame_space(lane, depth_ + 1);
        if (copy.value.kind == WarpOperand::Kind::none)
          options_.reals->copy(from, copy.caller, to, copy.callee, copy.size);
        else
          options_.reals->store(to, copy.callee, copy.size, real_of(copy.value, lane));
      }
      for (std::uint32_t i = 0; i < copy.size; ++i)
        inner.parameters[base + copy.callee + i] =
            copy.value.kind == WarpOperand::Kind::none
                ? level_->parameters[base + copy.caller + i]
                : static_cast<std::uint8_t>(i < 8 ? bits >> 8 * i : 0);
    }
  });
  warp_->fragments[index].stack.push_back(
      {target.function, 0,
       std::vector<std::uint32_t>(program_.function(target.function).cfg->loops().size())});
}

WarpMachine::Next WarpMachine::return_from(std::size_t index, LaneMask mask) {
  Fragment &fragment = warp_->fragments[index];
  const std::uint32_t callee = fragment.stack.back().function;
  fragment.stack.pop_back();
  const Activation &caller = fragment.stack.back();
  const WarpInstruction &at = program_.function(caller.function).code[caller.pc];
  CallLevel &outer = warp_->levels[depth_ - 1];
  const CallTarget &target =
      *std::find_if(at.callees.begin(), at.callees.end(),
                    [&](const CallTarget &candidate) { return candidate.function == callee; });
  for_each_lane(mask, [&](unsigned lane) {
    const std::size_t base = std::size_t{lane} * max_parameters_;
    for (const ParameterCopy &copy : target.results) {
      if (options_.reals)
        options_.reals->copy(frame_space(lane, depth_), copy.callee, frame_space(lane, depth_ - 1),
                             copy.caller, copy.size);
      for (std::uint32_t i = 0; i < copy.size; ++i)
        outer.parameters[base + copy.caller + i] = level_->parameters[base + copy.callee + i];
    }
  });
  // Lanes that parted in the function may come together where it was called.
  for (Parting &parting : fragment.partings)
    if (parting.depth > fragment.stack.size()) {
      parting.depth = fragment.stack.size();
      parting.where = fragment.stack.back().pc + 1;
    }
  advance(fragment);
  return Next::stay;
}

} // namespace ptxasw
