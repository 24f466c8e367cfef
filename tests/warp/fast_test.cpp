// Every instruction that has a fast function beside its line of the instruction tables: both
// compute the same from random words and from those at which something changes, for whole warps and
// for parts of one, of which no other lane is written.

#include "emulator/machine/warp_fast.h"
#include "emulator/semantics/concrete.h"
#include "support.h"

#include <doctest/doctest.h>

#include <array>
#include <fmt/core.h>
#include <random>
#include <set>

using namespace ptxasw;
using namespace ptxasw::test;

namespace {

using Row = std::array<std::uint64_t, 32>;

/// An instruction, with the classes of its registers: what it writes, then what it reads.
struct Spelled {
  std::string text, registers;
};

/// Those for integers: w stands for a register of the type's width, r for one of 32 bits, p for a
/// predicate.
constexpr std::pair<const char *, const char *> of_integers[] = {
    {"add", "www"},          {"sub", "www"},          {"mul.lo", "www"},
    {"mad.lo", "wwww"},      {"and", "www"},          {"or", "www"},
    {"xor", "www"},          {"not", "ww"},           {"neg", "ww"},
    {"shl", "wwr"},          {"shr", "wwr"},          {"min", "www"},
    {"max", "www"},          {"mov", "ww"},           {"selp", "wwwp"},
    {"setp.eq", "pww"},      {"setp.ne", "pww"},      {"setp.lt", "pww"},
    {"setp.le", "pww"},      {"setp.gt", "pww"},      {"setp.ge", "pww"},
    {"setp.eq.and", "pwwp"}, {"setp.ne.and", "pwwp"}, {"setp.lt.and", "pwwp"},
    {"setp.le.and", "pwwp"}, {"setp.gt.and", "pwwp"}, {"setp.ge.and", "pwwp"}};

/// All others, in full: r of 32 bits, d of 64, f of f32, g of f64.
const Spelled others[] = {
    {"add.f32", "fff"},        {"add.rn.f32", "fff"},    {"sub.f32", "fff"},
    {"sub.rn.f32", "fff"},     {"mul.f32", "fff"},       {"mul.rn.f32", "fff"},
    {"fma.rn.f32", "ffff"},    {"mov.f32", "ff"},        {"mov.f64", "gg"},
    {"selp.f32", "fffp"},      {"selp.f64", "gggp"},     {"mov.pred", "pp"},
    {"not.pred", "pp"},        {"and.pred", "ppp"},      {"or.pred", "ppp"},
    {"xor.pred", "ppp"},       {"cvt.u64.u32", "dr"},    {"cvt.s64.s32", "dr"},
    {"cvt.u32.u64", "rd"},     {"mul.wide.u32", "drr"},  {"mul.wide.s32", "drr"},
    {"mad.wide.u32", "drrd"},  {"mad.wide.s32", "drrd"}, {"cvta.to.global.u64", "dd"},
    {"cvta.global.u64", "dd"}, {"div.rn.f32", "fff"},    {"rcp.rn.f32", "ff"},
    {"sqrt.rn.f32", "ff"},     {"neg.f32", "ff"},        {"abs.f32", "ff"},
    {"min.f32", "fff"},        {"max.f32", "fff"},       {"setp.eq.f32", "pff"},
    {"setp.ne.f32", "pff"},    {"setp.lt.f32", "pff"},   {"setp.le.f32", "pff"},
    {"setp.gt.f32", "pff"},    {"setp.ge.f32", "pff"},   {"cvt.rn.f32.s32", "fr"},
    {"cvt.rn.f32.u32", "fr"},  {"add.f64", "ggg"},       {"add.rn.f64", "ggg"},
    {"sub.f64", "ggg"},        {"sub.rn.f64", "ggg"},    {"mul.f64", "ggg"},
    {"mul.rn.f64", "ggg"},     {"fma.rn.f64", "gggg"},   {"mul.hi.u32", "rrr"},
    {"mul.hi.s32", "rrr"}};

/// Those for which find_fast() may have a function: all types of the integers, as PTX allows them
/// (PTX ISA 9.7.1 to 9.7.8), and the others.
std::vector<Spelled> candidates() {
  std::vector<Spelled> list(std::begin(others), std::end(others));
  for (const auto &[word, registers] : of_integers)
    for (const char *type : {"b32", "u32", "s32", "b64", "u64", "s64"}) {
      std::string classes = registers;
      for (char &one : classes)
        one = one != 'w' ? one : std::string_view(type).ends_with("32") ? 'r' : 'd';
      list.push_back({fmt::format("{}.{}", word, type), classes});
    }
  return list;
}

/// A module with one of these instructions; its first instruction is it.
std::string module_with(const Spelled &spelled) {
  std::string operands;
  for (std::size_t i = 0; i < spelled.registers.size(); ++i)
    operands += fmt::format("{}%{}{}", i == 0 ? "" : ", ", spelled.registers[i], i);
  return fmt::format(".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n"
                     ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>; .reg .f64 %g<4>;\n"
                     ".reg .pred %p<4>;\n{} {};\nret;\n}}\n",
                     spelled.text, operands);
}

unsigned width_of(char register_class) {
  return register_class == 'p' ? 1 : register_class == 'r' || register_class == 'f' ? 32 : 64;
}

/// Zeros, ones, limits of every type, shifts at the widths, infinities and NaNs, denormals; and
/// random words.
std::uint64_t word(std::mt19937_64 &random, unsigned width) {
  static constexpr std::uint64_t special[] = {0,
                                              1,
                                              2,
                                              31,
                                              32,
                                              33,
                                              63,
                                              64,
                                              65,
                                              0x7fffffff,
                                              0x80000000,
                                              0xffffffff,
                                              0x100000000,
                                              0x7fffffffffffffff,
                                              0x8000000000000000,
                                              ~std::uint64_t{0},
                                              0x7f800000,
                                              0xff800000,
                                              0x7fc00000,
                                              0xffc12345,
                                              0x7f800001,
                                              0x00000001,
                                              0x807fffff,
                                              0x00800000,
                                              0x3f800000,
                                              0x7f7fffff,
                                              0x7ff0000000000000,
                                              0xfff0000000000000,
                                              0x7ff8000000000001,
                                              0xfff0000000012345,
                                              0x000fffffffffffff,
                                              0x0010000000000000,
                                              0x3ff0000000000000,
                                              0xbff0000000000000};
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const std::uint64_t drawn = random();
  return (random() % 3 == 0 ? special[drawn % std::size(special)] : drawn) & mask;
}

/// What the tables say for one lane.
std::uint64_t by_table(const WarpInstruction &in, const std::vector<Row> &sources, unsigned lane) {
  ConcreteDomain domain;
  std::vector<ConcreteDomain::Value> arguments;
  for (std::size_t i = 0; i < sources.size(); ++i)
    arguments.push_back({{sources[i][lane]}, in.input_widths[i]});
  const Args<ConcreteDomain> list{arguments.data(), arguments.size()};
  return (in.is_float ? in.float_line->evaluate(domain, in.form, list)
                      : in.integer_line->evaluate(domain, in.form.form, list))
      .bits.low;
}

/// Compares both on a warp of random words.
void compare(const WarpInstruction &in, const std::string &registers, std::mt19937_64 &random) {
  std::vector<Row> sources(registers.size() - 1);
  for (std::size_t i = 0; i < sources.size(); ++i)
    for (std::uint64_t &one : sources[i])
      one = word(random, width_of(registers[i + 1]));
  const std::uint32_t lanes = random() % 2 == 0 ? ~std::uint32_t{0} : std::uint32_t(random());
  constexpr std::uint64_t untouched = 0x5555555555555555;
  Row result;
  result.fill(untouched);
  const auto row = [&](std::size_t i) { return i < sources.size() ? sources[i].data() : nullptr; };
  in.fast(result.data(), row(0), row(1), row(2), lanes);
  for (unsigned lane = 0; lane < 32; ++lane) {
    const bool active = (lanes >> lane & 1) != 0;
    CAPTURE(lane);
    REQUIRE(result[lane] == (active ? by_table(in, sources, lane) : untouched));
  }
}

} // namespace

TEST_CASE("every fast function computes what its line of the tables says") {
  std::mt19937_64 random(34);
  std::set<std::string> with_function;
  std::set<FastFunction> functions;
  for (const Spelled &spelled : candidates()) {
    CAPTURE(spelled.text);
    const auto module = parse_module(module_with(spelled));
    const WarpProgram program(*module);
    const WarpInstruction &in = program.function(0).code.at(0);
    if (!in.fast)
      continue; // no such type of this instruction
    with_function.insert(spelled.text);
    functions.insert(in.fast);
    REQUIRE((in.integer_line != nullptr || in.float_line != nullptr));
    for (unsigned i = 0; i < 300; ++i)
      compare(in, spelled.registers, random);
  }
  // So nothing of the lists above has been renamed, and nothing was left out by a typing error.
  for (const Spelled &spelled : others)
    CHECK_MESSAGE(with_function.contains(spelled.text), spelled.text);
  for (const auto &[opcode, registers] : of_integers) {
    const std::string name(opcode); // clang 14 captures no binding
    CHECK_MESSAGE(std::any_of(with_function.begin(), with_function.end(),
                              [word = name + "."](const std::string &text) {
                                return text.starts_with(word);
                              }),
                  name);
  }
  MESSAGE(with_function.size() << " instructions, " << functions.size() << " functions");
}
