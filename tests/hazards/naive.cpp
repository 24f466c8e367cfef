// What a tool that only compares addresses as written does: D becomes a shuffle of what S loaded,
// with all the guards of code generation but no check of the surrounding program.

#include "hazard.h"

#include "grammar/edits.h"
#include "grammar/module.h"

#include <cstdlib>
#include <fmt/core.h>
#include <span>
#include <stdexcept>

namespace ptxasw::test {
namespace {

/// An instruction with its function.
struct Place {
  const Function *function = nullptr;
  const Instruction *instruction = nullptr;
};

std::vector<Place> find_marked(const Module &module, std::string_view mark) {
  std::vector<Place> result;
  for (const Function &function : module.functions)
    for (const Instruction &instruction : function.instructions) {
      const std::string_view rest = module.text().substr(instruction.span.end);
      const std::string_view line = rest.substr(0, rest.find('\n'));
      if (line.ends_with(mark))
        result.push_back({&function, &instruction});
    }
  if (result.empty())
    throw std::runtime_error(fmt::format("no instruction is marked {}", mark));
  return result;
}

/// A register that a load writes.
struct Destination {
  std::string_view name;
  unsigned width = 0;
};

std::vector<Destination> destinations(const Module &module, const Place &place) {
  std::vector<Destination> result;
  if (module.opcode(*place.instruction).base == "red")
    return result;
  const Operand &first = module.operands(*place.instruction)[0];
  const auto add = [&](const Operand &operand) {
    result.push_back(
        {module.text(operand.span), bit_width(place.function->registers.at(operand.reg).type)});
  };
  if (first.kind == Operand::Kind::vector)
    for (const Operand &part : module.children(first))
      add(part);
  else
    add(first);
  return result;
}

/// shfl.sync of a register of any width.
std::string shuffle(std::string_view to, std::string_view from, unsigned width,
                    const NaiveRewrite &how) {
  const auto word = [&](std::string_view a, std::string_view b) {
    return how.flip != 0
               ? fmt::format("shfl.sync.bfly.b32 {}, {}, {}, 31, %nv_mask;\n", a, b, how.flip)
               : fmt::format("shfl.sync.{}.b32 {}, {}, {}, {}, %nv_mask;\n",
                             how.delta < 0 ? "up" : "down", a, b, std::abs(how.delta),
                             how.delta < 0 ? 0 : 31);
  };
  if (width == 32)
    return word(to, from);
  if (width == 64)
    return fmt::format("mov.b64 {{%nv_lo, %nv_hi}}, {};\n", from) + word("%nv_lo", "%nv_lo") +
           word("%nv_hi", "%nv_hi") + fmt::format("mov.b64 {}, {{%nv_lo, %nv_hi}};\n", to);
  return fmt::format("cvt.u32.u16 %nv_lo, {};\n", from) + word("%nv_lo", "%nv_lo") +
         fmt::format("cvt.u16.u32 {}, %nv_lo;\n", to);
}

} // namespace

std::string rewrite_naively(const std::string &text, const NaiveRewrite &how) {
  const auto parsed = parse(text, "naive.ptx");
  if (!parsed)
    throw std::runtime_error(format(parsed.error()));
  const Module &module = **parsed;
  const std::vector<Place> sources = find_marked(module, "// S");
  const Place source = sources.back(), load = find_marked(module, "// D").back();
  const auto from = destinations(module, source), to = destinations(module, load);
  const Instruction &instruction = *load.instruction;
  const std::string_view original =
      module.text({instruction.opcode_span.begin, instruction.span.end});

  // How far the row reaches below and above this lane.
  std::string prologue = "\n.reg .b32 %nv_mask, %nv_lo, %nv_hi, %nv_lane, %nv_t, %nv_n, %nv_room;"
                         "\n.reg .pred %nv_guard, %nv_corner, %nv_load, %nv_use;\n";
  prologue += how.with_lane ? "mov.u32 %nv_lane, %laneid;\nmov.u32 %nv_t, %tid.x;\n"
                            : "mov.u32 %nv_t, %tid.x;\nand.b32 %nv_lane, %nv_t, 31;\n";
  if (how.flip != 0) {
    prologue +=
        fmt::format("xor.b32 %nv_room, %nv_lane, {};\nsub.s32 %nv_room, %nv_room, %nv_lane;\n"
                    "add.s32 %nv_room, %nv_room, %nv_t;\n",
                    how.flip);
    prologue += how.with_rows ? "mov.u32 %nv_n, %ntid.x;\n" : "mov.u32 %nv_n, -1;\n";
  } else if (how.delta < 0) {
    prologue +=
        how.with_rows ? "min.u32 %nv_room, %nv_lane, %nv_t;\n" : "mov.u32 %nv_room, %nv_lane;\n";
  } else {
    prologue += "sub.s32 %nv_room, 31, %nv_lane;\n";
    if (how.with_rows)
      prologue += "mov.u32 %nv_n, %ntid.x;\nsub.s32 %nv_n, %nv_n, %nv_t;\n"
                  "sub.s32 %nv_n, %nv_n, 1;\nmin.u32 %nv_room, %nv_room, %nv_n;\n";
  }

  std::string at_source, values;
  std::string code;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (i >= from.size())
      throw std::runtime_error("D has more destinations than S");
    const unsigned width = to[i].width;
    prologue += fmt::format(".reg .b{0} %nv_copy{1}, %nv_value{1}, %nv_early{1};\n", width, i);
    const unsigned given = from[i].width;
    const std::string copy =
        given == width
            ? fmt::format("mov.b{} %nv_copy{}, {};\n", width, i, from[i].name)
            : fmt::format("cvt.u{}.u{} %nv_copy{}, {};\n", width, given, i, from[i].name);
    (how.with_copy ? at_source : values) += copy;
    values +=
        how.delta == 0 && how.flip == 0
            ? fmt::format("mov.b{0} %nv_value{1}, %nv_copy{1};\n", width, i)
            : shuffle(fmt::format("%nv_value{}", i), fmt::format("%nv_copy{}", i), width, how);
  }
  if (instruction.guard == no_register || !how.with_guard)
    code += "setp.eq.u32 %nv_guard, 0, 0;\n";
  else if (instruction.guard_negated)
    code +=
        fmt::format("not.pred %nv_guard, {};\n", load.function->registers[instruction.guard].name);
  else
    code +=
        fmt::format("mov.pred %nv_guard, {};\n", load.function->registers[instruction.guard].name);
  code += "setp.ne.u32 %nv_corner, 0, 0;\n";
  if (how.delta != 0 || how.flip != 0) {
    code += "activemask.b32 %nv_mask;\n";
    if (how.with_mask)
      code += "setp.ne.b32 %nv_corner, %nv_mask, -1;\n";
    code += how.flip != 0 ? "setp.ge.or.u32 %nv_corner, %nv_room, %nv_n, %nv_corner;\n"
                          : fmt::format("setp.lt.or.u32 %nv_corner, %nv_room, {}, %nv_corner;\n",
                                        std::abs(how.delta));
  }
  code += values;
  code += "and.pred %nv_load, %nv_guard, %nv_corner;\nnot.pred %nv_use, %nv_corner;\n"
          "and.pred %nv_use, %nv_use, %nv_guard;\n";
  std::string taken, loaded;
  for (std::size_t i = 0; i < to.size(); ++i)
    taken += fmt::format("{}mov.b{} {}, %nv_value{};\n", how.with_order ? "@%nv_use " : "",
                         to[i].width, to[i].name, i);
  if (how.early) {
    // D's own text into other registers, as soon as S has run.
    if (to.size() != 1)
      throw std::runtime_error("an early load has one destination");
    const auto operands = module.operands(instruction);
    at_source += fmt::format("{} %nv_early0, {};\n", module.text(instruction.opcode_span),
                             module.text(operands[1].span));
    loaded = fmt::format("@%nv_load mov.b{} {}, %nv_early0;\n", to[0].width, to[0].name);
  } else {
    loaded = fmt::format("@%nv_load {}\n", original);
  }
  code += how.with_order ? loaded + taken : taken + loaded;

  Edits edits;
  edits.insert(source.function->body.begin + 1, prologue);
  if (how.hoist) {
    code = fmt::format("{}\n{}{}", module.text(source.instruction->span), at_source, code);
    edits.replace(source.instruction->span, "");
  } else {
    edits.insert(source.instruction->span.end, "\n" + at_source);
    // Where several are marked, each leaves its value in the same copies.
    for (const Place &other : std::span(sources).first(sources.size() - 1)) {
      const auto elements = destinations(module, other);
      std::string copies;
      for (std::size_t i = 0; i < to.size(); ++i)
        copies += fmt::format("\nmov.b{} %nv_copy{}, {};\n", to[i].width, i, elements.at(i).name);
      edits.insert(other.instruction->span.end, copies);
    }
  }
  edits.replace(instruction.span, code);
  return edits.apply(module.text()).value();
}

} // namespace ptxasw::test
