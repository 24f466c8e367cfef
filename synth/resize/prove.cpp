// The proof of a kernel whose blocks have another extent along x, from its text.
//
// Let N be the threads of the kernel's launch along x, grid times block, fewer than 2^31 of them
// (the table demands it), and B the other extent. The kernel's thread with the global index g,
// which is ctaid.x * ntid.x + tid.x, is the one with that index in the version: there is one for
// each g below N, since the grid has N / B blocks, rounded up, and no index wraps around. Both have
// the same place along y and z, whose extents are the same. Along x the kernel computes
// (emulator/facts/global_index.cpp)
//
//   - with the global index, which is g in both;
//   - with gridDim.x * blockDim.x: N in the kernel, and in the version N too, if B divides N; only
//     then is a kernel that asks for it proved. So the version's threads are exactly the N, and its
//     body is the kernel's, to the letter;
//   - with nothing else.
//
// A kernel that does not ask may have threads to spare in the last block, with indices of N and
// more. The version begins by computing g and N = grid * block from the two parameters that the
// table has appended, and those threads end there, before the kernel's own body, which follows to
// the letter in a scope of its own. What was added writes registers that the body does not name.
//
// So for each thread of the kernel one of the version takes the same steps on the same values, and
// no other does anything. Which threads share a block or a warp is another matter now: nothing in
// the kernel can tell (spread_obstacle(), independence(): no shared memory, barriers, votes,
// shuffles, lanes, clocks, no branch on which lanes must agree), and without data races the order
// of threads changes nothing that they leave.

#include "synth/resize/resize.h"

#include "grammar/roles.h"
#include "synth/same_launch.h"

#include <algorithm>
#include <fmt/core.h>
#include <optional>
#include <span>
#include <vector>

namespace ptxasw::inline synth {
namespace {

constexpr std::uint32_t most_threads = 1024; ///< of a block

/// What one of the added instructions reads.
struct Source {
  enum class Kind : std::uint8_t { special, result, parameter };
  Kind kind = Kind::special;
  std::string_view special; ///< its name
  std::size_t number = 0;   ///< of the instruction whose result it is; of an appended parameter
};

constexpr Source special(std::string_view name) { return {Source::Kind::special, name, 0}; }
constexpr Source result(std::size_t number) { return {Source::Kind::result, {}, number}; }
constexpr Source appended(std::size_t number) { return {Source::Kind::parameter, {}, number}; }

/// One of the added instructions: it writes a register of its own.
struct Step {
  std::string_view opcode;
  std::vector<Source> sources;
};

/// What is computed before the body; the last one's result decides who leaves.
const std::vector<Step> &steps() {
  static const std::vector<Step> all{
      {"mov.u32", {special("%ctaid.x")}},
      {"mov.u32", {special("%ntid.x")}},
      {"mov.u32", {special("%tid.x")}},
      {"mad.lo.u32", {result(0), result(1), result(2)}}, // g
      {"ld.param.u32", {appended(0)}},
      {"ld.param.u32", {appended(1)}},
      {"mul.lo.u32", {result(4), result(5)}}, // N
      {"setp.ge.u32", {result(3), result(6)}},
  };
  return all;
}

/// What is to be shown of a body with something before it.
class Beginning {
public:
  Beginning(const Module &module, const Function &kernel, const Function &sibling)
      : module_(module), kernel_(kernel), sibling_(sibling) {}

  /// What is not proved; empty: all is.
  std::string fault();

private:
  bool is_step(const Instruction &instruction, const Step &step);
  bool is_source(const Operand &operand, const Source &source) const;
  bool leaves(const Instruction &instruction) const;
  std::string fault_around() const;

  const Module &module_;
  const Function &kernel_, &sibling_;
  std::vector<RegisterId> results_;
};

bool Beginning::is_source(const Operand &operand, const Source &source) const {
  if (operand.negated || operand.selector != 0)
    return false;
  switch (source.kind) {
  case Source::Kind::special:
    return operand.kind == Operand::Kind::special && module_.text(operand.span) == source.special;
  case Source::Kind::result:
    return operand.kind == Operand::Kind::reg && operand.reg == results_[source.number];
  case Source::Kind::parameter:
    break;
  }
  if (operand.kind != Operand::Kind::address || operand.value != 0)
    return false;
  const Operand &base = module_.children(operand)[0];
  if (base.kind != Operand::Kind::symbol || base.value != 0)
    return false;
  const Symbol &symbol = module_.symbol(base);
  return symbol.kind == Symbol::Kind::parameter &&
         symbol.index == kernel_.parameters.size() + source.number;
}

bool Beginning::is_step(const Instruction &instruction, const Step &step) {
  const auto operands = module_.operands(instruction);
  if (!instruction.well_formed || instruction.guard != no_register ||
      module_.opcode(instruction).text != step.opcode ||
      operands.size() != step.sources.size() + 1 || operands[0].kind != Operand::Kind::reg ||
      operands[0].selector != 0 || operands[0].negated)
    return false;
  for (std::size_t i = 0; i < step.sources.size(); ++i)
    if (!is_source(operands[i + 1], step.sources[i]))
      return false;
  const RegisterId reg = operands[0].reg;
  if (sibling_.registers[reg].vector != 1 ||
      std::find(results_.begin(), results_.end(), reg) != results_.end())
    return false;
  results_.push_back(reg);
  return true;
}

bool Beginning::leaves(const Instruction &instruction) const {
  return instruction.well_formed && instruction.guard == results_.back() &&
         !instruction.guard_negated && module_.opcode(instruction).text == "ret";
}

// That the kernel's own body stands inside, and nothing else but the steps does around it.
std::string Beginning::fault_around() const {
  if (sibling_.scopes.size() != kernel_.scopes.size() + 1 || sibling_.scopes[1].parent != 0 ||
      module_.text(sibling_.scopes[1].span) != module_.text(kernel_.body))
    return "its body is another";
  const Span inside = sibling_.scopes[1].span;
  const std::string_view behind = module_.text({inside.end, sibling_.body.end});
  if (behind.find_first_not_of(" \t\r\n}") != std::string_view::npos)
    return "something follows its body";
  const std::size_t added = steps().size() + 1;
  if (sibling_.instructions.size() != kernel_.instructions.size() + added ||
      sibling_.instructions[added - 1].span.end > inside.begin ||
      sibling_.labels.size() != kernel_.labels.size() ||
      sibling_.variables.size() != kernel_.variables.size() ||
      sibling_.target_lists.size() != kernel_.target_lists.size())
    return "more is done before its body";
  return "";
}

std::string Beginning::fault() {
  if (std::string why = fault_around(); !why.empty())
    return why;
  const std::size_t count = steps().size();
  for (std::size_t i = 0; i < count; ++i)
    if (!is_step(sibling_.instructions[i], steps()[i]))
      return fmt::format("line {}: not what is to be computed there",
                         sibling_.instructions[i].line);
  if (!leaves(sibling_.instructions[count]))
    return fmt::format("line {}: not the end of threads beyond the last",
                       sibling_.instructions[count].line);
  for (std::size_t i = count + 1; i < sibling_.instructions.size(); ++i) {
    bool named = false;
    for_each_register(module_, sibling_.instructions[i], [&](RegisterId reg, RegisterUse) {
      named |= std::find(results_.begin(), results_.end(), reg) != results_.end();
    });
    if (named)
      return fmt::format("line {}: it uses what was added", sibling_.instructions[i].line);
  }
  return "";
}

/// What is wrong with the parameters behind the kernel's own; empty: nothing.
std::string appended_fault(const Module &module, const Function &kernel, const Function &sibling) {
  for (std::size_t i = kernel.parameters.size(); i < sibling.parameters.size(); ++i) {
    const Variable &parameter = sibling.parameters[i];
    if (parameter.type != ScalarType::u32 || parameter.size() != 4 || parameter.is_array ||
        parameter.alignment > 4)
      return "an appended parameter is no extent";
    if (module.text(kernel.body).find(parameter.name) != std::string_view::npos)
      return "its body names an appended parameter";
  }
  return "";
}

} // namespace

std::string prove_resize(const KernelContext &context, const Function &sibling,
                         const Proposal &proposal) {
  const auto &[written, kernel] = std::tie(context.module, context.kernel);
  if (const auto obstacle = resize_obstacle(context))
    return std::string(obstacle->meaning);
  const std::uint32_t extent = proposal.sibling.extent[0];
  const bool exact = proposal.sibling.needs.extent_multiple[0] != 1;
  Sibling claim = resized(extent, exact);
  claim.name = proposal.sibling.name;
  if (extent == 0 || extent > most_threads || proposal.sibling != claim)
    return "the table does not say what is proved";
  if (counts_threads(written, kernel) && !exact)
    return "the number of threads would be another";
  MoreThanKernel more{.parameters = 2};
  if (!exact)
    more.instructions = static_cast<std::uint32_t>(steps().size()) + 1;
  if (std::string why = same_launch_header_fault(written, kernel, written, sibling, more);
      !why.empty())
    return why;
  if (std::string why = appended_fault(written, kernel, sibling); !why.empty())
    return why;
  if (exact)
    return written.text(kernel.body) == written.text(sibling.body) ? "" : "its body is another";
  return Beginning(written, kernel, sibling).fault();
}

} // namespace ptxasw::synth
