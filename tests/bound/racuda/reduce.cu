// Sums of blocks in shared memory: by remainders of the index, by strided indices, by halves, by
// halves counted from the other end, and with the first addition on the way in. Barriers are left
// out, as the published tool leaves them out; a warp's counts do not depend on them.

__device__ void store_first(const int *sums, int *out) {
  if (threadIdx.x == 0)
    out[blockIdx.x] = sums[0];
}

extern "C" __global__ void reduce0(const int *in, int *out, unsigned n) {
  extern __shared__ int s[];
  const unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  if (g < n)
    s[t] = in[g];
  for (unsigned q = 1; q < blockDim.x; q *= 2)
    if (t % (2 * q) == 0)
      s[t] += s[t + q];
  store_first(s, out);
}

extern "C" __global__ void reduce1(const int *in, int *out, unsigned n) {
  extern __shared__ int s[];
  const unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  if (g < n)
    s[t] = in[g];
  for (unsigned q = 1; q < blockDim.x; q *= 2) {
    const unsigned x = 2 * q * t;
    if (x < blockDim.x)
      s[x] += s[x + q];
  }
  store_first(s, out);
}

extern "C" __global__ void reduce2(const int *in, int *out, unsigned n) {
  extern __shared__ int s[];
  const unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  if (g < n)
    s[t] = in[g];
  for (unsigned q = blockDim.x / 2; q > 0; q /= 2)
    if (t < q)
      s[t] += s[t + q];
  store_first(s, out);
}

extern "C" __global__ void reduce2a(const int *in, int *out, unsigned n) {
  extern __shared__ int s[];
  const unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  if (g < n)
    s[t] = in[g];
  for (unsigned q = 2; q < blockDim.x; q *= 2) {
    const unsigned x = blockDim.x / q;
    if (t < x)
      s[t] += s[t + x];
  }
  store_first(s, out);
}

__device__ int load_two(const int *in, unsigned n) {
  const unsigned i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  int v = i < n ? in[i] : 0;
  if (i + blockDim.x < n)
    v += in[i + blockDim.x];
  return v;
}

extern "C" __global__ void reduce3(const int *in, int *out, unsigned n) {
  extern __shared__ int s[];
  const unsigned t = threadIdx.x;
  int v = load_two(in, n);
  s[t] = v;
  for (unsigned q = blockDim.x / 2; q > 0; q /= 2)
    if (t < q)
      s[t] = v = v + s[t + q];
  if (t == 0)
    out[blockIdx.x] = v;
}

extern "C" __global__ void reduce3a(const int *in, int *out, unsigned n) {
  extern __shared__ int s[];
  const unsigned t = threadIdx.x;
  int v = load_two(in, n);
  s[t] = v;
  for (unsigned q = 2; q < blockDim.x; q *= 2) {
    const unsigned x = blockDim.x / q;
    if (t < x)
      s[t] = v = v + s[t + x];
  }
  if (t == 0)
    out[blockIdx.x] = v;
}
