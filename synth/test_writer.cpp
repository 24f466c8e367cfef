#include "synth/test_writer.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::synth {

void TestWriter::all(const std::vector<facts::Condition> &conditions, const std::string &result) {
  std::vector<std::string> parts;
  for (const facts::Condition &condition : conditions) {
    const std::string part = one(condition);
    if (std::find(parts.begin(), parts.end(), part) == parts.end())
      parts.push_back(part);
  }
  std::string sum = parts[0];
  for (std::size_t i = 1; i + 1 < parts.size(); ++i)
    sum = tested("and.pred", sum, parts[i]);
  if (parts.size() == 1)
    out.write("mov.pred {}, {}", result, sum);
  else
    out.write("and.pred {}, {}, {}", result, sum, parts.back());
}

std::string TestWriter::made(const char *type, std::string_view opcode, std::string sources) {
  const auto [found, added] = known_.try_emplace({std::string(opcode), std::move(sources)});
  if (added) {
    found->second = fresh_(type);
    out.write("{} {}, {}", opcode, found->second, found->first.second);
  }
  return found->second;
}

std::string TestWriter::wide(std::string_view opcode, std::string_view a, std::string_view b) {
  return made("b64", opcode, fmt::format("{}, {}", a, b));
}

std::string TestWriter::tested(std::string_view opcode, std::string_view a, std::string_view b) {
  return made("pred", opcode, fmt::format("{}, {}", a, b));
}

std::string TestWriter::atom(facts::AtomId id) {
  const facts::Atom &one = atoms_[id];
  if (one.kind == facts::Atom::Kind::rounds) {
    const std::string distance = wide("max.s64", value(one.distance), "0");
    return one.step == 1 ? distance : wide("div.s64", distance, std::to_string(one.step));
  }
  const std::string own(function_.registers[one.leaf].name);
  return one.kind == facts::Atom::Kind::word ? own : made("b64", "cvt.s64.s32", own);
}

std::string TestWriter::term(const std::vector<facts::AtomId> &product, std::int64_t factor) {
  std::string result;
  for (const facts::AtomId one : product)
    result = result.empty() ? atom(one) : wide("mul.lo.s64", result, atom(one));
  return factor == 1 ? result : wide("mul.lo.s64", result, std::to_string(factor));
}

std::string TestWriter::value(const facts::Polynomial &polynomial) {
  const std::int64_t number = polynomial.constant();
  std::string sum;
  for (const bool added : {true, false})
    for (const auto &[product, bits] : polynomial.terms()) {
      const auto factor = static_cast<std::int64_t>(bits);
      if (product.empty() || added != (factor != -1))
        continue;
      const std::string more = term(product, added ? factor : 1);
      if (added)
        sum = sum.empty() ? more : wide("add.s64", sum, more);
      else
        sum = wide("sub.s64", sum.empty() ? "0" : sum, more);
    }
  if (sum.empty())
    return std::to_string(number);
  return number == 0 ? sum : wide("add.s64", sum, std::to_string(number));
}

std::string TestWriter::held(const facts::Polynomial &polynomial) {
  const std::string operand = value(polynomial);
  return operand.starts_with('%') ? operand : made("b64", "mov.b64", operand);
}

std::string TestWriter::one(const facts::Condition &condition) {
  using Kind = facts::Condition::Kind;
  if (condition.kind == Kind::multiple)
    return tested("setp.eq.s64",
                  wide("and.b64", value(condition.value), std::to_string(condition.of - 1)), "0");
  if (condition.kind == Kind::zero)
    return tested("setp.eq.s64", held(condition.value), "0");
  if (condition.kind == Kind::not_negative) {
    const std::int64_t number = condition.value.constant();
    return tested("setp.ge.s64", value(condition.value - facts::Polynomial(number)),
                  std::to_string(-number));
  }
  const bool stays = condition.way.is_zero();
  const std::string distance = held(condition.value);
  const std::string way = stays ? "" : held(condition.way);
  const auto limit = [&](const char *opcode, std::int64_t bytes) {
    const std::string number = std::to_string(bytes);
    return stays ? number : wide("add.s64", wide(opcode, way, "0"), number);
  };
  const std::string behind = tested("setp.ge.s64", distance, limit("max.s64", condition.stored));
  const std::string before =
      tested("setp.le.s64", distance, limit("min.s64", -std::int64_t{condition.loaded}));
  return tested("or.pred", behind, before);
}

} // namespace ptxasw::synth
