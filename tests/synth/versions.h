#pragma once

// What the tests of families have in common whose versions are launched as their kernel is.

#include "emulator/machine/warp_verify.h"
#include "grammar/module.h"
#include "synth/prove/not_proved.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

std::string file_text(const std::filesystem::path &path);

/// A module that must be one.
std::unique_ptr<ptxasw::ptx::Module> parsed(const std::string &text);

/// The function that a test is about: the last one.
const ptxasw::ptx::Function &only(const ptxasw::ptx::Module &module);

/// What is not proved; empty: all is.
inline std::string fault_of(const ptxasw::proof::Proved &proof) {
  return proof ? "" : proof.error().why;
}

/// A hazard's file as it is, without the lines of its twin.
std::string hazard(const std::filesystem::path &path);

/// The twin of a hazard's file.
std::string twin(const std::filesystem::path &path);

/// A text with a line behind each one that has `line` in it; before it if `before`.
std::string with_line(const std::string &text, std::string_view line, std::string_view added,
                      bool before = false);

/// How lines that a family wrote are changed.
struct LineChanges {
  std::string_view mark; ///< is in each line that the family wrote: "meld0_"
  /// Regular expressions and what stands instead of what they match.
  std::vector<std::pair<const char *, const char *>> changes;
  unsigned runs = 4; ///< of what the proof takes, on the warp emulator
  /// The proof of a text in the place of a module's.
  std::function<ptxasw::proof::Proved(const ptxasw::ptx::Module &module,
                                      const ptxasw::ptx::Module &after)>
      prove;
  /// If a version stands behind the module's own text: how it is launched.
  std::optional<ptxasw::synth::Sibling> stand_in = {};
};

/// Of so many mutants one is tried: of 1, unless the environment's PTXASW_MUTANT_STRIDE asks for a
/// sample, as the run with sanitizers does, which looks for faults of the program and not of the
/// proofs.
unsigned mutant_stride();

/// True if `count` stands for more than so many of all mutants; of a sample, in which chance
/// decides, for half as many.
bool more_than(unsigned count, unsigned of_all);

/// True if the next mutant belongs to the sample.
bool next_in_sample();

/// What became of changed texts.
struct MutantCount {
  unsigned tried = 0, refused = 0, no_ptx = 0, harmless = 0;
};

/// Changes each line of a text that a family wrote in every way, leaves it out, has it twice and
/// behind the next one. What the proof takes must compute what the module's last kernel does.
void try_mutants(const ptxasw::ptx::Module &module, const std::string &text,
                 const LineChanges &changes, MutantCount &count);
