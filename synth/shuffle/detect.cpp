// Detection (paper, section 5.1), under the rules of soundness.md.
//
// Loads are grouped by their address as a linear form without its constant: a[i-1], a[i], a[i+1]
// fall into one group. Within a group a load D and an earlier load S are N = (D - S) / stride lanes
// apart, so the candidates for D are found by looking up 63 constants, smallest |N| first, however
// many loads there are. The linear form only guesses; that A_S(lane + N) equals A_D(lane) is then
// shown on the exact expressions.
//
// Where an address has parts that a linear form does not see through (`i & 1023`, `i % n`, `i >>
// 1`, a minimum), such loads are guessed by numbers instead (lane_samples.h), among all earlier
// ones, and shown equal in the same way.
//
// Every element of a vector load stands for itself: the load is covered if all of them are.

#include "synth/shuffle/detect.h"

#include "emulator/facts/lane_samples.h"
#include "synth/proof/candidate.h"
#include "synth/shuffle/judge.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace ptxasw::synth {
namespace {

constexpr int widest = 31;

/// Loads of a block that are examined to find the best one among them to be the source.
constexpr std::size_t hoist_window = 16;

/// Sources remembered for one address; older ones are dropped.
constexpr std::size_t sources_per_address = 4;

/// Sources that a load is compared with by numbers, the latest first, and loads of a kernel for
/// which that is done.
constexpr std::size_t sampled_sources = 64, sampled_loads = 256;

/// Iterations before, in which what a load reads now may have been read.
constexpr std::uint64_t rounds_before = 4;

/// Loads whose addresses differ by a constant.
struct Group : AddressGroup {
  std::unordered_map<std::uint64_t, std::vector<Holder>> sources; ///< by constant
  std::vector<std::size_t> members;                               ///< trace indices, ascending
};

/// A load that may be covered or serve as a source.
struct LoadInfo {
  Group *group = nullptr; ///< null: neither
  std::uint64_t constant = 0;
  unsigned bytes = 0; ///< of one element
  bool is_source = false;
};

/// The one of some groups that has a form; null if there is none.
template <class Bucket> auto group_in(Bucket &bucket, const LinearForm &form) {
  const auto found = std::find_if(bucket.begin(), bucket.end(), [&](const Group &group) {
    return group.form.same_but_constant(form);
  });
  return found == bucket.end() ? nullptr : &*found;
}

/// The loads of a kernel by what their addresses have in common.
class Groups {
public:
  explicit Groups(Emulation &emulation) : emulation_(emulation) {}

  LinearForm form_of(Expr address) const {
    return linear_form(address, [&](Expr symbol) { return emulation_.is_lane_symbol(symbol); });
  }
  /// The group of a form; null if there is none.
  const Group *find(const LinearForm &form) const {
    const auto bucket = groups_.find(form.hash());
    return bucket == groups_.end() ? nullptr : group_in(bucket->second, form);
  }
  /// The same; made if there is none.
  Group &of(const LinearForm &form) {
    auto &bucket = groups_[form.hash()];
    if (Group *const found = group_in(bucket, form))
      return *found;
    bucket.push_back({{form, false}, {}, {}});
    for (const auto &[atom, factor] : form.terms)
      for_each_node(
          atom, [&](Expr node) { bucket.back().hides_lane |= emulation_.is_lane_symbol(node); });
    return bucket.back();
  }

private:
  Emulation &emulation_;
  std::unordered_map<std::size_t, std::deque<Group>> groups_; ///< by hash
};

/// What the loads of a kernel have read in earlier iterations of their loops.
class EarlierReads {
public:
  EarlierReads(Emulation &emulation, const Groups &groups, const std::vector<LoadInfo> &loads)
      : emulation_(emulation), groups_(groups), loads_(loads) {
    for (std::size_t load = 0; load < loads.size(); ++load)
      if (loads[load].group)
        note(load);
  }

  /// Returns true if a load in the same loop read this address, or one at a lane distance, some
  /// iterations before, or one in the loop around that in the iteration before: what it reads as
  /// the loop's count is so much less.
  bool contain(std::size_t load) const {
    const LoadInfo &info = loads_[load];
    const std::int64_t stride = info.group->form.lane_stride;
    const int limit = stride == 0 ? 0 : widest;
    for (const LoopId loop : loops_of(load))
      for (int delta = -limit; loop != no_index && delta <= limit; ++delta)
        if (read_.contains({loop, info.group,
                            info.constant - static_cast<std::uint64_t>(stride) *
                                                static_cast<std::uint64_t>(std::int64_t{delta}),
                            info.bytes}))
          return true;
    return false;
  }

private:
  /// The loop that an access is in, and the one around it.
  std::array<LoopId, 2> loops_of(std::size_t access) const {
    const ControlFlowGraph &cfg = emulation_.cfg();
    const LoopId loop = cfg.loop_of(emulation_.trace()[access].block);
    return {loop, loop == no_index ? no_index : cfg.loops()[loop].parent};
  }

  /// What a load has read in earlier iterations.
  void note(std::size_t load) {
    ExprPool &pool = emulation_.pool();
    const LoadInfo &info = loads_[load];
    const Expr address = emulation_.expand(emulation_.trace()[load].address);
    std::vector<Expr> counts;
    for (const LoopId loop : loops_of(load)) {
      if (loop == no_index)
        return;
      const Expr count = emulation_.trip_count(loop);
      counts.push_back(count);
      // What changes otherwise is not known of another iteration.
      bool known = true;
      for_each_node(address, [&](Expr node) {
        known &= node->kind != ExprKind::symbol || emulation_.invariant(node, loop) ||
                 std::find(counts.begin(), counts.end(), node) != counts.end();
      });
      if (!known)
        return;
      for (std::uint64_t rounds = 1; rounds <= (counts.size() == 1 ? rounds_before : 1); ++rounds) {
        const auto [there, is_new] = earlier_.try_emplace({loop, rounds}, pool);
        if (is_new)
          there->second.map(count, pool.sub(count, pool.constant(count->width, rounds)));
        const LinearForm form = groups_.form_of(there->second(address));
        const Group *const group = groups_.find(form);
        read_.insert({loop, group, form.constant, info.bytes});
        // By a constant step it is in its own group, and so in all iterations.
        for (std::uint64_t more = 2; group == info.group && rounds == 1 && more <= rounds_before;
             ++more)
          read_.insert(
              {loop, group, info.constant + more * (form.constant - info.constant), info.bytes});
        if (group == info.group)
          break;
      }
    }
  }

  Emulation &emulation_;
  const Groups &groups_;
  const std::vector<LoadInfo> &loads_;
  /// Loops, groups, constants and bytes.
  std::set<std::tuple<LoopId, const Group *, std::uint64_t, unsigned>> read_;
  std::map<std::pair<LoopId, std::uint64_t>, Substitution> earlier_; ///< by so many iterations
};

/// Returns true if the load `source` may run before the load `before` of the same block instead,
/// both indices in the trace: its address is known there, nobody in between sees its register, and
/// memory stays as it is.
bool may_move_up(const Module &module, const Function &function, Emulation &emulation,
                 facts::Between &between, std::size_t source, std::size_t before) {
  const std::uint32_t begin = emulation.trace()[before].instruction,
                      end = emulation.trace()[source].instruction;
  const Instruction &moved = function.instructions[end];
  if (moved.scope != function.instructions[begin].scope)
    return false;
  for (const Pragma &pragma : function.pragmas)
    if (pragma.position >= begin && pragma.position <= end)
      return false;
  // It must not change its own address, and its registers must be declared there already.
  if (overwrites_own_operands(module, moved) ||
      facts::touched_between(module, function, begin, end))
    return false;
  for (std::uint32_t i = begin; i < end; ++i)
    if (module.text({function.instructions[i].span.end, function.instructions[i + 1].span.begin})
            .find(".reg") != std::string_view::npos)
      return false;
  const MemoryAccess &load = emulation.trace()[source];
  const auto spares = [&](const MemoryAccess &store) {
    return facts::overlap(emulation, store, load.block, load) == facts::Overlap::never;
  };
  const facts::Passage passage = between.passage({load.block, begin}, load, spares);
  return !passage.obstacle && !passage.exchanges;
}

class Detector {
public:
  Detector(const Module &module, const Function &function, Emulation &emulation,
           const RewriteOptions &options, const GenericAddresses &generic)
      : module_(module), function_(function), emulation_(emulation), options_(options),
        generic_(generic), widths_(options.widths.value_or(Widths())),
        judge_(module, function, emulation, options), groups_(emulation) {}

  Detection run() {
    classify();
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      LoadInfo &load = loads_[i];
      if (!load.group || load.is_source)
        continue;
      auto reason = cover(i);
      if (reason && options_.move_sources && hoist_a_source(i))
        reason = cover(i);
      if (!reason)
        continue;
      if (reason == Reason::no_source && !earlier_)
        earlier_.emplace(emulation_, groups_, loads_);
      if (reason == Reason::no_source && earlier_->contain(i))
        reason = Reason::loop_carried;
      else if (reason == Reason::no_source && has_joined_address(i))
        reason = Reason::joined_address;
      result_.kept.push_back({emulation_.trace()[i].instruction, *reason});
      add_source(i, i); // Only what stays a load may serve others (never chain).
    }
    return std::move(result_);
  }

private:
  /// A scalar load that runs at `position`.
  Holder scalar(std::size_t load, std::size_t position) const {
    return {load, 0, position, loads_[load].group};
  }

  void classify() {
    const auto &trace = emulation_.trace();
    loads_.resize(trace.size());
    for (std::size_t i = 0; i < trace.size(); ++i) {
      const MemoryAccess &access = trace[i];
      const Candidate kind = candidate(module_, function_, judge_.instruction(i), widths_);
      if (!kind.is_load())
        continue;
      const bool elsewhere =
          kind.is_generic && !generic_.is_global(function_, judge_.instruction(i));
      result_.loads += kind.eligible && !elsewhere;
      if (!kind.eligible || elsewhere || !access.address ||
          emulation_.cfg().irreducible(access.block)) {
        result_.kept.push_back({access.instruction, !kind.eligible    ? kind.reason
                                                    : elsewhere       ? Reason::not_global
                                                    : !access.address ? Reason::opaque_address
                                                                      : Reason::irreducible_flow});
        continue;
      }
      const LinearForm form = groups_.form_of(emulation_.expand(access.address));
      Group &group = groups_.of(form);
      group.members.push_back(i);
      loads_[i] = {&group, form.constant,
                   bit_width(module_.opcode(judge_.instruction(i)).type) / 8};
    }
  }

  void add_source(std::size_t load, std::size_t position) {
    LoadInfo &info = loads_[load];
    info.is_source = true;
    for (unsigned element = 0; element < judge_.elements(load).size(); ++element) {
      auto &sources =
          info.group->sources[info.constant + std::uint64_t{element} * loads_[load].bytes];
      if (sources.size() == sources_per_address)
        sources.erase(sources.begin());
      holders_.push_back({load, element, position, info.group});
      sources.push_back(holders_.back());
    }
  }

  /// Covers the load, every element of it by the nearest source that may serve it. Returns why not
  /// otherwise: what stood in the way of the nearest one.
  std::optional<Reason> cover(std::size_t load) {
    Reuse reuse;
    reuse.load = emulation_.trace()[load].instruction;
    bool assumed_no_wrap = false, assumed_no_alias = false;
    for (unsigned element = 0; element < judge_.elements(load).size(); ++element) {
      Verdict verdict = cover_element({load, element, load, loads_[load].group});
      if (verdict.reason)
        return verdict.reason;
      reuse.elements.push_back(verdict.from);
      const auto add_new = [](auto &all, const auto &some) {
        for (const auto &one : some)
          if (std::find(all.begin(), all.end(), one) == all.end())
            all.push_back(one);
      };
      reuse.wrap_tests.insert(reuse.wrap_tests.end(), verdict.wrap_tests.begin(),
                              verdict.wrap_tests.end());
      if (verdict.distance_test)
        add_new(reuse.distance_tests, std::span(&*verdict.distance_test, 1));
      add_new(reuse.store_tests, verdict.store_tests);
      assumed_no_wrap |= verdict.assumed_no_wrap;
      assumed_no_alias |= verdict.assumed_no_alias;
    }
    result_.assumed_no_wrap |= assumed_no_wrap;
    result_.assumed_no_alias |= assumed_no_alias;
    result_.reuses.push_back(std::move(reuse));
    return std::nullopt;
  }

  Verdict cover_element(const Holder &load) {
    const LoadInfo &info = loads_[load.access];
    const Group &group = *info.group;
    const std::uint64_t constant = info.constant + std::uint64_t{load.element} * info.bytes;
    std::optional<Reason> first_obstacle;
    const std::int64_t stride = group.form.lane_stride;
    const int limit = stride == 0 ? 0 : widest;
    for (int i = 0; i <= 2 * limit; ++i) {
      const int delta = facts::by_nearness(i);
      const auto found =
          group.sources.find(constant - static_cast<std::uint64_t>(stride) *
                                            static_cast<std::uint64_t>(std::int64_t{delta}));
      if (found == group.sources.end())
        continue;
      // The latest source first: less lies in between.
      for (auto source = found->second.rbegin(); source != found->second.rend(); ++source) {
        Verdict verdict = judge_.judge(*source, load, delta);
        if (!verdict.reason)
          return verdict;
        // That a source is on one of the ways only says less than what stands in the way.
        if (!first_obstacle || first_obstacle == Reason::not_dominated)
          first_obstacle = verdict.reason;
      }
    }
    if (!first_obstacle)
      return cover_by_numbers(load);
    Verdict none;
    none.reason = first_obstacle;
    return none;
  }

  /// By what addresses come to in a made-up warp: what serves most lanes, the latest source first.
  Verdict cover_by_numbers(const Holder &load) {
    Verdict none;
    none.reason = Reason::no_source;
    const Expr address = judge_.element_address(load);
    const bool hidden = load.group->hides_lane;
    std::optional<Verdict> best;
    std::size_t compared = 0;
    for (auto source = holders_.rbegin(); source != holders_.rend(); ++source) {
      if (!hidden && !source->group->hides_lane)
        continue; // the linear forms have said all there is to say
      const bool spent = compared++ == 0 && ++sampled_ > sampled_loads;
      if (spent || compared > sampled_sources) {
        none.reason = Reason::budget; // what was not looked at may be a source
        break;
      }
      if (!samples_)
        samples_.emplace(emulation_);
      for (const int delta : samples_->sources(judge_.element_address(*source), address)) {
        if (best && std::abs(delta) >= std::abs(best->from.delta))
          break;
        Verdict verdict = judge_.judge(*source, load, delta);
        if (!verdict.reason) {
          best = std::move(verdict);
          break;
        }
      }
    }
    return best ? std::move(*best) : none;
  }

  /// How many lanes up the source's lane is, by the linear forms.
  std::optional<int> lanes_between(std::size_t source, std::size_t load) const {
    const std::int64_t stride = loads_[load].group->form.lane_stride;
    const std::int64_t bytes =
        static_cast<std::int64_t>(loads_[load].constant - loads_[source].constant);
    if (stride == 0 || bytes % stride != 0 || std::abs(bytes / stride) > options_.max_delta)
      return std::nullopt;
    return static_cast<int>(bytes / stride);
  }

  /// For a load that no earlier one covers: whether one that comes later in its block would serve
  /// the block's loads from nearer. If so that one becomes a source and is moved up.
  bool hoist_a_source(std::size_t first) {
    const auto &trace = emulation_.trace();
    const Group &group = *loads_[first].group;
    std::vector<std::size_t> loads;
    for (auto member = std::lower_bound(group.members.begin(), group.members.end(), first);
         member != group.members.end() && trace[*member].block == trace[first].block &&
         loads.size() < hoist_window;
         ++member)
      if (judge_.elements(*member).size() == 1 &&
          judge_.instruction(*member).guard == no_register && !loads_[*member].is_source)
        loads.push_back(*member);
    if (loads.size() < 2 || loads[0] != first)
      return false;

    using Cost = std::pair<std::size_t, int>; // loads not served, lanes to those that are
    // By the linear forms alone first, and what is found there in earnest.
    const auto cost = [&](std::size_t source, bool in_earnest) {
      Cost result;
      for (const std::size_t load : loads) {
        const auto delta = lanes_between(source, load);
        const bool served =
            load == source ||
            (delta && (!in_earnest ||
                       !judge_.judge(scalar(source, first), scalar(load, load), *delta).reason));
        result.first += !served;
        result.second += served && delta ? std::abs(*delta) : 0;
      }
      return result;
    };
    std::size_t best = first;
    Cost best_cost = cost(first, false);
    for (const std::size_t source : loads)
      if (lanes_between(source, first)) // that of another row does not serve this load
        if (const Cost its = cost(source, false);
            its < best_cost &&
            may_move_up(module_, function_, emulation_, judge_.between(), source, first)) {
          best = source;
          best_cost = its;
        }
    const std::optional<int> delta = lanes_between(best, first);
    if (best == first || !delta ||
        judge_.judge(scalar(best, first), scalar(first, first), *delta).reason ||
        cost(first, true) <= cost(best, true))
      return false;
    result_.hoists.push_back({trace[best].instruction, trace[first].instruction});
    result_.kept.push_back({trace[best].instruction, Reason::no_source});
    add_source(best, first);
    return true;
  }

  /// True if the address has a part that several ways to the load, or iterations of a loop, make in
  /// ways of their own, or that is chosen: it is compared as a whole then, not way by way.
  bool has_joined_address(std::size_t load) const {
    bool result = false;
    for_each_node(emulation_.expand(emulation_.trace()[load].address), [&](Expr node) {
      result |= emulation_.join_register(node) || emulation_.loop_register(node) ||
                node->kind == ExprKind::ite;
    });
    return result;
  }

  const Module &module_;
  const Function &function_;
  Emulation &emulation_;
  const RewriteOptions &options_;
  const GenericAddresses &generic_;
  const Widths widths_;
  Judge judge_;
  std::optional<facts::LaneSamples> samples_; ///< made when first needed
  std::size_t sampled_ = 0;                   ///< loads that were looked for by numbers
  std::vector<Holder> holders_;               ///< every element of every source, in order
  Groups groups_;
  std::vector<LoadInfo> loads_;         ///< by trace index
  std::optional<EarlierReads> earlier_; ///< made when first needed
  Detection result_;
};

} // namespace

Detection detect(const Module &module, const Function &function, Emulation &emulation,
                 const RewriteOptions &options, const GenericAddresses &generic) {
  return Detector(module, function, emulation, options, generic).run();
}

} // namespace ptxasw::synth
