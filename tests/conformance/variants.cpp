#include "variants.h"

#include "emulator/semantics/concrete.h"
#include "grammar/module.h"
#include "tests/emulator/table.h"

#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace ptxasw::conformance {
namespace {

using Kind = OperandKind;
using emulator_test::words;

constexpr unsigned many_sets = 1024; ///< for what is approximate

Kind kind_of(ScalarType type) {
  switch (type) {
  case ScalarType::pred:
    return Kind::flag;
  case ScalarType::f16:
    return Kind::f16;
  case ScalarType::bf16:
    return Kind::bf16;
  case ScalarType::f16x2:
    return Kind::f16x2;
  case ScalarType::bf16x2:
    return Kind::bf16x2;
  case ScalarType::f32:
  case ScalarType::tf32:
    return Kind::f32;
  case ScalarType::f64:
    return Kind::f64;
  case ScalarType::e4m3x2:
    return Kind::e4m3x2;
  case ScalarType::e5m2x2:
    return Kind::e5m2x2;
  default:
    break;
  }
  switch (bit_width(type)) {
  case 8:
    return Kind::b8;
  case 16:
    return Kind::b16;
  case 64:
    return Kind::b64;
  default:
    return Kind::b32;
  }
}

class Collector {
public:
  void add(Variant variant) {
    if (names_.insert(variant.name).second)
      list_.push_back(std::move(variant));
  }
  std::vector<Variant> take() { return std::move(list_); }

private:
  std::set<std::string> names_;
  std::vector<Variant> list_;
};

/// Registers of 8 bits do not exist: such results are examined in 32 bits, extension included.
unsigned register_width(unsigned width) { return width == 8 ? 32 : width; }

/// `opcode %d0, %a0, ...` by a shape of the table, with the carry flag set before and read after.
Variant by_shape(const std::string &text, std::string_view base, std::string_view shape,
                 const Form &form, const std::vector<std::string> &constants = {}) {
  Variant v;
  v.name = text;
  for (const std::string &constant : constants)
    v.name += " " + constant;
  const bool subtracts = base.starts_with("sub");
  std::string arguments, before, after;
  const unsigned width = shape_width(shape[0], form) - (shape[0] == 'K');
  const bool is_flag = shape[0] == 'P' || (shape[0] == 'T' && form.type == ScalarType::pred);
  v.results.push_back({is_flag ? 1 : register_width(width)});
  const bool amounts = base == "shl" || base == "shr" || base == "shf" || base == "bfe" ||
                       base == "bfi" || base == "szext";
  const std::string_view operands = shape.substr(2);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands.size() - i <= constants.size()) {
      arguments += ", " + constants[constants.size() - (operands.size() - i)];
      continue;
    }
    Kind kind;
    switch (operands[i]) {
    case 'T':
      kind = base == "bmsk" ? Kind::amount : kind_of(form.type);
      break;
    case 'S':
      kind = kind_of(form.source_type);
      break;
    case 'W':
      kind = Kind::b64;
      if (form.width == 16)
        kind = Kind::b32;
      break;
    case 'U':
      kind = amounts && (i > 0) && !(base == "shf" && i == 1) ? Kind::amount : Kind::b32;
      if (base == "bfi" && i == 1)
        kind = kind_of(form.type);
      if (base == "slct")
        kind = form.source_type == ScalarType::f32 ? Kind::f32 : Kind::b32;
      break;
    default:
      kind = Kind::flag;
    }
    v.operands.push_back(kind);
    if (operands[i] == 'C')
      before = subtracts ? fmt::format("sub.cc.u32 %x0, 0, %c{};\n", i)
                         : fmt::format("add.cc.u32 %x0, %c{}, 0xffffffff;\n", i);
    else
      arguments += fmt::format(", %a{}", i);
  }
  if (shape[0] == 'K') {
    after = fmt::format("{} %d1, 0, 0;\n", subtracts ? "subc.u32" : "addc.u32");
    v.results.push_back({32});
  }
  v.body = fmt::format("{}{} %d0{};\n{}", before, text, arguments, after);
  return v;
}

void add_integers(Collector &to) {
  const auto table = instruction_table<ConcreteDomain>();
  for (const emulator_test::Spelling &s : emulator_test::spellings()) {
    // Where addresses lie does not matter; no result of 128 bits; add_video() has the rest, and
    // add_movement() fns, whose base must be a bit's number.
    if (s.base == "cvta" || s.base == "fns" || s.type == "b128" || s.base[0] == 'v')
      continue;
    const Form form = decode(*s.opcode);
    if (s.base == "lop3" && (s.has("and") || s.has("or")))
      continue; // with two results: add_movement()
    if (s.base != "lop3") {
      to.add(by_shape(s.text, s.base, table[s.line].shape, form));
      continue;
    }
    for (const unsigned table_number : {0x00, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1e,
                                        0x3c, 0x5a, 0x96, 0xca, 0xe8, 0xfe, 0xff})
      to.add(by_shape(s.text, s.base, table[s.line].shape, form,
                      {fmt::format("{:#04x}", table_number)}));
  }
}

/// Alternatives of which an opcode has one, in the order in which PTX writes them. An empty word is
/// the choice to have none.
using Choices = std::vector<std::vector<std::string>>;

void product(const Choices &choices, std::size_t at, const std::string &text,
             std::vector<std::string> &result) {
  if (at == choices.size()) {
    result.push_back(text);
    return;
  }
  for (const std::string &word : choices[at])
    product(choices, at + 1, word.empty() ? text : text + "." + word, result);
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// All spellings of a line of the floating-point table.
std::vector<std::string> spell(const FloatLine<ConcreteDomain> &line) {
  std::vector<std::string> comparison{""}, boolean{""}, rounding{""}, flush{""}, saturate{""},
      relu{""}, nan{""}, sign{""}, second{""}, property{""};
  const bool compares = line.base == "set" || line.base == "setp";
  for (const std::string &word : words(line.modifiers)) {
    const bool required = word[0] == '+';
    const std::string name = word.substr(required);
    const auto put = [&](std::vector<std::string> &list, const std::string &text) {
      if (list[0].empty() &&
          (required || &list == &second || &list == &comparison || &list == &property))
        list.clear();
      list.push_back(text);
    };
    if (scalar_type(name) != ScalarType::none)
      put(second, name);
    else if (is_one_of(name, {"and", "or", "xor"}))
      put(boolean, name);
    else if (is_one_of(name, {"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi", "approx",
                              "full"}))
      put(rounding, name);
    else if (name == "ftz")
      put(flush, name);
    else if (name == "sat" || name == "satfinite")
      put(saturate, name);
    else if (name == "relu")
      put(relu, name);
    else if (name == "NaN")
      put(nan, name);
    else if (name == "xorsign")
      put(sign, "xorsign.abs");
    else if (name == "abs")
      continue;
    else if (compares)
      put(comparison, name);
    else
      put(property, name);
  }
  std::vector<std::string> result;
  // setp compares in its one type; the other types of the list are set's sources.
  if (line.base == "setp")
    second = {""};
  product({{std::string(line.base)},
           property,
           comparison,
           boolean,
           rounding,
           flush,
           saturate,
           relu,
           nan,
           sign,
           words(line.types),
           second},
          0, "", result);
  for (std::string &text : result)
    text.erase(0, 1);
  return result;
}

bool is_approximate(const Opcode &opcode) { return opcode.has("approx") || opcode.has("full"); }

void add_reals(Collector &to) {
  std::vector<std::string> texts;
  for (const auto &line : float_instruction_table<ConcreteDomain>())
    for (std::string &text : spell(line))
      texts.push_back(std::move(text));
  std::string module_text = ".version 8.7\n.target sm_90\n.address_size 64\n.entry k() {\n"
                            ".reg .b32 %r<2>;\n";
  for (const std::string &text : texts)
    module_text += text + " %r0, %r1;\n";
  const auto parsed = parse(module_text + "ret;\n}\n", "spellings");
  const Module &module = **parsed;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Opcode &opcode = module.opcode(module.functions[0].instructions[i]);
    if (find_line<ConcreteDomain>(opcode))
      continue; // an integer one
    const auto *line = find_float_line<ConcreteDomain>(opcode);
    if (!line)
      continue;
    Form form = decode(opcode);
    Variant v = by_shape(texts[i], line->base, line->shape, form);
    if (is_approximate(opcode)) {
      v.sets = many_sets;
      if (is_one_of(opcode.base, {"sin", "cos"}))
        v.operands = {Kind::angle};
    }
    to.add(std::move(v));
  }
}

void add_pairs_of_predicates(Collector &to) {
  static constexpr std::string_view booleans[] = {"", ".and", ".or", ".xor"};
  for (const char *type :
       {"s32", "u32", "b32", "u16", "s16", "b64", "u64", "s64", "f32", "f64", "f16", "bf16"})
    for (const char *comparison : {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs",
                                   "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"})
      for (const std::string_view boolean : booleans) {
        const Kind kind = kind_of(scalar_type(type));
        const std::string opcode = fmt::format("setp.{}{}.{}", comparison, boolean, type);
        Variant v;
        v.results = {{1}, {1}};
        v.operands = {kind, kind};
        if (boolean.empty()) {
          v.name = opcode + " p|q";
          v.body = opcode + " %d0|%d1, %a0, %a1;\n";
        } else {
          v.operands.push_back(Kind::flag);
          v.name = opcode + " p|q !c";
          v.body = opcode + " %d0|%d1, %a0, %a1, !%a2;\n";
        }
        to.add(std::move(v));
      }
  for (const char *type : {"f16x2", "bf16x2"})
    for (const char *comparison : {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu",
                                   "gtu", "geu", "num", "nan"})
      for (const char *flush : {"", ".ftz"})
        for (const std::string_view boolean : booleans) {
          const Kind kind = kind_of(scalar_type(type));
          const std::string opcode =
              fmt::format("setp.{}{}{}.{}", comparison, boolean, flush, type);
          Variant v;
          v.results = {{1}, {1}};
          v.operands = {kind, kind};
          if (!boolean.empty())
            v.operands.push_back(Kind::flag);
          v.name = opcode + " p|q";
          v.body = opcode + " %d0|%d1, %a0, %a1" + (boolean.empty() ? ";\n" : ", %a2;\n");
          to.add(std::move(v));
        }
}

/// set with a boolean operand, and into the packed and half types.
void add_sets(Collector &to) {
  for (const char *result : {"u32", "s32", "f32"})
    for (const char *type : {"s32", "u16", "b64", "f32", "f64", "f16"})
      for (const char *comparison : {"eq", "ne", "lt", "ge", "hs", "geu", "nan"})
        for (const char *boolean : {"and", "or", "xor"}) {
          const Kind kind = kind_of(scalar_type(type));
          const std::string opcode =
              fmt::format("set.{}.{}.{}.{}", comparison, boolean, result, type);
          to.add({opcode, {kind, kind, Kind::flag}, {{32}}, opcode + " %d0, %a0, %a1, %a2;\n"});
          to.add({opcode + " !c",
                  {kind, kind, Kind::flag},
                  {{32}},
                  opcode + " %d0, %a0, %a1, !%a2;\n"});
        }
  for (const char *type : {"f16", "bf16", "f16x2", "bf16x2"})
    for (const char *result : {type, "u16", "s16", "u32", "s32"})
      for (const char *comparison : {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu",
                                     "gtu", "geu", "num", "nan"})
        for (const char *flush : {"", ".ftz"}) {
          const Kind kind = kind_of(scalar_type(type));
          const std::string opcode = fmt::format("set.{}{}.{}.{}", comparison, flush, result, type);
          to.add({opcode,
                  {kind, kind},
                  {{bit_width(scalar_type(result))}},
                  opcode + " %d0, %a0, %a1;\n"});
        }
}

void add_carries(Collector &to) {
  // Borrows read as carries and vice versa.
  for (const char *first : {"add.cc.u32", "sub.cc.u32", "add.cc.s32", "sub.cc.s32"})
    for (const char *second : {"addc.u32", "subc.u32", "madc.lo.u32", "madc.hi.s32"}) {
      const bool three = second[0] == 'm';
      to.add({fmt::format("{} {}", first, second),
              {Kind::b32, Kind::b32, Kind::b32},
              {{32}, {32}},
              fmt::format("{} %d0, %a0, %a1;\n{} %d1, %a2, {};\n", first, second,
                          three ? "%a0, 5" : "7")});
    }
  // A 128-bit sum and difference, and a flag that survives what does not touch it.
  for (const char *operation : {"add", "sub"})
    to.add({fmt::format("{} of 128 bits", operation),
            {Kind::b64, Kind::b64, Kind::b64, Kind::b64},
            {{64}, {64}, {32}},
            fmt::format("{0}.cc.u64 %d0, %a0, %a2;\nmul.lo.u64 %y0, %a0, %a1;\n"
                        "{0}c.cc.u64 %d1, %a1, %a3;\n{0}c.u32 %d2, 0, 0;\n",
                        operation)});
}

void add_movement(Collector &to) {
  to.add({"mov.b32 {h, h}", {Kind::b32}, {{16}, {16}}, "mov.b32 {%d0, %d1}, %a0;\n"});
  to.add({"mov.b64 {w, w}", {Kind::b64}, {{32}, {32}}, "mov.b64 {%d0, %d1}, %a0;\n"});
  to.add({"mov.b64 {h, h, h, h}",
          {Kind::b64},
          {{16}, {16}, {16}, {16}},
          "mov.b64 {%d0, %d1, %d2, %d3}, %a0;\n"});
  to.add({"mov.b32 r, {h, h}", {Kind::b16, Kind::b16}, {{32}}, "mov.b32 %d0, {%a0, %a1};\n"});
  to.add({"mov.b64 r, {w, w}", {Kind::b32, Kind::b32}, {{64}}, "mov.b64 %d0, {%a0, %a1};\n"});
  to.add({"mov.b64 r, {h, h, h, h}",
          {Kind::b16, Kind::b16, Kind::b16, Kind::b16},
          {{64}},
          "mov.b64 %d0, {%a0, %a1, %a2, %a3};\n"});
  to.add({"mov.b64 {_, w}", {Kind::b64}, {{32}}, "mov.b64 {_, %d0}, %a0;\n"});
  to.add({"mov.b128",
          {Kind::b64, Kind::b64},
          {{64}, {64}},
          "{.reg .b128 %q, %r;\nmov.b128 %q, {%a0, %a1};\nmov.b128 %r, %q;\n"
          "mov.b128 {%d0, %d1}, %r;}\n"});
  for (const char *type : {"s8", "s16", "u8", "u16"})
    for (const char *from : {"s32", "u64", "f32", "f64", "f16"})
      for (const char *mode : {"", ".rni", ".rzi", ".sat", ".rzi.sat"}) {
        const std::string opcode = fmt::format("cvt{}.{}.{}", mode, type, from);
        to.add({opcode + " to 32 bits",
                {kind_of(scalar_type(from))},
                {{32}},
                opcode + " %d0, %a0;\n"});
        to.add({opcode + " to 64 bits",
                {kind_of(scalar_type(from))},
                {{64}},
                opcode + " %d0, %a0;\n"});
      }
  // Narrower types read the low bits of a wider register.
  for (const char *opcode : {"cvt.u32.u8", "cvt.s32.s8", "cvt.s64.s8", "cvt.u64.u16", "cvt.s32.s16",
                             "cvt.rn.f32.u8", "cvt.rn.f32.s8", "cvt.rn.f64.s16"}) {
    const bool wide = std::string_view(opcode).find("64") != std::string_view::npos;
    to.add({std::string(opcode) + " of 32 bits",
            {Kind::b32},
            {{wide ? 64u : 32u}},
            std::string(opcode) + " %d0, %a0;\n"});
  }
  for (const char *to_type : {"u8", "s8", "u4", "s4", "u2", "s2", "u16", "s16"}) {
    const bool three = std::string_view(to_type).size() == 2;
    const std::string opcode = fmt::format("cvt.pack.sat.{}.s32{}", to_type, three ? ".b32" : "");
    to.add({opcode,
            {Kind::b32, Kind::b32, Kind::b32},
            {{32}},
            opcode + (three ? " %d0, %a0, %a1, %a2;\n" : " %d0, %a0, %a1;\n")});
  }
  for (const char *mode : {"lop3.or.b32", "lop3.and.b32"})
    to.add({std::string(mode) + " d|p",
            {Kind::b32, Kind::b32, Kind::b32, Kind::flag},
            {{32}, {1}},
            std::string(mode) + " %d0|%d1, %a0, %a1, %a2, 0x96, %a3;\n"});
  to.add({"fns.b32",
          {Kind::b32, Kind::amount, Kind::amount},
          {{32}},
          "and.b32 %x0, %a1, 31;\nand.b32 %x1, %a2, 7;\nfns.b32 %d0, %a0, %x0, %x1;\n"});
  for (const char *type : {"u16x2", "s16x2"})
    for (const char *opcode : {"min", "max", "min.relu", "max.relu", "add", "add.sat", "sub"}) {
      const std::string text = fmt::format("{}.{}", opcode, type);
      to.add({text, {Kind::b32, Kind::b32}, {{32}}, text + " %d0, %a0, %a1;\n"});
    }
  for (const char *text :
       {"ex2.approx.f16x2", "tanh.approx.f16x2", "ex2.approx.ftz.bf16x2", "tanh.approx.bf16x2"}) {
    const bool brain = std::string_view(text).find("bf16") != std::string_view::npos;
    to.add({text,
            {brain ? Kind::bf16x2 : Kind::f16x2},
            {{32}},
            fmt::format("{} %d0, %a0;\n", text),
            many_sets});
  }
  for (const char *text : {"cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.e5m2x2.f32",
                           "cvt.rn.satfinite.relu.e4m3x2.f32", "cvt.rn.satfinite.relu.e5m2x2.f32"})
    to.add({text, {Kind::f32, Kind::f32}, {{16}}, fmt::format("{} %d0, %a0, %a1;\n", text)});
  for (const char *text : {"cvt.rn.satfinite.e4m3x2.f16x2", "cvt.rn.satfinite.e5m2x2.f16x2",
                           "cvt.rn.satfinite.relu.e4m3x2.f16x2"})
    to.add({text, {Kind::f16x2}, {{16}}, fmt::format("{} %d0, %a0;\n", text)});
  for (const char *text : {"cvt.rn.f16x2.e4m3x2", "cvt.rn.relu.f16x2.e4m3x2"})
    to.add({text, {Kind::e4m3x2}, {{32}}, fmt::format("{} %d0, %a0;\n", text)});
  for (const char *text : {"cvt.rn.f16x2.e5m2x2", "cvt.rn.relu.f16x2.e5m2x2"})
    to.add({text, {Kind::e5m2x2}, {{32}}, fmt::format("{} %d0, %a0;\n", text)});
}

/// Loads and stores of every width, vectors of them, in three spaces.
void add_memory(Collector &to) {
  for (const char *space : {"global", "shared", "local"}) {
    const std::string_view place = space;
    const std::string cell = place == "global" ? "%out" : place == "shared" ? "%cell" : "%local";
    for (const char *type : {"b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "b64",
                             "u64", "s64", "f32", "f64"}) {
      const ScalarType scalar = scalar_type(type);
      for (const unsigned wide : {16u, 32u, 64u}) {
        if (wide < bit_width(scalar))
          continue;
        // The whole cell first, so that a load that reads too much is seen.
        to.add(
            {fmt::format("ld.{}.{} to {} bits", space, type, wide),
             {Kind::b64},
             {{wide}},
             fmt::format("st.{0}.b64 [{1}], %a0;\nld.{0}.{2} %d0, [{1}];\n", space, cell, type)});
      }
      if (bit_width(scalar) <= 32 && !is_float(scalar))
        to.add({fmt::format("st.{}.{} of 32 bits", space, type),
                {Kind::b64, Kind::b32},
                {{64}},
                fmt::format("st.{0}.b64 [{1}], %a0;\nst.{0}.{2} [{1}], %a1;\n"
                            "ld.{0}.b64 %d0, [{1}];\n",
                            space, cell, type)});
    }
    for (const char *type : {"b8", "s8", "b16", "s16", "b32", "f32"})
      for (const unsigned count : {2u, 4u}) {
        const unsigned bits = bit_width(scalar_type(type));
        if (place == "global" && bits * count > 64)
          continue; // results are 8 bytes apart
        const unsigned reg = std::max(bits, 16u);
        Variant v;
        v.name = fmt::format("ld.{}.v{}.{}", space, count, type);
        v.operands = {Kind::b64, Kind::b64};
        std::string list;
        for (unsigned i = 0; i < count; ++i) {
          v.results.push_back({reg});
          list += fmt::format("{}%d{}", i ? ", " : "", i);
        }
        v.body = fmt::format("st.{0}.b64 [{1}], %a0;\n", space, cell);
        if (place != "global")
          v.body += fmt::format("st.{0}.b64 [{1}+8], %a1;\n", space, cell);
        v.body += fmt::format("ld.{0}.v{2}.{3} {{{4}}}, [{1}];\n", space, cell, count, type, list);
        to.add(std::move(v));
        if (bits * count <= 64) {
          const std::string lo = bits <= 16 ? "%h0, %h1" : "%x0, %x1";
          const std::string hi = bits <= 16 ? ", %h2, %h3" : ", %x2, %x3";
          to.add({fmt::format("st.{}.v{}.{}", space, count, type),
                  {Kind::b64, Kind::b64},
                  {{64}},
                  fmt::format("st.{0}.b64 [{1}], %a0;\n"
                              "mov.b64 {{%h0, %h1, %h2, %h3}}, %a1;\nmov.b64 {{%x0, %x1}}, %a1;\n"
                              "st.{0}.v{2}.{3} [{1}], {{{4}{5}}};\nld.{0}.b64 %d0, [{1}];\n",
                              space, cell, count, type, lo, count == 4 ? hi : "")});
        }
      }
  }
}

/// Loads and stores with a cache, an order or no space; a reduction of a vector.
void add_memory_orders(Collector &to) {
  for (const char *type : {"u8", "s16", "b32", "f32", "u64"}) {
    const unsigned width = std::max(bit_width(scalar_type(type)), 16u);
    for (const char *how : {"ld.global.ca", "ld.global.cg", "ld.global.cv", "ld.volatile.global",
                            "ld.relaxed.gpu.global", "ld.acquire.sys.global", "ld"})
      to.add({fmt::format("{}.{}", how, type),
              {Kind::b64},
              {{width}},
              fmt::format("st.global.b64 [%out], %a0;\n{}.{} %d0, [%out];\n", how, type)});
    to.add({fmt::format("ld.global.nc.{}", type),
            {Kind::b64},
            {{width}},
            fmt::format("ld.global.nc.{} %d0, [%in];\n", type)});
    for (const char *how : {"st.global.wb", "st.global.wt", "st.volatile.global",
                            "st.relaxed.gpu.global", "st.release.cta.global", "st"})
      to.add({fmt::format("{}.{}", how, type),
              {Kind::b64, kind_of(scalar_type(type))},
              {{64}},
              fmt::format("st.global.b64 [%out], %a0;\n{}.{} [%out], %a1;\n"
                          "ld.global.b64 %d0, [%out];\n",
                          how, type)});
  }
  to.add({"red.global.v2.f32.add",
          {Kind::f32, Kind::f32, Kind::f32, Kind::f32},
          {{64}},
          "st.global.v2.f32 [%out], {%a0, %a2};\nred.global.add.v2.f32 [%out], {%a1, %a3};\n"
          "ld.global.b64 %d0, [%out];\n"});
  to.add({"red.global.add.v2.f32",
          {Kind::f32, Kind::f32, Kind::f32, Kind::f32},
          {{64}},
          "st.global.v2.f32 [%out], {%a0, %a2};\nred.global.v2.f32.add [%out], {%a1, %a3};\n"
          "ld.global.b64 %d0, [%out];\n"});
}

void add_warp(Collector &to) {
  constexpr const char *all = "0xffffffff";
  for (const char *mode : {"all", "any", "uni"}) {
    for (const char *negate : {"", "!"})
      to.add({fmt::format("vote.sync.{}.pred {}p", mode, negate),
              {Kind::flag},
              {{1}},
              fmt::format("vote.sync.{}.pred %d0, {}%a0, {};\n", mode, negate, all)});
    // Three warps of eight agree.
    to.add({fmt::format("vote.sync.{}.pred agreeing", mode),
            {Kind::flag},
            {{1}},
            fmt::format("mov.u32 %x0, %tid.x;\nshr.u32 %x0, %x0, 5;\nsetp.lt.u32 %p0, %x0, 2;\n"
                        "setp.lt.or.u32 %p1, %x0, 5, %a0;\nand.pred %p1, %p1, !%p0;\n"
                        "vote.sync.{}.pred %d0, %p1, {};\n",
                        mode, all)});
  }
  to.add({"vote.sync.ballot.b32",
          {Kind::flag},
          {{32}},
          fmt::format("vote.sync.ballot.b32 %d0, %a0, {};\n", all)});
  // Lanes by groups of their own: the mask that a ballot gave.
  to.add({"vote.sync.ballot.b32 of a group",
          {Kind::flag, Kind::flag},
          {{32}},
          fmt::format("vote.sync.ballot.b32 %x0, %a0, {};\nnot.b32 %x1, %x0;\n"
                      "selp.b32 %x2, %x0, %x1, %a0;\nvote.sync.ballot.b32 %d0, %a1, %x2;\n",
                      all)});
  for (const char *type : {"b32", "b64"}) {
    const Kind few = type[1] == '3' ? Kind::few32 : Kind::few64;
    to.add({fmt::format("match.any.sync.{}", type),
            {few},
            {{32}},
            fmt::format("match.any.sync.{} %d0, %a0, {};\n", type, all)});
    to.add({fmt::format("match.all.sync.{}", type),
            {few},
            {{32}, {1}},
            fmt::format("match.all.sync.{} %d0|%d1, %a0, {};\n", type, all)});
    to.add({fmt::format("match.all.sync.{} agreeing", type),
            {few},
            {{32}, {1}},
            fmt::format("mov.u32 %x0, %tid.x;\nshr.u32 %x0, %x0, 6;\nsetp.lt.u32 %p0, %x0, 2;\n"
                        "selp.{0} {2}, 9, %a0, %p0;\nmatch.all.sync.{0} %d0|%d1, {2}, {1};\n",
                        type, all, type[1] == '3' ? "%x1" : "%y1")});
  }
  for (const char *opcode : {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32",
                             "and.b32", "or.b32", "xor.b32"}) {
    to.add({fmt::format("redux.sync.{}", opcode),
            {Kind::b32},
            {{32}},
            fmt::format("redux.sync.{} %d0, %a0, {};\n", opcode, all)});
    to.add({fmt::format("redux.sync.{} of a group", opcode),
            {Kind::b32, Kind::flag},
            {{32}},
            fmt::format("vote.sync.ballot.b32 %x0, %a1, {};\nnot.b32 %x1, %x0;\n"
                        "selp.b32 %x2, %x0, %x1, %a1;\nredux.sync.{} %d0, %a0, %x2;\n",
                        all, opcode)});
  }
  for (const char *mode : {"up", "down", "bfly", "idx"}) {
    to.add({fmt::format("shfl.sync.{}.b32", mode),
            {Kind::b32, Kind::amount, Kind::amount},
            {{32}, {1}},
            fmt::format("shfl.sync.{}.b32 %d0|%d1, %a0, %a1, %a2, {};\n", mode, all)});
    for (const unsigned width : {32u, 16u, 8u, 2u})
      to.add({fmt::format("shfl.sync.{}.b32 width {}", mode, width),
              {Kind::b32, Kind::amount},
              {{32}, {1}},
              fmt::format("shfl.sync.{}.b32 %d0|%d1, %a0, %a1, {:#x}, {};\n", mode,
                          (32 - width) << 8 | (std::string_view(mode) == "up" ? 0 : 31), all)});
  }
  for (const char *kind : {"popc.u32", "and.pred", "or.pred"}) {
    const bool count = kind[0] == 'p';
    to.add({fmt::format("bar.red.{}", kind),
            {Kind::flag},
            {{count ? 32u : 1u}},
            fmt::format("bar.red.{} %d0, 0, %a0;\n", kind)});
    to.add({fmt::format("bar.red.{} agreeing", kind),
            {Kind::flag},
            {{count ? 32u : 1u}},
            fmt::format("setp.ne.or.u32 %p0, 1, 0, %a0;\nbar.red.{} %d0, 1, {}%p0;\n", kind,
                        kind[0] == 'o' ? "!" : "")});
  }
  to.add({"activemask.b32", {Kind::flag}, {{32}}, "mov.u32 %d0, 0;\n@%a0 activemask.b32 %d0;\n"});
  to.add({"elect.sync", {Kind::flag}, {{32}, {1}}, fmt::format("elect.sync %d0|%d1, {};\n", all)});
  for (const char *name : {"tid.x", "ntid.x", "laneid", "lanemask_eq", "lanemask_le", "lanemask_lt",
                           "lanemask_ge", "lanemask_gt", "ctaid.x", "nctaid.x"})
    to.add({fmt::format("mov.u32 %{}", name),
            {Kind::flag},
            {{32}},
            fmt::format("mov.u32 %d0, %{};\n", name)});
}

void add_atomics(Collector &to) {
  struct Operation {
    const char *text;
    unsigned operands;
  };
  static constexpr Operation operations[] = {
      {"add", 1},       {"min", 1},       {"max", 1},      {"and", 1},  {"or", 1},
      {"xor", 1},       {"inc", 1},       {"dec", 1},      {"exch", 1}, {"cas", 2},
      {"add.noftz", 1}, {"min.noftz", 1}, {"max.noftz", 1}};
  for (const char *space : {".global", ".shared", ""})
    for (const Operation &operation : operations)
      for (const char *type : {"b16", "b32", "b64", "u32", "s32", "u64", "s64", "f16", "bf16",
                               "f16x2", "bf16x2", "f32", "f64"}) {
        const std::string_view place = space;
        const ScalarType scalar = scalar_type(type);
        const Kind kind = kind_of(scalar);
        const unsigned width = bit_width(scalar);
        const std::string opcode = fmt::format("{}.{}.{}", space, operation.text, type);
        const std::string cell = place == ".shared" ? "[%cell]" : "[%out+8]";
        Variant v;
        v.operands = {kind, kind};
        if (operation.operands == 2) // often what is there
          v.operands = {kind == Kind::b32   ? Kind::few32
                        : kind == Kind::b64 ? Kind::few64
                                            : kind,
                        kind == Kind::b32   ? Kind::few32
                        : kind == Kind::b64 ? Kind::few64
                                            : kind,
                        kind};
        v.results = {{width}, {width, place != ".shared"}};
        const std::string arguments = operation.operands == 2 ? "%a1, %a2" : "%a1";
        v.name = "atom" + opcode;
        v.body = fmt::format("st{0}.b{1} {2}, %a0;\natom{3} %d0, {2}, {4};\n", space, width, cell,
                             opcode, arguments);
        const std::string read =
            place == ".shared" ? fmt::format("ld.shared.b{} %d1, {};\n", width, cell) : "";
        v.body += read;
        to.add(v);
        if (operation.operands == 2 || std::string_view(operation.text) == "exch")
          continue;
        v.name = "red" + opcode;
        v.results = {{width, place != ".shared"}};
        if (place == ".shared")
          v.body = fmt::format("st.shared.b{0} [%cell], %a0;\nred{1} [%cell], %a1;\n"
                               "ld.shared.b{0} %d0, [%cell];\n",
                               width, opcode);
        else
          v.body =
              fmt::format("st{0}.b{1} [%out], %a0;\nred{2} [%out], %a1;\n", space, width, opcode);
        to.add(std::move(v));
      }
  for (const char *how : {"relaxed.cta", "acquire.gpu", "release.sys", "acq_rel.gpu"})
    for (const char *operation : {"add.u32", "exch.b64", "max.s32", "cas.b32"}) {
      const bool wide = std::string_view(operation).ends_with("64");
      const bool swaps = operation[0] == 'c';
      const Kind kind = wide ? Kind::b64 : swaps ? Kind::few32 : Kind::b32;
      to.add({fmt::format("atom.{}.global.{}", how, operation),
              {kind, kind, kind},
              {{wide ? 64u : 32u}, {wide ? 64u : 32u, true}},
              fmt::format(
                  "st.global.b{0} [%out+8], %a0;\natom.{1}.global.{2} %d0, [%out+8], %a1{3};\n",
                  wide ? 64 : 32, how, operation, swaps ? ", %a2" : "")});
    }
  // Everybody at one place.
  for (const char *opcode :
       {"add.u32", "add.s32", "add.u64", "min.u32", "min.s32", "max.u32", "max.s32", "min.u64",
        "max.s64", "and.b32", "or.b32", "xor.b32", "and.b64", "or.b64", "xor.b64"}) {
    const bool wide = std::string_view(opcode).ends_with("64");
    const unsigned width = wide ? 64 : 32;
    to.add({fmt::format("red.shared.{} together", opcode),
            {wide ? Kind::b64 : Kind::b32},
            {{width}},
            fmt::format("mov.u32 %x0, cells;\nst.shared.b64 [%x0], 0x5a5a5a5a5a5a5a5a;\n"
                        "bar.sync 0;\nred.shared.{1} [%x0], %a0;\nbar.sync 0;\n"
                        "ld.shared.b{0} %d0, [%x0];\n",
                        width, opcode)});
  }
  // Vectors.
  for (const char *opcode : {"v2.f32.add", "v4.f32.add", "v2.f16.add.noftz", "v4.f16.add.noftz",
                             "v2.bf16.add.noftz", "v2.f16.min.noftz", "v2.bf16.max.noftz",
                             "v2.f16x2.add.noftz", "v4.f16x2.add.noftz", "v2.bf16x2.max.noftz"}) {
    const auto parts = [&] {
      std::vector<std::string> list{""};
      for (const char *c = opcode; *c; ++c)
        *c == '.' ? list.emplace_back() : list.back() += *c, void();
      return list;
    }();
    const unsigned count = parts[0] == "v2" ? 2 : 4;
    const Kind kind = kind_of(scalar_type(parts[1]));
    const unsigned width = bit_width(scalar_type(parts[1])), step = width / 8;
    std::string operation = parts[2];
    for (std::size_t i = 3; i < parts.size(); ++i)
      operation += "." + parts[i];
    // atom.global{.level}.v.op.noftz.type; two cells of the operands, the rest the same
    Variant v;
    v.name = fmt::format("atom.global.{}.{}.{}", parts[0], operation, parts[1]);
    v.operands = {kind, kind, kind, kind};
    std::string outputs, inputs;
    for (unsigned i = 0; i < count; ++i) {
      v.results.push_back({width});
      outputs += fmt::format("{}%d{}", i ? ", " : "", i);
      inputs += fmt::format("{}%a{}", i ? ", " : "", i % 2 == 0 ? 1 : 3);
      v.body +=
          fmt::format("st.global.b{} [%wide+{}], %a{};\n", width, step * i, i % 2 == 0 ? 0 : 2);
    }
    v.body += fmt::format("atom.global.{}.{}.{} {{{}}}, [%wide], {{{}}};\n", parts[0], operation,
                          parts[1], outputs, inputs);
    // The memory afterwards, two words of it.
    v.results.push_back({64});
    v.body += fmt::format("ld.global.b64 %d{}, [%wide{}];\n", count, step * count > 8 ? "+8" : "");
    if (step * count < 8)
      v.body = "mov.b64 %y1, 0;\nst.global.b64 [%wide], %y1;\n" + v.body;
    to.add(std::move(v));
  }
}

/// What is approximate on 16 bits, for all of them.
void add_every_half(Collector &to) {
  for (const char *opcode :
       {"ex2.approx.f16", "tanh.approx.f16", "ex2.approx.ftz.bf16", "tanh.approx.bf16"})
    to.add({fmt::format("{} of everything", opcode),
            {Kind::every16},
            {{16}},
            fmt::format("{} %d0, %a0;\n", opcode),
            65536});
}

/// Products at the edge of the subnormal numbers: what .ftz does to what rounding brings back.
void add_tiny_products(Collector &to) {
  for (const char *type : {"f32", "f16"}) {
    const bool half = type[2] == '6';
    const Kind kind = half ? Kind::tiny_f16 : Kind::tiny_f32;
    const Kind third = half ? Kind::f16 : Kind::f32;
    const unsigned width = half ? 16 : 32;
    for (const char *rounding : {"rn", "rz", "rm", "rp"})
      for (const char *flush : {"", ".ftz"}) {
        std::string opcode = fmt::format("mul.{}{}.{}", rounding, flush, type);
        to.add({opcode + " tiny", {kind, kind}, {{width}}, opcode + " %d0, %a0, %a1;\n"});
        opcode = fmt::format("fma.{}{}.{}", rounding, flush, type);
        to.add(
            {opcode + " tiny", {kind, kind, third}, {{width}}, opcode + " %d0, %a0, %a1, %a2;\n"});
        to.add({opcode + " tiny and nothing",
                {kind, kind},
                {{width}},
                fmt::format("mov.b{} {}, 0;\n{} %d0, %a0, %a1, {};\n", width, half ? "%h0" : "%x0",
                            opcode, half ? "%h0" : "%x0")});
      }
  }
}

/// The video instructions on two halves and four bytes, which the compiler's intrinsics use.
void add_video(Collector &to) {
  static constexpr const char *types[] = {"u32", "s32"};
  for (const char *count : {"2", "4"})
    for (const char *a : types)
      for (const char *b : types) {
        for (const char *operation : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"})
          for (const char *result : types)
            for (const char *more : {"", ".sat", ".add"}) {
              const std::string opcode =
                  fmt::format("{}{}.{}.{}.{}{}", operation, count, result, a, b, more);
              to.add({opcode,
                      {Kind::b32, Kind::b32, Kind::b32},
                      {{32}},
                      opcode + " %d0, %a0, %a1, %a2;\n"});
            }
        for (const char *comparison : {"eq", "ne", "lt", "le", "gt", "ge"})
          for (const char *more : {"", ".add"}) {
            const std::string opcode =
                fmt::format("vset{}.{}.{}.{}{}", count, a, b, comparison, more);
            to.add({opcode,
                    {Kind::b32, Kind::b32, Kind::b32},
                    {{32}},
                    opcode + " %d0, %a0, %a1, %a2;\n"});
          }
      }
}

/// Which space a generic address lies in, and that conversions undo each other.
void add_spaces(Collector &to) {
  struct Place {
    const char *name, *setup;
  };
  static constexpr Place places[] = {
      {"global", "cvta.global.u64 %y0, %out;\n"},
      {"shared", "cvt.u64.u32 %y0, %cell;\ncvta.shared.u64 %y0, %y0;\n"},
      {"local", "cvta.local.u64 %y0, %local;\n"}};
  for (const Place &place : places) {
    for (const char *space : {"global", "shared", "local", "const"})
      to.add({fmt::format("isspacep.{} of {}", space, place.name),
              {Kind::flag},
              {{1}},
              fmt::format("{}isspacep.{} %d0, %y0;\n", place.setup, space)});
    to.add({fmt::format("cvta.to.{0} of cvta.{0}", place.name),
            {Kind::b64},
            {{64}, {64}},
            fmt::format("{0}st.u64 [%y0], %a0;\nld.u64 %d0, [%y0];\n"
                        "cvta.to.{1}.u64 %y1, %y0;\nld.{1}.u64 %d1, [%y1];\n",
                        place.setup, place.name)});
  }
}

std::vector<Variant> collect() {
  Collector list;
  add_integers(list);
  add_reals(list);
  add_pairs_of_predicates(list);
  add_sets(list);
  add_carries(list);
  add_movement(list);
  add_memory(list);
  add_memory_orders(list);
  add_warp(list);
  add_atomics(list);
  add_every_half(list);
  add_tiny_products(list);
  add_video(list);
  add_spaces(list);
  return list.take();
}

} // namespace

const std::vector<Variant> &variants() {
  static const std::vector<Variant> list = collect();
  return list;
}

bool is_undefined(const Variant &variant, const std::vector<std::uint64_t> &operands) {
  // Positions and lengths of bit fields go up to 255.
  if (variant.name.starts_with("bfe") || variant.name.starts_with("bfi"))
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (variant.operands[i] == OperandKind::amount && operands[i] > 255)
        return true;
  return false;
}

unsigned result_stride(const Variant &variant) {
  // Room behind the results for `%wide`, at a multiple of 16 bytes.
  return (8 * static_cast<unsigned>(variant.results.size()) + 15) / 16 * 16 + 16;
}

std::string module_head(const std::string &target) {
  return fmt::format(".version 8.7\n.target {}\n.address_size 64\n\n", target);
}

std::string kernel_text(const Variant &variant, std::size_t number) {
  std::string text = fmt::format(".visible .entry v{}(.param .u64 p_in, .param .u64 p_out)\n{{\n"
                                 ".reg .b64 %in, %out, %wide, %offset, %local, %y<4>;\n"
                                 ".reg .b32 %t, %block, %cell, %x<4>;\n"
                                 ".reg .b16 %h<4>;\n.reg .pred %p<4>;\n",
                                 number);
  const bool uses_shared = variant.body.find("%cell") != std::string::npos ||
                           variant.body.find("cells") != std::string::npos;
  const bool uses_local = variant.body.find("%local") != std::string::npos;
  const auto line = [&](std::string_view more) { text += std::string(more) + "\n"; };
  if (uses_shared)
    line(".shared .align 16 .b8 cells[4096];");
  if (uses_local)
    line(".local .align 16 .b8 place[16];");
  line("ld.param.u64 %in, [p_in];\nld.param.u64 %out, [p_out];");
  line("cvta.to.global.u64 %in, %in;\ncvta.to.global.u64 %out, %out;");
  line("mov.u32 %t, %tid.x;\nmov.u32 %block, %ctaid.x;");
  if (uses_shared)
    line("mov.u32 %cell, cells;\nmad.lo.u32 %cell, %t, 16, %cell;");
  if (uses_local)
    line("mov.u64 %local, place;");
  line("mad.lo.u32 %t, %block, 256, %t;");
  line(fmt::format("mul.wide.u32 %offset, %t, {};\nadd.s64 %in, %in, %offset;", set_stride));
  line(fmt::format("mul.wide.u32 %offset, %t, {};\nadd.s64 %out, %out, %offset;",
                   result_stride(variant)));
  if (variant.body.find("%wide") != std::string::npos)
    line(fmt::format("add.s64 %wide, %out, {};", result_stride(variant) - 16));
  for (std::size_t i = 0; i < variant.operands.size(); ++i) {
    const OperandKind kind = variant.operands[i];
    const unsigned bytes = operand_bytes(kind);
    const unsigned at = static_cast<unsigned>(i) * operand_stride;
    if (kind == OperandKind::flag) {
      line(fmt::format(".reg .pred %a{0};\n.reg .b32 %c{0};\nld.global.b32 %c{0}, [%in+{1}];\n"
                       "setp.ne.u32 %a{0}, %c{0}, 0;",
                       i, at));
      continue;
    }
    line(fmt::format(".reg .b{0} %a{1};\nld.global.b{2} %a{1}, [%in+{3}];",
                     std::max(bytes * 8, 16u), i, bytes * 8, at));
  }
  for (std::size_t i = 0; i < variant.results.size(); ++i)
    if (!variant.results[i].in_memory)
      line(variant.results[i].width == 1
               ? fmt::format(".reg .pred %d{};", i)
               : fmt::format(".reg .b{} %d{};", variant.results[i].width, i));
  text += variant.body;
  for (std::size_t i = 0; i < variant.results.size(); ++i) {
    const Result &result = variant.results[i];
    if (result.in_memory)
      continue;
    if (result.width == 1)
      line(fmt::format("selp.b32 %t, 1, 0, %d{};\nst.global.b32 [%out+{}], %t;", i, 8 * i));
    else
      line(fmt::format("st.global.b{} [%out+{}], %d{};", result.width, 8 * i, i));
  }
  return text + "ret;\n}\n\n";
}

} // namespace ptxasw::conformance
