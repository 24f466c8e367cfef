// Words are taken in the one order that PTX has them in; what is left over is not understood.

#include "synth/cache/qualified.h"

#include <fmt/core.h>

namespace ptxasw::inline synth::cache {
namespace {

constexpr unsigned widest = 16; ///< bytes that one load reads on every target

/// What the words from `next` on say, that of the space being known.
std::optional<QualifiedLoad> qualified(const Opcode &opcode, std::size_t next, QualifiedLoad load) {
  const auto take = [&](std::string_view name) {
    const bool is_next = next < opcode.modifiers.size() && opcode.modifiers[next] == name;
    next += is_next;
    return is_next;
  };
  load.nc = !load.generic && take("nc");
  for (const std::string_view priority : {"evict_last", "no_allocate"})
    if (load.l1.empty() && take(fmt::format("L1::{}", priority)))
      load.l1 = priority;
  if (take("L2::128B"))
    load.l2 = "128B";
  for (const std::string_view vec : {"v2", "v4"})
    if (load.vec.empty() && take(vec))
      load.vec = vec;
  if (next + 1 != opcode.modifiers.size() || opcode.type == ScalarType::none ||
      opcode.type == ScalarType::b128 || opcode.vector * bit_width(opcode.type) > 8 * widest)
    return std::nullopt;
  load.type = opcode.modifiers[next];
  return load;
}

} // namespace

std::string QualifiedLoad::opcode() const {
  std::string text = generic ? "ld" : nc ? "ld.global.nc" : "ld.global";
  if (!l1.empty())
    text += fmt::format(".L1::{}", l1);
  if (!l2.empty())
    text += fmt::format(".L2::{}", l2);
  if (!vec.empty())
    text += fmt::format(".{}", vec);
  return text + fmt::format(".{}", type);
}

std::optional<QualifiedLoad> qualified_load(const Opcode &opcode) {
  if (opcode.op != Op::ld || opcode.modifiers.empty() || opcode.modifiers[0] != "global")
    return std::nullopt;
  return qualified(opcode, 1, {});
}

std::optional<QualifiedLoad> generic_load(const Opcode &opcode) {
  if (opcode.op != Op::ld || opcode.space != StateSpace::generic)
    return std::nullopt;
  QualifiedLoad load;
  load.generic = true;
  return qualified(opcode, 0, load);
}

std::string_view too_old_for(const Module &module, const QualifiedLoad &load) {
  const unsigned version = 100 * module.version_major + module.version_minor;
  if (load.nc && (version < 301 || module.sm < 32))
    return ".nc needs PTX 3.1 and sm_32";
  if (!load.l1.empty() && (version < 704 || module.sm < 70))
    return "L1:: needs PTX 7.4 and sm_70";
  if (!load.l2.empty() && (version < 704 || module.sm < 75))
    return "L2::128B needs PTX 7.4 and sm_75";
  return "";
}

} // namespace ptxasw::synth::cache
