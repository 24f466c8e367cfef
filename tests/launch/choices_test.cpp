// What is known of a kernel's launches, where no driver is.

#include "wrapper/launch/measure.h"

#include <doctest/doctest.h>

using namespace ptxasw::test;
using namespace ptxasw::wrapper::launch;

namespace {

/// A kernel `add` (to, from, n) with one version, of which there has been none with this hash.
KernelCode &kernel_with(const std::string &hash, const Profile &known = {}) {
  SiblingTable table;
  table.kernel = "add";
  table.hash = hash;
  table.parameters = {{0, 8}, {8, 8}, {16, 4}};
  table.siblings.emplace_back();
  table.siblings[0].name = "add__ptxasw_x4";
  return code_of(std::move(table), known);
}

LaunchKey launch_of(unsigned grid, std::uint64_t met = 0) {
  LaunchKey launch;
  launch.grid.x = grid;
  launch.met = met;
  return launch;
}

/// Six launches, of two sizes of n, of which one takes twice as long.
void learn_that_n_matters(KernelCode &code, Choice &choice) {
  for (unsigned i = 0; i < 6; ++i) {
    Pending launch;
    launch.numbers = i % 2 == 0 ? 10 : 20; // n is the first of the numbers
    learn_numbers(code, choice, launch, i % 2 == 0 ? 1 : 2);
  }
}

Choice &choice_in(KernelCode &code, std::uint32_t threads) {
  Shape shape;
  shape.threads = threads;
  shape.fitting = 1;
  shape.device = -1;
  shape.matter = code.matter;
  return *make_choice(code, shape, {{}});
}

} // namespace

TEST_CASE("launches that were seen are found until launches are kept apart by other numbers") {
  KernelCode &code = kernel_with("seen");
  Choice choice;
  constexpr unsigned grids = 500;
  for (unsigned grid = 1; grid <= grids; ++grid)
    for (const std::uint64_t met : {0, 1})
      keep_seen(code, launch_of(grid, met), met != 0 ? &choice : nullptr, Outcome::grid);
  for (unsigned grid = 1; grid <= grids; ++grid) {
    const SeenLaunch *const with = find_seen(code, launch_of(grid, 1));
    const SeenLaunch *const without = find_seen(code, launch_of(grid));
    REQUIRE(with);
    REQUIRE(without);
    CHECK(with->choice == &choice);
    CHECK(!without->choice);
  }
  CHECK(!find_seen(code, launch_of(grids + 1)));
  CHECK(!find_seen(code, launch_of(1, 2)));
  // As many as there may be.
  for (unsigned grid = 1; grid <= 2000; ++grid)
    keep_seen(code, launch_of(grid, 2), nullptr, Outcome::grid);
  CHECK(!find_seen(code, launch_of(2000, 2)));
  learn_that_n_matters(code, choice);
  CHECK(code.matter == 0xff);
  CHECK(!find_seen(code, launch_of(1, 1)));
  keep_seen(code, launch_of(2000, 2), &choice, Outcome::grid);
  CHECK(find_seen(code, launch_of(2000, 2)));
}

TEST_CASE("launches rest only if all of their grid stay the original's") {
  KernelCode &code = kernel_with("rest");
  Choice stays, changes;
  stays.decided = 0;
  changes.decided = 1;
  keep_seen(code, launch_of(1), &stays, Outcome::sibling);
  keep_seen(code, launch_of(2), &stays, Outcome::sibling);
  keep_seen(code, launch_of(1, 1), nullptr, Outcome::grid);
  CHECK(all_stay(code, launch_of(1)));
  keep_seen(code, launch_of(1, 2), &changes, Outcome::sibling);
  CHECK(!all_stay(code, launch_of(1)));
  CHECK(all_stay(code, launch_of(2)));
  changes.decided = -1;
  CHECK(!all_stay(code, launch_of(1)));
  changes.decided = 0;
  CHECK(all_stay(code, launch_of(1)));
  // Not where some may not have been kept.
  for (unsigned grid = 3; grid <= 2000; ++grid)
    keep_seen(code, launch_of(grid), nullptr, Outcome::grid);
  CHECK(!all_stay(code, launch_of(1)));
}

TEST_CASE("runs of launches that no choice gets any more have ended") {
  KernelCode &code = kernel_with("runs");
  Choice &first = choice_in(code, 10), &second = choice_in(code, 11);
  begin_run(first, {}, 4, {});
  begin_run(second, {}, 4, {});
  learn_that_n_matters(code, first);
  CHECK(first.run.left == 0);
  CHECK(second.run.left == 0);
  Choice &later = choice_in(code, 10);
  CHECK(&later != &first);
  begin_run(later, {}, 4, {});
  learn_that_n_matters(code, later); // is known
  CHECK(later.run.left == 3);
}

TEST_CASE("what is known of a kernel grows") {
  ProfileEntry entry{"add", "grows", "", {{1, 1, 1}, 10, {"add__ptxasw_x4"}}, "add__ptxasw_x4",
                     2,     1};
  entry.shape.numbers = {{2, 10}};
  ProfileEntry other = entry;
  other.gpu = "another";
  other.shape.numbers = {{1, 30}};
  KernelCode &code = kernel_with("grows", {{entry}});
  CHECK(code.matter == 0xff);
  CHECK(&kernel_with("grows", {{other}}) == &code);
  CHECK(code.known.entries.size() == 2);
  CHECK(code.matter == 0xff00ff); // parameters 2, 0, 1
  // What one GPU does not depend on does not matter there.
  Shape shape;
  shape.threads = 10;
  shape.fitting = 1;
  shape.device = -1;
  shape.matter = code.matter;
  shape.numbers = 10 | 20 << 16;
  CHECK(make_choice(code, shape, {{}})->decided == 1);
  shape.numbers = 11 | 20 << 16;
  CHECK(make_choice(code, shape, {{}})->decided < 0);
}
