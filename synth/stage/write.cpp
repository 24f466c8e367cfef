// What is told of a version (script.cpp) is printed before the kernel's first instruction, its
// registers and its tile before that.

#include "synth/stage/stage.h"

#include "grammar/edits.h"
#include "grammar/pragmas.h"
#include "synth/test_writer.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::synth::stage {

std::uint32_t begin_of_code(const Function &kernel) {
  std::uint32_t begin = begin_with_pragmas(kernel, 0);
  for (const Label &label : kernel.labels)
    if (label.position == 0)
      begin = std::min(begin, label.span.begin);
  return begin;
}

std::optional<std::string> write_staged(const KernelContext &context, const Staging &staging) {
  const Module &module = context.module;
  Script script(unused_prefix(module.text(), prefix));
  std::string declarations;
  const auto know = [&](std::string_view own, std::size_t ranges, const Counted &rounds) {
    NewRegisters fresh(fmt::format("{}{}", script.prefix, own));
    TestWriter writer(context.kernel, staging.atoms, fresh);
    if (!rounds.conditions.empty())
      writer.all(rounds.conditions, script.filled("<p_counted>"));
    const auto keep = [&](const std::string &hole, const facts::Polynomial &polynomial) {
      const std::string value = writer.value(polynomial);
      writer.out.write("mov.b64 {}, {}", script.filled(hole), value);
    };
    for (std::size_t i = 0; i < ranges; ++i)
      keep(fmt::format("<w_first{}>", i), staging.ranges[i].first);
    keep("<w_rounds>", rounds.count);
    script.text += writer.out.lines();
    if (const std::string own_lines = fresh.declarations(); !own_lines.empty())
      declarations += own_lines.substr(2) + "\n\t"; // it begins where a line does
    script.line(rounds.conditions.empty() ? "mov.u32 <r_comes>, 1"
                                          : "selp.u32 <r_comes>, 1, 0, <p_counted>");
  };
  tell_staged(context, staging, script, know);
  for (const auto &[reg, type] : script.registers)
    declarations += fmt::format(".reg .{} {};\n\t", to_string(type), reg);
  declarations += fmt::format(".shared .align 16 .b8 {}tile[{}];\n", script.prefix, staging.size);
  Edits edits;
  edits.insert(begin_of_code(context.kernel), declarations + script.text);
  return edits.apply(module.text());
}

} // namespace ptxasw::synth::stage
