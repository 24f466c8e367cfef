#pragma once

// What `ptxasw emulate` prints of a run: faults, profiles, values of registers at a line. `prove`
// and `explain` have from here how a line of the PTX is called for people.

#include "emulator/machine/launch_description.h"
#include "wrapper/lint/sources.h"

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>

namespace ptxasw::wrapper {

/// A fault for programs: kind, message, kernel, line, lane, block, thread, address, others; null if
/// there is none. Its schema is in docs/emulate.schema.json.
nlohmann::ordered_json fault_json(const std::optional<WarpFault> &fault);

/// A launch as faults of its run are told: with the source's lines, what arguments are called, and
/// the variables of shared memory.
struct ToldLaunch {
  const WarpProgram &program;
  const LaunchDescription &launch;
  const PreparedLaunch &prepared;
  const GlobalMemory &memory;
  const Places &places;
  Sources &sources;
};

/// Where the instruction at a line of the PTX is from; nothing without `.loc`.
std::optional<Place> source_of(const Module &module, const Places &places, std::uint32_t line);
/// The same as text: `heat.cu:5:3`, or `line 12` of the PTX where
/// nothing says it.
std::string line_text(const Module &module, const Places &places, std::uint32_t line);

/// A fault for people, in lines: place, kind, what was there; `count`: how often.
std::string told_fault(const WarpFault &fault, std::uint64_t count, const ToldLaunch &launch);

/// Executions by instruction, in lines, and for programs.
void print_profile(const WarpProgram &program, const WarpOutcome &outcome);
nlohmann::ordered_json profile_json(const WarpProgram &program, const WarpOutcome &outcome);

/// Prints the values of registers whenever lanes come to a line, and what single threads do.
class Debugger : public WarpObserver {
public:
  Debugger(const WarpProgram &program, std::FILE *to) : program_(program), to_(to) {}
  void break_at(std::uint32_t line) { lines_.push_back(line); }
  void print(std::string name) { names_.push_back(std::move(name)); }
  /// A thread by its number in its block, and the block's coordinates.
  void trace(std::uint32_t thread, const Extents &block) { traced_.push_back({thread, block, {}}); }
  /// Errors: what was asked for but is missing from the module.
  tl::expected<void, std::string> check() const;

  void before(const WarpStep &step) override;

private:
  struct Traced {
    std::uint32_t thread = 0;
    Extents block;
    const WarpInstruction *last = nullptr; ///< whose results are still to be reported
  };
  void stop(const WarpStep &step);
  void follow(Traced &traced, const WarpStep &step, unsigned lane);
  std::string text_of(const WarpStep &step) const;
  std::string value_of(const WarpStep &step, std::string_view name, unsigned lane) const;

  const WarpProgram &program_;
  std::FILE *const to_;
  std::vector<std::uint32_t> lines_;
  std::vector<std::string> names_;
  std::vector<Traced> traced_;
};

} // namespace ptxasw::wrapper
