// What the probe runs on the device. Instructions that are measured are written in PTX, volatile,
// so that the compiler neither moves nor drops them; each kernel writes the cycles it took (of the
// multiprocessor's own clock), or is timed from outside.

#include <cstdint>

namespace {

__device__ std::uint64_t clock_now() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
}

/// The cycles from when the first thread of the block begins until its last one ends.
template <class Work> __device__ void time_block(std::uint64_t *cycles, Work work) {
  __syncthreads();
  const std::uint64_t start = clock_now();
  work();
  __syncthreads();
  if (threadIdx.x == 0)
    cycles[blockIdx.x] = clock_now() - start;
}

} // namespace

/// Node i of a ring, at base + i * stride, points to node i + step.
extern "C" __global__ void probe_link(char *base, std::uint64_t count, std::uint64_t stride,
                                      std::uint64_t step) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += threads)
    *reinterpret_cast<char **>(base + i * stride) = base + (i + step) % count * stride;
}

#define CHASE(NAME, LOAD)                                                                          \
  extern "C" __global__ void NAME(char *p, int warm, int steps, std::uint64_t *cycles,             \
                                  char **sink) {                                                   \
    for (int i = 0; i < warm; i++)                                                                 \
      asm volatile(LOAD " %0, [%0];" : "+l"(p)::"memory");                                         \
    const std::uint64_t start = clock_now();                                                       \
    for (int i = 0; i < steps; i++)                                                                \
      asm volatile(LOAD " %0, [%0];" : "+l"(p)::"memory");                                         \
    if (p == nullptr)                                                                              \
      *sink = p;                                                                                   \
    cycles[0] = clock_now() - start;                                                               \
  }
CHASE(probe_chase_l1, "ld.global.ca.u64")
CHASE(probe_chase_l2, "ld.global.cg.u64")

extern "C" __global__ void probe_chase_shared(int steps, std::uint64_t *cycles, unsigned *sink) {
  __shared__ unsigned ring[32];
  ring[threadIdx.x] =
      static_cast<unsigned>(__cvta_generic_to_shared(ring + (threadIdx.x + 1) % 32));
  __syncthreads();
  unsigned p = ring[threadIdx.x];
  const std::uint64_t start = clock_now();
  for (int i = 0; i < steps; i++)
    asm volatile("ld.shared.u32 %0, [%0];" : "+r"(p)::"memory");
  if (p == 0)
    *sink = p;
  cycles[0] = clock_now() - start;
}

/// Chains of one instruction, 16 per step, that wait for each other.
#define CHAIN(NAME, TYPE, CONSTRAINT, TEXT)                                                        \
  extern "C" __global__ void __launch_bounds__(1024)                                               \
      NAME(TYPE value, int steps, std::uint64_t *cycles, TYPE *sink) {                             \
    value += TYPE(threadIdx.x); /* or a shuffle would be known to change nothing */                \
    const std::uint64_t start = clock_now();                                                       \
    for (int i = 0; i < steps; i++) {                                                              \
      _Pragma("unroll") for (int k = 0; k < 16; k++) asm volatile(TEXT : CONSTRAINT(value));       \
    }                                                                                              \
    if (value == TYPE(12345))                                                                      \
      *sink = value;                                                                               \
    cycles[0] = clock_now() - start;                                                               \
  }
CHAIN(probe_chain_fma, float, "+f", "fma.rn.f32 %0, %0, %0, %0;")
CHAIN(probe_chain_mad, int, "+r", "mad.lo.s32 %0, %0, %0, %0;")
CHAIN(probe_chain_special, float, "+f", "ex2.approx.ftz.f32 %0, %0;")
CHAIN(probe_chain_shfl, int, "+r", "shfl.sync.down.b32 %0, %0, 1, 31, -1;")
CHAIN(probe_chain_double, double, "+d", "fma.rn.f64 %0, %0, %0, %0;")

/// Rates of a multiprocessor: all warps of a block issue the same instruction, independent of each
/// other, 16 per step.
#define RATE(NAME, TYPE, CONSTRAINT, TEXT)                                                         \
  extern "C" __global__ void __launch_bounds__(1024)                                               \
      NAME(TYPE value, int steps, std::uint64_t *cycles, TYPE *sink) {                             \
    TYPE r[8];                                                                                     \
    for (int k = 0; k < 8; k++)                                                                    \
      r[k] = value + TYPE(k + threadIdx.x);                                                        \
    time_block(cycles, [&] {                                                                       \
      for (int i = 0; i < steps; i++) {                                                            \
        _Pragma("unroll") for (int k = 0; k < 16; k++) asm volatile(TEXT : CONSTRAINT(r[k % 8]));  \
      }                                                                                            \
    });                                                                                            \
    TYPE sum = r[0];                                                                               \
    for (int k = 1; k < 8; k++)                                                                    \
      sum += r[k];                                                                                 \
    if (sum == TYPE(12345))                                                                        \
      *sink = sum;                                                                                 \
  }
RATE(probe_rate_fma, float, "+f", "fma.rn.f32 %0, %0, %0, %0;")
RATE(probe_rate_mad, int, "+r", "mad.lo.s32 %0, %0, %0, %0;")
RATE(probe_rate_add, int, "+r", "add.s32 %0, %0, %0;")
RATE(probe_rate_special, float, "+f", "ex2.approx.ftz.f32 %0, %0;")
RATE(probe_rate_shfl, int, "+r", "shfl.sync.down.b32 %0, %0, 1, 31, -1;")
RATE(probe_rate_double, double, "+d", "fma.rn.f64 %0, %0, %0, %0;")
RATE(probe_rate_divide, float, "+f", "div.rn.f32 %0, %0, 0f3F99999A;")
RATE(probe_rate_root, float, "+f", "sqrt.rn.f32 %0, %0;")
RATE(probe_rate_divide_integer, int, "+r", "div.s32 %0, 1000003, %0;")
RATE(probe_rate_divide_long, std::int64_t, "+l", "div.s64 %0, 1000003, %0;")
RATE(probe_rate_divide_double, double, "+d", "div.rn.f64 %0, %0, 0d3FF3333333333333;")
RATE(probe_rate_convert, int, "+r", "{ .reg .f32 f; cvt.rn.f32.s32 f, %0; cvt.rzi.s32.f32 %0, f; }")

/// Loads of a window that is in the L1: lane l reads at l * lane_stride, each of the 16 loads of a
/// step in a place of its own and the steps in two, in a way that ptxas does not see: it would do
/// one load for many. `mask` is 0x4000.
#define LOADS(NAME, TEXT, OUTPUTS)                                                                 \
  extern "C" __global__ void __launch_bounds__(1024)                                               \
      NAME(const char *base, unsigned mask, unsigned lane_stride, int steps,                       \
           std::uint64_t *cycles, unsigned *sink) {                                                \
    const char *lane = base + threadIdx.x % 32 * lane_stride;                                      \
    unsigned a = 0, b = 0, c = 0, d = 0, sum = 0;                                                  \
    const auto step = [&](int i) {                                                                 \
      const char *p = lane + (i * 16 * 1024 & mask);                                               \
      _Pragma("unroll") for (int k = 0; k < 16; k++) {                                             \
        asm volatile(TEXT:OUTPUTS : "l"(p + k * 1024));                                            \
        sum ^= a ^ b ^ c ^ d;                                                                      \
      }                                                                                            \
    };                                                                                             \
    step(0);                                                                                       \
    step(1);                                                                                       \
    time_block(cycles, [&] {                                                                       \
      for (int i = 0; i < steps; i++)                                                              \
        step(i);                                                                                   \
    });                                                                                            \
    if (sum == 12345)                                                                              \
      *sink = sum;                                                                                 \
  }
#define COMMA ,
LOADS(probe_rate_load32, "ld.global.ca.u32 %0, [%1];", "=r"(a))
LOADS(probe_rate_load64, "ld.global.ca.v2.u32 {%0, %1}, [%2];", "=r"(a)COMMA "=r"(b))
LOADS(probe_rate_load128, "ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];",
      "=r"(a)COMMA "=r"(b)COMMA "=r"(c)COMMA "=r"(d))

/// Loads of shared memory without conflicts.
extern "C" __global__ void __launch_bounds__(1024)
    probe_rate_shared(unsigned mask, int steps, std::uint64_t *cycles, unsigned *sink) {
  __shared__ unsigned window[32 * 32];
  window[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const unsigned lane = static_cast<unsigned>(__cvta_generic_to_shared(window + threadIdx.x % 32));
  unsigned sum = 0;
  time_block(cycles, [&] {
    for (int i = 0; i < steps; i++) {
#pragma unroll
      for (int k = 0; k < 16; k++) {
        unsigned a;
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(lane + (i * 2048 & mask) + k * 128));
        sum ^= a;
      }
    }
  });
  if (sum == 12345)
    *sink = sum;
}

/// Stores, lane l at l * lane_stride, each warp in a window of its own.
extern "C" __global__ void __launch_bounds__(1024)
    probe_rate_store(char *base, unsigned mask, unsigned lane_stride, int steps,
                     std::uint64_t *cycles) {
  char *warp = base + threadIdx.x / 32 * (32 * 1024) + threadIdx.x % 32 * lane_stride;
  time_block(cycles, [&] {
    for (int i = 0; i < steps; i++) {
#pragma unroll
      for (int k = 0; k < 16; k++)
        asm volatile("st.global.u32 [%0], %1;" ::"l"(warp + (i * 16 * 1024 & mask) + k * 1024),
                     "r"(i)
                     : "memory");
    }
  });
}

/// Reads a window that is in the L2 past the L1, 16 bytes per lane; `passes` times.
extern "C" __global__ void probe_l2(const uint4 *in, std::uint64_t count, int passes,
                                    unsigned *sink) {
  unsigned sum = 0;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (int pass = 0; pass < passes; pass++)
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += 4 * threads) {
      uint4 v[4];
#pragma unroll
      for (int k = 0; k < 4; k++)
        v[k] = i + k * threads < count ? __ldcg(in + i + k * threads) : uint4{};
#pragma unroll
      for (int k = 0; k < 4; k++)
        sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
  if (sum == 12345)
    *sink = sum;
}

/// 16 bytes per lane and step: reads, writes, or both.
extern "C" __global__ void probe_read(const uint4 *in, std::uint64_t count, unsigned *sink) {
  unsigned sum = 0;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += threads) {
    const uint4 v = __ldcg(in + i);
    sum += v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == 12345)
    *sink = sum;
}
extern "C" __global__ void probe_write(uint4 *out, std::uint64_t count) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += threads)
    out[i] = uint4{1, 2, 3, 4};
}
extern "C" __global__ void probe_copy(const uint4 *in, uint4 *out, std::uint64_t count) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += threads)
    out[i] = in[i];
}

/// One 32-bit value every `stride` bytes: what the DRAM moves for a sector.
extern "C" __global__ void probe_sparse(const char *in, std::uint64_t count, unsigned stride,
                                        unsigned *sink) {
  unsigned sum = 0;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += threads)
    sum += __ldcg(reinterpret_cast<const unsigned *>(in + i * stride));
  if (sum == 12345)
    *sink = sum;
}

/// The same with stores: sectors of which only a part is written.
extern "C" __global__ void probe_sparse_write(char *out, std::uint64_t count, unsigned stride) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += threads)
    *reinterpret_cast<unsigned *>(out + i * stride) = 1;
}

/// One thread per element, as most kernels are written.
extern "C" __global__ void probe_stream1(const float *a, float *out) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  out[i] = a[i];
}
extern "C" __global__ void probe_stream3(const float *a, const float *b, const float *c,
                                         float *out) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  out[i] = a[i] + b[i] * c[i];
}

/// Nothing.
extern "C" __global__ void probe_empty() {}

/// A block that stays for `cycles`.
extern "C" __global__ void probe_stay(std::uint64_t cycles) {
  const std::uint64_t start = clock_now();
  while (clock_now() - start < cycles)
    ;
}

/// The multiprocessor's clock against the GPU's timer, in nanoseconds.
extern "C" __global__ void probe_clock(std::uint64_t *cycles, std::uint64_t *nanoseconds) {
  std::uint64_t begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
  const std::uint64_t start = clock_now();
  do
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  while (now - begin < 3000000);
  *cycles = clock_now() - start;
  *nanoseconds = now - begin;
}
