// runner DIRECTORY [--naive] [--rewritten-only] [--repeat N]
//
// Runs every launch of DIRECTORY/launches.txt (written by `hazards --write`) as the original cubin
// and as the rewritten one, and compares all memory that the kernel can reach. With --naive it also
// says which naive rewrites this GPU shows to be wrong; each in a process of its own, because some
// fault and some never end. Exit code 0: every rewritten kernel left the original's bytes.

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::size_t margin = 4096;                 ///< bytes on either side of a buffer
constexpr std::size_t below = std::size_t{17} << 30; ///< bytes of far memory below the pointer
constexpr std::size_t above = std::size_t{37} << 30; ///< and above it
constexpr int seconds_for_naive = 8;
constexpr unsigned workers = 6; ///< naive rewrites at once

void check(cudaError_t result, const char *what) {
  if (result != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
    std::exit(2);
  }
}
#define CHECK(call) check(call, #call)

__host__ __device__ std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

__global__ void fill_far(float *to, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    to[i] = 1.0f + static_cast<float>(scramble(i) & 0xffff) / 65536.0f;
}

/// Read-only memory that a 32-bit index reaches, the same for all kernels.
char *far_memory(bool fill) {
  static char *memory = nullptr;
  if (!memory) {
    CHECK(cudaMalloc(&memory, below + above));
    if (fill)
      fill_far<<<2048, 256>>>(reinterpret_cast<float *>(memory), (below + above) / 4);
    else
      CHECK(cudaMemset(memory, 0x3f, below + above));
    CHECK(cudaDeviceSynchronize());
  }
  return memory + below;
}

struct Argument {
  std::string kind, fill;
  std::uint64_t number = 0; ///< bytes, value, or the argument that an alias points into
  std::int64_t shift = 0;
};

struct Launch {
  std::string name;
  unsigned grid[3], block[3];
  std::vector<Argument> arguments;
};

std::vector<Launch> read_launches(const std::string &path) {
  std::ifstream file(path);
  std::vector<Launch> list;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Launch launch;
    words >> launch.name;
    for (unsigned *extents : {launch.grid, launch.block})
      words >> extents[0] >> extents[1] >> extents[2];
    for (Argument argument; words >> argument.kind; argument = {}) {
      if (argument.kind == "number")
        words >> argument.number;
      else if (argument.kind == "alias")
        words >> argument.number >> argument.shift;
      else
        words >> argument.fill >> argument.number;
      launch.arguments.push_back(argument);
    }
    list.push_back(launch);
  }
  return list;
}

std::vector<char> contents(const Argument &argument, std::size_t size, std::size_t seed) {
  std::vector<char> bytes(size);
  for (std::size_t at = 0; at + 4 <= size; at += 4) {
    const std::uint64_t random = scramble(seed * 0x100000000 + at);
    std::uint32_t word = 0;
    if (argument.fill == "f32") {
      const float number = 0.25f + static_cast<float>(random & 0xffff) / 32768.0f;
      std::memcpy(&word, &number, 4);
    } else if (argument.fill == "f64") {
      word = at % 8 ? 0x3ff00000 | (random & 0xfffff) : static_cast<std::uint32_t>(random);
    } else if (argument.fill == "small") {
      word = random & 63;
    } else if (argument.fill == "wide") {
      word = at % 8 ? 0 : random & 63;
    } else if (argument.fill == "random") {
      word = static_cast<std::uint32_t>(random);
    }
    std::memcpy(bytes.data() + at, &word, 4);
  }
  return bytes;
}

/// Runs one cubin; returns all of its buffers, one after the other.
std::vector<char> run(const std::string &cubin, const Launch &launch, bool fill) {
  std::vector<char *> pointers, allocations;
  std::vector<std::size_t> sizes;
  std::vector<std::uint64_t> values(launch.arguments.size());
  std::vector<void *> parameters;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument &argument = launch.arguments[i];
    char *pointer = nullptr;
    if (argument.kind == "number") {
      values[i] = argument.number;
    } else if (argument.kind == "alias") {
      pointer = pointers[argument.number] + argument.shift;
    } else if (argument.kind == "far") {
      pointer = far_memory(fill);
    } else {
      const std::size_t room = argument.kind == "exact" ? 0 : margin;
      const auto bytes = contents(argument, argument.number + 2 * room, i);
      char *allocation = nullptr;
      CHECK(cudaMalloc(&allocation, bytes.size()));
      CHECK(cudaMemcpy(allocation, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
      allocations.push_back(allocation);
      sizes.push_back(bytes.size());
      pointer = allocation + room;
    }
    if (pointer)
      values[i] = reinterpret_cast<std::uint64_t>(pointer);
    pointers.push_back(pointer);
    parameters.push_back(&values[i]);
  }
  CUmodule module;
  CUfunction kernel;
  if (cuModuleLoad(&module, cubin.c_str()) != CUDA_SUCCESS ||
      cuModuleGetFunction(&kernel, module, "k") != CUDA_SUCCESS) {
    std::fprintf(stderr, "%s cannot be loaded\n", cubin.c_str());
    std::exit(2);
  }
  const auto *g = launch.grid, *b = launch.block;
  if (cuLaunchKernel(kernel, g[0], g[1], g[2], b[0], b[1], b[2], 4096, nullptr, parameters.data(),
                     nullptr) != CUDA_SUCCESS) {
    std::fprintf(stderr, "%s cannot be launched\n", cubin.c_str());
    std::exit(2);
  }
  check(cudaDeviceSynchronize(), cubin.c_str());
  std::vector<char> result;
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    result.resize(result.size() + sizes[i]);
    CHECK(cudaMemcpy(result.data() + result.size() - sizes[i], allocations[i], sizes[i],
                     cudaMemcpyDeviceToHost));
    CHECK(cudaFree(allocations[i]));
  }
  cuModuleUnload(module);
  return result;
}

bool exists(const std::string &path) { return access(path.c_str(), R_OK) == 0; }

/// What a process of its own says about one naive rewrite: 0 right, 1 wrong, 2 a fault, 3 no end.
int try_naive(const char *program, const std::string &folder, std::size_t index) {
  const pid_t child = fork();
  if (child == 0) {
    const std::string number = std::to_string(index);
    if (!std::freopen("/dev/null", "w", stderr))
      _exit(9);
    execl(program, program, folder.c_str(), "--naive-launch", number.c_str(),
          static_cast<char *>(nullptr));
    _exit(9);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds_for_naive);
  for (int status = 0; std::chrono::steady_clock::now() < end;) {
    if (waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return 3;
}

} // namespace

int main(int argc, char **argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  bool naive = false, rewritten_only = false;
  int repeat = 5;
  long naive_launch = -1;
  for (int i = 2; i < argc; ++i) {
    const std::string option = argv[i];
    naive |= option == "--naive";
    rewritten_only |= option == "--rewritten-only";
    if (option == "--repeat" && i + 1 < argc)
      repeat = std::atoi(argv[++i]);
    if (option == "--naive-launch" && i + 1 < argc)
      naive_launch = std::atol(argv[++i]);
  }
  const std::vector<Launch> launches = read_launches(folder + "/launches.txt");
  const auto cubin = [&](const Launch &launch, const char *kind) {
    return folder + "/" + launch.name + kind + ".cubin";
  };
  if (naive_launch >= 0) {
    const Launch &launch = launches[static_cast<std::size_t>(naive_launch)];
    const auto original = run(cubin(launch, ""), launch, true);
    return run(cubin(launch, ".naive"), launch, true) != original;
  }

  unsigned modules = 0, runs = 0, wrong = 0, unassembled = 0;
  std::string last;
  for (const Launch &launch : launches) {
    if (!exists(cubin(launch, "")) || !exists(cubin(launch, ".rewritten"))) {
      if (launch.name != last)
        ++unassembled, std::printf("%s: not assembled\n", launch.name.c_str());
      last = launch.name;
      continue;
    }
    modules += launch.name != last;
    last = launch.name;
    std::vector<char> original;
    if (!rewritten_only)
      original = run(cubin(launch, ""), launch, true);
    for (int i = 0; i < repeat; ++i) {
      const auto rewritten = run(cubin(launch, ".rewritten"), launch, !rewritten_only);
      ++runs;
      if (!rewritten_only && rewritten != original) {
        ++wrong;
        std::printf("%s: WRONG (block %ux%ux%u)\n", launch.name.c_str(), launch.block[0],
                    launch.block[1], launch.block[2]);
        break;
      }
    }
  }
  std::printf("%u modules, %u runs of the rewritten kernels: %u wrong, %u not assembled\n", modules,
              runs, wrong, unassembled);
  if (naive) {
    // A hazard is shown if one of its launches shows it.
    std::map<std::string, int> verdicts;
    std::mutex one, one_far;
    std::size_t next = 0;
    const auto work = [&] {
      for (;;) {
        std::unique_lock lock(one);
        while (next < launches.size() &&
               (!exists(cubin(launches[next], ".naive")) || verdicts[launches[next].name] != 0))
          ++next;
        if (next == launches.size())
          return;
        const std::size_t index = next++;
        lock.unlock();
        const auto &arguments = launches[index].arguments;
        std::unique_lock far(one_far, std::defer_lock); // there is room for one of these
        if (std::any_of(arguments.begin(), arguments.end(),
                        [](const Argument &argument) { return argument.kind == "far"; }))
          far.lock();
        const int verdict = try_naive(argv[0], folder, index);
        lock.lock();
        int &known = verdicts[launches[index].name];
        known = std::max(known, verdict);
      }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < workers; ++i)
      threads.emplace_back(work);
    for (std::thread &thread : threads)
      thread.join();
    std::erase_if(verdicts, [&](const auto &verdict) {
      return !exists(folder + "/" + verdict.first + ".naive.cubin");
    });
    static constexpr const char *said[] = {"computes the same here", "wrong", "faults",
                                           "does not end"};
    unsigned counts[4] = {};
    for (const auto &[name, verdict] : verdicts) {
      ++counts[std::min(verdict, 3)];
      if (verdict != 1)
        std::printf("%s, rewritten naively: %s\n", name.c_str(), said[std::min(verdict, 3)]);
    }
    std::printf("%zu naive rewrites: %u wrong, %u fault, %u do not end, %u compute the same here\n",
                verdicts.size(), counts[1], counts[2], counts[3], counts[0]);
  }
  return wrong != 0;
}
