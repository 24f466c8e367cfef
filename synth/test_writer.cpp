#include "synth/test_writer.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::synth {

std::string TestWriter::all(const std::vector<facts::Condition> &conditions,
                            const std::string &result) {
  std::vector<std::string> parts;
  for (const facts::Condition &condition : conditions) {
    const std::string part = one(condition);
    if (std::find(parts.begin(), parts.end(), part) == parts.end())
      parts.push_back(part);
  }
  std::string sum = parts[0];
  for (std::size_t i = 1; i + 1 < parts.size(); ++i)
    sum = made("pred", "and.pred", {sum, parts[i]});
  text += parts.size() == 1 ? fmt::format("\tmov.pred {}, {};\n", result, sum)
                            : fmt::format("\tand.pred {}, {}, {};\n", result, sum, parts.back());
  return text;
}

std::string TestWriter::made(const std::string &type, const std::string &opcode,
                             const std::vector<std::string> &from) {
  std::string rest;
  for (const std::string &operand : from)
    rest += ", " + operand;
  const auto [found, added] = known_.try_emplace(opcode + rest);
  if (added) {
    found->second = fresh_(type);
    text += fmt::format("\t{} {}{};\n", opcode, found->second, rest);
  }
  return found->second;
}

std::string TestWriter::wide(const std::string &opcode, const std::vector<std::string> &from) {
  return made("b64", opcode, from);
}

std::string TestWriter::atom(facts::AtomId id) {
  const facts::Atom &one = atoms_[id];
  if (one.kind == facts::Atom::Kind::word)
    return std::string(function_.registers[one.leaf].name);
  if (one.kind == facts::Atom::Kind::narrow)
    return wide("cvt.s64.s32", {std::string(function_.registers[one.leaf].name)});
  const std::string distance = wide("max.s64", {value(one.distance), "0"});
  return one.step == 1 ? distance : wide("div.s64", {distance, std::to_string(one.step)});
}

std::string TestWriter::term(const std::vector<facts::AtomId> &product, std::int64_t factor) {
  std::string result;
  for (const facts::AtomId one : product)
    result = result.empty() ? atom(one) : wide("mul.lo.s64", {result, atom(one)});
  return factor == 1 ? result : wide("mul.lo.s64", {result, std::to_string(factor)});
}

std::string TestWriter::value(const facts::Polynomial &polynomial) {
  std::string sum;
  std::int64_t number = 0;
  for (const bool added : {true, false})
    for (const auto &[product, bits] : polynomial.terms()) {
      const auto factor = static_cast<std::int64_t>(bits);
      if (product.empty())
        number = factor;
      else if (added && factor != -1)
        sum = sum.empty() ? term(product, factor) : wide("add.s64", {sum, term(product, factor)});
      else if (!added && factor == -1)
        sum = wide("sub.s64", {sum.empty() ? "0" : sum, term(product, 1)});
    }
  if (sum.empty())
    return std::to_string(number);
  return number == 0 ? sum : wide("add.s64", {sum, std::to_string(number)});
}

std::string TestWriter::held(const std::string &operand) {
  return operand.starts_with('%') ? operand : wide("mov.b64", {operand});
}

std::string TestWriter::one(const facts::Condition &condition) {
  switch (condition.kind) {
  case facts::Condition::Kind::multiple: {
    const std::string rest =
        wide("and.b64", {value(condition.value), std::to_string(condition.of - 1)});
    return made("pred", "setp.eq.s64", {rest, "0"});
  }
  case facts::Condition::Kind::zero:
    return made("pred", "setp.eq.s64", {held(value(condition.value)), "0"});
  case facts::Condition::Kind::apart: {
    const bool stays = condition.way.is_zero();
    const std::string distance = held(value(condition.value));
    const std::string way = stays ? "" : held(value(condition.way));
    const auto limit = [&](const char *opcode, int bytes) {
      return stays ? std::to_string(bytes)
                   : wide("add.s64", {wide(opcode, {way, "0"}), std::to_string(bytes)});
    };
    const std::string behind = made(
        "pred", "setp.ge.s64", {distance, limit("max.s64", static_cast<int>(condition.stored))});
    const std::string before = made(
        "pred", "setp.le.s64", {distance, limit("min.s64", -static_cast<int>(condition.loaded))});
    return made("pred", "or.pred", {behind, before});
  }
  case facts::Condition::Kind::not_negative:
    break;
  }
  const auto found = condition.value.terms().find({});
  const std::int64_t number =
      found == condition.value.terms().end() ? 0 : static_cast<std::int64_t>(found->second);
  return made("pred", "setp.ge.s64",
              {value(condition.value - facts::Polynomial(number)), std::to_string(-number)});
}

} // namespace ptxasw::synth
