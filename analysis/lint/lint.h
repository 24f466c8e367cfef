#pragma once

// What a kernel does that costs more than it needs to: warnings in the style of a compiler.
//   for (const Warning &warning : warnings_of(facts, {})) warning.message

#include "analysis/lint/codes.h"
#include "emulator/facts/kernel_facts.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw::analysis::lint {

/// One finding. Whoever prints it looks up its place in a source file.
struct Warning {
  Code code = Code::uncoalesced;
  std::uint32_t instruction = 0; ///< index in Function::instructions
  std::string message;
  std::string note;        ///< what would help
  std::uint64_t cost = 1;  ///< sectors, wavefronts: what a baseline compares
  std::uint32_t block = 0; ///< the threads of a block that would help; 0: none would
};

/// What a rule looks at and adds to.
struct Context {
  const facts::KernelFacts &facts;
  const Options &options;
  std::vector<Warning> &warnings;
};

/// All rules over one kernel: in source order, within one instruction in the order of the codes.
/// redundant_load, which is an answer of the rewriter, and races, which runs launches, are added in
/// wrapper/lint/collect.cpp.
std::vector<Warning> warnings_of(const facts::KernelFacts &facts, const Options &options);

// The rules, one file per group.
void find_uncoalesced(Context &context);
void find_bank_conflicts(Context &context);
void find_divergent_loops(Context &context);
void find_local_memory(Context &context);
void find_uniform_loads(Context &context);
void find_divisions(Context &context);
void find_misaligned_vectors(Context &context);
void find_vector_preconditions(Context &context);
void find_reuse_thrashing(Context &context);
void find_contended_atomics(Context &context);

/// A number of bytes between two lanes, in the words of the kernel: `8`, `4 * n`; empty if there is
/// no such number.
std::string stride_text(const facts::KernelFacts &facts, const facts::Access &access);
/// An expression in decimal numbers, without what only says how wide it is.
std::string readable(const ExprPool &pool, Expr expr);

} // namespace ptxasw::analysis::lint
