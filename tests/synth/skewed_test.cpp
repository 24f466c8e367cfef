// Versions whose rows are one behind the other, in launches that are chosen by hand: an index wraps
// around between two rows or two columns, or rows are no step apart, or a step back. Buffers are as
// large as all 32-bit numbers ten times, and most of their pages are never touched.

#include "emulator/machine/compare_launches.h"
#include "synth/coarsen/coarsen.h"
#include "synth/siblings.h"
#include "tests/synth/versions.h"

#include <cstring>
#include <doctest/doctest.h>
#include <fmt/core.h>

namespace skewed_test {

using namespace ptxasw::synth;
using namespace ptxasw::emulator;

namespace {

constexpr const char *all_variants[] = {"wide-x4y8-rows-skewed-once", "wide-x4y4-rows-skewed-once",
                                        "wide-x2y4-rows-skewed-once-r64"};

/// A kernel over rows and points: `body` has a thread's %x and %y, the parameters %pitch and %far,
/// the pointer %a and its %step from row to row, and makes %s.
std::string kernel(const std::string &step, const std::string &body) {
  return fmt::format(R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out, .param .u32 w, .param .u32 h, .param .u32 pitch,
                  .param .u32 far)
{{
  .reg .b64 %a, %out, %to, %e, %o, %step, %p<8>;
  .reg .b32 %w, %h, %pitch, %far, %x, %y, %i, %s, %v, %M, %N, %r<9>;
  .reg .pred %q<5>;
  ld.param.u64 %a, [a];
  ld.param.u64 %out, [out];
  ld.param.u32 %w, [w];
  ld.param.u32 %h, [h];
  ld.param.u32 %pitch, [pitch];
  ld.param.u32 %far, [far];
  {}
  mov.u32 %r1, %ctaid.y;
  mov.u32 %r2, %ntid.y;
  mov.u32 %r3, %tid.y;
  mov.u32 %r4, %nctaid.y;
  mad.lo.s32 %y, %r1, %r2, %r3;
  mul.lo.s32 %M, %r4, %r2;
  setp.ge.s32 %q1, %y, %h;
  @%q1 bra DONE;
  mov.u32 %r5, %ctaid.x;
  mov.u32 %r6, %ntid.x;
  mov.u32 %r7, %tid.x;
  mov.u32 %r8, %nctaid.x;
  mul.lo.s32 %N, %r8, %r6;
ROWS:
  mad.lo.s32 %x, %r5, %r6, %r7;
  setp.ge.s32 %q2, %x, %w;
  @%q2 bra NEXT;
POINTS:
  mov.u32 %s, 1;
{}
  mad.lo.s32 %i, %y, %w, %x;
  mul.wide.s32 %o, %i, 4;
  add.s64 %to, %out, %o;
  st.global.u32 [%to], %s;
  add.s32 %x, %x, %N;
  setp.lt.s32 %q3, %x, %w;
  @%q3 bra POINTS;
NEXT:
  add.s32 %y, %y, %M;
  setp.lt.s32 %q4, %y, %h;
  @%q4 bra ROWS;
DONE:
  ret;
}}
)",
                     step, body);
}

/// Five rows of bytes from %p1 on, of each so many beside each other.
std::string column(unsigned beside) {
  std::string text;
  for (unsigned row = 1; row <= 5; ++row) {
    if (row > 1)
      text += fmt::format("  add.s64 %p{}, %p{}, %step;\n", row, row - 1);
    for (unsigned i = 0; i < beside; ++i)
      text += fmt::format("  ld.global.u8 %v, [%p{}+{}];\n  mad.lo.s32 %s, %s, 5, %v;\n", row, i);
  }
  return text;
}

/// A launch of the kernel, and that of a version in its place.
struct Launches {
  std::uint32_t width = 40, height = 20, pitch = 64, far = 0;
  std::uint64_t behind = 0; ///< by so many bytes the pointer is behind the buffer's beginning
};

LaunchDescription described(const Launches &launch, const Extents &grid, const Extents &block) {
  constexpr std::uint64_t all_numbers = std::uint64_t{1} << 32, more = 1 << 20;
  LaunchDescription made;
  made.grid = grid;
  made.block = block;
  const auto buffer = [&](const char *name, std::uint64_t size) {
    BufferDescription one;
    one.name = name;
    one.type = ScalarType::u8;
    one.size = size;
    one.alignment = 256;
    one.fill = GlobalMemory::Fill::random;
    return one;
  };
  made.buffers = {buffer("a", 10 * all_numbers + more),
                  buffer("out", std::uint64_t{4} * launch.width * launch.height)};
  made.buffers[0].is_compared = false;
  const auto pointer = [&](const char *name, std::uint64_t bytes) {
    made.arguments.push_back({{}, {{FieldDescription::Kind::buffer, 0, 8, bytes, name}}});
  };
  const auto number = [&](std::uint32_t value) {
    made.arguments.push_back({{}, {{FieldDescription::Kind::bits, 0, 4, value, ""}}});
  };
  pointer("a", launch.behind);
  pointer("out", 0);
  for (const std::uint32_t value : {launch.width, launch.height, launch.pitch, launch.far})
    number(value);
  return made;
}

/// Does the table let the version run there? Buffers are aligned to 256 bytes.
bool suits(const SiblingNeeds &needs, const Launches &launch, const Extents &grid,
           const Extents &block) {
  const std::uint64_t arguments[] = {launch.behind, 0,         launch.width, launch.height,
                                     launch.pitch,  launch.far};
  for (const ArgumentDivisor &one : needs.divisible)
    if (arguments[one.parameter] % one.divisor != 0)
      return false;
  return std::all_of(needs.bounded.begin(), needs.bounded.end(), [&](const IndexBound &bound) {
    return is_met(
        bound,
        [&](std::uint32_t axis) {
          const auto along = static_cast<int>(axis);
          return std::uint64_t{grid[along]} * block[along] - 1;
        },
        [&](const LaunchNumber &one) { return arguments[one.which]; });
  });
}

/// How many versions of a kernel compute what it does in all these launches.
unsigned same_in(const std::string &text, const std::vector<Launches> &launches) {
  const auto module = parsed(text);
  SiblingOptions options;
  options.wanted["retile"] = {std::begin(all_variants), std::end(all_variants)};
  const SiblingResult result = add_siblings(*module, options);
  CHECK(result.kernels.at(0).unproved.empty());
  const auto written = parsed(result.text);
  const WarpProgram program(*written);
  unsigned same = 0;
  for (const Proposal &version : result.kernels[0].written) {
    CAPTURE(version.variant);
    const Sibling &sibling = version.sibling;
    bool good = true;
    unsigned ran = 0;
    for (const Launches &launch : launches) {
      const Extents block{8, sibling.kind.find("rows") == std::string::npos ? 8u : 1u, 1};
      const Extents grid{(launch.width + block.x - 1) / block.x,
                         (launch.height + block.y - 1) / block.y, 1};
      if (!suits(sibling.needs, launch, grid, block))
        continue;
      ++ran;
      CAPTURE(launch.pitch);
      CAPTURE(launch.far);
      LaunchDescription own = described(launch, grid, block);
      own.kernel = "k";
      LaunchDescription others = own;
      others.kernel = sibling.name;
      for (int axis = 0; axis < 3; ++axis) {
        const auto i = static_cast<std::size_t>(axis);
        others.grid[axis] = (grid[axis] + sibling.grid[i] - 1) / sibling.grid[i];
        others.block[axis] = block[axis] / sibling.block[i];
      }
      for (const char axis : sibling.appended)
        others.arguments.push_back(
            {{}, {{FieldDescription::Kind::bits, 0, 4, grid[axis - 'x'], ""}}});
      CompareOptions how;
      how.schedules = 0;
      how.extra_reads = false;
      const CompareVerdict verdict = compare_launches(program, own, program, others, how);
      INFO(verdict.why);
      CHECK(verdict.kind == CompareVerdict::Kind::agree);
      good = good && verdict.kind == CompareVerdict::Kind::agree;
    }
    CHECK(ran >= 2);
    same += good;
  }
  return same;
}

/// Launches in which no index wraps around.
std::vector<Launches> that_do_not() {
  std::vector<Launches> all;
  for (const std::uint32_t pitch : {64u, 72u, 61u})
    all.push_back({40, 20, pitch, 4000, std::uint64_t{1} << 34});
  return all;
}

/// And others in which the index of a byte is `far` more, which wraps around in this row or that
/// one. A table may say that this must not be, if the index is a sum that it can tell of.
std::vector<Launches> that_wrap(bool is_signed) {
  std::vector<Launches> all = that_do_not();
  const std::uint32_t beyond = is_signed ? 0x80000000 : 0;
  for (const std::uint32_t pitch : {64u, 61u})
    for (const std::uint32_t row : {0u, 3u, 6u, 7u, 15u}) // some are the last of a version's
      for (const std::uint32_t column : {0u, 1u, 4u, 17u})
        all.push_back({40, 20, pitch, beyond - row * pitch - column, std::uint64_t{1} << 34});
  return all;
}

/// The beginning of a kernel, with a signed index or one without: what its table asks for of `far`
/// makes an index's low bits known, unless nobody sees through what is done with it.
std::string beginning(const char *extend, bool opaque) {
  return fmt::format("{} %step, %pitch;{}", extend,
                     opaque ? "\n  min.u32 %far, %far, 0xfffffffd;" : "");
}

} // namespace

TEST_CASE(
    "where an index wraps around between two rows, nothing is shared or nobody may launch it") {
  for (const bool is_signed : {true, false})
    for (const bool opaque : {true, false})
      for (const unsigned beside : {1u, 2u}) {
        CAPTURE(is_signed);
        CAPTURE(opaque);
        CAPTURE(beside);
        const char *const extend = is_signed ? "cvt.s64.s32" : "cvt.u64.u32";
        CHECK(same_in(kernel(beginning(extend, opaque),
                             fmt::format("  mad.lo.s32 %i, %y, %pitch, %x;\n"
                                         "  add.s32 %i, %i, %far;\n  {} %e, %i;\n"
                                         "  add.s64 %p1, %a, %e;\n{}",
                                         extend, column(beside))),
                      that_wrap(is_signed)) == std::size(all_variants));
      }
}

TEST_CASE("rows may be no step apart, or a step back") {
  std::vector<Launches> all = that_do_not();
  for (const std::uint32_t pitch : {0u, 0xffffffffu, 0xffffffc0u, 0x80000000u, 0x7fffffc0u})
    all.push_back({40, 20, pitch, 4000, std::uint64_t{1} << 34});
  for (const char *const extend : {"cvt.s64.s32", "cvt.u64.u32"})
    for (const bool opaque : {true, false})
      CHECK(same_in(kernel(beginning(extend, opaque),
                           fmt::format("  mad.lo.s32 %i, %y, %pitch, %x;\n"
                                       "  add.s32 %i, %i, %far;\n  {} %e, %i;\n"
                                       "  add.s64 %p1, %a, %e;\n{}",
                                       extend, column(2))),
                    all) == std::size(all_variants));
}

TEST_CASE(
    "where an index wraps around between two columns, nothing is wide or nobody may launch it") {
  for (const bool is_signed : {true, false})
    for (const bool opaque : {true, false}) {
      CAPTURE(is_signed);
      CAPTURE(opaque);
      const char *const extend = is_signed ? "cvt.s64.s32" : "cvt.u64.u32";
      CHECK(same_in(kernel(beginning(extend, opaque),
                           fmt::format("  mul.lo.s32 %i, %y, %pitch;\n"
                                       "  {0} %e, %i;\n  {0} %o, %x;\n"
                                       "  add.s64 %p1, %a, %e;\n  add.s64 %p6, %p1, %o;\n"
                                       "  ld.global.u8 %v, [%p6];\n"
                                       "  mad.lo.s32 %s, %s, 5, %v;\n"
                                       "  add.s32 %i, %x, %far;\n  {0} %o, %i;\n"
                                       "  add.s64 %p1, %p1, %o;\n{1}",
                                       extend, column(2))),
                    that_wrap(is_signed)) == std::size(all_variants));
    }
}

} // namespace skewed_test
