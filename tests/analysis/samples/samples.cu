// Kernels that do what those samples of the CUDA toolkit do whose kernels Singhania (2019, table 5.1)
// proved independent of the block's size, written anew from what they compute. Each takes its own
// kind of a global index: one per element, grid-stride loops, two elements a thread, two dimensions,
// indices cut apart by shifts and masks.
//
//   nvcc -ptx -arch=sm_90 samples.cu -o samples.ptx
//
// newDelete.cu has those of the table that allocate memory on the device.

#define GLOBAL_X (blockIdx.x * blockDim.x + threadIdx.x)
#define GLOBAL_Y (blockIdx.y * blockDim.y + threadIdx.y)
#define THREADS_X (gridDim.x * blockDim.x)

// --- fastWalshTransform: a step of radix 4 across memory, and the product of two spectra ---

extern "C" __global__ void walsh_step(float *data, int level) {
  const int stride = 1 << (level & 3), position = GLOBAL_X;
  const int low = position & (stride - 1);
  float *const at = data + ((position - low) << 2) + low;
  const float a = at[0], b = at[stride], c = at[2 * stride], d = at[3 * stride];
  at[0] = (a + c) + (b + d);
  at[stride] = (a + c) - (b + d);
  at[2 * stride] = (a - c) + (b - d);
  at[3 * stride] = (a - c) - (b - d);
}

extern "C" __global__ void walsh_modulate(float *a, const float *b, int n) {
  const float scale = 1.0f / n;
  for (int i = GLOBAL_X; i < n; i += THREADS_X)
    a[i] *= b[i] * scale;
}

// --- cudaDecodeGL: two pixels a thread, from luminance to packed colours ---

static __device__ unsigned grey(unsigned luminance) {
  return 0xff000000u | luminance << 16 | luminance << 8 | luminance;
}

extern "C" __global__ void decode_pass_through(const unsigned char *source, unsigned *target,
                                               int width, int height, int pitch) {
  const int x = 2 * GLOBAL_X, y = GLOBAL_Y;
  if (x + 1 >= width || y >= height)
    return;
  target[y * width + x] = grey(source[y * pitch + x]);
  target[y * width + x + 1] = grey(source[y * pitch + x + 1]);
}

static __device__ unsigned colour(int luminance, int u, int v) {
  const int c = 298 * (luminance - 16);
  const int red = min(max((c + 409 * v) >> 8, 0), 255);
  const int green = min(max((c - 100 * u - 208 * v) >> 8, 0), 255);
  const int blue = min(max((c + 516 * u) >> 8, 0), 255);
  return 0xff000000u | red << 16 | green << 8 | blue;
}

extern "C" __global__ void decode_nv12(const unsigned char *source, unsigned *target, int width,
                                       int height, int pitch) {
  const int x = 2 * GLOBAL_X, y = GLOBAL_Y;
  if (x + 1 >= width || y >= height)
    return;
  const unsigned char *chroma = source + (height + (y >> 1)) * pitch;
  const int u = chroma[x] - 128, v = chroma[x + 1] - 128;
  target[y * width + x] = colour(source[y * pitch + x], u, v);
  target[y * width + x + 1] = colour(source[y * pitch + x + 1], u, v);
}

// --- mergeSort: where samples of one sorted run would stand in the other one ---

template <bool descending>
static __device__ unsigned place_of(unsigned key, const unsigned *run, unsigned length) {
  unsigned place = 0;
  for (unsigned step = 64; step > 0; step >>= 1) {
    const unsigned next = min(place + step, length);
    if (descending ? run[next - 1] > key : run[next - 1] < key)
      place = next;
  }
  return place;
}

template <bool descending>
static __device__ void sample_ranks(unsigned *ranks_a, unsigned *ranks_b, const unsigned *keys,
                                    unsigned stride, unsigned threads) {
  const unsigned position = GLOBAL_X;
  if (position >= threads)
    return;
  const unsigned i = position & (stride / 4 - 1), segment = (position - i) * 8;
  ranks_a[segment / 4 + i] = 4 * i;
  ranks_b[segment / 4 + i] =
      place_of<descending>(keys[segment + 4 * i], keys + segment + stride, stride);
}

extern "C" __global__ void sample_ranks_ascending(unsigned *a, unsigned *b, const unsigned *keys,
                                                  unsigned stride, unsigned threads) {
  sample_ranks<false>(a, b, keys, stride, threads);
}

extern "C" __global__ void sample_ranks_descending(unsigned *a, unsigned *b, const unsigned *keys,
                                                   unsigned stride, unsigned threads) {
  sample_ranks<true>(a, b, keys, stride, threads);
}

extern "C" __global__ void merge_ranks(unsigned *limits, const unsigned *ranks, unsigned level,
                                       unsigned threads) {
  const unsigned stride = 4 << (level & 3), position = GLOBAL_X;
  if (position >= threads)
    return;
  const unsigned i = position & (stride - 1), base = 2 * (position - i);
  const unsigned *const first = ranks + base, *const second = ranks + base + stride;
  const unsigned mine = first[i];
  limits[base + i] = mine + place_of<false>(mine, second, stride);
  limits[base + stride + i] = second[i];
}

// --- recursiveGaussian: a thread a column, down and up again ---

static __device__ float4 unpack(unsigned c) {
  return make_float4(c & 255, c >> 8 & 255, c >> 16 & 255, c >> 24);
}
static __device__ unsigned pack(float4 c) {
  return unsigned(c.x) | unsigned(c.y) << 8 | unsigned(c.z) << 16 | unsigned(c.w) << 24;
}
static __device__ float4 mix(float4 a, float4 b, float t) {
  return make_float4(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z),
                     a.w + t * (b.w - a.w));
}

extern "C" __global__ void recursive_simple(const unsigned *in, unsigned *out, int width,
                                            int height, float a) {
  const int x = GLOBAL_X;
  if (x >= width)
    return;
  float4 previous = unpack(in[x]);
  for (int y = 0; y < height; y++) {
    previous = mix(unpack(in[y * width + x]), previous, a);
    out[y * width + x] = pack(previous);
  }
  previous = unpack(in[(height - 1) * width + x]);
  for (int y = height - 1; y >= 0; y--) {
    previous = mix(unpack(in[y * width + x]), previous, a);
    out[y * width + x] = pack(mix(unpack(out[y * width + x]), previous, 0.5f));
  }
}

extern "C" __global__ void recursive_gaussian(const float *in, float *out, int width, int height,
                                              float a0, float a1, float b1, float b2) {
  const int x = GLOBAL_X;
  if (x >= width)
    return;
  float before = 0, last = 0, earlier = 0;
  for (int y = 0; y < height; y++) {
    const float here = in[y * width + x];
    const float result = a0 * here + a1 * before - b1 * last - b2 * earlier;
    out[y * width + x] = result;
    before = here, earlier = last, last = result;
  }
  before = last = earlier = 0;
  for (int y = height - 1; y >= 0; y--) {
    const float result = a1 * before + a0 * earlier - b1 * last - b2 * earlier;
    earlier = last, last = result, before = in[y * width + x];
    out[y * width + x] += result;
  }
}

// --- simpleCUDA2GL: a pattern, and an image drawn over it ---

extern "C" __global__ void draw_pattern(unsigned *out, int width, int tile) {
  const int x = GLOBAL_X, y = GLOBAL_Y;
  if (x >= width)
    return;
  const unsigned level = (x & tile) ^ (y & tile) ? 200u : 20u;
  out[y * width + x] = level << 16 | level << 8 | level;
}

extern "C" __global__ void draw_over(const unsigned *in, unsigned *out, int width) {
  const int x = GLOBAL_X, y = GLOBAL_Y;
  if (x >= width)
    return;
  out[y * width + x] = (out[y * width + x] & 0xfefefeu) / 2 + (in[y * width + x] & 0xfefefeu) / 2;
}

// --- quasirandomGenerator: bits of a number choose words of a table; the inverse of a
// distribution ---

extern "C" __global__ void quasirandom(const unsigned *table, float *out, unsigned seed,
                                       unsigned n) {
  const unsigned dimension = GLOBAL_Y;
  for (unsigned position = GLOBAL_X; position < n; position += THREADS_X) {
    unsigned result = 0, bits = seed + position;
    for (int bit = 0; bit < 31; bit++, bits >>= 1)
      if (bits & 1)
        result ^= table[dimension * 31 + bit];
    out[dimension * n + position] = (result + 1) * (1.0f / 2147483648.0f);
  }
}

extern "C" __global__ void inverse_distribution(const unsigned *in, float *out, unsigned n) {
  for (unsigned i = GLOBAL_X; i < n; i += THREADS_X) {
    const float y = (in[i] & 0xffffff) * (1.0f / 16777216.0f) - 0.5f, z = y * y;
    out[i] = y * (2.5f + z * (-18.6f + z * (41.4f - 25.4f * z))) /
             (1.0f + z * (-8.5f + z * (23.1f + z * (-21.1f + 3.1f * z))));
  }
}

// --- SobolQRNG, without its cache in shared memory: Gray code by the number of threads ---

extern "C" __global__ void sobol(const unsigned *directions, float *out, unsigned n) {
  const unsigned stride = THREADS_X;
  const unsigned *const v = directions + GLOBAL_Y * 32;
  float *const to = out + GLOBAL_Y * n;
  unsigned x = 0;
  const unsigned first = GLOBAL_X, gray = first ^ (first >> 1);
  for (unsigned k = 0; k < 31; k++)
    x ^= -(gray >> k & 1) & v[k];
  for (unsigned i = first; i < n; i += stride) {
    to[i] = x * 2.3283064365e-10f;
    x ^= v[__ffs(~(i | (stride - 1))) & 31] ^ v[__ffs(stride) & 31];
  }
}

// --- StreamPriorities ---

extern "C" __global__ void copy_many(uint4 *to, const uint4 *from, unsigned n) {
  for (unsigned i = GLOBAL_X; i < n; i += THREADS_X)
    to[i] = from[i];
}

// --- oceanFFT: from the spectrum of one moment to heights and slopes ---

extern "C" __global__ void ocean_spectrum(const float2 *initial, float2 *spectrum, unsigned width,
                                          unsigned height, float real, float imaginary) {
  const unsigned x = GLOBAL_X, y = GLOBAL_Y;
  if (x >= width || y >= height)
    return;
  const float2 h = initial[y * (width + 4) + x], m = initial[(height - y) * (width + 4) + width - x];
  spectrum[y * width + x] =
      make_float2((h.x + m.x) * real - (h.y + m.y) * imaginary,
                  (h.x - m.x) * imaginary + (h.y - m.y) * real);
}

extern "C" __global__ void ocean_heights(float *heights, const float2 *transformed,
                                         unsigned width) {
  const unsigned x = GLOBAL_X, y = GLOBAL_Y, i = y * width + x;
  if (x >= width)
    return;
  heights[i] = (x + y) & 1 ? -transformed[i].x : transformed[i].x;
}

extern "C" __global__ void ocean_slopes(const float *heights, float2 *slopes, unsigned width,
                                        unsigned height) {
  const unsigned x = GLOBAL_X, y = GLOBAL_Y, i = y * width + x;
  if (x >= width)
    return;
  float2 slope = make_float2(0, 0);
  if (x > 0 && y > 0 && x < width - 1 && y < height - 1)
    slope = make_float2(heights[i + 1] - heights[i - 1], heights[i + width] - heights[i - width]);
  slopes[i] = slope;
}

// --- alignedTypes: one loop, twelve types ---

struct Pair16 {
  unsigned short l, a;
};
struct Triple32 {
  unsigned r, g, b;
};
struct Quad32 {
  unsigned r, g, b, a;
};
struct Eight32 {
  Quad32 low, high;
};

#define ALIGNED(NAME, TYPE)                                                                        \
  extern "C" __global__ void aligned_##NAME(TYPE *to, const TYPE *from, int n) {                   \
    for (int i = GLOBAL_X; i < n; i += THREADS_X)                                                  \
      to[i] = from[i];                                                                             \
  }
struct __align__(4) AlignedPair16 : Pair16 {};
struct __align__(8) AlignedPair32 {
  unsigned l, a;
};
struct Pair32 {
  unsigned l, a;
};
struct __align__(16) AlignedTriple32 : Triple32 {};
struct __align__(16) AlignedQuad32 : Quad32 {};
struct __align__(16) AlignedEight32 : Eight32 {};
ALIGNED(u8, unsigned char)
ALIGNED(u16, unsigned short)
ALIGNED(u32, unsigned)
ALIGNED(pair16, Pair16)
ALIGNED(aligned_pair16, AlignedPair16)
ALIGNED(pair32, Pair32)
ALIGNED(aligned_pair32, AlignedPair32)
ALIGNED(triple32, Triple32)
ALIGNED(aligned_triple32, AlignedTriple32)
ALIGNED(quad32, Quad32)
ALIGNED(aligned_quad32, AlignedQuad32)
ALIGNED(aligned_eight32, AlignedEight32)
