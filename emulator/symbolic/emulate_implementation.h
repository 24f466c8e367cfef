#pragma once

// The inside of Emulation: its state, shared by the files that make up the symbolic emulator.
//   emulate.cpp     the walk: slice, joins, branches, the trace
//   evaluate.cpp    one instruction: operands, the table's lines, moves, loads, what is opaque
//   calls.cpp       what a called function does and returns
//   uniformity.cpp  afterwards: loops written out in trip symbols, what all lanes agree on
//   shared.cpp      which results of shuffles, votes and loads they agree on

#include "emulator/semantics/evaluator.h"
#include "emulator/semantics/one_value.h"
#include "emulator/symbolic/calls.h"
#include "emulator/symbolic/convergence.h"
#include "emulator/symbolic/emulate.h"
#include "emulator/symbolic/generic.h"
#include "emulator/symbolic/path.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptxasw::emulator {

class Emulation::Implementation {
public:
  /// What kind of unknown a symbol is.
  enum class SymbolKind : std::uint8_t {
    uniform, ///< the same in all lanes of a warp's row: parameters, block ids
    lane,    ///< tid.x and laneid: known to grow by one from lane to lane of a row; tid.y and tid.z
             ///< where lanes of several rows are compared
    varying, ///< anything
    shared,  ///< a result that is one value for lanes that execute it together (OneValue)
    loop_phi, ///< a register at a loop header
    join_phi, ///< a register where flows meet
    trip,     ///< a loop's trip count
  };

  struct SymbolInfo {
    SymbolKind kind = SymbolKind::varying;
    BlockId block = 0;                    ///< where it originates
    std::uint32_t phi = 0;                ///< of the two phi kinds
    bool uniform = false;                 ///< the verdict, for these three kinds
    std::uint32_t instruction = no_index; ///< whose result it is
  };

  /// A register whose value depends on the edge by which a block is entered.
  struct Phi {
    BlockId block = 0;
    RegisterId reg = no_register;
    std::vector<std::pair<BlockId, Expr>> operands; ///< by feasible edge; null: not written there
    Expr symbol = nullptr;                          ///< null if all operands agree
  };

  /// What is known of an opcode, worked out when it is first met.
  struct OpcodeInfo {
    bool known = false;
    const Line<ExprPool> *line = nullptr;
    Form form;
    Effect effect = Effect::sync;
    bool is_call = false;
    bool gathers = false;
    bool stores_parameter = false;
  };

  /// An instruction that brings lanes together, with what must be the same for all of them.
  struct Gathering {
    BlockId block = 0;
    std::uint32_t instruction = 0;
    std::vector<Expr> agreed; ///< guard, member mask, barrier; null: not known
  };

  /// The results of an instruction that are one value under conditions (OneValue).
  struct Shared {
    BlockId block = 0;
    std::uint32_t instruction = 0;
    std::vector<Expr> symbols;          ///< its results
    std::vector<Expr> agreed;           ///< what must be one, too
    std::uint32_t gathering = no_index; ///< in gatherings_, of one that brings lanes together
    std::uint32_t access = no_index;    ///< in trace_, of a weak load
  };

  /// Who the emulation is for: someone who asks for the trace, or a caller of the function.
  enum class Role : std::uint8_t { trace, callee };

  /// Bytes of a `.param` variable: an argument or result of a call.
  struct ParameterBytes {
    std::string_view name;
    std::int64_t offset = 0;
    unsigned width = 0;   ///< bits
    Expr value = nullptr; ///< null: not known
    BlockId block = 0;    ///< where they were written
  };

  Implementation(const Module &module, const Function &function, const LaunchFacts &facts,
                 LaneGroup lanes, Role role = Role::trace)
      : module_(module), function_(function), facts_(facts), cfg_(module, function), lanes_(lanes),
        role_(role), carry_(static_cast<RegisterId>(function.registers.size())) {}

  void run();
  /// True if accesses to a state space get addresses.
  static bool follows(StateSpace space) {
    return space != StateSpace::local && space != StateSpace::shared;
  }
  Expr special_value(BlockId block, std::string_view name);
  Expr symbol_address(std::string_view name);
  Effort effort() const;
  std::optional<bool> holds_on_edge(BlockId from, BlockId to) const;
  bool uniform(Expr expr, BlockId block, bool lane_counts);
  Expr by_lane(Expr expr);
  bool invariant(Expr expr, LoopId loop) const;
  bool in_step(BlockId block);
  std::optional<LoopRegister> loop_register(Expr symbol) const;
  std::optional<JoinRegister> join_register(Expr symbol) const;
  std::optional<std::uint32_t> produced_by(Expr symbol) const;
  ConvergencePoint meeting_of(const Gathering &gathering);

  const Module &module_;
  const Function &function_;
  const LaunchFacts facts_;
  ControlFlowGraph cfg_;
  ExprPool pool_;
  std::vector<MemoryAccess> trace_;
  std::vector<Gathering> gatherings_;
  bool complete_ = false;
  unsigned undecided_branches_ = 0;
  std::vector<bool> feasible_;
  std::vector<Expr> branch_condition_; ///< by block, under which its branch is taken; null: unknown
  std::vector<Expr> branch_choice_; ///< by block, what its branch depends on; null: not understood
  std::vector<std::pair<Expr, RegisterRead>> reads_;
  std::span<const Probe> probes_;
  bool takes_paths_ = true;  ///< facts from branches are known
  std::vector<Expr> probed_; ///< by probe
  std::unordered_map<Expr, std::vector<RegisterRead>>
      expanded_reads_; ///< made when first asked for
  std::unique_ptr<Substitution> expansion_;
  std::unique_ptr<Substitution> by_lane_; ///< made when first asked for
  Expr warp_in_row_ = nullptr;            ///< tid.x / 32 in it
  std::unordered_map<int, std::unique_ptr<Substitution>> shifts_;
  std::vector<SymbolInfo> infos_;                           ///< by symbol index
  std::vector<Expr> trips_;                                 ///< by loop
  std::unordered_map<Expr, ParameterBytes> own_parameters_; ///< by symbol
  Expr tid_x_ = nullptr;
  Expr laneid_ = nullptr;

private:
  const OpcodeInfo &opcode_info(const Instruction &instruction);
  void find_slice();
  bool place_phis();
  void walk();
  bool enter(BlockId block);
  void evaluate_phis(BlockId block);
  void execute(BlockId block, std::uint32_t index);
  void answer_probes(BlockId block, std::uint32_t index, bool after);
  void leave(BlockId block);
  Expr choice_of(BlockId block, const Instruction &branch);
  void record_access(BlockId block, std::uint32_t index, const Instruction &instruction,
                     const OpcodeInfo &info);
  void compute(BlockId block, std::uint32_t index, const Instruction &instruction);
  bool compute_move(BlockId block, const Instruction &instruction, const MoveOperands &move);
  bool compute_load(BlockId block, const Instruction &instruction);
  bool compute_line(BlockId block, std::uint32_t index, const Instruction &instruction,
                    const OpcodeInfo &info);
  bool compute_uninterpreted(BlockId block, const Instruction &instruction);
  Expr result_of(BlockId block, const Instruction &instruction, RegisterId reg);
  void havoc(BlockId block, std::uint32_t index, const Instruction &instruction);
  std::optional<Shared> shared_at(BlockId block, std::uint32_t index, const OneValue &one);

  /// Formal names of parameters with the variables that a call gives for them.
  using Arguments = std::vector<std::pair<std::string_view, std::string_view>>;
  bool harmless(const Function &function, int depth);
  bool gathers(const Function &function, int depth);
  const Implementation *callee(const Function &function);
  void each_passed_register(const std::function<void(RegisterId)> &visit);
  void store_parameter(BlockId block, const Instruction &instruction);
  Expr load_parameter(std::string_view name, std::int64_t offset, unsigned width);
  Expr own_parameter(const Variable &parameter, std::int64_t offset, unsigned width);
  Expr import(const Implementation &inside, Expr root, const Arguments &arguments, BlockId block,
              std::unordered_map<Expr, Expr> &memo);
  Expr import_symbol(const Implementation &inside, Expr symbol, const Arguments &arguments,
                     BlockId block);
  void call(BlockId block, const Instruction &instruction);

  Expr operand_value(BlockId block, const Operand &operand, unsigned width,
                     ScalarType type = ScalarType::none);
  Expr address_value(BlockId block, const Operand &operand);
  Expr named(const std::string &name, unsigned width, SymbolKind kind, std::uint64_t maximum);
  Expr fresh(std::string name, unsigned width, SymbolKind kind, BlockId block,
             std::uint32_t phi = 0);
  Expr read(BlockId block, RegisterId reg);
  Expr guard_of(BlockId block, const Instruction &instruction);
  void write(RegisterId reg, Expr value);
  void assign(BlockId block, const Instruction &instruction, const Operand &destination, Expr value,
              bool sign_extend);
  unsigned register_width(RegisterId reg) const {
    return reg == carry_ ? 1 : bit_width(function_.registers[reg].type);
  }
  bool needed(RegisterId reg) const { return needed_[reg]; }

  void resolve_loops();
  void find_uniformity();
  bool uniform_symbol(const SymbolInfo &info, BlockId block, bool lane_counts) const;
  bool control_uniform(BlockId block, BlockId top);
  bool exit_uniform(LoopId loop, BlockId block);
  bool lower_phis(bool all);
  bool lower_exits(bool all);
  bool lower_shared(const std::function<bool(const Shared &)> &holds);
  bool executed_as_one(const Shared &shared);
  void lower_awaited_loads();
  bool unchanged_meanwhile(const MemoryAccess &load);
  bool separates(const MemoryAccess &event, const MemoryAccess &load);
  bool regroups(const MemoryAccess &event, const MemoryAccess &load);
  bool regroups_warp(const MemoryAccess &event, const MemoryAccess &load);
  Expr beginning(Expr address);
  void record_gathering(BlockId block, std::uint32_t index, const Instruction &instruction);

  const LaneGroup lanes_;
  const Role role_;
  const RegisterId carry_; ///< the carry flag as one more register
  std::vector<OpcodeInfo> opcode_infos_;
  std::vector<std::uint32_t> probe_order_; ///< probe indices by instruction, before and after
  std::vector<std::uint32_t> probes_at_;   ///< by 2 * instruction + after: begin in probe_order_
  std::vector<bool> needed_;
  std::vector<Phi> phis_;
  std::vector<Shared> shared_;
  std::optional<GenericAddresses> generic_addresses_; ///< made when first asked for
  std::vector<std::vector<std::uint32_t>> events_;    ///< by block: in trace_, of stores and syncs
  std::size_t unchanged_visited_ = 0;                 ///< blocks
  std::vector<std::vector<std::uint32_t>> phis_at_;   ///< by block
  std::vector<Expr> current_;                         ///< by register; null: never written
  Expr guard_ = nullptr;                              ///< of the instruction being computed
  std::vector<std::pair<RegisterId, Expr>> undo_;
  std::unordered_map<std::uint64_t, bool> dead_edges_;
  PathKnowledge path_{pool_}; ///< what branches on the path established
  std::unordered_map<std::string, Expr> named_;
  std::vector<std::vector<BlockId>> exits_;
  std::vector<bool> uniform_exit_;           ///< by loop: all lanes leave it in the same iteration
  std::unique_ptr<Convergence> convergence_; ///< made when first asked for

  bool follows_parameters_ = false; ///< arguments matter: a called function is written out
  /// Of the calls in the current block; in a callee what it returns.
  std::vector<ParameterBytes> parameters_;
  std::optional<bool> parameters_only_loaded_;
  const CallTargets call_targets_{module_};
  std::unordered_map<const Function *, bool> harmless_, gathers_;
  std::unordered_map<const Function *, std::unique_ptr<Implementation>> callees_;
  std::size_t effects_seen_ = 0; ///< instructions
};

} // namespace ptxasw::emulator
