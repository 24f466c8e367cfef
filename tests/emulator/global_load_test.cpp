// Which loads are plain loads of global memory, by the words of their opcodes.

#include "emulator/semantics/global_load.h"

#include <doctest/doctest.h>

using namespace ptxasw::test;

TEST_CASE("a load is known by the words of its opcode") {
  for (const char *opcode :
       {"ld.global.u32", "ld.global.nc.f64", "ld.global.v2.f32", "ld.global.nc.v4.f32",
        "ld.global.L1::evict_last.u8", "ld.global.L1::no_allocate.L2::128B.v2.b64",
        "ld.global.nc.L2::128B.s16"}) {
    CAPTURE(opcode);
    const auto load = qualified_load(Opcode::of(opcode));
    REQUIRE(load);
    CHECK(load->nc == (std::string_view(opcode).find(".nc") != std::string_view::npos));
    CHECK(load->hinted == (std::string_view(opcode).find("::") != std::string_view::npos));
  }
  for (const char *opcode :
       {"ld.u32", "ld.shared.u32", "ld.global.ca.u32", "ld.global.cv.u32", "ld.volatile.global.u32",
        "ld.acquire.gpu.global.u32", "ld.weak.global.u32", "ld.global.L2::64B.u32",
        "ld.global.L1::evict_first.u32", "ld.global.L2::128B.L1::evict_last.u32",
        "ld.global.L2::cache_hint.u32", "ld.global.v8.f32", "ld.global.v4.u64", "ld.global.b128",
        "ldu.global.u32", "st.global.u32", "ld.const.u32", "ld.global.nc.nc.u32"}) {
    CAPTURE(opcode);
    CHECK_FALSE(qualified_load(Opcode::of(opcode)));
  }
}
