// The program's module stays where it is, with its variables in it. A version in another module
// must work on those, and not on variables of its own; so the kernel is first written anew with the
// address of each `.global` variable as a parameter, and versions are made, and proved, of that
// kernel:
//
//     .entry k(.param .u64 a)            .entry k(.param .u64 a, .param .u64 ptxasw_address_0)
//     {                                  {
//                                          ld.param.u64 %ptxasw_address0, [ptxasw_address_0];
//       ld.global.f32 %f1, [gain+4];       ld.global.f32 %f1, [%ptxasw_address0+4];
//
// This is the only step that no proof follows: the name of a `.global` variable is its address in
// the global state space (PTX ISA 6.4.1), which is what cuModuleGetGlobal() returns; registers may
// stand wherever the name is replaced here, and where it stands in any other way the kernel is left
// alone.
//
// A `.const` variable lies in global memory, too, where cuModuleGetGlobal() says and the host's
// copies write, and nothing may change it while a kernel runs (PTX ISA 5.1.3). So what the kernel
// reads there with `ld.const`, the version reads with `ld.global`, in the same order of the stream.
// The name is another number then, an address of global and not of constant memory: so registers
// that hold one may lead to such loads and to nothing else, and each of these loads must be from
// such a register.
//
// A function that comes along has another address there, so the kernel may call it by its name, and
// may take its address only if nothing reads that.
//
// Shared variables are a block's own in either module. Everything that the kernel does not
// need leaves the text; were it needed after all, the assembler would not take the text.
//
// The kernel's own code in blocks of another shape (synth/resize/reshape.cpp) needs none of this.

#include "wrapper/faster/beside.h"

#include "grammar/code_writer.h"
#include "grammar/edits.h"
#include "grammar/module.h"
#include "grammar/roles.h"
#include "synth/family.h"
#include "synth/resize/resize.h"
#include "synth/same_launch.h"
#include "wrapper/faster/work.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <map>
#include <optional>
#include <set>
#include <span>

namespace ptxasw::wrapper::faster {
namespace {

constexpr std::string_view address_name = "ptxasw_address";
constexpr std::size_t most_shapes = 6; ///< of blocks, besides the versions with code of their own
constexpr std::size_t most_reshaped = 16; ///< versions with code of their own in blocks of these

/// Every operand of an instruction, parts included.
template <typename Visit>
void each_operand(const Module &module, std::span<const Operand> operands, const Visit &visit) {
  for (const Operand &operand : operands) {
    visit(operand);
    each_operand(module, module.children(operand), visit);
  }
}

/// A kernel on its way out of its module.
class Extraction {
public:
  Extraction(const Module &module, const Function &kernel) : module_(module), kernel_(kernel) {}

  /// The text with the kernel, what it needs, and addresses for variables; or why it is left alone.
  tl::expected<std::string, Kept> text() {
    needed_ = {std::string(kernel_.name)};
    std::vector<const Function *> reached = {&kernel_};
    for (std::size_t i = 0; i < reached.size() && !kept_; ++i)
      look_at(*reached[i], reached);
    if (kept_)
      return tl::unexpected(*kept_);
    follow_constants();
    if (kept_)
      return tl::unexpected(*kept_);
    substitute();
    if (kept_)
      return tl::unexpected(*kept_);
    remove_the_rest();
    const auto result = edits_.apply(module_.text());
    if (!result)
      return left_alone("text", "what the kernel needs cannot be cut out of its module");
    return *result;
  }

  const std::vector<launch::AnswerVariable> &variables() const { return variables_; }

private:
  void keep(std::string reason, std::string words) {
    if (!kept_)
      kept_ = Kept{std::move(reason), std::move(words)};
  }

  /// Follows what a function calls and names.
  void look_at(const Function &function, std::vector<const Function *> &reached) {
    for (const Variable &variable : function.variables)
      if (variable.space == StateSpace::global || variable.space == StateSpace::constant)
        keep("variable", fmt::format("the variable `{}` belongs to a function", variable.name));
    std::vector<bool> is_read(function.registers.size(), false);
    for (const Instruction &instruction : function.instructions)
      for (const RegisterId reg : read_registers(module_, instruction))
        is_read[reg] = true;
    for (const Instruction &instruction : function.instructions) {
      if (!instruction.well_formed)
        keep("unknown-instruction", fmt::format("line {} is not understood", instruction.line));
      each_operand(module_, module_.operands(instruction), [&](const Operand &operand) {
        if (operand.kind != Operand::Kind::symbol)
          return;
        const Symbol &symbol = module_.symbol(operand);
        if (symbol.kind == Symbol::Kind::function) {
          call(symbol.name, reached);
          const auto written = written_registers(module_, instruction);
          if (module_.opcode(instruction).op != Op::call &&
              (written.empty() || std::any_of(written.begin(), written.end(),
                                              [&](RegisterId reg) { return is_read[reg]; })))
            keep("call", fmt::format("it takes the address of `{}`, which is another one beside "
                                     "the module",
                                     symbol.name));
        } else if (symbol.kind == Symbol::Kind::module_variable)
          name(module_.variables[symbol.index], function);
      });
    }
  }

  void call(std::string_view name, std::vector<const Function *> &reached) {
    const Function *const called = kernel_named(module_, name);
    if (!called)
      return keep("call", fmt::format("it calls `{}`, which is outside its module", name));
    if (called->is_entry)
      return keep("call", fmt::format("it names the kernel `{}`", name));
    if (needed_.insert(std::string(name)).second)
      reached.push_back(called);
  }

  void name(const Variable &variable, const Function &where) {
    const std::string_view declared = module_.text(variable.span);
    if (variable.space == StateSpace::shared)
      return;
    const bool is_constant = variable.space == StateSpace::constant;
    if ((variable.space != StateSpace::global && !is_constant) || bit_width(variable.type) == 0)
      return keep("texture", fmt::format("`{}` is no plain variable", variable.name));
    if (declared.find(".managed") != std::string_view::npos)
      return keep("managed-variable", fmt::format("`{}` is managed memory", variable.name));
    if (declared.find(".attribute") != std::string_view::npos)
      return keep("variable", fmt::format("`{}` has an attribute", variable.name));
    if (variable.linkage == Linkage::external)
      return keep("relocatable", fmt::format("`{}` is defined in another module", variable.name));
    if (&where != &kernel_)
      return keep("variable",
                  fmt::format("a function that it calls names the variable `{}`", variable.name));
    if (module_.address_size != 64)
      return keep("variable", "its addresses have 32 bits");
    if (find(variable.name) == variables_.end())
      variables_.push_back({std::string(variable.name), variable.size()});
    has_constants_ = has_constants_ || is_constant;
  }

  bool is_constant(const Operand &operand) const {
    if (operand.kind != Operand::Kind::symbol)
      return false;
    const Symbol &symbol = module_.symbol(operand);
    return symbol.kind == Symbol::Kind::module_variable &&
           module_.variables[symbol.index].space == StateSpace::constant;
  }

  bool holds_constant(const Operand &operand) const {
    return operand.kind == Operand::Kind::reg && addresses_[operand.reg];
  }

  /// The operand, of those that are read, whose address of a constant an instruction moves on, or
  /// adds something to; null: it does not.
  const Operand *moved_on(const Instruction &instruction) const {
    const Opcode &opcode = module_.opcode(instruction);
    const auto operands = module_.operands(instruction);
    const std::string_view text = opcode.text;
    const auto is = [&](std::initializer_list<std::string_view> names) {
      return std::find(names.begin(), names.end(), text) != names.end();
    };
    std::size_t first = 0, last = 0;
    if (is({"mov.u64", "mov.b64", "mov.s64"}) && operands.size() == 2)
      first = last = 1;
    else if (is({"add.s64", "add.u64"}) && operands.size() == 3)
      first = 1, last = 2;
    else if (is({"mad.lo.s64", "mad.lo.u64", "mad.wide.s32", "mad.wide.u32"}) &&
             operands.size() == 4)
      first = last = 3;
    else
      return nullptr;
    const Operand *found = nullptr;
    for (std::size_t i = first; i <= last; ++i)
      if (is_constant(operands[i]) || holds_constant(operands[i])) {
        if (found) // a sum of two
          return nullptr;
        found = &operands[i];
      }
    return operands[0].kind == Operand::Kind::reg && operands[0].selector == 0 ? found : nullptr;
  }

  static bool is_constant_load(const Opcode &opcode) {
    return opcode.op == Op::ld && opcode.text.starts_with("ld.const.");
  }

  /// Where addresses of `.const` variables go: to loads of constant memory and nowhere else, or the
  /// kernel is left alone.
  void follow_constants() {
    if (!has_constants_)
      return;
    addresses_.assign(kernel_.registers.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      for (const Instruction &instruction : kernel_.instructions)
        if (moved_on(instruction)) {
          const RegisterId to = module_.operands(instruction)[0].reg;
          changed = changed || !addresses_[to];
          addresses_[to] = true;
        }
    }
    for (const Instruction &instruction : kernel_.instructions)
      if (!leads_to_loads(instruction))
        return keep("constant-memory",
                    fmt::format("line {}: a `__constant__` variable's address is used in another "
                                "way than to read it",
                                instruction.line));
  }

  bool leads_to_loads(const Instruction &instruction) const {
    const Opcode &opcode = module_.opcode(instruction);
    const auto operands = module_.operands(instruction);
    const Operand *allowed = moved_on(instruction); // what may name a constant here
    bool good = true;
    if (is_constant_load(opcode)) {
      const auto parts = operands.size() == 2 ? module_.children(operands[1]) : operands;
      allowed = operands.size() == 2 && operands[1].kind == Operand::Kind::address &&
                        parts.size() == 1 && (is_constant(parts[0]) || holds_constant(parts[0]))
                    ? &parts[0]
                    : nullptr;
      good = allowed != nullptr;
    } else if (opcode.text.find(".const") != std::string::npos) {
      return false;
    }
    const Operand *const result = moved_on(instruction) ? &operands[0] : nullptr;
    each_operand(module_, operands, [&](const Operand &operand) {
      if (&operand != allowed && &operand != result &&
          (is_constant(operand) || holds_constant(operand)))
        good = false; // also where something else is written to such a register
    });
    return good;
  }

  std::vector<launch::AnswerVariable>::const_iterator find(std::string_view name) const {
    return std::find_if(variables_.begin(), variables_.end(),
                        [&](const launch::AnswerVariable &one) { return one.name == name; });
  }

  /// The number of a variable whose address is a parameter; nothing for any other operand.
  std::optional<std::size_t> number_of(const Operand &operand) const {
    if (operand.kind != Operand::Kind::symbol)
      return std::nullopt;
    const Symbol &symbol = module_.symbol(operand);
    if (symbol.kind != Symbol::Kind::module_variable)
      return std::nullopt;
    const auto found = find(symbol.name);
    if (found == variables_.end())
      return std::nullopt;
    return static_cast<std::size_t>(found - variables_.begin());
  }

  static std::string in_register(std::size_t number) {
    return fmt::format("%{}{}", address_name, number);
  }

  void substitute() {
    if (variables_.empty())
      return;
    if (module_.text().find(address_name) != std::string_view::npos)
      return keep("variable", fmt::format("the module has the name `{}`", address_name));
    for (const Instruction &instruction : kernel_.instructions) {
      if (const Opcode &opcode = module_.opcode(instruction);
          has_constants_ && is_constant_load(opcode))
        edits_.replace(instruction.opcode_span,
                       "ld.global" + std::string(opcode.text.substr(std::strlen("ld.const"))));
      for (const Operand &operand : module_.operands(instruction))
        substitute(instruction, operand);
    }
    declare();
  }

  void substitute(const Instruction &instruction, const Operand &operand) {
    const Opcode &opcode = module_.opcode(instruction);
    const auto refuse = [&] {
      keep("variable", fmt::format("line {} names a variable in a way that an address cannot "
                                   "replace",
                                   instruction.line));
    };
    if (const auto number = number_of(operand)) {
      const bool is_move = opcode.op == Op::mov && bit_width(opcode.type) == 64;
      const bool to_generic =
          opcode.op == Op::cvta && opcode.has(Modifier::global) && !opcode.has(Modifier::to);
      if (operand.value == 0 && (is_move || to_generic))
        edits_.replace(operand.span, in_register(*number));
      else if (is_move) {
        edits_.replace(instruction.opcode_span, "add.s64");
        edits_.replace(operand.span, fmt::format("{}, {}", in_register(*number), operand.value));
      } else
        refuse();
      return;
    }
    const auto children = module_.children(operand);
    if (operand.kind == Operand::Kind::address && children.size() == 1)
      if (const auto number = number_of(children[0])) {
        if ((!opcode.has(Modifier::global) && !is_constant_load(opcode)) || children[0].value != 0)
          return refuse();
        return edits_.replace(children[0].span, in_register(*number));
      }
    each_operand(module_, children, [&](const Operand &part) {
      if (number_of(part))
        refuse();
    });
  }

  /// Parameters, and registers that hold them.
  void declare() {
    const FunctionHeader header = header_of(module_, kernel_);
    if (header.parameters.data() == nullptr)
      return keep("variable", "the kernel has no list of parameters");
    std::string parameters,
        body = fmt::format("\n\t.reg .b64 \t%{}<{}>;", address_name, variables_.size());
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      parameters += fmt::format("{}\n\t.param .u64 {}_{}",
                                i == 0 && kernel_.parameters.empty() ? "" : ",", address_name, i);
      body += fmt::format("\n\tld.param.u64 \t{}, [{}_{}];", in_register(i), address_name, i);
    }
    const auto end = static_cast<std::uint32_t>(header.parameters.data() +
                                                header.parameters.size() - module_.text().data());
    edits_.insert(end, parameters + "\n");
    edits_.insert(kernel_.body.begin + 1, body);
  }

  void remove(Span span) {
    const std::string_view text = module_.text();
    std::uint32_t end = span.end;
    while (end < text.size() && std::string_view(" \t\r\n").find(text[end]) != text.npos)
      ++end;
    if (end < text.size() && text[end] == ';' && text[span.end - 1] != ';')
      span.end = end + 1;
    if (removed_.insert(span.begin).second) // one declaration may hold several variables
      edits_.replace(span, "");
  }

  void remove_the_rest() {
    for (const Function &function : module_.functions)
      if (!needed_.contains(std::string(function.name)))
        remove(function.span);
    for (const Variable &variable : module_.variables)
      if (variable.space == StateSpace::global || variable.space == StateSpace::constant)
        remove(variable.span);
  }

  const Module &module_;
  const Function &kernel_;
  std::optional<Kept> kept_;
  std::set<std::string> needed_; ///< functions
  std::vector<launch::AnswerVariable> variables_;
  bool has_constants_ = false;  ///< some are `.const`
  std::vector<bool> addresses_; ///< by register: it holds the address of one, or of a part of it
  std::set<std::uint32_t> removed_;
  Edits edits_;
};

/// Why a kernel has no versions, in one line: all that the first family says that has something
/// against it.
Kept kept(const SiblingResult &result) {
  for (const KernelSiblings &kernel : result.kernels) {
    if (!kernel.unproved.empty())
      return {"unproved", kernel.unproved.front().why};
    if (kernel.refusals.empty())
      continue;
    const Refusal &first = kernel.refusals.front();
    Kept all{std::string(first.reason), std::string(first.meaning)};
    for (const Refusal &other : std::span(kernel.refusals).subspan(1))
      if (other.family == first.family)
        all.words += fmt::format("; {}: {}", other.reason, other.meaning);
    return all;
  }
  return {"no-versions", "no family has a version of it"};
}

/// The text without the kernel itself and without the table.
std::optional<std::string> only_versions(const Module &module, const std::string &kernel) {
  Edits edits;
  for (const Function &function : module.functions)
    if (function.name == kernel)
      edits.replace(function.span, "");
  for (const Variable &variable : module.variables)
    if (variable.name.ends_with(sibling_table_suffix))
      edits.replace(variable.span, "");
  return edits.apply(module.text());
}

} // namespace

SiblingOptions default_versions() {
  SiblingOptions options;
  for (const Family &family : families())
    if (family.if_measured)
      options.wanted.emplace(family.option, family_option(family.option).variants);
  options.most = 8;
  options.once = 4;
  return options;
}

namespace {

/// The versions that have code of their own.
tl::expected<BesideText, Kept> with_code(const Module &whole, const Function &function,
                                         SiblingOptions options) {
  const std::string kernel(function.name);
  Extraction extraction(whole, function);
  auto alone = extraction.text();
  if (!alone)
    return tl::unexpected(alone.error());
  const auto reduced = parse(std::move(*alone), "kernel");
  if (!reduced)
    return left_alone("text", "the kernel alone is not understood: " + reduced.error().message);
  options.kernels = {kernel};
  options.promises = false; // nobody was asked for one
  const SiblingResult result = add_siblings(**reduced, options);
  if (!result.changed)
    return tl::unexpected(kept(result));
  const auto written = parse(result.text, "versions");
  const auto tables = written ? sibling_tables(**written) : std::vector<SiblingTable>();
  auto text = written ? only_versions(**written, kernel) : std::nullopt;
  if (tables.size() != 1 || tables[0].kernel != kernel || !text)
    return left_alone("text", "the versions are not understood");
  BesideText made;
  made.text = std::move(*text);
  made.target = (*written)->target;
  made.table = tables[0];
  made.variables = extraction.variables();
  made.work = compare_work(work_of(whole, function), **written, made.table);
  return made;
}

/// Of these shapes those in which other versions are tried, too, where they have won: small blocks,
/// as versions leave a multiprocessor fewer threads, of one row and of several.
std::vector<Sibling> shapes_of_versions(const std::vector<Sibling> &shapes) {
  constexpr std::uint32_t small = 128;
  std::vector<Sibling> result;
  const Sibling *rows = nullptr, *several = nullptr;
  for (const Sibling &shape : shapes) {
    const bool has_rows = shape.extent[1] > 1 || shape.extent[2] > 1;
    if (has_rows && !several)
      several = &shape;
    if (!has_rows && shape.extent[0] <= small && !rows)
      rows = &shape;
  }
  for (const Sibling *const one : {rows, several})
    if (one)
      result.push_back(*one);
  return result;
}

} // namespace

tl::expected<BesideText, Kept> beside(const std::string &ptx, const std::string &kernel,
                                      SiblingOptions options) {
  const auto whole = parse(ptx, "ptx");
  if (!whole)
    return left_alone("ptx", "its PTX is not understood: " + whole.error().message);
  const Function *const function = kernel_named(**whole, kernel);
  if (!function || !function->is_entry)
    return left_alone("no-kernel", "its module's PTX does not have it");
  auto made = with_code(**whole, *function, std::move(options));
  if (made) {
    std::vector<Sibling> tall = in_tall_blocks(made->table.siblings);
    made->table.siblings.insert(made->table.siblings.end(), tall.begin(), tall.end());
  }
  std::vector<Sibling> shapes = reshapes({**whole, *function}, most_shapes);
  if (shapes.empty())
    return made;
  if (!made)
    made = BesideText{"",
                      "",
                      empty_table(**whole, *function),
                      {},
                      compare_work(work_of(**whole, *function), **whole, {}),
                      made.error().words};
  std::vector<Sibling> &all = made->table.siblings;
  const std::vector<Sibling> both = in_other_blocks(all, shapes_of_versions(shapes), most_reshaped);
  all.insert(all.end(), shapes.begin(), shapes.end());
  all.insert(all.end(), both.begin(), both.end());
  return made;
}

} // namespace ptxasw::wrapper::faster
