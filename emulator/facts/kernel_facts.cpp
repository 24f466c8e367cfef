// One emulation with probes at every memory operand and guard: it then follows addresses of every
// state space, which the shuffles' own emulation leaves out.

#include "emulator/facts/kernel_facts.h"

#include "emulator/facts/beginnings.h"
#include "emulator/facts/reading.h"
#include "emulator/symbolic/generic.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <set>

namespace ptxasw::facts {
namespace {

constexpr unsigned most_alignment = 4096;
/// The space whose addresses a conversion to generic ones takes (ExprPool::generic_address).
std::optional<StateSpace> made_generic_from(const ExprPool &pool, Expr atom) {
  if (atom->kind != ExprKind::uf)
    return std::nullopt;
  const std::string_view name = pool.function_name(atom);
  if (!name.starts_with("cvta.") || name.starts_with("cvta.to"))
    return std::nullopt;
  const std::string_view rest = name.substr(5);
  const StateSpace space = state_space(rest.substr(0, rest.find('.')));
  return space == StateSpace::generic ? std::nullopt : std::optional(space);
}

LaunchFacts launch_of(const Function &function, const Assumptions &assumptions) {
  LaunchFacts launch = launch_facts(function, assumptions.block);
  if (launch.block && assumptions.index_is_positive)
    launch.max_grid_x = 0x7fffffff / launch.block->x;
  if (const auto given = assumptions.parameters.find("nctaid.x");
      given != assumptions.parameters.end() && given->second > 0)
    launch.max_grid_x =
        static_cast<std::uint32_t>(std::min<std::int64_t>(given->second, launch.max_grid_x));
  return launch;
}

} // namespace

/// Puts numbers in place of the parameters of which the launch is known.
class AtLaunch {
public:
  AtLaunch(Emulation &emulation, const Function &function, const Assumptions &assumptions)
      : emulation_(emulation), function_(function), assumptions_(assumptions) {}

  Expr operator()(Expr expr) {
    if (assumptions_.parameters.empty())
      return expr;
    for_each_node(expr, [&](Expr node) {
      if (node->kind != ExprKind::symbol)
        return;
      const auto field = emulation_.parameter_field(node);
      const std::string &name = emulation_.pool().symbols()[node->index].name;
      if ((!field && !name.starts_with("%nctaid.")) || node->width > 64)
        return;
      const auto given =
          assumptions_.parameters.find(field ? parameter_name(*field, function_) : name.substr(1));
      if (given != assumptions_.parameters.end())
        given_.map(node, emulation_.pool().constant(node->width,
                                                    static_cast<std::uint64_t>(given->second)));
    });
    return given_(expr);
  }

private:
  Emulation &emulation_;
  const Function &function_;
  const Assumptions &assumptions_;
  Substitution given_{emulation_.pool()}; ///< of parameters
};

/// Threads of the layout that can take part, as far as branches and guards that depend on the lane
/// alone show. Blocks and accesses have few different sets of them, so each has a number.
class ActiveThreads {
public:
  ActiveThreads(Emulation &emulation, LaneValues &lanes, const Layout &layout, AtLaunch &at_launch)
      : emulation_(emulation), lanes_(lanes), layout_(layout), at_launch_(at_launch) {}

  const std::vector<bool> &threads(std::uint32_t set) const { return sets_[set]; }

  std::uint32_t set_of(BlockId block) {
    if (active_.empty())
      active_.resize(emulation_.cfg().blocks().size());
    auto &known = active_[block];
    if (!known) {
      std::vector<bool> threads(layout_.threads.size(), true);
      for (const PathFact &fact : emulation_.facts_in(block))
        restrict(threads, at_launch_(emulation_.expand(fact.condition)), fact.holds);
      known = number_of(std::move(threads));
    }
    return *known;
  }

  std::uint32_t set_of(const Access &access) {
    const std::uint32_t here = set_of(access.block);
    if (!access.guard || !lanes_(access.guard))
      return here;
    std::vector<bool> threads = sets_[here];
    restrict(threads, access.guard, true);
    return number_of(std::move(threads));
  }

private:
  std::uint32_t number_of(std::vector<bool> threads) {
    const auto number =
        static_cast<std::uint32_t>(std::find(sets_.begin(), sets_.end(), threads) - sets_.begin());
    if (number == sets_.size())
      sets_.push_back(std::move(threads));
    return number;
  }

  // The thread's number in its block, modulo 32, is the lane, whatever the rows are.
  void restrict(std::vector<bool> &threads, Expr condition, bool holds) {
    const auto *values = lanes_(condition);
    if (!values)
      values = lanes_(emulation_.by_lane(condition));
    if (values)
      for (std::size_t t = 0; t < threads.size(); ++t)
        threads[t] = threads[t] && ((*values)[t] != 0) == holds;
  }

  Emulation &emulation_;
  LaneValues &lanes_;
  const Layout &layout_;
  AtLaunch &at_launch_;
  std::deque<std::vector<bool>> sets_;               ///< of threads, by number
  std::vector<std::optional<std::uint32_t>> active_; ///< by block: the number of its set
};

/// What addresses are multiples of, and what lanes add to them.
class Alignments {
public:
  Alignments(Emulation &emulation, LaneValues &lanes, const ActiveThreads &active,
             const Module &module, const Function &function, unsigned of_pointers)
      : emulation_(emulation), lanes_(lanes), active_(active), module_(module), function_(function),
        of_pointers_(of_pointers) {}

  unsigned of_term(Expr atom, std::int64_t factor) {
    unsigned zeros = trailing_zeros(lanes_, atom);
    while (atom->kind == ExprKind::zext || atom->kind == ExprKind::sext ||
           (atom->kind == ExprKind::extract && atom->index == 0))
      atom = atom->children[0];
    if (atom->kind == ExprKind::symbol) {
      const std::string &name = emulation_.pool().symbols()[atom->index].name;
      const auto field = emulation_.parameter_field(atom);
      if (name.starts_with('&'))
        zeros = static_cast<unsigned>(
            std::countr_zero(variable_alignment(std::string_view(name).substr(1))));
      else if (field && field->width == 64 && factor == 1 && function_.is_entry)
        zeros =
            std::max(zeros, static_cast<unsigned>(std::countr_zero(std::max(of_pointers_, 1u))));
    }
    zeros += static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(factor)));
    return zeros >= 12 ? most_alignment : 1u << zeros;
  }

  /// Of an address apart from the lane's own part (Access::shared_alignment).
  unsigned of_shared(const AddressForm &form) {
    unsigned result = form.is_linear() ? most_alignment : 1;
    for (const auto *terms : {&form.uniform, &form.loops})
      for (const Term &term : *terms)
        result = std::min(result, of_term(term.atom, term.factor));
    for (const StrideTerm &stride : form.strides)
      result = std::min(result, of_term(stride.by, stride.factor));
    return result;
  }

  // The bits in which what lanes add by themselves is not a multiple of most_alignment, of all
  // lanes that can take part; remembered.
  std::uint64_t of_lanes(const AddressForm &form, std::uint32_t set) {
    const std::uint64_t constant = static_cast<std::uint64_t>(form.constant) % most_alignment;
    std::vector<std::int64_t> key{static_cast<std::int64_t>(constant), set};
    append_lane_part(form, key);
    const auto [known, is_new] = known_alignments_.try_emplace(std::move(key), 0);
    if (is_new) {
      const auto &apart = offsets_without_constant(form);
      for (std::size_t t = 0; t < apart.size(); ++t)
        if (active_.threads(set)[t])
          known->second |= (static_cast<std::uint64_t>(apart[t]) + constant) % most_alignment;
    }
    return known->second;
  }

  // lane_offsets() but for what all lanes add, remembered: the accesses of a kernel have few ways
  // to step from lane to lane.
  const std::vector<std::int64_t> &offsets_without_constant(const AddressForm &form) {
    std::vector<std::int64_t> key;
    append_lane_part(form, key);
    auto &known = known_offsets_[std::move(key)];
    if (known.empty()) {
      AddressForm apart;
      std::copy(std::begin(form.tid), std::end(form.tid), apart.tid);
      apart.laneid = form.laneid;
      apart.of_lane = form.of_lane;
      known = lane_offsets(lanes_, apart);
    }
    return known;
  }

  // What lane_offsets() looks at apart from the constant, in numbers.
  static void append_lane_part(const AddressForm &form, std::vector<std::int64_t> &key) {
    key.insert(key.end(), std::begin(form.tid), std::end(form.tid));
    key.push_back(form.laneid);
    key.push_back(static_cast<std::int64_t>(form.of_lane.size()));
    for (const Term &term : form.of_lane) {
      key.push_back(term.atom->id);
      key.push_back(term.factor);
    }
  }

private:
  // Variables lie where their declarations ask for, or as their type does (PTX ISA 5.4.5).
  unsigned variable_alignment(std::string_view name) const {
    const auto declared = [&](const std::vector<Variable> &variables) -> unsigned {
      for (const Variable &variable : variables)
        if (variable.name == name)
          return variable.alignment
                     ? variable.alignment
                     : std::max(1u, std::bit_floor(bit_width(variable.type) / 8 * variable.vector));
      return 0;
    };
    if (const unsigned own = declared(function_.variables))
      return own;
    return std::max(1u, declared(module_.variables));
  }

  Emulation &emulation_;
  LaneValues &lanes_;
  const ActiveThreads &active_;
  const Module &module_;
  const Function &function_;
  const unsigned of_pointers_; ///< Assumptions::base_alignment
  // By numbers of what they depend on.
  std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> known_offsets_;
  std::map<std::vector<std::int64_t>, std::uint64_t> known_alignments_;
};

/// Finds accesses and branches from one emulation, and what they cost.
class KernelFacts::Implementation {
public:
  Implementation(const Module &module, const Function &function, const Assumptions &assumptions)
      : module_(module), function_(function), assumptions_(assumptions),
        launch_(launch_of(function, assumptions)), layout_(layout_of(launch_)),
        sites_(access_sites(module, function)), probes_(probes()),
        emulation_(module, function, launch_, probes_,
                   layout_.symbolic     ? LaneGroup::whole_row
                   : layout_.whole_rows ? LaneGroup::row
                                        : LaneGroup::warp),
        lanes_(emulation_, layout_), at_launch_(emulation_, function, assumptions_),
        active_(emulation_, lanes_, layout_, at_launch_),
        alignments_(emulation_, lanes_, active_, module, function, assumptions_.base_alignment) {
    if (!emulation_.complete())
      return;
    find_accesses();
    find_branches();
    traffic_.resize(accesses_.size());
  }

  const std::vector<bool> &active(BlockId block) { return active_.threads(active_.set_of(block)); }
  const std::vector<bool> &active(const Access &access) {
    return active_.threads(active_.set_of(access));
  }

  const Traffic &traffic(const Access &access) {
    auto &known = traffic_[access.number];
    if (!known)
      known = &traffic_like(query_of(access), active_.set_of(access));
    return *known;
  }

  std::uint32_t certain_sectors(const Access &access) {
    const Count &sectors = traffic(access).sectors;
    const std::uint32_t enough = std::max(sectors.typical, sectors.least);
    if (access.space != StateSpace::global || sectors.verdict == Verdict::unknown ||
        sectors.most <= enough)
      return enough;
    const UnknownNumbers numbers{
        .counts_up = [&](Expr symbol) { return counts_up(symbol); },
        .most = [&](Expr symbol) { return most_in_block(symbol); },
        .fixed = [&](Expr symbol) { return fixed_in_launch(symbol); },
        .zeros =
            [&](Expr symbol) {
              return static_cast<unsigned>(std::countr_zero(alignments_.of_term(symbol, 1)));
            },
        .possible = [&](const auto &values) { return possible(access, values); }};
    return std::max(enough, certain_units(lanes_, query_of(access), sector_bytes, numbers, enough));
  }

  std::optional<std::int64_t> lane_stride(const Access &access) {
    const AddressForm &form = access.form;
    if (!form.is_linear())
      return std::nullopt;
    const std::vector<std::int64_t> offsets = lane_offsets(lanes_, form);
    std::optional<std::int64_t> stride;
    for (const WarpThreads &warp : layout_.warps)
      for (std::uint32_t t = warp.first + 1; t < warp.first + warp.count; ++t) {
        if (layout_.threads[t].x != layout_.threads[t - 1].x + 1)
          continue; // another row
        for (const StrideTerm &term : form.strides)
          if (const auto *values = lanes_(term.lane); (*values)[t] != (*values)[t - 1])
            return std::nullopt;
        const std::int64_t distance = offsets[t] - offsets[t - 1];
        if (stride.value_or(distance) != distance)
          return std::nullopt;
        stride = distance;
      }
    return stride;
  }

  const Module &module_;
  const Function &function_;
  const Assumptions assumptions_;
  const LaunchFacts launch_;
  const Layout layout_;
  const std::vector<AccessSite> sites_;
  const std::vector<Probe> probes_;
  Emulation emulation_;
  LaneValues lanes_;
  std::vector<Access> accesses_;
  std::vector<Branch> branches_;

private:
  TrafficQuery query_of(const Access &access) {
    const AddressForm &form = access.usual ? *access.usual : access.form;
    return {.form = &form,
            .bytes = access.site.bytes,
            .alignment = access.usual ? alignments_.of_shared(form) : access.shared_alignment,
            .shared = access.space == StateSpace::shared,
            .load = access.site.kind == AccessKind::load,
            .exceptions = access.exceptions,
            .wanders = wanders(access, form),
            .active = &active(access)};
  }

  std::uint64_t most_in_block(Expr symbol) {
    if (layout_.symbolic || !layout_.whole_rows)
      return ~std::uint64_t{0};
    const std::string &name = emulation_.pool().symbols()[symbol->index].name;
    return name == "%tid.y"   ? layout_.shape.y - 1
           : name == "%tid.z" ? layout_.shape.z - 1
                              : ~std::uint64_t{0};
  }

  bool fixed_in_launch(Expr symbol) {
    const std::string &name = emulation_.pool().symbols()[symbol->index].name;
    return emulation_.parameter_field(symbol) || name.starts_with('&') ||
           name.starts_with("%ntid.") || name.starts_with("%nctaid.");
  }

  // False if a branch on the way to an access, or its guard, keeps lanes from it that can take part
  // elsewhere where what counts up has these values. What is not decided by them is taken to say
  // yes in some launch.
  bool possible(const Access &access, const std::vector<std::pair<Expr, std::uint64_t>> &values) {
    Substitution now(emulation_.pool());
    for (const auto &[symbol, value] : values)
      now.map(symbol, emulation_.pool().constant(symbol->width, value));
    const std::vector<bool> &can = active(access);
    const auto excluded = [&](Expr condition, bool holds) {
      const auto *by_lane = lanes_(now(condition));
      for (std::size_t t = 0; by_lane && t < can.size(); ++t)
        if (can[t] && ((*by_lane)[t] != 0) != holds)
          return true;
      return false;
    };
    const auto facts = emulation_.facts_in(access.block);
    return std::none_of(facts.begin(), facts.end(),
                        [&](const PathFact &fact) {
                          return excluded(at_launch_(emulation_.expand(fact.condition)),
                                          fact.holds);
                        }) &&
           !(access.guard && excluded(access.guard, true));
  }

  // Takes the other way of every choice that at most one lane of a warp makes: `i == 0 ? i : i -
  // 1`.
  void find_usual_form(Access &access) {
    if (!access.in_step || access.form.is_linear() || access.space != StateSpace::global)
      return;
    Substitution usual(emulation_.pool());
    unsigned exceptions = 0;
    for_each_node(access.address, [&](Expr node) {
      if (node->kind != ExprKind::ite || node->children[0]->kind != ExprKind::eq0 ||
          !holds_in_one_lane(node->children[0], access.block))
        return;
      usual.map(node, node->children[2]);
      ++exceptions;
    });
    if (exceptions == 0)
      return;
    AddressForm form =
        address_form(emulation_, lanes_, usual(access.address), access.block, false, &wraps_);
    if (!form.is_linear())
      return;
    access.usual = std::move(form);
    access.exceptions = exceptions;
  }

  // True if something that all lanes share plus a different number for each lane is 0.
  bool holds_in_one_lane(Expr is_zero, BlockId block) {
    const Expr sum = is_zero->children[0];
    const auto [known, is_new] = in_one_lane_.try_emplace({sum, block}, false);
    if (!is_new || sum->width > 64 || lanes_(sum))
      return known->second;
    const AddressForm form = address_form(emulation_, lanes_, sum, block);
    if (!form.is_linear() || !form.strides.empty() || form.may_wrap)
      return false;
    const auto &apart = alignments_.offsets_without_constant(form);
    bool differ = true;
    for (const WarpThreads &warp : layout_.warps) {
      std::set<std::uint64_t> seen;
      for (std::uint32_t t = warp.first; t < warp.first + warp.count; ++t)
        differ =
            seen.insert(static_cast<std::uint64_t>(apart[t]) & mask64(sum->width)).second && differ;
    }
    return known->second = differ;
  }

  // The neighbours of a stencil cost the same: what traffic_of() depends on is remembered. Of what
  // all lanes add that is only the place in a line, or, where every beginning that an alignment
  // allows is tried anyway, within that alignment.
  const Traffic &traffic_like(const TrafficQuery &query, std::uint32_t active_set) {
    const AddressForm &form = *query.form;
    const std::int64_t unit =
        query.shared ? 128 : std::min<std::int64_t>(query.alignment, std::int64_t{128});
    std::vector<std::int64_t> key{(form.constant % unit + unit) % unit,
                                  active_set,
                                  query.bytes,
                                  query.alignment,
                                  query.shared,
                                  query.load,
                                  query.exceptions,
                                  query.wanders,
                                  form.may_wrap,
                                  form.is_linear(),
                                  !form.varying.empty()};
    Alignments::append_lane_part(form, key);
    for (const StrideTerm &stride : form.strides)
      key.push_back(stride.lane->id);
    key.push_back(-1);
    for (const Term &term : form.mixed)
      key.push_back(term.atom->id);
    const auto [known, is_new] = known_traffic_.try_emplace(std::move(key));
    if (is_new)
      known->second = traffic_of(lanes_, query);
    return known->second;
  }

  // Of each site the register of its address, then its guard, where it has them.
  std::vector<Probe> probes() const {
    std::vector<Probe> result;
    for (const AccessSite &site : sites_) {
      const Operand &base = module_.children(*site.address)[0];
      if (base.kind == Operand::Kind::reg)
        result.push_back({site.instruction, base.reg, false});
      const RegisterId guard = function_.instructions[site.instruction].guard;
      if (guard != no_register)
        result.push_back({site.instruction, guard, false});
    }
    return result;
  }

  void find_accesses() {
    std::size_t probe = 0;
    for (const AccessSite &site : sites_) {
      const Instruction &instruction = function_.instructions[site.instruction];
      const Operand &operand = module_.children(*site.address)[0];
      const Expr base = operand.kind == Operand::Kind::reg ? emulation_.probed(probe++) : nullptr;
      Expr guard = instruction.guard != no_register ? emulation_.probed(probe++) : nullptr;
      const BlockId block = emulation_.cfg().block_of(site.instruction);
      if (!emulation_.cfg().reachable(block) || !emulation_.feasible(block))
        continue;
      if (guard && instruction.guard_negated)
        guard = emulation_.pool().bit_not(guard);
      if (guard && guard->kind == ExprKind::constant) {
        if (guard->value.is_zero())
          continue; // never happens
        guard = nullptr;
      }
      Access access;
      access.site = site;
      access.number = static_cast<std::uint32_t>(accesses_.size());
      access.block = block;
      access.address = address_at(emulation_, module_, site, base);
      if (access.address)
        access.address = at_launch_(access.address);
      access.guard = guard ? at_launch_(emulation_.expand(guard)) : nullptr;
      access.in_step = emulation_.in_step(block);
      access.loop = emulation_.cfg().loop_of(block);
      if (access.loop != no_index)
        access.loop_depth = emulation_.cfg().loops()[access.loop].depth;
      if (access.address)
        access.form = address_form(
            emulation_, lanes_, access.address, block,
            site.space != StateSpace::global && site.space != StateSpace::generic, &wraps_);
      else
        access.form.varying.push_back({emulation_.pool().symbol("address", 64), 1});
      access.space = space_of(access);
      if (access.address)
        find_usual_form(access);
      access.shared_alignment = alignments_.of_shared(access.form);
      access.alignment = alignment(access);
      accesses_.push_back(std::move(access));
    }
  }

  void find_branches() {
    const ControlFlowGraph &cfg = emulation_.cfg();
    for (BlockId block = 0; block < cfg.blocks().size(); ++block)
      if (cfg.blocks()[block].branch != no_index && cfg.reachable(block) &&
          emulation_.feasible(block)) {
        const Expr choice = emulation_.branch_choice(block);
        const Expr condition = choice ? at_launch_(emulation_.expand(choice)) : nullptr;
        branches_.push_back(branch_at(emulation_, lanes_, block, condition, &active(block)));
      }
  }

  StateSpace space_of(const Access &access) {
    if (access.site.space != StateSpace::generic)
      return access.site.space;
    for (const auto *terms : {&access.form.uniform, &access.form.mixed, &access.form.varying})
      for (const Term &term : *terms)
        if (const auto space = made_generic_from(emulation_.pool(), term.atom))
          return *space;
    if (!generic_is_global_)
      generic_is_global_ = generic_is_global(module_);
    return *generic_is_global_ ? StateSpace::global : StateSpace::generic;
  }

  // True if all that keeps an address from being a multiple of 128 bytes counts up within a launch:
  // blocks and iterations of loops, by numbers; and if the one of them that steps least gets
  // everywhere that the alignment allows while the others are 0. Then there are warps at every such
  // place.
  bool wanders(const Access &access, const AddressForm &form) {
    std::vector<std::pair<Expr, std::uint64_t>> at;
    std::size_t mover = 0;
    unsigned step = 128;
    for (const auto *terms : {&form.uniform, &form.loops})
      for (const Term &term : *terms) {
        const unsigned alignment = alignments_.of_term(term.atom, term.factor);
        if (alignment >= 128)
          continue;
        Expr atom = term.atom;
        while (atom->kind == ExprKind::zext || atom->kind == ExprKind::sext ||
               (atom->kind == ExprKind::extract && atom->index == 0))
          atom = atom->children[0];
        if (!counts_up(atom))
          return false;
        if (alignment < step) {
          step = alignment;
          mover = at.size();
        }
        at.emplace_back(atom, 0);
      }
    if (at.empty() || !form.strides.empty())
      return false;
    const std::uint64_t places = 128 / step;
    if (places - 1 > most_in_block(at[mover].first))
      return false;
    for (std::uint64_t place = 0; place < places; ++place) {
      at[mover].second = place;
      if (!possible(access, at))
        return false;
    }
    return true;
  }

  bool counts_up(Expr symbol) {
    if (symbol->kind != ExprKind::symbol)
      return false;
    const std::string &name = emulation_.pool().symbols()[symbol->index].name;
    if (name.starts_with("%ctaid.") ||
        (layout_.whole_rows && (name == "%tid.y" || name == "%tid.z")))
      return true;
    for (LoopId loop = 0; loop < emulation_.cfg().loops().size(); ++loop)
      if (symbol == emulation_.trip_count(loop))
        return true;
    return false;
  }

  unsigned alignment(const Access &access) {
    std::uint64_t bits =
        access.shared_alignment | alignments_.of_lanes(access.form, active_.set_of(access));
    return static_cast<unsigned>(bits & (~bits + 1));
  }

  AtLaunch at_launch_;
  ActiveThreads active_;
  Alignments alignments_;
  std::vector<const Traffic *> traffic_; ///< by access
  WrapMemo wraps_;
  std::map<std::pair<Expr, BlockId>, bool> in_one_lane_;       ///< holds_in_one_lane()
  std::map<std::vector<std::int64_t>, Traffic> known_traffic_; ///< by what it depends on
  std::optional<bool> generic_is_global_;
};

KernelFacts::KernelFacts(const Module &module, const Function &function,
                         const Assumptions &assumptions)
    : implementation_(std::make_unique<Implementation>(module, function, assumptions)) {}
KernelFacts::~KernelFacts() = default;
KernelFacts::KernelFacts(KernelFacts &&) noexcept = default;
KernelFacts &KernelFacts::operator=(KernelFacts &&) noexcept = default;

bool KernelFacts::complete() const { return implementation_->emulation_.complete(); }
const Module &KernelFacts::module() const { return implementation_->module_; }
const Function &KernelFacts::function() const { return implementation_->function_; }
const LaunchFacts &KernelFacts::launch() const { return implementation_->launch_; }
const Layout &KernelFacts::layout() const { return implementation_->layout_; }
const ControlFlowGraph &KernelFacts::cfg() const { return implementation_->emulation_.cfg(); }
Emulation &KernelFacts::emulation() const { return implementation_->emulation_; }
LaneValues &KernelFacts::lane_values() const { return implementation_->lanes_; }
const std::vector<Access> &KernelFacts::accesses() const { return implementation_->accesses_; }
const std::vector<Branch> &KernelFacts::branches() const { return implementation_->branches_; }
const std::vector<bool> &KernelFacts::active(BlockId block) const {
  return implementation_->active(block);
}
const std::vector<bool> &KernelFacts::active(const Access &access) const {
  return implementation_->active(access);
}
const Traffic &KernelFacts::traffic(const Access &access) const {
  return implementation_->traffic(access);
}
std::uint32_t KernelFacts::certain_sectors(const Access &access) const {
  return implementation_->certain_sectors(access);
}
std::optional<std::int64_t> KernelFacts::lane_stride(const Access &access) const {
  return implementation_->lane_stride(access);
}

} // namespace ptxasw::facts
