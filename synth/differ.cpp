// A question to the solver is made small, so that its answer comes within few resources: what both
// sides have in common is taken away (what_differs()), and each product of unknowns, the block's
// number times its extent say, is a symbol of its own. Both only add ways to differ: if there is
// none left, there was none. A product of few bits costs a solver nothing and stays: that no square
// is 2 modulo 4 is said of two bits.

#include "synth/differ.h"

#include "emulator/symbolic/address.h"

#include <algorithm>
#include <map>

namespace ptxasw::synth {
namespace {

/// Bits of a product that stays one.
constexpr unsigned small_product = 4;

/// A symbol for each product of unknowns. The normal form multiplies the low bits where only those
/// of a product are asked for: they are the low bits of the same symbol.
class Products {
public:
  explicit Products(ExprPool &pool) : pool_(pool) {}

  Expr symbol_for(Expr product) {
    std::vector<Expr> factors;
    for (const Expr factor : product->operands())
      factors.push_back(
          factor->kind == ExprKind::extract && factor->index == 0 ? factor->children[0] : factor);
    const unsigned width = factors[0]->width;
    if (std::any_of(factors.begin(), factors.end(),
                    [&](Expr factor) { return factor->width != width; }))
      factors = {product->operands().begin(), product->operands().end()};
    std::sort(factors.begin(), factors.end(), [](Expr a, Expr b) { return a->id < b->id; });
    Expr &symbol = symbols_[factors];
    if (!symbol)
      symbol = pool_.symbol("product", factors[0]->width);
    return pool_.truncate(symbol, product->width);
  }

private:
  ExprPool &pool_;
  std::map<std::vector<Expr>, Expr> symbols_; ///< by factors
};

} // namespace

bool has_bit_operations(Expr expr) {
  bool result = false;
  for_each_node(expr, [&](Expr node) {
    const bool low_bits = node->kind == ExprKind::extract && node->index == 0; // of a sum: a sum
    result |= node->kind > ExprKind::sext && node->kind != ExprKind::uf && !low_bits;
  });
  return result;
}

std::vector<Expr> ways_to_differ(ExprPool &pool, Expr a, Expr b,
                                 std::span<const std::pair<Expr, bool>> known) {
  const auto [left, right] = what_differs(pool, a, b);
  std::vector<Expr> formulas{pool.bit_not(pool.eq(left, right))};
  for (const auto &[condition, holds] : known)
    formulas.push_back(holds ? condition : pool.bit_not(condition));
  Substitution plain(pool);
  Products products(pool);
  for (const Expr formula : formulas)
    for_each_node(formula, [&](Expr node) {
      if (node->kind == ExprKind::product && node->width > small_product)
        plain.map(node, products.symbol_for(node));
    });
  for (Expr &formula : formulas)
    formula = plain(formula);
  return formulas;
}

} // namespace ptxasw::synth
