// One page for each code, in the order of the enum. The gains are those of the table in
// docs/lint-codes.md; a test compares them.

#include "wrapper/lint/code_pages.h"

#include <array>
#include <fmt/core.h>
#include <string_view>

namespace ptxasw::inline wrapper {
namespace {

struct CodePage {
  std::string_view why, before, after, gain;
};

constexpr std::array<CodePage, lint::code_count> pages{{
    {// uncoalesced
     "The memory system moves sectors of 32 bytes. When the 32 lanes of a warp read 4 bytes each\n"
     "side by side, that is 4 sectors; when they are far apart, it is 32, and 28 bytes of each "
     "are\n"
     "thrown away. Nsight Compute calls the rest excessive sectors.",
     "out[x * n + y] = in[y * n + x];     // x = threadIdx.x: the store's lanes are n apart",
     "tile[ty][tx] = in[y * n + x];       // __shared__ float tile[32][33];\n"
     "__syncthreads();\n"
     "out[(bx + ty) * n + by + tx] = tile[tx][ty];",
     "transposing through shared memory: 5.6 times as fast on an H100; a record of 32 bytes as a\n"
     "structure of arrays: 3.4; a table that is read at random, in shared memory: 1.08; rows that\n"
     "begin in the middle of a sector: 1.0"},
    {// bank-conflict
     "Shared memory has 32 banks of 4 bytes. Lanes of a warp that want different words of one "
     "bank\n"
     "are served one after the other: a wavefront each.",
     "__shared__ float tile[32][32];\n"
     "float x = tile[threadIdx.x][0];     // all 32 lanes: bank 0",
     "__shared__ float tile[32][33];      // or tile[row][column ^ row]\n"
     "float x = tile[threadIdx.x][0];     // lane i: bank i",
     "1.8 times as fast on an H100"},
    {// divergent-loop
     "A warp executes a loop until its last lane has left it; the others wait.",
     "for (int j = 0; j < length[i]; ++j) // length differs from lane to lane\n"
     "  sum += value[begin[i] + j];",
     "for (int j = lane; j < length[row]; j += 32)   // a warp for each row\n"
     "  sum += value[begin[row] + j];",
     "0.9, so a loss, on an H100 for rows of 85 numbers: a warp for each piece pays where pieces\n"
     "are long. That is why it is off unless asked for"},
    {// local-memory
     "An array whose index is not known to the compiler cannot be in registers. It lies in local\n"
     "memory, which is global memory with an address for each thread.",
     "int count[16] = {};\n"
     "++count[x & 15];",
     "__shared__ int count[16][256];      // or a loop that is unrolled, or comparisons\n"
     "++count[x & 15][threadIdx.x];",
     "5.6 times as fast on an H100"},
    {// uniform-load
     "All lanes of a warp load one address, in every iteration of a loop. It is served once for\n"
     "the warp, mostly from the cache; still it is a load for every iteration.",
     "for (int j = 0; j < n; ++j)\n"
     "  sum += x * q[j];",
     "__constant__ float q[1024];         // or each lane loads another element and all share them",
     "0.9 and 1.0 on an H100: nothing. That is why it is off unless asked for"},
    {// redundant-load
     "The thread, or another lane of its warp, has loaded the value already.",
     "b[i] = a[i] + 1;\n"
     "c[i] = a[i] * 2;                    // b may be a, so a[i] is loaded again",
     "float x = a[i];                     // or __restrict__\n"
     "b[i] = x + 1;\n"
     "c[i] = x * 2;",
     "1.0 on an H100: the second load hits the cache"},
    {// wide-index
     "A division or remainder of 64-bit numbers is a function of some hundred instructions.",
     "for (...) k %= m;                   // long long k, m",
     "for (...) k %= m;                   // int k, m; or step quotient and remainder along",
     "1.7 times as fast on an H100"},
    {// misaligned-vector
     "A vector access needs an address that is a multiple of its size in every lane. Here no "
     "launch\n"
     "makes it so: the kernel faults.",
     "float4 v = *(float4 *)(p + 5 * i);  // every fifth float",
     "float4 v = *(float4 *)(p + 8 * i);  // every eighth; or four narrow loads", ""},
    {// vector-precondition
     "What a vector access needs of the launch: if it does not hold, the kernel faults.",
     "float4 v = *(float4 *)(p + row * n);   // n % 4 == 0",
     "rows of a multiple of four floats, checked on the host", "1.0 on an H100"},
    {// reuse-thrashing
     "Each thread walks through memory by less than a sector at a time, far from its neighbours. "
     "All\n"
     "the lines that threads of a multiprocessor are in the middle of are more than its L1 holds, "
     "so\n"
     "what a lane comes to next has left the cache when it comes there.",
     "for (int j = 0; j < n; ++j)\n"
     "  sum += a[i * n + j] + b[i * n + j];   // a row for each thread",
     "smaller blocks, or neighbouring lanes side by side in a row",
     "1.0 to 1.7 times as fast on an H100 with smaller blocks"},
    {// contended-atomic
     "Lanes that update one address do so one after the other, and so do warps and blocks. Of\n"
     "32-bit integers the compiler adds up the warp's values and has one lane update; of "
     "floating-\n"
     "point and 64-bit numbers it does not.",
     "atomicAdd(sum, x);                  // float",
     "for (int d = 16; d > 0; d /= 2)\n"
     "  x += __shfl_down_sync(~0u, x, d);\n"
     "if (threadIdx.x % 32 == 0)\n"
     "  atomicAdd(sum, x);                // rounds in another order",
     ""},
    {// races
     "Two threads access the same bytes, one of them to write, and nothing orders them. What is\n"
     "loaded then may be either value, or differ from run to run. First a proof is looked for "
     "that\n"
     "no launch has a race; then launches are run on the emulator, and a race that it has seen is\n"
     "reported, with the launch. `ptxasw prove` says more, also of kernels of which nothing is "
     "known.",
     "tile[threadIdx.x] = in[i];\n"
     "out[i] = tile[255 - threadIdx.x];",
     "tile[threadIdx.x] = in[i];\n"
     "__syncthreads();\n"
     "out[i] = tile[255 - threadIdx.x];",
     ""},
}};

std::string indented(std::string_view text) {
  std::string result = "    ";
  for (const char c : text) {
    result += c;
    if (c == '\n')
      result += "    ";
  }
  return result + '\n';
}

} // namespace

std::string code_page(lint::Code code) {
  const CodePage &page = pages[static_cast<std::size_t>(code)];
  const lint::CodeInfo &info = lint::info(code);
  std::string text =
      fmt::format("{}: {}\n\n{}\n\nBefore\n\n{}\nAfter\n\n{}\n", info.name, info.meaning, page.why,
                  indented(page.before), indented(page.after));
  text += fmt::format("Measured: {}.\n\n", page.gain.empty() ? "not measured" : page.gain);
  text += info.on ? fmt::format("Switch it off: -W no-{0}, or a comment at the line of the "
                                "source:\n// ptxasw: allow({0}) why\n",
                                info.name)
          : info.by_name
              ? fmt::format("On with -W {} only: it may take seconds a kernel.\n", info.name)
              : fmt::format("Pedantic: on with -W {} or -W pedantic.\n", info.name);
  return text;
}

std::string code_list() {
  std::string text;
  for (const lint::CodeInfo &info : lint::codes())
    text += fmt::format("{:<20} {:<9} {}\n", info.name,
                        info.on        ? "on"
                        : info.by_name ? "by name"
                                       : "pedantic",
                        info.meaning);
  return text + "\n`ptxasw lint --explain CODE` says more.\n";
}

} // namespace ptxasw::wrapper
