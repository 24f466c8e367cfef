// Siblings do not depend on each other, so one that is not proved is withdrawn alone. The proof
// reads the whole text as it would leave, and what it reads must begin with the module's own, byte
// for byte, followed only by the siblings and the tables that list them.
//
// A build may bound what siblings cost. A clock would make every build another one, so what counts
// is text: the assembler's time grows with the statements of a module, and so does that of proofs
// (docs/internals/siblings.md has the fit). The first sibling of every kernel comes before the
// second of any, and what does not fit is left out for what is shorter.

#include "synth/siblings.h"

#include "analysis/independence.h"
#include "emulator/facts/unread.h"
#include "emulator/semantics/effects.h"
#include "emulator/semantics/parameter_layout.h"
#include "synth/in_kernel/in_kernel.h"
#include "synth/rewrite.h"
#include "synth/same_launch.h"

#include <algorithm>
#include <fmt/core.h>
#include <iterator>

namespace ptxasw::synth {
namespace {

constexpr Refusal name_taken{"name-taken", "the module has a name that a sibling would get"};
constexpr Refusal inside{"sibling-inside", "a sibling stands in the kernel already"};
constexpr Refusal not_text{"not-text", "the module's text holds a NUL"};

/// What the assembler takes for a function, in the time of a statement of a short one, which is 0.1
/// ms; what its start takes; and what siblings of any module may take, about a second.
std::size_t work_of(std::string_view text) {
  constexpr std::size_t twice_as_long = 10'000;
  const auto statements = static_cast<std::size_t>(std::count(text.begin(), text.end(), ';'));
  return statements + statements * statements / twice_as_long;
}
constexpr std::size_t work_of_start = 290, always_allowed = 10'000;

/// What the module takes alone.
std::size_t own_work(const Module &module) {
  std::size_t own = work_of_start;
  for (const Function &function : module.functions)
    own += work_of(module.text(function.span));
  return own;
}

/// What all siblings of a module may take together. Who allows no more than the module's own time
/// wants none.
std::size_t work_allowed(std::size_t own, unsigned budget) {
  return budget == 1 ? 0 : std::max(always_allowed, (budget - 1) * own);
}

/// One sibling on its way.
struct Written {
  Proposal proposal;
  std::string text;
  proof::Proved proof = {};
};

/// A kernel and its siblings, the best first.
struct Batch {
  std::size_t kernel = 0; ///< index in Module::functions
  KernelSiblings outcome = {};
  std::vector<Written> versions = {};
};

bool contains(std::span<const std::string> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// The order of what is offered, where not all is: each variant is the one that adds most to those
/// before it, over streams and the suite in three shapes of blocks on an H100 and an H200
/// (docs/internals/siblings.md). What is not named follows in the order of its family.
constexpr std::string_view preferred =
    " x8 wide-x4 y4-rows-r128 wide wide-x2 wide-x4y4-rows-r128 wide-x4y4-neighbours-r128 x4"
    " y4-neighbours-r128 y2 wide-x8 y8-rows x2 wide-x2y4-rows y4-neighbours"
    " wide-x4y4-rows-skewed-once wide-x4y8-rows-skewed-once wide-x4y4-rows-skewed-once-r72"
    " wide-x4-once wide-x4z2-rows-once-r64 wide-x2z2-rows-once-r64 wide-x2-once"
    " wide-x2z4-rows-once-r64 wide-x4y4-rows-once-r80 wide-x4y2-rows-once"
    " wide-x2y4-rows-once-r64 wide-x2y4-rows-skewed-once-r64 ";

const Family &family_of(const Proposal &proposal) { return *find_family(proposal.family); }

/// Which proposals are written, the most promising first.
std::vector<Proposal> decide(std::vector<Proposal> offers, const SiblingOptions &options) {
  std::erase_if(offers, [&](const Proposal &proposal) {
    const auto named = options.variants(family_of(proposal).option);
    const bool wanted =
        named.empty() ? proposal.promise.empty() : contains(named, proposal.variant);
    return !wanted || (!options.promises && !proposal.promise.empty()) ||
           (options.names && !contains(*options.names, proposal.sibling.name));
  });
  const auto rank = [](const Proposal &one) {
    return preferred.find(
        fmt::format(" {} ", one.variant)); // the largest number if it is not there
  };
  std::stable_sort(offers.begin(), offers.end(),
                   [&](const Proposal &a, const Proposal &b) { return rank(a) < rank(b); });
  std::size_t once = 0, others = 0;
  std::erase_if(offers, [&](const Proposal &offer) {
    const bool in_addition = once < options.once && !offer.sibling.needs.covered.empty();
    return ++(in_addition ? once : others) > (in_addition ? options.once : options.most);
  });
  return offers;
}

/// Returns true if something of a family may be wanted at all.
bool is_wanted(const Family &family, const SiblingOptions &options) {
  const auto named = options.variants(family.option);
  if (named.empty())
    return options.names || (family.by_default && options.defaults);
  return std::any_of(named.begin(), named.end(), [&](const std::string &variant) {
    return contains(family.variants(), variant);
  });
}

/// Returns true if a kernel that no thread waits in asks what depends on the order of its threads.
bool depends_on_order(const KernelContext &context) {
  const auto &[module, kernel] = std::tie(context.module, context.kernel);
  const std::vector<bool> unread = facts::unread_atomics(module, kernel);
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const Opcode &opcode = module.opcode(kernel.instructions[i]);
    if ((facts::is_relaxed_atomic(opcode) && !unread[i]) ||
        (opcode.op == Op::ld && emulator::is_relaxed_in_block(opcode)))
      return true;
  }
  return blocks_independent(context, true) && !blocks_independent(context);
}

std::string print(const Module &module, const std::vector<Batch> &all) {
  std::string text(module.text());
  if (!text.ends_with('\n'))
    text += '\n';
  for (const Batch &batch : all) {
    const Function &kernel = module.functions[batch.kernel];
    if (batch.versions.empty())
      continue;
    SiblingTable table = empty_table(module, kernel);
    for (const Written &one : batch.versions) {
      text += "\n" + one.text;
      table.siblings.push_back(one.proposal.sibling);
    }
    text += "\n" + declaration(table, kernel.linkage == Linkage::weak);
  }
  return text;
}

/// Throws NotProved if there is anything beside the module's own text, the siblings, their tables,
/// and declarations of `vprintf`, which versions with assertions need.
void check_whole(const Module &module, const Module &written, const std::vector<Batch> &all) {
  proof::show(written.text().starts_with(module.text()), "the module's own text changed");
  std::size_t functions = module.functions.size(), variables = module.variables.size();
  for (const Batch &batch : all) {
    functions += batch.versions.size();
    variables += batch.versions.empty() ? 0 : 1;
  }
  for (std::size_t f = module.functions.size(); f < written.functions.size(); ++f)
    if (!written.functions[f].has_body && written.functions[f].name == "vprintf")
      ++functions;
  proof::show(written.functions.size() == functions && written.variables.size() == variables,
              "something else was added");
}

/// Proves all, as they are in a text.
void prove_all(const Module &module, const std::string &text, std::vector<Batch> &all) {
  const auto parsed = parse(text, "siblings");
  const proof::Proved whole = proof::proved([&] {
    proof::show(parsed.has_value(), parsed ? "" : parsed.error().message);
    check_whole(module, **parsed, all);
  });
  for (Batch &batch : all) {
    std::optional<KernelContext> context;
    if (whole)
      context.emplace(**parsed, (*parsed)->functions[batch.kernel]);
    for (auto &[proposal, version, shown] : batch.versions) {
      const Function *const sibling =
          whole ? kernel_named(**parsed, proposal.sibling.name) : nullptr;
      shown = !whole    ? whole
              : sibling ? family_of(proposal).prove(*context, *sibling, proposal)
                        : proof::not_proved("it has another name");
    }
  }
}

/// Leaves out what is beyond the budget.
void leave_out(std::vector<Batch> &all, std::size_t allowed) {
  for (std::size_t place = 0, most = 1; place < most; ++place)
    for (Batch &batch : all) {
      most = std::max(most, batch.versions.size());
      if (place >= batch.versions.size())
        continue;
      Written &one = batch.versions[place];
      if (const std::size_t work = work_of(one.text); work <= allowed) {
        allowed -= work;
      } else {
        batch.outcome.left_out.push_back(one.proposal.sibling.name);
        one.text.clear();
      }
    }
  for (Batch &batch : all)
    std::erase_if(batch.versions, [](const Written &one) { return one.text.empty(); });
}

std::vector<Batch> write_all(const Module &module, const SiblingOptions &options) {
  std::vector<Batch> all;
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    const Function &kernel = module.functions[f];
    if (!kernel.is_entry || !kernel.has_body || !is_selected(kernel, options.kernels))
      continue;
    Batch &batch = all.emplace_back(Batch{f});
    batch.outcome.kernel = kernel.name;
    if (const auto obstacle = siblings_obstacle(module, kernel)) {
      batch.outcome.refusals.push_back(*obstacle);
      continue;
    }
    const KernelContext context(module, kernel);
    std::vector<Proposal> offers;
    for (const Family &family : families()) {
      if (!is_wanted(family, options))
        continue;
      FamilyAnswer answer = propose(family, context);
      for (const Refusal &refusal : answer.refusals)
        add_refusal(batch.outcome.refusals, refusal.by(family.name));
      std::move(answer.proposals.begin(), answer.proposals.end(), std::back_inserter(offers));
    }
    for (Proposal &proposal : decide(std::move(offers), options)) {
      std::string text = family_of(proposal).write(context, proposal);
      batch.versions.push_back({std::move(proposal), std::move(text)});
    }
  }
  return all;
}

} // namespace

std::optional<Refusal> siblings_obstacle(const Module &module, const Function &kernel) {
  const std::string_view text = module.text();
  if (text.find('\0') != std::string_view::npos)
    return not_text;
  if (text.find(std::string(kernel.name) + "__ptxasw_") != std::string_view::npos)
    return name_taken;
  return has_sibling_inside(kernel) ? std::optional(inside) : std::nullopt;
}

SiblingTable empty_table(const Module &module, const Function &kernel) {
  SiblingTable table;
  table.kernel = kernel.name;
  table.hash = module_number(module.text(kernel.body));
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    table.parameters.push_back({kernel_parameter_offset(kernel, i),
                                static_cast<std::uint32_t>(kernel.parameters[i].size())});
  table.any_order = kernel.has_body && depends_on_order({module, kernel});
  return table;
}

SiblingResult add_siblings(const Module &module, const SiblingOptions &options) {
  SiblingResult result;
  result.own_work = own_work(module);
  std::vector<Batch> all = write_all(module, options);
  if (options.budget != 0)
    leave_out(all, work_allowed(result.own_work, options.budget));
  for (bool again = true; again;) {
    again = false;
    result.changed = std::any_of(all.begin(), all.end(),
                                 [](const Batch &batch) { return !batch.versions.empty(); });
    result.text = result.changed ? print(module, all) : std::string(module.text());
    if (!result.changed)
      break;
    prove_all(module, result.text, all);
    for (Batch &batch : all) {
      for (const Written &one : batch.versions)
        if (!one.proof)
          batch.outcome.unproved.push_back({one.proposal.sibling.name, one.proof.error().why});
      again |= std::erase_if(batch.versions, [](const Written &one) { return !one.proof; }) != 0;
    }
  }
  for (Batch &batch : all) {
    for (Written &one : batch.versions) {
      result.added_work += work_of(one.text);
      batch.outcome.written.push_back(std::move(one.proposal));
    }
    result.kernels.push_back(std::move(batch.outcome));
  }
  return result;
}

} // namespace ptxasw::synth
