// bench-engines [KERNEL...]: kernels of the suite in plain CUDA (ptx/) on the CPU, by the
// interpreter and by translated code, and the same loops in C (acc/, without OpenACC), compiled by
// clang -O3 -march=native: one core each, on the same memory of this process, which is how programs
// without a GPU run. Prints seconds of processor time, the best of some runs, and their ratios;
// what translating took is beside them and not in them.

#include "emulator/machine/warp_launch.h"
#include "emulator/translate/translator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <fmt/core.h>
#include <fstream>
#include <functional>
#include <iterator>

using namespace ptxasw;

extern "C" {
void vecadd(int nx, int ny, int nz, float *w0, float *w1, float *w2);
void matmul(int nx, int ny, int nz, float *a, float *b, float *c);
void matvec(int nx, int ny, float *a, float *x, float *y);
void jacobi(int nx, int ny, float c0, float c1, float c2, float *w0, float *w1);
void gaussblur(int nx, int ny, float s0, float s1, float s2, float s4, float s5, float s8,
               float *w0, float *w1);
void laplacian(int nx, int ny, int nz, float alpha, float beta, float *w0, float *w1);
void lapgsrb(int nx, int ny, int nz, float c0, float c1, float c2, float c3, float *w0, float *w1);
void divergence(int nx, int ny, int nz, float a, float b, float c, float *u, float *ux, float *uy,
                float *uz);
void gradient(int nx, int ny, int nz, float a, float b, float c, float *u, float *ux, float *uy,
              float *uz);
void wave13pt(int nx, int ny, int nz, float m0, float m1, float m2, float *w0, float *w1,
              float *w2);
void tricubic(int nx, int ny, int nz, float *u0, float *u1, float *a, float *b, float *c);
void sincos_xy(int nx, int ny, int nz, float *x, float *y, float *xy);
}

namespace {

using Buffers = std::array<std::vector<float>, 5>;

struct Kernel {
  const char *name;
  std::array<int, 3> sizes; ///< the third is 0 of kernels in two dimensions
  unsigned reals, buffers;
  std::function<void(Buffers &)> loops;
};

constexpr int n2 = 1024, n3 = 96, nm = 192;
float *at(Buffers &b, std::size_t i) { return b[i].data(); }

const Kernel kernels[] = {
    {"vecadd",
     {n3, n3, n3},
     0,
     3,
     [](Buffers &b) { vecadd(n3, n3, n3, at(b, 0), at(b, 1), at(b, 2)); }},
    {"matmul",
     {nm, nm, nm},
     0,
     3,
     [](Buffers &b) { matmul(nm, nm, nm, at(b, 0), at(b, 1), at(b, 2)); }},
    {"matvec", {n2, n2, 0}, 0, 3, [](Buffers &b) { matvec(n2, n2, at(b, 0), at(b, 1), at(b, 2)); }},
    {"jacobi",
     {n2, n2, 0},
     3,
     2,
     [](Buffers &b) { jacobi(n2, n2, .25f, .25f, .25f, at(b, 0), at(b, 1)); }},
    {"gaussblur",
     {n2, n2, 0},
     6,
     2,
     [](Buffers &b) { gaussblur(n2, n2, .25f, .25f, .25f, .25f, .25f, .25f, at(b, 0), at(b, 1)); }},
    {"laplacian",
     {n3, n3, n3},
     2,
     2,
     [](Buffers &b) { laplacian(n3, n3, n3, .25f, .25f, at(b, 0), at(b, 1)); }},
    {"lapgsrb",
     {n3, n3, n3},
     4,
     2,
     [](Buffers &b) { lapgsrb(n3, n3, n3, .25f, .25f, .25f, .25f, at(b, 0), at(b, 1)); }},
    {"divergence",
     {n3, n3, n3},
     3,
     4,
     [](Buffers &b) {
       divergence(n3, n3, n3, .25f, .25f, .25f, at(b, 0), at(b, 1), at(b, 2), at(b, 3));
     }},
    {"gradient",
     {n3, n3, n3},
     3,
     4,
     [](Buffers &b) {
       gradient(n3, n3, n3, .25f, .25f, .25f, at(b, 0), at(b, 1), at(b, 2), at(b, 3));
     }},
    {"wave13pt",
     {n3, n3, n3},
     3,
     3,
     [](Buffers &b) { wave13pt(n3, n3, n3, .25f, .25f, .25f, at(b, 0), at(b, 1), at(b, 2)); }},
    {"tricubic",
     {n3, n3, n3},
     0,
     5,
     [](Buffers &b) { tricubic(n3, n3, n3, at(b, 0), at(b, 1), at(b, 2), at(b, 3), at(b, 4)); }},
    {"sincos",
     {n3, n3, n3},
     0,
     3,
     [](Buffers &b) { sincos_xy(n3, n3, n3, at(b, 0), at(b, 1), at(b, 2)); }},
};

/// Seconds of processor time that something takes.
double timed(const std::function<void()> &what) {
  const std::clock_t start = std::clock();
  what();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// The launch that the suite gives its kernels: a thread for each point, blocks of 32 x 8.
WarpLaunch launch_of(const Kernel &kernel, const Function &function, Buffers &buffers) {
  WarpLaunch launch;
  const auto blocks = [](int points, int threads) {
    return static_cast<std::uint32_t>((points + threads - 1) / threads);
  };
  launch.block = {32, 8, 1};
  launch.grid = {blocks(kernel.sizes[0], 32), blocks(kernel.sizes[1], 8),
                 static_cast<std::uint32_t>(std::max(kernel.sizes[2], 1))};
  const std::string_view name = kernel.name;
  if (name == "matmul" || name == "matvec") // their last extent is not one of threads
    launch.grid.z = 1;
  if (name == "matvec")
    launch.grid.y = 1, launch.block = {256, 1, 1}, launch.grid.x = blocks(kernel.sizes[0], 256);
  launch.parameters.resize(kernel_parameter_bytes(function));
  std::size_t next = 0;
  const auto add = [&](const auto &value) {
    std::memcpy(launch.parameters.data() + kernel_parameter_offset(function, next++), &value,
                sizeof value);
  };
  for (const int size : kernel.sizes)
    if (size != 0)
      add(size);
  for (unsigned i = 0; i < kernel.reals; ++i)
    add(.25f);
  for (unsigned i = 0; i < kernel.buffers; ++i)
    add(reinterpret_cast<std::uint64_t>(buffers[i].data()));
  return launch;
}

int measure(const Kernel &kernel) {
  const std::string file = fmt::format(SOURCE_DIR "/kernelgen-bench/ptx/{}.ptx", kernel.name);
  std::ifstream in(file);
  const auto module = parse(std::string(std::istreambuf_iterator<char>(in), {}), file);
  if (!module) {
    fmt::print(stderr, "{}", format(module.error()));
    return 1;
  }
  const std::size_t points = static_cast<std::size_t>(kernel.sizes[0]) *
                             static_cast<std::size_t>(kernel.sizes[1]) *
                             static_cast<std::size_t>(std::max(kernel.sizes[2], 1));
  std::array<Buffers, 2> memories;
  for (Buffers &buffers : memories)
    for (unsigned i = 0; i < kernel.buffers; ++i) {
      buffers[i].resize(points);
      for (std::size_t n = 0; n < points; ++n)
        buffers[i][n] = static_cast<float>((n * 7 + i) % 16) * .125f;
    }
  double seconds[2] = {}, translating = 0;
  std::uint64_t steps = 0;
  for (const bool translated : {false, true}) {
    if (const auto chosen = choose_engine(translated ? Engine::translated : Engine::interpreter);
        !chosen) {
      fmt::print(stderr, "{}\n", chosen.error());
      return 1;
    }
    const WarpProgram program(**module);
    GlobalMemory memory;
    Buffers &buffers = memories[translated];
    for (unsigned i = 0; i < kernel.buffers; ++i)
      memory.allocate_host("", reinterpret_cast<std::uint64_t>(buffers[i].data()), 4 * points,
                           true);
    const auto number = program.find_kernel("");
    const WarpLaunch launch = launch_of(kernel, *program.function(*number).function, buffers);
    double first = 0, best = 1e9;
    for (int i = 0; i < (translated ? 6 : 2); ++i) {
      std::optional<WarpFault> fault;
      const double now = timed([&] {
        const WarpOutcome outcome = run_kernel(program, *number, launch, memory, {});
        steps = outcome.steps;
        fault = outcome.fault;
      });
      if (fault) {
        fmt::print(stderr, "{}: {}\n", kernel.name, format(*fault));
        return 1;
      }
      first = i == 0 ? now : first;
      best = std::min(best, now);
      if (i == 1 && !translated)
        break;
    }
    seconds[translated] = best;
    translating = first - best;
  }
  // As often as the interpreter: then the results are those of equal work.
  Buffers again = memories[0];
  double loops = 1e9;
  for (int i = 0; i < 12; ++i)
    loops = std::min(loops, timed([&] { kernel.loops(again); }));
  fmt::print("{:12} {:>11} {:>9.1f} {:>10.1f} {:>8.2f} {:>12.1f} {:>7.1f} {:>6.1f}\n", kernel.name,
             steps, seconds[0] * 1e3, seconds[1] * 1e3, loops * 1e3, translating * 1e3,
             seconds[0] / seconds[1], seconds[1] / loops);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  const std::vector<std::string> wanted(argv + 1, argv + argc);
  fmt::print("                        milliseconds of processor time                  ratios\n"
             "kernel       lane-steps  interpreter translated    C  translating  faster  of C\n");
  for (const Kernel &kernel : kernels)
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), kernel.name) != wanted.end())
      if (measure(kernel) != 0)
        return 1;
}
