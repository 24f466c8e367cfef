// VARIANTS: -arch=sm_75 | -arch=sm_90 -use_fast_math
__global__ void functions(double *d, float *f, __int128 *w, unsigned *u) {
  const int i = threadIdx.x;
  d[i] = sin(d[i]) + pow(d[i], 1.5) + erf(d[i]) / cbrt(d[i]) + fma(d[i], 2.0, __drcp_rz(d[i]));
  f[i] = sinf(f[i]) + tgammaf(f[i]) + __powf(f[i], 3) + rsqrtf(f[i]) + fmodf(f[i], 3) +
         nearbyintf(f[i]);
  w[i] = w[i] * w[i] / 10 + (w[i] >> 3);
  u[i] = __dp4a(u[i], u[i + 1], 3u) + __vabsdiffu4(u[i], 7) + __byte_perm(u[i], i, 0x3210) +
         __funnelshift_lc(u[i], i, 5) + __brev(u[i]) + __popcll(u[i]) + __umulhi(u[i], i) +
         __vmaxs2(u[i], i) + __sad(i, 3, u[i]) + __ffs(i);
}
