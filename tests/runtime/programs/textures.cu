// Arrays, textures and surfaces, against the formulas of the CUDA C++ Programming Guide.
#include "common.h"

#include <algorithm>
#include <cmath>
#include <cuda_fp16.h>

template <class T> __global__ void fetch_row(cudaTextureObject_t t, T *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = tex1Dfetch<T>(t, i - 2);
}
template <class T> __global__ void fetch_plane(cudaTextureObject_t t, const float2 *at, T *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = tex2D<T>(t, at[i].x, at[i].y);
}
__global__ void fetch_others(cudaTextureObject_t volume, cudaTextureObject_t layers, cudaTextureObject_t rows,
                             cudaTextureObject_t cube, float *out) {
  const int i = threadIdx.x;
  out[i] = tex3D<float>(volume, i % 4 + 0.5f, i / 4 % 4 + 0.75f, i / 16 + 0.5f);
  out[32 + i] = tex2DLayered<float>(layers, i % 4 + 0.5f, i / 4 % 4 + 0.5f, i / 16);
  out[64 + i] = tex1DLayered<float>(rows, i % 8 + 0.5f, i / 8);
  const float3 ways[] = {{1, 0.5f, 0.25f}, {-1, 0.5f, 0.25f}, {0.5f, 1, 0.25f}, {0.5f, -1, 0.25f}, {0.5f, 0.25f, 1}, {0.5f, 0.25f, -1}};
  const float3 way = ways[i % 6];
  out[96 + i] = texCubemap<float>(cube, way.x, way.y, way.z);
}
__global__ void gather(cudaTextureObject_t t, float4 *out) { out[0] = tex2Dgather<float4>(t, 2, 2, 0); }
__global__ void level(cudaTextureObject_t t, float *out) {
  out[0] = tex2DLod<float>(t, 2.5f, 1.5f, 0);
  out[1] = tex2DGrad<float>(t, 2.5f, 1.5f, {1, 0}, {0, 1});
}
__global__ void turn(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int n) {
  const int x = threadIdx.x, y = threadIdx.y;
  float4 all = surf2Dread<float4>(from, x * sizeof(float4), y);
  all.w += 1;
  surf2Dwrite(all, to, y * sizeof(float4), n - 1 - x);
}
__global__ void edges(cudaSurfaceObject_t s, int *out) {
  out[0] = surf2Dread<int>(s, -4, 0, cudaBoundaryModeZero);
  out[1] = surf2Dread<int>(s, -4, 9, cudaBoundaryModeClamp);
  surf2Dwrite(77, s, 400, 0, cudaBoundaryModeZero);
  surf2Dwrite(5, s, 4, 1);
  out[2] = surf2Dread<int>(s, 4, 1);
}
__global__ void volume(cudaSurfaceObject_t s) { surf3Dwrite(5, s, 0, 0, 0); } // of a plane
__global__ void beyond(cudaSurfaceObject_t s) { surf2Dwrite(1, s, 4 * 4, 0); }

constexpr int w = 5, h = 4;

cudaResourceDesc of(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}
cudaTextureDesc how(cudaTextureFilterMode filter, cudaTextureAddressMode mode, bool normalized,
                    cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc texture{};
  std::fill(texture.addressMode, texture.addressMode + 3, mode);
  texture.filterMode = filter;
  texture.normalizedCoords = normalized;
  texture.readMode = read;
  texture.borderColor[0] = 9;
  return texture;
}

template <class T> cudaArray_t array_of(const std::vector<T> &all, cudaExtent extent, unsigned flags = 0) {
  cudaArray_t array = nullptr;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  if constexpr (std::is_same_v<T, half>)
    format = cudaCreateChannelDescHalf();
  RIGHT(cudaMalloc3DArray(&array, &format, extent, flags));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<T *>(all.data()), extent.width * sizeof(T), extent.width,
                                    std::max<std::size_t>(extent.height, 1));
  copy.dstArray = array;
  copy.extent = {extent.width, std::max<std::size_t>(extent.height, 1), std::max<std::size_t>(extent.depth, 1)};
  copy.kind = cudaMemcpyHostToDevice;
  RIGHT(cudaMemcpy3D(&copy));
  return array;
}

template <class T> T *device_copy(const std::vector<T> &all) {
  T *to = nullptr;
  RIGHT(cudaMalloc(&to, all.size() * sizeof(T)));
  RIGHT(cudaMemcpy(to, all.data(), all.size() * sizeof(T), cudaMemcpyHostToDevice));
  return to;
}
template <class T> std::vector<T> host_copy(const T *from, std::size_t n) {
  std::vector<T> to(n);
  RIGHT(cudaMemcpy(to.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost));
  return to;
}

// What the guide says of a coordinate, written from it: a number from 0 to N - 1, or -1.
int place(double at, int n, cudaTextureAddressMode mode, bool normalized) {
  int i = static_cast<int>(std::floor(at));
  if (mode == cudaAddressModeBorder)
    return i < 0 || i >= n ? -1 : i;
  if (!normalized || mode == cudaAddressModeClamp)
    return std::min(std::max(i, 0), n - 1);
  if (mode == cudaAddressModeWrap)
    return ((i % n) + n) % n;
  const bool is_odd = static_cast<int>(std::floor(double(i) / n)) % 2 != 0;
  i = ((i % n) + n) % n;
  return is_odd ? n - 1 - i : i;
}

void planes() {
  std::vector<float> all(w * h);
  for (int i = 0; i < w * h; ++i)
    all[i] = i * i - 3.0f * i;
  const cudaArray_t array = array_of<float>(all, {w, h, 0});
  std::vector<float2> at;
  for (float y = -1.75f; y < h + 2; y += 0.375f)
    for (float x = -2.25f; x < w + 3; x += 0.3125f)
      at.push_back({x, y});
  const int n = static_cast<int>(at.size());
  float *out = nullptr;
  RIGHT(cudaMalloc(&out, n * sizeof(float)));
  for (const bool normalized : {false, true})
    for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear})
      for (const auto mode : {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder}) {
        std::vector<float2> places = at;
        if (normalized) // 8 is a power of two, so nothing is rounded
          for (float2 &p : places)
            p = {p.x / 8, p.y / 8};
        float2 *const in = device_copy(places);
        cudaTextureObject_t t = 0;
        const cudaResourceDesc resource = of(array);
        const cudaTextureDesc texture = how(filter, mode, normalized);
        RIGHT(cudaCreateTextureObject(&t, &resource, &texture, nullptr));
        fetch_plane<float><<<(n + 63) / 64, 64>>>(t, in, out, n);
        const std::vector<float> found = host_copy(out, n);
        int wrong = 0;
        for (int i = 0; i < n; ++i) {
          const double x = normalized ? double(places[i].x) * w : places[i].x, y = normalized ? double(places[i].y) * h : places[i].y;
          const auto element = [&](double px, double py) -> double {
            const int a = place(px, w, mode, normalized), b = place(py, h, mode, normalized);
            return a < 0 || b < 0 ? 9 : all[b * w + a];
          };
          double wanted = element(x, y);
          if (filter == cudaFilterModeLinear) {
            // In 256ths, and so are products (filtering.cu).
            const int fx = static_cast<int>(std::round((x - 0.5 - std::floor(x - 0.5)) * 256)),
                      fy = static_cast<int>(std::round((y - 0.5 - std::floor(y - 0.5)) * 256));
            const int near = ((256 - fx) * (256 - fy) + 128) / 256, far = (fx * fy + 128) / 256;
            wanted = (near * element(x - 0.5, y - 0.5) + (fx - far) * element(x + 0.5, y - 0.5) +
                      (256 - fx - near) * element(x - 0.5, y + 0.5) + far * element(x + 0.5, y + 0.5)) /
                     256;
          }
          wrong += found[i] != static_cast<float>(wanted);
        }
        EXPECT(wrong == 0);
        RIGHT(cudaDestroyTextureObject(t));
        RIGHT(cudaFree(in));
      }
  cudaTextureObject_t t = 0;
  const cudaResourceDesc resource = of(array);
  cudaTextureDesc texture = how(cudaFilterModePoint, cudaAddressModeClamp, false);
  RIGHT(cudaCreateTextureObject(&t, &resource, &texture, nullptr));
  cudaResourceDesc back{};
  RIGHT(cudaGetTextureObjectResourceDesc(&back, t));
  EXPECT(back.res.array.array == array);
  float4 *four = nullptr;
  RIGHT(cudaMalloc(&four, sizeof(float4)));
  gather<<<1, 1>>>(t, four);
  const float4 g = host_copy(four, 1)[0];
  EXPECT(g.x == all[2 * w + 1] && g.y == all[2 * w + 2] && g.z == all[w + 2] && g.w == all[w + 1]);
  level<<<1, 1>>>(t, out);
  EXPECT(host_copy(out, 2) == std::vector<float>(2, all[w + 2]));
  // Copies of parts, and back.
  RIGHT(cudaMemcpy2DToArray(array, 2 * sizeof(float), 1, all.data(), 2 * sizeof(float), 2 * sizeof(float), 2,
                            cudaMemcpyHostToDevice));
  std::vector<float> part(2);
  RIGHT(cudaMemcpy2DFromArray(part.data(), 8, array, 2 * sizeof(float), 2, 8, 1, cudaMemcpyDeviceToHost));
  EXPECT(part[0] == all[2] && part[1] == all[3]);
  WRONG(cudaMemcpy2DFromArray(part.data(), 8, array, 4 * sizeof(float), 2, 8, 1, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  WRONG(cudaMemcpy2DFromArray(part.data(), 8, array, 0, h, 8, 1, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  RIGHT(cudaDestroyTextureObject(t));
  WRONG(cudaDestroyTextureObject(t), cudaErrorInvalidValue);
  RIGHT(cudaFreeArray(array));
  WRONG(cudaCreateTextureObject(&t, &resource, &texture, nullptr), cudaErrorInvalidResourceHandle);
}

void formats() {
  // Linear memory, outside of which are zeros.
  std::vector<short> numbers{-1, 2, -3, 4, -5};
  short *const row = device_copy(numbers);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {row, cudaCreateChannelDesc<short>(), numbers.size() * sizeof(short)};
  const cudaTextureDesc plain{};
  cudaTextureObject_t t = 0;
  RIGHT(cudaCreateTextureObject(&t, &resource, &plain, nullptr));
  short *out = nullptr;
  RIGHT(cudaMalloc(&out, 32));
  fetch_row<<<1, 4>>>(t, out, 9);
  EXPECT((host_copy(out, 9) == std::vector<short>{0, 0, -1, 2, -3, 4, -5, 0, 0}));
  RIGHT(cudaDestroyTextureObject(t));

  // Pitched memory of bytes, as they are and as reals.
  std::vector<uchar4> colours(16 * 2);
  for (int i = 0; i < 32; ++i)
    colours[i] = make_uchar4(i, 2 * i, 255 - i, 128);
  uchar4 *pitched = nullptr;
  std::size_t pitch = 0;
  RIGHT(cudaMallocPitch(&pitched, &pitch, 16 * 4, 2));
  RIGHT(cudaMemcpy2D(pitched, pitch, colours.data(), 64, 64, 2, cudaMemcpyHostToDevice));
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {pitched, cudaCreateChannelDesc<uchar4>(), 16, 2, pitch};
  RIGHT(cudaCreateTextureObject(&t, &resource, &plain, nullptr));
  resource.res.pitch2D.height = 0;
  cudaTextureObject_t none = 0;
  WRONG(cudaCreateTextureObject(&none, &resource, &plain, nullptr), cudaErrorInvalidValue);
  resource.res.pitch2D.height = 2;
  const float2 *const at = device_copy(std::vector<float2>{{3.5f, 1.5f}});
  uchar4 *colour = nullptr;
  RIGHT(cudaMalloc(&colour, 4));
  fetch_plane<<<1, 1>>>(t, at, colour, 1);
  EXPECT(host_copy(colour, 1)[0].x == 19 && host_copy(colour, 1)[0].z == 255 - 19);
  RIGHT(cudaDestroyTextureObject(t));
  const cudaTextureDesc reals = how(cudaFilterModePoint, cudaAddressModeClamp, false, cudaReadModeNormalizedFloat);
  RIGHT(cudaCreateTextureObject(&t, &resource, &reals, nullptr));
  float4 *real = nullptr;
  RIGHT(cudaMalloc(&real, 16));
  fetch_plane<<<1, 1>>>(t, at, real, 1);
  EXPECT(host_copy(real, 1)[0].y == 38 / 255.0f && host_copy(real, 1)[0].w == 128 / 255.0f);
  RIGHT(cudaDestroyTextureObject(t));

  const cudaArray_t halves = array_of<half>({__float2half(0.25f), __float2half(-3.0f)}, {2, 1, 0});
  const cudaResourceDesc of_halves = of(halves);
  RIGHT(cudaCreateTextureObject(&t, &of_halves, &plain, nullptr));
  const float2 *const second = device_copy(std::vector<float2>{{1.5f, 0.5f}});
  fetch_plane<<<1, 1>>>(t, second, reinterpret_cast<float *>(real), 1);
  EXPECT(host_copy(real, 1)[0].x == -3);

  // Filtering whole numbers, formats of three channels, and arrays without a handle.
  const cudaTextureDesc filtered = how(cudaFilterModeLinear, cudaAddressModeClamp, false);
  WRONG(cudaCreateTextureObject(&t, &resource, &filtered, nullptr), cudaErrorInvalidFilterSetting);
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc three{8, 8, 8, 0, cudaChannelFormatKindUnsigned};
  WRONG(cudaMallocArray(&array, &three, 4, 4), cudaErrorInvalidChannelDescriptor);
  WRONG(cudaFreeArray(reinterpret_cast<cudaArray_t>(&array)), cudaErrorInvalidResourceHandle);
}

void others() {
  std::vector<float> all(6 * 4 * 4);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>(i);
  const std::vector<float> volume(all.begin(), all.begin() + 32), faces = all;
  const cudaArray_t arrays[] = {array_of(volume, {4, 4, 2}), array_of(volume, {4, 4, 2}, cudaArrayLayered),
                                array_of(volume, {8, 0, 4}, cudaArrayLayered), array_of(faces, {4, 4, 6}, cudaArrayCubemap)};
  cudaTextureObject_t t[4];
  for (int i = 0; i < 4; ++i) {
    const cudaResourceDesc resource = of(arrays[i]);
    const cudaTextureDesc texture = how(i == 0 ? cudaFilterModeLinear : cudaFilterModePoint, cudaAddressModeClamp, i == 3);
    RIGHT(cudaCreateTextureObject(&t[i], &resource, &texture, nullptr));
  }
  float *out = nullptr;
  RIGHT(cudaMalloc(&out, 128 * sizeof(float)));
  fetch_others<<<1, 32>>>(t[0], t[1], t[2], t[3], out);
  const std::vector<float> found = host_copy(out, 128);
  for (int i = 0; i < 32; ++i) {
    EXPECT(found[i] == static_cast<float>(i) + (i / 4 % 4 == 3 ? 0 : 1)); // a quarter of a row of 4
    EXPECT(found[32 + i] == static_cast<float>(i) && found[64 + i] == static_cast<float>(i));
  }
  // (s, t) of each face, from 0 to 4.
  const float s[] = {1.5f, 2.5f, 3, 3, 3, 1}, r[] = {1, 1, 2.5f, 1.5f, 1.5f, 1.5f};
  for (int face = 0; face < 6; ++face)
    EXPECT(found[96 + face] == all[face * 16 + int(r[face]) * 4 + int(s[face])]);
}

void surfaces() {
  constexpr int n = 8;
  std::vector<float4> all(n * n);
  for (int i = 0; i < n * n; ++i)
    all[i] = {float(i), 1, 2, 3};
  const cudaArray_t from = array_of(all, {n, n, 0}, cudaArraySurfaceLoadStore),
                    to = array_of(all, {n, n, 0}, cudaArraySurfaceLoadStore);
  cudaSurfaceObject_t s[2];
  const cudaResourceDesc resources[] = {of(from), of(to)};
  RIGHT(cudaCreateSurfaceObject(&s[0], &resources[0]));
  RIGHT(cudaCreateSurfaceObject(&s[1], &resources[1]));
  turn<<<1, dim3(n, n)>>>(s[0], s[1], n);
  std::vector<float4> turned(n * n);
  RIGHT(cudaMemcpy2DFromArray(turned.data(), n * 16, to, 0, 0, n * 16, n, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x)
      wrong += turned[(n - 1 - x) * n + y].x != float(y * n + x) || turned[y * n + x].w != 4;
  EXPECT(wrong == 0);
  // Channels, kind and size; what is no surface.
  cudaChannelFormatDesc format{};
  cudaExtent extent{};
  unsigned flags = 0;
  RIGHT(cudaArrayGetInfo(&format, &extent, &flags, to));
  EXPECT(format.w == 32 && extent.height == n && extent.depth == 0 && flags == cudaArraySurfaceLoadStore);
  const cudaArray_t plain = array_of(all, {n, n, 0});
  const cudaResourceDesc of_plain = of(plain);
  WRONG(cudaCreateSurfaceObject(&s[0], &of_plain), cudaErrorInvalidValue);
}

int main(int count, char **words) {
  if (count > 1) { // what loses the device
    const cudaArray_t array = array_of(std::vector<int>(16, 3), {4, 4, 0}, cudaArraySurfaceLoadStore);
    const cudaResourceDesc resource = of(array);
    cudaSurfaceObject_t s = 0;
    RIGHT(cudaCreateSurfaceObject(&s, &resource));
    int *out = nullptr;
    RIGHT(cudaMalloc(&out, 12));
    if (words[1][0] == 'e') {
      edges<<<1, 1>>>(s, out);
      EXPECT((host_copy(out, 3) == std::vector<int>{0, 3, 5}));
      volume<<<1, 1>>>(s);
    } else if (words[1][0] == 'd') {
      RIGHT(cudaDestroySurfaceObject(s));
      beyond<<<1, 1>>>(s);
    } else {
      beyond<<<1, 1>>>(s);
    }
    EXPECT(cudaDeviceSynchronize() != cudaSuccess);
    return finish();
  }
  planes();
  formats();
  others();
  surfaces();
  return finish();
}
