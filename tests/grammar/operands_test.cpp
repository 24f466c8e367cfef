// What each way to write an operand becomes.

#include "support.h"

#include <doctest/doctest.h>

using namespace ptxasw::test;

TEST_CASE("operands of every form") {
  struct Row {
    const char *body;
    const char *operands;
  };
  static constexpr Row rows[] = {
      // Registers, selectors, negation, guards.
      {"mov.u32 u32a, u32b;", "u32a:u32 u32b:u32"},
      {"mov.f32 f32a, v.x;", "f32a:f32 v:f32x4.x"},
      {"mov.f32 v.a, f32a;", "v:f32x4.w f32a:f32"},
      {"mov.f32 f32a, v.g;", "f32a:f32 v:f32x4.y"},
      {"vadd.u32.u32.u32 u32a, u32b.b0, u32b.h1;", "u32a:u32 u32b:u32.0 u32b:u32.H"},
      {"vadd4.u32.u32.u32 u32a, u32b.b3210, u32b, u32b;",
       "opaque u32a:u32 u32b:u32.? u32b:u32 u32b:u32"},
      {"selp.u32 u32a, 1, 2, !p;", "u32a:u32 1 2 !p:pred"},
      {"@p mov.u32 u32a, 1;", "@p:pred u32a:u32 1"},
      {"@!p mov.u32 u32a, 1;", "@!p:pred u32a:u32 1"},
      {"@ ! p mov.u32 u32a, 1;", "@!p:pred u32a:u32 1"},
      {"exit;", ""},
      // Special registers and symbols. A declared name is a symbol, whatever it looks like.
      {"mov.u32 u32a, %tid.x;", "u32a:u32 special(%tid.x)"},
      {"mov.u32 u32a, WARP_SZ;", "u32a:u32 special(WARP_SZ)"},
      {"ld.param.u64 u64a, [%out];", "u64a:u64 [symbol(%out)]"},
      {"mov.u64 u64a, table;", "u64a:u64 symbol(table)"},
      {"mov.u64 u64a, table+8;", "u64a:u64 symbol(table+8)"},
      {"mov.u64 u64a, table + (4<<1);", "u64a:u64 symbol(table+8)"},
      {"cvta.global.u64 u64a, table+4;", "u64a:u64 symbol(table+4)"},
      {"mov.u64 u64a, u64b+4;", "opaque u64a:u64 other(u64b:u64)"},
      {"mov.u64 u64a, table[3];", "opaque u64a:u64 other()"},
      // Addresses.
      {"ld.global.u32 u32a, [u64a];", "u32a:u32 [u64a:u64]"},
      {"ld.global.u32 u32a, [u64a+4];", "u32a:u32 [u64a:u64+4]"},
      {"ld.global.u32 u32a, [u64a+-4];", "u32a:u32 [u64a:u64-4]"},
      {"ld.global.u32 u32a, [u64a-4];", "u32a:u32 [u64a:u64-4]"},
      {"ld.global.u32 u32a, [ u64a + 0 ];", "u32a:u32 [u64a:u64]"},
      {"ld.global.u32 u32a, [u64a+0x10];", "u32a:u32 [u64a:u64+16]"},
      {"ld.global.u32 u32a, [u64a+4+4];", "u32a:u32 [u64a:u64+8]"},
      {"ld.global.u32 u32a, [u64a+4*3-2];", "u32a:u32 [u64a:u64+10]"},
      {"ld.global.u32 u32a, [table+12];", "u32a:u32 [symbol(table)+12]"},
      {"ld.global.u32 u32a, [table];", "u32a:u32 [symbol(table)]"},
      {"ld.local.u32 u32a, [16];", "u32a:u32 [16]"},
      {"ld.local.u32 u32a, [16+(1<<4)];", "u32a:u32 [32]"},
      {"ld.global.u32 u32a, table[2];", "opaque u32a:u32 other()"},
      {"atom.global.add.u32 u32a, [u64a], u32b;", "u32a:u32 [u64a:u64] u32b:u32"},
      {"tex.1d.v4.f32.s32 {f32a,_,_,f32b}, [table, {s32a}];",
       "{f32a:f32,_,_,f32b:f32} other(symbol(table),{s32a:s32})"},
      {"tex.2d.v4.f32.f32 {f32a,f32b,f32a,f32b}|p, [table, {f32a, f32b}];",
       "{f32a:f32,f32b:f32,f32a:f32,f32b:f32}|p:pred other(symbol(table),{f32a:f32,f32b:f32})"},
      {"tex.2d.v4.f32.f32 v, [u64a, u64b, {f32a, f32b}];",
       "v:f32x4 other(u64a:u64,u64b:u64,{f32a:f32,f32b:f32})"},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
       " [u32a], [u64a, {s32a, s32b}], [u32b];",
       "[u32a:u32] other(u64a:u64,{s32a:s32,s32b:s32}) [u32b:u32]"},
      // Numbers.
      {"mov.u32 u32a, 0;", "u32a:u32 0"},
      {"mov.u32 u32a, -7;", "u32a:u32 -7"},
      {"mov.u32 u32a, 017;", "u32a:u32 15"},
      {"mov.u32 u32a, 0b101;", "u32a:u32 5"},
      {"mov.u32 u32a, 0XfFu;", "u32a:u32 255"},
      {"mov.u32 u32a, 4294967295U;", "u32a:u32 4294967295"},
      {"mov.u64 u64a, 0xFFFFFFFFFFFFFFFF;", "u64a:u64 -1"},
      {"mov.u32 u32a, (1<<4)|3;", "u32a:u32 19"},
      {"mov.u32 u32a, (.u64)3;", "u32a:u32 3"},
      {"mov.u32 u32a, 1 ? 2 : 3;", "u32a:u32 2"},
      {"mov.u32 u32a, WARP_SZ*2;", "u32a:u32 64"},
      {"mov.f32 f32a, 0f3F800000;", "f32a:f32 f32:3f800000"},
      {"mov.f32 f32a, 0F3f8000Aa;", "f32a:f32 f32:3f8000aa"},
      {"mov.f32 f32a, -0f3F800000;", "f32a:f32 f32:bf800000"},
      {"mov.f64 f64a, 0d3FF0000000000000;", "f64a:f64 f64:3ff0000000000000"},
      {"mov.f64 f64a, 0D3FF0000000000000;", "f64a:f64 f64:3ff0000000000000"},
      {"mov.f64 f64a, 1.0;", "f64a:f64 f64:3ff0000000000000"},
      {"mov.f64 f64a, 1.;", "f64a:f64 f64:3ff0000000000000"},
      {"mov.f64 f64a, 1e3;", "f64a:f64 f64:408f400000000000"},
      {"mov.f64 f64a, 1.0e+3;", "f64a:f64 f64:408f400000000000"},
      {"mov.f64 f64a, 10e-1;", "f64a:f64 f64:3ff0000000000000"},
      {"mov.f64 f64a, -2.0;", "f64a:f64 f64:c000000000000000"},
      // Vectors, pairs, sinks, groups.
      {"mov.b64 b64a, {b32a, b32b};", "b64a:b64 {b32a:b32,b32b:b32}"},
      {"mov.b64 {b32a, _}, b64a;", "{b32a:b32,_} b64a:b64"},
      {"st.global.v4.f32 [u64a], {f32a, 0f00000000, -1.0, f32b};",
       "[u64a:u64] {f32a:f32,f32:0,f64:bff0000000000000,f32b:f32}"},
      {"ld.global.v4.f32 v, [u64a];", "v:f32x4 [u64a:u64]"},
      {"setp.eq.u32 p|q, u32a, 3;", "p:pred|q:pred u32a:u32 3"},
      {"setp.eq.and.u32 _|q, u32a, 3, !r;", "_|q:pred u32a:u32 3 !r:pred"},
      {"shfl.sync.down.b32 b32a|p, b32b, 1, 31, -1;", "b32a:b32|p:pred b32b:b32 1 31 -1"},
      {"call f;", "symbol(f)"},
      {"call (u32a), f, (5);", "(u32a:u32) symbol(f) (5)"},
      {"call (u32a),\n f,\n (\n u32b,\n table\n );",
       "(u32a:u32) symbol(f) (u32b:u32,symbol(table))"},
      {"call (u32a), u64a, (u32b), proto;", "(u32a:u32) u64a:u64 (u32b:u32) symbol(proto)"},
      {"call f, ();", "symbol(f) ()"},
      // Modifiers set apart from their opcode; the grammar has them, but they are not interpreted.
      {"ld .global .u32 u32a, [u64a];", "opaque u32a:u32 [u64a:u64]"},
  };
  for (const Row &row : rows) {
    INFO(std::string(row.body));
    CHECK(describe_in_kernel(row.body) == row.operands);
  }
}

TEST_CASE("vectors have up to 128 elements") {
  std::string list, expected;
  for (int i = 0; i < 128; ++i) {
    list += i ? ", %r" + std::to_string(i) : "%r0";
    expected += (i ? ",%r" : "%r") + std::to_string(i) + ":b32";
  }
  CHECK(describe_in_kernel(".reg .b32 %r<128>; tcgen05.ld.x128.b32 {" + list + "}, [u32a];") ==
        "{" + expected + "} [u32a:u32]");
}

TEST_CASE("opcodes fall into base, modifiers, types and state space") {
  const auto module = parse_good(in_kernel("ld.global.nc.L1::no_allocate.v4.f32 v, [u64a];"
                                           "cvt.rn.f16x2.f32 f16x2a, f32a, f32b;"
                                           "st.shared::cluster.u32 [u32a], u32b;"
                                           "ld.param::func.u32 u32a, [in];"
                                           "mov.u32 u32a, u32b;mov.u32 u32a, u32a;"
                                           "cvt.rs.satfinite.e4m3x4.f32 b32a, {f32a, f32b, f32a, "
                                           "f32b}, b32b;"));
  REQUIRE(module->opcodes.size() == 6);
  const auto &opcodes = module->opcodes;
  CHECK(opcodes[0].base == "ld");
  CHECK(opcodes[0].has("L1::no_allocate"));
  CHECK(opcodes[0].space == StateSpace::global);
  CHECK(opcodes[0].vector == 4);
  CHECK(opcodes[0].type == ScalarType::f32);
  CHECK(opcodes[1].type == ScalarType::f16x2);
  CHECK(opcodes[1].second_type == ScalarType::f32);
  CHECK(opcodes[2].space == StateSpace::shared);
  CHECK(opcodes[3].space == StateSpace::param);
  CHECK(opcodes[4].space == StateSpace::generic);
  CHECK(opcodes[5].type == ScalarType::e4m3x4);
}
