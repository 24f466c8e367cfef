// Every instruction that has a fast function beside its line of the instruction tables: both
// compute the same from random words and from those at which something changes, for whole warps and
// for parts of one, of which no other lane is written. So does each engine where numbers stand in
// place of registers.

#include "emulator/machine/warp_fast.h"
#include "emulator/semantics/concrete.h"
#include "emulator/translate/translator.h"
#include "support.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/core.h>
#include <random>
#include <set>

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

/// A number in place of an operand of 32 or 64 bits, and what it is worth in 64.
struct Number {
  const char *text;
  std::uint64_t value;
};
constexpr Number numbers[] = {{"-1", ~std::uint64_t{0}},
                              {"0xffffffff", 0xffffffff},
                              {"0x80000000", 0x80000000},
                              {"-2147483648", 0xffffffff80000000},
                              {"31", 31},
                              {"32", 32},
                              {"33", 33}};

std::string written(const Number &number, char register_class) {
  if (register_class == 'f')
    return fmt::format("0f{:08x}", static_cast<std::uint32_t>(number.value));
  return register_class == 'g' ? fmt::format("0d{:016x}", number.value) : number.text;
}

/// An instruction in which a number stands for some operands.
struct WithNumber {
  std::uint32_t line = 0; ///< in the text
  std::uint64_t value = 0;
  std::vector<bool> replaced; ///< by operand that is read
  bool partly = false;        ///< under a guard
};

constexpr std::uint32_t guarded_lanes = 0x5a3c0ff1;
constexpr std::uint64_t row_bytes = 32 * 8;

/// A kernel that executes one in all such ways: each operand is a number, and all of them are. Rows
/// of its buffer are the operands, then the results.
std::pair<std::string, std::vector<WithNumber>> kernel_with_numbers(const Spelled &spelled) {
  std::string text = fmt::format(
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 buffer)\n{{\n"
      ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>; .reg .f64 %g<4>; .reg .pred %p<4>, %q;\n"
      ".reg .b32 %s; .reg .b64 %x, %at;\n"
      "ld.param.u64 %at, [buffer];\nmov.u32 %s, %laneid;\nmul.wide.u32 %x, %s, 8;\n"
      "add.u64 %at, %at, %x;\nshr.u32 %s, {}, %s;\nand.b32 %s, %s, 1;\n"
      "setp.ne.u32 %q, %s, 0;\n",
      guarded_lanes);
  const std::string &classes = spelled.registers;
  for (std::size_t i = 1; i < classes.size(); ++i)
    text += classes[i] == 'p'
                ? fmt::format("ld.global.u64 %x, [%at+{}];\nsetp.ne.u64 %p{}, %x, 0;\n",
                              (i - 1) * row_bytes, i)
                : fmt::format("ld.global.b{} %{}{}, [%at+{}];\n", width_of(classes[i]), classes[i],
                              i, (i - 1) * row_bytes);
  std::vector<WithNumber> all;
  const auto add = [&](const std::vector<bool> &replaced, const Number &number, bool partly) {
    const char to = classes[0];
    text += to == 'p' ? "setp.eq.u64 %p0, 0, 0;\n"
                      : fmt::format("mov.b{0} %{1}0, {2};\n", width_of(to), to,
                                    to == 'f'   ? "0f00000001"
                                    : to == 'g' ? "0d0000000000000001"
                                                : "1");
    all.push_back({static_cast<std::uint32_t>(1 + std::count(text.begin(), text.end(), '\n')),
                   number.value, replaced, partly});
    text += fmt::format("{}{} %{}0", partly ? "@%q " : "", spelled.text, to);
    for (std::size_t i = 1; i < classes.size(); ++i)
      text += ", " +
              (replaced[i - 1] ? written(number, classes[i]) : fmt::format("%{}{}", classes[i], i));
    text += ";\n" + (to == 'p' ? std::string("selp.u64 %x, 1, 0, %p0;\n")
                     : width_of(to) == 64
                         ? fmt::format("mov.b64 %x, %{}0;\n", to)
                         : fmt::format("mov.b32 %s, %{}0;\ncvt.u64.u32 %x, %s;\n", to));
    text +=
        fmt::format("st.global.u64 [%at+{}], %x;\n", (classes.size() - 2 + all.size()) * row_bytes);
  };
  for (std::size_t i = 1; i <= classes.size(); ++i) {
    std::vector<bool> replaced;
    for (std::size_t j = 1; j < classes.size(); ++j)
      replaced.push_back(classes[j] != 'p' && (i == j || i == classes.size()));
    if (std::find(replaced.begin(), replaced.end(), true) != replaced.end())
      for (const Number &number : numbers)
        for (const bool partly : {false, true})
          add(replaced, number, partly);
  }
  return {text + "ret;\n}\n", all};
}

/// Runs such a kernel with an engine, and compares with the tables. How many instructions had a
/// fast function.
std::size_t compare_numbers(const Spelled &spelled, Engine engine, std::mt19937_64 &random) {
  const auto [text, all] = kernel_with_numbers(spelled);
  const auto module = parse_module(text);
  static_cast<void>(choose_engine(engine));
  const WarpProgram program(*module);
  const std::string classes = spelled.registers.substr(1);
  std::vector<Row> sources(classes.size()), results(all.size());
  for (std::size_t i = 0; i < classes.size(); ++i)
    for (std::uint64_t &one : sources[i])
      one = word(random, width_of(classes[i]));
  GlobalMemory memory;
  const std::size_t index = memory.allocate("buffer", (sources.size() + all.size()) * row_bytes,
                                            GlobalMemory::Fill::zeros, 0);
  const std::uint64_t base = memory.allocations()[index].base;
  memory.write(
      base, {reinterpret_cast<const std::uint8_t *>(sources.data()), sources.size() * row_bytes});
  WarpLaunch launch;
  launch.block[0] = 32;
  launch.parameters.resize(8);
  std::memcpy(launch.parameters.data(), &base, 8);
  const WarpOutcome outcome = run_kernel(program, *program.find_kernel("k"), launch, memory, {});
  if (outcome.fault)
    FAIL(format(*outcome.fault));
  memory.read(base + sources.size() * row_bytes,
              {reinterpret_cast<std::uint8_t *>(results.data()), all.size() * row_bytes});
  std::size_t fast = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto &code = program.function(0).code;
    const auto in =
        std::find_if(code.begin(), code.end(), [&, line = all[i].line](const WarpInstruction &one) {
          return one.line == line;
        });
    REQUIRE(in != code.end());
    fast += in->fast != nullptr;
    std::vector<Row> operands = sources;
    for (std::size_t j = 0; j < operands.size(); ++j)
      if (all[i].replaced[j])
        operands[j].fill(width_of(classes[j]) == 64 ? all[i].value : all[i].value & 0xffffffff);
    for (unsigned lane = 0; lane < 32; ++lane) {
      const bool active = !all[i].partly || (guarded_lanes >> lane & 1) != 0;
      const std::uint32_t line = all[i].line; // clang 14 lets no lambda have a structured binding
      CAPTURE(line);
      CAPTURE(lane);
      REQUIRE(results[i][lane] == (active ? by_table(*in, operands, lane) : 1));
    }
  }
  return fast;
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

/// Of so many instructions one is translated: of 1, unless the environment asks for a sample.
std::size_t translated_stride() {
  const char *value = std::getenv("PTXASW_TRANSLATED_STRIDE");
  return value ? std::max(std::strtoul(value, nullptr, 10), 1UL) : 1;
}

/// For one of each `stride` instructions; how many have a fast function.
std::size_t compare_numbers(Engine engine, std::size_t stride) {
  std::mt19937_64 random(35);
  std::size_t fast = 0, number = 0;
  for (const Spelled &spelled : candidates()) {
    if (spelled.registers.find_first_not_of('p') == std::string::npos ||
        !WarpProgram(*parse_module(module_with(spelled))).function(0).code.at(0).fast ||
        number++ % stride != 0)
      continue;
    CAPTURE(spelled.text);
    fast += compare_numbers(spelled, engine, random);
  }
  return fast;
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

TEST_CASE("numbers in place of registers are as wide as the operand") {
  CHECK(compare_numbers(Engine::interpreter, 1) > 1'000);
}

TEST_CASE("translated numbers in place of registers are as wide as the operand") {
  if (choose_engine(Engine::translated))
    CHECK(compare_numbers(Engine::translated, translated_stride()) * translated_stride() > 1'000);
  static_cast<void>(choose_engine(Engine::automatic));
}
