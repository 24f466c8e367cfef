// What surrounds the code of a coarsened version, and its instructions as the kernel's under other
// names.

#include "synth/coarsen/prove_texts.h"

#include "emulator/semantics/effects.h"
#include "grammar/roles.h"
#include "synth/prove/header.h"

#include <algorithm>

namespace ptxasw::synth {

void CoarsenTexts::check_header() const {
  const std::size_t appended = form_.appended_grids().size() + form_.appended_blocks().size();
  proof::check_entry(module_, kernel_, module_, sibling_, appended);
  for (std::size_t i = kernel_.parameters.size(); i < sibling_.parameters.size(); ++i)
    if (const Variable &extent = sibling_.parameters[i];
        extent.type != ScalarType::u32 || extent.size() != 4 || extent.alignment > 4)
      fail("an appended parameter is not an extent of the grid or of its blocks");
  if (sibling_.scopes.size() != 1 || !sibling_.target_lists.empty() ||
      !sibling_.return_parameters.empty())
    fail("it declares more than registers and variables");
  check_rooms();
  for (const Pragma &pragma : sibling_.pragmas)
    if (pragma.text != "nounroll")
      fail("a pragma is not known");
  // Its warps are not the kernel's, so nothing is known of what lanes agree on.
  for (Position i = 0; i < sibling_.instructions.size(); ++i)
    require(sibling_.instructions[i].guard == no_register ||
                !wants_agreement(module_.opcode(sibling_.instructions[i])),
            i, "a branch on which lanes must agree");
  // What bounds the block must be there as it was: more would refuse launches. A limit of the
  // registers changes nothing but the time.
  for (const PerformanceDirective &directive : sibling_.directives) {
    if (directive.name == "maxnreg")
      continue;
    const PerformanceDirective *const own_directive = kernel_.directive(directive.name);
    if (!own_directive || !std::equal(std::begin(directive.values), std::end(directive.values),
                                      std::begin(own_directive->values)))
      fail("a directive is not the kernel's");
  }
}

// A variable for each copy in place of each of the kernel's.
void CoarsenTexts::check_rooms() const {
  if (sibling_.variables.size() != rooms_.size() * copies_ + passed_.size() + (asserts() ? 1 : 0))
    fail("it has not one variable for each copy");
  if (!rooms_fit(rooms_, copies_))
    fail("it has too much shared or local memory");
  for (std::size_t i = 0; i < rooms_.size() * copies_; ++i) {
    const Variable &variable = sibling_.variables[i];
    const Room &room = rooms_[i / copies_];
    if (variable.name != room_name(i / copies_, static_cast<unsigned>(i % copies_)) ||
        variable.space != room.space || variable.linkage != Linkage::internal ||
        variable.size() != room.bytes || variable.initializer.size() != 0 ||
        variable.alignment % room.alignment != 0 || variable.alignment == 0)
      fail("a variable is not like the kernel's");
  }
  check_passing(rooms_.size() * copies_);
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

// A variable for each that the kernel passes to calls, from this one on, and what is printed before
// an assertion fails.
void CoarsenTexts::check_passing(std::size_t next) const {
  for (const Variable &variable : sibling_.variables)
    for (const Function &function : module_.functions)
      if (function.name == variable.name)
        fail("a variable has the name of a function");
  if (asserts() && !vprintf_is_the_drivers())
    fail("what prints is not the driver's");
  for (std::size_t i = 0; i < passed_.size(); ++i, ++next) {
    const Variable &variable = sibling_.variables[next], &own = passed_[i];
    if (variable.name != CoarsenNames::passing(i) || variable.space != own.space ||
        variable.type != own.type || variable.vector != own.vector || own.vector != 1 ||
        variable.count != own.count || variable.is_array != own.is_array ||
        variable.alignment != own.alignment || variable.linkage != Linkage::internal ||
        variable.initializer.size() != 0)
      fail("a variable for arguments is not like the kernel's");
  }
  if (asserts()) {
    const Variable &variable = sibling_.variables[next];
    const std::string text = std::string(CoarsenNames::format_text) + '\0';
    const auto is_one = [](const InitialValue &value, char one) {
      return value.symbol == no_index && value.bits == static_cast<unsigned char>(one);
    };
    if (variable.name != CoarsenNames::format || variable.space != StateSpace::global ||
        variable.type != ScalarType::b8 || variable.vector != 1 || variable.has_rows ||
        variable.count != text.size() || variable.linkage != Linkage::internal ||
        !std::equal(variable.values.begin(), variable.values.end(), text.begin(), text.end(),
                    is_one))
      fail("not what is printed before an assertion fails");
  }
}

void CoarsenTexts::assign_roles() {
  for (RegisterId reg = 0; reg < sibling_.registers.size(); ++reg)
    if (!by_name_.try_emplace(sibling_.registers[reg].name, reg).second)
      fail("two registers have one name");
  proof::check_names(module_, kernel_, sibling_);
  using Kind = ReplayRole::Kind;
  const auto find = [&](const std::string &name, RegisterId kernel_register, Kind kind) {
    const RegisterId found = named(name);
    if (found == no_register)
      return no_register; // nothing mentions it
    const Register &own = kernel_.registers[kernel_register];
    const Register &here = sibling_.registers[found];
    if (own.type != here.type || own.vector != here.vector)
      fail("a register has another type");
    roles_[found] = {kind, kernel_register};
    return found;
  };
  fast_.resize(copies_);
  for (RegisterId reg = 0; reg < kernel_.registers.size(); ++reg) {
    for (unsigned k = 0; k < copies_; ++k)
      fast_[k].push_back(find(name_of(reg, k), reg, shared_[reg] ? Kind::shared : Kind::copy));
    const bool may_have_own = alone_at_once_ || sharing_.by_some()[reg];
    own_.push_back(may_have_own ? find(names_.own(reg), reg, Kind::own) : no_register);
    has_own_[reg] = own_[reg] != no_register;
  }
  for (unsigned k = 0; k < copies_; ++k)
    alone_.push_back(renaming(k, true));
  next_ = named(CoarsenNames::next);
  for (std::size_t load = 0; load < plan_.loads.size(); ++load) {
    const WideLoad &wide = plan_.loads[load];
    for (unsigned e = 0; e < wide.elements; ++e) {
      const RegisterId reg = named(CoarsenNames::wide(load, e));
      const Register &value = kernel_.registers[wide_value(module_, kernel_, wide.at.instruction)];
      if (reg == no_register || sibling_.registers[reg].type != value.type ||
          sibling_.registers[reg].vector != 1)
        fail("a register of a wide load is missing");
      roles_[reg] = {Kind::wide};
    }
  }
}

void CoarsenTexts::require_text(Position mine, std::string_view text, std::string_view why) const {
  require(mine < sibling_.instructions.size(), mine, "an instruction is missing");
  require(has_text(mine, text), mine, why);
}

bool CoarsenTexts::has_text(Position mine, std::string_view text) const {
  if (mine >= sibling_.instructions.size())
    return false;
  const Instruction &own = sibling_.instructions[mine];
  return own.well_formed && plain_text(module_.text(own.span)) == plain_text(text);
}

void CoarsenTexts::require_clone(Position theirs, Position mine, const Renaming &names) const {
  const Instruction &own = kernel_.instructions[theirs];
  require(own.well_formed, mine, "an instruction of the kernel is not understood");
  require_text(mine, renamed(module_, own, names), "not what the kernel does there");
}

CoarsenTexts::Position CoarsenTexts::require_call(Position mine, const CallGroup &group,
                                                  const Renaming &names) const {
  for (Position i = group.first; i < group.end; ++i)
    for_each_register(module_, kernel_.instructions[i], [&](RegisterId reg, RegisterUse use) {
      require(use == RegisterUse::read || !sharing_.by_some()[reg], mine,
              "copies share what a call gives");
    });
  for (const std::string &line : lines_of(group, names))
    require_text(mine++, line, "not the call that the kernel has there");
  return mine;
}

CoarsenTexts::Position CoarsenTexts::require_branch(Position theirs, Position mine,
                                                    const Renaming &names) const {
  require(mine < sibling_.instructions.size(), mine, "an instruction is missing");
  const Instruction &a = kernel_.instructions[theirs], &b = sibling_.instructions[mine];
  const auto target = branch_target(module_, sibling_, b);
  require(target && b.guard != no_register && b.guard == named(names.registers[a.guard]) &&
              b.guard_negated == a.guard_negated,
          mine, "not the branch that the kernel has there");
  return *target;
}

bool CoarsenTexts::alone_has_place(const ReplayState &state, unsigned k) const {
  const auto is = [&](const std::string &name, const std::string &copys) {
    const auto here = state.find(named(name)), there = state.find(named(copys));
    return here != state.end() && there != state.end() && here->second == there->second;
  };
  return !alone_at_once_ ||
         ((form_.copies == 1 ||
           is(CoarsenNames::lone_index, CoarsenNames::index(form_, form_.row_of(k)))) &&
          (form_.along_x == 1 ||
           is(CoarsenNames::lone_point, CoarsenNames::point(form_.column_of(k)))));
}

bool CoarsenTexts::has_same_stand_ins(const ReplayState &before, const ReplayState &after) const {
  return std::all_of(after.begin(), after.end(), [&](const auto &entry) {
    const auto &[reg, value] = entry;
    const bool is_own = roles_[reg].kind == ReplayRole::Kind::own ||
                        reg == named(CoarsenNames::lone_index) ||
                        reg == named(CoarsenNames::lone_point);
    const auto found = before.find(reg);
    return !is_own || (found != before.end() && found->second == value);
  });
}

ReplayEnd CoarsenTexts::replay(Position mine, ReplayState &state, const Known &known) const {
  const auto end = replay_.run(mine, state, known);
  require(end.has_value(), mine, "added code is not understood");
  return *end;
}

} // namespace ptxasw::synth
