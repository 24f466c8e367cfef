// How far approximate instructions are from what the emulator computes, over every operand of 32
// bits and four billion of 64 bits and pairs. Prints lines for approximate.txt. What has 16 bits is
// recorded whole.
//
//     nvcc -std=c++17 -arch=sm_90 --extended-lambda -o measure measure.cu && ./measure

#include <cstdint>
#include <cstdio>

namespace {

constexpr unsigned long long all32 = 1ull << 32;

enum class Measure { ulp, absolute, mixed };
constexpr const char *measure_names[] = {"ulp", "absolute", "mixed"};

__device__ unsigned long long scramble(unsigned long long x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

__device__ float flushed(float x, bool flush) {
  return flush && fabsf(x) < 1.17549435e-38f ? copysignf(0.0f, x) : x;
}
/// The host's conversion: the compiler's own may flush.
__device__ float to_f32(double x) { return __double2float_rn(x); }

__device__ double ordered(long long bits, int width) {
  const long long magnitude = bits & ((1ll << (width - 1)) - 1);
  return bits >> (width - 1) & 1 ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
}

/// Infinity where one is a number and the other is none.
__device__ double distance(Measure measure, int width, unsigned long long a_bits,
                           unsigned long long b_bits, double a, double b) {
  if (a_bits == b_bits || (isnan(a) && isnan(b)))
    return 0;
  if (!isfinite(a) || !isfinite(b))
    return INFINITY;
  if (measure == Measure::absolute)
    return fabs(a - b);
  if (measure == Measure::mixed)
    return fabs(a - b) / fmax(1.0, fabs(b));
  if (width == 64)
    return fabs(static_cast<double>(static_cast<long long>(a_bits - b_bits)));
  return fabs(ordered(static_cast<long long>(a_bits), width) -
              ordered(static_cast<long long>(b_bits), width));
}

/// Keeps the largest and where it was.
__device__ void note(unsigned long long *worst, double error, unsigned operand) {
  // A positive float's bits compare as it does; rounded up, so that it stays a bound.
  const unsigned long long key =
      static_cast<unsigned long long>(__float_as_uint(__double2float_ru(error))) << 32 | operand;
  if (key > *worst)
    atomicMax(worst, key);
}

template <class Function> __global__ void try_f32(Measure measure, Function function, unsigned long long *worst) {
  for (unsigned long long i = blockIdx.x * 1ull * blockDim.x + threadIdx.x; i < all32;
       i += gridDim.x * 1ull * blockDim.x) {
    const float x = __uint_as_float(static_cast<unsigned>(i));
    float found, expected;
    function(x, found, expected);
    note(worst,
         distance(measure, 32, __float_as_uint(found), __float_as_uint(expected), found, expected),
         static_cast<unsigned>(i));
  }
}

template <class Function> __global__ void try_pairs(Function function, unsigned long long *worst) {
  for (unsigned long long i = blockIdx.x * 1ull * blockDim.x + threadIdx.x; i < all32;
       i += gridDim.x * 1ull * blockDim.x) {
    unsigned long long bits = scramble(i);
    if (i & 1) // of moderate size
      bits = (bits & 0x8fffffff8fffffff) | 0x3000000030000000;
    const float a = __uint_as_float(static_cast<unsigned>(bits)),
                b = __uint_as_float(static_cast<unsigned>(bits >> 32));
    float found, expected;
    function(a, b, found, expected);
    note(worst, distance(Measure::ulp, 32, __float_as_uint(found), __float_as_uint(expected), found,
                         expected),
         static_cast<unsigned>(bits));
  }
}

template <class Function> __global__ void try_f64(Function function, unsigned long long *worst) {
  for (unsigned long long i = blockIdx.x * 1ull * blockDim.x + threadIdx.x; i < all32;
       i += gridDim.x * 1ull * blockDim.x) {
    const double x = __longlong_as_double(static_cast<long long>(scramble(i)));
    double found, expected;
    function(x, found, expected);
    note(worst,
         distance(Measure::ulp, 64, static_cast<unsigned long long>(__double_as_longlong(found)),
                  static_cast<unsigned long long>(__double_as_longlong(expected)), found, expected),
         static_cast<unsigned>(scramble(i) >> 32));
  }
}

void report(const char *name, const char *type, Measure measure, unsigned long long *worst) {
  cudaDeviceSynchronize();
  unsigned long long key = 0;
  cudaMemcpy(&key, worst, sizeof key, cudaMemcpyDeviceToHost);
  const auto bits = static_cast<unsigned>(key >> 32);
  float error;
  __builtin_memcpy(&error, &bits, sizeof error);
  std::printf("%s %s %s %.6g  at %#x (%s)\n", name, type, measure_names[static_cast<int>(measure)],
              error, static_cast<unsigned>(key), cudaGetErrorString(cudaGetLastError()));
  cudaMemset(worst, 0, sizeof key);
}

__device__ double sine_of_turns(float x, bool cosine) {
  const float turns = __fmul_rz(x, 0.15915493667125701904f);
  const double angle = (static_cast<double>(turns) - trunc(static_cast<double>(turns))) * 2 *
                       3.141592653589793238;
  return cosine ? cos(angle) : sin(angle);
}

__device__ double to_24_bits(double x) {
  int exponent;
  const double fraction = frexp(x, &exponent);
  return isfinite(x) ? ldexp(static_cast<double>(to_f32(fraction)), exponent) : x;
}

#define F32(name, measure, flush, expression)                                                      \
  try_f32<<<1320, 256>>>(                                                                          \
      measure,                                                                                     \
      [] __device__(float operand, float &found, float &expected) {                                \
        asm(name " %0, %1;" : "=f"(found) : "f"(operand));                                         \
        const double x = flushed(operand, flush);                                                  \
        expected = flushed(to_f32(expression), flush);                                             \
      },                                                                                           \
      worst);                                                                                      \
  report(name, "f32", measure, worst);

#define PAIRS(name, flush, full)                                                                   \
  try_pairs<<<1320, 256>>>(                                                                        \
      [] __device__(float a, float b, float &found, float &expected) {                             \
        asm(name " %0, %1, %2;" : "=f"(found) : "f"(a), "f"(b));                                   \
        const double x = flushed(a, flush), y = flushed(b, flush);                                 \
        double reciprocal = to_24_bits(1.0 / y);                                                   \
        if (!full && fabs(reciprocal) < 1.1754943508222875e-38)                                    \
          reciprocal = copysign(0.0, reciprocal);                                                  \
        expected = flushed(to_f32(x * reciprocal), flush);                                         \
      },                                                                                           \
      worst);                                                                                      \
  report(name, "f32", Measure::ulp, worst);

#define F64(name, upper, expression)                                                               \
  try_f64<<<1320, 256>>>(                                                                          \
      [] __device__(double operand, double &found, double &expected) {                             \
        asm(name " %0, %1;" : "=d"(found) : "d"(operand));                                         \
        const long long mask = upper ? ~0xffffffffll : ~0ll;                                       \
        double x = __longlong_as_double(__double_as_longlong(operand) & mask);                     \
        if (upper && fabs(x) < 2.2250738585072014e-308)                                            \
          x = copysign(0.0, x);                                                                    \
        expected = __longlong_as_double(__double_as_longlong(expression) & mask);                  \
        if (upper && fabs(expected) < 2.2250738585072014e-308)                                     \
          expected = copysign(0.0, expected);                                                      \
      },                                                                                           \
      worst);                                                                                      \
  report(name, "f64", Measure::ulp, worst);

} // namespace

int main() {
  unsigned long long *worst = nullptr;
  cudaMalloc(&worst, sizeof *worst);
  cudaMemset(worst, 0, sizeof *worst);
  F32("rcp.approx.f32", Measure::ulp, false, 1.0 / x)
  F32("rcp.approx.ftz.f32", Measure::ulp, true, 1.0 / x)
  F32("sqrt.approx.f32", Measure::ulp, false, sqrt(x))
  F32("sqrt.approx.ftz.f32", Measure::ulp, true, sqrt(x))
  F32("rsqrt.approx.f32", Measure::ulp, false, 1.0 / sqrt(x))
  F32("rsqrt.approx.ftz.f32", Measure::ulp, true, 1.0 / sqrt(x))
  F32("sin.approx.f32", Measure::absolute, false, sine_of_turns(operand, false))
  F32("sin.approx.ftz.f32", Measure::absolute, true, sine_of_turns(x, false))
  F32("cos.approx.f32", Measure::absolute, false, sine_of_turns(operand, true))
  F32("cos.approx.ftz.f32", Measure::absolute, true, sine_of_turns(x, true))
  F32("lg2.approx.f32", Measure::mixed, false, log2(x))
  F32("lg2.approx.ftz.f32", Measure::mixed, true, log2(x))
  F32("ex2.approx.f32", Measure::ulp, false, exp2(x))
  F32("ex2.approx.ftz.f32", Measure::ulp, true, exp2(x))
  F32("tanh.approx.f32", Measure::mixed, false, tanh(x))
  PAIRS("div.approx.f32", false, false)
  PAIRS("div.approx.ftz.f32", true, false)
  PAIRS("div.full.f32", false, true)
  PAIRS("div.full.ftz.f32", true, true)
  F64("rcp.approx.ftz.f64", true, 1.0 / x)
  F64("rsqrt.approx.ftz.f64", true, 1.0 / sqrt(x))
  F64("rsqrt.approx.f64", false, 1.0 / sqrt(x))
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
