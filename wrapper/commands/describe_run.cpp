// What `emulate` and `verify` print of a run: for people in lines, for programs by the schema.

#include "wrapper/commands/describe_run.h"

#include "wrapper/lint/names.h"

#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace ptxasw::wrapper {
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

std::optional<Place> source_of(const ToldLaunch &told, std::uint32_t line) {
  return source_of(told.program.module(), told.places, line);
}

/// Memory that has a name. What a kernel has released by the end of the run has no size.
struct Stretch {
  std::string name;
  std::uint64_t begin = 0, size = 0;
  bool was_freed = false; ///< before the access
};

/// Where an address is in or beside one of several stretches of memory; empty if none is near.
std::string beside(std::uint64_t address, const std::vector<Stretch> &all) {
  constexpr std::uint64_t near = 1 << 20;
  std::string text;
  std::uint64_t least = near;
  for (const Stretch &one : all) {
    const std::uint64_t end = one.begin + one.size;
    if (address >= one.begin && address < end)
      return fmt::format("byte {} of {}, {} bytes", address - one.begin, one.name, one.size);
    const std::uint64_t distance = address < one.begin ? one.begin - address : address - end;
    if (distance >= least)
      continue;
    least = distance;
    if (one.size == 0 && one.name.starts_with("`malloc of"))
      text = fmt::format("{} bytes from the beginning of {}{}", distance, one.name,
                         one.was_freed ? ", which was freed" : "");
    else
      text = fmt::format("{} {} {}, {} bytes",
                         distance == 0 ? "right" : fmt::format("{} bytes", distance),
                         address < one.begin ? "before" : "behind", one.name, one.size);
  }
  return text;
}

/// What of a launch's memory is at the address of a fault: an argument, a variable.
std::string memory_at(const WarpFault &fault, const ToldLaunch &told) {
  const std::uint64_t address = fault.address;
  std::vector<Stretch> all;
  if (address >= window::shared && address < window::shared + window::size) {
    const std::uint32_t dynamic = told.program.dynamic_shared_offset();
    for (const VariableBytes &one : told.program.shared_variables(told.prepared.kernel))
      all.push_back({fmt::format("`{}` in shared memory", base_name(one.name)),
                     window::shared + one.begin, one.end - one.begin});
    if (told.program.has_dynamic_shared())
      all.push_back({"the dynamic shared memory", window::shared + dynamic, told.launch.shared});
    return beside(address, all);
  }
  for (const GlobalMemory::Allocation &one : told.memory.allocations()) {
    if (one.made > fault.memory_changes)
      continue;
    std::string name = fmt::format("`{}`", one.name);
    for (std::size_t i = 0; i < told.launch.arguments.size(); ++i)
      for (const FieldDescription &field : told.launch.arguments[i].fields)
        if (field.kind == FieldDescription::Kind::buffer && field.name == one.name) {
          name = fmt::format("argument {} `{}`", i, one.name);
          break;
        }
    all.push_back({std::move(name), one.base, one.size, one.released <= fault.memory_changes});
  }
  return beside(address, all);
}

} // namespace

std::optional<Place> source_of(const Module &module, const Places &places, std::uint32_t line) {
  for (const Function &function : module.functions)
    for (const Instruction &instruction : function.instructions)
      if (instruction.line == line)
        return places.of(instruction);
  return std::nullopt;
}

std::string line_text(const Module &module, const Places &places, std::uint32_t line) {
  const auto place = source_of(module, places, line);
  return place ? to_string(*place) : fmt::format("line {}", line);
}

std::string told_fault(const WarpFault &fault, std::uint64_t count, const ToldLaunch &told) {
  const auto thread_of = [](const WarpFault &one) {
    return fmt::format("block {},{},{} thread {},{},{}, PTX line {}", one.block[0], one.block[1],
                       one.block[2], one.thread[0], one.thread[1], one.thread[2], one.line);
  };
  const auto place = fault.line ? source_of(told, fault.line) : std::nullopt;
  std::string text;
  if (!place) {
    text = format(fault) + "\n";
  } else {
    const bool is_pair = !fault.others.empty() && fault.address != 0;
    text = fmt::format("{}: {}: {}\n", to_string(*place), to_string(fault.kind),
                       !is_pair ? fault.message
                                : fmt::format("a {} and an earlier {} there are not ordered",
                                              fault.message.substr(0, fault.message.find(' ')),
                                              fault.others[0].message));
    if (const std::string line = told.sources.line(*place); !line.empty())
      text += fmt::format("{:>5} | {}\n", place->line, line);
    text += fmt::format("    in {}, {}\n", short_name(fault.kernel), thread_of(fault));
  }
  for (const WarpFault &other : fault.others)
    if (const auto there = place ? source_of(told, other.line) : std::nullopt)
      text += fmt::format("    and {}: {}\n", to_string(*there), thread_of(other));
  if (fault.address != 0)
    if (const std::string where = memory_at(fault, told); !where.empty())
      text += fmt::format("    {}\n", where);
  if (count > 1)
    text += fmt::format("    and {} more like it\n", count - 1);
  return text;
}

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

tl::expected<void, std::string> Debugger::check() const {
  for (const std::uint32_t line : lines_) {
    bool found = false;
    for (std::uint32_t f = 0; f < program_.function_count(); ++f)
      for (const WarpInstruction &instruction : program_.function(f).code)
        found |= instruction.line == line && instruction.opcode;
    if (!found)
      return tl::unexpected(fmt::format("--break {}: no instruction begins at this line", line));
  }
  for (const std::string &name : names_) {
    bool found = false;
    for (const Function &function : program_.module().functions)
      found |= std::any_of(function.registers.begin(), function.registers.end(),
                           [&](const Register &reg) { return reg.name == name; });
    if (!found)
      return tl::unexpected(fmt::format("--print {}: no function has such a register", name));
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
