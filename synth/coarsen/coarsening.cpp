// The text that stands in a coarsened version for the kernel's: whoever writes it prints these
// lines, and the proof asks for the same.

#include "synth/coarsen/coarsening.h"

#include "emulator/semantics/effects.h"
#include "grammar/roles.h"

#include <algorithm>
#include <fmt/core.h>
#include <fmt/ranges.h>

namespace ptxasw::synth {

// A kernel's own memory has other names in each copy, and so has what an assertion says. What lanes
// do together they must do for the same copy, which different codes keep apart.
bool Coarsening::can_be_alone_at_once() const {
  bool can = copies_ > 1 && rooms_.empty() && dynamic_.empty();
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
  for (std::size_t room = 0; room < rooms_.size(); ++room)
    result.symbols.emplace_back(rooms_[room].symbol, room_name(room, k));
  for (std::size_t room = 0; k > 0 && room < dynamic_.size(); ++room)
    result.symbols.emplace_back(dynamic_[room], CoarsenNames::begin(room, k));
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
  if (is_idle(instruction, k))
    return lines;
  for (std::size_t load = 0; load < plan_.loads.size(); ++load) {
    const WideLoad &wide = plan_.loads[load];
    if (wide.at != Instance{instruction, k})
      continue;
    std::vector<std::string> values;
    for (unsigned e = 0; e < wide.elements; ++e)
      values.push_back(CoarsenNames::wide(load, e));
    lines.text.push_back(access(wide.from, wide.displacement, values));
  }
  const auto take = [&](const std::string &from) {
    const RegisterId reg = wide_value(module_, kernel_, instruction);
    lines.text.push_back(move(name_of(reg, k), from, kernel_.registers[reg].type));
  };
  const MergedLoad *const merged = this->merged(instruction, k);
  if (const WideStore *const store = plan_.store({instruction, k})) {
    std::vector<std::string> values;
    for (unsigned e = 0; e < store->elements; ++e)
      values.push_back(name_of(wide_value(module_, kernel_, instruction), k + e));
    lines.text.push_back(access(store->first, 0, values));
    lines.copies = store->elements;
  } else if (const auto part = plan_.part({instruction, k})) {
    take(CoarsenNames::wide(part->first, part->second));
  } else if (merged) {
    take(name_of(wide_value(module_, kernel_, merged->from), merged->from_copy));
  } else {
    lines.text.push_back(renamed(module_, own, together_[k]));
    lines.text.back().pop_back(); // its semicolon
  }
  return lines;
}

/// The load in whose place a copy of one has a mov; null: there is none.
const MergedLoad *Coarsening::merged(std::uint32_t load, unsigned k) const {
  const auto found = std::find_if(merged_.begin(), merged_.end(), [&](const MergedLoad &one) {
    return one.load == load && one.copy == k;
  });
  return found == merged_.end() || sharing_.is_shared(kernel_.instructions[load]) ? nullptr
                                                                                  : &*found;
}

/// Do copy k's lines of an instruction read its register?
bool Coarsening::reads_together(std::uint32_t i, unsigned k, RegisterId reg,
                                const std::vector<std::vector<bool>> &idle) const {
  if (calls_.of(i))
    return true;
  if (const RegisterId result = recomputation_.result_of(i); result != no_register)
    return !idle[k][result];
  if (sharing_.keeper(instruction(i), k) != k)
    return false;
  if (plan_.part({i, k}) || merged(i, k))
    return false;
  return std::none_of(plan_.stores.begin(), plan_.stores.end(), [&](const WideStore &store) {
    return store.first.instruction == i && store.first.copy < k &&
           k < store.first.copy + store.elements && wide_value(module_, kernel_, i) != reg;
  });
}

std::vector<std::vector<bool>> Coarsening::find_idle() const {
  const std::size_t registers = kernel_.registers.size();
  std::vector<bool> may(registers, false);
  for (std::uint32_t i = 0; i < count() && sharing_.detours().empty(); ++i)
    if (const RegisterId reg = recomputation_.result_of(i); reg != no_register)
      may[reg] = !sharing_.by_some()[reg];
  for (std::uint32_t i = 0; i < count(); ++i) {
    for (const RegisterId reg : written_registers(module_, instruction(i)))
      may[reg] = may[reg] && recomputation_.result_of(i) == reg;
    const bool leaves = (is_way(opcode(i)) && instruction(i).guard != no_register) || i == 0 ||
                        std::any_of(plan_.tests.begin(), plan_.tests.end(),
                                    [&](const WideTest &test) { return test.instruction == i; });
    if (leaves)
      for (const RegisterId reg : recomputation_.kept(i))
        may[reg] = false;
  }
  std::vector<std::vector<bool>> idle(copies_, may);
  for (const WideLoad &load : plan_.loads)
    idle[load.from.copy][wide_address(module_, kernel_, load.from.instruction).base] = false;
  for (const WideTest &test : plan_.tests)
    idle[test.low][differing(test.instruction)] = idle[test.high][differing(test.instruction)] =
        false;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t i = 0; i < count(); ++i)
      for (const RegisterId reg : read_registers(module_, instruction(i)))
        for (unsigned k = 0; k < copies_; ++k)
          if (idle[k][reg] && reads_together(i, k, reg, idle)) {
            idle[k][reg] = false;
            changed = true;
          }
  }
  return idle;
}

std::vector<std::string> Coarsening::lines_of(const CallGroup &group, unsigned k,
                                              const Renaming &names) const {
  std::vector<std::string> lines;
  Renaming saying = names;
  if (group.kind == CallGroup::Kind::assertion) {
    const Operand &name = module_.operands(kernel_.instructions[group.special])[1];
    saying.registers[name.reg] = CoarsenNames::said;
    lines.push_back(fmt::format("mov.u64 {}, {}", CoarsenNames::said, said_name(group, k)));
    lines.push_back(fmt::format("cvta.global.u64 {0}, {0}", CoarsenNames::said));
  }
  for (std::uint32_t i = group.first; i < group.end; ++i) {
    lines.push_back(renamed(module_, kernel_.instructions[i], i == group.special ? saying : names));
    lines.back().pop_back(); // its semicolon
  }
  return lines;
}

std::string Coarsening::said(const CallGroup &group, unsigned k) const {
  return fmt::format("{} [ptxasw: the kernel's block {} is {} * that of this version + {}]",
                     group.text, "xyz"[form_.axis], form_.copies, form_.row_of(k));
}

std::string Coarsening::said_name(const CallGroup &group, unsigned k) const {
  return fmt::format("__ptxasw_said{}_{}", group.call, k);
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

// Where the address is the sum of a register that all copies share and of one that still holds what
// it held there, the latter: it is mostly the same in each round of a loop.
RegisterId Coarsening::differing(std::uint32_t access) const {
  const RegisterId base = wide_address(module_, kernel_, access).base;
  std::vector<RegisterId> written;
  for (std::uint32_t i = access; i-- > block(cfg().block_of(access)).first;) {
    const std::vector<RegisterId> results = written_registers(module_, instruction(i));
    if (std::find(results.begin(), results.end(), base) == results.end()) {
      written.insert(written.end(), results.begin(), results.end());
      continue;
    }
    const auto is_register = [&](const Operand &operand) { return is_whole_register(operand); };
    const auto terms = operands(i);
    if (opcode(i).text != "add.s64" || !instruction(i).well_formed ||
        instruction(i).guard != no_register || terms.size() != 3 ||
        !std::all_of(terms.begin(), terms.end(), is_register))
      return base;
    for (const auto &[own, other] : {std::pair(1, 2), std::pair(2, 1)})
      if (shared_[terms[other].reg] && terms[own].reg != base &&
          std::find(written.begin(), written.end(), terms[own].reg) == written.end())
        return terms[own].reg;
    return base;
  }
  return base;
}

std::string Coarsening::difference(const WideTest &test) const {
  const RegisterId base = differing(test.instruction);
  return fmt::format("sub.s64 {}, {}, {}", CoarsenNames::distance, name_of(base, test.high),
                     name_of(base, test.low));
}

} // namespace ptxasw::synth
