#pragma once

// Z3, which only solver.cpp knows. A proof asks if something can go wrong, so `unsat` is what it
// waits for (soundness.md, rule 4); a search asks for values with which it does.
//   solver.check("equal addresses", formulas) == SolverAnswer::unsat

#include "emulator/symbolic/expr.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::emulator {

/// What a solver says. Only `unsat` ever licenses anything (soundness.md, rule 4).
enum class SolverAnswer : std::uint8_t { sat, unsat, unknown, error };

/// What a solver has answered so far.
struct SolverTally {
  unsigned sat = 0, unsat = 0, open = 0; ///< open: no answer within the limits, or an error
  double seconds = 0;                    ///< that this took; nothing is decided by it

  unsigned questions() const { return sat + unsat + open; }
  SolverTally &operator+=(const SolverTally &other);
};
/// `Z3: 12 questions, 10 unsat, 2 sat, 0 without an answer, 0.31 s`.
std::string to_string(const SolverTally &tally);

/// Linear arithmetic on whole numbers: can all formulas hold together?
struct IntegerQuestion {
  struct Sum {
    std::int64_t constant = 0;
    std::map<std::uint32_t, std::int64_t> terms; ///< coefficients, by variable
  };
  enum class Kind : std::uint8_t {
    at_most,  ///< sum <= 0
    equal,    ///< sum == 0
    all,      ///< of the parts; of none: true
    any,      ///< of the parts; of none: false
    negation, ///< of the only part
    truth,    ///< an unknown one
  };
  struct Formula;
  using FormulaPtr = std::shared_ptr<const Formula>;
  struct Formula {
    Kind kind = Kind::all;
    Sum sum;
    std::vector<FormulaPtr> parts;
    std::uint32_t truth = 0;
  };
  struct Variable {
    std::int64_t low = 0, high = 0; ///< both included
    bool is_bounded = true;
  };
  std::vector<Variable> variables;
  std::uint32_t truths = 0; ///< how many unknown truths there are
  std::vector<FormulaPtr> formulas;
};

/// Asks Z3 about bit-vector formulas, as a last resort. Z3 is loaded and a context created when the
/// first question comes: that alone takes as long as assembling a small kernel. Effort is bounded
/// by Z3's own resource counter, never by the clock, so the answers are the same on every machine.
class Solver {
public:
  /// `bounded`: symbols are at most what the pool has as their maximum; otherwise they may be
  /// anything.
  explicit Solver(unsigned resource_limit, bool bounded = false);
  ~Solver();
  Solver(const Solver &) = delete;
  Solver &operator=(const Solver &) = delete;

  /// Finds out if all of `formulas` (width 1) can hold together. `name` is for debugging. It may
  /// cost `most`, if that is less than the limit. Without a Z3 library on the machine, or when it
  /// fails, the answer is `error`.
  SolverAnswer check(std::string_view name, std::span<const Expr> formulas,
                     std::uint64_t most = no_limit);
  /// The same; if they can, `values` gets one solution: a value for each of `symbols`, which are at
  /// most 64 bits wide.
  SolverAnswer find(std::string_view name, std::span<const Expr> formulas,
                    std::span<const Expr> symbols, std::vector<std::uint64_t> &values,
                    std::uint64_t most = no_limit);

  /// The same of whole numbers. One solver is asked only about them, or never.
  SolverAnswer check(std::string_view name, const IntegerQuestion &question,
                     std::uint64_t most = no_limit);

  /// Contexts created so far: 0 or 1.
  unsigned contexts() const;
  /// Questions that reached Z3 so far; each costs at most the resource limit.
  unsigned questions() const { return tally_.questions(); }
  const SolverTally &tally() const { return tally_; }
  /// What they have cost so far, in the units of the limit.
  std::uint64_t effort() const;

private:
  class Implementation;
  static constexpr std::uint64_t no_limit = ~std::uint64_t{0};
  template <class Ask> SolverAnswer ask(const char *logic, std::uint64_t most, Ask asks);
  unsigned resource_limit_;
  bool bounded_;
  unsigned contexts_ = 0;
  SolverTally tally_;
  std::unique_ptr<Implementation> implementation_;
};

/// What Z3 calls its version, with the revision; empty without a library.
std::string solver_version();

} // namespace ptxasw::emulator
