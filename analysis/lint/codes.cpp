// The table of codes, in the order of the enum.

#include "analysis/lint/codes.h"

#include <algorithm>
#include <array>

namespace ptxasw::analysis::lint {
namespace {

constexpr std::array<CodeInfo, code_count> table{{
    {Code::uncoalesced, "uncoalesced",
     "lanes of a warp touch more sectors of global memory than their bytes fill"},
    {Code::bank_conflict, "bank-conflict", "lanes want different words of one bank"},
    {Code::divergent_loop, "divergent-loop", "lanes of a warp leave a loop at different iterations",
     false},
    {Code::local_memory, "local-memory", "what could be in registers is in memory"},
    {Code::uniform_load, "uniform-load", "all lanes load one address, in every iteration", false},
    {Code::redundant_load, "redundant-load", "the thread or its warp already has the value", false},
    {Code::wide_index, "wide-index", "a 64-bit division in a loop"},
    {Code::division, "division",
     "a division in an index, or of 32 bits in a loop, by a number of the launch", false},
    {Code::misaligned_vector, "misaligned-vector", "a vector access that no launch can align"},
    {Code::vector_precondition, "vector-precondition", "what vector accesses need of the launch",
     false},
    {Code::reuse_thrashing, "reuse-thrashing",
     "threads walk more cache lines at a time than the L1 holds"},
    {Code::contended_atomic, "contended-atomic", "all lanes of a warp update one address"},
    {Code::races, "races", "two threads race in a launch that was run", false, true},
}};

} // namespace

std::span<const CodeInfo, code_count> codes() { return table; }

const CodeInfo &info(Code code) { return table[static_cast<std::size_t>(code)]; }

std::optional<Code> code_of(std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const CodeInfo &i) { return i.name == name; });
  return found == table.end() ? std::nullopt : std::optional(found->code);
}

} // namespace ptxasw::analysis::lint
