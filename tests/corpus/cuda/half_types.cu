// VARIANTS: -arch=sm_75 | -arch=sm_80 | -arch=sm_90 -use_fast_math | -arch=sm_100a
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__global__ void convert(const float *in, __half2 *h, __nv_bfloat162 *b, __nv_fp8x4_e4m3 *e) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 x = reinterpret_cast<const float4 *>(in)[i];
  h[i] = __hfma2_relu(__floats2half2_rn(x.x, x.y), h[i], __half2half2(h2exp(h[i]).x));
  b[i] = __hmax2(__floats2bfloat162_rn(x.z, x.w), b[i]);
  e[i] = __nv_fp8x4_e4m3(x);
  const __half old = atomicAdd(reinterpret_cast<__half *>(h) + i, __half(hsqrt(h[i].y)));
  if (__hgt(old, __half(1)))
    b[i] = h2rcp(b[i]);
}
