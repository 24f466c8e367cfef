// The text that stands in a coarsened version for the kernel's: whoever writes it prints these
// lines, and the proof asks for the same.

#include "synth/coarsen/coarsening.h"

#include "emulator/semantics/effects.h"

#include <algorithm>
#include <fmt/core.h>
#include <fmt/ranges.h>

namespace ptxasw::synth {
namespace {

constexpr unsigned fewest_lone_copies = 8;

} // namespace

// A kernel's own memory has other names in each copy. What lanes do together they must do for the
// same copy, which different codes keep apart. Few copies lose more by the moves than the assembler
// gains.
bool Coarsening::can_be_alone_at_once() const {
  bool can = copies_ >= fewest_lone_copies && allocations_.empty() && dynamic_.empty();
  for (std::uint32_t i = 0; i < count(); ++i)
    can = can && !gathers_lanes(opcode(i)) && !asks_which_lanes(opcode(i));
  for (RegisterId reg = 0; reg < kernel_.registers.size(); ++reg)
    can = can && (shared_[reg] || can_be_copied(kernel_.registers[reg]));
  return can;
}

Renaming Coarsening::renaming(unsigned k, bool alone) const {
  Renaming result;
  const bool lone = alone && alone_at_once_;
  for (RegisterId reg = 0; reg < kernel_.registers.size(); ++reg)
    result.registers.push_back(
        alone && (has_own_[reg] || (lone && !shared_[reg])) ? names_.own(reg) : name_of(reg, k));
  if (form_.copies > 1)
    result.specials = {{form_.index(), lone ? CoarsenNames::lone_index
                                            : CoarsenNames::index(form_, form_.row_of(k))},
                       {form_.extent(), CoarsenNames::extent(form_)}};
  if (form_.along_x > 1) // a point is a block of one thread
    result.specials.insert(
        result.specials.end(),
        {{"%ctaid.x", lone ? CoarsenNames::lone_point : CoarsenNames::point(form_.column_of(k))},
         {"%ntid.x", CoarsenNames::one},
         {"%tid.x", CoarsenNames::zero},
         {"%nctaid.x", CoarsenNames::points}});
  if (form_.tall) // a row is a block of one row
    result.specials.insert(result.specials.end(),
                           {{"%ntid.y", CoarsenNames::one}, {"%tid.y", CoarsenNames::zero}});
  if (form_.counts_rows())
    result.specials.insert(result.specials.end(),
                           {{"%ctaid.y", CoarsenNames::row}, {"%nctaid.y", CoarsenNames::rows}});
  for (std::size_t allocation = 0; allocation < allocations_.size(); ++allocation)
    result.symbols.emplace_back(allocations_[allocation].symbol, allocation_name(allocation, k));
  for (std::size_t allocation = 0; k > 0 && allocation < dynamic_.size(); ++allocation)
    result.symbols.emplace_back(dynamic_[allocation], CoarsenNames::begin(allocation, k));
  for (std::size_t i = 0; i < passing_.size(); ++i)
    result.symbols.emplace_back(passing_[i], CoarsenNames::passing(i));
  return result;
}

std::string Coarsening::move(const std::string &to, const std::string &from, ScalarType type) {
  return fmt::format("mov.{} {}, {}", copied_as(type), to, from);
}

Coarsening::Lines Coarsening::lines_of(std::uint32_t instruction, unsigned k) const {
  const Instruction &own = kernel_.instructions[instruction];
  Lines lines;
  for (std::size_t load = 0; load < plan_.loads.size(); ++load) {
    const WideLoad &wide = plan_.loads[load];
    if (wide.at != Instance{instruction, k})
      continue;
    std::vector<std::string> values;
    for (unsigned e = 0; e < wide.elements; ++e)
      values.push_back(CoarsenNames::wide(load, e));
    lines.text.push_back(access({instruction, wide.addressed_by}, wide.displacement, values));
    lines.filled.push_back(load);
    lines.addressed_by.push_back(wide.addressed_by);
  }
  const auto take = [&](const std::string &from) {
    const RegisterId reg = wide_value(module_, kernel_, instruction);
    lines.text.push_back(move(name_of(reg, k), from, kernel_.registers[reg].type));
  };
  const auto merged = std::find_if(merged_.begin(), merged_.end(), [&](const MergedLoad &one) {
    return one.load == Instance{instruction, k};
  });
  if (const WideStore *const store = plan_.store({instruction, k})) {
    std::vector<std::string> values;
    for (unsigned e = 0; e < store->elements; ++e)
      values.push_back(name_of(wide_value(module_, kernel_, instruction), k + e));
    lines.text.push_back(access({instruction, store->addressed_by}, store->displacement, values));
    lines.copies = store->elements;
    lines.addressed_by.push_back(store->addressed_by);
  } else if (const auto part = plan_.part({instruction, k})) {
    take(CoarsenNames::wide(part->first, part->second));
    lines.part = part->first;
  } else if (merged != merged_.end() && !sharing_.is_shared(own) && !skew_.around(instruction) &&
             !skew_.around(merged->from.instruction)) {
    take(name_of(wide_value(module_, kernel_, merged->from.instruction), merged->from.copy));
  } else {
    lines.text.push_back(renamed(module_, own, together_[k]));
    lines.text.back().pop_back(); // its semicolon
  }
  return lines;
}

std::vector<std::string> Coarsening::lines_of(const CallGroup &group, const Renaming &names) const {
  std::vector<std::string> lines;
  if (group.kind == CallGroup::Kind::assertion)
    lines = printed(names);
  for (std::uint32_t i = group.first; i < group.end; ++i) {
    lines.push_back(renamed(module_, kernel_.instructions[i], names));
    lines.back().pop_back(); // its semicolon
  }
  return lines;
}

void Coarsening::declare_passing(CodeWriter &out) const {
  for (std::size_t i = 0; i < passed_.size(); ++i)
    out.declare_like(passed_[i], CoarsenNames::passing(i));
  if (asserts())
    out.declare_text(CoarsenNames::format, CoarsenNames::format_text);
}

bool Coarsening::asserts() const {
  return std::any_of(calls_.groups.begin(), calls_.groups.end(), [](const CallGroup &group) {
    return group.kind == CallGroup::Kind::assertion;
  });
}

// Of `vprintf` both arguments and the result, and the three numbers that it prints, in the order in
// which printed() counts them.
std::vector<Variable> Coarsening::find_passed() const {
  std::vector<Variable> all;
  for (const Symbol &symbol : passing_)
    all.push_back(*module_.variable(symbol));
  if (!asserts())
    return all;
  for (const ScalarType type : {ScalarType::b64, ScalarType::b64, ScalarType::b32})
    all.push_back({.space = StateSpace::param, .type = type});
  all.push_back({.space = StateSpace::local,
                 .type = ScalarType::b32,
                 .count = 3,
                 .alignment = 8,
                 .is_array = true});
  return all;
}

/// Prints the kernel's block that a copy is.
std::vector<std::string> Coarsening::printed(const Renaming &names) const {
  const std::size_t mine = passing_.size();
  const std::string text = CoarsenNames::passing(mine), numbers = CoarsenNames::passing(mine + 1),
                    result = CoarsenNames::passing(mine + 2),
                    place = CoarsenNames::passing(mine + 3);
  std::vector<std::string> lines;
  const auto pass = [&](const std::string &as, std::string_view what, std::string_view space) {
    lines.push_back(fmt::format("mov.u64 {}, {}", CoarsenNames::said, what));
    lines.push_back(
        fmt::format("cvta.{}.u64 {}, {}", space, CoarsenNames::said, CoarsenNames::said));
    lines.push_back(fmt::format("st.param.b64 [{}], {}", as, CoarsenNames::said));
  };
  // First what replay.cpp does not take for added code, and skip: the address of a variable.
  pass(text, CoarsenNames::format, "global");
  for (unsigned axis = 0; axis < 3; ++axis) {
    const std::string own = fmt::format("%ctaid.{}", "xyz"[axis]);
    const auto found = std::find_if(names.specials.begin(), names.specials.end(),
                                    [&](const auto &one) { return one.first == own; });
    lines.push_back(fmt::format("mov.u32 {}, {}", CoarsenNames::told,
                                found == names.specials.end() ? own : found->second));
    lines.push_back(fmt::format("st.local.u32 [{}+{}], {}", place, 4 * axis, CoarsenNames::told));
  }
  pass(numbers, place, "local");
  lines.push_back(fmt::format("call ({}), vprintf, ({}, {})", result, text, numbers));
  return lines;
}

/// A load or store of several values, like an instance's own of one.
std::string Coarsening::access(const Instance &instance, std::int64_t displacement,
                               const std::vector<std::string> &values) const {
  const Opcode &opcode = module_.opcode(kernel_.instructions[instance.instruction]);
  const auto [base, bytes] = wide_address(module_, kernel_, instance.instruction);
  const std::int64_t offset = bytes + displacement;
  const std::string address = fmt::format("[{}{}]", name_of(base, instance.copy),
                                          offset == 0 ? "" : fmt::format("+{}", offset));
  const std::string list =
      values.size() == 1 ? values[0] : fmt::format("{{{}}}", fmt::join(values, ", "));
  const bool is_store = opcode.op == Op::st;
  return fmt::format("{} {}, {}", wide_opcode(opcode, static_cast<unsigned>(values.size())),
                     is_store ? address : list, is_store ? list : address);
}

std::string Coarsening::difference(const WideTest &test) const {
  const RegisterId base = wide_address(module_, kernel_, test.instruction).base;
  return fmt::format("sub.s64 {}, {}, {}", CoarsenNames::distance, name_of(base, test.high),
                     name_of(base, test.low));
}

} // namespace ptxasw::synth
