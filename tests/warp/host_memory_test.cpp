// Memory of this process as global memory: bounds, blocks on several threads, what was written, and
// a heap and variables that live on from run to run.

#include "support.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <numeric>

using namespace ptxasw::test;

namespace {

std::uint64_t address_of(const void *pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

WarpOutcome run_on(const Module &module, GlobalMemory &memory, const void *out,
                   const WarpOptions &options, std::uint32_t grid = 1, std::uint32_t n = 0) {
  const WarpProgram program(module);
  WarpLaunch launch;
  launch.grid.x = grid;
  launch.parameters.resize(12);
  const std::uint64_t base = address_of(out);
  std::memcpy(launch.parameters.data(), &base, 8);
  std::memcpy(launch.parameters.data() + 8, &n, 4);
  return run_kernel(program, *program.find_kernel("k"), launch, memory, options);
}

} // namespace

TEST_CASE("blocks on host memory run on several threads as they do on one") {
  // Each thread of each block changes a word of its own; all of a block add to a common one, or
  // not.
  const std::string own = R"(
  mov.u32 %r1, %ctaid.x;
  mad.lo.u32 %r1, %r1, 32, %t;
  mul.wide.u32 %d1, %r1, 4;
  add.s64 %d1, %d1, %base;
  ld.global.u32 %r2, [%d1+4];
  mad.lo.u32 %r2, %r2, 3, %r1;
  st.global.u32 [%d1+4], %r2;
)";
  for (const std::string &body : {own, own + "red.global.add.u32 [%base], 1;\n"}) {
    const auto module = parse_module(in_warp_kernel(body));
    constexpr std::size_t words = 1 + 200 * 32, beside = 3; // on no page of its own
    std::vector<std::uint32_t> results[2];
    for (const unsigned threads : {1u, 4u}) {
      std::vector<std::uint32_t> &all = results[threads > 1];
      all.resize(words + 2 * beside);
      std::iota(all.begin(), all.end(), 7u);
      GlobalMemory memory;
      memory.allocate_host("out", address_of(all.data() + beside), words * 4, true);
      WarpOptions options;
      options.threads = threads;
      CHECK_FALSE(run_on(*module, memory, all.data() + beside, options, 200).fault);
    }
    CHECK(results[0] == results[1]);
    CHECK(results[0][beside + 5] == 3 * (7 + beside + 5) + 4);
    CHECK(results[0][0] == 7);
    CHECK(results[0].back() == 7 + words + 2 * beside - 1);
  }
}

TEST_CASE("host memory has bounds, and none once it is released") {
  const auto module =
      parse_module(in_warp_kernel("st.global.u32 [%out], %t;\nst.global.u32 [%out+128], %t;"));
  std::vector<std::uint32_t> words(64);
  for (const unsigned threads : {1u, 4u}) {
    WarpOptions options;
    options.threads = threads;
    GlobalMemory memory;
    memory.allocate_host("out", address_of(words.data()), 31 * 4, true);
    memory.allocate_host("behind", address_of(words.data() + 32), 32 * 4, true);
    auto fault = run_on(*module, memory, words.data(), options, 2).fault;
    REQUIRE(fault);
    CHECK(fault->kind == FaultKind::out_of_bounds);
    CHECK(fault->thread[0] == 31);
    memory.release(address_of(words.data() + 32));
    memory.release(address_of(words.data()));
    CHECK(memory.find(address_of(words.data()), 1) == nullptr);
    fault = run_on(*module, memory, words.data(), options, 2).fault;
    REQUIRE(fault);
    CHECK(fault->thread[0] == 0);
    // The places may be used again, as one.
    const std::size_t before = memory.allocations().size();
    memory.allocate_host("again", address_of(words.data()), 64 * 4, true);
    CHECK(memory.allocations().size() == before);
    CHECK(memory.find(address_of(words.data() + 40), 4) != nullptr);
    CHECK_FALSE(run_on(*module, memory, words.data(), options, 2).fault);
  }
}

TEST_CASE("host memory is initialised as far as its bits say") {
  const auto module =
      parse_module(in_warp_kernel("ld.global.u32 %r1, [%out];\nst.global.u32 [%out+128], %r1;"));
  std::vector<std::uint32_t> words(64);
  std::vector<std::uint64_t> defined(4);
  defined[0] = defined[1] = ~std::uint64_t{0};
  defined[1] &= ~(std::uint64_t{1} << 63); // the last byte that is read
  GlobalMemory memory;
  const std::size_t index = memory.allocate_host("out", address_of(words.data()), 256, true);
  memory.allocation(index).defined = defined.data();
  WarpOptions options;
  options.check_uninitialized = true;
  auto outcome = run_on(*module, memory, words.data(), options);
  REQUIRE(outcome.fault);
  CHECK(outcome.fault->kind == FaultKind::uninitialized);
  CHECK(outcome.fault->thread[0] == 31);
  options.go_on_uninitialized = true;
  outcome = run_on(*module, memory, words.data(), options);
  CHECK_FALSE(outcome.fault);
  REQUIRE(outcome.uninitialized);
  CHECK(outcome.uninitialized->thread[0] == 31);
  CHECK(defined[3] == ~std::uint64_t{0});
  defined[1] = ~std::uint64_t{0};
  CHECK_FALSE(run_on(*module, memory, words.data(), options).uninitialized);
}

TEST_CASE("a heap lives on from run to run") {
  constexpr std::string_view externs = R"(
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
)";
  const auto allocate = parse_module(in_warp_kernel(R"({
  .param .b64 one; .param .b64 back;
  st.param.b64 [one], 16;
  call.uni (back), malloc, (one);
  ld.param.b64 %d1, [back];
  mul.wide.u32 %d2, %t, 8;
  add.s64 %d2, %d2, %base;
  st.global.u64 [%d2], %d1;
})",
                                                    externs));
  const auto release = parse_module(in_warp_kernel(R"({
  .param .b64 one;
  mul.wide.u32 %d2, %t, 8;
  add.s64 %d2, %d2, %base;
  ld.global.u64 %d1, [%d2];
  st.param.b64 [one], %d1;
  call.uni free, (one);
})",
                                                   externs));
  std::vector<std::uint64_t> pointers(32);
  GlobalMemory memory;
  memory.allocate_host("out", address_of(pointers.data()), 256, true);
  DeviceHeap heap;
  WarpOptions options;
  options.heap = &heap;
  CHECK_FALSE(run_on(*allocate, memory, pointers.data(), options).fault);
  CHECK(heap.bytes == 32 * 16);
  CHECK_FALSE(run_on(*release, memory, pointers.data(), options).fault);
  CHECK(heap.bytes == 0);
  const auto fault = run_on(*release, memory, pointers.data(), options).fault;
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::bad_free);
}

TEST_CASE("variables lie where they are placed") {
  const auto module = parse_module(
      in_warp_kernel("ld.global.u32 %r1, [numbers+4];\nst.global.u32 [%out], %r1;",
                     ".global .u32 numbers[2] = {5, 6};\n.global .u64 pointer = numbers;\n"));
  std::vector<std::uint32_t> out(32);
  std::uint32_t numbers[2] = {};
  std::uint64_t pointer = 0;
  GlobalMemory memory;
  memory.allocate_host("out", address_of(out.data()), 128, true);
  memory.allocate_host("numbers", address_of(numbers), 8, true);
  memory.allocate_host("pointer", address_of(&pointer), 8, true);
  const WarpProgram program(*module, [&](const Variable &variable) {
    return variable.name == "numbers" ? address_of(numbers) : address_of(&pointer);
  });
  CHECK(program.initialize_variables(memory));
  CHECK(numbers[1] == 6);
  CHECK(pointer == address_of(numbers));
  numbers[1] = 9; // as the host may
  WarpLaunch launch;
  launch.parameters.resize(12);
  const std::uint64_t base = address_of(out.data());
  std::memcpy(launch.parameters.data(), &base, 8);
  CHECK_FALSE(run_kernel(program, *program.find_kernel("k"), launch, memory, {}).fault);
  CHECK(out[31] == 9);
}

TEST_CASE("a block that waits for the one before it is not tried for ever") {
  // Word i of `out` is set once word i - 1 is.
  const auto module = parse_module(in_warp_kernel(R"(
  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p1, %t, 0;
  @%p1 bra done;
  mul.wide.u32 %d1, %r1, 4;
  add.s64 %d1, %d1, %base;
wait:
  ld.volatile.global.u32 %r2, [%d1];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra wait;
  add.u32 %r2, %r2, 1;
  st.volatile.global.u32 [%d1+4], %r2;
done:
)"));
  std::vector<std::uint32_t> words(41);
  words[0] = 1;
  GlobalMemory memory;
  memory.allocate_host("out", address_of(words.data()), 41 * 4, true);
  WarpOptions options;
  options.threads = 4;
  CHECK_FALSE(run_on(*module, memory, words.data(), options, 40).fault);
  CHECK(words[40] == 41);
}
