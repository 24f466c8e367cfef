// The only file that knows Z3. The library is opened at run time: linking it would cost every run a
// millisecond of relocation, and almost no run needs it.

#include "emulator/symbolic/solver.h"

#include <algorithm>
#include <chrono>
#include <fmt/core.h>

#include <dlfcn.h>
#include <unordered_map>
#include <unordered_set>
#include <vector>
#include <z3.h>

namespace ptxasw::emulator {

/// The functions of the library that are used, each with the type that z3.h gives it.
struct Z3Library {
// clang-format off
#define PTXASW_Z3_FUNCTIONS(X) \
  X(mk_config) X(del_config) X(mk_context_rc) X(del_context) X(set_error_handler) \
  X(get_error_code) X(mk_solver_for_logic) X(solver_inc_ref) X(solver_dec_ref) \
  X(solver_assert) X(solver_check) X(solver_reset) X(solver_set_params) X(mk_params) \
  X(params_inc_ref) X(params_dec_ref) X(params_set_uint) X(params_set_bool) X(mk_string_symbol) X(mk_bv_sort) \
  X(mk_const) X(mk_func_decl) X(mk_app) X(inc_ref) X(dec_ref) X(func_decl_to_ast) \
  X(sort_to_ast) X(mk_numeral) X(mk_bvadd) X(mk_bvmul) X(mk_bvand) X(mk_bvor) X(mk_bvxor) \
  X(mk_bvshl) X(mk_bvlshr) X(mk_bvashr) X(mk_bvudiv) X(mk_bvurem) X(mk_bvsdiv) X(mk_bvsrem) \
  X(mk_zero_ext) X(mk_sign_ext) X(mk_extract) X(mk_concat) X(mk_eq) X(mk_bvult) X(mk_bvslt) \
  X(mk_ite) X(solver_get_model) X(model_inc_ref) X(model_dec_ref) X(model_eval) \
  X(get_numeral_uint64) X(get_full_version) X(mk_int_sort) X(mk_bool_sort) X(mk_int64) \
  X(mk_add) X(mk_mul) X(mk_le) X(mk_and) X(mk_or) X(mk_not) X(solver_get_statistics) \
  X(stats_inc_ref) X(stats_dec_ref) X(stats_size) X(stats_get_key) X(stats_is_uint) \
  X(stats_get_uint_value)
// clang-format on
#define X(name) decltype(&Z3_##name) name = nullptr;
  PTXASW_Z3_FUNCTIONS(X)
#undef X
  bool loaded = false;
};

static const Z3Library &library() {
  static const Z3Library instance = [] {
    Z3Library result;
    void *handle = nullptr;
    for (const char *name : {"libz3.so.4", "libz3.so"})
      if (!handle)
        handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return result;
    result.loaded = true;
#define X(name)                                                                                    \
  result.name = reinterpret_cast<decltype(&Z3_##name)>(dlsym(handle, "Z3_" #name));                \
  result.loaded = result.loaded && result.name != nullptr;
    PTXASW_Z3_FUNCTIONS(X)
#undef X
    return result;
  }();
  return instance;
}

/// A bound of whole numbers that is one of 32 bits, or further from 0.
static bool is_far(std::int64_t bound) {
  constexpr std::int64_t near = (std::int64_t{1} << 31) - 1;
  return bound <= -near || bound >= near;
}

class Solver::Implementation {
public:
  explicit Implementation(const char *logic) : z_(library()) {
    const Z3_config config = z_.mk_config();
    context_ = z_.mk_context_rc(config);
    z_.del_config(config);
    // Errors are asked for; the default handler would end the process.
    z_.set_error_handler(context_, [](Z3_context, Z3_error_code) {});
    solver_ = z_.mk_solver_for_logic(context_, z_.mk_string_symbol(context_, logic));
    z_.solver_inc_ref(context_, solver_);
  }

  ~Implementation() {
    for (const auto &[node, ast] : terms_)
      z_.dec_ref(context_, ast);
    z_.solver_dec_ref(context_, solver_);
    z_.del_context(context_);
  }

  /// Of each question from now on; 0 would be no limit. `has_cuts`: in whole numbers, planes are
  /// cut off between which there is none.
  void set_limit(unsigned resource_limit, bool has_cuts = true) {
    if (resource_limit == resource_limit_ && has_cuts == has_cuts_)
      return;
    resource_limit_ = resource_limit;
    has_cuts_ = has_cuts;
    const Z3_params parameters = z_.mk_params(context_);
    z_.params_inc_ref(context_, parameters);
    const auto name = [&](const char *text) { return z_.mk_string_symbol(context_, text); };
    z_.params_set_uint(context_, parameters, name("rlimit"), resource_limit);
    if (!has_cuts || has_set_cuts_) {
      constexpr unsigned as_always = 2, never = 1'000'000; // of so many branches one is a cut
      z_.params_set_uint(context_, parameters, name("arith.branch_cut_ratio"),
                         has_cuts ? as_always : never);
      z_.params_set_bool(context_, parameters, name("arith.enable_hnf"), has_cuts);
      has_set_cuts_ = true;
    }
    z_.solver_set_params(context_, solver_, parameters);
    z_.params_dec_ref(context_, parameters);
  }

  SolverAnswer check(std::span<const Expr> formulas, std::span<const Expr> symbols,
                     std::vector<std::uint64_t> &values, bool bounded) {
    z_.solver_reset(context_, solver_);
    if (bounded)
      bound_symbols(formulas);
    const Z3_ast one = keep(z_.mk_numeral(context_, "1", z_.mk_bv_sort(context_, 1)));
    for (const Expr formula : formulas) {
      const Z3_ast holds = keep(z_.mk_eq(context_, translate(formula), one));
      z_.solver_assert(context_, solver_, holds);
    }
    const Z3_lbool answer = z_.solver_check(context_, solver_);
    if (answer == Z3_L_TRUE && !symbols.empty())
      read_model(symbols, values);
    return judge(answer);
  }

  /// `has_far_bounds`: with the bounds of variables that are far from 0.
  SolverAnswer check(const IntegerQuestion &question, bool has_far_bounds, unsigned limit) {
    z_.solver_reset(context_, solver_);
    const auto named = [&](char prefix, std::size_t index, Z3_sort sort) {
      const std::string name = fmt::format("{}{}", prefix, index);
      return keep(z_.mk_const(context_, z_.mk_string_symbol(context_, name.c_str()), sort));
    };
    const Z3_sort number_sort = z_.mk_int_sort(context_), truth_sort = z_.mk_bool_sort(context_);
    const auto number = [&](std::int64_t value) {
      return keep(z_.mk_int64(context_, value, number_sort));
    };
    const Z3_ast zero = number(0);
    std::vector<Z3_ast> variables, truths;
    for (const auto &variable : question.variables) {
      variables.push_back(named('x', variables.size(), number_sort));
      if (!variable.is_bounded)
        continue;
      if (has_far_bounds || !is_far(variable.low))
        z_.solver_assert(context_, solver_,
                         keep(z_.mk_le(context_, number(variable.low), variables.back())));
      if (has_far_bounds || !is_far(variable.high))
        z_.solver_assert(context_, solver_,
                         keep(z_.mk_le(context_, variables.back(), number(variable.high))));
    }
    while (truths.size() < question.truths)
      truths.push_back(named('p', truths.size(), truth_sort));
    std::unordered_map<const IntegerQuestion::Formula *, Z3_ast> known;
    const auto sum = [&](const IntegerQuestion::Sum &of) {
      std::vector<Z3_ast> parts{number(of.constant)};
      for (const auto &[index, coefficient] : of.terms) {
        const Z3_ast factors[] = {number(coefficient), variables[index]};
        parts.push_back(keep(z_.mk_mul(context_, 2, factors)));
      }
      return keep(z_.mk_add(context_, static_cast<unsigned>(parts.size()), parts.data()));
    };
    const auto translate_one = [&](const auto &self,
                                   const IntegerQuestion::Formula &formula) -> Z3_ast {
      if (const auto found = known.find(&formula); found != known.end())
        return found->second;
      std::vector<Z3_ast> parts;
      for (const auto &part : formula.parts)
        parts.push_back(self(self, *part));
      const auto count = static_cast<unsigned>(parts.size());
      using Kind = IntegerQuestion::Kind;
      const Z3_ast result =
          formula.kind == Kind::truth     ? truths[formula.truth]
          : formula.kind == Kind::at_most ? z_.mk_le(context_, sum(formula.sum), zero)
          : formula.kind == Kind::equal   ? z_.mk_eq(context_, sum(formula.sum), zero)
          : formula.kind == Kind::all     ? z_.mk_and(context_, count, parts.data())
          : formula.kind == Kind::any     ? z_.mk_or(context_, count, parts.data())
                                          : z_.mk_not(context_, parts[0]);
      return known[&formula] = keep(result);
    };
    for (const auto &formula : question.formulas)
      z_.solver_assert(context_, solver_, translate_one(translate_one, *formula));
    // Cuts decide quickly or hardly ever: their numbers grow, and Z3 counts nothing of that.
    constexpr unsigned most_with_cuts = 80'000;
    set_limit(std::min(limit, most_with_cuts));
    Z3_lbool answer = z_.solver_check(context_, solver_);
    note_cuts();
    if (answer == Z3_L_UNDEF && limit > most_with_cuts) {
      set_limit(limit, false);
      answer = z_.solver_check(context_, solver_);
    }
    return judge(answer);
  }

  /// Z3's resource counter, and what it does not count.
  std::uint64_t effort() const { return statistic("rlimit count") + of_cuts_; }

private:
  std::uint64_t statistic(std::string_view key) const {
    const Z3_stats statistics = z_.solver_get_statistics(context_, solver_);
    z_.stats_inc_ref(context_, statistics);
    std::uint64_t result = 0;
    for (unsigned i = 0; i < z_.stats_size(context_, statistics); ++i)
      if (z_.stats_is_uint(context_, statistics, i) &&
          z_.stats_get_key(context_, statistics, i) == key)
        result = z_.stats_get_uint_value(context_, statistics, i);
    z_.stats_dec_ref(context_, statistics);
    return result;
  }

  // Of the question just asked: each takes as long as so many units, as measured.
  void note_cuts() {
    constexpr std::uint64_t of_cut = 1'250;
    of_cuts_ += of_cut * (statistic("arith-gomory-cuts") + statistic("arith-hnf-cuts"));
  }

  // What Z3 said; what the question was made of is let go.
  SolverAnswer judge(Z3_lbool answer) {
    const bool failed = z_.get_error_code(context_) != Z3_OK;
    for (const Z3_ast ast : kept_)
      z_.dec_ref(context_, ast);
    kept_.clear();
    if (failed)
      return SolverAnswer::error;
    return answer == Z3_L_FALSE  ? SolverAnswer::unsat
           : answer == Z3_L_TRUE ? SolverAnswer::sat
                                 : SolverAnswer::unknown;
  }

  // What is asserted cannot go by way of the pool, which takes it for granted.
  void bound_symbols(std::span<const Expr> formulas) {
    std::unordered_set<Expr> seen;
    for (const Expr formula : formulas)
      for_each_node(formula, [&](Expr node) {
        if (node->kind != ExprKind::symbol || node->width > 64 ||
            node->maximum >= mask64(node->width) || !seen.insert(node).second)
          return;
        const Z3_ast most = number(node->width, {node->maximum});
        const Z3_ast above = keep(z_.mk_bvult(context_, most, translate(node)));
        const Z3_ast no = keep(z_.mk_eq(context_, keep(bit(above)), number(1, {})));
        z_.solver_assert(context_, solver_, no);
      });
  }

  void read_model(std::span<const Expr> symbols, std::vector<std::uint64_t> &values) {
    const Z3_model model = z_.solver_get_model(context_, solver_);
    z_.model_inc_ref(context_, model);
    for (const Expr symbol : symbols) {
      std::uint64_t value = 0;
      Z3_ast result = nullptr;
      if (z_.model_eval(context_, model, translate(symbol), true, &result))
        z_.get_numeral_uint64(context_, result, &value);
      values.push_back(value);
    }
    z_.model_dec_ref(context_, model);
  }

  Z3_ast keep(Z3_ast ast) {
    z_.inc_ref(context_, ast);
    kept_.push_back(ast);
    return ast;
  }

  Z3_ast translate(Expr root) {
    std::vector<Expr> work{root};
    while (!work.empty()) {
      const Expr node = work.back();
      if (terms_.contains(node)) {
        work.pop_back();
        continue;
      }
      bool ready = true;
      for (const Expr child : node->operands())
        if (!terms_.contains(child)) {
          work.push_back(child);
          ready = false;
        }
      if (!ready)
        continue;
      work.pop_back();
      const Z3_ast ast = translate_node(node);
      z_.inc_ref(context_, ast);
      terms_.emplace(node, ast);
    }
    return terms_.at(root);
  }

  Z3_sort sort(unsigned width) { return z_.mk_bv_sort(context_, width); }

  Z3_ast number(unsigned width, Bits value) {
    std::string digits = std::to_string(value.low);
    if (value.high == 0)
      return keep(z_.mk_numeral(context_, digits.c_str(), sort(width)));
    const Z3_ast high = number(width - 64, {value.high}), low = number(64, {value.low});
    return keep(z_.mk_concat(context_, high, low));
  }

  Z3_ast translate_node(Expr e) {
    const auto child = [&](std::size_t i) { return terms_.at(e->children[i]); };
    switch (e->kind) {
    case ExprKind::constant:
      return number(e->width, e->value);
    case ExprKind::symbol: {
      // By index: names are for people and need not be unique.
      const std::string name = fmt::format("s{}", e->index);
      return z_.mk_const(context_, z_.mk_string_symbol(context_, name.c_str()), sort(e->width));
    }
    case ExprKind::sum: {
      Z3_ast total = number(e->width, e->value);
      for (std::uint32_t i = 0; i < e->child_count; ++i) {
        const Z3_ast factor = number(e->width, e->coefficients[i]);
        total = keep(z_.mk_bvadd(context_, total, keep(z_.mk_bvmul(context_, factor, child(i)))));
      }
      return total;
    }
    case ExprKind::product: {
      Z3_ast result = child(0);
      for (std::uint32_t i = 1; i < e->child_count; ++i)
        result = keep(z_.mk_bvmul(context_, result, child(i)));
      return result;
    }
    case ExprKind::zext:
      return z_.mk_zero_ext(context_, e->width - e->children[0]->width, child(0));
    case ExprKind::sext:
      return z_.mk_sign_ext(context_, e->width - e->children[0]->width, child(0));
    case ExprKind::extract:
      return z_.mk_extract(context_, e->index + e->width - 1, e->index, child(0));
    case ExprKind::concat:
      return z_.mk_concat(context_, child(0), child(1));
    case ExprKind::bit_and:
      return z_.mk_bvand(context_, child(0), child(1));
    case ExprKind::bit_or:
      return z_.mk_bvor(context_, child(0), child(1));
    case ExprKind::bit_xor:
      return z_.mk_bvxor(context_, child(0), child(1));
    case ExprKind::shl:
      return z_.mk_bvshl(context_, child(0), child(1));
    case ExprKind::lshr:
      return z_.mk_bvlshr(context_, child(0), child(1));
    case ExprKind::ashr:
      return z_.mk_bvashr(context_, child(0), child(1));
    case ExprKind::udiv:
      return divided(e, z_.mk_bvudiv(context_, child(0), child(1)));
    case ExprKind::urem:
      return divided(e, z_.mk_bvurem(context_, child(0), child(1)));
    case ExprKind::sdiv:
      return divided(e, z_.mk_bvsdiv(context_, child(0), child(1)));
    case ExprKind::srem:
      return divided(e, z_.mk_bvsrem(context_, child(0), child(1)));
    case ExprKind::eq0:
      return bit(z_.mk_eq(context_, child(0), number(e->children[0]->width, {})));
    case ExprKind::ult:
      return bit(z_.mk_bvult(context_, child(0), child(1)));
    case ExprKind::slt:
      return bit(z_.mk_bvslt(context_, child(0), child(1)));
    case ExprKind::ite: {
      const Z3_ast holds = keep(z_.mk_eq(context_, child(0), number(1, {1})));
      return z_.mk_ite(context_, holds, child(1), child(2));
    }
    case ExprKind::uf: {
      std::string name = fmt::format("f{}", e->index);
      for (std::uint32_t i = 0; i < e->child_count; ++i)
        name += fmt::format("_{}", e->children[i]->width);
      return apply(e, name + fmt::format("_{}", e->width));
    }
    case ExprKind::add2:
      return z_.mk_bvadd(context_, child(0), child(1));
    }
    return number(e->width, {});
  }

  /// A function of the node's operands about which nothing is known.
  Z3_ast apply(Expr e, const std::string &name) {
    std::vector<Z3_sort> domain;
    std::vector<Z3_ast> arguments;
    for (const Expr child : e->operands()) {
      domain.push_back(sort(child->width));
      arguments.push_back(terms_.at(child));
    }
    const Z3_func_decl function =
        z_.mk_func_decl(context_, z_.mk_string_symbol(context_, name.c_str()),
                        static_cast<unsigned>(domain.size()), domain.data(), sort(e->width));
    keep(z_.func_decl_to_ast(context_, function));
    return z_.mk_app(context_, function, static_cast<unsigned>(arguments.size()), arguments.data());
  }

  /// No proof may rest on what PTX leaves open: division by zero.
  Z3_ast divided(Expr e, Z3_ast quotient) {
    const Expr divisor = e->children[1];
    if (divisor->kind == ExprKind::constant && !divisor->value.is_zero())
      return quotient;
    keep(quotient);
    const Z3_ast by_zero = keep(z_.mk_eq(context_, terms_.at(divisor), number(divisor->width, {})));
    const Z3_ast anything =
        keep(apply(e, fmt::format("by_zero{}_{}", static_cast<int>(e->kind), e->width)));
    return z_.mk_ite(context_, by_zero, anything, quotient);
  }

  /// A truth value as one bit.
  Z3_ast bit(Z3_ast truth) {
    keep(truth);
    return z_.mk_ite(context_, truth, number(1, {1}), number(1, {}));
  }

  const Z3Library &z_;
  Z3_context context_ = nullptr;
  Z3_solver solver_ = nullptr;
  unsigned resource_limit_ = 0;
  bool has_cuts_ = true, has_set_cuts_ = false;
  std::uint64_t of_cuts_ = 0; ///< what cuts have taken, in units
  std::unordered_map<Expr, Z3_ast> terms_;
  std::vector<Z3_ast> kept_; ///< intermediate results of the current question
};

Solver::Solver(unsigned resource_limit, bool bounded)
    : resource_limit_(resource_limit), bounded_(bounded) {}
Solver::~Solver() = default;

unsigned Solver::contexts() const { return contexts_; }
std::uint64_t Solver::effort() const { return implementation_ ? implementation_->effort() : 0; }

SolverAnswer Solver::check(std::string_view name, std::span<const Expr> formulas,
                           std::uint64_t most) {
  std::vector<std::uint64_t> none;
  return find(name, formulas, {}, none, most);
}

SolverAnswer Solver::find(std::string_view, std::span<const Expr> formulas,
                          std::span<const Expr> symbols, std::vector<std::uint64_t> &values,
                          std::uint64_t most) {
  // What the normal form decides needs no solver.
  for (const Expr formula : formulas)
    if (formula->kind == ExprKind::constant && formula->value.is_zero())
      return SolverAnswer::unsat;
  return ask("QF_UFBV", most, [&](unsigned limit) {
    implementation_->set_limit(limit);
    return implementation_->check(formulas, symbols, values, bounded_);
  });
}

SolverAnswer Solver::check(std::string_view, const IntegerQuestion &question, std::uint64_t most) {
  const auto ask_with = [&](bool has_far_bounds) {
    return ask("QF_LIA", most, [&](unsigned limit) {
      return implementation_->check(question, has_far_bounds, limit);
    });
  };
  // Where all variables have bounds, Z3 takes them for sums of bits, and often finds nothing. What
  // is wrong without the far ones is wrong with them.
  const SolverAnswer answer = ask_with(false);
  return answer == SolverAnswer::sat ? ask_with(true) : answer;
}

template <class Ask> SolverAnswer Solver::ask(const char *logic, std::uint64_t most, Ask asks) {
  if (!implementation_) {
    if (!library().loaded)
      return SolverAnswer::error;
    ++contexts_;
    implementation_ = std::make_unique<Implementation>(logic);
  }
  const auto limit = static_cast<unsigned>(std::min<std::uint64_t>(most, resource_limit_));
  if (limit == 0) {
    ++tally_.open;
    return SolverAnswer::unknown;
  }
  const auto begun = std::chrono::steady_clock::now();
  const SolverAnswer answer = asks(limit);
  tally_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  ++(answer == SolverAnswer::sat     ? tally_.sat
     : answer == SolverAnswer::unsat ? tally_.unsat
                                     : tally_.open);
  return answer;
}

SolverTally &SolverTally::operator+=(const SolverTally &other) {
  sat += other.sat;
  unsat += other.unsat;
  open += other.open;
  seconds += other.seconds;
  return *this;
}

std::string to_string(const SolverTally &tally) {
  return fmt::format("Z3: {} questions, {} unsat, {} sat, {} without an answer, {:.2f} s",
                     tally.questions(), tally.unsat, tally.sat, tally.open, tally.seconds);
}

std::string solver_version() { return library().loaded ? library().get_full_version() : ""; }

} // namespace ptxasw::emulator
