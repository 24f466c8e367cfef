// Kernels for what Hopper brought. A product of a group of warps finds its matrices in 48 KiB of
// shared memory: a in the first 16, b behind it, as bytes of the input in which every element is
// drawn alike, whatever a layout makes of them. A copy finds or leaves a box in 16 KiB of shared
// memory, all of which is the result. Whoever waits for an mbarrier gives up after a while, so that
// a copy that never comes is a wrong result and not a hang.

#include "hopper.h"

#include "tensor.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace ptxasw::conformance {
namespace {

constexpr unsigned group_threads = 128, tile_bytes = 49152, b_begins = 16384, box_room = 16384;
constexpr std::size_t kernels_a_module = 24;

struct Collection {
  std::string target;
  Suite suite;
  std::size_t count = 0;

  /// `text` has {} where the kernel's name goes.
  void add(std::string name, const std::string &text, Launch launch) {
    if (count % kernels_a_module == 0)
      suite.modules.push_back(
          {fmt::format("variants-hopper{}", count / kernels_a_module), module_head(target), {}});
    Suite::Module &module = suite.modules.back();
    launch.kernel = fmt::format("h{}", count++);
    std::string named = text;
    named.replace(named.find("NAME"), 4, launch.kernel);
    module.text += named;
    Item item;
    item.name = std::move(name);
    item.module = module.name;
    item.digest = true;
    item.fingerprint = fingerprint(text.data(), text.size());
    for (const Argument &argument : launch.arguments)
      if (argument.contents)
        item.fingerprint =
            fingerprint(argument.contents->data(), argument.contents->size(), item.fingerprint);
    item.launch = std::move(launch);
    module.items.push_back(std::move(item));
  }
};

std::string list(char letter, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += fmt::format("{}%{}{}", i ? ", " : "", letter, i);
  return text + "}";
}

void put_word(Bytes &to, std::uint64_t word) {
  for (unsigned byte = 0; byte < 4; ++byte)
    to.push_back(static_cast<std::uint8_t>(word >> 8 * byte));
}

/// The tiles of all blocks, with elements of two formats.
std::shared_ptr<const Bytes> tiles_of(Format a, Format b) {
  static std::map<std::pair<Format, Format>, std::shared_ptr<const Bytes>> known;
  auto &result = known[{a, b}];
  if (result)
    return result;
  Bytes bytes;
  for (unsigned block = 0; block < characters; ++block) {
    WarpRandom random(block * 16 + static_cast<unsigned>(a) * 256 + static_cast<unsigned>(b));
    for (unsigned at = 0; at < tile_bytes; at += 4)
      put_word(bytes, draw_register(at < b_begins ? a : b, false, block, random));
  }
  return result = std::make_shared<const Bytes>(std::move(bytes));
}

std::shared_ptr<const Bytes> sums_of(Format format, unsigned registers) {
  Bytes bytes;
  for (unsigned block = 0; block < characters; ++block) {
    WarpRandom random(block * 32 + static_cast<unsigned>(format) * 1024);
    for (unsigned at = 0; at < group_threads * registers; ++at)
      put_word(bytes, draw_register(format, true, block, random));
  }
  return std::make_shared<const Bytes>(std::move(bytes));
}

std::shared_ptr<const Bytes> room(std::size_t size) { return std::make_shared<const Bytes>(size); }

struct Types {
  const char *d, *a, *b;
  unsigned bits;
  Format in_a, in_b, sum;
};

struct Way {
  unsigned swizzle = 0; ///< bytes
  bool registers = false, a_columns = false, b_rows = false;
  unsigned start = 0; ///< bytes behind the beginning of both matrices
  bool far = false;   ///< without a swizzle: columns of core matrices lie together
  int sign_a = 1, sign_b = 1;
  bool adds = true;
  const char *more = "";
};

/// A descriptor's bits except for the address.
std::uint64_t descriptor(const Way &way, bool columns, unsigned rows, unsigned bits) {
  const unsigned pieces = way.swizzle == 0 ? 1 : way.swizzle / 16, atom = pieces * 128;
  std::uint64_t leading = 16, stride = atom;
  const std::uint64_t in_piece = 128 / bits;
  if (columns) {
    const std::uint64_t atoms = (rows + pieces * in_piece - 1) / (pieces * in_piece);
    leading = way.swizzle == 0 ? atoms * atom : atom;
    stride = way.swizzle == 0 ? atom : atoms * atom;
  } else if (way.swizzle == 0) {
    leading = way.far ? rows / 8 * 128 : 128;
    stride = way.far ? 128 : 256;
  }
  const std::uint64_t mode = way.swizzle == 128 ? 1 : way.swizzle == 64 ? 2 : way.swizzle / 32 * 3;
  return mode << 62 | stride >> 4 << 32 | leading >> 4 << 16;
}

void add_product(Collection &to, const Types &types, unsigned n, const Way &way) {
  const unsigned k = 256 / types.bits;
  const unsigned registers = n * (std::string_view(types.d) == "f16" ? 1 : 2) / 4;
  const bool is_float = types.in_a != Format::bits;
  const std::string opcode =
      fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}{}.{}.{}.{}{}", n, k,
                  std::string_view(way.more) == "satfinite" ? ".satfinite" : "", types.d, types.a,
                  types.b, types.bits == 1 ? ".and.popc" : "");
  std::string constants;
  if (is_float)
    constants = fmt::format(", {}, {}", way.sign_a, way.sign_b);
  if (types.bits == 16)
    constants += way.registers ? fmt::format(", {}", way.b_rows ? 1 : 0)
                               : fmt::format(", {}, {}", way.a_columns ? 1 : 0, way.b_rows ? 1 : 0);
  std::string text = fmt::format(
      ".visible .entry NAME(.param .u64 p_tiles, .param .u64 p_sums, .param .u64 p_out)\n{{\n"
      ".reg .b64 %tiles, %sums, %out, %y<4>;\n.reg .b32 %t, %block, %x<8>, %d<128>, %a<4>;\n"
      ".reg .pred %p<4>;\n.shared .align 1024 .b8 cells[{0}];\n"
      "ld.param.u64 %tiles, [p_tiles];\nld.param.u64 %sums, [p_sums];\nld.param.u64 %out, "
      "[p_out];\n"
      "mov.u32 %t, %tid.x;\nmov.u32 %block, %ctaid.x;\nmov.u32 %x7, cells;\n"
      "mad.wide.u32 %tiles, %block, {0}, %tiles;\nmul.lo.u32 %x0, %t, 16;\n"
      "fill:\ncvt.u64.u32 %y0, %x0;\nadd.u64 %y0, %y0, %tiles;\n"
      "ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%y0];\nadd.u32 %x1, %x0, %x7;\n"
      "st.shared.v4.b32 [%x1], {{%a0, %a1, %a2, %a3}};\nadd.u32 %x0, %x0, {1};\n"
      "setp.lt.u32 %p0, %x0, {0};\n@%p0 bra fill;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
      "mad.lo.u32 %x1, %t, 16, %x7;\nld.shared.v4.b32 {{%a0, %a1, %a2, %a3}}, [%x1];\n"
      "mad.lo.u32 %x2, %block, {2}, %t;\nmad.wide.u32 %sums, %x2, {3}, %sums;\n"
      "mad.wide.u32 %out, %x2, {3}, %out;\n",
      tile_bytes, group_threads * 16, group_threads, registers * 4);
  for (unsigned i = 0; i < registers; ++i)
    text += fmt::format("ld.global.b32 %d{}, [%sums+{}];\n", i, 4 * i);
  const auto make = [&](unsigned number, unsigned begin, std::uint64_t bits) {
    text += fmt::format("add.u32 %x3, %x7, {};\nand.b32 %x3, %x3, 0x3ffff;\nshr.u32 %x3, %x3, 4;\n"
                        "cvt.u64.u32 %y{}, %x3;\nor.b64 %y{}, %y{}, {:#x};\n",
                        begin + way.start, number, number, number, bits);
  };
  make(1, 0, descriptor(way, way.a_columns, 64, types.bits));
  make(2, b_begins, descriptor(way, way.b_rows, n, types.bits));
  text += fmt::format("setp.ne.u32 %p1, %block, {};\nwgmma.fence.sync.aligned;\n"
                      "{} {}, {}, %y2, %p1{};\n"
                      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
                      way.adds ? 99 : 4, opcode, list('d', registers),
                      way.registers ? "{%a0, %a1, %a2, %a3}" : "%y1", constants);
  for (unsigned i = 0; i < registers; ++i)
    text += fmt::format("st.global.b32 [%out+{}], %d{};\n", 4 * i, i);
  text += "ret;\n}\n\n";
  Launch launch;
  launch.grid.x = characters;
  launch.block.x = group_threads;
  launch.arguments = {
      {Argument::Kind::in, tiles_of(types.in_a, types.in_b)},
      {Argument::Kind::in, sums_of(types.sum, registers)},
      {Argument::Kind::out, room(std::size_t{characters} * group_threads * registers * 4)}};
  to.add(fmt::format("{} swizzle {}{}{}{}{}{}{}{}{}", opcode, way.swizzle,
                     way.registers ? " a in registers" : "", way.a_columns ? " a by columns" : "",
                     way.b_rows ? " b by rows" : "",
                     way.start ? fmt::format(" from {}", way.start) : "", way.far ? " apart" : "",
                     way.sign_a < 0 ? " -a" : "", way.sign_b < 0 ? " -b" : "",
                     way.adds ? "" : " set"),
         text, std::move(launch));
}

void add_products(Collection &to) {
  static constexpr Types all[] = {
      {"f32", "f16", "f16", 16, Format::f16, Format::f16, Format::f32},
      {"f16", "f16", "f16", 16, Format::f16, Format::f16, Format::f16},
      {"f32", "bf16", "bf16", 16, Format::bf16, Format::bf16, Format::f32},
      {"f32", "tf32", "tf32", 32, Format::tf32, Format::tf32, Format::f32},
      {"f32", "e4m3", "e4m3", 8, Format::e4m3, Format::e4m3, Format::f32},
      {"f32", "e4m3", "e5m2", 8, Format::e4m3, Format::e5m2, Format::f32},
      {"f32", "e5m2", "e4m3", 8, Format::e5m2, Format::e4m3, Format::f32},
      {"f32", "e5m2", "e5m2", 8, Format::e5m2, Format::e5m2, Format::f32},
      {"f16", "e4m3", "e4m3", 8, Format::e4m3, Format::e4m3, Format::f16},
      {"f16", "e4m3", "e5m2", 8, Format::e4m3, Format::e5m2, Format::f16},
      {"f16", "e5m2", "e4m3", 8, Format::e5m2, Format::e4m3, Format::f16},
      {"f16", "e5m2", "e5m2", 8, Format::e5m2, Format::e5m2, Format::f16},
      {"s32", "s8", "s8", 8, Format::bits, Format::bits, Format::bits},
      {"s32", "s8", "u8", 8, Format::bits, Format::bits, Format::bits},
      {"s32", "u8", "s8", 8, Format::bits, Format::bits, Format::bits},
      {"s32", "u8", "u8", 8, Format::bits, Format::bits, Format::bits},
      {"s32", "b1", "b1", 1, Format::bits, Format::bits, Format::bits}};
  for (const Types &types : all) {
    const bool is_float = types.in_a != Format::bits, is_first = types.bits == 16;
    for (const unsigned swizzle : {0u, 32u, 64u, 128u}) {
      Way way;
      way.swizzle = swizzle;
      add_product(to, types, 16, way);
      if (swizzle == 128 || is_first) {
        way.registers = true;
        add_product(to, types, 8, way);
        way.registers = false;
      }
      way.start = swizzle >= 64 ? 32 : 0;
      way.far = swizzle == 0;
      add_product(to, types, 32, way);
      if (!is_first)
        continue;
      for (const bool columns : {false, true}) {
        Way turned;
        turned.swizzle = swizzle;
        turned.a_columns = columns;
        turned.b_rows = !columns;
        add_product(to, types, columns ? 16 : 128, turned);
        turned.b_rows = true;
        add_product(to, types, 64, turned);
      }
    }
    Way way;
    way.swizzle = 128;
    way.adds = false;
    add_product(to, types, 256, way);
    way.adds = true;
    if (is_float) {
      way.sign_a = -1;
      add_product(to, types, 24, way);
      way.sign_b = -1;
      way.registers = true;
      add_product(to, types, 40, way);
    } else if (types.bits == 8) {
      way.more = "satfinite";
      add_product(to, types, 48, way);
    }
  }
}

/// Waits for phase 0 of `gate`, for a while.
constexpr const char *wait =
    "mov.u32 %x6, 0;\nwait:\n"
    "mbarrier.test_wait.parity.shared::cta.b64 %p3, [gate], 0;\n"
    "@%p3 bra waited;\nadd.u32 %x6, %x6, 1;\nsetp.lt.u32 %p2, %x6, 200000;\n"
    "@%p2 bra wait;\nwaited:\n";

/// A kernel of one warp that has `cells` filled with the 16 KiB at `p_in`; `%map` is the address of
/// a tensor map, `%out` that of the result, to which `cells` are copied where `dumps` says so.
std::string around(const std::string &parameters, const std::string &body, bool dumps,
                   const std::string &directives = "") {
  const std::string each = "mul.lo.u32 %x0, %t, 16;\n{}:\ncvt.u64.u32 %y0, %x0;\n"
                           "add.u64 %y1, %y0, {};\nadd.u32 %x1, %x0, %x7;\n{}"
                           "add.u32 %x0, %x0, 512;\nsetp.lt.u32 %p0, %x0, 16384;\n@%p0 bra {};\n";
  std::string text = fmt::format(
      ".visible .entry NAME({})\n{}{{\n"
      ".reg .b64 %in, %out, %map, %y<8>;\n.reg .b32 %t, %block, %rank, %x<12>, %a<4>;\n"
      ".reg .b16 %h<4>;\n"
      ".reg .pred %p<5>;\n.shared .align 1024 .b8 cells[16384];\n.shared .align 8 .b64 gate;\n"
      "ld.param.u64 %in, [p_in];\nld.param.u64 %out, [p_out];\nmov.u32 %t, %tid.x;\n"
      "mov.u32 %block, %ctaid.x;\nmov.u32 %rank, %cluster_ctarank;\nmov.u32 %x7, cells;\n",
      parameters, directives);
  if (parameters.find("p_map") != std::string::npos)
    text += "mov.b64 %map, p_map;\ncvta.param.u64 %map, %map;\n";
  text += fmt::format(fmt::runtime(each), "fill", "%in",
                      "ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%y1];\n"
                      "st.shared.v4.b32 [%x1], {%a0, %a1, %a2, %a3};\n",
                      "fill");
  text += "setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared::cta.b64 [gate], 1;\n"
          "fence.proxy.async;\nbar.sync 0;\n" +
          body;
  if (dumps)
    text += "bar.sync 0;\nmad.wide.u32 %out, %block, 16384, %out;\n" +
            fmt::format(fmt::runtime(each), "dump", "%out",
                        "ld.shared.v4.b32 {%a0, %a1, %a2, %a3}, [%x1];\n"
                        "st.global.v4.b32 [%y1], {%a0, %a1, %a2, %a3};\n",
                        "dump");
  return text + "ret;\n}\n\n";
}

std::shared_ptr<const Bytes> random_bytes(std::size_t size, std::uint64_t seed) {
  Bytes bytes(size);
  WarpRandom random(seed);
  for (std::uint8_t &byte : bytes)
    byte = static_cast<std::uint8_t>(random.next());
  return std::make_shared<const Bytes>(std::move(bytes));
}

constexpr unsigned tensor_room = 65536;

struct Tensor {
  TensorMap map;
  std::vector<int> corner;
  std::string name;
};

/// Dense, along the first axis with a gap to the next row.
Tensor tensor(TensorMap::Element element, std::vector<unsigned> extents, std::vector<unsigned> box,
              std::vector<int> corner, TensorMap::Swizzle swizzle = TensorMap::Swizzle::none) {
  Tensor result;
  TensorMap &map = result.map;
  map.element = element;
  map.rank = static_cast<std::uint8_t>(extents.size());
  map.swizzle = swizzle;
  map.address = 1; // the argument
  std::uint64_t stride = map.element_bytes();
  result.name = fmt::format("{} of", static_cast<unsigned>(element));
  for (unsigned axis = 0; axis < map.rank; ++axis) {
    map.extents[axis] = extents[axis];
    map.box[axis] = box[axis];
    map.steps[axis] = 1;
    map.strides[axis] = stride;
    stride = (stride * extents[axis] + 15) / 16 * 16 + (axis == 0 ? 16 : 0);
    result.name += fmt::format(" {}", extents[axis]);
  }
  for (const unsigned extent : box)
    result.name += fmt::format(" x{}", extent);
  for (const int at : corner)
    result.name += fmt::format(" @{}", at);
  result.name += fmt::format(" swizzle {}", static_cast<unsigned>(swizzle));
  result.corner = std::move(corner);
  return result;
}

std::string tensor_operand(const Tensor &tensor) {
  std::string text = "[%map, {";
  for (std::size_t i = 0; i < tensor.corner.size(); ++i)
    text += fmt::format("{}{}", i ? ", " : "", tensor.corner[i]);
  return text + "}]";
}

constexpr const char *map_parameters =
    ".param .align 64 .b8 p_map[128], .param .u64 p_tensor, .param .u64 p_in, .param .u64 p_out";

void add_load(Collection &to, const Tensor &tensor, unsigned at = 0) {
  const std::string body = fmt::format(
      "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [gate], {};\n"
      "@%p1 cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[cells+{}], {}, [gate];\n{}",
      tensor.map.box_bytes(), tensor.map.rank, at, tensor_operand(tensor), wait);
  Launch launch;
  launch.block.x = 32;
  launch.arguments = {{Argument::Kind::map, nullptr, tensor.map},
                      {Argument::Kind::in, random_bytes(tensor_room, 1)},
                      {Argument::Kind::in, random_bytes(box_room, 2)},
                      {Argument::Kind::out, room(box_room)}};
  to.add("tensor load " + tensor.name + (at ? fmt::format(" to {}", at) : ""),
         around(map_parameters, body, true), std::move(launch));
}

void add_store(Collection &to, const Tensor &tensor, const std::string &operation = "") {
  const std::string body = fmt::format(
      "@%p1 cp.{}async.bulk.tensor.{}d.global.shared::cta{}.tile.bulk_group {}, [cells];\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
      operation.empty() ? "" : "reduce.", tensor.map.rank, operation.empty() ? "" : "." + operation,
      tensor_operand(tensor));
  Launch launch;
  launch.block.x = 32;
  // Moderate numbers, so that sums of them are some.
  const bool is_float = ptxasw::ptx::is_float(tensor.map.type());
  auto from = random_bytes(box_room, 3), into = random_bytes(tensor_room, 4);
  if (is_float && !operation.empty()) {
    const auto moderate = [&](std::size_t size, std::uint64_t seed) {
      Bytes bytes;
      WarpRandom random(seed);
      const Format format = tensor.map.type() == ScalarType::f16    ? Format::f16
                            : tensor.map.type() == ScalarType::bf16 ? Format::bf16
                                                                    : Format::f32;
      while (bytes.size() < size)
        put_word(bytes, draw_register(format, false, bytes.size() % 16 == 0 ? 6 : 1, random));
      return std::make_shared<const Bytes>(std::move(bytes));
    };
    from = moderate(box_room, 3), into = moderate(tensor_room, 4);
  }
  launch.arguments = {{Argument::Kind::map, nullptr, tensor.map},
                      {Argument::Kind::out, into},
                      {Argument::Kind::in, from},
                      {Argument::Kind::in, room(16)}};
  to.add("tensor " + (operation.empty() ? "store " : operation + " ") + tensor.name,
         around(map_parameters, body, false), std::move(launch));
}

void add_tensors(Collection &to) {
  using Element = TensorMap::Element;
  using Swizzle = TensorMap::Swizzle;
  // Axes, edges on every side, and boxes that are all outside. The first axis at multiples of 16
  // bytes, stores from the tensor's beginning on: everything else is an illegal instruction.
  for (const int x : {0, 16, 48, -16, 64, -32, 992}) {
    add_load(to, tensor(Element::f32, {64}, {16}, {x}));
    add_load(to, tensor(Element::f16, {64, 9}, {16, 4}, {x, 7}));
    add_load(to, tensor(Element::u8, {64, 5, 3}, {32, 3, 2}, {x, -1, 2}));
    add_load(to, tensor(Element::s32, {32, 4, 3, 3}, {8, 3, 2, 2}, {x, 2, -1, 1}));
    add_load(to, tensor(Element::u16, {24, 4, 3, 3, 2}, {8, 2, 2, 2, 2}, {x, 3, 1, -1, 1}));
    if (x < 0)
      continue;
    add_store(to, tensor(Element::f32, {64}, {16}, {x}));
    add_store(to, tensor(Element::f16, {64, 9}, {16, 4}, {x, 7}));
    add_store(to, tensor(Element::u8, {64, 5, 3}, {32, 3, 2}, {x, 1, 2}));
    add_store(to, tensor(Element::u16, {24, 4, 3, 3, 2}, {8, 2, 2, 2, 2}, {x, 3, 1, 2, 1}));
  }
  for (const Element element : {Element::u8, Element::u16, Element::u32, Element::s32, Element::u64,
                                Element::s64, Element::f16, Element::f32, Element::f32_ftz,
                                Element::f64, Element::bf16, Element::tf32, Element::tf32_ftz}) {
    Tensor one = tensor(element, {40, 8}, {16, 8}, {32, 3});
    add_load(to, one);
    add_store(to, one);
    if (is_float(one.map.type())) {
      one.map.fills_with_nan = true;
      one.name += " NaN outside";
      add_load(to, one);
    }
  }
  // Swizzles: rows as wide as the pattern, and narrower.
  for (const Swizzle swizzle : {Swizzle::by_32, Swizzle::by_64, Swizzle::by_128}) {
    const unsigned row = 16u << static_cast<unsigned>(swizzle);
    for (unsigned width = 16; width <= row; width *= 2) {
      add_load(to, tensor(Element::u8, {200, 40}, {width, 20}, {16, 25}, swizzle));
      add_store(to, tensor(Element::u8, {200, 40}, {width, 20}, {16, 25}, swizzle));
    }
    for (const unsigned at : {128u, 256u, 512u, 1408u})
      add_load(to, tensor(Element::f16, {64, 40}, {row / 2, 16}, {0, 0}, swizzle), at);
    add_load(to, tensor(Element::f32, {64, 8, 3}, {row / 4, 5, 3}, {4, -2, 0}, swizzle));
    add_store(to, tensor(Element::f32, {64, 8, 3}, {row / 4, 5, 3}, {4, 5, 1}, swizzle));
  }
  // Steps along axes.
  for (const unsigned step : {2u, 3u, 8u}) {
    Tensor stepping = tensor(Element::f32, {32, 40}, {16, 15}, {4, 1});
    stepping.map.steps[1] = static_cast<std::uint8_t>(step);
    stepping.name += fmt::format(" step {}", step);
    add_load(to, stepping);
    add_store(to, stepping);
  }
  for (const char *operation : {"add", "min", "max", "inc", "dec", "and", "or", "xor"}) {
    const std::string_view what = operation;
    const bool counts = what == "inc" || what == "dec";
    const bool bitwise = what == "and" || what == "or" || what == "xor";
    for (const Element element :
         {Element::u32, Element::s32, Element::u64, Element::f16, Element::bf16, Element::f32}) {
      const bool real = element == Element::f16 || element == Element::bf16;
      if ((counts && element != Element::u32) || (bitwise && real) ||
          (element == Element::f32 && what != "add"))
        continue;
      add_store(to, tensor(element, {40, 8}, {16, 8}, {32, 3}), operation);
    }
  }
}

struct Reduction {
  const char *operation, *type;
  Format format = Format::bits;
};

void add_bulk_reductions(Collection &to) {
  static constexpr Reduction to_global[] = {{"add", "u32"},
                                            {"add", "s32"},
                                            {"add", "u64"},
                                            {"inc", "u32"},
                                            {"dec", "u32"},
                                            {"min", "u32"},
                                            {"min", "s32"},
                                            {"min", "u64"},
                                            {"min", "s64"},
                                            {"max", "u32"},
                                            {"max", "s32"},
                                            {"max", "u64"},
                                            {"max", "s64"},
                                            {"and", "b32"},
                                            {"and", "b64"},
                                            {"or", "b32"},
                                            {"or", "b64"},
                                            {"xor", "b32"},
                                            {"xor", "b64"},
                                            {"add.noftz", "f16", Format::f16},
                                            {"add.noftz", "bf16", Format::bf16},
                                            {"min", "f16", Format::f16},
                                            {"max", "f16", Format::f16},
                                            {"min", "bf16", Format::bf16},
                                            {"max", "bf16", Format::bf16},
                                            {"add", "f32", Format::f32},
                                            {"add", "f64", Format::f64}};
  const auto numbers = [](Format format, std::size_t size, std::uint64_t seed) {
    if (format == Format::bits)
      return random_bytes(size, seed);
    Bytes bytes;
    WarpRandom random(seed);
    while (bytes.size() < size) {
      const std::uint64_t value =
          draw_register(format, false, bytes.size() / 64 % characters, random);
      put_word(bytes, value);
      if (format == Format::f64)
        put_word(bytes, value >> 32);
    }
    return std::make_shared<const Bytes>(std::move(bytes));
  };
  for (const Reduction &r : to_global) {
    const std::string name = fmt::format("cp.reduce.async.bulk.global.shared::cta.bulk_group.{}.{}",
                                         r.operation, r.type);
    Launch launch;
    launch.block.x = 32;
    launch.arguments = {{Argument::Kind::in, numbers(r.format, box_room, 5)},
                        {Argument::Kind::out, numbers(r.format, box_room, 6)}};
    to.add(name,
           around(".param .u64 p_in, .param .u64 p_out",
                  "@%p1 " + name +
                      " [%out], [cells], 16384;\ncp.async.bulk.commit_group;\n"
                      "cp.async.bulk.wait_group 0;\n",
                  false),
           std::move(launch));
  }
  static constexpr Reduction to_shared[] = {
      {"add", "u32"}, {"add", "s32"}, {"add", "u64"}, {"inc", "u32"}, {"dec", "u32"},
      {"min", "s32"}, {"max", "u32"}, {"and", "b32"}, {"or", "b32"},  {"xor", "b32"}};
  for (const Reduction &r : to_shared) {
    const std::string name =
        fmt::format("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes."
                    "{}.{}",
                    r.operation, r.type);
    Launch launch;
    launch.grid.x = 4;
    launch.block.x = 32;
    launch.arguments = {{Argument::Kind::in, random_bytes(box_room, 7)},
                        {Argument::Kind::out, room(4 * box_room)}};
    to.add(name,
           around(".param .u64 p_in, .param .u64 p_out",
                  "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [gate], 4096;\n"
                  "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
                  "xor.b32 %x2, %rank, 1;\nmapa.shared::cluster.u32 %x3, %x7, %x2;\n"
                  "mov.u32 %x4, gate;\nmapa.shared::cluster.u32 %x4, %x4, %x2;\n@%p1 " +
                      name + " [%x3+8192], [cells], 4096, [%x4];\n" + wait +
                      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n",
                  true, ".reqnctapercluster 2\n"),
           std::move(launch));
  }
}

/// Blocks of a cluster among each other: four blocks in clusters of two.
void add_clusters(Collection &to) {
  const std::string meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  const auto add = [&](const std::string &name, const std::string &body, bool with_map = false) {
    Launch launch;
    launch.grid.x = 4;
    launch.block.x = 32;
    const Tensor moved =
        tensor(TensorMap::Element::f16, {64, 40}, {64, 16}, {0, 3}, TensorMap::Swizzle::by_128);
    if (with_map)
      launch.arguments = {{Argument::Kind::map, nullptr, moved.map},
                          {Argument::Kind::in, random_bytes(tensor_room, 1)}};
    launch.arguments.push_back({Argument::Kind::in, random_bytes(box_room, 8)});
    launch.arguments.push_back({Argument::Kind::out, room(4 * box_room)});
    to.add(name,
           around(with_map ? map_parameters : ".param .u64 p_in, .param .u64 p_out", body, true,
                  ".reqnctapercluster 2\n"),
           std::move(launch));
  };
  const std::string expect = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [gate], {};\n";
  const auto expecting = [&](unsigned bytes) { return fmt::format(fmt::runtime(expect), bytes); };
  const std::string other = "xor.b32 %x2, %rank, 1;\nmapa.shared::cluster.u32 %x3, %x7, %x2;\n"
                            "mov.u32 %x4, gate;\nmapa.shared::cluster.u32 %x4, %x4, %x2;\n"
                            "mad.lo.u32 %x5, %t, 16, %x3;\n";
  add("mapa, getctarank, isspacep",
      other +
          "getctarank.shared::cluster.u32 %a0, %x3;\ngetctarank.shared::cluster.u32 %a1, %x7;\n"
          "cvt.u64.u32 %y2, %x3;\ncvta.shared.u64 %y2, %y2;\nisspacep.shared::cluster %p4, %y2;\n"
          "selp.u32 %a2, 1, 0, %p4;\nisspacep.shared::cta %p4, %y2;\nselp.u32 %a3, 1, 0, %p4;\n"
          "mad.lo.u32 %x8, %t, 16, %x7;\nst.shared.v4.b32 [%x8], {%a0, %a1, %a2, %a3};\n"
          "cvt.u64.u32 %y2, %x7;\ncvta.shared.u64 %y2, %y2;\nisspacep.shared::cluster %p4, %y2;\n"
          "selp.u32 %a2, 1, 0, %p4;\nisspacep.shared::cta %p4, %y2;\nselp.u32 %a3, 1, 0, %p4;\n"
          "st.shared.v2.b32 [%x8+512], {%a2, %a3};\n");
  add("ld.shared::cluster, st.shared::cluster, atom.shared::cluster",
      meet + other +
          "ld.shared::cluster.v4.b32 {%a0, %a1, %a2, %a3}, [%x5+1024];\n"
          "st.shared::cluster.v4.b32 [%x5+2048], {%a3, %a2, %a1, %a0};\n"
          "atom.add.shared::cluster.u32 %a0, [%x3+4096], %t;\nred.max.shared::cluster.s32 "
          "[%x3+4100], %a1;\n" +
          meet);
  add("st.async", expecting(32 * 28) + meet + other +
                      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%x5], {%t, "
                      "%rank, %block, 7}, [%x4];\nmov.u64 %y2, 0x123456789;\n"
                      "mad.lo.u32 %x8, %t, 8, %x3;\n"
                      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%x8+1024], %y2, "
                      "[%x4];\nmad.lo.u32 %x8, %t, 4, %x3;\n"
                      "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%x8+2048], %t, "
                      "[%x4];\n" +
                      wait + meet);
  for (const char *operation : {"add.u32", "min.s32", "max.u32", "inc.u32", "dec.u32", "and.b32",
                                "or.b32", "xor.b32", "add.u64"}) {
    const bool wide = std::string_view(operation) == "add.u64";
    const std::string name = fmt::format(
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{}", operation);
    add(name, expecting(wide ? 256 : 128) + meet + other +
                  "mad.lo.u32 %x9, %t, 12345, 77;\ncvt.u64.u32 %y2, %x9;\n" + name +
                  (wide ? " [%x5], %y2, [%x4];\n" : " [%x5], %x9, [%x4];\n") + wait + meet);
  }
  add("mbarrier.arrive of another block",
      "@%p1 mbarrier.inval.shared::cta.b64 [gate];\n@%p1 mbarrier.init.shared::cta.b64 [gate], "
      "33;\n" +
          meet + other +
          "st.shared::cluster.b32 [%x5], %t;\n"
          "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%x4];\n"
          "@%p1 mbarrier.arrive.shared::cta.b64 _, [gate];\n" +
          wait + meet);
  add("cp.async.bulk to another block",
      expecting(2048) + meet + other +
          "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%x3+8192], "
          "[cells], 2048, [%x4];\n" +
          wait + meet);
  add("cp.async.bulk multicast",
      expecting(4096) + meet +
          "mov.u16 %h0, 3;\nmul.lo.u32 %x8, %rank, 2048;\nadd.u32 %x9, %x7, %x8;\n"
          "cvt.u64.u32 %y2, %x8;\nadd.u64 %y2, %y2, %in;\n"
          "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
          "multicast::cluster [%x9+4096], [%y2], 2048, [gate], %h0;\n" +
          wait + meet);
  add("tensor load multicast",
      expecting(4096) + meet +
          "mov.u16 %h0, 3;\nmul.lo.u32 %x8, %rank, 2048;\nadd.u32 %x9, %x7, %x8;\n"
          "mul.lo.u32 %x8, %rank, 9;\n"
          "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
          "multicast::cluster [%x9+2048], [%map, {0, %x8}], [gate], %h0;\n" +
          wait + meet,
      true);
}

} // namespace

Suite hopper_suite(const std::string &target) {
  Collection all{target, {}, 0};
  add_products(all);
  add_tensors(all);
  add_bulk_reductions(all);
  add_clusters(all);
  return std::move(all.suite);
}

} // namespace ptxasw::conformance
