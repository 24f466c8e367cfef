// gridloops CUBIN > RESULTS.tsv
//
// Kernels of kernels.cu as they are, and their versions that do several neighbours by one access
// (wide) or the loads of several iterations before what they read is used (ahead), over grids of
// few and of many blocks, from one cubin. `build PTXASW DIRECTORY` makes both.
//
// Prints a line for each version and launch: the medians of seven times in turn, in milliseconds,
// the kernel's over the version's, whether both leave the same bytes, and registers. On stderr: the
// geometric means over the launches, of the best version and of each alone. Exit code 1: bytes
// differ. Needs 5 GB of GPU memory for 2^28 elements; half as many are taken where there is less.

#include <cuda.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int rounds = 7;

void check(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS)
    return;
  const char *why = nullptr;
  cuGetErrorString(result, &why);
  std::fprintf(stderr, "%s: %s\n", what, why ? why : "unknown error");
  std::exit(2);
}

/// A version, and by how much its blocks are smaller.
struct Version {
  std::string suffix;
  unsigned divisor;
};
const std::vector<Version> versions{{"wide_x2", 2},  {"wide_x4", 4},  {"wide_x8", 8},
                                    {"ahead_k2", 1}, {"ahead_k4", 1}, {"ahead_k8", 1}};

/// A launch. `kind` says which arguments it has.
struct Case {
  enum Kind { copy, axpy, triad, sum, rows, csr };
  std::string kernel, suffix; ///< "axpy", "size"
  Kind kind;
  unsigned grid, block;
  std::size_t n;     ///< elements; of rows and csr: rows
  int width = 0;     ///< of rows
  std::size_t words; ///< that are written
  std::string name() const { return suffix.empty() ? kernel : kernel + "_" + suffix; }
};

class Bench {
public:
  explicit Bench(const char *cubin) {
    check(cuModuleLoad(&module_, cubin), cubin);
    std::size_t free = 0, total = 0;
    check(cuMemGetInfo(&free, &total), "cuMemGetInfo");
    while (n_ * 4 * 5 > free / 10 * 9)
      n_ /= 2;
    for (CUdeviceptr *one : {&a_, &b_, &out_, &other_})
      check(cuMemAlloc(one, n_ * 4), "cuMemAlloc");
    check(cuMemAlloc(&count_, 4), "cuMemAlloc");
    fill(a_, 1);
    fill(b_, 2);
    make_matrix();
  }

  std::vector<Case> cases() const {
    std::vector<Case> all;
    for (const char *suffix : {"int", "unsigned", "size"})
      for (const unsigned block : {256U, 1024U})
        for (const std::size_t grid :
             {std::size_t{132}, std::size_t{264}, std::size_t{1056}, n_ / 256}) {
          const auto blocks = static_cast<unsigned>(std::min(grid, n_ / block));
          for (const auto &[name, kind] : {std::pair{"copy", Case::copy},
                                           {"axpy", Case::axpy},
                                           {"triad", Case::triad},
                                           {"sum", Case::sum}})
            all.push_back({name, suffix, kind, blocks, block, n_, 0,
                           kind == Case::sum ? std::size_t{blocks} * block : n_});
        }
    for (const unsigned grid : {132U, 264U, 1056U})
      all.push_back({"warp_sum", "", Case::sum, grid, 256, n_, 0, std::size_t{grid} * 256 / 32});
    for (const std::size_t width : {std::size_t{64}, std::size_t{1024}, std::size_t{16384}}) {
      const std::size_t rows = n_ / width;
      const auto blocks = [](std::size_t threads) {
        return static_cast<unsigned>((threads + 255) / 256);
      };
      all.push_back(
          {"row_sums", "", Case::rows, blocks(rows), 256, rows, static_cast<int>(width), rows});
      all.push_back({"warp_rows", "", Case::rows, blocks(rows * 32), 256, rows,
                     static_cast<int>(width), rows});
    }
    for (const unsigned block : {64U, 256U})
      all.push_back(
          {"csr", "", Case::csr, static_cast<unsigned>(rows_ / block), block, rows_, 0, rows_});
    return all;
  }

  void run(const Case &one) {
    CUfunction kernel = function(one.name());
    int registers = 0;
    check(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel), "registers");
    leave(kernel, one, 1, out_);
    struct Tried {
      const Version *version;
      CUfunction function;
      bool equal;
      int registers = 0;
      std::vector<float> times;
    };
    std::vector<Tried> all;
    for (const Version &version : versions) {
      CUfunction found = nullptr;
      if (cuModuleGetFunction(&found, module_,
                              (one.name() + "__ptxasw_" + version.suffix).c_str()) != CUDA_SUCCESS)
        continue;
      Tried tried{&version, found, leaves_the_same(found, one, version.divisor), 0, {}};
      check(cuFuncGetAttribute(&tried.registers, CU_FUNC_ATTRIBUTE_NUM_REGS, found), "registers");
      all.push_back(tried);
    }
    std::vector<float> times;
    for (int round = 0; round < rounds; ++round) {
      times.push_back(time(kernel, one, 1));
      for (Tried &tried : all)
        tried.times.push_back(time(tried.function, one, tried.version->divisor));
    }
    const auto median = [](std::vector<float> list) {
      std::sort(list.begin(), list.end());
      return list[list.size() / 2];
    };
    double best = 1;
    for (const Tried &tried : all) {
      const double gain = median(times) / median(tried.times);
      best = std::max(best, gain);
      gains_[tried.version->suffix].push_back(gain);
      wrong_ |= !tried.equal;
      std::printf("%s\t%u\t%u\t%zu\t%d\t%.4f\t%s\t%.4f\t%.3f\t%s\t%d\t%d\n", one.name().c_str(),
                  one.grid, one.block, one.n, one.width, median(times),
                  tried.version->suffix.c_str(), median(tried.times), gain,
                  tried.equal ? "equal" : "DIFFER", registers, tried.registers);
    }
    gains_[one.suffix.empty() ? "best of the other loops" : "best of the streams"].push_back(best);
    std::fflush(stdout);
  }

  /// Returns true if nothing differs.
  bool summarise() const {
    for (const auto &[name, list] : gains_) {
      double logs = 0;
      for (const double gain : list)
        logs += std::log(gain);
      std::fprintf(stderr, "%s: geometric mean %.3f of %zu launches, lowest %.3f\n", name.c_str(),
                   std::exp(logs / static_cast<double>(list.size())), list.size(),
                   *std::min_element(list.begin(), list.end()));
    }
    std::fprintf(stderr, "%s\n", wrong_ ? "BYTES DIFFER" : "all bytes are equal");
    return !wrong_;
  }

private:
  CUfunction function(const std::string &name) const {
    CUfunction found = nullptr;
    check(cuModuleGetFunction(&found, module_, name.c_str()), name.c_str());
    return found;
  }

  void start(CUfunction function, unsigned grid, unsigned block, std::vector<void *> arguments) {
    check(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, nullptr, arguments.data(), nullptr),
          "cuLaunchKernel");
  }

  void fill(CUdeviceptr to, unsigned seed) {
    start(function("fill"), 1056, 256, {&to, &n_, &seed});
  }

  /// Rows of 0 to 31 entries, in columns anywhere.
  void make_matrix() {
    rows_ = n_ / 64;
    std::vector<int> first(rows_ + 1), columns;
    unsigned state = 1;
    const auto next = [&] { return (state = state * 1664525U + 1013904223U) >> 8; };
    for (std::size_t row = 0; row < rows_; ++row) {
      for (unsigned i = next() % 32; i > 0; --i)
        columns.push_back(static_cast<int>(next() % rows_));
      first[row + 1] = static_cast<int>(columns.size());
    }
    check(cuMemAlloc(&first_, first.size() * 4), "cuMemAlloc");
    check(cuMemAlloc(&columns_, columns.size() * 4), "cuMemAlloc");
    check(cuMemcpyHtoD(first_, first.data(), first.size() * 4), "cuMemcpyHtoD");
    check(cuMemcpyHtoD(columns_, columns.data(), columns.size() * 4), "cuMemcpyHtoD");
  }

  void launch(CUfunction function, const Case &one, unsigned divisor, CUdeviceptr out) {
    float factor = 1.5F;
    auto n = one.n; // the lower half is the number where that has 32 bits
    int rows = static_cast<int>(one.n), width = one.width;
    std::vector<void *> arguments{&out, &a_};
    if (one.kind == Case::copy || one.kind == Case::sum)
      arguments.push_back(&n);
    else if (one.kind == Case::axpy)
      arguments.insert(arguments.end(), {&n, &factor});
    else if (one.kind == Case::triad)
      arguments.insert(arguments.end(), {&b_, &n, &factor});
    else if (one.kind == Case::rows)
      arguments.insert(arguments.end(), {&rows, &width});
    else
      arguments = {&out, &first_, &columns_, &a_, &b_, &rows};
    start(function, one.grid, one.block / divisor, arguments);
  }

  void leave(CUfunction function, const Case &one, unsigned divisor, CUdeviceptr out) {
    if (one.kind == Case::axpy)
      check(cuMemcpyDtoD(out, b_, one.words * 4), "cuMemcpyDtoD");
    else
      check(cuMemsetD8(out, 0xff, one.words * 4), "cuMemsetD8");
    launch(function, one, divisor, out);
    check(cuCtxSynchronize(), one.name().c_str());
  }

  bool leaves_the_same(CUfunction version, const Case &one, unsigned divisor) {
    leave(version, one, divisor, other_);
    unsigned count = 0;
    auto words = one.words;
    check(cuMemsetD8(count_, 0, 4), "cuMemsetD8");
    start(function("differ"), 1056, 256, {&count_, &out_, &other_, &words});
    check(cuMemcpyDtoH(&count, count_, 4), "cuMemcpyDtoH");
    return count == 0;
  }

  float time(CUfunction function, const Case &one, unsigned divisor) {
    CUevent begin, end;
    check(cuEventCreate(&begin, CU_EVENT_DEFAULT), "cuEventCreate");
    check(cuEventCreate(&end, CU_EVENT_DEFAULT), "cuEventCreate");
    check(cuEventRecord(begin, nullptr), "cuEventRecord");
    launch(function, one, divisor, other_);
    check(cuEventRecord(end, nullptr), "cuEventRecord");
    check(cuEventSynchronize(end), one.name().c_str());
    float milliseconds = 0;
    check(cuEventElapsedTime(&milliseconds, begin, end), "cuEventElapsedTime");
    cuEventDestroy(begin);
    cuEventDestroy(end);
    return milliseconds;
  }

  CUmodule module_ = nullptr;
  std::size_t n_ = std::size_t{1} << 28, rows_ = 0;
  CUdeviceptr a_ = 0, b_ = 0, out_ = 0, other_ = 0, count_ = 0, first_ = 0, columns_ = 0;
  std::map<std::string, std::vector<double>> gains_;
  bool wrong_ = false;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: gridloops CUBIN\n");
    return 2;
  }
  check(cuInit(0), "cuInit");
  CUdevice device = 0;
  CUcontext context = nullptr;
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  Bench bench(argv[1]);
  std::printf("kernel\tgrid\tblock\tn\twidth\tms\tversion\tversion_ms\tratio\tequal\tregs\t"
              "version_regs\n");
  for (const Case &one : bench.cases())
    bench.run(one);
  return bench.summarise() ? 0 : 1;
}
