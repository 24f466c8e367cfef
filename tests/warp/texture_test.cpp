// Textures and surfaces by handles: which elements a fetch reads, and what is refused. Programs of
// CUDA hold the rest against the programming guide's formulas (tests/runtime/programs/textures.cu).

#include "support.h"

#include "emulator/machine/texture.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <limits>

using namespace ptxasw::test;

namespace {

using Mode = TextureMap::AddressMode;

TextureMap plane(unsigned width, unsigned height, Mode mode = Mode::clamp) {
  TextureMap map;
  map.axes = 2;
  map.extents = {width, height, 1};
  map.modes.fill(mode);
  return map;
}

/// Index and weight of each element along x, -1 for the border, of a row of 4.
std::vector<std::pair<int, double>> along_x(const TextureMap &map, double x) {
  unsigned count = 0;
  const double at[] = {x, 0.5};
  const auto all = samples(map, at, 0, map.is_filtered, count);
  std::vector<std::pair<int, double>> result;
  for (unsigned i = 0; i < count; ++i)
    if (all[i].weight != 0)
      result.emplace_back(all[i].at ? static_cast<int>((*all[i].at)[0]) : -1,
                          all[i].weight / 256.0);
  return result;
}

/// A surface of 4 x 2 numbers of 32 bits, its handle's bytes, and room for a kernel's results.
struct Memory {
  alignas(64) std::array<std::uint32_t, 8> elements{10, 11, 12, 13, 20, 21, 22, 23};
  alignas(64) std::array<std::uint32_t, 32> out{};
  alignas(64) std::array<std::uint8_t, TextureMap::bytes> handle{};
  GlobalMemory memory;

  explicit Memory(bool is_surface) {
    TextureMap map = plane(4, 2);
    map.channel = TextureMap::Channel::whole_unsigned;
    map.is_surface = is_surface;
    map.address = reinterpret_cast<std::uint64_t>(elements.data());
    map.row_pitch = 16;
    handle = encode(map);
    const auto add = [&](const char *name, auto &bytes) {
      memory.allocate_host(name, reinterpret_cast<std::uint64_t>(bytes.data()), sizeof bytes, true);
    };
    add("elements", elements);
    add("out", out);
    add("handle", handle);
  }
  Memory(const Memory &) = delete;

  /// Runs one warp with the handle in %d1, moved by `beside`.
  WarpOutcome run(const std::string &body, std::uint32_t beside = 0) {
    const auto module =
        parse_module(in_warp_kernel("cvt.u64.u32 %d2, %n; add.u64 %d1, %base, %d2;\n" + body));
    const WarpProgram program(*module);
    WarpLaunch launch;
    launch.parameters.resize(12);
    const auto base = reinterpret_cast<std::uint64_t>(out.data());
    const auto away =
        static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(handle.data()) - base) + beside;
    std::memcpy(launch.parameters.data(), &base, 8);
    std::memcpy(launch.parameters.data() + 8, &away, 4);
    return run_kernel(program, *program.find_kernel("k"), launch, memory, {});
  }
};

const std::string leave_r1 = "st.global.u32 [%out], %r1;\n";

} // namespace

TEST_CASE("which element is the nearest, by address mode") {
  const std::pair<Mode, std::vector<int>> modes[] = {{Mode::wrap, {3, 0, 3, 0, 2}},
                                                     {Mode::clamp, {0, 0, 3, 3, 3}},
                                                     {Mode::mirror, {0, 0, 3, 3, 1}},
                                                     {Mode::border, {-1, 0, 3, -1, -1}}};
  for (const auto &[mode, wanted] : modes) {
    TextureMap map = plane(4, 1, mode);
    map.is_normalized = true;
    const double places[] = {-0.125, 0, 0.999, 1.0, 1.625};
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto found = along_x(map, places[i]);
      REQUIRE(found.size() == 1);
      CHECK(found[0].first == wanted[i]);
    }
  }
  // Elsewhere wrapping and mirroring are clamping.
  CHECK(along_x(plane(4, 1, Mode::wrap), 5)[0].first == 3);
  CHECK(along_x(plane(4, 1, Mode::mirror), -1)[0].first == 0);
  // Any number is a coordinate.
  CHECK(along_x(plane(4, 1), 1e300)[0].first == 3);
  CHECK(along_x(plane(4, 1), std::numeric_limits<double>::quiet_NaN())[0].first == 0);
}

TEST_CASE("filtering blends two elements an axis, with 8 bits of fraction") {
  TextureMap map = plane(4, 1);
  map.is_filtered = true;
  using Pairs = std::vector<std::pair<int, double>>;
  CHECK(along_x(map, 1.75) == Pairs{{1, 0.75}, {2, 0.25}});
  CHECK(along_x(map, 1.5) == Pairs{{1, 1}});
  CHECK(along_x(map, 1.501) == Pairs{{1, 1}}); // less than half of 1/256
  CHECK(along_x(map, 0.25) == Pairs{{0, 0.25}, {0, 0.75}});
  map.modes.fill(Mode::border);
  CHECK(along_x(map, 0.25) == Pairs{{-1, 0.25}, {0, 0.75}});
}

TEST_CASE("the faces of a cube and layers") {
  TextureMap cube = plane(4, 4);
  cube.is_cube = true;
  cube.extents[2] = 12; // two of them
  const double ways[][3] = {{2, 1, 0}, {-2, 1, 0}, {0, 2, 1}, {0, -2, 1}, {1, 0, 2}, {1, 0, -2}};
  for (unsigned face = 0; face < 6; ++face)
    for (const std::int64_t layer : {0, 1, 7}) {
      unsigned count = 0;
      const auto all = samples(cube, ways[face], layer, false, count);
      REQUIRE(count == 1);
      CHECK((*all[0].at)[2] == std::min<std::uint64_t>(layer * 6 + face, 11));
    }
}

TEST_CASE("fetches and accesses by handles") {
  Memory texture(false);
  CHECK_FALSE(texture
                  .run("and.b32 %r3, %t, 3; shr.u32 %r4, %t, 2; cvt.rn.f32.u32 %f1, %r3;\n"
                       "cvt.rn.f32.u32 %f2, %r4; add.f32 %f1, %f1, 0f3F000000;\n"
                       "tex.2d.v4.u32.f32 {%r1, _, _, _}, [%d1, {%f1, %f2}];\n" +
                       leave_r1)
                  .fault);
  CHECK(std::vector(texture.out.begin(), texture.out.begin() + 9) ==
        std::vector<std::uint32_t>{10, 11, 12, 13, 20, 21, 22, 23, 20});
  CHECK_FALSE(texture
                  .run("mov.f32 %f1, 0f40000000; mov.f32 %f2, 0f3F800000;\n"
                       "setp.eq.u32 %p1, %t, 0;\n"
                       "tld4.r.2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d1, {%f1, %f2}];\n"
                       "@%p1 st.global.v4.u32 [%base], {%r1, %r2, %r3, %r4};\n")
                  .fault);
  CHECK(std::vector(texture.out.begin(), texture.out.begin() + 4) ==
        std::vector<std::uint32_t>{21, 22, 12, 11}); // from the lower left on against the clock
  CHECK_FALSE(texture.run("txq.height.b32 %r1, [%d1];\n" + leave_r1).fault);
  CHECK(texture.out[0] == 2);

  Memory surface(true);
  CHECK_FALSE(
      surface
          .run("setp.ge.u32 %p1, %t, 4; shl.b32 %r3, %t, 2; mov.u32 %r4, 1;\n@%p1 bra over;\n"
               "suld.b.2d.b32.trap {%r1}, [%d1, {%r3, %r4}]; add.u32 %r1, %r1, 5;\n"
               "sust.b.2d.b32.trap [%d1, {%r3, %r4}], {%r1};\nover:\n"
               "mov.u32 %r3, 64; suld.b.2d.b32.clamp {%r1}, [%d1, {%r3, %r3}];\n" +
               leave_r1)
          .fault);
  CHECK(surface.elements[4] == 25);
  CHECK(surface.elements[3] == 13);
  CHECK(surface.out[0] == 28);
}

TEST_CASE("what a handle does not allow is said") {
  const auto message = [](bool is_surface, const std::string &body, std::uint32_t beside = 0) {
    Memory memory(is_surface);
    const WarpOutcome outcome = memory.run(body, beside);
    return outcome.fault ? outcome.fault->message : std::string("no fault");
  };
  const auto has = [](const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
  };
  const std::string fetch = "tex.2d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%t, %t}];\n",
                    store = "sust.b.2d.b32.trap [%d1, {%r1, %r1}], {%t};\n";
  CHECK(has(message(false, fetch, 64), "is no handle"));
  CHECK(has(message(true, fetch), "of a surface object"));
  CHECK(has(message(false, "mov.u32 %r1, 0;\n" + store), "of a texture object"));
  CHECK(has(message(true, "mov.u32 %r1, 16;\n" + store), "outside of a surface"));
  CHECK(has(message(true, "mov.u32 %r1, 2;\n" + store), "at byte 2 of a row"));
  CHECK(has(message(false, "tex.3d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%t, %t, %t, %t}];\n"),
            "of 2 axes"));
  CHECK(has(message(false, "tex.2dms.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%t, %t, %t, %t}];\n"),
            "this geometry"));
  CHECK(has(message(false, "txq.channel_order.b32 %r1, [%d1];\n"), "this form"));
}
