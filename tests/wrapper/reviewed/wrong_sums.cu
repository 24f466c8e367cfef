// The interleaved sum of a block: lanes are 2 * k words apart.
__global__ void block_sum(const float *in, float *out) {
  __shared__ float s[256];
  const unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (unsigned k = 1; k < 256; k *= 2) {
    const unsigned j = 2 * k * t;
    if (j < 256)
      s[j] += s[j + k]; // lint: bank-conflict
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

__global__ void block_sum_in_halves(const float *in, float *out) {
  __shared__ float s[256];
  const unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (unsigned k = 128; k > 0; k /= 2) {
    if (t < k)
      s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}
