// The form of an instruction (types, modifiers, widths) as lines of the table ask for it.

#include "emulator/semantics/instructions.h"

#include <array>
#include <utility>

namespace ptxasw::emulator {
namespace {

constexpr std::array<std::pair<std::string_view, Comparison>, 18> comparisons{{
    {"eq", Comparison::eq},
    {"ne", Comparison::ne},
    {"lt", Comparison::lt},
    {"le", Comparison::le},
    {"gt", Comparison::gt},
    {"ge", Comparison::ge},
    {"lo", Comparison::lo},
    {"ls", Comparison::ls},
    {"hi", Comparison::hi},
    {"hs", Comparison::hs},
    {"equ", Comparison::equ},
    {"neu", Comparison::neu},
    {"ltu", Comparison::ltu},
    {"leu", Comparison::leu},
    {"gtu", Comparison::gtu},
    {"geu", Comparison::geu},
    {"num", Comparison::num},
    {"nan", Comparison::nan},
}};

} // namespace

Form decode(const Opcode &opcode) {
  Form form;
  form.type = opcode.type;
  form.source_type = opcode.second_type;
  form.width = bit_width(opcode.type);
  form.source_width = bit_width(opcode.second_type);
  form.is_signed = is_signed(opcode.type);
  form.source_signed = is_signed(opcode.second_type);
  form.text = opcode.text;
  for (const std::string_view modifier : opcode.modifiers)
    if (const ScalarType type = scalar_type(modifier); type != ScalarType::none)
      form.third_signed = is_signed(type); // the last one's
  if (opcode.base.starts_with("vset") || opcode.op == Op::set || opcode.op == Op::setp)
    for (const auto &[name, comparison] : comparisons)
      if (opcode.has(name))
        form.comparison = comparison;
  return form;
}

} // namespace ptxasw::emulator
