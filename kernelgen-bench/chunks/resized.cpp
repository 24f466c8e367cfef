// resized MAPS.cubin CHUNKS.cubin
//
// The kernels of maps.cu and chunks.cu, launched in blocks of 64, 256, 1,024 and 96 threads, and in
// their place each version for blocks of another extent that stands beside them in the cubin
// (`ptxasw siblings IN.ptx --retile=x8 --resize=b32,b64,b128,b256,b512,b1024 -o OUT.ptx`, then
// ptxas). Needs the CUDA driver. Prints a line for each kernel, block and version: kernel, threads
// of a block, version, the median of seven times in milliseconds of the kernel and of the version,
// run in turn, and `same` if both leave the same bytes in all buffers.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <string>
#include <vector>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    const CUresult error = (call);                                                                 \
    if (error != CUDA_SUCCESS) {                                                                   \
      const char *what = "";                                                                       \
      cuGetErrorString(error, &what);                                                              \
      std::fprintf(stderr, "%s: %s\n", #call, what);                                               \
      return 1;                                                                                    \
    }                                                                                              \
  } while (false)

namespace {

constexpr unsigned extents[] = {32, 64, 128, 256, 512, 1024};
constexpr unsigned asked[] = {64, 256, 1024, 96};
constexpr int rounds = 7;
constexpr std::size_t data_bytes = std::size_t{544} << 20, out_bytes = std::size_t{32} << 20;

/// A launch: the addresses and numbers of its arguments.
struct Walk {
  const char *name;
  bool in_maps;
  std::size_t threads;
  std::vector<std::uint64_t> arguments; ///< little-endian, so numbers of 32 bits may be given so
  bool changes_data;
};

struct Memory {
  CUdeviceptr data = 0, out = 0;
};

/// Numbers from 1 to 2, or characters of words and links.
void fill(std::vector<std::uint32_t> &host, bool is_text) {
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (!is_text) {
      const float number = 1.0f + (float)(i % 1021) / 1021;
      std::memcpy(&host[i], &number, 4);
      continue;
    }
    std::uint32_t four = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
      const auto at = (std::uint32_t)(4 * i + byte);
      const std::uint32_t what = (at * 2654435761u ^ (at >> 7) * 40503u) >> 16 & 63;
      const std::uint32_t letter = what < 10    ? ' '
                                   : what < 12  ? '<'
                                   : what < 14  ? '>'
                                   : what == 14 ? '\n'
                                                : 'a' + what % 26;
      four |= letter << 8 * byte;
    }
    host[i] = four;
  }
}

int launch(CUfunction function, const Walk &walk, unsigned block, unsigned extent, float &time) {
  std::vector<std::uint64_t> values = walk.arguments;
  unsigned grid = (unsigned)((walk.threads + block - 1) / block);
  const std::uint64_t asked_grid = grid, asked_block = block;
  if (extent != 0) {
    values.push_back(asked_grid);
    values.push_back(asked_block);
    grid = (unsigned)(((std::size_t)grid * block + extent - 1) / extent);
    block = extent;
  }
  std::vector<void *> pointers;
  for (std::uint64_t &value : values)
    pointers.push_back(&value);
  CUevent begin, end;
  CHECK(cuEventCreate(&begin, 0));
  CHECK(cuEventCreate(&end, 0));
  CHECK(cuCtxSynchronize());
  CHECK(cuEventRecord(begin, nullptr));
  CHECK(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, nullptr, pointers.data(), nullptr));
  CHECK(cuEventRecord(end, nullptr));
  CHECK(cuEventSynchronize(end));
  CHECK(cuEventElapsedTime(&time, begin, end));
  CHECK(cuEventDestroy(begin));
  CHECK(cuEventDestroy(end));
  return 0;
}

float median(std::vector<float> &times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "resized MAPS.cubin CHUNKS.cubin\n");
    return 2;
  }
  CHECK(cuInit(0));
  CUdevice device;
  CUcontext context;
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CUmodule modules[2];
  CHECK(cuModuleLoad(&modules[0], argv[1]));
  CHECK(cuModuleLoad(&modules[1], argv[2]));
  Memory memory, other, pristine;
  for (Memory *one : {&memory, &other, &pristine}) {
    CHECK(cuMemAlloc(&one->data, data_bytes));
    CHECK(cuMemAlloc(&one->out, out_bytes));
  }
  CHECK(cuMemsetD8(pristine.out, 0, out_bytes));
  std::vector<std::uint32_t> host(data_bytes / 4), first(out_bytes / 4), second(out_bytes / 4);
  std::vector<std::uint32_t> all_first, all_second;
  const std::uint64_t n = 8192, wide = 1024, tasks = 4, documents = 2048, features = 256;
  const std::size_t chunks = std::size_t{1} << 19, threads = std::size_t{1} << 18;
  bool filled_text = false, filled = false;
  // Arguments that are places: 1 + offset in the data, or 2^62 + offset in the output.
  constexpr std::uint64_t data = std::uint64_t{1} << 61, out = std::uint64_t{1} << 62;
  const std::uint64_t half = out + out_bytes / 2;
  const std::vector<Walk> walks = {
      {"fan2", true, n, {data + n * n * 4, data, data + n * n * 4 + n * 4, n, 0}, true},
      {"mm_map",
       true,
       wide * wide / tasks,
       {data, data + wide * wide * 4, out, wide, tasks},
       false},
      {"ss_map",
       true,
       documents * documents / tasks,
       {data, out, documents, features, tasks},
       false},
      {"_Z5chunkILi1EEvPKfPfii", false, threads, {data, out, 128, threads}, false},
      {"_Z5chunkILi2EEvPKfPfii", false, threads, {data, out, 128, threads}, false},
      {"_Z5chunkILi3EEvPKfPfii", false, threads, {data, out, 128, threads}, false},
      {"_Z5chunkILi4EEvPKfPfii", false, threads, {data, out, 128, threads}, false},
      {"ii_map_count", true, chunks, {data, out, half, 512}, false},
      {"ii_map", true, chunks, {data, out, half, 512}, false},
      {"wc_map_count", true, chunks, {data, out, half, 512}, false},
      {"wc_map", true, chunks, {data, out, half, 512}, false},
      {"pvc_map", true, chunks, {data, out, half, 512, 128}, false},
  };
  bool wrong = false;
  for (const Walk &walk : walks) {
    const bool is_text =
        walk.name[1] != 'm' && walk.name[1] != 's' && walk.name[1] != 'Z' && walk.name[0] != 'f';
    if (!filled || filled_text != is_text) {
      fill(host, is_text);
      CHECK(cuMemcpyHtoD(pristine.data, host.data(), data_bytes));
      for (const Memory *one : {&memory, &other})
        CHECK(cuMemcpyDtoD(one->data, pristine.data, data_bytes));
      filled = true;
      filled_text = is_text;
    }
    const auto placed = [&](const Memory &in) {
      Walk copy = walk;
      for (std::uint64_t &value : copy.arguments)
        value = value >= out    ? in.out + (value - out)
                : value >= data ? in.data + (value - data)
                                : value;
      return copy;
    };
    const Walk mine = placed(memory), theirs = placed(other);
    CUfunction kernel;
    CHECK(cuModuleGetFunction(&kernel, modules[walk.in_maps ? 0 : 1], walk.name));
    for (const unsigned block : asked)
      for (const unsigned extent : extents) {
        // Kernels of whole chunks have no test for a last one: all of them in whole blocks.
        if (extent == block || walk.threads % block != 0)
          if (extent == block || is_text)
            continue;
        CUfunction version;
        const std::string name =
            std::string(walk.name) + "__ptxasw_resize_b" + std::to_string(extent);
        CHECK(cuModuleGetFunction(&version, modules[walk.in_maps ? 0 : 1], name.c_str()));
        const auto again = [&](const Memory &one) -> int {
          if (walk.changes_data)
            CHECK(cuMemcpyDtoD(one.data, pristine.data, data_bytes));
          CHECK(cuMemcpyDtoD(one.out, pristine.out, out_bytes));
          return 0;
        };
        std::vector<float> own, resized;
        for (int round = -1; round < rounds; ++round) {
          float time = 0;
          if (again(memory) || launch(kernel, mine, block, 0, time))
            return 1;
          if (round >= 0)
            own.push_back(time);
          if (again(other) || launch(version, theirs, block, extent, time))
            return 1;
          if (round >= 0)
            resized.push_back(time);
        }
        CHECK(cuMemcpyDtoH(first.data(), memory.out, out_bytes));
        CHECK(cuMemcpyDtoH(second.data(), other.out, out_bytes));
        bool same = first == second;
        if (walk.changes_data) {
          all_first.resize(data_bytes / 4);
          all_second.resize(data_bytes / 4);
          CHECK(cuMemcpyDtoH(all_first.data(), memory.data, data_bytes));
          CHECK(cuMemcpyDtoH(all_second.data(), other.data, data_bytes));
          same = same && all_first == all_second && all_first != host;
        } else {
          same =
              same && std::any_of(first.begin(), first.end(), [](auto word) { return word != 0; });
        }
        wrong = wrong || !same;
        std::printf("%s\t%u\tb%u\t%.4f\t%.4f\t%s\n", walk.name, block, extent, median(own),
                    median(resized), same ? "same" : "DIFFERENT");
        std::fflush(stdout);
      }
  }
  return wrong;
}
