// Tensor maps that a kernel changes: each field of one, in global and in shared memory, and what is
// refused. What copies do by a map is tested by programs (tests/runtime/programs/tensor_maps.cu).

#include "support.h"

#include "emulator/machine/tensor_map.h"

#include <array>
#include <doctest/doctest.h>
#include <utility>

using namespace ptxasw::test;

namespace {

/// A map of 3 axes, and room for another one, which a kernel finds in %base and %d1.
struct Maps {
  alignas(128) std::array<std::uint8_t, TensorMap::bytes> map{}, other{};
  GlobalMemory memory;

  Maps() {
    TensorMap made;
    made.element = TensorMap::Element::f32;
    made.rank = 3;
    made.address = 1 << 20;
    made.extents = {64, 32, 16};
    made.strides = {0, 256, 8192};
    made.box = {8, 4, 2};
    made.steps = {1, 1, 1};
    map = encode(made);
    memory.allocate_host("map", reinterpret_cast<std::uint64_t>(map.data()), map.size(), true);
    memory.allocate_host("other", reinterpret_cast<std::uint64_t>(other.data()), other.size(),
                         true);
  }
  Maps(const Maps &) = delete;

  WarpOutcome run(const std::string &body, std::uint32_t block) {
    std::string text =
        in_warp_kernel("cvt.u64.u32 %d2, %n; add.u64 %d1, %base, %d2;\nmov.u32 %r9, tile;\n" + body,
                       ".shared .align 128 .b8 tile[128];\n");
    text.replace(text.find("8.0"), 3, "9.0");
    text.replace(text.find("sm_90"), 5, "sm_90a");
    const auto module = parse_module(text);
    const WarpProgram program(*module);
    WarpLaunch launch;
    launch.block[0] = block;
    launch.parameters.resize(12);
    const auto base = reinterpret_cast<std::uint64_t>(map.data());
    const auto away =
        static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(other.data()) - base);
    std::memcpy(launch.parameters.data(), &base, 8);
    std::memcpy(launch.parameters.data() + 8, &away, 4);
    return run_kernel(program, *program.find_kernel("k"), launch, memory, {});
  }

  /// The map after a kernel of one thread.
  TensorMap after(const std::string &body) {
    const WarpOutcome outcome = run(body, 1);
    if (outcome.fault)
      FAIL(format(*outcome.fault));
    const auto found = decode_tensor_map(map);
    REQUIRE(found);
    return *found;
  }
  std::string fault(const std::string &body) {
    const WarpOutcome outcome = run(body, 1);
    return outcome.fault ? outcome.fault->message : "no fault";
  }
};

std::string replace(const std::string &field, const std::string &type, const std::string &values) {
  return "tensormap.replace.tile." + field + ".global.b1024." + type + " [%base], " + values +
         ";\n";
}

} // namespace

TEST_CASE("each field of a tensor map is replaced, and no other") {
  const TensorMap map = Maps().after("");
  const auto changed = [](const std::string &body) { return Maps().after(body); };
  // One of them is what it should be; without it the map is what it was.
  const auto alone = [&](TensorMap found, auto field, auto wanted) {
    CHECK(found.*field == wanted);
    found.*field = map.*field;
    CHECK(encode(found) == encode(map));
  };
  alone(changed(replace("global_address", "b64", "0x300000")), &TensorMap::address,
        std::uint64_t{0x300000});
  alone(changed(replace("rank", "b32", "1")), &TensorMap::rank, 2); // it is one less
  alone(changed(replace("elemtype", "b32", "3")), &TensorMap::element, TensorMap::Element::s32);
  alone(changed(replace("interleave_layout", "b32", "1")), &TensorMap::interleave, 1);
  alone(changed(replace("swizzle_mode", "b32", "2")), &TensorMap::swizzle,
        TensorMap::Swizzle::by_64);
  alone(changed(replace("swizzle_atomicity", "b32", "1")), &TensorMap::atomicity, 1);
  alone(changed(replace("fill_mode", "b32", "1")), &TensorMap::fills_with_nan, true);
  alone(changed(replace("box_dim", "b32", "1, 7")), &TensorMap::box,
        std::array<std::uint32_t, 5>{8, 7, 2});
  alone(changed(replace("global_dim", "b32", "2, 99")), &TensorMap::extents,
        std::array<std::uint64_t, 5>{64, 32, 99});
  // Strides begin with the second axis.
  alone(changed(replace("global_stride", "b64", "0, 512")), &TensorMap::strides,
        std::array<std::uint64_t, 5>{0, 512, 8192});
  alone(changed(replace("element_stride", "b32", "0, 2")), &TensorMap::steps,
        std::array<std::uint8_t, 5>{2, 1, 1});
}

TEST_CASE("a tensor map is changed in shared memory and copied from there") {
  Maps maps;
  const WarpOutcome outcome = maps.run(
      "shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %r9;\n"
      "ld.global.u32 %r2, [%out]; st.shared.u32 [%r1], %r2;\nbar.sync 0;\n"
      "setp.ne.u32 %p1, %t, 0;\n@%p1 bra over;\n"
      "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r9], 0, 77;\nover:\nbar.sync 0;\n"
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%d1], [%r9], 128;\n",
      32);
  REQUIRE_FALSE(outcome.fault);
  TensorMap wanted = maps.after(""); // it has not changed itself
  CHECK(wanted.extents[0] == 64);
  wanted.extents[0] = 77;
  CHECK(maps.other == encode(wanted));
}

TEST_CASE("what a map must not say, and what is not emulated") {
  using Change = void (*)(TensorMap &);
  const auto says = [](Change change) {
    TensorMap map = Maps().after("");
    change(map);
    const auto emulated = map.check_emulated(), valid = map.check();
    return !emulated ? emulated.error() + " is not emulated" : !valid ? valid.error() : "";
  };
  CHECK(says([](TensorMap &) {}).empty());
  const std::pair<Change, const char *> rows[] = {
      {[](TensorMap &map) { map.element = static_cast<TensorMap::Element>(13); },
       "elements of less than a byte is not emulated"},
      {[](TensorMap &map) { map.element = TensorMap::Element::tf32; },
       "elements of tf32 is not emulated"},
      {[](TensorMap &map) { map.interleave = 1; }, "an interleaved layout is not emulated"},
      {[](TensorMap &map) { map.atomicity = 1; }, "this swizzle is not emulated"},
      {[](TensorMap &map) { map.rank = 6; }, "6 axes"},
      {[](TensorMap &map) { map.address = 8; }, "an address that is no multiple of 16: 0x8"},
      {[](TensorMap &map) { map.extents[1] = 0; }, "0 elements along axis 1"},
      {[](TensorMap &map) { map.box[2] = 257; }, "a box of 257 elements along axis 2"},
      {[](TensorMap &map) { map.steps[0] = 9; }, "steps of 9 elements along axis 0"},
      {[](TensorMap &map) { map.strides[1] = 8; }, "a stride of 8 bytes along axis 1"},
      {[](TensorMap &map) { map.box[0] = 3; }, "rows of 12 bytes in the box, no multiple of 16"},
      {[](TensorMap &map) { map.box[0] = 16, map.swizzle = TensorMap::Swizzle::by_32; },
       "rows of 64 bytes in the box, more than the swizzle's 32"},
      {[](TensorMap &map) { map.element = TensorMap::Element::u32, map.fills_with_nan = true; },
       "elements that are no floating-point numbers, filled with NaN"}};
  for (const auto &[change, wanted] : rows)
    CHECK(says(change) == wanted);
  // Every second element along the second axis, rounded up; the first one is always whole.
  TensorMap map = Maps().after("");
  map.steps = {2, 3, 1};
  CHECK(map.box_bytes() == 8 * 2 * 2 * 4);
  // 16-byte places of a line of 128, and of 32 bytes.
  CHECK(swizzled(3 * 128, TensorMap::Swizzle::by_128) == 3 * 128 + 3 * 16);
  CHECK(swizzled(3 * 128, TensorMap::Swizzle::by_32) == 3 * 128 + 16);
  CHECK(swizzled(3 * 128, TensorMap::Swizzle::none) == 3 * 128);
  CHECK(swizzled(6 * 128, TensorMap::Swizzle::by_128, 1) == 6 * 128 + 2 * 32);
}

TEST_CASE("what is no tensor map, and axes that there are not, are refused") {
  const auto has = [](const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(Maps().fault("tensormap.replace.tile.rank.global.b1024.b32 [%d1], 1;\n"),
            "no tensor map that this emulator made"));
  CHECK(has(Maps().fault(replace("box_dim", "b32", "%n, 1")), "axis"));
  CHECK(has(Maps().fault(replace("global_stride", "b64", "4, 1")), "axis 4"));
}
