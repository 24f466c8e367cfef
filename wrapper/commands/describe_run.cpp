// What `emulate` and `verify` print of a run: for people in lines, for programs by the schema.

#include "wrapper/commands/describe_run.h"

#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace ptxasw::inline wrapper {
namespace {

using Json = nlohmann::ordered_json;

std::string register_text(const Register &reg, std::uint64_t bits) {
  if (reg.type == ScalarType::pred)
    return bits & 1 ? "true" : "false";
  if (is_float(reg.type) && bit_width(reg.type) >= 32 && reg.type != ScalarType::f16x2 &&
      reg.type != ScalarType::bf16x2)
    return fmt::format("{}", floating::to_double(reg.type, bits));
  return fmt::format("{:#x}", bits);
}

} // namespace

Json fault_json(const std::optional<WarpFault> &fault) {
  if (!fault)
    return nullptr;
  Json result;
  result["kind"] = to_string(fault->kind);
  result["message"] = fault->message;
  result["kernel"] = fault->kernel;
  result["line"] = fault->line;
  result["lane"] = fault->lane;
  result["block"] = {fault->block[0], fault->block[1], fault->block[2]};
  result["thread"] = {fault->thread[0], fault->thread[1], fault->thread[2]};
  result["address"] = fault->address;
  result["others"] = Json::array();
  for (const WarpFault &other : fault->others)
    result["others"].push_back(fault_json(other));
  return result;
}

void print_profile(const WarpProgram &program, const WarpOutcome &outcome) {
  fmt::print("{:>6} {:>12} {:>7} {:>12} {:>10}  instruction\n", "line", "executions", "lanes",
             "sectors", "conflicts");
  for (std::uint32_t f = 0; f < outcome.profile.size(); ++f)
    for (std::size_t i = 0; i < outcome.profile[f].size(); ++i) {
      const InstructionProfile &p = outcome.profile[f][i];
      const WarpInstruction &instruction = program.function(f).code[i];
      if (p.warps == 0 || !instruction.opcode)
        continue;
      fmt::print("{:>6} {:>12} {:>7.2f} {:>12} {:>10}  {}\n", instruction.line, p.warps,
                 static_cast<double>(p.lanes) / static_cast<double>(p.warps), p.sectors,
                 p.bank_conflicts, instruction.opcode->text);
    }
}

Json profile_json(const WarpProgram &program, const WarpOutcome &outcome) {
  Json list = Json::array();
  for (std::uint32_t f = 0; f < outcome.profile.size(); ++f)
    for (std::size_t i = 0; i < outcome.profile[f].size(); ++i) {
      const InstructionProfile &p = outcome.profile[f][i];
      const WarpInstruction &instruction = program.function(f).code[i];
      if (p.warps == 0 || !instruction.opcode)
        continue;
      Json entry;
      entry["line"] = instruction.line;
      entry["opcode"] = instruction.opcode->text;
      entry["executions"] = p.warps;
      entry["lanes"] = p.lanes;
      entry["sectors"] = p.sectors;
      entry["conflicts"] = p.bank_conflicts;
      list.push_back(std::move(entry));
    }
  return list;
}

std::string Debugger::error() const {
  for (const std::uint32_t line : lines_) {
    bool found = false;
    for (std::uint32_t f = 0; f < program_.function_count(); ++f)
      for (const WarpInstruction &instruction : program_.function(f).code)
        found |= instruction.line == line && instruction.opcode;
    if (!found)
      return fmt::format("--break {}: no instruction begins at this line", line);
  }
  for (const std::string &name : names_) {
    bool found = false;
    for (const Function &function : program_.module().functions)
      found |= std::any_of(function.registers.begin(), function.registers.end(),
                           [&](const Register &reg) { return reg.name == name; });
    if (!found)
      return fmt::format("--print {}: no function has such a register", name);
  }
  return {};
}

std::string Debugger::text_of(const WarpStep &step) const {
  if (!step.instruction->opcode)
    return "end of the function";
  const Function &function = *program_.function(step.function).function;
  std::string text(program_.module().text(function.instructions[step.instruction->source].span));
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text;
}

std::string Debugger::value_of(const WarpStep &step, std::string_view name, unsigned lane) const {
  const Function &function = *program_.function(step.function).function;
  // Scopes may have registers of one name: the last one declared before is not known here, so all.
  std::string text;
  for (std::size_t i = 0; i < function.registers.size(); ++i)
    if (function.registers[i].name == name)
      text += (text.empty() ? "" : " or ") +
              register_text(function.registers[i], step.registers[i * warp_lanes + lane]);
  return text.empty() ? "not a register of this function" : text;
}

void Debugger::before(const WarpStep &step) {
  if (std::find(lines_.begin(), lines_.end(), step.instruction->line) != lines_.end() &&
      step.instruction->opcode)
    stop(step);
  for (Traced &traced : traced_)
    if (traced.thread / warp_lanes == step.warp && traced.block.x == step.block[0] &&
        traced.block.y == step.block[1] && traced.block.z == step.block[2] &&
        (step.lanes >> traced.thread % warp_lanes & 1))
      follow(traced, step, traced.thread % warp_lanes);
}

void Debugger::stop(const WarpStep &step) {
  fmt::print(to_, "line {}: block {},{},{} warp {} lanes {:#010x}: {}\n", step.instruction->line,
             step.block[0], step.block[1], step.block[2], step.warp, step.lanes, text_of(step));
  for (const std::string &name : names_)
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      if (step.lanes >> lane & 1)
        fmt::print(to_, "  lane {:>2}: {} = {}\n", lane, name, value_of(step, name, lane));
}

void Debugger::follow(Traced &traced, const WarpStep &step, unsigned lane) {
  // What the instruction before has left.
  if (traced.last) {
    const Function &function = *program_.function(step.function).function;
    for (const WarpOperand &output : traced.last->outputs)
      if (output.kind == WarpOperand::Kind::reg && output.reg < function.registers.size())
        fmt::print(to_, "    {} = {}\n", function.registers[output.reg].name,
                   register_text(function.registers[output.reg],
                                 step.registers[std::size_t{output.reg} * warp_lanes + lane]));
  }
  fmt::print(to_, "thread {} line {}: {}\n", traced.thread, step.instruction->line, text_of(step));
  const WarpAction action = step.instruction->action;
  const bool moves = action == WarpAction::call || action == WarpAction::ret;
  traced.last = moves ? nullptr : step.instruction;
}

} // namespace ptxasw::wrapper
