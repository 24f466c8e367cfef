#pragma once

// A PTX module, decoded for the warp emulator: what each instruction does, where variables lie, how
// control goes. It is made once, and run any number of times by run_kernel() (warp_launch.h).
//   const WarpProgram program(module);
//   const WarpFunction &kernel = program.function(*program.find_kernel("saxpy"));

#include "emulator/machine/warp_fault.h"
#include "emulator/machine/warp_matrix.h"
#include "emulator/machine/warp_memory.h"
#include "emulator/machine/warp_order.h"
#include "emulator/semantics/concrete.h"
#include "grammar/cfg.h"
#include "grammar/module.h"

#include <functional>
#include <memory>
#include <optional>
#include <tl/expected.hpp>
#include <unordered_map>
#include <vector>

namespace ptxasw::emulator {

/// What the warp emulator dispatches on.
enum class WarpAction : std::uint8_t {
  compute, ///< a line of the instruction tables, lane by lane
  move,    ///< mov, packing and unpacking vectors
  load,
  store,
  atomic,          ///< atom and red
  shuffle,         ///< shfl.sync
  vote,            ///< vote.sync
  match,           ///< match.sync
  reduce,          ///< redux.sync
  warp_sync,       ///< bar.warp.sync
  barrier,         ///< bar and barrier: sync, red, arrive
  cluster_barrier, ///< barrier.cluster: arrive, wait
  active_mask,
  elect,
  matrix, ///< of a whole warp: mma, wmma, ldmatrix, stmatrix, movmatrix
  branch,
  branch_table, ///< brx.idx
  call,
  system_call, ///< of a function that the driver provides
  ret,
  exit,
  trap,
  fence,
  copy_async,    ///< cp.async
  copy_wait,     ///< cp.async.commit_group, .wait_group, .wait_all, .mbarrier.arrive
  copy_bulk,     ///< cp.async.bulk, cp.reduce.async.bulk, and of tensors
  async_access,  ///< st.async, red.async
  store_zeros,   ///< st.bulk
  tensor_map,    ///< tensormap
  texture,       ///< tex, tld4, txq, suld, sust, suq
  map_address,   ///< mapa, getctarank
  cancel_launch, ///< clusterlaunchcontrol
  group_product, ///< wgmma
  tensor_memory, ///< tcgen05, of a whole warp: alloc, dealloc, ld, st
  tensor_core,   ///< tcgen05, of a thread: mma, cp, shift, commit
  mbarrier,
  is_space, ///< isspacep
  nothing,  ///< without effect here: prefetch, pragma-like, groups of bulk copies, nanosleep
  refused,
};

/// What atom and red do to the value in memory (PTX ISA 9.7.13.5).
enum class AtomicOperation : std::uint8_t {
  none, ///< no atomic, or an operation that is not known
  add,
  bit_and,
  bit_or,
  bit_xor,
  min,
  max,
  increment,
  decrement,
  exchange,
  compare_and_swap,
};

/// The functions that the driver provides (CUDA C++ Programming Guide, "Formatted Output" and what
/// follows it).
enum class SystemCall : std::uint8_t { none, print, allocate, release, assertion_failed };

/// The special registers that are emulated (PTX ISA 10).
enum class SpecialRegister : std::uint8_t {
  none,
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  laneid,
  warpid,
  nwarpid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  smid,
  nsmid,
  gridid,
  workspace_high, ///< %envreg1, %envreg2: the address of a cooperative grid's workspace
  workspace_low,
  dynamic_smem_size,
  total_smem_size,
  reserved_smem_begin,
  reserved_smem_end,
  reserved_smem_cap,
  reserved_smem_0,
  reserved_smem_1,
  zero,
  warp_size,
};

/// Where a value comes from or goes to.
struct WarpOperand {
  enum class Kind : std::uint8_t { none, reg, immediate, special, local_address };
  Kind kind = Kind::none;
  bool negated = false;
  SpecialRegister special = SpecialRegister::none;
  RegisterId reg = no_register;
  std::uint8_t width = 0;  ///< of the register
  std::uint64_t value = 0; ///< of an immediate; offset of a local variable
};

/// An address: base + offset within a space.
struct WarpAddress {
  WarpOperand base;
  std::int64_t offset = 0;
  bool call_parameter = false; ///< in the frame's parameter bytes, at `offset`
};

/// A parameter passed by a call: bytes [from, from + size) of one frame to those of another.
struct ParameterCopy {
  std::uint32_t caller = 0, callee = 0, size = 0;
  WarpOperand value; ///< instead of the caller's bytes, for register arguments
};

/// A function that a call may go to, with its inputs and outputs.
struct CallTarget {
  std::uint32_t function = 0;
  std::vector<ParameterCopy> arguments, results;
};

/// An instruction on all lanes of a warp: from rows of 32 registers to a row, for the lanes of a
/// mask. Absent operands are null.
using FastFunction = void (*)(std::uint64_t *to, const std::uint64_t *a, const std::uint64_t *b,
                              const std::uint64_t *c, std::uint32_t lanes);

struct BulkCopy;
struct GroupProduct;
struct TensorMemoryUse;
struct TextureUse;

/// An instruction, decoded.
struct WarpInstruction {
  WarpAction action = WarpAction::refused;
  AtomicOperation atomic = AtomicOperation::none; ///< of WarpAction::atomic
  SystemCall system_call = SystemCall::none;      ///< of WarpAction::system_call
  FastFunction fast = nullptr;                    ///< computes the same as the table's line
  bool guard_negated = false;
  bool starts_block = false;
  bool carries = false; ///< reads the carry flag as its last operand
  bool sets_carry = false;
  bool is_float = false;
  bool sign_extends = false; ///< the result, to the destination's width
  std::uint8_t width = 0;    ///< bits of the result
  std::uint8_t element = 0;  ///< bytes of one element of a memory access
  StateSpace space = StateSpace::generic;
  bool weak = true;                        ///< of a memory access: races matter
  ThreadScope scope = ThreadScope::device; ///< of a strong one, or of a fence
  bool read_only = false;                  ///< of a load: no thread may write what it reads
  bool is_volatile = false;
  bool reads_machine = false; ///< an operand is machine-dependent: %clock and the like
  RegisterId guard = no_register;
  std::uint32_t source = 0; ///< index in Function::instructions
  std::uint32_t line = 0;
  std::uint32_t target = 0; ///< of a branch
  const Opcode *opcode = nullptr;
  const Line<ConcreteDomain> *integer_line = nullptr;
  const FloatLine<ConcreteDomain> *float_line = nullptr;
  FloatForm form;
  std::vector<WarpOperand> outputs, inputs;
  std::vector<std::uint8_t> input_widths;
  WarpOperand second_output; ///< of `p|q`; of wmma's loads and stores the
                             ///< stride, of cp.async whether the source is ignored
  std::shared_ptr<const MatrixOperation> matrix;
  std::shared_ptr<const BulkCopy> bulk;
  std::shared_ptr<const GroupProduct> group;
  std::shared_ptr<const TensorMemoryUse> tensor;
  std::shared_ptr<const TextureUse> texture;
  WarpAddress address;
  WarpAddress second_address; ///< of cp.async: the source
  WarpAddress third_address;  ///< of what tells an mbarrier when it is done: the mbarrier
  std::vector<std::uint32_t> targets;
  std::vector<CallTarget> callees; ///< one, or all that an indirect call may go to: then the first
                                   ///< input is the address
  std::string why;                 ///< of WarpAction::refused
};

/// What the system keeps of a block's shared memory, at its beginning, for programs that ask where
/// it is (PTX ISA 10, %reserved_smem_offset_*): its bytes, and where the second part of it begins,
/// which cooperative groups use.
inline constexpr std::uint32_t reserved_shared_bytes = 1024, reserved_shared_second = 512;

/// The bytes of a variable, in a block's shared memory or in a frame of a thread's local memory.
struct VariableBytes {
  std::uint32_t begin = 0, end = 0;
  std::string_view name = {}; ///< of shared variables
};

/// Which side of a branch has nothing to do until both meet.
struct IdleSide {
  std::uint32_t meeting = 0; ///< where they do
  std::uint32_t first = 0;   ///< of that side: the meeting, or a jump there
  std::uint32_t other = 0;   ///< the first of the other side
};

/// A function, decoded.
struct WarpFunction {
  /// Of a branch; none: lanes on both sides have something to do, or it is no branch that lanes may
  /// part at.
  std::optional<IdleSide> idle_side(std::uint32_t branch) const;
  const Function *function = nullptr;
  std::unique_ptr<ControlFlowGraph> cfg;
  std::vector<WarpInstruction> code;
  std::vector<std::uint32_t> header_of; ///< by instruction: the loop whose header starts there
  std::vector<std::uint32_t> rank;      ///< by block: scheduling order, loops before what follows
  /// What the scheduler asks of an instruction.
  struct Place {
    std::uint64_t loops = 0; ///< that it is in, of the first 64, in bits
    std::uint32_t rank = 0;  ///< of its block
  };
  std::vector<Place> places;           ///< by instruction; the last one ends the function
  std::vector<BlockId> postdominators; ///< by block, of the ways to a return
  std::vector<VariableBytes> locals;   ///< its .local variables
  std::uint32_t local_bytes = 0;       ///< of a frame that holds them
  std::uint32_t parameter_bytes = 0;   ///< of its .param variables and parameters
};

/// The places where threads return from a function, or all at which they end where none returns:
/// post-dominators refer to these. Lanes that a branch has separated meet at its post-dominator.
std::vector<BlockEdge> return_edges(const Module &module, const Function &function,
                                    const ControlFlowGraph &cfg);

/// How warps of a block may wait for each other.
enum class WarpMeeting : std::uint8_t {
  none,     ///< they do not, and nothing that one has begun is left to another
  barriers, ///< at barriers of the block
  any,      ///< in whatever way
};

/// What has been translated of a program: warp_engine.h.
class ProgramTranslations;

/// Where a .global or .const variable lies.
using VariablePlaces = std::function<std::uint64_t(const Variable &)>;

/// A module prepared to run.
class WarpProgram {
public:
  /// Never fails: what cannot be emulated is refused when it is executed. With `places`, variables
  /// lie where these say, and somebody else allocates them.
  explicit WarpProgram(const Module &module, const VariablePlaces &places = {});

  const Module &module() const { return module_; }
  /// Index of a kernel; empty name: the only or first one.
  std::optional<std::uint32_t> find_kernel(std::string_view name) const;
  /// Index of a function with a body that is not a kernel.
  std::optional<std::uint32_t> find_function(std::string_view name) const;
  const WarpFunction &function(std::uint32_t index) const { return functions_[index]; }
  std::size_t function_count() const { return functions_.size(); }
  std::uint32_t max_registers() const { return max_registers_; }
  ProgramTranslations &translations() const { return *translations_; }
  /// The statically sized .shared variables of a kernel: those that it or a function that it may
  /// call declares or names, as `ptxas` allots them.
  std::vector<VariableBytes> shared_variables(std::uint32_t kernel) const;
  /// Returns true if it asks for what the system keeps of shared memory.
  bool has_reserved_shared() const { return has_reserved_shared_; }
  /// Where .extern .shared arrays begin within the block's shared memory.
  std::uint32_t dynamic_shared_offset() const { return dynamic_shared_offset_; }
  /// Returns true if there are any.
  bool has_dynamic_shared() const { return has_dynamic_shared_; }
  /// Returns true if blocks wait for each other through the workspace of a cooperative launch.
  bool is_cooperative() const { return is_cooperative_; }
  WarpMeeting meeting() const { return meeting_; }
  /// Adds the module's .global and .const variables to a memory, always at the same places.
  /// Errors: why an initializer is not understood.
  /// With `contents`, variables without an initializer hold numbers drawn from it instead of zeros:
  /// the host may have filled them.
  /// `begin`: only those from this one on, behind as many that are there already.
  tl::expected<void, std::string> place_variables(GlobalMemory &memory,
                                                  std::optional<std::uint64_t> contents = {},
                                                  std::size_t begin = 0) const;
  /// The same of a program with VariablePlaces: writes the initial values to what is there.
  tl::expected<void, std::string> initialize_variables(GlobalMemory &memory) const;
  std::size_t variable_count() const { return placed_.size(); }
  /// Returns true if another module's variables are the first of this one's, at the same addresses.
  bool begins_with_variables_of(const WarpProgram &other) const;

private:
  struct Placed {
    const Variable *variable;
    std::uint64_t address;
  };
  void place(const VariablePlaces &places);
  void place_shared();
  tl::expected<void, std::string> initialize(const Placed &placed, GlobalMemory &memory) const;

  const Module &module_;
  std::vector<WarpFunction> functions_;
  std::vector<Placed> placed_; ///< .global and .const, module scope and function scope
  std::unordered_map<const Variable *, std::uint64_t> addresses_; ///< and .shared
  std::uint32_t dynamic_shared_offset_ = 0;
  bool has_reserved_shared_ = false;
  bool has_dynamic_shared_ = false, is_cooperative_ = false;
  WarpMeeting meeting_ = WarpMeeting::none;
  std::uint32_t max_registers_ = 1;
  std::shared_ptr<ProgramTranslations> translations_;
};

} // namespace ptxasw::emulator
