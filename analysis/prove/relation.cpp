// What people may say of a launch: `n >= 0`, `n == ntid.x * nctaid.x`, `ntid.x % 32 == 0`.

#include "analysis/prove/prove.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ptxasw::analysis {
namespace {

__extension__ typedef __int128 Whole;

std::string without_blanks(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c != ' ' && c != '\t')
      result += c;
  return result;
}

std::string own_name(std::string name) {
  for (const auto &[theirs, ours] :
       {std::pair("blockDim.", "ntid."), std::pair("gridDim.", "nctaid.")})
    if (name.starts_with(theirs))
      return ours + name.substr(std::string_view(theirs).size());
  return name;
}

/// A sum of products: `2*n - ntid.x + 1`.
std::optional<std::vector<LaunchRelation::Product>> read_sum(std::string_view text) {
  std::vector<LaunchRelation::Product> sum;
  std::size_t at = 0;
  do {
    LaunchRelation::Product product;
    if (at < text.size() && (text[at] == '-' || text[at] == '+'))
      product.coefficient = text[at++] == '-' ? -1 : 1;
    for (;;) {
      const std::size_t end = std::min(text.find_first_of("+-*", at), text.size());
      const std::string word(text.substr(at, end - at));
      if (word.empty())
        return std::nullopt;
      std::int64_t number = 0;
      const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
      const bool is_name = (word[0] >= 'A' && word[0] <= 'Z') ||
                           (word[0] >= 'a' && word[0] <= 'z') || word[0] == '_' || word[0] == '%' ||
                           word[0] == '$';
      const bool is_word = std::all_of(word.begin() + 1, word.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '$' || c == '.';
      });
      if (read.ec == std::errc() && read.ptr == word.data() + word.size()) {
        if (__builtin_mul_overflow(product.coefficient, number, &product.coefficient))
          return std::nullopt;
      } else if (is_name && is_word)
        product.names.push_back(own_name(word[0] == '%' ? word.substr(1) : word));
      else
        return std::nullopt;
      at = end;
      if (at == text.size() || text[at] != '*')
        break;
      ++at;
    }
    sum.push_back(std::move(product));
  } while (at < text.size());
  return sum;
}

} // namespace

std::optional<LaunchRelation> read_relation(const std::string &given) {
  using Kind = LaunchRelation::Kind;
  struct Spelling {
    const char *text;
    Kind kind;
    bool reversed;
  };
  static constexpr Spelling spellings[] = {
      {"<=", Kind::less_equal, false}, {">=", Kind::less_equal, true}, {"==", Kind::equal, false},
      {"!=", Kind::not_equal, false},  {"<", Kind::less, false},       {">", Kind::less, true}};
  const std::string text = without_blanks(given);
  for (const Spelling &spelling : spellings) {
    const std::size_t at = text.find(spelling.text);
    if (at == std::string::npos)
      continue;
    std::string first = text.substr(0, at);
    const std::string second = text.substr(at + std::string_view(spelling.text).size());
    LaunchRelation relation;
    relation.text = given;
    relation.kind = spelling.kind;
    if (const std::size_t percent = first.find('%', 1); percent != std::string::npos) {
      const std::string modulus = first.substr(percent + 1);
      const auto read =
          std::from_chars(modulus.data(), modulus.data() + modulus.size(), relation.modulus);
      if (read.ec != std::errc() || read.ptr != modulus.data() + modulus.size() ||
          relation.modulus == 0 || relation.modulus >> 63 != 0 || second != "0" ||
          spelling.kind != Kind::equal)
        return std::nullopt;
      first.resize(percent);
    }
    auto left = read_sum(first), right = read_sum(second);
    if (!left || !right)
      return std::nullopt;
    relation.left = std::move(*left);
    relation.right = std::move(*right);
    if (spelling.reversed)
      std::swap(relation.left, relation.right);
    return relation;
  }
  return std::nullopt;
}

bool assume(const std::string &word, ProofAssumptions &assumptions) {
  if (word == "disjoint") {
    assumptions.disjoint = true;
    return true;
  }
  if (word == "no-wrap") {
    assumptions.no_wrap = true;
    return true;
  }
  if (word == "1d" || word == "2d") {
    for (const char *extent : {"ntid.z == 1", "nctaid.z == 1", "ntid.y == 1", "nctaid.y == 1"})
      if (word == "1d" || std::string_view(extent).find('z') != std::string_view::npos)
        assumptions.relations.push_back(*read_relation(extent));
    return true;
  }
  auto relation = read_relation(word);
  if (relation)
    assumptions.relations.push_back(std::move(*relation));
  return relation.has_value();
}

// What may not fit says nothing: the formulas would wrap around.
Expr value_of(ExprPool &pool, const std::vector<LaunchRelation::Product> &sum,
              const std::function<Expr(const std::string &)> &named) {
  const bool is_plain = sum.size() == 1 && sum[0].coefficient == 1 && sum[0].names.size() == 1;
  double most = 0;
  Expr total = pool.constant(64, 0);
  for (const LaunchRelation::Product &product : sum) {
    double largest = std::abs(static_cast<double>(product.coefficient));
    Expr value = pool.constant(64, static_cast<std::uint64_t>(product.coefficient));
    for (const std::string &name : product.names) {
      const Expr factor = named(name);
      if (!factor || factor->width > 64)
        return nullptr;
      largest *= std::ldexp(1.0, static_cast<int>(factor->width) - 1);
      value = pool.mul(value, pool.sext(factor, 64));
    }
    most += largest;
    total = pool.add(total, value);
  }
  return is_plain || most <= std::ldexp(1.0, 62) ? total : nullptr;
}

bool holds(const LaunchRelation &relation, const std::map<std::string, std::int64_t> &numbers) {
  bool known = true;
  const auto value = [&](const std::vector<LaunchRelation::Product> &sum) {
    Whole total = 0;
    for (const LaunchRelation::Product &product : sum) {
      Whole one = product.coefficient;
      for (const std::string &name : product.names) {
        const auto found = numbers.find(name);
        known &= found != numbers.end();
        one *= found == numbers.end() ? 0 : found->second;
      }
      total += one;
    }
    return total;
  };
  const Whole left = value(relation.left), right = value(relation.right);
  if (!known)
    return true;
  if (relation.modulus != 0)
    return left % static_cast<Whole>(relation.modulus) == 0;
  switch (relation.kind) {
  case LaunchRelation::Kind::less:
    return left < right;
  case LaunchRelation::Kind::less_equal:
    return left <= right;
  case LaunchRelation::Kind::equal:
    return left == right;
  default:
    return left != right;
  }
}

} // namespace ptxasw::analysis
