// The rules, one after the other.

#include "analysis/lint/lint.h"

#include <algorithm>

namespace ptxasw::analysis::lint {
namespace {

constexpr void (*rules[])(Context &) = {
    find_uncoalesced,        find_bank_conflicts,       find_divergent_loops,
    find_local_memory,       find_uniform_loads,        find_divisions,
    find_misaligned_vectors, find_vector_preconditions, find_reuse_thrashing,
    find_contended_atomics,
};

} // namespace

std::vector<Warning> warnings_of(const facts::KernelFacts &facts, const Options &options) {
  std::vector<Warning> warnings;
  Context context{facts, options, warnings};
  for (const auto rule : rules)
    rule(context);
  std::stable_sort(warnings.begin(), warnings.end(), [](const Warning &a, const Warning &b) {
    return a.instruction < b.instruction;
  });
  return warnings;
}

} // namespace ptxasw::analysis::lint
