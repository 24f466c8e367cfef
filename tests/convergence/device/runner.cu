// runner DIRECTORY
//
// Runs the kernels of DIRECTORY/kernels.txt (written by `convergence --write`) on this machine's
// GPU, in the modules <number>.{original,rewritten,trap}.O<level>.cubin. Separate processes do so,
// so that a kernel that never ends costs no more than its time.
//
// Prints for each level how many kernels ran, how many trapped (all lanes of the warp active, in
// different iterations), and what must not happen: rewritten ones among those, and rewritten ones
// that computed something other than the original. Exit code 0: there were none, and every
// rewritten kernel ended.

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::size_t input_bytes = 1 << 17;
constexpr unsigned lanes = 32, repeats = 5;
constexpr int seconds = 2, seconds_to_start = 20;

struct Kernel {
  std::string name;
  bool rewritten = false, expected = false;
};

std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

struct Counts {
  unsigned ran = 0, trapped = 0, trapped_unexpected = 0, rewritten = 0, rewritten_trapped = 0,
           rewritten_wrong = 0, failed = 0, hung = 0, rewritten_hung = 0;
};

/// What a process says about one kernel, through a pipe.
struct Word {
  std::uint32_t index = 0;
  bool done = false; ///< otherwise only that `kind` is launched now
  char kind = 0;     ///< original, trap, rewritten: the first letter
  bool trapped = false, wrong = false, failed = false;
};

struct Memory {
  std::uint32_t *a, *out, *flag;
};

/// What one launch leaves in `out` and `flag`; false if it cannot be done.
bool launch(CUmodule module, const std::string &name, const Memory &memory,
            std::vector<std::uint32_t> &result) {
  CUfunction kernel;
  if (cuModuleGetFunction(&kernel, module, name.c_str()) != CUDA_SUCCESS)
    return false;
  Memory places = memory;
  void *parameters[] = {&places.a, &places.out, &places.flag};
  result.assign(2 * lanes, 0);
  cudaMemset(memory.out, 0, 2 * lanes * 4);
  return cuLaunchKernel(kernel, 1, 1, 1, lanes, 1, 1, 0, nullptr, parameters, nullptr) ==
             CUDA_SUCCESS &&
         cudaDeviceSynchronize() == cudaSuccess &&
         cudaMemcpy(result.data(), memory.out, 2 * lanes * 4, cudaMemcpyDeviceToHost) ==
             cudaSuccess;
}

int run_module(const std::string &folder, const std::string &number, const std::string &level,
               const std::vector<Kernel> &kernels, std::size_t first, int words) {
  Memory memory{};
  cudaMalloc(&memory.a, input_bytes);
  cudaMalloc(&memory.out, 2 * lanes * 4);
  memory.flag = memory.out + lanes;
  std::vector<std::uint32_t> input(input_bytes / 4);
  for (std::size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<std::uint32_t>(scramble(i));
  cudaMemcpy(memory.a, input.data(), input_bytes, cudaMemcpyHostToDevice);
  std::map<std::string, CUmodule> modules;
  for (const char *kind : {"original", "rewritten", "trap"}) {
    const std::string path = folder + "/" + number + "." + kind + "." + level + ".cubin";
    if (cuModuleLoad(&modules[kind], path.c_str()) != CUDA_SUCCESS) {
      std::fprintf(stderr, "%s cannot be loaded\n", path.c_str());
      return 2;
    }
  }
  for (std::size_t index = first; index < kernels.size(); ++index) {
    const Kernel &kernel = kernels[index];
    std::vector<std::uint32_t> original, rewritten, trap;
    Word word{static_cast<std::uint32_t>(index)};
    const auto launches = [&](const char *kind, std::vector<std::uint32_t> &result) {
      word.kind = kind[0];
      word.failed |= write(words, &word, sizeof word) != sizeof word ||
                     !launch(modules[kind], kernel.name, memory, result);
    };
    launches("original", original);
    for (unsigned i = 0; i < repeats && !word.failed; ++i) {
      launches("trap", trap);
      word.trapped |= std::count(trap.begin() + lanes, trap.end(), 0u) != lanes;
      if (kernel.rewritten) {
        launches("rewritten", rewritten);
        word.wrong |= rewritten != original;
      }
    }
    word.done = true;
    if (write(words, &word, sizeof word) != sizeof word || word.failed)
      return 3; // nothing works anymore after a fault
  }
  return 0;
}

/// Has a process of its own try the kernels from `first` on; calls `hear` with each word. Returns
/// the first kernel that is still to be tried; the one before it hung if the process was killed.
template <class Hear>
std::size_t try_kernels(const char *program, const std::string &folder, const std::string &module,
                        const std::string &level, std::size_t first, std::size_t count, bool &hung,
                        char &kind, Hear hear) {
  int ends[2];
  if (pipe(ends) != 0)
    std::exit(2);
  const pid_t child = fork();
  if (child == 0) {
    const std::string from = std::to_string(first), to = std::to_string(ends[1]);
    execl(program, program, folder.c_str(), module.c_str(), level.c_str(), from.c_str(), to.c_str(),
          static_cast<char *>(nullptr));
    _exit(9);
  }
  close(ends[1]);
  hung = false;
  std::size_t next = first;
  bool started = false;
  while (next < count) {
    pollfd wait{ends[0], POLLIN, 0};
    Word word;
    if (poll(&wait, 1, (started ? seconds : seconds_to_start) * 1000) == 0) {
      hung = true;
      kill(child, SIGKILL);
      break;
    }
    if (read(ends[0], &word, sizeof word) != sizeof word)
      break;
    started = true;
    kind = word.kind;
    if (!word.done)
      continue;
    hear(word);
    next = word.index + 1;
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return hung ? next + 1 : next;
}

} // namespace

int main(int argc, char **argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  std::map<std::string, std::vector<Kernel>> modules;
  std::ifstream list(folder + "/kernels.txt");
  std::string number;
  for (Kernel kernel; list >> number >> kernel.name >> kernel.rewritten >> kernel.expected;)
    modules[number].push_back(kernel);
  if (argc == 6)
    return run_module(folder, argv[2], argv[3], modules[argv[2]], std::stoul(argv[4]),
                      std::atoi(argv[5]));

  bool good = !modules.empty();
  for (const std::string level : {"O0", "O1", "O2", "O3"}) {
    Counts all;
    for (const auto &[module, kernels] : modules) {
      const auto hear = [&, &kernels = kernels](const Word &word) {
        const Kernel &kernel = kernels[word.index];
        if (word.failed) {
          std::printf("%s at %s fails\n", kernel.name.c_str(), level.c_str());
          ++all.failed;
          return;
        }
        ++all.ran;
        all.trapped += word.trapped;
        all.trapped_unexpected += word.trapped && !kernel.expected;
        all.rewritten += kernel.rewritten;
        all.rewritten_trapped += kernel.rewritten && word.trapped;
        all.rewritten_wrong += kernel.rewritten && word.wrong;
        if (word.trapped && !kernel.expected)
          std::printf("%s at %s: out of step, which was not emulated\n", kernel.name.c_str(),
                      level.c_str());
        if (kernel.rewritten && (word.trapped || word.wrong))
          std::printf("%s at %s: %s\n", kernel.name.c_str(), level.c_str(),
                      word.wrong ? "wrong" : "out of step");
      };
      for (std::size_t next = 0; next < kernels.size();) {
        bool hung = false;
        char kind = 0;
        const std::size_t first = next;
        next = try_kernels(argv[0], folder, module, level, first, kernels.size(), hung, kind, hear);
        if (hung) {
          ++all.hung;
          all.rewritten_hung += kind == 'r';
          std::printf("%s at %s does not end, %s\n", kernels[next - 1].name.c_str(), level.c_str(),
                      kind == 'o'   ? "as it was"
                      : kind == 't' ? "with the trap"
                                    : "REWRITTEN");
        } else if (next == first) {
          break;
        }
      }
    }
    std::printf(
        "ptxas -%s: %u kernels ran, %u get out of step (%u of them under no schedule that "
        "was emulated); of %u rewritten ones %u get out of step, %u compute something else; "
        "%u failed, %u do not end\n",
        level.c_str(), all.ran, all.trapped, all.trapped_unexpected, all.rewritten,
        all.rewritten_trapped, all.rewritten_wrong, all.failed, all.hung);
    std::fflush(stdout);
    good &= all.ran > 0 && all.rewritten_trapped == 0 && all.rewritten_wrong == 0 &&
            all.rewritten_hung == 0;
  }
  return !good;
}
