// launch CASES RESULTS SECONDS [ROUNDS]: launches kernels and their siblings by hand, compares
// every byte of all buffers, and times them in turns. Needs the CUDA driver. See ./build for what
// writes CASES.
//
//     case NAME ENTRY TIMED.cubin EXACT.cubin GX GY GZ BX BY BZ BYTES    (or .ptx)
//     buffer KIND WORDS        (KIND: 0 floats, 1 any bits, 2 floats 0 and 1, 3 doubles)
//     texture WORDS    (a buffer of floats, by a texture object of single ones)
//     int VALUE | float VALUE | double VALUE
//     shared BYTES             (of a block, as the launch says it; a sibling gets TIMES as many,
//                               each rounded up to a multiple of 128)
//     sibling VARIANT ENTRY DX DY DZ BX BY BZ AXES TIMES
//         (grid and block are divided; AXES of `-` appends nothing)
//     end
//
// EXACT is assembled without contraction: there the bits must be equal. `hash` is of all buffers
// after the kernel ran there, for ./suite, which has the launch helper decide, and `mean` of all
// launches, for what measuring costs.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

void must(CUresult result, const std::string &what) {
  if (result == CUDA_SUCCESS)
    return;
  const char *name = "?";
  cuGetErrorName(result, &name);
  std::fprintf(stderr, "launch: %s: %s\n", what.c_str(), name);
  std::exit(1);
}

struct Argument {
  int kind = -1; ///< of a buffer; -1: bytes
  bool texture = false;
  size_t words = 0;
  std::vector<char> bytes;
};

struct Sibling {
  std::string variant, entry, axes;
  unsigned divisor[3] = {1, 1, 1}, block[3] = {1, 1, 1}, times = 1;
};

struct Case {
  std::string name, entry, timed, exact;
  unsigned grid[3], block[3];
  unsigned shared = 0;
  double bytes = 0;
  std::vector<Argument> arguments;
  std::vector<Sibling> versions; ///< the kernel first
};

std::map<std::string, CUmodule> modules;
CUfunction fill_words, count_differences, sum_words;

CUfunction function_of(const std::string &file, const std::string &entry) {
  CUmodule &module = modules[file];
  if (!module && file.ends_with(".ptx")) { // text that the program holds, which the driver compiles
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    must(cuModuleLoadData(&module, text.str().c_str()), file);
  } else if (!module) {
    must(cuModuleLoad(&module, file.c_str()), file);
  }
  CUfunction function;
  must(cuModuleGetFunction(&function, module, entry.c_str()), entry);
  return function;
}

/// One set of buffers.
struct Set {
  std::vector<CUdeviceptr> buffers;
  std::vector<CUtexObject> textures; ///< of the buffers; 0: none

  explicit Set(const Case &c) {
    for (const Argument &a : c.arguments)
      if (a.kind >= 0) {
        buffers.push_back(0);
        must(cuMemAlloc(&buffers.back(), a.words * 4), "memory for " + c.name);
        textures.push_back(0);
        CUDA_RESOURCE_DESC words{};
        words.resType = CU_RESOURCE_TYPE_LINEAR;
        words.res.linear = {buffers.back(), CU_AD_FORMAT_FLOAT, 1, a.words * 4};
        const CUDA_TEXTURE_DESC as_they_are{};
        if (a.texture)
          must(cuTexObjectCreate(&textures.back(), &words, &as_they_are, nullptr), "texture");
      }
    reset(c);
  }
  void reset(const Case &c) const {
    size_t at = 0;
    unsigned seed = 1;
    for (const Argument &a : c.arguments)
      if (a.kind >= 0) {
        CUdeviceptr memory = buffers[at++];
        unsigned long long words = a.words;
        int kind = a.kind;
        void *arguments[] = {&memory, &words, &seed, &kind};
        must(cuLaunchKernel(fill_words, 2048, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr),
             "fill");
        seed += 77;
      }
  }
  unsigned long long differences(const Case &c, const Set &other) const {
    return counted(c, count_differences, &other);
  }
  /// Of all words and their places.
  unsigned long long hash(const Case &c) const { return counted(c, sum_words, nullptr); }

private:
  /// What a kernel of streams.cu adds up over all buffers.
  unsigned long long counted(const Case &c, CUfunction function, const Set *other) const {
    CUdeviceptr counter;
    must(cuMemAlloc(&counter, 8), "counter");
    must(cuMemsetD8(counter, 0, 8), "counter");
    for (size_t argument = 0, at = 0; argument < c.arguments.size(); ++argument) {
      if (c.arguments[argument].kind < 0)
        continue;
      CUdeviceptr left = buffers[at], right = other ? other->buffers[at] : 0;
      ++at;
      unsigned long long words = c.arguments[argument].words;
      void *two[] = {&left, &right, &words, &counter};
      void *one[] = {&left, &words, &counter};
      must(cuLaunchKernel(function, 2048, 1, 1, 256, 1, 1, 0, nullptr, other ? two : one, nullptr),
           "compare");
    }
    unsigned long long result = 0;
    must(cuMemcpyDtoH(&result, counter, 8), "compare");
    must(cuMemFree(counter), "free");
    return result;
  }

public:
  void release() {
    for (CUtexObject texture : textures)
      if (texture)
        must(cuTexObjectDestroy(texture), "free");
    for (CUdeviceptr buffer : buffers)
      must(cuMemFree(buffer), "free");
    buffers.clear();
  }
};

unsigned shared_of(const Case &c, const Sibling &version) {
  return version.times == 1 ? c.shared : (c.shared + 127) / 128 * 128 * version.times;
}

void launch(const Case &c, const Sibling &version, CUfunction function, const Set &set) {
  std::vector<void *> arguments;
  size_t at = 0;
  for (const Argument &a : c.arguments) {
    arguments.push_back(a.texture     ? (void *)&set.textures[at]
                        : a.kind >= 0 ? (void *)&set.buffers[at]
                                      : (void *)a.bytes.data());
    at += a.kind >= 0;
  }
  unsigned grid[3], appended[3];
  for (int i = 0; i < 3; ++i)
    grid[i] = (c.grid[i] + version.divisor[i] - 1) / version.divisor[i];
  for (size_t i = 0; i < version.axes.size(); ++i) {
    appended[i] = c.grid[version.axes[i] - 'x'];
    arguments.push_back(&appended[i]);
  }
  must(cuLaunchKernel(function, grid[0], grid[1], grid[2], c.block[0] / version.block[0],
                      c.block[1] / version.block[1], c.block[2] / version.block[2],
                      shared_of(c, version), nullptr, arguments.data(), nullptr),
       c.name + " " + version.variant);
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

void run(const Case &c, int rounds, std::FILE *out) {
  const int warm_up = 3;
  size_t bytes = 0;
  for (const Argument &a : c.arguments)
    bytes += a.kind >= 0 ? a.words * 4 : 0;
  const size_t beyond_cache = size_t{256} << 20;
  const size_t count = std::clamp<size_t>((beyond_cache + bytes - 1) / bytes, 2, 16);
  std::vector<Set> sets;
  for (size_t i = 0; i < count; ++i)
    sets.emplace_back(c);
  struct State {
    CUfunction timed, exact;
    bool fits = true;
    int registers = 0, local = 0, blocks = 0;
    unsigned long long exact_differences = 0, timed_differences = 0;
    std::vector<double> times;
    double sum = 0; ///< of all, those of warming up among them
  };
  std::vector<State> states;
  for (const Sibling &version : c.versions) {
    int threads = 1;
    for (int i = 0; i < 3; ++i)
      threads *= static_cast<int>(c.block[i] / version.block[i]);
    State s;
    s.timed = function_of(c.timed, version.entry);
    s.exact = function_of(c.exact, version.entry);
    must(cuFuncGetAttribute(&s.registers, CU_FUNC_ATTRIBUTE_NUM_REGS, s.timed), "registers");
    must(cuFuncGetAttribute(&s.local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, s.timed), "local");
    int most = 0, most_exact = 0;
    must(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, s.timed), "threads");
    must(cuFuncGetAttribute(&most_exact, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, s.exact),
         "threads");
    must(cuOccupancyMaxActiveBlocksPerMultiprocessor(&s.blocks, s.timed, threads,
                                                     shared_of(c, version)),
         "occupancy");
    s.fits = threads <= most && threads <= most_exact;
    states.push_back(s);
  }
  unsigned long long hash = 0;
  for (const bool exact : {true, false}) {
    const auto which = [&](const State &s) { return exact ? s.exact : s.timed; };
    sets[0].reset(c);
    if (states[0].fits)
      launch(c, c.versions[0], which(states[0]), sets[0]);
    if (exact)
      hash = sets[0].hash(c);
    for (size_t v = 1; v < states.size(); ++v)
      if (states[v].fits) {
        sets[1].reset(c);
        launch(c, c.versions[v], which(states[v]), sets[1]);
        (exact ? states[v].exact_differences : states[v].timed_differences) =
            sets[0].differences(c, sets[1]);
      }
  }
  CUevent begin, end;
  must(cuEventCreate(&begin, 0), "event");
  must(cuEventCreate(&end, 0), "event");
  size_t next = 0;
  for (int round = -warm_up; round < rounds; ++round)
    for (size_t turn = 0; turn < states.size(); ++turn) {
      const size_t v = (turn + static_cast<size_t>(round + warm_up)) % states.size();
      if (!states[v].fits)
        continue;
      const Set &set = sets[next++ % sets.size()];
      must(cuEventRecord(begin, nullptr), "event");
      launch(c, c.versions[v], states[v].timed, set);
      must(cuEventRecord(end, nullptr), "event");
      must(cuEventSynchronize(end), c.name);
      float ms = 0;
      must(cuEventElapsedTime(&ms, begin, end), "time");
      states[v].sum += ms;
      if (round >= 0)
        states[v].times.push_back(ms);
    }
  const double original = states[0].times.empty() ? 0 : quantile(states[0].times, 0.5);
  for (size_t v = 0; v < states.size(); ++v) {
    const State &s = states[v];
    const double median = s.times.empty() ? 0 : quantile(s.times, 0.5);
    const double mean = s.times.empty() ? 0 : s.sum / static_cast<double>(s.times.size() + warm_up);
    std::fprintf(
        out,
        "{\"case\": \"%s\", \"block\": [%u, %u, %u], \"variant\": \"%s\", \"registers\": %d, "
        "\"local\": %d, \"blocks\": %d, \"fits\": %s, \"differ\": %llu, \"differ_contracted\": "
        "%llu, "
        "\"ms\": %.6f, \"mean\": %.6f, \"q1\": %.6f, \"q3\": %.6f, \"gain\": %.4f, \"gb_s\": "
        "%.1f, \"hash\": \"%016llx\"}\n",
        c.name.c_str(), c.block[0], c.block[1], c.block[2], c.versions[v].variant.c_str(),
        s.registers, s.local, s.blocks, s.fits ? "true" : "false", s.exact_differences,
        s.timed_differences, median, mean, s.times.empty() ? 0 : quantile(s.times, 0.25),
        s.times.empty() ? 0 : quantile(s.times, 0.75), median > 0 ? original / median : 0,
        median > 0 ? c.bytes / median * 1e-6 : 0, hash);
  }
  std::fflush(out);
  for (Set &set : sets)
    set.release();
}

template <class T> Argument number(T value) {
  Argument a;
  a.bytes.resize(sizeof value);
  std::memcpy(a.bytes.data(), &value, sizeof value);
  return a;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4 && argc != 5) {
    std::fprintf(stderr, "launch CASES RESULTS SECONDS [ROUNDS]\n");
    return 2;
  }
  must(cuInit(0), "cuInit");
  CUdevice device;
  CUcontext context;
  must(cuDeviceGet(&device, 0), "device");
  must(cuDevicePrimaryCtxRetain(&context, device), "context");
  must(cuCtxSetCurrent(context), "context");
  char name[256];
  must(cuDeviceGetName(name, sizeof name, device), "name");
  std::FILE *out = std::fopen(argv[2], "w");
  std::fprintf(out, "{\"device\": \"%s\"}\n", name);
  fill_words = function_of("streams.cubin", "fill_words");
  count_differences = function_of("streams.cubin", "count_differences");
  sum_words = function_of("streams.cubin", "sum_words");
  std::ifstream file(argv[1]);
  Case c;
  const double seconds = std::atof(argv[3]);
  const int rounds = argc == 5 ? std::atoi(argv[4]) : 21;
  const auto start = std::chrono::steady_clock::now();
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "case") {
      c = {};
      words >> c.name >> c.entry >> c.timed >> c.exact;
      for (unsigned &extent : c.grid)
        words >> extent;
      for (unsigned &extent : c.block)
        words >> extent;
      words >> c.bytes;
      c.versions.push_back({"original", c.entry, ""});
    } else if (what == "buffer") {
      Argument a;
      words >> a.kind >> a.words;
      c.arguments.push_back(a);
    } else if (what == "texture") {
      Argument a{.kind = 0, .texture = true};
      words >> a.words;
      c.arguments.push_back(a);
    } else if (what == "int") {
      int value = 0;
      words >> value;
      c.arguments.push_back(number(value));
    } else if (what == "float") {
      float value = 0;
      words >> value;
      c.arguments.push_back(number(value));
    } else if (what == "double") {
      double value = 0;
      words >> value;
      c.arguments.push_back(number(value));
    } else if (what == "shared") {
      words >> c.shared;
    } else if (what == "sibling") {
      Sibling s;
      words >> s.variant >> s.entry;
      for (unsigned &by : s.divisor)
        words >> by;
      for (unsigned &by : s.block)
        words >> by;
      words >> s.axes >> s.times;
      if (s.axes == "-")
        s.axes.clear();
      c.versions.push_back(s);
    } else if (what == "end") {
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
      if (passed.count() > seconds) {
        std::fprintf(stderr, "launch: out of time before %s\n", c.name.c_str());
        break;
      }
      run(c, rounds, out);
    }
  }
  std::fclose(out);
}
