// Expressions as text, for `trace`, `explain` and tests: infix, with widths where they are not
// those of the context.

#include "emulator/symbolic/expr.h"

#include <fmt/core.h>

namespace ptxasw::emulator {
namespace {

std::string hexadecimal(Bits value) {
  return value.high ? fmt::format("0x{:x}{:016x}", value.high, value.low)
                    : fmt::format("0x{:x}", value.low);
}

/// Longer texts do not help and may be exponentially long, as shared parts are written out.
constexpr std::size_t length_limit = 4000;

class Printer {
public:
  explicit Printer(const ExprPool &pool) : pool_(pool) {}

  void print(Expr e, bool nested) {
    if (text.size() > length_limit) {
      if (!text.ends_with("..."))
        text += "...";
      return;
    }
    switch (e->kind) {
    case ExprKind::constant:
      text += hexadecimal(e->value);
      break;
    case ExprKind::symbol:
      text += pool_.symbols()[e->index].name;
      break;
    case ExprKind::sum:
      print_sum(e, nested);
      break;
    case ExprKind::product:
      print_infix(e, " * ", nested);
      break;
    case ExprKind::add2:
      print_infix(e, " + ", nested);
      break;
    case ExprKind::bit_and:
      print_infix(e, " & ", nested);
      break;
    case ExprKind::bit_or:
      print_infix(e, " | ", nested);
      break;
    case ExprKind::bit_xor:
      print_infix(e, " ^ ", nested);
      break;
    case ExprKind::shl:
      print_infix(e, " << ", nested);
      break;
    case ExprKind::lshr:
      print_infix(e, " >> ", nested);
      break;
    case ExprKind::ult:
      print_infix(e, " <u ", nested);
      break;
    case ExprKind::slt:
      print_infix(e, " <s ", nested);
      break;
    case ExprKind::zext:
      print_call(fmt::format("zext{}", e->width), e);
      break;
    case ExprKind::sext:
      print_call(fmt::format("sext{}", e->width), e);
      break;
    case ExprKind::extract:
      print(e->children[0], true);
      text += fmt::format("[{}:{}]", e->index + e->width - 1, e->index);
      break;
    case ExprKind::eq0:
      text += '(';
      print(e->children[0], false);
      text += " == 0)";
      break;
    case ExprKind::concat:
      print_call("concat", e);
      break;
    case ExprKind::ashr:
      print_call("ashr", e);
      break;
    case ExprKind::udiv:
      print_call("udiv", e);
      break;
    case ExprKind::urem:
      print_call("urem", e);
      break;
    case ExprKind::sdiv:
      print_call("sdiv", e);
      break;
    case ExprKind::srem:
      print_call("srem", e);
      break;
    case ExprKind::ite:
      print_call("ite", e);
      break;
    case ExprKind::uf:
      print_call(pool_.function_name(e), e);
      break;
    }
  }

  std::string text;

private:
  void print_sum(Expr e, bool nested) {
    if (nested)
      text += '(';
    bool first = true;
    if (!e->value.is_zero()) {
      // Small negative numbers read better as such.
      const std::int64_t value = as_signed(e->value.low, e->width);
      if (value < 0 && value > -0x100000000)
        text += fmt::format("-0x{:x}", -value);
      else
        text += hexadecimal(e->value);
      first = false;
    }
    for (std::uint32_t i = 0; i < e->child_count; ++i) {
      const std::int64_t factor = as_signed(e->coefficients[i], e->width);
      const bool negative = e->width > 1 && factor < 0 && factor > -0x100000000;
      text += first ? (negative ? "-" : "") : (negative ? " - " : " + ");
      const std::uint64_t magnitude =
          negative ? static_cast<std::uint64_t>(-factor) : e->coefficients[i];
      if (magnitude != 1)
        text += fmt::format("0x{:x} * ", magnitude);
      print(e->children[i], true);
      first = false;
    }
    if (nested)
      text += ')';
  }

  void print_infix(Expr e, std::string_view op, bool nested) {
    if (nested)
      text += '(';
    for (std::uint32_t i = 0; i < e->child_count; ++i) {
      if (i > 0)
        text += op;
      print(e->children[i], true);
    }
    if (nested)
      text += ')';
  }

  void print_call(std::string_view name, Expr e) {
    text += name;
    text += '(';
    for (std::uint32_t i = 0; i < e->child_count; ++i) {
      if (i > 0)
        text += ", ";
      print(e->children[i], false);
    }
    text += ')';
  }

  const ExprPool &pool_;
};

} // namespace

std::string to_string(const ExprPool &pool, Expr expr) {
  Printer printer(pool);
  printer.print(expr, false);
  return std::move(printer.text);
}

} // namespace ptxasw::emulator
