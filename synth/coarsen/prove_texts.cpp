// What surrounds the code of a coarsened version, and its instructions as the kernel's under other
// names.

#include "synth/coarsen/prove_texts.h"

#include "emulator/semantics/effects.h"
#include "grammar/roles.h"
#include "synth/prove/header.h"
#include "synth/script.h"

#include <algorithm>
#include <span>

namespace ptxasw::synth {

void CoarsenTexts::check_header() const {
  using proof::show;
  proof::check_entry(module_, kernel_, module_, sibling_,
                     form_.appended_grids().size() + form_.appended_blocks().size());
  show(sibling_.scopes.size() == 1 && sibling_.target_lists.empty() &&
           sibling_.return_parameters.empty(),
       "it declares more than registers and variables");
  check_variables();
  for (const Pragma &pragma : sibling_.pragmas)
    show(pragma.text == "nounroll", "a pragma is not known");
  // Its warps are not the kernel's, so nothing is known of what lanes agree on.
  for (Position i = 0; i < sibling_.instructions.size(); ++i)
    require(sibling_.instructions[i].guard == no_register ||
                !wants_agreement(module_.opcode(sibling_.instructions[i])),
            i, "a branch on which lanes must agree");
  // What bounds the block must be there as it was: more would refuse launches. A limit of the
  // registers changes nothing but the time.
  for (const PerformanceDirective &directive : sibling_.directives)
    show(directive.name == "maxnreg" ||
             std::find(kernel_.directives.begin(), kernel_.directives.end(), directive) !=
                 kernel_.directives.end(),
         "a directive is not the kernel's");
}

// A variable for each copy in place of each of the kernel's. Behind them, as they are printed, one
// like each that the kernel passes to calls, and what is printed before an assertion.
void CoarsenTexts::check_variables() const {
  using proof::show;
  const std::span<const Variable> all = sibling_.variables;
  const std::size_t own = allocations_.size() * copies_;
  show(all.size() >= own, "it has not one variable for each copy");
  show(allocations_fit(allocations_, copies_), "it has too much shared or local memory");
  for (std::size_t i = 0; i < own; ++i) {
    const Allocation &allocation = allocations_[i / copies_];
    show(all[i].name == allocation_name(i / copies_, static_cast<unsigned>(i % copies_)) &&
             all[i].space == allocation.space && all[i].linkage == Linkage::internal &&
             all[i].size() == allocation.bytes && all[i].initializer.size() == 0 &&
             all[i].alignment % allocation.alignment == 0 && all[i].alignment != 0,
         "a variable is not like the kernel's");
  }
  for (const Variable &variable : passed_)
    show(variable.vector == 1, "a variable for arguments is a vector");
  CodeWriter passing;
  declare_passing(passing);
  std::string text = "{";
  for (const Variable &variable : all.subspan(own))
    text.append(" ").append(module_.text(variable.span));
  show(plain_text(text + " }") == plain_text(passing.body()),
       "not the variables of its calls and assertions");
  show(!asserts() || vprintf_is_the_drivers(), "what prints is not the driver's");
}

// By whatever declaration, and by nothing else that has the name.
bool CoarsenTexts::vprintf_is_the_drivers() const {
  const auto is_named = [](const auto &one) { return one.name == "vprintf"; };
  const auto passes = [](const std::vector<Variable> &all, std::initializer_list<unsigned> bits) {
    return std::equal(all.begin(), all.end(), bits.begin(), bits.end(),
                      [](const Variable &one, unsigned width) {
                        return one.space == StateSpace::param && one.size() * 8 == width &&
                               bit_width(one.type) == width;
                      });
  };
  return std::none_of(module_.variables.begin(), module_.variables.end(), is_named) &&
         std::none_of(sibling_.parameters.begin(), sibling_.parameters.end(), is_named) &&
         std::all_of(module_.functions.begin(), module_.functions.end(),
                     [&](const Function &function) {
                       return !is_named(function) || (function.linkage == Linkage::external &&
                                                      passes(function.return_parameters, {32}) &&
                                                      passes(function.parameters, {64, 64}));
                     });
}

void CoarsenTexts::find_registers() {
  for (RegisterId reg = 0; reg < sibling_.registers.size(); ++reg)
    proof::show(by_name_.try_emplace(sibling_.registers[reg].name, reg).second,
                "two registers have one name");
  proof::check_names(module_, kernel_, sibling_);
  // Returns true if anything mentions it.
  const auto is_like = [&](const std::string &name, RegisterId kernel_register) {
    const RegisterId found = named(name);
    if (found == no_register)
      return false;
    const Register &own = kernel_.registers[kernel_register], &here = sibling_.registers[found];
    proof::show(own.type == here.type && own.vector == here.vector, "a register has another type");
    is_control_[found] = false;
    return true;
  };
  for (RegisterId reg = 0; reg < kernel_.registers.size(); ++reg) {
    for (unsigned k = 0; k < copies_; ++k)
      is_like(name_of(reg, k), reg);
    has_own_[reg] = (alone_at_once_ || sharing_.by_some()[reg]) && is_like(names_.own(reg), reg);
  }
  for (unsigned k = 0; k < copies_; ++k)
    alone_.push_back(renaming(k, true));
  for (std::size_t load = 0; load < plan_.loads.size(); ++load)
    for (unsigned e = 0; e < plan_.loads[load].elements; ++e)
      proof::show(is_like(CoarsenNames::wide(load, e),
                          wide_value(module_, kernel_, plan_.loads[load].at.instruction)),
                  "a register of a wide load is missing");
}

CoarsenTexts::Position CoarsenTexts::skip_kernel(Position theirs, bool alone,
                                                 const DivergentRegion *region) const {
  for (Position steps = 0; steps <= count(); ++steps) {
    if (theirs >= count() || (region && theirs == region->end))
      return theirs;
    if (first_[theirs] || (alone && lets_others_launch(opcode(theirs))))
      ++theirs;
    else if (instead_[theirs])
      theirs = *instead_[theirs];
    else if (is_way(opcode(theirs)) && instruction(theirs).guard == no_register)
      theirs = target_of(theirs);
    else
      return theirs;
  }
  throw proof::NotProved{"the kernel has a loop without an end"};
}

CoarsenTexts::Position CoarsenTexts::target_of(Position theirs) const {
  if (returns(opcode(theirs)))
    return count();
  const auto target = branch_target(module_, kernel_, instruction(theirs));
  proof::show(target.has_value(), "a branch of the kernel is not understood");
  return *target;
}

std::optional<CoarsenTexts::Position>
CoarsenTexts::behind(Position mine, const std::vector<std::string> &lines) const {
  for (const std::string &line : lines) {
    if (mine >= sibling_.instructions.size())
      return std::nullopt;
    const Instruction &own = sibling_.instructions[mine++];
    if (!own.well_formed || plain_text(module_.text(own.span)) != plain_text(line))
      return std::nullopt;
  }
  return mine;
}

CoarsenTexts::Position CoarsenTexts::require_lines(Position mine,
                                                   const std::vector<std::string> &lines,
                                                   std::string_view why) const {
  const auto result = behind(mine, lines);
  require(result.has_value(), mine, why);
  return *result;
}

void CoarsenTexts::require_clone(Position theirs, Position mine, const Renaming &names) const {
  const Instruction &own = instruction(theirs);
  require(own.well_formed, mine, "an instruction of the kernel is not understood");
  require_lines(mine, {renamed(module_, own, names)}, "not what the kernel does there");
}

CoarsenTexts::Position CoarsenTexts::require_call(Position mine, const CallGroup &group,
                                                  const Renaming &names) const {
  for (Position i = group.first; i < group.end; ++i)
    for (const RegisterId reg : written_registers(module_, instruction(i)))
      require(!sharing_.by_some()[reg], mine, "copies share what a call gives");
  return require_lines(mine, lines_of(group, names), "not the call that the kernel has there");
}

CoarsenTexts::Position CoarsenTexts::require_branch(Position theirs, Position mine,
                                                    const Renaming &names) const {
  const auto end = static_cast<Position>(sibling_.instructions.size());
  require(mine < end, mine, "an instruction is missing");
  const Instruction &a = instruction(theirs), &b = sibling_.instructions[mine];
  const auto target =
      returns(module_.opcode(b)) ? std::optional(end) : branch_target(module_, sibling_, b);
  require(target && b.guard != no_register && b.guard == of(names, a.guard) &&
              b.guard_negated == a.guard_negated,
          mine, "not the branch that the kernel has there");
  return *target;
}

} // namespace ptxasw::synth
