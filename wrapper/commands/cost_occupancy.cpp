// Needs come from the real ptxas (or the command line), the rest is analysis/occupancy.

#include "wrapper/commands/cost_occupancy.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::pair<std::uint64_t, Occupancy>>;

std::string known_architectures() {
  std::string list;
  for (const Architecture &a : architectures())
    list += (list.empty() ? "" : ", ") + std::string(a.name);
  return list;
}

/// The block sizes to examine: those asked for, those required, or every number of warps.
std::vector<std::uint64_t> sizes(const std::optional<BlockShape> &block, const KernelNeeds &subject,
                                 const Architecture &architecture) {
  if (block)
    return {block->count()};
  if (subject.required)
    return {subject.required->count()};
  std::vector<std::uint64_t> list;
  for (std::uint64_t threads = 32; threads <= architecture.threads_per_block; threads += 32)
    if (subject.needs.most_threads == 0 || threads <= subject.needs.most_threads)
      list.push_back(threads);
  if (list.empty() && subject.needs.most_threads > 0)
    list.push_back(subject.needs.most_threads);
  return list;
}

std::string needs_text(const BlockNeeds &needs, const Architecture &architecture) {
  return fmt::format("{} registers, {} bytes of shared memory ({}{})", needs.registers,
                     needs.static_shared + needs.dynamic_shared, architecture.name,
                     architecture.confirmed ? "" : ", whose numbers are not confirmed");
}

std::string table(const KernelNeeds &subject, const Architecture &architecture, const Rows &rows) {
  std::string text =
      fmt::format("  occupancy  {}\n  {:>9} {:>7} {:>7} {:>10}  limited by\n",
                  needs_text(subject.needs, architecture), "threads", "blocks", "warps", "share");
  for (const auto &[threads, found] : rows)
    text += fmt::format("  {:>9} {:>7} {:>7} {:>8.1f} %  {}{}\n", threads, found.blocks,
                        found.warps, 100 * found.share, reached_text(found),
                        found.blocks == 0 ? ": cannot be launched" : "");
  return text;
}

/// One line: the most warps that a multiprocessor holds, by which blocks, and what prevents more.
std::string best(const KernelNeeds &subject, const Architecture &architecture, const Rows &rows) {
  constexpr std::size_t shown = 4;
  const Occupancy &most =
      std::max_element(rows.begin(), rows.end(), [](const auto &a, const auto &b) {
        return a.second.share < b.second.share;
      })->second;
  std::string sizes;
  std::size_t count = 0;
  for (const auto &[threads, found] : rows)
    if (found.share == most.share && ++count <= shown)
      sizes += fmt::format("{}{}", count == 1 ? "" : ", ", threads);
  std::string others;
  if (count > shown)
    others = fmt::format(" and in {} other size{}", count - shown, count == shown + 1 ? "" : "s");
  return fmt::format("  occupancy  {:.1f} % in blocks of {} threads{}, limited by {}{}; {}\n",
                     100 * most.share, sizes, others, reached_text(most),
                     most.blocks == 0 ? ": cannot be launched" : "",
                     needs_text(subject.needs, architecture));
}

Json to_json(const KernelNeeds &subject, const Architecture &architecture, const Rows &rows) {
  const BlockNeeds &needs = subject.needs;
  Json kernel;
  kernel["arch"] = architecture.name;
  kernel["confirmed"] = architecture.confirmed;
  kernel["registers"] = needs.registers;
  kernel["static_shared"] = needs.static_shared;
  kernel["dynamic_shared"] = needs.dynamic_shared;
  kernel["barriers"] = needs.barriers;
  kernel["shapes"] = Json::array();
  for (const auto &[threads, found] : rows) {
    Json shape;
    shape["threads"] = threads;
    shape["blocks"] = found.blocks;
    shape["warps"] = found.warps;
    shape["occupancy"] = found.share;
    shape["limited_by"] = Json::array();
    for (const OccupancyLimit limit : found.reached())
      shape["limited_by"].push_back(to_string(limit));
    for (std::size_t i = 0; i < occupancy_limits; ++i) {
      const auto &blocks = found.by_limit[i];
      shape["blocks_by"][std::string(to_string(static_cast<OccupancyLimit>(i)))] =
          blocks ? Json(*blocks) : Json(nullptr);
    }
    kernel["shapes"].push_back(std::move(shape));
  }
  return kernel;
}

} // namespace

tl::expected<const Architecture *, std::string> architecture_of(const std::string &target) {
  if (const Architecture *const found = find_architecture(target))
    return found;
  return tl::unexpected(
      fmt::format("the limits of `{}` are not known; there are {}", target, known_architectures()));
}

KernelAnswer occupancy_of(KernelNeeds subject, const Architecture &architecture,
                          const std::optional<BlockShape> &block, bool all) {
  Rows rows;
  for (const std::uint64_t threads : sizes(block, subject, architecture)) {
    subject.needs.threads = threads;
    rows.emplace_back(threads, occupancy(architecture, subject.needs));
  }
  return {"", (all ? table : best)(subject, architecture, rows),
          to_json(subject, architecture, rows)};
}

} // namespace ptxasw::wrapper
