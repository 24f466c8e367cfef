// bench-engines [KERNEL...]: the suite's kernels in plain CUDA (ptx/) and ten others (others.cu) on
// the CPU, by the interpreter and by translated code, and the same loops in C (acc/ without
// OpenACC, others.c), compiled by clang -O3 -march=native: one core each, on the same memory of
// this process, which is how programs without a GPU run. Prints seconds of processor time, the
// least of some runs, and their ratios; what translating took is beside them and not in them.

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
#include <new>
#include <variant>

using namespace ptxasw::test;

extern "C" {
void vecadd(int nx, int ny, int nz, float *w0, float *w1, float *w2);
void matmul(int nx, int ny, int nz, float *a, float *b, float *c);
void matvec(int nx, int ny, float *a, float *x, float *y);
void jacobi(int nx, int ny, float c0, float c1, float c2, float *w0, float *w1);
void gameoflife(int nx, int ny, float *u0, float *u1);
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
void tricubic2(int nx, int ny, int nz, float *u0, float *u1, float *a, float *b, float *c);
void uxx1(int nx, int ny, int nz, float c1, float c2, float *u0, float *u1, float *d1, float *xx,
          float *xy, float *xz);
void whispering(int nx, int ny, float mu, float epsilon, float *e0_0, float *e0_1, float *e1_0,
                float *e1_1, float *h0, float *h1, float *u_em0, float *u_em1, float *ca, float *cb,
                float *da, float *db);
void sincos_xy(int nx, int ny, int nz, float *x, float *y, float *xy);

void axpy(int n, float a, const float *x, float *y);
void dot(int n, int blocks, const float *x, const float *y, float *sums);
void sgemm(int n, const float *a, const float *b, float *c);
void transpose(int n, const float *in, float *out);
void smooth(int n, const float *in, float *out);
void spmv(int rows, const int *begin, const int *column, const float *value, const float *x,
          float *y);
void nbody(int n, const float *body, float *force);
void mandelbrot(int nx, int ny, int most, int *count);
void gelu(int n, const float *in, float *out);
void hash(int n, int rounds, const unsigned *in, unsigned *out);
}

namespace {

/// Memory as cudaMalloc hands it out without a GPU: it begins where a page does.
template <class Element> struct PageAllocator {
  using value_type = Element;
  static constexpr std::align_val_t page{4096};
  Element *allocate(std::size_t count) {
    return static_cast<Element *>(::operator new(count * sizeof(Element), page));
  }
  void deallocate(Element *memory, std::size_t) { ::operator delete(memory, page); }
  bool operator==(const PageAllocator &) const { return true; }
};

using Buffer = std::vector<float, PageAllocator<float>>;
using Buffers = std::vector<Buffer>;
using Parameter = std::variant<int, float, std::monostate>; ///< the last: the next buffer

struct Kernel {
  const char *name;
  Extents block, grid;
  std::vector<Parameter> parameters;
  std::vector<std::size_t> sizes; ///< of buffers, in words
  std::function<void(Buffers &)> loops;
  std::function<void(Buffers &)> fill = nullptr; ///< what is not small numbers
};

constexpr int n1 = 1 << 19, n2 = 1024, n3 = 96, nm = 192, ng = 256, nb = 1024, rows = 1 << 15;
constexpr std::monostate buffer{};
float *at(Buffers &b, std::size_t i) { return b[i].data(); }
int *ints(Buffers &b, std::size_t i) { return reinterpret_cast<int *>(b[i].data()); }
unsigned *words(Buffers &b, std::size_t i) { return reinterpret_cast<unsigned *>(b[i].data()); }

/// A kernel of the suite, as the suite launches it: a thread for each point, blocks of 32 x 8.
Kernel of_suite(const char *name, std::vector<int> extents, unsigned reals, unsigned buffers,
                std::function<void(Buffers &)> loops) {
  Kernel kernel{name, {32, 8, 1}, {1, 1, 1}, {}, {}, std::move(loops)};
  std::size_t points = 1;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    kernel.parameters.emplace_back(extents[axis]);
    kernel.grid[axis] =
        (static_cast<unsigned>(extents[axis]) + kernel.block[axis] - 1) / kernel.block[axis];
    points *= static_cast<std::size_t>(extents[axis]);
  }
  kernel.parameters.insert(kernel.parameters.end(), reals, .25f);
  kernel.parameters.insert(kernel.parameters.end(), buffers, buffer);
  kernel.sizes.assign(buffers, points);
  return kernel;
}

Kernel with_grid(Kernel kernel, Extents block, Extents grid) {
  kernel.block = block;
  kernel.grid = grid;
  return kernel;
}

/// With as many buffers in all, and as many numbers for each point.
Kernel with_buffers(Kernel kernel, std::size_t count, std::size_t components) {
  kernel.sizes.assign(count, components * kernel.sizes[0]);
  return kernel;
}

/// Rows of 0 to 30 elements, columns all over.
void fill_sparse(Buffers &b) {
  int *const begin = ints(b, 0), *const column = ints(b, 1);
  begin[0] = 0;
  for (int row = 0; row < rows; ++row) {
    begin[row + 1] = begin[row] + row * 7 % 31;
    for (int i = begin[row]; i < begin[row + 1]; ++i)
      column[i] = static_cast<int>((static_cast<unsigned>(i) * 2654435761u) % rows);
  }
}

std::vector<Kernel> all_kernels() {
  return {
      of_suite("vecadd", {n3, n3, n3}, 0, 3,
               [](Buffers &b) { vecadd(n3, n3, n3, at(b, 0), at(b, 1), at(b, 2)); }),
      // Their last extent is not one of threads.
      with_grid(of_suite("matmul", {nm, nm, nm}, 0, 3,
                         [](Buffers &b) { matmul(nm, nm, nm, at(b, 0), at(b, 1), at(b, 2)); }),
                {32, 8, 1}, {nm / 32, nm / 8, 1}),
      with_grid(of_suite("matvec", {n2, n2}, 0, 3,
                         [](Buffers &b) { matvec(n2, n2, at(b, 0), at(b, 1), at(b, 2)); }),
                {256, 1, 1}, {n2 / 256, 1, 1}),
      of_suite("jacobi", {n2, n2}, 3, 2,
               [](Buffers &b) { jacobi(n2, n2, .25f, .25f, .25f, at(b, 0), at(b, 1)); }),
      of_suite("gameoflife", {n2, n2}, 0, 2,
               [](Buffers &b) { gameoflife(n2, n2, at(b, 0), at(b, 1)); }),
      of_suite("gaussblur", {n2, n2}, 6, 2,
               [](Buffers &b) {
                 gaussblur(n2, n2, .25f, .25f, .25f, .25f, .25f, .25f, at(b, 0), at(b, 1));
               }),
      of_suite("laplacian", {n3, n3, n3}, 2, 2,
               [](Buffers &b) { laplacian(n3, n3, n3, .25f, .25f, at(b, 0), at(b, 1)); }),
      of_suite("lapgsrb", {n3, n3, n3}, 4, 2,
               [](Buffers &b) { lapgsrb(n3, n3, n3, .25f, .25f, .25f, .25f, at(b, 0), at(b, 1)); }),
      of_suite("divergence", {n3, n3, n3}, 3, 4,
               [](Buffers &b) {
                 divergence(n3, n3, n3, .25f, .25f, .25f, at(b, 0), at(b, 1), at(b, 2), at(b, 3));
               }),
      of_suite("gradient", {n3, n3, n3}, 3, 4,
               [](Buffers &b) {
                 gradient(n3, n3, n3, .25f, .25f, .25f, at(b, 0), at(b, 1), at(b, 2), at(b, 3));
               }),
      of_suite(
          "wave13pt", {n3, n3, n3}, 3, 3,
          [](Buffers &b) { wave13pt(n3, n3, n3, .25f, .25f, .25f, at(b, 0), at(b, 1), at(b, 2)); }),
      of_suite("tricubic", {n3, n3, n3}, 0, 5,
               [](Buffers &b) {
                 tricubic(n3, n3, n3, at(b, 0), at(b, 1), at(b, 2), at(b, 3), at(b, 4));
               }),
      of_suite("tricubic2", {n3, n3, n3}, 0, 5,
               [](Buffers &b) {
                 tricubic2(n3, n3, n3, at(b, 0), at(b, 1), at(b, 2), at(b, 3), at(b, 4));
               }),
      of_suite("uxx1", {n3, n3, n3}, 3, 6,
               [](Buffers &b) {
                 uxx1(n3, n3, n3, .25f, .25f, at(b, 0), at(b, 1), at(b, 2), at(b, 3), at(b, 4),
                      at(b, 5));
               }),
      // The C version reads and writes two arrays more; the kernel has both components in one.
      with_buffers(of_suite("whispering", {n2, n2}, 2, 10,
                            [](Buffers &b) {
                              whispering(n2, n2, .25f, .25f, at(b, 0), at(b, 1), at(b, 2), at(b, 3),
                                         at(b, 4), at(b, 5), at(b, 6), at(b, 7), at(b, 8), at(b, 9),
                                         at(b, 10), at(b, 11));
                            }),
                   12, 2),
      of_suite("sincos", {n3, n3, n3}, 0, 3,
               [](Buffers &b) { sincos_xy(n3, n3, n3, at(b, 0), at(b, 1), at(b, 2)); }),
      {"axpy",
       {256, 1, 1},
       {64, 1, 1},
       {n1, .25f, buffer, buffer},
       {n1, n1},
       [](Buffers &b) { axpy(n1, .25f, at(b, 0), at(b, 1)); }},
      {"dot",
       {256, 1, 1},
       {128, 1, 1},
       {n1, buffer, buffer, buffer},
       {n1, n1, 128},
       [](Buffers &b) { dot(n1, 128, at(b, 0), at(b, 1), at(b, 2)); }},
      {"sgemm",
       {16, 16, 1},
       {ng / 16, ng / 16, 1},
       {ng, buffer, buffer, buffer},
       {ng * ng, ng * ng, ng * ng},
       [](Buffers &b) { sgemm(ng, at(b, 0), at(b, 1), at(b, 2)); }},
      {"transpose",
       {32, 8, 1},
       {n2 / 32, n2 / 32, 1},
       {n2, buffer, buffer},
       {n2 * n2, n2 * n2},
       [](Buffers &b) { transpose(n2, at(b, 0), at(b, 1)); }},
      {"smooth",
       {256, 1, 1},
       {n1 / 256, 1, 1},
       {n1, buffer, buffer},
       {n1, n1},
       [](Buffers &b) { smooth(n1, at(b, 0), at(b, 1)); }},
      {"spmv",
       {256, 1, 1},
       {rows / 256, 1, 1},
       {rows, buffer, buffer, buffer, buffer, buffer},
       {rows + 1, 31 * rows, 31 * rows, rows, rows},
       [](Buffers &b) { spmv(rows, ints(b, 0), ints(b, 1), at(b, 2), at(b, 3), at(b, 4)); },
       fill_sparse},
      {"nbody",
       {256, 1, 1},
       {nb / 256, 1, 1},
       {nb, buffer, buffer},
       {4 * nb, 4 * nb},
       [](Buffers &b) { nbody(nb, at(b, 0), at(b, 1)); }},
      {"mandelbrot",
       {32, 8, 1},
       {8, 32, 1},
       {256, 256, 100, buffer},
       {256 * 256},
       [](Buffers &b) { mandelbrot(256, 256, 100, ints(b, 0)); }},
      {"gelu",
       {256, 1, 1},
       {n1 / 256, 1, 1},
       {n1, buffer, buffer},
       {n1, n1},
       [](Buffers &b) { gelu(n1, at(b, 0), at(b, 1)); }},
      {"hash",
       {256, 1, 1},
       {n1 / 256, 1, 1},
       {n1, 4, buffer, buffer},
       {n1, n1},
       [](Buffers &b) { hash(n1, 4, words(b, 0), words(b, 1)); }},
  };
}

/// Seconds of processor time that something takes.
double timed(const std::function<void()> &what) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const double start = now();
  what();
  return now() - start;
}

/// The least of what something takes, of so many times or, if it is short, more.
double least(int times, const std::function<void()> &what) {
  constexpr double enough = .3;
  double least = 1e9, all = 0;
  for (int i = 0; i < times || (all < enough && i < 100 * times); ++i) {
    const double now = timed(what);
    least = std::min(least, now);
    all += now;
  }
  return least;
}

WarpLaunch launch_of(const Kernel &kernel, const Function &function, Buffers &buffers) {
  WarpLaunch launch;
  launch.block = kernel.block;
  launch.grid = kernel.grid;
  launch.parameters.resize(kernel_parameter_bytes(function));
  std::size_t next = 0, next_buffer = 0;
  const auto add = [&](const auto &value) {
    std::memcpy(launch.parameters.data() + kernel_parameter_offset(function, next++), &value,
                sizeof value);
  };
  for (const Parameter &parameter : kernel.parameters)
    if (const int *number = std::get_if<int>(&parameter))
      add(*number);
    else if (const float *real = std::get_if<float>(&parameter))
      add(*real);
    else
      add(reinterpret_cast<std::uint64_t>(buffers[next_buffer++].data()));
  return launch;
}

int measure(const Kernel &kernel) {
  std::string file = fmt::format(SOURCE_DIR "/kernelgen-bench/ptx/{}.ptx", kernel.name);
  std::ifstream in(file);
  if (!in)
    in.open(file = SOURCE_DIR "/kernelgen-bench/engines/others.ptx");
  const auto module = parse(std::string(std::istreambuf_iterator<char>(in), {}), file);
  if (!module) {
    fmt::print(stderr, "{}", format(module.error()));
    return 1;
  }
  std::array<Buffers, 2> memories;
  for (Buffers &buffers : memories) {
    for (const std::size_t size : kernel.sizes) {
      Buffer &values = buffers.emplace_back(size);
      for (std::size_t n = 0; n < size; ++n)
        values[n] = static_cast<float>((n * 7 + buffers.size() - 1) % 16) * .125f;
    }
    if (kernel.fill)
      kernel.fill(buffers);
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
    for (Buffer &each : buffers)
      memory.allocate_host("", reinterpret_cast<std::uint64_t>(each.data()), 4 * each.size(), true);
    auto number = program.find_kernel(kernel.name);
    if (!number)
      number = program.find_kernel(""); // the only one
    const WarpLaunch launch = launch_of(kernel, *program.function(*number).function, buffers);
    std::optional<WarpFault> fault;
    const auto run = [&] {
      const WarpOutcome outcome = run_kernel(program, *number, launch, memory, {});
      steps = outcome.steps;
      if (outcome.fault)
        fault = outcome.fault;
    };
    const double first = timed(run);
    seconds[translated] = translated ? least(6, run) : std::min(first, timed(run));
    if (fault) {
      fmt::print(stderr, "{}: {}\n", kernel.name, format(*fault));
      return 1;
    }
    translating = first - seconds[translated];
  }
  Buffers again = memories[0];
  const double loops = least(12, [&] { kernel.loops(again); });
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
  for (const Kernel &kernel : all_kernels())
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), kernel.name) != wanted.end())
      if (measure(kernel) != 0)
        return 1;
}
