// The compiler's mathematical functions: long chains of arithmetic, tables, slow paths, calls.
#define FUNCTION32(name, expression)                                                               \
  extern "C" __global__ void name(const float *in, float *out) {                                   \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                           \
    const float x = in[i];                                                                         \
    out[i] = expression;                                                                           \
  }
#define FUNCTION64(name, expression)                                                               \
  extern "C" __global__ void name(const double *in, double *out) {                                 \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                           \
    const double x = in[i];                                                                        \
    out[i] = expression;                                                                           \
  }

FUNCTION32(sin_f32, sinf(x * 1000))
FUNCTION32(sin_far_f32, sinf(x * 1e30f)) // the slow reduction
FUNCTION32(tan_f32, tanf(x * 100))
FUNCTION32(atan2_f32, atan2f(x, 0.3f - x))
FUNCTION32(asin_f32, asinf(x))
FUNCTION32(cbrt_f32, cbrtf(x * 100))
FUNCTION32(log1p_f32, log1pf(x))
FUNCTION32(erf_f32, erff(x * 3))
FUNCTION32(fmod_f32, fmodf(x * 1e9f, 0.37f))
FUNCTION32(remainder_f32, remainderf(x * 1e5f, 0.7f))
FUNCTION32(hypot_f32, hypotf(x, 3))
FUNCTION32(round_f32, roundf(x * 50) + rintf(x * 70) + floorf(x * 3) + truncf(x * 9))
FUNCTION32(exp_f32, expf(x * 20))
FUNCTION32(log_f32, logf(fabsf(x)))
FUNCTION32(pow_f32, powf(fabsf(x), 2.7f))
FUNCTION32(tanh_f32, tanhf(x * 4))
FUNCTION32(rsqrt_f32, rsqrtf(fabsf(x)))

FUNCTION64(sin_f64, sin(x * 1000))
FUNCTION64(sin_far_f64, sin(x * 1e300))
FUNCTION64(exp_f64, exp(x * 20))
FUNCTION64(log_f64, log(fabs(x)))
FUNCTION64(pow_f64, pow(fabs(x), 2.7))
FUNCTION64(tanh_f64, tanh(x * 4))
FUNCTION64(erf_f64, erf(x * 3))
FUNCTION64(gamma_f64, tgamma(x * 20))
FUNCTION64(cbrt_f64, cbrt(x * 100))
FUNCTION64(atan_f64, atan(x * 9))
FUNCTION64(fmod_f64, fmod(x * 1e9, 0.37))
FUNCTION64(divide_f64, 1.0 / x + sqrt(fabs(x)) / (x + 2))
FUNCTION64(rsqrt_f64, rsqrt(fabs(x)))
