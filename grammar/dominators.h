#pragma once

// Immediate dominators of any directed graph, by the Semi-NCA algorithm (Georgiadis, "Linear-time
// algorithms for dominators and related problems"): semidominators with path compression, then each
// node's nearest ancestor in the depth-first tree that does not lie below its semidominator. The
// textbook iteration takes quadratic time where hundreds of cases of a switch lead to one block.
//
// Post-dominators are the dominators of the graph with its edges reversed.
//   immediate_dominators(size, 0, successors, predecessors)[node] // no_index: it has none

#include "grammar/module.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace ptxasw::ptx {

/// The immediate dominator of every node of a graph with nodes 0 to `size` - 1, as seen from
/// `root`, whose own is the root itself; `no_index` for nodes that cannot be reached from there.
/// `successors(node)` and `predecessors(node)` give ranges of nodes.
template <class Successors, class Predecessors>
std::vector<std::uint32_t> immediate_dominators(std::uint32_t size, std::uint32_t root,
                                                Successors successors, Predecessors predecessors) {
  std::vector<std::uint32_t> result(size, no_index);
  // Nodes by their number in a depth-first walk; all else is by these numbers.
  std::vector<std::uint32_t> node_at, number(size, no_index), parent;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> todo{{root, 0}}; // with its parent's number
  while (!todo.empty()) {
    const auto [node, from] = todo.back();
    todo.pop_back();
    if (number[node] != no_index)
      continue;
    const auto mine = number[node] = static_cast<std::uint32_t>(node_at.size());
    node_at.push_back(node);
    parent.push_back(from);
    for (const std::uint32_t successor : successors(node))
      if (number[successor] == no_index)
        todo.emplace_back(successor, mine);
  }
  const auto count = static_cast<std::uint32_t>(node_at.size());
  std::vector<std::uint32_t> dominator = parent, semi(count), label(count), path;
  for (std::uint32_t i = 0; i < count; ++i)
    semi[i] = label[i] = i;
  // The node with the smallest semidominator on the way up from v, over nodes numbered `linked` and
  // more; `parent` is shortened on the way.
  const auto smallest = [&](std::uint32_t v, std::uint32_t linked) {
    if (parent[v] < linked)
      return label[v];
    do {
      path.push_back(v);
      v = parent[v];
    } while (parent[v] >= linked);
    std::uint32_t above = v, best = label[v];
    for (; !path.empty(); path.pop_back()) {
      v = path.back();
      parent[v] = parent[above];
      if (semi[best] < semi[label[v]])
        label[v] = best;
      else
        best = label[v];
      above = v;
    }
    return label[v];
  };
  for (std::uint32_t i = count - 1; i >= 1; --i) {
    semi[i] = parent[i];
    for (const std::uint32_t predecessor : predecessors(node_at[i]))
      if (number[predecessor] != no_index)
        semi[i] = std::min(semi[i], semi[smallest(number[predecessor], i + 1)]);
  }
  for (std::uint32_t i = 1; i < count; ++i)
    while (dominator[i] > semi[i])
      dominator[i] = dominator[dominator[i]];
  for (std::uint32_t i = 0; i < count; ++i)
    result[node_at[i]] = node_at[dominator[i]];
  return result;
}

} // namespace ptxasw::ptx
