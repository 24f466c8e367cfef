#pragma once

// Expressions of bit-vectors, as SMT-LIB has them, in a normal form: two that are equal are mostly
// one node, and no solver need be asked (expr.cpp says which are).
//   pool.add(a, b) == pool.add(b, a) // the same pointer

#include "emulator/semantics/bits.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ptxasw::emulator {

/// Kinds of expressions; the names are those of SMT-LIB's bit-vector theory.
enum class ExprKind : std::uint8_t {
  constant, ///< `value`
  symbol,   ///< `index` in the pool's symbols
  sum,      ///< value + coefficients[i] * children[i] modulo 2^width; widths up to 64
  product,  ///< of at least two children, none of them constant; sorted
  zext,
  sext,
  extract, ///< bits [index, index + width) of the child
  concat,  ///< children: high, low
  bit_and,
  bit_or,
  bit_xor,
  shl, ///< by a child; amounts of the width or more give 0
  lshr,
  ashr,
  udiv,
  urem,
  sdiv,
  srem,
  eq0, ///< child == 0, width 1
  ult,
  slt,
  ite,  ///< children: condition, then, else
  uf,   ///< an uninterpreted function named names[index]
  add2, ///< addition beyond 64 bits
};

/// An expression node. Nodes are hash-consed: equal expressions are one node, so equality is
/// comparison of pointers. Ids count up in order of creation and only order sums and products, so
/// results do not depend on addresses.
struct ExprNode {
  ExprKind kind;
  std::uint8_t width;          ///< 1 to 128
  std::uint8_t trailing_zeros; ///< bits known to be zero from below, at most the width
  std::uint16_t depth;         ///< longest path to a leaf, saturating
  std::uint32_t id;
  std::uint32_t index = 0;
  std::uint32_t child_count = 0;
  const ExprNode *const *children = nullptr;
  const std::uint64_t *coefficients = nullptr;
  Bits value;
  std::uint64_t maximum; ///< upper bound as an unsigned number; all ones beyond 64 bits

  std::span<const ExprNode *const> operands() const { return {children, child_count}; }
};

/// A handle on a node; never null.
using Expr = const ExprNode *;

/// An unknown of the emulation.
struct Unknown {
  std::string name; ///< for people
  unsigned width = 0;
};

/// Creates and owns expressions, in the normal form of the design: sums of products modulo 2^w over
/// atoms, extensions kept apart from what they extend. Every function expects operands of equal
/// width unless it says otherwise, and folds constants.
class ExprPool {
public:
  using Value = Expr; ///< as a domain of the instruction table

  ExprPool();
  ExprPool(const ExprPool &) = delete;
  ExprPool &operator=(const ExprPool &) = delete;

  Expr constant(unsigned width, Bits value);
  Expr symbol(std::string name, unsigned width, std::uint64_t maximum = ~std::uint64_t{0});
  Expr add(Expr a, Expr b);
  Expr sub(Expr a, Expr b);
  Expr neg(Expr a);
  Expr mul(Expr a, Expr b);
  Expr bit_and(Expr a, Expr b);
  Expr bit_or(Expr a, Expr b);
  Expr bit_xor(Expr a, Expr b);
  Expr bit_not(Expr a);
  /// Shifts: the amount has the value's width; amounts of the width or more give 0 or the sign.
  Expr shl(Expr a, Expr amount);
  Expr lshr(Expr a, Expr amount);
  Expr ashr(Expr a, Expr amount);
  Expr udiv(Expr a, Expr b);
  Expr urem(Expr a, Expr b);
  Expr sdiv(Expr a, Expr b);
  Expr srem(Expr a, Expr b);
  Expr eq(Expr a, Expr b);  ///< width 1
  Expr ult(Expr a, Expr b); ///< width 1
  Expr slt(Expr a, Expr b); ///< width 1
  Expr ule(Expr a, Expr b) { return bit_not(ult(b, a)); }
  Expr sle(Expr a, Expr b) { return bit_not(slt(b, a)); }
  Expr ite(Expr condition, Expr yes, Expr no);
  Expr zext(Expr a, unsigned width); ///< width >= a's
  Expr sext(Expr a, unsigned width); ///< width >= a's
  Expr extract(Expr a, unsigned low, unsigned width);
  Expr truncate(Expr a, unsigned width) { return extract(a, 0, width); }
  Expr concat(Expr high, Expr low);
  Expr uninterpreted(std::string_view name, unsigned width, std::span<const Expr> arguments);

  /// cvta (PTX ISA 9.7.9.20): generic and global addresses are the same numbers, those of the other
  /// spaces are related by an unpublished function.
  Expr generic_address(std::string_view opcode, Expr address);

  unsigned width(Expr a) const { return a->width; }
  const std::vector<Unknown> &symbols() const { return symbols_; }
  std::string_view function_name(Expr uf) const { return names_[uf->index]; }
  std::size_t size() const { return count_; }

  /// The same operation on other operands: what a substitution needs.
  Expr rebuild(Expr node, std::span<const Expr> children);

private:
  /// A slot of the hash table; `node` is null if it is free.
  struct Slot {
    std::uint32_t hash = 0;
    const ExprNode *node = nullptr;
  };
  struct Term {
    Expr atom;
    std::uint64_t coefficient;
  };

  Expr intern(ExprNode node, std::span<const Expr> children,
              std::span<const std::uint64_t> coefficients = {});
  Expr binary(ExprKind kind, unsigned width, Expr a, Expr b);
  Expr unary(ExprKind kind, unsigned width, Expr a, std::uint32_t index = 0);
  void bound(ExprNode &node) const;
  static std::vector<Term> terms(Expr a);
  Expr sum(unsigned width, std::uint64_t constant, std::vector<Term> terms);
  std::pair<Expr, Expr> split(Expr a, unsigned low);
  Expr scale(Expr a, std::uint64_t factor);
  Expr monomial(Expr a, Expr b);
  Expr low_bits(Expr a, unsigned width);
  void *allocate(std::size_t bytes);
  void grow();

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::size_t chunk_used_ = 0;
  std::size_t chunk_size_ = 0;
  std::uint32_t count_ = 0;
  std::vector<Slot> slots_; ///< all nodes, by open addressing; a power of two, half full at most
  std::unordered_map<std::uint64_t, Expr> low_bits_; ///< memo of low_bits by node id and width
  std::vector<Unknown> symbols_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> name_ids_;
};

/// Replaces symbols by expressions throughout; shared parts are visited once.
class Substitution {
public:
  explicit Substitution(ExprPool &pool) : pool_(pool) {}
  /// From now on `symbol` (an expression of kind symbol) becomes `value`.
  void map(Expr symbol, Expr value) { memo_[symbol->id] = value; }
  Expr operator()(Expr expr);

private:
  ExprPool &pool_;
  std::unordered_map<std::uint32_t, Expr> memo_;
};

/// Calls `visit` once for every distinct node below and including `expr`.
template <class Visit> void for_each_node(Expr expr, Visit visit) {
  // Most expressions are small: searching the list is faster than a hash table.
  constexpr std::size_t few = 32;
  std::vector<Expr> nodes;
  nodes.reserve(few);
  nodes.push_back(expr);
  std::unordered_set<Expr> seen;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    visit(nodes[i]);
    for (const Expr child : nodes[i]->operands()) {
      if (seen.empty() && nodes.size() < few) {
        if (std::find(nodes.begin(), nodes.end(), child) != nodes.end())
          continue;
      } else {
        if (seen.empty())
          seen.insert(nodes.begin(), nodes.end());
        if (!seen.insert(child).second)
          continue;
      }
      nodes.push_back(child);
    }
  }
}

/// Readable text in the style of the paper's listing 5: numbers in hexadecimal.
std::string to_string(const ExprPool &pool, Expr expr);

} // namespace ptxasw::emulator
