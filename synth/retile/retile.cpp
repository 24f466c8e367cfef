// What is proposed: for each number of copies, and limit of registers, first rows whose loads
// several of them share, in blocks of one row and of many, then several blocks by one along each
// axis that they are numbered on. The order is that of what measures best most often.

#include "synth/retile/retile.h"

#include "analysis/independence.h"
#include "emulator/semantics/one_value.h"
#include "synth/retile/merge.h"
#include "synth/retile/rooms.h"
#include "synth/spread.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::inline synth {
namespace {

constexpr Refusal unused{"axis-unused", "the kernel does not ask for its block's index"};
/// Instructions that one sibling may have.
constexpr std::size_t size_budget = 100'000;
constexpr Refusal no_room{"shared-memory", "several times the shared memory is too much"};
constexpr Refusal too_large{"budget", "the sibling would be too large"};

Proposal proposal_for(const Function &kernel, const RetileForm &form, unsigned registers,
                      bool has_rooms) {
  const char axis = "xyz"[form.axis];
  const auto along = static_cast<std::size_t>(form.axis);
  const std::string limit = registers == 0 ? "" : fmt::format("r{}", registers);
  Proposal proposal;
  proposal.family = "retile";
  proposal.axis = form.axis;
  proposal.factor = form.copies;
  proposal.registers = registers;
  proposal.variant = retile_variant({form.copies, registers}, form.kind, form.axis);
  Sibling &sibling = proposal.sibling;
  sibling.family = proposal.family;
  sibling.kind = name_of(form.kind);
  sibling.name = fmt::format("{}__ptxasw_retile_{}_{}{}{}", kernel.name, sibling.kind, axis,
                             form.copies, limit);
  if (form.within_block()) {
    sibling.block[along] = form.copies;
  } else {
    sibling.grid[along] = form.copies;
    sibling.appended = {axis};
  }
  if (form.kind == RetileForm::Kind::rows)
    sibling.needs.blocks = row_blocks(form.axis);
  if (has_rooms)
    sibling.needs.dynamic_shared = 0; // it has more of its own
  return proposal;
}

} // namespace

// The copies together and alone, and for each branch what leaves.
std::size_t retiled_size(const Function &kernel, unsigned copies) {
  std::size_t branches = 1;
  for (const Instruction &instruction : kernel.instructions)
    branches += instruction.guard != no_register;
  return std::size_t{2} * copies * kernel.instructions.size() +
         branches * copies * (kernel.registers.size() / 4 + 6);
}

/// Instructions of a sibling where copies go alone and meet again.
std::size_t detours_size(const Module &module, const Function &kernel, const RetileForm &form) {
  const Sharing sharing(module, kernel, form);
  std::size_t size = 0;
  for (const Detour &detour : sharing.detours())
    size += form.copies *
            static_cast<std::size_t>(std::count(detour.inside.begin(), detour.inside.end(), true));
  return size;
}

std::optional<Refusal> retile_obstacle(const Module &module, const Function &kernel,
                                       Blocks blocks) {
  const auto obstacle = spread_obstacle(module, kernel, blocks);
  return obstacle || blocks == Blocks::spread ? obstacle : rooms_obstacle(module, kernel);
}

std::string RetileForm::index() const {
  return fmt::format("{}.{}", within_block() ? "%tid" : "%ctaid", "xyz"[axis]);
}

std::string RetileForm::extent() const {
  return fmt::format("{}.{}", within_block() ? "%ntid" : "%nctaid", "xyz"[axis]);
}

std::vector<std::string> RetileForm::indices() const {
  std::vector<std::string> result;
  if (copies > 1)
    result.push_back(index());
  if (along_x > 1)
    result.emplace_back("%ctaid.x");
  return result;
}

tl::expected<RetileForm, std::string> retile_form(const Sibling &sibling, unsigned shift) {
  RetileForm form;
  bool found = false;
  const bool wide = sibling.kind.starts_with("wide");
  const unsigned along_x = wide ? sibling.block[0] : 1;
  for (const bool within_block : {false, true})
    for (int axis = 0; axis < 3; ++axis) {
      const unsigned by =
          (within_block ? sibling.block : sibling.grid)[static_cast<std::size_t>(axis)];
      if (by == 1 || (along_x > 1 && within_block && axis == 0))
        continue;
      if (found)
        return tl::unexpected(std::string("more than one axis is divided"));
      found = true;
      form = {within_block ? RetileForm::Kind::neighbours : RetileForm::Kind::apart, axis, by};
    }
  if (!found && !wide)
    return tl::unexpected(std::string("no axis is divided"));
  form.wide = wide;
  form.along_x = along_x;
  form.shift = along_x > 1 ? shift : 0;
  if (form.copies > max_retile_factor || along_x > max_along_x || form.total() > max_copies)
    return tl::unexpected(std::string("too many copies"));
  if (along_x > 1 &&
      (along_x & (along_x - 1) || form.shift >= along_x || (found && form.axis == 0)))
    return tl::unexpected(std::string("the points along x are not understood"));
  // Rows are rows only where every block that may be launched is one thread thick.
  SiblingNeeds needs = sibling.needs;
  if (needs.dynamic_shared == 0) // a kernel that has none is one of those
    needs.dynamic_shared = 1;
  if (wide) { // what the plan of wide accesses may rely on
    needs.aligned.clear();
    needs.divisible.clear();
  }
  if (along_x > 1) {
    if (needs.max_extent[0] > max_points)
      return tl::unexpected(std::string("the kernel's threads along x are not bounded"));
    needs.max_extent[0] = SiblingNeeds{}.max_extent[0];
  }
  if (!needs.blocks.empty() && form.divides_grid() &&
      std::all_of(needs.blocks.begin(), needs.blocks.end(), [&](const auto &shape) {
        return shape[static_cast<std::size_t>(form.axis)] == 1;
      })) {
    form.kind = RetileForm::Kind::rows;
    needs.blocks.clear();
  }
  if (sibling.extent != Sibling{}.extent || !sibling.appended_blocks.empty())
    return tl::unexpected(std::string("a block's extent is given"));
  const std::vector<char> appended =
      form.divides_grid() ? std::vector<char>{"xyz"[form.axis]} : std::vector<char>{};
  if (sibling.appended != appended || needs != SiblingNeeds{})
    return tl::unexpected(std::string("the table does not say what is proved"));
  return form;
}

const std::vector<std::array<std::uint32_t, 3>> &row_blocks(int axis) {
  static const auto shapes = [] {
    std::array<std::vector<std::array<std::uint32_t, 3>>, 3> by_axis;
    constexpr std::uint32_t most = 1024, warp = 32;
    for (std::uint32_t x = warp; x <= most; x += warp)
      by_axis[1].push_back({x, 1, 1});
    for (std::uint32_t x = 1; x <= most; x *= 2)
      for (std::uint32_t y = 1; x * y <= most; y *= 2)
        if (x * y >= warp)
          by_axis[2].push_back({x, y, 1});
    return by_axis;
  }();
  return shapes[static_cast<std::size_t>(axis)];
}

FamilyAnswer propose_retile(const KernelContext &context) {
  const Module &module = context.module;
  const Function &kernel = context.kernel;
  FamilyAnswer answer;
  // What ties threads of a block together may stay where blocks stay whole.
  const bool only_apart = retile_obstacle(module, kernel).has_value();
  if (only_apart)
    if (const auto obstacle = retile_obstacle(module, kernel, Blocks::whole)) {
      answer.refusals.push_back(*obstacle);
      return answer;
    }
  const bool spread = !only_apart && may_be_spread(module, kernel);
  const std::vector<Room> rooms = rooms_of(module, kernel);
  bool fits = true;
  using Kind = RetileForm::Kind;
  for (const RetileSize &size : retile_sizes())
    for (const Kind kind : {Kind::rows, Kind::neighbours, Kind::apart})
      for (int axis = kind == Kind::apart ? 0 : 1; axis < 3; ++axis) {
        const RetileForm form{kind, axis, size.copies};
        if (!is_offered(size, kind, axis) || !mentions_special(module, kernel, form.index()) ||
            (form.within_block() && !spread) || (only_apart && kind != Kind::apart))
          continue;
        if (bytes_of(rooms, size.copies) > most_shared_bytes) {
          fits = false;
          continue;
        }
        if (retiled_size(kernel, size.copies) + detours_size(module, kernel, form) > size_budget) {
          if (answer.refusals.empty())
            answer.refusals.push_back(too_large);
          continue;
        }
        if (!form.merges() || !merged_loads(module, kernel, form).empty())
          answer.proposals.push_back(proposal_for(kernel, form, size.registers, !rooms.empty()));
      }
  if (answer.proposals.empty() && answer.refusals.empty())
    answer.refusals.push_back(fits ? unused : no_room);
  return answer;
}

extern const Family retile_family;
const Family retile_family = {
    .name = "retile",
    .option = "retile",
    .values = "x2|x4|x8|y2|...|z8[,...]",
    .help = "of versions that merge blocks only those that merge this number along this axis",
    .by_default = true,
    .variants = retile_variants,
    .propose = propose_retile,
    .write = write_retile,
    .prove = prove_retile,
};

} // namespace ptxasw::synth
