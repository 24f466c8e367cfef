// What a launch's caller has set for itself changes no result: how its thread rounds, what it does with denormal numbers and
// exceptions, and how small its stack is.
#include "common.h"

#include <cfenv>
#include <pthread.h>
#include <xmmintrin.h>

constexpr int count = 96;

__global__ void compute(double *out, const double *in, const float *low, float *low_out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * 0.5;
  out[i + count] = __dadd_rz(in[i], in[i] * 3);
  float sum = low[i] * 0.3f;
  for (int k = 0; k < 300; ++k)
    if (low[i] != 0)
      sum = sum * 0.999f + __frcp_rn(low[i] * 1e38f) - __fdiv_rn(1, low[i] + k);
  low_out[i] = sum;
}

struct Results {
  double out[2 * count];
  float low_out[count];
};

double *in, *out;
float *low, *low_out;

Results results() {
  Results r;
  compute<<<3, 32>>>(out, in, low, low_out);
  RIGHT(cudaDeviceSynchronize());
  RIGHT(cudaMemcpy(r.out, out, sizeof r.out, cudaMemcpyDefault));
  RIGHT(cudaMemcpy(r.low_out, low_out, sizeof r.low_out, cudaMemcpyDefault));
  return r;
}

int main() {
  double doubles[count];
  float floats[count];
  for (int i = 0; i < count; ++i) {
    doubles[i] = i * 4.94065645841246544e-324 * 12345677 * (i % 2 ? 1 : -1);
    floats[i] = i % 3 ? i * 1.4e-45f * 1234567 : 0;
  }
  RIGHT(cudaMalloc(&in, sizeof doubles));
  RIGHT(cudaMalloc(&out, 2 * sizeof doubles));
  RIGHT(cudaMalloc(&low, sizeof floats));
  RIGHT(cudaMalloc(&low_out, sizeof floats));
  RIGHT(cudaMemcpy(in, doubles, sizeof doubles, cudaMemcpyDefault));
  RIGHT(cudaMemcpy(low, floats, sizeof floats, cudaMemcpyDefault));

  Results first;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 32768);
  pthread_t thread;
  const auto run = [](void *to) -> void * { return *static_cast<Results *>(to) = results(), nullptr; };
  EXPECT(pthread_create(&thread, &small, run, &first) == 0 && pthread_join(thread, nullptr) == 0);

  const auto is_same = [&] {
    const Results r = results();
    return std::memcmp(&r, &first, sizeof r) == 0;
  };
  EXPECT(is_same());
  for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(rounding);
    const bool same = is_same();
    EXPECT(std::fegetround() == rounding); // it is the caller's again
    std::fesetround(FE_TONEAREST);
    EXPECT(same);
  }
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040); // denormal numbers are zero
  const bool same = is_same();
  _mm_setcsr(before);
  EXPECT(same);
  feenableexcept(FE_INVALID | FE_DIVBYZERO);
  EXPECT(is_same());
  fedisableexcept(FE_ALL_EXCEPT);
  return finish();
}
