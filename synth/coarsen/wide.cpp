// Which accesses of the copies can be one. Every address is written as a base, the same for several
// instances, and a constant number of bytes behind it. Loads that always run, in one basic block
// without a store in between, may all be done where the first of them is: what the four elements of
// an aligned window hold is the same there, and all four would be read anyway. Stores of one
// instruction by neighbouring copies stand one behind the other in any case.
//
// An index is mostly a 32-bit number that is extended to 64 bits: i + 1 is the next element unless
// it wraps around. It does not within numbers i .. i + 3 that differ in their known low bits alone;
// otherwise lockstep is left if the addresses of the first and the last copy are not as far apart
// as they would be without: what is extended can wrap around once between them, and the distance
// would then be off by a multiple of 2^32 elements, which 2^64 does not divide.

#include "synth/coarsen/wide.h"

#include "emulator/semantics/effects.h"
#include "grammar/roles.h"

#include <algorithm>
#include <bit>
#include <fmt/core.h>
#include <limits>

namespace ptxasw::synth {
namespace {

constexpr unsigned widest_bytes = 16, widest_elements = 4;
constexpr std::int64_t largest_scale = 65536;

/// The constant in what an expression extends, if it is an extension.
std::int64_t inner_constant(Expr expr) {
  if (expr->kind != ExprKind::sext && expr->kind != ExprKind::zext)
    return 0;
  const Expr from = expr->children[0];
  return from->kind == ExprKind::sum ? as_signed(from->value.low, from->width) : 0;
}

std::int64_t block_of(std::int64_t number, unsigned bits) { return number >> bits; }

/// Returns true if what lies so many bytes behind a base is known to be a multiple of others.
bool is_aligned(const facts::LowBits &base, std::int64_t offset, unsigned bytes) {
  return base.known(static_cast<unsigned>(std::countr_zero(bytes))) &&
         (base.value + static_cast<std::uint64_t>(offset)) % bytes == 0;
}

/// The bytes between two addresses that tell that a number which is extended does not wrap around
/// on its way to one that is larger by `inner`; nothing if none would: a factor may hide it.
std::optional<std::uint64_t> distance_of(std::int64_t inner, std::int64_t distance,
                                         std::uint64_t factor) {
  if (factor > std::uint64_t{largest_scale} || inner <= 0 || inner > largest_scale ||
      distance <= 0 || distance % inner != 0 || distance / inner > largest_scale)
    return std::nullopt;
  return static_cast<std::uint64_t>(distance);
}

/// Returns true if what one says of a launch follows from the other: it is no larger.
bool follows(const IndexBound &bound, const IndexBound &from) {
  return std::all_of(bound.terms.begin(), bound.terms.end(), [&](const IndexTerm &term) {
    return std::any_of(from.terms.begin(), from.terms.end(), [&](const IndexTerm &other) {
      return other.factors == term.factors && other.coefficient >= term.coefficient;
    });
  });
}

} // namespace

bool WidePlan::is_wide() const {
  const auto is_several = [](const auto &one) { return one.elements > 1; };
  return std::any_of(stores.begin(), stores.end(), is_several) ||
         std::any_of(loads.begin(), loads.end(), is_several);
}

std::optional<std::pair<std::size_t, unsigned>> WidePlan::part(const Instance &load) const {
  for (std::size_t wide = 0; wide < loads.size(); ++wide)
    for (const auto &[of, element] : loads[wide].parts)
      if (of == load)
        return std::pair(wide, element);
  return std::nullopt;
}

const WideStore *WidePlan::store(const Instance &first) const {
  const auto found = std::find_if(stores.begin(), stores.end(),
                                  [&](const WideStore &store) { return store.first == first; });
  return found == stores.end() ? nullptr : &*found;
}

WidePlanner::WidePlanner(const KernelContext &context, const CoarsenForm &form)
    : OfKernel(context), form_(form), sharing_(sharing_of(context, form)), views_(context, form),
      skew_(skew_of(context, form)) {
  find_groups();
}

/// Takes constants out of an address and out of the number that is extended in it; nothing if more
/// than one such number has a constant.
std::optional<WidePlanner::Parts> WidePlanner::take_apart(Expr address) {
  ExprPool &pool = views_.emulation().pool();
  Parts parts{address};
  for (const auto &[child, factor] : summands(address)) {
    if (inner_constant(child) == 0)
      continue;
    if (parts.extended.number)
      return std::nullopt;
    const Expr from = child->children[0];
    parts.inner = inner_constant(child);
    // An extension of what is below half its range is one of both kinds.
    parts.extended =
        ExtendedNumber{pool.sub(from, pool.constant(from->width, from->value)), factor,
                       child->kind == ExprKind::sext || from->maximum <= mask64(from->width) / 2};
    const Expr without = parts.extended.is_signed ? pool.sext(parts.extended.number, 64)
                                                  : pool.zext(parts.extended.number, 64);
    const Expr times = pool.constant(64, factor);
    parts.base = pool.add(pool.sub(address, pool.mul(times, child)), pool.mul(times, without));
    parts.offset = static_cast<std::int64_t>(factor * static_cast<std::uint64_t>(parts.inner));
  }
  if (parts.base->kind == ExprKind::sum) {
    const Bits constant = parts.base->value;
    parts.offset += static_cast<std::int64_t>(constant.low);
    parts.base = pool.sub(parts.base, pool.constant(64, constant));
  }
  return parts;
}

// Of loads that are in different stretches, none is done for others.
void WidePlanner::find_groups() {
  keys_.clear();
  groups_.clear();
  BlockId around = no_index;
  std::uint32_t segment = 0;
  const SkewedStretch *stretch = nullptr;
  for (const MemoryAccess &access : views_.emulation().trace()) {
    const SkewedStretch *const here = skew_.around(access.instruction);
    if (access.block != around || access.effect != Effect::load || here != stretch) {
      around = access.block;
      stretch = here;
      ++segment;
    }
    if (is_candidate(access))
      add(access, segment);
  }
}

bool WidePlanner::is_candidate(const MemoryAccess &access) const {
  const Instruction &one = instruction(access.instruction);
  const Opcode &opcode = module_.opcode(one);
  const auto operands = module_.operands(one);
  const unsigned bytes = access.bytes;
  const bool is_load = access.effect == Effect::load && opcode.op == Op::ld;
  if ((!is_load && (access.effect != Effect::store || opcode.op != Op::st)) || !one.well_formed ||
      one.guard != no_register || operands.size() != 2 || opcode.vector != 1 ||
      opcode.space != StateSpace::global || opcode.second_type != ScalarType::none ||
      opcode.modifiers.empty() || bit_width(opcode.type) != 8 * bytes ||
      !std::has_single_bit(bytes) || bytes > 8 ||
      std::find(opcode.modifiers.begin(), opcode.modifiers.end(), "unified") !=
          opcode.modifiers.end())
    return false;
  // The type is the last word, and the vector goes before it.
  if (bit_width(scalar_type(opcode.modifiers.back())) != 8 * bytes)
    return false;
  const Operand &value = operands[is_load ? 0 : 1], &address = operands[is_load ? 1 : 0];
  return is_whole_register(value) && address.kind == Operand::Kind::address &&
         is_whole_register(module_.children(address)[0]);
}

void WidePlanner::add(const MemoryAccess &access, std::uint32_t segment) {
  const Expr address = views_.common_address(access);
  if (!address)
    return;
  for_each_node(address, [&](Expr node) {
    const auto argument = views_.argument(node);
    if (argument && std::find(arguments_.begin(), arguments_.end(), *argument) == arguments_.end())
      arguments_.push_back(*argument);
  });
  const bool is_load = access.effect == Effect::load;
  const RegisterId value = wide_value(module_, kernel_, access.instruction);
  auto stepped =
      skew_.is_stepped(access.instruction) ? stepped_address(views_, form_, address) : std::nullopt;
  if (stepped && !is_bounded_in_all_rows(stepped->by))
    stepped.reset();
  for (unsigned k = 0; k < form_.total(); ++k) {
    if (is_load && sharing_.keeper(instruction(access.instruction), k) != k)
      continue;
    const auto parts = take_apart(stepped ? stepped->of[k] : views_.of(address, k));
    if (!parts)
      continue;
    const Key key{is_load ? segment : ~access.instruction, parts->base->id,
                  opcode(access.instruction).text, kernel_.registers[value].type};
    const auto [found, is_new] = keys_.try_emplace(key, groups_.size());
    if (is_new)
      groups_.push_back({is_load, access.bytes, parts->base, {}, {}});
    Group &group = groups_[found->second];
    if (!group.extended.number)
      group.extended = parts->extended;
    // One whose own number is the base's, or that has the group's number, as often, and a constant.
    if (!parts->extended.number || parts->extended == group.extended)
      group.places.push_back({{access.instruction, k}, parts->offset, parts->inner});
  }
}

WidePlan WidePlanner::plan(const SiblingNeeds &needs) {
  facts::LowBitsOf known([&](Expr symbol) -> facts::LowBits {
    const auto argument = views_.argument(symbol);
    const auto is = [&](std::uint32_t parameter, std::uint32_t offset, unsigned bytes) {
      return argument && *argument == ArgumentDivisor{parameter, offset, bytes};
    };
    for (const ArgumentAlignment &one : needs.aligned)
      if (is(one.parameter, one.offset, 8))
        return {0, static_cast<unsigned>(std::countr_zero(one.alignment))};
    for (const ArgumentDivisor &one : needs.divisible)
      if (is(one.parameter, one.offset, one.bytes))
        return {0, static_cast<unsigned>(std::countr_zero(one.divisor))};
    return {};
  });
  bounds_.clear();
  bounded_ = needs.bounded;
  if (form_.skewed) // which addresses are a step apart hangs on the needs
    find_groups();
  plan_ = {};
  for (const Group &group : groups_)
    plan(group, known);
  std::sort(plan_.loads.begin(), plan_.loads.end());
  std::sort(plan_.stores.begin(), plan_.stores.end());
  std::sort(plan_.tests.begin(), plan_.tests.end());
  return std::move(plan_);
}

// Each row's number lies between the first one's and the last one's, and so does the step.
bool WidePlanner::is_bounded_in_all_rows(const RowStep &rows) {
  ExprPool &pool = views_.emulation().pool();
  const Expr last = pool.mul(pool.constant(32, form_.copies - 1), rows.step);
  return is_bounded(rows.step, 0, 0, false) &&
         std::all_of(rows.numbers.begin(), rows.numbers.end(), [&](Expr number) {
           const Bits constant = number->kind == ExprKind::sum ? number->value : Bits{};
           const std::int64_t by = as_signed(constant.low, number->width);
           const Expr without = pool.sub(number, pool.constant(32, constant));
           return is_bounded(pool.add(without, last), by, by, false);
         });
}

void WidePlanner::plan(Group group, facts::LowBitsOf &known) {
  std::optional<WideTest> test;
  if (!admit(group, known, test))
    return;
  bool wide = !group.is_load && plan_stores(group, known);
  if (group.is_load)
    for (const std::vector<Place> &places : near_ones(group))
      wide |= plan_loads(group, places, known);
  if (!wide || !test)
    return;
  if (std::find(plan_.tests.begin(), plan_.tests.end(), *test) == plan_.tests.end())
    plan_.tests.push_back(*test);
}

// Leaves those in the group whose offsets are what they seem to be, given the test.
bool WidePlanner::admit(Group &group, facts::LowBitsOf &known, std::optional<WideTest> &test) {
  const auto by_inner = [](const Place &a, const Place &b) { return a.inner < b.inner; };
  const auto [least, most] =
      std::minmax_element(group.places.begin(), group.places.end(), by_inner);
  const auto &[number, factor, is_signed] = group.extended;
  if (!number || least->inner == most->inner)
    return true;
  const facts::LowBits low = known(number);
  const auto value = static_cast<std::int64_t>(low.value);
  if (low.count < number->width &&
      block_of(value + least->inner, low.count) == block_of(value + most->inner, low.count))
    return true;
  if (is_bounded(number, least->inner, most->inner, is_signed))
    return true;
  if (form_.skewed) // nobody leaves lockstep where copies are at different instructions
    return false;
  const std::uint32_t first = group.places[0].at.instruction;
  const auto end = std::find_if(group.places.begin(), group.places.end(),
                                [&](const Place &place) { return place.at.instruction != first; });
  const auto [from, to] = std::minmax_element(group.places.begin(), end, by_inner);
  const Place lowest = *from, highest = *to;
  if (const std::int64_t inner = highest.inner - lowest.inner; inner != 0) {
    const auto distance = distance_of(inner, highest.offset - lowest.offset, factor);
    if (!distance)
      return false;
    test = WideTest{first, lowest.at.copy, highest.at.copy, *distance};
  }
  std::erase_if(group.places, [&](const Place &place) {
    return place.inner < lowest.inner || place.inner > highest.inner;
  });
  return true;
}

/// Returns true if the launch keeps a number, and those beside it, from wrapping around. Versions
/// for one iteration of their loops ask for it: they have needs of their launch's numbers anyway.
bool WidePlanner::is_bounded(Expr number, std::int64_t least, std::int64_t most, bool is_signed) {
  const auto bound =
      form_.once ? bound_of(views_, context_, form_, number, least, most, is_signed) : std::nullopt;
  if (!bound)
    return false;
  add_bound(bounds_, *bound);
  return std::any_of(bounded_.begin(), bounded_.end(),
                     [&](const IndexBound &kept) { return follows(*bound, kept); });
}

/// Those of a group that may be one load: all, or, of a stretch whose lines are in another order,
/// those that come in one row's time. What each instruction loads for all copies alike, as weights,
/// is kept: every row would load it again.
std::vector<std::vector<WidePlanner::Place>> WidePlanner::near_ones(const Group &group) const {
  const Instance first = group.places.front().at;
  std::map<std::uint32_t, std::int64_t> offsets; // by instruction
  const bool is_one_place =
      std::all_of(group.places.begin(), group.places.end(), [&](const Place &place) {
        return offsets.try_emplace(place.at.instruction, place.offset).first->second ==
               place.offset;
      });
  const bool is_for_all = is_one_place && group.places.size() == offsets.size() * form_.total();
  if (is_for_all || !skew_.around(first.instruction))
    return {group.places};
  std::vector<Place> places = group.places;
  std::stable_sort(places.begin(), places.end(), [&](const Place &a, const Place &b) {
    return skew_.time(a.at) < skew_.time(b.at);
  });
  std::vector<std::vector<Place>> near;
  for (const Place &place : places) {
    if (near.empty() || skew_.is_far(near.back().front().at, place.at))
      near.emplace_back();
    near.back().push_back(place);
  }
  return near;
}

bool WidePlanner::plan_loads(const Group &group, const std::vector<Place> &places,
                             facts::LowBitsOf &known) {
  std::map<std::int64_t, std::vector<Place>> by_offset;
  for (const Place &place : places)
    by_offset[place.offset].push_back(place);
  const std::int64_t step = group.bytes;
  const std::size_t before = plan_.loads.size();
  for (unsigned elements = std::min(widest_elements, widest_bytes / group.bytes); elements >= 1;
       elements /= 2) {
    std::int64_t offset = 0;
    for (auto at = by_offset.begin(); at != by_offset.end(); at = by_offset.upper_bound(offset)) {
      offset = at->first;
      std::vector<std::pair<Place, unsigned>> parts;
      unsigned e = 0;
      for (; e < elements && by_offset.contains(offset + e * step); ++e)
        for (const Place &place : by_offset.at(offset + e * step))
          parts.emplace_back(place, e);
      // One element is worth it where several instances have it.
      if (e < elements ||
          !(elements == 1 ? form_.total() > 1 && parts.size() > 1
                          : is_aligned(known(group.base), offset, elements * group.bytes)))
        continue;
      const Place first = std::min_element(parts.begin(), parts.end(), [&](auto &a, auto &b) {
                            return skew_.rank(a.first.at) < skew_.rank(b.first.at);
                          })->first;
      const Place &base = base_of(places, first);
      if (!is_in_range(first.at.instruction, offset - base.offset))
        continue;
      WideLoad load{first.at, base.at.copy, offset - base.offset, elements, {}};
      for (const auto &[place, element] : parts)
        load.parts.emplace_back(place.at, element);
      for (e = 0; e < elements; ++e)
        by_offset.erase(offset + e * step);
      plan_.loads.push_back(std::move(load));
    }
  }
  return plan_.loads.size() > before;
}

/// The place of a group by which another one is addressed: where rows of copies are apart, the
/// first of its row, so that few addresses are kept.
const WidePlanner::Place &WidePlanner::base_of(const std::vector<Place> &places,
                                               const Place &place) const {
  const std::uint32_t i = place.at.instruction;
  const auto written = written_registers(module_, instruction(i));
  const bool keeps = std::find(written.begin(), written.end(),
                               wide_address(module_, kernel_, i).base) == written.end();
  if (keeps && (opcode(i).op == Op::st ? form_.skewed : skew_.around(i) != nullptr))
    for (const Place &other : places)
      if (other.at.instruction == i && form_.row_of(other.at.copy) == form_.row_of(place.at.copy) &&
          other.at.copy < place.at.copy)
        return other;
  return place;
}

bool WidePlanner::is_in_range(std::uint32_t access, std::int64_t displacement) const {
  const std::int64_t bytes = wide_address(module_, kernel_, access).bytes + displacement;
  return bytes + widest_bytes <= std::numeric_limits<std::int32_t>::max() &&
         bytes >= std::numeric_limits<std::int32_t>::min();
}

bool WidePlanner::plan_stores(const Group &group, facts::LowBitsOf &known) {
  const std::size_t before = plan_.stores.size();
  bool found = false;
  for (std::size_t i = 0; i < group.places.size();) {
    const Place *const first = &group.places[i];
    const auto is_with = [&](const Place &one, const Place &other) { // where rows wait for others
      return !form_.skewed || form_.row_of(one.at.copy) == form_.row_of(other.at.copy);
    };
    const auto is_good = [&](unsigned elements) {
      bool good = i + elements <= group.places.size() &&
                  is_aligned(known(group.base), first->offset, elements * group.bytes);
      for (unsigned e = 1; good && e < elements; ++e)
        good = first[e].at.copy == first->at.copy + e && is_with(*first, first[e]) &&
               first[e].offset == first->offset + e * std::int64_t{group.bytes};
      return good;
    };
    unsigned elements = std::min(widest_elements, widest_bytes / group.bytes);
    while (elements > 1 && !is_good(elements))
      elements /= 2;
    const Place &base = base_of(group.places, *first);
    const std::int64_t displacement = first->offset - base.offset;
    if ((elements > 1 || base.at != first->at) &&
        is_in_range(first->at.instruction, displacement)) {
      plan_.stores.push_back({first->at, base.at.copy, displacement, elements});
      found |= elements > 1;
    }
    i += elements;
  }
  if (!found) // then nobody tests that places are where they seem to be
    plan_.stores.resize(before);
  return found;
}

std::string wide_opcode(const Opcode &opcode, unsigned elements) {
  if (elements == 1)
    return std::string(opcode.text);
  const std::size_t type = opcode.text.rfind('.');
  return fmt::format("{}.v{}{}", opcode.text.substr(0, type), elements, opcode.text.substr(type));
}

RegisterId wide_value(const Module &module, const Function &kernel, std::uint32_t instruction) {
  const Instruction &one = kernel.instructions[instruction];
  return module.operands(one)[module.opcode(one).op == Op::st ? 1 : 0].reg;
}

BaseAndBytes wide_address(const Module &module, const Function &kernel, std::uint32_t instruction) {
  const Instruction &one = kernel.instructions[instruction];
  const Operand &address = module.operands(one)[module.opcode(one).op == Op::st ? 0 : 1];
  return {module.children(address)[0].reg, address.value};
}

} // namespace ptxasw::synth
