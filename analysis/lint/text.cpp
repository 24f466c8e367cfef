// Expressions for people: sums and products in decimal, the rest as the emulator prints it.

#include "analysis/lint/lint.h"

#include <fmt/core.h>

namespace ptxasw::analysis::lint {
namespace {

/// Longer texts are not read.
constexpr std::size_t longest = 120;

std::string in_parentheses(std::string text, bool nested) {
  return nested ? fmt::format("({})", text) : text;
}

std::string write(const ExprPool &pool, Expr e, bool nested, int depth) {
  const bool narrows = e->kind == ExprKind::extract && e->index == 0;
  if (e->kind == ExprKind::zext || e->kind == ExprKind::sext || narrows)
    return write(pool, e->children[0], nested, depth);
  if (depth == 0)
    return "...";
  switch (e->kind) {
  case ExprKind::constant:
    return fmt::format("{}", as_signed(e->value.low, std::min<unsigned>(e->width, 64)));
  case ExprKind::symbol:
    return pool.symbols()[e->index].name;
  case ExprKind::sum: {
    std::string text;
    const auto add = [&](std::int64_t factor, const std::string &what) {
      text += text.empty() ? (factor < 0 ? "-" : "") : factor < 0 ? " - " : " + ";
      const std::uint64_t size =
          factor < 0 ? 0 - static_cast<std::uint64_t>(factor) : static_cast<std::uint64_t>(factor);
      text += what.empty() ? fmt::format("{}", size)
              : size == 1  ? what
                           : fmt::format("{} * {}", size, what);
    };
    for (std::uint32_t i = 0; i < e->child_count; ++i)
      add(as_signed(e->coefficients[i], e->width), write(pool, e->children[i], true, depth - 1));
    if (!e->value.is_zero())
      add(as_signed(e->value.low, e->width), "");
    const bool one_term = e->child_count == 1 && e->value.is_zero();
    return in_parentheses(text, nested && !one_term);
  }
  case ExprKind::product: {
    std::string text;
    for (const Expr child : e->operands())
      text += (text.empty() ? "" : " * ") + write(pool, child, true, depth - 1);
    return text;
  }
  default:
    return to_string(pool, e);
  }
}

} // namespace

std::string readable(const ExprPool &pool, Expr expr) {
  std::string text = write(pool, expr, false, 8);
  if (text.size() > longest)
    text = text.substr(0, longest) + "...";
  return text;
}

std::string stride_text(const facts::KernelFacts &facts, const facts::Access &access) {
  if (const auto stride = facts.lane_stride(access))
    return fmt::format("{}", *stride);
  const facts::AddressForm &form = access.form;
  const bool plain = form.is_linear() && form.strides.size() == 1 && form.of_lane.empty() &&
                     form.strides[0].lane == facts.lane_values().tid(0) && form.laneid == 0;
  if (!plain)
    return "";
  const facts::StrideTerm &term = form.strides[0];
  ExprPool &pool = facts.emulation().pool();
  const std::string by = readable(pool, pool.zext(term.by, 64));
  const bool sum = term.by->kind == ExprKind::sum;
  std::string text = term.factor == 1 ? by
                     : sum            ? fmt::format("{} * ({})", term.factor, by)
                                      : fmt::format("{} * {}", term.factor, by);
  if (form.tid[0] != 0)
    text += fmt::format(" {} {}", form.tid[0] < 0 ? "-" : "+", std::abs(form.tid[0]));
  return text;
}

} // namespace ptxasw::analysis::lint
