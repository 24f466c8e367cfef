#pragma once

#include "grammar/namespaces.h"
#include "operands.h"

#include <string>
#include <vector>

namespace ptxasw::conformance {

/// One result of a thread.
struct Result {
  unsigned width = 32;    ///< bits: 1, 16, 32 or 64
  bool in_memory = false; ///< the body stores it itself, at [%out + 8 * position]
};

/// An instruction with its modifiers and types, and a few lines of PTX around it.
///
/// In the body `%a0` to `%a3` are the operands (predicates, if their kind is a flag, and `%c0` the
/// same as a number), `%d0` and so on the results, `%x0`..`%x3`, `%y0`.., `%h0`.. scratch registers
/// of 32, 64 and 16 bits, `%p0`.. predicates, `%out` the address of this thread's results, `%cell`
/// that of 16 bytes of shared memory.
struct Variant {
  std::string name; ///< unique: the opcode and what else makes it
  std::vector<OperandKind> operands;
  std::vector<Result> results;
  std::string body;
  unsigned sets = 256;
};

/// Every line of the instruction tables in every spelling that it admits, and what the tables do
/// not hold: lanes acting together, atomics, loads and stores, pairs of results. Some of it is not
/// valid PTX; the assembler says which.
const std::vector<Variant> &variants();

/// A kernel `v<number>(in, out)` that evaluates a variant once per thread.
std::string kernel_text(const Variant &variant, std::size_t number);
/// What goes before the kernels.
std::string module_head(const std::string &target);

/// True if the manual leaves open what an instruction gives for these operands.
bool is_undefined(const Variant &variant, const std::vector<std::uint64_t> &operands);

/// Bytes from one thread's results to the next one's.
unsigned result_stride(const Variant &variant);

} // namespace ptxasw::conformance
