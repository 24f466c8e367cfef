// What filtered fetches give, as the bits of floats, for comparing a GPU with the emulator: it prints what filtering.txt
// has of an H200 and, the same, of an H100.
//   nvcc -std=c++17 -arch=sm_90 -o filtering filtering.cu && ./filtering > filtering.txt
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>
#include <vector>

#define CHECK(call) \
  do { \
    const cudaError_t error = (call); \
    if (error != cudaSuccess) { \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(1); \
    } \
  } while (0)

template <int axes> __global__ void fetch(cudaTextureObject_t t, const float *at, float *out, int n) {
  const int i = threadIdx.x;
  if (i >= n)
    return;
  if constexpr (axes == 1)
    out[i] = tex1D<float>(t, at[i]);
  else if constexpr (axes == 2)
    out[i] = tex2D<float>(t, at[2 * i], at[2 * i + 1]);
  else
    out[i] = tex3D<float>(t, at[3 * i], at[3 * i + 1], at[3 * i + 2]);
}

struct Random {
  unsigned state;
  float next() {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) / 16777216.0f;
  }
  std::vector<float> numbers(int count, float factor, float offset) {
    std::vector<float> result(count);
    for (float &one : result)
      one = next() * factor + offset;
    return result;
  }
};

struct Way {
  cudaTextureAddressMode outside = cudaAddressModeClamp;
  bool normalized = false;
  float border = 0;
  cudaTextureFilterMode filter = cudaFilterModeLinear;
};

// The first 64 fetches of a texture whose sides are all alike.
template <int axes, class T>
void sample(const char *name, const std::vector<T> &texels, int side, const std::vector<float> &at, Way way = {}) {
  const cudaChannelFormatDesc kind =
      std::is_same_v<T, __half> ? cudaCreateChannelDescHalf() : cudaCreateChannelDesc<std::conditional_t<std::is_same_v<T, __half>, float, T>>();
  const std::size_t n = side;
  const cudaExtent extent{n, axes > 1 ? n : 0, axes > 2 ? n : 0};
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &kind, extent));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<T *>(texels.data()), n * sizeof(T), n, axes > 1 ? n : 1);
  copy.dstArray = array;
  copy.extent = {n, axes > 1 ? n : 1, axes > 2 ? n : 1};
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc texture = {};
  for (auto &mode : texture.addressMode)
    mode = way.outside;
  for (float &channel : texture.borderColor)
    channel = way.border;
  texture.filterMode = way.filter;
  texture.readMode = std::is_integral_v<T> ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  texture.normalizedCoords = way.normalized;
  cudaTextureObject_t handle;
  CHECK(cudaCreateTextureObject(&handle, &resource, &texture, nullptr));
  const int count = std::min<int>(64, static_cast<int>(at.size()) / axes);
  float *places, *out;
  CHECK(cudaMalloc(&places, count * axes * sizeof(float)));
  CHECK(cudaMalloc(&out, count * sizeof(float)));
  CHECK(cudaMemcpy(places, at.data(), count * axes * sizeof(float), cudaMemcpyHostToDevice));
  fetch<axes><<<1, 64>>>(handle, places, out, count);
  std::vector<unsigned> bits(count);
  CHECK(cudaMemcpy(bits.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < count; ++i)
    std::printf("%s%08x%s", i % 16 == 0 ? name : "", bits[i], i % 16 == 15 || i + 1 == count ? "\n" : " ");
  CHECK(cudaDestroyTextureObject(handle));
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(places));
  CHECK(cudaFree(out));
}

int main() {
  const Way wrap{cudaAddressModeWrap, true}, mirror{cudaAddressModeMirror, true}, border{cudaAddressModeBorder};
  Random random{7};
  // Where weights are rounded: texels of 0 and 1.
  std::vector<float> steps(8), sixty_fourths(64), one(16), one_deep(64);
  for (int i = 0; i < 8; ++i)
    steps[i] = static_cast<float>(i & 1);
  for (int i = 0; i < 64; ++i)
    sixty_fourths[i] = 1.5f + static_cast<float>(i) / 2048;
  one[5] = one_deep[21] = 1;
  sample<1>("weights of a row: ", steps, 8, sixty_fourths);
  steps.pop_back();
  sample<1>("weights of a row, wrapped: ", steps, 7, random.numbers(512, 1, 0), wrap);
  const std::vector<float> in_plane = random.numbers(2048, 1, 1.5f), in_volume = random.numbers(3072, 1, 1.5f);
  sample<2>("weights of a plane: ", one, 4, in_plane);
  sample<3>("weights of a volume: ", one_deep, 4, in_volume);
  // Sums of products.
  const std::vector<float> reals = random.numbers(64, 2, -1), large = random.numbers(64, 1000, -500);
  std::vector<float> x, xy;
  for (int i = 0; i < 1024; ++i) {
    x.push_back(random.next() * 10 - 1);
    for (int axis = 0; axis < 2; ++axis)
      xy.push_back(random.next() * 10 - 1);
  }
  sample<1>("float, row: ", reals, 64, x);
  sample<2>("float, plane in a border: ", reals, 8, xy, border);
  sample<3>("float, volume: ", large, 4, in_volume);
  sample<2>("float, mirrored: ", reals, 8, xy, mirror);
  sample<2>("float, wrapped: ", reals, 8, xy, wrap);
  std::vector<unsigned char> bytes;
  std::vector<unsigned short> words;
  std::vector<__half> halves;
  for (int i = 0; i < 64; ++i)
    bytes.push_back(static_cast<unsigned char>(random.next() * 256));
  for (int i = 0; i < 64; ++i)
    words.push_back(static_cast<unsigned short>(random.next() * 65536));
  for (const float one : reals)
    halves.push_back(__float2half(one));
  sample<1>("bytes, row: ", bytes, 64, x);
  sample<2>("bytes, plane: ", bytes, 8, xy);
  sample<2>("words, plane: ", words, 8, xy);
  sample<1>("half, row: ", halves, 64, x);
  sample<2>("half, plane: ", halves, 8, xy);
  // Numbers with a sign, and borders.
  random.state = 11;
  x.clear(), xy.clear();
  for (int i = 0; i < 1024; ++i) {
    x.push_back(random.next() * 66 - 1);
    for (int axis = 0; axis < 2; ++axis)
      xy.push_back(random.next() * 10 - 1);
  }
  std::vector<signed char> signed_bytes;
  std::vector<short> signed_words;
  for (int i = 0; i < 64; ++i)
    signed_bytes.push_back(static_cast<signed char>(static_cast<int>(random.next() * 256) - 128));
  for (int i = 0; i < 64; ++i)
    signed_words.push_back(static_cast<short>(static_cast<int>(random.next() * 65536) - 32768));
  signed_bytes[3] = -128, signed_bytes[4] = -127, signed_words[5] = -32768;
  for (unsigned char &byte : bytes)
    byte = static_cast<unsigned char>(random.next() * 256);
  for (unsigned short &word : words)
    word = static_cast<unsigned short>(random.next() * 65536);
  const std::vector<float> others = random.numbers(64, 2, -1);
  sample<1>("signed bytes, row: ", signed_bytes, 64, x);
  sample<2>("signed bytes, plane: ", signed_bytes, 8, xy);
  sample<1>("signed words, row: ", signed_words, 64, x);
  sample<2>("signed words, plane: ", signed_words, 8, xy);
  const std::vector<float> outside{-1, 65, 3};
  for (const float colour : {0.3f, -0.7f, 1.5f}) {
    const Way filtered{cudaAddressModeBorder, false, colour}, nearest{cudaAddressModeBorder, false, colour, cudaFilterModePoint};
    sample<1>("bytes in a border: ", bytes, 64, x, filtered);
    sample<1>("bytes in a border, nearest: ", bytes, 64, outside, nearest);
    sample<1>("signed bytes in a border: ", signed_bytes, 64, x, filtered);
    sample<1>("signed bytes in a border, nearest: ", signed_bytes, 64, outside, nearest);
    sample<1>("float in a border: ", others, 64, x, filtered);
    sample<1>("words in a border, nearest: ", words, 64, outside, nearest);
  }
}
