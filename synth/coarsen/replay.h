#pragma once

// Runs what a re-tiled kernel has beyond the kernel's own instructions - which copy goes where - on
// expressions.

#include "emulator/symbolic/known.h"
#include "emulator/symbolic/line_evaluator.h"

#include <cstdint>
#include <fmt/core.h>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace ptxasw::synth {

/// What registers of the sibling hold, as far as that is known.
using ReplayState = std::map<RegisterId, Expr>;

/// Where the added code ends: at an instruction that is not part of it or depends on what is not
/// known, or where the thread ends.
struct ReplayEnd {
  std::uint32_t position = 0;
  bool exit = false;
};

class Replay {
public:
  /// `is_control`: by register of the sibling; others are of the kernel's copies.
  Replay(ExprPool &pool, const Module &module, const Function &sibling,
         const std::vector<bool> &is_control)
      : pool_(pool), module_(module), sibling_(sibling), is_control_(is_control),
        evaluate_(pool, module) {}

  /// Lets other lanes go first, and does nothing (PTX ISA 9.7.19, `nanosleep`).
  static constexpr std::string_view pause = "nanosleep.u32 0";

  /// Runs added code from a position on. `state` has what is known before and after, `known` what
  /// the run takes for granted; unless it `executes` it only follows branches. Nothing if it never
  /// ends.
  std::optional<ReplayEnd> run(std::uint32_t position, ReplayState &state, const Known &known,
                               bool executes = true) const;
  /// Follows branches that are always taken.
  std::optional<std::uint32_t> skip(std::uint32_t position) const {
    ReplayState nothing;
    const auto end = run(position, nothing, Known(pool_), false);
    return end ? std::optional(end->position) : std::nullopt;
  }

  // What added code reads from elsewhere, 32 bits unless it is a register's:
  /// a special register that tells a thread's place, or `%dynamic_smem_size`,
  Expr special(std::string_view name) const { return unknown(name, 32); }
  /// a parameter of the sibling's, by index,
  Expr parameter(std::size_t index) const { return unknown(fmt::format("[{}]", index), 32); }
  /// where memory begins whose size the launch says: a variable of the module, by index,
  Expr begin(std::size_t variable) const { return unknown(fmt::format("&{}", variable), 32); }
  /// a register that added code does not write.
  Expr held(RegisterId reg) const {
    return unknown(fmt::format("r{}", reg), bit_width(sibling_.registers[reg].type));
  }

private:
  bool execute(const Instruction &instruction, ReplayState &state) const;
  Expr value(const Operand &operand, const ReplayState &state) const;
  Expr unknown(std::string_view name, unsigned width) const {
    return pool_.uninterpreted(name, width, {});
  }

  ExprPool &pool_;
  const Module &module_;
  const Function &sibling_;
  const std::vector<bool> &is_control_;
  const LineEvaluator evaluate_;
};

} // namespace ptxasw::synth
