#pragma once

// A thread of a kernel on expressions: from where it stands to where it next does something that
// others see.

#include "analysis/prove/kernel_paths.h"
#include "analysis/prove/known_conditions.h"
#include "analysis/prove/not_followed.h"
#include "analysis/prove/races.h"
#include "grammar/liveness.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::analysis {

/// What a thread finds in a launch, by what it is: the same for the thread of the same indices in
/// the same launch of another kernel.
class LaunchTerms {
public:
  /// `kernel`: whose parameters name those of `assumptions`.
  LaunchTerms(FloatTerms &terms, const Function &kernel, const ProofAssumptions &assumptions);

  /// Null: it is not known to be the same for both.
  Expr special(std::string_view name);
  /// Null: there is no such parameter.
  Expr parameter(std::uint64_t offset, unsigned bytes);
  /// The address of a variable, by a name that both kernels have for it; below `limit`.
  Expr place(const std::string &name, std::uint64_t limit = ~std::uint64_t{0});
  /// An address as it is if index arithmetic does not wrap around, where that is assumed: 32 bits
  /// are extended to 64 before they are added and multiplied.
  Expr address(Expr expr) { return no_wrap_ ? unwrapped(expr) : expr; }
  /// Returns true if accesses to one space have no byte in common.
  bool lie_apart(Expr a, unsigned a_bytes, Expr b, unsigned b_bytes);
  FloatTerms &terms() { return terms_; }
  /// What holds in every launch that is assumed.
  const std::vector<Expr> &facts() const { return facts_; }
  /// Returns true if a symbol is the same for all threads of a block.
  bool is_uniform(Expr symbol) const { return uniform_.contains(symbol); }
  /// From now on it is, and it is the number of an iteration.
  void add_round(Expr symbol) {
    uniform_.insert(symbol);
    plain_numbers_.insert(symbol);
  }

private:
  struct Cell {
    std::uint64_t begin = 0;
    Expr value = nullptr;
  };
  Expr named(const std::string &name);
  void add_relation(const LaunchRelation &relation);
  bool is_plain_number(Expr expr) const;
  Expr pointer(Expr address) const;
  Expr unwrapped(Expr expr);
  Expr widened(Expr expr);

  FloatTerms &terms_;
  const bool no_wrap_, disjoint_;
  std::unordered_map<Expr, Expr> unwrapped_, widened_;
  std::vector<Cell> cells_; ///< of the parameters, by offset
  std::map<std::string, Expr, std::less<>> known_;
  std::set<Expr> uniform_, pointers_; ///< pointers: parameters of 64 bits and variables
  /// Indices, extents, parameters of at most 32 bits, numbers of iterations.
  std::set<Expr> plain_numbers_;
  std::vector<Expr> facts_;
};

/// What is known of memory where a thread stands: one state for each space, of which nothing is
/// known but that reading from equal ones at equal addresses gives equal values; and what has been
/// read or written since somebody else may have written.
struct MemoryTerms {
  struct Content {
    StateSpace space;
    Expr address;
    unsigned bytes;
    Expr value;
    bool operator==(const Content &) const = default;
  };
  Expr global = nullptr, shared = nullptr, local = nullptr;
  Expr at_first = nullptr; ///< global memory before the launch
  std::vector<Content> contents;

  Expr load(FloatTerms &terms, StateSpace space, Expr address, unsigned bytes, bool read_only);
  /// The thread writes.
  void store(LaunchTerms &launch, StateSpace space, Expr address, Expr value);
  /// Anybody may have written.
  void forget(FloatTerms &terms);

private:
  void renew(FloatTerms &terms, StateSpace space);
};

/// Where a thread stands.
struct ThreadPlace {
  std::uint32_t at = 0;        ///< an index in Function::instructions
  unsigned part = 0;           ///< elements of a store there that are done
  bool passes = false;         ///< it goes on over the header of a loop at which it stands
  std::vector<Expr> registers; ///< null: it may hold anything; the carry flag is behind them
};

enum class ThreadStop : std::uint8_t {
  header, ///< at the first instruction of a loop
  choice, ///< at an instruction whose guard is not decided
  event,  ///< at an instruction that does not only compute or load
  end,
};

/// What an instruction does that others see, or that depends on others.
struct ThreadEvent {
  std::string what; ///< everything except the values of operands
  std::vector<Expr> operands;
  std::vector<RegisterId> results;        ///< no_register: nothing keeps it
  std::optional<StateSpace> stores;       ///< operands: the address and the value
  bool gathers = false, is_memory = true; ///< lanes; memory may have changed behind it
};

class ThreadSteps {
public:
  ThreadSteps(const Module &module, const Function &kernel, FloatTerms &terms, LaunchTerms &launch);

  ThreadPlace start() const;
  /// The kernel's variables of a space, in the order in which they are laid out: what they are
  /// called on both sides is their place in this list.
  std::vector<const Variable *> variables(StateSpace space) const;
  /// Runs to the next stop. `budget` is what is left of it, in instructions; none is left at 0.
  /// Throws NotFollowed.
  ThreadStop run(ThreadPlace &place, KnownConditions &known, MemoryTerms &memory,
                 std::uint64_t &budget) const;
  /// The guard at a choice.
  Expr choice(const ThreadPlace &place, KnownConditions &known) const;
  /// What is done at an event. Throws NotFollowed.
  ThreadEvent event(const ThreadPlace &place, KnownConditions &known) const;
  /// Behind what was done, with results in its registers.
  void finish(ThreadPlace &place, const ThreadEvent &event, const std::vector<Expr> &results) const;

  const Function &function() const { return function_; }
  const Module &module() const { return module_; }
  const ControlFlowGraph &cfg() const { return cfg_; }
  /// The loop that begins at an instruction; no_index: none.
  LoopId loop_at(std::uint32_t instruction) const { return loop_at_[instruction]; }
  std::uint32_t line(std::uint32_t instruction) const;
  /// By register, the carry flag behind them: may a loop write it, and is it read in the loop or
  /// behind it before it is written?
  std::vector<bool> written_in(LoopId loop) const;
  bool is_live(LoopId loop, std::size_t reg) const;
  unsigned width(std::size_t reg) const;
  bool is_float_register(std::size_t reg) const;
  /// A place that later ones come behind, wherever no loop goes around.
  std::uint64_t order(const ThreadPlace &place) const;
  bool is_end(std::uint32_t at) const { return at == function_.instructions.size(); }

private:
  const Opcode &opcode(const Instruction &instruction) const { return module_.opcode(instruction); }
  Expr guard(const Instruction &instruction, const ThreadPlace &place,
             KnownConditions &known) const;
  Expr read(const Operand &operand, unsigned width, const ThreadPlace &place) const;
  Expr address(const Operand &operand, const ThreadPlace &place, KnownConditions &known) const;
  /// Where an access begins, or so many bytes further on; null: it is not followed.
  Expr element(const Opcode &opcode, const Operand &operand, std::uint64_t offset,
               const ThreadPlace &place, KnownConditions &known) const;
  Expr symbol(const Operand &operand) const;
  void write(ThreadPlace &place, const Instruction &instruction, const Operand &destination,
             Expr value, bool sign_extends, Expr guard, KnownConditions &known) const;
  void load(ThreadPlace &place, const Instruction &instruction, Expr guard, KnownConditions &known,
            MemoryTerms &memory) const;
  void compute(ThreadPlace &place, const Instruction &instruction, Expr guard,
               KnownConditions &known) const;
  void describe(const Operand &operand, const ThreadPlace &place, KnownConditions &known,
                ThreadEvent &event) const;
  void describe_result(const Operand &operand, ThreadEvent &event) const;
  bool is_load(const Opcode &opcode) const;
  [[noreturn]] void refuse(const Instruction &instruction, std::string reason) const;

  /// What the tables say of an opcode.
  struct TableLine {
    const Line<ExprPool> *integer = nullptr;
    const FloatLine<FloatTerms> *real = nullptr;
    FloatForm form;
  };

  const Module &module_;
  const Function &function_;
  FloatTerms &terms_;
  LaunchTerms &launch_;
  const ControlFlowGraph cfg_;
  const Liveness liveness_;
  std::vector<LoopId> loop_at_;
  std::map<const Variable *, Expr> places_;
  mutable std::unordered_map<const Opcode *, TableLine> lines_;
};

} // namespace ptxasw::analysis
