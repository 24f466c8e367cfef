// Which registers an instruction reads and writes. Most write only their first operand; opcodes
// that do and opcodes that only read are lists. Of any other opcode every register is taken for
// read and perhaps written; a guarded write, or one of a part, is only a perhaps.

#include "grammar/roles.h"

#include <algorithm>
#include <array>

using namespace std::string_view_literals;

namespace ptxasw {
namespace {

// Opcodes that write their first operand if it is a register (sorted).
constexpr std::array destination_first{
    "abs"sv,
    "activemask"sv,
    "add"sv,
    "addc"sv,
    "alloca"sv,
    "and"sv,
    "atom"sv,
    "bfe"sv,
    "bfi"sv,
    "bfind"sv,
    "bmsk"sv,
    "brev"sv,
    "clusterlaunchcontrol"sv,
    "clz"sv,
    "cnot"sv,
    "copysign"sv,
    "cos"sv,
    "createpolicy"sv,
    "cvt"sv,
    "cvta"sv,
    "div"sv,
    "dp2a"sv,
    "dp4a"sv,
    "elect"sv,
    "ex2"sv,
    "fma"sv,
    "fns"sv,
    "getctarank"sv,
    "isspacep"sv,
    "istypep"sv,
    "ld"sv,
    "ldmatrix"sv,
    "ldu"sv,
    "lg2"sv,
    "lop3"sv,
    "mad"sv,
    "mad24"sv,
    "madc"sv,
    "mapa"sv,
    "match"sv,
    "max"sv,
    "mbarrier"sv,
    "min"sv,
    "mma"sv,
    "mov"sv,
    "movmatrix"sv,
    "mul"sv,
    "mul24"sv,
    "multimem"sv,
    "neg"sv,
    "not"sv,
    "or"sv,
    "popc"sv,
    "prmt"sv,
    "rcp"sv,
    "redux"sv,
    "rem"sv,
    "rsqrt"sv,
    "sad"sv,
    "selp"sv,
    "set"sv,
    "setp"sv,
    "shf"sv,
    "shfl"sv,
    "shl"sv,
    "shr"sv,
    "sin"sv,
    "slct"sv,
    "sqrt"sv,
    "stacksave"sv,
    "sub"sv,
    "subc"sv,
    "suld"sv,
    "suq"sv,
    "szext"sv,
    "tanh"sv,
    "testp"sv,
    "tex"sv,
    "tld4"sv,
    "txq"sv,
    "vabsdiff"sv,
    "vabsdiff2"sv,
    "vabsdiff4"sv,
    "vadd"sv,
    "vadd2"sv,
    "vadd4"sv,
    "vavrg2"sv,
    "vavrg4"sv,
    "vmad"sv,
    "vmax"sv,
    "vmax2"sv,
    "vmax4"sv,
    "vmin"sv,
    "vmin2"sv,
    "vmin4"sv,
    "vote"sv,
    "vset"sv,
    "vset2"sv,
    "vset4"sv,
    "vshl"sv,
    "vshr"sv,
    "vsub"sv,
    "vsub2"sv,
    "vsub4"sv,
    "wgmma"sv,
    "wmma"sv,
    "xor"sv,
};
static_assert(std::is_sorted(destination_first.begin(), destination_first.end()));

// Opcodes that only read registers (sorted).
constexpr std::array source_first{
    "applypriority"sv, "bra"sv,        "brkpt"sv,
    "brx"sv,           "cp"sv,         "discard"sv,
    "exit"sv,          "fence"sv,      "griddepcontrol"sv,
    "membar"sv,        "nanosleep"sv,  "pmevent"sv,
    "prefetch"sv,      "prefetchu"sv,  "red"sv,
    "ret"sv,           "setmaxnreg"sv, "st"sv,
    "stackrestore"sv,  "stmatrix"sv,   "sured"sv,
    "sust"sv,          "tensormap"sv,  "trap"sv,
};
static_assert(std::is_sorted(source_first.begin(), source_first.end()));

using Visit = std::function<void(RegisterId, RegisterUse)>;

void visit_all(const Module &module, const Operand &operand, RegisterUse use, const Visit &visit) {
  using Kind = Operand::Kind;
  if (operand.kind == Kind::reg) {
    const bool part = operand.selector != 0 && use == RegisterUse::written;
    visit(operand.reg, part ? RegisterUse::may_be_written : use);
    return;
  }
  // Whatever an address mentions is read.
  const RegisterUse inner = operand.kind == Kind::address ? RegisterUse::read : use;
  for (const Operand &child : module.children(operand))
    visit_all(module, child, inner, visit);
}

} // namespace

FirstOperand first_operand(const Opcode &opcode) {
  // bar.red and barrier.cta.red have a result, their siblings none; a call's results come first.
  if (opcode.base == "bar" || opcode.base == "barrier")
    return opcode.has("red") ? FirstOperand::destination : FirstOperand::source;
  if (std::binary_search(destination_first.begin(), destination_first.end(), opcode.base))
    return FirstOperand::destination;
  if (std::binary_search(source_first.begin(), source_first.end(), opcode.base))
    return FirstOperand::source;
  return FirstOperand::unknown;
}

void for_each_register(const Module &module, const Instruction &instruction, const Visit &visit) {
  if (instruction.guard != no_register)
    visit(instruction.guard, RegisterUse::read);
  const auto operands = module.operands(instruction);
  const FirstOperand first =
      instruction.well_formed ? first_operand(module.opcode(instruction)) : FirstOperand::unknown;
  const RegisterUse write =
      instruction.guard == no_register ? RegisterUse::written : RegisterUse::may_be_written;
  // The one instruction that adds to its destination.
  const bool accumulates = module.opcode(instruction).base == "wgmma";
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (first == FirstOperand::unknown) {
      visit_all(module, operands[i], RegisterUse::read, visit);
      visit_all(module, operands[i], RegisterUse::may_be_written, visit);
    } else if (i == 0 && first == FirstOperand::destination) {
      if (accumulates)
        visit_all(module, operands[i], RegisterUse::read, visit);
      visit_all(module, operands[i], write, visit);
    } else {
      visit_all(module, operands[i], RegisterUse::read, visit);
    }
  }
}

} // namespace ptxasw
