#include "table.h"

#include "support.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

namespace ptxasw::emulator_test {
namespace {

constexpr std::string_view comparisons[] = {"eq", "ne", "lt", "le", "gt",
                                            "ge", "lo", "ls", "hi", "hs"};

bool is_type(std::string_view word) { return scalar_type(word) != ScalarType::none; }

/// Bits have only equality, signed numbers no `lo`.
bool comparable(std::string_view type, std::string_view comparison) {
  if (comparison.empty() || comparison == "eq" || comparison == "ne")
    return true;
  const bool unsigned_only = comparison[0] == 'h' || comparison == "lo" || comparison == "ls";
  return type[0] != 'b' && !(unsigned_only && type[0] == 's');
}

void spell(const Line<ConcreteDomain> &line, std::size_t index, std::vector<Spelling> &result) {
  std::vector<std::string> before, seconds{""}, compare{""}, spaces{""};
  const bool compares = line.base == "set" || line.base == "setp" ||
                        line.base.starts_with("vset"); // `hi` also halves a product
  bool second_chosen = false, compare_chosen = false, spaces_chosen = false;
  std::string after;
  const auto add = [](std::vector<std::string> &list, bool &chosen, const std::string &word) {
    if (!chosen)
      list.clear();
    chosen = true;
    list.push_back(word);
  };
  for (const std::string &word : words(line.modifiers)) {
    const bool required = word[0] == '+';
    const std::string name = word.substr(required);
    if (is_type(name) && required && line.base == "cvt") // cvt.pack's, behind its type
      after += after.empty() ? name : "." + name;
    else if (is_type(name))
      add(seconds, second_chosen, name);
    else if (compares && std::find(std::begin(comparisons), std::end(comparisons), name) !=
                             std::end(comparisons))
      add(compare, compare_chosen, name);
    else if (!required && line.base[0] == 'v') // at most one of what a video instruction may have
      spaces.push_back(name);
    else if (!required) // the spaces of cvta, after an optional `to`
      add(spaces, spaces_chosen, name == "to" ? "to.global" : name);
    else if (line.base == "prmt")
      after = name;
    else
      before.push_back(name);
  }
  for (const std::string &type : words(line.types))
    for (const std::string &second : seconds)
      for (const std::string &comparison : compare)
        for (const std::string &space : spaces) {
          if (!comparable(second.empty() ? type : second, comparison))
            continue;
          Spelling s{std::string(line.base), std::string(line.base), before, type, second, index};
          // The comparison stands before the operator that combines it.
          if (!comparison.empty())
            s.modifiers.insert(s.modifiers.begin(), comparison);
          if (!space.empty())
            s.modifiers.push_back(space);
          for (const std::string &modifier : s.modifiers)
            s.text += '.' + modifier;
          s.text += '.' + type;
          if (!second.empty())
            s.text += '.' + second;
          if (!after.empty()) {
            s.text += '.' + after;
            s.modifiers.push_back(after);
          }
          result.push_back(std::move(s));
        }
}

} // namespace

std::vector<std::string> words(std::string_view list) {
  std::vector<std::string> result;
  while (!list.empty()) {
    const std::size_t blank = std::min(list.find(' '), list.size());
    if (blank > 0)
      result.emplace_back(list.substr(0, blank));
    list.remove_prefix(std::min(blank + 1, list.size()));
  }
  return result;
}

bool Spelling::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

const std::vector<Spelling> &spellings() {
  static std::unique_ptr<Module> module;
  static const std::vector<Spelling> all = [] {
    std::vector<Spelling> result;
    const auto table = instruction_table<ConcreteDomain>();
    for (std::size_t i = 0; i < table.size(); ++i)
      spell(table[i], i, result);
    std::string text = ".version 8.7\n.target sm_90\n.address_size 64\n.entry k() {\n"
                       ".reg .b32 %r<2>;\n";
    for (const Spelling &s : result)
      text += s.text + " %r0, %r1;\n";
    auto parsed = parse(text + "ret;\n}\n", "spellings");
    module = std::move(*parsed);
    const auto &instructions = module->functions[0].instructions;
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i].opcode = &module->opcode(instructions[i]);
    return result;
  }();
  return all;
}

std::vector<ConcreteDomain::Value> random_operands(const Spelling &spelling, const Form &form,
                                                   Random &random) {
  std::vector<ConcreteDomain::Value> result;
  const auto shape = instruction_table<ConcreteDomain>()[spelling.line].shape;
  for (const char letter : shape.substr(2)) {
    const unsigned width = shape_width(letter, form);
    Bits bits = random.bits(width);
    if (width == 32 && random.one_in(3)) // amounts, positions, selectors
      bits = random.one_in(4) ? bits::sub({}, {random.below(40)}, width) : Bits{random.below(80)};
    // Operands that agree except for one bit.
    if (!result.empty() && result[0].width == width && random.one_in(6))
      bits = random.one_in(2) ? result[0].bits : bits::add(result[0].bits, {1}, width);
    result.push_back({bits, width});
  }
  return result;
}

} // namespace ptxasw::emulator_test
