// One instruction of one fragment: arithmetic by the tables, and control flow.

#include "emulator/machine/warp_access.h"
#include "emulator/machine/warp_group.h"
#include "emulator/machine/warp_machine.h"
#include "emulator/machine/warp_real.h"
#include "emulator/semantics/evaluator.h"

#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace ptxasw::emulator {

namespace {

// True if a branch, an exit or a return sends some lanes one way and others another.
bool parts_lanes(const WarpContext &context, LaneMask mask, LaneMask all) {
  const WarpInstruction &instruction = *context.instruction;
  const bool table = instruction.action == WarpAction::branch_table;
  if (!table && instruction.action != WarpAction::branch &&
      instruction.action != WarpAction::exit && instruction.action != WarpAction::ret)
    return false;
  if (mask == 0 || mask != all)
    return mask != 0;
  bool parts = false;
  if (table) {
    const WarpOperand &choice = instruction.inputs[0];
    const std::uint64_t first =
        context.value(choice, static_cast<unsigned>(std::countr_zero(mask)));
    for_each_lane(mask,
                  [&](unsigned lane) { parts = parts || context.value(choice, lane) != first; });
  }
  return parts;
}

} // namespace

NextStep WarpMachine::execute(WarpContext &context, std::size_t index) {
  const WarpInstruction &instruction = *context.instruction;
  const LaneMask all = context.warp->fragments[index].mask;
  const LaneMask mask = context.guard_mask(all);
  if (run_.options.profile) {
    InstructionProfile &profile = context.profile();
    ++profile.warps;
    profile.lanes += static_cast<unsigned>(std::popcount(mask));
  }
  if (run_.options.count) {
    WarpCount &count = run_.count_of(*context.warp);
    ++count.instructions;
    count.divwarps += parts_lanes(context, mask, all);
  }
  if (instruction.action == WarpAction::branch)
    return branch(context, index, mask);
  if (mask == 0)
    return NextStep::advance;
  if (instruction.reads_machine && run_.outcome.machine_line == 0)
    run_.outcome.machine_line = instruction.line;
  switch (instruction.action) {
  case WarpAction::compute:
    compute(context, mask);
    return NextStep::advance;
  case WarpAction::move:
    move(context, mask);
    return NextStep::advance;
  case WarpAction::load:
    execute_load(context, memory_, mask);
    return NextStep::advance;
  case WarpAction::store:
    execute_store(context, memory_, mask);
    return NextStep::advance;
  case WarpAction::atomic:
    execute_atomic(context, memory_, mask);
    return NextStep::advance;
  case WarpAction::copy_async:
    async_.copy_async(context, mask);
    return NextStep::advance;
  case WarpAction::copy_wait:
    async_.wait_for_copies(context, mask);
    return NextStep::advance;
  case WarpAction::copy_bulk:
    bulk_.copy(context, mask);
    return NextStep::advance;
  case WarpAction::async_access:
    bulk_.access(context, mask);
    return NextStep::advance;
  case WarpAction::store_zeros:
    bulk_.store_zeros(context, mask);
    return NextStep::advance;
  case WarpAction::tensor_map:
    bulk_.change_map(context, mask);
    return NextStep::advance;
  case WarpAction::texture:
    textures_.execute(context, mask);
    return NextStep::advance;
  case WarpAction::tensor_core:
    tensor_.alone(context, mask);
    return NextStep::advance;
  case WarpAction::map_address:
    clusters_.map_address(context, mask);
    return NextStep::advance;
  case WarpAction::cancel_launch:
    clusters_.cancel_launch(context, mask);
    return NextStep::advance;
  case WarpAction::mbarrier:
    async_.mbarrier(context, mask);
    return NextStep::advance;
  case WarpAction::group_product:
    if (instruction.group->kind == GroupProduct::Kind::wait && !can_wait_for_products(context)) {
      scheduler_.yield(); // and asks again
      return NextStep::stop;
    }
    return execute_flow(context, index, mask);
  case WarpAction::is_space:
    execute_is_space(context, memory_, mask);
    return NextStep::advance;
  case WarpAction::active_mask:
    for_each_lane(mask, [&](unsigned lane) {
      context.assign(instruction.outputs[0], lane, mask, 32, false);
    });
    return NextStep::advance;
  case WarpAction::fence:
    if (run_.races)
      for_each_lane(
          mask, [&](unsigned lane) { run_.races->fence(context.moment(lane), instruction.scope); });
    return NextStep::advance;
  case WarpAction::system_call:
    driver_.call(context, mask);
    return NextStep::advance;
  case WarpAction::nothing:
    return NextStep::advance;
  case WarpAction::trap:
    context.fail(FaultKind::trap, static_cast<unsigned>(std::countr_zero(mask)),
                 "trap was executed");
  case WarpAction::refused:
    context.fail(FaultKind::unsupported, static_cast<unsigned>(std::countr_zero(mask)),
                 instruction.why);
  case WarpAction::exit: {
    if (mask != all) {
      scheduler_.advance(context.warp->fragments[index]);
      const std::size_t leaving = scheduler_.split(*context.warp, index, mask, no_index);
      exit_lanes(context, leaving, mask);
    } else {
      exit_lanes(context, index, mask);
    }
    return NextStep::stop;
  }
  default:
    return execute_flow(context, index, mask);
  }
}

// What changes where lanes are: those that the guard excludes go on by themselves.
NextStep WarpMachine::execute_flow(WarpContext &context, std::size_t index, LaneMask mask) {
  const LaneMask all = context.warp->fragments[index].mask;
  if (mask != all) {
    const std::size_t others = scheduler_.split(*context.warp, index, all & ~mask,
                                                context.warp->fragments[index].stack.back().pc + 1);
    scheduler_.advance(context.warp->fragments[others]);
  }
  switch (context.instruction->action) {
  case WarpAction::branch_table:
    return branch_table(context, index, mask);
  case WarpAction::call:
    return call(context, index);
  case WarpAction::ret:
    return return_from(context, index, mask);
  case WarpAction::cluster_barrier:
    return barriers_.arrive_at_cluster(context, index, mask);
  case WarpAction::barrier:
    return barriers_.arrive(context, index, mask);
  default:
    return collectives_.arrive(context, index, mask);
  }
}

namespace {

/// By the function that computes the same for whole rows of registers.
void compute_fast(WarpContext &context, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  const std::uint64_t *rows[3] = {};
  std::uint64_t made[3][warp_lanes];
  for (std::size_t i = 0; i < in.inputs.size(); ++i) {
    const WarpOperand &operand = in.inputs[i];
    if (operand.kind == WarpOperand::Kind::reg) {
      rows[i] = &context.level->registers[std::size_t{operand.reg} * warp_lanes];
      continue;
    }
    const std::uint64_t width = mask64(in.input_widths[i]);
    if (operand.kind == WarpOperand::Kind::immediate)
      std::fill(std::begin(made[i]), std::end(made[i]), operand.value & width);
    else
      for_each_lane(mask,
                    [&](unsigned lane) { made[i][lane] = context.value(operand, lane) & width; });
    rows[i] = made[i];
  }
  in.fast(&context.level->registers[std::size_t{in.outputs[0].reg} * warp_lanes], rows[0], rows[1],
          rows[2], mask);
}

} // namespace

void WarpMachine::compute(WarpContext &context, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  const std::size_t count = in.inputs.size();
  std::array<ConcreteDomain::Value, 6> arguments;
  const std::uint32_t carry_register = static_cast<std::uint32_t>(
      run_.program.function(context.function).function->registers.size());
  std::uint64_t *carry = &context.level->registers[std::size_t{carry_register} * warp_lanes];
  std::uint64_t *const holds = run_.options.profile &&
                                       in.outputs[0].kind == WarpOperand::Kind::reg &&
                                       in.outputs[0].width == 1
                                   ? &context.profile().holds
                                   : nullptr;
  if (in.fast && !run_.options.tables_only && !run_.options.reals) {
    compute_fast(context, mask);
    if (holds) {
      const std::uint64_t *const row =
          &context.level->registers[std::size_t{in.outputs[0].reg} * warp_lanes];
      for_each_lane(mask, [&](unsigned lane) { *holds += row[lane]; });
    }
    return;
  }
  const auto line = [&](Args<ConcreteDomain> list) {
    return in.is_float ? in.float_line->evaluate(domain_, in.form, list)
                       : in.integer_line->evaluate(domain_, in.form.form, list);
  };
  for_each_lane(mask, [&](unsigned lane) {
    for (std::size_t i = 0; i < count; ++i)
      arguments[i] = {{context.value(in.inputs[i], lane) & mask64(in.input_widths[i])},
                      in.input_widths[i]};
    std::size_t total = count;
    if (in.carries)
      arguments[total++] = {{carry[lane]}, 1};
    const Args<ConcreteDomain> list{arguments.data(), total};
    const ConcreteDomain::Value result = line(list);
    const ExactReal real =
        run_.options.reals ? compute_real(context, lane, list, result.bits.low) : ExactReal();
    context.assign(in.outputs[0], lane, result.bits.low, in.width, in.sign_extends);
    if (real.known())
      context.set_real(in.outputs[0], lane, real);
    if (holds)
      *holds += result.bits.low & 1;
    if (in.sets_carry)
      carry[lane] = semantics::carry_of(domain_, result, in.width).bits.low;
    if (in.second_output.kind != WarpOperand::Kind::none)
      context.assign(in.second_output, lane,
                     semantics::second_of(domain_, *in.opcode, result, list, line).bits.low, 1,
                     false);
  });
}

// mov between a register and the registers of a vector, lowest part first (PTX ISA 9.7.9.5). All
// sources are read before the first destination is written.
void WarpMachine::move(WarpContext &context, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  const unsigned width_in = in.width / static_cast<unsigned>(in.inputs.size());
  const unsigned width_out = in.width / static_cast<unsigned>(in.outputs.size());
  std::vector<ConcreteDomain::Value> parts(in.inputs.size());
  for_each_lane(mask, [&](unsigned lane) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      parts[i] = domain_.constant(width_in, context.value(in.inputs[i], lane));
    const ConcreteDomain::Value whole = semantics::pack(domain_, Args<ConcreteDomain>(parts));
    const ExactReal real = run_.options.reals ? real_of_pack(context, lane) : ExactReal();
    for (std::size_t i = 0; i < in.outputs.size(); ++i)
      context.assign(in.outputs[i], lane, semantics::unpack(domain_, whole, i, width_out).bits.low,
                     width_out, false);
    if (real.known())
      context.set_real(in.outputs[0], lane, real);
  });
}

NextStep WarpMachine::branch(WarpContext &context, std::size_t index, LaneMask taken) {
  const std::uint32_t target = context.instruction->target;
  Fragment &fragment = context.warp->fragments[index];
  if (taken == 0)
    return NextStep::advance;
  if (taken == fragment.mask) {
    scheduler_.move_to(fragment.stack.back(), target);
    return NextStep::stay;
  }
  const std::size_t other = scheduler_.split(*context.warp, index, taken,
                                             scheduler_.meeting_place(fragment.stack.back()));
  scheduler_.move_to(context.warp->fragments[other].stack.back(), target);
  scheduler_.advance(context.warp->fragments[index]);
  return NextStep::stop;
}

NextStep WarpMachine::branch_table(WarpContext &context, std::size_t index, LaneMask mask) {
  const auto targets = std::span(context.instruction->targets);
  const WarpOperand &operand = context.instruction->inputs[0];
  while (mask) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint64_t choice = context.value(operand, first) & mask64(32);
    if (choice >= targets.size())
      context.fail(FaultKind::bad_target, first,
                   fmt::format("brx.idx chooses entry {} of {}", choice, targets.size()));
    LaneMask same = 0;
    for_each_lane(mask, [&](unsigned lane) {
      if ((context.value(operand, lane) & mask64(32)) == choice)
        same |= 1u << lane;
    });
    mask &= ~same;
    const std::size_t moved =
        mask ? scheduler_.split(
                   *context.warp, index, same,
                   scheduler_.meeting_place(context.warp->fragments[index].stack.back()))
             : index;
    scheduler_.move_to(context.warp->fragments[moved].stack.back(), targets[choice]);
  }
  return NextStep::stop;
}

// An indirect call takes lanes by where they go.
NextStep WarpMachine::call(WarpContext &context, std::size_t index) {
  const WarpInstruction &in = *context.instruction;
  if (in.inputs.empty()) {
    call_function(context, index, in.callees[0]);
    return NextStep::stay;
  }
  LaneMask mask = context.warp->fragments[index].mask;
  while (mask) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint64_t address = context.value(in.inputs[0], first);
    const auto callee =
        std::find_if(in.callees.begin(), in.callees.end(), [&](const CallTarget &target) {
          return window::function + std::uint64_t{16} * target.function == address;
        });
    if (callee == in.callees.end())
      context.fail(
          FaultKind::bad_target, first,
          fmt::format("a call of {:#x}, where no function with these parameters is", address));
    LaneMask same = 0;
    for_each_lane(mask, [&](unsigned lane) {
      if (context.value(in.inputs[0], lane) == address)
        same |= 1u << lane;
    });
    mask &= ~same;
    const std::uint32_t behind = context.warp->fragments[index].stack.back().pc + 1;
    call_function(context, mask ? scheduler_.split(*context.warp, index, same, behind) : index,
                  *callee);
  }
  return NextStep::stop;
}

void WarpMachine::call_function(WarpContext &context, std::size_t index, const CallTarget &target) {
  constexpr std::size_t deepest = 64;
  const LaneMask mask = context.warp->fragments[index].mask;
  if (context.depth + 1 >= deepest)
    context.fail(FaultKind::unsupported, static_cast<unsigned>(std::countr_zero(mask)),
                 fmt::format("calls more than {} deep", deepest));
  call_level(run_, *context.warp, context.depth + 1);
  context.level = &context.warp->levels[context.depth]; // it may have moved
  CallLevel &inner = context.warp->levels[context.depth + 1];
  for_each_lane(mask, [&](unsigned lane) {
    for (std::size_t r = 0; r < run_.program.max_registers(); ++r)
      inner.registers[r * warp_lanes + lane] = 0;
    for (std::size_t at = lane; at < inner.reals.size(); at += warp_lanes)
      inner.reals[at] = {};
    if (!inner.local_written.empty()) // what an earlier call left there is not this one's
      std::fill_n(inner.local_written.begin() + std::ptrdiff_t{lane} * run_.max_local,
                  run_.max_local, std::uint8_t{0});
    const std::size_t base = std::size_t{lane} * run_.max_parameters;
    for (const ParameterCopy &copy : target.arguments) {
      const std::uint64_t bits =
          copy.value.kind == WarpOperand::Kind::none ? 0 : context.value(copy.value, lane);
      if (run_.options.reals) {
        const ExactMemory::Space from = context.frame_space(lane, context.depth),
                                 to = context.frame_space(lane, context.depth + 1);
        if (copy.value.kind == WarpOperand::Kind::none)
          run_.options.reals->copy(from, copy.caller, to, copy.callee, copy.size);
        else
          run_.options.reals->store(to, copy.callee, copy.size, context.real_of(copy.value, lane));
      }
      for (std::uint32_t i = 0; i < copy.size; ++i)
        inner.parameters[base + copy.callee + i] =
            copy.value.kind == WarpOperand::Kind::none
                ? context.level->parameters[base + copy.caller + i]
                : static_cast<std::uint8_t>(i < 8 ? bits >> 8 * i : 0);
    }
  });
  context.warp->fragments[index].stack.push_back(
      {target.function, 0,
       std::vector<std::uint32_t>(run_.program.function(target.function).cfg->loops().size())});
}

NextStep WarpMachine::return_from(WarpContext &context, std::size_t index, LaneMask mask) {
  Fragment &fragment = context.warp->fragments[index];
  const std::uint32_t callee = fragment.stack.back().function;
  fragment.stack.pop_back();
  const Activation &caller = fragment.stack.back();
  const WarpInstruction &at = run_.program.function(caller.function).code[caller.pc];
  CallLevel &outer = context.warp->levels[context.depth - 1];
  const CallTarget &target =
      *std::find_if(at.callees.begin(), at.callees.end(),
                    [&](const CallTarget &candidate) { return candidate.function == callee; });
  for_each_lane(mask, [&](unsigned lane) {
    const std::size_t base = std::size_t{lane} * run_.max_parameters;
    for (const ParameterCopy &copy : target.results) {
      if (run_.options.reals)
        run_.options.reals->copy(context.frame_space(lane, context.depth), copy.callee,
                                 context.frame_space(lane, context.depth - 1), copy.caller,
                                 copy.size);
      for (std::uint32_t i = 0; i < copy.size; ++i)
        outer.parameters[base + copy.caller + i] =
            context.level->parameters[base + copy.callee + i];
    }
  });
  // Lanes that parted in the function may come together where it was called.
  for (Parting &parting : fragment.partings)
    if (parting.depth > fragment.stack.size()) {
      parting.depth = fragment.stack.size();
      parting.where = fragment.stack.back().pc + 1;
    }
  scheduler_.advance(fragment);
  return NextStep::stay;
}

} // namespace ptxasw::emulator
