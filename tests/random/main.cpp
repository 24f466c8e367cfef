// random_kernels --seed S --count N [--verified V] [--runs R] [--keep DIRECTORY] [--shard I/N]
// [--json] [--siblings yes | --blocks yes | --wide yes | --rounds yes | --in-kernel yes]
//
// Random kernels, rewritten with --shuffle=always and options whose promises hold, and run against
// the original under random launches and schedules: N kernels, or as many as it takes until V have
// been verified, with every changed instruction executed. A kernel that disagrees is shrunk and
// printed. With --siblings they are re-tiled; with --blocks those that work in shared memory and
// wait at barriers are, whole blocks by one; with --wide kernels made for that get siblings with
// wide accesses; with --rounds such kernels have loops over the grid, and their siblings are those
// for launches in which these have one round; with --in-kernel kernels of both kinds get a version
// inside. Exit code 0: none
// did, and as much was rewritten, proved, compared and executed as is usual. With --shard only the
// I-th of N parts of the seeds; --json prints one line, which `ptxasw merge` adds up.

#include "emulator/machine/warp_verify.h"
#include "random_kernel.h"
#include "synth/coarsen/coarsen.h"
#include "synth/in_kernel/in_kernel.h"
#include "synth/resize/resize.h"
#include "synth/rewrite.h"
#include "synth/siblings.h"
#include "synth/spread.h"
#include "wide_kernel.h"
#include "wrapper/commands/shard.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/core.h>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

using namespace ptxasw::test;

namespace {

struct Totals {
  unsigned kernels = 0, changed = 0, agreed = 0, idle = 0, unchecked = 0, differ = 0;
  unsigned long launches = 0, shuffles = 0;
  unsigned long added = 0, never_ran = 0; ///< instructions, and lines of them
  unsigned unproved = 0;                  ///< loads whose rewrite was withdrawn
  // Versions for one round of loops over the grid: written, compared, and launches of these.
  unsigned once = 0, once_compared = 0, once_launches = 0;
};

std::size_t occurrences(const std::string &text, std::string_view word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++n;
  return n;
}

struct Checked {
  bool parsed = false, changed = false;
  bool exercised = false; ///< every instruction that changed was executed
  bool once = false;      ///< a version for one round of loops over the grid
  unsigned unproved = 0;
  KernelVerdict verdict;
  std::string rewritten;
};

/// One of the combinations of options that claim to be sound for this kernel.
RewriteOptions draw_options(const RandomKernel &kernel, std::uint64_t seed) {
  WarpRandom random(seed ^ 0x6f7074696f6e73);
  RewriteOptions options;
  options.shuffle = ShuffleMode::always;
  static constexpr int deltas[] = {31, 31, 31, 1, 2, 0};
  options.max_delta = deltas[random.below(std::size(deltas))];
  options.assume_no_alias = !kernel.stores_between && random.one_in(2);
  options.assume_no_wrap = !kernel.wraps && random.one_in(2);
  if (random.one_in(3))
    options.widths = Widths{random.one_in(2), random.one_in(2), !random.one_in(4), random.one_in(2),
                            random.one_in(2)};
  if (!random.one_in(4)) // all of them
    options.widths = Widths{};
  static constexpr int targets[] = {0, 0, 60, 70, 90};
  options.target_sm = targets[random.below(std::size(targets))];
  return options;
}

/// What stands in place of a line of a kernel; nothing: the line itself.
using LineChange = std::optional<std::string> (*)(std::string_view line);

bool holds(std::string_view line, std::string_view part) { return line.find(part) != line.npos; }

/// The RESULT of `op.x.y RESULT, ...`.
std::string_view result_of(std::string_view line) {
  const std::size_t begin = line.find('%'), end = line.find(',');
  return line.substr(begin, end - begin);
}

/// What lanes say to each other is something of the thread's own.
std::optional<std::string> with_own_value(std::string_view line) {
  if (holds(line, "%laneid"))
    return "\tand.b32 %lane, %tx, 31;";
  if (holds(line, "shfl.sync"))
    return fmt::format("\tmov.b32 {}, %acc;", result_of(line));
  if (holds(line, "vote.sync.ballot") || holds(line, "redux.sync"))
    return fmt::format("\tmov.b32 {}, 5;", result_of(line));
  if (holds(line, "cp.async") || holds(line, "vote.sync.any"))
    return "";
  return std::nullopt;
}

/// Without shared memory and barriers, too.
std::optional<std::string> for_a_thread_alone(std::string_view line) {
  for (const std::string_view part : {"tile", "%s, %s,", "[%s]", "bar."})
    if (holds(line, part))
      return "";
  return with_own_value(line);
}

/// With shared memory and barriers as whole blocks may have them.
std::optional<std::string> for_a_whole_block(std::string_view line) {
  for (const std::string_view part : {"bar.warp", "membar", "cvta.shared", "cvt.u64.u32 %e, %mine",
                                      "st.u32 [%e]", "param.b32 [y]", "%acc, [y]"})
    if (holds(line, part))
      return "";
  // All calls are of what only computes.
  if (holds(line, "\t{ .param"))
    return "\t{ .param .b32 x; .param .b32 y;";
  if (holds(line, "st.param") && holds(line, "[x]"))
    return "\tst.param.b32 [x], %acc;";
  if (holds(line, "call.uni"))
    return "\tcall.uni (y), mix, (x);\n\tld.param.b32 %acc, [y];";
  if (const std::size_t at = line.find("ld.volatile.shared"); at != line.npos)
    return std::string(line.substr(0, at + 2)) + std::string(line.substr(at + 11));
  if (holds(line, "st.shared.u32 [%s], %acc;")) // others may still read there
    return "\tbar.sync 0;\n" + std::string(line);
  // A register is a place in shared memory or a number.
  if (holds(line, "mov.u32 %s, %ctaid.y;"))
    return "\t.reg .b32 %sy;\n\tmov.u32 %sy, %ctaid.y;";
  if (holds(line, "mad.lo.u32 %t, %t, %u, %s;"))
    return "\tmad.lo.u32 %t, %t, %u, %sy;";
  // Nobody says what shared memory holds before it is written.
  if (holds(line, "mov.u32 %tile, tile;"))
    return R"(	.reg .b32 %fill, %step, %place;
	.reg .b64 %tile64;
	.reg .pred %more;
	mul.lo.u32 %step, %nx, %ny;
	mul.lo.u32 %step, %step, %nz;
	mov.u32 %fill, %flat;
FILL:
	mov.u32 %place, tile;
	mad.lo.u32 %place, %fill, 4, %place;
	st.shared.u32 [%place], %fill;
	add.u32 %fill, %fill, %step;
	setp.lt.u32 %more, %fill, 1056;
	@%more bra FILL;
	bar.sync 0;
	mov.u32 %tile, tile;)";
  if (holds(line, " mine[8192]")) // of blocks of 128 threads
    return "\t.shared .align 8 .b8 mine[1024];";
  return with_own_value(line);
}

/// The kernel without what is never re-tiled. And what a guarded load may leave as it was is 0
/// before: what a register holds that was never written nobody defines, and it differs where one
/// thread does the work of several.
std::string with_changes(const std::string &text, LineChange change) {
  const auto cleared = [](std::string_view line) {
    std::string zeros;
    const std::size_t load = line.find(" ld.");
    if (line.find('@') == line.npos || load == line.npos)
      return zeros;
    const std::string_view results = line.substr(load, line.find('[') - load);
    for (std::size_t at = 0; (at = results.find('%', at)) != results.npos; ++at) {
      const std::size_t end = results.find_first_of(" ,}", at + 1);
      const std::string_view name = results.substr(at, end - at);
      zeros += fmt::format("\tmov.b{} {}, 0;\n", name[1] == 'd' ? 64 : 32, name);
    }
    return zeros;
  };
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);)
    kept += cleared(line) + change(line).value_or(line) + "\n";
  return kept;
}

std::string without_neighbours(const std::string &text) {
  return with_changes(text, for_a_thread_alone);
}

/// The same for whole blocks, of at most 128 threads.
std::string with_whole_blocks(const std::string &text) {
  std::string changed = text;
  const std::string_view place = "mov.u64 %e, tile;"; // a register is an address or a number
  for (std::size_t at = 0; (at = changed.find(place, at)) != changed.npos;) {
    changed.replace(at + 8, 2, "%tile64");
    changed.replace(changed.find("%e;", at), 2, "%tile64");
  }
  std::string result = with_changes(changed, for_a_whole_block);
  if (!holds(result, "ntid 1") && !holds(result, "ntid 6") && !holds(result, "ntid 9") &&
      !holds(result, "ntid 3"))
    result.replace(result.find("\n{", result.find(".entry")), 1, "\n.maxntid 128\n");
  const std::size_t large = result.find(".maxntid 16, 16, 1");
  if (large != result.npos)
    result.replace(large, 18, ".maxntid 16, 8, 1 ");
  return result;
}

/// What all threads, or some, print, and what they are sure of.
std::vector<std::string> tells(WarpRandom &random) {
  const std::string n = std::to_string(random.below(1'000'000'000));
  std::vector<std::string> lines{"{", ".reg .b64 %wl<5>;", "mov.u64 %wl0, told;",
                                 "cvta.global.u64 %wl1, %wl0;"};
  const auto add = [&](std::initializer_list<std::string> more) {
    lines.insert(lines.end(), more);
  };
  if (random.one_in(2)) {
    add({"and.b32 %wv, %acc, 1;", "setp.lt.u32 %wp, %wv, 2;", "@%wp bra SURE" + n + ";",
         ".param .b64 a" + n + "; .param .b64 b" + n + "; .param .b32 c" + n + "; .param .b64 d" +
             n + "; .param .b64 e" + n + ";",
         "st.param.b64 [a" + n + "], %wl1;", "st.param.b64 [b" + n + "], %wl1;",
         "st.param.b32 [c" + n + "], 7;", "st.param.b64 [d" + n + "], %wl1;",
         "st.param.b64 [e" + n + "], 1;",
         "call.uni __assertfail, (a" + n + ", b" + n + ", c" + n + ", d" + n + ", e" + n + ");"});
  } else {
    if (random.one_in(2))
      add({"and.b32 %wv, %acc, 3;", "setp.ne.u32 %wp, %wv, 1;", "@%wp bra SURE" + n + ";"});
    add({".local .align 8 .b8 words" + n + "[8];", "mov.u64 %wl2, words" + n + ";",
         "cvta.local.u64 %wl3, %wl2;", "st.local.u32 [%wl2], %acc;",
         "st.local.u32 [%wl2+4], %flat;",
         ".param .b64 a" + n + "; .param .b64 b" + n + "; .param .b32 c" + n + ";",
         "st.param.b64 [a" + n + "], %wl1;", "st.param.b64 [b" + n + "], %wl3;",
         "call.uni (c" + n + "), vprintf, (a" + n + ", b" + n + ");",
         "ld.param.b32 %wv, [c" + n + "];", "mad.lo.u32 %acc, %acc, 5, %wv;"});
  }
  add({"}", "SURE" + n + ":"});
  return lines;
}

/// What lanes of a warp do together, or ask, where all threads of a block come alike; `%acc`
/// depends on it afterwards. Lanes that the last warp does not have are not asked.
std::vector<std::string> of_a_warp(WarpRandom &random) {
  const std::string distance = std::to_string(1 + random.below(31));
  switch (random.below(20)) {
  case 0:
    return {"mov.u32 %wm, -1;", "mov.u32 %wu, 0;", "mov.u32 %wv, " + distance + ";",
            "shfl.sync.up.b32 %wv|%wp, %acc, %wv, %wu, %wm;", "@%wp add.u32 %acc, %acc, %wv;"};
  case 1:
    return {"mov.b32 %wm, 0xffffffff;",
            "setp.gt.s32 %wp, %acc, " + distance + ";",
            "vote.sync.ballot.b32 %wv, %wp, %wm;",
            "mov.u32 %wu, %lanemask_lt;",
            "and.b32 %wv, %wv, %wu;",
            "popc.b32 %wv, %wv;",
            "mad.lo.u32 %acc, %acc, 5, %wv;"};
  case 2:
    return {"mov.u32 %wv, %laneid;", "mad.lo.u32 %acc, %wv, " + distance + ", %acc;"};
  case 3:
    return {"mov.s32 %wm, -1;", "and.b32 %wu, %acc, 3;", "match.any.sync.b32 %wv, %wu, %wm;",
            "xor.b32 %acc, %acc, %wv;"};
  case 4:
    return {"mov.u32 %wm, -1;", "bar.warp.sync %wm;", "mov.u32 %wu, %lanemask_ge;",
            "xor.b32 %acc, %acc, %wu;"};
  case 5: // in the thread's own place
    return {"atom.shared.add.u32 %wr, [%mine], " + distance + ";"};
  case 6:
    return {"mov.u32 %wm, -1;", "mov.u32 %wu, 31;", "mov.u32 %wv, 0;",
            "shfl.sync.idx.b32 %wv, %acc, %wv, %wu, %wm;", "mad.lo.u32 %acc, %acc, 3, %wv;"};
  case 7: { // every other warp
    const std::string label = fmt::format("WARP{}", random.below(1'000'000'000));
    return {"shr.u32 %wv, %wnumber, 5;",
            "and.b32 %wv, %wv, 1;",
            "setp.eq.u32 %wp, %wv, 0;",
            "@%wp bra " + label + ";",
            "mov.u32 %wm, -1;",
            "mov.u32 %wu, 0;",
            "mov.u32 %wv, " + distance + ";",
            "shfl.sync.up.b32 %wv|%wp, %acc, %wv, %wu, %wm;",
            "@%wp add.u32 %acc, %acc, %wv;",
            label + ":"};
  }
  case 8: { // the first warp of each row, or every other one of those of the grid, in whole rows
    const std::string label = fmt::format("ROW{}", random.below(1'000'000'000));
    std::vector<std::string> lines{"setp.gt.u32 %wp, %wx0, 31;"};
    if (const auto n = random.below(1'000'000'000); n % 2 == 0)
      lines = {fmt::format(".reg .b32 %wy{0}, %wz{0};", n),
               fmt::format("mad.lo.u32 %wy{}, %wrow, %wx3, %wx0;", n),
               fmt::format("shr.u32 %wz{0}, %wy{0}, 5;", n),
               fmt::format("and.b32 %wv, %wz{}, 1;", n), "setp.eq.u32 %wp, %wv, 0;"};
    for (const std::string &line :
         {"@%wp bra " + label + ";", std::string("mov.u32 %wm, -1;"),
          std::string("mov.u32 %wu, 0;"), "mov.u32 %wv, " + distance + ";",
          std::string("shfl.sync.up.b32 %wv|%wp, %acc, %wv, %wu, %wm;"),
          std::string("@%wp add.u32 %acc, %acc, %wv;"), label + ":"})
      lines.push_back(line);
    return lines;
  }
  case 9:
    return {"griddepcontrol.wait;", "cp.async.commit_group;", "griddepcontrol.launch_dependents;",
            "cp.async.wait_group 0;"};
  case 10:
  case 11:
    return tells(random);
  case 12: // what the thread before stored
    return {"{",
            ".reg .b32 %we;",
            "st.relaxed.cta.shared.u32 [%tile_own+16], %acc;",
            "bar.sync 0;",
            "ld.relaxed.cta.shared.u32 %we, [%tile_own+12];",
            "mad.lo.u32 %acc, %acc, 5, %we;",
            "bar.sync 0;",
            "}"};
  case 13: { // by some
    const std::string space = random.one_in(2) ? ".global" : "";
    return {"{",
            ".reg .b32 %we;",
            "and.b32 %we, %acc, 3;",
            "setp.ne.u32 %wp, %we, 1;",
            "@%wp st.relaxed.cta.global.u32 [%out+52], %acc;",
            "mov.u32 %we, " + distance + ";",
            "@%wp ld.relaxed.cta" + space + ".u32 %we, [%out+52];",
            "mad.lo.u32 %acc, %acc, 7, %we;",
            "}"};
  }
  case 14:
    return {"{",
            ".reg .b64 %wt<2>;",
            ".reg .b32 %we<5>;",
            "mov.u64 %wt0, object;",
            "cvta.global.u64 %wt1, %wt0;",
            "and.b32 %we4, %acc, 7;",
            "tex.1d.v4.u32.s32 {%we0, %we1, %we2, %we3}, [%wt1, {%we4}];",
            "mad.lo.u32 %acc, %acc, 3, %we0;",
            "}"};
  case 15:
    return {"{",
            ".reg .b32 %we<5>;",
            "mov.u32 %we4, " + distance + ";",
            "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%we0, %we1, %we2, %we3}, "
            "{%acc, %we4}, {%acc}, {%we4, %we4, %we4, %we4};",
            "mad.lo.u32 %acc, %acc, 3, %we1;",
            "xor.b32 %acc, %acc, %we2;",
            "}"};
  case 18:
    return {"{",
            ".reg .b64 %wt<2>;",
            ".reg .b32 %we<2>;",
            "mov.u64 %wt0, drawn;",
            "cvta.global.u64 %wt1, %wt0;",
            "and.b32 %we1, %acc, 28;",
            "suld.b.1d.b32.trap {%we0}, [%wt1, {%we1}];",
            "mad.lo.u32 %acc, %acc, 3, %we0;",
            "}"};
  case 19:
    return {"{", ".reg .b32 %we;", "movmatrix.sync.aligned.m8n8.trans.b16 %we, %acc;",
            "mad.lo.u32 %acc, %acc, 3, %we;", "}"};
  case 16: { // what was in a place of the thread's own, asked by some
    static constexpr std::array operations{"add.u32", "exch.b32", "xor.b32", "max.s32", "inc.u32"};
    const std::string operation = operations[random.below(operations.size())];
    const std::string place = random.one_in(2) ? "shared." : "global.";
    return {"{",
            ".reg .b32 %we;",
            "and.b32 %we, %acc, 3;",
            "setp.ne.u32 %wp, %we, 1;",
            "mov.u32 %we, " + distance + ";",
            "@%wp atom." + place + operation + " %we, " +
                (place == "shared." ? "[%mine]" : "[%out+52]") + ", %acc;",
            "mad.lo.u32 %acc, %acc, 5, %we;",
            "}"};
  }
  default: { // some lanes go a way of their own first
    const std::string label = fmt::format("WAY{}", random.below(1'000'000'000));
    return {"mov.u32 %wv, %laneid;",
            "setp.lt.u32 %wp, %wv, " + distance + ";",
            "@%wp bra " + label + ";",
            "mad.lo.u32 %acc, %acc, 7, %wv;",
            label + ":",
            "mov.u32 %wm, -1;",
            "setp.eq.u32 %wp, %acc, 3;",
            "vote.sync.any.pred %wp, %wp, %wm;",
            "@%wp add.u32 %acc, %acc, 11;"};
  }
  }
}

/// A kernel of whole blocks in which lanes of a warp also work together where all threads wait for
/// each other, and, in some, the launch says how large the tile is.
std::string with_warps(const std::string &text, std::uint64_t seed) {
  WarpRandom random(seed ^ 0x77617270);
  const bool dynamic = random.one_in(2);
  std::istringstream lines(text);
  std::string kept;
  bool declared = false;
  for (std::string line; std::getline(lines, line);) {
    if (dynamic && holds(line, ".shared .align 4 .b8 tile[4224];"))
      continue;
    if (holds(line, ".entry"))
      kept += ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
              ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, "
              ".param .b64 d, .param .b64 e);\n"
              ".global .align 1 .b8 told[9] = {107, 40, 41, 58, 37, 117, 32, 10, 0};\n"
              ".global .align 4 .b32 elements[8] = {11, 48, 85, 21, 58, 95, 31, 68};\n"
              // emulator/machine/texture.h
              ".global .align 8 .u64 object[16] = {0x5854777361787470, 0x1012000, 0x10000, 0, 0, "
              "generic(elements), 8, 1, 1, 32};\n"
              ".global .align 8 .u64 drawn[16] = {0x5854777361787470, 0x1000001012000, 0, 0, 0, "
              "generic(elements), 8, 1, 1, 32};\n";
    if (dynamic && holds(line, ".entry"))
      kept += ".extern .shared .align 16 .b8 tile[];\n";
    if (dynamic && holds(line, "mov.u64 %tile64, tile;"))
      line = "\tmov.u32 %wv, tile;\n\tcvt.u64.u32 %tile64, %wv;";
    kept += line + "\n";
    if (holds(line, ".reg .b64 %tile64;")) {
      kept += "\t.reg .b32 %wm, %wu, %wv, %wr, %wx<7>, %wnumber, %wrow;\n\t.reg .pred %wp;\n"
              "\tmov.u32 %wx0, %tid.x;\n\tmov.u32 %wx1, %tid.y;\n\tmov.u32 %wx2, %tid.z;\n"
              "\tmov.u32 %wx3, %ntid.x;\n\tmov.u32 %wx4, %ntid.y;\n"
              "\tmad.lo.u32 %wx5, %wx4, %wx2, %wx1;\n"
              "\tmad.lo.u32 %wnumber, %wx5, %wx3, %wx0;\n\tmov.u32 %wrow, %ctaid.x;\n";
      declared = true;
    }
    if (declared && line == "\tbar.sync 0;" && holds(kept, "%mine, %flat, 8, %mine") &&
        !random.one_in(3))
      for (const std::string &one : of_a_warp(random))
        kept += "\t" + one + "\n";
  }
  return kept;
}

/// The kernel with one index along x, in place of a block's and a thread's: points along x can then
/// be spread.
std::string with_one_index(const std::string &text) {
  const std::pair<std::string_view, std::string_view> changes[] = {
      {"mov.u32 %tx, %tid.x;", "mov.u32 %x0, %ctaid.x; mov.u32 %x1, %ntid.x; mov.u32 %x2, %tid.x; "
                               "mad.lo.u32 %tx, %x0, %x1, %x2;"},
      {"mov.u32 %nx, %ntid.x;", "mov.u32 %x3, %nctaid.x; mul.lo.u32 %nx, %x3, %x1;"},
      {"mov.u32 %bx, %ctaid.x;", "mov.u32 %bx, 0;"},
      {"mov.u32 %u, %nctaid.x;", "mov.u32 %u, 1;"},
      {".reg .b32 %n,", ".reg .b32 %x<4>; .reg .b32 %n,"}};
  std::string result = text;
  for (const auto &[from, to] : changes)
    if (const std::size_t at = result.find(from); at != result.npos)
      result.replace(at, from.size(), to);
  return result;
}

/// Launches beyond those asked for, to find what has not run: few, as there are many kernels.
constexpr unsigned search = 40;
constexpr unsigned search_inside = 200; ///< the kernel's own code is added, too, behind tests
constexpr std::uint64_t step_limit = 200'000;

VerifyOptions how_to_verify(unsigned runs, std::uint64_t seed) {
  VerifyOptions how;
  how.runs = runs;
  how.seed = seed;
  how.step_limit = step_limit;
  how.search = search;
  how.schedules = 1;
  how.small = true;
  return how;
}

/// A version of a kernel in which a thread does the work of several of its block along some axis,
/// if it gains by that or not.
Checked check_neighbours(const std::string &text, const Module &original, unsigned runs,
                         std::uint64_t seed, WarpRandom &random) {
  Checked result;
  result.parsed = true;
  const Function &kernel = original.functions.back();
  if (spread_obstacle({original, kernel}) || !may_be_spread({original, kernel}))
    return result;
  Proposal proposal;
  proposal.sibling.name = "neighbours";
  proposal.sibling.block[random.below(3) * random.below(2)] = 2u << random.below(3);
  proposal.sibling.kind = "neighbours";
  result.changed = true;
  result.rewritten = text + write_coarsen({original, kernel}, proposal);
  const auto written = parse(result.rewritten, "neighbours.ptx");
  if (!written) {
    fmt::print("seed {}: {}", seed, format(written.error()));
    result.parsed = false;
    return result;
  }
  const auto proof = prove_coarsen({**written, (*written)->functions.rbegin()[1]},
                                   (*written)->functions.back(), proposal);
  if (!proof) {
    fmt::print("seed {}: neighbours are not proved: {}\n", seed, proof.error().why);
    result.parsed = false;
    return result;
  }
  VerifyOptions how = how_to_verify(runs, seed);
  how.kernel = kernel.name;
  how.stand_in = proposal.sibling;
  result.verdict = verify(**written, **written, how)[0];
  result.exercised = result.verdict.not_exercised.empty();
  return result;
}

std::vector<std::string> wide_variants() {
  std::vector<std::string> variants = family_option("retile").variants;
  std::erase_if(variants, [](const std::string &word) { return !word.starts_with("wide"); });
  return variants;
}

/// Threads that a block of a kernel may have.
std::uint64_t most_threads(const Function &kernel) {
  std::uint64_t most = 1024;
  if (const PerformanceDirective *const bound = kernel.directive("maxntid"))
    most = std::uint64_t{bound->values[0]} * std::max(1u, bound->values[1]) *
           std::max(1u, bound->values[2]);
  return most;
}

/// A version of a kernel; where the kernel's blocks may have other shapes, one time in two that
/// version in blocks of such a shape, drawn among those that it can be launched in.
Sibling in_drawn_blocks(const KernelContext &context, const Sibling &version, std::uint64_t seed) {
  WarpRandom random(seed ^ 0x637574);
  const FreeAxes axes = free_axes(context);
  const bool of_rows = version.kind.find("rows") != std::string::npos;
  if (random.one_in(2) || (!version.needs.blocks.empty() && !of_rows)) // of some shapes alone
    return version;
  std::array<std::uint32_t, 3> extent{};
  for (const auto &[axis, free] : {std::pair{0, axes.x}, {1, axes.y}, {2, axes.z}})
    if (free && !(axis > 0 && random.one_in(3))) {
      const std::uint32_t multiple = version.block[axis];
      extent[axis] = std::max(multiple, (axis == 0 ? 2u : 1u) << random.below(axis == 0 ? 6 : 3)) /
                     multiple * multiple;
      // Where copies are rows, blocks are one thread thick.
      if (of_rows && version.grid[axis] > 1)
        extent[axis] = 1;
    }
  for (std::size_t axis = 3; axis-- > 0;)
    while (extent[axis] > version.block[axis] && std::uint64_t{std::max(1u, extent[0])} *
                                                         std::max(1u, extent[1]) *
                                                         std::max(1u, extent[2]) >
                                                     most_threads(context.kernel))
      extent[axis] = std::max(version.block[axis], extent[axis] / 2);
  if (extent == std::array<std::uint32_t, 3>{})
    return version;
  for (std::size_t axis = 0; axis < 3; ++axis) // those of the version itself are asked for
    extent[axis] /= version.block[axis];
  return in_other_blocks({version}, {reshaped(context, extent)}, 1).at(0);
}

/// The siblings of a kernel that options name, at most one, run beside it.
Checked check_variants(const Module &original, const SiblingOptions &options, unsigned runs,
                       std::uint64_t seed) {
  Checked result;
  result.parsed = true;
  const SiblingResult siblings = add_siblings(original, options);
  const KernelSiblings &kernel = siblings.kernels.at(0);
  for (const UnprovedSibling &one : kernel.unproved) {
    fmt::print("seed {}: {} is not proved: {}\n", seed, one.name, one.why);
    result.parsed = false;
  }
  if (!siblings.changed)
    return result;
  result.changed = true;
  result.rewritten = siblings.text;
  const auto written = parse(siblings.text, "siblings.ptx");
  VerifyOptions how = how_to_verify(runs, seed);
  how.kernel = kernel.kernel;
  how.stand_in =
      in_drawn_blocks({original, original.functions.back()}, kernel.written.at(0).sibling, seed);
  result.verdict = verify(**written, **written, how)[0];
  result.exercised = result.verdict.not_exercised.empty();
  return result;
}

/// One re-tiled version of a kernel, drawn, beside the kernel; `wide`: with wide accesses.
Checked check_sibling(const std::string &text, unsigned runs, std::uint64_t seed, bool wide,
                      bool whole_blocks = false) {
  Checked result;
  const auto original = parse(text, "random.ptx");
  if (!original) {
    fmt::print("seed {}: {}", seed, format(original.error()));
    return result;
  }
  result.parsed = true;
  WarpRandom random(seed ^ 0x7369626c696e67);
  if (!wide && !whole_blocks && random.one_in(3))
    return check_neighbours(text, **original, runs, seed, random);
  SiblingOptions options;
  if (wide) {
    // Any of the wide ones that is proposed.
    std::vector<std::string> &wanted = options.wanted["retile"];
    wanted = wide_variants();
    options.most = 1;
    for (std::size_t i = random.below(wanted.size()); i > 0; --i)
      std::rotate(wanted.begin(), wanted.begin() + 1, wanted.end());
    wanted.resize(4);
  } else {
    options.wanted["retile"] = {
        fmt::format("{}{}", "xxxyz"[random.below(5)], 2 << random.below(3))};
  }
  return check_variants(**original, options, runs, seed);
}
/// A kernel and one of the siblings with wide accesses that are proposed for it, drawn; one time in
/// two, or always if it is for that, one for one round of loops over the grid.
Checked check_wide(const std::string &text, unsigned runs, std::uint64_t seed, bool once) {
  const auto module = parse(text, "wide.ptx");
  if (!module)
    return {};
  const KernelContext context(**module, (*module)->functions.back());
  std::vector<std::string> variants, of_once;
  for (const char *family : {"vectorise", "retile"}) {
    if (family != std::string_view("vectorise") && !once)
      continue;
    for (const Proposal &one : propose(*find_family(family), context).proposals)
      (one.sibling.needs.covered.empty() ? variants : of_once).push_back(one.variant);
  }
  Checked nothing;
  nothing.parsed = true;
  WarpRandom random(seed ^ 0x64726177);
  const bool may_be_once = !of_once.empty() && (once || random.one_in(2));
  if (may_be_once || variants.empty())
    variants = of_once;
  // Those whose rows are one behind the other are few.
  if (std::vector<std::string> skewed = variants;
      std::erase_if(
          skewed, [](const std::string &one) { return one.find("-skewed") == std::string::npos; }),
      !skewed.empty() && random.one_in(2))
    variants = skewed;
  if (variants.empty())
    return nothing;
  SiblingOptions options;
  options.wanted["retile"] = {variants[random.below(variants.size())]};
  Checked result = check_variants(**module, options, runs, seed);
  result.once = result.changed &&
                (may_be_once || options.wanted["retile"][0].find("-once") != std::string::npos);
  return result;
}

/// The kernel with one of the versions in it that it can have, drawn, for a block that is drawn,
/// too, and stands in the PTX or is promised. Launches with other blocks are compared as well.
Checked check_in_kernel(const std::string &text, unsigned runs, std::uint64_t seed) {
  Checked result;
  auto module = parse(text, "random.ptx");
  if (!module)
    return result;
  result.parsed = true;
  WarpRandom random(seed ^ 0x696e6b);
  static constexpr BlockShape shapes[] = {{32, 1, 1}, {64, 1, 1}, {16, 1, 1}, {24, 1, 1},
                                          {8, 4, 1},  {4, 8, 1},  {16, 2, 2}, {6, 2, 1}};
  const BlockShape block = shapes[random.below(std::size(shapes))];
  std::string before = text;
  if (!(*module)->functions.back().directive("maxntid") && random.one_in(2)) {
    before.insert((*module)->functions.back().body.begin,
                  fmt::format(".reqntid {}, {}, {}\n", block.x, block.y, block.z));
    module = parse(before, "random.ptx");
  }
  const Function &kernel = (*module)->functions.back();
  const auto variants = in_kernel_variants({**module, kernel}, block).variants;
  if (variants.empty())
    return result;
  const InKernelResult made =
      replace_in_kernel(**module, {{}, {variants[random.below(variants.size())]}, block});
  for (const std::string &why : made.kernels.at(0).why)
    if (why.find("unproved") != std::string::npos) {
      fmt::print("seed {}: {}\n", seed, why);
      result.parsed = false;
    }
  if (!made.changed)
    return result;
  result.changed = true;
  result.rewritten = made.text;
  const auto written = parse(made.text, "in-kernel.ptx");
  VerifyOptions how = how_to_verify(runs, seed);
  how.whole_grid = true;
  how.search = search_inside;
  result.verdict = verify(**module, **written, how)[0];
  result.exercised = result.verdict.not_exercised.empty();
  return result;
}

/// What is to be done with a kernel: rewritten in place, or given siblings, or one inside.
enum class Task : std::uint8_t { rewrite, siblings, blocks, wide, rounds, in_kernel };

/// Half of the kernels that get a sibling inside are of those for which wide accesses are proposed.
bool is_wide(Task task, std::uint64_t seed) {
  return task == Task::wide || task == Task::rounds || (task == Task::in_kernel && seed % 2 == 1);
}

/// What random kernels come to, in hundredths: somewhat less than what was measured.
struct Floor {
  unsigned changed;  ///< of the kernels: that are rewritten
  unsigned compared; ///< of those: that were compared on enough launches
  unsigned executed; ///< of the instructions that changed
  unsigned once = 0; ///< of the kernels: that have a version for one round that was compared
};

constexpr Floor floor_of(Task task) {
  switch (task) {
  case Task::rewrite:
    return {60, 90, 90};
  case Task::siblings:
    return {25, 80, 60};
  case Task::blocks:
    return {15, 80, 35};
  case Task::wide:
    return {50, 95, 60};
  case Task::rounds:
    return {80, 95, 50, 50};
  case Task::in_kernel:
    break;
  }
  return {50, 80, 50};
}

/// Fewer say little about hundredths.
constexpr unsigned kernels_for_a_floor = 20;
/// Loads whose rewrite is withdrawn, for a hundred shuffles, at most.
constexpr unsigned unproved_loads = 1;

/// What falls short of the floor, a line each. Every version that is not proved is a failure of its
/// own; of loads that are replaced in place a few are withdrawn.
std::string below_floor(Task task, const Totals &totals) {
  std::string lines;
  if (totals.kernels < kernels_for_a_floor)
    return lines;
  const auto at_least = [&](const char *what, unsigned long found, unsigned hundredths,
                            unsigned long all) {
    if (100 * found < hundredths * all)
      lines += fmt::format("only {} of {} {}: at least {} of a hundred are expected\n", found, all,
                           what, hundredths);
  };
  const Floor floor = floor_of(task);
  at_least("kernels are rewritten", totals.changed, floor.changed, totals.kernels);
  at_least("rewritten kernels were compared", totals.changed - totals.unchecked, floor.compared,
           totals.changed);
  at_least("changed instructions were executed",
           totals.added - std::min(totals.added, totals.never_ran), floor.executed, totals.added);
  at_least("kernels have a version for one round that was compared", totals.once_compared,
           floor.once, totals.kernels);
  if (100 * totals.unproved > unproved_loads * totals.shuffles)
    lines +=
        fmt::format("the rewrites of {} loads are not proved, beside {} shuffles: at most {} of "
                    "a hundred are expected\n",
                    totals.unproved, totals.shuffles, unproved_loads);
  return lines;
}

struct Plan {
  Task task = Task::rewrite;
  RewriteOptions options; ///< of a rewrite

  std::string text(const Piece &body, std::uint64_t seed) const {
    const std::string all = is_wide(task, seed) ? wide_module_text(body) : module_text(body);
    return task == Task::blocks ? with_warps(with_whole_blocks(all), seed) : all;
  }
};

Checked check(const std::string &text, const Plan &plan, unsigned runs, std::uint64_t seed) {
  if (plan.task == Task::wide || plan.task == Task::rounds)
    return check_wide(text, runs, seed, plan.task == Task::rounds);
  if (plan.task == Task::in_kernel)
    return check_in_kernel(is_wide(plan.task, seed) ? text : without_neighbours(text), runs, seed);
  if (plan.task == Task::blocks)
    return check_sibling(text, runs, seed, false, true);
  if (plan.task == Task::siblings)
    return seed % 2 == 0
               ? check_sibling(without_neighbours(text), runs, seed, false)
               : check_sibling(with_one_index(without_neighbours(text)), runs, seed, true);
  const RewriteOptions &options = plan.options;
  Checked result;
  const auto original = parse(text, "random.ptx");
  if (!original) {
    fmt::print("{}", format(original.error()));
    return result;
  }
  result.parsed = true;
  const auto rewritten = rewrite_module(text, "random.ptx", options);
  if (!rewritten)
    return result;
  for (const KernelReport &kernel : rewritten->report.kernels)
    result.unproved +=
        std::count_if(kernel.kept.begin(), kernel.kept.end(),
                      [](const KeptRecord &kept) { return kept.reason == Reason::unproved; });
  if (!rewritten->changed)
    return result;
  result.changed = true;
  result.rewritten = rewritten->text;
  const auto other = parse(rewritten->text, "rewritten.ptx");
  if (!other) {
    fmt::print("{}", format(other.error()));
    result.parsed = false;
    return result;
  }
  VerifyOptions how = how_to_verify(runs, seed);
  how.no_wrap = options.assume_no_wrap;
  how.no_alias = options.assume_no_alias;
  result.verdict = verify(**original, **other, how)[0];
  result.exercised =
      result.verdict.not_exercised.empty() && result.verdict.gone_not_exercised.empty();
  return result;
}

std::string describe(const RewriteOptions &options) {
  const Widths w = options.widths.value_or(Widths{});
  return fmt::format("max-delta {}, no-alias {}, no-wrap {}, widths {}{}{}{}{}{}, target {}",
                     options.max_delta, options.assume_no_alias, options.assume_no_wrap,
                     options.widths.has_value() ? "" : "the target's ", w.b8 ? "8 " : "",
                     w.b16 ? "16 " : "", w.b32 ? "32 " : "", w.b64 ? "64 " : "",
                     w.vector ? "vector" : "", options.target_sm);
}

/// Leaves out pieces as long as the kernel still disagrees.
Checked shrink(Piece &body, const Plan &plan, Checked last, unsigned runs, std::uint64_t seed) {
  for (bool progress = true; progress;) {
    progress = false;
    auto pieces = removable_pieces(body);
    for (auto place = pieces.rbegin(); place != pieces.rend(); ++place) {
      std::unique_ptr<Piece> removed = std::move(**place);
      Checked candidate = check(plan.text(body, seed), plan, runs, seed);
      if (candidate.changed && candidate.verdict.kind == KernelVerdict::Kind::differ) {
        last = std::move(candidate);
        progress = true;
        break;
      }
      **place = std::move(removed);
    }
  }
  return last;
}

RandomKernel draw(const Plan &plan, std::uint64_t seed) {
  return is_wide(plan.task, seed) ? random_wide_kernel(seed, plan.task == Task::rounds)
                                  : random_kernel(seed, plan.task == Task::blocks);
}

int wrong_words(std::string_view words) {
  fmt::print(stderr, "random_kernels: not understood: {}\n", words);
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  std::uint64_t seed = 1, count = 300, verified = ~std::uint64_t{0};
  unsigned runs = 4;
  std::string keep;
  Shard shard;
  bool json = false;
  Plan plan;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--json") {
      json = true;
      --i;
    } else if (i + 1 == argc)
      return wrong_words(option);
    else if (option == "--shard") {
      const auto given = parse_shard(argv[i + 1]);
      if (!given)
        return wrong_words(argv[i + 1]);
      shard = *given;
    } else if (option == "--seed")
      seed = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--count")
      count = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--verified") {
      verified = std::strtoull(argv[i + 1], nullptr, 10);
      count = ~seed; // as many as it takes
    } else if (option == "--runs")
      runs = static_cast<unsigned>(std::strtoul(argv[i + 1], nullptr, 10));
    else if (option == "--keep")
      keep = argv[i + 1];
    else if (option == "--siblings")
      plan.task = Task::siblings;
    else if (option == "--blocks")
      plan.task = Task::blocks;
    else if (option == "--wide")
      plan.task = Task::wide;
    else if (option == "--rounds")
      plan.task = Task::rounds;
    else if (option == "--in-kernel")
      plan.task = Task::in_kernel;
    else if (option == "--print") {
      const std::uint64_t s = std::strtoull(argv[i + 1], nullptr, 10);
      fmt::print("{}", plan.text(*draw(plan, s).body, s));
      return 0;
    } else
      return wrong_words(option);
  }
  if (shard.count > 1 && verified != ~std::uint64_t{0})
    return wrong_words("--verified with --shard: nobody knows which seeds that will be");
  const auto [first, last] = shard.range(count);
  Totals totals;
  bool broken = false;
  std::vector<std::uint64_t> failed;
  for (std::uint64_t s = seed + first; s < seed + last && totals.agreed < verified; ++s) {
    const RandomKernel kernel = draw(plan, s);
    const auto &body = kernel.body;
    if (plan.task == Task::rewrite)
      plan.options = draw_options(kernel, s);
    Checked result = check(plan.text(*body, s), plan, runs, s);
    ++totals.kernels;
    totals.unproved += result.unproved;
    if (!result.parsed) {
      fmt::print(stderr, "seed {}: not PTX\n{}", s, plan.text(*body, s));
      failed.push_back(s);
      broken = true;
      continue;
    }
    if (!result.changed)
      continue;
    ++totals.changed;
    totals.shuffles += occurrences(result.rewritten, "shfl.sync");
    totals.launches += result.verdict.agreed;
    totals.added += result.verdict.changed;
    totals.never_ran += result.verdict.not_exercised.size();
    totals.once += result.once;
    totals.once_compared += result.once && result.verdict.kind != KernelVerdict::Kind::unchecked;
    totals.once_launches += result.once ? result.verdict.agreed : 0;
    if (result.verdict.kind == KernelVerdict::Kind::unchecked) {
      ++totals.unchecked;
      if (getenv("VERBOSE"))
        for (const auto &[why, n] : result.verdict.unusable)
          fmt::print("seed {}: {} {}\n", s, n, why);
      continue;
    }
    if (result.verdict.kind != KernelVerdict::Kind::differ) {
      ++(result.exercised ? totals.agreed : totals.idle);
      continue;
    }
    ++totals.differ;
    failed.push_back(s);
    const std::string counter_example = result.verdict.counter_example;
    const Checked small = shrink(*body, plan, std::move(result), 4 * runs, s);
    const std::string report = fmt::format(
        "// seed {}, {}\n{}\n/*\n{}\nbefore shrinking:\n{}\nrewritten:\n{}*/\n", s,
        plan.task == Task::rewrite ? describe(plan.options) : "siblings", plan.text(*body, s),
        small.verdict.counter_example, counter_example, small.rewritten);
    fmt::print(json ? stderr : stdout, "{}", report);
    if (!keep.empty())
      std::ofstream(fmt::format("{}/random-{}.txt", keep, s)) << report;
  }
  const std::string below = below_floor(plan.task, totals);
  fmt::print(json ? stderr : stdout, "{}", below);
  broken = broken || !below.empty();
  if (json) {
    fmt::print("{{\"first_seed\": {}, \"count\": {}, \"runs\": {}, \"totals\": {{\"kernels\": {}, "
               "\"rewritten\": {}, "
               "\"shuffles\": {}, \"agree\": {}, \"launches\": {}, \"not_exercised\": {}, "
               "\"unchecked\": {}, "
               "\"differ\": {}}}, \"failed_seeds\": [{}]}}\n",
               seed, count, runs, totals.kernels, totals.changed, totals.shuffles, totals.agreed,
               totals.launches, totals.idle, totals.unchecked, totals.differ,
               fmt::join(failed, ", "));
    return totals.differ || broken ? 1 : 0;
  }
  fmt::print(
      "{} kernels, {} rewritten with {} shuffles: {} agree on {} launches, {} agree but do "
      "not execute all that changed ({} lines, of {} instructions), {} could not be checked, {} "
      "differ\n",
      totals.kernels, totals.changed, totals.shuffles, totals.agreed, totals.launches, totals.idle,
      totals.never_ran, totals.added, totals.unchecked, totals.differ);
  if (plan.task == Task::wide || plan.task == Task::rounds)
    fmt::print("{} versions for one round, {} of them compared on {} launches\n", totals.once,
               totals.once_compared, totals.once_launches);
  return totals.differ || broken ? 1 : 0;
}
